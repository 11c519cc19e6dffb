//! `plan_kinematic_path` in the form of `moveit_msgs`.

#![allow(clippy::unnecessary_cast)] // Constants are `i32` with the embedded implementation already.

use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::fields::moveit_error;
use dragoman_ros::moveit_msgs::msg::{Constraints, MotionPlanRequest, MotionPlanResponse, MoveItErrorCodes};
use dragoman_ros::moveit_msgs::srv::GetMotionPlan;
use dragoman_ros::tasks::NodeTasks;
use nalgebra::{Isometry3, UnitQuaternion};

use super::ik_services::{Failure, Solver, bad_constraint, free_axes};
use super::planner::{Goal, PlanRequest, Planner};
use super::surroundings::isometry;
use crate::FreeRotation;

/// The planner of straight lines, as Pilz' planners call it.
const STRAIGHT: &str = "LIN";

/// Offers `plan_kinematic_path`.
pub(super) fn serve(
    tasks: &mut NodeTasks,
    planner: &Arc<Planner>,
    together: usize,
    time_limit: impl Fn() -> Duration + Send + 'static,
) -> dragoman_ros::Result<()> {
    let planner = Arc::clone(planner);
    let solver = Arc::new(Solver::new(planner.robot.clone()));
    tasks.serve_together::<GetMotionPlan::Service, _>("plan_kinematic_path", together, move |request| {
        let (planner, solver, time_limit) = (Arc::clone(&planner), Arc::clone(&solver), time_limit());
        let request = request.motion_plan_request;
        async move {
            let begin = dragoman_time::now();
            let mut response =
                MotionPlanResponse { group_name: request.group_name.clone(), ..Default::default() };
            let answer = planner.answer(|_, measured, _| ask(&solver, &request, measured, time_limit)).await;
            response.planning_time = dragoman_time::since(begin).as_secs_f64();
            match answer {
                Ok(trajectory) => {
                    let start = &mut response.trajectory_start.joint_state;
                    start.name.clone_from(&trajectory.joint_names);
                    start.position =
                        trajectory.points.first().map(|point| point.positions.clone()).unwrap_or_default();
                    response.trajectory.joint_trajectory = trajectory;
                    response.error_code = moveit_error(MoveItErrorCodes::SUCCESS as i32, String::new());
                }
                Err(Failure(code, reason)) => response.error_code = moveit_error(code, reason),
            }
            GetMotionPlan::Response { motion_plan_response: response }
        }
    })
}

fn ask(
    solver: &Solver,
    request: &MotionPlanRequest,
    measured: Option<Vec<f64>>,
    time_limit: Duration,
) -> Result<PlanRequest, Failure> {
    let others = [
        (request.path_constraints != Constraints::default(), "path_constraints"),
        (!request.trajectory_constraints.constraints.is_empty(), "trajectory_constraints"),
        (!request.reference_trajectories.is_empty(), "reference_trajectories"),
    ];
    if let Some((_, name)) = others.into_iter().find(|(is_given, _)| *is_given) {
        return Err(bad_constraint(&format!("{name} are not supported")));
    }
    let start = solver.configuration(&request.start_state.joint_state, measured.as_deref())?;
    let goals = request.goal_constraints.iter().map(|constraints| goal(solver, constraints, &start));
    let goals = goals.collect::<Result<Vec<Goal>, Failure>>()?;
    let time_limit = match request.allowed_planning_time {
        0.0 => time_limit,
        seconds => Duration::try_from_secs_f64(seconds)
            .map_err(|_| bad_constraint(&format!("allowed_planning_time is {seconds}")))?
            .min(time_limit),
    };
    let scaling = [request.max_velocity_scaling_factor, request.max_acceleration_scaling_factor];
    Ok(PlanRequest { start, goals, is_straight: request.planner_id == STRAIGHT, scaling, time_limit })
}

/// Positions of joints; or the middle of the region of a link, with its orientation.
fn goal(solver: &Solver, constraints: &Constraints, start: &[f64]) -> Result<Goal, Failure> {
    if !constraints.visibility_constraints.is_empty() {
        return Err(bad_constraint("constraints of visibility are not supported"));
    }
    let (joints, positions, orientations) = (
        &constraints.joint_constraints,
        &constraints.position_constraints,
        &constraints.orientation_constraints,
    );
    match (joints.as_slice(), positions.as_slice(), orientations.as_slice()) {
        ([_, ..], [], []) => {
            let state = dragoman_ros::sensor_msgs::msg::JointState {
                name: joints.iter().map(|joint| joint.joint_name.clone()).collect(),
                position: joints.iter().map(|joint| joint.position).collect(),
                ..Default::default()
            };
            let positions = solver.configuration(&state, Some(start));
            let positions = positions.map_err(|Failure(_, reason)| bad_constraint(&reason))?;
            Ok(Goal::Positions(positions))
        }
        ([], [position], orientation @ ([] | [_])) => {
            let region = &position.constraint_region;
            let centre = match (region.primitive_poses.as_slice(), region.meshes.as_slice()) {
                ([centre], []) if region.primitives.len() == 1 => centre,
                _ => return Err(bad_constraint("a region is one primitive with its pose")),
            };
            if position.target_point_offset != Default::default() {
                return Err(bad_constraint("target_point_offset is not supported"));
            }
            let wrong = |reason: String| bad_constraint(&reason);
            let frame = |name: &str| solver.pose_of_frame(name, start);
            let mut pose = frame(&position.header.frame_id)? * isometry(centre).map_err(wrong)?;
            let free = match orientation {
                [orientation] => {
                    if orientation.link_name != position.link_name {
                        return Err(bad_constraint("position and orientation are of different links"));
                    }
                    let turned = dragoman_ros::geometry_msgs::msg::Pose {
                        orientation: orientation.orientation.clone(),
                        ..Default::default()
                    };
                    let own = isometry(&turned).map_err(wrong)?;
                    pose.rotation = frame(&orientation.header.frame_id)?.rotation * own.rotation;
                    free_axes([
                        orientation.absolute_x_axis_tolerance,
                        orientation.absolute_y_axis_tolerance,
                        orientation.absolute_z_axis_tolerance,
                    ])?
                }
                _ => {
                    pose.rotation = UnitQuaternion::identity();
                    FreeRotation::All
                }
            };
            let to_tip = solver.offset_of_tip(&position.link_name)?;
            if free != FreeRotation::None && to_tip != Isometry3::identity() {
                return Err(bad_constraint("only the tip link can have a free rotation"));
            }
            Ok(Goal::Pose(pose * to_tip, free))
        }
        _ => Err(bad_constraint(
            "a goal is joint positions, or one position of a link with at most one orientation",
        )),
    }
}
