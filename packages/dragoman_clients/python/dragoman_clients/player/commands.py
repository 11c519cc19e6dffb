"""The tables of commands and requests of all interfaces but sensors.

A function is in the table of its interface under its name without that of the interface. Its request is for device 0;
a client's device puts in its own number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Union

from .. import checks
from ..core import Request, nothing
from ..fields import Reader
from . import structures as s
from .wire import COMMAND, DIALECT, F32, F64, I32, INTERFACES, REQUEST, U32, Interface, Key, pack, unpack

_ORIGIN = s.Pose2d(0.0, 0.0, 0.0)
_ORIGIN3 = s.Pose3d(s.Point3d(0.0, 0.0, 0.0), s.Orientation3d(0.0, 0.0, 0.0))
_TILE = Annotated[s.MapTile, s.MapTileCodec()]


def add_interface(code: int, name: str, data: dict[int, tuple[str, type]]) -> Interface:
    """A new table."""
    INTERFACES[code] = Interface(code, name, data)
    return INTERFACES[code]


def tell(interface: Interface, number: int, name: str, *values: tuple[str, Any, Any]) -> Request[None]:
    """A command: the names, types and values of its body."""
    key = Key(interface.code, 0, COMMAND, number)
    return Request(f"{interface.interface} {name}", key, pack(*values), False, nothing)


def ask(interface: Interface, number: int, name: str, answer: Any, *values: tuple[str, Any, Any]) -> Request[Any]:
    """A request: the type of its answer; the names, types and values of its body."""
    key = Key(interface.code, 0, REQUEST, number)
    what = f"{interface.interface} {name}"
    decode = nothing if answer is None else lambda body: unpack(answer, body, what)
    return Request(what, key, pack(*values), True, decode)


# power: a battery

POWER = add_interface(2, "power", {1: ("state", s.PowerState)})


@POWER.message(REQUEST, 1)
def power_set_charging_policy(input: bool, output: bool) -> Request[None]:
    """Whether it may be charged, and may charge others.

    input: whether it may be charged
    output: whether it may charge others
    """
    return ask(POWER, 1, "set_charging_policy", None, ("input", bool, input), ("output", bool, output))


# gripper: a gripper

GRIPPER = add_interface(3, "gripper", {1: ("state", s.GripperState)})


@GRIPPER.message(COMMAND, 1)
def gripper_open() -> Request[None]:
    """Open the fingers."""
    return tell(GRIPPER, 1, "open")


@GRIPPER.message(COMMAND, 2)
def gripper_close() -> Request[None]:
    """Close the fingers."""
    return tell(GRIPPER, 2, "close")


@GRIPPER.message(COMMAND, 3)
def gripper_stop() -> Request[None]:
    """Stop the fingers."""
    return tell(GRIPPER, 3, "stop")


@GRIPPER.message(COMMAND, 4)
def gripper_store() -> Request[None]:
    """Put the held object into the store."""
    return tell(GRIPPER, 4, "store")


@GRIPPER.message(COMMAND, 5)
def gripper_retrieve() -> Request[None]:
    """Take an object out of the store."""
    return tell(GRIPPER, 5, "retrieve")


@GRIPPER.message(REQUEST, 1)
def gripper_get_geometry() -> Request[s.GripperGeometry]:
    """Pose and sizes."""
    return ask(GRIPPER, 1, "get_geometry", s.GripperGeometry)


# position2d: a base that moves on the plane

POSITION2D = add_interface(4, "position2d", {1: ("state", s.Position2dState), 2: ("geometry_changed", s.Geometry)})


@POSITION2D.message(COMMAND, 1)
def position2d_set_velocity(x: float, y: float, yaw: float, motors_on: bool = True) -> Request[None]:
    """Drive with a velocity until the next command.

    x: ahead, m/s
    y: to the left, m/s
    yaw: counter-clockwise, rad/s
    motors_on: whether the motors are on
    """
    return tell(
        POSITION2D, 1, "set_velocity", ("x", F64, x), ("y", F64, y), ("yaw", F64, yaw), ("motors_on", bool, motors_on)
    )


@POSITION2D.message(COMMAND, 2)
def position2d_set_position(
    pose: Union[s.Pose2d, tuple[float, float, float]],
    velocity: Union[s.Pose2d, tuple[float, float, float]] = (0.0, 0.0, 0.0),
    motors_on: bool = True,
) -> Request[None]:
    """Drive to a pose of the odometry's frame.

    pose: x, y and yaw
    velocity: maximum velocities; 0: the driver's
    motors_on: whether the motors are on
    """
    return tell(
        POSITION2D,
        2,
        "set_position",
        ("pose", s.Pose2d, s.pose2d(pose, "pose")),
        ("velocity", s.Pose2d, s.pose2d(velocity, "velocity")),
        ("motors_on", bool, motors_on),
    )


@POSITION2D.message(COMMAND, 3)
def position2d_set_car(speed: float, angle: float) -> Request[None]:
    """Drive with a steering angle.

    speed: m/s
    angle: steering angle, rad
    """
    return tell(POSITION2D, 3, "set_car", ("speed", F64, speed), ("angle", F64, angle))


@POSITION2D.message(COMMAND, 4)
def position2d_set_velocity_heading(speed: float, heading: float) -> Request[None]:
    """Drive in a direction of the odometry's frame.

    speed: m/s
    heading: direction, rad
    """
    return tell(POSITION2D, 4, "set_velocity_heading", ("speed", F64, speed), ("heading", F64, heading))


@POSITION2D.message(REQUEST, 1)
def position2d_get_geometry() -> Request[s.Geometry]:
    """Size, and pose of its origin on the robot."""
    return ask(POSITION2D, 1, "get_geometry", s.Geometry)


@POSITION2D.message(REQUEST, 2)
def position2d_set_motor_power(on: bool) -> Request[None]:
    """Motors on or off.

    on: on or off
    """
    return ask(POSITION2D, 2, "set_motor_power", None, ("on", bool, on))


@POSITION2D.message(REQUEST, 3)
def position2d_set_velocity_mode(mode: int) -> Request[None]:
    """How velocities are controlled; the driver defines the numbers.

    mode: number of the mode
    """
    return ask(POSITION2D, 3, "set_velocity_mode", None, ("mode", U32, mode))


@POSITION2D.message(REQUEST, 4)
def position2d_set_position_mode(mode: int) -> Request[None]:
    """Whether it is controlled by velocity or by position.

    mode: 0 velocity, 1 position
    """
    return ask(POSITION2D, 4, "set_position_mode", None, ("mode", U32, mode))


@POSITION2D.message(REQUEST, 5)
def position2d_set_odometry(x: float, y: float, yaw: float) -> Request[None]:
    """Set the odometry.

    x: m
    y: m
    yaw: rad
    """
    return ask(POSITION2D, 5, "set_odometry", None, ("x", F64, x), ("y", F64, y), ("yaw", F64, yaw))


@POSITION2D.message(REQUEST, 6)
def position2d_reset_odometry() -> Request[None]:
    """Set the odometry to 0, 0, 0. Client libraries send set_odometry instead."""
    return ask(POSITION2D, 6, "reset_odometry", None)


@POSITION2D.message(REQUEST, 7)
def position2d_set_speed_pid(p: float, i: float, d: float) -> Request[None]:
    """Gains of the controller of velocities.

    p: proportional
    i: integral
    d: derivative
    """
    return ask(POSITION2D, 7, "set_speed_pid", None, ("p", F32, p), ("i", F32, i), ("d", F32, d))


@POSITION2D.message(REQUEST, 8)
def position2d_set_position_pid(p: float, i: float, d: float) -> Request[None]:
    """Gains of the controller of positions.

    p: proportional
    i: integral
    d: derivative
    """
    return ask(POSITION2D, 8, "set_position_pid", None, ("p", F32, p), ("i", F32, i), ("d", F32, d))


@POSITION2D.message(REQUEST, 9)
def position2d_set_speed_profile(speed: float, acceleration: float) -> Request[None]:
    """Maximum speed and acceleration of motions to positions.

    speed: m/s
    acceleration: m/s^2
    """
    return ask(POSITION2D, 9, "set_speed_profile", None, ("speed", F32, speed), ("acceleration", F32, acceleration))


# localize: where the robot is on a map

LOCALIZE = add_interface(25, "localize", {1: ("hypotheses", s.Hypotheses)})


@LOCALIZE.message(REQUEST, 1)
def localize_set_pose(
    pose: Union[s.Pose2d, tuple[float, float, float]],
    covariance: tuple[float, float, float, float, float, float] = (0.25, 0.25, 0.07, 0.0, 0.0, 0.0),
) -> Request[None]:
    """Start the localization at a pose.

    pose: x, y and yaw
    covariance: xx, yy, yaw-yaw, xy, y-yaw, x-yaw
    """
    return ask(
        LOCALIZE, 1, "set_pose", None, ("estimate", s.Estimate, s.Estimate(s.pose2d(pose, "pose"), tuple(covariance)))
    )


@LOCALIZE.message(REQUEST, 2)
def localize_get_particles() -> Request[s.Particles]:
    """Particles of the filter."""
    return ask(LOCALIZE, 2, "get_particles", s.Particles)


# simulation: a simulated world

SIMULATION = add_interface(31, "simulation", {})


@SIMULATION.message(COMMAND, 1)
def simulation_pause() -> Request[None]:
    """Pause the simulation, or continue it."""
    return tell(SIMULATION, 1, "pause")


@SIMULATION.message(COMMAND, 2)
def simulation_reset() -> Request[None]:
    """Put everything back to where it was at the start."""
    return tell(SIMULATION, 2, "reset")


@SIMULATION.message(COMMAND, 3)
def simulation_save() -> Request[None]:
    """Save the world."""
    return tell(SIMULATION, 3, "save")


@SIMULATION.message(REQUEST, 1)
def simulation_get_pose2d(name: str) -> Request[s.NamedPose2d]:
    """An object's pose on the plane.

    name: name of the object
    """
    return ask(SIMULATION, 1, "get_pose2d", s.NamedPose2d, ("pose", s.NamedPose2d, s.NamedPose2d(name, _ORIGIN)))


@SIMULATION.message(REQUEST, 2)
def simulation_set_pose2d(name: str, pose: Union[s.Pose2d, tuple[float, float, float]]) -> Request[None]:
    """Put an object to a pose on the plane.

    name: name of the object
    pose: x, y and yaw
    """
    return ask(SIMULATION, 2, "set_pose2d", None, ("pose", s.NamedPose2d, s.NamedPose2d(name, s.pose2d(pose, "pose"))))


@SIMULATION.message(REQUEST, 3)
def simulation_get_pose3d(name: str) -> Request[s.NamedPose3d]:
    """An object's pose in space.

    name: name of the object
    """
    return ask(SIMULATION, 3, "get_pose3d", s.NamedPose3d, ("pose", s.NamedPose3d, s.NamedPose3d(name, _ORIGIN3, 0.0)))


@SIMULATION.message(REQUEST, 4)
def simulation_set_pose3d(
    name: str, pose: Union[s.Pose3d, tuple[float, float, float, float, float, float]]
) -> Request[None]:
    """Put an object to a pose in space.

    name: name of the object
    pose: x, y, z, roll, pitch and yaw
    """
    return ask(
        SIMULATION, 4, "set_pose3d", None, ("pose", s.NamedPose3d, s.NamedPose3d(name, s.pose3d(pose, "pose"), 0.0))
    )


@SIMULATION.message(REQUEST, 5)
def simulation_get_property(name: str, property: str, size: int) -> Request[s.ObjectProperty]:
    """A property of an object.

    name: name of the object
    property: name of the property
    size: bytes of its value
    """
    return ask(
        SIMULATION,
        5,
        "get_property",
        s.ObjectProperty,
        (
            "property",
            s.ObjectProperty,
            s.ObjectProperty(name, property, 0, bytes(checks.integer(size, "size", 0, 65536))),
        ),
    )


@SIMULATION.message(REQUEST, 6)
def simulation_set_property(name: str, property: str, value: bytes) -> Request[None]:
    """Change a property of an object.

    name: name of the object
    property: name of the property
    value: its value; hexadecimal on the command line
    """
    return ask(
        SIMULATION, 6, "set_property", None, ("property", s.ObjectProperty, s.ObjectProperty(name, property, 0, value))
    )


# map: a map

MAP = add_interface(42, "map", {1: ("info", s.MapInfo)})


@MAP.message(REQUEST, 1)
def map_get_info() -> Request[s.MapInfo]:
    """Size of the grid."""
    return ask(MAP, 1, "get_info", s.MapInfo)


@MAP.message(REQUEST, 2)
def map_get_tile(column: int, row: int, width: int, height: int) -> Request[s.MapTile]:
    """A tile of the grid.

    column: first cell along x
    row: first cell along y
    width: cells along x
    height: cells along y
    """
    return ask(MAP, 2, "get_tile", _TILE, ("tile", _TILE, s.MapTile(column, row, width, height, 0, b"")))


@MAP.message(REQUEST, 3)
def map_get_vector() -> Request[s.MapVector]:
    """The map as line segments."""
    return ask(MAP, 3, "get_vector", s.MapVector)


# planner: drives to a goal on the plane

PLANNER = add_interface(44, "planner", {1: ("state", s.PlannerState)})


@PLANNER.message(COMMAND, 1)
def planner_set_goal(pose: Union[s.Pose2d, tuple[float, float, float]]) -> Request[None]:
    """Plan a path to a pose, and drive along it.

    pose: x, y and yaw
    """
    return tell(PLANNER, 1, "set_goal", ("pose", s.Pose2d, s.pose2d(pose, "pose")))


@PLANNER.message(COMMAND, 2)
def planner_set_start(pose: Union[s.Pose2d, tuple[float, float, float]]) -> Request[None]:
    """Plan from this pose instead of where the robot is.

    pose: x, y and yaw
    """
    return tell(PLANNER, 2, "set_start", ("pose", s.Pose2d, s.pose2d(pose, "pose")))


@PLANNER.message(REQUEST, 1)
def planner_get_waypoints() -> Request[s.Waypoints]:
    """The path."""
    return ask(PLANNER, 1, "get_waypoints", s.Waypoints)


@PLANNER.message(REQUEST, 2)
def planner_enable(on: bool) -> Request[None]:
    """Let the robot drive, or stop it.

    on: on or off
    """
    return ask(PLANNER, 2, "enable", None, ("on", bool, on))


# log: recording to a file, and playing it back

LOG = add_interface(45, "log", {})


@LOG.message(REQUEST, 1)
def log_set_write_state(on: bool) -> Request[None]:
    """Start or stop recording.

    on: on or off
    """
    return ask(LOG, 1, "set_write_state", None, ("on", bool, on))


@LOG.message(REQUEST, 2)
def log_set_read_state(on: bool) -> Request[None]:
    """Start or stop playing back.

    on: on or off
    """
    return ask(LOG, 2, "set_read_state", None, ("on", bool, on))


@LOG.message(REQUEST, 3)
def log_get_state() -> Request[s.LogState]:
    """What it does."""
    return ask(LOG, 3, "get_state", s.LogState)


@LOG.message(REQUEST, 4)
def log_rewind() -> Request[None]:
    """Play back from the start."""
    return ask(LOG, 4, "rewind", None)


@LOG.message(REQUEST, 5)
def log_set_file_name(name: str) -> Request[None]:
    """File to record to.

    name: at most 255 bytes
    """
    checks.text(name, "name", 255)
    return ask(LOG, 5, "set_file_name", None, ("name", str, name))


# opaque: bytes whose meaning a driver and its clients agree on

OPAQUE = add_interface(51, "opaque", {1: ("state", s.OpaqueData)})


@OPAQUE.message(COMMAND, 1)
def opaque_command(data: bytes) -> Request[None]:
    """A command to the driver.

    data: bytes; hexadecimal on the command line
    """
    return tell(OPAQUE, 1, "command", ("data", bytes, data))


@OPAQUE.message(REQUEST, 1)
def opaque_request(data: bytes) -> Request[bytes]:
    """A request to the driver; its answer.

    data: bytes; hexadecimal on the command line
    """
    return ask(OPAQUE, 1, "request", bytes, ("data", bytes, data))


# limb: an arm, by the pose of its end effector

LIMB = add_interface(54, "limb", {1: ("state", s.LimbState)})


@LIMB.message(COMMAND, 1)
def limb_home() -> Request[None]:
    """Move to the home position."""
    return tell(LIMB, 1, "home")


@LIMB.message(COMMAND, 2)
def limb_stop() -> Request[None]:
    """Stop now."""
    return tell(LIMB, 2, "stop")


@LIMB.message(COMMAND, 3)
def limb_set_pose(
    position: Union[s.Point3d, tuple[float, float, float]],
    approach: Union[s.Point3d, tuple[float, float, float]],
    orientation: Union[s.Point3d, tuple[float, float, float]],
) -> Request[None]:
    """Move to a pose.

    position: x, y and z in the robot's frame, m
    approach: vector from the end effector to what it grips
    orientation: vector from one finger to the other
    """
    vectors = {"position": position, "approach": approach, "orientation": orientation}
    values = [(name, s.Point3d, s.point3d(value, name)) for name, value in vectors.items()]
    return tell(LIMB, 3, "set_pose", *values)


@LIMB.message(COMMAND, 4)
def limb_set_position(position: Union[s.Point3d, tuple[float, float, float]]) -> Request[None]:
    """Move to a position, with any orientation.

    position: x, y and z in the robot's frame, m
    """
    return tell(LIMB, 4, "set_position", ("position", s.Point3d, s.point3d(position, "position")))


@LIMB.message(COMMAND, 5)
def limb_move_along(direction: Union[s.Point3d, tuple[float, float, float]], length: float) -> Request[None]:
    """Move along a straight line.

    direction: vector in the robot's frame
    length: m
    """
    given = s.point3d(direction, "direction")
    return tell(LIMB, 5, "move_along", ("direction", s.Point3d, given), ("length", F32, length))


@LIMB.message(REQUEST, 1)
def limb_set_power(on: bool) -> Request[None]:
    """Power on or off; the arm may move when it is switched on.

    on: on or off
    """
    return ask(LIMB, 1, "set_power", None, ("on", bool, on))


@LIMB.message(REQUEST, 2)
def limb_set_brakes(on: bool) -> Request[None]:
    """Brakes on or off.

    on: on or off
    """
    return ask(LIMB, 2, "set_brakes", None, ("on", bool, on))


@LIMB.message(REQUEST, 3)
def limb_get_geometry() -> Request[s.Point3d]:
    """Position of the base in the robot's frame."""
    return ask(LIMB, 3, "get_geometry", s.Point3d)


