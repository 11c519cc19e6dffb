//! Programs and their tasks (PlatformCtrl guide, 6.5, "Program" and "Task").

use super::element::{AttributeField, Value, choice, element};
use super::{DocumentError, Element, Version, Wait, WriteError};

#[cfg(test)]
use super::properties::Source;

element! {
    /// Parallel tasks.
    #[derive(Default)]
    pub struct Program = "program" {
        attributes {
            /// Version of the DTD.
            version: Version = "version",
        }
        children {
            tasks: Vec<Task> = "task",
        }
    }

    /// A sequence of commands.
    #[derive(Default)]
    pub struct Task = "task" {
        attributes {
            /// Name used by `moveto`.
            name: String = "name",
            id: Option<String> = "id",
            /// Its priority; the guide does not say whether greater or smaller numbers are more urgent.
            priority: Option<i64> = "priority",
            /// Version of the DTD.
            version: Version = "version",
        }
        children {
            /// Its commands, in order.
            steps: Vec<Step> = "",
        }
    }

    /// Sets digital outputs.
    #[derive(Default)]
    pub struct IoEvent = "ioevent" {
        children {
            digital_out: DigitalOut = "digitalout",
        }
    }

    /// New states of the digital outputs.
    #[derive(Default)]
    pub struct DigitalOut = "digitalout" {
        attributes {
            /// D1 to D12.
            outputs: Outputs = "D",
        }
    }

    /// Jumps to a label.
    #[derive(Default)]
    pub struct Goto = "goto" {
        attributes {
            /// Name of the label.
            label: String = "label",
            /// Condition; none: always.
            condition: Option<Condition> = "condition",
        }
    }

    /// A target of `goto`.
    #[derive(Default)]
    pub struct Label = "label" {
        attributes {
            name: String = "name",
        }
    }

    /// Loads map and roadmap.
    #[derive(Default)]
    pub struct Load = "load" {
        attributes {
            /// File of the map.
            map: Option<String> = "map",
            /// File of the roadmap.
            roadmap: Option<String> = "roadmap",
        }
    }

    /// Sends a message to the user.
    #[derive(Default)]
    pub struct Log = "log" {
        attributes {
            /// Kind of message; the guide lists none.
            kind: Option<String> = "type",
            message: String = "message",
        }
    }

    /// Moves or stops the platform.
    #[derive(Default)]
    pub struct Motion = "motion" {
        attributes {
            /// Whether to stop it.
            stop: Option<Bit> = "stop",
        }
        children {
            action: Option<MotionAction> = "settarget or moveto",
        }
    }

    /// Sets the next target.
    #[derive(Default)]
    pub struct SetTarget = "settarget" {
        children {
            /// The target; `None`: missing or not defined in the guide.
            place: Option<TargetPlace> = "coord or station",
        }
    }

    /// A pose in the world.
    #[derive(Default)]
    pub struct Coordinates = "coord" {
        attributes {
            x_mm: f64 = "x",
            y_mm: f64 = "y",
            /// From the x axis.
            angle_deg: f64 = "angle",
        }
    }

    /// A station of the roadmap.
    #[derive(Default)]
    pub struct StationTarget = "station" {
        attributes {
            name: String = "name",
        }
    }

    /// Moves to an object.
    #[derive(Default)]
    pub struct MoveTo = "moveto" {
        attributes {
            /// Name of the task to carry out when it fails.
            on_error_task: Option<String> = "onErrorTask",
        }
        children {
            /// The object; `None`: missing or not defined in the guide.
            target: Option<MoveTarget> = "trackedperson, trackedball, trackedmovingobject or chargingstation",
        }
    }

    /// A person.
    #[derive(Default)]
    pub struct TrackedPerson = "trackedperson" {}

    /// A ball.
    #[derive(Default)]
    pub struct TrackedBall = "trackedball" {}

    /// A moving object.
    #[derive(Default)]
    pub struct TrackedMovingObject = "trackedmovingobject" {}

    /// The charging station.
    #[derive(Default)]
    pub struct ChargingStation = "chargingstation" {}

    /// Sets a parameter.
    #[derive(Default)]
    pub struct Parameter = "parameter" {
        children {
            set: Set = "set",
        }
    }

    /// A parameter and its value.
    #[derive(Default)]
    pub struct Set = "set" {
        attributes {
            /// Name of the parameter.
            key: String = "key",
            value: String = "value",
        }
    }

    /// Saves pictures or scans, or moves the camera.
    #[derive(Default)]
    pub struct Surveillance = "surveillance" {
        children {
            /// The action; `None`: missing or not defined in the guide.
            action: Option<SurveillanceAction> = "grab or movecamera",
        }
    }

    /// Saves a scan, an image, or both.
    #[derive(Default)]
    pub struct Grab = "grab" {
        attributes {
            /// Without `.jpg` and `.dat`, which are appended. Unchecked.
            file_name: String = "filename",
            /// Whether to save a scan.
            is_grabbing_scan: Option<bool> = "grabscan",
            /// Whether to save an image.
            is_grabbing_image: Option<bool> = "grabimage",
            /// Whether the platform observes by itself.
            is_observing: Option<bool> = "autoobservation",
        }
    }

    /// Moves the camera.
    #[derive(Default)]
    pub struct MoveCamera = "movecamera" {
        attributes {
            /// In the camera's own syntax.
            position_text: String = "position",
        }
    }

    /// Speaks or plays a sound.
    #[derive(Default)]
    pub struct Audio = "audio" {
        children {
            /// The action; `None`: missing or not defined in the guide.
            action: Option<AudioAction> = "speak or play",
        }
    }

    /// Speaks a text.
    #[derive(Default)]
    pub struct Speak = "speak" {
        attributes {
            text: String = "text",
        }
    }

    /// Plays a sound.
    #[derive(Default)]
    pub struct Play = "play" {
        attributes {
            /// Unchecked.
            file_name: String = "filename",
        }
    }

    /// Turns the head.
    #[derive(Default)]
    pub struct TurnHead = "turnhead" {
        attributes {
            angle_deg: f64 = "angle",
        }
    }
}

