"""The prices are for a longer contract than the term, or than the provider sells.

## What it finds

A `commitment` that is longer than `term`: an error. One that is shorter by more than a tenth is a note. A `support.term` longer
than `term` by a year or more is a warning: support is paid for after the machine is gone. A line of the
quote for an EC2 Capacity Block of more than 182 days, by its own text, the commitment or the term, is an error, as is a text
that names the price of a contract of more years than the commitment (`from the column of the three-year commitment`).

## Why it matters

Providers sell reservations of one or three years at up to half of the price on demand. A buyer who needs a machine for
one year and takes the price of three pays for three years, or is billed at the price of one. A Capacity Block, with all
its extensions, ends after 182 days, and its instances are terminated.

## What to do

Write the prices of the contract that fits the term, and its time as `commitment`.

## When to ignore it

Ignore it where another team takes over the rest of the contract.

## Fires

```yaml procurement.commitment
clusterspec: 1
cluster: {platform: gcp-a4-highgpu-8g, nodes: 32}
procurement: {currency: USD, as_of: 2026-11-01, term: 12 months, commitment: 3 years, prices: {node_hour: 42}}
```

```yaml procurement.commitment
clusterspec: 1
cluster: {platform: gcp-a4-highgpu-8g, nodes: 32}
procurement: {currency: USD, as_of: 2026-11-01, term: 3 years, commitment: 1 year, prices: {node_hour: 62.4}}
```

```yaml procurement.quote[0].part
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 16}
procurement:
  currency: USD
  as_of: 2026-11-01
  term: 9 months
  quote:
    - {part: "EC2 Capacity Block for ML, 16x p5.48xlarge, instance-hours", quantity: 105120, unit_price: 31.464}
```

```yaml procurement.prices
clusterspec: 1
description: "Price of 38.80 USD a node and hour, from the column of the three-year commitment."
cluster: {platform: gcp-a4-highgpu-8g, nodes: 32}
procurement: {currency: USD, as_of: 2026-11-01, term: 1 year, commitment: 1 year, prices: {node_hour: 38.8}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gcp-a4-highgpu-8g, nodes: 32}
procurement: {currency: USD, as_of: 2026-11-01, term: 12 months, commitment: 1 year, prices: {node_hour: 62.4}}
```

## Sources

- Commitments and their terms: https://cloud.google.com/compute/docs/instances/committed-use-discounts-overview
- The longest Capacity Block: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-extend.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from clusterspec.finding import Problem
from clusterspec.quantity import DAY, YEAR
from clusterspec.rules.readers.clauses import clause_at
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.passages import measures_in
from clusterspec.rules.readers.units import NUMBERS
from clusterspec.rules.readers.written_numbers import are_close, numbers_within, sentences_of, time_in_text
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error")
SAME = 0.01
"""Relative difference up to which two times are equal, such as 12 months of 30.4 days and a year of 365."""
MUCH_SHORTER = 0.9
ACCELERATORS_OF_NODES = (1, 2, 4, 8, 16)
MOST_TERMS = 20
"""Largest number of contract terms in a sentence that are read."""
LONGEST_BLOCK = 182
"""Days of the longest EC2 Capacity Block, with all extensions."""
_BLOCK = pattern(r"(?i)\bcapacity blocks?\b")
_DAYS = pattern(r"(?i)(?<![\w.,-])(\d{1,4})[ -](days?|weeks?|months?)\b")


_TERM = pattern(
    r"(?i)(?<![\w.,])(?P<count>one|two|three|four|five|zwei|drei|fünf|deux|trois|cinq|[1-5])(?:[ -]|(?=y))(?P<unit>y|years?|yrs?|jahren?|ans|año?s)\b"
    r"|(?<![\w.,])(?P<months>12|24|36|48|60)[ -](?:months?|monate[n]?|mois|meses)\b|\b(?P<joined>zwei|drei|fünf)jähr\w*|\b(?P<each>tri)ennal\w*"
)
"""Pattern of a contract term in whole years."""
_OF_CONTRACT = pattern(
    r"(?i)\b(?:commit\w*|cuds?|reserv\w*|contract\w*|savings plans?|ris?|terms?|columns?|spalte|colonne|lock-?in|bindung\w*|gebunden\w*|bindet|laufzeit\w*|verpflicht\w*|vertrag\w*|engagement\w*|engage\w*|contrat\w*|compromiso\w*|reserva\w*)\b"
)
_PRICE = pattern(
    r"(?i)\b(?:prices?|priced|pricing|rates?|costs?|tariff?s?|tarifs?|preise?s?|kost\w+|prix|precio|usd|eur)\b|[$€]"
)
_NOT_OURS = pattern(
    r"(?i)\b(?:not|never|would|could|instead|unlike|than|cheaper|compared|if (?!one commits|you commit|we commit)|nicht|statt|wäre|würde|pas|serait|au lieu|without|no)\b"
)
"""Pattern of words for a price that is not the price in the plan."""


def check(procurement: ProcurementSpec, own_remarks: str | None) -> Iterator[Problem]:
    yield from _block_problems(procurement)
    yield from _longer_price_problem(procurement, own_remarks or "")
    term, bound = procurement.term, procurement.commitment
    supported = procurement.support.term if procurement.support is not None else None
    if term is not None and supported is not None and supported.value > term.value + YEAR * (1 - SAME):
        message = f"support is bought for {supported.written}, but the machine is kept for {term.written}"
        help_ = "buy support for the term"
        yield RULE.problem("procurement.support.term", message, help_, severity="warning")
    if term is None or bound is None:
        return
    if bound.value > term.value * (1 + SAME):
        message = f"the prices hold for a contract of {bound.written}, but the machine is kept for {term.written}"
        help_ = f"write the prices of a contract of {term.written}, or count {bound.written} of rent"
        yield RULE.problem("procurement.commitment", message, help_)
    elif bound.value < term.value * MUCH_SHORTER:
        message = f"the prices hold for {bound.written} of a term of {term.written}: the prices of the rest are unknown"
        yield RULE.problem("procurement.commitment", message, "ask for the prices of the rest", severity="note")


def _longer_price_problem(procurement: ProcurementSpec, remarks: str) -> Iterator[Problem]:
    """The problem of prices that, by the text, require a longer contract than the spec has."""
    held = procurement.commitment or procurement.term
    if held is None:
        return
    stated = sorted(numbers_within(procurement))
    texts = [
        *sentences_of(" ".join(remarks[:MOST_CHARACTERS].split())),
        *(line.part or "" for line in procurement.quote or ()),
    ]
    named = {years for text in texts for years in _priced_years(text, stated)}
    if len(named) != 1:
        return
    (years,) = named
    if years * YEAR > held.value * (1 + SAME):
        message = f"according to the text, the price is for a contract of {plural(years, 'year')}, but the commitment is {held.written}"
        yield RULE.problem(
            "procurement.prices", message, f"write the price of a contract of {held.written}", confidence="likely"
        )


def _priced_years(sentence: str, prices: Sequence[float]) -> Iterator[int]:
    """The contract years of the price in a sentence, unless the price is another amount than those in the keys.

    >>> [*_priced_years("38.80 USD is the three-year CUD rate", [38.8]), *_priced_years("36 months committed: 38,80 USD", [38.8])]
    [3, 3]
    >>> list(_priced_years("9.70 USD a chip and hour, from the column of the three-year commitment", [38.8]))
    [3]
    >>> list(_priced_years("38.80 USD with the commitment of one year, with a three-year commitment it would be 29.10 USD", [38.8]))
    [1]
    """
    terms = list(islice(_TERM.finditer(sentence), MOST_TERMS))
    if not terms or _PRICE.search(sentence) is None:
        return
    amounts = [each for each in measures_in(sentence) if each.dimensions[0] == 1]
    for match in terms:
        clause = clause_at(sentence, *match.span())
        own = [each for each in amounts if any(_is_price(value, prices) for value in each.values)]
        nearest = min(amounts, key=lambda each: max(each.start - match.end(), match.start() - each.end), default=None)
        bound = _OF_CONTRACT.search(clause if len(terms) > 1 else sentence)
        if bound is not None and _NOT_OURS.search(clause) is None and (nearest in own or not amounts):
            yield _years(match)


def _is_price(amount: float, prices: Sequence[float]) -> bool:
    """Whether an amount equals one of some prices, or the part of one accelerator in one of them."""
    return any(are_close(amount * number, price, SAME) for number in ACCELERATORS_OF_NODES for price in prices)


def _years(match: re.Match[str]) -> int:
    """The years of a contract term, given in digits, as a word, or in months."""
    if match["months"]:
        return int(match["months"]) // 12
    written = (match["count"] or match["joined"] or "three").lower()
    return NUMBERS.get(written) or int(written)


def _block_problems(procurement: ProcurementSpec) -> Iterator[Problem]:
    """Problems of quote lines for capacity blocks longer than the provider sells; the line states the days, else the
    commitment or the term does.
    """
    held = procurement.commitment or procurement.term
    for number, line in enumerate(procurement.quote or ()):
        text = line.part or ""
        if _BLOCK.search(text) is None:
            continue
        named = [time_in_text(count, unit) / DAY for count, unit in _DAYS.findall(text)]
        days = max(named, default=held.value / DAY if held is not None else 0.0)
        if days > LONGEST_BLOCK * (1 + SAME):
            message = f"a Capacity Block lasts {LONGEST_BLOCK} days at most, extended or not, but this one {days:,.0f}"
            help_ = "buy several blocks, or another contract for the whole time"
            yield RULE.problem(quote_path(number, "part"), message, help_)
