"""A real Player server, with the simulator Stage or another base: DRAGOMAN_PEER_PLAYER is its address, HOST:PORT."""

from __future__ import annotations

import contextlib
import math
import os
import unittest

from dragoman_clients import Refused
from dragoman_clients.player import INTERFACES, AsyncPlayer, Player

from .support import callers, until

SERVER = os.environ.get("DRAGOMAN_PEER_PLAYER", "")


def turned(before: float, now: float) -> float:
    """The angle between two directions."""
    return abs(math.remainder(now - before, math.tau))


@unittest.skipUnless(SERVER, "DRAGOMAN_PEER_PLAYER is not set")
class RealPlayer(unittest.TestCase):
    def test_a_base_drives(self) -> None:
        host, port = SERVER.rsplit(":", 1)
        for pull in (False, True):
            with callers(Player, AsyncPlayer, host, int(port), pull=pull) as both:
                for one in both:
                    self.assertIn("position2d:0", [str(device) for device in one.devices()])
                    base = one.position2d()
                    base.set_motor_power(True)
                    self.assertGreater(base.get_geometry().size.length, 0.0)
                    until("odometry", lambda: one.read(1.0) and base.state)
                    before = base.state.pose
                    base.set_velocity(0.1, 0.0, 0.4)
                    until("motion", lambda: one.read(1.0) and turned(before.yaw, base.state.pose.yaw) > 0.1)
                    base.set_velocity(0.0, 0.0, 0.0)

    def test_all_its_devices_open_and_answer(self) -> None:
        host, port = SERVER.rsplit(":", 1)
        with Player(host, int(port)) as player:
            known = {interface.interface: interface for interface in INTERFACES.values()}
            for device in player.devices():
                if device.interface not in known:
                    continue
                opened = getattr(player, device.interface)(device.index)
                for name in ("get_geometry", "get_config", "get_info"):
                    if name in known[device.interface]:
                        with contextlib.suppress(Refused):
                            getattr(opened, name)()
                opened.close_device()


if __name__ == "__main__":
    unittest.main()
