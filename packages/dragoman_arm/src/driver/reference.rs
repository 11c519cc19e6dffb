//! Set-points of the joints in every cycle: at rest, following commands, along a trajectory, braking.

use std::time::Duration;

use super::trajectory::Trajectory;

/// The longest time over which a command is spread, s; commands that come less often are reached early.
const LONGEST_SPREAD: f64 = 0.1;

/// Factor by which the peak velocity of a trajectory may exceed the checked averages.
const PEAK: f64 = 1.5;

/// Source of the set-points.
#[derive(Debug, Clone, PartialEq)]
enum Source {
    Hold,
    /// Decelerate each joint with its maximum deceleration.
    Brake,
    /// Go to the last commanded position within the interval between commands.
    Follow,
    /// Follow a trajectory.
    Trajectory,
}

/// The set-points of all joints, rad or m.
#[derive(Debug)]
pub struct Reference {
    setpoint: Vec<f64>,
    velocity: Vec<f64>,
    max_velocity: Vec<f64>,
    max_deceleration: Vec<f64>,
    source: Source,
    from: Vec<f64>,
    target: Vec<f64>,
    elapsed: f64,
    spread: f64,
    commanded_at: Option<Duration>,
    trajectory: Option<Trajectory>,
}

impl Reference {
    /// At rest at `position`; joints move at most at `max_velocity` and brake with `max_deceleration`.
    pub fn new(position: &[f64], max_velocity: Vec<f64>, max_deceleration: Vec<f64>) -> Self {
        Self {
            setpoint: position.to_vec(),
            velocity: vec![0.0; position.len()],
            max_velocity,
            max_deceleration,
            source: Source::Hold,
            from: position.to_vec(),
            target: position.to_vec(),
            elapsed: 0.0,
            spread: 0.0,
            commanded_at: None,
            trajectory: None,
        }
    }

    /// The present set-points.
    pub fn setpoint(&self) -> &[f64] {
        &self.setpoint
    }

    /// The desired positions: on the trajectory; limits may delay the set-points.
    pub fn planned(&self) -> &[f64] {
        match self.source {
            Source::Trajectory => &self.target,
            _ => &self.setpoint,
        }
    }

    /// The end of the trajectory; empty without one.
    pub fn goal(&self) -> &[f64] {
        self.trajectory.as_ref().map_or(&[], Trajectory::goal)
    }

    /// Their velocities.
    pub fn velocity(&self) -> &[f64] {
        &self.velocity
    }

    /// The velocity limits.
    pub fn max_velocity(&self) -> &[f64] {
        &self.max_velocity
    }

    /// Sets the velocity limit of one joint.
    pub fn limit(&mut self, joint: usize, velocity: f64) {
        if let Some(limit) = self.max_velocity.get_mut(joint) {
            *limit = velocity;
        }
    }

    /// The target of the last command, or the present set-point.
    pub fn target(&self) -> &[f64] {
        match self.source {
            Source::Follow => &self.target,
            _ => &self.setpoint,
        }
    }

    /// Rests at `position`.
    pub fn rest_at(&mut self, position: &[f64]) {
        self.setpoint.copy_from_slice(position);
        self.velocity.fill(0.0);
        self.source = Source::Hold;
        self.commanded_at = None;
        self.trajectory = None;
    }

    /// Changes one joint's set-point without a motion, for a joint whose position was redefined.
    pub fn shift(&mut self, joint: usize, by: f64) {
        for list in [&mut self.setpoint, &mut self.from, &mut self.target] {
            if let Some(value) = list.get_mut(joint) {
                *value += by;
            }
        }
    }

    /// Holds one joint at `position`, independent of the others.
    pub fn place(&mut self, joint: usize, position: f64) {
        for list in [&mut self.setpoint, &mut self.from, &mut self.target] {
            if let Some(value) = list.get_mut(joint) {
                *value = position;
            }
        }
        if let Some(velocity) = self.velocity.get_mut(joint) {
            *velocity = 0.0;
        }
    }

    /// Moves to `position` by the time at which the next command is expected.
    pub fn follow(&mut self, now: Duration, position: &[f64]) {
        let since = self.commanded_at.map(|before| now.saturating_sub(before).as_secs_f64());
        self.commanded_at = Some(now);
        self.spread = since.map_or(LONGEST_SPREAD, |since| since.min(LONGEST_SPREAD));
        self.elapsed = 0.0;
        self.from.copy_from_slice(&self.setpoint);
        self.target.copy_from_slice(position);
        self.trajectory = None;
        self.source = Source::Follow;
    }

    /// Starts `trajectory`.
    pub fn follow_trajectory(&mut self, trajectory: Trajectory) {
        self.elapsed = 0.0;
        self.commanded_at = None;
        self.trajectory = Some(trajectory);
        self.source = Source::Trajectory;
    }

    /// Decelerates to rest.
    pub fn brake(&mut self) {
        if self.source != Source::Hold {
            self.source = Source::Brake;
            self.commanded_at = None;
            self.trajectory = None;
        }
    }

    /// The time since the trajectory's start and its duration, s; `None` without a trajectory.
    pub fn progress(&self) -> Option<(f64, f64)> {
        self.trajectory.as_ref().map(|trajectory| (self.elapsed, trajectory.duration()))
    }

    /// Ends the trajectory; the joints hold its last set-point.
    pub fn end_trajectory(&mut self) {
        self.trajectory = None;
        self.source = Source::Hold;
    }

