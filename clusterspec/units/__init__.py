"""Quantities: the only package that parses and formats units.

`read` parses a quantity, and `display` formats one; `readings.readings` lists its possible interpretations.
Conversion factors come from a table generated from the pint registry of ``definitions.txt``,
because importing pint takes 0.1 s (measured; more with NumPy, which pint imports), and importing
this package without it 0.01 s.
"""

from __future__ import annotations

from clusterspec.units.display import (
    BandwidthReadings,
    bandwidth_readings,
    display,
    display_bits,
    displayed_apart,
    metric_text,
    percent,
    plain,
    plural,
    portion,
    term_text,
    years_text,
)
from clusterspec.units.grammar import read
from clusterspec.units.symbols import KINDS, Kind, UnitFault

__all__ = [
    "KINDS",
    "BandwidthReadings",
    "Kind",
    "UnitFault",
    "bandwidth_readings",
    "display",
    "display_bits",
    "displayed_apart",
    "metric_text",
    "percent",
    "plain",
    "plural",
    "portion",
    "read",
    "term_text",
    "years_text",
]
