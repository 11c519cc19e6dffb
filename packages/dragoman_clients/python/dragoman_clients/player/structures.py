"""What messages contain, in the order of the wire; m, rad, s. Made of the description of Player's protocol."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Union

from ..fields import Coded, Repeat
from .tile import MapTile as MapTile
from .tile import OpaqueData as OpaqueData
from .wire import F32, F64, I32, U8, U16, U32

Covariance = Annotated[tuple[float, ...], Repeat(F64, 6)]
"""xx, yy, yaw-yaw, xy, y-yaw, x-yaw; m^2, rad^2 and m rad."""


@dataclass(frozen=True)
class Address:
    """Address."""

    host: Annotated[int, U32]
    robot: Annotated[int, U32]
    """The port."""
    interface: Annotated[int, U16]
    index: Annotated[int, U16]


@dataclass(frozen=True)
class Pose2d:
    """A pose or a velocity on a plane: m, m, rad, or m/s, m/s, rad/s."""

    x: Annotated[float, F64]
    """Ahead."""
    y: Annotated[float, F64]
    """To the left."""
    yaw: Annotated[float, F64]
    """Counterclockwise."""


@dataclass(frozen=True)
class Point3d:
    """A point or a vector in space."""

    x: Annotated[float, F64]
    """Ahead."""
    y: Annotated[float, F64]
    """To the left."""
    z: Annotated[float, F64]
    """Upward."""


@dataclass(frozen=True)
class Orientation3d:
    """Angles about x, y and z, rad."""

    roll: Annotated[float, F64]
    """About x."""
    pitch: Annotated[float, F64]
    """About y."""
    yaw: Annotated[float, F64]
    """About z."""


@dataclass(frozen=True)
class Pose3d:
    """A pose in space: m and rad."""

    position: Point3d
    """Position."""
    orientation: Orientation3d
    """Orientation."""


@dataclass(frozen=True)
class Size3d:
    """The size of a box, m. The width comes first."""

    width: Annotated[float, F64]
    """Along y."""
    length: Annotated[float, F64]
    """Along x."""
    height: Annotated[float, F64]
    """Along z."""


@dataclass(frozen=True)
class Geometry:
    """Where a device is, and its size."""

    pose: Pose3d
    """Pose of the device's origin in the robot's frame."""
    size: Size3d
    """Size, m."""


@dataclass(frozen=True)
class Segment:
    """A line segment on a plane, m."""

    x0: Annotated[float, F64]
    """Start along x."""
    y0: Annotated[float, F64]
    """Start along y."""
    x1: Annotated[float, F64]
    """End along x."""
    y1: Annotated[float, F64]
    """End along y."""


PLAYER_OPEN = 1
"""Access: open a device."""
PLAYER_PUSH = 1
"""Mode: data is sent when there is some."""
PLAYER_SYNCH = 1
"""Subtype of the synch message that ends the data of a pull."""
PLAYER_CLOSE = 2
"""Access: close a device."""
PLAYER_PULL = 2
"""Mode: data is sent on request."""
PLAYER_SYNCH_OVERFLOW = 2
"""Subtype of the synch message when data was dropped; its body is the number of dropped messages."""
PLAYER_DENIED = 3
"""Access in an answer: it was not granted."""


@dataclass(frozen=True)
class Driver:
    """A device's driver."""

    address: Address
    name: str
    """The driver's name; empty in a question."""


@dataclass(frozen=True)
class Subscription:
    """Access to a device."""

    address: Address
    access: Annotated[int, U8]
    """OPEN, CLOSE or DENIED."""
    driver: str
    """The driver's name; empty in a question."""


@dataclass(frozen=True)
class NameService:
    """The port of a robot."""

    name: str
    """The robot's name."""
    port: Annotated[int, U16]


