//! Parses text into a tree of elements with positions, and writes it. No DTD, no entities except the five of XML, and
//! limits on all sizes.

mod write;

use std::fmt;

use dragoman_text::excerpt;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::{DocumentError, Problem};

pub(super) use write::{write, write_items};

/// Maximum size of a document, bytes: that of a message of the protocol.
pub const MAX_DOCUMENT_LEN: usize = 16 << 20;
/// Maximum number of elements in a document.
pub const MAX_ELEMENTS: usize = 300_000;
/// Maximum depth of elements; the documents of the guide have five.
pub const MAX_DEPTH: usize = 32;
/// Maximum number of attributes of an element; `digitalout`, which has the most in the guide, has twelve.
pub const MAX_ATTRIBUTES: usize = 64;

/// Position in a text. It does not affect comparisons: all positions are equal.
#[derive(Clone, Copy, Default)]
pub struct Position {
    /// Line, from 1; 0 if it was not parsed from a text.
    pub line: u32,
    /// Column in characters, from 1; 0 if it was not parsed from a text.
    pub column: u32,
}

impl PartialEq for Position {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Position {}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str("no line"),
            line => write!(f, "line {line}, column {}", self.column),
        }
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Name and value inside a start tag.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Attribute {
    pub name: String,
    /// Its value, with references resolved.
    pub value: String,
    /// Its beginning.
    pub position: Position,
}

/// An element with its attributes and children, and its position in the document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Element {
    /// Its name, with the prefix if it has one.
    pub name: String,
    /// Attributes in order.
    pub attributes: Vec<Attribute>,
    /// Child elements in order.
    pub children: Vec<Element>,
    /// All its text, without blanks at the ends. No element of the guide has text.
    pub text: String,
    /// Its beginning.
    pub position: Position,
}

/// Computes lines and columns. Offsets only grow, so the text is scanned once.
struct Lines<'t> {
    text: &'t str,
    offset: usize,
    position: Position,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, offset: 0, position: Position { line: 1, column: 1 } }
    }

    fn position(&mut self, offset: usize) -> Position {
        let passed = self.text.get(self.offset..offset).unwrap_or_default();
        for character in passed.chars() {
            if character == '\n' {
                self.position = Position { line: self.position.line.saturating_add(1), column: 1 };
            } else {
                self.position.column = self.position.column.saturating_add(1);
            }
        }
        self.offset = self.offset.max(offset);
        self.position
    }

    /// Position of this part of the text.
    fn of(&mut self, part: &str) -> Position {
        let offset = part.as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        self.position(offset)
    }
}

pub(super) fn syntax(position: Position, text: impl fmt::Display) -> DocumentError {
    DocumentError { position, problem: Problem::Syntax(text.to_string()) }
}

/// An error of the parser, which may name whole elements.
fn unparsed(position: Position, error: impl fmt::Display) -> DocumentError {
    syntax(position, excerpt(&error.to_string()))
}

/// Corrects the declaration of a document that is now UTF-8: another encoding is replaced by UTF-8 if the text is not
/// ASCII, and UTF-16 always, because a reader that uses the declaration would read other letters.
pub fn declared_as_utf8(text: String) -> String {
    let head: String = text.chars().take(200).map(|one| one.to_ascii_lowercase()).collect();
    let is_wrong = |name: &&str| *name != "utf-8" && (!text.is_ascii() || name.starts_with("utf-16"));
    let Some(declared) = declared_encoding(&head).filter(is_wrong) else {
        return text;
    };
    // The head has the same length as its text: only ASCII letters were changed.
    let Some(start) = head.find("encoding").and_then(|from| Some(from + head.get(from..)?.find(declared)?))
    else {
        return text;
    };
    let [before, after] =
        [text.get(..start), text.get(start + declared.len()..)].map(Option::unwrap_or_default);
    format!("{before}UTF-8{after}")
}

