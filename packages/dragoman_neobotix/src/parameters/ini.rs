//! Parameter files.

use std::time::Duration;

use dragoman_text::excerpt;

use super::{ParameterError, declaration};

/// Maximum size of a file, bytes.
pub const MAX_INI_LEN: usize = 1 << 20;
/// Beginnings of comments.
const COMMENTS: [&str; 3] = ["#", ";", "//"];
/// Part of the keys of watchdogs, in lower case.
const WATCHDOG: &str = "watchdog";
/// Range of the time of a watchdog, s.
const WATCHDOG_RANGE: [f64; 2] = [0.01, 60.0];

/// A parameter file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IniFile {
    entries: Vec<IniEntry>,
}

/// A value in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IniEntry {
    /// Number of its line, from 1.
    pub line: usize,
    /// Section; empty before the first one.
    pub section: String,
    /// Its name.
    pub key: String,
    /// Without comment, and without blanks at the ends.
    pub value: String,
}

/// Error in a file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum IniError {
    /// More than [`MAX_INI_LEN`].
    #[error("{len} bytes exceed the maximum of {MAX_INI_LEN}")]
    TooLong {
        /// Size of the file, bytes.
        len: usize,
    },
    /// The line is not a section, value or comment.
    #[error("line {line}: '{}' is neither a [section] nor key = value", excerpt(.text))]
    Syntax {
        /// Line number, from 1.
        line: usize,
        /// Text of the line.
        text: String,
    },
    /// A parameter occurs twice.
    #[error("line {line}: '{key}' occurs twice; the first time in line {first}")]
    Duplicate {
        /// Line number, from 1.
        line: usize,
        key: String,
        /// Line of the first occurrence.
        first: usize,
    },
    /// A parameter has an invalid value.
    #[error("line {line}: {error}")]
    Value {
        /// Line number, from 1.
        line: usize,
        error: ParameterError,
    },
    /// The time of a watchdog is out of range.
    #[error(
        "line {line}: {} = {}: a watchdog is 0.01 s to 60 s; numbers above 60 are milliseconds",
        excerpt(.key), excerpt(.value)
    )]
    Watchdog {
        /// Line number, from 1.
        line: usize,
        key: String,
        value: String,
    },
}

impl IniFile {
    /// Parses a file.
    ///
    /// # Errors
    /// It is too long, or a line is invalid.
    pub fn parse(text: &str) -> Result<Self, IniError> {
        if text.len() > MAX_INI_LEN {
            return Err(IniError::TooLong { len: text.len() });
        }
        let (mut section, mut entries) = (String::new(), Vec::new());
        for (line, text) in (1..).zip(text.lines()) {
            match IniLine::of(text).ok_or_else(|| IniError::Syntax { line, text: text.trim().to_owned() })? {
                IniLine::Other => {}
                IniLine::Section(name) => name.clone_into(&mut section),
                IniLine::Entry(key, value) => {
                    let [section, key, value] = [&section, key, value].map(str::to_owned);
                    entries.push(IniEntry { line, section, key, value });
                }
            }
        }
        Ok(Self { entries })
    }

    /// All values, in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = &IniEntry> {
        self.entries.iter()
    }

    /// The values that are not parameters of the PlatformCtrl guide, 5.9.
    pub fn unknown(&self) -> impl Iterator<Item = &IniEntry> {
        self.entries().filter(|entry| declaration(&entry.key).is_none())
    }

    /// The times of watchdogs. The guide (4.3) says that parameter files have one, but neither its key nor its unit:
    /// any unknown key with "watchdog" in its name and a number as its value. Numbers above 60 are milliseconds, all
    /// others seconds.
    ///
    /// # Errors
    /// Of an item: the time is out of range.
    pub fn watchdogs(&self) -> impl Iterator<Item = Result<(&IniEntry, Duration), IniError>> {
        self.unknown().filter(|entry| entry.key.to_ascii_lowercase().contains(WATCHDOG)).filter_map(|entry| {
            let number: f64 = entry.value.parse().ok()?;
            let [least, most] = WATCHDOG_RANGE;
            let seconds = if number > most { number / 1000.0 } else { number };
            let fits = (least..=most).contains(&seconds);
            let IniEntry { line, key, value, .. } = entry;
            let refused = || IniError::Watchdog { line: *line, key: key.clone(), value: value.clone() };
            Some(if fits { Ok((entry, Duration::from_secs_f64(seconds))) } else { Err(refused()) })
        })
    }
}

enum IniLine<'a> {
    /// A blank line or a comment.
    Other,
    Section(&'a str),
    /// Key and value.
    Entry(&'a str, &'a str),
}

impl<'a> IniLine<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let text = line.trim();
        if text.is_empty() || COMMENTS.iter().any(|comment| text.starts_with(comment)) {
            return Some(Self::Other);
        }
        if let Some(rest) = text.strip_prefix('[') {
            let (name, after) = rest.split_once(']')?;
            let after = after.trim_start();
            let is_comment = after.is_empty() || COMMENTS.iter().any(|comment| after.starts_with(comment));
            return is_comment.then_some(Self::Section(name.trim()));
        }
        let (key, after) = text.split_once('=')?;
        let rest = after.trim_start_matches([' ', '\t']);
        let value = rest.get(..value_end(rest))?.trim_end();
        let key = key.trim();
        (!key.is_empty()).then_some(Self::Entry(key, value))
    }
}

