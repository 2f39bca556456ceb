"""Options of ``clusterspec check``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import named, path, positive, stdin_filename

FORMATS = ("text", "concise", "json", "sarif", "junit", "github", "gitlab", "markdown")


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        type=path,
        nargs="*",
        default=["."],
        help="specs, folders to search for them, or running text (.md, .txt, .rst); - reads standard input "
        "(default: the current folder)",
    )
    for group in (_output, _rules, _fixes, _baselines, _run):
        group(parser)
    stdin_filename(parser)


def _output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=FORMATS,
        action="append",
        default=[],
        help="output format (default: text; in GitHub Actions and GitLab their formats; for a file the one of its "
        "suffix); the nth goes to the nth --output",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=path,
        action="append",
        default=[],
        help="output file instead of standard output (repeatable, in pairs with --format)",
    )


def _rules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--select",
        metavar="RULE",
        action="append",
        default=[],
        help="run only these rules (repeatable, or comma-separated)",
    )
    parser.add_argument("--ignore", metavar="RULE", action="append", default=[], help="do not run these rules")
    parser.add_argument("--error", metavar="RULE", action="append", default=[], help="raise these rules to errors")
    parser.add_argument(
        "--fail-on", choices=("error", "warning", "note"), help="exit with 1 from this severity up (default: error)"
    )


def _fixes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fix", action="store_true", help="apply safe fixes to the files, keeping their formatting")
    parser.add_argument(
        "--unsafe-fixes",
        action="store_true",
        help="show the changes of suggestions, too: names of hardware, models and topologies, and design changes; "
        "--fix writes them",
    )
    parser.add_argument("--diff", action="store_true", help="show the changes of --fix without applying them")


def _baselines(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--baseline",
        metavar="FILE",
        type=path,
        help="report only findings that this file does not have",
    )
    parser.add_argument(
        "--write-baseline", metavar="FILE", type=path, help="write the findings to a baseline, and report nothing"
    )
    parser.add_argument(
        "--trust",
        choices=("spec", "base", "none"),
        default="spec",
        help="the waivers, baseline, configuration, catalog and rules that apply: those of the current files, those of "
        "the base revision (for pull requests), or none (default: spec)",
    )
    parser.add_argument(
        "--base-revision", metavar="REV", type=named, help="the base revision (default: the target branch in CI)"
    )


def _run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--statistics", action="store_true", help="count the findings of each rule instead of printing them"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print findings only")
    parser.add_argument("-v", "--verbose", action="store_true", help="also print the configuration of each file")
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=positive,
        help="number of processes (default: one per core if there are many files)",
    )
    parser.add_argument(
        "--only-specs",
        action="store_true",
        help="skip files that are not specs, even if given explicitly: for hooks that pass all YAML files",
    )
    parser.add_argument("--no-cache", action="store_true", help="accepted for hooks that pass it: nothing is cached")
