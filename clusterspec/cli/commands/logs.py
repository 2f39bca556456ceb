"""``clusterspec accept`` and ``clusterspec diagnose``, which compare benchmark logs with a design."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from clusterspec import analysis
from clusterspec.analysis.diagnosis import log_folders
from clusterspec.analysis.diagnosis.collectives import Logs, read_log
from clusterspec.analysis.diagnosis.log_folders import NamedLogs
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides
from clusterspec.cli import FOUND, OK, SpecFault, UsageFault
from clusterspec.cli.commands.estimate import COLLECTIVES
from clusterspec.cli.inputs import STDIN, read_bytes, study_of
from clusterspec.cli.options import format_option, path, positive_integer, spec_argument
from clusterspec.cli.output import refuse_input_as_output, write_whole
from clusterspec.cli.terminal import print_error, print_result
from clusterspec.exchange.import_result import LARGEST, FormatError, UnresolvedSpec, shown_value
from clusterspec.exchange.merge import MergedText
from clusterspec.logs.benchmarks.benchmark import Benchmark
from clusterspec.records import replace
from clusterspec.report import measurement_text
from clusterspec.results.diagnosis import AcceptanceReport
from clusterspec.studies import Study
from clusterspec.units import plural

# Options of ``clusterspec accept``


def describe_accept(parser: argparse.ArgumentParser) -> None:
    """Add the options of `accept` to its parser."""
    spec_argument(parser)
    parser.add_argument("logs", metavar="LOG", type=path, nargs="*", help="the logs of the tests")
    parser.add_argument(
        "--against",
        metavar="LOG",
        type=path,
        nargs="+",
        action="extend",
        default=[],
        help="the logs of an earlier acceptance, against which each test is compared",
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="store the measurements of a passed acceptance in `measured:` of the spec, and show the ranges with them",
    )
    format_option(parser, "text", "json", "csv")


# Options of ``clusterspec diagnose``


def describe_diagnose(parser: argparse.ArgumentParser) -> None:
    """Add the options of `diagnose` to its parser."""
    spec_argument(parser)
    parser.add_argument(
        "logs",
        metavar="LOG",
        type=path,
        nargs="+",
        help="logs of benchmarks and stopped runs, or folders of them",
    )
    parser.add_argument("--collective", choices=COLLECTIVES, help="the collective, if a log does not state it")
    parser.add_argument(
        "--ranks", metavar="N", type=positive_integer, help="the number of ranks, if a log does not state it"
    )
    parser.add_argument(
        "--write", action="store_true", help="store the largest size of each log in `measured:` of the spec"
    )
    format_option(parser, "text", "json")


# ``clusterspec accept SPEC LOG…``


def run_accept(args: argparse.Namespace) -> int:
    """Print the tests with their status; 1 if one fails or was not run."""
    study, logs = study_of(args, args.spec), named_logs(args.logs)
    try:
        report, unclear = analysis.accept(study, logs, named_logs(args.against))
    except UnresolvedSpec as why:
        raise SpecFault(f"{args.spec}: {why}; `clusterspec check` reports details") from None
    for each in unclear:
        print_error(f"clusterspec: {each}; skipped")
    if args.write:
        report = _written_acceptance(args, study, logs, report)
    print_result(args, report, measurement_text.acceptance_as_text, measurement_text.acceptance_csv)
    if report.is_passed and not unclear:
        return OK
    missed = sum(test.status != "pass" for test in report.tests)
    print_error(f"clusterspec: {plural(missed, 'test')} not passed; the exit status is 1")
    return FOUND


def _written_acceptance(
    args: argparse.Namespace, study: Study, logs: Logs, report: AcceptanceReport
) -> AcceptanceReport:
    """The report with the ranges that the measurements give, after these are stored in the spec."""
    try:
        ranges, merged = analysis.accepted_ranges(study, logs, report)
    except FormatError as why:
        raise UsageFault(f"{args.spec}: --write: {why}") from None
    write_spec(args, study, merged, args.logs)
    return replace(report, ranges=ranges, written=tuple(shown_value(each.value) for each in merged.written))


# ``clusterspec diagnose SPEC LOG…``


def run_diagnose(args: argparse.Namespace) -> int:
    """Print the diagnosis; 1 if a collective is slower than expected, or faster than its links."""
    study = study_of(args, args.spec)
    try:
        logs, skipped = logs_of_ranks(args.logs)
        report, merged = analysis.diagnose(study, logs, LogOverrides(args.collective, args.ranks), skipped)
    except UnresolvedSpec as why:
        raise SpecFault(f"{args.spec}: {why}") from None
    except FormatError as why:
        raise UsageFault(f"{args.spec}: {why}") from None
    if args.write:
        write_spec(args, study, merged, args.logs)
        report = replace(report, written=[shown_value(each.value) for each in merged.written])
    print_result(args, report, measurement_text.diagnosis_text)
    slow = sum(each.verdict == "slow" for each in report.compared)
    unfinished = sum(each.verdict == "unfinished" for each in report.compared)
    impossible = sum(each.verdict == "impossible" for each in report.compared)
    counts = ((impossible, "with an impossible bandwidth"), (slow, "slower than expected"))
    for count, how in (*counts, (unfinished, "without a result")):
        if count:
            print_error(f"clusterspec: {plural(count, 'log')} {how}; the exit status is 1")
    return FOUND if impossible or slow or unfinished else OK


def write_spec(args: argparse.Namespace, study: Study, merged: MergedText, logs: Sequence[str]) -> None:
    """Write the spec with the values that logs state. Raises `UsageFault` if that is not possible."""
    if args.spec == STDIN:
        raise UsageFault("--write: standard input cannot be written; name a file")
    refuse_input_as_output(args, "--write", args.spec, logs, study.settings.config)
    if merged.written:
        mark = "\ufeff" if study.source.text.startswith("\ufeff") else ""
        write_whole(Path(args.spec), (mark + merged.text).encode("utf-8", "surrogateescape"))


# Logs given to commands: files, standard input, and folders of logs that launchers write for each rank


def named_logs(names: Sequence[str]) -> Logs:
    """The logs with their names, as `read_log` reads them. Raises `UsageFault` if a file is not a log."""
    shown = _shown_names(names)
    return [(shown[name], _read_log(name, read_bytes(name, LARGEST), unfinished=False)) for name in names]


def logs_of_ranks(names: Sequence[str]) -> NamedLogs:
    """The logs in files and folders, including runs without a result. Raises `UsageFault` if a named file is not a log,
    or if a folder has no logs, or too many or too large files.
    """
    shown = _shown_names(names)
    try:
        return log_folders.logs_of_ranks(
            names,
            read_bytes,
            lambda name: (shown[name], _read_log(name, read_bytes(name, LARGEST), unfinished=True)),
            lambda name: name != STDIN and Path(name).is_dir(),
        )
    except FormatError as why:
        raise UsageFault(str(why)) from None


def _read_log(name: str, data: bytes, *, unfinished: bool) -> Benchmark:
    try:
        return read_log(name, data, unfinished=unfinished)
    except FormatError as why:
        raise UsageFault(f"{name}: {why}") from None


def _shown_names(names: Sequence[str]) -> dict[str, str]:
    """The name of each file in reports, without its folders unless another file has the same name."""
    short = {name: name if name == STDIN else Path(name).name for name in dict.fromkeys(names)}
    times = Counter(short.values())
    return {name: each if times[each] == 1 else name for name, each in short.items()}
