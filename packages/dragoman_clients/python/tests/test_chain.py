"""This client - our server - our client side - our server: a robot behind two servers of its protocol."""

from __future__ import annotations

import contextlib
import math
import tempfile
import time
import unittest
from collections.abc import Iterator, Sequence
from pathlib import Path

from dragoman_clients import Refused
from dragoman_clients.apolo import Apolo
from dragoman_clients.arm31 import Arm31, CommandMode
from dragoman_clients.neobotix import Map, MotionMode, Neobotix, Program, Roadmap
from dragoman_clients.player import Player

from .support import Lab, Process, needs_lab, until
from .test_lab import CONFIG, answered

BASE = """devices:
  - {{ device: "position2d:0", robot: Marvin, odometry: {0}/odom, velocity: {0}/cmd_vel, services: {0} }}
  - {{ device: "laser:0", robot: Marvin, scan: {0}/scan, mount: {{ pose: [0.1, 0, 0] }} }}
"""


@contextlib.contextmanager
def chain(lab: Lab, *words: str, far: Sequence[str]) -> Iterator[Lab]:
    """Our client side, which knows the lab by its protocol only, and behind it our server side, with these options.

    Both are in another domain than the lab. The lab ends with the chain.
    """
    parts: list[Process] = [lab]
    try:
        parts.append(Process(*words, ready=""))
        parts.append(server := Lab("--bridge-only", *far, domain=parts[-1].domain))
        yield server
    finally:
        for one in reversed(parts):
            one.stop()


