//! The auxiliary console and the status bar of the simulator (seed 003, sections 4.2.4 and A.4), without a window: what would
//! be in them. No ROS, no clock.

use std::collections::VecDeque;

/// Lines that the console keeps; then the oldest is lost.
pub const MAX_LINES: usize = 200;
/// Characters in a line; longer ones are broken.
pub const MAX_LINE_LENGTH: usize = 200;

/// The auxiliary console.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Console {
    lines: VecDeque<String>,
    exists: bool,
    is_hidden: bool,
}

impl Console {
    /// Makes the console, if there is none, and shows it. What is in it stays: topics have no order among each other, and a
    /// print may come before the creation that it was sent after.
    pub fn create(&mut self) {
        (self.exists, self.is_hidden) = (true, false);
    }

    /// Ends the console, with what is in it.
    pub fn delete(&mut self) {
        *self = Self::default();
    }

    /// Hides it; it goes on taking text.
    pub fn hide(&mut self) {
        self.is_hidden = true;
    }

    /// Shows it again.
    pub fn show(&mut self) {
        self.is_hidden = false;
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.lines.clear();
    }

    /// Adds text in lines of its own; makes the console if there is none. Control characters are left out.
    pub fn print(&mut self, text: &str) {
        self.exists = true;
        // No more than what stays is looked at.
        let mut added: VecDeque<String> = VecDeque::new();
        for line in text.lines() {
            let shown: Vec<char> = line.chars().filter(|c| !c.is_control()).collect();
            let mut pieces =
                shown.chunks(MAX_LINE_LENGTH).map(|piece| piece.iter().collect::<String>()).peekable();
            if pieces.peek().is_none() {
                added.push_back(String::new());
            }
            for piece in pieces {
                added.push_back(piece);
                if added.len() > MAX_LINES {
                    added.pop_front();
                }
            }
        }
        self.lines.append(&mut added);
        while self.lines.len() > MAX_LINES {
            self.lines.pop_front();
        }
    }

    /// What can be read in it: nothing while it is hidden or does not exist.
    pub fn text(&self) -> String {
        if self.is_hidden || !self.exists {
            return String::new();
        }
        self.lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_shown_line_by_line() {
        let mut console = Console::default();
        console.print("X: 0.1");
        console.create();
        console.print("X: 0.2\n\nY\u{7}: 3\r\n");
        assert_eq!(console.text(), "X: 0.1\nX: 0.2\n\nY: 3\n");
        console.hide();
        console.print("unseen");
        assert_eq!(console.text(), "");
        console.show();
        assert!(console.text().ends_with("unseen\n"));
        console.clear();
        assert_eq!(console.text(), "");
        console.print("more");
        console.delete();
        assert_eq!(console, Console::default());
    }

    proptest! {
        #[test]
        fn it_holds_so_much_and_no_more(texts in prop::collection::vec(".{0,400}", 0..20)) {
            let mut console = Console::default();
            for text in &texts {
                console.print(text);
            }
            let shown = console.text();
            prop_assert!(shown.lines().count() <= MAX_LINES);
            prop_assert!(shown.lines().all(|line| line.chars().count() <= MAX_LINE_LENGTH));
        }
    }

    #[test]
    fn the_newest_lines_stay() {
        let mut console = Console::default();
        (0..1000).for_each(|number| console.print(&number.to_string()));
        let shown = console.text();
        assert_eq!((shown.lines().next(), shown.lines().last()), (Some("800"), Some("999")));
        console.print(&"a".repeat(MAX_LINE_LENGTH * (MAX_LINES + 50)));
        assert!(console.text().starts_with('a'));
    }
}