/// Decodes bytes: UTF-8, UTF-16 with a byte order mark, ISO 8859-1 or Windows-1252 if declared.
///
/// # Errors
/// The bytes are in none of these encodings; the document is too long.
pub fn decode(bytes: &[u8]) -> Result<String, DocumentError> {
    if bytes.len() > MAX_DOCUMENT_LEN {
        let problem = Problem::TooLong { len: bytes.len() };
        return Err(DocumentError { position: Position::default(), problem });
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return match dragoman_text::decode(bytes) {
            (text, None) => Ok(text),
            (_, Some(note)) => Err(syntax(Position { line: 1, column: 1 }, note)),
        };
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let head =
        String::from_utf8_lossy(bytes.get(..bytes.len().min(200)).unwrap_or_default()).to_ascii_lowercase();
    if matches!(declared_encoding(&head), Some("windows-1252" | "cp1252")) {
        return Ok(dragoman_text::decode(bytes).0);
    }
    if matches!(declared_encoding(&head), Some("iso-8859-1" | "latin1")) {
        return Ok(bytes.iter().map(|byte| char::from(*byte)).collect());
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let good = String::from_utf8_lossy(good);
            Err(syntax(Lines::new(&good).position(good.len()), "neither UTF-8 nor declared as ISO-8859-1"))
        }
    }
}

/// The encoding in the XML declaration at the beginning; lower case, as `head`.
fn declared_encoding(head: &str) -> Option<&str> {
    let (declaration, _) = head.strip_prefix("<?xml")?.split_once("?>")?;
    let (_, rest) = declaration.split_once("encoding")?;
    let quoted = rest.trim_start().strip_prefix('=')?.trim_start();
    ['"', '\'']
        .into_iter()
        .find_map(|quote| quoted.strip_prefix(quote)?.split_once(quote).map(|(name, _)| name))
}

/// Whether XML 1.0 permits this character.
pub(super) fn is_character(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// Whether this is a valid name of an element or an attribute.
pub(super) fn is_name(name: &str) -> bool {
    let is_start = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | ':' | '\u{c0}'..);
    let is_other = |c: char| is_start(c) || c.is_ascii_digit() || matches!(c, '-' | '.' | '\u{b7}');
    name.starts_with(is_start) && name.chars().all(is_other)
}

/// The text of a document type with single blanks: a name, and where its declarations are, which are ignored (XML 1.0,
/// productions 28 and 75).
///
/// # Errors
/// It has declarations of its own or is not of that form, for example with a quote that is not closed.
pub(super) fn document_type(text: &str, position: Position) -> Result<String, DocumentError> {
    if text.contains('[') {
        return Err(DocumentError { position, problem: Problem::DocumentType });
    }
    let words = text.split([' ', '\t', '\r', '\n']).filter(|word| !word.is_empty());
    let text = words.collect::<Vec<_>>().join(" ");
    let (name, place) = text.split_once(' ').unwrap_or((&text, ""));
    let is_valid = match place.split_once(' ') {
        None => place.is_empty(),
        Some(("SYSTEM", quoted)) => after_quoted(quoted) == Some(""),
        Some(("PUBLIC", quoted)) => after_quoted(quoted).and_then(after_quoted) == Some(""),
        Some(_) => false,
    };
    if is_name(name) && is_valid { Ok(text) } else { Err(syntax(position, "an invalid document type")) }
}

/// What follows a text in quotes and blanks.
fn after_quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let (_, rest) = text.strip_prefix(quote)?.split_once(quote)?;
    Some(rest.trim_start_matches(' '))
}

/// Name of the pseudo-element of a comment, whose text is the comment. No element has it.
pub(super) const COMMENT: &str = "!--";
/// Name of the pseudo-element of the document type.
pub(super) const DOCTYPE: &str = "!DOCTYPE";

/// The root of a document.
pub(super) fn parse(text: &str) -> Result<Element, DocumentError> {
    let items = parse_items(text, false)?;
    items.into_iter().next().ok_or_else(|| syntax(Position::default(), "there is no element"))
}

