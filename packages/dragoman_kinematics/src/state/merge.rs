//! The joints of several sources as one state.

use std::time::Duration;

/// Joint readings of a source: of each kind one value per name, or none at all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointReadings<'a> {
    /// Time of measurement, since 1970.
    pub stamp: Duration,
    /// Names of the joints.
    pub names: &'a [String],
    /// Positions, rad or m.
    pub positions: &'a [f64],
    /// Velocities, rad/s or m/s.
    pub velocities: &'a [f64],
    /// Efforts, N m or N.
    pub efforts: &'a [f64],
}

/// All joints published at present, in the order of their sources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Merged {
    /// Time stamp of the newest source, since 1970.
    pub stamp: Duration,
    /// Names of the joints.
    pub names: Vec<String>,
    /// Positions, rad or m.
    pub positions: Vec<f64>,
    /// Velocities, rad/s or m/s; NaN for joints whose source omits them. Empty if all sources do.
    pub velocities: Vec<f64>,
    /// Efforts, N m or N; NaN for joints whose source omits them. Empty if all sources do.
    pub efforts: Vec<f64>,
}

/// Error in the readings of a source.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum MergeError {
    /// The number of values is not the number of names.
    #[error("{got} values of {field} for {joints} joints")]
    Length {
        /// Name of the list.
        field: &'static str,
        /// Names given.
        joints: usize,
        /// Values given.
        got: usize,
    },
    /// A position is NaN or infinite.
    #[error("the position of {joint} is {value}")]
    NotFinite {
        /// Name of the joint.
        joint: String,
        value: f64,
    },
    /// Another source already publishes this joint.
    #[error("{joint} has two sources")]
    Twice {
        /// Name of the joint.
        joint: String,
    },
}

/// Merges the joints of several sources. Times are since an arbitrary epoch.
///
/// A state is due as soon as all active sources have sent new readings; if that takes longer than the period,
/// [`Merge::poll_state`] returns the available ones. So a state is as new as possible, and never waits for a lost source.
#[derive(Debug, Clone)]
pub struct Merge {
    sources: Vec<Source>,
    period: Duration,
    timeout: Duration,
    /// Time of the last state.
    last: Option<Duration>,
}

#[derive(Debug, Clone, Default)]
struct Source {
    received: Option<Duration>,
    is_new: bool,
    readings: Merged,
}

impl Merge {
    /// For this number of sources. A source that is silent for longer than `timeout` is left out.
    pub fn new(sources: usize, period: Duration, timeout: Duration) -> Self {
        Self { sources: vec![Source::default(); sources], period, timeout, last: None }
    }

    /// Takes the readings of a source; returns the state, if it is due now.
    ///
    /// # Errors
    /// Invalid readings, or a joint of another source; they change nothing.
    pub fn handle_readings(
        &mut self,
        now: Duration,
        source: usize,
        readings: JointReadings<'_>,
    ) -> Result<Option<Merged>, MergeError> {
        let JointReadings { stamp, names, positions, velocities, efforts } = readings;
        check(&readings)?;
        let others =
            self.sources.iter().enumerate().filter(|(at, other)| *at != source && self.is_active(now, other));
        for (_, other) in others {
            if let Some(joint) = names.iter().find(|name| other.readings.names.contains(name)) {
                return Err(MergeError::Twice { joint: joint.clone() });
            }
        }
        if let Some(entry) = self.sources.get_mut(source) {
            (entry.received, entry.is_new) = (Some(now), true);
            entry.readings = Merged {
                stamp,
                names: names.to_vec(),
                positions: positions.to_vec(),
                velocities: velocities.to_vec(),
                efforts: efforts.to_vec(),
            };
        }
        let all_new = self.sources.iter().all(|source| source.is_new || !self.is_active(now, source));
        Ok(all_new.then(|| self.state(now)))
    }

    /// The state, if it contains new readings and a period has passed since the last.
    pub fn poll_state(&mut self, now: Duration) -> Option<Merged> {
        let is_due = self.last.is_none_or(|last| now.saturating_sub(last) >= self.period);
        let is_new = self.sources.iter().any(|source| source.is_new);
        (is_due && is_new).then(|| self.state(now))
    }

    /// For each source whether it is active.
    pub fn active(&self, now: Duration) -> impl Iterator<Item = bool> {
        self.sources.iter().map(move |source| self.is_active(now, source))
    }

    fn is_active(&self, now: Duration, source: &Source) -> bool {
        source.received.is_some_and(|received| now.saturating_sub(received) <= self.timeout)
    }

