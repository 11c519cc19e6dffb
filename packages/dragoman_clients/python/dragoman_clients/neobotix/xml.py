"""XML documents as trees, and trees as typed objects.

Nothing outside the document is ever loaded, and entities of its own are refused. Parts that the classes do not
declare are kept, and written again.
"""

from __future__ import annotations

import dataclasses
import math
import re
import typing
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable, ClassVar, Optional, TypeVar, Union
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from ..errors import BadArgument
from .parameters import excerpt, nearest

MAX_LEN = 16 << 20
MAX_DEPTH = 32
MAX_ELEMENTS = 300_000
MAX_ATTRIBUTES = 64
MAX_UNKNOWN = 20
"""Most unknown parts that are named."""
MAX_TEXT = 300
"""Longest text of an error, characters."""
COMMENT = "!--"
"""Name of the pseudo-element of a comment, whose text is the comment. No element has it."""
DOCTYPE = "!DOCTYPE"
"""Name of the pseudo-element of the document type."""

NodeT = TypeVar("NodeT", bound="Node")


class DocumentError(BadArgument):
    """A fault in a document, with its line."""

    def __init__(self, line: int, text: str, column: int = 0) -> None:
        text = text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}..."
        place = f"line {line}, column {column}: " if column else f"line {line}: " if line else ""
        super().__init__(place + text)
        self.line = line
        self.column = column
        """From 1; 0 if it is not known."""
        self.text = text
        self.errors: list[DocumentError] = [self]
        """All that were found, in their order."""


@dataclass
class Element:
    """An element of a document."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element] = field(default_factory=list)
    text: str = ""
    line: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)

    def write(self, indent: str = "") -> str:
        """Its text."""
        start = f"{indent}<{self.name}" + "".join(
            f" {name}={quoteattr(value, _ESCAPES)}" for name, value in self.attributes.items()
        )
        if not self.children and not self.text:
            return start + "/>\n"
        if not self.children:
            return f"{start}>{escape(self.text)}</{self.name}>\n"
        inner = "".join(child.write(indent + "  ") for child in self.children)
        return f"{start}>{escape(self.text)}\n{inner}{indent}</{self.name}>\n"


_ESCAPES = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


def parse(document: Union[str, bytes]) -> Element:
    """The root of a document."""
    return parse_items(document)[0]


def is_pseudo(element: Element) -> bool:
    """Whether it is a comment or a document type."""
    return element.name in (COMMENT, DOCTYPE)


def parse_items(document: Union[str, bytes], keeps_all: bool = False) -> list[Element]:
    """The root of a document.

    With ``keeps_all`` also comments and the document type as pseudo-elements, in their places: before and after the
    root, and among the children of elements. Processing instructions are then refused.
    """
    data = document.encode("utf-8") if isinstance(document, str) else document
    if len(data) > MAX_LEN:
        raise DocumentError(0, f"{len(data)} bytes; the maximum is {MAX_LEN}")
    # A text is UTF-8 by now, whatever its declaration says.
    parser = expat.ParserCreate("utf-8" if isinstance(document, str) else None)
    parser.buffer_text = True
    stack: list[Element] = []
    items: list[Element] = []
    count = 0
    # The tokens of the document type, as they are written.
    declaration: list[str] = []

    def add(element: Element) -> Element:
        element.line, element.column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        (stack[-1].children if stack else items).append(element)
        return element

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MAX_ELEMENTS:
            raise DocumentError(parser.CurrentLineNumber, f"more than {MAX_ELEMENTS} elements")
        if len(stack) >= MAX_DEPTH:
            raise DocumentError(parser.CurrentLineNumber, f"elements nested deeper than {MAX_DEPTH}")
        if len(attributes) > MAX_ATTRIBUTES:
            raise DocumentError(parser.CurrentLineNumber, f"more than {MAX_ATTRIBUTES} attributes")
        stack.append(add(Element(name, dict(attributes))))

    def end(_: str) -> None:
        element = stack.pop()
        element.text = element.text.strip()

    def characters(data: str) -> None:
        if stack:
            stack[-1].text += data

    def doctype(_name: str, _system: Optional[str], _public: Optional[str], has_internal_subset: bool) -> None:
        if has_internal_subset:
            raise DocumentError(parser.CurrentLineNumber, "a document type with declarations")

    def comment(text: str) -> None:
        add(Element(COMMENT, text=text))

    def instruction(_target: str, _data: str) -> None:
        raise DocumentError(parser.CurrentLineNumber, "a processing instruction cannot be kept")

    def other(token: str) -> None:
        if token == "<!DOCTYPE":
            declaration.append("")
            add(Element(DOCTYPE))
        elif token == ">" and declaration:
            items[-1].text = " ".join("".join(declaration).split())
            declaration.clear()
        elif token == "[" and declaration:
            raise DocumentError(parser.CurrentLineNumber, "a document type with declarations")
        elif declaration:
            declaration.append(token)
        elif token.startswith("&"):
            raise DocumentError(parser.CurrentLineNumber, "an unknown reference")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    if keeps_all:
        parser.CommentHandler = comment
        parser.ProcessingInstructionHandler = instruction
        parser.DefaultHandler = other
    else:
        parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise DocumentError(error.lineno, expat.ErrorString(error.code)) from None
    except (LookupError, ValueError) as error:
        if isinstance(error, DocumentError):
            raise
        raise DocumentError(parser.CurrentLineNumber, str(error)) from None
    return items


# The kinds of fields of nodes, for Annotated.


class Value:
    """Conversion of the text of an attribute."""

    def __init__(
        self, kind: str, read: Callable[[str], Any], write: Callable[[Any], str], given: Optional[str] = None
    ) -> None:
        self.kind = kind
        """What a text must be."""
        self.given = given or kind
        """What a value in Python must be."""
        self.read = read
        self.write = write


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value) or "_" in text:
        raise ValueError(text)
    return value


def _print(value: float, per_unit: float) -> str:
    """The shortest text that is read as this value."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value * per_unit):
        raise ValueError(value)
    exact = value * per_unit
    for digits in (0, 3, 6, 9, 12):
        rounded = round(exact, digits)
        if rounded / per_unit == value:
            return str(int(rounded)) if rounded == int(rounded) and abs(rounded) < 1e15 else repr(rounded)
    return repr(float(exact))


