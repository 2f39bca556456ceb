"""Results with nothing in them, of which tests replace fields."""

from __future__ import annotations

from clusterspec.results import EstimateReport
from clusterspec.results.fleet import FleetReport, JobUse, PoolUse
from clusterspec.results.verdict import Verdict, VerdictStatus
from tests.designs import plan_of
from tests.report.test_result_texts import INPUT, TOOL

CLEAR = Verdict(VerdictStatus.CLEAR, (), ())
FLEET = FleetReport(TOOL, INPUT, "f", {}, {}, {}, {}, {}, {})
JOB = JobUse("p", 2, 1.0, None, None)
POOL = PoolUse(8, 8, 0, None, None, None, "USD")


def estimate_of(text: str) -> EstimateReport:
    """The estimate of a spec without findings, power or storage."""
    return EstimateReport(TOOL, INPUT, plan_of(text), CLEAR)
