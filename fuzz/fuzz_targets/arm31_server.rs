//! Datagrams, service results, measurements and time steps into the server core of the 31-byte arm protocol.
//!
//! Input: a sequence of steps, one operation byte each (low three bits: kind; the others: client or duration), followed
//! by its data. Checked: no panic, bounded queues, every answer decodes, and all queues become empty.

#![no_main]

use std::net::SocketAddr;
use std::time::Duration;

use dragoman_bridge::arm31::wire::Reply;
use dragoman_bridge::arm31::{CallId, CommandMode, MotionEvent, Outcome, Refusal, Server, ServerConfig};
use libfuzzer_sys::fuzz_target;

const MAX_CLIENTS: usize = 6;
const MAX_CALLS: usize = 8;

fn take<'a>(input: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, tail) = input.split_at(len.min(input.len()));
    *input = tail;
    head
}

fn number(input: &mut &[u8]) -> f64 {
    let mut bytes = [0; 4];
    let taken = take(input, 4);
    bytes[..taken.len()].copy_from_slice(taken);
    f64::from(f32::from_le_bytes(bytes))
}

fn collect(server: &mut Server, open: &mut Vec<CallId>) {
    while let Some((id, call)) = server.poll_call() {
        assert!(!call.service().is_empty());
        open.push(id);
    }
    while let Some((_, bytes)) = server.poll_transmit() {
        Reply::decode(&bytes).expect("an answer is a reply");
    }
    let statistics = server.statistics();
    assert!(statistics.clients <= MAX_CLIENTS && statistics.open_calls <= 2 * MAX_CALLS);
}

fuzz_target!(|input: &[u8]| {
    let mut input = input;
    let mut now = Duration::ZERO;
    let mut server = Server::new(ServerConfig {
        max_clients: MAX_CLIENTS,
        max_open_calls: MAX_CALLS,
        max_waiting_per_client: 5,
        burst: 40.0,
        ..ServerConfig::default()
    });
    let mut open: Vec<CallId> = Vec::new();
    while let [operation, ..] = *input {
        take(&mut input, 1);
        let argument = operation >> 3;
        match operation & 7 {
            0 | 1 => {
                let client = SocketAddr::from(([127, 0, 0, 1], 1000 + u16::from(argument & 7)));
                // Mostly whole datagrams; sometimes another size.
                let len = if argument < 24 {
                    31
                } else {
                    usize::from(take(&mut input, 1).first().copied().unwrap_or(0))
                };
                server.handle_datagram(now, client, take(&mut input, len));
            }
            2 => {
                now += Duration::from_millis(1 << (argument & 15));
                server.handle_timeout(now);
            }
            3 | 4 if !open.is_empty() => {
                let id = open.swap_remove(usize::from(argument) % open.len());
                let outcome = match operation >> 6 {
                    0 | 1 => Outcome::Done,
                    2 => Outcome::Mode(CommandMode::Cartesian),
                    _ => Outcome::Refused(Refusal::Rejected),
                };
                server.handle_outcome(now, id, outcome);
            }
            5 => {
                let position: Vec<f64> = (0..argument & 15).map(|_| number(&mut input)).collect();
                server.handle_joint_state(now, &position);
                server.handle_drive_status(now, &position);
            }
            6 => {
                let position = std::array::from_fn(|_| number(&mut input));
                let quaternion = std::array::from_fn(|_| number(&mut input));
                server.handle_pose(now, position, quaternion);
            }
            _ => {
                let event = match argument % 3 {
                    0 => MotionEvent::WorkspaceLimit,
                    1 => MotionEvent::JointLimit,
                    _ => MotionEvent::InverseKinematicsDivergence,
                };
                server.handle_event(now, event);
            }
        }
        // The owner may be slow: it does not poll after every step.
        if operation & 0x20 == 0 {
            collect(&mut server, &mut open);
        }
    }
    for _ in 0..8 {
        now += Duration::from_secs(5);
        server.handle_timeout(now);
        collect(&mut server, &mut open);
    }
    // Every waiting request of every client may have to time out one after the other.
    let mut rounds = 0;
    while let Some(due) = server.poll_timeout() {
        now = now.max(due);
        server.handle_timeout(now);
        collect(&mut server, &mut open);
        rounds += 1;
        assert!(rounds < 200, "comes to rest");
    }
});
