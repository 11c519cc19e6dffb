"""Neobotix' PlatformCtrl (TCP ports 10000 and 10002): the commands, replies and documents of the PlatformCtrl guide.

>>> from dragoman_clients.neobotix import Neobotix
>>> with Neobotix() as platform:                                    # doctest: +SKIP
...     platform.go_to_station("middle")
Position(x=1.0, y=3.0, angle=2.96, translation=0.0, rotation=0.0)
"""

from . import codes, documents, replies
from .client import DEFAULT_PORT, AsyncNeobotix, Neobotix
from .codes import Board, MotionMode, Motor, MouseButton, OperationState, PlannerState, PostProcessEvent
from .commands import COMMANDS
from .documents import Map, Program, Roadmap
from .interpreter import TaskInterpreter
from .procedures import PROCEDURES, Event, EventKind, ProgramRun, ProgramState, StatusWatcher
from .replies import DebugData, Parameter, Pose, Position, Status
from .source import ProgramSource

__all__ = [
    "COMMANDS",
    "DEFAULT_PORT",
    "PROCEDURES",
    "AsyncNeobotix",
    "Board",
    "DebugData",
    "Event",
    "EventKind",
    "Map",
    "MotionMode",
    "Motor",
    "MouseButton",
    "Neobotix",
    "OperationState",
    "Parameter",
    "PlannerState",
    "Pose",
    "Position",
    "PostProcessEvent",
    "Program",
    "ProgramRun",
    "ProgramSource",
    "ProgramState",
    "Roadmap",
    "Status",
    "StatusWatcher",
    "TaskInterpreter",
    "codes",
    "documents",
    "replies",
]
