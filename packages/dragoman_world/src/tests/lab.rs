//! The default lab, and every printed example of the Apolo port manual.

use std::f64::consts::{FRAC_PI_2, PI};

use super::super::{DepthImage, ObjectKind, WorldError, Worlds};
use super::near;

fn lab() -> Worlds {
    Worlds::load_default().unwrap()
}

#[test]
fn nothing_touches_at_the_beginning() {
    let lab = lab();
    assert_eq!(lab.worlds().len(), 1);
    let world = lab.world(None).unwrap();
    assert_eq!(world.collisions(), []);
    let count = |kind| world.objects().iter().filter(|object| object.kind() == kind).count();
    assert_eq!((count(ObjectKind::Arm), count(ObjectKind::Wheeled)), (3, 6));
}

#[test]
fn robots_have_the_colours_of_their_descriptions() {
    let lab = lab();
    let parts = lab.world(None).unwrap().parts();
    for (part, material) in [
        ("Pioneer3AT", [0.75, 0.1, 0.1, 1.0]),
        ("turtlebot2_widowx", [0.12, 0.12, 0.13, 1.0]),
        ("widowx/arm_1_link", [0.12, 0.12, 0.13, 1.0]),
    ] {
        let part = parts.iter().find(|known| known.name == part).unwrap();
        assert!(part.shapes.iter().any(|shape| shape.color == material), "{}: {:?}", part.name, part.shapes);
    }
}

#[test]
fn every_robot_on_wheels_stands_where_it_would_fall() {
    let mut lab = lab();
    for robot in ["Pioneer3AT", "Neo", "Marvin", "turtlebot2_widowx", "neobotix_platform"] {
        let [x, y, z, yaw] = lab.location_m_robot(None, robot).unwrap();
        assert_eq!(z, 0.0);
        assert!(lab.place_m_robot(None, robot, [x, y, 0.3], yaw).unwrap(), "{robot}");
        for (now, then) in lab.location_m_robot(None, robot).unwrap().into_iter().zip([x, y, z, yaw]) {
            near(now, then, 1e-12);
        }
    }
}

#[test]
fn the_examples_of_the_manual() {
    let mut lab = lab();
    assert!(!lab.check_robot_joints(Some("world1"), "Puma560", &[0.5, 0.23, -0.1]).unwrap());
    for (value, printed) in
        lab.location(None, "pieza").unwrap().into_iter().zip([-0.25, 0.2, 0.06, FRAC_PI_2, 0.6912, 0.9425])
    {
        // The manual prints four decimals.
        near(value, printed, 5e-5);
    }
    lab.place(None, "pieza", [1.0; 3], [0.5, 0.0, 0.0]).unwrap();
    for (value, set) in lab.location(None, "pieza").unwrap().into_iter().zip([1.0, 1.0, 1.0, 0.5, 0.0, 0.0]) {
        near(value, set, 1e-12);
    }
    assert!(lab.place_m_robot(None, "Pioneer3AT", [0.7, 0.7, 0.0], 0.23).unwrap());
    assert!(lab.move_m_robot(None, "Pioneer3AT", [0.1, 0.0], 0.1).unwrap());
    let [x, y, z, yaw] = lab.location_m_robot(None, "Pioneer3AT").unwrap();
    near(x, 0.7 + 0.01 * 0.23_f64.cos(), 1e-12);
    near(y, 0.7 + 0.01 * 0.23_f64.sin(), 1e-12);
    near(z, 0.0, 1e-12);
    near(yaw, 0.23, 1e-12);
    lab.place_xyz(None, "Pioneer3AT", [1.0; 3]).unwrap();
    assert_eq!(lab.location_m_robot(None, "Pioneer3AT").unwrap(), [1.0, 1.0, 1.0, 0.0]);
    lab.set_robot_joints(Some("world1"), "Puma560", &[0.5, 0.23, -0.1]).unwrap();
    lab.update(Some("World1")).unwrap();
    lab.update(None).unwrap();
    assert_eq!(lab.world(Some("WORLD 1")).unwrap().updates(), 2);
}

#[test]
fn the_puma_collides_with_the_table_it_stands_on() {
    let mut lab = lab();
    assert!(lab.check_robot_joints(None, "Puma560", &[0.0, -1.5, -FRAC_PI_2]).unwrap());
    assert!(!lab.check_robot_joints(None, "Puma560", &[0.0, 0.785, PI, 0.0, 0.785, 0.0]).unwrap());
}

