//! The motion in progress, and the one that waits for it.

use nalgebra::{Isometry3, Vector6};

use super::cartesian::{StraightLine, TwistMotion};
use super::joint::JointTrajectory;
use super::reconfigure::ConfiguredArm;
use super::shapes::{Axis, Shape};

/// A motion that was accepted and starts in the next step that allows it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Queued {
    Line {
        goal: Isometry3<f64>,
        min_duration: f64,
    },
    Circle {
        radius: f64,
        period: f64,
        axes: [Axis; 2],
    },
    Sinusoid {
        amplitude: f64,
        period: f64,
        axis: Axis,
    },
    Twist(Vector6<f64>),
    /// The goal is in `queued_joint`.
    Joint {
        min_duration: f64,
    },
}

/// The motion in progress.
#[derive(Clone, Copy, Debug)]
pub(super) enum Motion {
    Idle,
    Line(StraightLine),
    Shape(Shape),
    Twist(TwistMotion),
    /// The trajectory is in `joint_trajectory`.
    Joint,
}

#[derive(Clone, Debug)]
pub(super) struct Course {
    pub(super) queued: Option<Queued>,
    pub(super) queued_joint: Vec<f64>,
    pub(super) motion: Motion,
    pub(super) joint_trajectory: JointTrajectory,
    /// Whether the motion is being stopped.
    pub(super) braking: bool,
    /// Whether to check after the stop for a blocked arm.
    pub(super) relax: bool,
    /// Time since the last twist command, s.
    pub(super) twist_age: f64,
    /// Cycles in which the path did not advance because the joints could not follow.
    pub(super) stuck: u32,
    pub(super) speed_scale: f64,
}

impl Course {
    pub(super) fn new(joints: usize) -> Self {
        Self {
            queued: None,
            queued_joint: vec![0.0; joints],
            motion: Motion::Idle,
            joint_trajectory: JointTrajectory::new(joints),
            braking: false,
            relax: false,
            twist_age: 0.0,
            stuck: 0,
            speed_scale: 1.0,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        matches!(self.motion, Motion::Idle)
    }

    pub(super) fn is_done(&self) -> bool {
        match &self.motion {
            Motion::Idle => false,
            Motion::Line(line) => line.is_done(),
            Motion::Shape(shape) => shape.is_done(),
            Motion::Twist(twist) => twist.is_done(),
            Motion::Joint => self.joint_trajectory.is_done(),
        }
    }

    /// Starts the queued motion, if there is one, at the set-point `start` and the commanded `joints`.
    pub(super) fn start_queued(&mut self, start: Isometry3<f64>, joints: &[f64], arm: &ConfiguredArm) {
        let limits = &arm.config.cartesian;
        self.motion = match self.queued.take() {
            None => return,
            Some(Queued::Line { mut goal, min_duration }) => {
                goal.rotation = arm.ik.mask.free.nearest(&start.rotation, &goal.rotation);
                Motion::Line(StraightLine::new(start, goal, min_duration, limits))
            }
            Some(Queued::Circle { radius, period, axes }) => {
                Motion::Shape(Shape::circle(start, radius, period, axes, limits))
            }
            Some(Queued::Sinusoid { amplitude, period, axis }) => {
                Motion::Shape(Shape::sinusoid(start, amplitude, period, axis, limits))
            }
            Some(Queued::Twist(twist)) => {
                let mut motion = TwistMotion::new(start);
                motion.set_target(twist, limits);
                Motion::Twist(motion)
            }
            Some(Queued::Joint { min_duration }) => {
                let goal = &self.queued_joint;
                self.joint_trajectory.begin(joints, goal, min_duration, &arm.config.joint);
                Motion::Joint
            }
        };
        self.braking = false;
        self.stuck = 0;
    }

    pub(super) fn brake(&mut self) {
        if self.braking {
            return;
        }
        match &mut self.motion {
            Motion::Idle => return,
            Motion::Line(line) => line.brake(),
            Motion::Shape(shape) => shape.brake(),
            Motion::Twist(twist) => twist.brake(),
            Motion::Joint => self.joint_trajectory.brake(),
        }
        self.braking = true;
    }

    /// The motion ends here.
    pub(super) fn end(&mut self) {
        self.motion = Motion::Idle;
        self.braking = false;
    }

    /// Drops the motion and the queued one.
    pub(super) fn drop_motion(&mut self) {
        self.queued = None;
        self.end();
        self.relax = false;
    }
}
