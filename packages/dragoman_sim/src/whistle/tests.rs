//! A simulated Whistle on virtual time, accessed with the driver's codecs.

mod any_frames;
mod connection;
mod interpreter;
mod motion;

use std::time::Duration;

use canopen_rs::{Address, DataType, NmtCommand, NmtState, NodeId, Value};
use dragoman_arm::canopen::Service;
use dragoman_arm::canopen::sdo::TransferError;
use dragoman_arm::simpliq::commands::{Command, motion as mp};
use dragoman_arm::simpliq::{Argument, DriveAnswer, DriveRequest, objects};
use dragoman_io::can::Frame;

use super::{Whistle, WhistleSettings};
use crate::fixture::{MASTER, ms, node, us};

type Fixture = crate::fixture::Fixture<super::Simpliq>;

impl Fixture {
    fn new() -> Self {
        Self::with(WhistleSettings::default())
    }

    fn with(settings: WhistleSettings) -> Self {
        Self::of(Whistle::new(node(), settings))
    }

    /// Operational, with the driver's complete configuration.
    fn set_up() -> Self {
        Self::set_up_with(WhistleSettings::default())
    }

    fn set_up_with(settings: WhistleSettings) -> Self {
        let mut fixture = Self::with(settings);
        for (address, value) in objects::set_up(node(), NodeId::new(MASTER).unwrap(), ms(50), ms(100)) {
            assert_eq!(fixture.write(address, value), Ok(()), "{address:?} {value:?}");
        }
        fixture.command(NmtCommand::StartRemoteNode);
        fixture
    }

    fn enabled() -> Self {
        let mut fixture = Self::set_up();
        assert_eq!(fixture.set(Command::MOTOR, 1), Ok(1));
        fixture
    }

    fn request(&mut self, request: DriveRequest) {
        let (bytes, length) = request.encode();
        self.send(Service::Rpdo(2, node()), &bytes[..length]);
    }

    /// Sends a request to the interpreter and waits for the answer.
    fn ask(&mut self, request: DriveRequest) -> Result<Argument, u8> {
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
        self.ask(DriveRequest::Get(command)).map(integer)
    }

    fn set(&mut self, command: Command, value: i32) -> Result<i32, u8> {
        self.ask(DriveRequest::Set(command, Argument::Integer(value))).map(integer)
    }

    fn set_float(&mut self, command: Command, value: f32) -> Result<Argument, u8> {
        self.ask(DriveRequest::Set(command, Argument::Float(value)))
    }

    /// A cyclic queue of this number of rows, `ratio` position loops apart.
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
}

fn answer(frame: &Frame) -> Option<DriveAnswer> {
    (frame.standard_id() == Some(Service::Tpdo(2, node()).id())).then(|| DriveAnswer::decode(frame.data()))?
}

fn integer(argument: Argument) -> i32 {
    match argument {
        Argument::Integer(value) => value,
        Argument::Float(value) => panic!("a float: {value}"),
    }
}
