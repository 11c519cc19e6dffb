//! Converts a Kobuki's data to ROS messages.

use std::fmt::Write as _;
use std::time::Duration;

use dragoman_geometry::Twist;
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::kobuki_ros_interfaces::msg as kobuki;
use dragoman_ros::poses;
use dragoman_ros::sensor_msgs::msg::{BatteryState, Imu};
use dragoman_ros::std_msgs::msg::{Int16MultiArray, String as Text};
use dragoman_ros::tf2_msgs::msg::TFMessage;

use crate::kobuki::driver::{Battery, Identity, PowerEvent, Sensors, Side, Wheel};
use crate::kobuki::wire::{
    BaseControl, Charging, ControllerGains, CoreSensors, DigitalInputs, DockIr, RawGyro,
};

const GYRO_FRAME: &str = "gyro_link";
/// Frame of the docking station receivers.
const DOCK_IR_FRAME: &str = "dock_ir_link";
/// Frame of the body, and of its battery.
const BODY_FRAME: &str = "base_link";
/// Height of the body's frame above the ground, m, as in kobuki_description; those below are relative to it.
const BODY_HEIGHT: f64 = 0.0102;
/// Place of the gyro, m, as in kobuki_description.
const GYRO_PLACE: [f64; 3] = [0.056, 0.062, 0.0202];
/// Place of the middle one of the docking station receivers, m: at the rim, behind the bumper.
const DOCK_IR_PLACE: [f64; 3] = [0.17, 0.0, 0.0398];
/// Covariance of an axis that is not measured, as in the ROS driver: filters need a large number.
const UNKNOWN: f64 = f64::MAX;
/// Variance of heading and turn rate, rad^2 and (rad/s)^2, as in the ROS driver.
const HEADING_VARIANCE: f64 = 0.05;
/// Sampling period of the raw gyro.
const GYRO_PERIOD: Duration = Duration::from_millis(10);
/// `power_supply_technology` of a lithium-ion battery.
const LITHIUM_ION: u8 = BatteryState::POWER_SUPPLY_TECHNOLOGY_LION as u8;

/// The transforms from the base's frame, which is on the ground, to those of the sensors; the same as in
/// `urdf/turtlebot2_widowx.urdf`.
pub(super) fn sensor_places(stamp: &Time, base_frame: &str) -> TFMessage {
    let link = |parent: &str, child: &str, place: [f64; 3]| {
        poses::transform(stamp, parent, child, &(place, [0.0, 0.0, 0.0, 1.0]))
    };
    let sensors = [link(BODY_FRAME, GYRO_FRAME, GYRO_PLACE), link(BODY_FRAME, DOCK_IR_FRAME, DOCK_IR_PLACE)];
    // If `base_frame` is `base_link` itself, there is no frame on the ground.
    let body = (base_frame != BODY_FRAME).then(|| link(base_frame, BODY_FRAME, [0.0, 0.0, BODY_HEIGHT]));
    TFMessage { transforms: body.into_iter().chain(sensors).collect() }
}

/// `sensors/core`. Data not received yet is empty.
pub(super) fn sensor_state(stamp: Time, core: &CoreSensors, sensors: &Sensors) -> kobuki::SensorState {
    let Sensors { cliffs, currents, input, .. } = sensors;
    let mut state = kobuki::SensorState {
        time_stamp: core.timestamp_ms,
        bumper: core.bumpers.bits(),
        wheel_drop: core.wheel_drops.bits(),
        cliff: core.cliffs.bits(),
        left_encoder: core.left_encoder_ticks,
        right_encoder: core.right_encoder_ticks,
        left_pwm: core.left_pwm,
        right_pwm: core.right_pwm,
        buttons: core.buttons.bits(),
        charger: core.charger.0,
        battery: core.battery_decivolts,
        bottom: cliffs.map_or_else(Vec::new, |cliffs| vec![cliffs.right, cliffs.center, cliffs.left]),
        current: currents
            .map_or_else(Vec::new, |currents| vec![currents.left_centiamperes, currents.right_centiamperes]),
        over_current: core.overcurrents.bits(),
        digital_input: input.map_or(0, |input| input.digital.bits()),
        analog_input: input.map_or_else(Vec::new, |input| input.analog.to_vec()),
        ..Default::default()
    };
    state.header.stamp = stamp;
    state
}

/// `sensors/dock_ir`: receivers right, centre, left.
pub(super) fn dock_infra_red(stamp: Time, dock: &DockIr) -> kobuki::DockInfraRed {
    let mut message = kobuki::DockInfraRed {
        data: vec![dock.right.bits(), dock.center.bits(), dock.left.bits()],
        ..Default::default()
    };
    message.header.stamp = stamp;
    message.header.frame_id = DOCK_IR_FRAME.to_owned();
    message
}

