"""The price of a quote rests on a condition that the quote does not meet.

## What it finds

- A price, discount or rebate that begins at a number of nodes, accelerators or units (`8 % from 100 systems`), where
  the quote or the design has fewer; or at an amount (`5 % on orders from 6,000,000 EUR`, in the description) above the
  sum of the lines;
- a line with a minimum order quantity (`MOQ 50`) above its own;
- a credit for usage that ends before the day on which the machine is needed;
- a total with the discount on all lines, where the description gives it on some of them (`only on items 1 to 5`, `only
  on equipment`), or where the price of a line includes it already;
- lines by the month over two years or more at the price of the first, where the description raises it every year.

## Why it matters

The supplier sends the invoice without the discount, or refuses the order.

## What to do

Ask the supplier to drop the condition, or meet it with the order.

## When to ignore it

Ignore it where other orders count toward the quantity.

## Fires

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 96}
procurement:
  currency: USD
  quote:
    - {part: "DGX H200", quantity: 96, unit_price: 350000, price: 33600000}
    - {part: "Volume rebate, 3 % from 100 systems", quantity: 1, unit_price: -1008000, price: -1008000}
```

```yaml procurement.quote[1].quantity
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 4}
procurement:
  currency: USD
  quote:
    - {part: "DGX H200", quantity: 4, unit_price: 350000, price: 1400000}
    - {part: "MFP7E10-N010 fiber cable, minimum order quantity 50", quantity: 32, unit_price: 180, price: 5760}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: oci-bm-gpu-h200-8, nodes: 24}
procurement:
  currency: USD
  needed_by: 2027-03-01
  prices: {node_hour: 23.2}
  quote:
    - {part: "BM.GPU.H200.8, node-hours", quantity: 158400, unit_price: 23.2, price: 3674880}
    - {part: "Credit for usage metered until 2027-02-28", quantity: 1, unit_price: -450000, price: -450000}
```

```yaml procurement.quoted_total
clusterspec: 1
description: "Frame contract: the discount of 10 % holds only for hardware (items 1 to 2)."
cluster: {platform: dgx-h200, nodes: 4}
procurement:
  currency: USD
  discount: 0.1
  quote:
    - {part: "1 DGX H200", quantity: 4, unit_price: 350000, price: 1400000}
    - {part: "2 rack 48U", quantity: 2, unit_price: 5000, price: 10000}
    - {part: "3 support, 5 years", quantity: 4, unit_price: 60000, price: 240000}
  quoted_total: 1485000
```

```yaml procurement.discount
clusterspec: 1
description: "Volume discount of 5 % on orders from 6,000,000 EUR before discount and tax."
cluster: {platform: dgx-h200, nodes: 4}
procurement:
  currency: EUR
  discount: 0.05
  quote:
    - {part: "DGX H200", quantity: 4, unit_price: 350000, price: 1400000}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 100}
procurement:
  currency: USD
  quote:
    - {part: "DGX H200, MOQ 4", quantity: 100, unit_price: 350000, price: 35000000}
    - {part: "Volume rebate, 3 % from 100 systems", quantity: 1, unit_price: -1050000, price: -1050000}
```

## Sources

- What a quote should contain: https://www.computetape.com/learn/gpu-cloud-quote-comparison-checklist/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.amounts import is_credit, line_price, total_of_lines
from clusterspec.procurement.offered import is_service, offered_lines
from clusterspec.procurement.part_names import names_period, plain_part
from clusterspec.procurement.quotes import offered_quantity
from clusterspec.quantity import YEAR
from clusterspec.rules.knowledge.purchases import DATE, SAME_TOTAL, amount_text, date_of_text, money_text
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.written_numbers import number_in_text, sentences_of
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec, QuoteLine
from clusterspec.standard import pattern, sum_of

RULE = Rule.of(__name__, "warning", "likely")
_NODES, _ACCELERATORS = (
    r"(?:systems?|nodes?|servers?|dgx|machines?|knoten|serveurs?|servidores)",
    r"(?:gpus?|accelerators?|cards?)",
)
_DISCOUNT = pattern(
    r"\b(?:prices?|tiers?|preise?|staffel\w*|prix|precios?|discounts?|rebates?|\w*rabatte?|remise|descuento|desconto|sconto|korting)\b"
)
_COUNT = r"(\d{1,3}(?:,\d{3})+|\d{1,6})"
_FROM = pattern(
    rf"\b(?:from|above|over|at least|minimum(?: of)?|min\.?|ab|mindestens|à partir de|dès|desde|a partir de|vanaf)\s{_COUNT}\s(?:x )?"
    rf"(?:(?P<node>{_NODES})|(?P<accelerator>{_ACCELERATORS}))\b|"
    rf"\b{_COUNT}\s(?:(?P<nodes>{_NODES})|(?P<accelerators>{_ACCELERATORS}))\s(?:and|or) (?:more|above|over)\b"
)
"""Pattern of the quantity from which a discount applies."""
_LEAST = pattern(
    rf"\b(?:moq|minimum order(?: quantity)?|min(?:imum|\.)? (?:order|quantity|qty)|mindestabnahme|mindestmenge|cantidad mínima)\b[^\d,;]{{0,8}}{_COUNT}(?![\d.]* ?%)"
)
"""Pattern of the minimum order quantity."""


_UNTIL = pattern(
    rf"\b(?:until|till|through|valid to|expires?(?: on)?|lapses?(?: on)?|ends?(?: on)?|bis|jusqu'au|hasta(?: el)?|até|fino al|tot|t\.?o\.?m\.?) {DATE}"
)
_OF_USAGE = pattern(r"\b(?:usage|metered|consum\w*|credits?|gutschrift|crédit|crédito|credito)\b")
_ONLY_ON = pattern(
    r"\b(?:\w{0,30}rabatt\w{0,20}|discount|rebate|descuento|remise|sconto|desconto|korting|alennus|rabat)\b[^;]{0,120}?"
    r"\b(?:only|nur|solo|sólo|só|seulement|uniquement|apenas|somente|alleen|slechts|enbart|endast|kun|vain|tylko)\b[^;]{0,60}?"
    r"\b(?:pos|positions?|items?|lines?|lots?|clins?|partidas?|voci|postes?|lignes?|itens|regels?|poz)\b\.? ?(\d{1,2}) ?"
    r"(?:bis|to|through|-|–|a|à|au|al|até|tot|till|til|do) ?(?:pos\.? ?)?(\d{1,2})\b"
)
"""Pattern of the first and the last line with a discount, in a lowercase text."""
_NUMBER_OF_LINE = pattern(r"^\W*(?:[a-z]{2,8}\.? ?)?(\d{1,2})\b(?!\s?[x×])")
_FROM_AMOUNT = pattern(
    r"\b(?:from|above|over|exceeding|at least|ab|über|desde|superior(?:es)? a|a partir de|à partir de|dès|vanaf|boven|oltre|da|od|powyżej|från|över|fra)\s"
    r"(?:[a-z]{3} ?|[€$£] ?)?(\d{1,3}(?:[ .,'’]\d{3}){1,3}|\d{5,9}|\d{1,3}(?:[.,]\d{1,2})?(?= ?(?:m\b|million|mio|millones|milh)))(?![\d.,]\d)(?= ?(m\b|milli\w*|mio\b|milh\w*)?)"
)
"""Pattern of the amount from which a discount applies, and of the word for millions after it."""
_NET_OF = pattern(
    r"\bnet\b[^,;]{0,24}?(\d{1,2}(?:\.\d)?) ?%|\b(?:after|less|incl\w*\.?) (?:the )?(\d{1,2}(?:\.\d)?) ?% (?:[a-z]+ )?(?:discount|rebate)\b"
)
"""Pattern of the percentage of a discount that a line's price already includes."""
_EQUIPMENT_ONLY = pattern(
    r"\b(?:only|nur|solo|sólo|só|somente|apenas|seulement|uniquement|alleen|slechts|endast|kun|vain|tylko|exclusively)\b[^.;]{0,30}?"
    r"\b(?:hardware|equipment|equipamentos?|equipos?|matériels?|geräte|goods|apparatuur|utrustning|udstyr|apparecchiature|sprzęt)\b"
)
_RAISED = pattern(
    r"\b(?:rises?|rising|raised|increas\w*|index\w*|escalat\w*|verhoogd|stijg\w*|steig\w*|erhöh\w*|augment\w*|aument\w*|reajust\w*|höjs|stiger|rosn\w*)\b[^.;]{0,90}?(?<![\d.,])(\d{1,2}(?:[.,]\d{1,2})?) ?(?:%|percent|procent|prozent)|"
    r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,2})?) ?(?:%|percent|procent|prozent) (?:more|higher|increase\w*|verhoogd|erhöht|indexation)\b"
)
"""Pattern of the percentage by which a sentence raises prices."""
_EACH_YEAR = pattern(
    r"\b(?:each|every|per|elk|jedes|chaque|cada|ogni|varje|hvert|annual\w*|yearly|jaarlijks\w*|jährlich\w*|telkens|jeweils|a) ?(?:year|annum|jaar|jahr|an|année|año|ano|anno|år|\b)"
)
"""Pattern of words for something that happens every year."""
_FIXED = pattern(
    r"\b(?:no|not|without|zonder|ohne|sans|sin|sem|senza|utan|uden|bez|fixed|vast|fest|already|included|contains?|energy|electricity|power price)\b"
)
"""Pattern of words in a sentence about prices that do not rise, that include the increases, or that are for energy."""
MOST_YEARS = 10
"""Largest number of contract years for which increases are computed."""


