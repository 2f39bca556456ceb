"""Options of ``clusterspec sweep``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, named, path, positive


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    parser.add_argument(
        "axes", metavar="AXES", type=path, help="a YAML file with `base`, `axes` and `layout` (docs/sweep.md)"
    )
    parser.add_argument("--jobs", metavar="N", type=positive, help="number of processes (default: one per core)")
    parser.add_argument("--dask", metavar="ADDRESS", type=named, help="a Dask scheduler, such as tcp://10.0.0.1:8786")
    formats(parser, "text", "csv", "jsonl")
