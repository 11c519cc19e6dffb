"""100 robots at once, each with a connection of its own."""

from __future__ import annotations

import asyncio
import math
import tempfile
import time
import unittest
from pathlib import Path

from dragoman_clients.apolo import Apolo, AsyncApolo

from .support import Lab, needs_lab

COUNT = 100

WORLD = """worlds:
  - name: Hall
    bodies:
      - { name: floor, xyz: [0, 0, -0.05], shapes: [{ box: [400, 400, 0.1] }] }
    wheeled_robots:
"""
ROBOT = """      - name: robot {number}
        xyz: [{x}, {y}, 0]
        body: [{{ box: [0.4, 0.3, 0.2], xyz: [0, 0, 0.16] }}]
        supports: [[0.15, 0.12], [0.15, -0.12], [-0.15, 0.12], [-0.15, -0.12]]
        wheel_radius: 0.08
"""


@needs_lab
class Many(unittest.TestCase):
    def test_100_robots_at_once(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            world = Path(folder, "hall.yaml")
            robots = (ROBOT.format(number=n, x=10 * (n % 10), y=10 * (n // 10)) for n in range(COUNT))
            world.write_text(WORLD + "".join(robots), encoding="utf-8")
            lab = Lab("--only", "apolo", "--world", str(world))
            try:
                began = time.monotonic()
                asyncio.run(self.drive_all(lab.apolo))
                print(f"{COUNT} robots, {COUNT * 41} commands: {time.monotonic() - began:.1f} s")
                with Apolo(port=lab.apolo) as apolo:
                    for number in range(COUNT):
                        place = apolo.get_location_m_robot(f"robot {number}")
                        self.assertAlmostEqual(place.x, 10 * (number % 10) + 2.0 * math.cos(0.01 * number), 6)
                        self.assertAlmostEqual(place.y, 10 * (number // 10) + 2.0 * math.sin(0.01 * number), 6)
            finally:
                lab.stop()

    async def drive_all(self, port: int) -> None:
        await asyncio.gather(*[self.drive(port, number) for number in range(COUNT)])

    async def drive(self, port: int, number: int) -> None:
        """Each robot drives 2 m in a direction of its own."""
        async with AsyncApolo(port=port, timeout=30) as apolo:
            name = f"robot {number}"
            x, y = 10 * (number % 10), 10 * (number // 10)
            self.assertTrue(await apolo.place_m_robot(name, (x, y, 0.0), 0.01 * number))
            for _ in range(20):
                self.assertTrue(await apolo.move_m_robot(name, (1.0, 0.0), 0.1))
                await apolo.update()


if __name__ == "__main__":
    unittest.main()
