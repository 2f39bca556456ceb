"""Options of ``clusterspec export``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import named, stdin_filename


def describe(one: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    one.add_argument("kind", metavar="KIND", nargs="?", help="the format; --list names all")
    one.add_argument("spec", metavar="SPEC", type=named, nargs="?", help="the spec; - reads standard input")
    stdin_filename(one)
    one.add_argument("-o", "--output", metavar="FILE", type=named, help="output file instead of standard output")
    one.add_argument("--list", action="store_true", help="list the formats that can be exported")
