//! A rack of drives: frames between them, a full bus, and the real clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use canopen_rs::NodeId;
use dragoman_io::can::{Bus, Frame, InProcessBus, Received, SendError};
use dragoman_sim::{Fault, Rack, Whistle, WhistleSettings};

fn whistle(node: u8) -> Whistle {
    Whistle::new(NodeId::new(node).unwrap(), WhistleSettings::default())
}

fn frame(text: &str) -> Frame {
    text.parse().unwrap()
}

fn received(bus: &mut impl Bus) -> Vec<String> {
    std::iter::from_fn(|| bus.receive())
        .map(|received| match received {
            Received::Frame(frame) => frame.to_string(),
            Received::Fault(fault) => fault.to_string(),
        })
        .collect()
}

#[test]
fn all_drives_get_every_frame_and_answer_in_turn() {
    let mut master = InProcessBus::new();
    let mut place = master.another();
    let mut rack = Rack::new(vec![whistle(101), whistle(102)]);
    assert_eq!(rack.step(Duration::ZERO, &mut place), None, "nothing to do before the first frame");
    assert_eq!(received(&mut master), ["765#00", "766#00"]);
    master.send(&frame("000#0100")).unwrap();
    master.send(&frame("365#50580000")).unwrap();
    master.send(&frame("366#50580000")).unwrap();
    let done = Duration::from_micros(500);
    assert_eq!(rack.step(Duration::ZERO, &mut place), Some(done));
    assert_eq!(received(&mut master), [""; 0]);
    rack.step(done, &mut place);
    assert_eq!(received(&mut master), ["2E5#5058000000000000", "2E6#5058000000000000"]);
}

#[test]
fn two_drives_with_one_number_both_answer() {
    let mut master = InProcessBus::new();
    let mut place = master.another();
    let mut rack = Rack::new(vec![whistle(101), whistle(101)]);
    rack.step(Duration::ZERO, &mut place);
    assert_eq!(received(&mut master), ["765#00", "765#00"]);
}

#[test]
fn a_drive_can_watch_another_one() {
    let mut master = InProcessBus::new();
    let mut place = master.another();
    let mut rack = Rack::new(vec![whistle(101), whistle(102)]);
    rack.step(Duration::ZERO, &mut place);
    // Node 102 sends a heartbeat every 10 ms, node 101 expects it within 50 ms.
    master.send(&frame("666#2B1710000A000000")).unwrap();
    master.send(&frame("665#2316100132006600")).unwrap();
    let mut now = Duration::ZERO;
    let mut run = |rack: &mut Rack<_>, until: u64| {
        while now < Duration::from_millis(until) {
            now += Duration::from_millis(1);
            rack.step(now, &mut place);
        }
    };
    run(&mut rack, 200);
    assert!(received(&mut master).iter().all(|frame| !frame.starts_with("0E5")));
    rack.drives()[1].inject(Duration::from_millis(200), Fault::Silent);
    run(&mut rack, 300);
    assert_eq!(received(&mut master), ["0E5#3081110000000000"]);
}

/// A bus that is full after this number of frames.
struct SmallBus {
    room: usize,
    sent: Vec<Frame>,
}

impl Bus for SmallBus {
    fn send(&mut self, frame: &Frame) -> Result<(), SendError> {
        if self.room == 0 {
            return Err(SendError::Full);
        }
        self.room -= 1;
        self.sent.push(*frame);
        Ok(())
    }

    fn receive(&mut self) -> Option<Received> {
        None
    }

    fn wait(&mut self, _timeout: Duration) {}
}

#[test]
fn frames_wait_for_a_bus_that_is_full() {
    let mut bus = SmallBus { room: 1, sent: Vec::new() };
    let mut rack = Rack::new((101..=104).map(whistle).collect());
    rack.step(Duration::ZERO, &mut bus);
    assert_eq!(bus.sent.len(), 1);
    bus.room = 10;
    rack.step(Duration::from_millis(1), &mut bus);
    let ids: Vec<_> = bus.sent.iter().filter_map(Frame::standard_id).collect();
    assert_eq!(ids, [0x765, 0x766, 0x767, 0x768]);
}

#[test]
fn a_rack_in_a_thread_answers_and_stops() {
    let mut master = InProcessBus::new();
    let rack = Rack::new(vec![whistle(101)]);
    let stop = Arc::new(AtomicBool::new(false));
    let (running, place, ending) = (rack.clone(), Box::new(master.another()), Arc::clone(&stop));
    let thread = std::thread::spawn(move || running.run(place, ending));
    let mut answers = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut wait_for = |master: &mut InProcessBus, wanted: &str| {
        while !answers.iter().any(|answer: &String| answer.starts_with(wanted)) {
            assert!(Instant::now() < deadline, "{wanted} is not among {answers:?}");
            master.wait(Duration::from_secs(1));
            answers.extend(received(master));
        }
    };
    wait_for(&mut master, "765#00");
    master.send(&frame("000#0100")).unwrap();
    master.send(&frame("365#4D4F000001000000")).unwrap();
    wait_for(&mut master, "2E5#4D4F000001000000");
    assert!(rack.drives()[0].status().is_motor_on());
    stop.store(true, Ordering::Relaxed);
    thread.join().unwrap();
}