/// End of a value: at a comment, which is at the beginning or follows a blank.
fn value_end(text: &str) -> usize {
    let is_comment = |at: usize| {
        let (before, rest) = text.split_at_checked(at).unwrap_or_default();
        COMMENTS.iter().any(|comment| rest.starts_with(comment)) && (at == 0 || before.ends_with([' ', '\t']))
    };
    text.char_indices().map(|(at, _)| at).find(|at| is_comment(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Parameters, Value};
    use super::*;

    const FILE: &str = "# speeds\r\n\r\n[IPO]  ; of paths\r\nIpoTransVel = 800 # mm/s\r\n  IpoRotvel=0.5\r\nPlannerColor = #ff\r\n\r\n// next\r\n[Other]\r\nIt's = a // b\r\nURL = http://x#y";

    #[test]
    fn files_are_read_with_their_comments() {
        let file = IniFile::parse(FILE).expect("a file");
        let fields =
            |entry: &IniEntry| (entry.line, entry.section.clone(), entry.key.clone(), entry.value.clone());
        let entries: Vec<_> = file.entries().map(fields).collect();
        let expected = [
            (4, "IPO", "IpoTransVel", "800"),
            (5, "IPO", "IpoRotvel", "0.5"),
            (6, "IPO", "PlannerColor", ""),
            (10, "Other", "It's", "a"),
            (11, "Other", "URL", "http://x#y"),
        ];
        let owned = |(line, section, key, value): (usize, &str, &str, &str)| {
            (line, section.to_owned(), key.to_owned(), value.to_owned())
        };
        assert_eq!(entries, expected.map(owned));
        let unknown: Vec<_> = file.unknown().map(|entry| entry.key.as_str()).collect();
        assert_eq!(unknown, ["PlannerColor", "It's", "URL"]);
        for (text, line) in [("a = 1\nb", 2), ("[a", 1), ("[a] b", 1), ("= 1", 1)] {
            assert!(
                matches!(IniFile::parse(text), Err(IniError::Syntax { line: at, .. }) if at == line),
                "{text}"
            );
        }
        let len = MAX_INI_LEN + 1;
        assert_eq!(IniFile::parse(&" ".repeat(len)), Err(IniError::TooLong { len }));
    }

    #[test]
    fn parameters_come_from_files() {
        let mut parameters = Parameters::default();
        parameters.read_ini(&IniFile::parse(FILE).expect("a file")).expect("values");
        assert_eq!(parameters.value("IpoTransVel"), Some(Value::Double(800.0)));
        assert_eq!(parameters.value("IpoRotvel"), Some(Value::Double(0.5)));
        for (text, expected) in [
            ("\nIpoRotvel = 11", "line 2: IpoRotvel = 11: it has to be from 0 to 10 rad/s"),
            (
                "IpoRotvel = 1\n[a]\nIpoRotvel = 1",
                "line 3: 'IpoRotvel' occurs twice; the first time in line 1",
            ),
        ] {
            let before = parameters.clone();
            let error = parameters.read_ini(&IniFile::parse(text).expect("a file")).expect_err(text);
            assert_eq!((error.to_string().as_str(), &parameters), (expected, &before));
        }
    }

    /// PlatformCtrl guide, 4.3: the watchdog time is in the parameter file; CMD_MOVE_VEL: a few seconds.
    #[test]
    fn watchdogs_are_found_by_their_names_in_seconds_or_milliseconds() {
        let text = "[a]\nWatchdogTime = 2\nVelWatchDogMs = 1500\nWatchdogEnabled = true\nTimeout = 3\n";
        let file = IniFile::parse(text).expect("a file");
        let found: Vec<_> = file.watchdogs().map(|one| one.expect("in range")).collect();
        let found: Vec<_> = found.into_iter().map(|(entry, time)| (entry.line, time.as_millis())).collect();
        assert_eq!(found, [(2, 2000), (3, 1500)]);
        for value in ["0", "-1", "60001", "nan", "inf"] {
            let text = format!("Watchdog = {value}");
            let file = IniFile::parse(&text).expect("a file");
            let error = file.watchdogs().next().expect("a watchdog").expect_err(value);
            assert!(error.to_string().starts_with(&format!("line 1: Watchdog = {value}: ")), "{error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

        #[test]
        fn any_text_is_read_or_refused(
            text in prop_oneof!["\\PC*", "(\\[[a-b]?\\]|[ab ]{0,2}=[ #;/1a]{0,5}|[#; ]{0,3}|\r?\n){0,12}"],
        ) {
            let Ok(file) = IniFile::parse(&text) else { return Ok(()) };
            let written: String = file
                .entries()
                .map(|IniEntry { section, key, value, .. }| format!("[{section}]\n{key} = {value}\n"))
                .collect();
            // Sections and values can be parsed again.
            let again = IniFile::parse(&written).expect("what was written");
            let without_line = |file: &IniFile| -> Vec<_> {
                file.entries().map(|entry| IniEntry { line: 0, ..entry.clone() }).collect()
            };
            prop_assert_eq!(without_line(&again), without_line(&file));
            for watchdog in file.watchdogs().flatten() {
                prop_assert!(watchdog.1 >= Duration::from_millis(10));
            }
        }
    }
}
