//! `laser`, `sonar`, `ir`, `ranger`: scans of one sensor, or one range for each of several sensors.

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::sensor_msgs::msg::{LaserScan, Range};
use dragoman_ros::shared::listened;
use dragoman_ros::{Publisher, Result as RosResult};

use super::devices_node::{DeviceSetup, DeviceTopics};
use super::messages::report;
use super::names::is_array;
use super::scene::Scene;
use crate::player::wire::common::Pose3d;
use crate::player::wire::{Answer, Data, ir, laser, ranger, sonar};

/// Maximum range of a ranger that does not report it, m.
const UNKNOWN_RANGE_MAX: f64 = 1000.0;
/// Maximum relative difference between the angle steps of a scan.
const UNEVEN: f64 = 0.1;

/// Field of view and range of a sensor.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct View {
    /// rad
    min_angle: f64,
    /// rad
    max_angle: f64,
    /// m
    min_range: f64,
    /// m
    max_range: f64,
    /// Time from scan to scan, s; 0: unknown.
    period: f64,
}

impl View {
    fn of_ranger(config: &ranger::Config) -> Self {
        let known = |value: f64| value.is_finite() && value > 0.0;
        Self {
            min_angle: config.min_angle,
            max_angle: config.max_angle,
            min_range: if known(config.min_range) { config.min_range } else { 0.0 },
            max_range: if known(config.max_range) { config.max_range } else { UNKNOWN_RANGE_MAX },
            period: if known(config.frequency) { config.frequency.recip() } else { 0.0 },
        }
    }

    /// REP 117: infinite where nothing is in range, minus infinite where something is too near.
    #[allow(clippy::cast_possible_truncation, reason = "ranges have single precision in ROS")]
    fn range(&self, range: f64) -> f32 {
        if range >= self.max_range {
            f32::INFINITY
        } else if range < self.min_range {
            f32::NEG_INFINITY
        } else {
            range as f32
        }
    }

    /// Angle between two of `count` ranges, rad. `None`: the angles are unknown.
    fn increment(&self, count: usize) -> Option<f64> {
        if count < 2 {
            return Some(0.0);
        }
        let increment = (self.max_angle - self.min_angle) / (count - 1) as f64;
        (increment.is_finite() && increment != 0.0).then_some(increment)
    }
}

/// A scanner.
struct Scan {
    scan: Publisher<LaserScan>,
    frame: String,
    base: String,
    view: View,
}

impl Scan {
    fn new(setup: &mut DeviceSetup<'_>, view: View, pose: Option<&Pose3d>) -> RosResult<Self> {
        let base = format!("{}base_footprint", setup.names.base);
        let frame = setup.names.frame.clone();
        if let Some(pose) = pose {
            setup.scene.fix(&base, &frame, pose);
        }
        Ok(Self { scan: setup.publisher("scan")?, frame, base, view })
    }

    #[allow(clippy::cast_possible_truncation, reason = "scans have single precision in ROS")]
    fn publish(
        &self,
        scene: &Scene,
        stamp: &Time,
        ranges: &[f64],
        intensities: Vec<f32>,
    ) -> Result<(), String> {
        if !listened(&self.scan) || ranges.is_empty() {
            return Ok(());
        }
        let View { min_angle, max_angle, min_range, max_range, period } = self.view;
        let increment =
            self.view.increment(ranges.len()).ok_or("the angles of the scan are unknown".to_owned())?;
        let scan = LaserScan {
            header: scene.header(stamp, &self.frame),
            angle_min: min_angle as f32,
            angle_max: max_angle as f32,
            angle_increment: increment as f32,
            time_increment: 0.0,
            scan_time: period as f32,
            range_min: min_range as f32,
            range_max: max_range as f32,
            ranges: ranges.iter().map(|range| self.view.range(*range)).collect(),
            intensities,
        };
        report(self.scan.publish(&scan), "scan");
        Ok(())
    }

    fn publish_laser(&mut self, scene: &Scene, stamp: &Time, scan: &laser::Scan) -> Result<(), String> {
        self.view = View {
            min_angle: scan.min_angle.into(),
            max_angle: scan.max_angle.into(),
            max_range: if scan.max_range > 0.0 { scan.max_range.into() } else { UNKNOWN_RANGE_MAX },
            ..self.view
        };
        self.publish(scene, stamp, &to_f64(&scan.ranges), intensities(&scan.intensities.0))
    }
}

fn to_f64(ranges: &[f32]) -> Vec<f64> {
    ranges.iter().copied().map(f64::from).collect()
}

fn intensities(bytes: &[u8]) -> Vec<f32> {
    bytes.iter().copied().map(f32::from).collect()
}

