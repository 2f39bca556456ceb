"""Options of ``clusterspec solve``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, named, spec

KEYS = (
    "nic_bandwidth",
    "oversubscription",
    "scale_up.bandwidth",
    "scale_up.domain",
    "nodes",
    "global_batch",
    "sequence_length",
    "concurrency",
    "request_rate",
    "input_tokens",
)


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    spec(parser)
    parser.add_argument(
        "--for", metavar="KEY", dest="key", choices=KEYS, required=True, help=f"one of {', '.join(KEYS)}"
    )
    parser.add_argument(
        "--until",
        metavar="CONDITION",
        type=named,
        required=True,
        help="fits, or a metric with a limit: mfu>=0.40, exposed<=5%%, time_to_train<=30d, slowdown<=3%%; in serving "
        "targets (those of the spec are met), tpot<=50ms, ttft<=2s, request_latency<=30s, "
        "output_tokens_per_second>=10000",
    )
    parser.add_argument(
        "--layout",
        choices=("fixed", "best"),
        default="fixed",
        help="keep the layout of the spec, or search the best layout, or serving plan, at every value (default: fixed)",
    )
    formats(parser, "text", "json")
