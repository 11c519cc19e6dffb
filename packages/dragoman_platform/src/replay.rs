//! Recorded motions and their replay: the post-processing events of the PlatformCtrl guide (`CMD_SET_EVENT`) and motion
//! mode 6.
//!
//! A recording is a text with one line per sample: `time,x,y,heading,linear,angular`, in s, m, rad, m/s and rad/s; the
//! pose is in the map, the velocities are measured. A platform that moves sideways has a seventh column, `lateral`. The
//! first line may contain the column names.

use std::fmt;
use std::time::Duration;

use dragoman_geometry::{Pose, Twist, position, relative, wrap_angle};
use dragoman_neobotix::map::MAX_COORDINATE;

use crate::settings::Settings;

/// Maximum number of samples: one hour at 20 Hz.
pub const MAX_SAMPLES: usize = 72_000;
/// Minimum time between two samples.
pub const SAMPLE_PERIOD: Duration = Duration::from_millis(50);
/// Maximum length of a recording's text, bytes.
pub const MAX_TEXT_LEN: usize = 16 << 20;
/// The header line.
const HEAD: &str = "time,x,y,heading,linear,angular";
/// Name of the last column of a platform that moves sideways.
const LATERAL: &str = "lateral";
/// Maximum distance between the platform and the start of the recording, m and rad.
const BEGIN: [f64; 2] = [0.25, 0.3];
/// Distance of the platform at which the recording waits for it, m and rad.
const LAG: [f64; 2] = [0.1, 0.2];
/// Distance of the platform at which the replay is cancelled, m.
const ASTRAY: f64 = 0.6;
/// Time limit for reaching the end after the recording's end.
const LAST: Duration = Duration::from_secs(3);
/// Distance at which the end is reached, m and rad.
const THERE: [f64; 2] = [0.02, 0.02];
/// Below this speed the platform counts as standing, m/s and rad/s.
const STANDING: f64 = 0.05;
/// Feedback gains: per s along, per m^2 across, per s in direction (Kanayama and others, 1990).
const GAINS: [f64; 3] = [1.5, 6.0, 2.0];

/// A sample of a recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Time since the beginning.
    pub time: Duration,
    /// Pose in the map.
    pub pose: Pose,
    /// Measured velocity.
    pub twist: Twist,
}

/// A recorded motion.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recording {
    samples: Vec<Sample>,
}

/// Error parsing a recording.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// More than [`MAX_TEXT_LEN`].
    #[error("{0} bytes are too many for a recording; the maximum is {MAX_TEXT_LEN}")]
    TooLong(usize),
    /// More than [`MAX_SAMPLES`].
    #[error("line {0}: more than {MAX_SAMPLES} samples")]
    TooMany(usize),
    /// A line does not contain six numbers.
    #[error("line {line}: '{text}' is not {HEAD}")]
    Syntax {
        /// Line number, from 1.
        line: usize,
        /// Text of the line.
        text: String,
    },
    /// A number is not finite, or out of range.
    #[error("line {0}: a value is not finite or out of range")]
    OutOfRange(usize),
    /// Times must increase.
    #[error("line {0}: its time is not later than that of the previous sample")]
    NotLater(usize),
    /// A motion needs at least two samples.
    #[error("a recording needs at least two samples")]
    TooShort,
}

/// Error starting a replay.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The recording is empty or too short.
    #[error("a recording needs at least two samples")]
    TooShort,
    /// The recording starts at a different pose.
    #[error("the recording begins {away:.2} m and {turned:.2} rad from here, at {x:.3} {y:.3} {heading:.3}; the maximum is {most} m and {most_turned} rad",
            most = BEGIN[0], most_turned = BEGIN[1])]
    Elsewhere {
        /// Distance, m.
        away: f64,
        /// Difference in direction, rad.
        turned: f64,
        /// Start of the recording in the map, x, m.
        x: f64,
        /// Start of the recording in the map, y, m.
        y: f64,
        /// Start of the recording in the map, direction, rad.
        heading: f64,
    },
}

impl Recording {
    /// Adds a sample, unless it is too soon after the last, or not finite. `false`: the recording is full.
    pub fn push(&mut self, sample: Sample) -> bool {
        let is_due = self.samples.last().is_none_or(|last| sample.time >= last.time + SAMPLE_PERIOD);
        if is_due && is_countable(&sample) && self.samples.len() < MAX_SAMPLES {
            self.samples.push(sample);
        }
        self.samples.len() < MAX_SAMPLES
    }

