//! A raw client of PlatformCtrl's protocol, with messages built byte by byte (PlatformCtrl guide, chapter 6).

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use crate::host::{TcpStream, now, sleep};

/// Header that real clients send before the length.
pub const HEADER: [u8; 4] = [0xff, 0x01, 0xfe, 0x02];
pub const CONNECT: u8 = 0;
pub const INIT: u8 = 2;
pub const START: u8 = 11;
pub const BREAK: u8 = 12;
pub const CONTINUE: u8 = 13;
pub const STOP: u8 = 14;
pub const SET_MODE: u8 = 15;
pub const EXIT: u8 = 16;
pub const GET_STATUS: u8 = 18;
pub const MOVE_TO_STATION: u8 = 20;
pub const MOVE_VEL_WHEEL: u8 = 23;
pub const SET_MAP: u8 = 25;
pub const GET_MAP: u8 = 26;
pub const GET_POSITION: u8 = 74;

pub struct NeobotixClient {
    pub stream: TcpStream,
    header: &'static [u8],
}

impl NeobotixClient {
    /// A client that sends the header, as real ones do.
    pub fn new(server: SocketAddr) -> Self {
        let stream = TcpStream::connect(server).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, header: &HEADER }
    }

    /// A client that sends no header, as in the guide's example.
    pub fn bare(server: SocketAddr) -> Self {
        Self { header: &[], ..Self::new(server) }
    }

    /// A client of a port that another client has just left.
    #[track_caller]
    pub fn next(server: SocketAddr) -> Self {
        let end = now() + Duration::from_secs(20);
        loop {
            let mut client = Self::new(server);
            client.send(&message(&HEADER, &[GET_POSITION]));
            if client.read(HEADER.len() + 4 + 33).is_some() {
                return client;
            }
            assert!(now() < end, "the port does not become free");
            sleep(Duration::from_millis(20));
        }
    }

    pub fn send(&mut self, bytes: &[u8]) {
        // A server that has closed the connection resets it; the read reports that.
        let _ = self.stream.write_all(bytes);
    }

    /// Sends a command without answer.
    pub fn order(&mut self, data: &[u8]) {
        self.send(&message(self.header, data));
    }

    fn read(&mut self, len: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.stream.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }

    /// The data of the next reply, which begins like the request.
    #[track_caller]
    pub fn reply(&mut self) -> Vec<u8> {
        let head = self.read(self.header.len() + 4).expect("a reply");
        let (header, length) = head.split_at(self.header.len());
        assert_eq!(header, self.header);
        let length = u32::from_be_bytes(length.try_into().unwrap());
        assert!((1..=16 << 20).contains(&length), "{length}");
        self.read(length as usize).expect("a whole reply")
    }

    #[track_caller]
    pub fn ask(&mut self, data: &[u8]) -> Fields {
        self.ask_with(&[], data)
    }

    /// Sends the commands and the question in one packet; returns the answer.
    #[track_caller]
    pub fn ask_with(&mut self, orders: &[Vec<u8>], data: &[u8]) -> Fields {
        let orders = orders.iter().map(Vec::as_slice);
        let packet: Vec<u8> = orders.chain([data]).flat_map(|one| message(self.header, one)).collect();
        self.send(&packet);
        let reply = self.reply();
        assert_eq!(reply[0], data[0], "the reply is to another command");
        Fields { bytes: reply, place: 1 }
    }

    /// Checks that no reply comes, by sending another request whose reply must be the next.
    #[track_caller]
    pub fn silent(&mut self, data: &[u8]) {
        self.order(data);
        self.ask(&[GET_POSITION]);
        self.stream.set_nonblocking(true).unwrap();
        let error = self.stream.read(&mut [0]).expect_err("silence");
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        self.stream.set_nonblocking(false).unwrap();
    }

    /// Waits until the server closes the connection, skipping all data until then.
    #[track_caller]
    pub fn is_hung_up_on(&mut self) {
        let mut bytes = [0; 4096];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => return,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return,
                Ok(_) => {}
                Err(error) => panic!("the connection is still open: {error}"),
            }
        }
    }

    #[track_caller]
    pub fn status(&mut self) -> Status {
        Status::read(self.ask(&[GET_STATUS]))
    }

    /// Waits until the status fulfils the condition.
    #[track_caller]
    pub fn until(&mut self, what: &str, mut holds: impl FnMut(&Status) -> bool) -> Status {
        let end = now() + Duration::from_secs(150);
        loop {
            let status = self.status();
            if holds(&status) {
                return status;
            }
            assert!(now() < end, "{what}: {status:?}");
            sleep(Duration::from_millis(50));
        }
    }
}