def unit(per_unit: float) -> Value:
    """A number in SI units, written in the document's unit."""
    return Value("a number", lambda text: _finite(text) / per_unit, lambda value: _print(value, per_unit))


def whole_unit(per_unit: float, least: Optional[int] = None) -> Value:
    """As :func:`unit`, of whole numbers."""
    kind = "a whole number" if least is None else f"a whole number of at least {least}"
    return Value(kind, lambda text: _integer(text, least) / per_unit, lambda value: _print(value, per_unit), "a number")


def _integer(text: str, least: Optional[int] = None) -> int:
    if re.fullmatch("[+-]?[0-9]+", text.strip()) is None:
        raise ValueError(text)
    value = int(text)
    if not (-(1 << 63) if least is None else least) <= value < 1 << 63:
        raise ValueError(text)
    return value


def _truth(text: str) -> bool:
    return {"true": True, "1": True, "false": False, "0": False}[text.strip()]


def _whole(value: int) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(value)
    return str(value)


def _text(value: str) -> str:
    if not isinstance(value, str):
        raise ValueError(value)
    return value


TEXT = Value("a text", str, _text)
WHOLE = Value("a whole number", _integer, _whole)
COUNT = Value("a whole number of at least 0", lambda text: _integer(text, 0), _whole)
TRUTH = Value("true or false", _truth, lambda value: "true" if value else "false")
BIT = Value("1 or 0", _truth, lambda value: "1" if value else "0")
NUMBER = unit(1)


class Attribute:
    """An attribute. It may be missing if the field has a default, which is then not written if it is None."""

    def __init__(self, value: Value, *names: str) -> None:
        self.value = value
        self.names = names


class Child:
    """One child, of one of these classes. It may be missing if the field has a default."""

    def __init__(self, *kinds: type[Node]) -> None:
        self.kinds = kinds

    def names(self) -> str:
        """The names of its element."""
        *others, last = (tag for kind in self.kinds for tag in kind.TAGS)
        return f"{', '.join(others)} or {last}" if others else last


class Children:
    """Children of these classes in their order. ``ordered``: unknown ones stay among them, as elements."""

    def __init__(self, *kinds: type[Node], ordered: bool = False) -> None:
        self.kinds = kinds
        self.ordered = ordered


class Tag:
    """The name of the element, where a class has several."""


