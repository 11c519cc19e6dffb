//! One connection of an old client.

use std::io::ErrorKind;
use std::sync::Arc;

use futures::future::BoxFuture;
use nix::sys::socket::{setsockopt, sockopt};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::time::timeout;

use super::clients::WorldClients;
use super::server::Report;
use crate::apolo::{Connection, Outcome};
use crate::tcp::{TimeLimit, acknowledge_quickly, resolved};

/// Bytes that are read at once.
const READ_LEN: usize = 4096;

/// A client whose machine has vanished is noticed after about two minutes.
const KEEPALIVE_IDLE_S: u32 = 60;
const KEEPALIVE_INTERVAL_S: u32 = 10;

/// Serves the client until it goes.
pub(super) async fn serve(
    mut stream: TcpStream,
    mut connection: Connection,
    world: Arc<WorldClients>,
    report: Arc<Report>,
) {
    let mut open = None;
    let (mut reader, writer) = stream.split();
    let served = run(&mut reader, &writer, &mut connection, &world, &report, &mut open).await;
    if let Err(error) = served {
        tracing::debug!(%error, "a client of Apolo's protocol is gone");
    }
    // Its service has the request in its queue until it answers; that place is taken for so long.
    if let Some(call) = open {
        let outcome = timeout(world.timeout(), call).await;
        connection.handle_outcome(outcome.unwrap_or_else(|_elapsed| world.timed_out()));
    }
    report.add(&mut connection);
}

async fn run(
    reader: &mut ReadHalf<'_>,
    writer: &WriteHalf<'_>,
    connection: &mut Connection,
    world: &Arc<WorldClients>,
    report: &Report,
    open: &mut Option<BoxFuture<'static, Outcome>>,
) -> std::io::Result<()> {
    let stream: &TcpStream = writer.as_ref();
    stream.set_nodelay(true)?;
    acknowledge_quickly(stream);
    setsockopt(stream, sockopt::KeepAlive, &true)?;
    setsockopt(stream, sockopt::TcpKeepIdle, &KEEPALIVE_IDLE_S)?;
    setsockopt(stream, sockopt::TcpKeepInterval, &KEEPALIVE_INTERVAL_S)?;
    let mut buffer = [0; READ_LEN];
    let mut limit = TimeLimit::new(world.timeout());
    // Until the client has closed its direction. What it has asked for until then is answered.
    let mut more = true;
    loop {
        next(connection, world, open, &mut limit);
        let sent = write(stream, connection)?;
        if sent {
            // There may have been no room for another answer before.
            next(connection, world, open, &mut limit);
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
            () = limit.reached(), if open.is_some() => {
                *open = None;
                connection.handle_outcome(world.timed_out());
            }
            read = reader.read(&mut buffer), if more && connection.wants_input() => match read? {
                0 => more = false,
                len => {
                    connection.handle_bytes(buffer.get(..len).unwrap_or_default());
                    acknowledge_quickly(stream);
                }
            },
            writable = stream.writable(), if has_unsent => writable?,
        }
    }
}

/// Makes the next call, if none is open.
fn next(
    connection: &mut Connection,
    world: &Arc<WorldClients>,
    open: &mut Option<BoxFuture<'static, Outcome>>,
    limit: &mut TimeLimit,
) {
    if open.is_none()
        && let Some(request) = connection.poll_call()
    {
        *open = Some(world.call(request));
        limit.restart();
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
