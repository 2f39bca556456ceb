"""The failures of single parts and their measured rates, and their JSON."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.cluster.model import Assumption
from clusterspec.money import Money
from clusterspec.records import NamedTuple, dataclass
from clusterspec.results import Input, Json, Result, Tool, common_fields, result_repr
from clusterspec.results.diagnosis import FigureChange
from clusterspec.results.estimate_json import assumption_json
from clusterspec.standard import sum_of

STOPS, SLOWS, NONE = "stops", "slows", "none"
"""What a failure does to the job."""

SOFTWARE = "software"
"""The part name for failures of software; all other parts are hardware."""


@dataclass(frozen=True)
class FaultRow:
    """The failures of one class of parts; a figure that is not known is None.

    ``count`` is the number of parts. ``lost`` is the lost share of the bandwidth, or of a serving plan's engines, where
    ``effect`` is `SLOWS` or `NONE`. ``step_time`` is the degraded machine's step time in seconds, None while the job is
    stopped. ``hours`` and ``cost`` are lost per year.
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
    likely: tuple[float, float] | None = None
    """The 5th and 95th percentile of ``failures`` over fleets, or the stated range; None if no rate is known."""
    breaks: tuple[str, ...] = ()
    """The keys of targets in the spec that the whole machine meets, but the machine without one such part misses."""
    each: float | None = None
    """Hours that one failure takes from a running job. ``hours`` is less than ``failures`` times this, since a stopped
    job is not stopped again.
    """
    slowed: float | None = None
    """The part of ``hours`` in which steps are slowed rather than lost."""

    def to_json(self) -> Json:
        return {
            "part": self.part,
            "count": self.count,
            "failures_per_year": self.failures,
            "failures_range": list(self.likely) if self.likely is not None else None,
            "effect": self.effect,
            "bandwidth_lost": self.lost,
            "step_time": self.step_time,
            "hours_lost_per_year": self.hours,
            "hours_lost_per_failure": self.each,
            "cost_per_year": self.cost,
            "why": self.why,
            "breaks": list(self.breaks),
        }


@dataclass(frozen=True)
class PairRow:
    """The failures of two parts of different classes at the same time; an unknown figure is None.

    ``count`` pairs share a node, leaf or rack (``shared``) and nothing closer; ``planes`` says of links whether they
    are in one plane, empty elsewhere. ``failures`` is the number of times per year that one of a pair fails while the
    other is under repair.
    ``worse`` says whether both failures together affect the job more than either alone. ``step_time`` applies to the
    degraded machine in seconds, None while the job is stopped. ``hours`` and ``cost`` are lost in a year.
    """

    parts: tuple[str, str]
    shared: str
    planes: str
    count: int
    failures: float | None
    effect: str
    worse: bool
    step_time: float | None
    hours: float | None
    cost: float | None

    def to_json(self) -> Json:
        return {
            "parts": list(self.parts),
            "share": self.shared,
            "planes": self.planes or None,
            "count": self.count,
            "failures_per_year": self.failures,
            "effect": self.effect,
            "worse_than_alone": self.worse,
            "step_time": self.step_time,
            "hours_lost_per_year": self.hours,
            "cost_per_year": self.cost,
        }


class YearlyGoodput(NamedTuple):
    """The share of a year spent on steps that are kept: its mean, and its 5th, 50th and 95th percentile over years."""

    mean: float
    p5: float
    p50: float
    p95: float


class YearlyCost(NamedTuple):
    """The cost of the hours of a year without kept steps: its mean, and its 50th and 95th percentile over years."""

    mean: float
    p50: float
    p95: float

    @classmethod
    def from_goodput(cls, goodput: YearlyGoodput, hour: float, slowed: float, *, used: float) -> YearlyCost:
        """The yearly cost from the goodput and the cost of one ``hour`` of the job. Slower steps take ``slowed`` hours
        a year; ``used`` is the share of the time in which the machine is in use.
        """
        from clusterspec.quantity import HOUR, YEAR

        year = YEAR / HOUR * used
        mean, middle, most = (hour * (year * (1 - each) + slowed) for each in (goodput.mean, goodput.p50, goodput.p5))
        return cls(mean, middle, most)


class FirstYear(NamedTuple):
    """The first year of a new machine: ``factor`` is its number of hardware failures divided by a later year's, and
    ``slowed`` the hours by which they slow steps.
    """

    factor: float
    goodput: YearlyGoodput
    slowed: float = 0.0


class Stock(NamedTuple):
    """For each part, the number that suffices with the probability ``percentile`` until new parts arrive after
    ``lead_time`` seconds. ``price`` is the total of the parts with a price, None if none has one; ``unpriced`` names
    the others.
    """

    percentile: float
    lead_time: float
    parts: Mapping[str, int]
    price: Money | None = None
    unpriced: tuple[str, ...] = ()