@LIMB.message(REQUEST, 4)
def limb_set_speed(speed: float) -> Request[None]:
    """Speed of the end effector from now on.

    speed: m/s
    """
    return ask(LIMB, 4, "set_speed", None, ("speed", F32, speed))


# vectormap: a map of shapes in layers

VECTORMAP = add_interface(63, "vectormap", {})


@VECTORMAP.message(REQUEST, 1)
def vectormap_get_info() -> Request[s.VectormapInfo]:
    """Layers and bounds."""
    return ask(VECTORMAP, 1, "get_info", s.VectormapInfo)


@VECTORMAP.message(REQUEST, 3)
def vectormap_get_layer(name: str) -> Request[s.Layer]:
    """The shapes of a layer.

    name: name of the layer
    """
    return ask(VECTORMAP, 3, "get_layer", s.Layer, ("layer", s.Layer, s.Layer(name, [])))


@VECTORMAP.message(REQUEST, 4)
def vectormap_write_layer(name: str, shapes: Sequence[bytes] = ()) -> Request[None]:
    """Replace the shapes of a layer.

    name: name of the layer
    shapes: in the well-known binary form; hexadecimal on the command line
    """
    features = [s.Feature(f"{name}{place}", shape, "") for place, shape in enumerate(shapes)]
    return ask(VECTORMAP, 4, "write_layer", None, ("layer", s.Layer, s.Layer(name, features)))


