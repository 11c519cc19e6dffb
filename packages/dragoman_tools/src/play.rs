//! `dragoman play`: publishes a recording again, at its own pace or faster.
//!
//! | file | holds |
//! | --- | --- |
//! | `play.rs` | the options, the publishers, the pace |
//! | `play/file.rs` | what a recording holds; its messages, read on a thread of their own |
//! | `play/node.rs` | services of [`record::node`](crate::record::node) that play as well |

pub(crate) mod file;
pub(crate) mod node;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::rosgraph_msgs::msg::Clock;
use dragoman_ros::{Context, Node, QosProfile, raw};
use dragoman_time::{MissedTicks, interval, sleep, sleep_until};

use crate::bag::BagError;
use crate::record::selection::{Pattern, Selection};
use file::{Contents, Message};

/// Options of the playback.
#[derive(Clone, Debug, clap::Args)]
pub struct PlayOptions {
    /// Recording to play: an MCAP file of ROS 2 messages, as `dragoman record` and `ros2 bag record` write it, or a folder
    /// of such files.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The folder that the file must be below, when its name comes from outside.
    #[arg(skip)]
    pub(crate) folder: Option<PathBuf>,
    /// Topics to play; NAME/ stands for all topics below it. Default: all.
    #[arg(value_name = "TOPICS")]
    pub(crate) topics: Vec<Pattern>,
    /// Topics to leave out, separated by commas. May be given several times.
    #[arg(long, value_name = "TOPICS", value_delimiter = ',')]
    pub(crate) exclude: Vec<Pattern>,
    /// Namespace to put before all topics, for example /playback beside a running lab.
    #[arg(long, value_name = "NAMESPACE", default_value = "")]
    pub(crate) prefix: String,
    /// How much faster than it was recorded.
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = rate)]
    pub(crate) rate: f64,
    /// Where to begin, seconds from the start of the recording.
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub(crate) start: Duration,
    /// Seconds to wait before the first message, so that subscribers have found the publishers.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub(crate) delay: Duration,
    /// Begin again at the end, until SIGINT or SIGTERM.
    #[arg(long = "loop")]
    pub(crate) repeats: bool,
    /// Publish the time of the recording on /clock, for nodes with use_sim_time.
    #[arg(long)]
    pub(crate) clock: bool,
}

impl PlayOptions {
    /// The whole file once, at its own pace.
    pub(crate) fn new(file: PathBuf) -> Self {
        Self {
            file,
            folder: None,
            topics: Vec::new(),
            exclude: Vec::new(),
            prefix: String::new(),
            rate: 1.0,
            start: Duration::ZERO,
            delay: Duration::from_secs(1),
            repeats: false,
            clock: false,
        }
    }
}

/// Range of `--rate`.
const RATES: std::ops::RangeInclusive<f64> = 0.001..=1000.0;

pub(crate) fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().map_err(|_| format!("'{text}' is not a number"))?;
    if RATES.contains(&rate) { Ok(rate) } else { Err("a rate is between 0.001 and 1000".to_owned()) }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("'{text}' is not a number"))?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "seconds are not negative".to_owned())
}

/// Error of a playback.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The recording cannot be read.
    #[error(transparent)]
    Bag(#[from] BagError),
    /// It has none of the topics that are to be played.
    #[error("{} has none of these topics{hint}", path.display())]
    Nothing {
        /// The recording.
        path: PathBuf,
        /// Suggestions, or the existing ones.
        hint: String,
    },
    /// It has no message.
    #[error("{} has no message{}", path.display(), if *is_cut { ": it was cut off before the first one" } else { "" })]
    Empty {
        /// The recording.
        path: PathBuf,
        /// Whether it was not ended properly.
        is_cut: bool,
    },
    /// It has some, and none of them can be published.
    #[error("{} has nothing that can be played: {reasons}", path.display())]
    LeftOut {
        /// The file.
        path: PathBuf,
        /// The topics with the reasons.
        reasons: String,
    },
    /// It has no topic of this name.
    #[error("{} has no topic '{topic}'{hint}", path.display())]
    NoTopic {
        /// The recording.
        path: PathBuf,
        /// As it was named.
        topic: String,
        /// Suggestions, or the existing ones.
        hint: String,
    },
    /// The playback was stopped before its end.
    #[error("stopped before the end of the recording")]
    Stopped,
    /// Messages are missing in what was played.
    #[error("{0} messages could not be published")]
    Unpublished(u64),
    /// The system refused another thread.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// A node or a publisher cannot be created.
    #[error(transparent)]
    Ros(#[from] dragoman_ros::Error),
}

/// The result of a playback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// Published messages.
    pub messages: u64,
    /// Messages that could not be published.
    pub failed: u64,
    /// Whether it was stopped before its end. One that is repeated has none.
    pub is_stopped: bool,
}

