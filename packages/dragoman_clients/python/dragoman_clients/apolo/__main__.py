"""Command line: ``python -m dragoman_clients.apolo get-location pieza``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Optional

from .. import cli
from .client import DEFAULT_PORT, DEFAULT_TIMEOUT, Apolo
from .commands import COMMANDS


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Runs the command; the exit status."""
    parser = cli.parser("dragoman_clients.apolo", "Commands of Apolo's protocol.", DEFAULT_PORT, DEFAULT_TIMEOUT)
    parser.add_argument("--size-base", type=int, default=256, help="base of sizes: 256, or 255 before 2018")

    def client(given: argparse.Namespace) -> Apolo:
        return Apolo(given.host, given.port, timeout=given.timeout, size_base=given.size_base)

    return cli.run(parser, COMMANDS, client, argv)


if __name__ == "__main__":
    sys.exit(main())
