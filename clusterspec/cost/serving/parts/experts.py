"""The parts of a serving step that depend on the routing of tokens: GEMMs of experts, dispatch and combine."""

from __future__ import annotations

from clusterspec.cost.formulas.compute import larger, power, smaller
from clusterspec.cost.formulas.experts import (
    distinct_ranks,
    experts_hit,
    experts_hit_on_fullest,
    fullest_load,
    load_with_draw,
)
from clusterspec.cost.formulas.serving import expert_exchange_time, roofline_time
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.constants import Part, table_origins
from clusterspec.cost.serving.parts.gemm_sizes import has_scaled_blocks
from clusterspec.cost.serving.rates import converts_weights, remaining_rate_share
from clusterspec.quantity import precision_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.serving.engine import Engine
    from clusterspec.cost.serving.parts.balance import Placed

GATHERED_BYTES = 4.0
"""Bytes of an element that is gathered and scattered in 16 bits where every rank has a slice of every expert (SGLang
0.4.3, python/sglang/srt/models/deepseek_v2.py, all_gather; vLLM, distributed/device_communicators/all2all.py,
AgRsAll2AllManager).
"""


def expert_read_rate(engine: Engine) -> float:
    """B/s at which kernels of experts read weights: no more than the compute units convert on load."""
    kept, units = engine.workload.expert_parameter_precision, engine.cluster.accelerator.compute_units
    found = engine.rates.weight_read_rate(engine.expert_precision)
    if units is None or not converts_weights(kept, engine.expert_precision):
        return found
    converted = constants.CONVERTED_WEIGHTS * units / engine.cluster.ranks_per_accelerator
    return min(found, converted * precision_width(kept))


def expert_parts(engine: Engine, tokens: float, busy: float) -> tuple[Part, ...]:
    """Experts: reading the weights of the selected ones, or the GEMMs of all tokens, on the fullest rank.

    ``tokens`` is the number of tokens on each of ``busy`` attention ranks.
    """
    model, name, kept = engine.model, engine.expert_precision, engine.workload.expert_parameter_precision
    copies = tokens * busy * model.experts_per_token
    hit, read = _experts_hit_and_read(engine, tokens * busy)
    work = 2 * engine.expert * engine.whole.moe_layers * copies / engine.ranks
    rows = copies / hit if hit else 1.0
    rate, fused, widened = engine.rates.gemm_rate(name, rows, engine.expert_peak), 1.0, 1.0
    if converts_weights(kept, name):
        widened = _widened_share(engine, rows)
    else:
        blocks = has_scaled_blocks(engine.model, name)
        year, size = engine.software_year, engine.expert / engine.layout.expert_tp
        fused = engine.rates.experts_share(name, rows, engine.software, blocks, year=year, size=size)
    numbers = {
        "bytes_read": engine.share.expert * read * precision_width(kept),
        "bandwidth": expert_read_rate(engine) * min(1.0, fused),  # faster products read no weights sooner
        "flops": work * fullest_load_factor(engine, copies),
        "rate": rate * fused * widened,
    }
    origins = table_origins(engine.rates.table, bandwidth=f"gemm.{name}.stream", rate=f"gemm.{name}")
    return (Part("experts", roofline_time, numbers, origins),)


def _widened_share(engine: Engine, rows: float) -> float:
    """The share of the 16-bit GEMM rate that remains where kernels of experts convert their weights on load."""
    kept, name = engine.workload.expert_parameter_precision, engine.expert_precision
    found = engine.rates.widened_experts_share(
        kept, rows, f"{engine.software}_{engine.software_year:g}", engine.software
    )
    return remaining_rate_share(kept, name, engine.cluster.accelerator.architecture) if found is None else found


