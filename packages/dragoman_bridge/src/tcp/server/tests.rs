//! Connections to a port for one client; addresses of clients.

use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::ops::AddAssign;

use dragoman_time::Simulation;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

/// Every byte is a call, which takes 0.4 s; its answer is the byte.
#[derive(Default)]
struct Echo {
    waiting: VecDeque<u8>,
    answer: Vec<u8>,
}

struct Never;

impl fmt::Display for Never {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct NoStatistics;

impl AddAssign for NoStatistics {
    fn add_assign(&mut self, _: Self) {}
}

impl Statistics for NoStatistics {
    fn refused(&self) -> u64 {
        0
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

impl ServerSession for Echo {
    type Call = u8;
    type Outcome = u8;
    type Event = Never;
    type Statistics = NoStatistics;

    fn wants_input(&self) -> bool {
        true
    }

    fn handle_bytes(&mut self, _: Duration, bytes: &[u8]) {
        self.waiting.extend(bytes);
    }

    fn poll_call(&mut self, _: Duration) -> Option<u8> {
        self.waiting.pop_front()
    }

    fn handle_outcome(&mut self, _: Duration, outcome: u8) {
        self.answer.push(outcome);
    }

    fn unsent(&self) -> &[u8] {
        &self.answer
    }

    fn handle_sent(&mut self, len: usize) {
        self.answer.drain(..len);
    }

    fn is_closing(&self) -> bool {
        false
    }

    fn poll_event(&mut self) -> Option<Never> {
        None
    }

    fn poll_statistics(&mut self) -> NoStatistics {
        NoStatistics
    }
}

#[derive(Default)]
struct Calls(Mutex<Vec<u8>>);

impl Services for Calls {
    type Session = Echo;
    type CallInfo = u8;

    const PROTOCOL: &'static str = "echo";
    const READ_LEN: usize = 16;
    const AWAITS_CALLS_OF_LOST_CLIENTS: bool = false;

    fn session(&self) -> Echo {
        Echo::default()
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(5)
    }

    fn request(call: &u8) -> String {
        char::from(*call).to_string()
    }

    fn call_info(call: &u8) -> u8 {
        *call
    }

    fn call(self: &Arc<Self>, call: u8) -> BoxFuture<'static, u8> {
        let calls = Arc::clone(self);
        Box::pin(async move {
            dragoman_time::sleep(Duration::from_millis(400)).await;
            calls.0.lock().push(call);
            call
        })
    }

    fn timed_out(&self, call: u8) -> u8 {
        call
    }
}

/// A server of one port with one client.
fn serve_one() -> (Arc<Calls>, SocketAddr) {
    let listener = TcpListener::bind(([127, 0, 0, 1], 0).into(), 10).unwrap();
    let address = listener.local_addr().unwrap();
    let services = Arc::new(Calls::default());
    let ports = Ports {
        services: Arc::clone(&services),
        keepalive: Keepalive { idle_s: 10, interval_s: 2, probes: 3 },
        max_clients: 1,
        disconnect_grace: Duration::from_millis(20),
        full: "full",
    };
    dragoman_time::spawn(async move { ports.accept(listener, Arc::default()).await });
    (services, address)
}

/// Connects, and sends these bytes.
async fn connect(address: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(bytes).await.unwrap();
    client
}

/// The server's answer until it closes the connection.
async fn answers(client: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A refused connection may also be reset.
    let _ = client.read_to_end(&mut bytes).await;
    bytes
}

#[test]
fn a_client_waits_for_one_that_has_closed() {
    Simulation::new(1).block_on(async {
        let (services, address) = serve_one();
        // The calls of the first one last much longer than the grace period.
        drop(connect(address, b"ab").await);
        dragoman_time::sleep(Duration::from_millis(100)).await;
        let mut second = connect(address, b"c").await;
        second.shutdown().await.unwrap();
        assert_eq!(answers(&mut second).await, b"c");
        assert_eq!(*services.0.lock(), b"abc");
    });
}

#[test]
fn a_client_that_stays_keeps_its_port() {
    Simulation::new(1).block_on(async {
        let (services, address) = serve_one();
        let mut first = connect(address, b"a").await;
        dragoman_time::sleep(Duration::from_millis(100)).await;
        assert_eq!(answers(&mut connect(address, b"b").await).await, b"");
        first.shutdown().await.unwrap();
        assert_eq!(answers(&mut first).await, b"a");
        assert_eq!(*services.0.lock(), b"a");
    });
}

#[test]
fn of_many_clients_some_addresses_are_shown() {
    let clients = |count: u16| (1..=count).map(|port| ([127, 0, 0, 1], port).into()).collect::<Vec<_>>();
    assert_eq!(addresses(&[]), "");
    assert_eq!(addresses(&clients(2)), "127.0.0.1:1, 127.0.0.1:2");
    assert!(addresses(&clients(16)).ends_with(":16"));
    assert!(addresses(&clients(1000)).ends_with(":16, and 984 more"));
}
