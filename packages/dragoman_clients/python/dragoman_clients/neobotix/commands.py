"""The table of commands (PlatformCtrl guide, 6.3). Positions in m, angles in rad, velocities in m/s and rad/s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Callable, TypeVar, Union

from .. import checks
from ..cli import FromFile, Group
from ..core import Request, nothing
from ..errors import BadArgument
from ..fields import Codec, Coded, Raw, Scaled
from ..table import Table
from .codes import Board, MotionMode, Motor, MouseButton, PostProcessEvent
from .documents import Map, Program, Roadmap
from .replies import Camera, CanMessage, DebugData, Document, Parameter, Pose, Position, Status
from .wire import BYTE, DEGREE, DIALECT, INT, MAX_DATA_LEN, MAX_NAME_LEN, Text, decode

T = TypeVar("T")

COMMANDS = Table()

MAX_TEXT_LEN = 64 << 10
MAX_PATH_LEN = 10000
MAX_CAN_ID = (1 << 29) - 1

_NAME = Text(MAX_NAME_LEN)
_DOCUMENT = Text(MAX_DATA_LEN)
_MM = Scaled(INT, 1000)
_MDEG = Scaled(INT, 1000 * DEGREE)


def _send(name: str, number: int, *values: tuple[str, Codec, Any], answered: bool = False) -> Request[None]:
    return Request(name, number, _pack(*values), answered, nothing)


def _ask(name: str, number: int, read: Callable[[bytes], T], *values: tuple[str, Codec, Any]) -> Request[T]:
    return Request(name, number, _pack(*values), True, read)


def _reader(name: str, kind: Any, checked: bool = False) -> Callable[[bytes], Any]:
    return lambda data: decode(kind, data, name, checked)


def _pack(*values: tuple[str, Codec, Any]) -> bytes:
    out = bytearray()
    for what, codec, value in values:
        codec.write(value, out, what)
    return bytes(out)


def _frame(x: float, y: float, angle: float) -> list[tuple[str, Codec, Any]]:
    return [("x", _MM, x), ("y", _MM, y), ("angle", _MDEG, angle)]


def _named(value: str, what: str) -> str:
    if value == "":
        raise BadArgument(f"{what} must not be empty")
    return value


@COMMANDS.command
def connect_to_pltf() -> Request[None]:
    """Connect the platform's CAN nodes, and test them."""
    return _send("connect_to_pltf", 0)


@COMMANDS.command
def shutdown_pltf() -> Request[None]:
    """Disconnect the CAN nodes."""
    return _send("shutdown_pltf", 1)


@COMMANDS.command
def init_pltf() -> Request[None]:
    """Initialize the hardware, and test the platform."""
    return _send("init_pltf", 2)


@COMMANDS.command
def set_brake(motor: Motor, released: bool) -> Request[None]:
    """Hold or release the brake of a motor.

    motor: the motor
    released: whether the wheel is free
    """
    return _send(
        "set_brake",
        3,
        ("motor", Coded(Motor, BYTE), checks.code(motor, Motor, "motor")),
        ("released", BYTE, int(checks.flag(released, "released"))),
    )


@COMMANDS.command
def set_digout(board: Board, channel: int, high: bool) -> Request[None]:
    """Set a digital output.

    board: the board
    channel: address of the channel
    high: whether it is high
    """
    return _send(
        "set_digout",
        4,
        ("board", INT, int(checks.code(board, Board, "board"))),
        ("channel", INT, channel),
        ("high", BYTE, int(checks.flag(high, "high"))),
    )


@COMMANDS.command
def start_ultrasonic(channel: int) -> Request[None]:
    """Start measuring with ultrasonic sensors.

    channel: address of the active channel; Dragoman's platforms take a bit mask
    """
    return _send("start_ultrasonic", 5, ("channel", INT, channel))


@COMMANDS.command
def stop_ultrasonic() -> Request[None]:
    """Stop measuring with ultrasonic sensors."""
    return _send("stop_ultrasonic", 6)


