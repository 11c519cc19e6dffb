"""The remote mode of programs, without a platform."""

from __future__ import annotations

import dataclasses
import unittest
from datetime import datetime
from types import SimpleNamespace
from typing import Any, Optional

from dragoman_clients.core import Request
from dragoman_clients.errors import BadArgument
from dragoman_clients.neobotix import Program, TaskInterpreter
from dragoman_clients.neobotix.codes import PlannerState
from dragoman_clients.neobotix.interpreter import Message, Order, Scan
from dragoman_clients.neobotix.replies import Cluster, Status

from .support import REPOSITORY, running_status


class RemoteFixture:
    """An interpreter, and the status that it is shown every 0.1 s."""

    def __init__(self, tasks: str) -> None:
        text = f"<program>{tasks}</program>"
        self.interpreter = TaskInterpreter(text)
        self.status: Status = dataclasses.replace(
            running_status(),
            infrared=(False, True, False, False),
        )
        self.debug: Any = None
        self.now = 0.0

    def see(self, **values: Any) -> None:
        self.status = dataclasses.replace(self.status, **values)

    def cycle(self, true: tuple[str, ...] = (), date: Optional[datetime] = None) -> list[Order]:
        self.now += 0.1
        return self.interpreter.cycle(self.now, self.status, self.debug, true, date)

    def names(self) -> list[str]:
        """Names of commands, and texts of messages."""
        orders = self.cycle()
        return [order.name if isinstance(order, Request) else getattr(order, "text", "") for order in orders]


def debug(**clusters: list[Cluster]) -> Any:
    """Debug data with these clusters."""
    return SimpleNamespace(**{"person_clusters": [], "ball_clusters": [], "moving_clusters": [], **clusters})


def task(steps: str, name: str = "t", priority: int = 0) -> str:
    return f"<task name='{name}' priority='{priority}'>{steps}</task>"


DRIVE = "<motion><settarget><coord x='1500' y='-20' angle='90'/></settarget></motion>"


