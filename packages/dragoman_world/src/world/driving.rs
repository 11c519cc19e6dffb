//! Placing and driving robots on wheels.

use std::time::Duration;

use dragoman_geometry::{Twist, wrap_angle};
use nalgebra::Isometry3;

use super::state::{Object, Role, World, check};
use crate::error::WorldError;
use crate::geometry::scene::Collider;
use crate::geometry::{Vector, to_parry, vector};
use crate::limits::{MAX_ANGLE, MAX_SIZE};
use crate::robots::wheeled::Step;

/// Maximum step of [`World::advance`], s.
const MAX_STEP: f64 = 0.01;
/// Maximum duration of one motion, s.
const MAX_TIME: f64 = 3600.0;
/// Number of bisections of a blocked step: 7 mm, the distance in 10 ms at 0.7 m/s, end within 0.1 mm of the obstacle.
const HALVINGS: u32 = 7;

impl World {
    pub(crate) fn place_m_robot(&mut self, name: &str, xyz: [f64; 3], yaw: f64) -> Result<bool, WorldError> {
        check("position", &xyz, MAX_SIZE)?;
        check("heading", &[yaw], MAX_ANGLE)?;
        let (at, _) = self.wheeled(name)?;
        Ok(self.drop_at(at, xyz, yaw, 2.0 * MAX_SIZE, false))
    }

    /// Lets the robot fall by at most this height; it stays if that is not possible, or if it would touch something and
    /// may not.
    pub(super) fn drop_at(
        &mut self,
        at: usize,
        xyz: [f64; 3],
        yaw: f64,
        deepest: f64,
        may_touch: bool,
    ) -> bool {
        let Some(Role::Wheeled(wheeled)) = self.objects.get(at).map(|object| &object.role) else {
            return false;
        };
        let max_distance = wheeled.wheel_radius + deepest;
        let group = self.group(at);
        let own = |collider: &Collider| group.contains(&collider.object);
        let ground = |[x, y, z]: [f64; 3]| {
            self.scene
                .ray(Vector::new(x, y, z), -Vector::Z, max_distance, own)
                .filter(|way| *way > 0.0)
                .map(|way| z - way)
        };
        let Some(target) = wheeled.drop(xyz, yaw, ground) else { return false };
        if !may_touch && self.wheeled_touches(at, &target).is_some() {
            return false;
        }
        self.revision += 1;
        self.move_object(at, target);
        true
    }

    /// Rolls a robot along the arc of this step until an obstacle or the end of the ground, and turns it on the spot
    /// for the rest of the turn if possible. Returns the true motion. The odometry counts the whole step, because
    /// wheels slip. A robot that was placed in an obstacle can leave it.
    pub(crate) fn roll(&mut self, at: usize, step: Step) -> Step {
        let Some(object) = self.objects.get_mut(at) else { return Step::default() };
        let (start, Role::Wheeled(wheeled)) = (object.pose, &mut object.role) else { return Step::default() };
        let factors = wheeled.count(step);
        let radius = wheeled.wheel_radius;
        let rolled = self.roll_from(at, step, &start, radius);
        if rolled != Step::default() {
            self.note_motion(at, factors);
        }
        rolled
    }

