"""The table of commands (PlatformCtrl guide, 6.3). Positions in m, angles in rad, velocities in m/s and rad/s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Union

from .. import checks
from ..cli import FromFile, Group
from ..core import Request
from ..errors import BadArgument
from ..table import Table
from . import bodies as b
from . import messages as m
from .codes import Board, MotionMode, Motor, MouseButton, PostProcessEvent
from .documents import Map, Program, Roadmap
from .replies import Camera, CanMessage, DebugData, Document, Parameter, Pose, Position, Status
from .wire import MAX_NAME_LEN

COMMANDS = Table()

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


@COMMANDS.command
def connect_to_pltf() -> Request[None]:
    """Connect the platform's CAN nodes, and test them."""
    return m.CONNECT_TO_PLTF()


@COMMANDS.command
def shutdown_pltf() -> Request[None]:
    """Disconnect the CAN nodes."""
    return m.SHUTDOWN_PLTF()


@COMMANDS.command
def init_pltf() -> Request[None]:
    """Initialize the hardware, and test the platform."""
    return m.INIT_PLTF()


@COMMANDS.command
def set_brake(motor: Motor, released: bool) -> Request[None]:
    """Hold or release the brake of a motor.

    motor: the motor
    released: whether the wheel is free
    """
    return m.SET_BRAKE(b.SetBrake(checks.code(motor, Motor, "motor"), released))


@COMMANDS.command
def set_digout(board: Board, channel: int, high: bool) -> Request[None]:
    """Set a digital output.

    board: the board
    channel: address of the channel
    high: whether it is high
    """
    return m.SET_DIGOUT(b.SetDigitalOutput(checks.code(board, Board, "board"), channel, high))


@COMMANDS.command
def start_ultrasonic(channel: int) -> Request[None]:
    """Start measuring with ultrasonic sensors.

    channel: address of the active channel; Dragoman's platforms take a bit mask
    """
    return m.START_ULTRASONIC(b.StartUltrasonic(channel))


@COMMANDS.command
def stop_ultrasonic() -> Request[None]:
    """Stop measuring with ultrasonic sensors."""
    return m.STOP_ULTRASONIC()


@COMMANDS.command
def add_can_listening_id(id: int) -> Request[None]:
    """Store received CAN messages with this id.

    id: CAN id
    """
    return m.ADD_CAN_LISTENING_ID(b.CanId(_can_id(id)))


@COMMANDS.command
def remove_can_listening_id(id: int) -> Request[None]:
    """Store no more CAN messages with this id.

    id: CAN id
    """
    return m.REMOVE_CAN_LISTENING_ID(b.CanId(_can_id(id)))


@COMMANDS.command
def send_can_message(id: int, data: bytes) -> Request[None]:
    """Send a CAN message.

    id: CAN id
    data: eight bytes; hexadecimal on the command line
    """
    return m.SEND_CAN_MESSAGE(b.SendCanMessage(_can_id(id), data))


@COMMANDS.command
def get_can_messages(delete: bool = True) -> Request[list[CanMessage]]:
    """Stored CAN messages.

    delete: whether they are deleted after reading
    """
    return m.GET_CAN_MESSAGES(b.GetCanMessages(delete))


@COMMANDS.command
def start() -> Request[None]:
    """Start the motion mode."""
    return m.START()


@COMMANDS.command
def break_() -> Request[None]:
    """Pause the motion."""
    return m.BREAK()


@COMMANDS.command
def continue_() -> Request[None]:
    """Continue after a pause."""
    return m.CONTINUE()


@COMMANDS.command
def stop() -> Request[None]:
    """Stop the motion mode."""
    return m.STOP()


@COMMANDS.command
def set_mode(mode: MotionMode) -> Request[None]:
    """Change the motion mode; only while the platform is ready.

    mode: the motion mode
    """
    return m.SET_MODE(b.SetMode(checks.code(mode, MotionMode, "mode")))


@COMMANDS.command
def exit() -> Request[None]:
    """Shut the platform down."""
    return m.EXIT()


@COMMANDS.command
def close_socket() -> Request[None]:
    """Let the platform close the connection."""
    return m.CLOSE_SOCKET()


@COMMANDS.command
def get_status() -> Request[Status]:
    """Status of the platform."""
    return m.GET_STATUS()


@COMMANDS.command
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


