"""Tests of the clients in C++ and for MATLAB: every command against a lab, counted by a relay, and faults.

python run.py cpp FOLDER             programs in C++; DRAGOMAN_PROGRAM is the program of the lab
python run.py octave                 functions and classes for MATLAB, in GNU Octave; OUT is a folder for the pictures
python run.py applications FOLDER    only both applications of the TurtleBot thesis in Octave, and their pictures
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))

from dragoman_clients.apolo import Apolo  # noqa: E402
from dragoman_clients.neobotix import MotionMode, Neobotix  # noqa: E402
from examples.plot import Plot  # noqa: E402
from tests import replies, tap  # noqa: E402
from tests.support import REPOSITORY, Lab, first_cells, free_port, page, serving  # noqa: E402

import faults  # noqa: E402

DOCUMENTS = REPOSITORY / "launch/config/neobotix"
LITERALS = REPOSITORY / "packages/dragoman_bridge/tests/player/literals.txt"
MOTIONS = REPOSITORY / "packages/dragoman_neobotix/src/program/motions.txt"
COMMAND, REQUEST, ACKNOWLEDGE, REFUSE = 2, 3, 4, 6
# Interfaces for which the default lab has no device, and its table of devices for them.
OTHERS = """devices:
  - { device: "ir:0", robot: Neobotix, ranges: [neobotix/ultrasonic_1], poses: [[0.45, 0, 0]] }
  - { device: "opaque:0", robot: Neobotix, data: bytes, command: bytes }
