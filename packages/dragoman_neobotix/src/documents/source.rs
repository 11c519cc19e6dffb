//! A program with its comments, as XML or in a readable text form (ours; the PlatformCtrl guide has only XML).
//!
//! ```text
//! # drives round
//! program version=1.0
//!   task round priority=1
//!     label again
//!     motion > settarget > station "middle of the hall"
//!     wait timeout=120000 timeoutlabel=late
//!       target
//!       userevent go
//!     goto again condition=SirenEnabled
//!     label late
//! ```
//!
//! A line is an element with its attributes; lines that are further to the right are its children. `a > b` is an element
//! with its only child. [`MAIN`] attributes may come first without their names. Values with blanks or other characters
//! than names and numbers have are in double quotes, with `\"`, `\\`, `\n`, `\r` and `\t`. `| "text"` is the text of an
//! element; none of the guide has any.
//!
//! | line | XML |
//! | --- | --- |
//! | `# text` | comment with a blank at each end |
//! | `#:text`, then lines `#\|text` | verbatim comment, of one or more lines |
//! | `!DOCTYPE text` | document type; nothing is loaded |
//!
//! Both directions keep all elements, attributes and comments in their order. Blank lines, indentation, and what an XML
//! parser does not see (quotes, references, CDATA, the declaration's encoding) are not kept. Processing instructions are
//! refused.

use dragoman_text::excerpt;

use super::element::Node;
use super::xml::{self, COMMENT, DOCTYPE, document_type, is_character, is_name, syntax};
use super::{
    Attribute, Document, DocumentError, Element, MAX_ATTRIBUTES, MAX_DEPTH, MAX_ELEMENTS, Position, Problem,
    Program, Step, Task, WriteError,
};

/// Attributes that may come first without their names, by element.
const MAIN: [(&str, &str); 14] = [
    ("batterycharge", "limit"),
    ("delay", "amount"),
    ("goto", "label"),
    ("infrared", "direction"),
    ("label", "name"),
    ("log", "message"),
    ("movecamera", "position"),
    ("play", "filename"),
    ("radar", "direction"),
    ("speak", "text"),
    ("station", "name"),
    ("task", "name"),
    ("turnhead", "angle"),
    ("userevent", "id"),
];

/// Characters with a meaning of their own outside of quotes.
const SPECIAL: [char; 6] = ['"', '=', '>', '|', '#', '\\'];

/// A program as written, with comments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramSource {
    /// The root, and comments and the document type before and after it.
    items: Vec<Element>,
}

impl ProgramSource {
    /// Parses XML, if the first character is `<`, or the text form.
    ///
    /// # Errors
    /// In XML the first error, in the text form all; with the positions in the text.
    pub fn parse(bytes: &[u8]) -> Result<Self, Vec<DocumentError>> {
        let text = xml::decode(bytes).map_err(|error| vec![error])?;
        let items = if text.trim_start().starts_with('<') {
            xml::parse_items(&text, true).map_err(|error| vec![error])?
        } else {
            Parser::default().parse(&text)?
        };
        let source = Self { items };
        match source.root() {
            Some(root) if root.name == Program::ROOT => Ok(source),
            root => {
                let found = root.map(|root| root.name.clone()).unwrap_or_default();
                let problem = Problem::Root { found, expected: Program::ROOT };
                Err(vec![DocumentError {
                    position: root.map(|root| root.position).unwrap_or_default(),
                    problem,
                }])
            }
        }
    }

    /// The document, which [`Document::parse`] reads.
    ///
    /// # Errors
    /// It exceeds the limits of a document.
    pub fn to_xml(&self) -> Result<String, WriteError> {
        xml::write_items(&self.items)
    }

