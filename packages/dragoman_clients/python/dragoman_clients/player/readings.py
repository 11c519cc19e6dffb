"""What messages of sensors contain, in the order of the wire; m, rad, s. Made of the description of Player's protocol."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Union

from ..fields import Coded, Repeat
from .structures import Geometry, Orientation3d, Pose2d, Pose3d, Size3d
from .wire import F32, F64, I32, U8, U32


@dataclass(frozen=True)
class SonarRanges:
    """One range per sensor."""

    ranges: list[Annotated[float, F32]]
    """Ranges, m."""


@dataclass(frozen=True)
class SonarGeometry:
    """Where the sensors are."""

    poses: list[Pose3d]
    """Poses in the robot's frame."""


LASER_MAX_FILTER_PARAMETERS = 8
"""Maximum number of parameters of a filter."""


class LaserFilter(IntEnum):
    """A filter of the device."""

    MEDIAN = 1
    """Median; no parameters."""
    EDGE = 2
    """Edges; no parameters."""
    RANGE = 3
    """Ranges; minimum and maximum, mm."""
    MEAN = 4
    """Mean; number of scans."""


@dataclass(frozen=True)
class LaserScan:
    """A scan at equal angles."""

    min_angle: Annotated[float, F32]
    """Angle of the first range, rad."""
    max_angle: Annotated[float, F32]
    """Angle of the last range, rad."""
    resolution: Annotated[float, F32]
    """Angle between two ranges, rad."""
    max_range: Annotated[float, F32]
    """Maximum range, m."""
    ranges: list[Annotated[float, F32]]
    """Ranges, m."""
    intensities: bytes
    """Intensities, in the device's unit."""
    id: Annotated[int, U32]
    """Number of the scan; it increases."""


@dataclass(frozen=True)
class LaserPosedScan:
    """A scan, and where it was taken."""

    scan: LaserScan
    pose: Pose2d
    """Pose of the laser in the world."""


@dataclass(frozen=True)
class LaserAngledScan:
    """A scan with an angle for each range."""

    max_range: Annotated[float, F32]
    """Maximum range, m."""
    ranges: list[Annotated[float, F32]]
    """Ranges, m."""
    angles: list[Annotated[float, F32]]
    """Angle of each range, rad."""
    intensities: bytes
    """Intensities, in the device's unit."""
    id: Annotated[int, U32]
    """Number of the scan; it increases."""


@dataclass(frozen=True)
class LaserConfig:
    """How a laser scans."""

    min_angle: Annotated[float, F32]
    """First angle, rad."""
    max_angle: Annotated[float, F32]
    """Last angle, rad."""
    resolution: Annotated[float, F32]
    """Angle between two ranges, rad."""
    max_range: Annotated[float, F32]
    """Maximum range, m."""
    range_resolution: Annotated[float, F32]
    """Resolution of the ranges, m."""
    intensity: bool
    """Whether intensities are sent."""
    frequency: Annotated[float, F32]
    """Scans per second, Hz."""


@dataclass(frozen=True)
class LaserFilterSettings:
    """A filter and its parameters."""

    kind: Annotated[Union[LaserFilter, int], Coded(LaserFilter, U8)]
    """Which filter."""
    parameters: list[Annotated[float, F32]]
    """Its parameters, at most MAX_FILTER_PARAMETERS."""


@dataclass(frozen=True)
class BumperState:
    """Which bumpers are pressed."""

    bumpers: bytes
    """One byte per bumper: 0 when it is released; drivers define the other values."""


@dataclass(frozen=True)
class Bumper:
    """A bumper's pose and size."""

    pose: Pose3d
    """Pose in the robot's frame."""
    length: Annotated[float, F32]
    """Length, m."""
    radius: Annotated[float, F32]
    """Radius of its curve; 0: straight, m."""


@dataclass(frozen=True)
class BumperGeometry:
    """Poses and sizes of all bumpers."""

    bumpers: list[Bumper]
    """In the order of the states."""


@dataclass(frozen=True)
class IrRanges:
    """Voltage and range of each sensor."""

    voltages: list[Annotated[float, F32]]
    """Voltages, V."""
    ranges: list[Annotated[float, F32]]
    """Ranges, m."""


@dataclass(frozen=True)
class IrGeometry:
    """Where the sensors are."""

    poses: list[Pose3d]
    """Poses in the robot's frame."""


class ImageFormat(IntEnum):
    """What a pixel consists of."""

    MONO8 = 1
    """One byte: brightness."""
    MONO16 = 2
    """Two bytes, big endian: brightness."""
    RGB565 = 4
    """Two bytes: 5 bits red, 6 green, 5 blue."""
    RGB888 = 5
    """Three bytes: red, green, blue."""


class ImageCompression(IntEnum):
    """How the image's data is compressed."""

    RAW = 0
    """It is not: rows from the top, without padding."""
    JPEG = 1
    """As a JPEG file."""


