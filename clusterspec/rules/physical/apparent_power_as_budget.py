"""A figure in kilovolt-amperes is used as kilowatts.

## What it finds

A `power.budget` with the number that the description or a comment states in kilovolt-amperes (kVA).

## Why it matters

Apparent power in kVA is the real power in kW divided by the power factor. Generators, transformers and rotary supplies
are rated at a power factor of 0.8, many static supplies at 0.9 to 1: of 1,200 kVA, 960 to 1,200 kW are real.

## What to do

State the real power of the supply in kW, as its data sheet rates it.

## When to ignore it

Ignore it where the supply is rated at a power factor of 1, so that both are equal.

## Fires

```yaml cluster.power.budget
clusterspec: 1
description: The hall has a supply of 1,200 kVA.
cluster: {platform: dgx-h100, nodes: 100, power: {budget: 1200 kW}}
```

## Silent

```yaml
clusterspec: 1
description: The hall has a supply of 1,200 kVA at a power factor of 0.9.
cluster: {platform: dgx-h100, nodes: 90, power: {budget: 1080 kW}}
```

## Sources

- Power factors of supplies and generators: https://www.datacenterdynamics.com/opinions/when-is-a-kw-not-a-kw/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.readers.clauses import clause_at
from clusterspec.rules.readers.loads import DIGITS, MOST_CHARACTERS
from clusterspec.rules.readers.written_numbers import numbers_of, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
_CUES = ("va", "volt", "apparent", "schein")
"""Lowercase signs of apparent power; every text about it has at least one of them."""
_AMPERES = r"(?:V ?A\b|volt-?[ ]?amp)"
_RATINGS = pattern(
    rf"(?i)(?P<digits>{DIGITS}) ?(?P<scale>k|M|kilo|mega)-?{_AMPERES}"
    rf"|\b(?P<scale_before>k|M){_AMPERES}\)?(?:[:=]| of| is)? ?(?P<digits_behind>{DIGITS})"
)
_WATTS = pattern(rf"(?i)(?P<digits>{DIGITS}) ?(?P<scale>k|M)W\b")
_APPARENT = pattern(r"(?i)\b(?:apparent|scheinleistung|apparente)\b")
_REAL = pattern(r"(?i)\b(?:real|active|true|wirk\w*|réelle|real power)\b")
_UNITY = pattern(
    r"(?i)\b(?:unity|(?:power factor|pf|cos ?(?:φ|phi)|leistungsfaktor|facteur de puissance)(?: of| is| von| de)?[ =:]{0,3}1(?:[.,]0+)?(?![.,]?\d))"
)
"""Pattern of a power factor of 1, at which volt-amperes equal watts."""


def check(own_remarks: str, power: PowerSpec) -> Iterator[Problem]:
    budget = power.budget
    if budget is None or not own_remarks:
        return
    folded = own_remarks.lower()
    if not any(cue in folded for cue in _CUES):
        return
    text = " ".join(own_remarks[:MOST_CHARACTERS].split())
    for written, values in apparent_powers_in(text):
        if any(abs(each / budget.value - 1) < SAME for each in values):
            message = f"the text states {written}, and `power.budget` is {budget.written}: apparent power is at least the real power that a supply gives"
            help_ = "write the kilowatts of the data sheet: 0.8 to 1 times as many"
            yield RULE.problem("cluster.power.budget", message, help_)
            return


SAME = 0.001


def apparent_powers_in(text: str) -> Iterator[tuple[str, tuple[float, ...]]]:
    """The apparent powers in a text as written, each with the volt-amperes that its digits may mean.

    >>> [each for _, each in apparent_powers_in("1,2 MVA; kVA: 900; 800 kVA at unity power factor")]
    [(1200000.0,), (900000.0,)]
    >>> [each for _, each in apparent_powers_in("an apparent power of 1.2 MW, 960 kW of real power")]
    [(1200000.0,)]
    """
    for match in _RATINGS.finditer(text):
        digits, scale = match["digits"] or match["digits_behind"], match["scale"] or match["scale_before"]
        if _UNITY.search(sentences_of(text[match.start() : match.end() + 80])[0]) is None:
            yield match[0], _volt_amperes(digits, scale)
    for match in _WATTS.finditer(text) if _APPARENT.search(text) is not None else ():
        clause = clause_at(text, *match.span())
        if _APPARENT.search(clause) is not None and _REAL.search(clause) is None and _UNITY.search(text) is None:
            yield match[0], _volt_amperes(match["digits"], match["scale"])


def _volt_amperes(digits: str, scale: str) -> tuple[float, ...]:
    return tuple(each * (1e3 if scale.lower().startswith("k") else 1e6) for each in numbers_of(digits))