@COMMANDS.command
def add_can_listening_id(id: int) -> Request[None]:
    """Store received CAN messages with this id.

    id: CAN id
    """
    return _send("add_can_listening_id", 7, ("id", INT, checks.integer(id, "id", 0, MAX_CAN_ID)))


@COMMANDS.command
def remove_can_listening_id(id: int) -> Request[None]:
    """Store no more CAN messages with this id.

    id: CAN id
    """
    return _send("remove_can_listening_id", 8, ("id", INT, checks.integer(id, "id", 0, MAX_CAN_ID)))


@COMMANDS.command
def send_can_message(id: int, data: bytes) -> Request[None]:
    """Send a CAN message.

    id: CAN id
    data: eight bytes; hexadecimal on the command line
    """
    return _send("send_can_message", 9, ("id", INT, checks.integer(id, "id", 0, MAX_CAN_ID)), ("data", Raw(8), data))


@COMMANDS.command
def get_can_messages(delete: bool = True) -> Request[list[CanMessage]]:
    """Stored CAN messages.

    delete: whether they are deleted after reading
    """
    return _ask(
        "get_can_messages",
        10,
        _reader("get_can_messages", list[CanMessage]),
        ("delete", BYTE, int(checks.flag(delete, "delete"))),
    )


@COMMANDS.command
def start() -> Request[None]:
    """Start the motion mode."""
    return _send("start", 11)


@COMMANDS.command
def break_() -> Request[None]:
    """Pause the motion."""
    return _send("break", 12)


@COMMANDS.command
def continue_() -> Request[None]:
    """Continue after a pause."""
    return _send("continue", 13)


@COMMANDS.command
def stop() -> Request[None]:
    """Stop the motion mode."""
    return _send("stop", 14)


@COMMANDS.command
def set_mode(mode: MotionMode) -> Request[None]:
    """Change the motion mode; only while the platform is ready.

    mode: the motion mode
    """
    return _send("set_mode", 15, ("mode", INT, int(checks.code(mode, MotionMode, "mode"))))


@COMMANDS.command
def exit() -> Request[None]:
    """Shut the platform down."""
    return _send("exit", 16)


@COMMANDS.command
def close_socket() -> Request[None]:
    """Let the platform close the connection."""
    return _send("close_socket", 17)


@COMMANDS.command
def get_status() -> Request[Status]:
    """Status of the platform."""
    return _ask("get_status", 18, _reader("get_status", Status, checked=True))


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
    return _send("move_path", 19, ("path", DIALECT.codec(list[Pose]), poses))


@COMMANDS.command
def move_to_station(station: str) -> Request[None]:
    """Drive on the roadmap to a station.

    station: name of the station
    """
    return _send("move_to_station", 20, ("station", _NAME, _named(station, "station")))


@COMMANDS.command
def move_abs(x: float, y: float, angle: float) -> Request[None]:
    """Drive to a pose in the world.

    x: position, m
    y: position, m
    angle: direction, rad
    """
    return _send("move_abs", 21, *_frame(x, y, angle))


@COMMANDS.command
def move_rel(x: float, y: float, angle: float) -> Request[None]:
    """Drive to a pose relative to the platform.

    x: position, m
    y: position, m
    angle: direction, rad
    """
    return _send("move_rel", 22, *_frame(x, y, angle))


@COMMANDS.command
def move_vel_wheel(right: float, left: float) -> Request[None]:
    """Velocities of the wheels; to be repeated. In the velocity mode.

    right: speed of the right wheel, m/s
    left: speed of the left wheel, m/s
    """
    return _send("move_vel_wheel", 23, ("right", _MM, right), ("left", _MM, left))


