"""Market prices of parts, support and space, per unit that prices scale with (rate, capacity, power).

The ranges are wide: they cover large orders and resellers' list prices, and every generation of a part. A price outside
is more often the price of another part or unit, or off by a power of ten, than a bargain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.cluster.model import Design
from clusterspec.cost.nameplates import rack_power
from clusterspec.procurement.amounts import amount_of_quote
from clusterspec.procurement.bill import bill
from clusterspec.procurement.offered import offered_lines
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.purchases import price_ends
from clusterspec.rules.knowledge.ranges import GIGABIT, KW, TB, UNITS_PER_DOLLAR
from clusterspec.rules.rule import quote_path
from clusterspec.source import Path
from clusterspec.spec.model import Price, ProcurementSpec


class PriceBand(NamedTuple):
    """A price range from ``low`` to ``high`` in US dollars for one unit of a measure; ``unit`` names the measure."""

    low: float
    high: float
    unit: str


BANDS = {
    "leaf_switch": PriceBand(0.2, 8.0, "Gb/s of its ports"),
    "spine_switch": PriceBand(0.2, 8.0, "Gb/s of its ports"),
    "core_switch": PriceBand(0.2, 8.0, "Gb/s of its ports"),
    "nic": PriceBand(1.5, 20.0, "Gb/s"),
    "transceiver": PriceBand(0.15, 12.0, "Gb/s"),
    "cable": PriceBand(0.02, 12.0, "Gb/s"),
    "storage": PriceBand(8.0, 5000.0, "TB"),
    "rack_per_month": PriceBand(15.0, 800.0, "kW of the rack"),
    "support_per_year": PriceBand(0.004, 0.3, "of the price of the parts"),
}
"""Assumed ranges around published prices (read 2026-11-21):

