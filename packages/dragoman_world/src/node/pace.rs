//! The worlds' time, and velocities that expire. Times are since the node's start.

use std::time::Duration;

use dragoman_geometry::Twist;

use crate::WorldError;
use crate::Worlds;

/// Maximum time of one step, s.
const MAX_STEP: f64 = 3600.0;

/// Speed of the worlds' time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Speed {
    /// World time per real time.
    Factor(f64),
    /// The caller steps the worlds.
    AsFastAsPossible,
}

/// Worlds that follow the time.
pub(super) struct Pace {
    worlds: Worlds,
    speed: Speed,
    command_timeout: Duration,
    now: Duration,
    commands: Vec<Command>,
    /// The worlds' time advances in multiples of this; zero: in any.
    time_step: Duration,
    /// Time that has passed and is less than a step.
    rest: Duration,
}

/// A command to a robot.
struct Command {
    world: String,
    robot: String,
    expires: Duration,
}

impl Pace {
    /// A velocity is valid for `command_timeout` of real time, or of the worlds' time if that runs as fast as possible.
    pub(super) fn new(worlds: Worlds, speed: Speed, command_timeout: Duration) -> Self {
        Self {
            worlds,
            speed,
            command_timeout,
            now: Duration::ZERO,
            commands: Vec::new(),
            time_step: Duration::ZERO,
            rest: Duration::ZERO,
        }
    }

    /// Other worlds, for example the same as at the start: nothing is commanded in them.
    pub(super) fn replace(&mut self, worlds: Worlds) {
        self.worlds = worlds;
        self.commands.clear();
        self.rest = Duration::ZERO;
    }

    /// The worlds' speed; `None`: as fast as possible.
    pub(super) fn factor(&self) -> Option<f64> {
        match self.speed {
            Speed::Factor(factor) => Some(factor),
            Speed::AsFastAsPossible => None,
        }
    }

    /// Changes the worlds' speed; advance them to the present before. Without effect if they run as fast as possible.
    pub(super) fn set_factor(&mut self, factor: f64) {
        if let Speed::Factor(speed) = &mut self.speed {
            *speed = factor;
        }
    }

    pub(super) fn time_step(&self) -> Duration {
        self.time_step
    }

    /// From now on the time advances in multiples of this; zero: in any.
    pub(super) fn set_time_step(&mut self, time_step: Duration) {
        self.time_step = time_step;
    }

    pub(super) fn worlds(&mut self) -> &mut Worlds {
        &mut self.worlds
    }

    /// The worlds' time.
    pub(super) fn time(&self) -> Duration {
        self.worlds.worlds().first().map_or(Duration::ZERO, |world| world.time())
    }

    /// Whether the worlds can be advanced by this time, s.
    pub(super) fn can_step(time: f64) -> bool {
        (0.0..=MAX_STEP).contains(&time)
    }

    /// Advances the worlds by this time. Commands age by it, so that a robot drives as far as it normally would.
    ///
    /// # Errors
    /// The time is not between 0 and [`MAX_STEP`].
    pub(super) fn step(&mut self, time: f64) -> Result<(), WorldError> {
        if !Self::can_step(time) {
            let (least, most) = (0.0, MAX_STEP);
            return Err(WorldError::OutOfRange { field: "duration", value: time, least, most });
        }
        let mut rest = Duration::from_secs_f64(time);
        while let Some((at, expires)) =
            self.next_to_expire().filter(|&(_, expires)| expires <= self.now + rest)
        {
            let passes = expires.saturating_sub(self.now);
            self.skip(passes);
            rest -= passes;
            self.stop(at);
        }
        self.skip(rest);
        Ok(())
    }

    fn skip(&mut self, time: Duration) {
        self.worlds.advance(time);
        for command in &mut self.commands {
            command.expires -= time;
        }
    }

    /// Advances the worlds to a time; robots stop when their commands expire.
    pub(super) fn advance_to(&mut self, now: Duration) {
        let Speed::Factor(factor) = self.speed else { return };
        while let Some((at, expires)) = self.next_to_expire().filter(|&(_, expires)| expires <= now) {
            self.pass(expires, factor);
            self.stop(at);
        }
        self.pass(now, factor);
    }

