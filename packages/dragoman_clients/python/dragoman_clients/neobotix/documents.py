"""Maps, roadmaps and programs (PlatformCtrl guide, 6.5) as objects; m, rad and s.

>>> roadmap = Roadmap([Station("1", "dock", 0.5, Spot(1.0, 2.0))])
>>> Roadmap.parse(roadmap.xml()) == roadmap
True
"""

from __future__ import annotations

import calendar
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Optional, Union

from .codes import ParameterType
from .parameters import declared, excerpt, number
from .source import ProgramSource, decode, is_xml
from .xml import (
    BIT,
    COUNT,
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
    meant,
    unit,
    whole_unit,
)

_MM = unit(1000)
_DEGREES = unit(180 / math.pi)
_MS = whole_unit(1000, 0)
_LIMIT = whole_unit(1000)
_CIRCLE = (-360.0, 360.0)

MAX_TASKS = 256
"""Most tasks of a program."""
MAX_INSTRUCTIONS = 100_000
"""Most steps of a program; a motion that stops and sets a target counts twice."""
MAX_COORDINATE = float((1 << 31) - 1)
"""Largest coordinate, mm."""
_RADII = (0.001, MAX_COORDINATE)
MAX_CHARGE = 1000.0
"""Largest charge to wait for, %."""


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
    """A layer of a map. Unknown elements are kept unchanged."""

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
        """The inconsistencies, each as a text."""
        found = _repeated("layer", ((layer.index, layer) for layer in self.layers if layer.index is not None))
        for layer in self.layers:
            areas = [item for item in layer.items if isinstance(item, MapArea) and item.kind == "workarea"]
            if len(areas) > 1:
                found.append(f"{_line(areas[1])}area 'workarea' occurs twice")
            for item in layer.items:
                if isinstance(item, MapLine):
                    found += _line_faults(item)
                elif isinstance(item, MapArea):
                    found += _area_faults(item)
                elif isinstance(item, MapLabel):
                    found += _spot_faults(item.point)
                elif isinstance(item, MapCircle):
                    found += _spot_faults(item.center)
                    found += _range("the radius in mm", item.radius.r, _MM, _RADII, item.radius)
        return found


def _spot_faults(spot: Union[Spot, Center, Coordinates]) -> list[str]:
    limits = (-MAX_COORDINATE, MAX_COORDINATE)
    return [fault for value in (spot.x, spot.y) for fault in _range("a coordinate in mm", value, _MM, limits, spot)]


def _line_faults(item: MapLine) -> list[str]:
    if len(item.points) != 2:
        return [f"{_line(item)}<{item.kind}> needs exactly two <point>; it has {len(item.points)}"]
    found = [fault for point in item.points for fault in _spot_faults(point)]
    (a, b) = item.points
    if (a.x, a.y) == (b.x, b.y):
        found.append(f"{_line(item)}the two ends are the same point")
    return found


def _area_faults(item: MapArea) -> list[str]:
    found = [fault for point in item.points for fault in _spot_faults(point)]
    if len(item.points) < 3:
        return [*found, f"{_line(item)}<{item.kind}> needs at least three <point>; it has {len(item.points)}"]
    corners = [(float(_MM.write(point.x)), float(_MM.write(point.y))) for point in item.points]
    # A corner that differs from the first, and one that is not on the line through these two.
    offsets = [(x - corners[0][0], y - corners[0][1]) for x, y in corners]
    direction = next((offset for offset in offsets if offset != (0.0, 0.0)), None)
    if direction is None or all(direction[0] * y == direction[1] * x for x, y in offsets):
        found.append(f"{_line(item)}the points are collinear and enclose no area")
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
    """The points of an edge, in a separate element."""

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
        """The inconsistencies, each as a text."""
        ids = {station.id for station in self.stations}
        found = _repeated("station with the id", ((station.id, station) for station in self.stations))
        found += _repeated("station", ((station.name, station) for station in self.stations))
        for station in self.stations:
            found += _range("an angle in degrees", station.angle, _DEGREES, _CIRCLE, station)
            found += _spot_faults(station.point)
        for edge in self.edges:
            found += [
                f"{_line(edge)}there is no station with the id '{one}'"
                for one in (edge.start, edge.end)
                if one not in ids
            ]
            inner = edge.way.points if edge.way is not None else []
            found += [fault for point in [*edge.points, *inner] for fault in _spot_faults(point)]
        return found


