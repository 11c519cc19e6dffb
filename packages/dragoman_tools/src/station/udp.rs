//! The link over the 31-byte protocol, to any controller.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use dragoman_bridge::CallId;
use dragoman_bridge::arm31::wire::{ABSENT_TEMPERATURE, Command, JOINT_COUNT, Notice, RECEIVE_BUFFER_LEN};
use dragoman_bridge::arm31::{
    ArmCall, ArmState, Client, ClientConfig, ClientEvent, CommandMode, MotionEvent, Outcome, Refusal,
    Tolerances, ToolPose, rotation,
};
use dragoman_io::net::UdpSocket;

use super::command::Order;
use super::core::{Level, Update};

/// Distances at which a goal counts as reached, as those of `dragoman arm31`.
const TOLERANCES: Tolerances = Tolerances { pose: 5e-4, joint: 5e-4 };
/// Maximum number of datagrams read before other work.
const BATCH: usize = 64;
/// Pause after an error of the socket: the controller is not running.
const ERROR_PAUSE: Duration = Duration::from_millis(20);

/// A controller behind a socket.
pub(super) struct UdpLink {
    start: Instant,
    socket: UdpSocket,
    client: Client,
    state: ArmState,
    calls: BTreeMap<u64, (ArmCall, Command)>,
    updates: std::collections::VecDeque<Update>,
    buffer: Box<[u8; RECEIVE_BUFFER_LEN]>,
}

