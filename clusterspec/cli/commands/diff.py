"""``clusterspec diff OLD NEW``."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from clusterspec import pipeline
from clusterspec.cli import FOUND
from clusterspec.cli.inputs import StudyReader, status_of
from clusterspec.cli.revisions import checked_out, revision_of
from clusterspec.cli.terminal import ink, print_json, print_text
from clusterspec.pipeline import Study
from clusterspec.records import replace
from clusterspec.report import diff_text
from clusterspec.results import Input
from clusterspec.results.diff import Side, compare


def run(args: argparse.Namespace) -> int:
    """Print the difference of two designs; 1 if the new one has errors or the old one cannot be read."""
    reader = StudyReader(args)
    with tempfile.TemporaryDirectory(prefix="clusterspec-") as place:
        folders = [Path(place).resolve() / str(number) for number in range(2)]
        studies = [studied(reader, name, folder) for name, folder in zip((args.old, args.new), folders, strict=True)]
        sides = [side(one, name) for one, name in zip(studies, (args.old, args.new), strict=True)]
        report = compare(studies[1].settings.tool, *sides)
        status = FOUND if studies[0].document is None else status_of(studies[1])
    if args.format == "json":
        print_json(report.to_json())
    else:
        print_text(diff_text.markdown(report) if args.format == "markdown" else diff_text.text(report, ink(args)))
    return status


def studied(reader: StudyReader, name: str, folder: Path) -> Study:
    """One of the two specs: a file, or ``REVISION:PATH``. Raises `UsageFault`."""
    revision = revision_of(name)
    if revision is None:
        return reader.study(name)
    folder.mkdir()
    return reader.study_at(checked_out(*revision, folder), Path.cwd())


def side(study: Study, name: str) -> Side:
    """The compared data of a design, with positions under the name given by the caller."""
    read = Input(name, study.input.data)
    findings = tuple(
        replace(finding, span=replace(finding.span, file=name)) if finding.span.file == study.source.name else finding
        for finding in study.checked.findings
    )
    value = study.document.value if study.document is not None else None
    return Side(read, value, pipeline.estimate(study).to_json(), pipeline.bill(study).to_json(), findings)
