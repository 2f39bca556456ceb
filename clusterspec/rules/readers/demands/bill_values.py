"""Amounts of money of a design, as the demands of texts bound them: from the bill and the cost over the term."""

from __future__ import annotations

from math import inf

from clusterspec.quantity import DAY, HOUR, YEAR
from clusterspec.rules.readers.demands.parts import Parts, Quantity, Value
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern, sum_of
from clusterspec.units import percent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.term import Term
    from clusterspec.procurement.cost import Cost

_LISTED = pattern(
    r"(?i)\b(?:before (?:the )?discount|at list prices?|list prices?|vor (?:dem )?rabatt|listenpreis\w*|avant remise|prix catalogue|antes del? descuento|precio de lista|prima dello sconto|prezzo di listino|antes do desconto|preço de tabela|przed rabatem|ceny katalogow\w+)\b"
)
"""Words for a price before the discount."""
_GROSS = pattern(
    r"(?i)\b(?:(?:with|including|incl\.?|plus) (?:the )?(?:tax|taxes|vat)|(?:tax|taxes|vat) included|gross|brutto|(?:mit|einschließlich|inklusive|inkl\.?) (?:der )?(?:steuer|mwst|mehrwertsteuer|umsatzsteuer)|ttc|(?:toutes )?taxes comprises|tva comprise|con (?:impuestos|iva)|(?:impuestos|iva) inclu\w+|iva compresa|com (?:impostos|iva)|impostos inclu\w+|z (?:vat|podatkiem))\b"
)
"""Words for a price with the tax."""
_NET = pattern(
    r"(?i)\b(?:(?:without|before|excluding|excl\.?|net of) (?:the )?(?:tax|taxes|vat)|netto|ohne (?:steuer|mwst|mehrwertsteuer|umsatzsteuer)|hors taxes?|ht|sin (?:impuestos|iva)|senza iva|iva esclusa|sem (?:impostos|iva)|bez (?:vat|podatku))\b"
)
"""Words for a price without the tax."""


def terms_of_sentence(sentence: str, buying: ProcurementSpec) -> tuple[float, float]:
    """The ratios of a price as a sentence means it to the list price: with the discount unless it says before it, and without and
    with the tax unless it says which.

    >>> buying = ProcurementSpec(discount=0.1, tax=0.2)
    >>> terms_of_sentence("with tax before discount", buying), terms_of_sentence("the price", buying)
    ((1.2, 1.2), (0.9, 1.08))
    """
    reduced = 1.0 if _LISTED.search(sentence) is not None else 1 - float(buying.discount or 0)
    taxed = reduced * (1 + float(buying.tax or 0))
    if _NET.search(sentence) is not None:
        return reduced, reduced
    return (taxed, taxed) if _GROSS.search(sentence) is not None else (reduced, taxed)


def _buying(parts: Parts) -> ProcurementSpec:
    return parts.spec.procurement or ProcurementSpec()


def _cost(parts: Parts) -> Cost | None:
    """The cost of a design; None without a price."""
    from clusterspec.procurement.bill import bill
    from clusterspec.procurement.cost import cost

    if parts.spec.procurement is None or parts.cluster is None:
        return None
    return cost(parts.planned.design, parts.plan, bill(parts.planned.design))


def purchase_price(parts: Parts) -> tuple[float, float] | None:
    """The list price of what is bought: as quoted, or of the priced parts, which have no upper end where a part has no price."""
    from clusterspec.procurement.amounts import amount_of_quote, terms_factor
    from clusterspec.procurement.bill import bill

    buying = _buying(parts)
    quoted = (amount_of_quote(buying) if buying.quote else None) or buying.quoted_total
    if quoted:
        listed = float(quoted) / terms_factor(buying)
        return listed, listed
    counted = bill(parts.planned.design) if buying.prices and parts.cluster is not None else None
    if (
        counted is None
        or counted.total is None
        or not any(item.kind == "node" and item.price for item in counted.items)
    ):
        return None
    return counted.total.low, counted.total.high if counted.complete else inf


