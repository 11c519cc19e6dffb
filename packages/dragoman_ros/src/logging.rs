//! The log: on the terminal, and on `/rosout` for other nodes.
//!
//! Nodes log with `tracing`. The logger is named by a field `node`, otherwise by the node in whose task something is
//! logged, otherwise by the source's crate. Logged texts may come from clients: at every output an entry is one line of
//! plain text ([`dragoman_text::line`]).

use std::fmt::{Display, Write as _};
use std::io::IsTerminal;
use std::time::Duration;

use futures::channel::mpsc;
use futures::{Stream, StreamExt};
use parking_lot::{Mutex, MutexGuard};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets, dynamic_filter_fn};
use tracing_subscriber::fmt::format::{FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, MakeWriter, TestWriter};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Scope, SpanRef};

use crate::rcl_interfaces::msg::Log;
use crate::{Clock, Node, QosProfile, command_line};

/// Entries that wait for `/rosout`; more are dropped, because logging must never block.
const QUEUE_LENGTH: usize = 1000;

/// Where the log of this process, or of this lab, goes besides the terminal.
#[derive(Default)]
struct Sinks {
    rosout: Mutex<Option<mpsc::Sender<Log>>>,
    diverted: Mutex<Option<mpsc::Sender<Entry>>>,
}

/// Severity of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Information, or details for debugging.
    Info,
    /// Something may be wrong.
    Warn,
    /// Something is wrong.
    Error,
}

/// An entry of a diverted log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Severity of the entry.
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
    let subscriber = tracing_subscriber::registry()
        .with(requested_filter(level)?)
        .with(NameLayer)
        .with(terminal(std::io::stderr, std::io::stderr().is_terminal()))
        .with(RosoutLayer);
    tracing::subscriber::set_global_default(subscriber).map_err(|error| error.to_string())
}

/// The log of a lab on virtual time, for the thread that runs it: as [`init`], and every line is a part of the lab's
/// history. It is written to standard error if `is_shown`, with `eprint!`, which tests capture.
///
/// # Errors
/// Invalid level.
pub fn of_lab(level: &str, is_shown: bool) -> Result<tracing::Dispatch, String> {
    let subscriber = tracing_subscriber::registry()
        .with(requested_filter(level)?)
        .with(NameLayer)
        .with(is_shown.then(|| terminal(TestWriter::with_stderr, false)))
        .with(RosoutLayer)
        .with(HistoryLayer);
    Ok(subscriber.into())
}

/// The log on the terminal, unless it is diverted.
fn terminal<S, W>(writer: W, is_coloured: bool) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .with_ansi(is_coloured)
        .event_format(RosFormat)
        .with_filter(dynamic_filter_fn(|_, _| diverted(&dragoman_time::own()).is_none()))
}

/// Lines as those of other ROS 2 programs: `[INFO] [1732857600.123456789] [neobotix.platform]: text`.
struct RosFormat;

impl<S, N> FormatEvent<S, N> for RosFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        let Log { stamp, name, msg, .. } = entry(event, context.event_scope());
        let (level, colour) = match *event.metadata().level() {
            Level::ERROR => ("ERROR", "\u{1b}[31m"),
            Level::WARN => ("WARN", "\u{1b}[33m"),
            Level::INFO => ("INFO", ""),
            _ => ("DEBUG", "\u{1b}[32m"),
        };
        let coloured = writer.has_ansi_escapes() && !colour.is_empty();
        let (begin, end) = if coloured { (colour, "\u{1b}[0m") } else { ("", "") };
        writeln!(writer, "{begin}[{level}] [{}.{:09}] [{name}]: {msg}{end}", stamp.sec, stamp.nanosec)
    }
}

