//! Shapes, and the only file that converts between `nalgebra`'s poses and those of parry3d.
//!
//! parry has vectors of another library; computations with them stay behind [`Solid`] and the aliases of this file.

use std::sync::Arc;

use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::query::{self, PointQuery, Ray};
use parry3d_f64::shape::{ConvexPolyhedron, SharedShape, TriMesh, TriMeshFlags};
use parry3d_f64::transformation::try_convex_hull;

use super::mesh::Mesh;
use super::polygon;

pub(crate) type Pose = parry3d_f64::math::Pose;
pub(crate) type Vector = parry3d_f64::math::Vector;

/// A shape in its own frame, m.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Geometry {
    /// A box centred at the origin.
    Box {
        /// Lengths of the edges.
        size: [f64; 3],
    },
    /// A cylinder centred at the origin, its axis along z.
    Cylinder {
        radius: f64,
        /// Length along z.
        length: f64,
    },
    /// A sphere centred at the origin.
    Sphere { radius: f64 },
    /// Triangles.
    Mesh {
        /// Corners and triangles, already scaled.
        mesh: Arc<Mesh>,
        /// Whether its convex hull is used for collisions and rays.
        convex: bool,
    },
    /// A simple polygon in the plane z = 0, extruded along z.
    Extrusion {
        /// Corners in order, clockwise or counter-clockwise.
        polygon: Vec<[f64; 2]>,
        height: f64,
    },
}

impl Geometry {
    /// The surface as triangles, counter-clockwise seen from outside; empty for boxes, cylinders and spheres, which all
    /// viewers can draw.
    pub fn triangles(&self) -> Vec<[[f64; 3]; 3]> {
        match self {
            Self::Mesh { mesh, .. } => mesh.triangles().collect(),
            Self::Extrusion { polygon, height } => polygon::extrude(polygon, *height),
            Self::Box { .. } | Self::Cylinder { .. } | Self::Sphere { .. } => Vec::new(),
        }
    }

    /// The solids for collisions, with their poses in its frame.
    pub(crate) fn solids(&self) -> Result<Vec<(Solid, Pose)>, String> {
        let one = |shape: SharedShape| Ok(vec![(Solid::new(shape), Pose::IDENTITY)]);
        match self {
            Self::Box { size: [x, y, z] } => one(SharedShape::cuboid(x / 2.0, y / 2.0, z / 2.0)),
            Self::Sphere { radius } => one(SharedShape::ball(*radius)),
            Self::Cylinder { radius, length } => {
                let upright = Pose::rotation(Vector::new(std::f64::consts::FRAC_PI_2, 0.0, 0.0));
                Ok(vec![(Solid::new(SharedShape::cylinder(length / 2.0, *radius)), upright)])
            }
            Self::Mesh { mesh, convex: true } => one(hull(&mesh.vertices)?),
            Self::Mesh { mesh, convex: false } => {
                let vertices: Vec<Vector> = mesh.vertices.iter().map(|&corner| vector(corner)).collect();
                let closed = TriMeshFlags::ORIENTED | TriMeshFlags::MERGE_DUPLICATE_VERTICES;
                let surface = TriMesh::with_flags(vertices.clone(), mesh.indices.clone(), closed)
                    // Not closed or not consistently oriented: a surface without an inside.
                    .or_else(|_| TriMesh::new(vertices, mesh.indices.clone()))
                    .map_err(|error| format!("the mesh cannot be used: {error}"))?;
                one(SharedShape::new(surface))
            }
            Self::Extrusion { polygon, height } => {
                let pieces = polygon::convex_pieces(polygon)?.into_iter();
                let prism = |piece: Vec<[f64; 2]>| Ok((prism(&piece, *height)?, Pose::IDENTITY));
                pieces.map(prism).collect()
            }
        }
    }
}

