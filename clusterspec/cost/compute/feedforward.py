"""The feed-forward network of one layer: dense, or a mixture of experts."""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.cost.compute.attention import ACTIVATION
from clusterspec.cost.compute.kernels import Work, linear, stream
from clusterspec.cost.compute.portion import Portion


def dense(portion: Portion, width: float, name: str = "feed-forward") -> Work:
    """Two matrices around an activation, three where it is gated; ``width`` before tensor parallelism."""
    return _network(portion, name, portion.tokens, width / portion.tp, portion.precision)


def _network(
    portion: Portion, name: str, rows: float, width: float, precision: str, batch: float = 1.0, grouped: bool = False
) -> Work:
    hidden, inputs = portion.model.hidden, 2 if portion.model.gated_ffn else 1
    up = linear(f"{name} in", rows, hidden, inputs * width, precision, batch, grouped)
    down = linear(f"{name} out", rows, width, hidden, precision, batch, grouped)
    return up + _activation(name, batch * rows * width, inputs) + down


def _activation(name: str, elements: float, inputs: int) -> Work:
    """Reads its inputs and writes one output; backward it reads those and the gradient, and writes the inputs' gradients."""
    return stream(f"{name} activation", ACTIVATION * (inputs + 1) * elements, ACTIVATION * (2 * inputs + 1) * elements)


@dataclass(frozen=True, slots=True)
class Routing:
    """Where the tokens of one rank go in a layer of experts.

    ``leaving`` copies of tokens leave this rank and, with even routing, as many times
    ``expert_tp`` arrive at its ``experts``; ``imbalance`` is how much longer the fullest rank
    works than the mean.
    """

    leaving: float
    arriving: float
    experts: float
    imbalance: float

    @classmethod
    def of(cls, portion: Portion, imbalance: float) -> Routing:
        leaving = portion.rows * portion.model.experts_per_token
        return cls(
            leaving,
            leaving * portion.expert_tp,
            portion.model.experts / portion.ep,
            imbalance if portion.ep > 1 else 1.0,
        )


def router(portion: Portion) -> Work:
    """Scores every token against every expert, and chooses; the product is kept in 16 bits."""
    model = portion.model
    choice = 4.0 * 3 * portion.rows * model.experts
    return linear("router", portion.rows, model.hidden, model.experts, portion.kept) + stream(
        "expert choice", choice, choice, 3
    )


def permutation(portion: Portion, routing: Routing) -> Work:
    """Copies each token to where it leaves, sorts what arrives by expert, and back: reads and writes of h elements."""
    hidden = ACTIVATION * portion.model.hidden
    leave = hidden * (portion.rows + routing.leaving)
    sort = hidden * 2 * routing.arriving * routing.imbalance if routing.experts > 1 and portion.ep > 1 else 0.0
    return stream("dispatch and combine", 2 * (leave + sort), 2 * (leave + sort), 4)


def experts(portion: Portion, routing: Routing) -> Work:
    """The experts' own networks as grouped products, and the experts that every token passes."""
    model = portion.model
    rows = routing.arriving * routing.imbalance / routing.experts
    width = model.expert_ffn_hidden / portion.expert_tp
    grouped = _network(portion, "experts", rows, width, portion.precision, routing.experts, grouped=True)
    if not model.shared_experts:
        return grouped
    return grouped + dense(portion, model.shared_experts * model.expert_ffn_hidden, "shared experts")
