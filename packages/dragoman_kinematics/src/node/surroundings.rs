//! What stands around the arm: topic `collision_object`, service `plan_to_pose`, and configurations without collisions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use dragoman_ros::dragoman_msgs::srv::PlanToPose;
use dragoman_ros::geometry_msgs::msg::{Point, Pose, PoseStamped};
use dragoman_ros::moveit_msgs::msg::CollisionObject;
use dragoman_ros::nav_msgs;
use dragoman_ros::shape_msgs::msg::SolidPrimitive;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use dragoman_ros::{QosProfile, builtin_interfaces};
use futures::channel::oneshot;
use nalgebra::{Isometry3, Vector3};

use super::services::raw_pose;
use super::{Mover, latched, lock, pose_message, report};
use crate::motion::MotionConfig;
use crate::planning::{ArmBodies, Checker, PlanOptions, PlanningError, Scene, Shape, plan, time};
use crate::{GoalMask, IkOptions, Robot};

/// Period of the points of a planned motion, s.
const PERIOD: f64 = 0.05;
/// Longest part of an edge that a rounded corner takes, rad or m.
const ROUNDING: f64 = 0.5;
/// Configurations with the goal's pose that are searched, and from how many places.
const GOALS: usize = 8;
const SEEDS: usize = 64;
/// Edge of a plane, which stands for all of it, m.
const PLANE_SIZE: f64 = 20.0;
/// Bodies and points of meshes that one scene may have.
const MAX_PARTS: usize = 1000;
const MAX_VERTICES: usize = 10_000;

/// The bodies around an arm, and its own.
pub struct Surroundings {
    base_frame: String,
    /// Or why they are not usable.
    bodies: Result<ArmBodies, String>,
    objects: Mutex<Objects>,
}

#[derive(Default)]
struct Objects {
    known: BTreeMap<String, Object>,
    scene: Arc<Scene>,
}

/// A body in the frame of the arm's base.
#[derive(Clone)]
struct Object {
    pose: Isometry3<f64>,
    /// With their poses in the object's frame.
    parts: Vec<(Shape, Isometry3<f64>)>,
}

impl Surroundings {
    /// No bodies but those of the arm, from its description.
    pub(super) fn new(robot: &Robot, urdf: &str, clearance: f64) -> Self {
        let bodies = ArmBodies::from_urdf(urdf, robot, clearance).map_err(|error| error.to_string());
        if let Err(reason) = &bodies {
            tracing::info!(reason, "collisions are not checked");
        }
        let base_frame = robot.model().base_link().to_owned();
        Self { base_frame, bodies, objects: Mutex::default() }
    }

    fn scene(&self) -> Arc<Scene> {
        Arc::clone(&self.objects.lock().unwrap_or_else(PoisonError::into_inner).scene)
    }

    /// What a configuration touches; `Err`: collisions cannot be checked.
    pub(super) fn collision(&self, robot: &Robot, q: &[f64]) -> Result<Option<String>, String> {
        let bodies = self.bodies.as_ref().map_err(Clone::clone)?;
        let scene = self.scene();
        Ok(Checker::new(robot, bodies, &scene).collision(q).map(|found| found.to_string()))
    }

    /// Takes over a change of the scene, whole or not at all.
    fn change(&self, message: &CollisionObject) -> Result<(), String> {
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = objects.known.clone();
        let operation = i64::from(message.operation);
        match operation {
            ADD | APPEND => {
                self.check_frame(&message.header.frame_id)?;
                let added = object(message)?;
                match known.get_mut(&message.id).filter(|_| operation == APPEND) {
                    Some(object) => {
                        // The message's pose may be another one.
                        let shift = object.pose.inverse() * added.pose;
                        object
                            .parts
                            .extend(added.parts.into_iter().map(|(shape, pose)| (shape, shift * pose)));
                    }
                    None => {
                        known.insert(message.id.clone(), added);
                    }
                }
            }
            REMOVE if message.id.is_empty() => known.clear(),
            REMOVE => {
                known.remove(&message.id).ok_or_else(|| format!("there is no '{}'", message.id))?;
            }
            MOVE => {
                self.check_frame(&message.header.frame_id)?;
                let moved =
                    known.get_mut(&message.id).ok_or_else(|| format!("there is no '{}'", message.id))?;
                moved.pose = isometry(&message.pose)?;
            }
            other => return Err(format!("there is no operation {other}")),
        }
        let mut scene = Scene::default();
        if known.values().map(|object| object.parts.len()).sum::<usize>() > MAX_PARTS {
            return Err(format!("the scene would have more than {MAX_PARTS} shapes"));
        }
        for (name, object) in &known {
            for (shape, pose) in &object.parts {
                scene.add(name, shape, object.pose * pose).map_err(|error| error.to_string())?;
            }
        }
        *objects = Objects { known, scene: Arc::new(scene) };
        Ok(())
    }

