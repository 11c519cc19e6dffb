"""Every command byte by byte, as the documents of the protocols have it."""

from __future__ import annotations

import math
import struct
import unittest
from typing import Any, Callable

from dragoman_clients import BadArgument, BadReply
from dragoman_clients.apolo import commands as apolo
from dragoman_clients.apolo.wire import ApoloCore
from dragoman_clients.arm31 import commands as arm31
from dragoman_clients.arm31.wire import Arm31Core
from dragoman_clients.core import Core, Request
from dragoman_clients.neobotix import Map, Pose, Program, Roadmap
from dragoman_clients.neobotix import commands as neobotix
from dragoman_clients.neobotix.wire import NeobotixCore
from dragoman_clients.player import INTERFACES, readings, sensors
from dragoman_clients.player import commands as player
from dragoman_clients.player import structures as s
from dragoman_clients.player.wire import DIALECT, REQUEST, unpack

from . import replies
from .replies import Rows, telegram
from .support import REPOSITORY

ONE = struct.pack("<d", 1)
TWO = struct.pack("<d", 2)
THREE = struct.pack("<d", 3)
FOUR = struct.pack("<d", 4)


def ask(core: Core, request: Request[Any], answer: bytes) -> Any:
    """The result of a request that is answered with these bytes."""
    core.begin(request)
    core.receive(answer)
    outcome = core.take_outcome()
    assert outcome is not None, "no answer"
    return outcome.get()


class Apolo(unittest.TestCase):
    """Apolo port manual; sizes and layouts of its annex."""

    def test_the_example_has_46_bytes(self) -> None:
        data = ApoloCore(255).encode(apolo.set_robot_joints("robot_de_ejem", [1, 2], "World 1"))
        self.assertEqual(data, b"aa\x2e\0J\x08World 1\0\x0erobot_de_ejem\0\x02" + ONE + TWO)
        self.assertEqual(len(data), 46)

    def test_every_command(self) -> None:
        names, three = b"\x02W\0\x02x\0", ONE + TWO + THREE
        cases: dict[str, tuple[Request[Any], bytes]] = {
            "check_robot_joints": (apolo.check_robot_joints("x", [1], "W"), b"aa\x14\0j" + names + b"\x01" + ONE),
            "get_allultrasonic_sensors": (apolo.get_allultrasonic_sensors("x", "W"), b"aa\x0b\0d" + names),
            "get_laser_data": (apolo.get_laser_data("x", "W"), b"aa\x0b\0l" + names),
            "get_laser_land_marks": (apolo.get_laser_land_marks("x", "W"), b"aa\x0b\0B" + names),
            "get_location": (apolo.get_location("x"), b"aa\x09\0G\0\x02x\0"),
            "get_location_m_robot": (apolo.get_location_m_robot("x", "W"), b"aa\x0b\0g" + names),
            "get_odometry": (apolo.get_odometry("x", "W"), b"aa\x0b\0o" + names),
            "get_ultrasonic_sensor": (apolo.get_ultrasonic_sensor("x", "W"), b"aa\x0b\0u" + names),
            "link_to_robot_tcp": (apolo.link_to_robot_tcp("x", "y", "W"), b"aa\x0e\0L" + names + b"\x02y\0"),
            "move_m_robot": (apolo.move_m_robot("x", (1, 2), 3, "W"), b"aa\x23\0m" + names + three),
            "move_m_robot_unanswered": (
                apolo.move_m_robot_unanswered("x", (1, 2), 3, "W"),
                b"aa\x23\0m" + names + three,
            ),
            "place": (apolo.place("x", (1, 2, 3), (1, 2, 3), "W"), b"aa\x3b\0P" + names + three + three),
            "place_m_robot": (apolo.place_m_robot("x", (1, 2, 3), 4, "W"), b"aa\x2b\0p" + names + three + FOUR),
            "place_xyz": (apolo.place_xyz("x", 1, 2, 3, "W"), b"aa\x3b\0P" + names + three + bytes(24)),
            "reset_odometry": (apolo.reset_odometry("x", (1, 2, 3), "W"), b"aa\x23\0R" + names + three),
            "set_robot_joints": (apolo.set_robot_joints("x", [1], "W"), b"aa\x14\0J" + names + b"\x01" + ONE),
            "update": (apolo.update(), b"aa\x06\0U\0"),
        }
        self.assertEqual(set(cases), set(apolo.COMMANDS))
        for name, (request, expected) in cases.items():
            with self.subTest(name):
                self.assertEqual(ApoloCore(256).encode(request), expected)
                self.assertEqual(request.name, name)

    def test_answers(self) -> None:
        core = ApoloCore(256)
        self.assertIs(ask(core, apolo.check_robot_joints("x", [1]), b"aa\x05\0T"), True)
        self.assertIs(ask(core, apolo.move_m_robot("x", (1, 2), 3), b"aa\x05\0F"), False)
        six = struct.pack("<6d", *range(6))
        self.assertEqual(
            ask(core, apolo.get_location("x"), b"aa\x37\0D\x06\0" + six), apolo.Location(*map(float, range(6)))
        )
        marks = b"aa\x2b\0b\x02\0" + b"\x07\0" + ONE + TWO + b"\x02\x01" + TWO + ONE
        found = ask(core, apolo.get_laser_land_marks("x"), b"garbage a" + marks)
        self.assertEqual(found, [apolo.LandMark(7, 1.0, 2.0), apolo.LandMark(258, 2.0, 1.0)])
        with self.assertRaisesRegex(BadReply, "3 numbers instead of 6"):
            ask(core, apolo.get_location("x"), b"aa\x1f\0D\x03\0" + bytes(24))

    def test_scans_of_servers_of_both_bases(self) -> None:
        ranges = struct.pack("<541d", *range(541))
        new, old = b"aa\xef\x10D\x1d\x02", b"aa\0\x11D\x1f\x02"
        # The other way round, the sizes of a new server may have a meaning in base 255, too.
        for base, header in ((256, new), (256, old), (255, old)):
            found = ask(ApoloCore(base), apolo.get_laser_data("x"), header + ranges)
            self.assertEqual(found, [float(one) for one in range(541)])

    def test_names_beyond_ascii(self) -> None:
        for name, expected in {"año": b"\x04a\xf1o\0", "Ã±": b"\x05\xc3\x83\xc2\xb1\0"}.items():
            self.assertEqual(apolo.update(name).data, expected)