impl UdpLink {
    pub(super) fn new(controller: SocketAddr) -> std::io::Result<Self> {
        let start = dragoman_time::now();
        let config = ClientConfig { controller, ..ClientConfig::default() };
        Ok(Self {
            start,
            socket: UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0).into())?,
            client: Client::new(Duration::ZERO, config),
            state: ArmState::new(TOLERANCES),
            calls: BTreeMap::new(),
            updates: std::collections::VecDeque::new(),
            buffer: Box::new([0; RECEIVE_BUFFER_LEN]),
        })
    }

    /// Sends an order; its answer is an update.
    pub(super) fn order(&mut self, id: u64, order: &Order) {
        match call(order) {
            Ok(call) => {
                self.calls.insert(id, (call, order.command));
                self.client.handle_call(dragoman_time::since(self.start), CallId(id), call);
                self.transmit();
            }
            Err(reason) => self.updates.push_back(Update::Answer { id, answer: Err(reason) }),
        }
    }

    /// The next update. Cancel safe.
    pub(super) async fn next(&mut self) -> Update {
        loop {
            self.receive().await;
            self.transmit();
            while let Some(event) = self.client.poll_event() {
                self.note(event);
            }
            if let Some(update) = self.updates.pop_front() {
                return update;
            }
            let due = self.client.poll_timeout().and_then(|due| self.start.checked_add(due));
            let timeout = async {
                match due {
                    Some(due) => dragoman_time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = timeout => self.client.handle_timeout(dragoman_time::since(self.start)),
                // An error is found when it is received.
                _ = self.socket.readable() => {}
            }
        }
    }

    /// Takes the datagrams that wait: in every turn, also while a time is over in each. On a busy computer answers would
    /// wait for ever.
    async fn receive(&mut self) {
        for _ in 0..BATCH {
            match self.socket.try_recv_from(self.buffer.as_mut_slice()) {
                Ok((length, source)) => {
                    let bytes = self.buffer.get(..length).unwrap_or_default();
                    self.client.handle_datagram(dragoman_time::since(self.start), source, bytes);
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(_) => return dragoman_time::sleep(ERROR_PAUSE).await,
            }
        }
    }

    fn transmit(&mut self) {
        while let Some((address, bytes)) = self.client.poll_transmit() {
            // The core sends again what may be sent twice; a start is not, and ends as not answered.
            if let Err(error) = self.socket.try_send_to(&bytes, address) {
                tracing::warn!(%error, "sending a datagram failed");
            }
        }
    }

    fn note(&mut self, event: ClientEvent) {
        let now = dragoman_time::since(self.start);
        let update = match event {
            ClientEvent::Result { id, outcome } => {
                let Some((call, command)) = self.calls.remove(&id.0) else { return };
                self.state.handle_result(now, &call, outcome);
                // Before the answer, so that a motion that it begins is known.
                self.push_motion();
                let answer = match outcome {
                    Outcome::Refused(Refusal::Rejected) => Err(Notice::rejected(command).to_string()),
                    Outcome::Refused(refusal) => Err(refusal.to_string()),
                    _ => Ok(()),
                };
                Update::Answer { id: id.0, answer }
            }
            ClientEvent::JointState { position } => {
                self.state.handle_joints(now, &position);
                self.push_motion();
                Update::Joints(position)
            }
            ClientEvent::Pose { position, quaternion_xyzw } => {
                let pose = ToolPose { position, quaternion_xyzw };
                self.state.handle_pose(&pose);
                self.push_motion();
                Update::Pose(pose)
            }
            ClientEvent::DriveStatus { temperature } => {
                Update::Drives { enabled: self.state.is_enabled(), temperature: temperatures(&temperature) }
            }
            ClientEvent::Motion(event) => {
                self.state.handle_event(event);
                let (level, notice) = match event {
                    MotionEvent::WorkspaceLimit => (Level::Error, Notice::WorkspaceLimit),
                    MotionEvent::JointLimit => (Level::Warning, Notice::JointLimit),
                    MotionEvent::InverseKinematicsDivergence => {
                        (Level::Warning, Notice::InverseKinematicsDivergence)
                    }
                };
                Update::Event(level, notice.to_string())
            }
            ClientEvent::Connected => Update::Event(Level::Info, "the controller answers".to_owned()),
            ClientEvent::Lost => Update::Event(Level::Error, "the controller does not answer".to_owned()),
            _ => return,
        };
        self.updates.push_back(update);
    }

    fn push_motion(&mut self) {
        let motion = self.state.motion();
        self.updates.push_back(Update::Motion { mode: motion.mode, moving: motion.moving });
    }
}

/// Temperatures in °C; absent ones are coded as -1000.
pub(super) fn temperatures(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().map(|value| Some(*value).filter(|value| *value > f64::from(ABSENT_TEMPERATURE))).collect()
}

/// The mode of `CM`; the error says what is wrong.
pub(super) fn mode(order: &Order) -> Result<CommandMode, String> {
    let mode = order.values.first().copied().unwrap_or_default();
    [CommandMode::Off, CommandMode::Joint, CommandMode::Cartesian]
        .into_iter()
        .find(|known| f64::from(u8::from(*known)) == mode)
        .ok_or_else(|| format!("{mode} is not a command mode; use 0, 1 or 2"))
}

/// The pose of `GL`, `GT` or `VP`, and the minimum duration.
pub(super) fn pose(order: &Order) -> Result<(ToolPose, f64), String> {
    let [x, y, z, a, b, c, last] = order.values[..] else {
        return Err(format!("{} takes 7 values", order.command));
    };
    let (quaternion_xyzw, min_duration) = match order.command {
        Command::SetGoalPose => ([a, b, c, last], 0.0),
        _ => (rotation::quaternion_from_rpy([a, b, c]), last),
    };
    Ok((ToolPose { position: [x, y, z], quaternion_xyzw }, min_duration))
}

/// The call for an order: the protocol has six joints.
fn call(order: &Order) -> Result<ArmCall, String> {
    let joints = || {
        let joints = order.values.first_chunk::<JOINT_COUNT>().copied();
        joints.ok_or_else(|| format!("{} takes {JOINT_COUNT} joints", order.command))
    };
    Ok(match order.command {
        command if command.is_plain() => ArmCall::Plain(command),
        Command::SetCommandMode => ArmCall::SetCommandMode { mode: mode(order)? },
        Command::SetGoalPose | Command::SetTimedGoalPose => {
            let (ToolPose { position, quaternion_xyzw }, min_duration) = pose(order)?;
            ArmCall::SetGoalPose { position, quaternion_xyzw, min_duration }
        }
        Command::SetViaPoint => {
            let (ToolPose { position, quaternion_xyzw }, min_duration) = pose(order)?;
            ArmCall::SetViaPoint { index: order.index, position, quaternion_xyzw, min_duration }
        }
        Command::SetJointGoal => ArmCall::SetJointGoal { position: joints()?, min_duration: 0.0 },
        Command::SetJointViaPoint => {
            let min_duration = order.values.last().copied().unwrap_or_default();
            ArmCall::SetJointViaPoint { index: order.index, position: joints()?, min_duration }
        }
        Command::Recalibrate => ArmCall::Recalibrate { position: joints()? },
        query => return Err(format!("{query} is a query")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_with_wrong_values_are_refused_before_anything_is_sent() {
        let order = |command, values: &[f64]| Order::new(command, values.to_vec());
        assert!(call(&order(Command::SetCommandMode, &[1.5])).unwrap_err().contains("1.5 is not"));
        assert!(call(&order(Command::SetCommandMode, &[3.0])).unwrap_err().contains("use 0, 1 or 2"));
        assert!(call(&order(Command::SetGoalPose, &[0.0; 6])).is_err());
        assert!(call(&order(Command::SetJointGoal, &[0.0; 5])).is_err());
        assert_eq!(
            call(&order(Command::SetTimedGoalPose, &[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 4.0])),
            Ok(ArmCall::SetGoalPose {
                position: [1.0, 2.0, 3.0],
                quaternion_xyzw: [0.0, 0.0, 0.0, 1.0],
                min_duration: 4.0
            })
        );
    }
}
