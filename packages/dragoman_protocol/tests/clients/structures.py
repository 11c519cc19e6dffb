"""What messages contain, in the order of the wire; m, rad, s. Made of the description of Player's protocol."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Union

from ..fields import Coded, Repeat
from .tile import MapTile as MapTile
from .tile import OpaqueData as OpaqueData
from .wire import F32, F64, I32, U8, U16, U32

Covariance = Annotated[tuple[float, ...], Repeat(F64, 6)]
"""xx, yy, yaw-yaw, xy, y-yaw, x-yaw; m^2, rad^2 and m rad."""
