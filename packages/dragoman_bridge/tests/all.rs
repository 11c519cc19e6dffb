//! The tests of all protocols in one program, which is linked once. None needs a process of its own.

mod apolo;
#[cfg(feature = "node")]
mod apolo_node;
mod arm31;
#[cfg(feature = "node")]
mod common;
mod descriptions;
mod documented;
/// What the clients of these tests use.
#[cfg(feature = "node")]
#[allow(dead_code, unused_imports, reason = "the tests of dragoman_bringup use more of it")]
#[path = "../../dragoman_bringup/tests/virtual_time/host.rs"]
mod host;
mod interpreted;
mod machine;
mod neobotix;
mod neobotix_client;
mod player;
mod player_client;
