"""A program with its comments, as XML or in a readable text form. The grammar is that of ``dragoman task``.

    # drives round
    program version=1.0
      task round priority=1
        label again
        motion > settarget > station "middle of the hall"
        wait timeout=120000 timeoutlabel=late
          target
          userevent go
        goto again condition=SirenEnabled
        label late

A line is an element with its attributes; lines that are further to the right are its children. ``a > b`` is an element
with its only child. Both directions keep all elements, attributes and comments in their order.

>>> source = ProgramSource.parse('<program><task name="t"><label name="a"/></task></program>')
>>> print(source.text(), end="")
program
  task t
    label a
>>> ProgramSource.parse(source.text()).xml() == source.xml()
True
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn, Optional, Union

from ..errors import BadArgument
from .xml import (
    COMMENT,
    DOCTYPE,
    MAX_ATTRIBUTES,
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_LEN,
    DocumentError,
    Element,
    is_character,
    is_pseudo,
    parse_items,
)

_MAIN = {
    "batterycharge": "limit",
    "delay": "amount",
    "goto": "label",
    "infrared": "direction",
    "label": "name",
    "log": "message",
    "movecamera": "position",
    "play": "filename",
    "radar": "direction",
    "speak": "text",
    "station": "name",
    "task": "name",
    "turnhead": "angle",
    "userevent": "id",
}
"""Attributes that may come first without their names, by element."""
_SPECIAL = '"=>|#\\'
"""Characters with a meaning of their own outside of quotes."""
_BLANKS = re.compile("[ \t\r\n]+")
_NAME = re.compile("[A-Za-z_:\u00c0-\U0010ffff][A-Za-z_:\u00c0-\U0010ffff0-9.\u00b7-]*")
_ENCODING = re.compile(r"""<\?xml.*?encoding\s*=\s*(?:"([^"]*)"|'([^']*)').*?\?>""", re.DOTALL)


class ProgramSource:
    """A program as written, with comments."""

    def __init__(self, items: list[Element]) -> None:
        self.items = items
        """The root, and comments and the document type before and after it."""

    @classmethod
    def parse(cls, document: Union[str, bytes]) -> ProgramSource:
        """Reads XML, if the first character is ``<``, or the text form.

        Raises :class:`DocumentError`; of the text form it has all errors, in ``errors``.
        """
        text = decode(document)
        source = cls(parse_items(text, keeps_all=True) if is_xml(text) else _Parser().parse(text))
        root = source.root
        if root.name != "program":
            raise DocumentError(root.line, f"the document is a <{root.name}>; a <program> is needed", root.column)
        return source

    @property
    def root(self) -> Element:
        """The program, with the comments in it."""
        return next(item for item in self.items if not is_pseudo(item))

    @property
    def element(self) -> Element:
        """The program without comments."""
        return _stripped(self.root)

    def text(self) -> str:
        """The text form."""
        lines: list[str] = []
        for item in self.items:
            _print(item, 0, lines)
        return "".join(lines)

    def xml(self) -> str:
        """The XML document."""
        lines = ['<?xml version="1.0" encoding="UTF-8"?>\n']
        for item in self.items:
            _write(item, 0, lines)
        text = "".join(lines)
        if len(text.encode("utf-8")) > MAX_LEN:
            raise BadArgument(f"the document is longer than {MAX_LEN} bytes")
        return text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProgramSource) and other.items == self.items

    __hash__ = None  # type: ignore[assignment]


def is_xml(document: str) -> bool:
    """Whether this is XML, and not the text form."""
    return document.lstrip("\ufeff").lstrip().startswith("<")


def decode(document: Union[str, bytes]) -> str:
    """UTF-8, or ISO 8859-1 if the document declares it."""
    if isinstance(document, str):
        text = document[1:] if document.startswith("\ufeff") else document
        size = len(text.encode("utf-8", "surrogatepass"))
    else:
        size = len(document)
        data = document[3:] if document.startswith(b"\xef\xbb\xbf") else document
        declared = _ENCODING.match(data[:200].decode("ascii", "replace").lower())
        name = (declared.group(1) or declared.group(2)) if declared else ""
        try:
            text = data.decode("latin-1" if name in ("iso-8859-1", "latin1") else "utf-8")
        except UnicodeDecodeError as error:
            before = data[: error.start].decode("utf-8")
            line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
            raise DocumentError(line, "neither UTF-8 nor declared as ISO-8859-1", column) from None
    if size > MAX_LEN:
        raise DocumentError(0, f"{size} bytes exceed the maximum of {MAX_LEN}")
    return text


