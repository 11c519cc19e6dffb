"""Actions of several commands, without a platform and on virtual time."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from dragoman_clients.core import Pause
from dragoman_clients.errors import BadArgument, Refused, Timeout
from dragoman_clients.neobotix import procedures
from dragoman_clients.neobotix.codes import OperationState, PlannerState
from dragoman_clients.neobotix.motion import MotionWatch
from dragoman_clients.neobotix.replies import Parameter, Position, Status

from .support import REPOSITORY, running_status

STANDBY, PLANNING, PATH_FOUND = PlannerState.STANDBY, PlannerState.PLANNING, PlannerState.PATH_FOUND
NO_PATH = PlannerState.NO_PATH


class Platform:
    """Answers a procedure's questions; a status is the planner's state and whether the target is reached."""

    def __init__(self, *statuses: tuple[PlannerState, bool]) -> None:
        self.statuses = list(statuses)
        self.now = 100.0
        self.delay = 0.0
        """Of each answer, s."""
        self.sent: list[str] = []
        self.state = OperationState.RUNNING

    def answer(self, wanted: Any) -> Any:
        if isinstance(wanted, Pause):
            self.now = round(self.now + wanted.seconds, 6)
            return None
        self.sent.append(wanted.name)
        self.now = round(self.now + self.delay, 6)
        if wanted.name == "get_position":
            return Position(1.0, 2.0, 0.5, 0.0, 0.0)
        if wanted.name == "get_pltf_param":
            return Parameter("PltfLength", "900", 0, 2, 0, 0)
        if wanted.name != "get_status":
            self.state = {"stop": OperationState.READY, "start": OperationState.RUNNING}.get(wanted.name, self.state)
            return None
        planner, reached = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return dataclasses.replace(
            running_status(),
            is_initialized=True,
            operation_state=self.state,
            planner_state=planner,
            is_target_reached=reached,
        )

    def run(self, procedure: Any) -> Any:
        """The procedure's result, and the time that it took."""
        began, value = self.now, None
        with mock.patch("time.monotonic", lambda: self.now):
            try:
                while True:
                    value = self.answer(procedure.send(value))
            except StopIteration as end:
                return end.value, self.now - began


