"""``clusterspec check PATH…``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from clusterspec import pipeline, rules
from clusterspec.cli import FOUND, OK, UsageFault, files, fixes
from clusterspec.cli.inputs import STDIN, Desk
from clusterspec.cli.output import keep_apart, write_whole
from clusterspec.cli.terminal import ink, say, say_error
from clusterspec.finding import Severity
from clusterspec.report import baseline, findings_machines, findings_text
from clusterspec.report.ink import Ink
from clusterspec.results import CheckReport
from clusterspec.units import plural

MACHINES = ("json", "sarif", "junit", "gitlab")
"""Formats that a program reads."""
LARGEST_BASELINE = 64 << 20
"""Bytes; a finding takes some 150."""


def run(asked: argparse.Namespace) -> int:
    """Checks every path, mends what is to be mended, and prints what was found.

    Raises `OwnFault` after everything was said where a rule of ours went wrong.
    """
    names = files.named(asked)
    if asked.output:
        keep_apart("--output", asked.output, names)
    shared = Desk(asked).settings(Path(names[0]).resolve().parent if names else Path.cwd())
    found = files.checked(asked, names)
    if asked.diff or asked.fix:
        changes = fixes.fixed([one for name, one in zip(names, found, strict=True) if name != STDIN])
        if asked.diff:
            put(asked, fixes.difference(changes))
            return FOUND if changes else OK
        fixes.write(changes)
        say_error(f"fixed {plural(len(changes), 'file')}")
        found = files.again(asked, names, found, {*changes})
    report = beyond_baseline(asked, pipeline.check(found, shared))
    put(asked, rendered(report, asked.format, Ink() if asked.output else ink(asked)))
    if fault := files.fault_of(found):
        raise fault
    return FOUND if report.reaches(Severity(asked.fail_on or shared.config.fail_on)) else OK


def put(asked: argparse.Namespace, text: str) -> None:
    """Writes a text where it was asked for."""
    if asked.output:
        write_whole(Path(asked.output), text.encode("utf-8", "backslashreplace"))
    else:
        say(text, exact=asked.format in MACHINES)


def beyond_baseline(asked: argparse.Namespace, report: CheckReport) -> CheckReport:
    """What the baseline does not hold yet; a baseline that is absent is written, and then holds everything."""
    if not asked.baseline:
        return report
    path = Path(asked.baseline)
    if not path.exists():
        write_whole(path, baseline.text(report).encode())
    try:
        with path.open("rb") as file:
            known = baseline.read(file.read(LARGEST_BASELINE).decode("utf-8"))
    except UnicodeDecodeError:
        raise UsageFault(f"--baseline {path}: this is no baseline of clusterspec") from None
    except (OSError, ValueError) as fault:
        raise UsageFault(f"--baseline {path}: {getattr(fault, 'strerror', None) or fault}") from None
    return replace(report, findings=baseline.beyond(report, known))


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
