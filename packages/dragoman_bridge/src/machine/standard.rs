//! Standard meanings of a machine's messages by one word: odometry, joint states, laser scans, batteries, inertia.

mod battery;
mod imu;
mod joints;
mod laser_scan;
mod motion;
mod odometry;
mod range;
mod topic;

use std::time::Duration;

use dragoman_protocol::codec::{Codec, CodecError, Item, MessageId, Path, Values};
use dragoman_protocol::model::bridge::{Bridge, Setting};
use dragoman_ros::{Node, WrappedTypesupport};

use battery::BatteryMeaning;
use imu::ImuMeaning;
use joints::JointMeaning;
use laser_scan::ScanMeaning;
use odometry::OdometryMeaning;
use range::RangeMeaning;
use topic::Topic;

use super::outbox::Outbox;
use super::plan::{error, heard};
use super::term::{Constants, Message, MessageNames, Names, Shape, Term};

/// The velocities of a command, as names for terms.
pub(crate) struct VelocityNames;

/// Names of velocities.
pub(crate) const VELOCITIES: [&str; 3] = ["linear", "lateral", "angular"];

impl Names for VelocityNames {
    fn find(&mut self, name: &str) -> Result<(usize, Shape), String> {
        let found = VELOCITIES.iter().position(|one| *one == name);
        found.map(|at| (at, Shape::Number)).ok_or_else(|| {
            format!("there is no velocity {name}{}", dragoman_text::hint(name, VELOCITIES.iter().copied()))
        })
    }
}

/// Terms of a message.
struct Reader<'a> {
    codec: &'a Codec,
    message: MessageId,
    constants: &'a Constants,
    place: &'a str,
    paths: Vec<Path>,
}

impl Reader<'_> {
    fn term(&mut self, name: &str, setting: &Setting) -> Result<Term, CodecError> {
        let mut names = MessageNames::new(self.codec, self.message, &mut self.paths);
        Term::read(setting, self.constants, &mut names)
            .map_err(|reason| error(&format!("{}: {name}", self.place), reason))
    }

    fn optional(&mut self, name: &str, setting: Option<&Setting>) -> Result<Option<Term>, CodecError> {
        setting.map(|setting| self.term(name, setting)).transpose()
    }

    /// A field, which may be a list.
    fn field(&self, name: &str, field: &str) -> Result<Path, CodecError> {
        let path = self.codec.path(self.message, field);
        path.map_err(|reason| error(&format!("{}: {name}", self.place), reason))
    }
}

/// What a message of the machine means.
trait Meaning: Send {
    /// The message of ROS.
    type Message: WrappedTypesupport + Send + 'static;

    /// Makes the message of ROS.
    ///
    /// # Errors
    /// A value does not exist.
    fn publish(
        &mut self,
        topic: &Topic<Self::Message>,
        lookup: &Message<'_>,
        now: Duration,
        out: &mut Outbox,
    ) -> Result<(), String>;

    /// Whether the topic is named for people; not if another meaning has the same one.
    fn is_listed(&self) -> bool {
        true
    }

    /// Creates other topics.
    ///
    /// # Errors
    /// Those of the middleware.
    fn open_others(&mut self, _node: &mut Node) -> dragoman_ros::Result<()> {
        Ok(())
    }

    /// Puts `prefix` in front of other frames than that of the topic.
    fn prefix_others(&mut self, _prefix: &str) {}

    /// The link was lost: what is measured later does not follow from what was measured before.
    fn reset(&mut self) {}
}

/// A meaning and its topic.
struct Entry<M: Meaning> {
    topic: Topic<M::Message>,
    meaning: M,
}

/// A meaning with any type of message.
trait AnyEntry: Send {
    /// The message of the machine from which it comes.
    fn message(&self) -> MessageId;

    /// Name and type of the topic; `None` if it is not listed.
    fn topic(&self) -> Option<(&str, &'static str)>;

    fn open(&mut self, node: &mut Node) -> dragoman_ros::Result<()>;

    fn prefix_frames(&mut self, prefix: &str);

    fn publish(
        &mut self,
        codec: &Codec,
        values: &Values,
        now: Duration,
        out: &mut Outbox,
    ) -> Result<(), String>;

    fn reset(&mut self);
}

impl<M: Meaning> AnyEntry for Entry<M> {
    fn message(&self) -> MessageId {
        self.topic.message()
    }

    fn topic(&self) -> Option<(&str, &'static str)> {
        self.meaning.is_listed().then(|| (self.topic.name(), self.topic.kind()))
    }

    fn open(&mut self, node: &mut Node) -> dragoman_ros::Result<()> {
        self.topic.open(node)?;
        self.meaning.open_others(node)
    }

    fn prefix_frames(&mut self, prefix: &str) {
        self.topic.prefix_frame(prefix);
        self.meaning.prefix_others(prefix);
    }

