"""Lets the tool of the Ranger arm drive around a circle, through via points, and measures how round it is.

python examples/arm31_circle.py [PORT [FOLDER]]

Writes circle.svg into the folder. The protocol has no circles: the arm drives straight lines between 16 via
points. It begins at its home position; a little below it is nearly singular.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import Callable

from plot import Plot

from dragoman_clients import Refused
from dragoman_clients.arm31 import Arm31, CommandMode

RADIUS = 0.03
POINTS = 16


def main() -> None:
    """Drives around once."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 5031
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    with Arm31("127.0.0.1", port) as arm:
        arm.enable()
        arm.set_command_mode(CommandMode.CARTESIAN)
        start = arm.pose()
        x, y, z = start.position
        rpy = _rpy(*start.quaternion)
        # The tool is at the lowest point of the circle, in the plane of y and z.
        center = (x, y, z + RADIUS)
        arm.clear_via_points()
        corners = []
        for index in range(POINTS):
            angle = -math.pi / 2 + 2 * math.pi * (index + 1) / POINTS
            corners.append((y + RADIUS * math.cos(angle), center[2] + RADIUS * math.sin(angle)))
            arm.set_via_point(index, (x, *corners[-1]), rpy)
        _start(arm.execute_via_points)
        track = _follow(arm, corners[-1])
        arm.stop()
        arm.set_command_mode(CommandMode.OFF)
    around = sum(math.dist(one, other) for one, other in zip(track, track[1:]))
    errors = [math.dist(one, (center[1], center[2])) - RADIUS for one in track]
    print(f"{len(track)} poses, way {around:.3f} m, circle {2 * math.pi * RADIUS:.3f} m")
    print(f"radius {RADIUS + sum(errors) / len(errors):.4f} m, largest error {max(map(abs, errors)) * 1000:.1f} mm")
    plot = Plot("The tool around a circle", "y, m", "z, m")
    plot.line("measured", track)
    plot.dots("via points", corners)
    plot.write(folder / "circle.svg")


def _follow(arm: Arm31, last: tuple[float, float]) -> list[tuple[float, float]]:
    """Measures until the tool is at the last point, after it has been away from it."""
    track = []
    was_away = False
    end = time.monotonic() + 120
    while time.monotonic() < end:
        _, y, z = arm.pose().position
        track.append((y, z))
        off = math.dist((y, z), last)
        was_away = was_away or off > RADIUS
        if was_away and off < 0.003:
            return track
        for notice in arm.wait_notices(0.04):
            print("notice:", notice.text)
    sys.exit("the arm did not come around")


def _start(execute: Callable[[], None]) -> None:
    """Starts a motion; the arm refuses that while another one ends."""
    for _ in range(20):
        try:
            return execute()
        except Refused:
            time.sleep(0.2)
    sys.exit("the arm does not start")


def _rpy(x: float, y: float, z: float, w: float) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a quaternion."""
    pitch = math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x))))
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    return roll, pitch, math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


if __name__ == "__main__":
    main()