class Neobotix(unittest.TestCase):
    """PlatformCtrl guide, 6.2 to 6.4."""

    def test_every_command(self) -> None:
        frame = b"\x00\x00\x03\xe8\xff\xff\xff\xfe\x00\x01\x5f\x90"
        pose = (1.0, -0.002, math.pi / 2)
        empty_map, empty_program = "<map/>", "<program/>"
        roadmap = "<roadmap><stations/><edges/></roadmap>"
        n: Any = neobotix
        cases: dict[str, tuple[Request[Any], bytes]] = {
            "connect_to_pltf": (n.connect_to_pltf(), b"\x00"),
            "shutdown_pltf": (n.shutdown_pltf(), b"\x01"),
            "init_pltf": (n.init_pltf(), b"\x02"),
            "set_brake": (n.set_brake(n.Motor.LEFT, True), b"\x03\x02\x01"),
            "set_digout": (n.set_digout(n.Board.RELAY, 7, True), b"\x04\0\0\0\x01\0\0\0\x07\x01"),
            "start_ultrasonic": (n.start_ultrasonic(3), b"\x05\0\0\0\x03"),
            "stop_ultrasonic": (n.stop_ultrasonic(), b"\x06"),
            "add_can_listening_id": (n.add_can_listening_id(0x181), b"\x07\0\0\x01\x81"),
            "remove_can_listening_id": (n.remove_can_listening_id(0x181), b"\x08\0\0\x01\x81"),
            "send_can_message": (n.send_can_message(0x601, b"01234567"), b"\x09\0\0\x06\x0101234567"),
            "get_can_messages": (n.get_can_messages(True), b"\x0a\x01"),
            "start": (n.start(), b"\x0b"),
            "break": (n.break_(), b"\x0c"),
            "continue": (n.continue_(), b"\x0d"),
            "stop": (n.stop(), b"\x0e"),
            "set_mode": (n.set_mode(n.MotionMode.AUTOMATIC), b"\x0f\0\0\0\x04"),
            "exit": (n.exit(), b"\x10"),
            "close_socket": (n.close_socket(), b"\x11"),
            "get_status": (n.get_status(), b"\x12"),
            "move_path": (n.move_path([Pose(*pose), (0, 0, 0)]), b"\x13\0\0\0\x02" + frame + bytes(12)),
            "move_to_station": (n.move_to_station("dock"), b"\x14\0\0\0\x04dock"),
            "move_abs": (n.move_abs(*pose), b"\x15" + frame),
            "move_rel": (n.move_rel(*pose), b"\x16" + frame),
            "move_vel_wheel": (n.move_vel_wheel(0.3, -0.3), b"\x17\0\0\x01\x2c\xff\xff\xfe\xd4"),
            "move_vel": (n.move_vel(0.5, -0.25), b"\x18\0\0\x01\xf4\xff\xff\xff\x06"),
            "set_map": (n.set_map(empty_map, "a"), b"\x19\0\0\0\x01a\0\0\0\x06<map/>"),
            "get_map": (n.get_map(), b"\x1a"),
            "load_map": (n.load_map(), b"\x1b"),
            "save_map": (n.save_map(), b"\x1c"),
            "mapping_start": (n.mapping_start(), b"\x1d"),
            "mapping_reset": (n.mapping_reset(), b"\x1e"),
            "mapping_stop": (n.mapping_stop(), b"\x1f"),
            "set_roadmap": (n.set_roadmap(roadmap, "b"), b"\x20\0\0\0\x01b\0\0\0\x26" + roadmap.encode()),
            "get_roadmap": (n.get_roadmap(), b"\x21"),
            "load_roadmap": (n.load_roadmap(), b"\x22"),
            "save_roadmap": (n.save_roadmap(), b"\x23"),
            "set_frm_pltf": (n.set_frm_pltf(*pose), b"\x24" + frame),
            "set_pltf_param": (n.set_pltf_param("IpoRotvel", 0.5), b"\x25\0\0\0\x09IpoRotvel\0\0\0\x030.5"),
            "get_pltf_param": (n.get_pltf_param("IpoRotvel"), b"\x26\0\0\0\x09IpoRotvel"),
            "get_pltf_param_vec": (n.get_pltf_param_vec(), b"\x27"),
            "set_program": (n.set_program(empty_program), b"\x28\0\0\0\x0a<program/>"),
            "get_program": (n.get_program(), b"\x29"),
            "load_program": (n.load_program(), b"\x2a"),
            "save_program": (n.save_program(), b"\x2b"),
            "speak_text": (n.speak_text("Hi"), b"\x2c\0\0\0\x02Hi"),
            "play_sound": (n.play_sound("a.wav"), b"\x2d\0\0\0\x05a.wav"),
            "grab_image": (n.grab_image("a.jpg"), b"\x2e\0\0\0\x05a.jpg"),
            "set_pos_head_drive": (n.set_pos_head_drive(math.radians(-45)), b"\x2f\xff\xff\xff\xd3"),
            "set_vel_head_drive": (n.set_vel_head_drive(math.radians(10)), b"\x30\0\0\x03\xe8"),
            "set_pos_pan_tilt_camera": (n.set_pos_pan_tilt_camera("p1"), b"\x31\0\0\0\x02p1"),
            "get_debug_data": (n.get_debug_data(), b"\x32"),
            "debug1": (n.debug1(), b"\x33"),
            "debug2": (n.debug2(), b"\x34"),
            "debug3": (n.debug3(), b"\x35"),
            "debug4": (n.debug4(), b"\x36"),
            "mouse_move": (
                n.mouse_move(0.001, -0.001, n.MouseButton.RBUTTON_UP),
                b"\x37\0\0\0\x01\xff\xff\xff\xff\0\0\0\x05",
            ),
            "set_log_enabled": (n.set_log_enabled(), b"\x38"),
            "set_post_process_filename": (n.set_post_process_filename(), b"\x39"),
            "set_event": (n.set_event(n.PostProcessEvent.CONTINUE_REPLAY), b"\x3a\0\0\0\x06"),
            "get_camera": (n.get_camera(), b"\x3b"),
            "get_position": (n.get_position(), b"\x4a"),
        }
        self.assertEqual(set(cases), set(n.COMMANDS))
        for name, (request, data) in cases.items():
            with self.subTest(name):
                length = struct.pack(">I", len(data))
                self.assertEqual(NeobotixCore(False).encode(request), length + data)
                self.assertEqual(NeobotixCore(True).encode(request), b"\xff\x01\xfe\x02" + length + data)
                self.assertEqual(request.name, name)

    def test_the_example_of_the_guide(self) -> None:
        self.assertEqual(NeobotixCore(False).encode(neobotix.connect_to_pltf()), b"\0\0\0\x01\0")

    def test_a_lateral_velocity_is_a_third_number(self) -> None:
        self.assertEqual(neobotix.move_vel(0.5, 0, 0.1).data, b"\0\0\x01\xf4\0\0\0\0\0\0\0\x64")

    def test_documents_may_be_objects(self) -> None:
        for request, kind in (
            (neobotix.set_map(Map(), "a"), Map),
            (neobotix.set_roadmap(Roadmap(), "a"), Roadmap),
            (neobotix.set_program(Program()), Program),
        ):
            self.assertIn(kind().xml().encode(), request.data)


