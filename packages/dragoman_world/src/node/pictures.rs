//! Pictures as messages: raw, and compressed as by `compressed_image_transport`.

use dragoman_ros::sensor_msgs::msg::{CameraInfo, CompressedImage, Image};
use dragoman_ros::std_msgs::msg::Header;

use crate::{CameraFigures, ColorImage, DepthImage};

/// Quality of JPEG, 1 to 100; the default of `compressed_image_transport`.
const QUALITY: u8 = 95;

/// Kind of a picture: its encoding in ROS, and the bytes of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Depth, m; NaN if not measured (REP 118).
    Metres,
    /// Depth, mm; 0 if not measured (REP 118, as in OpenNI).
    Millimetres,
    Rgb,
    Mono,
}

impl Encoding {
    fn name(self) -> &'static str {
        match self {
            Self::Metres => "32FC1",
            Self::Millimetres => "16UC1",
            Self::Rgb => "rgb8",
            Self::Mono => "mono8",
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::Metres => 4,
            Self::Millimetres => 2,
            Self::Rgb => 3,
            Self::Mono => 1,
        }
    }
}

/// A message for a picture of this size, without data.
pub(super) fn blank(encoding: Encoding, figures: &CameraFigures, frame: &str) -> Image {
    let step = figures.width * encoding.bytes();
    Image {
        header: Header { frame_id: frame.to_owned(), ..Default::default() },
        height: figures.height as u32,
        width: figures.width as u32,
        encoding: encoding.name().to_owned(),
        is_bigendian: 0,
        step: step as u32,
        data: Vec::new(),
    }
}

/// The bytes of a picture's data.
pub(super) fn size(image: &Image) -> usize {
    image.step as usize * image.height as usize
}

/// A message for a compressed picture, without data.
pub(super) fn blank_compressed(encoding: Encoding, frame: &str) -> CompressedImage {
    let format = match encoding {
        // The first word is the decoder's output encoding for pictures with three channels, the last one the encoding
        // of the data.
        Encoding::Rgb => "rgb8; jpeg compressed bgr8",
        Encoding::Mono => "mono8; jpeg compressed ",
        Encoding::Metres | Encoding::Millimetres => "16UC1; png compressed ",
    };
    CompressedImage {
        header: Header { frame_id: frame.to_owned(), ..Default::default() },
        format: format.to_owned(),
        data: Vec::new(),
    }
}

/// Encodes depths in metres; `bytes` has the [`size`] of the picture.
pub(super) fn metres(image: &DepthImage, bytes: &mut [u8]) {
    for (bytes, depth) in bytes.chunks_exact_mut(4).zip(image.depths()) {
        bytes.copy_from_slice(&depth.to_le_bytes());
    }
}

/// Encodes depths in whole millimetres.
pub(super) fn millimetres(image: &DepthImage, bytes: &mut [u8]) {
    for (bytes, depth) in bytes.chunks_exact_mut(2).zip(image.depths()) {
        bytes.copy_from_slice(&in_millimetres(*depth).to_le_bytes());
    }
}

/// Converts to millimetres; NaN becomes 0.
fn in_millimetres(depth: f32) -> u16 {
    (depth * 1000.0 + 0.5) as u16
}

/// Encodes depths as grey values, near is bright.
pub(super) fn grey(image: &DepthImage, figures: &CameraFigures, bytes: &mut [u8]) {
    for (byte, depth) in bytes.iter_mut().zip(image.depths()) {
        *byte = figures.grey(*depth);
    }
}

/// Brightness, ITU-R BT.601.
pub(super) fn mono(image: &ColorImage, bytes: &mut [u8]) {
    for (gray, pixel) in bytes.iter_mut().zip(image.rgb().chunks_exact(3)) {
        if let [red, green, blue] = *pixel {
            *gray = ((77 * u32::from(red) + 150 * u32::from(green) + 29 * u32::from(blue) + 128) >> 8) as u8;
        }
    }
}

/// Compresses pixels of one or three bytes as JPEG.
pub(super) fn jpeg(encoding: Encoding, figures: &CameraFigures, pixels: &[u8], compressed: &mut Vec<u8>) {
    compressed.clear();
    let colors =
        if encoding == Encoding::Rgb { jpeg_encoder::ColorType::Rgb } else { jpeg_encoder::ColorType::Luma };
    let mut encoder = jpeg_encoder::Encoder::new(&mut *compressed, QUALITY);
    // As OpenCV for any quality: half the work.
    encoder.set_sampling_factor(jpeg_encoder::SamplingFactor::R_4_2_0);
    // World files only permit sizes that JPEG supports.
    if let Err(error) = encoder.encode(pixels, figures.width as u16, figures.height as u16, colors) {
        tracing::warn!(%error, "encoding a JPEG picture failed");
    }
}

/// Compresses depths in millimetres as PNG with 16 bits. `bytes` is reused memory.
pub(super) fn png(image: &DepthImage, bytes: &mut Vec<u8>, compressed: &mut Vec<u8>) {
    bytes.clear();
    // PNG has the high byte first.
    bytes.extend(image.depths().iter().flat_map(|depth| in_millimetres(*depth).to_be_bytes()));
    compressed.clear();
    let mut encoder = png::Encoder::new(&mut *compressed, image.width() as u32, image.height() as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Sixteen);
    encoder.set_compression(png::Compression::Fastest);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(bytes)?;
        writer.finish()
    });
    if let Err(error) = written {
        tracing::warn!(%error, "encoding a PNG picture failed");
    }
}

/// The matrices of a camera without distortion.
pub(super) fn camera_info(figures: &CameraFigures, frame: &str) -> CameraInfo {
    let ([fx, fy], [cx, cy]) = (figures.focal_lengths(), figures.principal_point());
    CameraInfo {
        header: Header { frame_id: frame.to_owned(), ..Default::default() },
        height: figures.height as u32,
        width: figures.width as u32,
        distortion_model: "plumb_bob".to_owned(),
        d: vec![0.0; 5],
        k: vec![fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0],
        r: vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p: vec![fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TurtleBot thesis, 5.3: near is bright; the threshold of 120 is 2.57 m.
    #[test]
    fn grey_values_are_bright_where_it_is_near() {
        let grey = |depth| CameraFigures::KINECT.grey(depth);
        assert_eq!([0.4, 0.2, 4.5, 9.0, f32::NAN].map(grey), [255, 255, 0, 0, 0]);
        assert_eq!([2.57, 2.58, 2.55].map(grey), [120, 119, 121]);
    }
}