def _stripped(element: Element) -> Element:
    children = [_stripped(child) for child in element.children if not is_pseudo(child)]
    return Element(element.name, dict(element.attributes), children, element.text, element.line, element.column)


# Writing


def _print(element: Element, depth: int, lines: list[str]) -> None:
    indent = "  " * depth
    if element.name == COMMENT:
        simple = element.text.strip()
        if simple and "\n" not in simple and element.text == f" {simple} ":
            lines.append(f"{indent}# {simple}\n")
        else:
            exact = element.text.replace("\n", f"\n{indent}#|")
            lines.append(f"{indent}#:{exact}\n")
        return
    if element.name == DOCTYPE:
        lines.append(f"{indent}{DOCTYPE} {element.text}\n")
        return
    chain = [_item(element)]
    # Steps have lines of their own.
    while len(element.children) == 1 and not is_pseudo(element.children[0]) and element.name not in ("program", "task"):
        element = element.children[0]
        chain.append(_item(element))
    lines.append(f"{indent}{' > '.join(chain)}\n")
    for child in element.children:
        _print(child, depth + 1, lines)


def _item(element: Element) -> str:
    words = [element.name]
    for index, (name, value) in enumerate(element.attributes.items()):
        is_main = index == 0 and _MAIN.get(element.name) == name
        words.append(_value(value) if is_main else f"{name}={_value(value)}")
    if element.text:
        words.append(f"| {_quoted(element.text)}")
    return " ".join(words)


def _value(value: str) -> str:
    is_plain = value and not any(one.isspace() or _is_control(one) or one in _SPECIAL for one in value)
    return value if is_plain else _quoted(value)


def _is_control(character: str) -> bool:
    return character < " " or "\x7f" <= character <= "\x9f"


_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


_REFERENCES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)


def _write(element: Element, depth: int, lines: list[str]) -> None:
    indent = "  " * depth
    if is_pseudo(element):
        before, after = ("<!--", "-->") if element.name == COMMENT else ("<!DOCTYPE ", ">")
        lines.append(f"{indent}{before}{element.text}{after}\n")
        return
    for one in (element.name, *element.attributes):
        if not _NAME.fullmatch(one):
            raise BadArgument(f"{one!r} cannot be a name")
    for name, value in (*element.attributes.items(), ("text", element.text)):
        bad = next((one for one in value if not is_character(one)), None)
        if bad is not None:
            raise BadArgument(f"'{name}' of <{element.name}> contains {bad!r}, which is not permitted in XML")
    attributes = (f' {name}="{value.translate(_REFERENCES)}"' for name, value in element.attributes.items())
    start = f"{indent}<{element.name}{''.join(attributes)}"
    if not element.children and not element.text:
        lines.append(f"{start}/>\n")
        return
    lines.append(f"{start}>{element.text.translate(_REFERENCES)}")
    if element.children:
        lines.append("\n")
        for child in element.children:
            _write(child, depth + 1, lines)
        lines.append(indent)
    lines.append(f"</{element.name}>\n")


# Reading the text form


class _Fault(Exception):
    """A fault of a line."""

    def __init__(self, column: int, text: str) -> None:
        super().__init__(text)
        self.column = column
        """From 0."""
        self.text = text


def _fail(column: int, text: str) -> NoReturn:
    raise _Fault(column, text)


@dataclass
class _Token:
    kind: str
    """``word``, ``quoted``, or the character."""
    text: str
    column: int


@dataclass
class _Open:
    """An element that has not ended yet."""

    element: Element
    indent: Optional[int]
    """Indentation of its line, if it is the first one of it."""
    children: Optional[int] = None
    """Indentation of its children's lines."""