class NeobotixReplies(unittest.TestCase):
    """PlatformCtrl guide, 6.4, row by row."""

    def ask(self, request: Request[Any], data: bytes) -> Any:
        first = ask(NeobotixCore(False), request, telegram(data))
        # Byte by byte, with a header, behind a telegram that nobody asked for.
        core = NeobotixCore(True)
        core.begin(request)
        for byte in b"\xff\x01\xfe\x02" + telegram(b"\x63") + b"\xff\x01\xfe\x02" + telegram(data):
            core.receive(bytes([byte]))
        outcome = core.take_outcome()
        assert outcome is not None
        self.assertEqual(outcome.get(), first)
        return first

    def test_status(self) -> None:
        status = self.ask(neobotix.get_status(), replies.status())
        mdeg = math.radians(0.001)
        self.assertEqual((status.commanded.x, status.commanded.y), (0.001, 0.002))
        self.assertAlmostEqual(status.commanded.angle, 3 * mdeg)
        self.assertEqual((status.estimated.x, status.covariance.minor), (0.004, 0.008))
        self.assertAlmostEqual(status.covariance.principal_axis, 10 * mdeg)
        self.assertEqual([(one.x, one.y) for one in status.scan], [(0.011, 0.012), (0.013, 0.014)])
        self.assertEqual(status.reflectors[0].y, 0.016)
        self.assertEqual((status.lines[0].target.x, status.lines[0].source.y), (0.017, 0.02))
        self.assertEqual((status.circles[0].center.x, status.circles[0].radius), (0.021, 0.023))
        self.assertEqual((status.corners[0].x, status.path[0].y), (0.024, 0.027))
        self.assertEqual(status.joystick_buttons, [True, True])
        self.assertEqual((status.velocity.translation, status.velocity.rotation), (0.03, 0.031))
        self.assertEqual((status.relay_board.digital_in, status.relay_board.status), (32, 33))
        self.assertEqual(status.relay_board.analog_in, tuple(range(34, 42)))
        self.assertEqual(status.relay_board.optical_distance, (42, 43, 44, 45))
        io = status.io_board
        self.assertEqual((io.battery_voltage, io.digital_in, io.digital_out, io.status), (46, 47, 48, 49))
        self.assertEqual(io.analog_in, tuple(range(50, 58)))
        self.assertEqual((status.motors.right_status, status.motors.left_temperature), (58, 61))
        self.assertEqual(status.ultrasonic, tuple(one / 1000 for one in range(62, 78)))
        self.assertEqual((status.ultrasonic_board.analog_in[0], status.ultrasonic_board.status), (78, 86))
        self.assertEqual((status.radar_board.velocity[3], status.radar_board.status), (0.09, 91))
        self.assertEqual((status.latitude, status.longitude), (92.0, 93.0))
        self.assertEqual((status.gyro.acceleration[0], status.gyro.angle), (0.0094, 0.0097))
        self.assertEqual((status.gyro.temperature, status.gyro.status), (98, 99))
        self.assertEqual((status.motion_mode, status.operation_state, status.emergency_state), (102, 103, 104))
        self.assertEqual((status.application_mode, status.planner_state, status.time_stamp), (105, 106, 107))
        self.assertEqual((status.application_error, status.lookup_percent), (108, 112))
        self.assertEqual(status.infrared, (True,) * 4)
        self.assertAlmostEqual(status.head_angle, math.radians(119))

    def test_the_end_is_checked(self) -> None:
        data = Rows().raw(b"\x12").rows("iii iii iiii").raw(bytes(28)).rows("i" * 100).data
        for end in (b"\xff\xff\xff\xfe", b"", b"\xff" * 5):
            with self.assertRaises(BadReply):
                self.ask(neobotix.get_status(), data + end)

    def test_position(self) -> None:
        found = self.ask(neobotix.get_position(), replies.position())
        self.assertEqual(
            (found.x, found.y, found.angle, found.translation, found.rotation), (0.001, 0.002, 3, 0.004, 5)
        )

    def test_can_messages(self) -> None:
        found = self.ask(neobotix.get_can_messages(), replies.can_messages())
        self.assertEqual([(one.time_stamp, one.id, one.data) for one in found][1], (11.0, 12, bytes(range(13, 21))))

    def test_documents(self) -> None:
        for number, request in ((26, neobotix.get_map()), (33, neobotix.get_roadmap())):
            found = self.ask(request, replies.document(number))
            self.assertEqual((found.character_count, found.xml, found.name), (4, "<map/>", "hall"))
        self.assertEqual(self.ask(neobotix.get_program(), replies.program()), "<program/>")
        camera = self.ask(neobotix.get_camera(), replies.camera())
        self.assertEqual((camera.address, camera.id), ("10.0.0.2", "c"))

    def test_parameters(self) -> None:
        found = self.ask(neobotix.get_pltf_param("k"), replies.parameter())
        self.assertEqual((found.key, found.value, found.parsed), ("k", "42", 42.0))
        self.assertEqual(
            (found.category.name, found.type.name, found.minimum, found.maximum), ("PLANNING", "DOUBLE", 3, 4)
        )
        self.assertEqual(self.ask(neobotix.get_pltf_param_vec(), replies.parameters()), [found, found])

    def test_debug_data(self) -> None:
        found = self.ask(neobotix.get_debug_data(), replies.debug_data())
        self.assertEqual(found.validation_gates[0].corners[3].y, 0.008)
        self.assertEqual(found.mapping.segments[0].source.x, 0.009)
        self.assertEqual(found.mapping.explored_segments[0].target.y, 0.016)
        self.assertEqual(found.mapping.global_localization.frames[0].angle, 19)
        self.assertEqual(found.mapping.global_localization.visible_lines[0].target.y, 0.023)
        self.assertEqual(found.path[0].x, 0.032)
        self.assertEqual((found.graphical_objects[0].kind, found.graphical_objects[0].reserved), (35, 43))
        self.assertEqual((found.variables[0].id, found.variables[0].value), (44, "v"))
        clusters = (found.moving_clusters, found.person_clusters, found.ball_clusters)
        self.assertEqual([one[0].index for one in clusters], [47, 50, 53])
        self.assertEqual(found.protocol_queue, ["ab"])
        self.assertEqual((found.tcp.receive_time, found.tcp.wait_percent), (54, 63))
        self.assertEqual((found.safe_velocities.forward_laser, found.safe_velocities.optocoupler), (0.064, 0.068))


