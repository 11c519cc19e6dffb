//! The base of the platform: receives odometry, laser, battery and other data, publishes velocities.

use std::sync::Arc;
use std::time::Duration;

use dragoman_geometry::{Point, Pose, Twist, compose, transform};
use dragoman_neobotix::messages;
use dragoman_ros::geometry_msgs::msg::Twist as TwistMessage;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::{BatteryState, Joy, LaserScan};
use dragoman_ros::shared::{SharedPublisher, listened};
use dragoman_ros::std_msgs::msg::Bool;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Context, Publisher, QosProfile, WrappedTypesupport, poses};
use dragoman_time::{Work, off_thread};

use super::laser::Laser;
use super::state::Shared;
use super::ultrasonics::Ultrasonics;
use super::{PlatformNodeError, PlatformParameters, topics};
use crate::controller::Command;

/// Number of channels for ultrasonic sensors.
pub(super) const MAX_ULTRASONICS: usize = 16;

/// Subscribes to the base's data, and publishes the controller's velocities.
pub(super) fn serve(
    tasks: &mut NodeTasks,
    shared: &Shared,
    values: &PlatformParameters,
    context: &Context,
) -> Result<(), PlatformNodeError> {
    let newest = || QosProfile::default().keep_last(1);
    let mut frames = Frames::new(tasks, values)?;
    let odometry = Relay::new(tasks, "odom", &values.base_odom)?;
    // Without its own frames the base's odometry and transforms are the only ones.
    let has_own_odometry = odometry.publisher.is_some() && frames.names.odom.is_some();
    shared.with(|state| state.base.has_own_odometry = has_own_odometry);
    let shared_state = shared.clone();
    let frame_names = frames.clone_names();
    tasks.subscribe(&values.base_odom, newest(), move |message: Odometry| {
        let Some(pose) = planar(&message) else {
            return shared_state.with(|state| state.refuse("the base's odometry is not finite"));
        };
        let origin = shared_state.with(|state| state.base.odometry_origin);
        let published = compose(origin, pose);
        frames.relay_odometry(&message, published);
        odometry.send(|| {
            let mut own = message.clone();
            frames.rename_odometry(&mut own);
            if origin != Pose::ORIGIN {
                (own.pose.pose.position.x, own.pose.pose.position.y) = (published.x, published.y);
                own.pose.pose.orientation = poses::turn(published.heading);
            }
            own
        });
        shared_state.with(|state| {
            let now = dragoman_time::now();
            state.wheels.roll(now, planar_twist(&message.twist.twist), state.platform.settings());
            state.inputs.pose = pose;
            state.inputs.odometry = Some((now, message));
        });
    })?;
    if let Some(topic) = &values.base_scan {
        let laser = Laser {
            context: context.clone(),
            namespace: tasks.node().namespace()?,
            topic: topic.clone(),
            pose: values.laser_pose()?,
            is_upside_down: values.laser_upside_down,
            frame: frame_names.laser,
            relay: Arc::new(Relay::new(tasks, "scan", topic)?),
            shared: shared.clone(),
        };
        tasks.spawn(laser.follow());
    }
    serve_extras(tasks, shared, values, context)?;
    let shared_state = shared.clone();
    tasks.subscribe("cmd_vel", newest(), move |twist: TwistMessage| {
        // Refusals are stored for the diagnostics.
        let _ = shared_state.command(Command::Move(planar_twist(&twist)));
    })?;
    let velocities = tasks.node().create_publisher::<TwistMessage>(&values.base_cmd_vel, newest())?;
    let driven = shared.clone();
    tasks.every(Duration::from_secs_f64(1.0 / values.rate), move || {
        if let Some(twist) = driven.with(|state| state.cycle()) {
            let mut message = TwistMessage::default();
            (message.linear.x, message.linear.y, message.angular.z) =
                (twist.linear, twist.lateral, twist.angular);
            topics::report(velocities.publish(&message));
        }
        // Planning takes longer than a cycle, and an emergency stop has to take effect meanwhile.
        if let Some(job) = driven.with(|state| state.platform.poll_plan()) {
            let shared = driven.clone();
            dragoman_time::spawn(async move {
                // The hook for panics has reported a panic.
                let Ok(planned) = off_thread(Work::PATH, |_| job.solve()).await else { return };
                shared.with(|state| state.platform.handle_planned(planned));
            });
        }
    })?;
    Ok(())
}

