"""A parameter of a reply. Written by hand, because it has a parsed value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Union

from ..fields import Coded
from .codes import ParameterCategory, ParameterType
from .wire import I32


@dataclass(frozen=True)
class Parameter:
    """A parameter. The limits are those of the protocol's whole numbers."""

    key: str
    value: str
    category: Annotated[Union[ParameterCategory, int], Coded(ParameterCategory, I32)]
    type: Annotated[Union[ParameterType, int], Coded(ParameterType, I32)]
    minimum: Annotated[int, I32]
    maximum: Annotated[int, I32]

    @property
    def parsed(self) -> Union[bool, int, float, str]:
        """The value by its type; the text itself if it is none of that type."""
        if self.type is ParameterType.BOOLEAN:
            return {"true": True, "1": True, "false": False, "0": False}.get(self.value.strip().lower(), self.value)
        try:
            if self.type is ParameterType.INTEGER:
                return int(self.value)
            if self.type is ParameterType.DOUBLE:
                return float(self.value)
        except ValueError:
            pass
        return self.value