    /// The text form.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.items.iter().for_each(|item| print(item, 0, &mut text));
        text
    }

    /// The program, and all its errors: the first one of each step, and those of [`Document::check`]. The steps and
    /// tasks with errors are left out.
    pub fn program(&self) -> (Program, Vec<DocumentError>) {
        let Some(mut root) = self.root().cloned() else {
            return (Program::default(), Vec::new());
        };
        strip(&mut root);
        let mut errors = Vec::new();
        let (tasks, others) =
            std::mem::take(&mut root.children).into_iter().partition(|child| Task::accepts(&child.name));
        root.children = others;
        let read_task = |mut task: Element, errors: &mut Vec<DocumentError>| {
            let steps = std::mem::take(&mut task.children);
            let steps = steps.into_iter().map(Step::from_element);
            let steps = steps.filter_map(|step| step.map_err(|error| errors.push(error)).ok()).collect();
            let task = Task::from_element(task).map_err(|error| errors.push(error)).ok();
            task.map(|task| Task { steps, ..task })
        };
        let tasks: Vec<Element> = tasks;
        let tasks = tasks.into_iter().filter_map(|task| read_task(task, &mut errors)).collect();
        let program = Program::from_element(root).map_err(|error| errors.push(error)).unwrap_or_default();
        let program = Program { tasks, ..program };
        let is_whole = errors.is_empty();
        let checked = program.check().into_iter();
        // The label or task may be in a faulty step.
        let is_sure = |error: &DocumentError| is_whole || !matches!(error.problem, Problem::Missing { .. });
        errors.extend(checked.filter(is_sure));
        errors.sort_by_key(|error| (error.position.line, error.position.column));
        (program, errors)
    }

    /// The lines of each task's steps, by the tasks' names: a step with its children in one line of the text form.
    pub fn step_lines(&self) -> Vec<(String, Vec<String>)> {
        let Some(mut root) = self.root().cloned() else {
            return Vec::new();
        };
        strip(&mut root);
        let tasks = root.children.iter().filter(|child| Task::accepts(&child.name));
        let name = |task: &Element| {
            task.attributes.iter().find(|one| one.name == "name").map(|one| one.value.clone())
        };
        let lines = |task: &Element| {
            task.children
                .iter()
                .map(|step| {
                    let mut line = String::new();
                    print_line(step, &mut line);
                    line
                })
                .collect()
        };
        tasks.map(|task| (name(task).unwrap_or_default(), lines(task))).collect()
    }

    fn root(&self) -> Option<&Element> {
        self.items.iter().find(|item| !is_pseudo(item))
    }
}

fn is_pseudo(element: &Element) -> bool {
    [COMMENT, DOCTYPE].contains(&element.name.as_str())
}

/// Removes comments.
fn strip(element: &mut Element) {
    element.children.retain(|child| !is_pseudo(child));
    element.children.iter_mut().for_each(strip);
}

fn main_attribute(element: &str) -> Option<&'static str> {
    MAIN.iter().find(|(name, _)| *name == element).map(|(_, attribute)| *attribute)
}

fn print(element: &Element, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    text.push_str(&indent);
    if element.name == COMMENT {
        let simple = element.text.trim();
        if !simple.is_empty() && !simple.contains('\n') && element.text == format!(" {simple} ") {
            text.extend(["# ", simple, "\n"]);
        } else {
            text.extend(["#:", &element.text.replace('\n', &format!("\n{indent}#|")), "\n"]);
        }
        return;
    }
    if element.name == DOCTYPE {
        text.extend([DOCTYPE, " ", &element.text, "\n"]);
        return;
    }
    let last = print_chain(element, text);
    text.push('\n');
    last.children.iter().for_each(|child| print(child, depth + 1, text));
}

/// Prints an element and its only descendants; returns the last of them.
fn print_chain<'a>(mut element: &'a Element, text: &mut String) -> &'a Element {
    loop {
        print_item(element, text);
        match element.children.as_slice() {
            // Steps have lines of their own.
            [only] if !is_pseudo(only) && !matches!(element.name.as_str(), "program" | "task") => {
                text.push_str(" > ");
                element = only;
            }
            _ => return element,
        }
    }
}

/// Prints an element with all its children in a line; only for readers.
fn print_line(element: &Element, text: &mut String) {
    let last = print_chain(element, text);
    for (index, child) in last.children.iter().enumerate() {
        text.push_str(if index == 0 { " > " } else { ", " });
        print_line(child, text);
    }
}