@dataclass
class Extra:
    """Parts that the class does not declare."""

    attributes: dict[str, str] = field(default_factory=dict)
    elements: list[Element] = field(default_factory=list)
    spelling: dict[str, str] = field(default_factory=dict)


@dataclass
class Node:
    """An element with declared attributes and children; two are equal if these are."""

    TAGS: ClassVar[tuple[str, ...]] = ()
    _marks: ClassVar[Optional[dict[str, Any]]] = None

    @classmethod
    def marks(cls) -> dict[str, Any]:
        """The kinds of its fields."""
        if "_marks" not in cls.__dict__ or cls.__dict__["_marks"] is None:
            hints = typing.get_type_hints(cls, include_extras=True)
            cls._marks = {
                one.name: next(iter(getattr(hints[one.name], "__metadata__", ())), None)
                for one in dataclasses.fields(cls)
            }
        assert cls._marks is not None
        return cls._marks

    @classmethod
    def from_element(cls: type[NodeT], element: Element) -> NodeT:
        """Reads an element."""
        given: dict[str, Any] = {}
        spelling: dict[str, str] = {}
        attributes, children = dict(element.attributes), list(element.children)
        if element.text:
            raise DocumentError(element.line, f"<{element.name}> has text in it")
        required = {
            one.name
            for one in dataclasses.fields(cls)
            if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
        }
        for name, mark in cls.marks().items():
            if isinstance(mark, Tag):
                given[name] = element.name
            elif isinstance(mark, Attribute):
                found = next((one for one in mark.names if one in attributes), None)
                if found is not None:
                    given[name] = _read(mark.value, attributes.pop(found), found, element)
                    if found != mark.names[0]:
                        spelling[name] = found
                elif name in required:
                    text = f"<{element.name}> has no attribute '{mark.names[0]}'"
                    raise DocumentError(element.line, text + _instead(mark.names[:1], attributes))
            elif isinstance(mark, Child):
                tags = {tag: kind for kind in mark.kinds for tag in kind.TAGS}
                mine = [child for child in children if child.name in tags]
                if len(mine) > 1 or (not mine and name in required):
                    count = "exactly one" if name in required else "at most one"
                    wanted = f"<{element.name}> needs {count} <{mark.names()}>; it has {len(mine)}"
                    if not mine:
                        wanted += _instead(tags, [child.name for child in children])
                    raise DocumentError(element.line, wanted)
                if mine:
                    given[name] = tags[mine[0].name].from_element(mine[0])
                    children.remove(mine[0])
            elif isinstance(mark, Children):
                tags = {tag: kind for kind in mark.kinds for tag in kind.TAGS}
                given[name] = [
                    tags[child.name].from_element(child) if child.name in tags else child
                    for child in children
                    if mark.ordered or child.name in tags
                ]
                children = [child for child in children if not mark.ordered and child.name not in tags]
        result = cls(**given)
        result.__dict__["line"] = element.line
        result.__dict__["extra"] = Extra(attributes, children, spelling)
        return result

    def unknown(self) -> list[tuple[int, str, str]]:
        """Parts that are kept without effect: line, part, and the name that may be meant, for a sentence."""
        found: list[tuple[int, str, str]] = []
        extra = self.__dict__.get("extra") or Extra()
        line = self.__dict__.get("line", 0)
        marks = self.marks()
        tag = next((getattr(self, name) for name, mark in marks.items() if isinstance(mark, Tag)), self.TAGS[0])
        attributes = [mark.names[0] for mark in marks.values() if isinstance(mark, Attribute)]
        children = [
            name
            for mark in marks.values()
            if isinstance(mark, (Child, Children))
            for kind in mark.kinds
            for name in kind.TAGS
        ]
        for name in extra.attributes:
            found.append((line, f"'{excerpt(name)}' of <{tag}>", meant(name, attributes)))
        inner = [getattr(self, name) for name, mark in marks.items() if isinstance(mark, (Child, Children))]
        for one in [
            *extra.elements,
            *(one for value in inner for one in (value if isinstance(value, list) else [value])),
        ]:
            if isinstance(one, Element):
                found.append((one.line, f"<{excerpt(one.name)}>", meant(one.name, children)))
            elif isinstance(one, Node):
                found += one.unknown()
        return found

    def to_element(self) -> Element:
        """Its element."""
        extra = self.__dict__.get("extra") or Extra()
        element = Element(self.TAGS[0])
        for name, mark in self.marks().items():
            value = getattr(self, name)
            if isinstance(mark, Tag):
                if value not in self.TAGS:
                    raise BadArgument(f"{type(self).__name__}: {value!r} is not one of {', '.join(self.TAGS)}")
                element.name = value
            elif isinstance(mark, Attribute):
                if value is not None:
                    try:
                        text = mark.value.write(value)
                    except (TypeError, ValueError, KeyError):
                        raise BadArgument(
                            f"{type(self).__name__}.{name} must be {mark.value.given}, not {value!r}"
                        ) from None
                    _check_characters(text, f"{type(self).__name__}.{name}")
                    element.attributes[extra.spelling.get(name, mark.names[0])] = text
            elif isinstance(mark, (Child, Children)):
                values = value if isinstance(mark, Children) else [] if value is None else [value]
                if not isinstance(values, Sequence):
                    raise BadArgument(f"{type(self).__name__}.{name} must be a list, not {value!r}")
                for one in values:
                    if isinstance(one, Element):
                        element.children.append(one)
                    elif isinstance(one, mark.kinds):
                        element.children.append(one.to_element())
                    else:
                        raise BadArgument(f"{type(self).__name__}.{name} cannot contain {one!r}")
        element.attributes.update(extra.attributes)
        element.children += extra.elements
        return element


