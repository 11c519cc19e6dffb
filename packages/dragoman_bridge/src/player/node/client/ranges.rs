//! `laser`, `sonar`, `ir`, `ranger`: scans of one sensor, or one range for each of several sensors.

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::sensor_msgs::msg::{LaserScan, Range};
use dragoman_ros::shared::listened;
use dragoman_ros::{Publisher, Result as RosResult};

use super::messages::report;
use super::names::is_array;
use super::robot::{Outlet, Site};
use super::scene::Scene;
use crate::player::wire::common::Pose3d;
use crate::player::wire::{Answer, Data, ir, laser, ranger, sonar};

/// Maximum range of a ranger that does not tell it, m.
const UNKNOWN_RANGE_MAX: f64 = 1000.0;
/// Angles of a scan may differ by this part of their distance.
const UNEVEN: f64 = 0.1;

/// What a sensor can see.
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

/// A sensor that scans.
struct Scan {
    scan: Publisher<LaserScan>,
    frame: String,
    base: String,
    view: View,
}

impl Scan {
    fn new(site: &mut Site<'_>, view: View, pose: Option<&Pose3d>) -> RosResult<Self> {
        let base = format!("{}base_footprint", site.names.base);
        let frame = site.names.frame.clone();
        if let Some(pose) = pose {
            site.scene.fix(&base, &frame, pose);
        }
        Ok(Self { scan: site.publisher("scan")?, frame, base, view })
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
        self.publish(scene, stamp, &wide(&scan.ranges), intensities(&scan.intensities.0))
    }
}

fn wide(ranges: &[f32]) -> Vec<f64> {
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
    /// Frame in which their poses are.
    parent: String,
    view: View,
    radiation: u8,
    field_of_view: f64,
}

impl Ranges {
    /// `parent`: the frame of their poses.
    fn new(site: &mut Site<'_>, parent: String, poses: &[Pose3d], radiation: u8) -> RosResult<Self> {
        let ranges = Self {
            range: site.publisher("range")?,
            frame: site.names.frame.clone(),
            parent,
            view: View { max_range: site.parameters.range_max, ..View::default() },
            radiation,
            field_of_view: site.parameters.field_of_view,
        };
        ranges.place(site.scene, poses);
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

pub(super) fn laser(site: &mut Site<'_>) -> RosResult<Box<dyn Outlet>> {
    let mut view = View::default();
    let mut pose = None;
    for fact in &site.info.facts {
        match fact {
            Answer::Laser(laser::Answer::GetGeometry(geometry)) => pose = Some(&geometry.pose),
            Answer::Laser(laser::Answer::GetConfig(config)) if config.frequency > 0.0 => {
                view.period = f64::from(config.frequency).recip();
            }
            _ => {}
        }
    }
    Ok(Box::new(Scan::new(site, view, pose)?))
}

impl Outlet for Scan {
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
                self.publish(scene, stamp, &wide(&scan.ranges), intensities(&scan.intensities.0))
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

pub(super) fn ranger(site: &mut Site<'_>) -> RosResult<Box<dyn Outlet>> {
    let mut configs = site.info.facts.iter().filter_map(|fact| match fact {
        Answer::Ranger(ranger::Answer::GetConfig(config)) => Some(config),
        _ => None,
    });
    let mut geometries = site.info.facts.iter().filter_map(|fact| match fact {
        Answer::Ranger(ranger::Answer::GetGeometry(geometry)) => Some(geometry),
        _ => None,
    });
    let (config, geometry) = (configs.next(), geometries.next());
    if !is_array(&site.info.facts) {
        let view = View::of_ranger(config.unwrap_or(&ranger::Config::default()));
        return Ok(Box::new(Scan::new(site, view, geometry.map(|geometry| &geometry.pose))?));
    }
    let parent = site.names.frame.clone();
    let base = format!("{}base_footprint", site.names.base);
    let mut elements = Elements { ranges: Ranges::new(site, parent, &[], ULTRASOUND)?, base };
    if let Some(config) = config {
        elements.configure(config);
    }
    if let Some(geometry) = geometry {
        elements.place(site.scene, geometry);
    }
    Ok(Box::new(elements))
}

impl Outlet for Elements {
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

pub(super) fn sonar(site: &mut Site<'_>) -> RosResult<Box<dyn Outlet>> {
    let base = format!("{}base_footprint", site.names.base);
    let poses = site.info.facts.iter().find_map(|fact| match fact {
        Answer::Sonar(sonar::Answer::GetGeometry(geometry)) => Some(geometry.poses.clone()),
        _ => None,
    });
    Ok(Box::new(Ranges::new(site, base, &poses.unwrap_or_default(), ULTRASOUND)?))
}

pub(super) fn ir(site: &mut Site<'_>) -> RosResult<Box<dyn Outlet>> {
    let base = format!("{}base_footprint", site.names.base);
    let poses = site.info.facts.iter().find_map(|fact| match fact {
        Answer::Ir(ir::Answer::GetGeometry(geometry)) => Some(geometry.poses.clone()),
        _ => None,
    });
    Ok(Box::new(Ranges::new(site, base, &poses.unwrap_or_default(), INFRARED)?))
}

impl Outlet for Ranges {
    fn show(&mut self, scene: &mut Scene, stamp: &Time, data: Data) -> Result<(), String> {
        match data {
            Data::Sonar(sonar::Data::Ranges(sonar)) => self.publish(scene, stamp, &wide(&sonar.ranges)),
            Data::Ir(ir::Data::Ranges(ir)) => self.publish(scene, stamp, &wide(&ir.ranges)),
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
    fn angles_are_known_only_if_the_sensor_tells_them() {
        let view = View { min_angle: -1.0, max_angle: 1.0, ..View::default() };
        assert_eq!((view.increment(5), view.increment(1)), (Some(0.5), Some(0.0)));
        assert_eq!(View::default().increment(5), None);
        assert_eq!(even(&[0.0, 0.5, 1.0]), Some([0.0, 1.0]));
        assert_eq!((even(&[0.0, 0.9, 1.0]), even(&[]), even(&[0.5])), (None, None, Some([0.5, 0.5])));
    }
}
