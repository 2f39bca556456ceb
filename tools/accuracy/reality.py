"""docs/reality.md: what `check` says of runs that really ran."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from clusterspec.finding import Finding, Severity
from tools.accuracy.cases import published_runs, study_of
from tools.accuracy.reasons import reason

HEAD = """# False alarms on reality

Written by `make accuracy`. The published runs in `tests/accuracy` really ran, so an error on one of them must be a real
flaw of its plan or of its description, and warnings must be few.
"""


@dataclass(frozen=True)
class Judged:
    """The findings about one published run."""

    id: str
    source: str
    findings: tuple[Finding, ...]

    def of(self, severity: Severity) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity is severity]


def judged() -> list[Judged]:
    """Every published run that ran, with its findings."""
    return [
        Judged(run["id"], run["id"].split("-")[0], study_of(number).findings)
        for number, run in enumerate(published_runs())
        if run["fits"]
    ]


def page() -> str:
    runs = judged()
    clean = [run for run in runs if not run.of(Severity.ERROR)]
    parts = [
        HEAD,
        f"{len(clean)} of {len(runs)} runs raise no error ({100 * len(clean) / len(runs):.1f} %).\n",
        "## Errors\n",
        errors(runs),
        "\n## Warnings by rule and source\n",
        "The median number of warnings of a spec stands in the first row.\n",
        warnings(runs),
    ]
    return "\n".join(parts)


def errors(runs: Sequence[Judged]) -> str:
    rows = ["| run | rule | what it says | why it stands |", "|---|---|---|---|"]
    for run in runs:
        for finding in run.of(Severity.ERROR):
            remarks = finding.message.replace("|", "\\|")
            rows.append(f"| {run.id} | {finding.rule} | {remarks} | {reason(f'{run.id} {finding.rule}')} |")
    return "\n".join(rows) + "\n"


def warnings(runs: Sequence[Judged]) -> str:
    sources = sorted({run.source for run in runs})
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    numbers: dict[str, list[int]] = defaultdict(list)
    for run in runs:
        found = run.of(Severity.WARNING)
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
