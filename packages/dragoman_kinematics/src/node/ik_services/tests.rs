use super::*;
use crate::Model;
use dragoman_ros::moveit_msgs::msg::JointConstraint;
use dragoman_ros::poses;

const Q: [f64; 4] = [0.4, -0.7, 0.3, 1.9];
const JOINTS: [&str; 4] = ["turn", "lift", "reach", "roll"];

/// Base `pedestal`, tip `camera`, which fixed joints attach to `head`; `bracket` is fixed to `turret`.
fn solver() -> Solver {
    let xml = include_str!("../../../tests/data/crooked.urdf");
    let model = Model::from_urdf(xml, Some("pedestal"), Some("camera")).unwrap();
    Solver::new(Robot::new(&model).unwrap())
}

fn state(q: &[(&str, f64)]) -> sensor_msgs::msg::JointState {
    let (name, position) = q.iter().map(|(name, q)| ((*name).to_owned(), *q)).unzip();
    sensor_msgs::msg::JointState { name, position, ..Default::default() }
}

fn whole_state() -> sensor_msgs::msg::JointState {
    state(&JOINTS.map(|name| (name, Q[JOINTS.iter().position(|known| *known == name).unwrap()])))
}

fn forward(frame: &str, links: &[&str], joints: sensor_msgs::msg::JointState) -> GetPositionFK::Request {
    let mut request = GetPositionFK::Request::default();
    request.header.frame_id = frame.to_owned();
    request.fk_link_names = links.iter().map(|link| (*link).to_owned()).collect();
    request.robot_state.joint_state = joints;
    request
}

/// The poses in a response, by link.
fn poses(response: &GetPositionFK::Response) -> Vec<(&str, Isometry3<f64>)> {
    assert_eq!(response.error_code.val, SUCCESS, "{}", response.error_code.message);
    let poses = response.pose_stamped.iter().map(|stamped| raw_pose(&stamped.pose).to_isometry().unwrap());
    response.fk_link_names.iter().map(String::as_str).zip(poses).collect()
}

fn assert_near(a: &Isometry3<f64>, b: &Isometry3<f64>) {
    assert!((a.to_homogeneous() - b.to_homogeneous()).norm() < 3e-6, "{a} {b}");
}

#[track_caller]
fn refused(code: &MoveItErrorCodes, value: i32, word: &str) {
    assert_eq!(code.val, value, "{}", code.message);
    assert!(code.message.contains(word), "{}", code.message);
}

#[test]
fn poses_of_all_links_agree_with_the_tree_that_k_builds() {
    let solver = solver();
    let response = solver.compute_fk(&forward("", &[], whole_state()), None);
    let poses = poses(&response);
    let links: Vec<&str> = poses.iter().map(|(link, _)| *link).collect();
    assert_eq!(links, ["pedestal", "turret", "bracket", "boom", "slider", "head", "camera"]);
    assert!(response.pose_stamped.iter().all(|stamped| stamped.header.frame_id == "pedestal"));
    let xml = include_str!("../../../tests/data/crooked.urdf");
    let tree = k::Chain::<f64>::from(urdf_rs::read_from_string(xml).unwrap());
    let chain = k::SerialChain::from_end(tree.find_link("camera").unwrap());
    chain.set_joint_positions_unchecked(&Q);
    chain.update_transforms();
    let world = |link: &str| chain.iter().find(|node| node.link().as_ref().unwrap().name == link).unwrap();
    let base = world("pedestal").world_transform().unwrap();
    for (link, pose) in poses {
        assert_near(&(base * pose), &world(link).world_transform().unwrap());
    }
}

#[test]
fn a_search_without_collisions_has_one_budget_for_all_its_places() {
    let solver = solver();
    let surroundings =
        Surroundings::new(&solver.robot, include_str!("../../../tests/data/crooked.urdf"), 0.01);
    let solver = Solver { surroundings: Some(Arc::new(surroundings)), ..solver };
    let mut request = GetPositionIK::Request::default();
    // Four joints do not reach all orientations.
    let mut target = solver.robot.forward(&Q);
    target.rotation *= nalgebra::UnitQuaternion::from_euler_angles(0.3, 0.4, 0.5);
    request.ik_request.pose_stamped.pose = poses::pose(&target);
    request.ik_request.robot_state.joint_state = whole_state();
    request.ik_request.avoid_collisions = true;
    for (seconds, most) in [(0, 400 * COLLISION_SEEDS as u32), (1000, MAX_ITERATIONS)] {
        request.ik_request.timeout.sec = seconds;
        let mut spent = 0;
        let found = solver.solution(&request, None, FreeRotation::None, &mut spent);
        assert_eq!(found.map_err(|failure| failure.0), Err(MoveItErrorCodes::NO_IK_SOLUTION as i32));
        assert!(spent > 1000 && spent <= most, "{spent}");
    }
}

