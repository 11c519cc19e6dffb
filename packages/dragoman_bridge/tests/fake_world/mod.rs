//! A minimal world with the objects of the Apolo port manual, for testing which calls a bridge makes.
//!
//! `World 1` holds the arm `Puma560` (three joints; it collides if a joint is beyond 1 rad), the wheeled robots `Neo`
//! and `Pioneer3AT` (the floor is between -5 and 5 m, with a wall at 5 m), `pieza`, the laser `LMS100` and the
//! ultrasonic sensor `uc0`.

#![allow(dead_code, unreachable_pub)] // Each test target uses a part.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dragoman_ros::dragoman_msgs::{msg::LandMark, srv};
use dragoman_ros::geometry_msgs::msg::{Point, Vector3};
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Context, Node};

pub const WORLD: &str = "World 1";

/// Output of the manual's example of `apoloGetLocation`.
#[allow(clippy::approx_constant, reason = "as printed")]
pub const PIEZA: [f64; 6] = [-0.25, 0.2, 0.06, 1.5708, 0.6912, 0.9425];

#[derive(Debug, Default)]
pub struct World {
    /// Position, roll, pitch, yaw.
    pub poses: BTreeMap<String, [f64; 6]>,
    pub odometry: BTreeMap<String, [f64; 3]>,
    pub joints: Vec<f64>,
    pub links: Vec<(String, String)>,
    pub updates: u32,
    /// Every request, in order, as `service world name`.
    pub asked: Vec<String>,
}

type Shared = Arc<Mutex<World>>;

/// Names are compared without regard to case and blanks.
fn normalized(name: &str) -> String {
    name.chars().filter(|character| !character.is_whitespace()).collect::<String>().to_lowercase()
}

/// The fields at the beginning of every answer: success, message, found.
type Head = (bool, String, bool);

fn refused(message: &str) -> Head {
    (false, message.to_owned(), true)
}

impl World {
    pub fn new() -> Shared {
        let poses =
            [("Puma560", [0.0; 6]), ("Neo", [1.0, 2.0, 0.1, 0.0, 0.0, 0.5]), ("Pioneer3AT", [0.0; 6])];
        let mut world = Self { joints: vec![0.0; 3], ..Self::default() };
        world.poses.extend(poses.map(|(name, pose)| (name.to_owned(), pose)));
        world.poses.insert("pieza".into(), PIEZA);
        world.poses.insert("LMS100".into(), [0.0; 6]);
        world.poses.insert("uc0".into(), [0.0; 6]);
        world.odometry.extend(["Neo", "Pioneer3AT"].map(|name| (name.to_owned(), [0.0; 3])));
        Arc::new(Mutex::new(world))
    }

    /// The name as spelled in the world, or the head of a refusal.
    fn find(&mut self, service: &str, world: &str, name: &str) -> Result<String, Head> {
        self.asked.push(format!("{service} {world:?} {name:?}"));
        if !world.is_empty() && normalized(world) != normalized(WORLD) {
            return Err((false, format!("there is no world '{world}'"), false));
        }
        let found = self.poses.keys().find(|known| normalized(known) == normalized(name));
        found.cloned().ok_or_else(|| (false, format!("there is no '{name}'"), false))
    }

    fn wheeled(&mut self, service: &str, world: &str, name: &str) -> Result<String, Head> {
        let name = self.find(service, world, name)?;
        if self.odometry.contains_key(&name) { Ok(name) } else { Err(refused("it has no wheels")) }
    }

    fn pose(&mut self, name: &str) -> &mut [f64; 6] {
        self.poses.entry(name.to_owned()).or_default()
    }

    /// One step, as in `docs/protocol-apolo.md`; returns whether it was made.
    fn step(&mut self, name: &str, speed: f64, rotation_speed: f64, duration: f64) -> bool {
        let (length, angle) = (speed.clamp(-2.0, 2.0) * duration, rotation_speed.clamp(-1.0, 1.0) * duration);
        let [x, y, _, _, _, yaw] = *self.pose(name);
        let heading = yaw + angle;
        let (x, y) = (x + length * heading.cos(), y + length * heading.sin());
        let is_free = x.abs() < 5.0 && y.abs() < 5.0;
        if is_free {
            let pose = self.pose(name);
            (pose[0], pose[1], pose[5]) = (x, y, heading);
            let odometry = self.odometry.entry(name.to_owned()).or_default();
            let heading = odometry[2] + angle;
            *odometry = [odometry[0] + length * heading.cos(), odometry[1] + length * heading.sin(), heading];
        }
        is_free
    }
}

/// Serves `$service` with `$answer`, which returns the fields after the head, or the head of a refusal.
macro_rules! serve {
    ($tasks:ident, $world:ident, $name:literal, $service:ident, |$state:ident, $request:ident| $answer:block, { $($field:ident = $value:ident),* }) => {{
        let shared = Arc::clone($world);
        $tasks.serve::<srv::$service::Service>($name, move |$request: srv::$service::Request| {
            let mut guard = shared.lock().unwrap();
            let $state = &mut *guard;
            let answered: Result<_, Head> = (|| $answer)();
            match answered {
                Ok(($($value,)*)) => srv::$service::Response {
                    success: true,
                    message: String::new(),
                    found: true,
                    $($field: $value),*
                },
                Err((success, message, found)) => {
                    let mut response = srv::$service::Response::default();
                    (response.success, response.message, response.found) = (success, message, found);
                    response
                }
            }
        }).unwrap();
    }};
}

