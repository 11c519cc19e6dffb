"""What messages contain, field by field in the order of the wire; m, rad, s, and what they are made of."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any, Union

from ..errors import BadArgument, BadReply
from ..fields import Codec, Coded, Integer, Narrow, Reader, Real, Repeat
from .wire import F32, F64, I32, U8, U16, U32

_U8 = Narrow(">I", 8)
_U32 = Integer(">I", 0, (1 << 32) - 1)
_F64 = Real(">d")
_F32 = Real(">f")

Covariance = Annotated[tuple[float, ...], Repeat(_F64, 6)]
"""xx, yy, yaw-yaw, xy, y-yaw, x-yaw; m^2, rad^2 and m rad."""

# Several interfaces


@dataclass(frozen=True)
class Pose2d:
    """A pose on the plane."""

    x: F64
    y: F64
    yaw: F64


@dataclass(frozen=True)
class Point3d:
    """A point."""

    x: F64
    y: F64
    z: F64


@dataclass(frozen=True)
class Orientation3d:
    """An orientation."""

    roll: F64
    pitch: F64
    yaw: F64


@dataclass(frozen=True)
class Pose3d:
    """A pose in space."""

    position: Point3d
    orientation: Orientation3d


@dataclass(frozen=True)
class Size3d:
    """A size."""

    width: F64
    length: F64
    height: F64


@dataclass(frozen=True)
class Geometry:
    """Pose on the robot, and size."""

    pose: Pose3d
    size: Size3d


@dataclass(frozen=True)
class Segment:
    """A line segment."""

    x0: F64
    y0: F64
    x1: F64
    y1: F64


# player


@dataclass(frozen=True)
class Address:
    """A device on a server."""

    host: U32
    robot: U32
    interface: U16
    index: U16


@dataclass(frozen=True)
class Driver:
    """The driver of a device."""

    address: Address
    name: str


@dataclass(frozen=True)
class Subscription:
    """Access to a device: 1 open, 2 close, 3 denied."""

    address: Address
    access: U8
    driver: str


@dataclass(frozen=True)
class NameService:
    """The port of a robot."""

    name: str
    port: U16


# power


class Charging(IntEnum):
    """What a battery does."""

    IDLE = 0
    RECEIVING = 1
    PROVIDING = -1


@dataclass(frozen=True)
class PowerState:
    """State of a battery. Bits of ``valid``: 1 volts, 2 watts, 4 joules, 8 percent, 16 charging."""

    valid: U32
    volts: F32
    percent: F32
    joules: F32
    watts: F32
    charging: Annotated[Union[Charging, int], Coded(Charging, Integer(">i", -(1 << 31), (1 << 31) - 1))]


# gripper


class Fingers(IntEnum):
    """State of the fingers."""

    UNKNOWN = 0
    OPEN = 1
    CLOSED = 2
    MOVING = 3
    ERROR = 4


@dataclass(frozen=True)
class GripperState:
    """State of a gripper: fingers, interrupted light beams (a bit for each), stored objects."""

    fingers: Annotated[Union[Fingers, int], Coded(Fingers, _U8)]
    beams: U32
    stored: U8


@dataclass(frozen=True)
class GripperGeometry:
    """Pose and sizes of a gripper."""

    pose: Pose3d
    outer_size: Size3d
    inner_size: Size3d
    beams: U8
    capacity: U8


# position2d


@dataclass(frozen=True)
class Position2dState:
    """Odometry: pose, velocity in the robot's frame, and whether it is blocked."""

    pose: Pose2d
    velocity: Pose2d
    stalled: bool


# localize


@dataclass(frozen=True)
class Hypothesis:
    """A pose where the robot may be."""

    mean: Pose2d
    covariance: Covariance
    weight: F64


@dataclass(frozen=True)
class Hypotheses:
    """Where the robot may be; ``pending`` measurements are not used yet."""

    pending: U32
    time: F64
    hypotheses: list[Hypothesis]


@dataclass(frozen=True)
class Estimate:
    """Where the robot is, as a client knows it."""

    mean: Pose2d
    covariance: Covariance


