//! A program's conditions, and its effects besides motion.

use std::collections::VecDeque;

use chrono::{DateTime, Datelike, Timelike, Utc};
use dragoman_neobotix::file_name::plain_file_name;
use dragoman_neobotix::parameters::Value;
use futures::channel::mpsc::Sender;

use super::documents::{DocumentKind, MAX_LOADS, Wanted};
use super::picture::{Grab, MAX_WANTED};
use super::services::set_parameter;
use super::state::{NodeState, Refused};
use crate::program::{Date, Effect};

/// Number of messages that are kept.
const MAX_MESSAGES: usize = 32;
/// Maximum length of a message, characters.
const MAX_MESSAGE: usize = 1024;

impl NodeState {
    /// The parameters whose value is true, for a program's conditions.
    pub(super) fn true_parameters(&self) -> Vec<String> {
        let parameters = self.parameters.read();
        let are_true = parameters.guide.0.iter().filter(|(_, value)| *value == Value::Boolean(true));
        are_true.map(|(declared, _)| declared.key.to_owned()).collect()
    }

    /// Carries out an effect of the program.
    pub(super) fn perform(&mut self, effect: Effect) -> Result<(), Refused> {
        match effect {
            Effect::Load { map, roadmap } => {
                let named = [(DocumentKind::Map, map), (DocumentKind::Roadmap, roadmap)];
                let wanted = named.into_iter().filter_map(|(kind, name)| Some((kind, name?))).collect();
                let busy = |_| Refused(format!("{MAX_LOADS} loads are waiting already"));
                self.programs.loads.try_send(wanted).map_err(busy)?;
                self.programs.loading += 1;
                Ok(())
            }
            Effect::Log { kind, message } => {
                tracing::info!(kind, "program: {message}");
                self.programs.log.push(&kind, &message);
                Ok(())
            }
            Effect::SetParameter { key, value } => set_parameter(self, &key, &value),
            // Already set by the controller.
            Effect::SetOutputs(_) => Ok(()),
            Effect::Speak(text) => self.outlets.speak(text),
            Effect::Play(name) => self.play(&name),
            Effect::TurnHead(angle) => self.outlets.turn_head(angle),
            Effect::MoveCamera(position) => self.outlets.move_camera(position),
            Effect::Grab { file_name, scan, image, .. } => {
                let name = plain_file_name(&file_name)?;
                let busy = |_| Refused(format!("{MAX_WANTED} pictures and scans are waiting already"));
                if scan {
                    let points = self.inputs.points.iter().map(|point| format!("{} {}\n", point.x, point.y));
                    let text: String = points.collect();
                    let file = self.data_folder.join("scans").join(format!("{name}.dat"));
                    self.programs.grabs.try_send(Grab::Scan(file, text)).map_err(busy)?;
                }
                if image {
                    self.programs.grabs.try_send(Grab::Picture(name.to_owned())).map_err(busy)?;
                }
                Ok(())
            }
        }
    }
}

/// Effects of programs.
pub(super) struct Programs {
    /// The last refusal of a program, and the number of its run.
    pub(super) refusal: Option<(u32, String)>,
    pub(super) log: ProgramLog,
    /// Pictures and scans that a program wants to be saved.
    grabs: Sender<Grab>,
    /// Documents requested by a program.
    loads: Sender<Wanted>,
    /// Number of these requests that are not done.
    pub(super) loading: usize,
}

impl Programs {
    pub(super) fn new(grabs: Sender<Grab>, loads: Sender<Wanted>) -> Self {
        Self { refusal: None, log: ProgramLog::default(), grabs, loads, loading: 0 }
    }
}

/// The last messages of programs, their refusals, and failed motions, which clients of the protocol read with the debug
/// data (PlatformCtrl guide, 6.5: `log` sends a message to the user interface).
#[derive(Default)]
pub(super) struct ProgramLog {
    /// Number of the last message, from 1.
    last: u32,
    messages: VecDeque<String>,
}

impl ProgramLog {
    pub(super) fn push(&mut self, kind: &str, message: &str) {
        if self.messages.len() == MAX_MESSAGES {
            self.messages.pop_front();
        }
        let text = if kind.is_empty() { message.to_owned() } else { format!("{kind}: {message}") };
        self.messages.push_back(text.chars().take(MAX_MESSAGE).collect());
        self.last = self.last.checked_add(1).unwrap_or(1);
    }

    /// Numbers and messages, oldest first.
    pub(super) fn messages(&self) -> (Vec<u32>, Vec<String>) {
        let count = u32::try_from(self.messages.len()).unwrap_or_default();
        let first = self.last.wrapping_sub(count).wrapping_add(1);
        ((0..count).map(|at| first.wrapping_add(at)).collect(), self.messages.iter().cloned().collect())
    }
}

/// The current date and time, UTC.
pub(super) fn now() -> Date {
    date(&(DateTime::UNIX_EPOCH + dragoman_time::wall_time()))
}

fn date(time: &DateTime<Utc>) -> Date {
    Date {
        year: u32::try_from(time.year()).ok(),
        month: Some(time.month()),
        day: Some(time.day()),
        hour: Some(time.hour()),
        minute: Some(time.minute()),
        second: Some(time.second()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_numbered_and_the_last_are_kept() {
        let mut log = ProgramLog::default();
        assert_eq!(log.messages(), (vec![], vec![]));
        log.push("warning", "late");
        log.push("", "on");
        assert_eq!(log.messages(), (vec![1, 2], vec!["warning: late".to_owned(), "on".to_owned()]));
        (0..100).for_each(|_| log.push("", "more"));
        let (numbers, texts) = log.messages();
        assert_eq!((numbers.first(), numbers.last(), texts.len()), (Some(&71), Some(&102), MAX_MESSAGES));
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        let fields = |seconds| {
            let Date { year, month, day, hour, minute, second } =
                date(&DateTime::from_timestamp(seconds, 0).unwrap());
            [year, month, day, hour, minute, second].map(Option::unwrap)
        };
        assert_eq!(fields(0), [1970, 1, 1, 0, 0, 0]);
        assert_eq!(fields(951_827_696), [2000, 2, 29, 12, 34, 56]);
        assert_eq!(fields(1_772_323_199), [2026, 2, 28, 23, 59, 59]);
        assert_eq!(fields(1_772_323_200), [2026, 3, 1, 0, 0, 0]);
    }
}
