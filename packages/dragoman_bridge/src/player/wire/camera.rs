//! `camera`: images.

use super::table::interface;
use super::xdr::{Bytes, codes, structures};

interface! {
    /// A camera.
    40 "camera"
    data {
        IMAGE 1: Image, "an image";
    }
    requests {
        GET_SOURCE 1: () => Source, "the input in use";
        SET_SOURCE 2: Source => (), "choose the input";
        GET_IMAGE 3: () => Image, "an image now";
    }
}

codes! {
    /// What a pixel consists of.
    pub enum Format: u32 {
        /// One byte: brightness.
        Mono8 = 1,
        /// Two bytes, big endian: brightness.
        Mono16 = 2,
        /// Two bytes: 5 bits red, 6 green, 5 blue.
        Rgb565 = 4,
        /// Three bytes: red, green, blue.
        Rgb888 = 5,
    }

    /// How the image's data is compressed.
    pub enum Compression: u32 {
        /// It is not: rows from the top, without padding.
        Raw = 0,
        /// As a JPEG file.
        Jpeg = 1,
    }
}

structures! {
    /// One picture of the camera, raw or compressed.
    pub struct Image {
        /// Pixels in a row.
        pub width: u32,
        /// Rows.
        pub height: u32,
        /// Bits of a pixel: 8, 16, 24 or 32.
        pub bits: u32,
        /// What a pixel consists of.
        pub format: Format,
        /// The value that a pixel is divided by; disparity images use it.
        pub divisor: u32,
        /// How `data` is compressed.
        pub compression: Compression,
        /// The pixels, or the compressed image.
        pub data: Bytes,
    }

    /// An input of a device with several.
    pub struct Source {
        /// Television standard: `NTSC`, `PAL`, `SECAM` or `UNKNOWN`.
        pub norm: String,
        /// Number of the input.
        pub source: i32,
    }
}
