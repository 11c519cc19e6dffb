//! Roll, pitch, yaw to quaternion and back.
//!
//! Roll, pitch and yaw turn about the fixed axes X, then Y, then Z: `R = Rz(yaw) Ry(pitch) Rx(roll)`. Ranger thesis,
//! appendix A, entry `GT`, and the listing, which uses KDL's convention of the same name.

/// Unit quaternion x, y, z, w of roll, pitch, yaw in radians.
pub fn quaternion_from_rpy([roll, pitch, yaw]: [f64; 3]) -> [f64; 4] {
    let (sr, cr) = (roll / 2.0).sin_cos();
    let (sp, cp) = (pitch / 2.0).sin_cos();
    let (sy, cy) = (yaw / 2.0).sin_cos();
    [
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    ]
}

/// Roll, pitch, yaw in radians of a unit quaternion x, y, z, w; pitch in [-pi/2, pi/2], the others in [-pi, pi].
///
/// With half angles r, p, y the products above give `w + y = (cp + sp) cos(r - y)`, `x - z = (cp + sp) sin(r - y)`,
/// `w - y = (cp - sp) cos(r + y)`, `x + z = (cp - sp) sin(r + y)`. That stays accurate at pitch +-90 degrees, where
/// the usual formulas through the matrix divide by nearly zero.
pub fn rpy_from_quaternion([x, y, z, w]: [f64; 4]) -> [f64; 3] {
    let (plus, minus) = ((w + y).hypot(x - z), (w - y).hypot(x + z));
    let difference = (x - z).atan2(w + y);
    let sum = (x + z).atan2(w - y);
    let wrap = |angle: f64| angle.sin().atan2(angle.cos());
    [wrap(sum + difference), std::f64::consts::FRAC_PI_2 - 2.0 * minus.atan2(plus), wrap(sum - difference)]
}

/// `quaternion` divided by its length; `None` if the length is zero or not finite.
pub fn normalized(quaternion: [f64; 4]) -> Option<[f64; 4]> {
    let length = quaternion.iter().map(|component| component * component).sum::<f64>().sqrt();
    (length > 0.0 && length.is_finite()).then(|| quaternion.map(|component| component / length))
}

/// Returns `q` or `-q`, the same rotation, such that w >= 0.
pub fn with_positive_w(quaternion: [f64; 4]) -> [f64; 4] {
    let [.., w] = quaternion;
    if w < 0.0 { quaternion.map(|component| -component) } else { quaternion }
}

/// Angle in radians, 0 to pi, of the rotation between two unit quaternions; independent of their signs.
pub fn angle_between(one: [f64; 4], two: [f64; 4]) -> f64 {
    let chord = |sign: f64| one.iter().zip(two).map(|(a, b)| (a - sign * b).powi(2)).sum::<f64>().sqrt();
    4.0 * (chord(1.0).min(chord(-1.0)) / 2.0).min(1.0).asin()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI};

    use super::*;

    fn close(a: [f64; 4], b: [f64; 4]) -> bool {
        let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
        dot.abs() > 1.0 - 1e-12
    }

    #[test]
    fn the_angle_between_two_rotations_ignores_their_signs() {
        let turned = quaternion_from_rpy([0.3, 0.0, 0.0]);
        for angle in [1e-9, 1e-3, 1.0, PI] {
            let other = quaternion_from_rpy([0.3 + angle, 0.0, 0.0]);
            for other in [other, other.map(|component| -component)] {
                assert!(
                    (angle_between(turned, other) - angle).abs() < 1e-12 * (1.0 + 1e5 * angle),
                    "{angle}"
                );
            }
        }
    }

    #[test]
    fn single_axes() {
        assert!(close(quaternion_from_rpy([FRAC_PI_2, 0.0, 0.0]), [FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2]));
        assert!(close(quaternion_from_rpy([0.0, FRAC_PI_2, 0.0]), [0.0, FRAC_1_SQRT_2, 0.0, FRAC_1_SQRT_2]));
        assert!(close(quaternion_from_rpy([0.0, 0.0, FRAC_PI_2]), [0.0, 0.0, FRAC_1_SQRT_2, FRAC_1_SQRT_2]));
    }

    /// Roll is first, about fixed X: y goes to z; yaw about fixed Z does not change z. So y ends on z.
    #[test]
    fn axes_are_fixed_and_roll_comes_first() {
        let [x, y, z, w] = quaternion_from_rpy([FRAC_PI_2, 0.0, FRAC_PI_2]);
        let y_axis = [2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)];
        assert!(y_axis.iter().zip([0.0, 0.0, 1.0]).all(|(a, b): (&f64, f64)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn back_and_forth_over_a_grid_with_the_singular_pitches() {
        for roll in -6..=6 {
            for pitch in -3..=3 {
                for yaw in -6..=6 {
                    let rpy = [roll, pitch, yaw].map(|step| f64::from(step) * PI / 6.0);
                    let quaternion = quaternion_from_rpy(rpy);
                    let back = rpy_from_quaternion(quaternion);
                    assert!(close(quaternion_from_rpy(back), quaternion), "{rpy:?} {back:?}");
                    assert!(back[1].abs() <= FRAC_PI_2 + 1e-12);
                }
            }
        }
    }

    #[test]
    fn zero_and_unbounded_quaternions_have_no_direction() {
        assert_eq!(normalized([0.0; 4]), None);
        assert_eq!(normalized([f64::NAN, 0.0, 0.0, 1.0]), None);
        assert_eq!(normalized([f64::INFINITY, 0.0, 0.0, 1.0]), None);
        assert_eq!(normalized([0.0, 0.0, 0.0, -2.0]), Some([0.0, 0.0, 0.0, -1.0]));
        assert!(normalized([f64::from(f32::MAX); 4]).is_some());
        assert!(normalized([1e-45, 0.0, 0.0, 0.0]).is_some());
        assert_eq!(with_positive_w([0.0, 1.0, 0.0, -0.5]), [-0.0, -1.0, -0.0, 0.5]);
    }
}
