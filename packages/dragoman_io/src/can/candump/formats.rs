//! One line, in any format that can-utils write: that of logs, and that of the screen with all options of `candump`.
//!
//! ```text
//! (1600000000.123456) can0 181#0102 R                    candump -l, -L (-x adds R or T)
//!  (1600000000.123456)  can0  RX - -  181   [2]  01 02   '..'   candump -t a -x -a; log2long
//! can0  181   [2]  01 02                                 candump
//! <0x181> [2] 01 02                                      canutils, before can-utils
//! ```

use std::borrow::Cow;
use std::time::Duration;

use chrono::NaiveDateTime;

use super::Content;
use crate::can::error_frame::{self, ERROR_FLAG};
use crate::can::frame::Frame;

/// The content of one line.
pub(super) struct Line {
    /// `candump` writes none without `-t`.
    pub(super) time: Option<Duration>,
    pub(super) interface: Option<String>,
    pub(super) content: Content,
}

pub(super) fn parse(text: &str) -> Option<Line> {
    let text = without_colours(text);
    let mut rest = text.trim_ascii();
    let mut time = stamp(&mut rest)?;
    let mut words = Vec::new();
    loop {
        if rest.starts_with(['[', '{']) && !words.is_empty() {
            let (interface, id) = head(&words)?;
            let content = parse_content(&compact(id, rest)?)?;
            return Some(Line { time, interface: interface.map(str::to_owned), content });
        }
        if time.is_none() && words.len() == 1 {
            time = stamp(&mut rest)?;
        }
        match word(&mut rest) {
            Some(next) if words.len() < 5 => words.push(next),
            Some(_) => return None,
            None => break,
        }
    }
    let ([interface, content] | [interface, content, "R" | "T"]) = words[..] else { return None };
    Some(Line { time: Some(time?), interface: Some(interface.to_owned()), content: parse_content(content)? })
}

/// Without the escape sequences of `candump -c`: `ESC [ ... m`.
fn without_colours(text: &str) -> Cow<'_, str> {
    if !text.contains('\x1b') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('\x1b');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once('m').map_or(part, |(_, after)| after));
    }
    Cow::Owned(plain)
}

/// Removes the next word from the beginning.
fn word<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let end = rest.find(|next: char| next.is_ascii_whitespace()).unwrap_or(rest.len());
    let (next, after) = rest.split_at_checked(end)?;
    *rest = after.trim_ascii_start();
    (!next.is_empty()).then_some(next)
}

/// Removes a time in brackets from the beginning. `Some(None)`: there are no brackets. `None`: they hold no time.
#[allow(clippy::option_option, reason = "a wrong time is not a missing one")]
fn stamp(rest: &mut &str) -> Option<Option<Duration>> {
    let Some(text) = rest.strip_prefix('(') else { return Some(None) };
    let (text, after) = text.split_once(')')?;
    *rest = after.trim_ascii_start();
    seconds(text).or_else(|| date(text)).map(Some)
}

/// Seconds with up to nine decimals.
fn seconds(text: &str) -> Option<Duration> {
    let (seconds, fraction) = text.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(seconds) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let nanoseconds = format!("{fraction:0<9}").parse().ok()?;
    Some(Duration::new(seconds.parse().ok()?, nanoseconds))
}

/// Date and time of `candump -t A`, which names no time zone: taken as UTC.
fn date(text: &str) -> Option<Duration> {
    let date = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").ok()?.and_utc();
    Some(Duration::new(date.timestamp().try_into().ok()?, date.timestamp_subsec_nanos()))
}

/// What stands before the length: the interface, the direction (`RX` or `TX` and two flags), the identifier.
fn head<'a>(words: &[&'a str]) -> Option<(Option<&'a str>, &'a str)> {
    match *words {
        [id] => Some((None, id)),
        [interface, id] => Some((Some(interface), id)),
        [interface, "RX" | "TX", id] => Some((Some(interface), id)),
        [interface, "RX" | "TX", first, second, id] if first.len() == 1 && second.len() == 1 => {
            Some((Some(interface), id))
        }
        _ => None,
    }
}

