"""Maps, roadmaps and programs (PlatformCtrl guide, 6.5)."""

from __future__ import annotations

import doctest
import math
import unittest
from typing import Any

from dragoman_clients import BadArgument
from dragoman_clients.neobotix import documents as d
from dragoman_clients.neobotix import xml

from .support import REPOSITORY, seeded

FOLDER = REPOSITORY / "launch/config/neobotix"


class Documents(unittest.TestCase):
    def test_those_of_the_lab(self) -> None:
        for name, kind in (("map", d.Map), ("roadmap", d.Roadmap), ("program", d.Program)):
            one = kind.parse((FOLDER / f"{name}.xml").read_bytes())
            self.assertEqual(one.faults(), [])
            self.assertEqual(kind.parse(one.xml()), one)
            self.assertEqual(kind.parse(one.xml()).xml(), one.xml())

    def test_units(self) -> None:
        roadmap = d.Roadmap.parse((FOLDER / "roadmap.xml").read_text())
        middle = roadmap.station("middle")
        assert middle is not None
        self.assertEqual((middle.point.x, middle.point.y), (1.0, 3.0))
        self.assertAlmostEqual(middle.angle, math.radians(170))
        self.assertIn('angle="170"', roadmap.xml())
        program = d.Program.parse((FOLDER / "program.xml").read_text())
        wait = next(step for step in program.tasks[0].steps if isinstance(step, d.Wait))
        self.assertEqual(wait.timeout, 120.0)

    def test_every_element_of_a_task(self) -> None:
        steps: list[Any] = [
            d.IoEvent(d.DigitalOut(d1=True, d12=False)),
            d.Label("a"),
            d.Goto("a", "true"),
            d.Load("hall", "ways"),
            d.Log("hello", "info"),
            d.Motion(d.SetTarget(d.Coordinates(1.5, -2.0, math.pi / 2))),
            d.Motion(d.SetTarget(d.StationTarget("dock"))),
            *[d.Motion(d.MoveTo(d.Tracked(kind), "t")) for kind in d.Tracked.TAGS],
            d.Motion(stop=True),
            d.SetParameter(d.Set("IpoTransVel", "500")),
            d.Surveillance(d.Grab("f", True, False)),
            d.Surveillance(d.MoveCamera("p")),
            d.Audio(d.Speak('<&"\n>')),
            d.Audio(d.Play("s.wav")),
            d.TurnHead(0.5),
            d.Wait(
                [
                    *[d.Happens(kind) for kind in d.Happens.TAGS],
                    d.Detects("infrared", "1"),
                    d.Detects("radar"),
                    d.Date(1, 2, 2030, 3, 4, 5),
                    d.Delay(0.5),
                    d.UserEvent("go"),
                    d.RandomDelay(1.0, 2.0),
                    d.BatteryCharge(24.5),
                ],
                10.0,
                "a",
                "any",
            ),
        ]
        program = d.Program([d.Task("t", steps, "1", 2, "1.0")])
        self.assertEqual(program.faults(), [])
        text = program.xml()
        self.assertEqual(d.Program.parse(text), program)
        self.assertIn('<digitalout D1="1" D2="-1"', text)
        self.assertIn('amount="500"', text)

    def test_unknown_parts_are_kept(self) -> None:
        text = (
            '<?xml version="1.0" encoding="UTF-8"?>\n<map version="2" new="1">\n  <layer index="0">\n'
            '    <beacon id="7"/>\n    <line tint="red">\n      <point x="0" y="0.5"/>\n      <point x="1" y="2"/>\n'
            "    </line>\n  </layer>\n  <legend>text</legend>\n</map>\n"
        )
        self.assertEqual(d.Map.parse(text).xml(), text)

    def test_faults(self) -> None:
        cases = {
            "<map><layer><line><point x='0' y='0'/><point x='0' y='0'/></line></layer></map>": "are the same point",
            "<map><layer><prohibit><point x='0' y='0'/></prohibit></layer></map>": "at least three <point>; it has 1",
            "<map><layer index='1'/><layer index='1'/></map>": "twice",
            "<map><layer><circle><center x='0' y='0'/><radius r='0'/></circle></layer></map>": "radius",
            "<roadmap><stations><station id='1' name='a' angle='0'><point x='0' y='0'/></station></stations>"
            "<edges><edge startstation='1' endstation='2'/></edges></roadmap>": "no station with the id '2'",
            "<program><task name='a'/><task name='a'/></program>": "occurs twice",
            "<program><task name='a'><goto label='x'/></task></program>": "no label 'x'",
            "<program><task name='a'><wait/></task></program>": "neither",
            "<program><task name='a'><dance/></task></program>": "<dance> is not known",
            "<program><task name='a'><motion/></task></program>": "needs one <settarget or moveto>; it has 0",
            "<map><layer><line/></layer></map>": "exactly two <point>; it has 0",
            "<map><layer><line/></layer": "line 1",
            "<map>\n<layer index='x'/></map>": "line 2",
            "<map><layer><hiddenlabel text='a'/></layer></map>": "needs exactly one <point>",
            "<map><layer><circle><center x='nan' y='0'/><radius r='1'/></circle></layer></map>": "not a number",
            "<!DOCTYPE map [<!ENTITY a 'b'>]><map/>": "declarations",
            "<map/>" + "x": "line 1",
            "<map>text</map>": "text in it",
            "": "no element",
            "<a>" * 40: "deeper",
        }
        kinds: dict[str, Any] = {"map": d.Map, "roa": d.Roadmap, "pro": d.Program}
        for text, expected in cases.items():
            kind = kinds.get(text[1:4], d.Map)
            with self.subTest(text), self.assertRaisesRegex(BadArgument, expected):
                kind.checked(text)

    def test_a_document_type_is_not_loaded(self) -> None:
        self.assertEqual(d.Map.parse('<!DOCTYPE map SYSTEM "/etc/passwd"><map/>').layers, [])

    def test_values_that_cannot_be_written(self) -> None:
        bad: list[Any] = [
            d.Map([d.Layer([d.MapLine([d.Spot(math.nan, 0), d.Spot(0, 0)])])]),
            d.Map([d.Layer([d.MapLine([d.Spot(0, 0), d.Spot(1, 0)], "wall")])]),
            d.Map([d.Layer([d.MapLabel("\0", d.Spot(0, 0))])]),
            d.Map([d.Layer(["line"])]),  # type: ignore[list-item]
            d.Map(["layer"]),  # type: ignore[list-item]
            d.Map(7),  # type: ignore[arg-type]
            d.Map([d.Layer([], "0")]),  # type: ignore[arg-type]
        ]
        for one in bad:
            with self.subTest(one), self.assertRaises(BadArgument):
                d.Map.checked(one)

    def test_any_text_is_read_or_refused(self) -> None:
        source = seeded()
        pieces = [
            "<map>", "</map>", '<layer index="1">', "</layer>", "<line>", "</line>", '<point x="1" y="2"/>', "<new/>",
            "<program>", "</program>", "<task name='t'>", "</task>", "<goto label='a'/>", "&amp;", "<", "x", "\n",
            "<wait timeout='5'>", "</wait>", "<collision/>", "<!-- -->", "<motion stop='1'/>", "<roadmap>",
            "</roadmap>",
        ]  # fmt: skip
        read = 0
        for _ in range(3000):
            inner = "".join(source.choice(pieces) for _ in range(source.randrange(12)))
            text = source.choice(["{}", "<map>{}</map>", "<program><task name='t'>{}</task></program>"]).format(inner)
            for kind in (d.Map, d.Roadmap, d.Program):
                try:
                    one = kind.parse(text)
                except xml.DocumentError:
                    continue
                read += 1
                self.assertEqual(kind.parse(one.xml()), one, text)
                one.faults()
        self.assertGreater(read, 100)

    def test_the_examples_in_the_text(self) -> None:
        self.assertEqual(doctest.testmod(d).failed, 0)


if __name__ == "__main__":
    unittest.main()
