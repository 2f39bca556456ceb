"""Commands of the contract that are not built yet."""

from __future__ import annotations

import argparse

from clusterspec.cli import UsageFault


def run(asked: argparse.Namespace) -> int:
    """Refuses the call in one line."""
    raise UsageFault(f"{asked.command} is not built yet")
