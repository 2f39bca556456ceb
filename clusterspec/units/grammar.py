"""Parser of quantities: number, unit, and a qualifier of direction or sparsity.

    quantity   = [ times ] number [ unit ] [ qualifier ]
    times      = whole-number ( "x" | "×" | "*" )
    qualifier  = "duplex" | "unidirectional" | "dense" | "sparse" | a synonym

The grammar is anchored: the whole text is a quantity, or a `UnitFault` is raised. Parsing is linear
in the length of the text, which is limited.
"""

from __future__ import annotations

import math
import re

from clusterspec.patterns import pattern
from clusterspec.quantity import Direction, Quantity, Sparsity
from clusterspec.units import hints
from clusterspec.units.fault import UnitFault, quoted
from clusterspec.units.kinds import KINDS, Kind
from clusterspec.units.number import NUMBER, split, text_of, unreadable
from clusterspec.units.symbols import COUNTS, symbol_of
from clusterspec.units.table import TABLE

_ONE_WAY = "unidirectional|uni|unidir|uni directional|one way|oneway|one direction|per direction|each direction"
_ONE_WAY += "|in each direction|each way|per way|simplex"
_DUPLEX = "duplex|full duplex|bidirectional|bidir|bidi|bi|bi directional|both ways|both directions|in both directions"
_DUPLEX += "|two way"
_DENSE = "dense|without sparsity|no sparsity|non sparse"
_SPARSE = "sparse|with sparsity|with structured sparsity|with 2:4 sparsity|2:4 sparse"
QUALIFIERS: dict[str, Direction | Sparsity] = {
    **dict.fromkeys(_ONE_WAY.split("|"), Direction.ONE_WAY),
    **dict.fromkeys(_DUPLEX.split("|"), Direction.DUPLEX),
    **dict.fromkeys(_DENSE.split("|"), Sparsity.DENSE),
    **dict.fromkeys(_SPARSE.split("|"), Sparsity.SPARSE),
}

_RATIO = pattern(rf"({NUMBER})[ ]*(?::|to)[ ]*({NUMBER})", re.ASCII)


def read(text: str | int | float, kind: str) -> Quantity:
    """The quantity of a text in SI units, in the direction or sparsity that it states.

    ``kind`` is a key of `KINDS`. A ratio such as ``2:1`` is its first number over its second.
    Raises `UnitFault` if the text is not exactly one quantity of that kind.

    >>> read("8 x 400 Gb/s", "line_rate").value
    400000000000.0
    >>> read("900 GB/s duplex", "bandwidth").per_direction
    450000000000.0
    """
    wanted = KINDS[kind]
    written = text_of(text)
    quantity = _ratio(written) if kind == "ratio" else None
    if quantity is None:
        quantity = _plain(written, wanted) if wanted.unit == "1" else _with_unit(written, wanted)
    if quantity.value == 0 and not wanted.zero:
        raise UnitFault("unreadable-quantity", f"{quoted(written)} is zero", f"write {wanted.name} above zero")
    return quantity


def divide(rest: str) -> tuple[str | None, str, str]:
    """The text after a number as (symbol, its spelling, words after it); the symbol is None if none fits.

    >>> divide("GB per second each way")
    ('GB/s', 'GB per second', 'each way')
    """
    head, mark, tail = _before_mark(rest)
    words = head.split()
    longest = 1 if words and words[0].endswith("/s") else 4  # no word of a unit follows "/s"
    for length in range(min(len(words), longest), 0, -1):
        spelling = " ".join(words[:length])
        if symbol := symbol_of(spelling):
            after = " ".join(words[length:])
            return symbol, spelling, f"{after}{mark}{tail}".strip(" ")
    return None, words[0] if words else "", " ".join(words[1:]) + mark + tail


def _before_mark(rest: str) -> tuple[str, str, str]:
    cut = min((at for at in (rest.find(","), rest.find("(")) if at >= 0), default=len(rest))
    return rest[:cut], rest[cut : cut + 1], rest[cut + 1 :]


def _ratio(written: str) -> Quantity | None:
    match = _RATIO.fullmatch(written)
    if not match:
        return None
    down, _ = split(match[1], whole=False, example="2:1")
    up, _ = split(match[2], whole=False, example="2:1")
    if up == 0 or math.isinf(down / up) or (down > 0 and down / up == 0):
        raise unreadable(written, "write the downlinks over the uplinks, as in `2:1`; the uplinks are not zero")
    return Quantity(down / up, "1", written)


def _plain(written: str, kind: Kind) -> Quantity:
    """A number without a unit; a count may have a suffix for thousands to trillions (``15T``)."""
    number, rest = split(written, kind.whole, "3")
    suffix = rest.removesuffix("tokens").rstrip(" ") if kind.whole else rest
    if suffix not in (COUNTS if kind.whole else ("",)):
        raise hints.not_a_number(written, number, rest, kind)
    value = number * COUNTS[suffix]
    if math.isinf(value):
        raise unreadable(written, "write a smaller number")
    if kind.whole:
        value = _whole(written, value)
    return Quantity(value, "1", written, suffix)


def _whole(written: str, value: float) -> float:
    """The integer of a product such as 1.005 × 1000, which binary rounding misses by the last digit."""
    nearest = float(round(value))
    if not math.isclose(value, nearest, rel_tol=1e-15):
        raise unreadable(written, "write a whole number")
    return nearest


def _with_unit(written: str, kind: Kind) -> Quantity:
    example = f"1 {kind.suggestions[0]}"
    number, rest = split(written, False, example)
    symbol, spelling, words = divide(rest)
    if symbol is None:
        raise hints.no_such_unit(written, rest, spelling, kind)
    if TABLE[symbol][0] != kind.unit:
        raise hints.other_unit(written, rest, spelling, symbol, kind)
    qualifier = _qualifier(words)
    if words and qualifier is None:
        raise hints.unknown_words(written, words, kind)
    _check_qualifier(written, qualifier, kind)
    return _to_si(written, number, symbol, qualifier)


def _to_si(written: str, number: float, symbol: str, qualifier: Direction | Sparsity | None) -> Quantity:
    """A number with a symbol of the table as a quantity in SI units."""
    unit, numerator, denominator = TABLE[symbol]
    value = number * numerator / denominator
    if math.isinf(value):
        raise unreadable(written, "write a smaller number")
    return Quantity(
        value,
        unit,
        written,
        symbol,
        bits=symbol.rstrip("/s").endswith("b"),
        direction=qualifier if isinstance(qualifier, Direction) else None,
        sparsity=qualifier if isinstance(qualifier, Sparsity) else None,
    )


def _qualifier(words: str) -> Direction | Sparsity | None:
    """The direction or sparsity stated by the words after a unit, or None."""
    inner = words[1:-1] if words.startswith("(") and words.endswith(")") else words.removeprefix(",")
    return QUALIFIERS.get(" ".join(inner.lower().replace("-", " ").split()))


def _check_qualifier(written: str, qualifier: Direction | Sparsity | None, kind: Kind) -> None:
    if isinstance(qualifier, Direction) and not kind.directed:
        raise UnitFault("wrong-unit", f"{quoted(written)} has a direction, and {kind.name} has none", "leave it out")
    if kind.unit == "FLOP/s" and qualifier is None:
        message = f"{quoted(written)} does not say whether it counts structured sparsity, a factor of two"
        raise UnitFault("missing-sparsity", message, f"write `{written} dense` or `{written} sparse`")
    if isinstance(qualifier, Sparsity) and kind.unit != "FLOP/s":
        raise UnitFault("wrong-unit", f"{quoted(written)}: only a peak is dense or sparse", "leave the word out")
