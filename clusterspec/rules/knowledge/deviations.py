"""Stated figures that differ from the catalog's, and the likely error that explains each.

Each figure gives at most one deviation, reported by one rule, with every cause that fits: first the written unit, then
the direction, then the scope.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Fix, Problem
from clusterspec.quantity import Direction
from clusterspec.records import dataclass
from clusterspec.rules.knowledge.stated import CatalogFigure, StatedFigure, rate, stated_figures
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.spec.model import ClusterSpec
from clusterspec.units.display import (
    AGREES,
    BITS,
    MEANT,
    PREFIX,
    SINGLE,
    SUMMED,
    agrees_within,
    bits_ratio,
    display_bits,
    is_prefix_error,
    ratio_text,
    swapped_unit,
    text_with_bits_swapped,
)

CLOSE = 0.05
SIZE = 0.03
"""Relative tolerance of sizes of memory: below the 4.8 % that 288 GB is above 256 GiB."""
SCOPE = 0.03
"""Relative tolerance of scopes, which are closer to each other than other factors (18 links, 16 accelerators)."""
RAW = 1 / 0.9412
"""NVLink's signaling rate over its payload: ``nvidia-smi nvlink -s`` prints 26.5625 GB/s for links with a payload of
25.
"""
RATES = frozenset({"scale-up", "peer", "nic"})
ETHERNET_PORTS = (1, 2.5, 5, 10, 25, 40, 50, 100, 200, 400, 800, 1600)
"""Gb/s per direction of Ethernet ports (IEEE 802.3)."""
FASTEST_NIC = 800e9 / 8
"""B/s of the fastest port of a NIC that is sold (800 Gb/s)."""
LEAST_OF_FABRIC = 25
"""Slowest port rate in Gb/s that is usual on accelerator machines."""
SLOWEST_NIC = 1e9 / 8
"""B/s of the slowest port used for a fabric (1 Gb/s)."""
SLOWEST_SITE = 100e6 / 8
"""B/s of the slowest link between sites that trained a language model together (INTELLECT-1: 500 Mb/s to 4 Gb/s)."""
POWER_OF_A_NODE = (100.0, 1e6)
"""Range in watts: from below one idle PCIe accelerator to above eight full racks."""


@dataclass(frozen=True)
class LikelyCause:
    """A likely cause of a deviation: the rule that reports it, its description, and the corrected text."""

    rule: str
    meant: str
    text: str


@dataclass(frozen=True)
class Deviation:
    """A stated figure that differs from the catalog's: the figure it is compared with, and its likely causes.

    Without a cause the difference is unexplained.
    """

    stated: StatedFigure
    known: CatalogFigure | None
    causes: tuple[LikelyCause, ...]
    severity: str = ""
    """The severity to use instead of the rule's own, where the catalog allows a second interpretation."""

    @property
    def rule(self) -> str:
        """The name of the rule that reports it."""
        return self.causes[0].rule if self.causes else ""

    @property
    def ratio(self) -> float:
        """The stated figure over the catalog's, in the direction that the author counted."""
        return self.stated.quantity.value / self.stated.counted_figure(self.known) if self.known else 1.0

    @property
    def comparison(self) -> str:
        """The comparison as text: `900 GB/s unidirectional is 2 times the 450 GB/s unidirectional of h100-sxm-80gb`."""
        written = self.stated.quantity.written
        if self.known is None:
            return f"{written} is outside the range of existing machines"
        right = self.stated.text_in_written_unit(self.stated.counted_figure(self.known))
        return f"{written} is {ratio_text(self.ratio)} the {right} of {self.known.whose}"

    @property
    def meaning(self) -> str:
        """The likely causes, joined by `or`."""
        return ", or ".join(cause.meant for cause in self.causes)

    @property
    def advice(self) -> str:
        """The text to write instead, one for each likely cause."""
        return "write " + ", or ".join(dict.fromkeys(f"`{cause.text}`" for cause in self.causes))

    @property
    def fix(self) -> Fix | None:
        """A fix where only one cause fits."""
        return value_fix(self.stated.at, self.causes[0].text, safe=True) if len(self.causes) == 1 else None

    def problem(self, rule: Rule) -> Problem:
        """The problem that its rule reports."""
        message = f"{self.comparison}: it looks like {self.meaning}"
        return rule.problem(self.stated.at, message, self.advice, severity=self.severity, fix=self.fix)


