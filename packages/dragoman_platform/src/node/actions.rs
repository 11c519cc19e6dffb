//! Nav2's actions `navigate_to_pose` and `follow_path`, for ROS users without Nav2: goals have the effect of `move_abs`
//! and `move_path`.

use std::time::Duration;

use dragoman_geometry::{Point, Pose, Segment, compose, position, relative};
use dragoman_ros::builtin_interfaces;
use dragoman_ros::fields::{
    following_error, following_feedback, navigation_error, set_unknown_tracking_errors,
};
use dragoman_ros::geometry_msgs::msg::{Pose as PoseMessage, PoseStamped};
use dragoman_ros::nav2_msgs::action::{FollowPath, NavigateToPose};
use dragoman_ros::poses::{self, Placement};
use dragoman_ros::tasks::{Goal, NodeTasks, Outcome};
use dragoman_ros::times;
use futures::FutureExt;

use super::state::{NodeState, Refused, Shared};
use crate::controller::Command;
use crate::motion::automatic::{MotionEnd, Target};
use crate::planning::PlanError;

const FEEDBACK_PERIOD: Duration = Duration::from_millis(100);
/// Maximum number of poses of a path.
const MAX_POSES: usize = 5000;
/// Planners' paths are dense; points closer than this to the straight line between others are removed, m.
const STRAIGHT: f64 = 0.01;
/// Maximum deviation of a quaternion's length from 1.
const UNIT: f64 = 0.01;
/// Below this speed the platform counts as standing, m/s and rad/s.
const STANDING: f64 = 0.01;
/// Error codes of nav2_msgs, Jazzy and later: unknown, and the equivalents of the guide's planner states.
const NAVIGATION_UNKNOWN: u16 = 9000;
const FOLLOWING_UNKNOWN: u16 = 100;
const INVALID_PATH: u16 = 103;
const NO_VALID_CONTROL: u16 = 106;

/// Serves both actions.
pub(super) fn serve(tasks: &mut NodeTasks, shared: &Shared) -> dragoman_ros::Result<()> {
    let checked = shared.clone();
    let check = move |goal: &NavigateToPose::Goal| check(&checked, |state| pose_target(state, goal));
    let executed = shared.clone();
    let navigate = move |goal: Goal<NavigateToPose::Action>| navigate(executed.clone(), goal);
    tasks.serve_action::<NavigateToPose::Action, _>("navigate_to_pose", check, navigate)?;
    let checked = shared.clone();
    let check = move |goal: &FollowPath::Goal| self::check(&checked, |state| path_target(state, goal));
    let executed = shared.clone();
    let follow = move |goal: Goal<FollowPath::Action>| follow(executed.clone(), goal);
    tasks.serve_action::<FollowPath::Action, _>("follow_path", check, follow)
}

/// Checks that a goal is valid, and would currently be accepted.
fn check(shared: &Shared, target: impl FnOnce(&NodeState) -> Result<Target, Refused>) -> Result<(), String> {
    let checked = shared.ask(|state| Ok(state.platform.would_drive(&target(state)?)?));
    checked.map_err(|Refused(reason)| reason)
}

async fn navigate(shared: Shared, goal: Goal<NavigateToPose::Action>) -> Outcome<NavigateToPose::Result> {
    let begun = shared.ask(|state| begin(state, pose_target(state, goal.goal())?));
    let start = dragoman_time::now();
    let ended = pursue(&shared, &goal, begun, |journey| {
        let speed = journey.cruise.max(STANDING);
        let mut feedback = NavigateToPose::Feedback {
            navigation_time: times::duration(dragoman_time::since(start)),
            estimated_time_remaining: times::duration(Duration::from_secs_f64(journey.remaining / speed)),
            number_of_recoveries: i16::try_from(journey.replans).unwrap_or(i16::MAX),
            distance_remaining: journey.remaining as f32,
            current_pose: current_pose(&journey),
            ..Default::default()
        };
        set_unknown_tracking_errors(&mut feedback);
        goal.publish_feedback(feedback);
    });
    outcome(ended.await, |error| match error {
        None => NavigateToPose::Result::default(),
        Some((_, error_msg)) => navigation_error(NAVIGATION_UNKNOWN, error_msg),
    })
}

async fn follow(shared: Shared, goal: Goal<FollowPath::Action>) -> Outcome<FollowPath::Result> {
    let begun = shared.ask(|state| begin(state, path_target(state, goal.goal())?));
    let ended = pursue(&shared, &goal, begun, |journey| {
        let (remaining, speed) = (journey.remaining as f32, journey.speed as f32);
        goal.publish_feedback(following_feedback(current_pose(&journey), remaining, speed));
    });
    outcome(ended.await, |error| match error {
        None => FollowPath::Result::default(),
        Some((end, error_msg)) => {
            let error_code = match end {
                Some(MotionEnd::Failed(PlanError::NoPath)) => NO_VALID_CONTROL,
                Some(MotionEnd::Failed(_)) => INVALID_PATH,
                _ => FOLLOWING_UNKNOWN,
            };
            following_error(error_code, error_msg)
        }
    })
}

