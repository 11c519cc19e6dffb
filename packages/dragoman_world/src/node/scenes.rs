//! Bodies near an arm of the world for the planner of its nodes: topic `world_scene` in their namespace.

use std::time::Duration;

use dragoman_ros::geometry_msgs::msg::Point;
use dragoman_ros::moveit_msgs::msg::{CollisionObject, PlanningScene};
use dragoman_ros::shape_msgs::msg::{Mesh, MeshTriangle, SolidPrimitive};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Publisher, QosProfile, naming, poses};
use nalgebra::{Isometry3, Vector3};

use super::rhythm::Rhythm;
use super::{Live, WorldNodeError, listened};
use crate::{Geometry, ObjectKind, Shape, World, Worlds, polygon};

/// Minimum time between two messages.
const PERIOD: Duration = Duration::from_millis(200);
/// Bodies farther than this from the arm's base are out of its reach, m.
const REACH: f64 = 2.5;
/// A mesh with more corners counts as its box: planners accept no more.
const MAX_CORNERS: usize = 10_000;

/// Offers a topic for each arm that parameter `planners` names.
pub(super) fn serve(
    tasks: &mut NodeTasks,
    live: &Live,
    planners: &[String],
    rhythm: &mut Rhythm,
) -> Result<(), WorldNodeError> {
    let mut scenes = Vec::new();
    for entry in planners.iter().filter(|entry| !entry.is_empty()) {
        let (arm, namespace) =
            entry.split_once('=').ok_or_else(|| WorldNodeError::Planner { entry: entry.clone() })?;
        let topic = naming::below(namespace, "world_scene");
        let publisher =
            tasks.node().create_publisher(&topic, QosProfile::default().keep_last(1).transient_local())?;
        scenes.push(Published { arm: arm.to_owned(), publisher, revisions: Vec::new(), last: None });
    }
    if scenes.is_empty() {
        return Ok(());
    }
    let live = live.clone();
    let mut publish = move || scenes.iter_mut().for_each(|scene| scene.publish(&live));
    publish();
    Ok(rhythm.every(tasks, PERIOD, publish)?)
}

/// The scene of one arm.
struct Published {
    arm: String,
    publisher: Publisher<PlanningScene>,
    /// Of the worlds, when the scene was compared last.
    revisions: Vec<u64>,
    last: Option<PlanningScene>,
}

impl Published {
    /// Publishes the scene, if it has changed and its topic has subscribers.
    fn publish(&mut self, live: &Live) {
        if !listened(&self.publisher) {
            return;
        }
        let scene = live.with(|state| {
            let worlds = state.pace.worlds();
            let revisions: Vec<u64> = worlds.worlds().iter().map(World::revision).collect();
            if self.revisions == revisions {
                return None;
            }
            self.revisions = revisions;
            // Without the arm the scene is empty.
            Some(scene(worlds, &self.arm).unwrap_or_default())
        });
        let Some(scene) = scene.filter(|scene| self.last.as_ref() != Some(scene)) else { return };
        if let Err(error) = self.publisher.publish(&scene) {
            tracing::warn!(%error, "publishing a scene failed");
        }
        self.last = Some(scene);
    }
}

/// The bodies in reach of an arm that are not a part of it, in the frame of its base; `None` if there is no such arm.
fn scene(worlds: &Worlds, arm: &str) -> Option<PlanningScene> {
    let is_arm = |object: &crate::Object| object.name() == arm && object.kind() == ObjectKind::Arm;
    let (world, at) = worlds
        .worlds()
        .iter()
        .find_map(|world| world.objects().iter().position(is_arm).map(|at| (world, at)))?;
    let to_base = world.objects().get(at)?.pose().inverse();
    let mut scene = PlanningScene { name: world.name().to_owned(), ..Default::default() };
    for (index, object) in world.objects().iter().enumerate() {
        if is_carried_by(world, index, at) {
            continue;
        }
        for part in world.parts().get(object.parts()).unwrap_or_default() {
            let pose = to_base * part.pose();
            let is_near = |shape: &&Shape| {
                let centre = (pose * shape.pose).translation.vector;
                centre.norm() - radius(&shape.geometry) < REACH
            };
            let shapes: Vec<&Shape> = part.shapes.iter().filter(is_near).collect();
            if !shapes.is_empty() {
                scene.world.collision_objects.push(body(&part.name, &pose, &shapes));
            }
        }
    }
    Some(scene)
}

/// Whether an object is the arm, or held by it or by what it carries.
fn is_carried_by(world: &World, mut index: usize, arm: usize) -> bool {
    // No chain is longer than the list.
    for _ in world.objects() {
        if index == arm {
            return true;
        }
        let Some(carrier) = world.objects().get(index).and_then(|object| object.carrier()) else {
            return false;
        };
        index = carrier;
    }
    false
}

/// Of a sphere around the origin that holds the geometry, m.
fn radius(geometry: &Geometry) -> f64 {
    match geometry {
        Geometry::Box { size } => Vector3::from(*size).norm() / 2.0,
        Geometry::Cylinder { radius, length } => radius.hypot(length / 2.0),
        Geometry::Sphere { radius } => *radius,
        Geometry::Mesh { .. } | Geometry::Extrusion { .. } => {
            let corners = geometry.triangles().into_iter().flatten();
            corners.map(|corner| Vector3::from(corner).norm()).fold(0.0, f64::max)
        }
    }
}

