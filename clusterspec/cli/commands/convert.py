"""``clusterspec convert "900 GB/s duplex"``."""

from __future__ import annotations

import argparse

from clusterspec import units
from clusterspec.cli import OK, UsageFault
from clusterspec.cli.choices import headed
from clusterspec.cli.terminal import ink, print_json, print_text
from clusterspec.report import readings_text


def run(args: argparse.Namespace) -> int:
    """Print a quantity in all units and directions."""
    try:
        found = units.readings(args.quantity)
    except units.UnitFault as fault:
        raise UsageFault(str(fault)) from None
    if args.format == "json":
        print_json(headed(args, found.to_json()))
    else:
        print_text(readings_text.text(found, ink(args)))
    return OK
