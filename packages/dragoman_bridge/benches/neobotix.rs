//! Cost of Neobotix' messages: a status with a scan of 541 points, a velocity command, a map.

use std::fmt::Write;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dragoman_bridge::neobotix::documents::{Document, Map};
use dragoman_bridge::neobotix::wire::{
    Command, Decoder, Framing, Message, MoveVelocity, Point, Reply, ScanPoint, Status,
};

fn benches(criterion: &mut Criterion) {
    let status = Status {
        scan: (0..541).map(|index| ScanPoint { x_mm: index, y_mm: -index }).collect(),
        path: vec![Point { x_mm: 1, y_mm: 2 }; 100],
        ..Status::default()
    };
    let reply = Reply::GetStatus(Box::new(status));
    let bytes = reply.encode(Framing::Header).unwrap_or_default();
    criterion.bench_function("encode a status with 541 points", |bencher| {
        bencher.iter(|| black_box(&reply).encode(Framing::Header));
    });
    criterion.bench_function("decode a status with 541 points", |bencher| {
        let mut decoder = Decoder::<Reply>::default();
        bencher.iter(|| {
            decoder.push(black_box(&bytes));
            decoder.next()
        });
    });
    let drive = Command::MoveVel(MoveVelocity {
        translation_mm_per_s: 500,
        rotation_mrad_per_s: 100,
        ..Default::default()
    });
    let bytes = drive.encode(Framing::Header).unwrap_or_default();
    criterion.bench_function("decode a velocity command", |bencher| {
        let mut decoder = Decoder::<Command>::default();
        bencher.iter(|| {
            decoder.push(black_box(&bytes));
            decoder.next()
        });
    });
    let mut text = "<map Version=\"1.0\"><layer index=\"0\">".to_owned();
    for index in 0..1000 {
        let _ =
            write!(text, "<line><point x=\"{index}\" y=\"0.5\"/><point x=\"{index}\" y=\"1000\"/></line>");
    }
    text.push_str("</layer></map>");
    criterion.bench_function("read a map of 1000 lines", |bencher| {
        bencher.iter(|| Map::read(black_box(text.as_bytes())));
    });
}

criterion_group!(all, benches);
criterion_main!(all);
