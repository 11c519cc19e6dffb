//! The tests of all protocols in one program, which is linked once. None needs a process of its own.

mod apolo;
#[cfg(feature = "node")]
mod apolo_node;
/// What the clients of these tests use: see `dragoman_bringup/tests/common/host.rs`.
#[cfg(feature = "node")]
mod host {
    pub(crate) use std::net::TcpStream;
}
mod arm31;
mod neobotix;
mod neobotix_client;
mod player;
mod player_client;
