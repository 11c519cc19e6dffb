//! The ultrasonic sensors. The node subscribes only while one of them is enabled.

use std::time::{Duration, Instant};

use dragoman_ros::sensor_msgs::msg::Range;
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, QosProfile};

use super::state::{Shared, State};

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

/// The last range of each sensor by number, with its time, m.
#[derive(Default)]
pub(super) struct Echoes(Vec<Option<(Instant, f64)>>);

impl Echoes {
    /// Ranges by number, m; NaN if absent.
    pub(super) fn ranges(&self) -> Vec<f64> {
        let range = |echo: &Option<(Instant, f64)>| match echo {
            Some((when, range)) if when.elapsed() <= TIMEOUT => *range,
            _ => f64::NAN,
        };
        self.0.iter().map(range).collect()
    }
}

impl Ultrasonics {
    /// Subscribes whenever a sensor is enabled.
    pub(super) async fn follow(self) {
        self.shared.with(|state| state.inputs.ultrasonics = Echoes(vec![None; self.topics.len()]));
        loop {
            while !self.are_wanted() {
                tokio::time::sleep(PERIOD).await;
            }
            match self.listen() {
                Ok(node) => tokio::select! {
                    () = node => {}
                    () = async { while self.are_wanted() { tokio::time::sleep(PERIOD).await } } => {}
                },
                Err(error) => {
                    tracing::warn!(%error, "subscribing to the ultrasonic sensors failed");
                    tokio::time::sleep(PERIOD * 10).await;
                }
            }
        }
    }

    fn are_wanted(&self) -> bool {
        self.shared.with(|state| state.output.ultrasonics != 0)
    }

    fn listen(&self) -> Result<RunningNode, NodeError> {
        let mut tasks = NodeTasks::new(Node::create(self.context.clone(), NODE_NAME, &self.namespace)?);
        for (index, topic) in self.topics.iter().enumerate() {
            let shared = self.shared.clone();
            tasks.subscribe(topic, QosProfile::sensor_data().keep_last(1), move |range: Range| {
                shared.with(|state| state.hear(index, &range));
            })?;
        }
        Ok(tasks.start()?)
    }
}

impl State {
    fn hear(&mut self, sensor: usize, range: &Range) {
        let is_echo = (range.min_range..range.max_range).contains(&range.range);
        if let Some(place) = self.inputs.ultrasonics.0.get_mut(sensor) {
            *place = is_echo.then(|| (Instant::now(), f64::from(range.range)));
        }
    }
}
