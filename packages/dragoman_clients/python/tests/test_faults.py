"""Servers that vanish, stammer, lie or are silent: clear exceptions within the time limit, and no hang."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
import time
import unittest
from typing import Any, Callable

from dragoman_clients import BadArgument, BadReply, ClientError, ConnectionLost, Refused, Timeout
from dragoman_clients.apolo import Apolo, AsyncApolo
from dragoman_clients.arm31 import Arm31, AsyncArm31, Notice
from dragoman_clients.neobotix import AsyncNeobotix, Neobotix
from dragoman_clients.player import AsyncPlayer, Player

from .support import callers, closed_port, controlling, free_port, serving, until

POSITION = b"\xff\x01\xfe\x02\0\0\0\x21\x4a" + struct.pack(">2i3d", 1000, 2000, 0.5, 100.0, 0.25)
LOCATION = b"aa\x27\0D\x04\0" + struct.pack("<4d", 1, 2, 3, 4)
BANNER = b"Player v.3.1.1-dev".ljust(32, b"\0")
LIMIT = 0.4
"""Time limit of calls that must exceed it, s."""
PATIENCE = 5.0
"""Time limit of calls that end earlier, also on a busy machine, s."""
SLACK = 10.0
"""What a busy machine may need beyond a time limit, s; a hang exceeds it."""

Behaviour = Callable[[socket.socket], None]

# A question of each protocol on TCP, its answer, and what comes before.
KINDS: dict[str, tuple[type, type, str, tuple[Any, ...], bytes]] = {
    "apolo": (Apolo, AsyncApolo, "get_location_m_robot", ("Neo",), LOCATION),
    "neobotix": (Neobotix, AsyncNeobotix, "get_position", (), POSITION),
    "player": (Player, AsyncPlayer, "devices", (), b""),
}


def header(kind: int, interface: int, index: int, number: int, size: int, sequence: int = 0) -> bytes:
    return struct.pack(">6IdII", 0, 6665, interface, index, kind, number, 1.5, sequence, size)


def silent(connection: socket.socket) -> None:
    while connection.recv(4096):
        pass


def sending(data: bytes, then: Behaviour = silent) -> Behaviour:
    """Sends this after each request."""

    def behaviour(connection: socket.socket) -> None:
        while connection.recv(4096):
            connection.sendall(data)
            if then is not silent:
                then(connection)

    return behaviour


def closing(connection: socket.socket) -> None:
    connection.shutdown(socket.SHUT_RDWR)


def player_server(answer: Callable[[int, int, bytes, bytes], bytes]) -> Behaviour:
    """A Player server; the function gives what follows a message: interface, number, body, acknowledgement's header."""

    def behaviour(connection: socket.socket) -> None:
        connection.sendall(BANNER)
        data = b""
        while True:
            chunk = connection.recv(4096)
            if not chunk:
                return
            data += chunk
            while len(data) >= 40:
                _, _, interface, index, kind, number, _, sequence, size = struct.unpack(">6IdII", data[:40])
                if len(data) < 40 + size:
                    break
                body, data = data[40 : 40 + size], data[40 + size :]
                reply = answer(interface, number, body, header(4, interface, index, number, 0, sequence))
                if interface == 1 and number in (5, 10):
                    reply = header(4, 1, 0, number, 0, sequence)
                elif interface == 1 and number == 3 and not reply:
                    # Opened, by a driver without a name.
                    reply = header(4, 1, 0, 3, len(body), sequence) + body
                if kind == 3:
                    connection.sendall(reply)

    return behaviour