    fn roll_from(&mut self, at: usize, step: Step, start: &Isometry3<f64>, radius: f64) -> Step {
        let heading = heading(start);
        let [x, y, z] = start.translation.vector.into();
        let along = |share: f64| {
            let Step { distance, turn, .. } = step.times(share);
            let direction = heading + turn / 2.0;
            // The chord of the arc.
            let chord = if turn == 0.0 { distance } else { distance * (turn / 2.0).sin() / (turn / 2.0) };
            ([x + chord * direction.cos(), y + chord * direction.sin(), z], wrap_angle(heading + turn))
        };
        let go = |world: &mut Self, share: f64, may_touch: bool| {
            let (to, yaw) = along(share);
            to.iter().all(|value| value.abs() <= MAX_SIZE) && world.drop_at(at, to, yaw, radius, may_touch)
        };
        if go(self, 1.0, false) {
            return step;
        }
        if self.wheeled_touches(at, start).is_some() {
            let moves = go(self, 1.0, true);
            return if moves { step } else { Step::default() };
        }
        let (mut free, mut blocked) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = (free + blocked) / 2.0;
            if go(self, middle, false) { free = middle } else { blocked = middle }
        }
        let (to, _) = along(free);
        let turns = step.turn != 0.0 && self.drop_at(at, to, wrap_angle(heading + step.turn), radius, false);
        let turn = if turns { step.turn } else { free * step.turn };
        Step { distance: free * step.distance, turn, ..Step::default() }
    }

    /// Distance from a point in the frame of an object, down along its z axis, to the first object outside of its
    /// group; `None` if beyond `max_distance`.
    pub(crate) fn clearance(
        &self,
        at: usize,
        group: &[usize],
        from: [f64; 3],
        max_distance: f64,
    ) -> Option<f64> {
        let pose = to_parry(&self.objects.get(at)?.pose);
        let own = |collider: &Collider| group.contains(&collider.object);
        self.scene.ray(pose * vector(from), pose.rotation * -Vector::Z, max_distance, own)
    }

    pub(crate) fn location_m_robot(&self, name: &str) -> Result<[f64; 4], WorldError> {
        let pose = self.pose(name)?;
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
        check("time", &[time], MAX_TIME)?;
        let (at, wheeled) = self.wheeled(name)?;
        if speeds != [0.0; 2] && !wheeled.has_power {
            return Err(WorldError::MotorsOff { robot: name.to_owned() });
        }
        let step = wheeled.step(speeds, time);
        Ok(self.drive(at, step))
    }

    /// The ground may be a wheel's radius higher or lower at the end. The turn is applied first, then the translation,
    /// which is `(v t cos(w t), v t sin(w t))` in the robot's frame; the sideways motion is at a right angle to it.
    pub(super) fn drive(&mut self, at: usize, step: Step) -> bool {
        let Some(object) = self.objects.get(at) else { return false };
        let Role::Wheeled(wheeled) = &object.role else { return false };
        let radius = wheeled.wheel_radius;
        let heading = heading(&object.pose) + step.turn;
        let (sin, cos) = heading.sin_cos();
        let [x, y, z] = object.pose.translation.vector.into();
        let target =
            [x + step.distance * cos - step.side * sin, y + step.distance * sin + step.side * cos, z];
        if target.iter().any(|value| value.abs() > MAX_SIZE)
            || !self.drop_at(at, target, wrap_angle(heading), radius, false)
        {
            return false;
        }
        if let Some(Role::Wheeled(wheeled)) = self.objects.get_mut(at).map(|object| &mut object.role) {
            let factors = wheeled.count(step);
            self.note_motion(at, factors);
        }
        true
    }

    /// Adds a motion of the robot to its odometry of Apolo.
    fn note_motion(&mut self, at: usize, factors: [f64; 2]) {
        if let Some(Object { pose, role: Role::Wheeled(wheeled), .. }) = self.objects.get_mut(at) {
            wheeled.apolo.measure(pose, factors);
        }
    }

    pub(crate) fn set_twist(&mut self, name: &str, twist: Twist) -> Result<(), WorldError> {
        check("speed", &[twist.linear, twist.lateral, twist.angular], f64::MAX)?;
        let (_, wheeled) = self.wheeled(name)?;
        if twist != Twist::ZERO && !wheeled.has_power {
            return Err(WorldError::MotorsOff { robot: name.to_owned() });
        }
        wheeled.twist = twist;
        Ok(())
    }

    pub(crate) fn set_motor_power(&mut self, name: &str, on: bool) -> Result<(), WorldError> {
        let (_, wheeled) = self.wheeled(name)?;
        wheeled.has_power = on;
        if !on {
            wheeled.twist = Twist::ZERO;
        }
        Ok(())
    }

    pub(crate) fn has_motor_power(&mut self, name: &str) -> Result<bool, WorldError> {
        self.wheeled(name).map(|(_, wheeled)| wheeled.has_power)
    }

    pub(crate) fn outline(&mut self, name: &str) -> Result<[[f64; 3]; 2], WorldError> {
        let (at, _) = self.wheeled(name)?;
        let extent = self.objects.get(at).and_then(|object| self.extent(at, &object.pose));
        // A robot without shapes.
        let [low, high] = extent.unwrap_or_default();
        Ok([low.into(), high.into()])
    }

    pub(crate) fn advance(&mut self, time: Duration) {
        self.time = self.time.saturating_add(time);
        let seconds = time.as_secs_f64().min(MAX_TIME);
        let steps = (seconds / MAX_STEP).ceil();
        if steps == 0.0 {
            return;
        }
        for _ in 0..steps as u64 {
            for at in 0..self.objects.len() {
                if let Some(Role::Wheeled(wheeled)) = self.objects.get_mut(at).map(|object| &mut object.role)
                    && wheeled.twist != Twist::ZERO
                {
                    let step = wheeled.roll_wheels(seconds / steps);
                    self.drive(at, step);
                }
            }
        }
    }

    pub(crate) fn odometry(&mut self, name: &str) -> Result<[f64; 3], WorldError> {
        let as_original = self.as_original;
        let wheeled = self.wheeled(name)?.1;
        Ok(if as_original { wheeled.apolo.reading } else { wheeled.odometry })
    }

    #[cfg(feature = "node")]
    pub(crate) fn wheel_odometry(&mut self, name: &str) -> Result<[f64; 3], WorldError> {
        Ok(self.wheeled(name)?.1.odometry)
    }

    #[cfg(feature = "node")]
    pub(crate) fn travelled(&mut self, name: &str) -> Result<Step, WorldError> {
        Ok(self.wheeled(name)?.1.travelled)
    }

    pub(crate) fn reset_odometry(&mut self, name: &str, odometry: [f64; 3]) -> Result<(), WorldError> {
        check("odometry", &odometry, MAX_SIZE)?;
        let (at, _) = self.wheeled(name)?;
        if let Some(Object { pose, role: Role::Wheeled(wheeled), .. }) = self.objects.get_mut(at) {
            wheeled.odometry = odometry;
            wheeled.apolo.reset(pose, odometry);
        }
        Ok(())
    }
}

/// Direction of the x axis seen from above, rad.
pub(crate) fn heading(pose: &Isometry3<f64>) -> f64 {
    let ahead = pose.rotation * nalgebra::Vector3::x();
    ahead.y.atan2(ahead.x)
}
