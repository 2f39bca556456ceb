"""The constants that may be fitted: their names, priors and owners."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("constants.toml")
ALL = "all accelerators"
RATE = "sustained.bf16"
Owner = tuple[str, str]
"""A kind and an id of the catalog."""


@dataclass(frozen=True)
class Constant:
    """A constant to fit: ``fact`` of the entries ``owners``. Its logarithm has the mean of ``prior`` and the spread
    ``spread``.

    ``group`` is its family, ``cap`` its upper limit.
    """

    group: str
    fact: str
    prior: float
    spread: float
    cap: float
    owners: tuple[Owner, ...]


@cache
def table() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text("utf-8"))


def unfitted_runs() -> dict[str, str]:
    """Runs that are not fitted to, each with the reason; they are predicted and scored like all others."""
    return dict(table()["left_out"])


def accelerators_of_same_chip() -> dict[str, str]:
    """Accelerators that get the figures of another one with the same chip."""
    return {copy: of for chip in table()["chips"].values() for copy, of in chip.get("copies", {}).items()}


def family(accelerator: str) -> str:
    """The chip of an accelerator: the first group of the table that lists it, else the accelerator itself."""
    chips: dict[str, Any] = table()["chips"]
    named = accelerators_of_same_chip().get(accelerator, accelerator)
    return next((name for name, chip in chips.items() if named in chip["accelerators"]), accelerator)


def rated_family(accelerator: str) -> str:
    """The group of accelerators whose rate of products in 16 bits is fitted together with that of this one, else its
    chip: runs on one of them say nothing of the rate of another group.

    >>> rated_family("b300-sxm-288gb"), rated_family("gh200-144gb"), rated_family("mi250x")
    ('B300', 'Hopper', 'MI250X')
    """
    chips: dict[str, Any] = table()["chips"]
    for named in (accelerator, accelerators_of_same_chip().get(accelerator)):
        for name, chip in chips.items():
            if named in chip["accelerators"] and RATE in chip:
                return name
    return family(accelerator)


def constants() -> tuple[Constant, ...]:
    return tuple(_constants())


def _constants() -> Iterator[Constant]:
    chips: dict[str, Any] = table()["chips"]
    everybody = tuple(("accelerator", name) for chip in chips.values() for name in chip["accelerators"])
    yield from _constants_of_group(ALL, table()["shared"], tuple(dict.fromkeys(everybody)))
    for name, chip in chips.items():
        yield from _constants_of_group(name, chip, tuple(("accelerator", each) for each in chip["accelerators"]))
    for name, family in table()["families"].items():
        yield from _constants_of_group(name, family, tuple(("stack", each) for each in family["stacks"]))
    for name, stack in table()["stacks"].items():
        yield from _constants_of_group(name, stack, (("stack", name),))


def _constants_of_group(group: str, facts: dict[str, Any], owners: tuple[Owner, ...]) -> Iterator[Constant]:
    caps = table()["caps"]
    for fact, value in facts.items():
        if fact not in ("accelerators", "copies", "stacks"):
            yield Constant(group, fact, value[0], value[1], caps.get(fact, float("inf")), owners)
