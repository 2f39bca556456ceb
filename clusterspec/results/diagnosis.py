"""Results of log analysis: measured and expected bandwidth, causes of low bandwidth, and acceptance tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from clusterspec.cost.collectives.predict import REPEATS
from clusterspec.records import NamedTuple, asdict, dataclass
from clusterspec.results import Input, Result, Tool, common_fields, result_repr

Json = dict[str, Any]


@dataclass(frozen=True)
class ComparedRow:
    """A message size of a log: bytes, and bus bandwidths in B/s; ``low`` and ``high`` bound the expected one."""

    size: float
    measured: float
    expected: float
    low: float
    high: float

    @property
    def ratio(self) -> float:
        """Measured over expected."""
        return self.measured / self.expected if self.expected else 0.0


LIKELY = 0.5
"""Smallest weight at which a cause is likely."""


ABOVE_LINKS = "above-links"
"""The cause of a figure that is above what the links of the spec carry."""
OTHER_ACCELERATORS = "other-accelerators"
"""The cause that a log comes from accelerators other than the spec's."""
SYMPTOMS_OF_OTHERS = frozenset({"peer-ended"})
"""Causes that only report the end of another rank."""


@dataclass(frozen=True)
class Cause:
    """A likely cause of low bandwidth: its name, the evidence, and the command that confirms it.

    ``weight`` ranks causes from 0 to 1: 1 if the log states the cause, else how well the cost model with this fault
    matches the measurement. A cause below `LIKELY` is possible but has no further evidence.
    """

    name: str
    evidence: str
    next: str
    weight: float

    @property
    def is_likely(self) -> bool:
        """Whether the weight is at least `LIKELY`."""
        return self.weight >= LIKELY

    @property
    def is_decisive(self) -> bool:
        """Whether it is likely and not a symptom. If another rank ended, the reason is in the log of that rank."""
        return self.is_likely and self.name not in SYMPTOMS_OF_OTHERS


@dataclass(frozen=True)
class ComparedCollective:
    """A collective of a log compared with the cost model. ``verdict`` is `expected`, `slow` or `fast` at the largest
    size, `impossible` above what the links carry, and `unfinished` for a run without a result, which has no rows."""

    log: str
    collective: str
    ranks: int
    nodes: int
    algorithm: str
    rows: tuple[ComparedRow, ...]
    causes: tuple[Cause, ...]
    error: str = ""
    """The first error of a run without a result that matches no known cause; else empty."""
    assumed_ranks: bool = False
    """Whether neither the log nor the caller states the number of ranks, so that all ranks of the design are
    assumed.
    """
    left_out: int = 0
    """The number of lines of a log that were not searched because too many lines differ."""
    alike: tuple[Cause, ...] = ()
    """Causes that no log line names but that end in the same lines as the possible causes; empty if the log decides the
    cause.
    """
    other_devices: str = ""
    """Evidence that the log's devices are not the spec's; else empty."""
    deciding: str = ""
    """The check that decides between the first two possible causes of a run that a person reports as slow; else empty.
    """

    @property
    def largest(self) -> ComparedRow:
        return max(self.rows, key=lambda row: row.size)

    @property
    def verdict(self) -> Literal["expected", "slow", "fast", "impossible", "unfinished"]:
        if not self.rows:
            return "unfinished"
        if any(cause.name == ABOVE_LINKS for cause in self.causes):
            return "impossible"
        last = self.largest
        return "slow" if last.measured < last.low else "fast" if last.measured > last.high else "expected"

    @property
    def is_decided(self) -> bool:
        """Whether the log decides the cause: a cause is likely, or the run is as fast as expected. Otherwise all causes
        are only possible, or the reason is in the log of another rank.
        """
        return self.verdict in ("expected", "fast") or any(cause.is_decisive for cause in self.causes)


def _cause_json(comparison: ComparedCollective, cause: Cause) -> Json:
    """A cause of a comparison, as JSON has it."""
    return {
        "name": cause.name,
        "evidence": cause.evidence,
        "next": cause.next,
        "weight": cause.weight,
        "log": comparison.log,
        "collective": comparison.collective,
    }


@dataclass(frozen=True)
class FigureChange:
    """The effect of the measurements on the step time, in seconds before and after; None without a step time."""

    before: float | None
    after: float | None