choice! {
    /// A command of a task.
    pub enum Step {
        /// Sets digital outputs.
        IoEvent(IoEvent),
        /// Jumps to a label.
        Goto(Goto),
        /// A target of `goto`.
        Label(Label),
        /// Loads map and roadmap.
        Load(Load),
        /// Sends a message to the user.
        Log(Log),
        /// Moves or stops the platform.
        Motion(Motion),
        /// Sets a parameter.
        Parameter(Parameter),
        /// Saves pictures or scans, or moves the camera.
        Surveillance(Surveillance),
        /// Speaks or plays a sound.
        Audio(Audio),
        /// Turns the head.
        TurnHead(TurnHead),
        /// Waits for an event.
        Wait(Wait),
        @
        /// A command that the guide does not define; a program with it does not run.
        Unknown
    }

    /// What a `motion` element does.
    pub enum MotionAction {
        /// Sets the next target.
        SetTarget(SetTarget),
        /// Moves to an object.
        MoveTo(MoveTo),
    }

    /// Where a target is: coordinates or a station.
    pub enum TargetPlace {
        /// A pose in the world.
        Coordinates(Coordinates),
        /// A station of the roadmap.
        Station(StationTarget),
    }

    /// An object that the platform follows or drives to.
    pub enum MoveTarget {
        TrackedPerson(TrackedPerson),
        TrackedBall(TrackedBall),
        /// A moving object.
        TrackedMovingObject(TrackedMovingObject),
        /// The charging station.
        ChargingStation(ChargingStation),
    }

    /// What a `surveillance` element does.
    pub enum SurveillanceAction {
        /// Saves a scan, an image, or both.
        Grab(Grab),
        /// Moves the camera.
        MoveCamera(MoveCamera),
    }

    /// What an `audio` element does.
    pub enum AudioAction {
        /// Speaks a text.
        Speak(Speak),
        /// Plays a sound.
        Play(Play),
    }
}

/// New state of a digital output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OutputState {
    /// -1: unchanged.
    #[default]
    Unchanged,
    /// 0: low.
    Off,
    /// 1: high.
    On,
}

impl Value for OutputState {
    const KIND: &'static str = "-1, 0 or 1";

    fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "-1" => Some(Self::Unchanged),
            "0" => Some(Self::Off),
            "1" => Some(Self::On),
            _ => None,
        }
    }

    fn print(&self) -> Option<String> {
        let text = match self {
            Self::Unchanged => "-1",
            Self::Off => "0",
            Self::On => "1",
        };
        Some(text.to_owned())
    }

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self {
        *source.one_of(&[Self::Unchanged, Self::Off, Self::On])
    }
}

/// The attributes D1 to D12 of `digitalout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Outputs(pub [OutputState; 12]);

/// Their names.
const OUTPUTS: [&str; 12] = ["D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8", "D9", "D10", "D11", "D12"];

impl AttributeField for Outputs {
    fn take(element: &mut Element, _: &'static str) -> Result<Self, DocumentError> {
        let mut outputs = [OutputState::default(); 12];
        for (output, name) in outputs.iter_mut().zip(OUTPUTS) {
            let state: Option<OutputState> = AttributeField::take(element, name)?;
            *output = state.unwrap_or_default();
        }
        Ok(Self(outputs))
    }

    fn put(&self, element: &mut Element, _: &'static str) -> Result<(), WriteError> {
        self.0.iter().zip(OUTPUTS).try_for_each(|(output, name)| AttributeField::put(output, element, name))
    }

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self {
        Self(std::array::from_fn(|_| Value::sample(source)))
    }
}

/// An attribute that is `1` or `0`; `true` and `false` are read too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Bit(pub bool);

impl Value for Bit {
    const KIND: &'static str = "1 or 0";

    fn parse(text: &str) -> Option<Self> {
        bool::parse(text).map(Self)
    }

    fn print(&self) -> Option<String> {
        Some(u8::from(self.0).to_string())
    }

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self {
        Self(source.flag())
    }
}

/// Condition of a `goto`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Condition {
    /// Always, or never.
    Constant(bool),
    /// True if the parameter with this key is true.
    Parameter(String),
}

impl Value for Condition {
    const KIND: &'static str = "a condition";

    fn parse(text: &str) -> Option<Self> {
        Some(bool::parse(text).map_or_else(|| Self::Parameter(text.to_owned()), Self::Constant))
    }

    fn print(&self) -> Option<String> {
        match self {
            Self::Constant(value) => value.print(),
            Self::Parameter(key) => Some(key.clone()),
        }
    }

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self {
        if source.flag() {
            Self::Constant(source.flag())
        } else {
            Self::Parameter("k".to_owned() + &source.text())
        }
    }
}
