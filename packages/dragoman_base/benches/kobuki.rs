//! Cost of a cycle: decoding a frame of feedback into the state, encoding a command.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use dragoman_base::kobuki::driver::{Config, Driver};
use dragoman_base::kobuki::wire::{
    CliffReadings, CoreSensors, Decoder, DockIr, Feedback, GeneralPurposeInput, Inertia, RawGyro,
    WheelCurrents, frame,
};
use dragoman_geometry::Twist;

/// All sub-payloads that a base sends every 20 ms.
fn packet() -> Vec<u8> {
    let parts = [
        Feedback::Core(CoreSensors { battery_decivolts: 160, ..CoreSensors::default() }),
        Feedback::DockIr(DockIr::default()),
        Feedback::Inertia(Inertia::default()),
        Feedback::Cliffs(CliffReadings::default()),
        Feedback::Currents(WheelCurrents::default()),
        Feedback::RawGyro(RawGyro::new(0, &[[1, 2, 3]; 3]).expect("three readings")),
        Feedback::Input(GeneralPurposeInput::default()),
    ];
    let mut bytes = Vec::new();
    frame::encode(&mut bytes, |out| parts.iter().for_each(|part| part.encode(out))).expect("short enough");
    bytes
}

fn feedback(criterion: &mut Criterion) {
    let packet = packet();
    let mut group = criterion.benchmark_group("feedback");
    group.throughput(Throughput::Bytes(packet.len() as u64));
    let mut decoder = Decoder::new();
    group.bench_function("decode", |bencher| {
        bencher.iter(|| {
            let mut bytes = black_box(&packet[..]);
            while let Some(payload) = decoder.next(&mut bytes) {
                Feedback::read(payload).for_each(|part| {
                    black_box(part).ok();
                });
            }
        });
    });
    let mut driver = Driver::new(Config::default()).expect("valid options");
    driver.handle_connected(Duration::ZERO);
    group.bench_function("driver", |bencher| {
        bencher.iter(|| {
            let mut bytes = black_box(&packet[..]);
            while driver.handle_bytes(Duration::ZERO, &mut bytes) {
                black_box(driver.state());
            }
            black_box(driver.poll_transmit());
        });
    });
    group.finish();
}

fn command(criterion: &mut Criterion) {
    let packet = packet();
    criterion.bench_function("command", |bencher| {
        bencher.iter_batched_ref(
            || {
                let mut driver = Driver::new(Config::default()).expect("valid options");
                driver.handle_connected(Duration::ZERO);
                driver.handle_bytes(Duration::ZERO, &mut &packet[..]);
                driver.poll_transmit();
                driver
            },
            |driver| {
                let bytes = driver.command(Duration::ZERO, black_box(Twist::new(0.2, 0.5)));
                black_box(bytes.expect("alive").len())
            },
            BatchSize::SmallInput,
        );
    });
}

criterion_group!(benches, feedback, command);
criterion_main!(benches);
