//! `actarray` from joints that have `<joint>/command`, as the joints of all arms of Dragoman.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman_kinematics::Model;
use dragoman_ros::naming::joint_token;
use dragoman_ros::{QosProfile, arbotix_msgs, sensor_msgs};
use futures::future::{FutureExt, join_all};
use parking_lot::Mutex;
use serde::Deserialize;

use super::description::{self, LinkGeometry};
use super::driver::{
    DISCOVERY, Driver, Feed, Opened, OutcomeFuture, Service, Setup, execute_command, other_interface,
    qualified_name,
};
use super::joint_command::{JointCommand, JointName, Pipeline};
use crate::BridgeError;
use crate::player::wire::actarray::{
    self, Command, Geometry, JointGeometry, JointKind, JointPosition, JointSpeed, Positions, Request, Speeds,
};
use crate::player::wire::common::{Orientation3d, Point3d};
use crate::player::wire::{self, Device, MessageKind, Xdr};

/// Speed above which a joint counts as moving, rad/s or m/s.
pub(super) const MOVING: f64 = 0.01;
/// Distance at which a joint has reached its goal, rad or m.
const REACHED: f32 = 0.02;
/// A joint that still stands this long after a command has ended its motion.
const START_TIMEOUT: Duration = Duration::from_secs(1);

/// Entry of an arm in the device table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArmConfig {
    /// Topic with `sensor_msgs/JointState`.
    joint_states: String,
    /// The joints, base first.
    joints: Vec<JointName>,
    /// Namespace of `<joint>/command`, `<joint>/relax`, `<joint>/enable` and `<joint>/set_speed`.
    #[serde(default)]
    namespace: String,
    /// Minimum and maximum position of each joint, rad or m.
    limits: Vec<[f64; 2]>,
    /// Home position of each joint, rad or m; 0 without it.
    #[serde(default)]
    home: Vec<f32>,
    /// Namespace of a motion pipeline's `motion_status` and `set_command_mode`. A command of a joint switches it off.
    #[serde(default)]
    pipeline: Option<String>,
    /// Source of the links' lengths; without it they are unknown.
    #[serde(default)]
    description: Option<description::DescriptionConfig>,
}

impl ArmConfig {
    /// Checks the values. Error: the reason why the entry is invalid.
    pub(super) fn check(&self) -> Result<(), String> {
        let joints = self.joints.len();
        if joints == 0 || self.limits.len() != joints || !(self.home.is_empty() || self.home.len() == joints)
        {
            return Err("an arm has a pair of limits, and if at all a home position, per joint".to_owned());
        }
        if !self.limits.iter().all(|[min, max]| min.is_finite() && max.is_finite() && min <= max) {
            return Err("limits are finite, the least before the greatest".to_owned());
        }
        Ok(())
    }

    /// The limits of a joint in the precision of Player.
    #[allow(clippy::cast_possible_truncation, reason = "Player's joints have single precision")]
    fn limits(&self, index: usize) -> [f32; 2] {
        self.limits.get(index).copied().unwrap_or_default().map(|limit| limit as f32)
    }

    fn home(&self, index: usize) -> f32 {
        self.home.get(index).copied().unwrap_or(0.0)
    }
}

struct Joint {
    /// Minimum and maximum position, rad or m.
    limits: [f64; 2],
    command: JointCommand,
    last: Mutex<Last>,
    relax: Service<arbotix_msgs::srv::Relax::Service>,
    enable: Service<arbotix_msgs::srv::Enable::Service>,
    set_speed: Service<arbotix_msgs::srv::SetSpeed::Service>,
}

/// The last command of a joint.
#[derive(Default)]
struct Last {
    /// Goal of the last command of a client, and when it came.
    goal: Option<(f32, Instant)>,
    /// Speed that the joint has to get before the motion starts.
    speed: Option<f32>,
    /// Whether a call that sets the joint's speed is in progress.
    is_setting_speed: bool,
}

