//! Devices simulated in this process.

use std::pin::Pin;

use dragoman_io::serial::{Simulate, Stream};
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::serial::edge::RealTime;

/// Buffer of the line to a device, bytes.
const LINE_CAPACITY: usize = 4096;

/// Opens one line to a device after the other.
pub(crate) fn line_to<D: SerialDevice + 'static>(device: &RealTime<D>) -> Simulate {
    let device = device.clone();
    Box::new(move || {
        let (near, far) = tokio::io::duplex(LINE_CAPACITY);
        let device = device.clone();
        tokio::spawn(async move {
            // When it ends, the line ends and the driver opens it again.
            let _ = device.run(far, |_| {}).await;
        });
        Box::pin(near) as Pin<Box<dyn Stream>>
    })
}
