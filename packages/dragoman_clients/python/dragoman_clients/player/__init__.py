"""Player (TCP port 6665): devices of a robot server, in the pull and push mode.

>>> from dragoman_clients.player import Player
>>> with Player() as player:                                        # doctest: +SKIP
...     base = player.position2d(0)
...     base.set_velocity(0.2, 0.0, 0.1)
...     player.read()
...     base.state.pose
Pose2d(x=0.0, y=0.0, yaw=0.0)
"""

from . import commands, readings, sensors, structures
from .client import DEFAULT_PORT, AsyncPlayer, Player
from .requests import DeviceInfo
from .wire import INTERFACES, Data

__all__ = [
    "DEFAULT_PORT",
    "INTERFACES",
    "AsyncPlayer",
    "Data",
    "DeviceInfo",
    "Player",
    "commands",
    "readings",
    "sensors",
    "structures",
]
