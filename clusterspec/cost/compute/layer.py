"""Kernels of one layer by part, with the behavior of the training software; embedding, head and optimizer update."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.cost.compute import (
    ALTERNATE,
    LOSS_FORWARD,
    NORM_PASSES,
    ROUTER_BYTES,
    GemmShape,
    Kernel,
    Role,
    Shard,
    Work,
    accumulation_work,
    cast_work,
    less_fused_work,
    linear_work,
    scaled_kernel,
    streaming_work,
    sum_bytes,
)
from clusterspec.cost.compute.mixing import mixing_parts
from clusterspec.cost.compute.software import SoftwareBehavior
from clusterspec.cost.formulas.compute import larger, value_where
from clusterspec.cost.layers import FeedForward
from clusterspec.cost.parameters import MOMENTS
from clusterspec.quantity import NARROW, precision_width
from clusterspec.records import dataclass


def embedding_work(shard: Shard) -> Work:
    """The lookup of every token, and the accumulation of its gradient at twice the width where the table is trained."""
    moved = shard.width * shard.rows * shard.model.hidden
    if shard.trainable is not None:
        return Work(forward=streaming_work("embedding", (2 * moved, 0.0), 2).forward)
    return streaming_work("embedding", (2 * moved, 4 * moved), 2)


def head_work(shard: Shard, loss: float, summed: float) -> Work:
    """The last norm, the logits in 16 bits, and the loss.

    ``loss`` is the bytes moved per logit, ``summed`` the bytes to add the gradient of one weight to an fp32 sum.
    """
    width = shard.model.vocab / shard.tp
    norm = 2 * shard.width * shard.rows * shard.model.hidden
    logits = linear_work("logits", GemmShape(shard.tokens, shard.model.hidden, width), shard.kept)
    if shard.trainable is not None:
        logits = Work(logits.forward, tuple(k for k in logits.backward if k.role is not Role.WEIGHT_GRADIENT))
    moved = loss * shard.tokens * width
    losses = streaming_work("loss", (LOSS_FORWARD * moved, (1 - LOSS_FORWARD) * moved), 4)
    return streaming_work("last norm", (norm, 2 * norm)) + logits + _gradient_sums(logits, summed, shard) + losses


def join_work(shard: Shard, summed: float) -> Work:
    """The two norms and the projection that join a hidden state and the embedding of a later token, before a layer of
    multi-token prediction (DeepSeek-V3, arXiv 2412.19437, section 2.2).
    """
    hidden = shard.model.hidden
    read = 2 * shard.width * shard.rows * 2 * hidden
    product = linear_work("projection", GemmShape(shard.tokens, 2 * hidden, hidden / shard.tp), shard.precision)
    return streaming_work("norms of both", (read, 2 * read)) + product + _gradient_sums(product, summed, shard)


def update_traffic(optimizer: str, master: str, moments: str, gradient: str, parameter: str) -> float:
    """Bytes that one parameter's update reads and writes.

    Moments and master copy are read and written, the gradient is read twice (once for its norm),
    the parameter is written, and read where there is no master copy.

    >>> update_traffic("adam", "fp32", "fp32", "fp32", "bf16")
    34.0
    """
    states = 2 * MOMENTS[optimizer] * precision_width(moments) + 2 * precision_width(master)
    kept = precision_width(parameter)
    return states + 2 * precision_width(gradient) + (kept if precision_width(master) else 2 * kept)


# The feed-forward network of one layer: dense, or a mixture of experts


def dense_network_work(shard: Shard, width: float, name: str = "feed-forward") -> Work:
    """Two matrices around an activation, three where it is gated; ``width`` before tensor parallelism."""
    return _feed_forward_work(shard, name, GemmShape(shard.tokens, shard.model.hidden, width / shard.tp))


def _feed_forward_work(shard: Shard, name: str, shape: GemmShape) -> Work:
    """``shape`` of the first matrix without its gate."""
    inputs = 2 if shard.model.gated_ffn else 1
    up = linear_work(f"{name} in", shape._replace(n=inputs * shape.n), shard.precision)
    down = linear_work(f"{name} out", shape._replace(k=shape.n, n=shape.k), shard.precision)
    return up + _activation_work(name, shard.width * shape.batch * shape.m * shape.n, inputs) + down


def _activation_work(name: str, moved: float, inputs: int) -> Work:
    """The activation function between the matrices; each of its tensors has ``moved`` bytes.

    The forward pass reads the inputs and writes one output. The backward pass reads the inputs and the output's
    gradient, and writes the gradients of the inputs.
    """
    return streaming_work(f"{name} activation", (moved * (inputs + 1), moved * (2 * inputs + 1)), role=Role.LIGHT)


@dataclass(frozen=True)
class Routing:
    """The distribution of the tokens of one rank in a layer of experts.

    ``leaving`` copies of tokens leave this rank; with even routing ``expert_tp`` times as many arrive at its
    ``experts``. ``imbalance`` is the work of the fullest rank over the mean.
    """

    leaving: float
    arriving: float
    experts: float
    imbalance: float

    @classmethod
    def of(cls, shard: Shard, spread: float) -> Routing:
        """The routing where loads of single experts vary by ``spread``."""
        from clusterspec.cost.formulas.experts import fullest_load

        leaving = shard.rows * shard.model.experts_per_token
        held = shard.model.experts / shard.ep
        imbalance = fullest_load(shard.ep, larger(1.0, held), spread)
        return cls(leaving, leaving * shard.expert_tp, held, imbalance)


def router_work(shard: Shard) -> Work:
    """The score of every token for every expert, and the top-k selection; the product stays in 16 bits."""
    experts = shard.model.experts
    scores = linear_work("router", GemmShape(shard.rows, shard.model.hidden, experts), shard.kept)
    choice = ROUTER_BYTES * shard.rows * experts
    return scores + streaming_work("expert choice", (choice, choice), 3)


def permutation_work(shard: Shard, routing: Routing) -> Work:
    """Work of permuting tokens before dispatch, sorting them by expert afterwards, and reversing both.

    A dispatcher that forwards tokens reads them where they are, and sends one copy to each rank; each arriving copy is
    read once and written for each of its experts (DeepEP, legacy README; Megatron-Core, token_dispatcher.py).
    """
    hidden = shard.width * shard.model.expert_width
    if shard.forwarded:
        from clusterspec.cost.formulas.experts import distinct_ranks

        received = shard.rows * shard.expert_tp * distinct_ranks(shard.ep, shard.model.experts_per_token)
        both = 2 * hidden * (received + routing.arriving) * routing.imbalance
        return streaming_work("dispatch and combine", (both, both), 4)
    leave = hidden * (shard.rows + routing.leaving)
    sorts = (routing.experts > 1) & (shard.ep * shard.expert_tp > 1)
    sort = value_where(sorts, hidden * 2 * routing.arriving * routing.imbalance, 0.0)
    both = 2 * (leave + sort)
    return streaming_work("dispatch and combine", (both, both), 4)


def indexed_permutation_work(shard: Shard, routing: Routing, copies: float) -> Work:
    """Copies of tokens by gathers and sums of rows, ``copies`` times by expert and back, in either pass.

    A gather's gradient is a sum into rows, and a sum's a gather. Where no exchange divides the tokens by expert, those
    of the rank's experts are selected first, and sorted then: twice as many (Megatron-LM f1f0392,
    core/transformer/moe/token_dispatcher.py, MoEAllGatherTokenDispatcher, and moe_utils.py).
    """
    if not copies:
        return Work()
    alone = shard.ep == 1
    moved = value_where(alone, 2 * routing.arriving, routing.leaving) * copies * shard.width * shard.model.expert_width
    gathers = streaming_work("token gathers", (2 * moved, 2 * moved), 2 * copies, Role.GATHER)
    return gathers + streaming_work("token sums", (3 * moved, 3 * moved), 2 * copies, Role.SCATTER)


def placement_work(shard: Shard, routing: Routing, placements: float) -> Work:
    """Rows written to listed places, ``placements`` times forward, and as many sums, the gradients of gathers.

    PyTorch writes ``out[rows] = x`` one number to a thread. The gradient of each gather ``x[rows]`` is a sum into rows.
    Dispatchers that forward tokens have kernels of their own.
    """
    if not placements or shard.forwarded:
        return Work()
    moved = placements * routing.arriving * shard.width * shard.model.expert_width
    forward = Kernel("token placements", 0.0, 2 * moved, launches=placements, role=Role.GATHER)
    backward = Kernel("token sums", 0.0, 3 * moved, launches=placements, role=Role.SCATTER)
    return Work((forward,), (backward,))


def small_routing_work(launches: tuple[float, float]) -> Work:
    """Kernels of scores and counts of tokens, forward and backward, which cost the host a launch and the device next
    to nothing; none where none are known.
    """
    if not any(launches):
        return Work()
    forward, backward = (Kernel("scores and counts", 0.0, 0.0, launches=each, role=Role.COUNTED) for each in launches)
    return Work((forward,), (backward,))


def _padding_work(shard: Shard, routing: Routing) -> Work:
    """Copies that pad each expert's rows to the FP8/FP4 block size, and remove the padding.

    Dispatchers that forward tokens write them padded. After all-to-all, inputs and outputs are read and written once
    more (Megatron-Core, transformer/moe/experts.py, padding for quantization).
    """
    if shard.forwarded or shard.precision not in NARROW:
        return Work()
    moved = 4 * shard.width * shard.model.expert_width * routing.arriving * routing.imbalance
    return streaming_work("padding of experts", (moved, moved), 2)


def expert_work(shard: Shard, routing: Routing) -> Work:
    """The routed experts as grouped GEMMs, and the shared experts.

    Where experts have a latent width, every rank projects its rows to it and the results back.
    """
    model = shard.model
    rows = routing.arriving * routing.imbalance / routing.experts
    width = model.expert_ffn_hidden / shard.expert_tp
    work = _feed_forward_work(
        shard, "experts", GemmShape(rows, model.expert_width, width, routing.experts, experts=True)
    )
    work += _padding_work(shard, routing)
    if model.expert_latent:
        there = GemmShape(shard.rows, model.hidden, model.expert_latent)
        work += linear_work("into experts", there, shard.precision)
        work += linear_work("out of experts", there._replace(k=there.n, n=there.k), shard.precision)
    if not model.shared_experts:
        return work
    return work + dense_network_work(shard, model.shared_width, "shared experts")


# One layer with a dense network, with experts or with none, by part; and the kernels that recomputation runs again

Parts = Mapping[str, Work]


def dense_layer_parts(shard: Shard, software: SoftwareBehavior) -> Parts:
    """The parts of a layer whose feed-forward network is dense."""
    return _layer_parts(shard, software, {"feed-forward": dense_network_work(shard, shard.model.ffn_hidden)})


def expert_layer_parts(shard: Shard, software: SoftwareBehavior) -> Parts:
    """The parts of a layer whose feed-forward network is a mixture of experts."""
    routing = Routing.of(shard, software.unevenness)
    loose = software.fusion / software.routing
    network = {
        "router": router_work(shard),
        "dispatch": less_fused_work(permutation_work(shard, routing), loose)
        + indexed_permutation_work(shard, routing, software.copies)
        + placement_work(shard, routing, software.placements)
        + small_routing_work(software.small_kernels),
        "experts": expert_work(shard, routing),
    }
    if software.biases and (shard.model.expert_biases or shard.model.limited_activation):
        from clusterspec.cost.compute.biases import biased_expert_work  # few models need it

        rows = routing.arriving * routing.imbalance
        network["experts"] += biased_expert_work(shard, rows, routing.experts, software.biases)
    return _layer_parts(shard, software, network)


def bare_layer_parts(shard: Shard, software: SoftwareBehavior) -> Parts:
    """The parts of a layer that mixes tokens and has no feed-forward network."""
    return _layer_parts(shard, software, {})


LAYERS = {
    FeedForward.DENSE: dense_layer_parts,
    FeedForward.EXPERTS: expert_layer_parts,
    FeedForward.NONE: bare_layer_parts,
}
"""The function that builds the parts of a layer, by its feed-forward network."""


def _layer_parts(shard: Shard, software: SoftwareBehavior, network: Parts) -> Parts:
    """The parts of a layer. The token mixing and the network each have a norm and a residual addition."""
    mixed = mixing_parts(shard)
    share = (bool(mixed) + bool(network)) / 2
    moved = share * NORM_PASSES * shard.width * shard.rows * shard.model.hidden
    parts = {"norms": streaming_work("norms and residuals", (moved, moved), 4 * share, Role.LIGHT), **mixed, **network}
    if shard.trainable is not None:
        from clusterspec.cost.compute.frozen import frozen_work  # few designs need it

        parts = {name: frozen_work(name, work, shard) for name, work in parts.items()}
    return {name: _work_of_software(work, software, shard) for name, work in parts.items()}


def _work_of_software(work: Work, software: SoftwareBehavior, shard: Shard) -> Work:
    """The work as the software runs it: less fused, with casts to narrow precisions and gradient accumulation."""
    loose = Work(*(tuple(k for k in part if not k.rate) for part in (work.forward, work.backward)))
    firm = Work(*(tuple(k for k in part if k.rate) for part in (work.forward, work.backward)))
    narrow, sums = cast_work(work, software.cast), _gradient_sums(work, software.accumulation, shard)
    return firm + less_fused_work(loose, 1 / software.fusion) + narrow + sums


def _gradient_sums(work: Work, counted: float, shard: Shard) -> Work:
    """The accumulation of weight gradients in their own precision; ``counted`` bytes for each in fp32."""
    return accumulation_work(work, sum_bytes(counted, shard.sum_width))


def recomputed_kernels(parts: Parts, recompute: str | tuple[str, ...], selective: str) -> tuple[Kernel, ...]:
    """The kernels of the forward pass that run again before the backward pass under ``recompute``: a word, or a list
    of modules. ``selective`` names what the software recomputes under that word.
    """
    if isinstance(recompute, tuple):
        return _module_kernels(parts, recompute)
    if recompute == "none":
        return ()
    everything = tuple(kernel for part in parts.values() for kernel in part.forward)
    return everything if recompute == "full" else _SELECTIVE.get(selective, _core_kernels)(parts, everything)


def _module_kernels(parts: Parts, modules: tuple[str, ...]) -> tuple[Kernel, ...]:
    """The kernels of the modules that a layout names, in the order of the forward pass, each once."""
    return tuple(
        kernel
        for part, work in parts.items()
        for kernel in work.forward
        if any(_runs_again_with(module, part, kernel) for module in modules)
    )


def _runs_again_with(module: str, part: str, kernel: Kernel) -> bool:
    """Whether a kernel of a part of the layer runs again with a module."""
    if module == "activation":
        return kernel.name.endswith("activation")
    if module == "latent":
        return kernel.name.endswith("expansion")
    if module == "shared_experts":
        return kernel.name.startswith("shared experts")
    return part in _PARTS[module]


_PARTS = {
    "norm": ("norms",),
    "attention": ("core",),
    "mlp": ("feed-forward",),
    "expert": ("router", "dispatch", "experts"),
}
"""The parts of a layer that a module of ``recompute`` covers as a whole."""


def _core_kernels(parts: Parts, _: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """The attention core (Korthikanti et al., arXiv 2205.05198, section 5)."""
    return parts.get("core", Work()).forward


def _alternate_product_kernels(parts: Parts, _: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """Every second GEMM and all memory-bound kernels; the output of the attention core is saved."""
    others = (part.forward for name, part in parts.items() if name != "core")
    return tuple(scaled_kernel(kernel, ALTERNATE if kernel.rate else 1.0) for part in others for kernel in part)


def _alternate_layer_kernels(_: Parts, everything: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    return tuple(scaled_kernel(kernel, ALTERNATE) for kernel in everything)


def _kernels_but_projections(parts: Parts, _: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    saved = ("projections", "rotary")
    return tuple(kernel for name, part in parts.items() if name not in saved for kernel in part.forward)


def _light_kernels(_: Parts, everything: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    return tuple(kernel for kernel in everything if kernel.role is Role.LIGHT)


_SELECTIVE = {
    "core-attention": _core_kernels,
    "alternate-products": _alternate_product_kernels,
    "alternate-layers": _alternate_layer_kernels,
    "all-but-projections": _kernels_but_projections,
    "light": _light_kernels,
}