class Arm31(unittest.TestCase):
    """Ranger thesis, appendix A."""

    COUNT = struct.pack("<7f", 1, 2, 3, 4, 5, 6, 7)

    def test_every_command(self) -> None:
        a, count = arm31, self.COUNT
        six, xyz, rpy = (1, 2, 3, 4, 5, 6), (1, 2, 3), (4, 5, 6)
        cases: dict[str, tuple[Request[Any], bytes, bytes, int]] = {
            "begin_motion": (a.begin_motion(), b"BG", b"", 0),
            "set_command_mode": (a.set_command_mode(a.CommandMode.JOINT), b"CM", count[:4], 0),
            "set_goal_pose": (a.set_goal_pose(xyz, (4, 5, 6, 7)), b"GL", count, 0),
            "set_timed_goal_pose": (a.set_timed_goal_pose(xyz, rpy, 7), b"GT", count, 0),
            "begin_joint_motion": (a.begin_joint_motion(), b"jB", b"", 0),
            "clear_joint_via_points": (a.clear_joint_via_points(), b"jC", b"", 0),
            "execute_joint_via_points": (a.execute_joint_via_points(), b"jE", b"", 0),
            "set_joint_goal": (a.set_joint_goal(six), b"jG", count[:24], 0),
            "joint_positions": (a.joint_positions(), b"jP", b"", 0),
            "reset_joint_motion": (a.reset_joint_motion(), b"jR", b"", 0),
            "set_joint_via_point": (a.set_joint_via_point(19, six, 7), b"jV", count, 19),
            "disable": (a.disable(), b"OF", b"", 0),
            "enable": (a.enable(), b"ON", b"", 0),
            "pose": (a.pose(), b"PS", b"", 0),
            "recalibrate": (a.recalibrate(six), b"RC", count[:24], 0),
            "stop": (a.stop(), b"ST", b"", 0),
            "temperatures": (a.temperatures(), b"TM", b"", 0),
            "clear_via_points": (a.clear_via_points(), b"VC", b"", 0),
            "execute_via_points": (a.execute_via_points(), b"VE", b"", 0),
            "set_via_point": (a.set_via_point(255, xyz, rpy, 7), b"VP", count, 255),
        }
        self.assertEqual(set(cases), set(a.COMMANDS))
        self.assertEqual(len(cases), 20)
        for name, (request, letters, values, index) in cases.items():
            with self.subTest(name):
                self.assertEqual(request.data, letters + values.ljust(28, b"\0") + bytes([index]))
                self.assertEqual(request.name, name)

    def test_answers(self) -> None:
        core = Arm31Core()
        pose = b"SP\0\0\x80\x3f\0\0\0\xbf\0\0\x80\x3e\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\x3f\0"
        self.assertEqual(ask(core, arm31.pose(), pose), arm31.Pose((1.0, -0.5, 0.25), (0.0, 0.0, 0.0, 1.0)))
        warm = b"MT\0\0\x04\x42\0\0\0\x42\0\0\xd8\x41" + b"\0\0\x7a\xc4" * 4 + b"\0"
        self.assertEqual(ask(core, arm31.temperatures(), warm), [33.0, 32.0, 27.0, None, None, None, None])
        self.assertEqual(ask(core, arm31.joint_positions(), b"Pj" + self.COUNT + b"\0"), [1, 2, 3, 4, 5, 6, 7])
        # 30 bytes, and the letters with which the original answers VC.
        self.assertIsNone(ask(core, arm31.stop(), b"TS" + bytes(28)))
        self.assertIsNone(ask(core, arm31.clear_via_points(), b"PV" + bytes(29)))

    def test_nothing_that_starts_a_motion_is_repeated(self) -> None:
        once = {"begin_motion", "begin_joint_motion", "execute_joint_via_points", "execute_via_points"}
        once |= {"enable", "set_command_mode", "recalibrate"}
        a = arm31
        requests: list[Request[Any]] = [
            a.begin_motion(), a.set_command_mode(a.CommandMode.OFF), a.begin_joint_motion(), a.enable(),
            a.execute_joint_via_points(), a.execute_via_points(), a.recalibrate([0] * 6), a.stop(), a.disable(),
        ]  # fmt: skip
        self.assertEqual({one.name for one in requests if not one.repeatable}, once)


