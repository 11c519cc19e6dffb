"""Commands and requests of each interface, made of the description of Player's protocol."""

from __future__ import annotations

from typing import Annotated, Union

from ..core import Request
from ..fields import Coded
from .readings import *
from .structures import *
from .tile import Tile
from .wire import COMMAND, F32, I32, REQUEST, U8, U32, Interface, Message

PLAYER = Interface(1, "player", "The server itself. It needs no subscription; its index is 0.", {
})
PLAYER_DEVICES = Message(PLAYER, REQUEST, 1, None, list[Address])
"""The server's devices."""


@PLAYER_DEVICES.function
def player_devices() -> Request[list[Address]]:
    """The server's devices."""
    return PLAYER_DEVICES()


PLAYER_DRIVER = Message(PLAYER, REQUEST, 2, Driver, Driver)
"""The name of a device's driver."""
PLAYER_SUBSCRIBE = Message(PLAYER, REQUEST, 3, Subscription, Subscription)
"""Open or close a device."""
PLAYER_READ = Message(PLAYER, REQUEST, 4, None, None)
"""The data since the last request, when the mode is pull."""


@PLAYER_READ.function
def player_read() -> Request[None]:
    """The data since the last request, when the mode is pull."""
    return PLAYER_READ()


PLAYER_MODE = Message(PLAYER, REQUEST, 5, Annotated[int, U8], None)
"""1: push, data is sent when there is some; 2: pull, on request."""
PLAYER_AUTHENTICATE = Message(PLAYER, REQUEST, 7, bytes, None)
"""The key of a server that asks for one."""
PLAYER_NAME_SERVICE = Message(PLAYER, REQUEST, 8, NameService, NameService)
"""The port of the robot with this name."""
PLAYER_REPLACE_RULE = Message(PLAYER, REQUEST, 10, ReplaceRule, None)
"""What happens to data that waits when newer data comes."""

POWER = Interface(2, "power", "A battery or another source of energy.", {
    1: ("state", PowerState),
})
POWER_SET_CHARGING_POLICY = Message(POWER, REQUEST, 1, PowerPolicy, None)
"""Whether it may be charged, and may charge others."""

GRIPPER = Interface(3, "gripper", "A gripper with two fingers.", {
    1: ("state", GripperState),
})
GRIPPER_OPEN = Message(GRIPPER, COMMAND, 1, None, None)
"""Open the fingers."""


@GRIPPER_OPEN.function
def gripper_open() -> Request[None]:
    """Open the fingers."""
    return GRIPPER_OPEN()


GRIPPER_CLOSE = Message(GRIPPER, COMMAND, 2, None, None)
"""Close the fingers."""


@GRIPPER_CLOSE.function
def gripper_close() -> Request[None]:
    """Close the fingers."""
    return GRIPPER_CLOSE()


GRIPPER_STOP = Message(GRIPPER, COMMAND, 3, None, None)
"""Stop the fingers."""


@GRIPPER_STOP.function
def gripper_stop() -> Request[None]:
    """Stop the fingers."""
    return GRIPPER_STOP()


GRIPPER_STORE = Message(GRIPPER, COMMAND, 4, None, None)
"""Put the held object into the store."""


@GRIPPER_STORE.function
def gripper_store() -> Request[None]:
    """Put the held object into the store."""
    return GRIPPER_STORE()


GRIPPER_RETRIEVE = Message(GRIPPER, COMMAND, 5, None, None)
"""Take an object out of the store."""


@GRIPPER_RETRIEVE.function
def gripper_retrieve() -> Request[None]:
    """Take an object out of the store."""
    return GRIPPER_RETRIEVE()


GRIPPER_GET_GEOMETRY = Message(GRIPPER, REQUEST, 1, None, GripperGeometry)
"""Pose and sizes."""


@GRIPPER_GET_GEOMETRY.function
def gripper_get_geometry() -> Request[GripperGeometry]:
    """Pose and sizes."""
    return GRIPPER_GET_GEOMETRY()