class Tcp(unittest.TestCase):
    def fails(self, kind: type[ClientError], text: str, ask: Callable[[], Any], limit: float = PATIENCE) -> None:
        began = time.monotonic()
        with self.assertRaisesRegex(kind, text):
            ask()
        self.assertLess(time.monotonic() - began, limit + SLACK)

    def test_nothing_listens(self) -> None:
        for name, (blocking, asynchronous, method, args, _) in KINDS.items():
            with callers(blocking, asynchronous, "127.0.0.1", closed_port(), timeout=PATIENCE) as both:
                for one in both:
                    with self.subTest(name):
                        self.fails(ConnectionLost, "cannot connect to 127.0.0.1:", lambda: getattr(one, method)(*args))

    def test_no_such_host(self) -> None:
        with callers(Apolo, AsyncApolo, "no-such-host.invalid", timeout=5) as both:
            for one in both:
                self.fails(ClientError, "cannot connect to no-such-host.invalid:12000", one.update, 8)

    def test_silence(self) -> None:
        with serving(silent) as server:
            for name, (blocking, asynchronous, method, args, _) in KINDS.items():
                with callers(blocking, asynchronous, "127.0.0.1", server.port, timeout=LIMIT) as both:
                    for one in both:
                        with self.subTest(name):
                            self.fails(Timeout, "no answer within 0.4 s", lambda: getattr(one, method)(*args))

    def test_half_an_answer_and_silence(self) -> None:
        for name, (blocking, asynchronous, method, args, answer) in KINDS.items():
            half = answer[: len(answer) // 2] or BANNER[:10]
            with serving(sending(half) if answer else lambda one: (one.sendall(half), silent(one))[1]) as server:  # type: ignore[func-returns-value]
                with callers(blocking, asynchronous, "127.0.0.1", server.port, timeout=LIMIT) as both:
                    for one in both:
                        with self.subTest(name):
                            self.fails(Timeout, "no answer within 0.4 s", lambda: getattr(one, method)(*args))

    def test_half_an_answer_and_the_end(self) -> None:
        for name, (blocking, asynchronous, method, args, answer) in KINDS.items():
            half = answer[: len(answer) // 2] or BANNER[:10]

            def behaviour(one: socket.socket, half: bytes = half, speaks_first: bool = not answer) -> None:
                if not speaks_first:
                    one.recv(4096)
                one.sendall(half)

            with serving(behaviour) as server:
                with callers(blocking, asynchronous, "127.0.0.1", server.port, timeout=PATIENCE) as both:
                    for one in both:
                        with self.subTest(name):
                            self.fails(ConnectionLost, "closed the connection", lambda: getattr(one, method)(*args))

    def test_garbage(self) -> None:
        garbage = b"\xff" * 100 + b"aa\xff\xff" * 30
        with serving(lambda one: (one.sendall(garbage), silent(one))[1]) as server:  # type: ignore[func-returns-value]
            for name, (blocking, asynchronous, method, args, _) in KINDS.items():
                # Apolo's frames can be found in garbage; the other streams are out of step.
                kind, limit = (Timeout, LIMIT) if name == "apolo" else (BadReply, PATIENCE)
                with callers(blocking, asynchronous, "127.0.0.1", server.port, timeout=limit) as both:
                    for one in both:
                        with self.subTest(name):
                            self.fails(kind, "", lambda: getattr(one, method)(*args))
                            self.assertFalse(one.client.is_connected)

    def test_the_next_call_connects_again(self) -> None:
        answers: list[bytes] = []

        def behaviour(connection: socket.socket) -> None:
            # Each connection answers one question, and ends.
            connection.recv(4096)
            connection.sendall(answers[0])

        with serving(behaviour) as server:
            for name in ("apolo", "neobotix"):
                blocking, asynchronous, method, args, answer = KINDS[name]
                answers[:] = [answer]
                with callers(blocking, asynchronous, "127.0.0.1", server.port, timeout=PATIENCE) as both:
                    for one in both:
                        with self.subTest(name):
                            first = getattr(one, method)(*args)
                            for _ in range(2):
                                until("the end of the connection", lambda: server.ended == server.connections)
                                self.assertEqual(getattr(one, method)(*args), first)
            self.assertEqual(server.connections, 12)

    def test_a_late_answer_is_not_taken_for_another_one(self) -> None:
        delays = [0.8, 0.0] * 2

        def behaviour(connection: socket.socket) -> None:
            while connection.recv(4096):
                time.sleep(delays.pop(0))
                number = 4.0 if delays and len(delays) % 2 else 7.0
                connection.sendall(b"aa\x0f\0D\x01\0" + struct.pack("<d", number))

        with serving(behaviour) as server:
            with callers(Apolo, AsyncApolo, "127.0.0.1", server.port, timeout=LIMIT) as both:
                for one in both:
                    self.fails(Timeout, "no answer", lambda: one.get_ultrasonic_sensor("uc0"))
                    one.client.timeout = PATIENCE
                    self.assertIn(one.get_ultrasonic_sensor("uc1"), (4.0, 7.0))

    def test_a_server_that_does_not_read(self) -> None:
        document = "<map><layer>" + "<new a='bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'/>" * 200000 + "</layer></map>"
        stop = threading.Event()
        with serving(lambda _: (stop.wait(20), None)[1]) as server:
            with callers(Neobotix, AsyncNeobotix, "127.0.0.1", server.port, timeout=LIMIT) as both:
                for one in both:
                    self.fails(Timeout, "set_map", lambda: one.set_map(document, "large"), 15)
            stop.set()

    def test_an_answer_of_another_kind(self) -> None:
        with serving(sending(b"aa\x05\0T")) as server:
            with callers(Apolo, AsyncApolo, "127.0.0.1", server.port, timeout=PATIENCE) as both:
                for one in both:
                    self.fails(BadReply, "the answer is T, not D", lambda: one.get_location("pieza"))

    def test_a_reply_with_a_fault(self) -> None:
        bad = b"\0\0\0\x09\x4a" + bytes(8)
        with serving(sending(bad)) as server:
            with callers(Neobotix, AsyncNeobotix, "127.0.0.1", server.port, timeout=PATIENCE) as both:
                for one in both:
                    self.fails(BadReply, "get_position: 8 bytes are missing after byte 9", one.get_position)
                    self.assertTrue(one.client.is_connected, "the stream is in step")

    def test_refusals_have_the_protocols_code(self) -> None:
        with serving(sending(b"aa\x05\0F")) as server:
            with callers(Apolo, AsyncApolo, "127.0.0.1", server.port, timeout=PATIENCE) as both:
                for one in both:
                    with self.assertRaises(Refused) as caught:
                        one.get_location("nobody")
                    self.assertEqual((caught.exception.code, caught.exception.text), ("F", "get_location: F"))

    def test_time_limits_are_checked(self) -> None:
        for value in (0, -1, float("nan"), "1", 1e9):
            with self.assertRaises(BadArgument):
                Apolo(timeout=value)  # type: ignore[arg-type]
        for port in (0, 65536, "1", 1.5):
            with self.assertRaises(BadArgument):
                Apolo(port=port)  # type: ignore[arg-type]
        with self.assertRaises(BadArgument):
            Apolo("")

    def test_threads_share_a_client(self) -> None:
        with serving(sending(LOCATION)) as server, Apolo("127.0.0.1", server.port, timeout=5) as apolo:
            found: list[Any] = []

            def ask() -> None:
                for _ in range(50):
                    found.append(apolo.get_location_m_robot("Neo").x)

            threads = [threading.Thread(target=ask) for _ in range(5)]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
            self.assertEqual(found, [1.0] * 250)

    def test_tasks_share_a_client_and_may_be_cancelled(self) -> None:
        async def run(port: int) -> None:
            async with AsyncNeobotix("127.0.0.1", port, timeout=5) as platform:
                found = await asyncio.gather(*[platform.get_position() for _ in range(50)])
                self.assertEqual({one.x for one in found}, {1.0})
                for delay in (0.0, 0.001):
                    task = asyncio.ensure_future(platform.get_position())
                    await asyncio.sleep(delay)
                    task.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await task
                    self.assertEqual((await platform.get_position()).x, 1.0)

        with serving(sending(POSITION)) as server:
            asyncio.run(run(server.port))


class PlayerFaults(unittest.TestCase):
    def test_refused_and_denied(self) -> None:
        def answer(interface: int, number: int, body: bytes, ack: bytes) -> bytes:
            if interface == 1 and number == 3 and body[11] == 5:
                denied = body[:16] + struct.pack(">I", 3) + body[20:]
                return header(4, 1, 0, 3, len(denied)) + denied
            return header(6, interface, 0, number, 0) if interface == 4 else b""

        with serving(player_server(answer)) as server:
            with callers(Player, AsyncPlayer, "127.0.0.1", server.port, timeout=PATIENCE) as both:
                for one in both:
                    with self.assertRaises(Refused) as caught:
                        one.sonar()
                    self.assertEqual(caught.exception.code, "DENIED")
                    base = one.position2d()
                    with self.assertRaises(Refused) as caught:
                        base.set_motor_power(True)
                    self.assertEqual(caught.exception.code, "NACK")
                    self.assertIsNone(base.state)
                    with self.assertRaises(BadArgument):
                        one.driver("nonsense")

    def test_a_late_answer_and_a_new_connection(self) -> None:
        asked = [0]

        def answer(interface: int, number: int, body: bytes, ack: bytes) -> bytes:
            if interface == 6 and number == 5:
                asked[0] += 1
                if asked[0] == 1:
                    return b""
                if asked[0] == 3:
                    return ack[:36] + struct.pack(">II", 4, 333)
                # The late answer to the first question has its number, 1 for the mode and 2 for opening before it.
                late = ack[:32] + struct.pack(">II", 3, 4) + struct.pack(">I", 111)
                return late + ack[:36] + struct.pack(">I", 4) + struct.pack(">I", 222)
            return b""

        for blocking in (True, False):
            asked[0] = 0
            with serving(player_server(answer)) as server:
                with callers(Player, AsyncPlayer, "127.0.0.1", server.port, timeout=PATIENCE) as both:
                    one = both[0 if blocking else 1]
                    laser = one.laser()
                    one.client.timeout = LIMIT
                    with self.assertRaises(Timeout):
                        laser.get_id()
                    one.client.timeout = PATIENCE
                    self.assertEqual(laser.get_id(), 222)
                    one.close()
                    # The device is opened again.
                    self.assertEqual(laser.get_id(), 333)
                    self.assertEqual(server.connections, 2)

    def test_data_in_both_modes(self) -> None:
        state = header(1, 4, 0, 1, 52) + struct.pack(">6dI", 1, 2, 3, 4, 5, 6, 1)
        strange = header(1, 99, 0, 1, 4) + bytes(4) + header(1, 4, 0, 77, 0) + header(1, 4, 0, 1, 8) + bytes(8)
        synch = header(5, 1, 0, 2, 4) + struct.pack(">I", 9)

        def answer(interface: int, number: int, body: bytes, ack: bytes) -> bytes:
            if interface == 1 and number == 3:
                return header(4, 1, 0, 3, len(body)) + body + (b"" if pull else strange + state)
            return ack + strange + state + synch if interface == 1 and number == 4 else b""

        for pull in (False, True):
            with serving(player_server(answer)) as server:
                with callers(Player, AsyncPlayer, "127.0.0.1", server.port, timeout=PATIENCE, pull=pull) as both:
                    for one in both:
                        with self.subTest(pull=pull, client=type(one.client).__name__):
                            base = one.position2d()
                            data = one.read(2.0)
                            self.assertEqual(
                                [(d.interface, d.index, d.name, d.time) for d in data],
                                [("position2d", 0, "state", 1.5)],
                            )
                            self.assertEqual(base.state.pose.yaw, 3.0)
                            self.assertEqual(one.lost_data, 9 if pull else 0)
                            if not pull:
                                self.assertEqual(one.read(0.1), [])

    def test_a_reading_that_finds_nothing(self) -> None:
        def answer(interface: int, number: int, body: bytes, ack: bytes) -> bytes:
            return ack if interface == 1 and number == 4 else b""

        with serving(player_server(answer)) as server:
            with callers(Player, AsyncPlayer, "127.0.0.1", server.port, timeout=PATIENCE, pull=True) as both:
                for one in both:
                    one.position2d()
                    began = time.monotonic()
                    self.assertEqual(one.read(0.2), [])
                    self.assertEqual(one.read(0.2), [])
                    self.assertLess(time.monotonic() - began, SLACK)
                    self.assertTrue(one.client.is_connected)

    def test_nobody_takes_the_data(self) -> None:
        state = header(1, 4, 0, 1, 52) + bytes(52)

        def answer(interface: int, number: int, body: bytes, ack: bytes) -> bytes:
            return header(4, 1, 0, 3, len(body)) + body + state * 3000 if number == 3 else b""

        with serving(player_server(answer)) as server, Player("127.0.0.1", server.port, timeout=5) as player:
            player.position2d()
            player.read(1.0)
            self.assertLessEqual(len(player.read(0.1)), 1000)


class Udp(unittest.TestCase):
    def make(self, port: int, **options: Any) -> Any:
        return callers(Arm31, AsyncArm31, "127.0.0.1", port, **{"timeout": PATIENCE, "repeat_interval": 0.1, **options})

    def test_nothing_listens(self) -> None:
        with self.make(closed_port(socket.SOCK_DGRAM)) as both:
            for one in both:
                for ask in (one.stop, one.begin_motion):
                    began = time.monotonic()
                    with self.assertRaisesRegex(ClientError, "nothing listens on|no answer within"):
                        ask()
                    self.assertLess(time.monotonic() - began, LIMIT + SLACK)

    def test_silence(self) -> None:
        with controlling(lambda _: []) as controller, self.make(controller.port, timeout=1) as both:
            for one in both:
                controller.received.clear()
                controller.senders.clear()
                with self.assertRaisesRegex(Timeout, "stop: no answer within 1 s"):
                    one.stop()
                until("repeated stops", lambda: len(controller.received) >= 3)
                with self.assertRaises(Timeout):
                    one.begin_motion()

                def starts() -> int:
                    return sum(data[:2] == b"BG" for data in controller.received)

                until("the start", starts)
                time.sleep(0.1)
                received = list(zip(controller.senders, controller.received))
                self.assertEqual(starts(), 1, f"a start is not repeated: {received}")

    def test_a_lost_datagram(self) -> None:
        losses = [True]

        def behaviour(data: bytes) -> list[bytes]:
            if losses:
                losses.clear()
                return []
            return [data[1::-1] + data[2:]]

        with controlling(behaviour) as controller, self.make(controller.port, timeout=5) as both:
            for one in both:
                losses[:] = [True]
                one.set_joint_goal([1, 2, 3, 4, 5, 6])
                one.stop()

    def test_old_and_wrong_answers_are_skipped(self) -> None:
        def behaviour(data: bytes) -> list[bytes]:
            other = b"Gj" + struct.pack("<7f", 6, 5, 4, 3, 2, 1, 0) + b"\0"
            return [b"", b"x", b"\xff" * 31, b"TS" + bytes(29), other, bytes(100), data[1::-1] + data[2:]]

        with controlling(behaviour) as controller, self.make(controller.port) as both:
            for one in both:
                one.set_joint_goal([1, 2, 3, 4, 5, 6])

    def test_refusals_and_notices(self) -> None:
        texts = {
            b"BG": b"ER20 Cmd BG rejected", b"OF": b"ER10 Arm did not stop", b"ON": b"ER11 Arm did not start",
            b"jC": b"ER00 Cmd jC not understood", b"VC": b"ER01 Msg VC undersized.",
        }  # fmt: skip

        def behaviour(data: bytes) -> list[bytes]:
            if data[:2] == b"ST":
                stale = b"ER20 Cmd BG rejected"
                return [b"WN12 Joint limit.".ljust(31, b"\0"), stale.ljust(31, b"\0"), b"TS" + bytes(29)]
            return [texts[data[:2]] + b"\0old bytes"]

        with controlling(behaviour) as controller, self.make(controller.port) as both:
            for one in both:
                for letters, ask in {
                    b"BG": one.begin_motion, b"OF": one.disable, b"ON": one.enable,
                    b"jC": one.clear_joint_via_points, b"VC": one.clear_via_points,
                }.items():  # fmt: skip
                    with self.assertRaises(Refused) as caught:
                        ask()
                    text = texts[letters].decode()
                    self.assertEqual((caught.exception.code, caught.exception.text), (text[:4], text))
                one.stop()
                expected = [Notice("WN12", "WN12 Joint limit."), Notice("ER20", "ER20 Cmd BG rejected")]
                self.assertEqual(one.wait_notices(1.0), expected)
                self.assertEqual(one.wait_notices(0.1), [])

    def test_another_mode_is_in_force(self) -> None:
        with controlling(lambda data: [b"MC" + struct.pack("<f", 2) + bytes(25)]) as controller:
            with self.make(controller.port) as both:
                for one in both:
                    with self.assertRaisesRegex(Refused, "not JOINT but 2"):
                        one.set_command_mode("joint")

    def test_the_original_does_not_answer_rc(self) -> None:
        with controlling(lambda _: []) as controller:
            with self.make(controller.port, recalibrate_unanswered=True) as both:
                for one in both:
                    one.recalibrate([0] * 6)
            until("both", lambda: len(controller.received) >= 2)
            self.assertEqual([data[:2] for data in controller.received], [b"RC", b"RC"])

    def test_a_controller_that_comes_later(self) -> None:
        port = free_port(socket.SOCK_DGRAM)
        with self.make(port, timeout=5) as both:
            for one in both:
                from .support import FakeController

                started: list[FakeController] = []

                def start(started: list[FakeController] = started) -> None:
                    time.sleep(0.3)
                    started.append(FakeController(lambda data: [data[1::-1] + data[2:]], port))

                thread = threading.Thread(target=start)
                thread.start()
                one.stop()
                thread.join()
                started[0].stop()


if __name__ == "__main__":
    unittest.main()
