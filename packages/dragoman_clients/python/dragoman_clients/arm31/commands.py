"""The table of commands (Ranger thesis, appendix A). Lengths in m, angles in rad, times in s.

Repeated are only requests of which a late second copy can do no harm: not those that start a motion, nor ON, CM and RC.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Callable, Optional, TypeVar

from .. import checks
from ..core import Request, nothing
from ..errors import BadArgument, Refused
from ..table import Table
from .wire import datagram

T = TypeVar("T")

COMMANDS = Table()

_ONCE = frozenset(["BG", "jB", "jE", "VE", "ON", "CM", "RC"])
# The value of absent drives.
_ABSENT = -1000.0


class CommandMode(IntEnum):
    """Where commands for the joints come from."""

    OFF = 0
    JOINT = 1
    CARTESIAN = 2


@dataclass(frozen=True)
class Pose:
    """Pose of the tool in the arm's base frame."""

    position: tuple[float, float, float]
    """m."""
    quaternion: tuple[float, float, float, float]
    """x, y, z, w."""


def _request(
    name: str,
    letters: str,
    values: Sequence[float] = (),
    index: int = 0,
    decode: Callable[[Any], T] = nothing,  # type: ignore[assignment]
) -> Request[T]:
    return Request(name, letters, datagram(letters, values, index), True, decode, letters not in _ONCE)


def _singles(values: Sequence[float], what: str, count: int) -> list[float]:
    return [checks.single(one, f"{what}[{place}]") for place, one in enumerate(checks.numbers(values, what, count))]


def _duration(value: float) -> float:
    if checks.single(value, "min_duration") < 0:
        raise BadArgument(f"min_duration must not be negative, not {value!r}")
    return value


@COMMANDS.command
def begin_motion() -> Request[None]:
    """BG: begin the motion to the Cartesian goal."""
    return _request("begin_motion", "BG")


@COMMANDS.command
def set_command_mode(mode: CommandMode) -> Request[CommandMode]:
    """CM: switch the command mode, and return the mode in force. Refused: it is another one.

    mode: off, joint or cartesian
    """
    wanted = checks.code(mode, CommandMode, "mode")

    def decode(values: Any) -> CommandMode:
        if values[0] != wanted:
            raise Refused("MC", f"MC {values[0]:g}", f"the mode is not {wanted.name} but {values[0]:g}")
        return wanted

    return _request("set_command_mode", "CM", [float(wanted)], decode=decode)


@COMMANDS.command
def set_goal_pose(position: tuple[float, float, float], quaternion: tuple[float, float, float, float]) -> Request[None]:
    """GL: Cartesian goal.

    position: x, y and z, m
    quaternion: x, y, z and w; not zero, normalized by the controller
    """
    turn = _singles(quaternion, "quaternion", 4)
    if math.sqrt(sum(one * one for one in turn)) < 1e-6:
        raise BadArgument("quaternion must not be zero")
    return _request("set_goal_pose", "GL", [*_singles(position, "position", 3), *turn])


@COMMANDS.command
def set_timed_goal_pose(
    position: tuple[float, float, float], rpy: tuple[float, float, float], min_duration: float = 0.0
) -> Request[None]:
    """GT: Cartesian goal with a minimum duration.

    position: x, y and z, m
    rpy: roll, pitch and yaw, rad
    min_duration: minimum duration of the motion, s
    """
    values = [*_singles(position, "position", 3), *_singles(rpy, "rpy", 3), _duration(min_duration)]
    return _request("set_timed_goal_pose", "GT", values)


@COMMANDS.command
def begin_joint_motion() -> Request[None]:
    """jB: begin the motion to the joint goal."""
    return _request("begin_joint_motion", "jB")


@COMMANDS.command
def clear_joint_via_points() -> Request[None]:
    """jC: clear the joint via points."""
    return _request("clear_joint_via_points", "jC")


@COMMANDS.command
def execute_joint_via_points() -> Request[None]:
    """jE: execute the joint via points."""
    return _request("execute_joint_via_points", "jE")


@COMMANDS.command
def set_joint_goal(joints: Sequence[float]) -> Request[None]:
    """jG: joint goal.

    joints: six angles, rad
    """
    return _request("set_joint_goal", "jG", _singles(joints, "joints", 6))


@COMMANDS.command
def joint_positions() -> Request[list[float]]:
    """jP: measured joint positions, rad; seven numbers, those of missing joints are 0."""
    return _request("joint_positions", "jP", decode=list)


@COMMANDS.command
def reset_joint_motion() -> Request[None]:
    """jR: reset the generator of joint motions."""
    return _request("reset_joint_motion", "jR")


@COMMANDS.command
def set_joint_via_point(index: int, joints: Sequence[float], min_duration: float = 0.0) -> Request[None]:
    """jV: joint via point.

    index: its number, from 0
    joints: six angles, rad
    min_duration: minimum duration of the motion to it, s
    """
    values = [*_singles(joints, "joints", 6), _duration(min_duration)]
    return _request("set_joint_via_point", "jV", values, checks.integer(index, "index", 0, 255))


@COMMANDS.command
def disable() -> Request[None]:
    """OF: disable the arm."""
    return _request("disable", "OF")


@COMMANDS.command
def enable() -> Request[None]:
    """ON: enable the arm."""
    return _request("enable", "ON")


@COMMANDS.command
def pose() -> Request[Pose]:
    """PS: measured pose of the tool."""

    def decode(values: Any) -> Pose:
        x, y, z, qx, qy, qz, qw = values
        return Pose((x, y, z), (qx, qy, qz, qw))

    return _request("pose", "PS", decode=decode)


@COMMANDS.command
def recalibrate(joints: Sequence[float]) -> Request[None]:
    """RC: declare the present joint angles.

    joints: six angles, rad
    """
    return _request("recalibrate", "RC", _singles(joints, "joints", 6))


@COMMANDS.command
def stop() -> Request[None]:
    """ST: stop."""
    return _request("stop", "ST")


@COMMANDS.command
def temperatures() -> Request[list[Optional[float]]]:
    """TM: temperatures of the drives, degrees Celsius; seven, None where there is no drive."""

    def decode(values: Any) -> list[Optional[float]]:
        return [None if value <= _ABSENT else value for value in values]

    return _request("temperatures", "TM", decode=decode)


@COMMANDS.command
def clear_via_points() -> Request[None]:
    """VC: clear the Cartesian via points."""
    return _request("clear_via_points", "VC")


@COMMANDS.command
def execute_via_points() -> Request[None]:
    """VE: execute the Cartesian via points."""
    return _request("execute_via_points", "VE")


@COMMANDS.command
def set_via_point(
    index: int, position: tuple[float, float, float], rpy: tuple[float, float, float], min_duration: float = 0.0
) -> Request[None]:
    """VP: Cartesian via point.

    index: its number, from 0
    position: x, y and z, m
    rpy: roll, pitch and yaw, rad
    min_duration: minimum duration of the motion to it, s
    """
    values = [*_singles(position, "position", 3), *_singles(rpy, "rpy", 3), _duration(min_duration)]
    return _request("set_via_point", "VP", values, checks.integer(index, "index", 0, 255))
