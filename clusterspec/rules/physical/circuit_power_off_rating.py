"""A circuit in the text supplies more power than its voltage and current allow.

## What it finds

A sentence of the description or a comment with one voltage, one current and one power of the same circuit, PDU or busbar, where
the power is above volts × amperes, × √3 with three phases (× 3 with the voltage of one phase, 120 to 277 V), × 0.8 where the
sentence takes 80 % of the rating, and × the power factor where it states one.

## Why it matters

The breaker opens under load, and takes a rack, or with both feeds a row, out of the job.

## What to do

Multiply again. Three phases of 400 V and 63 A are 43.6 kVA; three of 208 V and 60 A at 80 % are 17.3 kVA.

## When to ignore it

Ignore it where the power covers several circuits.

## Fires

```yaml description
clusterspec: 1
description: Each rack hangs on a three-phase PDU of 400 V and 32 A, which carries 38 kW.
cluster: {platform: dgx-h100, nodes: 16}
```

## Silent

```yaml
clusterspec: 1
description: Each rack hangs on a three-phase PDU of 400 V and 63 A, which carries 38 kW.
cluster: {platform: dgx-h100, nodes: 16}
```

## Sources

- Continuous loads and breakers: https://www.nfpa.org/codes-and-standards/nfpa-70-standard-development/70
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.readers.plans.feeds import circuit_rating
from clusterspec.rules.readers.units import word_set
from clusterspec.rules.readers.written_numbers import NUMBER, has_unit, number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
ROUNDED = 1.02
"""Ratio up to which two powers are equal, since one may be rounded."""
_VOLTS = pattern(r"(?<![\w.,/-])(?:\d{2,3}/)?(\d{3}) ?v(?:olts?|ac)?\b(?!/)")
_AMPERES = pattern(r"(?<![\w.,/])(\d{2,4}) ?a(?:mps?|mperes?|mpere)?\b(?! (?:and|or|und|et|y) b\b)")
_POWER = pattern(rf"{NUMBER} ?(k|m)(?:w|va)\b(?!h)")
_CIRCUIT = pattern(
    r"\b(?:circuits?|pdus?|feeds?|busways?|busbars?|breakers?|whips?|tap[- ]?offs?|drops?|connectors?|outlets?|stromkreise?|einspeisung|départ|acometida|circuit[oi])\b"
)
_VOLT_WORDS = word_set("v volt volts vac")
_SEVERAL = pattern(
    r"\b(?:two|three|four|six|eight|both|[2-9]|\d\d) ?(?:[x×] ?)?(?:such |redundant |rack |three-phase |a/b )?(?:circuits?|pdus|feeds|whips|busways|breakers|drops|power strips)\b|\bpair\b|\b(?:each|per) (?:row|hall|pod)\b|\btogether\b|\btotal\b|\b\d ?[x×] ?\d{2,3} ?a\b|\bpdu pairs\b"
)
"""Pattern of words in a sentence about several circuits."""
_OF_LOAD = pattern(
    r"\b(?:draws?|needs?|load|demand|rack of|limit(?:ed)?|budget|instead|not|too small|node|server|system|at most|zieht|braucht)\b"
)
"""Pattern of words that make a power a load and not a rating."""


def check(remarks: str) -> Iterator[Problem]:
    if not remarks or not has_unit(remarks, _VOLT_WORDS):
        return
    for sentence in sentences_of(" ".join(remarks.lower().split())):
        if _CIRCUIT.search(sentence) is None or _SEVERAL.search(sentence) or _OF_LOAD.search(sentence):
            continue
        volts, amperes = (
            {int(each) for each in _VOLTS.findall(sentence)},
            {int(each) for each in _AMPERES.findall(sentence)},
        )
        powers = {number_in_text(number) * (1e3 if unit == "k" else 1e6) for number, unit in _POWER.findall(sentence)}
        if len(volts) != 1 or len(amperes) != 1 or len(powers) != 1:
            continue
        (voltage,), (current,), (stated,) = volts, amperes, powers
        most, how = circuit_rating(float(voltage), float(current), sentence)
        if stated > most * ROUNDED:
            message = f"the text gives a circuit {display(stated, 'W')}, but {voltage} V and {current} A are {display(most, 'W')} at most ({how})"
            yield RULE.problem("description", message, "correct the power, or plan a larger circuit")
            return