    fn check_frame(&self, frame: &str) -> Result<(), String> {
        if frame.is_empty() || frame == self.base_frame {
            return Ok(());
        }
        Err(format!("its frame is '{frame}', not '{}'", self.base_frame))
    }

    /// The planned motion.
    fn planned(
        &self,
        robot: &Robot,
        config: &MotionConfig,
        start: &[f64],
        request: &PlanToPose::Request,
    ) -> Result<JointTrajectory, String> {
        let bodies = self.bodies.as_ref().map_err(Clone::clone)?;
        let text = |error: PlanningError| error.to_string();
        let scales = [("velocity", request.velocity_scaling), ("acceleration", request.acceleration_scaling)];
        let [speed, push] = scales.map(|(name, scale)| match scale {
            0.0 => Ok(1.0),
            scale if scale > 0.0 && scale <= 1.0 => Ok(scale),
            scale => Err(format!("{name}_scaling is {scale}, not above 0 to 1")),
        });
        let (speed, push) = (speed?, push?);
        let limits = config.joint.max_velocity.iter().zip(&config.joint.max_acceleration);
        let limits: Vec<[f64; 2]> =
            limits.map(|(velocity, acceleration)| [velocity * speed, acceleration * push]).collect();

        let scene = self.scene();
        let goals = if request.positions.is_empty() {
            self.check_frame(&request.pose.header.frame_id)?;
            configurations(robot, &isometry(&request.pose.pose)?, start)?
        } else {
            vec![request.positions.clone()]
        };
        let mut checker = Checker::new(robot, bodies, &scene);
        let planned = plan(&mut checker, start, &goals, &PlanOptions::default()).map_err(text)?;
        let timed = time(&mut checker, &planned.path, &limits, ROUNDING, PERIOD).map_err(text)?;
        tracing::info!(
            seconds = timed.duration(),
            iterations = planned.iterations,
            checks = planned.checks,
            "a motion was planned"
        );
        let points = timed.points.into_iter().map(|point| JointTrajectoryPoint {
            positions: point.position,
            velocities: point.velocity,
            accelerations: point.acceleration,
            effort: Vec::new(),
            time_from_start: duration(point.time),
        });
        Ok(JointTrajectory {
            joint_names: robot.joints().iter().map(|joint| joint.name.clone()).collect(),
            points: points.collect(),
            ..Default::default()
        })
    }
}

const ADD: i64 = CollisionObject::ADD as i64;
const REMOVE: i64 = CollisionObject::REMOVE as i64;
const APPEND: i64 = CollisionObject::APPEND as i64;
const MOVE: i64 = CollisionObject::MOVE as i64;

