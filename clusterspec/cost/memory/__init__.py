"""Memory of one rank at the peak of a step: model states, activations, and reservations of the framework.

This module holds the lines of memory with their uncertainty ranges, and the job that they belong to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from clusterspec.catalog.models import Model
from clusterspec.catalog.stacks import FULLY, FrameworkMemory, Spread
from clusterspec.cluster.model import Design, Layout, Workload
from clusterspec.cluster.variation import layout_of_most_memory
from clusterspec.cost import assumed_figure
from clusterspec.cost.formulas.compute import larger, value_where
from clusterspec.cost.layers import Chunk, LayerSet, logits_count, micro_batches_in_flight, stored_passes
from clusterspec.cost.parameters import Share, residual_width
from clusterspec.cost.tables import share_of_chunks
from clusterspec.quantity import NARROW, Figure, activation_width, operand_width
from clusterspec.records import NamedTuple, dataclass, field, replace
from clusterspec.source import Assumed
from clusterspec.standard import Recent, sum_of

GROUP = "memory"


def _declared_spread(name: str, unit: str, values: tuple[float, float, float], why: str) -> Spread:
    """A constant with its low, typical and high value."""
    low, value, high = values
    return Spread(assumed_figure(GROUP, name, value, why, unit), low, high)


COMMUNICATOR = _declared_spread(
    "communicator",
    "B",
    (0.0, 0.25e9, 0.6e9),
    "buffers of one communicator: NCCL keeps 4 MiB and more for each channel and peer (NCCL_BUFFSIZE)",
)
KEPT = assumed_figure(
    GROUP,
    "kept",
    0.4,
    "the 90th percentile of reserved over allocated memory, less one, in training logs of 21 programs (1.01 to 1.52,"
    " median 1.08; saforem2/Megatron-DeepSpeed 1.08, meta-llama/llama-cookbook issue 120 1.38 and 1.5,"
    " PrimeIntellect-ai/prime-rl pull request 1126 1.5, SimuMax v1.2 1.03 to 1.09): freed blocks that the allocator"
    " keeps, and gives back where memory is short",
)
"""Share of allocated memory that an allocator without expandable segments may reserve without using it for tensors."""
LOGITS = {
    "plain": _declared_spread(
        "logits.plain",
        "B",
        (8.0, 12.0, 18.0),
        "the loss runs on logits in 16 bits or in fp32 (plain-16-bit, plain-fp32), and the spec does not state "
        "which: their geometric mean",
    ),
    "plain-fp32": _declared_spread(
        "logits.plain-fp32",
        "B",
        (14.0, 18.0, 18.0),
        "logits in 16 bits, their copy in fp32, the log-softmax, its gradient and that of the logits in fp32"
        " (torch.nn.functional.cross_entropy on logits.float(), by count; 18.2 between two runs of prime-rl); 14 where"
        " one of the copies is freed earlier",
    ),
    "plain-16-bit": _declared_spread(
        "logits.plain-16-bit",
        "B",
        (6.0, 8.0, 8.0),
        "logits, their log-softmax and both gradients in 16 bits, by count",
    ),
    "compiled": _declared_spread(
        "logits.compiled",
        "B",
        (4.0, 6.0, 10.0),
        "logits in 16 bits and their gradient, and the logits of the previous micro-batch if the program still "
        "holds the output of the model; 10 if a compiler saves the log-softmax in fp32 (pytorch/pytorch, pull "
        "request 193121)",
    ),
    "fused": _declared_spread(
        "logits.fused",
        "B",
        (2.0, 4.0, 6.0),
        "logits in 16 bits, and the gradient in addition or in their place; by count",
    ),
    "chunked": _declared_spread(
        "logits.chunked",
        "B",
        (0.2, 1.5, 4.3),
        "the 18 bytes of the plain loss for one chunk of the tokens: one of about 32 chunks in Liger Kernel (0.5; ops/"
        "fused_linear_cross_entropy.py), one of 8 in torchtune in addition to all logits in 16 bits (4.3;"
        " ce_chunked_output_loss.py); the mean of both",
    ),
}
"""Bytes that each logit takes at the loss, by how it is computed."""
ROUTING = _declared_spread("routing", "1", (1.0, 1.0, 1.5), "tokens spread evenly over the experts")


class Range(NamedTuple):
    """The factors from a predicted size to the ends of its range, and their reason."""

    low: float
    high: float
    why: str


_TENSORS = Range(0.9, 1.1, "frameworks differ in the tensors of a layer that they save: ±10 %, by judgment")
_GATHERS = Range(0.5, 1.5, "the number of layers gathered at a time depends on prefetching; by judgment")
RANGES = {
    "normalizations": _TENSORS,
    "dropout masks": Range(0.0, 1.0, "no dropout masks without dropout"),
    "attention": _TENSORS,
    "quantized attention output": _TENSORS,
    "softmax": _TENSORS,
    "scores": Range(
        0.4, 1.1, "fused kernels store one copy, two of the five bytes in 16 bits; unfused ones an additional copy"
    ),
    "attention gate": _TENSORS,
    "compressed latents": _TENSORS,
    "sparse index": Range(0.5, 1.5, "kernels store the selected tokens or select them again"),
    "linear attention": Range(0.7, 1.4, "kernels differ in the inputs and outputs of the convolution that they store"),
    "latents": _TENSORS,
    "expanded latents": _TENSORS,
    "attention output": _TENSORS,
    "feed-forward": _TENSORS,
    "shared experts": _TENSORS,
    "router": _TENSORS,
    "experts": Range(0.9, 1.4, "the fullest rank has more tokens than the mean, up to 1.5 times with a capacity limit"),
    "layer inputs": Range(1.0, 1.1, "some layers have a copy in another precision; by judgment"),
    "layer outputs": Range(1.0, 1.1, "as layer inputs"),
    "exchanged rows": Range(0.9, 1.4, "the fullest rank has more tokens than the mean, as for experts"),
    "weights in 16 bits": Range(0.0, 1.0, "automatic casting frees copies that no product of the backward pass reads"),
    "projections": Range(0.8, 2.0, "recipes also save the attention output, or save less"),
    "pipeline buffers": Range(0.5, 1.1, "inputs are freed if the first layer stores them itself"),
    "outputs kept": Range(0.5, 1.0, "one of the copies may be freed earlier"),
    "placeholders": Range(0.0, 1.0, "needed only by fused weight-gradient kernels"),
    "gathered tables": Range(0.5, 1.0, "a tied or sharded table is gathered in part"),
    "gathered layers": _GATHERS,
    "layer being reduced": Range(0.3, 1.5, "reduced in buckets smaller than a layer, or with those of the next layer"),
    "working space": Range(0.6, 1.4, "gradients stored at once depend on the order of kernels; by judgment"),
    "context exchange": Range(0.5, 1.0, "gradients are sent only in the backward pass"),
    "buckets": Range(0.25, 1.0, "buffers are allocated on first use"),
    "step activations": Range(0.5, 1.5, "kernels of serving frameworks fuse more or less, by judgment"),
    "received copies": Range(0.5, 1.3, "kernels keep fewer buffers, or scales in addition; by judgment"),
}
"""The uncertainty range of each kind of size. Sizes without an entry are exact, since they follow from counts."""
FACTOR_RANGES = {
    "every_second": Range(0.2, 1.6, "the share of checkpointed layers is set by users, from one fifth to four fifths"),
}
"""Uncertainty ranges that apply to a size because of one of its factors. They take precedence over `RANGES`."""


def range_figures() -> Iterator[tuple[str, Figure]]:
    """The low and high end of every range as a figure with its reason. Only reports of assumptions need these."""
    for name, each in (RANGES | FACTOR_RANGES).items():
        for end, factor in (("low", each.low), ("high", each.high)):
            full = f"range.{name.replace(' ', '_')}.{end}"
            yield full, Figure(factor, "1", Assumed(f"{GROUP}.{full}", each.why))


# One line of memory: a formula, its inputs, and the resulting bytes


class MemoryLine(NamedTuple):
    """``value`` bytes = the product of ``factors`` × ``formula`` of ``numbers``.

    ``low`` and ``high`` are the factors from the value to the ends of its range; the numbers may be columns.
    """

    name: str
    value: float
    formula: Callable[..., float]
    numbers: dict[str, float]
    factors: tuple[tuple[str, float], ...] = ()
    source: str = ""
    low: float = 1.0
    high: float = 1.0

    def with_factor(self, name: str, factor: float) -> MemoryLine:
        """The line with one more factor."""
        line, value, formula, numbers, factors, source, low, high = self
        return MemoryLine(line, value * factor, formula, numbers, ((name, factor), *factors), source, low, high)

    @property
    def ends(self) -> tuple[float, float]:
        """The low and high end of the range as factors of the value. The range of a factor takes precedence, then the
        range of the line's kind, then the line's own.
        """
        for name, _ in self.factors:
            if name in FACTOR_RANGES:
                return FACTOR_RANGES[name].low, FACTOR_RANGES[name].high
        usual = RANGES.get(self.name.removeprefix("window "))
        return (self.low, self.high) if usual is None else (usual.low, usual.high)


Lines = tuple[MemoryLine, ...]


def memory_line(name: str, formula: Callable[..., float], source: str = "", **numbers: float) -> MemoryLine:
    """A line with its value computed."""
    return MemoryLine(name, formula(**numbers), formula, numbers, source=source)


def summed_bytes(lines: Iterable[MemoryLine]) -> float:
    """Bytes of all lines together."""
    return sum_of((each.value for each in lines), 0.0)


def squared_excess(lines: Iterable[MemoryLine]) -> float:
    """Sum of squared distances in bytes from each line's value to the high end of its range."""
    highs = ((each.value, each.ends[1]) for each in lines)
    return sum_of(((value * (high - 1)) ** 2 for value, high in highs if not _is_one(high)), 0.0)


