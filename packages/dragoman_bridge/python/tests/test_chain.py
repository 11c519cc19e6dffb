"""This client - our server - our client side - our server: a platform behind two protocols."""

from __future__ import annotations

import math
import time
import unittest

from dragoman_clients.neobotix import Map, MotionMode, Neobotix, Program, Roadmap

from .support import Lab, Process, free_port, needs_lab, until
from .test_lab import CONFIG, answered


@needs_lab
class Chain(unittest.TestCase):
    def test_a_platform_behind_two_servers(self) -> None:
        lab = Lab("--only", "neobotix")
        ports = [free_port(), free_port()]
        given = [f"neobotix:ports:={ports}", f"apolo:port:={free_port()}", f"arm31:port:={free_port()}"]
        parts: list[Process] = []
        try:
            # In another domain the platform of the lab is known by its protocol only.
            parts.append(Process("neobotix", "--server", f"127.0.0.1:{lab.neobotix[0]}", ready=""))
            options = [word for one in given for word in ("-p", one)]
            parts.append(
                Process("up", "--bridge-only", "--console", "off", "--ros-args", *options, domain=parts[0].domain)
            )
            with Neobotix(port=ports[0], timeout=10) as far, Neobotix(port=lab.neobotix[1], timeout=10) as near:
                # Until the services have found each other, the answers are empty.
                until("a platform behind it", lambda: answered(far.get_pltf_param_vec), 30)
                self.drive(far, near)
        finally:
            for one in parts:
                one.stop()
            lab.stop()

    def drive(self, far: Neobotix, near: Neobotix) -> None:
        far.prepare(MotionMode.VEL, 30)
        before = near.get_position()
        for _ in range(10):
            far.move_vel(0.2, 0.0)
            time.sleep(0.1)
        there = near.get_position()
        self.assertGreater(math.hypot(there.x - before.x, there.y - before.y), 0.05)
        far.stop()
        self.assertLess(math.hypot(*self.difference(far, near)), 0.1)
        far.set_pltf_param("IpoTransVel", 700)
        until("the parameter", lambda: near.get_pltf_param("IpoTransVel").parsed == 700.0)
        self.assertEqual(far.get_pltf_param("IpoTransVel").parsed, 700.0)
        self.assertEqual({one.key for one in far.get_pltf_param_vec()}, {one.key for one in near.get_pltf_param_vec()})
        given = Map.parse((CONFIG / "map.xml").read_text())
        far.set_map(given, "chain")
        until("the map", lambda: near.get_map().name == "chain")
        self.assertEqual(Map.parse(far.get_map().xml), given)
        self.assertEqual(Roadmap.parse(far.get_roadmap().xml), Roadmap.parse(near.get_roadmap().xml))
        program = Program.parse((CONFIG / "program.xml").read_text())
        far.set_program(program)
        until("the program", lambda: Program.parse(near.get_program()) == program)
        self.assertEqual(Program.parse(far.get_program()), program)
        self.assertEqual(far.get_can_messages(), near.get_can_messages())
        self.assertEqual(far.get_camera(), near.get_camera())
        self.assertIsNotNone(far.get_debug_data())
        self.assertEqual(far.get_status().motion_mode, near.get_status().motion_mode)
        place = far.go_to_station("north", 90)
        self.assertLess(math.hypot(place.x - 4.5, place.y - 3.8), 0.06)
        self.assertLess(math.hypot(*self.difference(far, near)), 0.02)

    def difference(self, far: Neobotix, near: Neobotix) -> tuple[float, float]:
        until("rest", lambda: near.get_position().translation == 0.0)
        time.sleep(0.3)
        first, second = far.get_position(), near.get_position()
        return first.x - second.x, first.y - second.y


if __name__ == "__main__":
    unittest.main()
