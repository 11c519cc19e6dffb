"""Drives a wheeled robot of Apolo around a square and logs it: where it is, and where its odometry believes it to be.

python examples/apolo_course.py [PORT [FOLDER]]

Writes course.csv and course.svg into the folder.
"""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path

from plot import Plot

from dragoman_clients.apolo import Apolo

ROBOT = "Pioneer3AT"
SPEED, TURN_RATE, STEP = 0.5, 0.8, 0.05
START = (0.7, 0.7, 0.0)
COLUMNS = ("time", "x", "y", "yaw", "odometry_x", "odometry_y", "odometry_yaw", "nearest")


class Course:
    """The robot on its way, and the log."""

    def __init__(self, apolo: Apolo) -> None:
        if not apolo.place_m_robot(ROBOT, START, 0.0):
            sys.exit("there is no room for the robot")
        apolo.reset_odometry(ROBOT, START)
        self.apolo = apolo
        self.rows: list[tuple[float, ...]] = []
        self.time = 0.0

    def drive(self, speed: float, turn_rate: float, seconds: float) -> None:
        """Drives in small steps, so that the robot does not jump over obstacles."""
        left = seconds
        while left > 1e-9:
            step = min(STEP, left)
            if not self.apolo.move_m_robot(ROBOT, (speed, turn_rate), step):
                sys.exit("the robot stands in front of an obstacle")
            self.apolo.update()
            left -= step
            self.time += step
            true, believed = self.apolo.get_location_m_robot(ROBOT), self.apolo.get_odometry(ROBOT)
            nearest = min(self.apolo.get_laser_data("LMS100"))
            self.rows.append((self.time, true.x, true.y, true.yaw, believed.x, believed.y, believed.yaw, nearest))


def main() -> None:
    """Drives once around."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 12000
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    with Apolo("127.0.0.1", port) as apolo:
        course = Course(apolo)
        print("side    x       y    heading   odometry x, y")
        for side in range(4):
            course.drive(SPEED, 0.0, 1.0 / SPEED)
            course.drive(0.0, TURN_RATE, math.pi / 2 / TURN_RATE)
            _, x, y, yaw, believed_x, believed_y, _, _ = course.rows[-1]
            print(f"{side}  {x:7.3f} {y:7.3f} {yaw:7.3f}   {believed_x:7.3f} {believed_y:7.3f}")
    with (folder / "course.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows([round(value, 6) for value in row] for row in course.rows)
    plot = Plot(f"{ROBOT} around a square", "x, m", "y, m")
    plot.line("where it is", [(row[1], row[2]) for row in course.rows])
    plot.line("its odometry", [(row[4], row[5]) for row in course.rows])
    plot.dots("", [(course.rows[-1][1], course.rows[-1][2])], "#0b61a4")
    plot.dots("", [(course.rows[-1][4], course.rows[-1][5])], "#d1495b")
    plot.write(folder / "course.svg")


if __name__ == "__main__":
    main()
