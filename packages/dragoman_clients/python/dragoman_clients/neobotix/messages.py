"""The commands, made of the description of PlatformCtrl."""

from __future__ import annotations

from ..core import Request
from .bodies import *
from .replies import *
from .wire import DIALECT, Checked, Message

CONNECT_TO_PLTF = Message("connect_to_pltf", 0, None, None)
"""Connect the platform's CAN nodes, and test them."""


@CONNECT_TO_PLTF.function
def connect_to_pltf() -> Request[None]:
    """Connect the platform's CAN nodes, and test them."""
    return CONNECT_TO_PLTF()


SHUTDOWN_PLTF = Message("shutdown_pltf", 1, None, None)
"""Disconnect the CAN nodes."""


@SHUTDOWN_PLTF.function
def shutdown_pltf() -> Request[None]:
    """Disconnect the CAN nodes."""
    return SHUTDOWN_PLTF()


INIT_PLTF = Message("init_pltf", 2, None, None)
"""Initialize the hardware, and test the platform."""


@INIT_PLTF.function
def init_pltf() -> Request[None]:
    """Initialize the hardware, and test the platform."""
    return INIT_PLTF()


SET_BRAKE = Message("set_brake", 3, SetBrake, None)
"""Brake of a motor."""
SET_DIGOUT = Message("set_digout", 4, SetDigitalOutput, None)
"""Digital output."""
START_ULTRASONIC = Message("start_ultrasonic", 5, StartUltrasonic, None)
"""Start measuring with ultrasonic sensors."""
STOP_ULTRASONIC = Message("stop_ultrasonic", 6, None, None)
"""Stop measuring with ultrasonic sensors."""


@STOP_ULTRASONIC.function
def stop_ultrasonic() -> Request[None]:
    """Stop measuring with ultrasonic sensors."""
    return STOP_ULTRASONIC()


ADD_CAN_LISTENING_ID = Message("add_can_listening_id", 7, CanId, None)
"""Add an id to the CAN listening list."""
REMOVE_CAN_LISTENING_ID = Message("remove_can_listening_id", 8, CanId, None)
"""Remove an id from the CAN listening list."""
SEND_CAN_MESSAGE = Message("send_can_message", 9, SendCanMessage, None)
"""Send a CAN message."""
GET_CAN_MESSAGES = Message("get_can_messages", 10, GetCanMessages, list[CanMessage])
"""Stored CAN messages."""
START = Message("start", 11, None, None)
"""Start the motion mode."""


@START.function
def start() -> Request[None]:
    """Start the motion mode."""
    return START()


BREAK = Message("break", 12, None, None)
"""Pause the motion."""


@BREAK.function
def break_() -> Request[None]:
    """Pause the motion."""
    return BREAK()


CONTINUE = Message("continue", 13, None, None)
"""Continue after a pause."""


@CONTINUE.function
def continue_() -> Request[None]:
    """Continue after a pause."""
    return CONTINUE()


STOP = Message("stop", 14, None, None)
"""Stop the motion mode."""


@STOP.function
def stop() -> Request[None]:
    """Stop the motion mode."""
    return STOP()


SET_MODE = Message("set_mode", 15, SetMode, None)
"""Change the motion mode."""
EXIT = Message("exit", 16, None, None)
"""Shut the platform down."""


@EXIT.function
def exit() -> Request[None]:
    """Shut the platform down."""
    return EXIT()


CLOSE_SOCKET = Message("close_socket", 17, None, None)
"""Close the connection."""


@CLOSE_SOCKET.function
def close_socket() -> Request[None]:
    """Close the connection."""
    return CLOSE_SOCKET()


GET_STATUS = Message("get_status", 18, None, Checked(DIALECT.codec(Status), -1))
"""Status of the platform."""


@GET_STATUS.function
def get_status() -> Request[Status]:
    """Status of the platform."""
    return GET_STATUS()


