"""The parameters of PlatformCtrl (guide, 5.9): their kinds and ranges, by which programs are checked."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Optional

from .codes import ParameterType

_WHOLE = re.compile(r"[+-]?[0-9]+")
_LONGEST = 80


@dataclass(frozen=True)
class Declared:
    """A parameter: its kind, its range, and the unit of both."""

    key: str
    kind: ParameterType
    minimum: int = 0
    maximum: int = 1
    unit: str = ""

    def fault(self, text: str) -> Optional[str]:
        """Why it cannot have this value."""
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


def number(value: float) -> str:
    """A number within a sentence: very large and very small ones in powers of ten."""
    if value == 0 or 1e-4 <= abs(value) < 1e15:
        return repr(float(value)).removesuffix(".0")
    return f"{Decimal(repr(value)).normalize():e}".replace("e+", "e")