# actarray: a chain of joints

ACTARRAY = add_interface(53, "actarray", {1: ("state", s.ActarrayState)})


@ACTARRAY.message(COMMAND, 1)
def actarray_set_position(joint: int, position: float) -> Request[None]:
    """Move a joint to a position.

    joint: its number, from 0
    position: rad or m
    """
    return tell(ACTARRAY, 1, "set_position", ("joint", I32, joint), ("position", F32, position))


@ACTARRAY.message(COMMAND, 2)
def actarray_set_positions(positions: Sequence[float]) -> Request[None]:
    """Move all joints to positions.

    positions: rad or m
    """
    return tell(ACTARRAY, 2, "set_positions", ("positions", list[F32], checks.numbers(positions, "positions")))


@ACTARRAY.message(COMMAND, 3)
def actarray_set_speed(joint: int, speed: float) -> Request[None]:
    """Move a joint with a speed.

    joint: its number, from 0
    speed: rad/s or m/s
    """
    return tell(ACTARRAY, 3, "set_speed", ("joint", I32, joint), ("speed", F32, speed))


@ACTARRAY.message(COMMAND, 4)
def actarray_set_speeds(speeds: Sequence[float]) -> Request[None]:
    """Move all joints with speeds.

    speeds: rad/s or m/s
    """
    return tell(ACTARRAY, 4, "set_speeds", ("speeds", list[F32], checks.numbers(speeds, "speeds")))


