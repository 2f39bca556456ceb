"""Records of a resolved design: cluster, workload, layout, serving, and the assumptions made."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log, prod, sqrt
from typing import Any

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator, Interconnect, Kernels, Nic, Optics, Platform, Stack, Switch
from clusterspec.catalog.frameworks import NOTHING_KNOWN, Capabilities
from clusterspec.catalog.models import Model
from clusterspec.quantity import Bandwidth, Figure, Peak
from clusterspec.records import NamedTuple, dataclass, field
from clusterspec.spec.model import Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.logs.traces import TraceSummary


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """The dispatcher of tokens to experts, and the precision in which it sends them.

    ``all-to-all`` sends a copy for each expert of a token. ``deepep`` and ``hybrid`` send a token once to each node
    that has some of its experts, and from there once to each rank.
    """

    kind: str = "all-to-all"
    precision: str = "bf16"


# The requests of a serving plan, and the engines that serve them


@dataclass(frozen=True, slots=True)
class Engines:
    """Engines of one kind. An engine has ``tp`` × ``attention_dp`` × ``pp`` ranks.

    Its experts are distributed over ``ep`` × ``expert_tp`` = ``tp`` × ``attention_dp`` ranks of each stage, with
    ``redundant_experts`` copies in addition.
    """

    replicas: int = 1
    tp: int = 1
    attention_dp: int = 1
    ep: int = 1
    expert_tp: int = 1
    pp: int = 1
    redundant_experts: int = 0
    pool: str | None = None
    """The pool of the spec whose machine they run on; None for the cluster of the job."""

    @property
    def ranks(self) -> int:
        """Ranks of one engine."""
        return self.tp * self.attention_dp * self.pp


@dataclass(frozen=True, slots=True)
class Lengths:
    """A log-normal distribution of lengths in tokens: its mean and 99th percentile, cut at ``most``."""

    mean: int
    p99: int
    most: int | None

    @property
    def sigma(self) -> float:
        """The standard deviation of the logarithms, from the ratio of 99th percentile and mean."""
        return NORMAL_99 - sqrt(max(0.0, NORMAL_99 * NORMAL_99 - 2 * log(self.p99 / self.mean)))

    @property
    def typical(self) -> float:
        """The median over the mean, before the cut."""
        return exp(-self.sigma * self.sigma / 2)

    @property
    def variation(self) -> float:
        """The square of the coefficient of variation, before the cut."""
        return exp(self.sigma * self.sigma) - 1


NORMAL_99 = 2.3263478740408408
"""The 99th percentile of the standard normal distribution."""


class Session(NamedTuple):
    """Conversations of ``turns`` requests, with ``think_time`` seconds on average from an answer to the next one.

    A prompt has ``growth`` tokens more than the one before, its answer included. The first has ``first`` tokens, of
    which all sessions share ``shared_prefix``.
    """

    turns: int
    think_time: float
    growth: int
    shared_prefix: int
    first: float


class CacheTier(NamedTuple):
    """Memory below the accelerator's that keeps caches: bytes and B/s of each engine, node or plan (``scope``).

    ``writes_per_day`` are the times a day that the medium may be overwritten; None where it does not wear out.
    """

    medium: str
    capacity: float
    read: float
    write: float
    scope: str
    writes_per_day: float | None


class Target(NamedTuple):
    """A latency in seconds that ``percentile`` of 100 requests, of ``itl`` of the gaps between tokens, do not exceed.

    ``quantity`` is ``ttft``, ``tpot``, ``itl`` or ``end_to_end``; ``key`` is its place below `targets` in a spec.
    """

    quantity: str
    percentile: float
    seconds: float
    key: str


class ExpertLoad(NamedTuple):
    """How tokens are distributed over experts: the i-th most popular has i^-``alpha``, or each its own of ``counts``.

    ``ratio``, where it is stated, is the load of the fullest rank over the mean, as counted. ``balanced`` is whether
    experts are placed by load also without copies.
    """

    alpha: float = 0.0
    ratio: float | None = None
    counts: tuple[float, ...] = ()
    balanced: bool = False


class Transfer(NamedTuple):
    """How the cache of a prompt reaches its decode engine.

    It is sent ``whole`` after the prompt, or after each ``chunk`` or ``layer`` of it, in blocks of ``block_tokens``
    tokens, 0 where a prompt is one run of memory in every layer; over links of ``bandwidth`` B/s for each accelerator
    and direction, None where the machine's links carry it. ``first_token`` reaches the user from ``prefill`` engines
    before the transfer, or from ``decode`` engines after it.
    """

    send: str = "whole"
    block_tokens: int = 0
    bandwidth: float | None = None
    first_token: str = "decode"


class Hours(NamedTuple):
    """Minutes of a day, from ``start`` to before ``end``, in which ``rate`` requests arrive per second."""

    start: int
    end: int
    rate: float


class Day(NamedTuple):
    """The load of a day in successive hours, and how engines follow it.

    An engine serves ``cold_start`` seconds after its start, which is ``ahead`` seconds before the load rises. At least
    ``min_replicas`` run at any time.
    """

    hours: tuple[Hours, ...]
    cold_start: float
    ahead: float
    min_replicas: int


@dataclass(frozen=True, slots=True)
class Serving:
    """The requests of a serving plan and their engines. Lengths in tokens, times in seconds, shares from 0 to 1.

    ``load`` is ``closed`` (``concurrency`` requests in flight over all engines), ``open`` (``request_rate`` arrive per
    second), ``static`` (one batch that starts and ends together) or ``offline`` (as many as the cache holds).
    ``requests`` is the length of a finite run, None for steady state. ``max_sequences`` and ``chunk_tokens`` are limits
    of one engine, None where there is none. ``memory_fraction`` is the share of the memory available to weights and
    cache, or, with ``of_free``, the share for the cache of the memory left by the weights. With ``whole_requests`` a
    request starts only if the cache can hold it to its end; with ``raised`` the fraction rises where the requests need
    it. ``prefill`` and ``decode`` are set where they run on separate engines. Requests of an open load arrive with the
    coefficient of variation ``arrival_cv`` of the times between them, or as in the file ``trace``. Lengths that vary
    have ``input_lengths`` and ``output_lengths``, of which ``input_tokens`` and ``output_tokens`` are the means.
    """

    input_tokens: int
    output_tokens: int
    load: str
    concurrency: int | None
    request_rate: float | None
    requests: int | None
    prefix_hit: float
    draft_tokens: int
    draft_acceptance: float
    targets: tuple[Target, ...]
    percentile: float
    chunk_tokens: int | None
    max_sequences: int | None
    memory_fraction: float
    captured_graphs: bool
    of_free: bool = False
    chunk_of_engine: bool = False
    """The attention replicas of an engine share ``chunk_tokens``."""
    whole_requests: bool = False
    raised: bool = False
    prefill: Engines | None = None
    decode: Engines | None = None
    draft_method: str | None = None
    """What drafts tokens; None where the spec does not say."""
    arrival_cv: float = 1.0
    trace: str | None = None
    input_lengths: Lengths | None = None
    output_lengths: Lengths | None = None
    session: Session | None = None
    tiers: tuple[CacheTier, ...] = ()
    transfer: Transfer = Transfer()
    day: Day | None = None
    """None where the load is the same at all hours."""
    expert_load: ExpertLoad | None = None
    """None where the spec does not say; `cost.serving.rates` then assumes a spread."""

    @property
    def tokens(self) -> int:
        """Tokens of one request at its end."""
        return self.input_tokens + self.output_tokens

    @property
    def typical_prompt(self) -> float:
        """The median of the prompts over their mean: below 1 where they vary."""
        return self.input_lengths.typical if self.input_lengths else 1.0

    @property
    def longest(self) -> int | None:
        """Tokens of the longest request at its end; None where lengths vary and the spec states no maximum."""
        prompt = self.input_lengths.most if self.input_lengths else self.input_tokens
        answer = self.output_lengths.most if self.output_lengths else self.output_tokens
        return prompt + answer if prompt and answer else None

    def tightest(self, quantity: str) -> Target | None:
        """The shortest target of a latency; None where there is none."""
        return min(
            (each for each in self.targets if each.quantity == quantity), key=lambda each: each.seconds, default=None
        )


# The resolved cluster, workload and layout: catalog entries instead of names, a value for every key


Assumption = tuple[str, Any, str]
"""A key, the assumed value, and the reason."""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Level:
    """One switch level of the fabric as written in the spec; ``nodes`` under one block of it."""

    name: str
    nodes: int | None
    oversubscription: float
    switch_ports: int | None = None
    uplink_bandwidth: Bandwidth | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
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
    """Modules or cables by level, each from the lower to the upper end; one where both ends have the same."""

    @property
    def node_bandwidth(self) -> float:
        """B/s per direction of all NICs of one node at line rate."""
        return self.nics_per_node * self.nic_bandwidth.value

    @property
    def taper(self) -> float:
        """The product of the oversubscription ratios of all levels; 1 for a non-blocking fabric."""
        return prod(level.oversubscription for level in self.levels) if self.levels else prod(self.oversubscription)


RATE_OF_PRODUCTS = "products"


@dataclass(frozen=True, slots=True)
class MeasuredShare:
    """A measured share of line rate that a collective achieves, which replaces that of the catalog.

    ``part`` is the kind of share: ``ring``, ``exchange`` or ``reduction`` inside an island, ``network`` between
    islands. ``tier`` is the outermost tier that the measured group crossed, ``ranks`` its size. Of a measured step,
    both are `RATE_OF_PRODUCTS`, and the share is that of the catalog's rate of products and attention.
    """

    collective: str
    tier: str
    part: str
    ranks: int
    share: Figure


@dataclass(frozen=True, slots=True)
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
    measured: tuple[MeasuredShare, ...] = ()
    """Measured shares of line rate, which replace those of the catalog."""
    kernels: Kernels | None = field(default=None, compare=False)
    """Measured kernels that times of serving are made of; None where the design does not serve."""
    network_switches: tuple[tuple[str, Switch], ...] = ()
    """The switches of the networks other than the scale-out fabric that name one, by the network's key."""

    @property
    def all_nodes(self) -> int:
        """Nodes that are bought: those of the job, and the spares."""
        return self.nodes + self.spare_nodes

    @property
    def accelerators(self) -> int:
        """Accelerators without those of spare nodes."""
        return self.nodes * self.accelerators_per_node

    @property
    def ranks_per_node(self) -> int:
        return self.accelerators_per_node * self.ranks_per_accelerator

    @property
    def ranks_per_domain(self) -> int:
        return self.scale_up.domain * self.ranks_per_accelerator

    @property
    def nic_share(self) -> float | None:
        """NIC bandwidth per accelerator at line rate, B/s per direction; None without a fabric."""
        return self.scale_out.node_bandwidth / self.accelerators_per_node if self.scale_out else None