/// The root of a document. With `keeps_all`, also comments and the document type as pseudo-elements, in their places:
/// before and after the root, and among the children of elements. Processing instructions are then refused.
pub(super) fn parse_items(text: &str, keeps_all: bool) -> Result<Vec<Element>, DocumentError> {
    if let Some((offset, bad)) = text.char_indices().find(|(_, character)| !is_character(*character)) {
        let position = Lines::new(text).position(offset);
        return Err(syntax(position, format_args!("{bad:?} is not permitted in XML")));
    }
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_comments = true;
    let mut lines = Lines::new(text);
    let mut open: Vec<Element> = Vec::new();
    let mut root: Option<Element> = None;
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut has_type = false;
    let mut elements = 0;
    loop {
        let begin = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let position = lines.position(begin);
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(error) => {
                let offset = usize::try_from(reader.error_position()).unwrap_or(usize::MAX);
                return Err(unparsed(lines.position(offset.min(text.len())), error));
            }
        };
        let (start, is_empty) = match event {
            Event::Start(start) => (start, false),
            Event::Empty(start) => (start, true),
            Event::End(_) => {
                let element = open
                    .pop()
                    .ok_or_else(|| syntax(position, "the end of an element that has no beginning"))?;
                close(element, &mut open, &mut root);
                continue;
            }
            Event::Text(part) => {
                add_text(&mut open, position, &part.xml10_content())?;
                continue;
            }
            Event::CData(part) => {
                add_text(&mut open, position, &part.xml10_content())?;
                continue;
            }
            Event::GeneralRef(reference) => {
                let character = match reference.resolve_char_ref() {
                    Ok(Some(character)) if is_character(character) => Some(character),
                    Ok(Some(_)) | Err(_) => None,
                    Ok(None) => predefined(&reference.into_inner()),
                };
                let character = character.ok_or_else(|| syntax(position, "an unknown reference"))?;
                add_text(&mut open, position, character.encode_utf8(&mut [0; 4]))?;
                continue;
            }
            Event::DocType(declaration) => {
                let text = document_type(&declaration, position)?;
                if has_type || root.is_some() || !open.is_empty() {
                    return Err(syntax(position, "a document type that is not at the beginning"));
                }
                has_type = true;
                if keeps_all {
                    before.push(pseudo(DOCTYPE, text, position));
                }
                continue;
            }
            Event::Comment(comment) if keeps_all => {
                // XML's line ends.
                let comment = comment.replace("\r\n", "\n").replace('\r', "\n");
                let comment = pseudo(COMMENT, comment, position);
                match (open.last_mut(), &root) {
                    (Some(parent), _) => parent.children.push(comment),
                    (None, None) => before.push(comment),
                    (None, Some(_)) => after.push(comment),
                }
                continue;
            }
            Event::PI(_) if keeps_all => {
                return Err(syntax(position, "a processing instruction cannot be kept"));
            }
            Event::Decl(_) if begin > 0 => {
                return Err(syntax(position, "an XML declaration that is not at the beginning"));
            }
            Event::Decl(_) | Event::Comment(_) | Event::PI(_) => continue,
            Event::Eof => break,
        };
        if root.is_some() {
            return Err(syntax(position, "an element after the end of the document"));
        }
        elements += 1;
        if elements > MAX_ELEMENTS {
            return Err(DocumentError { position, problem: Problem::TooManyElements });
        }
        if open.len() >= MAX_DEPTH {
            return Err(DocumentError { position, problem: Problem::TooDeep });
        }
        let element = begin_element(&start, position, &mut lines)?;
        if is_empty {
            close(element, &mut open, &mut root);
        } else {
            open.push(element);
        }
    }
    let end = lines.position(text.len());
    match (open.pop(), root) {
        (Some(element), _) => Err(syntax(end, format_args!("<{}> has no end", excerpt(&element.name)))),
        (None, Some(root)) => {
            before.push(root);
            before.append(&mut after);
            Ok(before)
        }
        (None, None) => Err(syntax(end, "there is no element")),
    }
}

fn pseudo(name: &str, text: String, position: Position) -> Element {
    Element { name: name.to_owned(), text, position, ..Element::default() }
}

fn predefined(name: &str) -> Option<char> {
    [("lt", '<'), ("gt", '>'), ("amp", '&'), ("apos", '\''), ("quot", '"')]
        .into_iter()
        .find_map(|(known, character)| (known == name).then_some(character))
}

fn add_text(open: &mut [Element], position: Position, part: &str) -> Result<(), DocumentError> {
    match open.last_mut() {
        Some(element) => {
            // Blanks between elements are ignored; those within a text are kept.
            if !element.text.is_empty() || !part.trim().is_empty() {
                element.text.push_str(part);
            }
            Ok(())
        }
        None if part.trim().is_empty() => Ok(()),
        None => Err(syntax(position, "text outside of the document's element")),
    }
}

