//! Publishes the state of a real platform on the same topics as our own platform.

use std::time::Duration;

use dragoman_geometry::{Point, Pose, Twist};
use dragoman_neobotix::map::Map;
use dragoman_neobotix::messages;
use dragoman_ros::dragoman_msgs::msg::PlatformStatus;
use dragoman_ros::nav_msgs::msg::{OccupancyGrid, Odometry as OdometryMessage, Path};
use dragoman_ros::sensor_msgs::msg::{BatteryState, LaserScan};
use dragoman_ros::shared::listened;
use dragoman_ros::std_msgs::msg::Header;
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Node, Publisher, QosProfile, Result, poses};

use super::client::ClientParameters;
use super::offers::Stamp;
use crate::BridgeError;
use crate::neobotix::client::{LaserGeometry, Odometry};
use crate::neobotix::documents::{self, Document};
use crate::neobotix::services;
use crate::neobotix::wire::{DocumentReply, Position, Status};

/// After this time without a position, the pose in the status is used.
const POSITION_TIMEOUT: Duration = Duration::from_secs(1);
/// Unit of lengths and angles in the status, m or rad.
const MILLI: f64 = 1e-3;

/// The topics.
pub(super) struct Picture {
    stamp: Stamp,
    status: Publisher<PlatformStatus>,
    path: Publisher<Path>,
    map: Publisher<OccupancyGrid>,
    odom: Publisher<OdometryMessage>,
    scan: Publisher<LaserScan>,
    battery: Publisher<BatteryState>,
    tf: Option<Publisher<TFMessage>>,
    frames: Frames,
    laser: LaserGeometry,
    scan_time: f64,
    /// V
    battery_unit: f64,
    /// m
    resolution: f64,
    odometry: Odometry,
    /// When the platform last reported its position.
    positioned: Option<Duration>,
    shown_path: Option<Vec<Point>>,
    shown_map: Option<DocumentReply>,
}

/// Names of the platform's frames.
struct Frames {
    odom: String,
    base: String,
    laser: String,
}

impl Picture {
    pub(super) fn new(node: &mut Node, parameters: &ClientParameters) -> Result<Self, BridgeError> {
        let latched = || QosProfile::default().keep_last(1).transient_local();
        let frame = |name: &str| format!("{}{name}", parameters.frame_prefix);
        let &[x, y, heading] = parameters.laser_pose.as_slice() else {
            return Err(BridgeError::Pose("laser_pose"));
        };
        Ok(Self {
            stamp: Stamp { clock: node.get_ros_clock(), map_frame: parameters.map_frame.as_str().into() },
            status: node.create_publisher("status", QosProfile::default())?,
            path: node.create_publisher("path", latched())?,
            map: node.create_publisher("map", latched())?,
            odom: node.create_publisher("odom", QosProfile::default())?,
            scan: node.create_publisher("scan", QosProfile::default())?,
            battery: node.create_publisher("battery_state", QosProfile::default())?,
            tf: if parameters.publish_tf { Some(messages::transforms(node)?) } else { None },
            frames: Frames { odom: frame("odom"), base: frame("base_footprint"), laser: frame("laser") },
            laser: LaserGeometry {
                pose: Pose::new(x, y, heading),
                angle_min: parameters.laser_angle_min,
                angle_increment: parameters.laser_angle_increment,
                beams: parameters.laser_beams,
                range_min: parameters.laser_range_min,
                range_max: parameters.laser_range_max,
            },
            scan_time: 1.0 / parameters.status_rate,
            battery_unit: parameters.battery_unit,
            resolution: parameters.map_resolution,
            odometry: Odometry::default(),
            positioned: None,
            shown_path: None,
            shown_map: None,
        })
    }

    /// Publishes a status.
    pub(super) fn show_status(&mut self, now: Duration, status: &Status) {
        let header = self.stamp.header();
        let mut message = services::status_message(status);
        message.header = header.clone();
        let at = Pose::new(message.estimated.x, message.estimated.y, message.estimated.theta);
        if self.positioned.is_none_or(|when| now.saturating_sub(when) > POSITION_TIMEOUT) {
            let twist = Twist::new(message.translation_velocity, message.rotation_velocity);
            self.show_odometry(now, &header, at, twist);
        }
        self.show_path(&header, status);
        if listened(&self.scan) {
            report(self.scan.publish(&self.scan_message(&header, at, &message)));
        }
        // 0: it has no battery to report.
        if status.io_board.battery_voltage != 0 && listened(&self.battery) {
            let voltage = f64::from(status.io_board.battery_voltage) * self.battery_unit;
            report(self.battery.publish(&battery_message(&header, voltage)));
        }
        if listened(&self.status) {
            report(self.status.publish(&message));
        }
    }

