"""Tables of commands: their names, arguments and texts, for the documentation and the command line."""

from __future__ import annotations

import inspect
import re
import typing
from dataclasses import dataclass
from typing import Any, Callable, TypeVar

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


@dataclass(frozen=True)
class Argument:
    """An argument of a command."""

    name: str
    kind: Any
    """Its type, with :data:`typing.Annotated`'s additions."""
    default: Any
    """``inspect.Parameter.empty`` if there is none."""
    meaning: str


class Table(dict[str, Callable[..., Any]]):
    """The commands of a protocol by name, in the order of declaration."""

    def command(self, function: CommandT) -> CommandT:
        """Adds a command. Its docstring has a line ``name: meaning`` for each argument."""
        self[function.__name__.rstrip("_")] = function
        return function


def meaning(command: Callable[..., Any]) -> str:
    """The first paragraph of a command's documentation."""
    return (inspect.getdoc(command) or "").split("\n\n")[0].replace("\n", " ")


def arguments(command: Callable[..., Any]) -> list[Argument]:
    """The arguments of a command."""
    hints = typing.get_type_hints(command, include_extras=True)
    meanings: dict[str, str] = {}
    last = ""
    for line in (inspect.getdoc(command) or "").splitlines():
        found = re.match(r"(\w+): (.+)", line)
        if found:
            last = found[1]
            meanings[last] = found[2]
        elif last and line.startswith("  "):
            meanings[last] += " " + line.strip()
    return [
        Argument(name, hints[name], parameter.default, meanings.get(name, ""))
        for name, parameter in inspect.signature(command).parameters.items()
    ]
