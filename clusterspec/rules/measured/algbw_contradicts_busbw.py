"""The stated bus and algorithm bandwidths contradict each other.

## What it finds

`busbw` and `algbw` in one entry of `measured` or `acceptance`, whose ratio differs from the one in nccl-tests: 2 (n −
1) / n for an all-reduce on n ranks, (n − 1) / n for an all-gather, a reduce-scatter and an all-to-all, else 1. So does a sentence that turns one of them into the other by the
inverse of this factor.

## Why it matters

One of the bandwidths, the collective or the number of ranks is wrong.

## What to do

Copy both from one line of the log, or state only one.

## When to ignore it

Do not ignore it.

## Fires

```yaml measured[0].algbw
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
measured:
  - {collective: all-reduce, ranks: 8, size: 8 GiB, busbw: 475 GB/s, algbw: 240 GB/s}
```

```yaml description
clusterspec: 1
description: The 360 GB/s of bus bandwidth are 675 GB/s in the algbw column.
cluster: {platform: dgx-h100, nodes: 4}
acceptance:
  - {collective: all-reduce, nodes: 2, size: 8 GiB, busbw: 360 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
measured:
  - {collective: all-reduce, ranks: 8, size: 8 GiB, busbw: 475 GB/s, algbw: 271 GB/s}
```

## Sources

- The factors: https://github.com/NVIDIA/nccl-tests/blob/a0b82b2260cf5152b9f8c061bbf7eaf0ba096432/doc/PERFORMANCE.md
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.quantity import bus_factor
from clusterspec.rules.knowledge.written_numbers import NUMBER, number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.source import Path
from clusterspec.spec.model import AcceptanceSpec, MeasuredSpec, Spec
from clusterspec.standard import pattern
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "error")
ROUNDED = 0.02
_RATE = pattern(rf"{NUMBER} ?(G|T)B(?:/s|ps)\b")
_SCALE = {"G": 1e9, "T": 1e12}
_METRIC = pattern(r"(?i)\b(?:(bus ?bw|bus ?bandwidth|busbandbreite)|(alg ?bw|alg(?:orithm(?:ic)?)? ?bandwidth))")


def check(spec: Spec, cluster: Cluster, own_remarks: str) -> Iterator[Problem]:
    if not (spec.measured or spec.acceptance):
        return
    if "alg" in own_remarks.lower():
        yield from _turned_rates(spec, cluster, own_remarks)
    for at, entry in _bandwidth_entries(spec):
        ranks = entry.ranks or (entry.nodes or 0) * cluster.ranks_per_node
        if entry.busbw is None or entry.algbw is None or entry.collective is None or ranks < 2:
            continue
        ratio, right = entry.busbw.per_direction / entry.algbw.per_direction, bus_factor(entry.collective, ranks)
        if not isclose(ratio, right, rel_tol=ROUNDED):
            yield RULE.problem(
                (*at, "algbw"),
                f"{entry.busbw.written} is {plain(ratio)} times {entry.algbw.written}; {entry.collective} on {ranks:,} ranks has a factor of {plain(right, 4)}",
                "copy both from one line of the log, or state only one",
                related=[(".".join(map(str, (*at, "busbw"))), "the other figure")],
            )


def _turned_rates(spec: Spec, cluster: Cluster, remarks: str) -> Iterator[Problem]:
    """A sentence with a bus and an algorithm bandwidth, whose ratio is the inverse of the factor of a test."""
    entries = [each for _, each in _bandwidth_entries(spec)]
    runs = {(each.collective, each.ranks or (each.nodes or 0) * cluster.ranks_per_node) for each in entries}
    factors = {bus_factor(name, ranks) for name, ranks in runs if name is not None and ranks > 1} - {1.0}
    for pair in filter(None, map(_both_rates, sentences_of(remarks))):
        ratio = pair[0] / pair[1]
        turned = next((each for each in factors if isclose(1 / ratio, each, rel_tol=ROUNDED)), None)
        if turned is not None and not any(isclose(ratio, each, rel_tol=ROUNDED) for each in factors):
            bus, algorithm = (display(each, "B/s") for each in pair)
            message = f"{bus} of bus bandwidth are not {algorithm} of algorithm bandwidth but {display(pair[0] / turned, 'B/s')}: busbw is algbw × {plain(turned, 4)}"
            yield RULE.problem("description", message, "divide the bus bandwidth by the factor")
            return


def _both_rates(sentence: str) -> tuple[float, float] | None:
    """The bus and the algorithm bandwidth of a sentence in B/s; None unless it states one of each and no other.

    A metric belongs to the rate next to it.
    """
    rates = [(match, number_in_text(match[1]) * _SCALE[match[2]]) for match in _RATE.finditer(sentence)]
    if len({rate for _, rate in rates if rate}) != 2:
        return None
    found: dict[bool, set[float]] = {True: set(), False: set()}
    for metric in _METRIC.finditer(sentence):
        at, end = metric.span()
        found[metric[1] is not None].add(min(rates, key=lambda rate: max(at - rate[0].end(), rate[0].start() - end))[1])
    bus, algorithm = found[True], found[False]
    return (bus.pop(), algorithm.pop()) if len(bus) == len(algorithm) == 1 and bus != algorithm else None


def _bandwidth_entries(spec: Spec) -> Iterator[tuple[Path, MeasuredSpec | AcceptanceSpec]]:
    for index, seen in enumerate(spec.measured or ()):
        yield ("measured", index), seen
    for index, asked in enumerate(spec.acceptance or ()):
        yield ("acceptance", index), asked