def _priced(parts: Parts, listed: tuple[float, float], how: str) -> Value:
    """A list price as the sentence of the demand means it."""
    buying = _buying(parts)
    low, high = terms_of_sentence(parts.sentence, buying)
    terms = [f"less a discount of {percent(float(buying.discount))}"] if buying.discount and low < 1 + 1e-9 else []
    terms += [f"tax of {percent(float(buying.tax))}"] if buying.tax else []
    return Value(listed[0] * low, listed[1] * high, ", ".join([how, *terms]))


def _share_of_price(parts: Parts, event: str, words: str) -> Value | None:
    payment, purchase = _buying(parts).payment, purchase_price(parts)
    share = getattr(payment, event) if payment is not None else None
    if share is None or purchase is None:
        return None
    listed = (float(share) * purchase[0], float(share) * purchase[1])
    return _priced(parts, listed, f"{percent(float(share))} of {purchase[0]:,.0f} {words}")


def paid_with_order(parts: Parts) -> Value | None:
    """The money that is due with the order."""
    return _share_of_price(parts, "order", "with the order")


def paid_on_delivery(parts: Parts) -> Value | None:
    """The money that is due on delivery."""
    return _share_of_price(parts, "delivery", "on delivery")


def paid_after_acceptance(parts: Parts) -> Value | None:
    """The money that is due after acceptance."""
    return _share_of_price(parts, "acceptance", "after acceptance")


def rest_of_budget(parts: Parts) -> Value | None:
    """The money of the budget that the price, or the rent over the term, leaves: with the tax, as the budget counts it."""
    from clusterspec.procurement.amounts import terms_factor

    buying = _buying(parts)
    rent = _part_of_term(parts, "rent")
    listed = purchase_price(parts) or (rent.ends if rent is not None else None)
    if buying.budget is None or listed is None:
        return None
    factor = terms_factor(buying)
    rest = tuple(float(buying.budget) - each * factor for each in listed)
    if min(rest[0], 0) < 0:
        return None  # the price alone exceeds the budget, which another rule reports
    return Value(rest[1], rest[0], f"a budget of {float(buying.budget):,.0f} less {listed[0] * factor:,.0f}")


def saved_by_discount(parts: Parts) -> Value | None:
    """The money by which the discount lowers the list price."""
    buying, purchase = _buying(parts), purchase_price(parts)
    if not buying.discount or purchase is None:
        return None
    share = float(buying.discount)
    return Value(share * purchase[0], share * purchase[1], f"{percent(share)} of {purchase[0]:,.0f}")


def _part_of_term(parts: Parts, *names: str) -> Term | None:
    """A part of the cost over the term, by the first of some names that it has."""
    found = _cost(parts)
    whole = found.total if found is not None and found.years else None
    return next((each for each in (whole.parts if whole is not None else ()) if each.name in names), None)


def _per_second(parts: Parts, value: Value | None) -> Value | None:
    """A cost over the term as a rate in money per second."""
    term = _buying(parts).term
    if value is None or term is None:
        return None
    return Value(value.low / term.value, value.high / term.value, value.how)


def _term_value(parts: Parts, name: str, *, has_terms: bool = True) -> Value | None:
    term, found = _buying(parts).term, _part_of_term(parts, name)
    if found is None or term is None:
        return None
    how = f"{found.value:,.0f} over {term.written}"
    return _priced(parts, found.ends, how) if has_terms else Value(*found.ends, how)


def rent_over_term(parts: Parts) -> Value | None:
    """The rent of the nodes over the term."""
    return _term_value(parts, "rent")


def rent_rate(parts: Parts) -> Value | None:
    """The rent of the nodes, or of the racks where those are bought, in money per second; without a term that of their hours."""
    if _buying(parts).term is None:
        return _rent_of_hours(parts)
    return _per_second(parts, rent_over_term(parts) or _term_value(parts, "racks"))


