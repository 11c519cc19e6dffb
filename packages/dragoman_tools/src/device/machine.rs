//! `dragoman device machine`: a machine from the description of its protocol, on a pseudo-terminal, a TCP or UDP port, or a CAN
//! interface.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use dragoman_bridge::machine::link::{can_frame, codes_of};
use dragoman_bridge::machine::simulated::Simulated;
use dragoman_io::can::{Bus, BusFault, Frame, Received, SendError};
use dragoman_io::net::{TcpListener, TcpStream, UdpSocket};
use dragoman_protocol::model::Link;
use dragoman_sim::serial::SerialDevice;
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};

use super::serial::{self, Input, Line, Machine, Scheduled, SerialOptions, parse, print, standard_input};
use super::words::switch;
use super::{Result, after};
use crate::bridge;

/// Maximum number of bytes of `garbage`.
const MAX_GARBAGE: usize = 4096;
/// Maximum time of `late` and `silence`.
const MAX_LATE: Duration = Duration::from_secs(3600);
/// Delay before a machine that connects itself tries again.
const RETRY: Duration = Duration::from_millis(500);
/// Minimum time for which a connection is cut: its port is free then.
const CUT: Duration = Duration::from_millis(50);
/// A bus is looked at this often for what is to be sent.
const BUS_STEP: Duration = Duration::from_millis(2);
/// Frames received in a row before frames are sent again.
const FRAMES_AT_ONCE: usize = 256;

#[derive(Debug, Args)]
pub struct MachineOptions {
    /// The description, a YAML file with a section `serve`.
    file: PathBuf,
    /// Where the machine is: the path of a serial line, which is a link to a pseudo-terminal; [ADDRESS:]PORT of TCP or UDP, by
    /// default 127.0.0.1 and the port of the description; or a CAN interface.
    #[arg(long, value_name = "PLACE")]
    link: Option<String>,
    /// As --link, for a serial line.
    #[arg(long, value_name = "PATH", conflicts_with = "link")]
    pty: Option<PathBuf>,
    /// Schedule a command: `COMMAND@SECONDS`, a command of standard input and its time in seconds after the start. May
    /// be given several times.
    #[arg(long, value_name = "COMMAND@SECONDS")]
    fault: Vec<Scheduled>,
}

/// The machine with the time of its last call.
pub(super) struct Device {
    simulated: Simulated,
    now: Duration,
    garbage: Option<Vec<u8>>,
}

impl Device {
    fn new(simulated: Simulated) -> Self {
        Self { simulated, now: Duration::ZERO, garbage: None }
    }
}

impl SerialDevice for Device {
    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        self.now = now;
        self.simulated.handle_bytes(now, bytes);
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.now = self.now.max(now);
        self.simulated.handle_timeout(now);
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.garbage.take().or_else(|| self.simulated.poll_transmit(self.now).map(|frame| frame.bytes))
    }

    fn poll_timeout(&self) -> Duration {
        self.simulated.poll_timeout().unwrap_or(self.now + Duration::from_secs(1))
    }
}

const HELP: &str = "\
set NAME VALUE                    set a value
show [NAME]                       print a value, or all
silence SECONDS                   say nothing
late SECONDS                      say everything later by this
twice on|off                      say everything twice
corrupt N                         a wrong byte in the next N messages
garbage N                         send N bytes that are no message
";

/// Of TCP.
const CUT_HELP: &str = "cut [SECONDS]                     close the connection, for SECONDS";

/// A time of at most [`MAX_LATE`], in seconds.
fn short(seconds: &str) -> std::result::Result<Duration, String> {
    let time = after(seconds)?;
    if time > MAX_LATE {
        Err(format!("{seconds} s; at most {} s are possible", MAX_LATE.as_secs()))
    } else {
        Ok(time)
    }
}

/// A command of standard input.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Command {
    Set(String, f64),
    Show(Option<String>),
    Silence(Duration),
    Late(Duration),
    Twice(bool),
    Corrupt(u32),
    Garbage(usize),
}

impl Machine for Device {
    const HELP: &str = HELP;

    type Command = Command;

