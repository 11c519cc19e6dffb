//! A PlatformCtrl written in bytes, independent of the program's codec.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use dragoman_io::net::{TcpListener, TcpStream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Header of every message.
const HEADER: [u8; 4] = [255, 1, 254, 2];

/// Its behaviour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Manner {
    /// Normal operation.
    Good,
    /// It accepts requests, and answers nothing.
    Silent,
    /// The next answer is half a message, and nothing follows.
    Half,
    /// The next answer is not a message.
    Garbage,
    /// The next status is a byte short.
    Short,
    /// It refuses all connections.
    Closed,
}

pub(super) struct Script {
    pub(super) manner: Manner,
    /// Data of answers by the number of the command.
    pub(super) answers: HashMap<u8, Vec<u8>>,
    /// Data of the received commands, except the cyclic requests.
    pub(super) received: Vec<Vec<u8>>,
    /// ST_OP_...
    pub(super) operation: u8,
    /// MODE_MOTION_...
    pub(super) mode: u8,
    pub(super) connections: usize,
    /// Number of status requests.
    pub(super) polls: usize,
}

pub(super) struct PlatformCtrl {
    pub(super) address: SocketAddr,
    script: Arc<Mutex<Script>>,
}

impl PlatformCtrl {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind(([127, 0, 0, 1], 0).into(), 16).unwrap();
        let address = listener.local_addr().unwrap();
        let script = Script {
            manner: Manner::Good,
            answers: HashMap::from([(74, position(-1500, 250)), (26, map(MAP))]),
            received: Vec::new(),
            operation: 3,
            mode: 0,
            connections: 0,
            polls: 0,
        };
        let script = Arc::new(Mutex::new(script));
        let served = Arc::clone(&script);
        dragoman_time::spawn(async move {
            // One client at a time, as the original.
            while let Ok((stream, _)) = listener.accept().await {
                served.lock().unwrap().connections += 1;
                serve(stream, &served).await;
            }
        });
        Self { address, script }
    }

    pub(super) fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap()
    }
}

/// A panic while the script is locked is the end of the test, which locks it as well.
async fn serve(mut stream: TcpStream, script: &Mutex<Script>) {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        if script.lock().unwrap().manner == Manner::Closed {
            return;
        }
        match dragoman_time::timeout(Duration::from_millis(20), stream.read(&mut buffer)).await {
            Ok(Ok(0) | Err(_)) => return,
            Ok(Ok(len)) => bytes.extend_from_slice(&buffer[..len]),
            Err(_) => continue,
        }
        while bytes.len() >= 8 {
            let answer = {
                let mut script = script.lock().unwrap();
                assert_eq!(bytes[..4], HEADER, "{bytes:?}");
                let len = u32::from_be_bytes(bytes[4..8].try_into().unwrap()) as usize;
                if bytes.len() < 8 + len {
                    break;
                }
                script.answer(bytes.drain(..8 + len).skip(8).collect())
            };
            if stream.write_all(&answer).await.is_err() {
                return;
            }
        }
    }
}

impl Script {
    /// The bytes to send back.
    fn answer(&mut self, data: Vec<u8>) -> Vec<u8> {
        let number = data[0];
        let answer = match number {
            18 => {
                self.polls += 1;
                Some(status(self.operation, self.mode))
            }
            _ => self.answers.get(&number).cloned(),
        };
        if ![18, 26, 74].contains(&number) {
            self.act(&data);
            self.received.push(data);
        }
        let message =
            |data: &[u8]| [&HEADER[..], &u32::try_from(data.len()).unwrap().to_be_bytes(), data].concat();
        let Some(mut answer) = answer else { return Vec::new() };
        match self.manner {
            Manner::Good => message(&answer),
            Manner::Silent | Manner::Closed => Vec::new(),
            Manner::Half => {
                self.manner = Manner::Silent;
                let whole = message(&answer);
                whole[..whole.len() / 2].to_vec()
            }
            Manner::Garbage => {
                self.manner = Manner::Good;
                vec![0xff; 32]
            }
            Manner::Short => {
                if number == 18 {
                    self.manner = Manner::Good;
                    answer.pop();
                }
                message(&answer)
            }
        }
    }