struct Arm {
    config: ArmConfig,
    joints: Vec<Arc<Joint>>,
    measured: Arc<Mutex<Vec<actarray::Joint>>>,
    is_on: Arc<Mutex<bool>>,
    description: Option<description::Newest>,
}

/// Position and speed of a joint.
pub(super) fn measured(state: &sensor_msgs::msg::JointState, joint: &str) -> Option<[f64; 2]> {
    let index = state.name.iter().position(|name| name == joint)?;
    Some([*state.position.get(index)?, state.velocity.get(index).copied().unwrap_or(0.0)])
}

pub(super) fn open_arm(
    config: &ArmConfig,
    device: Device,
    setup: &Setup,
    feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let pipeline =
        config.pipeline.as_ref().map(|namespace| Pipeline::new(&mut tasks, namespace)).transpose()?;
    let pipeline = pipeline.map(Arc::new);
    let mut joints = Vec::new();
    for (joint, limits) in config.joints.iter().zip(&config.limits) {
        let service =
            |name: &str| qualified_name(&config.namespace, &format!("{}/{name}", joint_token(joint)));
        joints.push(Arc::new(Joint {
            limits: *limits,
            command: JointCommand::new(&mut tasks, &config.namespace, joint, pipeline.clone())?,
            last: Mutex::default(),
            relax: Service::new(&mut tasks, &service("relax"))?,
            enable: Service::new(&mut tasks, &service("enable"))?,
            set_speed: Service::new(&mut tasks, &service("set_speed"))?,
        }));
    }
    let is_on = Arc::new(Mutex::new(true));
    let (chain, power) = (config.joints.clone(), Arc::clone(&is_on));
    let newest = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&newest);
    tasks.subscribe(
        &config.joint_states,
        QosProfile::sensor_data(),
        move |state: sensor_msgs::msg::JointState| {
            // Ignores messages about other joints, or about only some of these joints.
            let values: Option<Vec<_>> = chain.iter().map(|joint| measured(&state, joint)).collect();
            let Some(values) = values else { return };
            let joints: Vec<actarray::Joint> = values.into_iter().map(joint_state).collect();
            received.lock().clone_from(&joints);
            let state_of_arm = actarray::State { joints, motors_on: *power.lock() };
            feed.send(&actarray::STATE, &state.header.stamp, &state_of_arm);
        },
    )?;
    let description = description::listen(config.description.as_ref(), &mut tasks)?;
    Ok(Opened::new(Arm { config: config.clone(), joints, measured: newest, is_on, description }, tasks)?)
}

#[allow(clippy::cast_possible_truncation, reason = "Player's joints have single precision")]
pub(super) fn joint_state([position, speed]: [f64; 2]) -> actarray::Joint {
    let state = if speed.abs() > MOVING { actarray::JointState::Moving } else { actarray::JointState::Idle };
    actarray::Joint { position: position as f32, speed: speed as f32, acceleration: 0.0, current: 0.0, state }
}

impl Joint {
    fn move_to(&self, position: f32) {
        let mut last = self.last.lock();
        (last.goal, last.speed) = (Some((position, dragoman_time::now())), None);
        self.publish(position);
    }

    /// Clamps a position: a limit in single precision may be outside the arm's range.
    fn publish(&self, position: f32) {
        let [min, max] = self.limits;
        self.command.send(f64::from(position).clamp(min, max));
    }

    /// Moves with a speed to a limit. The joint's speed is set first, so the motion starts a little later, unless
    /// another command arrives meanwhile.
    fn move_with(self: &Arc<Self>, speed: f32) {
        let mut last = self.last.lock();
        last.speed = Some(speed);
        if !std::mem::replace(&mut last.is_setting_speed, true) {
            dragoman_time::spawn(Arc::clone(self).apply_speed(speed));
        }
    }

