"""A tier of the cache is larger than the drives that the text gives it.

## What it finds

A sentence that counts the local drives of a node (`eight drives of 3.84 TB`), with their RAID level if it names one, where a
tier of `medium: nvme` states more bytes for each node than they hold: mirrored drives (RAID 1, RAID 10) hold half, RAID 5 one
drive less and RAID 6 two.

## Why it matters

The engine does not start with this tier, or fills the drives, and sessions that the plan keeps are computed again.

## What to do

Write the capacity that the drives have. A cache needs no mirroring: what is lost is computed again.

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
from clusterspec.rules.knowledge.quoted_parts import BYTES
from clusterspec.rules.knowledge.text_units import NUMBER_WORDS
from clusterspec.rules.knowledge.written_numbers import (
    NUMBER,
    count_in_text,
    number_in_text,
    sentences_of,
)
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
_COUNT = rf"(?<![\w.,])(\d{{1,2}}|{'|'.join(NUMBER_WORDS)})"
_DRIVES = pattern(
    rf"{_COUNT} (?:[\w.-]{{1,12}} ){{0,3}}?(?:drives?|ssds?|disks?|nvmes?) (?:of|with|à) {NUMBER} ?(tb|tib|gb|gib)\b|"
    rf"{_COUNT} ?[x×] {NUMBER} ?(tb|tib|gb|gib) (?:[\w.-]{{1,12}} ){{0,2}}?(?:drives?|ssds?|disks?|nvme)\b"
)
_RAID = pattern(r"\braid[ -]?(0|1|5|6|10)\b|\b(mirror\w*)\b")
_OF_CACHE = pattern(r"\b(?:cache|tier|kv)\b")
SAME = 0.02
"""Relative difference up to which sizes are the same."""


def check(written_workload: WorkloadSpec, own_remarks: str | None) -> Iterator[Problem]:
    tiers = written_workload.serving.cache_tiers if written_workload.serving is not None else None
    if not tiers or not own_remarks:
        return
    local = [(index, tier.capacity) for index, tier in enumerate(tiers) if tier.medium == "nvme"]
    for sentence in sentences_of(own_remarks.lower()):
        found = _DRIVES.search(sentence) if _OF_CACHE.search(sentence) is not None else None
        if found is None or len(local) != 1:
            continue
        count, size, unit = next(group for group in (found.groups()[:3], found.groups()[3:]) if group[0])
        drives = count_in_text(count)
        level = _level(sentence)
        held = _drives_for_data(drives, level) * number_in_text(size) * BYTES[unit]
        index, capacity = local[0]
        if capacity is not None and held * (1 + SAME) < capacity.value:
            mirrored = f" in RAID {level}" if level is not None else ""
            message = f"{drives} drives of {size} {unit.upper()}{mirrored} hold {display(held, 'B')} according to the text, and the tier has {capacity.written}"
            at = ("workload", "serving", "cache_tiers", index, "capacity")
            yield RULE.problem(at, message, "write the capacity of the drives")
            return


def _level(sentence: str) -> int | None:
    """The RAID level that a sentence names: 1 for mirrored drives; None without one."""
    found = _RAID.search(sentence)
    return None if found is None else int(found[1] or 1)


def _drives_for_data(drives: int, level: int | None) -> float:
    """How many drives' worth of data a RAID level leaves.

    >>> [_drives_for_data(8, level) for level in (None, 0, 1, 5, 6, 10)]
    [8, 8, 4.0, 7, 6, 4.0]
    """
    return {1: drives / 2, 10: drives / 2, 5: drives - 1, 6: drives - 2}.get(level if level is not None else 0, drives)
