"""Clients whose calls return when the answer is there."""

from __future__ import annotations

import functools
import inspect
import selectors
import socket
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Callable, Generic, Optional, TypeVar, Union, cast, overload

from . import checks
from .core import Core, P, Pause, Procedure, Request, timed_out
from .errors import BadReply, ConnectionLost, Timeout

T = TypeVar("T")
SelfT = TypeVar("SelfT", bound="Client")

_CHUNK = 1 << 16


class Method(Generic[P, T]):
    """The type of a client's method that carries out a command."""

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type) -> Callable[..., T]: ...

        @overload
        def __get__(self, instance: object, owner: type) -> Callable[P, T]: ...

        def __get__(self, instance: Optional[object], owner: type) -> Callable[..., T]: ...


@overload
def blocking(command: Callable[P, Request[T]]) -> Method[P, T]: ...


@overload
def blocking(command: Callable[P, Generator[Union[Request[Any], Pause], Any, T]]) -> Method[P, T]: ...


def blocking(command: Callable[..., Any]) -> Any:
    """A method that carries out this command."""

    @functools.wraps(command)
    def method(self: Client, *args: Any, **kwargs: Any) -> Any:
        return self._run(command(*args, **kwargs))

    as_method(method, command)
    return method


def as_method(method: Any, command: Callable[..., Any]) -> None:
    """Gives a method the signature of its command, with self."""
    signature = inspect.signature(command)
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [itself, *signature.parameters.values()]
    method.__signature__ = signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)


class Deadline:
    """The end of a time limit."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """The remaining time, s; at least 0."""
        return max(0.0, self._end - time.monotonic())


class Client:
    """A connection to a server. It opens with the first call, and again after it was lost.

    Threads may share a client; their calls wait for each other.
    """

    def __init__(self, core: Core, host: str, port: int, timeout: float) -> None:
        self.host, self.port = checks.endpoint(host, port)
        self.timeout = checks.duration(timeout, "the timeout")
        self._core = core
        self._socket: Optional[socket.socket] = None
        self._lock = threading.RLock()

    def __enter__(self: SelfT) -> SelfT:
        self.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.host!r}, {self.port})"

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection, as far as is known."""
        return self._socket is not None

    def connect(self) -> None:
        """Opens the connection, if there is none."""
        deadline = Deadline(checks.duration(self.timeout, "the timeout"))
        with self._locked("connect", deadline):
            self._ensure(deadline)

    def close(self) -> None:
        """Closes the connection. The next call opens it again."""
        connection, self._socket = self._socket, None
        if connection is not None:
            connection.close()

    # Carrying out

    def _run(self, action: Union[Request[T], Procedure[T]]) -> T:
        if isinstance(action, Request):
            return self._call(action)
        step: Any = None
        try:
            while True:
                wanted = action.send(step)
                if isinstance(wanted, Pause):
                    time.sleep(wanted.seconds)
                    step = None
                else:
                    step = self._call(wanted)
        except StopIteration as end:
            return cast(T, end.value)

    def _call(self, request: Request[T], seconds: Optional[float] = None) -> T:
        limit = self.timeout if seconds is None else seconds
        deadline = Deadline(checks.duration(limit, "the time limit"))
        with self._locked(request.name, deadline):
            connection = self._ensure(deadline)
            return cast(T, self._exchange(connection, request, deadline))

    def _call_on_same(self, request: Request[T]) -> T:
        """As a call, but never on a new connection: ConnectionLost if that of the last call has ended."""
        deadline = Deadline(checks.duration(self.timeout, "the time limit"))
        with self._locked(request.name, deadline):
            if self._socket is None:
                raise ConnectionLost(f"{request.name}: no connection to {self._place()}")
            return cast(T, self._exchange(self._socket, request, deadline))

    @contextmanager
    def _locked(self, name: str, deadline: Deadline) -> Iterator[None]:
        if not self._lock.acquire(timeout=deadline.left()):
            raise timed_out(name, deadline.seconds)
        try:
            yield
        finally:
            self._lock.release()

    def _exchange(self, connection: socket.socket, request: Request[Any], deadline: Deadline) -> Any:
        data = self._core.begin(request)
        try:
            self._send(connection, data, deadline)
            if not request.answered:
                return request.decode(None)
            while True:
                outcome = self._core.take_outcome()
                if outcome is not None:
                    return outcome.get()
                self._core.receive(self._receive(connection, request, data, deadline))
        except (socket.timeout, TimeoutError) as error:
            # `socket.timeout` is the same from Python 3.10 on. Errors of the core are passed on.
            if isinstance(error, Timeout):
                raise
            if self._core.give_up():
                self.close()
            raise timed_out(request.name, deadline.seconds) from None
        except ConnectionLost:
            self.close()
            raise
        except OSError as error:
            self.close()
            raise ConnectionLost(f"{request.name}: connection to {self._place()} lost: {error}") from error
        except BadReply:
            if self._core.pending is not None:
                # The stream is out of step.
                self.close()
            raise
        except BaseException:
            # For example Ctrl-C: the answer may still arrive, and belongs to no call.
            if self._core.pending is not None:
                self.close()
            raise

    def _send(self, connection: socket.socket, data: bytes, deadline: Deadline) -> None:
        if data:
            connection.settimeout(max(deadline.left(), 1e-3))
            connection.sendall(data)

    def _receive(self, connection: socket.socket, request: Request[Any], data: bytes, deadline: Deadline) -> bytes:
        left = deadline.left()
        if left <= 0:
            raise socket.timeout
        connection.settimeout(left)
        received = connection.recv(_CHUNK)
        if not received:
            raise ConnectionLost(f"{request.name}: {self._place()} closed the connection")
        return received

    # Events

    def _wait_events(self, seconds: float) -> list[Any]:
        """Received events; waits for the first one. Calls of other threads do not wait meanwhile."""
        deadline = Deadline(checks.duration(seconds, "the time limit"))
        while True:
            with self._locked("events", deadline):
                connection = self._ensure(deadline)
                self._drain(connection)
                if self._core.events:
                    return self._core.take_events()
            if deadline.left() <= 0:
                return []
            with selectors.DefaultSelector() as selector:
                try:
                    selector.register(connection, selectors.EVENT_READ)
                except (ValueError, OSError):
                    continue
                # Another thread may receive the bytes; then the event is in the queue.
                selector.select(min(deadline.left(), 0.05))

    def _drain(self, connection: socket.socket) -> None:
        connection.settimeout(0)
        try:
            while True:
                received = connection.recv(_CHUNK)
                if not received:
                    raise ConnectionLost(f"{self._place()} closed the connection")
                self._core.receive(received)
        except (BlockingIOError, socket.timeout):
            pass
        except (ConnectionLost, BadReply):
            self.close()
            raise
        except OSError as error:
            self.close()
            raise ConnectionLost(f"connection to {self._place()} lost: {error}") from error

    # Connecting

    def _place(self) -> str:
        return f"{self.host}:{self.port}"

    def _ensure(self, deadline: Deadline) -> socket.socket:
        if self._socket is not None and self._has_ended(self._socket):
            self.close()
        if self._socket is None:
            self._socket = connection = self._open(deadline)
            self._core.connected()
            try:
                for request in self._core.setup():
                    self._exchange(connection, request, deadline)
            except BaseException:
                self.close()
                raise
        return self._socket

    def _has_ended(self, connection: socket.socket) -> bool:
        """Whether the server closed the connection between two calls."""
        connection.settimeout(0)
        try:
            return not connection.recv(1, socket.MSG_PEEK)
        except (BlockingIOError, socket.timeout):
            return False
        except OSError:
            return True

    def _open(self, deadline: Deadline) -> socket.socket:
        try:
            connection = socket.create_connection((self.host, self.port), max(deadline.left(), 1e-3))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        except (socket.timeout, TimeoutError):
            raise Timeout(f"cannot connect to {self._place()} within {deadline.seconds:g} s") from None
        except (OSError, UnicodeError) as error:
            raise ConnectionLost(f"cannot connect to {self._place()}: {error}") from error


