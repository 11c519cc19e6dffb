//! C and Python of descriptions: they are compiled or run where there is a compiler or Python, and decode and encode random
//! messages as the codec does.

#[path = "generated/c.rs"]
mod c;
#[path = "generated/random.rs"]
mod random;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dragoman_protocol::Protocol;
use dragoman_protocol::codec::{Codec, MessageId, Values};
use dragoman_protocol::cut::{Cutter, Envelope};
use dragoman_protocol::generate::{c::header, python::python};
use dragoman_protocol::model::{Code, Side};

use random::{Random, Shown};

/// What no other description has: marks, lists of all kinds, conditions, bits, numbers of all sizes, strict names.
const ASSORTED: &str = include_str!("generated/assorted.yaml");
/// A datagram whose end may be missing.
const DATAGRAM: &str = include_str!("generated/datagram.yaml");
/// Frames whose size their code determines.
const VACUUM: &str = include_str!("generated/vacuum.yaml");

/// The first block of the page in a language.
fn block(language: &str) -> &'static str {
    let page = include_str!("../../../docs/own-protocol.md");
    let (_, block) = page.split_once(&format!("```{language}\n")).unwrap();
    block.split_once("```").unwrap().0
}

fn machines() -> Vec<Codec> {
    // A check sum that leaves out the address.
    let partial = ASSORTED.replacen("algorithm: xor", "algorithm: xor, over: { from: kind }", 1).replacen(
        "protocol: assorted",
        "protocol: partial",
        1,
    );
    let all = [
        block("yaml"),
        VACUUM,
        include_str!("../machines/modbus_gripper.yaml"),
        include_str!("../machines/motor_can.yaml"),
        ASSORTED,
        &partial,
        DATAGRAM,
    ];
    all.map(|text| Codec::new(Protocol::read(text).unwrap()).unwrap()).into()
}

/// Those of Python, which also has escapes.
fn machines_in_python() -> Vec<Codec> {
    let marks = "start: \"<<\", end: \">>\"";
    assert!(ASSORTED.contains(marks));
    let escapes = [
        "end: [0xC0], escape: slip",
        "start: [0xC0], end: [0xC0], escape: slip",
        "end: [0], escape: cobs",
        "start: [0], end: [0], escape: cobs",
        "start: ':', end: \"\\r\\n\", escape: hex",
        "end: \"\\r\\n\", escape: hex",
        "start: [0x10, 2], end: [0x10, 3], escape: double",
        "end: [0x10, 3], escape: double",
        "start: [0x7E], end: [0x7E], escape: { mark: 0x7D, xor: 0x20, of: [0x7D, 0x7E] }",
        "start: [2], end: [3], escape: { mark: 0x10, xor: 0x80, of: [2, 3, 0x10, 0x11] }",
        "end: [3], escape: { mark: 0x10, xor: 0x80, of: [3, 0x10] }",
    ];
    let escaped = escapes.iter().enumerate().map(|(number, escape)| {
        let name = format!("protocol: escaped_{number}");
        ASSORTED.replacen(marks, escape, 1).replacen("protocol: assorted", &name, 1)
    });
    let ascii = include_str!("../other_machines/modbus_ascii.yaml").to_owned();
    let read = |text: String| Codec::new(Protocol::read(&text).unwrap()).unwrap();
    machines().into_iter().chain(escaped.chain([ascii]).map(read)).collect()
}

/// A frame that is given to a program.
struct Trial {
    message: MessageId,
    name: String,
    /// Frame of the question.
    asked: Option<Vec<u8>>,
    frame: Vec<u8>,
    expected: Expected,
}

/// What the codec makes of a frame.
enum Expected {
    Refused,
    Values(Shown),
    /// A message: a damaged one, whose gaps between fields are not kept.
    Anything,
}

impl Trial {
    fn line(&self, codec: &Codec) -> String {
        let hexadecimal = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let asked = self.asked.as_ref().map_or("-".to_owned(), |asked| hexadecimal(asked) + ".");
        let message = &codec.protocol().messages[self.message.number];
        let client = message.from == Side::Client && !self.message.is_answer;
        let id = if let Code::Number(id) = message.code { id } else { 0 };
        format!("{} {} {asked} {}. {id}\n", self.name, u8::from(client), hexadecimal(&self.frame))
    }
}