    fn parse(words: &[&str]) -> std::result::Result<Command, String> {
        Ok(match words {
            ["set", name, value] => {
                let number = value.parse().ok().filter(|number: &f64| number.is_finite());
                Command::Set((*name).to_owned(), number.ok_or_else(|| format!("'{value}' is not a number"))?)
            }
            ["show"] => Command::Show(None),
            ["show", name] => Command::Show(Some((*name).to_owned())),
            ["silence", seconds] => Command::Silence(short(seconds)?),
            ["late", seconds] => Command::Late(short(seconds)?),
            ["twice", state] => Command::Twice(switch(state)?),
            ["corrupt", count] => {
                Command::Corrupt(count.parse().map_err(|_| format!("'{count}' is not a number"))?)
            }
            ["garbage", count] => {
                let count = count.parse().ok().filter(|count| *count <= MAX_GARBAGE);
                Command::Garbage(count.ok_or(format!("garbage: 0 to {MAX_GARBAGE} bytes"))?)
            }
            _ => return Err(format!("'{}' is not a command; help lists them", words.join(" "))),
        })
    }

    fn execute(&mut self, command: Command) -> Option<String> {
        let now = self.now;
        let shown = |name: &str, value: Option<f64>| match value {
            Some(value) => format!("{name} {value}"),
            None => format!("there is no value {name}"),
        };
        match command {
            Command::Set(name, value) => {
                let is_there = self.simulated.set(&name, value);
                return (!is_there).then(|| shown(&name, None));
            }
            Command::Show(Some(name)) => return Some(shown(&name, self.simulated.value(&name))),
            Command::Show(None) => {
                let all = self.simulated.names().iter().map(|name| shown(name, self.simulated.value(name)));
                return Some(all.collect::<Vec<_>>().join(", "));
            }
            Command::Silence(time) => self.simulated.faults().silent_until = now + time,
            Command::Late(time) => self.simulated.faults().late = time,
            Command::Twice(is_on) => self.simulated.faults().twice = is_on,
            Command::Corrupt(count) => self.simulated.faults().corrupt = count,
            // Any bytes will do, always the same ones.
            Command::Garbage(count) => {
                self.garbage =
                    Some((0..count).map(|at| u8::try_from(at * 37 % 251).unwrap_or_default()).collect());
            }
        }
        None
    }

    fn next_line(&mut self) -> Option<Line> {
        None
    }
}

/// Where a machine is, and its name for people.
enum Place {
    Serial(SerialOptions),
    Network(Network),
    Can(String, bool),
}

#[derive(Debug, Clone, Copy)]
enum Network {
    Listen(SocketAddr),
    Connect(SocketAddr),
    Udp(SocketAddr),
    /// It sends to this address from the beginning.
    UdpTo(SocketAddr),
}

impl Network {
    fn is_stream(self) -> bool {
        matches!(self, Self::Listen(_) | Self::Connect(_))
    }
}

fn machine(options: &MachineOptions) -> Result<(Device, Place, String)> {
    let codec = bridge::load(&options.file)?;
    let simulated = Simulated::new(Arc::clone(&codec))?;
    let protocol = codec.protocol();
    let address = |port: u16| -> Result<SocketAddr> {
        let Some(text) = &options.link else { return Ok(([127, 0, 0, 1], port).into()) };
        if let Ok(port) = text.parse::<u16>() {
            return Ok(([127, 0, 0, 1], port).into());
        }
        text.parse().map_err(|_| format!("--link {text}: expected [ADDRESS:]PORT").into())
    };
    let place = match protocol.link {
        Link::Serial(_) => {
            let pty = options.pty.clone().or_else(|| options.link.as_ref().map(PathBuf::from));
            let pty = pty.ok_or("a serial line needs --link PATH, such as /tmp/machine")?;
            Place::Serial(SerialOptions { pty, fault: options.fault.clone() })
        }
        _ if options.pty.is_some() => {
            return Err("--pty is for serial lines: this machine has another link".into());
        }
        Link::Tcp(tcp) if tcp.listen => Place::Network(Network::Connect(address(tcp.port)?)),
        Link::Tcp(tcp) => Place::Network(Network::Listen(address(tcp.port)?)),
        Link::Udp(udp) if udp.listen => Place::Network(Network::UdpTo(address(udp.local)?)),
        Link::Udp(udp) => Place::Network(Network::Udp(address(udp.port)?)),
        Link::Can(can) => {
            let name = options.link.clone().ok_or("a CAN bus needs --link INTERFACE, such as can0")?;
            Place::Can(name, can.extended)
        }
    };
    Ok((Device::new(simulated), place, protocol.title.clone()))
}

