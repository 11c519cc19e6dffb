//! `compute_fk` and `compute_ik` in the form of `moveit_msgs`.

#![allow(clippy::unnecessary_cast)] // Negative constants are `i32` with the embedded implementation already.

use std::time::Duration;

use dragoman_ros::moveit_msgs::msg::{Constraints, MoveItErrorCodes};
use dragoman_ros::moveit_msgs::srv::{GetPositionFK, GetPositionIK};
use dragoman_ros::reasons::moveit_error;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Result, builtin_interfaces, geometry_msgs, sensor_msgs};
use nalgebra::Isometry3;

use super::pose_message;
use super::services::raw_pose;
use crate::{IkOptions, Link, Robot};

/// The constant as the field's type; r2r gives every constant its own enum type.
const SUCCESS: i32 = MoveItErrorCodes::SUCCESS as i32;

/// Maximum time for one request, whatever its timeout.
const MAX_TIMEOUT: Duration = Duration::from_millis(100);

/// Offers `compute_fk` and `compute_ik` for `robot` in the namespace of the node.
///
/// `measured` returns the joint positions in the order of the chain, rad or m, once they are known: requests need not
/// name every joint.
///
/// # Errors
/// An error of the middleware.
pub fn serve_solver<M>(tasks: &mut NodeTasks, robot: &Robot, measured: M) -> Result<()>
where
    M: Fn() -> Option<Vec<f64>> + Clone + Send + 'static,
{
    let mut inverse = Solver::new(robot.clone());
    let (forward, state) = (inverse.clone(), measured.clone());
    tasks.serve::<GetPositionFK::Service>("compute_fk", move |request| {
        forward.compute_fk(&request, state().as_deref())
    })?;
    tasks.serve::<GetPositionIK::Service>("compute_ik", move |request| {
        inverse.compute_ik(&request, measured().as_deref())
    })
}

#[derive(Clone)]
struct Solver {
    robot: Robot,
    names: Vec<String>,
    /// Start of the search when no position is known: the middle of the ranges, 0 without limits.
    middle: Vec<f64>,
}

/// An error of `MoveItErrorCodes` with its message.
#[derive(Debug)]
struct Failure(i32, String);

impl Solver {
    fn new(robot: Robot) -> Self {
        let middle = |lower: f64, upper: f64| {
            if lower.is_finite() && upper.is_finite() { (lower + upper) / 2.0 } else { 0.0 }
        };
        Self {
            names: robot.joints().iter().map(|joint| joint.name.clone()).collect(),
            middle: robot.joints().iter().map(|joint| middle(joint.lower, joint.upper)).collect(),
            robot,
        }
    }

    fn compute_fk(
        &self,
        request: &GetPositionFK::Request,
        measured: Option<&[f64]>,
    ) -> GetPositionFK::Response {
        let mut response = GetPositionFK::Response::default();
        match self.poses(request, measured) {
            Ok(poses) => {
                for (link, pose_stamped) in poses {
                    response.fk_link_names.push(link);
                    response.pose_stamped.push(pose_stamped);
                }
                response.error_code = moveit_error(SUCCESS, String::new());
            }
            Err(Failure(value, message)) => response.error_code = moveit_error(value, message),
        }
        response
    }

    fn poses(
        &self,
        request: &GetPositionFK::Request,
        measured: Option<&[f64]>,
    ) -> Result<Vec<(String, geometry_msgs::msg::PoseStamped)>, Failure> {
        let frame = self.frame(&request.header.frame_id)?;
        let links: Vec<&Link> = if request.fk_link_names.is_empty() {
            self.robot.model().links().iter().collect()
        } else {
            request.fk_link_names.iter().map(|name| self.link(name)).collect::<Result<_, _>>()?
        };
        let q = self.configuration(&request.robot_state.joint_state, measured)?;
        let to_frame = self.robot.link_pose(frame, &q).inverse();
        let posed = links.into_iter().map(|link| {
            let mut stamped = geometry_msgs::msg::PoseStamped {
                pose: pose_message(&(to_frame * self.robot.link_pose(link, &q))),
                ..Default::default()
            };
            stamped.header.frame_id.clone_from(&frame.name);
            stamped.header.stamp.clone_from(&request.header.stamp);
            (link.name.clone(), stamped)
        });
        Ok(posed.collect())
    }

    fn compute_ik(
        &mut self,
        request: &GetPositionIK::Request,
        measured: Option<&[f64]>,
    ) -> GetPositionIK::Response {
        let mut response = GetPositionIK::Response::default();
        match self.solution(request, measured) {
            Ok(position) => {
                response.solution.joint_state.name.clone_from(&self.names);
                response.solution.joint_state.position = position;
                response.error_code = moveit_error(SUCCESS, String::new());
            }
            Err(Failure(value, message)) => response.error_code = moveit_error(value, message),
        }
        response
    }

