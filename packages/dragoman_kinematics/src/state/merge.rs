//! The joints of several sources as one state.

use std::time::Duration;

/// What a source tells: one value per name, or none at all of a kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointReadings<'a> {
    /// When it was measured, since 1970.
    pub stamp: Duration,
    /// Of the joints.
    pub names: &'a [String],
    /// rad or m.
    pub positions: &'a [f64],
    /// rad/s or m/s.
    pub velocities: &'a [f64],
    /// N m or N.
    pub efforts: &'a [f64],
}

/// All joints that are told at present, in the order of their sources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Merged {
    /// That of the newest source, since 1970.
    pub stamp: Duration,
    /// Of the joints.
    pub names: Vec<String>,
    /// rad or m.
    pub positions: Vec<f64>,
    /// rad/s or m/s; NaN where only others tell one. Empty where nobody does.
    pub velocities: Vec<f64>,
    /// N m or N; NaN where only others tell one. Empty where nobody does.
    pub efforts: Vec<f64>,
}

/// Readings that are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// Not one value per name.
    #[error("{got} values of {field} for {joints} joints")]
    Length {
        /// Which list.
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
        /// Its value.
        value: f64,
    },
    /// Another source tells of this joint already.
    #[error("{joint} is told twice")]
    Twice {
        /// Name of the joint.
        joint: String,
    },
}

/// Joins the joints of several sources. Times are since an arbitrary epoch.
///
/// A state is due as soon as all sources that are heard have told something new, and [`Merge::poll`] gives what there is
/// when that takes longer than the period. So a state is as new as it can be, and nobody waits for a source that has gone.
#[derive(Debug, Clone)]
pub struct Merge {
    sources: Vec<Source>,
    period: Duration,
    timeout: Duration,
    /// When there was a state the last time.
    last: Option<Duration>,
}

#[derive(Debug, Clone, Default)]
struct Source {
    heard: Option<Duration>,
    is_new: bool,
    readings: Merged,
}

impl Merge {
    /// Of so many sources. A source that is silent for longer than `timeout` is left out.
    pub fn new(sources: usize, period: Duration, timeout: Duration) -> Self {
        Self { sources: vec![Source::default(); sources], period, timeout, last: None }
    }

    /// Takes what a source tells; the state, if it is due now.
    ///
    /// # Errors
    /// Readings that make no sense, or of a joint that is another source's; they change nothing.
    pub fn receive(
        &mut self,
        now: Duration,
        source: usize,
        readings: JointReadings<'_>,
    ) -> Result<Option<Merged>, MergeError> {
        let JointReadings { stamp, names, positions, velocities, efforts } = readings;
        check(&readings)?;
        let others =
            self.sources.iter().enumerate().filter(|(at, other)| *at != source && self.is_heard(now, other));
        for (_, other) in others {
            if let Some(joint) = names.iter().find(|name| other.readings.names.contains(name)) {
                return Err(MergeError::Twice { joint: joint.clone() });
            }
        }
        if let Some(told) = self.sources.get_mut(source) {
            (told.heard, told.is_new) = (Some(now), true);
            told.readings = Merged {
                stamp,
                names: names.to_vec(),
                positions: positions.to_vec(),
                velocities: velocities.to_vec(),
                efforts: efforts.to_vec(),
            };
        }
        let all_new = self.sources.iter().all(|told| told.is_new || !self.is_heard(now, told));
        Ok(all_new.then(|| self.state(now)))
    }

    /// The state, if there is something new in it and a period has passed since the last.
    pub fn poll(&mut self, now: Duration) -> Option<Merged> {
        let is_due = self.last.is_none_or(|last| now.saturating_sub(last) >= self.period);
        let is_new = self.sources.iter().any(|told| told.is_new);
        (is_due && is_new).then(|| self.state(now))
    }

    /// For each source whether it is heard.
    pub fn heard(&self, now: Duration) -> impl Iterator<Item = bool> {
        self.sources.iter().map(move |source| self.is_heard(now, source))
    }

    fn is_heard(&self, now: Duration, source: &Source) -> bool {
        source.heard.is_some_and(|heard| now.saturating_sub(heard) <= self.timeout)
    }

    fn state(&mut self, now: Duration) -> Merged {
        self.last = Some(now);
        let mut state = Merged::default();
        let heard: Vec<bool> = self.heard(now).collect();
        let told = || {
            self.sources.iter().zip(&heard).filter(|(_, heard)| **heard).map(|(source, _)| &source.readings)
        };
        let has_velocities = told().any(|readings| !readings.velocities.is_empty());
        let has_efforts = told().any(|readings| !readings.efforts.is_empty());
        for readings in told() {
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

    struct Bench {
        merge: Merge,
        wheels: Vec<String>,
        arm: Vec<String>,
    }

    impl Bench {
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
            self.merge.receive(ms(at), 0, readings).unwrap()
        }

        fn arm(&mut self, at: u64) -> Option<Merged> {
            let readings = JointReadings {
                stamp: ms(at),
                names: &self.arm,
                positions: &[3.0],
                velocities: &[],
                efforts: &[],
            };
            self.merge.receive(ms(at), 1, readings).unwrap()
        }
    }

    #[test]
    fn the_joints_of_all_sources_are_one_state_in_their_order() {
        let mut bench = Bench::new();
        assert_eq!(bench.arm(0).unwrap().names, ["arm_1"], "nobody else is heard");
        assert_eq!(bench.wheels(5), None, "the arm has told nothing new");
        let state = bench.arm(20).unwrap();
        assert_eq!(state.names, ["left", "right", "arm_1"]);
        assert_eq!((state.stamp, state.positions), (ms(20), vec![1.0, 2.0, 3.0]));
        assert_eq!(state.velocities[..2], [0.1, 0.2]);
        assert!(state.velocities[2].is_nan() && state.efforts.is_empty());
        assert_eq!(bench.wheels(25), None);
        assert_eq!(bench.arm(40).unwrap().names.len(), 3);
    }

    #[test]
    fn a_source_that_has_gone_is_waited_for_for_a_period_and_then_left_out() {
        let mut bench = Bench::new();
        bench.arm(0);
        bench.wheels(1);
        assert!(bench.arm(2).is_some());
        assert_eq!(bench.arm(30), None);
        assert_eq!(bench.merge.poll(ms(41)), None);
        let state = bench.merge.poll(ms(42)).unwrap();
        assert_eq!((state.names.len(), state.stamp), (3, ms(30)), "a wheel is where it was");
        assert_eq!(bench.merge.poll(ms(900)), None, "nothing new");
        assert_eq!(bench.arm(1002).unwrap().names, ["arm_1"], "no wheels for more than a second");
        assert_eq!(bench.merge.heard(ms(1002)).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn what_makes_no_sense_is_refused_and_changes_nothing() {
        let mut bench = Bench::new();
        let before = bench.wheels(0).unwrap();
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
            (readings(&wheels, &[1.0], &[]), "left is told twice"),
            (readings(&twins, &[1.0, 1.0], &[]), "a is told twice"),
        ] {
            assert_eq!(bench.merge.receive(ms(1), 1, refused).unwrap_err().to_string(), reason);
        }
        assert_eq!(bench.wheels(0).unwrap(), before);
    }
}
