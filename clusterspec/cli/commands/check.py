"""``clusterspec check PATH…``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from clusterspec import pipeline, rules
from clusterspec.cli import FOUND, OK, UsageFault, fixes
from clusterspec.cli.inputs import settings, study_of
from clusterspec.cli.output import write_whole
from clusterspec.cli.terminal import Progress, ink, say, say_error
from clusterspec.document import find
from clusterspec.finding import Severity
from clusterspec.report import baseline, findings_machines, findings_text
from clusterspec.report.ink import Ink, plural
from clusterspec.report.results import CheckReport


def run(asked: argparse.Namespace) -> int:
    """Checks every path, mends what is to be mended, and prints what was found."""
    names = named(asked.paths)
    studies = studied(asked, names)
    if asked.fix or asked.diff:
        changes = fixes.fixed(studies)
        if asked.diff:
            say(fixes.difference(changes))
            return FOUND if changes else OK
        fixes.write(changes)
        say_error(f"fixed {plural(len(changes), 'file')}")
        studies = studied(asked, names)
    shared = studies[0].settings if studies else settings(asked, Path.cwd())
    report = beyond_baseline(asked, pipeline.check(studies, shared))
    text = rendered(report, asked.format, Ink() if asked.output else ink(asked))
    if asked.output:
        write_whole(Path(asked.output), text.encode("utf-8", "backslashreplace"))
    else:
        say(text)
    return FOUND if report.reaches(Severity(asked.fail_on or shared.config.fail_on)) else OK


def beyond_baseline(asked: argparse.Namespace, report: CheckReport) -> CheckReport:
    """What the baseline does not hold yet; a baseline that is absent is written, and then holds everything."""
    if not asked.baseline:
        return report
    path = Path(asked.baseline)
    if not path.exists():
        write_whole(path, baseline.text(report).encode())
    try:
        known = baseline.read(path.read_text("utf-8"))
    except (OSError, ValueError) as fault:
        raise UsageFault(f"--baseline {path}: {fault}") from None
    return replace(report, findings=baseline.beyond(report, known))


def named(paths: Sequence[str]) -> list[str]:
    """The files that the paths name, folders searched, each once."""
    found: dict[str, None] = {}
    for path in paths:
        try:
            found |= dict.fromkeys(find.specs(path))
        except OSError as fault:
            raise UsageFault(f"{path}: {fault.strerror or fault}") from None
    return list(found)


def studied(asked: argparse.Namespace, names: Sequence[str]) -> list[pipeline.Study]:
    """Every file judged, with progress on a terminal."""
    progress = Progress()
    studies = []
    for number, name in enumerate(names, 1):
        if len(names) > 1:
            progress(f"checking {number} of {len(names)}: {name}")
        studies.append(study_of(asked, name))
        _ = studies[-1].findings  # judged here, so that progress tells the truth
    progress.done()
    return studies


def rendered(report: CheckReport, form: str, paint: Ink) -> str:
    """The report in one of the formats."""
    writers: dict[str, Callable[[], str]] = {
        "text": lambda: findings_text.text(report, paint),
        "concise": lambda: findings_text.concise(report, paint),
        "github": lambda: findings_text.github(report),
        "json": lambda: findings_machines.dumps(report.to_json()),
        "sarif": lambda: findings_machines.dumps(findings_machines.sarif(report, rules.summary_of)),
        "junit": lambda: findings_machines.junit(report),
        "gitlab": lambda: findings_machines.dumps(findings_machines.gitlab(report)),
        "markdown": lambda: findings_machines.markdown(report),
    }
    return writers[form]()