MOVE_PATH = Message("move_path", 19, MovePath, None)
"""Drive on a path to its end."""
MOVE_TO_STATION = Message("move_to_station", 20, MoveToStation, None)
"""Drive on the roadmap to a station."""
MOVE_ABS = Message("move_abs", 21, Pose, None)
"""Drive to a pose in the world."""
MOVE_REL = Message("move_rel", 22, Pose, None)
"""Drive to a pose relative to the platform."""
MOVE_VEL_WHEEL = Message("move_vel_wheel", 23, MoveWheelVelocity, None)
"""Velocities of the wheels."""
MOVE_VEL = Message("move_vel", 24, MoveVelocity, None)
"""Velocities of the platform."""
SET_MAP = Message("set_map", 25, NamedDocument, None)
"""Set the active map."""
GET_MAP = Message("get_map", 26, None, Document)
"""The active map."""


@GET_MAP.function
def get_map() -> Request[Document]:
    """The active map."""
    return GET_MAP()


LOAD_MAP = Message("load_map", 27, None, None)
"""Load the map from the platform's disk."""


@LOAD_MAP.function
def load_map() -> Request[None]:
    """Load the map from the platform's disk."""
    return LOAD_MAP()


SAVE_MAP = Message("save_map", 28, None, None)
"""Save the map to the platform's disk."""


@SAVE_MAP.function
def save_map() -> Request[None]:
    """Save the map to the platform's disk."""
    return SAVE_MAP()


MAPPING_START = Message("mapping_start", 29, None, None)
"""Start mapping."""


@MAPPING_START.function
def mapping_start() -> Request[None]:
    """Start mapping."""
    return MAPPING_START()


MAPPING_RESET = Message("mapping_reset", 30, None, None)
"""Delete the mapped lines."""


@MAPPING_RESET.function
def mapping_reset() -> Request[None]:
    """Delete the mapped lines."""
    return MAPPING_RESET()


MAPPING_STOP = Message("mapping_stop", 31, None, None)
"""Stop mapping."""


@MAPPING_STOP.function
def mapping_stop() -> Request[None]:
    """Stop mapping."""
    return MAPPING_STOP()


SET_ROADMAP = Message("set_roadmap", 32, NamedDocument, None)
"""Set the active roadmap."""
GET_ROADMAP = Message("get_roadmap", 33, None, Document)
"""The active roadmap."""


@GET_ROADMAP.function
def get_roadmap() -> Request[Document]:
    """The active roadmap."""
    return GET_ROADMAP()


LOAD_ROADMAP = Message("load_roadmap", 34, None, None)
"""Load the roadmap from the platform's disk."""


@LOAD_ROADMAP.function
def load_roadmap() -> Request[None]:
    """Load the roadmap from the platform's disk."""
    return LOAD_ROADMAP()


SAVE_ROADMAP = Message("save_roadmap", 35, None, None)
"""Save the roadmap to the platform's disk."""


@SAVE_ROADMAP.function
def save_roadmap() -> Request[None]:
    """Save the roadmap to the platform's disk."""
    return SAVE_ROADMAP()


SET_FRM_PLTF = Message("set_frm_pltf", 36, Pose, None)
"""Set the platform's pose."""
SET_PLTF_PARAM = Message("set_pltf_param", 37, SetParameter, None)
"""Set a parameter."""
GET_PLTF_PARAM = Message("get_pltf_param", 38, GetParameter, Parameter)
"""A parameter."""
GET_PLTF_PARAM_VEC = Message("get_pltf_param_vec", 39, None, list[Parameter])
"""All parameters."""


@GET_PLTF_PARAM_VEC.function
def get_pltf_param_vec() -> Request[list[Parameter]]:
    """All parameters."""
    return GET_PLTF_PARAM_VEC()


SET_PROGRAM = Message("set_program", 40, str, None)
"""Set the program."""
GET_PROGRAM = Message("get_program", 41, None, str)
"""The program."""


