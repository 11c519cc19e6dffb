//! The simulator's auxiliary console and status bar (TurtleBot thesis, 4.2.4 and A.4), without a window: their content.
//! No ROS, no clock.

use std::collections::VecDeque;

/// Maximum number of lines; then the oldest is lost.
pub const MAX_LINES: usize = 200;
/// Maximum length of a line, characters; longer ones are broken.
pub const MAX_LINE_LENGTH: usize = 200;

/// The auxiliary console.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Console {
    lines: VecDeque<String>,
    exists: bool,
    is_hidden: bool,
}

impl Console {
    /// Creates the console if it does not exist, and shows it. Its content is kept: the order between topics is not
    /// guaranteed, so a print may arrive before the creation that was sent first.
    pub fn create(&mut self) {
        (self.exists, self.is_hidden) = (true, false);
    }

    /// Deletes the console and its content.
    pub fn delete(&mut self) {
        *self = Self::default();
    }

    /// Hides the console; it still accepts text.
    pub fn hide(&mut self) {
        self.is_hidden = true;
    }

    /// Shows the console again.
    pub fn show(&mut self) {
        self.is_hidden = false;
    }

    /// Deletes the content.
    pub fn clear(&mut self) {
        self.lines.clear();
    }

    /// Appends text as separate lines; creates the console if it does not exist. Control characters are removed.
    pub fn print(&mut self, text: &str) {
        self.exists = true;
        // Process only as many characters as can be kept.
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

    /// The visible text: empty while the console is hidden or does not exist.
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
        fn the_content_is_bounded(texts in prop::collection::vec(".{0,400}", 0..20)) {
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