@dataclass(frozen=True)
class Image:
    """One picture of the camera, raw or compressed."""

    width: Annotated[int, U32]
    """Pixels in a row."""
    height: Annotated[int, U32]
    """Rows."""
    bits: Annotated[int, U32]
    """Bits of a pixel: 8, 16, 24 or 32."""
    format: Annotated[Union[ImageFormat, int], Coded(ImageFormat, U32)]
    """What a pixel consists of."""
    divisor: Annotated[int, U32]
    """The value that a pixel is divided by; disparity images use it."""
    compression: Annotated[Union[ImageCompression, int], Coded(ImageCompression, U32)]
    """How `data` is compressed."""
    data: bytes
    """The pixels, or the compressed image."""


@dataclass(frozen=True)
class ImageSource:
    """An input of a device with several."""

    norm: str
    """Television standard: `NTSC`, `PAL`, `SECAM` or `UNKNOWN`."""
    source: Annotated[int, I32]
    """Number of the input."""


class ImuDataKind(IntEnum):
    """The data that is sent."""

    STATE = 1
    """STATE."""
    CALIBRATED = 2
    """CALIBRATED."""
    QUATERNION = 3
    """QUATERNION."""
    EULER = 4
    """EULER."""


@dataclass(frozen=True)
class Vector:
    """A vector of three measured values."""

    x: Annotated[float, F32]
    """Along x."""
    y: Annotated[float, F32]
    """Along y."""
    z: Annotated[float, F32]
    """Along z."""


@dataclass(frozen=True)
class ImuCalibrated:
    """What is measured, in the device's frame."""

    acceleration: Vector
    """Acceleration, m/s^2."""
    angular_velocity: Vector
    """Angular velocity, rad/s."""
    magnetic_field: Vector
    """Magnetic field, in the device's unit."""


@dataclass(frozen=True)
class ImuQuaternion:
    """What is measured, and the orientation as a quaternion."""

    calibrated: ImuCalibrated
    """What is measured."""
    orientation: Annotated[tuple[float, ...], Repeat(F32, 4)]
    """The orientation; the real part comes first."""


@dataclass(frozen=True)
class ImuEuler:
    """What is measured, and the orientation as angles."""

    calibrated: ImuCalibrated
    """What is measured."""
    orientation: Orientation3d
    """The orientation, rad."""


@dataclass(frozen=True)
class ImuFullState:
    """Pose, velocity and acceleration."""

    pose: Pose3d
    """Pose, m and rad."""
    velocity: Pose3d
    """Velocity, m/s and rad/s."""
    acceleration: Pose3d
    """Acceleration, m/s^2 and rad/s^2."""


@dataclass(frozen=True)
class RangerConfig:
    """How a device measures. Values that a device does not have are 0."""

    min_angle: Annotated[float, F64]
    """First angle, rad."""
    max_angle: Annotated[float, F64]
    """Last angle, rad."""
    angular_resolution: Annotated[float, F64]
    """Angle between two ranges, rad."""
    min_range: Annotated[float, F64]
    """Minimum range, m."""
    max_range: Annotated[float, F64]
    """Maximum range, m."""
    range_resolution: Annotated[float, F64]
    """Resolution of the ranges, m."""
    frequency: Annotated[float, F64]
    """Scans per second, Hz."""


@dataclass(frozen=True)
class RangerGeometry:
    """Poses and sizes."""

    pose: Pose3d
    """Pose of the device in the robot's frame."""
    size: Size3d
    """Size of the device, m."""
    element_poses: list[Pose3d]
    """Pose of each element in the device's frame."""
    element_sizes: list[Size3d]
    """Size of each element, m."""


@dataclass(frozen=True)
class RangerRanges:
    """One distance per element, in their order."""

    ranges: list[Annotated[float, F64]]
    """Ranges, m."""


@dataclass(frozen=True)
class RangerStampedRanges:
    """Ranges, and how they were measured."""

    ranges: RangerRanges
    has_geometry: bool
    """Whether `geometry` means something."""
    geometry: RangerGeometry
    """Geometry at the time."""
    has_config: bool
    """Whether `config` means something."""
    config: RangerConfig
    """Configuration at the time."""


@dataclass(frozen=True)
class RangerIntensities:
    """One reflected intensity per element, in their order."""

    intensities: list[Annotated[float, F64]]
    """Intensities, in the device's unit."""


@dataclass(frozen=True)
class RangerStampedIntensities:
    """Intensities, and how they were measured."""

    intensities: RangerIntensities
    has_geometry: bool
    """Whether `geometry` means something."""
    geometry: RangerGeometry
    """Geometry at the time."""
    has_config: bool
    """Whether `config` means something."""
    config: RangerConfig
    """Configuration at the time."""