def _is_one(factor: float) -> bool:
    """Whether a factor is the number 1, not a column."""
    return isinstance(factor, float | int) and factor == 1


# The model, the workload, the layout and the framework's use of memory, common to all ranks of a job

GATHERED = 2.0
"""Bytes per gathered weight and per gradient in a buffer: 16 bits."""


@dataclass(frozen=True)
class Job:
    """One job. Token counts are per micro-batch and rank; widths are bytes per number."""

    model: Model
    workload: Workload
    layout: Layout
    framework: FrameworkMemory
    vendor: str = ""
    selective: str = field(default="core-attention")

    @classmethod
    def of(cls, design: Design, workload: Workload, layout: Layout) -> Job:
        """The job of a design; without a known software release, framework memory is not included."""
        return cls.on_vendor(design.cluster.accelerator.vendor if design.cluster else "", workload, layout)

    @classmethod
    def on_vendor(cls, vendor: str, workload: Workload, layout: Layout) -> Job:
        """The job on accelerators of a vendor."""
        stack = layout.stack
        if stack is None:
            return cls(workload.model, workload, layout, FrameworkMemory(), vendor)
        found = stack.memory_of(layout.sharding)
        if stack.loss is not None:
            kind = "plain-fp32" if stack.loss == "plain" and found.widens_logits else stack.loss
            found = replace(found, logits=LOGITS[kind])
        return cls(workload.model, workload, layout, found, vendor, stack.selective)

    @property
    def of_most_memory(self) -> Job | None:
        """The job on the software variant that uses the most memory; None if the software is known."""
        layout = layout_of_most_memory(self.layout)
        return None if layout is None else Job.on_vendor(self.vendor, self.workload, layout)

    @property
    def tokens(self) -> float:
        """Tokens of one micro-batch on one rank."""
        return self.layout.micro_batch * self.workload.sequence_length / self.layout.cp

    @property
    def micro_batches(self) -> float:
        """Micro-batches per step and replica."""
        return 1 if self.layout.micro_batches is None else self.layout.micro_batches

    @property
    def ffn_matrices(self) -> int:
        """Matrices of a feed-forward network."""
        return self.model.ffn_matrices

    @property
    def residual_ranks(self) -> float:
        """Ranks that shard the residual stream."""
        return self.layout.tp if self.layout.sequence_parallel or self.framework.cuts_residual else 1

    @property
    def hidden_ranks(self) -> float:
        """Ranks that shard a tensor which sequence parallelism gathers before a GEMM."""
        return self.layout.tp if self.framework.cuts_residual else 1

    @property
    def width(self) -> float:
        """Bytes of one activation."""
        return activation_width(self.workload.precision)

    @property
    def residual_width(self) -> float:
        """Bytes of one number of the residual stream."""
        return residual_width(self.workload, self.layout)

    @property
    def kept(self) -> float:
        """Bytes per number of the inputs that a GEMM stores, on average over layers of several precisions."""
        return self.quantized_bytes + self.width * self._wide_share if self.quantized_bytes else self.width

    @property
    def quantized_bytes(self) -> float:
        """Bytes per number of the inputs that are stored in 8 or 4 bits, on average over all layers; 0 if none are."""
        work = self.workload.precision
        return (
            operand_width(work) * (1 - self._wide_share) if self.framework.quantized_inputs and work in NARROW else 0.0
        )

    @property
    def _wide_share(self) -> float:
        return sum(self.model.wide_layers) / self.model.layers

    def stores_inputs_of(self, module: str) -> bool:
        """Whether the backward pass needs the inputs of a module's matrices: where the module or its adapters train."""
        trainable = self.workload.trainable
        return trainable is None or module in trainable.modules

    @property
    def shards(self) -> float:
        """Ranks that shard the states of weights outside experts."""
        return self.layout.shard_group

    @property
    def expert_shards(self) -> float:
        """Ranks that shard the states of experts, which have fewer replicas."""
        if self.layout.sharding == "none":
            return 1.0
        replicas = self.layout.dp * self.layout.cp / self.layout.shard_group
        return larger(1.0, self.layout.expert_dp / replicas)

    @property
    def is_fully_sharded(self) -> bool:
        """Whether the layout shards weights, as fsdp and hsdp do."""
        return self.layout.sharding in FULLY

    @property
    def keeps_gathered(self) -> float:
        """1 if FSDP keeps weights gathered from forward to backward pass (ZeRO-2, some pipelines); else 0."""
        if self.layout.sharding == "zero2" and self.framework.sharded_master:
            return value_where(self.shards > 1, 1.0, 0.0)
        return self.synchronizes_once if self.is_fully_sharded else 0.0

    @property
    def synchronizes_once(self) -> float:
        """1 if this pipeline gathers weights and reduces whole gradients only once per step; else 0."""
        several = value_where(self.layout.pp > 1, 1.0, 0.0) if self.framework.kept_in_pipelines else 0.0
        return several * value_where(self.shards > 1, 1.0, 0.0)

    @property
    def gathers_layers(self) -> float:
        """1 if weights are gathered layer by layer, else 0."""
        if not self.is_fully_sharded:
            return 0.0
        return value_where(self.shards > 1, 1.0, 0.0) * (1.0 - self.keeps_gathered)


