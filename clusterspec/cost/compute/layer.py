"""Kernels of one layer by part, with the behavior of the training software; embedding, head and optimizer update."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.catalog.stacks import Stack
from clusterspec.cost import assumed_figure
from clusterspec.cost.compute import (
    KERNELS,
    LOSS_FORWARD,
    NORM_PASSES,
    RESIDUAL_PASSES,
    GemmShape,
    Kernel,
    Role,
    Shard,
    Work,
    accumulation_work,
    cast_work,
    is_product,
    less_fused_work,
    linear_work,
    streaming_work,
    sum_bytes,
)
from clusterspec.cost.compute.attention import mixing_parts
from clusterspec.cost.formulas.compute import host_launch_time, is_divided, unaligned_rows
from clusterspec.cost.layers import FeedForward
from clusterspec.quantity import precision_width
from clusterspec.records import dataclass

# The behavior of a generation of training software, as the numbers that kernels are built with

CAST = assumed_figure(
    KERNELS, "usual.cast", 4.0, "bytes moved to quantize one number, for stacks without a figure", "B"
).value
LOSS = assumed_figure(
    KERNELS, "usual.loss", 12.0, "bytes that the loss moves for each logit, for stacks without a figure", "B"
).value


@dataclass(frozen=True)
class SoftwareBehavior:
    """The figures of one stack (`catalog.entries.Stack`) as floats.

    Of kernels:

    - ``products`` the rate of GEMMs over the best that the accelerator sustains
    - ``grouped`` the rate of expert GEMMs over that rate
    - ``fusion`` the traffic of fully fused memory-bound kernels over that of its own kernels, ``routing`` the same for
      the kernels that route tokens, without gathers and sums of rows, ``copies`` for each permutation, ``placements``
      of rows in a layer, and ``biases`` the share of the biases and limits of experts that separate kernels apply
    - ``repeated`` the share of these that a row of biases for each token applies
    - ``loops`` is 1 where experts run one after another if no exchange divides tokens by expert
    - ``small_kernels`` the launches for scores and counts in a layer of experts, forward and backward, which move next
      to nothing
    - ``cast`` bytes moved to convert one number, ``accumulation`` to add one weight's gradient to an fp32 sum, ``loss``
      per logit
    - ``fused_experts`` if fused GEMMs of experts, or a compiler, convert the results
    - ``wide_adapters`` where adapters are kept in fp32, ``fused_adapters`` where separate kernels, or a compiler, apply
      them

    Of the host:

    - ``interval`` seconds between launches of kernels, ``interval_collective`` for each collective outside products,
      ``interval_expert`` for each expert of a grouped GEMM where it launches experts one by one, which captured graphs
      leave to it, since routing decides on the rows of each (scopes of graphs in Megatron Bridge 0.5,
      scripts/performance/utils/overrides.py)
    - ``sharded`` the time of an operation on a tensor that tensor parallelism cuts over ``interval``, where operations
      run one by one
    - ``module`` the time of a call of a module with a matrix beyond ``interval``, over it
    - ``interval_shard`` for each gather of sharded weights and each reduction of their gradients, of a layer, or
      ``by_matrix`` of a matrix
    - ``gap`` seconds that the device idles at each launch, unless a compiler or custom kernels are known to fuse the
      operations
    - ``step`` fixed seconds per step

    Of communication:

    - ``tensor_hidden`` the share of tensor-parallel traffic that it pipelines with the GEMMs around it
    - ``tensor_copies`` how often it copies the rows at each collective along the sequence
    - ``gather`` the rate of collectives on fully sharded weights and gradients, relative to other collectives
    - ``interference`` the share of the device that overlapped traffic takes
    - ``unevenness`` the spread of the loads of single experts
    - ``jitter`` the mean delay of one node relative to its step
    """

    stack: Stack
    products: float
    grouped: float
    fusion: float
    routing: float
    copies: float
    placements: float
    small_kernels: tuple[float, float]
    biases: float
    repeated: float
    loops: float
    cast: float
    accumulation: float
    loss: float
    fused_experts: bool
    wide_adapters: bool
    fused_adapters: bool
    interval: float
    interval_collective: float
    interval_expert: float
    sharded: float
    module: float
    interval_shard: float
    by_matrix: bool
    gap: float
    step: float
    tensor_hidden: float
    tensor_copies: float
    gather: float
    interference: float
    unevenness: float
    jitter: float

    @classmethod
    def of(cls, stack: Stack) -> SoftwareBehavior:
        """The stack's figures. A figure that the entry lacks has a neutral value that adds no cost."""

        def figure(name: str, otherwise: float) -> float:
            found = stack.achievable.get(name)
            return otherwise if found is None else found.value

        return cls(
            stack=stack,
            products=figure("products", 1.0),
            grouped=figure("products.grouped", 1.0),
            fusion=_unfused_traffic_factor(stack.fused, figure("fusion", 1.0)),
            routing=figure("fusion.routing", 1.0),
            copies=figure("routing.copies", 0.0),
            placements=figure("routing.placements", 0.0),
            small_kernels=(figure("routing.launches", 0.0), figure("routing.launches.backward", 0.0)),
            biases=0.0 if stack.fused else figure("routing.biases", 0.0),
            repeated=0.0 if stack.fused else figure("routing.biases.repeated", 0.0),
            loops=figure("routing.loops", 0.0),
            cast=figure("cast", CAST),
            accumulation=figure("accumulation", 0.0),
            loss=_loss_bytes(stack.loss, figure("loss", LOSS)),
            fused_experts=stack.fused_experts or stack.compiled,
            wide_adapters=stack.adapter_precision == "fp32",
            fused_adapters=stack.fused is True,
            interval=0.0 if stack.captured else figure("launch.interval", 0.0),
            interval_collective=0.0 if stack.captured else figure("launch.collective", figure("launch.interval", 0.0)),
            interval_expert=0.0 if stack.fused_experts else figure("launch.expert", 0.0),
            sharded=figure("launch.sharded", 0.0) / figure("launch.interval", 1.0) if stack.fused is False else 0.0,
            module=max(0.0, figure("launch.module", 0.0) / figure("launch.interval", 1.0) - 1.0),
            interval_shard=0.0 if stack.captured else figure("launch.layer", figure("launch.matrix", 0.0)),
            by_matrix="launch.matrix" in stack.achievable,
            gap=0.0 if stack.captured or stack.fused else figure("launch.gap", 0.0),
            step=figure("step", 0.0),
            tensor_hidden=figure("hidden.tensor", 0.0),
            tensor_copies=figure("tensor.copies", 0.0),
            gather=figure("gather", 1.0),
            interference=figure("interference", 0.0),
            unevenness=figure("unevenness", 0.0),
            jitter=figure("jitter", 0.0),
        )

    @property
    def kernel_figures(self) -> tuple[float, ...]:
        """The figures on which the kernels of a layer depend, at given rates."""
        routed = self.routing, self.copies, self.placements, *self.small_kernels, self.biases, self.repeated, self.loops
        kinds = map(float, (self.fused_experts, self.wide_adapters, self.fused_adapters))
        cut = self.tensor_copies, self.sharded, self.module
        return self.fusion, *routed, self.unevenness, self.cast, self.accumulation, *kinds, *cut

    @property
    def part_figures(self) -> tuple[object, ...]:
        """The figures on which the time of a part of a model depends, at given rates and overlap."""
        host = self.interval, self.interval_collective, self.interval_expert, self.interval_shard, self.gap
        saved = self.stack.memory.gathered_inputs, self.stack.selective, self.stack.saved_exchanges
        return *self.kernel_figures, self.loss, *host, self.interference, *saved

    def host_seconds(self, launches: float, collectives: float, expert_launches: float, shards: float = 0.0) -> float:
        """Seconds of the host for the launches of a pass, ``collectives`` of which are collectives, and for its
        ``shards``.
        """
        return host_launch_time(
            launches,
            self.interval,
            collectives=collectives,
            collective_interval=self.interval_collective,
            expert_launches=expert_launches,
            expert_interval=self.interval_expert,
            shards=shards,
            shard_interval=self.interval_shard,
        )

    def overlaps(self, axis: str) -> bool:
        """Whether it can overlap this communication with computation."""
        return axis in self.stack.hides


