"""The remote mode of programs (PlatformCtrl guide, 4.5): this computer executes a program, and commands the platform.

Without I/O and clock: the inputs of :class:`TaskInterpreter` are the platform's reports, its outputs are commands. It
carries out programs as Dragoman's platform does: all tasks run from the start, except those that a ``moveto`` names for
errors; a greater priority runs first, and its motions delay those of lower priority.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Optional, Union

from ..core import Request
from ..errors import BadArgument
from . import commands
from .codes import Board
from .documents import (
    Audio,
    BatteryCharge,
    Coordinates,
    Date,
    Delay,
    Detects,
    Event,
    Goto,
    Grab,
    Happens,
    IoEvent,
    Label,
    Load,
    Log,
    Motion,
    MoveCamera,
    MoveTo,
    Program,
    RandomDelay,
    SetParameter,
    SetTarget,
    Speak,
    Step,
    Surveillance,
    Task,
    TurnHead,
    UserEvent,
    Wait,
)
from .motion import MotionWatch, Report
from .replies import Cluster, DebugData, Status

MAX_STEPS = 1000
"""Most steps of a task in a cycle: one that loops without waiting continues in the next cycle."""
FOLLOWING_DISTANCE = 0.5
"""Distance from an object that the platform drives to, m."""
RADAR_SPEED = 0.1
"""Speed from which a radar sensor sees something, m/s."""


@dataclass(frozen=True)
class Message:
    """A message of the program, or the reason why a motion has failed."""

    kind: str
    text: str


@dataclass(frozen=True)
class Scan:
    """The program saves a scan under this name."""

    file_name: str


Order = Union[Request[Any], Message, Scan, Load]
"""A command to send, a message to show, a scan to save, documents to send: those of these names."""


@dataclass
class _Running:
    task: Task
    next: Optional[int]
    since: Optional[float] = None
    due: list[Optional[float]] = field(default_factory=list)

    @property
    def priority(self) -> int:
        return self.task.priority or 0


@dataclass
class _Moving:
    """The motion that was commanded last."""

    running: _Running
    on_error: Optional[str]
    since: float
    watch: MotionWatch


@dataclass
class _Inputs:
    """The inputs on which a program's events depend."""

    now: float
    date: datetime
    status: Status
    debug: Optional[DebugData]
    true_parameters: Sequence[str]
    user_events: Sequence[str]
    target_reached: bool
    charge: Optional[float]
    sensors: Sequence[str]


SENSORS = ("front", "left", "rear", "right")
"""Directions of the infrared and radar sensors 1 to 4 of Dragoman's platform."""


def unsupported(
    program: Program, sensors: Sequence[str] = SENSORS, battery: Optional[tuple[float, float]] = None
) -> list[str]:
    """Parts of a program that the protocol does not support."""
    found = []
    for task in program.tasks:
        for step in task.steps:
            where = f"task '{task.name}', line {getattr(step, 'line', 0)}: "
            target = step.action.target if isinstance(step, Motion) and isinstance(step.action, MoveTo) else None
            if target is not None and target.kind == "chargingstation":
                found.append(where + "the protocol does not tell where charging stations are")
            for event in step.events if isinstance(step, Wait) else ():
                if isinstance(event, BatteryCharge) and battery is None:
                    why = "the protocol has the battery's voltage, but not its charge: "
                    found.append(where + why + "give that of the empty and full one")
                elif isinstance(event, Detects) and event.direction not in (None, "1", "2", "3", "4", *sensors):
                    found.append(where + f"no sensor has this direction: use {', '.join(sensors)} or 1 to 4")
    return found