@dataclass(frozen=True)
class Deviations:
    """The deviations of one spec."""

    found: tuple[Deviation, ...]

    def of_kinds(self, *kinds: str) -> tuple[Deviation, ...]:
        """The deviations of figures of these kinds."""
        return tuple(deviation for deviation in self.found if deviation.stated.kind in kinds)

    def has_any_of(self, *kinds: str) -> bool:
        """Whether a stated figure of one of these kinds differs from the catalog; other rules then do not use the
        figure.
        """
        return bool(self.of_kinds(*kinds))

    @property
    def mislead_time(self) -> bool:
        """Whether a deviation makes the predicted times wrong."""
        wrong = (
            deviation for deviation in self.of_kinds(*RATES, "accelerator") if deviation.rule != "raw-signaling-rate"
        )
        return any(deviation.causes or deviation.stated.kind == "nic" for deviation in wrong)

    def deviations_of_rule(self, rule: str) -> tuple[Deviation, ...]:
        """The deviations that the rule of this name reports."""
        return tuple(deviation for deviation in self.found if deviation.rule == rule)


def find_deviations(written: ClusterSpec | None, cluster: Cluster | None, catalog: Catalog) -> Deviations:
    """Every stated figure that differs from the catalog's."""
    stated = stated_figures(written, cluster, catalog)
    found = (_halved_line_rate(figure) or _deviation(figure) for figure in stated)
    return Deviations(tuple(deviation for deviation in found if deviation is not None))


def _deviation(stated: StatedFigure) -> Deviation | None:
    if not stated.known:
        return Deviation(stated, None, impossible) if (impossible := _impossible_figure_causes(stated)) else None
    ethernet = stated.kind == "nic" and _is_ethernet_rate(stated.quantity.per_direction)
    within = SIZE if stated.at.endswith(".memory") else AGREES
    agrees = any(agrees_within(stated.quantity.value, stated.counted_figure(known), within) for known in stated.known)
    if agrees:
        return None
    for known in () if ethernet and stated.free else stated.known:
        if causes := tuple(_likely_causes(stated, known)):
            return Deviation(stated, known, causes)
    if causes := tuple(_gigabits_in_bytes(stated)):
        known = max(stated.known, key=lambda figure: figure.value)
        return Deviation(stated, known, causes, "warning" if len(causes) > 1 else "")
    if ethernet and stated.free:
        return None
    speed, usual = stated.quantity.per_direction, stated.known[0].value
    limited = stated.over_tcp and SLOWEST_SITE <= speed < usual  # by the cloud, for a virtual machine, or between sites
    return None if limited or (ethernet and stated.replaceable) else _unexplained_deviation(stated)


def _gigabits_in_bytes(stated: StatedFigure) -> Iterator[LikelyCause]:
    """The likely cause that a port rate in Gb/s was written in GB/s, such as 100 GB/s for a 100 Gb/s port. It is
    considered only for a rate above every catalog figure for the machine; if ports of the stated rate are sold, they
    are a second likely cause.
    """
    quantity = stated.quantity
    if stated.kind != "nic" or quantity.bits or not quantity.symbol.startswith("G"):
        return
    number, fastest = quantity.per_direction / 1e9, max(figure.value for figure in stated.known)
    if number in ETHERNET_PORTS and number >= LEAST_OF_FABRIC and quantity.per_direction > (1 + CLOSE) * fastest:
        text = quantity.written.replace(quantity.symbol, swapped_unit(quantity.symbol, quantity.bits))
        yield LikelyCause(BITS, text_with_bits_swapped(quantity.symbol, quantity.bits), text)
        if _is_ethernet_rate(quantity.per_direction) and quantity.per_direction <= FASTEST_NIC:
            sold = display_bits(quantity.per_direction)
            yield LikelyCause(BITS, f"a port of {sold}", sold)


def _unexplained_deviation(stated: StatedFigure) -> Deviation | None:
    """The deviation of a figure that no likely cause explains; None if machines with such figures exist."""
    if impossible := _impossible_figure_causes(stated):
        return Deviation(stated, stated.known[0], impossible)
    return Deviation(stated, stated.known[0], ()) if stated.kind in {"scale-up", "nic", "accelerator"} else None


def _halved_line_rate(stated: StatedFigure) -> Deviation | None:
    """A line rate declared `duplex`, although a line rate counts one direction: 400 Gb/s duplex means 200 Gb/s per
    direction.

    Where ports of half the rate are sold as well, both interpretations are offered.
    """
    quantity, line_rate = stated.quantity, stated.line_rate
    if line_rate is None or quantity.direction is not Direction.DUPLEX:
        return None
    if not agrees_within(quantity.value, line_rate.value, AGREES):
        return None
    meant = f"the line rate of {line_rate.whose}, which counts one direction"
    causes = [LikelyCause(SINGLE, meant, rate(quantity.value, quantity))]
    sold = any(agrees_within(quantity.per_direction, known.value, AGREES) for known in stated.known)
    if sold:
        half = rate(quantity.per_direction, quantity)
        causes.append(LikelyCause(SINGLE, f"a port of {half} each way", half))
    doubtful = sold and all(known.whose == line_rate.whose for known in stated.known)
    return Deviation(stated, line_rate, tuple(causes), "warning" if doubtful else "")


