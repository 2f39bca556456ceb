"""Analyses of a study: one function per verb, imported on first use.

The command line, the library and the language server call these functions. Each takes one or more studies and returns a
result of `clusterspec.results`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clusterspec.analysis.boundaries import solve
    from clusterspec.analysis.calibrated_failures import failure_rates_of
    from clusterspec.analysis.comparison import diff
    from clusterspec.analysis.diagnosis import accept, diagnose, planned_tests
    from clusterspec.analysis.failures_of_parts import faults
    from clusterspec.analysis.full_report import report, tender
    from clusterspec.analysis.layout_search import search
    from clusterspec.analysis.lever_effects import sensitivity
    from clusterspec.analysis.outputs import bill, check, collective, cost, estimate, influences
    from clusterspec.analysis.simulation.run import simulate
    from clusterspec.analysis.sweeps import sweep
    from clusterspec.analysis.updated_ranges import accepted_ranges

HOMES = {
    "accept": "diagnosis",
    "accepted_ranges": "updated_ranges",
    "bill": "outputs",
    "check": "outputs",
    "collective": "outputs",
    "cost": "outputs",
    "diagnose": "diagnosis",
    "diff": "comparison",
    "estimate": "outputs",
    "failure_rates_of": "calibrated_failures",
    "faults": "failures_of_parts",
    "influences": "outputs",
    "planned_tests": "diagnosis",
    "report": "full_report",
    "search": "layout_search",
    "sensitivity": "lever_effects",
    "simulate": "simulation.run",
    "solve": "boundaries",
    "sweep": "sweeps",
    "tender": "full_report",
}
"""The module of each function. No module has the name of a function, which its import would replace."""
__all__ = [
    "accept",
    "accepted_ranges",
    "bill",
    "check",
    "collective",
    "cost",
    "diagnose",
    "diff",
    "estimate",
    "failure_rates_of",
    "faults",
    "influences",
    "planned_tests",
    "report",
    "search",
    "sensitivity",
    "simulate",
    "solve",
    "sweep",
    "tender",
]


def __getattr__(name: str) -> object:
    """A function of a verb: a check needs none of the modules of a search."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
