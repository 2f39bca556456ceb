"""Types of catalog entries, except those of models and software; every figure has its source."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.catalog.models import Model
from clusterspec.catalog.reader import Entry, Status
from clusterspec.quantity import Bandwidth, Figure, Peak
from clusterspec.records import dataclass, field, replace

__all__ = ["Accelerator", "Entry", "Interconnect", "Kernels", "Model", "Nic", "Optics", "Platform", "Status", "Switch"]


@dataclass(frozen=True)
class PoweredPart(Entry):
    """A part that draws power.

    - ``power`` is its largest sustained power in watts, else the typical one
    - ``power_typical`` the power at work that its maker prints
    - ``power_idle`` that without work, as measured
    - ``power_lowest`` the lowest limit of a part that is sold with a range of limits
    - ``power_includes`` the parts that they count (``module``, ``card``, ``processor``, ``end``; of systems
      ``accelerators``, ``host``, ``nics``, ``optics``, ``fans``, ``conversion``, ``switches``)
    - ``power_unpublished`` says that no figure is known, for a reason that the entry states
    """

    power: Figure | None = None
    power_typical: Figure | None = None
    power_idle: Figure | None = None
    power_lowest: Figure | None = None
    power_includes: tuple[str, ...] = ()
    power_unpublished: bool = False


@dataclass(frozen=True)
class Accelerator(PoweredPart):
    """A package as sold.

    - ``memory`` is in bytes, as reported by the device if known
    - ``memory_bandwidth`` in B/s (reads plus writes)
    - ``peaks`` dense FLOP/s by precision
    - ``scale_up_bandwidth`` B/s per direction over all links
    - ``peer_bandwidth`` B/s per direction of the slowest pair if it differs
    - ``interconnects`` the possible catalog ids, most common first
    - ``domains`` the scale-up domain sizes sold, in accelerators, most common first
    - ``axis_bandwidth`` B/s per direction of one link along each axis of a torus
    - ``shape`` the torus shape if there is only one
    - ``nic_bandwidth`` the line rate of one typical NIC, and ``nics_per_accelerator`` their number (a fraction if NICs
      are shared)
    - ``built_in_ports`` its own network ports that join nodes, each of ``nic_bandwidth`` (None if none are known)
    - ``compute_units`` the number of GEMM tiles processed concurrently, ``array`` the side of a systolic array to which
      GEMMs are padded
    - ``host_link`` B/s per direction to the host processor if it is not PCIe
    - ``unpublished_peaks`` the supported precisions without a published peak
    - ``peer_to_peer`` says whether two in one node read each other's memory directly, ``gpudirect_rdma`` says whether
      adapters read it (both None if unknown)
    - ``kernels`` the table of measured kernels that applies
    - ``memory_printed`` the memory as the vendor prints it, if the device reports another size
    """

    ranks_per_accelerator: int = 1
    slice_names: tuple[str, ...] = ()
    """The names of this part in names of slices: ``v5p`` in ``v5p-512``."""
    units_of_slices: int = 1
    """The number of units per part by which slice names count: 2 if ``v5p-512`` has 256 parts."""
    memory: Figure | None = None
    memory_printed: str = ""
    memory_bandwidth: Figure | None = None
    check_bits_in_memory: bool = False
    """Whether error correction stores its check bits in the advertised memory, so that the device reports less."""
    on_chip_name: str = ""
    """The kind of on-chip memory that the next two figures describe: shared memory, a cache, or SRAM."""
    on_chip_memory: Figure | None = None
    on_chip_bandwidth: Figure | None = None
    """B/s over the whole chip, as its source counts them."""
    peaks: Mapping[str, Peak] = field(default_factory=dict)
    unpublished_peaks: tuple[str, ...] = ()
    double_peak: Peak | None = None
    """FLOP/s in native fp64, of matrix units if these support it; None if not known."""
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
    built_in_ports: int | None = None
    scale_out: str | None = None
    year: int | None = None
    compute_units: int | None = None
    tile_rounds: bool = True
    """Whether GEMM times include the loss from tiles that do not fill all compute units. False if the shares of the
    peak already contain this loss.
    """
    array: int | None = None
    kernels: str | None = None
    cooling: tuple[str, ...] = ()
    """The kinds of cooling with which it is sold (``air``, ``liquid``); empty if its node decides."""
    unified_memory: bool = False
    """Whether the processors of the host use its memory and have none of their own."""
    processor_memory: Figure | None = None
    """The most bytes of memory soldered to the processor of its module, for each accelerator of the module."""
    stochastic_rounding: bool = False
    """Whether its instructions can round results stochastically."""
    compiled: bool = False
    """Whether it runs compiled programs alone: graphs whose kernels a compiler fuses and the host starts at once."""
    whole_graphs: bool = False
    """Whether serving engines run a step with prompts as one graph, compiled before, which the host launches once."""
    smallest_graph: int | None = None
    """Tokens of the smallest graph of a serving step, if engines compile graphs for powers of two of tokens."""
    peer_to_peer: bool | None = None
    gpudirect_rdma: bool | None = None
    architecture: str = ""
    """The architecture for which software is built, by the vendor's name: ``sm_90``, ``gfx942``; empty: not known."""
    own_software: bool = False
    """Whether it runs software of its own, and none that its vendor's other accelerators run."""
    market_price: tuple[Figure, Figure] | None = None
    """Lowest and highest price in US dollars that sources name; for judging prices, in no sum."""
    market_rent: tuple[Figure, Figure] | None = None
    """Lowest and highest rent per hour in US dollars that sources name."""
    achievable: Mapping[str, Figure] = field(default_factory=dict)

    @property
    def software_vendor(self) -> str | None:
        """The vendor by which programs name accelerators that they run on; its own name if it runs its own software."""
        return self.name if self.own_software else self.vendor