impl Played {
    /// Whether all of it was played.
    ///
    /// # Errors
    /// Stopped before the end; messages that could not be published.
    pub fn complete(&self) -> Result<(), PlayError> {
        match self {
            Self { is_stopped: true, .. } => Err(PlayError::Stopped),
            Self { failed: 0, .. } => Ok(()),
            Self { failed, .. } => Err(PlayError::Unpublished(*failed)),
        }
    }
}

impl fmt::Display for Played {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} messages", self.messages)?;
        if self.failed > 0 {
            write!(formatter, ", and {} that could not be published", self.failed)?;
        }
        Ok(())
    }
}

/// Plays until the end, or until `stop` resolves.
///
/// # Errors
/// The file cannot be read, or has none of the topics; no node can be created.
pub async fn run(
    context: Context,
    options: PlayOptions,
    stop: impl Future<Output = ()>,
) -> Result<Played, PlayError> {
    Session::open(options)?.run(context, stop).await
}

/// A recording whose contents are known.
pub(crate) struct Session {
    options: PlayOptions,
    contents: Contents,
    /// The places of the channels that are played.
    played: Vec<usize>,
    /// Topics that were wanted and cannot be played, with the reason.
    left_out: BTreeMap<String, String>,
}

impl Session {
    /// Reads what the recording holds.
    pub(crate) fn open(options: PlayOptions) -> Result<Self, PlayError> {
        let selection = Selection::new(options.topics.clone(), options.exclude.clone());
        let contents = Contents::read(&options.file, options.folder.as_deref())?;
        let (mut played, mut left_out) = (Vec::new(), BTreeMap::new());
        for (place, channel) in contents.channels.iter().enumerate() {
            if selection.wants(&channel.topic) {
                match channel.fault() {
                    None => played.push(place),
                    Some(reason) => _ = left_out.insert(channel.topic.clone(), reason),
                }
            }
        }
        let path = options.file.clone();
        if contents.span.is_none() {
            return Err(PlayError::Empty { path, is_cut: contents.cut > 0 });
        }
        let names = || contents.channels.iter().map(|channel| channel.topic.as_str());
        let missing = selection.missing(names());
        if played.is_empty() {
            if !left_out.is_empty() {
                return Err(nothing(path, &left_out));
            }
            let hint = missing.first().map(|name| dragoman_text::hint(name, names()));
            return Err(PlayError::Nothing { path, hint: hint.unwrap_or_default() });
        }
        if let Some(topic) = missing.into_iter().next() {
            let hint = dragoman_text::hint(&topic, names());
            return Err(PlayError::NoTopic { path, topic, hint });
        }
        if contents.cut > 0 {
            tracing::warn!(file = %path.display(), "recording is incomplete; playing the readable part");
        }
        Ok(Self { options, contents, played, left_out })
    }

