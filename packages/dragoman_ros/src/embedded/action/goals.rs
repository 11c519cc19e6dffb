//! The goals of an action server and their states, without I/O.

use uuid::Uuid;

use super::{GoalStatus, from_message, to_message};
use crate::action_msgs::msg::{GoalInfo, GoalStatus as GoalStatusMessage, GoalStatusArray};
use crate::action_msgs::srv::CancelGoal::Response as CancelResponse;
use crate::builtin_interfaces::msg::Time;

/// Maximum number of ended goals that are kept. Without a limit a client could fill memory and every status message.
pub(super) const MAX_ENDED: usize = 256;

/// All goals, in order of their acceptance.
#[derive(Default)]
pub(super) struct Goals(Vec<Goal>);

struct Goal {
    id: Uuid,
    accepted: Time,
    status: GoalStatus,
}

impl Goals {
    /// Adds a goal that is now executing. False if its id is in use.
    pub(super) fn add(&mut self, id: Uuid, accepted: Time) -> bool {
        let is_new = self.status(id).is_none();
        if is_new {
            self.0.push(Goal { id, accepted, status: GoalStatus::Executing });
        }
        is_new
    }

    /// `None` for unknown or forgotten goals.
    pub(super) fn status(&self, id: Uuid) -> Option<GoalStatus> {
        self.0.iter().find(|goal| goal.id == id).map(|goal| goal.status)
    }

    /// Changes the status of a goal that has not ended. False if there is no such goal, or if it is already cancelling
    /// on a request to cancel.
    pub(super) fn advance(&mut self, id: Uuid, status: GoalStatus) -> bool {
        let goal = self.0.iter_mut().find(|goal| goal.id == id);
        let Some(goal) = goal.filter(|goal| !goal.status.is_terminal() && goal.status != status) else {
            return false;
        };
        goal.status = status;
        true
    }

    /// Removes an ended goal.
    pub(super) fn forget(&mut self, id: Uuid) {
        self.0.retain(|goal| goal.id != id || !goal.status.is_terminal());
    }

    /// The oldest ended goal, if there are too many of them.
    pub(super) fn superfluous(&self) -> Option<Uuid> {
        let mut ended = self.0.iter().filter(|goal| goal.status.is_terminal()).map(|goal| goal.id);
        ended.next().filter(|_| ended.count() >= MAX_ENDED)
    }

    /// The goals selected by a cancel request, as `action_msgs/srv/CancelGoal` documents, or the code of its refusal.
    pub(super) fn to_cancel(&self, request: &GoalInfo) -> Result<Vec<GoalInfo>, u32> {
        let id = from_message(&request.goal_id);
        let no_stamp = request.stamp == Time::default();
        let can_cancel = |goal: &&Goal| goal.status == GoalStatus::Executing;
        if !id.is_nil() && no_stamp {
            let goal = self.0.iter().find(|goal| goal.id == id);
            let goal = goal.ok_or(CancelResponse::ERROR_UNKNOWN_GOAL_ID)?;
            // rcl_action also responds this for a goal that is already cancelling.
            let goal = Some(goal).filter(can_cancel).ok_or(CancelResponse::ERROR_GOAL_TERMINATED)?;
            return Ok(vec![goal.info()]);
        }
        let is_meant = |goal: &&Goal| {
            let everyone = id.is_nil() && no_stamp;
            let in_time =
                (goal.accepted.sec, goal.accepted.nanosec) <= (request.stamp.sec, request.stamp.nanosec);
            everyone || in_time || goal.id == id
        };
        Ok(self.0.iter().filter(can_cancel).filter(is_meant).map(Goal::info).collect())
    }

    pub(super) fn message(&self) -> GoalStatusArray {
        let status = |goal: &Goal| GoalStatusMessage { goal_info: goal.info(), status: goal.status.to_rcl() };
        GoalStatusArray { status_list: self.0.iter().map(status).collect() }
    }
}

impl Goal {
    fn info(&self) -> GoalInfo {
        GoalInfo { goal_id: to_message(self.id), stamp: self.accepted.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    fn at(sec: i32) -> Time {
        Time { sec, nanosec: 5 }
    }

    /// Goals 1, 2, 3 and 4, accepted at those seconds; 2 has succeeded and 3 is cancelling.
    fn four() -> Goals {
        let mut goals = Goals::default();
        for number in 1..=4 {
            assert!(goals.add(id(number), at(number as i32)));
        }
        assert!(goals.advance(id(2), GoalStatus::Succeeded));
        assert!(goals.advance(id(3), GoalStatus::Canceling));
        goals
    }

    fn cancel(goals: &Goals, number: u128, stamp: Time) -> Result<Vec<u128>, u32> {
        let request = GoalInfo { goal_id: to_message(id(number)), stamp };
        let meant = goals.to_cancel(&request)?;
        Ok(meant.iter().map(|info| from_message(&info.goal_id).as_u128()).collect())
    }

    #[test]
    fn a_goal_id_is_taken_once() {
        let mut goals = four();
        assert!(!goals.add(id(1), at(9)));
        assert!(!goals.add(id(2), at(9)), "its result is still kept");
        goals.forget(id(2));
        assert!(goals.add(id(2), at(9)));
    }

    #[test]
    fn a_goal_ends_once() {
        let mut goals = four();
        assert!(!goals.advance(id(2), GoalStatus::Aborted));
        assert!(!goals.advance(id(2), GoalStatus::Canceling));
        assert_eq!(goals.status(id(2)), Some(GoalStatus::Succeeded));
        assert!(!goals.advance(id(3), GoalStatus::Canceling));
        assert!(goals.advance(id(3), GoalStatus::Canceled));
        assert!(!goals.advance(id(7), GoalStatus::Succeeded));
    }

    #[test]
    fn cancel_requests_select_one_goal_or_all_or_all_before_a_time() {
        let goals = four();
        let never = Time::default();
        assert_eq!(cancel(&goals, 1, never.clone()), Ok(vec![1]));
        assert_eq!(cancel(&goals, 2, never.clone()), Err(CancelResponse::ERROR_GOAL_TERMINATED));
        assert_eq!(cancel(&goals, 3, never.clone()), Err(CancelResponse::ERROR_GOAL_TERMINATED));
        assert_eq!(cancel(&goals, 9, never.clone()), Err(CancelResponse::ERROR_UNKNOWN_GOAL_ID));
        assert_eq!(cancel(&goals, 0, never), Ok(vec![1, 4]));
        assert_eq!(cancel(&goals, 0, at(3)), Ok(vec![1]));
        assert_eq!(cancel(&goals, 0, Time { sec: 1, nanosec: 4 }), Ok(vec![]));
        assert_eq!(cancel(&goals, 4, at(1)), Ok(vec![1, 4]));
        assert_eq!(cancel(&goals, 9, at(1)), Ok(vec![1]), "an unknown goal beside a time is no error");
    }

    #[test]
    fn a_goal_that_runs_is_not_forgotten() {
        let mut goals = four();
        goals.forget(id(1));
        goals.forget(id(2));
        let statuses: Vec<_> = goals.message().status_list.iter().map(|goal| goal.status).collect();
        assert_eq!(statuses, [2, 3, 2]);
    }

    #[test]
    fn the_number_of_ended_goals_is_bounded() {
        let mut goals = four();
        for number in 10..10 + MAX_ENDED as u128 {
            assert_eq!(goals.superfluous(), None);
            assert!(goals.add(id(number), at(10)) && goals.advance(id(number), GoalStatus::Aborted));
        }
        assert_eq!(goals.superfluous(), Some(id(2)));
    }
}