@ACTARRAY.message(COMMAND, 5)
def actarray_home(joint: int = -1) -> Request[None]:
    """Move a joint to its home position.

    joint: its number, from 0; -1: all
    """
    return tell(ACTARRAY, 5, "home", ("joint", I32, joint))


@ACTARRAY.message(COMMAND, 6)
def actarray_set_current(joint: int, current: float) -> Request[None]:
    """Move a joint with a current.

    joint: its number, from 0; -1: all
    current: A
    """
    return tell(ACTARRAY, 6, "set_current", ("joint", I32, joint), ("current", F32, current))


@ACTARRAY.message(COMMAND, 7)
def actarray_set_currents(currents: Sequence[float]) -> Request[None]:
    """Move all joints with currents.

    currents: A
    """
    return tell(ACTARRAY, 7, "set_currents", ("currents", list[F32], checks.numbers(currents, "currents")))


@ACTARRAY.message(REQUEST, 1)
def actarray_set_power(on: bool) -> Request[None]:
    """Power of all joints on or off; they may move when it is switched on.

    on: on or off
    """
    return ask(ACTARRAY, 1, "set_power", None, ("on", bool, on))


@ACTARRAY.message(REQUEST, 2)
def actarray_set_brakes(on: bool) -> Request[None]:
    """Brakes of all joints on or off.

    on: on or off
    """
    return ask(ACTARRAY, 2, "set_brakes", None, ("on", bool, on))