class TaskInterpreter:
    """A program that runs here, and moves a platform elsewhere, in the motion mode automatic.

    program: the program, or its XML
    front: distance from the platform's centre to its front, m
    sensors: directions of the infrared and radar sensors 1 to 4
    battery: voltages of the empty and of the full battery, V; the charge is linear between them
    """

    def __init__(
        self,
        program: Union[Program, str],
        front: float = 0.45,
        sensors: Sequence[str] = SENSORS,
        battery: Optional[tuple[float, float]] = None,
    ) -> None:
        if len(sensors) != 4:
            raise BadArgument(f"sensors: four directions are needed, not {len(sensors)}")
        if battery is not None and not battery[0] < battery[1]:
            raise BadArgument("battery: the voltage of the empty battery must be below that of the full one")
        self._sensors, self._battery = tuple(sensors), battery
        self.program = Program.parse(program) if isinstance(program, str) else program
        faults = self.program.faults() or unsupported(self.program, sensors, battery)
        if faults:
            raise BadArgument("; ".join(faults))
        steps = [step for task in self.program.tasks for step in task.steps]
        targets = [step.action for step in steps if isinstance(step, Motion) and isinstance(step.action, MoveTo)]
        errors = {target.on_error_task for target in targets}
        tasks = [_Running(task, None if task.name in errors else 0) for task in self.program.tasks]
        self._tasks = sorted(tasks, key=lambda running: -running.priority)
        self._front = front
        self._moving: Optional[_Moving] = None
        self._failed: list[_Moving] = []
        """Motions of this cycle that cannot be commanded."""
        self._random = random.Random(1)
        self._events: list[str] = []
        self._has_set = False
        """Whether a parameter was set in this cycle: its value, and what follows from it, are seen in the next one."""
        conditions = {step.condition for step in steps if isinstance(step, Goto) and step.condition is not None}
        self.parameters: list[str] = sorted(key for key in conditions if _constant(key) is None)
        """The parameters whose values :meth:`cycle` needs."""
        events = [event for step in steps if isinstance(step, Wait) for event in step.events]
        kinds = {event.kind for event in events if isinstance(event, Happens)}
        self.needs_debug_data: bool = bool(targets or kinds & {"movingobject", "movingobjects", "person", "ball"})
        """Whether :meth:`cycle` needs the debug data."""

    @property
    def has_ended(self) -> bool:
        """Whether all tasks and the last motion have ended."""
        return self._moving is None and all(running.next is None for running in self._tasks)

    @property
    def moving_task(self) -> Optional[str]:
        """The task whose motion is under way."""
        return None if self._moving is None else self._moving.running.task.name

    def running(self) -> list[tuple[str, int]]:
        """The tasks that have not ended, the most urgent first, each with its step, from 0."""
        return [(running.task.name, running.next) for running in self._tasks if running.next is not None]

    def raise_event(self, id: str) -> None:
        """Raises a user event: for the tasks that wait for it in the next cycle."""
        self._events.append(id)

    def cycle(
        self,
        now: float,
        status: Status,
        debug: Optional[DebugData] = None,
        true_parameters: Sequence[str] = (),
        date: Optional[datetime] = None,
    ) -> list[Order]:
        """Runs every task until it waits or ends; returns what to do, in order.

        now: time, s
        status: asked for after the last cycle's commands
        debug: the debug data, if they are needed
        true_parameters: those of ``parameters`` that are true
        date: date and time, UTC; by default no date is reached
        """
        orders: list[Order] = []
        target_reached = status.is_target_reached
        if self._moving is not None:
            moving = self._moving
            report = moving.watch.report(now, status)
            target_reached = report is Report.REACHED
            if report is not Report.UNDER_WAY:
                self._moving = None
            if report is Report.FAILED:
                self._start_error_task(moving)
                orders.append(_failure(f"the planner reports {status.planner_state}"))
        events, self._events = self._events, []
        date = date or datetime.min
        charge = self._charge(status)
        seen = _Inputs(now, date, status, debug, true_parameters, events, target_reached, charge, self._sensors)
        self._has_set = False
        for running in self._tasks:
            self._run(running, seen, orders)
        for moving in self._failed:
            self._start_error_task(moving)
        self._failed.clear()
        return orders

    def _charge(self, status: Status) -> Optional[float]:
        """The battery's charge, 0 to 1, if it is known. Its voltage is in mV, as of Dragoman's platforms."""
        if self._battery is None:
            return None
        empty, full = self._battery
        return min(max((status.io_board.battery_voltage / 1000 - empty) / (full - empty), 0.0), 1.0)

    def _start_error_task(self, failed: _Moving) -> None:
        for running in self._tasks:
            if running.task.name == failed.on_error:
                running.next, running.since = 0, None

    def _run(self, running: _Running, seen: _Inputs, orders: list[Order]) -> None:
        # A user event ends one wait of a task; otherwise a loop that waits for it would run many times.
        events = list(seen.user_events)
        for _ in range(MAX_STEPS):
            if running.next is None:
                return
            if running.next >= len(running.task.steps):
                running.next = None
                return
            step = running.task.steps[running.next]
            if isinstance(step, Goto):
                constant = True if step.condition is None else _constant(step.condition)
                if constant is None and self._has_set:
                    return
                holds = step.condition in seen.true_parameters if constant is None else constant
                running.next = _label(running.task, step.label) if holds else running.next + 1
                continue
            if isinstance(step, Wait):
                target = self._waited(running, step, seen, events)
                if target is None:
                    return
                running.next = target
                continue
            if isinstance(step, Motion):
                if self._has_set:
                    return
                if self._moving is not None and self._moving.running.priority > running.priority:
                    return
                self._move(running, step, seen, orders)
            else:
                orders += _effects(step)
                self._has_set |= isinstance(step, SetParameter)
            running.next += 1
            if isinstance(step, Load):
                # The next instructions may need the documents, so they run after these were sent.
                return

    def _waited(self, running: _Running, wait: Wait, seen: _Inputs, events: list[str]) -> Optional[int]:
        """The next step; None: it waits. ``events``: user events that this task has not used; it uses some."""
        if running.since is None:
            running.since = seen.now
            running.due = [self._due(event, seen.now) for event in wait.events]
        is_new = self._moving is not None and self._moving.since == seen.now
        pairs = zip(wait.events, running.due)
        happened = any(
            _has_happened(event, due, is_new, seen, events)
            for event, due in pairs
            if not (self._has_set and _is_sensed(event))
        )
        limit = wait.timeout if wait.timeout is not None and wait.timeout > 0 else None
        over = limit is not None and seen.now - running.since >= limit
        if not (happened or over):
            return None
        running.since = None
        if happened:
            ids = [event.id for event in wait.events if isinstance(event, UserEvent)]
            events[:] = [event for event in events if event not in ids]
        if over and not happened and wait.timeout_label is not None:
            return _label(running.task, wait.timeout_label)
        return (running.next or 0) + 1

    def _due(self, event: Event, now: float) -> Optional[float]:
        if isinstance(event, Delay):
            return now + event.amount
        if isinstance(event, RandomDelay):
            return now + self._random.uniform(event.minimum, event.maximum)
        return None

    def _move(self, running: _Running, motion: Motion, seen: _Inputs, orders: list[Order]) -> None:
        if motion.stop:
            self._stop(orders)
        action = motion.action
        if action is None:
            return
        on_error = action.on_error_task if isinstance(action, MoveTo) else None
        moving = _Moving(running, on_error, seen.now, MotionWatch(seen.status))
        place = action.place if isinstance(action, SetTarget) else None
        if isinstance(place, Coordinates):
            orders.append(commands.move_abs(place.x, place.y, math.remainder(place.angle, math.tau)))
        elif place is not None:
            orders.append(commands.move_to_station(place.name))
        elif isinstance(action, MoveTo) and action.target is not None:
            kind = action.target.kind
            pose = self._before_nearest(seen.status, _clusters(seen.debug, kind[len("tracked") :]))
            if pose is None:
                # As in the local mode, a refused motion ends the one before it.
                if self._moving is not None:
                    self._stop(orders)
                self._failed.append(moving)
                orders.append(_failure(f"the position of the {kind} is unknown"))
                return
            orders.append(commands.move_abs(*pose))
        self._moving = moving

    def _stop(self, orders: list[Order]) -> None:
        """Ends the motion by a stop and a start of the platform: the protocol has no other command for it."""
        self._moving = None
        orders += [commands.stop(), commands.start()]

    def _before_nearest(self, status: Status, found: Iterable[Cluster]) -> Optional[tuple[float, float, float]]:
        """The pose in front of the nearest object, facing it."""
        x, y = status.estimated.x, status.estimated.y
        nearest = min(found, key=lambda one: math.hypot(one.x - x, one.y - y), default=None)
        if nearest is None:
            return None
        distance = math.hypot(nearest.x - x, nearest.y - y)
        towards = math.atan2(nearest.y - y, nearest.x - x)
        way = max(distance - self._front - FOLLOWING_DISTANCE, 0.0)
        return x + way * math.cos(towards), y + way * math.sin(towards), towards


