//! Contacts between objects.

use nalgebra::Isometry3;

use super::state::{Part, Role, World};
use crate::error::WorldError;
use crate::geometry::scene::Collider;
use crate::geometry::{Geometry, Pose, Solid, to_parry};
use crate::robots::arm::Arm;

/// A region attached to an object.
pub(crate) struct Feeler(Vec<(Solid, Pose)>);

impl Feeler {
    /// This shape, raised by `height`; empty if the shape is invalid.
    pub(crate) fn new(shape: &Geometry, height: f64) -> Self {
        let raised = Pose::translation(0.0, 0.0, height);
        let solids = shape.solids().unwrap_or_default().into_iter();
        Self(solids.map(|(solid, local)| (solid, raised * local)).collect())
    }
}

impl World {
    /// Pairs of touching objects, at least one of them a robot; links fixed to the base do not count. Each pair occurs
    /// once; an arm that touches itself is a pair, too.
    pub fn collisions(&self) -> Vec<(&str, &str)> {
        let mut pairs = Vec::new();
        for (at, object) in self.objects.iter().enumerate() {
            let touched = match &object.role {
                Role::Body(_) => continue,
                Role::Wheeled(_) => self.touches_at(at, &object.pose, &[at], &self.group(at)),
                Role::Arm(arm) => self.arm_touches(at, arm),
            };
            if let Some(other) = touched.and_then(|other| self.objects.get(other)) {
                pairs.push((object.name.as_str(), other.name.as_str()));
            }
        }
        pairs
    }

    /// An object that the robot, with all objects on it, touches at this pose.
    pub(super) fn wheeled_touches(&self, at: usize, pose: &Isometry3<f64>) -> Option<usize> {
        let group = self.group(at);
        self.touches_at(at, pose, &group, &group)
    }

    /// An object outside of `group` that its `members` touch if the object `at` is at this pose and they are moved with
    /// it.
    fn touches_at(
        &self,
        at: usize,
        pose: &Isometry3<f64>,
        members: &[usize],
        group: &[usize],
    ) -> Option<usize> {
        let moved = pose * self.objects.get(at)?.pose.inverse();
        let own = |collider: &Collider| group.contains(&collider.object);
        let parts = members.iter().filter_map(|member| self.objects.get(*member));
        let mut parts = parts.flat_map(|object| self.parts.get(object.parts.clone()).unwrap_or_default());
        parts
            .find_map(|part| {
                self.scene.touching(part.colliders.clone(), &to_parry(&(moved * part.pose)), own)
            })
            .map(|other| other.object)
    }

    /// Whether an object outside of the group is in this region attached to an object.
    pub(crate) fn feels(&self, at: usize, group: &[usize], feeler: &Feeler) -> bool {
        let Some(object) = self.objects.get(at) else { return false };
        let pose = to_parry(&object.pose);
        let own = |collider: &Collider| group.contains(&collider.object);
        let mut solids = feeler.0.iter();
        solids.any(|(solid, local)| self.scene.touching_solid(solid, &(pose * *local), own).is_some())
    }

    /// An object that the arm or its held object touches.
    pub(super) fn arm_touches(&self, at: usize, arm: &Arm) -> Option<usize> {
        let held = self.held_by(at);
        let carrier = arm.on.map(|(carrier, _)| carrier);
        let parts = self.objects.get(at)?.parts.clone();
        let first = parts.start;
        let links = self.parts.get(parts)?.iter().enumerate();
        for (link, part) in links.filter(|(link, _)| !arm.stands_still(*link)) {
            let passed_by = |other: &Collider| {
                if other.object != at {
                    return Some(other.object) == held
                        || (Some(other.object) == carrier && arm.may_touch_carrier(link));
                }
                let other = other.part - first;
                // Each pair of moving links is checked once.
                arm.may_touch(link, other) || (other > link && !arm.stands_still(other))
            };
            if let Some(other) = self.scene.touching(part.colliders.clone(), &to_parry(&part.pose), passed_by)
            {
                return Some(other.object);
            }
        }
        let held_object = self.objects.get(held?)?;
        // The hand touches the held object.
        let allowed = |other: &Collider| {
            let link = other.part.saturating_sub(first);
            Some(other.object) == held
                || (other.object == at && (arm.is_hand(link) || arm.may_touch(arm.tool.0, link)))
        };
        let mut parts = self.parts.get(held_object.parts.clone())?.iter();
        let touched = parts
            .find_map(|part| self.scene.touching(part.colliders.clone(), &to_parry(&part.pose), allowed));
        touched.map(|other| other.object)
    }

    /// Pairs of links that touch in the arm's current pose.
    pub(crate) fn touching_links(&self, at: usize) -> Vec<(usize, usize)> {
        let Some(object) = self.objects.get(at) else { return Vec::new() };
        let parts = self.parts.get(object.parts.clone()).unwrap_or_default();
        let solids = |link: usize| {
            parts.get(link).map(|part| self.scene.colliders(part.colliders.clone())).unwrap_or_default()
        };
        let touch = |a: usize, b: usize| {
            solids(a).iter().any(|a| solids(b).iter().any(|b| a.solid.touches(&a.pose, &b.solid, &b.pose)))
        };
        let pairs = (0..parts.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        pairs.filter(|&(a, b)| touch(a, b)).collect()
    }

    /// Links of an arm that touch another object in the current pose.
    pub(crate) fn links_on(&self, at: usize, other: usize) -> Vec<usize> {
        let Some(object) = self.objects.get(at) else { return Vec::new() };
        let links = self.parts.get(object.parts.clone()).unwrap_or_default().iter().enumerate();
        let beyond = |collider: &Collider| collider.object != other;
        let touches = |part: &Part| {
            self.scene.touching(part.colliders.clone(), &to_parry(&part.pose), beyond).is_some()
        };
        links.filter(|(_, part)| touches(part)).map(|(link, _)| link).collect()
    }

    pub(crate) fn distance(&self, a: &str, b: &str) -> Result<f64, WorldError> {
        let solids = |name: &str| {
            let parts =
                self.objects.get(self.index_of(name)?).map(|object| object.parts.clone()).unwrap_or_default();
            let parts = self.parts.get(parts).unwrap_or_default().iter();
            Ok(parts.flat_map(|part| self.scene.colliders(part.colliders.clone())).collect::<Vec<_>>())
        };
        let (ours, theirs) = (solids(a)?, solids(b)?);
        let pairs = ours.iter().flat_map(|a| theirs.iter().map(move |b| (a, b)));
        let distances = pairs.map(|(a, b)| a.solid.distance(&a.pose, &b.solid, &b.pose));
        Ok(distances.fold(f64::INFINITY, f64::min))
    }
}
