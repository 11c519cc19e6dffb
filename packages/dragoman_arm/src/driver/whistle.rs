//! The messages to a SimplIQ drive (Ranger thesis, 3.2.2; improvements over 5.2.1).

use std::time::Duration;

use canopen_rs::{NmtCommand, NodeId, Value};
use dragoman_io::can::Frame;

use super::axis::Axis;
use super::config::{ControlMode, GroupConfig, QUEUE_ROWS};
use super::conversation::{Condition, Step, request_frame};
use super::outbox::Outbox;
use super::queue::round;
use crate::canopen::Service;
use crate::simpliq::commands::motion;
use crate::simpliq::{Argument, Command, DriveRequest, objects};

/// The period of the drives' own heartbeat.
pub(super) const DRIVE_HEARTBEAT: Duration = Duration::from_millis(100);
/// Remaining rows at which the drive warns.
const LOW_MARK: i32 = 1;

/// The conversation from an unknown state to a drive that reports and is ready to be switched on.
pub(super) fn set_up(group: &GroupConfig, node: NodeId, mode: ControlMode) -> Vec<Step> {
    let master = NodeId::new(group.master).unwrap_or(NodeId::BROADCAST);
    let writes = objects::set_up(node, master, group.heartbeat_loss, DRIVE_HEARTBEAT);
    // The motor may be running: switch it off first.
    let mut steps = vec![
        Step::Nmt(NmtCommand::StartRemoteNode),
        Step::Ensure(Command::MOTOR, 0),
        Step::Nmt(NmtCommand::EnterPreOperational),
    ];
    steps.extend(writes.into_iter().map(|(address, value): (_, Value)| match address {
        // A drive that follows currents cannot hold a position.
        objects::ABORT_CONNECTION if mode == ControlMode::Host => {
            Step::Write(address, Value::Integer16(objects::ON_LOSS_OFF))
        }
        _ => Step::Write(address, value),
    }));
    steps.extend([
        Step::Nmt(NmtCommand::StartRemoteNode),
        Step::Ensure(Command::MOTOR, 0),
        Step::Ensure(Command::UNIT_MODE, mode.unit_mode()),
        Step::Ask(Command::TEMPERATURE),
        Step::Ask(Command::POSITION),
        Step::Await(Condition::Reports),
    ]);
    steps
}

/// From standstill without power to holding the position with PT motion, a velocity of 0 or a current of 0.
pub(super) fn switch_on(steps: &mut Vec<Step>, group: &GroupConfig, mode: ControlMode, stop_first: bool) {
    if stop_first {
        steps.push(Step::Ask(Command::STOP));
    }
    steps.extend([
        Step::Await(Condition::AtRest),
        Step::Ensure(Command::UNIT_MODE, mode.unit_mode()),
        Step::Ensure(Command::MOTOR, 1),
        Step::Await(Condition::On),
    ]);
    if mode == ControlMode::Position {
        let motion = [
            (motion::FIRST_ROW, 1),
            (motion::LAST_ROW, i32::from(QUEUE_ROWS)),
            (motion::CYCLIC, 1),
            (motion::SAMPLE_RATIO, i32::from(group.sample_ratio)),
            (motion::LOW_MARK, LOW_MARK),
            (motion::WRITE_ROW, 1),
        ];
        steps.extend(
            motion.map(|(index, value)| Step::Set(Command::MOTION.at(index), Argument::Integer(value))),
        );
    }
    // The target is the actual position: read last.
    steps.push(Step::Ask(Command::POSITION));
}

/// From any state to standstill without power.
pub(super) fn switch_off(is_on: bool) -> impl Iterator<Item = Step> {
    is_on.then_some(Step::Ask(Command::STOP)).into_iter().chain([Step::Ensure(Command::MOTOR, 0)])
}

/// As [`switch_off`], for a drive that may not answer.
pub(super) fn stop_without_answer(node: NodeId, now: Duration, out: &mut Outbox) {
    out.push(now, request_frame(node, &DriveRequest::Get(Command::STOP)));
    out.push(now, request_frame(node, &DriveRequest::Set(Command::MOTOR, Argument::Integer(0))));
}

/// Fills the queue with the present position, and sets the row at which the drive starts to read.
pub(super) fn prime(axis: &mut Axis, now: Duration, out: &mut Outbox) {
    if axis.mode != ControlMode::Position {
        axis.begun = true;
        return;
    }
    let counts = axis.to_counts(axis.position());
    for _ in 0..axis.rows.restart(counts) {
        out.push(now, pair_frame(axis.node, round(counts), round(counts)));
    }
    axis.conversation.say([Step::Set(Command::PT, Argument::Integer(1))]);
}

/// Commands the drive to begin at the next SYNC, which comes at `sync`, together with all others.
pub(super) fn begin(axis: &mut Axis, now: Duration, sync: Duration, out: &mut Outbox) {
    axis.rows.begin(sync);
    if axis.mode == ControlMode::Position {
        let (bytes, length) = DriveRequest::Get(Command::BEGIN).encode();
        out.push(now, Service::Rpdo(1, axis.node).frame(bytes.get(..length).unwrap_or_default()));
    }
}

/// The set-point of a cycle.
pub(super) fn cycle(axis: &mut Axis, now: Duration, setpoint: f64, out: &mut Outbox) {
    match axis.mode {
        ControlMode::Position => {
            let counts = axis.to_counts(setpoint);
            let node = axis.node;
            axis.rows.push(counts, |first, second| out.push(now, pair_frame(node, first, second)));
        }
        ControlMode::Velocity => {
            let jog = Argument::Integer(round(setpoint * axis.config.counts_per_unit));
            out.push(now, request_frame(axis.node, &DriveRequest::Set(Command::JOG, jog)));
            out.push(now, request_frame(axis.node, &DriveRequest::Get(Command::BEGIN)));
        }
        ControlMode::Torque | ControlMode::Host => {
            #[allow(clippy::cast_possible_truncation)]
            let current = Argument::Float(setpoint as f32);
            out.push(now, request_frame(axis.node, &DriveRequest::Set(Command::TORQUE, current)));
        }
    }
}

/// Two rows for the drive's queue (RPDO3, object 0x2002).
fn pair_frame(node: NodeId, first: i32, second: i32) -> Frame {
    let ([a, b, c, d], [e, f, g, h]) = (first.to_le_bytes(), second.to_le_bytes());
    Service::Rpdo(3, node).frame(&[a, b, c, d, e, f, g, h])
}
