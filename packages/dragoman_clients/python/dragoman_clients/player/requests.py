"""Requests to the server itself."""

from __future__ import annotations

import dataclasses

from .. import checks
from ..core import Request
from ..errors import BadArgument, Refused
from . import messages as m
from . import structures as s
from .wire import DATA, INTERFACES, Interface

OPEN, CLOSE = s.PLAYER_OPEN, s.PLAYER_CLOSE


@dataclasses.dataclass(frozen=True)
class DeviceInfo:
    """A device of a server."""

    interface: str
    """Its name, or its number if this package does not know it."""
    index: int

    def __str__(self) -> str:
        return f"{self.interface}:{self.index}"


def devices_request() -> Request[list[DeviceInfo]]:
    """The server's devices."""

    def read(found: list[s.Address]) -> list[DeviceInfo]:
        names = {code: interface.interface for code, interface in INTERFACES.items()}
        return [DeviceInfo(names.get(one.interface, str(one.interface)), one.index) for one in found]

    return m.PLAYER_DEVICES(name="devices").then(read)


def _address(interface: Interface, index: int) -> s.Address:
    return s.Address(0, 0, interface.code, checks.integer(index, "index", 0, 65535))


def driver_request(interface: Interface, index: int) -> Request[str]:
    """Name of a device's driver."""
    return m.PLAYER_DRIVER(s.Driver(_address(interface, index), ""), "driver").then(lambda found: str(found.name))


def access_request(interface: Interface, index: int, access: int) -> Request[str]:
    """Opens or closes a device; the name of its driver."""
    name = f"{'open' if access == OPEN else 'close'} {interface.interface}:{index}"

    def read(found: s.Subscription) -> str:
        if found.access == s.PLAYER_DENIED:
            raise Refused("DENIED", f"{name}: denied", "there is no such device, or it does not work")
        return found.driver

    return m.PLAYER_SUBSCRIBE(s.Subscription(_address(interface, index), access, ""), name).then(read)


def port_request(name: str) -> Request[int]:
    """The port of a robot."""
    return m.PLAYER_NAME_SERVICE(s.NameService(name, 0), "port_of").then(lambda found: int(found.port))


def rule_request(interface: str, index: int, number: int, rule: int) -> Request[None]:
    """Sets the rule for waiting data."""
    code = -1 if interface == "all" else find_interface(interface).code
    given = s.ReplaceRule(code, index, DATA, number, checks.integer(rule, "rule", 0, 2))
    return m.PLAYER_REPLACE_RULE(given, "replace_rule")


def read_request() -> Request[None]:
    """Data, in the pull mode."""
    return m.PLAYER_READ(name="read")


def find_interface(name: str) -> Interface:
    """The interface with this name."""
    for interface in INTERFACES.values():
        if interface.interface == name:
            return interface
    raise BadArgument(f"{name!r} is not one of {', '.join(one.interface for one in INTERFACES.values())}")