/// The frame of a line of the screen in the format of logs; `rest` begins with the length.
fn compact(id: &str, mut rest: &str) -> Option<String> {
    let id = match id.strip_prefix("<0x") {
        Some(old) => {
            let raw = u32::from_str_radix(old.strip_suffix('>')?, 16).ok()?;
            if raw <= 0x7ff { format!("{raw:03X}") } else { format!("{raw:08X}") }
        }
        None => id.to_owned(),
    };
    let length = word(&mut rest)?;
    // The raw code of `candump -8`, which may be above eight.
    if let Some(code) = length.strip_prefix('{') {
        let length = u32::from_str_radix(code.strip_suffix('}')?, 16).ok()?.min(8);
        return Some(format!("{id}#{}", data(length as usize, rest)?));
    }
    let length = length.strip_prefix('[')?.strip_suffix(']')?;
    let count: usize = length.parse().ok()?;
    match length.len() {
        1 if rest.starts_with("remote request") => Some(format!("{id}#R{count}")),
        1 => Some(format!("{id}#{}", data(count, rest)?)),
        // CAN FD. Its flags are not shown.
        2 if count <= 64 => Some(format!("{id}##0{}", data(count, rest)?)),
        // CAN XL. What follows has a header of its own.
        4 => Some(format!("{id}##0")),
        _ => None,
    }
}

/// `count` bytes in hexadecimal digits, one after another. After them may follow the same bytes as text, or a
/// description.
fn data(count: usize, mut rest: &str) -> Option<String> {
    let mut bytes = Vec::new();
    while bytes.len() < count {
        let next = word(&mut rest)?;
        // `candump -S` shows the last byte first, and marks that.
        if next.contains('`') {
            bytes.extend(next.split('`').rev().map(byte).collect::<Option<Vec<_>>>()?);
        } else {
            bytes.push(byte(next)?);
        }
    }
    let ends = rest.is_empty() || rest.starts_with(['\'', '`']) || rest == "ERRORFRAME";
    (bytes.len() == count && ends).then(|| bytes.iter().map(|byte| format!("{byte:02X}")).collect())
}

/// Two hexadecimal digits, or eight binary ones (`candump -i`).
fn byte(text: &str) -> Option<u8> {
    match text.len() {
        2 => u8::from_str_radix(text, 16).ok(),
        8 => u8::from_str_radix(text, 2).ok(),
        _ => None,
    }
}

