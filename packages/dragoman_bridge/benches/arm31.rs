//! Cost of one datagram in the server core: decode, handle, encode.

use std::hint::black_box;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use dragoman_bridge::arm31::wire::{Datagram, Letters, Reply, Request};
use dragoman_bridge::arm31::{Outcome, Server, ServerConfig};

fn server(clients: u16) -> (Server, Vec<SocketAddr>, Duration) {
    let now = Duration::ZERO;
    let mut server = Server::new(ServerConfig::default());
    server.handle_pose(now, [0.1, 0.2, 0.3], [0.0, 0.0, 0.0, 1.0]);
    let clients: Vec<SocketAddr> =
        (0..clients).map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, 40_000 + port))).collect();
    (server, clients, now)
}

fn message(letters: &[u8; 2], values: [f32; 7]) -> [u8; 31] {
    *Datagram::new(Letters(*letters), values, 0).bytes()
}

fn benches(criterion: &mut Criterion) {
    for clients in [1, 1000] {
        criterion.bench_function(&format!("PS request, {clients} clients"), |bencher| {
            let (mut server, clients, mut now) = server(clients);
            let request = message(b"PS", [0.0; 7]);
            let mut turn = clients.iter().cycle();
            bencher.iter(|| {
                now += Duration::from_millis(1);
                if let Some(client) = turn.next() {
                    server.handle_datagram(now, *client, black_box(&request));
                }
                black_box(server.poll_transmit())
            });
        });
    }
    criterion.bench_function("GT request with its service call", |bencher| {
        let (mut server, clients, mut now) = server(1);
        let request = message(b"GT", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 7.0]);
        bencher.iter(|| {
            now += Duration::from_millis(1);
            for client in &clients {
                server.handle_datagram(now, *client, black_box(&request));
            }
            if let Some((id, call)) = server.poll_call() {
                black_box(call);
                server.handle_outcome(now, id, Outcome::Done);
            }
            black_box(server.poll_transmit())
        });
    });
    criterion.bench_function("decode a GT request", |bencher| {
        let request = message(b"GT", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 7.0]);
        bencher.iter(|| Request::decode(black_box(&request)));
    });
    criterion.bench_function("decode an SP reply", |bencher| {
        let reply = message(b"SP", [0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0]);
        bencher.iter(|| Reply::decode(black_box(&reply)));
    });
}

criterion_group!(arm31, benches);
criterion_main!(arm31);
