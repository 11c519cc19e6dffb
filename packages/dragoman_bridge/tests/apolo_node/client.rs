//! A raw client of Apolo's protocol, with frames built byte by byte (Apolo port manual, *Anexo*). The tests of processes
//! in `dragoman_bringup` use it as well.

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use crate::host::TcpStream;

pub(crate) const TRUE: &[u8] = b"aa\x05\0T";
pub(crate) const FALSE: &[u8] = b"aa\x05\0F";

pub(crate) struct ApoloClient {
    pub(crate) stream: TcpStream,
}

impl ApoloClient {
    pub(crate) fn new(server: SocketAddr) -> Self {
        let stream = TcpStream::connect(server).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next answer, of the length in its header.
    pub(crate) fn answer(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; 5];
        self.stream.read_exact(&mut bytes).unwrap();
        assert_eq!(bytes[..2], *b"aa");
        bytes.resize(usize::from(u16::from_le_bytes([bytes[2], bytes[3]])), 0);
        self.stream.read_exact(&mut bytes[5..]).unwrap();
        bytes
    }

    pub(crate) fn ask(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.send(bytes);
        self.answer()
    }

    /// Sends a request that is answered with doubles.
    #[track_caller]
    pub(crate) fn values(&mut self, letter: u8, name: &str) -> Vec<f64> {
        let answer = self.ask(&request(letter, "", &[name], &[]));
        assert_eq!(char::from(answer[4]), 'D', "{} {name}", char::from(letter));
        let (count, values) = answer[5..].split_at(2);
        let values: Vec<f64> =
            values.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect();
        assert_eq!(usize::from(u16::from_le_bytes([count[0], count[1]])), values.len());
        assert_eq!(answer.len(), 7 + 8 * values.len());
        values
    }

    /// Landmarks seen by a laser: id, angle, distance.
    pub(crate) fn landmarks(&mut self, laser: &str) -> Vec<(u16, f64, f64)> {
        let answer = self.ask(&request(b'B', "", &[laser], &[]));
        assert_eq!(answer[4], b'b');
        let double = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap());
        let marks = answer[7..].chunks_exact(18);
        marks
            .map(|mark| (u16::from_le_bytes([mark[0], mark[1]]), double(&mark[2..10]), double(&mark[10..])))
            .collect()
    }

    /// Checks that no answer comes, by sending another request whose answer must be the next: the range of `uc0`.
    #[track_caller]
    pub(crate) fn silent(&mut self, bytes: &[u8]) -> f64 {
        self.send(bytes);
        let ranges = self.values(b'u', "uc0");
        assert_eq!(ranges.len(), 1);
        self.stream.set_nonblocking(true).unwrap();
        let error = self.stream.read(&mut [0]).expect_err("silence");
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        self.stream.set_nonblocking(false).unwrap();
        ranges[0]
    }
}

fn string(name: &str) -> Vec<u8> {
    if name.is_empty() {
        return vec![0];
    }
    [&[u8::try_from(name.len() + 1).unwrap()], name.as_bytes(), b"\0"].concat()
}

/// A request: letter, world, names, and doubles, which are counted for `j` and `J`.
pub(crate) fn request(letter: u8, world: &str, names: &[&str], values: &[f64]) -> Vec<u8> {
    let mut payload = string(world);
    names.iter().for_each(|name| payload.extend(string(name)));
    if b"jJ".contains(&letter) {
        payload.push(u8::try_from(values.len()).unwrap());
    }
    values.iter().for_each(|value| payload.extend(value.to_le_bytes()));
    frame(letter, &payload)
}

/// A frame of any kind.
pub(crate) fn frame(letter: u8, payload: &[u8]) -> Vec<u8> {
    let size = u16::try_from(5 + payload.len()).unwrap().to_le_bytes();
    [b"aa", &size[..], &[letter], payload].concat()
}

/// An answer with these doubles.
pub(crate) fn doubles(values: &[f64]) -> Vec<u8> {
    let count = u16::try_from(values.len()).unwrap().to_le_bytes();
    let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    frame(b'D', &[&count[..], &values].concat())
}
