//! Shapes, and the conversion between `nalgebra`'s poses and those of parry3d.

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use parry3d_f64::math::{Pose, Rotation, Vector};
use parry3d_f64::query;
use parry3d_f64::query::gjk::{CsoPoint, GJKResult, VoronoiSimplex, closest_points};
use parry3d_f64::shape::SharedShape;

/// A solid, centred at its origin. Metres.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Shape {
    /// A box with these edges along x, y and z.
    Box([f64; 3]),
    /// A cylinder about the z axis.
    Cylinder {
        /// Radius of its round faces.
        radius: f64,
        /// Distance of these faces.
        length: f64,
    },
    /// A cylinder about the z axis with half a sphere on each end.
    Capsule {
        radius: f64,
        /// Length without the half spheres.
        length: f64,
    },
    /// A sphere with this radius.
    Sphere(f64),
    /// The convex hull of these points.
    Hull(Vec<[f64; 3]>),
}

/// A shape that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// A size that is not finite or not positive.
    #[error("a size is not a positive number of metres")]
    Size,
    /// Points without volume between them.
    #[error("the points enclose no volume")]
    Flat,
    /// A mesh, whose file is not read here.
    #[error("its collision shape is a mesh; use a box, a cylinder, a capsule or a sphere")]
    Mesh,
}

/// Maximum extent that is accepted, m: products of sizes stay exact enough.
const MAX_SIZE: f64 = 1e4;

impl Shape {
    /// The shape of a URDF.
    ///
    /// # Errors
    /// [`ShapeError::Mesh`].
    pub(super) fn from_urdf(geometry: &urdf_rs::Geometry) -> Result<Self, ShapeError> {
        match geometry {
            urdf_rs::Geometry::Box { size } => Ok(Self::Box(**size)),
            urdf_rs::Geometry::Cylinder { radius, length } => {
                Ok(Self::Cylinder { radius: *radius, length: *length })
            }
            urdf_rs::Geometry::Capsule { radius, length } => {
                Ok(Self::Capsule { radius: *radius, length: *length })
            }
            urdf_rs::Geometry::Sphere { radius } => Ok(Self::Sphere(*radius)),
            urdf_rs::Geometry::Mesh { .. } => Err(ShapeError::Mesh),
        }
    }
}

/// A shape as it is checked.
#[derive(Clone)]
pub(super) struct Solid {
    shape: SharedShape,
    /// Turns parry's axis (y) into ours (z); grows a hull, too, which has no size to grow by itself.
    turn: Pose,
    /// The sphere round it.
    pub(super) centre: Point3<f64>,
    pub(super) radius: f64,
}

impl Solid {
    /// The shape, larger by `margin` to all sides.
    pub(super) fn new(shape: &Shape, margin: f64) -> Result<Self, ShapeError> {
        let size = |value: f64| {
            if value > 0.0 && value <= MAX_SIZE { Ok(value) } else { Err(ShapeError::Size) }
        };
        let upright = Pose::from_parts(Vector::ZERO, Rotation::from_rotation_x(std::f64::consts::FRAC_PI_2));
        let (shape, turn) = match *shape {
            Shape::Box([x, y, z]) => {
                let [x, y, z] = [size(x)?, size(y)?, size(z)?].map(|edge| edge / 2.0 + margin);
                (SharedShape::cuboid(x, y, z), Pose::IDENTITY)
            }
            Shape::Cylinder { radius, length } => {
                let shape = SharedShape::cylinder(size(length)? / 2.0 + margin, size(radius)? + margin);
                (shape, upright)
            }
            Shape::Capsule { radius, length } => {
                let (radius, length) = (size(radius)? + margin, size(length)?);
                (SharedShape::capsule_z(length / 2.0, radius), Pose::IDENTITY)
            }
            Shape::Sphere(radius) => (SharedShape::ball(size(radius)? + margin), Pose::IDENTITY),
            Shape::Hull(ref points) => {
                if points.iter().flatten().any(|value| value.is_nan() || value.abs() > MAX_SIZE) {
                    return Err(ShapeError::Size);
                }
                // The sum with a cube holds the sum with a ball.
                let corners = points.iter().flat_map(|point| {
                    (0..8).map(move |corner| {
                        let side = |bit: usize| if corner >> bit & 1 == 0 { -margin } else { margin };
                        Vector::new(point[0] + side(0), point[1] + side(1), point[2] + side(2))
                    })
                });
                let corners: Vec<Vector> = corners.collect();
                let shape = SharedShape::convex_hull(&corners).ok_or(ShapeError::Flat)?;
                (shape, Pose::IDENTITY)
            }
        };
        let sphere = shape.compute_bounding_sphere(&turn);
        let centre = sphere.center();
        Ok(Self { shape, turn, centre: Point3::new(centre.x, centre.y, centre.z), radius: sphere.radius() })
    }

