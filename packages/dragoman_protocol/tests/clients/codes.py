"""Modes, states and kinds with the numbers and names of the PlatformCtrl guide. Made of the description of PlatformCtrl."""

from __future__ import annotations

from enum import IntEnum
