"""Maps, roadmaps and programs (PlatformCtrl guide, 6.5) as objects; m, rad and s.

>>> roadmap = Roadmap([Station("1", "dock", 0.5, Spot(1.0, 2.0))])
>>> Roadmap.parse(roadmap.xml()) == roadmap
True
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Optional, Union

from .source import ProgramSource, decode, is_xml
from .xml import (
    BIT,
    NUMBER,
    TEXT,
    TRUTH,
    WHOLE,
    Attribute,
    Child,
    Children,
    DocumentNode,
    Element,
    Node,
    Tag,
    Value,
    unit,
)

_MM = unit(1000)
_DEGREES = unit(180 / math.pi)
_MS = unit(1000)


# Maps


@dataclass
class Spot(Node):
    """A point, m."""

    TAGS: ClassVar[tuple[str, ...]] = ("point",)
    x: Annotated[float, Attribute(_MM, "x")]
    y: Annotated[float, Attribute(_MM, "y")]


@dataclass
class Center(Node):
    """The centre of a circle, m."""

    TAGS: ClassVar[tuple[str, ...]] = ("center",)
    x: Annotated[float, Attribute(_MM, "x")]
    y: Annotated[float, Attribute(_MM, "y")]


@dataclass
class Radius(Node):
    """The radius of a circle, m."""

    TAGS: ClassVar[tuple[str, ...]] = ("radius",)
    r: Annotated[float, Attribute(_MM, "r")]


@dataclass
class MapCircle(Node):
    """A circle, such as a column."""

    TAGS: ClassVar[tuple[str, ...]] = ("circle",)
    center: Annotated[Center, Child(Center)]
    radius: Annotated[Radius, Child(Radius)]


@dataclass
class MapLine(Node):
    """A line between two points: a wall, an auxiliary line, one that was mapped, or a reflector."""

    TAGS: ClassVar[tuple[str, ...]] = ("line", "auxline", "linemapped", "auxlinemapped", "reflmark")
    points: Annotated[list[Spot], Children(Spot)]
    kind: Annotated[str, Tag()] = "line"


@dataclass
class MapArea(Node):
    """A polygon: what the platform must not leave or enter, or one that only user interfaces show."""

    TAGS: ClassVar[tuple[str, ...]] = ("workarea", "prohibit", "hiddenpolygon")
    points: Annotated[list[Spot], Children(Spot)]
    kind: Annotated[str, Tag()] = "prohibit"


@dataclass
class MapLabel(Node):
    """A text that only user interfaces show."""

    TAGS: ClassVar[tuple[str, ...]] = ("hiddenlabel",)
    text: Annotated[str, Attribute(TEXT, "text")]
    point: Annotated[Spot, Child(Spot)]


@dataclass
class Layer(Node):
    """A layer of a map. Elements that are not known are kept as they are."""

    TAGS: ClassVar[tuple[str, ...]] = ("layer",)
    items: Annotated[
        list[Union[MapLine, MapArea, MapCircle, MapLabel, Element]],
        Children(MapLine, MapArea, MapCircle, MapLabel, ordered=True),
    ] = field(default_factory=list)
    index: Annotated[Optional[int], Attribute(WHOLE, "index")] = None


@dataclass
class Map(DocumentNode):
    """A map, for localization and planning."""

    TAGS: ClassVar[tuple[str, ...]] = ("map",)
    layers: Annotated[list[Layer], Children(Layer)] = field(default_factory=list)
    version: Annotated[Optional[str], Attribute(TEXT, "Version", "version")] = "1.0"

    def faults(self) -> list[str]:
        """What is inconsistent."""
        found = _repeated("layer", (layer.index for layer in self.layers if layer.index is not None))
        for layer in self.layers:
            for item in layer.items:
                if isinstance(item, MapLine):
                    ends = [(point.x, point.y) for point in item.points]
                    if len(ends) != 2 or ends[0] == ends[1]:
                        found.append(f"{_line(item)}a <{item.kind}> needs two different points")
                elif isinstance(item, MapArea) and len(item.points) < 3:
                    found.append(f"{_line(item)}a <{item.kind}> needs at least three points")
                elif isinstance(item, MapCircle) and not item.radius.r > 0:
                    found.append(f"{_line(item)}a circle needs a radius above 0")
        return found


# Roadmaps


@dataclass
class Station(Node):
    """A target of the platform."""

    TAGS: ClassVar[tuple[str, ...]] = ("station",)
    id: Annotated[str, Attribute(TEXT, "id")]
    name: Annotated[str, Attribute(TEXT, "name")]
    angle: Annotated[float, Attribute(_DEGREES, "angle")]
    """rad."""
    point: Annotated[Spot, Child(Spot)]


@dataclass
class Way(Node):
    """The points of an edge, in an element of their own."""

    TAGS: ClassVar[tuple[str, ...]] = ("points",)
    points: Annotated[list[Spot], Children(Spot)] = field(default_factory=list)


@dataclass
class Edge(Node):
    """A way from a station to another. Documents have its points in ``way``, or without it."""

    TAGS: ClassVar[tuple[str, ...]] = ("edge",)
    start: Annotated[str, Attribute(TEXT, "startstation")]
    """Id of the station."""
    end: Annotated[str, Attribute(TEXT, "endstation")]
    """Id of the station."""
    way: Annotated[Optional[Way], Child(Way)] = None
    points: Annotated[list[Spot], Children(Spot)] = field(default_factory=list)


@dataclass
class Stations(Node):
    """All stations."""

    TAGS: ClassVar[tuple[str, ...]] = ("stations",)
    stations: Annotated[list[Station], Children(Station)] = field(default_factory=list)


@dataclass
class Edges(Node):
    """All edges."""

    TAGS: ClassVar[tuple[str, ...]] = ("edges",)
    edges: Annotated[list[Edge], Children(Edge)] = field(default_factory=list)


@dataclass(init=False)
class Roadmap(DocumentNode):
    """Stations, and ways between them."""

    TAGS: ClassVar[tuple[str, ...]] = ("roadmap",)
    station_list: Annotated[Stations, Child(Stations)]
    edge_list: Annotated[Edges, Child(Edges)]
    version: Annotated[Optional[str], Attribute(TEXT, "Version", "version")] = None

    def __init__(
        self,
        stations: Iterable[Station] = (),
        edges: Iterable[Edge] = (),
        version: Optional[str] = "1.0",
        *,
        station_list: Optional[Stations] = None,
        edge_list: Optional[Edges] = None,
    ) -> None:
        self.station_list = station_list or Stations(list(stations))
        self.edge_list = edge_list or Edges(list(edges))
        self.version = version

    @property
    def stations(self) -> list[Station]:
        """The stations."""
        return self.station_list.stations

    @property
    def edges(self) -> list[Edge]:
        """The ways."""
        return self.edge_list.edges

    def station(self, name: str) -> Optional[Station]:
        """The station with this name."""
        return next((station for station in self.stations if station.name == name), None)

    def faults(self) -> list[str]:
        """What is inconsistent."""
        ids = {station.id for station in self.stations}
        found = _repeated("station with the id", (station.id for station in self.stations))
        found += _repeated("station", (station.name for station in self.stations))
        for edge in self.edges:
            found += [
                f"{_line(edge)}there is no station with the id '{one}'"
                for one in (edge.start, edge.end)
                if one not in ids
            ]
        return found


# Programs


def _output(text: str) -> Optional[bool]:
    return {"-1": None, "0": False, "1": True}[text.strip()]


_OUTPUT = Value("True, False or None", _output, lambda value: {None: "-1", False: "0", True: "1"}[value])


@dataclass
class DigitalOut(Node):
    """The digital outputs 1 to 12: on, off or, if None, unchanged."""

    TAGS: ClassVar[tuple[str, ...]] = ("digitalout",)
    d1: Annotated[Optional[bool], Attribute(_OUTPUT, "D1")] = None
    d2: Annotated[Optional[bool], Attribute(_OUTPUT, "D2")] = None
    d3: Annotated[Optional[bool], Attribute(_OUTPUT, "D3")] = None
    d4: Annotated[Optional[bool], Attribute(_OUTPUT, "D4")] = None
    d5: Annotated[Optional[bool], Attribute(_OUTPUT, "D5")] = None
    d6: Annotated[Optional[bool], Attribute(_OUTPUT, "D6")] = None
    d7: Annotated[Optional[bool], Attribute(_OUTPUT, "D7")] = None
    d8: Annotated[Optional[bool], Attribute(_OUTPUT, "D8")] = None
    d9: Annotated[Optional[bool], Attribute(_OUTPUT, "D9")] = None
    d10: Annotated[Optional[bool], Attribute(_OUTPUT, "D10")] = None
    d11: Annotated[Optional[bool], Attribute(_OUTPUT, "D11")] = None
    d12: Annotated[Optional[bool], Attribute(_OUTPUT, "D12")] = None

    def to_element(self) -> Element:
        """Its element; unchanged outputs are written as -1."""
        element = super().to_element()
        given = {f"D{place}": element.attributes.pop(f"D{place}", "-1") for place in range(1, 13)}
        element.attributes = {**given, **element.attributes}
        return element


@dataclass
class IoEvent(Node):
    """Set digital outputs."""

    TAGS: ClassVar[tuple[str, ...]] = ("ioevent",)
    digital_out: Annotated[DigitalOut, Child(DigitalOut)]


@dataclass
class Goto(Node):
    """Continue at a label, if the condition holds: true, false, or the key of a parameter."""

    TAGS: ClassVar[tuple[str, ...]] = ("goto",)
    label: Annotated[str, Attribute(TEXT, "label")]
    condition: Annotated[Optional[str], Attribute(TEXT, "condition")] = None


@dataclass
class Label(Node):
    """A place to go to."""

    TAGS: ClassVar[tuple[str, ...]] = ("label",)
    name: Annotated[str, Attribute(TEXT, "name")]


@dataclass
class Load(Node):
    """Load a map and a roadmap."""

    TAGS: ClassVar[tuple[str, ...]] = ("load",)
    map: Annotated[Optional[str], Attribute(TEXT, "map")] = None
    roadmap: Annotated[Optional[str], Attribute(TEXT, "roadmap")] = None


@dataclass
class Log(Node):
    """Send a message to the clients."""

    TAGS: ClassVar[tuple[str, ...]] = ("log",)
    message: Annotated[str, Attribute(TEXT, "message")]
    type: Annotated[Optional[str], Attribute(TEXT, "type")] = None


@dataclass
class Coordinates(Node):
    """A pose in the world."""

    TAGS: ClassVar[tuple[str, ...]] = ("coord",)
    x: Annotated[float, Attribute(_MM, "x")]
    y: Annotated[float, Attribute(_MM, "y")]
    angle: Annotated[float, Attribute(_DEGREES, "angle")]


@dataclass
class StationTarget(Node):
    """A station."""

    TAGS: ClassVar[tuple[str, ...]] = ("station",)
    name: Annotated[str, Attribute(TEXT, "name")]


@dataclass
class SetTarget(Node):
    """Drive to a pose or a station."""

    TAGS: ClassVar[tuple[str, ...]] = ("settarget",)
    place: Annotated[Union[Coordinates, StationTarget, None], Child(Coordinates, StationTarget)] = None


@dataclass
class Tracked(Node):
    """Something that the platform detects."""

    TAGS: ClassVar[tuple[str, ...]] = ("trackedperson", "trackedball", "trackedmovingobject", "chargingstation")
    kind: Annotated[str, Tag()] = "chargingstation"


@dataclass
class MoveTo(Node):
    """Drive to something that is detected."""

    TAGS: ClassVar[tuple[str, ...]] = ("moveto",)
    target: Annotated[Optional[Tracked], Child(Tracked)] = None
    on_error_task: Annotated[Optional[str], Attribute(TEXT, "onErrorTask")] = None


@dataclass
class Motion(Node):
    """Drive, or stop."""

    TAGS: ClassVar[tuple[str, ...]] = ("motion",)
    action: Annotated[Union[SetTarget, MoveTo, None], Child(SetTarget, MoveTo)] = None
    stop: Annotated[Optional[bool], Attribute(BIT, "stop")] = None


@dataclass
class Set(Node):
    """A parameter's key and its value, in the guide's units."""

    TAGS: ClassVar[tuple[str, ...]] = ("set",)
    key: Annotated[str, Attribute(TEXT, "key")]
    value: Annotated[str, Attribute(TEXT, "value")]


@dataclass
class SetParameter(Node):
    """Set a parameter."""

    TAGS: ClassVar[tuple[str, ...]] = ("parameter",)
    set: Annotated[Set, Child(Set)]


@dataclass
class Grab(Node):
    """Save a scan or an image."""

    TAGS: ClassVar[tuple[str, ...]] = ("grab",)
    file_name: Annotated[str, Attribute(TEXT, "filename")]
    scan: Annotated[Optional[bool], Attribute(TRUTH, "grabscan")] = None
    image: Annotated[Optional[bool], Attribute(TRUTH, "grabimage")] = None
    observe: Annotated[Optional[bool], Attribute(TRUTH, "autoobservation")] = None


@dataclass
class MoveCamera(Node):
    """Turn the camera."""

    TAGS: ClassVar[tuple[str, ...]] = ("movecamera",)
    position: Annotated[str, Attribute(TEXT, "position")]


@dataclass
class Surveillance(Node):
    """Use the camera or the scanner."""

    TAGS: ClassVar[tuple[str, ...]] = ("surveillance",)
    action: Annotated[Union[Grab, MoveCamera, None], Child(Grab, MoveCamera)] = None


@dataclass
class Speak(Node):
    """Speak a text."""

    TAGS: ClassVar[tuple[str, ...]] = ("speak",)
    text: Annotated[str, Attribute(TEXT, "text")]


@dataclass
class Play(Node):
    """Play a sound file."""

    TAGS: ClassVar[tuple[str, ...]] = ("play",)
    file_name: Annotated[str, Attribute(TEXT, "filename")]


@dataclass
class Audio(Node):
    """Speak or play."""

    TAGS: ClassVar[tuple[str, ...]] = ("audio",)
    action: Annotated[Union[Speak, Play, None], Child(Speak, Play)] = None


@dataclass
class TurnHead(Node):
    """Turn the head, rad."""

    TAGS: ClassVar[tuple[str, ...]] = ("turnhead",)
    angle: Annotated[float, Attribute(_DEGREES, "angle")]


@dataclass
class Happens(Node):
    """An event without further values."""

    TAGS: ClassVar[tuple[str, ...]] = (
        "collision",
        "movingobject",
        "movingobjects",
        "person",
        "ball",
        "lostlocalization",
        "lostlocalisation",
        "target",
    )
    kind: Annotated[str, Tag()] = "target"


@dataclass
class Detects(Node):
    """An infrared or a radar sensor detects something."""

    TAGS: ClassVar[tuple[str, ...]] = ("infrared", "radar")
    kind: Annotated[str, Tag()] = "infrared"
    direction: Annotated[Optional[str], Attribute(TEXT, "direction")] = None


@dataclass
class Date(Node):
    """A date and time; what is None does not matter."""

    TAGS: ClassVar[tuple[str, ...]] = ("date",)
    day: Annotated[Optional[int], Attribute(WHOLE, "day")] = None
    month: Annotated[Optional[int], Attribute(WHOLE, "month")] = None
    year: Annotated[Optional[int], Attribute(WHOLE, "year")] = None
    hour: Annotated[Optional[int], Attribute(WHOLE, "hour")] = None
    minute: Annotated[Optional[int], Attribute(WHOLE, "minute")] = None
    second: Annotated[Optional[int], Attribute(WHOLE, "second")] = None


@dataclass
class Delay(Node):
    """A time, s."""

    TAGS: ClassVar[tuple[str, ...]] = ("delay",)
    amount: Annotated[float, Attribute(_MS, "amount")]


@dataclass
class UserEvent(Node):
    """An event that a user raises."""

    TAGS: ClassVar[tuple[str, ...]] = ("userevent",)
    id: Annotated[str, Attribute(TEXT, "id")]


@dataclass
class RandomDelay(Node):
    """A time chosen at random, s."""

    TAGS: ClassVar[tuple[str, ...]] = ("random",)
    minimum: Annotated[float, Attribute(_MS, "min")]
    maximum: Annotated[float, Attribute(_MS, "max")]


@dataclass
class BatteryCharge(Node):
    """The battery has reached this charge."""

    TAGS: ClassVar[tuple[str, ...]] = ("batterycharge",)
    limit: Annotated[float, Attribute(NUMBER, "limit")]


Event = Union[Happens, Detects, Date, Delay, UserEvent, RandomDelay, BatteryCharge, Element]


@dataclass
class Wait(Node):
    """Wait for the first of these events, at most for the time limit, s."""

    TAGS: ClassVar[tuple[str, ...]] = ("wait",)
    events: Annotated[
        list[Event],
        Children(Happens, Detects, Date, Delay, UserEvent, RandomDelay, BatteryCharge, ordered=True),
    ] = field(default_factory=list)
    timeout: Annotated[Optional[float], Attribute(_MS, "timeout")] = None
    timeout_label: Annotated[Optional[str], Attribute(TEXT, "timeoutlabel")] = None
    wait_for: Annotated[Optional[str], Attribute(TEXT, "for")] = None


Step = Union[IoEvent, Goto, Label, Load, Log, Motion, SetParameter, Surveillance, Audio, TurnHead, Wait, Element]


@dataclass
class Task(Node):
    """A list of steps."""

    TAGS: ClassVar[tuple[str, ...]] = ("task",)
    name: Annotated[str, Attribute(TEXT, "name")]
    steps: Annotated[
        list[Step],
        Children(
            IoEvent, Goto, Label, Load, Log, Motion, SetParameter, Surveillance, Audio, TurnHead, Wait, ordered=True
        ),
    ] = field(default_factory=list)
    id: Annotated[Optional[str], Attribute(TEXT, "id")] = None
    priority: Annotated[Optional[int], Attribute(WHOLE, "priority")] = None
    version: Annotated[Optional[str], Attribute(TEXT, "version", "Version")] = None

    def faults(self, tasks: set[str]) -> list[str]:
        """What is inconsistent, in a program with these tasks."""
        labels = [step.name for step in self.steps if isinstance(step, Label)]
        found = _repeated("label", labels)
        for step in self.steps:
            where = _line(step)
            if isinstance(step, Element):
                found.append(f"{where}<{step.name}> is not known")
            elif isinstance(step, Goto) and step.label not in labels:
                found.append(f"{where}there is no label '{step.label}'")
            elif isinstance(step, Wait):
                found += _wait_faults(step, labels)
            elif isinstance(step, Motion):
                found += _motion_faults(step, tasks)
            elif isinstance(step, (Surveillance, Audio)) and step.action is None:
                found.append(f"{where}<{step.TAGS[0]}> has no action")
        return found


@dataclass
class Program(DocumentNode):
    """Tasks that run side by side. It is read as XML or in the text form of :class:`ProgramSource`."""

    TAGS: ClassVar[tuple[str, ...]] = ("program",)
    tasks: Annotated[list[Task], Children(Task)] = field(default_factory=list)
    version: Annotated[Optional[str], Attribute(TEXT, "version", "Version")] = "1.0"

    @classmethod
    def parse(cls, document: Union[str, bytes]) -> Program:
        """Reads XML, or the text form. Raises :class:`DocumentError`."""
        text = decode(document)
        return super().parse(text) if is_xml(text) else cls.from_element(ProgramSource.parse(text).element)

    @classmethod
    def checked(cls, document: Union[Program, str]) -> str:
        """The XML text of a program without faults. Raises :class:`BadArgument`."""
        # Faults of the text form are reported with its lines.
        xml = super().checked(document)
        return ProgramSource.parse(xml).xml() if isinstance(document, str) and not is_xml(document) else xml

    def text(self) -> str:
        """The program in the text form."""
        return ProgramSource([self.to_element()]).text()

    def faults(self) -> list[str]:
        """What is inconsistent."""
        found = _repeated("task", (task.name for task in self.tasks))
        found += _repeated("task with the id", (task.id for task in self.tasks if task.id is not None))
        names = {task.name for task in self.tasks}
        return found + [fault for task in self.tasks for fault in task.faults(names)]


def _wait_faults(wait: Wait, labels: list[str]) -> list[str]:
    where = _line(wait)
    found = [f"{where}<{event.name}> is not known" for event in wait.events if isinstance(event, Element)]
    if wait.timeout_label is not None and wait.timeout_label not in labels:
        found.append(f"{where}there is no label '{wait.timeout_label}'")
    if not wait.events and (wait.timeout is None or wait.timeout <= 0):
        found.append(f"{where}the wait has neither an event nor a time limit")
    return found


def _motion_faults(motion: Motion, tasks: set[str]) -> list[str]:
    where, action = _line(motion), motion.action
    if action is None:
        return [] if motion.stop is not None else [f"{where}<motion> has no action"]
    if isinstance(action, SetTarget):
        return [] if action.place is not None else [f"{where}<settarget> has no target"]
    found = [] if action.target is not None else [f"{where}<moveto> has no target"]
    if action.on_error_task is not None and action.on_error_task not in tasks:
        found.append(f"{where}there is no task '{action.on_error_task}'")
    return found


def _line(node: object) -> str:
    line = getattr(node, "line", 0)
    return f"line {line}: " if line else ""


def _repeated(what: str, names: Iterable[object]) -> list[str]:
    seen: set[object] = set()
    found = []
    for name in names:
        if name == "":
            found.append(f"a {what} has no name")
        elif name in seen:
            found.append(f"{what} '{name}' occurs twice")
        seen.add(name)
    return found