# The model on one rank: its weights, and the number of stored activations of its layers


@dataclass(frozen=True)
class Rank:
    """One rank of a pipeline stage; numbers may be columns.

    ``passes`` counts layers times micro-batches in flight, ``in_flight`` is the largest number of micro-batches of one
    chunk; ``inputs`` and ``outputs`` are 1 if the stage receives or sends hidden states, else 0; ``head`` is the number
    of times that it computes logits: 1 if it holds the output head, and 1 for each layer of multi-token prediction.
    ``kinds`` are the kinds of feed-forward network on the rank.
    """

    share: Share
    passes: dict[LayerSet, float]
    in_flight: float
    inputs: float
    outputs: float
    head: float
    kinds: frozenset[LayerSet]

    @classmethod
    def of(cls, job: Job, stage: int, chunks: tuple[Chunk, ...]) -> Rank:
        """The rank of a pipeline stage (from 0) that holds some chunks."""
        if job.workload.trainable is not None:  # the weights of adapters depend on more
            return cls.rank_without_cache(job, stage, chunks)
        layout = job.layout
        degrees = (layout.pp, layout.tp, layout.ep, layout.expert_tp, layout.redundant_experts)
        given = (chunks, stage, job.micro_batches, layout.schedule, degrees, job.model)
        known = next((rank for inputs, rank in _RECENT if inputs == given), None)
        return known or _RECENT.keep((given, cls.rank_without_cache(job, stage, chunks)))[1]

    @classmethod
    def rank_without_cache(cls, job: Job, stage: int, chunks: tuple[Chunk, ...]) -> Rank:
        """The rank of a job, computed without a look at the cache of recent jobs."""
        counts = micro_batches_in_flight(job.layout, stage, chunks, job.micro_batches)
        first, last = any(chunk.first for chunk in chunks), any(chunk.last for chunk in chunks)
        dense, expert = any(chunk.dense_layers for chunk in chunks), any(chunk.moe_layers for chunk in chunks)
        return cls(
            share=share_of_chunks(job.workload, job.layout, chunks),
            passes=stored_passes(chunks, counts),
            in_flight=max(counts, default=0.0),
            inputs=float(not first),
            outputs=float(not last),
            head=logits_count(chunks),
            kinds=frozenset(kind for kind, there in ((LayerSet.DENSE, dense), (LayerSet.EXPERT, expert)) if there),
        )


_RECENT: Recent[tuple[tuple[object, ...], Rank]] = Recent(8)
"""The ranks of recent jobs without adapters, by their inputs."""