/// How a goal ended: by its own motion, or for another reason.
enum Ended {
    Reached,
    Cancelled,
    Not(Option<MotionEnd>, String),
}

fn outcome<R>(ended: Ended, result: impl FnOnce(Option<(Option<MotionEnd>, String)>) -> R) -> Outcome<R> {
    match ended {
        Ended::Reached => Outcome::Succeeded(result(None)),
        Ended::Cancelled => Outcome::Canceled(result(None)),
        Ended::Not(end, reason) => {
            // Humble's result has no field for the reason.
            tracing::warn!(reason, "goal aborted");
            Outcome::Aborted(result(Some((end, reason))))
        }
    }
}

/// Data for the feedback.
struct Journey {
    pose: Pose,
    /// Remaining distance, m.
    remaining: f64,
    /// Speed, m/s.
    speed: f64,
    /// The usual speed, m/s.
    cruise: f64,
    replans: u32,
    stamp: builtin_interfaces::msg::Time,
    map_frame: String,
}

/// Returns the motion's number.
fn begin(state: &mut NodeState, target: Target) -> Result<u64, Refused> {
    let command = match target {
        Target::Pose(pose) => Command::MoveAbsolute(pose),
        Target::Path(poses) => Command::MovePath(poses),
    };
    state.order(command)?;
    Ok(state.platform.motion().number)
}

/// Monitors a motion to its end; a cancelled goal has ended when the platform stands.
async fn pursue<A: dragoman_ros::WrappedActionTypeSupport + 'static>(
    shared: &Shared,
    goal: &Goal<A>,
    begun: Result<u64, Refused>,
    mut feedback: impl FnMut(Journey),
) -> Ended {
    let number = match begun {
        Ok(number) => number,
        Err(Refused(reason)) => return Ended::Not(None, reason),
    };
    let mut cancelled = goal.canceled();
    let mut is_cancelled = false;
    loop {
        let (motion, journey) = shared.with(|state| (state.platform.motion(), journey(state)));
        let is_standing = shared.with(|state| {
            let velocity = state.platform.status().velocity;
            velocity.speed() < STANDING && velocity.angular.abs() < STANDING
        });
        if motion.number != number {
            return if is_cancelled {
                Ended::Cancelled
            } else {
                Ended::Not(None, "another command took over".to_owned())
            };
        }
        match motion.end {
            Some(MotionEnd::Arrived) => return Ended::Reached,
            Some(MotionEnd::GivenUp) if is_cancelled && is_standing => return Ended::Cancelled,
            Some(MotionEnd::GivenUp) if is_cancelled => {}
            Some(end) => return Ended::Not(Some(end), end.to_string()),
            None => feedback(journey),
        }
        if is_cancelled {
            dragoman_time::sleep(FEEDBACK_PERIOD).await;
            continue;
        }
        let tick = std::pin::pin!(dragoman_time::sleep(FEEDBACK_PERIOD).fuse());
        if let futures::future::Either::Left(_) = futures::future::select(&mut cancelled, tick).await {
            is_cancelled = true;
            shared.with(|state| state.platform.give_up(number));
        }
    }
}

fn journey(state: &NodeState) -> Journey {
    let status = state.platform.status();
    let mut points = vec![position(status.pose)];
    points.extend(state.platform.path());
    // Before there is a path: the straight distance.
    if points.len() == 1 {
        points.extend(status.goal.map(position));
    }
    Journey {
        pose: status.pose,
        remaining: Segment::chain(&points).map(|segment| segment.length()).sum(),
        speed: status.velocity.linear,
        cruise: state.platform.settings().interpolation.linear_velocity,
        replans: state.platform.motion().replans,
        stamp: state.stamp(),
        map_frame: state.parameters.read().map_frame.clone(),
    }
}

fn current_pose(journey: &Journey) -> PoseStamped {
    let mut pose = PoseStamped { pose: poses::pose(&journey.pose), ..Default::default() };
    pose.header.stamp = journey.stamp.clone();
    pose.header.frame_id.clone_from(&journey.map_frame);
    pose
}

fn pose_target(state: &NodeState, goal: &NavigateToPose::Goal) -> Result<Target, Refused> {
    if !goal.behavior_tree.is_empty() {
        return Err(Refused("behavior trees are not supported; leave behavior_tree empty".to_owned()));
    }
    let PoseStamped { header, pose } = &goal.pose;
    Ok(Target::Pose(in_map(state, &header.frame_id, pose)?))
}

