"""Common parts of the clients of all protocols, without I/O.

A command is a function that checks its arguments and returns a :class:`Request`. A :class:`Core` turns requests into
bytes, and received bytes into answers and events. :mod:`blocking` and :mod:`asynchronous` move these bytes.

A longer action is a :data:`Procedure`: a generator that yields requests and pauses, and is sent their answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Generic, Optional, TypeVar, Union

from .errors import ClientError, Timeout

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P")
else:
    P = TypeVar("P")

T = TypeVar("T")
U = TypeVar("U")


def nothing(_: Any) -> None:
    """Decodes the answer of a command that has none."""


@dataclass(frozen=True)
class Request(Generic[T]):
    """A command with checked arguments."""

    name: str
    """Name of the command, as in the table."""
    key: Any
    """What the core needs to send it and to recognize its answer."""
    data: bytes
    """The arguments in the protocol's form."""
    answered: bool
    """Whether the protocol has an answer to it."""
    decode: Callable[[Any], T]
    """Reads the answer."""
    repeatable: bool = False
    """Whether a second copy has no effect."""

    def then(self, read: Callable[[T], U]) -> Request[U]:
        """The same request with a conversion of its answer."""

        def decode(found: Any) -> U:
            return read(self.decode(found))

        return Request(self.name, self.key, self.data, self.answered, decode, self.repeatable)


@dataclass(frozen=True)
class Pause:
    """A step of a procedure: wait, s."""

    seconds: float


Procedure = Generator[Union[Request[Any], Pause], Any, T]


class Outcome:
    """The answer of a request, or the error."""

    def __init__(self, value: Any = None, error: Optional[ClientError] = None) -> None:
        self._value = value
        self._error = error

    def get(self) -> Any:
        """The answer."""
        if self._error is not None:
            raise self._error
        return self._value


class Core(ABC):
    """The state of one connection. At most one request waits for its answer at any time."""

    def __init__(self, event_limit: int = 1000) -> None:
        self.pending: Optional[Request[Any]] = None
        self.events: deque[Any] = deque()
        self.dropped_events = 0
        self._event_limit = event_limit
        self._outcome: Optional[Outcome] = None

    def connected(self) -> None:
        """A new connection: resets the state of the last one."""
        self.pending = None
        self._outcome = None

    def setup(self) -> Iterator[Request[Any]]:
        """Requests to send on each new connection before anything else."""
        return iter(())

    @abstractmethod
    def encode(self, request: Request[Any]) -> bytes:
        """The bytes to send. Raises :class:`BadArgument` if it is too large."""

    @abstractmethod
    def receive(self, data: bytes) -> None:
        """Processes received bytes. Raises :class:`BadReply` if the rest of the stream cannot be decoded."""

    def begin(self, request: Request[Any]) -> bytes:
        """Starts a request, and returns the bytes to send."""
        data = self.encode(request)
        self._outcome = None
        self.pending = request if request.answered else None
        return data

    def take_outcome(self) -> Optional[Outcome]:
        """The outcome of the request; None until its answer has arrived."""
        outcome, self._outcome = self._outcome, None
        return outcome

    def give_up(self) -> bool:
        """The time limit of the request passed. Returns whether the connection must be closed.

        By default it must: a late answer would be taken for that of another request.
        """
        self.pending = None
        self._outcome = None
        return True

    def resolve(self, value: Any) -> None:
        """Sets the answer of the waiting request."""
        request, self.pending = self.pending, None
        if request is None:
            return
        try:
            self._outcome = Outcome(request.decode(value))
        except ClientError as error:
            self._outcome = Outcome(error=error)

    def fail(self, error: ClientError) -> None:
        """Ends the waiting request with an error."""
        if self.pending is not None:
            self.pending = None
            self._outcome = Outcome(error=error)

    def put_event(self, event: Any) -> None:
        """Appends an event; the oldest one is dropped if too many wait."""
        if len(self.events) >= self._event_limit:
            self.events.popleft()
            self.dropped_events += 1
        self.events.append(event)

    def take_events(self) -> list[Any]:
        """All events since the last time."""
        events = list(self.events)
        self.events.clear()
        return events


def timed_out(request_name: str, seconds: float) -> Timeout:
    """The error of a request whose time limit passed."""
    return Timeout(f"{request_name}: no answer within {seconds:g} s")
