//! Faults that stop a group of drives, and the record of their emergencies.

use std::time::Duration;

use dragoman_io::can::BusFault;

use crate::canopen::{Emergency, TransferError};
use crate::simpliq::{Command, DriveAnswer, emergencies};

/// Fault that stopped the axes of a group.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Fault {
    /// Fault of the bus or its controller.
    #[error("{0}")]
    Bus(BusFault),
    /// Frames waited too long to be sent.
    #[error("the CAN bus takes no frames; the oldest waited {0:?}")]
    Congested(Duration),
    /// This process paused for longer than the drives had set-points.
    #[error("this computer paused for {0:?}")]
    Paused(Duration),
    /// A drive did not answer.
    #[error("node {node} does not answer {command}")]
    NoAnswer {
        /// The drive.
        node: u8,
        /// The request.
        command: Command,
    },
    /// A drive refused an access to one of its objects, or did not answer it.
    #[error("node {node}: {error}")]
    Object {
        /// The drive.
        node: u8,
        /// The SDO error.
        error: TransferError,
    },
    /// A drive refused a command.
    #[error("node {node}: {answer}")]
    Refused {
        /// The drive.
        node: u8,
        /// The drive's answer.
        answer: DriveAnswer,
    },
    /// A drive did not keep a value that was set.
    #[error("node {node}: {command} stays {value} instead of {wanted}")]
    NotKept {
        /// The drive.
        node: u8,
        command: Command,
        /// The value that was set.
        wanted: i32,
        /// The value that was read back.
        value: i32,
    },
    /// A cyclic report of a drive is missing.
    #[error("node {node} has not reported for {silence:?}")]
    Silent {
        /// The drive.
        node: u8,
        /// Time since its last report.
        silence: Duration,
    },
    /// A drive restarted: it has lost its set-up and its position.
    #[error("node {node} has restarted")]
    Restarted {
        /// The drive.
        node: u8,
    },
    /// More than one device has the node number.
    #[error("two devices answer as node {node}")]
    Duplicate {
        /// The node number.
        node: u8,
    },
    /// A drive switched its motor off.
    #[error("node {node} has switched its motor off (status 0x{status:08X})")]
    MotorOff {
        /// The drive.
        node: u8,
        /// Its status register or status word.
        status: u32,
    },
    /// A drive reported an emergency.
    #[error("node {node}: EMCY 0x{code:04X}/{maker:02X}, {meaning}", code = emergency.code,
            maker = emergency.maker.first().copied().unwrap_or_default(), meaning = emergencies::meaning(emergency))]
    Emergency {
        /// The drive.
        node: u8,
        /// The message.
        emergency: Emergency,
    },
    /// A drive does not reach a state.
    #[error("node {node} stays in state '{state}'")]
    State {
        /// The drive.
        node: u8,
        /// Its present state.
        state: &'static str,
    },
    /// An axis was still moving when it should have stopped.
    #[error("node {node} does not come to rest")]
    Moving {
        /// The drive.
        node: u8,
    },
}

/// One kind of emergency of one drive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EmergencyRecord {
    /// The drive.
    pub node: u8,
    /// The last message.
    pub emergency: Emergency,
    /// Number of messages.
    pub count: u64,
    /// Time of the first, on the driver's clock.
    pub first: Duration,
    /// Time of the last.
    pub last: Duration,
}

/// Counts emergencies by drive and code. The number of kinds is limited; further kinds are only counted.
#[derive(Debug, Default)]
pub struct EmergencyLog {
    records: Vec<EmergencyRecord>,
    other: u64,
}

const KINDS: usize = 64;

impl EmergencyLog {
    /// An empty record, with memory for all kinds allocated.
    pub fn new() -> Self {
        Self { records: Vec::with_capacity(KINDS), other: 0 }
    }

    /// Counts an emergency of drive `node`; the record keeps the latest of its kind.
    pub fn add(&mut self, now: Duration, node: u8, emergency: Emergency) {
        let same = |record: &&mut EmergencyRecord| {
            record.node == node
                && record.emergency.code == emergency.code
                && record.emergency.maker.first() == emergency.maker.first()
        };
        if let Some(record) = self.records.iter_mut().find(same) {
            record.count += 1;
            record.last = now;
            record.emergency = emergency;
        } else if self.records.len() < KINDS {
            self.records.push(EmergencyRecord { node, emergency, count: 1, first: now, last: now });
        } else {
            self.other += 1;
        }
    }

    /// All kinds, in the order in which they first came.
    pub fn records(&self) -> &[EmergencyRecord] {
        &self.records
    }

    /// Number of emergencies of further kinds.
    pub fn other(&self) -> u64 {
        self.other
    }

    /// Clears the record.
    pub fn clear(&mut self) {
        self.records.clear();
        self.other = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_emergencies_are_one_record_and_the_number_of_records_is_bounded() {
        let mut log = EmergencyLog::new();
        let emergency = Emergency { code: 0x8130, register: 0x11, maker: [0; 5] };
        for tick in 0..10_000 {
            log.add(Duration::from_micros(tick), 101, emergency);
        }
        assert_eq!(log.records().len(), 1);
        assert_eq!((log.records()[0].count, log.records()[0].last), (10_000, Duration::from_micros(9_999)));
        for code in 0..1000 {
            log.add(Duration::ZERO, 101, Emergency { code, ..emergency });
        }
        assert_eq!(log.records().len(), KINDS);
        assert_eq!(log.other(), 1000 - (KINDS as u64 - 1));
    }

    #[test]
    fn faults_name_node_and_reason() {
        let emergency = emergencies::queue_emergency(emergencies::code::TERMINATED, 3, 3);
        assert_eq!(
            Fault::Emergency { node: 104, emergency }.to_string(),
            "node 104: EMCY 0xFF00/08, PT motion ended, the queue ran empty"
        );
    }
}
