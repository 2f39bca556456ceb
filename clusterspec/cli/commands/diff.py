"""``clusterspec diff OLD NEW``."""

from __future__ import annotations

import argparse
import os
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
from clusterspec.source import Span


def run(args: argparse.Namespace) -> int:
    """Print the difference of two designs; 1 if the new one has errors or the old one cannot be read."""
    reader = StudyReader(args)
    with tempfile.TemporaryDirectory(prefix="clusterspec-") as place:
        folders = [Path(place).resolve() / str(number) for number in range(2)]
        studies = [studied(reader, name, folder) for name, folder in zip((args.old, args.new), folders, strict=True)]
        sides = [side(*each) for each in zip(studies, (args.old, args.new), folders, strict=True)]
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


def side(study: Study, name: str, folder: Path) -> Side:
    """The compared data of a design, with positions under the names that the caller knows, not those of copies."""
    read = Input(name, study.input.data)
    revision = f"{name.partition(':')[0]}:"

    def known(span: Span) -> Span:
        if span.file == study.source.name:
            return replace(span, file=name)
        return replace(span, file=span.file.replace(f"{folder}{os.sep}", revision))

    findings = tuple(
        replace(finding, span=known(finding.span), related=tuple((known(span), note) for span, note in finding.related))
        for finding in study.checked.findings
    )
    value = study.document.value if study.document is not None else None
    figures = pipeline.estimate(study).to_json(), pipeline.bill(study).to_json()
    return Side(read, value, *figures, findings, study.unchecked)
