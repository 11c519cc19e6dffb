//! Recordings, read by the format's own library and by the tools of others.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The messages of a recording by their topics, also of one without an end.
pub fn messages(file: &[u8]) -> BTreeMap<String, Vec<mcap::Message<'_>>> {
    let mut topics: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let options = mcap::read::Options::IgnoreEndMagic.into();
    for message in mcap::MessageStream::new_with_options(file, options).unwrap().map_while(Result::ok) {
        topics.entry(message.channel.topic.clone()).or_default().push(message);
    }
    topics
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
