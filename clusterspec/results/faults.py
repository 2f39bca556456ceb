"""The result of the failures of single parts, and its JSON."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.cluster.model import Assumption
from clusterspec.records import NamedTuple, dataclass
from clusterspec.results import Input, Json, Result, Tool, head, result_repr
from clusterspec.results.estimate_json import assumption_json

STOPS, SLOWS, NONE = "stops", "slows", "none"
"""What a failure does to the job."""


@dataclass(frozen=True, slots=True)
class FaultRow:
    """The failures of one class of parts; a figure that is not known is None.

    ``count`` are the parts. ``lost`` is the share of the bandwidth that is lost where ``effect`` is `SLOWS` or `NONE`.
    ``step_time`` is that of the degraded machine in seconds, None while the job stands still. ``hours`` and ``cost``
    are lost in a year.
    """

    part: str
    count: int | None
    failures: float | None
    effect: str
    lost: float
    step_time: float | None
    hours: float | None
    cost: float | None
    why: str

    def to_json(self) -> Json:
        return {
            "part": self.part,
            "count": self.count,
            "failures_per_year": self.failures,
            "effect": self.effect,
            "bandwidth_lost": self.lost,
            "step_time": self.step_time,
            "hours_lost_per_year": self.hours,
            "cost_per_year": self.cost,
            "why": self.why,
        }


class YearlyGoodput(NamedTuple):
    """The share of a year spent on steps that are kept: its mean, and the years that 5 % and 95 % do not exceed.

    The percentiles are None where too few failures are expected for the normal limit.
    """

    mean: float
    p5: float | None
    p95: float | None


@dataclass(frozen=True, slots=True)
class FaultsReport(Result):
    """The failures of single parts by class. ``step_time`` in seconds, and ``hour`` the cost of an hour, are those of
    the whole machine; None where they cannot be computed.

    ``repairs`` has, by part, the number in repair at once that 95 % of the time do not exceed.
    """

    tool: Tool
    input: Input
    rows: tuple[FaultRow, ...]
    step_time: float | None
    hour: float | None
    currency: str
    goodput: YearlyGoodput | None
    repairs: Mapping[str, int]
    assumptions: tuple[Assumption, ...]
    notes: tuple[str, ...] = ()

    __repr__ = result_repr

    def to_json(self) -> Json:
        """The JSON document: hours and failures of a year, costs in ``currency``."""
        return head(self.tool, self.input) | {
            "step_time": self.step_time,
            "cost_per_hour": self.hour,
            "currency": self.currency or None,
            "rows": [row.to_json() for row in self.rows],
            "goodput": self.goodput._asdict() if self.goodput else None,
            "spares": {part: {"p95": number} for part, number in self.repairs.items()},
            "assumptions": [assumption_json(each) for each in self.assumptions],
            "notes": list(self.notes),
        }
