"""Clients whose calls are awaited."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Coroutine, Generator
from typing import TYPE_CHECKING, Any, Callable, Generic, Optional, TypeVar, Union, cast, overload

from . import checks
from .blocking import Deadline, as_method
from .core import Core, P, Pause, Procedure, Request, timed_out
from .errors import BadReply, ClientError, ConnectionLost, Timeout

T = TypeVar("T")
SelfT = TypeVar("SelfT", bound="AsyncClient")


class AsyncMethod(Generic[P, T]):
    """The type of a client's method that carries out a command."""

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type) -> Callable[..., Coroutine[Any, Any, T]]: ...

        @overload
        def __get__(self, instance: object, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...

        def __get__(self, instance: Optional[object], owner: type) -> Callable[..., Coroutine[Any, Any, T]]: ...


@overload
def asynchronous(command: Callable[P, Request[T]]) -> AsyncMethod[P, T]: ...


@overload
def asynchronous(
    command: Callable[P, Generator[Union[Request[Any], Pause], Any, T]],
) -> AsyncMethod[P, T]: ...


def asynchronous(command: Callable[..., Any]) -> Any:
    """A coroutine method that carries out this command."""

    @functools.wraps(command)
    async def method(self: AsyncClient, *args: Any, **kwargs: Any) -> Any:
        return await self._run(command(*args, **kwargs))

    as_method(method, command)
    return method


class _Link(asyncio.Protocol, asyncio.DatagramProtocol):
    """Passes bytes between a transport and a core."""

    def __init__(self, core: Core, place: str) -> None:
        self.core = core
        self.place = place
        self.transport: Any = None
        self.error: Optional[ClientError] = None
        # Set when bytes were received, or the connection has ended.
        self.news = asyncio.Event()
        self.writable = asyncio.Event()
        self.writable.set()
        # UDP: no server. The next datagram may arrive again.
        self.refused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        # Before the first bytes, which may arrive before `_open` returns.
        self.core.connected()

    def data_received(self, data: bytes) -> None:
        try:
            self.core.receive(data)
        except BadReply as error:
            self.end(error)
        self.news.set()

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.core.receive(data)
        self.news.set()

    def error_received(self, exc: Exception) -> None:
        self.refused = True
        self.news.set()

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def eof_received(self) -> None:
        self.end(ConnectionLost(f"{self.place} closed the connection"))

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self.end(ConnectionLost(f"connection to {self.place} lost" + (f": {exc}" if exc else "")))

    def end(self, error: ClientError) -> None:
        if self.error is None:
            self.error = error
        self.news.set()
        self.writable.set()
        if self.transport is not None:
            self.transport.abort()


class AsyncClient:
    """A connection to a server. It opens with the first call, and again after it was lost.

    Tasks may share a client; their calls wait for each other.
    """

    def __init__(self, core: Core, host: str, port: int, timeout: float) -> None:
        self.host, self.port = checks.endpoint(host, port)
        self.timeout = checks.duration(timeout, "the timeout")
        self._core = core
        self._link: Optional[_Link] = None
        # Made with the first call: before Python 3.10 a lock belongs to the loop in which it is made.
        self._lock: Optional[asyncio.Lock] = None

    async def __aenter__(self: SelfT) -> SelfT:
        await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.host!r}, {self.port})"

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection."""
        return self._link is not None and self._link.error is None

    async def connect(self) -> None:
        """Opens the connection, if there is none."""
        deadline = Deadline(checks.duration(self.timeout, "the timeout"))
        await self._acquire("connect", deadline)
        try:
            await self._ensure(deadline)
        finally:
            self._release()

    async def close(self) -> None:
        """Closes the connection. The next call opens it again."""
        self._drop()
        # The transport closes its socket in the next round of the loop.
        await asyncio.sleep(0)

    # Carrying out

    async def _run(self, action: Union[Request[T], Procedure[T]]) -> T:
        if isinstance(action, Request):
            return await self._call(action)
        step: Any = None
        try:
            while True:
                wanted = action.send(step)
                if isinstance(wanted, Pause):
                    await asyncio.sleep(wanted.seconds)
                    step = None
                else:
                    step = await self._call(wanted)
        except StopIteration as end:
            return cast(T, end.value)

    async def _call(self, request: Request[T], seconds: Optional[float] = None) -> T:
        limit = self.timeout if seconds is None else seconds
        deadline = Deadline(checks.duration(limit, "the time limit"))
        await self._acquire(request.name, deadline)
        try:
            link = await self._ensure(deadline)
            return cast(T, await self._exchange(link, request, deadline))
        finally:
            self._release()

    async def _acquire(self, name: str, deadline: Deadline) -> None:
        if self._lock is None:
            self._lock = asyncio.Lock()
        if not self._lock.locked():
            await self._lock.acquire()
            return
        try:
            await asyncio.wait_for(self._lock.acquire(), deadline.left())
        except asyncio.TimeoutError:
            raise timed_out(name, deadline.seconds) from None

    def _release(self) -> None:
        if self._lock is not None and self._lock.locked():
            self._lock.release()

    async def _exchange(self, link: _Link, request: Request[Any], deadline: Deadline) -> Any:
        data = self._core.begin(request)
        try:
            await self._send(link, request, data, deadline)
            if not request.answered:
                return request.decode(None)
            while True:
                outcome = self._core.take_outcome()
                if outcome is not None:
                    return outcome.get()
                if link.error is not None:
                    error, kind = link.error, type(link.error)
                    self._drop()
                    raise kind(f"{request.name}: {error}") from error
                await self._wait(link, request, data, deadline)
        except asyncio.TimeoutError as error:
            if isinstance(error, Timeout):
                raise
            if self._core.give_up():
                self._drop()
            raise timed_out(request.name, deadline.seconds) from None
        except BaseException:
            # For example a cancelled call: its answer may still arrive, and belongs to no call.
            if self._core.pending is not None and self._core.give_up():
                self._drop()
            raise

    async def _send(self, link: _Link, request: Request[Any], data: bytes, deadline: Deadline) -> None:
        if not data:
            return
        link.news.clear()
        link.transport.write(data)
        if not link.writable.is_set():
            await asyncio.wait_for(link.writable.wait(), max(deadline.left(), 1e-3))
        if link.error is not None and not request.answered:
            error = link.error
            self._drop()
            raise ConnectionLost(f"{request.name}: {error}") from error

    async def _wait(self, link: _Link, request: Request[Any], data: bytes, deadline: Deadline) -> None:
        link.news.clear()
        left = deadline.left()
        if left <= 0:
            raise asyncio.TimeoutError
        await asyncio.wait_for(link.news.wait(), left)

    # Events

    async def _wait_events(self, seconds: float) -> list[Any]:
        """Received events; waits for the first one. Calls of other tasks do not wait meanwhile."""
        deadline = Deadline(checks.duration(seconds, "the time limit"))
        while not self._core.events:
            await self._acquire("events", deadline)
            try:
                link = await self._ensure(deadline)
            finally:
                self._release()
            if self._core.events:
                break
            link.news.clear()
            left = deadline.left()
            if left <= 0:
                return []
            try:
                # A call of another task may receive the event's bytes: check again soon.
                await asyncio.wait_for(link.news.wait(), min(left, 0.05))
            except asyncio.TimeoutError:
                continue
            if link.error is not None and not self._core.events:
                if self._link is link:
                    self._drop()
                raise link.error
        return self._core.take_events()

    # Connecting

    def _place(self) -> str:
        return f"{self.host}:{self.port}"

    def _drop(self) -> None:
        link, self._link = self._link, None
        if link is not None and link.transport is not None:
            link.error = link.error or ConnectionLost("closed")
            link.transport.abort()

    async def _ensure(self, deadline: Deadline) -> _Link:
        if self._link is not None:
            # The loop needs two rounds to detect that the server has closed the connection.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        if self._link is not None and self._link.error is not None:
            self._drop()
        if self._link is None:
            self._link = link = await self._open(deadline)
            try:
                for request in self._core.setup():
                    await self._exchange(link, request, deadline)
            except BaseException:
                self._drop()
                raise
        return self._link

    async def _open(self, deadline: Deadline) -> _Link:
        loop = asyncio.get_running_loop()
        opening = loop.create_connection(lambda: _Link(self._core, self._place()), self.host, self.port)
        try:
            # asyncio sends small messages at once (TCP_NODELAY).
            _, link = await asyncio.wait_for(opening, max(deadline.left(), 1e-3))
        except asyncio.TimeoutError:
            raise Timeout(f"cannot connect to {self._place()} within {deadline.seconds:g} s") from None
        except (OSError, UnicodeError) as error:
            raise ConnectionLost(f"cannot connect to {self._place()}: {error}") from error
        return link


class AsyncDatagramClient(AsyncClient):
    """A client on UDP: repeats what may be repeated."""

    def __init__(self, core: Core, host: str, port: int, timeout: float, repeat_interval: float) -> None:
        super().__init__(core, host, port, timeout)
        self._copies = 1
        self.repeat_interval = checks.duration(repeat_interval, "the repeat interval")

    async def _exchange(self, link: _Link, request: Request[Any], deadline: Deadline) -> Any:
        self._copies = 1
        try:
            return await super()._exchange(link, request, deadline)
        finally:
            if self._copies > 1:
                # Answers to the other copies may still arrive; they belong to no call.
                self._drop()

    async def _send(self, link: _Link, request: Request[Any], data: bytes, deadline: Deadline) -> None:
        link.news.clear()
        link.refused = False
        link.transport.sendto(data)

    async def _wait(self, link: _Link, request: Request[Any], data: bytes, deadline: Deadline) -> None:
        link.news.clear()
        left = deadline.left()
        if left <= 0:
            raise asyncio.TimeoutError
        try:
            await asyncio.wait_for(link.news.wait(), min(left, self.repeat_interval) if request.repeatable else left)
            if not link.refused:
                return
            if not request.repeatable or deadline.left() <= self.repeat_interval:
                raise ConnectionLost(f"{request.name}: nothing listens on {self._place()}")
            await asyncio.sleep(self.repeat_interval)
        except asyncio.TimeoutError:
            if not request.repeatable or deadline.left() <= 0:
                raise
        link.refused = False
        self._copies += 1
        link.transport.sendto(data)

    async def _open(self, deadline: Deadline) -> _Link:
        loop = asyncio.get_running_loop()
        opening = loop.create_datagram_endpoint(
            lambda: _Link(self._core, self._place()), remote_addr=(self.host, self.port)
        )
        try:
            _, link = await asyncio.wait_for(opening, max(deadline.left(), 1e-3))
        except asyncio.TimeoutError:
            raise Timeout(f"cannot reach {self._place()} within {deadline.seconds:g} s") from None
        except (OSError, UnicodeError) as error:
            raise ConnectionLost(f"cannot reach {self._place()}: {error}") from error
        return link
