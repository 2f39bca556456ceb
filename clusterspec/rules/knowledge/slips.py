"""What a figure that is not the catalog's looks like: bits for bytes, both directions for one, a node for an
accelerator. One wrong figure is one slip, told by one rule, with every reading that fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clusterspec.finding import Fix, Problem
from clusterspec.quantity import Direction
from clusterspec.rules.facts import Facts
from clusterspec.rules.knowledge.stated import Known, Stated, stated_figures
from clusterspec.rules.rule import Rule, rewrite
from clusterspec.units import percent, plain

AGREES = 0.05
"""Published figures are rounded: DGX B200 is sold with 1.8 TB/s of NVLink 5, some sheets print 1,772 GB/s."""
CLOSE = 0.05
SCOPE = 0.03
"""Scopes lie closer together than other slips (18 links, 16 accelerators), so they are held to less."""
RAW = 1 / 0.9412
"""NVLink's line rate over its payload: ``nvidia-smi nvlink -s`` prints 26.5625 GB/s for links that carry 25."""
ETHERNET = (1, 2.5, 5, 10, 25, 40, 50, 100, 200, 400, 800, 1600)
"""Gb/s of the ports that Ethernet knows (IEEE 802.3)."""
SLOWEST_NIC = 1e9 / 8
"""B/s of the slowest port that anybody would build a fabric of (1 Gb/s)."""
POWER_OF_A_NODE = (100.0, 1e6)
"""Watts: less than one PCIe accelerator idles at, more than eight full racks of them draw."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One thing that the author may have meant, the rule that tells of it, and the text that would say it."""

    rule: str
    meant: str
    text: str


@dataclass(frozen=True, slots=True)
class Slip:
    """A stated figure that cannot be what it says: the figure held against it, and all readings that fit.

    Without readings it merely differs.
    """

    stated: Stated
    known: Known | None
    readings: tuple[Reading, ...]

    @property
    def rule(self) -> str:
        return self.readings[0].rule if self.readings else ""

    @property
    def ratio(self) -> float:
        """How many times too high the figure is, counted the way the author counted."""
        return self.stated.quantity.value / self.stated.counted(self.known) if self.known else 1.0

    @property
    def comparison(self) -> str:
        """`900 GB/s unidirectional is 2 times the 450 GB/s unidirectional of h100-sxm-80gb`."""
        said = self.stated.quantity.written
        if self.known is None:
            return f"{said} is no figure of a machine that exists"
        right = self.stated.said(self.stated.counted(self.known))
        return f"{said} is {times(self.ratio)} the {right} of {self.known.whose}"

    @property
    def meaning(self) -> str:
        return ", or ".join(reading.meant for reading in self.readings)

    @property
    def advice(self) -> str:
        """What to write, one offer for each reading."""
        return "write " + ", or ".join(dict.fromkeys(f"`{reading.text}`" for reading in self.readings))

    @property
    def fix(self) -> Fix | None:
        """A fix where one reading remains."""
        return rewrite(self.stated.at, self.readings[0].text, safe=True) if len(self.readings) == 1 else None


def times(ratio: float) -> str:
    """A ratio as people say it.

    >>> times(2.0), times(0.125), times(0.667)
    ('2 times', '1/8 of', '66.7 % of')
    """
    if ratio >= 1:
        return f"{plain(ratio)} times"
    parts = round(1 / ratio) if ratio > 0 else 0
    return f"1/{parts} of" if parts and near(1 / ratio, parts, 0.01) else f"{percent(ratio)} of"


def slips(facts: Facts) -> tuple[Slip, ...]:
    """Every stated figure that is not the catalog's; worked out once for all rules that ask."""
    return facts.remember(_slips)


def slipped(facts: Facts, *kinds: str) -> bool:
    """Whether a stated figure of one of these kinds is not the catalog's, so that what follows from it says nothing."""
    return any(slip.stated.kind in kinds for slip in slips(facts))


def told_by(rule: Rule, facts: Facts) -> Iterator[Problem]:
    """The problems of one rule of slips."""
    for slip in slips(facts):
        if slip.rule == rule.name:
            message = f"{slip.comparison}: it reads like {slip.meaning}"
            yield rule.problem(slip.stated.at, message, slip.advice, fix=slip.fix)


def _slips(facts: Facts) -> tuple[Slip, ...]:
    return tuple(slip for stated in stated_figures(facts) if (slip := _slip(stated)) is not None)