    /// The samples in order of time.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Parses a recording.
    ///
    /// # Errors
    /// The first invalid line.
    pub fn read(text: &str) -> Result<Self, RecordingError> {
        if text.len() > MAX_TEXT_LEN {
            return Err(RecordingError::TooLong(text.len()));
        }
        let mut samples: Vec<Sample> = Vec::new();
        for (index, text) in text.lines().enumerate() {
            let line = index + 1;
            let text = text.trim();
            if text.is_empty() || (index == 0 && is_head(text)) {
                continue;
            }
            let wrong = || RecordingError::Syntax { line, text: text.chars().take(80).collect() };
            let numbers: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
            let mut numbers = numbers.ok_or_else(wrong)?;
            let lateral = if numbers.len() == 7 { numbers.pop().unwrap_or_default() } else { 0.0 };
            let numbers: [f64; 6] = numbers.try_into().map_err(|_| wrong())?;
            let [time, x, y, heading, linear, angular] = numbers;
            let sample = Sample {
                time: Duration::try_from_secs_f64(time).map_err(|_| RecordingError::OutOfRange(line))?,
                pose: Pose::new(x, y, heading),
                twist: Twist::planar(linear, lateral, angular),
            };
            if !is_countable(&sample) {
                return Err(RecordingError::OutOfRange(line));
            }
            if samples.last().is_some_and(|last| sample.time <= last.time) {
                return Err(RecordingError::NotLater(line));
            }
            if samples.len() == MAX_SAMPLES {
                return Err(RecordingError::TooMany(line));
            }
            samples.push(sample);
        }
        if samples.len() < 2 { Err(RecordingError::TooShort) } else { Ok(Self { samples }) }
    }

    /// Pose and velocity at a time, interpolated.
    fn at(&self, time: Duration) -> Option<(Pose, Twist)> {
        let next = self.samples.partition_point(|sample| sample.time <= time);
        let before = self.samples.get(next.saturating_sub(1))?;
        let Some(after) = self.samples.get(next) else {
            return Some((before.pose, Twist::ZERO));
        };
        let span = after.time.saturating_sub(before.time).as_secs_f64();
        let part = (time.saturating_sub(before.time).as_secs_f64() / span).clamp(0.0, 1.0);
        let mix = |a: f64, b: f64| a + (b - a) * part;
        let turned = wrap_angle(after.pose.heading - before.pose.heading);
        let pose = Pose::new(
            mix(before.pose.x, after.pose.x),
            mix(before.pose.y, after.pose.y),
            before.pose.heading + turned * part,
        );
        let twist = Twist::planar(
            mix(before.twist.linear, after.twist.linear),
            mix(before.twist.lateral, after.twist.lateral),
            mix(before.twist.angular, after.twist.angular),
        );
        Some((pose, twist))
    }
}

/// Whether all values are finite and within range.
fn is_countable(sample: &Sample) -> bool {
    /// Maximum speed, m/s and rad/s.
    const MAX_SPEED: f64 = 100.0;
    /// Maximum time; beyond it, the text cannot represent nanoseconds.
    const MAX_TIME: Duration = Duration::from_secs(1_000_000);
    sample.time <= MAX_TIME
        && sample.pose.is_finite()
        && position(sample.pose).coords.amax() <= MAX_COORDINATE
        && sample.twist.is_finite()
        && sample.twist.linear.abs().max(sample.twist.angular.abs()) <= MAX_SPEED
        && sample.twist.lateral.abs() <= MAX_SPEED
}

fn is_head(text: &str) -> bool {
    text == HEAD || text.strip_suffix(LATERAL).and_then(|text| text.strip_suffix(',')) == Some(HEAD)
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_lateral = self.samples.iter().any(|sample| sample.twist.lateral != 0.0);
        if is_lateral {
            writeln!(f, "{HEAD},{LATERAL}")?
        } else {
            writeln!(f, "{HEAD}")?
        }
        self.samples.iter().try_for_each(|Sample { time, pose, twist }| {
            let time = time.as_secs_f64();
            write!(f, "{time},{},{},{},{},{}", pose.x, pose.y, pose.heading, twist.linear, twist.angular)?;
            if is_lateral { writeln!(f, ",{}", twist.lateral) } else { writeln!(f) }
        })
    }
}

