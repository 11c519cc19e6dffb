"""
Print what the launch files start: for each of them and each of its modes a line of JSON.

Runs them as `ros2 launch` does, but on stand-ins for the packages of `launch`, which exist in ROS only; so it needs nothing but
Python. What the stand-ins lack, the launch files do not use.
"""

import importlib.util
import json
from pathlib import Path
import sys
import types


class Recorded:
    """An object of the launch packages: what it was made of."""

    def __init__(self, *positional, **named):
        self.positional = positional
        self.__dict__.update(named)


class Argument(Recorded):

    @property
    def name(self):
        return self.positional[0]


class Configuration(Recorded):

    def perform(self, context):
        return context[self.positional[0]]


class Program(Recorded):
    pass


def stand_in(name, **contents):
    module = types.ModuleType(name)
    module.__dict__.update(contents)
    sys.modules[name] = module


def install():
    stand_in('launch', LaunchDescription=Recorded)
    stand_in('launch.actions', DeclareLaunchArgument=Argument, OpaqueFunction=Recorded)
    stand_in('launch.conditions', IfCondition=Recorded)
    stand_in('launch.substitutions', LaunchConfiguration=Configuration)
    stand_in('launch_ros')
    stand_in('launch_ros.actions', Node=Program)


def main(folder):
    install()
    for path in sorted(Path(folder).glob('*.launch.py')):
        spec = importlib.util.spec_from_file_location(path.name.partition('.')[0], path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        entities = module.generate_launch_description().positional[0]
        arguments = [entity for entity in entities if isinstance(entity, Argument)]
        start = next(entity.function for entity in entities if hasattr(entity, 'function'))
        shown = next(entity for entity in entities if isinstance(entity, Program))
        modes = next(argument.choices for argument in arguments if argument.name == 'mode')
        for mode in modes:
            values = {argument.name: argument.default_value for argument in arguments}
            programs = start({**values, 'mode': mode})
            print(json.dumps({
                'file': path.name,
                'mode': mode,
                'params_file': values['params_file'],
                'arguments': [argument.name for argument in arguments],
                'undescribed': [argument.name for argument in arguments if not argument.description],
                'programs': [program.arguments for program in programs],
                'rviz': shown.arguments[1],
                'rviz_namespace': shown.namespace.perform({'namespace': '/far'}),
                'rviz_remappings': shown.remappings,
                'package': sorted({program.package for program in programs}),
            }))


main(sys.argv[1])
