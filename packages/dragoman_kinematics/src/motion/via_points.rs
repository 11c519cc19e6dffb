//! Via points: a list of numbered points and the rules for executing a sequence of them.
//!
//! Source: Ranger thesis, `multipoint.cpp`, and the table of the 31-byte protocol: 20 slots; execution runs from index
//! 0 to the first empty slot, on a copy, so that edits do not disturb it; the next point is approached when the present
//! one is within the fine tolerance, or after some cycles within the coarse one; else the sequence is aborted.

use serde::{Deserialize, Serialize};

/// Number of via points that can be stored.
pub const SLOTS: usize = 20;

/// Tolerances of via points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ViaTolerances {
    /// Cartesian: continue at once within this distance, m + rad.
    pub cartesian: f64,
    /// Cartesian: after `cycles`, continue within this distance, m + rad.
    pub cartesian_coarse: f64,
    /// Joint space: continue at once within this distance (Euclidean norm), rad.
    pub joint: f64,
    /// Joint space: after `cycles`, continue within this distance, rad.
    pub joint_coarse: f64,
    /// Cycles to wait at a point for the fine tolerance.
    pub cycles: u32,
}

impl Default for ViaTolerances {
    /// The values of `multipoint.cpp`.
    fn default() -> Self {
        Self { cartesian: 0.002, cartesian_coarse: 0.1, joint: 0.001, joint_coarse: 0.05, cycles: 8 }
    }
}

/// A point and the least duration of the motion towards it, s.
#[derive(Clone, Debug, PartialEq)]
pub struct ViaPoint<P> {
    /// Pose or configuration.
    pub point: P,
    /// Minimum duration of the motion to it, s; 0 = as fast as the limits allow.
    pub min_duration: f64,
}

/// Next action of a sequence whose motion has come to rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// Not near enough yet: wait.
    Wait,
    /// Start the motion to the point of this index.
    Approach(usize),
    /// Every point was visited.
    Finished,
    /// The point of this index was missed by this distance.
    Missed(usize, f64),
}

/// The slots, and the running copy.
#[derive(Clone, Debug)]
pub struct ViaPoints<P> {
    slots: [Option<ViaPoint<P>>; SLOTS],
    /// The copy of the last execution; kept until the next one, so that no cycle frees memory.
    copy: Vec<ViaPoint<P>>,
    /// Number of points of the copy in execution; 0 when no sequence is running.
    length: usize,
    /// Index being approached; `None` before the first.
    current: Option<usize>,
    waited: u32,
}

impl<P> Default for ViaPoints<P> {
    fn default() -> Self {
        Self { slots: std::array::from_fn(|_| None), copy: Vec::new(), length: 0, current: None, waited: 0 }
    }
}

impl<P: Clone> ViaPoints<P> {
    /// Stores a point; `false` when there is no such slot. A running sequence is not affected.
    #[must_use]
    pub fn set(&mut self, index: usize, point: ViaPoint<P>) -> bool {
        let slot = self.slots.get_mut(index);
        slot.map(|slot| *slot = Some(point)).is_some()
    }

    /// Empties every slot. A running sequence is not affected.
    pub fn clear(&mut self) {
        self.slots.fill_with(|| None);
    }

    /// Copies the points up to the first empty slot and starts from the first; `false` without points, or while a
    /// sequence is running.
    #[must_use]
    pub fn execute(&mut self) -> bool {
        if self.is_running() {
            return false;
        }
        self.copy.clear();
        self.copy.extend(self.slots.iter().map_while(Clone::clone));
        self.length = self.copy.len();
        (self.current, self.waited) = (None, 0);
        self.is_running()
    }

    /// Ends a running sequence.
    pub fn halt(&mut self) {
        self.length = 0;
    }

    /// Whether a sequence is running.
    pub fn is_running(&self) -> bool {
        self.length > 0
    }

    /// Index of the point that a running sequence approaches.
    pub fn current(&self) -> Option<usize> {
        self.is_running().then_some(self.current.unwrap_or(0))
    }

    /// Point of the running sequence.
    pub fn running_point(&self, index: usize) -> Option<&ViaPoint<P>> {
        self.copy.get(..self.length)?.get(index)
    }

    /// Decides the next action while no motion is in progress. Call once per cycle of a running sequence, with the
    /// distance of the measured arm from a point and the two tolerances; a finished or missed sequence is ended.
    pub fn progress(
        &mut self,
        distance: impl FnOnce(&P) -> f64,
        fine: f64,
        coarse: f64,
        cycles: u32,
    ) -> Progress {
        let Some(index) = self.current else {
            self.current = Some(0);
            return Progress::Approach(0);
        };
        let Some(point) = self.running_point(index) else {
            return Progress::Finished;
        };
        let distance = distance(&point.point);
        if distance >= fine {
            self.waited += 1;
            if self.waited < cycles {
                return Progress::Wait;
            }
            if distance.is_nan() || distance >= coarse {
                self.halt();
                return Progress::Missed(index, distance);
            }
        }
        self.waited = 0;
        self.current = Some(index + 1);
        if index + 1 < self.length {
            return Progress::Approach(index + 1);
        }
        self.halt();
        Progress::Finished
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(points: &[(usize, f64)]) -> ViaPoints<f64> {
        let mut list = ViaPoints::default();
        for (index, point) in points {
            assert!(list.set(*index, ViaPoint { point: *point, min_duration: 0.0 }));
        }
        list
    }

    fn progress(list: &mut ViaPoints<f64>, distance: f64) -> Progress {
        list.progress(|_| distance, 0.002, 0.1, 8)
    }

    #[test]
    fn runs_to_the_first_gap() {
        let mut list = list(&[(0, 1.0), (1, 2.0), (3, 4.0)]);
        assert!(list.execute());
        assert_eq!(progress(&mut list, 9.0), Progress::Approach(0));
        assert_eq!(progress(&mut list, 0.001), Progress::Approach(1));
        assert_eq!(list.current(), Some(1));
        assert_eq!(progress(&mut list, 0.001), Progress::Finished);
        assert!(!list.is_running());
    }

    #[test]
    fn waits_then_accepts_the_coarse_tolerance_or_aborts() {
        let mut list = list(&[(0, 1.0), (1, 2.0)]);
        assert!(list.execute());
        progress(&mut list, 0.0);
        for _ in 0..7 {
            assert_eq!(progress(&mut list, 0.05), Progress::Wait);
        }
        assert_eq!(progress(&mut list, 0.05), Progress::Approach(1));
        for _ in 0..7 {
            assert_eq!(progress(&mut list, 0.1), Progress::Wait);
        }
        assert_eq!(progress(&mut list, 0.1), Progress::Missed(1, 0.1));
        assert!(!list.is_running());
    }

    #[test]
    fn a_running_sequence_is_a_copy() {
        let mut list = list(&[(0, 1.0), (1, 2.0)]);
        assert!(list.execute() && !list.execute());
        list.clear();
        assert_eq!(list.running_point(1).map(|via| via.point), Some(2.0));
        list.halt();
        assert!(!list.execute(), "the slots are empty");
    }

    #[test]
    fn twenty_slots() {
        let mut list = ViaPoints::default();
        for index in 0..SLOTS {
            assert!(list.set(index, ViaPoint { point: 0.0, min_duration: 0.0 }));
        }
        assert!(!list.set(SLOTS, ViaPoint { point: 0.0, min_duration: 0.0 }));
        assert!(!list.set(usize::MAX, ViaPoint { point: 0.0, min_duration: 0.0 }));
        assert!(list.execute());
        assert_eq!(list.length, SLOTS);
    }
}