class _Parser:
    def __init__(self) -> None:
        self.open: list[_Open] = []
        self.items: list[Element] = []
        self.continues = False
        """Whether the last line was one of a comment to the letter."""
        self.elements = 0
        self.errors: list[DocumentError] = []

    def parse(self, text: str) -> list[Element]:
        # XML's line ends.
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for number, line in enumerate(lines, 1):
            following = lines[number] if number < len(lines) else ""
            try:
                self.line(line, number, following.lstrip(" ").startswith("#|"))
            except _Fault as fault:
                self.errors.append(DocumentError(number, fault.text, fault.column + 1))
            if self.elements > MAX_ELEMENTS:
                break
        self.close(0)
        roots = [item for item in self.items if not is_pseudo(item)]
        if len(roots) > 1:
            text = "an element after the end of the document"
            self.errors.append(DocumentError(roots[1].line, text, roots[1].column))
        elif not roots and not self.errors:
            self.errors.append(DocumentError(len(lines), "there is no element", 1))
        if self.errors:
            self.errors.sort(key=lambda error: (error.line, error.column))
            first = self.errors[0]
            first.errors = self.errors
            raise first
        return self.items

    def close(self, count: int) -> None:
        """Ends open elements until this number is left."""
        while len(self.open) > count:
            self.add(self.open.pop().element)

    def add(self, element: Element) -> None:
        (self.open[-1].element.children if self.open else self.items).append(element)

    def line(self, line: str, number: int, is_continued: bool) -> None:
        """``is_continued``: the comment of this line continues in the next one."""
        continues, self.continues = self.continues, False
        rest = line.lstrip(" ")
        indent = len(line) - len(rest)
        for column, character in enumerate(line):
            if not is_character(character):
                shown = "\\0" if character == "\0" else f"\\u{{{ord(character):x}}}"
                _fail(column, f"'{shown}' is not permitted in XML")
        if not rest.strip():
            return
        if rest.startswith("#|"):
            if not continues:
                _fail(indent, "#| continues a comment that begins with #:, in the line above")
            self.continues = True
            comments = self.open[-1].element.children if self.open else self.items
            comments[-1].text += "\n" + rest[2:]
            _check_comment(rest[2:], is_continued, indent)
            return
        if rest.startswith("\t"):
            _fail(indent, "a tab before the line; use blanks")
        self.nest(indent)
        if rest.startswith("#"):
            comment = rest[1:]
            self.continues = comment.startswith(":")
            simple = f" {comment.strip()} " if comment.strip() else " "
            text = comment[1:] if self.continues else simple
            self.add(Element(COMMENT, text=text, line=number, column=indent + 1))
            _check_comment(text, is_continued, indent)
            return
        if rest.startswith(DOCTYPE):
            text = _document_type(rest[len(DOCTYPE) :], indent)
            # As XML: only before the element, and once.
            if indent > 0 or any(item.name != COMMENT for item in self.items):
                _fail(indent, "a document type that is not at the beginning")
            self.items.append(Element(DOCTYPE, text=text, line=number, column=1))
            return
        try:
            self.chain(line, number, indent)
        except _Fault:
            if not any(one.indent == indent for one in self.open):
                # So that its children are not reported, too.
                self.open.append(_Open(Element("", line=number, column=indent + 1), indent))
            raise

    def chain(self, line: str, number: int, indent: int) -> None:
        """An element, its only child, and so on."""
        tokens = _tokens(line, indent)
        line_indent: Optional[int] = indent
        is_last = False
        at = 0
        while not is_last:
            element, is_last, at = _read_item(tokens, at, number, len(line))
            if len(self.open) >= MAX_DEPTH:
                _fail(element.column - 1, f"elements nested deeper than {MAX_DEPTH}")
            self.elements += 1
            if self.elements > MAX_ELEMENTS:
                _fail(element.column - 1, f"more than {MAX_ELEMENTS} elements")
            self.open.append(_Open(element, line_indent))
            line_indent = None

    def nest(self, indent: int) -> None:
        """Ends the elements that do not contain a line with this indentation."""
        for place, one in enumerate(self.open):
            if one.indent is not None and one.indent >= indent:
                self.close(place)
                break
        expected = 0
        if self.open:
            parent = self.open[-1]
            if parent.children is None:
                parent.children = indent
            expected = parent.children
        if expected != indent:
            _fail(indent, f"{indent} blanks before the line; {expected} are expected")