#[test]
fn names_and_worlds() {
    let mut lab = lab();
    assert_eq!(lab.location(Some("wOrLd1"), "P I E Z A"), lab.location(None, "pieza"));
    assert_eq!(lab.location(Some(""), "pieza"), lab.location(None, "pieza"));
    let unknown = lab.location(Some("world2"), "pieza").unwrap_err();
    assert_eq!(unknown, WorldError::UnknownWorld { name: "world2".to_owned() });
    let unknown = lab.location(None, "nobody").unwrap_err();
    assert_eq!(unknown, WorldError::UnknownName { name: "nobody".to_owned() });
    let refused = lab.odometry(None, "pieza").unwrap_err();
    assert!(matches!(refused, WorldError::WrongKind { .. }));
    assert_eq!(refused.to_string(), "pieza is not a robot on wheels");
    assert!(matches!(lab.place_xyz(None, "LMS100", [0.0; 3]), Err(WorldError::WrongKind { .. })));
    assert!(lab.update(Some("world2")).is_err());
}

#[test]
fn sensors_of_the_lab() {
    let mut lab = lab();
    let ranges = lab.laser_data(None, "LMS100").unwrap();
    assert_eq!(ranges.len(), 541);
    // Straight ahead from Marvin at (0, -2.5): the east wall at x = 6, seen from x = 0.1.
    near(ranges[270], 5.9, 0.05);
    assert_eq!(lab.laser_data(None, "Hokuyo").unwrap().len(), 684);
    // The floor is not an obstacle; the south wall is on the right.
    let [ahead, left, right] = lab.all_ultrasonics(None, "Marvin").unwrap()[..] else {
        panic!("three sensors")
    };
    assert_eq!([ahead, left], [3.0; 2]);
    near(right, 5.0 - 2.5 - 0.17, 0.02);
    assert!(lab.laser_landmarks(None, "LMS100").unwrap().len() >= 3);
}

#[test]
fn another_seed_restarts_the_noise() {
    let scan = |seed: Option<u64>| {
        let mut lab = lab();
        lab.laser_data(None, "LMS100").unwrap();
        seed.into_iter().for_each(|seed| lab.reseed(seed));
        (lab.laser_data(None, "LMS100").unwrap(), lab.ultrasonic(None, "us0").unwrap())
    };
    assert_eq!(scan(Some(7)), scan(Some(7)));
    assert_ne!(scan(Some(7)), scan(Some(8)));
    // The file's seed is 1: it is the first scan again.
    assert_eq!(scan(Some(1)).0, lab().laser_data(None, "LMS100").unwrap());
    assert_ne!(scan(None).0, scan(Some(1)).0);
}

/// Pose of a frame of a description relative to `base_footprint`; all joints between are fixed.
fn described(urdf: &str, frame: &str) -> nalgebra::Isometry3<f64> {
    let robot = urdf_rs::read_from_string(urdf).unwrap();
    let mut pose = nalgebra::Isometry3::identity();
    let mut frame = frame.to_owned();
    while frame != "base_footprint" {
        let joint = robot.joints.iter().find(|joint| joint.child.link == frame).unwrap();
        assert_eq!(joint.joint_type, urdf_rs::JointType::Fixed);
        pose = super::super::pose(joint.origin.xyz.0, joint.origin.rpy.0) * pose;
        frame.clone_from(&joint.parent.link);
    }
    pose
}

const TURTLEBOT: &str = include_str!("../../../../urdf/turtlebot2_widowx.urdf");
const NEOBOTIX: &str = include_str!("../../../../urdf/neobotix.urdf");

