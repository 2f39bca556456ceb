"""``clusterspec convert "900 GB/s duplex"``."""

from __future__ import annotations

import argparse

from clusterspec import units
from clusterspec.cli import OK, UsageFault
from clusterspec.cli.inputs import headed
from clusterspec.cli.terminal import ink, say
from clusterspec.report import readings_text
from clusterspec.report.findings_machines import dumps


def run(asked: argparse.Namespace) -> int:
    """Prints a quantity in every unit and direction."""
    try:
        found = units.readings(asked.quantity)
    except units.UnitFault as fault:
        raise UsageFault(str(fault)) from None
    say(dumps(headed(asked, found.to_json())) if asked.format == "json" else readings_text.text(found, ink(asked)))
    return OK