    fn solution(
        &mut self,
        request: &GetPositionIK::Request,
        measured: Option<&[f64]>,
    ) -> Result<Vec<f64>, Failure> {
        let asked = &request.ik_request;
        if !asked.ik_link_names.is_empty() || !asked.pose_stamped_vector.is_empty() {
            return Err(Failure(MoveItErrorCodes::INVALID_GROUP_NAME as i32, "one tip at a time".into()));
        }
        if asked.avoid_collisions {
            let message = "collisions are not checked: set avoid_collisions to false".into();
            return Err(Failure(MoveItErrorCodes::COLLISION_CHECKING_UNAVAILABLE as i32, message));
        }
        if is_constrained(&asked.constraints) {
            let message = "constraints are not supported".into();
            return Err(Failure(MoveItErrorCodes::INVALID_GOAL_CONSTRAINTS as i32, message));
        }
        let to_tip = self.offset_of_tip(&asked.ik_link_name)?;
        let frame = self.frame(&asked.pose_stamped.header.frame_id)?;
        let pose = raw_pose(&asked.pose_stamped.pose).to_isometry();
        let pose =
            pose.map_err(|bad| Failure(MoveItErrorCodes::INVALID_GOAL_CONSTRAINTS as i32, bad.to_string()))?;
        // The seed may be any configuration, but the pose of a frame needs known joints.
        let otherwise = measured.or((frame.joints_below == 0).then_some(self.middle.as_slice()));
        let seed = self.configuration(&asked.robot_state.joint_state, otherwise)?;
        let target = self.robot.link_pose(frame, &seed) * pose * to_tip;
        let options = IkOptions { time_limit: time_limit(&asked.timeout), ..IkOptions::default() };
        let mut solution = vec![0.0; self.robot.joint_count()];
        match self.robot.inverse(&target, &seed, &options, &mut solution) {
            Ok(_report) => Ok(solution),
            Err(error) => Err(Failure(MoveItErrorCodes::NO_IK_SOLUTION as i32, error.to_string())),
        }
    }

    /// Pose of the tip in the frame of the link of the request; an empty name is the tip itself.
    fn offset_of_tip(&self, name: &str) -> Result<Isometry3<f64>, Failure> {
        let model = self.robot.model();
        if name.is_empty() {
            return Ok(Isometry3::identity());
        }
        let link = self.link(name)?;
        if link.joints_below == self.robot.joint_count() {
            return Ok(link.offset.inverse() * model.tool());
        }
        let message = format!("link '{name}' is not rigidly attached to the tip, '{}'", model.tip_link());
        Err(Failure(MoveItErrorCodes::INVALID_LINK_NAME as i32, message))
    }

    /// The joint values of a state; joints that it does not name have the values of `otherwise`.
    fn configuration(
        &self,
        state: &sensor_msgs::msg::JointState,
        otherwise: Option<&[f64]>,
    ) -> Result<Vec<f64>, Failure> {
        let invalid = |message: String| Failure(MoveItErrorCodes::INVALID_ROBOT_STATE as i32, message);
        if state.name.len() != state.position.len() {
            let (names, positions) = (state.name.len(), state.position.len());
            return Err(invalid(format!("{names} joint names and {positions} positions")));
        }
        let mut given = vec![None; self.names.len()];
        for (name, value) in state.name.iter().zip(&state.position) {
            let index = self.names.iter().position(|known| known == name);
            let slot = index.and_then(|index| given.get_mut(index));
            let slot = slot.ok_or_else(|| invalid(format!("there is no joint '{name}'")))?;
            if !value.is_finite() {
                return Err(invalid(format!("joint '{name}' is {value}")));
            }
            *slot = Some(*value);
        }
        let known = |index: usize| otherwise.and_then(|positions| positions.get(index).copied());
        let positions = given.iter().enumerate().zip(&self.names).map(|((index, value), name)| {
            value.or_else(|| known(index)).ok_or_else(|| {
                invalid(format!("joint '{name}' is neither in the request nor measured so far"))
            })
        });
        positions.collect()
    }

    /// The link whose frame is the reference of poses; an empty name is the base link.
    fn frame(&self, name: &str) -> Result<&Link, Failure> {
        let model = self.robot.model();
        let name = if name.is_empty() { model.base_link() } else { name };
        self.find(name).ok_or_else(|| {
            let message = format!("'{name}' is not the frame of a link of {}", model.name());
            Failure(MoveItErrorCodes::FRAME_TRANSFORM_FAILURE as i32, message)
        })
    }

    fn link(&self, name: &str) -> Result<&Link, Failure> {
        self.find(name).ok_or_else(|| {
            let message = format!("{} has no link '{name}' between base and tip", self.robot.model().name());
            Failure(MoveItErrorCodes::INVALID_LINK_NAME as i32, message)
        })
    }

    fn find(&self, name: &str) -> Option<&Link> {
        self.robot.model().links().iter().find(|link| link.name == name)
    }
}

/// The request's timeout, up to [`MAX_TIMEOUT`]; the solver's own limit if it is zero or negative.
fn time_limit(timeout: &builtin_interfaces::msg::Duration) -> Duration {
    let asked = u64::try_from(timeout.sec).map_or(Duration::ZERO, |seconds| {
        Duration::from_secs(seconds).saturating_add(Duration::from_nanos(timeout.nanosec.into()))
    });
    if asked.is_zero() { IkOptions::default().time_limit } else { asked.min(MAX_TIMEOUT) }
}

fn is_constrained(constraints: &Constraints) -> bool {
    !(constraints.joint_constraints.is_empty()
        && constraints.position_constraints.is_empty()
        && constraints.orientation_constraints.is_empty()
        && constraints.visibility_constraints.is_empty())
}

#[cfg(test)]
mod tests;
