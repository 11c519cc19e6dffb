"""An arm with drives on a CAN bus, and the UDP port of its 31-byte protocol."""

from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parent))
from dragoman_launch import argument, below, describe, program  # noqa: E402


def programs(values):
    can = values['can'] if values['mode'] == 'real' else ''
    return [program(
        'up', '--only', 'ranger', '--namespace', values['namespace'], '--robot', values['robot'], '--bind', values['bind'],
        parameters={below(values, 'ranger/arm'): {'can': can}})]


def generate_launch_description():
    return describe(
        programs,
        argument('robot', 'ranger_mk1', 'ranger_mk1, ranger_mk1_appendix_d, ranger_mk2, platform_arm, widowx, or a file like those in config/robots'),
        argument('can', 'can0', 'CAN interface of the drives, in mode real'),
        argument('bind', '127.0.0.1', 'address on which the 31-byte protocol is served; 0.0.0.0 is every interface'),
        rviz='ranger', transforms='ranger')
