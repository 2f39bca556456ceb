"""The spec as types: what was asked for, units settled, names not yet looked up.

Field names are the keys of the format, so a field's path in these objects is its key path in
the file. ``None`` means that the author did not say (or that what was said could not be read,
in which case there is a finding). Nothing here is a default: those are applied, and listed as
assumptions, when the cluster is resolved. Every `Quantity` is as the author counted it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from clusterspec.quantity import Quantity

Number = int | float


@dataclass(frozen=True, slots=True)
class AcceleratorSpec:
    """A catalog entry with some figures changed (``{like: h100-sxm-80gb, memory: 96 GB}``)."""

    like: str | None = None
    memory: Quantity | None = None
    memory_bandwidth: Quantity | None = None
    power: Quantity | None = None
    peak: dict[str, Quantity] | None = None


@dataclass(frozen=True, slots=True)
class PcieSpec:
    """Generations of the slots; a bare generation counts for both."""

    host: int | None = None
    nic: int | None = None


@dataclass(frozen=True, slots=True)
class ScaleUpSpec:
    """The interconnect inside a domain; bandwidths say their direction."""

    interconnect: str | None = None
    bandwidth: Quantity | None = None
    peer_bandwidth: Quantity | None = None
    topology: str | None = None
    shape: tuple[int, ...] | None = None
    axis_bandwidth: tuple[Quantity, ...] | None = None
    oversubscription: Quantity | None = None
    domain: int | None = None
    in_network_reduction: bool | None = None


@dataclass(frozen=True, slots=True)
class FlowControlSpec:
    """What keeps a RoCE fabric from dropping packets."""

    pfc: bool | None = None
    ecn: bool | None = None


@dataclass(frozen=True, slots=True)
class LevelSpec:
    """One switch level of the scale-out fabric, from the leaf upward."""

    name: str | None = None
    nodes: int | None = None
    switch_ports: int | None = None
    uplink_bandwidth: Quantity | None = None
    oversubscription: Quantity | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """Links, or cables, between the levels of a fabric."""

    node_leaf: int | None = None
    leaf_spine: int | None = None
    spine_core: int | None = None


@dataclass(frozen=True, slots=True)
class ScaleOutSpec:
    """The fabric between nodes. ``oversubscription`` holds one ratio (down over up) per level."""

    technology: str | None = None
    nics_per_node: int | None = None
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
    extra_endpoints: int | None = None
    in_network_reduction: bool | None = None
    flow_control: FlowControlSpec | None = None
    load_balancing: str | None = None
    sharing: str | None = None
    collective_plugin: str | None = None
    gpudirect_rdma: bool | None = None
    placement: str | None = None


@dataclass(frozen=True, slots=True)
class NetworkSpec:
    """One of the three networks beside the scale-out fabric."""

    nics_per_node: int | None = None
    nic_bandwidth: Quantity | None = None
    bandwidth: Quantity | None = None
    capacity: Quantity | None = None
    technology: str | None = None
    switch: str | None = None
    shares: str | None = None


@dataclass(frozen=True, slots=True)
class NetworksSpec:
    """The networks that every node has beside the fabric."""

    frontend: NetworkSpec | None = None
    storage: NetworkSpec | None = None
    out_of_band: NetworkSpec | None = None


@dataclass(frozen=True, slots=True)
class PowerSpec:
    """Electrical power of a node, a switch and a rack, in watts."""

    node: Quantity | None = None
    switch: Quantity | None = None
    rack_overhead: Quantity | None = None
    rack_limit: Quantity | None = None
    nodes_per_rack: int | None = None


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """The machine as described."""

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
    power: PowerSpec | None = None


@dataclass(frozen=True, slots=True)
class LatentAttentionSpec:
    """Widths of multi-head latent attention: query and key-value compression, rotary part."""

    q: int | None = None
    kv: int | None = None
    rope: int | None = None


@dataclass(frozen=True, slots=True)
class RoutingSpec:
    """Limits on where one token's experts may lie."""

    max_nodes: int | None = None


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model described in place, or changes to a catalog entry (``base``)."""

    base: str | None = None
    layers: int | None = None
    hidden: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    latent_attention: LatentAttentionSpec | None = None
    ffn_hidden: int | None = None
    vocab: int | None = None
    max_sequence_length: int | None = None
    gated_ffn: bool | None = None
    tied_embeddings: bool | None = None
    attention_window: int | None = None
    experts: int | None = None
    experts_per_token: int | None = None
    expert_ffn_hidden: int | None = None
    shared_experts: int | None = None
    moe_layers: int | None = None
    routing: RoutingSpec | None = None


@dataclass(frozen=True, slots=True)
class WorkloadSpec:
    """The work planned on the machine."""

    kind: str | None = None
    model: str | ModelSpec | None = None
    sequence_length: int | None = None
    global_batch: int | None = None
    precision: str | None = None
    parameter_precision: str | None = None
    gradient_precision: str | None = None
    optimizer: str | None = None
    attention: str | None = None
    data_loading: str | Quantity | None = None
    tokens: Quantity | None = None
    peak_flops: Quantity | None = None
    expected_mfu: float | None = None


@dataclass(frozen=True, slots=True)
class OffloadSpec:
    """Shares, from 0 to 1, kept in host memory."""

    optimizer: float | None = None
    activations: float | None = None


@dataclass(frozen=True, slots=True)
class OptimizerStatesSpec:
    """Precision of the master weights and of the moments."""

    master: str | None = None
    moments: str | None = None


@dataclass(frozen=True, slots=True)
class OverlapSpec:
    """Which communication may hide under computation."""

    tp: bool | None = None
    cp: bool | None = None
    ep: bool | None = None
    dp: bool | None = None
    pp: bool | None = None


@dataclass(frozen=True, slots=True)
class LayoutSpec:
    """How the work is cut."""

    framework: str | None = None
    software_year: int | None = None
    nodes: int | None = None
    nodes_per_domain: int | None = None
    tp: int | None = None
    sequence_parallel: bool | None = None
    cp: int | None = None
    cp_method: str | None = None
    ep: int | None = None
    expert_tp: int | None = None
    pp: int | None = None
    stage_layers: tuple[int, ...] | None = None
    dp: int | None = None
    sharding: str | None = None
    shard_group: int | None = None
    order: tuple[str, ...] | None = None
    schedule: str | None = None
    virtual_stages: int | None = None
    micro_batch: int | None = None
    recompute: str | None = None
    offload: OffloadSpec | None = None
    optimizer_states: OptimizerStatesSpec | None = None
    gradient_compression: Number | None = None
    overlap: OverlapSpec | None = None


@dataclass(frozen=True, slots=True)
class MeasuredSpec:
    """One measurement of the user's machine: a figure, or a log of nccl-tests."""

    collective: str | None = None
    nodes: int | None = None
    ranks: int | None = None
    size: Quantity | None = None
    busbw: Quantity | None = None
    algbw: Quantity | None = None
    algorithm: str | None = None
    log: str | None = None


