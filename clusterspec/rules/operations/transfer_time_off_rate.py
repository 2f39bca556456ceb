"""The time that the text gives for a transfer is shorter than its bytes take at its rate.

## What it finds

A text that states bytes, a rate of a link or of a storage system, and the time to write, read or copy these bytes (`990
GB at 8 GB/s are in the store after 20 s`), if they take at least a sixth longer than stated. The bytes and the rate may
be in sentences before; a rate of each of several ports counts for all of them; a checkpoint without a rate in the text
is written at the rate of `networks.storage`. Times of pauses and of intervals, and rates of each of several parts, are
not read.

Where the text states the time as a result (`that is 2 min`), the rule also reports a time that is too long.

## Why it matters

Intervals of checkpoints, restarts and start-up times of engines rest on such times. A storage system of 8 GB/s takes 2
min for 990 GB.

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
from clusterspec.rules.readers.amounts import BYTES, COUNT, RATE, TIME, amounts_in
from clusterspec.rules.readers.clauses import clause_at, planned_text
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.results.explanations import Claim, is_explained
from clusterspec.rules.readers.subjects import is_capacity_of_store
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
ROUNDED = 1 / 7
"""Share by which a written time may be below the computed one, because texts round bytes and times."""
LONGEST_SENTENCE = 600
"""Largest number of characters in a sentence that is read; longer sentences have figures for several things."""
NEAR = 80
"""Number of characters around an amount that are searched for words that make it one of each of several parts."""
FAR = 1.3
"""Factor by which a calculated time may be longer than bytes over rate, for rounding and overhead."""
OF_A_FIGURE = 100.0
"""Bytes that one parameter or number takes, and no transfer: `405 billion parameters at 14 bytes each, 5.67 TB`."""
_PARTS = r"(?:node|gpu|nic|server|link|drive|disk|port|rank|client|instance|engine|replica|chip|host|accelerator|knoten|nœud|nodo)s?\b"
_EACH = pattern(
    rf"(?i)^(?: ?(?:a|an)[ -]|[^,.;]{{0,20}}\b(?:per|each|every|pro|je|par|por|cada)[ -])(?:{_PARTS}|[tg]i?b\b|million|step|token|request|month|day|hour)|^ ?(?:each|apiece|/ ?\w)"
)
"""Pattern of words after an amount that say that each of several parts has it."""
_EACH_BEFORE = pattern(rf"(?i)(?:[x×*] ?|\b(?:each|every|per|a) {_PARTS}(?: \w+){{0,4}} |\d |\bje )$")
_LINKS = ("port", "link", "nic", "lane", "verbindung", "lien")
"""Beginnings of the names of parts that a transfer uses at the same time."""
_SIZE_SIGNS = ("B", "Go", "To", "yte", "ctet", "bit")
_MOVES = pattern(
    r"(?i)\b(?:writ\w+|saves?|saved|saving|checkpoint\w*|loads?|loaded|loading|reads?|reading|cop(?:y|ies|ied|ying)|transfer\w*|stream\w*|restor\w+|"
    r"mov(?:e|es|ed|ing)|migrat\w+|upload\w*|download\w*|drain\w*|syncs?|synced|pull\w*|fetch\w*|stage[ds]?|staging|sends?|sent|takes?|ready|done|absorbs?|accepts?|reach\w*|cross\w*|enough|bring|comes?|arriv\w+|cold start|over|through|flush\w*|dump\w*|full rate|line rate|"
    r"schreib\w+|geschrieben|gespeichert|lädt|laden|geladen|kopier\w+|kommen|drüben|übertrag\w+|voller rate|sicher\w*|sicherung|écri\w+|charg\w+|copi\w+|escrib\w+|carg\w+)\b"
)
_IN_PART = pattern(
    r"(?i)\b(?:delta|increment\w*|compress\w*|dedup\w*|changed|share|fraction|quarter|third|half|per cent|percent|cached?|burst|overlap\w*|asynchron\w*|in parallel|already)\b|%"
)
"""Pattern of words in a sentence whose time does not cover the whole size."""
_OTHER_TIME = pattern(
    r"(?i)\b(?:pauses?|paused|stalls?|stalled|blocks?|blocked|stops?|waits?|first|resum\w+|go(?:es)? on|continues?|old|instead|not|pausier\w+|steht|"
    r"tim(?:es?|ed) out|time-?out|limit|heartbeat|lease|older|latency|window|interval|every|each|per|hourly|notice|alle|toutes|wartet|attend)\b"
)
"""Pattern of words in a clause whose time is not the time of the transfer."""
_OTHER_SOURCE = pattern(r"(?i)\b(?:local|nvme|host memory|ram|peers?|page cache|training|lokal\w*)\b")
"""Pattern of words in a sentence that is not about the link of the previous sentence."""
_TO_STORE = pattern(
    r"(?i)\b(?:checkpoint|snapshot|save)s?\b.*\b(?:stor(?:e|age)|file ?system|lustre|weka|vast|gpfs|speicher)\b"
)
_THING = pattern(
    r"(?i)\b(?:(checkpoint|snapshot|sicherung|sauvegarde|salvataggio|guardado)|(weight|gewicht|poids|peso|pesi)|(data ?set|corpus|datensatz|jeu de données|conjunto de datos)|(image|abbild)|(cache))"
)
"""Pattern of a thing that is moved; each group has its names in several languages."""
_CALCULATED = pattern(
    r"(?i)(?:\b(?:that is|this is|which is|or|makes|i\.e\.|das sind|soit)|=|→|\()(?: (?:about|some|roughly|around|only|just))? ?(?:~|≈)? ?$"
)
"""Pattern of the text before a time that is calculated from the figures in the sentence."""


class SizeOrRate(NamedTuple):
    """An amount in bytes or bytes per second, with its words; ``shared`` if each of several parts has it."""

    value: float
    words: str
    shared: bool


def check(own_remarks: str, networks: NetworksSpec | None) -> Iterator[Problem]:
    if not own_remarks or not any(each in own_remarks for each in _SIZE_SIGNS):
        return
    store = networks.storage if networks is not None else None
    before: tuple[Sequence[SizeOrRate], Sequence[SizeOrRate], str] = ((), (), "")
    for written in sentences_of(" ".join(own_remarks.split())):
        sentence = planned_text(written[:LONGEST_SENTENCE])
        sizes, rates = sizes_or_rates_in(sentence, BYTES, moved=True), sizes_or_rates_in(sentence, RATE)
        goes_on = _OTHER_SOURCE.search(sentence) is None
        size = _whole_amount(sizes or (before[0] if goes_on or rates else ()))
        rate = _whole_amount(rates or (before[1] if goes_on else ()))
        moves = f"{before[2]} {sentence}" if sizes or rates else sentence
        if (
            rate is None
            and not rates
            and store is not None
            and store.bandwidth is not None
            and _TO_STORE.search(sentence)
        ):
            rate = SizeOrRate(
                store.bandwidth.value, f"{display(store.bandwidth.value, 'B/s')} of the storage system", False
            )
        timed = sizes and rates and any(each.kind == TIME for each in amounts_in(sentence))
        ends = timed or not (sizes or rates)
        before = ((), (), "") if ends else (sizes or before[0], rates or before[1], sentence)
        if size is None or rate is None or _MOVES.search(moves) is None:
            continue
        claim = _wrong_time(sentence, size, rate, calculated=bool(sizes and rates))
        text = own_remarks[:MOST_CHARACTERS]
        if claim is None or _is_of_named_thing(claim, sentence, size, rate, text):
            continue
        if not (_is_of_another(claim, rate, text) or is_explained(claim, text, ())):
            message = f"{claim.figures} take {claim.right}, but the text gives {claim.stated} for them"
            yield RULE.problem("description", message, "correct the time, or plan for a faster link or store")
            return


def _wrong_time(sentence: str, size: SizeOrRate, rate: SizeOrRate, *, calculated: bool = False) -> Claim | None:
    """The only time of a sentence, if it is shorter than the transfer takes or, if ``calculated``, too long; else None.

    >>> _wrong_time("the load takes 5 s", SizeOrRate(100e9, "100 GB", False), SizeOrRate(10e9, "10 GB/s", False))
    Claim(stated='5 s', right='10 s', figures='100 GB at 10 GB/s')
    """
    times = [each for each in amounts_in(sentence) if each.kind == TIME]
    for each in times:
        sentence = f"{sentence[: each.start]}{' ' * (each.end - each.start)}{sentence[each.end :]}"
    own = [each for each in times if _OTHER_TIME.search(clause_at(sentence, each.start, each.end)) is None]
    if len(own) != 1 or _IN_PART.search(sentence) is not None:
        return None
    (time,), needed = own, size.value / rate.value
    calculated = calculated and _CALCULATED.search(sentence[: time.start]) is not None
    if time.value < (1 - ROUNDED) * needed or (calculated and time.value > FAR * needed):
        return Claim(time.written, display(needed, "s"), f"{size.words} at {rate.words}")
    return None


def _is_of_another(claim: Claim, rate: SizeOrRate, text: str) -> bool:
    """Whether another amount of a text takes a stated time at the same rate.

    >>> text = "A checkpoint has 101 GB. The data take 240 GB; a checkpoint is written in a good 5 s at 20 GB/s."
    >>> _is_of_another(Claim("5 s", "12 s", "240 GB at 20 GB/s"), SizeOrRate(20e9, "20 GB/s", False), text)
    True
    """
    times = [each.value for each in amounts_in(claim.stated) if each.kind == TIME]
    amounts = [each.value for sentence in sentences_of(text) for each in sizes_or_rates_in(sentence, BYTES)]
    return any(abs(amount / rate.value / time - 1) <= ROUNDED for time in times if time for amount in amounts)


def _is_of_named_thing(claim: Claim, sentence: str, size: SizeOrRate, rate: SizeOrRate, text: str) -> bool:
    """Whether the clause of a time names a thing whose own size, stated elsewhere in the text, is moved in that time.

    >>> text = "A checkpoint has 112 GB. The store keeps 19 TB and writes 2.4 GB/s, so that a checkpoint is written within 2 min."
    >>> claim = Claim("2 min", "2.2 h", "19 TB at 2.4 GB/s")
    >>> _is_of_named_thing(claim, text[25:], SizeOrRate(19e12, "19 TB", False), SizeOrRate(2.4e9, "", False), text)
    True
    """
    at = sentence.find(claim.stated)
    things = _things_in(clause_at(sentence, at, at + len(claim.stated))) if at >= 0 else set()
    limit = max((each.value for each in amounts_in(claim.stated) if each.kind == TIME), default=0.0)
    for each in amounts_in(text) if things else ():
        fits = each.kind == BYTES and each.value != size.value and each.value * (1 - ROUNDED) <= limit * rate.value
        if fits and each.value >= OF_A_FIGURE and things & _things_in(clause_at(text, each.start, each.end)):
            return True
    return False


def _things_in(clause: str) -> set[int | None]:
    """The things that a clause names, as the groups of `_THING`."""
    return {match.lastindex for match in _THING.finditer(clause)}


def sizes_or_rates_in(sentence: str, kind: str, *, moved: bool = False) -> list[SizeOrRate]:
    """The sizes or the rates in a sentence; a rate per part is multiplied by the stated number of parts. With ``moved``,
    without the capacities of stores.

    >>> [each.value for each in sizes_or_rates_in("0.99 TB at 8 GB/s, 16 GiB of it; 2 TB per node", BYTES)]
    [990000000000.0, 17179869184.0, 2000000000000.0]
    >>> [each.value for each in sizes_or_rates_in("405 billion parameters at 14 bytes, 5.67 TB", BYTES)]
    [5670000000000.0]
    >>> sizes_or_rates_in("The file system has 19.2 TiB", BYTES, moved=True)
    []
    >>> [(each.value, each.shared) for each in sizes_or_rates_in("40 Gb/s, 5 GB/s per node and 4 x 100 Gbit/s", RATE)]
    [(5000000000.0, False), (5000000000.0, True), (12500000000.0, True)]
    >>> [(each.value, each.shared) for each in sizes_or_rates_in("over two ports of 100 Gbit/s each", RATE)]
    [(25000000000.0, False)]
    """
    amounts = amounts_in(sentence)
    counts = [each for each in amounts if each.kind == COUNT and each.words and each.words[0].startswith(_LINKS)]
    found = []
    for each in amounts:
        if moved and is_capacity_of_store(sentence, each.start, each.end):
            continue
        if each.kind == kind and each.value and not (kind == BYTES and each.value < OF_A_FIGURE):
            shared = _is_of_each(sentence, each.start, each.end)
            number = (
                counts[0].value if shared and kind == RATE and len(counts) == 1 and counts[0].end < each.start else 1.0
            )
            words = each.written if number == 1 else f"{number:g} x {each.written}"
            found.append(SizeOrRate(number * each.value, words, shared and number == 1))
    return found


def _is_of_each(sentence: str, start: int, end: int) -> bool:
    before, behind = sentence[max(0, start - NEAR) : start], sentence[end : end + NEAR]
    return _EACH.search(behind) is not None or _EACH_BEFORE.search(before) is not None


def _whole_amount(flows: Sequence[SizeOrRate]) -> SizeOrRate | None:
    """The only amount in a text, if it is the amount of the whole; None if there are several or it is one per part."""
    one = len({each.value for each in flows}) == 1 and not flows[0].shared
    return flows[0] if one else None