def check(procurement: ProcurementSpec, cluster: Cluster | None, texts: PurchaseTexts) -> Iterator[Problem]:
    if not procurement.quote:
        return
    yield from _wide_discount_problem(procurement, texts.remarks.lower())
    yield from _small_order_problem(procurement, texts.remarks.lower())
    yield from _net_price_problems(procurement)
    text = texts.description
    yield from _discounted_services_problem(procurement, text)
    yield from _first_year_prices_problem(procurement, text)
    if cluster is not None:
        yield from _lapsed_credits_problem(procurement, cluster)
        yield from _small_quantities_problem(procurement.quote, cluster)


def _small_quantities_problem(quote: Sequence[QuoteLine], cluster: Cluster) -> Iterator[Problem]:
    """Problems of lines below the quantity that their price requires, or below their minimum order."""
    lines = list(offered_lines(quote, cluster))
    ordered = max(offered_quantity([line for line in lines if line.kind == "node"]), cluster.all_nodes)
    for line in lines:
        text = (line.line.part or "").lower()
        name = name_of_part(line.line.part)
        begins = _FROM.search(text) if _DISCOUNT.search(text) is not None else None
        if begins is not None:
            needed = number_in_text(begins[1] or begins[4])
            of_nodes = bool(begins["node"] or begins["nodes"])
            has = ordered if of_nodes else ordered * cluster.accelerators_per_node
            if has < needed:
                what = "nodes" if of_nodes else "accelerators"
                message = f"`{name}` begins at {needed:,.0f} {what}, but the quote has {has:,.0f}"
                at = quote_path(line.index, "part")
                yield RULE.problem(at, message, "ask for the discount without this condition")
        least, quantity = _LEAST.search(text), line.line.quantity
        if least is not None and quantity is not None and quantity < number_in_text(least[1]):
            message = f"`{name}` is ordered {quantity:,.0f} times, but the least order is {least[1]}"
            at = quote_path(line.index, "quantity")
            yield RULE.problem(at, message, f"order {least[1]}, or ask for fewer")


