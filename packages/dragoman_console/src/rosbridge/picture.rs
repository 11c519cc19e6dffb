//! Compression `png`: the bytes of a JSON text are the pixels of a picture, padded with line ends.

use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::quoted;

/// Maximum length of the text of a picture from a client, bytes.
const MAX_LENGTH: usize = 8 << 20;

/// The frame with `text` as a picture.
pub(super) fn wrap(text: &str) -> String {
    let data = STANDARD.encode(encode(text.as_bytes()).unwrap_or_default());
    format!(r#"{{"op":"png","data":{}}}"#, quoted(&data))
}

/// The text in the data of a frame.
pub(super) fn unwrap(data: &str) -> Result<String, String> {
    let file = STANDARD.decode(data).map_err(|error| format!("invalid base64: {error}"))?;
    let limits = png::Limits { bytes: MAX_LENGTH };
    let mut reader = png::Decoder::new_with_limits(Cursor::new(file), limits)
        .read_info()
        .map_err(|error| format!("invalid PNG: {error}"))?;
    let size = reader.output_buffer_size().filter(|size| *size <= MAX_LENGTH);
    let mut pixels = vec![0; size.ok_or_else(|| format!("a picture of more than {MAX_LENGTH} bytes"))?];
    let info = reader.next_frame(&mut pixels).map_err(|error| format!("invalid PNG: {error}"))?;
    if info.color_type != png::ColorType::Rgb || info.bit_depth != png::BitDepth::Eight {
        return Err("the picture is not RGB with 8 bits".to_owned());
    }
    pixels.truncate(info.buffer_size());
    let text = String::from_utf8(pixels).map_err(|error| format!("the picture's text: {error}"))?;
    Ok(text.trim_end_matches('\n').to_owned())
}

/// A nearly square RGB picture.
fn encode(text: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let pixels = text.len().div_ceil(3).max(1);
    let width = pixels.isqrt().max(1);
    let height = pixels.div_ceil(width);
    let mut padded = text.to_vec();
    padded.resize(width * height * 3, b'\n');
    let mut file = Vec::new();
    let side = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
    let mut encoder = png::Encoder::new(&mut file, side(width), side(height));
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&padded)?;
    writer.finish()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_unchanged_by_compression() {
        for text in ["{}", "{\"op\":\"publish\"}", &"äö".repeat(1000), &"x".repeat(100_001)] {
            let frame: serde_json::Value = serde_json::from_str(&wrap(text)).unwrap();
            assert_eq!(frame["op"], "png");
            assert_eq!(unwrap(frame["data"].as_str().unwrap()).unwrap(), text);
        }
    }

    #[test]
    fn data_that_is_not_a_picture_is_refused() {
        for data in ["", "!", "AAAA", "iVBORw0KGgo="] {
            assert!(unwrap(data).is_err(), "{data}");
        }
    }
}