@dataclass(frozen=True)
class DiagnosisReport(Result):
    """The comparison of logs with a design, and the estimate with their measurements."""

    tool: Tool
    input: Input
    compared: tuple[ComparedCollective, ...]
    unread: tuple[tuple[str, str], ...]
    """Logs or collectives that could not be compared, and why."""
    moved: FigureChange | None = None
    written: Sequence[str] = ()

    __repr__ = result_repr

    def to_json(self) -> Json:
        return common_fields(self.tool, self.input) | {
            "rows": [
                {
                    "size": row.size,
                    "measured": row.measured,
                    "expected": row.expected,
                    "ratio": row.ratio,
                    "low": row.low,
                    "high": row.high,
                    "log": one.log,
                    "collective": one.collective,
                    "ranks": one.ranks,
                }
                for one in self.compared
                for row in one.rows
            ],
            "causes": [_cause_json(one, cause) for one in self.compared for cause in one.causes],
            "alike": [_cause_json(one, cause) for one in self.compared for cause in one.alike],
            "verdicts": [
                {
                    "log": one.log,
                    "collective": one.collective,
                    "verdict": one.verdict,
                    "decided": one.is_decided,
                    "error": one.error or None,
                    "lines_left_out": one.left_out,
                    "deciding_check": one.deciding or None,
                    "other_devices": one.other_devices or None,
                }
                for one in self.compared
            ],
            "unread": [{"log": log, "why": why} for log, why in self.unread],
            "step_time": {"before": self.moved.before, "after": self.moved.after} if self.moved else None,
            "written": list(self.written),
        }


Status = Literal["pass", "fail", "impossible", "not-run"]


@dataclass(frozen=True)
class AcceptanceOutcome:
    """The outcome of an acceptance test: bus bandwidths in B/s, None if not measured; ``why`` explains the status.

    ``logs`` are the names and SHA-256 digests of the logs that measured it.
    """

    name: str
    threshold: float
    measured: float | None
    status: Status
    why: str
    logs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class PlannedTest:
    """A planned test. ``threshold`` and ``ceiling`` are bus bandwidths in B/s per direction as the benchmark counts
    them, and ``size`` is in bytes. ``command`` is empty if the benchmark has no command line. ``demanded`` is the
    spec's requirement, None for a test that only this program proposes. ``remedy`` is the action after a failure.
    ``unmeasured`` is the part of the machine without published measurements, empty if there is none.
    """

    collective: str
    nodes: int
    ranks: int
    size: float
    tier: str
    tool: str
    command: str
    threshold: float
    predicted: float
    ceiling: float
    bound_by: str
    name: str = ""
    demanded: float | None = None
    remedy: str = ""
    unmeasured: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class UpdatedRange(NamedTuple):
    """The low and high end of a test's predicted bus bandwidth in B/s, without and with the logs of the acceptance."""

    name: str
    before: tuple[float, float]
    after: tuple[float, float]
    measured: float | None


@dataclass(frozen=True)
class AcceptanceReport(Result):
    """The outcomes of all tests, and the logs that belong to no test."""

    tool: Tool
    input: Input
    tests: tuple[AcceptanceOutcome, ...]
    unused: tuple[tuple[str, str], ...] = ()
    stated: bool = True
    """Whether the spec states the plan; otherwise tests and thresholds come from the cost model."""
    plan: tuple[PlannedTest, ...] = ()
    """The tests with their predictions and commands, by name."""
    earlier: dict[str, float | None] | None = None
    """The measurements of an earlier acceptance by test, in B/s; None where no earlier logs were given."""
    ranges: tuple[UpdatedRange, ...] = ()
    """The new ranges that follow from the measurements, if these are stored in the spec."""
    written: tuple[str, ...] = ()

    __repr__ = result_repr

    def drift(self, test: AcceptanceOutcome) -> float | None:
        """The change of a test since the earlier acceptance, as a share of the value measured then; None if unknown."""
        before = self.earlier.get(test.name) if self.earlier is not None else None
        return test.measured / before - 1 if test.measured is not None and before else None

    def beyond_repeats(self, test: AcceptanceOutcome) -> bool | None:
        """Whether the change is larger than two measurements of an unchanged machine differ; None if unknown."""
        drift = self.drift(test)
        return abs(drift) > REPEATS if drift is not None else None

    @property
    def unmeasured(self) -> dict[str, str]:
        """The tests whose threshold is predicted from unmeasured shares, with the names of these shares."""
        return {} if self.stated else {test.name: test.unmeasured for test in self.plan if test.unmeasured}

    @property
    def is_passed(self) -> bool:
        return bool(self.tests) and all(test.status == "pass" for test in self.tests)

    def to_json(self) -> Json:
        return common_fields(self.tool, self.input) | {
            "tests": [
                {
                    "name": test.name,
                    "threshold": test.threshold,
                    "measured": test.measured,
                    "status": test.status,
                    "why": test.why,
                    "unmeasured": self.unmeasured.get(test.name),
                    "earlier": self.earlier.get(test.name) if self.earlier is not None else None,
                    "drift": self.drift(test),
                    "beyond_repeats": self.beyond_repeats(test),
                    "logs": [{"log": log, "sha256": digest} for log, digest in test.logs],
                }
                for test in self.tests
            ],
            "unused": [{"log": log, "why": why} for log, why in self.unused],
            "plan": "spec" if self.stated else "computed",
            "ranges": [each._asdict() for each in self.ranges],
            "written": list(self.written),
        }
