"""Options of ``clusterspec search``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, path, positive, spec

TRAINING = ("step_time", "memory", "cost", "tokens_per_accelerator")
SERVING = ("accelerators", "cost", "tokens_per_accelerator", "tokens_per_user", "memory")
"""What a search may rank by."""


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    spec(parser)
    parser.add_argument("--top", metavar="N", type=positive, default=10, help="number of layouts to show (default: 10)")
    parser.add_argument(
        "--objective",
        choices=(*TRAINING, *(each for each in SERVING if each not in TRAINING)),
        default="",
        help="the objective; in training step_time (default), memory, or cost and tokens_per_accelerator, which follow "
        "the step time on one machine; in serving accelerators (default with targets), cost, "
        "tokens_per_accelerator (default without), tokens_per_user or memory",
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="fix a key of the layout, such as tp=8; in serving also pools=aggregated or pools=disaggregated",
    )
    parser.add_argument(
        "--min-headroom",
        metavar="SHARE",
        type=share,
        default=None,
        help="fraction of memory that the prediction leaves free, from 0 to 1 (default: the upper end of the memory "
        "range has to fit)",
    )
    parser.add_argument(
        "--grid", metavar="AXIS,AXIS", type=axes, help="the best layout for every pair of two axes: tp,pp"
    )
    parser.add_argument("--write", metavar="FILE", type=path, help="write a copy of the spec with the best layout")
    parser.add_argument(
        "--explain", action="store_true", help="say which parts of a step make the best layout faster than others"
    )
    formats(parser, "text", "json", "csv")


def share(text: str) -> float:
    """A fraction from 0 to below 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a fraction; write a number from 0 to below 1, such as 0.1")
    return value


AXES = ("tp", "cp", "pp", "dp", "ep", "expert_tp")


def axes(text: str) -> tuple[str, str]:
    """Two different axes of a layout, separated by a comma."""
    names = tuple(name.strip() for name in text.split(","))
    if len(names) != 2 or names[0] == names[1] or not set(names) <= set(AXES):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a pair of axes; write two of {', '.join(AXES)}, such as tp,pp"
        )
    return names[0], names[1]
