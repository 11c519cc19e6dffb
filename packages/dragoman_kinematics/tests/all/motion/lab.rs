//! A virtual arm on virtual time, with checks of all invariants in every cycle.

use dragoman_kinematics::motion::joint::joint_distance;
use dragoman_kinematics::motion::{
    CommandMode, Event, MAX_PATH_RATE, MotionConfig, Pipeline, RawPose, Status, Workspace,
};
use dragoman_kinematics::{IkOptions, Model, Robot};
use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use std::collections::VecDeque;
use std::time::Duration;

/// Period of the kinematics in the Ranger thesis, s.
pub(crate) const PERIOD: f64 = 0.01944;
/// Home of Ranger Mark I.
pub(crate) const HOME: [f64; 6] =
    [std::f64::consts::FRAC_PI_2, 0.0, std::f64::consts::FRAC_PI_2, 0.0, std::f64::consts::FRAC_PI_2, 0.0];
/// Ranger Mark I reaching out along +y at working height, in the branch of the Ranger thesis, figure 3.3.
pub(crate) const REACHING: [f64; 6] = [-1.57, 1.5, 1.0, 0.0, 2.0, 0.0];

pub(crate) fn robot(table: &str) -> Robot {
    Robot::new(&Model::from_dh_yaml(table).unwrap()).unwrap()
}

pub(crate) fn ranger_mk1() -> Robot {
    robot(include_str!("../../data/ranger_mk1.yaml"))
}

/// A pose with the tool level, pointing along +x of the base turned by `yaw` about z.
pub(crate) fn level(position: [f64; 3], yaw: f64) -> Isometry3<f64> {
    let rotation = UnitQuaternion::from_euler_angles(0.0, std::f64::consts::FRAC_PI_2, yaw);
    Isometry3::from_parts(Translation3::from(position), rotation)
}

pub(crate) struct Lab {
    pub(crate) pipeline: Pipeline,
    pub(crate) time: f64,
    pub(crate) period: f64,
    pub(crate) measured: Vec<f64>,
    pub(crate) enabled: bool,
    /// Set to freeze the measured joints, whatever is commanded.
    pub(crate) blocked: bool,
    /// Cycles by which the arm follows late.
    pub(crate) lag: usize,
    pub(crate) events: Vec<Event>,
    pub(crate) command: Option<Vec<f64>>,
    pub(crate) setpoint: Isometry3<f64>,
    delayed: VecDeque<Vec<f64>>,
}

impl Lab {
    pub(crate) fn new(robot: Robot, config: MotionConfig, start: &[f64]) -> Self {
        Self {
            pipeline: Pipeline::new(robot, config).unwrap(),
            time: 100.0,
            period: PERIOD,
            measured: start.to_vec(),
            enabled: true,
            blocked: false,
            lag: 0,
            events: Vec::new(),
            command: None,
            setpoint: Isometry3::identity(),
            delayed: VecDeque::new(),
        }
    }

    /// Ranger Mark I at home with the values of the Ranger thesis but no workspace limit, ready in `mode`.
    pub(crate) fn ranger(mode: CommandMode) -> Self {
        let config = MotionConfig { workspace: Workspace::unlimited(), ..MotionConfig::default() };
        Self::ready(ranger_mk1(), config, &HOME, mode)
    }

    pub(crate) fn ready(robot: Robot, config: MotionConfig, start: &[f64], mode: CommandMode) -> Self {
        let mut lab = Self::new(robot, config, start);
        lab.cycle();
        lab.pipeline.set_command_mode(mode);
        lab.cycles(3);
        lab.events.clear();
        lab
    }

    pub(crate) fn now(&self) -> Duration {
        Duration::from_secs_f64(self.time)
    }

    /// One cycle; the arm then moves as commanded, `lag` cycles late.
    pub(crate) fn cycle(&mut self) -> Status {
        self.time += self.period;
        // The clock counts nanoseconds.
        let (now, longest) = (self.now(), self.period + 1e-9);
        self.cycle_at(now, longest)
    }