/// Starts node `world` in `namespace`.
pub fn start(context: &Context, namespace: &str, world: &Shared) -> RunningNode {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "world", namespace).unwrap());
    serve!(
        tasks,
        world,
        "check_robot_joints",
        CheckRobotJoints,
        |state, r| {
            state.find("check_robot_joints", &r.world, &r.robot)?;
            if r.values.len() > state.joints.len() {
                return Err(refused("it has three joints"));
            }
            state.joints[..r.values.len()].copy_from_slice(&r.values);
            Ok((r.values.iter().any(|value| value.abs() > 1.0),))
        },
        { collision = a }
    );
    serve!(
        tasks,
        world,
        "set_robot_joints",
        SetRobotJoints,
        |state, r| {
            state.find("set_robot_joints", &r.world, &r.robot)?;
            if r.values.len() > state.joints.len() {
                return Err(refused("it has three joints"));
            }
            state.joints[..r.values.len()].copy_from_slice(&r.values);
            Ok(())
        },
        {}
    );
    serve!(tasks, world, "get_location", GetLocation, |state, r| {
        let name = state.find("get_location", &r.world, &r.object)?;
        let [x, y, z, roll, pitch, yaw] = *state.pose(&name);
        Ok((Point { x, y, z }, Vector3 { x: roll, y: pitch, z: yaw }))
    }, { position = a, rpy = b });
    serve!(tasks, world, "get_location_m_robot", GetLocationMRobot, |state, r| {
        let name = state.wheeled("get_location_m_robot", &r.world, &r.robot)?;
        let [x, y, z, _, _, yaw] = *state.pose(&name);
        Ok((Point { x, y, z }, yaw))
    }, { position = a, yaw = b });
    serve!(
        tasks,
        world,
        "move_m_robot",
        MoveMRobot,
        |state, r| {
            let name = state.wheeled("move_m_robot", &r.world, &r.robot)?;
            Ok((state.step(&name, r.speed, r.rotation_speed, r.duration),))
        },
        { moved = a }
    );
    serve!(
        tasks,
        world,
        "place",
        Place,
        |state, r| {
            let name = state.find("place", &r.world, &r.object)?;
            *state.pose(&name) = [r.position.x, r.position.y, r.position.z, r.rpy.x, r.rpy.y, r.rpy.z];
            Ok(())
        },
        {}
    );
    serve!(
        tasks,
        world,
        "place_xyz",
        PlaceXyz,
        |state, r| {
            let name = state.find("place_xyz", &r.world, &r.object)?;
            *state.pose(&name) = [r.position.x, r.position.y, r.position.z, 0.0, 0.0, 0.0];
            Ok(())
        },
        {}
    );
    serve!(
        tasks,
        world,
        "place_m_robot",
        PlaceMRobot,
        |state, r| {
            let name = state.wheeled("place_m_robot", &r.world, &r.robot)?;
            let is_free = r.position.x.abs() < 5.0 && r.position.y.abs() < 5.0;
            if is_free {
                *state.pose(&name) = [r.position.x, r.position.y, r.position.z, 0.0, 0.0, r.yaw];
            }
            Ok((is_free,))
        },
        { placed = a }
    );
    serve!(
        tasks,
        world,
        "update",
        UpdateWorld,
        |state, r| {
            if !r.world.is_empty() {
                state.find("update", &r.world, "pieza")?;
            }
            state.updates += 1;
            Ok(())
        },
        {}
    );
    serve!(tasks, world, "get_odometry", GetOdometry, |state, r| {
        let name = state.wheeled("get_odometry", &r.world, &r.robot)?;
        let [x, y, yaw] = state.odometry[&name];
        Ok((x, y, yaw))
    }, { x = a, y = b, yaw = c });
    serve!(
        tasks,
        world,
        "reset_odometry",
        ResetOdometry,
        |state, r| {
            let name = state.wheeled("reset_odometry", &r.world, &r.robot)?;
            state.odometry.insert(name, [r.x, r.y, r.yaw]);
            Ok(())
        },
        {}
    );
    serve!(
        tasks,
        world,
        "get_laser_data",
        GetLaserData,
        |state, r| {
            state.find("get_laser_data", &r.world, &r.laser)?;
            Ok(((0..541).map(|beam| 0.01 * f64::from(beam)).collect(),))
        },
        { ranges = a }
    );
    serve!(
        tasks,
        world,
        "get_laser_land_marks",
        GetLaserLandMarks,
        |state, r| {
            state.find("get_laser_land_marks", &r.world, &r.laser)?;
            let mark = |id, angle, distance| LandMark { id, angle, distance };
            Ok((vec![mark(1, -0.5, 2.0), mark(300, 0.25, 4.5)],))
        },
        { land_marks = a }
    );
    serve!(
        tasks,
        world,
        "get_ultrasonic_sensor",
        GetUltrasonicSensor,
        |state, r| {
            state.find("get_ultrasonic_sensor", &r.world, &r.sensor)?;
            Ok((1.5,))
        },
        { range = a }
    );
    serve!(
        tasks,
        world,
        "get_allultrasonic_sensors",
        GetAllultrasonicSensors,
        |state, r| {
            state.wheeled("get_allultrasonic_sensors", &r.world, &r.robot)?;
            Ok((vec![1.5, 2.5],))
        },
        { ranges = a }
    );
    serve!(
        tasks,
        world,
        "link_to_robot_tcp",
        LinkToRobotTcp,
        |state, r| {
            let robot = state.find("link_to_robot_tcp", &r.world, &r.robot)?;
            let object = state.find("link_to_robot_tcp", &r.world, &r.object)?;
            state.links.push((robot, object));
            Ok(())
        },
        {}
    );
    tasks.start().unwrap()
}
