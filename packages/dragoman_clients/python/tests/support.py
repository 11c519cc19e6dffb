"""What the tests share: the lab, fake servers, and the pages of the documentation."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import dataclasses
import fcntl
import os
import random
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import typing
import unittest
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Callable, Optional

from dragoman_clients.neobotix.codes import MotionMode, OperationState, PlannerState
from dragoman_clients.neobotix.replies import Status

REPOSITORY = Path(os.environ.get("DRAGOMAN_REPOSITORY") or Path(__file__).resolve().parents[4])
# Below are those of `dragoman_bringup/tests/common/mod.rs`, whose tests may run at the same time.
DOMAINS = range(60, 100)
PROGRAM = os.environ.get("DRAGOMAN_PROGRAM", "") and os.path.abspath(os.environ["DRAGOMAN_PROGRAM"])

needs_lab = unittest.skipUnless(PROGRAM, "DRAGOMAN_PROGRAM is not set")


def page(name: str) -> str:
    """The text of a page of the documentation."""
    return (REPOSITORY / "docs" / name).read_text(encoding="utf-8")


def first_cells(text: str, heading: str) -> list[list[str]]:
    """The rows of the first table after a heading, without the backquotes."""
    rows: list[list[str]] = []
    for line in text.split(heading, 1)[1].splitlines():
        if line.startswith("| "):
            rows.append([cell.strip().replace("`", "") for cell in line.strip("| ").split(" | ")])
        elif rows:
            break
    return [row for row in rows if not set(row[0]) <= {"-", " "}][1:]


def seeded() -> random.Random:
    """Random numbers whose seed is printed; DRAGOMAN_TEST_SEED repeats it."""
    seed = int(os.environ.get("DRAGOMAN_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"seed {seed}")
    return random.Random(seed)


def blank(kind: Any) -> Any:
    """A reply with zeros."""
    kinds = typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for one in dataclasses.fields(kind):
        hint = kinds[one.name]
        if dataclasses.is_dataclass(hint):
            values[one.name] = blank(hint)
        elif typing.get_origin(hint) is list:
            values[one.name] = []
        elif typing.get_origin(hint) is tuple:
            values[one.name] = (0,) * 16
        else:
            values[one.name] = 0
    return kind(**values)


def running_status() -> Status:
    """The status of a platform that is started in the mode automatic."""
    status: Status = blank(Status)
    return dataclasses.replace(
        status,
        operation_state=OperationState.RUNNING,
        motion_mode=MotionMode.AUTOMATIC,
        planner_state=PlannerState.STANDBY,
        is_target_reached=False,
    )


_held: list[socket.socket] = []


def closed_port(kind: int = socket.SOCK_STREAM) -> int:
    """A port at which nothing listens, and at which no other program can, until this process ends."""
    one = socket.socket(socket.AF_INET, kind)
    one.bind(("127.0.0.1", 0))
    _held.append(one)
    address = one.getsockname()
    if kind == socket.SOCK_DGRAM:
        # From no other port it receives anything.
        one.connect(address)
    return int(address[1])


def until(what: str, condition: Callable[[], Any], seconds: float = 20.0) -> Any:
    """Waits for a condition; its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.05)


def _reserve(domain: int) -> bool:
    """Reserves a domain until this process ends; other runs of these tests then do not take it."""
    file = os.open(Path(tempfile.gettempdir(), f"dragoman-test-domain-{domain}"), os.O_CREAT | os.O_RDWR, 0o666)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return False
    return True


def _first_port(domain: int) -> int:
    """DDS: the port of the domain's first participant."""
    return 7410 + 250 * domain


def _free_domains() -> Iterator[int]:
    """ROS domains in which this machine has no program, so that several runs on it do not meet."""
    for domain in random.SystemRandom().sample(DOMAINS, len(DOMAINS)):
        if not _reserve(domain):
            continue
        # Other programs do not reserve.
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
                one.bind(("0.0.0.0", _first_port(domain)))
        except OSError:
            continue
        yield domain


def _free_ports() -> Iterator[int]:
    """Ports of domains that are reserved for them. The system gives none of these to a program that asks for any."""
    for domain in _domains:
        yield from range(_first_port(domain), _first_port(domain) + 200)


_domains = _free_domains()
_ports = _free_ports()
_reservations = threading.Lock()


def free_domain() -> int:
    """A domain of its own for a lab; threads may start labs at the same time."""
    with _reservations:
        return next(_domains)


def free_port(kind: int = socket.SOCK_STREAM) -> int:
    """A port that is not in use, and that no other run of these tests gets."""
    while True:
        with _reservations:
            port = next(_ports)
        with socket.socket(socket.AF_INET, kind) as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port


