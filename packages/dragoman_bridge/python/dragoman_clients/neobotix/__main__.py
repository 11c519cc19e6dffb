"""Command line: ``python -m dragoman_clients.neobotix move-to-station north``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, Optional

from .. import cli
from ..errors import ConnectionLost
from .client import DEFAULT_PORT, DEFAULT_TIMEOUT, Neobotix
from .commands import COMMANDS, get_position
from .procedures import PROCEDURES


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Runs the command; the exit status."""
    about = "Commands of PlatformCtrl's protocol. Lengths in m, angles in rad."
    parser = cli.parser("dragoman_clients.neobotix", about, DEFAULT_PORT, DEFAULT_TIMEOUT)
    parser.add_argument("--bare", action="store_true", help="messages without a header, as in the guide's example")

    def client(given: argparse.Namespace) -> Neobotix:
        return Neobotix(given.host, given.port, timeout=given.timeout, with_header=not given.bare)

    return cli.run(parser, {**COMMANDS, **PROCEDURES}, client, argv, _confirm)


def _confirm(client: Neobotix, name: str, result: Any) -> None:
    """Most commands have no answer. That of a question after them shows that the server has read them.

    A port has one client: without the question, a connection that the server refuses would look like success.
    """
    if result is None and name in COMMANDS and name not in ("exit", "close_socket"):
        try:
            client._call_on_same(get_position())
        except ConnectionLost as error:
            raise ConnectionLost(f"{name} may be lost: {error}") from error


if __name__ == "__main__":
    sys.exit(main())
