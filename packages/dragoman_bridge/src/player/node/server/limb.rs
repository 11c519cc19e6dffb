//! `limb` from the motion pipeline of an arm.
//!
//! The approach vector is the z axis of the tool, the orientation vector its y axis.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dragoman_ros::{QosProfile, dragoman_msgs, geometry_msgs, std_srvs};
use dragoman_time::Task;
use futures::future::FutureExt;
use nalgebra::{UnitQuaternion, Vector3};
use parking_lot::Mutex;
use serde::Deserialize;

use super::driver::{
    Answer, Driver, Feed, Opened, Service, Setup, acknowledged, below, carried_out, done, other_interface,
};
use crate::BridgeError;
use crate::arm31::rotation::normalized;
use crate::player::node::tool::{approach, orientation, point, rotation, vector};
use crate::player::server::Outcome;
use crate::player::wire::limb::{BRAKES, Command, HOME, Motion, Move, Pose, Request, STATE, State};
use crate::player::wire::{self, Device, Kind};

/// Command modes of the motion pipeline. In the mode off, the arm obeys its joints' own topics.
const OFF: u8 = 0;
const JOINT: u8 = 1;
const CARTESIAN: u8 = 2;

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
/// A motion that was begun, and is not reported after this time, had nothing to do.
const SETS_OFF: Duration = Duration::from_secs(1);
/// Time limit for the end of a command that was taken back, before the arm is stopped without it. The arm's node runs
/// longer than this after the last client has gone.
const WITHDRAWAL_LIMIT: Duration = Duration::from_millis(500);

/// What is measured, and whether the arm moves because of a client.
#[derive(Default)]
struct Measured {
    pose: Option<(Vector3<f64>, UnitQuaternion<f64>)>,
    is_moving: bool,
    /// A client's command has begun a motion whose end was not reported yet.
    is_begun: bool,
    /// That motion was reported.
    is_seen: bool,
    /// The command mode, as last reported.
    mode: Option<u8>,
    /// The mode that a client's command has set.
    taken: Option<Taken>,
}

/// A command mode that a client's command needed.
#[derive(Clone, Copy)]
struct Taken {
    mode: u8,
    /// The mode before it.
    before: u8,
}

impl Measured {
    /// The arm reports whether it moves. It may take a while to report a motion that has begun.
    fn report(&mut self, is_moving: bool) {
        self.is_moving = is_moving;
        if is_moving {
            self.is_seen = self.is_begun;
        } else if self.is_seen {
            (self.is_begun, self.is_seen) = (false, false);
        }
    }

    /// Whether a motion is in progress, or may be.
    fn is_active(&self) -> bool {
        self.is_moving || self.is_begun
    }
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

/// What a command asks for.
#[derive(Debug)]
enum Goal {
    Stop,
    Joints(Vec<f64>),
    /// On a straight line.
    Pose {
        pose: geometry_msgs::msg::Pose,
        min_duration: f64,
    },
}

/// A command that is being carried out. What it has not begun yet can be taken back; a service that it has asked
/// cannot, and the order of two services is only certain when the first one has answered.
struct Running {
    is_withdrawn: Arc<AtomicBool>,
    end: Task<()>,
}

impl Running {
    fn withdraw(&self) {
        self.is_withdrawn.store(true, Ordering::Relaxed);
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
    running: Option<Running>,
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
        let mut measured = moving.lock();
        measured.mode = Some(status.mode);
        measured.report(status.moving);
    })?;
    let posed = Arc::clone(&measured);
    let qos = QosProfile::sensor_data();
    tasks.subscribe(&name("pose"), qos, move |stamped: geometry_msgs::msg::PoseStamped| {
        let (p, q) = (&stamped.pose.position, &stamped.pose.orientation);
        let rotation = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(q.w, q.x, q.y, q.z));
        let position = Vector3::new(p.x, p.y, p.z);
        let mut measured = posed.lock();
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
            running: None,
        },
        tasks,
    )?)
}

fn state(position: Vector3<f64>, rotation: &UnitQuaternion<f64>, is_moving: bool) -> State {
    State {
        position: point(&position),
        approach: approach(rotation),
        orientation: orientation(rotation),
        motion: if is_moving { Motion::Moving } else { Motion::Idle },
    }
}

impl Limb {
    fn pose(&self) -> Result<(Vector3<f64>, UnitQuaternion<f64>), String> {
        self.measured.lock().pose.ok_or_else(|| "the arm has not been measured yet".to_owned())
    }

