"""Faulty programs, maps and roadmaps are refused as in Rust: the file is shared."""

from __future__ import annotations

import os
import unittest

from dragoman_clients.neobotix import Map, Program, ProgramSource, Roadmap, parameters
from dragoman_clients.neobotix.codes import ParameterType
from dragoman_clients.neobotix.documents import MAX_TASKS, Task
from dragoman_clients.neobotix.xml import DocumentError

from .support import REPOSITORY, first_cells, page

FILE = REPOSITORY / "packages/dragoman_neobotix/src/documents/faults.txt"


def faults(text: str) -> str:
    """As the file has it."""
    kind = next((kind for tag, kind in (("<map", Map), ("<roadmap", Roadmap)) if text.startswith(tag)), None)
    try:
        if kind is None:
            found = Program.from_element(ProgramSource.parse(text).element).faults()
        else:
            document = kind.parse(text)
            found = document.faults() + document.without_effect()
    except DocumentError as error:
        found = [f"line {one.line}: {one.text}" for one in error.errors]
    rows = [fault.removeprefix("line ").split(": ", 1) for fault in found]
    return "".join(f"{line}: {text}\n" for line, text in sorted(rows, key=lambda row: (int(row[0]), row[1])))


class SameFaults(unittest.TestCase):
    def test_they_are_what_the_file_says(self) -> None:
        head, *cases = FILE.read_text(encoding="utf-8").rstrip("\n").split("\n\n== ")
        again = [head]
        for case in cases:
            name, rest = case.split("\n-- in\n")
            given, expected = rest.split("\n-- faults")
            found = faults(given + "\n")
            again.append(f"{name}\n-- in\n{given}\n-- faults\n{found}".rstrip("\n"))
            if "DRAGOMAN_UPDATE_FAULTS" not in os.environ:
                with self.subTest(name):
                    self.assertEqual(found.strip("\n"), expected.strip("\n"))
        self.assertEqual(len(cases), 24)
        if "DRAGOMAN_UPDATE_FAULTS" in os.environ:
            FILE.write_text("\n\n== ".join(again) + "\n", encoding="utf-8")

    def test_a_program_has_at_most_256_tasks(self) -> None:
        program = Program([Task(f"t{number}") for number in range(MAX_TASKS + 1)])
        self.assertEqual(program.faults(), ["the program has 257 tasks; the maximum is 256"])
        program.tasks.pop()
        self.assertEqual(program.faults(), [])

    def test_long_values_do_not_make_long_errors(self) -> None:
        long = "x" * 3_000_000
        for program in (
            f"<program><task name='a'><{long}/></task></program>",
            f"<program><task name='a'><turnhead angle='{long}'/></task></program>",
            f"<program><task name='a'><goto label='{long}'/></task></program>",
            f"<program><task name='a'><parameter><set key='{long}' value='1'/></parameter></task></program>",
            f"<program><task name='a'><parameter><set key='IpoRotvel' value='{long}'/></parameter></task></program>",
            f"<program><task name='a'/><{long}",
        ):
            self.assertLess(len(faults(program)), 400)

    def test_the_parameters_are_those_of_the_documentation(self) -> None:
        rows = first_cells(page("protocol-neobotix.md"), "## Parameters")
        theirs = {row[0]: (row[2], row[4], row[5]) for row in rows}
        ours = {
            key: (
                one.kind.name.lower(),
                "" if one.kind is ParameterType.BOOLEAN else f"{one.minimum} to {one.maximum}",
                one.unit,
            )
            for key, one in parameters.PARAMETERS.items()
            if not key.startswith("UltraSonic")
        }
        self.assertEqual(ours, theirs)
        self.assertEqual(len(parameters.PARAMETERS), 94)


if __name__ == "__main__":
    unittest.main()
