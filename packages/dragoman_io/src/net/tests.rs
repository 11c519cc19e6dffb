use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use dragoman_time::{Simulation, now, since, sleep, timeout};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

const KEEPALIVE: Keepalive = Keepalive { idle_s: 7, interval_s: 3, probes: 2 };

fn any() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

async fn pair() -> [TcpStream; 2] {
    let listener = TcpListener::bind(any(), 10).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (server, address) = listener.accept().await.unwrap();
    assert_eq!(client.local_addr().unwrap(), address);
    [client, server]
}

/// What both networks do.
async fn exchange() {
    let [mut client, mut server] = pair().await;
    client.set_nodelay(true).unwrap();
    client.acknowledge_quickly();
    client.write_all(b"question").await.unwrap();
    let mut bytes = [0; 8];
    server.read_exact(&mut bytes).await.unwrap();
    assert_eq!(&bytes, b"question");
    assert_eq!(server.try_read(&mut bytes).unwrap_err().kind(), ErrorKind::WouldBlock);
    // The rest is read although the client is gone.
    client.write_all(&[1; 100_000]).await.unwrap();
    assert!(!server.has_ended());
    drop(client);
    server.readable().await.unwrap();
    while !server.has_ended() {
        sleep(Duration::from_millis(1)).await;
    }
    let mut rest = Vec::new();
    server.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest.len(), 100_000);
    // Unread bytes make the end a reset.
    let [client, server] = pair().await;
    assert_eq!(client.try_write(&[1; 10]).unwrap(), 10);
    server.readable().await.unwrap();
    drop(server);
    client.readable().await.unwrap();
    assert_eq!(client.try_read(&mut bytes).unwrap_err().kind(), ErrorKind::ConnectionReset);
    // A peer that has left is noticed after what was written comes back.
    let [client, server] = pair().await;
    drop(server);
    client.readable().await.unwrap();
    assert_eq!(client.try_read(&mut bytes).unwrap(), 0);
    assert_eq!(client.try_write(&[1; 10]).unwrap(), 10);
    sleep(Duration::from_millis(20)).await;
    assert_eq!(client.try_write(&[1; 10]).unwrap_err().kind(), ErrorKind::BrokenPipe);
    // A client that does not read.
    let [client, server] = pair().await;
    let mut sent = 0;
    while let Ok(count) = server.try_write(&[7; 65_536]) {
        sent += count;
    }
    assert!(sent >= 65_536);
    assert!(timeout(Duration::from_millis(20), server.writable()).await.is_err());
    let mut room = vec![0; sent];
    while sent > 0 {
        client.readable().await.unwrap();
        sent -= client.try_read(&mut room).unwrap();
    }
    server.writable().await.unwrap();
    // Ports.
    let listener = TcpListener::bind(any(), 10).unwrap();
    let taken = listener.local_addr().unwrap();
    assert_eq!(TcpListener::bind(taken, 10).unwrap_err().kind(), ErrorKind::AddrInUse);
    drop(listener);
    assert_eq!(TcpStream::connect(taken).await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    TcpListener::bind(taken, 10).unwrap();
    // Datagrams.
    let [ours, theirs] = [any(), any()].map(|address| UdpSocket::bind(address).unwrap());
    assert_eq!(theirs.try_recv_from(&mut bytes).unwrap_err().kind(), ErrorKind::WouldBlock);
    ours.try_send_to(b"0123456789", theirs.local_addr().unwrap()).unwrap();
    assert_eq!(theirs.recv_from(&mut bytes).await.unwrap(), (8, ours.local_addr().unwrap()));
    assert_eq!(&bytes, b"01234567");
    theirs.connect(ours.local_addr().unwrap()).unwrap();
    assert_eq!(theirs.try_send(b"answer").unwrap(), 6);
    ours.readable().await.unwrap();
    assert_eq!(ours.try_recv_from(&mut bytes).unwrap().0, 6);
}

#[tokio::test]
async fn the_systems_network_exchanges_bytes() {
    exchange().await;
}

#[test]
fn a_labs_network_does_the_same() {
    Simulation::new(1).block_on(exchange());
}

#[tokio::test]
async fn the_system_detects_silent_clients() {
    use nix::sys::socket::{getsockopt, sockopt};
    let [client, _server] = pair().await;
    client.set_keepalive(&KEEPALIVE).unwrap();
    let socket = client.system().unwrap();
    assert!(getsockopt(socket, sockopt::KeepAlive).unwrap());
    assert_eq!(getsockopt(socket, sockopt::TcpKeepIdle).unwrap(), 7);
    assert_eq!(getsockopt(socket, sockopt::TcpKeepInterval).unwrap(), 3);
    assert_eq!(getsockopt(socket, sockopt::TcpKeepCount).unwrap(), 2);
    #[cfg(target_os = "linux")]
    {
        assert_eq!(getsockopt(socket, sockopt::TcpUserTimeout).unwrap(), 13_000);
        client.limit_unread(&KEEPALIVE, false).unwrap();
        assert_eq!(getsockopt(socket, sockopt::TcpUserTimeout).unwrap(), 0);
    }
}

