"""``clusterspec check PATH…``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from clusterspec import pipeline, rules
from clusterspec.cli import FOUND, OK, UsageFault
from clusterspec.cli.inputs import settings, study_of
from clusterspec.cli.output import write_whole
from clusterspec.cli.terminal import Progress, ink, say
from clusterspec.document import find
from clusterspec.finding import Severity
from clusterspec.report import findings_machines, findings_text
from clusterspec.report.ink import Ink
from clusterspec.report.results import CheckReport


def run(asked: argparse.Namespace) -> int:
    """Checks every path and prints what was found."""
    report = checked(asked, named(asked.paths))
    text = rendered(report, asked.format, Ink() if asked.output else ink(asked))
    if asked.output:
        write_whole(Path(asked.output), text.encode("utf-8", "backslashreplace"))
    else:
        say(text)
    threshold = Severity(asked.fail_on or fail_on(asked))
    return FOUND if report.reaches(threshold) else OK


def named(paths: Sequence[str]) -> list[str]:
    """The files that the paths name, folders searched, each once."""
    found: dict[str, None] = {}
    for path in paths:
        try:
            found |= dict.fromkeys(find.specs(path))
        except OSError as fault:
            raise UsageFault(f"{path}: {fault.strerror or fault}") from None
    return list(found)


def fail_on(asked: argparse.Namespace) -> str:
    """The configured threshold of the folder we were called in."""
    return str(settings(asked, Path.cwd()).config.fail_on)


def checked(asked: argparse.Namespace, names: Sequence[str]) -> CheckReport:
    """The report over all files, with progress on a terminal."""
    progress = Progress()
    studies = []
    for number, name in enumerate(names, 1):
        if len(names) > 1:
            progress(f"checking {number} of {len(names)}: {name}")
        studies.append(study_of(asked, name))
        studies[-1].findings  # noqa: B018 — judged here, so that progress tells the truth
    progress.done()
    shared = studies[0].settings if studies else settings(asked, Path.cwd())
    return pipeline.check(studies, shared)


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
