"""The command lines: help for each command, and some against the lab."""

from __future__ import annotations

import contextlib
import io
import json
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from dragoman_clients.apolo import COMMANDS as APOLO
from dragoman_clients.apolo import __main__ as apolo
from dragoman_clients.arm31 import COMMANDS as ARM31
from dragoman_clients.arm31 import __main__ as arm31
from dragoman_clients.neobotix import COMMANDS as NEOBOTIX
from dragoman_clients.neobotix import PROCEDURES, Map
from dragoman_clients.neobotix import __main__ as neobotix
from dragoman_clients.player import INTERFACES
from dragoman_clients.player import __main__ as player

from .support import closed_port, lab, needs_lab, serving, until
from .test_faults import POSITION, silent


def run(module: Any, *arguments: object) -> tuple[int, str, str]:
    """Status, output and error output of a command line."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            status = module.main([str(one) for one in arguments])
        except SystemExit as end:
            status = int(end.code or 0)
    return status, out.getvalue(), error.getvalue()


class Help(unittest.TestCase):
    def test_every_command_has_help(self) -> None:
        for module, tables in ((apolo, [APOLO]), (neobotix, [NEOBOTIX, PROCEDURES]), (arm31, [ARM31])):
            status, text, _ = run(module, "--help")
            self.assertEqual(status, 0)
            for table in tables:
                for name in table:
                    self.assertIn(name.replace("_", "-"), text)
                    status, help_text, _ = run(module, name.replace("_", "-"), "--help")
                    self.assertEqual(status, 0)
                    self.assertGreater(len(help_text), 60)
        for interface in INTERFACES.values():
            for name in interface:
                status, _, _ = run(player, interface.interface, name.replace("_", "-"), "--help")
                self.assertEqual(status, 0)

    def test_wrong_arguments(self) -> None:
        for module, arguments in (
            (apolo, ["place", "pieza", "1", "2"]),
            (apolo, ["dance"]),
            (neobotix, ["set-mode", "fast"]),
            (neobotix, ["move-path", "1", "2"]),
            (neobotix, ["move-abs", "nan", "0", "0"]),
            (neobotix, ["set-map", "/no/such/file.xml", "a"]),
            (arm31, ["set-joint-goal", "1", "2"]),
            (player, ["laser", "set-power", "perhaps"]),
            (apolo, ["--port", "0", "update"]),
        ):
            with self.subTest(arguments):
                status, _, error = run(module, *arguments)
                self.assertEqual(status, 2)
                self.assertNotIn("Traceback", error)

    def test_nothing_listens(self) -> None:
        status, _, error = run(apolo, "--port", closed_port(), "get-location", "pieza")
        self.assertEqual(status, 1)
        self.assertRegex(error, "^ConnectionLost: cannot connect to 127.0.0.1:")

    def test_a_command_without_an_answer_is_confirmed(self) -> None:
        received = bytearray()

        def busy(_: socket.socket) -> None:
            """Another client has the port."""

        def reading(connection: socket.socket) -> None:
            while data := connection.recv(4096):
                received.extend(data)
                if data[-1] == 0x4A:
                    connection.sendall(POSITION)

        # The second connection would be served: the command is lost nevertheless.
        behaviours = [busy, reading]
        with serving(lambda one: behaviours.pop(0)(one)) as server:
            status, text, error = run(neobotix, "--port", server.port, "stop")
            self.assertEqual((status, text), (1, ""))
            self.assertRegex(error, "^ConnectionLost: stop may be lost: ")
            self.assertEqual(server.connections, 1)
            self.assertEqual(run(neobotix, "--port", server.port, "stop"), (0, "", ""))
            stop, get_position = b"\xff\x01\xfe\x02\0\0\0\x01\x0e", b"\xff\x01\xfe\x02\0\0\0\x01\x4a"
            self.assertEqual(bytes(received), stop + get_position)
        # These end the connection.
        for name in ("exit", "close-socket"):
            with serving(silent) as server:
                self.assertEqual(run(neobotix, "--port", server.port, "--timeout", 0.5, name), (0, "", ""))

    def test_as_a_module(self) -> None:
        for name in ("apolo", "neobotix", "arm31", "player"):
            command = [sys.executable, "-m", f"dragoman_clients.{name}", "--help"]
            text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout
            self.assertIn(f"python -m dragoman_clients.{name}", text)


@needs_lab
class OnTheLab(unittest.TestCase):
    def result(self, module: Any, *arguments: object) -> Any:
        def attempt() -> Any:
            found = run(module, *arguments)
            # A platform has one client on each port; the last one may not be gone yet.
            is_taken = module is neobotix and found[2].startswith("ConnectionLost")
            return None if is_taken else found

        status, text, error = until("a result", attempt)
        self.assertEqual((status, error), (0, ""))
        return json.loads(text) if text else None

    def text(self, *arguments: object) -> str:
        """What a command of the platform prints."""
        return str(until("a text", lambda: run(neobotix, *arguments)[1]))

    def test_apolo(self) -> None:
        port = ["--port", lab().apolo]
        self.assertIs(self.result(apolo, *port, "place-m-robot", "Pioneer3AT", 0.7, 0.7, 0, 0.23), True)
        self.assertEqual(self.result(apolo, *port, "get-location-m-robot", "Pioneer3AT")["x"], 0.7)
        self.assertIs(
            self.result(apolo, *port, "move-m-robot", "Pioneer3AT", -0.1, 0.0, 0.1, "--world", "World 1"), True
        )
        self.assertIsNone(self.result(apolo, *port, "update"))
        self.assertIsNone(self.result(apolo, *port, "place", "pieza", -0.25, 0.2, 0.06, "--orientation", 1, 0, 0))
        self.assertEqual(run(apolo, *port, "get-location", "nobody")[0], 1)

    def test_neobotix(self) -> None:
        port = ["--port", lab().neobotix[0]]
        self.assertEqual(len(self.result(neobotix, *port, "get-pltf-param-vec")), 94)
        self.assertEqual(self.result(neobotix, *port, "prepare", "automatic")["motion_mode"], "AUTOMATIC")
        self.assertIsNone(self.result(neobotix, *port, "move-to-station", "north"))
        self.assertIsNone(self.result(neobotix, *port, "--bare", "move-path", 4.5, 3.7, -1.57, 4.5, 3.6, -1.57))
        self.assertIsNone(self.result(neobotix, *port, "stop"))
        text = self.text(*port, "get-map")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "map.xml")
            file.write_text(text, encoding="utf-8")
            self.assertIsNone(self.result(neobotix, *port, "set-map", file, "again"))
        self.assertEqual(Map.parse(self.text(*port, "get-map")), Map.parse(text))

    def test_arm31(self) -> None:
        port = ["--port", lab().arm31]
        self.assertEqual(len(self.result(arm31, *port, "joint-positions")), 7)
        self.assertEqual(self.result(arm31, *port, "set-command-mode", "off"), "OFF")
        status, _, error = run(arm31, *port, "begin-motion")
        self.assertEqual((status, error), (1, "Refused: ER20 Cmd BG rejected\n"))

    def test_player(self) -> None:
        port = ["--port", lab().player]
        self.assertIn("position2d:0", self.result(player, *port, "devices"))
        self.assertIsNone(self.result(player, *port, "--hold", 0.2, "position2d", "set-velocity", 0.05, 0, 0))
        self.assertEqual(self.result(player, *port, "simulation", "get-pose2d", "Marvin")["name"], "Marvin")
        for mode in ([], ["--pull"]):
            status, text, _ = run(player, *port, *mode, "watch", "laser", "--seconds", 1)
            self.assertEqual(status, 0)
            self.assertEqual(json.loads(text.splitlines()[0])["interface"], "laser")


if __name__ == "__main__":
    unittest.main()