POSITION2D = Interface(4, "position2d", "A base that moves on a plane.", {
    1: ("state", Position2dState),
    2: ("geometry_changed", Geometry),
})
POSITION2D_VELOCITY = Message(POSITION2D, COMMAND, 1, Position2dVelocity, None)
"""Drive with a velocity until the next command."""
POSITION2D_POSITION = Message(POSITION2D, COMMAND, 2, Position2dPosition, None)
"""Drive to a pose of the odometry's frame."""
POSITION2D_CAR = Message(POSITION2D, COMMAND, 3, Position2dSteering, None)
"""Drive with a steering angle."""
POSITION2D_VELOCITY_HEADING = Message(POSITION2D, COMMAND, 4, Position2dSteering, None)
"""Drive in a direction of the odometry's frame."""
POSITION2D_GET_GEOMETRY = Message(POSITION2D, REQUEST, 1, None, Geometry)
"""Size, and pose of its origin on the robot."""


@POSITION2D_GET_GEOMETRY.function
def position2d_get_geometry() -> Request[Geometry]:
    """Size, and pose of its origin on the robot."""
    return POSITION2D_GET_GEOMETRY()


POSITION2D_MOTOR_POWER = Message(POSITION2D, REQUEST, 2, bool, None)
"""Motors on or off."""
POSITION2D_VELOCITY_MODE = Message(POSITION2D, REQUEST, 3, Annotated[int, U32], None)
"""How velocities are controlled; the driver defines the numbers."""
POSITION2D_POSITION_MODE = Message(POSITION2D, REQUEST, 4, Annotated[int, U32], None)
"""0: controlled by velocity; 1: by position."""
POSITION2D_SET_ODOMETRY = Message(POSITION2D, REQUEST, 5, Pose2d, None)
"""Set the odometry."""
POSITION2D_RESET_ODOMETRY = Message(POSITION2D, REQUEST, 6, None, None)
"""Set the odometry to 0, 0, 0; client libraries send SET_ODOMETRY instead."""


@POSITION2D_RESET_ODOMETRY.function
def position2d_reset_odometry() -> Request[None]:
    """Set the odometry to 0, 0, 0; client libraries send SET_ODOMETRY instead."""
    return POSITION2D_RESET_ODOMETRY()


POSITION2D_SPEED_PID = Message(POSITION2D, REQUEST, 7, Position2dPid, None)
"""Gains of the controller of velocities."""
POSITION2D_POSITION_PID = Message(POSITION2D, REQUEST, 8, Position2dPid, None)
"""Gains of the controller of positions."""
POSITION2D_SPEED_PROFILE = Message(POSITION2D, REQUEST, 9, Position2dProfile, None)
"""Maximum speed and acceleration of positions."""

SONAR = Interface(5, "sonar", "Ultrasonic sensors, each with one range.", {
    1: ("ranges", SonarRanges),
    2: ("geometry_changed", SonarGeometry),
})
SONAR_GET_GEOMETRY = Message(SONAR, REQUEST, 1, None, SonarGeometry)
"""Poses."""


@SONAR_GET_GEOMETRY.function
def sonar_get_geometry() -> Request[SonarGeometry]:
    """Poses."""
    return SONAR_GET_GEOMETRY()


SONAR_POWER = Message(SONAR, REQUEST, 2, bool, None)
"""Sensors on or off."""

LASER = Interface(6, "laser", "A laser range finder that scans a plane.", {
    1: ("scan", LaserScan),
    2: ("posed_scan", LaserPosedScan),
    3: ("angled_scan", LaserAngledScan),
})
LASER_GET_GEOMETRY = Message(LASER, REQUEST, 1, None, Geometry)
"""Pose and size."""


@LASER_GET_GEOMETRY.function
def laser_get_geometry() -> Request[Geometry]:
    """Pose and size."""
    return LASER_GET_GEOMETRY()


LASER_SET_CONFIG = Message(LASER, REQUEST, 2, LaserConfig, LaserConfig)
"""Change the configuration; the answer is the one in effect."""
LASER_GET_CONFIG = Message(LASER, REQUEST, 3, None, LaserConfig)
"""The configuration."""


@LASER_GET_CONFIG.function
def laser_get_config() -> Request[LaserConfig]:
    """The configuration."""
    return LASER_GET_CONFIG()


