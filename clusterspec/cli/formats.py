"""The formats of `check` and their outputs: `--format` and `--output` in pairs, or the format of the CI service."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from clusterspec import rules
from clusterspec.cli import UsageFault
from clusterspec.cli.output import write_whole
from clusterspec.cli.terminal import ink, print_text
from clusterspec.finding import Severity
from clusterspec.records import dataclass
from clusterspec.report import findings_text
from clusterspec.report.ink import PLAIN, Ink
from clusterspec.results import CheckReport

MACHINES = ("json", "sarif", "junit", "gitlab")
"""Formats that a program reads."""
OF_SUFFIX = {".json": "json", ".sarif": "sarif", ".xml": "junit", ".md": "markdown", ".txt": "text"}
"""The format of a file by its suffix, where the call names no format."""
OF_SUFFIX_IN_GITLAB = OF_SUFFIX | {".json": "gitlab"}

if TYPE_CHECKING:
    from clusterspec.report.findings_sarif import RuleText

Pair = tuple[str, str | None]
"""A format, and the file that it goes to (None: standard output)."""


def pairs(args: argparse.Namespace) -> list[Pair]:
    """Pairs of format and output: the nth ``--format`` goes to the nth ``--output``, the last one to standard output.

    Raises `UsageFault` if two formats would share standard output, or outputs have no format.
    """
    formats, outputs = list(args.format), list(args.output)
    if not formats and len(outputs) < 2:
        return automatic(outputs[0] if outputs else None)
    if not formats:
        formats = [form for name in outputs if (form := OF_SUFFIX.get(Path(name).suffix.lower()))]
    if len(outputs) > len(formats) or len(formats) - len(outputs) > 1:
        raise UsageFault(
            f"--format is given {len(args.format)} times and --output {len(args.output)} times; "
            "give them in pairs, and at most one format without a file"
        )
    return list(zip(formats, [*outputs, None], strict=False))


def automatic(output: str | None) -> list[Pair]:
    """The default formats.

    GitHub Actions reads annotations from the log and SARIF from a file; GitLab reads its code quality report from a
    file, also from redirected standard output. Otherwise the suffix of a file determines its format.
    """
    github, gitlab = os.environ.get("GITHUB_ACTIONS") == "true", os.environ.get("GITLAB_CI") == "true"
    log = "github" if github else "gitlab" if gitlab and redirected() else "text"
    if output is None:
        return [(log, None)]
    suffix = Path(output).suffix.lower()
    if github:
        return [(OF_SUFFIX.get(suffix, "sarif"), output), (log, None)]
    if gitlab:
        return [(OF_SUFFIX_IN_GITLAB.get(suffix, "gitlab"), output), ("text", None)]
    return [(OF_SUFFIX.get(suffix, "text"), output)]


def redirected() -> bool:
    """Whether standard output is a file on disk rather than a terminal, pipe or device."""
    try:
        return stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):
        return False


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the writers of findings: the failing severity, the current day and the amount of output."""

    fail_on: Severity = Severity.ERROR
    day: date = date.min
    quiet: bool = False
    statistics: bool = False


def put(report: CheckReport, pair: Pair, args: argparse.Namespace, options: Options) -> None:
    """Write a report in a format to its output."""
    form, target = pair
    text = rendered(report, form, PLAIN if target else ink(args), options)
    if target:
        write_whole(Path(target), text.encode("utf-8", "backslashreplace"))
    else:
        print_text(text, exact=form in (*MACHINES, "github"))


def described(rule: str) -> RuleText:
    """The SARIF description of a rule."""
    from clusterspec.report import findings_sarif

    if not rules.known(rule):
        return findings_sarif.RuleText(rule)
    page = rules.page(rule)
    finds = " ".join(page.sections["What it finds"].split())
    return findings_sarif.RuleText(page.summary, finds, page.text, page.rule.severity)


def rendered(report: CheckReport, form: str, paint: Ink, options: Options) -> str:
    """The text of a report in a format."""
    if options.statistics and form in ("text", "concise"):
        return findings_text.statistics(report)
    if form in PLAIN_FORMATS:
        return PLAIN_FORMATS[form](report, paint, options)
    from clusterspec.report import findings_machines, findings_sarif

    writers: dict[str, Callable[[], str]] = {
        "json": lambda: findings_machines.dumps(report.to_json()),
        "sarif": lambda: findings_machines.dumps(findings_sarif.sarif(report, described)),
        "junit": lambda: findings_machines.junit(report, options.fail_on, options.day),
        "gitlab": lambda: findings_machines.dumps(findings_machines.gitlab(report)),
        "markdown": lambda: findings_machines.markdown(report),
    }
    return writers[form]()


PLAIN_FORMATS: dict[str, Callable[[CheckReport, Ink, Options], str]] = {
    "text": lambda report, paint, options: findings_text.text(report, paint, quiet=options.quiet),
    "concise": lambda report, paint, _: findings_text.concise(report, paint),
    "github": lambda report, _, __: findings_text.github(report),
}
"""The formats for people, whose writers load nothing else."""
