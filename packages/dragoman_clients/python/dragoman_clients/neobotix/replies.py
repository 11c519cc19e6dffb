"""What reply telegrams contain (PlatformCtrl guide, 6.4), field by field in the order of the wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Optional, Union

from ..fields import Boolean, Coded, Raw, Repeat, Scaled, ScaledReal
from .codes import (
    ApplicationError,
    EmergencyState,
    GraphicalColor,
    GraphicalKind,
    MotionMode,
    OperationState,
    ParameterCategory,
    ParameterType,
    PlannerState,
)
from .wire import (
    BYTE,
    DIALECT,
    DOUBLE,
    INT,
    INT16,
    Byte,
    Degrees,
    Int,
    Ints4,
    Ints8,
    Millidegrees,
    Millimetres,
    Radians,
    Thousandths,
)


@dataclass(frozen=True)
class Pose:
    """A pose: in the world, for relative motions in the platform's frame."""

    x: Millimetres
    y: Millimetres
    angle: Millidegrees


@dataclass(frozen=True)
class Point:
    """A point, m."""

    x: Millimetres
    y: Millimetres


@dataclass(frozen=True)
class ScanPoint:
    """A point of a scan in the world, m."""

    x: Annotated[float, Scaled(INT16, 1000)]
    y: Annotated[float, Scaled(INT16, 1000)]


@dataclass(frozen=True)
class Line:
    """An observed line in the platform's frame; its end comes first."""

    target: Point
    source: Point


@dataclass(frozen=True)
class Segment:
    """A straight line in the world."""

    source: Point
    target: Point


@dataclass(frozen=True)
class Circle:
    """An observed circle."""

    center: Point
    radius: Millimetres


@dataclass(frozen=True)
class Covariance:
    """Uncertainty of the estimated pose."""

    principal: Millimetres
    """Deviation along the principal axis, m."""
    minor: Millimetres
    """Deviation along the minor axis, m."""
    angle: Millidegrees
    """Deviation of the angle, rad."""
    principal_axis: Millidegrees
    """Direction of the principal axis, rad."""


@dataclass(frozen=True)
class Velocity:
    """Commanded velocities."""

    translation: Thousandths
    """m/s."""
    rotation: Thousandths
    """rad/s."""


@dataclass(frozen=True)
class RelayBoard:
    """The relay board; the guide has no units."""

    digital_in: Int
    status: Int
    analog_in: Ints8
    optical_distance: Ints4


@dataclass(frozen=True)
class IoBoard:
    """The general I/O board; the guide has no units. Dragoman's platforms have mV."""

    battery_voltage: Int
    digital_in: Int
    digital_out: Int
    status: Int
    analog_in: Ints8


@dataclass(frozen=True)
class MotorBoards:
    """The boards of the drives; the guide has no units."""

    right_status: Int
    left_status: Int
    right_temperature: Int
    left_temperature: Int


@dataclass(frozen=True)
class UltrasonicBoard:
    """Analog inputs and status of the ultrasonic board."""

    analog_in: Ints8
    status: Int


@dataclass(frozen=True)
class RadarBoard:
    """Velocities at the four radar sensors, m/s."""

    velocity: Annotated[tuple[float, ...], Repeat(Scaled(INT, 1000), 4)]
    status: Int


@dataclass(frozen=True)
class Gyro:
    """The gyro board."""

    acceleration: Annotated[tuple[float, ...], Repeat(Scaled(INT, 10000), 3)]
    """The guide has no unit; Dragoman's platforms have m/s^2."""
    angle: Annotated[float, Scaled(INT, 10000)]
    """rad."""
    temperature: Int
    status: Int


@dataclass(frozen=True)
class Status:
    """Reply to CMD_GET_STATUS. By default poses and points are in the world, m and rad."""

    commanded: Pose
    estimated: Pose
    covariance: Covariance
    scan: list[ScanPoint]
    reflectors: list[Point]
    lines: list[Line]
    circles: list[Circle]
    corners: list[Point]
    path: list[Point]
    joystick_buttons: list[bool]
    velocity: Velocity
    relay_board: RelayBoard
    io_board: IoBoard
    motors: MotorBoards
    ultrasonic: Annotated[tuple[float, ...], Repeat(Scaled(INT, 1000), 16)]
    """Distances of sensors 1 to 16, m; 10 m from Dragoman's platforms: not measured."""
    ultrasonic_board: UltrasonicBoard
    radar_board: RadarBoard
    latitude: float
    longitude: float
    gyro: Gyro
    is_initialized: bool
    is_target_reached: bool
    motion_mode: Annotated[Union[MotionMode, int], Coded(MotionMode, BYTE)]
    operation_state: Annotated[Union[OperationState, int], Coded(OperationState, BYTE)]
    emergency_state: Annotated[Union[EmergencyState, int], Coded(EmergencyState, INT)]
    application_mode: Byte
    planner_state: Annotated[Union[PlannerState, int], Coded(PlannerState, INT)]
    time_stamp: Int
    """The guide has no unit; Dragoman's platforms have ms."""
    application_error: Annotated[Union[ApplicationError, int], Coded(ApplicationError, INT)]
    is_docked: bool
    is_localization_lost: bool
    is_colliding: bool
    lookup_percent: Byte
    infrared: Annotated[tuple[bool, ...], Repeat(Boolean("B"), 4)]
    siren: bool
    flash_light: bool
    head_angle: Degrees
    """rad."""


