//! `dragoman bridge new`: asks a few questions and writes a description to begin with.

use std::io::{BufRead, ErrorKind, IsTerminal, Read as _, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use dragoman_protocol::model::ByteOrder;
use dragoman_protocol::skeleton::{
    Answers, CutAnswer, LinkAnswer, SkeletonError, check_name, checksum_type, skeleton,
};
use dragoman_ros::{out, outln};

use super::BridgeError;

/// Maximum size of an answer, bytes.
const MAX_ANSWER: u64 = 1000;

/// `dragoman bridge new`.
#[derive(Debug, Args)]
pub struct NewCommand {
    /// The file that is written; by default NAME.yaml. A file that is there already is not changed.
    file: Option<PathBuf>,
    /// Ask nothing: write the description of the defaults.
    #[arg(short, long)]
    yes: bool,
}

/// Runs the command.
pub(super) fn run(command: &NewCommand) -> Result<(), BridgeError> {
    if let Some(path) = command.file.as_deref().filter(|path| path.exists()) {
        return Err(BridgeError::Exists(path.to_owned()));
    }
    let mut answers = defaults(command.file.as_deref());
    let input = std::io::stdin();
    if !command.yes && input.is_terminal() {
        answers = Interview { input: input.lock(), say: |text: &str| out!("{text}") }.answers(answers)?;
    }
    let path = command.file.clone().unwrap_or_else(|| PathBuf::from(format!("{}.yaml", answers.name)));
    create(&path, &skeleton(&answers)?)?;
    outln!("{} is written. `dragoman bridge check {0}` says what is in it.", path.display());
    Ok(())
}

/// The defaults; the protocol has the name of the file, if that can be one.
fn defaults(path: Option<&Path>) -> Answers {
    let name = path.and_then(Path::file_stem).and_then(|stem| stem.to_str());
    let name = name.filter(|name| check_name(name).is_ok()).map(str::to_owned);
    let answers = Answers::default();
    Answers { name: name.unwrap_or(answers.name), ..answers }
}

/// Writes a file that is not there yet.
pub(super) fn create(path: &Path, text: &str) -> Result<(), BridgeError> {
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => BridgeError::Exists(path.to_owned()),
        _ => BridgeError::Unwritable { path: path.to_owned(), error },
    })
}

/// Asks questions; an answer that cannot be used is asked for again.
struct Interview<R, S> {
    input: R,
    say: S,
}

impl<R: BufRead, S: FnMut(&str)> Interview<R, S> {
    fn answers(&mut self, default: Answers) -> Result<Answers, BridgeError> {
        (self.say)("Return takes the answer in brackets.\n");
        let name = self.name("Name of the protocol", &default.name)?;
        let link = self.choice("Link", &LinkAnswer::ALL, default.link)?;
        let cut = if link == LinkAnswer::Can {
            // A message is a frame of the bus.
            default.cut
        } else {
            (self.say)(
                "size: a field has the size; fixed: all have the same; marks: bytes in front and behind; \
                 line: a line of text; code: each code has a size\n",
            );
            self.choice("How a message begins and ends", &CutAnswer::ALL, default.cut)?
        };
        let orders = [("little", ByteOrder::Little), ("big", ByteOrder::Big)];
        let order = self.choice("Order of the bytes of numbers", &orders, default.order)?;
        let checksum = self.checksum()?;
        let to_machine = self.name("A message to the machine", &default.to_machine)?;
        let from_machine = loop {
            let name = self.name("A message from the machine", &default.from_machine)?;
            if name != to_machine {
                break name;
            }
            (self.say)(&format!("{}\n", SkeletonError::SameName(name)));
        };
        Ok(Answers { name, link, cut, order, checksum, to_machine, from_machine })
    }

    fn name(&mut self, question: &str, default: &str) -> Result<String, BridgeError> {
        loop {
            let name = self.line(question, default)?;
            match check_name(&name) {
                Ok(()) => return Ok(name),
                Err(error) => (self.say)(&format!("{error}\n")),
            }
        }
    }