class Interpreter(unittest.TestCase):
    def test_a_target_counts_once_its_motion_was_seen(self) -> None:
        fixture = RemoteFixture(task(DRIVE + "<wait><target/></wait><log message='there'/>"))
        fixture.see(is_target_reached=True)
        self.assertEqual(fixture.names(), ["move_abs"])
        self.assertEqual(fixture.names(), [])
        fixture.see(is_target_reached=False)
        self.assertEqual((fixture.names(), fixture.interpreter.moving_task), ([], "t"))
        self.assertEqual(fixture.interpreter.running(), [("t", 1)])
        fixture.see(is_target_reached=True)
        self.assertEqual(fixture.names(), ["there"])
        self.assertTrue(fixture.interpreter.has_ended)

    def test_a_target_that_was_reached_already_counts_after_a_while(self) -> None:
        fixture = RemoteFixture(task(DRIVE + "<wait><target/></wait><log message='there'/>"))
        fixture.see(is_target_reached=True)
        seen = [fixture.names() for _ in range(13)]
        self.assertNotIn(["there"], seen[:9])
        self.assertIn(["there"], seen)

    def test_the_more_urgent_task_moves_first(self) -> None:
        low = task("<motion><settarget><station name='s'/></settarget></motion>", "low")
        fixture = RemoteFixture(low + task(DRIVE + "<wait><target/></wait>", "high", 1))
        self.assertEqual(fixture.names(), ["move_abs"])
        self.assertEqual(fixture.interpreter.running(), [("high", 1), ("low", 0)])
        fixture.names()
        fixture.see(is_target_reached=True)
        self.assertEqual(fixture.names(), ["move_to_station"])

    def test_motions_fail(self) -> None:
        follow = task("<motion><moveto onErrorTask='help'><trackedperson/></moveto></motion><wait timeout='60000'/>")
        help_task = task("<log message='help'/>", "help")
        fixture = RemoteFixture(follow + help_task)
        self.assertTrue(fixture.interpreter.needs_debug_data)
        self.assertEqual(fixture.names(), ["the motion has failed: the position of the trackedperson is unknown"])
        self.assertEqual(fixture.names(), ["help"])
        fixture = RemoteFixture(follow + help_task)
        fixture.debug = debug(person_clusters=[Cluster(3, 0, 1)])
        # The planner still has an earlier motion's failure.
        fixture.see(planner_state=PlannerState.NO_PATH)
        self.assertEqual(fixture.names(), ["move_abs"])
        self.assertEqual(fixture.names(), [])
        fixture.see(planner_state=PlannerState.PLANNING)
        self.assertEqual(fixture.names(), [])
        fixture.see(planner_state=PlannerState.NO_PATH)
        self.assertEqual(fixture.names()[1:], ["help"])

    def test_a_motion_that_the_platform_gives_up_has_failed(self) -> None:
        follow = task("<motion><moveto onErrorTask='help'><trackedperson/></moveto></motion><wait><target/></wait>")
        fixture = RemoteFixture(follow + task("<log message='help'/>", "help"))
        fixture.debug = debug(person_clusters=[Cluster(3, 0, 1)])
        self.assertEqual(fixture.names(), ["move_abs"])
        self.assertEqual(fixture.names(), [], "planning has not begun")
        fixture.see(planner_state=PlannerState.PATH_FOUND)
        self.assertEqual(fixture.names(), [])
        fixture.see(planner_state=PlannerState.STANDBY)
        failure = f"the motion has failed: the planner reports {PlannerState.STANDBY}"
        self.assertEqual(fixture.names(), [failure, "help"])
        self.assertIsNone(fixture.interpreter.moving_task)

    def test_the_end_of_a_replaced_motion_is_no_failure(self) -> None:
        after = "<wait><userevent id='go'/></wait>" + DRIVE + "<wait><target/></wait><log message='there'/>"
        fixture = RemoteFixture(task(DRIVE + after))
        fixture.names()
        fixture.see(planner_state=PlannerState.PATH_FOUND)
        fixture.interpreter.raise_event("go")
        self.assertEqual(fixture.names(), ["move_abs"])
        for state in (PlannerState.PATH_FOUND, PlannerState.STANDBY, PlannerState.PLANNING, PlannerState.PATH_FOUND):
            fixture.see(planner_state=state)
            self.assertEqual(fixture.names(), [])
        fixture.see(planner_state=PlannerState.STANDBY)
        self.assertEqual(fixture.names(), [f"the motion has failed: the planner reports {PlannerState.STANDBY}"])

    def test_a_motion_that_cannot_be_commanded_starts_its_own_error_task(self) -> None:
        tasks = "".join(
            task(f"<motion><moveto onErrorTask='no {kind}'><tracked{kind}/></moveto></motion>", kind)
            + task(f"<log message='no {kind}'/>", f"no {kind}")
            for kind in ("person", "ball")
        )
        fixture = RemoteFixture(tasks)
        fixture.debug = debug(ball_clusters=[Cluster(3, 0, 1)])
        failed = "the motion has failed: the position of the tracked{} is unknown".format
        self.assertEqual(fixture.names(), [failed("person"), "move_abs"])
        self.assertEqual(fixture.names(), ["no person"])
        self.assertEqual(fixture.interpreter.moving_task, "ball")
        # The second one fails: then the first one ends, as in the local mode.
        fixture = RemoteFixture(tasks)
        fixture.debug = debug(person_clusters=[Cluster(3, 0, 1)])
        self.assertEqual(fixture.names(), ["move_abs", "stop", "start", failed("ball")])
        self.assertEqual(fixture.names(), ["no ball"])
        self.assertTrue(fixture.interpreter.has_ended)

    def test_waits(self) -> None:
        fixture = RemoteFixture(
            task("<wait timeout='250' timeoutlabel='late'><collision/></wait><log message='no'/><label name='late'/>")
            + task("<wait><delay amount='150'/></wait><wait><userevent id='go'/></wait><log message='go'/>", "b")
            + task("<wait><infrared direction='2'/></wait><log message='seen'/>", "c")
            + task("<wait><random min='100' max='300'/></wait>", "d")
        )
        self.assertEqual(fixture.names(), ["seen"])
        fixture.names()
        fixture.names()
        self.assertIn(("t", 0), fixture.interpreter.running())
        self.assertIn(("b", 1), fixture.interpreter.running())
        fixture.interpreter.raise_event("go")
        self.assertEqual(fixture.names(), ["go"])
        fixture.names()
        self.assertTrue(fixture.interpreter.has_ended)

    def test_dates_and_conditions(self) -> None:
        fixture = RemoteFixture(task("<wait><date hour='9' minute='30'/></wait><log message='now'/>"))
        self.assertEqual([fixture.cycle(date=datetime(2026, 1, 2, 9, 29)), fixture.cycle()], [[], []])
        self.assertEqual(fixture.cycle(date=datetime(2026, 1, 2, 10, 0)), [Message("", "now")])
        fixture = RemoteFixture(
            task("<label name='a'/><goto label='end' condition='SirenEnabled'/><goto label='a'/><label name='end'/>")
        )
        self.assertEqual(fixture.interpreter.parameters, ["SirenEnabled"])
        fixture.cycle()
        self.assertFalse(fixture.interpreter.has_ended)
        fixture.cycle(("SirenEnabled",))
        fixture.cycle()
        self.assertTrue(fixture.interpreter.has_ended)

    def test_effects(self) -> None:
        fixture = RemoteFixture(
            task(
                "<ioevent><digitalout D1='1' D12='0'/></ioevent><motion stop='1'/><audio><speak text='a'/></audio>"
                "<turnhead angle='-45'/><parameter><set key='SirenEnabled' value='true'/></parameter>"
                "<surveillance><grab filename='f' grabscan='true' grabimage='true'/></surveillance>"
            )
        )
        orders = fixture.cycle()
        names = [order.name for order in orders if isinstance(order, Request)]
        effects = ["speak_text", "set_pos_head_drive", "set_pltf_param", "grab_image"]
        self.assertEqual(names, ["set_digout", "set_digout", "stop", "start", *effects])
        self.assertEqual(orders[-1], Scan("f"))

    def test_what_cannot_run_is_refused(self) -> None:
        for steps, reason in (
            ("<goto label='x'/>", "there is no label 'x'"),
            ("<wait><batterycharge limit='80'/></wait>", "the battery's voltage"),
            ("<motion><moveto><chargingstation/></moveto></motion>", "charging stations"),
            ("<wait><radar direction='above'/></wait>", "front, left, rear, right or 1 to 4"),
        ):
            with self.subTest(steps=steps), self.assertRaisesRegex(BadArgument, reason):
                TaskInterpreter(f"<program>{task(steps)}</program>")

    def test_the_lab_s_program(self) -> None:
        program = Program.parse((REPOSITORY / "launch/config/neobotix/program.xml").read_text(encoding="utf-8"))
        self.assertEqual(TaskInterpreter(program).running(), [("round", 0), ("watch", 0)])


if __name__ == "__main__":
    unittest.main()
