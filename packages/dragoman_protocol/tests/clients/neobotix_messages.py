"""The commands, made of the description of PlatformCtrl."""

from __future__ import annotations

from ..core import Request
from .bodies import *
from .replies import *
from .wire import DIALECT, Checked, Message

