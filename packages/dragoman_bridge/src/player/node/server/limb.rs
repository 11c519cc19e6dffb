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
    Driver, Feed, Opened, OutcomeFuture, Service, Setup, acknowledged, execute_command, other_interface,
    qualified_name, service_outcome,
};
use crate::BridgeError;
use crate::arm31::rotation::normalized;
use crate::player::node::tool::{approach, orientation, point, rotation, vector};
use crate::player::server::Outcome;
use crate::player::wire::limb::{BRAKES, Command, HOME, Motion, Move, Pose, Request, STATE, State};
use crate::player::wire::{self, Device, MessageKind};

/// Command modes of the motion pipeline. In the mode off, the arm obeys its joints' own topics.
const OFF: u8 = 0;
const JOINT: u8 = 1;
const CARTESIAN: u8 = 2;

/// Entry of an arm in the device table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimbConfig {
    /// Namespace of `pose`, `motion_status`, `set_command_mode`, `set_goal_pose`, `begin_motion` and so on.
    arm: String,
    /// Position of the base on the robot, m.
    #[serde(default)]
    base: [f64; 3],
    /// Joint positions of the home position, rad or m; empty: the arm has no home position.
    #[serde(default)]
    home: Vec<f64>,
}

/// Period and time limit of the check whether a motion has ended.
const CHECK_PERIOD: Duration = Duration::from_millis(20);
const STOP_TIMEOUT: Duration = Duration::from_secs(3);
/// A motion that is not reported this long after its start counts as finished: the arm was already at the goal.
const START_TIMEOUT: Duration = Duration::from_secs(1);
/// Time limit for a cancelled command to end; after it the arm is stopped anyway. The arm's node runs longer than this
/// after the last client has disconnected.
const CANCEL_TIMEOUT: Duration = Duration::from_millis(500);

/// Measured state, and whether a client's command moves the arm.
#[derive(Default)]
struct Measured {
    pose: Option<(Vector3<f64>, UnitQuaternion<f64>)>,
    is_moving: bool,
    /// A client's command has begun a motion whose end was not reported yet.
    has_started: bool,
    /// Whether that motion was reported.
    was_reported: bool,
    /// The command mode, as last reported.
    mode: Option<u8>,
    /// The mode that a client's command has set.
    mode_change: Option<ModeChange>,
}

/// A command mode that a client's command needed.
#[derive(Clone, Copy)]
struct ModeChange {
    mode: u8,
    /// The mode before that command.
    before: u8,
}

impl Measured {
    /// The arm reports whether it moves. A motion that has started may be reported later.
    fn report(&mut self, is_moving: bool) {
        self.is_moving = is_moving;
        if is_moving {
            self.was_reported = self.has_started;
        } else if self.was_reported {
            (self.has_started, self.was_reported) = (false, false);
        }
    }

    /// Whether a motion is in progress, or may be.
    fn is_active(&self) -> bool {
        self.is_moving || self.has_started
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
    fn mode(&self, mode: u8) -> OutcomeFuture {
        let request = dragoman_msgs::srv::SetCommandMode::Request { mode };
        self.set_mode.ask(request, |response| service_outcome(response.success, response.message))
    }
}

/// Goal of a command.
#[derive(Debug)]
enum Goal {
    Stop,
    Joints(Vec<f64>),
    /// Motion on a straight line.
    Pose {
        pose: geometry_msgs::msg::Pose,
        min_duration: f64,
    },
}

/// A command in progress. Steps that have not started yet can be cancelled. A service call cannot be cancelled, and the
/// order of two service calls is only certain if the second one is made after the answer to the first one.
struct Running {
    is_cancelled: Arc<AtomicBool>,
    end: Task<()>,
}

impl Running {
    fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }
}

struct Limb {
    config: LimbConfig,
    measured: Arc<Mutex<Measured>>,
    services: Arc<Services>,
    /// Speed of the end effector, m/s; `None`: as fast as the arm's limits allow.
    speed: Option<f64>,
    /// Whether a client has moved the arm, and has not stopped it.
    is_commanded: bool,
    /// The last command. The next command replaces it.
    running: Option<Running>,
}

