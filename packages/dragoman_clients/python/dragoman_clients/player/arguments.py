"""Poses and points as arguments: a structure, or its numbers."""

from __future__ import annotations

from typing import Any

from ..errors import BadArgument
from .structures import Orientation3d, Point3d, Pose2d, Pose3d


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
