"""Load of experts and expert-parallel ranks, from a law or from counts, with redundant copies and their placement."""

from __future__ import annotations

from functools import lru_cache
from heapq import heapify, heappop, heappush
from random import Random
from typing import TYPE_CHECKING

from clusterspec.cluster.requests import ExpertLoad
from clusterspec.quantity import precision_width
from clusterspec.records import NamedTuple
from clusterspec.standard import sum_of

if TYPE_CHECKING:
    from clusterspec.cost.serving.engine import Engine

DRAWS = 64
"""Number of random orders of experts over which the fullest rank is averaged if their order is unknown."""


class Placed(NamedTuple):
    """Experts on ranks: the load of the fullest rank over the mean, and the shares of tokens that reach each slot."""

    fullest: float
    slots: tuple[float, ...]


class ExpertUse(NamedTuple):
    """The imbalance of a decode engine: tokens of the fullest rank over the mean.

    ``fullest`` is the plan's; ``listed`` and ``balanced`` are without redundant copies, with experts in listed order
    and placed by load. ``copies`` redundant experts take ``copy_bytes`` of each rank, over all layers. Placing the
    experts again sends at most ``moved`` bytes to a rank, in ``seconds`` over its link; None if one rank holds all
    experts.
    """

    fullest: float
    listed: float
    balanced: float
    copies: int
    copy_bytes: float
    moved: float
    seconds: float | None


def expert_use(engine: Engine) -> ExpertUse | None:
    """The ranks of an engine under the load that the spec states; None if it states none."""
    load = engine.workload.serving.expert_load if engine.workload.serving is not None else None
    if load is None or not engine.model.experts:
        return None
    model, layout, links = engine.model, engine.layout, engine.exchange_links or engine.tensor_links

    def fullest(copies: int, *, balanced: bool) -> float:
        other = load._replace(balanced=balanced)
        return placed_experts(other, model.experts, model.experts_per_token, layout.ep, copies).fullest

    width = precision_width(engine.workload.expert_parameter_precision)
    held = engine.share.expert * width / layout.pp
    slots = model.experts + layout.redundant_experts
    line = min(links.inside, links.between) if links is not None else 0.0
    return ExpertUse(
        fullest=fullest(layout.redundant_experts, balanced=load.balanced),
        listed=fullest(0, balanced=False),
        balanced=fullest(0, balanced=True),
        copies=layout.redundant_experts,
        copy_bytes=held * layout.redundant_experts / slots,
        moved=held,
        seconds=held / line if line and layout.ep > 1 else None,
    )


def token_shares(load: ExpertLoad, experts: int, chosen: int) -> tuple[float, ...]:
    """The share of tokens that select each expert; the shares add up to ``chosen``.

    With a power law the i-th most popular expert has the weight i^-alpha; with counts each expert has its own. A token
    selects an expert at most once, so no expert has more than all tokens; the other experts share the rest.
    """
    weights = load.counts or tuple((place + 1.0) ** -load.alpha for place in range(experts))
    shares = [0.0] * experts
    open_, left = list(range(experts)), float(min(chosen, experts))
    while open_:
        total = sum_of(weights[each] for each in open_)
        if not total:
            break
        full = [each for each in open_ if weights[each] * left >= total]
        if not full:
            for each in open_:
                shares[each] = weights[each] * left / total
            break
        for each in full:
            shares[each] = 1.0
        left -= len(full)
        open_ = [each for each in open_ if shares[each] < 1.0]
    return tuple(shares)


@lru_cache(maxsize=512)
def placed_experts(load: ExpertLoad, experts: int, chosen: int, ranks: int, copies: int) -> Placed:
    """The experts of a layer on ``ranks``, with redundant ``copies``.

    Balanced placement gives each extra copy to the expert with the most tokens per copy. It then assigns the copies,
    the fullest first, to the rank with the fewest tokens among those with a free slot. Unbalanced placement keeps the
    order of the experts: the order of the counts, or a random order for a law.

    Source: the load balancer of DeepSeek (github.com/deepseek-ai/EPLB), its global policy.
    """
    if load.ratio is not None:
        return Placed(min(load.ratio, float(ranks)), _even_slots(experts, chosen, copies))
    shares = token_shares(load, experts, chosen)
    slots = _with_copies(shares, copies)
    if load.balanced or copies:
        return Placed(_largest_load_ratio(_balanced_loads(slots, ranks)), slots)
    if load.counts:
        return Placed(_largest_load_ratio(_listed_loads(shares, ranks)), slots)
    random, order, total = Random(0), list(shares), 0.0
    for _ in range(DRAWS):
        random.shuffle(order)
        total += _largest_load_ratio(_listed_loads(order, ranks))
    return Placed(total / DRAWS, slots)


def _even_slots(experts: int, chosen: int, copies: int) -> tuple[float, ...]:
    return _with_copies((min(1.0, chosen / experts),) * experts, copies)


def _with_copies(shares: tuple[float, ...], copies: int) -> tuple[float, ...]:
    """The share of tokens of every slot; an expert with n copies has n slots of equal load."""
    queue = [(-share, 1, share) for share in shares]
    heapify(queue)
    for _ in range(copies):
        _, number, share = heappop(queue)
        heappush(queue, (-share / (number + 1), number + 1, share))
    return tuple(share / number for _, number, share in queue for _ in range(number))


def _balanced_loads(slots: tuple[float, ...], ranks: int) -> list[float]:
    """The loads of ranks with equal numbers of slots: the fullest slots go first, to the least loaded rank."""
    places = -(-len(slots) // ranks)
    open_ = [(0.0, rank, 0) for rank in range(ranks)]
    found = [0.0] * ranks
    for share in sorted(slots, reverse=True):
        load, rank, used = heappop(open_)
        found[rank] = load + share
        if used + 1 < places:
            heappush(open_, (load + share, rank, used + 1))
    return found


def _listed_loads(shares: tuple[float, ...] | list[float], ranks: int) -> list[float]:
    """The loads of ranks that hold equally many experts, in order."""
    places = -(-len(shares) // ranks)
    return [sum_of(shares[rank * places : (rank + 1) * places]) for rank in range(ranks)]


def _largest_load_ratio(loads: list[float]) -> float:
    """The largest load over the mean; 1 without load."""
    total = sum_of(loads)
    return max(loads) * len(loads) / total if total else 1.0


def slots_hit(slots: tuple[float, ...], tokens: float) -> float:
    """Slots that at least one of ``tokens`` reaches: Σ (1 − (1 − q)^t) over the shares q of tokens of each."""
    missed = [float((1.0 - min(1.0, share)) ** tokens) for share in slots]
    return len(slots) - sum_of(missed)