@GET_PROGRAM.function
def get_program() -> Request[str]:
    """The program."""
    return GET_PROGRAM()


LOAD_PROGRAM = Message("load_program", 42, None, None)
"""Load the program from the platform's disk."""


@LOAD_PROGRAM.function
def load_program() -> Request[None]:
    """Load the program from the platform's disk."""
    return LOAD_PROGRAM()


SAVE_PROGRAM = Message("save_program", 43, None, None)
"""Save the program to the platform's disk."""


@SAVE_PROGRAM.function
def save_program() -> Request[None]:
    """Save the program to the platform's disk."""
    return SAVE_PROGRAM()


SPEAK_TEXT = Message("speak_text", 44, SpeakText, None)
"""Speak."""
PLAY_SOUND = Message("play_sound", 45, FileName, None)
"""Play a sound file."""
GRAB_IMAGE = Message("grab_image", 46, FileName, None)
"""Save an image of the camera."""
SET_POS_HEAD_DRIVE = Message("set_pos_head_drive", 47, HeadPosition, None)
"""Angle of the head."""
SET_VEL_HEAD_DRIVE = Message("set_vel_head_drive", 48, HeadVelocity, None)
"""Angular velocity of the head."""
SET_POS_PAN_TILT_CAMERA = Message("set_pos_pan_tilt_camera", 49, PanTiltPosition, None)
"""Position of the pan-tilt camera."""
GET_DEBUG_DATA = Message("get_debug_data", 50, None, Checked(DIALECT.codec(DebugData), -1))
"""Debug data."""


@GET_DEBUG_DATA.function
def get_debug_data() -> Request[DebugData]:
    """Debug data."""
    return GET_DEBUG_DATA()


DEBUG1 = Message("debug1", 51, None, None)
"""User event `debug1` for the running program."""


@DEBUG1.function
def debug1() -> Request[None]:
    """User event `debug1` for the running program."""
    return DEBUG1()


DEBUG2 = Message("debug2", 52, None, None)
"""User event `debug2` for the running program."""


@DEBUG2.function
def debug2() -> Request[None]:
    """User event `debug2` for the running program."""
    return DEBUG2()


DEBUG3 = Message("debug3", 53, None, None)
"""User event `debug3` for the running program."""


@DEBUG3.function
def debug3() -> Request[None]:
    """User event `debug3` for the running program."""
    return DEBUG3()


DEBUG4 = Message("debug4", 54, None, None)
"""User event `debug4` for the running program."""


@DEBUG4.function
def debug4() -> Request[None]:
    """User event `debug4` for the running program."""
    return DEBUG4()


MOUSE_MOVE = Message("mouse_move", 55, MouseMove, None)
"""Place or remove an obstacle."""
SET_LOG_ENABLED = Message("set_log_enabled", 56, None, None)
"""Log; without effect on the original."""


@SET_LOG_ENABLED.function
def set_log_enabled() -> Request[None]:
    """Log; without effect on the original."""
    return SET_LOG_ENABLED()


SET_POST_PROCESS_FILENAME = Message("set_post_process_filename", 57, None, None)
"""File for recordings; without effect on the original."""


@SET_POST_PROCESS_FILENAME.function
def set_post_process_filename() -> Request[None]:
    """File for recordings; without effect on the original."""
    return SET_POST_PROCESS_FILENAME()


SET_EVENT = Message("set_event", 58, SetEvent, None)
"""Recording and replay."""
GET_CAMERA = Message("get_camera", 59, None, Camera)
"""Address of the camera."""


@GET_CAMERA.function
def get_camera() -> Request[Camera]:
    """Address of the camera."""
    return GET_CAMERA()


GET_POSITION = Message("get_position", 74, None, Position)
"""Position and velocities."""


@GET_POSITION.function
def get_position() -> Request[Position]:
    """Position and velocities."""
    return GET_POSITION()


