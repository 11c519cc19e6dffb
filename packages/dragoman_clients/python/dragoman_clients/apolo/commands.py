"""The table of commands: Apolo's functions (Apolo port manual, and what its users' programs call beyond it)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable, TypeVar

from .. import checks
from ..core import Request, nothing
from ..errors import BadArgument, BadReply
from ..table import Table
from .wire import MAX_JOINTS, doubles, expect, name

T = TypeVar("T")

COMMANDS = Table()

_UNKNOWN = "the name may be unknown"


@dataclass(frozen=True)
class Location:
    """Position and orientation in the frame of the world; m and rad."""

    x: float
    y: float
    z: float
    roll: float
    pitch: float
    yaw: float


@dataclass(frozen=True)
class RobotLocation:
    """Position and heading of a wheeled robot in the frame of the world; m and rad."""

    x: float
    y: float
    z: float
    yaw: float


@dataclass(frozen=True)
class Odometry:
    """Odometry of a wheeled robot; m and rad."""

    x: float
    y: float
    yaw: float


@dataclass(frozen=True)
class LandMark:
    """A landmark that a laser sees."""

    id: int
    angle: float
    """Counter-clockwise from straight ahead, rad."""
    distance: float
    """m."""


def _request(
    command: str, letter: str, names: list[tuple[str, object]], data: bytes, decode: Callable[[Any], T], answered: bool
) -> Request[T]:
    for what, value in names[1:]:
        if value == "":
            raise BadArgument(f"{what} must not be empty")
    payload = b"".join(name(value, what) for what, value in names) + data
    return Request(command, letter, payload, answered, decode)


def _command(command: str, letter: str, world: str, *names: tuple[str, object], data: bytes = b"") -> Request[None]:
    return _request(command, letter, [("world", world), *names], data, nothing, answered=False)


def _verdict(command: str, letter: str, world: str, *names: tuple[str, object], data: bytes = b"") -> Request[bool]:
    def decode(answer: Any) -> bool:
        if answer[0] not in (b"T", b"F"):
            raise BadReply(f"{command}: the answer is {answer[0].decode()}, not T or F")
        return bool(answer[0] == b"T")

    return _request(command, letter, [("world", world), *names], data, decode, answered=True)


def _values(
    command: str, letter: str, world: str, what: str, value: str, make: Callable[..., T], count: int = -1
) -> Request[T]:
    def decode(answer: Any) -> T:
        values = expect(answer, b"D", command, _UNKNOWN)
        if count >= 0 and len(values) != count:
            raise BadReply(f"{command}: {len(values)} numbers instead of {count}")
        return make(*values)

    return _request(command, letter, [("world", world), (what, value)], b"", decode, answered=True)


def _list(*values: float) -> list[float]:
    return list(values)


def _joints(values: Sequence[float]) -> bytes:
    joints = checks.numbers(values, "values")
    if not 1 <= len(joints) <= MAX_JOINTS:
        raise BadArgument(f"values must have 1 to {MAX_JOINTS} numbers, not {len(joints)}")
    return bytes([len(joints)]) + doubles(joints)


@COMMANDS.command
def check_robot_joints(robot: str, values: Sequence[float], world: str = "") -> Request[bool]:
    """Move the joints of an arm, and tell whether it then collides.

    robot: name of the arm, e.g. Puma560
    values: positions of the first joints, rad or m
    world: name of the world; by default the first world that has it
    """
    return _verdict("check_robot_joints", "j", world, ("robot", robot), data=_joints(values))


@COMMANDS.command
def get_allultrasonic_sensors(robot: str, world: str = "") -> Request[list[float]]:
    """Ranges of all ultrasonic sensors of a robot, m.

    robot: name of the robot, e.g. Marvin
    world: name of the world; by default the first world that has it
    """
    return _values("get_allultrasonic_sensors", "d", world, "robot", robot, _list)


@COMMANDS.command
def get_laser_data(laser: str, world: str = "") -> Request[list[float]]:
    """Ranges of a laser, m, counter-clockwise.

    laser: name of the laser, e.g. LMS100
    world: name of the world; by default the first world that has it
    """
    return _values("get_laser_data", "l", world, "laser", laser, _list)


@COMMANDS.command
def get_laser_land_marks(laser: str, world: str = "") -> Request[list[LandMark]]:
    """Landmarks that a laser sees.

    laser: name of the laser, e.g. LMS100
    world: name of the world; by default the first world that has it
    """

    def decode(answer: Any) -> list[LandMark]:
        return [LandMark(*mark) for mark in expect(answer, b"b", "get_laser_land_marks", _UNKNOWN)]

    return _request("get_laser_land_marks", "B", [("world", world), ("laser", laser)], b"", decode, answered=True)


@COMMANDS.command
def get_location(object: str, world: str = "") -> Request[Location]:
    """Position and orientation of an object or a robot.

    object: name of the object, e.g. pieza
    world: name of the world; by default the first world that has it
    """
    return _values("get_location", "G", world, "object", object, Location, 6)


@COMMANDS.command
def get_location_m_robot(robot: str, world: str = "") -> Request[RobotLocation]:
    """Position and heading of a wheeled robot.

    robot: name of the robot, e.g. Neo
    world: name of the world; by default the first world that has it
    """
    return _values("get_location_m_robot", "g", world, "robot", robot, RobotLocation, 4)


@COMMANDS.command
def get_odometry(robot: str, world: str = "") -> Request[Odometry]:
    """Odometry of a wheeled robot since its last reset.

    robot: name of the robot, e.g. Pioneer3AT
    world: name of the world; by default the first world that has it
    """
    return _values("get_odometry", "o", world, "robot", robot, Odometry, 3)


@COMMANDS.command
def get_ultrasonic_sensor(sensor: str, world: str = "") -> Request[float]:
    """Range of an ultrasonic sensor, m.

    sensor: name of the sensor, e.g. uc0
    world: name of the world; by default the first world that has it
    """
    return _values("get_ultrasonic_sensor", "u", world, "sensor", sensor, float, 1)


@COMMANDS.command
def link_to_robot_tcp(robot: str, object: str, world: str = "") -> Request[None]:
    """Fix an object to the tool of an arm: from now on it moves with it.

    robot: name of the arm, e.g. Puma560
    object: name of the object, e.g. pieza
    world: name of the world; by default the first world that has it
    """
    return _command("link_to_robot_tcp", "L", world, ("robot", robot), ("object", object))


@COMMANDS.command
def move_m_robot(robot: str, speeds: tuple[float, float], time: float, world: str = "") -> Request[bool]:
    """Move a wheeled robot with a velocity for some time. False: it would have collided, and did not move.

    robot: name of the robot, e.g. Neo
    speeds: speed and turn rate, m/s and rad/s
    time: duration, s; with small steps the robot does not jump over obstacles
    world: name of the world; by default the first world that has it
    """
    data = doubles([*checks.numbers(speeds, "speeds", 2), checks.number(time, "time")])
    return _verdict("move_m_robot", "m", world, ("robot", robot), data=data)


@COMMANDS.command
def move_m_robot_unanswered(robot: str, speeds: tuple[float, float], time: float, world: str = "") -> Request[None]:
    """As move_m_robot, for servers of the manual's age, which do not answer it.

    robot: name of the robot, e.g. Neo
    speeds: speed and turn rate, m/s and rad/s
    time: duration, s; with small steps the robot does not jump over obstacles
    world: name of the world; by default the first world that has it
    """
    data = doubles([*checks.numbers(speeds, "speeds", 2), checks.number(time, "time")])
    return _command("move_m_robot_unanswered", "m", world, ("robot", robot), data=data)


@COMMANDS.command
def place(
    object: str,
    position: tuple[float, float, float],
    orientation: tuple[float, float, float] = (0.0, 0.0, 0.0),
    world: str = "",
) -> Request[None]:
    """Place an object, without a check for collisions.

    object: name of the object, e.g. pieza
    position: x, y and z, m
    orientation: roll, pitch and yaw, rad
    world: name of the world; by default the first world that has it
    """
    data = doubles([*checks.numbers(position, "position", 3), *checks.numbers(orientation, "orientation", 3)])
    return _command("place", "P", world, ("object", object), data=data)


@COMMANDS.command
def place_m_robot(robot: str, position: tuple[float, float, float], angle: float, world: str = "") -> Request[bool]:
    """Drop a wheeled robot onto what is below a position. False: it cannot stand there, and was not moved.

    robot: name of the robot, e.g. Neo
    position: x, y and z, m
    angle: heading, rad
    world: name of the world; by default the first world that has it
    """
    data = doubles([*checks.numbers(position, "position", 3), checks.number(angle, "angle")])
    return _verdict("place_m_robot", "p", world, ("robot", robot), data=data)


@COMMANDS.command
def place_xyz(object: str, x: float, y: float, z: float, world: str = "") -> Request[None]:
    """Place an object upright, without a check for collisions.

    object: name of the object, e.g. pieza
    x: position, m
    y: position, m
    z: position, m
    world: name of the world; by default the first world that has it
    """
    data = doubles([checks.number(x, "x"), checks.number(y, "y"), checks.number(z, "z"), 0.0, 0.0, 0.0])
    return _command("place_xyz", "P", world, ("object", object), data=data)


@COMMANDS.command
def reset_odometry(robot: str, pose: tuple[float, float, float] = (0.0, 0.0, 0.0), world: str = "") -> Request[None]:
    """Reset the odometry of a wheeled robot to a pose.

    robot: name of the robot, e.g. Pioneer3AT
    pose: x, y and heading, m and rad
    world: name of the world; by default the first world that has it
    """
    return _command("reset_odometry", "R", world, ("robot", robot), data=doubles(checks.numbers(pose, "pose", 3)))


@COMMANDS.command
def set_robot_joints(robot: str, values: Sequence[float], world: str = "") -> Request[None]:
    """Move the joints of an arm, without a check for collisions.

    robot: name of the arm, e.g. Puma560
    values: positions of the first joints, rad or m
    world: name of the world; by default the first world that has it
    """
    return _command("set_robot_joints", "J", world, ("robot", robot), data=_joints(values))


@COMMANDS.command
def update(world: str = "") -> Request[None]:
    """Update the display of a world.

    world: name of the world; by default all worlds
    """
    return _command("update", "U", world)
