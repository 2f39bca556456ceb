"""Options of ``clusterspec completion``."""

from __future__ import annotations

import argparse


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="for `source <(clusterspec completion bash)`")
