"""Types of catalog entries; every figure has its source. A stack holds the software's memory and batching defaults."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from clusterspec.catalog.models import Entry, Model
from clusterspec.catalog.reader import Status
from clusterspec.quantity import Bandwidth, Figure, Peak
from clusterspec.records import NamedTuple, dataclass, field, replace

# Memory behavior of a framework, as part of its stack entry; it applies where the spec states nothing


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure that varies between runs; ``low`` and ``high`` bound the measurements."""

    figure: Figure
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.figure.value


@dataclass(frozen=True, slots=True)
class FrameworkMemory:
    """How one generation of a framework uses memory.

    ``logits``: bytes for each logit that the loss keeps at once. ``context``: bytes of one process beside what
    the allocator counts. ``fragmentation``: reserved over allocated memory, less one.
    ``gradients``: by precision of the matrix work, the precision of gradients where the spec states none.
    ``sharded_master``: the weights themselves are the master weights, and 16-bit copies are gathered unit by
    unit. ``gradient_copy``: bytes that the sharded optimizer keeps of each 16-bit gradient of its part.
    ``accumulators``: bf16 gradients lie beside the fp32 buffers that they are summed in. ``offloads_gradients``:
    sharded gradients lie in host memory where the optimizer states do. ``placeholders``: one layer's weight
    gradients lie empty in 16 bits, since fused kernels add straight to the main gradients.
    ``quantized_inputs``: products in fp8 and fp4 keep their inputs in that precision. ``cuts_residual``: tensor
    parallelism cuts the residual stream without sequence parallelism. ``pipeline_copies``: a stage's inputs and
    outputs are kept for each micro-batch in flight. ``outputs_kept``: copies of every micro-batch's logits on the
    last stage. ``buckets``: numbers in the 16-bit buffers that gather gradients and weights. ``communicators``
    beside one for each axis and one of all ranks. ``late_gradients``: without accumulation, gradients take the
    place of the activations that they are computed from. ``whole_logits``: tensor-parallel ranks gather the
    logits before the loss. ``offloads_selective``: what selective recomputation saves goes to host memory.

    Of full sharding: ``layers_at_once`` are gathered, at most ``live`` weights; ``tables_kept`` names the tables
    that stay gathered; ``reduced`` bytes of one gradient in the reduction.
    """

    logits: Spread | None = None
    context: Spread | None = None
    fragmentation: Spread | None = None
    gradients: Mapping[str, str] = field(default_factory=dict)
    sharded_master: bool = False
    gradient_copy: float = 0.0
    accumulators: bool = False
    offloads_gradients: bool = False
    placeholders: bool = False
    quantized_inputs: bool = False
    cuts_residual: bool = False
    pipeline_copies: bool = False
    outputs_kept: int = 0
    buckets: float = 0.0
    communicators: int = 0
    late_gradients: bool = False
    whole_logits: bool = False
    offloads_selective: tuple[str, ...] = ()
    layers_at_once: int = 2
    live: float = inf
    tables_kept: tuple[str, ...] = ()
    reduced: float = 4.0

    def gradient_precision(self, work: str) -> str:
        """The precision of gradients where the matrix work runs in ``work`` and the spec states none."""
        return self.gradients.get(work, "fp32")


# How serving software uses memory and batches requests where the spec leaves it open: part of its stack


class DefaultTier(NamedTuple):
    """Other defaults of serving software on some accelerators: with less than ``below`` bytes of memory, with at least
    ``least``, or of an architecture. ``max_sequences`` None: as elsewhere.
    """

    chunk_tokens: int
    max_sequences: int | None
    below: float | None
    least: float | None
    architecture: str

    def holds(self, accelerator: Accelerator) -> bool:
        """Whether an accelerator has these defaults."""
        if self.architecture:
            return accelerator.architecture == self.architecture
        memory = accelerator.memory
        return memory is not None and (self.least or 0.0) <= memory.value < (self.below or inf)