    pub(crate) async fn run(
        self,
        context: Context,
        stop: impl Future<Output = ()>,
    ) -> Result<Played, PlayError> {
        let Self { options, contents, played: places, mut left_out } = self;
        for (topic, reason) in &left_out {
            tracing::warn!(topic, reason, "topic not played");
        }
        let mut node = Node::create(context, "dragoman_play", "")?;
        let mut publishers = BTreeMap::new();
        for place in places {
            let Some(channel) = contents.channels.get(place) else { continue };
            let topic = below(&options.prefix, &channel.topic);
            match raw::create_publisher(&mut node, &topic, &channel.type_name, channel.qos()) {
                Ok(publisher) => {
                    publishers.insert(place, publisher);
                }
                Err(error) => {
                    tracing::warn!(topic, r#type = channel.type_name, %error, "topic not played");
                    left_out.insert(topic, error.to_string());
                }
            }
        }
        if publishers.is_empty() {
            return Err(nothing(options.file, &left_out));
        }
        let clock = if options.clock {
            Some(node.create_publisher::<Clock>("/clock", QosProfile::default().keep_last(1))?)
        } else {
            None
        };
        let (begin, end) = contents.span.unwrap_or_default();
        let first = begin.saturating_add(u64::try_from(options.start.as_nanos()).unwrap_or(u64::MAX));
        tracing::info!(
            file = %options.file.display(),
            topics = publishers.len(),
            seconds = Duration::from_nanos(end.saturating_sub(first)).as_secs_f64(),
            "playback started"
        );
        let mut played = Played::default();
        let counted = &mut played;
        // The publishers of r2r can be sent to other threads, but not shared.
        let playing = async move {
            sleep(options.delay).await;
            loop {
                let pace = Pace { begin: dragoman_time::now(), first, rate: options.rate };
                let mut messages = contents.follow()?;
                let mut ticks = interval(CLOCK_PERIOD).with_missed(MissedTicks::Delay);
                let mut next: Option<Message> = None;
                loop {
                    tokio::select! {
                        biased;
                        () = ticks.tick(), if clock.is_some() => {
                            if let Some(clock) = &clock {
                                clock.publish(&Clock { clock: pace.recorded(dragoman_time::now()) })?;
                            }
                        }
                        () = sleep_until(pace.due(next.as_ref())), if next.is_some() => {
                            let Some(message) = next.take() else { continue };
                            let Some(publisher) = publishers.get(&message.channel) else { continue };
                            match publisher.publish(&message.data) {
                                Ok(()) => counted.messages += 1,
                                Err(error) => {
                                    if counted.failed == 0 {
                                        tracing::warn!(%error, "publishing failed");
                                    }
                                    counted.failed += 1;
                                }
                            }
                        }
                        message = messages.recv(), if next.is_none() => match message {
                            None => break,
                            Some(message) => {
                                let message = message?;
                                let is_played = message.time >= first && publishers.contains_key(&message.channel);
                                next = Some(message).filter(|_| is_played);
                            }
                        },
                    }
                }
                if !options.repeats {
                    // The last message has to go out.
                    sleep(DELIVERY_TIME).await;
                    return Ok(());
                }
                // A recording of one moment would be published without a pause.
                sleep_until(pace.begin + MIN_ROUND).await;
            }
        };
        tokio::select! {
            biased;
            () = stop => Ok(Played { is_stopped: !options.repeats, ..played }),
            ended = playing => ended.map(|()| played),
        }
    }
}

/// The error of a recording of whose topics none can be played.
fn nothing(path: PathBuf, left_out: &BTreeMap<String, String>) -> PlayError {
    /// More names do not help the reader.
    const NAMED: usize = 5;
    let mut reasons: Vec<String> =
        left_out.iter().take(NAMED).map(|(topic, reason)| format!("{topic}: {reason}")).collect();
    if let Some(more) = left_out.len().checked_sub(NAMED).filter(|more| *more > 0) {
        reasons.push(format!("and {more} more"));
    }
    PlayError::LeftOut { path, reasons: reasons.join("; ") }
}

const CLOCK_PERIOD: Duration = Duration::from_millis(25);
/// Minimum time from one beginning to the next of a recording that is repeated.
const MIN_ROUND: Duration = Duration::from_millis(100);
/// Time for subscribers to get the last messages.
const DELIVERY_TIME: Duration = Duration::from_millis(200);

/// When which part of the recording is due.
struct Pace {
    begin: Instant,
    /// Time in the recording at the beginning, ns.
    first: u64,
    rate: f64,
}

impl Pace {
    fn due(&self, message: Option<&Message>) -> Instant {
        let since = message.map_or(0, |message| message.time.saturating_sub(self.first));
        let wait = Duration::try_from_secs_f64(since as f64 * 1e-9 / self.rate).unwrap_or(Duration::MAX);
        self.begin.checked_add(wait).unwrap_or(self.begin)
    }

    /// The time in the recording.
    fn recorded(&self, now: Instant) -> Time {
        let since = now.saturating_duration_since(self.begin).mul_f64(self.rate);
        let time = Duration::from_nanos(self.first) + since;
        dragoman_ros::Clock::to_builtin_time(&time)
    }
}

/// A topic below a namespace.
fn below(prefix: &str, topic: &str) -> String {
    match prefix.trim_matches('/') {
        "" => topic.to_owned(),
        prefix => format!("/{prefix}/{}", topic.trim_start_matches('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_follows_the_recording() {
        let begin = Instant::now();
        let pace = Pace { begin, first: 5_000_000_000, rate: 2.0 };
        let due = |time| pace.due(Some(&Message { channel: 1, time, data: Vec::new() })) - begin;
        assert_eq!(due(5_000_000_000), Duration::ZERO);
        assert_eq!(due(8_000_000_000), Duration::from_millis(1500));
        assert_eq!(due(1), Duration::ZERO, "earlier ones come at once");
        assert_eq!(pace.recorded(begin + Duration::from_millis(1500)), Time { sec: 8, nanosec: 0 });
    }

    #[test]
    fn topics_are_put_below_a_namespace() {
        assert_eq!(below("", "/odom"), "/odom");
        assert_eq!(below("playback", "/ranger/pose"), "/playback/ranger/pose");
        assert_eq!(below("/a/b/", "odom"), "/a/b/odom");
    }

    #[test]
    fn rates_and_seconds_are_checked() {
        assert_eq!(rate("2.5"), Ok(2.5));
        assert!(["0", "-1", "NaN", "inf", "x"].iter().all(|text| rate(text).is_err()));
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert!(["-1", "NaN", "inf", "x"].iter().all(|text| seconds(text).is_err()));
    }
}