pub fn message(header: &[u8], data: &[u8]) -> Vec<u8> {
    [header, &u32::try_from(data.len()).unwrap().to_be_bytes(), data].concat()
}

pub fn ints(number: u8, values: &[i32]) -> Vec<u8> {
    let values = values.iter().flat_map(|value| value.to_be_bytes());
    [number].into_iter().chain(values).collect()
}

pub fn texts(number: u8, texts: &[&str]) -> Vec<u8> {
    let mut data = vec![number];
    for text in texts {
        data.extend(u32::try_from(text.len()).unwrap().to_be_bytes());
        data.extend(text.as_bytes());
    }
    data
}

/// The lines of the protocol queue in the reply to CMD_GET_DEBUG_DATA, of a platform that does not map.
#[track_caller]
pub fn queue(mut debug: Fields) -> Vec<String> {
    let _ = (debug.list::<8>(), debug.flag(), debug.list::<3>(), debug.list::<9>());
    (0..debug.int()).for_each(|_| _ = (debug.int(), debug.text()));
    let _ = (debug.list::<3>(), debug.list::<3>(), debug.list::<3>());
    (0..debug.int()).map(|_| debug.text()).collect()
}

/// A reply, read from its beginning.
pub struct Fields {
    bytes: Vec<u8>,
    place: usize,
}

impl Fields {
    #[track_caller]
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let taken = self.bytes[self.place..self.place + N].try_into().unwrap();
        self.place += N;
        taken
    }

    #[track_caller]
    pub fn byte(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    /// A BYTE that is 0 or 1.
    #[track_caller]
    pub fn flag(&mut self) -> bool {
        let byte = self.byte();
        assert!(byte < 2, "{byte}");
        byte == 1
    }

    #[track_caller]
    pub fn int16(&mut self) -> i16 {
        i16::from_be_bytes(self.take())
    }

    #[track_caller]
    pub fn int(&mut self) -> i32 {
        i32::from_be_bytes(self.take())
    }

    #[track_caller]
    pub fn ints<const N: usize>(&mut self) -> [i32; N] {
        [0; N].map(|_| self.int())
    }

    #[track_caller]
    pub fn double(&mut self) -> f64 {
        let value = f64::from_be_bytes(self.take());
        assert!(value.is_finite());
        value
    }

    #[track_caller]
    pub fn text(&mut self) -> String {
        let len = usize::try_from(self.int()).unwrap();
        let text = String::from_utf8(self.bytes[self.place..self.place + len].to_vec()).unwrap();
        self.place += len;
        text
    }

    /// The document of a reply that begins with the length of its name.
    #[track_caller]
    pub fn text_after_byte(mut self) -> String {
        self.byte();
        self.text()
    }

    /// A count and as many lists of N numbers.
    #[track_caller]
    pub fn list<const N: usize>(&mut self) -> Vec<[i32; N]> {
        (0..self.int()).map(|_| self.ints()).collect()
    }

    /// The end of a reply with a check value.
    #[track_caller]
    pub fn check(mut self) {
        assert_eq!(self.int(), -1);
        self.end();
    }

    #[track_caller]
    pub fn end(self) {
        assert_eq!(self.place, self.bytes.len(), "the reply goes on");
    }
}

