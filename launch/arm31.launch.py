"""An arm behind a controller that speaks the 31-byte UDP protocol."""

from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parent))
from dragoman_launch import argument, below, describe, program  # noqa: E402


def programs(values):
    if values['mode'] == 'sim':
        return [program('up', '--only', 'ranger', '--namespace', values['namespace'], '--robot', values['robot'])]
    return [program(
        'arm31', '--controller', values['controller'], '--namespace', below(values, 'ranger'), '--robot', values['robot'])]


def generate_launch_description():
    return describe(
        programs,
        argument('controller', '127.0.0.1:5031', 'host and port of the controller, in mode real'),
        argument('robot', 'ranger_mk1', 'model of the arm: ranger_mk1, ranger_mk1_appendix_d, ranger_mk2, platform_arm, widowx, or a file like those in config/robots'),
        modes=('real', 'sim'), rviz='ranger', transforms='ranger')
