//! The command line of the station: the commands of the Ranger thesis, appendix A, with completion and history.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use dragoman_bridge::arm31::wire::Command;

/// A command of appendix A with its values in SI units, as in a message: with the number of joints of the arm.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Order {
    pub(super) command: Command,
    pub(super) values: Vec<f64>,
    /// Index of a via point.
    pub(super) index: u8,
}

impl Order {
    pub(super) fn new(command: Command, values: Vec<f64>) -> Self {
        Self { command, values, index: 0 }
    }
}

/// The request of a typed line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Typed {
    Order(Order),
    /// All keys and commands, or the usage of one command.
    Help(Option<Command>),
    Scale(f64),
    Quit,
}

const KEYS: &str = "\
Tab              next page
:  Enter         command line
space            stop; the desired pose is the present one again
m                switch the arm to the mode of the page
+  -             double and halve the scale
q  Ctrl-C        stop and leave
Cartesian and Twist:
up down          along x (+ -)
left right       along y (+ -)
PgUp PgDn        along z (+ -)
u j   i k   o l  turn about x, y, z (+ -): roll, pitch, yaw
Joints:
up down  1..9    choose a joint
left right       move it (- +)
Command line:
Tab              complete; then the present value of the next argument
up down          history
Esc              leave it
help COMMAND     usage of a command; scale FACTOR; quit";

/// Words that are not commands of the arm.
const WORDS: [&str; 3] = ["help", "quit", "scale"];

/// Names of the values of `command`, in order, for an arm with this number of joints.
pub(super) fn arguments(command: Command, joints: usize) -> Vec<String> {
    let angles = || (1..=joints).map(|joint| format!("th{joint}"));
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    match command {
        Command::SetCommandMode => named(&["mode"]),
        Command::SetGoalPose => named(&["x", "y", "z", "qx", "qy", "qz", "qw"]),
        Command::SetTimedGoalPose => named(&["x", "y", "z", "roll", "pitch", "yaw", "T"]),
        Command::SetViaPoint => named(&["x", "y", "z", "roll", "pitch", "yaw", "T", "i"]),
        Command::SetJointGoal | Command::Recalibrate => angles().collect(),
        Command::SetJointViaPoint => angles().chain(named(&["T", "i"])).collect(),
        _ => Vec::new(),
    }
}

/// Letters, values and meaning of a command on one line.
pub(super) fn usage(command: Command, joints: usize) -> String {
    let words = std::iter::once(command.to_string()).chain(arguments(command, joints));
    format!("{}: {}", words.collect::<Vec<_>>().join(" "), command.meaning())
}

/// All keys and commands.
pub(super) fn help(joints: usize) -> Vec<String> {
    let commands = Command::all().map(|command| usage(command, joints));
    KEYS.lines().map(str::to_owned).chain(["Commands:".to_owned()]).chain(commands).collect()
}

/// The command with these letters, in either case: no two differ only in it.
fn find(word: &str) -> Option<Command> {
    Command::all().find(|command| command.to_string().eq_ignore_ascii_case(word))
}

/// Reads a line; the error says what is wrong with it.
pub(super) fn parse(line: &str, joints: usize) -> Result<Typed, String> {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let rest: Vec<&str> = words.collect();
    match (first.to_ascii_lowercase().as_str(), rest.as_slice()) {
        ("help", []) => return Ok(Typed::Help(None)),
        ("help", [command]) => {
            let found = find(command).ok_or_else(|| format!("there is no command {command}"))?;
            return Ok(Typed::Help(Some(found)));
        }
        ("quit", []) => return Ok(Typed::Quit),
        ("scale", [value]) => return Ok(Typed::Scale(number(value)?)),
        ("help" | "quit" | "scale", _) => return Err("usage: help [COMMAND], scale FACTOR, quit".to_owned()),
        _ => {}
    }
    let command = find(first).ok_or_else(|| format!("there is no command {first}; Tab lists all"))?;
    let names = arguments(command, joints);
    if rest.len() != names.len() {
        return Err(format!(
            "{command} takes {} values, {} were given; {}",
            names.len(),
            rest.len(),
            usage(command, joints)
        ));
    }
    let mut order = Order::new(command, Vec::new());
    for (name, word) in names.iter().zip(rest) {
        if name == "i" {
            order.index =
                word.parse().map_err(|_| format!("'{word}' is not an index of a via point, 0 to 255"))?;
        } else {
            order.values.push(number(word)?);
        }
    }
    Ok(Typed::Order(order))
}

fn number(word: &str) -> Result<f64, String> {
    let parsed = word.parse::<f64>().ok().filter(|value| value.is_finite());
    parsed.ok_or_else(|| format!("'{word}' is not a finite number"))
}