def _rent_of_hours(parts: Parts) -> Value | None:
    """The money per second of all nodes at the price of a node-hour, without and with discount and tax."""
    price = (_buying(parts).prices or {}).get("node_hour")
    if parts.cluster is None or not isinstance(price, int | float) or not price:
        return None
    each = parts.cluster.all_nodes * float(price) / HOUR
    return _priced(parts, (each, each), f"{parts.cluster.all_nodes} nodes at {price:g} an hour")


def rent_of_month(parts: Parts) -> Value | None:
    """The rent of all nodes in a mean month, up to that of the longest."""
    found = rent_rate(parts)
    return Value(found.low * YEAR / 12, found.high * 31 * DAY, found.how) if found is not None else None


def rack_rent_rate(parts: Parts) -> Value | None:
    """The rent of the racks in money per second."""
    return _per_second(parts, _term_value(parts, "racks"))


def energy_rate(parts: Parts) -> Value | None:
    """The price of the energy in money per second: as drawn by the plan, up to full load at the stated utilization."""
    from clusterspec.rules.readers.demands.power_values import yearly_price_of_energy

    drawn, full = _per_second(parts, _term_value(parts, "energy", has_terms=False)), yearly_price_of_energy(parts)
    if drawn is None:
        return full and Value(full.low / YEAR, full.high / YEAR, full.how)
    high = max(drawn.high, full.high / YEAR if full is not None else 0.0)
    return Value(min(drawn.low, high), high, drawn.how)


def support_over_term(parts: Parts) -> Value | None:
    """The price of support over the term."""
    return _term_value(parts, "support")


def support_rate(parts: Parts) -> Value | None:
    """The price of support in money per second."""
    return _per_second(parts, support_over_term(parts))


def running_cost_rate(parts: Parts) -> Value | None:
    """Energy, support and racks in money per second; an upper end only where each of them has a price."""
    found = [each for each in (energy_rate(parts), support_rate(parts), rack_rent_rate(parts)) if each is not None]
    if not found or _part_of_term(parts, "rent") is not None:
        return None
    how = " + ".join(each.how for each in found)
    return Value(sum_of(each.low for each in found), sum_of(each.high for each in found), how)


def depreciation_rate(parts: Parts) -> Value | None:
    """The price of the purchase over the term, in money per second."""
    term, purchase = _buying(parts).term, purchase_price(parts)
    if term is None or purchase is None:
        return None
    return _per_second(parts, _priced(parts, purchase, f"{purchase[0]:,.0f} over {term.written}"))


def cost_over_term(parts: Parts) -> Value | None:
    """The cost over the term, with the terms of the sentence on all but the energy."""
    found = _cost(parts)
    if found is None or found.total is None or not found.years or not found.of_machine:
        return None
    low, high = terms_of_sentence(parts.sentence, _buying(parts))
    lows = [each.ends[0] * (1.0 if each.name == "energy" else low) for each in found.total.parts]
    highs = [each.ends[1] * (1.0 if each.name == "energy" else high) for each in found.total.parts]
    names = ", ".join(each.name for each in found.total.parts)
    return Value(sum_of(lows), sum_of(highs) if not found.missing else inf, f"{names} over the term")


def cost_of_run(parts: Parts) -> Value | None:
    """The cost of the run, from that of the machine over the term."""
    found = _cost(parts)
    return _unit_cost(parts, found, found.per_run if found is not None else None, "the share of the run in the term")


def cost_of_million_tokens(parts: Parts) -> Value | None:
    """The cost of a million tokens: trained ones, or generated ones of a service."""
    found = _cost(parts)
    return _unit_cost(parts, found, found.per_million_tokens if found is not None else None, "at the predicted rate")


def _unit_cost(parts: Parts, cost: Cost | None, term: Term | None, how: str) -> Value | None:
    if cost is None or term is None or not cost.of_machine:
        return None
    low, high = terms_of_sentence(parts.sentence, _buying(parts))
    return Value(term.ends[0] * min(low, 1.0), term.ends[1] * max(high, 1.0), how)


