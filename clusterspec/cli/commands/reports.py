"""``clusterspec bom``, ``cost``, ``faults``, ``report`` and ``diff``."""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from clusterspec import analysis
from clusterspec.cli import FOUND, OK, UsageFault
from clusterspec.cli.git import checked_out_spec, revision_of
from clusterspec.cli.inputs import (
    StudyReader,
    chosen_part,
    fleet_or_part,
    fleet_or_study,
    status_of,
    study_with_errors_named,
    with_errors_named,
)
from clusterspec.cli.options import (
    fleet_options,
    format_option,
    nonempty_name,
    output_option,
    path,
    positive_integer,
    spec_argument,
)
from clusterspec.cli.output import refuse_listed_as_output, refuse_study_as_output, writable_place, write_whole
from clusterspec.cli.terminal import Progress, ink_of, print_error, print_json, print_text
from clusterspec.report import cost_text, diff_text, location_text, paper
from clusterspec.report.json_text import json_text
from clusterspec.report.paper.compose import compose
from clusterspec.results.full import FullReport
from clusterspec.studies import Study

if TYPE_CHECKING:
    from clusterspec.cli.projects import Revisions
    from clusterspec.report.paper.blocks import Paper
    from clusterspec.results.fleet import FleetReport

# Options of ``clusterspec report``


def describe_report(parser: argparse.ArgumentParser) -> None:
    """Add the options of `report` to its parser."""
    spec_argument(parser)
    output_option(parser, "the file to write: .html, .pdf or .json")
    parser.add_argument(
        "--kind",
        choices=("design", "procurement"),
        default="design",
        help="for engineers, or for buyers (default: design)",
    )
    parser.add_argument(
        "--audience",
        choices=("tender", "internal"),
        help="tender omits prices and internal notes (default: the spec's document.audience, else internal)",
    )
    parser.add_argument(
        "--against",
        metavar="SPEC",
        type=path,
        nargs="+",
        action="extend",
        default=[],
        help="compare with up to three more specs",
    )


# Options of ``clusterspec diff``


def revision(text: str) -> str:
    """A file, or ``REVISION:PATH`` as given."""
    return path(text) if ":" not in text else nonempty_name(text)


def describe_diff(parser: argparse.ArgumentParser) -> None:
    """Add the options of `diff` to its parser."""
    of_spec = "a file, or REVISION:PATH of the git repository here"
    parser.add_argument(
        "old", metavar="OLD", type=revision, help=f"the old spec ({of_spec}), or a revision, for all its specs"
    )
    parser.add_argument(
        "new",
        metavar="NEW",
        type=revision,
        nargs="?",
        help=f"the new spec ({of_spec}), or a revision, for all its specs (default: the work tree)",
    )
    fleet_options(parser)
    format_option(parser, "text", "markdown", "json")


# ``clusterspec report SPEC -o out.html``

SUFFIXES = (".html", ".htm", ".pdf", ".json")
MOST_AGAINST = 3


def run_report(args: argparse.Namespace) -> int:
    """Write a report, as far as its parts can be computed. Returns 1 if the spec has errors."""
    target = Path(args.output)
    if target.suffix.lower() not in SUFFIXES:
        raise UsageFault(f"-o {target}: the suffix names the format; write .html, .pdf or .json")
    if len(args.against) > MOST_AGAINST:
        raise UsageFault(f"--against: compares with at most {MOST_AGAINST} specs, got {len(args.against)}")
    refuse_listed_as_output("-o", args.output, [args.spec, *args.against])
    reader = StudyReader(args)
    whole = fleet_or_study(args, args.spec)
    if whole.fleet is not None:
        return _write_fleet_report(args, whole, target)
    one, *others = (whole, *(chosen_part(args, reader.study(name)) for name in args.against))
    unread = next((each for each in (one, *others) if each.document is None), None)
    if unread is not None:
        for finding in unread.checked.findings:
            print_error(f"{location_text(finding.span)}: {finding.severity}[{finding.rule}] {finding.message}")
        print_error(f"clusterspec: {target} is not written: the spec cannot be read")
        return FOUND
    for each in (one, *others):
        refuse_study_as_output(args, "-o", args.output, each)
    writable_place(target)
    progress = Progress()
    progress(f"writing {target}")
    try:
        suffix = target.suffix.lower()
        paper.require_libraries(suffix)
        report = analysis.report(one, args.kind, args.audience, others, live=suffix != ".pdf")
        data = report_bytes(report, suffix)
    except paper.MissingLibrary as fault:
        raise UsageFault(str(fault)) from None
    finally:
        progress.erase()
    write_whole(target, data)
    print_error(f"wrote {target}")
    status, *_ = (status_of(each) for each in (one, *others))
    return status


def _write_fleet_report(args: argparse.Namespace, study: Study, target: Path) -> int:
    """Write the report of a whole fleet. Raises `UsageFault` for options that only a single design supports."""
    refuse_study_as_output(args, "-o", args.output, study)
    writable_place(target)
    write_whole(target, _fleet_report_bytes(args, study, target.suffix.lower()))
    print_error(f"wrote {target}")
    return status_of(study)


