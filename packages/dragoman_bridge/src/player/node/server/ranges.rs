//! `sonar`, `ir` and `ranger` from range sensors, each with its own topic.

use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::{QosProfile, builtin_interfaces, sensor_msgs};
use dragoman_time::watch;
use parking_lot::Mutex;
use serde::Deserialize;

use super::driver::{
    Driver, Feed, Mount, Opened, OutcomeFuture, Setup, acknowledged, answer_when_received, other_interface,
};
use super::scan::{intensities, power};
use crate::BridgeError;
use crate::player::wire::common::Pose3d;
use crate::player::wire::{Device, Request, Xdr, ir, ranger, sonar};

/// Period in which the ranges of all sensors are sent together.
const PERIOD: Duration = Duration::from_millis(100);

/// Entry of range sensors in the device table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RangesConfig {
    /// Topics with `sensor_msgs/Range`, one per sensor.
    ranges: Vec<String>,
    /// Their poses on the robot, in the same order: x and y in m, yaw in rad.
    #[serde(default)]
    poses: Vec<[f64; 3]>,
}

impl RangesConfig {
    /// Checks the values. Error: the reason why the entry is invalid.
    pub(super) fn check(&self) -> Result<(), String> {
        match (self.ranges.len(), self.poses.len()) {
            (0, _) => Err("ranges: at least one topic".to_owned()),
            (_, 0) => Ok(()),
            (ranges, poses) if ranges == poses => Ok(()),
            (ranges, poses) => Err(format!("{poses} poses of {ranges} sensors")),
        }
    }
}

/// The last measurement of each sensor; `None`: none yet.
type Measured = Arc<Mutex<Vec<Option<sensor_msgs::msg::Range>>>>;

struct Sensors {
    poses: Vec<Pose3d>,
    /// The last range of any sensor.
    newest: watch::Receiver<Option<Arc<sensor_msgs::msg::Range>>>,
}

pub(super) fn open(
    config: &RangesConfig,
    device: Device,
    setup: &Setup,
    feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let measured: Measured = Arc::new(Mutex::new(vec![None; config.ranges.len()]));
    let (sender, newest) = watch::channel(None);
    for (index, topic) in config.ranges.iter().enumerate() {
        let (measured, sender) = (Arc::clone(&measured), sender.clone());
        tasks.subscribe(topic, QosProfile::sensor_data(), move |range: sensor_msgs::msg::Range| {
            sender.send_replace(Some(Arc::new(range.clone())));
            if let Some(last) = measured.lock().get_mut(index) {
                *last = Some(range);
            }
        })?;
    }
    let sent = Arc::clone(&measured);
    tasks.every(PERIOD, move || {
        let sensors = sent.lock();
        // All sensors have measured, so every number is a measurement.
        let Some(ranges) = sensors.iter().map(Option::as_ref).collect::<Option<Vec<_>>>() else { return };
        send(&feed, device, &ranges);
    })?;
    let poses = (0..config.ranges.len()).map(|index| {
        let [x, y, yaw] = config.poses.get(index).copied().unwrap_or_default();
        Mount { pose: [x, y, yaw], ..Mount::default() }.geometry().pose
    });
    Ok(Opened::new(Sensors { poses: poses.collect(), newest }, tasks)?)
}

fn send(feed: &Feed, device: Device, sensors: &[&sensor_msgs::msg::Range]) {
    let ranges = sensors.iter().map(|sensor| {
        if sensor.range.is_finite() { sensor.range.min(sensor.max_range) } else { sensor.max_range }
    });
    let zero = builtin_interfaces::msg::Time::default();
    let stamp = sensors.first().map_or(&zero, |sensor| &sensor.header.stamp);
    match device.interface {
        code if code == sonar::INTERFACE.code => {
            feed.send(&sonar::RANGES, stamp, &sonar::Ranges { ranges: ranges.collect() });
        }
        code if code == ir::INTERFACE.code => {
            let ranges = ir::Ranges { voltages: vec![0.0; sensors.len()], ranges: ranges.collect() };
            feed.send(&ir::RANGES, stamp, &ranges);
        }
        _ => {
            let ranges = ranger::Ranges { ranges: ranges.map(f64::from).collect() };
            feed.send(&ranger::RANGES, stamp, &ranges);
        }
    }
}

fn ranger_config(sensor: &sensor_msgs::msg::Range) -> ranger::Config {
    let field = f64::from(sensor.field_of_view);
    ranger::Config {
        min_angle: -field / 2.0,
        max_angle: field / 2.0,
        min_range: sensor.min_range.into(),
        max_range: sensor.max_range.into(),
        frequency: 1.0 / PERIOD.as_secs_f64(),
        ..ranger::Config::default()
    }
}

impl Driver for Sensors {
    fn handle_request(&mut self, request: Request) -> Result<OutcomeFuture, String> {
        let poses = self.poses.clone();
        Ok(match request {
            Request::Sonar(sonar::Request::GetGeometry) => acknowledged(&sonar::Geometry { poses }),
            Request::Ir(ir::Request::GetGeometry) => acknowledged(&ir::Geometry { poses }),
            Request::Ranger(ranger::Request::GetGeometry) => acknowledged(&ranger::Geometry {
                element_sizes: vec![Mount::default().geometry().size; poses.len()],
                element_poses: poses,
                ..ranger::Geometry::default()
            }),
            Request::Sonar(sonar::Request::Power(on))
            | Request::Ir(ir::Request::Power(on))
            | Request::Ranger(ranger::Request::Power(on)) => power(on)?,
            Request::Ranger(ranger::Request::GetConfig | ranger::Request::SetConfig(_)) => {
                // Waits until a sensor has measured.
                answer_when_received(self.newest.clone(), |range| Ok(ranger_config(range).to_bytes()))
            }
            Request::Ranger(ranger::Request::SendIntensities(on)) => intensities(on)?,
            _ => return other_interface(),
        })
    }
}
