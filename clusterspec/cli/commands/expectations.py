"""``clusterspec test``: expectations about specs, in separate files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from clusterspec.analysis.expectations import ExpectationFault, outcome_of_test, read_tests
from clusterspec.cli import FOUND, OK, UsageFault
from clusterspec.cli.choices import current_date
from clusterspec.cli.inputs import StudyReader, read_bytes
from clusterspec.cli.options import format_option, path
from clusterspec.cli.terminal import ink_of, print_json, print_text
from clusterspec.report.expectations_text import tests_as_junit, tests_as_text
from clusterspec.results import Input
from clusterspec.results.expectations import TestedReport

SUFFIXES = (".test.yaml", ".test.yml")


def describe_test(parser: argparse.ArgumentParser) -> None:
    """Add the options of `test` to its parser."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        type=path,
        nargs="*",
        default=["."],
        help="files of tests, or folders to search for *.test.yaml (default: the current folder)",
    )
    format_option(parser, "text", "json", "junit")


def run_test(args: argparse.Namespace) -> int:
    """Run all tests and print those that fail. Raises `UsageFault` for a file that is invalid, and for no test."""
    names = list(dict.fromkeys(name for given in args.paths for name in _test_files(given)))
    if not names:
        raise UsageFault(f"no file of tests in {', '.join(args.paths)}; their names end in {SUFFIXES[0]}")
    args.stdin_filename = None
    reader = StudyReader(args)
    outcomes, inputs = [], []
    for name in names:
        inputs.append(Input(name, read_bytes(name)))
        try:
            tests = read_tests(Path(name))
        except ExpectationFault as fault:
            raise UsageFault(str(fault)) from None
        outcomes += [outcome_of_test(name, test, reader.study(str(test.spec))) for test in tests]
    settings = reader.settings(Path(names[0]).resolve().parent)
    report = TestedReport(settings.tool, tuple(inputs), tuple(outcomes))
    if args.format == "json":
        print_json(report.to_json())
    elif args.format == "junit":
        print_text(tests_as_junit(report, current_date(args)), exact=True)
    else:
        print_text(tests_as_text(report, ink_of(args)))
    return FOUND if report.failed_tests else OK


def _test_files(path: str) -> Iterator[str]:
    """The test files of a path: the file itself, or all files below a folder except hidden ones."""
    place = Path(path)
    if not place.is_dir():
        yield path
        return
    for found in sorted(place.rglob("*")):
        inside = found.relative_to(place).parts
        if found.name.endswith(SUFFIXES) and found.is_file() and not any(part.startswith(".") for part in inside):
            yield str(found)