def _lapsed_credits_problem(procurement: ProcurementSpec, cluster: Cluster) -> Iterator[Problem]:
    """Problems of credits for rented machines that expire before the machines are used."""
    begins = date_of_text(procurement.needed_by)
    if begins is None or not (cluster.cloud or procurement.is_rent):
        return
    for index, line in enumerate(procurement.quote or ()):
        text = (line.part or "").lower()
        found = _UNTIL.search(text) if is_credit(line) and _OF_USAGE.search(text) is not None else None
        ends = date_of_text(found[1]) if found is not None else None
        if ends is not None and ends < begins:
            message = f"`{name_of_part(line.part)}` ends on {ends}, but the machine is needed on {begins}: nothing is used before"
            at = quote_path(index, "part")
            yield RULE.problem(at, message, "ask for a credit that holds in the term, or leave it out of the total")


def _small_order_problem(procurement: ProcurementSpec, text: str) -> Iterator[Problem]:
    """The problem of a discount that, by the text, requires a larger amount than the sum of the lines."""
    total = sum_of(float(line_price(line) or 0) for line in procurement.quote or ())
    for sentence in sentences_of(text) if procurement.discount and total else ():
        found = _FROM_AMOUNT.search(sentence) if _DISCOUNT.search(sentence) is not None else None
        if found is None:
            continue
        digits = found[1] if found[2] else "".join(filter(str.isdigit, found[1]))
        needed = number_in_text(digits) * (1e6 if found[2] else 1.0)
        if total < needed:
            currency = procurement.currency
            message = f"according to the text, the discount begins at {money_text(amount_text(needed), currency)}, but the lines sum to {money_text(amount_text(total), currency)}"
            help_ = "ask for the discount without this condition, or leave it out of the total"
            yield RULE.problem("procurement.discount", message, help_)
            return