class Player(unittest.TestCase):
    """Bodies as the original, version 3.1, writes them: tests/player/literals.txt of the bridge."""

    def literals(self) -> dict[tuple[str, str, int], bytes]:
        text = (REPOSITORY / "packages/dragoman_bridge/tests/player/literals.txt").read_text()
        found: dict[tuple[str, str, int], bytes] = {}
        key = ("", "", 0)
        for line in text.splitlines():
            if line.startswith("    "):
                found[key] = found.get(key, b"") + bytes.fromhex(line.strip())
            elif not line.startswith("#"):
                interface, kind, number = line.split()
                key = (interface, kind, int(number))
        return found

    # A number at place k has the value of these functions.

    def real(self, place: int) -> float:
        return (place + 0.25 * (place % 4)) * (1 if place % 2 else -1)

    def test_requests_and_commands(self) -> None:
        f = self.real
        p: Any = player
        q: Any = sensors
        pose, velocity = (f(1), f(2), f(3)), (f(4), f(5), f(6))
        whole = [-100001, 100002]
        u32 = 0x01020301
        pose3 = (*pose, *velocity)
        cases: dict[tuple[str, str, int], Request[Any]] = {
            ("power", "request", 1): p.power_set_charging_policy(True, True),
            ("position2d", "command", 1): p.position2d_set_velocity(*pose, True),
            ("position2d", "command", 2): p.position2d_set_position(pose, velocity, True),
            ("position2d", "command", 3): p.position2d_set_car(f(1), f(2)),
            ("position2d", "command", 4): p.position2d_set_velocity_heading(f(1), f(2)),
            ("position2d", "request", 2): p.position2d_set_motor_power(True),
            ("position2d", "request", 3): p.position2d_set_velocity_mode(u32),
            ("position2d", "request", 4): p.position2d_set_position_mode(u32),
            ("position2d", "request", 5): p.position2d_set_odometry(*pose),
            ("position2d", "request", 7): p.position2d_set_speed_pid(*pose),
            ("position2d", "request", 8): p.position2d_set_position_pid(*pose),
            ("position2d", "request", 9): p.position2d_set_speed_profile(f(1), f(2)),
            ("sonar", "request", 2): q.sonar_set_power(True),
            ("laser", "request", 2): q.laser_set_config(*map(f, range(1, 6)), True, f(7)),
            ("laser", "request", 4): q.laser_set_power(True),
            ("laser", "request", 6): q.laser_set_filter(readings.LaserFilter.MEDIAN, [f(2), f(3)]),
            ("ir", "request", 2): q.ir_set_power(True),
            ("localize", "request", 1): p.localize_set_pose(pose, tuple(map(f, range(4, 10)))),
            ("simulation", "request", 2): p.simulation_set_pose2d("ab", (f(4), f(5), f(6))),
            ("camera", "request", 2): q.camera_set_source("ab", 100004),
            ("actarray", "request", 1): p.actarray_set_power(True),
            ("actarray", "request", 2): p.actarray_set_brakes(True),
            ("actarray", "request", 4): p.actarray_set_joint_speed(whole[0], f(2)),
            ("actarray", "request", 5): p.actarray_set_joint_acceleration(whole[0], f(2)),
            ("actarray", "command", 1): p.actarray_set_position(whole[0], f(2)),
            ("actarray", "command", 2): p.actarray_set_positions([f(1), f(2)]),
            ("actarray", "command", 3): p.actarray_set_speed(whole[0], f(2)),
            ("actarray", "command", 4): p.actarray_set_speeds([f(1), f(2)]),
            ("actarray", "command", 5): p.actarray_home(whole[0]),
            ("actarray", "command", 6): p.actarray_set_current(whole[0], f(2)),
            ("actarray", "command", 7): p.actarray_set_currents([f(1), f(2)]),
            ("imu", "request", 1): q.imu_set_data_kind(readings.ImuDataKind.STATE),
            ("imu", "request", 2): q.imu_reset_orientation(u32),
            ("imu", "request", 3): q.imu_reset_euler(pose3),
            ("planner", "command", 1): p.planner_set_goal(pose),
            ("planner", "command", 2): p.planner_set_start(pose),
            ("planner", "request", 2): p.planner_enable(True),
            ("log", "request", 1): p.log_set_write_state(True),
            ("log", "request", 2): p.log_set_read_state(True),
            ("log", "request", 5): p.log_set_file_name("ab"),
            ("opaque", "command", 1): p.opaque_command(bytes([0x11, 0x12, 0x13])),
            ("opaque", "request", 1): p.opaque_request(bytes([0x11, 0x12, 0x13])),
            ("limb", "command", 3): p.limb_set_pose(pose, velocity, (f(7), f(8), f(9))),
            ("limb", "command", 4): p.limb_set_position(pose),
            ("limb", "command", 5): p.limb_move_along(pose, f(4)),
            ("limb", "request", 1): p.limb_set_power(True),
            ("limb", "request", 2): p.limb_set_brakes(True),
            ("limb", "request", 4): p.limb_set_speed(f(1)),
            ("ranger", "request", 2): q.ranger_set_power(True),
            ("ranger", "request", 3): q.ranger_send_intensities(True),
            ("ranger", "request", 4): q.ranger_set_config(*map(f, range(1, 8))),
            ("properties", "request", 247): p.property_set_bool_property("ab", True),
            ("properties", "request", 249): p.property_set_text_property("ab", "de"),
            ("properties", "request", 251): p.property_set_double_property("ab", f(4)),
            ("properties", "request", 253): p.property_set_int_property("ab", 100004),
            ("properties", "request", 255): p.property_has_message(u32, u32 + 1),
        }
        literals = self.literals()
        for key, request in cases.items():
            with self.subTest(key):
                self.assertEqual(request.data.hex(), literals[key].hex())
        # Everything else that the interfaces have: no body, or the same form as its answer, which is read below.
        for interface in [*INTERFACES.values(), p.PROPERTIES]:
            name = interface.interface.replace("property", "properties")
            for (kind, number), command in interface.numbers.items():
                key = (name, "request" if kind == REQUEST else "command", number)
                if key not in cases and key in literals:
                    self.assertTrue(command.startswith(("get_", "set_pose3d", "set_property", "write_layer")), key)

    def numbers(self, value: Any) -> list[float]:
        """All numbers with a fraction, in their order."""
        if isinstance(value, float):
            return [value]
        if isinstance(value, (list, tuple)):
            return [number for one in value for number in self.numbers(one)]
        if hasattr(value, "__dataclass_fields__"):
            return [number for name in value.__dataclass_fields__ for number in self.numbers(getattr(value, name))]
        return []

    def test_data_and_answers(self) -> None:
        answers: dict[tuple[str, int], type] = {
            ("gripper", 1): s.GripperGeometry,
            ("position2d", 1): s.Geometry,
            ("sonar", 1): readings.SonarGeometry,
            ("laser", 1): s.Geometry,
            ("laser", 2): readings.LaserConfig,
            ("laser", 3): readings.LaserConfig,
            ("bumper", 1): readings.BumperGeometry,
            ("ir", 1): readings.IrGeometry,
            ("localize", 2): s.Particles,
            ("simulation", 1): s.NamedPose2d,
            ("simulation", 3): s.NamedPose3d,
            ("simulation", 4): s.NamedPose3d,
            ("simulation", 5): s.ObjectProperty,
            ("simulation", 6): s.ObjectProperty,
            ("camera", 1): readings.ImageSource,
            ("camera", 3): readings.Image,
            ("map", 1): s.MapInfo,
            ("map", 3): s.MapVector,
            ("planner", 1): s.Waypoints,
            ("log", 3): s.LogState,
            ("opaque", 1): s.OpaqueData,
            ("actarray", 3): s.ActarrayGeometry,
            ("limb", 3): s.Point3d,
            ("vectormap", 1): s.VectormapInfo,
            ("vectormap", 3): s.Layer,
            ("vectormap", 4): s.Layer,
            ("ranger", 1): readings.RangerGeometry,
            ("ranger", 4): readings.RangerConfig,
            ("ranger", 5): readings.RangerConfig,
        }
        cases = {(name, "request", number): kind for (name, number), kind in answers.items()}
        for interface in INTERFACES.values():
            for number, (_, kind) in interface.data.items():
                cases[interface.interface, "data", number] = kind
        literals = self.literals()
        for key, kind in cases.items():
            with self.subTest(key):
                value = unpack(kind, literals[key], "a literal")
                self.assertEqual(DIALECT.pack(value).hex(), literals[key].hex())
                found = self.numbers(value)
                places = [int(abs(one)) for one in found]
                self.assertEqual(places, sorted(set(places)))
                self.assertEqual(found, [self.real(place) for place in places])

    def test_a_tile_of_a_map(self) -> None:
        import zlib

        cells = bytes(range(12))
        packed = zlib.compress(cells)
        body = struct.pack(">5IiI", 1, 2, 4, 3, len(packed), 100, len(packed)) + packed + bytes(-len(packed) % 4)
        found = player.map_get_tile(1, 2, 4, 3).decode(body)
        self.assertEqual(found, s.MapTile(1, 2, 4, 3, 100, cells))
        self.assertEqual(found.cell(3, 2), 11)
        with self.assertRaises(BadReply):
            player.map_get_tile(1, 2, 4, 3).decode(struct.pack(">5IiI", 1, 2, 9999, 9999, 8, 100, 8) + bytes(8))


