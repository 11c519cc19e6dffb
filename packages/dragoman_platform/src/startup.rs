//! Data that a platform keeps over a restart, as texts: its pose, and the names of the documents that it has saved.
//!
//! The original reads its pose from `StartupPosition.dat`, and its log shows `x:0 y:0 a:1.284` (PlatformCtrl guide,
//! first page). The guide does not describe the file; ours holds one line of that form, in m and rad.

use std::fmt;

use dragoman_geometry::{Pose, wrap_angle};
use dragoman_neobotix::map::MAX_COORDINATE;

/// Maximum size of both files, bytes.
pub const MAX_LEN: usize = 4096;

/// The pose at the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StartPosition(pub Pose);

/// The text is not a start position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not x:NUMBER y:NUMBER a:NUMBER")]
pub struct StartPositionError(String);

impl StartPosition {
    /// Reads a text; numbers out of the range of a map are errors.
    ///
    /// # Errors
    /// Another form, a number that is not finite or too large.
    pub fn parse(text: &str) -> Result<Self, StartPositionError> {
        let numbers = || {
            let mut words = text.split_whitespace();
            let mut number = |name: &str, most: f64| {
                let number: f64 = words.next()?.strip_prefix(name)?.strip_prefix(':')?.parse().ok()?;
                (number.abs() <= most).then_some(number)
            };
            let (x, y) = (number("x", MAX_COORDINATE)?, number("y", MAX_COORDINATE)?);
            let heading = number("a", 1e6)?;
            let is_wrapped = heading.abs() <= std::f64::consts::PI;
            let heading = if is_wrapped { heading } else { wrap_angle(heading) };
            words.next().is_none().then(|| Pose::new(x, y, heading))
        };
        let shown = || text.chars().take(80).collect();
        numbers().map(Self).ok_or_else(|| StartPositionError(shown()))
    }
}

impl fmt::Display for StartPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pose { x, y, heading } = self.0;
        writeln!(f, "x:{x} y:{y} a:{heading}")
    }
}

/// Names of the documents that were saved last; empty if none was.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct SavedNames {
    pub map: String,
    pub roadmap: String,
    pub program: String,
}

impl SavedNames {
    /// Reads a text: lines `map:NAME` and so on. Other lines are ignored, and so are carriage returns at a line's end.
    pub fn parse(text: &str) -> Self {
        let mut names = Self::default();
        for (kind, name) in text.lines().filter_map(|line| line.split_once(':')) {
            let place = match kind {
                "map" => &mut names.map,
                "roadmap" => &mut names.roadmap,
                "program" => &mut names.program,
                _ => continue,
            };
            name.trim_end_matches('\r').clone_into(place);
        }
        names
    }
}

impl fmt::Display for SavedNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [("map", &self.map), ("roadmap", &self.roadmap), ("program", &self.program)];
        named
            .into_iter()
            .filter(|(_, name)| !name.is_empty())
            .try_for_each(|(kind, name)| writeln!(f, "{kind}:{name}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The log on the guide's first page.
    #[test]
    fn the_start_position_has_the_form_of_the_guide_s_log() {
        assert_eq!(StartPosition::parse("x:0  y:0  a:1.284"), Ok(StartPosition(Pose::new(0.0, 0.0, 1.284))));
        for text in
            ["", "x:0 y:0", "x:0 y:0 a:1 b:2", "y:0 x:0 a:1", "x:nan y:0 a:0", "x:1e300 y:0 a:0", "1 2 3"]
        {
            assert!(StartPosition::parse(text).is_err(), "{text}");
        }
        let error = StartPosition::parse(&"x".repeat(1000)).unwrap_err().to_string();
        assert!(error.len() < 150, "{error}");
    }

    #[test]
    fn names_are_kept_as_they_are() {
        let names = SavedNames { map: "hall: 1".into(), roadmap: "ways".into(), program: String::new() };
        assert_eq!(names.to_string(), "map:hall: 1\nroadmap:ways\n");
        assert_eq!(SavedNames::parse(&names.to_string()), names);
        assert_eq!(SavedNames::parse("\nnonsense\nmap\nother:x"), SavedNames::default());
        assert_eq!(SavedNames::parse("map:hall: 1\r\nroadmap:ways\r"), names);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(\\PC*|(x|y|a|map|:|[-0-9.e]{1,3}|[ \r\n]){0,12})") {
            let names = SavedNames::parse(&text);
            prop_assert_eq!(SavedNames::parse(&names.to_string()), names);
            if let Ok(StartPosition(pose)) = StartPosition::parse(&text) {
                prop_assert!(pose.is_finite());
                prop_assert_eq!(StartPosition::parse(&StartPosition(pose).to_string()), Ok(StartPosition(pose)));
            }
        }
    }
}