/// Result of a replay cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Replayed {
    /// The velocity.
    Moving(Twist),
    /// The end was reached.
    Ended,
    /// The platform is too far from the recorded pose.
    Astray,
}

/// Replays a recorded motion. It waits for a platform that is slower.
#[derive(Debug, Clone)]
pub struct Player {
    recording: Recording,
    end: Duration,
    time: Duration,
    /// Time since the end of the recording.
    overtime: Duration,
}

impl Player {
    /// Starts a replay with the platform at `pose` in the map.
    ///
    /// # Errors
    /// The recording is invalid, or starts at a different pose.
    pub fn new(recording: Recording, pose: Pose) -> Result<Self, ReplayError> {
        let [begin, .., last] = recording.samples() else {
            return Err(ReplayError::TooShort);
        };
        let error = relative(begin.pose, pose);
        let (away, turned) = (error.x.hypot(error.y), wrap_angle(error.heading).abs());
        if away > BEGIN[0] || turned > BEGIN[1] {
            let Pose { x, y, heading } = begin.pose;
            return Err(ReplayError::Elsewhere { away, turned, x, y, heading });
        }
        let (time, end) = (begin.time, last.time);
        Ok(Self { recording, end, time, overtime: Duration::ZERO })
    }

    /// The current reference pose.
    pub fn reference(&self) -> Option<Pose> {
        Some(self.recording.at(self.time)?.0)
    }

    /// The wanted velocity, `step` after the last call; `velocity` is the last commanded one.
    pub fn cycle(&mut self, pose: Pose, velocity: Twist, step: Duration, settings: &Settings) -> Replayed {
        let Some((reference, twist)) = self.recording.at(self.time) else {
            return Replayed::Ended;
        };
        let error = relative(pose, reference);
        let turn = wrap_angle(error.heading);
        let away = error.x.hypot(error.y);
        if away > ASTRAY.max(settings.motion.path_tolerance) {
            return Replayed::Astray;
        }
        if self.time >= self.end {
            self.overtime += step;
            let is_there = away <= THERE[0] && turn.abs() <= THERE[1];
            let stands = velocity.speed() <= STANDING && velocity.angular.abs() <= STANDING;
            if (is_there && stands) || self.overtime >= LAST {
                return Replayed::Ended;
            }
        }
        let is_behind = error.x * twist.linear.signum() > LAG[0]
            || (twist.lateral != 0.0 && error.y * twist.lateral.signum() > LAG[0])
            || turn * twist.angular.signum() > LAG[1];
        if !is_behind {
            self.time = (self.time + step).min(self.end);
        }
        let [along, across, direction] = GAINS;
        if settings.drives().is_omnidirectional() {
            let (sin, cos) = turn.sin_cos();
            return Replayed::Moving(Twist {
                linear: twist.linear * cos - twist.lateral * sin + along * error.x,
                lateral: twist.linear * sin + twist.lateral * cos + along * error.y,
                angular: twist.angular + direction * turn,
            });
        }
        Replayed::Moving(Twist::new(
            twist.linear * turn.cos() + along * error.x,
            twist.angular + across * twist.linear * error.y + direction * turn,
        ))
    }
}

#[cfg(test)]
mod tests {
    use dragoman_geometry::compose;
    use proptest::prelude::*;

    use super::*;

    const STEP: Duration = Duration::from_millis(50);

    /// An arc, forwards and then back a little.
    fn recording() -> Recording {
        let mut recording = Recording::default();
        let (mut pose, mut time) = (Pose::new(1.0, 2.0, 0.5), Duration::ZERO);
        for part in 0..200 {
            let twist = if part < 160 { Twist::new(0.4, 0.2) } else { Twist::new(-0.2, 0.0) };
            assert!(recording.push(Sample { time, pose, twist }));
            let moved = Pose::new(twist.linear * 0.05, 0.0, twist.angular * 0.05);
            (pose, time) = (compose(pose, moved), time + STEP);
        }
        recording
    }