fn body(name: &str, pose: &Isometry3<f64>, shapes: &[&Shape]) -> CollisionObject {
    let mut body = CollisionObject { id: name.to_owned(), pose: poses::pose(pose), ..Default::default() };
    for shape in shapes {
        let solid = |kind: i64, dimensions: Vec<f64>| {
            let mut solid = SolidPrimitive { type_: kind as _, ..Default::default() };
            solid.dimensions = dimensions;
            solid
        };
        let primitive = match &shape.geometry {
            Geometry::Box { size } => Some(solid(SolidPrimitive::BOX as i64, size.to_vec())),
            Geometry::Cylinder { radius, length } => {
                Some(solid(SolidPrimitive::CYLINDER as i64, vec![*length, *radius]))
            }
            Geometry::Sphere { radius } => Some(solid(SolidPrimitive::SPHERE as i64, vec![*radius])),
            Geometry::Mesh { .. } | Geometry::Extrusion { .. } => None,
        };
        if let Some(primitive) = primitive {
            body.primitives.push(primitive);
            body.primitive_poses.push(poses::pose(&shape.pose));
            continue;
        }
        for triangles in pieces(&shape.geometry) {
            body.meshes.push(mesh(&triangles));
            body.mesh_poses.push(poses::pose(&shape.pose));
        }
    }
    body
}

/// Triangles of the parts of a mesh or a prism; those of a prism are convex.
fn pieces(geometry: &Geometry) -> Vec<Vec<[[f64; 3]; 3]>> {
    match geometry {
        Geometry::Extrusion { polygon, height } => match polygon::convex_pieces(polygon) {
            Ok(pieces) => pieces.iter().map(|piece| polygon::extrude(piece, *height)).collect(),
            Err(_) => vec![geometry.triangles()],
        },
        _ => vec![geometry.triangles()],
    }
}

fn mesh(triangles: &[[[f64; 3]; 3]]) -> Mesh {
    let corners = triangles.iter().flatten();
    if 3 * triangles.len() > MAX_CORNERS {
        let (mut least, mut most) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for corner in corners {
            for ((least, most), value) in least.iter_mut().zip(&mut most).zip(corner) {
                (*least, *most) = (least.min(*value), most.max(*value));
            }
        }
        let corner = |bits: usize| {
            let side = |bit: usize, least: f64, most: f64| if bits & bit == 0 { least } else { most };
            let ([x, y, z], most) = (least, most);
            Point { x: side(1, x, most[0]), y: side(2, y, most[1]), z: side(4, z, most[2]) }
        };
        return Mesh { vertices: (0..8).map(corner).collect(), ..Default::default() };
    }
    let vertices = corners.map(|[x, y, z]| Point { x: *x, y: *y, z: *z }).collect();
    let triangle = |first: u32| MeshTriangle { vertex_indices: vec![first, first + 1, first + 2] };
    let count = u32::try_from(triangles.len()).unwrap_or_default();
    Mesh { vertices, triangles: (0..count).map(|index| triangle(3 * index)).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORLD: &str = "worlds:
- name: A
  bodies:
  - {name: table, xyz: [2, 0, 0], shapes: [{box: [1, 1, 0.2], xyz: [0, 0, 0.1]}]}
  - {name: far, xyz: [9, 0, 0], shapes: [{sphere: {radius: 0.5}}]}
  - name: desk
    xyz: [1, 1, 0]
    shapes: [{extrusion: {polygon: [[0, 0], [1, 0], [1, 0.2], [0.2, 0.2], [0.2, 1], [0, 1]], height: 1}}]
  arms:
  - name: Ranger
    xyz: [1, 0, 0.3]
    rpy: [0, 0, 3.141592653589793]
    urdf: ranger_mk1.urdf
    tip_link: tool0
    home: [0, 0, 0, 0, 1.57, 0]
";

    #[test]
    fn what_is_near_an_arm_is_in_its_frame_and_the_arm_itself_is_not() {
        let mut worlds = Worlds::from_yaml(WORLD, &|name| {
            let found = if name == "ranger_mk1.urdf" { Ok(()) } else { Err(format!("no {name}")) };
            found.map(|()| include_bytes!("../../../../urdf/ranger_mk1.urdf").to_vec())
        })
        .unwrap();
        assert!(scene(&worlds, "Puma").is_none());
        let names = |scene: &PlanningScene| {
            scene.world.collision_objects.iter().map(|body| body.id.clone()).collect::<Vec<_>>()
        };
        let found = scene(&worlds, "Ranger").unwrap();
        assert_eq!(names(&found), ["table", "desk"]);
        let table = &found.world.collision_objects[0];
        let at = &table.pose.position;
        assert!((at.x + 1.0).abs() < 1e-9 && at.y.abs() < 1e-9 && (at.z + 0.3).abs() < 1e-9, "{at:?}");
        assert_eq!(table.primitives[0].dimensions.as_ref() as &[f64], [1.0, 1.0, 0.2]);
        assert!((table.primitive_poses[0].position.z - 0.1).abs() < 1e-12);
        // Not its hull: the corner of the desk is free.
        assert!(found.world.collision_objects[1].meshes.len() > 1);
        worlds.place(None, "far", [1.0, 1.0, 1.0], [0.0; 3]).unwrap();
        assert_eq!(names(&scene(&worlds, "Ranger").unwrap()), ["table", "far", "desk"]);
        // What the arm holds moves with it.
        worlds.link_to_robot_tcp(None, "Ranger", "far").unwrap();
        assert_eq!(names(&scene(&worlds, "Ranger").unwrap()), ["table", "desk"]);
    }

    #[test]
    fn a_large_mesh_counts_as_its_box() {
        let triangle = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 3.0]];
        assert_eq!(mesh(&[triangle]).vertices.len(), 3);
        let large = mesh(&vec![triangle; MAX_CORNERS]);
        assert_eq!(large.vertices.len(), 8);
        let most = large.vertices.last().unwrap();
        assert_eq!([most.x, most.y, most.z], [1.0, 2.0, 3.0]);
    }
}