@dataclass(frozen=True, slots=True)
class Role:
    """A model beside the trained one: ``reference``, ``critic`` or ``reward``.

    ``model`` None: the trained one. On ``nodes`` of its own; None: on those of the trainer, and with ``offload`` in
    host memory between uses.
    """

    name: str
    model: str | None
    nodes: int | None
    offload: bool


@dataclass(frozen=True, slots=True)
class WeightSync:
    """The transfer of new weights to the engines: ``nccl``, ``rdma``, ``disk`` or ``ipc``.

    Sent in ``precision``, ``bucket`` bytes at a time.
    """

    method: str
    precision: str
    bucket: float
    ranks: str = "all"
    """The ranks of the trainer that join a broadcast: ``all``, or ``one``."""


@dataclass(frozen=True, slots=True)
class Rl:
    """Reinforcement learning: the samples of one step, and its roles.

    A sample has a prompt of ``inputs`` tokens and ``outputs`` generated tokens over all its ``turns``, between which
    its environment takes ``environment_time`` seconds. A step has ``minibatches`` optimizer steps for each of
    ``epochs``; rollout may run ``max_staleness`` steps ahead of the weights. ``placement`` is ``colocated`` (rollout
    and trainer on the same nodes in turn), ``split`` (rollout on ``rollout_nodes`` of its own), or ``partial``
    (rollout on all nodes, its longest samples on its own). ``trainer_nodes`` are those of trainer.
    """

    algorithm: str
    prompts: int
    samples_per_prompt: int
    inputs: Lengths
    outputs: Lengths
    turns: int
    environment_time: float
    minibatches: int
    epochs: int
    max_staleness: int
    placement: str
    trainer_nodes: int
    rollout_nodes: int
    roles: tuple[Role, ...]
    sync: WeightSync
    rollout_pool: str | None = None
    """The pool of the spec that has the nodes of rollout; None for the cluster of the trainer."""
    recorded: bool = False
    """Whether the trainer takes the log-probabilities of samples that the engines recorded."""

    @property
    def samples(self) -> int:
        """Samples of one step."""
        return self.prompts * self.samples_per_prompt

    @property
    def sample_tokens(self) -> float:
        """Mean tokens of one sample, prompt and output."""
        return float(self.inputs.mean + self.outputs.mean)

    @property
    def longest_sample(self) -> int:
        """Tokens of the longest sample: where prompts and outputs are cut, else their 99th percentiles."""
        return (self.inputs.most or self.inputs.p99) + (self.outputs.most or self.outputs.p99)

    def role(self, name: str) -> Role | None:
        """The role of a name; None where the algorithm has none."""
        return next((role for role in self.roles if role.name == name), None)


