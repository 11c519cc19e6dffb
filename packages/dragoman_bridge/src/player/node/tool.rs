//! Vectors of a `limb`: the approach vector is the z axis of the tool, the orientation vector its y axis.

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

use crate::player::wire::common::Point3d;

/// Maximum cosine between perpendicular vectors, and minimum length of a vector.
const SQUARE: f64 = 0.1;

/// The approach vector of a tool with this rotation.
pub(super) fn approach(rotation: &UnitQuaternion<f64>) -> Point3d {
    point(&(rotation * Vector3::z()))
}

/// The orientation vector of a tool with this rotation.
pub(super) fn orientation(rotation: &UnitQuaternion<f64>) -> Point3d {
    point(&(rotation * Vector3::y()))
}

/// A vector in Player's form.
pub(super) fn point(vector: &Vector3<f64>) -> Point3d {
    Point3d { x: vector.x, y: vector.y, z: vector.z }
}

/// Converts a vector from Player's form.
///
/// # Errors
/// A value is not finite.
pub(super) fn vector(point: &Point3d) -> Result<Vector3<f64>, String> {
    let vector = Vector3::new(point.x, point.y, point.z);
    if vector.iter().all(|value| value.is_finite()) {
        Ok(vector)
    } else {
        Err("a value is not finite".to_owned())
    }
}

/// The rotation of a tool with these vectors.
///
/// # Errors
/// They are too short, not perpendicular, or not finite.
pub(super) fn rotation(approach: &Point3d, orientation: &Point3d) -> Result<UnitQuaternion<f64>, String> {
    let unit =
        |given: &Point3d| vector(given)?.try_normalize(SQUARE).ok_or("a vector is too short".to_owned());
    let (z, y) = (unit(approach)?, unit(orientation)?);
    if z.dot(&y).abs() > SQUARE {
        return Err("approach and orientation are not perpendicular".to_owned());
    }
    let x = y.cross(&z).normalize();
    let matrix = Matrix3::from_columns(&[x, z.cross(&x), z]);
    Ok(UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_and_rotations_belong_to_each_other() {
        let there = UnitQuaternion::from_euler_angles(0.3, -0.7, 2.1);
        let (approach, orientation) = (approach(&there), orientation(&there));
        assert!(rotation(&approach, &orientation).unwrap().angle_to(&there) < 1e-9);
        assert!(rotation(&approach, &approach).is_err());
        assert!(rotation(&Point3d::default(), &orientation).is_err());
        assert!(rotation(&Point3d { x: f64::NAN, ..Point3d::default() }, &orientation).is_err());
    }
}