def cost_of_request(parts: Parts) -> Value | None:
    """The cost of a request of the mean length of answers."""
    million, work = cost_of_million_tokens(parts), parts.work
    load = work.serving if work is not None else None
    if million is None or load is None:
        return None
    share = load.output_tokens / 1e6
    return Value(million.low * share, million.high * share, f"{load.output_tokens:,.0f} output tokens")


def cost_of_device_hour(parts: Parts) -> Value | None:
    """The cost of an accelerator for an hour: of its rent, else of all costs over the term."""
    found, rent, term = _cost(parts), rent_over_term(parts), _buying(parts).term
    if found is None or term is None or parts.cluster is None or not found.of_machine:
        return None
    hours = parts.cluster.all_nodes * parts.cluster.accelerators_per_node * term.value / HOUR
    whole = rent or cost_over_term(parts)
    if whole is None or not hours:
        return None
    return Value(whole.low / hours, whole.high / hours, f"{whole.low:,.0f} for {hours:,.0f} accelerator-hours")


def price_of_device(parts: Parts) -> Value | None:
    """The price of the purchase for each accelerator."""
    purchase, cluster = purchase_price(parts), parts.cluster
    if purchase is None or cluster is None or not cluster.accelerators:
        return None
    nodes = _price_of(parts, ("node", "spare_node"))
    low = nodes if nodes is not None and _buying(parts).quote is None else purchase[0]
    count = cluster.all_nodes * cluster.accelerators_per_node
    listed = (low / count, purchase[1] / cluster.accelerators)
    return _priced(parts, listed, f"{low:,.0f} for {count:,.0f} accelerators, without the network")


def price_of_purchase(parts: Parts) -> Value | None:
    """The price of all that is bought."""
    purchase = purchase_price(parts)
    return _priced(parts, purchase, f"{purchase[0]:,.0f} for the priced parts") if purchase is not None else None


def price_of_nodes(parts: Parts) -> Value | None:
    """The price of all nodes of the bill, spare ones included."""
    price = _price_of(parts, ("node", "spare_node"))
    return _priced(parts, (price, price), f"{price:,.0f} for all nodes") if price is not None else None


def cost_of_step(parts: Parts) -> Value | None:
    """The cost of a step: that of the run over its steps."""
    run, work = cost_of_run(parts), parts.work
    steps = work.steps_of_run if work is not None else None
    return Value(run.low / steps, run.high / steps, f"{run.low:,.0f} for {steps:,.0f} steps") if run and steps else None


def reserved_hours(parts: Parts) -> Value | None:
    """The accelerator-seconds of a machine that is rented over the term."""
    term, cluster = _buying(parts).term, parts.cluster
    if term is None or cluster is None or _part_of_term(parts, "rent") is None:
        return None
    count = cluster.all_nodes * cluster.accelerators_per_node
    return Value(count * term.value, count * term.value, f"{count:,.0f} accelerators for {term.written}")


def hours_of_run(parts: Parts) -> Value | None:
    """The accelerator-seconds of the predicted run, without interruptions."""
    from clusterspec.procurement.unit_costs import used_accelerators
    from clusterspec.rules.readers.demands.run_values import predicted_time

    used, time = used_accelerators(parts.planned.design), predicted_time(parts.plan)
    return Value(time.low * used, time.high * used, f"{used:,.0f} accelerators, {time.how}") if used and time else None


_NETWORK_KINDS = ("leaf_switch", "spine_switch", "core_switch", "cable", "transceiver", "nic")


def _price_of(parts: Parts, kinds: tuple[str, ...]) -> float | None:
    """The list price of the priced lines of the bill of some kinds; None without one."""
    from clusterspec.procurement.bill import bill

    if not _buying(parts).prices or parts.cluster is None:
        return None
    lines = [each for each in bill(parts.planned.design).items if each.kind.replace(" ", "_") in kinds]
    prices = [each.price.low for each in lines if each.price is not None]
    return sum_of(prices) if prices else None


