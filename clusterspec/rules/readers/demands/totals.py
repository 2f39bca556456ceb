"""Totals of a machine and of its payments, as the demands of texts bound them."""

from __future__ import annotations

from clusterspec.rules.readers.demands.parts import Parts, Value
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
    from clusterspec.rules.readers.demands.bill_values import purchase_price, terms_of_sentence

    buying = parts.spec.procurement
    payment = buying.payment if buying is not None else None
    listed = purchase_price(parts) if payment is not None and payment.order is not None else None
    if listed is None or buying is None or payment is None or payment.order is None:
        return None
    share = float(payment.order) + (float(payment.delivery or 0) if on_delivery else 0.0)
    low, high = terms_of_sentence(parts.sentence, buying)
    return Value(share * listed[0] * low, share * listed[1] * high, f"{percent(share)} of {listed[0] * high:,.0f}")


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
