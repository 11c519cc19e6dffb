//! `bumper`, `power` and `imu` from a robot's topics.

use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::{QosProfile, builtin_interfaces, kobuki_ros_interfaces, sensor_msgs};
use parking_lot::Mutex;
use serde::Deserialize;

use super::driver::{Driver, Feed, Mount, Opened, OutcomeFuture, Setup, acknowledged, other_interface};
use crate::BridgeError;
use crate::arm31::rotation::rpy_from_quaternion;
use crate::player::wire::common::{Orientation3d, Pose3d};
use crate::player::wire::imu::DataKind;
use crate::player::wire::power::Charging;
use crate::player::wire::{Bytes, Device, MessageKind, Request, bumper, imu, power};

/// Period in which the state of the bumpers is sent.
const PERIOD: Duration = Duration::from_millis(100);
/// The bumpers of a Kobuki: left, centre, right.
const BUMPERS: usize = 3;
/// Directions of the bumpers, rad.
const DIRECTIONS: [f64; BUMPERS] = [0.9, 0.0, -0.9];
/// Radius of the circle on which the bumpers are, and length of each bumper, m.
const RADIUS: f32 = 0.177;
const LENGTH: f32 = 0.16;

/// Entry of a base's bumpers in the device table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BumperConfig {
    /// Topic with `kobuki_ros_interfaces/BumperEvent`.
    events: String,
}

struct Bumpers;

pub(super) fn open_bumpers(
    config: &BumperConfig,
    device: Device,
    setup: &Setup,
    feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let pressed = Arc::new(Mutex::new([0_u8; BUMPERS]));
    let (sent, sender) = (Arc::clone(&pressed), feed.clone());
    let send = move |feed: &Feed, bumpers: [u8; BUMPERS]| {
        let now = builtin_interfaces::msg::Time::default();
        feed.send(&bumper::STATE, &now, &bumper::State { bumpers: Bytes(bumpers.to_vec()) });
    };
    tasks.subscribe(
        &config.events,
        QosProfile::default().keep_last(100),
        move |event: kobuki_ros_interfaces::msg::BumperEvent| {
            let mut bumpers = pressed.lock();
            if let Some(bumper) = bumpers.get_mut(usize::from(event.bumper)) {
                *bumper = event.state;
                send(&sender, *bumpers);
            }
        },
    )?;
    // The topic has changes only, but clients need the state.
    tasks.every(PERIOD, move || send(&feed, *sent.lock()))?;
    Ok(Opened::new(Bumpers, tasks)?)
}

impl Driver for Bumpers {
    fn handle_request(&mut self, request: Request) -> Result<OutcomeFuture, String> {
        let Request::Bumper(bumper::Request::GetGeometry) = request else { return other_interface() };
        let one = |direction: f64| {
            let radius = f64::from(RADIUS);
            let pose = [radius * direction.cos(), radius * direction.sin(), direction];
            let pose = Mount { pose, ..Mount::default() }.geometry().pose;
            bumper::Bumper { pose, length: LENGTH, radius: RADIUS }
        };
        Ok(acknowledged(&bumper::Geometry { bumpers: DIRECTIONS.map(one).to_vec() }))
    }
}

/// Entry of a battery in the device table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PowerConfig {
    /// Topic with `sensor_msgs/BatteryState`.
    battery: String,
}

struct Battery;

pub(super) fn open_power(
    config: &PowerConfig,
    device: Device,
    setup: &Setup,
    feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    tasks.subscribe(
        &config.battery,
        QosProfile::sensor_data(),
        move |state: sensor_msgs::msg::BatteryState| {
            feed.send(&power::STATE, &state.header.stamp, &battery(&state));
        },
    )?;
    Ok(Opened::new(Battery, tasks)?)
}

/// Values that are not measured are NaN in ROS, and are not marked as valid here.
fn battery(state: &sensor_msgs::msg::BatteryState) -> power::State {
    use sensor_msgs::msg::BatteryState;
    let mut valid = power::CHARGING;
    let mut measured = |bit: u32, value: f32| {
        if value.is_nan() {
            return 0.0;
        }
        valid |= bit;
        value
    };
    let volts = measured(power::VOLTS, state.voltage);
    let percent = measured(power::PERCENT, state.percentage * 100.0);
    let watts = measured(power::WATTS, state.voltage * state.current);
    let is_charging = state.power_supply_status == BatteryState::POWER_SUPPLY_STATUS_CHARGING as u8;
    let charging = if is_charging { Charging::Receiving } else { Charging::Idle };
    power::State { valid, volts, percent, joules: 0.0, watts, charging }
}

