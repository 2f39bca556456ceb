"""Transfers of the storage system: checkpoints, reads after a failure, the load of a served model, and the data of a
training job.
"""

from __future__ import annotations

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Assumption, Design, Layout
from clusterspec.cost.formulas.failures import checkpoint_bytes, client_rate, restore_bytes, transfer_time
from clusterspec.cost.plan import Plan
from clusterspec.cost.term import Term, computed_term
from clusterspec.quantity import Figure, Quantity, precision_width
from clusterspec.records import NamedTuple, dataclass, replace
from clusterspec.source import Assumed, Computed, Written
from clusterspec.spec.model import NetworkSpec, NetworksSpec, WorkloadSpec

WEIGHT_BYTES = 2.0
"""Bytes of a bf16 weight in a training checkpoint. The checkpoint also has the optimizer states."""
KEY = "cluster.networks.storage"
ONE_FILE = (
    "files of a checkpoint",
    "one for each rank",
    "as distributed checkpoints of PyTorch and Megatron-LM write them; only counted with a `metadata_rate`",
)


class Transfer(NamedTuple):
    """The seconds of a transfer, the bytes that it moves, and the rate in B/s."""

    seconds: Term
    size: Term
    rate: Term


@dataclass(frozen=True)
class StorageUse:
    """What a job needs from the storage system; None if it does not apply or is unknown.

    ``checkpoint`` writes one checkpoint; ``restore`` reads one on all ranks after a failure; ``kept`` is the bytes of
    the retained checkpoints; ``load`` reads the weights for all engines of a serving plan; ``data`` reads the training
    data set.
    """

    checkpoint: Transfer | None = None
    restore: Transfer | None = None
    kept: Term | None = None
    load: Transfer | None = None
    assumptions: tuple[Assumption, ...] = ()
    data: DataReads | None = None

    def to_json(self) -> dict[str, object]:
        """Seconds, bytes and B/s."""

        def transfer_numbers(one: Transfer | None) -> dict[str, float] | None:
            if one is None:
                return None
            return {"seconds": one.seconds.value, "bytes": one.size.value, "rate": one.rate.value}

        found = {
            "checkpoint": transfer_numbers(self.checkpoint),
            "restore": transfer_numbers(self.restore),
            "load": transfer_numbers(self.load),
        }
        data = self.data.to_json() if self.data is not None else None
        return {**found, "kept_bytes": self.kept.value if self.kept else None, "data": data}

    @property
    def terms(self) -> dict[str, Term]:
        """The computed terms by the names under which they are printed."""
        named = {"checkpoint_write": self.checkpoint, "checkpoint_restore": self.restore, "model_load": self.load}
        found = {"checkpoints_kept": self.kept} if self.kept is not None else {}
        for name, one in named.items():
            if one is not None:
                found |= {name: one.seconds, f"{name}_bytes": one.size, f"{name}_rate": one.rate}
        of_data = self.data.terms if self.data is not None else {}
        return {name: replace(term, name=name) for name, term in found.items()} | of_data


def storage_use(plan: Plan) -> StorageUse | None:
    """The transfers between the job of a plan and its storage system; None if the spec does not state its bandwidth."""
    design, parameters, data = plan.design, plan.parameters, data_reads(plan)
    networks = _usable_networks(design)
    alone = StorageUse(data=data, assumptions=data.assumptions) if data is not None else None
    if networks is None or parameters is None or design.layout is None:
        return alone
    if plan.serving is not None:
        return StorageUse(load=_load_transfer(design, networks, parameters, design.layout, max(1, design.layout.dp)))
    work = design.workload
    if work is None or work.kind != "train" or work.trainable is not None:
        return alone
    saving = design.spec.operations.checkpoint if design.spec.operations else None
    size = checkpoint_size(parameters)
    kept = None
    if saving is not None and saving.keep is not None:
        count = ("keep", Figure(float(saving.keep), "1", Written("operations.checkpoint.keep")))
        kept = Term("kept", saving.keep * size.value, "B", "keep * checkpoint_bytes", (count,), (size,))
    return StorageUse(
        transfer("checkpoint", networks, size, design.layout, reads=False),
        transfer("restore", networks, _restored_bytes(parameters, design.layout), design.layout, reads=True),
        kept,
        assumptions=(
            *((ONE_FILE,) if networks.storage and networks.storage.metadata_rate else ()),
            *(data.assumptions if data is not None else ()),
        ),
        data=data,
    )


