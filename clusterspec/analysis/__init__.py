"""Analyses of a study: one function per verb, imported on first use.

The command line, the library and the language server call these functions. Each takes one or more studies and returns a
result of `clusterspec.results`.
"""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.document import files
from clusterspec.document.files import FileFindings, attributed_findings
from clusterspec.results import CheckReport
from clusterspec.studies import CheckedFile, Settings, Study

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.analysis.acceptance_tests import accept, planned_tests
    from clusterspec.analysis.comparison import diff
    from clusterspec.analysis.diagnosis.collectives import diagnose
    from clusterspec.analysis.failures.logged_rates import failure_rates_of
    from clusterspec.analysis.failures.parts import faults
    from clusterspec.analysis.full_report import redacted_study, report
    from clusterspec.analysis.levers.boundaries import solve
    from clusterspec.analysis.levers.effects import sensitivity
    from clusterspec.analysis.outputs import bill, collective, cost, estimate, influences
    from clusterspec.analysis.searches.layouts import search
    from clusterspec.analysis.searches.sweeps import sweep
    from clusterspec.analysis.simulation.run import simulate
    from clusterspec.analysis.updated_ranges import accepted_ranges

HOMES = {
    "accept": "acceptance_tests",
    "accepted_ranges": "updated_ranges",
    "bill": "outputs",
    "collective": "outputs",
    "cost": "outputs",
    "diagnose": "diagnosis.collectives",
    "diff": "comparison",
    "estimate": "outputs",
    "failure_rates_of": "failures.logged_rates",
    "faults": "failures.parts",
    "influences": "outputs",
    "planned_tests": "acceptance_tests",
    "redacted_study": "full_report",
    "report": "full_report",
    "search": "searches.layouts",
    "sensitivity": "levers.effects",
    "simulate": "simulation.run",
    "solve": "levers.boundaries",
    "sweep": "searches.sweeps",
}
"""The module of each function that is not defined here. No module has the same name as a function, since importing the
module would replace the function.
"""
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
    "redacted_study",
    "report",
    "search",
    "sensitivity",
    "simulate",
    "solve",
    "sweep",
]


def check(studies: Sequence[Study | CheckedFile], settings: Settings) -> CheckReport:
    """The findings of all files in one report; findings in bases are placed as by `attributed`."""
    findings = tuple(attributed_findings([_file_findings(one) for one in studies]))
    sources = {name: source for one in studies for name, source in one.sources.items()}
    pointed = files.file_names(dict.fromkeys([*sources, *(finding.span.file for finding in findings)]))
    waived = tuple(each for one in studies for each in (one.checked if isinstance(one, Study) else one).waived)
    inputs = tuple(one.input for one in studies)
    failed = tuple(one.input.name for one in studies if isinstance(one, CheckedFile) and one.fault is not None)
    return CheckReport(settings.tool, inputs, findings, sources, pointed, waived=waived, failed=failed)


def _file_findings(file: Study | CheckedFile) -> FileFindings:
    """The findings of one file. Raises the exception of a failed rule of a study."""
    name, extends = file.input.name, file.extends
    bases = frozenset(files.real_path(each) for each in file.sources if each != name) if extends else frozenset()
    return FileFindings(name, file.findings, extends, bases)


def __getattr__(name: str) -> object:
    """A function of a verb. Its module is imported on demand, since a check does not need the modules of a search."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
