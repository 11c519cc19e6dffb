"""A platform that finds its way by laser: that of the lab, or one in front of a base that is in ROS."""

from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parent))
from dragoman_launch import CONFIG, argument, below, describe, program  # noqa: E402


def programs(values):
    if values['mode'] == 'sim':
        return [program('up', '--only', 'neobotix', '--namespace', values['namespace'], '--world', values['world'])]
    return [program(
        'platform', '--namespace', below(values, 'neobotix'),
        '--cmd-vel', values['cmd_vel'], '--odom', values['odom'], '--scan', values['scan'],
        transforms=below(values, ''))]


def generate_launch_description():
    return describe(
        programs,
        argument('world', 'lab', 'the world that holds it: lab, or a file like those in config/worlds, in mode sim'),
        argument('cmd_vel', '/cmd_vel', 'topic on which the base takes velocities, in mode real'),
        argument('odom', '/odom', 'topic of its odometry, in mode real'),
        argument('scan', '/scan', 'topic of its laser, in mode real'),
        params_file=str(CONFIG / 'neobotix.yaml'), rviz='neobotix')
