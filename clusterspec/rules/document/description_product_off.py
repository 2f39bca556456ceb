"""A product that the description or a comment writes out has another result.

## What it finds

A product or quotient of numbers with its result, as `1,536 x 8,192 tokens = 12.6 M tokens` or `64 nodes for 504 h, 32,256
node-hours`, that does not follow from its factors. The digits decide: any prefix, any unit of time, bits for bytes and
the accelerators of a node may stand between the two sides, and other rules report those.

## Why it matters

Budgets, allocations and schedules rest on such products, and readers copy the result.

## What to do

Compute it again.

## When to ignore it

Ignore it where the text leaves out a factor on purpose.

## Fires

```yaml description
clusterspec: 1
description: A step has 1,536 x 8,192 tokens = 16.6 M tokens.
cluster: {platform: dgx-h100, nodes: 4}
```

## Silent

```yaml
clusterspec: 1
description: A step has 1,536 x 8,192 tokens = 12.6 M tokens, and 4 nodes x 720 h are 23,040 GPU-hours.
cluster: {platform: dgx-h100, nodes: 4}
```

## Sources

- Arithmetic: the product of the factors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.text_quantities import (
    ACCELERATOR,
    BYTE,
    HOURS,
    NODE,
    SECOND,
    SHARE,
    STEP,
    TOKEN,
    TextProduct,
    TextQuantity,
    text_products,
)
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "error", "likely")
_CUES = ("=", " are ", " is ", " makes ", " gives ", " give ", " for ", "≈", " sind ", " sont ", " son ")
_OPEN = pattern(r"(?:[+\-−–*/×·^(]|\b(?:plus|minus|and|less|[x×]))\s*$")
"""What stands before a product that is a part of a longer expression."""
_GOES_ON = pattern(r"^\)?\s*(?:(?:[^\W\d_][\w-]{0,14} ){0,3}[x×*·] ?\d|[+\-−*/×·^]|plus\b|minus\b|and \d)")
"""What stands behind a result that is another step of the expression."""
_OTHER_UNIT = pattern(r"(?i)\d ?[kmgt]?b(?:it)?/s\b|\d[GT]\b|\b\d ?(?:G|T|M|k)?(?:bps|bit/s)\b|[€$£]|\bdies\b")
"""A rate in bits, whose links may be split, amounts of money, and dies, several of which are one device."""
_SCALED = pattern(r"\d ?[kKMBGT]\b|illion|\dbn\b|\d[eE]\d|\^|00\b|\d,\d{1,2}\b")
"""Signs of a rounded figure: a prefix, a power of ten, hundreds, or a decimal comma."""
_ROUGH = pattern(r"(?i)[≈~]|\b(?:about|roughly|some|nearly|almost|over|under|at most|at least|up to)\b")
PREFIXES = tuple(10.0 ** (3 * power) for power in range(-5, 6))
TIMES = (1.0, 60.0, 1 / 60, 3600.0, 1 / 3600, 24.0, 1 / 24, 86400.0, 1 / 86400)
"""Factors by which another prefix, or another unit of time, changes the digits."""
CLOSE, ROUGH = 0.025, 0.1
"""Relative differences that rounding explains, and that words of an approximation do."""


def check(own_remarks: str, spec: Spec, cluster: Cluster | None) -> Iterator[Problem]:
    if not own_remarks or spec.pools or spec.jobs:
        return
    if not any(cue in own_remarks for cue in _CUES):
        return
    omitted = {float(cluster.accelerators_per_node), float(cluster.nodes)} if cluster is not None else set()
    for product in text_products(own_remarks):
        if _is_whole(product, own_remarks) and not _closes(product, omitted):
            right = product.value / (
                3600 if product.result.unit != SECOND and any(each.unit == SECOND for each in product.factors) else 1
            )
            message = f"`{product.words}`: the product is {plain(right, 4) if right < 10_000 else display(right, '1')}"
            yield RULE.problem("description", message, "compute it again")
            return


def _is_whole(product: TextProduct, text: str) -> bool:
    """Whether a product is no part of a longer expression."""
    before, _, after = " ".join(text.split()).partition(product.words)
    inner = product.words.count("+") or product.words.count(" - ")
    inner += _OTHER_UNIT.search(product.words) is not None
    return not inner and _OPEN.search(before[-12:]) is None and _GOES_ON.match(after[:12]) is None


def _closes(product: TextProduct, omitted: set[float]) -> bool:
    """Whether the digits of a result follow from its factors, up to prefixes, units and factors that a text omits."""
    value, result = product.value, product.result
    if not result.value or not math.isfinite(value) or not value:
        return True
    rounded = sum(each.step / abs(each.value) / 2 for each in product.factors if _is_rounded(each))
    tolerance = max(ROUGH if _ROUGH.search(product.words) is not None else CLOSE, rounded + _last_digit(result))
    exact = not _is_rounded(result) and all(
        each.unit in ("", TOKEN, STEP) and not _is_rounded(each) for each in product.factors
    )
    tolerance = min(tolerance, CLOSE) if exact and result.unit == "" else tolerance
    units = {each.unit for each in (*product.factors, result)}
    times = TIMES if SECOND in units or " per " in product.words else (1.0,)
    others = (1.0, 8.0, 1 / 8) if BYTE in units else (1.0,)
    shares = (1.0, 0.01, 100.0) if SHARE in units else (1.0,)
    counts = {1.0, *(omitted if units & {NODE, ACCELERATOR, *HOURS} else ())}
    ratio = value / result.value
    return any(
        abs(ratio * prefix * time * other * share * factor - 1) <= tolerance
        for prefix in PREFIXES
        for time in times
        for other in others
        for share in shares
        for given in counts
        for factor in (given, 1 / given)
    )


def _is_rounded(quantity: TextQuantity) -> bool:
    """Whether the figure is no whole number written in full."""
    return "." in quantity.words or _SCALED.search(quantity.words) is not None


def _last_digit(result: TextQuantity) -> float:
    """The relative rounding of a result: one in its last digit, as it may be cut, and half of one where it has one digit."""
    step = result.step / abs(result.value)
    return step if step <= 0.1 else 0.55 * step
