//! A serial device on a byte stream, in the time of a [`Timeline`]: real time, unless that runs at another speed.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use dragoman_time::watch;
use parking_lot::{Mutex, MutexGuard};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::SerialDevice;

pub use dragoman_io::Timeline;

/// Maximum number of bytes that wait for a slow reader; then the oldest packets are lost, as on a line without a
/// listener.
const MAX_WAITING: usize = 1024;

/// Maximum real pause that a device simulates afterwards; the rest is skipped, because a long pause would take many
/// seconds to simulate.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// A device on a byte stream: its time is that since its creation, minus the parts of pauses beyond 5 s.
pub struct RealTime<D> {
    shared: Arc<Mutex<Shared<D>>>,
    timeline: Timeline,
    /// How often the device was replaced.
    replaced: Arc<watch::Sender<u64>>,
}

struct Shared<D> {
    device: D,
    /// The device's time after the last call.
    time: Duration,
    /// The time of the last call on the timeline.
    at: Duration,
}

impl<D> Shared<D> {
    fn time_at(&self, at: Duration, max_pause: Duration) -> Duration {
        self.time + at.saturating_sub(self.at).min(max_pause)
    }
}

impl<D> Clone for RealTime<D> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            timeline: self.timeline.clone(),
            replaced: Arc::clone(&self.replaced),
        }
    }
}

impl<D: SerialDevice> RealTime<D> {
    /// In real time. Its time starts now.
    pub fn new(device: D) -> Self {
        Self::in_time(device, Timeline::default())
    }

    /// In the time of `timeline`. Its time starts now.
    pub fn in_time(device: D, timeline: Timeline) -> Self {
        let shared = Shared { device, time: Duration::ZERO, at: timeline.now() };
        Self { shared: Arc::new(Mutex::new(shared)), timeline, replaced: Arc::default() }
    }

    /// The time that it follows.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Replaces the device by the one that `with` makes of it, whose time starts now, and ends its line: the other end
    /// finds another device.
    pub fn replace(&self, with: impl FnOnce(&D) -> D) {
        {
            let mut shared = self.shared.lock();
            let device = with(&shared.device);
            *shared = Shared { device, time: Duration::ZERO, at: self.timeline.now() };
        }
        self.replaced.send_modify(|count| *count += 1);
    }

    /// The device's current time.
    pub fn now(&self) -> Duration {
        self.shared.lock().time_at(self.timeline.now(), self.max_pause())
    }

    /// Calls a function with the device, after advancing it to the current time.
    pub fn with<R>(&self, function: impl FnOnce(&mut D) -> R) -> R {
        function(&mut self.brought_up().device)
    }

    fn brought_up(&self) -> MutexGuard<'_, Shared<D>> {
        let mut shared = self.shared.lock();
        let at = self.timeline.now();
        let now = shared.time_at(at, self.max_pause());
        (shared.time, shared.at) = (now, at);
        shared.device.handle_timeout(now);
        shared
    }

    /// On the timeline.
    fn max_pause(&self) -> Duration {
        MAX_PAUSE.mul_f64(self.timeline.factor().max(1.0))
    }

    /// Runs the device on a line until the other end is closed, or the device is replaced. `after` is called whenever
    /// the device was advanced, and may read it and change its inputs. Without a line a device is not advanced; with
    /// the next line it catches up, by at most 5 s.
    ///
    /// # Errors
    /// An error of the line.
    pub async fn run<L>(&self, line: L, mut after: impl FnMut(&mut D)) -> io::Result<()>
    where
        L: AsyncRead + AsyncWrite,
    {
        let (mut reader, mut writer) = tokio::io::split(line);
        let mut received = [0; 256];
        let mut waiting = Waiting::default();
        let mut replaced = self.replaced.subscribe();
        loop {
            let due = {
                let mut shared = self.brought_up();
                while let Some(packet) = shared.device.poll_transmit() {
                    waiting.push(packet);
                }
                after(&mut shared.device);
                shared.at + shared.device.poll_timeout().saturating_sub(shared.time)
            };
            tokio::select! {
                biased;
                // The sender lives as long as this.
                _ = replaced.changed() => return Ok(()),
                () = self.timeline.sleep_until(due) => {}
                written = writer.write(waiting.front()), if !waiting.is_empty() => waiting.advance(written?),
                read = reader.read(&mut received) => match read? {
                    0 => return Ok(()),
                    count => {
                        let bytes = received.get(..count).unwrap_or_default();
                        let mut shared = self.brought_up();
                        let now = shared.time;
                        shared.device.handle_bytes(now, bytes);
                    }
                },
            }
        }
    }
}