def price_of_network(parts: Parts) -> Value | None:
    """The price of switches, cables and modules of the fabric; without an upper end, as other networks may count too."""
    price = _price_of(parts, _NETWORK_KINDS)
    return _priced(parts, (price, inf), f"{price:,.0f} for switches, cables and modules") if price else None


def share_of_network(parts: Parts) -> Value | None:
    """The share of the fabric in the price of what is bought."""
    price, purchase = _price_of(parts, _NETWORK_KINDS), purchase_price(parts)
    if not price or purchase is None or _buying(parts).quote or purchase[1] == inf:
        return None
    return Value(price / purchase[1], price / purchase[0], f"{price:,.0f} of {purchase[0]:,.0f}")


_YEAR = "money a year"
BILL_QUANTITIES = {
    "rent of racks": Quantity("procurement.prices.rack_per_month", "the rent of the racks", _YEAR, rack_rent_rate),
    "rent of a month": Quantity("procurement.prices.node_hour", "the rent of all nodes in a month", "money", rent_of_month),
    "rent of nodes": Quantity("procurement.prices.node_hour", "the rent", _YEAR, rent_rate),
    "rent over the term": Quantity("procurement.prices", "the rent over the term", "money", rent_over_term),
    "price of a device hour": Quantity("procurement.prices", "the cost of an accelerator-hour", "money", cost_of_device_hour),
    "yearly price of energy": Quantity("procurement.electricity", "the price of the energy", _YEAR, energy_rate, 0.02),
    "price of support": Quantity("procurement.prices.support_per_year", "the price of support", _YEAR, support_rate),
    "support over the term": Quantity("procurement.prices.support_per_year", "the price of support", "money", support_over_term),
    "running costs": Quantity("procurement.prices", "the costs of operation", _YEAR, running_cost_rate, 0.02),
    "depreciation": Quantity("procurement.term", "the price over the term", _YEAR, depreciation_rate),
    "cost over the term": Quantity("procurement.term", "the cost over the term", "money", cost_over_term, 0.02),
    "price of a run": Quantity("workload.tokens", "the cost of the run", "money", cost_of_run, 0.02),
    "price of a million tokens": Quantity("procurement.prices", "the cost of a million tokens", "money", cost_of_million_tokens, 0.02),
    "price of a step": Quantity("procurement.prices", "the cost of a step", "money", cost_of_step, 0.02),
    "price of the purchase": Quantity("procurement.prices", "the price", "money", price_of_purchase),
    "price of the nodes": Quantity("procurement.prices.node", "the price of the nodes", "money", price_of_nodes),
    "reserved hours": Quantity("procurement.term", "the time that is rented", "accelerator-hours", reserved_hours),
    "hours of the run": Quantity("workload.tokens", "the time of the run", "accelerator-hours", hours_of_run, 0.02),
    "price of a request": Quantity("procurement.prices", "the cost of a request", "money", cost_of_request, 0.02),
    "price of a device": Quantity("procurement.prices", "the price of each accelerator", "money", price_of_device),
    "instalment with the order": Quantity("procurement.payment.order", "the money paid with the order", "money", paid_with_order),
    "instalment on delivery": Quantity("procurement.payment.delivery", "the money paid on delivery", "money", paid_on_delivery),
    "instalment after acceptance": Quantity("procurement.payment.acceptance", "the money paid after acceptance", "money", paid_after_acceptance),
    "saved by the discount": Quantity("procurement.discount", "the money saved by the discount", "money", saved_by_discount),
    "price of the network": Quantity("procurement.prices", "the price of the network", "money", price_of_network),
    "share of the network": Quantity("procurement.prices", "the share of the network in the price", "%", share_of_network, 0.02),
    "rest of the budget": Quantity("procurement.budget", "the rest of the budget", "money", rest_of_budget),
}  # fmt: skip
"""Quantities of money by their subject."""
