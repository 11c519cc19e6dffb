//! `laser` and `ranger` from scans.

use std::sync::Arc;

use dragoman_ros::{QosProfile, sensor_msgs};
use dragoman_time::watch;
use serde::Deserialize;

use super::driver::{
    Driver, Feed, Mount, Opened, OutcomeFuture, Setup, acknowledged, answer_when_received, other_interface,
};
use crate::BridgeError;
use crate::player::wire::{Bytes, Device, MessageKind, Request, Xdr, laser, ranger};

/// Entry of a scanner in the device table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScanConfig {
    /// Topic with `sensor_msgs/LaserScan`.
    scan: String,
    /// Pose of the scanner on the robot, and its size.
    #[serde(default)]
    mount: Mount,
}

type Scan = sensor_msgs::msg::LaserScan;

struct Scanner {
    /// Whether the interface is `laser`; otherwise it is `ranger`.
    is_laser: bool,
    mount: Mount,
    last: watch::Receiver<Option<Arc<Scan>>>,
}

pub(super) fn open(
    config: &ScanConfig,
    device: Device,
    setup: &Setup,
    feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let is_laser = device.interface == laser::INTERFACE.code;
    let (sender, last) = watch::channel(None);
    let mut count = 0_u32;
    tasks.subscribe(&config.scan, QosProfile::sensor_data(), move |scan: Scan| {
        count = count.wrapping_add(1);
        if is_laser {
            feed.send(&laser::SCAN, &scan.header.stamp, &laser_scan(&scan, count));
        } else {
            let ranges = ranges(&scan).map(f64::from).collect();
            feed.send(&ranger::RANGES, &scan.header.stamp, &ranger::Ranges { ranges });
        }
        sender.send_replace(Some(Arc::new(scan)));
    })?;
    Ok(Opened::new(Scanner { is_laser, mount: config.mount.clone(), last }, tasks)?)
}

/// Ranges in the convention of Player's drivers: a beam that hits nothing has the maximum range.
fn ranges(scan: &Scan) -> impl Iterator<Item = f32> {
    let max = scan.range_max;
    scan.ranges.iter().map(move |range| if range.is_finite() { range.min(max) } else { max })
}

fn laser_scan(scan: &Scan, id: u32) -> laser::Scan {
    laser::Scan {
        min_angle: scan.angle_min,
        max_angle: scan.angle_max,
        resolution: scan.angle_increment,
        max_range: scan.range_max,
        ranges: ranges(scan).collect(),
        // Clients expect no intensities, or one per range.
        intensities: Bytes(
            scan.intensities.iter().map(|intensity| intensity.clamp(0.0, 255.0) as u8).collect(),
        ),
        id,
    }
}

fn frequency(scan: &Scan) -> f32 {
    if scan.scan_time > 0.0 { 1.0 / scan.scan_time } else { 0.0 }
}

fn laser_config(scan: &Scan) -> laser::Config {
    laser::Config {
        min_angle: scan.angle_min,
        max_angle: scan.angle_max,
        resolution: scan.angle_increment,
        max_range: scan.range_max,
        range_resolution: 0.0,
        intensity: !scan.intensities.is_empty(),
        frequency: frequency(scan),
    }
}

fn ranger_config(scan: &Scan) -> ranger::Config {
    ranger::Config {
        min_angle: scan.angle_min.into(),
        max_angle: scan.angle_max.into(),
        angular_resolution: scan.angle_increment.into(),
        min_range: scan.range_min.into(),
        max_range: scan.range_max.into(),
        range_resolution: 0.0,
        frequency: frequency(scan).into(),
    }
}

impl Scanner {
    /// Answers when a scan has arrived.
    fn config<T: Xdr>(&self, config: impl FnOnce(&Scan) -> T + Send + 'static) -> OutcomeFuture {
        answer_when_received(self.last.clone(), move |scan| Ok(config(scan).to_bytes()))
    }
}

impl Driver for Scanner {
    fn handle_request(&mut self, request: Request) -> Result<OutcomeFuture, String> {
        Ok(match request {
            Request::Laser(laser::Request::GetGeometry) => acknowledged(&self.mount.geometry()),
            // The configuration cannot be changed: another node owns the scanner. The answer is the current
            // configuration.
            Request::Laser(laser::Request::GetConfig | laser::Request::SetConfig(_)) => {
                self.config(laser_config)
            }
            Request::Laser(laser::Request::GetId) => acknowledged(&0_u32),
            Request::Laser(laser::Request::SetFilter(_)) => {
                return Err(format!("the scanner has no request {}", laser::SET_FILTER.subtype));
            }
            Request::Ranger(ranger::Request::GetGeometry) => {
                let geometry = self.mount.geometry();
                let elements = (vec![geometry.pose.clone()], vec![geometry.size.clone()]);
                acknowledged(&ranger::Geometry {
                    pose: geometry.pose,
                    size: geometry.size,
                    element_poses: elements.0,
                    element_sizes: elements.1,
                })
            }
            Request::Ranger(ranger::Request::GetConfig | ranger::Request::SetConfig(_)) => {
                self.config(ranger_config)
            }
            Request::Laser(laser::Request::Power(on)) | Request::Ranger(ranger::Request::Power(on)) => {
                power(on)?
            }
            Request::Ranger(ranger::Request::SendIntensities(on)) => intensities(on)?,
            _ => return other_interface(),
        })
    }

    fn unsupported(&self) -> Vec<(MessageKind, u8)> {
        let filter = self.is_laser.then_some(laser::SET_FILTER.id());
        filter.into_iter().collect()
    }
}

/// The answer to a request for power: a sensor in ROS is always on.
pub(super) fn power(is_on: bool) -> Result<OutcomeFuture, String> {
    if is_on { Ok(acknowledged(&())) } else { Err("the sensor cannot be switched off".to_owned()) }
}

/// The answer to a request for intensities: a `ranger` sends ranges only.
pub(super) fn intensities(is_on: bool) -> Result<OutcomeFuture, String> {
    if is_on { Err("the sensor sends no intensities".to_owned()) } else { Ok(acknowledged(&())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beam_that_hits_nothing_has_the_maximum_range() {
        let ranges = vec![1.0, f32::INFINITY, f32::NAN, 9.0];
        let scan = Scan { range_max: 5.0, ranges, ..Scan::default() };
        assert_eq!(laser_scan(&scan, 7).ranges, [1.0, 5.0, 5.0, 5.0]);
    }
}
