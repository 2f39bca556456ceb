"""What is computed from a study: one function for each verb of the command line, and search, sweep and diagnosis."""

from __future__ import annotations

from clusterspec.analysis.outputs import (
    bill,
    check,
    collective,
    cost,
    estimate,
    influences,
    planned_tests,
    report,
    tender,
)

__all__ = [
    "bill",
    "check",
    "collective",
    "cost",
    "estimate",
    "influences",
    "planned_tests",
    "report",
    "tender",
]
