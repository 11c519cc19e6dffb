//! `planner` from the action `navigate_to_pose`.

use std::sync::Arc;
use std::time::Duration;

use dragoman_geometry::{Pose, rotation_about_z, yaw};
use dragoman_ros::nav2_msgs::action::NavigateToPose;
use dragoman_ros::{ActionClient, GoalStatus, Node, QosProfile, builtin_interfaces, geometry_msgs, nav_msgs};
use dragoman_time::watch;
use parking_lot::Mutex;
use serde::Deserialize;

use super::driver::{Driver, Feed, Opened, OutcomeFuture, Setup, acknowledged, other_interface};
use super::frames;
use super::platform::{Mode, Platform};
use crate::BridgeError;
use crate::player::wire::common::Pose2d;
use crate::player::wire::planner::{Command, Goal, Request, START, STATE, State, Waypoints};
use crate::player::wire::{self, Device, MessageKind};

/// Period in which the progress is sent.
const PERIOD: Duration = Duration::from_millis(100);
/// Time limit for the action to appear, to accept a goal, or to end one.
const LIMIT: Duration = Duration::from_secs(5);
/// The robot has passed a waypoint at this distance, m.
const PASSED: f64 = 0.3;

/// Entry of a navigator in the device table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlannerConfig {
    /// Action `nav2_msgs/NavigateToPose`.
    navigate: String,
    /// Topic with `nav_msgs/Path`: the remaining path.
    path: String,
    /// Topic with `tf2_msgs/TFMessage`.
    #[serde(default = "frames::default_topic")]
    transforms: String,
    /// Frame of the map.
    map: String,
    /// Frame of the robot; the transforms lead from the map to it.
    robot_frame: String,
    /// Namespace of a platform with modes. A goal starts the platform and sets its mode for goals.
    #[serde(default)]
    platform: Option<String>,
}

/// Goal, path and progress.
#[derive(Default)]
struct Progress {
    goal: Pose2d,
    path: Vec<Pose2d>,
    /// Whether the goal was accepted.
    valid: bool,
    done: bool,
}

struct Planner {
    progress: Arc<Mutex<Progress>>,
    /// The goal; `None`: stop. The number distinguishes goals at the same pose.
    wanted: watch::Sender<(u64, Option<Pose2d>)>,
}

pub(super) fn open(
    config: &PlannerConfig,
    device: Device,
    setup: &Setup,
    feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let client = tasks.node().create_action_client::<NavigateToPose::Action>(&config.navigate)?;
    let progress = Arc::new(Mutex::new(Progress::default()));
    let (wanted, orders) = watch::channel((0, None));
    let news = Arc::clone(&progress);
    let latched = QosProfile::default().keep_last(1).transient_local();
    tasks.subscribe(&config.path, latched, move |path: nav_msgs::msg::Path| {
        news.lock().path = path.poses.iter().map(|stamped| planar(&stamped.pose)).collect();
    })?;
    let known = frames::listen(&mut tasks, &config.transforms)?;
    let (of, sent) = (config.clone(), Arc::clone(&progress));
    tasks.every(PERIOD, move || {
        let found = known.lock().pose(&of.map, &of.robot_frame);
        if let Some((pose, _)) = found {
            let now = builtin_interfaces::msg::Time::default();
            feed.send(&STATE, &now, &state(&sent.lock(), pose));
        }
    })?;
    let platform =
        config.platform.as_ref().map(|namespace| Platform::new(&mut tasks, namespace)).transpose()?;
    let navigator = Navigator { client, platform, map: config.map.clone(), progress: Arc::clone(&progress) };
    tasks.spawn(navigator.drive(orders));
    Ok(Opened::new(Planner { progress, wanted }, tasks)?)
}

fn planar(pose: &geometry_msgs::msg::Pose) -> Pose2d {
    let q = &pose.orientation;
    Pose2d { x: pose.position.x, y: pose.position.y, yaw: yaw([q.x, q.y, q.z, q.w]) }
}

fn state(progress: &Progress, pose: Pose) -> State {
    let away = |waypoint: &Pose2d| (waypoint.x - pose.x).hypot(waypoint.y - pose.y);
    // The path may begin with points that are already behind the robot.
    let next = progress.path.iter().position(|waypoint| away(waypoint) > PASSED);
    let next =
        next.or_else(|| progress.path.len().checked_sub(1)).filter(|_| progress.valid && !progress.done);
    let waypoint = next.and_then(|index| progress.path.get(index)).cloned().unwrap_or_default();
    State {
        valid: progress.valid,
        done: progress.done,
        pose: Pose2d { x: pose.x, y: pose.y, yaw: pose.heading },
        goal: progress.goal.clone(),
        waypoint,
        waypoint_index: next.and_then(|index| i32::try_from(index).ok()).unwrap_or(-1),
        waypoint_count: u32::try_from(progress.path.len()).unwrap_or(u32::MAX),
    }
}

/// Drives the robot to goals.
struct Navigator {
    client: ActionClient<NavigateToPose::Action>,
    platform: Option<Platform>,
    map: String,
    progress: Arc<Mutex<Progress>>,
}

