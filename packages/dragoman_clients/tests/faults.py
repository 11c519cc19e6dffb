"""Servers that are gone, silent, stop in the middle, or lie, against a program that asks one question per line.

The program gets `PROTOCOL PORT SECONDS`, or `again` for the same client, and prints the error's kind and text, or OK.
"""

from __future__ import annotations

import re
import socket
import struct
import subprocess
import threading
import time
from typing import Any, Callable

from tests.support import FakeController, FakeServer, closed_port, until

LIMIT = 0.5
ANSWERS = {
    "apolo": b"aa\x27\0D\x04\0" + struct.pack("<4d", 1, 2, 3, 4),
    "neobotix": b"\xff\x01\xfe\x02\0\0\0\x21\x4a" + struct.pack(">2i3d", 1000, 2000, 0.5, 100.0, 0.25),
    "player": b"Player v.3.1.1-dev".ljust(32, b"\0"),
}
JOINTS = b"Pj" + struct.pack("<7fB", 1, 0, 0, 0, 0, 0, 0, 0)


def behaviour(protocol: str, kind: str) -> Any:
    """What a server does with a connection."""
    answer = ANSWERS[protocol]
    half = answer[: len(answer) // 2]

    def run(one: socket.socket) -> None:
        if protocol != "player":
            one.recv(4096)
        if kind in ("half", "half and end"):
            one.sendall(half)
        elif kind == "garbage":
            one.sendall(b"\xff" * 100 + b"aa\xff\xff" * 30)
        elif kind == "once":
            one.sendall(answer)
        elif kind == "late":
            time.sleep(2 * LIMIT)
            one.sendall(answer)
        if kind not in ("half and end", "end", "once"):
            while one.recv(4096):
                pass

    return run


def closing(one: socket.socket) -> None:
    """A server that ends the connection without an answer."""
    one.recv(4096)


def refusing(one: socket.socket) -> None:
    """A server that refuses a question, in Apolo's protocol."""
    one.recv(4096)
    one.sendall(b"aa\x05\0F")
    one.recv(1)


def ended(server: FakeServer) -> None:
    """Waits until the server has closed all connections."""
    until("the end of the connection", lambda: server.ended == server.connections)


class Probe:
    """The program."""

    def __init__(self, words: list[str]) -> None:
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.count = 0
        self.ask("apolo 1 0.5", "ConnectionLost", "", 60)

    def ask(self, line: str, kind: str, text: str, limit: float = 10.0) -> None:
        """Expects this kind of error, with this text, within the limit, which only a hang exceeds."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        guard = threading.Timer(limit, self._process.kill)
        guard.start()
        found = self._process.stdout.readline().strip()
        guard.cancel()
        if not re.match(f"{kind} .*{text}", found):
            raise SystemExit(f"{line}: {found or 'no answer: it hangs'}; expected: {kind} {text}")
        self.count += 1

    def stop(self) -> None:
        """Ends it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)


def run(words: list[str], protocols: list[str]) -> int:
    """All faults; how many questions were asked."""
    probe = Probe(words)
    tcp = [one for one in protocols if one in ANSWERS]
    for protocol in tcp:
        probe.ask(f"{protocol} {closed_port()} {LIMIT}", "ConnectionLost", "127.0.0.1:")
        expected = {
            "silence": ("Timeout", "no answer within 0.5 s"),
            "half": ("Timeout", "no answer within 0.5 s"),
            "end": ("ConnectionLost", "closed the connection"),
            "half and end": ("ConnectionLost", "closed the connection"),
            "garbage": ("Timeout", "") if protocol == "apolo" else ("BadReply", ""),
        }
        for kind, (error, text) in expected.items():
            server = FakeServer(behaviour(protocol, kind))
            probe.ask(f"{protocol} {server.port} {LIMIT}", error, text)
            server.stop()
    for protocol in [one for one in tcp if one != "player"]:
        server = FakeServer(behaviour(protocol, "once"))
        connects_again(probe, server, protocol, "1")
        # A late answer is not taken for that of the next question.
        server = FakeServer(behaviour(protocol, "late"))
        probe.ask(f"{protocol} {server.port} {LIMIT}", "Timeout", "no answer")
        time.sleep(LIMIT)
        probe.ask("again", "Timeout", "no answer")
        server.stop()
    if "player" in tcp:
        player(probe)
    if "apolo_functions" in protocols:
        apolo_functions(probe)
    if "apolo" in tcp:
        server = FakeServer(refusing)
        probe.ask(f"apolo {server.port} 10", "Refused", "get_location_m_robot")
        server.stop()
    if "arm31" in protocols:
        datagrams(probe)
    if "rosbridge" in protocols:
        websockets(probe)
    probe.stop()
    return probe.count


def connects_again(probe: Probe, server: FakeServer, protocol: str, value: str) -> None:
    """The server ends the connection after each answer: the next call connects again."""
    probe.ask(f"{protocol} {server.port} 10", "OK", value)
    for _ in range(2):
        ended(server)
        probe.ask("again", "OK", value)
    if server.connections != 3:
        raise SystemExit(f"{protocol}: {server.connections} connections instead of 3")
    server.stop()


