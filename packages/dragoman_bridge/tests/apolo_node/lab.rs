//! A server side in front of a fake world, in this process.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dragoman_bridge::apolo::node::start_server;
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange};

use crate::fake_world::{self, World};

pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(10);

/// A separate context, invisible to other processes, with `name:=value` parameters of the server side.
pub(crate) fn context(parameters: &[&str]) -> Context {
    context_of("apolo", parameters)
}

/// The same for the client side.
pub(crate) fn client_context(parameters: &[&str]) -> Context {
    context_of("apolo_client", parameters)
}

fn context_of(node: &str, parameters: &[&str]) -> Context {
    let mut arguments = vec!["--ros-args".to_owned()];
    for parameter in parameters {
        arguments.extend(["-p".to_owned(), format!("{node}:{parameter}")]);
    }
    let discovery = Discovery { domain_id: 77, range: DiscoveryRange::Off, static_peers: Vec::new() };
    Context::with_options(&discovery, Arguments::parse(arguments).unwrap()).unwrap()
}

pub(crate) struct Lab {
    pub(crate) world: Arc<Mutex<World>>,
    pub(crate) address: SocketAddr,
    pub(crate) context: Context,
    pub(crate) runtime: tokio::runtime::Runtime,
}

impl Lab {
    pub(crate) fn start(parameters: &[&str]) -> Self {
        let context = context(&[&["port:=0"], parameters].concat());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let world = World::new();
        runtime.spawn(fake_world::start(&context, "/apolo", &world));
        let server = start_server(&context, "/apolo", IpAddr::V4(Ipv4Addr::LOCALHOST)).unwrap();
        let address = server.address;
        runtime.spawn(server.node);
        Self { world, address, context, runtime }
    }

    pub(crate) fn client(&self) -> Socket {
        Socket::connect(self.address)
    }
}

/// A client without any protocol code.
pub(crate) struct Socket(pub(crate) TcpStream);

impl Socket {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(TIME_LIMIT)).unwrap();
        Self(stream)
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    /// The next answer, of any length (base 256).
    pub(crate) fn answer(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; 5];
        self.0.read_exact(&mut bytes).unwrap();
        assert_eq!(bytes[..2], *b"aa");
        let size = usize::from(u16::from_le_bytes([bytes[2], bytes[3]]));
        bytes.resize(size, 0);
        self.0.read_exact(&mut bytes[5..]).unwrap();
        bytes
    }

    pub(crate) fn ask(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.send(bytes);
        self.answer()
    }

    /// Checks that no answer arrives before the answer to a later question.
    #[track_caller]
    pub(crate) fn silent(&mut self, bytes: &[u8]) {
        self.send(bytes);
        assert_eq!(self.ask(&request(b'u', "", &["uc0"], &[])), doubles(&[1.5]));
        self.0.set_nonblocking(true).unwrap();
        let error = self.0.read(&mut [0]).expect_err("silence");
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        self.0.set_nonblocking(false).unwrap();
    }
}

fn string(name: &str) -> Vec<u8> {
    if name.is_empty() {
        return vec![0];
    }
    [&[u8::try_from(name.len() + 1).unwrap()], name.as_bytes(), b"\0"].concat()
}

/// A frame, built byte by byte.
pub(crate) fn request(letter: u8, world: &str, names: &[&str], values: &[f64]) -> Vec<u8> {
    let mut payload = string(world);
    names.iter().for_each(|name| payload.extend(string(name)));
    if b"jJ".contains(&letter) {
        payload.push(u8::try_from(values.len()).unwrap());
    }
    values.iter().for_each(|value| payload.extend(value.to_le_bytes()));
    frame(letter, &payload)
}

pub(crate) fn frame(letter: u8, payload: &[u8]) -> Vec<u8> {
    let size = u16::try_from(5 + payload.len()).unwrap().to_le_bytes();
    [b"aa", &size[..], &[letter], payload].concat()
}

pub(crate) fn doubles(values: &[f64]) -> Vec<u8> {
    let count = u16::try_from(values.len()).unwrap().to_le_bytes();
    let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    frame(b'D', &[&count[..], &values].concat())
}

pub(crate) const TRUE: &[u8] = b"aa\x05\0T";
pub(crate) const FALSE: &[u8] = b"aa\x05\0F";

/// Waits until `holds` returns true.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < TIME_LIMIT, "{what} timed out");
        std::thread::sleep(Duration::from_millis(2));
    }
}
