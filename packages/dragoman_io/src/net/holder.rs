//! Which program has a port.

/// The transport of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// A connection.
    Tcp,
    /// Datagrams.
    Udp,
}

/// A program that has a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its command line; of the program the name without folders.
    pub command: String,
    /// Its process id.
    pub process: i32,
}

impl Holder {
    /// The program of this system that listens on this port. `None` if it belongs to another user, or has ended, and on
    /// virtual time.
    #[cfg(target_os = "linux")]
    pub fn of(transport: Transport, port: u16) -> Option<Self> {
        use procfs::process::{FDTarget, Process, all_processes};

        if dragoman_time::is_virtual() {
            return None;
        }
        let sockets = sockets(transport, port);
        let has_one = |process: &Process| {
            let mut files = process.fd().into_iter().flatten().flatten();
            files.any(|file| matches!(file.target, FDTarget::Socket(socket) if sockets.contains(&socket)))
        };
        let holder = all_processes().ok()?.flatten().find(has_one)?;
        let mut words = holder.cmdline().unwrap_or_default();
        if let Some(program) = words.first_mut() {
            *program = program.rsplit('/').next().unwrap_or_default().to_owned();
        }
        Some(Self { command: words.join(" "), process: holder.pid() })
    }

    /// As on Linux, where it is known.
    #[cfg(not(target_os = "linux"))]
    pub fn of(_transport: Transport, _port: u16) -> Option<Self> {
        None
    }
}

/// The numbers of the sockets that receive what comes to this port.
#[cfg(target_os = "linux")]
fn sockets(transport: Transport, port: u16) -> Vec<u64> {
    use procfs::net::{TcpState, tcp, tcp6, udp, udp6};

    // A table may be missing, for example without IPv6.
    match transport {
        Transport::Tcp => [tcp(), tcp6()]
            .into_iter()
            .flat_map(Result::unwrap_or_default)
            .filter(|socket| socket.state == TcpState::Listen && socket.local_address.port() == port)
            .map(|socket| socket.inode)
            .collect(),
        Transport::Udp => [udp(), udp6()]
            .into_iter()
            .flat_map(Result::unwrap_or_default)
            .filter(|socket| socket.local_address.port() == port)
            .map(|socket| socket.inode)
            .collect(),
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream, UdpSocket};

    use super::*;

    #[test]
    fn this_process_is_found_by_its_ports() {
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        for (transport, port) in [
            (Transport::Udp, datagrams.local_addr().unwrap().port()),
            (Transport::Tcp, listener.local_addr().unwrap().port()),
        ] {
            let found = Holder::of(transport, port).unwrap();
            assert_eq!(found.process, std::process::id() as i32);
            assert!(found.command.starts_with("dragoman_io-"), "{found:?}");
        }
        // It only connects from there.
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert_eq!(Holder::of(Transport::Tcp, client.local_addr().unwrap().port()), None);
    }
}
