"""A platform that navigates by laser: the lab's, a real one behind its PlatformCtrl, or ours in front of a base that is in ROS."""

from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parent))
from dragoman_launch import argument, below, describe, program  # noqa: E402


def programs(values):
    if values['mode'] == 'sim':
        return [program(
            'up', '--only', 'neobotix', '--namespace', values['namespace'], '--world', values['world'],
            '--bind', values['bind'])]
    if values['server']:
        return [program(
            'neobotix', '--server', values['server'], '--namespace', below(values, 'neobotix'),
            transforms=below(values, ''))]
    return [program(
        'platform', '--namespace', below(values, 'neobotix'), '--bind', values['bind'],
        '--cmd-vel', values['cmd_vel'], '--odom', values['odom'], '--scan', values['scan'],
        transforms=below(values, ''))]


def generate_launch_description():
    return describe(
        programs,
        argument('world', 'lab', 'the world that holds it: lab, or a file like those in config/worlds, in mode sim'),
        argument('bind', '127.0.0.1', 'address on which PlatformCtrl\'s protocol is served; 0.0.0.0 is every interface'),
        argument('server', '', 'host and port of a real PlatformCtrl, in mode real; empty: a base that is in ROS'),
        argument('cmd_vel', '/cmd_vel', 'topic on which that base takes velocities'),
        argument('odom', '/odom', 'topic of its odometry'),
        argument('scan', '/scan', 'topic of its laser'),
        rviz='neobotix')