class Process:
    """A program of Dragoman, until it is stopped."""

    def __init__(self, *arguments: str, domain: Optional[int] = None, ready: str = "ready") -> None:
        self.domain = free_domain() if domain is None else domain
        self.folder = tempfile.mkdtemp(prefix="dragoman-clients-")
        self.log = Path(self.folder, "log")
        environment = {
            **os.environ,
            "ROS_DOMAIN_ID": str(self.domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "XDG_DATA_HOME": self.folder,
        }
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [PROGRAM, *arguments],
                env=environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            until(f"{arguments[0]} is {ready}", lambda: self._is_ready(ready), 60.0)
        except AssertionError:
            self.stop()
            raise

    def _is_ready(self, ready: str) -> bool:
        text = self.log.read_text(errors="replace")
        if self._process.poll() is not None:
            raise AssertionError(f"the program ended with {self._process.returncode}: {text[-2000:]}")
        return ready in text

    def stop(self) -> None:
        """Ends the program."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Lab(Process):
    """`dragoman up` with ports of its own."""

    def __init__(self, *options: str, domain: Optional[int] = None, ports_of: Optional[Lab] = None) -> None:
        if ports_of is None:
            self.apolo, self.player = free_port(), free_port()
            self.neobotix = [free_port(), free_port()]
            self.arm31 = free_port(socket.SOCK_DGRAM)
        else:
            self.apolo, self.player = ports_of.apolo, ports_of.player
            self.neobotix, self.arm31 = ports_of.neobotix, ports_of.arm31
        ports = {
            "apolo:port": self.apolo,
            "neobotix:ports": str(self.neobotix),
            "arm31:port": self.arm31,
            "player:port": self.player,
        }
        given = [word for name, port in ports.items() for word in ("-p", f"{name}:={port}")]
        extra = list(options)
        ros = []
        if "--ros-args" in extra:
            place = extra.index("--ros-args")
            extra, ros = extra[:place], extra[place + 1 :]
        if "--console" not in extra:
            extra += ["--console", "off"]
        super().__init__("up", *extra, "--ros-args", *given, *ros, domain=domain)


_shared: list[Lab] = []


def lab() -> Lab:
    """The lab that all tests share; it ends with the process."""
    if not _shared:
        _shared.append(Lab())
        atexit.register(_shared[0].stop)
    return _shared[0]


class FakeServer:
    """A TCP server whose behaviour on each connection is a function."""

    def __init__(self, behaviour: Callable[[socket.socket], None]) -> None:
        self._behaviour = behaviour
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.connections = 0
        self.ended = 0
        """Connections that the server has closed."""
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            connection.settimeout(20)
            self._behaviour(connection)
        self.ended += 1

    def stop(self) -> None:
        """Ends it with all connections."""
        # Accepting does not end by closing alone.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()


@contextlib.contextmanager
def serving(behaviour: Callable[[socket.socket], None]) -> Iterator[FakeServer]:
    """A fake server for the time of a block."""
    server = FakeServer(behaviour)
    try:
        yield server
    finally:
        server.stop()


class FakeController:
    """A UDP server: a function gives the answers to a datagram."""

    def __init__(self, behaviour: Callable[[bytes], Sequence[bytes]], port: int = 0) -> None:
        self._behaviour = behaviour
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", port))
        self.port = int(self._socket.getsockname()[1])
        self.received: list[bytes] = []
        self.senders: list[int] = []
        """The port from which each of these came."""
        self._stopped = False
        self._socket.settimeout(0.05)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stopped:
            try:
                data, address = self._socket.recvfrom(2000)
            except socket.timeout:
                continue
            except OSError:
                return
            self.senders.append(address[1])
            self.received.append(data)
            for answer in self._behaviour(data):
                with contextlib.suppress(OSError):
                    self._socket.sendto(answer, address)

    def stop(self) -> None:
        """Ends it."""
        self._stopped = True
        self._thread.join()
        self._socket.close()


@contextlib.contextmanager
def controlling(behaviour: Callable[[bytes], Sequence[bytes]]) -> Iterator[FakeController]:
    """A fake controller for the time of a block."""
    controller = FakeController(behaviour)
    try:
        yield controller
    finally:
        controller.stop()


class Caller:
    """A client of either kind, called in the same way."""

    def __init__(self, client: Any, loop: Optional[asyncio.AbstractEventLoop] = None) -> None:
        self.client = client
        self._loop = loop

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.client, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            value = method(*args, **kwargs)
            if self._loop is None or not asyncio.iscoroutine(value):
                return value
            value = self._loop.run_until_complete(value)
            return Caller(value, self._loop) if hasattr(value, "close_device") else value

        return call if callable(method) else method


@contextlib.contextmanager
def callers(blocking: type, asynchronous: type, *args: Any, **kwargs: Any) -> Iterator[list[Caller]]:
    """A blocking client and one for asyncio, with the same arguments."""
    loop = asyncio.new_event_loop()
    made: list[Caller] = []
    try:
        made.append(Caller(blocking(*args, **kwargs)))

        async def make() -> Any:
            return asynchronous(*args, **kwargs)

        made.append(Caller(loop.run_until_complete(make()), loop))
        yield made
    finally:
        for one in made:
            one.close()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
