"""Actions of several commands: each is sent, and its effect is looked up in the status."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Callable, Optional, Union

from .. import checks
from ..cli import FromFile
from ..core import Pause, Procedure, Request
from ..errors import BadArgument, ClientError, Refused, Timeout
from ..table import Table
from . import commands
from .codes import EmergencyState, MotionMode, OperationState, PlannerState
from .documents import Load, Map, Program, Roadmap
from .interpreter import SENSORS, Message, Order, Scan, TaskInterpreter
from .motion import MotionWatch, Report
from .replies import Parameter, Position, ScanPoint, Status

PROCEDURES = Table()

_PERIOD = 0.1


def _wait_for(what: str, is_reached: Any, seconds: float) -> Procedure[Status]:
    end = time.monotonic() + checks.duration(seconds, "seconds")
    while True:
        status: Status = yield commands.get_status()
        if is_reached(status):
            return status
        if status.emergency_state == EmergencyState.ACTIVE:
            raise Refused("ST_EM_ACTIVE", f"{what}: the emergency stop is active")
        if time.monotonic() >= end:
            state = status.operation_state
            raise Timeout(f"{what}: not within {seconds:g} s; the platform is {getattr(state, 'name', state)}")
        yield Pause(_PERIOD)


@PROCEDURES.command
def prepare(mode: MotionMode, seconds: float = 20.0) -> Procedure[Status]:
    """Connect and initialize the platform, choose a motion mode and start it; returns when it is started.

    mode: the motion mode
    seconds: time limit, s
    """
    wanted = checks.code(mode, MotionMode, "mode")
    checks.duration(seconds, "seconds")
    return _prepare(wanted, seconds)


def _prepare(mode: MotionMode, seconds: float) -> Procedure[Status]:
    status: Status = yield commands.get_status()
    if not status.is_initialized or status.operation_state == OperationState.NOT_INITIALIZED:
        yield commands.connect_to_pltf()
        yield commands.init_pltf()
        yield from _wait_for(
            "init_pltf",
            lambda one: one.is_initialized and one.operation_state != OperationState.NOT_INITIALIZED,
            seconds,
        )
    yield commands.stop()
    yield from _wait_for("stop", lambda one: one.operation_state == OperationState.READY, seconds)
    yield commands.set_mode(mode)
    yield from _wait_for(f"set_mode {mode.name}", lambda one: one.motion_mode == mode, seconds)
    yield commands.start()
    return (yield from _wait_for("start", lambda one: one.operation_state == OperationState.RUNNING, seconds))


@PROCEDURES.command
def wait_until_reached(seconds: float = 120.0) -> Procedure[Status]:
    """Wait until the target of a motion that was commanded now is reached.

    Refused: the planner found no way, the platform has given the motion up, or it does not know where it is. What the
    status says about an earlier motion counts after 1 s.

    seconds: time limit, s
    """
    checks.duration(seconds, "seconds")
    return _until_reached(seconds, None)


def _until_reached(seconds: float, before: Optional[Status]) -> Procedure[Status]:
    """``before``: the last status before the command, if it is known."""
    watch = None if before is None else MotionWatch(before)

    def is_reached(status: Status) -> bool:
        nonlocal watch
        if watch is None:
            watch = MotionWatch(status)
        report = watch.report(time.monotonic(), status)
        if status.is_localization_lost:
            raise Refused("LOCALIZATION_LOST", "the platform does not know where it is")
        if status.operation_state == OperationState.NOT_INITIALIZED:
            raise Refused("ST_OP_NOT_INITIALIZED", "ST_OP_NOT_INITIALIZED: the platform does not move")
        if report is Report.FAILED:
            state = status.planner_state
            code = f"PLANNER_{getattr(state, 'name', state)}"
            is_given_up = state == PlannerState.STANDBY
            why = "the platform has given the motion up" if is_given_up else "the target cannot be reached"
            raise Refused(code, code, why)
        return report is Report.REACHED

    return (yield from _wait_for("wait_until_reached", is_reached, seconds))


@PROCEDURES.command
def go_to_station(station: str, seconds: float = 120.0) -> Procedure[Position]:
    """Prepare the platform, drive to a station, and return where it stands.

    station: name of the station
    seconds: time limit of the drive, s
    """
    request = commands.move_to_station(station)
    checks.duration(seconds, "seconds")
    return _go_to_station(station, request, seconds)


def _go_to_station(station: str, request: Any, seconds: float) -> Procedure[Position]:
    try:
        return (yield from _go(request, seconds))
    except Refused as refusal:
        if refusal.code != "PLANNER_NO_PATH":
            raise
        # The protocol has the same answer for a station that does not exist, and for one that cannot be reached.
        try:
            roadmap: Roadmap = Roadmap.parse((yield commands.get_roadmap()).xml)
        except ClientError:
            raise refusal from None
        names = [one.name for one in roadmap.station_list.stations]
        if station in names:
            raise
        there = f"there are {', '.join(names)}" if names else "the roadmap has none"
        raise Refused(refusal.code, f"no station '{station}'; {there}") from None


@PROCEDURES.command
def go_to(x: float, y: float, angle: float, seconds: float = 120.0) -> Procedure[Position]:
    """Prepare the platform, drive to a pose in the world, and return where it stands.

    x: position, m
    y: position, m
    angle: direction, rad
    seconds: time limit of the drive, s
    """
    request = commands.move_abs(x, y, angle)
    checks.duration(seconds, "seconds")
    return _go(request, seconds)


def _go(request: Any, seconds: float) -> Procedure[Position]:
    status: Status = yield commands.get_status()
    if status.motion_mode != MotionMode.AUTOMATIC or status.operation_state != OperationState.RUNNING:
        status = yield from _prepare(MotionMode.AUTOMATIC, 20.0)
    yield request
    yield from _until_reached(seconds, status)
    position: Position = yield commands.get_position()
    return position


@dataclass(frozen=True)
class ProgramState:
    """What a program does: since this time, s, each task that has not ended is at this step, from 0."""

    time: float
    tasks: list[tuple[str, int]]
    moving_task: Optional[str]


@dataclass(frozen=True)
class ProgramRun:
    """A program that has run to its end."""

    states: list[ProgramState]
    messages: list[Message]
    scans: dict[str, list[ScanPoint]]
    """By file name; in the world, m."""


@PROCEDURES.command
def run_program(
    document: Annotated[Union[Program, str], FromFile()],
    events: Sequence[str] = (),
    seconds: float = 3600.0,
    data: str = "",
    sensors: Sequence[str] = SENSORS,
    battery: Optional[tuple[float, float]] = None,
) -> Procedure[ProgramRun]:
    """Execute a program here: the remote mode of PlatformCtrl guide, 4.5. At its end the platform is ready.

    Refused: the platform was stopped. When it is interrupted the platform drives to its last target: stop it.

    document: the program
    events: user events and when they are raised, as NAME=SECONDS, s after the start
    seconds: time limit, s
    data: folder of the maps and roadmaps that the program loads
    sensors: directions of the infrared and radar sensors 1 to 4
    battery: voltages of the empty and of the full battery, V, for programs that wait for its charge
    """
    interpreter = TaskInterpreter(document, sensors=sensors, battery=battery)
    documents = _documents(interpreter.program, data)
    checks.duration(seconds, "seconds")
    raised = []
    for event in events:
        name, equals, at = event.rpartition("=")
        try:
            raised.append((checks.number(float(at), "events"), name))
        except ValueError:
            equals = ""
        if not equals:
            raise BadArgument(f"events: {event!r} is not NAME=SECONDS")

    def made(front: float) -> TaskInterpreter:
        return TaskInterpreter(interpreter.program, front, sensors, battery)

    return _run_program(made, documents, sorted(raised), seconds)


def _documents(program: Program, folder: str) -> dict[tuple[str, str], Request[None]]:
    """The command for each map and roadmap that the program loads, by its kind and its name."""
    found: dict[tuple[str, str], Request[None]] = {}
    for step in (step for task in program.tasks for step in task.steps if isinstance(step, Load)):
        for kind, name in (("map", step.map), ("roadmap", step.roadmap)):
            if name is None:
                continue
            if not folder:
                raise BadArgument(f"the program loads {kind} {name!r}: data must be the folder of its documents")
            stem = name[:-4] if name.endswith(".xml") else name
            if stem != Path(stem).name or stem in ("", ".", "..") or "\\" in stem:
                raise BadArgument(f"{name!r} is not the name of a file")
            file = Path(folder, f"{stem}.xml")
            try:
                text = file.read_bytes().decode("utf-8-sig")
            except (OSError, UnicodeDecodeError) as error:
                raise BadArgument(f"cannot read {file}: {error}") from None
            if kind == "map":
                found[kind, name] = commands.set_map(Map.parse(text), stem)
            else:
                found[kind, name] = commands.set_roadmap(Roadmap.parse(text), stem)
    return found


def _run_program(
    made: Callable[[float], TaskInterpreter],
    documents: dict[tuple[str, str], Request[None]],
    events: list[tuple[float, str]],
    seconds: float,
) -> Procedure[ProgramRun]:
    yield from _prepare(MotionMode.AUTOMATIC, 20.0)
    length: Parameter = yield commands.get_pltf_param("PltfLength")
    interpreter = made(float(length.value) / 2000)
    run = ProgramRun([], [], {})
    start: Optional[float] = None
    while not interpreter.has_ended:
        status: Status = yield commands.get_status()
        # The program starts with its first cycle, however long the answer before it takes.
        start = time.monotonic() if start is None else start
        now = time.monotonic() - start
        if now > seconds:
            raise Timeout(f"run_program: not within {seconds:g} s; the program is at {interpreter.running()}")
        is_paused = status.operation_state == OperationState.BROKEN
        is_running = status.operation_state == OperationState.RUNNING
        if status.emergency_state != EmergencyState.NOT_ACTIVE:
            raise Refused("ST_EM_ACTIVE", "run_program: emergency stop")
        if status.motion_mode != MotionMode.AUTOMATIC or not (is_paused or is_running):
            raise Refused("STOPPED", "run_program: the platform was stopped by others")
        if not is_paused:
            true = []
            for key in interpreter.parameters:
                parameter: Parameter = yield commands.get_pltf_param(key)
                true += [key] if parameter.value.strip() == "true" else []
            debug = (yield commands.get_debug_data()) if interpreter.needs_debug_data else None
            while events and events[0][0] <= now:
                interpreter.raise_event(events.pop(0)[1])
            for order in interpreter.cycle(now, status, debug, true, datetime.now(timezone.utc)):
                yield from _carry_out(order, status, run, documents)
            tasks, moving = interpreter.running(), interpreter.moving_task
            last = run.states[-1] if run.states else None
            if last is None or (last.tasks, last.moving_task) != (tasks, moving):
                run.states.append(ProgramState(now, tasks, moving))
        yield Pause(_PERIOD)
    yield commands.stop()
    yield from _wait_for("stop", lambda one: one.operation_state == OperationState.READY, 20.0)
    return run


def _carry_out(
    order: Order, status: Status, run: ProgramRun, documents: dict[tuple[str, str], Request[None]]
) -> Procedure[None]:
    if isinstance(order, Message):
        run.messages.append(order)
    elif isinstance(order, Scan):
        run.scans[order.file_name] = status.scan
    elif isinstance(order, Load):
        for kind, name in (("map", order.map), ("roadmap", order.roadmap)):
            if name is not None:
                yield documents[kind, name]
    else:
        yield order
        wanted = {"stop": OperationState.READY, "start": OperationState.RUNNING}.get(order.name)
        if wanted is not None:
            yield from _wait_for(order.name, lambda one: one.operation_state == wanted, 20.0)


class EventKind(Enum):
    """What changed in the status."""

    OPERATION_STATE = "operation_state"
    MOTION_MODE = "motion_mode"
    EMERGENCY_STATE = "emergency_state"
    PLANNER_STATE = "planner_state"
    APPLICATION_ERROR = "application_error"
    INITIALIZED = "is_initialized"
    TARGET_REACHED = "is_target_reached"
    DOCKED = "is_docked"
    LOCALIZATION_LOST = "is_localization_lost"
    COLLISION = "is_colliding"
    JOYSTICK_BUTTONS = "joystick_buttons"
    INFRARED = "infrared"
    SIREN = "siren"
    FLASH_LIGHT = "flash_light"
    DIGITAL_INPUTS = "io_board.digital_in"
    DIGITAL_OUTPUTS = "io_board.digital_out"


@dataclass(frozen=True)
class Event:
    """A change of the platform's status. The protocol sends nothing unasked, so clients ask and compare."""

    kind: EventKind
    before: Union[int, bool, Sequence[bool]]
    now: Union[int, bool, Sequence[bool]]


def _part(status: Status, path: str) -> Any:
    value: Any = status
    for name in path.split("."):
        value = getattr(value, name)
    return value


class StatusWatcher:
    """Compares each status with the one before."""

    def __init__(self) -> None:
        self._last: Optional[Status] = None

    def changes(self, status: Status) -> list[Event]:
        """What has changed since the last status; nothing for the first one."""
        last, self._last = self._last, status
        if last is None:
            return []
        pairs = [(kind, _part(last, kind.value), _part(status, kind.value)) for kind in EventKind]
        return [Event(kind, before, now) for kind, before, now in pairs if before != now]

    def wait(self, seconds: float, period: float) -> Procedure[list[Event]]:
        """Asks every ``period`` until something changes; an empty list after ``seconds``."""
        end = time.monotonic() + checks.duration(seconds, "seconds")
        checks.duration(period, "period")
        return self._wait(end, period)

    def _wait(self, end: float, period: float) -> Procedure[list[Event]]:
        while True:
            found = self.changes((yield commands.get_status()))
            left = end - time.monotonic()
            if found or left <= 0:
                return found
            yield Pause(min(period, left))