LASER_POWER = Message(LASER, REQUEST, 4, bool, None)
"""Laser on or off."""
LASER_GET_ID = Message(LASER, REQUEST, 5, None, Annotated[int, U32])
"""Serial number."""


@LASER_GET_ID.function
def laser_get_id() -> Request[Annotated[int, U32]]:
    """Serial number."""
    return LASER_GET_ID()


LASER_SET_FILTER = Message(LASER, REQUEST, 6, LaserFilterSettings, None)
"""Filter of the device."""

BUMPER = Interface(14, "bumper", "An array of bumpers.", {
    1: ("state", BumperState),
    2: ("geometry_changed", BumperGeometry),
})
BUMPER_GET_GEOMETRY = Message(BUMPER, REQUEST, 1, None, BumperGeometry)
"""Poses and sizes."""


@BUMPER_GET_GEOMETRY.function
def bumper_get_geometry() -> Request[BumperGeometry]:
    """Poses and sizes."""
    return BUMPER_GET_GEOMETRY()



IR = Interface(22, "ir", "Infrared range sensors, each with one range.", {
    1: ("ranges", IrRanges),
})
IR_GET_GEOMETRY = Message(IR, REQUEST, 1, None, IrGeometry)
"""Poses."""


@IR_GET_GEOMETRY.function
def ir_get_geometry() -> Request[IrGeometry]:
    """Poses."""
    return IR_GET_GEOMETRY()


IR_POWER = Message(IR, REQUEST, 2, bool, None)
"""Sensors on or off."""

LOCALIZE = Interface(25, "localize", "Where the robot is on a map.", {
    1: ("hypotheses", Hypotheses),
})
LOCALIZE_SET_POSE = Message(LOCALIZE, REQUEST, 1, Estimate, None)
"""Start the localization at a pose."""
LOCALIZE_GET_PARTICLES = Message(LOCALIZE, REQUEST, 2, None, Particles)
"""Particles of the filter."""


@LOCALIZE_GET_PARTICLES.function
def localize_get_particles() -> Request[Particles]:
    """Particles of the filter."""
    return LOCALIZE_GET_PARTICLES()



SIMULATION = Interface(31, "simulation", "A simulated world.", {
})
SIMULATION_PAUSE = Message(SIMULATION, COMMAND, 1, None, None)
"""Pause the simulation, or continue it."""


@SIMULATION_PAUSE.function
def simulation_pause() -> Request[None]:
    """Pause the simulation, or continue it."""
    return SIMULATION_PAUSE()


SIMULATION_RESET = Message(SIMULATION, COMMAND, 2, None, None)
"""Put everything back to where it was at the start."""


@SIMULATION_RESET.function
def simulation_reset() -> Request[None]:
    """Put everything back to where it was at the start."""
    return SIMULATION_RESET()


SIMULATION_SAVE = Message(SIMULATION, COMMAND, 3, None, None)
"""Save the world."""


@SIMULATION_SAVE.function
def simulation_save() -> Request[None]:
    """Save the world."""
    return SIMULATION_SAVE()


SIMULATION_GET_POSE2D = Message(SIMULATION, REQUEST, 1, NamedPose2d, NamedPose2d)
"""An object's pose on the plane; the question has its name."""
SIMULATION_SET_POSE2D = Message(SIMULATION, REQUEST, 2, NamedPose2d, None)
"""Put an object to a pose on the plane."""
SIMULATION_GET_POSE3D = Message(SIMULATION, REQUEST, 3, NamedPose3d, NamedPose3d)
"""An object's pose in space; the question has its name."""
SIMULATION_SET_POSE3D = Message(SIMULATION, REQUEST, 4, NamedPose3d, None)
"""Put an object to a pose in space."""
SIMULATION_GET_PROPERTY = Message(SIMULATION, REQUEST, 5, ObjectProperty, ObjectProperty)
"""A property of an object; the question has both names."""
SIMULATION_SET_PROPERTY = Message(SIMULATION, REQUEST, 6, ObjectProperty, None)
"""Change a property of an object."""