/// `sensors/imu_data`: heading in rad and its rate in rad/s; other quantities are not measured.
pub(super) fn imu(stamp: Time, heading: f64, rate: f64) -> Imu {
    let mut imu = Imu::default();
    imu.header.stamp = stamp;
    imu.header.frame_id = GYRO_FRAME.to_owned();
    imu.orientation = poses::turn(heading);
    imu.orientation_covariance = diagonal([UNKNOWN, UNKNOWN, HEADING_VARIANCE]);
    imu.angular_velocity.z = rate;
    imu.angular_velocity_covariance = diagonal([UNKNOWN, UNKNOWN, HEADING_VARIANCE]);
    // There is no accelerometer: marked as REP 145 defines for missing data.
    imu.linear_acceleration_covariance = diagonal([-1.0, 0.0, 0.0]);
    imu
}

/// Times of the samples of the raw gyro.
#[derive(Debug, Default)]
pub(super) struct SampleTimes {
    /// Time of the last sample.
    last: Option<Duration>,
}

impl SampleTimes {
    /// Times of the `count` samples of a packet that arrives at `now`, oldest first. The last one has just been taken, those
    /// before it a period earlier each. A packet that arrives early leaves less time for its samples: all of them were taken
    /// after those of the packet before.
    pub(super) fn arrived(&mut self, now: Duration, count: u32) -> impl Iterator<Item = Duration> + use<> {
        // Without time since the last packet only if the clock was set back.
        let since = self.last.and_then(|last| now.checked_sub(last));
        let period = since.map_or(GYRO_PERIOD, |since| GYRO_PERIOD.min(since / count.max(1)));
        if count > 0 {
            self.last = Some(now);
        }
        (0..count).rev().map(move |older| now.saturating_sub(older * period))
    }
}

/// `sensors/imu_data_raw`: a message for each sample, oldest first, with its time.
pub(super) fn raw_imu(stamps: impl Iterator<Item = Time>, gyro: &RawGyro) -> impl Iterator<Item = Imu> {
    gyro.rates().zip(stamps).map(move |([x, y, z], stamp)| {
        let mut imu = Imu::default();
        imu.header.stamp = stamp;
        imu.header.frame_id = GYRO_FRAME.to_owned();
        (imu.angular_velocity.x, imu.angular_velocity.y, imu.angular_velocity.z) = (x, y, z);
        imu.orientation_covariance = diagonal([-1.0, 0.0, 0.0]);
        imu.linear_acceleration_covariance = diagonal([-1.0, 0.0, 0.0]);
        imu
    })
}

fn diagonal([x, y, z]: [f64; 3]) -> Vec<f64> {
    vec![x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z]
}

/// `sensors/battery_state`. Quantities that are not measured are NaN, as the message's definition requires.
pub(super) fn battery_state(stamp: Time, battery: &Battery) -> BatteryState {
    let status = match battery.charging {
        Charging::Charging => BatteryState::POWER_SUPPLY_STATUS_CHARGING as u8,
        Charging::Charged => BatteryState::POWER_SUPPLY_STATUS_FULL as u8,
        Charging::Discharging => BatteryState::POWER_SUPPLY_STATUS_DISCHARGING as u8,
    };
    let mut message = BatteryState {
        voltage: battery.voltage as f32,
        temperature: f32::NAN,
        current: f32::NAN,
        charge: f32::NAN,
        capacity: f32::NAN,
        design_capacity: f32::NAN,
        percentage: battery.fraction as f32,
        power_supply_status: status,
        power_supply_technology: LITHIUM_ION,
        present: true,
        ..Default::default()
    };
    message.header.stamp = stamp;
    message.header.frame_id = BODY_FRAME.to_owned();
    message
}

/// `version_info`: the software version is ours.
pub(super) fn version_info(identity: &Identity) -> kobuki::VersionInfo {
    // Since firmware 1.0 the base sends the gyro's samples, and accelerates smoothly.
    let since_1_0 =
        identity.firmware.and_then(|firmware| firmware.parts()).is_some_and(|parts| parts > [1, 0, 0]);
    let features =
        kobuki::VersionInfo::SMOOTH_MOVE_START as u64 | kobuki::VersionInfo::GYROSCOPE_3D_DATA as u64;
    kobuki::VersionInfo {
        hardware: identity.hardware.map_or_else(String::new, |version| version.to_string()),
        firmware: identity.firmware.map_or_else(String::new, |version| version.to_string()),
        software: env!("CARGO_PKG_VERSION").to_owned(),
        udid: identity.unique_id.map_or_else(Vec::new, |id| id.0.to_vec()),
        features: if since_1_0 { features } else { 0 },
    }
}

pub(super) fn controller_info(gains: &ControllerGains) -> kobuki::ControllerInfo {
    let gain = |thousandths: u32| f64::from(thousandths) / 1000.0;
    kobuki::ControllerInfo {
        type_: gains.kind,
        p_gain: gain(gains.p_thousandths),
        i_gain: gain(gains.i_thousandths),
        d_gain: gain(gains.d_thousandths),
    }
}

/// `events/bumper`
pub(super) fn bumper(side: Side, pressed: bool) -> kobuki::BumperEvent {
    kobuki::BumperEvent { bumper: number(side), state: pressed.into() }
}

