"""``clusterspec export KIND SPEC``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from clusterspec.cli import OK, SpecFault, UsageFault
from clusterspec.cli.inputs import status_of, study_with_errors_named
from clusterspec.cli.output import keep_study, write_whole
from clusterspec.cli.terminal import print_error, print_text
from clusterspec.exchange.exporters.export_input import ExportedFile, ExportInput, MissingPart, NotExportable
from clusterspec.exchange.exporters.registry import EXPORTERS, exporter_of
from clusterspec.report.grid import grid


def run(args: argparse.Namespace) -> int:
    """Write the file, and list on standard error what the format omits."""
    if args.list:
        print_text(grid(("kind", "writes"), [(each.name, each.title) for each in EXPORTERS]))
        return OK
    if not args.kind or not args.spec:
        raise UsageFault("name a KIND and a SPEC; `clusterspec export --list` lists the kinds")
    try:
        exporter = exporter_of(args.kind)
        one = study_with_errors_named(args, args.spec)
        exported = exporter.write(ExportInput(one.design))
    except MissingPart as why:
        raise SpecFault(f"{args.spec}: {why}") from None
    except NotExportable as why:
        raise UsageFault(f"{args.spec}: {why}") from None
    if args.output:
        keep_study(args, "--output", args.output, one)
    _put(args, exported)
    for each in exported.omitted:
        print_error(f"clusterspec: {exporter.name} omits {each}")
    return status_of(one, told=True)


def _put(args: argparse.Namespace, exported: ExportedFile) -> None:
    content = exported.content
    if args.output:
        write_whole(Path(args.output), content if isinstance(content, bytes) else content.encode("utf-8"))
    elif isinstance(content, str):
        print_text(content)
    elif sys.stdout is None or sys.stdout.isatty():
        raise UsageFault("this format is binary: name a file with -o")
    else:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