@COMMANDS.command
def move_vel(translation: float, rotation: float, lateral: float = 0.0) -> Request[None]:
    """Velocities of the platform; to be repeated. In the modes of software joystick and velocity.

    translation: ahead, m/s
    rotation: counter-clockwise, rad/s
    lateral: to the left, m/s; only omnidirectional platforms of Dragoman understand it
    """
    velocities: list[tuple[str, Codec, Any]] = [("translation", _MM, translation), ("rotation", _MM, rotation)]
    if checks.number(lateral, "lateral"):
        # The guide's telegram ends before it.
        velocities.append(("lateral", _MM, lateral))
    return _send("move_vel", 24, *velocities)


@COMMANDS.command
def set_map(document: Annotated[Union[Map, str], FromFile()], name: str) -> Request[None]:
    """Set the active map.

    document: the map, or its XML text; a file on the command line
    name: name of the map
    """
    return _send("set_map", 25, ("name", _NAME, _named(name, "name")), ("document", _DOCUMENT, Map.checked(document)))


@COMMANDS.command
def get_map() -> Request[Document]:
    """The active map."""
    return _ask("get_map", 26, _reader("get_map", Document))


@COMMANDS.command
def load_map() -> Request[None]:
    """Load the map from the platform's disk."""
    return _send("load_map", 27)


@COMMANDS.command
def save_map() -> Request[None]:
    """Save the map to the platform's disk."""
    return _send("save_map", 28)


@COMMANDS.command
def mapping_start() -> Request[None]:
    """Start mapping."""
    return _send("mapping_start", 29)


@COMMANDS.command
def mapping_reset() -> Request[None]:
    """Delete the mapped lines."""
    return _send("mapping_reset", 30)


@COMMANDS.command
def mapping_stop() -> Request[None]:
    """Stop mapping."""
    return _send("mapping_stop", 31)


@COMMANDS.command
def set_roadmap(document: Annotated[Union[Roadmap, str], FromFile()], name: str) -> Request[None]:
    """Set the active roadmap.

    document: the roadmap, or its XML text; a file on the command line
    name: name of the roadmap
    """
    return _send(
        "set_roadmap", 32, ("name", _NAME, _named(name, "name")), ("document", _DOCUMENT, Roadmap.checked(document))
    )


@COMMANDS.command
def get_roadmap() -> Request[Document]:
    """The active roadmap."""
    return _ask("get_roadmap", 33, _reader("get_roadmap", Document))


@COMMANDS.command
def load_roadmap() -> Request[None]:
    """Load the roadmap from the platform's disk."""
    return _send("load_roadmap", 34)


@COMMANDS.command
def save_roadmap() -> Request[None]:
    """Save the roadmap to the platform's disk."""
    return _send("save_roadmap", 35)


@COMMANDS.command
def set_frm_pltf(x: float, y: float, angle: float) -> Request[None]:
    """Set the platform's pose: where it is in the world.

    x: position, m
    y: position, m
    angle: direction, rad
    """
    return _send("set_frm_pltf", 36, *_frame(x, y, angle))


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
    return _send("set_pltf_param", 37, ("key", _NAME, _named(key, "key")), ("value", _NAME, text))


@COMMANDS.command
def get_pltf_param(key: str) -> Request[Parameter]:
    """A parameter.

    key: its name, e.g. IpoTransVel
    """
    return _ask("get_pltf_param", 38, _reader("get_pltf_param", Parameter), ("key", _NAME, _named(key, "key")))


@COMMANDS.command
def get_pltf_param_vec() -> Request[list[Parameter]]:
    """All parameters."""
    return _ask("get_pltf_param_vec", 39, _reader("get_pltf_param_vec", list[Parameter]))


@COMMANDS.command
def set_program(document: Annotated[Union[Program, str], FromFile()]) -> Request[None]:
    """Set the program.

    document: the program, or its XML text; a file on the command line
    """
    return _send("set_program", 40, ("document", _DOCUMENT, Program.checked(document)))


@COMMANDS.command
def get_program() -> Request[str]:
    """The program: its XML text."""
    return _ask("get_program", 41, _reader("get_program", str))


@COMMANDS.command
def load_program() -> Request[None]:
    """Load the program from the platform's disk."""
    return _send("load_program", 42)