def write_seconds(networks: NetworksSpec | None, parameters: float | None, layout: Layout) -> float | None:
    """Seconds in which a checkpoint is written; None if the bandwidth or the model is not known."""
    if networks is None or parameters is None or _stated_bandwidth(networks.storage) is None:
        return None
    return moved_checkpoint(networks, parameters, layout, reads=False).seconds.value


def restore_seconds(networks: NetworksSpec, parameters: float, layout: Layout) -> float | None:
    """Seconds in which all ranks read the last checkpoint after a failure; None if the bandwidth is not known."""
    if _stated_bandwidth(networks.storage) is None:
        return None
    return transfer("restore", networks, _restored_bytes(parameters, layout), layout, reads=True).seconds.value


def moved_checkpoint(networks: NetworksSpec, parameters: float, layout: Layout, *, reads: bool) -> Transfer:
    """The transfer of one checkpoint: written by all nodes of a job, or read back once."""
    return transfer("checkpoint", networks, checkpoint_size(parameters), layout, reads=reads)


def checkpoint_size(parameters: float) -> Term:
    """The bytes of a checkpoint of training: weights and the states of the optimizer."""
    weights = ("weights", Figure(parameters, "1", Computed("parameters of the model")))
    return computed_term("checkpoint_bytes", checkpoint_bytes, "B", (weights, ("width", WIDTH)))


WIDTH = Figure(
    14.0, "B", Assumed("bytes of a checkpoint", "weights in bf16, weights and two moments in fp32: 14 for a weight")
)


def _usable_networks(design: Design) -> NetworksSpec | None:
    """The networks of a design where the spec states the bandwidth of its storage system."""
    networks = design.spec.cluster.networks if design.spec.cluster else None
    return networks if networks is not None and _stated_bandwidth(networks.storage) is not None else None


def _stated_bandwidth(store: NetworkSpec | None) -> Quantity | None:
    """The bandwidth of the storage system, if it is stated and not zero."""
    bandwidth = store.bandwidth if store is not None else None
    return bandwidth if bandwidth is not None and bandwidth.per_direction > 0 else None


def path_to_store(networks: NetworksSpec) -> tuple[str, NetworkSpec] | None:
    """The network that carries a node's storage traffic, with its name: the storage network if it has NICs, else the
    network that it shares, else the frontend.

    None if storage shares the scale-out fabric, or if the rate of the NICs is not stated.
    """
    store = networks.storage
    if store is None or store.shares == "scale_out":
        return None
    name = "out_of_band" if store.shares == "out_of_band" else "frontend"
    name, path = ("storage", store) if store.nic_bandwidth is not None else (name, getattr(networks, name))
    return (name, path) if path is not None and path.nic_bandwidth is not None else None


def node_rate(path: NetworkSpec) -> float:
    """Bytes a second of all NICs that a node has on a network, per direction."""
    assert path.nic_bandwidth is not None
    return (path.nics_per_node or 1) * path.nic_bandwidth.per_direction


def transfer(
    name: str, networks: NetworksSpec, size: Term, layout: Layout, *, reads: bool, files: bool = True
) -> Transfer:
    """The time in which all nodes of a job move ``size`` bytes, one file per rank, in seconds.

    The storage system delivers its bandwidth unless its clients limit it: each node has a limited rate, and at most as
    many nodes transfer at once as there are slots.
    """
    store = networks.storage
    assert store is not None
    written = store.read if reads and store.read is not None else store.bandwidth
    assert written is not None
    total = Figure(written.per_direction, "B/s", Written(f"{KEY}.{'read' if written is store.read else 'bandwidth'}"))
    clients = min(layout.nodes, store.slots) if store.slots else layout.nodes
    origin = Written(f"{KEY}.slots") if store.slots and store.slots < layout.nodes else Computed("layout.nodes")
    figure = Figure(float(clients), "1", origin)
    named = (("bandwidth", total), ("clients", figure), ("per_client", _client_rate(networks, total)))
    rate = computed_term("rate", client_rate, "B/s", named)
    opened = float(layout.ranks) if files and store.metadata_rate else 0.0
    figures = (
        ("size", Figure(size.value, "B", Computed(size.formula))),
        ("rate", Figure(rate.value, "B/s", Computed(rate.formula))),
        ("files", Figure(opened, "1", Computed("ranks, where a metadata rate is stated"))),
        ("metadata_rate", Figure(store.metadata_rate or 1.0, "1/s", Written(f"{KEY}.metadata_rate"))),
    )
    return Transfer(computed_term(name, transfer_time, "s", figures), size, rate)


