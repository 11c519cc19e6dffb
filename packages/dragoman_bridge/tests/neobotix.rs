//! The messages, documents and parameters of Neobotix' PlatformCtrl; its sessions, and the services behind them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test may panic")]

#[path = "neobotix/commands.rs"]
mod commands;
#[path = "neobotix/documentation.rs"]
mod documentation;
#[path = "neobotix/documents.rs"]
mod documents;
#[path = "neobotix/replies.rs"]
mod replies;
#[path = "neobotix/server_core.rs"]
mod server_core;
#[cfg(feature = "node")]
#[path = "neobotix/services.rs"]
mod services;
