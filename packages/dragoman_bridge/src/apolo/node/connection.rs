//! One connection of an old client.

use std::io::ErrorKind;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::time::timeout;

use super::clients::WorldClients;
use super::server::Report;
use crate::apolo::{Connection, Outcome};
use crate::tcp::{Keepalive, TimeLimit, acknowledge_quickly, resolved};

/// Size of the read buffer, bytes.
const READ_LEN: usize = 4096;

/// Detects a vanished client after two minutes, also while answers to it are unsent.
const KEEPALIVE: Keepalive = Keepalive { idle_s: 60, interval_s: 10, probes: 6 };

/// Serves the client until it disconnects.
pub(super) async fn serve(
    stream: TcpStream,
    connection: Connection,
    world: Arc<WorldClients>,
    report: Arc<Report>,
) {
    serve_with(KEEPALIVE, stream, connection, world, report).await;
}

async fn serve_with(
    keepalive: Keepalive,
    mut stream: TcpStream,
    mut connection: Connection,
    world: Arc<WorldClients>,
    report: Arc<Report>,
) {
    let mut open = None;
    let (mut reader, writer) = stream.split();
    let prepared = prepare(writer.as_ref(), keepalive);
    let served = match prepared {
        Ok(()) => run(&mut reader, &writer, &mut connection, &world, &report, &mut open).await,
        Err(error) => Err(error),
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a client of Apolo's protocol was lost");
    }
    // The service keeps the request in its queue until it answers, so its slot stays occupied until then.
    if let Some(call) = open {
        let outcome = timeout(world.timeout(), call).await;
        connection.handle_outcome(outcome.unwrap_or_else(|_elapsed| world.timed_out()));
    }
    report.add(&mut connection);
}

fn prepare(stream: &TcpStream, keepalive: Keepalive) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    acknowledge_quickly(stream);
    keepalive.apply(stream)?;
    Ok(())
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
    let mut buffer = [0; READ_LEN];
    let mut limit = TimeLimit::new(world.timeout());
    // Until the client closes its direction. Requests received before that are answered.
    let mut more = true;
    loop {
        next(connection, world, open, &mut limit);
        let sent = write(stream, connection)?;
        if sent {
            // Before this the buffer may have been too full for another answer.
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

/// Sends as much as the client accepts. Returns whether anything was sent.
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

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::time::{Duration, Instant};

    use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node};
    use nix::sys::socket::{setsockopt, sockopt};
    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::apolo::ServerConfig;

    /// The client sends more requests than the buffers of both sides hold, and reads no answers: TCP has unsent data,
    /// and no keepalive probes are sent.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_client_that_takes_no_answers_is_given_up() {
        let discovery =
            Discovery { domain_id: 88, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, Arguments::default()).unwrap();
        let mut node = Node::create(context, "vanished", "/nowhere").unwrap();
        // Without a service, each question is refused at once.
        let world = Arc::new(WorldClients::new(&mut node, Duration::from_micros(1)).unwrap());
        let listener = tokio::net::TcpListener::bind((IpAddr::from([127, 0, 0, 1]), 0)).await.unwrap();
        let client = tokio::net::TcpSocket::new_v4().unwrap();
        client.set_recv_buffer_size(4096).unwrap();
        let (client, accepted) =
            tokio::join!(client.connect(listener.local_addr().unwrap()), listener.accept());
        let (mut client, (stream, _)) = (client.unwrap(), accepted.unwrap());
        setsockopt(&stream, sockopt::SndBuf, &4096).unwrap();
        let keepalive = Keepalive { idle_s: 1, interval_s: 1, probes: 1 };
        let connection = Connection::new(ServerConfig::default());
        let served =
            tokio::spawn(serve_with(keepalive, stream, connection, world, Arc::new(Report::default())));
        let asking = tokio::spawn(async move {
            // `G` about robot "Neo" of the world without a name.
            let question = b"aa\x0b\0G\0\x04Neo\0".repeat(1000);
            while client.write_all(&question).await.is_ok() {}
        });
        let begin = Instant::now();
        tokio::time::timeout(Duration::from_secs(60), served)
            .await
            .expect("the connection was not closed")
            .unwrap();
        println!("closed after {:?}", begin.elapsed());
        asking.abort();
    }

    #[test]
    fn the_time_limit_is_the_documented_one() {
        assert_eq!(KEEPALIVE.idle_s + KEEPALIVE.probes * KEEPALIVE.interval_s, 120);
    }
}
