"""``clusterspec diff``: said, not yet built."""

from __future__ import annotations

import argparse

from clusterspec.cli import UsageFault


def run(asked: argparse.Namespace) -> int:
    """Says so in one line."""
    raise UsageFault(f"{asked.command} is not built yet")
