//! Effects of keys.

use crossterm::event::{KeyCode, KeyEvent};
use dragoman_bridge::arm31::rotation;
use dragoman_bridge::arm31::wire::Command;
use dragoman_kinematics::nalgebra::{Quaternion, UnitQuaternion};

use super::super::command::{self, Order, Typed};
use super::orders::{Origin, Started};
use super::{Level, Page, SCALES, STEP, Station, Target, flat};

/// Steps by which the desired pose may be ahead of the arm: the rest of a held key is ignored, so that the arm comes to
/// rest soon after it is released.
const MAX_STEPS_AHEAD: f64 = 5.0;

impl Station {
    pub(super) fn press_in_line(&mut self, key: KeyEvent) {
        let (pose, joints) = (self.pose().copied(), self.joints().cloned());
        let page_mode = f64::from(u8::from(self.page.mode()));
        let present = move |command, number| {
            let values = match command {
                Command::SetCommandMode => vec![page_mode],
                Command::SetGoalPose => pose.map(|pose| flat(&pose))?,
                Command::SetTimedGoalPose | Command::SetViaPoint => pose.map(|pose| {
                    [pose.position, rotation::rpy_from_quaternion(pose.quaternion_xyzw)].concat()
                })?,
                _ => joints.clone()?,
            };
            values.get(number).copied()
        };
        let Some(text) = self.line.press(key, self.joint_count, present) else { return };
        match command::parse(&text, self.joint_count) {
            Ok(Typed::Quit) => self.leaves = true,
            Ok(Typed::Help(None)) => self.help = Some(0),
            Ok(Typed::Help(Some(command))) => {
                self.note(Level::Info, command::usage(command, self.joint_count));
            }
            Ok(Typed::Scale(scale)) if (SCALES.0..=SCALES.1).contains(&scale) => self.scale = scale,
            Ok(Typed::Scale(_)) => {
                self.note(Level::Error, format!("the scale is {} to {}", SCALES.0, SCALES.1));
            }
            Ok(Typed::Order(order)) => self.typed(order),
            Err(reason) => self.note(Level::Error, reason),
        }
    }

    /// A command of the command line.
    pub(super) fn typed(&mut self, order: Order) {
        let measured = match order.command {
            Command::Stop => return self.stop(),
            Command::Pose => self.pose().map(flat),
            Command::JointPositions => self.joints().cloned(),
            Command::Temperatures => self.temperatures().map(|all| {
                let absent = f64::from(dragoman_bridge::arm31::wire::ABSENT_TEMPERATURE);
                all.iter().map(|temperature| temperature.unwrap_or(absent)).collect()
            }),
            _ => {
                // For any answer: the arm may move, and orders for another mode or goal are no longer valid.
                if order.command.role() == dragoman_bridge::arm31::wire::Role::Start {
                    self.started = Some(Started { at: self.now, seen: false });
                }
                self.reset_target();
                self.send(order, Origin::Line);
                return;
            }
        };
        match measured {
            Some(values) => {
                let values: Vec<String> = values.iter().map(|value| format!("{value:.4}")).collect();
                self.note(Level::Info, format!("{}: {}", order.command, values.join(" ")));
            }
            None => self.note(Level::Error, format!("{}: nothing is measured", order.command)),
        }
    }

    pub(super) fn press(&mut self, key: KeyEvent) {
        match key.code {
            KeyCode::Char('q') => self.leaves = true,
            KeyCode::Char('?') | KeyCode::F(1) => self.help = Some(0),
            KeyCode::Char(':') | KeyCode::Enter => {
                self.release();
                self.line.open();
            }
            KeyCode::Tab => self.turn(1),
            KeyCode::BackTab => self.turn(Page::ALL.len() - 1),
            KeyCode::Char(' ') => self.stop(),
            KeyCode::Char('+' | '=') => self.scale = (self.scale * 2.0).min(SCALES.1),
            KeyCode::Char('-') => self.scale = (self.scale / 2.0).max(SCALES.0),
            KeyCode::Char('m') => {
                self.reset_target();
                let mode = f64::from(u8::from(self.page.mode()));
                self.send(Order::new(Command::SetCommandMode, vec![mode]), Origin::Mode);
            }
            code => match self.page {
                Page::Cartesian => {
                    if let Some((axis, sign)) = axis(code) {
                        self.step_pose(axis, sign);
                    }
                }
                Page::Joint => self.press_joint(code),
                Page::Twist => {
                    if let Some((axis, sign)) = axis(code) {
                        self.hold(axis, sign);
                    }
                }
            },
        }
    }

