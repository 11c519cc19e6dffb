"""Writes dragoman_clients/player/devices.py: what the tables of commands and data have, as methods with types."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dragoman_clients.player.wire import Interface

FILE = Path(__file__).parent / "dragoman_clients/player/devices.py"
HEAD = '"""Devices of each interface: their data, commands and requests. Written by make_devices.py."""'
IMPORTS = """

from __future__ import annotations

from ..asynchronous import asynchronous
from ..blocking import blocking
from . import commands, sensors
from . import messages as m
from . import readings as r
from . import structures as s
from .device import AsyncDevice as AsyncDevice
from .device import AsyncOpener, Latest, Opener
from .device import Device as Device
"""


def class_of(interface: Interface, prefix: str) -> str:
    """The name of the class of an interface."""
    return f"{prefix}{interface.interface[0].upper()}{interface.interface[1:]}"


def device(interface: Interface, prefix: str, wrapper: str) -> Iterator[str]:
    """The class of an interface."""
    from dragoman_clients.player import structures

    constant = f"m.{interface.interface.upper()}"
    yield f"\n\nclass {class_of(interface, prefix)}({prefix}Device):"
    yield f'    """{interface.meaning}"""\n'
    yield f"    INTERFACE = {constant}\n"
    for number, (name, kind) in interface.data.items():
        module = "s" if hasattr(structures, kind.__name__) else "r"
        yield f"    {name} = Latest({constant}, {number}, {module}.{kind.__name__})"
    for name, function in interface.items():
        yield f"    {name} = {wrapper}({function.__module__.split('.')[-1]}.{function.__name__})"


def opening(interfaces: list[Interface], prefix: str, word: str, wait: str) -> Iterator[str]:
    """What opens devices."""
    yield f"\n\nclass {prefix}Opening({prefix}Opener):"
    yield '    """A method for each interface opens a device."""'
    for interface in interfaces:
        kind = class_of(interface, prefix)
        yield f"\n    {word}def {interface.interface}(self, index: int = 0) -> {kind}:"
        yield f'        """Opens a device of this interface: {interface.meaning[0].lower()}{interface.meaning[1:]}"""'
        yield f"        return {wait}self._open_device({kind}, index)"


def text() -> str:
    """The whole file."""
    from dragoman_clients.player import INTERFACES

    interfaces = list(INTERFACES.values())
    lines = [HEAD + IMPORTS.rstrip()]
    for interface in interfaces:
        lines += [*device(interface, "", "blocking"), *device(interface, "Async", "asynchronous")]
    lines += opening(interfaces, "", "", "")
    return "\n".join([*lines, *opening(interfaces, "Async", "async ", "await ")]) + "\n"


if __name__ == "__main__":
    # The package must be importable, even if the file names what is no longer there.
    FILE.write_text("class Opening: ...\n\n\nclass AsyncOpening: ...\n", encoding="utf-8")
    FILE.write_text(text(), encoding="utf-8")
