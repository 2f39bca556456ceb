"""``clusterspec solve SPEC --for KEY --until CONDITION``."""

from __future__ import annotations

import argparse

from clusterspec.cli import UsageFault
from clusterspec.cli.inputs import status_of, study_of
from clusterspec.cli.terminal import ink, print_json, print_text
from clusterspec.exploration.boundary import solve
from clusterspec.report import search_text
from clusterspec.search.conditions import ConditionFault


def run(asked: argparse.Namespace) -> int:
    """Print the minimum or maximum of a key that meets a condition."""
    one = study_of(asked, asked.spec)
    try:
        report = solve(one, asked.key, asked.until, best_layout=asked.layout == "best")
    except ConditionFault as fault:
        raise UsageFault(str(fault)) from None
    if asked.format == "json":
        print_json(report.to_json())
    else:
        print_text(search_text.solve(report, ink(asked)))
    return status_of(one)