def _client_rate(networks: NetworksSpec, total: Figure) -> Figure:
    """The storage rate of one node in B/s: the lowest of the stated rate per client, the rate of the node's NICs, and
    ``total``, the bandwidth of the storage system.
    """
    found, path = [total], path_to_store(networks)
    if path is not None:
        found.append(Figure(node_rate(path[1]), "B/s", Written(f"cluster.networks.{path[0]}.nic_bandwidth")))
    if networks.storage is not None and networks.storage.per_client is not None:
        found.append(Figure(networks.storage.per_client.per_direction, "B/s", Written(f"{KEY}.per_client")))
    return min(found, key=lambda figure: figure.value)


def _restored_bytes(parameters: float, layout: Layout) -> Term:
    """The bytes that all ranks read after a failure. Each copy of the weights and of the states in the job is read
    separately.
    """
    shards = layout.shard_group if layout.sharding == "hsdp" else layout.dp
    copies = max(1, layout.dp // max(1, shards))
    whole, states = layout.sharding in {"none", "zero1", "zero2"}, layout.sharding == "none"
    figures = (
        ("weights", Figure(WEIGHT_BYTES * parameters, "B", Computed("2 bytes for each weight"))),
        ("copies", Figure(float(layout.dp if whole else copies), "1", Computed("copies of the weights in the job"))),
        ("states", Figure((WIDTH.value - WEIGHT_BYTES) * parameters, "B", Computed("12 bytes for each weight"))),
        ("shared", Figure(float(layout.dp if states else copies), "1", Computed("copies of the states in the job"))),
    )
    return computed_term("restore_bytes", restore_bytes, "B", figures)


def engine_load(plan: Plan, engines: int = 1) -> Transfer | None:
    """The reading of the weights by some engines of a serving plan that start together, each on its own nodes; None if
    the bandwidth of the storage system or the model is not known.
    """
    design, layout, networks = plan.design, plan.design.layout, _usable_networks(plan.design)
    if design.cluster is None or layout is None or networks is None or plan.parameters is None:
        return None
    nodes = design.cluster.nodes_of_ranks(layout.tp * layout.attention_dp * layout.pp)
    return _load_transfer(design, networks, plan.parameters, replace(layout, nodes=nodes * engines), engines)


def _load_transfer(
    design: Design, networks: NetworksSpec, parameters: float, layout: Layout, replicas: int
) -> Transfer | None:
    """The reading of the weights by some replicas of the model, by the nodes of the layout."""
    work = design.workload
    if work is None:
        return None
    width = precision_width(work.parameter_precision)
    engines = Figure(float(replicas), "1", Computed("engines: replicas of the model"))
    inputs = (
        ("engines", engines),
        ("weights", Figure(parameters, "1", Computed("parameters of the model"))),
        ("width", Figure(width, "B", Computed("bytes of a weight in workload.parameter_precision"))),
    )
    size = Term("load_bytes", engines.value * parameters * width, "B", "engines * weights * width", inputs)
    return transfer("load", networks, size, layout, reads=True, files=False)


# Reads of a data set by a training job: the rate that its steps need, and the rate of the storage system

SMALL_VOCABULARY = 65500
"""The vocabulary size from which token ids need more than two bytes in the data set, as Megatron decides it
(`DType.optimal_dtype` in megatron/core/datasets/indexed_dataset.py).
"""


class DataReads(NamedTuple):
    """The reads of a training data set. ``needed`` is the rate in B/s that the predicted steps consume. ``batch`` is
    the read of one global batch by all nodes, as at the start of the job. ``whole`` is one read of the whole data set,
    as for a copy to the nodes; None if its size is not stated.
    """

    needed: Term
    batch: Transfer
    whole: Transfer | None
    width: Figure

    @property
    def share(self) -> float:
        """The share of the read rate that training needs; above 1, training waits for data."""
        return self.needed.value / self.batch.rate.value

    @property
    def stall(self) -> float:
        """The share of the time in which training waits for data, with reads overlapping computation."""
        return max(0.0, 1 - 1 / self.share) if self.share else 0.0

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The bytes of a token, unless the spec states them."""
        origin = self.width.origin
        return ((origin.key, self.width, origin.why),) if isinstance(origin, Assumed) else ()

    def to_json(self) -> dict[str, object]:
        """B/s, bytes and seconds."""
        return {
            "needed": self.needed.value,
            "rate": self.batch.rate.value,
            "share": self.share,
            "first_batch_seconds": self.batch.seconds.value,
            "bytes": self.whole.size.value if self.whole else None,
            "whole_seconds": self.whole.seconds.value if self.whole else None,
        }

    @property
    def terms(self) -> dict[str, Term]:
        """The computed terms by the names under which they are printed."""
        named = {"data_needed": self.needed, "data_rate": self.batch.rate, "data_first_batch": self.batch.seconds}
        if self.whole is not None:
            named |= {"data_set": self.whole.size, "data_set_read": self.whole.seconds}
        return {name: replace(term, name=name) for name, term in named.items()}


def token_width(written: WorkloadSpec | None, model: Model) -> Figure:
    """The bytes of a token in the data set: as stated, else the bytes of a token id."""
    if written is not None and written.dataset_token_bytes is not None:
        return Figure(float(written.dataset_token_bytes), "B", Written("workload.dataset_token_bytes"))
    wide = model.vocab >= SMALL_VOCABULARY
    why = f"ids of tokens, with a vocabulary of {model.vocab:,} words; images, sound and raw text take more"
    return Figure(4.0 if wide else 2.0, "B", Assumed("workload.dataset_token_bytes", why))


def data_reads(plan: Plan) -> DataReads | None:
    """The reads of the data set of a training job; None if the step has no time, or the spec states no bandwidth of
    the storage system.
    """
    design, work, seconds = plan.design, plan.design.workload, plan.step_seconds
    networks = design.spec.cluster.networks if design.spec.cluster else None
    layout = design.layout
    if work is None or work.kind != "train" or layout is None or not seconds or not _has_read_rate(networks):
        return None
    assert networks is not None
    written = design.spec.workload
    width = token_width(written, work.model)
    step = work.tokens_of_step
    why = "global_batch * sequence_length" if work.rl is None else "the samples of a minibatch"
    tokens = ("tokens", Figure(step, "1", Computed(why)))
    size = Term("batch_bytes", step * width.value, "B", "tokens * token_bytes", (tokens, ("token_bytes", width)))
    time = ("step_time", Figure(seconds, "s", Computed("the predicted step")))
    needed = Term("data_needed", size.value / seconds, "B/s", "batch_bytes / step_time", (time,), (size,))
    batch = transfer("batch", networks, size, layout, reads=True)
    whole = None
    if written is not None and written.dataset_tokens is not None:
        held = ("tokens", Figure(written.dataset_tokens.value, "1", Written("workload.dataset_tokens")))
        inputs = (held, ("token_bytes", width))
        everything = Term("data_set", held[1].value * width.value, "B", "tokens * token_bytes", inputs)
        whole = transfer("data_set", networks, everything, layout, reads=True, files=False)
    return DataReads(needed, batch, whole, width)


def stored_token_rate(design: Design) -> float | None:
    """The most tokens per second whose files the storage system can open: `metadata_rate` over the files that hold one
    token; None if the spec does not state both.
    """
    networks = design.spec.cluster.networks if design.spec.cluster else None
    store = networks.storage if networks is not None else None
    written, work = design.spec.workload, design.workload
    if store is None or not store.metadata_rate or written is None or not written.dataset_files or work is None:
        return None
    held = written.dataset_tokens.value if written.dataset_tokens is not None else work.tokens
    return store.metadata_rate * held / written.dataset_files.value if held else None


def _has_read_rate(networks: NetworksSpec | None) -> bool:
    """Whether the read rate of the storage system is known and not zero."""
    store = networks.storage if networks is not None else None
    rate = (store.read or store.bandwidth) if store is not None else None
    return rate is not None and rate.per_direction > 0
