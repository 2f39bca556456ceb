"""The machine is paid for before it is accepted.

## What it finds

The rule checks the shares in `payment`. The finding is an error if they do not sum to 1. It is a warning if less than
10 % is due after acceptance, or a note if the quote is below 100,000 US dollars, or below 250,000 with at most half due with
the order, or of donated nodes. More than half due
with the order is a note, and from 80 % on a warning. A rent or lease that starts with the shipment, by a milestone or a
line of the quote, is a warning, and so is an acceptance that counts as given after fewer days than `operations.burn_in`. A share that a milestone, a line or the description states for
the order, the delivery or the acceptance (`50 % with the order`), and that is not the one of `payment`, is an error.

## Why it matters

The withheld share gives the supplier a reason to repair a fabric that runs at half its rate. Contracts withhold 10 to
20 % until the tests pass. A rent that starts with the shipment is due while the parts stand in a warehouse, and ends as
much earlier.

## What to do

Agree on 10 to 30 % after acceptance, and name the tests in `acceptance`. Let a rent start on acceptance.

## When to ignore it

Ignore it where a bank guarantees the payment.

## Fires

```yaml procurement.payment
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, payment: {order: 0.5, delivery: 0.5}}
```

```yaml procurement.delivery.milestones[1]
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 8}
procurement:
  currency: USD
  as_of: 2026-11-01
  delivery: {weeks: 20, milestones: ["week 10: servers ship", "the lease starts on the day of shipment", "week 20: installed"]}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, payment: {order: 0.3, delivery: 0.4, acceptance: 0.3}}
```

## Sources

- Shares withheld until acceptance: https://www.lawinsider.com/clause/payment-holdbacks
- 10 % until final acceptance: https://lawinsider.com/clause/progress-payments-during-full-scale-deployment
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.part_names import kind_of_part, plain_part
from clusterspec.quantity import DAY, Quantity
from clusterspec.rules.knowledge.purchases import is_small
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.subjects import is_share_of_another
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec, PaymentSpec, ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units import percent, plain

RULE = Rule.of(__name__, "warning", "likely")
WITHHELD = 0.10
ADVANCE = 0.5
ORDINARY = 1e6
"""US dollars below which goods paid on delivery need no acceptance test, by judgment: the warranty covers them."""
FEW_NODES = 250_000.0
"""Amount in US dollars, by judgment. Below it, half is usually paid with the order and half on delivery."""
MOST = 0.8
"""Smallest share due with the order at which only the acceptance remains to be paid, so that a supplier already has the price
before it delivers.
"""


_ON_SHIPMENT = pattern(
    r"(?i)\b(?:rents?|rentals?|leas(?:es?|ing)|billing)\b[^.;]{0,60}?\b(?:due|start\w*|begin\w*|commenc\w*|payable)\b"
    r"(?:(?!\bnot\b)[^.;]){0,40}?\b(?:ship(?:ment|ping|ped|s)?|dispatch\w*)\b"
)
"""Pattern of words for a rent that starts before the machine is installed."""
SAME = 0.02
"""Relative difference up to which two times are equal."""
_DEEMED = pattern(
    r"(?i)\baccept(?:ance|ed)\b[^.;]{0,40}?\b(?:deemed|counts?|considered|regarded|automatic\w*|tacit\w*|gilt|réputée?|tenue pour|tácit\w*|se considera\w*|"
    r"considerad[ao]|si intende|geldt|anses|uważa się)\b[^.;]{0,64}?(?<![\d.,])(\d{1,3}) (?:calendar )?days?\b|"
    r"\b(?:deemed|counts? as|considered|regarded as|automatically)\s(?:to be )?accept(?:ed|ance)\b[^.;]{0,40}?(?<![\d.,])(\d{1,3}) (?:calendar )?days?\b"
)
"""Pattern of words by which a machine counts as accepted after some days without a test."""


_OF_STEP = {
    "order": r"(?:orders?|ordering|signature|signing|objednáv\w*|(?:der |bei )?bestellung|auftrag\w*|commande|pedido|ordine|bestelling|beställning|ordre|zamówieni\w*|tilau\w*)",
    "delivery": r"(?:delivery|lieferung|livraison|entrega|consegna|levering|leverans|leveranse|dostaw\w*|dodán\w*|toimitu\w*)",
    "acceptance": r"acceptance",
}
_NOT_AGREED = pattern(
    r"\b(?:refused|rejected|declined|turned down|proposal|proposed|first offer|originally|abgelehnt|vorschlag|refusée?s?|proposition)\b"
)
"""Pattern of words for terms that a supplier asked for and did not get."""
_SHARE = {
    step: pattern(
        rf"(?<![\d.,])(\d{{1,2}}) ?% (?:(?:payable|due|paid|down|advance|in advance|with|on|at|upon|after|the|při|po|bei|nach|à la|à|al|a la|alla|bij|na|vid|ved|przy) ){{0,4}}{words}\b"
    )
    for step, words in _OF_STEP.items()
}
"""For each step of a purchase, the pattern of the percentage of the price that is due with it."""


def check(
    procurement: ProcurementSpec, operations: OperationsSpec | None, cluster: Cluster | None, texts: PurchaseTexts
) -> Iterator[Problem]:
    if procurement.payment is None and procurement.delivery is None and not procurement.quote:
        return
    yield from _shipment_problems(texts)
    if procurement.payment is not None:
        yield from _other_shares_problem(procurement.payment, texts)
    if operations is not None and operations.burn_in is not None:
        yield from _deemed_problems(operations.burn_in, texts)
    payment = procurement.payment
    rented = procurement.is_rent or (cluster is not None and cluster.cloud)
    if payment is None or rented:  # a rent is paid for a time, not for a delivery
        return
    order, delivery, acceptance = (float(share or 0) for share in (payment.order, payment.delivery, payment.acceptance))
    total = order + delivery + acceptance
    if abs(total - 1) > 0.005:
        message = f"the shares of the payment sum to {plain(total)}, not to 1"
        percents = max(order, delivery, acceptance) > 1
        help_ = "write shares: 0.3 for 30 %" if percents else "correct the shares so that they sum to 1"
        yield RULE.problem("procurement.payment", message, help_, severity="error")
        return
    if acceptance < WITHHELD - 1e-9:
        message = (
            f"{percent(1 - acceptance, 2)} of the price is paid before acceptance: nothing is withheld if a test fails"
        )
        if acceptance:
            message = f"{percent(1 - acceptance, 2)} of the price is paid before acceptance"
        help_ = "withhold 10 % or more until the acceptance tests pass"
        goods = (not order or _has_free_nodes(procurement)) and is_small(procurement, ORDINARY)
        shared = order <= ADVANCE and is_small(procurement, FEW_NODES)
        severity = "note" if goods or shared or is_small(procurement) else ""
        yield RULE.problem("procurement.payment", message, help_, severity=severity)
    elif order > ADVANCE:
        message = f"{percent(order, 2)} of the price is due with the order"
        severity = "note" if order < MOST or is_small(procurement) else ""
        help_ = "ask for a bank guarantee, or a smaller advance"
        yield RULE.problem("procurement.payment", message, help_, severity=severity)


def _has_free_nodes(procurement: ProcurementSpec) -> bool:
    """Whether the quote has nodes with a price of zero; nobody pays for donated nodes before or after a test."""
    return any(line.price == 0 and kind_of_part(plain_part(line)) == "node" for line in procurement.quote or ())


def _other_shares_problem(payment: PaymentSpec, texts: PurchaseTexts) -> Iterator[Problem]:
    """The problem of a share of the price in a text that differs from the share for the same step in `payment`. A
    description that also states the right share speaks of another payment.
    """
    stated = [(at, step, _shares_in(text, step)) for at, text in texts.placed for step in _SHARE]
    right = {(at, step) for at, step, found in stated if any(_is_planned(payment, step, each) for each in found)}
    for at, step, found in stated:
        planned = getattr(payment, step)
        if len(found) == 1 and planned is not None and (at, step) not in right:
            share = found.pop()
            message = f"according to the text, {percent(share)} of the price are due with the {step}, but `payment.{step}` is {planned:g}"
            yield RULE.problem(at, message, "ask the supplier which of the two is right", severity="error")
            return


def _shares_in(text: str, step: str) -> set[float]:
    """The shares that a text states for a step of the purchase, except those of other things and of refused terms."""
    if _NOT_AGREED.search(text) is not None:
        return set()
    found = _SHARE[step].finditer(text)
    return {int(each[1]) / 100 for each in found if not is_share_of_another(text, each.start(), each.end(1) + 2)}


def _is_planned(payment: PaymentSpec, step: str, share: float) -> bool:
    planned = getattr(payment, step)
    return planned is not None and abs(share - planned) <= 0.005


def _shipment_problems(texts: PurchaseTexts) -> Iterator[Problem]:
    """Problems of sentences, milestones and quote lines by which a rent starts with the shipment."""
    for at, text in texts.placed:
        if _ON_SHIPMENT.search(text) is not None:
            message = "according to the text, the rent is due before the machine is installed"
            yield RULE.problem(at, message, "let the rent start when the acceptance tests pass")


def _deemed_problems(burn_in: Quantity, texts: PurchaseTexts) -> Iterator[Problem]:
    """Problems of clauses by which the machine counts as accepted before its burn-in ends."""
    for at, text in texts.placed:
        found = _DEEMED.search(text)
        days = next((int(number) for number in found.groups() if number), 0) if found is not None else 0
        if days and days * DAY < burn_in.value * (1 - SAME):
            message = f"according to the text, the machine counts as accepted after {days} days, but its burn-in takes {burn_in.written}"
            yield RULE.problem(at, message, "let the acceptance wait for the end of the tests")