/// A frame with its marks. `None`: it would be cut at another place.
fn marked(codec: &Codec, content: &[u8]) -> Option<Vec<u8>> {
    let mut frame = Vec::new();
    let envelope = Envelope::new(&codec.protocol().frame.cut).unwrap();
    envelope.wrap(content, &mut frame).ok().map(|()| frame)
}

/// Random messages, and frames in which something is wrong.
fn trials(codec: &Codec) -> Vec<Trial> {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut trials = Vec::new();
    for (number, message) in codec.protocol().messages.iter().enumerate() {
        for is_answer in [false, true] {
            if !is_answer || message.answer.is_some() {
                let id = MessageId { number, is_answer };
                trials.extend((0..60).filter_map(|round| trial(codec, id, round % 3 == 2, &mut random)));
            }
        }
    }
    assert!(trials.len() > 50, "{}", trials.len());
    trials
}

fn trial(codec: &Codec, id: MessageId, is_damaged: bool, random: &mut Random) -> Option<Trial> {
    let protocol = codec.protocol();
    let message = &protocol.messages[id.number];
    let (asked, question, mut frame, shown) = random.message(codec, id)?;
    let mut expected = Expected::Values(shown);
    if is_damaged && !frame.is_empty() {
        random.damage(&mut frame);
        let side = if id.is_answer { Side::Server } else { message.from };
        let identifier = match message.code {
            Code::Number(code) if protocol.frame.cut.can => Some(code),
            _ => None,
        };
        let question = question.as_ref().map(|values| (MessageId { is_answer: false, ..id }, values));
        expected = match codec.decode_frame(identifier, &frame, side, question, &mut Values::default()) {
            Ok(found) if found == id => Expected::Anything,
            // What happens to be another message is not tried.
            Ok(_) => return None,
            Err(_) => Expected::Refused,
        };
    }
    let name = if id.is_answer { format!("{}_answer", message.name) } else { message.name.clone() };
    let asked = match asked {
        None => None,
        Some(asked) => Some(marked(codec, &asked)?),
    };
    Some(Trial { message: id, name, asked, frame: marked(codec, &frame)?, expected })
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn is_there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_err() {
        println!("skipped: {program} is not installed");
    }
    found.is_ok()
}

/// What a program prints for this input.
fn run(program: &mut Command, input: String) -> String {
    let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{program:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Gives all frames to a program, and compares its values and the frames that it makes of them.
fn compare(codec: &Codec, trials: &[Trial], program: &mut Command) {
    let input: String = trials.iter().map(|trial| trial.line(codec)).collect();
    let output = run(program, input);
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), trials.len());
    for (line, trial) in lines.iter().zip(trials) {
        let context = || format!("{} {}\n{line}", codec.protocol().name, trial.line(codec));
        let expected = match &trial.expected {
            Expected::Values(expected) => expected,
            Expected::Refused => {
                assert_eq!(*line, "refused", "{}", context());
                continue;
            }
            Expected::Anything => {
                assert_ne!(*line, "refused", "{}", context());
                continue;
            }
        };
        let (values, frame) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{}", context()));
        let hexadecimal: String = trial.frame.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(frame, hexadecimal, "{}", context());
        let found: BTreeMap<&str, &str> = values.split(' ').filter_map(|one| one.split_once('=')).collect();
        for (path, value, is_count) in &expected.0 {
            match found.get(path.as_str()) {
                Some(found) => assert_eq!(found, value, "{path}: {}", context()),
                None => assert!(is_count, "no {path}: {}", context()),
            }
        }
        for (path, value) in found {
            if !expected.0.iter().any(|(other, ..)| other == path) {
                let is_empty = value == "None" || value.chars().all(|letter| letter == '0');
                assert!(is_empty, "{path}: {}", context());
            }
        }
    }
}

#[test]
fn python_decodes_and_encodes_as_the_codec() {
    if !is_there("python3") {
        return;
    }
    let folder = folder("generated_python");
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated/driver.py");
    for codec in machines_in_python() {
        let file = folder.join(format!("{}.py", codec.protocol().name));
        std::fs::write(&file, python(&codec).unwrap()).unwrap();
        let mut command = Command::new("python3");
        command.arg("-B").arg(&driver).arg(&file);
        compare(&codec, &trials(&codec), &mut command);
    }
}

