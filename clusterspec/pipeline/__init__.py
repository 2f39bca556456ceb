"""The flow from the text of a spec to a result.

    YAML text → Document → Spec (+ Catalog) → Design → Plan → findings → result

Every stage returns its result and its findings. `studies` resolves a spec as far as possible, `variation`
changes keys of one, `outputs` computes the
results of the commands, `reports` those of reports.
"""

from clusterspec.pipeline.outputs import bill, check, collective, cost, estimate, influences, planned_tests
from clusterspec.pipeline.reports import report, tender
from clusterspec.pipeline.studies import (
    Checked,
    Settings,
    Study,
    as_written,
    prose,
    study,
    study_file,
    study_text,
)
from clusterspec.pipeline.variation import rewritten, varied

__all__ = [
    "Checked",
    "Settings",
    "Study",
    "as_written",
    "bill",
    "check",
    "collective",
    "cost",
    "estimate",
    "influences",
    "planned_tests",
    "prose",
    "report",
    "rewritten",
    "study",
    "study_file",
    "study_text",
    "tender",
    "varied",
]
