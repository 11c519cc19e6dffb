//! Decoding and encoding a 31-byte frame: the codec that reads descriptions at run time, the compiled one of the same
//! description, and Python's `construct`.
//!
//! `cargo bench -p dragoman_bridge --bench interpreted` prints a table at the end. `DRAGOMAN_PEER_CONSTRUCT_PYTHON` is a Python
//! that has construct; by default `python3` is tried.

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use criterion::Criterion;
use dragoman_bridge::arm31::wire::{Datagram, Letters, Request};
use dragoman_protocol::codec::{Codec, Values};
use dragoman_protocol::model::Side;
use dragoman_protocol::{Protocol, protocols};

/// A frame, decoded or encoded so many times, in each of so many rounds.
const TURNS: u32 = 20_000;
const ROUNDS: usize = 31;

const PYTHON: &str = r#"
import statistics, sys, timeit
from construct import Array, Byte, Bytes, Float32l, Struct, version_string
frame = bytes.fromhex(sys.argv[1])
layout = Struct("letters" / Bytes(2), "position" / Array(3, Float32l), "rpy" / Array(3, Float32l),
                "min_duration" / Float32l, "rest" / Byte)
ways = {"interpreted": layout}
try:
    ways["compiled"] = layout.compile()
except Exception:
    pass
for name, way in ways.items():
    values = way.parse(frame)
    assert way.build(values) == frame
    for what, run in (("decode", lambda: way.parse(frame)), ("encode", lambda: way.build(values))):
        times = [timeit.timeit(run, number=2000) / 2000 for _ in range(15)]
        print(f"construct {version_string}, {name}", what, statistics.median(times) * 1e9, sep="\t")
"#;

fn frame() -> [u8; 31] {
    *Datagram::new(Letters(*b"GT"), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 7.0], 0).bytes()
}

fn codec() -> Codec {
    #[allow(clippy::expect_used, reason = "the description is part of this repository")]
    Codec::new(Protocol::read(protocols::ARM31).expect("a description")).expect("a program")
}

/// The four things that are measured, by name; each call of `run` measures one.
fn each(mut run: impl FnMut(&str, &str, &mut dyn FnMut())) {
    let (codec, frame) = (codec(), frame());
    let mut values = Values::default();
    run("interpreter", "decode", &mut || {
        let _ = black_box(codec.decode(black_box(&frame), Side::Client, None, &mut values));
    });
    run("compiled code", "decode", &mut || {
        let _ = black_box(Request::decode(black_box(&frame)));
    });
    let Ok(message) = codec.decode(&frame, Side::Client, None, &mut values) else { return };
    let mut out = Vec::with_capacity(64);
    run("interpreter", "encode", &mut || {
        out.clear();
        let _ = black_box(codec.encode_wire(message, black_box(&mut values), &mut out));
    });
    let Ok(request) = Request::decode(&frame) else { return };
    run("compiled code", "encode", &mut || {
        black_box(black_box(&request).encode());
    });
}

/// The middle time of a turn.
fn measured(run: &mut dyn FnMut()) -> Duration {
    let mut rounds: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            (0..TURNS).for_each(|_| run());
            begun.elapsed() / TURNS
        })
        .collect();
    rounds.sort_unstable();
    rounds.get(ROUNDS / 2).copied().unwrap_or_default()
}

fn table() {
    let mut compiled = [0.0; 2];
    let mut rows = Vec::new();
    each(|who, what, run| {
        let time = measured(run).as_secs_f64() * 1e9;
        if who == "compiled code" {
            compiled[usize::from(what == "encode")] = time;
        }
        rows.push((who.to_owned(), what.to_owned(), time));
    });
    let python = std::env::var("DRAGOMAN_PEER_CONSTRUCT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let digits: String = frame().iter().map(|byte| format!("{byte:02x}")).collect();
    let output = Command::new(&python).args(["-c", PYTHON, &digits]).output();
    let text = match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => {
            println!("skipped: {python} has no construct: pip install construct==2.10.70");
            String::new()
        }
    };
    for line in text.lines() {
        if let [who, what, time] = line.split('\t').collect::<Vec<_>>()[..] {
            rows.push((who.to_owned(), what.to_owned(), time.parse().unwrap_or(f64::NAN)));
        }
    }
    println!("\n| 31 bytes | | ns | times the compiled code |\n| --- | --- | ---: | ---: |");
    for (who, what, time) in rows {
        let base = compiled[usize::from(what == "encode")];
        println!("| {who} | {what} | {time:.1} | {:.1} |", time / base);
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    each(|who, what, run| {
        criterion.bench_function(&format!("{what} 31 bytes, {who}"), |bencher| bencher.iter(&mut *run));
    });
    criterion.final_summary();
    // `cargo test --benches` only checks that it runs.
    if std::env::args().any(|argument| argument == "--bench") {
        table();
    }
}
