//! Further devices of the lab's platform: a separate node, in the platform's namespace.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | the node; the ultrasonic sensors |
//! | `battery` | the battery |
//! | `surroundings` | gyro and accelerations, reflectors, charging stations |

mod battery;
mod surroundings;

use std::time::Duration;

use dragoman_ros::sensor_msgs::msg::Range;
use dragoman_ros::std_msgs::msg::Bool;
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, Publisher, QosProfile, times};

use super::{Live, WorldNodeError, listened};
use crate::Echo;
use battery::Battery;

/// Name of the node, without its namespace.
pub const NODE_NAME: &str = "hardware";
/// Period of the sensors while they have subscribers.
const SENSOR_PERIOD: Duration = Duration::from_millis(100);
/// Period of the battery's state.
const BATTERY_PERIOD: Duration = Duration::from_secs(1);

/// Settings of the node.
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct HardwareSettings {
    /// Namespace of the platform.
    pub namespace: String,
    pub worlds: Live,
    /// The robot's name in the first world that has it.
    pub robot: String,
    /// Prefix of the sensors' frames.
    pub frame_prefix: String,
}

/// Names of the topics of this robot's ultrasonic sensors, in the order of the world file.
///
/// # Errors
/// Unknown robot.
pub fn ultrasonic_topics(worlds: &Live, robot: &str) -> Result<Vec<String>, crate::WorldError> {
    let count = worlds.with(|state| state.pace.worlds().echoes(None, robot))?.len();
    Ok((1..=count).map(|number| format!("ultrasonic_{number}")).collect())
}

/// Starts node `hardware`.
///
/// # Errors
/// Unknown robot; an error of the middleware.
pub fn start(context: &Context, settings: HardwareSettings) -> Result<RunningNode, WorldNodeError> {
    let HardwareSettings { namespace, worlds, robot, frame_prefix } = settings;
    let mut tasks = NodeTasks::new(Node::create(context.clone(), NODE_NAME, &namespace)?);
    let clock = tasks.node().get_ros_clock();
    let stamp = move || times::stamp(&clock);
    let topics = ultrasonic_topics(&worlds, &robot).unwrap_or_default();
    let publishers: Vec<Publisher<Range>> = topics
        .iter()
        .map(|topic| tasks.node().create_publisher(topic, QosProfile::sensor_data()))
        .collect::<Result<_, _>>()?;
    let (measured, carrier, now, prefix) =
        (worlds.clone(), robot.clone(), stamp.clone(), frame_prefix.clone());
    tasks.every(SENSOR_PERIOD, move || {
        if !publishers.iter().any(listened) {
            return;
        }
        let echoes = measured.with(|state| state.pace.worlds().echoes(None, &carrier));
        let Ok(echoes) = echoes else { return };
        for ((publisher, topic), echo) in publishers.iter().zip(&topics).zip(echoes) {
            let mut message = range(&echo);
            message.header.stamp = now();
            message.header.frame_id = format!("{prefix}{topic}");
            if let Err(error) = publisher.publish(&message) {
                tracing::warn!(%error, "publishing a range failed");
            }
        }
    })?;

    surroundings::serve(&mut tasks, &worlds, &robot, &frame_prefix, stamp.clone())?;
    let publisher = tasks.node().create_publisher("battery_state", QosProfile::default())?;
    let docking = tasks.node().create_publisher("docked", QosProfile::default())?;
    let mut battery = Battery::new();
    let (mut before, mut looked) = (None::<nalgebra::Vector3<f64>>, dragoman_time::now());
    tasks.every(BATTERY_PERIOD, move || {
        let place = worlds.pose(&robot).ok().map(|(_, pose)| pose.translation.vector);
        let moved = before.zip(place).is_some_and(|(before, place)| (place - before).norm() > 1e-3);
        before = place;
        let is_docked = surroundings::is_docked(&worlds, &robot);
        let now = dragoman_time::now();
        if is_docked {
            battery.charge(now - looked);
        } else {
            battery.use_up(now - looked, moved);
        }
        looked = now;
        if let Err(error) = docking.publish(&Bool { data: is_docked }) {
            tracing::warn!(%error, "publishing the docking state failed");
        }
        let mut message = battery.state();
        message.header.stamp = stamp();
        if let Err(error) = publisher.publish(&message) {
            tracing::warn!(%error, "publishing the battery state failed");
        }
    })?;
    Ok(tasks.start()?)
}

/// Without an echo the range is infinite (REP 117).
fn range(Echo { figures, range }: &Echo) -> Range {
    Range {
        radiation_type: Range::ULTRASOUND as u8,
        field_of_view: (2.0 * figures.half_angle) as f32,
        min_range: figures.min_range as f32,
        max_range: figures.max_range as f32,
        range: if *range < figures.max_range { *range as f32 } else { f32::INFINITY },
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UltrasonicFigures;

    #[test]
    fn an_object_out_of_range_gives_no_echo() {
        let figures = UltrasonicFigures::default();
        let message = |measured: f64| range(&Echo { figures, range: measured });
        assert_eq!((message(1.5).range, message(3.0).range), (1.5, f32::INFINITY));
        assert_eq!(message(1.5).field_of_view, 20_f32.to_radians());
    }
}
