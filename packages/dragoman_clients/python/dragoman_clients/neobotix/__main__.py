"""Command line: ``python -m dragoman_clients.neobotix move-to-station north``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Callable, Optional

from .. import cli
from ..errors import BadArgument, ConnectionLost
from .client import DEFAULT_PORT, DEFAULT_TIMEOUT, Neobotix
from .commands import COMMANDS, get_position
from .documents import Program
from .procedures import PROCEDURES
from .source import ProgramSource
from .xml import DocumentError


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Runs the command; the exit status."""
    about = "Commands of PlatformCtrl's protocol. Lengths in m, angles in rad."
    parser = cli.parser("dragoman_clients.neobotix", about, DEFAULT_PORT, DEFAULT_TIMEOUT)
    parser.add_argument("--bare", action="store_true", help="messages without a header, as in the guide's example")

    def client(given: argparse.Namespace) -> Neobotix:
        return Neobotix(given.host, given.port, timeout=given.timeout, with_header=not given.bare)

    return cli.run(parser, {**COMMANDS, **PROCEDURES}, client, argv, _confirm, PROGRAMS)


def _confirm(client: Neobotix, name: str, result: Any) -> None:
    """Most commands have no answer. The answer to a question after them shows that the server has read them.

    A port has one client: without the question, a connection that the server refuses would look like success.
    """
    if result is None and name in COMMANDS and name not in ("exit", "close_socket"):
        try:
            client._call_on_same(get_position())
        except ConnectionLost as error:
            raise ConnectionLost(f"{name} may be lost: {error}") from error


def check_program(source: str) -> None:
    """Print every error of a program, or that it has none. Nothing is sent.

    source: the program, XML or the text form; - is standard input
    """
    program = Program.from_element(_read(source).element)
    faults = program.faults()
    if faults:
        raise BadArgument("\n".join(f"{source}: {fault}" for fault in faults))
    for part in program.without_effect():
        print(f"{source}: warning: {part}", file=sys.stderr)
    steps = sum(len(task.steps) for task in program.tasks)
    print(f"{source}: no errors; tasks: {len(program.tasks)}, steps: {steps}")


def convert_program(source: str, target: str, force: bool = False) -> None:
    """Convert a program between XML and the readable text form, without loss.

    source: the program, XML or the text form; - is standard input
    target: the new file: XML if it ends in .xml, otherwise text; - is text on standard output
    force: overwrite an existing file
    """
    read, file = _read(source), Path(target)
    text = read.xml() if file.suffix.lower() == ".xml" else read.text()
    if target == "-":
        print(text, end="")
        return
    try:
        with file.open("w" if force else "x", encoding="utf-8", newline="\n") as output:
            output.write(text)
    except FileExistsError:
        raise BadArgument(f"{target} exists: use --force on to overwrite it") from None
    except OSError as error:
        raise BadArgument(f"cannot write {target}: {error}") from None


def _read(source: str) -> ProgramSource:
    try:
        data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise BadArgument(f"cannot read {source}: {error}") from None
    try:
        return ProgramSource.parse(data)
    except DocumentError as error:
        raise BadArgument("\n".join(f"{source}: {one}" for one in error.errors)) from None


PROGRAMS: Mapping[str, Callable[..., Any]] = {"check_program": check_program, "convert_program": convert_program}
"""Commands for files, without a server."""


if __name__ == "__main__":
    sys.exit(main())
