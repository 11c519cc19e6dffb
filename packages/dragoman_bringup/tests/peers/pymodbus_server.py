"""A Modbus TCP server of pymodbus (PyPI) with 100 coils and 100 registers. Prints its port."""

import asyncio
import socket

from pymodbus.server import StartAsyncTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice


async def main():
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    coils = SimData(0, count=100, values=False, datatype=DataType.BITS)
    inputs = SimData(0, count=100, values=False, datatype=DataType.BITS)
    registers = SimData(0, values=[11, 22, 33, 44] + 96 * [0], datatype=DataType.REGISTERS)
    readings = SimData(0, count=100, values=0, datatype=DataType.REGISTERS)
    device = SimDevice(0, simdata=([coils], [inputs], [registers], [readings]))
    print('port', port, flush=True)
    await StartAsyncTcpServer(context=device, address=('127.0.0.1', port))


asyncio.run(main())