def _read_item(tokens: list[_Token], at: int, line: int, end: int) -> tuple[Element, bool, int]:
    """An element up to the next ``>``, whether it is the last one of the line, and the place after it."""
    if at >= len(tokens) or tokens[at].kind != "word":
        _fail(tokens[at].column if at < len(tokens) else end, "the name of an element is expected")
    first = tokens[at]
    if not _NAME.fullmatch(first.text):
        _fail(first.column, f"{_debug(first.text)} is not a valid name")
    element = Element(first.text, line=line, column=first.column + 1)
    at += 1

    def kind(place: int) -> str:
        return tokens[place].kind if place < len(tokens) else ""

    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token.kind == ">":
            return element, False, at
        if token.kind == "|":
            if kind(at) != "quoted" or element.text:
                _fail(token.column, "one text in double quotes is expected after |")
            element.text = tokens[at].text.strip()
            at += 1
            continue
        if token.kind == "=":
            _fail(token.column, "the name of an attribute is expected before =")
        if token.kind == "word" and kind(at) == "=":
            if kind(at + 1) not in ("word", "quoted"):
                _fail(token.column, f"'{token.text}' has no value")
            name, value = token.text, tokens[at + 1].text
            at += 2
        else:
            main = _MAIN.get(element.name)
            if main is None or element.attributes:
                shown = _debug(token.text)
                _fail(token.column, f"which attribute is {shown}? Write NAME={shown}")
            name, value = main, token.text
        if not _NAME.fullmatch(name):
            _fail(token.column, f"{_debug(name)} is not a valid name")
        if name in element.attributes:
            _fail(token.column, f"<{element.name}> has '{name}' twice")
        if len(element.attributes) >= MAX_ATTRIBUTES:
            _fail(token.column, f"more than {MAX_ATTRIBUTES} attributes")
        element.attributes[name] = value
    return element, True, at


def _debug(text: str) -> str:
    """In double quotes, as ``dragoman task`` prints it."""
    shown = ""
    for one in text:
        is_shown = one.isprintable() or one in "\n\r\t"
        shown += one.translate(_ESCAPES) if is_shown else f"\\u{{{ord(one):x}}}"
    return f'"{shown}"'


def _check_comment(line: str, is_continued: bool, column: int) -> None:
    if "--" in line or (line.endswith("-") and not is_continued):
        _fail(column, "a comment of XML cannot contain -- or end with -")


def _document_type(text: str, column: int) -> str:
    """A name, and where its declarations are, which are ignored; with single blanks."""
    if "[" in text:
        _fail(column, "a document type with declarations")
    words = " ".join(word for word in _BLANKS.split(text) if word)
    name, _, place = words.partition(" ")
    kind, _, quoted = place.partition(" ")
    rest: Optional[str] = place
    if kind in ("SYSTEM", "PUBLIC"):
        rest = _after_quoted(quoted)
        rest = _after_quoted(rest or "") if kind == "PUBLIC" else rest
    if not _NAME.fullmatch(name) or rest != "":
        _fail(column, "an invalid document type")
    return words


def _after_quoted(text: str) -> Optional[str]:
    """The rest after a text in quotes and blanks."""
    if text[:1] not in ("'", '"') or text[:1] not in text[1:]:
        return None
    return text[text.index(text[0], 1) + 1 :].lstrip(" ")


def _tokens(line: str, start: int) -> list[_Token]:
    return list(_scan(line, start))


def _scan(line: str, at: int) -> Iterator[_Token]:
    while at < len(line):
        column, character = at, line[at]
        at += 1
        if character in " \t":
            continue
        if character in "=>|":
            yield _Token(character, character, column)
        elif character == "#":
            _fail(column, "a comment needs a line of its own, and # in a value quotes")
        elif character == "\\":
            _fail(column, "a \\ outside of quotes")
        elif character == '"':
            text, at = _read_quoted(line, at)
            yield _Token("quoted", text, column)
        else:
            while at < len(line) and line[at] not in " \t" and line[at] not in _SPECIAL:
                at += 1
            yield _Token("word", line[column:at], column)


_ESCAPED = {'"': '"', "\\": "\\", "n": "\n", "r": "\r", "t": "\t"}


def _read_quoted(line: str, at: int) -> tuple[str, int]:
    """The text in quotes that begins before ``at``, and the place after it."""
    column, text = at - 1, ""
    while True:
        if at >= len(line):
            _fail(column, 'the text has no closing "')
        character = line[at]
        at += 1
        if character == '"':
            break
        if character == "\\":
            escaped = _ESCAPED.get(line[at : at + 1])
            if escaped is None:
                _fail(column, 'after \\ in a text: one of " \\ n r t')
            text, at = text + escaped, at + 1
        else:
            text += character
    if at < len(line) and line[at] not in " \t>|":
        _fail(column, 'a blank is expected after the closing "')
    return text, at
