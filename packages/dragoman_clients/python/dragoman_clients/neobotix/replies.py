"""What replies contain, in the order of the wire; m, rad, s. Made of the description of PlatformCtrl."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Optional, Union

from ..fields import Coded, Raw, Repeat, Scaled, ScaledReal
from .codes import (
    ApplicationError,
    EmergencyState,
    GraphicalColor,
    GraphicalKind,
    MotionMode,
    OperationState,
    PlannerState,
)
from .parameter import Parameter as Parameter
from .wire import BOOL, DEGREE, DIALECT, F64, I16, I32, U8


@dataclass(frozen=True)
class Pose:
    """A pose: of CMD_MOVE_ABS and CMD_SET_FRM_PLTF in the world, of CMD_MOVE_REL in the platform's frame."""

    x: Annotated[float, Scaled(I32, 1000)]
    """Position, m."""
    y: Annotated[float, Scaled(I32, 1000)]
    """Position, m."""
    angle: Annotated[float, Scaled(I32, 1000 * DEGREE)]
    """Counter-clockwise from the x axis, rad."""


@dataclass(frozen=True)
class Camera:
    """Reply to CMD_GET_CAMERA."""

    address: str
    """IP address."""
    id: str
    """Id."""


@dataclass(frozen=True)
class Document:
    """Reply to CMD_GET_MAP and CMD_GET_ROADMAP."""

    character_count: Annotated[int, U8]
    """Characters of the name, modulo 256; the name has a length of its own."""
    xml: str
    """XML-document."""
    name: str
    """Name of the map or roadmap."""


@dataclass(frozen=True)
class CanMessage:
    """A stored CAN message."""

    time_stamp: Annotated[float, F64]
    """Time of reception. The guide has no unit; unchecked: it may be NaN or infinite."""
    id: Annotated[int, I32]
    """CAN id."""
    data: Annotated[bytes, Raw(8)]
    """Data."""


@dataclass(frozen=True)
class Position:
    """Reply to CMD_GET_POSITION. Doubles are unchecked: they may be NaN or infinite."""

    x: Annotated[float, Scaled(I32, 1000)]
    """Estimated, in the world, m."""
    y: Annotated[float, Scaled(I32, 1000)]
    """Estimated, in the world, m."""
    angle: Annotated[float, F64]
    """From the x axis, rad."""
    translation: Annotated[float, ScaledReal(F64, 1000)]
    """Forwards, m/s."""
    rotation: Annotated[float, F64]
    """Counter-clockwise, rad/s."""