/// The filter of the environment, the command line or `level`.
fn requested_filter(level: &str) -> Result<Targets, String> {
    // The DDS library reports ordinary exits and repairs as errors, and the URDF reader logs every link; both are
    // logged on request only.
    if let Some(directives) = dragoman_time::variable("RUST_LOG") {
        match filter(&directives) {
            Ok(filter) => return Ok(filter),
            // Other programs read it, too.
            Err(error) => eprintln!("dragoman: RUST_LOG is ignored: {error}"),
        }
    }
    match ros_arguments(dragoman_time::arguments()).0 {
        // ROS's highest level, which nothing here has.
        Some(ros) if ros.eq_ignore_ascii_case("fatal") => filter("error"),
        Some(ros) => filter(&ros),
        None => filter(level),
    }
}

/// What is logged by `directives`: a level, or levels of modules.
fn filter(directives: &str) -> Result<Targets, String> {
    let wrong = |reason: &dyn Display| format!("'{directives}' is not a log level: {reason}");
    // A word alone would be the name of a module, and switch everything else off.
    let is_module =
        |word: &str| word.contains("::") || ["dragoman", "rustdds"].iter().any(|own| word.starts_with(own));
    for word in directives.split(',').map(str::trim).filter(|word| !word.is_empty() && !word.contains('=')) {
        if word.parse::<LevelFilter>().is_err() && !is_module(word) {
            return Err(wrong(
                &"write off, error, warn, info, debug or trace, or a module's level: dragoman_bridge=debug",
            ));
        }
    }
    let all: Result<Targets, _> = format!("rustdds=off,k=warn,{directives}").parse();
    all.map_err(|error| wrong(&error))
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
    *dragoman_time::own::<Sinks>().rosout.lock() =
        Some(sender).filter(|_| ros_arguments(dragoman_time::arguments()).1);
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
    *diverted(&dragoman_time::own()) = Some(sender);
    entries
}

/// Where the log goes instead of the terminal.
fn diverted(sinks: &Sinks) -> MutexGuard<'_, Option<mpsc::Sender<Entry>>> {
    let mut diverted = sinks.diverted.lock();
    if diverted.as_ref().is_some_and(mpsc::Sender::is_closed) {
        *diverted = None;
    }
    diverted
}

/// Adds every line to the history of the lab.
struct HistoryLayer;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for HistoryLayer {
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let entry = entry(event, context.event_scope(event));
        dragoman_time::note("log", &entry.name, entry.msg.as_bytes());
    }
}

/// Adds the names of nodes, from their spans, to their log entries.
struct NameLayer;

/// The name of a logger, kept with the span of its node.
struct Name(String);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for NameLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut log = Log::default();
        attributes.record(&mut EntryVisitor(&mut log));
        if let Some(span) = context.span(id).filter(|_| !log.name.is_empty()) {
            span.extensions_mut().insert(Name(log.name));
        }
    }
}

struct RosoutLayer;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for RosoutLayer {
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        // Messages of the middleware layer while publishing must not be published in turn.
        if metadata.target().starts_with("dragoman_ros::embedded") {
            return;
        }
        let sinks = dragoman_time::own::<Sinks>();
        let (rosout, diverted) = (sinks.rosout.lock().clone(), diverted(&sinks).clone());
        if rosout.is_none() && diverted.is_none() {
            return;
        }
        let entry = entry(event, context.event_scope(event));
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

/// The crate of a module, without the word that all of ours begin with.
fn of_crate(module: &str) -> String {
    let name = module.split("::").next().unwrap_or_default();
    name.strip_prefix("dragoman_").unwrap_or(name).to_owned()
}

/// The name is that of the event's field `node`, otherwise that of the node in whose task it happens, otherwise that of
/// the source's crate.
fn entry<'a, S: Subscriber + LookupSpan<'a>>(event: &Event<'_>, scope: Option<Scope<'a, S>>) -> Log {
    let metadata = event.metadata();
    let mut entry = Log {
        stamp: Clock::to_builtin_time(&dragoman_time::wall_time()),
        level: severity(*metadata.level()),
        file: metadata.file().unwrap_or_default().to_owned(),
        line: metadata.line().unwrap_or_default(),
        ..Default::default()
    };
    event.record(&mut EntryVisitor(&mut entry));
    if entry.name.is_empty() {
        let of_node = |span: SpanRef<'a, S>| span.extensions().get::<Name>().map(|Name(name)| name.clone());
        let of_node = scope.into_iter().flatten().find_map(of_node);
        entry.name = of_node.unwrap_or_else(|| of_crate(metadata.target()));
    }
    for text in [&mut entry.msg, &mut entry.name] {
        *text = dragoman_text::line(text).into_owned();
    }
    entry
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
    use std::io;
    use std::sync::Arc;

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
        for wrong in ["dragoman_bridge=loud", "a=b=c", "verbose", "info,loud", "inf"] {
            assert!(filter(wrong).unwrap_err().contains("is not a log level"), "{wrong}");
        }
    }

