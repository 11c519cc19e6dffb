//! `camera` from images.

use std::sync::Arc;

use dragoman_ros::{QosProfile, sensor_msgs};
use serde::Deserialize;
use tokio::sync::watch;

use super::driver::{Answer, Driver, Feed, Opened, Setup, acknowledged, later};
use crate::BridgeError;
use crate::player::wire::camera::{
    Compression, Format, GET_IMAGE, GET_SOURCE, IMAGE, Image, SET_SOURCE, Source,
};
use crate::player::wire::{Bytes, Device, Kind, MAX_BODY_LEN, Xdr};

/// The ROS names of a camera.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Names {
    /// Topic with `sensor_msgs/Image`: rgb8, bgr8, mono8, mono16 or 16UC1.
    image: String,
}

struct Camera {
    last: watch::Receiver<Option<Arc<Image>>>,
}

pub(super) fn open(names: &Names, device: Device, setup: &Setup, feed: Feed) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let (sender, last) = watch::channel(None);
    let mut refusal = String::new();
    let newest = QosProfile::sensor_data().keep_last(1);
    tasks.subscribe(&names.image, newest, move |received: sensor_msgs::msg::Image| {
        match image(&received) {
            Ok(image) => {
                feed.send(&IMAGE, &received.header.stamp, &image);
                sender.send_replace(Some(Arc::new(image)));
            }
            Err(reason) if reason == refusal => {}
            Err(reason) => {
                tracing::warn!(reason, "an image cannot be sent to Player's clients");
                refusal = reason;
            }
        }
    })?;
    Ok(Opened::new(Camera { last }, tasks)?)
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
    let rows = received.data.chunks(step).take(received.height as usize);
    let mut data: Vec<u8> = rows.flat_map(|bytes| bytes.get(..row).unwrap_or_default()).copied().collect();
    if data.len() > MAX_BODY_LEN - 64 {
        return Err(format!("{} bytes are too many for a message", data.len()));
    }
    match received.encoding.as_str() {
        "bgr8" => data.chunks_exact_mut(3).for_each(|pixel| pixel.swap(0, 2)),
        // Player's are big endian.
        "mono16" | "16UC1" if received.is_bigendian == 0 => {
            data.chunks_exact_mut(2).for_each(|pixel| pixel.swap(0, 1));
        }
        _ => {}
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
    fn handle_command(&mut self, subtype: u8, _body: &[u8]) -> Result<(), String> {
        Err(format!("a camera has no command {subtype}"))
    }

    fn handle_request(&mut self, subtype: u8, _body: &[u8]) -> Result<Answer, String> {
        Ok(match subtype {
            subtype if subtype == GET_IMAGE.subtype => later(self.last.clone(), |image| Ok(image.to_bytes())),
            subtype if subtype == GET_SOURCE.subtype => {
                acknowledged(&Source { norm: "UNKNOWN".to_owned(), source: 0 })
            }
            subtype if subtype == SET_SOURCE.subtype => return Err("the camera has one source".to_owned()),
            _ => return Err(format!("the camera has no request {subtype}")),
        })
    }

    fn lacks(&self) -> Vec<(Kind, u8)> {
        vec![(Kind::Request, SET_SOURCE.subtype)]
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
