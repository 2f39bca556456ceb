"""The usual range of every quantity of a spec, and stated values outside it.

A range covers published and sold machines, runs and contracts. Ranges are wide: a value outside is more often a wrong
unit, a wrong prefix or an inverted ratio than a new record.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.quantity import DAY, HOUR, YEAR, Quantity
from clusterspec.records import dataclass, fields, is_dataclass, replace
from clusterspec.source import Path
from clusterspec.spec.model import Spec
from clusterspec.units import display, display_bits, plain

GB, TB, KW = 1e9, 1e12, 1e3
UNITS_PER_DOLLAR = {
    "USD": 1.0, "EUR": 0.9, "GBP": 0.77, "CHF": 0.85, "CAD": 1.38, "AUD": 1.52, "SGD": 1.32, "NZD": 1.7,
    "JPY": 150.0, "CNY": 7.1, "INR": 87.0, "KRW": 1400.0, "TWD": 31.0, "SEK": 10.0, "NOK": 10.5, "DKK": 6.8, "PLN": 3.8,
    "CZK": 21.0, "HUF": 340.0, "RON": 4.4, "TRY": 42.0, "ILS": 3.4, "AED": 3.67, "SAR": 3.75, "QAR": 3.64, "KWD": 0.307,
    "BHD": 0.376, "OMR": 0.385, "THB": 33.0, "PHP": 58.0, "MYR": 4.2, "IDR": 16_500.0, "VND": 26_000.0, "HKD": 7.8,
    "KZT": 520.0, "UAH": 42.0, "ZAR": 17.5, "BRL": 5.4, "MXN": 18.5, "CLP": 950.0, "COP": 4_000.0, "PKR": 281.0,
}  # fmt: skip
"""Rough exchange rates of 2025 and 2026. They place a price within the right magnitude, and no sum uses them."""
RATE_CHANGE = 1.5
"""Factor by which the exchange rate may differ from the one that converts the price ranges."""
GIGABIT = 1e9 / 8
"""B/s of 1 Gb/s."""


@dataclass(frozen=True)
class UsualRange:
    """The usual range of one key in SI units; bandwidths are per direction, ratios are down : up."""

    low: float
    high: float
    unit: str
    hint: str
    """The advice for a value outside the range."""
    priced: bool = False
    """Whether the range is in US dollars; in other currencies it is half as wide again on both sides, because exchange
    rates change.
    """
    limit: float | None = None
    """Factor beyond the range at which a value cannot be right; None where new parts may exceed the range."""


def _count_range(low: float, high: float, hint: str) -> UsualRange:
    return UsualRange(low, high, "1", hint)


def _time_range(low: float, high: float, hint: str = "check the unit") -> UsualRange:
    return UsualRange(low, high, "s", hint)


def _price_range(low: float, high: float) -> UsualRange:
    return UsualRange(low, high, "1", "check the figure and the part it is for", priced=True)


_NETWORK = "check bits and bytes, and the prefix"
_METRES = "give the longest run of a level in metres"
_SLOTS = "count the sequences of one engine: 64 to 1,024 is usual"
_BUDGET = "give the power of all IT equipment"
RANGES: dict[str, UsualRange] = {
    "cluster.nodes": _count_range(1, 100_000, "count nodes, not accelerators"),
    "cluster.accelerators_per_node": _count_range(1, 72, "count the accelerators of one operating-system image"),
    "cluster.accelerator.memory": UsualRange(1 * GB, 4 * TB, "B", "give the memory of one accelerator"),
    "cluster.accelerator.memory_bandwidth": UsualRange(20 * GB, 30_000 * TB, "B/s", _NETWORK),
    "cluster.accelerator.power": UsualRange(10, 50 * KW, "W", "give the power of one accelerator"),
    "cluster.host_memory": UsualRange(32 * GB, 16 * TB, "B", "give the memory of one node", limit=10),
    "cluster.scale_up.domain": _count_range(1, 16_384, "count accelerators"),
    "cluster.scale_up.oversubscription": UsualRange(0.5, 16, ":1", "write down : up"),
    "cluster.scale_out.nics_per_node": _count_range(1, 64, "count the NICs of one node"),
    "cluster.scale_out.oversubscription": UsualRange(0.5, 16, ":1", "write down : up, such as 4:1"),
    "cluster.scale_out.levels.oversubscription": UsualRange(0.5, 16, ":1", "write down : up, such as 4:1"),
    "cluster.scale_out.planes": _count_range(1, 16, "count independent fabrics"),
    "cluster.scale_out.switch_ports": _count_range(8, 1024, "count ports after breakout"),
    "cluster.scale_out.distance.node_leaf": UsualRange(0.1, 2e3, "m", _METRES, limit=10),
    "cluster.scale_out.distance.leaf_spine": UsualRange(0.1, 2e3, "m", _METRES, limit=10),
    "cluster.scale_out.distance.spine_core": UsualRange(0.1, 10e3, "m", _METRES, limit=10),
    "cluster.scale_out.links_per_cable.node_leaf": _count_range(1, 16, "count links of NICs in one cable"),
    "cluster.scale_out.links_per_cable.leaf_spine": _count_range(1, 16, "count links of NICs in one cable"),
    "cluster.scale_out.links_per_cable.spine_core": _count_range(1, 16, "count links of NICs in one cable"),
    "cluster.host.memory_bandwidth": UsualRange(10 * GB, 6 * TB, "B/s", "give the bandwidth of the memory of one host"),
    "cluster.host.numa_nodes": _count_range(1, 32, "count the NUMA nodes of one host"),
    "cluster.networks.frontend.nics_per_node": _count_range(1, 8, "count the ports of one node"),
    "cluster.networks.storage.nics_per_node": _count_range(1, 16, "count the ports of one node"),
    "cluster.networks.out_of_band.nics_per_node": _count_range(1, 8, "count the ports of one node"),
    "cluster.networks.frontend.nic_bandwidth": UsualRange(GIGABIT, 800 * GIGABIT, "b/s", _NETWORK),
    "cluster.networks.storage.nic_bandwidth": UsualRange(GIGABIT, 800 * GIGABIT, "b/s", _NETWORK),
    "cluster.networks.out_of_band.nic_bandwidth": UsualRange(GIGABIT / 10, 50 * GIGABIT, "b/s", _NETWORK),
    "cluster.networks.storage.bandwidth": UsualRange(0.1 * GB, 100 * TB, "B/s", _NETWORK),
    "cluster.networks.storage.read": UsualRange(0.1 * GB, 200 * TB, "B/s", _NETWORK),
    "cluster.networks.storage.per_client": UsualRange(0.01 * GB, 1 * TB, "B/s", _NETWORK),
    "cluster.networks.storage.metadata_rate": UsualRange(10, 1e9, "1", "count files opened in a second"),
    "cluster.networks.storage.capacity": UsualRange(100 * GB, 10e18, "B", "check the prefix", limit=10),
    "cluster.power.switch": UsualRange(20, 20 * KW, "W", "give the power of one switch"),
    "cluster.power.cdus.capacity": UsualRange(20 * KW, 20_000 * KW, "W", "give the heat that one unit takes up"),
    "cluster.power.pdus.voltage": UsualRange(
        90, 1000, "V", "give the voltage of one unit, between two phases with three"
    ),
    "cluster.power.pdus.current": UsualRange(5, 400, "A", "give the current of one breaker"),
    "cluster.power.pdus.derating": UsualRange(
        0.5, 1, "1", "give the share of the rating that a load may take: 0.8 or 1"
    ),
    "cluster.power.cdus.count": _count_range(1, 10_000, "give the number of units of the loop"),
    "cluster.power.rack_limit": UsualRange(1 * KW, 1500 * KW, "W", "give the limit of one rack"),
    "cluster.power.rack_overhead": UsualRange(0, 300 * KW, "W", "give the power of a rack without its nodes"),
    "cluster.power.nodes_per_rack": _count_range(1, 256, "count nodes, not accelerators"),
    "cluster.power.row_limit": UsualRange(2 * KW, 30_000 * KW, "W", "give the limit of one row"),
    "cluster.power.budget": UsualRange(0.1 * KW, 5e9, "W", _BUDGET),
    "cluster.power.supplies.power": UsualRange(0.1 * KW, 40 * KW, "W", "give the power of one supply"),
    "cluster.power.supplies.count": _count_range(1, 200, "count the supplies of one node"),
    "cluster.floor.rack_pitch": UsualRange(0.3, 3, "m", "give the distance between adjacent racks: 0.6 m is usual"),
    "cluster.floor.row_pitch": UsualRange(1.2, 30, "m", "give the distance between adjacent rows: 3 m is usual"),
    "cluster.floor.racks_per_row": _count_range(1, 200, "count the racks of one row"),
    "pool_links.bandwidth": UsualRange(GIGABIT / 10, 1e7 * GIGABIT, "b/s", _NETWORK),
    "pool_links.latency": _time_range(1e-7, 1.0, "light needs 5 us for each km of fiber"),
    "workload.sequence_length": _count_range(64, 20_000_000, "count tokens"),
    "workload.global_batch": UsualRange(1, 200_000, "1", "count sequences, not tokens", limit=10),
    "workload.tokens": UsualRange(1e6, 2e14, "1", "check the suffix (B, T)"),
    "workload.dataset_tokens": UsualRange(1e5, 2e14, "1", "check the suffix (B, T)"),
    "workload.dataset_files": UsualRange(1, 1e13, "1", "check the suffix (M, B)"),
    "workload.dataset_token_bytes": UsualRange(0.1, 1e6, "1", "count the bytes of one token"),
    "workload.expected_mfu": UsualRange(0.02, 1, "1", "write a share: 40 % is 0.4"),
    "workload.trainable.rank": _count_range(1, 1024, "8 to 256 is usual"),
    "workload.predicted_layers": _count_range(1, 8, "one layer is usual, and up to four are published"),
    "workload.rl.turns": _count_range(1, 1000, "count the messages of one sample"),
    "workload.rl.environment_time": _time_range(1e-4, 4 * HOUR, "give the time of one turn"),
    "workload.rl.epochs": _count_range(1, 20, "count the passes over one batch of samples"),
    "workload.rl.prompts_per_step": _count_range(1, 100_000, "count the prompts of one batch"),
    "workload.rl.samples_per_prompt": _count_range(1, 512, "count the samples of one prompt"),
    "workload.rl.max_staleness": _count_range(0, 64, "count steps"),
    "workload.rl.rollout.max_sequences": _count_range(1, 16_384, _SLOTS),
    "workload.rl.weight_sync.bucket": UsualRange(1e6, 100 * GB, "B", "check the prefix: 0.5 to 4 GiB is usual"),
    "workload.serving.input_tokens": _count_range(1, 20_000_000, "count tokens of one request"),
    "workload.serving.output_tokens": _count_range(1, 300_000, "count tokens of one request"),
    "workload.serving.session.turns": _count_range(1, 1000, "count the requests of one session"),
    "workload.serving.concurrency": _count_range(1, 2_000_000, "count requests in flight"),
    "workload.serving.max_sequences": _count_range(1, 16_384, _SLOTS),
    "workload.serving.redundant_experts": _count_range(
        0, 256, "count the copies of all layers' experts once: 32 is usual"
    ),
    "workload.serving.chunk_tokens": _count_range(16, 1_000_000, "count the tokens of one step"),
    "workload.serving.request_rate": UsualRange(1e-5, 1e6, "1", "count the requests of a second"),
    "workload.serving.session.think_time": _time_range(0.01, 7 * DAY, "give the time between two turns"),
    "workload.serving.scaling.cold_start": _time_range(1.0, 2 * HOUR, "an engine starts within seconds to minutes"),
    "workload.serving.scaling.ahead": _time_range(0.0, 24 * HOUR),
    "workload.serving.cache_tiers.read": UsualRange(0.05 * GB, 20 * TB, "B/s", _NETWORK),
    "workload.serving.cache_tiers.write": UsualRange(0.05 * GB, 20 * TB, "B/s", _NETWORK),
    "workload.serving.cache_tiers.writes_per_day": UsualRange(0.02, 100, "1", "drives are sold for 0.3 to 60 a day"),
    "workload.serving.disaggregated.transfer.block_tokens": _count_range(1, 8192, "count the tokens of one block"),
    "workload.serving.targets.itl": _time_range(0.0005, 60.0, "check ms and s"),
    "workload.serving.targets.end_to_end": _time_range(0.02, 7 * DAY, "check ms and s"),
    "workload.serving.targets.ttft": _time_range(0.005, 600.0, "check ms and s"),
    "workload.serving.targets.tpot": _time_range(0.0005, 5.0, "check ms and s"),
    "workload.serving.targets.percentile": _count_range(50, 100, "at 99, one request in 100 may be slower"),
    "layout.micro_batch": _count_range(1, 4096, "count sequences, not tokens"),
    "layout.gradient_compression": _count_range(1, 1000, "give the factor by which bytes are divided"),
    "operations.checkpoint_interval": _time_range(10.0, 14 * DAY),
    "operations.checkpoint_time": _time_range(0.0, 12 * HOUR),
    "operations.checkpoint.interval": _time_range(10.0, 14 * DAY),
    "operations.checkpoint.pause": _time_range(0.0, 12 * HOUR),
    "operations.checkpoint.write_time": _time_range(0.0, 12 * HOUR),
    "operations.mean_time_between_failures": _time_range(60.0, 20 * YEAR),
    "operations.node_mtbf": _time_range(1 * DAY, 100 * YEAR, "give the time between failures of one node"),
    "operations.restart_time": _time_range(0.0, 2 * HOUR, "published restarts on spare nodes take minutes"),
    "operations.repair_time": _time_range(300.0, 180 * DAY, "give the time until a failed node works again"),
    "operations.detection_time": _time_range(0.0, 4 * HOUR, "give the time until a stopped job is noticed"),
    "operations.burn_in": _time_range(0.0, 90 * DAY),
    "operations.early_failures.ratio": _count_range(
        1, 30, "give the ratio of the rate in the first hours to the later rate"
    ),
    "operations.early_failures.half_life": _time_range(1 * HOUR, 2 * YEAR),
    "operations.stock.lead_time": _time_range(1 * HOUR, 2 * YEAR, "give the time until an ordered part arrives"),
    "operations.stock.percentile": UsualRange(0.5, 1, "1", "write a probability: 95 % is 0.95"),
    "operations.targets.goodput": UsualRange(0.3, 1, "1", "write a share: 90 % is 0.9"),
    "operations.checkpoint.keep": _count_range(
        1, 1000, "count the checkpoints that the storage system keeps at a time"
    ),
    "operations.power_budget": UsualRange(0.1 * KW, 5e9, "W", _BUDGET),
    "operations.carbon.intensity": UsualRange(
        0.005, 1.2, "1", "give kg of CO2 for one kWh: coal has about 1, most grids 0.03 to 0.7", limit=3
    ),
    "procurement.term": _time_range(1 * DAY, 15 * YEAR),
    "procurement.commitment": _time_range(1 * DAY, 15 * YEAR),
    "procurement.warranty": _time_range(0.0, 15 * YEAR),
    "procurement.support.term": _time_range(7 * DAY, 15 * YEAR, "give the years for which support is paid"),
    "procurement.support.response": _time_range(600.0, 90 * DAY, "give the time until a failed part is replaced"),
    "procurement.electricity": UsualRange(
        0.02, 0.6, "1", "give the price of one kWh: 14 cents are 0.14", True, limit=10
    ),
    "procurement.tariff.price": UsualRange(
        0.0, 0.6, "1", "give the price of one kWh: 14 cents are 0.14", True, limit=10
    ),
    "procurement.pue": UsualRange(1.0, 2.0, "1", "1.1 to 1.6 is usual"),
    "procurement.utilization": UsualRange(0.25, 1.0, "1", "hours without work are paid for; 0.6 to 0.9 is usual"),
    "procurement.discount": UsualRange(0.001, 0.6, "1", "write a share: 8 % is 0.08"),
    "procurement.tax": UsualRange(0.01, 0.3, "1", "write a share: 19 % is 0.19"),
    "procurement.delivery.weeks": _count_range(0, 156, "count weeks"),
    "procurement.prices.node": _price_range(1_000, 5_000_000),
    "procurement.prices.leaf_switch": _price_range(1_000, 500_000),
    "procurement.prices.spine_switch": _price_range(1_000, 500_000),
    "procurement.prices.core_switch": _price_range(1_000, 500_000),
    "procurement.prices.cable": _price_range(3, 6_000),
    "procurement.prices.transceiver": _price_range(20, 6_000),
    "procurement.prices.nic": _price_range(50, 8_000),
    "procurement.prices.node_hour": _price_range(0, 2_000),
    "procurement.prices.rack": _price_range(300, 200_000),
    "procurement.prices.rack_per_month": _price_range(100, 100_000),
    "procurement.prices.frontend_switch": _price_range(500, 300_000),
    "procurement.prices.frontend_cable": _price_range(2, 6_000),
    "procurement.prices.out_of_band_switch": _price_range(100, 60_000),
    "procurement.prices.out_of_band_cable": _price_range(1, 600),
    "acceptance.size": UsualRange(1, 10 * TB, "B", "check the prefix"),
    "acceptance.duration": _time_range(1.0, 90 * DAY),
    **{
        f"operations.failures.{part}.afr": UsualRange(
            1e-4, most, "1", "write failures of one part a year: 2 % is 0.02", limit=10
        )
        for most, parts in (
            (0.5, ("accelerator", "nic", "cable", "optic", "leaf", "spine", "core", "switch", "tray")),
            (20, ("node", "domain", "rack", "feed", "cdu", "store")),
        )
        for part in parts
    },
}
"""Usual ranges by dotted key, without list indices."""


@dataclass(frozen=True)
class UnusualValue:
    """A stated value outside its usual range; ``path`` is the key, with indices."""

    path: Path
    written: str
    value: float
    range: UsualRange

    @property
    def is_impossible(self) -> bool:
        """Whether the value cannot be right, because it is far beyond every market or machine."""
        limit = self.range.limit
        return limit is not None and (self.value >= limit * self.range.high or self.value * limit <= self.range.low)

    @property
    def range_text(self) -> str:
        """The range as text: `0.01 to 1`, `1 kW to 1.5 MW`, `1:2 to 16:1`."""
        return f"{_value_text(self.range.low, self.range.unit)} to {_value_text(self.range.high, self.range.unit)}"


def unusual_values(spec: Spec) -> Iterator[UnusualValue]:
    """Every stated value outside the usual range of its key."""
    currency = spec.procurement.currency if spec.procurement else None
    for path, stated in _written_values(spec, ()):
        usual = _range_of(path)
        if usual is not None and usual.priced:
            usual = _range_in_currency(usual, currency)
        if usual is None:
            continue
        value, written = _value_in_unit(stated, usual)
        if value and not usual.low <= value <= usual.high:
            yield UnusualValue(path, written, value, usual)


def _range_of(path: Path) -> UsualRange | None:
    """The range of a key; a percentile, a mean or a maximum has the range of its quantity."""
    keys = [key for key in path if isinstance(key, str)]
    last = keys[-1]
    if last in {"mean", "max"} or (last[0] == "p" and last[1:].replace("_", "").replace(".", "").isdecimal()):
        keys.pop()
    return RANGES.get(".".join(keys))


def _range_in_currency(usual: UsualRange, currency: str | None) -> UsualRange | None:
    """A range in US dollars, converted to another currency; None if the exchange rate is unknown."""
    rate = UNITS_PER_DOLLAR.get((currency or "USD").upper())
    if rate is None or 0.5 <= rate <= 2:
        return usual if rate is not None else None
    return replace(usual, low=usual.low * rate / RATE_CHANGE, high=usual.high * rate * RATE_CHANGE)


def _value_in_unit(stated: Quantity | float, usual: UsualRange) -> tuple[float, str]:
    """A stated value in the unit of its range, and the value as written."""
    if not isinstance(stated, Quantity):
        return float(stated), f"{stated:,}"
    value = stated.per_direction if stated.unit == "B/s" else stated.value
    return value, stated.written


def _written_values(node: object, path: Path) -> Iterator[tuple[Path, Quantity | float]]:
    """Every quantity and number in a part of a spec, with its path."""
    if isinstance(node, Quantity):
        yield path, node
    elif isinstance(node, bool) or node is None or isinstance(node, str):
        return
    elif isinstance(node, int | float):
        yield path, node
    elif isinstance(node, tuple):
        for index, inner in enumerate(node):
            yield from _written_values(inner, (*path, index))
    elif isinstance(node, dict):
        for key, inner in node.items():
            yield from _written_values(inner, (*path, str(key)))
    elif is_dataclass(node):
        for field in fields(node):
            inner = getattr(node, field.name)
            if inner is not None:  # as most are
                yield from _written_values(inner, (*path, field.name))


def _value_text(value: float, unit: str) -> str:
    if unit == ":1":
        return f"{plain(value)}:1" if value >= 1 else f"1:{plain(1 / value)}"
    if unit == "b/s":
        return display_bits(value)
    return plain(value) if unit == "1" and value < 1 else display(value, unit)


def is_in_another_currency(currency: str | None, words: str) -> bool:
    """Whether words name another currency than the one of the keys by its code.

    >>> is_in_another_currency("EUR", "0.62 NOK per kWh"), is_in_another_currency("EUR", "0.19 EUR per kWh")
    (True, False)
    """
    codes = {each for each in words.split() if each in UNITS_PER_DOLLAR}
    return currency is not None and bool(codes) and currency not in codes
