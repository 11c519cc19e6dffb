"""Clients of the 31-byte protocol."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ..asynchronous import AsyncDatagramClient
from ..blocking import DatagramClient
from . import commands
from .methods import AsyncMethods, Methods
from .wire import Arm31Core, Notice

DEFAULT_PORT = 5031
DEFAULT_TIMEOUT = 6.0
DEFAULT_REPEAT_INTERVAL = 0.5


class Arm31(DatagramClient, Methods):
    """A controller of the Ranger arm, or a server of its protocol.

    Errors that a command causes are raised as :class:`Refused`. Errors and warnings of a running motion are notices:
    the controller sends them to every client that it has heard of lately. ``recalibrate_unanswered`` is for the
    original controller, which never answers RC.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        repeat_interval: float = DEFAULT_REPEAT_INTERVAL,
        recalibrate_unanswered: bool = False,
    ) -> None:
        super().__init__(Arm31Core(), host, port, timeout, repeat_interval)
        self.recalibrate_unanswered = recalibrate_unanswered

    def wait_notices(self, seconds: float) -> list[Notice]:
        """Notices that have come; waits for the first one. An empty list after ``seconds``."""
        return self._wait_events(seconds)

    def recalibrate(self, joints: Sequence[float]) -> None:
        """RC: declare the present joint angles."""
        request = commands.recalibrate(joints)
        self._run(dataclasses.replace(request, answered=not self.recalibrate_unanswered))


class AsyncArm31(AsyncDatagramClient, AsyncMethods):
    """As :class:`Arm31`, with coroutines."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        repeat_interval: float = DEFAULT_REPEAT_INTERVAL,
        recalibrate_unanswered: bool = False,
    ) -> None:
        super().__init__(Arm31Core(), host, port, timeout, repeat_interval)
        self.recalibrate_unanswered = recalibrate_unanswered

    async def wait_notices(self, seconds: float) -> list[Notice]:
        """Notices that have come; waits for the first one. An empty list after ``seconds``."""
        return await self._wait_events(seconds)

    async def recalibrate(self, joints: Sequence[float]) -> None:
        """RC: declare the present joint angles."""
        request = commands.recalibrate(joints)
        await self._run(dataclasses.replace(request, answered=not self.recalibrate_unanswered))
