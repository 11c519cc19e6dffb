"""Writes methods with types for the commands of the tables: methods.py of each protocol, devices.py of Player."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman_clients.player.wire import Interface

PACKAGE = Path(__file__).parent / "dragoman_clients"
HEAD = '''"""{}. Written by make_methods.py."""

from __future__ import annotations

from ..asynchronous import asynchronous
from ..blocking import blocking
'''
DEVICES = """from . import commands, messages, sensors
from . import messages as m
from . import readings as r
from . import structures as s
from .device import AsyncDevice as AsyncDevice
from .device import AsyncOpener, Latest, Opener
from .device import Device as Device
"""
SIDES = [("", "blocking", "", ""), ("Async", "asynchronous", "async ", "await ")]


def methods(table: dict[str, Any], wrapper: str) -> Iterator[str]:
    """A method for each command."""
    for name, function in table.items():
        attribute = function.__name__ if function.__name__.startswith(name) else name
        yield f"    {attribute} = {wrapper}({function.__module__.split('.')[-1]}.{function.__name__})"


def protocol(name: str, *tables: str) -> Iterator[str]:
    """The methods of clients."""
    found = importlib.import_module(f"dragoman_clients.{name}")
    table = {key: value for one in tables for key, value in getattr(found, one).items()}
    modules = sorted({function.__module__.split(".")[-1] for function in table.values()})
    yield HEAD.format("The commands as methods") + f"from . import {', '.join(modules)}"
    for prefix, wrapper, _, _ in SIDES:
        yield f'\n\nclass {prefix}Methods:\n    """What a client sends."""\n'
        yield from methods(table, wrapper)


def class_of(interface: Interface, prefix: str) -> str:
    """The name of the class of an interface."""
    return f"{prefix}{interface.interface[0].upper()}{interface.interface[1:]}"


def devices() -> Iterator[str]:
    """The devices of Player, and what opens them."""
    from dragoman_clients.player import INTERFACES, structures

    yield HEAD.format("Devices of each interface: their data, commands and requests") + DEVICES.rstrip()
    for interface in INTERFACES.values():
        constant = f"m.{interface.interface.upper()}"
        for prefix, wrapper, _, _ in SIDES:
            yield f"\n\nclass {class_of(interface, prefix)}({prefix}Device):"
            yield f'    """{interface.meaning}"""\n\n    INTERFACE = {constant}\n'
            for number, (name, kind) in interface.data.items():
                module = "s" if hasattr(structures, kind.__name__) else "r"
                yield f"    {name} = Latest({constant}, {number}, {module}.{kind.__name__})"
            yield from methods(interface, wrapper)
    for prefix, _, word, wait in SIDES:
        yield f'\n\nclass {prefix}Opening({prefix}Opener):\n    """A method for each interface opens a device."""'
        for interface in INTERFACES.values():
            kind = class_of(interface, prefix)
            meaning = interface.meaning[0].lower() + interface.meaning[1:]
            yield f"\n    {word}def {interface.interface}(self, index: int = 0) -> {kind}:"
            yield f'        """Opens a device of this interface: {meaning}"""'
            yield f"        return {wait}self._open_device({kind}, index)"


FILES = {
    "apolo/methods.py": lambda: protocol("apolo", "COMMANDS"),
    "arm31/methods.py": lambda: protocol("arm31", "COMMANDS"),
    "neobotix/methods.py": lambda: protocol("neobotix", "COMMANDS", "PROCEDURES"),
    "player/methods.py": lambda: protocol("player.commands", "PROPERTIES"),
    "player/devices.py": devices,
}


def text(file: str) -> str:
    """A whole file."""
    return "\n".join(FILES[file]()) + "\n"


if __name__ == "__main__":
    # The package must be importable, even if the files refer to removed commands.
    for file in FILES:
        kind = "Opening" if file.endswith("devices.py") else "Methods"
        (PACKAGE / file).write_text(f"class {kind}: ...\n\n\nclass Async{kind}: ...\n", encoding="utf-8")
    for file in FILES:
        (PACKAGE / file).write_text(text(file), encoding="utf-8")
