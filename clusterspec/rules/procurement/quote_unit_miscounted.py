"""The quantity of a quote line counts another unit than the unit of sale.

## What it finds

A line whose text names its unit (`licence per GPU`, `support per node`, `warranty, per rack`), or a product that its
vendor licenses by the accelerator, with a quantity that is not the number of those units in the design, with or
without spares, or in the nodes that the quote offers. It is an error if the quantity is the number of another unit:
64 licences per GPU for 64 nodes of eight. Fewer than needed are a warning, and more than 1.1 times as many a note. It
is also an error if a line by the GPU-hour counts the node-hours of the term, or the reverse; if a storage system sold
per GB counts its terabytes; if licenses of virtual workstations, which are sold per concurrent user, are counted per
GPU; if a product that the text writes out (`2 ports x 12 months`, `16 per server for all eight`) is not its result,
or not the quantity; and if a price by the month or year is quoted for more or fewer of them than the text says. Lines
with a quantity of 1 may be a lot, and are not compared; nor are parts that `quote-off-bill` counts. Support by the
unit and year is a warning where it covers all units for fewer years than `support.term` has.

Where the text demands a license for every installed part, used or not, the spare nodes count too.

## Why it matters

A licence or a contract for each node in place of each accelerator covers an eighth of the machine. The rest is bought
later, at list price, and is in no budget.

## What to do

Ask the supplier for the number of units that the line covers.

## When to ignore it

Ignore it if the other units have a license or a contract already, or do not need one.

## Fires

```yaml procurement.quote[1].quantity
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 64}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: HGX H200 server, quantity: 64, unit_price: 292000}
    - {part: "NVIDIA AI Enterprise, licence per GPU, 3 years", quantity: 64, unit_price: 13500}
```

```yaml procurement.quote[1].quantity
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX H100 system, quantity: 32, unit_price: 310000}
    - {part: support per node for 3 years, quantity: 24, unit_price: 30000}
```

```yaml procurement.quote[0].quantity
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 16}
procurement:
  currency: USD
  as_of: 2026-11-01
  term: 24 months
  quote:
    - {part: "H200 SXM, by the GPU-hour", quantity: 280320, unit_price: 2.40}
```

```yaml procurement.quote[1].quantity
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32}
procurement:
  currency: USD
  as_of: 2026-11-01
  support: {term: 3 years}
  quote:
    - {part: DGX H100 system, quantity: 32, unit_price: 310000}
    - {part: support per server per year, quantity: 32, unit_price: 10000}
```

```yaml procurement.quote[1].quantity
clusterspec: 1
description: The software contract counts every accelerator that is powered on, whether it works or waits.
cluster: {platform: dgx-h100, nodes: 7, spare_nodes: 1}
procurement:
  currency: USD
  quote:
    - {part: "DGX H100", quantity: 8, unit_price: 280000}
    - {part: "AI software, subscription per accelerator, 3 years", quantity: 56, unit_price: 9000}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 64}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: HGX H200 server, quantity: 64, unit_price: 292000}
    - {part: "NVIDIA AI Enterprise, licence per GPU, 3 years", quantity: 512, unit_price: 13500}
    - {part: support per node for 3 years, quantity: 64, unit_price: 30000}
    - {part: "installation, per rack", quantity: 1, unit_price: 30000}
```

## Sources

- NVIDIA AI Enterprise is licensed for each GPU: https://docs.nvidia.com/ai-enterprise/planning-resource/licensing-guide/latest/licensing.html
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from clusterspec.cluster.model import Cluster, Design
from clusterspec.finding import Problem
from clusterspec.procurement.offered import Offered, offered_lines
from clusterspec.procurement.part_names import HOURS, plain_part, unit_of_hours
from clusterspec.quantity import HOUR, YEAR
from clusterspec.rules.knowledge.purchases import surplus_question
from clusterspec.rules.readers.quotes.support import sells_support
from clusterspec.rules.readers.quotes.units import unit_of_line, units_of, wrong_number_of_each
from clusterspec.rules.readers.written_numbers import NUMBER, number_in_text, products_in
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error", "likely")
SURPLUS = 1.10
"""Ratio to the units of the design above which a line has more than a few spare units."""

_BY_YEAR = pattern(r"\b(?:per|each|every|and) years?\b|/ ?(?:year|yr)\b")
_YEARLY = pattern(r"\b(?:per|a|and) years?\b|/ ?(?:year|yr)\b|\b(?:yearly|annual)\b")

_SUBSCRIBED = pattern(r"\bsubscriptions?\b")
SAME_HOURS = 0.03
"""Relative difference up to which two numbers of hours are equal: a month may count as 720 or as 730.5 hours."""
_OF_ANOTHER_UNIT = pattern(r"\b(?:storage|filer|nas|bundles?|scalable units?|sus?)\b")


def _counts_other_units(offered: Offered) -> bool:
    """Whether a quantity may count months, storage nodes or bundles; yearly support counts its parts."""
    text = plain_part(offered.line)
    months = offered.counts_periods and _YEARLY.search(text) is None
    return months or _OF_ANOTHER_UNIT.search(text) is not None


def check(procurement: ProcurementSpec, design: Design, cluster: Cluster, remarks: str) -> Iterator[Problem]:
    if not procurement.quote:
        return
    counts = _demanded_counts(units_of(design, cluster), cluster, remarks)
    for offered in offered_lines(procurement.quote, cluster):
        yield from _hours_problem(offered, procurement, cluster)
        yield from _capacity_problem(offered, procurement)
        yield from _user_license_problem(offered)
        yield from _period_problem(offered, procurement)
        yield from _product_problem(offered)
        yield from wrong_number_of_each(offered, RULE)
        yield from _short_year_problem(offered)
        yield from _scaled_price_problem(offered)
        unit = unit_of_line(offered)
        if unit == "accelerator":
            yield from _yearly_license_problem(offered, procurement, counts)
        quantity = offered.line.quantity
        years = _years_of_line(offered, procurement)
        if unit and years > 1 and quantity is not None:
            covered = next((each for each in range(years, 0, -1) if quantity in _years_of_units(counts[unit], each)), 0)
            if 0 < covered < years:
                yield _years_problem(offered, unit, covered, years, min(counts[unit]))
            if covered:
                continue
        if not unit or quantity is None or quantity <= 1 or _counts_other_units(offered):
            continue
        if quantity in counts[unit] or 0 in counts[unit]:
            continue
        needed, at = min(counts[unit]), quote_path(offered.index, "quantity")
        message = f"`{offered.line.part}` is sold per {unit}: the quote has {quantity:,.0f}, but the design has {plural(needed, unit)}"
        other = next((name for name, numbers in counts.items() if name != unit and quantity in numbers), "")
        if other:
            message += f"; {quantity:,.0f} is its number of {other}s"
        if other or quantity < needed:
            severity = "error" if other else "warning"
            yield RULE.problem(at, message, f"ask for {needed:,}, or what the line covers", severity=severity)
        elif quantity > SURPLUS * max(counts[unit]):
            yield RULE.problem(at, message, surplus_question(quantity - needed), severity="note")


def _demanded_counts(counts: dict[str, set[int]], cluster: Cluster, text: str) -> dict[str, set[int]]:
    """The numbers of units that a line may have: only those with spares where the text demands licenses for spares too."""
    if not text or cluster.all_nodes == cluster.nodes:
        return counts
    from clusterspec.rules.readers.quotes.units import licenses_spares  # for machines with spares alone

    if not licenses_spares(text):
        return counts
    return {unit: {max(numbers)} if unit in {"node", "accelerator"} else numbers for unit, numbers in counts.items()}


def _yearly_license_problem(
    offered: Offered, procurement: ProcurementSpec, counts: Mapping[str, set[int]]
) -> Iterator[Problem]:
    """The problem of licenses per accelerator and year for fewer accelerators than the design has over the term."""
    quantity, term = offered.line.quantity, procurement.term
    years = round(term.value / YEAR) if term is not None else 0
    if quantity is None or years < 2 or not offered.counts_periods or quantity % years:
        return
    units = _years_of_units(counts["accelerator"], years)
    covered = quantity / years
    if 1 < covered < min(counts["accelerator"]) and quantity not in counts["accelerator"]:
        of_nodes = ", as many as its nodes" if covered in counts["node"] else ""
        message = f"`{name_of_part(offered.line.part)}` is sold per accelerator and year: {quantity:,.0f} are for {covered:,.0f} accelerators for {years} years{of_nodes}, but the design needs {min(units):,}"
        at = quote_path(offered.index, "quantity")
        yield RULE.problem(at, message, f"ask for {min(units):,}, or what the line covers")


_PER_CAPACITY = pattern(r"(?:\bper|\ba|/|\bje|\bpar|\bpor|\bal)\s?(g|t)i?b\b|\b(g|t)i?b[- ]months?\b")
_CAPACITY = pattern(rf"{NUMBER} ?(t|p)i?b\b")
_MONTHS = pattern(r"\b(\d{1,3}) ?(?:months?|monate?n?|mois|meses|mesi|maanden)\b")
SAME_CAPACITY = 0.05
"""Relative difference up to which two sizes are equal; a tebibyte is 10 % larger than a terabyte."""


def _capacity_problem(offered: Offered, procurement: ProcurementSpec) -> Iterator[Problem]:
    """The problem of storage sold per gigabyte whose quantity is its terabytes, or the reverse; the quantity may be
    multiplied by months.
    """
    text, quantity = plain_part(offered.line), offered.line.quantity
    units = {first or second for first, second in _PER_CAPACITY.findall(text)}
    sizes = [number_in_text(number) * (1000.0 if unit == "p" else 1.0) for number, unit in _CAPACITY.findall(text)]
    if quantity is None or len(units) != 1 or len(sizes) != 1:
        return
    months = {1.0, *map(float, _MONTHS.findall(text))}
    months |= {procurement.term.value / YEAR * 12} if procurement.term is not None else set()
    unit = units.pop()
    right, wrong = (1000.0, 1.0) if unit == "g" else (1.0, 1000.0)
    is_right, is_wrong = (
        any(abs(quantity / (sizes[0] * scale * each) - 1) < SAME_CAPACITY for each in months)
        for scale in (right, wrong)
    )
    if is_wrong and not is_right:
        named = {"g": ("GB", "TB"), "t": ("TB", "GB")}[unit]
        message = (
            f"`{name_of_part(offered.line.part)}` is sold per {named[0]}, but {quantity:,.0f} is its size in {named[1]}"
        )
        at = quote_path(offered.index, "quantity")
        yield RULE.problem(at, message, f"correct the quantity, or the price for one {named[1]}")


_RAISE = pattern(r"% (?:per|a|each|every) year\b")
"""Pattern of a yearly increase of a price; the price itself may have another period."""
_EXPLAINED = pattern(r"\d (?:per|a) month\b|\d ?/ ?month\b|\d (?:per|a) year\b|\band (?:month|year)\b")
"""Pattern of a further price per period in the text of a line, or of a price per unit and period."""
_YEARS = pattern(r"(?<![\w.,-])(\d{1,2}) ?years?\b")
_BY_MONTH = pattern(r"\b(?:per|a|each|every|and) months?\b|/ ?months?\b|\bmonthly\b")


def _period_problem(offered: Offered, procurement: ProcurementSpec) -> Iterator[Problem]:
    """The problem of a yearly price with the term's months as its quantity, or of a monthly price with its years."""
    text, quantity, term = plain_part(offered.line), offered.line.quantity, procurement.term
    text = _RAISE.sub("", text)
    by_year, by_month = _YEARLY.search(text) is not None, _BY_MONTH.search(text) is not None
    if term is None or quantity is None or by_year == by_month:
        return
    months = term.value / YEAR * 12
    wrong, unit = (months, "year") if by_year else (months / 12, "month")
    if _OF_UNITS.search(text) is not None or unit_of_line(offered):
        return
    if wrong >= (12 if by_year else 2) and abs(quantity / wrong - 1) < SAME_HOURS:
        counted = "months" if by_year else "years"
        message = (
            f"`{name_of_part(offered.line.part)}` is sold per {unit}, but {quantity:,.0f} are the {counted} of the term"
        )
        at = quote_path(offered.index, "quantity")
        yield RULE.problem(at, message, f"correct the quantity, or the price for one of the {counted}")
        return
    stated = {int(each) for each in (_YEARS if by_year else _MONTHS).findall(text)}
    terms = {1, 2, 3, 4, 5, 6, 7} if by_year else {12, 24, 36, 48, 60, 72, 84}
    if (
        len(stated) == 1
        and stated <= terms
        and quantity in terms - stated
        and not (_EXPLAINED.search(text) is not None or any(products_in(text)))
    ):
        message = f"`{name_of_part(offered.line.part)}` is for {plural(stated.pop(), unit)}, but the quote has {plural(round(quantity), unit)} of it"
        at = quote_path(offered.index, "quantity")
        yield RULE.problem(at, message, "ask the supplier which of the two is right")