def _stock_json(stock: Stock) -> Json:
    price = stock.price.to_json() if stock.price is not None else None
    return stock._asdict() | {"parts": dict(stock.parts), "price": price, "unpriced": list(stock.unpriced)}


@dataclass(frozen=True)
class FaultsReport(Result):
    """The failures of single parts by class. ``step_time`` is the step of the whole machine in seconds, ``hour`` the
    cost of an hour of the job; None if they cannot be computed.

    ``repairs`` has, by part, the number in repair at the same time that is not exceeded in 95 % of the time.
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
    pairs: tuple[PairRow, ...] | None = None
    """The failures of two parts at once; None if they were not requested."""
    first_year: FirstYear | None = None
    """None where the spec states no early failures, or without a job."""
    stock: Stock | None = None
    """None where the spec states no lead time."""
    used: float = 1.0
    """The share of time in which the machine is in use. Yearly hours and costs refer to this time."""

    __repr__ = result_repr

    @property
    def cost_of_lost_hours(self) -> YearlyCost | None:
        """The cost of hours without kept steps and of slowed steps; None without a job or a price per hour."""
        if self.goodput is None or self.hour is None:
            return None
        return YearlyCost.from_goodput(self.goodput, self.hour, self.slowed_hours or 0.0, used=self.used)

    @property
    def slowed_hours(self) -> float | None:
        """Hours of a year by which the steps of a job are slowed until repairs; None without a job."""
        return sum_of(row.slowed or 0.0 for row in self.rows) if self.goodput is not None else None

    @property
    def lost_at_first(self) -> YearlyCost | None:
        """The loss of the first year; None if unknown."""
        return (
            YearlyCost.from_goodput(self.first_year.goodput, self.hour, self.first_year.slowed, used=self.used)
            if self.first_year and self.hour is not None
            else None
        )

    def _first_year_json(self) -> Json | None:
        if self.first_year is None:
            return None
        return {
            "failures_factor": self.first_year.factor,
            "goodput": self.first_year.goodput._asdict(),
            "cost_of_lost_hours": self.lost_at_first._asdict() if self.lost_at_first else None,
        }

    def to_json(self) -> Json:
        """The JSON document: hours and failures of a year, costs in ``currency``."""
        return common_fields(self.tool, self.input) | {
            "step_time": self.step_time,
            "utilization": self.used,
            "cost_per_hour": self.hour,
            "currency": self.currency or None,
            "rows": [row.to_json() for row in self.rows],
            "pairs": None if self.pairs is None else [row.to_json() for row in self.pairs],
            "goodput": self.goodput._asdict() if self.goodput else None,
            "hours_slowed_per_year": self.slowed_hours,
            "cost_of_lost_hours": self.cost_of_lost_hours._asdict() if self.cost_of_lost_hours else None,
            "first_year": self._first_year_json(),
            "stock": _stock_json(self.stock) if self.stock else None,
            "spares": {part: {"p95": number} for part, number in self.repairs.items()},
            "assumptions": [assumption_json(each) for each in self.assumptions],
            "notes": list(self.notes),
        }


METHOD = (
    "failures over part-years; interval of 90 %: the exact one of a Poisson count (Garwood 1936); failures that"
    " follow from each other make it too narrow."
)


class FailureRateRow(NamedTuple):
    """The failures of parts of one key of `operations.failures`: ``failures`` in ``years`` part-years. ``rate`` is per
    year and part, None without a failure; ``low`` and ``high`` are the ends of its interval.
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
    """The failure rates of logs over ``observed`` seconds, and log lines that could not be decided, with their
    places.
    """

    tool: Tool
    input: Input
    rows: tuple[FailureRateRow, ...]
    observed: float
    undecided: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()
    goodput: FigureChange | None = None
    """The mean goodput without and with the rates; None without a job."""
    written: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Stated values that differ from the logs and were kept."""

    __repr__ = result_repr

    def to_json(self) -> Json:
        """The JSON document. ``rate``, ``low`` and ``high`` are per year and part, ``observed`` is in seconds."""
        return common_fields(self.tool, self.input) | {
            "rates": [row._asdict() for row in self.rows],
            "method": METHOD,
            "observed": self.observed,
            "undecided": [{"at": at, "why": why} for at, why in self.undecided],
            "notes": list(self.notes),
            "goodput": {"before": self.goodput.before, "after": self.goodput.after} if self.goodput else None,
            "written": list(self.written),
            "kept": list(self.kept),
        }
