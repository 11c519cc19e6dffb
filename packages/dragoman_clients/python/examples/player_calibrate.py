"""Calibrates the odometry of the RoMAA, through Player: how far it goes when its odometry says 1 m, and 1 rad.

python examples/player_calibrate.py [PORT [FOLDER]]

Drives forth and back, and turns left and right, several times. Where the robot really is comes from the simulated
world; in a laboratory it comes from a tape measure or a camera. Writes odometry.svg into the folder.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from pathlib import Path
from typing import Optional

from plot import Plot

from dragoman_clients.player import Player
from dragoman_clients.player.structures import Pose2d

RUNS = 6
SPEED, TURN_RATE, SECONDS = 0.4, 0.8, 1.2
INDEX, NAME = 4, "RoMAA"


class Robot:
    """The base, and where it really is."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.base, self.simulation = player.position2d(INDEX), player.simulation(0)
        self.base.set_motor_power(True)

    def state(self) -> Pose2d:
        """The newest odometry."""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            self.player.read(1.0)
            if self.base.state is not None:
                return self.base.state.pose
        sys.exit("the base is silent")

    def at_rest(self) -> tuple[Pose2d, Pose2d]:
        """Odometry and truth, when both do not change any more."""
        last: Optional[tuple[Pose2d, Pose2d]] = None
        for _ in range(50):
            time.sleep(0.3)
            found = self.state(), self.simulation.get_pose2d(NAME).pose
            if found == last:
                return found
            last = found
        sys.exit("the robot does not come to rest")

    def run(self, speed: float, turn_rate: float) -> tuple[float, float]:
        """Drives for a while: the odometry's way or angle, and the true one."""
        odometry, truth = self.at_rest()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            self.base.set_velocity(speed, 0.0, turn_rate)
            self.player.read(0.1)
        self.base.set_velocity(0.0, 0.0, 0.0)
        now, there = self.at_rest()
        if turn_rate:
            return _angle(now.yaw - odometry.yaw), _angle(there.yaw - truth.yaw)
        sign = math.copysign(1.0, speed)
        ways = [math.hypot(b.x - a.x, b.y - a.y) for a, b in ((odometry, now), (truth, there))]
        return sign * ways[0], sign * ways[1]


def main() -> None:
    """Measures, and prints the factors."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 6665
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    plot = Plot("Odometry of the RoMAA", "by the odometry, m or rad", "true - odometry, mm or mrad", equal=False)
    with Player("127.0.0.1", port) as player:
        robot = Robot(player)
        for label, speed, turn_rate in (("way", SPEED, 0.0), ("angle", 0.0, TURN_RATE)):
            pairs = []
            for run in range(RUNS):
                sign = 1 if run % 2 == 0 else -1
                pairs.append(robot.run(sign * speed, sign * turn_rate))
            factor, error = _fit(pairs)
            print(f"{label}: true = {factor:.5f} +- {error:.5f} times the odometry, {RUNS} runs")
            plot.dots(f"{label}: {RUNS} runs", [(one, 1000 * (true - one)) for one, true in pairs])
            ends = [min(one for one, _ in pairs), max(one for one, _ in pairs)]
            plot.line(f"{label}: {factor:.4f}", [(one, 1000 * (factor - 1) * one) for one in ends])
    plot.write(folder / "odometry.svg")


def _fit(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    """The factor between the pairs' numbers by least squares, and its standard deviation."""
    squares = sum(one * one for one, _ in pairs)
    factor = sum(one * true for one, true in pairs) / squares
    rest = statistics.fmean((true - factor * one) ** 2 for one, true in pairs)
    return factor, math.sqrt(rest * len(pairs) / (len(pairs) - 1) / squares)


def _angle(value: float) -> float:
    return math.atan2(math.sin(value), math.cos(value))


if __name__ == "__main__":
    main()
