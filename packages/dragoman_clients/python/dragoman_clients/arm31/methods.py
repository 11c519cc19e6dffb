"""The commands as methods. Written by make_methods.py."""

from __future__ import annotations

from ..asynchronous import asynchronous
from ..blocking import blocking
from . import commands


class Methods:
    """What a client sends."""

    begin_motion = blocking(commands.begin_motion)
    set_command_mode = blocking(commands.set_command_mode)
    set_goal_pose = blocking(commands.set_goal_pose)
    set_timed_goal_pose = blocking(commands.set_timed_goal_pose)
    begin_joint_motion = blocking(commands.begin_joint_motion)
    clear_joint_via_points = blocking(commands.clear_joint_via_points)
    execute_joint_via_points = blocking(commands.execute_joint_via_points)
    set_joint_goal = blocking(commands.set_joint_goal)
    joint_positions = blocking(commands.joint_positions)
    reset_joint_motion = blocking(commands.reset_joint_motion)
    set_joint_via_point = blocking(commands.set_joint_via_point)
    disable = blocking(commands.disable)
    enable = blocking(commands.enable)
    pose = blocking(commands.pose)
    recalibrate = blocking(commands.recalibrate)
    stop = blocking(commands.stop)
    temperatures = blocking(commands.temperatures)
    clear_via_points = blocking(commands.clear_via_points)
    execute_via_points = blocking(commands.execute_via_points)
    set_via_point = blocking(commands.set_via_point)


class AsyncMethods:
    """What a client sends."""

    begin_motion = asynchronous(commands.begin_motion)
    set_command_mode = asynchronous(commands.set_command_mode)
    set_goal_pose = asynchronous(commands.set_goal_pose)
    set_timed_goal_pose = asynchronous(commands.set_timed_goal_pose)
    begin_joint_motion = asynchronous(commands.begin_joint_motion)
    clear_joint_via_points = asynchronous(commands.clear_joint_via_points)
    execute_joint_via_points = asynchronous(commands.execute_joint_via_points)
    set_joint_goal = asynchronous(commands.set_joint_goal)
    joint_positions = asynchronous(commands.joint_positions)
    reset_joint_motion = asynchronous(commands.reset_joint_motion)
    set_joint_via_point = asynchronous(commands.set_joint_via_point)
    disable = asynchronous(commands.disable)
    enable = asynchronous(commands.enable)
    pose = asynchronous(commands.pose)
    recalibrate = asynchronous(commands.recalibrate)
    stop = asynchronous(commands.stop)
    temperatures = asynchronous(commands.temperatures)
    clear_via_points = asynchronous(commands.clear_via_points)
    execute_via_points = asynchronous(commands.execute_via_points)
    set_via_point = asynchronous(commands.set_via_point)
