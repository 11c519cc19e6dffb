"""The examples run against the lab."""

from __future__ import annotations

import contextlib
import math
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .support import Lab, lab, needs_lab, page, serving

FOLDER = Path(__file__).resolve().parents[1] / "examples"


def misjudging(client: socket.socket, port: int, factor: float) -> None:
    """A relay to Player's server: the odometry of position2d is too large by this factor, as with too large wheels."""
    with socket.create_connection(("127.0.0.1", port)) as server:

        def forward() -> None:
            with contextlib.suppress(OSError):
                while chunk := client.recv(1 << 16):
                    server.sendall(chunk)
                server.shutdown(socket.SHUT_RDWR)

        thread = threading.Thread(target=forward, daemon=True)
        client.settimeout(None)
        thread.start()
        data = bytearray()
        is_first, turns, last = True, 0, 0.0
        while chunk := server.recv(1 << 16):
            data += chunk
            # The banner comes first.
            if is_first and len(data) >= 32:
                client.sendall(data[:32])
                del data[:32]
                is_first = False
            while not is_first and len(data) >= 40:
                _, _, interface, _, kind, number, _, _, size = struct.unpack_from(">6IdII", data)
                if len(data) < 40 + size:
                    break
                message = data[: 40 + size]
                del data[: 40 + size]
                if (interface, kind, number) == (4, 1, 1):
                    x, y, yaw = struct.unpack_from(">3d", message, 40)
                    turns += round((last - yaw) / math.tau)
                    last = yaw
                    struct.pack_into(">3d", message, 40, x * factor, y * factor, (yaw + turns * math.tau) * factor)
                client.sendall(message)


@needs_lab
class Examples(unittest.TestCase):
    def run_example(self, name: str, port: int, *pictures: str) -> str:
        """Its output. Each picture has at least a line or some dots."""
        with tempfile.TemporaryDirectory() as folder:
            text = self.run_python([str(FOLDER / name), str(port), *([folder] if pictures else [])])
            for picture in pictures:
                root = ElementTree.parse(Path(folder, picture)).getroot()
                drawn = [one for one in root.iter() if one.tag.endswith(("polyline", "circle"))]
                self.assertGreater(len(drawn), 0, picture)
            return text

    def run_python(self, arguments: list[str]) -> str:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(one for one in sys.path if one)}
        done = subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            timeout=300,
            env=environment,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def test_apolo(self) -> None:
        lines = self.run_example("apolo_course.py", lab().apolo, "course.svg").splitlines()
        self.assertEqual(len(lines), 6)
        self.assertRegex(lines[4], r"^3 +0\.7\d+ +0\.[67]\d+ ")

    def test_neobotix(self) -> None:
        text = self.run_example("neobotix_patrol.py", lab().neobotix[1])
        self.assertIn("is_target_reached: False -> True", text)
        self.assertRegex(text, r"north: x 4\.\d+ m, y 3\.[78]\d* m, -\d+ degrees")

    def test_those_that_drive_for_long(self) -> None:
        other = Lab("--world", "laboratory")
        runs: dict[str, tuple[int, tuple[str, ...]]] = {
            "neobotix_program.py": (lab().neobotix[0], ("patrol.svg",)),
            "arm31_circle.py": (other.arm31, ("circle.svg",)),
            "player_calibrate.py": (lab().player, ("odometry.svg",)),
            "player_pick_cube.py": (other.player, ("cube.svg", "cube_from_the_side.svg")),
        }
        try:
            # Each drives another robot, and mostly waits for it.
            with ThreadPoolExecutor() as pool:
                jobs = {name: pool.submit(self.run_example, name, port, *svg) for name, (port, svg) in runs.items()}
                text = {name: job.result() for name, job in jobs.items()}
        finally:
            other.stop()
        self.assertRegex(text["neobotix_program.py"], r"at middle, at north, patrol ended; way [3-9]\.\d+ m")
        found = re.search(r"radius (\S+) m, largest error (\S+) mm", text["arm31_circle.py"])
        assert found is not None, text
        # The lines between the via points come 0.6 mm nearer to the center than the circle.
        self.assertAlmostEqual(float(found[1]), 0.0297, delta=0.001)
        self.assertLess(float(found[2]), 2.0)
        factors = [float(one) for one in re.findall(r"true = (\S+) \+-", text["player_calibrate.py"])]
        self.assertEqual(len(factors), 2, text)
        for one in factors:
            self.assertAlmostEqual(one, 1.0, delta=0.02)
        self.assertRegex(text["player_pick_cube.py"], r"the cube was at 0\.475 m and is at 0\.[6-9]\d+ m")

    def test_a_calibration_finds_a_planted_error(self) -> None:
        # The RoMAA's wheels are 3 % smaller than its odometry believes.
        with serving(lambda one: misjudging(one, lab().player, 1.03)) as server:
            text = self.run_example("player_calibrate.py", server.port, "odometry.svg")
        factors = [float(one) for one in re.findall(r"true = (\S+) \+-", text)]
        self.assertEqual(len(factors), 2, text)
        for one in factors:
            self.assertAlmostEqual(one, 1 / 1.03, delta=0.015)

    def test_arm31(self) -> None:
        lines = self.run_example("arm31_joints.py", lab().arm31).splitlines()
        self.assertGreater(len(lines), 2)
        self.assertRegex(lines[0], r"^joint 1 +\d\.\d+ rad, tool at ")

    def test_player(self) -> None:
        self.assertRegex(self.run_example("player_wander.py", lab().player), r"ends at Pose2d\(x=")

    def test_those_of_the_documentation(self) -> None:
        blocks = re.findall(r"```python\n(.*?)```", page("python.md") + page("python-details.md"), re.DOTALL)
        self.assertEqual(len(blocks), 3)
        for block in blocks:
            code = block.replace("10000", str(lab().neobotix[0])).replace("6665", str(lab().player))
            with self.subTest(block):
                self.run_python(["-c", code])

    def test_all_examples_are_run(self) -> None:
        run = set(re.findall(r'"(\w+\.py)"', Path(__file__).read_text(encoding="utf-8"))) - {"plot.py"}
        self.assertEqual({one.name for one in FOLDER.glob("*.py")}, run | {"plot.py"})


if __name__ == "__main__":
    unittest.main()