fn hull(corners: &[[f64; 3]]) -> Result<SharedShape, String> {
    let corners: Vec<Vector> = corners.iter().map(|&corner| vector(corner)).collect();
    let (corners, faces) = hull_of(&corners)?;
    polyhedron(corners, &faces)
}

fn hull_of(corners: &[Vector]) -> Result<(Vec<Vector>, Vec<[u32; 3]>), String> {
    try_convex_hull(corners).map_err(|error| format!("the points have no convex hull: {error:?}"))
}

fn polyhedron(corners: Vec<Vector>, faces: &[[u32; 3]]) -> Result<SharedShape, String> {
    let polyhedron = ConvexPolyhedron::from_convex_mesh(corners, faces);
    Ok(SharedShape::new(polyhedron.ok_or("the points have no convex hull")?))
}

/// Extruded from a convex polygon with counter-clockwise corners.
///
/// The hull is that of a prism of about the same size in all directions: the search for it fails for thin ones. An
/// affine map keeps which corners are neighbours.
fn prism(piece: &[[f64; 2]], height: f64) -> Result<Solid, String> {
    // Origin and directions of the map from the unit cube.
    let (origin, x_axis, y_axis) = match piece {
        &[a, b, c] => (a, [b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]),
        _ => {
            let [mut low, mut high] = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
            for [x, y] in piece {
                low = [low[0].min(*x), low[1].min(*y)];
                high = [high[0].max(*x), high[1].max(*y)];
            }
            (low, [high[0] - low[0], 0.0], [0.0, high[1] - low[1]])
        }
    };
    let area = x_axis[0] * y_axis[1] - x_axis[1] * y_axis[0];
    let in_cube = |&[x, y]: &[f64; 2]| {
        let (x, y) = (x - origin[0], y - origin[1]);
        [(x * y_axis[1] - y * y_axis[0]) / area, (x_axis[0] * y - x_axis[1] * x) / area]
    };
    let corners = piece.iter().map(in_cube).flat_map(|[x, y]| [0.0, 1.0].map(|z| Vector::new(x, y, z)));
    let corners: Vec<Vector> = corners.collect();
    let (corners, faces) = hull_of(&corners)?;
    let back = |corner: Vector| {
        let x = origin[0] + x_axis[0] * corner.x + y_axis[0] * corner.y;
        let y = origin[1] + x_axis[1] * corner.x + y_axis[1] * corner.y;
        Vector::new(x, y, corner.z * height)
    };
    let shape = polyhedron(corners.into_iter().map(back).collect(), &faces)?;
    Ok(Solid { shape, rays: Rays::Prism { sides: sides(piece), height } })
}

/// A shape for collisions, distances and rays.
#[derive(Clone)]
pub(crate) struct Solid {
    shape: SharedShape,
    rays: Rays,
}

/// Method of ray casting, in the solid's own frame.
#[derive(Clone)]
enum Rays {
    Box {
        half: Vector,
    },
    Cylinder {
        radius: f64,
        half_length: f64,
    },
    /// Extruded along z from a convex polygon in the plane z = 0.
    Prism {
        sides: Arc<[Side]>,
        height: f64,
    },
    Other,
}

/// A side of a prism: the normal to the outside, and its distance from the origin.
type Side = ([f64; 2], f64);

/// How much wider a prism is for rays, m, so that none passes between two with a common side.
const SEAM: f64 = 1e-9;

/// The sides of a convex polygon with counter-clockwise corners.
fn sides(polygon: &[[f64; 2]]) -> Arc<[Side]> {
    let next = polygon.iter().cycle().skip(1);
    let edges = polygon.iter().zip(next).map(|(&[ax, ay], &[bx, by])| ([ax, ay], [by - ay, ax - bx]));
    let sides = edges.map(|([x, y], [across, along])| {
        let length = across.hypot(along).max(f64::MIN_POSITIVE);
        let normal = [across / length, along / length];
        (normal, normal[0] * x + normal[1] * y + SEAM)
    });
    sides.collect()
}

