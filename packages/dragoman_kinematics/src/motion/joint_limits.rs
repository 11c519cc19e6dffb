//! Joint limits: positions are replaced by the limit and the motion continues.
//! Source: Ranger thesis, 3.5.2 and `jointlimiter.cpp`.

/// Range and maximum rate of one joint: rad and rad/s, or m and m/s for a prismatic joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointRange {
    /// Lower limit; may be minus infinity.
    pub lower: f64,
    /// Upper limit; may be infinity.
    pub upper: f64,
    /// Maximum speed, positive.
    pub max_rate: f64,
}

impl JointRange {
    /// Whether `position` is within the range, with a tolerance of 1e-9 for rounding.
    pub fn contains(&self, position: f64) -> bool {
        position >= self.lower - 1e-9 && position <= self.upper + 1e-9
    }

    /// Range for a joint at `position`: if that is outside, the range is widened just enough to include it, so that
    /// nothing moves by itself and the joint can only be driven back.
    #[must_use]
    pub fn including(mut self, position: f64) -> Self {
        self.lower = self.lower.min(position);
        self.upper = self.upper.max(position);
        self
    }
}

/// A limit that took effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitHit {
    /// Index of the joint, from the base.
    pub joint: usize,
    /// Requested position, rad or m.
    pub requested: f64,
    /// Value that replaced it.
    pub limited: f64,
}

/// Clamps `positions` into `ranges` and returns the first joint that had to be clamped.
///
/// Both slices have one entry per joint; surplus entries of the longer one are ignored.
pub fn clamp_positions(ranges: &[JointRange], positions: &mut [f64]) -> Option<LimitHit> {
    let mut first = None;
    for (joint, (range, position)) in ranges.iter().zip(positions).enumerate() {
        let limited = position.clamp(range.lower, range.upper);
        if !range.contains(*position) && first.is_none() {
            first = Some(LimitHit { joint, requested: *position, limited });
        }
        *position = limited;
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGES: [JointRange; 2] = [
        JointRange { lower: -1.0, upper: 2.0, max_rate: 0.2 },
        JointRange { lower: 0.785, upper: 3.926, max_rate: 0.2 },
    ];

    #[test]
    fn positions_are_clamped_and_the_first_one_reported() {
        let mut q = [2.5, 0.0];
        let hit = clamp_positions(&RANGES, &mut q);
        assert_eq!(hit, Some(LimitHit { joint: 0, requested: 2.5, limited: 2.0 }));
        assert_eq!(q, [2.0, 0.785]);
        assert_eq!(clamp_positions(&RANGES, &mut q), None);
    }

    #[test]
    fn a_joint_found_outside_may_stay_but_not_go_further() {
        let mut q = [2.5, 1.0];
        let ranges = [RANGES[0].including(2.4), RANGES[1]];
        clamp_positions(&ranges, &mut q);
        assert_eq!(q, [2.4, 1.0]);
    }
}
