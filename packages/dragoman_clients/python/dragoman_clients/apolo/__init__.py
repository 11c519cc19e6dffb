"""Apolo's protocol (TCP port 12000): the functions of the Apolo port manual.

>>> from dragoman_clients.apolo import Apolo
>>> with Apolo() as apolo:                                          # doctest: +SKIP
...     apolo.place_m_robot("Pioneer3AT", (0.7, 0.7, 0.0), 0.23)
True
"""

from .client import DEFAULT_PORT, Apolo, AsyncApolo
from .commands import COMMANDS, LandMark, Location, Odometry, RobotLocation

__all__ = [
    "COMMANDS",
    "DEFAULT_PORT",
    "Apolo",
    "AsyncApolo",
    "LandMark",
    "Location",
    "Odometry",
    "RobotLocation",
]
