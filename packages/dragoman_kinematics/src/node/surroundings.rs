//! What stands around the arm: topics `collision_object`, `planning_scene` and `world_scene`, and configurations without
//! collisions.

use std::collections::BTreeMap;
use std::sync::Arc;

use dragoman_ros::QosProfile;
use dragoman_ros::geometry_msgs::msg::{Point, Pose};
use dragoman_ros::moveit_msgs::msg::{CollisionObject, PlanningScene};
use dragoman_ros::shape_msgs::msg::SolidPrimitive;
use dragoman_ros::tasks::NodeTasks;
use nalgebra::{Isometry3, Vector3};
use parking_lot::Mutex;

use super::services::raw_pose;
use crate::Robot;
use crate::planning::{ArmBodies, Checker, Scene, Shape};

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
    /// Of `collision_object` and `planning_scene`.
    known: BTreeMap<String, Object>,
    /// Of the simulated world.
    of_world: BTreeMap<String, Object>,
    /// Whether the bodies of the world are in the scene.
    avoids_world: bool,
    scene: Arc<Scene>,
}

impl Objects {
    /// With a scene of its bodies.
    fn compiled(mut self) -> Result<Self, String> {
        let of_world = self.of_world.iter().filter(|_| self.avoids_world);
        let all: Vec<_> = self.known.iter().chain(of_world).collect();
        if all.iter().map(|(_, object)| object.parts.len()).sum::<usize>() > MAX_PARTS {
            return Err(format!("the scene would have more than {MAX_PARTS} shapes"));
        }
        let mut scene = Scene::default();
        for (name, object) in all {
            for (shape, pose) in &object.parts {
                scene.add(name, shape, object.pose * pose).map_err(|error| error.to_string())?;
            }
        }
        self.scene = Arc::new(scene);
        Ok(self)
    }
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
            tracing::info!(reason, "collision checking disabled");
        }
        let base_frame = robot.model().base_link().to_owned();
        let objects = Objects { avoids_world: true, ..Objects::default() };
        Self { base_frame, bodies, objects: Mutex::new(objects) }
    }

    pub(super) fn scene(&self) -> Arc<Scene> {
        Arc::clone(&self.objects.lock().scene)
    }

    /// Whether the bodies of the simulated world count: parameter `avoid_world`.
    pub(super) fn avoid_world(&self, avoids_world: bool) {
        if self.objects.lock().avoids_world == avoids_world {
            return;
        }
        let changed = self.replace(|objects| {
            objects.avoids_world = avoids_world;
            Ok(())
        });
        if let Err(reason) = changed {
            tracing::warn!(reason, "setting avoid_world failed");
        }
    }

    /// The shapes of the arm; `Err`: why collisions cannot be checked.
    pub(super) fn bodies(&self) -> Result<&ArmBodies, String> {
        self.bodies.as_ref().map_err(Clone::clone)
    }

    /// What a configuration touches; `Err`: collisions cannot be checked.
    pub(super) fn collision(&self, robot: &Robot, q: &[f64]) -> Result<Option<String>, String> {
        let bodies = self.bodies()?;
        let scene = self.scene();
        Ok(Checker::new(robot, bodies, &scene).collision(q).map(|found| found.to_string()))
    }

    /// Takes over a change of the scene, whole or not at all.
    fn change(&self, message: &CollisionObject) -> Result<(), String> {
        self.replace(|objects| self.apply(&mut objects.known, message))
    }

    /// Takes over a scene or its changes, whole or not at all.
    fn change_scene(&self, message: &PlanningScene) -> Result<(), String> {
        let world = &message.world;
        if !message.robot_state.attached_collision_objects.is_empty() {
            return Err("attached objects are not supported".to_owned());
        }
        if !world.octomap.octomap.data.is_empty() {
            return Err("octomaps are not supported".to_owned());
        }
        self.replace(|objects| {
            if !message.is_diff {
                objects.known.clear();
            }
            self.apply_all(&mut objects.known, &world.collision_objects)
        })
    }

    /// Takes over the bodies of the simulated world, whole or not at all.
    fn change_world(&self, message: &PlanningScene) -> Result<(), String> {
        self.replace(|objects| {
            objects.of_world.clear();
            self.apply_all(&mut objects.of_world, &message.world.collision_objects)
        })
    }

    fn apply_all(
        &self,
        known: &mut BTreeMap<String, Object>,
        messages: &[CollisionObject],
    ) -> Result<(), String> {
        messages.iter().try_for_each(|message| {
            self.apply(known, message).map_err(|reason| format!("'{}': {reason}", message.id))
        })
    }

    /// Changes the bodies; nothing, if `change` fails.
    fn replace(&self, change: impl FnOnce(&mut Objects) -> Result<(), String>) -> Result<(), String> {
        let mut objects = self.objects.lock();
        let mut changed = Objects {
            known: objects.known.clone(),
            of_world: objects.of_world.clone(),
            avoids_world: objects.avoids_world,
            scene: Arc::default(),
        };
        change(&mut changed)?;
        *objects = changed.compiled()?;
        Ok(())
    }

    fn apply(&self, known: &mut BTreeMap<String, Object>, message: &CollisionObject) -> Result<(), String> {
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
        Ok(())
    }

    pub(super) fn check_frame(&self, frame: &str) -> Result<(), String> {
        if frame.is_empty() || frame == self.base_frame {
            return Ok(());
        }
        Err(format!("its frame is '{frame}', not '{}'", self.base_frame))
    }
}

