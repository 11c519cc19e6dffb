//! `actarray`: the joints of an arm. `gripper`: its fingers.

use dragoman_ros::arbotix_msgs::srv::SetSpeed;
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::std_msgs::msg::{Float64, String as Text};
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_ros::{Publisher, QosProfile, Result as RosResult};

use super::device_handle::DeviceHandle;
use super::devices_node::{DeviceSetup, DeviceTopics};
use super::messages::report;
use super::scene::Scene;
use crate::player::wire::actarray::{self, JointPosition, JointSpeed, Positions};
use crate::player::wire::gripper::{self, Fingers};
use crate::player::wire::{Answer, Data, OneWayMessage, RequestMessage, Xdr};

/// All joints.
const ALL: i32 = -1;
/// Maximum number of joints with their own topics.
const MAX_JOINTS: usize = 64;

struct Actarray {
    states: Publisher<JointState>,
    /// Prefix of the joints' numbers.
    name: String,
}

pub(super) fn actarray(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    let name = format!("{}_joint", setup.names.frame);
    let count = setup.info.facts.iter().find_map(|fact| match fact {
        Answer::Actarray(actarray::Answer::GetGeometry(geometry)) => Some(geometry.joints.len()),
        _ => None,
    });
    for joint in 0..count.unwrap_or_default().min(MAX_JOINTS) {
        serve_joint(setup, &format!("{name}_{joint}"), joint)?;
    }
    let (handle, names) = (setup.handle.clone(), name.clone());
    setup.tasks.subscribe(
        &setup.names.topic("joint_command"),
        QosProfile::default(),
        move |state: JointState| {
            if let Err(reason) = command(&handle, &names, &state) {
                handle.problem(format!("joint_command: {reason}"));
            }
        },
    )?;
    serve_switch(setup, "set_power", &actarray::POWER)?;
    serve_switch(setup, "set_brakes", &actarray::BRAKES)?;
    serve_command(setup, "home", &actarray::HOME, ALL)?;
    Ok(Box::new(Actarray { states: setup.publisher("joint_states")?, name }))
}

#[allow(clippy::cast_possible_truncation, reason = "the protocol has single precision")]
fn serve_joint(setup: &mut DeviceSetup<'_>, name: &str, number: usize) -> RosResult<()> {
    let joint = i32::try_from(number).unwrap_or_default();
    let handle = setup.handle.clone();
    setup.tasks.subscribe(&format!("{name}/command"), QosProfile::default(), move |message: Float64| {
        if message.data.is_finite() {
            handle.send_command(&actarray::POSITION, JointPosition { joint, position: message.data as f32 });
        } else {
            handle.problem(format!("joint {joint}: the position is not finite"));
        }
    })?;
    let what = format!("set_speed of joint {joint}");
    serve_speed(setup, &format!("{name}/set_speed"), what, &actarray::SET_SPEED, move |speed| JointSpeed {
        joint,
        speed,
    })
}

/// Sends positions: of the named joints, or of all.
#[allow(clippy::cast_possible_truncation, reason = "the protocol has single precision")]
fn command(handle: &DeviceHandle, names: &str, state: &JointState) -> Result<(), String> {
    if !state.position.iter().all(|position| position.is_finite()) {
        return Err("a position is not finite".to_owned());
    }
    if state.name.is_empty() {
        let positions = state.position.iter().map(|position| *position as f32).collect();
        handle.send_command(&actarray::MULTI_POSITION, Positions { positions });
        return Ok(());
    }
    if state.name.len() != state.position.len() {
        let (names, positions) = (state.name.len(), state.position.len());
        return Err(format!("{names} names and {positions} positions"));
    }
    let number = |name: &String| {
        let number = name.strip_prefix(names)?.strip_prefix('_')?.parse::<i32>().ok()?;
        (number >= 0).then_some(number)
    };
    let joints: Option<Vec<i32>> = state.name.iter().map(number).collect();
    let joints = joints.ok_or_else(|| format!("the joints are {names}_0 and so on"))?;
    for (joint, position) in joints.into_iter().zip(&state.position) {
        handle.send_command(&actarray::POSITION, JointPosition { joint, position: *position as f32 });
    }
    Ok(())
}

