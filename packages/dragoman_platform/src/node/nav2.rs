//! Nav2 as the navigator: tasks of the automatic mode are sent to its actions `navigate_to_pose` and `follow_path`, and
//! its velocities are relayed to the base.

use std::time::Duration;

use dragoman_geometry::{Point, Pose, Segment, position};
use dragoman_ros::geometry_msgs::msg::PoseStamped;
use dragoman_ros::nav2_msgs::action::{FollowPath, NavigateToPose};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{ActionClient, GoalStatus, Node, WrappedActionTypeSupport, poses};
use futures::future::{Either, select};

use super::state::{NodeState, Shared};
use crate::motion::automatic::{Navigation, Target};

/// Period of checking for a new task.
const PERIOD: Duration = Duration::from_millis(50);
/// Time limit for Nav2 to appear, to answer a goal, or to cancel one.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// Distance between poses of a path, m: Nav2's controllers require dense paths.
const SPACING: f64 = 0.05;
/// A path that begins farther away than this is preceded by a goal at its beginning, m.
const NEAR: f64 = 0.25;

/// Uses the Nav2 of this namespace for driving.
pub(super) fn serve(tasks: &mut NodeTasks, shared: &Shared, namespace: &str) -> dragoman_ros::Result<()> {
    let name = |action: &str| format!("{}/{action}", namespace.trim_end_matches('/'));
    let nav2 = Nav2 {
        to_pose: tasks.node().create_action_client(&name("navigate_to_pose"))?,
        path: tasks.node().create_action_client(&name("follow_path"))?,
        shared: shared.clone(),
    };
    tasks.spawn(nav2.run());
    Ok(())
}

struct Nav2 {
    to_pose: ActionClient<NavigateToPose::Action>,
    path: ActionClient<FollowPath::Action>,
    shared: Shared,
}

/// Reason for the end of a goal.
enum End {
    Arrived,
    /// The platform has another task, or none.
    Withdrawn,
    Failed(String),
}

impl Nav2 {
    async fn run(self) {
        // The current path, to continue it after a break at the same point.
        let mut before = None;
        loop {
            let wanted = self.shared.with(|state| {
                let (number, target) = state.platform.delegated()?;
                Some((number, target.clone(), state.platform.status().pose))
            });
            let Some((number, target, pose)) = wanted else {
                dragoman_time::sleep(PERIOD).await;
                continue;
            };
            let target = if before == Some(number) { rest(target, pose) } else { target };
            before = Some(number);
            let news = match self.drive(number, &target, pose).await {
                End::Withdrawn => continue,
                End::Arrived => Navigation::Arrived,
                End::Failed(reason) => {
                    self.shared.with(|state| state.refuse(&format!("Nav2: {reason}")));
                    Navigation::Failed
                }
            };
            self.shared.with(|state| state.platform.navigated(number, news));
        }
    }

    async fn drive(&self, number: u64, target: &Target, from: Pose) -> End {
        let poses = match target {
            Target::Pose(pose) => return self.to_pose(number, *pose).await,
            Target::Path(poses) => dense(poses),
        };
        let first = poses.first().filter(|first| (position(**first) - position(from)).norm() > NEAR);
        if let Some(&first) = first {
            match self.to_pose(number, first).await {
                End::Arrived => {}
                end => return end,
            }
        }
        let mut goal = FollowPath::Goal::default();
        goal.path.poses = self.shared.with(|state| poses.iter().map(|&pose| stamped(state, pose)).collect());
        if let Some(first) = goal.path.poses.first() {
            goal.path.header = first.header.clone();
        }
        self.pursue(&self.path, number, goal).await
    }

    async fn to_pose(&self, number: u64, pose: Pose) -> End {
        let pose = self.shared.with(|state| stamped(state, pose));
        self.pursue(&self.to_pose, number, NavigateToPose::Goal { pose, ..Default::default() }).await
    }