    /// The state chart.
    fn act(&mut self, data: &[u8]) {
        match *data {
            [1] | [16] => self.operation = 3,
            [2] | [14] => self.operation = 0,
            [11] | [13] => self.operation = 1,
            [12] => self.operation = 2,
            [15, 0, 0, 0, mode] => self.mode = mode,
            _ => {}
        }
    }
}

pub(super) const MAP: &str = r#"<map Version="1.0"><layer index="0"><line><point x="0" y="0"/><point x="2000" y="0"/></line></layer></map>"#;

pub(super) fn ints(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

pub(super) fn text(text: &str) -> Vec<u8> {
    [ints(&[i32::try_from(text.len()).unwrap()]), text.as_bytes().to_vec()].concat()
}

/// CMD_GET_MAP: BYTE characters of the name, INT length, XML, INT length, STRING.
pub(super) fn map(xml: &str) -> Vec<u8> {
    [vec![26, 3], text(xml), text("lab")].concat()
}

/// CMD_GET_POSITION: two INTs and three DOUBLEs: -45 degrees, 300 mm/s, -0.15 rad/s.
pub(super) fn position(x: i32, y: i32) -> Vec<u8> {
    let doubles = [-std::f64::consts::FRAC_PI_4, 300.0, -0.15];
    [vec![74], ints(&[x, y]), doubles.iter().flat_map(|value| value.to_be_bytes()).collect()].concat()
}

/// CMD_GET_STATUS, line by line of the guide's table.
pub(super) fn status(operation: u8, mode: u8) -> Vec<u8> {
    let int16s = |values: [i16; 4]| values.iter().flat_map(|value| value.to_be_bytes()).collect::<Vec<u8>>();
    [
        vec![18],
        ints(&[1000, 2000, 90_000]),          // commanded frame
        ints(&[-1500, 250, -45_000]),         // estimated frame
        ints(&[10, 20, 1500, 30_000]),        // covariance
        ints(&[2]),                           // scan
        int16s([-86, -1164, -793, 957]),      // 2 m ahead; 1 m to the left
        ints(&[1, 100, 200]),                 // reflectors
        ints(&[1, 1000, 0, 0, 1000]),         // lines: target, source, in the platform's frame
        ints(&[1, 10, 20, 30]),               // circles
        ints(&[1, -10, -20]),                 // corners
        ints(&[3, 0, 0, 1000, 0, 1000, 500]), // path
        ints(&[3]),
        vec![0, 1, 0],                                                  // joystick buttons
        ints(&[310, -160]),                                             // velocities
        ints(&[5, 6, 11, 12, 13, 14, 15, 16, 17, 18, 21, 22, 23, 24]),  // relay board
        ints(&[24_500, 7, 8, 9, 31, 32, 33, 34, 35, 36, 37, 38]),       // IO board
        ints(&[41, 42, 43, 44]),                                        // motors
        ints(&(1..=16).map(|sensor| 100 * sensor).collect::<Vec<_>>()), // ultrasonic sensors
        ints(&[51, 52, 53, 54, 55, 56, 57, 58, 59]),                    // their board
        ints(&[100, 200, 300, 400, 61]),                                // radar
        48.5_f64.to_be_bytes().to_vec(),                                // latitude
        9.25_f64.to_be_bytes().to_vec(),                                // longitude
        ints(&[10_000, -20_000, 98_100, 15_000, 71, 72]),               // gyro
        vec![u8::from(operation != 3), 1, mode, operation],
        ints(&[0]),             // emergency
        vec![4],                // application mode
        ints(&[3, 123_456, 1]), // planner, time stamp, application error
        vec![1, 0, 1, 77],      // docked, localization, collision, percent
        vec![0, 1, 0, 1, 1, 0], // infrared, siren, flash light
        ints(&[-30]),           // head
        ints(&[-1]),
    ]
    .concat()
}