- space: $217.30 a kW and month, the mean of CBRE's Global Data Center Trends 2025
  (https://dataxconnect.com/insights-cbre-data-centre-trends-2025);
- storage: $0.20 a GB for flash of large capacity with its system, at least 4 PB
  (https://ww.bingotingo.net/300-tb-ssd-is-coming-soon-but-they-will-be-shockingly-expensive/), a tenth of it for disks;
- support: 4 to 8 % of the price a year for clusters
  (https://icl.utk.edu/ctwatch/quarterly/articles/2006/05/designing-and-supporting-high-end-computational-facilities/2/index.html),
  10 to 30 % for servers
  (https://searchservervirtualization.techtarget.com/feature/How-to-make-the-most-of-hardware-service-contracts);
- optics: $1.5 million for the modules of 1,024 NICs of 400 Gb/s at list prices
  (https://ascentoptics.com/blog/osfp-nvidia-infiniband-ndr/), some $500 each;
- NICs: $1,599 to $2,188 for a ConnectX-7 of 400 Gb/s and $1,779 to $2,519 for a ConnectX-8 of 800 Gb/s, by the piece in
  September 2026 (`market.price` in catalog/nics), that is $2.2 to $5.5 a Gb/s; large orders and small cards beyond;
- switches: assumed from the prices of the project's own examples, $1.2 to $1.4 a Gb/s for 64 ports of 400 Gb/s, a sixth
  of it as the lower end;
- cables: assumed from $8 for a fiber jumper of 400 Gb/s to an active optical cable, which costs as much as two modules.
"""

USUAL = {"transceiver": 1.25, "cable": 0.5}
"""Usual price in US dollars per Gb/s of a link: modules at the $500 for 400 Gb/s above; cables, by judgment, between a
jumper and an active cable.
"""

OF_RANGES = frozenset({"cable"})
"""Kinds in `procurement.prices` whose usual range is a separate one."""


class StatedPrice(NamedTuple):
    """A price in a spec in US dollars, from ``low`` to ``high``, and the number of units of its measure that it covers
    (``size``).

    ``most`` is the number of units to assume at the upper end if the part is also sold for something else.
    """

    at: Path
    kind: str
    low: float
    high: float
    size: float
    most: float = 0.0

    @property
    def band(self) -> PriceBand:
        return BANDS[self.kind]

    def of_pieces(self, count: int) -> StatedPrice:
        """The price of one piece if the stated price covers ``count`` pieces."""
        return self._replace(low=self.low / count, high=self.high / count)

    @property
    def ratio_to_range(self) -> float:
        """How many times the price is below the range (below 1) or above it (above 1); 1 inside."""
        if self.high < self.band.low * self.size:
            return self.high / (self.band.low * self.size)
        return max(1.0, self.low / (self.band.high * max(self.size, self.most)))


def usual_price_of(kind: str, design: Design, currency: str | None) -> float | None:
    """The usual price of one cable or module of the fabric, in a currency; None if its rate or the links are unknown."""
    rate, fabric = UNITS_PER_DOLLAR.get(currency or "USD"), design.cluster.scale_out if design.cluster else None
    if rate is None or fabric is None:
        return None
    return USUAL[kind] * rate * fabric.nic_bandwidth.value / GIGABIT


def usual_cost(parts: Mapping[str, int], design: Design, currency: str | None) -> float | None:
    """The usual price of numbers of cables and modules together; None if the price of one part is unknown."""
    prices = [(usual_price_of(kind, design, currency), count) for kind, count in parts.items() if kind in USUAL]
    known = [price * count for price, count in prices if price is not None]
    return sum(known) if len(known) == len(parts) else None


def stated_prices(procurement: ProcurementSpec, design: Design) -> Iterator[StatedPrice]:
    """The prices of a spec whose measure the design states; none in a currency without a known rate."""
    rate, cluster = UNITS_PER_DOLLAR.get(procurement.currency or "USD"), design.cluster
    if rate is None or cluster is None:
        return
    stated: list[tuple[Path, str, Price]] = [
        (("procurement", "prices", kind), kind, price)
        for kind, price in (procurement.prices or {}).items()
        if kind in BANDS and kind not in OF_RANGES
    ]
    stated += [
        (quote_path(line.index, "unit_price"), line.kind, line.unit_price)
        for line in offered_lines(procurement.quote or (), cluster)
        if line.kind in BANDS and line.unit_price and line.quantity is not None and not line.has_own_units
    ]
    for at, kind, price in stated:
        size, (low, high) = _priced_amount(kind, design, rate), price_ends(price)
        if size and high:
            yield StatedPrice(at, kind, low / rate, high / rate, size, _rated_size(kind, design))


TB_PER_RATE = 4.0
"""Terabytes that cost at most as much as one GB/s of reading, by judgment: an appliance with few drives is sold for its
controllers, ports and file system.
"""


def _rated_size(kind: str, design: Design) -> float:
    """The terabytes that correspond to the read rate of a storage system; 0 for other parts and for an unknown rate."""
    networks = design.spec.cluster.networks if design.spec.cluster is not None else None
    read = networks.storage.read if networks is not None and networks.storage is not None else None
    return TB_PER_RATE * read.value / (8 * GIGABIT) if kind == "storage" and read is not None else 0.0


def _priced_amount(kind: str, design: Design, rate: float) -> float | None:
    """The amount of the price's measure in one part or in all parts; None if the design does not state it."""
    cluster, written = design.cluster, design.spec.cluster
    assert cluster is not None
    fabric = cluster.scale_out
    if kind.endswith("_switch"):
        switch = fabric.switch if fabric else None
        if switch is None or switch.ports is None or switch.port_bandwidth is None:
            return None
        return switch.ports * switch.port_bandwidth.value / GIGABIT
    if kind in {"nic", "transceiver", "cable"}:
        return fabric.nic_bandwidth.value / GIGABIT if fabric else None
    if kind == "storage":
        store = written.networks.storage if written and written.networks else None
        return store.capacity.value / TB if store and store.capacity else None
    if kind == "rack_per_month":
        drawn = rack_power(cluster, written.power) if written and written.power else None
        return drawn / KW if drawn else None
    total = bill(design).total
    return total.low / rate if total else None


MINOR, MINOR_OF_SWITCH = 0.01, 0.03
"""Shares of the quote below which missing cables and modules do not justify a second quote, by judgment; those of a single switch are
often delivered with it.
"""


def is_minor_cabling(
    missing: Mapping[str, int], design: Design, procurement: ProcurementSpec | None, switches: int
) -> bool:
    """Whether only cables and modules are missing, and their usual prices are a minor part of the quote of a fabric with some
    ``switches``.
    """
    if procurement is None:
        return False
    cost, amount = usual_cost(missing, design, procurement.currency), amount_of_quote(procurement) or 0.0
    return cost is not None and cost < (MINOR_OF_SWITCH if switches == 1 else MINOR) * amount