const ADD: i64 = CollisionObject::ADD as i64;
const REMOVE: i64 = CollisionObject::REMOVE as i64;
const APPEND: i64 = CollisionObject::APPEND as i64;
const MOVE: i64 = CollisionObject::MOVE as i64;

/// Reads `collision_object`, `planning_scene` and `world_scene`.
pub(super) fn serve(tasks: &mut NodeTasks, surroundings: &Arc<Surroundings>) -> dragoman_ros::Result<()> {
    let changed = Arc::clone(surroundings);
    let objects = QosProfile::default().keep_last(100);
    tasks.subscribe("collision_object", objects, move |message: CollisionObject| {
        if let Err(reason) = changed.change(&message) {
            tracing::warn!(object = message.id, reason, "collision_object refused");
        }
    })?;
    let changed = Arc::clone(surroundings);
    let scenes = QosProfile::default().keep_last(10);
    tasks.subscribe("planning_scene", scenes, move |message: PlanningScene| {
        if let Err(reason) = changed.change_scene(&message) {
            tracing::warn!(scene = message.name, reason, "planning_scene refused");
        }
    })?;
    let changed = Arc::clone(surroundings);
    tasks.subscribe("world_scene", super::latched(), move |message: PlanningScene| {
        if let Err(reason) = changed.change_world(&message) {
            tracing::warn!(scene = message.name, reason, "world_scene refused");
        }
    })
}

pub(super) fn isometry(pose: &Pose) -> Result<Isometry3<f64>, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    const RANGER: &str = include_str!("../../../../urdf/ranger_mk1.urdf");

    fn ball(id: &str, x: f64) -> CollisionObject {
        let mut ball = CollisionObject { id: id.to_owned(), ..Default::default() };
        let shape = SolidPrimitive { type_: SolidPrimitive::SPHERE as _, ..Default::default() };
        ball.primitives = vec![SolidPrimitive { dimensions: vec![0.1], ..shape }];
        ball.primitive_poses = vec![Pose::default()];
        ball.pose.position.x = x;
        ball.pose.orientation.w = 1.0;
        ball
    }

    #[test]
    fn a_scene_replaces_the_bodies_or_changes_them_whole_or_not_at_all() {
        let robot = Robot::new(&crate::Model::from_urdf(RANGER, None, None).unwrap()).unwrap();
        let surroundings = Surroundings::new(&robot, RANGER, 0.01);
        let names = || surroundings.objects.lock().known.keys().cloned().collect::<Vec<_>>();
        let scene = |is_diff, objects: &[CollisionObject]| {
            let mut scene = PlanningScene { is_diff, ..Default::default() };
            scene.world.collision_objects = objects.to_vec();
            surroundings.change_scene(&scene)
        };
        scene(false, &[ball("a", 1.0), ball("b", 2.0)]).unwrap();
        scene(true, &[ball("c", 1.0)]).unwrap();
        assert_eq!(names(), ["a", "b", "c"]);
        let mut wrong = ball("d", 0.0);
        wrong.primitives[0].dimensions = vec![-1.0];
        assert!(scene(false, &[ball("e", 1.0), wrong]).unwrap_err().contains("not a positive"));
        let mut far = ball("d", 0.0);
        far.header.frame_id = "moon".to_owned();
        assert!(scene(true, &[far]).unwrap_err().contains("'d': its frame is 'moon'"));
        assert_eq!(names(), ["a", "b", "c"]);
        scene(false, &[ball("d", 1.0)]).unwrap();
        assert_eq!(names(), ["d"]);
        scene(false, &[]).unwrap();
        assert!(names().is_empty());

        // The bodies of the world are others, also with the same names.
        let bodies = || surroundings.scene().names().map(str::to_owned).collect::<Vec<_>>();
        scene(false, &[ball("a", 1.0)]).unwrap();
        let mut world = PlanningScene::default();
        world.world.collision_objects = vec![ball("a", 2.0), ball("table", 1.0)];
        surroundings.change_world(&world).unwrap();
        assert_eq!(bodies(), ["a", "a", "table"]);
        surroundings.avoid_world(false);
        assert_eq!(bodies(), ["a"]);
        surroundings.avoid_world(true);
        scene(false, &[]).unwrap();
        assert_eq!(bodies(), ["a", "table"]);
        surroundings.change_world(&PlanningScene::default()).unwrap();
        assert!(bodies().is_empty());

        let mut scene = PlanningScene::default();
        scene.world.octomap.octomap.data = vec![1];
        assert!(surroundings.change_scene(&scene).unwrap_err().contains("octomaps"));
        let mut scene = PlanningScene::default();
        scene.robot_state.attached_collision_objects = vec![Default::default()];
        assert!(surroundings.change_scene(&scene).unwrap_err().contains("attached"));
    }
}