#[test]
fn poses_are_given_in_the_frame_that_the_header_names() {
    let solver = solver();
    let in_base = solver.compute_fk(&forward("pedestal", &["boom", "head"], whole_state()), None);
    let in_boom = solver.compute_fk(&forward("boom", &["head", "head", "boom"], whole_state()), None);
    let (base, boom) = (poses(&in_base), poses(&in_boom));
    assert_near(&boom[0].1, &(base[0].1.inverse() * base[1].1));
    assert_eq!(boom[0], boom[1]);
    assert_near(&boom[2].1, &Isometry3::identity());
    assert_eq!(in_boom.pose_stamped[0].header.frame_id, "boom");
}

#[test]
fn joints_that_a_state_leaves_out_are_where_they_were_measured() {
    let solver = solver();
    let whole = solver.compute_fk(&forward("", &["camera"], whole_state()), None);
    let measured = [9.0, Q[1], Q[2], Q[3]];
    let part = solver.compute_fk(&forward("", &["camera"], state(&[("turn", Q[0])])), Some(&measured));
    assert_eq!(poses(&whole), poses(&part));
    let unknown = solver.compute_fk(&forward("", &["camera"], state(&[("turn", Q[0])])), None);
    refused(&unknown.error_code, MoveItErrorCodes::INVALID_ROBOT_STATE, "lift");
}

#[test]
fn forward_refuses_unknown_names_without_poses() {
    let solver = solver();
    let cases = [
        (forward("world", &[], whole_state()), MoveItErrorCodes::FRAME_TRANSFORM_FAILURE, "world"),
        (forward("", &["boom", "finger_a"], whole_state()), MoveItErrorCodes::INVALID_LINK_NAME, "finger_a"),
        (forward("", &[""], whole_state()), MoveItErrorCodes::INVALID_LINK_NAME, "''"),
        (forward("", &[], state(&[("grip_a", 0.0)])), MoveItErrorCodes::INVALID_ROBOT_STATE, "grip_a"),
        (forward("", &[], state(&[("turn", f64::NAN)])), MoveItErrorCodes::INVALID_ROBOT_STATE, "NaN"),
    ];
    for (request, value, word) in cases {
        let response = solver.compute_fk(&request, Some(&Q));
        refused(&response.error_code, value, word);
        assert!(response.pose_stamped.is_empty() && response.fk_link_names.is_empty());
    }
    let mut uneven = forward("", &[], whole_state());
    uneven.robot_state.joint_state.position.pop();
    let response = solver.compute_fk(&uneven, Some(&Q));
    refused(&response.error_code, MoveItErrorCodes::INVALID_ROBOT_STATE, "4 joint names and 3 positions");
}

fn inverse(frame: &str, link: &str, pose: &Isometry3<f64>) -> GetPositionIK::Request {
    let mut request = GetPositionIK::Request::default();
    request.ik_request.pose_stamped.header.frame_id = frame.to_owned();
    request.ik_request.pose_stamped.pose = poses::pose(pose);
    request.ik_request.ik_link_name = link.to_owned();
    request
}

#[test]
fn every_link_that_is_fixed_to_the_tip_can_be_posed_in_every_frame() {
    let solver = solver();
    let all = solver.compute_fk(&forward("", &[], whole_state()), None);
    let all = poses(&all);
    let pose = |name: &str| all.iter().find(|(link, _)| *link == name).unwrap().1;
    for (link, posed) in [("", "camera"), ("camera", "camera"), ("head", "head")] {
        for (frame, link_of_frame) in [("", "pedestal"), ("pedestal", "pedestal"), ("turret", "turret")] {
            let target = pose(link_of_frame).inverse() * pose(posed);
            let mut request = inverse(frame, link, &target);
            // The turret turns with the first joint; the others are searched.
            request.ik_request.robot_state.joint_state = state(&[("turn", Q[0])]);
            let response = solver.compute_ik(&request, Some(&[0.0; 4]), FreeRotation::None);
            assert_eq!(
                response.error_code.val, SUCCESS,
                "{link} in {frame}: {}",
                response.error_code.message
            );
            let q = response.solution.joint_state;
            assert_eq!(q.name, JOINTS);
            let reached = solver.robot.link_pose(solver.find(posed).unwrap(), &q.position);
            assert_near(&reached, &pose(posed));
        }
    }
}

