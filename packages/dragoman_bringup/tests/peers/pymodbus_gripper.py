"""A gripper on Modbus RTU, on a pseudo-terminal, by the server of pymodbus (PyPI). Prints the path of its line, and what it is told.

The registers are those of Robotiq's manual of the 2F-85: three from 0x03E8 on are written, three from 0x07D0 on are read.
"""

import asyncio
import os
import pty
import tty

from pymodbus.server import StartAsyncSerialServer
from pymodbus.simulator import DataType, SimData, SimDevice

COMMAND, STATUS = 0x03E8, 0x07D0
position = 0
command = [0, 0, 0]


async def act(function, start, address, count, registers, values):
    """Takes a command, or measures before a question is answered."""
    global position, command
    if values is not None:
        if address == COMMAND and list(values) != command:
            command = list(values)
            print('command', ' '.join(f'{value:04x}' for value in command), flush=True)
        return None
    action, goal = command[0] >> 8, command[1] & 0xFF
    is_active, goes = action & 1, action >> 3 & 1
    if is_active and goes:
        # Twenty steps with each question.
        position += max(-20, min(20, goal - position))
    at_goal = 3 if goes and position == goal else 0
    status = is_active | goes << 3 | (3 if is_active else 0) << 4 | at_goal << 6
    at = STATUS - start
    registers[at : at + 3] = [status << 8, goal, position << 8 | 2]
    return None


def join(ours, theirs):
    """Passes bytes on between the ends of two pseudo-terminals."""
    loop = asyncio.get_running_loop()
    for one, other in [(ours, theirs), (theirs, ours)]:
        loop.add_reader(one, lambda one=one, other=other: os.write(other, os.read(one, 4096)))


async def main():
    (ours, line), (theirs, port) = pty.openpty(), pty.openpty()
    for end in [line, port]:
        tty.setraw(end)
    join(ours, theirs)
    registers = [
        SimData(COMMAND, values=[0, 0, 0], datatype=DataType.REGISTERS),
        SimData(STATUS, values=[0, 0, 0], datatype=DataType.REGISTERS),
    ]
    device = SimDevice(9, simdata=registers, action=act)
    print('line', os.ttyname(line), flush=True)
    await StartAsyncSerialServer(context=device, port=os.ttyname(port), baudrate=115200)


asyncio.run(main())