    /// Sets the joint's speed, and then newer speeds that have arrived meanwhile.
    #[allow(clippy::cast_possible_truncation, reason = "Player's joints have single precision")]
    async fn apply_speed(self: Arc<Self>, speed: f32) {
        let mut wanted = speed;
        loop {
            let request = arbotix_msgs::srv::SetSpeed::Request { speed: wanted.abs().into() };
            let is_set = execute_command(self.set_speed.ask(request, |_| Ok(Vec::new()))).await;
            let mut last = self.last.lock();
            let newest = last.speed.filter(|_| is_set);
            if let Some(newest) = newest.filter(|newest| newest.signum() == wanted.signum()) {
                let [min, max] = self.limits;
                let goal = (if newest > 0.0 { max } else { min }) as f32;
                last.goal = Some((goal, dragoman_time::now()));
                self.publish(goal);
            }
            match newest {
                Some(newest) if newest != wanted => wanted = newest,
                _ => {
                    (last.speed, last.is_setting_speed) = (None, false);
                    return;
                }
            }
        }
    }

    /// Stops the joint if a client's command still moves it.
    fn release(&self, measured: &actarray::Joint) {
        let mut last = self.last.lock();
        last.speed = None;
        self.command.cancel();
        let Some((goal, since)) = last.goal.take() else { return };
        if !self.command.is_obeyed() {
            // Another program moves the arm now.
            return;
        }
        let may_move =
            f64::from(measured.speed).abs() > MOVING || dragoman_time::since(since) < START_TIMEOUT;
        if may_move && (goal - measured.position).abs() > REACHED {
            self.publish(measured.position);
        }
    }
}

impl Arm {
    fn joint(&self, number: i32) -> Result<(usize, &Arc<Joint>), String> {
        let index = usize::try_from(number).ok();
        index.and_then(|index| Some((index, self.joints.get(index)?))).ok_or_else(|| {
            format!(
                "there is no joint {number}; the arm has joints 0 to {}",
                self.joints.len().saturating_sub(1)
            )
        })
    }

    /// Checks a position. Either all joints of a command move, or none.
    fn check(&self, index: usize, position: f32) -> Result<(), String> {
        let [min, max] = self.config.limits(index);
        if (min..=max).contains(&position) {
            return Ok(());
        }
        Err(format!("{position} is not a position of joint {index}, which has {min} to {max}"))
    }

    fn move_to(&self, number: i32, position: f32) -> Result<(), String> {
        let (index, joint) = self.joint(number)?;
        self.check(index, position)?;
        joint.move_to(position);
        Ok(())
    }

    fn move_all(&self, positions: &[f32]) -> Result<(), String> {
        if positions.len() != self.joints.len() {
            return Err(format!("{} positions for {} joints", positions.len(), self.joints.len()));
        }
        for (index, position) in positions.iter().enumerate() {
            self.check(index, *position)?;
        }
        for (joint, position) in self.joints.iter().zip(positions) {
            joint.move_to(*position);
        }
        Ok(())
    }

    /// Moves a joint with a speed to its limit, or until the next command.
    fn move_with(&self, number: i32, speed: f32) -> Result<(), String> {
        let (index, joint) = self.joint(number)?;
        if !speed.is_finite() {
            return Err("a speed is finite".to_owned());
        }
        if speed == 0.0 {
            let position = self.measured.lock().get(index).map(|joint| joint.position);
            joint.move_to(position.ok_or("the arm has not been measured yet")?);
            return Ok(());
        }
        joint.move_with(speed);
        Ok(())
    }

    fn set_power(&self, on: bool) -> OutcomeFuture {
        let answers: Vec<OutcomeFuture> = self
            .joints
            .iter()
            .map(|joint| {
                if on {
                    let request = arbotix_msgs::srv::Enable::Request { enable: true };
                    joint.enable.ask(request, |response| {
                        if response.state { Ok(Vec::new()) } else { Err("a joint stays off".to_owned()) }
                    })
                } else {
                    joint.relax.ask(arbotix_msgs::srv::Relax::Request::default(), |_| Ok(Vec::new()))
                }
            })
            .collect();
        let is_on = Arc::clone(&self.is_on);
        async move {
            join_all(answers).await.into_iter().collect::<Result<Vec<_>, _>>()?;
            *is_on.lock() = on;
            Ok(Vec::new())
        }
        .boxed()
    }