#[test]
fn a_peer_behind_a_cut_cable_is_lost_after_the_keepalive() {
    Simulation::new(1).block_on(async {
        let [client, server] = pair().await;
        server.set_keepalive(&KEEPALIVE).unwrap();
        set_conditions(Conditions { cut: 1.0, ..Conditions::default() });
        let begin = now();
        // It waits already when the cable is cut.
        let cut = async {
            assert_eq!(client.try_write(b"lost").unwrap(), 4);
            drop(client);
        };
        let (readable, ()) = futures::join!(server.readable(), cut);
        readable.unwrap();
        assert_eq!(since(begin), KEEPALIVE.total());
        assert!(server.has_ended());
        assert_eq!(server.try_read(&mut [0; 4]).unwrap_err().kind(), ErrorKind::TimedOut);
    });
}

#[test]
fn a_peer_that_takes_nothing_is_lost_after_the_same_time() {
    Simulation::new(1).block_on(async {
        let [client, server] = pair().await;
        server.set_keepalive(&KEEPALIVE).unwrap();
        while server.try_write(&[7; 65_536]).is_ok() {}
        let begin = now();
        server.writable().await.unwrap();
        assert_eq!(since(begin), KEEPALIVE.total());
        assert_eq!(server.try_write(&[7]).unwrap_err().kind(), ErrorKind::TimedOut);
        drop(client);
    });
}

#[test]
fn a_reset_connection_ends_for_both() {
    Simulation::new(1).block_on(async {
        let [client, server] = pair().await;
        set_conditions(Conditions { reset: 1.0, ..Conditions::default() });
        assert_eq!(client.try_write(b"lost").unwrap_err().kind(), ErrorKind::ConnectionReset);
        server.readable().await.unwrap();
        assert_eq!(server.try_read(&mut [0; 4]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn bytes_of_a_connection_keep_their_order_and_take_their_time() {
    let delay = Duration::from_millis(3);
    Simulation::new(1).block_on(async {
        let [mut client, mut server] = pair().await;
        set_conditions(Conditions { delay, jitter: 5 * delay, ..Conditions::default() });
        let begin = now();
        for number in 0..100 {
            client.write_all(&[number]).await.unwrap();
        }
        let mut bytes = [0; 100];
        server.read_exact(&mut bytes).await.unwrap();
        assert_eq!(bytes.to_vec(), (0..100).collect::<Vec<u8>>());
        assert!((delay..=6 * delay).contains(&since(begin)));
    });
}

/// Numbers of datagrams in the order of their arrival.
fn arrivals(seed: u64, conditions: Conditions) -> Vec<u8> {
    let simulation = Simulation::new(seed);
    simulation.block_on(async {
        let [ours, theirs] = [any(), any()].map(|address| UdpSocket::bind(address).unwrap());
        set_conditions(conditions);
        for number in 0..200 {
            ours.try_send_to(&[number], theirs.local_addr().unwrap()).unwrap();
        }
        let (mut numbers, mut byte) = (Vec::new(), [0]);
        while let Ok(received) = timeout(Duration::from_secs(1), theirs.recv_from(&mut byte)).await {
            received.unwrap();
            numbers.push(byte[0]);
        }
        numbers
    })
}

#[test]
fn datagrams_are_lost_doubled_and_out_of_order_by_the_seed() {
    let bad =
        Conditions { jitter: Duration::from_millis(9), loss: 0.2, duplication: 0.2, ..Conditions::default() };
    let received = arrivals(1, bad);
    assert_eq!(received, arrivals(1, bad));
    assert_ne!(received, arrivals(2, bad));
    let different = received.iter().collect::<BTreeSet<_>>().len();
    assert!((130..195).contains(&different) && received.len() > different, "{received:?}");
    assert!(!received.is_sorted());
    assert_eq!(arrivals(1, Conditions::default()), (0..200).collect::<Vec<_>>());
}

#[tokio::test]
async fn lost_datagrams_are_counted() {
    let (receiver, sender) = (UdpSocket::bind(any()).unwrap(), UdpSocket::bind(any()).unwrap());
    let address = receiver.local_addr().unwrap();
    let mut buffer = vec![0; 65_536];
    let mut received = 0;
    let mut sent = 0;
    // More than the system keeps: twice the requested 4 MiB.
    while sent < 400 {
        sent += u32::from(sender.try_send_to(&[0; 60_000], address).is_ok());
    }
    loop {
        match receiver.try_recv_from(&mut buffer) {
            Ok(_) => received += 1,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(received < sent);
    // The next datagram reports it.
    sender.try_send_to(b"1", address).unwrap();
    receiver.recv_from(&mut buffer).await.unwrap();
    assert_eq!(receiver.dropped(), sent - received);
}