def _failure(reason: str) -> Message:
    return Message("error", f"the motion has failed: {reason}")


def _constant(condition: str) -> Optional[bool]:
    return {"true": True, "1": True, "false": False, "0": False}.get(condition.strip())


def _label(task: Task, name: str) -> int:
    return next(at for at, step in enumerate(task.steps) if isinstance(step, Label) and step.name == name)


def _clusters(debug: Optional[DebugData], kind: str) -> list[Cluster]:
    if debug is None:
        return []
    return {"person": debug.person_clusters, "ball": debug.ball_clusters}.get(kind, debug.moving_clusters)


def _is_sensed(event: Event) -> bool:
    """Whether parameters decide if an event is detected. User events and times are the same in any case."""
    return isinstance(event, Detects) or (isinstance(event, Happens) and event.kind != "target")


def _has_happened(event: Event, due: Optional[float], is_new: bool, seen: _Inputs, user_events: Sequence[str]) -> bool:
    status = seen.status
    if isinstance(event, Happens):
        if event.kind == "target":
            return seen.target_reached and not is_new
        if event.kind == "collision":
            return status.is_colliding
        if event.kind.startswith("lost"):
            return status.is_localization_lost
        return bool(_clusters(seen.debug, event.kind))
    if isinstance(event, Detects):
        radar = [abs(speed) >= RADAR_SPEED for speed in status.radar_board.velocity]
        sensors = list(status.infrared) if event.kind == "infrared" else radar
        if event.direction is None:
            return any(sensors)
        names = zip(("1", "2", "3", "4"), seen.sensors, sensors)
        return any(sees for number, name, sees in names if event.direction in (number, name))
    if isinstance(event, BatteryCharge):
        return seen.charge is not None and seen.charge * 100 >= event.limit
    if isinstance(event, Date):
        return _is_reached(event, seen.date)
    if isinstance(event, UserEvent):
        return event.id in user_events
    return due is not None and seen.now >= due