/// Frames with other bytes between them, and frames of which bytes are missing, in parts.
fn stream(codec: &Codec, from: Side) -> Vec<Vec<u8>> {
    let mut random = Random(0x9876_5432_1234_5678);
    let mut bytes = Vec::new();
    for round in 0..200 {
        let messages = &codec.protocol().messages;
        let number = usize::try_from(random.below(messages.len() as u64)).unwrap();
        let id =
            MessageId { number, is_answer: from == Side::Server && messages[number].from == Side::Client };
        let Some((_, _, frame, _)) = random.message(codec, id) else { continue };
        let Some(mut frame) = marked(codec, &frame) else { continue };
        match round % 4 {
            0 => frame.extend((0..random.below(5)).map(|_| u8::try_from(random.below(256)).unwrap())),
            1 if !frame.is_empty() => random.damage(&mut frame),
            _ => {}
        }
        bytes.extend(frame);
    }
    let mut parts = Vec::new();
    while !bytes.is_empty() {
        let rest = bytes.split_off(usize::try_from(1 + random.below(40)).unwrap().min(bytes.len()));
        parts.push(std::mem::replace(&mut bytes, rest));
    }
    parts
}

#[test]
fn python_cuts_a_stream_as_the_cutter() {
    if !is_there("python3") {
        return;
    }
    let folder = folder("generated_readers");
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated/driver.py");
    for (codec, side) in
        machines_in_python().iter().flat_map(|one| [(one, Side::Client), (one, Side::Server)])
    {
        let hexadecimal =
            |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
        let mut cutter = Cutter::new(codec.protocol()).unwrap();
        let (mut input, mut expected) = (String::new(), String::new());
        for part in stream(codec, side) {
            input += &hexadecimal(&part);
            cutter.push(&part);
            while let Some(frame) =
                cutter.next_frame_by(|rest| codec.measure(rest, side, &mut Values::default()))
            {
                expected += &hexadecimal(&marked(codec, frame).unwrap());
            }
        }
        let name = &codec.protocol().name;
        assert!(expected.lines().count() > 10, "{name}: {}", expected.lines().count());
        let file = folder.join(format!("{name}.py"));
        std::fs::write(&file, python(codec).unwrap()).unwrap();
        let side = if side == Side::Client { "client" } else { "server" };
        let mut command = Command::new("python3");
        command.arg("-B").arg(&driver).arg(&file).arg(side);
        let output = run(&mut command, input);
        let expected = format!("{expected}{}\n", cutter.left_out());
        assert_eq!(output, expected, "{name}, from the {side}");
    }
}

#[test]
fn c_decodes_and_encodes_as_the_codec() {
    if !is_there("cc") {
        return;
    }
    let folder = folder("generated_c");
    for codec in machines() {
        let name = &codec.protocol().name;
        std::fs::write(folder.join(format!("{name}.h")), header(&codec).unwrap()).unwrap();
        let source = folder.join(format!("{name}.c"));
        std::fs::write(&source, c::program(codec.protocol())).unwrap();
        let program = folder.join(name);
        let mut compiler = Command::new("cc");
        compiler.args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-o"]);
        let status = compiler.arg(&program).arg(&source).status().unwrap();
        assert!(status.success(), "{name}.c");
        compare(&codec, &trials(&codec), &mut Command::new(&program));
    }
}

fn rover() -> Codec {
    Codec::new(Protocol::read(block("yaml")).unwrap()).unwrap()
}

#[test]
fn the_page_s_c_is_compiled() {
    if !is_there("cc") {
        return;
    }
    let folder = folder("generated_page");
    std::fs::write(folder.join("rover.h"), header(&rover()).unwrap()).unwrap();
    std::fs::write(folder.join("page.c"), block("c")).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-c", "page.c", "-o", "page.o"]);
    assert!(compiler.current_dir(folder).status().unwrap().success());
}

