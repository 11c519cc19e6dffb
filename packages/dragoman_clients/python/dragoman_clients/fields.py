"""Binary layouts, declared as dataclasses.

The type of a field determines its form on the wire: a :class:`Codec` in ``Annotated``, a dataclass (its fields in their
order), or a type that the protocol's :class:`Dialect` knows. So each table of a protocol is written once.
"""

from __future__ import annotations

import dataclasses
import struct
import typing
from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Callable, Optional, Union

from . import checks
from .errors import BadArgument, BadReply


class Reader:
    """Reads data from its beginning."""

    def __init__(self, data: bytes, what: str) -> None:
        self.data = data
        self.offset = 0
        self.what = what

    def left(self) -> int:
        """Number of remaining bytes."""
        return len(self.data) - self.offset

    def take(self, size: int) -> bytes:
        """The next bytes."""
        if self.left() < size:
            raise BadReply(f"{self.what}: {size - self.left()} bytes are missing after byte {self.offset}")
        self.offset += size
        return self.data[self.offset - size : self.offset]

    def unpack(self, form: struct.Struct) -> Any:
        """One number."""
        return form.unpack(self.take(form.size))[0]

    def end(self) -> None:
        """Refuses remaining bytes."""
        if self.left():
            raise BadReply(f"{self.what}: {self.left()} bytes too many after byte {self.offset}")


class Codec(ABC):
    """A part of a message."""

    minimum: int
    """Minimum size, bytes."""

    @abstractmethod
    def write(self, value: Any, out: bytearray, what: str) -> None:
        """Appends a value. Raises :class:`BadArgument` with its name."""

    @abstractmethod
    def read(self, reader: Reader) -> Any:
        """Reads a value. Raises :class:`BadReply`."""


class Integer(Codec):
    """A whole number."""

    def __init__(self, form: str, minimum: int, maximum: int) -> None:
        self._form = struct.Struct(form)
        self.minimum = self._form.size
        self.limits = (minimum, maximum)

    def write(self, value: Any, out: bytearray, what: str) -> None:
        out += self._form.pack(checks.integer(value, what, *self.limits))

    def read(self, reader: Reader) -> int:
        return int(reader.unpack(self._form))


class Narrow(Integer):
    """A whole number of few bits in a wider field; when read, only its low bits are used."""

    def __init__(self, form: str, bits: int, signed: bool = False) -> None:
        low = -(1 << (bits - 1)) if signed else 0
        super().__init__(form, low, low + (1 << bits) - 1)

    def read(self, reader: Reader) -> int:
        low, high = self.limits
        return (super().read(reader) - low) % (high - low + 1) + low


class Real(Codec):
    """A number with a fraction. Those that are read may be NaN or infinite."""

    def __init__(self, form: str) -> None:
        self._form = struct.Struct(form)
        self.minimum = self._form.size
        self._check = checks.single if form.endswith("f") else checks.number

    def write(self, value: Any, out: bytearray, what: str) -> None:
        out += self._form.pack(self._check(value, what))

    def read(self, reader: Reader) -> float:
        return float(reader.unpack(self._form))


class Boolean(Codec):
    """True or false as a number; every number but 0 is true."""

    def __init__(self, form: str) -> None:
        self._form = struct.Struct(form)
        self.minimum = self._form.size

    def write(self, value: Any, out: bytearray, what: str) -> None:
        out += self._form.pack(checks.flag(value, what))

    def read(self, reader: Reader) -> bool:
        return bool(reader.unpack(self._form))


class Scaled(Codec):
    """A number in SI units, a whole number of the protocol's unit on the wire."""

    def __init__(self, number: Integer, per_unit: float) -> None:
        self._number = number
        self._per_unit = per_unit
        self.minimum = number.minimum

    def write(self, value: Any, out: bytearray, what: str) -> None:
        low, high = self._number.limits
        exact = checks.number(value, what) * self._per_unit
        if not low - 0.5 <= exact <= high + 0.5:
            limits = f"{low / self._per_unit:g} and {high / self._per_unit:g}"
            raise BadArgument(f"{what} must be between {limits}, not {value!r}")
        self._number.write(min(max(round(exact), low), high), out, what)

    def read(self, reader: Reader) -> float:
        return self._number.read(reader) / self._per_unit


class ScaledReal(Codec):
    """A number in SI units, a number of the protocol's unit on the wire."""

    def __init__(self, number: Real, per_unit: float) -> None:
        self._number = number
        self._per_unit = per_unit
        self.minimum = number.minimum

    def write(self, value: Any, out: bytearray, what: str) -> None:
        self._number.write(checks.number(value, what) * self._per_unit, out, what)

    def read(self, reader: Reader) -> float:
        return self._number.read(reader) / self._per_unit


class Coded(Codec):
    """A member of an enumeration. Numbers that it does not have are kept when they are read, as plain integers."""

    def __init__(self, kind: type[IntEnum], number: Integer) -> None:
        self._kind = kind
        self._number = number
        self.minimum = number.minimum

    def write(self, value: Any, out: bytearray, what: str) -> None:
        if isinstance(value, int) and not isinstance(value, (bool, self._kind)):
            # As read, perhaps unknown.
            self._number.write(value, out, what)
        else:
            self._number.write(int(checks.code(value, self._kind, what)), out, what)

    def read(self, reader: Reader) -> Union[IntEnum, int]:
        value = self._number.read(reader)
        try:
            return self._kind(value)
        except ValueError:
            return value


