"""Clients of Apolo's protocol."""

from __future__ import annotations

from ..asynchronous import AsyncClient, asynchronous
from ..blocking import Client, blocking
from . import commands
from .wire import ApoloCore

DEFAULT_PORT = 12000
DEFAULT_TIMEOUT = 5.0


class Apolo(Client):
    """A connection to Apolo, or to a server of its protocol.

    The original does not answer questions about unknown names: they end in :class:`Timeout`. Dragoman's server answers
    them: :class:`Refused`. ``size_base`` 255 is for servers before 2018, as in the manual's annex.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        size_base: int = 256,
    ) -> None:
        super().__init__(ApoloCore(size_base), host, port, timeout)

    check_robot_joints = blocking(commands.check_robot_joints)
    get_allultrasonic_sensors = blocking(commands.get_allultrasonic_sensors)
    get_laser_data = blocking(commands.get_laser_data)
    get_laser_land_marks = blocking(commands.get_laser_land_marks)
    get_location = blocking(commands.get_location)
    get_location_m_robot = blocking(commands.get_location_m_robot)
    get_odometry = blocking(commands.get_odometry)
    get_ultrasonic_sensor = blocking(commands.get_ultrasonic_sensor)
    link_to_robot_tcp = blocking(commands.link_to_robot_tcp)
    move_m_robot = blocking(commands.move_m_robot)
    move_m_robot_unanswered = blocking(commands.move_m_robot_unanswered)
    place = blocking(commands.place)
    place_m_robot = blocking(commands.place_m_robot)
    place_xyz = blocking(commands.place_xyz)
    reset_odometry = blocking(commands.reset_odometry)
    set_robot_joints = blocking(commands.set_robot_joints)
    update = blocking(commands.update)


class AsyncApolo(AsyncClient):
    """As :class:`Apolo`, with coroutines."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        size_base: int = 256,
    ) -> None:
        super().__init__(ApoloCore(size_base), host, port, timeout)

    check_robot_joints = asynchronous(commands.check_robot_joints)
    get_allultrasonic_sensors = asynchronous(commands.get_allultrasonic_sensors)
    get_laser_data = asynchronous(commands.get_laser_data)
    get_laser_land_marks = asynchronous(commands.get_laser_land_marks)
    get_location = asynchronous(commands.get_location)
    get_location_m_robot = asynchronous(commands.get_location_m_robot)
    get_odometry = asynchronous(commands.get_odometry)
    get_ultrasonic_sensor = asynchronous(commands.get_ultrasonic_sensor)
    link_to_robot_tcp = asynchronous(commands.link_to_robot_tcp)
    move_m_robot = asynchronous(commands.move_m_robot)
    move_m_robot_unanswered = asynchronous(commands.move_m_robot_unanswered)
    place = asynchronous(commands.place)
    place_m_robot = asynchronous(commands.place_m_robot)
    place_xyz = asynchronous(commands.place_xyz)
    reset_odometry = asynchronous(commands.reset_odometry)
    set_robot_joints = asynchronous(commands.set_robot_joints)
    update = asynchronous(commands.update)