#[test]
fn inverse_refuses_unsupported_requests() {
    let solver = solver();
    let target = solver.robot.forward(&Q);
    let refuses = |request: &GetPositionIK::Request, value, word| {
        let response = solver.compute_ik(request, Some(&Q), FreeRotation::None);
        refused(&response.error_code, value, word);
        assert!(response.solution.joint_state.position.is_empty());
    };
    refuses(&inverse("", "boom", &target), MoveItErrorCodes::INVALID_LINK_NAME, "camera");
    refuses(&inverse("", "nothing", &target), MoveItErrorCodes::INVALID_LINK_NAME, "nothing");
    refuses(&inverse("world", "", &target), MoveItErrorCodes::FRAME_TRANSFORM_FAILURE, "world");
    let mut request = inverse("", "", &target);
    request.ik_request.avoid_collisions = true;
    refuses(&request, MoveItErrorCodes::COLLISION_CHECKING_UNAVAILABLE, "collisions");
    let mut request = inverse("", "", &target);
    request.ik_request.constraints.joint_constraints.push(JointConstraint::default());
    refuses(&request, MoveItErrorCodes::INVALID_GOAL_CONSTRAINTS, "constraints");
    let mut request = inverse("", "", &target);
    request.ik_request.ik_link_names.push("camera".to_owned());
    refuses(&request, MoveItErrorCodes::INVALID_GROUP_NAME, "one tip");
    let mut request = inverse("", "", &target);
    request.ik_request.pose_stamped.pose.orientation = Default::default();
    request.ik_request.pose_stamped.pose.orientation.w = 0.0;
    refuses(&request, MoveItErrorCodes::INVALID_GOAL_CONSTRAINTS, "zero");
    let mut request = inverse("", "", &target);
    request.ik_request.pose_stamped.pose.position.x = f64::NAN;
    refuses(&request, MoveItErrorCodes::INVALID_GOAL_CONSTRAINTS, "NaN");
    let far = Isometry3::translation(90.0, 0.0, 0.0);
    refuses(&inverse("", "", &far), MoveItErrorCodes::NO_IK_SOLUTION, "");
}

#[test]
fn a_quaternion_may_have_any_length_and_sign() {
    let solver = solver();
    let target = solver.robot.forward(&Q);
    for scale in [-1.0, 1e200, -1e-200] {
        let mut request = inverse("", "", &target);
        let q = &mut request.ik_request.pose_stamped.pose.orientation;
        for component in [&mut q.x, &mut q.y, &mut q.z, &mut q.w] {
            *component *= scale;
        }
        let response = solver.compute_ik(&request, Some(&Q), FreeRotation::None);
        assert_eq!(response.error_code.val, SUCCESS, "{scale}: {}", response.error_code.message);
        assert_near(&solver.robot.forward(&response.solution.joint_state.position), &target);
    }
}

#[test]
fn a_seed_need_not_be_known_but_the_frame_of_a_moving_link_must() {
    let solver = solver();
    let target = solver.robot.forward(&Q);
    assert_eq!(
        solver.compute_ik(&inverse("", "", &target), None, FreeRotation::None).error_code.val,
        SUCCESS
    );
    let response = solver.compute_ik(&inverse("turret", "", &target), None, FreeRotation::None);
    refused(&response.error_code, MoveItErrorCodes::INVALID_ROBOT_STATE, "turn");
}

#[test]
fn a_timeout_is_a_number_of_iterations() {
    let limit = |sec, nanosec| limits(&builtin_interfaces::msg::Duration { sec, nanosec });
    assert_eq!(limit(0, 0), IkOptions::default());
    assert_eq!(limit(-5, 10), IkOptions::default());
    assert_eq!(limit(0, 50_000_000).max_total_iterations, 50_000);
    assert_eq!(limit(0, 1).max_total_iterations, 1);
    assert_eq!(limit(i32::MAX, u32::MAX).max_total_iterations, MAX_ITERATIONS);
}

