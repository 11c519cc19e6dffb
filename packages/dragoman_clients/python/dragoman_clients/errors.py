"""Errors of the clients of all protocols."""

from __future__ import annotations

from typing import Optional


class ClientError(Exception):
    """An error of a client of this package."""


class BadArgument(ClientError, ValueError):
    """The value cannot be sent. Nothing was sent."""


class ConnectionLost(ClientError, ConnectionError):
    """There is no connection, or it ended. The next call connects again."""


class Timeout(ClientError, TimeoutError):
    """The time limit passed without the answer. The command may have been carried out."""


class BadReply(ClientError):
    """The answer does not follow the protocol."""


class Refused(ClientError):
    """The server refused the command.

    ``code`` and ``text`` are the protocol's own, such as ``"ER20"`` and ``"ER20 Cmd BG rejected"``.
    """

    def __init__(self, code: str, text: str, explanation: Optional[str] = None) -> None:
        super().__init__(text if explanation is None else f"{text}: {explanation}")
        self.code = code
        self.text = text
