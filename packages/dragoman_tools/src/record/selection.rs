//! Selection of the topics to record.

use std::fmt;
use std::str::FromStr;

/// One topic, or all below a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// Begins with a slash; ends with one only if `below`.
    name: String,
    below: bool,
}

/// A text that is not a topic name.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InvalidPattern {
    /// A name that no topic can have.
    #[error(
        "'{0}' is not a topic: names consist of letters, digits, '_' and '/', and may end in '/' or '/*'"
    )]
    Name(String),
    /// The name of a file.
    #[error("'{0}' is not a topic; to write to this file: -o {0}")]
    File(String),
}

impl FromStr for Pattern {
    type Err = InvalidPattern;

    /// `/ranger/pose` and `ranger/pose` are one topic, `/ranger/` and `/ranger/*` all below `/ranger`.
    fn from_str(text: &str) -> Result<Self, InvalidPattern> {
        let rooted = if text.starts_with('/') { text.to_owned() } else { format!("/{text}") };
        let name = rooted.strip_suffix('*').filter(|rest| rest.ends_with('/')).unwrap_or(&rooted).to_owned();
        let below = name.ends_with('/');
        let tokens = name.strip_prefix('/').unwrap_or(&name);
        let tokens = if below { tokens.strip_suffix('/').unwrap_or(tokens) } else { tokens };
        let is_token =
            |token: &str| !token.is_empty() && token.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let everything = name == "/" && !text.is_empty();
        if everything || tokens.split('/').all(is_token) {
            Ok(Self { name, below })
        } else {
            let is_file = [".mcap", ".bag", ".db3"].iter().any(|end| text.ends_with(end));
            let text = text.to_owned();
            Err(if is_file { InvalidPattern::File(text) } else { InvalidPattern::Name(text) })
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)
    }
}

impl Pattern {
    fn matches(&self, topic: &str) -> bool {
        if self.below { topic.starts_with(&self.name) } else { topic == self.name }
    }
}

/// The requested topics.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
    pictures: Pictures,
}

/// Which pictures are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pictures {
    #[default]
    All,
    /// No raw ones.
    Compressed,
    None,
}

/// The type of raw pictures.
const RAW: &str = "sensor_msgs/msg/Image";
/// The type of compressed ones.
const COMPRESSED: &str = "sensor_msgs/msg/CompressedImage";

impl Selection {
    /// All topics of `include`, or all when it is empty, without those of `exclude`.
    pub(crate) fn new(include: Vec<Pattern>, exclude: Vec<Pattern>) -> Self {
        Self { include, exclude, pictures: Pictures::All }
    }

    /// The same, with these pictures only.
    #[must_use]
    pub(crate) fn with_pictures(self, pictures: Pictures) -> Self {
        Self { pictures, ..self }
    }

    /// Whether messages of this type are wanted.
    pub(crate) fn wants_type(&self, type_name: &str) -> bool {
        match self.pictures {
            Pictures::All => true,
            Pictures::Compressed => type_name != RAW,
            Pictures::None => ![RAW, COMPRESSED].contains(&type_name),
        }
    }

    /// Whether omitted topics of pictures are reported, because the user has not excluded them.
    pub(super) fn reports_pictures(&self) -> bool {
        self.pictures == Pictures::Compressed
    }

    pub(crate) fn wants(&self, topic: &str) -> bool {
        (self.include.is_empty() || self.include.iter().any(|pattern| pattern.matches(topic)))
            && !self.exclude.iter().any(|pattern| pattern.matches(topic))
    }

    /// Whether single topics are requested.
    pub(super) fn names_topics(&self) -> bool {
        !self.include.is_empty()
    }

    /// The requested topics that are not in `topics`.
    pub(crate) fn missing<'a>(&self, topics: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
        let absent =
            self.include.iter().filter(|pattern| !topics.clone().any(|topic| pattern.matches(topic)));
        absent.map(ToString::to_string).collect()
    }
}

/// A requested topic that is not there, with the one of `known` that may be meant.
pub(super) fn with_hint<'a>(missing: &str, known: impl Iterator<Item = &'a str>) -> String {
    // Of `/ranger/` the names of other namespaces.
    let namespaces = |topic: &'a str| topic.match_indices('/').filter_map(move |(at, _)| topic.get(..=at));
    let nearest = if missing.ends_with('/') {
        dragoman_text::nearest(missing, known.flat_map(namespaces))
    } else {
        dragoman_text::nearest(missing, known.filter(|name| *name != missing))
    };
    match nearest {
        Some(nearest) => format!("{missing} (did you mean '{nearest}'?)"),
        None => missing.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(include: &[&str], exclude: &[&str]) -> Selection {
        let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        Selection::new(parse(include), parse(exclude))
    }

    #[test]
    fn an_empty_selection_is_all_topics() {
        assert!(selection(&[], &[]).wants("/rosout"));
        assert!(!selection(&[], &["rosout"]).wants("/rosout"));
        assert!(selection(&["/"], &[]).wants("/ranger/pose"));
        assert!(selection(&["*"], &[]).wants("/ranger/pose"));
    }

    #[test]
    fn a_file_without_its_option_is_recognized() {
        let error = |text: &str| text.parse::<Pattern>().unwrap_err().to_string();
        assert_eq!(error("s2.mcap"), "'s2.mcap' is not a topic; to write to this file: -o s2.mcap");
        assert!(error("/a b").contains("names consist of"));
    }

    #[test]
    fn a_name_is_one_topic_and_a_namespace_all_below() {
        for below in ["/ranger/", "ranger/", "/ranger/*"] {
            let selection = selection(&[below, "/tf"], &["/ranger/drive_status"]);
            assert!(
                selection.wants("/ranger/pose")
                    && selection.wants("/ranger/arm/state")
                    && selection.wants("/tf")
            );
            for other in ["/ranger", "/rangers/pose", "/tf_static", "/ranger/drive_status"] {
                assert!(!selection.wants(other), "{other}");
            }
        }
    }

    #[test]
    fn unpublished_topics_are_missing() {
        let selection = selection(&["/ranger/", "/door"], &[]);
        assert_eq!(selection.missing(["/ranger/pose"].into_iter()), ["/door"]);
        assert_eq!(selection.missing([].into_iter()), ["/ranger/", "/door"]);
    }

    #[test]
    fn missing_names_get_a_suggestion() {
        let known = ["/ranger/pose", "/ranger/joint_states", "/tf"];
        for (missing, expected) in [
            ("/ranger/pse", "/ranger/pse (did you mean '/ranger/pose'?)"),
            ("/ranger/joint_state", "/ranger/joint_state (did you mean '/ranger/joint_states'?)"),
            ("/rangr/", "/rangr/ (did you mean '/ranger/'?)"),
            ("/tf", "/tf"),
            ("/door", "/door"),
        ] {
            assert_eq!(with_hint(missing, known.into_iter()), expected);
        }
    }

    #[test]
    fn pictures_are_chosen() {
        for (pictures, wanted) in [
            (Pictures::All, [true; 3]),
            (Pictures::Compressed, [false, true, true]),
            (Pictures::None, [false, false, true]),
        ] {
            let selection = selection(&[], &[]).with_pictures(pictures);
            let types = [RAW, COMPRESSED, "sensor_msgs/msg/LaserScan"];
            assert_eq!(types.map(|name| selection.wants_type(name)), wanted, "{pictures:?}");
        }
    }

    #[test]
    fn invalid_input_is_refused() {
        for text in ["", "/a b", "a//b", "/ran*", "/r*/pose", "//", "grüße"] {
            assert!(text.parse::<Pattern>().is_err(), "{text}");
        }
    }
}
