"""The command line of all protocols, made of their tables of commands."""

from __future__ import annotations

import argparse
import dataclasses
import enum
import inspect
import json
import os
import sys
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Callable, Optional, Union

from .errors import BadArgument, ClientError
from .table import Argument, arguments, meaning


class FromFile:
    """Marks, in ``Annotated``, an argument that the command line reads from a file."""


class Group:
    """Marks, in ``Annotated``, a list whose elements are groups of numbers on the command line."""

    def __init__(self, *names: str) -> None:
        self.names = names


def _plain(kind: Any) -> tuple[Any, list[Any]]:
    """A type without ``Annotated`` and ``Optional``, and the metadata of ``Annotated``."""
    marks: list[Any] = []
    while True:
        if hasattr(kind, "__metadata__"):
            marks += kind.__metadata__
            kind = kind.__origin__
        elif typing.get_origin(kind) is Union:
            kind = next(one for one in typing.get_args(kind) if one is not type(None))
        else:
            return kind, marks


def _boolean(value: str) -> bool:
    values = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}
    if value.lower() not in values:
        raise argparse.ArgumentTypeError(f"{value!r} is neither on nor off")
    return values[value.lower()]


def _integer(value: str) -> int:
    return int(value, 0)


def _hexadecimal(value: str) -> bytes:
    return bytes.fromhex(value)


_hexadecimal.__name__ = "hexadecimal"
_integer.__name__ = "integer"


def _options(argument: Argument) -> dict[str, Any]:
    """Options of argparse for this argument."""
    kind, marks = _plain(argument.kind)
    origin = typing.get_origin(kind)
    options: dict[str, Any] = {"help": argument.meaning.replace("%", "%%").replace("``", "")}
    if any(isinstance(mark, FromFile) for mark in marks):
        options.update(type=Path, metavar="FILE")
    elif any(isinstance(mark, Group) for mark in marks):
        names = next(mark.names for mark in marks if isinstance(mark, Group))
        options.update(type=float, nargs="+", metavar=" ".join(names).upper())
    elif origin is tuple and ... not in typing.get_args(kind):
        options.update(type=float, nargs=len(typing.get_args(kind)))
    elif origin is not None and issubclass(origin, Sequence):
        element = typing.get_args(kind)[0]
        options.update(type=float if element is float else _boolean if element is bool else element, nargs="+")
    elif isinstance(kind, type) and issubclass(kind, enum.Enum):
        options.update(choices=[member.name.lower() for member in kind])
    else:
        options["type"] = {bool: _boolean, int: _integer, bytes: _hexadecimal}.get(kind, kind)
        if kind is bool:
            options["metavar"] = "on|off"
    return options


def _add(parser: argparse.ArgumentParser, command: Callable[..., Any]) -> None:
    for argument in arguments(command):
        options = _options(argument)
        if argument.default is inspect.Parameter.empty:
            if "metavar" not in options and "choices" not in options:
                options["metavar"] = argument.name.upper()
            parser.add_argument(argument.name, **options)
        else:
            if argument.default not in (None, ""):
                shown = argument.default.name.lower() if isinstance(argument.default, enum.Enum) else argument.default
                options["help"] += f" (default: {shown})"
            options.setdefault("metavar", None if "choices" in options else argument.name.upper())
            flag = "--" + argument.name.replace("_", "-")
            parser.add_argument(flag, dest=argument.name, default=argument.default, **options)


def _value(argument: Argument, given: Any) -> Any:
    """The argument that the command gets."""
    _, marks = _plain(argument.kind)
    if given is None or given is argument.default:
        return given
    for mark in marks:
        if isinstance(mark, FromFile):
            try:
                return Path(given).read_bytes().decode("utf-8-sig")
            except (OSError, UnicodeDecodeError) as error:
                raise BadArgument(f"cannot read {given}: {error}") from None
        if isinstance(mark, Group):
            size = len(mark.names)
            if len(given) % size:
                raise BadArgument(f"{argument.name}: groups of {size} numbers are needed, not {len(given)} numbers")
            return [tuple(given[start : start + size]) for start in range(0, len(given), size)]
    return given


def call(method: Callable[..., Any], command: Callable[..., Any], given: argparse.Namespace) -> Any:
    """Calls a client's method with the arguments of the command line."""
    return method(**{one.name: _value(one, getattr(given, one.name)) for one in arguments(command)})


def plain(value: Any) -> Any:
    """A result as values of JSON."""
    if isinstance(value, enum.Enum):
        return value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def show(value: Any) -> None:
    """Prints a result: a document as it is, everything else as JSON."""
    if value is None:
        return
    if isinstance(getattr(value, "xml", None), str):
        print(value.xml)
    else:
        print(json.dumps(plain(value), ensure_ascii=False, indent=None if isinstance(value, (list, tuple)) else 2))


def parser(module: str, about: str, port: int, timeout: float) -> argparse.ArgumentParser:
    """A parser with the options of all protocols."""
    made = argparse.ArgumentParser(prog=f"python -m {module}", description=about)
    made.add_argument("--host", default="127.0.0.1", help="name or address of the server (default: 127.0.0.1)")
    made.add_argument("--port", type=int, default=port, help=f"its port (default: {port})")
    made.add_argument("--timeout", type=float, default=timeout, help=f"time limit, s (default: {timeout:g})")
    return made


def add_commands(parent: argparse.ArgumentParser, commands: Mapping[str, Callable[..., Any]]) -> None:
    """A subcommand for each command; ``command_name`` is set to its name in the table."""
    found = parent.add_subparsers(metavar="COMMAND", required=True)
    for name, command in commands.items():
        text = meaning(command).replace("``", "")
        one = found.add_parser(name.replace("_", "-"), help=text.replace("%", "%%"), description=text)
        one.set_defaults(command_name=name)
        _add(one, command)


def guarded(action: Callable[[], Any]) -> int:
    """Calls the function; returns the exit status."""
    try:
        show(action())
    except ClientError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2 if isinstance(error, BadArgument) else 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of the output, for example head, has closed it.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    return 0


def run(
    made: argparse.ArgumentParser,
    commands: Mapping[str, Callable[..., Any]],
    client: Callable[[argparse.Namespace], Any],
    argv: Optional[Sequence[str]],
    confirm: Optional[Callable[[Any, str, Any], None]] = None,
    local: Optional[Mapping[str, Callable[..., Any]]] = None,
) -> int:
    """Parses the command line, carries the command out and prints the result.

    ``confirm`` gets the client, the command's name and its result, before the connection is closed. ``local``: commands
    that need no server.
    """
    local = local or {}
    add_commands(made, {**commands, **local})
    given = made.parse_args(argv)

    def action() -> Any:
        name = given.command_name
        if name in local:
            return call(local[name], local[name], given)
        one = client(given)
        try:
            result = call(getattr(one, name if hasattr(one, name) else name + "_"), commands[name], given)
            if confirm is not None:
                confirm(one, name, result)
            return result
        finally:
            one.close()

    return guarded(action)