/// What follows the interface in a log.
fn parse_content(text: &str) -> Option<Content> {
    let (id, data) = text.split_once('#')?;
    let raw = u32::from_str_radix(id, 16).ok()?;
    let is_hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_classic = matches!(id.len(), 3 | 8);
    // CAN FD: flags, data.
    if let Some(fd) = data.strip_prefix('#') {
        return (is_classic && fd.len() % 2 == 1 && is_hexadecimal(fd)).then_some(Content::NotClassic);
    }
    // CAN XL: network and priority, flags and kind of service, address, data.
    if let Some((header, xl)) = data.split_once('#') {
        let is_xl = id.len() == 5 && header.len() == 14 && header.split(':').count() == 3;
        return (is_xl && is_hexadecimal(xl)).then_some(Content::NotClassic);
    }
    if id.len() == 8 && raw & ERROR_FLAG != 0 {
        // The data alone, parsed like a frame's; the identifier is too wide for one.
        let frame: Frame = format!("000#{data}").parse().ok()?;
        let mut bytes = [0; 8];
        bytes.get_mut(..frame.data().len())?.copy_from_slice(frame.data());
        return Some(Content::Faults(error_frame::faults(raw, bytes)));
    }
    // A raw code above eight means eight bytes, too.
    let text = match text.rsplit_once('_') {
        Some((text, "9" | "A" | "B" | "C" | "D" | "E" | "F")) => text,
        _ => text,
    };
    text.parse().ok().map(Content::Frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str) -> Content {
        parse(text).unwrap_or_else(|| panic!("{text}")).content
    }

    fn frame(text: &str) -> Content {
        Content::Frame(text.parse().unwrap())
    }

    /// As candump and log2long of can-utils 2023.03 write them, and candump of canutils 4.0.
    #[test]
    fn every_format_is_read() {
        for (text, expected) in [
            ("  can0  181   [2]  01 02", "181#0102"),
            (" (1600000000.000100)  can0  080   [0] ", "080#"),
            ("(1600000000.001100)  can0       181   [2]  01 02                     '..'", "181#0102"),
            (
                "(1600000000.010100)  vcan10       123   [8]  41 42 27 20 20 20 20 27   'AB'    ''",
                "123#4142272020202027",
            ),
            (" (2020-09-13 12:26:40.001100)  can0  00000181   [1]  FF", "00000181#FF"),
            ("  can0  RX - -  181   [2]  01 02", "181#0102"),
            ("  can0  TX B E  181   [2]  01 02   '..'", "181#0102"),
            ("  can0  RX  181   [2]  01 02", "181#0102"),
            ("  can0  181   [4]  remote request", "181#R4"),
            ("  can0  181   [2]  00000001 10000010", "181#0182"),
            ("  can0  181   [3]  03`02`01   `...`", "181#010203"),
            ("  can0  181   {F}  01 02 03 04 05 06 07 08", "181#0102030405060708"),
            ("\x1b[31m (000.000000)  can0\x1b[0m  181   [2]  01 02\x1b[0m", "181#0102"),
            ("181   [2]  01 02", "181#0102"),
            ("can0 (1.5) 181 [2] 01 02", "181#0102"),
            ("<0x181> [2] 01 02", "181#0102"),
            ("<0x00012345> [0]", "00012345#"),
            ("(1.5) can0 181#0102030405060708_F T", "181#0102030405060708"),
        ] {
            assert_eq!(content(text), frame(expected), "{text}");
        }
        for text in [
            "(1600000000.002000)  can0       123  [04]  DE AD BE EF               '....'",
            "  can0  123  [12]  01 02 03 04 05 06 07 08 09 0A 0B 0C",
            "  can0  123 [0003] (00|01:00:00000000) 01 02 03",
            "(1.5) can0 00123#80:00:00000000#010203",
            "(1.5) can0 123##1112233",
        ] {
            assert_eq!(content(text), Content::NotClassic, "{text}");
        }
        assert_eq!(
            content("(1600000000.001100)  can0  20000040   [8]  00 00 00 00 00 00 00 00   ERRORFRAME"),
            Content::Faults(vec![crate::can::BusFault::BusOff])
        );
    }

    #[test]
    fn interface_and_time_are_read_where_there_are_any() {
        let parts = |text: &str| {
            let line = parse(text).unwrap();
            (line.time, line.interface)
        };
        let can0 = Some("can0".to_owned());
        assert_eq!(parts("  can0  181   [0]"), (None, can0.clone()));
        assert_eq!(parts("181   [0]"), (None, None));
        assert_eq!(parts("(012.5) can0  181   [0]"), (Some(Duration::from_millis(12_500)), can0.clone()));
        assert_eq!(parts("can0 (012.5)  181   [0]"), (Some(Duration::from_millis(12_500)), can0.clone()));
        let date = Duration::new(1_600_000_000, 1_100_000);
        assert_eq!(parts("(2020-09-13 12:26:40.001100)  can0  181   [0]"), (Some(date), can0));
    }

    #[test]
    fn other_formats_are_refused() {
        for text in [
            "",
            "can0  181",
            "can0  181   [2]  01",
            "can0  181   [2]  01 02 03",
            "can0  181   [2]  01 0x",
            "can0  181   [2]  03`02`01",
            "can0  181   [9]  01 02 03 04 05 06 07 08 09",
            "can0  181   [65]",
            "can0  181   [02",
            "can0  1812   [1]  01",
            "can0  XX - -  181   [1]  01",
            "can0 can1  181   [1]  01",
            "(1.5 can0  181   [0]",
            "(yesterday)  can0  181   [0]",
            "<0x181 [0]",
            "<0xFFFFFFFFF> [0]",
            "[2] 01 02",
            "(1.5) can0 181#01_8",
            "(1.5) can0 00123#80:00#01",
            "DROPCOUNT: dropped 3 CAN frames on 'can0' socket (total drops 3)",
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