@dataclass(frozen=True)
class Interconnect(Entry):
    """A scale-up interconnect, a scale-out technology or a host bus (``scope``).

    - ``family`` groups technologies (``nvlink``, ``xgmi``, ``infiniband``, ``roce``, ``efa``, ``slingshot``,
      ``omni-path``, ``tcp``, ``ici``, ``neuronlink``, ``gaudi``, ``pcie`` …)
    - ``bandwidth`` is in B/s per direction, per accelerator (scale-up), per slot (host bus), or per port at the usual
      rate (scale-out)
    - ``links`` per accelerator or slot, or ports per node if the technology fixes them
    - ``port_rates`` the possible line rates of a port, empty for any
    - ``plugins`` the collective plugins, most common first
    - ``protocols`` the supported NCCL protocols, empty for all
    - ``algorithms`` the algorithms that its settings allow for an all-reduce, empty for all
    - ``single_vendor`` says whether switches and NICs have to be the vendor's, ``overlapped_latency`` says whether
      latency overlaps with transmission, ``overlapped_rings`` whether the latency of whole chunks overlaps in rings
      over more than two islands
    - ``mtu`` is the largest payload of a packet in bytes, or the largest frame of Ethernet
    - ``largest_slice`` counts the accelerators in the largest part of a torus that a cloud schedules, None if that is
      the whole torus
    - ``rdma_priorities`` are the priorities that its driver gives to RDMA packets, the first to data; empty if a host
      chooses them
    - ``on_accelerator`` says whether its ports are on the accelerator, so that no adapter brings it to accelerators of
      other vendors
    - ``replaced_by`` is the id of the part that its maker sells instead
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
    single_vendor: bool = False
    in_network_reduction: bool = False
    plugins: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    algorithms: tuple[str, ...] = ()
    overlapped_latency: bool = False
    overlapped_rings: bool = False
    latency: Figure | None = None
    mtu: Figure | None = None
    largest_slice: int | None = None
    rdma_priorities: tuple[int, ...] = ()
    replaced_by: str = ""
    on_accelerator: bool = False
    year: int | None = None
    achievable: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True)
class Nic(PoweredPart):
    """A network adapter.

    - ``port_bandwidth`` is the line rate of one port, B/s per direction
    - ``pcie`` and ``lanes`` the generation and width of the slot it needs
    - ``cages`` the number of ``connector`` cages on its bracket, 0 if its ports are wired to cages of the node
    - ``other_connectors`` the forms on other cards with the adapter
    - ``ethernet_ports`` and ``ethernet_port_bandwidth`` apply to Ethernet if they differ. Features are None if unknown:
      ``out_of_order`` says whether it places packets that arrive out of order, ``trimming`` says whether it reacts to
      trimmed packets
    - ``mtu`` is the largest frame in bytes
    """

    port_bandwidth: Bandwidth | None = None
    ports: int | None = None
    ethernet_port_bandwidth: Bandwidth | None = None
    ethernet_ports: int | None = None
    pcie: int | None = None
    lanes: int | None = None
    cages: int | None = None
    connector: str | None = None
    other_connectors: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    out_of_order: bool | None = None
    gpudirect_rdma: bool | None = None
    trimming: bool | None = None
    mtu: Figure | None = None
    year: int | None = None


@dataclass(frozen=True)
class Switch(PoweredPart):
    """A switch of the scale-out fabric.

    ``ports`` counts logical ports at the line rate ``port_bandwidth`` (B/s per direction), and ``cages`` the cages of
    the form ``connector`` that carry them; one module fills one cage and carries ``ports`` / ``cages`` of them.
    ``splits`` is the largest number of ports after breakout. Features are None if unknown. ``managed`` says whether it
    runs its own management software, which includes a subnet manager for at most ``subnet_manager_nodes``.
    ``cage_power`` is the maximum of a module in watts, ``module_top`` the heat sink of the modules that fit (``finned``
    or ``flat``), ``mtu`` the largest frame in bytes.
    """

    ports: int | None = None
    port_bandwidth: Bandwidth | None = None
    families: tuple[str, ...] = ()
    cages: int | None = None
    connector: str | None = None
    splits: int | None = None
    management_ports: int | None = None
    """Ports for the fabric's manager, in addition to ``ports``."""
    access_ports: int | None = None
    """Copper ports of at most ``access_bandwidth``, in addition to ``ports``."""
    access_bandwidth: Bandwidth | None = None
    cooling: tuple[str, ...] = ()
    rack_units: int | None = None
    in_network_reduction: bool = False
    latency: Figure | None = None
    managed: bool | None = None
    subnet_manager_nodes: int | None = None
    adaptive_routing: bool | None = None
    trimming: bool | None = None
    mtu: Figure | None = None
    cage_power: Figure | None = None
    module_top: str | None = None
    year: int | None = None


