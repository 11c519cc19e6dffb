//! Measurements of lasers and ultrasonic sensors.

use super::geometry::{to_parry, vector};
use super::scene::Collider;
use super::state::{Named, wrong_kind};
use super::{Landmark, LaserFigures, Sighting, World, WorldError};

/// Tolerance for seeing a landmark on the surface of a wall, m.
const LANDMARK_DEPTH: f64 = 0.01;

impl World {
    pub(super) fn laser_index(&self, name: &str) -> Result<usize, WorldError> {
        match self.named(name)? {
            Named::Laser(at) => Ok(at),
            _ => Err(wrong_kind(name, "a laser")),
        }
    }

    /// One scan of a laser into `ranges`, as [`super::Worlds::laser_data`].
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

    pub(crate) fn laser_landmarks(&self, name: &str) -> Result<Vec<Sighting>, WorldError> {
        let figures = self.laser_figures(name)?;
        let carrier = self.mount(name).and_then(|mount| mount.object);
        let laser = to_parry(&self.pose(name)?);
        let last_angle = figures.first_angle + (figures.beams - 1) as f64 * figures.angle_step;
        let sight = |mark: &Landmark| {
            let position = vector(mark.position);
            let seen = laser.inverse_transform_point(position);
            let (angle, distance) = (seen.y.atan2(seen.x), seen.x.hypot(seen.y));
            let in_reach = (figures.first_angle..=last_angle).contains(&angle)
                && (figures.min_range..=figures.max_range).contains(&distance);
            let way = position - laser.translation;
            let length = way.length();
            let ignore = |collider: &Collider| Some(collider.object) == carrier;
            let hidden = length > LANDMARK_DEPTH
                && self.scene.ray(laser.translation, way / length, length - LANDMARK_DEPTH, ignore).is_some();
            (in_reach && !hidden).then_some(Sighting { id: mark.id, angle, distance })
        };
        Ok(self.landmarks.iter().filter_map(sight).collect())
    }

    pub(crate) fn ultrasonic(&mut self, name: &str) -> Result<f64, WorldError> {
        match self.named(name)? {
            Named::Ultrasonic(at) => Ok(self.measure(at)),
            _ => Err(wrong_kind(name, "an ultrasonic sensor")),
        }
    }

    pub(crate) fn all_ultrasonics(&mut self, robot: &str) -> Result<Vec<f64>, WorldError> {
        let carrier = self.index_of(robot)?;
        let on_it =
            |at: &usize| self.ultrasonics.get(*at).is_some_and(|sensor| sensor.mount.object == Some(carrier));
        let sensors: Vec<usize> = (0..self.ultrasonics.len()).filter(on_it).collect();
        Ok(sensors.into_iter().map(|at| self.measure(at)).collect())
    }

    pub(super) fn measure(&mut self, at: usize) -> f64 {
        let Some(mount) = self.ultrasonics.get(at).map(|sensor| sensor.mount.clone()) else {
            return f64::NAN;
        };
        let pose = to_parry(&self.mounted(&mount));
        let sensor = self.ultrasonics.get_mut(at);
        sensor.map_or(f64::NAN, |sensor| {
            sensor.measure(&self.scene, &pose, |collider| Some(collider.object) == mount.object)
        })
    }
}

#[cfg(test)]
impl World {
    /// Range of a beam in the plane of this pose, without ignored solids.
    pub(crate) fn ray_for_test(
        &self,
        pose: &nalgebra::Isometry3<f64>,
        angle: f64,
        longest: f64,
    ) -> Option<f64> {
        let direction = pose.rotation * nalgebra::Vector3::new(angle.cos(), angle.sin(), 0.0);
        let [origin, direction] = [pose.translation.vector.into(), direction.into()].map(vector);
        self.scene.ray(origin, direction, longest, |_| false)
    }
}