/// First and last angle of evenly spaced angles.
fn even(angles: &[f32]) -> Option<[f64; 2]> {
    let (first, last) = (f64::from(*angles.first()?), f64::from(*angles.last()?));
    let increment = (last - first) / angles.len().saturating_sub(1).max(1) as f64;
    let is_near = |(index, angle): (usize, &f32)| {
        (f64::from(*angle) - first - index as f64 * increment).abs() <= increment.abs() * UNEVEN
    };
    angles.iter().enumerate().all(is_near).then_some([first, last])
}

/// Sensors with one range each.
struct Ranges {
    range: Publisher<Range>,
    frame: String,
    /// Frame of the sensors' poses.
    parent: String,
    view: View,
    radiation: u8,
    field_of_view: f64,
}

impl Ranges {
    /// `parent`: the frame of their poses.
    fn new(setup: &mut DeviceSetup<'_>, parent: String, poses: &[Pose3d], radiation: u8) -> RosResult<Self> {
        let ranges = Self {
            range: setup.publisher("range")?,
            frame: setup.names.frame.clone(),
            parent,
            view: View { max_range: setup.parameters.range_max, ..View::default() },
            radiation,
            field_of_view: setup.parameters.field_of_view,
        };
        ranges.place(setup.scene, poses);
        Ok(ranges)
    }

    fn place(&self, scene: &mut Scene, poses: &[Pose3d]) {
        for (index, pose) in poses.iter().enumerate() {
            scene.fix(&self.parent, &format!("{}_{index}", self.frame), pose);
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "ranges have single precision in ROS")]
    fn publish(&self, scene: &Scene, stamp: &Time, ranges: &[f64]) {
        if !listened(&self.range) {
            return;
        }
        for (index, range) in ranges.iter().enumerate() {
            let message = Range {
                header: scene.header(stamp, &format!("{}_{index}", self.frame)),
                radiation_type: self.radiation,
                field_of_view: self.field_of_view as f32,
                min_range: self.view.min_range as f32,
                max_range: self.view.max_range as f32,
                range: self.view.range(*range),
                ..Default::default()
            };
            report(self.range.publish(&message), "range");
        }
    }
}

/// ROS' code of sound, and of infrared light.
const ULTRASOUND: u8 = Range::ULTRASOUND as u8;
const INFRARED: u8 = Range::INFRARED as u8;

pub(super) fn laser(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    let mut view = View::default();
    let mut pose = None;
    for fact in &setup.info.facts {
        match fact {
            Answer::Laser(laser::Answer::GetGeometry(geometry)) => pose = Some(&geometry.pose),
            Answer::Laser(laser::Answer::GetConfig(config)) if config.frequency > 0.0 => {
                view.period = f64::from(config.frequency).recip();
            }
            _ => {}
        }
    }
    Ok(Box::new(Scan::new(setup, view, pose)?))
}