def player(probe: Probe) -> None:
    """Player's answers have numbers, so its connection stays after a late one."""

    def behaviour(delays: list[float], is_ended: bool) -> Callable[[socket.socket], None]:
        def run(one: socket.socket) -> None:
            one.sendall(ANSWERS["player"])
            data = b""
            while chunk := one.recv(4096):
                data += chunk
                while len(data) >= 40:
                    _, _, interface, index, kind, number, _, sequence, size = struct.unpack(">6IdII", data[:40])
                    if len(data) < 40 + size:
                        break
                    data = data[40 + size :]
                    # The list of devices: none. Every other request has an answer without a body.
                    body = struct.pack(">II", 0, 0) if (interface, number) == (1, 1) else b""
                    if body and delays:
                        time.sleep(delays.pop(0))
                    head = struct.pack(">6IdII", 0, 6665, interface, index, 4, number, 1.5, sequence, len(body))
                    if kind == 3:
                        one.sendall(head + body)
                    if body and is_ended:
                        return

        return run

    server = FakeServer(behaviour([], True))
    connects_again(probe, server, "player", "0")
    server = FakeServer(behaviour([2 * LIMIT], False))
    probe.ask(f"player {server.port} {LIMIT}", "Timeout", "no answer within 0.5 s")
    time.sleep(2 * LIMIT)
    probe.ask("again", "OK", "0")
    server.stop()


def apolo_functions(probe: Probe) -> None:
    """Apolo's functions for MATLAB: no answer is a warning and no value, as if the name were unknown."""
    probe.ask(f"apolo {closed_port()} {LIMIT}", "ConnectionLost", "no connection to Apolo at 127.0.0.1:")
    for kind, error in {"silence": "Nothing", "half": "Nothing", "late": "Nothing", "end": "ConnectionLost"}.items():
        server = FakeServer(behaviour("apolo", kind))
        probe.ask(f"apolo {server.port} {LIMIT}", error, "")
        if kind == "late":
            # The late answer is not taken for that of the next question.
            probe.ask("again", error, "")
        server.stop()
    server = FakeServer(refusing)
    probe.ask(f"apolo {server.port} 10", "Nothing", "")
    server.stop()
    server = FakeServer(behaviour("apolo", "once"))
    connects_again(probe, server, "apolo", "1")


def datagrams(probe: Probe) -> None:
    """Faults on UDP."""
    for question in ("arm31", "arm31_start"):
        probe.ask(f"{question} {closed_port(socket.SOCK_DGRAM)} {LIMIT}", "(ConnectionLost|Timeout)", "")
    answers: list[list[bytes]] = []
    server = FakeController(lambda _: answers.pop(0) if answers else [])
    probe.ask(f"arm31 {server.port} {LIMIT}", "Timeout", "no answer within 0.5 s")
    until("a repeated question", lambda: len(server.received) >= 2)
    # A start is sent once.
    probe.ask(f"arm31_start {server.port} {LIMIT}", "Timeout", "no answer within 0.5 s")

    def starts() -> int:
        return sum(data[:2] == b"BG" for data in server.received)

    until("the start", starts)
    time.sleep(0.2)
    if starts() != 1:
        raise SystemExit("a start was repeated")
    # The first answer is lost; garbage, half an answer, and an answer to something else come before the second.
    answers[:] = [[], [b"", b"Pj", JOINTS[:20], b"GB" + JOINTS[2:], JOINTS]]
    probe.ask(f"arm31 {server.port} 10", "OK", "1")
    answers[:] = [[b"ER20 Cmd jP rejected".ljust(31, b"\0")]]
    probe.ask(f"arm31 {server.port} 10", "Refused", "ER20 Cmd jP rejected")
    port = server.port
    server.stop()
    probe.ask("again", "(ConnectionLost|Timeout)", "", 15)
    # It comes again.
    server = FakeController(lambda _: [JOINTS], port)
    probe.ask("again", "OK", "1", 15)
    server.stop()


def websockets(probe: Probe) -> None:
    """What answers the request for a WebSocket."""
    probe.ask(f"rosbridge {closed_port()} 1", "ConnectionLost", "no console at 127.0.0.1:")
    answers = {
        b"": ("ConnectionLost", "no answer to the request for a WebSocket"),
        b"HTTP/1.1 403 Forbidden\r\n\r\n": ("ConnectionLost", "no rosbridge at .*403 Forbidden"),
        b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: wrong\r\n\r\n": (
            "ConnectionLost",
            "no rosbridge at",
        ),
    }
    for answer, (kind, text) in answers.items():

        def behaviour(one: socket.socket, answer: bytes = answer) -> None:
            one.recv(4096)
            one.sendall(answer)
            while one.recv(4096):
                pass

        server = FakeServer(behaviour)
        probe.ask(f"rosbridge {server.port} 1", kind, text, 20)
        server.stop()
    server = FakeServer(closing)
    probe.ask(f"rosbridge {server.port} 1", "ConnectionLost", "connection to the console at .* lost")
    server.stop()