ETHERNET = frozenset({"roce", "tcp", "ultra-ethernet"})
"""Families of technologies whose links are Ethernet, and whose packets are frames to a switch."""


def carries_family(families: tuple[str, ...], family: str) -> bool:
    """Whether a part for some families of technologies carries packets of ``family``; True if ``families`` is empty.

    >>> [carries_family(families, "ultra-ethernet") for families in (("roce", "tcp"), ("infiniband",), ())]
    [True, False, True]
    """
    return not families or family in families or (family in ETHERNET and not ETHERNET.isdisjoint(families))


@dataclass(frozen=True)
class Optics(PoweredPart):
    """A transceiver module, or a cable with fixed ends.

    - ``type`` is ``module``, ``dac``, ``acc``, ``aec`` or ``aoc``
    - ``media`` is ``copper``, ``multimode`` or ``singlemode``
    - ``reach_class`` (``SR``, ``DR``, ``FR``, ``LR``) and ``lane_bandwidth`` (B/s per direction) have to agree at both
      ends of a fiber
    - ``bandwidth`` is the line rate of one end, B/s per direction, over its ``ports``
    - ``reach`` the longest run in meters
    - ``power`` that of one end
    - ``top`` its heat sink, ``finned`` or ``flat``, empty if unknown
    """

    type: str = ""
    reach_class: str = ""
    media: str = ""
    bandwidth: Bandwidth | None = None
    ports: int = 1
    lane_bandwidth: Bandwidth | None = None
    reach: Figure | None = None
    cages: tuple[str, ...] = ()
    top: str = ""
    part_numbers: tuple[str, ...] = ()
    families: tuple[str, ...] = ()


