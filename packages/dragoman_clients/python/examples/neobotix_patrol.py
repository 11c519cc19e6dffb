"""Lets a Neobotix platform patrol between two stations of its roadmap, and prints what happens on the way.

python examples/neobotix_patrol.py [PORT]
"""

from __future__ import annotations

import math
import sys
import time

from dragoman_clients.neobotix import MotionMode, Neobotix, Roadmap

STATIONS = ["middle", "north"]


def main() -> None:
    """Patrols once."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    with Neobotix("127.0.0.1", port) as platform:
        roadmap = Roadmap.parse(platform.get_roadmap().xml)
        print("stations:", ", ".join(station.name for station in roadmap.stations))
        platform.prepare(MotionMode.AUTOMATIC)
        for name in STATIONS:
            platform.move_to_station(name)
            time.sleep(0.3)
            while not platform.get_status().is_target_reached:
                for event in platform.wait_events(1.0):
                    print(f"  {event.kind.value}: {event.before!r} -> {event.now!r}")
            there = platform.get_position()
            print(f"{name}: x {there.x:.2f} m, y {there.y:.2f} m, {math.degrees(there.angle):.0f} degrees")
        platform.stop()


if __name__ == "__main__":
    main()
