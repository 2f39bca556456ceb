"""The time that the text gives for a transfer is shorter than its bytes take at its rate.

## What it finds

Bytes, a rate of a link or of a storage system, and the time in which the text says that these bytes are written, read or copied
(`990 GB at 8 GB/s are in the store after 20 s`), where they take at least a sixth longer. The bytes may stand in the sentence
before; a checkpoint that goes to the store without a rate in the text has that of `networks.storage`. Times of pauses and of intervals, and rates of each of several parts, are not read.

Where the text states what is calculated (`that is 2 min`), a longer time is found as well.

## Why it matters

Intervals of checkpoints, restarts and start-up times of engines rest on such times. A store of 8 GB/s takes 2 min for 990 GB,
whatever the plan says.

## What to do

Divide the bytes by the rate, in the same unit: 1 GB/s are 8 Gb/s.

## When to ignore it

Ignore it where only a part of the bytes is sent in this time, and say so in the text.

## Fires

```yaml description
clusterspec: 1
description: A checkpoint has 990 GB. The store takes 8 GB/s of writes, so that the whole of it is in the store 20 s after the save begins.
cluster: {platform: dgx-h200, nodes: 16}
```

```yaml description
clusterspec: 1
description: Loading the 141 GB of weights over 40 Gb/s takes 15 s.
cluster: {platform: dgx-h200, nodes: 2}
```

## Silent

```yaml
clusterspec: 1
description: A checkpoint has 990 GB. Training pauses for 5 s; at the 8 GB/s of the store the write ends within 150 s, every 20 min.
cluster: {platform: dgx-h200, nodes: 16}
```

```yaml
clusterspec: 1
description: Loading the 141 GB of weights at 5 GB/s takes 40 s with the start of the processes.
cluster: {platform: dgx-h200, nodes: 2}
```

## Sources

- Arithmetic: bytes over bytes per second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.finding import Problem
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.text_loads import times_in
from clusterspec.rules.knowledge.written_numbers import NUMBER, number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
ROUNDED = 1 / 7
"""Part of the computed time by which a written one may be shorter: bytes and times are rounded in texts."""
LONGEST_SENTENCE = 600
"""Characters of a sentence that is read: a longer one has figures of several things."""
NEAR = 80
"""Characters around an amount whose words may say that each of several parts has it."""
FAR = 1.3
"""Factor by which a calculated time may be longer than bytes over rate, for rounding and overhead."""
_PREFIXES = {"k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_SECOND = r"(?:/ ?s(?:ec)?\b|ps\b| per second\b| a second\b| pro sekunde\b| par seconde\b| por segundo\b)"
_RATE = pattern(rf"(?i:{NUMBER} ?(?P<prefix>[kmgt])(?P<binary>i?)(?-i:(?P<unit>B|b)|(?:[Bb](?:yte|it)s?)){_SECOND})")
_SIZE = pattern(rf"{NUMBER} ?(?P<prefix>[MGTP])(?P<binary>i?)(?:B|bytes|Bytes)\b(?! ?(?:/|per second|a second))")
_PARTS = r"(?:node|gpu|nic|server|link|drive|disk|port|rank|client|instance|engine|replica|chip|host|accelerator|knoten|nœud|nodo)s?\b"
_EACH = pattern(
    rf"(?i)^[^,.;]{{0,20}}\b(?:per|each|every|a|an|pro|je|par|por|cada)[ -](?:{_PARTS}|million|step|token|request|month|day|hour)|^ ?(?:each|apiece|/ ?\w)"
)
"""Words after an amount of each of several parts."""
_EACH_BEFORE = pattern(rf"(?i)(?:[x×*] ?|\b(?:each|every|per|a) {_PARTS}(?: \w+){{0,4}} |\d )$")
_MOVES = pattern(
    r"(?i)\b(?:writ\w+|saves?|saved|saving|checkpoint\w*|loads?|loaded|loading|reads?|reading|cop(?:y|ies|ied|ying)|transfer\w*|stream\w*|restor\w+|"
    r"mov(?:e|es|ed|ing)|migrat\w+|upload\w*|download\w*|drain\w*|syncs?|synced|pull\w*|fetch\w*|stage[ds]?|staging|sends?|sent|takes?|flush\w*|dumps?|dumped|"
    r"schreib\w+|gespeichert|lädt|laden|geladen|kopier\w+|écri\w+|charg\w+|copi\w+|escrib\w+|carg\w+)\b"
)
_IN_PART = pattern(
    r"(?i)\b(?:pauses?|paused|stalls?|stalled|blocks?|blocked|stops?|waits?|delta|increment\w*|compress\w*|dedup\w*|changed|"
    r"share|fraction|quarter|third|half|first|per cent|percent|cached?|burst|overlap\w*|asynchron\w*|resum\w+|old|instead|not|would|pausier\w+|steht|"
    r"timeout|time-out|limit|heartbeat|lease|older|latency|window|interval)\b|%"
)
"""Words of times that are not of the whole transfer."""
_LONGEST_WITHIN = pattern(
    r"(?i)\b(?:in|within|inside|after|under|below|less than|at most|only|just|takes?|lasts?|needs?|by|dauert|braucht|nach|binnen|unter|en|après|dure|"
    r"tarda|después de|is done in|done in)(?: (?:about|some|roughly|around|only|just|under|less than|at most|a mere|no more than|etwa|rund|environ|unos))? ?(?:~|<|≤|≈)? ?$"
)
"""What stands before the time that a transfer takes at most."""
_TO_STORE = pattern(
    r"(?i)\b(?:checkpoint|snapshot|save)s?\b.*\b(?:stor(?:e|age)|file ?system|lustre|weka|vast|gpfs|speicher)\b"
)
_AFTER = pattern(r"(?i)^ (?:after|later|from|nach|après|después)\b")
_CALCULATED = pattern(
    r"(?i)(?:\b(?:that is|this is|which is|or|makes|i\.e\.|das sind|soit)|=|→|\()(?: (?:about|some|roughly|around|only|just))? ?(?:~|≈)? ?$"
)
"""What stands before a time that is calculated from the figures of the sentence."""


class Amount(NamedTuple):
    """An amount of a text in bytes or bytes per second, and its words; ``shared`` where each of several parts has it."""

    value: float
    words: str
    shared: bool


def check(own_remarks: str, networks: NetworksSpec | None) -> Iterator[Problem]:
    if not own_remarks or "B" not in own_remarks:
        return
    store = networks.storage if networks is not None else None
    before: Sequence[Amount] = ()
    for sentence in (each for each in sentences_of(own_remarks) if len(each) <= LONGEST_SENTENCE):
        sizes, rates = sizes_in(sentence), rates_in(sentence)
        size, rate = _whole_amount(sizes or before), _whole_amount(rates)
        if not rates and store is not None and store.bandwidth is not None and _TO_STORE.search(sentence) is not None:
            rate = Amount(
                store.bandwidth.value, f"{display(store.bandwidth.value, 'B/s')} of the storage system", False
            )
        before = sizes
        if size is None or rate is None or _MOVES.search(sentence) is None or _IN_PART.search(sentence) is not None:
            continue
        needed = size.value / rate.value
        for time in times_in(sentence):
            ahead = sentence[: time.start]
            calculated = _CALCULATED.search(ahead) is not None
            limited = _LONGEST_WITHIN.search(ahead) is not None or _AFTER.search(sentence[time.end :]) is not None
            short = time.value < (1 - ROUNDED) * needed and (calculated or limited)
            if short or (calculated and time.value > FAR * needed):
                written = sentence[time.start : time.end]
                message = (
                    f"{size.words} at {rate.words} take {display(needed, 's')}, and the text gives {written} for them"
                )
                yield RULE.problem("description", message, "correct the time, or plan for a faster link or store")
                return


def sizes_in(sentence: str) -> list[Amount]:
    """The sizes of a sentence, in bytes.

    >>> [each.value for each in sizes_in("0.99 TB at 8 GB/s, 16 GiB of it; 2 TB per node")]
    [990000000000.0, 17179869184.0, 2000000000000.0]
    """
    found = []
    for match in _SIZE.finditer(sentence):
        value = number_in_text(match[1]) * _byte_scale(match["prefix"], binary=bool(match["binary"]))
        found.append(Amount(value, match[0], _is_of_each(sentence, match.start(), match.end())))
    return found


def rates_in(sentence: str) -> list[Amount]:
    """The rates of a sentence, in bytes per second.

    >>> [(each.value, each.shared) for each in rates_in("40 Gb/s, 5 GB/s per node and 4 x 100 Gbit/s")]
    [(5000000000.0, False), (5000000000.0, True), (12500000000.0, True)]
    """
    found = []
    for match in _RATE.finditer(sentence):
        bits = match["unit"] == "b" or "bit" in match[0].lower()
        value = (
            number_in_text(match[1])
            * _byte_scale(match["prefix"].upper(), binary=bool(match["binary"]))
            / (8 if bits else 1)
        )
        found.append(Amount(value, match[0], _is_of_each(sentence, match.start(), match.end())))
    return found


def _byte_scale(prefix: str, *, binary: bool) -> float:
    return float((1024 if binary else 1000) ** _PREFIXES[prefix])


def _is_of_each(sentence: str, start: int, end: int) -> bool:
    before, behind = sentence[max(0, start - NEAR) : start], sentence[end : end + NEAR]
    return _EACH.search(behind) is not None or _EACH_BEFORE.search(before) is not None


def _whole_amount(amounts: Sequence[Amount]) -> Amount | None:
    """The one amount of a text, if it is that of the whole; None where there are several, or each part has one."""
    return (
        amounts[0]
        if len({each.value for each in amounts}) == 1 and not amounts[0].shared and amounts[0].value
        else None
    )