@dataclass(frozen=True)
class Platform(PoweredPart):
    """A node, rack, instance or slice as sold; it provides defaults for absent keys of the cluster.

    - ``technologies`` are the available ones, most common first
    - ``frontend_bandwidth`` is the line rate of one of its ``frontend_nics``
    - ``power`` applies to one node
    - ``pfc`` and ``ecn`` state the provider's configuration of the fabric, None if it is unknown or chosen by the buyer
    - ``cages`` counts the cages of one node on the accelerator fabric: one module fills one cage and carries
      ``nics_per_node`` / ``cages`` NICs
    - ``sold_nodes`` are the nodes of one unit of sale
    - ``cooling`` lists the coolings with which it is sold (``air``, ``liquid``)
    - ``gpudirect_rdma`` is None if unknown
    """

    form: str = ""
    cloud: bool = False
    accelerator: str = ""
    accelerators_per_node: int | None = None
    node_sizes: tuple[int, ...] = ()
    """The numbers of accelerators per node with which it is sold, if there are several."""
    servers: tuple[str, ...] = ()
    """Servers of other makers that are sold with this board."""
    domain: int | None = None
    shape: tuple[int, ...] = ()
    topology: str | None = None
    interconnect: str | None = None
    scale_up_bandwidth: Bandwidth | None = None
    scale_up_switches: int | None = None
    """Switch trays of a domain that spans several nodes. Each tray connects to every accelerator of the domain."""
    switch_tray_units: int | None = None
    switch_loss: str | None = None
    """What a job does after the loss of a tray: ``stops``, ``restarts`` or ``slows``."""
    scale_up_switch_links: tuple[int, ...] = ()
    """The number of links from one accelerator to each scale-up switch of its node, in order."""
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
    rack_power: Figure | None = None
    """Watts of a whole rack of a rack-scale system, with the switches of its scale-up domain and power conversion."""
    rack_units: int | None = None
    rack_kilograms: int | None = None
    """Mass of a rack of a rack-scale system, filled."""
    intake_celsius: int | None = None
    """Highest temperature of the air at the intake, in °C."""
    pfc: bool | None = None
    ecn: bool | None = None
    sold_nodes: int = 1
    cooling: tuple[str, ...] = ()
    liquid_share: Figure | None = None
    """The share of a node's heat that its coolant loop removes."""
    supplies: int | None = None
    """Number of power supplies of a node, or of power shelves of a rack sold whole; each has ``supply_power`` watts."""
    supply_power: Figure | None = None
    supply_units: int | None = None
    """Rack units of a power shelf; ``switch_tray_units`` the units of a switch tray."""
    gpudirect_rdma: bool | None = None
    mtu: Figure | None = None
    """Bytes of the largest packet that the provider's network carries."""
    year: int | None = None
    market_rent: tuple[Figure, Figure] | None = None
    """Lowest and highest rent in US dollars of one accelerator for an hour, by the price list of its provider."""

    def of_size(self, accelerators: int) -> Platform:
        """The platform with another of its node sizes (else unchanged), and with the share of the host's NICs."""
        whole = self.accelerators_per_node or accelerators
        if accelerators == whole or accelerators not in self.node_sizes:
            return self
        nics = max(1, self.nics_per_node * accelerators // whole) if self.nics_per_node else None
        return replace(self, accelerators_per_node=accelerators, nics_per_node=nics)


@dataclass(frozen=True)
class Kernels(Entry):
    """Measured kernels of one accelerator, as a table of points.

    The trailing part of a name in ``achievable`` that starts with a digit is the size: ``gemm.fp8.1024`` is the
    fraction of peak at 1,024 rows, ``all_reduce.8.256_kb`` the seconds of 256 KB over 8 ranks.
    """

    accelerator: str = ""
    year: int = 0
    stands_in_from: int | None = None
    """The first year of accelerators that use this table because they have no measured kernels."""
    stands_in_for: str = ""
    """The architecture whose accelerators without measured kernels use this table, whatever their year."""
    achievable: Mapping[str, Figure] = field(default_factory=dict)


REFUSED_SCOPES = {"interconnect": "scale-out", "technology": "scale-up"}
"""The scope of interconnect entries that each key rejects."""
