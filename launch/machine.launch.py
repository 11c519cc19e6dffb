"""A machine by the description of its protocol (docs/own-protocol.md)."""

from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parent))
from dragoman_launch import argument, below, describe, program  # noqa: E402


def programs(values):
    place = ['--link', values['link']] if values['link'] else []
    name = values['name'] or Path(values['description']).stem
    namespace = below(values, name)
    simulated = program('device', 'machine', values['description'], *place)
    bridge = program('bridge', values['description'], *place, '--namespace', namespace, transforms=values['namespace'])
    return {'real': [bridge], 'sim': [simulated, bridge]}[values['mode']]


def generate_launch_description():
    return describe(
        programs,
        argument('description', 'machine.yaml', 'description of its protocol, a YAML file'),
        argument('link', '', 'where it is: a serial port, HOST[:PORT] or a CAN interface'),
        argument('name', '', 'name of the machine, below the namespace; by default that of the file'),
        modes=('real', 'sim'), rviz='kobuki')