#[test]
fn rotations_may_be_free_by_default_or_by_a_constraint() {
    let solver = solver();
    let pose = solver.robot.forward(&Q);
    // Free about an axis of `head`, to which the camera is fixed.
    let head = solver.robot.link_pose(solver.find("head").unwrap(), &Q);
    let mut request = inverse("", "head", &head);
    let mut constraint = OrientationConstraint { link_name: "head".to_owned(), ..Default::default() };
    constraint.orientation = request.ik_request.pose_stamped.pose.orientation.clone();
    let solve = |request: &GetPositionIK::Request, free| {
        let response = solver.compute_ik(request, Some(&Q), free);
        (response.error_code.val, response.solution.joint_state.position)
    };
    let turned = |axis, angle: f64| {
        let mut turned = head;
        turned.rotation *= nalgebra::UnitQuaternion::from_axis_angle(&axis, angle);
        poses::pose(&turned)
    };
    for (i, axis) in [Vector3::x_axis(), Vector3::y_axis(), Vector3::z_axis()].into_iter().enumerate() {
        request.ik_request.pose_stamped.pose = turned(axis, 0.9);
        request.ik_request.constraints.orientation_constraints.clear();
        // The last joint turns the head about its own y axis.
        assert_eq!(solve(&request, FreeRotation::None).0 == SUCCESS, i == 1);
        let mut constraint = constraint.clone();
        constraint.orientation = request.ik_request.pose_stamped.pose.orientation.clone();
        let tolerances = [
            &mut constraint.absolute_x_axis_tolerance,
            &mut constraint.absolute_y_axis_tolerance,
            &mut constraint.absolute_z_axis_tolerance,
        ];
        *tolerances.into_iter().nth(i).unwrap() = std::f64::consts::PI;
        request.ik_request.constraints.orientation_constraints = vec![constraint];
        let (code, q) = solve(&request, FreeRotation::None);
        assert_eq!(code, SUCCESS, "about {axis:?}");
        let reached = solver.robot.link_pose(solver.find("head").unwrap(), &q);
        assert!((reached.rotation * axis.into_inner()).angle(&(head.rotation * axis.into_inner())) < 3e-6);
        assert!((reached.translation.vector - head.translation.vector).norm() < 3e-6);
    }
    // The default of the node: an axis of the tool.
    let mut target = pose;
    target.rotation *= nalgebra::UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.7);
    assert_ne!(solve(&inverse("", "", &target), FreeRotation::None).0, SUCCESS);
    let (code, q) = solve(&inverse("", "", &target), FreeRotation::Y);
    assert_eq!(code, SUCCESS);
    let reached = solver.robot.forward(&q);
    assert!((reached.rotation * Vector3::y()).angle(&(target.rotation * Vector3::y())) < 3e-6);
}

#[test]
fn constraints_that_contradict_the_request_are_refused() {
    let solver = solver();
    let target = solver.robot.forward(&Q);
    let good = OrientationConstraint {
        orientation: poses::pose(&target).orientation,
        absolute_z_axis_tolerance: 4.0,
        ..Default::default()
    };
    let refuses = |change: fn(&mut OrientationConstraint), word| {
        let mut constraint = good.clone();
        change(&mut constraint);
        let mut request = inverse("", "", &target);
        request.ik_request.constraints.orientation_constraints.push(constraint);
        let response = solver.compute_ik(&request, Some(&Q), FreeRotation::None);
        refused(&response.error_code, MoveItErrorCodes::INVALID_GOAL_CONSTRAINTS as i32, word);
    };
    refuses(|constraint| constraint.link_name = "boom".to_owned(), "ik_link_name");
    refuses(|constraint| constraint.header.frame_id = "boom".to_owned(), "frame");
    refuses(|constraint| constraint.absolute_x_axis_tolerance = f64::NAN, "not a number");
    refuses(|constraint| constraint.absolute_x_axis_tolerance = -1.0, "negative");
    refuses(|constraint| constraint.orientation.x += 0.5, "orientation of the pose");
    refuses(|constraint| constraint.orientation.w = f64::NAN, "NaN");
    let mut request = inverse("", "", &target);
    request.ik_request.constraints.orientation_constraints = vec![good.clone(), good.clone()];
    let response = solver.compute_ik(&request, Some(&Q), FreeRotation::None);
    refused(&response.error_code, MoveItErrorCodes::INVALID_GOAL_CONSTRAINTS as i32, "more than one");
}