@dataclass(frozen=True)
class ReplaceRule:
    """What happens to waiting messages when a newer one comes. -1 stands for every value."""

    interface: Annotated[int, I32]
    """Code of the interface."""
    index: Annotated[int, I32]
    """The device's number."""
    kind: Annotated[int, I32]
    """Code of the kind."""
    subtype: Annotated[int, I32]
    """The message's number."""
    replace: Annotated[int, I32]
    """0: both are sent, if there is room; 1: the newer one replaces the other; 2: no such message is sent."""


POWER_VOLTS = 1
"""Bit of State::valid: the voltage is measured."""
POWER_WATTS = 2
"""Bit of State::valid: the power is measured."""
POWER_JOULES = 4
"""Bit of State::valid: the energy is measured."""
POWER_PERCENT = 8
"""Bit of State::valid: the charge is measured."""
POWER_CHARGING = 16
"""Bit of State::valid: it is known whether it is being charged."""


class Charging(IntEnum):
    """The direction in which energy flows."""

    PROVIDING = -1
    """It charges another one."""
    IDLE = 0
    """It is not connected to another source."""
    RECEIVING = 1
    """It is being charged."""


@dataclass(frozen=True)
class PowerState:
    """What is measured. `valid` tells which of the fields mean something."""

    valid: Annotated[int, U32]
    """Bits: VOLTS, WATTS, JOULES, PERCENT, CHARGING."""
    volts: Annotated[float, F32]
    """Voltage, V."""
    percent: Annotated[float, F32]
    """Charge, percent of a full one."""
    joules: Annotated[float, F32]
    """Stored energy, J."""
    watts: Annotated[float, F32]
    """Power: negative when energy is consumed, W."""
    charging: Annotated[Union[Charging, int], Coded(Charging, I32)]
    """Direction in which energy flows."""


@dataclass(frozen=True)
class PowerPolicy:
    """Whether energy may flow in and out."""

    input: bool
    """It may be charged."""
    output: bool
    """It may charge others."""


class Fingers(IntEnum):
    """State of the fingers."""

    UNKNOWN = 0
    OPEN = 1
    """Open."""
    CLOSED = 2
    """Closed."""
    MOVING = 3
    """In motion."""
    ERROR = 4
    """An error occurred."""


@dataclass(frozen=True)
class GripperState:
    """State of a gripper."""

    fingers: Annotated[Union[Fingers, int], Coded(Fingers, U8)]
    """State of the fingers."""
    beams: Annotated[int, U32]
    """Interrupted light beams, usually a bit for each."""
    stored: Annotated[int, U8]
    """Number of objects in the store."""


@dataclass(frozen=True)
class GripperGeometry:
    """Pose and sizes of a gripper."""

    pose: Pose3d
    """Pose in the robot's frame."""
    outer_size: Size3d
    """Outer size, m."""
    inner_size: Size3d
    """Size of the space between the open fingers, m."""
    beams: Annotated[int, U8]
    """Number of light beams."""
    capacity: Annotated[int, U8]
    """Maximum number of stored objects; 0: it has no store."""


@dataclass(frozen=True)
class Position2dState:
    """Odometry."""

    pose: Pose2d
    """Pose in the odometry's frame, m, m, rad."""
    velocity: Pose2d
    """Velocity in the base's frame, m/s, m/s, rad/s."""
    stalled: bool
    """The motors do not turn although they should."""


@dataclass(frozen=True)
class Position2dVelocity:
    """A command to drive with a velocity."""

    velocity: Pose2d
    """Velocity in the base's frame, m/s, m/s, rad/s."""
    motors_on: bool
    """Whether the motors are on; most drivers do not look at it."""


@dataclass(frozen=True)
class Position2dPosition:
    """A command to drive to a pose."""

    pose: Pose2d
    """Pose in the odometry's frame, m, m, rad."""
    velocity: Pose2d
    """Velocity with which to drive there, m/s, m/s, rad/s."""
    motors_on: bool
    """Whether the motors are on; most drivers do not look at it."""


