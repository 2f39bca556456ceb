"""Scale-up links of a node: domains, topology, line rates, and the catalog entries of part names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations, product

from clusterspec.exchange.import_result import ImportBuilder
from clusterspec.records import dataclass

# Scale-up links between the accelerators of a node: domains, topology, links per accelerator

MOST_LINKS = 18
"""NVLinks of one accelerator in generations 4 and 5. If the links to all peers add up to more, there is a switch.

Source: NVIDIA, H100 and B200 data sheets (18 links each); A100 has 12, V100 has 6.
"""
SWITCHED_COUNTS = {6, 12, 18, 36}
"""Total links of one accelerator, by generation. Between only two accelerators they may use a switch or a bridge."""

Pair = tuple[str, str]


@dataclass(frozen=True)
class NodeLinks:
    """Accelerators in file order, and the number of links between pairs of them, in either order.

    ``switched`` is set if the file states that links end in switches; ``own`` then has the links of each accelerator.
    """

    accelerators: tuple[str, ...]
    pairs: Mapping[Pair, int]
    switched: bool = False
    own: Mapping[str, int] | None = None

    def link_count_between(self, one: str, other: str) -> int:
        return self.pairs.get((one, other), 0) or self.pairs.get((other, one), 0)

    @property
    def edges(self) -> int:
        """The pairs of accelerators that are connected by links."""
        return sum(1 for one, other in combinations(self.accelerators, 2) if self.link_count_between(one, other))

    def domains(self) -> list[tuple[str, ...]]:
        """The connected groups of accelerators."""
        left, found = list(self.accelerators), []
        while left:
            group, waiting = {left[0]}, [left[0]]
            while waiting:
                one = waiting.pop()
                new = {other for other in left if other not in group and self.link_count_between(one, other)}
                group |= new
                waiting += sorted(new)
            found.append(tuple(each for each in left if each in group))
            left = [each for each in left if each not in group]
        return found

    def complete(self, group: tuple[str, ...]) -> bool:
        return all(self.link_count_between(one, other) for one, other in combinations(group, 2))

    def counts(self, group: tuple[str, ...]) -> set[int]:
        """The distinct numbers of links between pairs of a group."""
        return {self.link_count_between(one, other) for one, other in combinations(group, 2)} - {0}

    def topology(self, group: tuple[str, ...]) -> str | None:
        """The topology of a domain, as a value of `cluster.scale_up.topology`; None if it is ambiguous."""
        if self.switched:
            return "switched"
        size, counts = len(group), self.counts(group)
        if size == 1:
            return "pcie"
        each = counts.pop() if len(counts) == 1 else 0
        if size == 2:
            return "switched" if each >= MOST_LINKS else None if self._pair_may_be_switched(each) else "bridge"
        if not self.complete(group):
            return "partial-mesh"
        return "switched" if (size - 1) * each > MOST_LINKS else "full-mesh"

    def _pair_may_be_switched(self, count: int) -> bool:
        """Whether a pair with this many links may be part of a node with switches; otherwise it has a bridge."""
        return len(self.accelerators) == 2 and count in SWITCHED_COUNTS

    def per_accelerator(self, one: str, group: tuple[str, ...]) -> int:
        """Number of links of one accelerator: with switches, the links to any one peer; else the sum over all peers."""
        if self.own is not None:
            return self.own.get(one, 0)
        counts = [self.link_count_between(one, other) for other in group if other != one]
        return max(counts, default=0) if self.topology(group) == "switched" else sum(counts)


def record_links(links: NodeLinks, builder: ImportBuilder, line: int, halves: int = 1) -> None:
    """Record the scale-up part of the cluster from a node's links; ``halves`` counts the devices per accelerator."""
    groups = links.domains()
    sizes = {len(group) for group in groups}
    numbers = [links.per_accelerator(one, group) for group in groups for one in group]
    if len(set(numbers)) == 1:
        builder.count("links_per_accelerator", numbers[0], line)
    elif numbers:
        builder.count("links_per_accelerator", f"{min(numbers)} to {max(numbers)}", line)
    builder.count("edges", links.edges, line)
    builder.count("domains", len(groups), line)
    if len(sizes) > 1:
        builder.unknown("cluster.scale_up", f"domains of different sizes: {sorted(sizes)} accelerators", line)
        return
    topologies = {links.topology(group) for group in groups}
    size, topology = sizes.pop(), topologies.pop()
    if topologies:
        builder.unknown("cluster.scale_up.topology", "the domains have different topologies", line)
    elif topology is None:
        builder.unknown(
            "cluster.scale_up.topology", "two accelerators with all their links: a bridge or a switch", line
        )
    else:
        builder.set("cluster.scale_up.topology", topology, line)
    builder.set("cluster.scale_up.domain", max(1, size // halves), line)


# Line rates and PCIe speeds as tools print them, and their technologies

GENERATIONS = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6, 128.0: 7}
"""PCIe generation by GT/s of a lane. Source: PCI-SIG, PCI Express base specifications."""
INFINIBAND = {
    "SDR": (2.5, "infiniband-sdr"),
    "DDR": (5.0, "infiniband-ddr"),
    "QDR": (10.0, "infiniband-qdr"),
    "FDR10": (10.3125, "infiniband-fdr10"),
    "FDR": (14.0625, "infiniband-fdr"),
    "EDR": (25.0, "infiniband-edr"),
    "HDR": (50.0, "infiniband-hdr"),
    "NDR": (100.0, "infiniband-ndr"),
    "XDR": (200.0, "infiniband-xdr"),
}
"""Gb/s of one lane and the technology, by its name. Source: InfiniBand Trade Association, roadmap."""
_BY_RATE = {100: "infiniband-edr", 200: "infiniband-hdr", 400: "infiniband-ndr", 800: "infiniband-xdr"}
_EFA = {"efa-efa0": "efa-v1", "efa-efa1": "efa-v2", "efa-efa2": "efa-v3", "efa-efa3": "efa-v4"}
"""EFA generation by PCI device. Source: Linux, drivers/infiniband/hw/efa/efa_main.c, and AWS instance types."""
FASTEST = 3200
"""Gb/s; no port of a NIC is faster."""


def gigabits(megabits: float) -> float:
    """Gb/s from Mb/s."""
    return megabits / 1000


def rate_text(rate: float) -> str:
    """A line rate in Gb/s as text for a spec.

    >>> rate_text(400.0), rate_text(14.0625)
    ('400 Gb/s', '14.0625 Gb/s')
    """
    return f"{rate:.6g} Gb/s"


def technology_of(rate: float | None, family: str) -> str | None:
    """The catalog id of a scale-out technology by family and line rate in Gb/s; None if there is none."""
    if family.startswith("efa"):
        return _EFA.get(family)
    if family == "infiniband":
        return _BY_RATE.get(round(rate)) if rate else None
    return {"roce": "roce-v2", "slingshot": "slingshot-11"}.get(family)


def set_rate(rate: float | None, family: str, builder: ImportBuilder, line: int) -> None:
    """Set the rate (Gb/s) and technology of the scale-out NICs; an impossible rate is recorded as unknown."""
    if rate is not None and not 0 < rate <= FASTEST:
        why = "no port is that fast: the figure is not in Mb/s"
        builder.unknown(f"cluster.scale_out.nic_bandwidth of {rate:,.0f} Gb/s", why, line)
        rate = None
    if rate is not None:
        builder.set("cluster.scale_out.nic_bandwidth", rate_text(rate), line)
    technology = technology_of(rate, family)
    if technology:
        builder.set("cluster.scale_out.technology", technology, line)
    else:
        builder.unknown("cluster.scale_out.technology", "the file does not name it", line)


# Part names as tools print them, and their catalog entries; other names stay unknown

PCI_ACCELERATORS = {
    "10de:20b0": "a100-sxm-40gb",
    "10de:20b2": "a100-sxm-80gb",
    "10de:20b1": "a100-pcie-40gb",
    "10de:20b5": "a100-pcie-80gb",
    "10de:20f1": "a100-pcie-40gb",
    "10de:20f3": "a800-sxm-80gb",
    "10de:2330": "h100-sxm-80gb",
    "10de:2331": "h100-pcie-80gb",
    "10de:2321": "h100-nvl-94gb",
    "10de:2324": "h800-sxm-80gb",
    "10de:2329": "h20-96gb",
    "10de:232c": "h20-141gb",
    "10de:2335": "h200-sxm-141gb",
    "10de:233b": "h200-nvl-141gb",
    "10de:2901": "b200-sxm-180gb",
    "10de:3182": "b300-sxm-288gb",
    "10de:2941": "gb200",
    "10de:31c2": "gb300",
    "10de:2342": "gh200-96gb",
    "10de:2348": "gh200-144gb",
    "10de:1db1": "v100-sxm-16gb",
    "10de:1db5": "v100-sxm-32gb",
    "10de:1db8": "v100-sxm-32gb",
    "10de:15f9": "p100-sxm-16gb",
    "10de:1eb8": "t4",
    "10de:20b7": "a30",
    "10de:2235": "a40",
    "10de:2236": "a10",
    "10de:2237": "a10g",
    "10de:26b5": "l40",
    "10de:26b9": "l40s",
    "10de:27b8": "l4",
    "10de:2b85": "rtx-5090",
    "10de:2bb1": "rtx-pro-6000-workstation",
    "10de:2bb5": "rtx-pro-6000",
    "10de:2684": "rtx-4090",
    "10de:26b1": "rtx-6000-ada",
    "1002:7408": "mi250x",
    "1002:74a0": "mi300a",
    "1002:74a1": "mi300x",
    "1002:74b5": "mi300x",
    "1002:74a5": "mi325x",
    "1002:74b9": "mi325x",
    "1002:75a0": "mi350x",
    "1002:75a3": "mi355x",
    "1da3:1020": "gaudi2",
    "1da3:1060": "gaudi3",
    "1da3:1063": "gaudi3-pcie",
    "1da3:1000": "gaudi1",
}
"""Vendor and device in hexadecimal. Source: pciutils/pciids, pci.ids, and the entries of the catalog."""
PCI_NAMES = {
    "10de:20b3": "A100 SXM 64 GB",
    "10de:20bd": "A800 SXM4 40 GB",
    "10de:2322": "H800 PCIe",
    "10de:2339": "H100 SXM5 94 GB",
    "10de:1db4": "V100 PCIe 16 GB",
    "10de:1db6": "V100 PCIe 32 GB",
    "10de:2bb4": "RTX PRO 6000 Blackwell Max-Q",
    "1002:740c": "MI250 or MI250X",
    "1002:740f": "MI210",
    "1002:738c": "MI100",
    "1002:74a2": "MI308X",
    "1002:74a9": "MI300X HF",
    "1002:74bd": "MI300X HF",
}
"""Parts with a known name that have no catalog entry, or whose id fits several entries."""
PCI_NICS = {
    "15b3:1017": "connectx-5",
    "15b3:1019": "connectx-5",
    "15b3:101b": "connectx-6",
    "15b3:1021": "connectx-7",
    "15b3:1023": "connectx-8",
    "15b3:a2dc": "bluefield-3",
    "14e4:1760": "thor-2",
    "17db:0501": "slingshot-cassini",
}
_PRODUCTS = (
    (r"\bH100(?: 80GB HBM3|[- ]SXM5?\b(?![- ](?:64|94|96) ?GB))", "h100-sxm-80gb"),
    (r"\bH100[- ]NVL", "h100-nvl-94gb"),
    (r"\bH100[- ]PCIe", "h100-pcie-80gb"),
    (r"\bH800\b(?![- ](?:PCIe|NVL))", "h800-sxm-80gb"),
    (r"\bH200[- ]NVL", "h200-nvl-141gb"),
    (r"\bH200\b(?![- ]NVL)", "h200-sxm-141gb"),
    (r"\bH20(?:-3e| HBM3e|[- ]141 ?GB)", "h20-141gb"),
    (r"\bH20\b(?!-3e| HBM3e|[- ]141 ?GB)", "h20-96gb"),
    (r"\bA100[- ]SXM4?[- ]80GB", "a100-sxm-80gb"),
    (r"\bA100[- ]SXM4?[- ]40GB", "a100-sxm-40gb"),
    (r"\bA100(?:[- ]PCI[Ee][- ]80GB| 80GB PCIe)", "a100-pcie-80gb"),
    (r"\bA100[- ]PCI[Ee][- ]40GB", "a100-pcie-40gb"),
    (r"\bA800-SXM4-80GB", "a800-sxm-80gb"),
    (r"\bGH200\b.{0,40}\b144 ?GB?\b", "gh200-144gb"),
    (r"\bGH200\b.{0,40}\b(?:96|120|480) ?GB\b", "gh200-96gb"),
    (r"\bGB10\b", "gb10"),
    (r"GB200", "gb200"),
    (r"GB300", "gb300"),
    (r"\bB200\b", "b200-sxm-180gb"),
    (r"\bB300\b", "b300-sxm-288gb"),
    (r"\bV100-SXM[23]-32GB", "v100-sxm-32gb"),
    (r"\bV100-SXM2-16GB", "v100-sxm-16gb"),
    (r"\bP100-SXM2-16GB", "p100-sxm-16gb"),
    (r"\bL40S\b", "l40s"),
    (r"(?:NVIDIA|Tesla) (L40|L20|L4|T4|A2|A10G|A10|A30|A40)(?![A-Za-z0-9])", ""),
    (r"RTX (A5000|A6000|3090|4080|4090|5080|5090)\b(?! (?:D|Ti|SUPER|Max-Q|Laptop)\b)", "rtx-"),
    (r"RTX 4090 D\b(?! Laptop)", "rtx-4090-d"),
    (r"RTX 5000 Ada\b(?!.{0,12} Laptop)", "rtx-5000-ada"),
    (r"RTX 6000 Ada", "rtx-6000-ada"),
    (r"RTX PRO 4500 Blackwell Server", "rtx-pro-4500-server"),
    (r"RTX PRO 6000 Blackwell Server", "rtx-pro-6000"),
    (r"RTX PRO 6000 Blackwell Workstation", "rtx-pro-6000-workstation"),
    (r"\b(MI250X|MI300A|MI300X|MI325X|MI350X|MI355X|MI350P)\b(?![- _]HF)", ""),
    (r"HL-205|\bGaudi ?1?$", "gaudi1"),
    (r"HL-338", "gaudi3-pcie"),
    (r"HL-2\d5|Gaudi(?:\(R\))? ?2", "gaudi2"),
    (r"HL-3\d5|HL-328|Gaudi(?:\(R\))? ?3\b", "gaudi3"),
    (r"\bTPU[- ](v4|v5p|v5e)\b", "tpu-"),
    (r"\bTPU[- ](?:trillium|v6e?)\b", "tpu-v6e"),
)
"""Patterns of product names with catalog ids. The text matched by a group is appended to the id in lower case."""


def accelerator_of_product(product: str) -> str | None:
    """The catalog id of an accelerator by the product name of its driver; None if there is none.

    >>> accelerator_of_product("NVIDIA H100 80GB HBM3"), accelerator_of_product("HL-225"), accelerator_of_product("T4")
    ('h100-sxm-80gb', 'gaudi2', None)
    """
    found = ((entry, re.search(pattern, product)) for pattern, entry in _PRODUCTS)
    return next((entry + "".join(match.groups()).lower() for entry, match in found if match), None)


def set_accelerator(pci: str, builder: ImportBuilder, line: int) -> None:
    """Set the accelerator of a PCI id, or record the id as unknown."""
    if entry := PCI_ACCELERATORS.get(pci):
        builder.set("cluster.accelerator", entry, line)
        return
    named = PCI_NAMES.get(pci)
    builder.unknown(f"accelerator {pci}" + (f" ({named})" if named else ""), "no catalog entry of this PCI id", line)


def set_product(product: str, builder: ImportBuilder, line: int) -> None:
    """Set the accelerator of a product name, or record the name as unknown."""
    if entry := accelerator_of_product(product):
        builder.set("cluster.accelerator", entry, line)
    else:
        builder.unknown(f"accelerator {product}", "no catalog entry of this name", line)


def platform_of_instance(instance: str, cloud: str, builder: ImportBuilder, line: int) -> None:
    """Set the platform of an instance type, or record the type as unknown."""
    from clusterspec.catalog import Catalog

    ids = Catalog.open().ids("platform")
    found = match_instance(instance, cloud, ids)
    if found:
        builder.set("cluster.platform", found, line)
    else:
        builder.unknown(f"instance type {instance}", "no catalog entry of this instance type", line)


def match_instance(instance: str, cloud: str, ids: tuple[str, ...]) -> str | None:
    """The platform id formed from a cloud's prefix and an instance type; None if there is none.

    >>> match_instance("p5.48xlarge", "aws", ("aws-p5-48xlarge",))
    'aws-p5-48xlarge'
    >>> match_instance("Standard_ND96isr_H100_v5", "azure", ("azure-nd-h100-v5",))
    'azure-nd-h100-v5'
    >>> match_instance("BM.GPU.H100.8", "oci", ("oci-bm-gpu-h100-8",))
    'oci-bm-gpu-h100-8'
    """
    plain = re.sub(r"[^a-z0-9]+", "-", instance.lower()).strip("-")
    candidates = [f"{cloud}-{plain}"]
    if cloud == "azure":
        short = re.sub(r"^standard-", "", plain)
        candidates += [f"azure-{short}", f"azure-{re.sub(r'^nd[0-9]*[a-z]*-', 'nd-', short)}"]
        candidates += [f"azure-{re.sub(r'^nd[0-9]*[a-z]*-', 'nd-', short).replace('mi300x-v5', 'mi300x-v5')}"]
    return next((each for each in candidates if each in ids), None)


# Recognition of rings and tori among numbered devices

Neighbors = Mapping[int, frozenset[int]]


def shape_of(neighbors: Neighbors) -> tuple[int, ...] | None:
    """The dimensions of the ring or torus, numbered in row-major order, with these neighbors; None if there is none.

    >>> ring = {n: frozenset({(n - 1) % 4, (n + 1) % 4}) for n in range(4)}
    >>> shape_of(ring)
    (4,)
    """
    count = len(neighbors)
    if count < 3:
        return None
    return next((shape for shape in _torus_shapes(count) if _torus_neighbors(shape) == neighbors), None)


def _torus_shapes(count: int) -> Iterator[tuple[int, ...]]:
    yield (count,)
    sides = [side for side in range(2, count) if count % side == 0]
    yield from ((a, b) for a, b in product(sides, sides) if a * b == count)
    yield from ((a, b, c) for a, b, c in product(sides, repeat=3) if a * b * c == count)


def _torus_neighbors(shape: tuple[int, ...]) -> dict[int, frozenset[int]]:
    places = list(product(*(range(side) for side in shape)))
    number = {place: at for at, place in enumerate(places)}
    return {
        number[place]: frozenset(
            number[(*place[:axis], (place[axis] + step) % side, *place[axis + 1 :])]
            for axis, side in enumerate(shape)
            for step in (-1, 1)
        )
        - {number[place]}
        for place in places
    }
