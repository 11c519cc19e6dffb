//! The ROS nodes of an arm; only these files of the package depend on ROS. This file holds the node of drives on a CAN
//! bus.
//!
//! | file | holds |
//! | --- | --- |
//! | this | topics, services of the whole arm, start-up |
//! | [`parameters`] | the parameters, and the group of drives that they describe |
//! | `trajectory` | the action `follow_joint_trajectory` |
//! | `joints` | the interfaces of each joint: `command`, `relax`, `enable`, `set_speed` |
//! | [`dynamixel`] | the node of servos on a serial line: a WidowX |
//! | `life` | the life cycle |
//! | `report` | `/diagnostics` |

pub mod dynamixel;
mod joints;
mod life;
pub mod parameters;
mod report;
mod trajectory;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dragoman_io::can::Bus;
use dragoman_ros::diagnostics::Diagnostics;
use dragoman_ros::naming::find_joint;
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::times::SharedClock;
use dragoman_ros::{
    Context, Node, Publisher, QosProfile, builtin_interfaces, dragoman_msgs, geometry_msgs, sensor_msgs,
    std_srvs, times,
};
use futures::channel::oneshot;
use parking_lot::Mutex;

use crate::driver::{
    self, ControlMode, Controller, Drives, End, Event, Fault, Group, GroupConfig, GroupState, Measured,
    Payload, StartError,
};
use crate::drives::DriveError;
use parameters::ArmParameters;

/// Settings of an arm's node.
#[derive(Debug, Clone)]
pub struct ArmSettings {
    /// Namespace of the arm, for example `/ranger`.
    pub namespace: String,
    /// Joint names, base of the chain first.
    pub joint_names: Vec<String>,
    /// Hardware id in diagnostics.
    pub hardware_id: String,
    /// Defaults of the drives' parameters.
    pub drives: GroupConfig,
}

/// A running arm node.
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct ArmNode {
    /// The tasks of the node, for an executor.
    pub node: RunningNode,
    pub drives: Arc<Drives>,
}

/// Error starting an arm's node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArmNodeError {
    /// The drives' parameters are invalid.
    #[error(transparent)]
    Drives(parameters::DriveParameterError),
    /// The drives cannot be started.
    #[error(transparent)]
    Start(StartError),
    /// The bus cannot be opened.
    #[error("{0}")]
    Bus(String),
    /// Error of the middleware or of a parameter.
    #[error(transparent)]
    Node(NodeError),
}

dragoman_ros::from_node_error!(ArmNodeError);

/// Period of `drive_status` and `/diagnostics` when nothing changes.
const STATUS_PERIOD: Duration = Duration::from_secs(1);
/// Polling interval for the completion of a service request.
const LOOK_PERIOD: Duration = Duration::from_millis(5);
/// Timeout of switching on or off.
const SWITCH_TIME: Duration = Duration::from_secs(5);

type SharedArm = Arc<Mutex<Arm>>;

struct Arm {
    drives: Arc<Drives>,
    names: Vec<String>,
    /// Joints that are disabled (`<joint>/enable`).
    ignored: Vec<bool>,
    clock: SharedClock,
    status: Publisher<dragoman_msgs::msg::DriveStatus>,
    /// Of a controller that learns the payload.
    payload: Option<Publisher<geometry_msgs::msg::InertiaStamped>>,
    /// Whether the first automatic switch-on is still pending.
    enable_at_start: bool,
    /// The callers awaiting the end of each trajectory.
    waiting: BTreeMap<u64, oneshot::Sender<End>>,
    /// The last refusal, kept for a second to limit log messages.
    refusal: Option<String>,
    refused_commands: u64,
}

/// A bus with drives.
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct ArmBus {
    pub bus: Box<dyn Bus>,
    /// The time of the bus.
    pub clock: driver::Clock,
    /// Whether the drives are switched on as soon as they are set up, also without parameter `enable_at_start`.
    pub enable_at_start: bool,
    /// The controller of control modes at the host.
    pub controller: Option<Controller>,
}

/// The parameters of the bus, its drives and their controller.
#[derive(Debug)]
pub struct BusSettings<'a> {
    /// The drives.
    pub group: &'a GroupConfig,
    /// Name of the CAN interface; empty: simulated drives.
    pub can: String,
    /// Control mode; `computed_torque` and `adaptive` need a controller.
    pub control_mode: String,
    /// Bandwidth of the controller, rad/s.
    pub bandwidth: f64,
    /// Velocity of simulated drives, counts/s; 0: no limit.
    pub velocity_limit: f64,
    /// Whether the simulated drives carry the arm.
    pub dynamics: bool,
    /// What the arm carries, as in parameter `simulated_payload`.
    pub payload: Vec<f64>,
}

