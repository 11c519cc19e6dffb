//! The step-by-step conversation with one drive, with deadlines and retries: set-up, switching on and off.

use std::collections::VecDeque;
use std::time::Duration;

use canopen_rs::nmt::encode_command;
use canopen_rs::{Address, NmtCommand, NodeId, Value};
use dragoman_io::can::Frame;

use super::fault::Fault;
use crate::canopen::sdo::Progress;
use crate::canopen::{Service, Transfer};
use crate::simpliq::{Argument, Command, DriveAnswer, DriveRequest};

/// Timeout of an answer of the interpreter.
pub(super) const ANSWER_TIME: Duration = Duration::from_millis(50);
/// Attempts before the drive counts as not answering.
const ATTEMPTS: u8 = 3;
/// Timeout of a condition on the drive's reports.
const CONDITION_TIME: Duration = Duration::from_secs(3);

/// One step of a conversation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Step {
    /// Network management of this node; not confirmed.
    Nmt(NmtCommand),
    /// Writes an object.
    Write(Address, Value),
    /// Sets a value unless it is already set, and reads it back.
    Ensure(Command, i32),
    /// Sets a value.
    Set(Command, Argument),
    /// Reads a value, or executes a command without one.
    Ask(Command),
    /// Waits until the drive's reports fulfil a condition.
    Await(Condition),
}

/// Conditions that a step can wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    /// The drive reports its position.
    Reports,
    /// It is at rest.
    AtRest,
    /// Its power stage is on.
    On,
    /// Its power stage is off, and no fault is present.
    Off,
}

/// The step in progress.
#[derive(Debug)]
enum Current {
    Nothing,
    Transfer(Transfer),
    Asked { request: DriveRequest, deadline: Duration },
    Awaited { condition: Condition, deadline: Duration },
}

/// A conversation with one drive.
#[derive(Debug)]
pub(super) struct Conversation {
    node: NodeId,
    steps: VecDeque<Step>,
    current: Current,
    attempts: u8,
}

impl Conversation {
    /// An idle conversation.
    pub(super) fn new(node: NodeId) -> Self {
        Self { node, steps: VecDeque::new(), current: Current::Nothing, attempts: 0 }
    }

    /// Aborts the present steps and starts these instead.
    pub(super) fn say(&mut self, steps: impl IntoIterator<Item = Step>) {
        self.stop();
        self.steps.extend(steps);
    }

    /// Aborts the conversation.
    pub(super) fn stop(&mut self) {
        self.steps.clear();
        self.current = Current::Nothing;
        self.attempts = 0;
    }

