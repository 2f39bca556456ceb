"""Options of ``clusterspec lsp``."""

from __future__ import annotations

import argparse


def describe(one: argparse.ArgumentParser) -> None:
    """Adds what editors pass: standard input and output are the only way to speak to it."""
    one.add_argument("--stdio", action="store_true", help="accepted for editors that pass it")
