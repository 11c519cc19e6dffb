//! Measurements of lasers and ultrasonic sensors.

use super::state::{Named, World, wrong_kind};
use crate::error::WorldError;
use crate::geometry::scene::Collider;
use crate::geometry::{Vector, to_parry, vector};
use crate::limits::MAX_SIZE;
#[cfg(feature = "node")]
use crate::sensors::range::Echo;
use crate::sensors::range::{Landmark, LaserFigures, Sighting};

/// Tolerance for seeing a landmark on the surface of a wall, m.
const LANDMARK_DEPTH: f64 = 1e-3;
/// Distance of a landmark to the surface behind it from which on Apolo's lasers see it, m.
const LANDMARK_CLEARANCE: f64 = 0.01;
/// Maximum height of a landmark above the laser's plane, m; the size of Apolo's landmarks.
const LANDMARK_HEIGHT: f64 = 0.4;
/// How far away a surface behind a landmark is searched, m: the size of a world.
const MAX_LOOK: f64 = 4.0 * MAX_SIZE;

impl World {
    pub(super) fn laser_index(&self, name: &str) -> Result<usize, WorldError> {
        match self.named(name)? {
            Named::Laser(at) => Ok(at),
            _ => Err(wrong_kind(name, "a laser")),
        }
    }

    /// One scan of a laser into `ranges`, as [`crate::Worlds::laser_data`].
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn laser_data(&mut self, name: &str, ranges: &mut Vec<f64>) -> Result<(), WorldError> {
        let at = self.laser_index(name)?;
        let pose = to_parry(&self.pose(name)?);
        if let Some(laser) = self.lasers.get_mut(at) {
            let carrier = laser.mount.object;
            // Solids that contain the laser, e.g. its own housing, are ignored.
            let sees_carrier = laser.sees_carrier;
            let unseen = |collider: &Collider| {
                Some(collider.object) == carrier && (!sees_carrier || collider.contains(pose.translation))
            };
            laser.scan(&self.scene, &pose, unseen, ranges);
        }
        Ok(())
    }

    /// Beams and ranges of a laser.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn laser_figures(&self, name: &str) -> Result<LaserFigures, WorldError> {
        let laser = self.lasers.get(self.laser_index(name)?);
        laser.map(|laser| laser.figures).ok_or_else(|| WorldError::UnknownName { name: name.to_owned() })
    }

    pub(crate) fn laser_landmarks(&mut self, name: &str) -> Result<Vec<Sighting>, WorldError> {
        let figures = self.laser_figures(name)?;
        let at = self.laser_index(name)?;
        let carrier = self.mount(name).and_then(|mount| mount.object);
        let laser = to_parry(&self.pose(name)?);
        // As in Apolo: one step further than the last beam.
        let last_angle = figures.first_angle + figures.beams as f64 * figures.angle_step;
        let sight = |mark: &Landmark| {
            let position = vector(mark.position);
            let seen = laser.inverse_transform_point(position);
            let (angle, distance) = (seen.y.atan2(seen.x), seen.length());
            let in_reach = (figures.first_angle..=last_angle).contains(&angle)
                && (figures.min_range..=figures.max_range).contains(&distance)
                && seen.z <= LANDMARK_HEIGHT;
            let way = position - laser.translation;
            let visible = || self.is_in_sight(laser.translation, way, carrier);
            (in_reach && visible()).then_some(Sighting { id: mark.id, angle, distance })
        };
        let mut seen: Vec<Sighting> = self.landmarks.iter().filter_map(sight).collect();
        if let Some(laser) = self.lasers.get_mut(at) {
            let [by_distance, by_angle] = laser.landmark_deviations;
            let mut error = |deviation| if deviation > 0.0 { deviation * laser.noise.normal() } else { 0.0 };
            for Sighting { angle, distance, .. } in &mut seen {
                *angle += error(by_angle);
                *distance = (*distance + error(by_distance)).clamp(0.0, figures.max_range);
            }
        }
        Ok(seen)
    }

    /// Whether nothing is on the way to a landmark. In Apolo the laser looks past it: the first surface has to be
    /// there, and behind the landmark, so that a mark on the far face of a wall is not seen; its own robot may hide a
    /// mark.
    fn is_in_sight(&self, from: Vector, way: Vector, carrier: Option<usize>) -> bool {
        let length = way.length();
        let ignore = |collider: &Collider| {
            Some(collider.object) == carrier && (!self.as_original || collider.contains(from))
        };
        if length == 0.0 {
            return true;
        }
        let max_distance = if self.as_original { MAX_LOOK } else { length };
        let surface = self.scene.ray(from, way / length, max_distance, ignore);
        if self.as_original {
            surface.is_some_and(|surface| surface >= length + LANDMARK_CLEARANCE)
        } else {
            surface.is_none_or(|surface| surface >= length - LANDMARK_DEPTH)
        }
    }

    pub(crate) fn ultrasonic(&mut self, name: &str) -> Result<f64, WorldError> {
        let as_original = self.as_original;
        match self.named(name)? {
            Named::Ultrasonic(at) => Ok(self.measure(at, as_original)),
            _ => Err(wrong_kind(name, "an ultrasonic sensor")),
        }
    }

    pub(crate) fn all_ultrasonics(&mut self, robot: &str) -> Result<Vec<f64>, WorldError> {
        let as_original = self.as_original;
        let sensors = self.ultrasonics_on(robot)?;
        Ok(sensors.into_iter().map(|at| self.measure(at, as_original)).collect())
    }

    #[cfg(feature = "node")]
    pub(crate) fn echoes(&mut self, robot: &str) -> Result<Vec<Echo>, WorldError> {
        let mut echoes = Vec::new();
        for at in self.ultrasonics_on(robot)? {
            let range = self.measure(at, false);
            echoes.extend(self.ultrasonics.get(at).map(|sensor| Echo { figures: sensor.figures, range }));
        }
        Ok(echoes)
    }

    fn ultrasonics_on(&self, robot: &str) -> Result<Vec<usize>, WorldError> {
        let carrier = self.index_of(robot)?;
        let on_it =
            |at: &usize| self.ultrasonics.get(*at).is_some_and(|sensor| sensor.mount.object == Some(carrier));
        Ok((0..self.ultrasonics.len()).filter(on_it).collect())
    }

    fn measure(&mut self, at: usize, as_original: bool) -> f64 {
        let Some(mount) = self.ultrasonics.get(at).map(|sensor| sensor.mount.clone()) else {
            return f64::NAN;
        };
        let pose = to_parry(&self.mounted(&mount));
        let ignore = |collider: &Collider| Some(collider.object) == mount.object;
        let sensor = self.ultrasonics.get_mut(at);
        sensor.map_or(f64::NAN, |sensor| sensor.measure(&self.scene, &pose, ignore, as_original))
    }
}

#[cfg(test)]
impl World {
    /// Range of a beam in the plane of this pose, without ignored solids.
    pub(crate) fn ray_for_test(
        &self,
        pose: &nalgebra::Isometry3<f64>,
        angle: f64,
        max_distance: f64,
    ) -> Option<f64> {
        let direction = pose.rotation * nalgebra::Vector3::new(angle.cos(), angle.sin(), 0.0);
        let [origin, direction] = [pose.translation.vector.into(), direction.into()].map(vector);
        self.scene.ray(origin, direction, max_distance, |_| false)
    }
}
