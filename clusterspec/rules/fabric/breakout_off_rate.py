"""The text splits ports into more bandwidth than they have.

## What it finds

A sentence of the description or a comment that splits ports into others, such as `64 ports of 800G as 256 x 400G`, where
number times rate of the result exceeds that of the ports.

## Why it matters

The switch has half of the ports that the design counts on, and the second half of the nodes has none.

## What to do

Count the lanes: 800G splits into two of 400G, four of 200G or eight of 100G.

## When to ignore it

Ignore it where the sentence describes two kinds of ports.

## Fires

```yaml description
clusterspec: 1
description: The leaf has 64 ports of 800G, broken out to 256 x 400G.
cluster: {platform: dgx-h100, nodes: 16}
```

## Silent

```yaml
clusterspec: 1
description: The leaf has 64 ports of 800G, broken out to 128 x 400G.
cluster: {platform: dgx-h100, nodes: 16}
```

## Sources

- Breakout of 800G ports: https://docs.nvidia.com/networking/display/QM97X0PUB/Specifications
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.readers.units import NUMBER_WORDS, word_set
from clusterspec.rules.readers.written_numbers import count_in_text, has_word, sentences_of, words_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_SPLIT = r"(?:split\w{0,12}|br(?:eak|oken?|eaks?)[- ]?out|breakouts?|divided|fanned out|each as|as|aufgeteilt|aufgesplittet|éclaté\w{0,4}|divid\w{0,8})"
_CUES = pattern(rf"(?i)\d ?G[^.;\n]{{0,80}}?\b{_SPLIT}\b")
"""Pattern of a rate followed by a split; every sentence that the rule reads matches."""
_COUNT = rf"(?<![\w.,])(\d{{1,4}}|{'|'.join(NUMBER_WORDS)})"
_RATE = r"(\d{2,4}) ?(?:gb/s|gbps|gbit/s|gbe|g)\b"
_PORTS = (
    rf"{_COUNT} ?(?:[x×*] ?|(?:osfp |qsfp(?:-dd)? )?(?:ports?|cages?|links?) (?:of |at |with |à |de |mit |zu )?){_RATE}"
)
_BREAKOUT = pattern(rf"{_PORTS}(?: ports?)?[^.;\d]{{0,30}}?\b{_SPLIT}\b(?: (?:to|into|as|in|en|auf|for))?:? ?{_PORTS}")
_ONE_PORT = pattern(
    rf"\b(?:each|every|one|a|per|jeder|je|chaque|cada) (?:osfp |qsfp(?:-dd)? )?(?:{_RATE} )?(?:port|cage)s?(?: of {_RATE})?[^.;\d]{{0,30}}?\b{_SPLIT}\b(?: (?:to|into|as|in|en|auf))?:? ?{_COUNT} ?(?:[x×*] ?|ports? of ){_RATE}"
)


_SPLITS = ("split", "break", "brok", "divid", "fanned", "aufgeteilt", "aufgesplittet", "éclaté")
_TIMES = word_set("x × port ports cage cages link links")


def _names_split(text: str) -> bool:
    """Whether a text may state one rate as several, such as `400G as 4x 100G` or `ports split to`."""
    if has_word(text, frozenset(), _SPLITS):
        return True
    several = has_word(text, _TIMES) or any(
        each[0].isdigit() and ("x" in each or "×" in each) for each in words_of(text)
    )
    return several and has_word(text, frozenset({"as"}))


def check(remarks: str) -> Iterator[Problem]:
    if not remarks or not _names_split(remarks) or _CUES.search(remarks) is None:
        return
    text = " ".join(remarks.lower().split())
    for sentence in sentences_of(text):
        match, one = _BREAKOUT.search(sentence), _ONE_PORT.search(sentence)
        if match is not None:
            ports, rate, parts, part = count_in_text(match[1]), int(match[2]), count_in_text(match[3]), int(match[4])
            if (part <= rate and parts * part <= ports * rate) or "each" in match[0]:
                match = None
        if match is not None:
            message = f"`{match[0]}`: {ports:,} ports of {rate} Gb/s are {ports * rate:,} Gb/s, but {parts:,} of {part} Gb/s are {parts * part:,}"
            yield RULE.problem("description", message, f"count {ports * rate // part:,} ports of {part} Gb/s")
            return
        if one is not None and (whole := int(one[1] or one[2] or 0)) and count_in_text(one[3]) * int(one[4]) > whole:
            message = f"`{one[0]}`: a port of {whole} Gb/s has no lanes for {one[3]} of {one[4]} Gb/s"
            yield RULE.problem("description", message, f"count {whole // int(one[4])} ports of {one[4]} Gb/s for each")
            return
