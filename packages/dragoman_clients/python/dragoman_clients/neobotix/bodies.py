"""What commands contain, in the order of the wire; m, rad, s. Made of the description of PlatformCtrl."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Optional, Union

from ..fields import Coded, Ending, Raw, Scaled
from .codes import Board, MotionMode, Motor, MouseButton, PostProcessEvent
from .replies import Pose
from .wire import DEGREE, DIALECT, I32, U8


@dataclass(frozen=True)
class SetMode:
    """CMD_SET_MODE."""

    mode: Annotated[Union[MotionMode, int], Coded(MotionMode, I32)]


@dataclass(frozen=True)
class MovePath:
    """CMD_MOVE_PATH."""

    frames: list[Pose]
    """Poses in the world; the last is the target."""


@dataclass(frozen=True)
class MoveToStation:
    """CMD_MOVE_TO_STATION."""

    station: str
    """Name of the station."""


@dataclass(frozen=True)
class MoveWheelVelocity:
    """CMD_MOVE_VEL_WHEEL."""

    right: Annotated[float, Scaled(I32, 1000)]
    """Of the right wheel, m/s."""
    left: Annotated[float, Scaled(I32, 1000)]
    """Of the left wheel, m/s."""


@dataclass(frozen=True)
class MoveVelocity:
    """CMD_MOVE_VEL."""

    translation: Annotated[float, Scaled(I32, 1000)]
    """Forwards, m/s."""
    rotation: Annotated[float, Scaled(I32, 1000)]
    """Counter-clockwise, a thousandth of a radian per second, rad/s."""
    lateral: Annotated[Optional[Annotated[float, Scaled(I32, 1000)]], Ending(DIALECT.codec(Annotated[float, Scaled(I32, 1000)]))] = None
    """To the left, mm/s. Not in the guide, whose telegram ends before it: ours, for omnidirectional platforms, m/s."""


@dataclass(frozen=True)
class SpeakText:
    """CMD_SPEAK_TEXT."""

    text: str


@dataclass(frozen=True)
class FileName:
    """CMD_PLAY_SOUND and CMD_GRAB_IMAGE."""

    file_name: str
    """Unchecked: it may contain anything, including `../`."""


@dataclass(frozen=True)
class HeadPosition:
    """CMD_SET_POS_HEAD_DRIVE."""

    angle: Annotated[float, Scaled(I32, DEGREE)]
    """Whole degrees, rad."""


@dataclass(frozen=True)
class HeadVelocity:
    """CMD_SET_VEL_HEAD_DRIVE."""

    velocity: Annotated[float, Scaled(I32, 100 * DEGREE)]
    """Hundredths of a degree per second, rad/s."""


@dataclass(frozen=True)
class PanTiltPosition:
    """CMD_SET_POS_PAN_TILT_CAMERA."""

    position: str
    """In the camera's own syntax."""


@dataclass(frozen=True)
class MouseMove:
    """CMD_MOUSE_MOVE."""

    x: Annotated[float, Scaled(I32, 1000)]
    """Position of the obstacle, in the world, m."""
    y: Annotated[float, Scaled(I32, 1000)]
    """Position of the obstacle, in the world, m."""
    button: Annotated[Union[MouseButton, int], Coded(MouseButton, I32)]


@dataclass(frozen=True)
class SetEvent:
    """CMD_SET_EVENT."""

    event: Annotated[Union[PostProcessEvent, int], Coded(PostProcessEvent, I32)]


@dataclass(frozen=True)
class NamedDocument:
    """CMD_SET_MAP and CMD_SET_ROADMAP."""

    name: str
    """Name of the map or roadmap."""
    document: str
    """XML-document."""


@dataclass(frozen=True)
class SetBrake:
    """CMD_SET_BRAKE."""

    motor: Annotated[Union[Motor, int], Coded(Motor, U8)]
    is_disabled: bool
    """0: the brake holds; 1: the wheel is free."""


@dataclass(frozen=True)
class SetDigitalOutput:
    """CMD_SET_DIGOUT."""

    board: Annotated[Union[Board, int], Coded(Board, I32)]
    channel: Annotated[int, I32]
    """Address of the channel."""
    is_high: bool
    """0: low; 1: high."""


@dataclass(frozen=True)
class StartUltrasonic:
    """CMD_START_ULTRASONIC."""

    channel: Annotated[int, I32]
    """Address of the active channel."""


@dataclass(frozen=True)
class CanId:
    """CMD_ADD_CAN_LISTENING_ID and CMD_REMOVE_CAN_LISTENING_ID."""

    id: Annotated[int, I32]
    """CAN id."""


@dataclass(frozen=True)
class SendCanMessage:
    """CMD_SEND_CAN_MESSAGE. The message has always eight bytes."""

    id: Annotated[int, I32]
    """CAN id."""
    data: Annotated[bytes, Raw(8)]
    """Data."""


@dataclass(frozen=True)
class GetCanMessages:
    """CMD_GET_CAN_MESSAGES."""

    is_deleting: bool
    """0: the messages are kept; 1: they are deleted after reading."""


@dataclass(frozen=True)
class SetParameter:
    """CMD_SET_PLTF_PARAM."""

    key: str
    value: str
    """The value as text."""


@dataclass(frozen=True)
class GetParameter:
    """CMD_GET_PLTF_PARAM."""

    key: str
