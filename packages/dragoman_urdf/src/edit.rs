//! Changes of a text that leave everything else as it was written.

use std::collections::BTreeMap;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, Writer};
use urdf_rs::Pose;

use crate::UrdfError;
use crate::xml;

/// The description with other origins of these joints. Names of joints that it does not have are ignored.
///
/// # Errors
/// The text is not XML.
pub fn with_origins(text: &str, origins: &BTreeMap<String, Pose>) -> Result<String, UrdfError> {
    xml::parse(text).map_err(|xml::XmlError { line, reason }| UrdfError { line, reason })?;
    let failed = |reason: String| UrdfError { line: 1, reason };
    let mut reader = Reader::from_str(text);
    let mut writer = Writer::new(Vec::with_capacity(text.len()));
    let mut depth = 0;
    // The new origin of the joint element that is being read, until it is written.
    let mut wanted: Option<&Pose> = None;
    loop {
        let mut event = reader.read_event().map_err(|error| failed(error.to_string()))?;
        match &event {
            Event::Eof => break,
            Event::Start(start) if depth == 1 && is(start, "joint") => {
                wanted = xml::element(start, 0).attribute("name").and_then(|name| origins.get(name));
                depth += 1;
            }
            Event::Start(start) if depth == 2 && is(start, "origin") => {
                depth += 1;
                if let Some(pose) = wanted.take() {
                    event = Event::Start(origin(Some(start), pose));
                }
            }
            Event::Empty(start) if depth == 2 && is(start, "origin") => {
                if let Some(pose) = wanted.take() {
                    event = Event::Empty(origin(Some(start), pose));
                }
            }
            Event::Start(_) => depth += 1,
            Event::End(_) => {
                if depth == 2
                    && let Some(pose) = wanted.take()
                {
                    let added = Event::Empty(origin(None, pose));
                    writer.write_event(added).map_err(|error| failed(error.to_string()))?;
                }
                depth -= 1;
            }
            _ => {}
        }
        writer.write_event(event).map_err(|error| failed(error.to_string()))?;
    }
    String::from_utf8(writer.into_inner()).map_err(|error| failed(error.to_string()))
}

fn is(start: &BytesStart<'_>, name: &str) -> bool {
    start.name().into_inner() == name
}

/// An `<origin>` with this pose, and with its other attributes.
fn origin(before: Option<&BytesStart<'_>>, pose: &Pose) -> BytesStart<'static> {
    let mut origin = BytesStart::new("origin");
    for (name, value) in before.map(|before| xml::element(before, 0).attributes).unwrap_or_default() {
        // The reader accepts names of attributes that are not valid XML; they must not be written.
        let is_name = name.chars().all(|letter| letter.is_alphanumeric() || "_-.:".contains(letter));
        if is_name && !matches!(name.as_str(), "xyz" | "rpy" | "quat_xyzw") {
            origin.push_attribute((name.as_str(), value.as_str()));
        }
    }
    for (name, [x, y, z]) in [("xyz", *pose.xyz), ("rpy", *pose.rpy)] {
        origin.push_attribute((name, format!("{x} {y} {z}").as_str()));
    }
    origin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_else_stays_as_it_was_written() {
        let text = "<?xml version=\"1.0\"?>\n<!-- & < -->\n<robot name='a'>\n  <link name=\"a\" /><link name=\"b\"/>\
            \n  <joint  name='&quot;j&quot;' type=\"fixed\">\n    <parent link='a'/> <child link='b'/>ORIGIN\
            \n  </joint>\n<gazebo><joint name='k'><origin/></joint></gazebo>&amp;<![CDATA[<]]>\n</robot>\n";
        let pose = Pose { xyz: urdf_rs::Vec3([1.0, -0.5, 0.0]), rpy: urdf_rs::Vec3([0.0, 0.0, 0.25]) };
        let origins = BTreeMap::from([("\"j\"".to_owned(), pose.clone()), ("k".to_owned(), pose)]);
        let with = |origin: &str| text.replace("ORIGIN", origin);
        for (before, after) in [
            (
                "<origin rpy='1 2 3' a=\"b\" xyz=\"0 0 0\" />",
                "<origin a=\"b\" xyz=\"1 -0.5 0\" rpy=\"0 0 0.25\"/>",
            ),
            ("<origin quat_xyzw='0 0 0 1'></origin>", "<origin xyz=\"1 -0.5 0\" rpy=\"0 0 0.25\"></origin>"),
            ("<origin u<='1' xyz='1 2 3'/>", "<origin xyz=\"1 -0.5 0\" rpy=\"0 0 0.25\"/>"),
            ("<origin/><origin/>", "<origin xyz=\"1 -0.5 0\" rpy=\"0 0 0.25\"/><origin/>"),
        ] {
            assert_eq!(with_origins(&with(before), &origins).unwrap(), with(after));
        }
        let added = text.replace("ORIGIN\n  ", "\n  <origin xyz=\"1 -0.5 0\" rpy=\"0 0 0.25\"/>");
        assert_eq!(with_origins(&with(""), &origins).unwrap(), added);
        assert_eq!(with_origins(&with(""), &BTreeMap::new()).unwrap(), with(""));
        assert!(with_origins("<robot>", &BTreeMap::new()).is_err());
    }
}