CAMERA = Interface(40, "camera", "A camera.", {
    1: ("image", Image),
})
CAMERA_GET_SOURCE = Message(CAMERA, REQUEST, 1, None, ImageSource)
"""The input in use."""


@CAMERA_GET_SOURCE.function
def camera_get_source() -> Request[ImageSource]:
    """The input in use."""
    return CAMERA_GET_SOURCE()


CAMERA_SET_SOURCE = Message(CAMERA, REQUEST, 2, ImageSource, None)
"""Choose the input."""
CAMERA_GET_IMAGE = Message(CAMERA, REQUEST, 3, None, Image)
"""An image now."""


@CAMERA_GET_IMAGE.function
def camera_get_image() -> Request[Image]:
    """An image now."""
    return CAMERA_GET_IMAGE()



MAP = Interface(42, "map", "A map of the ground.", {
    1: ("info", MapInfo),
})
MAP_GET_INFO = Message(MAP, REQUEST, 1, None, MapInfo)
"""Size of the grid."""


@MAP_GET_INFO.function
def map_get_info() -> Request[MapInfo]:
    """Size of the grid."""
    return MAP_GET_INFO()


MAP_GET_DATA = Message(MAP, REQUEST, 2, Tile, Tile)
"""A tile of the grid; cells in the answer are compressed."""
MAP_GET_VECTOR = Message(MAP, REQUEST, 3, None, MapVector)
"""The map as line segments."""


@MAP_GET_VECTOR.function
def map_get_vector() -> Request[MapVector]:
    """The map as line segments."""
    return MAP_GET_VECTOR()



PLANNER = Interface(44, "planner", "Drives to a goal on the plane.", {
    1: ("state", PlannerState),
})
PLANNER_GOAL = Message(PLANNER, COMMAND, 1, PlannerGoal, None)
"""Plan a path to a pose, and drive along it."""
PLANNER_START = Message(PLANNER, COMMAND, 2, PlannerGoal, None)
"""Plan from this pose instead of where the robot is."""
PLANNER_GET_WAYPOINTS = Message(PLANNER, REQUEST, 1, None, Waypoints)
"""The path."""


@PLANNER_GET_WAYPOINTS.function
def planner_get_waypoints() -> Request[Waypoints]:
    """The path."""
    return PLANNER_GET_WAYPOINTS()


PLANNER_ENABLE = Message(PLANNER, REQUEST, 2, bool, None)
"""Let the robot drive, or stop it."""

LOG = Interface(45, "log", "Recording to a file, and playing it back.", {
})
LOG_SET_WRITE_STATE = Message(LOG, REQUEST, 1, bool, None)
"""Start or stop recording."""
LOG_SET_READ_STATE = Message(LOG, REQUEST, 2, bool, None)
"""Start or stop playing back."""
LOG_GET_STATE = Message(LOG, REQUEST, 3, None, LogState)
"""What it does."""


@LOG_GET_STATE.function
def log_get_state() -> Request[LogState]:
    """What it does."""
    return LOG_GET_STATE()


LOG_REWIND = Message(LOG, REQUEST, 4, None, None)
"""Play back from the start."""


@LOG_REWIND.function
def log_rewind() -> Request[None]:
    """Play back from the start."""
    return LOG_REWIND()


LOG_SET_FILE_NAME = Message(LOG, REQUEST, 5, str, None)
"""File to record to, at most 255 bytes."""

OPAQUE = Interface(51, "opaque", "Bytes whose meaning a driver and its clients agree on.", {
    1: ("state", bytes),
})
OPAQUE_COMMAND = Message(OPAQUE, COMMAND, 1, bytes, None)
"""A command to the driver."""
OPAQUE_REQUEST = Message(OPAQUE, REQUEST, 1, bytes, bytes)
"""A request to the driver."""