/// Runs the machine until SIGINT or SIGTERM.
pub(super) fn run(options: &MachineOptions) -> Result<()> {
    let (device, place, title) = machine(options)?;
    let place = match place {
        Place::Serial(serial) => return serial::run(&title, &serial, device),
        place => place,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let result = runtime.block_on(async {
        let signal = dragoman_ros::signals::first()?;
        serve(device, place, &title, &options.fault, standard_input(), signal).await
    });
    runtime.shutdown_background();
    result
}

/// Runs the machine until `stop`, on virtual time.
pub(super) async fn simulate(
    options: &MachineOptions,
    typed: mpsc::Receiver<String>,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    match machine(options)? {
        (device, Place::Serial(serial), title) => {
            serial::simulate(&title, &serial, device, typed, stop).await
        }
        (device, place, title) => serve(device, place, &title, &options.fault, typed, stop).await,
    }
}

/// A machine that several tasks use.
struct Shared {
    device: Mutex<Device>,
    start: Instant,
    changed: Notify,
}

impl Shared {
    fn with<R>(&self, action: impl FnOnce(Duration, &mut Device) -> R) -> R {
        let mut device = self.device.lock();
        let now = dragoman_time::since(self.start);
        device.now = now;
        action(now, &mut device)
    }

    fn next_frame(&self) -> Option<Vec<u8>> {
        self.with(|now, device| {
            device.simulated.handle_timeout(now);
            device.poll_transmit()
        })
    }

    async fn due(&self) {
        let next = self.with(|_, device| device.poll_timeout());
        tokio::select! {
            biased;
            () = self.changed.notified() => {}
            () = dragoman_time::sleep_until(self.start + next) => {}
        }
    }
}

/// Runs the machine with the commands that are typed, until `stop`.
async fn serve<S>(
    device: Device,
    place: Place,
    title: &str,
    faults: &[Scheduled],
    mut typed: mpsc::Receiver<String>,
    stop: impl Future<Output = S>,
) -> Result<()> {
    let start = dragoman_time::now();
    let is_bus = matches!(place, Place::Can(..));
    let shared = Arc::new(Shared { device: Mutex::new(device), start, changed: Notify::new() });
    let mut stream = None;
    let (place, running) = match place {
        Place::Network(network) => {
            stream = Some(network).filter(|network| network.is_stream());
            (format!("{network:?}"), dragoman_time::spawn(on_network(Arc::clone(&shared), network)))
        }
        Place::Can(name, extended) => {
            let bus = dragoman_io::can::open(&name)?;
            (name, dragoman_time::spawn(on_bus(Arc::clone(&shared), bus, extended)))
        }
        Place::Serial(_) => return Err("a serial line is served elsewhere".into()),
    };
    print(&format!("{title} on {place}"));
    let mut faults = serial::sorted(faults);
    print("ready");
    tokio::pin!(running, stop);
    loop {
        let due = faults.last().map(|fault| start + fault.after());
        let command = tokio::select! {
            biased;
            _ = &mut stop => break,
            ended = &mut running => return ended.map_err(|error| error.to_string())?,
            () = dragoman_time::sleep_until(due.unwrap_or(start)), if due.is_some() => {
                let Some(fault) = faults.pop() else { continue };
                print(fault.command());
                parse::<Device>(fault.command())
            }
            Some(line) = typed.recv() => parse::<Device>(&line),
        };
        match command {
            Ok(Input::Nothing) => {}
            Ok(Input::Help) if stream.is_some() => print(&format!("{HELP}{CUT_HELP}")),
            Ok(Input::Help) => print(HELP.trim_end()),
            Ok(Input::Cut(pause)) => match stream {
                Some(network) => {
                    running.abort();
                    let shared = Arc::clone(&shared);
                    running.set(dragoman_time::spawn(async move {
                        dragoman_time::sleep(pause.max(CUT)).await;
                        on_network(shared, network).await
                    }));
                }
                None => eprintln!("dragoman: cut is for serial lines and TCP"),
            },
            Ok(Input::Machine(Command::Garbage(_))) if is_bus => {
                eprintln!("dragoman: garbage is for links of bytes; on a CAN bus, cansend sends frames");
            }
            Ok(Input::Machine(command)) => {
                if let Some(answer) = shared.with(|_, device| device.execute(command)) {
                    print(&answer);
                }
                shared.changed.notify_one();
            }
            Err(error) => eprintln!("dragoman: {error}"),
        }
    }
    print("stopping");
    running.abort();
    Ok(())
}

async fn on_network(shared: Arc<Shared>, network: Network) -> Result<()> {
    match network {
        Network::Listen(address) => {
            let listener = TcpListener::bind(address, 1)?;
            loop {
                let (stream, _) = listener.accept().await?;
                on_stream(&shared, &stream).await;
            }
        }
        Network::Connect(address) => loop {
            if let Ok(stream) = TcpStream::connect(address).await {
                on_stream(&shared, &stream).await;
            }
            dragoman_time::sleep(RETRY).await;
        },
        Network::Udp(address) => on_datagrams(&shared, &UdpSocket::bind(address)?, None).await,
        Network::UdpTo(peer) => {
            let socket = UdpSocket::bind(SocketAddr::new(peer.ip(), 0))?;
            on_datagrams(&shared, &socket, Some(peer)).await
        }
    }
}

/// Until the client has gone.
async fn on_stream(shared: &Shared, stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    shared.with(|now, device| device.simulated.handle_connected(now));
    let mut buffer = vec![0; 4096];
    loop {
        while let Some(bytes) = shared.next_frame() {
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                match stream.try_write(rest) {
                    Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        if stream.writable().await.is_err() {
                            return;
                        }
                    }
                    Err(_) => return,
                }
            }
        }
        tokio::select! {
            biased;
            readable = stream.readable() => match readable.and_then(|()| stream.try_read(&mut buffer)) {
                Ok(0) => return,
                Ok(count) => {
                    let bytes = buffer.get(..count).unwrap_or_default();
                    shared.with(|now, device| device.simulated.handle_bytes(now, bytes));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => return,
            },
            () = shared.due() => {}
        }
    }
}