impl Solid {
    fn new(shape: SharedShape) -> Self {
        let cuboid = shape.as_cuboid().map(|cuboid| Rays::Box { half: cuboid.half_extents });
        let cylinder = shape
            .as_cylinder()
            .map(|cylinder| Rays::Cylinder { radius: cylinder.radius, half_length: cylinder.half_height });
        let rays = cuboid.or(cylinder).unwrap_or(Rays::Other);
        Self { shape, rays }
    }

    pub(crate) fn bounds(&self, pose: &Pose) -> Aabb {
        self.shape.compute_aabb(pose)
    }

    /// Half extents of the bounding box in the solid's own frame, and its centre.
    pub(crate) fn local_bounds(&self) -> (Vector, Vector) {
        let bounds = self.shape.compute_local_aabb();
        (bounds.center(), bounds.half_extents())
    }

    /// Whether they touch, or one contains the other.
    pub(crate) fn touches(&self, pose: &Pose, other: &Self, other_pose: &Pose) -> bool {
        // All kinds of shapes that are created here are supported.
        query::intersection_test(pose, &*self.shape, other_pose, &*other.shape)
            .is_ok_and(|found| found.intersecting)
            || self.encloses(pose, other, other_pose)
            || other.encloses(other_pose, self, pose)
    }

    /// Whether a point of `other` is inside this surface, which does not intersect `other`.
    fn encloses(&self, pose: &Pose, other: &Self, other_pose: &Pose) -> bool {
        let Some(mesh) = self.shape.as_trimesh().filter(|mesh| mesh.flags().contains(TriMeshFlags::ORIENTED))
        else {
            return false;
        };
        let inside = other.shape.as_trimesh().and_then(|mesh| mesh.vertices().first().copied());
        let point = inside.unwrap_or_else(|| other.local_bounds().0);
        let point = pose.inverse_transform_point(other_pose.transform_point(point));
        mesh.contains_local_point(point)
    }

    /// Minimum distance, m; 0 if they touch.
    pub(crate) fn distance(&self, pose: &Pose, other: &Self, other_pose: &Pose) -> f64 {
        if self.touches(pose, other, other_pose) {
            return 0.0;
        }
        query::distance(pose, &*self.shape, other_pose, &*other.shape)
            .map_or(f64::INFINITY, |found| found.distance)
    }

    /// The point of the solid nearest to `point`.
    pub(crate) fn nearest(&self, pose: &Pose, point: Vector) -> Vector {
        self.shape.project_point(pose, point, true).point
    }

    /// Whether it contains the point; always false for a mesh that is not closed.
    pub(crate) fn contains(&self, pose: &Pose, point: Vector) -> bool {
        self.shape.contains_point(pose, point)
    }

    /// Distance along a ray with a unit direction, given in the solid's frame; 0 from inside.
    ///
    /// Boxes, cylinders and prisms are computed in closed form: parry's search for convex shapes is slower and less
    /// accurate, above all for thin ones, and a scan calls this a thousand times.
    pub(crate) fn ray(&self, origin: Vector, direction: Vector, max_distance: f64) -> Option<f64> {
        let way = match &self.rays {
            Rays::Box { half } => ray_against_box(origin, direction, *half),
            Rays::Cylinder { radius, half_length } => {
                ray_against_cylinder(origin, direction, *radius, *half_length)
            }
            Rays::Prism { sides, height } => {
                ray_against_prism(origin, direction, sides, *height).map(|(way, _)| way)
            }
            Rays::Other => self.shape.cast_local_ray(&Ray::new(origin, direction), max_distance, true),
        };
        way.filter(|way| *way <= max_distance)
    }
}

impl Solid {
    /// Normal of the surface that a ray with a unit direction hits, in the solid's frame; `None` from inside.
    pub(crate) fn normal(&self, origin: Vector, direction: Vector, max_distance: f64) -> Option<Vector> {
        if let Rays::Prism { sides, height } = &self.rays {
            return ray_against_prism(origin, direction, sides, *height).and_then(|(_, normal)| normal);
        }
        let hit =
            self.shape.cast_local_ray_and_get_normal(&Ray::new(origin, direction), max_distance, true)?;
        (hit.time_of_impact > 0.0).then_some(hit.normal)
    }
}

