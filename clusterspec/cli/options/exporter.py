"""Options of ``clusterspec export``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import path, stdin_filename


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    parser.add_argument("kind", metavar="KIND", nargs="?", help="the format; --list names all")
    parser.add_argument("spec", metavar="SPEC", type=path, nargs="?", help="the spec; - reads standard input")
    stdin_filename(parser)
    parser.add_argument("-o", "--output", metavar="FILE", type=path, help="output file instead of standard output")
    parser.add_argument("--list", action="store_true", help="list the formats that can be exported")