/// Offers `collision_object`, `plan_to_pose` and the preview `planned_path`.
pub(super) fn serve(
    tasks: &mut NodeTasks,
    mover: &Arc<Mutex<Mover>>,
    robot: &Robot,
    surroundings: &Arc<Surroundings>,
) -> dragoman_ros::Result<()> {
    let changed = Arc::clone(surroundings);
    let objects = QosProfile::default().keep_last(100);
    tasks.subscribe("collision_object", objects, move |message: CollisionObject| {
        if let Err(reason) = changed.change(&message) {
            tracing::warn!(object = message.id, reason, "collision_object refused");
        }
    })?;
    let preview: dragoman_ros::shared::SharedPublisher<nav_msgs::msg::Path> =
        tasks.node().create_publisher("planned_path", latched())?.into();
    let (mover, robot, surroundings) = (Arc::clone(mover), robot.clone(), Arc::clone(surroundings));
    tasks.serve_later::<PlanToPose::Service, _>("plan_to_pose", move |request| {
        let (start, config, stamp) = {
            let mover = lock(&mover);
            (mover.measured(), mover.config.clone(), mover.stamp())
        };
        let (robot, surroundings, preview) = (robot.clone(), Arc::clone(&surroundings), preview.clone());
        async move {
            let (send, answer) = oneshot::channel();
            let work = move || {
                let planned =
                    start.ok_or_else(|| "the joints are not measured".to_owned()).and_then(|start| {
                        let robot = within(&robot, &config)?;
                        surroundings.planned(&robot, &config, &start, &request)
                    });
                if let Ok(trajectory) = &planned {
                    report(preview.publish(&path(&robot, trajectory, stamp)), "planned_path");
                }
                // The asking task may be gone.
                let _ = send.send(planned);
            };
            let started = std::thread::Builder::new().name("planning".into()).spawn(work);
            let planned = match started {
                Ok(_thread) => answer.await.unwrap_or_else(|_| Err("planning has failed".to_owned())),
                Err(error) => Err(error.to_string()),
            };
            match planned {
                Ok(trajectory) => PlanToPose::Response { success: true, message: String::new(), trajectory },
                Err(message) => {
                    tracing::info!(reason = message, "no motion was planned");
                    PlanToPose::Response { success: false, message, ..Default::default() }
                }
            }
        }
    })
}

/// The robot with the position limits of the configuration.
fn within(robot: &Robot, config: &MotionConfig) -> Result<Robot, String> {
    let given = robot.joints().iter().zip(config.joint.lower.iter().zip(&config.joint.upper));
    let limits: Vec<[f64; 2]> =
        given.map(|(joint, (lower, upper))| [lower.max(joint.lower), upper.min(joint.upper)]).collect();
    let model = robot.model().clone().with_limits(&limits);
    model.and_then(|model| Robot::new(&model)).map_err(|error| error.to_string())
}

/// Several configurations with the pose.
fn configurations(robot: &Robot, target: &Isometry3<f64>, start: &[f64]) -> Result<Vec<Vec<f64>>, String> {
    let options = IkOptions { mask: GoalMask::POSE, ..IkOptions::default() };
    let mut random = oorandom::Rand64::new(1);
    let mut found: Vec<Vec<f64>> = Vec::new();
    let mut seed = start.to_vec();
    let mut failure = String::new();
    for attempt in 0..SEEDS {
        let mut solution = vec![0.0; robot.joint_count()];
        match robot.inverse(target, &seed, &options, &mut solution) {
            Ok(_report) => {
                let is_known =
                    |known: &Vec<f64>| known.iter().zip(&solution).all(|(a, b)| (a - b).abs() < 1e-3);
                if !found.iter().any(is_known) {
                    found.push(solution);
                }
            }
            Err(error) => failure = error.to_string(),
        }
        // Out of reach from many places.
        if found.len() == GOALS || (found.is_empty() && attempt == 3) {
            break;
        }
        for (value, joint) in seed.iter_mut().zip(robot.joints()) {
            let (lower, upper) =
                (joint.lower.max(-std::f64::consts::PI), joint.upper.min(std::f64::consts::PI));
            *value = lower + (upper - lower) * random.rand_float();
        }
    }
    if found.is_empty() { Err(failure) } else { Ok(found) }
}

/// The tool's path, for displays.
fn path(
    robot: &Robot,
    trajectory: &JointTrajectory,
    stamp: builtin_interfaces::msg::Time,
) -> nav_msgs::msg::Path {
    let mut path = nav_msgs::msg::Path::default();
    path.header.stamp = stamp;
    path.header.frame_id = robot.model().base_link().to_owned();
    let poses = trajectory.points.iter().map(|point| PoseStamped {
        header: path.header.clone(),
        pose: pose_message(&robot.forward(&point.positions)),
    });
    path.poses = poses.collect();
    path
}

