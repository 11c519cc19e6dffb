//! Devices simulated in this process.

use std::pin::Pin;
use std::time::Duration;

use dragoman_io::serial::{Simulate, Stream};
use dragoman_sim::kobuki::Noise;
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::serial::edge::{RealTime, Timeline};
use dragoman_sim::{Kobuki, KobukiSettings, Widowx, WidowxSettings};

/// Buffer of the line to a device, bytes.
const LINE_CAPACITY: usize = 4096;

/// A Kobuki that is already on. Its heading does not drift until the node of the simulation sets the noise.
pub(super) fn kobuki(timeline: &Timeline) -> RealTime<Kobuki> {
    let settings =
        KobukiSettings { boot_time: Duration::ZERO, noise: Noise::None, ..KobukiSettings::default() };
    RealTime::in_time(Kobuki::new(settings), timeline.clone())
}

pub(super) fn widowx(timeline: &Timeline) -> RealTime<Widowx> {
    RealTime::in_time(Widowx::new(WidowxSettings::default()), timeline.clone())
}

/// Opens one line to a device after the other.
pub(super) fn line_to<D: SerialDevice + 'static>(device: &RealTime<D>) -> Simulate {
    let device = device.clone();
    let timeline = device.timeline().clone();
    let open = move || {
        let (near, far) = tokio::io::duplex(LINE_CAPACITY);
        let device = device.clone();
        dragoman_time::spawn(async move {
            // When it ends, the line ends and the driver opens it again.
            let _ = device.run(far, |_| {}).await;
        });
        Box::pin(near) as Pin<Box<dyn Stream>>
    };
    Simulate::new(open, timeline)
}
