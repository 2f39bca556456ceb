"""Options of ``clusterspec lsp``."""

from __future__ import annotations

import argparse


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options that editors pass; the server always uses standard input and output."""
    parser.add_argument("--stdio", action="store_true", help="accepted for editors that pass it")
