"""The commands as methods. Written by make_methods.py."""

from __future__ import annotations

from ..asynchronous import asynchronous
from ..blocking import blocking
from . import commands


class Methods:
    """What a client sends."""

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


class AsyncMethods:
    """What a client sends."""

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
