//! The log: on the terminal, and on `/rosout` for other nodes.
//!
//! Nodes log with `tracing`; a field `node` names the logger, otherwise the source's module does.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures::channel::mpsc;
use futures::{Stream, StreamExt};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{Targets, dynamic_filter_fn};
use tracing_subscriber::layer::{Context, SubscriberExt};

use crate::command_line;
use crate::rcl_interfaces::msg::Log;
use crate::{Clock, ClockType, Node, QosProfile};

/// Entries that wait for `/rosout`; more are dropped, because logging must never block.
const QUEUE_LENGTH: usize = 1000;

static ROSOUT: OnceLock<Mutex<Option<mpsc::Sender<Log>>>> = OnceLock::new();
static DIVERTED: Mutex<Option<mpsc::Sender<Entry>>> = Mutex::new(None);

/// How grave an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Worth reading; also what is for debugging.
    Info,
    /// Something may be wrong.
    Warn,
    /// Something is wrong.
    Error,
}

/// An entry of a diverted log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// How grave it is.
    pub severity: Severity,
    /// Message and fields.
    pub text: String,
}

/// Logging options of a command line: the last `--log-level` for all loggers, and whether `/rosout` is enabled.
fn ros_arguments(arguments: impl IntoIterator<Item = String>) -> (Option<String>, bool) {
    let (mut level, mut rosout) = (None, true);
    let (_, ros) = command_line::split(arguments);
    let mut arguments = ros.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--log-level" => level = arguments.next().filter(|given| !given.contains(":=")).or(level),
            "--disable-rosout-logs" => rosout = false,
            "--enable-rosout-logs" => rosout = true,
            _ => {}
        }
    }
    (level, rosout)
}

/// Writes events at or above `level` (`error`, `warn`, `info`, `debug`, `trace`, or filter directives like
/// `warn,dragoman_bridge=debug`) to standard error. `RUST_LOG` takes precedence, then `--ros-args --log-level`.
///
/// # Errors
/// Invalid level; a log has been set up before.
pub fn init(level: &str) -> Result<(), String> {
    // The DDS library reports ordinary exits and repairs as errors, and the URDF reader logs every link; both are
    // logged on request only.
    let directives = std::env::var("RUST_LOG")
        .ok()
        .or_else(|| ros_arguments(std::env::args()).0)
        .unwrap_or_else(|| level.to_owned());
    let filter = filter(&directives)?;
    let terminal = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .with_filter(dynamic_filter_fn(|_, _| diverted().is_none()));
    let subscriber = tracing_subscriber::registry().with(filter).with(terminal).with(RosoutLayer);
    tracing::subscriber::set_global_default(subscriber).map_err(|error| error.to_string())
}

/// What is logged by `directives`: a level, or levels of modules.
fn filter(directives: &str) -> Result<Targets, String> {
    let all: Result<Targets, _> = format!("rustdds=off,k=warn,{directives}").parse();
    all.map_err(|error| format!("'{directives}' is not a log level: {error}"))
}

/// Publishes the log on `/rosout` under the name of `node` while the returned future is polled, unless `--ros-args
/// --disable-rosout-logs` is given.
///
/// # Errors
/// An error of the middleware.
pub fn publish(node: &mut Node) -> crate::Result<impl Future<Output = ()> + Send + use<>> {
    let qos = QosProfile::default().keep_last(1000).transient_local().lifespan(Duration::from_secs(10));
    let publisher = node.create_publisher::<Log>("/rosout", qos)?;
    let (sender, mut entries) = mpsc::channel(QUEUE_LENGTH);
    *rosout() = Some(sender).filter(|_| ros_arguments(std::env::args()).1);
    Ok(async move {
        while let Some(entry) = entries.next().await {
            // An error here cannot be logged: that would recurse.
            let _ = publisher.publish(&entry);
        }
    })
}

/// Takes the log from the terminal while the returned stream exists, for a program that draws on it.
pub fn divert() -> impl Stream<Item = Entry> + Unpin {
    let (sender, entries) = mpsc::channel(QUEUE_LENGTH);
    *diverted() = Some(sender);
    entries
}