def _fleet_report_bytes(args: argparse.Namespace, study: Study, suffix: str) -> bytes:
    """The report of a whole fleet. Raises `UsageFault` for options that only a single design supports."""
    written = study.spec.document.audience if study.spec.document else None
    if args.against or (args.audience or written) == "tender":
        raise UsageFault("a comparison or a tender covers one machine: choose with --job or --pool")
    from clusterspec.analysis.fleets.results import fleet_report

    buys = args.kind == "procurement"
    if suffix == ".json":
        result = _fleet_purchase(study) if buys else fleet_report(study, "estimate")
        return json_text(result.to_json()).encode("utf-8", "backslashreplace")
    try:
        paper.require_libraries(suffix)
        made = _fleet_paper(study, buys=buys)
        return paper.paper_as_pdf(made) if suffix == ".pdf" else paper.paper_as_html(made).encode()
    except paper.MissingLibrary as fault:
        raise UsageFault(str(fault)) from None


def _fleet_purchase(study: Study) -> FleetReport:
    """The report on the purchase of a fleet."""
    from clusterspec.analysis.fleets.gates import with_purchase
    from clusterspec.analysis.fleets.results import fleet_report

    return with_purchase(study, fleet_report(study, "bom"))


def _fleet_paper(study: Study, *, buys: bool) -> Paper:
    """The paper of a fleet, for engineers or for its buyer."""
    from clusterspec.analysis.fleets.results import fleet_report
    from clusterspec.report.paper.fleet import composed_fleet
    from clusterspec.report.paper.fleet_purchase import composed_purchase

    return composed_purchase(_fleet_purchase(study)) if buys else composed_fleet(fleet_report(study, "bom"))


def report_without_comparison(args: argparse.Namespace, suffix: str) -> tuple[bytes, int]:
    """The report of a spec, or of a whole fleet, without comparison: its bytes, and the exit status of the command.

    Raises `UsageFault`, also where the spec cannot be read.
    """
    study = fleet_or_study(args, args.spec)
    if study.document is None:
        raise UsageFault(f"there is no report: {study.checked.findings[0].message}")
    if study.fleet is not None:
        return _fleet_report_bytes(args, study, suffix), status_of(study, printed=True)
    report = analysis.report(study, args.kind, args.audience, live=suffix != ".pdf")
    return report_bytes(report, suffix), status_of(study, printed=True)


def report_bytes(report: FullReport, suffix: str) -> bytes:
    """The bytes of a report in the format of a suffix."""
    if suffix == ".json":
        return json_text(report.to_json()).encode("utf-8", "backslashreplace")
    document = compose(report)
    return paper.paper_as_pdf(document) if suffix == ".pdf" else paper.paper_as_html(document).encode()


# ``clusterspec diff OLD NEW``


def run_diff(args: argparse.Namespace) -> int:
    """Print the difference of two designs; 1 if the new one has errors or the old one cannot be read."""
    from clusterspec.cli.projects import revisions_of

    reader, revisions = StudyReader(args), revisions_of(args.old, args.new)
    if revisions is not None:
        return print_project_diff(args, reader, revisions)
    with tempfile.TemporaryDirectory(prefix="clusterspec-") as place:
        folders = [Path(place).resolve() / str(number) for number in range(2)]
        old, new = (
            compared_study(reader, name, folder) for name, folder in zip((args.old, args.new), folders, strict=True)
        )
        if (old.fleet is None) != (new.fleet is None):
            old, new = (sole_job(study, name) for study, name in ((old, args.old), (new, args.new)))
        if old.fleet is not None:
            from clusterspec.cli.commands.fleets import print_fleet_diff

            names = caller_names(old, args.old, folders[0]), caller_names(new, args.new, folders[1])
            return print_fleet_diff(args, old, new, names)
        report = analysis.diff(
            old, new, (caller_names(old, args.old, folders[0]), caller_names(new, args.new, folders[1]))
        )
        status = FOUND if old.document is None else status_of(new, name=args.new)
    if args.format == "json":
        print_json(report.to_json())
    else:
        print_text(
            diff_text.diff_as_markdown(report)
            if args.format == "markdown"
            else diff_text.diff_as_text(report, ink_of(args))
        )
    return status


def print_project_diff(args: argparse.Namespace, reader: StudyReader, revisions: Revisions) -> int:
    """Print the differences of all changed specs; the status is 1 if a new spec has errors. Raises `UsageFault`."""
    from clusterspec.cli.projects import project_diff
    from clusterspec.report import project_text

    if args.job or args.pool:
        raise UsageFault("--job and --pool choose a part of one spec, not of all specs of a revision")
    with tempfile.TemporaryDirectory(prefix="clusterspec-") as place:
        report, studies = project_diff(reader, revisions, Path(place).resolve())
    if args.format == "json":
        print_json(report.to_json())
    elif args.format == "markdown":
        print_text(project_text.project_as_markdown(report))
    else:
        print_text(project_text.project_as_text(report, ink_of(args)))
    return max((status_of(study, printed=True) for study in studies), default=OK)


