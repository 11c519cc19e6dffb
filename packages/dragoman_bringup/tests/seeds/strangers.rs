//! Raw clients that send what no program should.

use std::net::SocketAddr;
use std::time::Duration;

use dragoman_io::net::{TcpStream, UdpSocket};
use dragoman_time::{AbortHandle, random, sleep, spawn};

use super::common::Lab;

const CHANCE: &str = "strangers";

pub(super) struct Strangers(Vec<AbortHandle>);

impl Strangers {
    /// Two of each protocol.
    pub(super) fn start(lab: &Lab) -> Self {
        let beginnings: [(SocketAddr, &'static [u8]); 4] = [
            (lab.apolo, b"aa\x0b\0G\0\x04Neo\0"),
            (lab.neobotix[1], &[0xff, 0x01, 0xfe, 0x02, 0, 0, 0, 1, 18]),
            // A request of Player's device 0 for the list of devices.
            (lab.player, &[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 4, 1]),
            (lab.neobotix[1], &[0, 0, 0, 1, 74]),
        ];
        let mut tasks: Vec<_> = beginnings
            .into_iter()
            .cycle()
            .take(8)
            .map(|(server, telegram)| spawn(connect_again(server, telegram)).abort_handle())
            .collect();
        let arm = lab.address;
        tasks.push(spawn(async move { send_datagrams(arm).await }).abort_handle());
        Self(tasks)
    }

    pub(super) fn leave(self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}

/// Connects, sends whole telegrams, halves and garbage, and leaves in one of several ways.
async fn connect_again(server: SocketAddr, telegram: &'static [u8]) {
    loop {
        sleep(Duration::from_millis(random(CHANCE) % 2000)).await;
        let Ok(stream) = TcpStream::connect(server).await else { continue };
        let is_reader = !random(CHANCE).is_multiple_of(3);
        for _ in 0..random(CHANCE) % 20 {
            let bytes: Vec<u8> = match random(CHANCE) % 4 {
                0 => (0..random(CHANCE) % 64).map(|_| random(CHANCE) as u8).collect(),
                1 => telegram[..random(CHANCE) as usize % telegram.len()].to_vec(),
                _ => telegram.to_vec(),
            };
            if stream.try_write(&bytes).is_err() {
                break;
            }
            sleep(Duration::from_millis(random(CHANCE) % 200)).await;
            let mut answer = [0; 4096];
            while is_reader && matches!(stream.try_read(&mut answer), Ok(1..)) {}
        }
        // Some hang for a while.
        if random(CHANCE).is_multiple_of(4) {
            sleep(Duration::from_millis(random(CHANCE) % 20_000)).await;
        }
    }
}

/// Datagrams of any length and content. They command nothing: a program of the thesis begins with `ON`, `BG` and the like,
/// which garbage does not meet.
async fn send_datagrams(server: SocketAddr) {
    loop {
        let Ok(socket) = UdpSocket::bind(([127, 0, 0, 1], 0).into()) else { return };
        for _ in 0..random(CHANCE) % 50 {
            let bytes: Vec<u8> = (0..random(CHANCE) % 40).map(|_| (random(CHANCE) % 64) as u8).collect();
            let _ = socket.try_send_to(&bytes, server);
            sleep(Duration::from_millis(random(CHANCE) % 100)).await;
        }
    }
}
