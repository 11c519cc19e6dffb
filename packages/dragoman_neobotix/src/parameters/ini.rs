//! Parameter files: unchanged parts are preserved byte by byte.

use std::fmt;
use std::ops::Range;

use super::ParameterError;

/// Maximum size of a file, bytes.
pub const MAX_INI_LEN: usize = 1 << 20;
/// Beginnings of comments.
const COMMENTS: [&str; 3] = ["#", ";", "//"];

/// A parameter file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IniFile {
    lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    /// The line including its end.
    text: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// A blank line or a comment.
    Other,
    Section(String),
    Entry {
        key: String,
        /// Range of the value in the line.
        value: Range<usize>,
    },
}

/// A value in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IniEntry<'a> {
    /// Number of its line, from 1.
    pub line: usize,
    /// Section; empty before the first one.
    pub section: &'a str,
    /// Its name.
    pub key: &'a str,
    /// Without comment, and without blanks at the ends.
    pub value: &'a str,
}

/// Error in a file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IniError {
    /// More than [`MAX_INI_LEN`].
    #[error("{len} bytes exceed the maximum of {MAX_INI_LEN}")]
    TooLong {
        /// Size of the file, bytes.
        len: usize,
    },
    /// The line is no section, value or comment.
    #[error("line {line}: '{text}' is neither a [section] nor key = value")]
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
        /// The parameter.
        key: String,
        /// Line of the first occurrence.
        first: usize,
    },
    /// The value cannot be written.
    #[error("'{key}' = '{value}' in section '{section}' cannot be written")]
    Unwritable {
        /// The section.
        section: String,
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// A parameter has an invalid value.
    #[error("line {line}: {error}")]
    Value {
        /// Line number, from 1.
        line: usize,
        /// The error.
        error: ParameterError,
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
        let lines = text.split_inclusive('\n').enumerate().map(|(index, text)| {
            let kind = Kind::of(text)
                .ok_or_else(|| IniError::Syntax { line: index + 1, text: text.trim().to_owned() })?;
            Ok(Line { text: text.to_owned(), kind })
        });
        Ok(Self { lines: lines.collect::<Result<_, _>>()? })
    }

    /// All values, in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = IniEntry<'_>> {
        let mut section = "";
        self.lines.iter().enumerate().filter_map(move |(index, line)| match &line.kind {
            Kind::Other => None,
            Kind::Section(name) => {
                section = name;
                None
            }
            Kind::Entry { key, value } => {
                let value = line.text.get(value.clone()).unwrap_or_default();
                Some(IniEntry { line: index + 1, section, key, value })
            }
        })
    }

    /// A value; the first, if it occurs several times.
    pub fn value(&self, section: &str, key: &str) -> Option<&str> {
        self.entries().find(|entry| entry.section == section && entry.key == key).map(|entry| entry.value)
    }

    /// Replaces a value, or appends it to its section.
    ///
    /// # Errors
    /// Section, key or value could not be parsed again. Nothing has changed then.
    pub fn set(&mut self, section: &str, key: &str, value: &str) -> Result<(), IniError> {
        let text = format!("{key} = {value}\n");
        let is_entry = |kind: &Kind| match kind {
            Kind::Entry { key: own, value: range } => own == key && text.get(range.clone()) == Some(value),
            Kind::Other | Kind::Section(_) => false,
        };
        let is_section = |kind: Kind| matches!(kind, Kind::Section(name) if name == section);
        let kind = Kind::of(&text).filter(is_entry).filter(|_| {
            let section_fits =
                section.is_empty() || Kind::of(&format!("[{section}]")).is_some_and(is_section);
            section_fits && ![section, key, value].iter().any(|part| part.contains('\n'))
        });
        let Some(kind) = kind else {
            let [section, key, value] = [section, key, value].map(str::to_owned);
            return Err(IniError::Unwritable { section, key, value });
        };
        let line =
            self.entries().find(|entry| entry.section == section && entry.key == key).map(|entry| entry.line);
        if let Some(Line { text, kind: Kind::Entry { value: range, .. } }) =
            line.and_then(|line| self.lines.get_mut(line - 1))
        {
            // A comment may follow directly only if there is no value.
            let is_touching =
                text.get(range.end..).is_some_and(|rest| rest.starts_with(|c: char| !c.is_whitespace()));
            text.replace_range(range.clone(), &format!("{value}{}", if is_touching { " " } else { "" }));
            range.end = range.start + value.len();
            return Ok(());
        }
        let new = Line { text, kind };
        let end = self.section_end(section);
        if let Some(line) = end.checked_sub(1).and_then(|last| self.lines.get_mut(last))
            && !line.text.ends_with('\n')
        {
            line.text.push('\n');
        }
        self.lines.insert(end, new);
        Ok(())
    }

    /// Index of the next new line of a section; adds the section if it does not exist.
    fn section_end(&mut self, section: &str) -> usize {
        let is_this = |line: &Line| matches!(&line.kind, Kind::Section(name) if name == section);
        let is_section = |line: &Line| matches!(line.kind, Kind::Section(_));
        let begin =
            if section.is_empty() { Some(0) } else { self.lines.iter().position(is_this).map(|at| at + 1) };
        let Some(begin) = begin else {
            if let Some(last) = self.lines.last_mut().filter(|line| !line.text.ends_with('\n')) {
                last.text.push('\n');
            }
            let text = format!("[{section}]\n");
            self.lines.push(Line { text, kind: Kind::Section(section.to_owned()) });
            return self.lines.len();
        };
        let rest = self.lines.get(begin..).unwrap_or_default();
        let len = rest.iter().position(is_section).unwrap_or(rest.len());
        // After the last value, before blank lines and comments that precede the next section.
        let values = rest.get(..len).unwrap_or_default();
        begin + values.iter().rposition(|line| matches!(line.kind, Kind::Entry { .. })).map_or(0, |at| at + 1)
    }
}

