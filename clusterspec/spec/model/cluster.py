"""The cluster as written: accelerators, interconnects, networks, power."""

from __future__ import annotations

import math

from clusterspec.quantity import Quantity
from clusterspec.records import dataclass


@dataclass(frozen=True)
class AcceleratorSpec:
    """A catalog entry with changed figures (``{like: h100-sxm-80gb, memory: 96 GB}``)."""

    like: str | None = None
    memory: Quantity | None = None
    memory_bandwidth: Quantity | None = None
    power: Quantity | None = None
    peak: dict[str, Quantity] | None = None


@dataclass(frozen=True)
class PcieSpec:
    """PCIe generations of the slots; a single generation applies to both."""

    host: int | None = None
    nic: int | None = None


@dataclass(frozen=True)
class ScaleUpSpec:
    """The interconnect within a scale-up domain; bandwidths have a direction."""

    interconnect: str | None = None
    bandwidth: Quantity | None = None
    peer_bandwidth: Quantity | None = None
    topology: str | None = None
    shape: tuple[int, ...] | None = None
    axis_bandwidth: tuple[Quantity, ...] | None = None
    oversubscription: Quantity | None = None
    domain: int | None = None
    in_network_reduction: bool | None = None
    switches: int | None = None
    switch_loss: str | None = None


@dataclass(frozen=True)
class FlowControlSpec:
    """Flow control of a RoCE fabric; priorities are those of PFC, 0 to 7."""

    pfc: bool | None = None
    ecn: bool | None = None
    trimming: bool | None = None
    lossless_priorities: tuple[int, ...] | None = None
    roce_priority: int | None = None


@dataclass(frozen=True)
class LevelSpec:
    """One switch level of the scale-out fabric, from the leaf upward."""

    name: str | None = None
    nodes: int | None = None
    switch_ports: int | None = None
    uplink_bandwidth: Quantity | None = None
    oversubscription: Quantity | None = None
    count: int | None = None


@dataclass(frozen=True)
class LinkCounts:
    """Links, or cables, between the levels of a fabric."""

    node_leaf: int | None = None
    leaf_spine: int | None = None
    spine_core: int | None = None


@dataclass(frozen=True)
class ScaleOutSpec:
    """The fabric between nodes. ``oversubscription`` holds one ratio (down over up) per level."""

    technology: str | None = None
    nics_per_node: int | None = None
    nic: str | None = None
    nic_bandwidth: Quantity | None = None
    topology: str | None = None
    oversubscription: tuple[Quantity, ...] | None = None
    tiers: int | None = None
    rails: int | None = None
    planes: int | None = None
    pod_nodes: int | None = None
    switch: str | None = None
    switch_ports: int | None = None
    levels: tuple[LevelSpec, ...] | None = None
    bisection: Quantity | None = None
    leaf_switches: int | None = None
    spine_switches: int | None = None
    core_switches: int | None = None
    links: LinkCounts | None = None
    cables: LinkCounts | None = None
    links_per_cable: LinkCounts | None = None
    cable_type: dict[str, str] | None = None
    distance: dict[str, Quantity] | None = None
    optics: dict[str, tuple[str, ...]] | None = None
    transceivers: int | None = None
    extra_endpoints: int | None = None
    in_network_reduction: bool | None = None
    flow_control: FlowControlSpec | None = None
    load_balancing: str | None = None
    sharing: str | None = None
    collective_plugin: str | None = None
    collective_library: str | None = None
    gpudirect_rdma: bool | None = None
    placement: str | None = None
    mtu: int | None = None
    subnet_manager: str | None = None


@dataclass(frozen=True)
class NetworkSpec:
    """One of the three networks other than the scale-out fabric."""

    nics_per_node: int | None = None
    nic_bandwidth: Quantity | None = None
    bandwidth: Quantity | None = None
    capacity: Quantity | None = None
    technology: str | None = None
    switch: str | None = None
    shares: str | None = None
    read: Quantity | None = None
    per_client: Quantity | None = None
    metadata_rate: float | None = None
    slots: int | None = None
    system: str | None = None
    systems: int | None = None
    pool: str | None = None


