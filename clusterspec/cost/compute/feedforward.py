"""The feed-forward network of one layer: dense, or a mixture of experts."""

from __future__ import annotations

from clusterspec.cost.compute.fixed import ROUTER_BYTES
from clusterspec.cost.compute.kernels import GemmShape, Role, Work, linear, stream
from clusterspec.cost.compute.shard import Shard
from clusterspec.cost.formulas.elementwise import chosen, larger
from clusterspec.cost.formulas.routing import distinct_ranks, fullest
from clusterspec.precision import NARROW
from clusterspec.records import dataclass


def dense(shard: Shard, width: float, name: str = "feed-forward") -> Work:
    """Two matrices around an activation, three where it is gated; ``width`` before tensor parallelism."""
    return _network(shard, name, GemmShape(shard.tokens, shard.model.hidden, width / shard.tp))


def _network(shard: Shard, name: str, shape: GemmShape) -> Work:
    """``shape`` of the first matrix without its gate."""
    inputs = 2 if shard.model.gated_ffn else 1
    up = linear(f"{name} in", shape._replace(n=inputs * shape.n), shard.precision)
    down = linear(f"{name} out", shape._replace(k=shape.n, n=shape.k), shard.precision)
    return up + _activation(name, shard.width * shape.batch * shape.m * shape.n, inputs) + down


def _activation(name: str, moved: float, inputs: int) -> Work:
    """Forward it reads its inputs and writes one output; backward it reads the inputs and the output's
    gradient, and writes the inputs' gradients. ``moved`` bytes are one of these tensors."""
    return stream(f"{name} activation", (moved * (inputs + 1), moved * (2 * inputs + 1)), role=Role.LIGHT)


@dataclass(frozen=True, slots=True)
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
        leaving = shard.rows * shard.model.experts_per_token
        held = shard.model.experts / shard.ep
        imbalance = fullest(shard.ep, larger(1.0, held), spread)
        return cls(leaving, leaving * shard.expert_tp, held, imbalance)


def router(shard: Shard) -> Work:
    """The score of every token for every expert, and the top-k selection; the product stays in 16 bits."""
    experts = shard.model.experts
    scores = linear("router", GemmShape(shard.rows, shard.model.hidden, experts), shard.kept)
    choice = ROUTER_BYTES * shard.rows * experts
    return scores + stream("expert choice", (choice, choice), 3)


def permutation(shard: Shard, routing: Routing) -> Work:
    """Permutation of tokens before dispatch, sorting by expert after it, and the reverse.

    A dispatcher that forwards tokens reads them where they are, and sends one copy to each rank; each arriving copy is
    read once and written for each of its experts (DeepEP, legacy README; Megatron-Core, token_dispatcher.py).
    """
    hidden = shard.width * shard.model.expert_width
    if shard.forwarded:
        received = shard.rows * shard.expert_tp * distinct_ranks(shard.ep, shard.model.experts_per_token)
        both = 2 * hidden * (received + routing.arriving) * routing.imbalance
        return stream("dispatch and combine", (both, both), 4)
    leave = hidden * (shard.rows + routing.leaving)
    sorts = (routing.experts > 1) & (shard.ep > 1)
    sort = chosen(sorts, hidden * 2 * routing.arriving * routing.imbalance, 0.0)
    both = 2 * (leave + sort)
    return stream("dispatch and combine", (both, both), 4)


def _padding(shard: Shard, routing: Routing) -> Work:
    """Copies that pad the rows of each expert to a multiple that narrow GEMMs take, and back.

    Dispatchers that forward tokens write them padded. After all-to-all, inputs and outputs are read and written once
    more (Megatron-Core, transformer/moe/experts.py, padding for quantization).
    """
    if shard.forwarded or shard.precision not in NARROW:
        return Work()
    moved = 4 * shard.width * shard.model.expert_width * routing.arriving * routing.imbalance
    return stream("padding of experts", (moved, moved), 2)


def experts(shard: Shard, routing: Routing) -> Work:
    """The routed experts as grouped GEMMs, and the shared experts.

    Where experts have a latent width, every rank projects its rows to it and the results back.
    """
    model = shard.model
    rows = routing.arriving * routing.imbalance / routing.experts
    width = model.expert_ffn_hidden / shard.expert_tp
    work = _network(shard, "experts", GemmShape(rows, model.expert_width, width, routing.experts, experts=True))
    work += _padding(shard, routing)
    if model.expert_latent:
        there = GemmShape(shard.rows, model.hidden, model.expert_latent)
        work += linear("into experts", there, shard.precision)
        work += linear("out of experts", there._replace(k=there.n, n=there.k), shard.precision)
    if not model.shared_experts:
        return work
    return work + dense(shard, model.shared_width, "shared experts")
