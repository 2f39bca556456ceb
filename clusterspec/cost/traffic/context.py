"""Context parallelism: the keys and values, or the heads, that its ranks exchange."""

from __future__ import annotations

from clusterspec.cost.compute.attention import ACTIVATION
from clusterspec.cost.compute.portion import Portion
from clusterspec.cost.traffic.flow import Flow


def forward(portion: Portion, method: str, core: float) -> tuple[Flow, ...]:
    """The exchange around one attention core that takes ``core`` seconds.

    ring: each of cp − 1 steps sends keys and values on while the core works on the last ones
    (Liu et al., arXiv 2310.01889); all-gather: all keys and values first (Llama 3,
    arXiv 2407.21783, section 3.3.2); all-to-all: heads for tokens and back (DeepSpeed-Ulysses,
    arXiv 2309.14509).
    """
    return _exchange(portion, method, core, gradient=False)


def backward(portion: Portion, method: str, core: float) -> tuple[Flow, ...]:
    """The same with the gradients of keys and values beside them."""
    return _exchange(portion, method, core, gradient=True)


def _exchange(portion: Portion, method: str, core: float, gradient: bool) -> tuple[Flow, ...]:
    ranks = portion.cp
    if ranks == 1:
        return ()
    keys_values = ACTIVATION * portion.tokens * _width(portion)
    if method == "all-to-all":
        model = portion.model
        queries = ACTIVATION * portion.tokens * portion.heads * model.head_dim
        return (Flow("cp", "all-to-all", queries, 2), Flow("cp", "all-to-all", keys_values, 1))
    if method == "all-gather":
        gather = Flow("cp", "all-gather", keys_values * ranks)
        return (gather, Flow("cp", "reduce-scatter", keys_values * ranks)) if gradient else (gather,)
    sent = keys_values * (2 if gradient else 1)
    return (Flow("cp", "send-recv", sent, ranks - 1, core / ranks),)


def _width(portion: Portion) -> float:
    """Elements of keys and values for one token on one rank."""
    model = portion.model
    if model.latent:
        return portion.heads * (2 * model.head_dim + model.latent_rope)
    return 2 * portion.kv_heads * model.head_dim
