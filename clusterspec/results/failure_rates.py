"""The result of a team's log of failures: rates by part with their intervals, and its JSON."""

from __future__ import annotations

from clusterspec.records import NamedTuple, dataclass
from clusterspec.results import Input, Json, Result, Tool, head, result_repr
from clusterspec.results.diagnosis import Moved

METHOD = (
    "failures over part-years; interval of 90 %: the exact one of a Poisson count (Garwood 1936); failures that"
    " follow from each other make it too narrow."
)


class FailureRateRow(NamedTuple):
    """The failures of parts of one key of `operations.failures`: ``failures`` in ``years``, the parts times the years
    observed. ``rate`` is a year and part; None without a failure. ``low`` and ``high`` are the ends of its interval.
    """

    part: str
    failures: int
    parts: int
    years: float
    rate: float | None
    low: float
    high: float


@dataclass(frozen=True)
class FailureRates(Result):
    """The rates of logs over ``observed`` seconds, and what could not be decided with its place."""

    tool: Tool
    input: Input
    rows: tuple[FailureRateRow, ...]
    observed: float
    undecided: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()
    goodput: Moved | None = None
    """The mean goodput without and with the rates; None without a job."""
    written: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Stated values that differ and are kept."""

    __repr__ = result_repr

    def to_json(self) -> Json:
        """The JSON document: ``rate``, ``low`` and ``high`` a year and part, ``observed`` in seconds."""
        return head(self.tool, self.input) | {
            "rates": [row._asdict() for row in self.rows],
            "method": METHOD,
            "observed": self.observed,
            "undecided": [{"at": at, "why": why} for at, why in self.undecided],
            "notes": list(self.notes),
            "goodput": {"before": self.goodput.before, "after": self.goodput.after} if self.goodput else None,
            "written": list(self.written),
            "kept": list(self.kept),
        }