impl fmt::Display for IniFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| f.write_str(&line.text))
    }
}

impl Kind {
    fn of(line: &str) -> Option<Self> {
        let text = line.trim();
        if text.is_empty() || COMMENTS.iter().any(|comment| text.starts_with(comment)) {
            return Some(Self::Other);
        }
        if let Some(rest) = text.strip_prefix('[') {
            let (name, after) = rest.split_once(']')?;
            let after = after.trim_start();
            let is_comment = after.is_empty() || COMMENTS.iter().any(|comment| after.starts_with(comment));
            return is_comment.then(|| Self::Section(name.trim().to_owned()));
        }
        let (key, after) = line.split_once('=')?;
        let begin = line.len() - after.trim_start_matches([' ', '\t']).len();
        let rest = line.get(begin..)?;
        let value = rest.get(..value_end(rest))?.trim_end();
        let key = key.trim();
        (!key.is_empty()).then(|| Self::Entry { key: key.to_owned(), value: begin..begin + value.len() })
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
#[allow(clippy::expect_used, reason = "a test may panic")]
mod tests {
    use proptest::prelude::*;

    use super::super::{Parameters, Value, declarations};
    use super::*;

    const FILE: &str = "# speeds\r\n\r\n[IPO]  ; of paths\r\nIpoTransVel = 800 # mm/s\r\n  IpoRotvel=0.5\r\nPlannerColor = #ff\r\n\r\n// next\r\n[Other]\r\nIt's = a // b\r\nURL = http://x#y";

    #[test]
    fn files_are_read_with_their_comments() {
        let file = IniFile::parse(FILE).expect("a file");
        let entries: Vec<_> =
            file.entries().map(|entry| (entry.line, entry.section, entry.key, entry.value)).collect();
        let expected = [
            (4, "IPO", "IpoTransVel", "800"),
            (5, "IPO", "IpoRotvel", "0.5"),
            (6, "IPO", "PlannerColor", ""),
            (10, "Other", "It's", "a"),
            (11, "Other", "URL", "http://x#y"),
        ];
        assert_eq!(entries, expected);
        assert_eq!(file.to_string(), FILE);
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
    fn values_change_and_all_else_stays() {
        let mut file = IniFile::parse(FILE).expect("a file");
        for (section, key, value) in
            [("IPO", "IpoTransVel", "1200.5"), ("IPO", "New", "1"), ("More", "x", "y")]
        {
            file.set(section, key, value).expect("written");
        }
        let mut touching = IniFile::parse("a=;b").expect("a file");
        touching.set("", "a", "1").expect("written");
        assert_eq!(touching.to_string(), "a=1 ;b");
        for (section, key, value) in [
            ("IPO", "New", "1\n2"),
            ("IPO", "New", "1 # 2"),
            ("IPO", "IpoTransVel", " 1"),
            ("IPO", "a=b", "1"),
            ("IPO", "#a", "1"),
            ("IPO", "", "1"),
            ("a]", "b", "1"),
        ] {
            assert!(
                matches!(file.set(section, key, value), Err(IniError::Unwritable { .. })),
                "{section} {key} {value}"
            );
        }
        let expected = FILE.replace("= 800 #", "= 1200.5 #").replace("#ff\r\n", "#ff\r\nNew = 1\n")
            + "\n[More]\nx = y\n";
        assert_eq!(file.to_string(), expected);
        assert_eq!(IniFile::parse(&expected), Ok(file));
    }

    #[test]
    fn parameters_come_from_files_and_go_there() {
        let mut parameters = Parameters::default();
        let mut file = IniFile::parse(FILE).expect("a file");
        parameters.read_ini(&file).expect("values");
        assert_eq!(parameters.value("IpoTransVel"), Some(Value::Double(800.0)));
        assert_eq!(parameters.value("IpoRotvel"), Some(Value::Double(0.5)));
        parameters.set("IpoRotvel", "0.25").expect("in range");
        parameters.write_ini("Interpolation.ini", &mut file).expect("written");
        let expected = FILE
            .replace("IpoRotvel=0.5", "IpoRotvel=0.25")
            .replace("#ff\r\n", "#ff\r\nEndTurnEnabled = true\nStartTurnEnabled = true\n");
        assert_eq!(file.to_string(), expected);
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

    #[test]
    fn every_parameter_has_a_file() {
        let mut changed = Parameters::default();
        for one in declarations() {
            let value = match one.default {
                Value::Boolean(value) => Value::Boolean(!value),
                Value::Integer(value) => Value::Integer(value + 1),
                Value::Double(value) => Value::Double(value + 0.125),
            };
            changed.set_value(one.key, value).expect("in range");
        }
        let mut read = Parameters::default();
        for name in
            ["Interpolation.ini", "Localization.ini", "MotionCtrl.ini", "UltraSonic.ini", "Platform.ini"]
        {
            let mut file = IniFile::default();
            changed.write_ini(name, &mut file).expect("written");
            let text = file.to_string();
            read.read_ini(&IniFile::parse(&text).expect("a file")).expect("values");
        }
        assert_eq!(read, changed);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

        #[test]
        fn any_text_is_kept_or_refused(
            text in prop_oneof!["\\PC*", "(\\[[a-b]?\\]|[ab ]{0,2}=[ #;/1a]{0,5}|[#; ]{0,3}|\r?\n){0,12}"],
            key in "[a-c= #]{1,3}",
            value in "[a-c]?[a-c#;/ \n]{0,4}",
        ) {
            let Ok(mut file) = IniFile::parse(&text) else { return Ok(()) };
            prop_assert_eq!(file.to_string(), text);
            let section = file.entries().last().map_or("a", |entry| entry.section).to_owned();
            let others = |file: &IniFile| -> Vec<_> {
                file.entries()
                    .filter(|entry| entry.section != section || entry.key != key)
                    .map(|entry| (entry.section.to_owned(), entry.key.to_owned(), entry.value.to_owned()))
                    .collect()
            };
            let before = others(&file);
            let count = file.entries().count();
            match file.set(&section, &key, &value) {
                Ok(()) => prop_assert_eq!(file.value(&section, &key), Some(value.as_str())),
                Err(_) => prop_assert_eq!(file.entries().count(), count),
            }
            prop_assert_eq!(others(&file), before);
            // The value can be parsed again.
            let again = IniFile::parse(&file.to_string()).expect("what was written");
            prop_assert_eq!(again.entries().collect::<Vec<_>>(), file.entries().collect::<Vec<_>>());
        }
    }
}
