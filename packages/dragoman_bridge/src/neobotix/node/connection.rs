//! One connection of an old client.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Instant;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};

use super::clients::PlatformClients;
use super::report::Report;
use crate::neobotix::Session;
use crate::tcp::{Keepalive, TimeLimit, acknowledge_quickly, resolved};

/// Size of the read buffer, bytes.
const READ_LEN: usize = 16_384;

/// Serves the client until it disconnects.
pub(super) async fn serve(
    mut stream: TcpStream,
    mut session: Session,
    platform: Arc<PlatformClients>,
    keepalive: Keepalive,
    report: Arc<Report>,
    start: Instant,
) {
    let (mut reader, writer) = stream.split();
    let served = run(&mut reader, &writer, &mut session, &platform, keepalive, &report, start).await;
    if let Err(error) = served {
        tracing::debug!(%error, "a client of Neobotix' protocol was lost");
    }
    report.add(&mut session);
}

async fn run(
    reader: &mut ReadHalf<'_>,
    writer: &WriteHalf<'_>,
    session: &mut Session,
    platform: &Arc<PlatformClients>,
    keepalive: Keepalive,
    report: &Report,
    start: Instant,
) -> std::io::Result<()> {
    let stream: &TcpStream = writer.as_ref();
    stream.set_nodelay(true)?;
    acknowledge_quickly(stream);
    keepalive.apply(stream)?;
    let mut buffer = vec![0; READ_LEN];
    let now = || start.elapsed();
    let mut open = None;
    let mut asked = None;
    let mut limit = TimeLimit::new(platform.timeout());
    // Until the client closes its direction. Requests received before that are carried out.
    let mut more = true;
    loop {
        // Repeat after an answer was sent: before, the buffer may have been too full for another one.
        loop {
            if open.is_none()
                && let Some(command) = session.poll_call(now())
            {
                asked = Some(command.kind());
                open = Some(platform.call(command));
                limit.restart();
            }
            if !write(stream, session)? {
                break;
            }
        }
        report.add(session);
        let has_unsent = !session.unsent().is_empty();
        if session.is_closing() || (!more && open.is_none() && !has_unsent) {
            return Ok(());
        }
        tokio::select! {
            outcome = resolved(&mut open) => {
                open = None;
                session.handle_outcome(now(), outcome);
            }
            () = limit.reached(), if open.is_some() => {
                open = None;
                if let Some(command) = asked {
                    session.handle_outcome(now(), platform.timed_out(command));
                }
            }
            read = reader.read(&mut buffer), if more && session.wants_input() => match read? {
                0 => more = false,
                len => {
                    session.handle_bytes(now(), buffer.get(..len).unwrap_or_default());
                    acknowledge_quickly(stream);
                }
            },
            writable = stream.writable(), if has_unsent => writable?,
        }
    }
}

/// Sends as much as the client accepts. Returns whether anything was sent.
fn write(stream: &TcpStream, session: &mut Session) -> std::io::Result<bool> {
    let mut sent = false;
    while !session.unsent().is_empty() {
        match stream.try_write(session.unsent()) {
            Ok(len) => {
                session.sent(len);
                sent = true;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(sent)
}
