//! Following a Cartesian path: from the next set-point to joint positions that the arm can reach in one step.

use nalgebra::{Isometry3, Point3, Vector6};

use super::cartesian::{CartesianLimits, masked_distance, moved};
use super::course::Motion;
use super::event::{Event, Events};
use super::pipeline::{Pipeline, limited_rate};
use super::workspace::Violation;
use crate::GoalMask;

/// Attempts to shorten a step to the joints' rates, and the number of cycles without progress that are tolerated.
const MAX_SHORTENINGS: usize = 6;
const MAX_STUCK_CYCLES: u32 = 8;

impl Motion {
    fn advance(&mut self, dt: f64, limits: &CartesianLimits) -> Option<Isometry3<f64>> {
        match self {
            Self::Line(line) => Some(line.advance(dt)),
            Self::Shape(shape) => Some(shape.advance(dt)),
            Self::Twist(twist) => Some(twist.advance(dt, limits)),
            Self::Idle | Self::Joint => None,
        }
    }

    fn stop_pose(&self, limits: &CartesianLimits) -> Option<Isometry3<f64>> {
        match self {
            Self::Line(line) => Some(line.stop_pose()),
            Self::Shape(shape) => Some(shape.stop_pose()),
            Self::Twist(twist) => Some(twist.stop_pose(limits)),
            Self::Idle | Self::Joint => None,
        }
    }
}

impl Pipeline {
    /// Advances a Cartesian motion by `dt` seconds (> 0), or by less if a joint's rate requires it: the tool then slows
    /// down on its path instead of leaving it.
    pub(super) fn advance_pose(&mut self, dt: f64, events: &mut Events) {
        let mut share = dt;
        for _ in 0..MAX_SHORTENINGS {
            let mut trial = self.course.motion;
            let Some(mut target) = trial.advance(share, &self.arm.config.cartesian) else { return };
            if let Motion::Twist(twist) = &mut trial
                && let Some(aside) = self.aside(&target)
            {
                twist.move_to(aside);
                target = aside;
            }
            if let Some((position, violation)) = self.limit_on(&trial, &target) {
                if self.course.braking {
                    // The stopping distance is not free: the set-point is suppressed.
                    self.hold(events);
                    return;
                }
                events.push(Event::SetpointLimited { position, violation });
                self.abort(events);
                continue;
            }
            let converged = self
                .arm
                .robot
                .track(&target, &self.commanded.joints, &self.arm.ik, &mut self.commanded.candidate)
                .is_ok();
            if !converged && self.diverges(&target, events) {
                self.hold(events);
                return;
            }
            let excess = self.rate_excess(dt);
            if excess <= 1.0 {
                if converged {
                    self.turn_away(&target, dt);
                }
                self.limit_candidate(dt, events);
                self.commanded.joints.copy_from_slice(&self.commanded.candidate);
                // The orientation that the joints produce, where a part of it is free.
                self.commanded.setpoint = if self.arm.ik.mask == GoalMask::POSE {
                    target
                } else {
                    self.arm.robot.forward(&self.commanded.joints)
                };
                self.course.motion = trial;
                self.course.speed_scale = share / dt;
                self.course.stuck = 0;
                return;
            }
            share *= 0.9 / excess;
        }
        self.course.speed_scale = 0.0;
        self.course.stuck += 1;
        if self.course.stuck > MAX_STUCK_CYCLES {
            // The solution jumps for any step length: it is on another branch and of no use.
            let target = self.commanded.setpoint;
            let solution = self.distance(&self.arm.robot.forward(&self.commanded.candidate), &target);
            events
                .push(Event::IkDivergence { solution, present: self.distance(&self.measured.pose, &target) });
            self.hold(events);
        }
    }

    /// `target` without the part of the step that leads towards a singularity; `None` if there is no such part. Below
    /// the margin the step leads out again, because each step is straight, but the border of the margin is curved.
    fn aside(&mut self, target: &Isometry3<f64>) -> Option<Isometry3<f64>> {
        let margin = self.arm.config.singularity_margin;
        if margin == 0.0 {
            return None;
        }
        let here = self.arm.robot.manipulability(&self.commanded.joints, &mut self.commanded.candidate);
        let strength = (2.0 - here.value / margin).max(0.0);
        let linear = target.translation.vector - self.commanded.setpoint.translation.vector;
        let angular = (target.rotation * self.commanded.setpoint.rotation.inverse()).scaled_axis();
        let step = Vector6::new(linear.x, linear.y, linear.z, angular.x, angular.y, angular.z);
        let change = here.along.dot(&step);
        let square = here.along.norm_squared();
        if strength == 0.0 || change >= 0.0 || square == 0.0 {
            return None;
        }
        Some(moved(&self.commanded.setpoint, &(step - here.along * (strength * change / square)), 1.0))
    }

