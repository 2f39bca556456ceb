"""``clusterspec report SPEC -o out.html``."""

from __future__ import annotations

import argparse
from pathlib import Path

from clusterspec import pipeline
from clusterspec.cli import FOUND, UsageFault
from clusterspec.cli.inputs import StudyReader, status_of
from clusterspec.cli.output import keep_apart, keep_study, write_whole
from clusterspec.cli.terminal import Progress, print_error
from clusterspec.exploration.levers import sensitivity
from clusterspec.exploration.serving import plans
from clusterspec.report import paper
from clusterspec.report.findings_machines import dumps
from clusterspec.report.ink import located
from clusterspec.report.paper.compose import compose
from clusterspec.results.full import FullReport

SUFFIXES = (".html", ".htm", ".pdf", ".json")
MOST_AGAINST = 3


def run(args: argparse.Namespace) -> int:
    """Write a report, as far as it can be computed; 1 if the spec has errors."""
    target = Path(args.output)
    if target.suffix.lower() not in SUFFIXES:
        raise UsageFault(f"-o {target}: the suffix names the format; write .html, .pdf or .json")
    if len(args.against) > MOST_AGAINST:
        raise UsageFault(f"--against: compares with at most {MOST_AGAINST} specs, got {len(args.against)}")
    keep_apart("-o", args.output, [args.spec, *args.against])
    reader = StudyReader(args)
    one, *others = (reader.study(name) for name in (args.spec, *args.against))
    unread = next((each for each in (one, *others) if each.document is None), None)
    if unread is not None:
        for finding in unread.checked.findings:
            print_error(f"{located(finding.span)}: {finding.severity}[{finding.rule}] {finding.message}")
        print_error(f"clusterspec: {target} is not written: the spec cannot be read")
        return FOUND
    for each in (one, *others):
        keep_study(args, "-o", args.output, each)
    progress = Progress()
    progress(f"writing {target}")
    try:
        suffix = target.suffix.lower()
        report = pipeline.report(
            one, args.kind, args.audience, others, live=suffix != ".pdf", levers_of=sensitivity, plans_of=plans
        )
        data = written(report, suffix)
    except paper.MissingLibrary as fault:
        raise UsageFault(str(fault)) from None
    finally:
        progress.done()
    write_whole(target, data)
    print_error(f"wrote {target}")
    status, *_ = (status_of(each) for each in (one, *others))
    return status


def written(report: FullReport, suffix: str) -> bytes:
    """The bytes of a report in the format of a suffix."""
    if suffix == ".json":
        return dumps(report.to_json()).encode("utf-8", "backslashreplace")
    document = compose(report)
    return paper.pdf(document) if suffix == ".pdf" else paper.html(document).encode()
