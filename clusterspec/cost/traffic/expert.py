"""Expert parallelism: each token goes to the ranks that hold its experts, and comes back."""

from __future__ import annotations

from clusterspec.cost.compute.attention import ACTIVATION
from clusterspec.cost.compute.feedforward import Routing
from clusterspec.cost.compute.portion import Portion
from clusterspec.cost.formulas.routing import distinct_ranks
from clusterspec.cost.traffic.flow import Flow


def each_pass(portion: Portion, routing: Routing, deduplicates: bool) -> tuple[Flow, ...]:
    """Dispatch and combine of one layer; the backward pass repeats them with gradients.

    The fullest rank is waited for. A token goes once for each of its experts, or once for each
    rank that holds some of them where the software ``deduplicates``.
    """
    if portion.ep == 1:
        return ()
    model = portion.model
    copies = distinct_ranks(portion.ep, model.experts_per_token) if deduplicates else model.experts_per_token
    size = ACTIVATION * model.hidden * portion.rows * copies * routing.imbalance
    return (Flow("ep", "all-to-all", size, 2),)
