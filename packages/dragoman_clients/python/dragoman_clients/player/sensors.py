"""The tables of requests of sensors. The rules are those of :mod:`.commands`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from .. import checks
from ..core import Request
from ..errors import BadArgument
from . import readings as r
from . import structures as s
from .commands import add_interface, ask
from .wire import F32, I32, REQUEST, U8, U32


def _few(values: Sequence[float], what: str, maximum: int) -> list[float]:
    found = checks.numbers(values, what)
    if len(found) > maximum:
        raise BadArgument(f"{what} must have at most {maximum} numbers, not {len(found)}")
    return found


# sonar: ultrasonic sensors

SONAR = add_interface(5, "sonar", {1: ("ranges", r.SonarRanges), 2: ("geometry_changed", r.SonarGeometry)})


@SONAR.message(REQUEST, 1)
def sonar_get_geometry() -> Request[r.SonarGeometry]:
    """Poses of the sensors."""
    return ask(SONAR, 1, "get_geometry", r.SonarGeometry)


@SONAR.message(REQUEST, 2)
def sonar_set_power(on: bool) -> Request[None]:
    """Sensors on or off.

    on: on or off
    """
    return ask(SONAR, 2, "set_power", None, ("on", bool, on))


# laser: a scanner, by the interface before ranger

LASER = add_interface(
    6, "laser", {1: ("scan", r.LaserScan), 2: ("posed_scan", r.LaserPosedScan), 3: ("angled_scan", r.LaserAngledScan)}
)


@LASER.message(REQUEST, 1)
def laser_get_geometry() -> Request[s.Geometry]:
    """Pose and size."""
    return ask(LASER, 1, "get_geometry", s.Geometry)


@LASER.message(REQUEST, 2)
def laser_set_config(
    min_angle: float,
    max_angle: float,
    resolution: float,
    max_range: float,
    range_resolution: float = 0.0,
    intensity: bool = False,
    frequency: float = 0.0,
) -> Request[r.LaserConfig]:
    """Change the configuration; returns the one in effect.

    min_angle: rad
    max_angle: rad
    resolution: angle between two ranges, rad
    max_range: m
    range_resolution: m
    intensity: whether intensities are sent
    frequency: Hz
    """
    return ask(
        LASER,
        2,
        "set_config",
        r.LaserConfig,
        (
            "config",
            r.LaserConfig,
            r.LaserConfig(min_angle, max_angle, resolution, max_range, range_resolution, intensity, frequency),
        ),
    )


@LASER.message(REQUEST, 3)
def laser_get_config() -> Request[r.LaserConfig]:
    """The configuration."""
    return ask(LASER, 3, "get_config", r.LaserConfig)


@LASER.message(REQUEST, 4)
def laser_set_power(on: bool) -> Request[None]:
    """Laser on or off.

    on: on or off
    """
    return ask(LASER, 4, "set_power", None, ("on", bool, on))


@LASER.message(REQUEST, 5)
def laser_get_id() -> Request[int]:
    """Serial number."""
    return ask(LASER, 5, "get_id", U32)


@LASER.message(REQUEST, 6)
def laser_set_filter(kind: r.LaserFilter, parameters: Sequence[float] = ()) -> Request[None]:
    """Filter of the device.

    kind: the filter
    parameters: its parameters, at most eight
    """
    return ask(
        LASER,
        6,
        "set_filter",
        None,
        ("kind", U8, int(checks.code(kind, r.LaserFilter, "kind"))),
        ("parameters", list[F32], _few(parameters, "parameters", 8)),
    )


# bumper: bumpers

BUMPER = add_interface(14, "bumper", {1: ("state", r.BumperState), 2: ("geometry_changed", r.BumperGeometry)})


@BUMPER.message(REQUEST, 1)
def bumper_get_geometry() -> Request[r.BumperGeometry]:
    """Poses and sizes."""
    return ask(BUMPER, 1, "get_geometry", r.BumperGeometry)


# ir: infrared sensors

IR = add_interface(22, "ir", {1: ("ranges", r.IrRanges)})


@IR.message(REQUEST, 1)
def ir_get_geometry() -> Request[r.IrGeometry]:
    """Poses of the sensors."""
    return ask(IR, 1, "get_geometry", r.IrGeometry)


@IR.message(REQUEST, 2)
def ir_set_power(on: bool) -> Request[None]:
    """Sensors on or off.

    on: on or off
    """
    return ask(IR, 2, "set_power", None, ("on", bool, on))


# camera: a camera

CAMERA = add_interface(40, "camera", {1: ("image", r.Image)})


@CAMERA.message(REQUEST, 1)
def camera_get_source() -> Request[r.ImageSource]:
    """The input in use."""
    return ask(CAMERA, 1, "get_source", r.ImageSource)


@CAMERA.message(REQUEST, 2)
def camera_set_source(norm: str, source: int) -> Request[None]:
    """Choose the input.

    norm: video norm
    source: number of the input
    """
    return ask(CAMERA, 2, "set_source", None, ("norm", str, norm), ("source", I32, source))


@CAMERA.message(REQUEST, 3)
def camera_get_image() -> Request[r.Image]:
    """An image now."""
    return ask(CAMERA, 3, "get_image", r.Image)


# imu: an inertial measurement unit

IMU = add_interface(
    60,
    "imu",
    {
        1: ("state", s.Pose3d),
        2: ("calibrated", r.ImuCalibrated),
        3: ("quaternion", r.ImuQuaternion),
        4: ("euler", r.ImuEuler),
        5: ("full_state", r.ImuFullState),
    },
)


@IMU.message(REQUEST, 1)
def imu_set_data_kind(kind: r.ImuDataKind) -> Request[None]:
    """Choose the data that is sent.

    kind: the data
    """
    return ask(IMU, 1, "set_data_kind", None, ("kind", U8, int(checks.code(kind, r.ImuDataKind, "kind"))))


@IMU.message(REQUEST, 2)
def imu_reset_orientation(value: int = 0) -> Request[None]:
    """Reset the orientation.

    value: defined by the driver
    """
    return ask(IMU, 2, "reset_orientation", None, ("value", U32, value))


@IMU.message(REQUEST, 3)
def imu_reset_euler(pose: Union[s.Pose3d, tuple[float, float, float, float, float, float]]) -> Request[None]:
    """Set the orientation.

    pose: x, y, z, roll, pitch and yaw
    """
    return ask(IMU, 3, "reset_euler", None, ("pose", s.Pose3d, s.pose3d(pose, "pose")))


# ranger: range sensors

RANGER = add_interface(
    62,
    "ranger",
    {
        1: ("ranges", r.RangerRanges),
        2: ("stamped_ranges", r.RangerStampedRanges),
        3: ("intensities", r.RangerIntensities),
        4: ("stamped_intensities", r.RangerStampedIntensities),
        5: ("geometry_changed", r.RangerGeometry),
    },
)


@RANGER.message(REQUEST, 1)
def ranger_get_geometry() -> Request[r.RangerGeometry]:
    """Poses and sizes."""
    return ask(RANGER, 1, "get_geometry", r.RangerGeometry)


@RANGER.message(REQUEST, 2)
def ranger_set_power(on: bool) -> Request[None]:
    """Sensors on or off.

    on: on or off
    """
    return ask(RANGER, 2, "set_power", None, ("on", bool, on))


@RANGER.message(REQUEST, 3)
def ranger_send_intensities(on: bool) -> Request[None]:
    """Whether intensities are sent.

    on: on or off
    """
    return ask(RANGER, 3, "send_intensities", None, ("on", bool, on))


@RANGER.message(REQUEST, 4)
def ranger_set_config(
    min_angle: float,
    max_angle: float,
    angular_resolution: float,
    min_range: float,
    max_range: float,
    range_resolution: float = 0.0,
    frequency: float = 0.0,
) -> Request[r.RangerConfig]:
    """Change the configuration; returns the one in effect.

    min_angle: rad
    max_angle: rad
    angular_resolution: rad
    min_range: m
    max_range: m
    range_resolution: m
    frequency: Hz
    """
    return ask(
        RANGER,
        4,
        "set_config",
        r.RangerConfig,
        (
            "config",
            r.RangerConfig,
            r.RangerConfig(min_angle, max_angle, angular_resolution, min_range, max_range, range_resolution, frequency),
        ),
    )


@RANGER.message(REQUEST, 5)
def ranger_get_config() -> Request[r.RangerConfig]:
    """The configuration."""
    return ask(RANGER, 5, "get_config", r.RangerConfig)
