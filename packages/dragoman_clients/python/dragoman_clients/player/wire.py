"""Messages of Player's protocol, 2.1 to 3.1.

All values are XDR (RFC 4506) in Player's dialect: every integer takes four bytes; a list has its length twice, then its
elements; bytes and texts are padded to four bytes, and a text that is not empty ends with a NUL that counts.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Callable, Optional

from .. import checks
from ..core import Core, Request, nothing
from ..errors import BadArgument, BadReply, Refused
from ..fields import Boolean, Codec, Dialect, Integer, Listed, Narrow, Reader, Real
from ..table import CommandT, Table

BANNER_LEN = 32
HEADER = struct.Struct(">6IdII")
MAX_BODY_LEN = (8 << 20) - HEADER.size

DATA, COMMAND, REQUEST, ACKNOWLEDGE, SYNCH, REFUSE = range(1, 7)
# The server itself, and its messages.
PLAYER = 1
READ, MODE = 4, 5
_SYNCH_OVERFLOW = 2
# What is awaited after connecting.
_BANNER = "banner"

_U32 = Integer(">I", 0, (1 << 32) - 1)
_I32 = Integer(">i", -(1 << 31), (1 << 31) - 1)

U32 = Annotated[int, _U32]
U16 = Annotated[int, Narrow(">I", 16)]
U8 = Annotated[int, Narrow(">I", 8)]
I32 = Annotated[int, _I32]
I8 = Annotated[int, Narrow(">i", 8, signed=True)]
F32 = Annotated[float, Real(">f")]
F64 = Annotated[float, Real(">d")]


def _pad(size: int) -> int:
    return -size % 4


class Opaque(Codec):
    """Bytes, with their length twice."""

    minimum = 8

    def write(self, value: Any, out: bytearray, what: str) -> None:
        if not isinstance(value, (bytes, bytearray)):
            raise BadArgument(f"{what} must be bytes, not {value!r}")
        _U32.write(len(value), out, what)
        _U32.write(len(value), out, what)
        out += value
        out += bytes(_pad(len(value)))

    def read(self, reader: Reader) -> bytes:
        _U32.read(reader)
        size = _U32.read(reader)
        value = reader.take(size)
        reader.take(_pad(size))
        return value


class Text(Codec):
    """A text with a final NUL."""

    minimum = 8

    def __init__(self, maximum: int = 4096) -> None:
        self._bytes = Opaque()
        self._maximum = maximum

    def write(self, value: Any, out: bytearray, what: str) -> None:
        encoded = checks.text(value, what, self._maximum)
        if b"\0" in encoded:
            raise BadArgument(f"{what} contains a NUL")
        self._bytes.write(encoded + b"\0" if encoded else b"", out, what)

    def read(self, reader: Reader) -> str:
        return self._bytes.read(reader).split(b"\0")[0].decode("utf-8", "replace")


DIALECT = Dialect({bool: Boolean(">I"), str: Text(), bytes: Opaque()}, lambda element: Listed([_U32, _U32], element))


@dataclass(frozen=True)
class Key:
    """What a message is: its device, kind and number."""

    interface: int
    index: int
    kind: int
    number: int


@dataclass(frozen=True)
class Data:
    """Data of a device."""

    interface: str
    index: int
    name: str
    """Name of the message, e.g. ``state``."""
    value: Any
    time: float
    """The server's time, s."""


class Interface(Table):
    """The messages of an interface."""

    def __init__(self, code: int, name: str, data: dict[int, tuple[str, type]]) -> None:
        super().__init__()
        self.code = code
        self.interface = name
        self.data = data
        self.numbers: dict[tuple[int, int], str] = {}
        """The commands and requests by kind and number."""

    def message(self, kind: int, number: int) -> Callable[[CommandT], CommandT]:
        """Adds a command or request; the function's name begins with that of the interface."""

        def add(function: CommandT) -> CommandT:
            name = function.__name__[len(self.interface) + 1 :]
            self[name] = function
            self.numbers[kind, number] = name
            return function

        return add


INTERFACES: dict[int, Interface] = {}


def pack(*values: tuple[str, Any, Any]) -> bytes:
    """The bytes of a body: names, types and values."""
    out = bytearray()
    for what, kind, value in values:
        DIALECT.codec(kind).write(value, out, what)
    return bytes(out)


def unpack(kind: Any, body: bytes, what: str) -> Any:
    """Reads a body. What follows is ignored: newer servers may have more."""
    return DIALECT.codec(kind).read(Reader(body, what))


def setup_request(name: str, number: int, body: bytes) -> Request[Any]:
    """A request to the server itself."""
    return Request(name, Key(PLAYER, 0, REQUEST, number), body, True, nothing)


