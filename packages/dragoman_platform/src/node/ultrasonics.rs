//! The ultrasonic sensors. They are listened to while one of them is to measure.

use std::time::{Duration, Instant};

use dragoman_ros::sensor_msgs::msg::Range;
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, QosProfile};

use super::state::{Shared, State};

/// How often it is looked whether they are wanted.
const PERIOD: Duration = Duration::from_millis(100);
/// Name of the node that listens; the platform's own cannot leave a topic again.
const NODE_NAME: &str = "platform_ultrasonics";
/// A sensor that is silent for so long hears nothing.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The sensors, by number.
pub(super) struct Ultrasonics {
    pub(super) context: Context,
    pub(super) namespace: String,
    pub(super) topics: Vec<String>,
    pub(super) shared: Shared,
}

/// What the sensors have told last, by number: when, and how far it is, m.
#[derive(Default)]
pub(super) struct Echoes(Vec<Option<(Instant, f64)>>);

impl Echoes {
    /// m by number; NaN where there is none.
    pub(super) fn ranges(&self) -> Vec<f64> {
        let range = |echo: &Option<(Instant, f64)>| match echo {
            Some((when, range)) if when.elapsed() <= TIMEOUT => *range,
            _ => f64::NAN,
        };
        self.0.iter().map(range).collect()
    }
}

impl Ultrasonics {
    /// Listens as long as it is wanted, again and again.
    pub(super) async fn follow(self) {
        self.shared.with(|state| state.heard.ultrasonics = Echoes(vec![None; self.topics.len()]));
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
                    tracing::warn!(%error, "the ultrasonic sensors");
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
        if let Some(place) = self.heard.ultrasonics.0.get_mut(sensor) {
            *place = is_echo.then(|| (Instant::now(), f64::from(range.range)));
        }
    }
}
