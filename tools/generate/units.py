"""``clusterspec/units/table.py``, from the pint registry."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.units.readings import conversion_factor

DECIMAL = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")

HEADER = '''"""The SI value of each unit: written by `make docs` from the pint registry, not by hand.

``symbol: (SI unit, numerator, denominator)``; a value in the symbol times the numerator over the
denominator is the value in the SI unit. ``b`` is the bit and ``B`` the byte.
"""

from __future__ import annotations

TABLE: dict[str, tuple[str, int, int]] = {
'''


def symbols() -> Iterator[tuple[str, str]]:
    """The symbols of the grammar, each with its SI unit."""
    for base in ("b", "B"):
        for prefix in DECIMAL + BINARY:
            yield f"{prefix}{base}", "B"
            yield f"{prefix}{base}/s", "B/s"
    for base in ("FLOP", "FLOP/s", "T/s", "W"):
        for prefix in DECIMAL:
            yield f"{prefix}{base}", base
    for unit in ("ns", "us", "ms", "s", "min", "h", "day", "week", "month", "year"):
        yield unit, "s"
    for unit in ("cm", "m", "km"):
        yield unit, "m"
    for base in ("V", "A"):
        yield base, base
        yield f"k{base}", base


def table() -> str:
    """The text of the table."""
    rows = []
    for symbol, unit in symbols():
        exact = conversion_factor(symbol, unit)
        rows.append(f'    "{symbol}": ("{unit}", {exact.numerator:_}, {exact.denominator:_}),\n')
    return HEADER + "".join(rows) + "}\n"
