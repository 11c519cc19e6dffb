"""Lets a robot of a Player server wander for some seconds: ahead, and to the freer side before obstacles.

python examples/player_wander.py [PORT]
"""

from __future__ import annotations

import asyncio
import sys

from dragoman_clients.player import AsyncPlayer

SECONDS = 5.0


async def main() -> None:
    """Wanders."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 6665
    async with AsyncPlayer("127.0.0.1", port) as player:
        base, laser = await player.position2d(2), await player.laser(2)
        await base.set_motor_power(True)
        end = asyncio.get_running_loop().time() + SECONDS
        while asyncio.get_running_loop().time() < end:
            await player.read(1.0)
            if laser.scan is None or base.state is None:
                continue
            ranges = laser.scan.ranges
            third = len(ranges) // 3
            right, ahead, left = min(ranges[:third]), min(ranges[third:-third]), min(ranges[-third:])
            turn = 0.0 if ahead > 0.8 else 0.5 if left > right else -0.5
            await base.set_velocity(0.2 if ahead > 0.5 else 0.0, 0.0, turn)
        pose = base.state.pose if base.state else None
        await base.set_velocity(0.0, 0.0, 0.0)
        print("the odometry ends at", pose)


if __name__ == "__main__":
    asyncio.run(main())