/// Starts node `arm` in the arm's namespace. `open_bus` opens the bus that the parameters name.
///
/// # Errors
/// An invalid parameter; a bus that cannot be opened; an error of the middleware.
pub fn start(
    context: &Context,
    settings: ArmSettings,
    open_bus: impl FnOnce(&BusSettings<'_>) -> Result<ArmBus, String>,
) -> Result<ArmNode, ArmNodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "arm", &settings.namespace)?);
    let parameters = tasks.declare(ArmParameters::new(&settings.drives))?.read();
    let config = parameters.group(settings.joint_names.len()).map_err(ArmNodeError::Drives)?;
    let of_bus = BusSettings {
        group: &config,
        can: parameters.can.clone(),
        control_mode: parameters.control_mode.clone(),
        bandwidth: parameters.control_bandwidth,
        velocity_limit: parameters.simulated_velocity_limit,
        dynamics: parameters.simulated_dynamics,
        payload: parameters.simulated_payload.clone(),
    };
    let ArmBus { bus, clock, enable_at_start, controller } = open_bus(&of_bus).map_err(ArmNodeError::Bus)?;
    let mut group = Group::new(clock.now(), config).map_err(|error| ArmNodeError::Start(error.into()))?;
    if let Some(controller) = controller {
        group.set_controller(controller);
    }
    let drives = Arc::new(Drives::run(group, bus, clock).map_err(ArmNodeError::Start)?);

    let latched = || QosProfile::default().keep_last(1).transient_local();
    let node = tasks.node();
    let learns = drives.with(|_, group| group.learned_payload().is_some());
    let payload = if learns { Some(node.create_publisher("learned_payload", latched())?) } else { None };
    let states =
        node.create_publisher::<sensor_msgs::msg::JointState>("joint_states", QosProfile::default())?;
    let arm = Arc::new(Mutex::new(Arm {
        ignored: vec![false; settings.joint_names.len()],
        names: settings.joint_names,
        clock: node.get_ros_clock(),
        status: node.create_publisher("drive_status", latched())?,
        payload,
        enable_at_start: enable_at_start || parameters.enable_at_start,
        waiting: BTreeMap::new(),
        refusal: None,
        refused_commands: 0,
        drives: Arc::clone(&drives),
    }));
    let mut diagnostics = Diagnostics::new(node, "drives", &settings.hardware_id)?;
    arm.lock().publish_status();
    serve_switches(&mut tasks, &arm)?;
    joints::serve(&mut tasks, &arm)?;
    life::serve(&mut tasks, &arm)?;
    trajectory::serve(&mut tasks, &arm, trajectory::Defaults::of(&parameters))?;

    let commanded = Arc::clone(&arm);
    tasks.subscribe("joint_command", QosProfile::default(), move |message| {
        commanded.lock().command(&message);
    })?;
    let measured = Arc::clone(&arm);
    tasks.every(Duration::from_secs_f64(1.0 / parameters.rate), move || {
        let mut arm = measured.lock();
        arm.handle_events();
        if let Some(state) = arm.joint_state()
            && let Err(error) = states.publish(&state)
        {
            tracing::warn!(%error, topic = "joint_states", "publishing failed");
        }
    })?;
    tasks.every(STATUS_PERIOD, move || {
        let mut arm = arm.lock();
        arm.publish_status();
        arm.publish_payload();
        arm.report(&mut diagnostics);
    })?;
    Ok(ArmNode { node: tasks.start()?, drives })
}

/// When a message was sent; `None` if the stamp is zero.
fn sent_at(stamp: &builtin_interfaces::msg::Time) -> Option<Duration> {
    let seconds = u64::try_from(stamp.sec).ok()?;
    Some(Duration::new(seconds, stamp.nanosec)).filter(|time| !time.is_zero())
}

