//! What the status tells of a motion that was commanded over the protocol. The protocol does not number motions, and the
//! first status after a command may be older than the command.

use std::time::Duration;

use crate::codes::PlannerState;
use crate::wire::Status;

/// Time after which a status is newer than the effect of a motion command.
pub const SETTLE_TIME: Duration = Duration::from_secs(1);

/// What is known of a motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    UnderWay,
    Reached,
    Failed(PlannerState),
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
    since: Duration,
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
    pub(super) fn new(now: Duration, status: &Status) -> Self {
        let planner = status.planner_state.known();
        let planning =
            if planner.is_some_and(plans_or_drives) { Planning::OnEarlier } else { Planning::NotYet };
        let is_failure_old = planner.is_some_and(has_no_way);
        Self { since: now, is_seen: false, is_failure_old, planning }
    }

    /// Takes the next status.
    ///
    /// - A target is reached if the status has said otherwise since the command, or after [`SETTLE_TIME`].
    /// - The motion has failed if the planner reports it, or if it is idle again although the target is not reached:
    ///   the platform has given the motion up.
    pub(super) fn handle_status(&mut self, now: Duration, status: &Status) -> Report {
        let is_settled = now.saturating_sub(self.since) >= SETTLE_TIME;
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
            Some(state) if is_without_way && !self.is_failure_old => Report::Failed(state),
            Some(PlannerState::Standby) if !is_reached && self.planning == Planning::Seen => {
                Report::Failed(PlannerState::Standby)
            }
            _ => Report::UnderWay,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PlannerState::{NoPath, PathFound, Planning as Plans, Standby};

    fn status(planner: PlannerState, is_target_reached: bool) -> Status {
        Status {
            planner_state: planner.into(),
            is_target_reached: is_target_reached.into(),
            ..Status::default()
        }
    }

    /// The reports of statuses 0.1 s apart, after a command at `before`.
    fn reports(before: PlannerState, after: &[PlannerState]) -> Vec<Report> {
        let mut watch = MotionWatch::new(Duration::ZERO, &status(before, false));
        let times = (1..).map(|tenths| Duration::from_millis(100 * tenths));
        times.zip(after).map(|(now, planner)| watch.handle_status(now, &status(*planner, false))).collect()
    }

    #[test]
    fn an_idle_planner_before_the_target_is_a_failure() {
        let failed = Report::Failed(Standby);
        let under_way = Report::UnderWay;
        // Planning has not begun yet; then the platform gives the motion up.
        assert_eq!(reports(Standby, &[Standby; 20]), [under_way; 20]);
        assert_eq!(reports(Standby, &[Standby, Plans, Standby]), [under_way, under_way, failed]);
        assert_eq!(reports(Standby, &[PathFound, Standby]), [under_way, failed]);
        assert_eq!(reports(NoPath, &[NoPath, Plans, Standby]), [under_way, under_way, failed]);
    }

    #[test]
    fn the_end_of_a_replaced_motion_is_no_failure() {
        let failed = Report::Failed(Standby);
        let under_way = Report::UnderWay;
        let found = reports(PathFound, &[PathFound, Standby, Plans, PathFound, Standby]);
        assert_eq!(found, [under_way, under_way, under_way, under_way, failed]);
        // Without a gap the two cannot be told apart until the status is newer than the command.
        let found = reports(PathFound, &[PathFound, PathFound, Standby]);
        assert_eq!(found, [under_way; 3]);
        let found = reports(PathFound, &[[PathFound; 4].as_slice(), &[Standby; 6]].concat());
        assert_eq!(found[8..], [under_way, failed]);
    }

    #[test]
    fn a_reached_target_with_an_idle_planner_is_no_failure() {
        let mut watch = MotionWatch::new(Duration::ZERO, &status(Standby, true));
        let mut report = |tenths: u64, planner, reached| {
            watch.handle_status(Duration::from_millis(100 * tenths), &status(planner, reached))
        };
        assert_eq!(report(1, Standby, true), Report::UnderWay, "of an earlier motion");
        assert_eq!(report(2, PathFound, false), Report::UnderWay);
        assert_eq!(report(3, Standby, true), Report::Reached);
    }
}
