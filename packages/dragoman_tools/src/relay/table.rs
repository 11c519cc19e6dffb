//! Configuration of a relay: names, types and directions. No ROS.

use std::collections::BTreeSet;

use dragoman_text::Note;
use dragoman_text::yaml;
use serde::Deserialize;

/// The table of the TurtleBot with its arm.
const TURTLEBOT: &str = include_str!("../../../../launch/config/relay/turtlebot2_widowx.yaml");

/// Relayed topics and services; names are relative to the namespaces.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// One entry for each topic.
    #[serde(default)]
    pub topics: Vec<Topic>,
    /// One entry for each service.
    #[serde(default)]
    pub services: Vec<Service>,
    /// Notes about omitted entries.
    #[serde(skip)]
    pub notes: Vec<Note>,
}

/// A topic that is relayed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topic {
    /// Relative to the namespace of the programs, or of a robot.
    pub name: String,
    /// `package/msg/Name`.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The direction.
    pub to: To,
    /// The last message is kept for late subscribers.
    #[serde(default)]
    pub latched: bool,
    /// The relay subscribes at the robot only while a program subscribes.
    #[serde(default)]
    pub on_demand: bool,
}

/// Direction of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum To {
    /// A program's messages go to all robots.
    Robots,
    /// The first robot's messages go to the programs.
    Programs,
}

/// A service whose requests go to all robots.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Relative to the namespace of the programs, or of a robot.
    pub name: String,
    /// `package/srv/Name`.
    #[serde(rename = "type")]
    pub type_name: String,
}

/// Namespaces of programs and robots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespaces {
    /// Namespace of the programs.
    programs: String,
    /// Namespaces of the robots; programs receive the data of the first.
    robots: Vec<String>,
}

/// Error in a table or in the namespaces.
#[allow(missing_docs)] // The messages say it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    #[error("the table cannot be read: {reason}")]
    Yaml { reason: String },
    #[error("'{name}' is not a relative name")]
    Name { name: String },
    #[error("{name} is in the table twice")]
    Twice { name: String },
    #[error("no robot is given")]
    NoRobot,
    #[error("{name} would be relayed in a circle: programs and robots need different namespaces")]
    Loop { name: String },
}

impl Table {
    /// The default table of the TurtleBot with its arm (TurtleBot thesis, table A.2).
    pub fn turtlebot() -> Result<Self, TableError> {
        Self::from_yaml(TURTLEBOT)
    }

    /// Parses a table as in `launch/config/relay/`.
    pub fn from_yaml(text: &str) -> Result<Self, TableError> {
        let (table, notes) =
            yaml::lenient::<Self>(text).map_err(|error| TableError::Yaml { reason: error.to_string() })?;
        let table = Self { notes, ..table };
        let mut topics = BTreeSet::new();
        let mut services = BTreeSet::new();
        let named = table.topics.iter().map(|topic| (&topic.name, true));
        for (name, is_topic) in named.chain(table.services.iter().map(|service| (&service.name, false))) {
            let is_token = |token: &str| {
                token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    && token.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            };
            if !name.split('/').all(is_token) {
                return Err(TableError::Name { name: name.clone() });
            }
            let known = if is_topic { &mut topics } else { &mut services };
            if !known.insert(name) {
                return Err(TableError::Twice { name: name.clone() });
            }
        }
        Ok(table)
    }

    /// Whether no published name is also subscribed to.
    pub fn check(&self, namespaces: &Namespaces) -> Result<(), TableError> {
        if namespaces.robots.is_empty() {
            return Err(TableError::NoRobot);
        }
        let robots = |name: &str| namespaces.all_of_robots(name);
        let (mut taken, mut given) = (BTreeSet::new(), Vec::new());
        for topic in &self.topics {
            match topic.to {
                To::Robots => {
                    taken.insert(namespaces.of_programs(&topic.name));
                    given.extend(robots(&topic.name));
                }
                To::Programs => {
                    taken.extend(robots(&topic.name));
                    given.push(namespaces.of_programs(&topic.name));
                }
            }
        }
        let looped = given.into_iter().find(|name| taken.contains(name));
        let served: BTreeSet<String> =
            self.services.iter().map(|service| namespaces.of_programs(&service.name)).collect();
        let called = self.services.iter().flat_map(|service| robots(&service.name));
        let looped = looped.or_else(|| called.into_iter().find(|name| served.contains(name)));
        if let Some(name) = looped {
            return Err(TableError::Loop { name });
        }
        let mut known = BTreeSet::new();
        match namespaces.robots.iter().find(|robot| !known.insert(*robot)) {
            Some(robot) => Err(TableError::Twice { name: robot.clone() }),
            None => Ok(()),
        }
    }
}

