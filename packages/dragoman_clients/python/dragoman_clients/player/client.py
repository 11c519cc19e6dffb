"""Clients of Player's protocol."""

from __future__ import annotations

from contextlib import suppress
from typing import Optional

from ..asynchronous import AsyncClient
from ..blocking import Client
from ..errors import Timeout
from .device import AsyncDeviceT, DeviceT
from .devices import AsyncOpening, Opening
from .requests import (
    CLOSE,
    OPEN,
    DeviceInfo,
    access_request,
    devices_request,
    driver_request,
    find_interface,
    port_request,
    read_request,
    rule_request,
)
from .wire import Data, Interface, PlayerCore

DEFAULT_PORT = 6665
DEFAULT_TIMEOUT = 5.0


class Player(Client, Opening):
    """A connection to a Player server.

    ``pull`` asks the server for data with each :meth:`read`, and gets the newest data only; otherwise the server sends
    data when there is some. ``key`` is for servers that ask for one. After a lost connection, the next call opens the
    same devices again.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        pull: bool = False,
        key: Optional[str] = None,
    ) -> None:
        self._player_core = PlayerCore(pull, key)
        super().__init__(self._player_core, host, port, timeout)

    @property
    def banner(self) -> str:
        """How the server presented itself."""
        return self._player_core.banner

    @property
    def lost_data(self) -> int:
        """Data messages that the server dropped because this client did not read them in time."""
        return self._player_core.lost_data

    def devices(self) -> list[DeviceInfo]:
        """The server's devices."""
        return self._run(devices_request())

    def driver(self, interface: str, index: int = 0) -> str:
        """Name of a device's driver."""
        return self._run(driver_request(find_interface(interface), index))

    def port_of(self, name: str) -> int:
        """The port of the robot with this name. Refused: there is none."""
        return self._run(port_request(name))

    def replace_rule(self, interface: str = "all", index: int = -1, number: int = -1, rule: int = 1) -> None:
        """What happens to waiting data: 0 it is kept, 1 newer data replaces it, 2 it is not sent. -1 stands for all."""
        self._run(rule_request(interface, index, number, rule))

    def read(self, seconds: float = 1.0) -> list[Data]:
        """Data that has come since the last time; waits for the first. An empty list after ``seconds``."""
        if not self._player_core.pull:
            return self._wait_events(seconds)
        with suppress(Timeout):
            self._call(read_request(), seconds)
        return self._player_core.take_events()

    def _open_device(self, kind: type[DeviceT], index: int) -> DeviceT:
        request = access_request(kind.INTERFACE, index, OPEN)
        place = (kind.INTERFACE.code, index)
        if place not in self._player_core.subscriptions:
            self._run(request)
            self._player_core.subscriptions[place] = request
        return kind(self, self._player_core, index)

    def _close(self, interface: Interface, index: int) -> None:
        if self._player_core.subscriptions.pop((interface.code, index), None) is not None:
            self._run(access_request(interface, index, CLOSE))


class AsyncPlayer(AsyncClient, AsyncOpening):
    """As :class:`Player`, with coroutines."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        pull: bool = False,
        key: Optional[str] = None,
    ) -> None:
        self._player_core = PlayerCore(pull, key)
        super().__init__(self._player_core, host, port, timeout)

    @property
    def banner(self) -> str:
        """How the server presented itself."""
        return self._player_core.banner

    @property
    def lost_data(self) -> int:
        """Data messages that the server dropped because this client did not read them in time."""
        return self._player_core.lost_data

    async def devices(self) -> list[DeviceInfo]:
        """The server's devices."""
        return await self._run(devices_request())

    async def driver(self, interface: str, index: int = 0) -> str:
        """Name of a device's driver."""
        return await self._run(driver_request(find_interface(interface), index))

    async def port_of(self, name: str) -> int:
        """The port of the robot with this name. Refused: there is none."""
        return await self._run(port_request(name))

    async def replace_rule(self, interface: str = "all", index: int = -1, number: int = -1, rule: int = 1) -> None:
        """What happens to waiting data: 0 it is kept, 1 newer data replaces it, 2 it is not sent. -1 stands for all."""
        await self._run(rule_request(interface, index, number, rule))

    async def read(self, seconds: float = 1.0) -> list[Data]:
        """Data that has come since the last time; waits for the first. An empty list after ``seconds``."""
        if not self._player_core.pull:
            return await self._wait_events(seconds)
        with suppress(Timeout):
            await self._call(read_request(), seconds)
        return self._player_core.take_events()

    async def _open_device(self, kind: type[AsyncDeviceT], index: int) -> AsyncDeviceT:
        request = access_request(kind.INTERFACE, index, OPEN)
        place = (kind.INTERFACE.code, index)
        if place not in self._player_core.subscriptions:
            await self._run(request)
            self._player_core.subscriptions[place] = request
        return kind(self, self._player_core, index)

    async def _close(self, interface: Interface, index: int) -> None:
        if self._player_core.subscriptions.pop((interface.code, index), None) is not None:
            await self._run(access_request(interface, index, CLOSE))