@dataclass(frozen=True)
class Status:
    """Reply to CMD_GET_STATUS, in the order of the wire. By default poses and points are in the world. Latitude and longitude are unchecked: they may be NaN or infinite."""

    commanded: Pose
    """Reference pose."""
    estimated: Pose
    """Estimated pose."""
    covariance: Covariance
    """Uncertainty of the estimated pose."""
    scan: list[ScanPoint]
    """Scan points of the laser."""
    reflectors: list[Point]
    """Reflectors observed."""
    lines: list[Line]
    """Lines observed."""
    circles: list[Circle]
    """Circles observed."""
    corners: list[Point]
    """Corners observed."""
    path: list[Point]
    """Interpolated path."""
    joystick_buttons: list[bool]
    """Buttons of the joystick, true if pressed."""
    velocity: Velocity
    """Currently commanded velocities."""
    relay_board: RelayBoard
    """The relay board."""
    io_board: IoBoard
    """The general I/O board."""
    motors: MotorBoards
    """The two drives."""
    ultrasonic: Annotated[tuple[float, ...], Repeat(Scaled(I32, 1000), 16)]
    """Distances of sensors 1 to 16, m."""
    ultrasonic_board: UltrasonicBoard
    """Other data of the ultrasonic board."""
    radar_board: RadarBoard
    """Radar sensors."""
    latitude: Annotated[float, F64]
    """GPS; the guide has no unit."""
    longitude: Annotated[float, F64]
    """GPS; the guide has no unit."""
    gyro: Gyro
    """Gyro and acceleration sensors."""
    is_initialized: bool
    """Whether the platform is initialized."""
    is_target_reached: bool
    """Whether the target is reached."""
    motion_mode: Annotated[Union[MotionMode, int], Coded(MotionMode, U8)]
    """Active motion mode."""
    operation_state: Annotated[Union[OperationState, int], Coded(OperationState, U8)]
    """Operation state."""
    emergency_state: Annotated[Union[EmergencyState, int], Coded(EmergencyState, I32)]
    """The emergency stop."""
    application_mode: Annotated[int, U8]
    """Mode of a local application; not used."""
    planner_state: Annotated[Union[PlannerState, int], Coded(PlannerState, I32)]
    """State of the planner."""
    time_stamp: Annotated[int, I32]
    """Time stamp of this message; the guide has no unit."""
    application_error: Annotated[Union[ApplicationError, int], Coded(ApplicationError, I32)]
    """Error of an application."""
    is_docked: bool
    """Whether it is docked to the charging station."""
    is_localization_lost: bool
    """Whether the localization is lost."""
    is_colliding: bool
    """Whether there is a collision."""
    lookup_percent: Annotated[int, U8]
    """Calculated part of the lookup data; 0: complete, or nothing to do, %."""
    infrared: Annotated[tuple[bool, ...], Repeat(BOOL, 4)]
    """Infrared sensors 1 to 4, true if active."""
    siren: bool
    """Whether the siren is enabled."""
    flash_light: bool
    """Whether the flash light is enabled."""
    head_angle: Annotated[float, Scaled(I32, DEGREE)]
    """Angle of the head, rad."""


@dataclass(frozen=True)
class Covariance:
    """Uncertainty of the pose."""

    principal: Annotated[float, Scaled(I32, 1000)]
    """Deviation along the principal axis, m."""
    minor: Annotated[float, Scaled(I32, 1000)]
    """Deviation along the minor axis, m."""
    angle: Annotated[float, Scaled(I32, 1000 * DEGREE)]
    """Deviation of the angle, rad."""
    principal_axis: Annotated[float, Scaled(I32, 1000 * DEGREE)]
    """Direction of the principal axis, rad."""


@dataclass(frozen=True)
class ScanPoint:
    """A scan point, in INT16s."""

    x: Annotated[float, Scaled(I16, 1000)]
    """Position, m."""
    y: Annotated[float, Scaled(I16, 1000)]
    """Position, m."""


@dataclass(frozen=True)
class Point:
    """Position in the map, mm."""

    x: Annotated[float, Scaled(I32, 1000)]
    """Position, m."""
    y: Annotated[float, Scaled(I32, 1000)]
    """Position, m."""


@dataclass(frozen=True)
class Line:
    """An observed line, in the platform's frame. The target comes first."""

    target: Point
    source: Point


@dataclass(frozen=True)
class Circle:
    """An observed circle."""

    center: Point
    radius: Annotated[float, Scaled(I32, 1000)]
    """Radius, m."""


@dataclass(frozen=True)
class Velocity:
    """Velocities of the platform."""

    translation: Annotated[float, Scaled(I32, 1000)]
    """Forwards, m/s."""
    rotation: Annotated[float, Scaled(I32, 1000)]
    """Counter-clockwise, a thousandth of a radian per second, rad/s."""


@dataclass(frozen=True)
class RelayBoard:
    """The relay board; no units in the guide."""

    digital_in: Annotated[int, I32]
    """Digital inputs."""
    status: Annotated[int, I32]
    """Status of the board."""
    analog_in: Annotated[tuple[int, ...], Repeat(I32, 8)]
    """Analog inputs 1 to 8."""
    optical_distance: Annotated[tuple[int, ...], Repeat(I32, 4)]
    """Distances of the optical sensors."""


