//! A connection to a platform for one caller, over its ROS services or a socket: [`Command`]s in, [`Outcome`]s out.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::{Node, Result};

use super::clients::PlatformClients;
use crate::CallId;
use crate::clock;
use crate::neobotix::wire::Command;
use crate::neobotix::{Client, ClientConfig, ClientEvent, Outcome, Refusal};
use crate::tcp::client::{Link, LinkEvent, loss};
use crate::tcp::server::Services;

/// Size of the read buffer, bytes.
const READ_LEN: usize = 65_536;
/// Period of the client's own status queries, which only notice a lost connection.
const STATUS_PERIOD: Duration = Duration::from_secs(1);

/// A platform for one caller, which awaits each call before it makes the next one.
pub struct PlatformPort(Transport);

enum Transport {
    Services(Arc<PlatformClients>, Duration),
    Socket(Box<Socket>),
}

impl std::fmt::Debug for PlatformPort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlatformPort").finish_non_exhaustive()
    }
}

impl PlatformPort {
    /// The platform whose services are in the namespace of `node`. `timeout`: time limit of a call.
    ///
    /// # Errors
    /// An error of the middleware.
    pub fn services(node: &mut Node, timeout: Duration) -> Result<Self> {
        Ok(Self(Transport::Services(Arc::new(PlatformClients::new(node, timeout)?), timeout)))
    }

    /// The platform whose PlatformCtrl listens at `server`.
    ///
    /// # Errors
    /// There is no connection: the reason.
    pub async fn connect(server: SocketAddr) -> std::result::Result<Self, String> {
        let config = ClientConfig {
            status_period: STATUS_PERIOD,
            position_period: None,
            map_period: None,
            ..ClientConfig::default()
        };
        let client = Client::new(clock::now(), config);
        let mut socket = Box::new(Socket { client, link: Link::new(server, READ_LEN), calls: 0 });
        socket.connect().await.map_err(|reason| format!("{server}: {reason}"))?;
        Ok(Self(Transport::Socket(socket)))
    }

    /// Calls the platform. Over the socket, a command without a reply is done when the status shows its effect.
    pub async fn call(&mut self, command: Command) -> Outcome {
        match &mut self.0 {
            Transport::Services(services, timeout) => {
                let kind = command.kind();
                // A program has just started, and may have to wait longer for discovery than a server's clients.
                if dragoman_time::timeout(*timeout, services.wait_for(kind)).await != Ok(true) {
                    return Outcome::Refused(Refusal::NotConnected);
                }
                match dragoman_time::timeout(*timeout, services.call(command)).await {
                    Ok(outcome) => outcome,
                    Err(_) => services.timed_out(kind),
                }
            }
            Transport::Socket(socket) => socket.call(command).await,
        }
    }
}

/// The client core with its socket. It does not reconnect, because the caller's state is lost with the connection.
struct Socket {
    client: Client,
    link: Link,
    calls: u64,
}

impl Socket {
    async fn connect(&mut self) -> std::result::Result<(), String> {
        self.client.poll_connect(clock::now());
        self.link.connect();
        match self.link.next(false).await {
            LinkEvent::Connected => self.client.handle_connected(clock::now()),
            LinkEvent::Failed(error) | LinkEvent::Lost(error) => return Err(loss(&error)),
            LinkEvent::Received(_) | LinkEvent::Writable => {}
        }
        Ok(())
    }

    async fn call(&mut self, command: Command) -> Outcome {
        self.calls += 1;
        let id = CallId(self.calls);
        self.client.handle_call(clock::now(), id, command);
        loop {
            match self.link.send(self.client.unsent()) {
                Ok(0) => {}
                Ok(sent) => self.client.handle_sent(clock::now(), sent),
                Err(error) => self.client.handle_disconnected(clock::now(), &loss(&error)),
            }
            while let Some(event) = self.client.poll_event() {
                match event {
                    ClientEvent::Disconnected(_) => self.link.close(),
                    ClientEvent::Result { id: of, outcome } if of == id => return outcome,
                    _ => {}
                }
            }
            if !self.client.is_connected() {
                return Outcome::Refused(Refusal::NotConnected);
            }
            let (deadline, has_unsent) = (self.client.poll_timeout(), !self.client.unsent().is_empty());
            tokio::select! {
                biased;
                () = clock::until(deadline) => self.client.handle_timeout(clock::now()),
                event = self.link.next(has_unsent) => match event {
                    LinkEvent::Received(len) => self.client.handle_bytes(clock::now(), self.link.received(len)),
                    LinkEvent::Lost(error) | LinkEvent::Failed(error) => {
                        self.client.handle_disconnected(clock::now(), &loss(&error));
                    }
                    LinkEvent::Connected | LinkEvent::Writable => {}
                },
            }
        }
    }
}
