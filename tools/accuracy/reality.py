"""docs/reality.md: the findings of `check` on published runs."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass

from clusterspec.finding import Finding, Severity
from tools.accuracy.cases import published_runs, study_of
from tools.accuracy.reasons import reason

HEAD = """# Findings on published runs

Written by `make accuracy`. The runs in `tests/accuracy` are published measurements, so an error on one of them is a
false alarm unless its plan or its description has the flaw, and warnings must be few.
"""


@dataclass(frozen=True)
class CheckedRun:
    """The findings about one published run."""

    id: str
    source: str
    findings: tuple[Finding, ...]

    def findings_of_severity(self, severity: Severity) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity is severity]


def checked_runs(ids: Container[str] | None = None) -> list[CheckedRun]:
    """Every published run that fits in memory, or those with the ids in ``ids``, with their findings."""
    return [
        CheckedRun(run["id"], run["id"].split("-")[0], study_of(run["id"]).findings)
        for run in published_runs()
        if run["fits"] and (ids is None or run["id"] in ids)
    ]


def page() -> str:
    runs = checked_runs()
    clean = [run for run in runs if not run.findings_of_severity(Severity.ERROR)]
    parts = [
        HEAD,
        f"{len(clean)} of {len(runs)} runs raise no error ({100 * len(clean) / len(runs):.1f} %).\n",
        "## Errors\n",
        error_table(runs),
        "\n## Warnings by rule and source\n",
        "The first row is the median number of warnings per spec.\n",
        warning_table(runs),
    ]
    return "\n".join(parts)


def error_table(runs: Sequence[CheckedRun]) -> str:
    rows = ["| run | rule | message | reason |", "|---|---|---|---|"]
    for run in runs:
        for finding in run.findings_of_severity(Severity.ERROR):
            remarks = finding.message.replace("|", "\\|")
            rows.append(f"| {run.id} | {finding.rule} | {remarks} | {reason(f'{run.id} {finding.rule}')} |")
    return "\n".join(rows) + "\n"


def warning_table(runs: Sequence[CheckedRun]) -> str:
    sources = sorted({run.source for run in runs})
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    numbers: dict[str, list[int]] = defaultdict(list)
    for run in runs:
        found = run.findings_of_severity(Severity.WARNING)
        numbers[run.source].append(len(found))
        for finding in found:
            counted[finding.rule][run.source] += 1
    rows = ["| rule | " + " | ".join([*sources, "all"]) + " |", "|---" * (len(sources) + 2) + "|"]
    medians = [f"{statistics.median(numbers[source]):g}" for source in sources]
    rows.append("| *median of a spec* | " + " | ".join(medians) + " | |")
    for rule, by_source in sorted(counted.items(), key=lambda pair: -pair[1].total()):
        cells = [str(by_source[source] or "") for source in sources]
        rows.append(f"| {rule} | " + " | ".join([*cells, str(by_source.total())]) + " |")
    return "\n".join(rows) + "\n"