    #[test]
    fn recordings_are_written_and_read() {
        let recording = recording();
        assert_eq!(recording.samples().len(), 200);
        let text = recording.to_string();
        assert!(text.starts_with("time,x,y,heading,linear,angular\n0,1,2,0.5,0.4,0.2\n"), "{text}");
        assert_eq!(Recording::read(&text), Ok(recording.clone()));
        let mut soon = recording.clone();
        let last = recording.samples()[199];
        soon.push(Sample { time: last.time + STEP / 2, ..last });
        soon.push(Sample { time: last.time + STEP, pose: Pose::new(f64::NAN, 0.0, 0.0), ..last });
        assert_eq!(soon, recording);
        for (text, expected) in [
            ("", "a recording needs at least two samples"),
            ("0,0,0,0,0,0\n1,0,0,0,0", "line 2: '1,0,0,0,0' is not time,x,y,heading,linear,angular"),
            ("0,0,0,0,0,0\n\n0,0,0,0,0,0", "line 3: its time is not later than that of the previous sample"),
            ("1e7,0,0,0,0,0", "line 1: a value is not finite or out of range"),
            ("-1,0,0,0,0,0", "line 1: a value is not finite or out of range"),
            ("0,NaN,0,0,0,0", "line 1: a value is not finite or out of range"),
            ("0,1e9,0,0,0,0", "line 1: a value is not finite or out of range"),
            ("0,0,0,0,inf,0", "line 1: a value is not finite or out of range"),
        ] {
            assert_eq!(Recording::read(text).unwrap_err().to_string(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_motion_is_driven_again_from_about_its_begin() {
        let recording = recording();
        let settings = Settings::default();
        let begin = recording.samples()[0].pose;
        let mut pose = compose(begin, Pose::new(-0.05, 0.08, 0.1));
        let mut player = Player::new(recording.clone(), pose).unwrap();
        let mut cycles = 0;
        let mut velocity = Twist::ZERO;
        let last = loop {
            // The platform is blocked for a while: the recording waits.
            let is_kept = (60..160).contains(&cycles);
            cycles += 1;
            match player.cycle(pose, velocity, STEP, &settings) {
                Replayed::Moving(_) if is_kept => {}
                Replayed::Moving(twist) => {
                    velocity = twist;
                    let time = STEP.as_secs_f64();
                    pose = compose(pose, Pose::new(twist.linear * time, 0.0, twist.angular * time));
                }
                end => break end,
            }
            let off = recording.samples().iter().map(|sample| {
                let error = relative(sample.pose, pose);
                error.x.hypot(error.y)
            });
            assert!(off.fold(f64::INFINITY, f64::min) < 0.1, "{pose:?}");
        };
        assert_eq!(last, Replayed::Ended);
        assert!((280..420).contains(&cycles), "{cycles}");
        let error = relative(recording.samples()[199].pose, pose);
        assert!(error.x.hypot(error.y) < 0.03 && error.heading.abs() < 0.03, "{error:?}");

        assert!(matches!(Player::new(recording.clone(), Pose::ORIGIN), Err(ReplayError::Elsewhere { .. })));
        assert_eq!(Player::new(Recording::default(), begin).unwrap_err(), ReplayError::TooShort);
        let mut player = Player::new(recording, begin).unwrap();
        assert_eq!(player.cycle(Pose::ORIGIN, Twist::ZERO, STEP, &settings), Replayed::Astray);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_is_read_or_refused(
            text in prop_oneof!["\\PC*", "([0-9.,e+-]{0,20}\n){0,6}", "([0-9],[0-9],[0-9],-?[0-9],[0-9],NaN\n|[0-9](,[0-9.]{1,3}){5}\n){0,6}"],
            pose in (-9.0..9.0_f64, -9.0..9.0_f64, -9.0..9.0_f64),
        ) {
            let Ok(recording) = Recording::read(&text) else { return Ok(()) };
            prop_assert_eq!(Recording::read(&recording.to_string()), Ok(recording.clone()));
            let pose = Pose::new(pose.0, pose.1, pose.2);
            let begin = recording.samples()[0].pose;
            let mut player = Player::new(recording, begin).unwrap();
            for _ in 0..50 {
                if let Replayed::Moving(twist) = player.cycle(pose, Twist::ZERO, STEP, &Settings::default()) {
                    prop_assert!(twist.is_finite());
                }
            }
        }
    }
}