@dataclass(frozen=True, slots=True)
class ServingSoftware:
    """The defaults of one generation of serving software.

    ``memory_fraction`` is a share of the whole memory, or, with ``of_free``, of the memory that remains after the
    weights. With ``whole_requests`` a request is admitted only if the cache can hold it to its end. ``chunk_tokens`` of
    prompts are processed in a step, ``max_sequences`` decoded. ``quantized_cache`` is the precision of the cache where
    weights are quantized; None where it does not follow them.
    """

    memory_fraction: float
    of_free: bool
    whole_requests: bool
    chunk_tokens: int | None
    max_sequences: int | None
    quantized_cache: str | None = None
    tiers: tuple[DefaultTier, ...] = ()
    chunk_of_engine: bool = False
    """The attention replicas of an engine share the default ``chunk_tokens``."""

    def defaults_for(self, accelerator: Accelerator) -> ServingSoftware:
        """The defaults on an accelerator."""
        found = self
        for each in self.tiers:
            if each.holds(accelerator):
                chunk, sequences = each.chunk_tokens, each.max_sequences or found.max_sequences
                found = replace(found, chunk_tokens=chunk, max_sequences=sequences)
        return found


FULLY = frozenset({"fsdp", "hsdp"})
"""The shardings that shard weights."""

__all__ = [
    "Accelerator",
    "Entry",
    "Interconnect",
    "Kernels",
    "Model",
    "Nic",
    "Optics",
    "Platform",
    "Stack",
    "Status",
    "Switch",
]


@dataclass(frozen=True, slots=True)
class PoweredPart(Entry):
    """A part that draws power.

    ``power`` is its largest sustained power in watts, else the typical one; ``power_typical`` the power at work that
    its maker prints; ``power_includes`` what they count (``module``, ``card``, ``processor``, ``end``; of systems
    ``accelerators``, ``host``, ``nics``, ``optics``, ``fans``, ``conversion``, ``switches``). ``power_unpublished``
    says that no figure is known, for a reason that the entry states.
    """

    power: Figure | None = None
    power_typical: Figure | None = None
    power_includes: tuple[str, ...] = ()
    power_unpublished: bool = False