    fn state(&mut self, now: Duration) -> Merged {
        self.last = Some(now);
        let mut state = Merged::default();
        let active: Vec<bool> = self.active(now).collect();
        let active_readings = || {
            self.sources
                .iter()
                .zip(&active)
                .filter(|(_, active)| **active)
                .map(|(source, _)| &source.readings)
        };
        let has_velocities = active_readings().any(|readings| !readings.velocities.is_empty());
        let has_efforts = active_readings().any(|readings| !readings.efforts.is_empty());
        for readings in active_readings() {
            state.stamp = state.stamp.max(readings.stamp);
            state.names.extend_from_slice(&readings.names);
            state.positions.extend_from_slice(&readings.positions);
            let unknown = || std::iter::repeat_n(f64::NAN, readings.names.len());
            for (wanted, values, all) in [
                (has_velocities, &readings.velocities, &mut state.velocities),
                (has_efforts, &readings.efforts, &mut state.efforts),
            ] {
                match (wanted, values.is_empty()) {
                    (false, _) => {}
                    (true, true) => all.extend(unknown()),
                    (true, false) => all.extend_from_slice(values),
                }
            }
        }
        self.sources.iter_mut().for_each(|source| source.is_new = false);
        state
    }
}

fn check(readings: &JointReadings<'_>) -> Result<(), MergeError> {
    let joints = readings.names.len();
    if readings.positions.len() != joints {
        return Err(MergeError::Length { field: "position", joints, got: readings.positions.len() });
    }
    for (field, values) in [("velocity", readings.velocities), ("effort", readings.efforts)] {
        if !values.is_empty() && values.len() != joints {
            return Err(MergeError::Length { field, joints, got: values.len() });
        }
    }
    for (index, (name, &value)) in readings.names.iter().zip(readings.positions).enumerate() {
        if !value.is_finite() {
            return Err(MergeError::NotFinite { joint: name.clone(), value });
        }
        if readings.names.iter().take(index).any(|other| other == name) {
            return Err(MergeError::Twice { joint: name.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    struct Fixture {
        merge: Merge,
        wheels: Vec<String>,
        arm: Vec<String>,
    }

    impl Fixture {
        fn new() -> Self {
            let merge = Merge::new(2, ms(40), ms(1000));
            Self { merge, wheels: names(&["left", "right"]), arm: names(&["arm_1"]) }
        }

        fn wheels(&mut self, at: u64) -> Option<Merged> {
            let readings = JointReadings {
                stamp: ms(at),
                names: &self.wheels,
                positions: &[1.0, 2.0],
                velocities: &[0.1, 0.2],
                efforts: &[],
            };
            self.merge.handle_readings(ms(at), 0, readings).unwrap()
        }

        fn arm(&mut self, at: u64) -> Option<Merged> {
            let readings = JointReadings {
                stamp: ms(at),
                names: &self.arm,
                positions: &[3.0],
                velocities: &[],
                efforts: &[],
            };
            self.merge.handle_readings(ms(at), 1, readings).unwrap()
        }
    }

    #[test]
    fn the_joints_of_all_sources_are_one_state_in_their_order() {
        let mut fixture = Fixture::new();
        assert_eq!(fixture.arm(0).unwrap().names, ["arm_1"], "only the active source");
        assert_eq!(fixture.wheels(5), None, "the arm has sent nothing new");
        let state = fixture.arm(20).unwrap();
        assert_eq!(state.names, ["left", "right", "arm_1"]);
        assert_eq!((state.stamp, state.positions), (ms(20), vec![1.0, 2.0, 3.0]));
        assert_eq!(state.velocities[..2], [0.1, 0.2]);
        assert!(state.velocities[2].is_nan() && state.efforts.is_empty());
        assert_eq!(fixture.wheels(25), None);
        assert_eq!(fixture.arm(40).unwrap().names.len(), 3);
    }

    #[test]
    fn a_silent_source_delays_states_by_a_period_and_is_then_left_out() {
        let mut fixture = Fixture::new();
        fixture.arm(0);
        fixture.wheels(1);
        assert!(fixture.arm(2).is_some());
        assert_eq!(fixture.arm(30), None);
        assert_eq!(fixture.merge.poll_state(ms(41)), None);
        let state = fixture.merge.poll_state(ms(42)).unwrap();
        assert_eq!((state.names.len(), state.stamp), (3, ms(30)), "a wheel is where it was");
        assert_eq!(fixture.merge.poll_state(ms(900)), None, "nothing new");
        assert_eq!(fixture.arm(1002).unwrap().names, ["arm_1"], "no wheels for more than a second");
        assert_eq!(fixture.merge.active(ms(1002)).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn invalid_readings_are_refused_and_change_nothing() {
        let mut fixture = Fixture::new();
        let before = fixture.wheels(0).unwrap();
        let readings = |names, positions, velocities| JointReadings {
            stamp: ms(1),
            names,
            positions,
            velocities,
            efforts: &[],
        };
        let (arm, wheels) = (names(&["arm_1"]), names(&["left"]));
        let twins = names(&["a", "a"]);
        for (refused, reason) in [
            (readings(&arm, &[], &[]), "0 values of position for 1 joints"),
            (readings(&arm, &[1.0], &[1.0, 2.0]), "2 values of velocity for 1 joints"),
            (readings(&arm, &[f64::NAN], &[]), "the position of arm_1 is NaN"),
            (readings(&wheels, &[1.0], &[]), "left has two sources"),
            (readings(&twins, &[1.0, 1.0], &[]), "a has two sources"),
        ] {
            assert_eq!(fixture.merge.handle_readings(ms(1), 1, refused).unwrap_err().to_string(), reason);
        }
        assert_eq!(fixture.wheels(0).unwrap(), before);
    }
}