impl Namespaces {
    /// `programs` may be the root, `/`.
    pub fn new(programs: &str, robots: &[String]) -> Self {
        let clean = |namespace: &str| match namespace.trim_matches('/') {
            "" => String::new(),
            inner => format!("/{inner}"),
        };
        Self { programs: clean(programs), robots: robots.iter().map(|robot| clean(robot)).collect() }
    }

    /// The robots' namespaces, for display.
    pub fn robots(&self) -> impl Iterator<Item = &str> {
        self.robots.iter().map(|robot| if robot.is_empty() { "/" } else { robot.as_str() })
    }

    /// The full name for programs.
    pub fn of_programs(&self, name: &str) -> String {
        format!("{}/{name}", self.programs)
    }

    /// The full name at each robot.
    pub fn all_of_robots(&self, name: &str) -> Vec<String> {
        self.robots.iter().map(|robot| format!("{robot}/{name}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn namespaces(programs: &str, robots: &[&str]) -> Namespaces {
        Namespaces::new(programs, &robots.iter().map(|robot| (*robot).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_turtlebots_table_joins_two_namespaces_with_a_third() {
        let table = Table::turtlebot().unwrap();
        let arm = table.services.iter().filter(|service| service.type_name.starts_with("arbotix_msgs"));
        assert_eq!(arm.count(), 18);
        for (programs, robots) in [("/", ["/real", "/sim"]), ("both", ["/", "sim/"]), ("/a/b", ["/a", "/b"])]
        {
            assert_eq!(table.check(&namespaces(programs, &robots)), Ok(()), "{programs} {robots:?}");
        }
    }

    #[test]
    fn circles_are_refused() {
        let table = Table::turtlebot().unwrap();
        for (programs, robots) in
            [("/", ["/", "/sim"]), ("/real", ["/real/", "/sim"]), ("sim", ["/real", "/sim"])]
        {
            let refused = table.check(&namespaces(programs, &robots));
            assert!(matches!(refused, Err(TableError::Loop { .. })), "{programs} {robots:?}");
        }
        let twice = table.check(&namespaces("/", &["/sim", "sim"]));
        assert_eq!(twice, Err(TableError::Twice { name: "/sim".to_owned() }));
        assert_eq!(table.check(&namespaces("/", &[])), Err(TableError::NoRobot));
        // By way of a name within another robot's namespace.
        let text = "topics: [{name: a/x, type: T, to: robots}, {name: x, type: T, to: robots}]";
        let crossed = Table::from_yaml(text).unwrap().check(&namespaces("/", &["/a"]));
        assert_eq!(crossed, Err(TableError::Loop { name: "/a/x".to_owned() }));
    }

    #[test]
    fn what_is_unknown_is_left_out_with_a_note() {
        let text = "topics:\n- name: a\n  type: T\n  to: robots\n  colour: red\n";
        let notes = Table::from_yaml(text).unwrap().notes;
        assert_eq!(
            notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["line 5: topics[0]: the unknown key 'colour' is left out"]
        );
        let error = Table::from_yaml(&text.replace("robots", "robot")).unwrap_err().to_string();
        assert!(error.contains("line 4") && error.ends_with("did you mean 'robots'?"), "{error}");
    }

    #[test]
    fn invalid_input_is_refused() {
        let topic =
            |name: &str| format!("topics: [{{name: '{name}', type: std_msgs/msg/Empty, to: robots}}]");
        for name in ["", "/a", "a//b", "a b", "1a", "a/"] {
            assert_eq!(Table::from_yaml(&topic(name)), Err(TableError::Name { name: name.to_owned() }));
        }
        let twice = "services: [{name: a, type: T}, {name: a, type: U}]";
        assert!(matches!(Table::from_yaml(twice), Err(TableError::Twice { .. })));
        for text in [
            "topics: [{name: a, type: T}]",
            "topics: [{name: a, type: T, to: robots, latchd: true}]",
            "- a",
            "topics: [",
        ] {
            assert!(matches!(Table::from_yaml(text), Err(TableError::Yaml { .. })), "{text}");
        }
    }
}
