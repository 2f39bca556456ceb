"""Records of a resolved design: cluster, workload and layout, and the assumptions made."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, isclose, prod

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import ETHERNET, Accelerator, Interconnect, Kernels, Nic, Optics, Platform, Switch
from clusterspec.catalog.frameworks import NOTHING_KNOWN, Capabilities
from clusterspec.catalog.models import Model
from clusterspec.catalog.stacks import Stack
from clusterspec.quantity import Bandwidth, Figure, Peak
from clusterspec.records import dataclass, field
from clusterspec.spec.model import Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clusterspec.cluster.measured_shares import MeasuredShare
    from clusterspec.cluster.requests import Serving
    from clusterspec.cluster.samples import Rl
    from clusterspec.logs.traces import TraceSummary


@dataclass(frozen=True)
class Overlap:
    """The communication that may overlap with computation.

    ``tp`` is ``none``, ``partial`` (the default of the software), ``full``, or the share from 0 to 1 that runs inside
    the GEMMs around it.
    """

    tp: str | float = "partial"
    cp: bool = True
    ep: bool = False
    dp: bool = True
    pp: bool = True

    @property
    def inside_gemms(self) -> float:
        """The share of tensor-parallel traffic that is stated to run inside GEMMs: 1 if it overlaps fully."""
        return float(self.tp == "full") if isinstance(self.tp, str) else float(self.tp)


@dataclass(frozen=True)
class Dispatcher:
    """The dispatcher of tokens to experts, and the precision in which it sends them.

    ``all-to-all`` sends a copy to each of a token's experts. ``deepep`` and ``hybrid`` send a token once to each node
    with any of its experts, and from there once to each rank.
    """

    kind: str = "all-to-all"
    precision: str = "bf16"


# The resolved cluster, workload and layout: catalog entries instead of names, a value for every key


Assumption = tuple[str, "Any", str]
"""A key, the assumed value, and the reason."""


@dataclass(frozen=True)
class ScaleUp:
    """The interconnect within one domain.

    ``domain`` in accelerators (1: PCIe only, or a single accelerator); ``bandwidth`` per accelerator over all links;
    ``peer_bandwidth`` between the slowest pair (equal to ``bandwidth`` with a switch); ``shape`` and ``axis_bandwidth``
    of a torus.
    """

    domain: int
    topology: str
    bandwidth: Bandwidth
    peer_bandwidth: Bandwidth
    interconnect: Interconnect | None = None
    shape: tuple[int, ...] = ()
    axis_bandwidth: tuple[Bandwidth, ...] = ()
    oversubscription: float = 1.0
    in_network_reduction: bool = False
    switches: int | None = None
    """Switch trays of a domain that spans several nodes. Each tray connects to every accelerator of the domain. None if
    unknown.
    """
    switch_loss: str = ""
    """What a job does after the loss of a tray: ``stops``, ``restarts`` or ``slows``; empty if unknown."""


@dataclass(frozen=True)
class Level:
    """One switch level of the fabric as written in the spec; ``nodes`` under one block of it."""

    name: str
    nodes: int | None
    oversubscription: float
    switch_ports: int | None = None
    uplink_bandwidth: Bandwidth | None = None
    count: int | None = None


@dataclass(frozen=True)
class ScaleOut:
    """The fabric between nodes. ``nic_bandwidth`` is the line rate of one NIC over all planes."""

    technology: Interconnect
    nics_per_node: int
    nic_bandwidth: Bandwidth
    topology: str
    oversubscription: tuple[float, ...]
    planes: int
    rails: int
    tiers: int | None
    pod_nodes: int | None
    switch: Switch | None
    switch_ports: int | None
    levels: tuple[Level, ...]
    extra_endpoints: int
    in_network_reduction: bool
    collective_plugin: str | None
    gpudirect_rdma: bool
    sharing: str
    load_balancing: str | None
    pfc: bool | None
    ecn: bool | None
    placement: str | None
    nic: Nic | None = None
    collective_library: str | None = None
    """Name and release, as written; None where the spec states none."""
    optics: tuple[tuple[str, tuple[Optics, ...]], ...] = ()
    """Modules or cables by level, each from the lower to the upper end; only one if both ends have the same."""

    @property
    def node_bandwidth(self) -> float:
        """B/s per direction of all NICs of one node at line rate."""
        return self.nics_per_node * self.nic_bandwidth.value

    @property
    def taper(self) -> float:
        """The product of the oversubscription ratios of all levels; 1 for a non-blocking fabric."""
        return prod(level.oversubscription for level in self.levels) if self.levels else prod(self.oversubscription)


@dataclass(frozen=True)
class Cluster:
    """The resolved cluster. ``nodes`` run the job; ``spare_nodes`` are bought in addition."""

    accelerator: Accelerator
    nodes: int
    spare_nodes: int
    accelerators_per_node: int
    ranks_per_accelerator: int
    scale_up: ScaleUp
    scale_out: ScaleOut | None
    platform: Platform | None = None
    pcie_host: int | None = None
    pcie_nic: int | None = None
    node_power: Figure | None = None
    accelerator_cap: Figure | None = None
    """Watts to which each accelerator is limited; None where the spec states no cap below its own power."""
    cloud: bool = False
    host_memory: Figure | None = None
    """Bytes of host memory per node; None where the spec states none."""
    host_memory_bandwidth: Figure | None = None
    """B/s of the host memory of one node, reads and writes together; None where the spec states none."""
    measured: tuple[MeasuredShare, ...] = ()
    """Measured shares of line rate, which replace those of the catalog."""
    kernels: Kernels | None = field(default=None, compare=False)
    """Measured kernels that times of serving are made of; None where the design does not serve."""
    kernels_part: Accelerator | None = field(default=None, compare=False)
    """The accelerator they were measured on, if it is another one."""
    network_switches: tuple[tuple[str, Switch], ...] = ()
    """The switches of the networks other than the scale-out fabric that name one, by the network's key."""

    @property
    def all_nodes(self) -> int:
        """Nodes that are bought: the job's nodes and the spares."""
        return self.nodes + self.spare_nodes

    @property
    def accelerators(self) -> int:
        """Accelerators without those of spare nodes."""
        return self.nodes * self.accelerators_per_node

    @property
    def ranks_per_node(self) -> int:
        return self.accelerators_per_node * self.ranks_per_accelerator

    def nodes_of_ranks(self, ranks: int) -> int:
        """The nodes that a number of ranks occupies; the last node may be partly filled."""
        return -(-ranks // self.ranks_per_node)

    @property
    def ranks_per_domain(self) -> int:
        return self.scale_up.domain * self.ranks_per_accelerator

    @property
    def nic_bandwidth_per_accelerator(self) -> float | None:
        """NIC bandwidth per accelerator at line rate, B/s per direction; None without a fabric."""
        return self.scale_out.node_bandwidth / self.accelerators_per_node if self.scale_out else None

    @property
    def built_in_bandwidth(self) -> float:
        """B/s per direction of the network ports on the accelerators of a node; 0 if they have none."""
        port = self.accelerator.nic_bandwidth.value if self.accelerator.nic_bandwidth else 0.0
        return port * (self.accelerator.built_in_ports or 0) * self.accelerators_per_node

    @property
    def has_built_in_nics(self) -> bool:
        """Whether the NICs of the fabric are ports on the accelerators, each alone or all joined in cages."""
        out, port, most = self.scale_out, self.accelerator.nic_bandwidth, self.built_in_bandwidth
        if out is None or port is None or out.nic is not None or out.technology.family not in ETHERNET:
            return False
        alone = isclose(out.nic_bandwidth.value, port.value) and out.node_bandwidth <= most
        return alone or isclose(out.node_bandwidth, most, rel_tol=0.01)


@dataclass(frozen=True)
class Trainable:
    """Low-rank adapters of rank ``rank`` added to frozen weights.

    ``method`` is ``lora``, or ``qlora`` where the frozen matrices are stored in 4 bits; ``modules`` are those that have
    adapters: ``attention``, ``ffn`` (dense networks and shared experts) and ``experts``. ``precision`` is the precision
    in which adapters are stored (None: as usual for the framework); with ``autocast`` they multiply in 16 bits in any
    case.
    """

    method: str
    rank: int
    modules: tuple[str, ...]
    precision: str | None = None
    autocast: bool = True


@dataclass(frozen=True)
class Workload:
    """The workload: a model, a sequence length in tokens, a global batch in sequences.

    In serving, ``serving`` describes the requests, ``sequence_length`` is the final length of one request and
    ``global_batch`` the number of requests in flight. ``expert_parameter_precision`` is the precision of the experts'
    weights, ``kv_precision`` of the key-value cache.
    """

    kind: str
    model: Model
    sequence_length: int
    global_batch: int
    precision: str
    parameter_precision: str
    expert_parameter_precision: str
    kv_precision: str
    gradient_precision: str
    optimizer: str
    attention: str
    peak: Peak | None
    """Dense FLOP/s of one accelerator at ``precision``; None where it does not support that precision."""
    tokens: float | None = None
    data_loading: float | None = None
    """Exposed seconds of data loading per step."""
    expected_mfu: float | None = None
    serving: Serving | None = None
    recipe: str | None = None
    """How values are scaled to narrow precisions; None where the spec does not say."""
    quantization: str | None = None
    """The method that quantized the checkpoint; None where the spec does not say."""
    trainable: Trainable | None = None
    """The adapters that are trained; None where training changes all weights."""
    document_length: float | None = None
    """Length in tokens of a token's document, as the mean over tokens, if several documents are packed into a sequence
    without attention between them; None where a sequence is one document.
    """
    fill: float = 1.0
    """The mean share of each sequence that holds tokens: packed samples fill it only in part."""
    residual_precision: str | None = None
    """The precision of the hidden states between blocks; None if it equals that of the activations."""
    rl: Rl | None = None
    """Reinforcement learning, else None. The other values then describe its trainer."""

    @property
    def filled_length(self) -> float:
        """Tokens of a sequence, on average."""
        return self.sequence_length * self.fill

    @property
    def tokens_of_step(self) -> float:
        """Tokens that an optimizer step contributes to ``tokens``, the length of the run.

        Reinforcement learning counts each sample once, without the padding of packed sequences and however many epochs
        train on it.
        """
        return self.rl.step_tokens / self.rl.updates if self.rl else float(self.global_batch * self.sequence_length)

    @property
    def steps_of_run(self) -> int | None:
        """Whole steps that train at least ``tokens``, in reinforcement learning those of all roles."""
        step = self.rl.step_tokens if self.rl else self.tokens_of_step
        return max(1, ceil(self.tokens / step * (1 - 1e-12))) if self.tokens and step else None

    @property
    def attended_length(self) -> float:
        """Tokens of a sequence within which attention works: the document of a token, else the whole sequence."""
        return self.filled_length if self.document_length is None else self.document_length


@dataclass(frozen=True)
class Layout:
    """The parallel layout with every degree resolved. Degrees count ranks.

    ``ranks`` = tp × attention_dp × cp × pp × dp; ``attention_dp`` is 1 in training, and ``dp`` counts replicas.
    ``expert_dp`` = ranks / (expert_tp × ep × pp). ``stage_layers`` has pp × virtual_stages numbers in model order.
    ``order`` lists the axes from the fastest-varying.
    """

    framework: str
    software_year: int
    ranks: int
    nodes: int
    tp: int
    cp: int
    ep: int
    expert_tp: int
    pp: int
    dp: int
    expert_dp: int
    sequence_parallel: bool
    cp_method: str
    sharding: str
    shard_group: int
    order: tuple[str, ...]
    schedule: str
    virtual_stages: int
    stage_layers: tuple[int, ...]
    micro_batch: int
    micro_batches: int | None
    """Per data-parallel replica and optimizer step; None where the batch is not known."""
    recompute: str | tuple[str, ...]
    """none, selective, full, or the modules that are recomputed."""
    offload_optimizer: float
    offload_activations: float
    master_precision: str
    moments_precision: str
    gradient_compression: float
    overlap: Overlap
    dispatcher: Dispatcher = Dispatcher()
    recompute_layers: int | None = None
    """Layers of each stage, or of each of its virtual stages, that full recomputation covers; None: all."""
    gradient_sync: str = "micro-batch"
    """When ranks reduce gradients that sharding divides: after each `micro-batch`, or once in a `step`."""
    attention_dp: int = 1
    redundant_experts: int = 0
    software: str | None = None
    """Framework and release, where the spec names a release."""
    nodes_per_domain: int | None = None
    """Rack-scale machines: the nodes used in each domain, where not all are used."""
    stack: Stack | None = field(default=None, compare=False)
    """The software generation of ``framework`` and ``software_year``; None where none is known."""

    capabilities: Capabilities = field(default=NOTHING_KNOWN, compare=False, repr=False)
    """What the framework supports and requires in this release or year."""
    stated: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    """The settings that the spec states although they have a default that depends on the rest of the layout. Rules
    report no errors about the defaults.
    """
    separate_engines: bool = False
    """Prefill and decode run on separate engines: the degrees describe decode, ``ranks`` counts both."""

    @property
    def recomputed_share(self) -> float:
        """The share of the layers that full recomputation covers."""
        if self.recompute_layers is None or self.recompute != "full":
            return 1.0
        stages = self.pp * self.virtual_stages
        return min(1.0, self.recompute_layers * stages / sum(self.stage_layers))

    @property
    def data_ranks(self) -> int:
        """Ranks along the data-parallel axis: replicas, and the attention replicas inside each."""
        return self.dp * self.attention_dp

    @property
    def replica_ranks(self) -> int:
        """Ranks of one replica of the model. In serving this is one engine, with separate engines one decode engine."""
        return self.tp * self.attention_dp * self.cp * self.pp


@dataclass(frozen=True)
class Design:
    """The resolved design: the input of cost, rules and reports.

    A part is ``None`` where the spec lacks it or its description cannot be resolved; findings report the reason.
    """

    spec: Spec
    cluster: Cluster | None = None
    workload: Workload | None = None
    layout: Layout | None = None
    assumptions: tuple[Assumption, ...] = field(default=())
    catalog: Catalog | None = field(default=None, compare=False, repr=False)
    """The catalog that names were looked up in; variations of the design use it too."""
    traces: Mapping[str, TraceSummary] = field(default_factory=dict, repr=False)
    """The files of requests that the spec names, by name, as far as they could be read."""
    shares_machine: bool = field(default=False, compare=False, repr=False)
    """Whether the design is part of a fleet, so that other jobs may use the nodes that its own job leaves idle."""
