"""Lets the TurtleBot with its WidowX arm fetch a cube from a table, through Player, as in the TurtleBot thesis, 5.2.

python examples/player_pick_cube.py [PORT [FOLDER]]

For the room of `dragoman up --world laboratory`: the robot stands 2.915 m before the place from which it grasps. Writes
cube.svg and cube_from_the_side.svg into the folder. On a real robot there is no interface `simulation`; it only serves
to draw where the cube is.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

from plot import Plot

from dragoman_clients import Refused
from dragoman_clients.player import Player

TABLE = 2.915
SHOULDER = 1


class Robot:
    """The devices, and what is drawn in the end."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.base, self.arm, self.gripper = player.position2d(0), player.actarray(0), player.gripper(0)
        self.simulation = player.simulation(0)
        self.base.set_motor_power(True)
        self.began = time.monotonic()
        self.heights: list[tuple[float, float]] = []
        self.robot_track: list[tuple[float, float]] = []
        self.cube_track: list[tuple[float, float]] = []

    def pose(self) -> tuple[float, float, float]:
        """Odometry, after new data."""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if any(one.interface == "position2d" for one in self.player.read(1.0)) and self.base.state is not None:
                pose = self.base.state.pose
                self.robot_track.append((pose.x, pose.y))
                return pose.x, pose.y, pose.yaw
        sys.exit("the base is silent")

    def look(self) -> float:
        """Notes where the cube is; its height."""
        cube = self.simulation.get_pose3d("cube").pose.position
        self.heights.append((time.monotonic() - self.began, cube.z))
        self.cube_track.append((cube.x, cube.z))
        return cube.z

    def drive(self, goal: float) -> None:
        """Drives along the line y = 0 to x = goal."""
        direction = math.copysign(1.0, goal - self.pose()[0])
        while True:
            x, y, yaw = self.pose()
            if (goal - x) * direction <= 0:
                break
            # Backwards the steering is the other way round.
            turn = direction * -1.5 * y - 2.0 * yaw
            self.base.set_velocity(direction * min(0.3, max(0.05, abs(goal - x))), 0.0, max(-0.8, min(0.8, turn)))
            if len(self.robot_track) % 5 == 0:
                self.look()
        self.base.set_velocity(0.0, 0.0, 0.0)

    def move(self, joint: int, degrees: float) -> None:
        """Moves a joint, and waits until it is there."""
        goal = math.radians(degrees)
        self.arm.set_position(joint, goal)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            self.player.read(1.0)
            state = self.arm.state
            if state is not None and abs(state.joints[joint].position - goal) < 0.05:
                return
            self.look()
        sys.exit(f"joint {joint + 1} did not reach {degrees} degrees")

    def wait(self, seconds: float) -> None:
        """Lets the fingers move."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.player.read(0.2)
            self.look()

    def speed(self, joint: int, degrees_per_second: float) -> None:
        """The speed of a joint; the arm's services are found a little after it was opened."""
        for _ in range(20):
            try:
                return self.arm.set_joint_speed(joint, math.radians(degrees_per_second))
            except Refused:
                time.sleep(0.2)
        sys.exit("the arm refuses a speed")


def main() -> None:
    """Fetches the cube."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 6665
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    with Player("127.0.0.1", port) as player:
        robot = Robot(player)
        before = robot.look()
        robot.gripper.open()
        robot.drive(TABLE)
        robot.wait(1.0)
        print(f"at the table: odometry {robot.pose()[0]:.3f} m")
        # Player has numbers of 32 bits: 90 degrees are rounded to a little more, which the arm refuses.
        for joint, degrees in ((2, 89.9), (3, -89.9), (0, 0), (4, 0)):
            robot.move(joint, degrees)
        robot.speed(SHOULDER, 10)
        robot.move(SHOULDER, 65)
        robot.wait(1.0)
        robot.gripper.close()
        robot.wait(3.0)
        robot.move(SHOULDER, -15)
        robot.speed(SHOULDER, 60)
        robot.move(SHOULDER, -60)
        robot.drive(TABLE - 1.0)
        robot.wait(1.0)
        after = robot.look()
    print(f"the cube was at {before:.3f} m and is at {after:.3f} m, x {robot.cube_track[-1][0]:.3f} m")
    plot = Plot("Fetching the cube", "time, s", "height of the cube, m", equal=False)
    plot.line("cube", robot.heights)
    plot.write(folder / "cube.svg")
    plot = Plot("Fetching the cube, from the side", "x, m", "height, m")
    plot.line("base, by its odometry", [(x, 0.0) for x, _ in robot.robot_track])
    plot.line("cube", robot.cube_track)
    plot.write(folder / "cube_from_the_side.svg")
    if after < before + 0.05:
        sys.exit("the cube was not lifted")


if __name__ == "__main__":
    main()
