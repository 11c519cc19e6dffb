//! Views of cameras.

use std::sync::Arc;

use super::state::{Named, Part, World, wrong_kind};
use crate::error::WorldError;
use crate::sensors::camera::{Camera, CameraFigures, Seen, Surface, View, optical_frame};

impl World {
    /// Names of the cameras.
    pub fn cameras(&self) -> impl Iterator<Item = &str> {
        self.cameras.iter().map(|camera| camera.name.as_str())
    }

    /// The parameters of a camera.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn camera_figures(&self, name: &str) -> Result<CameraFigures, WorldError> {
        self.camera(name).map(|(_, camera)| camera.figures)
    }

    /// Position of the colour camera in the frame of the depth camera (x ahead, y left, z up), m.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn color_offset(&self, name: &str) -> Result<[f64; 3], WorldError> {
        self.camera(name).map(|(_, camera)| camera.color_offset.into())
    }

    /// Updates `view` with a camera's current view, as [`crate::Worlds::view`], reusing its memory.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn look(&mut self, name: &str, view: &mut View) -> Result<(), WorldError> {
        let (at, camera) = self.camera(name)?;
        // Of the optical frame: x right, y down, z ahead.
        let pose = self.mounted(&camera.mount) * optical_frame();
        let to_camera = pose.inverse();
        let carrier = camera.mount.object.filter(|_| !camera.sees_carrier);
        let unseen = carrier.and_then(|at| self.objects.get(at)).map_or(0..0, |object| object.parts.clone());
        view.begin(camera.figures, optical_frame().inverse() * camera.color_offset, to_camera.rotation);
        let parts = self.parts.iter().zip(&self.surfaces).enumerate();
        for (_, (part, surfaces)) in parts.filter(|(at, _)| !unseen.contains(at)) {
            let to_camera = to_camera * part.pose;
            view.extend(part.shapes.iter().zip(surfaces).map(|(shape, surface)| Seen {
                surface: Arc::clone(surface),
                to_camera: to_camera * shape.pose,
                color: shape.color,
            }));
        }
        if let Some(camera) = self.cameras.get_mut(at).filter(|camera| camera.deviation > 0.0) {
            view.set_noise(camera.deviation, camera.noise.clone());
            // The next view has different noise.
            camera.noise.skip();
        }
        Ok(())
    }

    fn camera(&self, name: &str) -> Result<(usize, &Camera), WorldError> {
        match self.named(name)? {
            Named::Camera(at) => self.cameras.get(at).map(|camera| (at, camera)),
            _ => None,
        }
        .ok_or_else(|| wrong_kind(name, "a camera"))
    }

    /// Triangulates all shapes, if there is a camera.
    pub(crate) fn cover(&mut self) {
        let surfaces =
            |part: &Part| part.shapes.iter().map(|shape| Arc::new(Surface::new(&shape.geometry))).collect();
        if !self.cameras.is_empty() {
            self.surfaces = self.parts.iter().map(surfaces).collect();
        }
    }
}
