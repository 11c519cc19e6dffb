//! `limb` from the motion pipeline of an arm.
//!
//! The approach vector is the z axis of the tool, the orientation vector its y axis.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dragoman_ros::{QosProfile, dragoman_msgs, geometry_msgs, std_srvs};
use futures::future::FutureExt;
use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use serde::Deserialize;
use tokio::task::AbortHandle;

use super::driver::{Answer, Driver, Feed, Opened, Service, Setup, acknowledged, below, done, obey};
use crate::BridgeError;
use crate::arm31::rotation::normalized;
use crate::player::wire::Device;
use crate::player::wire::common::Point3d;
use crate::player::wire::limb::{
    BRAKES, GET_GEOMETRY, HOME, MOVE_ALONG, Motion, Move, POWER, Pose, SET_POSE, SET_POSITION, SET_SPEED,
    STATE, STOP, State,
};

/// Command modes of the motion pipeline.
const JOINT: u8 = 1;
const CARTESIAN: u8 = 2;
/// Vectors of a client are perpendicular up to this cosine, and their lengths not below it.
const SQUARE: f64 = 0.1;

/// The ROS names of an arm.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Names {
    /// Namespace of `pose`, `motion_status`, `set_command_mode`, `set_goal_pose`, `begin_motion` and so on.
    arm: String,
    /// Position of the base on the robot, m.
    #[serde(default)]
    base: [f64; 3],
    /// Joint positions of its home, rad or m; without them it has none.
    #[serde(default)]
    home: Vec<f64>,
}

/// How often it is looked whether a motion has ended, and the time limit of that.
const LOOK: Duration = Duration::from_millis(20);
const HALT_LIMIT: Duration = Duration::from_secs(3);

/// What is measured.
#[derive(Default)]
struct Measured {
    pose: Option<(Vector3<f64>, UnitQuaternion<f64>)>,
    is_moving: bool,
}

/// The services of an arm.
struct Services {
    set_mode: Service<dragoman_msgs::srv::SetCommandMode::Service>,
    set_pose: Service<dragoman_msgs::srv::SetGoalPose::Service>,
    begin: Service<std_srvs::srv::Trigger::Service>,
    set_joints: Service<dragoman_msgs::srv::SetJointGoal::Service>,
    begin_joints: Service<std_srvs::srv::Trigger::Service>,
    stop: Service<std_srvs::srv::Trigger::Service>,
    enable: Service<std_srvs::srv::Trigger::Service>,
    disable: Service<std_srvs::srv::Trigger::Service>,
}

impl Services {
    fn mode(&self, mode: u8) -> Answer {
        let request = dragoman_msgs::srv::SetCommandMode::Request { mode };
        self.set_mode.ask(request, |response| done(response.success, response.message))
    }
}

struct Limb {
    names: Names,
    measured: Arc<Mutex<Measured>>,
    services: Arc<Services>,
    /// Speed of the end effector, m/s; `None`: as fast as the arm's limits allow.
    speed: Option<f64>,
    /// A client has moved it, and has not stopped it.
    is_commanded: bool,
    /// The last command, which the next one replaces.
    command: Option<AbortHandle>,
}

