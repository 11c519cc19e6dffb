"""Programs in the text form are what they are in Rust: the file is shared."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import tempfile
import unittest
from pathlib import Path
from typing import Union

from dragoman_clients import BadArgument
from dragoman_clients.neobotix import Program, ProgramSource, source
from dragoman_clients.neobotix import __main__ as neobotix
from dragoman_clients.neobotix.documents import Delay, Label, Task, Wait
from dragoman_clients.neobotix.xml import COMMENT, DocumentError, Element

from .support import REPOSITORY, seeded

FILE = REPOSITORY / "packages/dragoman_neobotix/src/documents/source/texts.txt"
LAB = REPOSITORY / "launch/config/neobotix/program.xml"


def converted(text: str) -> str:
    """As the file has it."""
    try:
        read = ProgramSource.parse(text)
    except DocumentError as error:
        return "errors\n" + "".join(f"{one.line}:{one.column}: {one.text}\n" for one in error.errors)
    return f"text\n{read.text()}-- xml\n{read.xml()}"


class SameTexts(unittest.TestCase):
    def test_they_are_what_the_file_says(self) -> None:
        # A section ends with the end of a line; a blank line is before the next case.
        head, *cases = FILE.read_text(encoding="utf-8").split("\n== ")
        again = [head]
        for case in cases:
            name, rest = case.split("\n-- in\n")
            given, expected = rest.split("\n-- ", 1)
            found = converted(given + "\n")
            again.append(f"{name}\n-- in\n{given}\n-- {found}")
            if "DRAGOMAN_UPDATE_TEXTS" not in os.environ:
                with self.subTest(name):
                    self.assertEqual(found, expected)
        self.assertEqual(len(cases), 48)
        if "DRAGOMAN_UPDATE_TEXTS" in os.environ:
            FILE.write_text("\n== ".join(again), encoding="utf-8")

    def test_any_program_survives_both_ways(self) -> None:
        random = seeded()
        pieces = ["", " a ", "a", "\n", "  ", "#", ":", "|", "ü", '"', "- x", "\\n", "\t", "=", ">", "\u3000", "\x7f"]
        names = ["task", "program", "label", "goto", "wait", "x", "log"]

        def text(count: int) -> str:
            return "".join(random.choice(pieces) for _ in range(random.randrange(count)))

        def element(depth: int) -> Element:
            one = Element(random.choice(names))
            for name in random.sample(["name", "label", "message", "a"], random.randrange(3)):
                one.attributes[name] = text(5)
            one.text = text(3).strip()
            one.children = [
                element(depth + 1) if random.random() < 0.7 else Element(COMMENT, text=text(5))
                for _ in range(random.randrange(3) if depth < 4 else 0)
            ]
            return one

        for _ in range(500):
            root = element(0)
            root.name = "program"
            written = ProgramSource([Element(COMMENT, text=text(5)), root])
            read = ProgramSource.parse(written.xml())
            self.assertEqual(read, written, written.xml())
            back = ProgramSource.parse(read.text())
            self.assertEqual(back, read, read.text())
            self.assertEqual((back.text(), back.xml()), (read.text(), written.xml()))

    def test_encodings_and_what_is_refused(self) -> None:
        latin = '<?xml version="1.0" encoding="ISO-8859-1"?><program a="\xf1"/>'.encode("latin-1")
        self.assertEqual(ProgramSource.parse(latin).text(), "program a=ñ\n")
        self.assertEqual(ProgramSource.parse(b"\xef\xbb\xbfprogram\r\n  task a\r").text(), "program\n  task a\n")
        refused: dict[Union[str, bytes], str] = {
            b"program\n  task \xff": "line 2, column 8: neither UTF-8",
            "program\n  task \x01": r"line 2, column 8: '\\u\{1\}' is not permitted in XML",
            "<program>&x;</program>": "line 1: undefined entity",
            "<!DOCTYPE program SYSTEM 'a'><program>&x;</program>": "line 1: an unknown reference",
            "<!DOCTYPE program [<!ENTITY x 'y'>]><program/>": "a document type with declarations",
            "<?pi x?><program/>": "a processing instruction cannot be kept",
            "<program><task>": "no element|not well-formed|unclosed",
            "program" + " " * (16 << 20): "exceed the maximum",
        }
        for data, expected in refused.items():
            with self.subTest(data[:60]), self.assertRaisesRegex(DocumentError, expected):
                ProgramSource.parse(data)
        for bad in (Element("a b"), Element("program", {"a": "\x01"}), Element("program", text="\ud800")):
            with self.assertRaises(BadArgument):
                ProgramSource([bad]).xml()

    def test_programs_are_read_in_both_forms(self) -> None:
        program = Program([Task("t", [Label("a"), Wait([Delay(0.5)])])])
        text = program.text()
        self.assertEqual(text, "program version=1.0\n  task t\n    label a\n    wait > delay 500\n")
        self.assertEqual(Program.parse(text), program)
        # The platform is sent XML.
        self.assertEqual(Program.checked(text), ProgramSource.parse(text).xml())
        with self.assertRaisesRegex(BadArgument, "line 4: there is no label 'x'"):
            Program.checked("# c\nprogram\n  task t\n    goto x\n")
        with self.assertRaisesRegex(BadArgument, 'line 2, column 10: which attribute is "b"'):
            Program.checked("program\n  task a b\n")

    def test_the_examples_in_the_text(self) -> None:
        self.assertEqual(doctest.testmod(source).failed, 0)


class CommandLine(unittest.TestCase):
    def run_it(self, *arguments: object) -> tuple[int, str, str]:
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            status = neobotix.main([str(one) for one in arguments])
        return status, out.getvalue(), error.getvalue()

    def test_files_are_converted_and_checked_without_a_server(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            text, xml = Path(folder, "lab.txt"), Path(folder, "lab.xml")
            status, shown, _ = self.run_it("convert-program", LAB, "-")
            self.assertEqual(status, 0)
            self.assertTrue(shown.startswith("# For the default lab: "), shown)
            self.assertEqual(self.run_it("convert-program", LAB, text), (0, "", ""))
            self.assertEqual(text.read_text(encoding="utf-8"), shown)
            self.assertEqual(self.run_it("convert-program", text, xml), (0, "", ""))
            self.assertEqual(Program.parse(xml.read_bytes()), Program.parse(LAB.read_bytes()))
            status, _, error = self.run_it("convert-program", text, xml)
            self.assertEqual((status, error), (2, f"BadArgument: {xml} exists: use --force on to overwrite it\n"))
            self.assertEqual(self.run_it("convert-program", text, xml, "--force", "on"), (0, "", ""))
            for file in (LAB, text, xml):
                self.assertIn("no errors; tasks: 2, steps: 17", self.run_it("check-program", file)[1])
            text.write_text("program x\n  task a b\n", encoding="utf-8")
            status, _, error = self.run_it("check-program", text)
            self.assertEqual(status, 2)
            self.assertIn(f"{text}: line 1, column 9: which attribute", error)
            self.assertIn(f"{text}: line 2, column 10: which attribute", error)
            text.write_text("program\n  task a\n    goto x\n    wait\n", encoding="utf-8")
            status, _, error = self.run_it("check-program", text)
            self.assertEqual(status, 2)
            self.assertIn(f"{text}: line 3: there is no label 'x'\n{text}: line 4: the wait has neither", error)
            self.assertEqual(self.run_it("check-program", Path(folder, "none"))[0], 2)


if __name__ == "__main__":
    unittest.main()
