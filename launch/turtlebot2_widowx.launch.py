"""A TurtleBot 2 with a WidowX arm."""

from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).resolve().parent))
from dragoman_launch import argument, below, describe, program  # noqa: E402


def programs(values):
    words = ['up', '--only', 'turtlebot', '--mode', values['mode'], '--namespace', values['namespace'], '--world', values['world']]
    real = {'sim': None, 'real': '', 'mixed': 'real'}[values['mode']]
    if real is None:
        return [program(*words)]
    return [program(*words, parameters={
        below(values, f'{real}/mobile_base'): {'device_port': values['base_port']},
        below(values, f'{real}/widowx'): {'device_port': values['arm_port']}})]


def generate_launch_description():
    return describe(
        programs,
        argument('world', 'lab', 'the world of the simulated one: lab, laboratory, corridor, or a file like those in config/worlds'),
        argument('base_port', '', 'serial port of the base, in modes real and mixed; if both are empty, the robot is in ROS already'),
        argument('arm_port', '', 'serial port of the arm, likewise'),
        modes=('sim', 'real', 'mixed'), rviz='turtlebot2_widowx')