def _slip(stated: Stated) -> Slip | None:
    if not stated.known:
        return Slip(stated, None, impossible) if (impossible := _impossible(stated)) else None
    if stated.kind == "nic" and stated.free and _is_ethernet_rate(stated.quantity.per_direction):
        return None
    if any(near(stated.quantity.value, stated.counted(known), AGREES) for known in stated.known):
        return None
    for known in stated.known:
        if readings := tuple(_readings(stated, known)):
            return Slip(stated, known, readings)
    if impossible := _impossible(stated):
        return Slip(stated, stated.known[0], impossible)
    return Slip(stated, stated.known[0], ()) if stated.kind in {"scale-up", "nic"} else None


def _is_ethernet_rate(rate: float) -> bool:
    """Whether ports of this rate (B/s) are sold, so that a technology of any rate may well have it."""
    return any(near(rate * 8, gigabits * 1e9, 0.001) for gigabits in ETHERNET)


def near(value: float, other: float, within: float) -> bool:
    """Whether two figures are the same but for a share ``within``."""
    return other > 0 and abs(value / other - 1) <= within


def _readings(stated: Stated, known: Known) -> Iterator[Reading]:
    """The unit that was written decides first, then the direction, then the scope."""
    ratio = stated.quantity.value / stated.counted(known)
    yield from _bits(stated, known, ratio)
    if stated.kind == "nic":
        yield from _scope(stated, known, ratio)
    if near(ratio, 1000, CLOSE) or near(ratio, 1 / 1000, CLOSE):
        right = stated.said(stated.counted(known))
        yield Reading("thousandfold-slip", "a prefix (M, G, T) one step off", right)
    if stated.kind in {"scale-up", "peer"}:
        yield from _direction(stated, known, ratio)
    if stated.kind == "scale-up":
        yield from _scope(stated, known, ratio)
    if stated.kind == "scale-up" and near(ratio, RAW, 0.005):
        right = stated.said(stated.counted(known))
        yield Reading("raw-signalling-rate", "the rate that the links signal at, not the payload they carry", right)


def _bits(stated: Stated, known: Known, ratio: float) -> Iterator[Reading]:
    """Bits written as bytes or the reverse, and the same with the direction mistaken as well."""
    if stated.kind not in {"scale-up", "peer", "nic"}:
        return
    quantity, directed = stated.quantity, stated.kind != "nic"
    slip = 1 / 8 if quantity.bits else 8
    swapped = quantity.symbol.replace("b", "B") if quantity.bits else quantity.symbol.replace("B", "b")
    counts = f"a figure in {swapped} with {quantity.symbol} written behind it"
    right = stated.said(stated.counted(known))
    if near(ratio, slip, CLOSE):
        text = quantity.written.replace(quantity.symbol, swapped)
        yield Reading("bits-and-bytes-swapped", counts, text if text != quantity.written else right)
    if directed and quantity.direction is Direction.ONE_WAY and near(ratio, 2 * slip, CLOSE):
        yield Reading("bits-and-bytes-swapped", f"{counts}, and both directions summed", right)
    if directed and quantity.direction is Direction.DUPLEX and near(ratio, slip / 2, CLOSE):
        yield Reading("bits-and-bytes-swapped", f"{counts}, and one direction alone", right)


def _direction(stated: Stated, known: Known, ratio: float) -> Iterator[Reading]:
    value = stated.quantity.value
    if stated.quantity.direction is Direction.ONE_WAY and near(ratio, 2, CLOSE):
        text = stated.said(value).replace(Direction.ONE_WAY, Direction.DUPLEX)
        yield Reading("duplex-counted-as-one-way", "both directions summed", text)
    if stated.quantity.direction is Direction.DUPLEX and near(ratio, 0.5, 0.04):
        text = stated.said(value).replace(Direction.DUPLEX, Direction.ONE_WAY)
        yield Reading("one-way-counted-as-duplex", "one direction alone", text)


def _scope(stated: Stated, known: Known, ratio: float) -> Iterator[Reading]:
    """A figure of a link, a node or a domain. Eight is left to bits and bytes unless that fits as well."""
    right = stated.said(stated.counted(known))
    for scope in stated.scopes:
        mistaken_for_direction = stated.kind == "scale-up" and scope.factor in {2, 0.5}
        if near(ratio, scope.factor, SCOPE) and not mistaken_for_direction:
            yield Reading(scope.rule, f"the figure of {scope.what}", right)


def _impossible(stated: Stated) -> tuple[Reading, ...]:
    """Figures that no machine has, whatever the catalog knows."""
    value = stated.quantity.per_direction if stated.kind == "nic" else stated.quantity.value
    low, high = {"nic": (SLOWEST_NIC, float("inf")), "power": POWER_OF_A_NODE}.get(stated.kind, (0.0, float("inf")))
    if low <= value <= high:
        return ()
    text = stated.said(stated.quantity.value * (1000 if value < low else 1 / 1000))
    return (Reading("thousandfold-slip", "a prefix (M, G, T) one step off", text),)
