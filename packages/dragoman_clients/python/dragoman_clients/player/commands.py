"""The tables of commands and requests of all interfaces but sensors.

A function is in the table of its interface under its name without that of the interface. Its request is for device 0;
a client's device puts in its own number. Those without arguments are in :mod:`.messages`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from .. import checks
from ..core import Request
from . import messages as m
from . import structures as s
from .arguments import point3d, pose2d, pose3d
from .messages import *  # noqa: F403

_ORIGIN = s.Pose2d(0.0, 0.0, 0.0)
_ORIGIN3 = s.Pose3d(s.Point3d(0.0, 0.0, 0.0), s.Orientation3d(0.0, 0.0, 0.0))

# power: a battery


@m.POWER_SET_CHARGING_POLICY.function
def power_set_charging_policy(input: bool, output: bool) -> Request[None]:
    """Whether it may be charged, and may charge others.

    input: whether it may be charged
    output: whether it may charge others
    """
    return m.POWER_SET_CHARGING_POLICY(s.PowerPolicy(input, output))


# position2d: a base that moves on the plane


@m.POSITION2D_VELOCITY.function
def position2d_set_velocity(x: float, y: float, yaw: float, motors_on: bool = True) -> Request[None]:
    """Drive with a velocity until the next command.

    x: ahead, m/s
    y: to the left, m/s
    yaw: counter-clockwise, rad/s
    motors_on: whether the motors are on
    """
    return m.POSITION2D_VELOCITY(s.Position2dVelocity(s.Pose2d(x, y, yaw), motors_on))


@m.POSITION2D_POSITION.function
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
    return m.POSITION2D_POSITION(s.Position2dPosition(pose2d(pose, "pose"), pose2d(velocity, "velocity"), motors_on))


@m.POSITION2D_CAR.function
def position2d_set_car(speed: float, angle: float) -> Request[None]:
    """Drive with a steering angle.

    speed: m/s
    angle: steering angle, rad
    """
    return m.POSITION2D_CAR(s.Position2dSteering(speed, angle))


@m.POSITION2D_VELOCITY_HEADING.function
def position2d_set_velocity_heading(speed: float, heading: float) -> Request[None]:
    """Drive in a direction of the odometry's frame.

    speed: m/s
    heading: direction, rad
    """
    return m.POSITION2D_VELOCITY_HEADING(s.Position2dSteering(speed, heading))


@m.POSITION2D_MOTOR_POWER.function
def position2d_set_motor_power(on: bool) -> Request[None]:
    """Motors on or off.

    on: on or off
    """
    return m.POSITION2D_MOTOR_POWER(on)


@m.POSITION2D_VELOCITY_MODE.function
def position2d_set_velocity_mode(mode: int) -> Request[None]:
    """How velocities are controlled; the driver defines the numbers.

    mode: number of the mode
    """
    return m.POSITION2D_VELOCITY_MODE(mode)


@m.POSITION2D_POSITION_MODE.function
def position2d_set_position_mode(mode: int) -> Request[None]:
    """Whether it is controlled by velocity or by position.

    mode: 0 velocity, 1 position
    """
    return m.POSITION2D_POSITION_MODE(mode)


@m.POSITION2D_SET_ODOMETRY.function
def position2d_set_odometry(x: float, y: float, yaw: float) -> Request[None]:
    """Set the odometry.

    x: m
    y: m
    yaw: rad
    """
    return m.POSITION2D_SET_ODOMETRY(s.Pose2d(x, y, yaw))


@m.POSITION2D_SPEED_PID.function
def position2d_set_speed_pid(p: float, i: float, d: float) -> Request[None]:
    """Gains of the controller of velocities.

    p: proportional
    i: integral
    d: derivative
    """
    return m.POSITION2D_SPEED_PID(s.Position2dPid(p, i, d))


@m.POSITION2D_POSITION_PID.function
def position2d_set_position_pid(p: float, i: float, d: float) -> Request[None]:
    """Gains of the controller of positions.

    p: proportional
    i: integral
    d: derivative
    """
    return m.POSITION2D_POSITION_PID(s.Position2dPid(p, i, d))


@m.POSITION2D_SPEED_PROFILE.function
def position2d_set_speed_profile(speed: float, acceleration: float) -> Request[None]:
    """Maximum speed and acceleration of motions to positions.

    speed: m/s
    acceleration: m/s^2
    """
    return m.POSITION2D_SPEED_PROFILE(s.Position2dProfile(speed, acceleration))


# localize: where the robot is on a map


@m.LOCALIZE_SET_POSE.function
def localize_set_pose(
    pose: Union[s.Pose2d, tuple[float, float, float]],
    covariance: tuple[float, float, float, float, float, float] = (0.25, 0.25, 0.07, 0.0, 0.0, 0.0),
) -> Request[None]:
    """Start the localization at a pose.

    pose: x, y and yaw
    covariance: xx, yy, yaw-yaw, xy, y-yaw, x-yaw
    """
    return m.LOCALIZE_SET_POSE(s.Estimate(pose2d(pose, "pose"), tuple(covariance)))


# simulation: a simulated world


@m.SIMULATION_GET_POSE2D.function
def simulation_get_pose2d(name: str) -> Request[s.NamedPose2d]:
    """An object's pose on the plane.

    name: name of the object
    """
    return m.SIMULATION_GET_POSE2D(s.NamedPose2d(name, _ORIGIN))


@m.SIMULATION_SET_POSE2D.function
def simulation_set_pose2d(name: str, pose: Union[s.Pose2d, tuple[float, float, float]]) -> Request[None]:
    """Put an object to a pose on the plane.

    name: name of the object
    pose: x, y and yaw
    """
    return m.SIMULATION_SET_POSE2D(s.NamedPose2d(name, pose2d(pose, "pose")))


@m.SIMULATION_GET_POSE3D.function
def simulation_get_pose3d(name: str) -> Request[s.NamedPose3d]:
    """An object's pose in space.

    name: name of the object
    """
    return m.SIMULATION_GET_POSE3D(s.NamedPose3d(name, _ORIGIN3, 0.0))


@m.SIMULATION_SET_POSE3D.function
def simulation_set_pose3d(
    name: str, pose: Union[s.Pose3d, tuple[float, float, float, float, float, float]]
) -> Request[None]:
    """Put an object to a pose in space.

    name: name of the object
    pose: x, y, z, roll, pitch and yaw
    """
    return m.SIMULATION_SET_POSE3D(s.NamedPose3d(name, pose3d(pose, "pose"), 0.0))


@m.SIMULATION_GET_PROPERTY.function
def simulation_get_property(name: str, property: str, size: int) -> Request[s.ObjectProperty]:
    """A property of an object.

    name: name of the object
    property: name of the property
    size: bytes of its value
    """
    return m.SIMULATION_GET_PROPERTY(s.ObjectProperty(name, property, 0, bytes(checks.integer(size, "size", 0, 65536))))


@m.SIMULATION_SET_PROPERTY.function
def simulation_set_property(name: str, property: str, value: bytes) -> Request[None]:
    """Change a property of an object.

    name: name of the object
    property: name of the property
    value: its value; hexadecimal on the command line
    """
    return m.SIMULATION_SET_PROPERTY(s.ObjectProperty(name, property, 0, value))


# map: a map


@m.MAP_GET_DATA.function
def map_get_tile(column: int, row: int, width: int, height: int) -> Request[s.MapTile]:
    """A tile of the grid.

    column: first cell along x
    row: first cell along y
    width: cells along x
    height: cells along y
    """
    return m.MAP_GET_DATA(s.MapTile(column, row, width, height, 0, b""))


# planner: drives to a goal on the plane


@m.PLANNER_GOAL.function
def planner_set_goal(pose: Union[s.Pose2d, tuple[float, float, float]]) -> Request[None]:
    """Plan a path to a pose, and drive along it.

    pose: x, y and yaw
    """
    return m.PLANNER_GOAL(s.PlannerGoal(pose2d(pose, "pose")))


@m.PLANNER_START.function
def planner_set_start(pose: Union[s.Pose2d, tuple[float, float, float]]) -> Request[None]:
    """Plan from this pose instead of where the robot is.

    pose: x, y and yaw
    """
    return m.PLANNER_START(s.PlannerGoal(pose2d(pose, "pose")))


@m.PLANNER_ENABLE.function
def planner_enable(on: bool) -> Request[None]:
    """Let the robot drive, or stop it.

    on: on or off
    """
    return m.PLANNER_ENABLE(on)


# log: recording to a file, and playing it back


@m.LOG_SET_WRITE_STATE.function
def log_set_write_state(on: bool) -> Request[None]:
    """Start or stop recording.

    on: on or off
    """
    return m.LOG_SET_WRITE_STATE(on)


@m.LOG_SET_READ_STATE.function
def log_set_read_state(on: bool) -> Request[None]:
    """Start or stop playing back.

    on: on or off
    """
    return m.LOG_SET_READ_STATE(on)


@m.LOG_SET_FILE_NAME.function
def log_set_file_name(name: str) -> Request[None]:
    """File to record to.

    name: at most 255 bytes
    """
    checks.text(name, "name", 255)
    return m.LOG_SET_FILE_NAME(name)


# opaque: bytes whose meaning a driver and its clients agree on

m.OPAQUE.data[1] = ("state", s.OpaqueData)


@m.OPAQUE_COMMAND.function
def opaque_command(data: bytes) -> Request[None]:
    """A command to the driver.

    data: bytes; hexadecimal on the command line
    """
    return m.OPAQUE_COMMAND(data)


@m.OPAQUE_REQUEST.function
def opaque_request(data: bytes) -> Request[bytes]:
    """A request to the driver; its answer.

    data: bytes; hexadecimal on the command line
    """
    return m.OPAQUE_REQUEST(data)


# limb: an arm, by the pose of its end effector


@m.LIMB_SET_POSE.function
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
    return m.LIMB_SET_POSE(s.LimbPose(**{name: point3d(value, name) for name, value in vectors.items()}))


@m.LIMB_SET_POSITION.function
def limb_set_position(position: Union[s.Point3d, tuple[float, float, float]]) -> Request[None]:
    """Move to a position, with any orientation.

    position: x, y and z in the robot's frame, m
    """
    return m.LIMB_SET_POSITION(point3d(position, "position"))


@m.LIMB_MOVE_ALONG.function
def limb_move_along(direction: Union[s.Point3d, tuple[float, float, float]], length: float) -> Request[None]:
    """Move along a straight line.

    direction: vector in the robot's frame
    length: m
    """
    return m.LIMB_MOVE_ALONG(s.LimbMove(point3d(direction, "direction"), length))


@m.LIMB_POWER.function
def limb_set_power(on: bool) -> Request[None]:
    """Power on or off; the arm may move when it is switched on.

    on: on or off
    """
    return m.LIMB_POWER(on)


@m.LIMB_BRAKES.function
def limb_set_brakes(on: bool) -> Request[None]:
    """Brakes on or off.

    on: on or off
    """
    return m.LIMB_BRAKES(on)


@m.LIMB_SET_SPEED.function
def limb_set_speed(speed: float) -> Request[None]:
    """Speed of the end effector from now on.

    speed: m/s
    """
    return m.LIMB_SET_SPEED(speed)


# vectormap: a map of shapes in layers


@m.VECTORMAP_GET_LAYER.function
def vectormap_get_layer(name: str) -> Request[s.Layer]:
    """The shapes of a layer.

    name: name of the layer
    """
    return m.VECTORMAP_GET_LAYER(s.Layer(name, []))


@m.VECTORMAP_WRITE_LAYER.function
def vectormap_write_layer(name: str, shapes: Sequence[bytes] = ()) -> Request[None]:
    """Replace the shapes of a layer.

    name: name of the layer
    shapes: in the well-known binary form; hexadecimal on the command line
    """
    features = [s.Feature(f"{name}{place}", shape, "") for place, shape in enumerate(shapes)]
    return m.VECTORMAP_WRITE_LAYER(s.Layer(name, features))


# actarray: a chain of joints


@m.ACTARRAY_POSITION.function
def actarray_set_position(joint: int, position: float) -> Request[None]:
    """Move a joint to a position.

    joint: its number, from 0
    position: rad or m
    """
    return m.ACTARRAY_POSITION(s.ActarrayJointPosition(joint, position))


@m.ACTARRAY_MULTI_POSITION.function
def actarray_set_positions(positions: Sequence[float]) -> Request[None]:
    """Move all joints to positions.

    positions: rad or m
    """
    return m.ACTARRAY_MULTI_POSITION(s.ActarrayPositions(checks.numbers(positions, "positions")))


@m.ACTARRAY_SPEED.function
def actarray_set_speed(joint: int, speed: float) -> Request[None]:
    """Move a joint with a speed.

    joint: its number, from 0
    speed: rad/s or m/s
    """
    return m.ACTARRAY_SPEED(s.ActarrayJointSpeed(joint, speed))


@m.ACTARRAY_MULTI_SPEED.function
def actarray_set_speeds(speeds: Sequence[float]) -> Request[None]:
    """Move all joints with speeds.

    speeds: rad/s or m/s
    """
    return m.ACTARRAY_MULTI_SPEED(s.ActarraySpeeds(checks.numbers(speeds, "speeds")))


@m.ACTARRAY_HOME.function
def actarray_home(joint: int = -1) -> Request[None]:
    """Move a joint to its home position.

    joint: its number, from 0; -1: all
    """
    return m.ACTARRAY_HOME(joint)


@m.ACTARRAY_CURRENT.function
def actarray_set_current(joint: int, current: float) -> Request[None]:
    """Move a joint with a current.

    joint: its number, from 0; -1: all
    current: A
    """
    return m.ACTARRAY_CURRENT(s.ActarrayJointCurrent(joint, current))


@m.ACTARRAY_MULTI_CURRENT.function
def actarray_set_currents(currents: Sequence[float]) -> Request[None]:
    """Move all joints with currents.

    currents: A
    """
    return m.ACTARRAY_MULTI_CURRENT(s.ActarrayCurrents(checks.numbers(currents, "currents")))


@m.ACTARRAY_POWER.function
def actarray_set_power(on: bool) -> Request[None]:
    """Power of all joints on or off; they may move when it is switched on.

    on: on or off
    """
    return m.ACTARRAY_POWER(on)


@m.ACTARRAY_BRAKES.function
def actarray_set_brakes(on: bool) -> Request[None]:
    """Brakes of all joints on or off.

    on: on or off
    """
    return m.ACTARRAY_BRAKES(on)


@m.ACTARRAY_SET_SPEED.function
def actarray_set_joint_speed(joint: int, speed: float) -> Request[None]:
    """Speed of a joint's motions from now on.

    joint: its number, from 0
    speed: rad/s or m/s
    """
    return m.ACTARRAY_SET_SPEED(s.ActarrayJointSpeed(joint, speed))


@m.ACTARRAY_SET_ACCELERATION.function
def actarray_set_joint_acceleration(joint: int, acceleration: float) -> Request[None]:
    """Acceleration of a joint's motions from now on.

    joint: its number, from 0
    acceleration: rad/s^2 or m/s^2
    """
    return m.ACTARRAY_SET_ACCELERATION(s.ActarrayJointAcceleration(joint, acceleration))


# Requests of every interface. They are put to a device's interface by its client.

PROPERTIES = m.EVERY_INTERFACE


@m.EVERY_INTERFACE_SET_BOOL.function
def property_set_bool_property(name: str, value: bool) -> Request[None]:
    """Change a property that is true or false.

    name: name of the property
    value: its value
    """
    return m.EVERY_INTERFACE_SET_BOOL(s.BoolProperty(name, value))


@m.EVERY_INTERFACE_GET_BOOL.function
def property_get_bool_property(name: str) -> Request[bool]:
    """A property that is true or false.

    name: name of the property
    """
    return m.EVERY_INTERFACE_GET_BOOL(s.BoolProperty(name, False)).then(lambda found: found.value)


@m.EVERY_INTERFACE_SET_TEXT.function
def property_set_text_property(name: str, value: str) -> Request[None]:
    """Change a text.

    name: name of the property
    value: its value
    """
    return m.EVERY_INTERFACE_SET_TEXT(s.TextProperty(name, value))


@m.EVERY_INTERFACE_GET_TEXT.function
def property_get_text_property(name: str) -> Request[str]:
    """A text.

    name: name of the property
    """
    return m.EVERY_INTERFACE_GET_TEXT(s.TextProperty(name, "")).then(lambda found: found.value)


@m.EVERY_INTERFACE_SET_DOUBLE.function
def property_set_double_property(name: str, value: float) -> Request[None]:
    """Change a number.

    name: name of the property
    value: its value
    """
    return m.EVERY_INTERFACE_SET_DOUBLE(s.DoubleProperty(name, value))


@m.EVERY_INTERFACE_GET_DOUBLE.function
def property_get_double_property(name: str) -> Request[float]:
    """A number.

    name: name of the property
    """
    return m.EVERY_INTERFACE_GET_DOUBLE(s.DoubleProperty(name, 0.0)).then(lambda found: found.value)


@m.EVERY_INTERFACE_SET_INT.function
def property_set_int_property(name: str, value: int) -> Request[None]:
    """Change an integer.

    name: name of the property
    value: its value
    """
    return m.EVERY_INTERFACE_SET_INT(s.IntProperty(name, value))


@m.EVERY_INTERFACE_GET_INT.function
def property_get_int_property(name: str) -> Request[int]:
    """An integer.

    name: name of the property
    """
    return m.EVERY_INTERFACE_GET_INT(s.IntProperty(name, 0)).then(lambda found: found.value)


@m.EVERY_INTERFACE_CAPABILITY.function
def property_has_message(kind: int, number: int) -> Request[None]:
    """Ask whether the device handles a message. Refused: it does not.

    kind: 2 command, 3 request
    number: number of the message
    """
    return m.EVERY_INTERFACE_CAPABILITY(s.Capability(kind, number))
