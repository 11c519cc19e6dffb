//! The ultrasonic sensors. The node subscribes only while one of them is enabled.

use std::time::{Duration, Instant};

use dragoman_neobotix::codes::ULTRASONIC_IDLE;
use dragoman_ros::sensor_msgs::msg::Range;
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, QosProfile};
use dragoman_time::{now, since, sleep};

use super::base::MAX_ULTRASONICS;
use super::state::{NodeState, Shared};

/// Period of checking whether they are enabled.
const PERIOD: Duration = Duration::from_millis(100);
/// Name of the subscribing node; the platform's own node cannot unsubscribe.
const NODE_NAME: &str = "platform_ultrasonics";
/// A sensor that is silent for this long has no range.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The sensors, by number.
pub(super) struct Ultrasonics {
    pub(super) context: Context,
    pub(super) namespace: String,
    pub(super) topics: Vec<String>,
    pub(super) shared: Shared,
}

/// The last measurement of each sensor by number, with its time.
#[derive(Default)]
pub(super) struct Echoes(Vec<Option<(Instant, Echo)>>);

/// A measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Echo {
    /// m; infinite if nothing is near.
    range: f64,
    /// Maximum range of the sensor, m.
    most: f64,
}

impl Echo {
    /// `None`: not a measurement.
    fn new(message: &Range) -> Option<Self> {
        let [range, least, most] = [message.range, message.min_range, message.max_range].map(f64::from);
        let range = match range {
            // REP 117: below the minimum, and beyond the maximum.
            _ if range < least => least.max(0.0),
            _ if range >= most => f64::INFINITY,
            range => range,
        };
        (!range.is_nan() && most.is_finite() && most > 0.0).then_some(Self { range, most })
    }

    /// The distance to show, m: without an echo the maximum range, because 0 would be a contact.
    fn distance(self) -> f64 {
        self.range.min(self.most)
    }
}

impl Echoes {
    fn fresh(&self) -> impl Iterator<Item = Option<Echo>> + '_ {
        self.0.iter().map(|echo| echo.filter(|(when, _)| since(*when) <= TIMEOUT).map(|(_, echo)| echo))
    }

    /// Ranges by number, m; infinite if nothing is near, NaN if absent.
    pub(super) fn ranges(&self) -> Vec<f64> {
        self.fresh().map(|echo| echo.map_or(f64::NAN, |echo| echo.range)).collect()
    }

    /// Distances of the status by number, m, with these sensors started, one bit each. Sensors that do not measure have
    /// [`ULTRASONIC_IDLE`].
    pub(super) fn distances(&self, started: u16) -> Vec<f64> {
        let echoes = self.fresh().chain(std::iter::repeat(None)).take(MAX_ULTRASONICS).enumerate();
        let measures = |channel: usize| started & (1 << channel) != 0;
        echoes
            .map(|(channel, echo)| echo.filter(|_| measures(channel)).map_or(ULTRASONIC_IDLE, Echo::distance))
            .collect()
    }
}

impl Ultrasonics {
    /// Subscribes whenever a sensor is enabled.
    pub(super) async fn follow(self) {
        self.shared.with(|state| state.inputs.ultrasonics = Echoes(vec![None; self.topics.len()]));
        loop {
            while !self.are_wanted() {
                sleep(PERIOD).await;
            }
            match self.listen() {
                Ok(node) => tokio::select! {
                    biased;
                    () = async { while self.are_wanted() { sleep(PERIOD).await } } => {}
                    () = node => {}
                },
                Err(error) => {
                    tracing::warn!(%error, "subscribing to the ultrasonic sensors failed");
                    sleep(PERIOD * 10).await;
                }
            }
        }
    }

    fn are_wanted(&self) -> bool {
        self.shared.with(|state| state.platform.ultrasonics() != 0)
    }

    fn listen(&self) -> Result<RunningNode, NodeError> {
        let mut tasks = NodeTasks::new(Node::create(self.context.clone(), NODE_NAME, &self.namespace)?);
        for (index, topic) in self.topics.iter().enumerate() {
            let shared = self.shared.clone();
            tasks.subscribe(topic, QosProfile::sensor_data().keep_last(1), move |range: Range| {
                shared.with(|state| state.store_range(index, &range));
            })?;
        }
        Ok(tasks.start()?)
    }
}

impl NodeState {
    fn store_range(&mut self, sensor: usize, range: &Range) {
        if let Some(place) = self.inputs.ultrasonics.0.get_mut(sensor) {
            *place = Echo::new(range).map(|echo| (now(), echo));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sensor_without_an_echo_shows_its_maximum_range_and_never_contact() {
        let message = |range| Range { range, min_range: 0.05, max_range: 3.0, ..Default::default() };
        let echoes = |ranges: &[f32]| {
            let echo = |&range| Echo::new(&message(range)).map(|echo| (now(), echo));
            Echoes(ranges.iter().map(echo).collect())
        };
        let (infinite, nan) = (f32::INFINITY, f32::NAN);
        let measured = echoes(&[1.5, infinite, 3.0, -infinite, 0.01, nan, 1.5]);
        // All but the last are started.
        let distances = measured.distances(0b11_1111);
        let (least, most) = (f64::from(0.05_f32), 3.0);
        assert_eq!(distances[..7], [1.5, most, most, least, least, ULTRASONIC_IDLE, ULTRASONIC_IDLE]);
        assert_eq!(distances[7..], [ULTRASONIC_IDLE; 9]);
        // For the collision check, too, what is too near is near, and what is too far is free.
        let ranges = measured.ranges();
        assert_eq!(ranges[..5], [1.5, f64::INFINITY, f64::INFINITY, least, least]);
        assert!(ranges[5].is_nan());
        // Silent for too long.
        let old = now().checked_sub(TIMEOUT * 2).map(|when| Some((when, Echo { range: 1.0, most })));
        assert_eq!(Echoes(vec![old.unwrap()]).distances(1)[0], ULTRASONIC_IDLE);
        assert_eq!(Echo::new(&Range { range: 1.0, ..Default::default() }), None);
    }
}
