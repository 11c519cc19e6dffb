"""Common code of the launch files in this folder."""

import atexit
import json
import os
from pathlib import Path
import tempfile

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

CONFIG = Path(__file__).resolve().parent / 'config'
RVIZ = Path(__file__).resolve().parent / 'rviz'

# Seconds; a serial or CAN adapter takes about so long to appear again.
RESPAWN_DELAY = 2.0

MODES = {
    'sim': 'sim: simulated here',
    'real': 'real: the machine itself, or its controller',
    'mixed': 'mixed: both, and what programs command goes to both',
}


def argument(name, default, description, **more):
    """Return an argument of a launch file; --show-args prints its name, default and description."""
    return DeclareLaunchArgument(name, default_value=default, description=description, **more)


def describe(programs, *arguments, rviz, modes=('sim', 'real'), transforms=''):
    """
    Return the description of a launch file.

    :param programs: is called with the values of all arguments by their names; returns what `program` made
    :param arguments: what this file has besides the arguments that all have
    :param rviz: which configuration of rviz2, a name in the folder rviz; its topics are relative to the namespace
    :param modes: the values of `mode`; the first is the default
    :param transforms: namespace of the transforms that rviz2 shows, below that of the launch file
    """
    yes_or_no = {'choices': ['true', 'false']}
    declared = [
        argument('mode', modes[0], '; '.join(MODES[mode] for mode in modes), choices=list(modes)),
        argument('namespace', '/', 'namespace above all names'),
        argument('use_sim_time', 'false', 'follow the time of /clock instead of the system\'s', **yes_or_no),
        argument('params_file', '', 'file with parameters of the nodes, as of `dragoman --config`; none if empty'),
        argument('rviz', 'false', 'show the robot in rviz2', **yes_or_no),
        argument('respawn', 'false', 'restart a program that ends, for example because a driver has failed', **yes_or_no),
        *arguments,
    ]
    show = Node(
        package='rviz2', executable='rviz2', namespace=LaunchConfiguration('namespace'),
        arguments=['-d', str(RVIZ / f'{rviz}.rviz')],
        parameters=[{'use_sim_time': LaunchConfiguration('use_sim_time')}], remappings=_transforms(transforms),
        condition=IfCondition(LaunchConfiguration('rviz')))

    def start(context):
        values = {one.name: LaunchConfiguration(one.name).perform(context) for one in declared}
        return [start_program(values) for start_program in programs(values)]

    return LaunchDescription([*declared, OpaqueFunction(function=start), show])


def program(*words, parameters=None, transforms='/'):
    """
    Return a start of `dragoman`, for `describe`.

    :param words: subcommand and options
    :param parameters: values by node and name; the parameter file has precedence
    :param transforms: namespace of the transforms; `dragoman up` has them in its own
    """
    def start(values):
        files = [_file(parameters)] if parameters else []
        files += [values['params_file']] if values['params_file'] else []
        return Node(
            package='dragoman_bringup', executable='dragoman', output='screen',
            arguments=[str(word) for word in words],
            parameters=[*files, {'use_sim_time': values['use_sim_time'] == 'true'}],
            remappings=_transforms(transforms), additional_env=_fast_dds(),
            respawn=values['respawn'] == 'true', respawn_delay=RESPAWN_DELAY)
    return start


def below(values, name):
    """Return `name` in the namespace of the launch file."""
    return '/' + '/'.join(part for part in [values['namespace'].strip('/'), name.strip('/')] if part)


def _fast_dds():
    """Return the setting that makes Fast DDS allocate memory on demand, unless it is already configured."""
    if any(os.environ.get(name) for name in ['FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE']):
        return {}
    profile = str(CONFIG / 'fastdds_memory.xml')
    return {'FASTRTPS_DEFAULT_PROFILES_FILE': profile, 'RMW_FASTRTPS_USE_QOS_FROM_XML': '1'}


def _transforms(namespace):
    """Return remappings of a node's transforms to `namespace`, which is relative to the node's own unless it begins with /."""
    prefix = f'{namespace.rstrip("/")}/' if namespace else ''
    return [(f'/{name}', f'{prefix}{name}') for name in ['tf', 'tf_static'] if prefix != '/']


def _file(parameters):
    # launch writes such a file itself, but with one name for all nodes of a program.
    with tempfile.NamedTemporaryFile('w', prefix='dragoman_', suffix='.yaml', delete=False) as file:
        # JSON is YAML.
        json.dump({node: {'ros__parameters': values} for node, values in parameters.items()}, file)
    # The launch ends after its nodes.
    atexit.register(Path(file.name).unlink, missing_ok=True)
    return file.name
