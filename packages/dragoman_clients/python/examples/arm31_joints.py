"""Moves the Ranger arm through two joint via points and back, and prints where its tool is.

python examples/arm31_joints.py [PORT]
"""

from __future__ import annotations

import sys
import time

from dragoman_clients import Refused
from dragoman_clients.arm31 import Arm31, CommandMode


def main() -> None:
    """Moves there and back."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 5031
    with Arm31("127.0.0.1", port) as arm:
        arm.enable()
        arm.set_command_mode(CommandMode.JOINT)
        home = arm.joint_positions()[:6]
        arm.clear_joint_via_points()
        for index, offset in enumerate([0.1, -0.1, 0.0]):
            arm.set_joint_via_point(index, [home[0] + offset, *home[1:]])
        start(arm)
        end = time.monotonic() + 60
        last = [0.0] * 6
        while time.monotonic() < end:
            joints, tool = arm.joint_positions()[:6], arm.pose().position
            print(f"joint 1 {joints[0]:6.3f} rad, tool at {tool[0]:6.3f} {tool[1]:6.3f} {tool[2]:6.3f} m")
            for notice in arm.wait_notices(0.5):
                print("notice:", notice.text)
            if joints == last and abs(joints[0] - home[0]) < 0.002:
                break
            last = joints
        arm.stop()
        arm.set_command_mode(CommandMode.OFF)


def start(arm: Arm31) -> None:
    """Starts the motion; the arm refuses that while another one ends."""
    for _ in range(20):
        try:
            return arm.execute_joint_via_points()
        except Refused:
            time.sleep(0.2)
    sys.exit("the arm does not start")


if __name__ == "__main__":
    main()