_PERIODS = ("month", "year", "hour", "week", "day")
"""Beginnings of the words for a period."""
MOST_PERIODS = 84
"""Largest number of months or years of one line: 84 months."""
_SCALES = (1.0, 1000.0, 1e6, 1e-3)
"""Factors between a product and the same size in another unit, such as terabytes and gigabytes."""


def _product_problem(offered: Offered) -> Iterator[Problem]:
    """The problem of a product of units and periods that differs from its stated result or from the quantity."""
    quantity = offered.line.quantity
    text = plain_part(offered.line)
    products = [*products_in(text)]
    for product in products:
        value = math.prod(product.factors)
        if product.result is not None and not any(_is_close(product.result, value * scale) for scale in _SCALES):
            message = f"`{product.text}` is wrong: the product is {value:,}"
            at = quote_path(offered.index, "part")
            yield RULE.problem(at, message, "ask the supplier which of the numbers is right")
            return
    if len(products) != 1 or quantity is None or quantity <= 1:
        return
    (product,) = products
    value, by_period = math.prod(product.factors), _is_period(product.units[-1])
    by_period = by_period and (HOURS.search(text) is None or product.units[-1].startswith("h"))
    several = round(quantity / value) if value else 0
    in_hours = product.units[-1].startswith("h")  # those of a month, for several months
    in_parts = in_hours and 2 <= several <= MOST_PERIODS and _is_close(quantity, several * value)
    fits = any(_is_close(quantity, each * scale) for each in (value, *product.parts_in(text)) for scale in _SCALES)
    priced = offered.line.unit_price is not None and _is_close(float(offered.line.unit_price), value)
    if by_period and not (fits or in_parts or priced):
        message = f"`{name_of_part(offered.line.part)}` counts {product.text}, which are {value:,}, but its quantity is {quantity:,.0f}"
        at = quote_path(offered.index, "quantity")
        yield RULE.problem(at, message, "ask the supplier which of the numbers is right")