    fn geometry(&self) -> OutcomeFuture {
        let (config, received) = (self.config.clone(), self.description.clone());
        async move {
            let model = description::newest(received).await;
            Ok(geometry(&config, model.as_deref()).to_bytes())
        }
        .boxed()
    }
}

#[allow(clippy::cast_possible_truncation, reason = "Player's joints have single precision")]
fn geometry(config: &ArmConfig, model: Option<&Model>) -> Geometry {
    let joint = |(index, name): (usize, &JointName)| {
        let [min, max] = config.limits(index);
        let link = model.and_then(|model| description::link(model, name));
        let link = link.unwrap_or_else(|| LinkGeometry {
            length: 0.0,
            direction: Orientation3d::default(),
            axis: Point3d { z: 1.0, ..Point3d::default() },
        });
        JointGeometry {
            kind: JointKind::Rotary,
            length: link.length as f32,
            orientation: link.direction,
            axis: link.axis,
            min,
            center: (min + max) / 2.0,
            max,
            home: config.home(index),
            ..JointGeometry::default()
        }
    };
    let joints = config.joints.iter().enumerate().map(joint).collect();
    let base = model.and_then(|model| model.origins().next()).map(description::pose).unwrap_or_default();
    Geometry { joints, base_position: base.position, base_orientation: base.orientation }
}

impl Driver for Arm {
    fn handle_command(&mut self, command: wire::Command) -> Result<(), String> {
        let wire::Command::Actarray(command) = command else { return other_interface() };
        match command {
            Command::Position(JointPosition { joint, position }) => self.move_to(joint, position),
            Command::MultiPosition(Positions { positions }) => self.move_all(&positions),
            Command::Home(joint) => {
                let homes: Vec<f32> = (0..self.joints.len()).map(|index| self.config.home(index)).collect();
                if joint == -1 {
                    return self.move_all(&homes);
                }
                let home = usize::try_from(joint).ok().and_then(|index| homes.get(index));
                self.move_to(joint, home.copied().unwrap_or(0.0))
            }
            Command::Speed(JointSpeed { joint, speed }) => self.move_with(joint, speed),
            Command::MultiSpeed(Speeds { speeds }) => {
                if speeds.len() != self.joints.len() || !speeds.iter().all(|speed| speed.is_finite()) {
                    return Err(format!("{} finite speeds are needed", self.joints.len()));
                }
                (0..).zip(speeds).try_for_each(|(joint, speed)| self.move_with(joint, speed))
            }
            Command::Current(_) | Command::MultiCurrent(_) => {
                Err("the joints take positions and speeds only".to_owned())
            }
        }
    }

    /// Stops the joints that have not reached their goals.
    fn handle_release(&mut self) {
        for (joint, measured) in self.joints.iter().zip(&*self.measured.lock()) {
            joint.release(measured);
        }
    }

    fn handle_request(&mut self, request: wire::Request) -> Result<OutcomeFuture, String> {
        let wire::Request::Actarray(request) = request else { return other_interface() };
        Ok(match request {
            Request::GetGeometry => self.geometry(),
            Request::Power(on) => self.set_power(on),
            Request::SetSpeed(JointSpeed { joint, speed }) => {
                let (_, joint) = self.joint(joint)?;
                let request = arbotix_msgs::srv::SetSpeed::Request { speed: speed.into() };
                joint.set_speed.ask(request, |_| Ok(Vec::new()))
            }
            Request::Brakes(_) => return Err("the joints have no brakes".to_owned()),
            Request::SetAcceleration(_) => return Err("the joints choose their acceleration".to_owned()),
        })
    }

    fn shutdown_delay(&self) -> Duration {
        // A command may wait for a subscriber, and its speed for a service.
        DISCOVERY + Duration::from_secs(1)
    }

    fn unsupported(&self) -> Vec<(MessageKind, u8)> {
        vec![
            actarray::CURRENT.id(),
            actarray::MULTI_CURRENT.id(),
            actarray::BRAKES.id(),
            actarray::SET_ACCELERATION.id(),
        ]
    }
}
