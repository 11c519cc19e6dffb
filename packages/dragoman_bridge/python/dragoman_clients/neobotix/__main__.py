"""Command line: ``python -m dragoman_clients.neobotix move-to-station north``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Optional

from .. import cli
from .client import DEFAULT_PORT, DEFAULT_TIMEOUT, Neobotix
from .commands import COMMANDS
from .procedures import PROCEDURES


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Runs the command; the exit status."""
    about = "Commands of PlatformCtrl's protocol. Lengths in m, angles in rad."
    parser = cli.parser("dragoman_clients.neobotix", about, DEFAULT_PORT, DEFAULT_TIMEOUT)
    parser.add_argument("--bare", action="store_true", help="messages without a header, as in the guide's example")

    def client(given: argparse.Namespace) -> Neobotix:
        return Neobotix(given.host, given.port, timeout=given.timeout, with_header=not given.bare)

    return cli.run(parser, {**COMMANDS, **PROCEDURES}, client, argv)


if __name__ == "__main__":
    sys.exit(main())
