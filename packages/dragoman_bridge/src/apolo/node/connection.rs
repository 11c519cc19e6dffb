//! One connection of an old client.

use std::io::ErrorKind;
use std::sync::Arc;

use futures::future::BoxFuture;
use nix::sys::socket::{setsockopt, sockopt};
use tokio::net::TcpStream;

use super::clients::WorldClients;
use super::server::Report;
use crate::apolo::{Connection, Outcome};
use crate::tcp::{acknowledge_quickly, resolved};

/// Bytes that are read at once.
const READ_LEN: usize = 4096;

/// A client whose machine has vanished is noticed after about two minutes.
const KEEPALIVE_IDLE_S: u32 = 60;
const KEEPALIVE_INTERVAL_S: u32 = 10;

/// Serves the client until it goes.
pub(super) async fn serve(
    stream: TcpStream,
    mut connection: Connection,
    world: Arc<WorldClients>,
    report: Arc<Report>,
) {
    let mut open = None;
    let served = run(&stream, &mut connection, &world, &report, &mut open).await;
    if let Err(error) = served {
        tracing::debug!(%error, "a client of Apolo's protocol is gone");
    }
    // Its service has the request in its queue until it answers; that place is taken for so long.
    if let Some(call) = open {
        connection.handle_outcome(call.await);
    }
    report.add(&mut connection);
}

async fn run(
    stream: &TcpStream,
    connection: &mut Connection,
    world: &Arc<WorldClients>,
    report: &Report,
    open: &mut Option<BoxFuture<'static, Outcome>>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    acknowledge_quickly(stream);
    setsockopt(stream, sockopt::KeepAlive, &true)?;
    setsockopt(stream, sockopt::TcpKeepIdle, &KEEPALIVE_IDLE_S)?;
    setsockopt(stream, sockopt::TcpKeepInterval, &KEEPALIVE_INTERVAL_S)?;
    let mut buffer = [0; READ_LEN];
    // Until the client has closed its direction. What it has asked for until then is answered.
    let mut more = true;
    loop {
        if open.is_none() {
            *open = connection.poll_call().map(|request| world.call(request));
        }
        let sent = write(stream, connection)?;
        if sent && open.is_none() {
            // There may have been no room for another answer before.
            *open = connection.poll_call().map(|request| world.call(request));
        }
        report.add(connection);
        let has_unsent = !connection.unsent().is_empty();
        if !more && open.is_none() && !has_unsent {
            return Ok(());
        }
        tokio::select! {
            outcome = resolved(open) => {
                *open = None;
                connection.handle_outcome(outcome);
            }
            readable = stream.readable(), if more && connection.wants_input() => {
                readable?;
                match stream.try_read(&mut buffer) {
                    Ok(0) => more = false,
                    Ok(len) => {
                        connection.handle_bytes(buffer.get(..len).unwrap_or_default());
                        acknowledge_quickly(stream);
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
            }
            writable = stream.writable(), if has_unsent => writable?,
        }
    }
}

/// Sends what there is, as far as the client takes it. Whether anything was sent.
fn write(stream: &TcpStream, connection: &mut Connection) -> std::io::Result<bool> {
    let mut sent = false;
    while !connection.unsent().is_empty() {
        match stream.try_write(connection.unsent()) {
            Ok(len) => {
                connection.sent(len);
                sent = true;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(sent)
}
