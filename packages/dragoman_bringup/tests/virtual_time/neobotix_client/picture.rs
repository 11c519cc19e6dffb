//! The platform's data in ROS, field by field.

use std::f32::consts::FRAC_1_SQRT_2;
use std::f64::consts::FRAC_PI_4;

use dragoman_ros::dragoman_msgs::msg::PlatformStatus;
use dragoman_ros::dragoman_msgs::srv::{PlatformGetPosition, PlatformGetStatus};
use dragoman_ros::geometry_msgs::msg::{Point32, Pose2D, Quaternion, TransformStamped};
use dragoman_ros::nav_msgs::msg::{OccupancyGrid, Odometry, Path};
use dragoman_ros::sensor_msgs::msg::{BatteryState, LaserScan};
use dragoman_ros::tf2_msgs::msg::TFMessage;

use super::platform_ctrl::{map, position};
use super::*;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 2e-3
}

fn heading(turn: &Quaternion) -> f64 {
    2.0 * turn.z.atan2(turn.w)
}

fn point(x: f32, y: f32) -> Point32 {
    Point32 { x, y, z: 0.0 }
}

/// Lines are in the platform's frame there and in the map here; all other values are in millimetres and thousandths of
/// a degree.
fn expected() -> PlatformStatus {
    let degrees = f64::to_radians;
    PlatformStatus {
        commanded: Pose2D { x: 1.0, y: 2.0, theta: degrees(90.0) },
        estimated: Pose2D { x: -1.5, y: 0.25, theta: degrees(-45.0) },
        principal_deviation: 0.01,
        minor_deviation: 0.02,
        heading_deviation: degrees(1.5),
        principal_axis: degrees(30.0),
        scan: vec![point(-0.086, -1.164), point(-0.793, 0.957)],
        reflectors: vec![point(0.1, 0.2)],
        lines: vec![
            point(-1.5 + FRAC_1_SQRT_2, 0.25 + FRAC_1_SQRT_2),
            point(-1.5 + FRAC_1_SQRT_2, 0.25 - FRAC_1_SQRT_2),
        ],
        circles: vec![Point32 { x: 0.01, y: 0.02, z: 0.03 }],
        corners: vec![point(-0.01, -0.02)],
        path: vec![point(0.0, 0.0), point(1.0, 0.0), point(1.0, 0.5)],
        joystick_buttons: vec![false, true, false],
        translation_velocity: 0.31,
        rotation_velocity: -0.16,
        relay_digital_in: 5,
        relay_status: 6,
        relay_analog_in: (11..=18).collect(),
        optical_distance: (21..=24).collect(),
        battery_voltage: 24_500,
        io_digital_in: 7,
        io_digital_out: 8,
        io_status: 9,
        io_analog_in: (31..=38).collect(),
        motor_right_status: 41,
        motor_left_status: 42,
        motor_right_temperature: 43,
        motor_left_temperature: 44,
        ultrasonic: (1..=16).map(|sensor| f64::from(sensor) / 10.0).collect(),
        ultrasonic_analog_in: (51..=58).collect(),
        ultrasonic_status: 59,
        radar_velocity: vec![0.1, 0.2, 0.3, 0.4],
        radar_status: 61,
        latitude: 48.5,
        longitude: 9.25,
        acceleration: vec![1.0, -2.0, 9.81],
        gyro_angle: 1.5,
        gyro_temperature: 71,
        gyro_status: 72,
        initialized: false,
        target_reached: true,
        motion_mode: 0,
        operation_state: 3,
        emergency_state: 0,
        application_mode: 4,
        planner_state: 3,
        application_error: 1,
        docked: true,
        localization_lost: false,
        collision: true,
        lookup_percent: 77,
        infrared: vec![false, true, false, true],
        siren: true,
        flash_light: false,
        head_angle: degrees(-30.0),
        ..Default::default()
    }
}

/// Equal except for rounding in multiplications.
#[track_caller]
fn assert_same(got: &PlatformStatus, expected: &PlatformStatus) {
    let words = |status: &PlatformStatus| {
        let mut status = status.clone();
        status.header = Default::default();
        let rounded = |value: &mut f64| *value = (*value * 1e9).round() / 1e9;
        let rounded32 = |value: &mut f32| *value = (*value * 1e5).round() / 1e5;
        for pose in [&mut status.commanded, &mut status.estimated] {
            [&mut pose.x, &mut pose.y, &mut pose.theta].into_iter().for_each(rounded);
        }
        for points in [
            &mut status.scan,
            &mut status.reflectors,
            &mut status.lines,
            &mut status.circles,
            &mut status.corners,
            &mut status.path,
        ] {
            for point in points {
                [&mut point.x, &mut point.y, &mut point.z].into_iter().for_each(rounded32);
            }
        }
        [&mut status.ultrasonic, &mut status.radar_velocity, &mut status.acceleration]
            .into_iter()
            .flatten()
            .for_each(rounded);
        for value in [
            &mut status.principal_deviation,
            &mut status.minor_deviation,
            &mut status.heading_deviation,
            &mut status.principal_axis,
            &mut status.translation_velocity,
            &mut status.rotation_velocity,
            &mut status.gyro_angle,
            &mut status.head_angle,
        ] {
            rounded(value);
        }
        format!("{status:#?}")
    };
    assert_eq!(words(got), words(expected));
}

