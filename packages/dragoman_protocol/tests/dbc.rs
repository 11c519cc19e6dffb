//! DBC files: what is read of them, what is said about wrong ones, and that signals are decoded as their definition says.

use dragoman_protocol::codec::{Codec, Values};
use dragoman_protocol::dbc::{Dbc, Options, describe, field_name};
use dragoman_protocol::expression::Number;
use dragoman_protocol::model::{Protocol, Side};
use proptest::prelude::*;

const ASSORTED: &[u8] = include_bytes!("dbc/assorted.dbc");

fn imported(text: &[u8], machine: Option<&str>) -> Result<(String, Vec<String>), String> {
    let dbc = Dbc::read(text).map_err(|error| error.to_string())?;
    let options = Options { name: "bus", file: "bus.dbc", machine };
    let imported = describe(&dbc, options).map_err(|error| error.to_string())?;
    let notes = imported.notes.lines().map(String::from).collect();
    Ok((imported.text, notes))
}

fn codec(text: &str) -> Codec {
    Codec::new(Protocol::read(text).unwrap()).unwrap()
}

#[test]
fn a_file_becomes_a_description() {
    let (text, notes) = imported(ASSORTED, Some("Device")).unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/dbc/assorted.yaml");
    if std::env::var_os("DRAGOMAN_UPDATE_REFERENCE").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(path).unwrap(), "DRAGOMAN_UPDATE_REFERENCE=1 writes it");
    assert_eq!(notes, ["left out: NotOurs: neither from the machine nor for it"]);
}

#[test]
fn messages_go_to_the_machine_or_come_from_it() {
    let of = |machine| codec(&imported(ASSORTED, Some(machine)).unwrap().0);
    let side = |codec: &Codec, name: &str| {
        codec.protocol().messages.iter().find(|message| message.name == name).map(|message| message.from)
    };
    let [device, tester, other] = ["Device", "Tester", "Other"].map(of);
    assert_eq!([&device, &tester].map(|one| side(one, "orders")), [Some(Side::Client), Some(Side::Server)]);
    assert_eq!([&device, &tester].map(|one| side(one, "states")), [Some(Side::Server), Some(Side::Client)]);
    assert_eq!([&other, &tester].map(|one| side(one, "not_ours")), [Some(Side::Client), Some(Side::Server)]);
    // Without receivers it is for all.
    assert_eq!(side(&device, "empty"), Some(Side::Client));
    assert_eq!(side(&other, "states"), None);
    // Without senders there is no choice.
    let (text, _) =
        imported(b"BU_:\nBO_ 1 A: 1 Vector__XXX\n SG_ x : 0|8@1+ (1,0) [0|0] \"\" Vector__XXX\n", None)
            .unwrap();
    assert_eq!(side(&codec(&text), "a"), Some(Side::Server));
}