def _net_price_problems(procurement: ProcurementSpec) -> Iterator[Problem]:
    """The problem of a discount on all lines, if the text of a line says that its price already includes it."""
    for index, line in enumerate(procurement.quote or ()) if procurement.discount else ():
        found = _NET_OF.search(plain_part(line))
        if found is not None and abs(float(found[1] or found[2]) / 100 - (procurement.discount or 0)) < SAME_TOTAL:
            message = f"`{name_of_part(line.part)}` is priced net of {found[1] or found[2]} %, but `discount` takes it off again"
            at = quote_path(index, "part")
            yield RULE.problem(at, message, "ask for the total with the discount once")
            return


def _discounted_services_problem(procurement: ProcurementSpec, text: str) -> Iterator[Problem]:
    """The problem of a total with the discount on services, if the text gives it on equipment only."""
    limited = _ONLY_ON.search(text) is None and any(
        _DISCOUNT.search(each) and _EQUIPMENT_ONLY.search(each) for each in sentences_of(text)
    )
    total, discount, lines = procurement.quoted_total, procurement.discount, procurement.quote or ()
    services = sum_of(float(line_price(line) or 0) for line in lines if is_service(line))
    whole = total_of_lines(procurement) or 0.0
    if limited and total and discount and services > 0 and abs(total - whole) <= SAME_TOTAL * whole:
        right = whole + discount * services * (1 + (procurement.tax or 0))
        currency = procurement.currency
        message = f"according to the text, the discount is for equipment only, but the total takes it off {money_text(amount_text(services), currency)} of services too: {money_text(amount_text(right), currency)} without"
        yield RULE.problem("procurement.quoted_total", message, "ask the supplier for the total by the terms")


def _first_year_prices_problem(procurement: ProcurementSpec, text: str) -> Iterator[Problem]:
    """The problem of monthly lines at the first year's price, if the text raises prices every year."""
    raised = [
        found
        for each in sentences_of(text)
        if (found := _RAISED.search(each)) and _EACH_YEAR.search(each) and _FIXED.search(each) is None
    ]
    term = procurement.term
    years = int(term.value / YEAR + 0.5) if term is not None else 0
    lines = [
        line for line in procurement.quote or () if names_period(plain_part(line)) and line.quantity and line.unit_price
    ]
    flat = sum_of(
        float(line.quantity or 0) * float(line.unit_price or 0) for line in lines if (line.unit_price or 0) > 0
    )
    if len(raised) != 1 or not 2 <= years <= MOST_YEARS or not flat or procurement.quoted_total is None:
        return
    share = float((raised[0][1] or raised[0][2]).replace(",", ".")) / 100
    more = flat * (sum_of((1 + share) ** year for year in range(years)) / years - 1)
    currency = procurement.currency
    message = f"according to the text, prices rise by {100 * share:g} % a year, but the lines count {years} years at the price of the first: {money_text(f'{more:,.0f}', currency)} are missing before tax"
    yield RULE.problem("procurement.quoted_total", message, "ask for a total with the increases")


def _wide_discount_problem(procurement: ProcurementSpec, text: str) -> Iterator[Problem]:
    """The problem of a total with the discount on all lines, if a text gives it only on a range of lines."""
    found, total, discount = _ONLY_ON.search(text), procurement.quoted_total, procurement.discount
    lines = procurement.quote or ()
    if found is None or not discount or total is None or any(line_price(line) is None for line in lines):
        return
    first, last = int(found[1]), int(found[2])
    numbers = [_NUMBER_OF_LINE.search((line.part or "").lower()) for line in lines]
    reduced = [
        first <= (int(number[1]) if number is not None else place) <= last for place, number in enumerate(numbers, 1)
    ]
    shares = [1 - discount * each for each in reduced]
    right = sum_of(float(line_price(line) or 0) * share for line, share in zip(lines, shares, strict=True))
    right *= 1 + (procurement.tax or 0)
    whole = total_of_lines(procurement) or 0.0
    if abs(total - whole) <= SAME_TOTAL * whole and abs(right - whole) > SAME_TOTAL * whole:
        message = f"according to the text, the discount is for lines {first} to {last} only, but the total takes it off all lines: {money_text(amount_text(right), procurement.currency)} with it only on those"
        yield RULE.problem("procurement.quoted_total", message, "ask the supplier for the total by the terms")