    /// One cycle at any time, which may count as at most `longest` seconds.
    pub(crate) fn cycle_at(&mut self, now: Duration, longest: f64) -> Status {
        let limits = &self.pipeline.config().joint;
        let rates: Vec<f64> = {
            let joints = self.pipeline.robot().joints().iter().zip(&limits.max_rate);
            joints
                .map(|(j, rate)| if limits.limit_paths { j.velocity.min(*rate) } else { MAX_PATH_RATE })
                .collect()
        };
        let ranges: Vec<[f64; 2]> =
            self.pipeline.robot().joints().iter().map(|joint| [joint.lower, joint.upper]).collect();
        let step = self.pipeline.step(now, &self.measured, self.enabled);
        let numbers = |pose: &Isometry3<f64>| pose.to_homogeneous().iter().all(|value| value.is_finite());
        assert!(numbers(&step.pose) && numbers(&step.setpoint), "poses are numbers");
        assert_eq!(step.events.dropped(), 0);
        assert!((0.0..=1.0).contains(&step.status.speed_scale));
        let from = self.command.as_ref().unwrap_or(&self.measured);
        if let Some(command) = step.command {
            for (joint, (new, old)) in command.iter().zip(from).enumerate() {
                assert!(new.is_finite());
                let [lower, upper] = ranges[joint];
                assert!(*new >= lower.min(*old) && *new <= upper.max(*old), "joint {joint} at {new}");
                let most = rates[joint] * longest * (1.0 + 1e-9) + 1e-12;
                assert!((new - old).abs() <= most, "joint {joint} from {old} to {new} in {longest} s");
            }
        }
        self.command = step.command.map(<[f64]>::to_vec);
        self.events.extend(step.events.iter());
        self.setpoint = step.setpoint;
        let status = step.status;
        if let Some(command) = &self.command {
            self.delayed.push_back(command.clone());
        }
        while self.delayed.len() > self.lag {
            let arrived = self.delayed.pop_front().unwrap();
            if !self.blocked {
                self.measured = arrived;
            }
        }
        status
    }

    pub(crate) fn cycles(&mut self, count: usize) -> Status {
        let mut status = self.cycle();
        for _ in 1..count {
            status = self.cycle();
        }
        status
    }

    /// Runs cycles until nothing moves, at most `limit` seconds; returns the time it took.
    pub(crate) fn run(&mut self, limit: f64) -> f64 {
        let start = self.time;
        while self.cycle().moving {
            assert!(self.time - start < limit, "still moving after {limit} s");
        }
        self.time - start
    }

    pub(crate) fn saw(&self, matches: impl Fn(&Event) -> bool) -> usize {
        self.events.iter().filter(|event| matches(event)).count()
    }

    pub(crate) fn tool(&self) -> Isometry3<f64> {
        self.pipeline.robot().forward(&self.measured)
    }

    /// Sets a goal and begins the motion to it.
    pub(crate) fn go(&mut self, pose: &Isometry3<f64>) {
        self.pipeline.set_goal_pose(&RawPose::from(pose), 0.0).unwrap();
        self.pipeline.begin_motion().unwrap();
    }
}

/// The configuration at `pose` that is nearest to `near`, among those found from many starts.
pub(crate) fn configuration(robot: &Robot, pose: &Isometry3<f64>, near: &[f64]) -> Vec<f64> {
    let mut q = vec![0.0; robot.joint_count()];
    let mut best: Option<Vec<f64>> = None;
    for start in 1..60 {
        let options =
            IkOptions { position_tolerance: 1e-10, rotation_tolerance: 1e-10, ..IkOptions::default() };
        let seed: Vec<f64> = near.iter().map(|q| q + 0.3 * (f64::from(start) * (1.0 + q)).sin()).collect();
        let found = robot.inverse(pose, &seed, &options, &mut q).is_ok();
        if found && best.as_ref().is_none_or(|best| joint_distance(&q, near) < joint_distance(best, near)) {
            best = Some(q.clone());
        }
    }
    best.unwrap()
}
