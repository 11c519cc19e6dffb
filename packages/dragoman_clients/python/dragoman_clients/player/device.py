"""The common part of all devices of a client."""

from __future__ import annotations

import dataclasses
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar, overload

from ..core import Request
from .methods import AsyncMethods, Methods
from .wire import Interface, Key, PlayerCore

if TYPE_CHECKING:
    from .client import AsyncPlayer, Player

T = TypeVar("T")
DeviceT = TypeVar("DeviceT", bound="Device")
AsyncDeviceT = TypeVar("AsyncDeviceT", bound="AsyncDevice")


class Latest(Generic[T]):
    """The last data of a device, or None."""

    def __init__(self, interface: Interface, number: int, kind: type[T]) -> None:
        self._name, expected = interface.data[number]
        assert expected is kind
        self._code = interface.code

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type) -> Latest[T]: ...

        @overload
        def __get__(self, instance: object, owner: type) -> Optional[T]: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        """The data of this device."""
        if instance is None:
            return self
        return instance._core.latest.get((self._code, instance.index, self._name))


class _AnyDevice:
    """A device that is open."""

    INTERFACE: Interface

    def __init__(self, core: PlayerCore, index: int) -> None:
        self._core = core
        self.index = index

    def __repr__(self) -> str:
        return f"{self.INTERFACE.interface}:{self.index}"

    def _bound(self, request: Request[T]) -> Request[T]:
        key: Key = dataclasses.replace(request.key, interface=self.INTERFACE.code, index=self.index)
        return dataclasses.replace(request, key=key)


class Device(_AnyDevice, Methods):
    """A device that is open, of a blocking client."""

    def __init__(self, player: Player, core: PlayerCore, index: int) -> None:
        super().__init__(core, index)
        self._player = player

    def _run(self, request: Request[T]) -> T:
        return self._player._run(self._bound(request))

    def close_device(self) -> None:
        """Closes the device: what its last command began ends."""
        self._player._close(self.INTERFACE, self.index)


class AsyncDevice(_AnyDevice, AsyncMethods):
    """A device that is open, of a client for asyncio."""

    def __init__(self, player: AsyncPlayer, core: PlayerCore, index: int) -> None:
        super().__init__(core, index)
        self._player = player

    def _run(self, request: Request[T]) -> Coroutine[Any, Any, T]:
        return self._player._run(self._bound(request))

    async def close_device(self) -> None:
        """Closes the device: what its last command began ends."""
        await self._player._close(self.INTERFACE, self.index)


class Opener:
    """A blocking client."""

    def _open_device(self, kind: type[DeviceT], index: int) -> DeviceT:
        raise NotImplementedError


class AsyncOpener:
    """A client for asyncio."""

    async def _open_device(self, kind: type[AsyncDeviceT], index: int) -> AsyncDeviceT:
        raise NotImplementedError