class DatagramClient(Client):
    """A client on UDP: repeats what may be repeated."""

    def __init__(self, core: Core, host: str, port: int, timeout: float, repeat_interval: float) -> None:
        super().__init__(core, host, port, timeout)
        self._copies = 1
        self.repeat_interval = checks.duration(repeat_interval, "the repeat interval")

    def _exchange(self, connection: socket.socket, request: Request[Any], deadline: Deadline) -> Any:
        self._copies = 1
        try:
            return super()._exchange(connection, request, deadline)
        finally:
            if self._copies > 1:
                # Answers to the other copies may still arrive; they belong to no call.
                self.close()

    def _has_ended(self, connection: socket.socket) -> bool:
        # UDP has no connection that could end; this clears an old error of the socket.
        connection.settimeout(0)
        with suppress(OSError):
            connection.recv(1, socket.MSG_PEEK)
        return False

    def _open(self, deadline: Deadline) -> socket.socket:
        connection: Optional[socket.socket] = None
        try:
            found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_DGRAM)
            family, kind, protocol, _, address = found[0]
            connection = socket.socket(family, kind, protocol)
            connection.connect(address)
            return connection
        except (OSError, UnicodeError) as error:
            if connection is not None:
                connection.close()
            raise ConnectionLost(f"cannot reach {self._place()}: {error}") from error

    def _receive(self, connection: socket.socket, request: Request[Any], data: bytes, deadline: Deadline) -> bytes:
        while True:
            left = deadline.left()
            if left <= 0:
                raise socket.timeout
            connection.settimeout(min(left, self.repeat_interval) if request.repeatable else left)
            try:
                return connection.recv(_CHUNK)
            except (socket.timeout, BlockingIOError):
                if not request.repeatable or deadline.left() <= 0:
                    raise socket.timeout from None
            except ConnectionRefusedError:
                if not request.repeatable or deadline.left() <= self.repeat_interval:
                    raise ConnectionLost(f"{request.name}: nothing listens on {self._place()}") from None
                time.sleep(self.repeat_interval)
            self._copies += 1
            with suppress(ConnectionRefusedError):
                connection.send(data)

    def _drain(self, connection: socket.socket) -> None:
        connection.settimeout(0)
        try:
            while True:
                self._core.receive(connection.recv(_CHUNK))
        except OSError:
            pass
