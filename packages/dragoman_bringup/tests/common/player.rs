//! A client of Player's protocol that sends the same messages as Player's own libraries.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use crate::host::{TcpStream, now, sleep};
use dragoman_bridge::player::wire::common::Pose2d;
use dragoman_bridge::player::wire::player::{
    MODE, OPEN, PULL, READ, REPLACE_RULE, ReplaceRule, SUBSCRIBE, SYNCH, Subscription,
};
use dragoman_bridge::player::wire::position2d::{self, State, VELOCITY, Velocity};
use dragoman_bridge::player::wire::{
    Address, BANNER_LEN, Decoder, Device, Header, Message, MessageKind, Xdr,
};

/// Time limit of an answer, data or a motion.
pub const TIME_LIMIT: Duration = Duration::from_secs(120);
/// The server's own device.
pub const SERVER: Device = dragoman_bridge::player::wire::player::INTERFACE.device(0);

pub struct PlayerClient {
    pub stream: TcpStream,
    decoder: Decoder,
}

impl PlayerClient {
    /// Connects as Player's C++ library does: pull mode, and only the newest data.
    pub fn connect(address: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(TIME_LIMIT)).unwrap();
        let mut banner = [0; BANNER_LEN];
        stream.read_exact(&mut banner).unwrap();
        assert!(banner.starts_with(b"Player v."));
        let mut client = Self { stream, decoder: Decoder::default() };
        client.ask(SERVER, MODE.subtype, &PULL);
        let rule =
            ReplaceRule { interface: -1, index: -1, kind: MessageKind::Data as i32, subtype: -1, replace: 1 };
        client.ask(SERVER, REPLACE_RULE.subtype, &rule);
        client
    }

    pub fn send(&mut self, device: Device, kind: MessageKind, subtype: u8, body: &impl Xdr) {
        let address = Address { device, ..Address::default() };
        let mut bytes = Vec::new();
        let header = Header { address, kind, subtype, timestamp: 0.0, sequence: 0 };
        header.write_message(&body.to_bytes(), &mut bytes);
        self.stream.write_all(&bytes).unwrap();
    }

    pub fn receive(&mut self) -> Message {
        loop {
            if let Some(message) = self.decoder.next() {
                return message.unwrap();
            }
            let mut buffer = [0; 65536];
            let len = self.stream.read(&mut buffer).expect("the server answers");
            assert!(len > 0, "the server has closed the connection");
            self.decoder.push(&buffer[..len]);
        }
    }

    /// The answer to a request; data before it is dropped.
    #[track_caller]
    pub fn ask(&mut self, device: Device, subtype: u8, body: &impl Xdr) -> Message {
        self.send(device, MessageKind::Request, subtype, body);
        loop {
            let message = self.receive();
            if matches!(message.header.kind, MessageKind::Acknowledge | MessageKind::Refuse) {
                assert_eq!((message.header.address.device, message.header.subtype), (device, subtype));
                return message;
            }
        }
    }

    /// The answer to a request that is refused at most while its robot is not discovered.
    #[track_caller]
    pub fn granted(&mut self, device: Device, subtype: u8, body: &impl Xdr) -> Vec<u8> {
        let end = now() + TIME_LIMIT;
        loop {
            let answer = self.ask(device, subtype, body);
            if answer.header.kind == MessageKind::Acknowledge {
                return answer.body;
            }
            assert!(now() < end, "{device:?} {subtype} is refused");
            sleep(Duration::from_millis(100));
        }
    }

    #[track_caller]
    pub fn subscribe(&mut self, device: Device) {
        let address = Address { device, ..Address::default() };
        let body = Subscription { address, access: OPEN, driver: String::new() };
        let body = self.granted(SERVER, SUBSCRIBE.subtype, &body);
        assert_eq!(SUBSCRIBE.answer(&body).unwrap().access, OPEN, "{device:?}");
    }

    /// A round of data.
    pub fn read(&mut self) -> Vec<Message> {
        self.send(SERVER, MessageKind::Request, READ.subtype, &());
        let mut data = Vec::new();
        loop {
            let message = self.receive();
            match message.header.kind {
                MessageKind::Synch => {
                    assert_eq!(message.header.subtype, SYNCH);
                    return data;
                }
                MessageKind::Data => data.push(message),
                _ => {}
            }
        }
    }

    /// The newest data of a device.
    #[track_caller]
    pub fn newest(&mut self, device: Device) -> Message {
        let end = now() + TIME_LIMIT;
        loop {
            let mut data = self.read();
            data.retain(|message| message.header.address.device == device);
            if let Some(message) = data.pop() {
                return message;
            }
            assert!(now() < end, "{device:?} sends nothing");
        }
    }

    /// The newest data of a base.
    #[track_caller]
    pub fn state(&mut self, base: Device) -> State {
        position2d::STATE.body(&self.newest(base).body).unwrap()
    }

    pub fn set_speed(&mut self, base: Device, x: f64, yaw: f64) {
        let velocity = Velocity { velocity: Pose2d { x, y: 0.0, yaw }, motors_on: true };
        self.send(base, MessageKind::Command, VELOCITY.subtype, &velocity);
    }

    #[track_caller]
    pub fn until(&mut self, what: &str, base: Device, holds: impl Fn(&State) -> bool) -> State {
        let end = now() + TIME_LIMIT;
        loop {
            let state = self.state(base);
            if holds(&state) {
                return state;
            }
            assert!(now() < end, "{what}: {state:?}");
        }
    }
}

/// A base.
pub const fn base(index: u16) -> Device {
    position2d::INTERFACE.device(index)
}

/// A table with the TurtleBot's base only. Its services are those of a robot that is not there: requests wait for them.
pub fn base_without_services(test: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("player_{test}.yaml"));
    let text =
        "devices:\n- { device: \"position2d:0\", odometry: odom, velocity: cmd_vel, services: nowhere }\n";
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The bytes of a message.
pub fn header(device: Device, kind: MessageKind, subtype: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let address = Address { device, ..Address::default() };
    Header { address, kind, subtype, timestamp: 0.0, sequence: 0 }.write_message(body, &mut bytes);
    bytes
}