    /// Publishes a position.
    pub(super) fn show_position(&mut self, now: Duration, position: &Position) {
        self.positioned = Some(now);
        let pose =
            Pose::new(f64::from(position.x_mm) * MILLI, f64::from(position.y_mm) * MILLI, position.angle_rad);
        let twist = Twist::new(position.translation_mm_per_s * MILLI, position.rotation_rad_per_s);
        self.show_odometry(now, &self.stamp.header(), pose, twist);
    }

    /// Publishes a map. An unreadable map is logged once.
    pub(super) fn show_map(&mut self, map: DocumentReply) {
        if self.shown_map.as_ref() == Some(&map) {
            return;
        }
        match documents::Map::parse(map.document.as_bytes()) {
            Ok(document) => {
                let mut message = messages::grid(&Map::from(&document), self.resolution);
                message.header = self.stamp.header();
                message.info.map_load_time = message.header.stamp.clone();
                report(self.map.publish(&message));
            }
            Err(error) => tracing::warn!(%error, name = %map.name, "reading the platform's map failed"),
        }
        self.shown_map = Some(map);
    }

    fn show_odometry(&mut self, now: Duration, header: &Header, pose: Pose, twist: Twist) {
        let odometry = self.odometry.update(now, pose, twist);
        if listened(&self.odom) {
            let mut message = OdometryMessage {
                header: Header { stamp: header.stamp.clone(), frame_id: self.frames.odom.clone() },
                child_frame_id: self.frames.base.clone(),
                ..Default::default()
            };
            (message.pose.pose.position.x, message.pose.pose.position.y) = (odometry.x, odometry.y);
            message.pose.pose.orientation = poses::turn(odometry.heading);
            (message.twist.twist.linear.x, message.twist.twist.angular.z) = (twist.linear, twist.angular);
            report(self.odom.publish(&message));
        }
        let Some(tf) = self.tf.as_ref().filter(|tf| listened(tf)) else { return };
        let Frames { odom, base, laser } = &self.frames;
        let origin = self.odometry.origin().unwrap_or(Pose::ORIGIN);
        let transforms = vec![
            poses::transform(&header.stamp, &header.frame_id, odom, &origin),
            poses::transform(&header.stamp, odom, base, &odometry),
            poses::transform(&header.stamp, base, laser, &self.laser.pose),
        ];
        report(tf.publish(&TFMessage { transforms }));
    }

    /// Publishes the remaining path, if it has changed.
    fn show_path(&mut self, header: &Header, status: &Status) {
        let metres = |mm: i32| f64::from(mm) * MILLI;
        let points: Vec<Point> =
            status.path.iter().map(|point| Point::new(metres(point.x_mm), metres(point.y_mm))).collect();
        if self.shown_path.as_ref() != Some(&points) {
            // The protocol does not transmit the direction at the goal.
            report(self.path.publish(&messages::path(header, &points, None)));
            self.shown_path = Some(points);
        }
    }

    fn scan_message(&self, header: &Header, at: Pose, status: &PlatformStatus) -> LaserScan {
        let points = status.scan.iter().map(|point| Point::new(point.x.into(), point.y.into()));
        let LaserGeometry { angle_min, angle_increment, beams, range_min, range_max, .. } = self.laser;
        LaserScan {
            header: Header { stamp: header.stamp.clone(), frame_id: self.frames.laser.clone() },
            angle_min: angle_min as f32,
            angle_max: (angle_min + beams.saturating_sub(1) as f64 * angle_increment) as f32,
            angle_increment: angle_increment as f32,
            time_increment: 0.0,
            scan_time: self.scan_time as f32,
            range_min: range_min as f32,
            range_max: range_max as f32,
            ranges: self.laser.ranges(at, points),
            intensities: Vec::new(),
        }
    }
}

/// Unknown values are NaN.
fn battery_message(header: &Header, voltage: f64) -> BatteryState {
    BatteryState {
        header: Header { stamp: header.stamp.clone(), ..Default::default() },
        voltage: voltage as f32,
        temperature: f32::NAN,
        current: f32::NAN,
        charge: f32::NAN,
        capacity: f32::NAN,
        design_capacity: f32::NAN,
        percentage: f32::NAN,
        present: true,
        ..Default::default()
    }
}

/// Logs a publishing error.
fn report(result: Result<()>) {
    if let Err(error) = result {
        tracing::warn!(%error, "publishing failed");
    }
}