/// A service that switches something on and off.
pub(super) fn serve_switch(
    setup: &mut DeviceSetup<'_>,
    name: &str,
    message: &'static RequestMessage<bool, ()>,
) -> RosResult<()> {
    setup.serve::<SetBool::Service, _>(name, move |handle, request| async move {
        handle.ask(message, request.data).await?;
        Ok(SetBool::Response { success: true, ..Default::default() })
    })
}

/// A service that sets a speed. Its response has no field for the reason of a refusal, so a refusal is reported as a
/// problem of the device; `what` is its subject.
pub(super) fn serve_speed<T: Xdr + Default + Send + 'static>(
    setup: &mut DeviceSetup<'_>,
    topic: &str,
    what: String,
    message: &'static RequestMessage<T, ()>,
    question: impl Fn(f32) -> T + Send + 'static,
) -> RosResult<()> {
    let handle = setup.handle.clone();
    setup.tasks.serve_later::<SetSpeed::Service, _>(topic, move |request| {
        #[allow(clippy::cast_possible_truncation, reason = "the protocol has single precision")]
        let speed = request.speed as f32;
        let (handle, what) = (handle.clone(), what.clone());
        let question = speed.is_finite().then(|| question(speed));
        async move {
            let set = match question {
                Some(question) => handle.ask(message, question).await,
                None => Err("the speed is not finite".to_owned()),
            };
            if let Err(reason) = set {
                handle.problem(format!("{what}: {reason}"));
            }
            SetSpeed::Response::default()
        }
    })
}

/// A service that sends a command, which has no answer.
pub(super) fn serve_command<T>(
    setup: &mut DeviceSetup<'_>,
    name: &str,
    message: &'static OneWayMessage<T>,
    command: T,
) -> RosResult<()>
where
    T: Xdr + Clone + Send + 'static,
{
    setup.serve::<Trigger::Service, _>(name, move |handle, _| {
        let command = command.clone();
        async move {
            handle.command(message, command).await?;
            Ok(Trigger::Response { success: true, ..Default::default() })
        }
    })
}

impl DeviceTopics for Actarray {
    fn show(&mut self, scene: &mut Scene, stamp: &Time, data: Data) -> Result<(), String> {
        let Data::Actarray(actarray::Data::State(state)) = data else { return Ok(()) };
        let joints = &state.joints;
        let message = JointState {
            header: scene.header(stamp, ""),
            name: (0..joints.len()).map(|joint| format!("{}_{joint}", self.name)).collect(),
            position: joints.iter().map(|joint| joint.position.into()).collect(),
            velocity: joints.iter().map(|joint| joint.speed.into()).collect(),
            effort: Vec::new(),
        };
        report(self.states.publish(&message), "joint_states");
        Ok(())
    }
}

struct Gripper(Publisher<Text>);

pub(super) fn gripper(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    for fact in &setup.info.facts {
        if let Answer::Gripper(gripper::Answer::GetGeometry(geometry)) = fact {
            let base = format!("{}base_footprint", setup.names.base);
            setup.scene.fix(&base, &setup.names.frame, &geometry.pose);
        }
    }
    for (name, message) in [
        ("gripper/open", &gripper::OPEN),
        ("gripper/close", &gripper::CLOSE),
        ("gripper/stop", &gripper::STOP),
        ("gripper/store", &gripper::STORE),
        ("gripper/retrieve", &gripper::RETRIEVE),
    ] {
        serve_command(setup, name, message, ())?;
    }
    Ok(Box::new(Gripper(setup.publisher("gripper/state")?)))
}

impl DeviceTopics for Gripper {
    fn show(&mut self, _scene: &mut Scene, _stamp: &Time, data: Data) -> Result<(), String> {
        let Data::Gripper(gripper::Data::State(state)) = data else { return Ok(()) };
        let text = match state.fingers {
            Fingers::Open => "open",
            Fingers::Closed => "closed",
            Fingers::Moving => "moving",
            Fingers::Error => "error",
            Fingers::Other(_) => "unknown",
        };
        report(self.0.publish(&Text { data: text.to_owned() }), "gripper/state");
        Ok(())
    }
}