/// The fields of a status that the tests use; all fields were read.
#[derive(Debug)]
pub struct Status {
    pub commanded: [i32; 3],
    pub estimated: [i32; 3],
    pub covariance: [i32; 4],
    pub scan: Vec<[i16; 2]>,
    pub lines: Vec<[i32; 4]>,
    pub path: Vec<[i32; 2]>,
    /// Forwards, mm/s; counter-clockwise, thousandths of rad/s.
    pub velocity: [i32; 2],
    pub digital_out: i32,
    pub ultrasonic: [i32; 16],
    pub is_initialized: bool,
    pub is_target_reached: bool,
    pub mode: u8,
    pub operation: u8,
    pub emergency: i32,
    pub planner: i32,
    pub time_stamp: i32,
    pub is_lost: bool,
    pub is_colliding: bool,
    /// Siren and flash light.
    pub lights: [bool; 2],
    /// Angle of the head, degrees.
    pub head: i32,
}

impl Status {
    /// Row by row as in the PlatformCtrl guide, 6.4.
    #[track_caller]
    pub fn read(mut fields: Fields) -> Self {
        let [commanded, estimated] = [fields.ints(), fields.ints()];
        let covariance = fields.ints();
        let scan = (0..fields.int()).map(|_| [fields.int16(), fields.int16()]).collect();
        let reflectors = fields.list::<2>();
        let lines = fields.list::<4>();
        let (circles, corners) = (fields.list::<3>(), fields.list::<2>());
        let path = fields.list::<2>();
        for _ in 0..fields.int() {
            fields.flag();
        }
        let velocity = fields.ints();
        let relay_board = fields.ints::<14>();
        let [_voltage, _digital_in, digital_out, _status] = fields.ints();
        let _analog_in = fields.ints::<8>();
        let motors = fields.ints::<4>();
        let ultrasonic = fields.ints();
        let _ultrasonic_board = fields.ints::<9>();
        let radar_board = fields.ints::<5>();
        let place = [fields.double(), fields.double()];
        let gyro = fields.ints::<6>();
        // The lab has reflectors and corners. While it turns on a loaded machine they are late, and beside their
        // places.
        let is_near = |[x, y]: &[i32; 2]| x.abs() < 20_000 && y.abs() < 20_000;
        assert!(reflectors.iter().chain(&corners).all(is_near), "{reflectors:?} {corners:?}");
        assert!(circles.is_empty());
        assert_eq!((relay_board, motors, radar_board), ([0; 14], [0; 4], [0; 5]));
        // Accelerations and the angle are measured; there is no board with a temperature and a status.
        let [.., temperature, status] = gyro;
        assert_eq!((place, temperature, status), ([0.0; 2], 0, 0));
        let (is_initialized, is_target_reached) = (fields.flag(), fields.flag());
        let (mode, operation) = (fields.byte(), fields.byte());
        let emergency = fields.int();
        assert_eq!(fields.byte(), 0, "application mode");
        let (planner, time_stamp) = (fields.int(), fields.int());
        assert_eq!(fields.int(), 0, "error of an application");
        assert!(!fields.flag(), "docked");
        let (is_lost, is_colliding) = (fields.flag(), fields.flag());
        assert_eq!((fields.byte(), [0; 4].map(|_| fields.byte())), (0, [0; 4]), "lookup data, infrared");
        let lights = [fields.flag(), fields.flag()];
        let head = fields.int();
        fields.check();
        Self {
            commanded,
            estimated,
            covariance,
            scan,
            lines,
            path,
            velocity,
            digital_out,
            ultrasonic,
            is_initialized,
            is_target_reached,
            mode,
            operation,
            emergency,
            planner,
            time_stamp,
            is_lost,
            is_colliding,
            lights,
            head,
        }
    }
}
