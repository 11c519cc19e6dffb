"""Clients of Player's protocol."""

from __future__ import annotations

from contextlib import suppress
from typing import Optional, TypeVar

from ..asynchronous import AsyncClient
from ..blocking import Client
from ..errors import Timeout
from .devices import (
    Actarray,
    AsyncActarray,
    AsyncBumper,
    AsyncCamera,
    AsyncDevice,
    AsyncGripper,
    AsyncImu,
    AsyncIr,
    AsyncLaser,
    AsyncLimb,
    AsyncLocalize,
    AsyncLog,
    AsyncMap,
    AsyncOpaque,
    AsyncPlanner,
    AsyncPosition2d,
    AsyncPower,
    AsyncRanger,
    AsyncSimulation,
    AsyncSonar,
    AsyncVectormap,
    Bumper,
    Camera,
    Device,
    Gripper,
    Imu,
    Ir,
    Laser,
    Limb,
    Localize,
    Log,
    Map,
    Opaque,
    Planner,
    Position2d,
    Power,
    Ranger,
    Simulation,
    Sonar,
    Vectormap,
)
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

DeviceT = TypeVar("DeviceT", bound=Device)
AsyncDeviceT = TypeVar("AsyncDeviceT", bound=AsyncDevice)


class Player(Client):
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

    def power(self, index: int = 0) -> Power:
        """Opens a battery."""
        return self._open_device(Power, index)

    def gripper(self, index: int = 0) -> Gripper:
        """Opens a gripper."""
        return self._open_device(Gripper, index)

    def position2d(self, index: int = 0) -> Position2d:
        """Opens a base that moves on the plane."""
        return self._open_device(Position2d, index)

    def sonar(self, index: int = 0) -> Sonar:
        """Opens ultrasonic sensors."""
        return self._open_device(Sonar, index)

    def laser(self, index: int = 0) -> Laser:
        """Opens a scanner, by the interface before ranger."""
        return self._open_device(Laser, index)

    def bumper(self, index: int = 0) -> Bumper:
        """Opens bumpers."""
        return self._open_device(Bumper, index)

    def ir(self, index: int = 0) -> Ir:
        """Opens infrared sensors."""
        return self._open_device(Ir, index)

    def localize(self, index: int = 0) -> Localize:
        """Opens where the robot is on a map."""
        return self._open_device(Localize, index)

    def simulation(self, index: int = 0) -> Simulation:
        """Opens a simulated world."""
        return self._open_device(Simulation, index)

    def camera(self, index: int = 0) -> Camera:
        """Opens a camera."""
        return self._open_device(Camera, index)

    def map(self, index: int = 0) -> Map:
        """Opens a map."""
        return self._open_device(Map, index)

    def actarray(self, index: int = 0) -> Actarray:
        """Opens a chain of joints."""
        return self._open_device(Actarray, index)

    def planner(self, index: int = 0) -> Planner:
        """Opens a planner."""
        return self._open_device(Planner, index)

    def log(self, index: int = 0) -> Log:
        """Opens a recorder."""
        return self._open_device(Log, index)

    def opaque(self, index: int = 0) -> Opaque:
        """Opens a device whose bytes only its programs understand."""
        return self._open_device(Opaque, index)

    def limb(self, index: int = 0) -> Limb:
        """Opens an arm, by the pose of its end effector."""
        return self._open_device(Limb, index)

    def vectormap(self, index: int = 0) -> Vectormap:
        """Opens a map of shapes."""
        return self._open_device(Vectormap, index)

    def imu(self, index: int = 0) -> Imu:
        """Opens an inertial measurement unit."""
        return self._open_device(Imu, index)

    def ranger(self, index: int = 0) -> Ranger:
        """Opens range sensors."""
        return self._open_device(Ranger, index)


class AsyncPlayer(AsyncClient):
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

    async def power(self, index: int = 0) -> AsyncPower:
        """Opens a battery."""
        return await self._open_device(AsyncPower, index)

    async def gripper(self, index: int = 0) -> AsyncGripper:
        """Opens a gripper."""
        return await self._open_device(AsyncGripper, index)

    async def position2d(self, index: int = 0) -> AsyncPosition2d:
        """Opens a base that moves on the plane."""
        return await self._open_device(AsyncPosition2d, index)

    async def sonar(self, index: int = 0) -> AsyncSonar:
        """Opens ultrasonic sensors."""
        return await self._open_device(AsyncSonar, index)

    async def laser(self, index: int = 0) -> AsyncLaser:
        """Opens a scanner, by the interface before ranger."""
        return await self._open_device(AsyncLaser, index)

    async def bumper(self, index: int = 0) -> AsyncBumper:
        """Opens bumpers."""
        return await self._open_device(AsyncBumper, index)

    async def ir(self, index: int = 0) -> AsyncIr:
        """Opens infrared sensors."""
        return await self._open_device(AsyncIr, index)

    async def localize(self, index: int = 0) -> AsyncLocalize:
        """Opens where the robot is on a map."""
        return await self._open_device(AsyncLocalize, index)

    async def simulation(self, index: int = 0) -> AsyncSimulation:
        """Opens a simulated world."""
        return await self._open_device(AsyncSimulation, index)

    async def camera(self, index: int = 0) -> AsyncCamera:
        """Opens a camera."""
        return await self._open_device(AsyncCamera, index)

    async def map(self, index: int = 0) -> AsyncMap:
        """Opens a map."""
        return await self._open_device(AsyncMap, index)

    async def actarray(self, index: int = 0) -> AsyncActarray:
        """Opens a chain of joints."""
        return await self._open_device(AsyncActarray, index)

    async def planner(self, index: int = 0) -> AsyncPlanner:
        """Opens a planner."""
        return await self._open_device(AsyncPlanner, index)

    async def log(self, index: int = 0) -> AsyncLog:
        """Opens a recorder."""
        return await self._open_device(AsyncLog, index)

    async def opaque(self, index: int = 0) -> AsyncOpaque:
        """Opens a device whose bytes only its programs understand."""
        return await self._open_device(AsyncOpaque, index)

    async def limb(self, index: int = 0) -> AsyncLimb:
        """Opens an arm, by the pose of its end effector."""
        return await self._open_device(AsyncLimb, index)

    async def vectormap(self, index: int = 0) -> AsyncVectormap:
        """Opens a map of shapes."""
        return await self._open_device(AsyncVectormap, index)

    async def imu(self, index: int = 0) -> AsyncImu:
        """Opens an inertial measurement unit."""
        return await self._open_device(AsyncImu, index)

    async def ranger(self, index: int = 0) -> AsyncRanger:
        """Opens range sensors."""
        return await self._open_device(AsyncRanger, index)
