"""Frames of Apolo's protocol (Apolo port manual, "Protocolo" and annex).

A frame is ``aa``, two bytes of size, a letter and the payload; the size counts all five bytes of the header. Doubles
are little-endian. A name is its length with a final NUL, its bytes, and the NUL; an empty name is a zero byte.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Optional

from .. import checks
from ..core import Core, Request
from ..errors import BadArgument, BadReply, Refused

HEADER_LEN = 5
MAX_NAME_LEN = 254
MAX_JOINTS = 255
# A count has two bytes, but so has the size of the whole frame.
_ELEMENT_LEN = {b"D": 8, b"b": 18}


def name(value: object, what: str) -> bytes:
    """A name on the wire: one byte per character where it can be read back, otherwise UTF-8."""
    if isinstance(value, str) and "\0" in value:
        raise BadArgument(f"{what} contains a NUL")
    encoded = checks.text(value, what, 1 << 16)
    assert isinstance(value, str)
    if not value.isascii():
        try:
            single = value.encode("latin-1")
            try:
                single.decode("utf-8")
            except UnicodeDecodeError:
                encoded = single
        except UnicodeEncodeError:
            pass
    if len(encoded) > MAX_NAME_LEN:
        raise BadArgument(f"{what} must have at most {MAX_NAME_LEN} bytes, not {len(encoded)}")
    return bytes([len(encoded) + 1]) + encoded + b"\0" if encoded else b"\0"


def doubles(values: Sequence[float]) -> bytes:
    """Doubles without a count."""
    return struct.pack(f"<{len(values)}d", *values)


class ApoloCore(Core):
    """One connection to Apolo, or to a server of its protocol."""

    def __init__(self, size_base: int) -> None:
        super().__init__()
        if size_base not in (255, 256):
            raise BadArgument(f"the base of sizes is 255 or 256, not {size_base!r}")
        self.size_base = size_base
        self._bytes = bytearray()

    def connected(self) -> None:
        super().connected()
        self._bytes.clear()

    def encode(self, request: Request[Any]) -> bytes:
        size = HEADER_LEN + len(request.data)
        high, low = divmod(size, self.size_base)
        if high > 255:
            raise BadArgument(f"{request.name}: {size} bytes are too many for the protocol")
        return b"aa" + bytes([low, high]) + bytes(request.key, "ascii") + request.data

    def receive(self, data: bytes) -> None:
        self._bytes += data
        while True:
            # Garbage is skipped up to the next header.
            start = self._bytes.find(b"aa")
            if start < 0:
                del self._bytes[: len(self._bytes) - self._bytes.endswith(b"a")]
                return
            del self._bytes[:start]
            if len(self._bytes) < HEADER_LEN:
                return
            size = self._size()
            if size is None:
                return
            if size < HEADER_LEN:
                # Not an answer: "aa" occurs by chance.
                del self._bytes[:1]
                continue
            if len(self._bytes) < size:
                return
            letter, payload = bytes(self._bytes[4:5]), bytes(self._bytes[HEADER_LEN:size])
            del self._bytes[:size]
            self._message(letter, payload)

    def _size(self) -> Optional[int]:
        """The length of the first frame. ``None``: more bytes are needed. 0: it is no answer."""
        low, high = self._bytes[2], self._bytes[3]
        letter = bytes(self._bytes[4:5])
        if letter in (b"T", b"F"):
            return low if high == 0 and low == HEADER_LEN else 0
        element = _ELEMENT_LEN.get(letter)
        if element is None:
            return 0
        bases = (self.size_base, 511 - self.size_base)
        if len(self._bytes) < HEADER_LEN + 2:
            return None
        # The base with which count and size match, so that servers with both bases are supported.
        for base in bases:
            size = low + high * base
            count = self._bytes[5] + self._bytes[6] * base
            if size == HEADER_LEN + 2 + count * element:
                return size
        return 0

    def _message(self, letter: bytes, payload: bytes) -> None:
        if letter in (b"T", b"F"):
            self.resolve((letter, ()))
        elif letter == b"D":
            self.resolve((letter, struct.unpack(f"<{(len(payload) - 2) // 8}d", payload[2:])))
        elif letter == b"b":
            self.resolve((letter, tuple(struct.iter_unpack("<Hdd", payload[2:]))))


def expect(answer: Any, letters: bytes, command: str, refusal: str) -> Any:
    """The values of an answer with one of these letters."""
    letter, values = answer
    if letter in (bytes([one]) for one in letters):
        return values
    if letter == b"F":
        raise Refused("F", f"{command}: F", refusal)
    raise BadReply(f"{command}: the answer is {letter.decode()}, not {' or '.join(map(chr, letters))}")