    /// Whether all steps are done.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.current, Current::Nothing) && self.steps.is_empty()
    }

    /// The awaited condition.
    pub(super) fn awaited(&self) -> Option<Condition> {
        match self.current {
            Current::Awaited { condition, .. } => Some(condition),
            _ => None,
        }
    }

    /// When [`Conversation::handle_timeout`] must be called if no answer comes.
    pub(super) fn poll_timeout(&self) -> Option<Duration> {
        match &self.current {
            Current::Nothing if self.steps.is_empty() => None,
            Current::Nothing => Some(Duration::ZERO),
            Current::Transfer(transfer) => Some(transfer.poll_timeout()),
            Current::Asked { deadline, .. } | Current::Awaited { deadline, .. } => Some(*deadline),
        }
    }

    /// Starts the next step, or repeats the one that timed out.
    ///
    /// # Errors
    /// The drive did not answer, or a condition was not fulfilled in time; the conversation is over.
    pub(super) fn handle_timeout(&mut self, now: Duration, mut send: impl FnMut(Frame)) -> Result<(), Fault> {
        let overdue = self.poll_timeout().is_some_and(|deadline| deadline <= now);
        if !overdue {
            return Ok(());
        }
        match &self.current {
            Current::Nothing => {}
            Current::Transfer(transfer) => {
                let (abort, error) = transfer.give_up();
                send(abort);
                let node = self.node.raw();
                self.repeat_or(Fault::Object { node, error })?;
            }
            Current::Asked { request, .. } => {
                let fault = Fault::NoAnswer { node: self.node.raw(), command: request.command() };
                self.repeat_or(fault)?;
            }
            Current::Awaited { condition, .. } => {
                let fault = self.unmet(*condition);
                self.stop();
                return Err(fault);
            }
        }
        self.begin_steps(now, &mut send);
        Ok(())
    }

    /// Takes the data of an SDO answer of the drive.
    ///
    /// # Errors
    /// The drive refused; the conversation is over.
    pub(super) fn sdo_answer(
        &mut self,
        now: Duration,
        data: &[u8],
        mut send: impl FnMut(Frame),
    ) -> Result<(), Fault> {
        let Current::Transfer(transfer) = &mut self.current else { return Ok(()) };
        match transfer.answer(now, data) {
            Progress::Foreign => {}
            Progress::Send(next) => send(next),
            Progress::Done(_) => self.next_step(now, &mut send),
            Progress::Failed(error) => {
                self.stop();
                return Err(Fault::Object { node: self.node.raw(), error });
            }
        }
        Ok(())
    }

    /// Takes an answer of the interpreter; returns whether it was awaited.
    ///
    /// # Errors
    /// The drive refused, or does not keep a value; the conversation is over.
    pub(super) fn answer(
        &mut self,
        now: Duration,
        answer: &DriveAnswer,
        mut send: impl FnMut(Frame),
    ) -> Result<bool, Fault> {
        let Current::Asked { request, .. } = self.current else { return Ok(false) };
        if request.command() != answer.command {
            return Ok(false);
        }
        let Ok(value) = answer.result else {
            self.stop();
            return Err(Fault::Refused { node: self.node.raw(), answer: *answer });
        };
        match (self.steps.front(), request) {
            (Some(Step::Ensure(command, wanted)), DriveRequest::Get(_))
                if value != Argument::Integer(*wanted) =>
            {
                let (command, wanted) = (*command, *wanted);
                if self.attempts >= ATTEMPTS {
                    self.stop();
                    let Argument::Integer(value) = value else { return Ok(true) };
                    return Err(Fault::NotKept { node: self.node.raw(), command, wanted, value });
                }
                self.attempts += 1;
                self.ask(now, DriveRequest::Set(command, Argument::Integer(wanted)), &mut send);
            }
            // The value is compared when it is read back.
            (Some(Step::Ensure(command, _)), DriveRequest::Set(..)) => {
                let command = *command;
                self.ask(now, DriveRequest::Get(command), &mut send);
            }
            _ => self.next_step(now, &mut send),
        }
        Ok(true)
    }

    /// The awaited condition holds.
    pub(super) fn met(&mut self, now: Duration, condition: Condition, mut send: impl FnMut(Frame)) {
        if self.awaited() == Some(condition) {
            self.next_step(now, &mut send);
        }
    }

    fn unmet(&self, condition: Condition) -> Fault {
        let node = self.node.raw();
        match condition {
            Condition::Reports => Fault::Silent { node, silence: CONDITION_TIME },
            Condition::AtRest => Fault::Moving { node },
            Condition::On => Fault::State { node, state: "off" },
            Condition::Off => Fault::State { node, state: "on" },
        }
    }

    /// Repeats the present step, unless all attempts are used up.
    fn repeat_or(&mut self, fault: Fault) -> Result<(), Fault> {
        self.attempts += 1;
        if self.attempts >= ATTEMPTS {
            self.stop();
            return Err(fault);
        }
        self.current = Current::Nothing;
        Ok(())
    }

    fn next_step(&mut self, now: Duration, send: &mut impl FnMut(Frame)) {
        self.steps.pop_front();
        self.current = Current::Nothing;
        self.attempts = 0;
        self.begin_steps(now, send);
    }

    /// Starts the first step, and those after it until one needs an answer. A step stays in the list until it is done.
    fn begin_steps(&mut self, now: Duration, send: &mut impl FnMut(Frame)) {
        while let Some(step) = self.steps.front().copied() {
            match step {
                Step::Nmt(command) => {
                    send(Service::Nmt.frame(&encode_command(command, self.node)));
                    self.steps.pop_front();
                }
                Step::Write(address, value) => {
                    let (transfer, request) = Transfer::write(now, self.node, address, value);
                    self.current = Current::Transfer(transfer);
                    return send(request);
                }
                Step::Ensure(command, _) | Step::Ask(command) => {
                    return self.ask(now, DriveRequest::Get(command), send);
                }
                Step::Set(command, value) => return self.ask(now, DriveRequest::Set(command, value), send),
                Step::Await(condition) => {
                    self.current = Current::Awaited { condition, deadline: now + CONDITION_TIME };
                    return;
                }
            }
        }
    }

    fn ask(&mut self, now: Duration, request: DriveRequest, send: &mut impl FnMut(Frame)) {
        self.current = Current::Asked { request, deadline: now + ANSWER_TIME };
        send(request_frame(self.node, &request));
    }
}

