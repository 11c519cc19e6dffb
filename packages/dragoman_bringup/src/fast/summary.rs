//! The summary of a run on virtual time.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::geometry_msgs::msg::{Point, PoseStamped};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::rcl_interfaces::msg::Log;
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, QosProfile};
use dragoman_time::{Fingerprint, Simulation};
use parking_lot::Mutex;

use super::script::Script;

/// Odometry of the lab's bases, with the names of their robots.
const BASES: [(&str, &str); 6] = [
    ("/odom", "TurtleBot 2"),
    ("/neobotix/odom", "Neobotix platform"),
    ("/apolo/pioneer3at/odom", "Pioneer3AT"),
    ("/apolo/neo/odom", "Neo"),
    ("/apolo/marvin/odom", "Marvin"),
    ("/apolo/romaa/odom", "RoMAA"),
];
/// The pose of the arm's tool.
const ARM: (&str, &str) = ("/ranger/pose", "tool of the Ranger");

/// Different reasons that are shown.
const MAX_REASONS: usize = 10;

/// Counts what happens. Clones share the counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Summary {
    counts: Arc<Mutex<Counts>>,
    end: Option<End>,
}

#[derive(Debug, Default)]
struct Counts {
    steps: u64,
    bytes: u64,
    /// Refused steps, by reason.
    refused: BTreeMap<String, u64>,
    /// Warnings and errors of the log, by text.
    warnings: BTreeMap<String, u64>,
    /// Metres that were travelled, by robot, with the last place.
    travelled: BTreeMap<&'static str, (f64, Option<Point>)>,
}

#[derive(Debug, Clone)]
struct End {
    seed: u64,
    time: Duration,
    real: Duration,
    fingerprint: Fingerprint,
}

impl Summary {
    /// A step was carried out, or refused for this reason.
    pub(super) fn step(&self, number: usize, done: Result<(), String>) {
        let mut counts = self.counts.lock();
        counts.steps += 1;
        if let Err(reason) = done {
            *counts.refused.entry(format!("step {number}: {reason}")).or_default() += 1;
        }
    }

    pub(super) fn sent(&self, bytes: usize) {
        self.counts.lock().bytes += bytes as u64;
    }

    /// A node that counts what the lab publishes.
    pub(super) fn observe(&self, context: Context) -> Result<RunningNode, NodeError> {
        let mut tasks = NodeTasks::new(Node::create(context, "summary", "")?);
        for (topic, name) in BASES {
            let summary = self.clone();
            tasks.subscribe(topic, QosProfile::default(), move |odometry: Odometry| {
                summary.moved(name, odometry.pose.pose.position);
            })?;
        }
        let summary = self.clone();
        tasks.subscribe(ARM.0, QosProfile::default(), move |pose: PoseStamped| {
            summary.moved(ARM.1, pose.pose.position);
        })?;
        let summary = self.clone();
        let qos = QosProfile::default().keep_last(1000).transient_local();
        tasks.subscribe("/rosout", qos, move |log: Log| {
            const WARN: u8 = 30;
            if log.level >= WARN {
                *summary.counts.lock().warnings.entry(format!("{}: {}", log.name, log.msg)).or_default() += 1;
            }
        })?;
        Ok(tasks.start()?)
    }

    fn moved(&self, name: &'static str, to: Point) {
        let mut counts = self.counts.lock();
        let (travelled, last) = counts.travelled.entry(name).or_default();
        if let Some(from) = last {
            let distance = (to.x - from.x).hypot(to.y - from.y).hypot(to.z - from.z);
            // An odometry that is set jumps.
            if distance < 0.5 {
                *travelled += distance;
            }
        }
        *last = Some(to);
    }

    /// Whether the script was carried out, at least once, and without refusals.
    ///
    /// # Errors
    /// How many steps were refused, or left.
    pub(super) fn complete(&self, script: &Script) -> Result<(), String> {
        let counts = self.counts.lock();
        let refused: u64 = counts.refused.values().sum();
        let left = (script.steps.len() as u64).saturating_sub(counts.steps);
        match (refused, left) {
            (0, 0) => Ok(()),
            (0, left) => Err(format!("the time was over before the last {left} steps of the script")),
            (refused, _) => Err(format!("{refused} steps of the script were refused")),
        }
    }

    pub(super) fn finish(&mut self, simulation: &Simulation, real: Duration, seed: u64) {
        let (time, fingerprint) = (simulation.elapsed(), simulation.fingerprint());
        self.end = Some(End { seed, time, real, fingerprint });
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts.lock();
        if let Some(end) = &self.end {
            let (time, real) = (end.time.as_secs_f64(), end.real.as_secs_f64());
            writeln!(formatter, "{time:.0} s of the lab in {real:.1} s: {:.0} times as fast", time / real)?;
            writeln!(formatter, "seed {}, history {}", end.seed, end.fingerprint)?;
        }
        let refused: u64 = counts.refused.values().sum();
        writeln!(formatter, "{} steps of the script, {refused} refused", counts.steps)?;
        list(formatter, &counts.refused)?;
        for (name, (travelled, _)) in &counts.travelled {
            writeln!(formatter, "{name}: {travelled:.2} m")?;
        }
        let warnings: u64 = counts.warnings.values().sum();
        writeln!(formatter, "{warnings} warnings in the log")?;
        list(formatter, &counts.warnings)
    }
}

/// The most frequent reasons.
fn list(formatter: &mut fmt::Formatter<'_>, reasons: &BTreeMap<String, u64>) -> fmt::Result {
    let mut sorted: Vec<_> = reasons.iter().collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (reason, count) in sorted.iter().take(MAX_REASONS) {
        writeln!(formatter, "  {count} times: {reason}")?;
    }
    match sorted.len().checked_sub(MAX_REASONS) {
        Some(more @ 1..) => writeln!(formatter, "  and {more} others"),
        _ => Ok(()),
    }
}