@dataclass(frozen=True, slots=True)
class Accelerator(PoweredPart):
    """A package as sold.

    ``memory`` is in bytes, as reported by the device if known; ``memory_bandwidth`` in B/s (reads
    plus writes); ``peaks`` dense FLOP/s by precision; ``scale_up_bandwidth`` B/s per direction over
    all links; ``peer_bandwidth`` B/s per direction of the slowest pair if it differs;
    ``interconnects`` the possible catalog ids, most common first; ``domains`` the scale-up domain
    sizes sold, in accelerators, most common first; ``axis_bandwidth`` B/s per direction of one link
    along each axis of a torus; ``shape`` the torus shape if there is only one; ``nic_bandwidth`` the
    line rate of one typical NIC, and ``nics_per_accelerator`` their number (a fraction if NICs are
    shared); ``compute_units`` the number of GEMM tiles processed concurrently, ``array`` the side of
    a systolic array to which GEMMs are padded; ``host_link`` B/s per direction to the host processor
    if it is not PCIe; ``unpublished_peaks`` the supported precisions without a published peak;
    ``peer_to_peer`` whether two in one node read each other's memory directly, ``gpudirect_rdma`` whether adapters read
    it (both None if unknown);
    ``kernels`` the table of measured kernels that applies; ``memory_printed`` the memory as the vendor prints it, where
    the device reports another.
    """

    ranks_per_accelerator: int = 1
    slice_names: tuple[str, ...] = ()
    """How names of slices call the part: ``v5p`` in ``v5p-512``."""
    units_of_slices: int = 1
    """Units of one part that the number in such a name counts."""
    memory: Figure | None = None
    memory_printed: str = ""
    memory_bandwidth: Figure | None = None
    peaks: Mapping[str, Peak] = field(default_factory=dict)
    unpublished_peaks: tuple[str, ...] = ()
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
    cooling: tuple[str, ...] = ()
    """Coolings with which it is sold (``air``, ``liquid``); empty where a node may have either."""
    peer_to_peer: bool | None = None
    gpudirect_rdma: bool | None = None
    architecture: str = ""
    """The architecture for which software is built, by the vendor's name: ``sm_90``, ``gfx942``; empty: not known."""
    market_price: tuple[Figure, Figure] | None = None
    """Lowest and highest price in US dollars that sources name; for judging prices, in no sum."""
    market_rent: tuple[Figure, Figure] | None = None
    """The same of the rent for an hour."""
    achievable: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Interconnect(Entry):
    """A scale-up interconnect, a scale-out technology or a host bus (``scope``).

    ``family`` groups technologies (``nvlink``, ``xgmi``, ``infiniband``, ``roce``, ``efa``,
    ``slingshot``, ``omni-path``, ``tcp``, ``ici``, ``neuronlink``, ``gaudi``, ``pcie`` …);
    ``bandwidth`` is in B/s per direction, per accelerator (scale-up), per slot (host bus), or per
    port at the usual rate (scale-out); ``links`` per accelerator or slot, or ports per node if the
    technology fixes them; ``port_rates`` the possible line rates of a port, empty for any;
    ``plugins`` the collective plugins, most common first; ``protocols`` the supported NCCL
    protocols, empty for all; ``algorithms`` those that its settings leave for an all-reduce, empty for all;
    ``single_vendor`` whether switches and NICs have to be the vendor's;
    ``overlapped_latency`` whether latency overlaps with transmission; ``mtu`` the largest payload of a packet in
    bytes, or the largest frame of Ethernet.
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
    latency: Figure | None = None
    mtu: Figure | None = None
    year: int | None = None
    achievable: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Nic(PoweredPart):
    """A network adapter.

    ``port_bandwidth`` is the line rate of one port, B/s per direction; ``pcie`` and ``lanes`` the
    generation and width of the slot it needs; ``cages`` the number of ``connector`` cages on its
    bracket, 0 if its ports are wired to cages of the node.
    ``ethernet_ports`` and ``ethernet_port_bandwidth`` apply to Ethernet if they differ. Features are None if unknown:
    ``out_of_order`` whether it places packets that arrive out of order, ``trimming`` whether it reacts to trimmed ones;
    ``mtu`` is the largest frame in bytes.
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
    out_of_order: bool | None = None
    gpudirect_rdma: bool | None = None
    trimming: bool | None = None
    mtu: Figure | None = None
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Switch(PoweredPart):
    """A switch of the scale-out fabric.

    ``ports`` counts logical ports at the line rate ``port_bandwidth`` (B/s per direction), and
    ``cages`` the cages of the form ``connector`` that carry them; one module fills one cage and
    carries ``ports`` / ``cages`` of them. ``splits`` is the largest number of ports after breakout. Features are None
    if unknown: ``managed`` whether it runs its own management software, and with it a subnet manager for at most
    ``subnet_manager_nodes``. ``cage_power`` is the maximum of a module in watts, ``module_top`` the heat sink of the
    modules that fit (``finned`` or ``flat``), ``mtu`` the largest frame in bytes.
    """

    ports: int | None = None
    port_bandwidth: Bandwidth | None = None
    families: tuple[str, ...] = ()
    cages: int | None = None
    connector: str | None = None
    splits: int | None = None
    management_ports: int | None = None
    """Ports for the fabric's manager beside the ``ports``."""
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


