//! Content of the screen.

use std::collections::VecDeque;
use std::time::Duration;

use dragoman_bridge::arm31::{CommandMode, ToolPose};

use super::super::command::Line;
use super::{Event, Page, STALE, STATUS_STALE, Setup, Station, Target};

impl Station {
    pub(in crate::station) fn setup(&self) -> &Setup {
        &self.setup
    }

    pub(in crate::station) fn now(&self) -> Duration {
        self.now
    }

    pub(in crate::station) fn page(&self) -> Page {
        self.page
    }

    pub(in crate::station) fn scale(&self) -> f64 {
        self.scale
    }

    /// The joint that the keys move, from 0.
    pub(in crate::station) fn joint(&self) -> usize {
        self.joint
    }

    pub(in crate::station) fn joint_count(&self) -> usize {
        self.joint_count
    }

    pub(in crate::station) fn line(&self) -> &Line {
        &self.line
    }

    pub(in crate::station) fn help(&self) -> Option<usize> {
        self.help
    }

    /// Oldest first.
    pub(in crate::station) fn events(&self) -> &VecDeque<Event> {
        &self.events
    }

    pub(in crate::station) fn pose(&self) -> Option<&ToolPose> {
        self.pose.get(self.now, STALE)
    }

    pub(in crate::station) fn joints(&self) -> Option<&Vec<f64>> {
        self.joints.get(self.now, STALE)
    }

    pub(in crate::station) fn temperatures(&self) -> Option<&Vec<Option<f64>>> {
        self.drives.get(self.now, STATUS_STALE).map(|(_, temperature)| temperature)
    }

    /// Whether the drives are on.
    pub(in crate::station) fn enabled(&self) -> Option<bool> {
        self.drives.get(self.now, STATUS_STALE).map(|(enabled, _)| *enabled)
    }

    /// Mode, and whether the arm moves.
    pub(in crate::station) fn motion(&self) -> Option<(CommandMode, bool)> {
        self.motion.get(self.now, STATUS_STALE).copied()
    }

    /// Where the keys lead; the measured pose if they have not moved it.
    pub(in crate::station) fn desired_pose(&self) -> Option<&ToolPose> {
        match &self.target {
            Some(Target::Pose(pose)) => Some(pose),
            _ => self.pose(),
        }
    }

    /// As [`Self::desired_pose`], for the joints.
    pub(in crate::station) fn desired_joints(&self) -> Option<&Vec<f64>> {
        match &self.target {
            Some(Target::Joints(joints)) => Some(joints),
            _ => self.joints(),
        }
    }

    /// Whether the joystick's dead-man button is pressed; `None` without a joystick.
    pub(in crate::station) fn dead_man(&self) -> Option<bool> {
        self.dead_man
    }
}
