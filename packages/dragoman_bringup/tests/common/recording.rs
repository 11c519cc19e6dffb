//! Recordings, read by the format's own library and by the tools of others.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::Command;

/// The messages of a recording by their topics, also of one without an end.
pub fn messages(file: &[u8]) -> BTreeMap<String, Vec<mcap::Message<'static>>> {
    let plain = plain(file);
    let mut topics: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let options = mcap::read::Options::IgnoreEndMagic.into();
    for message in mcap::MessageStream::new_with_options(&plain, options).unwrap().map_while(Result::ok) {
        let message = mcap::Message { data: message.data.into_owned().into(), ..message };
        topics.entry(message.channel.topic.clone()).or_default().push(message);
    }
    topics
}

/// The records of a file without its chunks: the library decompresses with libraries in C only.
fn plain(file: &[u8]) -> Vec<u8> {
    let (magic, mut rest) = file.split_at(mcap::MAGIC.len());
    let mut plain = magic.to_vec();
    while let Some((head, after)) = rest.split_first_chunk::<9>() {
        let length = u64::from_le_bytes(head[1..].try_into().unwrap()) as usize;
        let Some((body, after)) = after.split_at_checked(length) else { break };
        match mcap::parse_record(head[0], body).unwrap() {
            mcap::records::Record::Chunk { header, data } if header.compression == "lz4" => {
                lz4_flex::frame::FrameDecoder::new(&*data).read_to_end(&mut plain).unwrap();
            }
            mcap::records::Record::Chunk { data, .. } => plain.extend_from_slice(&data),
            _ => plain.extend_from_slice(&[head, body].concat()),
        }
        rest = after;
    }
    plain
}

/// What a program of Python with Foxglove's libraries prints about a file. `None` if they are not installed.
pub fn python(script: &str, file: &Path) -> Option<String> {
    let python = std::env::var("DRAGOMAN_TEST_PYTHON").unwrap_or_else(|_| "python3".into());
    let importable = Command::new(&python).args(["-c", "import mcap_ros2.decoder"]).output();
    if !importable.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: {python} has no mcap_ros2 (pip install mcap-ros2-support)");
        return None;
    }
    let output = Command::new(&python).arg("-c").arg(script).arg(file).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    Some(String::from_utf8(output.stdout).unwrap())
}
