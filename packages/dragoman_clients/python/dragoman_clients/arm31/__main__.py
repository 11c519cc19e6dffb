"""Command line: ``python -m dragoman_clients.arm31 joint-positions``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Optional

from .. import cli
from .client import DEFAULT_PORT, DEFAULT_TIMEOUT, Arm31
from .commands import COMMANDS


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Runs the command; the exit status."""
    about = "Commands of the 31-byte protocol of the Ranger arm. Lengths in m, angles in rad."
    parser = cli.parser("dragoman_clients.arm31", about, DEFAULT_PORT, DEFAULT_TIMEOUT)
    text = "for the original controller, which does not answer RC"
    parser.add_argument("--recalibrate-unanswered", action="store_true", help=text)

    def client(given: argparse.Namespace) -> Arm31:
        return Arm31(given.host, given.port, timeout=given.timeout, recalibrate_unanswered=given.recalibrate_unanswered)

    return cli.run(parser, COMMANDS, client, argv)


if __name__ == "__main__":
    sys.exit(main())