_YEAR_OF_360 = pattern(r"\b(\d{1,2}) ?months?\b ?[x×] ?30 ?days?\b")
LONG = 12
"""Smallest number of months at which counting 30 days per month is too short: it loses five days a year."""


def _short_year_problem(offered: Offered) -> Iterator[Problem]:
    """The problem of node-hours whose text counts a year as twelve months of 30 days."""
    found, quantity = _YEAR_OF_360.search(plain_part(offered.line)), offered.line.quantity
    months = int(found[1]) if found is not None else 0
    if quantity is None or months < LONG or HOURS.search(plain_part(offered.line)) is None:
        return
    days = 365 * months / 12
    whole = quantity * days / (30 * months)
    message = f"{months} months of 30 days are {30 * months} days, but the calendar has {days:,.0f}: {whole - quantity:,.0f} hours are missing"
    at = quote_path(offered.index, "quantity")
    yield RULE.problem(at, message, f"order {whole:,.0f} hours")


_SCALED = pattern(
    r"(万元|萬元)|((?<![a-z])(?:t ?€|k ?€|teur|keur|tsek|tnok|tkr|kusd|kchf)(?![a-z])|\btys\. ?(?:zł|pln)|\btis\. ?kč|千円|천 ?원)"
)
"""Pattern of a price in thousands or ten thousands of a currency."""


