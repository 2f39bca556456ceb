"""Kernels of a layer of experts: the router, the exchange of tokens by expert, and the experts."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.cost import assumed_figure
from clusterspec.cost.compute import (
    KERNELS,
    ROUTER_BYTES,
    GemmShape,
    Kernel,
    Role,
    Shard,
    Work,
    less_fused_work,
    linear_work,
    streaming_work,
)
from clusterspec.cost.compute.layer import SoftwareBehavior, dense_network_work, feed_forward_work
from clusterspec.cost.formulas.compute import is_zero, larger, value_where
from clusterspec.quantity import NARROW
from clusterspec.records import dataclass

TRAINED_SPREAD = assumed_figure(
    KERNELS,
    "experts.trained.spread",
    0.7,
    "standard deviation of the load of experts over its mean, if adapters train on text of one kind: the value of "
    "serving engines (serving.uneven), which follows from the gain of load balancing",
).value


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

        if shard.trainable is not None:
            spread = larger(spread, TRAINED_SPREAD)
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
    """Copies of tokens, ``copies`` times into the order of experts and back, by gathers and by sums into rows, in both
    passes.

    A gather's gradient is a sum into rows, and a sum's a gather. If no exchange divides the tokens by expert, the rank
    first selects the tokens of its experts and then sorts them: twice as many (Megatron-LM f1f0392,
    core/transformer/moe/token_dispatcher.py, MoEAllGatherTokenDispatcher, and moe_utils.py).
    """
    if not copies:
        return Work()
    alone = shard.ep == 1
    moved = value_where(alone, 2 * routing.arriving, routing.leaving) * copies * shard.width * shard.model.expert_width
    gathers = streaming_work("token gathers", (2 * moved, 2 * moved), 2 * copies, Role.GATHER)
    return gathers + streaming_work("token sums", (3 * moved, 3 * moved), 2 * copies, Role.SCATTER)


def placement_work(shard: Shard, routing: Routing, placements: float) -> Work:
    """Writes of rows to listed positions, ``placements`` times in the forward pass, and the sums into rows that are the
    gradients of gathers in the backward pass.

    PyTorch writes ``out[rows] = x`` one number to a thread. The gradient of each gather ``x[rows]`` is a sum into rows.
    Dispatchers that forward tokens have separate kernels.
    """
    if not placements or shard.forwarded:
        return Work()
    moved = placements * routing.arriving * shard.width * shard.model.expert_width
    forward = Kernel("token placements", 0.0, 2 * moved, launches=placements, role=Role.GATHER)
    backward = Kernel("token sums", 0.0, 3 * moved, launches=placements, role=Role.SCATTER)
    return Work((forward,), (backward,))


LOOP_LAUNCHES = (
    assumed_figure(
        KERNELS,
        "experts.loop.launches",
        10.0,
        "operations of one expert that runs separately: tokens found, gathered, three matrices, activation and gate,"
        " weights of tokens gathered and applied, a sum into rows (transformers at 00d4b3d,"
        " models/mixtral/modeling_mixtral.py); by count",
    ).value,
    assumed_figure(
        KERNELS,
        "experts.loop.launches.backward",
        14.0,
        "operations of the backward pass of one expert that runs separately: gradients gathered, gradients of the"
        " weights of tokens, of three matrices, of activation and gate, a tensor of zeros, a sum into its rows, and"
        " a sum of all tokens; by count",
    ).value,
)


def looped_expert_work(shard: Shard, routing: Routing, loops: float) -> Work:
    """Copies of tokens if experts run one after another, without the experts' GEMMs and activations.

    Forward, each expert gathers its tokens, applies their weights (a read and a write), and sums the results into rows.
    Backward, the gradient of each gather is a tensor of all tokens: zeros, a sum into rows, and an addition to the
    gradients of earlier experts (transformers, models/mixtral/modeling_mixtral.py).
    """
    if is_zero(loops):
        return Work()
    row = shard.width * shard.model.expert_width
    copies, tokens, experts = loops * routing.arriving * row, loops * shard.rows * row, routing.experts
    gathers = streaming_work("token gathers", (2 * copies, 2 * copies), loops * experts, Role.GATHER)
    sums = streaming_work("token sums", (3 * copies, 3 * copies), loops * experts, Role.SCATTER)
    there, back = (loops * experts * (each - 2) for each in LOOP_LAUNCHES)
    whole = tokens * (experts + 3 * (experts - 1))
    weighted = Kernel("weights of tokens", 0.0, 2 * copies + tokens, launches=there, role=Role.COUNTED)
    returned = Kernel("gradients of all tokens", 0.0, 4 * copies + whole, launches=back, role=Role.COUNTED)
    return gathers + sums + Work((weighted,), (returned,))


def small_routing_work(launches: tuple[float, float]) -> Work:
    """Small kernels for scores and token counts, ``launches`` in each pass. They cost the host a launch and the device
    almost nothing.
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
    work = feed_forward_work(
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


def expert_parts(shard: Shard, software: SoftwareBehavior) -> Mapping[str, Work]:
    """The parts of a mixture of experts, in the order of the forward pass."""
    routing = Routing.of(shard, software.unevenness)
    loops = value_where(shard.ep == 1, software.loops, 0.0)
    loose = software.fusion / software.routing * (1.0 - loops)
    network = {
        "router": router_work(shard),
        "dispatch": less_fused_work(permutation_work(shard, routing), loose)
        + looped_expert_work(shard, routing, loops)
        + indexed_permutation_work(shard, routing, software.copies)
        + placement_work(shard, routing, software.placements)
        + small_routing_work(software.small_kernels),
        "experts": expert_work(shard, routing),
    }
    applied = software.biases or software.repeated
    if applied and (shard.model.expert_biases or shard.model.limited_activation):
        from clusterspec.cost.compute.biases import biased_expert_work, repeated_bias_work  # few models need it

        rows = routing.arriving * routing.imbalance
        network["experts"] += biased_expert_work(shard, rows, routing.experts, software.biases)
        network["experts"] += repeated_bias_work(shard, rows, software.repeated)
    return network