    /// Advances by `cycle` seconds.
    pub fn advance(&mut self, cycle: f64) {
        self.elapsed += cycle;
        match self.source {
            Source::Hold => self.velocity.fill(0.0),
            Source::Brake => self.advance_braking(cycle),
            Source::Follow => {
                let part = if self.spread > 0.0 { (self.elapsed / self.spread).min(1.0) } else { 1.0 };
                let joints = self.setpoint.iter_mut().zip(&mut self.velocity).zip(&self.max_velocity);
                for (((setpoint, velocity), limit), (from, target)) in
                    joints.zip(self.from.iter().zip(&self.target))
                {
                    let wanted = if part < 1.0 { from + (target - from) * part } else { *target };
                    step(setpoint, velocity, wanted, *limit, cycle);
                }
            }
            Source::Trajectory => self.advance_trajectory(cycle),
        }
    }

    fn advance_trajectory(&mut self, cycle: f64) {
        let Some(trajectory) = &mut self.trajectory else { return };
        // `target` serves as a buffer for the sample: a command ends the trajectory.
        trajectory.sample(self.elapsed, &mut self.target);
        let joints = self.setpoint.iter_mut().zip(&mut self.velocity).zip(&self.max_velocity);
        for (((setpoint, velocity), limit), wanted) in joints.zip(&self.target) {
            step(setpoint, velocity, *wanted, PEAK * limit, cycle);
        }
    }

    fn advance_braking(&mut self, cycle: f64) {
        let joints = self.setpoint.iter_mut().zip(&mut self.velocity).zip(&self.max_deceleration);
        for ((setpoint, velocity), deceleration) in joints {
            let slower = (velocity.abs() - deceleration * cycle).max(0.0);
            *velocity = slower.copysign(*velocity);
            *setpoint += *velocity * cycle;
        }
        if self.velocity.iter().all(|velocity| *velocity == 0.0) {
            self.source = Source::Hold;
        }
    }
}

/// Moves a set-point towards its target, no faster than `limit`.
fn step(setpoint: &mut f64, velocity: &mut f64, wanted: f64, limit: f64, cycle: f64) {
    let most = limit * cycle;
    let way = (wanted - *setpoint).clamp(-most, most);
    // Exactly the target, without rounding errors of a sum.
    *setpoint = if way == wanted - *setpoint { wanted } else { *setpoint + way };
    *velocity = way / cycle;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::trajectory::Point;
    use super::*;

    const CYCLE: f64 = 0.01;

    fn reference() -> Reference {
        Reference::new(&[0.0, 1.0], vec![1.0, 1.0], vec![5.0, 5.0])
    }

    #[test]
    fn commands_at_a_lower_rate_than_the_cycle_become_a_steady_motion() {
        let mut reference = reference();
        let mut velocities = Vec::new();
        for command in 0..10 {
            // Every fifth cycle, 0.5 rad/s.
            reference.follow(Duration::from_millis(50) * command, &[0.025 * f64::from(command), 1.0]);
            for _ in 0..5 {
                reference.advance(CYCLE);
                velocities.push(reference.velocity()[0]);
            }
        }
        assert!(velocities[10..].iter().all(|velocity| (velocity - 0.5).abs() < 1e-9), "{velocities:?}");
    }

    #[test]
    fn braking_takes_the_deceleration_and_ends_at_rest() {
        let mut reference = reference();
        reference.follow(Duration::ZERO, &[1.0, 1.0]);
        for _ in 0..20 {
            reference.advance(CYCLE);
        }
        let (start, speed) = (reference.setpoint()[0], reference.velocity()[0]);
        assert!(speed > 0.9);
        reference.brake();
        for _ in 0..100 {
            reference.advance(CYCLE);
        }
        assert_eq!(reference.velocity(), [0.0, 0.0]);
        let way = reference.setpoint()[0] - start;
        assert!((way - speed * speed / 2.0 / 5.0).abs() < speed * CYCLE, "{way}");
    }

    #[test]
    fn a_trajectory_is_followed_exactly_and_held_at_its_end() {
        let mut reference = reference();
        let point = Point { time: 1.0, position: vec![0.5, 0.7], ..Point::default() };
        reference.follow_trajectory(Trajectory::new(vec![point], &[0.0, 1.0], &[1.0, 1.0]).unwrap());
        for _ in 0..50 {
            reference.advance(CYCLE);
        }
        assert!((reference.setpoint()[0] - 0.25).abs() < 1e-9);
        for _ in 0..60 {
            reference.advance(CYCLE);
        }
        assert_eq!(reference.setpoint(), [0.5, 0.7]);
        assert!(reference.progress().is_some_and(|(elapsed, duration)| elapsed > duration));
    }

    proptest! {
        #[test]
        fn no_command_makes_a_joint_faster_than_its_limit(
            commands in prop::collection::vec((-5.0..5.0_f64, 0_usize..12), 1..40)
        ) {
            let mut reference = reference();
            let mut now = Duration::ZERO;
            for (position, cycles) in commands {
                reference.follow(now, &[position, -position]);
                for _ in 0..cycles {
                    let before = reference.setpoint().to_vec();
                    reference.advance(CYCLE);
                    now += Duration::from_secs_f64(CYCLE);
                    for (before, after) in before.iter().zip(reference.setpoint()) {
                        prop_assert!((after - before).abs() <= CYCLE * 1.000_001);
                    }
                }
            }
        }
    }
}