@ACTARRAY.message(REQUEST, 3)
def actarray_get_geometry() -> Request[s.ActarrayGeometry]:
    """Links, axes and limits."""
    return ask(ACTARRAY, 3, "get_geometry", s.ActarrayGeometry)


@ACTARRAY.message(REQUEST, 4)
def actarray_set_joint_speed(joint: int, speed: float) -> Request[None]:
    """Speed of a joint's motions from now on.

    joint: its number, from 0
    speed: rad/s or m/s
    """
    return ask(ACTARRAY, 4, "set_joint_speed", None, ("joint", I32, joint), ("speed", F32, speed))


@ACTARRAY.message(REQUEST, 5)
def actarray_set_joint_acceleration(joint: int, acceleration: float) -> Request[None]:
    """Acceleration of a joint's motions from now on.

    joint: its number, from 0
    acceleration: rad/s^2 or m/s^2
    """
    return ask(ACTARRAY, 5, "set_joint_acceleration", None, ("joint", I32, joint), ("acceleration", F32, acceleration))


# Requests of every interface. They are put to a device's interface by its client.

PROPERTIES = Interface(0, "property", {})


def _property(number: int, name: str, answer: Any, of: str, *values: tuple[str, Any, Any]) -> Request[Any]:
    def decode(body: bytes) -> Any:
        reader = Reader(body, name)
        DIALECT.codec(str).read(reader)
        return DIALECT.codec(answer).read(reader)

    request = ask(PROPERTIES, number, name, None, ("name", str, of), *values)
    return request if answer is None else Request(name, request.key, request.data, True, decode)


