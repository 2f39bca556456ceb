"""Commands that are not implemented yet."""

from __future__ import annotations

import argparse

from clusterspec.cli import UsageFault


def run(asked: argparse.Namespace) -> int:
    """Raises `UsageFault`."""
    raise UsageFault(f"{asked.command} is not implemented yet")
