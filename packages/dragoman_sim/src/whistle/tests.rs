//! A simulated Whistle on virtual time, spoken to with the driver's codecs.

mod any_frames;
mod connection;
mod interpreter;
mod motion;

use std::time::Duration;

use canopen_rs::{Address, DataType, NmtCommand, NmtState, NodeId, Value};
use dragoman_arm::can::Frame;
use dragoman_arm::canopen::sdo::{Progress, Transfer, TransferError};
use dragoman_arm::canopen::{Emergency, Service};
use dragoman_arm::simpliq::commands::{Command, motion as mp};
use dragoman_arm::simpliq::{Answer, Argument, Request, objects};

use super::{Whistle, WhistleSettings};

const MASTER: u8 = 127;

fn node() -> NodeId {
    NodeId::new(101).unwrap()
}

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

fn us(time: u64) -> Duration {
    Duration::from_micros(time)
}

/// A drive, the time, and what the drive sent when.
struct Bench {
    drive: Whistle,
    now: Duration,
    sent: Vec<(Duration, Frame)>,
}

impl Bench {
    fn new() -> Self {
        Self::with(WhistleSettings::default())
    }

    fn with(settings: WhistleSettings) -> Self {
        let mut bench = Self { drive: Whistle::new(node(), settings), now: Duration::ZERO, sent: Vec::new() };
        bench.run_for(Duration::ZERO);
        bench
    }

    /// Operational, with all that the driver sets up.
    fn set_up() -> Self {
        Self::set_up_with(WhistleSettings::default())
    }

    fn set_up_with(settings: WhistleSettings) -> Self {
        let mut bench = Self::with(settings);
        for (address, value) in objects::set_up(NodeId::new(MASTER).unwrap(), ms(50), ms(100)) {
            assert_eq!(bench.write(address, value), Ok(()), "{address:?} {value:?}");
        }
        bench.command(NmtCommand::StartRemoteNode);
        bench
    }

    fn enabled() -> Self {
        let mut bench = Self::set_up();
        assert_eq!(bench.set(Command::MOTOR, 1), Ok(1));
        bench
    }

    fn run_until(&mut self, end: Duration) {
        while let Some(due) = self.drive.next_event().filter(|due| *due <= end) {
            assert!(due >= self.now, "an event of the past: {due:?} at {:?}", self.now);
            self.drive.advance(due);
            self.now = due;
            self.collect();
        }
        self.now = end;
        self.drive.advance(end);
        self.collect();
    }

    fn run_for(&mut self, time: Duration) {
        self.run_until(self.now + time);
    }

    fn collect(&mut self) {
        while let Some(frame) = self.drive.transmit() {
            self.sent.push((self.now, frame));
        }
    }

    fn send(&mut self, service: Service, data: &[u8]) {
        self.drive.handle(self.now, &service.frame(data));
        self.collect();
    }

    fn command(&mut self, command: NmtCommand) {
        self.send(Service::Nmt, &[command as u8, node().raw()]);
    }

    fn sync(&mut self) {
        self.send(Service::Sync, &[]);
    }

    fn beat(&mut self) {
        self.send(Service::Heartbeat(NodeId::new(MASTER).unwrap()), &[NmtState::Operational as u8]);
    }

    fn request(&mut self, request: Request) {
        let (bytes, length) = request.encode();
        self.send(Service::Rpdo(2, node()), &bytes[..length]);
    }

    /// Asks the interpreter and waits for its answer.
    fn ask(&mut self, request: Request) -> Result<Argument, u8> {
        let before = self.sent.len();
        self.request(request);
        self.run_for(us(500));
        let new = self.sent.split_off(before);
        let (answers, others): (Vec<_>, Vec<_>) =
            new.into_iter().partition(|(_, frame)| answer(frame).is_some());
        self.sent.extend(others);
        let answer = answers.first().and_then(|(_, frame)| answer(frame)).expect("an answer");
        assert_eq!(answer.command, request.command());
        answer.result
    }

    fn get(&mut self, command: Command) -> Result<i32, u8> {
        self.ask(Request::Get(command)).map(integer)
    }

    fn set(&mut self, command: Command, value: i32) -> Result<i32, u8> {
        self.ask(Request::Set(command, Argument::Integer(value))).map(integer)
    }

    fn set_float(&mut self, command: Command, value: f32) -> Result<Argument, u8> {
        self.ask(Request::Set(command, Argument::Float(value)))
    }

    /// A cyclic queue of so many rows, `ratio` position loops apart.
    fn set_queue(&mut self, rows: u16, ratio: i32, low_mark: i32) {
        let parameters = [
            (mp::FIRST_ROW, 1),
            (mp::LAST_ROW, rows.into()),
            (mp::CYCLIC, 1),
            (mp::SAMPLE_RATIO, ratio),
            (mp::LOW_MARK, low_mark),
            (mp::WRITE_ROW, 1),
        ];
        for (index, value) in parameters {
            assert_eq!(self.set(Command::MOTION.at(index), value), Ok(value));
        }
    }

    fn put(&mut self, first: i32, second: i32) {
        let mut data = [0; 8];
        data[..4].copy_from_slice(&first.to_le_bytes());
        data[4..].copy_from_slice(&second.to_le_bytes());
        self.send(Service::Rpdo(3, node()), &data);
    }

    fn write(&mut self, address: Address, value: Value) -> Result<(), TransferError> {
        self.transfer(Transfer::write(self.now, node(), address, value)).map(|_| ())
    }

    fn read(&mut self, address: Address, data_type: DataType) -> Result<Option<Value>, TransferError> {
        self.transfer(Transfer::read(self.now, node(), address, data_type))
    }

    fn transfer(&mut self, (mut transfer, first): (Transfer, Frame)) -> Result<Option<Value>, TransferError> {
        let mut frame = first;
        loop {
            let before = self.sent.len();
            self.drive.handle(self.now, &frame);
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

    /// What was sent since the last call, of one service.
    fn take(&mut self, service: Service) -> Vec<(Duration, Vec<u8>)> {
        let of_service = |frame: &Frame| frame.standard_id() == Some(service.id());
        let (taken, others) = std::mem::take(&mut self.sent).into_iter().partition(|(_, f)| of_service(f));
        self.sent = others;
        let taken: Vec<(Duration, Frame)> = taken;
        taken.into_iter().map(|(at, frame)| (at, frame.data().to_vec())).collect()
    }

    fn take_emergencies(&mut self) -> Vec<(Duration, Emergency)> {
        let taken = self.take(Service::Emergency(node()));
        taken.into_iter().map(|(at, data)| (at, Emergency::decode(&data).unwrap())).collect()
    }

    fn counts(&self) -> f64 {
        self.drive.position_counts()
    }
}

fn answer(frame: &Frame) -> Option<Answer> {
    (frame.standard_id() == Some(Service::Tpdo(2, node()).id())).then(|| Answer::decode(frame.data()))?
}

fn integer(argument: Argument) -> i32 {
    match argument {
        Argument::Integer(value) => value,
        Argument::Float(value) => panic!("a float: {value}"),
    }
}
