"""What is known: one type for each kind of catalog entry, every figure with its source.

Bandwidths are per direction, peaks are dense (`clusterspec.quantity`). ``achievable`` holds
measured efficiencies beside the nominal figures: dimensionless fractions of the nominal figure,
or SI figures where the name says so. A fact that is not known is ``None`` or absent, never zero.
"""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.catalog.entry import Entry
from clusterspec.catalog.framework_memory import FrameworkMemory
from clusterspec.catalog.model import Model
from clusterspec.catalog.status import Status
from clusterspec.quantity import Bandwidth, Figure, Peak
from clusterspec.records import dataclass, field

__all__ = ["Accelerator", "Entry", "Interconnect", "Model", "Nic", "Platform", "Stack", "Status", "Switch"]


@dataclass(frozen=True, slots=True)
class Accelerator(Entry):
    """A package as sold.

    ``memory`` in bytes as the device reports it where known; ``memory_bandwidth`` in B/s (reads
    and writes together); ``peaks`` dense FLOP/s by precision; ``scale_up_bandwidth`` B/s per
    direction over all links together; ``peer_bandwidth`` B/s per direction between the slowest
    pair where it differs; ``interconnects`` the catalog ids that it can have, the usual first;
    ``domains`` the sizes of domain sold, in accelerators, the usual first; ``axis_bandwidth`` one
    link, one way, along each axis of a torus, and ``shape`` where it is sold in one shape only;
    ``nic_bandwidth`` the line rate of one NIC that it typically has, and ``nics_per_accelerator``
    how many that is (a fraction where several accelerators share one); ``compute_units`` how many
    tiles of a matrix product it works on at a time, ``array`` the sides of a systolic array that
    products are padded to; ``host_link`` the link to the host processor, B/s per direction, where
    it is not PCIe; ``unpublished_peaks`` the precisions that it computes in without a published peak;
    ``kernels`` the table of measured kernels that holds for it.
    """

    ranks_per_accelerator: int = 1
    memory: Figure | None = None
    memory_bandwidth: Figure | None = None
    peaks: Mapping[str, Peak] = field(default_factory=dict)
    unpublished_peaks: tuple[str, ...] = ()
    power: Figure | None = None
    interconnects: tuple[str, ...] = ()
    scale_up_bandwidth: Bandwidth | None = None
    peer_bandwidth: Bandwidth | None = None
    topology: str | None = None
    domains: tuple[int, ...] = ()
    axis_bandwidth: tuple[Bandwidth, ...] = ()
    shape: tuple[int, ...] = ()
    links: int | None = None
    pcie: int | None = None
    host_link: Bandwidth | None = None
    nic_bandwidth: Bandwidth | None = None
    nics_per_accelerator: float | None = None
    scale_out: str | None = None
    year: int | None = None
    compute_units: int | None = None
    array: int | None = None
    kernels: str | None = None
    achievable: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Interconnect(Entry):
    """A scale-up interconnect, a scale-out technology or a host bus (``scope``).

    ``family`` groups technologies (``nvlink``, ``xgmi``, ``infiniband``, ``roce``, ``efa``,
    ``slingshot``, ``omni-path``, ``tcp``, ``ici``, ``neuronlink``, ``gaudi``, ``pcie`` …);
    ``bandwidth`` B/s per direction per accelerator (scale-up), per slot (host bus), or per port
    at the usual rate (scale-out); ``links`` of one accelerator, of a slot, or the ports of a node
    where the technology fixes them; ``port_rates`` the line rates a port may have, empty for any.
    ``plugins`` are the collective plugins that belong to it, the usual first; ``protocols`` those of NCCL
    that it carries, empty if it carries all; ``overlapped_latency`` whether latency runs beside the sending.
    """

    scope: str = ""
    family: str = ""
    generation: str = ""
    lane_rate: Bandwidth | None = None
    lanes_per_link: int | None = None
    link_bandwidth: Bandwidth | None = None
    links: int | None = None
    bandwidth: Bandwidth | None = None
    peer_bandwidth: Bandwidth | None = None
    axis_bandwidth: tuple[Bandwidth, ...] = ()
    port_rates: tuple[Bandwidth, ...] = ()
    topology: str | None = None
    rdma: bool = False
    lossless: str = ""
    cloud: bool = False
    proprietary: bool = False
    in_network_reduction: bool = False
    plugins: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    overlapped_latency: bool = False
    latency: Figure | None = None
    year: int | None = None
    achievable: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Nic(Entry):
    """A network adapter.

    ``port_bandwidth`` is the line rate of one port, B/s per direction; ``pcie`` and ``lanes`` the
    generation and width of the slot it needs; ``cages`` how many cages of the form ``connector`` its
    bracket has, 0 if its ports lead to cages of the node; ``power`` the largest of the card in watts.
    ``ethernet_ports`` and ``ethernet_port_bandwidth`` hold with Ethernet, where they differ.
    """

    port_bandwidth: Bandwidth | None = None
    ports: int | None = None
    ethernet_port_bandwidth: Bandwidth | None = None
    ethernet_ports: int | None = None
    pcie: int | None = None
    lanes: int | None = None
    cages: int | None = None
    connector: str | None = None
    families: tuple[str, ...] = ()
    power: Figure | None = None
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Switch(Entry):
    """A switch of the scale-out fabric.

    ``ports`` counts logical ports at the line rate ``port_bandwidth`` (B/s per direction), and
    ``cages`` the cages of the form ``connector`` that carry them; one module fills one cage and
    carries ``ports`` / ``cages`` of them. ``splits`` is the largest number of ports after breakout.
    """

    ports: int | None = None
    port_bandwidth: Bandwidth | None = None
    families: tuple[str, ...] = ()
    cages: int | None = None
    connector: str | None = None
    splits: int | None = None
    management_ports: int | None = None
    """Ports for the fabric's manager beside the ``ports``."""
    rack_units: int | None = None
    power: Figure | None = None
    in_network_reduction: bool = False
    latency: Figure | None = None
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Platform(Entry):
    """A node, rack, instance or slice as sold; it fills the keys of the cluster not given.

    ``technologies`` are what it comes with, the usual first; ``frontend_bandwidth`` is the line
    rate of one of its ``frontend_nics``; ``power`` is of one node; ``pfc`` and ``ecn`` say what a
    provider is known to run on its fabric, None if that is not known or is the buyer's affair.
    ``cages`` counts the cages of one node on the accelerator fabric: one module fills one cage and
    carries ``nics_per_node`` / ``cages`` NICs.
    """

    form: str = ""
    cloud: bool = False
    accelerator: str = ""
    accelerators_per_node: int | None = None
    domain: int | None = None
    shape: tuple[int, ...] = ()
    topology: str | None = None
    interconnect: str | None = None
    scale_up_bandwidth: Bandwidth | None = None
    technologies: tuple[str, ...] = ()
    nics_per_node: int | None = None
    nic_bandwidth: Bandwidth | None = None
    nic: str | None = None
    cages: int | None = None
    connector: str | None = None
    pcie_host: int | None = None
    pcie_nic: int | None = None
    frontend_nics: int | None = None
    frontend_bandwidth: Bandwidth | None = None
    frontend_cages: int | None = None
    frontend_connector: str | None = None
    power: Figure | None = None
    rack_power: Figure | None = None
    """Watts of a whole rack of a rack-scale system, with the switches of its scale-up domain and power conversion."""
    rack_units: int | None = None
    pfc: bool | None = None
    ecn: bool | None = None
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Stack(Entry):
    """A generation of training software: a framework with its libraries and kernels, from ``year`` on.

    ``selective`` names what selective recomputation runs again, ``hides`` the communication that
    it can hide, ``dispatcher`` how it sends tokens to experts where no one says, ``releases`` the releases that it
    describes, oldest first, ``full_sharding`` the stack whose full sharding it uses, with its memory,
    where it has none of its own, ``compiled`` that no host launches kernels one by one.
    """

    year: int = 0
    selective: str = ""
    hides: tuple[str, ...] = ()
    dispatcher: str = "all-to-all"
    releases: tuple[str, ...] = ()
    full_sharding: str | None = None
    compiled: bool = False
    memory: FrameworkMemory = field(default_factory=FrameworkMemory)
    achievable: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kernels(Entry):
    """Measured kernels of one accelerator, as a table of points.

    The last part of a name in ``achievable`` that begins with a digit is the size of a point: ``gemm.fp8.1024``
    is the share of the peak with 1,024 rows, ``all_reduce.8.128_kb`` the seconds of 128 KB over 8 ranks.
    """

    accelerator: str = ""
    year: int = 0
    achievable: Mapping[str, Figure] = field(default_factory=dict)