@dataclass(frozen=True)
class Position2dSteering:
    """A command to drive with an angle."""

    speed: Annotated[float, F64]
    """Velocity ahead, m/s."""
    angle: Annotated[float, F64]
    """Angle: of the steered wheels, or of the base in the odometry's frame, rad."""


@dataclass(frozen=True)
class Position2dPid:
    """Gains of a controller."""

    kp: Annotated[float, F32]
    """Proportional gain."""
    ki: Annotated[float, F32]
    """Integral gain."""
    kd: Annotated[float, F32]
    """Derivative gain."""


@dataclass(frozen=True)
class Position2dProfile:
    """Limits of a motion to a pose."""

    speed: Annotated[float, F32]
    """Maximum speed, m/s."""
    acceleration: Annotated[float, F32]
    """Maximum acceleration, m/s^2."""


@dataclass(frozen=True)
class Hypothesis:
    """A pose where the robot may be."""

    mean: Pose2d
    """The mean, m, m, rad."""
    covariance: Annotated[tuple[float, ...], Repeat(F64, 6)]
    """Covariance of x, y and yaw, m^2, m rad, rad^2: xx, yy, yaw-yaw, xy, y-yaw, x-yaw."""
    weight: Annotated[float, F64]


@dataclass(frozen=True)
class Hypotheses:
    """Where the robot may be."""

    pending: Annotated[int, U32]
    """Number of measurements that are not used yet."""
    time: Annotated[float, F64]
    """Time of the last measurement that was used, s since 1970."""
    hypotheses: list[Hypothesis]


@dataclass(frozen=True)
class Estimate:
    """Where the robot is, as a client knows it."""

    mean: Pose2d
    """The mean, m, m, rad."""
    covariance: Annotated[tuple[float, ...], Repeat(F64, 6)]
    """Covariance of x, y and yaw, m^2, m rad, rad^2: xx, yy, yaw-yaw, xy, y-yaw, x-yaw."""


@dataclass(frozen=True)
class Particle:
    """A particle of the filter."""

    pose: Pose2d
    """The pose, m, m, rad."""
    weight: Annotated[float, F64]


@dataclass(frozen=True)
class Particles:
    """Particles of the filter, usually some of them."""

    mean: Pose2d
    """The best pose, m, m, rad."""
    variance: Annotated[float, F64]
    """Its variance, m^2."""
    particles: list[Particle]


@dataclass(frozen=True)
class NamedPose2d:
    """An object's pose on the plane."""

    name: str
    """The object's name."""
    pose: Pose2d
    """Its pose in the world, m, m, rad."""


@dataclass(frozen=True)
class NamedPose3d:
    """An object's pose in space."""

    name: str
    """The object's name."""
    pose: Pose3d
    """Its pose in the world."""
    time: Annotated[float, F64]
    """Time of the simulation; only in answers, s."""


@dataclass(frozen=True)
class ObjectProperty:
    """A property of an object."""

    name: str
    """The object's name."""
    property: str
    """The property's name."""
    index: Annotated[int, U32]
    """Number of its value, if it has several."""
    value: bytes
    """The value as it is in the memory of the simulator's machine. A question has as many bytes as its client expects."""


@dataclass(frozen=True)
class MapInfo:
    """Size of a grid."""

    scale: Annotated[float, F32]
    """Length of a cell's side, m."""
    width: Annotated[int, U32]
    """Number of cells along x."""
    height: Annotated[int, U32]
    """Number of cells along y."""
    origin: Pose2d
    """Pose of the cell with the minimum x and y in the world."""


@dataclass(frozen=True)
class MapVector:
    """A map as line segments."""

    min_x: Annotated[float, F32]
    """Minimum x, m."""
    max_x: Annotated[float, F32]
    """Maximum x, m."""
    min_y: Annotated[float, F32]
    """Minimum y, m."""
    max_y: Annotated[float, F32]
    """Maximum y, m."""
    segments: list[Segment]
    """The segments, in the map's frame."""