    /// Whether the solids, which have these poses, touch.
    pub(super) fn touches(&self, pose: &Isometry3<f64>, other: &Self, other_pose: &Isometry3<f64>) -> bool {
        let distance = (pose * self.centre - other_pose * other.centre).norm();
        if distance > self.radius + other.radius {
            return false;
        }
        let (a, b) = (to_parry(pose) * self.turn, to_parry(other_pose) * other.turn);
        // All shapes are convex: each pair is known. If one were not, it would count as touching.
        !query::intersection_test(&a, &*self.shape, &b, &*other.shape).is_ok_and(|found| !found.intersecting)
    }

    /// The solid at a pose, for [`Solid::separation`].
    pub(super) fn place(&self, pose: &Isometry3<f64>) -> Placed {
        let centre = pose * self.centre;
        Placed { pose: to_parry(pose) * self.turn, centre: Vector::new(centre.x, centre.y, centre.z) }
    }

    /// A lower bound of the distance of two solids, m: not positive if they touch, at least `enough` if they are that far
    /// apart, and close to the distance otherwise.
    pub(super) fn separation(&self, at: &Placed, other: &Self, other_at: &Placed, enough: f64) -> f64 {
        let is_enough = |bound: f64| bound > 0.0 && bound >= enough;
        // The cheapest bounds first: two spheres, then a sphere and a shape.
        let mut bound = (at.centre - other_at.centre).length() - self.radius - other.radius;
        if is_enough(bound) {
            return bound;
        }
        for ((solid, at), (other, other_at)) in
            [((self, at), (other, other_at)), ((other, other_at), (self, at))]
        {
            if other.shape.as_convex_polyhedron().is_none() {
                let far = other.shape.distance_to_point(&other_at.pose, at.centre, true) - solid.radius;
                bound = bound.max(far);
                if is_enough(bound) || solid.shape.as_ball().is_some() {
                    return bound;
                }
            }
        }
        let pose = at.pose.inv_mul(&other_at.pose);
        // All shapes are convex. If one were not, it would count as touching.
        let (Some(one), Some(two)) = (self.shape.as_support_map(), other.shape.as_support_map()) else {
            return 0.0;
        };
        let first = (-pose.translation).try_normalize().unwrap_or(Vector::X);
        let mut simplex = VoronoiSimplex::new();
        simplex.reset(CsoPoint::from_shapes(&pose, one, two, first));
        let direction = match closest_points(&pose, one, two, enough, true, &mut simplex) {
            GJKResult::NoIntersection(direction) | GJKResult::ClosestPoints(_, _, direction) => direction,
            GJKResult::Intersection | GJKResult::Proximity(_) => return 0.0,
        };
        // The distance of two parallel planes that separate them is a lower bound, even if the search was not exact.
        -direction.dot(CsoPoint::from_shapes(&pose, one, two, direction).point)
    }
}

/// A solid at a pose.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    pose: Pose,
    /// The centre of the sphere round it.
    centre: Vector,
}

fn to_parry(pose: &Isometry3<f64>) -> Pose {
    let [i, j, k, w] = pose.rotation.coords.into();
    let at = pose.translation.vector;
    Pose::from_parts(Vector::new(at.x, at.y, at.z), Rotation::from_xyzw(i, j, k, w))
}

/// The pose of an element of a URDF.
pub(super) fn origin(pose: &urdf_rs::Pose) -> Option<Isometry3<f64>> {
    let ([x, y, z], [roll, pitch, yaw]) = (*pose.xyz, *pose.rpy);
    let is_finite = [x, y, z, roll, pitch, yaw].iter().all(|value| value.is_finite());
    let rotation = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
    is_finite.then(|| Isometry3::from_parts(Vector3::new(x, y, z).into(), rotation))
}
