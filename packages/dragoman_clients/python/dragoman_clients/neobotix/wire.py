"""Messages of PlatformCtrl's protocol (PlatformCtrl guide, 6.2 to 6.4).

A message is the header ``FF 01 FE 02``, which may be missing, the length of the data, and the data: the number of a
command and its arguments. All numbers are big-endian.
"""

from __future__ import annotations

import math
import struct
from typing import Annotated, Any

from .. import checks
from ..core import Core, Request
from ..errors import BadArgument, BadReply
from ..fields import Boolean, Codec, Dialect, Integer, Listed, Reader, Real, Repeat, Scaled

HEADER = b"\xff\x01\xfe\x02"
MAX_DATA_LEN = 16 << 20
MAX_NAME_LEN = 1024

INT = Integer(">i", -(1 << 31), (1 << 31) - 1)
INT16 = Integer(">h", -(1 << 15), (1 << 15) - 1)
BYTE = Integer("B", 0, 255)
DOUBLE = Real(">d")

DEGREE = 180 / math.pi

Millimetres = Annotated[float, Scaled(INT, 1000)]
"""m; mm on the wire."""
Millidegrees = Annotated[float, Scaled(INT, 1000 * DEGREE)]
"""rad; a thousandth of a degree on the wire."""
Degrees = Annotated[float, Scaled(INT, DEGREE)]
"""rad; degrees on the wire."""
Thousandths = Annotated[float, Scaled(INT, 1000)]
"""m/s or rad/s; mm/s or a thousandth of rad/s on the wire."""
Radians = Annotated[float, Scaled(INT, 1)]
"""rad; whole radians on the wire, as in the guide's table."""
Int = Annotated[int, INT]
Byte = Annotated[int, BYTE]
Ints4 = Annotated[tuple[int, ...], Repeat(INT, 4)]
Ints8 = Annotated[tuple[int, ...], Repeat(INT, 8)]


class Text(Codec):
    """An INT with the length, and the bytes: UTF-8, when read also ISO 8859-1."""

    minimum = 4

    def __init__(self, maximum: int = MAX_DATA_LEN) -> None:
        self._maximum = maximum

    def write(self, value: Any, out: bytearray, what: str) -> None:
        encoded = checks.text(value, what, self._maximum)
        out += struct.pack(">i", len(encoded)) + encoded

    def read(self, reader: Reader) -> str:
        size = INT.read(reader)
        if not 0 <= size <= reader.left():
            raise BadReply(f"{reader.what}: a text of {size} bytes at byte {reader.offset}")
        data = reader.take(size)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data.decode("latin-1")


TEXT = Text()
NAME = Text(MAX_NAME_LEN)

DIALECT = Dialect({bool: Boolean("B"), str: TEXT, float: DOUBLE}, lambda element: Listed([INT], element))


def decode(kind: Any, data: bytes, what: str, checked: bool = False) -> Any:
    """Reads the data of a reply after its number, to the end; ``checked``: -1 follows."""
    reader = Reader(data, what)
    reader.take(1)
    value = DIALECT.codec(kind).read(reader)
    if checked and INT.read(reader) != -1:
        raise BadReply(f"{what}: the message check at its end is not -1")
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
            # Telegrams that nobody asked for are skipped: the protocol has none.