#[test]
fn the_topics_show_what_the_platform_sends() {
    let mut operator = Operator::new(&[]);
    let beside = &mut operator.beside;
    let mut statuses = beside.subscribe::<PlatformStatus>("/neobotix/status");
    let mut odometries = beside.subscribe::<Odometry>("/neobotix/odom");
    let mut scans = beside.subscribe::<LaserScan>("/neobotix/scan");
    let mut batteries = beside.subscribe::<BatteryState>("/neobotix/battery_state");
    let mut transforms = beside.subscribe::<TFMessage>("/tf");
    let mut maps = beside.latched::<OccupancyGrid>("/neobotix/map");
    let mut paths = beside.latched::<Path>("/neobotix/path");

    let status = beside.next("status", &mut statuses);
    assert_same(&status, &expected());
    assert!(status.header.frame_id == "map" && status.header.stamp.sec > 1_000_000_000);

    let odometry = beside.next("odometry", &mut odometries);
    let frames = (odometry.header.frame_id.as_str(), odometry.child_frame_id.as_str());
    assert_eq!(frames, ("neobotix/odom", "neobotix/base_footprint"));
    let pose = &odometry.pose.pose;
    assert!(
        near(pose.position.x, 0.0) && near(pose.position.y, 0.0) && near(heading(&pose.orientation), 0.0)
    );
    let twist = &odometry.twist.twist;
    assert!(near(twist.linear.x, 0.3) && near(twist.angular.z, -0.15), "{twist:?}");

    let scan = beside.next("scan", &mut scans);
    assert_eq!((scan.header.frame_id.as_str(), scan.ranges.len()), ("neobotix/laser", 541));
    assert!(
        near(scan.angle_min.into(), -135_f64.to_radians())
            && near(scan.angle_max.into(), 135_f64.to_radians())
    );
    let hits: Vec<(usize, f32)> =
        scan.ranges.iter().copied().enumerate().filter(|(_, range)| range.is_finite()).collect();
    assert!(
        matches!(hits[..], [(270, ahead), (450, left)] if near(ahead.into(), 2.0) && near(left.into(), 1.0)),
        "{hits:?}"
    );

    let battery = beside.next("battery", &mut batteries);
    assert!(near(battery.voltage.into(), 24.5) && battery.present && battery.percentage.is_nan());

    let map_message = beside.find("the map", &mut maps, |grid| !grid.data.is_empty());
    assert_eq!(map_message.header.frame_id, "map");
    let info = &map_message.info;
    assert!(near(info.resolution.into(), 0.05) && near(info.origin.position.x, -0.5));
    // 2 m of wall.
    assert_eq!(map_message.data.iter().filter(|cell| **cell == 100).count(), 41);

    let path = beside.find("the way", &mut paths, |path| !path.poses.is_empty());
    let places: Vec<[f64; 2]> =
        path.poses.iter().map(|pose| [pose.pose.position.x, pose.pose.position.y]).collect();
    assert_eq!(places, [[0.0, 0.0], [1.0, 0.0], [1.0, 0.5]]);
    assert!(near(heading(&path.poses[1].pose.orientation), 2.0 * FRAC_PI_4));

    let find = |message: &TFMessage, child: &str| {
        message.transforms.iter().find(|transform| transform.child_frame_id == child).cloned()
    };
    let place = |transform: TransformStamped| {
        let TransformStamped { header, transform, .. } = transform;
        (header.frame_id, transform.translation.x, transform.translation.y, heading(&transform.rotation))
    };
    let message = beside.next("transforms", &mut transforms);
    let (parent, x, y, turn) = place(find(&message, "neobotix/odom").expect("the odometry's origin"));
    assert!(parent == "map" && near(x, -1.5) && near(y, 0.25) && near(turn, -FRAC_PI_4), "{message:?}");
    let (parent, x, ..) = place(find(&message, "neobotix/base_footprint").expect("the base"));
    assert!(parent == "neobotix/odom" && near(x, 0.0));
    assert_eq!(
        find(&message, "neobotix/laser").expect("the laser").header.frame_id,
        "neobotix/base_footprint"
    );

    // It drives on by 0.1 m, then its localization jumps to another pose.
    operator.platform.script().answers.insert(74, position(-1500 + 71, 250 - 71));
    let moved = |odometry: &Odometry| near(odometry.pose.pose.position.x, 0.1);
    operator.beside.find("the step", &mut odometries, moved);
    operator.platform.script().answers.insert(74, position(5000, 5000));
    let elsewhere = |message: &TFMessage| {
        find(message, "neobotix/odom").is_some_and(|odom| odom.transform.translation.x > 4.0)
    };
    let message = operator.beside.find("the jump", &mut transforms, elsewhere);
    let (_, x, y, _) = place(find(&message, "neobotix/base_footprint").expect("the base"));
    assert!(near(x, 0.1) && near(y, 0.0), "{message:?}");

    // Another map: it arrives in ROS without a request.
    let longer = super::platform_ctrl::MAP.replace("2000", "4000");
    operator.platform.script().answers.insert(26, map(&longer));
    operator.beside.find("the new map", &mut maps, |grid| grid.info.width > map_message.info.width + 30);

    // The services return the same.
    let answer = operator.call::<PlatformGetStatus::Service>("get_status", Default::default());
    assert!(answer.success && answer.status.header.frame_id == "map");
    assert_same(&answer.status, &expected());
    let answer = operator.call::<PlatformGetPosition::Service>("get_position", Default::default());
    assert!(answer.success && near(answer.pose.x, 5.0) && near(answer.pose.theta, -FRAC_PI_4));
    assert!(near(answer.twist.linear.x, 0.3) && near(answer.twist.angular.z, -0.15));
}
