"""A fiber run that the description states is longer than the reach of the module in its sentence.

## What it finds

A sentence of the description or of a comment with one length in kilometers or meters and modules of one kind of light (`2xDR4`,
`FR4`, `400G LR4`): the length is above the reach. Lengths of runs in the keys are judged by `run-exceeds-reach`.

## Why it matters

The link does not come up, or has errors under load. Modules of longer reach cost several times as much and take weeks.

## What to do

Order modules that reach the run: FR4 for 2 km, LR4 for 10 km, others beyond.

## When to ignore it

Ignore it where an optical amplifier or a switch is between the ends.

## Fires

```yaml description
clusterspec: 1
description: Two halls are joined by 1.6 km of single-mode fiber, with twin-port modules MMS4X00-NM (2xDR4) on each side.
cluster: {platform: dgx-h100, nodes: 64}
```

## Silent

```yaml
clusterspec: 1
description: Two halls are joined by 1.6 km of single-mode fiber, with twin-port modules MMS4X50-NM (2xFR4) on each side.
cluster: {platform: dgx-h100, nodes: 64}
```

## Sources

- Reach by kind of light: https://instacoolbio.com/a-guide-to-400g-optical-transceivers-vr4-vs-sr4-vs-sr8-vs-dr4-vs-fr4-lr4-vs-lr8-vs-er4-vs-zr4
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.readers.written_numbers import NUMBER, number_in_text, sentences_of, words_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
REACH = {"vr": 50.0, "sr": 100.0, "dr": 500.0, "fr": 2000.0, "lr": 10_000.0, "er": 40_000.0}
"""Reach in meters of each optical standard."""
_LIGHT = pattern(
    r"(?<![a-z])(?:\d{1,3}g(?:base)?-?)?(?:\d ?[x×] ?)?(vr|sr|dr|fr|lr|er)(?:[1248](?:\.[124])?)?(?![\w.])"
)
_LENGTH = pattern(rf"{NUMBER} ?(km|kilomet(?:er|re)s?|m|met(?:er|re)s?)\b(?!/)")
_OF_FIBER = pattern(
    r"\b(?:fib(?:er|re)s?|runs?|links?|apart|away|distance|campus|glasfaser\w*|lwl|fibra|câble|cable|entfern\w*|distan\w*|afstand|avstånd)\b"
)
_UNLIKE = pattern(
    r"\b(?:up to|reach\w*|at most|not|no|too|instead|rather|than|amplif\w*|edfa|roadm|zr\+?|coherent|repeater|would|bis(?: zu)?|jusqu'à)\b"
)
"""Pattern of words in a sentence about the reach of a standard, or about another kind of link."""


def _is_optical_standard(word: str) -> bool:
    """Whether the end of a word names an optical standard, as in dr4, 400gbase or 2xfr4."""
    head, kind = word.rstrip("1248")[:-2], word.rstrip("1248")[-2:]
    return kind in REACH and not head.isalpha()


def check(remarks: str) -> Iterator[Problem]:
    if not remarks or not any(_is_optical_standard(each) for each in words_of(remarks)):
        return
    for sentence in sentences_of(remarks.lower()):
        lights = {*_LIGHT.findall(sentence)}
        if len(lights) != 1:  # most sentences: the other patterns need not be compiled
            continue
        if _OF_FIBER.search(sentence) is None or _UNLIKE.search(sentence) is not None:
            continue
        lengths = {
            number_in_text(number) * (1000 if unit[0] == "k" else 1) for number, unit in _LENGTH.findall(sentence)
        }
        if len(lengths) != 1:
            continue
        run, light = lengths.pop(), lights.pop()
        if run > REACH[light]:
            message = f"the text has a run of {display(run, 'm')} with modules {light.upper()}, which reach {display(REACH[light], 'm')}"
            help_ = next(
                (
                    f"order {kind.upper()} modules, for {display(reach, 'm')}"
                    for kind, reach in REACH.items()
                    if reach >= run
                ),
                "order modules for longer runs",
            )
            yield RULE.problem("description", message, help_)
            return