fn serve_switches(tasks: &mut NodeTasks, arm: &SharedArm) -> dragoman_ros::Result<()> {
    use dragoman_msgs::srv::Recalibrate;
    use std_srvs::srv::Trigger;
    let answer = |(success, message)| Trigger::Response { success, message };
    let switched = Arc::clone(arm);
    tasks.serve_later::<Trigger::Service, _>("enable", move |_request| {
        let arm = Arc::clone(&switched);
        async move { answer(switch(&arm, Switch::On).await) }
    })?;
    let switched = Arc::clone(arm);
    tasks.serve_later::<Trigger::Service, _>("disable", move |_request| {
        let arm = Arc::clone(&switched);
        async move { answer(switch(&arm, Switch::Off).await) }
    })?;
    let halted = Arc::clone(arm);
    tasks.serve::<Trigger::Service>("halt", move |_request| {
        let arm = halted.lock();
        arm.drives.with(|_, group| group.halt());
        Trigger::Response { success: true, message: "the joints come to rest and hold".to_owned() }
    })?;
    let recovered = Arc::clone(arm);
    tasks.serve::<Trigger::Service>("recover", move |_request| {
        answer(recovered.lock().change("recovered; enable switches the drives on", |drives| {
            drives.with(|_, group| group.recover())
        }))
    })?;
    let recalibrated = Arc::clone(arm);
    tasks.serve::<Recalibrate::Service>("recalibrate", move |request| {
        let (success, message) = recalibrated
            .lock()
            .change("recalibrated", |drives| drives.with(|_, group| group.recalibrate(&request.position)));
        Recalibrate::Response { success, message }
    })
}

/// The request of `enable` or `disable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    On,
    Off,
}

/// Switches the drives, and waits until they have switched.
async fn switch(arm: &SharedArm, switch: Switch) -> (bool, String) {
    let drives = {
        let mut arm = arm.lock();
        // Switching off is effective even while the drives are still starting.
        arm.enable_at_start &= switch == Switch::On;
        let begun = match switch {
            Switch::On => arm.drives.with(|_, group| group.enable()),
            Switch::Off => {
                arm.drives.with(|now, group| group.disable(now));
                Ok(())
            }
        };
        if let Err(error) = begun {
            arm.note_refusal(&error);
            return (false, error.to_string());
        }
        Arc::clone(&arm.drives)
    };
    let ended = async {
        loop {
            let state = drives.with(|_, group| group.state());
            if !matches!(state, GroupState::Enabling | GroupState::Stopping) {
                return state;
            }
            dragoman_time::sleep(LOOK_PERIOD).await;
        }
    };
    let state = dragoman_time::timeout(SWITCH_TIME, ended).await;
    let mut arm = arm.lock();
    arm.handle_events();
    // Before the answer, so that the caller finds the new state published.
    arm.publish_status();
    match (switch, state) {
        (Switch::On, Ok(GroupState::Enabled)) => (true, "enabled".to_owned()),
        (Switch::Off, Ok(GroupState::Enabled)) => (false, "the drives were switched on again".to_owned()),
        // Missing or faulty drives are off as well.
        (Switch::Off, Ok(_)) => (true, "disabled".to_owned()),
        (_, Err(_)) => (false, format!("the drives did not do so within {SWITCH_TIME:?}")),
        (Switch::On, Ok(_)) => {
            let reason = drives.with(|_, group| group.fault().map(Fault::to_string));
            (false, reason.unwrap_or_else(|| "the drives were switched off again".to_owned()))
        }
    }
}

impl Arm {
    /// The measured joints; `None` if no joint is measured.
    fn joint_state(&self) -> Option<sensor_msgs::msg::JointState> {
        let measured: Vec<Option<Measured>> = self.drives.with(|now, group| group.measured(now).collect());
        let mut state = sensor_msgs::msg::JointState::default();
        for (name, measured) in self.names.iter().zip(measured) {
            let Some(Measured { position, velocity }) = measured else { continue };
            state.name.push(name.clone());
            state.position.push(position);
            state.velocity.push(velocity);
        }
        state.header.stamp = self.stamp();
        (!state.name.is_empty()).then_some(state)
    }

    /// Joints named in a command move, the others keep their last command; a command without names is for all joints,
    /// in order. Positions if given, else velocities, else currents (effort, A).
    fn command(&mut self, message: &sensor_msgs::msg::JointState) {
        let target = self.drives.with(|_, group| group.reference().target().to_vec());
        let stamp = sent_at(&message.header.stamp);
        let still = vec![0.0; self.names.len()];
        let [positions, velocities, currents] = [&message.position, &message.velocity, &message.effort];
        let result = if !positions.is_empty() || (velocities.is_empty() && currents.is_empty()) {
            self.ordered(&message.name, positions, target)
                .and_then(|position| self.drives.with(|now, group| group.command(now, stamp, &position)))
        } else {
            let (mode, rates) = match velocities.as_slice() {
                [] => (ControlMode::Torque, currents),
                _ => (ControlMode::Velocity, velocities),
            };
            self.ordered(&message.name, rates, still)
                .and_then(|rates| self.drives.with(|now, group| group.command_rates(now, mode, &rates)))
        };
        if let Err(error) = result {
            self.refused_commands += 1;
            self.note_refusal(&error);
        }
    }

