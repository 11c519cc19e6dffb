//! What is there for each joint, with the names that seed 003 (table A.2) gives a WidowX: `<joint>/command`,
//! `<joint>/relax`, `<joint>/enable`, `<joint>/set_speed`.

use std::sync::Arc;

use dragoman_ros::arbotix_msgs::srv::{Enable, Relax, SetSpeed};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{QosProfile, std_msgs};

use super::{Arm, SharedArm, lock};

/// Serves every joint.
pub(super) fn serve(tasks: &mut NodeTasks, arm: &SharedArm) -> dragoman_ros::Result<()> {
    let names = lock(arm).names.clone();
    for (joint, name) in names.iter().enumerate() {
        let commanded = Arc::clone(arm);
        tasks.subscribe::<std_msgs::msg::Float64>(
            &format!("{name}/command"),
            QosProfile::default(),
            move |message| lock(&commanded).command_joint(joint, message.data),
        )?;
        let relaxed = Arc::clone(arm);
        tasks.serve::<Relax::Service>(&format!("{name}/relax"), move |_request| {
            let mut arm = lock(&relaxed);
            if let Err(error) = arm.drives.with(|_, group| group.relax(joint)) {
                arm.note_refusal(&error);
            }
            Relax::Response::default()
        })?;
        let switched = Arc::clone(arm);
        tasks.serve::<Enable::Service>(&format!("{name}/enable"), move |request| {
            if let Some(ignored) = lock(&switched).ignored.get_mut(joint) {
                *ignored = !request.enable;
            }
            Enable::Response { state: request.enable }
        })?;
        let slowed = Arc::clone(arm);
        tasks.serve::<SetSpeed::Service>(&format!("{name}/set_speed"), move |request| {
            let mut arm = lock(&slowed);
            if let Err(error) = arm.drives.with(|_, group| group.set_speed(joint, request.speed)) {
                arm.note_refusal(&error);
            }
            SetSpeed::Response::default()
        })?;
    }
    Ok(())
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
