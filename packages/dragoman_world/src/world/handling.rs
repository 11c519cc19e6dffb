//! Arms: their joints, and held objects.

use nalgebra::Isometry3;

use super::state::{Object, Role, World, key, wrong_kind};
use crate::error::WorldError;
use crate::robots::arm::ArmJoint;

impl World {
    pub(crate) fn robot_joints(&self, name: &str) -> Result<&[ArmJoint], WorldError> {
        Ok(&self.arm(name)?.1.joints)
    }

    pub(crate) fn tool_pose(&self, name: &str) -> Result<Isometry3<f64>, WorldError> {
        let (at, arm) = self.arm(name)?;
        let link = self.objects.get(at).and_then(|object| self.parts.get(object.parts.start + arm.tool.0));
        Ok(link.map(|part| part.pose).unwrap_or_default() * arm.tool.1)
    }

    pub(crate) fn set_robot_joints(&mut self, name: &str, values: &[f64]) -> Result<(), WorldError> {
        let (at, _) = self.arm(name)?;
        let Some(object) = self.objects.get_mut(at) else { return Ok(()) };
        if let Role::Arm(arm) = &mut object.role {
            arm.set(&object.name, values)?;
        }
        let base = object.pose;
        self.revision += 1;
        self.move_object(at, base);
        Ok(())
    }

    pub(crate) fn check_robot_joints(&mut self, name: &str, values: &[f64]) -> Result<bool, WorldError> {
        self.set_robot_joints(name, values)?;
        let (at, arm) = self.arm(name)?;
        Ok(self.arm_touches(at, arm).is_some())
    }

    pub(crate) fn link_to_robot_tcp(&mut self, robot: &str, object: &str) -> Result<(), WorldError> {
        let (arm, _) = self.arm(robot)?;
        let wanted = if key(object).is_empty() { None } else { Some(self.index_of(object)?) };
        let tool = self.tool_pose(robot)?;
        if let Some(Object { role: Role::Arm(_) | Role::Wheeled(_), .. }) =
            wanted.and_then(|at| self.objects.get(at))
        {
            return Err(wrong_kind(object, "an object that a tool can hold"));
        }
        for (at, object) in self.objects.iter_mut().enumerate() {
            if let Role::Body(body) = &mut object.role {
                if Some(at) == wanted {
                    body.held = Some((arm, tool.inverse() * object.pose));
                } else if body.held.is_some_and(|(by, _)| by == arm) {
                    body.held = None;
                }
            }
        }
        Ok(())
    }

    pub(super) fn held_by(&self, arm: usize) -> Option<usize> {
        self.objects.iter().position(
            |object| matches!(object.role, Role::Body(body) if body.held.is_some_and(|(by, _)| by == arm)),
        )
    }
}
