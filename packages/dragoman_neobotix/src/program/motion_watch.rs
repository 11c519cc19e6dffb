//! What the status says about a motion that was commanded over the protocol. The protocol does not number motions, and the
//! first status after a command may be older than the command.

use std::time::Duration;

use crate::codes::PlannerState;
use crate::wire::Status;

/// Time from the first status that was asked for after a motion command until one shows its effect.
pub const SETTLE_TIME: Duration = Duration::from_secs(1);

/// What is known of a motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    UnderWay,
    Reached,
    /// The reason is the status' state of the planner.
    Failed,
}

/// Whether the planner has worked on the motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Planning {
    /// Not seen yet.
    NotYet,
    /// It works, but perhaps still on the motion that this one has replaced.
    OnEarlier,
    /// It has ended with the motion that this one has replaced.
    EarlierEnded,
    Seen,
}

/// Follows the motion that was commanded last.
#[derive(Debug)]
pub(super) struct MotionWatch {
    /// When the first status came.
    first: Option<Duration>,
    /// Whether the report of a reached target is of this motion.
    is_seen: bool,
    /// Whether the planner's report of a failure is of an earlier motion.
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
    /// Of a motion that is commanded now, after this status.
    pub(super) fn new(status: &Status) -> Self {
        let planner = status.planner_state.known();
        let planning =
            if planner.is_some_and(plans_or_drives) { Planning::OnEarlier } else { Planning::NotYet };
        let is_failure_old = planner.is_some_and(has_no_way);
        Self { first: None, is_seen: false, is_failure_old, planning }
    }

    /// Takes the next status, which was asked for after the command.
    ///
    /// - A target is reached if the status has said otherwise since the command, or after [`SETTLE_TIME`], which begins
    ///   with the first status: a command may need longer to arrive.
    /// - The motion has failed if the planner reports it, or if it is idle again although the target is not reached:
    ///   the platform has given the motion up.
    pub(super) fn handle_status(&mut self, now: Duration, status: &Status) -> Report {
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
            _ if is_reached && self.is_seen => Report::Reached,
            Some(_) if is_without_way && !self.is_failure_old => Report::Failed,
            Some(PlannerState::Standby) if !is_reached && self.planning == Planning::Seen => Report::Failed,
            _ => Report::UnderWay,
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

    /// The clients in other languages read the same file.
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
                    Some("underway") => Report::UnderWay,
                    Some("reached") => Report::Reached,
                    _ => Report::Failed,
                };
                assert_eq!(watch.handle_status(now, &status), expected, "{name}: {line}");
            }
            cases += 1;
        }
        assert_eq!(cases, 14);
    }
}
