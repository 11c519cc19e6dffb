"""Command line: ``python -m dragoman_clients.player position2d set-velocity 0.2 0 0 --hold 2``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import Any, Optional

from .. import cli
from .client import DEFAULT_PORT, DEFAULT_TIMEOUT, Player
from .wire import INTERFACES


def _devices(player: Player, _: argparse.Namespace) -> Any:
    return [str(device) for device in player.devices()]


def _watch(player: Player, given: argparse.Namespace) -> Any:
    getattr(player, given.interface)(given.index)
    end = time.monotonic() + given.seconds
    while (left := end - time.monotonic()) > 0:
        for data in player.read(left):
            print(json.dumps(cli.plain(data)), flush=True)


def _command(player: Player, given: argparse.Namespace) -> Any:
    interface = next(one for one in INTERFACES.values() if one.interface == given.interface)
    device = getattr(player, given.interface)(given.index)
    result = cli.call(getattr(device, given.command_name), interface[given.command_name], given)
    time.sleep(given.hold)
    return result


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Runs the command; the exit status."""
    about = "Commands and requests to devices of a Player server. Lengths in m, angles in rad."
    parser = cli.parser("dragoman_clients.player", about, DEFAULT_PORT, DEFAULT_TIMEOUT)
    parser.add_argument("--key", help="key of a server that asks for one")
    parser.add_argument("--pull", action="store_true", help="ask for data instead of getting it")
    parser.add_argument("--index", type=int, default=0, help="number of the device (default: 0)")
    text = "seconds for which the connection stays open after a command: a robot stops when it ends"
    parser.add_argument("--hold", type=float, default=0.0, help=text)
    found = parser.add_subparsers(metavar="INTERFACE", required=True)
    found.add_parser("devices", help="The server's devices.").set_defaults(action=_devices)
    watch = found.add_parser("watch", help="Print data of a device.")
    watch.add_argument("interface", choices=[one.interface for one in INTERFACES.values() if one.data])
    watch.add_argument("--seconds", type=float, default=5.0, help="for this long (default: 5)")
    watch.set_defaults(action=_watch)
    for interface in INTERFACES.values():
        one = found.add_parser(interface.interface, help=f"Commands of {interface.interface}.")
        one.set_defaults(action=_command, interface=interface.interface)
        cli.add_commands(one, interface)
    given = parser.parse_args(argv)

    def action() -> Any:
        with Player(given.host, given.port, timeout=given.timeout, pull=given.pull, key=given.key) as player:
            return given.action(player, given)

    return cli.guarded(action)


if __name__ == "__main__":
    sys.exit(main())
