"""The verdict on a design, the state of its areas, and the influence of its assumptions."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from clusterspec.cluster.model import Assumption
from clusterspec.records import asdict, dataclass

REQUESTS = "requests"
"""The unit of a count of requests."""


@dataclass(frozen=True, slots=True)
class Area:
    """An area: the binding ``constraint``, its ``value`` and ``limit``, both in ``unit``. ``headroom`` is the remaining
    fraction of the limit, negative if it is exceeded. ``state`` is ``good``, ``tight``, ``bad`` or ``open`` (not
    judged, for the reason in ``note``).
    """

    area: str
    constraint: str
    value: float | None
    limit: float | None
    unit: str
    headroom: float | None
    state: str
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class VerdictStatus(StrEnum):
    """The four verdicts, as `estimate` prints them in JSON."""

    FAILS = "fails"
    RESERVATIONS = "reservations"
    CLEAR = "clear"
    NOT_JUDGED = "not-judged"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The status, the reasons for it, and the parts of the design that were not judged."""

    status: VerdictStatus
    reasons: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        return {"status": str(self.status), "reasons": list(self.reasons), "not_judged": list(self.not_judged)}


LEAST = 0.01
"""A relative change below which an assumption is not worth a line of the first screen."""


@dataclass(frozen=True, slots=True)
class Influence:
    """The largest change caused by another value of an assumption.

    ``step_time`` (for serving, the time per output token) and ``memory`` are relative changes (0.1 is 10 % more);
    ``against`` is the other value.
    """

    assumption: Assumption
    against: Any
    step_time: float
    memory: float

    @property
    def size(self) -> float:
        return max(abs(self.step_time), abs(self.memory))
