//! Parts of bodies: faces, prisms, cylinders, spheres, meshes, and sets of them.

use std::sync::Arc;

use nalgebra::{UnitQuaternion, Vector3};

use super::importer::Importer;
use super::values::{Placement, color, triples};
use crate::geometry::{Geometry, Mesh};
use crate::limits::{MAX_CORNERS, MAX_SIZE, MIN_SIZE};
use dragoman_urdf::xml::Element;

/// Thickness of a face, m. Faces of Apolo have none.
const FACE_THICKNESS: f64 = 1e-4;
/// Permitted sizes, m.
const SIZES: [f64; 2] = [MIN_SIZE, MAX_SIZE];

/// A shape of a world file.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) geometry: Geometry,
    /// The file of a mesh, as in the world file.
    pub(super) mesh_file: Option<String>,
    pub(super) placement: Placement,
    pub(super) color: Option<[f64; 4]>,
}

/// A number as it is written: without digits below a nanometre.
pub(super) fn rounded(value: f64) -> f64 {
    let rounded = (value * 1e9).round() / 1e9;
    // Without a negative zero.
    rounded + 0.0
}

/// Whether an element is a body or a part of one.
pub(super) fn is_part(name: &str) -> bool {
    ["FaceSetPart", "PrismaticPart", "CylindricalPart", "SpherePart", "MeshPart", "ComposedEntity"]
        .contains(&name)
}

impl Importer<'_> {
    /// The shapes of a part in its own frame, whose rotation in the world is `rotation`; none if they cannot be taken.
    pub(super) fn part(&mut self, element: &Element, rotation: &UnitQuaternion<f64>) -> Vec<Shape> {
        if element.attribute("intersectable").is_some_and(|value| value.trim() == "false") {
            self.note(element.line, "nothing touches or senses it (intersectable): not taken");
            return Vec::new();
        }
        let whole = |geometry| {
            vec![Shape { geometry, mesh_file: None, placement: Placement::default(), color: color(element) }]
        };
        match element.name.as_str() {
            "FaceSetPart" => {
                let faces = element.children.iter().filter(|child| child.name == "face");
                faces.filter_map(|face| self.face(face, rotation)).collect()
            }
            "PrismaticPart" => {
                let height = rounded(self.number_within(element, "height", 1.0, SIZES));
                let polygon = match element.child("face").unwrap_or(element).child("vertex") {
                    Some(vertex) => self.polygon(vertex),
                    // A square around a circle of 1 m radius.
                    None => Some(vec![[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]),
                };
                let Some(polygon) = polygon else { return Vec::new() };
                self.solid(element.line, whole(Geometry::Extrusion { polygon, height }))
            }
            "CylindricalPart" => {
                let length = rounded(self.number_within(element, "height", 1.0, SIZES));
                let radius = rounded(self.number_within(element, "radius", 1.0, SIZES));
                let mut shapes = whole(Geometry::Cylinder { radius, length });
                // Apolo's begin at their frame, ours are centred.
                shapes.iter_mut().for_each(|shape| shape.placement.xyz[2] = length / 2.0);
                shapes
            }
            "SpherePart" => {
                let radius = rounded(self.number_within(element, "radius", 1.0, SIZES));
                whole(Geometry::Sphere { radius })
            }
            "MeshPart" => self.mesh(element).into_iter().collect(),
            "ComposedEntity" => self.composed(element, rotation),
            _ => {
                self.note(element.line, format!("<{}>: not taken, a body has no such part", element.name));
                Vec::new()
            }
        }
    }

    fn composed(&mut self, element: &Element, rotation: &UnitQuaternion<f64>) -> Vec<Shape> {
        let mut shapes = Vec::new();
        let frame = ["position", "orientation", "colour"];
        for child in element.children.iter().filter(|child| !frame.contains(&child.name.as_str())) {
            if child.attribute("linkTo").is_some() {
                self.note(
                    child.line,
                    "linkTo within a <ComposedEntity> is ignored: its frame is that of the whole",
                );
            }
            let Some(placement) = self.placement(child) else { continue };
            let frame = placement.isometry();
            let parts = self.part(child, &(rotation * frame.rotation));
            shapes.extend(parts.into_iter().map(|shape| shape.moved(&placement)));
        }
        shapes
    }

    /// The shapes if they are valid, otherwise none.
    fn solid(&mut self, line: usize, shapes: Vec<Shape>) -> Vec<Shape> {
        match shapes.iter().find_map(|shape| shape.geometry.solids().err()) {
            Some(reason) => {
                self.note(line, format!("not taken: {reason}"));
                Vec::new()
            }
            None => shapes,
        }
    }

    /// The corners of a `<vertex>`, without repeated ones.
    fn polygon(&mut self, vertex: &Element) -> Option<Vec<[f64; 2]>> {
        let Some(corners) = triples(&vertex.text) else {
            self.note(vertex.line, "the corners are not {x, y, z} {x, y, z} ...: not taken");
            return None;
        };
        let mut polygon: Vec<[f64; 2]> = corners.iter().map(|&[x, y, _]| [rounded(x), rounded(y)]).collect();
        polygon.dedup();
        if polygon.len() > 1 && polygon.first() == polygon.last() {
            polygon.pop();
        }
        let count = polygon.len();
        if !(3..=MAX_CORNERS).contains(&count) {
            self.note(vertex.line, format!("{count} corners instead of 3 to {MAX_CORNERS}: not taken"));
            return None;
        }
        if polygon.iter().flatten().any(|value| value.abs() > MAX_SIZE) {
            self.note(vertex.line, "a corner is too far away: not taken");
            return None;
        }
        Some(polygon)
    }

    /// A face: a thin box if it is a rectangle, otherwise a thin prism. Lying faces have their upper side where Apolo's
    /// face is, standing ones their middle.
    fn face(&mut self, face: &Element, rotation: &UnitQuaternion<f64>) -> Option<Shape> {
        let base = self.placement(face)?;
        let Some(vertex) = face.child("vertex") else {
            self.note(face.line, "a face without corners: not taken");
            return None;
        };
        let polygon = self.polygon(vertex)?;
        let frame = base.isometry();
        let up = (rotation * frame.rotation * Vector3::z()).z;
        // Of the lower side, in the frame of the face.
        let bottom = match up {
            up if up > 0.5 => -FACE_THICKNESS,
            up if up < -0.5 => 0.0,
            _ => -FACE_THICKNESS / 2.0,
        };
        let (geometry, centre) = match rectangle(&polygon) {
            Some(([x, y], [width, height])) => (
                Geometry::Box { size: [width, height, FACE_THICKNESS] },
                Vector3::new(x, y, bottom + FACE_THICKNESS / 2.0),
            ),
            None => (Geometry::Extrusion { polygon, height: FACE_THICKNESS }, Vector3::new(0.0, 0.0, bottom)),
        };
        let xyz = frame.translation.vector + frame.rotation * centre;
        let placement = Placement { xyz: xyz.into(), rpy: base.rpy };
        let shape = Shape { geometry, mesh_file: None, placement, color: color(face) };
        self.solid(face.line, vec![shape]).pop()
    }

    fn mesh(&mut self, element: &Element) -> Option<Shape> {
        let (mesh, mesh_file) = if let Some(file) = element.attribute("stl_file") {
            let file = file.trim().replace('\\', "/");
            let read = (self.files)(&file).and_then(|bytes| Mesh::parse(&file, &bytes, [1.0; 3]));
            (read.map_err(|reason| format!("{file}: {reason}")), Some(format!("{}{file}", self.mesh_folder)))
        } else {
            (inline_mesh(element), None)
        };
        match mesh {
            Ok(mesh) => {
                let geometry = Geometry::Mesh { mesh: Arc::new(mesh), convex: false };
                let shape =
                    Shape { geometry, mesh_file, placement: Placement::default(), color: color(element) };
                self.solid(element.line, vec![shape]).pop()
            }
            Err(reason) => {
                self.note(element.line, format!("not taken: {reason}"));
                None
            }
        }
    }
}

