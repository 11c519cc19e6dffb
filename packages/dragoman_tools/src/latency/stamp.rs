//! Time stamps of serialized messages.

use std::time::Duration;

/// Whether messages of a type begin with a header, by its definition.
pub(super) fn begins_with_header(definition: &str) -> bool {
    let fields = definition.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    // Constants are not fields.
    let first = fields
        .filter(|line| !line.is_empty() && !line.contains('='))
        .map(|line| line.split_whitespace().next());
    matches!(first.flatten().next(), Some("std_msgs/Header" | "std_msgs/msg/Header" | "Header"))
}

/// The stamp at the beginning of a message in CDR with its four bytes of encapsulation, since 1970; `None` if there are
/// too few bytes, or the stamp is zero.
pub(super) fn stamp(data: &[u8]) -> Option<Duration> {
    let ([_, encoding, _, _], body) = data.split_first_chunk()?;
    let (seconds, rest) = body.split_first_chunk()?;
    let nanoseconds = rest.first_chunk()?;
    let (seconds, nanoseconds) = if *encoding & 1 == 1 {
        (i32::from_le_bytes(*seconds), u32::from_le_bytes(*nanoseconds))
    } else {
        (i32::from_be_bytes(*seconds), u32::from_be_bytes(*nanoseconds))
    };
    let seconds = u64::try_from(seconds).ok().filter(|_| nanoseconds < 1_000_000_000)?;
    let stamp = Duration::new(seconds, nanoseconds);
    (!stamp.is_zero()).then_some(stamp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stamps_are_read_in_both_orders_of_bytes() {
        let little = [0, 1, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 9];
        let big = [0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 8];
        assert_eq!(stamp(&little), Some(Duration::new(7, 8)));
        assert_eq!(stamp(&big), Some(Duration::new(7, 8)));
        assert_eq!(stamp(&little[..11]), None);
        assert_eq!(stamp(&[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), None, "not set");
        assert_eq!(stamp(&[0, 1, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0]), None);
        assert_eq!(stamp(&[0, 1, 0, 0, 1, 0, 0, 0, 255, 255, 255, 255]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_stamp_or_none(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(stamp) = stamp(&bytes) {
                prop_assert!(bytes.len() >= 12 && stamp.as_secs() <= i32::MAX as u64);
            }
        }
    }

    #[test]
    fn definitions_show_whether_a_message_begins_with_a_header() {
        for (definition, begins) in [
            ("# A scan.\n\nstd_msgs/Header header # stamp\nfloat32 a", true),
            ("uint8 ON=1\nstd_msgs/Header header\n", true),
            ("float64 data\nstd_msgs/Header header", false),
            ("", false),
        ] {
            assert_eq!(begins_with_header(definition), begins, "{definition}");
        }
        let known = dragoman_ros::raw::definition("nav_msgs/msg/Odometry").unwrap();
        assert!(begins_with_header(&known));
    }
}
