"""Expert parallelism: dispatch of each token to the ranks of its experts, and combine."""

from __future__ import annotations

from clusterspec.cluster.model import Dispatcher
from clusterspec.cost.compute.feedforward import Routing
from clusterspec.cost.compute.shard import Shard
from clusterspec.cost.formulas.elementwise import chosen, divided, smaller
from clusterspec.cost.formulas.routing import distinct_ranks
from clusterspec.cost.traffic.transfer import Transfer
from clusterspec.precision import width


def each_pass(
    shard: Shard, routing: Routing, dispatcher: Dispatcher, domains: int, overlap_window: float
) -> tuple[Transfer, ...]:
    """Dispatch and combine of one layer; the backward pass repeats them with gradients.

    The slowest rank determines the time. Tokens are sent in the dispatcher's precision, and come back as activations.
    Where experts are sharded by tensor parallelism, its ranks gather the received tokens and scatter the results.
    ``domains`` is the number of scale-up domains of a group, and ``overlap_window`` the seconds of computation in the
    pass, of another micro-batch where a framework can overlap this.
    """
    model = shard.model
    sent = model.expert_width * shard.rows * copies(shard, dispatcher, domains) * routing.imbalance
    whole = shard.width * model.expert_width * routing.arriving * routing.imbalance
    transfers: tuple[Transfer, ...] = ()
    if divided(shard.ep):
        widths = (width(dispatcher.precision), shard.width)
        transfers += tuple(Transfer("ep", "all-to-all", each * sent, 1, overlap_window / 2) for each in widths)
    if divided(shard.expert_tp):
        transfers += (Transfer("expert_tp", "all-gather", whole), Transfer("expert_tp", "reduce-scatter", whole))
    return transfers


def copies(shard: Shard, dispatcher: Dispatcher, domains: int) -> float:
    """Copies of each token that are sent: one for each of its experts by all-to-all.

    DeepEP and HybridEP send a token over the fabric once to each domain that has some of its experts, and forward it
    over the scale-up links (DeepSeek-V3 technical report, arXiv 2412.19437, section 3.2.2); inside one domain, once to
    each rank. A router may limit the number of nodes that a token reaches.
    """
    model = shard.model
    if dispatcher.kind == "all-to-all":
        return float(model.experts_per_token)
    reached = distinct_ranks(shard.ep, model.experts_per_token)
    most = model.routing_max_nodes or domains
    fewer = smaller(reached, smaller(distinct_ranks(domains, model.experts_per_token), most))
    return chosen(domains == 1, reached, fewer)
