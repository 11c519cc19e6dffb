//! Documents with arbitrary content; arbitrary text.

use std::fmt::Debug;

use proptest::prelude::*;

pub(super) use crate::random::Source;

use super::{Attribute, Document, Element, Extra, Map, Position, Program, Roadmap, xml};

impl Source {
    /// Text with characters to be escaped, blanks, and non-ASCII letters.
    pub(super) fn text(&mut self) -> String {
        let pieces =
            ["", "a", " ", "<", "&", ">", "\"", "'", "\n", "\r", "\t", "]]>", "ü", "機", "&lt;", "Station 1"];
        (0..self.below(5)).map(|_| *self.one_of(&pieces)).collect()
    }

    fn attributes(&mut self) -> Vec<Attribute> {
        let position = Position::default();
        (0..self.below(3))
            .map(|index| Attribute { name: format!("new_{index}"), value: self.text(), position })
            .collect()
    }

    /// An element that the guide does not define.
    pub(super) fn unknown_element(&mut self) -> Element {
        let children = (0..self.below(2)).map(|_| self.unknown_element()).collect();
        let text = self.text().trim().to_owned();
        let name = self.one_of(&["new", "ns:new", "neü-1.x"]).to_string();
        Element { name, attributes: self.attributes(), children, text, position: Position::default() }
    }

    /// Extra parts; without elements if a list takes those.
    pub(super) fn extra(&mut self, names: &[&str], has_elements: bool) -> Extra {
        let name = names.first().filter(|_| self.flag()).map(|name| (*name).to_owned());
        let count = if has_elements { self.below(2) } else { 0 };
        let elements = (0..count).map(|_| self.unknown_element()).collect();
        Extra { name, attributes: self.attributes(), elements }
    }
}

fn survives<T: Document + PartialEq + Debug>(seed: [u8; 32]) {
    let document = T::sample(&mut Source::new(seed));
    let text = document.write().expect("a document");
    let read = T::parse(text.as_bytes()).expect("what was written");
    assert_eq!(read, document, "{text}");
    assert_eq!(read.write().as_ref(), Ok(&text));
}

/// Any document that can be parsed can be written, and parses to the same.
fn is_kept<T: Document + PartialEq + Debug>(text: &str) {
    if let Ok(document) = T::parse(text.as_bytes()) {
        document.check();
        let again = document.write().expect("what was read");
        assert_eq!(T::parse(again.as_bytes()), Ok(document), "{again}");
    }
}

/// Parts of documents.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<map>",
        "</map>",
        "<layer index=\"1\">",
        "</layer>",
        "<line>",
        "</line>",
        "<point x=\"1\" y=\"2\"/>",
        "<program>",
        "</program>",
        "<task name='t'>",
        "</task>",
        "<goto label=\"a\"/>",
        "<label name=\"a\"/>",
        "<wait timeout='5'>",
        "</wait>",
        "<collision/>",
        "<!-- -->",
        "<new>",
        "</new>",
        "&amp;",
        "&#x41;",
        "<![CDATA[ x ]]>",
        "\n",
        " x ",
        "<",
        ">",
        "\"",
        "<roadmap>",
        "</roadmap>",
        "<stations/>",
        "<edges/>",
        "<?xml version=\"1.0\"?>",
        "<!DOCTYPE map>",
        "<date day='31'/>",
        "<digitalout D1='1'/>",
        "<ioevent>",
        "</ioevent>",
        "<motion stop='1'/>",
    ]);
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn maps_survive(seed: [u8; 32]) {
        survives::<Map>(seed);
    }

    #[test]
    fn roadmaps_survive(seed: [u8; 32]) {
        survives::<Roadmap>(seed);
    }

    #[test]
    fn programs_survive(seed: [u8; 32]) {
        survives::<Program>(seed);
    }

    #[test]
    fn any_text_is_read_or_refused(text in prop_oneof![pieces(), "\\PC*", "<map>(<layer index='[0-9]'>(<line/>)?</layer>){0,3}</map>"]) {
        is_kept::<Map>(&text);
        is_kept::<Roadmap>(&text);
        is_kept::<Program>(&text);
        if let Err(error) = xml::parse(&text) {
            let lines = u32::try_from(text.lines().count()).expect("few") + 1;
            prop_assert!((1..=lines).contains(&error.position.line), "{}", error);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let _ = Map::parse(&bytes).is_ok();
    }
}
