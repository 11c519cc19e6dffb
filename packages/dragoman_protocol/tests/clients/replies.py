"""What replies contain, in the order of the wire; m, rad, s. Made of the description of PlatformCtrl."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Optional, Union

from ..fields import Coded, Raw, Repeat, Scaled, ScaledReal
from .codes import (
    ApplicationError,
    EmergencyState,
    GraphicalColor,
    GraphicalKind,
    MotionMode,
    OperationState,
    PlannerState,
)
from .parameter import Parameter as Parameter
from .wire import BOOL, DEGREE, DIALECT, F64, I16, I32, U8