@dataclass(frozen=True)
class Position:
    """Reply to CMD_GET_POSITION: m, rad, m/s, rad/s."""

    x: Millimetres
    y: Millimetres
    angle: float
    translation: Annotated[float, ScaledReal(DOUBLE, 1000)]
    rotation: float


@dataclass(frozen=True)
class CanMessage:
    """A stored CAN message."""

    time_stamp: float
    """Time of reception; the guide has no unit."""
    id: Int
    data: Annotated[bytes, Raw(8)]


@dataclass(frozen=True)
class Parameter:
    """A parameter. The limits are those of the protocol's whole numbers."""

    key: str
    value: str
    category: Annotated[Union[ParameterCategory, int], Coded(ParameterCategory, INT)]
    type: Annotated[Union[ParameterType, int], Coded(ParameterType, INT)]
    minimum: Int
    maximum: Int

    @property
    def parsed(self) -> Union[bool, int, float, str]:
        """The value by its type; the text itself if it is none of that type."""
        if self.type is ParameterType.BOOLEAN:
            return {"true": True, "1": True, "false": False, "0": False}.get(self.value.strip().lower(), self.value)
        try:
            if self.type is ParameterType.INTEGER:
                return int(self.value)
            if self.type is ParameterType.DOUBLE:
                return float(self.value)
        except ValueError:
            pass
        return self.value


@dataclass(frozen=True)
class Camera:
    """Where the camera is."""

    address: str
    id: str


@dataclass(frozen=True)
class ValidationGate:
    """A gate of the localization."""

    corners: Annotated[tuple[Point, ...], Repeat(DIALECT.structure(Point), 4)]


@dataclass(frozen=True)
class PathPose:
    """A pose with an angle in whole radians."""

    x: Millimetres
    y: Millimetres
    angle: Radians


@dataclass(frozen=True)
class GlobalLocalization:
    """Where the platform may be."""

    frames: list[PathPose]
    visible_lines: list[Segment]
    validation_gates: list[ValidationGate]


@dataclass(frozen=True)
class Mapping:
    """Data of the mapping mode."""

    segments: list[Segment]
    explored_segments: list[Segment]
    global_localization: GlobalLocalization


@dataclass(frozen=True)
class GraphicalObject:
    """An object that the platform wants to be drawn."""

    kind: Annotated[Union[GraphicalKind, int], Coded(GraphicalKind, INT)]
    color: Annotated[Union[GraphicalColor, int], Coded(GraphicalColor, INT)]
    x: Millimetres
    y: Millimetres
    angle: Degrees
    second_x: Millimetres
    second_y: Millimetres
    second_angle: Millidegrees
    reserved: Int


@dataclass(frozen=True)
class Variable:
    """A variable; the original does not use them."""

    id: Int
    value: str


@dataclass(frozen=True)
class Cluster:
    """Points of a scan that belong together."""

    x: Millimetres
    y: Millimetres
    index: Int


@dataclass(frozen=True)
class TcpStatistics:
    """Network statistics: s, percent, bytes/s, telegrams/s."""

    receive_time: Int
    receive_percent: Int
    send_time: Int
    send_percent: Int
    received_bytes: Int
    sent_bytes: Int
    received_telegrams: Int
    sent_telegrams: Int
    wait_time: Int
    wait_percent: Int


@dataclass(frozen=True)
class SafeVelocities:
    """Maximum permitted velocities, m/s."""

    forward_laser: Thousandths
    backward_laser: Thousandths
    forward_ultrasonic: Thousandths
    backward_ultrasonic: Thousandths
    optocoupler: Thousandths


@dataclass(frozen=True)
class DebugData:
    """Reply to CMD_GET_DEBUG_DATA."""

    validation_gates: list[ValidationGate]
    mapping: Optional[Mapping]
    path: list[PathPose]
    graphical_objects: list[GraphicalObject]
    variables: list[Variable]
    moving_clusters: list[Cluster]
    person_clusters: list[Cluster]
    ball_clusters: list[Cluster]
    protocol_queue: list[str]
    tcp: TcpStatistics
    safe_velocities: SafeVelocities


@dataclass(frozen=True)
class Document:
    """Reply to CMD_GET_MAP and CMD_GET_ROADMAP."""

    character_count: Byte
    """Characters of the name, modulo 256; not needed."""
    xml: str
    name: str
