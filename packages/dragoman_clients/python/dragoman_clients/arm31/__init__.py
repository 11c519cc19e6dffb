"""The 31-byte protocol of the Ranger arm (UDP port 5031): the commands of the Ranger thesis, appendix A.

>>> from dragoman_clients.arm31 import Arm31
>>> with Arm31() as arm:                                            # doctest: +SKIP
...     arm.joint_positions()[:6]
[1.57, 0.0, 1.57, 0.0, 1.57, 0.0]
"""

from .client import DEFAULT_PORT, Arm31, AsyncArm31
from .commands import COMMANDS, CommandMode, Pose
from .wire import Notice

__all__ = ["COMMANDS", "DEFAULT_PORT", "Arm31", "AsyncArm31", "CommandMode", "Notice", "Pose"]
