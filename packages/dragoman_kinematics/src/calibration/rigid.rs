//! The rigid motion that brings one set of points nearest to another: Kabsch's method with Umeyama's scale (Umeyama:
//! *Least-squares estimation of transformation parameters between two point patterns*, 1991).

use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};

/// An alignment of points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alignment {
    /// Pose of the frame of `from` in the frame of `to`.
    pub pose: Isometry3<f64>,
    /// Factor by which `from` would have to be stretched to fit best; 1 where both have the same unit.
    pub scale: f64,
    /// Whether a mirrored frame fits better: an axis is reversed, or two are exchanged.
    pub is_mirrored: bool,
}

/// Aligns `from` with `to`, pair by pair. `None` for fewer than three pairs, or if the points lie on a line.
pub fn align(pairs: &[(Point3<f64>, Point3<f64>)]) -> Option<Alignment> {
    let (alignment, [first, second, _]) = align_any(pairs)?;
    let is_a_line = second.is_nan() || second <= 1e-9 * first;
    (pairs.len() >= 3 && !is_a_line).then_some(alignment)
}

/// As [`align`], also for points on a line, about which the rotation is then arbitrary. Also returns the singular
/// values of the covariance, the largest first.
pub(crate) fn align_any(pairs: &[(Point3<f64>, Point3<f64>)]) -> Option<(Alignment, [f64; 3])> {
    let count = pairs.len() as f64;
    let sum = pairs.iter().fold((Vector3::zeros(), Vector3::zeros()), |(from, to), pair| {
        (from + pair.0.coords, to + pair.1.coords)
    });
    let (from_mean, to_mean) = (sum.0 / count, sum.1 / count);
    let mut covariance = Matrix3::zeros();
    let mut variance = 0.0;
    for (from, to) in pairs {
        let (from, to) = (from.coords - from_mean, to.coords - to_mean);
        covariance += to * from.transpose() / count;
        variance += from.norm_squared() / count;
    }
    let svd = covariance.svd(true, true);
    let (u, v_t) = (svd.u?, svd.v_t?);
    let mut order = [0, 1, 2];
    order.sort_by(|a, b| svd.singular_values[*b].total_cmp(&svd.singular_values[*a]));
    let singular = order.map(|index| svd.singular_values[index]);
    let mut signs = Vector3::repeat(1.0);
    let is_reflection = u.determinant() * v_t.determinant() < 0.0;
    if is_reflection {
        signs[order[2]] = -1.0;
    }
    let rotation = u * Matrix3::from_diagonal(&signs) * v_t;
    let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(rotation));
    let last = if is_reflection { -singular[2] } else { singular[2] };
    let translation = Translation3::from(to_mean - rotation * from_mean);
    let alignment = Alignment {
        pose: Isometry3::from_parts(translation, rotation),
        scale: (singular[0] + singular[1] + last) / variance,
        // Points in a plane are the mirror image of themselves, and show nothing.
        is_mirrored: is_reflection && singular[2] > 0.05 * singular[0],
    };
    Some((alignment, singular))
}