@dataclass(frozen=True)
class NetworksSpec:
    """The networks of a node other than the scale-out fabric."""

    frontend: NetworkSpec | None = None
    storage: NetworkSpec | None = None
    out_of_band: NetworkSpec | None = None

    @property
    def without_links(self) -> tuple[str, str] | None:
        """A network that shares the links of another network although that network has no links either, and the other
        network; None if there is no such case.
        """
        shares = {"frontend": self.frontend, "storage": self.storage, "out_of_band": self.out_of_band}
        of = {name: part.shares for name, part in shares.items() if part is not None and part.shares in shares}
        return next(((name, other) for name, other in of.items() if other == name or of.get(other) == name), None)

    @property
    def seconds_to_fill(self) -> float:
        """Seconds in which the storage system's capacity is filled at its write bandwidth; infinite if either is not
        stated.
        """
        store = self.storage
        if store is None or store.capacity is None or store.bandwidth is None or store.bandwidth.value <= 0:
            return math.inf
        return store.capacity.value / store.bandwidth.value

    @property
    def reads_slower(self) -> bool:
        """Whether the storage system is stated to read at least 5 % slower than it writes."""
        store = self.storage
        if store is None or store.read is None or store.bandwidth is None:
            return False
        return store.read.value < 0.95 * store.bandwidth.value


@dataclass(frozen=True)
class CdusSpec:
    """Cooling distribution units of one coolant loop: number, catalog id, and the heat in watts that each removes."""

    count: int | None = None
    model: str | None = None
    capacity: Quantity | None = None
    redundancy: str | None = None


@dataclass(frozen=True)
class SuppliesSpec:
    """The power supplies of a node, and the watts that each gives."""

    count: int | None = None
    power: Quantity | None = None


@dataclass(frozen=True)
class PdusSpec:
    """The power distribution units of a rack: their number, the voltage between two conductors, the rated current of
    each phase, the number of phases, and the share of the rating that a continuous load may use.
    """

    count: int | None = None
    voltage: Quantity | None = None
    current: Quantity | None = None
    phases: int | None = None
    derating: float | None = None


@dataclass(frozen=True)
class PowerSpec:
    """Electrical power of a node, a switch and a rack in watts, its limits, and the cooling of the racks."""

    node: Quantity | None = None
    switch: Quantity | None = None
    rack_overhead: Quantity | None = None
    rack_limit: Quantity | None = None
    nodes_per_rack: int | None = None
    node_idle: Quantity | None = None
    accelerator_cap: Quantity | None = None
    cooling: str | None = None
    liquid_share: float | None = None
    budget: Quantity | None = None
    row_limit: Quantity | None = None
    feeds: str | None = None
    supplies: SuppliesSpec | None = None
    pdus: PdusSpec | None = None
    cdus: CdusSpec | None = None


@dataclass(frozen=True)
class HostSpec:
    """How the host joins accelerators and NICs."""

    memory_bandwidth: Quantity | None = None
    numa_nodes: int | None = None
    nic_affinity: bool | None = None
    acs: bool | None = None


@dataclass(frozen=True)
class FloorSpec:
    """The data hall: rows of racks, and the position of the network racks."""

    racks_per_row: int | None = None
    rack_pitch: Quantity | None = None
    row_pitch: Quantity | None = None
    network_racks: str | None = None


@dataclass(frozen=True)
class ClusterSpec:
    """The cluster as written."""

    platform: str | None = None
    accelerator: str | AcceleratorSpec | None = None
    ranks_per_accelerator: int | None = None
    accelerators_per_node: int | None = None
    nodes: int | None = None
    spare_nodes: int | None = None
    accelerators: int | None = None
    pcie: PcieSpec | None = None
    scale_up: ScaleUpSpec | None = None
    scale_out: ScaleOutSpec | None = None
    networks: NetworksSpec | None = None
    software: tuple[str, ...] | None = None
    host_memory: Quantity | None = None
    host: HostSpec | None = None
    floor: FloorSpec | None = None
    power: PowerSpec | None = None

    @property
    def stated_peaks(self) -> dict[str, Quantity]:
        """The stated peaks of one accelerator by number format; empty without changed figures."""
        return (self.accelerator.peak or {}) if isinstance(self.accelerator, AcceleratorSpec) else {}