    /// What an entry with this text is on the terminal, and on `/rosout` and in the history.
    fn logged(text: &str) -> (String, String) {
        #[derive(Clone, Default)]
        struct Output(Arc<Mutex<Vec<u8>>>);
        impl io::Write for Output {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().extend_from_slice(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        struct Entries(Arc<Mutex<String>>);
        impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Entries {
            fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
                self.0.lock().push_str(&entry(event, context.event_scope(event)).msg);
            }
        }
        let (output, entries) = (Output::default(), Arc::<Mutex<String>>::default());
        let writer = output.clone();
        let subscriber = tracing_subscriber::registry()
            .with(NameLayer)
            .with(terminal(move || writer.clone(), true))
            .with(Entries(Arc::clone(&entries)));
        tracing::subscriber::with_default(subscriber, || {
            let _node = tracing::error_span!("node", node = "/lab/arm").entered();
            let _inner = tracing::error_span!("of a crate").entered();
            tracing::warn!(name = text, shown = %text, "refused: {text}");
        });
        let shown = String::from_utf8(output.0.lock().clone()).unwrap();
        let entry = entries.lock().clone();
        (shown, entry)
    }

    #[test]
    fn lines_are_those_of_ros_with_the_name_of_their_node() {
        let (shown, _) = logged("x");
        let line = shown.strip_prefix("\u{1b}[33m[WARN] [").unwrap_or_else(|| panic!("{shown:?}"));
        let (time, rest) = line.split_once("] [").unwrap();
        let (seconds, fraction) = time.split_once('.').unwrap();
        assert!(seconds.parse::<u32>().is_ok() && fraction.len() == 9, "{shown:?}");
        assert_eq!(rest, "lab.arm]: refused: x name=\"x\" shown=x\u{1b}[0m\n");
    }

    #[test]
    fn entries_cannot_be_forged() {
        let (shown, entry) = logged("a\nERROR forged\r\u{1b}[2J\u{9b}1m\u{7}\u{85}\u{202e}b\u{2066}\u{2028}");
        assert_eq!(shown.matches('\n').count(), 1, "{shown:?}");
        let text = shown.trim_end().strip_suffix("\u{1b}[0m").unwrap();
        let (_, text) = text.split_once("refused").unwrap();
        for text in [text, &entry] {
            assert!(text.contains("a\\nERROR forged\\r\\u{1b}[2J"), "{text:?}");
            assert!(text.contains("\\u{202e}b\\u{2066}"), "{text:?}");
            assert!(!text.chars().any(|letter| letter.is_control()), "{text:?}");
            assert!(!text.contains(['\u{202e}', '\u{2066}', '\u{2028}']), "{text:?}");
        }
    }

    #[test]
    fn entries_have_a_bounded_length() {
        let (shown, entry) = logged(&"x".repeat(100_000));
        assert!(shown.len() < 2200 && entry.len() < 2100);
        assert!(entry.ends_with("more characters)"), "{entry}");
    }

    #[test]
    fn the_ros_part_of_the_command_line_sets_level_and_rosout() {
        let read = |text: &str| ros_arguments(text.split_whitespace().map(str::to_owned));
        assert_eq!(read("up --log-level warn"), (None, true));
        assert_eq!(read("--ros-args --log-level debug --log-level a:=info"), (Some("debug".into()), true));
        assert_eq!(read("--ros-args --disable-rosout-logs -- --enable-rosout-logs"), (None, false));
    }
}