    /// Moves the joints of a redundant arm towards more manipulability, as far as their rates leave room; the tool stays at
    /// `target`.
    fn turn_away(&mut self, target: &Isometry3<f64>, dt: f64) {
        let rate = self.arm.config.null_space_rate;
        if rate == 0.0 {
            return;
        }
        let [mut trial, mut solution] = std::mem::take(&mut self.commanded.spare);
        solution.copy_from_slice(&self.commanded.candidate);
        let value = self.arm.robot.manipulability(&solution, &mut trial).value;
        if value > 0.0 {
            // Of the logarithm: the size of the arm does not matter.
            trial.iter_mut().for_each(|entry| *entry /= value);
            self.arm.robot.null_space(&solution, &mut trial);
            let greatest = trial.iter().fold(1.0_f64, |most, entry| most.max(entry.abs()));
            // No faster than the path needs the joints anyway: it begins and ends with the motion of the tool.
            let pace = solution.iter().zip(&self.commanded.joints).map(|(q, command)| (q - command).abs());
            let mut share = pace.fold(0.0, f64::max).min(rate * dt) / greatest;
            for (((entry, q), command), range) in trial
                .iter()
                .zip(&solution)
                .zip(&self.commanded.joints)
                .zip(&self.arm.ranges)
                .filter(|row| *row.0.0.0 != 0.0)
            {
                let done = (q - command) * entry.signum();
                let most = limited_rate(&self.course.motion, &self.arm.config, range) * dt;
                let free = if *entry > 0.0 { range.upper - q } else { q - range.lower };
                // Correcting the tool's pose afterwards takes a little.
                let room = (0.95 * most - done).min(free).max(0.0);
                share = share.min(room / entry.abs());
            }
            for (entry, q) in trial.iter_mut().zip(&solution) {
                *entry = q + *entry * share;
            }
            // The step is not infinitely small: the tool has moved.
            let is_there =
                self.arm.robot.track(target, &trial, &self.arm.ik, &mut self.commanded.candidate).is_ok();
            if !is_there || self.rate_excess(dt) > 1.0 {
                self.commanded.candidate.copy_from_slice(&solution);
            }
        }
        self.commanded.spare = [trial, solution];
    }

    /// The workspace rule that the step to `target`, or stopping after it, would break, and the position.
    ///
    /// Looking ahead to the end of the stop lets the deceleration stay within its limit and the set-point within the
    /// workspace. While braking only the step itself counts, for its end was checked before.
    fn limit_on(&self, trial: &Motion, target: &Isometry3<f64>) -> Option<([f64; 3], Violation)> {
        let workspace = &self.arm.config.workspace;
        let from = Point3::from(self.commanded.setpoint.translation.vector);
        let to = Point3::from(target.translation.vector);
        if let Some(violation) = workspace.violation_between(&from, &to) {
            return Some((to.coords.into(), violation));
        }
        if self.course.braking {
            return None;
        }
        let stop = Point3::from(trial.stop_pose(&self.arm.config.cartesian)?.translation.vector);
        workspace.violation_between(&to, &stop).map(|violation| (stop.coords.into(), violation))
    }

    /// The divergence check of the Ranger thesis, for a solution that is not exact: reports and returns true when it
    /// misses `target` by more than the tolerance. The Ranger thesis also allows the measured pose's own distance,
    /// because its five iterations rarely end on the target; here an inexact solution means that there is no exact one
    /// nearby.
    fn diverges(&self, target: &Isometry3<f64>, events: &mut Events) -> bool {
        let solution = self.distance(&self.arm.robot.forward(&self.commanded.candidate), target);
        // Negated, so that NaN counts as divergence.
        if solution <= self.arm.config.divergence_tolerance {
            return false;
        }
        events.push(Event::IkDivergence { solution, present: self.distance(&self.measured.pose, target) });
        let at_limit = self.arm.ranges.iter().zip(&self.commanded.candidate).position(|(range, q)| {
            let room = (q - range.lower).min(range.upper - q);
            room < 1e-9
        });
        if let Some((joint, (range, q))) = at_limit.and_then(|joint| {
            Some((joint, self.arm.ranges.iter().zip(&self.commanded.candidate).nth(joint)?))
        }) {
            let limit = q.clamp(range.lower, range.upper);
            events.push(Event::JointLimit { joint, requested: *q, limit });
        }
        true
    }

    fn distance(&self, pose: &Isometry3<f64>, target: &Isometry3<f64>) -> f64 {
        masked_distance(&self.arm.ik.mask, pose, target)
    }

    /// Maximum quotient of a joint's change and the maximum of its rate in `dt` seconds.
    fn rate_excess(&self, dt: f64) -> f64 {
        let changes = self.commanded.candidate.iter().zip(&self.commanded.joints);
        changes
            .zip(&self.arm.ranges)
            .map(|((candidate, command), range)| {
                (candidate - command).abs()
                    / (limited_rate(&self.course.motion, &self.arm.config, range) * dt)
            })
            .fold(0.0, f64::max)
    }

    /// Ends the motion at the present command.
    fn hold(&mut self, events: &mut Events) {
        self.abort(events);
        self.course.end();
        self.commanded.setpoint = self.arm.robot.forward(&self.commanded.joints);
    }
}