# Programs


def _output(text: str) -> Optional[bool]:
    return {"-1": None, "0": False, "1": True}[text.strip()]


_OUTPUT = Value("-1, 0 or 1", _output, lambda value: {None: "-1", False: "0", True: "1"}[value], "True, False or None")


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
    """A target of ``Goto``."""

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
    """An object that the platform detects."""

    TAGS: ClassVar[tuple[str, ...]] = ("trackedperson", "trackedball", "trackedmovingobject", "chargingstation")
    kind: Annotated[str, Tag()] = "chargingstation"


@dataclass
class MoveTo(Node):
    """Drive to a detected object."""

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
    """A date and time; parts that are None match anything."""

    TAGS: ClassVar[tuple[str, ...]] = ("date",)
    day: Annotated[Optional[int], Attribute(COUNT, "day")] = None
    month: Annotated[Optional[int], Attribute(COUNT, "month")] = None
    year: Annotated[Optional[int], Attribute(COUNT, "year")] = None
    hour: Annotated[Optional[int], Attribute(COUNT, "hour")] = None
    minute: Annotated[Optional[int], Attribute(COUNT, "minute")] = None
    second: Annotated[Optional[int], Attribute(COUNT, "second")] = None


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
    timeout: Annotated[Optional[float], Attribute(_LIMIT, "timeout")] = None
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
        """The inconsistencies, each as a text, in a program with these tasks."""
        labels = [step.name for step in self.steps if isinstance(step, Label)]
        found = _repeated("label", ((step.name, step) for step in self.steps if isinstance(step, Label)))
        for step in self.steps:
            if isinstance(step, Element):
                found.append(_unknown(step, self))
            elif isinstance(step, Goto):
                found += _missing("label", step.label, labels, step)
                found += _condition_faults(step)
            elif isinstance(step, SetParameter):
                found += _set_faults(step.set)
            elif isinstance(step, Wait):
                found += _wait_faults(step, labels)
            elif isinstance(step, Motion):
                found += _motion_faults(step, tasks)
            elif isinstance(step, TurnHead):
                found += _range("an angle in degrees", step.angle, _DEGREES, _CIRCLE, step)
            elif isinstance(step, (Surveillance, Audio)) and step.action is None:
                wanted = "grab or movecamera" if isinstance(step, Surveillance) else "speak or play"
                found.append(_no_action(step, wanted))
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
        # Faults of the text form are reported with their lines.
        xml = super().checked(document)
        return ProgramSource.parse(xml).xml() if isinstance(document, str) and not is_xml(document) else xml

    def text(self) -> str:
        """The program in the text form."""
        return ProgramSource([self.to_element()]).text()

    def faults(self) -> list[str]:
        """The inconsistencies, each as a text."""
        found = self._too_many()
        found += _repeated("task", ((task.name, task) for task in self.tasks))
        found += _repeated("task with the id", ((task.id, task) for task in self.tasks if task.id is not None))
        names = {task.name for task in self.tasks}
        return found + [fault for task in self.tasks for fault in task.faults(names)]

    def _too_many(self) -> list[str]:
        steps = [step for task in self.tasks for step in task.steps]
        # A motion that stops and sets a target is two instructions.
        both = [step for step in steps if isinstance(step, Motion) and step.stop and step.action is not None]
        counts = (("tasks", len(self.tasks), MAX_TASKS), ("instructions", len(steps) + len(both), MAX_INSTRUCTIONS))
        return [
            f"{_line(self)}the program has {found} {what}; the maximum is {most}"
            for what, found, most in counts
            if found > most
        ]


