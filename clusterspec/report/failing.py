"""The reason for exit status 1, for commands that do not print findings."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from clusterspec.finding import Finding, Severity
from clusterspec.report.ink import PLAIN, Ink, plain, wrapped
from clusterspec.units import plural

MOST = 3
"""Errors that are printed in full."""


def failing(findings: Sequence[Finding], file: str, ink: Ink = PLAIN) -> str:
    """The errors of a spec, the first ones in full; empty if there are none."""
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if not errors:
        return ""
    lines = ["", ink.paint("red", f"The spec has {plural(len(errors), 'error')}; the exit status is 1.")]
    for error in errors[:MOST]:
        place = f"{plain(error.span.file)}:{error.span.start.line}"
        lines += wrapped(f"{place}: {plain(error.message)} [{error.rule}]", ink.measure, "  ", "    ")
    named = plain(quote(file)).replace("\n", " ")
    more = f"  {len(errors) - MOST} more: " if len(errors) > MOST else "  Details: "
    return "\n".join([*lines, f"{more}`clusterspec check {named}`"]) + "\n"
