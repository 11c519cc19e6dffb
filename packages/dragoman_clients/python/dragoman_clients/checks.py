"""Checks of arguments, before anything is sent."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import IntEnum
from typing import Optional, TypeVar

from .errors import BadArgument

EnumT = TypeVar("EnumT", bound=IntEnum)

# The largest number that rounds to a finite f32.
_F32_MAX = 3.4028235677973362e38


def number(value: object, what: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        # numpy's scalars and the like.
        try:
            if isinstance(value, (bool, str, bytes, bytearray)):
                raise TypeError
            value = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise BadArgument(f"{what} must be a number, not {value!r}") from None
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise BadArgument(f"{what} must be finite, not {value!r}")
    return result


def single(value: object, what: str) -> float:
    """A number that is finite as an f32."""
    result = number(value, what)
    if abs(result) >= _F32_MAX:
        raise BadArgument(f"{what} is too large for the protocol: {value!r}")
    return result


def numbers(values: object, what: str, count: Optional[int] = None) -> list[float]:
    """A list of finite numbers, of this length if one is given."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise BadArgument(f"{what} must be a list of numbers, not {values!r}")
    result = [number(value, f"{what}[{place}]") for place, value in enumerate(values)]
    if count is not None and len(result) != count:
        raise BadArgument(f"{what} must have {count} numbers, not {len(result)}")
    return result


def integer(value: object, what: str, minimum: int, maximum: int) -> int:
    """A whole number within these limits."""
    if isinstance(value, bool):
        raise BadArgument(f"{what} must be a whole number, not {value!r}")
    if not isinstance(value, int):
        # A float without a fraction, or a scalar of another library.
        try:
            whole = int(value)  # type: ignore[call-overload]
            is_whole = whole == value
        except (TypeError, ValueError, OverflowError):
            is_whole = False
        if not is_whole or isinstance(value, (str, bytes)):
            raise BadArgument(f"{what} must be a whole number, not {value!r}")
        value = whole
    assert isinstance(value, int)
    if not minimum <= value <= maximum:
        raise BadArgument(f"{what} must be between {minimum} and {maximum}, not {value}")
    return int(value)


def flag(value: object, what: str) -> bool:
    """True or false; 0 and 1 are accepted."""
    if value is True or value is False:
        return value
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise BadArgument(f"{what} must be True or False, not {value!r}")


def code(value: object, kind: type[EnumT], what: str) -> EnumT:
    """A member of an enumeration, or its number or name."""
    if isinstance(value, str):
        for member in kind:
            if member.name == value.upper():
                return member
    elif isinstance(value, int) and not isinstance(value, bool):
        try:
            return kind(value)
        except ValueError:
            pass
    names = ", ".join(f"{member.name} ({member.value})" for member in kind)
    raise BadArgument(f"{what} must be one of {names}, not {value!r}")


def text(value: object, what: str, maximum: int, encoding: str = "utf-8") -> bytes:
    """A text as bytes, of at most this length."""
    if not isinstance(value, str):
        raise BadArgument(f"{what} must be a text, not {value!r}")
    try:
        encoded = value.encode(encoding)
    except UnicodeEncodeError:
        raise BadArgument(f"{what} cannot be written in the protocol: {value!r}") from None
    if len(encoded) > maximum:
        raise BadArgument(f"{what} must have at most {maximum} bytes, not {len(encoded)}")
    return encoded


def endpoint(host: object, port: object) -> tuple[str, int]:
    """Address of a server: host and port."""
    if not isinstance(host, str) or not host:
        raise BadArgument(f"the host must be a name or an address, not {host!r}")
    return host, integer(port, "the port", 1, 65535)


def duration(value: object, what: str) -> float:
    """A time above 0, at most a day; s."""
    result = number(value, what)
    if not 0 < result <= 86400:
        raise BadArgument(f"{what} must be above 0 and at most 86400 s, not {value!r}")
    return result