    /// Moves the end effector on a straight line.
    fn move_to(&self, position: Vector3<f64>, rotation: UnitQuaternion<f64>) -> Result<Goal, String> {
        let way = (position - self.pose()?.0).norm();
        let q = rotation.coords;
        let [x, y, z, w] = normalized([q.x, q.y, q.z, q.w]).ok_or("not a rotation")?;
        let pose = geometry_msgs::msg::Pose {
            position: geometry_msgs::msg::Point { x: position.x, y: position.y, z: position.z },
            orientation: geometry_msgs::msg::Quaternion { x, y, z, w },
        };
        Ok(Goal::Pose { pose, min_duration: self.speed.map_or(0.0, |speed| way / speed) })
    }

    fn home(&self) -> Result<Goal, String> {
        if self.names.home.is_empty() {
            return Err("the table names no home position".to_owned());
        }
        Ok(Goal::Joints(self.names.home.clone()))
    }

    fn goal(&self, command: &Command) -> Result<Goal, String> {
        match command {
            Command::Home => self.home(),
            Command::Stop => Ok(Goal::Stop),
            Command::SetPose(Pose { position, approach, orientation }) => {
                self.move_to(vector(position)?, rotation(approach, orientation)?)
            }
            Command::SetPosition(position) => self.move_to(vector(position)?, self.pose()?.1),
            Command::MoveAlong(Move { direction, length }) => {
                let direction =
                    vector(direction)?.try_normalize(f64::EPSILON).ok_or("a direction of length 0")?;
                if !length.is_finite() {
                    return Err("a length is finite".to_owned());
                }
                let (position, rotation) = self.pose()?;
                self.move_to(position + direction * f64::from(*length), rotation)
            }
        }
    }
}

/// Ends the motion in progress, and takes back the last command.
async fn halt(measured: &Mutex<Measured>, services: &Services, last: Option<Running>) -> Outcome {
    if measured.lock().is_active() {
        services.stop.trigger().await?;
    }
    let Some(last) = last.filter(|last| !last.end.is_finished()) else { return Ok(Vec::new()) };
    // It may just be asking the arm to begin.
    let _ = dragoman_time::timeout(WITHDRAWAL_LIMIT, last.end).await;
    if measured.lock().is_active() {
        services.stop.trigger().await?;
    }
    Ok(Vec::new())
}

/// Waits until the arm stands, after [`halt`].
async fn still(measured: &Mutex<Measured>) -> Outcome {
    let still = async {
        while measured.lock().is_moving {
            dragoman_time::sleep(LOOK).await;
        }
    };
    let late = |_| "the arm does not stop".to_owned();
    dragoman_time::timeout(HALT_LIMIT, still).await.map_err(late)?;
    let mut measured = measured.lock();
    (measured.is_begun, measured.is_seen) = (false, false);
    Ok(Vec::new())
}

/// Sets the mode that a command needs.
async fn take_mode(measured: &Mutex<Measured>, services: &Services, mode: u8) -> Outcome {
    let before = {
        let measured = measured.lock();
        measured.taken.map_or_else(|| measured.mode.unwrap_or(OFF), |taken| taken.before)
    };
    let outcome = services.mode(mode).await?;
    let mut measured = measured.lock();
    (measured.mode, measured.taken) = (Some(mode), Some(Taken { mode, before }));
    Ok(outcome)
}

/// Restores the mode that the arm had before a client's commands; in theirs it ignores other commanders.
async fn give_mode_back(measured: &Mutex<Measured>, services: &Services) -> Outcome {
    let before = {
        let mut measured = measured.lock();
        let Some(Taken { mode, before }) = measured.taken.take() else { return Ok(Vec::new()) };
        // Somebody else may have changed it meanwhile.
        (measured.mode == Some(mode) && mode != before).then_some(before)
    };
    let Some(before) = before else { return Ok(Vec::new()) };
    let outcome = services.mode(before).await?;
    measured.lock().mode = Some(before);
    Ok(outcome)
}

/// Waits until the motion that a command has begun is over, or the command was taken back.
async fn ended(measured: &Mutex<Measured>, is_withdrawn: &AtomicBool) {
    let begun = dragoman_time::now();
    while !is_withdrawn.load(Ordering::Relaxed) {
        {
            let mut measured = measured.lock();
            if !measured.is_moving && !measured.is_seen && dragoman_time::since(begun) > SETS_OFF {
                measured.is_begun = false;
            }
            if !measured.is_active() {
                return;
            }
        }
        dragoman_time::sleep(LOOK).await;
    }
}

