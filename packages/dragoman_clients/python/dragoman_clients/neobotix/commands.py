"""The table of commands (PlatformCtrl guide, 6.3). Positions in m, angles in rad, velocities in m/s and rad/s.

Those without arguments are in :mod:`.messages`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Union

from .. import checks
from ..cli import FromFile, Group
from ..core import Request
from ..errors import BadArgument
from . import bodies as b
from . import messages as m
from .codes import Board, MotionMode, Motor, MouseButton, PostProcessEvent
from .documents import Map, Program, Roadmap
from .messages import *  # noqa: F403
from .replies import CanMessage, Parameter, Pose
from .wire import COMMANDS as COMMANDS
from .wire import MAX_NAME_LEN

MAX_TEXT_LEN = 64 << 10
MAX_PATH_LEN = 10000
MAX_CAN_ID = (1 << 29) - 1


def _short(value: str, what: str, maximum: int = MAX_NAME_LEN) -> str:
    checks.text(value, what, maximum)
    return value


def _named(value: str, what: str) -> str:
    if value == "":
        raise BadArgument(f"{what} must not be empty")
    return _short(value, what)


def _can_id(id: int) -> int:
    return checks.integer(id, "id", 0, MAX_CAN_ID)


@m.SET_BRAKE.function
def set_brake(motor: Motor, released: bool) -> Request[None]:
    """Hold or release the brake of a motor.

    motor: the motor
    released: whether the wheel is free
    """
    return m.SET_BRAKE(b.SetBrake(checks.code(motor, Motor, "motor"), released))


@m.SET_DIGOUT.function
def set_digout(board: Board, channel: int, high: bool) -> Request[None]:
    """Set a digital output.

    board: the board
    channel: address of the channel
    high: whether it is high
    """
    return m.SET_DIGOUT(b.SetDigitalOutput(checks.code(board, Board, "board"), channel, high))


@m.START_ULTRASONIC.function
def start_ultrasonic(channel: int) -> Request[None]:
    """Start measuring with ultrasonic sensors.

    channel: address of the active channel; Dragoman's platforms take a bit mask
    """
    return m.START_ULTRASONIC(b.StartUltrasonic(channel))


@m.ADD_CAN_LISTENING_ID.function
def add_can_listening_id(id: int) -> Request[None]:
    """Store received CAN messages with this id.

    id: CAN id
    """
    return m.ADD_CAN_LISTENING_ID(b.CanId(_can_id(id)))


@m.REMOVE_CAN_LISTENING_ID.function
def remove_can_listening_id(id: int) -> Request[None]:
    """Store no more CAN messages with this id.

    id: CAN id
    """
    return m.REMOVE_CAN_LISTENING_ID(b.CanId(_can_id(id)))


@m.SEND_CAN_MESSAGE.function
def send_can_message(id: int, data: bytes) -> Request[None]:
    """Send a CAN message.

    id: CAN id
    data: eight bytes; hexadecimal on the command line
    """
    return m.SEND_CAN_MESSAGE(b.SendCanMessage(_can_id(id), data))


@m.GET_CAN_MESSAGES.function
def get_can_messages(delete: bool = True) -> Request[list[CanMessage]]:
    """Stored CAN messages.

    delete: whether they are deleted after reading
    """
    return m.GET_CAN_MESSAGES(b.GetCanMessages(delete))


@m.SET_MODE.function
def set_mode(mode: MotionMode) -> Request[None]:
    """Change the motion mode; only while the platform is ready.

    mode: the motion mode
    """
    return m.SET_MODE(b.SetMode(checks.code(mode, MotionMode, "mode")))


@m.MOVE_PATH.function
def move_path(
    path: Annotated[Sequence[Union[Pose, tuple[float, float, float]]], Group("x", "y", "angle")],
) -> Request[None]:
    """Drive on a path to its end.

    path: poses in the world, each x, y and angle; the last one is the target
    """
    if isinstance(path, (str, bytes)) or not isinstance(path, Sequence) or not 1 <= len(path) <= MAX_PATH_LEN:
        raise BadArgument(f"path must be a list of 1 to {MAX_PATH_LEN} poses")
    poses = [
        one if isinstance(one, Pose) else Pose(*checks.numbers(one, f"path[{place}]", 3))
        for place, one in enumerate(path)
    ]
    return m.MOVE_PATH(b.MovePath(poses))


@m.MOVE_TO_STATION.function
def move_to_station(station: str) -> Request[None]:
    """Drive on the roadmap to a station.

    station: name of the station
    """
    return m.MOVE_TO_STATION(b.MoveToStation(_named(station, "station")))


@m.MOVE_ABS.function
def move_abs(x: float, y: float, angle: float) -> Request[None]:
    """Drive to a pose in the world.

    x: position, m
    y: position, m
    angle: direction, rad
    """
    return m.MOVE_ABS(Pose(x, y, angle))


@m.MOVE_REL.function
def move_rel(x: float, y: float, angle: float) -> Request[None]:
    """Drive to a pose relative to the platform.

    x: position, m
    y: position, m
    angle: direction, rad
    """
    return m.MOVE_REL(Pose(x, y, angle))


@m.MOVE_VEL_WHEEL.function
def move_vel_wheel(right: float, left: float) -> Request[None]:
    """Velocities of the wheels; to be repeated. In the velocity mode.

    right: speed of the right wheel, m/s
    left: speed of the left wheel, m/s
    """
    return m.MOVE_VEL_WHEEL(b.MoveWheelVelocity(right, left))


@m.MOVE_VEL.function
def move_vel(translation: float, rotation: float, lateral: float = 0.0) -> Request[None]:
    """Velocities of the platform; to be repeated. In the modes of software joystick and velocity.

    translation: ahead, m/s
    rotation: counter-clockwise, rad/s
    lateral: to the left, m/s; only omnidirectional platforms of Dragoman understand it
    """
    # The guide's telegram ends before the lateral velocity.
    return m.MOVE_VEL(b.MoveVelocity(translation, rotation, checks.number(lateral, "lateral") or None))


@m.SET_MAP.function
def set_map(document: Annotated[Union[Map, str], FromFile()], name: str) -> Request[None]:
    """Set the active map.

    document: the map, or its XML text; a file on the command line
    name: name of the map
    """
    return m.SET_MAP(b.NamedDocument(_named(name, "name"), Map.checked(document)))


@m.SET_ROADMAP.function
def set_roadmap(document: Annotated[Union[Roadmap, str], FromFile()], name: str) -> Request[None]:
    """Set the active roadmap.

    document: the roadmap, or its XML text; a file on the command line
    name: name of the roadmap
    """
    return m.SET_ROADMAP(b.NamedDocument(_named(name, "name"), Roadmap.checked(document)))


@m.SET_FRM_PLTF.function
def set_frm_pltf(x: float, y: float, angle: float) -> Request[None]:
    """Set the platform's pose: where it is in the world.

    x: position, m
    y: position, m
    angle: direction, rad
    """
    return m.SET_FRM_PLTF(Pose(x, y, angle))


@m.SET_PLTF_PARAM.function
def set_pltf_param(key: str, value: Union[str, bool, int, float]) -> Request[None]:
    """Set a parameter.

    key: its name, e.g. IpoTransVel
    value: its value, in the guide's units (section 5.9)
    """
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, str):
        text = value
    else:
        text = f"{checks.number(value, 'value'):.15g}"
    return m.SET_PLTF_PARAM(b.SetParameter(_named(key, "key"), _short(text, "value")))


@m.GET_PLTF_PARAM.function
def get_pltf_param(key: str) -> Request[Parameter]:
    """A parameter.

    key: its name, e.g. IpoTransVel
    """
    return m.GET_PLTF_PARAM(b.GetParameter(_named(key, "key")))


@m.SET_PROGRAM.function
def set_program(document: Annotated[Union[Program, str], FromFile()]) -> Request[None]:
    """Set the program.

    document: the program, or its XML text; a file on the command line
    """
    return m.SET_PROGRAM(Program.checked(document))


@m.SPEAK_TEXT.function
def speak_text(text: str) -> Request[None]:
    """Speak a text.

    text: the text
    """
    return m.SPEAK_TEXT(b.SpeakText(_short(text, "text", MAX_TEXT_LEN)))


@m.PLAY_SOUND.function
def play_sound(file_name: str) -> Request[None]:
    """Play a sound file.

    file_name: name of the file on the platform
    """
    return m.PLAY_SOUND(b.FileName(_named(file_name, "file_name")))


@m.GRAB_IMAGE.function
def grab_image(file_name: str) -> Request[None]:
    """Save an image of the camera on the platform.

    file_name: name of the file on the platform
    """
    return m.GRAB_IMAGE(b.FileName(_named(file_name, "file_name")))


@m.SET_POS_HEAD_DRIVE.function
def set_pos_head_drive(angle: float) -> Request[None]:
    """Turn the head to an angle.

    angle: rad; sent as whole degrees
    """
    return m.SET_POS_HEAD_DRIVE(b.HeadPosition(angle))


@m.SET_VEL_HEAD_DRIVE.function
def set_vel_head_drive(velocity: float) -> Request[None]:
    """Turn the head with a velocity.

    velocity: rad/s; sent as hundredths of a degree per second
    """
    return m.SET_VEL_HEAD_DRIVE(b.HeadVelocity(velocity))


@m.SET_POS_PAN_TILT_CAMERA.function
def set_pos_pan_tilt_camera(position: str) -> Request[None]:
    """Turn the pan-tilt camera.

    position: in the camera's own format
    """
    return m.SET_POS_PAN_TILT_CAMERA(b.PanTiltPosition(_short(position, "position", MAX_TEXT_LEN)))


@m.MOUSE_MOVE.function
def mouse_move(x: float, y: float, button: MouseButton) -> Request[None]:
    """Place the obstacle of the mouse, or remove it.

    x: position in the world, m
    y: position in the world, m
    button: down places it, up removes it
    """
    return m.MOUSE_MOVE(b.MouseMove(x, y, checks.code(button, MouseButton, "button")))


@m.SET_EVENT.function
def set_event(event: PostProcessEvent) -> Request[None]:
    """Start or stop a recording or a replay.

    event: what to do
    """
    return m.SET_EVENT(b.SetEvent(checks.code(event, PostProcessEvent, "event")))


# In the order of the guide.
for _name in sorted(COMMANDS, key=lambda name: getattr(m, name.upper()).number):
    COMMANDS[_name] = COMMANDS.pop(_name)
