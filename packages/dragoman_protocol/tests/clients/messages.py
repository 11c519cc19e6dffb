"""Commands and requests of each interface, made of the description of Player's protocol."""

from __future__ import annotations

from typing import Annotated, Union

from ..core import Request
from ..fields import Coded
from .readings import *
from .structures import *
from .tile import Tile
from .wire import COMMAND, F32, I32, REQUEST, U8, U32, Interface, Message
