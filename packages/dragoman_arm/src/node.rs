//! The node that offers an arm's joints: the only file of this package that knows ROS.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::parameters::{self, Declaration, Range};
use dragoman_ros::tasks::{NodeError, NodeTasks, RunningNode};
use dragoman_ros::{
    Clock, Context, Node, Publisher, QosProfile, builtin_interfaces, dragoman_msgs, sensor_msgs, std_srvs,
};

use crate::drives::{DriveError, JointDrives};

/// What an arm's node is made from.
#[derive(Debug, Clone)]
pub struct ArmSettings {
    /// Namespace of the arm, `/ranger` say.
    pub namespace: String,
    /// Joint names, base of the chain first.
    pub joint_names: Vec<String>,
    /// What the drives are, for diagnostics.
    pub hardware_id: String,
}

/// The parameters of the node.
pub fn declarations() -> Vec<Declaration> {
    vec![
        Declaration::new(
            "rate",
            100.0,
            "Rate at which the drives are read and joint_states is published, Hz.",
        )
        .within(Range::Double { from: 1.0, to: 1000.0 })
        .read_only(),
    ]
}

/// How often `drive_status` and `/diagnostics` are published when nothing changes.
const STATUS_PERIOD: Duration = Duration::from_secs(1);

type SharedArm = Arc<Mutex<Arm>>;

struct Arm {
    drives: Box<dyn JointDrives>,
    names: Vec<String>,
    started: Instant,
    clock: Arc<Mutex<Clock>>,
    status: Publisher<dragoman_msgs::msg::DriveStatus>,
    /// Why the drives last refused something, until a second has passed.
    fault: Option<String>,
    refused_commands: u64,
}

/// Starts node `arm` in the arm's namespace.
///
/// # Errors
/// A wrong parameter; the middleware's refusal.
pub fn start(
    context: &Context,
    settings: ArmSettings,
    drives: Box<dyn JointDrives>,
) -> Result<RunningNode, NodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "arm", &settings.namespace)?);
    let (parameters, server) = parameters::declare(tasks.node(), declarations())?;
    tasks.spawn(server);
    let latched = QosProfile::default().keep_last(1).transient_local();
    let node = tasks.node();
    let states =
        node.create_publisher::<sensor_msgs::msg::JointState>("joint_states", QosProfile::default())?;
    let arm = Arc::new(Mutex::new(Arm {
        drives,
        names: settings.joint_names,
        started: Instant::now(),
        clock: node.get_ros_clock(),
        status: node.create_publisher("drive_status", latched)?,
        fault: None,
        refused_commands: 0,
    }));
    let mut diagnostics = Diagnostics::new(node, "drives", &settings.hardware_id)?;
    lock(&arm).publish_status();
    serve_switches(&mut tasks, &arm)?;

    let commanded = Arc::clone(&arm);
    tasks.subscribe("joint_command", QosProfile::default(), move |message| {
        lock(&commanded).command(&message)
    })?;
    let measured = Arc::clone(&arm);
    tasks.every(Duration::from_secs_f64(1.0 / parameters.value::<f64>("rate")), move || {
        let state = lock(&measured).update();
        if let Err(error) = states.publish(&state) {
            tracing::warn!(%error, "joint_states");
        }
    })?;
    tasks.every(STATUS_PERIOD, move || {
        let mut arm = lock(&arm);
        arm.publish_status();
        arm.publish_diagnostics(&mut diagnostics);
    })?;
    Ok(tasks.start()?)
}

