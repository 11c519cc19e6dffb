//! Determines the state of a motion that was commanded over the protocol from the platform's status. The protocol does
//! not number motions, and the first status after a command may be older than the command.

use std::time::Duration;

use crate::codes::PlannerState;
use crate::wire::Status;

/// Maximum time from the first status that was queried after a motion command until a status shows the command's
/// effect.
pub const SETTLE_TIME: Duration = Duration::from_secs(1);

/// State of a motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MotionState {
    UnderWay,
    Reached,
    /// The motion has failed; the planner's state in the status is the reason.
    Failed,
}

/// Whether the planner has worked on the motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Planning {
    /// The planner was not seen working yet.
    NotYet,
    /// The planner works, but perhaps still on the previous motion.
    OnEarlier,
    /// The planner has finished the previous motion.
    EarlierEnded,
    Seen,
}

/// Follows the last commanded motion.
#[derive(Debug)]
pub(super) struct MotionWatch {
    /// When the first status arrived.
    first: Option<Duration>,
    /// Whether a report of a reached target belongs to this motion.
    is_seen: bool,
    /// Whether the planner's report of a failure belongs to an earlier motion.
    is_failure_old: bool,
    planning: Planning,
}

/// Whether the planner has found no way.
fn has_no_way(state: PlannerState) -> bool {
    matches!(state, PlannerState::NoPath | PlannerState::CollisionStart | PlannerState::CollisionTarget)
}

fn plans_or_drives(state: PlannerState) -> bool {
    matches!(state, PlannerState::Planning | PlannerState::PathFound)
}

impl MotionWatch {
    /// Starts to follow a motion that is commanded after this status.
    pub(super) fn new(status: &Status) -> Self {
        let planner = status.planner_state.known();
        let planning =
            if planner.is_some_and(plans_or_drives) { Planning::OnEarlier } else { Planning::NotYet };
        let is_failure_old = planner.is_some_and(has_no_way);
        Self { first: None, is_seen: false, is_failure_old, planning }
    }

    /// Processes the next status, which was queried after the command.
    ///
    /// - A reported target counts as reached if a status since the command has reported the opposite, or after
    ///   [`SETTLE_TIME`] since the first status, because the command itself may be slow.
    /// - The motion has failed if the planner reports it, or if it is idle again although the target is not reached:
    ///   the platform has aborted the motion.
    pub(super) fn handle_status(&mut self, now: Duration, status: &Status) -> MotionState {
        let is_settled = now.saturating_sub(*self.first.get_or_insert(now)) >= SETTLE_TIME;
        let is_reached = status.is_target_reached.known() == Some(true);
        let planner = status.planner_state.known();
        let is_without_way = planner.is_some_and(has_no_way);
        self.is_seen |= !is_reached || is_settled;
        self.is_failure_old &= is_without_way && !is_settled;
        self.planning = match (self.planning, planner.is_some_and(plans_or_drives)) {
            (Planning::OnEarlier | Planning::EarlierEnded, _) if is_settled => Planning::Seen,
            (Planning::OnEarlier, false) => Planning::EarlierEnded,
            (Planning::NotYet | Planning::EarlierEnded, true) => Planning::Seen,
            (planning, _) => planning,
        };
        match planner {
            _ if is_reached && self.is_seen => MotionState::Reached,
            Some(_) if is_without_way && !self.is_failure_old => MotionState::Failed,
            Some(PlannerState::Standby) if !is_reached && self.planning == Planning::Seen => {
                MotionState::Failed
            }
            _ => MotionState::UnderWay,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Coded;

    fn status<'a>(words: &mut impl Iterator<Item = &'a str>) -> Status {
        let planner = match words.next().unwrap() {
            "standby" => PlannerState::Standby.into(),
            "planning" => PlannerState::Planning.into(),
            "noPath" => PlannerState::NoPath.into(),
            "pathFound" => PlannerState::PathFound.into(),
            "collisionStart" => PlannerState::CollisionStart.into(),
            "collisionTarget" => PlannerState::CollisionTarget.into(),
            _ => Coded::from_code(77),
        };
        let is_target_reached = (words.next().unwrap() == "1").into();
        Status { planner_state: planner, is_target_reached, ..Status::default() }
    }

    /// Tests of the clients in other languages read the same file.
    #[test]
    fn reports_are_those_of_the_file() {
        let mut cases = 0;
        for case in include_str!("motions.txt").split("\ncase ").skip(1) {
            let mut lines = case.lines().filter(|line| !line.is_empty());
            let name = lines.next().unwrap();
            let mut watch = MotionWatch::new(&status(&mut lines.next().unwrap().split_whitespace()));
            for line in lines {
                let mut words = line.split_whitespace();
                let now = Duration::from_secs_f64(words.next().unwrap().parse().unwrap());
                let status = status(&mut words);
                let expected = match words.next() {
                    Some("underway") => MotionState::UnderWay,
                    Some("reached") => MotionState::Reached,
                    _ => MotionState::Failed,
                };
                assert_eq!(watch.handle_status(now, &status), expected, "{name}: {line}");
            }
            cases += 1;
        }
        assert_eq!(cases, 14);
    }
}
