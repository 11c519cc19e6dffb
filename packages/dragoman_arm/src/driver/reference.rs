//! Set-points of the joints in every cycle: at rest, following commands, along a trajectory, braking.

use std::time::Duration;

use super::stream::Stream;
use super::trajectory::Trajectory;

/// Factor by which the peak velocity of a trajectory may exceed the checked averages.
const PEAK: f64 = 1.5;

/// Source of the set-points.
#[derive(Debug)]
enum Source {
    Hold,
    /// Decelerate each joint with its maximum deceleration.
    Brake,
    /// Follow commanded positions.
    Follow(Stream),
    /// Follow a trajectory.
    Trajectory(Trajectory),
}

/// The set-points of all joints, rad or m.
#[derive(Debug)]
pub struct Reference {
    setpoint: Vec<f64>,
    velocity: Vec<f64>,
    max_velocity: Vec<f64>,
    max_deceleration: Vec<f64>,
    source: Source,
    /// The present point of the trajectory.
    sample: Vec<f64>,
    /// The time since the trajectory's start, s.
    elapsed: f64,
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
            sample: position.to_vec(),
            elapsed: 0.0,
        }
    }

    /// The present set-points.
    pub fn setpoint(&self) -> &[f64] {
        &self.setpoint
    }

    /// The desired positions: on the trajectory; limits may delay the set-points.
    pub fn planned(&self) -> &[f64] {
        match self.source {
            Source::Trajectory(_) => &self.sample,
            _ => &self.setpoint,
        }
    }

    /// The end of the trajectory; empty without one.
    pub fn goal(&self) -> &[f64] {
        match &self.source {
            Source::Trajectory(trajectory) => trajectory.goal(),
            _ => &[],
        }
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
        match &self.source {
            Source::Follow(stream) => stream.target(),
            _ => &self.setpoint,
        }
    }

    /// Rests at `position`.
    pub fn rest_at(&mut self, position: &[f64]) {
        self.setpoint.copy_from_slice(position);
        self.velocity.fill(0.0);
        self.source = Source::Hold;
    }

    /// Changes one joint's set-point without a motion, for a joint whose position was redefined.
    pub fn shift(&mut self, joint: usize, by: f64) {
        self.change(joint, |position| position + by);
    }

    /// Holds one joint at `position`, independent of the others.
    pub fn place(&mut self, joint: usize, position: f64) {
        self.change(joint, |_| position);
        if let Some(velocity) = self.velocity.get_mut(joint) {
            *velocity = 0.0;
        }
    }

    fn change(&mut self, joint: usize, change: impl Fn(f64) -> f64) {
        if let Some(setpoint) = self.setpoint.get_mut(joint) {
            *setpoint = change(*setpoint);
        }
        if let Source::Follow(stream) = &mut self.source {
            stream.change(joint, change);
        }
    }

    /// Moves to `position`, which came at `now`, and which its sender meant for `stamp` on its own clock: by the time at
    /// which the next command is expected, or along the curve of the commands before.
    pub fn follow(&mut self, now: Duration, stamp: Option<Duration>, position: &[f64]) {
        if let Source::Follow(stream) = &mut self.source
            && stream.push(now, stamp, position)
        {
            return;
        }
        self.source = Source::Follow(Stream::new(now, stamp, &self.setpoint, position));
    }

    /// Starts `trajectory`.
    pub fn follow_trajectory(&mut self, trajectory: Trajectory) {
        self.elapsed = 0.0;
        self.source = Source::Trajectory(trajectory);
    }

    /// Decelerates to rest.
    pub fn brake(&mut self) {
        if !matches!(self.source, Source::Hold) {
            self.source = Source::Brake;
        }
    }

    /// Index of the trajectory's point to which the joints move; `None` without a trajectory.
    pub fn next_point(&self) -> Option<usize> {
        match &self.source {
            Source::Trajectory(trajectory) => Some(trajectory.next_point()),
            _ => None,
        }
    }

    /// The time since the trajectory's start and its duration, s; `None` without a trajectory.
    pub fn progress(&self) -> Option<(f64, f64)> {
        match &self.source {
            Source::Trajectory(trajectory) => Some((self.elapsed, trajectory.duration())),
            _ => None,
        }
    }

    /// Ends the trajectory; the joints hold its last set-point.
    pub fn end_trajectory(&mut self) {
        self.source = Source::Hold;
    }

    /// Advances by a cycle of `cycle` seconds that is due at `now`.
    pub fn advance(&mut self, now: Duration, cycle: f64) {
        let joints = self.setpoint.iter_mut().zip(&mut self.velocity).zip(&self.max_velocity).enumerate();
        match &mut self.source {
            Source::Hold => self.velocity.fill(0.0),
            Source::Brake => self.advance_braking(cycle),
            Source::Follow(stream) => {
                stream.advance(now, cycle);
                for (joint, ((setpoint, velocity), limit)) in joints {
                    let wanted = stream.position(joint).unwrap_or(*setpoint);
                    step(setpoint, velocity, wanted, *limit, cycle);
                }
            }
            Source::Trajectory(trajectory) => {
                self.elapsed += cycle;
                trajectory.sample(self.elapsed, &mut self.sample);
                for ((_, ((setpoint, velocity), limit)), wanted) in joints.zip(&self.sample) {
                    step(setpoint, velocity, *wanted, PEAK * limit, cycle);
                }
            }
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
            let now = Duration::from_millis(50) * command;
            reference.follow(now, None, &[0.025 * f64::from(command), 1.0]);
            for cycle in 0..5 {
                reference.advance(now + Duration::from_millis(10) * cycle, CYCLE);
                velocities.push(reference.velocity()[0]);
            }
        }
        assert!(velocities[12..].iter().all(|velocity| (velocity - 0.5).abs() < 1e-9), "{velocities:?}");
    }

    #[test]
    fn braking_takes_the_deceleration_and_ends_at_rest() {
        let mut reference = reference();
        reference.follow(Duration::ZERO, None, &[1.0, 1.0]);
        for _ in 0..20 {
            reference.advance(Duration::ZERO, CYCLE);
        }
        let (start, speed) = (reference.setpoint()[0], reference.velocity()[0]);
        assert!(speed > 0.9);
        reference.brake();
        for _ in 0..100 {
            reference.advance(Duration::ZERO, CYCLE);
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
            reference.advance(Duration::ZERO, CYCLE);
        }
        assert!((reference.setpoint()[0] - 0.25).abs() < 1e-9);
        for _ in 0..60 {
            reference.advance(Duration::ZERO, CYCLE);
        }
        assert_eq!(reference.setpoint(), [0.5, 0.7]);
        assert!(reference.progress().is_some_and(|(elapsed, duration)| elapsed > duration));
    }

    /// Limits of a sender's motion, rad/s and rad/s², and a drive's counts per rad.
    const SPEED: f64 = 0.5;
    const ACCELERATION: f64 = 1.0;
    const COUNTS: f64 = 30_000.0;

    /// The position of a sender's motion at a time.
    fn moved(time: f64) -> f64 {
        let (ramp, cruise) = (SPEED / ACCELERATION, 1.0);
        let end = 2.0 * ramp + cruise;
        let risen = |time: f64| ACCELERATION / 2.0 * time * time;
        let time = time.clamp(0.0, end);
        if time < ramp {
            risen(time)
        } else if time < ramp + cruise {
            risen(ramp) + SPEED * (time - ramp)
        } else {
            2.0 * risen(ramp) + SPEED * cruise - risen(end - time)
        }
    }

    /// Set-points of drives with cycles of `cycle` seconds while a sender moves. `times` has the period and the delay
    /// of each of the sender's messages, s. `stamp` is the time of a command on the sender's clock.
    fn followed(times: &[(f64, f64)], cycle: f64, stamp: impl Fn(f64) -> Option<Duration>) -> Vec<f64> {
        let mut reference = Reference::new(&[0.0], vec![5.0], vec![5.0]);
        let (mut sent, mut cycles, mut setpoints) = (0.0, 0.0, vec![0.0]);
        for (period, way) in times.iter().copied().chain([(0.2, 0.0)]) {
            while cycles + cycle <= sent + way {
                cycles += cycle;
                reference.advance(Duration::from_secs_f64(cycles), cycle);
                setpoints.push(reference.setpoint()[0]);
            }
            reference.follow(Duration::from_secs_f64(sent + way), stamp(sent), &[moved(sent)]);
            sent += period;
        }
        setpoints
    }

    fn another_clock(time: f64) -> Option<Duration> {
        Some(Duration::from_secs_f64(1e6 + time))
    }

    #[test]
    fn after_commands_that_were_held_up_the_motion_goes_on_without_a_jump() {
        // Six commands come at once.
        let times: Vec<_> = (0..230)
            .map(|command| {
                if (100..106).contains(&command) {
                    (0.01, 0.01 * f64::from(106 - command))
                } else {
                    (0.01, 0.0)
                }
            })
            .collect();
        let setpoints = followed(&times, 0.010_08, another_clock);
        let speeds = setpoints.windows(2).map(|pair| (pair[1] - pair[0]) / 0.010_08);
        let fastest = speeds.fold(0.0, f64::max);
        assert!(fastest > SPEED && fastest < SPEED * 1.07, "{fastest}");
        assert_eq!(setpoints.last(), Some(&moved(10.0)));
    }

    proptest! {
        #[test]
        fn without_the_senders_time_and_with_one_that_stands_still_commands_are_followed_to_their_end(
            times in prop::collection::vec((0.008..0.012, 0.0..0.002), 270),
            stamp in prop::option::of(Just(Duration::from_secs(7))),
        ) {
            let setpoints = followed(&times, 0.010_08, |_| stamp);
            prop_assert!(setpoints.windows(2).all(|pair| pair[1] >= pair[0]), "backwards");
            prop_assert_eq!(setpoints.last(), Some(&moved(10.0)));
        }

        /// A cycle falls between two commands at random, or before or after both.
        #[test]
        fn a_senders_motion_keeps_its_limits_though_the_cycles_have_their_own_clock(
            times in prop::collection::vec((0.008..0.012, 0.0..0.002), 270),
            cycle in prop::sample::select(vec![0.010_08, 0.006_48, 0.02]),
        ) {
            let setpoints = followed(&times, cycle, another_clock);
            let counts: Vec<f64> = setpoints.iter().map(|position| position * COUNTS).collect();
            let speeds: Vec<f64> = counts.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let fastest = speeds.iter().copied().fold(0.0, f64::max);
            let hardest = speeds.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f64::max);
            let (speed, acceleration) = (SPEED * cycle * COUNTS, ACCELERATION * cycle * cycle * COUNTS);
            prop_assert!(speeds.iter().all(|speed| *speed >= 0.0), "backwards");
            prop_assert!(fastest < speed + 1.0, "{fastest} counts, {speed} allowed");
            prop_assert!(hardest < acceleration + 1.0, "{hardest} counts, {acceleration} allowed");
            prop_assert_eq!(setpoints.last(), Some(&moved(10.0)));
        }

        #[test]
        fn no_command_makes_a_joint_faster_than_its_limit(
            commands in prop::collection::vec((-5.0..5.0_f64, 0_usize..12), 1..40)
        ) {
            let mut reference = reference();
            let mut now = Duration::ZERO;
            for (position, cycles) in commands {
                reference.follow(now, None, &[position, -position]);
                for _ in 0..cycles {
                    let before = reference.setpoint().to_vec();
                    reference.advance(Duration::ZERO, CYCLE);
                    now += Duration::from_secs_f64(CYCLE);
                    for (before, after) in before.iter().zip(reference.setpoint()) {
                        prop_assert!((after - before).abs() <= CYCLE * 1.000_001);
                    }
                }
            }
        }
    }
}
