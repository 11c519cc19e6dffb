"""Lets a Neobotix platform patrol between its stations with a program of its own, and draws where it was.

python examples/neobotix_program.py [PORT [FOLDER]]

The program is sent to the platform, which runs it alone; this example only looks on. Writes patrol.svg into the folder.
"""

from __future__ import annotations

import math
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from plot import Plot

from dragoman_clients.neobotix import MotionMode, Neobotix, Roadmap

STATIONS = ("middle", "north")
PROGRAM = """<?xml version="1.0" encoding="UTF-8"?>
<program version="1.0">
  <task name="patrol" id="1" priority="1" version="1.0">
    {stations}
    <log type="info" message="patrol ended"/>
    <motion stop="1"/>
    <label name="late"/>
  </task>
</program>
"""
STATION = """<motion><settarget><station name="{name}"/></settarget></motion>
    <wait timeout="120000" timeoutlabel="late"><target/></wait>
    <log type="info" message="at {name}"/>
    <wait><delay amount="1000"/></wait>"""


def main() -> None:
    """Patrols once."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else ".")
    with Neobotix("127.0.0.1", port) as platform:
        roadmap = Roadmap.parse(platform.get_roadmap().xml)
        places = {station.name: (station.point.x, station.point.y) for station in roadmap.stations}
        walls = _walls(platform.get_map().xml)
        platform.get_debug_data()  # what earlier programs said
        platform.set_program(PROGRAM.format(stations="\n    ".join(STATION.format(name=name) for name in STATIONS)))
        platform.prepare(MotionMode.PROGRAM)
        track, scans, visited = [], [], []
        end = time.monotonic() + 240
        while "patrol ended" not in visited:
            if time.monotonic() > end:
                sys.exit("the patrol did not end")
            status = platform.get_status()
            track.append((status.estimated.x, status.estimated.y))
            if len(track) % 20 == 1:
                scans += [(one.x, one.y) for one in status.scan[::15]]
            for text in platform.get_debug_data().protocol_queue:
                print("  the platform says:", text)
                visited += [one for one in (*(f"at {name}" for name in STATIONS), "patrol ended") if one in text]
            time.sleep(0.1)
        platform.stop()
    way = sum(math.dist(one, other) for one, other in zip(track, track[1:]))
    print(f"{', '.join(visited)}; way {way:.2f} m")
    plot = Plot("A patrol with a program", "x, m", "y, m")
    for source, target in walls:
        plot.line("", [source, target], "#999999")
    plot.dots("laser", scans, "#b8d4ea")
    plot.line("way of the platform", track, "#0b61a4")
    plot.dots("stations", list(places.values()), "#d1495b")
    for name, (x, y) in places.items():
        plot.text(x, y, name)
    plot.write(folder / "patrol.svg")


def _walls(xml: str) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """The lines of a map, m."""
    found = []
    for line in ElementTree.fromstring(xml).iter("line"):
        points = [(float(one.get("x", 0)) / 1000, float(one.get("y", 0)) / 1000) for one in line.iter("point")]
        if len(points) == 2:
            found.append((points[0], points[1]))
    return found


if __name__ == "__main__":
    main()
