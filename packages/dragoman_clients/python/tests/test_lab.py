"""Round trips of every command against the lab, with both clients, counted: none is left out."""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
import tempfile
import threading
import time
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable

from dragoman_clients import ClientError, ConnectionLost, Refused, Timeout
from dragoman_clients.apolo import COMMANDS as APOLO
from dragoman_clients.apolo import Apolo, AsyncApolo
from dragoman_clients.arm31 import COMMANDS as ARM31
from dragoman_clients.arm31 import Arm31, AsyncArm31, CommandMode
from dragoman_clients.neobotix import COMMANDS as NEOBOTIX
from dragoman_clients.neobotix import (
    AsyncNeobotix,
    Board,
    EventKind,
    Map,
    MotionMode,
    Motor,
    MouseButton,
    Neobotix,
    OperationState,
    PostProcessEvent,
    Program,
    Roadmap,
)
from dragoman_clients.player import INTERFACES, AsyncPlayer, Player, readings, structures

from . import tap
from .support import REPOSITORY, Caller, Lab, callers, first_cells, lab, needs_lab, page, until

CONFIG = REPOSITORY / "launch/config/neobotix"


class Counted:
    """Calls a client's methods, and counts which."""

    def __init__(self, caller: Any, prefix: str = "", seen: set[str] | None = None) -> None:
        self.caller = caller
        self.prefix = prefix
        self.seen: set[str] = set() if seen is None else seen

    def __getattr__(self, name: str) -> Any:
        self.seen.add(self.prefix + name.rstrip("_"))
        return getattr(self.caller, name)


class Replies(unittest.TestCase):
    """Counts what a server answers, between it and the client."""

    def all_answered(self, one: tap.Tap, commands: set[Any], answers: set[Any]) -> None:
        """Every command was sent and every answer came, by the tables of the pages."""
        self.assertEqual(commands - set(one.sent), set())
        self.assertEqual(answers - set(one.answered), set())


@needs_lab
class ApoloLab(Replies):
    def test_every_command(self) -> None:
        relay = tap.Tap(tap.apolo, lab().apolo)
        with callers(Apolo, AsyncApolo, port=relay.port) as both:
            for one in both:
                with self.subTest(type(one.client).__name__):
                    self.commands(Counted(one))
        rows = first_cells(page("protocol-apolo.md"), "## Frames")
        self.all_answered(relay, {row[0] for row in rows}, {"T", "F", "D", "b"})
        expected = sum(relay.sent[letter] for letter, answer, *_ in rows if answer != "nothing")
        # Each client closes its connection before the answer to a motion can come.
        self.assertGreaterEqual(sum(relay.answered.values()), expected - 2)

    def commands(self, a: Counted) -> None:
        # The manual's examples.
        self.assertIn(a.check_robot_joints("Puma560", [0.5, 0.23, -0.1], "world1"), (True, False))
        a.set_robot_joints("Puma560", [0.5, 0.23, -0.1], "world1")
        a.place("pieza", (1, 1, 1), (0.5, 0, 0))
        found = a.get_location("pieza")
        self.assertEqual((found.x, found.z, round(found.roll, 9)), (1.0, 1.0, 0.5))
        a.place_xyz("pieza", -0.25, 0.2, 0.06)
        self.assertEqual(a.get_location("pieza").yaw, 0.0)
        self.assertIs(a.place_m_robot("Pioneer3AT", (0.7, 0.7, 0), 0.23), True)
        place = a.get_location_m_robot("Pioneer3AT")
        self.assertEqual((place.x, place.y, round(place.yaw, 9)), (0.7, 0.7, 0.23))
        a.reset_odometry("Pioneer3AT", (1, 2, 0.5))
        self.assertEqual(a.get_odometry("Pioneer3AT"), type(a.get_odometry("Pioneer3AT"))(1.0, 2.0, 0.5))
        self.assertIs(a.move_m_robot("Pioneer3AT", (0.1, 0.0), 0.1), True)
        a.move_m_robot_unanswered("Pioneer3AT", (0.1, 0.0), 0.1)
        a.caller.close()
        a.update("World1")
        a.update()
        self.assertEqual(len(a.get_laser_data("LMS100")), 541)
        marks = a.get_laser_land_marks("LMS100")
        self.assertTrue(marks)
        self.assertEqual(len({mark.id for mark in marks}), len(marks))
        self.assertLessEqual(a.get_ultrasonic_sensor("uc0"), 10.0)
        self.assertTrue(a.get_allultrasonic_sensors("Marvin"))
        a.link_to_robot_tcp("Puma560", "pieza")
        with self.assertRaises(Refused):
            a.get_location("nobody")
        self.assertEqual(a.seen, set(APOLO))
        self.assertEqual(len(a.seen), 17)

    def test_a_loop_is_fast(self) -> None:
        with Apolo(port=lab().apolo) as apolo:
            rounds = []
            for _ in range(100):
                began = time.monotonic()
                apolo.move_m_robot("Marvin", (0.0, 0.01), 0.01)
                apolo.update()
                apolo.get_odometry("Marvin")
                rounds.append(time.monotonic() - began)
            # Delayed acknowledgements would cost 40 ms in each round but the first ones. Other programs may take the
            # processor in some.
            self.assertLess(sorted(rounds)[15], 0.035)