    fn checksum(&mut self) -> Result<Option<String>, BridgeError> {
        loop {
            let name = self
                .line("Check sum: none, sum, xor, CRC-16/MODBUS, CRC-32/ISO-HDLC or another name", "none")?;
            if name == "none" {
                return Ok(None);
            }
            match checksum_type(&name) {
                Ok(_) => return Ok(Some(name)),
                Err(error) => (self.say)(&format!("{error}\n")),
            }
        }
    }

    fn choice<T: Copy + PartialEq>(
        &mut self,
        question: &str,
        choices: &[(&str, T)],
        default: T,
    ) -> Result<T, BridgeError> {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let word = choices.iter().find(|(_, one)| *one == default).map_or("", |(word, _)| *word);
        let question = format!("{question}: {}", words.join(", "));
        loop {
            let answer = self.line(&question, word)?;
            let found = choices.iter().find(|(word, _)| word.eq_ignore_ascii_case(&answer));
            if let Some((_, found)) = found {
                return Ok(*found);
            }
            let answer = dragoman_text::excerpt(&answer);
            let hint = dragoman_text::hint(&answer, words.iter().copied());
            (self.say)(&format!("'{answer}' is not one of them{hint}\n"));
        }
    }

    /// The answer, or the default if it is empty.
    fn line(&mut self, question: &str, default: &str) -> Result<String, BridgeError> {
        (self.say)(&format!("{question} [{default}]: "));
        let mut bytes = Vec::new();
        self.input.by_ref().take(MAX_ANSWER).read_until(b'\n', &mut bytes).map_err(BridgeError::NoAnswer)?;
        if bytes.is_empty() {
            return Err(BridgeError::NoAnswer(ErrorKind::UnexpectedEof.into()));
        }
        let answer = String::from_utf8_lossy(&bytes);
        let answer = answer.trim();
        Ok(if answer.is_empty() { default.to_owned() } else { answer.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(input: &str) -> (Result<Answers, BridgeError>, String) {
        let mut said = String::new();
        let mut interview = Interview { input: input.as_bytes(), say: |text: &str| said.push_str(text) };
        let answers = interview.answers(Answers::default());
        (answers, said)
    }

    #[test]
    fn empty_answers_are_the_defaults() {
        let (answers, said) = asked(&"\n".repeat(7));
        assert_eq!(answers.unwrap(), Answers::default());
        assert!(said.contains("Name of the protocol [machine]: "), "{said}");
    }

    #[test]
    fn wrong_answers_are_asked_for_again() {
        let input = "Rover 1\nrover\nserail\nserial\nmarks\nbig\nCRC-16/MODBSU\nCRC-16/MODBUS\ndrive\ndrive\nodometry\n";
        let (answers, said) = asked(input);
        let expected = Answers {
            name: "rover".to_owned(),
            link: LinkAnswer::Serial,
            cut: CutAnswer::Marks,
            order: ByteOrder::Big,
            checksum: Some("CRC-16/MODBUS".to_owned()),
            to_machine: "drive".to_owned(),
            from_machine: "odometry".to_owned(),
        };
        assert_eq!(answers.unwrap(), expected);
        for reason in ["'Rover 1' is not a name", "did you mean", "both messages are called drive"] {
            assert!(said.contains(reason), "{said}");
        }
    }

    #[test]
    fn on_a_bus_a_message_is_a_frame() {
        let (answers, said) = asked("\ncan\n\n\n\n\n");
        assert_eq!(answers.unwrap().link, LinkAnswer::Can);
        assert!(!said.contains("How a message begins"), "{said}");
    }

    #[test]
    fn the_end_of_the_input_is_an_error() {
        for input in ["", "rover\n", "rover\nserial\nsize\nlittle\n"] {
            assert!(matches!(asked(input).0, Err(BridgeError::NoAnswer(_))), "{input}");
        }
    }

    #[test]
    fn a_file_is_not_overwritten() {
        let path = std::env::temp_dir().join(format!("dragoman_bridge_new_{}.yaml", std::process::id()));
        let command = NewCommand { file: Some(path.clone()), yes: true };
        run(&command).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(super::super::compile(&text).is_ok(), "{text}");
        assert!(matches!(run(&command), Err(BridgeError::Exists(_))));
        assert!(matches!(create(&path, ""), Err(BridgeError::Exists(_))));
        std::fs::remove_file(path).unwrap();
    }
}
