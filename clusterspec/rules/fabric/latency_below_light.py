"""A stated latency of a fiber run is shorter than light takes.

## What it finds

A sentence of the description or a comment with one length of a link in kilometers and one latency, delay or round trip, where
light in fiber takes longer: 4.9 µs for a kilometer one way, 9.8 µs there and back.

## Why it matters

The time of small messages, the buffers of flow control and the pauses of synchronous copies follow from it. No equipment
makes it shorter; switches and coders only add to it.

## What to do

Plan with 5 µs for each kilometer of the cable, which is longer than the way on a map.

## When to ignore it

Ignore it for hollow-core fiber or radio, where light is faster.

## Fires

```yaml description
clusterspec: 1
description: The two halls are 40 km of fiber apart, with a round trip of 100 µs.
cluster: {platform: dgx-h100, nodes: 16}
```

```yaml description
clusterspec: 1
description: Checkpoints go to the second site over 80 km of dark fibre. The fibre adds 0.04 ms each way.
cluster: {platform: dgx-h100, nodes: 16}
```

## Silent

```yaml
clusterspec: 1
description: The two halls are 40 km of fiber apart, with a round trip of 420 µs.
cluster: {platform: dgx-h100, nodes: 16}
```

## Sources

- Group index 1.468 of single-mode fiber at 1,550 nm: https://www.corning.com/optical-communications/worldwide/en/home/products/fiber/optical-fiber-products/smf-28-ultra.html
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clusterspec.finding import Problem
from clusterspec.rules.readers.written_numbers import MOST_MATCHES, NUMBER, number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
PER_KILOMETER = 1000 * 1.46 / 299_792_458
"""Propagation delay of one kilometer of silica fiber, in seconds, at the lowest group index on the market."""
_LENGTH = pattern(rf"{NUMBER} ?(?:km|kilomet(?:er|re)s?|kilómetros|kilomètres|kilometern?)\b")
_TIME = pattern(
    rf"{NUMBER} ?(µs|μs|us|usec|microseconds?|mikrosekunden|microsecondes|microsegundos|ms|milliseconds?|millisekunden|millisecondes|milisegundos)\b"
)
_LATENCY = pattern(
    r"\b(?:latenc(?:y|ies)|delays?|round[- ]?trip(?: time)?|rtt|one[- ]way|ping|latenz|laufzeit|umlaufzeit|latence|aller-retour|latencia|retardo|ida y vuelta|latenza)\b"
)
_ROUND_TRIP = pattern(
    r"\b(?:round[- ]?trip|rtt|ping|umlaufzeit|hin und zurück|aller-retour|ida y vuelta|andata e ritorno)\b"
)
_FASTER = pattern(r"\b(?:hollow[- ]core|microwave|radio|laser link|free[- ]space|more than|jitter|switch(?:es)?)\b")
_ADDED = pattern(r"\b(?:added?|adds|additional|besides|on top)\b")
_FIBER = pattern(r"\b(?:fib(?:er|re)s?|glass|glasfaser\w*|lwl|fibra|distance|strecke|kilometers?|kilometres?|km)\b")
"""Pattern of words that attribute an added delay to the fiber length itself."""


def check(remarks: str) -> Iterator[Problem]:
    if "km" not in remarks and "ilom" not in remarks:
        return
    folded = " ".join(remarks.lower().split())
    of_text = {number_in_text(each[1]) for each in islice(_LENGTH.finditer(folded), MOST_MATCHES)}
    for sentence in sentences_of(folded):
        added = _ADDED.search(sentence) is not None
        if not (added or _LATENCY.search(sentence)) or _FASTER.search(sentence) is not None:
            continue
        if added and _FIBER.search(sentence) is None:
            continue
        lengths = {number_in_text(each) for each in _LENGTH.findall(sentence)} or of_text
        times = _times_in(sentence)
        if len(lengths) != 1 or len(times) != 1:
            continue
        (length,), (stated,) = lengths, times
        both = _ROUND_TRIP.search(sentence) is not None
        least = length * PER_KILOMETER * (2 if both else 1)
        if 0 < stated < least:
            way = "there and back" if both else "one way"
            message = f"the text states {display(stated, 's')} for {length:g} km of fiber, but light takes {display(least, 's')} {way}"
            yield RULE.problem("description", message, "plan with 5 µs for each kilometer and way")
            return


def _times_in(sentence: str) -> set[float]:
    """The times of a lowercase sentence that are given in microseconds or milliseconds, in seconds."""
    units = {"ms": 1e-3, "mil": 1e-3}
    return {number_in_text(number) * units.get(unit[:3], 1e-6) for number, unit in _TIME.findall(sentence)}