#[test]
fn robots_stand_on_the_wheels_of_their_descriptions() {
    let mut lab = lab();
    let neobotix = ["wheel_left_link", "wheel_right_link", "caster_front_link", "caster_back_link"];
    let pioneer =
        ["front_left", "front_right", "back_left", "back_right"].map(|at| format!("{at}_wheel_link"));
    let cases = [("neobotix_platform", neobotix.map(str::to_owned)), ("Pioneer3AT", pioneer)];
    for (robot, wheels) in cases {
        let world = lab.at_mut(0).unwrap();
        let (at, wheeled) = world.wheeled(robot).unwrap();
        let (supports, radius) = (wheeled.supports.clone(), wheeled.wheel_radius);
        let description = world.objects()[at].description().unwrap();
        let chain = k::Chain::<f64>::from(urdf_rs::read_from_string(&description.urdf).unwrap());
        chain.update_transforms();
        for (link, pose) in &description.links {
            let expected = chain.find_link(link).unwrap().world_transform().unwrap();
            assert!((expected.to_homogeneous() - pose.to_homogeneous()).norm() < 1e-12, "{robot}: {link}");
        }
        for (wheel, [x, y]) in wheels.iter().zip(supports) {
            let (_, pose) = description.links.iter().find(|(link, _)| link == wheel).unwrap();
            let height = if wheel.contains("caster") { 0.05 } else { radius };
            let off = pose.translation.vector - nalgebra::Vector3::new(x, y, height);
            assert!(off.norm() < 1e-12, "{robot}: {wheel} at {pose}");
        }
    }
}

#[test]
fn only_complete_descriptions_are_returned() {
    let lab = lab();
    let description = |name: &str| {
        let object = lab.worlds()[0].objects().iter().find(|object| object.name() == name).unwrap();
        object.description().map(|description| urdf_rs::read_from_string(&description.urdf).unwrap().name)
    };
    assert_eq!(description("Puma560").as_deref(), Some("puma560"));
    assert_eq!(description("Ranger Mark I").as_deref(), Some("ranger_mk1"));
    // Two parts of one file; and robots without a description.
    for name in ["turtlebot2_widowx", "widowx", "Marvin", "pieza"] {
        assert_eq!(description(name), None, "{name}");
    }
}

#[test]
fn sensors_are_where_the_descriptions_say() {
    let lab = lab();
    let world = lab.world(None).unwrap();
    let robot = world.pose("turtlebot2_widowx").unwrap();
    let close = |a: nalgebra::Isometry3<f64>, b: nalgebra::Isometry3<f64>| {
        let off = a.inverse() * b;
        assert!(off.translation.vector.norm() < 1e-9 && off.rotation.angle() < 1e-9, "{a} {b}");
    };
    close(world.pose("Hokuyo").unwrap(), robot * described(TURTLEBOT, "laser_link"));
    let depth = world.pose("Kinect").unwrap();
    close(depth, robot * described(TURTLEBOT, "camera_depth_frame"));
    let [x, y, z] = world.color_offset("Kinect").unwrap();
    close(depth * nalgebra::Translation3::new(x, y, z), robot * described(TURTLEBOT, "camera_rgb_frame"));
    let platform = world.pose("neobotix_platform").unwrap();
    close(world.pose("neobotix_laser").unwrap(), platform * described(NEOBOTIX, "laser_link"));
    // The names used by the node.
    let names = |sensor: &str| world.publication(sensor).unwrap().names.clone().unwrap();
    assert_eq!(names("Hokuyo"), ["/scan", "laser_link"]);
    assert_eq!(names("Kinect"), ["/camera", "camera"]);
    for kind in ["depth", "rgb"] {
        described(TURTLEBOT, &format!("{}_{kind}_optical_frame", names("Kinect")[1]));
    }
}

#[test]
fn the_turtlebot_sees_its_pillars_and_what_is_ahead() {
    let mut lab = lab();
    // In front of the east wall.
    lab.place(None, "turtlebot2_widowx", [3.0, -2.0, 0.0], [0.0; 3]).unwrap();
    let ranges = lab.laser_data(None, "Hokuyo").unwrap();
    near(ranges[342], 3.0, 0.02);
    // 6 mm thick posts, 155 mm away, ahead of the middle on both sides, and behind it.
    let near_by: Vec<usize> = (0..684).filter(|beam| ranges[*beam] < 0.3).collect();
    let gaps = near_by.windows(2).filter(|pair| pair[1] > pair[0] + 1).count();
    assert_eq!(gaps + 1, 4, "four pillars: {near_by:?}");
    assert!((40..120).contains(&near_by.len()), "{}", near_by.len());
    let mut image = DepthImage::default();
    lab.view(None, "Kinect").unwrap().depth(&mut image);
    near(image.depth(320, 240).unwrap().into(), 3.0365, 1e-3);
    // The lower edge faces down by 21.5 degrees, at the floor.
    let lowest = f64::from(image.depth(320, 479).unwrap());
    near(lowest, 0.316 / (21.5_f64.to_radians().tan() * 239.5 / 240.0), 2e-3);
}