#[test]
fn the_machine_has_to_be_named() {
    let error = imported(ASSORTED, None).unwrap_err();
    assert_eq!(error, "which node is the machine? --machine NODE; the file has Device, Other, Tester");
    let error = imported(ASSORTED, Some("Divice")).unwrap_err();
    assert_eq!(error, "there is no node Divice; did you mean 'Device'?; the file has Device, Other, Tester");
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    let message = "BO_ 1 A: 8 N\n";
    let signal = |rest: &str| format!("{message} SG_ s {rest}");
    for (text, expected) in [
        ("protocol: a".to_owned(), "line 1: 'protocol' does not begin a statement of a DBC file"),
        ("\n\nBO 1 A: 8 N".to_owned(), "line 3: 'BO' does not begin a statement of a DBC file; did you mean"),
        ("VERSION \"a\nb".to_owned(), "line 1: a text has no \" at its end"),
        ("VERSION 1".to_owned(), "line 1: expected the version in quotes, not '1'"),
        ("BO_ x A: 8 N".to_owned(), "line 1: expected an identifier, a whole number, not 'x'"),
        (
            "BO_ 5000000000 A: 8 N".to_owned(),
            "line 1: expected an identifier, a whole number, not '5000000000'",
        ),
        (
            "BO_ 2048 A: 8 N".to_owned(),
            "line 1: A: the identifier 2048 has more than 11 bits; one of 29 bits is written with",
        ),
        ("BO_ 3758096384 A: 8 N".to_owned(), "line 1: A: the identifier 3758096384 has more than 29 bits"),
        ("BO_ 1 A 8 N".to_owned(), "line 1: expected ':', not '8'"),
        ("BO_ 1 A: 8".to_owned(), "line 1: the file ends in front of the sender"),
        (format!("{message}BO_ 1 B: 8 N"), "line 2: B: A in line 1 has the same identifier"),
        (format!("{message}BO_ 2 A: 8 N"), "line 2: A: A in line 1 has the same name"),
        ("SG_ s : 0|8@1+ (1,0) [0|0] \"\" N".to_owned(), "line 1: s: no message is in front of the signal"),
        (signal("M5 : 0|8@1+ (1,0) [0|0] \"\" N"), "line 2: expected M, or m with a number, not 'M5'"),
        (signal(": 0|8@2+ (1,0) [0|0] \"\" N"), "line 2: expected 0 or 1 for the order of bytes, not '2+'"),
        (signal(": 0|8@1 (1,0) [0|0] \"\" N"), "line 2: expected + or -, not '('"),
        (signal(": 0|8@1+ (1e999,0) [0|0] \"\" N"), "line 2: expected the factor, a number, not '1e999'"),
        (signal(": 0|8@1+ (0,0) [0|0] \"\" N"), "line 2: A: s: the factor is 0"),
        (
            signal(": 60|8@1+ (1,0) [0|0] \"\" N"),
            "line 2: A: s: its 8 bits from 60 are not in a frame of 8 bytes",
        ),
        (signal(": 0|65@1+ (1,0) [0|0] \"\" N"), "line 2: A: s: 65 bits; 1 to 64 are possible"),
        (
            signal(": 0|8@1+ (1,0) [0|0] \"\" N\n SG_ s : 8|8@1+ (1,0) [0|0] \"\" N"),
            "line 3: A: two signals are called s",
        ),
        (
            signal(": 0|8@1+ (1,0) [0|0] \"\" N\nVAL_ 1 s 0 \"a\"\nBO_ 2 B: 8 N"),
            "line 4: expected a whole number, or ; at the end, not 'BO_'",
        ),
        (
            signal(": 0|8@1+ (1,0) [0|0] \"\" N\nSIG_VALTYPE_ 1 s : 1;"),
            "line 3: s has 8 bits, not the 32 of a floating-point number",
        ),
        (
            signal("m0 : 0|8@1+ (1,0) [0|0] \"\" N\nSG_MUL_VAL_ 1 s t 3-1;"),
            "line 3: expected a range such as 1-3 in front, not ';'",
        ),
        ("BA_DEF_ BO_ \"a\" INT 0 1\nBO_ 1 A: 8 N".to_owned(), "line 1: the statement has no ; at its end"),
        ("CM_ BO_ 1 \"a\nb\" x".to_owned(), "line 2: expected ';', not 'x'"),
        ("BU_: \u{1b}[31m N".to_owned(), "line 1: expected a node, not '['"),
        (String::new(), "the file has no messages of the machine"),
    ] {
        let machine = text.contains(" N").then_some("N");
        let found = imported(text.as_bytes(), machine).unwrap_err();
        assert!(found.starts_with(expected), "{text}: {found}");
        assert!(!found.contains('\u{1b}'), "{found}");
    }
}

#[test]
fn what_a_description_cannot_say_is_named() {
    let text = b"BU_: N X\n\
        BO_ 1 Long: 12 N\n SG_ s : 0|8@1+ (1,0) [0|0] \"\" X\n\
        BO_ 2 A: 8 N\n\
        \x20SG_ f : 4|32@1- (1,0) [0|0] \"\" X\n\
        \x20SG_ a : 40|8@1+ (1,0) [0|0] \"\" X\n\
        \x20SG_ b : 44|8@1+ (1,0) [0|0] \"\" X\n\
        \x20SG_ m m1 : 56|8@1+ (1,0) [0|0] \"\" X\n\
        BO_ 3 B: 8 N\n\
        \x20SG_ x M : 0|8@1+ (1,0) [0|0] \"\" X\n\
        \x20SG_ y M : 8|8@1+ (1,0) [0|0] \"\" X\n\
        \x20SG_ z m0 : 16|8@1+ (1,0) [0|0] \"\" X\n\
        BO_ 4 C: 8 N\n\
        \x20SG_ x M : 0|1@1+ (1,0) [0|0] \"\" X\n\
        \x20SG_ y m2 : 8|8@1+ (1,0) [0|0] \"\" X\n\
        SIG_VALTYPE_ 2 f : 1;\nCM_ SG_ 2 nobody \"a\";\nVAL_ 9 s 0 \"a\" ;\n";
    let (text, notes) = imported(text, Some("N")).unwrap();
    assert_eq!(
        notes,
        [
            "line 17: left out: the comment of nobody in message 2, which is not there",
            "line 18: left out: the names of values of s in message 9, which is not there",
            "line 2: left out: Long: its 12 bytes need CAN FD or several frames",
            "line 5: left out: A: f: a floating-point number that does not begin with a byte",
            "line 8: left out: A: m: the message has no switch",
            "line 7: left out: A: b: a has some of its bits",
            "line 12: left out: B: z: the message has several switches, and the file does not say which one is meant",
            "line 15: left out: C: y: its switch x is never 2: its maximum is 1",
        ]
    );
    assert!(Protocol::read(&text).is_ok());
}