fn duration(seconds: f64) -> builtin_interfaces::msg::Duration {
    // Motions are far below 68 years.
    let sec = seconds.floor();
    builtin_interfaces::msg::Duration { sec: sec as i32, nanosec: ((seconds - sec) * 1e9) as u32 }
}

fn isometry(pose: &Pose) -> Result<Isometry3<f64>, String> {
    // A message that sets nothing means the frame itself.
    if *pose == Pose::default() {
        return Ok(Isometry3::identity());
    }
    raw_pose(pose).to_isometry().map_err(|error| error.to_string())
}

/// The body of a message.
fn object(message: &CollisionObject) -> Result<Object, String> {
    if message.id.is_empty() {
        return Err("it has no id".to_owned());
    }
    let counts = [
        (message.primitives.len(), message.primitive_poses.len(), "primitives"),
        (message.meshes.len(), message.mesh_poses.len(), "meshes"),
        (message.planes.len(), message.plane_poses.len(), "planes"),
    ];
    if let Some((shapes, poses, what)) = counts.into_iter().find(|(shapes, poses, _)| shapes != poses) {
        return Err(format!("{shapes} {what} and {poses} poses"));
    }
    let mut parts = Vec::new();
    for (primitive, pose) in message.primitives.iter().zip(&message.primitive_poses) {
        parts.push((solid(primitive)?, isometry(pose)?));
    }
    for (mesh, pose) in message.meshes.iter().zip(&message.mesh_poses) {
        if mesh.vertices.len() > MAX_VERTICES {
            return Err(format!("a mesh has more than {MAX_VERTICES} vertices"));
        }
        let corner = |point: &Point| [point.x, point.y, point.z];
        parts.push((Shape::Hull(mesh.vertices.iter().map(corner).collect()), isometry(pose)?));
    }
    for (plane, pose) in message.planes.iter().zip(&message.plane_poses) {
        parts.push((
            Shape::Box([PLANE_SIZE, PLANE_SIZE, 1e-3]),
            isometry(pose)? * plane_pose(plane.coef.as_ref())?,
        ));
    }
    if parts.is_empty() {
        return Err("it has no shapes".to_owned());
    }
    Ok(Object { pose: isometry(&message.pose)?, parts })
}

/// A frame with its z axis along the normal of `a x + b y + c z + d = 0`.
fn plane_pose(coefficients: &[f64]) -> Result<Isometry3<f64>, String> {
    let [a, b, c, d] = *coefficients else { return Err("a plane has four coefficients".to_owned()) };
    let normal = Vector3::new(a, b, c);
    let length = normal.norm();
    if !(length > 1e-9 && length.is_finite() && d.is_finite()) {
        return Err("a plane has no normal".to_owned());
    }
    let turn = nalgebra::UnitQuaternion::rotation_between(&Vector3::z(), &normal).unwrap_or_else(|| {
        nalgebra::UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI)
    });
    Ok(Isometry3::from_parts((normal * (-d / (length * length))).into(), turn))
}

fn solid(primitive: &SolidPrimitive) -> Result<Shape, String> {
    let sizes: &[f64] = primitive.dimensions.as_ref();
    let kind = i64::from(primitive.type_);
    match *sizes {
        [x, y, z] if kind == SolidPrimitive::BOX as i64 => Ok(Shape::Box([x, y, z])),
        [radius] if kind == SolidPrimitive::SPHERE as i64 => Ok(Shape::Sphere(radius)),
        [length, radius] if kind == SolidPrimitive::CYLINDER as i64 => Ok(Shape::Cylinder { radius, length }),
        // A cone is within its cylinder.
        [length, radius] if kind == SolidPrimitive::CONE as i64 => Ok(Shape::Cylinder { radius, length }),
        _ => Err(format!(
            "primitive {kind} with {} dimensions is not a box, sphere, cylinder or cone",
            sizes.len()
        )),
    }
}