fn print_item(element: &Element, text: &mut String) {
    text.push_str(&element.name);
    let main = main_attribute(&element.name);
    for (index, attribute) in element.attributes.iter().enumerate() {
        text.push(' ');
        if index > 0 || main != Some(attribute.name.as_str()) {
            text.extend([&attribute.name, "="]);
        }
        print_value(&attribute.value, false, text);
    }
    if !element.text.is_empty() {
        text.push_str(" | ");
        print_value(&element.text, true, text);
    }
}

fn print_value(value: &str, is_quoted: bool, text: &mut String) {
    let needs_quotes = |c: char| c.is_whitespace() || c.is_control() || SPECIAL.contains(&c);
    if !is_quoted && !value.is_empty() && !value.contains(needs_quotes) {
        text.push_str(value);
        return;
    }
    text.push('"');
    for character in value.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            other => text.push(other),
        }
    }
    text.push('"');
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Quoted(String),
    Equals,
    Greater,
    Bar,
}

/// An element that has not ended yet.
struct OpenElement {
    element: Element,
    /// Indentation of its line, if it is the line's first element.
    indent: Option<usize>,
    /// Indentation of its children's lines.
    children: Option<usize>,
}

#[derive(Default)]
struct Parser {
    open: Vec<OpenElement>,
    items: Vec<Element>,
    /// Whether the last line belongs to a verbatim comment.
    continues: bool,
    elements: usize,
    errors: Vec<DocumentError>,
}

impl Parser {
    fn parse(mut self, text: &str) -> Result<Vec<Element>, Vec<DocumentError>> {
        // XML's line ends.
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let mut lines = text.split('\n').zip(1..).peekable();
        while let Some((line, number)) = lines.next() {
            let next = lines.peek().map(|(next, _)| next.trim_start_matches(' '));
            let is_continued = next.is_some_and(|next| next.starts_with("#|"));
            if let Err(error) = self.line(line, number, is_continued) {
                self.errors.push(error);
            }
            if self.elements > MAX_ELEMENTS {
                break;
            }
        }
        self.close(0);
        let roots: Vec<Position> =
            self.items.iter().filter(|item| !is_pseudo(item)).map(|item| item.position).collect();
        match roots.as_slice() {
            [_] => {}
            [] if !self.errors.is_empty() => {}
            [] => {
                let line = u32::try_from(text.split('\n').count()).unwrap_or(u32::MAX);
                self.errors.push(syntax(Position { line, column: 1 }, "there is no element"));
            }
            [_, second, ..] => self.errors.push(syntax(*second, "an element after the end of the document")),
        }
        self.errors.sort_by_key(|error| (error.position.line, error.position.column));
        if self.errors.is_empty() { Ok(self.items) } else { Err(self.errors) }
    }

    /// Ends open elements until this number is left.
    fn close(&mut self, len: usize) {
        while self.open.len() > len {
            let Some(OpenElement { element, .. }) = self.open.pop() else { return };
            self.add(element);
        }
    }

    fn add(&mut self, element: Element) {
        match self.open.last_mut() {
            Some(parent) => parent.element.children.push(element),
            None => self.items.push(element),
        }
    }

