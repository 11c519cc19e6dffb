"""What commands contain, in the order of the wire; m, rad, s. Made of the description of PlatformCtrl."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Optional, Union

from ..fields import Coded, Ending, Raw, Scaled
from .codes import Board, MotionMode, Motor, MouseButton, PostProcessEvent
from .replies import Pose
from .wire import DEGREE, DIALECT, I32, U8
