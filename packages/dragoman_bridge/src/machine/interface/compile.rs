//! Finds the names and types of the topics and services of a description.

use std::collections::BTreeMap;
use std::sync::Arc;

use dragoman_protocol::codec::{Codec, CodecError, MessageId};
use dragoman_protocol::model::Role;
use dragoman_protocol::model::bridge::{self, Bridge, Quality, Sending, Setting};
use dragoman_ros::QosProfile;
use dragoman_types::schema::{Structure, Types};

use super::{Command, Failure, Publication, Service, Subscription, Switch, Velocity};
use crate::machine::mapping::{RosNames, ToRos};
use crate::machine::outbox::Period;
use crate::machine::outgoing::Outgoing;
use crate::machine::plan::{
    MOTION_TIMEOUT, NoNames, Plan, error, heard, is_name, is_sent, seconds, stands_still,
};
use crate::machine::standard::{VELOCITIES, VelocityNames};
use crate::machine::term::{MessageNames, Names, Shape, Term};

pub(super) struct Compiler<'a> {
    pub(super) codec: &'a Codec,
    pub(super) plan: &'a Plan,
    pub(super) types: &'a Types,
    pub(super) bridge: &'a Bridge,
}

impl Compiler<'_> {
    pub(super) fn publication(
        &self,
        place: &str,
        described: &bridge::Publish,
    ) -> Result<Publication, CodecError> {
        let structure = self.structure(place, &described.kind)?;
        let from = heard(self.codec, &described.from).map_err(|reason| error(place, reason))?;
        let frame = described.frame.clone().map(Setting::Text);
        let to = ToRos::new(
            self.codec,
            from,
            Arc::clone(&structure),
            &described.fields,
            [described.when.as_ref(), frame.as_ref()],
            &self.plan.constants,
        );
        Ok(Publication {
            topic: self.name(place, &described.topic)?,
            kind: structure.name.clone(),
            qos: quality(described.qos),
            from,
            to: to.map_err(|reason| error(place, reason))?,
            period: Period::new(place, described.period)?,
        })
    }

    pub(super) fn subscription(
        &self,
        place: &str,
        described: &bridge::Subscribe,
    ) -> Result<Subscription, CodecError> {
        let structure = self.structure(place, &described.kind)?;
        Ok(Subscription {
            topic: self.name(place, &described.topic)?,
            kind: structure.name.clone(),
            qos: quality(described.qos),
            command: self.command(place, structure, &described.command)?,
        })
    }

    pub(super) fn service(&self, place: &str, described: &bridge::Service) -> Result<Service, CodecError> {
        let wrong = |reason: String| error(place, reason);
        let [request, response] = self.types.service(&described.kind).map_err(|reason| {
            let hint = dragoman_text::nearest(&described.kind, super::super::services::ON_R2R)
                .map_or(String::new(), |kind| format!("; did you mean '{kind}'?"));
            // A service is two types, of which the reason names one.
            wrong(reason.to_string().replace("_Request", "") + &hint)
        })?;
        let command = self.command(place, request, &described.command)?;
        let asked = command.outgoing.message;
        if !self.plan.is_question(asked) && (described.fails.is_some() || !described.response.is_empty()) {
            return Err(wrong(format!(
                "nothing answers {}: response and fails have no fields",
                described.command.send
            )));
        }
        let message = self.answer_of(asked);
        let constants = &self.plan.constants;
        let answer = self.plan.is_question(asked).then(|| {
            ToRos::new(
                self.codec,
                message,
                Arc::clone(&response),
                &described.response,
                [None, None],
                constants,
            )
            .map_err(|reason| wrong(format!("response: {reason}")))
        });
        let fails = self.failure(place, asked, described.fails.as_ref())?;
        Ok(Service {
            name: self.name(place, &described.service)?,
            kind: described.kind.clone(),
            command,
            response,
            answer: answer.transpose()?,
            fails,
        })
    }

    /// The message that answers a question.
    fn answer_of(&self, asked: MessageId) -> MessageId {
        self.plan.other_answer(asked).unwrap_or(MessageId { is_answer: true, ..asked })
    }

    /// Which answers to a question are errors.
    pub(super) fn failure(
        &self,
        place: &str,
        asked: MessageId,
        described: Option<&bridge::Fails>,
    ) -> Result<Option<Failure>, CodecError> {
        let Some(fails) = described else { return Ok(None) };
        let wrong = |reason: String| error(place, format!("fails: {reason}"));
        if !self.plan.is_question(asked) {
            return Err(wrong(format!("nothing answers {}", self.plan.name_of(asked))));
        }
        let message = self.answer_of(asked);
        let mut paths = Vec::new();
        let mut names = MessageNames::new(self.codec, message, &mut paths);
        let when = Term::read(&fails.when, &self.plan.constants, &mut names)
            .map_err(|reason| wrong(format!("when: {reason}")))?;
        let reason = fails.reason.as_deref().map(|name| self.codec.path(message, name)).transpose();
        let reason = reason.map_err(|reason| wrong(format!("reason: {reason}")))?;
        Ok(Some(Failure { when, paths, reason }))
    }

    /// Whether what is sent moves the machine.
    pub(super) fn moves(&self, sent: &bridge::Command) -> bool {
        let message = self.codec.message_named(&sent.send);
        let message = message.and_then(|message| self.codec.protocol().messages.get(message.number));
        sent.moves || message.is_some_and(|message| message.role == Role::Start)
    }

    pub(super) fn command(
        &self,
        place: &str,
        structure: Arc<Structure>,
        sent: &bridge::Command,
    ) -> Result<Command, CodecError> {
        let wrong = |reason: String| error(place, reason);
        is_sent(self.codec, &sent.send).map_err(wrong)?;
        let mut paths = Vec::new();
        let mut names = RosNames::new(&structure, &mut paths);
        let constants = &self.plan.constants;
        let outgoing =
            Outgoing::new(self.codec, &sent.send, &sent.fields, &sent.limits, constants, &mut names)
                .map_err(|reason| error(place, reason))?;
        let moves = self.moves(sent);
        if !moves && sent.timeout.is_some() {
            return Err(error(place, "timeout is for what moves something: moves: true"));
        }
        let timeout = if moves {
            if let Some(field) = outgoing.unlimited() {
                return Err(error(place, format!("it moves the machine: limits need a range of {field}")));
            }
            self.check_stop(place)?;
            Some(seconds(&format!("{place}: timeout"), sent.timeout.unwrap_or(MOTION_TIMEOUT), 0.01)?)
        } else {
            None
        };
        Ok(Command {
            structure,
            paths,
            outgoing,
            timeout,
            state: self.plan.state_named(&format!("{place}: in"), sent.state.as_deref())?,
        })
    }

    pub(super) fn velocity(&self, place: &str, described: &bridge::CmdVel) -> Result<Velocity, CodecError> {
        /// Velocities that are used.
        struct Used([bool; 3]);
        impl Names for Used {
            fn find(&mut self, name: &str) -> Result<(usize, Shape), String> {
                let found = VelocityNames.find(name)?;
                if let Some(used) = self.0.get_mut(found.0) {
                    *used = true;
                }
                Ok(found)
            }
        }
        let (mut used, no_limits) = (Used([false; 3]), BTreeMap::new());
        let constants = &self.plan.constants;
        let mut outgoing = Vec::new();
        for Sending { send, fields } in described.messages() {
            is_sent(self.codec, &send).map_err(|reason| error(place, reason))?;
            let one = Outgoing::new(self.codec, &send, &fields, &no_limits, constants, &mut used);
            outgoing.push(one.map_err(|reason| error(place, reason))?);
        }
        if outgoing.is_empty() {
            return Err(error(place, "send names no message"));
        }
        if let Some(name) = described.limits.keys().find(|name| !VELOCITIES.contains(&name.as_str())) {
            let hint = dragoman_text::hint(name, VELOCITIES.iter().copied());
            return Err(error(&format!("{place}: limits"), format!("there is no velocity {name}{hint}")));
        }
        let mut limits = [None; 3];
        for ((limit, name), used) in limits.iter_mut().zip(VELOCITIES).zip(used.0) {
            *limit = described.limits.get(name).copied();
            if let Some(value) = limit.filter(|value| !value.is_finite() || *value < 0.0) {
                return Err(error(
                    &format!("{place}: limits: {name}"),
                    format!("{value} is not a maximum: it must be 0 or more"),
                ));
            }
            if used && limit.is_none() {
                return Err(error(place, format!("it moves the machine: limits need a maximum of {name}")));
            }
        }
        self.check_stop(place)?;
        let timeout =
            seconds(&format!("{place}: timeout"), described.timeout.unwrap_or(MOTION_TIMEOUT), 0.01)?;
        let velocity = Velocity {
            outgoing,
            limits,
            timeout,
            state: self.plan.state_named(&format!("{place}: in"), described.state.as_deref())?,
        };
        velocity.check(self.codec).map_err(|reason| error(place, reason))?;
        Ok(velocity)
    }

    /// What switches the motors on, and off.
    pub(super) fn motor_power(
        &self,
        place: &str,
        described: &bridge::MotorPower,
    ) -> Result<[Switch; 2], CodecError> {
        let one = |sending: &bridge::Sending| {
            let send = &sending.send;
            let new = is_sent(self.codec, send).and_then(|()| stands_still(self.codec, send));
            let new = new.and_then(|()| {
                let (no_limits, constants) = (BTreeMap::new(), &self.plan.constants);
                Outgoing::new(self.codec, send, &sending.fields, &no_limits, constants, &mut NoNames)
            });
            let new = new.and_then(|outgoing| outgoing.check(self.codec).map(|()| outgoing));
            let outgoing = new.map_err(|reason| error(place, reason))?;
            let fails = self.failure(place, outgoing.message, described.fails.as_ref())?;
            Ok(Switch { outgoing, fails })
        };
        Ok([one(&described.on)?, one(&described.off)?])
    }

    fn check_stop(&self, place: &str) -> Result<(), CodecError> {
        if self.bridge.stop.0.is_empty() {
            let reason = "it moves the machine: bridge needs stop, the message that stops it";
            return Err(error(place, reason));
        }
        Ok(())
    }

    fn structure(&self, place: &str, kind: &str) -> Result<Arc<Structure>, CodecError> {
        self.types.message(kind).map_err(|reason| error(place, reason.to_string()))
    }

    /// A name of a topic or service, below the machine's unless it begins with a slash.
    pub(super) fn name(&self, place: &str, name: &str) -> Result<String, CodecError> {
        if name.strip_prefix('/').unwrap_or(name).split('/').all(is_name) {
            return Ok(name.to_owned());
        }
        Err(error(place, format!("'{name}' is not a name: letters, digits, _ and / between them")))
    }
}

fn quality(described: Quality) -> QosProfile {
    let qos = QosProfile::default().keep_last(described.depth.max(1));
    let qos = if described.reliable { qos.reliable() } else { qos.best_effort() };
    if described.transient_local { qos.transient_local() } else { qos.volatile() }
}
