"""Totals of a machine and of its payments, as the demands of texts bound them."""

from __future__ import annotations

from clusterspec.quantity import DAY, HOUR, YEAR
from clusterspec.rules.knowledge.demand_parts import Parts, Value
from clusterspec.standard import sum_of
from clusterspec.units import display, percent, plain, plural


def device_memory(parts: Parts) -> Value | None:
    """The bytes of memory of all accelerators, without and with spare nodes."""
    cluster = parts.cluster
    if cluster is None or cluster.accelerator.memory is None:
        return None
    each = cluster.accelerator.memory.value
    total = cluster.accelerators * each
    how = f"{cluster.accelerators:,.0f} accelerators of {display(each, 'B')}"
    return Value(total, (cluster.all_nodes / cluster.nodes) * total if cluster.nodes else total, how)


def all_accelerators(parts: Parts) -> Value | None:
    """The accelerators, without and with those of spare nodes."""
    cluster = parts.cluster
    if cluster is None:
        return None
    count = float(cluster.accelerators)
    most = float(cluster.all_nodes * cluster.accelerators_per_node)
    return Value(count, max(count, most), f"{cluster.nodes:,} nodes of {plain(cluster.accelerators_per_node, 4)}")


def all_nodes(parts: Parts) -> Value | None:
    """The nodes, without and with spares."""
    cluster = parts.cluster
    if cluster is None:
        return None
    return Value(
        float(cluster.nodes),
        float(cluster.all_nodes),
        f"{cluster.nodes:,} nodes and {plural(cluster.all_nodes - cluster.nodes, 'spare')}",
    )


def spare_share(parts: Parts) -> Value | None:
    """The spare nodes over all nodes, and over the others."""
    cluster = parts.cluster
    if cluster is None or not cluster.nodes:
        return None
    spares = cluster.all_nodes - cluster.nodes
    return Value(spares / cluster.all_nodes, spares / cluster.nodes, f"{spares} of {cluster.all_nodes} nodes")


def _paid(parts: Parts, *, on_delivery: bool) -> Value | None:
    """The money that is due before delivery, or before acceptance, of the quoted total."""
    payment = parts.spec.procurement.payment if parts.spec.procurement is not None else None
    if payment is None or payment.order is None:
        return None
    return _share_of_total(parts, float(payment.order) + (float(payment.delivery or 0) if on_delivery else 0.0))


def _share_of_total(parts: Parts, share: float | None) -> Value | None:
    """The money of a share of the quoted total, without and with tax; None where one of them is not stated."""
    from clusterspec.procurement.amounts import amount_of_quote

    buying = parts.spec.procurement
    if buying is None or share is None:
        return None
    total = (amount_of_quote(buying) if buying.quote else None) or float(buying.quoted_total or 0.0)
    if not total:
        return None
    net = total / (1 + float(buying.tax or 0))
    return Value(share * net, share * total, f"{percent(share)} of {total:,.0f}")


def share_before_acceptance(parts: Parts) -> Value | None:
    """The share of the price that is due before acceptance: with the order and at delivery."""
    buying = parts.spec.procurement
    payment = buying.payment if buying is not None else None
    if payment is None or payment.order is None or payment.acceptance is None:
        return None
    shares = (float(payment.order), float(payment.delivery or 0))
    total = sum_of(shares)
    return Value(total, total, f"{percent(shares[0])} with the order and {percent(shares[1])} at delivery")


def paid_before_delivery(parts: Parts) -> Value | None:
    """The money that is due before delivery."""
    return _paid(parts, on_delivery=False)


def paid_before_acceptance(parts: Parts) -> Value | None:
    """The money that is due before acceptance."""
    return _paid(parts, on_delivery=True)


def money_after_acceptance(parts: Parts) -> Value | None:
    """The money that is due after acceptance."""
    payment = parts.spec.procurement.payment if parts.spec.procurement is not None else None
    return _share_of_total(parts, payment.acceptance if payment is not None else None)


def money_with_order(parts: Parts) -> Value | None:
    """The money that is due with the order."""
    payment = parts.spec.procurement.payment if parts.spec.procurement is not None else None
    return _share_of_total(parts, payment.order if payment is not None else None)


def rent(parts: Parts) -> Value | None:
    """The money of a second that all nodes cost at the price of a node-hour, without and with discount and tax."""
    from clusterspec.procurement.amounts import terms_factor

    buying, cluster = parts.spec.procurement, parts.cluster
    price = buying.prices.get("node_hour") if buying is not None and buying.prices else None
    if buying is None or cluster is None or not isinstance(price, int | float) or not price:
        return None
    each = cluster.all_nodes * float(price) / HOUR
    ends = sorted((each, each * terms_factor(buying)))
    return Value(ends[0], ends[1], f"{cluster.all_nodes} nodes at {price:g} an hour")


def rent_of_month(parts: Parts) -> Value | None:
    """The money of a mean month, up to that of the longest."""
    found = rent(parts)
    if found is None:
        return None
    return Value(found.low * YEAR / 12, found.high * 31 * DAY, f"{found.how}, in {YEAR / 12 / HOUR:,.4g} hours")


def answers_of_step(parts: Parts) -> Value | None:
    """The answers of a step of reinforcement learning."""
    work = parts.spec.workload
    told = work.rl if work is not None else None
    if told is None or not told.prompts_per_step or not told.samples_per_prompt:
        return None
    answers = float(told.prompts_per_step * told.samples_per_prompt)
    how = f"{told.prompts_per_step:,} prompts of {told.samples_per_prompt}"
    return Value(answers, answers, how)
