"""What messages of sensors contain, field by field in the order of the wire; m, rad, and what they are made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Union

from ..fields import Coded, Integer, Real, Repeat
from .structures import Orientation3d, Pose2d, Pose3d, Size3d
from .wire import F32, F64, I32, U32

_U32 = Integer(">I", 0, (1 << 32) - 1)
_F32 = Real(">f")


@dataclass(frozen=True)
class SonarRanges:
    """One range per sensor."""

    ranges: list[F32]


@dataclass(frozen=True)
class SonarGeometry:
    """Poses of the sensors."""

    poses: list[Pose3d]


@dataclass(frozen=True)
class LaserScan:
    """A scan at equal angles, counter-clockwise."""

    min_angle: F32
    max_angle: F32
    resolution: F32
    max_range: F32
    ranges: list[F32]
    intensities: bytes
    id: U32


@dataclass(frozen=True)
class LaserPosedScan:
    """A scan, and where it was taken."""

    scan: LaserScan
    pose: Pose2d


@dataclass(frozen=True)
class LaserAngledScan:
    """A scan with an angle for each range."""

    max_range: F32
    ranges: list[F32]
    angles: list[F32]
    intensities: bytes
    id: U32


@dataclass(frozen=True)
class LaserConfig:
    """How a laser measures."""

    min_angle: F32
    max_angle: F32
    resolution: F32
    max_range: F32
    range_resolution: F32
    intensity: bool
    frequency: F32


class LaserFilter(IntEnum):
    """A filter of a laser."""

    MEDIAN = 1
    EDGE = 2
    RANGE = 3
    MEAN = 4


@dataclass(frozen=True)
class BumperState:
    """Which bumpers are pressed: 0 is free."""

    bumpers: bytes


@dataclass(frozen=True)
class Bumper:
    """Where a bumper is: its length and the radius of its curve."""

    pose: Pose3d
    length: F32
    radius: F32


@dataclass(frozen=True)
class BumperGeometry:
    """Poses and sizes of the bumpers."""

    bumpers: list[Bumper]


@dataclass(frozen=True)
class IrRanges:
    """Voltage and range of each sensor."""

    voltages: list[F32]
    ranges: list[F32]


@dataclass(frozen=True)
class IrGeometry:
    """Poses of the sensors."""

    poses: list[Pose3d]


class ImageFormat(IntEnum):
    """Format of an image."""

    MONO8 = 1
    MONO16 = 2
    RGB565 = 4
    RGB888 = 5


class ImageCompression(IntEnum):
    """Compression of an image."""

    RAW = 0
    JPEG = 1


@dataclass(frozen=True)
class Image:
    """An image."""

    width: U32
    height: U32
    bits: U32
    format: Annotated[Union[ImageFormat, int], Coded(ImageFormat, _U32)]
    divisor: U32
    compression: Annotated[Union[ImageCompression, int], Coded(ImageCompression, _U32)]
    data: bytes


@dataclass(frozen=True)
class ImageSource:
    """The input of a camera."""

    norm: str
    source: I32


class ImuDataKind(IntEnum):
    """The data that an imu sends."""

    STATE = 1
    CALIBRATED = 2
    QUATERNION = 3
    EULER = 4


@dataclass(frozen=True)
class Vector:
    """A vector of three measured values."""

    x: F32
    y: F32
    z: F32


@dataclass(frozen=True)
class ImuCalibrated:
    """Acceleration in m/s^2, angular velocity in rad/s, magnetic field in the device's unit."""

    acceleration: Vector
    angular_velocity: Vector
    magnetic_field: Vector


@dataclass(frozen=True)
class ImuQuaternion:
    """What is measured, and the orientation; the real part comes first."""

    calibrated: ImuCalibrated
    orientation: Annotated[tuple[float, ...], Repeat(_F32, 4)]


@dataclass(frozen=True)
class ImuEuler:
    """What is measured, and the orientation as angles."""

    calibrated: ImuCalibrated
    orientation: Orientation3d


@dataclass(frozen=True)
class ImuFullState:
    """Pose, velocity and acceleration."""

    pose: Pose3d
    velocity: Pose3d
    acceleration: Pose3d


@dataclass(frozen=True)
class RangerConfig:
    """How a ranger measures."""

    min_angle: F64
    max_angle: F64
    angular_resolution: F64
    min_range: F64
    max_range: F64
    range_resolution: F64
    frequency: F64


@dataclass(frozen=True)
class RangerGeometry:
    """Pose and size of the ranger and of its elements."""

    pose: Pose3d
    size: Size3d
    element_poses: list[Pose3d]
    element_sizes: list[Size3d]


@dataclass(frozen=True)
class RangerRanges:
    """Ranges."""

    ranges: list[F64]


@dataclass(frozen=True)
class RangerStampedRanges:
    """Ranges, and how they were measured."""

    ranges: RangerRanges
    has_geometry: bool
    geometry: RangerGeometry
    has_config: bool
    config: RangerConfig


@dataclass(frozen=True)
class RangerIntensities:
    """Intensities."""

    intensities: list[F64]


@dataclass(frozen=True)
class RangerStampedIntensities:
    """Intensities, and how they were measured."""

    intensities: RangerIntensities
    has_geometry: bool
    geometry: RangerGeometry
    has_config: bool
    config: RangerConfig
