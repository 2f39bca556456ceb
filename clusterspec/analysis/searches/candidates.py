"""The candidates of a search for a machine: platforms and specs, with their sizes, fabrics and prices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

from clusterspec import document as documents
from clusterspec.analysis.searches.studied import KEPT_KEYS, present_section
from clusterspec.catalog.entries import Interconnect, Platform
from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import Changes
from clusterspec.cost.parameters import model_flops_per_token
from clusterspec.document.conforms import Schema
from clusterspec.records import dataclass, field
from clusterspec.source import Path as KeyPath
from clusterspec.spec import schema
from clusterspec.studies import Study, variation

MOST_ACCELERATORS = 4096
"""Accelerators of the largest size that is tried by default."""
LEAST_MFU = 0.2
"""The MFU below which a training run needs a larger size than those tried by default."""
SIZES = 6
"""Sizes that are tried by default for each candidate and fabric."""
OF_ONE_MACHINE = ("node", "node_hour", "support_per_year")
"""Prices that hold only for the machine that they are stated for."""
OF_ONE_QUOTE = ("quote", "quoted_total", "payment", "delivery")
"""Keys of `procurement` about one offer."""
Section = Mapping[str, Any]


class MachineFault(ValueError):
    """Raised for a candidate, a fabric or a price file that cannot be used, with a one-line reason."""


@dataclass(frozen=True)
class Limits:
    """The limits of a machine: ``within`` seconds for the run, ``budget`` in the currency of the spec, ``power`` in
    watts. Latency targets are in the spec.
    """

    within: float | None = None
    budget: float | None = None
    power: float | None = None


@dataclass(frozen=True)
class Candidate:
    """A machine of any size: its name, its `cluster` section, and the other sections of its spec."""

    name: str
    cluster: Section
    layout: Section = field(default_factory=dict)
    procurement: Section = field(default_factory=dict)
    measured: object = None
    nodes: int | None = None
    """The size that its spec states."""


@dataclass(frozen=True)
class Prices:
    """The prices of a file: of all machines, and of some by their platform or accelerator."""

    shared: Section = field(default_factory=dict)
    machines: Mapping[str, Section] = field(default_factory=dict)
    currency: str | None = None
    as_of: str | None = None


@dataclass(frozen=True)
class Machine:
    """One machine to compare: a candidate with a size and a fabric (empty: its own), and the changes of the spec."""

    candidate: Candidate
    nodes: int
    fabric: str
    changes: Changes


# Candidates


def candidate_of_platform(name: str, work: Study) -> Candidate:
    """A platform of the catalog, with the other networks of the spec. Raises `MachineFault`."""
    platform = work.settings.catalog.find("platform", name)
    if not isinstance(platform, Platform):
        near = work.settings.catalog.nearest_ids("platform", name)
        meant = f"; did you mean {' or '.join(near)}?" if near else ": `clusterspec catalog list` lists platforms"
        raise MachineFault(f"no platform and no file is called {name!r}{meant}")
    own = section_of_spec(work, "cluster")
    if own.get("platform") == name:
        return Candidate(name, own, present_section(work), {}, measured_section(work))
    return Candidate(name, {"platform": name} | {key: own[key] for key in ("networks",) if key in own})


def candidate_of_spec(name: str, study: Study) -> Candidate:
    """The machine of a spec. Raises `MachineFault` if it describes no machine, or several."""
    cluster = section_of_spec(study, "cluster")
    if not cluster:
        raise MachineFault(f"{name}: describes no `cluster`, so it cannot be compared as a machine")
    nodes = study.design.cluster.nodes if study.design.cluster else None
    return Candidate(
        name, cluster, present_section(study), section_of_spec(study, "procurement"), measured_section(study), nodes
    )


def measured_section(study: Study) -> object:
    """The section `measured` of a spec; None without one."""
    return study.document.value.get("measured") if study.document else None


def section_of_spec(study: Study, key: str) -> dict[str, Any]:
    """A section of the spec as written; empty if it has none."""
    value = study.document.value if study.document else None
    section = value.get(key) if isinstance(value, dict) else None
    return dict(section) if isinstance(section, dict) else {}


# Machines: candidates × sizes × fabrics


def candidate_machine(work: Study, candidate: Candidate, nodes: int, fabric: str, prices: Prices) -> Machine:
    """A machine as changes of the spec of the work. The layout keeps its framework and loses its degrees."""
    written = candidate.layout or present_section(work)
    kept = {key: written[key] for key in KEPT_KEYS if key in written and not key.startswith("nodes")}
    changes: dict[KeyPath, object] = {
        ("cluster",): _with_size(candidate.cluster, nodes, fabric),
        ("layout",): kept,
        ("measured",): candidate.measured,
        ("acceptance",): None,
        ("procurement",): _candidate_procurement(work, candidate, prices) or None,
    }
    return Machine(candidate, nodes, fabric, changes)


def _with_size(cluster: Section, nodes: int, fabric: str) -> Section:
    """The `cluster` section with another number of nodes, and another fabric if one is given: ``roce``, or ``roce@2:1``
    with oversubscription.
    """
    changed = {key: value for key, value in cluster.items() if key != "accelerators"} | {"nodes": nodes}
    if not fabric:
        return changed
    technology, _, taper = fabric.partition("@")
    dropped = {"technology", "switch", "switch_ports", "nic", "oversubscription", "tiers", "levels", *STATED_COUNTS}
    own = cluster.get("scale_out")
    kept = {key: value for key, value in own.items() if key not in dropped} if isinstance(own, dict) else {}
    if kept.get("technology") != technology:
        kept.pop("nic_bandwidth", None)
    return changed | {"scale_out": kept | {"technology": technology} | ({"oversubscription": taper} if taper else {})}


STATED_COUNTS = ("leaf_switches", "spine_switches", "core_switches", "transceivers", "links", "cables", "optics")
"""Keys of `scale_out` that count or name parts of one fabric."""


def _candidate_procurement(work: Study, candidate: Candidate, prices: Prices) -> Section:
    """The procurement terms for a candidate, with the prices that apply to it; the most specific prices win."""
    own, other = section_of_spec(work, "procurement"), candidate.procurement
    terms = {key: value for key, value in {**own, **other}.items() if key not in {"prices", *OF_ONE_QUOTE}}
    terms |= {key: value for key in ("currency", "as_of") if (value := getattr(prices, key))}
    same = candidate.cluster.get("platform") == section_of_spec(work, "cluster").get("platform", "")
    stated = {
        key: value for key, value in _mapping_or_empty(own.get("prices")).items() if same or key not in OF_ONE_MACHINE
    }
    names = (candidate.cluster.get("accelerator"), candidate.cluster.get("platform"), candidate.name)
    filed = [prices.machines[name] for name in names if isinstance(name, str) and name in prices.machines]
    found: dict[str, Any] = {}
    for section in (stated, prices.shared, *filed, _mapping_or_empty(other.get("prices"))):
        found |= section
    return terms | ({"prices": found} if found else {})


def currency_of_all(work: Study, candidates: Sequence[Candidate], prices: Prices) -> str:
    """The currency of all prices; empty if none is stated. Raises `MachineFault` where there are several."""
    stated = {work.source.name: section_of_spec(work, "procurement").get("currency"), "the price file": prices.currency}
    stated |= {each.name: each.procurement.get("currency") for each in candidates if each.procurement}
    named = {currency: name for name, currency in stated.items() if currency}
    if len(named) > 1:
        (first, one), (second, other) = [*named.items()][:2]
        raise MachineFault(f"{one} has prices in {first} and {other} in {second}: state all in one currency")
    return str(next(iter(named), ""))


def _mapping_or_empty(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def check_fabric(name: str, work: Study) -> None:
    """Raises `MachineFault` for a fabric whose technology is not in the catalog."""
    technology = name.partition("@")[0]
    entry = work.settings.catalog.find("interconnect", technology)
    if not isinstance(entry, Interconnect):
        near = work.settings.catalog.nearest_ids("interconnect", technology)
        raise MachineFault(
            f"--fabrics {name}: no such technology; did you mean {' or '.join(near) or 'infiniband-ndr'}?"
        )


def default_sizes(work: Study, candidate: Candidate, fabric: str, prices: Prices, limits: Limits) -> list[int]:
    """The sizes of a candidate to try, in whole domains.

    The sizes range from the size that would meet the time limit at 100 % MFU to the size at `LEAST_MFU`, within budget
    and power; sizes near the middle of this range are tried. A spec without a time limit has its own size. Raises
    `MachineFault` where nothing limits the size of a platform.
    """
    design = variation.rewritten_study(work, candidate_machine(work, candidate, 1, fabric, prices).changes).design
    cluster = design.cluster
    if cluster is None:
        return [1]
    unit = nodes_of_domain_of_platform(design, cluster.platform)
    most = max(unit, MOST_ACCELERATORS // cluster.accelerators_per_node)
    bounds = [_affordable_nodes(design, limits), _powered_nodes(design, limits)]
    allowed = min([most, *(bound for bound in bounds if bound is not None)])
    least = _minimum_nodes(design, limits)
    if least is None and candidate.nodes is not None:
        return [candidate.nodes]
    if least is None and allowed == most and not _is_serving(design):
        raise MachineFault(
            f"{candidate.name}: nothing limits its size: state --nodes, --within, --budget or --max-power"
        )
    first = least if least is not None else max(1, allowed // 16)
    last = min(allowed, ceil(first / LEAST_MFU)) if least is not None else allowed
    if _is_serving(design):
        return [max(1, allowed // unit) * unit]
    return _spread_sizes(first, max(last, first), unit)


def nodes_of_domain_of_platform(design: Design, platform: Platform | None) -> int:
    """The number of nodes that are sold together: the nodes of one scale-up domain."""
    from clusterspec.cluster.degrees import nodes_of_rack

    if design.cluster is None:
        return 1
    return max(nodes_of_domain(design.cluster), nodes_of_rack(platform) if platform else 1)


def _is_serving(design: Design) -> bool:
    return design.workload is not None and design.workload.kind == "serve"


def _minimum_nodes(design: Design, limits: Limits) -> int | None:
    """The nodes that meet the time limit if every accelerator ran at its peak; None without a limit or a run."""
    work, cluster = design.workload, design.cluster
    if limits.within is None or work is None or cluster is None or not work.tokens or work.peak is None:
        return None
    flops = model_flops_per_token(work.model, work.sequence_length) * work.tokens
    return max(1, ceil(flops / limits.within / work.peak.value / cluster.accelerators_per_node))


def _affordable_nodes(design: Design, limits: Limits) -> int | None:
    """The nodes that the budget buys; None if price or budget is not known."""
    prices = (design.spec.procurement.prices if design.spec.procurement else None) or {}
    price = prices.get("node")
    low = price[0] if isinstance(price, tuple) else price
    return max(1, int(limits.budget // low)) if limits.budget and low else None


def _powered_nodes(design: Design, limits: Limits) -> int | None:
    """The nodes that the power limit feeds; None if it or the power of a node is not known."""
    power = design.cluster.node_power if design.cluster else None
    return max(1, int(limits.power // power.value)) if limits.power and power and power.value else None


def _spread_sizes(first: int, last: int, unit: int) -> list[int]:
    """Sizes from ``first`` to ``last`` in whole units that divide well, at most `SIZES`, and ``last``.

    >>> _spread_sizes(45, 225, 1), _spread_sizes(1, 1, 1), _spread_sizes(20, 60, 18)
    ([48, 64, 96, 128, 192, 224], [1], [36, 54])
    """
    low, high = ceil(first / unit), max(ceil(first / unit), last // unit)
    even = next(step for step in (8, 4, 2, 1) if high >= 8 * step or step == 1)
    high = max(low, high - high % even)
    whole = sorted({factor << power for power in range(high.bit_length()) for factor in (1, 3)})
    inside = [size for size in whole if low <= size <= high]
    if len(inside) > SIZES:
        inside = [inside[round(index * (len(inside) - 1) / (SIZES - 1))] for index in range(SIZES)]
    return [size * unit for size in sorted({*inside, high})]


def bisecting_sizes(rows: Sequence[tuple[int, bool]], unit: int) -> Iterator[int]:
    """Up to three sizes between the largest size that misses the time limit and the smallest that meets it.

    >>> list(bisecting_sizes([(48, False), (64, True), (96, True)], 1))
    [52, 56, 60]
    >>> list(bisecting_sizes([(36, False), (108, True)], 18)), list(bisecting_sizes([(2, False), (4, True)], 1))
    ([54, 72, 90], [3])
    """
    least = min((size for size, meets in rows if meets), default=None)
    below = [size for size, meets in rows if not meets and least is not None and size < least]
    if least is None or not below:
        return
    low, gap = max(below), (least - max(below)) // unit
    tried = sorted({low + unit * (gap * part // 4) for part in (1, 2, 3)})
    yield from (size for size in tried if low < size < least)


# Price files


def read_prices(path: Path) -> Prices:
    """The prices of a file: `currency`, `as_of`, `prices` of all machines, `machines` with the prices of each platform.

    Raises `MachineFault` with file, line and column, and `OSError` where the file cannot be read.
    """
    source = documents.decode(str(path), documents.read_bytes(path))
    document, problems = documents.parse(source)
    if document is not None:
        problems = [*problems, *documents.validate(document, price_schema())]
    if document is None or problems:
        told = documents.to_finding(problems[0], document, source)
        at, advice = told.span.start, f"; {told.help}" if told.help else ""
        raise MachineFault(f"{source.name}:{at.line}:{at.column}: {told.message}{advice}")
    value: dict[str, Any] = document.value
    return Prices(value.get("prices", {}), value.get("machines", {}), value.get("currency"), value.get("as_of"))


def price_schema() -> Schema:
    """The schema of a price file, from the keys of `procurement`."""
    keys = schema()["properties"]["procurement"]["properties"]
    machines = {"type": "object", "additionalProperties": keys["prices"]}
    shared = {name: keys[name] for name in ("currency", "as_of", "prices")}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": shared | {"machines": machines},
        "$defs": schema()["$defs"],
    }