@needs_lab
class NeobotixLab(Replies):
    def each(self, commands: Callable[[Counted], None], ports: Sequence[int] = ()) -> None:
        for port, with_header in zip(ports or lab().neobotix, (True, False)):
            with callers(Neobotix, AsyncNeobotix, port=port, with_header=with_header) as both:
                for one in both:
                    self.has_port(one)
                    with self.subTest(type(one.client).__name__, with_header=with_header):
                        commands(Counted(one))
                    one.close()

    def has_port(self, n: Any) -> None:
        """A platform has one client on each port; the last one may not be gone yet."""
        until("the port", lambda: answered(n.get_position))

    def test_programs_run_here(self) -> None:
        with callers(Neobotix, AsyncNeobotix, port=lab().neobotix[0]) as both:
            for one, x in zip(both, (4000, 4500)):
                self.has_port(one)
                with self.subTest(type(one.client).__name__):
                    # That an earlier target is reached would count after 1 s; a busy machine may need longer to start.
                    one.prepare(MotionMode.AUTOMATIC)
                    one.move_to_station("nowhere")
                    until("no target", lambda: not one.get_status().is_target_reached)
                    run = one.run_program(
                        "<program><task name='drive' priority='1'>"
                        f"<motion><settarget><coord x='{x}' y='3800' angle='180'/></settarget></motion>"
                        "<wait timeout='120000' timeoutlabel='late'><target/></wait><log message='there'/>"
                        "<label name='late'/></task>"
                        "<task name='wait'><wait><userevent id='go'/></wait></task></program>",
                        ["go=0.5"],
                    )
                    self.assertEqual([message.text for message in run.messages], ["there"])
                    drives = [state.moving_task for state in run.states]
                    self.assertEqual((drives[0], drives[-1]), ("drive", None))
                    self.assertEqual(run.states[0].tasks, [("drive", 1), ("wait", 0)])
                    position = one.get_position()
                    self.assertLess(math.hypot(position.x - x / 1000, position.y - 3.8), 0.05)
                    self.assertEqual(one.get_status().operation_state, OperationState.READY)
                    with self.assertRaisesRegex(ValueError, "NAME=SECONDS"):
                        one.run_program("<program/>", ["go"])
                one.close()

    def state(self, n: Any, wanted: OperationState) -> None:
        until(wanted.name, lambda: n.get_status().operation_state == wanted)

    def test_every_command(self) -> None:
        relays = [tap.Tap(tap.neobotix, port) for port in lab().neobotix]
        self.each(self.commands, [relay.port for relay in relays])
        rows = first_cells(page("protocol-neobotix.md"), "## Messages")
        questions = {int(row[0]) for row in rows if row[2] == "a reply"}
        for relay in relays:
            self.all_answered(relay, {int(row[0]) for row in rows}, questions)
            # Between the last command and the end of its connection a question may have no answer.
            for number in questions - {tap.GET_POSITION}:
                self.assertEqual(relay.answered[number], relay.sent[number], number)

    def commands(self, n: Counted) -> None:
        n.connect_to_pltf()
        n.init_pltf()
        until("initialized", lambda: n.get_status().is_initialized)
        n.stop()
        self.state(n, OperationState.READY)
        n.set_mode(MotionMode.AUTOMATIC)
        self.assertEqual(n.get_status().motion_mode, MotionMode.AUTOMATIC)
        n.start()
        self.state(n, OperationState.RUNNING)
        n.break_()
        self.state(n, OperationState.BROKEN)
        n.continue_()
        self.state(n, OperationState.RUNNING)
        n.move_to_station("north")
        n.move_abs(4.5, 3.7, -1.57)
        n.move_rel(0.05, 0.0, 0.0)
        n.move_path([(4.5, 3.7, -1.57), (4.5, 3.6, -1.57)])
        until("path", lambda: n.get_status().path or n.get_status().is_target_reached)
        n.stop()
        n.set_mode("vel")
        n.start()
        before = n.get_position()

        def has_moved() -> bool:
            n.move_vel_wheel(0.05, 0.05)
            n.move_vel(0.05, 0.0)
            now = n.get_position()
            return (now.x, now.y) != (before.x, before.y)

        until("motion", has_moved)
        n.stop()
        self.parameters_and_documents(n)
        n.set_brake(Motor.LEFT, False)
        n.set_digout(Board.RELAY, 1, True)
        n.start_ultrasonic(1)
        n.stop_ultrasonic()
        n.add_can_listening_id(0x181)
        n.send_can_message(0x601, bytes(8))
        self.assertEqual(n.get_can_messages(), [])
        n.remove_can_listening_id(0x181)
        n.mapping_start()
        self.assertIsNotNone(until("mapping", lambda: n.get_debug_data().mapping))
        n.mapping_reset()
        n.mapping_stop()
        pose = n.get_position()
        n.set_frm_pltf(pose.x, pose.y, pose.angle)
        n.speak_text("Good morning")
        n.play_sound("bell.wav")
        n.grab_image("now")
        n.set_pos_head_drive(0.5)
        n.set_vel_head_drive(0.1)
        n.set_pos_pan_tilt_camera("home")
        for name in ("debug1", "debug2", "debug3", "debug4", "set_log_enabled", "set_post_process_filename"):
            getattr(n, name)()
        n.mouse_move(0.0, 0.0, MouseButton.RBUTTON_DOWN)
        n.mouse_move(0.0, 0.0, MouseButton.RBUTTON_UP)
        n.set_event(PostProcessEvent.STOP_RECORDING)
        self.assertIsInstance(n.get_camera().address, str)
        n.shutdown_pltf()
        self.state(n, OperationState.NOT_INITIALIZED)
        n.exit()
        # The original ends here; Dragoman closes the connection.
        until("it answers again", lambda: answered(n.get_position))
        n.close_socket()
        until("it answers again", lambda: answered(n.get_position))
        self.assertEqual(n.seen & set(NEOBOTIX), set(NEOBOTIX))
        self.assertEqual(len(NEOBOTIX), 61)

    def parameters_and_documents(self, n: Counted) -> None:
        n.set_pltf_param("IpoTransVel", 900)
        self.assertEqual(n.get_pltf_param("IpoTransVel").parsed, 900.0)
        n.set_pltf_param("IpoTransVel", 1000.0)
        n.set_pltf_param("SirenEnabled", False)
        every = {one.key: one.parsed for one in n.get_pltf_param_vec()}
        self.assertEqual((len(every), every["IpoTransVel"], every["SirenEnabled"]), (94, 1000.0, False))
        kinds: dict[str, Any] = {"map": Map, "roadmap": Roadmap}
        for name, kind in kinds.items():
            given = kind.parse((CONFIG / f"{name}.xml").read_text())
            getattr(n, f"set_{name}")(given, f"test-{name}")
            found = until(name, lambda: _named(getattr(n, f"get_{name}")(), f"test-{name}"))
            self.assertEqual(kind.parse(found.xml), given)
            getattr(n, f"save_{name}")()
            getattr(n, f"load_{name}")()
        program = (CONFIG / "program.xml").read_text()
        n.set_program(program)
        until("program", lambda: Program.parse(n.get_program()) == Program.parse(program))
        n.save_program()
        n.load_program()

    def test_procedures_and_events(self) -> None:
        def drive(n: Counted) -> None:
            n.prepare(MotionMode.AUTOMATIC)
            there = n.go_to_station("north", 60)
            self.assertLess(math.hypot(there.x - 4.5, there.y - 3.8), 0.05)
            there = n.go_to(4.5, 3.6, -1.57, 60)
            self.assertLess(math.hypot(there.x - 4.5, there.y - 3.6), 0.05)
            with self.assertRaises(Refused) as caught:
                n.go_to_station("nowhere", 5)
            self.assertEqual(caught.exception.code, "PLANNER_NO_PATH")
            self.assertIn("no station 'nowhere'; there are ", str(caught.exception))
            self.assertIn("middle", str(caught.exception))
            n.move_abs(3.0, 3.6, 3.14)
            with self.assertRaises(Timeout):
                n.wait_until_reached(0.1)
            until("no event", lambda: not n.wait_events(0.2))
            n.stop()
            stopped = EventKind.OPERATION_STATE
            until("the event", lambda: stopped in [one.kind for one in n.wait_events(5.0)])

        self.each(drive)


