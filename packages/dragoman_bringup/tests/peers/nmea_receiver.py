"""A receiver of satellite navigation on a pseudo-terminal, of nmeasim and pynmea2 (PyPI). Prints the path of its line.

It says what nmeasim's receiver says, all its sentences, at 12.5 N 7.25 E; then sentences of several systems, made by pynmea2, at
33.75 S 70.5 W; then that it has no reception; and so on.
"""

import datetime
import os
import time
import tty

import pynmea2
from nmeasim.models import GpsReceiver

CYCLE = [
    ('GGA', ('101112.50', '3345.0000', 'S', '07030.0000', 'W', '4', '17', '0.5', '520.25', 'M', '27.5', 'M', '1.0', '0031')),
    ('RMC', ('101112.50', 'A', '3345.0000', 'S', '07030.0000', 'W', '010.0', '180.0', '290224', '', '', 'R')),
    ('VTG', ('180.0', 'T', '', 'M', '010.0', 'N', '018.5', 'K', 'R')),
]
NO_RECEPTION = [
    ('GGA', ('', '', '', '', '', '0', '00', '99.99', '', '', '', '', '', '')),
    ('RMC', ('', 'V', '', '', '', '', '', '', '', '', '', 'N')),
    ('VTG', ('', '', '', '', '', '', '', '', 'N')),
]


def main():
    master, line = os.openpty()
    tty.setraw(line)
    print('line', os.ttyname(line), flush=True)
    receiver = GpsReceiver()
    receiver.lat, receiver.lon, receiver.altitude, receiver.geoid_sep = 12.5, 7.25, 100.0, 20.0
    receiver.kph, receiver.heading, receiver.num_sats = 36.0, 90.0, 8
    receiver.date_time = datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.timezone.utc)
    made = [str(pynmea2.GGA('GN', name, values) if name == 'GGA' else pynmea2.RMC('GN', name, values)
                if name == 'RMC' else pynmea2.VTG('GN', name, values)) for name, values in CYCLE + NO_RECEPTION]
    parts = [receiver.get_output(), made[:3], made[3:]]
    while True:
        for sentences in parts:
            for sentence in sentences:
                os.write(master, f'{sentence}\r\n'.encode())
            time.sleep(0.1)


main()