pub(super) fn open(
    config: &LimbConfig,
    device: Device,
    setup: &Setup,
    feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let name = |name: &str| qualified_name(&config.arm, name);
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
            config: config.clone(),
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
        if self.config.home.is_empty() {
            return Err("the table names no home position".to_owned());
        }
        Ok(Goal::Joints(self.config.home.clone()))
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

/// Ends the motion in progress, and cancels the last command.
async fn stop_motion(measured: &Mutex<Measured>, services: &Services, last: Option<Running>) -> Outcome {
    if measured.lock().is_active() {
        services.stop.trigger().await?;
    }
    let Some(last) = last.filter(|last| !last.end.is_finished()) else { return Ok(Vec::new()) };
    // The command may be starting the motion at this moment.
    let _ = dragoman_time::timeout(CANCEL_TIMEOUT, last.end).await;
    if measured.lock().is_active() {
        services.stop.trigger().await?;
    }
    Ok(Vec::new())
}

/// Waits until the arm stands, after [`stop_motion`].
async fn wait_until_stopped(measured: &Mutex<Measured>) -> Outcome {
    let stopped = async {
        while measured.lock().is_moving {
            dragoman_time::sleep(CHECK_PERIOD).await;
        }
    };
    let late = |_| "the arm does not stop".to_owned();
    dragoman_time::timeout(STOP_TIMEOUT, stopped).await.map_err(late)?;
    let mut measured = measured.lock();
    (measured.has_started, measured.was_reported) = (false, false);
    Ok(Vec::new())
}

/// Sets the mode that a command needs.
async fn switch_mode(measured: &Mutex<Measured>, services: &Services, mode: u8) -> Outcome {
    let before = {
        let measured = measured.lock();
        measured.mode_change.map_or_else(|| measured.mode.unwrap_or(OFF), |change| change.before)
    };
    let outcome = services.mode(mode).await?;
    let mut measured = measured.lock();
    (measured.mode, measured.mode_change) = (Some(mode), Some(ModeChange { mode, before }));
    Ok(outcome)
}

/// Restores the mode that the arm had before a client's commands. In the mode of the commands the arm ignores other
/// programs.
async fn restore_mode(measured: &Mutex<Measured>, services: &Services) -> Outcome {
    let before = {
        let mut measured = measured.lock();
        let Some(ModeChange { mode, before }) = measured.mode_change.take() else { return Ok(Vec::new()) };
        // Another program may have changed the mode meanwhile.
        (measured.mode == Some(mode) && mode != before).then_some(before)
    };
    let Some(before) = before else { return Ok(Vec::new()) };
    let outcome = services.mode(before).await?;
    measured.lock().mode = Some(before);
    Ok(outcome)
}

/// Waits until the motion of a command has ended, or the command was cancelled.
async fn wait_until_ended(measured: &Mutex<Measured>, is_cancelled: &AtomicBool) {
    let begun = dragoman_time::now();
    while !is_cancelled.load(Ordering::Relaxed) {
        {
            let mut measured = measured.lock();
            if !measured.is_moving && !measured.was_reported && dragoman_time::since(begun) > START_TIMEOUT {
                measured.has_started = false;
            }
            if !measured.is_active() {
                return;
            }
        }
        dragoman_time::sleep(CHECK_PERIOD).await;
    }
}

/// Starts a motion, unless its command was cancelled.
async fn begin(
    measured: &Mutex<Measured>,
    service: &Service<std_srvs::srv::Trigger::Service>,
    is_cancelled: &AtomicBool,
) -> Outcome {
    {
        let mut measured = measured.lock();
        if is_cancelled.load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        measured.has_started = true;
    }
    let outcome = service.trigger().await;
    if outcome.is_err() {
        measured.lock().has_started = false;
    }
    outcome
}

async fn carry_out(
    goal: Goal,
    measured: Arc<Mutex<Measured>>,
    services: Arc<Services>,
    last: Option<Running>,
    is_cancelled: Arc<AtomicBool>,
) -> Outcome {
    if let Goal::Stop = goal {
        // Also stops a motion that was not reported.
        services.stop.trigger().await?;
    }
    stop_motion(&measured, &services, last).await?;
    wait_until_stopped(&measured).await?;
    match goal {
        Goal::Stop => Ok(Vec::new()),
        Goal::Joints(position) => {
            switch_mode(&measured, &services, JOINT).await?;
            let request = dragoman_msgs::srv::SetJointGoal::Request { position, min_duration: 0.0 };
            services
                .set_joints
                .ask(request, |response| service_outcome(response.success, response.message))
                .await?;
            begin(&measured, &services.begin_joints, &is_cancelled).await
        }
        Goal::Pose { pose, min_duration } => {
            switch_mode(&measured, &services, CARTESIAN).await?;
            let request = dragoman_msgs::srv::SetGoalPose::Request { pose, min_duration };
            services
                .set_pose
                .ask(request, |response| service_outcome(response.success, response.message))
                .await?;
            begin(&measured, &services.begin, &is_cancelled).await
        }
    }
}

impl Driver for Limb {
    fn handle_command(&mut self, command: wire::Command) -> Result<(), String> {
        let wire::Command::Limb(command) = command else { return other_interface() };
        let goal = self.goal(&command)?;
        let last = self.running.take().inspect(Running::cancel);
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let (measured, services) = (Arc::clone(&self.measured), Arc::clone(&self.services));
        let cancelled = Arc::clone(&is_cancelled);
        let end = dragoman_time::spawn(async move {
            let (arm, asked) = (Arc::clone(&measured), Arc::clone(&services));
            let command = carry_out(goal, arm, asked, last, Arc::clone(&cancelled));
            if execute_command(command.boxed()).await {
                wait_until_ended(&measured, &cancelled).await;
            }
            // The task that cancels a command restores the mode, or needs the mode itself.
            if !cancelled.load(Ordering::Relaxed) {
                let given = async move { restore_mode(&measured, &services).await };
                execute_command(given.boxed()).await;
            }
        });
        self.running = Some(Running { is_cancelled, end });
        self.is_commanded = command != Command::Stop;
        Ok(())
    }

    fn handle_request(&mut self, request: wire::Request) -> Result<OutcomeFuture, String> {
        let wire::Request::Limb(request) = request else { return other_interface() };
        Ok(match request {
            Request::Power(true) => self.services.enable.trigger(),
            Request::Power(false) => self.services.disable.trigger(),
            Request::GetGeometry => acknowledged(&point(&Vector3::from(self.config.base))),
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
        // A stop command continues, and another program's motion is not stopped.
        if std::mem::take(&mut self.is_commanded) {
            let last = self.running.take().inspect(Running::cancel);
            let (measured, services) = (Arc::clone(&self.measured), Arc::clone(&self.services));
            let halted = async move {
                stop_motion(&measured, &services, last).await?;
                wait_until_stopped(&measured).await?;
                restore_mode(&measured, &services).await
            };
            dragoman_time::spawn(execute_command(halted.boxed()));
        }
    }

    fn shutdown_delay(&self) -> Duration {
        STOP_TIMEOUT + Duration::from_secs(1)
    }

    fn unsupported(&self) -> Vec<(MessageKind, u8)> {
        let home = self.config.home.is_empty().then_some(HOME.id());
        home.into_iter().chain([BRAKES.id()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motion_counts_from_its_beginning_to_its_reported_end() {
        let mut measured = Measured::default();
        // The end of an earlier motion does not count as the end of this one.
        measured.report(true);
        measured.has_started = true;
        measured.report(false);
        assert!(measured.is_active(), "it was not reported yet");
        measured.report(true);
        assert!(measured.is_active());
        measured.report(false);
        assert!(!measured.is_active());
    }
}