FUSED = assumed_figure(
    "kernels",
    "fusion.fused",
    0.67,
    "traffic of fully fused memory-bound kernels divided by the traffic of kernels fused by a compiler or by hand; the "
    "fits of tuned stacks start from it",
)
EAGER = assumed_figure(
    "kernels",
    "fusion.eager",
    0.2,
    "traffic of fully fused memory-bound kernels divided by the traffic of eager PyTorch. For the fp32 norms, rotary "
    "embeddings, gates and additions of Llama in transformers 4.34 the ratio is 0.21 to 0.26; a step of LitGPT implies "
    "0.18",
)


FUSED_LOSS = assumed_figure(
    "kernels",
    "loss.fused",
    10.0,
    "bytes that a fused loss moves for one logit: 16 bits read for their maximum and sum, read again and written as the"
    " gradient, which is scaled in place (Liger Kernel, ops/cross_entropy.py); by count",
    "B",
)


COMPILED_LOSS = assumed_figure(
    "kernels",
    "loss.compiled",
    8.0,
    "bytes that a compiled loss moves for one logit: 16 bits read for their maximum and for their sum, read again,"
    " and the gradient written; intermediate results stay in registers (allenai/open-instruct, pull request 584);"
    " by count",
    "B",
)


def _loss_bytes(kind: str | None, usual: float) -> float:
    """Bytes that the loss moves per logit, forward and backward. ``usual`` applies to a plain or unstated kind
    of loss.
    """
    if kind is None or kind.startswith("plain"):
        return usual
    return min(usual, (COMPILED_LOSS if kind == "compiled" else FUSED_LOSS).value)


