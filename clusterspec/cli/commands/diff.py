"""``clusterspec diff OLD NEW``."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from clusterspec import pipeline
from clusterspec.cli.inputs import Desk, status_of
from clusterspec.cli.revisions import laid_out, revision_of
from clusterspec.cli.terminal import ink, say, say_json
from clusterspec.pipeline import Study
from clusterspec.records import replace
from clusterspec.report import diff_text
from clusterspec.results import Input
from clusterspec.results.diff import Side, compare


def run(asked: argparse.Namespace) -> int:
    """Prints the difference of two designs; 1 where the new one has errors."""
    desk = Desk(asked)
    with tempfile.TemporaryDirectory(prefix="clusterspec-") as place:
        folders = [Path(place).resolve() / str(number) for number in range(2)]
        studies = [studied(desk, name, folder) for name, folder in zip((asked.old, asked.new), folders, strict=True)]
        sides = [side(one, name) for one, name in zip(studies, (asked.old, asked.new), strict=True)]
        report = compare(studies[1].settings.tool, *sides)
        status = status_of(studies[1])
    if asked.format == "json":
        say_json(report.to_json())
    else:
        say(diff_text.markdown(report) if asked.format == "markdown" else diff_text.text(report, ink(asked)))
    return status


def studied(desk: Desk, name: str, folder: Path) -> Study:
    """One of the two specs: a file, or ``REVISION:PATH``. Raises `UsageFault`."""
    revision = revision_of(name)
    if revision is None:
        return desk.study(name)
    folder.mkdir()
    return desk.study_at(laid_out(*revision, folder), Path.cwd())


def side(one: Study, name: str) -> Side:
    """What is compared of one design; its places carry the name that the caller gave."""
    read = Input(name, one.input.data)
    findings = tuple(
        replace(finding, span=replace(finding.span, file=name)) if finding.span.file == one.source.name else finding
        for finding in one.checked.findings
    )
    value = one.document.value if one.document is not None else None
    return Side(read, value, pipeline.estimate(one).to_json(), pipeline.bill(one).to_json(), findings)
