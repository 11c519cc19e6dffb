"""Requests to the server itself."""

from __future__ import annotations

import dataclasses

from .. import checks
from ..core import Request
from ..errors import BadArgument, Refused
from . import structures as s
from .wire import I32, INTERFACES, READ, Interface, pack, setup_request, unpack

OPEN, CLOSE, _DENIED = 1, 2, 3


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

    def decode(body: bytes) -> list[DeviceInfo]:
        found = unpack(list[s.Address], body, "devices")
        names = {code: interface.interface for code, interface in INTERFACES.items()}
        return [DeviceInfo(names.get(one.interface, str(one.interface)), one.index) for one in found]

    return dataclasses.replace(setup_request("devices", 1, b""), decode=decode)


def _address(interface: Interface, index: int) -> s.Address:
    return s.Address(0, 0, interface.code, checks.integer(index, "index", 0, 65535))


def driver_request(interface: Interface, index: int) -> Request[str]:
    """Name of a device's driver."""
    body = pack(("device", s.Driver, s.Driver(_address(interface, index), "")))

    def decode(body: bytes) -> str:
        return str(unpack(s.Driver, body, "driver").name)

    return dataclasses.replace(setup_request("driver", 2, body), decode=decode)


def access_request(interface: Interface, index: int, access: int) -> Request[str]:
    """Opens or closes a device; the name of its driver."""
    body = pack(("device", s.Subscription, s.Subscription(_address(interface, index), access, "")))
    name = f"{'open' if access == OPEN else 'close'} {interface.interface}:{index}"

    def decode(body: bytes) -> str:
        found = unpack(s.Subscription, body, name)
        if found.access == _DENIED:
            raise Refused("DENIED", f"{name}: denied", "there is no such device, or it does not work")
        return str(found.driver)

    return dataclasses.replace(setup_request(name, 3, body), decode=decode)


def port_request(name: str) -> Request[int]:
    """The port of a robot."""
    body = pack(("robot", s.NameService, s.NameService(name, 0)))

    def decode(body: bytes) -> int:
        return int(unpack(s.NameService, body, "port_of").port)

    return dataclasses.replace(setup_request("port_of", 8, body), decode=decode)


def rule_request(interface: str, index: int, number: int, rule: int) -> Request[None]:
    """What happens to waiting data."""
    code = -1 if interface == "all" else find_interface(interface).code
    values = (code, index, 1, number, checks.integer(rule, "rule", 0, 2))
    return setup_request("replace_rule", 10, pack(*[("rule", I32, one) for one in values]))


def read_request() -> Request[None]:
    """Data, in the pull mode."""
    return setup_request("read", READ, b"")


def find_interface(name: str) -> Interface:
    """The interface with this name."""
    for interface in INTERFACES.values():
        if interface.interface == name:
            return interface
    raise BadArgument(f"{name!r} is not one of {', '.join(one.interface for one in INTERFACES.values())}")
