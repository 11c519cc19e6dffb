"""Clients for robots with old wire protocols.

========================= ==========================================================
:mod:`~.apolo`            the simulator Apolo, TCP 12000
:mod:`~.neobotix`         Neobotix' PlatformCtrl, TCP 10000 and 10002
:mod:`~.arm31`            the 31-byte protocol of the Ranger arm, UDP 5031
:mod:`~.player`           the robot server Player, TCP 6665
========================= ==========================================================

Each has a blocking client, one for asyncio, and a command line. All values are in SI units and radians. Read a protocol
from its ``commands`` (the table of commands) to its ``wire`` (bytes); :mod:`~.core` explains the parts.
"""

from .errors import BadArgument, BadReply, ClientError, ConnectionLost, Refused, Timeout

__all__ = ["BadArgument", "BadReply", "ClientError", "ConnectionLost", "Refused", "Timeout"]
__version__ = "0.1.0"