@COMMANDS.command
def move_to_station(station: str) -> Request[None]:
    """Drive on the roadmap to a station.

    station: name of the station
    """
    return m.MOVE_TO_STATION(b.MoveToStation(_named(station, "station")))


@COMMANDS.command
def move_abs(x: float, y: float, angle: float) -> Request[None]:
    """Drive to a pose in the world.

    x: position, m
    y: position, m
    angle: direction, rad
    """
    return m.MOVE_ABS(Pose(x, y, angle))


@COMMANDS.command
def move_rel(x: float, y: float, angle: float) -> Request[None]:
    """Drive to a pose relative to the platform.

    x: position, m
    y: position, m
    angle: direction, rad
    """
    return m.MOVE_REL(Pose(x, y, angle))


@COMMANDS.command
def move_vel_wheel(right: float, left: float) -> Request[None]:
    """Velocities of the wheels; to be repeated. In the velocity mode.

    right: speed of the right wheel, m/s
    left: speed of the left wheel, m/s
    """
    return m.MOVE_VEL_WHEEL(b.MoveWheelVelocity(right, left))


@COMMANDS.command
def move_vel(translation: float, rotation: float, lateral: float = 0.0) -> Request[None]:
    """Velocities of the platform; to be repeated. In the modes of software joystick and velocity.

    translation: ahead, m/s
    rotation: counter-clockwise, rad/s
    lateral: to the left, m/s; only omnidirectional platforms of Dragoman understand it
    """
    # The guide's telegram ends before the lateral velocity.
    return m.MOVE_VEL(b.MoveVelocity(translation, rotation, checks.number(lateral, "lateral") or None))


@COMMANDS.command
def set_map(document: Annotated[Union[Map, str], FromFile()], name: str) -> Request[None]:
    """Set the active map.

    document: the map, or its XML text; a file on the command line
    name: name of the map
    """
    return m.SET_MAP(b.NamedDocument(_named(name, "name"), Map.checked(document)))


@COMMANDS.command
def get_map() -> Request[Document]:
    """The active map."""
    return m.GET_MAP()


@COMMANDS.command
def load_map() -> Request[None]:
    """Load the map from the platform's disk."""
    return m.LOAD_MAP()


@COMMANDS.command
def save_map() -> Request[None]:
    """Save the map to the platform's disk."""
    return m.SAVE_MAP()


@COMMANDS.command
def mapping_start() -> Request[None]:
    """Start mapping."""
    return m.MAPPING_START()


@COMMANDS.command
def mapping_reset() -> Request[None]:
    """Delete the mapped lines."""
    return m.MAPPING_RESET()


@COMMANDS.command
def mapping_stop() -> Request[None]:
    """Stop mapping."""
    return m.MAPPING_STOP()


@COMMANDS.command
def set_roadmap(document: Annotated[Union[Roadmap, str], FromFile()], name: str) -> Request[None]:
    """Set the active roadmap.

    document: the roadmap, or its XML text; a file on the command line
    name: name of the roadmap
    """
    return m.SET_ROADMAP(b.NamedDocument(_named(name, "name"), Roadmap.checked(document)))


@COMMANDS.command
def get_roadmap() -> Request[Document]:
    """The active roadmap."""
    return m.GET_ROADMAP()


@COMMANDS.command
def load_roadmap() -> Request[None]:
    """Load the roadmap from the platform's disk."""
    return m.LOAD_ROADMAP()


@COMMANDS.command
def save_roadmap() -> Request[None]:
    """Save the roadmap to the platform's disk."""
    return m.SAVE_ROADMAP()


@COMMANDS.command
def set_frm_pltf(x: float, y: float, angle: float) -> Request[None]:
    """Set the platform's pose: where it is in the world.

    x: position, m
    y: position, m
    angle: direction, rad
    """
    return m.SET_FRM_PLTF(Pose(x, y, angle))


@COMMANDS.command
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


@COMMANDS.command
def get_pltf_param(key: str) -> Request[Parameter]:
    """A parameter.

    key: its name, e.g. IpoTransVel
    """
    return m.GET_PLTF_PARAM(b.GetParameter(_named(key, "key")))


@COMMANDS.command
def get_pltf_param_vec() -> Request[list[Parameter]]:
    """All parameters."""
    return m.GET_PLTF_PARAM_VEC()


