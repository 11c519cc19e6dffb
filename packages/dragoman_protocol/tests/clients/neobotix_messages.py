"""The commands, made of the description of PlatformCtrl."""

from __future__ import annotations

from .bodies import *
from .replies import *
from .wire import DIALECT, Checked, Message

