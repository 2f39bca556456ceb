"""pint is the authority: the table agrees with the registry, and the registry with the field."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pint
import pytest

from clusterspec.units.readings import conversion_factor, convert, registry
from clusterspec.units.table import TABLE
from tests.effort import each, thorough

ROOT = Path(__file__).resolve().parents[2]


@each("symbol", sorted(TABLE))
def test_the_table_agrees_with_the_registry(symbol: str) -> None:
    unit, numerator, denominator = TABLE[symbol]
    assert conversion_factor(symbol, unit) == Fraction(numerator, denominator)


@pytest.mark.parametrize(
    ("symbol", "into", "expected"),
    [
        ("Gb/s", "B/s", Fraction(10**9, 8)),  # not gilberts
        ("GT/s", "T/s", Fraction(10**9)),  # not teslas
        ("TB", "B", Fraction(10**12)),
        ("Tb", "B", Fraction(10**12, 8)),
        ("GiB", "B", Fraction(2**30)),
        ("PB", "B", Fraction(10**15)),
        ("EFLOP/s", "FLOP/s", Fraction(10**18)),  # not electronvolts, not euros
        ("min", "s", Fraction(60)),  # not milli-inches
        ("day", "h", Fraction(24)),
        ("year", "day", Fraction(1461, 4)),
    ],
)
def test_units_that_pint_misreads_have_the_meaning_of_the_field(symbol: str, into: str, expected: Fraction) -> None:
    assert conversion_factor(symbol, into) == expected


@thorough
def test_pint_alone_misreads_gigabits_and_gigatransfers() -> None:
    """Why there is an own registry; should pint change its mind, this says so."""
    default: pint.UnitRegistry[Any] = pint.UnitRegistry()
    assert default.Unit("Gb").dimensionality != default.Unit("bit").dimensionality
    assert default.Unit("GT").dimensionality == default.Unit("tesla").dimensionality


@pytest.mark.parametrize(
    ("left", "right"), [("GB", "GB/s"), ("GB", "s"), ("GT/s", "Gb/s"), ("FLOP", "B"), ("W", "FLOP/s")]
)
def test_what_measures_different_things_does_not_convert(left: str, right: str) -> None:
    with pytest.raises(pint.DimensionalityError):
        conversion_factor(left, right)


@pytest.mark.parametrize("word", ["gb", "Gilbert", "tesla", "meter", "gram", "kelvin"])
def test_the_registry_has_only_units_of_the_field(word: str) -> None:
    with pytest.raises(pint.UndefinedUnitError):
        registry().Unit(word)


def test_a_conversion_is_rounded_once() -> None:
    assert convert(0.1, "Gb/s", "b/s") == 1e8
    assert convert(1 / 3, "GB", "GB") == 1 / 3


def test_reading_a_quantity_imports_neither_pint_nor_numpy() -> None:
    code = (
        "import sys; from clusterspec.units import read; read('900 GB/s duplex', 'bandwidth');"
        "sys.exit(bool({'pint', 'numpy', 'difflib', 'decimal'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