class PlayerCore(Core):
    """One connection to a Player server."""

    def __init__(self, pull: bool, key: Optional[str]) -> None:
        super().__init__()
        self.pull = checks.flag(pull, "pull")
        self._key = None if key is None else checks.text(key, "the key", 255)
        self.banner = ""
        self.latest: dict[tuple[int, int, str], Any] = {}
        """The last data of each device, by interface, index and name."""
        self.subscriptions: dict[tuple[int, int], Request[Any]] = {}
        """What is opened on each connection."""
        self.lost_data = 0
        """Data messages that the server dropped because this client did not read."""
        self._bytes = bytearray()
        self._sequence = 0
        self._abandoned: set[int] = set()
        self._is_reading = False

    def connected(self) -> None:
        super().connected()
        self._bytes.clear()
        self._abandoned.clear()
        self._is_reading = False
        self.banner = ""

    def setup(self) -> Iterator[Request[Any]]:
        yield Request("connect", _BANNER, b"", True, nothing)
        if self._key is not None:
            yield setup_request("authenticate", 7, pack(("the key", bytes, self._key + b"\0")))
        yield setup_request("mode", MODE, pack(("mode", U8, 2 if self.pull else 1)))
        if self.pull:
            # Newer data replaces older data of the same device and kind; -1 is all.
            rule = pack(*[("rule", I32, one) for one in (-1, -1, DATA, -1, 1)])
            yield setup_request("replace_rule", 10, rule)
        yield from list(self.subscriptions.values())

    def encode(self, request: Request[Any]) -> bytes:
        key = request.key
        if key == _BANNER or (self._is_read(request) and self._is_reading):
            return b""
        if len(request.data) > MAX_BODY_LEN:
            raise BadArgument(f"{request.name}: {len(request.data)} bytes are too many for a message")
        self._sequence = self._sequence % 0xFFFF + 1
        return (
            HEADER.pack(0, 0, key.interface, key.index, key.kind, key.number, 0.0, self._sequence, len(request.data))
            + request.data
        )

    def begin(self, request: Request[Any]) -> bytes:
        data = super().begin(request)
        if self._is_read(request):
            self._is_reading = True
        if request.key == _BANNER and self.banner:
            # It came before it was awaited.
            self.resolve(None)
        return data

    def give_up(self) -> bool:
        pending = self.pending
        super().give_up()
        if pending is not None and pending.key == _BANNER:
            return True
        if pending is not None and not self._is_read(pending):
            self._abandoned.add(self._sequence)
        # Answers say to what they belong, and data may still come for a reading that goes on.
        return False

    def _is_read(self, request: Request[Any]) -> bool:
        return bool(request.key == Key(PLAYER, 0, REQUEST, READ))

    def receive(self, data: bytes) -> None:
        self._bytes += data
        if not self.banner:
            if len(self._bytes) < BANNER_LEN:
                return
            banner = bytes(self._bytes[:BANNER_LEN])
            if not banner.startswith(b"Player"):
                raise BadReply(f"this is no Player server: it begins with {banner!r}")
            del self._bytes[:BANNER_LEN]
            self.banner = banner.split(b"\0")[0].decode("ascii", "replace")
            if self.pending is not None and self.pending.key == _BANNER:
                self.resolve(None)
        while len(self._bytes) >= HEADER.size:
            _, _, interface, index, kind, number, time, sequence, size = HEADER.unpack_from(self._bytes)
            if size > MAX_BODY_LEN or not DATA <= kind <= REFUSE:
                raise BadReply(f"a message of kind {kind} with {size} bytes: the stream is out of step")
            if len(self._bytes) < HEADER.size + size:
                return
            body = bytes(self._bytes[HEADER.size : HEADER.size + size])
            del self._bytes[: HEADER.size + size]
            self._message(Key(interface, index, kind, number), time, sequence, body)

    def _message(self, key: Key, time: float, sequence: int, body: bytes) -> None:
        if key.kind == DATA:
            self._data(key, time, body)
        elif key.kind == SYNCH:
            if key.number == _SYNCH_OVERFLOW:
                self.lost_data += int.from_bytes(body[:4], "big")
            self._is_reading = False
            if self.pending is not None and self._is_read(self.pending):
                self.resolve(None)
        elif sequence in self._abandoned:
            self._abandoned.discard(sequence)
        elif self.pending is not None and self.pending.key == replace(key, kind=REQUEST):
            if key.kind == REFUSE:
                self._is_reading = False
                self.fail(Refused("NACK", f"{self.pending.name}: the driver has no such request, or refused it"))
            elif not self._is_read(self.pending):
                self.resolve(body)

    def _data(self, key: Key, time: float, body: bytes) -> None:
        interface = INTERFACES.get(key.interface)
        if interface is None or key.number not in interface.data:
            return
        name, kind = interface.data[key.number]
        try:
            value = unpack(kind, body, f"{interface.interface}:{key.index} {name}")
        except BadReply:
            # The stream is in step: only this message is lost.
            return
        self.latest[key.interface, key.index, name] = value
        self.put_event(Data(interface.interface, key.index, name, value, time))