def _scaled_price_problem(offered: Offered) -> Iterator[Problem]:
    """The problem of a price stated in thousands or ten thousands, if other amounts are in whole units."""
    found, price = _SCALED.search(plain_part(offered.line)), offered.line.unit_price
    scale = 0 if found is None else 10_000 if found[1] else 1000
    if found is not None and price is not None and 0 < price < scale:
        message = f"`{name_of_part(offered.line.part)}` states its price in `{found[0]}`, but {price:,g} is added to amounts in whole units"
        at = quote_path(offered.index, "unit_price")
        yield RULE.problem(at, message, f"write {price * scale:,.0f}")


def _is_period(words: str) -> bool:
    """Whether words after a number name a period."""
    return words == "h" or words.startswith(_PERIODS)


def _is_close(one: float, other: float) -> bool:
    return abs(one - other) <= SAME_HOURS * other


_OF_UNITS = pattern(
    r"\b(?:per|each|every|/|and) ?(?:node|server|system|gpu|card|accelerator|rack|license|licence|t?b|kw|user|seat|unit|port|switch)\b"
)
"""Pattern of words for a price per unit and period, whose quantity is not only a number of periods."""
_PER_USER = pattern(r"\b(?:rtx )?(?:vws|vpc|vapps|virtual workstation)s?\b")
_BY_CARD = pattern(r"\b(?:per|each|pro|je|par|por|una per|one per|one a) (?:gpu|card|karte|carte|scheda|tarjeta)\b")


