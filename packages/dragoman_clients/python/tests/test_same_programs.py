"""Programs in the remote mode do the same as in Rust: the file is shared."""

from __future__ import annotations

import dataclasses
import os
import unittest
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from dragoman_clients.core import Request
from dragoman_clients.neobotix import TaskInterpreter
from dragoman_clients.neobotix.codes import PlannerState
from dragoman_clients.neobotix.documents import Load
from dragoman_clients.neobotix.interpreter import Message, Order, Scan
from dragoman_clients.neobotix.replies import Cluster, RadarBoard

from .support import REPOSITORY, running_status

FILE = REPOSITORY / "packages/dragoman_neobotix/src/program/programs.txt"
PLANNER = {state.name.replace("_", "").lower(): state for state in PlannerState}


class World:
    """What an interpreter is shown."""

    def __init__(self) -> None:
        self.status = dataclasses.replace(
            running_status(), infrared=(False,) * 4, radar_board=RadarBoard((0.0,) * 4, 0)
        )
        self.clusters: dict[str, list[Cluster]] = {"person_clusters": [], "ball_clusters": [], "moving_clusters": []}
        self.true: list[str] = []
        self.date: Any = None
        self.events: list[str] = []

    def see(self, words: list[str]) -> None:
        """Changes that the file lists."""
        self.events = []
        for word in words:
            name, _, value = word.partition("=")
            if name == "planner":
                self.change(planner_state=PLANNER[value.lower()])
            elif name in ("reached", "collision", "lost"):
                full = {"reached": "is_target_reached", "collision": "is_colliding", "lost": "is_localization_lost"}
                self.change(**{full[name]: value == "1"})
            elif name == "infrared":
                self.change(infrared=tuple(one == "1" for one in value))
            elif name == "radar":
                self.change(radar_board=RadarBoard(tuple(int(one) / 1000 for one in value.split(",")), 0))
            elif name in ("person", "ball", "moving"):
                x, y = (int(one) / 1000 for one in value.split(","))
                self.clusters[f"{name}_clusters"].append(Cluster(x, y, 0))
            elif name == "battery":
                self.change(io_board=dataclasses.replace(self.status.io_board, battery_voltage=int(value)))
            elif name == "true":
                self.true.append(value)
            elif name == "date":
                self.date = datetime.fromisoformat(value)
            else:
                assert name == "event", word
                self.events.append(value)

    def change(self, **values: Any) -> None:
        self.status = dataclasses.replace(self.status, **values)


def written(order: Order) -> str:
    if isinstance(order, Request):
        return "send " + (bytes([order.key]) + order.data).hex()
    if isinstance(order, Scan):
        return f"scan {order.file_name}"
    if isinstance(order, Load):
        return f"load {order.map or '-'} {order.roadmap or '-'}"
    assert isinstance(order, Message)
    return "failed" if order.text.startswith("the motion has failed: ") else f"log {order.kind}: {order.text}"


def done(program: str, seen: list[str]) -> list[str]:
    """What an interpreter does, as the file has it."""
    interpreter, world = TaskInterpreter(f"<program>{program}</program>", battery=(20.0, 30.0)), World()
    script = {int(line.split()[0]): line.split()[1:] for line in seen}
    found, state = [], ""
    for cycle in range(1, max(script) + 1):
        world.see(script.get(cycle, []))
        for event in world.events:
            interpreter.raise_event(event)
        debug: Any = SimpleNamespace(**world.clusters)
        orders = interpreter.cycle(cycle / 10, world.status, debug, world.true, world.date)
        found += [f"{cycle} {written(order)}" for order in orders]
        tasks = "".join(f" {name}:{step}" for name, step in interpreter.running())
        now = f"state{tasks or ' none'}, moves: {interpreter.moving_task or 'none'}"
        if now != state:
            found.append(f"{cycle} {now}")
            state = now
    return found


class SamePrograms(unittest.TestCase):
    def test_they_do_what_the_file_says(self) -> None:
        text = FILE.read_text(encoding="utf-8")
        head, *programs = text.split("\n== ")
        written_again = [head]
        for one in programs:
            name, rest = one.split("\n", 1)
            program, rest = rest.split("-- see\n")
            seen, expected = rest.split("-- do\n")
            found = done(program, seen.split("\n")[:-1])
            written_again.append("\n== " + one.split("-- do\n")[0] + "".join(f"{line}\n" for line in ["-- do", *found]))
            if "DRAGOMAN_UPDATE_PROGRAMS" not in os.environ:
                with self.subTest(name):
                    self.assertEqual(found, [line for line in expected.split("\n") if line])
        self.assertEqual(len(programs), 17)
        if "DRAGOMAN_UPDATE_PROGRAMS" in os.environ:
            FILE.write_text("".join(written_again), encoding="utf-8")


if __name__ == "__main__":
    unittest.main()
