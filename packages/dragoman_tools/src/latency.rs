//! `dragoman latency`: measures the delay from a robot's messages to a program (TurtleBot thesis, 5.1).
//!
//! | file | holds |
//! | --- | --- |
//! | `latency.rs` | the options, the measurements, the table |
//! | `latency/stamp.rs` | time stamps in serialized messages |
//! | `latency/statistics.rs` | medians and percentiles |
//! | `latency/plot.rs` | the histograms |

mod plot;
mod stamp;
mod statistics;

use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use dragoman_ros::dragoman_msgs::srv::GetGeometry;
use dragoman_ros::qos::ReliabilityPolicy;
use dragoman_ros::std_msgs::msg::String as Text;
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, QosProfile, out, raw};
use dragoman_time::{sleep, timeout};
use futures::StreamExt;
use futures::channel::mpsc;

use crate::relay::{Table, To};
use plot::Samples;
use statistics::{Summary, milliseconds};

/// Options of the measurement.
#[derive(Debug, Clone, clap::Args)]
pub struct LatencyOptions {
    /// Topics, separated by commas; default: the continuously published ones of the TurtleBot thesis, table A.2, and
    /// the service get_geometry.
    #[arg(long, value_name = "TOPICS", value_delimiter = ',')]
    topics: Vec<String>,
    /// Samples of each; the first messages, during connection set-up, do not count.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    samples: u32,
    /// Time after which a publisher, a message or a response counts as missing.
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Draw a histogram of each topic in this SVG file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// The continuously published simulator topics of the TurtleBot thesis, table A.2.
const OF_SIMULATOR: [&str; 2] = ["/simulation/pose", "/simulation/sim_time"];
/// A service of the base without side effects.
const GEOMETRY: &str = "/mobile_base/get_geometry";
/// Topics whose text is published back, with the topic of the reply.
const ECHOES: [(&str, &str); 2] =
    [("/vrep/status_bar_message", "/vrep/status_bar"), ("/vrep/aux_console/print", "/vrep/aux_console/text")];
/// Number of messages at the beginning that do not count.
const FIRST: usize = 5;
/// Time until both sides have discovered a connection.
const SETTLE_TIME: Duration = Duration::from_millis(400);
/// Pause between two requests.
const PAUSE: Duration = Duration::from_millis(5);

/// The measurements of one name.
#[derive(Debug, Default)]
struct LatencyRow {
    name: String,
    /// Definition of the measured time.
    measure: &'static str,
    times: Vec<Duration>,
    transits: Vec<Duration>,
    /// Time from the first to the last sample.
    span: Duration,
    /// The reason why there are fewer samples than requested.
    remark: String,
}

/// Measures until all samples are taken, or `stop` resolves, and prints the results.
///
/// # Errors
/// Stopped before; topics that were named and have fewer samples; without names, none has samples.
pub async fn run(
    context: &Context,
    options: &LatencyOptions,
    stop: impl Future<Output = ()>,
) -> Result<(), Box<dyn Error>> {
    let names = if options.topics.is_empty() { default_names()? } else { options.topics.clone() };
    let mut rows = Vec::new();
    let measured = async {
        for name in &names {
            let name = format!("/{}", name.trim_matches('/'));
            eprintln!("{name} ...");
            rows.push(
                measure(context, name, options.samples as usize, Duration::from_secs(options.timeout))
                    .await?,
            );
        }
        Ok::<_, Box<dyn Error>>(())
    };
    let is_stopped = tokio::select! {
        biased;
        () = stop => true,
        result = measured => {
            result?;
            false
        }
    };
    if is_stopped {
        eprintln!("stopped; results so far:");
    }
    out!("{}", table(&rows));
    if let Some(path) = &options.plot {
        let topics: Vec<Samples<'_>> =
            rows.iter().map(|row| Samples { title: &row.name, times: &row.times }).collect();
        if let Some(svg) = plot::svg(&topics)? {
            std::fs::write(path, svg).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    if is_stopped {
        return Err("stopped before all samples were taken".into());
    }
    if rows.iter().all(|row| row.times.is_empty()) {
        return Err("nothing could be measured: is a robot in this domain?".into());
    }
    // Not every robot has all topics of the table.
    let short = rows.iter().filter(|row| !options.topics.is_empty() && !row.remark.is_empty());
    let short: Vec<String> = short.map(|row| format!("{} ({})", row.name, row.remark)).collect();
    if short.is_empty() { Ok(()) } else { Err(format!("not measured: {}", short.join(", ")).into()) }
}

/// The continuously published topics of table A.2, and the services.
fn default_names() -> Result<Vec<String>, Box<dyn Error>> {
    let topics = Table::turtlebot()?
        .topics
        .into_iter()
        .filter(|topic| topic.to == To::Programs && !topic.latched && !topic.name.contains("/events/"));
    let names = topics.map(|topic| format!("/{}", topic.name));
    Ok(names.chain(OF_SIMULATOR.into_iter().chain([GEOMETRY]).map(str::to_owned)).collect())
}

async fn measure(
    context: &Context,
    name: String,
    samples: usize,
    limit: Duration,
) -> Result<LatencyRow, Box<dyn Error>> {
    // A node for each measurement, so that no other topic is received meanwhile.
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "dragoman_latency", "")?);
    if name == GEOMETRY {
        return measure_service(tasks, name, samples, limit).await;
    }
    if let Some((_, echo)) = ECHOES.iter().find(|(topic, _)| *topic == name) {
        return measure_echo(tasks, name, echo, samples, limit).await;
    }
    let Some((type_name, is_reliable)) = found(tasks.node(), &name, limit).await? else {
        return Ok(LatencyRow { name, remark: "not published".to_owned(), ..LatencyRow::default() });
    };
    let qos = QosProfile::default().keep_last(10);
    let qos = if is_reliable { qos } else { qos.best_effort() };
    let has_header = raw::definition(&type_name).is_some_and(|text| stamp::begins_with_header(&text));
    let mut messages = raw::subscribe(tasks.node(), &name, &type_name, qos)?;
    let _running = tasks.start()?;
    let measure = if has_header { "stamp" } else { "publication" };
    let mut row = LatencyRow { name, measure, ..LatencyRow::default() };
    let mut seen = 0;
    let mut first: Option<Instant> = None;
    while row.times.len() < samples {
        let Ok(Some(message)) = timeout(limit, messages.next()).await else {
            row.remark = if seen == 0 { "silent".to_owned() } else { "no more messages".to_owned() };
            return Ok(row);
        };
        let (at, now) = (dragoman_time::now(), dragoman_time::wall_time());
        seen += 1;
        if seen <= FIRST {
            first = Some(at);
            continue;
        }
        let published = message.source_time.map(Duration::from_nanos);
        let began = if has_header { stamp::stamp(&message.data) } else { published };
        let Some(began) = began else {
            row.remark = "messages are not stamped".to_owned();
            return Ok(row);
        };
        // The clock of another computer may be ahead.
        let Some(time) = now.checked_sub(began) else {
            row.remark = "stamps are ahead of this computer's clock".to_owned();
            return Ok(row);
        };
        row.times.push(time);
        row.transits.extend(published.and_then(|published| now.checked_sub(published)));
        row.span = first.map_or(Duration::ZERO, |first| at - first);
    }
    Ok(row)
}

/// Type of a topic, and whether all its publishers are reliable; `limit` is the time without news of the graph after which it
/// has none.
async fn found(
    node: &mut Node,
    topic: &str,
    limit: Duration,
) -> Result<Option<(String, bool)>, Box<dyn Error>> {
    let (mut start, mut known) = (dragoman_time::now(), 0);
    loop {
        let publishers = node.get_publishers_info_by_topic(topic, false)?;
        if let Some(publisher) = publishers.first() {
            let best_effort =
                |reliability: &ReliabilityPolicy| matches!(reliability, ReliabilityPolicy::BestEffort);
            let is_reliable =
                !publishers.iter().any(|publisher| best_effort(&publisher.qos_profile.reliability));
            return Ok(Some((publisher.topic_type.clone(), is_reliable)));
        }
        // As long as others are found, this one may come.
        let topics = node.get_topic_names_and_types()?.len();
        if std::mem::replace(&mut known, topics) != topics {
            start = dragoman_time::now();
        }
        if dragoman_time::since(start) > limit {
            return Ok(None);
        }
        sleep(Duration::from_millis(50)).await;
    }
}

async fn measure_service(
    mut tasks: NodeTasks,
    name: String,
    samples: usize,
    limit: Duration,
) -> Result<LatencyRow, Box<dyn Error>> {
    let client = tasks.node().create_client::<GetGeometry::Service>(&name, QosProfile::services_default())?;
    let _running: RunningNode = tasks.start()?;
    let mut row = LatencyRow { name, measure: "request", ..LatencyRow::default() };
    if timeout(limit, Node::is_available(&client)?).await.is_err() {
        row.remark = "not served".to_owned();
        return Ok(row);
    }
    for sample in 0..samples + FIRST {
        let start = dragoman_time::now();
        if timeout(limit, client.request(&GetGeometry::Request::default())?).await.is_err() {
            row.remark = "no answer".to_owned();
            return Ok(row);
        }
        if sample >= FIRST {
            row.times.push(dragoman_time::since(start));
        }
        sleep(PAUSE).await;
    }
    Ok(row)
}

async fn measure_echo(
    mut tasks: NodeTasks,
    name: String,
    echo: &str,
    samples: usize,
    limit: Duration,
) -> Result<LatencyRow, Box<dyn Error>> {
    let publisher = tasks.node().create_publisher::<Text>(&name, QosProfile::default())?;
    let (sender, mut echoes) = mpsc::unbounded();
    tasks.subscribe(echo, QosProfile::default(), move |text: Text| {
        // The receiver is gone after the last sample.
        let _ = sender.unbounded_send((text.data, dragoman_time::now()));
    })?;
    let running = dragoman_time::spawn(tasks.start()?);
    let mut row = LatencyRow { name, measure: "request", ..LatencyRow::default() };
    let start = dragoman_time::now();
    while publisher.get_inter_process_subscription_count()? == 0 && dragoman_time::since(start) < limit {
        sleep(Duration::from_millis(20)).await;
    }
    sleep(SETTLE_TIME).await;
    for sample in 0..samples + FIRST {
        let mark = format!("latency {sample}");
        let start = dragoman_time::now();
        publisher.publish(&Text { data: mark.clone() })?;
        let received = timeout(limit, async {
            while let Some((text, at)) = echoes.next().await {
                if text.trim_end().ends_with(&mark) {
                    return Some(at);
                }
            }
            None
        });
        let Ok(Some(at)) = received.await else {
            row.remark = "no answer".to_owned();
            break;
        };
        if sample >= FIRST {
            row.times.push(at - start);
        }
        sleep(PAUSE).await;
    }
    running.abort();
    Ok(row)
}

/// The results, in milliseconds.
fn table(rows: &[LatencyRow]) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or_default().max("TOPIC".len());
    let mut text = format!(
        "{:width$}  {:11}  SAMPLES  {:>8} {:>8} {:>8} {:>8}  {:>8} {:>8}   times in ms\n",
        "TOPIC", "FROM", "MEDIAN", "P90", "P99", "MAX", "TRANSIT", "PERIOD"
    );
    let median = |times: &[Duration]| Summary::of(times).map_or("-".to_owned(), |of| milliseconds(of.median));
    let period = |row: &LatencyRow| match u32::try_from(row.times.len()) {
        Ok(count @ 1..) if !row.span.is_zero() => milliseconds(row.span / count),
        _ => "-".to_owned(),
    };
    for row in rows {
        // Writing to a string never fails.
        let _ = write!(text, "{:width$}  {:11}  {:7}", row.name, row.measure, row.times.len());
        if let Some(Summary { median: middle, p90, p99, longest }) = Summary::of(&row.times) {
            for time in [middle, p90, p99, longest] {
                let _ = write!(text, " {:>8}", milliseconds(time));
            }
            let _ = write!(text, "  {:>8} {:>8}", median(&row.transits), period(row));
        }
        let _ = writeln!(text, "{}{}", if row.remark.is_empty() { "" } else { "  " }, row.remark);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_name() {
        let ms = Duration::from_millis;
        let rows = [
            LatencyRow {
                name: "/odom".into(),
                measure: "stamp",
                times: vec![ms(1), ms(2), ms(3)],
                transits: vec![ms(1); 3],
                span: ms(60),
                ..LatencyRow::default()
            },
            LatencyRow { name: "/scan".into(), remark: "not published".into(), ..LatencyRow::default() },
        ];
        let table = table(&rows);
        let words: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words[1], ["/odom", "stamp", "3", "2.00", "3.00", "3.00", "3.00", "1.00", "20.00"]);
        assert_eq!(words[2], ["/scan", "0", "not", "published"]);
    }

    #[test]
    fn topics_published_only_on_change_are_not_measured_unless_named() {
        let names = default_names().unwrap();
        for name in ["/odom", "/joint_states", "/camera/depth/image", "/simulation/pose", GEOMETRY] {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
        assert!(!names.iter().any(|name| name.contains("events") || name.contains("version")));
    }
}