impl Shape {
    /// The shape in the frame in which its own frame has this placement.
    pub(super) fn moved(mut self, frame: &Placement) -> Self {
        self.placement = if self.placement.rpy == [0.0; 3] {
            // Angles stay as they were written.
            let xyz = frame.isometry() * nalgebra::Point3::from(self.placement.xyz);
            Placement { xyz: xyz.coords.into(), rpy: frame.rpy }
        } else {
            Placement::of(&(frame.isometry() * self.placement.isometry()))
        };
        self
    }
}

/// Centre and size of a polygon that is a rectangle along the axes, and large enough for a box.
fn rectangle(polygon: &[[f64; 2]]) -> Option<([f64; 2], [f64; 2])> {
    let &[a, b, c, d] = polygon else { return None };
    let along = |a: [f64; 2], b: [f64; 2], c: [f64; 2], d: [f64; 2]| {
        a[1] == b[1] && b[0] == c[0] && c[1] == d[1] && d[0] == a[0]
    };
    if !along(a, b, c, d) && !along(b, c, d, a) {
        return None;
    }
    let size = [rounded((c[0] - a[0]).abs()), rounded((c[1] - a[1]).abs())];
    let fits = size.iter().all(|length| (MIN_SIZE..=MAX_SIZE).contains(length));
    fits.then_some(([(a[0] + c[0]) / 2.0, (a[1] + c[1]) / 2.0], size))
}

/// The triangles written in a `<MeshPart>`.
fn inline_mesh(element: &Element) -> Result<Mesh, String> {
    let missing = || "a mesh has a stl_file, or <vertex> and <TMTriangle> with <vertex_face>".to_owned();
    let vertices = element.child("vertex").ok_or_else(missing)?;
    let faces =
        element.child("TMTriangle").and_then(|faces| faces.child("vertex_face")).ok_or_else(missing)?;
    let numbers =
        |part: &Element| triples(&part.text).ok_or_else(|| format!("<{}> is not triples", part.name));
    let vertices: Vec<[f64; 3]> = numbers(vertices)?.into_iter().map(|corner| corner.map(rounded)).collect();
    if vertices.iter().flatten().any(|value| value.abs() > MAX_SIZE) {
        return Err("a corner is too far away".to_owned());
    }
    let index = |value: f64| {
        if (0.0..4e9).contains(&value) {
            Ok(value as u32)
        } else {
            Err(format!("there is no corner {value}"))
        }
    };
    let triangle = |[a, b, c]: [f64; 3]| Ok([index(a)?, index(b)?, index(c)?]);
    let triangles = numbers(faces)?.into_iter().map(triangle).collect::<Result<_, String>>()?;
    Mesh::new(vertices, triangles, [1.0; 3])
}
