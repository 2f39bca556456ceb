"""Options of ``clusterspec diagnose``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, named, positive, spec
from clusterspec.cli.options.collective import COLLECTIVES


def describe(one: argparse.ArgumentParser) -> None:
    """Adds them to a parser."""
    spec(one)
    one.add_argument("logs", metavar="LOG", type=named, nargs="+", help="logs of nccl-tests, rccl-tests, nccom-test, …")
    one.add_argument("--collective", choices=COLLECTIVES, help="which one a log is of, where it does not tell")
    one.add_argument("--ranks", metavar="N", type=positive, help="how many ranks took part, where a log does not tell")
    one.add_argument(
        "--write", action="store_true", help="store the largest size of each log in `measured:` of the spec"
    )
    formats(one, "text", "json")