fn lock(measured: &Mutex<Measured>) -> MutexGuard<'_, Measured> {
    measured.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn open(names: &Names, device: Device, setup: &Setup, feed: Feed) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let name = |name: &str| below(&names.arm, name);
    let services = Services {
        set_mode: Service::new(&mut tasks, &name("set_command_mode"))?,
        set_pose: Service::new(&mut tasks, &name("set_goal_pose"))?,
        begin: Service::new(&mut tasks, &name("begin_motion"))?,
        set_joints: Service::new(&mut tasks, &name("set_joint_goal"))?,
        begin_joints: Service::new(&mut tasks, &name("begin_joint_motion"))?,
        stop: Service::new(&mut tasks, &name("stop"))?,
        enable: Service::new(&mut tasks, &name("enable"))?,
        disable: Service::new(&mut tasks, &name("disable"))?,
    };
    let measured = Arc::new(Mutex::new(Measured::default()));
    let moving = Arc::clone(&measured);
    let latched = QosProfile::default().keep_last(1).transient_local();
    tasks.subscribe(&name("motion_status"), latched, move |status: dragoman_msgs::msg::MotionStatus| {
        lock(&moving).is_moving = status.moving;
    })?;
    let posed = Arc::clone(&measured);
    let qos = QosProfile::sensor_data();
    tasks.subscribe(&name("pose"), qos, move |stamped: geometry_msgs::msg::PoseStamped| {
        let (p, q) = (&stamped.pose.position, &stamped.pose.orientation);
        let rotation = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(q.w, q.x, q.y, q.z));
        let position = Vector3::new(p.x, p.y, p.z);
        let mut measured = lock(&posed);
        measured.pose = Some((position, rotation));
        feed.send(&STATE, &stamped.header.stamp, &state(position, &rotation, measured.is_moving));
    })?;
    Ok(Opened::new(
        Limb {
            names: names.clone(),
            measured,
            services: Arc::new(services),
            speed: None,
            is_commanded: false,
            command: None,
        },
        tasks,
    )?)
}

fn point(vector: &Vector3<f64>) -> Point3d {
    Point3d { x: vector.x, y: vector.y, z: vector.z }
}

fn vector(point: &Point3d) -> Result<Vector3<f64>, String> {
    let vector = Vector3::new(point.x, point.y, point.z);
    if vector.iter().all(|value| value.is_finite()) {
        Ok(vector)
    } else {
        Err("a value is not finite".to_owned())
    }
}

fn state(position: Vector3<f64>, rotation: &UnitQuaternion<f64>, is_moving: bool) -> State {
    State {
        position: point(&position),
        approach: point(&(rotation * Vector3::z())),
        orientation: point(&(rotation * Vector3::y())),
        motion: if is_moving { Motion::Moving } else { Motion::Idle },
    }
}

/// The rotation with these z and y axes.
fn rotation(approach: &Point3d, orientation: &Point3d) -> Result<UnitQuaternion<f64>, String> {
    let unit =
        |given: &Point3d| vector(given)?.try_normalize(SQUARE).ok_or("a vector is too short".to_owned());
    let (z, y) = (unit(approach)?, unit(orientation)?);
    if z.dot(&y).abs() > SQUARE {
        return Err("approach and orientation are not perpendicular".to_owned());
    }
    let x = y.cross(&z).normalize();
    let matrix = Matrix3::from_columns(&[x, z.cross(&x), z]);
    Ok(UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix)))
}

impl Limb {
    fn pose(&self) -> Result<(Vector3<f64>, UnitQuaternion<f64>), String> {
        lock(&self.measured).pose.ok_or_else(|| "the arm has not been measured yet".to_owned())
    }

    /// Moves the end effector on a straight line.
    fn move_to(&self, position: Vector3<f64>, rotation: UnitQuaternion<f64>) -> Result<Answer, String> {
        let way = (position - self.pose()?.0).norm();
        let q = rotation.coords;
        let [x, y, z, w] = normalized([q.x, q.y, q.z, q.w]).ok_or("not a rotation")?;
        let pose = geometry_msgs::msg::Pose {
            position: geometry_msgs::msg::Point { x: position.x, y: position.y, z: position.z },
            orientation: geometry_msgs::msg::Quaternion { x, y, z, w },
        };
        let min_duration = self.speed.map_or(0.0, |speed| way / speed);
        let (halted, services) = (self.halted(), Arc::clone(&self.services));
        Ok(async move {
            halted.await?;
            services.mode(CARTESIAN).await?;
            let request = dragoman_msgs::srv::SetGoalPose::Request { pose, min_duration };
            services.set_pose.ask(request, |response| done(response.success, response.message)).await?;
            services.begin.trigger().await
        }
        .boxed())
    }

    fn home(&self) -> Result<Answer, String> {
        if self.names.home.is_empty() {
            return Err("the table names no home position".to_owned());
        }
        let position = self.names.home.clone();
        let (halted, services) = (self.halted(), Arc::clone(&self.services));
        Ok(async move {
            halted.await?;
            services.mode(JOINT).await?;
            let request = dragoman_msgs::srv::SetJointGoal::Request { position, min_duration: 0.0 };
            services.set_joints.ask(request, |response| done(response.success, response.message)).await?;
            services.begin_joints.trigger().await
        }
        .boxed())
    }

