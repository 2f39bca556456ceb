"""The usable capacity in the text exceeds the raw capacity less its redundancy.

## What it finds

A sentence of the description or a comment with an erasure code or RAID of data and check blocks (`8+2`, `RAID 6 (8+2)`,
`EC 4+2`), mirrors (`RAID 1`, `RAID 10`, `three copies`), one raw and one usable capacity, where the usable one is above the
share of the data blocks.

## Why it matters

The storage system fills before the plan says. File systems, spare drives and rebuild space take 5 to 20 % more.

## What to do

Multiply the raw capacity by data over all blocks, and take off spares and the reserve of the file system.

## When to ignore it

Ignore it where compression or deduplication is counted in.

## Fires

```yaml description
clusterspec: 1
description: The store has 10 PB raw, with 8+2 erasure coding 9 PB usable.
cluster: {platform: dgx-h100, nodes: 16}
```

## Silent

```yaml
clusterspec: 1
description: The store has 10 PB raw, with 8+2 erasure coding 7.6 PB usable.
cluster: {platform: dgx-h100, nodes: 16}
```

## Sources

- Capacity with erasure coding: https://docs.ceph.com/en/latest/rados/operations/erasure-code/
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.readers.written_numbers import NUMBER, number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
ROUNDED = 1.02
"""Ratio up to which two capacities are equal, with rounding and mixed prefixes."""
_SIZE = rf"{NUMBER} ?(t|p)i?b\b"
_RAW_WORDS = r"(?:raw|gross|brutto|bruto|bruts?|brute|lord[oi]|rå|gesamt)"
_USABLE_WORDS = r"(?:usable|net|useable|effective|available to users|nutzbar\w*|netto|utilisables?|utiles?|útil\w*|utilizzabil\w*|neto)"
_RAW = pattern(
    rf"{_SIZE}(?: of)? {_RAW_WORDS}\b|\b{_RAW_WORDS}(?: capacity| kapazität)?(?: (?:is|of|von|de))?:? {_SIZE}"
)
_USABLE = pattern(
    rf"{_SIZE}(?: (?:of|are|is|sind|son|sont|remain|left))? {_USABLE_WORDS}\b|\b{_USABLE_WORDS}(?: capacity| kapazität)?(?: (?:is|of|von|de))?:? {_SIZE}"
)
_CODE = pattern(r"(?<![\w.+])(\d{1,2}) ?(?:\+|d ?\+) ?(\d)(?:p\b|(?![\w.,+]))")
_MIRROR = pattern(
    r"\b(?:raid ?-?1(?:0)?|mirror(?:ed|s|ing)?|two copies|2 copies|replica(?:tion)? (?:of )?2|gespiegelt|en miroir|espejo)\b"
)
_THREE = pattern(
    r"\b(?:three copies|3 copies|triple replication|(?:replication|replica(?: factor)?|copies) (?:of )?(?:3|three)|3-?(?:way|fold) replica\w*|drei kopien|trois copies|tres copias)\b"
)
_REDUCED = pattern(r"\b(?:compress\w*|dedup\w*|data reduction|similarity|effective|komprim\w*|compressi\w*)\b")
_CUES = pattern(r"(?i)\d ?\+ ?\d|\braid|\bmirror|\bcop(?:y|ies)\b|\breplica|kopien|copias|gespiegelt|miroir|espejo")
"""Pattern of redundancy; every text about a redundant storage system matches."""
_BYTES = ("tb", "tib", "pb", "pib")
_SCALE = {"t": 1e12, "p": 1e15}


def check(remarks: str) -> Iterator[Problem]:
    if not remarks or not any(unit in remarks.lower() for unit in _BYTES) or _CUES.search(remarks) is None:
        return
    for sentence in sentences_of(" ".join(remarks.lower().split())):
        if not any(unit in sentence for unit in _BYTES):
            continue
        if _REDUCED.search(sentence) is not None:
            continue
        share, raw, usable = data_share(sentence), _capacities(_RAW, sentence), _capacities(_USABLE, sentence)
        if share is None or len(raw) != 1 or len(usable) != 1:
            continue
        (whole,), (stated,) = raw, usable
        if whole * share * ROUNDED < stated < whole * ROUNDED:
            message = f"{display(whole, 'B')} raw leave {display(whole * share, 'B')} for data, but the text counts {display(stated, 'B')} as usable"
            yield RULE.problem("description", message, "buy more drives, or plan with less")
            return


def _capacities(setting: re.Pattern[str], sentence: str) -> set[float]:
    """The capacities of one kind in a sentence, in bytes."""
    found = setting.findall(sentence)
    return {number_in_text(a or c) * _SCALE[b or d] for a, b, c, d in found}


def data_share(sentence: str) -> float | None:
    """The share of the blocks of a redundant storage system that store data; None unless a sentence names exactly one
    scheme.

    >>> data_share("raid 6 (8+2)"), data_share("three copies"), data_share("4 + 2 erasure coding"), data_share("fast drives")
    (0.8, 0.3333333333333333, 0.6666666666666666, None)
    """
    codes = {(int(data), int(check)) for data, check in _CODE.findall(sentence) if int(check)}
    if len(codes) == 1:
        data, check = codes.pop()
        return data / (data + check)
    if codes:
        return None
    if _THREE.search(sentence) is not None:
        return 1 / 3
    return 0.5 if _MIRROR.search(sentence) is not None else None
