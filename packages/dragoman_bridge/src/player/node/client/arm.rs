//! `actarray`: the joints of an arm. `gripper`: its fingers.

use dragoman_ros::arbotix_msgs::srv::SetSpeed;
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::std_msgs::msg::{Float64, String as Text};
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_ros::{Publisher, QosProfile, Result as RosResult};

use super::line::Line;
use super::messages::report;
use super::robot::{Outlet, Site};
use super::scene::Scene;
use crate::player::wire::actarray::{self, JointPosition, JointSpeed, Positions};
use crate::player::wire::gripper::{self, Fingers};
use crate::player::wire::{Answer, Ask, Data, Note, Xdr};

/// All joints.
const ALL: i32 = -1;
/// Maximum number of joints with topics of their own.
const MAX_JOINTS: usize = 64;

struct Actarray {
    states: Publisher<JointState>,
    /// Before the joints' numbers.
    name: String,
}

pub(super) fn actarray(site: &mut Site<'_>) -> RosResult<Box<dyn Outlet>> {
    let name = format!("{}_joint", site.names.frame);
    let count = site.info.facts.iter().find_map(|fact| match fact {
        Answer::Actarray(actarray::Answer::GetGeometry(geometry)) => Some(geometry.joints.len()),
        _ => None,
    });
    for joint in 0..count.unwrap_or_default().min(MAX_JOINTS) {
        serve_joint(site, &format!("{name}_{joint}"), joint)?;
    }
    let (line, names) = (site.line.clone(), name.clone());
    site.tasks.subscribe(
        &site.names.topic("joint_command"),
        QosProfile::default(),
        move |state: JointState| {
            if let Err(reason) = command(&line, &names, &state) {
                line.problem(format!("joint_command: {reason}"));
            }
        },
    )?;
    serve_switch(site, "set_power", &actarray::POWER)?;
    serve_switch(site, "set_brakes", &actarray::BRAKES)?;
    serve_command(site, "home", &actarray::HOME, ALL)?;
    Ok(Box::new(Actarray { states: site.publisher("joint_states")?, name }))
}

#[allow(clippy::cast_possible_truncation, reason = "the protocol has single precision")]
fn serve_joint(site: &mut Site<'_>, name: &str, number: usize) -> RosResult<()> {
    let joint = i32::try_from(number).unwrap_or_default();
    let line = site.line.clone();
    site.tasks.subscribe(&format!("{name}/command"), QosProfile::default(), move |message: Float64| {
        if message.data.is_finite() {
            line.tell(&actarray::POSITION, JointPosition { joint, position: message.data as f32 });
        } else {
            line.problem(format!("joint {joint}: the position is not finite"));
        }
    })?;
    let what = format!("set_speed of joint {joint}");
    serve_speed(site, &format!("{name}/set_speed"), what, &actarray::SET_SPEED, move |speed| JointSpeed {
        joint,
        speed,
    })
}

/// Sends positions: of the named joints, or of all.
#[allow(clippy::cast_possible_truncation, reason = "the protocol has single precision")]
fn command(line: &Line, names: &str, state: &JointState) -> Result<(), String> {
    if !state.position.iter().all(|position| position.is_finite()) {
        return Err("a position is not finite".to_owned());
    }
    if state.name.is_empty() {
        let positions = state.position.iter().map(|position| *position as f32).collect();
        line.tell(&actarray::MULTI_POSITION, Positions { positions });
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
        line.tell(&actarray::POSITION, JointPosition { joint, position: *position as f32 });
    }
    Ok(())
}

/// A service that switches something on and off.
pub(super) fn serve_switch(site: &mut Site<'_>, name: &str, ask: &'static Ask<bool, ()>) -> RosResult<()> {
    site.serve::<SetBool::Service, _>(name, move |line, request| async move {
        line.ask(ask, request.data).await?;
        Ok(SetBool::Response { success: true, ..Default::default() })
    })
}

/// A service that sets a speed. Its response has no field for the reason of a refusal: `what` was refused is a problem of
/// the device.
pub(super) fn serve_speed<T: Xdr + Default + Send + 'static>(
    site: &mut Site<'_>,
    topic: &str,
    what: String,
    ask: &'static Ask<T, ()>,
    question: impl Fn(f32) -> T + Send + 'static,
) -> RosResult<()> {
    let line = site.line.clone();
    site.tasks.serve_later::<SetSpeed::Service, _>(topic, move |request| {
        #[allow(clippy::cast_possible_truncation, reason = "the protocol has single precision")]
        let speed = request.speed as f32;
        let (line, what) = (line.clone(), what.clone());
        let question = speed.is_finite().then(|| question(speed));
        async move {
            let set = match question {
                Some(question) => line.ask(ask, question).await,
                None => Err("the speed is not finite".to_owned()),
            };
            if let Err(reason) = set {
                line.problem(format!("{what}: {reason}"));
            }
            SetSpeed::Response::default()
        }
    })
}

/// A service that sends a command, which has no answer.
pub(super) fn serve_command<T>(
    site: &mut Site<'_>,
    name: &str,
    note: &'static Note<T>,
    command: T,
) -> RosResult<()>
where
    T: Xdr + Clone + Send + 'static,
{
    site.serve::<Trigger::Service, _>(name, move |line, _| {
        let command = command.clone();
        async move {
            line.command(note, command).await?;
            Ok(Trigger::Response { success: true, ..Default::default() })
        }
    })
}

impl Outlet for Actarray {
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

pub(super) fn gripper(site: &mut Site<'_>) -> RosResult<Box<dyn Outlet>> {
    for fact in &site.info.facts {
        if let Answer::Gripper(gripper::Answer::GetGeometry(geometry)) = fact {
            let base = format!("{}base_footprint", site.names.base);
            site.scene.fix(&base, &site.names.frame, &geometry.pose);
        }
    }
    for (name, note) in [
        ("gripper/open", &gripper::OPEN),
        ("gripper/close", &gripper::CLOSE),
        ("gripper/stop", &gripper::STOP),
        ("gripper/store", &gripper::STORE),
        ("gripper/retrieve", &gripper::RETRIEVE),
    ] {
        serve_command(site, name, note, ())?;
    }
    Ok(Box::new(Gripper(site.publisher("gripper/state")?)))
}

impl Outlet for Gripper {
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
