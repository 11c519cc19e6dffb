//! Text from outside that would forge a line of the log, move a terminal's cursor, or turn the direction of writing.

use std::sync::{Arc, Mutex};

use dragoman_ros::QosProfile;
use dragoman_ros::diagnostic_msgs::msg::DiagnosticArray;

use super::common::{Lab, Program};

/// The mark that is searched for: it stays recognizable when it is escaped.
pub(super) const MARK: &str = "forged";
/// A line break, an escape sequence, marks of direction, C1 controls, separators, and the mark.
pub(super) const EVIL: &str =
    "x\r\n2026-01-01T00:00:00Z ERROR forged\u{1b}[2J\u{202e}\u{2066}\u{9b}31m\u{2028}\u{85}\u{7f}\t";

/// Texts from outside that a lab has shown.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The first text that is not plain, and where it was.
    pub(super) unsafe_text: Option<String>,
    /// How often the mark was shown.
    pub(super) marks: usize,
}

impl Seen {
    fn take(&mut self, place: &str, text: &str) {
        self.marks += usize::from(text.contains(MARK));
        if dragoman_text::line(text) != text && self.unsafe_text.is_none() {
            self.unsafe_text = Some(format!("{place}: {text:?}"));
        }
    }
}

/// Follows the log, which is that of `/rosout`, the lines on the terminal, and `/diagnostics`.
pub(super) struct Texts(Arc<Mutex<Seen>>);

impl Texts {
    pub(super) fn follow(lab: &Lab) -> Self {
        let seen = Arc::<Mutex<Seen>>::default();
        let observed = Arc::clone(&seen);
        lab.simulation().observe(move |event| {
            let Ok(text) = std::str::from_utf8(event.content) else { return };
            match event.kind {
                "log" => observed.lock().unwrap().take("log", text),
                "output" => text.lines().for_each(|line| observed.lock().unwrap().take("output", line)),
                _ => {}
            }
        });
        let mut program = Program::new(lab);
        let diagnosed = Arc::clone(&seen);
        let take = move |array: DiagnosticArray| {
            for status in array.status {
                let values = status.values.into_iter().flat_map(|value| [value.key, value.value]);
                for text in [status.name, status.message, status.hardware_id].into_iter().chain(values) {
                    diagnosed.lock().unwrap().take("/diagnostics", &text);
                }
            }
        };
        program.tasks.subscribe("/diagnostics", QosProfile::default().keep_last(100), take).unwrap();
        program.start();
        Self(seen)
    }

    #[track_caller]
    pub(super) fn are_plain(&self) {
        assert_eq!(self.0.lock().unwrap().unsafe_text, None, "a text is shown as it came");
    }

    /// How often the mark was shown.
    pub(super) fn marks(&self) -> usize {
        self.0.lock().unwrap().marks
    }
}
