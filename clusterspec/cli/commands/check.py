"""``clusterspec check PATH…``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from clusterspec import pipeline
from clusterspec.cli import FOUND, OK, UsageFault, files, fixes, formats
from clusterspec.cli.choices import today
from clusterspec.cli.inputs import STDIN, StudyReader, shown
from clusterspec.cli.output import keep_apart, keep_out, write_whole
from clusterspec.cli.terminal import print_error, print_text
from clusterspec.finding import Severity
from clusterspec.pipeline import Checked, Settings
from clusterspec.report import findings_text
from clusterspec.report.ink import PLAIN
from clusterspec.results import CheckReport
from clusterspec.units import plural


def run(asked: argparse.Namespace) -> int:
    """Check all paths, apply the requested fixes, and print the findings.

    Raises `InternalError` after printing if a rule failed.
    """
    pairs = formats.pairs(asked)
    trust(asked)
    reader = StudyReader(asked)
    names = files.named(asked, reader)
    shared = reader.settings(Path(names[0]).resolve().parent if names else Path.cwd())
    if asked.verbose:
        announce(asked, reader, names)
    found = files.checked(asked, reader, names)
    guard(asked, names, found, shared)
    if asked.diff or asked.fix or asked.unsafe_fixes:
        given = {shown(asked, STDIN): reader.stdin_text()} if STDIN in names else {}
        changes = fixes.fixed(found, asked.unsafe_fixes, given)
        if asked.diff:
            difference(changes, asked)
            return FOUND if changes else OK
        found = apply(asked, reader, names, found, changes)
    report = pipeline.check(found, shared)
    if asked.baseline or asked.write_baseline:
        from clusterspec.cli.baselines import with_baseline

        report = with_baseline(asked, report)
    threshold = Severity(asked.fail_on or shared.config.fail_on)
    for pair in pairs:
        show(asked, report, pair, threshold, fixed_input=STDIN in names and (asked.fix or asked.unsafe_fixes))
    if fault := files.fault_of(found):
        raise fault
    return FOUND if report.reaches(threshold) else OK


def announce(asked: argparse.Namespace, reader: StudyReader, names: Sequence[str]) -> None:
    """Print each file with its configuration and catalog on standard error."""
    for name in names:
        settings = reader.settings_of(name)
        by = settings.config.file or "no configuration"
        print_error(f"clusterspec: {shown(asked, name)}: {by}, catalog {settings.catalog.version}")


def trust(asked: argparse.Namespace) -> None:
    """Apply ``--trust``. Raises `UsageFault` for options that contradict it."""
    for option in ("config", "baseline"):
        if asked.trust == "none" and getattr(asked, option):
            raise UsageFault(f"--{option} contradicts --trust none, which ignores configurations and baselines")
    if asked.trust == "base" and asked.config:
        raise UsageFault("--config contradicts --trust base, which uses the configuration of the base revision")
    if asked.trust == "base" or asked.base_revision:
        from clusterspec.cli.base_revision import choose

        choose(asked)


def guard(asked: argparse.Namespace, names: Sequence[str], found: Sequence[Checked], shared: Settings) -> None:
    """Raises `UsageFault` if an input would be overwritten."""
    read = [*names, *(name for one in found for name in one.sources), *filter(None, [shared.config.file, asked.config])]
    written = [("--output", target) for target in asked.output]
    for option, target in [*written, ("--write-baseline", asked.write_baseline)]:
        if target:
            baseline = [asked.baseline] if asked.baseline and option == "--output" else []
            keep_apart(option, target, [*read, *baseline])
            keep_out(option, target, shared.config.catalog)


def difference(changes: fixes.Changes, asked: argparse.Namespace) -> None:
    """Print the changes of the fixes as a diff."""
    text = fixes.difference(changes)
    if asked.output:
        write_whole(Path(asked.output[0]), text.encode("utf-8", "backslashreplace"))
    else:
        print_text(text)


def apply(
    asked: argparse.Namespace,
    reader: StudyReader,
    names: Sequence[str],
    found: Sequence[Checked],
    changes: fixes.Changes,
) -> list[Checked]:
    """Write the changes, print each with its line, and return the findings afterwards.

    The fixed text of standard input is written to standard output.
    """
    typed = shown(asked, STDIN) if STDIN in names else None
    fixes.write({name: change for name, change in changes.items() if name != typed})
    if not asked.quiet:
        for change in changes.values():
            for line in change.lines():
                print_error(line)
        print_error(f"fixed {plural(len(changes), 'file')}")
    if typed is not None:
        text = changes[typed].after if typed in changes else reader.stdin_text()
        reader.replace_stdin(text)
        print_text(text, exact=True)
    return files.recheck(reader, names, found, {*changes})


def show(
    asked: argparse.Namespace, report: CheckReport, pair: formats.Pair, threshold: Severity, *, fixed_input: bool
) -> None:
    """Print the report in a format; on standard error if standard output has the fixed text."""
    form, target = pair
    options = formats.Options(threshold, today(asked), quiet=asked.quiet, statistics=asked.statistics)
    if fixed_input and not target:
        for line in formats.rendered(report, form, PLAIN, options).splitlines():
            print_error(line)
    else:
        formats.put(report, pair, asked, options)
    if form != "text" and not asked.quiet:
        for line in findings_text.about_baseline(report):
            print_error(f"clusterspec: {line}")