impl Driver for Battery {
    fn handle_request(&mut self, _request: Request) -> Result<OutcomeFuture, String> {
        Err("charging is the base's own matter".to_owned())
    }

    fn unsupported(&self) -> Vec<(MessageKind, u8)> {
        vec![power::SET_CHARGING_POLICY.id()]
    }
}

/// Entry of an inertial measurement unit in the device table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ImuConfig {
    /// Topic with `sensor_msgs/Imu`.
    imu: String,
}

struct Imu {
    kind: Arc<Mutex<DataKind>>,
}

pub(super) fn open_imu(
    config: &ImuConfig,
    device: Device,
    setup: &Setup,
    feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let kind = Arc::new(Mutex::new(DataKind::State));
    let wanted = Arc::clone(&kind);
    tasks.subscribe(&config.imu, QosProfile::sensor_data(), move |measured: sensor_msgs::msg::Imu| {
        let kind = *wanted.lock();
        send_imu(&feed, kind, &measured);
    })?;
    Ok(Opened::new(Imu { kind }, tasks)?)
}

#[allow(clippy::cast_possible_truncation, reason = "Player's measurements have single precision")]
fn send_imu(feed: &Feed, kind: DataKind, measured: &sensor_msgs::msg::Imu) {
    let stamp = &measured.header.stamp;
    let vector = |x: f64, y: f64, z: f64| imu::Vector { x: x as f32, y: y as f32, z: z as f32 };
    let (a, w, q) = (&measured.linear_acceleration, &measured.angular_velocity, &measured.orientation);
    let calibrated = imu::Calibrated {
        acceleration: vector(a.x, a.y, a.z),
        angular_velocity: vector(w.x, w.y, w.z),
        magnetic_field: imu::Vector::default(),
    };
    let [roll, pitch, yaw] = rpy_from_quaternion([q.x, q.y, q.z, q.w]);
    let orientation = Orientation3d { roll, pitch, yaw };
    match kind {
        DataKind::Calibrated => feed.send(&imu::CALIBRATED, stamp, &calibrated),
        DataKind::Quaternion => {
            let orientation = [q.w as f32, q.x as f32, q.y as f32, q.z as f32];
            feed.send(&imu::QUATERNION, stamp, &imu::Quaternion { calibrated, orientation });
        }
        DataKind::Euler => feed.send(&imu::EULER, stamp, &imu::Euler { calibrated, orientation }),
        DataKind::State | DataKind::Other(_) => {
            feed.send(&imu::STATE, stamp, &Pose3d { orientation, ..Pose3d::default() });
        }
    }
}

impl Driver for Imu {
    fn handle_request(&mut self, request: Request) -> Result<OutcomeFuture, String> {
        let Request::Imu(request) = request else { return other_interface() };
        match request {
            imu::Request::SetDataKind(DataKind::Other(code)) => {
                Err(format!("there is no data {code}; 1 to 4"))
            }
            imu::Request::SetDataKind(kind) => {
                *self.kind.lock() = kind;
                Ok(acknowledged(&()))
            }
            imu::Request::ResetOrientation(_) | imu::Request::ResetEuler(_) => {
                Err("the orientation is the base's own matter".to_owned())
            }
        }
    }

    fn unsupported(&self) -> Vec<(MessageKind, u8)> {
        vec![imu::RESET_ORIENTATION.id(), imu::RESET_EULER.id()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmeasured_battery_values_are_not_valid() {
        let state = sensor_msgs::msg::BatteryState {
            voltage: 15.5,
            percentage: 0.75,
            current: f32::NAN,
            ..Default::default()
        };
        let power::State { valid, volts, percent, watts, .. } = battery(&state);
        assert_eq!(valid, power::VOLTS | power::PERCENT | power::CHARGING);
        assert_eq!((volts, percent, watts), (15.5, 75.0, 0.0));
    }
}