@dataclass(frozen=True)
class Particle:
    """A particle of the filter."""

    pose: Pose2d
    weight: F64


@dataclass(frozen=True)
class Particles:
    """Particles of the filter."""

    mean: Pose2d
    variance: F64
    particles: list[Particle]


# simulation


@dataclass(frozen=True)
class NamedPose2d:
    """An object's pose on the plane."""

    name: str
    pose: Pose2d


@dataclass(frozen=True)
class NamedPose3d:
    """An object's pose in space; ``time`` in microseconds, only in answers."""

    name: str
    pose: Pose3d
    time: F64


@dataclass(frozen=True)
class ObjectProperty:
    """A property of an object, as it is in the memory of the simulator's machine."""

    name: str
    property: str
    index: U32
    value: bytes


# map


@dataclass(frozen=True)
class MapInfo:
    """Size of a grid: side of a cell in m, cells along x and y, pose of the first cell."""

    scale: F32
    width: U32
    height: U32
    origin: Pose2d


@dataclass(frozen=True)
class MapVector:
    """A map as line segments, and its bounds."""

    min_x: F32
    max_x: F32
    min_y: F32
    max_y: F32
    segments: list[Segment]


# planner


@dataclass(frozen=True)
class PlannerState:
    """Path, goal and progress of a planner, in the frame of its map.

    ``valid``: a path was found; ``done``: the goal is reached. The robot drives to ``waypoint``, number
    ``waypoint_index`` of ``waypoint_count``; -1: none.
    """

    valid: bool
    done: bool
    pose: Pose2d
    goal: Pose2d
    waypoint: Pose2d
    waypoint_index: I32
    waypoint_count: U32


@dataclass(frozen=True)
class Waypoints:
    """A path, and its length: the sum of the straight lines between its waypoints."""

    length: F64
    waypoints: list[Pose2d]


# log


class LogKind(IntEnum):
    """What a device does with its file."""

    READ = 1
    WRITE = 2


@dataclass(frozen=True)
class LogState:
    """Whether a device records or plays back, and whether it does so now."""

    kind: Annotated[Union[LogKind, int], Coded(LogKind, _U8)]
    enabled: bool


# opaque


@dataclass(frozen=True)
class OpaqueData:
    """Bytes whose meaning a driver and its clients agree on."""

    data: bytes


# limb


class LimbMotion(IntEnum):
    """What an arm does."""

    IDLE = 1
    BRAKED = 2
    MOVING = 3
    OUT_OF_REACH = 4
    COLLISION = 5


@dataclass(frozen=True)
class LimbState:
    """Pose of the end effector in the robot's frame, and what the arm does.

    ``approach`` points from the end effector to what it grips, ``orientation`` from one finger to the other.
    """

    position: Point3d
    approach: Point3d
    orientation: Point3d
    motion: Annotated[Union[LimbMotion, int], Coded(LimbMotion, _U8)]


# vectormap


@dataclass(frozen=True)
class Feature:
    """A shape in the well-known binary form of the Open Geospatial Consortium."""

    name: str
    shape: bytes
    attributes: str


@dataclass(frozen=True)
class Layer:
    """The shapes of a layer."""

    name: str
    features: list[Feature]


@dataclass(frozen=True)
class LayerInfo:
    """A layer without its shapes; its bounds are two opposite corners."""

    name: str
    bounds: Segment


@dataclass(frozen=True)
class VectormapInfo:
    """Layers and bounds of a map, and the number of its spatial reference system; 0: none."""

    reference: U32
    layers: list[LayerInfo]
    bounds: Segment


# actarray


class JointState(IntEnum):
    """State of a joint."""

    UNKNOWN = 0
    IDLE = 1
    MOVING = 2
    BRAKED = 4
    STALLED = 8


class JointKind(IntEnum):
    """How a joint moves."""

    UNKNOWN = 0
    LINEAR = 1
    ROTARY = 2


