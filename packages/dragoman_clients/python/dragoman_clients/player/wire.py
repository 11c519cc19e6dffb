"""Messages of Player's protocol, 2.1 to 3.1.

All values are XDR (RFC 4506) with Player's differences: every integer takes four bytes; a list has its length twice,
then its elements; bytes and texts are padded to four bytes, and a text that is not empty ends with a NUL that counts.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Optional

from .. import checks
from ..core import Core, Request, nothing
from ..errors import BadArgument, BadReply, Refused
from ..fields import Boolean, Codec, Dialect, Integer, Listed, Narrow, Reader, Real
from ..table import CommandT, Table

BANNER_LEN = 32
HEADER = struct.Struct(">6IdII")
MAX_BODY_LEN = (8 << 20) - HEADER.size

DATA, COMMAND, REQUEST, ACKNOWLEDGE, SYNCH, REFUSE = range(1, 7)
# Address of the server itself, and its messages.
PLAYER = 1
READ, MODE = 4, 5
_SYNCH_OVERFLOW = 2
# The steps that are awaited after connecting.
_BANNER = "banner"

U32 = Integer(">I", 0, (1 << 32) - 1)
U16 = Narrow(">I", 16)
U8 = Narrow(">I", 8)
I32 = Integer(">i", -(1 << 31), (1 << 31) - 1)
I8 = Narrow(">i", 8, signed=True)
F32 = Real(">f")
F64 = Real(">d")


def _pad(size: int) -> int:
    return -size % 4


class Opaque(Codec):
    """Bytes, with their length twice."""

    minimum = 8

    def write(self, value: Any, out: bytearray, what: str) -> None:
        if not isinstance(value, (bytes, bytearray)):
            raise BadArgument(f"{what} must be bytes, not {value!r}")
        U32.write(len(value), out, what)
        U32.write(len(value), out, what)
        out += value
        out += bytes(_pad(len(value)))

    def read(self, reader: Reader) -> bytes:
        U32.read(reader)
        size = U32.read(reader)
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


DIALECT = Dialect({bool: Boolean(">I"), str: Text(), bytes: Opaque()}, lambda element: Listed([U32, U32], element))


@dataclass(frozen=True)
class Key:
    """Identifies a type of message: its device, kind and number."""

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

    def __init__(self, code: int, name: str, meaning: str, data: dict[int, tuple[str, Any]]) -> None:
        super().__init__()
        self.code = code
        self.interface = name
        self.meaning = meaning
        self.data = data
        """The names and types of its data by number."""
        self.numbers: dict[tuple[int, int], str] = {}
        """The commands and requests by kind and number."""
        if code > PLAYER:
            INTERFACES[code] = self


INTERFACES: dict[int, Interface] = {}


class Message:
    """A command or request. Called with its body, it is one to device 0."""

    def __init__(self, interface: Interface, kind: int, number: int, body: Any, answer: Any) -> None:
        self._interface = interface
        self._key = Key(interface.code, 0, kind, number)
        self._body = body
        self._answer = answer
        self._name = ""

    def function(self, function: CommandT) -> CommandT:
        """Adds a function that makes it to the table; the function's name begins with that of the interface."""
        name = function.__name__.split("_", 1)[1].rstrip("_")
        self._interface[name] = function
        self._interface.numbers[self._key.kind, self._key.number] = name
        self._name = f"{self._interface.interface} {name}"
        return function

    def __call__(self, body: Any = None, name: str = "") -> Request[Any]:
        """The request; ``name`` is for errors."""
        what = name or self._name
        data = b"" if self._body is None else DIALECT.body(self._body, body, what)
        decode = nothing if self._answer is None else lambda found: unpack(self._answer, found, what)
        return Request(what, self._key, data, self._key.kind == REQUEST, decode)


def unpack(kind: Any, body: bytes, what: str) -> Any:
    """Reads a body. Additional bytes are ignored: newer servers may have more fields."""
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
            yield setup_request("authenticate", 7, DIALECT.body(bytes, self._key + b"\0", "the key"))
        yield setup_request("mode", MODE, DIALECT.body(U8, 2 if self.pull else 1, "mode"))
        if self.pull:
            # Newer data replaces older data of the same device and kind; -1 is all.
            yield setup_request("replace_rule", 10, struct.pack(">5i", -1, -1, DATA, -1, 1))
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
            # It has arrived before the call that awaits it.
            self.resolve(None)
        return data

    def give_up(self) -> bool:
        pending = self.pending
        super().give_up()
        if pending is not None and pending.key == _BANNER:
            return True
        if pending is not None and not self._is_read(pending):
            self._abandoned.add(self._sequence)
        # Answers identify their requests, and data of the running read may still arrive.
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
            # The stream can still be decoded: only this message is lost.
            return
        self.latest[key.interface, key.index, name] = value
        self.put_event(Data(interface.interface, key.index, name, value, time))
