"""Traffic of expert parallelism: the dispatch of each token to the ranks of its experts, and the combine."""

from __future__ import annotations

from clusterspec.cost.formulas.compute import is_divided, smaller, value_where
from clusterspec.cost.formulas.experts import distinct_ranks
from clusterspec.cost.traffic import Transfer
from clusterspec.quantity import precision_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cluster.model import Dispatcher
    from clusterspec.cost.compute import Shard
    from clusterspec.cost.compute.expert_layer import Routing


def expert_transfers(
    shard: Shard, routing: Routing, dispatcher: Dispatcher, domains: int, overlap_window: float
) -> tuple[Transfer, ...]:
    """Dispatch and combine of one layer; the backward pass repeats them with gradients.

    The slowest rank determines the time. Tokens are sent in the dispatcher's precision, and come back as activations.
    If tensor parallelism shards the experts, its ranks gather the received tokens and scatter the results; without
    expert parallelism they gather each token once and copy it locally (Megatron-LM, core/transformer/moe, whose default
    dispatcher is "allgather"). ``domains`` is the number of scale-up domains of a group, and ``overlap_window`` the
    seconds of computation in the pass, or in a pass of another micro-batch if a framework can overlap both.
    """
    model = shard.model
    copies = shard.rows * copies_per_token(shard, dispatcher, domains) * routing.imbalance
    sent = model.expert_width * copies
    single, forwarded = _kernel_copies(shard, routing, dispatcher, domains)
    copied = shard.width * model.expert_width * routing.arriving * routing.imbalance
    once = shard.width * model.expert_width * shard.rows * shard.expert_tp
    whole = value_where(shard.ep == 1, once, copied)
    transfers: tuple[Transfer, ...] = ()
    if is_divided(shard.ep):
        widths = {"dispatch": precision_width(dispatcher.precision), "combine": shard.width}
        transfers += tuple(
            Transfer(
                "ep",
                "all-to-all",
                each * sent,
                1,
                overlap_window / 2,
                purpose=purpose,
                copies=single,
                forwarded=each * model.expert_width * forwarded,
            )
            for purpose, each in widths.items()
        )
    if is_divided(shard.expert_tp):
        transfers += (Transfer("expert_tp", "all-gather", whole), Transfer("expert_tp", "reduce-scatter", whole))
    return transfers


def _kernel_copies(shard: Shard, routing: Routing, dispatcher: Dispatcher, domains: int) -> tuple[float, float]:
    """The copies of tokens that the kernels of a dispatcher send inside one scale-up domain, and those that they
    forward in each domain after the fabric; both 0 for an all-to-all. A router may limit the domains that one token
    reaches, and so the ranks.
    """
    if dispatcher.kind == "all-to-all":
        return 0.0, 0.0
    open_domains = smaller(shard.model.routing_max_nodes or domains, domains)
    reached = distinct_ranks(shard.ep * open_domains / domains, shard.model.experts_per_token)
    reached = shard.rows * reached * routing.imbalance
    return value_where(domains == 1, reached, 0.0), value_where(domains == 1, 0.0, reached)


def copies_per_token(shard: Shard, dispatcher: Dispatcher, domains: int) -> float:
    """The number of copies sent of each token. An all-to-all sends one copy per selected expert.

    DeepEP and HybridEP send a token over the fabric once per domain with any of its experts, and forward it over the
    scale-up links (DeepSeek-V3 technical report, arXiv 2412.19437, section 3.2.2); inside one domain, once to each
    rank. A router may limit the number of nodes that a token reaches.
    """
    model = shard.model
    if dispatcher.kind == "all-to-all":
        return float(model.experts_per_token)
    reached = distinct_ranks(shard.ep, model.experts_per_token)
    most = model.routing_max_nodes or domains
    fewer = smaller(reached, smaller(distinct_ranks(domains, model.experts_per_token), most))
    return value_where(domains == 1, reached, fewer)