@dataclass(frozen=True)
class PlannerState:
    """Path, goal and progress."""

    valid: bool
    """A path was found."""
    done: bool
    """The goal is reached."""
    pose: Pose2d
    """Pose of the robot, m, m, rad."""
    goal: Pose2d
    """The goal, m, m, rad."""
    waypoint: Pose2d
    """The waypoint that the robot drives to, m, m, rad."""
    waypoint_index: Annotated[int, I32]
    """Its number in the path; -1: none."""
    waypoint_count: Annotated[int, U32]
    """Number of waypoints in the path."""


@dataclass(frozen=True)
class PlannerGoal:
    """A pose to drive to, or to plan from."""

    pose: Pose2d
    """The pose, m, m, rad."""


@dataclass(frozen=True)
class Waypoints:
    """A path."""

    length: Annotated[float, F64]
    """Its length: the sum of the straight lines between its waypoints, m."""
    waypoints: list[Pose2d]
    """The waypoints, m, m, rad."""


class LogKind(IntEnum):
    """What a device does with its file."""

    READ = 1
    """It plays back."""
    WRITE = 2
    """It records."""


@dataclass(frozen=True)
class LogState:
    """What a device does."""

    kind: Annotated[Union[LogKind, int], Coded(LogKind, U8)]
    """Whether it records or plays back."""
    enabled: bool
    """Whether it does so now."""


class LimbMotion(IntEnum):
    """What an arm does."""

    IDLE = 1
    """It does not move."""
    BRAKED = 2
    """Its brakes are on."""
    MOVING = 3
    """It moves to its target."""
    OUT_OF_REACH = 4
    """The target is out of reach."""
    COLLISION = 5
    """A collision would occur on the way to the target."""


@dataclass(frozen=True)
class LimbState:
    """Pose of the end effector, and what the arm does."""

    position: Point3d
    """Position, m."""
    approach: Point3d
    """Approach vector."""
    orientation: Point3d
    """Orientation vector."""
    motion: Annotated[Union[LimbMotion, int], Coded(LimbMotion, U8)]
    """What the arm does."""


@dataclass(frozen=True)
class LimbPose:
    """A pose of the end effector."""

    position: Point3d
    """Position, m."""
    approach: Point3d
    """Approach vector."""
    orientation: Point3d
    """Orientation vector."""


@dataclass(frozen=True)
class LimbMove:
    """A motion along a straight line."""

    direction: Point3d
    """Its direction."""
    length: Annotated[float, F32]
    """Its length, m."""


@dataclass(frozen=True)
class Feature:
    """A shape."""

    name: str
    shape: bytes
    """The shape in the well-known binary form of the Open Geospatial Consortium."""
    attributes: str


@dataclass(frozen=True)
class LayerInfo:
    """A layer without its shapes."""

    name: str
    bounds: Segment
    """Its bounds: two opposite corners."""


@dataclass(frozen=True)
class Layer:
    """The shapes of a layer."""

    name: str
    features: list[Feature]


@dataclass(frozen=True)
class VectormapInfo:
    """Layers and bounds."""

    reference: Annotated[int, U32]
    """Number of the spatial reference system; 0: none."""
    layers: list[LayerInfo]
    bounds: Segment
    """Bounds of the map: two opposite corners."""


class JointState(IntEnum):
    """Whether a joint moves, and what keeps it from moving."""

    UNKNOWN = 0
    IDLE = 1
    """It does not move."""
    MOVING = 2
    """It moves."""
    BRAKED = 4
    """Its brake is on."""
    STALLED = 8
    """It is blocked."""


class JointKind(IntEnum):
    """How a joint moves."""

    UNKNOWN = 0
    LINEAR = 1
    """Along its axis."""
    ROTARY = 2
    """About its axis."""


