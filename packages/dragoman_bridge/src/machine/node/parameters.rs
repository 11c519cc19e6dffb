//! The node's parameters: constants of the description, times, maximum velocities, the link.

use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::model::bridge::Constant;
use dragoman_ros::parameters;
use dragoman_ros::parameters::{Declaration, ParameterSet, Values};
use dragoman_ros::velocity::VelocityParameters;

use super::shared::Shared;
use crate::machine::interface::Interface;
use crate::machine::plan::{
    MAX_IN_FLIGHT, MAX_RETRIES, MAX_TIME, MIN_ANSWER, MIN_RECONNECT, MIN_SILENCE, Timings,
};
use crate::machine::standard::VELOCITIES;

parameters! {
    /// Times and limits of the conversation; the defaults are those of the description.
    pub(super) struct TimingParameters {
        /// Time within which a question is answered, s.
        answer as "timing.answer": Duration, in MIN_ANSWER..=MAX_TIME, settable;
        /// How often a question that may be repeated is asked again.
        retries as "timing.retries": u32, in 0..=MAX_RETRIES, settable;
        /// Maximum number of questions without an answer yet.
        in_flight as "timing.in_flight": usize, in 1..=MAX_IN_FLIGHT, settable;
        /// Minimum time between two messages to the machine, s.
        pace as "timing.pace": Duration, in 0.0..=MAX_TIME, settable;
        /// Time without a message after which the machine is silent, s.
        silence as "timing.silence": Duration, in MIN_SILENCE..=MAX_TIME, settable;
        /// Delay before a lost link is opened again, s.
        reconnect as "timing.reconnect": Duration, in MIN_RECONNECT..=MAX_TIME, settable;
        /// Maximum of this delay, which doubles with each failure, s.
        reconnect_max as "timing.reconnect_max": Duration, in MIN_RECONNECT..=MAX_TIME, settable;
    }
}

impl From<Timings> for TimingParameters {
    fn from(timings: Timings) -> Self {
        let Timings { answer, retries, in_flight, pace, silence, reconnect: [reconnect, reconnect_max] } =
            timings;
        Self { answer, retries, in_flight, pace, silence, reconnect, reconnect_max }
    }
}

impl TimingParameters {
    fn timings(&self) -> Timings {
        let Self { answer, retries, in_flight, pace, silence, reconnect, reconnect_max } = *self;
        Timings { answer, retries, in_flight, pace, silence, reconnect: [reconnect, reconnect_max] }
    }
}

/// Parameters of cmd_vel.
#[derive(Clone)]
pub(super) struct Velocities {
    pub(super) stamped: VelocityParameters,
    /// Time for which a command holds.
    pub(super) timeout: Duration,
    /// The maxima of the description.
    described: [Option<f64>; 3],
    /// The present maxima ahead, to the left, m/s, and about the vertical axis, rad/s.
    pub(super) limits: [Option<f64>; 3],
}

/// Name of the maximum of a velocity.
fn maximum(velocity: &str) -> String {
    format!("{velocity}.max_velocity")
}

const TIMEOUT: &str = "cmd_vel_timeout_sec";
const FRAME_PREFIX: &str = "frame_prefix";

/// The parameters of a machine's node.
#[derive(Clone)]
pub(super) struct MachineParameters {
    shared: Arc<Shared>,
    constants: Vec<(String, Constant)>,
    timing: TimingParameters,
    pub(super) velocities: Option<Velocities>,
    /// Where the machine is, as --link has it.
    pub(super) link: String,
    /// Text in front of the names of its frames.
    pub(super) frame_prefix: String,
}

impl MachineParameters {
    pub(super) fn new(shared: &Arc<Shared>, link: &str, frame_prefix: &str) -> Self {
        let bridge = shared.plan.codec().protocol().bridge.as_ref();
        let constants = bridge.into_iter().flat_map(|bridge| bridge.constants.clone()).collect();
        let velocities = shared.velocity.as_ref().map(|velocity| Velocities {
            stamped: VelocityParameters::default(),
            timeout: velocity.timeout,
            described: velocity.limits,
            limits: velocity.limits,
        });
        Self {
            shared: Arc::clone(shared),
            constants,
            timing: shared.plan.timings.into(),
            velocities,
            link: link.to_owned(),
            frame_prefix: frame_prefix.to_owned(),
        }
    }

