//! What stands around an arm.

use nalgebra::Isometry3;

use super::PlanningError;
use super::shape::{Placed, Shape, Solid};

/// Bodies that an arm must not touch; poses in the frame of its base.
#[derive(Clone, Default)]
pub struct Scene {
    pub(super) bodies: Vec<SceneBody>,
}

#[derive(Clone)]
pub(super) struct SceneBody {
    pub(super) name: String,
    pub(super) solid: Solid,
    pub(super) at: Placed,
}

impl Scene {
    /// Adds a body; several shapes may have one name.
    ///
    /// # Errors
    /// [`PlanningError::Shape`]; nothing was added.
    pub fn add(&mut self, name: &str, shape: &Shape, pose: Isometry3<f64>) -> Result<(), PlanningError> {
        let wrong = |reason| PlanningError::Shape { body: name.to_owned(), reason };
        let is_finite = pose.to_homogeneous().iter().all(|value| value.is_finite());
        if !is_finite {
            return Err(wrong(super::ShapeError::Size));
        }
        let solid = Solid::new(shape, 0.0).map_err(wrong)?;
        let at = solid.place(&pose);
        self.bodies.push(SceneBody { name: name.to_owned(), solid, at });
        Ok(())
    }

    /// Removes the bodies with this name; whether there were any.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.bodies.len();
        self.bodies.retain(|body| body.name != name);
        self.bodies.len() < before
    }

    /// The names of the bodies, once for each shape.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.bodies.iter().map(|body| body.name.as_str())
    }
}
