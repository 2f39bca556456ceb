"""A tier of the cache is larger than the drives that the text gives it.

## What it finds

A sentence that counts the local drives of a node (`eight drives of 3.84 TB`), with their RAID level if it names one, where a
tier of `medium: nvme` states more bytes for each node than they hold: mirrored drives (RAID 1, RAID 10) hold half, RAID 5 one
drive less and RAID 6 two.

## Why it matters

The engine does not start with this tier, or fills the drives, and sessions that the plan keeps are computed again.

## What to do

Write the capacity that the drives have. A cache needs no mirroring: lost tokens are computed again.

## When to ignore it

Ignore it where the tier has more drives than the sentence counts.

## Fires

```yaml workload.serving.cache_tiers[0].capacity
clusterspec: 1
description: The eight U.2 drives of 3.84 TB in each server run as RAID 10 and hold the cache tier.
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 6000
    output_tokens: 400
    request_rate: 2
    session: {turns: 8, think_time: 2 min, growth: 600, shared_prefix: 1500}
    cache_tiers: [{medium: nvme, capacity: 28 TB, read: 40 GB/s}]
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
description: The eight U.2 drives of 3.84 TB in each server run as RAID 0 and hold the cache tier.
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 6000
    output_tokens: 400
    request_rate: 2
    session: {turns: 8, think_time: 2 min, growth: 600, shared_prefix: 1500}
    cache_tiers: [{medium: nvme, capacity: 28 TB, read: 40 GB/s}]
layout: {tp: 8}
```

## Sources

- Usable capacity by level: https://itandoffice.com/en/blogs/it-office-guides/comment-calculer-capacite-raid
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_at
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.passages import passages_of
from clusterspec.rules.readers.quotes.parts import BYTES
from clusterspec.rules.readers.written_numbers import are_close, number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
_DRIVE = r"(?:drives?|ssds?|disks?|nvmes?|laufwerken?|laufwerke|platten|disques?|discos?|unidades)"
_COUNTS = pattern(
    rf"(?<![\w.,-])(?<!raid )(?P<count>\d{{1,2}})(?: (?:[\w.,/-]{{1,12}} ){{0,5}}?{_DRIVE}\b| ?[x×] ?(?=\d)| (?:of|à|zu|mit|with|de) (?=\d{{1,5}}(?:[.,]\d{{1,3}})? ?[tg]i?[bo]\b)| of them\b| davon\b| d'entre eux\b)"
    rf"|\b(?:quantity|qty|number of {_DRIVE}|{_DRIVE}):? (?P<behind>\d{{1,2}})\b(?! ?[tg]i?[bo]\b|[.,]\d)|\d ?[tg]i?[bo][\w .]{{0,16}} ?[x×] ?(?P<after>\d{{1,2}})\b"
)
"""Pattern of a number of drives."""
_SIZES = pattern(
    r"(?<![\w.,-])(?:\d{1,2} ?[x×] ?)?(?P<size>\d{1,5}(?:[.,]\d{1,3})?) ?(?P<unit>tb|tib|gb|gib|to|go)\b(?!/s|ps)"
)
_RAID = pattern(r"\braid[ -]?(?P<level>0|1|5|6|10)\b|\b(?:mirror\w*|in pairs|gespiegelt\w*|spiegel\w*|miroir|espejo)\b")
_OF_CACHE = pattern(r"\b(?:kv|\w*cach[eé]s?|cach[eé]-?\w*|tier|stufe|étage|nivel)\b")
_DRIVES = pattern(
    rf"\b(?:{_DRIVE}|them|they|these|u\.2|raid|mirror\w*|strip\w+|sie|davon|gespiegelt\w*)\b|\d ?[tg]i?[bo]\b"
)
"""Pattern of words in a sentence about the drives of the cache."""
_OTHER_USE = pattern(
    r"\b(?:checkpoints?|datasets?|boots?|os|(?:operating )?system|scratch|logs?|journal|betriebssystem|démarrage|elsewhere)\b"
)
_DENIED = pattern(
    r"\b(?:not|no|never|would|could|without|instead|than|halves?|if|nicht|kein\w*|ohne|würde|statt|pas|sans|sin)\b"
)
SAME = 0.02
"""Relative difference up to which sizes are the same."""
LEAST, MOST = 0.2e12, 130e12
"""Sizes in bytes of the smallest and the largest drive that is read."""


class Drives(NamedTuple):
    """The drives of a cache in a text: their number, the size of each as written and in bytes, and the RAID level."""

    number: int
    written: str
    size: float
    level: int | None

    @property
    def held(self) -> float:
        """The bytes of data that the drives can store."""
        return _drives_for_data(self.number, self.level) * self.size


def check(written_workload: WorkloadSpec, own_remarks: str | None) -> Iterator[Problem]:
    tiers = written_workload.serving.cache_tiers if written_workload.serving is not None else None
    if not tiers or not own_remarks:
        return
    local = [(index, tier.capacity) for index, tier in enumerate(tiers) if tier.medium == "nvme"]
    for index, capacity in local:
        drives = None
        if len(local) == 1 and capacity is not None:
            drives = drives_of_cache(own_remarks[:MOST_CHARACTERS].lower(), capacity)
        if drives is not None and capacity is not None and drives.held * (1 + SAME) < capacity.value:
            mirrored = f" in RAID {drives.level}" if drives.level is not None else ""
            message = f"{drives.number} drives of {drives.written.upper()}{mirrored} hold {display(drives.held, 'B')} according to the text, but the tier has {capacity.written}"
            at = ("workload", "serving", "cache_tiers", index, "capacity")
            yield RULE.problem(at, message, "write the capacity of the drives")


def drives_of_cache(text: str, capacity: Quantity) -> Drives | None:
    """The drives that a lowercase text gives the cache, by the first sentence with their number and size, else by two
    successive sentences. None without such drives, or if their size is unclear.
    """
    for passage in passages_of(text):
        if not any(_OF_CACHE.search(each) and _DRIVES.search(each) for each in sentences_of(passage)):
            continue
        count = _number_of_drives(passage)
        sizes = {
            (match["size"], match["unit"]): _bytes(match["size"], match["unit"]) for match in _SIZES.finditer(passage)
        }
        drive = {
            written: size
            for written, size in sizes.items()
            if LEAST <= size <= MOST
            and not are_close(size, capacity.value, SAME)
            and not are_close(size, count * max(sizes.values()), SAME)
        }
        sums = {size * number for size in drive.values() for number in range(2, count + 1)}
        drive = {
            written: size for written, size in drive.items() if not any(are_close(size, each, SAME) for each in sums)
        }
        if count and drive:
            written, size = max(drive.items(), key=lambda each: each[1])
            return Drives(count, " ".join(written), size, _level(passage))
    return None


def _bytes(digits: str, unit: str) -> float:
    return number_in_text(digits) * BYTES[unit.replace("o", "b")]


def _number_of_drives(passage: str) -> int:
    """The number of drives of the cache: in a clause about it, else the largest in a passage; 0 without one."""
    found = []
    for match in _COUNTS.finditer(passage):
        clause = clause_at(passage, *match.span())
        if _OTHER_USE.search(clause) is None and _DENIED.search(clause) is None:
            number = int(match["count"] or match["behind"] or match["after"])
            found.append((number, _OF_CACHE.search(clause) is not None))
    of_cache = {number for number, is_of_cache in found if is_of_cache}
    return max(of_cache or {number for number, _ in found}, default=0)


def _level(passage: str) -> int | None:
    """The RAID level that a passage states: 1 for mirrored drives; None without one.

    >>> _level("raid 10 over 8 drives"), _level("a mirror would halve them"), _level("striped")
    (10, None, None)
    """
    for found in _RAID.finditer(passage):
        if _DENIED.search(clause_at(passage, *found.span())) is None:
            return int(found["level"] or 1)
    return None


def _drives_for_data(drives: int, level: int | None) -> float:
    """The number of drives that remain for data with a RAID level.

    >>> [_drives_for_data(8, level) for level in (None, 0, 1, 5, 6, 10)]
    [8, 8, 4.0, 7, 6, 4.0]
    """
    return {1: drives / 2, 10: drives / 2, 5: drives - 1, 6: drives - 2}.get(level if level is not None else 0, drives)