impl Navigator {
    /// Sends each goal to the action, and cancels it for the next one.
    async fn drive(self, mut orders: watch::Receiver<(u64, Option<Pose2d>)>) {
        while orders.changed().await.is_ok() {
            loop {
                let (_, order) = orders.borrow_and_update().clone();
                let Some(goal) = order else { break };
                {
                    let mut progress = self.progress.lock();
                    (progress.goal, progress.valid, progress.done) = (goal.clone(), false, false);
                }
                match self.drive_to(&goal, &mut orders).await {
                    // Another goal, or a stop.
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(reason) => {
                        tracing::warn!(reason, "goal of a Player client failed");
                        self.progress.lock().valid = false;
                        break;
                    }
                }
            }
        }
    }

    /// Drives to a goal; returns whether another goal or a stop was received.
    async fn drive_to(
        &self,
        goal: &Pose2d,
        orders: &mut watch::Receiver<(u64, Option<Pose2d>)>,
    ) -> Result<bool, String> {
        let wrong = |error: dragoman_ros::Error| error.to_string();
        let late = |_| "the navigator does not answer".to_owned();
        if let Some(platform) = &self.platform {
            platform.prepare(Mode::Automatic).await?;
        }
        // The client may have disconnected meanwhile.
        match orders.has_changed() {
            Ok(false) => {}
            Ok(true) => return Ok(true),
            Err(_closed) => return Ok(false),
        }
        let available = Node::is_available(&self.client).map_err(wrong)?;
        dragoman_time::timeout(LIMIT, available).await.map_err(late)?.map_err(wrong)?;
        let mut pose = geometry_msgs::msg::PoseStamped::default();
        self.map.clone_into(&mut pose.header.frame_id);
        (pose.pose.position.x, pose.pose.position.y) = (goal.x, goal.y);
        let [x, y, z, w] = rotation_about_z(goal.yaw);
        pose.pose.orientation = geometry_msgs::msg::Quaternion { x, y, z, w };
        let request = NavigateToPose::Goal { pose, ..Default::default() };
        let sent = self.client.send_goal_request(request).map_err(wrong)?;
        let (handle, result, _feedback) =
            dragoman_time::timeout(LIMIT, sent).await.map_err(late)?.map_err(wrong)?;
        self.progress.lock().valid = true;
        tokio::select! {
            biased;
            // Checked first: a goal that has ended need not be cancelled.
            result = result => match result.map_err(wrong)? {
                (GoalStatus::Succeeded, _) => {
                    self.progress.lock().done = true;
                    Ok(false)
                }
                (status, _) => Err(format!("the navigator has ended it: {status:?}")),
            },
            changed = orders.changed() => {
                let cancelled = handle.cancel().map_err(wrong)?;
                dragoman_time::timeout(LIMIT, cancelled).await.map_err(late)?.map_err(wrong)?;
                // Without an action server there is nothing to wait for.
                Ok(changed.is_ok())
            }
        }
    }
}

impl Planner {
    fn order(&self, goal: Option<Pose2d>) {
        self.wanted.send_modify(|(number, wanted)| {
            *number += 1;
            *wanted = goal;
        });
    }
}

impl Driver for Planner {
    fn handle_command(&mut self, command: wire::Command) -> Result<(), String> {
        let wire::Command::Planner(command) = command else { return other_interface() };
        let goal = match command {
            Command::Goal(Goal { pose }) => pose,
            Command::Start(_) => return Err("the navigator plans from where the robot is".to_owned()),
        };
        if ![goal.x, goal.y, goal.yaw].into_iter().all(f64::is_finite) {
            return Err("a goal is finite".to_owned());
        }
        self.order(Some(goal));
        Ok(())
    }

    fn handle_request(&mut self, request: wire::Request) -> Result<OutcomeFuture, String> {
        let wire::Request::Planner(request) = request else { return other_interface() };
        Ok(match request {
            Request::GetWaypoints => {
                let waypoints = self.progress.lock().path.clone();
                let legs = waypoints.windows(2).map(|pair| match pair {
                    [from, to] => (to.x - from.x).hypot(to.y - from.y),
                    _ => 0.0,
                });
                acknowledged(&Waypoints { length: legs.sum(), waypoints })
            }
            Request::Enable(true) => {
                let goal = self.progress.lock().goal.clone();
                let is_stopped = self.wanted.borrow().1.is_none() && self.wanted.borrow().0 > 0;
                if is_stopped {
                    self.order(Some(goal));
                }
                acknowledged(&())
            }
            Request::Enable(false) => {
                self.order(None);
                acknowledged(&())
            }
        })
    }

    fn handle_release(&mut self) {
        self.order(None);
    }

    fn unsupported(&self) -> Vec<(MessageKind, u8)> {
        vec![START.id()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waypoint_is_the_first_that_is_not_passed() {
        let at = |x: f64| Pose2d { x, y: 0.0, yaw: 0.0 };
        let mut progress = Progress {
            goal: at(3.0),
            path: vec![at(0.0), at(0.2), at(1.0), at(3.0)],
            valid: true,
            done: false,
        };
        let here = Pose::new(0.1, 0.0, 0.0);
        let State { waypoint_index, waypoint_count, waypoint, .. } = state(&progress, here);
        assert_eq!((waypoint_index, waypoint_count, waypoint.x), (2, 4, 1.0));
        progress.done = true;
        assert_eq!(state(&progress, here).waypoint_index, -1);
        assert_eq!(state(&Progress::default(), here).waypoint_index, -1);
    }
}
