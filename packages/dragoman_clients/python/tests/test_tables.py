"""The tables of commands against the documentation: none is left out."""

from __future__ import annotations

import inspect
import re
import runpy
import unittest
from typing import Any

from dragoman_clients import apolo, arm31, neobotix, player
from dragoman_clients.arm31.client import Arm31, AsyncArm31
from dragoman_clients.player import devices
from dragoman_clients.player.wire import COMMAND, REQUEST
from dragoman_clients.table import arguments, meaning

from .support import REPOSITORY, first_cells, page


class Tables(unittest.TestCase):
    def test_apolo(self) -> None:
        rows = first_cells(page("protocol-apolo.md"), "## Frames")
        letters = {row[0]: row[2] for row in rows}
        self.assertEqual(len(letters), 15)
        ours = set(apolo.COMMANDS)
        self.assertEqual(set(letters.values()) | {"place_xyz", "move_m_robot_unanswered"}, ours)

    def test_apolo_has_every_function_of_matlab(self) -> None:
        text = page("matlab.md")
        functions = set(re.findall(r"`apolo([A-Z]\w+)", text)) - {"Connect", "Disconnect"}
        snake = {re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=M)(?=Robot)", "_", name).lower() for name in functions}
        self.assertGreater(len(snake), 15)
        self.assertLessEqual(snake, set(apolo.COMMANDS))

    def test_neobotix(self) -> None:
        rows = first_cells(page("protocol-neobotix.md"), "## Messages")
        names = [row[1].replace("CMD_", "").lower() for row in rows]
        self.assertEqual(len(names), 61)
        self.assertEqual(names, list(neobotix.COMMANDS))
        for row, command in zip(rows, neobotix.COMMANDS.values()):
            request = command(*_some(command))
            self.assertEqual((request.key, request.answered), (int(row[0]), row[2] == "a reply"), row[1])

    def test_arm31(self) -> None:
        rows = first_cells(page("protocol-31-byte.md"), "## Datagrams")
        letters = [row[0] for row in rows]
        self.assertEqual(len(letters), 20)
        self.assertEqual(letters, [command(*_some(command)).key for command in arm31.COMMANDS.values()])

    def test_player(self) -> None:
        text = page("reference/player.md")
        kinds = {"command": COMMAND, "request": REQUEST}
        counted = 0
        for name, code in re.findall(r"## Interface `(\w+)`, (\d+)", text):
            rows = first_cells(text, f"## Interface `{name}`, {code}")
            counted += len(rows)
            if name == "player":
                # Their methods are the client's own: devices, driver, opening a device, read, two arguments of the
                # client, port_of, replace_rule.
                self.assertEqual(len(rows), 8)
                continue
            interface = player.INTERFACES[int(code)]
            self.assertEqual(interface.interface, name)
            theirs = {(kinds[row[0]], int(row[1])) for row in rows if row[0] in kinds}
            self.assertEqual(theirs, set(interface.numbers), name)
            self.assertEqual({int(row[1]) for row in rows if row[0] == "data"}, set(interface.data), name)
        self.assertEqual(counted, 128)
        rows = first_cells(text, "## Messages of every interface")
        self.assertEqual({(REQUEST, int(row[1])) for row in rows}, set(player.commands.PROPERTIES.numbers))

    def test_the_methods_are_those_of_the_tables(self) -> None:
        """Written by ``python make_methods.py``."""
        folder = REPOSITORY / "packages/dragoman_clients/python"
        script = runpy.run_path(str(folder / "make_methods.py"))
        for file in script["FILES"]:
            written = (folder / "dragoman_clients" / file).read_text(encoding="utf-8")
            self.assertEqual(written, script["text"](file), file)

    def test_every_command_is_a_method_and_is_explained(self) -> None:
        tables: list[tuple[Any, list[type]]] = [
            (apolo.COMMANDS, [apolo.Apolo, apolo.AsyncApolo]),
            (neobotix.COMMANDS, [neobotix.Neobotix, neobotix.AsyncNeobotix]),
            (neobotix.PROCEDURES, [neobotix.Neobotix, neobotix.AsyncNeobotix]),
            (arm31.COMMANDS, [Arm31, AsyncArm31]),
        ]
        for interface in player.INTERFACES.values():
            name = interface.interface[0].upper() + interface.interface[1:]
            tables.append((interface, [getattr(devices, name), getattr(devices, f"Async{name}")]))
        tables.append((player.commands.PROPERTIES, [devices.Device, devices.AsyncDevice]))
        for table, classes in tables:
            for name, command in table.items():
                with self.subTest(name):
                    self.assertTrue(meaning(command))
                    for argument in arguments(command):
                        self.assertTrue(argument.meaning, argument.name)
                    blocking, asynchronous = (
                        getattr(one, name, None) or getattr(one, name + "_", None) for one in classes
                    )
                    self.assertFalse(inspect.iscoroutinefunction(blocking))
                    self.assertTrue(inspect.iscoroutinefunction(asynchronous))
                    for method in (blocking, asynchronous):
                        assert method is not None
                        names = list(inspect.signature(method).parameters)
                        self.assertEqual(names, ["self", *inspect.signature(command).parameters])
                        self.assertEqual((method.__doc__ or "").split(":")[0], (command.__doc__ or "").split(":")[0])


def _some(command: Any) -> list[Any]:
    """Arguments that a command takes."""
    values: dict[str, Any] = {
        "motor": 1, "released": True, "board": 0, "channel": 1, "high": True, "id": 1, "data": bytes(8), "mode": 1,
        "path": [(0, 0, 0)], "station": "a", "key": "k", "value": 1, "file_name": "f", "text": "t", "position": "p",
        "event": 1, "button": 2, "name": "n", "joints": [0] * 6, "index": 0, "rpy": (0, 0, 0),
        "quaternion": (0, 0, 0, 1),
    }  # fmt: skip
    documents = {
        "set_map": "<map/>", "set_roadmap": "<roadmap><stations/><edges/></roadmap>", "set_program": "<program/>",
    }  # fmt: skip
    found: list[Any] = []
    for argument in arguments(command):
        if argument.default is inspect.Parameter.empty:
            if argument.name == "document":
                found.append(documents[command.__name__])
            elif argument.name == "position" and "tuple" in str(argument.kind):
                found.append((0, 0, 0))
            else:
                found.append(values.get(argument.name, 0.0))
    return found


if __name__ == "__main__":
    unittest.main()