def _experts_hit_and_read(engine: Engine, tokens: float) -> tuple[float, float]:
    """The number of experts that ``tokens`` select, and the largest share of its experts that any rank reads."""
    model, held = engine.model, placed_experts(engine)
    if held is None:
        hit = experts_hit(model.experts, tokens, model.experts_per_token, constants.UNEVEN.value)
        ranks = _ranks_without_balancing(engine)
        return hit, experts_hit_on_fullest(hit, model.experts, ranks) / (model.experts / ranks)
    from clusterspec.cost.serving.parts.balance import slots_hit

    slots, ranks = float(len(held.slots)), engine.layout.ep
    hit = slots_hit(held.slots, tokens)
    return hit, experts_hit_on_fullest(hit, slots, ranks) / (slots / ranks)


def placed_experts(engine: Engine, ranks: int | None = None) -> Placed | None:
    """The experts of a layer on the ranks of an engine, or on ``ranks`` groups of adjacent ranks.

    None if the spec does not say how uneven they are.
    """
    load = engine.workload.serving.expert_load if engine.workload.serving is not None else None
    if load is None:
        return None
    from clusterspec.cost.serving.parts.balance import placed_experts

    model, layout = engine.model, engine.layout
    if load.ratio is not None and ranks and ranks < layout.ep:  # ranks of a group vary independently of each other
        load = load._replace(ratio=1 + (load.ratio - 1) * (ranks / layout.ep) ** 0.5)
    return placed_experts(load, model.experts, model.experts_per_token, ranks or layout.ep, layout.redundant_experts)


def exchange_parts(engine: Engine, tokens: float, busy: float) -> tuple[Part, ...]:
    """Dispatch and combine on the slowest rank, where the ranks of an engine hold different tokens.

    Each of ``busy`` attention replicas sends ``tokens``, an equal part from each of its ranks. A rank finishes when it
    has sent its own tokens and received those for its experts; if few ranks have tokens, sending takes longer. Where
    every rank has a slice of every expert instead, all ranks gather all tokens, and the sums of their slices are
    scattered.

    Source of the parts: SGLang, python/sglang/srt/layers/communicator.py at 0090b34, sparse_mlp_scatter_mode.
    """
    links, expert_layers = engine.exchange_links, engine.whole.moe_layers
    if not expert_layers or links is None:
        return ()
    line = links.inside * engine.rates.single.get("exchange.line", constants.EXCHANGE_LINE.value)
    if links.domains > 1:
        line = links.between * engine.rates.single.get("exchange.network", constants.NETWORK.value)
    fullest, copies = _sent_copies(engine, tokens, busy)
    numbers = {
        "layers": float(expert_layers),
        "latency": _exchange_latency(engine, links.domains),
        "tokens": fullest,
        "copies": copies,
        "hidden": float(engine.model.hidden),
        "bytes_each": constants.EXCHANGE_BYTES if engine.layout.ep > 1 else GATHERED_BYTES,
        "bandwidth": line,
    }
    origins = table_origins(engine.rates.table, latency="exchange.latency", bandwidth="exchange.line")
    return (Part("expert_exchange", expert_exchange_time, numbers, origins),)


def _sent_copies(engine: Engine, tokens: float, busy: float) -> tuple[float, float]:
    """Tokens of the fullest rank, and copies of each that it sends or receives."""
    if engine.layout.ep == 1:
        return tokens * busy, 1 - 1 / engine.layout.attention_dp
    own = _tokens_of_rank(engine, tokens)
    senders = tokens * busy / own if own else busy
    kinds = [_low_latency_copies(engine, min(own, float(constants.LOW_LATENCY_TOKENS)), senders)]
    if uses_throughput_kernels(engine, tokens):  # no sooner than the others with the most tokens that those take
        kinds.append(_forwarded_copies(engine, own, senders))
    return max(kinds, key=lambda sent: sent[0] * sent[1])


def _tokens_of_rank(engine: Engine, tokens: float) -> float:
    """The part of the ``tokens`` of an attention replica that each of its ranks sends; not less than one token."""
    return larger(smaller(1.0, tokens), tokens / engine.layout.tp)