def _user_license_problem(offered: Offered) -> Iterator[Problem]:
    """The problem of virtual-workstation licenses, sold per concurrent user, that are counted per accelerator."""
    text = plain_part(offered.line)
    if _PER_USER.search(text) is not None and _BY_CARD.search(text) is not None:
        message = f"`{name_of_part(offered.line.part)}` is counted per accelerator, but these licenses are sold per concurrent user"
        at = quote_path(offered.index, "quantity")
        yield RULE.problem(at, message, "ask for as many as desktops run at the same time")


def _years_of_line(offered: Offered, procurement: ProcurementSpec) -> int:
    """The years of support or of a subscription in the spec, if a line sells it per unit and year; else 0."""
    text, support = plain_part(offered.line), procurement.support
    kept = support.term if support is not None and sells_support(text) else None
    if kept is None and _SUBSCRIBED.search(text) is not None:
        kept = procurement.term or (support.term if support is not None else None)
    return round(kept.value / YEAR) if kept is not None and _BY_YEAR.search(text) is not None else 0


def _years_of_units(counts: Iterable[int], years: int) -> set[int]:
    """The total unit-years for each possible number of units in the design."""
    return {count * years for count in counts}


def _years_problem(offered: Offered, unit: str, covered: int, years: int, units: int) -> Problem:
    """The problem of a line per unit and year whose quantity does not cover all units in all years."""
    quantity = offered.line.quantity or 0.0
    part = f"{covered if covered > 1 else 'one'} of the {years} years of the term"
    message = f"`{name_of_part(offered.line.part)}` is sold per {unit} and year: {quantity:,.0f} are for {part}"
    at = quote_path(offered.index, "quantity")
    return RULE.problem(at, message, f"ask for {units * years:,}, or correct the term", severity="warning")


def _hours_problem(offered: Offered, procurement: ProcurementSpec, cluster: Cluster) -> Iterator[Problem]:
    """The problem of accelerator-hours whose quantity is the node-hours of the term, or the reverse."""
    text, quantity, term = plain_part(offered.line), offered.line.quantity, procurement.term
    unit = unit_of_hours(text)
    if term is None or not quantity or not unit or cluster.accelerators_per_node == 1:
        return
    of_nodes = cluster.nodes * term.value / HOUR
    hours = {"node": of_nodes, "accelerator": of_nodes * cluster.accelerators_per_node}
    other = "node" if unit == "accelerator" else "accelerator"
    if abs(quantity / hours[other] - 1) < SAME_HOURS:
        message = f"`{name_of_part(offered.line.part)}` is sold by the {unit}-hour: {quantity:,.0f} are the {other}-hours of the term, whose {unit}-hours are {hours[unit]:,.0f}"
        at = quote_path(offered.index, "quantity")
        yield RULE.problem(at, message, "correct the quantity, or the price for the other unit")