async fn on_datagrams(shared: &Shared, socket: &UdpSocket, mut peer: Option<SocketAddr>) -> Result<()> {
    let mut buffer = vec![0; 65_536];
    loop {
        while let Some(bytes) = shared.next_frame() {
            if let Some(peer) = peer {
                // As datagrams that are lost on their way.
                let _ = socket.try_send_to(&bytes, peer);
            }
        }
        tokio::select! {
            biased;
            received = socket.recv_from(&mut buffer) => {
                let (count, sender) = received?;
                peer = Some(sender);
                let bytes = buffer.get(..count).unwrap_or_default();
                shared.with(|now, device| device.simulated.handle_bytes(now, bytes));
            }
            () = shared.due() => {}
        }
    }
}

async fn on_bus(shared: Arc<Shared>, mut bus: Box<dyn Bus>, extended: bool) -> Result<()> {
    let mut again = None;
    loop {
        for _ in 0..FRAMES_AT_ONCE {
            match bus.receive() {
                Some(Received::Frame(frame)) if !frame.is_remote() => {
                    let codes = codes_of(&frame, extended);
                    shared.with(|now, device| device.simulated.handle_frame(now, codes, frame.data()));
                }
                Some(Received::Fault(BusFault::Up | BusFault::Active)) => {
                    again = None;
                    shared.with(|now, device| device.simulated.handle_connected(now));
                }
                Some(_) => {}
                None => break,
            }
        }
        while let Some(frame) = again.take().or_else(|| next_of_bus(&shared, extended)) {
            // Of a bus that is down they are lost.
            if let Err(SendError::Full) = bus.send(&frame) {
                again = Some(frame);
                break;
            }
        }
        dragoman_time::sleep(BUS_STEP).await;
    }
}

fn next_of_bus(shared: &Shared, extended: bool) -> Option<Frame> {
    shared.with(|now, device| {
        device.simulated.handle_timeout(now);
        std::iter::from_fn(|| device.simulated.poll_transmit(now))
            .find_map(|outgoing| can_frame(outgoing.id?, extended, &outgoing.bytes))
    })
}