class Motions(unittest.TestCase):
    def test_reports_are_those_of_the_file(self) -> None:
        states = {state.name.replace("_", "").lower(): state for state in PlannerState}

        def status(planner: str, reached: str) -> Status:
            state = states.get(planner.lower(), 77)
            return dataclasses.replace(running_status(), planner_state=state, is_target_reached=reached == "1")

        file = REPOSITORY / "packages/dragoman_neobotix/src/program/motions.txt"
        cases = file.read_text(encoding="utf-8").split("\ncase ")[1:]
        for case in cases:
            name, before, *lines = [line for line in case.splitlines() if line]
            watch = MotionWatch(status(*before.split()))
            for line in lines:
                now, planner, reached, expected = line.split()
                with self.subTest(name, line=line):
                    report = watch.report(float(now), status(planner, reached))
                    self.assertEqual(report.value.replace(" ", ""), expected)
        self.assertEqual(len(cases), 14)

    def test_a_target_that_was_reached_before_does_not_count(self) -> None:
        # The status is 0.5 s older than the command.
        old, driving, there = (STANDBY, True), (PATH_FOUND, False), (STANDBY, True)
        for procedure in (procedures.go_to(1, 2, 0.5), procedures.go_to_station("north")):
            platform = Platform(*[old] * 6, *[driving] * 20, there)
            position, seconds = platform.run(procedure)
            self.assertEqual(position.x, 1.0)
            self.assertAlmostEqual(seconds, 2.5, 6)
            self.assertEqual(platform.sent[-1], "get_position")
        _, seconds = Platform(*[old] * 5, *[driving] * 20, there).run(procedures.wait_until_reached())
        self.assertAlmostEqual(seconds, 2.5, 6)

    def test_a_target_that_needs_no_motion_counts_after_a_second(self) -> None:
        for procedure in (procedures.go_to(1, 2, 0.5), procedures.wait_until_reached()):
            _, seconds = Platform((STANDBY, True)).run(procedure)
            self.assertAlmostEqual(seconds, 1.0, 6)

    def refused(self, procedure: Any, *statuses: tuple[PlannerState, bool]) -> tuple[str, float]:
        platform = Platform(*statuses)
        with self.assertRaises(Refused) as caught:
            platform.run(procedure)
        return caught.exception.code, round(platform.now - 100.0, 6)

    def test_a_failure_of_an_earlier_motion_does_not_count(self) -> None:
        old, driving = (NO_PATH, False), (PATH_FOUND, False)
        _, seconds = Platform(*[old] * 4, driving, (STANDBY, True)).run(procedures.go_to(1, 2, 0.5))
        self.assertAlmostEqual(seconds, 0.4, 6)
        self.assertEqual(self.refused(procedures.go_to(1, 2, 0.5), old), ("PLANNER_NO_PATH", 1.0))
        self.assertEqual(self.refused(procedures.go_to(1, 2, 0.5), (STANDBY, True), old), ("PLANNER_NO_PATH", 0.0))

    def test_a_motion_that_the_platform_gives_up_is_refused(self) -> None:
        idle = (STANDBY, False)
        found = self.refused(procedures.go_to(1, 2, 0.5), idle, idle, (PLANNING, False), (PATH_FOUND, False), idle)
        self.assertEqual(found, ("PLANNER_STANDBY", 0.3))
        found = self.refused(procedures.wait_until_reached(), *[(PATH_FOUND, False)] * 15, idle)
        self.assertEqual(found, ("PLANNER_STANDBY", 1.5))
        # If the platform has stopped for another reason, that one is given.
        platform = Platform((PATH_FOUND, False), (PATH_FOUND, False), idle)
        going = procedures.go_to(1, 2, 0.5)
        answer = platform.answer

        def lost(wanted: Any) -> Any:
            found = answer(wanted)
            is_idle = getattr(found, "planner_state", None) == STANDBY
            return dataclasses.replace(found, operation_state=OperationState.NOT_INITIALIZED) if is_idle else found

        platform.answer = lost  # type: ignore[method-assign]
        with self.assertRaisesRegex(Refused, "ST_OP_NOT_INITIALIZED"):
            platform.run(going)
        # One that never begins ends with the time limit.
        with self.assertRaises(Timeout):
            Platform(idle).run(procedures.wait_until_reached(5.0))


class Programs(unittest.TestCase):
    LOADS = "<program><task name='t'><load map='hall' roadmap='ways.xml'/><log message='loaded'/></task></program>"

    def test_documents_are_read_before_the_start(self) -> None:
        for data, reason in (("", "data must be the folder"), ("/nowhere", "cannot read /nowhere/hall.xml")):
            with self.assertRaisesRegex(BadArgument, reason):
                procedures.run_program(self.LOADS, data=data)
        for name in ("../hall", "a/b", "..", "c\\d"):
            with self.assertRaisesRegex(BadArgument, "is not the name of a file"):
                procedures.run_program(f"<program><task name='t'><load map='{name}'/></task></program>", data="/tmp")

    def test_documents_are_sent(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            config = REPOSITORY / "launch/config/neobotix"
            shutil.copy(config / "map.xml", Path(folder, "hall.xml"))
            shutil.copy(config / "roadmap.xml", Path(folder, "ways.xml"))
            platform = Platform((STANDBY, False))
            run, _ = platform.run(procedures.run_program(self.LOADS, data=folder))
        self.assertEqual([message.text for message in run.messages], ["loaded"])
        loaded = [name for name in platform.sent if name.startswith("set_") and name != "set_mode"]
        self.assertEqual(loaded, ["set_map", "set_roadmap"])

    def test_events_count_from_the_first_cycle(self) -> None:
        platform = Platform((STANDBY, False))
        platform.delay = 2.0
        program = "<program><task name='t'><wait><userevent id='go'/></wait></task></program>"
        run, _ = platform.run(procedures.run_program(program, ["go=0.5"]))
        self.assertEqual([state.tasks for state in run.states], [[("t", 0)], []])
        self.assertEqual(run.states[0].time, 0.0)


if __name__ == "__main__":
    unittest.main()
