"""Options of ``clusterspec completion``."""

from __future__ import annotations

import argparse


def describe(one: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    one.add_argument("shell", choices=("bash", "zsh", "fish"), help="for `source <(clusterspec completion bash)`")
