"""Relays between clients and a lab that count what is sent and answered, by the bytes."""

from __future__ import annotations

import contextlib
import re
import selectors
import socket
import struct
import threading
from collections import Counter
from typing import Any, Callable

GET_POSITION = 74
"""Number of PlatformCtrl's question for the position."""

Split = Callable[[bytearray, bool], Any]
"""Takes one message from the start of bytes: its key. None: not whole yet. The flag: from the client."""


def apolo(data: bytearray, _: bool) -> Any:
    """Letters."""
    if len(data) < 5:
        return None
    size = data[2] + 256 * data[3]
    if len(data) < size:
        return None
    letter = chr(data[4])
    del data[:size]
    return letter


def neobotix(data: bytearray, _: bool) -> Any:
    """Numbers of commands."""
    start = 4 if data.startswith(b"\xff\x01\xfe\x02") else 0
    if len(data) < start + 5:
        return None
    end = start + 4 + struct.unpack_from(">I", data, start)[0]
    if len(data) < end:
        return None
    number = data[start + 4]
    del data[:end]
    return int(number)


def player(data: bytearray, from_client: bool) -> Any:
    """Interface, kind, number."""
    if not from_client and data.startswith(b"Player v"):
        if len(data) < 32:
            return None
        del data[:32]
        return "banner"
    if len(data) < 40:
        return None
    _, _, interface, _, kind, number, _, _, size = struct.unpack_from(">6IdII", data)
    if len(data) < 40 + size:
        return None
    del data[: 40 + size]
    return (interface, kind, number)


def anything(data: bytearray, _: bool) -> Any:
    """Chunks."""
    data.clear()
    return "bytes"


def arm31(data: bytearray, _: bool) -> Any:
    """Letters of a datagram, or the text."""
    text = re.match(rb"(ER|WN)\d\d ", data)
    key = bytes(data).split(b"\0")[0].decode() if text else bytes(data[:2]).decode("ascii", "replace")
    data.clear()
    return key


class Tap:
    """A relay to a port of this machine. `sent` and `answered` count what passed."""

    def __init__(self, split: Split, port: int, kind: int = socket.SOCK_STREAM) -> None:
        self._split, self._target, self._kind = split, ("127.0.0.1", port), kind
        self.sent: Counter[Any] = Counter()
        self.answered: Counter[Any] = Counter()
        self._open: list[socket.socket] = []
        if kind == socket.SOCK_STREAM:
            self._listener = socket.create_server(("127.0.0.1", 0))
            run = self._accept
        else:
            self._listener = socket.socket(socket.AF_INET, kind)
            self._listener.bind(("127.0.0.1", 0))
            run = self._datagrams
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=run, daemon=True).start()

    def cut(self) -> None:
        """Ends all connections."""
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server = socket.create_connection(self._target)
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open += [client, server]
            for one, other, count in ((client, server, self.sent), (server, client, self.answered)):
                threading.Thread(target=self._copy, args=(one, other, count), daemon=True).start()

    def _copy(self, source: socket.socket, target: socket.socket, count: Counter[Any]) -> None:
        data = bytearray()
        try:
            while chunk := source.recv(1 << 16):
                data += chunk
                while data and (key := self._split(data, count is self.sent)) is not None:
                    count[key] += 1
                target.sendall(chunk)
        except OSError:
            pass
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _datagrams(self) -> None:
        servers: dict[Any, socket.socket] = {}
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ, None)
            while True:
                for key, _ in selector.select():
                    if key.data is None:
                        data, client = self._listener.recvfrom(2000)
                        if client not in servers:
                            servers[client] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                            servers[client].connect(self._target)
                            selector.register(servers[client], selectors.EVENT_READ, client)
                        servers[client].send(data)
                        self.sent[self._split(bytearray(data), True)] += 1
                    else:
                        data = key.fileobj.recv(2000)  # type: ignore[union-attr]
                        self._listener.sendto(data, key.data)
                        self.answered[self._split(bytearray(data), False)] += 1