@dataclass(frozen=True)
class IoBoard:
    """The general I/O board; no units in the guide."""

    battery_voltage: Annotated[int, I32]
    """Voltage of the battery."""
    digital_in: Annotated[int, I32]
    """Digital inputs."""
    digital_out: Annotated[int, I32]
    """Digital outputs."""
    status: Annotated[int, I32]
    """Status of the board."""
    analog_in: Annotated[tuple[int, ...], Repeat(I32, 8)]
    """Analog inputs 1 to 8."""


@dataclass(frozen=True)
class AnalogBoard:
    """Status and analog inputs of a board."""

    status: Annotated[int, I32]
    """Status of the board."""
    analog_in: Annotated[tuple[int, ...], Repeat(I32, 8)]
    """Analog inputs 1 to 8."""


@dataclass(frozen=True)
class MotorBoards:
    """Motor control boards; no units in the guide."""

    right_status: Annotated[int, I32]
    """Status of the right one."""
    left_status: Annotated[int, I32]
    """Status of the left one."""
    right_temperature: Annotated[int, I32]
    """Temperature of the right one."""
    left_temperature: Annotated[int, I32]
    """Temperature of the left one."""


@dataclass(frozen=True)
class UltrasonicBoard:
    """Analog inputs and status of the ultrasonic board."""

    analog_in: Annotated[tuple[int, ...], Repeat(I32, 8)]
    """Analog inputs 1 to 8."""
    status: Annotated[int, I32]
    """Status of the board."""


@dataclass(frozen=True)
class RadarBoard:
    """Radar sensors."""

    velocity: Annotated[tuple[float, ...], Repeat(Scaled(I32, 1000), 4)]
    """Velocities of sensors 1 to 4, m/s."""
    status: Annotated[int, I32]
    """Status of the board."""


@dataclass(frozen=True)
class Gyro:
    """Gyro board."""

    acceleration: Annotated[tuple[float, ...], Repeat(Scaled(I32, 10000), 3)]
    """Accelerations 1 to 3, times 10000; the guide has no unit."""
    angle: Annotated[float, Scaled(I32, 10000)]
    """Angle, a ten-thousandth of a radian."""
    temperature: Annotated[int, I32]
    """Temperature; the guide has no unit."""
    status: Annotated[int, I32]
    """Status of the board."""


@dataclass(frozen=True)
class Surveillance:
    """Intruder sensors and alarms of a surveillance platform."""

    infrared: Annotated[tuple[bool, ...], Repeat(BOOL, 4)]
    """Infrared sensors 1 to 4, true if active."""
    siren: bool
    """Whether the siren is enabled."""
    flash_light: bool
    """Whether the flash light is enabled."""


@dataclass(frozen=True)
class DebugData:
    """Reply to CMD_GET_DEBUG_DATA, in the order of the wire. Positions are in the world."""

    validation_gates: list[ValidationGate]
    """Validation gates."""
    mapping: Optional[Mapping]
    """Mapping data, in mapping mode only."""
    path: list[PathPose]
    """Interpolated path."""
    graphical_objects: list[GraphicalObject]
    """Objects drawn by programs."""
    variables: list[Variable]
    """Not used."""
    moving_clusters: list[Cluster]
    """Moving objects."""
    person_clusters: list[Cluster]
    """Persons."""
    ball_clusters: list[Cluster]
    """Balls."""
    protocol_queue: list[str]
    """Lines of the log."""
    tcp: TcpStatistics
    """Network statistics."""
    safe_velocities: SafeVelocities
    """Maximum permitted velocities."""


@dataclass(frozen=True)
class ValidationGate:
    """Quadrangle in which a line of the scan is matched with a line of the map."""

    corners: Annotated[tuple[Point, ...], Repeat(DIALECT.codec(Point), 4)]


@dataclass(frozen=True)
class Mapping:
    """Mapping data."""

    segments: list[Segment]
    """Segments."""
    explored_segments: list[Segment]
    """Segments that are still being explored."""
    global_localization: GlobalLocalization
    """Possible poses of the platform."""


