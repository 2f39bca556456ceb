"""Options of ``clusterspec check``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import named, positive, stdin_filename

FORMATS = ("text", "concise", "json", "sarif", "junit", "github", "gitlab", "markdown")


def describe(one: argparse.ArgumentParser) -> None:
    """Adds them to a parser."""
    one.add_argument(
        "paths",
        metavar="PATH",
        type=named,
        nargs="+",
        help="specs, folders to search for them, or running text (.md, .txt, .rst); - reads standard input",
    )
    one.add_argument(
        "--format",
        choices=FORMATS,
        action="append",
        default=[],
        help="how to print it (default: text; in GitHub Actions and GitLab what they read; for a file what its suffix "
        "names); the nth goes to the nth --output",
    )
    one.add_argument(
        "--output",
        metavar="FILE",
        type=named,
        action="append",
        default=[],
        help="write there instead of to standard output (repeat, in pairs with --format)",
    )
    one.add_argument(
        "--select",
        metavar="RULE",
        action="append",
        default=[],
        help="only these rules (repeat, or separate with commas)",
    )
    one.add_argument("--ignore", metavar="RULE", action="append", default=[], help="not these rules")
    one.add_argument("--error", metavar="RULE", action="append", default=[], help="raise these rules to errors")
    one.add_argument(
        "--fail-on", choices=("error", "warning", "note"), help="exit with 1 from this severity up (default: error)"
    )
    one.add_argument(
        "--fix", action="store_true", help="write the fixes that are certain into the files, keeping their layout"
    )
    one.add_argument(
        "--unsafe-fixes",
        action="store_true",
        help="write the suggestions, too: names of hardware, models and topologies, and changes of the design",
    )
    one.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")
    one.add_argument(
        "--baseline",
        metavar="FILE",
        type=named,
        help="report only what this file does not hold",
    )
    one.add_argument(
        "--write-baseline", metavar="FILE", type=named, help="write what is found to a baseline, and report nothing"
    )
    one.add_argument(
        "--trust",
        choices=("spec", "base", "none"),
        default="spec",
        help="whose waivers, baseline, configuration, catalog and rules count: those of the files as they are, those "
        "of the base revision (for pull requests), or none (default: spec)",
    )
    one.add_argument(
        "--base-revision", metavar="REV", type=named, help="the base revision (default: the target branch in CI)"
    )
    one.add_argument(
        "--statistics", action="store_true", help="count the findings of each rule instead of printing them"
    )
    one.add_argument("-q", "--quiet", action="store_true", help="print findings only")
    one.add_argument("-v", "--verbose", action="store_true", help="name each file with its configuration, too")
    one.add_argument(
        "--jobs",
        metavar="N",
        type=positive,
        help="how many processes to use (default: one for each core where there are many files)",
    )
    one.add_argument(
        "--only-specs",
        action="store_true",
        help="pass over files that are no specs, even where they are named: for hooks that name every YAML file",
    )
    one.add_argument("--no-cache", action="store_true", help="accepted for hooks that pass it: nothing is cached")
    stdin_filename(one)
