"""The feed-forward network of one layer: dense, or a mixture of experts."""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.cost.compute.attention import ACTIVATION
from clusterspec.cost.compute.fixed import ROUTER_BYTES
from clusterspec.cost.compute.kernels import Role, Shape, Work, linear, stream
from clusterspec.cost.compute.portion import Portion
from clusterspec.cost.formulas.routing import fullest


def dense(portion: Portion, width: float, name: str = "feed-forward") -> Work:
    """Two matrices around an activation, three where it is gated; ``width`` before tensor parallelism."""
    return _network(portion, name, Shape(portion.tokens, portion.model.hidden, width / portion.tp))


def _network(portion: Portion, name: str, shape: Shape) -> Work:
    """``shape`` of the first matrix without its gate."""
    inputs = 2 if portion.model.gated_ffn else 1
    up = linear(f"{name} in", shape._replace(n=inputs * shape.n), portion.precision)
    down = linear(f"{name} out", shape._replace(k=shape.n, n=shape.k), portion.precision)
    return up + _activation(name, shape.batch * shape.m * shape.n, inputs) + down


def _activation(name: str, elements: float, inputs: int) -> Work:
    """Forward it reads its inputs and writes one output; backward it reads the inputs and the output's
    gradient, and writes the inputs' gradients."""
    moved = ACTIVATION * elements
    return stream(f"{name} activation", (moved * (inputs + 1), moved * (2 * inputs + 1)), role=Role.LIGHT)


@dataclass(frozen=True, slots=True)
class Routing:
    """Where the tokens of one rank go in a layer of experts.

    ``leaving`` copies of tokens leave this rank and, with even routing, ``expert_tp`` times as many
    arrive at its ``experts``; ``imbalance`` is how much longer the fullest rank works than the mean.
    """

    leaving: float
    arriving: float
    experts: float
    imbalance: float

    @classmethod
    def of(cls, portion: Portion, spread: float) -> Routing:
        """With loads of single experts that vary by ``spread``."""
        leaving = portion.rows * portion.model.experts_per_token
        held = portion.model.experts / portion.ep
        imbalance = float(fullest(portion.ep, max(1.0, held), spread))
        return cls(leaving, leaving * portion.expert_tp, held, imbalance)


def router(portion: Portion) -> Work:
    """Scores every token against every expert, and chooses; the product is kept in 16 bits."""
    experts = portion.model.experts
    scores = linear("router", Shape(portion.rows, portion.model.hidden, experts), portion.kept)
    choice = ROUTER_BYTES * portion.rows * experts
    return scores + stream("expert choice", (choice, choice), 3)


def permutation(portion: Portion, routing: Routing) -> Work:
    """Copies each token to where it leaves, sorts what arrives by expert, and back."""
    hidden = ACTIVATION * portion.model.hidden
    leave = hidden * (portion.rows + routing.leaving)
    sort = hidden * 2 * routing.arriving * routing.imbalance if routing.experts > 1 and portion.ep > 1 else 0.0
    both = 2 * (leave + sort)
    return stream("dispatch and combine", (both, both), 4)


def experts(portion: Portion, routing: Routing) -> Work:
    """The experts' own networks as grouped products, and the experts that every token passes."""
    model = portion.model
    rows = routing.arriving * routing.imbalance / routing.experts
    width = model.expert_ffn_hidden / portion.expert_tp
    grouped = _network(portion, "experts", Shape(rows, model.hidden, width, routing.experts, experts=True))
    if not model.shared_experts:
        return grouped
    return grouped + dense(portion, model.shared_experts * model.expert_ffn_hidden, "shared experts")
