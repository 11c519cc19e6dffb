"""Modes, states and kinds with the numbers and names of the PlatformCtrl guide. Made of the description of PlatformCtrl."""

from __future__ import annotations

from enum import IntEnum


class OperationState(IntEnum):
    """Operation state of the platform."""

    READY = 0
    """Initialized, and waiting for a start."""
    RUNNING = 1
    """A motion mode runs."""
    BROKEN = 2
    """Paused; continues where it was."""
    NOT_INITIALIZED = 3
    """Before the hardware was connected and initialized."""


class EmergencyState(IntEnum):
    """State of the emergency stop."""

    NOT_ACTIVE = 0
    """No emergency stop."""
    ACTIVE = 1
    """The platform is in its secure state."""
    RESET = 2
    """The stop was released, and the safety system is being reset."""


class MotionMode(IntEnum):
    """Source of the platform's motion."""

    NO = 0
    """Motion commands have no effect."""
    JOYHARD = 1
    """A remote controller."""
    JOYSOFT = 2
    """Velocities of the platform, as from a joystick on a screen."""
    VEL = 3
    """Velocities of the platform or of its wheels."""
    AUTOMATIC = 4
    """Targets, paths and stations."""
    PROGRAM = 5
    """The tasks of a program."""
    POST_PROCESS_REPLAY = 6
    """A recording."""


class PlannerState(IntEnum):
    """Progress of the path planner, as the status telegram gives it."""

    STANDBY = 0
    """No plan is needed."""
    PLANNING = 1
    """A plan is requested; it starts when the platform stands."""
    NO_PATH = 2
    """No path was found."""
    PATH_FOUND = 3
    """A path was found."""
    COLLISION_START = 4
    """Collision at the start."""
    COLLISION_TARGET = 5
    """Collision at the target."""


class Motor(IntEnum):
    """A drive motor, by its node on the platform's CAN bus."""

    RIGHT = 1
    """The right one."""
    LEFT = 2
    """The left one."""


class Board(IntEnum):
    """A board with digital outputs."""

    IO = 0
    """The general I/O board."""
    RELAY = 1
    """The relay board."""


class ApplicationError(IntEnum):
    """What failed beside driving, as the status telegram gives it."""

    NONE = 0
    """No error."""
    DOCKING = 1
    """Docking at the charging station."""


class ParameterCategory(IntEnum):
    """Group of the user interface that a parameter belongs to."""

    GEOM = 0
    """Dimensions of the platform."""
    PLANNING = 1
    """Planning of paths."""
    IPO = 2
    """Interpolation of motions."""
    LOCALIZATION = 3
    """Localization."""
    TRACKING_DETECTION = 4
    """Tracking and detection."""
    COLLISION = 5
    """Avoidance of collisions."""
    SURVEILLANCE = 6
    """Guarding."""
    MOTION_CTRL = 7
    """Control of motions."""
    MAPPING = 8
    """Making of maps."""
    USONIC = 9
    """Poses of the ultrasonic sensors."""
    INFRARED = 10
    """Infrared sensors."""


class ParameterType(IntEnum):
    """Type of a parameter's value."""

    BOOLEAN = 0
    """True or false."""
    INTEGER = 1
    """A whole number."""
    DOUBLE = 2
    """A number."""


class MouseButton(IntEnum):
    """Event of the mouse."""

    RBUTTON_DOWN = 2
    """Places the obstacle."""
    RBUTTON_UP = 5
    """Removes the obstacle."""


class PostProcessEvent(IntEnum):
    """Action on a recording."""

    START_RECORDING = 1
    STOP_RECORDING = 2
    START_REPLAY = 3
    STOP_REPLAY = 4
    BREAK_REPLAY = 5
    """Pause the replay."""
    CONTINUE_REPLAY = 6


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
    """Text; its layout is not in the guide's table of categories."""
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