@COMMANDS.command
def save_program() -> Request[None]:
    """Save the program to the platform's disk."""
    return _send("save_program", 43)


@COMMANDS.command
def speak_text(text: str) -> Request[None]:
    """Speak a text.

    text: the text
    """
    return _send("speak_text", 44, ("text", Text(MAX_TEXT_LEN), text))


@COMMANDS.command
def play_sound(file_name: str) -> Request[None]:
    """Play a sound file.

    file_name: name of the file on the platform
    """
    return _send("play_sound", 45, ("file_name", _NAME, _named(file_name, "file_name")))


@COMMANDS.command
def grab_image(file_name: str) -> Request[None]:
    """Save an image of the camera on the platform.

    file_name: name of the file on the platform
    """
    return _send("grab_image", 46, ("file_name", _NAME, _named(file_name, "file_name")))


@COMMANDS.command
def set_pos_head_drive(angle: float) -> Request[None]:
    """Turn the head to an angle.

    angle: rad; sent as whole degrees
    """
    return _send("set_pos_head_drive", 47, ("angle", Scaled(INT, DEGREE), angle))


@COMMANDS.command
def set_vel_head_drive(velocity: float) -> Request[None]:
    """Turn the head with a velocity.

    velocity: rad/s; sent as hundredths of a degree per second
    """
    return _send("set_vel_head_drive", 48, ("velocity", Scaled(INT, 100 * DEGREE), velocity))


@COMMANDS.command
def set_pos_pan_tilt_camera(position: str) -> Request[None]:
    """Turn the pan-tilt camera.

    position: in the camera's own format
    """
    return _send("set_pos_pan_tilt_camera", 49, ("position", Text(MAX_TEXT_LEN), position))


@COMMANDS.command
def get_debug_data() -> Request[DebugData]:
    """Debug data."""
    return _ask("get_debug_data", 50, _reader("get_debug_data", DebugData, checked=True))


@COMMANDS.command
def debug1() -> Request[None]:
    """Debug command 1; raises the user event debug1 on Dragoman's platforms."""
    return _send("debug1", 51)


@COMMANDS.command
def debug2() -> Request[None]:
    """Debug command 2; raises the user event debug2 on Dragoman's platforms."""
    return _send("debug2", 52)


@COMMANDS.command
def debug3() -> Request[None]:
    """Debug command 3; raises the user event debug3 on Dragoman's platforms."""
    return _send("debug3", 53)


@COMMANDS.command
def debug4() -> Request[None]:
    """Debug command 4; raises the user event debug4 on Dragoman's platforms."""
    return _send("debug4", 54)


@COMMANDS.command
def mouse_move(x: float, y: float, button: MouseButton) -> Request[None]:
    """Place the obstacle of the mouse, or remove it.

    x: position in the world, m
    y: position in the world, m
    button: down places it, up removes it
    """
    return _send(
        "mouse_move", 55, ("x", _MM, x), ("y", _MM, y), ("button", INT, int(checks.code(button, MouseButton, "button")))
    )


@COMMANDS.command
def set_log_enabled() -> Request[None]:
    """Enable logging; the original does not use it."""
    return _send("set_log_enabled", 56)


@COMMANDS.command
def set_post_process_filename() -> Request[None]:
    """Set the file of recordings; the original does not use it."""
    return _send("set_post_process_filename", 57)


@COMMANDS.command
def set_event(event: PostProcessEvent) -> Request[None]:
    """Start or stop a recording or a replay.

    event: what to do
    """
    return _send("set_event", 58, ("event", INT, int(checks.code(event, PostProcessEvent, "event"))))


@COMMANDS.command
def get_camera() -> Request[Camera]:
    """Address of the camera."""
    return _ask("get_camera", 59, _reader("get_camera", Camera))


@COMMANDS.command
def get_position() -> Request[Position]:
    """Position and velocities."""
    return _ask("get_position", 74, _reader("get_position", Position))