/// Optional parts of a base.
fn serve_extras(
    tasks: &mut NodeTasks,
    shared: &Shared,
    values: &PlatformParameters,
    context: &Context,
) -> Result<(), PlatformNodeError> {
    let newest = || QosProfile::default().keep_last(1);
    let shared_state = shared.clone();
    tasks.subscribe(&values.emergency_stop_topic, newest(), move |message: Bool| {
        shared_state.with(|state| state.inputs.emergency_stop = message.data);
    })?;
    let (linear, angular) = (values.joy_linear_axis, values.joy_angular_axis);
    // -1: none.
    let lateral = usize::try_from(values.joy_lateral_axis).unwrap_or(usize::MAX);
    let shared_state = shared.clone();
    tasks.subscribe(&values.joy_topic, newest(), move |joy: Joy| {
        let axis = |index: usize| joy.axes.get(index).map_or(0.0, |&value| f64::from(value).clamp(-1.0, 1.0));
        shared_state.with(|state| {
            let limits = state.platform.settings().limits;
            let twist = Twist {
                linear: axis(linear) * limits.linear.velocity,
                lateral: axis(lateral) * limits.linear.velocity,
                angular: axis(angular) * limits.angular.velocity,
            };
            state.inputs.joystick = Some((dragoman_time::now(), twist));
            state.inputs.joystick_buttons = joy.buttons.iter().map(|&button| button != 0).collect();
        });
    })?;
    if let Some(battery) = &values.base_battery {
        let own = Relay::new(tasks, "battery_state", battery)?;
        let shared_state = shared.clone();
        tasks.subscribe(battery, newest(), move |message: BatteryState| {
            own.send(|| message.clone());
            shared_state.with(|state| state.inputs.battery = Some(message));
        })?;
    }
    let sensors = &values.ultrasonic_topics;
    if sensors.len() > MAX_ULTRASONICS {
        return Err(PlatformNodeError::Ultrasonics(sensors.len()));
    }
    if !sensors.is_empty() {
        let namespace = tasks.node().namespace()?;
        let (context, shared) = (context.clone(), shared.clone());
        tasks.spawn(Ultrasonics { context, namespace, topics: sensors.clone(), shared }.follow());
    }
    Ok(())
}

/// Republishes the base's data under the platform's name while the topic has subscribers.
pub(super) struct Relay<T: WrappedTypesupport + 'static> {
    /// `None`: the base publishes on the same topic.
    publisher: Option<SharedPublisher<T>>,
}

impl<T: WrappedTypesupport + 'static> Relay<T> {
    fn new(tasks: &mut NodeTasks, own: &str, base: &str) -> dragoman_ros::Result<Self> {
        let full = format!("{}/{own}", tasks.node().namespace()?.trim_end_matches('/'));
        let same = base == own || base == full;
        let publisher =
            if same { None } else { Some(tasks.node().create_publisher(own, QosProfile::default())?.into()) };
        Ok(Self { publisher })
    }

    /// Whether the topic has subscribers.
    pub(super) fn is_listened(&self) -> bool {
        self.publisher.as_ref().is_some_and(SharedPublisher::is_listened)
    }

    pub(super) fn send(&self, message: impl FnOnce() -> T) {
        if let Some(publisher) = self.publisher.as_ref().filter(|_| self.is_listened()) {
            topics::report(publisher.publish(&message()));
        }
    }
}

/// Names of the platform's own frames; `None` if those of the base are used.
#[derive(Clone)]
struct FrameNames {
    odom: Option<String>,
    base: Option<String>,
    laser: Option<String>,
}

/// Publishes the transforms between the platform's own frames. Otherwise the base publishes its own.
struct Frames {
    names: FrameNames,
    laser: Pose,
    tf: Option<Publisher<TFMessage>>,
}