ACTARRAY = Interface(53, "actarray", "A chain of joints, such as an arm.", {
    1: ("state", ActarrayState),
})
ACTARRAY_POSITION = Message(ACTARRAY, COMMAND, 1, ActarrayJointPosition, None)
"""Move a joint to a position."""
ACTARRAY_MULTI_POSITION = Message(ACTARRAY, COMMAND, 2, ActarrayPositions, None)
"""Move all joints to positions."""
ACTARRAY_SPEED = Message(ACTARRAY, COMMAND, 3, ActarrayJointSpeed, None)
"""Move a joint with a speed."""
ACTARRAY_MULTI_SPEED = Message(ACTARRAY, COMMAND, 4, ActarraySpeeds, None)
"""Move all joints with speeds."""
ACTARRAY_HOME = Message(ACTARRAY, COMMAND, 5, Annotated[int, I32], None)
"""Move a joint to its home position; -1: all joints."""
ACTARRAY_CURRENT = Message(ACTARRAY, COMMAND, 6, ActarrayJointCurrent, None)
"""Move a joint with a current; -1: all joints."""
ACTARRAY_MULTI_CURRENT = Message(ACTARRAY, COMMAND, 7, ActarrayCurrents, None)
"""Move all joints with currents."""
ACTARRAY_POWER = Message(ACTARRAY, REQUEST, 1, bool, None)
"""Power of all joints on or off; they may move when it is switched on."""
ACTARRAY_BRAKES = Message(ACTARRAY, REQUEST, 2, bool, None)
"""Brakes of all joints on or off."""
ACTARRAY_GET_GEOMETRY = Message(ACTARRAY, REQUEST, 3, None, ActarrayGeometry)
"""Links, axes and limits."""


@ACTARRAY_GET_GEOMETRY.function
def actarray_get_geometry() -> Request[ActarrayGeometry]:
    """Links, axes and limits."""
    return ACTARRAY_GET_GEOMETRY()


ACTARRAY_SET_SPEED = Message(ACTARRAY, REQUEST, 4, ActarrayJointSpeed, None)
"""Speed of a joint's motions from now on."""
ACTARRAY_SET_ACCELERATION = Message(ACTARRAY, REQUEST, 5, ActarrayJointAcceleration, None)
"""Acceleration of a joint's motions from now on."""

LIMB = Interface(54, "limb", "An arm, by the pose of its end effector.", {
    1: ("state", LimbState),
})
LIMB_HOME = Message(LIMB, COMMAND, 1, None, None)
"""Move to the home position."""


@LIMB_HOME.function
def limb_home() -> Request[None]:
    """Move to the home position."""
    return LIMB_HOME()


LIMB_STOP = Message(LIMB, COMMAND, 2, None, None)
"""Stop now."""


@LIMB_STOP.function
def limb_stop() -> Request[None]:
    """Stop now."""
    return LIMB_STOP()


LIMB_SET_POSE = Message(LIMB, COMMAND, 3, LimbPose, None)
"""Move to a pose."""
LIMB_SET_POSITION = Message(LIMB, COMMAND, 4, Point3d, None)
"""Move to a position, with any orientation."""
LIMB_MOVE_ALONG = Message(LIMB, COMMAND, 5, LimbMove, None)
"""Move along a straight line."""
LIMB_POWER = Message(LIMB, REQUEST, 1, bool, None)
"""Power on or off; the arm may move when it is switched on."""
LIMB_BRAKES = Message(LIMB, REQUEST, 2, bool, None)
"""Brakes on or off."""
LIMB_GET_GEOMETRY = Message(LIMB, REQUEST, 3, None, Point3d)
"""Position of the base in the robot's frame."""


@LIMB_GET_GEOMETRY.function
def limb_get_geometry() -> Request[Point3d]:
    """Position of the base in the robot's frame."""
    return LIMB_GET_GEOMETRY()


LIMB_SET_SPEED = Message(LIMB, REQUEST, 4, Annotated[float, F32], None)
"""Speed of the end effector from now on, m/s."""

IMU = Interface(60, "imu", "An inertial measurement unit.", {
    1: ("state", Pose3d),
    2: ("calibrated", ImuCalibrated),
    3: ("quaternion", ImuQuaternion),
    4: ("euler", ImuEuler),
    5: ("full_state", ImuFullState),
})
IMU_SET_DATA_KIND = Message(IMU, REQUEST, 1, Annotated[Union[ImuDataKind, int], Coded(ImuDataKind, U8)], None)
"""Choose the data that is sent."""
IMU_RESET_ORIENTATION = Message(IMU, REQUEST, 2, Annotated[int, U32], None)
"""Reset the orientation; the driver defines the number."""
IMU_RESET_EULER = Message(IMU, REQUEST, 3, Pose3d, None)
"""Set the orientation."""

