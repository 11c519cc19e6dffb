//! The sides of Player's protocol as nodes.

mod server;

pub use server::{PlayerServer, Table, TableError, server_declarations, start_server};
