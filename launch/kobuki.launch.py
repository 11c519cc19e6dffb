"""A Kobuki, base of the TurtleBot 2, or another base with two driven wheels."""

from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parent))
from dragoman_launch import argument, below, describe, program  # noqa: E402


SIMULATED_PORT = '/tmp/dragoman_kobuki'


def programs(values):
    def base(port, namespace):
        namespace = below(values, namespace)
        return program('base', '--kind', values['kind'], '--port', port, '--namespace', namespace, transforms=namespace)

    device = {'kobuki': 'kobuki', 'differential': 'wheels'}[values['kind']]
    simulated = program('device', device, '--pty', SIMULATED_PORT)
    return {
        'sim': [simulated, base(SIMULATED_PORT, '')],
        'real': [base(values['port'], '')],
        'mixed': [
            simulated, base(SIMULATED_PORT, 'sim'), base(values['port'], 'real'),
            program('relay', '--robots', ','.join(below(values, name) for name in ['real', 'sim']), '--programs', values['namespace']),
        ],
    }[values['mode']]


def generate_launch_description():
    return describe(
        programs,
        argument('kind', 'kobuki', 'kind of base', choices=['kobuki', 'differential']),
        argument('port', '/dev/ttyUSB0', 'serial port of the base, in modes real and mixed'),
        modes=('sim', 'real', 'mixed'), rviz='kobuki')
