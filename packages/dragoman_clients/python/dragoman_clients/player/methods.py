"""The commands as methods. Written by make_methods.py."""

from __future__ import annotations

from ..asynchronous import asynchronous
from ..blocking import blocking
from . import commands


class Methods:
    """What a client sends."""

    set_bool_property = blocking(commands.property_set_bool_property)
    get_bool_property = blocking(commands.property_get_bool_property)
    set_text_property = blocking(commands.property_set_text_property)
    get_text_property = blocking(commands.property_get_text_property)
    set_double_property = blocking(commands.property_set_double_property)
    get_double_property = blocking(commands.property_get_double_property)
    set_int_property = blocking(commands.property_set_int_property)
    get_int_property = blocking(commands.property_get_int_property)
    has_message = blocking(commands.property_has_message)


class AsyncMethods:
    """What a client sends."""

    set_bool_property = asynchronous(commands.property_set_bool_property)
    get_bool_property = asynchronous(commands.property_get_bool_property)
    set_text_property = asynchronous(commands.property_set_text_property)
    get_text_property = asynchronous(commands.property_get_text_property)
    set_double_property = asynchronous(commands.property_set_double_property)
    get_double_property = asynchronous(commands.property_get_double_property)
    set_int_property = asynchronous(commands.property_set_int_property)
    get_int_property = asynchronous(commands.property_get_int_property)
    has_message = asynchronous(commands.property_has_message)
