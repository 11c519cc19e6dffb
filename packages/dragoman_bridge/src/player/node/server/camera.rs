//! `camera` from images.

use std::sync::Arc;

use dragoman_ros::{QosProfile, sensor_msgs};
use dragoman_time::Work;
use dragoman_time::watch;
use serde::Deserialize;

use super::driver::{
    Driver, Feed, Opened, OutcomeFuture, Setup, acknowledged, answer_when_received, other_interface,
};
use crate::BridgeError;
use crate::player::wire::camera::{Compression, Format, IMAGE, Image, Request, SET_SOURCE, Source};
use crate::player::wire::{self, Bytes, Device, MAX_BODY_LEN, MessageKind, Xdr};

/// Entry of a camera in the device table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CameraConfig {
    /// Topic with `sensor_msgs/Image`: rgb8, bgr8, mono8, mono16 or 16UC1.
    image: String,
}

struct Camera {
    last: watch::Receiver<Option<Arc<Image>>>,
}

pub(super) fn open(
    config: &CameraConfig,
    device: Device,
    setup: &Setup,
    feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let (sender, last) = watch::channel(None);
    let (newest, received) = watch::channel(None);
    let qos = QosProfile::sensor_data().keep_last(1);
    tasks.subscribe(&config.image, qos, move |image: sensor_msgs::msg::Image| {
        newest.send_replace(Some(Arc::new(image)));
    })?;
    tasks.spawn(convert(received, sender, feed));
    Ok(Opened::new(Camera { last }, tasks)?)
}

/// Sends the newest image. The conversion of a large image takes milliseconds, so another thread does it. Of the images
/// that arrive meanwhile only the last one is sent.
async fn convert(
    mut received: watch::Receiver<Option<Arc<sensor_msgs::msg::Image>>>,
    sender: watch::Sender<Option<Arc<Image>>>,
    feed: Feed,
) {
    let mut refusal = String::new();
    while received.changed().await.is_ok() {
        let Some(newest) = received.borrow_and_update().clone() else { continue };
        let feed = feed.clone();
        let converted = dragoman_time::off_thread(Work::PICTURE, move |_clock| {
            image(&newest).inspect(|image| feed.send(&IMAGE, &newest.header.stamp, image))
        });
        match converted.await {
            Ok(Ok(image)) => {
                sender.send_replace(Some(Arc::new(image)));
            }
            Ok(Err(reason)) if reason == refusal => {}
            Ok(Err(reason)) => {
                tracing::warn!(reason, "converting an image failed");
                refusal = reason;
            }
            Err(error) => tracing::error!(%error, "image conversion task failed"),
        }
    }
}

fn image(received: &sensor_msgs::msg::Image) -> Result<Image, String> {
    let (format, bytes) = match received.encoding.as_str() {
        "rgb8" | "bgr8" => (Format::Rgb888, 3),
        "mono8" => (Format::Mono8, 1),
        "mono16" | "16UC1" => (Format::Mono16, 2),
        other => return Err(format!("encoding {other}")),
    };
    let (row, step) = (received.width as usize * bytes, received.step as usize);
    if row > step || received.data.len() < step.saturating_mul(received.height as usize) || step == 0 {
        return Err("fewer bytes than its size says".to_owned());
    }
    let len = row.saturating_mul(received.height as usize);
    if len > MAX_BODY_LEN - 64 {
        return Err(format!("{len} bytes are too many for a message"));
    }
    let mut data = vec![0; len];
    // An image without columns has no rows to copy.
    let rows = data.chunks_exact_mut(row.max(1)).zip(received.data.chunks_exact(step));
    for (to, from) in rows {
        let from = from.get(..row).unwrap_or_default();
        match received.encoding.as_str() {
            "bgr8" => {
                let pixels = to.as_chunks_mut::<3>().0.iter_mut().zip(from.as_chunks::<3>().0);
                pixels.for_each(|(to, [blue, green, red])| *to = [*red, *green, *blue]);
            }
            // Player's images are big endian.
            "mono16" | "16UC1" if received.is_bigendian == 0 => {
                let pixels = to.as_chunks_mut::<2>().0.iter_mut().zip(from.as_chunks::<2>().0);
                pixels.for_each(|(to, [low, high])| *to = [*high, *low]);
            }
            _ => to.copy_from_slice(from),
        }
    }
    Ok(Image {
        width: received.width,
        height: received.height,
        bits: 8 * bytes as u32,
        format,
        divisor: 1,
        compression: Compression::Raw,
        data: Bytes(data),
    })
}

impl Driver for Camera {
    fn handle_request(&mut self, request: wire::Request) -> Result<OutcomeFuture, String> {
        let wire::Request::Camera(request) = request else { return other_interface() };
        Ok(match request {
            Request::GetImage => answer_when_received(self.last.clone(), |image| Ok(image.to_bytes())),
            Request::GetSource => acknowledged(&Source { norm: "UNKNOWN".to_owned(), source: 0 }),
            Request::SetSource(_) => return Err("the camera has one source".to_owned()),
        })
    }

    fn unsupported(&self) -> Vec<(MessageKind, u8)> {
        vec![SET_SOURCE.id()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lose_their_padding_and_bytes_their_order() {
        let mut received = sensor_msgs::msg::Image {
            width: 1,
            height: 2,
            step: 4,
            encoding: "bgr8".to_owned(),
            data: vec![1, 2, 3, 0, 4, 5, 6, 0],
            ..Default::default()
        };
        assert_eq!(image(&received).unwrap().data, Bytes(vec![3, 2, 1, 6, 5, 4]));
        received.encoding = "16UC1".to_owned();
        assert_eq!(image(&received).unwrap().data, Bytes(vec![2, 1, 5, 4]));
        received.height = 3;
        assert!(image(&received).is_err());
        received.encoding = "32FC1".to_owned();
        assert!(image(&received).unwrap_err().contains("32FC1"));
    }
}