"""


def check(what: str, wanted: set[Any], found: set[Any]) -> None:
    """Ends the program when something is left out."""
    if wanted - found:
        raise SystemExit(f"{what}: left out: {sorted(wanted - found)}")
    print(f"  {what}: {len(wanted)}", flush=True)


class Taps:
    """Relays to all ports of a lab."""

    def __init__(self, lab: Lab) -> None:
        self.apolo = tap.Tap(tap.apolo, lab.apolo)
        self.neobotix = [tap.Tap(tap.neobotix, port) for port in lab.neobotix]
        self.arm31 = tap.Tap(tap.arm31, lab.arm31, socket.SOCK_DGRAM)
        self.player = tap.Tap(tap.player, lab.player)

    def ports(self) -> list[str]:
        """As the programs take them."""
        taps = [self.apolo, *self.neobotix, self.arm31, self.player]
        return [str(one.port) for one in taps]

    def check_apolo(self) -> None:
        """Against the table of the page."""
        rows = first_cells(page("protocol-apolo.md"), "## Frames")
        check("commands of Apolo", {row[0] for row in rows}, set(self.apolo.sent))
        check("answers of Apolo", {"T", "F", "D", "b"} - {"F"}, set(self.apolo.answered))

    def check_neobotix(self) -> None:
        """On both ports."""
        rows = first_cells(page("protocol-neobotix.md"), "## Messages")
        for one in self.neobotix:
            check("commands of PlatformCtrl", {int(row[0]) for row in rows}, set(one.sent))
            check("its replies", {int(row[0]) for row in rows if row[2] == "a reply"}, set(one.answered))

    def check_arm31(self) -> None:
        """Letters and swapped letters."""
        letters = {row[0] for row in first_cells(page("protocol-31-byte.md"), "## Datagrams")}
        check("commands of the 31-byte protocol", letters, set(self.arm31.sent))
        check("its answers", {one[::-1] for one in letters}, set(self.arm31.answered))

    def check_player(self, others: tap.Tap) -> None:
        """Commands and requests of all interfaces; each request acknowledged or refused."""
        sent = self.player.sent + others.sent
        answered = self.player.answered + others.answered
        wanted = player_messages()
        # A key is the affair of servers that ask for one.
        wanted[1].discard((REQUEST, 7))
        told = {(code, *one) for code, messages in wanted.items() for one in messages}
        found = set(sent)
        # Properties are sent to any interface.
        found |= {(0, kind, number) for _, kind, number in sent if number >= 247}
        check("commands and requests of Player", told, found)
        asked = {(code, number) for code, kind, number in told if kind == REQUEST and code != 0}
        # Data is the answer to reading.
        asked.discard((1, 4))
        results = [key for key in answered if key != "banner" and key[1] in (ACKNOWLEDGE, REFUSE)]
        check("answers of Player", asked, {(code, number) for code, _, number in results})


def player_messages() -> dict[int, set[tuple[int, int]]]:
    """Kinds and numbers of commands and requests by interface; 0: of every interface."""
    text = page("reference/player.md")
    kinds = {"command": COMMAND, "request": REQUEST}
    rows = {0: first_cells(text, "## Messages of every interface")}
    for name, code in re.findall(r"## Interface `(\w+)`, (\d+)", text):
        rows[int(code)] = first_cells(text, f"## Interface `{name}`, {code}")
    return {code: {(kinds[row[0]], int(row[1])) for row in found if row[0] in kinds} for code, found in rows.items()}


def run(
    words: list[str], environment: dict[str, str] | None = None, on: dict[str, Callable[[], None]] | None = None
) -> None:
    """Runs a program, which must succeed. What it prints may be a reason to do something."""
    process = subprocess.Popen(words, env={**os.environ, **(environment or {})}, stdout=subprocess.PIPE, text=True)
    guard = threading.Timer(900, process.kill)
    guard.start()
    assert process.stdout is not None
    for line in process.stdout:
        print("  " + line, end="", flush=True)
        (on or {}).get(line.strip(), lambda: None)()
    status = process.wait()
    guard.cancel()
    if status != 0:
        raise SystemExit(f"{words[0]} ended with {status}")


def prints(words: list[str], pattern: str, environment: dict[str, str] | None = None) -> None:
    """Runs an example, which must print this."""
    changed = {**os.environ, **(environment or {})}
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, env=changed)
    if done.returncode != 0 or re.search(pattern, done.stdout) is None:
        raise SystemExit(f"{words[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    name = words[-1].split("(")[0] if words[-2] == "--eval" else Path(words[0]).name
    print(f"  {name}: {done.stdout.splitlines()[-1]}", flush=True)


def others(words: Callable[[str], tuple[list[str], dict[str, str]]]) -> tap.Tap:
    """Runs a program against a lab with the other devices of Player; its words and environment depend on the port."""
    with tempfile.TemporaryDirectory() as temporary:
        table = Path(temporary, "devices.yaml")
        table.write_text(OTHERS, encoding="utf-8")
        lab = Lab("--only", "neobotix,player", "--player-devices", str(table))
        try:
            found = tap.Tap(tap.player, lab.player)
            run(*words(str(found.port)))
        finally:
            lab.stop()
    return found


def cpp(folder: Path) -> None:
    """The headers for C++."""
    lab = Lab()
    try:
        taps = Taps(lab)
        run([str(folder / "lab"), *taps.ports(), str(DOCUMENTS)])
        examples = folder / "examples"
        prints([str(examples / "apolo_course"), str(lab.apolo)], r"3 +0\.7\d+ +0\.[67]\d+ ")
        prints([str(examples / "arm31_joints"), str(lab.arm31)], r"joint 1 +\d\.\d+ rad, tool at ")
        prints([str(examples / "neobotix_patrol"), str(lab.neobotix[1])], r"north: x 4\.\d+ m, y 3\.[78]\d* m")
        prints([str(examples / "player_wander"), str(lab.player)], r"the odometry ends at x ")
    finally:
        lab.stop()
    taps.check_apolo()
    taps.check_arm31()
    taps.check_neobotix()
    taps.check_player(others(lambda port: ([str(folder / "lab"), "others", port], {})))
    run([str(folder / "literals"), str(LITERALS)])
    run([str(folder / "motion"), str(MOTIONS)])
    with serving(replies.serve) as server:
        run([str(folder / "replies"), str(server.port)])
    print(f"  faults: {faults.run([str(folder / 'probe')], ['apolo', 'neobotix', 'player', 'arm31'])} questions")


MATLAB = HERE.parent / "matlab"
ROS = HERE.parents[1] / "dragoman_console/octave"


def octave_words(script: Path) -> list[str]:
    """Runs a script of its tests with the functions and classes on the path."""
    programs = REPOSITORY / "packages/dragoman_apps/matlab"
    folders = [MATLAB / "clients", MATLAB / "apolo", ROS, programs, programs / "toolbox", programs / "toolbox/tools"]
    paths = [word for folder in folders for word in ("--path", str(folder))]
    return ["octave-cli", "--quiet", "--no-init-file", *paths, str(script)]


def example(folder: Path, call: str, pattern: str, picture: str, environment: dict[str, str] | None = None) -> None:
    """Runs an example for MATLAB: it prints this, and its picture in the folder has lines."""
    words = [*octave_words(Path())[:-1], "--path", str(MATLAB / "examples"), "--eval", call % folder]
    prints(words, pattern, environment)
    if "<path" not in (folder / picture).read_text(encoding="utf-8"):
        raise SystemExit(f"{picture} of {call} is empty")


def says(port: int, words: str) -> None:
    """Runs a program of the platform that logs this. Each later client gets the message, too."""
    task = f'<task name="t" id="1" priority="1" version="1.0"><log type="info" message="{words}"/></task>'
    with Neobotix("127.0.0.1", port) as platform:
        platform.set_program(f'<program version="1.0">{task}</program>')
        platform.prepare(MotionMode.PROGRAM)
        end = time.monotonic() + 60
        while not any(words in one for one in platform.get_debug_data().protocol_queue):
            if time.monotonic() > end:
                raise SystemExit(f"the program has not said {words!r}")
            time.sleep(0.1)
        platform.stop()


ROBOT = "turtlebot2_widowx"
# Of navigateTargets, as its help has them.
TARGETS = [
    (1.4, -0.2), (2.5, 0.7), (2.8, 2.0), (2.6, 3.2), (1.9, 3.8), (1.1, 3.9), (0.3, 3.5), (-0.4, 3.1),
    (-1.6, 3.0), (-2.9, 3.0), (-3.5, 3.5), (-4.3, 3.7), (-5.0, 4.3), (-5.0, 5.2), (-5.2, 6.2), (-6.2, 6.5),
]  # fmt: skip


class Witness:
    """Where the robot, and perhaps a thing, really is while a program runs: by the world's own positions."""

    def __init__(self, lab: Lab, thing: str = "") -> None:
        self._client = Apolo("127.0.0.1", lab.apolo)
        self._thing = thing
        self.robot: list[tuple[float, float]] = []
        self.thing: list[tuple[float, float, float]] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._ended.wait(0.2):
            self._look()

    def _look(self) -> None:
        here = self._client.get_location_m_robot(ROBOT)
        self.robot.append((here.x, here.y))
        if self._thing:
            there = self._client.get_location(self._thing)
            self.thing.append((there.x, there.y, there.z))

    def __enter__(self) -> Witness:
        self._look()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        # Where it has come to rest.
        self._look()
        self._client.close()