    /// The values of the constants, in their order, from those of all parameters.
    fn constants(&self, values: &Values) -> Vec<f64> {
        let value = |(name, constant): &(String, Constant)| {
            let mut value = constant.value;
            values.copy(name, &mut value);
            value
        };
        self.constants.iter().map(value).collect()
    }
}

impl ParameterSet for MachineParameters {
    fn declarations(&self) -> Vec<Declaration> {
        let text = "Where the machine is, as of --link: serial port, address, or CAN interface.";
        let mut all = vec![Declaration::new("link", &self.link, text)];
        let text = "Text in front of the names of all frames, such as 'left/'.";
        all.push(Declaration::new(FRAME_PREFIX, &self.frame_prefix, text));
        all.extend(self.timing.declarations());
        if let Some(velocities) = &self.velocities {
            all.extend(velocities.stamped.declarations());
            let text = "Time for which a velocity command holds, s.";
            let longest = velocities.timeout.as_secs_f64().max(10.0);
            all.push(Declaration::new(TIMEOUT, &velocities.timeout, text).within(0.01..=longest));
            for (name, limit) in VELOCITIES.into_iter().zip(velocities.described) {
                // The description has checked its own maximum: it can only be lowered.
                if let Some(limit) = limit {
                    let text = match name {
                        "linear" => "Maximum speed ahead and back, m/s.",
                        "lateral" => "Maximum speed to the sides, m/s.",
                        _ => "Maximum turn rate, rad/s.",
                    };
                    all.push(Declaration::new(maximum(name), &limit, text).within(0.0..=limit).settable());
                }
            }
        }
        for (name, constant) in &self.constants {
            let meaning = constant.meaning.as_deref().unwrap_or("constant of the description");
            let unit = constant.unit.as_ref().map(|unit| format!(", {unit}")).unwrap_or_default();
            let declared = Declaration::new(name.clone(), &constant.value, format!("{meaning}{unit}"));
            let declared = match constant.range {
                Some([low, high]) => declared.within(low..=high),
                None => declared,
            };
            all.push(declared.settable());
        }
        all
    }

    fn update(&mut self, values: &Values) {
        values.copy("link", &mut self.link);
        values.copy(FRAME_PREFIX, &mut self.frame_prefix);
        self.timing.update(values);
        if let Some(velocities) = &mut self.velocities {
            velocities.stamped.update(values);
            values.copy(TIMEOUT, &mut velocities.timeout);
            for (name, limit) in VELOCITIES.into_iter().zip(&mut velocities.limits) {
                if let Some(limit) = limit {
                    values.copy(&maximum(name), limit);
                }
            }
        }
        self.shared.configure(self.timing.timings(), &self.constants(values));
    }

    fn check(&self, values: &Values) -> Result<(), String> {
        self.shared.check_constants(&self.constants(values))
    }
}

/// The names of the parameters of a machine's node.
pub fn names(interface: &Interface) -> Vec<String> {
    let timing = TimingParameters::from(interface.plan.timings).declarations();
    let fixed = ["link", FRAME_PREFIX]
        .into_iter()
        .map(str::to_owned)
        .chain(timing.into_iter().map(|one| one.name.into_owned()));
    let velocity = interface.velocity.iter().flat_map(|velocity| {
        let limits = VELOCITIES.into_iter().zip(velocity.limits);
        let limits = limits.filter(|(_, limit)| limit.is_some()).map(|(name, _)| maximum(name));
        let stamped = VelocityParameters::default().declarations();
        stamped.into_iter().map(|one| one.name.into_owned()).chain([TIMEOUT.to_owned()]).chain(limits)
    });
    let constants = interface.plan.constants.iter().map(|(name, _)| name.to_owned());
    fixed.chain(velocity).chain(constants).collect()
}