class Raw(Codec):
    """A fixed number of bytes."""

    def __init__(self, size: int) -> None:
        self.minimum = size

    def write(self, value: Any, out: bytearray, what: str) -> None:
        if not isinstance(value, (bytes, bytearray)) or len(value) != self.minimum:
            raise BadArgument(f"{what} must be {self.minimum} bytes, not {value!r}")
        out += value

    def read(self, reader: Reader) -> bytes:
        return reader.take(self.minimum)


class Repeat(Codec):
    """A fixed number of elements."""

    def __init__(self, element: Codec, count: int) -> None:
        self._element = element
        self._count = count
        self.minimum = count * element.minimum

    def write(self, value: Any, out: bytearray, what: str) -> None:
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence) or len(value) != self._count:
            raise BadArgument(f"{what} must have {self._count} elements, not {value!r}")
        for place, one in enumerate(value):
            self._element.write(one, out, f"{what}[{place}]")

    def read(self, reader: Reader) -> tuple[Any, ...]:
        return tuple(self._element.read(reader) for _ in range(self._count))


class Flagged(Codec):
    """A value that may be missing: a byte says whether it follows."""

    minimum = 1

    def __init__(self, element: Codec) -> None:
        self._element = element

    def write(self, value: Any, out: bytearray, what: str) -> None:
        out.append(value is not None)
        if value is not None:
            self._element.write(value, out, what)

    def read(self, reader: Reader) -> Any:
        return self._element.read(reader) if reader.take(1) != b"\0" else None


class Ending(Codec):
    """A value that may be missing at the end of a message."""

    minimum = 0

    def __init__(self, element: Codec) -> None:
        self._element = element

    def write(self, value: Any, out: bytearray, what: str) -> None:
        if value is not None:
            self._element.write(value, out, what)

    def read(self, reader: Reader) -> Any:
        return self._element.read(reader) if reader.left() else None


class Listed(Codec):
    """A count, and the elements."""

    def __init__(self, counts: Sequence[Integer], element: Codec) -> None:
        # Player writes the count twice; the last one is used.
        self._counts = counts
        self._element = element
        self.minimum = sum(count.minimum for count in counts)

    def write(self, value: Any, out: bytearray, what: str) -> None:
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
            raise BadArgument(f"{what} must be a list, not {value!r}")
        for count in self._counts:
            count.write(len(value), out, f"the length of {what}")
        for place, one in enumerate(value):
            self._element.write(one, out, f"{what}[{place}]")

    def read(self, reader: Reader) -> list[Any]:
        count = [one.read(reader) for one in self._counts][-1]
        if count < 0 or count * max(self._element.minimum, 1) > reader.left():
            raise BadReply(f"{reader.what}: {count} elements at byte {reader.offset}, {reader.left()} bytes are left")
        return [self._element.read(reader) for _ in range(count)]


class Structure(Codec):
    """The fields of a dataclass, in their order."""

    def __init__(self, kind: type, fields: Sequence[tuple[str, Codec]]) -> None:
        self.kind = kind
        self._fields = fields
        self.minimum = sum(codec.minimum for _, codec in fields)

    def write(self, value: Any, out: bytearray, what: str) -> None:
        if not isinstance(value, self.kind):
            raise BadArgument(f"{what} must be a {self.kind.__name__}, not {value!r}")
        for name, codec in self._fields:
            codec.write(getattr(value, name), out, f"{what}.{name}" if what else name)

    def read(self, reader: Reader) -> Any:
        return self.kind(**{name: codec.read(reader) for name, codec in self._fields})


class Dialect:
    """The protocol's form of types without a codec, and of lists."""

    def __init__(self, types: dict[type, Codec], lists: Callable[[Codec], Codec]) -> None:
        self._types = types
        self._lists = lists
        self._structures: dict[type, Structure] = {}

    def codec(self, hint: Any) -> Codec:
        """The codec of a type."""
        if isinstance(hint, Codec):
            return hint
        for mark in getattr(hint, "__metadata__", ()):
            if isinstance(mark, Codec):
                return mark
        if hasattr(hint, "__metadata__"):
            hint = hint.__origin__
        if typing.get_origin(hint) is list:
            return self._lists(self.codec(typing.get_args(hint)[0]))
        if typing.get_origin(hint) is Union:
            return Flagged(self.codec(typing.get_args(hint)[0]))
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            return self.structure(hint)
        return self._types[hint]

    def structure(self, kind: type) -> Structure:
        """The codec of a dataclass."""
        found = self._structures.get(kind)
        if found is None:
            hints = typing.get_type_hints(kind, include_extras=True)
            fields = [(field.name, self.codec(hints[field.name])) for field in dataclasses.fields(kind)]
            found = self._structures[kind] = Structure(kind, fields)
        return found

    def body(self, hint: Any, value: Any, what: str) -> bytes:
        """The bytes of a value; ``what`` is its name in errors; fields of a dataclass have their own names."""
        codec = self.codec(hint)
        out = bytearray()
        codec.write(value, out, "" if isinstance(codec, Structure) else what)
        return bytes(out)

    def pack(self, value: Any, what: Optional[str] = None) -> bytes:
        """The bytes of a dataclass."""
        out = bytearray()
        self.structure(type(value)).write(value, out, what or type(value).__name__)
        return bytes(out)