def _wait_faults(wait: Wait, labels: list[str]) -> list[str]:
    found = [] if wait.timeout_label is None else _missing("label", wait.timeout_label, labels, wait)
    if not wait.events and (wait.timeout is None or wait.timeout <= 0):
        found.append(f"{_line(wait)}the wait has neither an event nor a time limit")
    for event in wait.events:
        if isinstance(event, Element):
            found.append(_unknown(event, wait))
        elif isinstance(event, Date) and not _is_possible(event):
            found.append(f"{_line(event)}the date does not exist")
        elif isinstance(event, RandomDelay):
            longest = float(_MS.write(event.maximum))
            found += _range("the minimum time in ms", event.minimum, _MS, (0.0, longest), event)
        elif isinstance(event, BatteryCharge):
            found += _range("the charge", event.limit, NUMBER, (0.0, MAX_CHARGE), event)
    return found


def _is_possible(date: Date) -> bool:
    """Whether the date exists, in some year if none is given."""
    is_leap = date.year is None or calendar.isleap(date.year)
    days = {2: 29 if is_leap else 28, 4: 30, 6: 30, 9: 30, 11: 30}.get(date.month or 0, 31)
    return (
        (date.month is None or 1 <= date.month <= 12)
        and (date.day is None or 1 <= date.day <= days)
        and (date.hour is None or date.hour < 24)
        and (date.minute is None or date.minute < 60)
        and (date.second is None or date.second < 60)
    )


def _motion_faults(motion: Motion, tasks: set[str]) -> list[str]:
    action = motion.action
    if action is None:
        return [] if motion.stop is not None else [_no_action(motion, "settarget or moveto")]
    if isinstance(action, SetTarget):
        place = action.place
        if place is None:
            return [_no_action(action, "coord or station")]
        if isinstance(place, StationTarget):
            return []
        return _spot_faults(place) + _range("an angle in degrees", place.angle, _DEGREES, _CIRCLE, place)
    found = [] if action.target is not None else [_no_action(action, "target")]
    if action.on_error_task is not None:
        found += _missing("task", action.on_error_task, tasks, action)
    return found


def _condition_faults(goto: Goto) -> list[str]:
    """A condition must be the key of a Boolean parameter."""
    if goto.condition is None or goto.condition.strip() in ("true", "false", "1", "0"):
        return []
    known = declared(goto.condition)
    if known is not None and known.kind is ParameterType.BOOLEAN:
        return []
    return [f"{_line(goto)}there is no Boolean parameter '{excerpt(goto.condition)}'"]


def _set_faults(given: Set) -> list[str]:
    known = declared(given.key)
    fault = f"there is no parameter '{excerpt(given.key)}'" if known is None else known.fault(given.value)
    return [] if fault is None else [_line(given) + fault]


def _range(what: str, value: float, unit: Value, limits: tuple[float, float], node: Node) -> list[str]:
    """A value in SI units whose limits are those of the document's unit."""
    written, (least, most) = float(unit.write(value)), limits
    if least <= written <= most:
        return []
    return [f"{_line(node)}{what} is {number(written)}, which is not between {number(least)} and {number(most)}"]


def _missing(what: str, name: str, known: Iterable[str], node: Node) -> list[str]:
    return [] if name in known else [f"{_line(node)}there is no {what} '{excerpt(name)}'"]


def _unknown(element: Element, parent: Node) -> str:
    marks = parent.marks().values()
    known = [tag for mark in marks if isinstance(mark, (Child, Children)) for kind in mark.kinds for tag in kind.TAGS]
    return f"{_line(element)}<{excerpt(element.name)}> is not known{meant(element.name, known)}"


def _no_action(node: Node, child: str) -> str:
    """The error for an element without the child that has its action."""
    extra = node.__dict__.get("extra")
    if extra is not None and extra.elements:
        return _unknown(extra.elements[0], node)
    return f"{_line(node)}<{node.TAGS[0]}> needs one <{child}>; it has 0"


def _line(node: object) -> str:
    line = getattr(node, "line", 0)
    return f"line {line}: " if line else ""


def _repeated(what: str, names: Iterable[tuple[object, Node]]) -> list[str]:
    seen: set[object] = set()
    found = []
    for name, node in names:
        if name == "":
            found.append(f"{_line(node)}{what} has no name")
        elif name in seen:
            found.append(f"{_line(node)}{what} '{excerpt(str(name))}' occurs twice")
        seen.add(name)
    return found
