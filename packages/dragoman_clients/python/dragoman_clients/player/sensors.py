"""The tables of requests of sensors. The rules are those of :mod:`.commands`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from .. import checks
from ..core import Request
from ..errors import BadArgument
from . import messages as m
from . import readings as r
from . import structures as s
from .arguments import pose3d
from .messages import *  # noqa: F403


def _few(values: Sequence[float], what: str, maximum: int) -> list[float]:
    found = checks.numbers(values, what)
    if len(found) > maximum:
        raise BadArgument(f"{what} must have at most {maximum} numbers, not {len(found)}")
    return found


# sonar: ultrasonic sensors


@m.SONAR_POWER.function
def sonar_set_power(on: bool) -> Request[None]:
    """Sensors on or off.

    on: on or off
    """
    return m.SONAR_POWER(on)


# laser: a scanner, by the interface before ranger


@m.LASER_SET_CONFIG.function
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
    return m.LASER_SET_CONFIG(
        r.LaserConfig(min_angle, max_angle, resolution, max_range, range_resolution, intensity, frequency)
    )


@m.LASER_POWER.function
def laser_set_power(on: bool) -> Request[None]:
    """Laser on or off.

    on: on or off
    """
    return m.LASER_POWER(on)


@m.LASER_SET_FILTER.function
def laser_set_filter(kind: r.LaserFilter, parameters: Sequence[float] = ()) -> Request[None]:
    """Filter of the device.

    kind: the filter
    parameters: its parameters, at most eight
    """
    return m.LASER_SET_FILTER(
        r.LaserFilterSettings(
            int(checks.code(kind, r.LaserFilter, "kind")), _few(parameters, "parameters", r.LASER_MAX_FILTER_PARAMETERS)
        )
    )


# ir: infrared sensors


@m.IR_POWER.function
def ir_set_power(on: bool) -> Request[None]:
    """Sensors on or off.

    on: on or off
    """
    return m.IR_POWER(on)


# camera: a camera


@m.CAMERA_SET_SOURCE.function
def camera_set_source(norm: str, source: int) -> Request[None]:
    """Choose the input.

    norm: video norm
    source: number of the input
    """
    return m.CAMERA_SET_SOURCE(r.ImageSource(norm, source))


# imu: an inertial measurement unit


@m.IMU_SET_DATA_KIND.function
def imu_set_data_kind(kind: r.ImuDataKind) -> Request[None]:
    """Choose the data that is sent.

    kind: the data
    """
    return m.IMU_SET_DATA_KIND(int(checks.code(kind, r.ImuDataKind, "kind")))


@m.IMU_RESET_ORIENTATION.function
def imu_reset_orientation(value: int = 0) -> Request[None]:
    """Reset the orientation.

    value: defined by the driver
    """
    return m.IMU_RESET_ORIENTATION(value)


@m.IMU_RESET_EULER.function
def imu_reset_euler(pose: Union[s.Pose3d, tuple[float, float, float, float, float, float]]) -> Request[None]:
    """Set the orientation.

    pose: x, y, z, roll, pitch and yaw
    """
    return m.IMU_RESET_EULER(pose3d(pose, "pose"))


# ranger: range sensors


@m.RANGER_POWER.function
def ranger_set_power(on: bool) -> Request[None]:
    """Sensors on or off.

    on: on or off
    """
    return m.RANGER_POWER(on)


@m.RANGER_SEND_INTENSITIES.function
def ranger_send_intensities(on: bool) -> Request[None]:
    """Whether intensities are sent.

    on: on or off
    """
    return m.RANGER_SEND_INTENSITIES(on)


@m.RANGER_SET_CONFIG.function
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
    return m.RANGER_SET_CONFIG(
        r.RangerConfig(min_angle, max_angle, angular_resolution, min_range, max_range, range_resolution, frequency)
    )
