"""The parameters of PlatformCtrl (guide, 5.9): their kinds and ranges, by which programs are checked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Optional

from .codes import ParameterType

_WHOLE = re.compile(r"[+-]?[0-9]+")
_LONGEST = 80
_LONGEST_NAME = 64
"""Longest name that is compared: the work grows with its square."""


@dataclass(frozen=True)
class Declared:
    """A parameter: its kind, its range, and the unit of both."""

    key: str
    kind: ParameterType
    minimum: int = 0
    maximum: int = 1
    unit: str = ""

    def fault(self, text: str) -> Optional[str]:
        """The reason why it cannot have this value; None if it can."""
        if not self._is_kind(text.strip()):
            return f"{self.key} = '{excerpt(text)}': {self.kind.name} is needed"
        if self.kind is ParameterType.BOOLEAN or self.minimum <= float(text) <= self.maximum:
            return None
        wanted = f"it has to be from {self.minimum} to {self.maximum} {self.unit}".rstrip()
        return f"{self.key} = {number(float(text))}: {wanted}"

    def _is_kind(self, text: str) -> bool:
        if self.kind is ParameterType.BOOLEAN:
            return text.lower() in ("true", "false", "1", "0")
        if self.kind is ParameterType.INTEGER:
            return _WHOLE.fullmatch(text) is not None and -(1 << 31) <= int(text) < 1 << 31
        try:
            return "_" not in text and math.isfinite(float(text))
        except ValueError:
            return False


def _flags(*keys: str) -> list[Declared]:
    return [Declared(key, ParameterType.BOOLEAN) for key in keys]


def _number(key: str, minimum: int, maximum: int, unit: str) -> Declared:
    return Declared(key, ParameterType.DOUBLE, minimum, maximum, unit)


PARAMETERS: dict[str, Declared] = {
    one.key: one
    for one in [
        *_flags("FlashlightEnabled", "PIRSensorsEnabled", "RadarSensorsEnabled", "SirenEnabled"),
        *_flags("SurveillanceModeEnabled", "ChargeStationDetectEnabled", "PersonDetectionEnabled", "TrackingEnabled"),
        _number("MinLineLenAux", 10, 10_000, "mm"),
        _number("MinLineLenMap", 10, 10_000, "mm"),
        _number("PathFollowParam1", 0, 1000, "1/m^2"),
        _number("PathFollowParam2", 0, 1000, "1/m"),
        *_flags("PositionStabilizationEnabled", "PlanningEnabled", "SimuOnlineEnabledPostDis", "ViewPlanObstEnabled"),
        *_flags("CollCheckEnabled"),
        _number("CollLaserMinDist", 0, 10_000, "mm"),
        _number("DistPltfCenterToWheelAxis", -10_000, 10_000, "mm"),
        _number("DistWheels", 10, 10_000, "mm"),
        _number("PltfLength", 10, 10_000, "mm"),
        _number("RadiusWheel", 1, 10_000, "mm"),
        *_flags("EndTurnEnabled"),
        _number("IpoRotvel", 0, 10, "rad/s"),
        _number("IpoTransVel", 0, 10_000, "mm/s"),
        *_flags("StartTurnEnabled", "GlobalLocalization"),
        _number("LineExtractMaxCov", 1, 1_000_000, "mm^2"),
        *_flags("LocalLocalization"),
        Declared("MappingMode", ParameterType.INTEGER),
        *[_number(f"UltraSonic{sensor}{axis}", -10_000, 10_000, "mm") for sensor in range(1, 17) for axis in "XYZ"],
        *[_number(f"UltraSonic{sensor}Angle", -360, 360, "deg") for sensor in range(1, 17)],
    ]
}
"""All parameters, by their keys."""


def declared(key: str) -> Optional[Declared]:
    """The parameter with this key. Blanks in the key are ignored."""
    return PARAMETERS.get(key.replace(" ", ""))


def excerpt(text: str) -> str:
    """A text within a sentence, of a bounded length."""
    rest = len(text) - _LONGEST
    return f"{text[:_LONGEST]}... ({rest} more characters)" if rest > 0 else text


def nearest(given: str, known: Iterable[str]) -> Optional[str]:
    """The known name that resembles the given one most: one letter in four may differ, at most two."""
    most = min(max(len(given) // 4, 1), 2)
    alike = [
        (_distance(given.lower(), name.lower(), most), name) for name in known if abs(len(name) - len(given)) <= most
    ]
    # A different single letter is not a misspelling.
    found = min((one for one in alike if one[0] <= most and one[0] < len(given)), default=None)
    return None if found is None or len(given) > _LONGEST_NAME else found[1]


def _distance(one: str, other: str, most: int) -> int:
    """Letters that are wrong, missing, superfluous or swapped."""
    if len(one) > _LONGEST_NAME:
        return most + 1
    rows = [list(range(len(other) + 1))]
    for at, letter in enumerate(one, 1):
        row = [at]
        for place, another in enumerate(other, 1):
            steps = [rows[-1][place] + 1, row[-1] + 1, rows[-1][place - 1] + (letter != another)]
            if at > 1 and place > 1 and letter == other[place - 2] and one[at - 2] == another:
                steps.append(rows[-2][place - 2] + 1)
            row.append(min(steps))
        rows.append(row)
    return rows[-1][-1]


def number(value: float) -> str:
    """A number within a sentence: very large and very small ones in powers of ten."""
    if value == 0 or 1e-4 <= abs(value) < 1e15:
        return repr(float(value)).removesuffix(".0")
    return f"{Decimal(repr(value)).normalize():e}".replace("e+", "e")
