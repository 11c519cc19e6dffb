"""Replies of PlatformCtrl (guide, 6.4) whose fields have numbers of their own, for the clients in all languages."""

from __future__ import annotations

import socket
import struct
from typing import Callable, ClassVar

from . import tap


class Rows:
    """Rows of the guide's tables, numbered from 1: b BYTE, h INT16, i INT, d DOUBLE."""

    FORMS: ClassVar[dict[str, str]] = {"b": ">B", "h": ">h", "i": ">i", "d": ">d"}

    def __init__(self) -> None:
        self.data = b""
        self.last = 0

    def rows(self, kinds: str) -> Rows:
        for kind in kinds.replace(" ", ""):
            self.last += 1
            self.data += struct.pack(self.FORMS[kind], self.last)
        return self

    def raw(self, data: bytes) -> Rows:
        self.data += data
        return self

    def count(self, count: int) -> Rows:
        return self.raw(struct.pack(">i", count))


def telegram(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def status() -> bytes:
    """CMD_GET_STATUS: 119 rows."""
    table = Rows().raw(b"\x12").rows("iii iii iiii")
    for count, kinds in ((2, "hh hh"), (1, "ii"), (1, "iiii"), (1, "iii"), (1, "ii"), (1, "ii")):
        table.count(count).rows(kinds)
    table.count(2).rows("bb").rows("ii ii iiiiiiii iiii iiii iiiiiiii iiii")
    table.rows("iiiiiiii iiiiiiii iiiiiiii i iiii i dd iii i i i bbbb i b i i i bbbb bbbb b b i")
    assert table.last == 119
    return table.raw(b"\xff" * 4).data


def debug_data() -> bytes:
    """CMD_GET_DEBUG_DATA: one of each."""
    table = Rows().raw(b"\x32").count(1).rows("iiiiiiii").raw(b"\x01").count(1).rows("iiii").count(1).rows("iiii")
    table.count(1).rows("iii").count(1).rows("iiii").count(1).rows("iiiiiiii").count(1).rows("iii")
    table.count(1).rows("iiiiiiiii").count(1).rows("i").raw(b"\0\0\0\x01v")
    table.count(1).rows("iii").count(1).rows("iii").count(1).rows("iii").count(1).raw(b"\0\0\0\x02ab")
    return table.rows("iiiiiiiiii iiiii").raw(b"\xff" * 4).data


def position() -> bytes:
    """CMD_GET_POSITION."""
    return Rows().raw(b"\x4a").rows("ii ddd").data


def can_messages() -> bytes:
    """CMD_GET_CAN_MESSAGES: two."""
    return Rows().raw(b"\x0a").count(2).rows("di bbbbbbbb di bbbbbbbb").data


def document(number: int) -> bytes:
    """CMD_GET_MAP and CMD_GET_ROADMAP."""
    return bytes([number]) + b"\x04\0\0\0\x06<map/>\0\0\0\x04hall"


def program() -> bytes:
    """CMD_GET_PROGRAM."""
    return b"\x29\0\0\0\x0a<program/>"


def camera() -> bytes:
    """CMD_GET_CAMERA."""
    return b"\x3b\0\0\0\x0810.0.0.2\0\0\0\x01c"


_PARAMETER = b"\0\0\0\x01k\0\0\0\x0242" + Rows().rows("iiii").data


def parameter() -> bytes:
    """CMD_GET_PLTF_PARAM."""
    return b"\x26" + _PARAMETER


def parameters() -> bytes:
    """CMD_GET_PLTF_PARAM_VEC: two."""
    return b"\x27\0\0\0\x02" + _PARAMETER + _PARAMETER


REPLIES: dict[int, Callable[[], bytes]] = {
    10: can_messages,
    18: status,
    26: lambda: document(26),
    33: lambda: document(33),
    38: parameter,
    39: parameters,
    41: program,
    50: debug_data,
    59: camera,
    74: position,
}
"""All replies of the guide by their numbers."""


def serve(connection: socket.socket) -> None:
    """A platform that has these replies."""
    data = bytearray()
    while chunk := connection.recv(4096):
        data += chunk
        while data and (number := tap.neobotix(data, True)) is not None:
            if number in REPLIES:
                connection.sendall(b"\xff\x01\xfe\x02" + telegram(REPLIES[number]()))
