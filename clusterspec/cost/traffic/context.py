"""Context parallelism: the exchange of keys and values, or of heads, between its ranks."""

from __future__ import annotations

from clusterspec.cost.compute import recurrence
from clusterspec.cost.compute.shard import Shard
from clusterspec.cost.formulas.elementwise import divided
from clusterspec.cost.layers import Mixer
from clusterspec.cost.traffic.transfer import Transfer


def forward(shard: Shard, method: str, core: float) -> tuple[Transfer, ...]:
    """The exchange around one attention core that takes ``core`` seconds.

    ring: each of cp − 1 steps sends keys and values while the core processes the previous ones (Liu et al., arXiv
    2310.01889); all-gather: all keys and values first (Llama 3, arXiv 2407.21783, section 3.3.2); all-to-all: heads for
    tokens and back (DeepSpeed-Ulysses, arXiv 2309.14509).
    """
    return _exchange(shard, method, core, gradient=False)


def backward(shard: Shard, method: str, core: float) -> tuple[Transfer, ...]:
    """The exchange in the backward pass, with the gradients of keys and values."""
    return _exchange(shard, method, core, gradient=True)


def _exchange(shard: Shard, method: str, core: float, gradient: bool) -> tuple[Transfer, ...]:
    ranks = shard.cp
    if not divided(ranks) or shard.mixer is Mixer.NONE:
        return ()
    if shard.mixer is Mixer.LINEAR:
        return _states(shard, method, gradient)
    keys_values = shard.width * shard.tokens * _width(shard)
    if method == "all-to-all":
        model = shard.model
        queries = shard.width * shard.tokens * shard.heads * model.head_dim
        return (Transfer("cp", "all-to-all", queries, 2), Transfer("cp", "all-to-all", keys_values, 1))
    if method == "all-gather":
        gather = Transfer("cp", "all-gather", keys_values * ranks)
        return (gather, Transfer("cp", "reduce-scatter", keys_values * ranks)) if gradient else (gather,)
    sent = keys_values * (2 if gradient else 1)
    return (Transfer("cp", "send-recv", sent, ranks - 1, core / ranks),)


def _states(shard: Shard, method: str, gradient: bool) -> tuple[Transfer, ...]:
    """The exchange around a recurrence: heads for tokens and back, or the final states of each rank's tokens.

    Each rank computes its part from a zero state, gathers the states of all ranks and corrects its own (as
    flash-linear-attention, ops/cp). The traffic is one state per rank, for any sequence length.
    """
    part = shard.model.linear
    assert part is not None
    if method == "all-to-all":
        held = recurrence.widths(shard, part)
        inputs, outputs = 2 * held.keys + held.values + 2 * held.heads, held.values
        return tuple(Transfer("cp", "all-to-all", shard.width * shard.tokens * each, 1) for each in (inputs, outputs))
    return (Transfer("cp", "all-gather", recurrence.state_bytes(shard, part) * shard.cp * (2 if gradient else 1)),)


def _width(shard: Shard) -> float:
    """Elements of keys and values for one token on one rank."""
    model = shard.model
    if model.latent:
        return shard.heads * (model.head_dim + model.value_width + model.latent_rope)
    if model.compressed:
        return model.head_dim
    return shard.kv_heads * (model.head_dim + model.value_width)
