"""Options of ``clusterspec estimate``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, named, spec


def describe(one: argparse.ArgumentParser) -> None:
    """Adds them to a parser."""
    spec(one)
    formats(one, "text", "json")
    one.add_argument(
        "--explain",
        metavar="NAME",
        type=named,
        help="show one printed name, such as 'step time' or MFU, with its formula, inputs, origins and parts",
    )
    one.add_argument("--assumptions", action="store_true", help="list every key that the spec leaves open")
    one.add_argument("--constants", action="store_true", help="list every constant that no data sheet states")
