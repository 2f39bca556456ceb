"""Options of ``clusterspec init``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import named, positive


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser; without any the shipped starting spec is printed."""
    parser.add_argument("--platform", metavar="ID", type=named, help="a platform of the catalog")
    parser.add_argument("--model", metavar="ID", type=named, help="a model of the catalog (default: llama-3.1-8b)")
    parser.add_argument(
        "--nodes", metavar="N", type=positive, help="the number of nodes (default: the fewest on which the model runs)"
    )
    parser.add_argument("--for", dest="kind", choices=("train", "serve"), help="the kind of workload (default: train)")
