//! How robots on wheels are put down and drive.

use std::time::Duration;

use nalgebra::Isometry3;

use super::file::{LARGEST, LARGEST_ANGLE};
use super::geometry::Vector;
use super::scene::Collider;
use super::state::{Role, check, check_between};
use super::wheeled::{Step, wrap};
use super::{World, WorldError};

/// Longest step of [`World::advance`], s.
const LONGEST_STEP: f64 = 0.01;
/// Longest time of one motion, s.
const LONGEST_TIME: f64 = 3600.0;

impl World {
    pub(crate) fn place_m_robot(&mut self, name: &str, xyz: [f64; 3], yaw: f64) -> Result<bool, WorldError> {
        check("position", &xyz, LARGEST)?;
        check("heading", &[yaw], LARGEST_ANGLE)?;
        let (at, _) = self.wheeled(name)?;
        Ok(self.drop_at(at, xyz, yaw, 2.0 * LARGEST))
    }

    /// Lets the robot fall at most so far; it stays where that is not possible.
    pub(super) fn drop_at(&mut self, at: usize, xyz: [f64; 3], yaw: f64, deepest: f64) -> bool {
        let Some(Role::Wheeled(wheeled)) = self.objects.get(at).map(|object| &object.role) else {
            return false;
        };
        let longest = wheeled.wheel_radius + deepest;
        let own = |collider: &Collider| collider.object == at;
        let ground = |[x, y, z]: [f64; 3]| {
            self.scene
                .ray(Vector::new(x, y, z), -Vector::Z, longest, own)
                .filter(|way| *way > 0.0)
                .map(|way| z - way)
        };
        let Some(target) = wheeled.drop(xyz, yaw, ground) else { return false };
        if self.wheeled_touches(at, &target).is_some() {
            return false;
        }
        self.revision += 1;
        self.move_object(at, target);
        true
    }

    pub(crate) fn location_m_robot(&mut self, name: &str) -> Result<[f64; 4], WorldError> {
        let (at, _) = self.wheeled(name)?;
        let pose = self.objects.get(at).map(|object| object.pose).unwrap_or_default();
        let [x, y, z] = pose.translation.vector.into();
        Ok([x, y, z, heading(&pose)])
    }

    pub(crate) fn move_m_robot(
        &mut self,
        name: &str,
        speeds: [f64; 2],
        time: f64,
    ) -> Result<bool, WorldError> {
        check("speed", &speeds, f64::MAX)?;
        check_between("time", &[time], 0.0, LONGEST_TIME)?;
        let (at, wheeled) = self.wheeled(name)?;
        let step = wheeled.step(speeds, time);
        Ok(self.drive(at, step))
    }

    /// The ground may be a wheel's radius higher or lower at the end. The turn comes first, and then the way ahead: that is
    /// `(v t cos(w t), v t sin(w t))` in the robot's frame.
    pub(super) fn drive(&mut self, at: usize, step: Step) -> bool {
        let Some(object) = self.objects.get(at) else { return false };
        let Role::Wheeled(wheeled) = &object.role else { return false };
        let radius = wheeled.wheel_radius;
        let heading = heading(&object.pose) + step.turn;
        let [x, y, z] = object.pose.translation.vector.into();
        let target = [x + step.distance * heading.cos(), y + step.distance * heading.sin(), z];
        if target.iter().any(|value| value.abs() > LARGEST)
            || !self.drop_at(at, target, wrap(heading), radius)
        {
            return false;
        }
        if let Some(Role::Wheeled(wheeled)) = self.objects.get_mut(at).map(|object| &mut object.role) {
            wheeled.count(step);
        }
        true
    }

    pub(crate) fn set_twist(&mut self, name: &str, twist: [f64; 2]) -> Result<(), WorldError> {
        check("speed", &twist, f64::MAX)?;
        self.wheeled(name)?.1.twist = twist;
        Ok(())
    }

    pub(crate) fn advance(&mut self, time: Duration) {
        self.time = self.time.saturating_add(time);
        let seconds = time.as_secs_f64().min(LONGEST_TIME);
        let steps = (seconds / LONGEST_STEP).ceil();
        if steps == 0.0 {
            return;
        }
        for _ in 0..steps as u64 {
            for at in 0..self.objects.len() {
                if let Some(Role::Wheeled(wheeled)) = self.objects.get(at).map(|object| &object.role)
                    && wheeled.twist != [0.0; 2]
                {
                    let step = wheeled.step(wheeled.twist, seconds / steps);
                    self.drive(at, step);
                }
            }
        }
    }

    pub(crate) fn odometry(&mut self, name: &str) -> Result<[f64; 3], WorldError> {
        Ok(self.wheeled(name)?.1.odometry)
    }

    pub(crate) fn reset_odometry(&mut self, name: &str, odometry: [f64; 3]) -> Result<(), WorldError> {
        check("odometry", &odometry, LARGEST)?;
        self.wheeled(name)?.1.odometry = odometry;
        Ok(())
    }
}

/// Direction of the x axis seen from above, rad.
fn heading(pose: &Isometry3<f64>) -> f64 {
    let ahead = pose.rotation * nalgebra::Vector3::x();
    ahead.y.atan2(ahead.x)
}