@dataclass(frozen=True, slots=True)
class Trainable:
    """Low-rank adapters of rank ``rank`` beside frozen weights.

    ``method`` is ``lora``, or ``qlora`` where the frozen matrices are stored in 4 bits; ``modules`` are those that have
    adapters: ``attention``, ``ffn`` (dense networks and shared experts) and ``experts``.
    """

    method: str
    rank: int
    modules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Workload:
    """The workload: a model, a sequence length in tokens, a global batch in sequences.

    In serving, ``serving`` has the requests, ``sequence_length`` is that of one request at its end and ``global_batch``
    counts the requests in flight. ``expert_parameter_precision`` is that of the experts' weights, ``kv_precision`` that
    of the key-value cache.
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
    """Tokens of the document of a token, in the mean over tokens, where several documents are packed into a sequence
    and attend to themselves alone; None where a sequence is one document."""

    fill: float = 1.0
    """The share of each sequence that holds tokens, in the mean: packed samples fill it in part."""
    rl: Rl | None = None
    """Reinforcement learning, else None. The other values then describe its trainer."""

    @property
    def filled_length(self) -> float:
        """Tokens of a sequence, in the mean."""
        return self.sequence_length * self.fill

    @property
    def attended_length(self) -> float:
        """Tokens of a sequence within which attention works: the document of a token, else the whole sequence."""
        return self.filled_length if self.document_length is None else self.document_length


@dataclass(frozen=True, slots=True)
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
    """The settings that the spec states, of those for which an assumption stands otherwise and rules must not err."""
    separate_engines: bool = False
    """Prefill and decode run on separate engines: the degrees describe decode, ``ranks`` counts both."""

    @property
    def data_ranks(self) -> int:
        """Ranks along the data-parallel axis: replicas, and the attention replicas inside each."""
        return self.dp * self.attention_dp


@dataclass(frozen=True, slots=True)
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