def _is_ethernet_rate(speed: float) -> bool:
    """Whether Ethernet ports of this rate (B/s) are sold."""
    return any(agrees_within(speed * 8, gigabits * 1e9, 0.001) for gigabits in ETHERNET_PORTS)


def _likely_causes(stated: StatedFigure, figure: CatalogFigure) -> Iterator[LikelyCause]:
    """The likely causes: first by the written unit, then by the direction, then by the scope."""
    ratio = stated.quantity.value / stated.counted_figure(figure)
    right = stated.text_in_written_unit(stated.counted_figure(figure))
    yield from _bit_causes(stated, right, ratio)
    if stated.kind == "nic":
        yield from _scope_causes(stated, right, ratio)
    if is_prefix_error(ratio, CLOSE):
        yield LikelyCause(PREFIX, MEANT[PREFIX], right)
    if stated.kind in {"scale-up", "peer"}:
        yield from _direction_causes(stated, ratio)
    if stated.kind == "scale-up":
        yield from _scope_causes(stated, right, ratio)
    if stated.kind == "scale-up" and agrees_within(ratio, RAW, 0.005):
        yield LikelyCause("raw-signaling-rate", "the signaling rate of the links, not the payload they carry", right)


def _bit_causes(stated: StatedFigure, right: str, ratio: float) -> Iterator[LikelyCause]:
    """Bits written as bytes or the reverse, also combined with a wrong direction."""
    of_memory = stated.at.endswith(".memory_bandwidth")
    if stated.kind not in RATES and not of_memory:
        return
    quantity, directed = stated.quantity, stated.kind != "nic" and not of_memory
    factor = bits_ratio(quantity.bits)
    counts = text_with_bits_swapped(quantity.symbol, quantity.bits)
    if agrees_within(ratio, factor, CLOSE):
        text = quantity.written.replace(quantity.symbol, swapped_unit(quantity.symbol, quantity.bits))
        yield LikelyCause(BITS, counts, text if text != quantity.written else right)
    if directed and quantity.direction is Direction.ONE_WAY and agrees_within(ratio, 2 * factor, CLOSE):
        yield LikelyCause(BITS, f"{counts}, and {MEANT[SUMMED]}", right)
    if directed and quantity.direction is Direction.DUPLEX and agrees_within(ratio, factor / 2, CLOSE):
        yield LikelyCause(BITS, f"{counts}, and {MEANT[SINGLE]}", right)


def _direction_causes(stated: StatedFigure, ratio: float) -> Iterator[LikelyCause]:
    """Likely causes that concern direction: the sum of both directions declared as one direction, or the reverse."""
    own = stated.text_in_written_unit(stated.quantity.value)
    if stated.quantity.direction is Direction.ONE_WAY and agrees_within(ratio, 2, CLOSE):
        yield LikelyCause(SUMMED, MEANT[SUMMED], own.replace(Direction.ONE_WAY, Direction.DUPLEX))
    if stated.quantity.direction is Direction.DUPLEX and agrees_within(ratio, 0.5, 0.04):
        yield LikelyCause(SINGLE, MEANT[SINGLE], own.replace(Direction.DUPLEX, Direction.ONE_WAY))


def _scope_causes(stated: StatedFigure, right: str, ratio: float) -> Iterator[LikelyCause]:
    """Likely causes that concern scope: the figure of a link, a node or a domain. For scale-up, a factor of two is a
    matter of direction.
    """
    for scope in stated.scopes:
        of_direction = stated.kind == "scale-up" and scope.factor in {2, 0.5}
        if agrees_within(ratio, scope.factor, SCOPE) and not of_direction:
            yield LikelyCause(scope.rule, f"the figure of {scope.what}", right)


def _impossible_figure_causes(stated: StatedFigure) -> tuple[LikelyCause, ...]:
    """Likely causes of a figure outside the range of existing machines."""
    value = stated.quantity.per_direction if stated.kind == "nic" else stated.quantity.value
    low, high = {"nic": (SLOWEST_NIC, float("inf")), "power": POWER_OF_A_NODE}.get(stated.kind, (0.0, float("inf")))
    if low <= value <= high:
        return ()
    text = stated.text_in_written_unit(stated.quantity.value * (1000 if value < low else 1 / 1000))
    return (LikelyCause(PREFIX, MEANT[PREFIX], text),)