RANGER = Interface(62, "ranger", "Range sensors: a laser, sonars, infrared sensors.", {
    1: ("ranges", RangerRanges),
    2: ("stamped_ranges", RangerStampedRanges),
    3: ("intensities", RangerIntensities),
    4: ("stamped_intensities", RangerStampedIntensities),
    5: ("geometry_changed", RangerGeometry),
})
RANGER_GET_GEOMETRY = Message(RANGER, REQUEST, 1, None, RangerGeometry)
"""Poses and sizes."""


@RANGER_GET_GEOMETRY.function
def ranger_get_geometry() -> Request[RangerGeometry]:
    """Poses and sizes."""
    return RANGER_GET_GEOMETRY()


RANGER_POWER = Message(RANGER, REQUEST, 2, bool, None)
"""Sensors on or off."""
RANGER_SEND_INTENSITIES = Message(RANGER, REQUEST, 3, bool, None)
"""Whether intensities are sent."""
RANGER_SET_CONFIG = Message(RANGER, REQUEST, 4, RangerConfig, RangerConfig)
"""Change the configuration; the answer is the one in effect."""
RANGER_GET_CONFIG = Message(RANGER, REQUEST, 5, None, RangerConfig)
"""The configuration."""


@RANGER_GET_CONFIG.function
def ranger_get_config() -> Request[RangerConfig]:
    """The configuration."""
    return RANGER_GET_CONFIG()



VECTORMAP = Interface(63, "vectormap", "A map of shapes in layers.", {
})
VECTORMAP_GET_INFO = Message(VECTORMAP, REQUEST, 1, None, VectormapInfo)
"""Layers and bounds."""


@VECTORMAP_GET_INFO.function
def vectormap_get_info() -> Request[VectormapInfo]:
    """Layers and bounds."""
    return VECTORMAP_GET_INFO()


VECTORMAP_GET_LAYER = Message(VECTORMAP, REQUEST, 3, Layer, Layer)
"""The shapes of a layer; the question has its name."""
VECTORMAP_WRITE_LAYER = Message(VECTORMAP, REQUEST, 4, Layer, None)
"""Replace the shapes of a layer."""

EVERY_INTERFACE = Interface(0, "every_interface", "Requests that devices of every interface have. It is no interface: on the wire stands that of the device.", {
})
EVERY_INTERFACE_SET_BOOL = Message(EVERY_INTERFACE, REQUEST, 247, BoolProperty, None)
"""Change a property that is true or false."""
EVERY_INTERFACE_GET_BOOL = Message(EVERY_INTERFACE, REQUEST, 248, BoolProperty, BoolProperty)
"""A property that is true or false; the question has its name."""
EVERY_INTERFACE_SET_TEXT = Message(EVERY_INTERFACE, REQUEST, 249, TextProperty, None)
"""Change a text."""
EVERY_INTERFACE_GET_TEXT = Message(EVERY_INTERFACE, REQUEST, 250, TextProperty, TextProperty)
"""A text; the question has its name."""
EVERY_INTERFACE_SET_DOUBLE = Message(EVERY_INTERFACE, REQUEST, 251, DoubleProperty, None)
"""Change a number."""
EVERY_INTERFACE_GET_DOUBLE = Message(EVERY_INTERFACE, REQUEST, 252, DoubleProperty, DoubleProperty)
"""A number; the question has its name."""
EVERY_INTERFACE_SET_INT = Message(EVERY_INTERFACE, REQUEST, 253, IntProperty, None)
"""Change an integer."""
EVERY_INTERFACE_GET_INT = Message(EVERY_INTERFACE, REQUEST, 254, IntProperty, IntProperty)
"""An integer; the question has its name."""
EVERY_INTERFACE_CAPABILITY = Message(EVERY_INTERFACE, REQUEST, 255, Capability, None)
"""Whether a device handles a message: acknowledged or refused."""