    /// `is_continued`: the comment of this line continues in the next one.
    fn line(&mut self, line: &str, number: u32, is_continued: bool) -> Result<(), DocumentError> {
        let continues = std::mem::take(&mut self.continues);
        let rest = line.trim_start_matches(' ');
        let indent = line.len() - rest.len();
        let at = |offset: usize| {
            let before = line.get(..offset).unwrap_or_default().chars().count();
            Position { line: number, column: u32::try_from(before + 1).unwrap_or(u32::MAX) }
        };
        let position = at(indent);
        if let Some((offset, bad)) = line.char_indices().find(|(_, character)| !is_character(*character)) {
            return Err(syntax(at(offset), format_args!("{bad:?} is not permitted in XML")));
        }
        if rest.trim().is_empty() {
            return Ok(());
        }
        if let Some(more) = rest.strip_prefix("#|") {
            if !continues {
                return Err(syntax(
                    position,
                    "#| continues a comment that begins with #:, in the line above",
                ));
            }
            self.continues = true;
            let list = self.open.last_mut().map_or(&mut self.items, |open| &mut open.element.children);
            if let Some(comment) = list.last_mut() {
                comment.text.push('\n');
                comment.text.push_str(more);
            }
            return check_comment(more, is_continued, position);
        }
        if rest.starts_with('\t') {
            return Err(syntax(position, "a tab before the line; use blanks"));
        }
        self.nest(indent, position)?;
        let pseudo = |name: &str, text: String| Element {
            name: name.to_owned(),
            text,
            position,
            ..Element::default()
        };
        if let Some(comment) = rest.strip_prefix('#') {
            self.continues = comment.starts_with(':');
            let text = match comment.strip_prefix(':') {
                Some(exact) => exact.to_owned(),
                None if comment.trim().is_empty() => " ".to_owned(),
                None => format!(" {} ", comment.trim()),
            };
            let checked = check_comment(&text, is_continued, position);
            self.add(pseudo(COMMENT, text));
            return checked;
        }
        if let Some(text) = rest.strip_prefix(DOCTYPE) {
            let text = document_type(text, position)?;
            // As XML: only before the element, and once.
            if indent > 0 || self.items.iter().any(|item| item.name != COMMENT) {
                return Err(syntax(position, "a document type that is not at the beginning"));
            }
            self.items.push(pseudo(DOCTYPE, text));
            return Ok(());
        }
        let chained = self.chain(rest, indent, at(line.len()), &at);
        if chained.is_err() && !self.open.iter().any(|open| open.indent == Some(indent)) {
            // So that its children are not reported, too.
            self.open.push(OpenElement {
                element: pseudo("", String::new()),
                indent: Some(indent),
                children: None,
            });
        }
        chained
    }

    /// An element, its only child, and so on.
    fn chain(
        &mut self,
        rest: &str,
        indent: usize,
        end: Position,
        at: &dyn Fn(usize) -> Position,
    ) -> Result<(), DocumentError> {
        let mut tokens = tokens(rest, indent, at)?.into_iter().peekable();
        let mut line_indent = Some(indent);
        loop {
            let (element, is_last) = item(&mut tokens, end)?;
            if self.open.len() >= MAX_DEPTH {
                return Err(DocumentError { position: element.position, problem: Problem::TooDeep });
            }
            self.elements += 1;
            if self.elements > MAX_ELEMENTS {
                return Err(DocumentError { position: element.position, problem: Problem::TooManyElements });
            }
            self.open.push(OpenElement { element, indent: line_indent.take(), children: None });
            if is_last {
                return Ok(());
            }
        }
    }

    /// Ends the elements that do not contain a line with this indentation.
    fn nest(&mut self, indent: usize, position: Position) -> Result<(), DocumentError> {
        // The open element that is the parent is the last one of the last line that is further to the left.
        let outer = self.open.iter().rposition(|open| open.indent.is_some_and(|other| other >= indent));
        if let Some(outer) = outer {
            let first = self.open.iter().position(|open| open.indent.is_some_and(|other| other >= indent));
            self.close(first.unwrap_or(outer));
        }
        let expected = match self.open.last_mut() {
            Some(parent) => *parent.children.get_or_insert(indent),
            None => 0,
        };
        if expected == indent {
            return Ok(());
        }
        Err(syntax(position, format_args!("{indent} blanks before the line; {expected} are expected")))
    }
}