@dataclass(frozen=True)
class Joint:
    """What is measured of a joint."""

    position: Annotated[float, F32]
    """Position, m or rad."""
    speed: Annotated[float, F32]
    """Speed, m/s or rad/s."""
    acceleration: Annotated[float, F32]
    """Acceleration, m/s^2 or rad/s^2."""
    current: Annotated[float, F32]
    """Current, A."""
    state: Annotated[Union[JointState, int], Coded(JointState, U8)]
    """State."""


@dataclass(frozen=True)
class ActarrayState:
    """Position, speed and state of each joint."""

    joints: list[Joint]
    """The joints, from the base."""
    motors_on: bool
    """Whether the power is on."""


@dataclass(frozen=True)
class JointGeometry:
    """A joint and the link behind it."""

    kind: Annotated[Union[JointKind, int], Coded(JointKind, U8)]
    """How it moves."""
    length: Annotated[float, F32]
    """Length of the link to the next joint; of linear joints at position 0, m."""
    orientation: Orientation3d
    """Direction to the next joint in this joint's frame, at the rest position."""
    axis: Point3d
    """The axis about which or along which it moves."""
    minimum: Annotated[float, F32]
    """Minimum position, m or rad."""
    center: Annotated[float, F32]
    """Central position, m or rad."""
    maximum: Annotated[float, F32]
    """Maximum position, m or rad."""
    home: Annotated[float, F32]
    """Home position, m or rad."""
    speed: Annotated[float, F32]
    """Set speed, m/s or rad/s."""
    has_brake: bool
    """Whether it has a brake."""


@dataclass(frozen=True)
class ActarrayGeometry:
    """Links, axes and limits."""

    joints: list[JointGeometry]
    """The joints, from the base."""
    base_position: Point3d
    """Position of the base in the robot's frame, m."""
    base_orientation: Orientation3d
    """Orientation of the base in the robot's frame, rad."""


@dataclass(frozen=True)
class ActarrayJointPosition:
    """Target of one joint."""

    joint: Annotated[int, I32]
    position: Annotated[float, F32]
    """Its position, m or rad."""


@dataclass(frozen=True)
class ActarrayPositions:
    """A position for each joint."""

    positions: list[Annotated[float, F32]]
    """Positions, m or rad."""


@dataclass(frozen=True)
class ActarrayJointSpeed:
    """Desired speed of one joint."""

    joint: Annotated[int, I32]
    speed: Annotated[float, F32]
    """Its speed, m/s or rad/s."""


@dataclass(frozen=True)
class ActarraySpeeds:
    """A speed for each joint."""

    speeds: list[Annotated[float, F32]]
    """Speeds, m/s or rad/s."""


@dataclass(frozen=True)
class ActarrayJointCurrent:
    """Desired motor current of one joint."""

    joint: Annotated[int, I32]
    """The joint; -1: all."""
    current: Annotated[float, F32]
    """Its current, A."""


@dataclass(frozen=True)
class ActarrayCurrents:
    """A current for each joint."""

    currents: list[Annotated[float, F32]]
    """Currents, A."""


@dataclass(frozen=True)
class ActarrayJointAcceleration:
    """Acceleration for later motions of one joint."""

    joint: Annotated[int, I32]
    acceleration: Annotated[float, F32]
    """Its acceleration, m/s^2 or rad/s^2."""


@dataclass(frozen=True)
class BoolProperty:
    """A property that is true or false."""

    name: str
    value: bool


@dataclass(frozen=True)
class IntProperty:
    """An integer."""

    name: str
    value: Annotated[int, I32]


@dataclass(frozen=True)
class DoubleProperty:
    """A number."""

    name: str
    value: Annotated[float, F64]


@dataclass(frozen=True)
class TextProperty:
    """A property whose value is a string."""

    name: str
    value: str


@dataclass(frozen=True)
class Capability:
    """A message that a device may handle."""

    kind: Annotated[int, U32]
    """Code of its kind."""
    subtype: Annotated[int, U32]
