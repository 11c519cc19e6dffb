"""Modes, states and kinds with the numbers and names of the PlatformCtrl guide (4.2, 4.3, 6.3 and 6.4)."""

from __future__ import annotations

from enum import IntEnum


class MotionMode(IntEnum):
    """What moves the platform (guide, 4.3)."""

    NO = 0
    JOYHARD = 1
    JOYSOFT = 2
    VEL = 3
    AUTOMATIC = 4
    PROGRAM = 5
    POST_PROCESS_REPLAY = 6


class OperationState(IntEnum):
    """State of the platform (guide, 4.2)."""

    READY = 0
    RUNNING = 1
    BROKEN = 2
    NOT_INITIALIZED = 3


class EmergencyState(IntEnum):
    """State of the emergency stop."""

    NOT_ACTIVE = 0
    ACTIVE = 1
    RESET = 2


class PlannerState(IntEnum):
    """State of the planner."""

    STANDBY = 0
    PLANNING = 1
    NO_PATH = 2
    PATH_FOUND = 3
    COLLISION_START = 4
    COLLISION_TARGET = 5


class ApplicationError(IntEnum):
    """Error of an application."""

    NONE = 0
    DOCKING = 1


class Motor(IntEnum):
    """A driven wheel."""

    RIGHT = 1
    LEFT = 2


class Board(IntEnum):
    """A board with digital outputs."""

    IO = 0
    RELAY = 1


class MouseButton(IntEnum):
    """Places the obstacle of the mouse, or removes it."""

    RBUTTON_DOWN = 2
    RBUTTON_UP = 5


class PostProcessEvent(IntEnum):
    """What to do with a recording."""

    START_RECORDING = 1
    STOP_RECORDING = 2
    START_REPLAY = 3
    STOP_REPLAY = 4
    BREAK_REPLAY = 5
    CONTINUE_REPLAY = 6


class ParameterCategory(IntEnum):
    """What a parameter belongs to."""

    GEOM = 0
    PLANNING = 1
    IPO = 2
    LOCALIZATION = 3
    TRACKING_DETECTION = 4
    COLLISION = 5
    SURVEILLANCE = 6
    MOTION_CTRL = 7
    MAPPING = 8
    USONIC = 9
    INFRARED = 10


class ParameterType(IntEnum):
    """Type of a parameter's value."""

    BOOLEAN = 0
    INTEGER = 1
    DOUBLE = 2


class GraphicalKind(IntEnum):
    """Shape of a graphical object."""

    POINT_CROSS = 0
    POINT_RECT = 1
    POINT_TRIA = 2
    POINT_SMALLDOT = 3
    POINT_LARGEDOT = 4
    LINE_THIN = 5
    LINE_THICK = 6
    LINE_ARROW = 7
    LINE_DOUBLEDOT = 8
    FRAME_RECT = 9
    FRAME_CIRC = 10
    FRAME_TRIA = 11
    FRAME_PLTF = 12
    CIRCLE = 13
    STRING = 14
    ELLIPSE = 15
    NUM_LABEL = 16
    POINT_PIXEL = 17
    POINT_PERM = 18


class GraphicalColor(IntEnum):
    """Color of a graphical object."""

    RED = 20
    GREEN = 21
    BLUE = 22
    PINK = 23
    MAGENTA = 24
    WHITE = 25
    YELLOW = 26
    GRAY = 27
    ORANGE = 28
    DARKGRAY = 29
    CYAN = 30