fn lock(arm: &SharedArm) -> MutexGuard<'_, Arm> {
    arm.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve_switches(tasks: &mut NodeTasks, arm: &SharedArm) -> Result<(), dragoman_ros::Error> {
    use std_srvs::srv::Trigger;
    let switched = Arc::clone(arm);
    tasks.serve::<Trigger::Service>("enable", move |_request| {
        let (success, message) = lock(&switched).change("enabled", |drives| drives.enable());
        Trigger::Response { success, message }
    })?;
    let switched = Arc::clone(arm);
    tasks.serve::<Trigger::Service>("disable", move |_request| {
        let (success, message) = lock(&switched).change("disabled", |drives| drives.disable());
        Trigger::Response { success, message }
    })?;
    use dragoman_msgs::srv::Recalibrate;
    let recalibrated = Arc::clone(arm);
    tasks.serve::<Recalibrate::Service>("recalibrate", move |request| {
        let (success, message) =
            lock(&recalibrated).change("recalibrated", |drives| drives.recalibrate(&request.position));
        Recalibrate::Response { success, message }
    })
}

impl Arm {
    fn update(&mut self) -> sensor_msgs::msg::JointState {
        let now = self.started.elapsed().as_secs_f64();
        if let Err(error) = self.drives.update(now) {
            self.note_fault(&error);
        }
        let mut state = sensor_msgs::msg::JointState {
            name: self.names.clone(),
            position: self.drives.position().to_vec(),
            velocity: self.drives.velocity().to_vec(),
            ..Default::default()
        };
        state.header.stamp = self.stamp();
        state
    }

    /// Joints that a command names move, the others keep their last command; without names it is for all, in order.
    fn command(&mut self, message: &sensor_msgs::msg::JointState) {
        let result = self.ordered(message).and_then(|position| self.drives.command(&position));
        if let Err(error) = result {
            self.refused_commands += 1;
            self.note_fault(&error);
        }
    }

    fn ordered(&self, message: &sensor_msgs::msg::JointState) -> Result<Vec<f64>, DriveError> {
        if message.name.is_empty() {
            return Ok(message.position.clone());
        }
        if message.name.len() != message.position.len() {
            return Err(DriveError::WrongLength {
                joints: message.name.len(),
                given: message.position.len(),
            });
        }
        let mut position = self.drives.commanded().to_vec();
        for (name, value) in message.name.iter().zip(&message.position) {
            let joint = self.names.iter().position(|known| known == name);
            let slot = joint.and_then(|joint| position.get_mut(joint));
            *slot.ok_or_else(|| DriveError::Fault(format!("the arm has no joint '{name}'")))? = *value;
        }
        Ok(position)
    }

    fn change(
        &mut self,
        done: &str,
        action: impl FnOnce(&mut dyn JointDrives) -> Result<(), DriveError>,
    ) -> (bool, String) {
        let result = action(self.drives.as_mut());
        // Before the answer, so that whoever asked finds the new state known.
        self.publish_status();
        match result {
            Ok(()) => {
                tracing::info!("drives {done}");
                (true, done.to_owned())
            }
            Err(error) => {
                self.note_fault(&error);
                (false, error.to_string())
            }
        }
    }

    fn note_fault(&mut self, error: &DriveError) {
        if self.fault.is_none() {
            tracing::warn!(%error, "drives");
        }
        self.fault = Some(error.to_string());
    }

    fn publish_status(&self) {
        let mut status = dragoman_msgs::msg::DriveStatus {
            enabled: self.drives.is_enabled(),
            name: self.names.clone(),
            temperature: self.drives.temperature().to_vec(),
            command: self.drives.commanded().to_vec(),
            ..Default::default()
        };
        status.header.stamp = self.stamp();
        if let Err(error) = self.status.publish(&status) {
            tracing::warn!(%error, "drive_status");
        }
    }

    fn publish_diagnostics(&mut self, diagnostics: &mut Diagnostics) {
        let state = if self.drives.is_enabled() { "enabled" } else { "disabled" };
        let values = [("drives", state.to_owned()), ("refused commands", self.refused_commands.to_string())];
        match self.fault.take() {
            None => diagnostics.publish(Severity::Ok, state, &values),
            Some(fault) => diagnostics.publish(Severity::Warn, &fault, &values),
        }
    }

    fn stamp(&self) -> builtin_interfaces::msg::Time {
        let now = self.clock.lock().unwrap_or_else(PoisonError::into_inner).get_now();
        Clock::to_builtin_time(&now.unwrap_or_default())
    }
}
