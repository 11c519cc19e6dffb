//! The worlds as markers for rviz2.

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::geometry_msgs::msg::{Point, Vector3};
use dragoman_ros::std_msgs::msg::ColorRGBA;
use dragoman_ros::visualization_msgs::msg::Marker;
use nalgebra::{Isometry3, Translation3};

use super::frames::{pose_message, world_frame};
use crate::World;
use crate::world::{Geometry, Shape, Worlds};

/// Namespace of the markers of landmarks.
const LANDMARKS: &str = "landmarks";
/// Diameter of a landmark as it is shown, m.
const LANDMARK_SIZE: f64 = 0.1;
const LANDMARK_COLOR: [f64; 4] = [0.95, 0.8, 0.1, 1.0];

/// A marker for each shape of each part, in the part's namespace, and one for each landmark.
pub(super) fn markers(worlds: &Worlds, stamp: &Time) -> Vec<Marker> {
    let worlds = worlds.worlds().iter().enumerate();
    worlds.flat_map(|(at, world)| of_world(world, &world_frame(at, world), at > 0, stamp)).collect()
}

/// What takes away all markers that a viewer has of this topic.
pub(super) fn clear() -> Marker {
    Marker { action: Marker::DELETEALL as i32, ..Default::default() }
}

fn of_world(world: &World, frame: &str, is_further: bool, stamp: &Time) -> Vec<Marker> {
    let marker = |name: &str, id: usize, shape: &Shape, pose: &Isometry3<f64>| {
        let mut marker = of_shape(shape);
        marker.header.stamp = stamp.clone();
        frame.clone_into(&mut marker.header.frame_id);
        marker.ns = if is_further { format!("{}/{name}", world.name()) } else { name.to_owned() };
        marker.id = i32::try_from(id).unwrap_or(i32::MAX);
        marker.pose = pose_message(pose);
        marker
    };
    let mut markers = Vec::new();
    for part in world.parts() {
        let shapes = part.shapes.iter().enumerate();
        markers.extend(shapes.map(|(id, shape)| marker(&part.name, id, shape, &(part.pose() * shape.pose))));
    }
    for mark in world.landmarks() {
        let shape = Shape {
            geometry: Geometry::Sphere { radius: LANDMARK_SIZE / 2.0 },
            pose: Isometry3::identity(),
            color: LANDMARK_COLOR,
        };
        let [x, y, z] = mark.position;
        let pose = Isometry3::from_parts(Translation3::new(x, y, z), nalgebra::UnitQuaternion::identity());
        markers.push(marker(LANDMARKS, usize::from(mark.id), &shape, &pose));
    }
    markers
}

fn of_shape(shape: &Shape) -> Marker {
    let (type_, [x, y, z]) = match &shape.geometry {
        Geometry::Box { size } => (Marker::CUBE as i32, *size),
        Geometry::Cylinder { radius, length } => {
            (Marker::CYLINDER as i32, [2.0 * radius, 2.0 * radius, *length])
        }
        Geometry::Sphere { radius } => (Marker::SPHERE as i32, [2.0 * radius; 3]),
        Geometry::Mesh { .. } | Geometry::Extrusion { .. } => (Marker::TRIANGLE_LIST as i32, [1.0; 3]),
    };
    let [r, g, b, a] = shape.color.map(|part| part as f32);
    Marker {
        type_,
        action: Marker::ADD as i32,
        scale: Vector3 { x, y, z },
        color: ColorRGBA { r, g, b, a },
        points: shape.geometry.triangles().into_iter().flatten().map(|[x, y, z]| Point { x, y, z }).collect(),
        ..Default::default()
    }
}
