//! The commands and their requests, made of `protocols/arm31.yaml` in `dragoman_protocol`.

use std::fmt;

use dragoman_protocol::bytes::{Reader, Writer};
use dragoman_protocol::model::{ByteOrder, Role};

use super::{DATAGRAM_LEN, Datagram, Letters};

include!(concat!(env!("OUT_DIR"), "/arm31.rs"));

impl Command {
    /// The command with these letters.
    pub fn from_letters(letters: Letters) -> Option<Self> {
        Self::from_code(letters.0)
    }

    /// The letters of a request.
    pub const fn letters(self) -> Letters {
        Letters(self.code())
    }

    /// Number of floats that a request uses, counted from the first of seven. The others are neither checked nor used.
    pub const fn value_count(self) -> usize {
        self.size() / size_of::<f32>()
    }

    /// Whether it is a service whose request has no values.
    pub fn is_plain(self) -> bool {
        self.fields().is_empty() && self.role() != Role::Query
    }

    /// Whether a request uses the last byte (index of a via point).
    pub fn is_indexed(self) -> bool {
        self.fields().contains(&"index")
    }
}

impl Request {
    /// Reads the data of `datagram` as that of `command`, whatever the letters are. Unused fields are ignored.
    pub fn from_datagram(command: Command, datagram: &Datagram) -> Self {
        Self::read(command, &mut Reader::new(datagram.data(), ByteOrder::Little))
    }

    /// The datagram to send. Unused fields are zero.
    pub fn encode(&self) -> Datagram {
        let mut writer = Writer::new(ByteOrder::Little, DATAGRAM_LEN);
        self.write(&mut writer);
        Datagram::with_data(self.command().letters(), &writer.finish())
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letters())
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.command())?;
        self.show(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_the_appendix_s() {
        let letters: Vec<String> = Command::all().map(|command| command.to_string()).collect();
        let appendix = "BG CM GL GT jB jC jE jG jP jR jV OF ON PS RC ST TM VC VE VP";
        assert_eq!(letters.join(" "), appendix);
    }

    #[test]
    fn no_reply_s_letters_are_a_request_s() {
        for command in Command::all() {
            assert_eq!(Command::from_letters(command.letters()), Some(command));
            assert_eq!(Command::from_letters(command.letters().swapped()), None, "{command}");
        }
    }

    /// Not repeatable are requests of which a late second copy could move the arm or falsify its state.
    #[test]
    fn what_a_late_copy_could_harm_is_not_repeatable() {
        let once: Vec<String> = Command::all()
            .filter(|command| !command.is_repeatable())
            .map(|command| command.to_string())
            .collect();
        assert_eq!(once.join(" "), "BG CM jB jE ON RC VE");
        assert!(Command::all().all(|command| command.role() != Role::Start || !command.is_repeatable()));
    }
}