@COMMANDS.command
def set_program(document: Annotated[Union[Program, str], FromFile()]) -> Request[None]:
    """Set the program.

    document: the program, or its XML text; a file on the command line
    """
    return m.SET_PROGRAM(Program.checked(document))


@COMMANDS.command
def get_program() -> Request[str]:
    """The program: its XML text."""
    return m.GET_PROGRAM()


@COMMANDS.command
def load_program() -> Request[None]:
    """Load the program from the platform's disk."""
    return m.LOAD_PROGRAM()


@COMMANDS.command
def save_program() -> Request[None]:
    """Save the program to the platform's disk."""
    return m.SAVE_PROGRAM()


@COMMANDS.command
def speak_text(text: str) -> Request[None]:
    """Speak a text.

    text: the text
    """
    return m.SPEAK_TEXT(b.SpeakText(_short(text, "text", MAX_TEXT_LEN)))


@COMMANDS.command
def play_sound(file_name: str) -> Request[None]:
    """Play a sound file.

    file_name: name of the file on the platform
    """
    return m.PLAY_SOUND(b.FileName(_named(file_name, "file_name")))


@COMMANDS.command
def grab_image(file_name: str) -> Request[None]:
    """Save an image of the camera on the platform.

    file_name: name of the file on the platform
    """
    return m.GRAB_IMAGE(b.FileName(_named(file_name, "file_name")))


@COMMANDS.command
def set_pos_head_drive(angle: float) -> Request[None]:
    """Turn the head to an angle.

    angle: rad; sent as whole degrees
    """
    return m.SET_POS_HEAD_DRIVE(b.HeadPosition(angle))


@COMMANDS.command
def set_vel_head_drive(velocity: float) -> Request[None]:
    """Turn the head with a velocity.

    velocity: rad/s; sent as hundredths of a degree per second
    """
    return m.SET_VEL_HEAD_DRIVE(b.HeadVelocity(velocity))


@COMMANDS.command
def set_pos_pan_tilt_camera(position: str) -> Request[None]:
    """Turn the pan-tilt camera.

    position: in the camera's own format
    """
    return m.SET_POS_PAN_TILT_CAMERA(b.PanTiltPosition(_short(position, "position", MAX_TEXT_LEN)))


@COMMANDS.command
def get_debug_data() -> Request[DebugData]:
    """Debug data."""
    return m.GET_DEBUG_DATA()


@COMMANDS.command
def debug1() -> Request[None]:
    """Debug command 1; raises the user event debug1 on Dragoman's platforms."""
    return m.DEBUG1()


@COMMANDS.command
def debug2() -> Request[None]:
    """Debug command 2; raises the user event debug2 on Dragoman's platforms."""
    return m.DEBUG2()


@COMMANDS.command
def debug3() -> Request[None]:
    """Debug command 3; raises the user event debug3 on Dragoman's platforms."""
    return m.DEBUG3()


@COMMANDS.command
def debug4() -> Request[None]:
    """Debug command 4; raises the user event debug4 on Dragoman's platforms."""
    return m.DEBUG4()


@COMMANDS.command
def mouse_move(x: float, y: float, button: MouseButton) -> Request[None]:
    """Place the obstacle of the mouse, or remove it.

    x: position in the world, m
    y: position in the world, m
    button: down places it, up removes it
    """
    return m.MOUSE_MOVE(b.MouseMove(x, y, checks.code(button, MouseButton, "button")))


@COMMANDS.command
def set_log_enabled() -> Request[None]:
    """Enable logging; the original does not use it."""
    return m.SET_LOG_ENABLED()


@COMMANDS.command
def set_post_process_filename() -> Request[None]:
    """Set the file of recordings; the original does not use it."""
    return m.SET_POST_PROCESS_FILENAME()


@COMMANDS.command
def set_event(event: PostProcessEvent) -> Request[None]:
    """Start or stop a recording or a replay.

    event: what to do
    """
    return m.SET_EVENT(b.SetEvent(checks.code(event, PostProcessEvent, "event")))


@COMMANDS.command
def get_camera() -> Request[Camera]:
    """Address of the camera."""
    return m.GET_CAMERA()


@COMMANDS.command
def get_position() -> Request[Position]:
    """Position and velocities."""
    return m.GET_POSITION()