@dataclass(frozen=True, slots=True)
class Optics(PoweredPart):
    """A transceiver module, or a cable with fixed ends.

    ``type`` is ``module``, ``dac``, ``acc``, ``aec`` or ``aoc``; ``media`` is ``copper``, ``multimode`` or
    ``singlemode``; ``reach_class`` (``SR``, ``DR``, ``FR``, ``LR``) and ``lane_bandwidth`` (B/s per direction) have to
    agree at both ends of a fiber. ``bandwidth`` is the line rate of one end, B/s per direction, over its ``ports``;
    ``reach`` the longest run in meters; ``power`` that of one end; ``top`` its heat sink, ``finned`` or
    ``flat``, empty if unknown.
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


@dataclass(frozen=True, slots=True)
class Platform(PoweredPart):
    """A node, rack, instance or slice as sold; it provides defaults for absent keys of the cluster.

    ``technologies`` are the available ones, most common first; ``frontend_bandwidth`` is the line
    rate of one of its ``frontend_nics``; ``power`` is that of one node; ``pfc`` and ``ecn`` state the
    provider's configuration of the fabric, None if it is unknown or chosen by the buyer.
    ``cages`` counts the cages of one node on the accelerator fabric: one module fills one cage and
    carries ``nics_per_node`` / ``cages`` NICs. ``sold_nodes`` are the nodes of one unit of sale; ``cooling`` lists the
    coolings with which it is sold (``air``, ``liquid``); ``gpudirect_rdma`` is None if unknown.
    """

    form: str = ""
    cloud: bool = False
    accelerator: str = ""
    accelerators_per_node: int | None = None
    node_sizes: tuple[int, ...] = ()
    """Accelerators of its nodes, where it is sold with several sizes of nodes."""
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
    rack_power: Figure | None = None
    """Watts of a whole rack of a rack-scale system, with the switches of its scale-up domain and power conversion."""
    rack_units: int | None = None
    pfc: bool | None = None
    ecn: bool | None = None
    sold_nodes: int = 1
    cooling: tuple[str, ...] = ()
    liquid_share: Figure | None = None
    """Share of the heat of a node that its coolant loop takes up."""
    gpudirect_rdma: bool | None = None
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Stack(Entry):
    """A generation of training or serving software: a framework with its libraries and kernels, from ``year`` on.

    ``selective`` names what selective recomputation recomputes, ``hides`` the communication that it can
    overlap with computation (``shards`` is data parallelism where weights are sharded, ``replicas`` that between shard
    groups), ``may_hide`` that of which this is not known,
    ``dispatcher`` the default token dispatcher, ``rack_dispatcher`` that of machines whose
    scale-up domain spans nodes, ``releases`` the described releases, oldest first, ``full_sharding`` the stack whose
    fully sharded implementation and memory it uses if it has none of its own, ``reduces`` the precision in which it
    sends gradients if narrower than the one in which it keeps them, ``attention_year`` the year of its attention
    kernels if later than ``year``, ``compiled`` that the host does not launch kernels individually,
    ``serving`` the defaults of serving software, None for training software. ``fully_sharded`` is the memory of layouts
    that shard weights, where it is that of another stack; it is set when the software of a layout is resolved.
    """

    year: int = 0
    selective: str = ""
    hides: tuple[str, ...] = ()
    may_hide: tuple[str, ...] = ()
    dispatcher: str = "all-to-all"
    rack_dispatcher: str | None = None
    releases: tuple[str, ...] = ()
    full_sharding: str | None = None
    reduces: str | None = None
    attention_year: int = 0
    compiled: bool = False
    memory: FrameworkMemory = field(default_factory=FrameworkMemory)
    fully_sharded: FrameworkMemory | None = None
    serving: ServingSoftware | None = None
    achievable: Mapping[str, Figure] = field(default_factory=dict)

    def memory_of(self, sharding: str) -> FrameworkMemory:
        """The memory of the software in layouts with this sharding."""
        return self.memory if self.fully_sharded is None or sharding not in FULLY else self.fully_sharded


@dataclass(frozen=True, slots=True)
class Kernels(Entry):
    """Measured kernels of one accelerator, as a table of points.

    The trailing part of a name in ``achievable`` that starts with a digit is the size: ``gemm.fp8.1024`` is the
    fraction of peak at 1,024 rows, ``all_reduce.8.128_kb`` the seconds of 128 KB over 8 ranks.
    """

    accelerator: str = ""
    year: int = 0
    stands_in_from: int | None = None
    """First year of accelerators without measured kernels for which these stand in."""
    achievable: Mapping[str, Figure] = field(default_factory=dict)


REFUSED_SCOPES = {"interconnect": "scale-out", "technology": "scale-up"}
"""The scope of interconnects that a key does not take."""