/// Where the log goes instead of the terminal.
fn diverted() -> std::sync::MutexGuard<'static, Option<mpsc::Sender<Entry>>> {
    let mut diverted = DIVERTED.lock().unwrap_or_else(PoisonError::into_inner);
    if diverted.as_ref().is_some_and(mpsc::Sender::is_closed) {
        *diverted = None;
    }
    diverted
}

fn rosout() -> std::sync::MutexGuard<'static, Option<mpsc::Sender<Log>>> {
    ROSOUT.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

struct RosoutLayer;

impl<S: Subscriber> Layer<S> for RosoutLayer {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let metadata = event.metadata();
        // Messages of the middleware layer while publishing must not be published in turn.
        if metadata.target().starts_with("dragoman_ros::embedded") {
            return;
        }
        let (rosout, diverted) = (rosout().clone(), diverted().clone());
        if rosout.is_none() && diverted.is_none() {
            return;
        }
        let mut entry = Log {
            level: severity(*metadata.level()),
            file: metadata.file().unwrap_or_default().to_owned(),
            line: metadata.line().unwrap_or_default(),
            ..Default::default()
        };
        if let Ok(mut clock) = Clock::create(ClockType::SystemTime) {
            entry.stamp = Clock::to_builtin_time(&clock.get_now().unwrap_or_default());
        }
        event.record(&mut EntryVisitor(&mut entry));
        if entry.name.is_empty() {
            entry.name = metadata.target().replace("::", ".");
        }
        if let Some(mut sender) = diverted {
            let severity = match entry.level {
                40.. => Severity::Error,
                30.. => Severity::Warn,
                _ => Severity::Info,
            };
            let _ = sender.try_send(Entry { severity, text: entry.msg.clone() });
        }
        if let Some(mut sender) = rosout {
            let _ = sender.try_send(entry);
        }
    }
}

/// `rcl_interfaces/msg/Log`: DEBUG 10, INFO 20, WARN 30, ERROR 40.
fn severity(level: Level) -> u8 {
    match level {
        Level::ERROR => 40,
        Level::WARN => 30,
        Level::INFO => 20,
        _ => 10,
    }
}

struct EntryVisitor<'a>(&'a mut Log);

impl Visit for EntryVisitor<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "node" {
            self.0.name = value.trim_start_matches('/').replace('/', ".");
        } else {
            self.record_debug(field, &value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let text = &mut self.0.msg;
        let _ = match field.name() {
            "message" => {
                let fields = std::mem::take(text);
                write!(text, "{value:?}{fields}")
            }
            name => write!(text, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_or_levels_of_modules_filter_the_log() {
        let is_logged = |directives: &str, target: &str, level: Level| {
            filter(directives).unwrap().would_enable(target, &level)
        };
        assert!(is_logged("info", "dragoman_bridge", Level::INFO));
        assert!(is_logged("INFO", "dragoman_bridge", Level::INFO));
        assert!(!is_logged("info", "dragoman_bridge", Level::DEBUG));
        assert!(is_logged("warn,dragoman_bridge=debug", "dragoman_bridge::apolo", Level::DEBUG));
        assert!(!is_logged("warn,dragoman_bridge=debug", "dragoman_arm", Level::INFO));
        assert!(!is_logged("trace", "rustdds::rtps", Level::ERROR));
        assert!(!is_logged("trace", "k::urdf", Level::INFO));
        assert!(is_logged("info,rustdds=debug", "rustdds::rtps", Level::DEBUG));
        assert!(is_logged("", "dragoman_bridge", Level::ERROR));
        for wrong in ["dragoman_bridge=loud", "a=b=c"] {
            assert!(filter(wrong).unwrap_err().contains("is not a log level"), "{wrong}");
        }
    }

    #[test]
    fn the_ros_part_of_the_command_line_sets_level_and_rosout() {
        let read = |text: &str| ros_arguments(text.split_whitespace().map(str::to_owned));
        assert_eq!(read("up --log-level warn"), (None, true));
        assert_eq!(read("--ros-args --log-level debug --log-level a:=info"), (Some("debug".into()), true));
        assert_eq!(read("--ros-args --disable-rosout-logs -- --enable-rosout-logs"), (None, false));
    }
}