@dataclass(frozen=True)
class Joint:
    """What is measured of a joint: m or rad, A."""

    position: F32
    speed: F32
    acceleration: F32
    current: F32
    state: Annotated[Union[JointState, int], Coded(JointState, _U8)]


@dataclass(frozen=True)
class ActarrayState:
    """The joints from the base, and whether the power is on."""

    joints: list[Joint]
    motors_on: bool


@dataclass(frozen=True)
class JointGeometry:
    """A joint, and the link behind it."""

    kind: Annotated[Union[JointKind, int], Coded(JointKind, _U8)]
    length: F32
    orientation: Orientation3d
    axis: Point3d
    minimum: F32
    center: F32
    maximum: F32
    home: F32
    speed: F32
    has_brake: bool


@dataclass(frozen=True)
class ActarrayGeometry:
    """The joints from the base, and where the base is on the robot."""

    joints: list[JointGeometry]
    base_position: Point3d
    base_orientation: Orientation3d


# The cells of a map's tile are the only bytes with a number between their two lengths.


@dataclass(frozen=True)
class MapTile:
    """A tile of a grid: first cell, number of cells, and one byte for each cell, in rows along x.

    A cell is ``-value_range`` if it is free, 0 if unknown, ``value_range`` if occupied.
    """

    column: int
    row: int
    width: int
    height: int
    value_range: int
    cells: bytes

    def cell(self, column: int, row: int) -> int:
        """A cell of the tile."""
        value = self.cells[row * self.width + column]
        return value - 256 if value > 127 else value


MAX_CELLS = 64 << 20


class MapTileCodec(Codec):
    """Writes questions, whose cells are empty, and reads answers, whose cells are compressed."""

    minimum = 28

    def write(self, value: Any, out: bytearray, what: str) -> None:
        for name in ("column", "row", "width", "height"):
            _U32.write(getattr(value, name), out, name)
        _U32.write(len(value.cells), out, what)
        Integer(">i", -128, 127).write(value.value_range, out, what)
        _U32.write(len(value.cells), out, what)
        out += value.cells + bytes(-len(value.cells) % 4)

    def read(self, reader: Reader) -> MapTile:
        column, row, width, height, _ = (_U32.read(reader) for _ in range(5))
        value_range = Narrow(">i", 8, signed=True).read(reader)
        size = _U32.read(reader)
        compressed = reader.take(size)
        count = width * height
        if count > MAX_CELLS:
            raise BadReply(f"{reader.what}: a tile of {width} x {height} cells")
        try:
            unpacker = zlib.decompressobj()
            cells = unpacker.decompress(compressed, max(count, 1))
        except zlib.error as error:
            raise BadReply(f"{reader.what}: cells that cannot be decompressed: {error}") from None
        if len(cells) != count or unpacker.unconsumed_tail:
            raise BadReply(f"{reader.what}: {len(cells)} cells in a tile of {width} x {height}")
        return MapTile(column, row, width, height, value_range, cells)


def pose2d(value: Any, what: str) -> Pose2d:
    """A pose, or three numbers."""
    if isinstance(value, Pose2d):
        return value
    try:
        x, y, yaw = value
    except (TypeError, ValueError):
        raise BadArgument(f"{what} must be a Pose2d or three numbers, not {value!r}") from None
    return Pose2d(x, y, yaw)


def pose3d(value: Any, what: str) -> Pose3d:
    """A pose, or six numbers: x, y, z, roll, pitch, yaw."""
    if isinstance(value, Pose3d):
        return value
    try:
        x, y, z, roll, pitch, yaw = value
    except (TypeError, ValueError):
        raise BadArgument(f"{what} must be a Pose3d or six numbers, not {value!r}") from None
    return Pose3d(Point3d(x, y, z), Orientation3d(roll, pitch, yaw))


def point3d(value: Any, what: str) -> Point3d:
    """A point or vector, or three numbers."""
    if isinstance(value, Point3d):
        return value
    try:
        x, y, z = value
    except (TypeError, ValueError):
        raise BadArgument(f"{what} must be a Point3d or three numbers, not {value!r}") from None
    return Point3d(x, y, z)