def compared_study(reader: StudyReader, name: str, folder: Path) -> Study:
    """One of the two specs: a file, or ``REVISION:PATH``. Raises `UsageFault`."""
    revision = revision_of(name)
    if revision is None:
        return fleet_or_part(reader.asked, reader.study(name))
    folder.mkdir()
    return fleet_or_part(reader.asked, reader.study_at(checked_out_spec(*revision, folder), Path.cwd()))


def sole_job(study: Study, name: str) -> Study:
    """A spec of one cluster, or the only job of the only pool of a fleet. Raises `UsageFault` for a larger fleet."""
    if study.fleet is None:
        return study
    if len(study.fleet.jobs) != 1 or len(study.fleet.pools) != 1:
        raise UsageFault(f"{name} is a fleet, and the other spec one cluster: choose with --job or --pool")
    return next(iter(study.fleet.jobs.values()))


def caller_names(study: Study, name: str, folder: Path) -> dict[str, str]:
    """The names that the caller uses for the files of a study, which may be copies in a temporary folder."""
    return {study.source.name: name, f"{folder}{os.sep}": f"{name.partition(':')[0]}:"}


# Options of ``clusterspec bom``


def describe_bom(parser: argparse.ArgumentParser) -> None:
    """Add the options of `bom` to its parser."""
    spec_argument(parser)
    format_option(parser, "text", "json", "csv", "price-sheet")


# Options of ``clusterspec cost``


def describe_cost(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cost` to its parser."""
    spec_argument(parser)
    format_option(parser, "text", "json", "csv")


def describe_faults(parser: argparse.ArgumentParser) -> None:
    """Add the options of `faults` to its parser."""
    spec_argument(parser)
    parser.add_argument(
        "--pairs",
        action="store_true",
        help="also failures of two different parts at once that share a node, domain, leaf or rack",
    )
    parser.add_argument(
        "--log",
        metavar="LOG",
        type=path,
        nargs="+",
        action="extend",
        default=[],
        help="failure rates from your own logs instead: CSV or JSON (time, part, node), sacct, sinfo -R, kernel logs",
    )
    parser.add_argument("--period", metavar="TIME", help="the time that the logs cover, such as '90 days'")
    parser.add_argument("--nodes", metavar="N", type=positive_integer, help="the nodes that the logs cover")
    parser.add_argument("--write", action="store_true", help="store the rates of the logs in `operations.failures`")
    parser.add_argument(
        "--assumptions", action="store_true", help="list what the figures assume, with ranges and sources"
    )
    format_option(parser, "text", "json", "csv")


# ``clusterspec bom SPEC``


def run_bom(args: argparse.Namespace) -> int:
    """Print the bill of materials."""
    study = fleet_or_study(args, args.spec)
    if study.fleet is not None:
        if args.format == "price-sheet":
            raise UsageFault(f"{args.spec}: a price sheet covers one machine, but this is a fleet of several pools")
        return _print_fleet(args, study, "bom")
    report = analysis.bill(study)
    if args.format == "json":
        print_json(report.to_json())
    elif args.format == "price-sheet":
        print_text(cost_text.price_sheet_csv(report))
    else:
        print_text(cost_text.bill_csv(report) if args.format == "csv" else cost_text.bill_text(report, ink_of(args)))
    return status_of(study, printed=args.format == "text")


# ``clusterspec faults SPEC``


def run_faults(args: argparse.Namespace) -> int:
    """Print the failures of single parts by class."""
    from clusterspec.report import faults_text

    if args.log or args.period or args.nodes or args.write:
        from clusterspec.cli.commands.failure_rates import run_failure_rates

        return run_failure_rates(args)
    if args.assumptions and args.format == "csv":
        raise UsageFault("--assumptions applies to text; JSON always lists them")
    study = study_with_errors_named(args, args.spec)
    report = analysis.faults(study, pairs=args.pairs)
    if args.format == "json":
        print_json(report.to_json())
    elif args.format == "csv":
        print_text(faults_text.faults_csv(report))
    elif args.assumptions:
        print_text(faults_text.assumptions_as_text(report, ink_of(args)))
    else:
        print_text(faults_text.faults_as_text(report, ink_of(args)))
    return status_of(study, printed=True)


# ``clusterspec cost SPEC``


def run_cost(args: argparse.Namespace) -> int:
    """Print the cost of a design over its term."""
    study = fleet_or_study(args, args.spec)
    if study.fleet is not None:
        return _print_fleet(args, study, "cost")
    with_errors_named(args, study, args.spec)
    report = analysis.cost(study)
    if args.format == "json":
        print_json(report.to_json())
    else:
        print_text(cost_text.cost_csv(report) if args.format == "csv" else cost_text.cost_text(report, ink_of(args)))
    return status_of(study, printed=True)


def _print_fleet(args: argparse.Namespace, study: Study, verb: str) -> int:
    """Print the result of a fleet."""
    from clusterspec.cli.commands.fleets import print_fleet

    return print_fleet(args, study, verb)
