//! JSON and CBOR of clients, with a limit on the number of values: a short text such as `[[],[],...]` takes many times its
//! length in memory. And the length of names.

use serde::de::DeserializeOwned;
use serde_json::error::Error;

/// Maximum number of values of a frame. A picture of 640 x 480 pixels as an array of numbers has 921 600.
pub(crate) const MAX_VALUES: usize = 1_000_000;

/// Maximum length of a name of a client, bytes: the middleware allows 255 or less.
pub(crate) const MAX_NAME_LEN: usize = 1000;

/// Reason for a refused text of a client.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JsonError {
    #[error("more than {MAX_VALUES} values")]
    TooMany,
    #[error(transparent)]
    Invalid(#[from] Error),
}

/// Parses JSON with at most [`MAX_VALUES`] values.
pub(crate) fn json<T: DeserializeOwned>(text: &[u8]) -> Result<T, JsonError> {
    if max_values(text) > MAX_VALUES {
        return Err(JsonError::TooMany);
    }
    Ok(serde_json::from_slice(text)?)
}

/// The number of values in JSON, or somewhat more.
fn max_values(text: &[u8]) -> usize {
    let (mut count, mut is_string, mut is_escaped) = (1, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            b',' | b'[' | b'{' if !is_string => count += 1,
            _ => {}
        }
    }
    count
}

/// The number of data items in CBOR (RFC 8949, 3), with the elements of typed arrays; `size` has their size in bytes by
/// tag. Ends at the first byte that is not CBOR, where the decoder will as well.
pub(crate) fn cbor_items(mut bytes: &[u8], size: impl Fn(u64) -> Option<usize>) -> usize {
    let (mut count, mut element) = (0_usize, None);
    while let Some((first, rest)) = bytes.split_first() {
        let (major, low) = (first >> 5, first & 0x1f);
        let width = match low {
            24 => 1,
            25 => 2,
            26 => 4,
            27 => 8,
            _ => 0,
        };
        let Some((argument, rest)) = rest.split_at_checked(width) else { return count };
        let value = argument.iter().fold(0, |value: u64, byte| value << 8 | u64::from(*byte));
        let value = if width == 0 { u64::from(low) } else { value };
        bytes = rest;
        count += 1;
        match major {
            // Byte and text strings; those of indefinite length (31) are made of others.
            2 | 3 if low < 31 => {
                let length = usize::try_from(value).unwrap_or(usize::MAX);
                count = count.saturating_add(element.take().map_or(0, |size| length / size));
                let Some((_, rest)) = bytes.split_at_checked(length) else { return count };
                bytes = rest;
            }
            6 => element = size(value),
            _ => element = None,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn short_texts_with_many_values_are_refused() {
        let text = |count: usize| format!("[{}0]", "0,".repeat(count));
        assert!(json::<Value>(text(MAX_VALUES - 2).as_bytes()).is_ok());
        let refused = json::<Value>(text(MAX_VALUES).as_bytes()).unwrap_err();
        assert_eq!(refused.to_string(), "more than 1000000 values");
        let text = format!("[{}[]]", "[],".repeat(MAX_VALUES));
        assert!(matches!(json::<Value>(text.as_bytes()), Err(JsonError::TooMany)));
    }

    #[test]
    fn the_contents_of_strings_are_not_counted() {
        let text = format!("\"{}\\\"{}\"", ",".repeat(MAX_VALUES), "[".repeat(MAX_VALUES));
        assert!(json::<Value>(text.as_bytes()).is_ok());
        assert!(json::<Value>(b"{").is_err());
    }

    #[test]
    fn items_of_cbor_are_counted() {
        let size = |tag| (tag == 70).then_some(4);
        let cases: [(&[u8], usize); 6] = [
            (b"\x83\x01\x02\x19\x01\x00", 4),
            (b"\x9f\x01\x02\xff", 4),
            (b"\xa1\x61a\x43\x00\x00\x00", 3),
            (b"\xd8\x46\x48\x00\x00\x00\x00\x00\x00\x00\x00", 4),
            (b"\x7f\x61a\x61b\xff", 4),
            (b"\x5b\xff\xff\xff\xff\xff\xff\xff\xff", 1),
        ];
        for (bytes, items) in cases {
            assert_eq!(cbor_items(bytes, size), items, "{bytes:?}");
        }
    }
}