/// Begins a motion, unless its command was taken back.
async fn begin(
    measured: &Mutex<Measured>,
    service: &Service<std_srvs::srv::Trigger::Service>,
    is_withdrawn: &AtomicBool,
) -> Outcome {
    {
        let mut measured = measured.lock();
        if is_withdrawn.load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        measured.is_begun = true;
    }
    let outcome = service.trigger().await;
    if outcome.is_err() {
        measured.lock().is_begun = false;
    }
    outcome
}

async fn carry_out(
    goal: Goal,
    measured: Arc<Mutex<Measured>>,
    services: Arc<Services>,
    last: Option<Running>,
    is_withdrawn: Arc<AtomicBool>,
) -> Outcome {
    if let Goal::Stop = goal {
        // Also a motion that was not reported.
        services.stop.trigger().await?;
    }
    halt(&measured, &services, last).await?;
    still(&measured).await?;
    match goal {
        Goal::Stop => Ok(Vec::new()),
        Goal::Joints(position) => {
            take_mode(&measured, &services, JOINT).await?;
            let request = dragoman_msgs::srv::SetJointGoal::Request { position, min_duration: 0.0 };
            services.set_joints.ask(request, |response| done(response.success, response.message)).await?;
            begin(&measured, &services.begin_joints, &is_withdrawn).await
        }
        Goal::Pose { pose, min_duration } => {
            take_mode(&measured, &services, CARTESIAN).await?;
            let request = dragoman_msgs::srv::SetGoalPose::Request { pose, min_duration };
            services.set_pose.ask(request, |response| done(response.success, response.message)).await?;
            begin(&measured, &services.begin, &is_withdrawn).await
        }
    }
}

impl Driver for Limb {
    fn handle_command(&mut self, command: wire::Command) -> Result<(), String> {
        let wire::Command::Limb(command) = command else { return other_interface() };
        let goal = self.goal(&command)?;
        let last = self.running.take().inspect(Running::withdraw);
        let is_withdrawn = Arc::new(AtomicBool::new(false));
        let (measured, services) = (Arc::clone(&self.measured), Arc::clone(&self.services));
        let withdrawn = Arc::clone(&is_withdrawn);
        let end = dragoman_time::spawn(async move {
            let (arm, asked) = (Arc::clone(&measured), Arc::clone(&services));
            let command = carry_out(goal, arm, asked, last, Arc::clone(&withdrawn));
            if carried_out(command.boxed()).await {
                ended(&measured, &withdrawn).await;
            }
            // Who takes a command back gives the mode back, or needs it.
            if !withdrawn.load(Ordering::Relaxed) {
                let given = async move { give_mode_back(&measured, &services).await };
                carried_out(given.boxed()).await;
            }
        });
        self.running = Some(Running { is_withdrawn, end });
        self.is_commanded = command != Command::Stop;
        Ok(())
    }

    fn handle_request(&mut self, request: wire::Request) -> Result<Answer, String> {
        let wire::Request::Limb(request) = request else { return other_interface() };
        Ok(match request {
            Request::Power(true) => self.services.enable.trigger(),
            Request::Power(false) => self.services.disable.trigger(),
            Request::GetGeometry => acknowledged(&point(&Vector3::from(self.names.base))),
            Request::SetSpeed(speed) => {
                let speed = f64::from(speed);
                if !speed.is_finite() || speed <= 0.0 {
                    return Err("a speed is positive, m/s".to_owned());
                }
                self.speed = Some(speed);
                acknowledged(&())
            }
            Request::Brakes(_) => return Err("the drives handle their brakes".to_owned()),
        })
    }

    fn handle_release(&mut self) {
        // A command to stop goes on, and somebody else's motion is not stopped.
        if std::mem::take(&mut self.is_commanded) {
            let last = self.running.take().inspect(Running::withdraw);
            let (measured, services) = (Arc::clone(&self.measured), Arc::clone(&self.services));
            let halted = async move {
                halt(&measured, &services, last).await?;
                still(&measured).await?;
                give_mode_back(&measured, &services).await
            };
            dragoman_time::spawn(carried_out(halted.boxed()));
        }
    }

    fn farewell(&self) -> Duration {
        HALT_LIMIT + Duration::from_secs(1)
    }

    fn lacks(&self) -> Vec<(Kind, u8)> {
        let home = self.names.home.is_empty().then_some(HOME.id());
        home.into_iter().chain([BRAKES.id()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motion_counts_from_its_beginning_to_its_reported_end() {
        let mut measured = Measured::default();
        // The end of an earlier motion is not that of this one.
        measured.report(true);
        measured.is_begun = true;
        measured.report(false);
        assert!(measured.is_active(), "it was not reported yet");
        measured.report(true);
        assert!(measured.is_active());
        measured.report(false);
        assert!(!measured.is_active());
    }
}
