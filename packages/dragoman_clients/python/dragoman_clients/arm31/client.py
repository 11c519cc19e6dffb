"""Clients of the 31-byte protocol."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ..asynchronous import AsyncDatagramClient, asynchronous
from ..blocking import DatagramClient, blocking
from . import commands
from .wire import Arm31Core, Notice

DEFAULT_PORT = 5031
DEFAULT_TIMEOUT = 6.0
DEFAULT_REPEAT_INTERVAL = 0.5


class Arm31(DatagramClient):
    """A controller of the Ranger arm, or a server of its protocol.

    Errors that a command causes are raised as :class:`Refused`. Errors and warnings of a running motion are notices:
    the controller sends them to every client that it has heard of lately. ``recalibrate_unanswered`` is for the
    original controller, which never answers RC.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        repeat_interval: float = DEFAULT_REPEAT_INTERVAL,
        recalibrate_unanswered: bool = False,
    ) -> None:
        super().__init__(Arm31Core(), host, port, timeout, repeat_interval)
        self.recalibrate_unanswered = recalibrate_unanswered

    def wait_notices(self, seconds: float) -> list[Notice]:
        """Notices that have come; waits for the first one. An empty list after ``seconds``."""
        return self._wait_events(seconds)

    def recalibrate(self, joints: Sequence[float]) -> None:
        """RC: declare the present joint angles."""
        request = commands.recalibrate(joints)
        self._run(dataclasses.replace(request, answered=not self.recalibrate_unanswered))

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
    stop = blocking(commands.stop)
    temperatures = blocking(commands.temperatures)
    clear_via_points = blocking(commands.clear_via_points)
    execute_via_points = blocking(commands.execute_via_points)
    set_via_point = blocking(commands.set_via_point)


class AsyncArm31(AsyncDatagramClient):
    """As :class:`Arm31`, with coroutines."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        repeat_interval: float = DEFAULT_REPEAT_INTERVAL,
        recalibrate_unanswered: bool = False,
    ) -> None:
        super().__init__(Arm31Core(), host, port, timeout, repeat_interval)
        self.recalibrate_unanswered = recalibrate_unanswered

    async def wait_notices(self, seconds: float) -> list[Notice]:
        """Notices that have come; waits for the first one. An empty list after ``seconds``."""
        return await self._wait_events(seconds)

    async def recalibrate(self, joints: Sequence[float]) -> None:
        """RC: declare the present joint angles."""
        request = commands.recalibrate(joints)
        await self._run(dataclasses.replace(request, answered=not self.recalibrate_unanswered))

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
    stop = asynchronous(commands.stop)
    temperatures = asynchronous(commands.temperatures)
    clear_via_points = asynchronous(commands.clear_via_points)
    execute_via_points = asynchronous(commands.execute_via_points)
    set_via_point = asynchronous(commands.set_via_point)
