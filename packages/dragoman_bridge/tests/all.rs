//! The tests of all protocols in one program, which is linked once. None needs a process of its own.

mod apolo;
#[cfg(feature = "node")]
mod apolo_node;
mod arm31;
mod neobotix;
mod neobotix_client;
mod player;
mod player_client;
