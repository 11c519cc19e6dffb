//! Writes a tree of elements as text.

use super::{
    COMMENT, DOCTYPE, Element, MAX_ATTRIBUTES, MAX_DEPTH, MAX_DOCUMENT_LEN, MAX_ELEMENTS, is_character,
    is_name,
};
use crate::documents::WriteError;

/// The text of a document: a declaration, and one element per line. Content that could not be parsed again is refused.
pub(in crate::documents) fn write(root: &Element) -> Result<String, WriteError> {
    write_all(std::slice::from_ref(root), false)
}

/// As [`write`], with the pseudo-elements of [`parse_items`](super::parse_items).
pub(in crate::documents) fn write_items(items: &[Element]) -> Result<String, WriteError> {
    write_all(items, true)
}

fn write_all(items: &[Element], has_pseudo: bool) -> Result<String, WriteError> {
    let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let mut writer = Writer { text, elements: 0, has_pseudo };
    items.iter().try_for_each(|item| writer.element(item, 0))?;
    if writer.text.len() > MAX_DOCUMENT_LEN {
        let element = items.last().map(|last| last.name.clone()).unwrap_or_default();
        return Err(WriteError::TooLarge { element });
    }
    Ok(writer.text)
}

struct Writer {
    text: String,
    elements: usize,
    /// Whether comments and a document type are written.
    has_pseudo: bool,
}

impl Writer {
    fn element(&mut self, element: &Element, depth: usize) -> Result<(), WriteError> {
        if self.has_pseudo && [COMMENT, DOCTYPE].contains(&element.name.as_str()) {
            let (begin, end) = if element.name == COMMENT { ("<!--", "-->") } else { ("<!DOCTYPE ", ">") };
            self.text.extend(["  ".repeat(depth).as_str(), begin, &element.text, end, "\n"]);
            return Ok(());
        }
        self.elements += 1;
        let is_too_large = [
            (depth, MAX_DEPTH - 1),
            (self.elements, MAX_ELEMENTS),
            (element.attributes.len(), MAX_ATTRIBUTES),
            (self.text.len(), MAX_DOCUMENT_LEN),
        ];
        if is_too_large.iter().any(|(count, most)| count > most) {
            return Err(WriteError::TooLarge { element: element.name.clone() });
        }
        let indent = "  ".repeat(depth);
        self.text.push_str(&indent);
        self.text.push('<');
        self.name(&element.name)?;
        for (index, attribute) in element.attributes.iter().enumerate() {
            let mut before = element.attributes.iter().take(index);
            if before.any(|other| other.name == attribute.name) {
                let (element, attribute) = (element.name.clone(), attribute.name.clone());
                return Err(WriteError::Duplicate { element, attribute });
            }
            self.text.push(' ');
            self.name(&attribute.name)?;
            self.text.push_str("=\"");
            self.value(&attribute.value, element, &attribute.name)?;
            self.text.push('"');
        }
        if element.children.is_empty() && element.text.is_empty() {
            self.text.push_str("/>\n");
            return Ok(());
        }
        self.text.push('>');
        self.value(&element.text, element, "text")?;
        if !element.children.is_empty() {
            self.text.push('\n');
            element.children.iter().try_for_each(|child| self.element(child, depth + 1))?;
            self.text.push_str(&indent);
        }
        self.text.push_str("</");
        self.text.push_str(&element.name);
        self.text.push_str(">\n");
        Ok(())
    }

    fn name(&mut self, name: &str) -> Result<(), WriteError> {
        if !is_name(name) {
            return Err(WriteError::Name { name: name.to_owned() });
        }
        self.text.push_str(name);
        Ok(())
    }

    fn value(&mut self, value: &str, element: &Element, attribute: &str) -> Result<(), WriteError> {
        if let Some(character) = value.chars().find(|character| !is_character(*character)) {
            let (element, attribute) = (element.name.clone(), attribute.to_owned());
            return Err(WriteError::Character { element, attribute, character });
        }
        escape(value, &mut self.text);
        Ok(())
    }
}

fn escape(value: &str, text: &mut String) {
    for character in value.chars() {
        match character {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            // Parsers convert these to blanks.
            '\t' => text.push_str("&#9;"),
            '\n' => text.push_str("&#10;"),
            '\r' => text.push_str("&#13;"),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{Attribute, Position};

    #[test]
    fn what_could_not_be_read_again_is_not_written() {
        let named = |name: &str| Element { name: name.to_owned(), ..Element::default() };
        let position = Position::default();
        let attribute = |name: &str| Attribute { name: name.to_owned(), value: String::new(), position };
        for name in ["", "a b", "a><b", "1"] {
            let error = WriteError::Name { name: name.to_owned() };
            assert_eq!(write(&named(name)), Err(error.clone()));
            assert_eq!(write(&Element { attributes: vec![attribute(name)], ..named("a") }), Err(error));
        }
        let twice = Element { attributes: vec![attribute("b"), attribute("b")], ..named("a") };
        let error = WriteError::Duplicate { element: "a".to_owned(), attribute: "b".to_owned() };
        assert_eq!(write(&twice), Err(error));
        let deep =
            |depth| (1..depth).fold(named("a"), |child, _| Element { children: vec![child], ..named("a") });
        assert!(write(&deep(MAX_DEPTH)).is_ok());
        assert_eq!(write(&deep(MAX_DEPTH + 1)), Err(WriteError::TooLarge { element: "a".to_owned() }));
    }
}