/// The frame that sends a request to a drive's interpreter.
pub(super) fn request_frame(node: NodeId, request: &DriveRequest) -> Frame {
    let (bytes, length) = request.encode();
    Service::Rpdo(2, node).frame(bytes.get(..length).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT_MODE: Command = Command::UNIT_MODE;

    struct Talk {
        conversation: Conversation,
        sent: Vec<String>,
    }

    impl Talk {
        fn of(steps: &[Step]) -> Self {
            let mut conversation = Conversation::new(NodeId::new(101).unwrap());
            conversation.say(steps.iter().copied());
            Self { conversation, sent: Vec::new() }
        }

        fn handle_timeout(&mut self, milliseconds: u64) -> Result<(), Fault> {
            self.conversation.handle_timeout(Duration::from_millis(milliseconds), |frame| {
                self.sent.push(frame.to_string())
            })
        }

        fn answer(&mut self, command: Command, value: i32) -> Result<bool, Fault> {
            let answer = DriveAnswer { command, result: Ok(Argument::Integer(value)) };
            self.conversation.answer(Duration::ZERO, &answer, |frame| self.sent.push(frame.to_string()))
        }
    }

    #[test]
    fn a_value_that_is_right_already_is_not_set() {
        let mut talk = Talk::of(&[Step::Ensure(UNIT_MODE, 5)]);
        talk.handle_timeout(0).unwrap();
        assert!(talk.answer(UNIT_MODE, 5).unwrap());
        assert!(talk.conversation.is_done());
        assert_eq!(talk.sent, ["365#554D0000"]);
    }

    #[test]
    fn a_value_that_is_wrong_is_set_and_read_back() {
        let mut talk = Talk::of(&[Step::Ensure(UNIT_MODE, 5)]);
        talk.handle_timeout(0).unwrap();
        for value in [2, 5, 5] {
            assert!(talk.answer(UNIT_MODE, value).unwrap());
        }
        assert!(talk.conversation.is_done());
        assert_eq!(talk.sent, ["365#554D0000", "365#554D000005000000", "365#554D0000"]);
    }

    #[test]
    fn a_value_that_is_not_kept_is_a_fault() {
        let mut talk = Talk::of(&[Step::Ensure(UNIT_MODE, 5)]);
        talk.handle_timeout(0).unwrap();
        let fault = (0..20).find_map(|_| talk.answer(UNIT_MODE, 2).err()).unwrap();
        assert_eq!(fault.to_string(), "node 101: UM stays 2 instead of 5");
        assert!(talk.conversation.is_done());
    }

    #[test]
    fn silence_is_a_fault_after_three_attempts() {
        let mut talk = Talk::of(&[Step::Ask(Command::POSITION)]);
        let fault = (0..10).find_map(|attempt| talk.handle_timeout(60 * attempt).err()).unwrap();
        assert_eq!(fault.to_string(), "node 101 does not answer PX");
        assert_eq!(talk.sent.len(), 3);
    }

    #[test]
    fn answers_to_other_requests_do_not_count() {
        let mut talk = Talk::of(&[Step::Ask(Command::POSITION)]);
        talk.handle_timeout(0).unwrap();
        assert!(!talk.answer(UNIT_MODE, 5).unwrap());
        assert!(!talk.conversation.is_done());
    }

    #[test]
    fn network_management_needs_no_answer() {
        let mut talk = Talk::of(&[Step::Nmt(NmtCommand::StartRemoteNode), Step::Await(Condition::Reports)]);
        talk.handle_timeout(0).unwrap();
        assert_eq!(talk.sent, ["000#0165"]);
        assert_eq!(talk.conversation.awaited(), Some(Condition::Reports));
        assert!(talk.handle_timeout(4000).is_err());
    }
}
