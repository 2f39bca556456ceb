"""``clusterspec report SPEC -o out.html``."""

from __future__ import annotations

import argparse
from pathlib import Path

from clusterspec import pipeline
from clusterspec.cli import FOUND, UsageFault
from clusterspec.cli.inputs import status_of, study_of
from clusterspec.cli.output import keep_apart, write_whole
from clusterspec.cli.terminal import Progress, say_error
from clusterspec.report import paper
from clusterspec.report.ink import located


def run(asked: argparse.Namespace) -> int:
    """Writes a report; 1 where the spec has errors, with everything that could be said."""
    target = Path(asked.output)
    if target.suffix.lower() not in (".html", ".htm", ".pdf"):
        raise UsageFault(f"-o {target}: the suffix says the format; write .html or .pdf")
    keep_apart("-o", asked.output, [asked.spec])
    one = study_of(asked, asked.spec)
    if one.document is None:
        for finding in one.checked.findings:
            say_error(f"{located(finding.span)}: {finding.severity}[{finding.rule}] {finding.message}")
        say_error(f"clusterspec: {target} is not written: the spec cannot be read")
        return FOUND
    progress = Progress()
    progress(f"writing {target}")
    try:
        document = pipeline.report(one, asked.kind, asked.audience)
        data = paper.pdf(document) if target.suffix.lower() == ".pdf" else paper.html(document).encode()
    except paper.MissingLibrary as fault:
        raise UsageFault(str(fault)) from None
    finally:
        progress.done()
    write_whole(target, data)
    say_error(f"wrote {target}")
    return status_of(one)