def _unfused_traffic_factor(fused: bool | None, usual: float) -> float:
    """The ratio of a fully fused kernel's traffic to the traffic of the kernels in use: fused, eager, or unknown (None:
    ``usual``).
    """
    if fused is None:
        return usual
    return max(usual, FUSED.value) if fused else min(usual, EAGER.value)


# Work of a layer, of the embedding and of the head


def embedding_work(shard: Shard) -> Work:
    """The lookup of every token and, if the table is trained, the accumulation of its gradient, which moves twice the
    bytes.
    """
    moved = shard.width * shard.rows * shard.model.hidden
    if shard.trainable is not None:
        return Work(forward=streaming_work("embedding", (2 * moved, 0.0), 2).forward)
    return streaming_work("embedding", (2 * moved, 4 * moved), 2)


def head_work(shard: Shard, loss: float, summed: float) -> Work:
    """The last norm, the logits in 16 bits, and the loss.

    ``loss`` is the bytes moved per logit, ``summed`` the bytes to add the gradient of one weight to an fp32 sum.
    """
    width = shard.model.vocab / shard.tp
    norm = (shard.residual_width + shard.width) * shard.rows * shard.model.hidden
    shape = GemmShape(shard.tokens, shard.model.hidden, width, unaligned=_unaligned_share(shard, width))
    logits = linear_work("logits", shape, shard.kept)
    if shard.trainable is not None:
        logits = Work(logits.forward, tuple(k for k in logits.backward if k.role is not Role.WEIGHT_GRADIENT))
    moved = loss * shard.tokens * width
    losses = streaming_work("loss", (LOSS_FORWARD * moved, (1 - LOSS_FORWARD) * moved), 4)
    return streaming_work("last norm", (norm, 2 * norm)) + logits + _gradient_sums(logits, summed, shard) + losses


def _unaligned_share(shard: Shard, width: float) -> float:
    """1 where rows of ``width`` logits in 16 bits do not start at multiples of 16 bytes, else 0."""
    return 0.0 if shard.pads or precision_width(shard.kept) != 2 else unaligned_rows(width)


def work_to_join_embedding(shard: Shard, summed: float) -> Work:
    """The two norms and the projection that join a hidden state and the embedding of a later token, before a layer of
    multi-token prediction (DeepSeek-V3, arXiv 2412.19437, section 2.2).
    """
    hidden = shard.model.hidden
    read = 2 * shard.width * shard.rows * 2 * hidden
    product = linear_work("projection", GemmShape(shard.tokens, 2 * hidden, hidden / shard.tp), shard.precision)
    return streaming_work("norms of both", (read, 2 * read)) + product + _gradient_sums(product, summed, shard)


# The feed-forward network of one layer: dense, or a mixture of experts


def dense_network_work(shard: Shard, width: float, name: str = "feed-forward") -> Work:
    """Two matrices around an activation, three where it is gated; ``width`` before tensor parallelism."""
    return feed_forward_work(shard, name, GemmShape(shard.tokens, shard.model.hidden, width / shard.tp))


def feed_forward_work(shard: Shard, name: str, shape: GemmShape) -> Work:
    """The two GEMMs of a feed-forward network and its activation; ``shape`` is the shape of the first matrix without
    its gate.
    """
    inputs = 2 if shard.model.gated_ffn else 1
    up = linear_work(f"{name} in", shape._replace(n=inputs * shape.n), shard.precision)
    down = linear_work(f"{name} out", shape._replace(k=shape.n, n=shape.k), shard.precision)
    return up + _activation_work(name, shard.width * shape.batch * shape.m * shape.n, inputs) + down


def _activation_work(name: str, moved: float, inputs: int) -> Work:
    """The activation function between the matrices; each tensor that it reads or writes has ``moved`` bytes.

    The forward pass reads the inputs and writes one output. The backward pass reads the inputs and the output's
    gradient, and writes the gradients of the inputs.
    """
    return streaming_work(f"{name} activation", (moved * (inputs + 1), moved * (2 * inputs + 1)), role=Role.LIGHT)


