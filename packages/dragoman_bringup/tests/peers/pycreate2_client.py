"""A program with pycreate2 (PyPI), a library for the Create 2: drives the robot on this serial line, and prints what it measures."""

import sys
import time

from pycreate2 import Create2


def main(port):
    robot = Create2(port)
    # Its waits are for a robot that needs half a second for each change of mode.
    robot.sleep_timer = 0.05
    robot.start()
    robot.safe()
    before = robot.get_sensors()
    robot.drive_direct(100, 200)
    time.sleep(0.5)
    after = robot.get_sensors()
    for name in ['open_interface_mode', 'velocity_left', 'velocity_right', 'voltage', 'battery_capacity', 'cliff_front_left']:
        print(f'{name}:', getattr(after, name))
    # Its names of both are exchanged: bit 0 is the right one.
    print('bump_left:', after.bumps_wheeldrops.bump_right)
    print('bump_right:', after.bumps_wheeldrops.bump_left)
    for wheel in ['left', 'right']:
        counts = [getattr(one, f'encoder_counts_{wheel}') for one in (before, after)]
        print(f'counts_{wheel}:', (counts[1] - counts[0]) % 65536)
    robot.drive_stop()
    print('stopped_left:', robot.get_sensors().velocity_left)


main(*sys.argv[1:])
