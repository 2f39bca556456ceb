"""A bandwidth is called neither bus bandwidth nor algorithm bandwidth.

## What it finds

A measured entry with neither `busbw`, `algbw` nor a log; and a bandwidth of a collective in `description` that is not
called either, and that no acceptance test or measurement states.

## Why it matters

Bus bandwidth is algorithm bandwidth times 2 (n − 1) / n for an all-reduce: the two differ by a factor of 1.97 on 64
ranks, so "240 GB/s" may be a faulty fabric or a sound one.

## What to do

State `busbw` or `algbw`, as nccl-tests prints them, with ranks and size.

## When to ignore it

Ignore it where the text says elsewhere which of the two it means.

## Fires

```yaml measured[0]
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
measured:
  - {collective: all-reduce, nodes: 4, size: 8 GiB}
```

```yaml description
clusterspec: 1
description: the all-reduce must reach 370 GB/s on four nodes
cluster: {platform: dgx-h100, nodes: 4}
```

## Silent

```yaml
clusterspec: 1
description: the all-reduce must reach 370 GB/s of bus bandwidth on four nodes
cluster: {platform: dgx-h100, nodes: 4}
measured:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 370 GB/s}
```

## Sources

- The two bandwidths: https://github.com/NVIDIA/nccl-tests/blob/a0b82b2260cf5152b9f8c061bbf7eaf0ba096432/doc/PERFORMANCE.md
- Taken for each other: https://github.com/NVIDIA/nccl-tests/issues/212 https://github.com/NVIDIA/nccl-tests/issues/159
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning")
HELP = "state `busbw` or `algbw`, as nccl-tests prints them, with ranks and size"
_RATE = pattern(r"(?<![\d.])(\d{1,5}(?:\.\d{1,3})?) ?(?:GB/s|GBps|GB/sec|gbps)\b")
"""Pattern of a rate in bytes; rates of links are written in bits."""
_COLLECTIVE = pattern(r"\b(?:all[- _]?reduce|all[- _]?gather|reduce[- _]?scatter|all[- _]?to[- _]?all)", re.IGNORECASE)
_OF_LINKS = pattern(
    r"\b(?:links?|lanes?|ports?|nics?|adapters?|wires?|line rate|per direction|receives?|pcie|hbm\w*|memory|drives?|store|file system)\b",
    re.IGNORECASE,
)
"""Words of a sentence whose rate belongs to links, memory or a storage system."""
_METRIC = pattern(r"\b(?:busbw|algbw|bus|algorithm)\b", re.IGNORECASE)


def check(spec: Spec) -> Iterator[Problem]:
    if not (spec.measured or spec.description):
        return
    for index, entry in enumerate(spec.measured or ()):
        at = ("measured", index)
        links = (entry.busbw, entry.algbw, entry.log)
        jobs = (entry.gemm_rate, entry.step_time, entry.step_log, entry.tpot, entry.load_test)
        if not (any((*links, *jobs)) or spec.unreadable(at)):
            yield RULE.problem(at, "the measurement has no `busbw`, no `algbw` and no log", HELP)
    text = spec.description or ""
    if (
        "gb" in text.casefold()
        and _COLLECTIVE.search(text)
        and not _METRIC.search(text)
        and _has_rate(text, _stated_rates(spec))
    ):
        what = "the text gives the rate of a collective, but neither as bus bandwidth nor as algorithm bandwidth"
        yield RULE.problem(("description",), what, HELP)


def _stated_rates(spec: Spec) -> set[float]:
    """The bandwidths of tests and measurements, in bytes per second."""
    tests = [(each.busbw, each.algbw) for each in spec.acceptance or ()]
    measured = [(each.busbw, each.algbw) for each in spec.measured or ()]
    return {rate.value for each in (*tests, *measured) for rate in each if rate is not None}


def _has_rate(text: str, stated: Collection[float] = ()) -> bool:
    """Whether a sentence that names a collective, or the one after it, has a rate in bytes per second that is not ``stated``
    and not of links, memory or a store.

    >>> _has_rate("It does all-reduces. Over seven links it sends 896 GB/s."), _has_rate("The all-reduce reaches 370 GB/s.")
    (False, True)
    >>> _has_rate("The all-reduce reaches 370 GB/s.", {370e9})
    False
    """
    from clusterspec.rules.readers.written_numbers import sentences_of  # most texts name no collective

    sentences = sentences_of(text)
    near = [index for index, each in enumerate(sentences) if _COLLECTIVE.search(each)]
    read = [each for index in near for each in sentences[index : index + 2] if _OF_LINKS.search(each) is None]
    return any(float(rate) * 1e9 not in stated for each in read for rate in _RATE.findall(each))