impl Frames {
    fn new(tasks: &mut NodeTasks, values: &PlatformParameters) -> Result<Self, PlatformNodeError> {
        let prefix = &values.frame_prefix;
        let name = |frame: &str| (!prefix.is_empty()).then(|| format!("{prefix}{frame}"));
        let names = FrameNames { odom: name("odom"), base: name("base_footprint"), laser: name("laser") };
        let publishes_tf = values.publish_tf && !prefix.is_empty();
        let tf = if publishes_tf { Some(messages::transforms(tasks.node())?) } else { None };
        Ok(Self { names, laser: values.laser_pose()?, tf })
    }

    fn clone_names(&self) -> FrameNames {
        self.names.clone()
    }

    fn rename_odometry(&self, message: &mut Odometry) {
        if let FrameNames { odom: Some(odom), base: Some(base), .. } = &self.names {
            message.header.frame_id.clone_from(odom);
            message.child_frame_id.clone_from(base);
        }
    }

    /// Publishes the transforms; `pose` is that of the odometry.
    fn relay_odometry(&mut self, message: &Odometry, pose: Pose) {
        let (Some(tf), FrameNames { odom: Some(odom), base: Some(base), laser: Some(laser) }) =
            (&self.tf, &self.names)
        else {
            return;
        };
        if listened(tf) {
            let stamp = &message.header.stamp;
            let transforms = vec![
                poses::transform(stamp, odom, base, &pose),
                poses::transform(stamp, base, laser, &self.laser),
            ];
            topics::report(tf.publish(&TFMessage { transforms }));
        }
    }
}

/// A velocity in the plane.
pub(super) fn planar_twist(twist: &TwistMessage) -> Twist {
    Twist::planar(twist.linear.x, twist.linear.y, twist.angular.z)
}

/// Planar pose of the odometry; `None` if it is not finite.
fn planar(odometry: &Odometry) -> Option<Pose> {
    Some(poses::planar(&odometry.pose.pose)).filter(Pose::is_finite)
}

/// The points hit, in the platform's frame.
pub(super) fn points(scan: &LaserScan, laser: Pose, upside_down: bool) -> impl Iterator<Item = Point> + '_ {
    let side = if upside_down { -1.0 } else { 1.0 };
    scan.ranges.iter().enumerate().filter_map(move |(beam, &range)| {
        let angle = f64::from(scan.angle_min) + beam as f64 * f64::from(scan.angle_increment);
        let hit = range >= scan.range_min && range < scan.range_max && angle.is_finite();
        let (sin, cos) = angle.sin_cos();
        let range = f64::from(range);
        hit.then(|| transform(laser, Point::new(range * cos, side * range * sin)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beams_without_a_hit_give_no_points() {
        let scan = LaserScan {
            angle_min: -std::f32::consts::FRAC_PI_2,
            angle_increment: std::f32::consts::FRAC_PI_2,
            range_min: 0.1,
            range_max: 20.0,
            ranges: vec![2.0, f32::INFINITY, 3.0, f32::NAN, 0.01, 20.0],
            ..Default::default()
        };
        let laser = Pose::new(0.4, 0.0, 0.0);
        for (upside_down, side) in [(false, 1.0), (true, -1.0)] {
            let points: Vec<_> = points(&scan, laser, upside_down).collect();
            let expected = [Point::new(0.4, -2.0 * side), Point::new(0.4, 3.0 * side)];
            assert_eq!(points.len(), 2);
            assert!(points.iter().zip(expected).all(|(a, b)| (a - b).norm() < 1e-6), "{points:?}");
        }
    }

    #[test]
    fn odometry_has_to_be_finite() {
        let mut odometry = Odometry::default();
        odometry.pose.pose.orientation = poses::turn(1.0);
        assert!((planar(&odometry).unwrap().heading - 1.0).abs() < 1e-12);
        odometry.pose.pose.position.x = f64::NAN;
        assert_eq!(planar(&odometry), None);
    }
}
