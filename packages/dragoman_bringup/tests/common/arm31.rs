//! A client of the 31-byte protocol.

use std::net::SocketAddr;
use std::time::Duration;

use crate::host::{UdpSocket, now, sleep};

/// A client like those of the Ranger thesis.
pub struct ArmClient {
    pub socket: UdpSocket,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ArmReply {
    Values([u8; 2], [f32; 7], u8),
    Text(String),
}

impl ArmReply {
    pub fn values(&self) -> [f32; 7] {
        match self {
            Self::Values(_, values, _) => *values,
            Self::Text(text) => panic!("values were expected, not '{text}'"),
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Values(..) => panic!("a text was expected, not {self:?}"),
        }
    }
}

impl ArmClient {
    pub fn new(server: SocketAddr) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(server).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
        Self { socket }
    }

    pub fn send(&self, letters: &str, values: [f32; 7], index: u8) {
        let mut datagram = letters.as_bytes().to_vec();
        datagram.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        datagram.push(index);
        self.socket.send(&datagram).unwrap();
    }

    pub fn receive(&self) -> Option<ArmReply> {
        self.try_receive().ok()
    }

    /// The next answer. After the lab has ended there is an error at once, and not after the time limit.
    fn try_receive(&self) -> std::io::Result<ArmReply> {
        let mut bytes = [0; 64];
        let length = self.socket.recv(&mut bytes)?;
        assert_eq!(length, 31);
        if bytes.starts_with(b"ER") || bytes.starts_with(b"WN") {
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(31);
            return Ok(ArmReply::Text(String::from_utf8(bytes[..end].to_vec()).unwrap()));
        }
        let value = |i: usize| f32::from_le_bytes(bytes[2 + 4 * i..6 + 4 * i].try_into().unwrap());
        Ok(ArmReply::Values([bytes[0], bytes[1]], std::array::from_fn(value), bytes[30]))
    }

    /// Sends a command and returns its answer; warnings that come in between are skipped.
    pub fn ask(&self, letters: &str, values: [f32; 7], index: u8) -> ArmReply {
        self.send(letters, values, index);
        let sent = now();
        let no_answer = |error| -> ArmReply {
            let waited = now() - sent;
            self.send(letters, values, index);
            let again = self.try_receive();
            panic!("no answer to {letters} within {waited:?}: {error}; asked again: {again:?}")
        };
        loop {
            match self.try_receive().unwrap_or_else(no_answer) {
                ArmReply::Text(text) if text.starts_with("WN") || text.starts_with("ER21") => {}
                answer => return answer,
            }
        }
    }

    pub fn position(&self) -> [f32; 3] {
        let [x, y, z, ..] = self.ask("PS", [0.0; 7], 0).values();
        [x, y, z]
    }

    /// Waits until the tool is within `tolerance` metres of `goal`.
    pub fn arrives(&self, goal: [f32; 3], tolerance: f32, time_limit: Duration) -> bool {
        let start = now();
        while now() - start < time_limit {
            if distance(self.position(), goal) < tolerance {
                return true;
            }
            sleep(Duration::from_millis(20));
        }
        false
    }
}

pub fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
}

/// Position, and orientation as roll, pitch, yaw for `GT`, from the answer of `PS`.
pub fn roll_pitch_yaw(pose: [f32; 7]) -> [f32; 3] {
    let [_, _, _, x, y, z, w] = pose;
    [
        (2.0 * (w * x + y * z)).atan2(1.0 - 2.0 * (x * x + y * y)),
        (2.0 * (w * y - z * x)).clamp(-1.0, 1.0).asin(),
        (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z)),
    ]
}
