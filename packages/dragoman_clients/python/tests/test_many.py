"""100 robots at once, each with a connection of its own: Apolo's in the lab, the others' servers are fakes."""

from __future__ import annotations

import asyncio
import math
import socket
import struct
import tempfile
import time
import unittest
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, Callable

from dragoman_clients.apolo import Apolo, AsyncApolo
from dragoman_clients.arm31 import AsyncArm31
from dragoman_clients.neobotix import AsyncNeobotix
from dragoman_clients.player import AsyncPlayer

from . import tap
from .support import FakeController, FakeServer, Lab, needs_lab
from .test_faults import player_server

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


PLACES = [1000 * number for number in range(COUNT)]
"""Where each fake robot is, mm."""


class ManyFakes(unittest.TestCase):
    """Each server knows where its own robot is, so an answer that another client gets is seen."""

    def all_at_once(self, ask: Callable[[int], Coroutine[Any, Any, None]]) -> None:
        async def run() -> None:
            await asyncio.gather(*[ask(number) for number in range(COUNT)])

        asyncio.run(run())

    def servers(self, behaviour: Callable[[socket.socket, int], None]) -> list[FakeServer]:
        made = [FakeServer(lambda one, place=place: behaviour(one, place)) for place in PLACES]  # type: ignore[misc]
        for server in made:
            self.addCleanup(server.stop)
        return made

    def test_100_platforms(self) -> None:
        def behaviour(connection: socket.socket, place: int) -> None:
            data = bytearray()
            commands = 0
            while chunk := connection.recv(4096):
                data += chunk
                while (number := tap.neobotix(data, True)) is not None:
                    commands += number != tap.GET_POSITION
                    if number == tap.GET_POSITION:
                        position = struct.pack(">2i3d", place + commands, 0, 0.0, 0.0, 0.0)
                        connection.sendall(b"\xff\x01\xfe\x02\0\0\0\x21\x4a" + position)

        servers = self.servers(behaviour)

        async def drive(number: int) -> None:
            async with AsyncNeobotix(port=servers[number].port, timeout=30) as platform:
                for count in range(1, 21):
                    await platform.move_vel(0.1, 0.0)
                    place = await platform.get_position()
                    self.assertEqual(round(place.x * 1000), PLACES[number] + count)

        self.all_at_once(drive)

    def test_100_arms(self) -> None:
        goals = [[0.0] for _ in range(COUNT)]

        def controller(number: int) -> Callable[[bytes], Sequence[bytes]]:
            def behaviour(data: bytes) -> Sequence[bytes]:
                if data[:2] == b"jG":
                    goals[number][0] = struct.unpack_from("<f", data, 2)[0]
                    return [data[1::-1] + data[2:]]
                joints = struct.pack("<7f", number + goals[number][0], *[0.0] * 6)
                return [data[1::-1] + joints + b"\0"]

            return behaviour

        controllers = [FakeController(controller(number)) for number in range(COUNT)]
        for one in controllers:
            self.addCleanup(one.stop)

        async def drive(number: int) -> None:
            async with AsyncArm31(port=controllers[number].port, timeout=30, repeat_interval=5) as arm:
                for count in range(1, 11):
                    await arm.set_joint_goal([count / 8, 0, 0, 0, 0, 0])
                    self.assertEqual((await arm.joint_positions())[0], number + count / 8)

        self.all_at_once(drive)

    def test_100_bases_of_player(self) -> None:
        def behaviour(connection: socket.socket, place: int) -> None:
            commands = [0]

            def answer(interface: int, number: int, body: bytes, ack: bytes) -> bytes:
                if interface != 4:
                    return b""
                if number == 1:
                    # The geometry: the size says whose base it is.
                    geometry = struct.pack(">9d", *[0.0] * 6, place / 1000, commands[0], 0.0)
                    return ack[:36] + struct.pack(">I", len(geometry)) + geometry
                commands[0] += 1
                return ack

            player_server(answer)(connection)

        servers = self.servers(behaviour)

        async def drive(number: int) -> None:
            async with AsyncPlayer(port=servers[number].port, timeout=30) as player:
                base = await player.position2d()
                for count in range(1, 11):
                    await base.set_motor_power(count % 2 == 0)
                    size = (await base.get_geometry()).size
                    self.assertEqual((size.width, size.length), (PLACES[number] / 1000, count))

        self.all_at_once(drive)


if __name__ == "__main__":
    unittest.main()