def uses_throughput_kernels(engine: Engine, tokens: float) -> bool:
    """Whether an exchange of ``tokens`` per attention replica uses kernels for high throughput, not for low latency."""
    return _tokens_of_rank(engine, tokens) > constants.LOW_LATENCY_TOKENS


def _low_latency_copies(engine: Engine, tokens: float, senders: float) -> tuple[float, float]:
    """Low-latency mode: tokens of the fullest rank, where ``senders`` ranks have ``tokens`` each, and copies per token
    (one for each selected expert).
    """
    copies = float(engine.model.experts_per_token)
    fullest = fullest_load_factor(engine, tokens * senders * copies)
    return tokens * larger(1.0, senders / _attending_ranks(engine) * fullest), copies


def _attending_ranks(engine: Engine) -> int:
    """The ranks of all attention replicas of an engine."""
    return engine.layout.attention_dp * engine.layout.tp


def _forwarded_copies(engine: Engine, tokens: float, senders: float) -> tuple[float, float]:
    """High-throughput mode: tokens of the fullest rank, and copies per token: one per rank within a domain, or one per
    domain, which forwards it. ``senders`` ranks have ``tokens`` each.

    A router may limit the number of domains that a token reaches. No rank receives more than all tokens.

    Source: DeepSeek-V3 technical report, arXiv 2412.19437, section 3.2.2; DeepEP measures 61 GB/s with copies for
    four domains on NICs of 50 GB/s, the own domain's included (github.com/deepseek-ai/DeepEP, README at dd758ca).
    """
    model, links = engine.model, engine.exchange_links
    domains = links.domains if links is not None else 1
    chosen, groups = float(model.experts_per_token), domains if domains > 1 else engine.ranks
    copies = distinct_ranks(groups, chosen)
    if domains > 1:
        copies = smaller(copies, model.routing_max_nodes or domains)
    fullest = fullest_load_factor(engine, tokens * senders * chosen, domains if domains > 1 else None)
    received = senders / _attending_ranks(engine) * smaller(fullest, groups / copies)
    return tokens * larger(1.0, received), copies


def fullest_load_factor(engine: Engine, copies: float, groups: int | None = None) -> float:
    """The copies of tokens on the fullest rank over the mean, with ``copies`` for all experts of a layer.

    Two effects make the load uneven: some experts are more popular, and few tokens draw unevenly; a stated ratio
    includes both. The result is 1 on one rank, and where redundant experts balance the load. With ``groups`` of
    adjacent ranks it is the factor of the fullest group.
    """
    ranks, held = groups or engine.layout.ep, engine.model.experts
    placement = placed_experts(engine, ranks)
    if placement is not None:
        return _stated_load_factor(engine, placement, copies, ranks)
    if engine.layout.redundant_experts or engine.layout.ep == 1:
        return 1.0
    mean = copies / held
    spread = power(constants.UNEVEN.value * constants.UNEVEN.value + 1 / mean, 0.5) if mean else 0.0
    return smaller(ranks, fullest_load(ranks, held / ranks, spread))


def _stated_load_factor(engine: Engine, placement: Placed, copies: float, ranks: int) -> float:
    """The load of the fullest rank over the mean, from the expert load that the spec states and the uneven draw of few
    tokens.
    """
    load = engine.workload.serving
    if engine.layout.ep == 1 or ranks == 1:
        return 1.0
    if not copies or (load and load.expert_load and load.expert_load.ratio is not None):
        return placement.fullest
    return smaller(ranks, load_with_draw(placement.fullest, ranks, copies / ranks))


def _ranks_without_balancing(engine: Engine) -> int:
    """The expert-parallel ranks; 1 if redundant experts balance their load."""
    return 1 if engine.layout.redundant_experts else engine.layout.ep


def _exchange_latency(engine: Engine, domains: int) -> float:
    """Latency of dispatch and combine of few tokens, in seconds."""
    table = engine.rates.curves.get("exchange.latency")
    return engine.rates.table_value("exchange.latency", float(domains)) if table else constants.EXCHANGE.value
