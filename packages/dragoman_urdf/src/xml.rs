//! XML as a tree of elements with lines. Prefixes need not be declared. A DTD and its entities have no effect.
//! Depth and number of elements are limited.

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

/// Maximum depth of elements; Apolo's files have seven.
const MAX_DEPTH: usize = 64;
/// Maximum number of elements.
const MAX_ELEMENTS: usize = 1_000_000;

/// An element with all that is in it.
#[derive(Debug, Default, Clone)]
pub struct Element {
    /// Its name, with the prefix.
    pub name: String,
    /// Names and values.
    pub attributes: Vec<(String, String)>,
    /// The elements in it.
    pub children: Vec<Element>,
    /// All its text.
    pub text: String,
    /// Line of its beginning, from 1.
    pub line: usize,
    /// What is wrong with its first malformed attribute. Such attributes are left out.
    pub malformed: Option<String>,
}

impl Element {
    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The first child with this name.
    pub fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }
}

/// A text that is not XML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct XmlError {
    /// Where, from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

/// Counts lines. Offsets only grow, so the text is scanned once.
struct Lines<'t> {
    text: &'t str,
    offset: usize,
    line: usize,
}

impl Lines<'_> {
    fn at(&mut self, offset: u64) -> usize {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(self.text.len());
        let passed = self.text.as_bytes().get(self.offset..offset).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.offset = self.offset.max(offset);
        self.line
    }
}

/// Parses a text. The result has the elements at the top as children.
///
/// # Errors
/// The text is not XML, or has too many elements or levels.
pub fn parse(text: &str) -> Result<Element, XmlError> {
    let mut reader = Reader::from_str(text);
    let mut lines = Lines { text, offset: 0, line: 1 };
    let mut open: Vec<Element> = Vec::new();
    let mut top = Element { line: 1, ..Element::default() };
    let mut elements = 0;
    loop {
        let line = lines.at(reader.buffer_position());
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(error) => {
                let line = lines.at(reader.error_position());
                return Err(XmlError { line, reason: error.to_string() });
            }
        };
        let parent = open.last_mut().unwrap_or(&mut top);
        match event {
            Event::Start(start) => {
                elements += 1;
                if open.len() >= MAX_DEPTH || elements > MAX_ELEMENTS {
                    let reason = format!("more than {MAX_DEPTH} levels or {MAX_ELEMENTS} elements");
                    return Err(XmlError { line, reason });
                }
                open.push(element(&start, line));
            }
            Event::Empty(start) => {
                elements += 1;
                if elements > MAX_ELEMENTS {
                    let reason = format!("more than {MAX_ELEMENTS} elements");
                    return Err(XmlError { line, reason });
                }
                parent.children.push(element(&start, line));
            }
            Event::End(_) => {
                if let Some(closed) = open.pop() {
                    open.last_mut().unwrap_or(&mut top).children.push(closed);
                }
            }
            Event::Text(part) => parent.text.push_str(&part.xml10_content()),
            Event::CData(part) => parent.text.push_str(&part.xml10_content()),
            Event::Eof => break,
            // Numbers have no references; names are attributes.
            Event::GeneralRef(_) | Event::DocType(_) | Event::Decl(_) | Event::Comment(_) | Event::PI(_) => {}
        }
    }
    match open.pop() {
        Some(element) => {
            let reason = format!("<{}> has no end", element.name);
            Err(XmlError { line: element.line, reason })
        }
        None => Ok(top),
    }
}

/// The element without what is in it.
pub(crate) fn element(start: &BytesStart<'_>, line: usize) -> Element {
    let mut element = Element { name: start.name().into_inner().to_owned(), line, ..Element::default() };
    for attribute in start.attributes().with_checks(false) {
        match attribute {
            Ok(attribute) => {
                let raw: &str = &attribute.value;
                let value = quick_xml::escape::unescape(raw)
                    .map_or_else(|_| raw.to_owned(), |value| value.into_owned());
                element.attributes.push((attribute.key.into_inner().to_owned(), value));
            }
            Err(error) => {
                element.malformed.get_or_insert_with(|| error.to_string());
            }
        }
    }
    element
}
