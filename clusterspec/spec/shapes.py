"""Constraints on values beyond their type: ranges of quantities, consistency of list items."""

from __future__ import annotations

import math
from typing import Any

from clusterspec.document.schema_nodes import Schema
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.source import Path

_AXES = ("tp", "cp", "ep", "dp", "pp")
SMALLEST = 1e-15
"""No quantity of a cluster is smaller in its SI unit."""
_DP_PAIR = {"dp_shard", "dp_replicate"}


def check_quantity(path: Path, quantity: Quantity, notes: Schema) -> Problem | None:
    """The problem with a quantity whose unit is valid, or None; ``notes`` are the schema's annotations."""
    lowest = "zero or more" if notes.get("x-zero") else "above zero"
    if not math.isfinite(quantity.value) or quantity.value < 0 or (quantity.value == 0 and not notes.get("x-zero")):
        return Problem("wrong-type", path, f"`{_name(path)}` is {lowest}, but `{quantity.written}` is not")
    if 0 < quantity.value < SMALLEST:
        message = f"`{quantity.written}` is less than `{_name(path)}` can be"
        return Problem("wrong-type", path, message, "check the exponent and the prefix of the unit")
    if quantity.value > notes["x-maximum"]:
        most = f"{notes['x-maximum']:.0e} {quantity.unit}".replace("+", "").removesuffix(" 1")
        message = f"`{quantity.written}` is more than `{_name(path)}` can be ({most})"
        return Problem("wrong-type", path, message, "check the prefix of the unit")
    if notes["x-quantity"] == "bandwidth" and quantity.direction is None:
        both, one = f"`{quantity.written} duplex`", f"`{quantity.written} unidirectional`"
        message = f"`{quantity.written}` does not say whether it counts one direction or both"
        return Problem("missing-direction", path, message, f"write {both} (both summed) or {one} (each way)")
    return None


def check(path: Path, items: tuple[Any, ...]) -> Problem | None:
    """The problem with a list whose items are individually valid, or None."""
    if path == ("layout", "order"):
        return _order(path, items)
    if path[:2] == ("procurement", "prices") and items[0] > items[1]:
        message = f"the range of `{_name(path)}` goes from the higher price to the lower"
        return Problem("wrong-type", path, message, f"write `[{items[1]}, {items[0]}]`")
    return None


def _order(path: Path, items: tuple[str, ...]) -> Problem | None:
    """The problem with an axis order; each axis must occur once, dp_shard and dp_replicate may replace dp."""
    given = set(items)
    pair = given & _DP_PAIR
    if pair and "dp" in given:
        return Problem("wrong-type", path, f"`order` holds both `dp` and `{min(pair)}`", "keep `dp`, or the pair")
    wanted = {*_AXES, *_DP_PAIR} - {"dp"} if pair else set(_AXES)
    missing = [axis for axis in (*_AXES, *sorted(_DP_PAIR)) if axis in wanted - given]
    if missing:
        lacks = ", ".join(f"`{axis}`" for axis in missing)
        return Problem("wrong-type", path, f"`order` lacks {lacks}", "name every axis once, those of degree 1 too")
    return None


def _name(path: Path) -> str:
    return next((key for key in reversed(path) if isinstance(key, str)), "")
