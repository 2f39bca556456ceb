"""Options of ``clusterspec diagnose``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, path, positive, spec
from clusterspec.cli.options.collective import COLLECTIVES


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    spec(parser)
    parser.add_argument(
        "logs", metavar="LOG", type=path, nargs="+", help="logs of nccl-tests, rccl-tests, nccom-test, …"
    )
    parser.add_argument("--collective", choices=COLLECTIVES, help="the collective of a log that does not state it")
    parser.add_argument(
        "--ranks", metavar="N", type=positive, help="the number of ranks of a log that does not state it"
    )
    parser.add_argument(
        "--write", action="store_true", help="store the largest size of each log in `measured:` of the spec"
    )
    formats(parser, "text", "json")