#[test]
fn the_page_s_python_runs() {
    if !is_there("python3") {
        return;
    }
    let folder = folder("generated_page");
    std::fs::write(folder.join("rover.py"), python(&rover()).unwrap()).unwrap();
    std::fs::write(folder.join("page.py"), block("python")).unwrap();
    let output = run(Command::new("python3").arg("-B").arg(folder.join("page.py")), String::new());
    let (_, expected) = block("python").rsplit_once("  # ").unwrap();
    assert_eq!(output, expected);
}

#[test]
fn what_cannot_be_expressed_is_refused_with_its_field() {
    let read = |text: &str| Codec::new(Protocol::read(text).unwrap()).unwrap();
    let page = include_str!("../../../docs/own-protocol.md");
    let mast = page.split("```yaml\n").nth(2).unwrap().split_once("```").unwrap().0;
    for (text, expected) in [
        (
            include_str!("../machines/cola_a.yaml"),
            "cola_a: values that are written as text are not generated",
        ),
        (&mast.replace(", escape: slip", ""), "mast: wind: speed: a value that is computed is not generated"),
        (
            &include_str!("../machines/create2.yaml").replace(", pad: \" \"", ""),
            "create2: sensors: bare answers and further codes are not generated",
        ),
        (
            &ASSORTED.replace("algorithm: xor", "algorithm: xor, over: { to: kind }"),
            "assorted: frame: sum: a check sum that does not end in front of itself, or does not begin with a field of the frame at a fixed place, is not generated",
        ),
        (
            &ASSORTED
                .replace("algorithm: xor", "algorithm: xor, over: { from: kind }")
                .replace("type: \"text[1]\", is: code", "type: \"text[1]\", at: 4, is: code"),
            "assorted: frame: sum: a check sum that does not end in front of itself, or does not begin with a field of the frame at a fixed place, is not generated",
        ),
        (
            &ASSORTED.replace("\"text[4]\"", "\"text[4]\", encoding: latin1"),
            "assorted: lists: name: texts with an encoding or another padding than zeros are not generated",
        ),
        (
            &ASSORTED.replace("when: { low: 2 }", "when: \"=low > 2\""),
            "assorted: bits: answer: low: a condition that is an expression is not generated",
        ),
        (
            &ASSORTED.replace("type: u16, when: { low: 2 }", "type: \"text[3]\", base: 10"),
            "assorted: bits: answer: low: a number that is written as text is not generated",
        ),
    ] {
        let codec = read(text);
        assert_eq!(header(&codec).unwrap_err().to_string(), expected);
        assert_eq!(python(&codec).unwrap_err().to_string(), expected);
    }
    let slip = read(include_str!("../other_machines/modbus_ascii.yaml"));
    assert_eq!(header(&slip).unwrap_err().to_string(), "modbus_ascii: frame: escapes are not generated in C");
    let nested = ASSORTED.replace("\"u8[2]\", meaning: pair", "\"u8[u8]\", meaning: pair");
    assert_ne!(nested, ASSORTED);
    let nested = read(&nested);
    let expected = "assorted: type point: pair: a list within a list of structures is not generated in C";
    assert_eq!(header(&nested).unwrap_err().to_string(), expected);
    assert!(python(&nested).is_ok());
}

proptest::proptest! {
    /// Whatever a description that is read says, texts are made of it or it is refused.
    #[test]
    fn changed_descriptions_are_made_to_texts_or_refused(which in 0_usize..4, at in 0_usize..200, word in 0_usize..13) {
        let text = [ASSORTED, DATAGRAM, block("yaml"), VACUUM][which];
        let words = [
            "0", "-1", "u8[*]", "65535", "bytes[count]", "f64", "point", "flags[u16]", "true", "size", "text[65536]",
            "name, at: 3", "[0, 0]",
        ];
        // One of the values behind a colon is replaced.
        let places: Vec<usize> = text.match_indices(": ").map(|(at, _)| at + 2).collect();
        let begin = places[at % places.len()];
        let end = text[begin..].find([',', '}', '\n']).map_or(text.len(), |end| begin + end);
        let changed = format!("{}{}{}", &text[..begin], words[word], &text[end..]);
        if let Ok(protocol) = Protocol::read(&changed)
            && let Ok(codec) = Codec::new(protocol)
        {
            dragoman_protocol::page::page(&codec);
            let _ = header(&codec);
            let _ = python(&codec);
        }
    }
}
