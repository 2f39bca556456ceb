"""Writes clusterspec/units/table.py from the pint registry; with --check, only says whether it is current."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from clusterspec.units.registry import factor

TABLE = Path(__file__).resolve().parent.parent / "clusterspec" / "units" / "table.py"

DECIMAL = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")

HEADER = '''"""What each unit is in SI: written by ``tools/units_table.py`` from the pint registry, not by hand.

``symbol: (SI unit, numerator, denominator)``; a value in the symbol times the numerator over the
denominator is the value in the SI unit. ``b`` is the bit and ``B`` the byte.
"""

from __future__ import annotations

TABLE: dict[str, tuple[str, int, int]] = {
'''


def symbols() -> Iterator[tuple[str, str]]:
    """Every symbol that the grammar knows, and the SI unit that it settles to."""
    for base in ("b", "B"):
        for prefix in DECIMAL + BINARY:
            yield f"{prefix}{base}", "B"
            yield f"{prefix}{base}/s", "B/s"
    for base in ("FLOP", "FLOP/s", "T/s", "W"):
        for prefix in DECIMAL:
            yield f"{prefix}{base}", base
    for unit in ("ns", "us", "ms", "s", "min", "h", "day", "week", "month", "year"):
        yield unit, "s"


def written() -> str:
    rows = []
    for symbol, unit in symbols():
        exact = factor(symbol, unit)
        rows.append(f'    "{symbol}": ("{unit}", {exact.numerator:_}, {exact.denominator:_}),\n')
    return HEADER + "".join(rows) + "}\n"


def main(arguments: list[str]) -> int:
    if "--check" not in arguments:
        TABLE.write_text(written(), encoding="utf-8")
        return 0
    if TABLE.read_text(encoding="utf-8") == written():
        return 0
    print(f"{TABLE} is not what the registry says: run tools/units_table.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
