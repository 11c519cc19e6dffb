//! A device on virtual time, for tests: accessed with the driver's codecs.

use std::time::Duration;

use canopen_rs::{Address, DataType, NmtCommand, NmtState, NodeId, Value};
use dragoman_arm::canopen::sdo::{Progress, Transfer, TransferError};
use dragoman_arm::canopen::{Emergency, Service};
use dragoman_io::can::Frame;

use crate::device::{Application, Device};

pub(crate) const MASTER: u8 = 127;

pub(crate) fn node() -> NodeId {
    NodeId::new(101).unwrap()
}

pub(crate) fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

pub(crate) fn us(time: u64) -> Duration {
    Duration::from_micros(time)
}

/// A drive, the time, and its sent frames with their times.
pub(crate) struct Fixture<A> {
    pub(crate) drive: Device<A>,
    pub(crate) now: Duration,
    pub(crate) sent: Vec<(Duration, Frame)>,
}

impl<A: Application> Fixture<A> {
    pub(crate) fn of(drive: Device<A>) -> Self {
        let mut fixture = Self { drive, now: Duration::ZERO, sent: Vec::new() };
        fixture.run_for(Duration::ZERO);
        fixture
    }

    pub(crate) fn run_until(&mut self, end: Duration) {
        while let Some(due) = self.drive.poll_timeout().filter(|due| *due <= end) {
            assert!(due >= self.now, "an event of the past: {due:?} at {:?}", self.now);
            self.drive.handle_timeout(due);
            self.now = due;
            self.collect();
        }
        self.now = end;
        self.drive.handle_timeout(end);
        self.collect();
    }

    pub(crate) fn run_for(&mut self, time: Duration) {
        self.run_until(self.now + time);
    }

    pub(crate) fn collect(&mut self) {
        while let Some(frame) = self.drive.poll_transmit() {
            self.sent.push((self.now, frame));
        }
    }

    pub(crate) fn send(&mut self, service: Service, data: &[u8]) {
        self.drive.handle_frame(self.now, &service.frame(data));
        self.collect();
    }

    pub(crate) fn command(&mut self, command: NmtCommand) {
        self.send(Service::Nmt, &[command as u8, node().raw()]);
    }

    pub(crate) fn sync(&mut self) {
        self.send(Service::Sync, &[]);
    }

    pub(crate) fn beat(&mut self) {
        self.send(Service::Heartbeat(NodeId::new(MASTER).unwrap()), &[NmtState::Operational as u8]);
    }

    pub(crate) fn write(&mut self, address: Address, value: Value) -> Result<(), TransferError> {
        self.transfer(Transfer::write(self.now, node(), address, value)).map(|_| ())
    }

    pub(crate) fn read(
        &mut self,
        address: Address,
        data_type: DataType,
    ) -> Result<Option<Value>, TransferError> {
        self.transfer(Transfer::read(self.now, node(), address, data_type))
    }

    pub(crate) fn transfer(
        &mut self,
        (mut transfer, first): (Transfer, Frame),
    ) -> Result<Option<Value>, TransferError> {
        let mut frame = first;
        loop {
            let before = self.sent.len();
            self.drive.handle_frame(self.now, &frame);
            self.collect();
            let answers = self.sent.split_off(before);
            let Some((_, answer)) = answers.iter().find(|(_, frame)| frame.standard_id() == Some(0x5e5))
            else {
                return Err(transfer.give_up().1);
            };
            match transfer.answer(self.now, answer.data()) {
                Progress::Send(next) => frame = next,
                Progress::Done(value) => return Ok(value),
                Progress::Failed(error) => return Err(error),
                Progress::Foreign => panic!("{answer}"),
            }
        }
    }

    /// The frames of one service sent since the last call.
    pub(crate) fn take(&mut self, service: Service) -> Vec<(Duration, Vec<u8>)> {
        let of_service = |frame: &Frame| frame.standard_id() == Some(service.id());
        let (taken, others) = std::mem::take(&mut self.sent).into_iter().partition(|(_, f)| of_service(f));
        self.sent = others;
        let taken: Vec<(Duration, Frame)> = taken;
        taken.into_iter().map(|(at, frame)| (at, frame.data().to_vec())).collect()
    }

    pub(crate) fn take_emergencies(&mut self) -> Vec<(Duration, Emergency)> {
        let taken = self.take(Service::Emergency(node()));
        taken.into_iter().map(|(at, data)| (at, Emergency::decode(&data).unwrap())).collect()
    }

    pub(crate) fn counts(&self) -> f64 {
        self.drive.position_counts()
    }
}