class Arguments(unittest.TestCase):
    """Bad input is refused before anything is sent."""

    def test_bad_values(self) -> None:
        nan, inf = math.nan, math.inf
        a: Any = apolo
        n: Any = neobotix
        r: Any = arm31
        p: Any = player
        q: Any = sensors
        bad: list[Callable[[], Any]] = [
            lambda: a.move_m_robot("x", (nan, 0), 1),
            lambda: a.move_m_robot("x", (1,), 1),
            lambda: a.move_m_robot("x", "12", 1),
            lambda: a.place("x", (1, 2, inf)),
            lambda: a.place("", (1, 2, 3)),
            lambda: a.place("x" * 255, (1, 2, 3)),
            lambda: a.place("a\0b", (1, 2, 3)),
            lambda: a.update(7),
            lambda: a.set_robot_joints("x", []),
            lambda: a.set_robot_joints("x", [0.0] * 256),
            lambda: a.set_robot_joints("x", ["1"]),
            lambda: n.move_abs(nan, 0, 0),
            lambda: n.move_abs(3e6, 0, 0),
            lambda: n.move_vel(0, 0, nan),
            lambda: n.move_path([]),
            lambda: n.move_path([(0, 0, 0)] * 10001),
            lambda: n.move_path([(0, 0)]),
            lambda: n.set_mode(7),
            lambda: n.set_mode("fast"),
            lambda: n.send_can_message(0x601, b"123"),
            lambda: n.add_can_listening_id(1 << 29),
            lambda: n.move_to_station(""),
            lambda: n.move_to_station("x" * 1025),
            lambda: n.move_to_station("\ud800"),
            lambda: n.speak_text("x" * 65537),
            lambda: n.set_map("<map>", "a"),
            lambda: n.set_map("<program/>", "a"),
            lambda: n.set_pltf_param("k", nan),
            lambda: n.set_digout(n.Board.IO, 1, 2),
            lambda: r.set_goal_pose((0, 0, 0), (0, 0, 0, 0)),
            lambda: r.set_goal_pose((0, 0, 1e39), (0, 0, 0, 1)),
            lambda: r.set_joint_goal([0] * 5),
            lambda: r.set_joint_via_point(256, [0] * 6),
            lambda: r.set_joint_via_point(-1, [0] * 6),
            lambda: r.set_joint_via_point(0, [0] * 6, -1),
            lambda: r.set_via_point(0.5, (0, 0, 0), (0, 0, 0)),
            lambda: p.position2d_set_velocity(nan, 0, 0),
            lambda: p.position2d_set_position((0, 0)),
            lambda: p.actarray_set_position(0, 1e39),
            lambda: p.actarray_set_position(1 << 31, 0),
            lambda: q.laser_set_filter(readings.LaserFilter.MEDIAN, [0.0] * 9),
            lambda: p.localize_set_pose((0, 0, 0), (0, 0)),
            lambda: p.simulation_get_pose2d("x\0"),
            lambda: p.simulation_get_pose2d("x" * 5000),
            lambda: p.planner_set_goal((0, 0)),
            lambda: p.limb_set_position((0, 0, nan)),
            lambda: p.limb_move_along((0, 0, 1), inf),
            lambda: p.log_set_file_name("x" * 256),
            lambda: p.opaque_command("text"),
            lambda: p.vectormap_write_layer("walls", ["text"]),
        ]
        for number, one in enumerate(bad):
            with self.subTest(number), self.assertRaises(BadArgument):
                one()

    def test_a_frame_that_is_too_long(self) -> None:
        long = "x" * 254
        with self.assertRaises(BadArgument):
            ApoloCore(256).encode(Request("x", "J", bytes(1 << 16), False, lambda _: None))
        self.assertEqual(len(ApoloCore(256).encode(apolo.set_robot_joints(long, [0.0] * 255, long))), 2558)


if __name__ == "__main__":
    unittest.main()
