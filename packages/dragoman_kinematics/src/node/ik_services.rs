//! `compute_fk` and `compute_ik` in the form of `moveit_msgs`.

use std::time::Duration;

use dragoman_ros::moveit_msgs::msg::MoveItErrorCodes;
use dragoman_ros::moveit_msgs::srv::{GetPositionFK, GetPositionIK};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Result, geometry_msgs, sensor_msgs};
use nalgebra::Isometry3;

use super::{pose_message, pose_of};
use crate::{IkOptions, Model, Robot};

/// The constant as the field's type; r2r, like bindgen, gives constants that are not negative as `u32`.
const SUCCESS: i32 = MoveItErrorCodes::SUCCESS as i32;

/// The longest that one request may keep the node, whatever it asks for.
const MAX_TIMEOUT: Duration = Duration::from_millis(100);

pub(super) fn serve(tasks: &mut NodeTasks, robot: &Robot, model: &Model) -> Result<()> {
    let solver = Solver::new(robot.clone(), model);
    let mut forward = solver.clone();
    tasks.serve::<GetPositionFK::Service>("compute_fk", move |request| forward.compute_fk(&request))?;
    let mut inverse = solver;
    tasks.serve::<GetPositionIK::Service>("compute_ik", move |request| inverse.compute_ik(&request))
}

#[derive(Clone)]
struct Solver {
    robot: Robot,
    names: Vec<String>,
    base_link: String,
    tip_link: String,
    /// Where joints stand that a request says nothing of: the middle of their range, 0 without limits.
    rest: Vec<f64>,
}

/// An error of `MoveItErrorCodes` and what it is about.
struct Failure(i32, String);

impl Solver {
    fn new(robot: Robot, model: &Model) -> Self {
        let middle = |lower: f64, upper: f64| {
            if lower.is_finite() && upper.is_finite() { (lower + upper) / 2.0 } else { 0.0 }
        };
        Self {
            names: robot.joints().iter().map(|joint| joint.name.clone()).collect(),
            rest: robot.joints().iter().map(|joint| middle(joint.lower, joint.upper)).collect(),
            base_link: model.base_link().to_owned(),
            tip_link: model.tip_link().to_owned(),
            robot,
        }
    }

    fn compute_fk(&mut self, request: &GetPositionFK::Request) -> GetPositionFK::Response {
        let mut response = GetPositionFK::Response::default();
        match self.poses(request) {
            Ok(poses) => {
                for (name, pose) in poses {
                    let mut stamped =
                        geometry_msgs::msg::PoseStamped { pose: pose_message(&pose), ..Default::default() };
                    stamped.header.frame_id.clone_from(&self.base_link);
                    response.pose_stamped.push(stamped);
                    response.fk_link_names.push(name);
                }
                response.error_code = code(SUCCESS, String::new());
            }
            Err(Failure(value, message)) => response.error_code = code(value, message),
        }
        response
    }

    fn poses(&self, request: &GetPositionFK::Request) -> Result<Vec<(String, Isometry3<f64>)>, Failure> {
        self.check_frame(&request.header.frame_id)?;
        let q = self.configuration(&request.robot_state.joint_state)?;
        let pose = self.robot.forward(&q);
        let links = if request.fk_link_names.is_empty() {
            vec![self.tip_link.clone()]
        } else {
            request.fk_link_names.clone()
        };
        links.into_iter().map(|link| self.check_link(&link).map(|()| (link, pose))).collect()
    }

    fn compute_ik(&mut self, request: &GetPositionIK::Request) -> GetPositionIK::Response {
        let mut response = GetPositionIK::Response::default();
        match self.solution(request) {
            Ok(position) => {
                response.solution.joint_state.name.clone_from(&self.names);
                response.solution.joint_state.position = position;
                response.error_code = code(SUCCESS, String::new());
            }
            Err(Failure(value, message)) => response.error_code = code(value, message),
        }
        response
    }

    fn solution(&mut self, request: &GetPositionIK::Request) -> Result<Vec<f64>, Failure> {
        let asked = &request.ik_request;
        self.check_frame(&asked.pose_stamped.header.frame_id)?;
        if !asked.ik_link_name.is_empty() {
            self.check_link(&asked.ik_link_name)?;
        }
        if !asked.ik_link_names.is_empty() || !asked.pose_stamped_vector.is_empty() {
            return Err(Failure(MoveItErrorCodes::INVALID_GROUP_NAME, "one tip at a time".into()));
        }
        let target = pose_of(&asked.pose_stamped.pose).ok_or_else(|| {
            Failure(
                MoveItErrorCodes::INVALID_GOAL_CONSTRAINTS,
                "the pose is not finite or its quaternion is zero".into(),
            )
        })?;
        let seed = self.configuration(&asked.robot_state.joint_state)?;
        let seconds = u64::try_from(asked.timeout.sec).unwrap_or(0);
        let timeout = Duration::from_secs(seconds) + Duration::from_nanos(asked.timeout.nanosec.into());
        let options = if timeout.is_zero() {
            IkOptions::default()
        } else {
            IkOptions { time_limit: timeout.min(MAX_TIMEOUT), ..IkOptions::default() }
        };
        let mut solution = vec![0.0; self.robot.joint_count()];
        match self.robot.inverse(&target, &seed, &options, &mut solution) {
            Ok(_report) => Ok(solution),
            Err(error) => Err(Failure(MoveItErrorCodes::NO_IK_SOLUTION, error.to_string())),
        }
    }

    /// The joint values of a state; joints that it does not name are at rest.
    fn configuration(&self, state: &sensor_msgs::msg::JointState) -> Result<Vec<f64>, Failure> {
        let invalid = |message: String| Failure(MoveItErrorCodes::INVALID_ROBOT_STATE, message);
        if state.name.len() != state.position.len() {
            let (names, positions) = (state.name.len(), state.position.len());
            return Err(invalid(format!("{names} joint names and {positions} positions")));
        }
        let mut q = self.rest.clone();
        for (name, value) in state.name.iter().zip(&state.position) {
            let index = self.names.iter().position(|known| known == name);
            let slot = index.and_then(|index| q.get_mut(index));
            let slot = slot.ok_or_else(|| invalid(format!("there is no joint '{name}'")))?;
            if !value.is_finite() {
                return Err(invalid(format!("joint '{name}' is {value}")));
            }
            *slot = *value;
        }
        Ok(q)
    }

    fn check_frame(&self, frame: &str) -> Result<(), Failure> {
        if frame.is_empty() || frame == self.base_link {
            return Ok(());
        }
        let message = format!("poses are in frame '{}', not '{frame}'", self.base_link);
        Err(Failure(MoveItErrorCodes::FRAME_TRANSFORM_FAILURE, message))
    }

    fn check_link(&self, link: &str) -> Result<(), Failure> {
        if link == self.tip_link {
            return Ok(());
        }
        let message = format!("the tip is link '{}', not '{link}'", self.tip_link);
        Err(Failure(MoveItErrorCodes::INVALID_LINK_NAME, message))
    }
}

fn code(value: i32, message: String) -> MoveItErrorCodes {
    MoveItErrorCodes { val: value, message, ..Default::default() }
}
