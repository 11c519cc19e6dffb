//! Ultrasonic sensors and battery of the lab's platform: a separate node, in the platform's namespace.

use std::time::{Duration, Instant};

use dragoman_ros::sensor_msgs::msg::{BatteryState, Range};
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Clock, Context, Node, Publisher, QosProfile};

use super::{Live, WorldNodeError, listened};
use crate::Echo;

/// Name of the node.
pub const NODE_NAME: &str = "hardware";
/// Period of the sensors while they have subscribers.
const SENSOR_PERIOD: Duration = Duration::from_millis(100);
/// Period of the battery's state.
const BATTERY_PERIOD: Duration = Duration::from_secs(1);

/// Settings of the node.
pub struct HardwareSettings {
    /// Namespace of the platform.
    pub namespace: String,
    /// The worlds.
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
    let stamp = move || {
        let mut clock = clock.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Clock::to_builtin_time(&clock.get_now().unwrap_or_default())
    };
    let topics = ultrasonic_topics(&worlds, &robot).unwrap_or_default();
    let publishers: Vec<Publisher<Range>> = topics
        .iter()
        .map(|topic| tasks.node().create_publisher(topic, QosProfile::sensor_data()))
        .collect::<Result<_, _>>()?;
    let (measured, carrier, now) = (worlds.clone(), robot.clone(), stamp.clone());
    tasks.every(SENSOR_PERIOD, move || {
        if !publishers.iter().any(listened) {
            return;
        }
        let echoes = measured.with(|state| state.pace.worlds().echoes(None, &carrier));
        let Ok(echoes) = echoes else { return };
        for ((publisher, topic), echo) in publishers.iter().zip(&topics).zip(echoes) {
            let mut message = range(&echo);
            message.header.stamp = now();
            message.header.frame_id = format!("{frame_prefix}{topic}");
            if let Err(error) = publisher.publish(&message) {
                tracing::warn!(%error, "publishing a range failed");
            }
        }
    })?;

    let publisher = tasks.node().create_publisher("battery_state", QosProfile::default())?;
    let mut battery = Battery::new();
    let (mut before, mut looked) = (None::<nalgebra::Vector3<f64>>, Instant::now());
    tasks.every(BATTERY_PERIOD, move || {
        let place = worlds.pose(&robot).ok().map(|(_, pose)| pose.translation.vector);
        let moved = before.zip(place).is_some_and(|(before, place)| (place - before).norm() > 1e-3);
        before = place;
        let now = Instant::now();
        battery.use_up(now - looked, moved);
        looked = now;
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

/// A lead-acid battery of 24 V and 60 Ah that is never charged.
struct Battery {
    /// Charge, Ah.
    charge: f64,
    /// Current, A.
    current: f64,
}

impl Battery {
    /// Capacity, Ah.
    const CAPACITY: f64 = 60.0;
    /// Voltage at rest, empty and full, V.
    const VOLTAGE: [f64; 2] = [22.0, 25.6];
    /// Current at rest and while driving, A.
    const CURRENT: [f64; 2] = [3.0, 9.0];

    fn new() -> Self {
        Self { charge: Self::CAPACITY, current: Self::CURRENT[0] }
    }

    fn use_up(&mut self, time: Duration, moves: bool) {
        let [rest, drives] = Self::CURRENT;
        self.current = if moves { drives } else { rest };
        self.charge = (self.charge - self.current * time.as_secs_f64() / 3600.0).max(0.0);
    }

    fn state(&self) -> BatteryState {
        let part = self.charge / Self::CAPACITY;
        let [empty, full] = Self::VOLTAGE;
        BatteryState {
            voltage: (empty + (full - empty) * part) as f32,
            temperature: f32::NAN,
            current: -self.current as f32,
            charge: self.charge as f32,
            capacity: Self::CAPACITY as f32,
            design_capacity: Self::CAPACITY as f32,
            percentage: part as f32,
            power_supply_status: BatteryState::POWER_SUPPLY_STATUS_DISCHARGING as u8,
            power_supply_health: BatteryState::POWER_SUPPLY_HEALTH_GOOD as u8,
            power_supply_technology: BatteryState::POWER_SUPPLY_TECHNOLOGY_UNKNOWN as u8,
            present: true,
            ..Default::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UltrasonicFigures;

    #[test]
    fn a_battery_is_used_up_faster_while_it_drives() {
        let hour = Duration::from_secs(3600);
        let mut battery = Battery::new();
        assert_eq!((battery.state().percentage, battery.state().voltage), (1.0, 25.6));
        battery.use_up(hour, false);
        assert!((battery.charge - 57.0).abs() < 1e-9);
        battery.use_up(hour, true);
        assert!((battery.charge - 48.0).abs() < 1e-9 && battery.state().current == -9.0);
        battery.use_up(hour * 100, true);
        assert_eq!((battery.state().percentage, battery.state().voltage), (0.0, 22.0));
    }

    #[test]
    fn what_is_too_far_is_no_echo() {
        let figures = UltrasonicFigures::default();
        let message = |measured: f64| range(&Echo { figures, range: measured });
        assert_eq!((message(1.5).range, message(3.0).range), (1.5, f32::INFINITY));
        assert_eq!(message(1.5).field_of_view, 20_f32.to_radians());
    }
}