    /// Ends a command.
    fn stop(&mut self, at: usize) {
        let Command { world, robot, .. } = self.commands.swap_remove(at);
        // The robot was found when it was commanded.
        let _ = self.worlds.set_twist(Some(&world), &robot, Twist::ZERO);
    }

    /// The command that expires next, and when.
    fn next_to_expire(&self) -> Option<(usize, Duration)> {
        let times = self.commands.iter().map(|command| command.expires);
        times.enumerate().min_by_key(|&(_, expires)| expires)
    }

    fn pass(&mut self, now: Duration, factor: f64) {
        if let Some(passed) = now.checked_sub(self.now) {
            self.rest += passed.mul_f64(factor);
            self.now = now;
            let step = self.time_step.as_nanos();
            let below_step = self.rest.as_nanos().checked_rem(step).unwrap_or(0);
            // Less than a step, which is short.
            let below_step = Duration::from_nanos(u64::try_from(below_step).unwrap_or(0));
            self.worlds.advance(self.rest - below_step);
            self.rest = below_step;
        }
    }

    /// Commands a velocity.
    ///
    /// # Errors
    /// Those of [`Worlds::set_twist`].
    pub(super) fn command(&mut self, world: &str, robot: &str, twist: Twist) -> Result<(), WorldError> {
        self.worlds.set_twist(Some(world), robot, twist)?;
        self.commands.retain(|command| (command.world.as_str(), command.robot.as_str()) != (world, robot));
        if twist != Twist::ZERO {
            let expires = self.now + self.command_timeout;
            self.commands.push(Command { world: world.to_owned(), robot: robot.to_owned(), expires });
        }
        Ok(())
    }

    /// Switches the motors of a robot; off ends its command.
    ///
    /// # Errors
    /// Those of [`Worlds::set_motor_power`].
    pub(super) fn set_motor_power(&mut self, world: &str, robot: &str, on: bool) -> Result<(), WorldError> {
        self.worlds.set_motor_power(Some(world), robot, on)?;
        if !on {
            self.commands
                .retain(|command| (command.world.as_str(), command.robot.as_str()) != (world, robot));
        }
        Ok(())
    }

