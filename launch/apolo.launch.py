"""A world with robots that are served by the Apolo simulator, or as Apolo serves them."""

from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parent))
from dragoman_launch import argument, below, describe, program  # noqa: E402


def programs(values):
    if values['mode'] == 'sim':
        return [program(
            'up', '--only', 'apolo', '--namespace', values['namespace'], '--world', values['world'], '--bind', values['bind'])]
    return [program('apolo', '--server', values['server'], '--namespace', below(values, 'apolo'), transforms=below(values, ''))]


def generate_launch_description():
    return describe(
        programs,
        argument('world', 'lab', 'lab, laboratory, corridor, or a file like those in config/worlds, in mode sim'),
        argument('bind', '127.0.0.1', 'address on which Apolo\'s protocol is served, in mode sim; 0.0.0.0 is every interface'),
        argument('server', '127.0.0.1:12000', 'host and port of a real Apolo, in mode real'),
        rviz='lab')
