//! Numbers, poses and colours of elements.

use nalgebra::{Isometry3, Matrix3, Rotation3};

use super::importer::Importer;
use crate::geometry::pose;
use crate::limits::{MAX_ANGLE, MAX_SIZE};
use dragoman_urdf::xml::Element;

/// Position, m, and roll, pitch, yaw, rad, of an element in the frame of its parent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Placement {
    pub(super) xyz: [f64; 3],
    pub(super) rpy: [f64; 3],
}

impl Placement {
    pub(super) fn isometry(&self) -> Isometry3<f64> {
        pose(self.xyz, self.rpy)
    }

    pub(super) fn of(pose: &Isometry3<f64>) -> Self {
        let (roll, pitch, yaw) = pose.rotation.euler_angles();
        Self { xyz: pose.translation.vector.into(), rpy: [roll, pitch, yaw] }
    }

    /// Whether a world file takes it.
    pub(super) fn is_in_range(&self) -> bool {
        self.xyz.iter().all(|value| value.abs() <= MAX_SIZE)
            && self.rpy.iter().all(|value| value.abs() <= MAX_ANGLE)
    }
}

/// All `{a, b, c}` of a text; `None` if there is something else in it.
pub(super) fn triples(text: &str) -> Option<Vec<[f64; 3]>> {
    let mut triples = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (inside, after) = rest.strip_prefix('{')?.split_once('}')?;
        let mut numbers = inside.split(',').map(|number| number.trim().parse::<f64>().ok());
        let triple = [numbers.next()??, numbers.next()??, numbers.next()??];
        if numbers.next().is_some() || triple.iter().any(|value| !value.is_finite()) {
            return None;
        }
        triples.push(triple);
        rest = after.trim_start();
    }
    Some(triples)
}

/// A number of an attribute; `None` if it is missing or not a finite number.
pub(super) fn number(element: &Element, name: &str) -> Option<f64> {
    element.attribute(name)?.trim().parse().ok().filter(|value: &f64| value.is_finite())
}

impl Importer<'_> {
    /// The number of an attribute within a range, or a default.
    pub(super) fn number_within(
        &mut self,
        element: &Element,
        name: &str,
        usual: f64,
        [least, most]: [f64; 2],
    ) -> f64 {
        let Some(given) = element.attribute(name) else { return usual };
        match number(element, name) {
            Some(value) if (least..=most).contains(&value) => value,
            _ => {
                let text =
                    format!("{name}={given:?} is not a number from {least} to {most}: {usual} instead");
                self.note(element.line, text);
                usual
            }
        }
    }

    /// Position and orientation; what is wrong counts as zero, as in Apolo, with a note. `None` if it is too far away.
    pub(super) fn placement(&mut self, element: &Element) -> Option<Placement> {
        let mut placement = Placement::default();
        if let Some(position) = element.child("position") {
            match triples(&position.text).as_deref() {
                Some([xyz]) => placement.xyz = *xyz,
                _ => self.note(position.line, "the position is not {x, y, z}: the origin instead"),
            }
        }
        if let Some(orientation) = element.child("orientation") {
            match triples(&orientation.text).as_deref() {
                Some([rpy]) => placement.rpy = *rpy,
                Some([x, y, z]) => placement.rpy = from_rows([*x, *y, *z]),
                _ => {
                    let text =
                        "the orientation is neither {roll, pitch, yaw} nor three rows of a matrix: none";
                    self.note(orientation.line, text);
                }
            }
        }
        if placement.is_in_range() {
            return Some(placement);
        }
        self.note(element.line, format!("<{}> is too far away: not taken", element.name));
        None
    }
}

/// The colour of an element, where it has one.
pub(super) fn color(element: &Element) -> Option<[f64; 4]> {
    let color = element.child("colour")?;
    let share = |name: &str| number(color, name).unwrap_or(1.0).clamp(0.0, 1.0);
    Some([share("r"), share("g"), share("b"), 1.0])
}

/// Roll, pitch, yaw of a matrix; rows that are not a rotation are replaced by the nearest one.
fn from_rows(rows: [[f64; 3]; 3]) -> [f64; 3] {
    let [x, y, z] = rows.map(nalgebra::RowVector3::from);
    let matrix = Matrix3::from_rows(&[x, y, z]);
    // A fixed number of steps, so that any numbers end.
    let rotation = Rotation3::from_matrix_eps(&matrix, 1e-12, 100, Rotation3::identity());
    let (roll, pitch, yaw) = rotation.euler_angles();
    let rpy = [roll, pitch, yaw];
    if rpy.iter().all(|value| value.is_finite()) { rpy } else { [0.0; 3] }
}
