"""The parts of a step that depend on the routing of tokens: the GEMMs of experts, and their dispatch and combine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clusterspec.cost.formulas.elementwise import power, smaller
from clusterspec.cost.formulas.routing import distinct_ranks, experts_hit, fullest, fullest_hit
from clusterspec.cost.formulas.serving import expert_exchange_time, roofline_time
from clusterspec.cost.serving import constants as known
from clusterspec.cost.serving.origins import from_table
from clusterspec.cost.serving.rates import remaining
from clusterspec.cost.serving.steps import Part
from clusterspec.precision import width

if TYPE_CHECKING:
    from clusterspec.cost.serving.engine import Engine


def experts(engine: Engine, tokens: float, busy: float) -> tuple[Part, ...]:
    """Experts: reading the weights of the selected ones, or the GEMMs of all tokens, on the fullest rank.

    ``tokens`` are those of one attention rank, of which ``busy`` have as many.
    """
    model, name, kept = engine.model, engine.expert_precision, engine.workload.expert_parameter_precision
    copies = tokens * busy * model.experts_per_token
    hit = experts_hit(model.experts, tokens * busy, model.experts_per_token, known.UNEVEN.value)
    ranks = _uneven_ranks(engine)
    read = fullest_hit(hit, model.experts, ranks) / (model.experts / ranks)
    work = 2 * engine.expert * engine.whole.moe_layers * copies / engine.ranks
    numbers = {
        "bytes_read": engine.share.expert * read * width(kept),
        "bandwidth": engine.rates.stream(name),
        "flops": work * fullest_load(engine, copies),
        "rate": engine.rates.product(name, copies / hit if hit else 1.0, engine.expert_peak) * remaining(kept, name),
    }
    origins = from_table(engine, bandwidth=f"gemm.{name}.stream", rate=f"gemm.{name}")
    return (Part("experts", roofline_time, numbers, origins),)


def exchange(engine: Engine, tokens: float, busy: float) -> tuple[Part, ...]:
    """Dispatch and combine of the fullest rank, where the ranks of an engine hold different tokens."""
    links, expert_layers, model = engine.exchange_links, engine.whole.moe_layers, engine.model
    if not expert_layers or links is None:
        return ()
    line = links.inside * engine.rates.single.get("exchange.line", known.EXCHANGE_LINE.value)
    if links.domains > 1:
        line = links.between * engine.rates.single.get("exchange.network", known.NETWORK.value)
    copies = float(model.experts_per_token)
    numbers = {
        "layers": float(expert_layers),
        "latency": _latency(engine, links.domains),
        "tokens": tokens * fullest_load(engine, tokens * busy * copies),
        "copies": distinct_ranks(engine.ranks, copies) if tokens > known.LOW_LATENCY_TOKENS else copies,
        "hidden": float(model.hidden),
        "bytes_each": known.EXCHANGE_BYTES,
        "bandwidth": line,
    }
    origins = from_table(engine, latency="exchange.latency", bandwidth="exchange.line")
    return (Part("expert_exchange", expert_exchange_time, numbers, origins),)


def fullest_load(engine: Engine, copies: float) -> float:
    """The copies of tokens on the fullest rank over the mean, with ``copies`` for all experts of a layer.

    Both the popularity of the experts and the draw of few tokens make it uneven. 1 on one rank, and where copies of
    experts balance the load.
    """
    ranks, held = float(_uneven_ranks(engine)), engine.model.experts
    mean = copies / held
    spread = power(known.UNEVEN.value * known.UNEVEN.value + 1 / mean, 0.5) if mean else 0.0
    return smaller(ranks, fullest(ranks, held / ranks, spread))


def _uneven_ranks(engine: Engine) -> int:
    """Ranks that hold different experts, without copies of them that balance the load."""
    return 1 if engine.layout.redundant_experts else engine.layout.ep


def _latency(engine: Engine, domains: int) -> float:
    """Latency of dispatch and combine of few tokens, in seconds."""
    table = engine.rates.curves.get("exchange.latency")
    return engine.rates.at("exchange.latency", float(domains)) if table else known.EXCHANGE.value
