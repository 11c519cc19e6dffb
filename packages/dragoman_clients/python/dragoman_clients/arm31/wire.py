"""Datagrams of the 31-byte protocol (Ranger thesis, appendix A and the listing of the message handler).

Two letters, seven little-endian floats, one byte. An answer has the letters swapped; errors and warnings are texts that
begin with ``ER`` or ``WN``, two digits and a blank.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core import Core, Request
from ..errors import Refused

FORM = struct.Struct("<2s7fB")
DATAGRAM_LEN = 31
MIN_DATAGRAM_LEN = 30

# The number of values that the answer to a command repeats exactly. The controller may change the other values, or the
# original does not set them.
_ECHOED = {"GL": 3, "GT": 3, "VP": 3, "jG": 6, "jV": 6, "RC": 6}
_INDEXED = ("VP", "jV")

_NOTICE = re.compile(rb"(?:ER|WN)\d\d ")


def datagram(letters: str, values: Sequence[float] = (), index: int = 0) -> bytes:
    """A datagram; missing values are 0."""
    return FORM.pack(letters.encode("ascii"), *[*values, *[0.0] * 7][:7], index)


@dataclass(frozen=True)
class Notice:
    """An error or a warning of the controller that belongs to no command, such as ``WN12 Joint limit.``"""

    code: str
    text: str


class Arm31Core(Core):
    """One port that talks to a controller."""

    def encode(self, request: Request[Any]) -> bytes:
        return request.data

    def receive(self, data: bytes) -> None:
        if _NOTICE.match(data):
            self._notice(data.split(b"\0")[0].decode("ascii", "replace"))
        elif len(data) in (MIN_DATAGRAM_LEN, DATAGRAM_LEN):
            letters, *values, index = FORM.unpack(data.ljust(DATAGRAM_LEN, b"\0"))
            if self.pending is not None and self._is_answer(letters, values, index):
                self.resolve(values)
        # Anything else is garbage or a late answer.

    def _is_answer(self, letters: bytes, values: Sequence[float], index: int) -> bool:
        assert self.pending is not None
        key: str = self.pending.key
        # The original answers VC with the letters of VP.
        if letters != key[::-1].encode() and not (key == "VC" and letters == b"PV"):
            return False
        _, *sent, sent_index = FORM.unpack(self.pending.data)
        count = _ECHOED.get(key, 0)
        return sent[:count] == list(values[:count]) and (key not in _INDEXED or sent_index == index)

    def _notice(self, text: str) -> None:
        code = text[:4]
        key = None if self.pending is None else self.pending.key
        concerns = {"ER10": "OF", "ER11": "ON"}.get(code)
        named = re.match(r"ER\d\d (?:Cmd|Msg) (..)", text)
        if named is not None:
            concerns = named[1]
        if key is not None and concerns == key:
            self.fail(Refused(code, text))
        else:
            self.put_event(Notice(code, text))