def application(world: str, function: str, thing: str = "") -> Witness:
    """Runs an application of the TurtleBot thesis, as it is for MATLAB, in its room."""
    console = free_port()
    parts = ["--only", "apolo,turtlebot,console"]
    lab = Lab(*parts, "--world", world, "--console", f"127.0.0.1:{console}", "--foxglove", "off")
    try:
        witness = Witness(lab, thing)
        with witness:
            run([*octave_words(Path())[:-1], "--eval", function], {"ROSBRIDGE_PORT": str(console)})
    finally:
        lab.stop()
    return witness


def carry_cube(folder: Path) -> None:
    """The cube ends on the near table, where the program of ROS brings it, too."""
    witness = application("laboratory", "carryCube", "cube")
    plot = Plot("carryCube in Octave, from the side", "x, m", "height, m", equal=False)
    plot.line("cube", [(x, z) for x, _, z in witness.thing])
    plot.text(witness.thing[0][0], witness.thing[0][2], "start")
    plot.text(witness.thing[-1][0], witness.thing[-1][2], "end")
    plot.write(folder / "carryCube.svg")
    x, y, z = witness.thing[-1]
    print(f"  carryCube: the cube is at x {x:.2f} m, y {y:.2f} m, height {z:.3f} m", flush=True)
    if abs(x + 3.32) > 0.08 or abs(y) > 0.08 or abs(z - 0.475) > 0.01:
        raise SystemExit("carryCube: the cube is not on the near table")


def navigate_targets(folder: Path) -> None:
    """The robot passes all targets."""
    witness = application("corridor", "navigateTargets")
    plot = Plot("navigateTargets in Octave, from above", "x, m", "y, m")
    plot.line("robot", witness.robot)
    plot.dots("targets", TARGETS)
    plot.write(folder / "navigateTargets.svg")
    missed = [min(((x - u) ** 2 + (y - v) ** 2) ** 0.5 for u, v in witness.robot) for x, y in TARGETS]
    print(f"  navigateTargets: passed the targets at {', '.join(f'{one:.2f}' for one in missed)} m", flush=True)
    # 5 cm by its odometry; positions are seen every 0.2 s.
    if max(missed) > 0.15:
        raise SystemExit("navigateTargets: a target was missed")


def applications(folder: Path) -> None:
    """Both mostly wait for their robots."""
    with ThreadPoolExecutor() as pool:
        for job in [pool.submit(carry_cube, folder), pool.submit(navigate_targets, folder)]:
            job.result()