def answered(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except ClientError:
        return None


def _named(found: Any, name: str) -> Any:
    return found if found.name == name else None


@needs_lab
class Arm31Lab(Replies):
    def test_every_command(self) -> None:
        relay = tap.Tap(tap.arm31, lab().arm31, socket.SOCK_DGRAM)
        with callers(Arm31, AsyncArm31, port=relay.port) as both:
            for one in both:
                with self.subTest(type(one.client).__name__):
                    self.commands(Counted(one))
        letters = {row[0] for row in first_cells(page("protocol-31-byte.md"), "## Datagrams")}
        self.all_answered(relay, letters, {one[::-1] for one in letters})

    def commands(self, a: Counted) -> None:
        a.stop()
        a.enable()
        self.assertEqual(a.set_command_mode(CommandMode.JOINT), CommandMode.JOINT)
        a.reset_joint_motion()
        home = a.joint_positions()[:6]
        goal = [home[0] + 0.02, *home[1:]]
        a.set_joint_goal(goal)
        a.begin_joint_motion()
        until("the goal", lambda: abs(a.joint_positions()[0] - goal[0]) < 0.002)
        a.clear_joint_via_points()
        a.set_joint_via_point(0, goal)
        a.set_joint_via_point(1, home, 0.1)
        until("the start", lambda: answered(lambda: a.execute_joint_via_points() or True))
        until("the last point", lambda: abs(a.joint_positions()[0] - home[0]) < 0.002)
        a.stop()
        a.set_command_mode("cartesian")
        pose = a.pose()
        self.assertAlmostEqual(sum(one * one for one in pose.quaternion), 1.0, 4)
        x, y, z = pose.position
        a.set_goal_pose((x, y, z - 0.005), pose.quaternion)
        a.begin_motion()
        until("the pose", lambda: abs(a.pose().position[2] - z + 0.005) < 0.001)
        a.set_timed_goal_pose((x, y, z), (0.0, 0.0, -math.pi / 2), 1.0)
        a.clear_via_points()
        a.set_via_point(0, (x, y, z), (0.0, 0.0, -math.pi / 2))
        until("the start", lambda: answered(lambda: a.execute_via_points() or True))
        a.stop()
        self.assertEqual(len(a.temperatures()), 7)
        a.set_command_mode(CommandMode.OFF)
        # Refused until the arm is at rest.
        until("rest", lambda: answered(lambda: a.recalibrate(a.joint_positions()[:6]) or True))
        with self.assertRaises(Refused) as caught:
            a.begin_motion()
        self.assertEqual((caught.exception.code, caught.exception.text), ("ER20", "ER20 Cmd BG rejected"))
        a.disable()
        a.enable()
        self.assertEqual(a.seen, set(ARM31))
        self.assertEqual(len(a.seen), 20)

    def test_a_limit_is_a_notice(self) -> None:
        with callers(Arm31, AsyncArm31, port=lab().arm31) as both:
            for one in both:
                one.stop()
                one.enable()
                one.set_command_mode("joint")
                # Joint 5 of Ranger Mark I begins at 0.785 rad.
                goal = one.joint_positions()[:6]
                goal[4] = 0.0
                one.set_joint_goal(goal)
                one.begin_joint_motion()
                self.assertEqual(one.wait_notices(10.0)[0].text, "WN12 Joint limit.")
                one.stop()
                one.set_command_mode("off")
                # The next one is then a new one.
                time.sleep(1.5)


# What the lab's devices do not have: Player's servers refuse it.
REFUSED = {
    "actarray.set_brakes", "actarray.set_joint_acceleration", "camera.set_source", "imu.reset_euler",
    "imu.reset_orientation", "laser.set_filter", "limb.set_brakes",
    "power.set_charging_policy", "simulation.get_property", "simulation.set_property", "vectormap.write_layer",
}  # fmt: skip


@needs_lab
class PlayerLab(unittest.TestCase):
    def test_every_command(self) -> None:
        relay = tap.Tap(tap.player, lab().player)
        for pull in (False, True):
            with callers(Player, AsyncPlayer, port=relay.port, pull=pull) as both:
                for one in both:
                    with self.subTest(type(one.client).__name__, pull=pull):
                        self.commands(one)
                    one.close()
        requests = {(code, number) for code, kind, number in relay.sent if kind == 3}
        self.assertGreater(len(requests), 60)
        for code, number in requests:
            answered = sum(relay.answered[code, kind, number] for kind in (4, 6))
            self.assertEqual(answered, relay.sent[code, 3, number], (code, number))

    def commands(self, p: Caller) -> None:
        self.assertRegex(until("the banner", lambda: (p.connect(), p.client.banner)[1]), "^Player v")
        found = [str(device) for device in p.devices()]
        self.assertIn("position2d:0", found)
        self.assertTrue(p.driver("position2d", 0))
        self.assertIsInstance(p.port_of("TurtleBot 2"), int)
        p.replace_rule("all", -1, -1, 1)
        with self.assertRaises(Refused):
            p.position2d(77)
        seen: set[str] = set()
        refused: set[str] = set()
        pose = (0.0, 0.0, 0.0)
        arguments: dict[str, tuple[Any, ...]] = {
            "power.set_charging_policy": (True, False),
            "position2d.set_velocity": (0.05, 0.0, 0.0),
            "position2d.set_position": (pose,),
            "position2d.set_car": (0.0, 0.0),
            "position2d.set_velocity_heading": (0.0, 0.0),
            "position2d.set_motor_power": (True,),
            "position2d.set_velocity_mode": (0,),
            "position2d.set_position_mode": (0,),
            "position2d.set_odometry": (1.0, 2.0, 0.5),
            "position2d.set_speed_pid": (1.0, 0.0, 0.0),
            "position2d.set_position_pid": (1.0, 0.0, 0.0),
            "position2d.set_speed_profile": (0.3, 0.5),
            "sonar.set_power": (True,),
            "laser.set_config": (-1.0, 1.0, 0.01, 4.0),
            "laser.set_power": (True,),
            "laser.set_filter": (readings.LaserFilter.MEDIAN, [3.0]),
            "localize.set_pose": ((4.5, 3.8, -1.57),),
            "simulation.get_pose2d": ("Marvin",),
            "simulation.set_pose2d": ("pieza", (-0.25, 0.2, 0.0)),
            "simulation.get_pose3d": ("pieza",),
            "simulation.set_pose3d": ("pieza", (-0.25, 0.2, 0.06, 0.0, 0.0, 0.0)),
            "simulation.get_property": ("pieza", "color", 4),
            "simulation.set_property": ("pieza", "color", bytes(4)),
            "camera.set_source": ("ntsc", 0),
            "map.get_tile": (0, 0, 20, 10),
            "actarray.set_position": (0, 0.1),
            "actarray.set_positions": ([0.1, 0.0, 0.0, 0.0, 0.0],),
            "actarray.set_speed": (0, 0.0),
            "actarray.set_speeds": ([0.0] * 5,),
            "actarray.set_current": (0, 0.0),
            "actarray.set_currents": ([0.0] * 5,),
            "actarray.set_power": (True,),
            "actarray.set_brakes": (False,),
            "actarray.set_joint_speed": (0, 0.5),
            "actarray.set_joint_acceleration": (0, 0.5),
            "planner.set_goal": ((4.5, 3.4, -1.57),),
            "planner.set_start": ((4.5, 3.8, -1.57),),
            "planner.enable": (True,),
            "log.set_write_state": (False,),
            "log.set_file_name": ("python-test.log",),
            "limb.set_pose": ((0.0, 0.3, 0.6), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)),
            "limb.set_position": ((0.0, 0.3, 0.6),),
            "limb.move_along": ((0.0, 0.0, -1.0), 0.01),
            "limb.set_power": (True,),
            "limb.set_brakes": (False,),
            "limb.set_speed": (0.1,),
            "vectormap.get_layer": ("walls",),
            "vectormap.write_layer": ("walls",),
            "imu.set_data_kind": (readings.ImuDataKind.EULER,),
            "imu.reset_euler": ((0.0,) * 6,),
            "ranger.set_power": (True,),
            "ranger.send_intensities": (False,),
            "ranger.set_config": (-1.0, 1.0, 0.01, 0.1, 4.0),
        }
        results: dict[str, Any] = {}
        for interface in INTERFACES.values():
            name = interface.interface
            if name in ("ir", "opaque"):
                # The lab has none by itself; see below.
                with self.assertRaises(Refused):
                    getattr(p, name)()
                continue
            device = getattr(p, name)()
            if name == "localize":
                # Particles are refused until the pose is known.
                until("the pose", lambda: p.read(1.0) and device.hypotheses)
            for command in interface:
                full = f"{name}.{command}"
                seen.add(full)
                if full == "simulation.pause":
                    device.pause()
                    # Two at once may be carried out in any order.
                    time.sleep(0.5)
                    device.pause()
                    time.sleep(0.5)
                    continue
                if full == "simulation.reset":
                    self.reset(device)
                    continue
                if full == "log.set_write_state":
                    # The recorder is found a little after the device is opened.
                    device.set_file_name(f"python-{id(p)}")
                    until("a recording", lambda: answered(lambda: device.set_write_state(True) or True))
                    recording = structures.LogState(structures.LogKind.WRITE, True)
                    until("its state", lambda: device.get_state() == recording)
                    # Some messages, to be played.
                    time.sleep(1.0)
                if full == "log.set_read_state":
                    playing = structures.LogState(structures.LogKind.READ, True)
                    # It is short: a busy machine may see it after its end.
                    until(
                        "a playback",
                        lambda: (answered(lambda: device.set_read_state(True)), device.get_state() == playing)[1],
                    )
                    device.set_read_state(False)
                    until("the end of the playback", lambda: not device.get_state().enabled)
                    continue
                try:
                    results[full] = getattr(device, command)(*arguments.get(full, ()))
                except Refused:
                    refused.add(full)
            if interface.data and name not in ("gripper", "map", "power", "bumper", "camera"):
                until(f"data of {name}", lambda: [one for one in p.read(1.0) if one.interface == name])
            if name == "position2d":
                self.assertIsNotNone(device.state)
                device.set_velocity(0.0, 0.0, 0.0)
                device.reset_odometry()
            device.close_device()
        self.assertEqual(len(seen), sum(len(one) for one in INTERFACES.values()) - 4)
        self.assertEqual(refused, REFUSED)
        self.assertEqual(results["position2d.get_geometry"].size.width, 0.354)
        self.assertEqual(len(results["map.get_tile"].cells), 200)
        self.assertEqual(len(results["sonar.get_geometry"].poses), 16)
        self.assertEqual(len(results["actarray.get_geometry"].joints), 5)
        self.assertEqual(results["simulation.get_pose3d"].name, "pieza")
        self.assertTrue(results["bumper.get_geometry"].bumpers)
        self.assertGreater(results["map.get_info"].width, 0)
        self.assertEqual([one.name for one in results["vectormap.get_info"].layers], ["walls"])
        self.assertTrue(results["vectormap.get_layer"].features)

    def reset(self, simulation: Any) -> None:
        before = simulation.get_pose3d("Neo").pose
        simulation.set_pose2d("Neo", (before.position.x, before.position.y - 0.5, 0.0))
        until("another place", lambda: simulation.get_pose3d("Neo").pose != before)
        simulation.reset()
        until("its place at the start", lambda: abs(simulation.get_pose2d("Neo").pose.y + 1.0) < 0.01)

    def test_reading_and_commands_at_the_same_time(self) -> None:
        async def tasks() -> None:
            async with AsyncPlayer(port=lab().player) as player:
                base = await player.position2d(3)
                data: list[Any] = []
                sent = 0

                # Both go on: reading ends after enough commands.
                async def read() -> None:
                    while len(data) < 20 or sent < 20:
                        data.extend(await player.read(5.0))

                reading = asyncio.ensure_future(read())
                while not reading.done():
                    await base.set_velocity(0.0, 0.0, 0.05)
                    await base.get_geometry()
                    sent += 1
                await reading
                await base.set_velocity(0.0, 0.0, 0.0)

        async def limited() -> None:
            await asyncio.wait_for(tasks(), 60)

        asyncio.run(limited())
        with Player(port=lab().player) as player:
            base = player.position2d(3)
            data: list[Any] = []
            sent = 0
            end = time.monotonic() + 60

            def read() -> None:
                while (len(data) < 20 or sent < 20) and time.monotonic() < end:
                    data.extend(player.read(5.0))

            thread = threading.Thread(target=read)
            thread.start()
            while thread.is_alive():
                base.get_geometry()
                sent += 1
            thread.join()
            self.assertGreaterEqual(min(len(data), sent), 20)

    def test_devices_that_the_lab_does_not_have(self) -> None:
        # What is written to opaque:0 comes back: its topics are the same.
        table = """devices:
  - { device: "ir:0", robot: Neobotix, ranges: [neobotix/ultrasonic_1], poses: [[0.45, 0, 0]] }
  - { device: "opaque:0", robot: Neobotix, data: bytes, command: bytes }
"""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "devices.yaml")
            file.write_text(table, encoding="utf-8")
            one = Lab("--only", "neobotix,player", "--player-devices", str(file))
            try:
                with callers(Player, AsyncPlayer, port=one.player) as both:
                    for player in both:
                        self.assertEqual([str(device) for device in player.devices()], ["ir:0", "opaque:0"])
                        sensors = player.ir()
                        self.assertEqual(sensors.get_geometry().poses[0].position.x, 0.45)
                        sensors.set_power(True)
                        until("ranges", lambda: player.read(1.0) and sensors.ranges)
                        self.assertEqual(len(sensors.ranges.ranges), 1)
                        echo = player.opaque()
                        until("bytes", lambda: echo.command(b"abc") or (player.read(1.0) and echo.state))
                        self.assertEqual(echo.state.data, b"abc")
                        with self.assertRaises(Refused):
                            echo.request(b"abc")
            finally:
                one.stop()

    def test_properties(self) -> None:
        with callers(Player, AsyncPlayer, port=lab().player) as both:
            for one in both:
                base = one.position2d()
                # The lab refuses both.
                for number in (1, 200):
                    with contextlib.suppress(Refused):
                        base.has_message(3, number)
                for method, args in {
                    "get_bool_property": (), "get_text_property": (), "get_double_property": (),
                    "get_int_property": (), "set_bool_property": (True,), "set_text_property": ("a",),
                    "set_double_property": (0.5,), "set_int_property": (1,),
                }.items():  # fmt: skip
                    with self.subTest(method), self.assertRaises(Refused):
                        getattr(base, method)("no such property", *args)

    def test_drive(self) -> None:
        with callers(Player, AsyncPlayer, port=lab().player) as both:
            for one in both:
                base = one.position2d(2)
                until("data", lambda: one.read(1.0))
                before = base.state.pose
                base.set_velocity(0.0, 0.0, 0.3)
                until("motion", lambda: one.read(1.0) and abs(base.state.pose.yaw - before.yaw) > 0.05)
                base.set_velocity(0.0, 0.0, 0.0)


