"""Clients of PlatformCtrl's protocol."""

from __future__ import annotations

from ..asynchronous import AsyncClient
from ..blocking import Client
from .methods import AsyncMethods, Methods
from .procedures import Event, StatusWatcher
from .wire import NeobotixCore

DEFAULT_PORT = 10000
"""The other port is 10002. A platform has one client on each."""
DEFAULT_TIMEOUT = 5.0


class Neobotix(Client, Methods):
    """A connection to a PlatformCtrl, or to a server of its protocol.

    Most commands have no answer: they are done when they are sent, and the status shows their effect. ``with_header``
    False is for platforms that have messages as the guide's example, without a header.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        with_header: bool = True,
    ) -> None:
        super().__init__(NeobotixCore(with_header), host, port, timeout)
        self._watcher = StatusWatcher()

    def wait_events(self, seconds: float, period: float = 0.1) -> list[Event]:
        """Waits until the status changes, and returns what has changed; an empty list after ``seconds``."""
        return self._run(self._watcher.wait(seconds, period))


class AsyncNeobotix(AsyncClient, AsyncMethods):
    """As :class:`Neobotix`, with coroutines."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        with_header: bool = True,
    ) -> None:
        super().__init__(NeobotixCore(with_header), host, port, timeout)
        self._watcher = StatusWatcher()

    async def wait_events(self, seconds: float, period: float = 0.1) -> list[Event]:
        """Waits until the status changes, and returns what has changed; an empty list after ``seconds``."""
        return await self._run(self._watcher.wait(seconds, period))
