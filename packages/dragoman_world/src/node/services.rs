//! Apolo's functions as services, for its bridge and all other nodes; and `advance`, which advances the time.

use dragoman_ros::Result;
use dragoman_ros::dragoman_msgs::msg::LandMark;
use dragoman_ros::dragoman_msgs::srv;
use dragoman_ros::geometry_msgs::msg::{Point, Vector3};
use dragoman_ros::tasks::NodeTasks;

use super::Live;

/// Serves `$service` with `$answer`, which handles the request; `$fields` are the fields of its response after the
/// head.
macro_rules! serve {
    ($tasks:ident, $live:ident, $name:literal, $service:ident, |$worlds:ident, $r:ident| $answer:expr, |$answered:pat_param| { $($field:ident: $value:expr),* }) => {{
        let live = $live.clone();
        $tasks.serve::<srv::$service::Service>($name, move |$r: srv::$service::Request| {
            let mut response = srv::$service::Response::default();
            match live.ask(|$worlds| $answer) {
                Ok($answered) => {
                    (response.success, response.found) = (true, true);
                    $(response.$field = $value;)*
                }
                Err(refused) => (response.found, response.message) = (refused.found, refused.message),
            }
            response
        })?;
    }};
}

/// Offers all services.
pub(super) fn serve(tasks: &mut NodeTasks, live: &Live) -> Result<()> {
    serve!(tasks, live, "check_robot_joints", CheckRobotJoints,
        |worlds, r| worlds.check_robot_joints(Some(&r.world), &r.robot, &r.values),
        |collision| { collision: collision });
    serve!(tasks, live, "get_allultrasonic_sensors", GetAllultrasonicSensors,
        |worlds, r| worlds.all_ultrasonics(Some(&r.world), &r.robot),
        |ranges| { ranges: ranges });
    serve!(tasks, live, "get_laser_data", GetLaserData,
        |worlds, r| worlds.laser_data(Some(&r.world), &r.laser),
        |ranges| { ranges: ranges });
    serve!(tasks, live, "get_laser_land_marks", GetLaserLandMarks,
        |worlds, r| worlds.laser_landmarks(Some(&r.world), &r.laser),
        |sightings| { land_marks: sightings.iter().map(|seen| LandMark {
            id: seen.id, angle: seen.angle, distance: seen.distance
        }).collect() });
    serve!(tasks, live, "get_location", GetLocation,
    |worlds, r| worlds.location(Some(&r.world), &r.object),
    |[x, y, z, roll, pitch, yaw]| {
        position: Point { x, y, z },
        rpy: Vector3 { x: roll, y: pitch, z: yaw }
    });
    serve!(tasks, live, "get_location_m_robot", GetLocationMRobot,
        |worlds, r| worlds.location_m_robot(Some(&r.world), &r.robot),
        |[x, y, z, yaw]| { position: Point { x, y, z }, yaw: yaw });
    serve!(tasks, live, "get_odometry", GetOdometry,
        |worlds, r| worlds.odometry(Some(&r.world), &r.robot),
        |[x, y, yaw]| { x: x, y: y, yaw: yaw });
    serve!(tasks, live, "get_ultrasonic_sensor", GetUltrasonicSensor,
        |worlds, r| worlds.ultrasonic(Some(&r.world), &r.sensor),
        |range| { range: range });
    serve!(
        tasks,
        live,
        "link_to_robot_tcp",
        LinkToRobotTcp,
        |worlds, r| worlds.link_to_robot_tcp(Some(&r.world), &r.robot, &r.object),
        |()| {}
    );
    serve!(tasks, live, "move_m_robot", MoveMRobot,
        |worlds, r| worlds.move_m_robot(
            Some(&r.world), &r.robot, [r.speed, r.rotation_speed], r.duration
        ),
        |moved| { moved: moved });
    serve!(
        tasks,
        live,
        "place",
        Place,
        |worlds, r| worlds.place(Some(&r.world), &r.object, array(&r.position), [r.rpy.x, r.rpy.y, r.rpy.z]),
        |()| {}
    );
    serve!(tasks, live, "place_m_robot", PlaceMRobot,
        |worlds, r| worlds.place_m_robot(Some(&r.world), &r.robot, array(&r.position), r.yaw),
        |placed| { placed: placed });
    serve!(
        tasks,
        live,
        "place_xyz",
        PlaceXyz,
        |worlds, r| worlds.place_xyz(Some(&r.world), &r.object, array(&r.position)),
        |()| {}
    );
    serve!(
        tasks,
        live,
        "reset_odometry",
        ResetOdometry,
        |worlds, r| worlds.reset_odometry(Some(&r.world), &r.robot, [r.x, r.y, r.yaw]),
        |()| {}
    );
    serve!(
        tasks,
        live,
        "set_robot_joints",
        SetRobotJoints,
        |worlds, r| worlds.set_robot_joints(Some(&r.world), &r.robot, &r.values),
        |()| {}
    );
    serve!(tasks, live, "update", UpdateWorld, |worlds, r| worlds.update(Some(&r.world)), |()| {});
    let stepped = live.clone();
    tasks.serve::<srv::AdvanceWorlds::Service>("advance", move |request| {
        let (success, message, time) = match stepped.advance(request.duration) {
            Ok(time) => (true, String::new(), time),
            Err((message, time)) => (false, message, time),
        };
        srv::AdvanceWorlds::Response { success, message, time: time.as_secs_f64() }
    })
}

fn array(point: &Point) -> [f64; 3] {
    [point.x, point.y, point.z]
}
