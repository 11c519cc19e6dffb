"""Random bytes and values. A failing run prints its seed; DRAGOMAN_TEST_SEED repeats it."""

from __future__ import annotations

import random
import struct
import unittest
from typing import Any, Callable, Optional

from dragoman_clients import BadReply, ClientError
from dragoman_clients.apolo import commands as apolo
from dragoman_clients.apolo.wire import ApoloCore
from dragoman_clients.arm31 import commands as arm31
from dragoman_clients.arm31.wire import Arm31Core
from dragoman_clients.core import Core, Request
from dragoman_clients.fields import Reader
from dragoman_clients.neobotix import commands as neobotix
from dragoman_clients.neobotix import replies
from dragoman_clients.neobotix.wire import DIALECT as NEOBOTIX
from dragoman_clients.neobotix.wire import NeobotixCore, frame
from dragoman_clients.player import INTERFACES
from dragoman_clients.player import commands as player
from dragoman_clients.player.wire import DIALECT as PLAYER
from dragoman_clients.player.wire import PlayerCore

from .support import seeded

BANNER = b"Player v.3.1.1-dev".ljust(32, b"\0")


def feed(core: Core, request: Request[Any], data: bytes, source: Optional[random.Random]) -> Any:
    """The result after these bytes, in pieces of random size: a value, an error, or nothing yet."""
    core.connected()
    try:
        core.begin(request)
        place = 0
        while place < len(data):
            size = len(data) if source is None else source.randrange(1, 40)
            core.receive(data[place : place + size])
            place += size
        outcome = core.take_outcome()
        return None if outcome is None else outcome.get()
    except ClientError as error:
        return f"{type(error).__name__}: {error}"


class AnyBytes(unittest.TestCase):
    def cases(self) -> dict[str, tuple[Callable[[], Core], list[Request[Any]], list[bytes]]]:
        laser = b"aa\x1f\0D\x03\0" + struct.pack("<3d", 1, 2, 3)
        marks = b"aa\x19\0b\x01\0" + struct.pack("<Hdd", 7, 1.0, 2.0)
        position = frame(b"\x4a" + bytes(32), True)
        camera = frame(b"\x3b\0\0\0\x02ab\0\0\0\x01c", False)
        data = struct.pack(">6IdII", 0, 0, 4, 0, 1, 1, 0.0, 0, 52) + bytes(52)
        ack = struct.pack(">6IdII", 0, 0, 4, 0, 4, 1, 0.0, 0, 72) + bytes(72)
        return {
            "apolo": (
                lambda: ApoloCore(256),
                [apolo.get_laser_data("x"), apolo.get_laser_land_marks("x"), apolo.move_m_robot("x", (0, 0), 1)],
                [laser, marks, b"aa\x05\0T", b"aa\x05\0F", b"a", b"aa\x05\0Z"],
            ),
            "neobotix": (
                lambda: NeobotixCore(True),
                [neobotix.get_position(), neobotix.get_camera(), neobotix.get_status(), neobotix.get_debug_data()],
                [position, camera, frame(b"\x12" + bytes(300), True), frame(b"\x32" + bytes(200), False), b"\xff\x01"],
            ),
            "player": (
                lambda: PlayerCore(False, None),
                [player.position2d_get_geometry()],
                [BANNER, data, ack],
            ),
        }

    def test_any_bytes_in_any_pieces_have_the_same_result(self) -> None:
        source = seeded()
        for name, (make, requests, parts) in self.cases().items():
            results = set()
            for _ in range(1500):
                data = BANNER if name == "player" else b""
                for _ in range(source.randrange(1, 5)):
                    part = bytearray(source.choice(parts))
                    for _ in range(source.choice([0, 0, 1, 2])):
                        part[source.randrange(len(part))] = source.choice([0, 1, 2, 0x61, 255, source.randrange(256)])
                    data += part[: source.choice([len(part), len(part), source.randrange(len(part) + 1)])]
                request = source.choice(requests)
                whole = feed(make(), request, data, None)
                pieces = feed(make(), request, data, source)
                self.assertEqual(repr(whole), repr(pieces), (name, request.name, data.hex()))
                results.add(repr(whole)[:12])
            self.assertGreater(len(results), 2, name)

    def test_any_datagram(self) -> None:
        source = seeded()
        core = Arm31Core()
        for _ in range(5000):
            request: Request[Any] = source.choice(
                [arm31.stop(), arm31.joint_positions(), arm31.set_joint_goal([0] * 6)]
            )
            core.begin(request)
            data = bytearray(request.data[1::-1] + request.data[2:])
            for _ in range(source.randrange(3)):
                data[source.randrange(len(data))] = source.randrange(256)
            core.receive(bytes(data[: source.choice([31, 31, 30, source.randrange(40)])]))
            core.receive(source.choice([b"ER20 Cmd ST rejected", b"WN12 \xff", b"ER00 Cmd", b""]))
            core.take_outcome()


class Values(unittest.TestCase):
    def sample(self, source: random.Random, codec: Any) -> bytes:
        """Bytes that this codec reads."""
        for _ in range(200):
            data = bytes(source.choice([0, 0, 0, source.randrange(256)]) for _ in range(codec.minimum + 40))
            try:
                unpack_with(codec, data)
                return data
            except BadReply:
                continue
        return bytes(codec.minimum + 40)

    def test_what_is_read_is_written_again(self) -> None:
        source = seeded()
        kinds: list[tuple[Any, Any]] = [
            (NEOBOTIX, one)
            for one in (replies.Position, replies.Camera, replies.Parameter, replies.CanMessage, replies.Document,
                        replies.Status, replies.DebugData)
        ]  # fmt: skip
        kinds += [(PLAYER, kind) for one in INTERFACES.values() for _, kind in one.data.values()]
        for dialect, kind in kinds:
            codec = dialect.structure(kind)
            for _ in range(40):
                value = unpack_with(codec, self.sample(source, codec))
                try:
                    data = dialect.pack(value)
                except ClientError as error:
                    # NaN and infinity are read, but never sent; nor are texts with NUL or half characters.
                    self.assertRegex(str(error), "finite|NUL|large|cannot be written|must")
                    continue
                again = unpack_with(codec, data)
                self.assertEqual(dialect.pack(again), data, kind)


def unpack_with(codec: Any, data: bytes) -> Any:
    return codec.read(Reader(data, "random"))


if __name__ == "__main__":
    unittest.main()
