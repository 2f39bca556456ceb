"""Options of ``clusterspec import``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, path, positive


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    parser.add_argument("kind", metavar="KIND", nargs="?", help="the format, or auto; --list names all")
    parser.add_argument("files", metavar="FILE", type=path, nargs="*", help="the files to read; - reads standard input")
    parser.add_argument(
        "--into",
        metavar="SPEC",
        type=path,
        help="insert the result into this spec, keeping its formatting and comments; existing values are kept",
    )
    parser.add_argument(
        "--part", metavar="N", type=positive, help="the number of the table or topology, if a file has several"
    )
    parser.add_argument("--list", action="store_true", help="list the formats that can be imported")
    formats(parser, "yaml", "json")
