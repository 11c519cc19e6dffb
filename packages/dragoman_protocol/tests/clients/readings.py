"""What messages of sensors contain, in the order of the wire; m, rad, s. Made of the description of Player's protocol."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Union

from ..fields import Coded, Repeat
from .structures import Geometry, Orientation3d, Pose2d, Pose3d, Size3d
from .wire import F32, F64, I32, U8, U32
