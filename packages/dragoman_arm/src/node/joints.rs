//! Interfaces of each joint, with the names of the WidowX in the TurtleBot thesis, table A.2: `<joint>/command`,
//! `<joint>/relax`, `<joint>/enable`, `<joint>/set_speed`, where the joint is as [`joint_token`] writes it.

use dragoman_ros::arbotix_msgs::srv::{Enable, Relax, SetSpeed};
use dragoman_ros::naming::joint_token;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{QosProfile, std_msgs};

use super::{Arm, SharedArm};

/// An arm, joint by joint. Refused commands are logged and reported in `/diagnostics`: most of these messages have no
/// field for an error.
pub(super) trait Joints: Clone + Send + 'static {
    /// Names, base first.
    fn names(&self) -> Vec<String>;

    /// Moves a joint to a position, rad or m.
    fn command(&self, joint: usize, position: f64);

    /// Switches the power of a joint off until the next command.
    fn relax(&self, joint: usize);

    /// Enables or disables commands to a joint; returns whether it is enabled afterwards.
    fn enable(&self, joint: usize, on: bool) -> bool;

    /// Sets the speed of commanded motions of a joint, rad/s or m/s.
    fn set_speed(&self, joint: usize, speed: f64);
}

/// Serves every joint.
pub(super) fn serve(tasks: &mut NodeTasks, joints: &impl Joints) -> dragoman_ros::Result<()> {
    for (joint, name) in joints.names().iter().enumerate() {
        let name = joint_token(name);
        let commanded = joints.clone();
        tasks.subscribe::<std_msgs::msg::Float64>(
            &format!("{name}/command"),
            QosProfile::default(),
            move |message| commanded.command(joint, message.data),
        )?;
        let relaxed = joints.clone();
        tasks.serve::<Relax::Service>(&format!("{name}/relax"), move |_request| {
            relaxed.relax(joint);
            Relax::Response::default()
        })?;
        let switched = joints.clone();
        tasks.serve::<Enable::Service>(&format!("{name}/enable"), move |request| Enable::Response {
            state: switched.enable(joint, request.enable),
        })?;
        let slowed = joints.clone();
        tasks.serve::<SetSpeed::Service>(&format!("{name}/set_speed"), move |request| {
            slowed.set_speed(joint, request.speed);
            SetSpeed::Response::default()
        })?;
    }
    Ok(())
}

impl Joints for SharedArm {
    fn names(&self) -> Vec<String> {
        self.lock().names.clone()
    }

    fn command(&self, joint: usize, position: f64) {
        self.lock().command_joint(joint, position);
    }

    fn relax(&self, joint: usize) {
        let mut arm = self.lock();
        if let Err(error) = arm.drives.with(|_, group| group.relax(joint)) {
            arm.note_refusal(&error);
        }
    }

    fn enable(&self, joint: usize, on: bool) -> bool {
        if let Some(ignored) = self.lock().ignored.get_mut(joint) {
            *ignored = !on;
        }
        on
    }

    fn set_speed(&self, joint: usize, speed: f64) {
        let mut arm = self.lock();
        if let Err(error) = arm.drives.with(|_, group| group.set_speed(joint, speed)) {
            arm.note_refusal(&error);
        }
    }
}

impl Arm {
    fn command_joint(&mut self, joint: usize, position: f64) {
        if self.ignored.get(joint).copied().unwrap_or(true) {
            return;
        }
        let result = self.drives.with(|now, group| group.command_joint(now, joint, position));
        if let Err(error) = result {
            self.refused_commands += 1;
            self.note_refusal(&error);
        }
    }
}