def meant(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: a similar known name."""
    found = nearest(name, known)
    return "" if found is None else f"; did you mean '{found}'?"


def _instead(missing: Iterable[str], there: Iterable[str]) -> str:
    """The end of a sentence about a missing part: a similar name in the element."""
    found = next((one for one in (nearest(name, there) for name in missing) if one is not None), None)
    return "" if found is None else f"; there is '{excerpt(found)}'"


def _read(value: Value, text: str, name: str, element: Element) -> Any:
    try:
        return value.read(text)
    except (ValueError, KeyError):
        raise DocumentError(element.line, f'{name}="{excerpt(text)}" is not {value.kind}') from None


def is_character(character: str) -> bool:
    """Whether XML 1.0 permits this character."""
    is_control = character < " " and character not in "\t\n\r"
    return not is_control and not "\ud800" <= character <= "\udfff" and character not in "\ufffe\uffff"


def _check_characters(text: str, what: str) -> None:
    for one in text:
        if not is_character(one):
            raise BadArgument(f"{what} contains {one!r}, which XML does not permit")


DocumentT = TypeVar("DocumentT", bound="DocumentNode")


@dataclass
class DocumentNode(Node):
    """The root of a document."""

    @classmethod
    def parse(cls: type[DocumentT], document: Union[str, bytes]) -> DocumentT:
        """Reads a document. Raises :class:`DocumentError`."""
        root = parse(document)
        if root.name not in cls.TAGS:
            raise DocumentError(root.line, f"the document is a <{root.name}>; a <{cls.TAGS[0]}> is needed")
        return cls.from_element(root)

    def xml(self) -> str:
        """The document."""
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + self.to_element().write()

    def faults(self) -> list[str]:
        """The inconsistencies, each as a text; empty if there are none."""
        return []

    def without_effect(self) -> list[str]:
        """Unknown parts, which are kept without effect, each kind once."""
        kinds: dict[str, tuple[int, str, int]] = {}
        for line, part, hint in self.unknown():
            first, _, times = kinds.get(part, (line, hint, 0))
            kinds[part] = (first, hint, times + 1)
        return [
            f"line {line}: {part}{f' ({times} times)' if times > 1 else ''} is not known, and kept without effect{hint}"
            for part, (line, hint, times) in sorted(kinds.items(), key=lambda kind: kind[1][0])
        ][:MAX_UNKNOWN]

    @classmethod
    def checked(cls: type[DocumentT], document: Union[DocumentT, str]) -> str:
        """The text of a document without faults. Raises :class:`BadArgument`."""
        if isinstance(document, str):
            text, one = document, cls.parse(document)
        elif isinstance(document, cls):
            text, one = document.xml(), document
            cls.parse(text)
        else:
            raise BadArgument(f"the document must be a {cls.__name__} or its XML text, not {document!r}")
        faults = one.faults()
        if faults:
            raise BadArgument("; ".join(faults[:5]))
        return text