    /// Sends a goal, and monitors it to its end.
    async fn pursue<A: WrappedActionTypeSupport + 'static>(
        &self,
        client: &ActionClient<A>,
        number: u64,
        goal: A::Goal,
    ) -> End {
        let there = async { Node::is_available(client)?.await };
        match dragoman_time::timeout(TIME_LIMIT, there).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return End::Failed(error.to_string()),
            Err(_) => return End::Failed("its action is not available".to_owned()),
        }
        let sent = match client.send_goal_request(goal) {
            Ok(sent) => dragoman_time::timeout(TIME_LIMIT, sent).await,
            Err(error) => return End::Failed(error.to_string()),
        };
        let (goal, result, _feedback) = match sent {
            Ok(Ok(accepted)) => accepted,
            Ok(Err(error)) => return End::Failed(format!("the goal is not accepted: {error}")),
            Err(_) => return End::Failed("the goal is not answered".to_owned()),
        };
        self.shared.with(|state| state.platform.navigated(number, Navigation::Accepted));
        match select(result, std::pin::pin!(self.withdrawn(number))).await {
            Either::Left((Ok((GoalStatus::Succeeded, _)), _)) => End::Arrived,
            Either::Left((Ok((status, _)), _)) => End::Failed(format!("the goal has ended: {status:?}")),
            Either::Left((Err(error), _)) => End::Failed(error.to_string()),
            Either::Right(((), result)) => {
                let cancelled = async {
                    goal.cancel()?.await?;
                    result.await
                };
                if !matches!(dragoman_time::timeout(TIME_LIMIT, cancelled).await, Ok(Ok(_))) {
                    self.shared.with(|state| state.refuse("Nav2 does not cancel its goal"));
                }
                End::Withdrawn
            }
        }
    }

    /// Resolves when the platform's task has changed.
    async fn withdrawn(&self, number: u64) {
        let is_wanted =
            |state: &mut NodeState| state.platform.delegated().is_some_and(|(wanted, _)| wanted == number);
        while self.shared.with(is_wanted) {
            dragoman_time::sleep(PERIOD).await;
        }
    }
}

fn stamped(state: &NodeState, pose: Pose) -> PoseStamped {
    let mut message = PoseStamped::default();
    message.header.stamp = state.stamp();
    message.header.frame_id.clone_from(&state.parameters.read().map_frame);
    message.pose = poses::pose(&pose);
    message
}

/// The rest of a path from the platform's pose.
fn rest(target: Target, pose: Pose) -> Target {
    let Target::Path(poses) = target else { return target };
    let points: Vec<Point> = poses.iter().copied().map(position).collect();
    let here = position(pose);
    let segments = Segment::chain(&points).enumerate();
    let nearest = segments.min_by(|(_, a), (_, b)| a.distance(here).total_cmp(&b.distance(here)));
    let Some((nearest, segment)) = nearest.filter(|(_, segment)| segment.distance(here) <= NEAR) else {
        return Target::Path(poses);
    };
    let place = segment.at(segment.nearest_part(here));
    let begin = Pose::new(place.x, place.y, segment.heading());
    Target::Path(std::iter::once(begin).chain(poses.into_iter().skip(nearest + 1)).collect())
}

/// A path with dense poses, each facing the next; the last one is unchanged.
fn dense(poses: &[Pose]) -> Vec<Pose> {
    let mut dense: Vec<Pose> = Vec::new();
    let points: Vec<Point> = poses.iter().copied().map(position).collect();
    for segment in Segment::chain(&points) {
        let looks = segment.heading();
        let count = (segment.length() / SPACING).ceil().max(1.0);
        dense.extend((0..count as usize).map(|part| {
            let place = segment.at(part as f64 / count);
            Pose::new(place.x, place.y, looks)
        }));
    }
    dense.extend(poses.last());
    dense
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_dense_and_go_on_where_they_were_left() {
        let path = [Pose::ORIGIN, Pose::new(1.0, 0.0, 0.0), Pose::new(1.0, 2.0, 3.0)];
        let many = dense(&path);
        assert_eq!((many.len(), many.first(), many.last()), (61, path.first(), path.last()));
        let steps = many.windows(2).map(|pair| (position(pair[1]) - position(pair[0])).norm());
        assert!(steps.fold(0.0, f64::max) <= SPACING + 1e-9);
        assert!((many[40].heading - std::f64::consts::FRAC_PI_2).abs() < 1e-9);

        let left = rest(Target::Path(path.to_vec()), Pose::new(0.9, 0.5, 0.0));
        let [begin, end] = left.poses() else { panic!("{left:?}") };
        assert!((position(*begin) - Point::new(1.0, 0.5)).norm() < 1e-9 && *end == path[2]);
        // Carried away: the whole path.
        let far = Target::Path(path.to_vec());
        assert_eq!(rest(far.clone(), Pose::new(5.0, 5.0, 0.0)), far);
        let pose = Target::Pose(Pose::ORIGIN);
        assert_eq!(rest(pose.clone(), Pose::ORIGIN), pose);
    }
}