#[test]
fn older_files_and_tables_of_values_are_read() {
    let text = b"VERSION \"\"\r\nNS_ :\r\n\r\nBS_: 250000 : 0,0\r\nBU_: N\r\n// a comment\r\n\
        VAL_TABLE_ OnOff 1 \"an\" 0 \"aus\" ;\r\n\
        BO_ 1 A: 1 N\r\n SG_ Max : 0|8@1 + (1,0) [0|0] \"\xb0C\" N Vector__XXX\r\nVAL_ 1 Max OnOff ;\r\n";
    let (text, notes) = imported(text, Some("N")).unwrap();
    assert!(notes.is_empty(), "{notes:?}");
    for part in ["can: 250000", "name: max_value", "\u{b0}C", "aus: 0"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// A signal as a file has it.
#[derive(Debug, Clone)]
struct Made {
    start: usize,
    length: usize,
    is_big_endian: bool,
    is_signed: bool,
    factor: f64,
    offset: f64,
    /// Low and high number of the switch.
    switched: Option<[u64; 2]>,
}

impl Made {
    /// The bits in the frame, the lowest first: by the definition, one after the other.
    fn bits(&self) -> Vec<usize> {
        if !self.is_big_endian {
            return (self.start..self.start + self.length).collect();
        }
        let mut bits = Vec::new();
        let mut at = self.start;
        for _ in 0..self.length {
            bits.push(at);
            at = if at.is_multiple_of(8) { at + 15 } else { at - 1 };
        }
        bits.reverse();
        bits
    }

    fn raw(&self, frame: &[u8]) -> i128 {
        let bit = |at: usize| i128::from(frame[at / 8] >> (at % 8) & 1);
        let raw: i128 = self.bits().iter().enumerate().map(|(number, at)| bit(*at) << number).sum();
        if self.is_signed && raw >> (self.length - 1) == 1 { raw - (1 << self.length) } else { raw }
    }

    fn is_there(&self, switch: Option<i128>) -> bool {
        self.switched.is_none_or(|[low, high]| {
            switch.is_some_and(|number| (i128::from(low)..=i128::from(high)).contains(&number))
        })
    }

    fn excludes(&self, other: &Self) -> bool {
        self.switched
            .zip(other.switched)
            .is_some_and(|([low, high], [other_low, other_high])| high < other_low || other_high < low)
    }
}

prop_compose! {
    fn made()(
        start in 0_usize..64,
        length in prop_oneof![1_usize..16, Just(8), Just(16), Just(32), 1_usize..=64],
        is_big_endian: bool,
        is_signed: bool,
        factor in prop::sample::select(vec![1.0, 0.1, -0.25, 1e-7, 3.0]),
        offset in prop::sample::select(vec![0.0, 0.0, -40.0, 0.5]),
        low in 0_u64..4,
        more in 0_u64..2,
        is_switched: bool,
    ) -> Made {
        let switched = is_switched.then_some([low, low + more]);
        Made { start, length, is_big_endian, is_signed, factor, offset, switched }
    }
}

/// A file with one message of these signals; those that do not fit are left out. The first one may be the switch.
fn file(size: usize, all: &[Made], has_switch: bool) -> (String, Vec<Made>) {
    let mut kept: Vec<Made> = Vec::new();
    for one in all {
        let mut one = one.clone();
        if kept.is_empty() {
            one.switched = None;
            if has_switch {
                one.is_signed = false;
            }
        } else if !has_switch {
            one.switched = None;
        }
        // Of numbers that the switch never has nothing is described.
        let max = kept.first().map_or(0, |switch| (1_u64 << switch.length.min(63)) - 1);
        if one.switched.is_some_and(|[low, _]| low > max) {
            continue;
        }
        let bits = one.bits();
        let is_free =
            |other: &Made| one.excludes(other) || other.bits().iter().all(|bit| !bits.contains(bit));
        if bits.iter().all(|bit| *bit < 8 * size) && kept.iter().all(is_free) {
            kept.push(one);
        }
    }
    let mut text = format!("BU_: N X\nBO_ 2147483648 Frame: {size} N\n");
    for (number, one) in kept.iter().enumerate() {
        let mark = match one.switched {
            Some([low, _]) => format!("m{low}"),
            None if number == 0 && has_switch => "M".to_owned(),
            None => String::new(),
        };
        let (order, sign) = (u8::from(!one.is_big_endian), if one.is_signed { '-' } else { '+' });
        let Made { start, length, factor, offset, .. } = one;
        text += &format!(
            " SG_ s{number} {mark} : {start}|{length}@{order}{sign} ({factor},{offset}) [0|0] \"\" X\n"
        );
    }
    for (number, one) in kept.iter().enumerate() {
        if let Some([low, high]) = one.switched {
            text += &format!("SG_MUL_VAL_ 2147483648 s{number} s0 {low}-{high};\n");
        }
    }
    (text, kept)
}

proptest! {
    #[test]
    fn signals_are_those_of_their_definition(
        size in 1_usize..=8,
        all in prop::collection::vec(made(), 1..12),
        has_switch: bool,
        bytes: [u8; 8],
        number in 0_u8..5,
    ) {
        let (text, kept) = file(size, &all, has_switch);
        prop_assume!(!kept.is_empty());
        let (description, notes) = imported(text.as_bytes(), Some("N")).unwrap();
        prop_assert!(notes.is_empty(), "{notes:?}");
        let codec = codec(&description);
        let mut frame = bytes[..size].to_vec();
        if has_switch && kept[0].length >= 3 {
            // Numbers that switch something.
            for (place, bit) in kept[0].bits().into_iter().enumerate() {
                let value = if place < 3 { number >> place & 1 } else { 0 };
                frame[bit / 8] = frame[bit / 8] & !(1 << (bit % 8)) | value << (bit % 8);
            }
        }
        let mut values = Values::default();
        let message = codec.decode_frame(Some(0x8000_0000), &frame, Side::Server, None, &mut values).unwrap();
        let switch = has_switch.then(|| kept[0].raw(&frame));
        let mut covered = vec![0_u8; size];
        for (number, one) in kept.iter().enumerate() {
            let path = codec.path(message, &field_name(&format!("s{number}"))).unwrap();
            let found = codec.number_at(message, &values, &path);
            if !one.is_there(switch) {
                prop_assert_eq!(found, None, "s{} in {}", number, &description);
                continue;
            }
            one.bits().into_iter().for_each(|bit| covered[bit / 8] |= 1 << (bit % 8));
            let raw = one.raw(&frame);
            let is_scaled = one.factor != 1.0 || one.offset != 0.0;
            let expected = if is_scaled { Number::Real(raw as f64 * one.factor + one.offset) } else { Number::Whole(raw) };
            prop_assert_eq!(found, Some(expected), "s{} in {}", number, &description);
        }
        // What is encoded again has the same bits, if real numbers have them.
        if kept.iter().all(|one| one.length <= 48 || one.factor == 1.0 && one.offset == 0.0) {
            let mut again = Vec::new();
            codec.encode(message, &mut values, &mut again).unwrap();
            let unused = description.contains("name: unused");
            let expected: Vec<u8> = frame
                .iter()
                .zip(&covered)
                .enumerate()
                // The last byte is a field if no signal is always there.
                .map(|(at, (byte, mask))| if unused && at + 1 == size { *byte } else { byte & mask })
                .collect();
            prop_assert_eq!(again, expected, "{}", &description);
        }
    }

    /// Damaged files are refused or read, and never more than that.
    #[test]
    fn damaged_files_do_no_harm(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..4), 1..8),
        machine in prop::sample::select(vec![None, Some("Device"), Some("Tester")]),
    ) {
        let mut text = ASSORTED.to_vec();
        for (at, byte, how) in places {
            let at = at.index(text.len());
            match how {
                0 => text[at] = byte,
                1 => { text.remove(at); }
                2 => text.insert(at, b"0123456789 :|@()[],;\"\n-+Mm"[usize::from(byte) % 26]),
                _ => { let end = (at + usize::from(byte)).min(text.len()); text.drain(at..end); }
            }
        }
        if let Ok((description, _)) = imported(&text, machine) {
            codec(&description);
        }
    }
}
