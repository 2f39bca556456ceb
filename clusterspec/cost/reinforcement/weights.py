"""The transfer of new weights from the trainer to the engines of rollout, and the switch between the two."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from clusterspec.catalog.models import Block, Model
from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.cluster.samples import Rl
from clusterspec.cluster.sites import PoolLink
from clusterspec.cost import assumed_figure, parameters
from clusterspec.cost.adapters import model_adapters
from clusterspec.cost.formulas.reinforcement import weight_sync_time
from clusterspec.cost.reinforcement.rollout import GROUP, Rollout
from clusterspec.quantity import Quantity, precision_width, table_width
from clusterspec.records import NamedTuple, dataclass
from clusterspec.spec.model import NetworkSpec
from clusterspec.standard import sum_of

SHARE = assumed_figure(
    GROUP,
    "sync.share",
    0.9,
    "share of the line rate that sequential broadcasts of weight buckets sustain, fitted",
)
TENSOR = assumed_figure(
    GROUP,
    "sync.tensor",
    9e-5,
    "time to find and copy one tensor of a checkpoint in the engine, fitted to the transfers of"
    " checkpoint-engine and miles (docs/accuracy.md)",
    "s",
)
SINGLE = assumed_figure(
    GROUP,
    "sync.single",
    3.4e-4,
    "time of one collective inside a scale-up domain, or of one memory handle, for a single tensor, fitted to the "
    "unpacked transfers of slime and vime on one node (docs/accuracy.md)",
    "s",
)
CROSSING = assumed_figure(
    GROUP,
    "sync.crossing",
    1.5e-3,
    "time of one collective for a single tensor over ranks in several scale-up domains, fitted to the"
    " transfers of slime on eight nodes (docs/accuracy.md)",
    "s",
)
FIXED = assumed_figure(
    GROUP, "sync.fixed", 0.5, "time per transfer: engines stop, and restart with an empty cache", "s"
)
DISK = assumed_figure(
    GROUP, "sync.disk", 1.4e9, "largest rate of one node that writes or reads files of weights", "B/s"
)


class TensorCounts(NamedTuple):
    """Tensors of one layer: projections of attention and their biases, norms, and the matrices of a gated network."""

    attention: int
    biases: int
    norms: int
    network: int


CHECKPOINT = TensorCounts(4, 3, 2, 3)
MEGATRON = TensorCounts(2, 1, 2, 2)
"""Megatron fuses queries, keys and values, and the first two matrices of a gated network."""
HEAD_NORMS = 2
"""Norms of queries and keys, where a model has them."""


@dataclass(frozen=True)
class Sync:
    """One transfer of weights: ``sent`` bytes pass the slowest link at ``bandwidth`` B/s, in ``tensors`` tensors.

    ``weights`` are the bytes of the whole model as sent, ``messages`` the collectives and handles of single tensors,
    which cost ``each`` seconds on average. ``wire`` is the transfer time of the bytes in seconds, without overheads;
    ``stated_wire`` is the part of it that stated rates account for, less than ``wire`` where a node's rate to files is
    assumed.
    """

    method: str
    weights: float
    sent: float
    bandwidth: float
    tensors: float
    overhead: float
    fixed: float
    messages: float = 0.0
    each: float = SINGLE.value
    stated_wire: float = 0.0

    @property
    def seconds(self) -> float:
        """Seconds of the transfer."""
        time = weight_sync_time(
            self.sent, self.bandwidth, self.tensors, self.overhead, messages=self.messages, each=self.each
        )
        return time + self.fixed

    @property
    def wire(self) -> float:
        return self.sent / self.bandwidth

    @property
    def least_seconds(self) -> float:
        """Seconds of the transfer if only stated rates limit its bytes."""
        return self.seconds - self.wire + self.stated_wire


class FileStore(NamedTuple):
    """The stated rates of a file system that carries weights, in B/s: of all clients together, and of one ``client``.

    ``crossings`` is how often the weights cross the link between the trainer's machine and the engines'.
    """

    write: float | None = None
    read: float | None = None
    client: float | None = None
    crossings: float = 0.0


def checkpoint_tensors(model: Model, ep: int = 1) -> int:
    """Number of tensors of a checkpoint, each expert counted. With ``ep``, the number on one rank when ``ep`` ranks
    share the experts.
    """
    return _shared_tensors(model, CHECKPOINT) + ceil(_expert_tensors(model, CHECKPOINT) / ep)


def loaded_tensors(workload: Workload, rl: Rl, ep: int) -> int:
    """The number of tensors that one rank of an engine loads. Usually these are all tensors of the checkpoint. With
    ``rdma``, experts of other ranks are excluded; with in-place loading, all experts of a matrix are one tensor; if
    only adapters are trained, each adapted matrix has two tensors.
    """
    model = workload.model
    if workload.trainable is not None:
        dense = max(0, model.ffn_layers - model.moe_layers) + model.moe_layers * bool(model.shared_experts)
        matrices = {
            "attention": CHECKPOINT.attention * (model.attention_layers + model.linear_layers),
            "ffn": CHECKPOINT.network * dense,
            "experts": _expert_tensors(model, CHECKPOINT),
        }
        return 2 * sum(matrices[module] for module in workload.trainable.modules)
    if rl.sync.load == "in-place":
        return checkpoint_tensors(model, max(1, model.experts))
    return checkpoint_tensors(model, ep if rl.sync.method == "rdma" else 1)


def _shared_tensors(model: Model, counts: TensorCounts) -> int:
    """Tensors of a model outside its experts: tables, last norm, attention, norms, networks and routers."""
    dense = max(0, model.ffn_layers - model.moe_layers)
    routed = model.moe_layers * (counts.network * bool(model.shared_experts) + 1)
    block = model.block or Block()
    heads = counts.biases * (block.bias in {"qkv", "all"}) + HEAD_NORMS * bool(block.qk_norm)
    mixing = model.attention_layers * (counts.attention + heads) + model.linear_layers * counts.attention
    norms = (model.attention_layers + model.linear_layers) * counts.norms
    return 3 + mixing + norms + dense * counts.network + routed


def _expert_tensors(model: Model, counts: TensorCounts) -> int:
    return model.moe_layers * counts.network * model.experts


class Messages(NamedTuple):
    """The number of collectives or handle transfers of single tensors, inside a scale-up domain and between domains."""

    inside: float
    crossing: float

    @property
    def total(self) -> float:
        return self.inside + self.crossing

    @property
    def mean_seconds(self) -> float:
        """The mean seconds of one message."""
        seconds = self.inside * SINGLE.value + self.crossing * CROSSING.value
        return seconds / self.total if self.total else SINGLE.value


def gathering_collectives(model: Model, layout: Layout, domain: int, *, every_expert: bool = False) -> Messages:
    """The number of collectives with which one trainer rank gathers all tensors, one tensor at a time; a domain has
    ``domain`` ranks.

    FSDP gathers every tensor once. Megatron broadcasts each from its pipeline stage, gathers it over tensor
    parallelism, and gathers corresponding experts of all expert-parallel ranks (verl, commit b178a3c,
    verl/utils/megatron_utils.py), or broadcasts every expert from its rank (slime, commit 624b824a8,
    slime/backends/megatron_utils/update_weight_utils.py).
    """
    if layout.sharding in {"fsdp", "hsdp"}:
        return _messages({layout.ranks: float(checkpoint_tensors(model))}, domain)
    experts, others = _expert_tensors(model, MEGATRON), _shared_tensors(model, MEGATRON)
    local = experts / layout.ep
    expert_ranks = layout.ep * layout.expert_tp
    stages = (layout.pp > 1) * (others + local)
    over_experts = (layout.ep > 1) * (experts if every_expert else local) + (layout.expert_tp > 1) * experts
    found: dict[int, float] = {}
    for ranks, count in (
        (max(layout.tp, expert_ranks) * layout.pp, stages),
        (layout.tp, (layout.tp > 1) * float(others)),
        (expert_ranks, over_experts),
    ):
        found[ranks] = found.get(ranks, 0.0) + count
    return _messages(found, domain)


def _messages(by_ranks: Mapping[int, float], domain: int) -> Messages:
    """The collectives inside a domain and between domains; ``by_ranks`` has their number by the span of their groups in
    adjacent ranks.
    """
    crossing = sum_of(count for ranks, count in by_ranks.items() if ranks > domain)
    return Messages(sum_of(by_ranks.values()) - crossing, crossing)


def weight_bytes(workload: Workload, layout: Layout, precision: str) -> float:
    """Bytes of all weights in a precision, with embedding and head in at least 16 bits; only the adapters if only these
    are trained.
    """
    if workload.trainable is not None:
        return model_adapters(workload, layout) * precision_width(precision)
    counted = parameters.model_weights(workload.model)
    tables = counted.embedding + counted.head
    return (counted.total - tables) * precision_width(precision) + tables * table_width(precision)


def sync_of(
    cluster: Cluster,
    workload: Workload,
    layout: Layout,
    rl: Rl,
    rollout: Rollout,
    *,
    link: PoolLink | None = None,
    store: FileStore | None = None,
) -> Sync:
    """The transfer of the trained weights to all engines, over ``link`` if the engines are on another machine.

    ``nccl`` and ``ipc`` gather every tensor on the trainer's ranks and send it whole: over all NICs of a node if all
    its ranks join the broadcast (NeMo RL, commit 7ea279a, nemo_rl/algorithms/grpo.py), and over the NICs of one
    accelerator if only one joins (verl, commit b178a3c, verl/checkpoint_engine/nccl_checkpoint_engine.py). ``rdma``
    sends each part from the rank that has it to the ranks that need it, each over the NICs of one accelerator. ``disk``
    writes the weights to ``store`` once, and every node of rollout reads them.
    """
    weights = weight_bytes(workload, layout, rl.sync.precision)
    scaled = 2.0 if precision_width(rl.sync.precision) <= 1.1 else 1.0  # tensors of 8 and 4 bits come with scales
    sent, bandwidth = _sent_bytes_and_rate(cluster, workload, layout, rl, rollout, weights=weights, link=link)
    stated = sent / (bandwidth * SHARE.value)
    if rl.sync.method == "disk":
        files = store or FileStore()
        stated = _stated_file_seconds(weights, rollout, files, link)
        stated = max(stated, sent / files.client) if files.client else stated
        bandwidth = sent / max(stated, 0.0 if files.client else sent / bandwidth)
    messages = single_messages(workload.model, layout, rl, cluster.ranks_per_domain)
    stopped = FIXED.value if rl.sync.requests == "stopped" else 0.0
    return Sync(
        rl.sync.method,
        weights,
        sent,
        bandwidth if rl.sync.method == "disk" else bandwidth * SHARE.value,
        scaled * loaded_tensors(workload, rl, rollout.engine.layout.ep),
        TENSOR.value,
        stopped + (link.latency if link else 0.0),
        messages.total,
        messages.mean_seconds,
        stated,
    )


def _sent_bytes_and_rate(
    cluster: Cluster,
    workload: Workload,
    layout: Layout,
    rl: Rl,
    rollout: Rollout,
    *,
    weights: float,
    link: PoolLink | None,
) -> tuple[float, float]:
    """The bytes that the busiest sender or receiver handles for ``weights`` bytes of weights, and its rate in B/s.
    Rates are line rates, except for a storage system.
    """
    method = rl.sync.method
    inside, between = _link_rates(cluster)
    spread = layout.tp * layout.pp * layout.ep if layout.sharding not in {"fsdp", "hsdp"} else layout.ranks
    gathers = inside if spread <= cluster.ranks_per_domain else between
    engines = rollout.engine.replicas
    if link is not None:  # one node at the slower end receives them, or all that the link carries
        between = min(between, _link_rates(rollout.engine.cluster)[1], link.node, link.total)
    if method == "disk":
        sent = weights * (1 + engines * rollout.engine.ranks / rollout.accelerators)
        bandwidth = DISK.value
    elif method == "rdma":
        sends = weights * engines * cluster.ranks_per_accelerator / layout.ranks
        receives = weights * rank_share(workload.model, rollout.engine.layout)
        receives *= rollout.engine.cluster.ranks_per_accelerator
        sent, bandwidth = max(sends, receives), min(between, _nic_rate(cluster), _nic_rate(rollout.engine.cluster))
        if link is not None and weights * engines / link.total > sent / bandwidth:
            sent, bandwidth = weights * engines, link.total
    elif method == "ipc":
        sent, bandwidth = weights, gathers
    else:
        sender = min(between, _nic_rate(cluster)) if rl.sync.ranks == "one" else between
        sent, bandwidth = weights, 1 / (1 / gathers + 1 / sender)
    return sent, bandwidth


def single_messages(model: Model, layout: Layout, rl: Rl, domain: int) -> Messages:
    """The collectives and handle transfers of single tensors in one weight transfer; none if both sides pack tensors or
    if the weights pass through files.
    """
    if rl.sync.method == "disk":
        return Messages(0.0, 0.0)
    every = rl.sync.gather == "every-expert"
    found = Messages(0.0, 0.0)
    if rl.sync.gather != "packed":
        found = gathering_collectives(model, layout, domain, every_expert=every)
    return found._replace(inside=found.inside + (checkpoint_tensors(model) if rl.sync.load == "single" else 0))


def rank_share(model: Model, layout: Layout) -> float:
    """The share of the weights on one rank of an engine: its experts, and its shard of all other weights."""
    counted = parameters.model_weights(model)
    experts = counted.held.moe_layers * counted.experts * counted.expert / counted.total
    return ((1 - experts) / layout.tp + experts / (layout.ep * layout.expert_tp)) / layout.pp


def _nic_rate(cluster: Cluster) -> float:
    """B/s per direction of the NICs of one accelerator, or of its scale-up links if there is no fabric."""
    return cluster.nic_bandwidth_per_accelerator or cluster.scale_up.bandwidth.value


def file_store(design: Design, rollout: Rollout) -> FileStore:
    """The file system through which the trainer of a design hands weights to the engines.

    Engines on another machine without a storage system of their own read the trainer's over the link, each node for
    itself. Otherwise the weights cross the link once.
    """
    own, theirs = _storage(design), _storage(rollout.design)
    away = (
        design.workload is not None and design.workload.rl is not None and design.workload.rl.rollout_pool is not None
    )
    crossings = 0.0 if not away else _rollout_nodes(rollout) if theirs is None else 1.0
    read = own if theirs is None else theirs
    return FileStore(
        _rate(own or theirs, "bandwidth"),
        _rate(read, "read") or _rate(read, "bandwidth"),
        _rate(read, "per_client"),
        crossings,
    )


def _storage(design: Design) -> NetworkSpec | None:
    """The storage system of a machine; None without one, or where it names another machine's."""
    section = design.spec.cluster
    store = section.networks.storage if section and section.networks else None
    return store if store is not None and store.pool is None else None


def _rate(store: NetworkSpec | None, name: str) -> float | None:
    found: Quantity | None = getattr(store, name, None)
    return found.value if found is not None else None


def _rollout_nodes(rollout: Rollout) -> float:
    return max(1.0, rollout.accelerators / rollout.engine.cluster.accelerators_per_node)


def _stated_file_seconds(weights: float, rollout: Rollout, found: FileStore, link: PoolLink | None) -> float:
    """Seconds to write weights and to read them on every node of rollout at the stated rates; 0 without any."""
    written = weights / found.write if found.write else 0.0
    read = weights * _rollout_nodes(rollout) / found.read if found.read else 0.0
    crossing = weights * found.crossings / link.total if link is not None and link.total else 0.0
    return written + max(read, crossing)


def _link_rates(cluster: Cluster) -> tuple[float, float]:
    """B/s per direction of a broadcast: into an accelerator inside a domain, and into a node from another domain.

    All NICs of a node carry parts of a broadcast, which the scale-up links combine.
    """
    inside = cluster.scale_up.bandwidth.value
    return inside, min(inside, cluster.scale_out.node_bandwidth) if cluster.scale_out else inside