    /// Ends the motion that is in progress: a new command replaces it.
    fn halted(&self) -> Answer {
        let (measured, services) = (Arc::clone(&self.measured), Arc::clone(&self.services));
        async move {
            if !lock(&measured).is_moving {
                return Ok(Vec::new());
            }
            services.stop.trigger().await?;
            let still = async {
                while lock(&measured).is_moving {
                    tokio::time::sleep(LOOK).await;
                }
            };
            let late = |_| "the arm does not stop".to_owned();
            tokio::time::timeout(HALT_LIMIT, still).await.map_err(late)?;
            Ok(Vec::new())
        }
        .boxed()
    }

    fn command(&self, subtype: u8, body: &[u8]) -> Result<Answer, String> {
        match subtype {
            subtype if subtype == HOME.subtype => self.home(),
            subtype if subtype == STOP.subtype => Ok(self.services.stop.trigger()),
            subtype if subtype == SET_POSE.subtype => {
                let Pose { position, approach, orientation } = SET_POSE.body(body)?;
                self.move_to(vector(&position)?, rotation(&approach, &orientation)?)
            }
            subtype if subtype == SET_POSITION.subtype => {
                let position = vector(&SET_POSITION.body(body)?)?;
                self.move_to(position, self.pose()?.1)
            }
            subtype if subtype == MOVE_ALONG.subtype => {
                let Move { direction, length } = MOVE_ALONG.body(body)?;
                let direction =
                    vector(&direction)?.try_normalize(f64::EPSILON).ok_or("a direction of length 0")?;
                if !length.is_finite() {
                    return Err("a length is finite".to_owned());
                }
                let (position, rotation) = self.pose()?;
                self.move_to(position + direction * f64::from(length), rotation)
            }
            subtype => Err(format!("there is no command {subtype}")),
        }
    }
}

impl Driver for Limb {
    fn handle_command(&mut self, subtype: u8, body: &[u8]) -> Result<(), String> {
        let command = self.command(subtype, body)?;
        if let Some(last) = self.command.replace(obey(command)) {
            last.abort();
        }
        self.is_commanded = subtype != STOP.subtype;
        Ok(())
    }

    fn handle_request(&mut self, subtype: u8, body: &[u8]) -> Result<Answer, String> {
        Ok(match subtype {
            subtype if subtype == POWER.subtype => {
                let Services { enable, disable, .. } = &*self.services;
                if POWER.question(body)? { enable.trigger() } else { disable.trigger() }
            }
            subtype if subtype == GET_GEOMETRY.subtype => {
                acknowledged(&point(&Vector3::from(self.names.base)))
            }
            subtype if subtype == SET_SPEED.subtype => {
                let speed = f64::from(SET_SPEED.question(body)?);
                if !speed.is_finite() || speed <= 0.0 {
                    return Err("a speed is positive, m/s".to_owned());
                }
                self.speed = Some(speed);
                acknowledged(&())
            }
            subtype if subtype == BRAKES.subtype => return Err("the drives handle their brakes".to_owned()),
            _ => return Err(format!("the arm has no request {subtype}")),
        })
    }

    fn handle_release(&mut self) {
        // Somebody else's motion is not stopped.
        if std::mem::take(&mut self.is_commanded) && lock(&self.measured).is_moving {
            let _ = obey(self.services.stop.trigger());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_and_rotations_belong_to_each_other() {
        let there = UnitQuaternion::from_euler_angles(0.3, -0.7, 2.1);
        let State { approach, orientation, .. } = state(Vector3::zeros(), &there, false);
        assert!(rotation(&approach, &orientation).unwrap().angle_to(&there) < 1e-9);
        assert!(rotation(&approach, &approach).is_err());
        assert!(rotation(&Point3d::default(), &orientation).is_err());
        assert!(rotation(&Point3d { x: f64::NAN, ..Point3d::default() }, &orientation).is_err());
    }
}