fn ray_against_box(origin: Vector, direction: Vector, half: Vector) -> Option<f64> {
    // A direction along a side gives finite values, or infinite ones with the right sign.
    let steep = |value: f64| if value.abs() < 1e-200 { 1e200 } else { 1.0 / value };
    let inverse = Vector::new(steep(direction.x), steep(direction.y), steep(direction.z));
    let (a, b) = ((-half - origin) * inverse, (half - origin) * inverse);
    let enter = a.min(b).max_element().max(0.0);
    (enter <= a.max(b).min_element()).then_some(enter)
}

/// The distance, and the normal of the plane that is met; none from inside.
fn ray_against_prism(
    origin: Vector,
    direction: Vector,
    sides: &[Side],
    height: f64,
) -> Option<(f64, Option<Vector>)> {
    let (mut enter, mut leave) = ((0.0_f64, None), f64::INFINITY);
    let sides = sides.iter().map(|&([x, y], distance)| (Vector::new(x, y, 0.0), distance));
    for (normal, distance) in sides.chain([(Vector::Z, height), (-Vector::Z, 0.0)]) {
        // How far the origin is outside of the plane, and how fast the ray moves further outside.
        let (outside, speed) = (normal.dot(origin) - distance, normal.dot(direction));
        if speed < 0.0 {
            let way = -outside / speed;
            if way > enter.0 {
                enter = (way, Some(normal));
            }
        } else if speed > 0.0 {
            leave = leave.min(-outside / speed);
        } else if outside > 0.0 {
            return None;
        }
    }
    (enter.0 <= leave).then_some(enter)
}

/// The axis is y, as in parry.
fn ray_against_cylinder(origin: Vector, direction: Vector, radius: f64, half_length: f64) -> Option<f64> {
    let (mut enter, mut leave) = (0.0_f64, f64::INFINITY);
    if direction.y.abs() > f64::MIN_POSITIVE {
        let (a, b) = ((-half_length - origin.y) / direction.y, (half_length - origin.y) / direction.y);
        (enter, leave) = (enter.max(a.min(b)), leave.min(a.max(b)));
    } else if origin.y.abs() > half_length {
        return None;
    }
    let across = direction.x * direction.x + direction.z * direction.z;
    let off = origin.x * origin.x + origin.z * origin.z - radius * radius;
    if across > 1e-24 {
        let half_b = origin.x * direction.x + origin.z * direction.z;
        let root = (half_b * half_b - across * off).sqrt();
        // NaN if the ray misses.
        if root.is_nan() {
            return None;
        }
        (enter, leave) = (enter.max((-half_b - root) / across), leave.min((-half_b + root) / across));
    } else if off > 0.0 {
        return None;
    }
    (enter <= leave).then_some(enter)
}

pub(crate) fn vector([x, y, z]: [f64; 3]) -> Vector {
    Vector::new(x, y, z)
}

pub(crate) fn to_parry(pose: &Isometry3<f64>) -> Pose {
    let [i, j, k, w] = pose.rotation.coords.into();
    let rotation = parry3d_f64::math::Rotation::from_xyzw(i, j, k, w);
    Pose::from_parts(vector(pose.translation.vector.into()), rotation)
}

/// A pose from a position, m, and roll, pitch and yaw, rad: the rotation is `Rz(yaw) Ry(pitch) Rx(roll)`, as in Apolo.
pub fn pose([x, y, z]: [f64; 3], [roll, pitch, yaw]: [f64; 3]) -> Isometry3<f64> {
    Isometry3::from_parts(Translation3::new(x, y, z), UnitQuaternion::from_euler_angles(roll, pitch, yaw))
}