    fn ordered(&self, names: &[String], values: &[f64], mut all: Vec<f64>) -> Result<Vec<f64>, DriveError> {
        if names.is_empty() {
            return Ok(values.to_vec());
        }
        if names.len() != values.len() {
            return Err(DriveError::WrongLength { joints: names.len(), given: values.len() });
        }
        for (name, value) in names.iter().zip(values) {
            let slot = find_joint(&self.names, name).and_then(|joint| all.get_mut(joint));
            let unknown = || {
                let hint = dragoman_text::hint(name, self.names.iter().map(String::as_str));
                DriveError::Fault(format!("the arm has no joint '{name}'{hint}"))
            };
            *slot.ok_or_else(unknown)? = *value;
        }
        Ok(all)
    }

    fn change(
        &mut self,
        done: &str,
        action: impl FnOnce(&Drives) -> Result<(), DriveError>,
    ) -> (bool, String) {
        let result = action(&self.drives);
        self.handle_events();
        self.publish_status();
        match result {
            Ok(()) => {
                tracing::info!("drives {done}");
                (true, done.to_owned())
            }
            Err(error) => {
                self.note_refusal(&error);
                (false, error.to_string())
            }
        }
    }

    /// Logs an event, and reports the end of a trajectory to its caller.
    fn handle_events(&mut self) {
        while let Some(event) = self.drives.with(|_, group| group.poll_event()) {
            match event {
                Event::State(state) => self.state_changed(state),
                Event::Fault(fault) => tracing::error!(%fault, "drives stopped"),
                Event::Interrupted(fault) => tracing::warn!(%fault, "motion interrupted"),
                Event::SetUpFailed(fault) => tracing::error!(%fault, "drive setup failed"),
                Event::Trajectory { id, end } => {
                    if let Some(waiting) = self.waiting.remove(&id) {
                        // The caller may be gone.
                        let _ = waiting.send(end);
                    }
                }
            }
        }
    }

    fn state_changed(&mut self, state: GroupState) {
        tracing::debug!(?state, "drive state changed");
        if state == GroupState::Disabled && self.enable_at_start {
            self.enable_at_start = false;
            if let Err(error) = self.drives.with(|_, group| group.enable()) {
                self.note_refusal(&error);
            }
        }
        self.publish_status();
    }

    /// Starts a trajectory; returns its number and a receiver of its result.
    fn start(&mut self, planned: trajectory::Planned) -> Result<(u64, oneshot::Receiver<End>), String> {
        let trajectory::Planned { trajectory, tolerances, .. } = planned;
        let started = self.drives.with(|_, group| group.follow_trajectory(trajectory, tolerances));
        let id = started.map_err(|error| error.to_string())?;
        let (sender, receiver) = oneshot::channel();
        self.waiting.insert(id, sender);
        Ok((id, receiver))
    }

    /// Cancels a trajectory if it is still in progress.
    fn cancel(&mut self, id: u64) {
        // It may have ended already, and another may have started.
        self.handle_events();
        if self.waiting.contains_key(&id) {
            self.drives.with(|_, group| group.halt());
            self.handle_events();
        }
    }

    fn note_refusal(&mut self, error: &DriveError) {
        if self.refusal.is_none() {
            tracing::warn!(%error, "command refused");
        }
        self.refusal = Some(error.to_string());
    }

    fn publish_status(&self) {
        let (enabled, temperature, command) = self.drives.with(|_, group| {
            let enabled = group.state() == GroupState::Enabled;
            (enabled, group.temperatures().collect(), group.reference().setpoint().to_vec())
        });
        let mut status = dragoman_msgs::msg::DriveStatus {
            enabled,
            name: self.names.clone(),
            temperature,
            command,
            ..Default::default()
        };
        status.header.stamp = self.stamp();
        if let Err(error) = self.status.publish(&status) {
            tracing::warn!(%error, topic = "drive_status", "publishing failed");
        }
    }

    /// What the controller has learned about the payload.
    fn publish_payload(&self) {
        let learned = self.drives.with(|_, group| group.learned_payload());
        let (Some(publisher), Some(Payload { link, mass, center: [x, y, z] })) = (&self.payload, learned)
        else {
            return;
        };
        let mut message = geometry_msgs::msg::InertiaStamped::default();
        message.header.stamp = self.stamp();
        message.header.frame_id = link.to_string();
        message.inertia.m = mass;
        message.inertia.com = geometry_msgs::msg::Vector3 { x, y, z };
        if let Err(error) = publisher.publish(&message) {
            tracing::warn!(%error, topic = "learned_payload", "publishing failed");
        }
    }

    /// The present ROS time.
    fn now(&self) -> Duration {
        times::now(&self.clock)
    }

    fn stamp(&self) -> builtin_interfaces::msg::Time {
        times::stamp(&self.clock)
    }
}