@needs_lab
class Restart(unittest.TestCase):
    def test_a_lab_that_ends_and_comes_again(self) -> None:
        first = Lab()
        second: Lab | None = None
        with contextlib.ExitStack() as stack:
            clients = [
                *stack.enter_context(callers(Apolo, AsyncApolo, port=first.apolo, timeout=2)),
                stack.enter_context(callers(Neobotix, AsyncNeobotix, port=first.neobotix[0], timeout=2))[0],
                *stack.enter_context(callers(Arm31, AsyncArm31, port=first.arm31, timeout=2)),
                *stack.enter_context(callers(Player, AsyncPlayer, port=first.player, timeout=2)),
            ]
            try:
                asks: list[Callable[[], Any]] = []
                for one in clients:
                    if isinstance(one.client, (Apolo, AsyncApolo)):
                        asks.append(lambda one=one: one.get_location("pieza"))  # type: ignore[misc]
                    elif isinstance(one.client, Neobotix):
                        asks.append(one.get_position)
                    elif isinstance(one.client, (Arm31, AsyncArm31)):
                        asks.append(one.joint_positions)
                    else:
                        asks.append(one.position2d().get_geometry)
                before = [until("an answer", lambda: answered(ask)) for ask in asks]
                first.stop()
                for ask in asks:
                    began = time.monotonic()
                    with self.assertRaises((ConnectionLost, Timeout)):
                        ask()
                    # The client's limit is 2 s; the rest is for a busy machine.
                    self.assertLess(time.monotonic() - began, 12.0)
                second = Lab(ports_of=first)
                after = [until("an answer", lambda: answered(ask)) for ask in asks]
                self.assertEqual(before[:2], after[:2])
                self.assertEqual(before[-1], after[-1])
            finally:
                first.stop()
                if second is not None:
                    second.stop()


if __name__ == "__main__":
    unittest.main()