def _is_reached(date: Date, now: datetime) -> bool:
    """Whether now is at or after it: the most significant part that differs decides."""
    if now == datetime.min:
        return False
    for wanted, part in (
        (date.year, now.year),
        (date.month, now.month),
        (date.day, now.day),
        (date.hour, now.hour),
        (date.minute, now.minute),
        (date.second, now.second),
    ):
        if wanted is not None and wanted != part:
            return part > wanted
    return True


def _effects(step: Step) -> list[Order]:
    if isinstance(step, IoEvent):
        outputs = [getattr(step.digital_out, f"d{place}") for place in range(1, 13)]
        given = [(channel, high) for channel, high in enumerate(outputs) if high is not None]
        return [commands.set_digout(Board.IO, channel, high) for channel, high in given]
    if isinstance(step, Load):
        return [step]
    if isinstance(step, Log):
        return [Message(step.type or "", step.message)]
    if isinstance(step, SetParameter):
        return [commands.set_pltf_param(step.set.key, step.set.value)]
    if isinstance(step, TurnHead):
        return [commands.set_pos_head_drive(step.angle)]
    if isinstance(step, Audio) and step.action is not None:
        if isinstance(step.action, Speak):
            return [commands.speak_text(step.action.text)]
        return [commands.play_sound(step.action.file_name)]
    if isinstance(step, Surveillance) and isinstance(step.action, MoveCamera):
        return [commands.set_pos_pan_tilt_camera(step.action.position)]
    if isinstance(step, Surveillance) and isinstance(step.action, Grab):
        image: list[Order] = [commands.grab_image(step.action.file_name)] if step.action.image else []
        return image + ([Scan(step.action.file_name)] if step.action.scan else [])
    return []