impl DeviceTopics for Scan {
    fn show(&mut self, scene: &mut Scene, stamp: &Time, data: Data) -> Result<(), String> {
        match data {
            Data::Laser(laser::Data::Scan(scan)) => self.publish_laser(scene, stamp, &scan),
            Data::Laser(laser::Data::PosedScan(posed)) => self.publish_laser(scene, stamp, &posed.scan),
            Data::Laser(laser::Data::AngledScan(scan)) => {
                let [min_angle, max_angle] =
                    even(&scan.angles).ok_or("a scan whose angles are not equally spaced")?;
                let max_range = f64::from(scan.max_range);
                let max_range = if max_range > 0.0 { max_range } else { UNKNOWN_RANGE_MAX };
                self.view = View { min_angle, max_angle, max_range, ..self.view };
                self.publish(scene, stamp, &to_f64(&scan.ranges), intensities(&scan.intensities.0))
            }
            Data::Ranger(ranger::Data::Ranges(ranges)) => {
                self.publish(scene, stamp, &ranges.ranges, Vec::new())
            }
            Data::Ranger(ranger::Data::StampedRanges(stamped)) => {
                if stamped.has_geometry {
                    scene.fix(&self.base, &self.frame, &stamped.geometry.pose);
                }
                if stamped.has_config {
                    self.view = View::of_ranger(&stamped.config);
                }
                self.publish(scene, stamp, &stamped.ranges.ranges, Vec::new())
            }
            Data::Ranger(ranger::Data::GeometryChanged(geometry)) => {
                scene.fix(&self.base, &self.frame, &geometry.pose);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// An array of sensors of interface `ranger`.
struct Elements {
    ranges: Ranges,
    base: String,
}

impl Elements {
    fn place(&self, scene: &mut Scene, geometry: &ranger::Geometry) {
        scene.fix(&self.base, &self.ranges.frame, &geometry.pose);
        self.ranges.place(scene, &geometry.element_poses);
    }

    fn configure(&mut self, config: &ranger::Config) {
        self.ranges.view = View::of_ranger(config);
        let field_of_view = config.max_angle - config.min_angle;
        if field_of_view.is_finite() && field_of_view > 0.0 {
            self.ranges.field_of_view = field_of_view;
        }
    }
}

pub(super) fn ranger(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    let mut configs = setup.info.facts.iter().filter_map(|fact| match fact {
        Answer::Ranger(ranger::Answer::GetConfig(config)) => Some(config),
        _ => None,
    });
    let mut geometries = setup.info.facts.iter().filter_map(|fact| match fact {
        Answer::Ranger(ranger::Answer::GetGeometry(geometry)) => Some(geometry),
        _ => None,
    });
    let (config, geometry) = (configs.next(), geometries.next());
    if !is_array(&setup.info.facts) {
        let view = View::of_ranger(config.unwrap_or(&ranger::Config::default()));
        return Ok(Box::new(Scan::new(setup, view, geometry.map(|geometry| &geometry.pose))?));
    }
    let parent = setup.names.frame.clone();
    let base = format!("{}base_footprint", setup.names.base);
    let mut elements = Elements { ranges: Ranges::new(setup, parent, &[], ULTRASOUND)?, base };
    if let Some(config) = config {
        elements.configure(config);
    }
    if let Some(geometry) = geometry {
        elements.place(setup.scene, geometry);
    }
    Ok(Box::new(elements))
}

impl DeviceTopics for Elements {
    fn show(&mut self, scene: &mut Scene, stamp: &Time, data: Data) -> Result<(), String> {
        match data {
            Data::Ranger(ranger::Data::Ranges(ranges)) => self.ranges.publish(scene, stamp, &ranges.ranges),
            Data::Ranger(ranger::Data::StampedRanges(stamped)) => {
                if stamped.has_geometry {
                    self.place(scene, &stamped.geometry);
                }
                if stamped.has_config {
                    self.configure(&stamped.config);
                }
                self.ranges.publish(scene, stamp, &stamped.ranges.ranges);
            }
            Data::Ranger(ranger::Data::GeometryChanged(geometry)) => self.place(scene, &geometry),
            _ => {}
        }
        Ok(())
    }
}

pub(super) fn sonar(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    let base = format!("{}base_footprint", setup.names.base);
    let poses = setup.info.facts.iter().find_map(|fact| match fact {
        Answer::Sonar(sonar::Answer::GetGeometry(geometry)) => Some(geometry.poses.clone()),
        _ => None,
    });
    Ok(Box::new(Ranges::new(setup, base, &poses.unwrap_or_default(), ULTRASOUND)?))
}

pub(super) fn ir(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    let base = format!("{}base_footprint", setup.names.base);
    let poses = setup.info.facts.iter().find_map(|fact| match fact {
        Answer::Ir(ir::Answer::GetGeometry(geometry)) => Some(geometry.poses.clone()),
        _ => None,
    });
    Ok(Box::new(Ranges::new(setup, base, &poses.unwrap_or_default(), INFRARED)?))
}

impl DeviceTopics for Ranges {
    fn show(&mut self, scene: &mut Scene, stamp: &Time, data: Data) -> Result<(), String> {
        match data {
            Data::Sonar(sonar::Data::Ranges(sonar)) => self.publish(scene, stamp, &to_f64(&sonar.ranges)),
            Data::Ir(ir::Data::Ranges(ir)) => self.publish(scene, stamp, &to_f64(&ir.ranges)),
            Data::Sonar(sonar::Data::GeometryChanged(geometry)) => self.place(scene, &geometry.poses),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_beyond_the_limits_are_infinite() {
        let config = ranger::Config { min_range: 0.1, max_range: 8.0, ..ranger::Config::default() };
        let view = View::of_ranger(&config);
        assert_eq!(
            [0.05, 0.5, 8.0, 9.0].map(|range| view.range(range)),
            [f32::NEG_INFINITY, 0.5, f32::INFINITY, f32::INFINITY]
        );
        assert!(view.range(f64::NAN).is_nan());
        let unfilled = View::of_ranger(&ranger::Config::default());
        assert_eq!(unfilled.range(999.0), 999.0);
    }

    #[test]
    fn angles_are_known_only_if_the_sensor_reports_them() {
        let view = View { min_angle: -1.0, max_angle: 1.0, ..View::default() };
        assert_eq!((view.increment(5), view.increment(1)), (Some(0.5), Some(0.0)));
        assert_eq!(View::default().increment(5), None);
        assert_eq!(even(&[0.0, 0.5, 1.0]), Some([0.0, 1.0]));
        assert_eq!((even(&[0.0, 0.9, 1.0]), even(&[]), even(&[0.5])), (None, None, Some([0.5, 0.5])));
    }
}