    /// Whether this robot has a valid command.
    pub(super) fn is_driving(&self, world: &str, robot: &str) -> bool {
        self.commands.iter().any(|command| (command.world.as_str(), command.robot.as_str()) == (world, robot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORLD: &str = "World 1";

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    fn pace(factor: f64) -> Pace {
        let mut pace = Pace::new(Worlds::load_default().unwrap(), Speed::Factor(factor), seconds(0.6));
        assert!(pace.worlds().place_m_robot(None, "Neo", [0.0, 0.0, 0.1], 0.0).unwrap());
        pace
    }

    fn x(pace: &mut Pace) -> f64 {
        pace.worlds().location_m_robot(None, "Neo").unwrap()[0]
    }

    #[test]
    fn a_velocity_is_valid_until_it_expires_with_any_step() {
        for step in [0.001, 0.05, 2.0] {
            let mut pace = pace(1.0);
            pace.advance_to(seconds(1.0));
            pace.command(WORLD, "Neo", Twist::new(0.5, 0.0)).unwrap();
            assert!(pace.is_driving(WORLD, "Neo"));
            let mut now = 1.0;
            while now < 3.0 {
                now += step;
                pace.advance_to(seconds(now));
            }
            assert!((x(&mut pace) - 0.3).abs() < 1e-6, "{step}: {}", x(&mut pace));
            assert!(!pace.is_driving(WORLD, "Neo"));
        }
    }

    #[test]
    fn a_velocity_is_valid_from_its_reception() {
        let mut pace = pace(1.0);
        pace.command(WORLD, "Neo", Twist::new(0.5, 0.0)).unwrap();
        pace.advance_to(seconds(0.4));
        pace.command(WORLD, "Neo", Twist::new(-0.5, 0.0)).unwrap();
        pace.advance_to(seconds(0.6));
        pace.command(WORLD, "Neo", Twist::new(0.0, 0.0)).unwrap();
        pace.advance_to(seconds(5.0));
        assert!((x(&mut pace) - 0.1).abs() < 1e-6, "{}", x(&mut pace));
    }

    #[test]
    fn time_may_run_fast_or_be_paused() {
        for factor in [0.0, 4.0] {
            let mut pace = pace(factor);
            pace.command(WORLD, "Neo", Twist::new(0.5, 0.0)).unwrap();
            pace.advance_to(seconds(0.5));
            assert!((x(&mut pace) - 0.25 * factor).abs() < 1e-6, "{factor}: {}", x(&mut pace));
            assert_eq!(pace.time(), seconds(0.5 * factor));
        }
    }

    /// TurtleBot thesis, A.5: 50 ms are the default of its simulator.
    #[test]
    fn time_goes_in_steps_if_they_are_set() {
        let mut pace = pace(1.0);
        pace.set_time_step(seconds(0.05));
        pace.command(WORLD, "Neo", Twist::new(0.5, 0.0)).unwrap();
        for (now, time) in [(0.049, 0.0), (0.051, 0.05), (0.099, 0.05), (0.26, 0.25), (0.3, 0.3)] {
            pace.advance_to(seconds(now));
            assert_eq!(pace.time(), seconds(time), "{now}");
            assert!((x(&mut pace) - 0.5 * time).abs() < 1e-6, "{now}: {}", x(&mut pace));
        }
        pace.set_time_step(Duration::ZERO);
        pace.advance_to(seconds(0.31));
        assert_eq!(pace.time(), seconds(0.31));
    }

    #[test]
    fn the_speed_may_change_and_the_worlds_may_begin_again() {
        let mut pace = pace(1.0);
        for (now, factor, time) in [(1.0, 0.0, 1.0), (3.0, 4.0, 1.0), (4.0, 0.5, 5.0), (6.0, 1.0, 6.0)] {
            pace.advance_to(seconds(now));
            pace.set_factor(factor);
            assert_eq!(pace.time(), seconds(time), "{now}");
        }
        pace.command(WORLD, "Neo", Twist::new(0.5, 0.0)).unwrap();
        pace.replace(Worlds::load_default().unwrap());
        assert_eq!(pace.time(), Duration::ZERO);
        let before = x(&mut pace);
        pace.advance_to(seconds(7.0));
        assert_eq!((pace.time(), x(&mut pace)), (seconds(1.0), before), "it has no command");
    }

    #[test]
    fn time_can_be_advanced_by_a_request() {
        for steps in [1, 7, 1000] {
            let mut pace = pace(0.0);
            pace.command(WORLD, "Neo", Twist::new(0.5, 0.0)).unwrap();
            for _ in 0..steps {
                pace.step(1.4 / f64::from(steps)).unwrap();
            }
            assert!((x(&mut pace) - 0.3).abs() < 1e-6, "{steps}: {}", x(&mut pace));
            assert!((pace.time().as_secs_f64() - 1.4).abs() < 1e-5, "{:?}", pace.time());
        }
    }

    #[test]
    fn invalid_steps_do_not_advance_the_time() {
        let mut pace = pace(0.0);
        for time in [-0.1, 3601.0, f64::NAN, f64::INFINITY] {
            assert!(pace.step(time).is_err(), "{time}");
        }
        assert_eq!(pace.time(), Duration::ZERO);
    }

    #[test]
    fn a_refused_command_stops_no_robot() {
        let mut pace = pace(1.0);
        pace.command(WORLD, "Neo", Twist::new(0.5, 0.0)).unwrap();
        assert!(pace.command(WORLD, "Neo", Twist::new(f64::NAN, 0.0)).is_err());
        assert!(pace.command(WORLD, "pieza", Twist::new(0.1, 0.0)).is_err());
        pace.advance_to(seconds(0.2));
        assert!((x(&mut pace) - 0.1).abs() < 1e-6);
    }
}