@dataclass(frozen=True)
class Segment:
    """A straight line."""

    source: Point
    target: Point


@dataclass(frozen=True)
class GlobalLocalization:
    """Possible poses of the platform."""

    frames: list[PathPose]
    """Possible poses."""
    visible_lines: list[Segment]
    """Visible lines."""
    validation_gates: list[ValidationGate]
    """Validation gates."""


@dataclass(frozen=True)
class PathPose:
    """A pose with an angle in whole radians, as in the guide's table."""

    x: Annotated[float, Scaled(I32, 1000)]
    """Position, m."""
    y: Annotated[float, Scaled(I32, 1000)]
    """Position, m."""
    angle: Annotated[float, Scaled(I32, 1)]
    """From the x axis, rad."""


@dataclass(frozen=True)
class GraphicalObject:
    """An object to draw."""

    kind: Annotated[Union[GraphicalKind, int], Coded(GraphicalKind, I32)]
    color: Annotated[Union[GraphicalColor, int], Coded(GraphicalColor, I32)]
    x: Annotated[float, Scaled(I32, 1000)]
    """Position, m."""
    y: Annotated[float, Scaled(I32, 1000)]
    """Position, m."""
    angle: Annotated[float, Scaled(I32, DEGREE)]
    """From the x axis, rad."""
    second_x: Annotated[float, Scaled(I32, 1000)]
    """X of a line's, circle's, ellipse's or label's second point, mm; 0 otherwise, m."""
    second_y: Annotated[float, Scaled(I32, 1000)]
    """Y of a line's, circle's or ellipse's second point, mm; 0 otherwise, m."""
    second_angle: Annotated[float, Scaled(I32, 1000 * DEGREE)]
    """Angle of a frame or an ellipse; 0 otherwise, rad."""
    reserved: Annotated[int, I32]
    """Always 0."""


@dataclass(frozen=True)
class Variable:
    """A variable; not used."""

    id: Annotated[int, I32]
    value: str
    """Its value as text."""


@dataclass(frozen=True)
class Cluster:
    """Points of a scan that belong together."""

    x: Annotated[float, Scaled(I32, 1000)]
    """Position, m."""
    y: Annotated[float, Scaled(I32, 1000)]
    """Position, m."""
    index: Annotated[int, I32]


@dataclass(frozen=True)
class TcpStatistics:
    """Network statistics; whole numbers, even for seconds."""

    receive_time: Annotated[int, I32]
    """Average time to receive, s."""
    receive_percent: Annotated[int, I32]
    """Share of receiving, %."""
    send_time: Annotated[int, I32]
    """Average time to send, s."""
    send_percent: Annotated[int, I32]
    """Share of sending, %."""
    received_bytes: Annotated[int, I32]
    """Bytes received, bytes/s."""
    sent_bytes: Annotated[int, I32]
    """Bytes sent, bytes/s."""
    received_telegrams: Annotated[int, I32]
    """Messages received, 1/s."""
    sent_telegrams: Annotated[int, I32]
    """Messages sent, 1/s."""
    wait_time: Annotated[int, I32]
    """Average waiting time for a message, s."""
    wait_percent: Annotated[int, I32]
    """Share of waiting, %."""


@dataclass(frozen=True)
class SafeVelocities:
    """Maximum permitted velocities."""

    forward_laser: Annotated[float, Scaled(I32, 1000)]
    """Limit of the front laser, m/s."""
    backward_laser: Annotated[float, Scaled(I32, 1000)]
    """Limit of the rear laser, m/s."""
    forward_ultrasonic: Annotated[float, Scaled(I32, 1000)]
    """Limit of the front ultrasonic sensors, m/s."""
    backward_ultrasonic: Annotated[float, Scaled(I32, 1000)]
    """Limit of the rear ultrasonic sensors, m/s."""
    optocoupler: Annotated[float, Scaled(I32, 1000)]
    """Limit of the optocouplers, m/s."""
