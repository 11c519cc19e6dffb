"""
A rover on a pseudo-terminal, by docs/own-protocol.md: written without Dragoman, so that the bridge meets another program.

Prints the path of its line; then, ten times a second, sends its odometry. Prints the velocity of its wheels when it changes.
Without a heartbeat for a second it stops.
"""

import os
import select
import struct
import time
import tty


def crc(data):
    value = 0xFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ 0xA001 if value & 1 else value >> 1
    return value


def frame(command, body=b''):
    head = b'RV' + struct.pack('<BB', len(body), command) + body
    return head + struct.pack('<H', crc(head))


def frames(buffer):
    """Take whole frames from the beginning of a buffer: command and body of each."""
    while True:
        start = buffer.find(b'RV')
        if start < 0 or len(buffer) < start + 3:
            return
        end = start + 6 + buffer[start + 2]
        if len(buffer) < end:
            return
        content, check = bytes(buffer[start:end - 2]), struct.unpack('<H', buffer[end - 2:end])[0]
        del buffer[:end]
        if check == crc(content):
            yield content[3], content[4:]


def main():
    line, other = os.openpty()
    tty.setraw(other)
    print('line', os.ttyname(other), flush=True)
    buffer, x, wheels, heartbeat, due = bytearray(), 0.0, (0, 0), time.monotonic(), time.monotonic()
    while True:
        now = time.monotonic()
        if now - heartbeat > 1 and wheels != (0, 0):
            wheels = (0, 0)
            print('no heartbeat', flush=True)
        if now >= due:
            due = now + 0.1
            x += sum(wheels) / 2 * 0.1
            os.write(line, frame(2, struct.pack('<iihB', round(x), 0, 0, 0)))
        if not select.select([line], [], [], max(0, due - time.monotonic()))[0]:
            continue
        buffer += os.read(line, 1024)
        for command, body in frames(buffer):
            if command == 0:
                heartbeat = time.monotonic()
            elif command == 1:
                wanted = struct.unpack('<hh', body)
                if wanted != wheels:
                    wheels = wanted
                    print('wheels', *wheels, flush=True)
            elif command == 3:
                os.write(line, frame(3, struct.pack('<H', 11800)))
            elif command == 4:
                os.write(line, frame(4, b'\x00'))


main()