@PROPERTIES.message(REQUEST, 247)
def property_set_bool_property(name: str, value: bool) -> Request[None]:
    """Change a property that is true or false.

    name: name of the property
    value: its value
    """
    return _property(247, "set_bool_property", None, name, ("value", bool, value))


@PROPERTIES.message(REQUEST, 248)
def property_get_bool_property(name: str) -> Request[bool]:
    """A property that is true or false.

    name: name of the property
    """
    return _property(248, "get_bool_property", bool, name, ("value", bool, False))


@PROPERTIES.message(REQUEST, 249)
def property_set_text_property(name: str, value: str) -> Request[None]:
    """Change a text.

    name: name of the property
    value: its value
    """
    return _property(249, "set_text_property", None, name, ("value", str, value))


@PROPERTIES.message(REQUEST, 250)
def property_get_text_property(name: str) -> Request[str]:
    """A text.

    name: name of the property
    """
    return _property(250, "get_text_property", str, name, ("value", str, ""))


@PROPERTIES.message(REQUEST, 251)
def property_set_double_property(name: str, value: float) -> Request[None]:
    """Change a number.

    name: name of the property
    value: its value
    """
    return _property(251, "set_double_property", None, name, ("value", F64, value))


@PROPERTIES.message(REQUEST, 252)
def property_get_double_property(name: str) -> Request[float]:
    """A number.

    name: name of the property
    """
    return _property(252, "get_double_property", F64, name, ("value", F64, 0.0))


@PROPERTIES.message(REQUEST, 253)
def property_set_int_property(name: str, value: int) -> Request[None]:
    """Change an integer.

    name: name of the property
    value: its value
    """
    return _property(253, "set_int_property", None, name, ("value", I32, value))


@PROPERTIES.message(REQUEST, 254)
def property_get_int_property(name: str) -> Request[int]:
    """An integer.

    name: name of the property
    """
    return _property(254, "get_int_property", I32, name, ("value", I32, 0))


@PROPERTIES.message(REQUEST, 255)
def property_has_message(kind: int, number: int) -> Request[None]:
    """Ask whether the device handles a message. Refused: it does not.

    kind: 2 command, 3 request
    number: number of the message
    """
    return ask(PROPERTIES, 255, "has_message", None, ("kind", U32, kind), ("number", U32, number))
