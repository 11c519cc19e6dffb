//! Client and server of Player's protocol without a socket: the client lists the devices and opens them.
//!
//!     cargo run -p dragoman_bridge --example player_client

use std::time::Duration;

use dragoman_bridge::player::client::{Client, ClientConfig};
use dragoman_bridge::player::server::{Call, DeviceInfo, Server, ServerConfig};
use dragoman_bridge::player::wire::position2d;

fn main() {
    let base = position2d::INTERFACE.device(0);
    let info = DeviceInfo { device: base, driver: "kobuki".to_owned(), robot: "TurtleBot 2".to_owned() };
    let mut server = Server::new(ServerConfig::default(), vec![info]);
    let mut client = Client::new(Duration::ZERO, ClientConfig::default());
    let session = server.handle_connected(6665);
    client.handle_connected(Duration::ZERO);
    for milliseconds in 0..100 {
        let now = Duration::from_millis(milliseconds);
        client.handle_timeout(now);
        let sent = client.unsent().to_vec();
        client.handle_sent(sent.len());
        server.handle_bytes(now, session, &sent);
        while let Some(call) = server.poll_call() {
            println!("the server's owner: {call:?}");
            match call {
                Call::Open(device) => server.handle_opened(now, device, Ok(())),
                Call::Request { client, .. } => {
                    server.handle_outcome(now, client, Err("not supported".to_owned()))
                }
                _ => {}
            }
        }
        while let Some(bytes) = server.poll_transmit(now, session) {
            client.handle_bytes(now, &bytes);
        }
        while let Some(event) = client.poll_event() {
            println!("the client: {event:?}");
        }
    }
}