/// There is only one controller, goal checker and progress checker; their names in the goal are ignored.
fn path_target(state: &NodeState, goal: &FollowPath::Goal) -> Result<Target, Refused> {
    let poses = &goal.path.poses;
    if poses.len() > MAX_POSES {
        return Err(Refused(format!("the path has {} poses; the maximum is {MAX_POSES}", poses.len())));
    }
    let frame = &goal.path.header.frame_id;
    let poses: Vec<Pose> = poses
        .iter()
        .map(|PoseStamped { header, pose }| {
            in_map(state, if header.frame_id.is_empty() { frame } else { &header.frame_id }, pose)
        })
        .collect::<Result<_, _>>()?;
    Ok(Target::Path(sparse(&poses)))
}

/// Transforms a pose from one of the platform's frames to the map.
pub(super) fn in_map(state: &NodeState, frame: &str, pose: &PoseMessage) -> Result<Pose, Refused> {
    let pose = planar(pose)?;
    let here = state.platform.status().pose;
    let [odom, base] = state.frames();
    let map_frame = &state.parameters.read().map_frame;
    if frame == map_frame {
        Ok(pose)
    } else if Some(frame) == odom.as_deref() {
        Ok(compose(compose(here, relative(state.published_odometry(), Pose::ORIGIN)), pose))
    } else if Some(frame) == base.as_deref() {
        Ok(compose(here, pose))
    } else {
        let known = [Some(map_frame.clone()), odom, base];
        let known: Vec<String> = known.into_iter().flatten().collect();
        Err(Refused(format!(
            "a pose in frame '{frame}' is not supported; the frame has to be {}",
            known.join(", ")
        )))
    }
}

fn planar(pose: &PoseMessage) -> Result<Pose, Refused> {
    let (position, rotation) = pose.parts();
    let length = rotation.map(|part| part * part).iter().sum::<f64>().sqrt();
    if position.iter().any(|value| !value.is_finite()) {
        return Err(Refused("a value is not finite".to_owned()));
    }
    // Also false for NaN.
    if !((1.0 - UNIT)..=(1.0 + UNIT)).contains(&length) {
        return Err(Refused("an orientation is not a unit quaternion".to_owned()));
    }
    Ok(poses::planar(pose))
}

/// Removes points on the straight line between others (Douglas and Peucker).
#[expect(clippy::indexing_slicing, reason = "indices of the points")]
fn sparse(poses: &[Pose]) -> Vec<Pose> {
    let points: Vec<Point> = poses.iter().copied().map(position).collect();
    let mut kept = vec![false; points.len()];
    let mut open = match points.len() {
        0 => return Vec::new(),
        count => vec![(0, count - 1)],
    };
    while let Some((from, to)) = open.pop() {
        (kept[from], kept[to]) = (true, true);
        let line = Segment::new(points[from], points[to]);
        let away = |index: &usize| line.distance(points[*index]);
        let farthest = (from + 1..to).max_by(|a, b| away(a).total_cmp(&away(b)));
        if let Some(farthest) = farthest.filter(|index| away(index) > STRAIGHT) {
            open.extend([(from, farthest), (farthest, to)]);
        }
    }
    poses.iter().zip(kept).filter_map(|(&pose, kept)| kept.then_some(pose)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_paths_become_sparse_and_stay_where_they_are() {
        assert!(sparse(&[]).is_empty());
        let one = [Pose::new(1.0, 2.0, 3.0)];
        assert_eq!(sparse(&one), one);
        let arc: Vec<Pose> = (0..=314)
            .map(|part| {
                let angle = f64::from(part) / 100.0;
                Pose::new(2.0 * angle.sin(), 2.0 - 2.0 * angle.cos(), angle)
            })
            .collect();
        let few = sparse(&arc);
        assert!(few.len() < 40 && few.first() == arc.first() && few.last() == arc.last(), "{}", few.len());
        let points: Vec<Point> = few.iter().copied().map(position).collect();
        for &pose in &arc {
            let away = points.windows(2).map(|pair| Segment::new(pair[0], pair[1]).distance(position(pose)));
            assert!(away.fold(f64::INFINITY, f64::min) <= STRAIGHT);
        }
    }

    #[test]
    fn orientations_are_rotations() {
        let mut pose = poses::pose(&Pose::new(1.0, 2.0, -3.0));
        let read = planar(&pose).unwrap();
        assert!((read.heading + 3.0).abs() < 1e-12 && (read.x, read.y) == (1.0, 2.0));
        pose.orientation.w = f64::NAN;
        assert!(planar(&pose).is_err());
        pose.orientation = Default::default();
        (pose.orientation.w, pose.orientation.z) = (0.0, 0.0);
        assert_eq!(planar(&pose).unwrap_err().0, "an orientation is not a unit quaternion");
        let mut pose = poses::pose(&Pose::ORIGIN);
        pose.position.z = f64::INFINITY;
        assert_eq!(planar(&pose).unwrap_err().0, "a value is not finite");
    }
}