/// A line that is being typed, and those before it.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// `None` while the keys belong to the page.
    open: Option<Vec<char>>,
    cursor: usize,
    history: Vec<String>,
    /// Which line of the history is shown, and what was typed before.
    recalled: Option<(usize, Vec<char>)>,
}

impl Line {
    pub(super) fn open(&mut self) {
        self.set(Vec::new());
        self.recalled = None;
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The text, and the number of characters before the cursor.
    pub(super) fn text(&self) -> Option<(String, usize)> {
        self.open.as_ref().map(|text| (text.iter().collect(), self.cursor))
    }

    /// What may follow: commands that begin so, or the usage of the command.
    pub(super) fn hint(&self, joints: usize) -> String {
        let text = self.text().unwrap_or_default().0;
        match text.split_once(char::is_whitespace) {
            Some((first, _)) => find(first).map_or_else(String::new, |command| usage(command, joints)),
            None => candidates(&text).join(" "),
        }
    }

    /// Handles a key. Returns the line if it was finished. `present` has the present value of an argument of a
    /// command, by its number.
    pub(super) fn press(
        &mut self,
        key: KeyEvent,
        joints: usize,
        present: impl Fn(Command, usize) -> Option<f64>,
    ) -> Option<String> {
        let text = self.open.as_mut()?;
        self.cursor = self.cursor.min(text.len());
        match key.code {
            KeyCode::Esc => self.open = None,
            KeyCode::Enter => {
                let line: String = self.open.take()?.into_iter().collect();
                if line.trim().is_empty() {
                    return None;
                }
                if self.history.last() != Some(&line) {
                    self.history.push(line.clone());
                }
                return Some(line);
            }
            KeyCode::Char('u') if key.modifiers.contains(KeyModifiers::CONTROL) => self.set(Vec::new()),
            KeyCode::Char(character) if !key.modifiers.contains(KeyModifiers::CONTROL) => {
                text.insert(self.cursor, character);
                self.cursor += 1;
            }
            // On an empty line it leaves, as in vi.
            KeyCode::Backspace if text.is_empty() => self.open = None,
            KeyCode::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                text.remove(self.cursor);
            }
            KeyCode::Delete if self.cursor < text.len() => {
                text.remove(self.cursor);
            }
            KeyCode::Left => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Right => self.cursor = (self.cursor + 1).min(text.len()),
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = text.len(),
            KeyCode::Up => self.recall(true),
            KeyCode::Down => self.recall(false),
            KeyCode::Tab => {
                let text: String = text.iter().collect();
                self.set(complete(&text, joints, present).chars().collect());
            }
            _ => {}
        }
        None
    }

    fn set(&mut self, text: Vec<char>) {
        self.cursor = text.len();
        self.open = Some(text);
    }

    fn recall(&mut self, back: bool) {
        let Some(text) = self.open.clone() else { return };
        let (shown, typed) = self.recalled.take().unwrap_or((self.history.len(), text));
        let shown = if back { shown.saturating_sub(1) } else { (shown + 1).min(self.history.len()) };
        let line = self.history.get(shown).map_or_else(|| typed.clone(), |line| line.chars().collect());
        self.set(line);
        self.recalled = Some((shown, typed));
    }
}

fn candidates(start: &str) -> Vec<String> {
    let words = Command::all().map(|command| command.to_string()).chain(WORDS.map(str::to_owned));
    let start = start.to_ascii_lowercase();
    words.filter(|word| word.to_ascii_lowercase().starts_with(&start)).collect()
}