/// `events/cliff`
pub(super) fn cliff(side: Side, cliff: bool, reading: u16) -> kobuki::CliffEvent {
    kobuki::CliffEvent { sensor: number(side), state: cliff.into(), bottom: reading }
}

/// `events/wheel_drop`
pub(super) fn wheel_drop(wheel: Wheel, dropped: bool) -> kobuki::WheelDropEvent {
    let wheel = match wheel {
        Wheel::Left => kobuki::WheelDropEvent::LEFT as u8,
        Wheel::Right => kobuki::WheelDropEvent::RIGHT as u8,
    };
    kobuki::WheelDropEvent { wheel, state: dropped.into() }
}

/// `events/power_system`
pub(super) fn power_system(event: PowerEvent) -> kobuki::PowerSystemEvent {
    let event = match event {
        PowerEvent::Unplugged => kobuki::PowerSystemEvent::UNPLUGGED as u8,
        PowerEvent::PluggedToAdapter => kobuki::PowerSystemEvent::PLUGGED_TO_ADAPTER as u8,
        PowerEvent::PluggedToDock => kobuki::PowerSystemEvent::PLUGGED_TO_DOCKBASE as u8,
        PowerEvent::ChargeCompleted => kobuki::PowerSystemEvent::CHARGE_COMPLETED as u8,
        PowerEvent::BatteryLow => kobuki::PowerSystemEvent::BATTERY_LOW as u8,
        PowerEvent::BatteryCritical => kobuki::PowerSystemEvent::BATTERY_CRITICAL as u8,
    };
    kobuki::PowerSystemEvent { event }
}

/// `events/digital_input`
pub(super) fn digital_input(inputs: DigitalInputs) -> kobuki::DigitalInputEvent {
    kobuki::DigitalInputEvent { values: (0..4).map(|input| inputs.bits() & 1 << input != 0).collect() }
}

/// `events/robot_state`
pub(super) fn robot_state(online: bool) -> kobuki::RobotStateEvent {
    kobuki::RobotStateEvent { state: online.into() }
}

/// The values selected by the mask.
pub(super) fn masked(values: &[bool], mask: &[bool]) -> [Option<bool>; 4] {
    std::array::from_fn(|index| values.get(index).copied().filter(|_| mask.get(index) == Some(&true)))
}

/// Position of a bumper or cliff sensor in the messages' numbering: left 0, centre 1, right 2.
fn number(side: Side) -> u8 {
    match side {
        Side::Left => 0,
        Side::Center => 1,
        Side::Right => 2,
    }
}

/// `debug/raw_data_command` and `debug/raw_data_stream`: a frame in the notation of the ROS driver, `{ AA 55 ... }`.
pub(super) fn raw_data(bytes: &[u8]) -> Text {
    let mut data = "{ ".to_owned();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(data, "{byte:02X} ");
    }
    data.push('}');
    Text { data }
}

/// `debug/raw_control_command`: speed, mm/s, and radius, mm, as sent to the base, and the desired velocities, mm/s and
/// mrad/s.
pub(super) fn raw_control(control: &BaseControl, twist: &Twist) -> Int16MultiArray {
    let thousandths = |value: f64| (1000.0 * value) as i16;
    let meant = [twist.linear, twist.angular].map(thousandths);
    let data = vec![control.speed_mm_per_s, control.radius_mm, meant[0], meant[1]];
    Int16MultiArray { data, ..Default::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_in_the_order_in_which_they_were_taken_however_their_packets_arrive() {
        let milliseconds =
            |times: &[u64]| times.iter().map(|&time| Duration::from_millis(time)).collect::<Vec<_>>();
        let mut times = SampleTimes::default();
        let mut arrived = |now, count| times.arrived(Duration::from_millis(now), count).collect::<Vec<_>>();
        assert_eq!(arrived(1000, 2), milliseconds(&[990, 1000]));
        assert_eq!(arrived(1020, 2), milliseconds(&[1010, 1020]));
        // A late packet, and one in time after it.
        assert_eq!(arrived(1050, 2), milliseconds(&[1040, 1050]));
        assert_eq!(arrived(1060, 2), milliseconds(&[1055, 1060]));
        assert_eq!(arrived(1075, 3), milliseconds(&[1065, 1070, 1075]));
        // Two packets at the same time, and one without samples.
        assert_eq!(arrived(1075, 2), milliseconds(&[1075, 1075]));
        assert!(arrived(1100, 0).is_empty());
        assert_eq!(arrived(1100, 2), milliseconds(&[1090, 1100]));
        // The clock was set back.
        assert_eq!(arrived(500, 2), milliseconds(&[490, 500]));
    }

    #[test]
    fn raw_data_has_the_notation_of_the_ros_driver() {
        assert_eq!(raw_data(&[0xaa, 0x55, 0x00, 0x0f]).data, "{ AA 55 00 0F }");
        let control = BaseControl { speed_mm_per_s: 100, radius_mm: -500 };
        assert_eq!(raw_control(&control, &Twist::new(0.1, -0.2)).data, [100, -500, 100, -200]);
    }
}