@needs_lab
class Chain(unittest.TestCase):
    def test_a_platform_behind_two_servers(self) -> None:
        lab = Lab("--only", "neobotix")
        address = f"127.0.0.1:{lab.neobotix[0]}"
        with chain(lab, "neobotix", "--server", address, far=["--only", "neobotix"]) as server:
            with (
                Neobotix(port=server.neobotix[0], timeout=10) as far,
                Neobotix(port=lab.neobotix[1], timeout=10) as near,
            ):
                # Until the services have found each other, the answers are empty.
                until("a platform behind it", lambda: answered(far.get_pltf_param_vec), 30)
                self.drive(far, near)

    def test_a_world_behind_two_servers(self) -> None:
        lab = Lab("--only", "apolo")
        address = f"127.0.0.1:{lab.apolo}"
        with chain(lab, "apolo", "--server", address, far=["--only", "apolo"]) as server:
            with Apolo(port=server.apolo, timeout=10) as far, Apolo(port=lab.apolo, timeout=10) as near:
                until("a world behind it", lambda: answered(lambda: far.get_location("pieza")), 30)
                self.assertTrue(far.place_m_robot("Pioneer3AT", (0.7, 0.7, 0.0), 0.23))
                far.reset_odometry("Pioneer3AT", (1.0, 2.0, 0.5))
                for _ in range(5):
                    self.assertTrue(far.move_m_robot("Pioneer3AT", (0.2, 0.1), 0.1))
                far.update()
                for name in ("get_location_m_robot", "get_odometry"):
                    self.assertEqual(getattr(far, name)("Pioneer3AT"), getattr(near, name)("Pioneer3AT"))
                place = near.get_location_m_robot("Pioneer3AT")
                self.assertAlmostEqual(math.hypot(place.x - 0.7, place.y - 0.7), 0.1, 3)
                self.assertNotEqual(far.get_odometry("Pioneer3AT").x, 1.0)
                far.place("pieza", (1.0, 1.0, 1.0), (0.5, 0.0, 0.0))
                self.assertEqual(far.get_location("pieza"), near.get_location("pieza"))
                self.assertEqual(round(near.get_location("pieza").roll, 9), 0.5)
                far.set_robot_joints("Puma560", [0.5, 0.23, -0.1])
                self.assertIs(
                    far.check_robot_joints("Puma560", [0.5, 0.23, -0.1]),
                    near.check_robot_joints("Puma560", [0.5, 0.23, -0.1]),
                )
                self.assertEqual(len(far.get_laser_data("LMS100")), len(near.get_laser_data("LMS100")))
                seen = [{mark.id for mark in one.get_laser_land_marks("LMS100")} for one in (far, near)]
                self.assertEqual(seen[0], seen[1])
                self.assertTrue(far.get_allultrasonic_sensors("Marvin"))
                with self.assertRaises(Refused):
                    far.get_location("nobody")

    def test_an_arm_behind_two_servers(self) -> None:
        lab = Lab("--only", "ranger")
        address = f"127.0.0.1:{lab.arm31}"
        with chain(lab, "arm31", "--controller", address, far=["--only", "ranger"]) as server:
            with Arm31(port=server.arm31, timeout=10) as far, Arm31(port=lab.arm31, timeout=10) as near:
                until("an arm behind it", lambda: answered(far.joint_positions), 30)
                until("a stop", lambda: answered(lambda: far.stop() or True), 30)
                far.enable()
                self.assertEqual(far.set_command_mode(CommandMode.JOINT), CommandMode.JOINT)
                goal = near.joint_positions()[:6]
                goal[0] += 0.05
                far.set_joint_goal(goal)
                far.begin_joint_motion()
                until("the goal", lambda: abs(near.joint_positions()[0] - goal[0]) < 0.002)
                until("its report", lambda: abs(far.joint_positions()[0] - goal[0]) < 0.002)
                far.stop()
                self.assertEqual(far.set_command_mode(CommandMode.CARTESIAN), CommandMode.CARTESIAN)
                first, second = far.pose(), near.pose()
                for one, other in zip(first.position, second.position):
                    self.assertAlmostEqual(one, other, 3)
                x, y, z = second.position
                far.set_goal_pose((x, y, z - 0.005), second.quaternion)
                until("the start", lambda: answered(lambda: far.begin_motion() or True))
                until("the pose", lambda: abs(near.pose().position[2] - z + 0.005) < 0.001)
                far.stop()
                self.assertEqual(far.set_command_mode(CommandMode.OFF), CommandMode.OFF)
                with self.assertRaises(Refused) as caught:
                    far.begin_motion()
                self.assertEqual(caught.exception.code, "ER20")

    def test_a_base_behind_two_servers(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            tables = [Path(folder, f"{name}.yaml") for name in ("near", "far")]
            for table, namespace in zip(tables, ("apolo/marvin", "player")):
                table.write_text(BASE.format(namespace), encoding="utf-8")
            lab = Lab("--only", "apolo,player", "--player-devices", str(tables[0]))
            words = ["player", "--server", f"127.0.0.1:{lab.player}"]
            with chain(lab, *words, far=["--only", "player", "--player-devices", str(tables[1])]) as server:
                self.drive_base(server.player, lab)

    def drive_base(self, port: int, lab: Lab) -> None:
        with Player(port=port, timeout=10) as far, Player(port=lab.player, timeout=10) as near:
            with Apolo(port=lab.apolo, timeout=10) as world:
                self.assertEqual([str(one) for one in far.devices()], [str(one) for one in near.devices()])
                base, other = far.position2d(), near.position2d()
                until(
                    "the geometry", lambda: answered(lambda: base.get_geometry().size == other.get_geometry().size), 30
                )
                laser = far.laser()
                until("a scan", lambda: far.read(1.0) and laser.scan, 30)
                before = world.get_location_m_robot("Marvin").yaw

                def has_turned() -> bool:
                    base.set_velocity(0.0, 0.0, 0.3)
                    return abs(world.get_location_m_robot("Marvin").yaw - before) > 0.1

                until("motion", has_turned)
                base.set_velocity(0.0, 0.0, 0.0)
                base.reset_odometry()
                until("the odometry", lambda: far.read(1.0) and base.state and abs(base.state.pose.yaw) < 0.02)
                until("the same", lambda: near.read(1.0) and other.state and abs(other.state.pose.yaw) < 0.02)

    def drive(self, far: Neobotix, near: Neobotix) -> None:
        far.prepare(MotionMode.VEL, 30)
        before = near.get_position()

        def has_moved() -> bool:
            far.move_vel(0.2, 0.0)
            there = near.get_position()
            return math.hypot(there.x - before.x, there.y - before.y) > 0.05

        until("motion", has_moved)
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
