//! All solids of a world with their poses, and a tree of bounding boxes, so that a query examines few of them.

use parry3d_f64::partitioning::Bvh;
use parry3d_f64::query::Ray;
use std::ops::Range;

use super::shapes::{Pose, Solid, Vector};

/// A solid that moves with a part of an object.
pub(crate) struct Collider {
    pub(crate) object: usize,
    pub(crate) part: usize,
    pub(crate) solid: Solid,
    /// Pose in the part's frame.
    local: Pose,
    /// Pose in the world.
    pub(crate) pose: Pose,
}

impl Collider {
    /// Whether it contains a point of the world.
    pub(crate) fn contains(&self, point: Vector) -> bool {
        self.solid.contains(&self.pose, point)
    }
}

/// The solids of a world.
#[derive(Default)]
pub(crate) struct Scene {
    colliders: Vec<Collider>,
    tree: Bvh,
}

impl Scene {
    /// Adds a solid at `local` of a part at `pose`.
    pub(crate) fn add(&mut self, object: usize, part: usize, solid: Solid, local: Pose, pose: &Pose) {
        let pose = *pose * local;
        self.tree.insert(solid.bounds(&pose), self.colliders.len() as u32);
        self.colliders.push(Collider { object, part, solid, local, pose });
    }

    pub(crate) fn len(&self) -> usize {
        self.colliders.len()
    }

    pub(crate) fn colliders(&self, range: Range<usize>) -> &[Collider] {
        self.colliders.get(range).unwrap_or_default()
    }

    /// Moves the part with these solids.
    pub(crate) fn move_part(&mut self, range: Range<usize>, pose: &Pose) {
        let first = range.start;
        for (at, collider) in self.colliders.get_mut(range).unwrap_or_default().iter_mut().enumerate() {
            collider.pose = *pose * collider.local;
            self.tree.insert(collider.solid.bounds(&collider.pose), (first + at) as u32);
        }
    }

    /// A solid that touches one of these if their part is at `pose`; those in `ignore` are skipped.
    pub(crate) fn touching(
        &self,
        range: Range<usize>,
        pose: &Pose,
        ignore: impl Fn(&Collider) -> bool,
    ) -> Option<&Collider> {
        self.colliders(range)
            .iter()
            .find_map(|ours| self.touching_solid(&ours.solid, &(*pose * ours.local), &ignore))
    }

    /// A solid that touches this one at `pose`; those in `ignore` are skipped.
    pub(crate) fn touching_solid(
        &self,
        solid: &Solid,
        pose: &Pose,
        ignore: impl Fn(&Collider) -> bool,
    ) -> Option<&Collider> {
        let bounds = solid.bounds(pose);
        let mut near = self.tree.intersect_aabb(&bounds).filter_map(|leaf| self.colliders.get(leaf as usize));
        near.find(|other| !ignore(other) && solid.touches(pose, &other.solid, &other.pose))
    }

    /// Distance to the first solid along a ray with a unit direction.
    pub(crate) fn ray(
        &self,
        origin: Vector,
        direction: Vector,
        max_distance: f64,
        ignore: impl Fn(&Collider) -> bool,
    ) -> Option<f64> {
        self.first_hit(origin, direction, max_distance, ignore).map(|(_, way)| way)
    }

    /// The first solid along such a ray, and its distance.
    pub(crate) fn first_hit(
        &self,
        origin: Vector,
        direction: Vector,
        max_distance: f64,
        ignore: impl Fn(&Collider) -> bool,
    ) -> Option<(&Collider, f64)> {
        let ray = Ray::new(origin, direction);
        let hit = self.tree.cast_ray(&ray, max_distance, |leaf, best| {
            let collider = self.colliders.get(leaf as usize).filter(|collider| !ignore(collider))?;
            let origin = collider.pose.inverse_transform_point(origin);
            let direction = collider.pose.inverse_transform_vector(direction);
            collider.solid.ray(origin, direction, best)
        });
        hit.and_then(|(leaf, way)| Some((self.colliders.get(leaf as usize)?, way)))
    }

    /// Visits all solids that may have a point within `radius` of `centre`.
    pub(crate) fn near(&self, centre: Vector, radius: f64, mut visit: impl FnMut(&Collider)) {
        let reach = Vector::splat(radius);
        let bounds = parry3d_f64::bounding_volume::Aabb::new(centre - reach, centre + reach);
        let near = self.tree.intersect_aabb(&bounds).filter_map(|leaf| self.colliders.get(leaf as usize));
        near.for_each(&mut visit);
    }
}
