//! A mobile robot of an old server's world: velocity commands, and queries of odometry and laser.
//!
//! One cycle is: `move_m_robot` for the length of a period while a velocity is set, followed by `update`;
//! `get_odometry`; `get_laser_data`. Each call waits for the outcome of the previous one, so a slow server makes cycles
//! longer and never gets the same question twice. After a refusal the next cycle starts one second later: an original
//! server does not answer questions about unknown names, and each of these delays all other calls. A velocity is valid
//! for [`RobotConfig::command_timeout`] and has to be repeated.

use std::time::Duration;

use super::super::call::Outcome;
use super::super::wire::Request;

/// Pause after a refusal.
const REFUSAL_PAUSE: Duration = Duration::from_secs(1);

/// Configuration of a robot.
#[derive(Debug, Clone, PartialEq)]
pub struct RobotConfig {
    /// Name of its world; empty: the first world that has the robot.
    pub world: String,
    /// Its name.
    pub robot: String,
    /// Name of its laser, if it has one.
    pub laser: Option<String>,
    /// Length of a cycle.
    pub period: Duration,
    /// How long a velocity is valid. Default of the node: 0.6 s.
    pub command_timeout: Duration,
}

/// Data from the robot's answers.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some variants say it")]
pub enum RobotEvent {
    Odometry {
        /// m
        x: f64,
        /// m
        y: f64,
        /// rad
        yaw: f64,
        /// Velocity of the move in this cycle, m/s and rad/s; zero without a move.
        velocity: [f64; 2],
    },
    /// Its laser's ranges, m, counter-clockwise from the first beam.
    Scan {
        /// One value per beam, m.
        ranges: Vec<f64>,
    },
    /// A query was refused.
    Refused(super::Refusal),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Move,
    Update,
    Odometry,
    Scan,
}

/// The cycles of one robot. The owner calls [`poll_call`](Self::poll_call) after every input and when
/// [`poll_timeout`](Self::poll_timeout) is due, makes the call, and reports with
/// [`handle_outcome`](Self::handle_outcome).
#[derive(Debug)]
pub struct RobotCycle {
    config: RobotConfig,
    /// Speed and rotation speed, and when they were received.
    command: Option<([f64; 2], Duration)>,
    /// Velocity of this cycle's move.
    velocity: [f64; 2],
    /// Next step of this cycle; `None`: the cycle is over.
    step: Option<Step>,
    is_waiting: bool,
    next_cycle: Duration,
}

impl RobotCycle {
    /// The first cycle begins at `now`.
    pub fn new(now: Duration, config: RobotConfig) -> Self {
        Self { config, command: None, velocity: [0.0; 2], step: None, is_waiting: false, next_cycle: now }
    }

    /// Sets a velocity: forward, m/s, and counter-clockwise, rad/s. `false`: refused, because it is not finite.
    pub fn handle_command(&mut self, now: Duration, speed: f64, rotation_speed: f64) -> bool {
        let is_finite = speed.is_finite() && rotation_speed.is_finite();
        if is_finite {
            self.command = Some(([speed, rotation_speed], now));
        }
        is_finite
    }

    /// The next call, if one is due.
    pub fn poll_call(&mut self, now: Duration) -> Option<Request> {
        if self.is_waiting {
            return None;
        }
        if self.step.is_none() && self.next_cycle <= now {
            self.begin(now);
        }
        let (world, robot) = (self.config.world.clone(), self.config.robot.clone());
        let request = match self.step? {
            Step::Move => {
                let [speed, rotation_speed] = self.velocity;
                let duration = self.config.period.as_secs_f64();
                Request::MoveMRobot { world, robot, speed, rotation_speed, duration }
            }
            Step::Update => Request::Update { world },
            Step::Odometry => Request::GetOdometry { world, robot },
            Step::Scan => Request::GetLaserData { world, laser: self.config.laser.clone()? },
        };
        self.is_waiting = true;
        Some(request)
    }

    /// The call has ended.
    pub fn handle_outcome(&mut self, now: Duration, outcome: Outcome) -> Option<RobotEvent> {
        if !std::mem::take(&mut self.is_waiting) {
            return None;
        }
        let step = self.step?;
        self.step = match step {
            Step::Move => Some(Step::Update),
            Step::Update => Some(Step::Odometry),
            Step::Odometry => self.config.laser.as_ref().map(|_| Step::Scan),
            Step::Scan => None,
        };
        match (step, outcome) {
            (Step::Move, Outcome::Verdict(true)) => None,
            (_, Outcome::Refused(refusal)) => {
                // The other queries of this cycle would fail as well.
                self.velocity = [0.0; 2];
                self.step = None;
                self.next_cycle = self.next_cycle.max(now + REFUSAL_PAUSE);
                Some(RobotEvent::Refused(refusal))
            }
            (Step::Move, _) => {
                self.velocity = [0.0; 2];
                None
            }
            (Step::Odometry, Outcome::Values(values)) => {
                let [x, y, yaw] = *values.first_chunk()?;
                let is_finite = [x, y, yaw].into_iter().all(f64::is_finite);
                is_finite.then_some(RobotEvent::Odometry { x, y, yaw, velocity: self.velocity })
            }
            (Step::Scan, Outcome::Values(ranges)) => Some(RobotEvent::Scan { ranges }),
            _ => None,
        }
    }

    /// When the next call is due, unless one is open.
    pub fn poll_timeout(&self) -> Option<Duration> {
        (!self.is_waiting && self.step.is_none()).then_some(self.next_cycle)
    }

    fn begin(&mut self, now: Duration) {
        let period = self.config.period;
        // Keeps the phase unless a whole period was missed.
        let kept = self.next_cycle.checked_add(period).filter(|next| *next > now);
        self.next_cycle = kept.or(now.checked_add(period)).unwrap_or(now);
        let fresh = self.command.filter(|(_, came)| now.saturating_sub(*came) <= self.config.command_timeout);
        self.velocity = fresh.map_or([0.0; 2], |(velocity, _)| velocity);
        self.step = Some(if self.velocity == [0.0; 2] { Step::Odometry } else { Step::Move });
    }
}