/// Completes the first word as far as it is certain; afterwards each time adds the present value of the next argument,
/// so that a line is made of what is and edited.
fn complete(text: &str, joints: usize, present: impl Fn(Command, usize) -> Option<f64>) -> String {
    let Some((first, rest)) = text.split_once(char::is_whitespace) else {
        return match candidates(text).as_slice() {
            [] => text.to_owned(),
            [only] => format!("{only} "),
            [one, others @ ..] => {
                let same = |end: &usize| {
                    others.iter().all(|other| match (one.get(..*end), other.get(..*end)) {
                        (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
                        _ => false,
                    })
                };
                let common = (0..=one.len()).rev().find(same).unwrap_or_default();
                one.get(..common).filter(|start| start.len() > text.len()).unwrap_or(text).to_owned()
            }
        };
    };
    let Some(command) = find(first) else { return text.to_owned() };
    let given = rest.split_whitespace().count();
    let names = arguments(command, joints);
    let Some(name) = names.get(given) else { return text.to_owned() };
    let value = match name.as_str() {
        "T" | "i" => Some("0".to_owned()),
        _ => present(command, given).map(|value| format!("{value:.4}")),
    };
    value.map_or_else(|| text.to_owned(), |value| format!("{} {value} ", text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(line: &mut Line, code: KeyCode) -> Option<String> {
        line.press(KeyEvent::new(code, KeyModifiers::NONE), 6, |_, number| {
            Some(f64::from(number as u8) + 0.5)
        })
    }

    fn typed(line: &mut Line, text: &str) {
        for character in text.chars() {
            assert_eq!(press(line, KeyCode::Char(character)), None);
        }
    }

    fn text(line: &Line) -> String {
        line.text().unwrap().0
    }

    #[test]
    fn every_command_of_the_appendix_has_names_for_all_its_values() {
        for command in Command::all() {
            let names = arguments(command, 6);
            let count = command.value_count() + usize::from(command.is_indexed());
            assert_eq!(names.len(), count, "{command}");
            assert_eq!(names.iter().any(|name| name == "i"), command.is_indexed(), "{command}");
            let values: Vec<String> = (1..=count).map(|value| value.to_string()).collect();
            let line = format!("{} {}", command.to_string().to_lowercase(), values.join(" "));
            let Ok(Typed::Order(order)) = parse(&line, 6) else { panic!("{line}") };
            assert_eq!(order.command, command);
            let floats: Vec<f64> = (1..=command.value_count()).map(|value| value as f64).collect();
            assert_eq!(order.values, floats, "{command}");
            assert_eq!(usize::from(order.index), if command.is_indexed() { count } else { 0 }, "{command}");
        }
    }

    #[test]
    fn invalid_lines_are_refused_with_the_reason() {
        for (line, reason) in [
            ("XX", "there is no command XX"),
            ("GL 1 2 3", "GL takes 7 values, 3 were given; GL x y z qx qy qz qw"),
            ("ST 1", "ST takes 0 values, 1 were given"),
            ("GL 0 0 nan 0 0 0 1", "'nan' is not a finite number"),
            ("GL 0 0 1e999 0 0 0 1", "'1e999' is not a finite number"),
            ("jG 1 2 3 4 5 six", "'six' is not a finite number"),
            ("VP 1 2 3 4 5 6 7 256", "'256' is not an index"),
            ("VP 1 2 3 4 5 6 7 -1", "'-1' is not an index"),
            ("help XX", "there is no command XX"),
            ("scale", "usage"),
        ] {
            let error = parse(line, 6).unwrap_err();
            assert!(error.contains(reason), "{line}: {error}");
        }
        assert_eq!(parse("help gl", 6), Ok(Typed::Help(Some(Command::SetGoalPose))));
        assert_eq!(parse("scale 0.5", 6), Ok(Typed::Scale(0.5)));
        assert_eq!(parse(" quit ", 6), Ok(Typed::Quit));
    }

    #[test]
    fn tab_completes_commands_and_then_the_present_values() {
        let mut line = Line::default();
        line.open();
        typed(&mut line, "v");
        press(&mut line, KeyCode::Tab);
        assert_eq!(text(&line), "v");
        assert_eq!(line.hint(6), "VC VE VP");
        typed(&mut line, "p");
        press(&mut line, KeyCode::Tab);
        assert_eq!(text(&line), "VP ");
        assert!(line.hint(6).starts_with("VP x y z roll pitch yaw T i: "));
        for _ in 0..10 {
            press(&mut line, KeyCode::Tab);
        }
        assert_eq!(text(&line), "VP 0.5000 1.5000 2.5000 3.5000 4.5000 5.5000 0 0 ");
        line.open();
        typed(&mut line, "he");
        press(&mut line, KeyCode::Tab);
        assert_eq!(text(&line), "help ");
        line.open();
        typed(&mut line, "zz");
        press(&mut line, KeyCode::Tab);
        assert_eq!(text(&line), "zz");
    }

    #[test]
    fn a_line_is_edited_and_found_again_in_the_history() {
        let mut line = Line::default();
        line.open();
        typed(&mut line, "CN 2");
        for key in [KeyCode::Home, KeyCode::Right, KeyCode::Delete] {
            press(&mut line, key);
        }
        typed(&mut line, "M");
        assert_eq!(press(&mut line, KeyCode::Enter), Some("CM 2".to_owned()));
        assert!(!line.is_open());
        line.open();
        typed(&mut line, "ST");
        assert_eq!(press(&mut line, KeyCode::Enter), Some("ST".to_owned()));
        line.open();
        typed(&mut line, "B");
        for (key, shown) in [
            (KeyCode::Up, "ST"),
            (KeyCode::Up, "CM 2"),
            (KeyCode::Up, "CM 2"),
            (KeyCode::Down, "ST"),
            (KeyCode::Down, "B"),
            (KeyCode::Backspace, ""),
        ] {
            press(&mut line, key);
            assert_eq!(text(&line), shown);
        }
        press(&mut line, KeyCode::Backspace);
        assert!(!line.is_open());
        line.open();
        assert_eq!(press(&mut line, KeyCode::Enter), None);
        assert!(!line.is_open());
    }
}
