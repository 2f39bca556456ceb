"""Expert parallelism: each token goes to the ranks that hold its experts, and comes back."""

from __future__ import annotations

from clusterspec.cost.compute.attention import ACTIVATION
from clusterspec.cost.compute.feedforward import Routing
from clusterspec.cost.compute.portion import Portion
from clusterspec.cost.formulas.routing import distinct_ranks
from clusterspec.cost.traffic.flow import Flow


def each_pass(portion: Portion, routing: Routing, deduplicates: bool, domains: int, room: float) -> tuple[Flow, ...]:
    """Dispatch and combine of one layer; the backward pass repeats them with gradients.

    The fullest rank is waited for. A token goes once for each of its experts, or once for each
    rank that holds some of them where the software ``deduplicates``. Where experts are cut by
    tensor parallelism, its ranks gather what arrived and scatter what leaves. ``domains`` is how
    many scale-up domains a group lies in, and ``room`` the seconds of computation in the pass, of
    another micro-batch where a framework can hide this.
    """
    model = portion.model
    size = ACTIVATION * model.hidden * portion.rows * _copies(portion, deduplicates, domains) * routing.imbalance
    whole = ACTIVATION * model.hidden * routing.arriving * routing.imbalance
    flows: tuple[Flow, ...] = ()
    if portion.ep > 1:
        flows += (Flow("ep", "all-to-all", size, 2, room / 2),)
    if portion.expert_tp > 1:
        flows += (Flow("expert_tp", "all-gather", whole), Flow("expert_tp", "reduce-scatter", whole))
    return flows


def _copies(portion: Portion, deduplicates: bool, domains: int) -> float:
    """How often a token is sent.

    A router that is told how many nodes a token may reach sends it to each of them once over the
    fabric, and on from there over the scale-up links, which are faster (DeepSeek-V3 technical
    report, arXiv 2412.19437, section 3.2.2).
    """
    model = portion.model
    copies = float(distinct_ranks(portion.ep, model.experts_per_token) if deduplicates else model.experts_per_token)
    if domains == 1 or model.routing_max_nodes is None:
        return copies
    return min(copies, float(distinct_ranks(domains, model.experts_per_token)), float(model.routing_max_nodes))