@dataclass(frozen=True, slots=True)
class AcceptanceSpec:
    """One test that a supplier must pass."""

    collective: str | None = None
    nodes: int | None = None
    ranks: int | None = None
    size: Quantity | None = None
    busbw: Quantity | None = None
    algbw: Quantity | None = None
    algorithm: str | None = None
    scope: str | None = None
    passes: str | None = None
    duration: Quantity | None = None


@dataclass(frozen=True, slots=True)
class OperationsSpec:
    """How the machine is kept running."""

    checkpoint_interval: Quantity | None = None
    checkpoint_time: Quantity | None = None
    mean_time_between_failures: Quantity | None = None
    node_mtbf: Quantity | None = None
    repair_time: Quantity | None = None
    burn_in: Quantity | None = None


Price = Number | tuple[Number, Number]


@dataclass(frozen=True, slots=True)
class QuoteLine:
    """One line of a supplier's quote."""

    part: str | None = None
    quantity: Number | None = None
    unit_price: Number | None = None
    price: Number | None = None


@dataclass(frozen=True, slots=True)
class ProcurementSpec:
    """Prices and terms; a price may be a range."""

    currency: str | None = None
    as_of: str | None = None
    term: Quantity | None = None
    prices: dict[str, Price] | None = None
    quote: tuple[QuoteLine, ...] | None = None
    quoted_total: Number | None = None
    electricity: Number | None = None
    pue: float | None = None
    utilization: float | None = None


@dataclass(frozen=True, slots=True)
class DocumentSpec:
    """What the report's title page says."""

    revision: str | None = None
    author: str | None = None
    signatories: tuple[str, ...] | None = None
    audience: str | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """A whole spec. ``broken`` holds the paths whose value was written but could not be read."""

    file: str
    name: str | None = None
    description: str | None = None
    cluster: ClusterSpec | None = None
    workload: WorkloadSpec | None = None
    layout: LayoutSpec | None = None
    measured: tuple[MeasuredSpec, ...] | None = None
    acceptance: tuple[AcceptanceSpec, ...] | None = None
    operations: OperationsSpec | None = None
    procurement: ProcurementSpec | None = None
    document: DocumentSpec | None = None
    broken: frozenset[tuple[str | int, ...]] = field(default=frozenset())
