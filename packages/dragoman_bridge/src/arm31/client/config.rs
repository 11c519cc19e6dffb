//! Limits, times, counters and events of the client.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::super::call::{MotionEvent, Outcome};
use super::super::wire::{DEFAULT_PORT, JOINT_COUNT};
use crate::CallId;

/// Limits and times of a [`Client`](super::Client).
#[derive(Debug, Clone, PartialEq)]
pub struct ClientConfig {
    /// Address of the controller; datagrams from other sources are ignored. Default 127.0.0.1:5031.
    pub controller: SocketAddr,
    /// Number of joints, at most 7: length of the reported lists. Default 6.
    pub joint_count: usize,
    /// Period of `jP`; `None`: never. Default 25 ms.
    pub joint_state_period: Option<Duration>,
    /// Period of `PS`; `None`: never. Default 25 ms.
    pub pose_period: Option<Duration>,
    /// Period of `TM`; `None`: never. Default 1 s.
    pub temperature_period: Option<Duration>,
    /// A query without an answer is repeated after this time. Default 100 ms.
    pub poll_timeout: Duration,
    /// First pause before a repeatable request is sent again; doubles each time, except for `ST`. Default 100 ms.
    pub retry_interval: Duration,
    /// Time limit of a call. Default 6 s: the server side gives up after 5 s.
    pub call_timeout: Duration,
    /// Assumed maximum transit time of a request. Default 200 ms.
    pub settling_time: Duration,
    /// Silence after which the controller counts as lost. Default 1 s.
    pub lost_timeout: Duration,
    /// Maximum number of waiting calls. Default 64.
    pub max_waiting: usize,
    /// The controller never answers `RC` (the original one): no answer by [`retry_interval`](Self::retry_interval)
    /// counts as done. Default false.
    pub recalibrate_unanswered: bool,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            controller: SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT)),
            joint_count: JOINT_COUNT,
            joint_state_period: Some(Duration::from_millis(25)),
            pose_period: Some(Duration::from_millis(25)),
            temperature_period: Some(Duration::from_secs(1)),
            poll_timeout: Duration::from_millis(100),
            retry_interval: Duration::from_millis(100),
            call_timeout: Duration::from_secs(6),
            settling_time: Duration::from_millis(200),
            lost_timeout: Duration::from_secs(1),
            max_waiting: 64,
            recalibrate_unanswered: false,
        }
    }
}

/// Events of a [`Client`](super::Client).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// A call has ended.
    Result {
        /// The id given with the call.
        id: CallId,
        /// How it ended.
        outcome: Outcome,
    },
    /// Measured joint positions.
    JointState {
        /// In radians, base of the chain first.
        position: Vec<f64>,
    },
    /// Measured pose of the tool frame in the arm's base frame.
    Pose {
        /// x, y, z in metres.
        position: [f64; 3],
        /// Unit quaternion x, y, z, w.
        quaternion_xyzw: [f64; 4],
    },
    /// Drive temperatures.
    DriveStatus {
        /// In degrees Celsius, base of the chain first; -1000 where absent.
        temperature: Vec<f64>,
    },
    /// The controller reported a condition.
    Motion(MotionEvent),
    /// The controller answers.
    Connected,
    /// The controller has stopped answering.
    Lost,
}

/// Counters of a [`Client`](super::Client) since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientStatistics {
    /// Replies of the controller, of any kind.
    pub replies: u64,
    /// Datagrams from other sources, ignored.
    pub foreign: u64,
    /// Datagrams of the controller that are not replies, or contain values that are not finite.
    pub undecodable: u64,
    /// Replies without an open request: duplicates, or too late.
    pub unsolicited: u64,
    /// Requests sent again.
    pub retransmissions: u64,
    /// Calls that got no answer in time.
    pub call_timeouts: u64,
    /// Measurements dropped because the owner did not collect them.
    pub dropped_measurements: u64,
    /// How often the controller was lost.
    pub losses: u64,
}
