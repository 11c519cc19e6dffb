"""The lab: the arm, the world, the platform and the TurtleBot."""

from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parent))
from dragoman_launch import argument, describe, program  # noqa: E402


def programs(values):
    return [program(
        'up', '--mode', values['mode'], '--namespace', values['namespace'],
        '--robot', values['robot'], '--world', values['world'], '--bind', values['bind'])]


def generate_launch_description():
    return describe(
        programs,
        argument('robot', 'ranger_mk1', 'the arm: ranger_mk1, ranger_mk1_appendix_d, ranger_mk2, platform_arm, widowx, or a file like those in config/robots'),
        argument('world', 'lab', 'lab, laboratory, corridor, or a file like those in config/worlds'),
        argument('bind', '127.0.0.1', 'address on which the old protocols are served; 0.0.0.0 is every interface'),
        modes=('sim', 'real', 'mixed'), rviz='lab')