/// An element up to the next `>`, and whether it is the last one of the line.
fn item(
    tokens: &mut std::iter::Peekable<impl Iterator<Item = (Token, Position)>>,
    end: Position,
) -> Result<(Element, bool), DocumentError> {
    let (name, position) = match tokens.next() {
        Some((Token::Word(name), position)) => (name, position),
        Some((_, position)) => return Err(syntax(position, "the name of an element is expected")),
        None => return Err(syntax(end, "the name of an element is expected")),
    };
    if !is_name(&name) {
        return Err(syntax(position, format_args!("{:?} is not a valid name", excerpt(&name))));
    }
    let mut element = Element { name, position, ..Element::default() };
    loop {
        let (name, value, position) = match tokens.next() {
            None => return Ok((element, true)),
            Some((Token::Greater, _)) => return Ok((element, false)),
            Some((Token::Bar, position)) => match tokens.next() {
                Some((Token::Quoted(text), _)) if element.text.is_empty() => {
                    text.trim().clone_into(&mut element.text);
                    continue;
                }
                _ => return Err(syntax(position, "one text in double quotes is expected after |")),
            },
            Some((Token::Equals, position)) => {
                return Err(syntax(position, "the name of an attribute is expected before ="));
            }
            Some((Token::Word(name), position)) if matches!(tokens.peek(), Some((Token::Equals, _))) => {
                tokens.next();
                match tokens.next() {
                    Some((Token::Word(value) | Token::Quoted(value), _)) => (name, value, position),
                    _ => return Err(syntax(position, format_args!("'{}' has no value", excerpt(&name)))),
                }
            }
            Some((Token::Word(value) | Token::Quoted(value), position)) => {
                let main = main_attribute(&element.name).filter(|_| element.attributes.is_empty());
                let Some(main) = main else {
                    let value = excerpt(&value);
                    return Err(syntax(
                        position,
                        format_args!("which attribute is {value:?}? Write NAME={value:?}"),
                    ));
                };
                (main.to_owned(), value, position)
            }
        };
        if !is_name(&name) {
            return Err(syntax(position, format_args!("{:?} is not a valid name", excerpt(&name))));
        }
        if element.attributes.iter().any(|other| other.name == name) {
            let [element, name] = [&element.name, &name].map(|name| excerpt(name));
            return Err(syntax(position, format_args!("<{element}> has '{name}' twice")));
        }
        if element.attributes.len() >= MAX_ATTRIBUTES {
            return Err(DocumentError { position, problem: Problem::TooManyAttributes });
        }
        element.attributes.push(Attribute { name, value, position });
    }
}

/// Checks a line of a comment.
fn check_comment(line: &str, is_continued: bool, position: Position) -> Result<(), DocumentError> {
    let is_wrong = line.contains("--") || (line.ends_with('-') && !is_continued);
    if is_wrong {
        return Err(syntax(position, "a comment of XML cannot contain -- or end with -"));
    }
    Ok(())
}

fn tokens(
    rest: &str,
    indent: usize,
    at: &dyn Fn(usize) -> Position,
) -> Result<Vec<(Token, Position)>, DocumentError> {
    let mut tokens = Vec::new();
    let mut characters =
        rest.char_indices().map(|(offset, character)| (offset + indent, character)).peekable();
    while let Some((offset, character)) = characters.next() {
        let token = match character {
            ' ' | '\t' => continue,
            '=' => Token::Equals,
            '>' => Token::Greater,
            '|' => Token::Bar,
            '#' => {
                return Err(syntax(at(offset), "a comment needs a line of its own, and # in a value quotes"));
            }
            '\\' => return Err(syntax(at(offset), "a \\ outside of quotes")),
            '"' => {
                let mut text = String::new();
                loop {
                    match characters.next().map(|(_, character)| character) {
                        None => return Err(syntax(at(offset), "the text has no closing \"")),
                        Some('"') => break,
                        Some('\\') => match characters.next() {
                            Some((_, same @ ('"' | '\\'))) => text.push(same),
                            Some((_, 'n')) => text.push('\n'),
                            Some((_, 'r')) => text.push('\r'),
                            Some((_, 't')) => text.push('\t'),
                            _ => return Err(syntax(at(offset), "after \\ in a text: one of \" \\ n r t")),
                        },
                        Some(other) => text.push(other),
                    }
                }
                if characters.peek().is_some_and(|(_, next)| !matches!(next, ' ' | '\t' | '>' | '|')) {
                    return Err(syntax(at(offset), "a blank is expected after the closing \""));
                }
                Token::Quoted(text)
            }
            first => {
                let mut word = String::from(first);
                while let Some((_, next)) =
                    characters.next_if(|(_, next)| !matches!(next, ' ' | '\t') && !SPECIAL.contains(next))
                {
                    word.push(next);
                }
                Token::Word(word)
            }
        };
        tokens.push((token, at(offset)));
    }
    Ok(tokens)
}

#[cfg(test)]
#[path = "source/tests.rs"]
mod tests;