    pub(super) fn turn(&mut self, by: usize) {
        self.release();
        self.reset_target();
        let here = Page::ALL.iter().position(|page| *page == self.page).unwrap_or_default();
        self.page = Page::ALL.into_iter().cycle().nth(here + by).unwrap_or(Page::Cartesian);
    }

    pub(super) fn step_pose(&mut self, axis: usize, sign: f64) {
        if !self.is_ready() {
            return;
        }
        let Some(pose) = self.pose().copied() else { return };
        let mut target = match &self.target {
            Some(Target::Pose(target)) => *target,
            _ => pose,
        };
        let (length, angle) = (STEP.0 * self.scale, STEP.1 * self.scale);
        if let Some(coordinate) = target.position.get_mut(axis) {
            *coordinate += sign * length;
        } else {
            let mut turn = [0.0; 3];
            if let Some(turn) = turn.get_mut(axis - 3) {
                *turn = sign * angle;
            }
            let turned = unit(rotation::quaternion_from_rpy(turn)) * unit(target.quaternion_xyzw);
            target.quaternion_xyzw = turned.coords.into();
        }
        let offset =
            target.position.iter().zip(pose.position).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let turned = rotation::angle_between(target.quaternion_xyzw, pose.quaternion_xyzw);
        // A little more than the steps themselves: the arm never stands exactly where it should.
        if offset < (MAX_STEPS_AHEAD + 0.5) * length && turned < (MAX_STEPS_AHEAD + 0.5) * angle {
            self.set_target(Target::Pose(target));
        }
    }

    pub(super) fn press_joint(&mut self, code: KeyCode) {
        let last = self.joint_count.saturating_sub(1);
        match code {
            KeyCode::Up => self.joint = self.joint.saturating_sub(1),
            KeyCode::Down => self.joint = (self.joint + 1).min(last),
            KeyCode::Char(digit @ '1'..='9') => {
                self.joint = (digit as usize - '1' as usize).min(last);
            }
            KeyCode::Left => self.step_joint(-1.0),
            KeyCode::Right => self.step_joint(1.0),
            _ => {}
        }
    }

    pub(super) fn step_joint(&mut self, sign: f64) {
        if !self.is_ready() {
            return;
        }
        let Some(measured) = self.joints().cloned() else { return };
        let mut target = match &self.target {
            Some(Target::Joints(target)) if target.len() == measured.len() => target.clone(),
            _ => measured.clone(),
        };
        let step = STEP.2 * self.scale;
        if let (Some(target), Some(measured)) = (target.get_mut(self.joint), measured.get(self.joint)) {
            *target += sign * step;
            if (*target - measured).abs() >= (MAX_STEPS_AHEAD + 0.5) * step {
                return;
            }
        }
        self.set_target(Target::Joints(target));
    }
}

/// The tool's axis of a key and its direction: x, y, z, and turns about them.
pub(super) fn axis(code: KeyCode) -> Option<(usize, f64)> {
    Some(match code {
        KeyCode::Up => (0, 1.0),
        KeyCode::Down => (0, -1.0),
        KeyCode::Left => (1, 1.0),
        KeyCode::Right => (1, -1.0),
        KeyCode::PageUp => (2, 1.0),
        KeyCode::PageDown => (2, -1.0),
        KeyCode::Char('u') => (3, 1.0),
        KeyCode::Char('j') => (3, -1.0),
        KeyCode::Char('i') => (4, 1.0),
        KeyCode::Char('k') => (4, -1.0),
        KeyCode::Char('o') => (5, 1.0),
        KeyCode::Char('l') => (5, -1.0),
        _ => return None,
    })
}

fn unit([x, y, z, w]: [f64; 4]) -> UnitQuaternion<f64> {
    UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z))
}
