//! The messages, documents and parameters of Neobotix' PlatformCtrl; its sessions, and the services behind them.

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
