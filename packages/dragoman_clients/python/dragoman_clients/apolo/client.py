"""Clients of Apolo's protocol."""

from __future__ import annotations

from ..asynchronous import AsyncClient
from ..blocking import Client
from .methods import AsyncMethods, Methods
from .wire import ApoloCore

DEFAULT_PORT = 12000
DEFAULT_TIMEOUT = 5.0


class Apolo(Client, Methods):
    """A connection to Apolo, or to a server of its protocol.

    The original does not answer questions about unknown names: they end in :class:`Timeout`. Dragoman's server answers
    them: :class:`Refused`. ``size_base`` 255 is for servers before 2018, as in the manual's annex.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        size_base: int = 256,
    ) -> None:
        super().__init__(ApoloCore(size_base), host, port, timeout)


class AsyncApolo(AsyncClient, AsyncMethods):
    """As :class:`Apolo`, with coroutines."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = DEFAULT_PORT,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        size_base: int = 256,
    ) -> None:
        super().__init__(ApoloCore(size_base), host, port, timeout)