fn begin_element(
    start: &BytesStart<'_>,
    position: Position,
    lines: &mut Lines<'_>,
) -> Result<Element, DocumentError> {
    let name = start.name().into_inner();
    if !is_name(name) {
        return Err(syntax(position, format_args!("{:?} is not a valid name", excerpt(name))));
    }
    let mut attributes: Vec<Attribute> = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| unparsed(position, error))?;
        let name = attribute.key.into_inner();
        let position = lines.of(name);
        if attributes.len() >= MAX_ATTRIBUTES {
            return Err(DocumentError { position, problem: Problem::TooManyAttributes });
        }
        if !is_name(name) {
            return Err(syntax(position, format_args!("{:?} is not a valid name", excerpt(name))));
        }
        if attribute.value.contains('<') {
            return Err(syntax(position, "a < in the value of an attribute"));
        }
        let value = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map_err(|error| unparsed(position, error))?
            .into_owned();
        if !value.chars().all(is_character) {
            return Err(syntax(position, "a reference to a character that XML does not permit"));
        }
        attributes.push(Attribute { name: name.to_owned(), value, position });
    }
    Ok(Element { name: name.to_owned(), attributes, position, ..Element::default() })
}

fn close(mut element: Element, open: &mut [Element], root: &mut Option<Element>) {
    element.text.truncate(element.text.trim_end().len());
    let blanks = element.text.len() - element.text.trim_start().len();
    element.text.drain(..blanks);
    match open.last_mut() {
        Some(parent) => parent.children.push(element),
        None => *root = Some(element),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text).expect_err(text).to_string()
    }

    #[test]
    fn elements_attributes_and_texts_have_their_places() {
        let text = "<?xml version=\"1.0\"?>\n<!-- c -->\n<a ü='1'\n  c=\"&lt;&#65;&quot;&#10;x\ny\">\n  <b/> t &amp; <![CDATA[<u>]]> \n</a>\n";
        let root = parse(text).expect("a document");
        assert_eq!((root.name.as_str(), root.text.as_str()), ("a", "t & <u>"));
        assert_eq!(format!("{:?} {:?}", root.position, root.children[0].position), "3:1 6:3");
        let [first, second] = [&root.attributes[0], &root.attributes[1]];
        assert_eq!((first.name.as_str(), first.value.as_str()), ("ü", "1"));
        assert_eq!((second.name.as_str(), second.value.as_str()), ("c", "<A\"\nx y"));
        assert_eq!(format!("{:?} {:?}", first.position, second.position), "3:4 4:3");
        assert_eq!(parse(&write(&root).expect("a text")), Ok(root));
    }

    #[test]
    fn what_is_not_well_formed_is_refused_with_its_place() {
        for (text, expected) in [
            ("", "line 1, column 1: there is no element"),
            ("<a>\n <b>\n</a>", "line 3, column 1: "),
            ("<a>\n <b/>", "line 2, column 6: <a> has no end"),
            ("<a/>\n<b/>", "line 2, column 1: an element after the end of the document"),
            ("<a/> x", "line 1, column 5: text outside of the document's element"),
            ("<a b='1' b='2'/>", "line 1, column 1: "),
            ("<a b=1/>", "line 1, column 1: "),
            ("<a b='<'/>", "line 1, column 4: a < in the value of an attribute"),
            ("<a b='&x;'/>", "line 1, column 4: "),
            ("<a b='&#0;'/>", "line 1, column 4: "),
            ("<a>&x;</a>", "line 1, column 4: an unknown reference"),
            ("<1/>", "line 1, column 1: \"1\" is not a valid name"),
            ("<a>\u{1}</a>", "line 1, column 4: '\\u{1}' is not permitted in XML"),
            ("</a>", "line 1, column 1: "),
            ("<a>\n<!DOCTYPE a></a>", "line 2, column 1: a document type that is not at the beginning"),
            (
                "<!DOCTYPE a><!DOCTYPE a><a/>",
                "line 1, column 13: a document type that is not at the beginning",
            ),
            ("<a>\n<?xml version='1.0'?></a>", "line 2, column 1: an XML declaration that is not at the"),
            ("<a", "line 1, column 1: "),
        ] {
            let error = error(text);
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn document_types_are_not_evaluated() {
        let bomb = "<!DOCTYPE a [<!ENTITY x \"aaaa\"><!ENTITY y \"&x;&x;&x;\">]>\n<a b='&y;'/>";
        assert_eq!(error(bomb), "line 1, column 1: a document type with declarations");
        for good in ["SYSTEM \"file:///etc/passwd\"", "SYSTEM 'a>\"'", "PUBLIC\n'-//a'\t\"a.dtd\" ", ""] {
            assert!(parse(&format!("<!DOCTYPE a {good}>\n<a/>")).is_ok(), "{good}");
        }
        for bad in
            ["a", "SYSTEM", "SYSTEM a", "SYSTEM 'a' 'b'", "SYSTEM 'a' b", "PUBLIC 'a'", "public 'a' 'b'"]
        {
            let expected = "line 1, column 1: an invalid document type";
            assert_eq!(error(&format!("<!DOCTYPE a {bad}>\n<a/>")), expected, "{bad}");
        }
    }

    #[test]
    fn there_are_limits() {
        let deep = |depth: usize| "<a>".repeat(depth) + &"</a>".repeat(depth);
        assert!(parse(&deep(MAX_DEPTH)).is_ok());
        assert!(error(&deep(MAX_DEPTH + 1)).ends_with("elements nested deeper than 32"));
        let wide = |count: usize| format!("<a>{}</a>", "<b/>".repeat(count - 1));
        assert!(parse(&wide(MAX_ELEMENTS)).is_ok());
        assert!(error(&wide(MAX_ELEMENTS + 1)).ends_with("more than 300000 elements"));
        let attributes = |count: usize| (0..count).map(|index| format!(" b{index}=''")).collect::<String>();
        assert!(parse(&format!("<a{}/>", attributes(MAX_ATTRIBUTES))).is_ok());
        assert!(
            error(&format!("<a{}/>", attributes(MAX_ATTRIBUTES + 1))).ends_with("more than 64 attributes")
        );
        let error = decode(&vec![b' '; MAX_DOCUMENT_LEN + 1]).expect_err("too long");
        assert_eq!(error.problem, Problem::TooLong { len: MAX_DOCUMENT_LEN + 1 });
    }

    #[test]
    fn encodings() {
        assert_eq!(decode(b"\xef\xbb\xbf<a/>").as_deref(), Ok("<a/>"));
        assert_eq!(
            decode(b"<?xml version='1.0' encoding='ISO-8859-1'?><a b='\xf1'/>").as_deref(),
            Ok("<?xml version='1.0' encoding='ISO-8859-1'?><a b='ñ'/>")
        );
        let declared = |text: &str| declared_as_utf8(text.to_owned());
        let latin = "<?xml version='1.0' encoding = 'ISO-8859-1'?><a b='ñ encoding'/>";
        assert_eq!(declared(latin), latin.replace("ISO-8859-1", "UTF-8"));
        for same in [latin.replace('ñ', "n"), latin.replace("ISO-8859-1", "utf-8"), "<a b='ñ'/>".to_owned()]
        {
            assert_eq!(declared(&same), same);
        }
        let wide = "<?xml version='1.0' encoding='UTF-16'?><a b='ñ'/>";
        let bytes: Vec<u8> =
            [0xfeff].into_iter().chain(wide.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&bytes).as_deref(), Ok(wide));
        assert_eq!(declared(&wide.replace('ñ', "n")), wide.replace('ñ', "n").replace("UTF-16", "UTF-8"));
        assert_eq!(decode(b"\xff\xfea").expect_err("half a letter").position.line, 1);
        let windows = b"<?xml version='1.0' encoding='windows-1252'?><a b='\x80'/>";
        assert!(decode(windows).is_ok_and(|text| text.ends_with("<a b='€'/>")));
        let other = b"<?xml version=\"1.0\" encoding=\"ISO-8859-15\"?><a b='\xa4'/>";
        let error = decode(other).expect_err("not known");
        assert_eq!(error.to_string(), "line 1, column 51: neither UTF-8 nor declared as ISO-8859-1");
        let error = decode(b"<a\n b='\xf1'/>").expect_err("neither");
        assert_eq!(error.to_string(), "line 2, column 5: neither UTF-8 nor declared as ISO-8859-1");
    }
}
