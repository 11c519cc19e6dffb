"""Determines the state of a commanded motion from the platform's status. Without I/O and clock.

The protocol does not number motions, and the first status after a command may be older than the command.
"""

from __future__ import annotations

from enum import Enum
from typing import Optional

from .codes import PlannerState
from .replies import Status

SETTLE_TIME = 1.0
"""Time from the first status that was asked for after a command until one shows its effect, s."""

_NO_WAY = (PlannerState.NO_PATH, PlannerState.COLLISION_START, PlannerState.COLLISION_TARGET)
_PLANS_OR_DRIVES = (PlannerState.PLANNING, PlannerState.PATH_FOUND)


class Report(Enum):
    """State of a motion."""

    UNDER_WAY = "under way"
    REACHED = "reached"
    FAILED = "failed"
    """The reason is the status' state of the planner."""


class _Planning(Enum):
    """Whether the planner has worked on the motion."""

    NOT_YET = 0
    ON_EARLIER = 1
    """It works, but perhaps still on the motion that this one has replaced."""
    EARLIER_ENDED = 2
    SEEN = 3


class MotionWatch:
    """Follows a motion that is commanded now, after this status.

    status: the last status before the command
    """

    def __init__(self, status: Status) -> None:
        self._first: Optional[float] = None
        self._is_seen = False
        self._is_failure_old = status.planner_state in _NO_WAY
        is_busy = status.planner_state in _PLANS_OR_DRIVES
        self._planning = _Planning.ON_EARLIER if is_busy else _Planning.NOT_YET

    def report(self, now: float, status: Status) -> Report:
        """Processes the next status.

        A reported target counts as reached if a status since the command has reported the opposite, or after
        ``SETTLE_TIME`` since the first status, because the command itself may be slow. The motion has failed if
        the planner reports it, or if it is idle again although the target is not reached: the platform has aborted the
        motion.

        now: time, s
        status: asked for after the command
        """
        self._first = now if self._first is None else self._first
        is_settled = now - self._first >= SETTLE_TIME
        state = status.planner_state
        self._is_seen |= not status.is_target_reached or is_settled
        self._is_failure_old &= state in _NO_WAY and not is_settled
        self._planning = self._next(state in _PLANS_OR_DRIVES, is_settled)
        if status.is_target_reached and self._is_seen:
            return Report.REACHED
        if state in _NO_WAY and not self._is_failure_old:
            return Report.FAILED
        is_idle = state == PlannerState.STANDBY and not status.is_target_reached
        return Report.FAILED if is_idle and self._planning is _Planning.SEEN else Report.UNDER_WAY

    def _next(self, is_busy: bool, is_settled: bool) -> _Planning:
        planning = self._planning
        if planning in (_Planning.ON_EARLIER, _Planning.EARLIER_ENDED) and is_settled:
            return _Planning.SEEN
        if planning is _Planning.ON_EARLIER and not is_busy:
            return _Planning.EARLIER_ENDED
        return _Planning.SEEN if is_busy and planning is not _Planning.ON_EARLIER else planning