/// Packets that wait to be written.
#[derive(Default)]
struct Waiting {
    packets: VecDeque<Vec<u8>>,
    /// Number of bytes of the first packet that are written.
    written: usize,
    bytes: usize,
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    fn front(&self) -> &[u8] {
        self.packets.front().and_then(|packet| packet.get(self.written..)).unwrap_or_default()
    }

    fn push(&mut self, packet: Vec<u8>) {
        self.bytes += packet.len();
        self.packets.push_back(packet);
        // A partly written packet is finished.
        let first_whole = usize::from(self.written > 0);
        while self.bytes > MAX_WAITING && self.packets.len() > first_whole + 1 {
            let lost = self.packets.remove(first_whole);
            self.bytes -= lost.map_or(0, |packet| packet.len());
        }
    }

    fn advance(&mut self, count: usize) {
        self.written += count;
        if self.packets.front().is_some_and(|packet| packet.len() <= self.written) {
            self.bytes -= self.packets.pop_front().map_or(0, |packet| packet.len());
            self.written = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::DuplexStream;

    use super::*;

    /// A device that sends its time every 20 ms, and records its input.
    #[derive(Default)]
    struct Clock {
        now: u64,
        sent: u64,
        received: Vec<(Duration, Vec<u8>)>,
    }

    impl SerialDevice for Clock {
        fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
            self.received.push((now, bytes.to_vec()));
        }

        fn handle_timeout(&mut self, now: Duration) {
            self.now = self.now.max(now.as_millis() as u64);
        }

        fn poll_transmit(&mut self) -> Option<Vec<u8>> {
            (self.sent + 20 <= self.now).then(|| {
                self.sent += 20;
                format!("{:06}\n", self.sent).into_bytes()
            })
        }

        fn poll_timeout(&self) -> Duration {
            Duration::from_millis(self.sent + 20)
        }
    }

    /// A clock on a line, and the line's other end.
    fn start(buffer: usize) -> (RealTime<Clock>, DuplexStream, dragoman_time::Task<io::Result<()>>) {
        let (near, far) = tokio::io::duplex(buffer);
        let device = RealTime::new(Clock::default());
        let running = device.clone();
        (device, far, dragoman_time::spawn(async move { running.run(near, |_| {}).await }))
    }

    async fn line(far: &mut DuplexStream) -> u64 {
        let mut bytes = [0; 7];
        far.read_exact(&mut bytes).await.expect("a line");
        std::str::from_utf8(&bytes).expect("text").trim().parse().expect("a number")
    }

    #[test]
    fn packets_come_at_their_time() {
        dragoman_time::Simulation::new(1).block_on(async {
            let (device, mut far, _) = start(64);
            for number in 1..=500 {
                assert_eq!(line(&mut far).await, number * 20);
                let late = device.now().saturating_sub(Duration::from_millis(number * 20));
                assert!(late < Duration::from_millis(2), "{late:?}");
            }
        });
    }

    #[test]
    fn what_is_sent_arrives_at_once() {
        dragoman_time::Simulation::new(1).block_on(async {
            let (device, mut far, _) = start(64);
            dragoman_time::sleep(Duration::from_millis(7)).await;
            far.write_all(b"stop").await.expect("written");
            dragoman_time::sleep(Duration::from_millis(1)).await;
            let received = device.with(|clock| clock.received.clone());
            assert!(
                matches!(received.as_slice(), [(time, bytes)] if time.as_millis() <= 8 && bytes == b"stop"),
                "{received:?}"
            );
        });
    }

    #[test]
    fn a_slow_reader_loses_old_packets_and_no_parts_of_them() {
        dragoman_time::Simulation::new(1).block_on(async {
            let (_, mut far, _) = start(10);
            dragoman_time::sleep(Duration::from_secs(60)).await;
            // The first and a part of the second were already written.
            assert_eq!((line(&mut far).await, line(&mut far).await), (20, 40));
            let third = line(&mut far).await;
            assert!(third > 60_000 - 20 * (MAX_WAITING as u64 / 7 + 2), "{third}");
            assert_eq!(line(&mut far).await, third + 20);
        });
    }

    #[test]
    fn it_ends_with_the_line_and_goes_on_with_the_next() {
        dragoman_time::Simulation::new(1).block_on(async {
            let (device, far, running) = start(64);
            dragoman_time::sleep(Duration::from_millis(50)).await;
            drop(far);
            assert!(running.await.expect("no panic").is_ok());
            let (near, mut far) = tokio::io::duplex(64);
            let again = device.clone();
            dragoman_time::spawn(async move { again.run(near, |_| {}).await });
            assert_eq!(line(&mut far).await, 60);
        });
    }

    #[test]
    fn it_follows_the_speed_of_its_timeline() {
        dragoman_time::Simulation::new(1).block_on(async {
            let (device, mut far, _) = start(64);
            assert_eq!(line(&mut far).await, 20);
            device.timeline().set_factor(0.25);
            let before = dragoman_time::now();
            for number in 2..=11 {
                assert_eq!(line(&mut far).await, number * 20);
            }
            assert!(
                (dragoman_time::since(before).as_millis() as i64 - 800).abs() < 10,
                "{:?}",
                dragoman_time::since(before)
            );
            device.timeline().set_factor(0.0);
            let nothing = dragoman_time::timeout(Duration::from_secs(3600), line(&mut far)).await;
            assert!(nothing.is_err(), "it stands still");
        });
    }

    #[test]
    fn a_replaced_device_ends_its_line_and_begins_at_zero() {
        dragoman_time::Simulation::new(1).block_on(async {
            let (device, mut far, running) = start(64);
            dragoman_time::sleep(Duration::from_secs(1)).await;
            device.replace(|_| Clock::default());
            assert!(running.await.expect("no panic").is_ok());
            let mut rest = Vec::new();
            far.read_to_end(&mut rest).await.expect("the end");
            assert_eq!(device.now(), Duration::ZERO);
            let (near, mut far) = tokio::io::duplex(64);
            let again = device.clone();
            dragoman_time::spawn(async move { again.run(near, |_| {}).await });
            assert_eq!(line(&mut far).await, 20);
        });
    }

    #[test]
    fn a_long_time_without_a_line_is_skipped() {
        dragoman_time::Simulation::new(1).block_on(async {
            let (device, far, running) = start(64);
            dragoman_time::sleep(Duration::from_millis(110)).await;
            drop(far);
            assert!(running.await.expect("no panic").is_ok());
            dragoman_time::sleep(Duration::from_secs(12 * 3600)).await;
            let time = device.with(|clock| clock.now);
            assert!((5100..=5130).contains(&time), "{time} ms");
            assert_eq!(device.now().as_millis(), u128::from(time));
            // It continues normally.
            let (near, mut far) = tokio::io::duplex(64);
            dragoman_time::spawn(async move { device.run(near, |_| {}).await });
            while line(&mut far).await < time {}
            let before = dragoman_time::now();
            for _ in 0..50 {
                line(&mut far).await;
            }
            let passed = dragoman_time::since(before).as_millis();
            assert!((980..=1020).contains(&passed), "{passed} ms for 50 lines");
        });
    }
}