    fn publish(
        &mut self,
        codec: &Codec,
        values: &Values,
        now: Duration,
        out: &mut Outbox,
    ) -> Result<(), String> {
        self.meaning.publish(&self.topic, &self.topic.lookup(codec, values), now, out)
    }

    fn reset(&mut self) {
        self.meaning.reset();
    }
}

/// Everything with a standard meaning.
pub(crate) struct Standard(Vec<Box<dyn AnyEntry>>);

impl Standard {
    /// Reads the meanings.
    ///
    /// # Errors
    /// A message or field does not exist.
    pub(crate) fn new(codec: &Codec, bridge: &Bridge, constants: &Constants) -> Result<Self, CodecError> {
        let bridge_place = format!("{}: bridge", codec.protocol().name);
        let mut all: Vec<Box<dyn AnyEntry>> = Vec::new();
        macro_rules! read {
            ($kind:literal, $described:expr, |$one:ident, $reader:ident| $new:expr) => {
                for $one in $described {
                    let place = format!("{bridge_place}: {}", $kind);
                    let message = heard(codec, &$one.from)
                        .map_err(|reason| error(&format!("{place}: from"), reason))?;
                    let $reader = Reader { codec, message, constants, place: &place, paths: Vec::new() };
                    all.push(Box::new($new?));
                }
            };
        }
        read!("odometry", bridge.odometry.iter(), |one, reader| OdometryMeaning::new(one, reader));
        read!("joint_states", bridge.joint_states.iter(), |one, reader| {
            let is_first = bridge.joint_states.first().is_some_and(|first| std::ptr::eq(first, one));
            JointMeaning::new(one, reader, is_first)
        });
        read!("laser_scan", bridge.laser_scan.iter(), |one, reader| ScanMeaning::new(one, reader));
        read!("range", bridge.range.iter(), |one, reader| RangeMeaning::new(one, reader));
        read!("battery", bridge.battery.iter(), |one, reader| BatteryMeaning::new(one, reader));
        read!("imu", bridge.imu.iter(), |one, reader| ImuMeaning::new(one, reader));
        Ok(Self(all))
    }

    /// The names of the topics.
    pub(crate) fn topics(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|one| one.topic()).map(|(topic, _)| topic)
    }

    /// The topics, a line each, for people.
    pub(crate) fn lines(&self) -> Vec<String> {
        let all = self.0.iter().filter_map(|one| one.topic());
        all.map(|(topic, kind)| format!("publishes {topic} ({kind})")).collect()
    }

    /// Creates the topics.
    ///
    /// # Errors
    /// Those of the middleware.
    pub(crate) fn open(&mut self, node: &mut Node) -> dragoman_ros::Result<()> {
        self.0.iter_mut().try_for_each(|one| one.open(node))
    }

    /// Puts `prefix` in front of all frames.
    pub(crate) fn prefix_frames(&mut self, prefix: &str) {
        self.0.iter_mut().for_each(|one| one.prefix_frames(prefix));
    }

    /// Makes what a message means.
    ///
    /// # Errors
    /// A value does not exist.
    pub(crate) fn publish(
        &mut self,
        codec: &Codec,
        message: MessageId,
        values: &Values,
        now: Duration,
        out: &mut Outbox,
    ) -> Result<(), String> {
        let mut meanings = self.0.iter_mut().filter(|one| one.message() == message);
        meanings.try_for_each(|one| one.publish(codec, values, now, out))
    }

    /// The link was lost: what is measured later does not follow from what was measured before.
    pub(crate) fn reset(&mut self) {
        self.0.iter_mut().for_each(|one| one.reset());
    }
}

/// The numbers of a field, which may be a list, each converted.
fn numbers<T>(lookup: &Message<'_>, path: &Path, convert: impl Fn(f64) -> T) -> Vec<T> {
    let mut all = Vec::new();
    lookup.codec.find(lookup.message, lookup.values, path, &mut |item| {
        if let Item::Number(number) = item {
            all.push(convert(number.real()));
        }
    });
    all
}

/// REP 117: nearer than possible is -infinity, farther than possible infinity.
fn within_range(range: f32, range_min: f32, range_max: f32) -> f32 {
    if range < range_min {
        f32::NEG_INFINITY
    } else if range > range_max {
        f32::INFINITY
    } else {
        range
    }
}

/// A number that must be there.
fn needed(name: &str, term: &Term, lookup: &Message<'_>) -> Result<f64, String> {
    let value = term.number(lookup).map_err(|error| format!("{name}: {error}"))?;
    value.filter(|value| value.is_finite()).ok_or_else(|| format!("{name}: there is no value for it"))
}

/// A number, or NaN.
fn possible(term: Option<&Term>, lookup: &Message<'_>) -> f64 {
    term.and_then(|term| term.number(lookup).ok().flatten()).unwrap_or(f64::NAN)
}