# One layer with a dense network, with experts or with none, by part

Parts = Mapping[str, Work]


def layer_parts(network: FeedForward, shard: Shard, software: SoftwareBehavior) -> Parts:
    """The parts of a layer with this feed-forward network.

    The token mixing and the network each have a norm and a residual addition.
    """
    mixed, parts_of_network = mixing_parts(shard), _network_parts(network, shard, software)
    share = (bool(mixed) + bool(parts_of_network)) / 2
    parts: Parts = {"norms": _norm_work(shard, share), **mixed, **parts_of_network}
    if shard.native_norms:
        from clusterspec.cost.compute.eager import with_native_norms  # few designs need it

        parts = with_native_norms(parts, shard, share)
    if (software.tensor_copies or software.sharded) and is_divided(shard.tp):
        from clusterspec.cost.compute.sharded_tensors import sharded_parts  # few designs need it

        copies = 4 * share * software.tensor_copies
        parts = {**parts, **sharded_parts(parts, shard, copies, software.sharded)}
    if software.module:
        called = {name: _called_work(work, software.module) for name, work in parts.items() if name != "router"}
        parts = {**parts, **called}
    if shard.trainable is not None:
        from clusterspec.cost.compute.frozen import frozen_work  # few designs need it

        stated = shard.trainable.precision
        wide = software.wide_adapters if stated is None else stated == "fp32"
        parts = {name: frozen_work(name, work, shard, wide, software.fused_adapters) for name, work in parts.items()}
    return {name: _work_of_software(work, software, shard) for name, work in parts.items()}


def _called_work(work: Work, launches: float) -> Work:
    """The work with the host time of module calls in addition to that of their kernels: each call takes as long as
    ``launches`` launches, with one call forward and one backward for each product. A router is no module of a library.
    """
    calls = sum(is_product(kernel) for kernel in work.forward)
    if not calls:
        return work
    call = Kernel("calls of modules", 0.0, 0.0, launches=launches * calls, role=Role.COUNTED)
    return work + Work((call,), (call,))


def _norm_work(shard: Shard, share: float) -> Work:
    """The ``share`` of the two norms and the two additions to the residual stream of a layer.

    Norms that run operation by operation work in fp32 in any case (transformers, LlamaRMSNorm): a wide residual stream
    spares their casts, and only the additions move more, two numbers of it forward and one backward.
    """
    numbers = share * shard.rows * shard.model.hidden
    wider = shard.residual_width - shard.width
    passes = NORM_PASSES * shard.width + (0.0 if shard.eager else RESIDUAL_PASSES * wider)
    norms = streaming_work("norms and residuals", (passes * numbers, passes * numbers), 4 * share, Role.LIGHT)
    if not shard.eager or not wider:
        return norms
    additions = (2 * 2 * wider * numbers, 2 * wider * numbers)
    return norms + streaming_work("wide additions", additions, 0, Role.COUNTED)


def _network_parts(network: FeedForward, shard: Shard, software: SoftwareBehavior) -> Parts:
    if network is FeedForward.EXPERTS:
        from clusterspec.cost.compute.expert_layer import expert_parts

        return expert_parts(shard, software)
    return {"feed-forward": dense_network_work(shard, shard.model.ffn_hidden)} if network is FeedForward.DENSE else {}


def _work_of_software(work: Work, software: SoftwareBehavior, shard: Shard) -> Work:
    """The work as the software runs it: less fused, with casts to narrow precisions and gradient accumulation."""
    loose = Work(*(tuple(k for k in part if not k.rate) for part in (work.forward, work.backward)))
    firm = Work(*(tuple(k for k in part if k.rate) for part in (work.forward, work.backward)))
    narrow = cast_work(work, software.cast, software.fused_experts)
    sums = _gradient_sums(work, software.accumulation, shard)
    return firm + less_fused_work(loose, 1 / software.fusion) + narrow + sums


def _gradient_sums(work: Work, counted: float, shard: Shard) -> Work:
    """The work of adding weight gradients to their sums, and of copying weights that are kept in fp32.

    ``counted`` are the bytes read and written for each gradient with a sum in fp32, as in `sum_bytes`.
    """
    sums = accumulation_work(work, sum_bytes(counted, shard.sum_width))
    if not shard.copies_weights:
        return sums
    from clusterspec.cost.compute.weight_copies import weight_copy_work  # few designs need it

    return weight_copy_work(work) + sums