def examples(lab: Lab, folder: Path) -> None:
    """What solves something, on the robots of the default lab and of the laboratory."""
    console = free_port()
    other = Lab("--world", "laboratory", "--console", f"127.0.0.1:{console}", "--foxglove", "off")
    bridge = {"ROSBRIDGE_PORT": str(console)}
    lifted = r"The cube was at 0\.475 m and is at 0\.[6-9]\d+ m"
    patrol = r"at middle[^!]+at north[^!]+way [3-9]\.\d+ m"
    circle = r"radius 0\.029\d+ m, largest error [01]\.\d+ mm"
    example(folder, f"driveCourse({lab.apolo}, '%s');", r"side 4: x 0\.7\d+, y 0\.[67]\d+;", "course.svg")
    example(folder, f"calibrateOdometry({lab.apolo}, '%s');", r"angle: true = (0\.99|1\.00)\d+ ", "odometry.svg")
    says(lab.neobotix[0], "patrol ended")
    try:
        # Each drives another robot, and mostly waits for it.
        with ThreadPoolExecutor() as pool:
            jobs = [
                pool.submit(example, folder, f"armCircle({other.arm31}, '%s');", circle, "circle.svg"),
                pool.submit(example, folder, f"patrolProgram({lab.neobotix[0]}, '%s');", patrol, "patrol.svg"),
                pool.submit(example, folder, f"pickCube({other.apolo}, '%s');", lifted, "cube.svg", bridge),
            ]
            for job in jobs:
                job.result()
    finally:
        other.stop()


@contextlib.contextmanager
def drawings() -> Iterator[Path]:
    """The folder OUT, or one that is removed."""
    if "OUT" in os.environ:
        folder = Path(os.environ["OUT"])
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
    else:
        with tempfile.TemporaryDirectory() as temporary:
            yield Path(temporary)


def check_help(*folders: Path) -> None:
    """Each function and class has a help text that begins with its name and has an example; lines are not too long."""
    count = 0
    for file in (one for folder in folders for one in sorted(folder.glob("*.m"))):
        text = file.read_text(encoding="utf-8")
        if not re.search(rf"^% {file.stem}  ", text, re.MULTILINE) or "%   Example:" not in text:
            raise SystemExit(f"{file} has no help text with an example")
        if any(len(line) > 120 for line in text.splitlines()):
            raise SystemExit(f"{file} has lines of more than 120 characters")
        count += 1
    print(f"  help texts: {count}", flush=True)


def octave(*_: Path) -> None:
    """What is for MATLAB, in Octave."""
    check_help(ROS, MATLAB / "clients", MATLAB / "examples")
    console = free_port()
    lab = Lab("--console", f"127.0.0.1:{console}", "--foxglove", "off")
    try:
        taps = Taps(lab)
        bridge = tap.Tap(tap.anything, console)
        environment = {
            "APOLO_PORT": str(taps.apolo.port),
            "NEOBOTIX_PORTS": " ".join(str(one.port) for one in taps.neobotix),
            "ARM31_PORT": str(taps.arm31.port),
            "PLAYER_PORT": str(taps.player.port),
            "DOCUMENTS": str(DOCUMENTS),
        }
        run(octave_words(MATLAB / "tests/lab.m"), environment)
        run(octave_words(ROS / "tests/lab.m"), {"ROSBRIDGE_PORT": str(bridge.port)}, {"cut": bridge.cut})
        with drawings() as folder:
            examples(lab, folder)
    finally:
        lab.stop()
    with drawings() as folder:
        applications(folder)
    taps.check_apolo()
    taps.check_arm31()
    taps.check_neobotix()
    taps.check_player(others(lambda port: (octave_words(MATLAB / "tests/lab.m"), {"OTHERS_PORT": port})))
    run(octave_words(MATLAB / "tests/literals.m"), {"FILE": str(LITERALS)})
    run(octave_words(MATLAB / "tests/motion.m"), {"FILE": str(MOTIONS)})
    with serving(replies.serve) as server:
        run(octave_words(MATLAB / "tests/replies.m"), {"PORT": str(server.port)})
    probe = octave_words(MATLAB / "tests/probe.m")
    print(f"  faults: {faults.run(probe, ['apolo_functions', 'neobotix', 'player', 'arm31', 'rosbridge'])} questions")


if __name__ == "__main__":
    modes: dict[str, Callable[..., None]] = {"cpp": cpp, "octave": octave, "applications": applications}
    modes[sys.argv[1]](*map(Path, sys.argv[2:]))
