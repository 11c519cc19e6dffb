//! `dragoman info`: what a recording holds.

use std::fmt;
use std::path::PathBuf;

use chrono::{DateTime, SecondsFormat};
use dragoman_ros::outln;

use crate::bag::BagError;
use crate::play::file::{Channel, Contents};

/// Options of the command.
#[derive(Clone, Debug, clap::Args)]
pub struct InfoOptions {
    /// Recording: an MCAP file, as `dragoman record` and `ros2 bag record` write it, or a folder of such files.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Prints what the recording holds.
///
/// # Errors
/// It cannot be read.
pub fn run(options: &InfoOptions) -> Result<(), BagError> {
    let contents = Contents::read(&options.file, None)?;
    let mut bytes = 0;
    for path in &contents.files {
        let failed = |source| BagError::Read { path: path.clone(), source };
        bytes += std::fs::metadata(path).map_err(failed)?.len();
    }
    outln!("{}", Table { path: options.file.display().to_string(), bytes, contents: &contents });
    Ok(())
}

/// The printed text.
struct Table<'a> {
    path: String,
    bytes: u64,
    contents: &'a Contents,
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Contents { files, channels, span, cut, .. } = self.contents;
        write!(formatter, "{}: {:.2} MB", self.path, self.bytes as f64 * 1e-6)?;
        if files.len() > 1 {
            write!(formatter, " in {} files", files.len())?;
        }
        if *cut > 0 {
            write!(formatter, ", not ended properly; `mcap recover` restores the index")?;
        }
        let Some((first, last)) = *span else { return write!(formatter, "\nno message") };
        let seconds = last.saturating_sub(first) as f64 * 1e-9;
        let messages: u64 = channels.iter().map(|channel| channel.messages).sum();
        write!(formatter, "\n{} to {}: {seconds:.3} s, {messages} messages", time(first), time(last))?;
        let width = |of: fn(&Channel) -> &str, title: &str| {
            channels
                .iter()
                .map(|channel| of(channel).chars().count())
                .max()
                .unwrap_or_default()
                .max(title.len())
        };
        let (topic, kind) = (width(|c| &c.topic, "topic"), width(|c| &c.type_name, "type"));
        write!(formatter, "\n{:topic$}  {:kind$}  messages       Hz", "topic", "type")?;
        for channel in channels {
            let Channel { topic: name, type_name, messages, .. } = channel;
            write!(formatter, "\n{name:topic$}  {type_name:kind$}  {messages:>8}")?;
            match channel.fault() {
                Some(fault) => write!(formatter, "  cannot be played: {fault}")?,
                // Over the whole recording; of a single message there is none.
                None if *messages > 1 && seconds > 0.0 => {
                    write!(formatter, "  {:>7.2}", *messages as f64 / seconds)?;
                }
                None => {}
            }
        }
        Ok(())
    }
}

/// Nanoseconds since 1970 as date and time in UTC.
fn time(nanoseconds: u64) -> String {
    let nanoseconds = i64::try_from(nanoseconds).unwrap_or(i64::MAX);
    DateTime::from_timestamp_nanos(nanoseconds).to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_there_is_and_what_cannot_be_played() {
        let channel = |topic: &str, type_name: &str, messages| Channel {
            topic: topic.into(),
            type_name: type_name.into(),
            encoding: "cdr".into(),
            messages,
            ..Channel::default()
        };
        let mut contents = Contents {
            files: vec!["run_0.mcap".into(), "run_1.mcap".into()],
            channels: vec![channel("/lamp", "std_msgs/msg/Bool", 20), channel("/x", "", 1)],
            span: Some((1_709_210_096_000_000_000, 1_709_210_106_500_000_000)),
            cut: 1,
            ..Contents::default()
        };
        let text = |contents: &Contents| Table { path: "run".into(), bytes: 1_234_567, contents }.to_string();
        let expected = "run: 1.23 MB in 2 files, not ended properly; `mcap recover` restores the index\n\
            2024-02-29T12:34:56.000Z to 2024-02-29T12:35:06.500Z: 10.500 s, 21 messages\n\
            topic  type               messages       Hz\n\
            /lamp  std_msgs/msg/Bool        20     1.90\n\
            /x                               1  cannot be played: it has no type";
        assert_eq!(text(&contents), expected);
        contents.span = None;
        assert!(text(&contents).ends_with("\nno message"));
    }
}
