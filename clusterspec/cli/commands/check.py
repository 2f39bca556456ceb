"""``clusterspec check PATH…``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from clusterspec import pipeline, rules
from clusterspec.cli import FOUND, OK, UsageFault, files, fixes
from clusterspec.cli.inputs import STDIN, Desk, shown
from clusterspec.cli.output import keep_apart, write_whole
from clusterspec.cli.terminal import ink, say, say_error
from clusterspec.finding import Severity
from clusterspec.pipeline import Checked
from clusterspec.report import baseline, findings_machines, findings_text
from clusterspec.report.ink import PLAIN, Ink
from clusterspec.results import CheckReport
from clusterspec.units import plural

MACHINES = ("json", "sarif", "junit", "gitlab")
"""Formats that a program reads."""
LARGEST_BASELINE = 4 << 20
"""Bytes; a finding takes some 170."""


def run(asked: argparse.Namespace) -> int:
    """Checks every path, applies the fixes that are asked for, and prints what was found.

    Raises `OwnFault` after everything was printed where a rule of ours went wrong.
    """
    names = files.named(asked)
    for option in ("output", "baseline", "write_baseline"):
        if target := getattr(asked, option):
            keep_apart(f"--{option.replace('_', '-')}", target, names)
    desk = Desk(asked)
    shared = desk.settings(Path(names[0]).resolve().parent if names else Path.cwd())
    found = files.checked(asked, desk, names)
    if asked.diff or asked.fix or asked.unsafe_fixes:
        given = {shown(asked, STDIN): desk.stdin_text()} if STDIN in names else {}
        changes = fixes.fixed(found, asked.unsafe_fixes, given)
        if asked.diff:
            put(asked, fixes.difference(changes))
            return FOUND if changes else OK
        found = apply(asked, desk, names, found, changes)
    report = with_baseline(asked, pipeline.check(found, shared))
    show(asked, report, fixed_input=STDIN in names and (asked.fix or asked.unsafe_fixes))
    if fault := files.fault_of(found):
        raise fault
    return FOUND if report.reaches(Severity(asked.fail_on or shared.config.fail_on)) else OK


def apply(
    asked: argparse.Namespace, desk: Desk, names: Sequence[str], found: Sequence[Checked], changes: fixes.Changes
) -> list[Checked]:
    """Writes the changes, prints each with its line, and returns what is found afterwards.

    The fixed text of standard input goes to standard output.
    """
    typed = shown(asked, STDIN) if STDIN in names else None
    fixes.write({name: change for name, change in changes.items() if name != typed})
    for change in changes.values():
        for line in change.lines():
            say_error(line)
    say_error(f"fixed {plural(len(changes), 'file')}")
    if typed is not None:
        text = changes[typed].after if typed in changes else desk.stdin_text()
        desk.replace_stdin(text)
        say(text, exact=True)
    return files.again(desk, names, found, {*changes})


def show(asked: argparse.Namespace, report: CheckReport, *, fixed_input: bool) -> None:
    """Prints the report: on standard error where standard output holds the fixed text."""
    if fixed_input and not asked.output:
        for line in rendered(report, asked.format, PLAIN).splitlines():
            say_error(line)
    else:
        put(asked, rendered(report, asked.format, Ink() if asked.output else ink(asked)))
    if asked.format != "text":
        for line in findings_text.about_baseline(report):
            say_error(f"clusterspec: {line}")


def put(asked: argparse.Namespace, text: str) -> None:
    """Writes a text where it was asked for."""
    if asked.output:
        write_whole(Path(asked.output), text.encode("utf-8", "backslashreplace"))
    else:
        say(text, exact=asked.format in MACHINES)


def with_baseline(asked: argparse.Namespace, report: CheckReport) -> CheckReport:
    """The report without what the baselines hold: the one that is read, and the one that is written.

    Raises `UsageFault` for a baseline that cannot be read.
    """
    if asked.write_baseline:
        text = baseline.text(report)
        write_whole(Path(asked.write_baseline), text.encode())
        say_error(f"wrote {plural(len(report.findings), 'finding')} to {asked.write_baseline}")
        return baseline.beyond(report, baseline.read(text))
    if not asked.baseline:
        return report
    path = Path(asked.baseline)
    try:
        if not path.is_file():
            raise UsageFault(
                f"--baseline {path}: {'is not a file' if path.exists() else 'does not exist'}; "
                "`--write-baseline FILE` writes one"
            )
        with path.open("rb") as file:
            data = file.read(LARGEST_BASELINE + 1)
        if len(data) > LARGEST_BASELINE:
            raise UsageFault(f"--baseline {path}: larger than {LARGEST_BASELINE >> 20} MiB, the most that is read")
        return baseline.beyond(report, baseline.read(data.decode("utf-8")))
    except UnicodeDecodeError:
        raise UsageFault(f"--baseline {path}: this is no baseline of clusterspec") from None
    except (OSError, ValueError) as fault:
        raise UsageFault(f"--baseline {path}: {getattr(fault, 'strerror', None) or fault}") from None


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
