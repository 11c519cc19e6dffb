"""Messages of PlatformCtrl's protocol (PlatformCtrl guide, 6.2 to 6.4).

A message is the header ``FF 01 FE 02``, which may be missing, the length of the data, and the data: the number of a
command and its arguments. All numbers are big-endian.
"""

from __future__ import annotations

import math
import struct
from typing import Any

from .. import checks
from ..core import Core, Request, nothing
from ..errors import BadArgument, BadReply
from ..fields import Boolean, Codec, Dialect, Integer, Listed, Reader, Real
from ..table import CommandT, Table

HEADER = b"\xff\x01\xfe\x02"
MAX_DATA_LEN = 16 << 20
MAX_NAME_LEN = 1024

I32 = Integer(">i", -(1 << 31), (1 << 31) - 1)
I16 = Integer(">h", -(1 << 15), (1 << 15) - 1)
U8 = Integer("B", 0, 255)
F64 = Real(">d")
BOOL = Boolean("B")

DEGREE = 180 / math.pi


class Text(Codec):
    """An INT with the length, and the bytes: UTF-8, when read also ISO 8859-1."""

    minimum = 4

    def __init__(self, maximum: int = MAX_DATA_LEN) -> None:
        self._maximum = maximum

    def write(self, value: Any, out: bytearray, what: str) -> None:
        encoded = checks.text(value, what, self._maximum)
        out += struct.pack(">i", len(encoded)) + encoded

    def read(self, reader: Reader) -> str:
        size = I32.read(reader)
        if not 0 <= size <= reader.left():
            raise BadReply(f"{reader.what}: a text of {size} bytes at byte {reader.offset}")
        data = reader.take(size)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data.decode("latin-1")


TEXT = Text()

DIALECT = Dialect({bool: BOOL, str: TEXT, float: F64}, lambda element: Listed([I32], element))


class Checked(Codec):
    """A value, and the end check after it."""

    def __init__(self, value: Codec, check: int) -> None:
        self._value = value
        self._check = check
        self.minimum = value.minimum + I32.minimum

    def write(self, value: Any, out: bytearray, what: str) -> None:
        self._value.write(value, out, what)
        I32.write(self._check, out, what)

    def read(self, reader: Reader) -> Any:
        value = self._value.read(reader)
        if I32.read(reader) != self._check:
            raise BadReply(f"{reader.what}: the message check at its end is not {self._check}")
        return value


COMMANDS = Table()


class Message:
    """A command. Called with its body, it is a request."""

    def __init__(self, name: str, number: int, body: Any, answer: Any) -> None:
        self._name = name
        self.number = number
        self._body = body
        self._answer = answer

    def function(self, function: CommandT) -> CommandT:
        """Adds a function that makes it to the table."""
        return COMMANDS.command(function)

    def __call__(self, body: Any = None) -> Request[Any]:
        data = b"" if self._body is None else DIALECT.body(self._body, body, self._name)
        decode = nothing if self._answer is None else self._decode
        return Request(self._name, self.number, data, self._answer is not None, decode)

    def _decode(self, data: bytes) -> Any:
        """Reads a reply after its number, to the end."""
        reader = Reader(data, self._name)
        reader.take(1)
        value = DIALECT.codec(self._answer).read(reader)
        reader.end()
        return value


def frame(data: bytes, with_header: bool) -> bytes:
    """A whole message."""
    if len(data) > MAX_DATA_LEN:
        raise BadArgument(f"{len(data)} bytes are too many for a message; the maximum is {MAX_DATA_LEN}")
    return (HEADER if with_header else b"") + struct.pack(">I", len(data)) + data


class NeobotixCore(Core):
    """One connection to a PlatformCtrl, or to a server of its protocol."""

    def __init__(self, with_header: bool) -> None:
        super().__init__()
        self.with_header = checks.flag(with_header, "with_header")
        self._bytes = bytearray()

    def connected(self) -> None:
        super().connected()
        self._bytes.clear()

    def encode(self, request: Request[Any]) -> bytes:
        return frame(bytes([request.key]) + request.data, self.with_header)

    def receive(self, data: bytes) -> None:
        self._bytes += data
        while True:
            start = len(HEADER) if self._bytes.startswith(HEADER) else 0
            if len(self._bytes) < start + 4:
                return
            (size,) = struct.unpack_from(">I", self._bytes, start)
            if not 1 <= size <= MAX_DATA_LEN:
                self._bytes.clear()
                raise BadReply(f"a message of {size} bytes: the stream is out of step")
            end = start + 4 + size
            if len(self._bytes) < end:
                return
            message = bytes(self._bytes[start + 4 : end])
            del self._bytes[:end]
            if self.pending is not None and message[0] == self.pending.key:
                self.resolve(message)
            # Telegrams without a request are skipped; the protocol has none.
