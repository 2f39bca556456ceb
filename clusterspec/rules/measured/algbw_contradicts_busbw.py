"""The stated bus and algorithm bandwidths contradict each other.

## What it finds

`busbw` and `algbw` in one entry of `measured` or `acceptance`, whose ratio differs from the one in nccl-tests: 2 (n −
1) / n for an all-reduce on n ranks, (n − 1) / n for an all-gather, a reduce-scatter and an all-to-all, else 1. The rule
also reports a text that states both with another ratio, or converts one into the other by the inverse of this factor.

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

import re
from collections.abc import Iterator, Sequence
from math import isclose

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.quantity import bus_factor
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.passages import passages_of
from clusterspec.rules.readers.written_numbers import NUMBER, number_in_text
from clusterspec.rules.rule import Rule
from clusterspec.source import Path
from clusterspec.spec.model import AcceptanceSpec, MeasuredSpec, Spec
from clusterspec.standard import pattern
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "error")
ROUNDED = 0.02
_RATES = pattern(
    rf"(?i){NUMBER}(?: ?(?P<scale>[GT])(?:i?B|o|byte)(?:/s|ps| per second| pro sekunde| par seconde))?(?!\w|[.,%]\w| ?%| ?(?:[KMGT]i?B|ranks?|gpus?|nodes?|%|x\b|times|factor))"
)
"""Pattern of rates, and of numbers without a unit, which are rates if they are next to a metric."""
_SCALE = {"g": 1e9, "t": 1e12}
_METRICS = pattern(
    r"(?i)\b(?:(?P<bus>bus[- ]?bw|bus(?:[- ]?(?:bandwidth|bandbreite)|(?= ?[,;.)/:]| ?$))|bandwidth of the bus|(?:bande passante|débit) (?:de |du )?bus|ancho de banda de bus)"
    r"|(?P<algorithm>alg(?:o|orithm(?:ic)?|orithmus)?[- ]?(?:bw|bandwidth|bandbreite)|alg(?= ?[,;.)/:]| ?$)|(?:bande passante|débit) (?:de l['’])?algorithm\w*))(?:\b|(?<=\W))"
)
_RANKS = pattern(
    r"(?i)(?<![\w.,])(?P<count>\d{1,6}|one|a|a single|single) (?P<unit>ranks?|gpus?|accelerators?|processes|nodes?|nœuds|noeuds|knoten|ränge|rangs|nodos)\b"
)
_COLLECTIVES = {
    "all-reduce": ("all-reduce", "allreduce", "all_reduce", "all reduce"),
    "all-gather": ("all-gather", "allgather", "all_gather", "all gather"),
    "reduce-scatter": ("reduce-scatter", "reducescatter", "reduce_scatter"),
    "all-to-all": ("all-to-all", "alltoall", "all_to_all", "alltoall"),
    "broadcast": ("broadcast",),
}
_FACTORS = pattern(
    r"(?i)\b(?P<result>bus|alg)(?:[- ]?bw|[- ]?bandwidth|orithm bandwidth|o ?bw) ?(?:=|is|are) ?(?:the )?(?P<operand>bus|alg)(?:[- ]?bw|[- ]?bandwidth|orithm bandwidth|o ?bw) ?(?P<sign>[x×*/÷]|times|multiplied by|divided by|over) ?(?P<factor>\d(?:[.,]\d{1,4})?)\b"
    r"|\bfrom (?P<source>bus|alg)\w*(?: bandwidth)? to (?P<target>bus|alg)\w*(?: bandwidth)?,? (?:we |one |you )?(?P<verb>multipl\w+|divid\w+)(?: it)? by (?P<by>\d(?:[.,]\d{1,4})?)\b"
)
"""Pattern of a formula that converts one bandwidth into the other."""
_OF_SIZE = pattern(r"(?i)(?<![\w.,])\d{1,4} ?[KMG]i?B\b(?!/s|ps)")
_DENIED = pattern(
    r"(?i)\b(?:not|never|wrong|instead|would|nicht|pas|at least|at most|between|older?|previous|ideal|target of|peak)\b"
)


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


class Bandwidths(NamedTuple):
    """The only bus bandwidth and the only algorithm bandwidth in a passage, in B/s."""

    bus: float
    algorithm: float


def _turned_rates(spec: Spec, cluster: Cluster, remarks: str) -> Iterator[Problem]:
    """Problems of a passage in which the ratio of bus and algorithm bandwidth, or the stated factor between them, fits
    no test.
    """
    entries = [each for _, each in _bandwidth_entries(spec)]
    for passage in passages_of(remarks[:MOST_CHARACTERS]):
        factor = stated_factor(passage)
        pair = bandwidths_in(passage) if not factor else None
        ratio = pair.bus / pair.algorithm if pair is not None else factor
        factors = _factors(passage, _runs(entries, pair, cluster), cluster) if ratio else []
        if not ratio or not factors or any(isclose(ratio, each, rel_tol=ROUNDED) for each in factors):
            continue
        if pair is not None:
            right = display(pair.bus / factors[0], "B/s")
            message = f"{display(pair.bus, 'B/s')} of bus bandwidth are not {display(pair.algorithm, 'B/s')} of algorithm bandwidth but {right}: busbw is algbw × {plain(factors[0], 4)}"
        elif any(isclose(1 / ratio, each, rel_tol=ROUNDED) for each in factors):
            message = f"by the text, busbw is algbw × {plain(ratio, 4)}; it is algbw × {plain(factors[0], 4)}"
        else:
            continue
        yield RULE.problem("description", message, "divide the bus bandwidth by the factor")
        return


def _runs(
    entries: Sequence[MeasuredSpec | AcceptanceSpec], pair: Bandwidths | None, cluster: Cluster
) -> list[tuple[str | None, int]]:
    """The collectives of entries with their ranks, in the order of the spec, but first those with a bandwidth of the
    pair.
    """
    rates = (pair.bus, pair.algorithm) if pair is not None else ()

    def has_rate(entry: MeasuredSpec | AcceptanceSpec) -> bool:
        stated = [each.per_direction for each in (entry.busbw, entry.algbw) if each is not None]
        return any(isclose(one, other, rel_tol=ROUNDED) for one in stated for other in rates)

    ordered = sorted(entries, key=has_rate, reverse=True)
    return list(
        dict.fromkeys((each.collective, each.ranks or (each.nodes or 0) * cluster.ranks_per_node) for each in ordered)
    )


def _factors(passage: str, runs: Sequence[tuple[str | None, int]], cluster: Cluster) -> list[float]:
    """The factors from algorithm to bus bandwidth for the collectives and numbers of ranks of the entries and of a
    passage.
    """
    folded = passage.lower()
    named = {name for name, words in _COLLECTIVES.items() if any(word in folded for word in words)}
    here = set()
    for match in _RANKS.finditer(passage):
        per_unit = cluster.ranks_per_node if match["unit"][0] in "nNkK" else 1
        here.add((int(match["count"]) if match["count"].isdigit() else 1) * per_unit)
    if len(here) > 1:
        return []  # two runs
    ranks = [*(count for _, count in runs), *here]
    names = {name for name, _ in runs if name is not None} | named
    return [bus_factor(name, count) for name in sorted(names) for count in ranks if count > 1]


def bandwidths_in(passage: str) -> Bandwidths | None:
    """The bus and the algorithm bandwidth in a passage; None unless it states exactly one of each, for one run.

    A metric belongs to the rate next to it; the other metric then belongs to the other rate.

    >>> bandwidths_in("algbw 192 and busbw 360 (GB/s)")
    Bandwidths(bus=360000000000.0, algorithm=192000000000.0)
    >>> bandwidths_in("busbw 360 GB/s at 8 GiB, algbw 20 GB/s at 1 MiB") is None
    True
    """
    metrics = list(_METRICS.finditer(passage))
    if {each.lastgroup for each in metrics} != {"bus", "algorithm"} or _DENIED.search(passage) is not None:
        return None
    if len({each[0] for each in _OF_SIZE.finditer(passage)}) > 1:
        return None
    rates = _rates_in(passage, metrics)
    if len({rate for _, _, rate in rates}) != 2:
        return None
    bus, algorithm = (
        {_nearest(rates, each) for each in metrics if each.lastgroup == name} for name in ("bus", "algorithm")
    )
    if bus == algorithm and len(bus) == 1 and len(rates) == 2:
        first = min(metrics, key=lambda each: abs(_gap(rates, each)))
        other = next(rate for _, _, rate in rates if rate not in bus)
        return Bandwidths(bus.pop(), other) if first.lastgroup == "bus" else Bandwidths(other, algorithm.pop())
    return Bandwidths(bus.pop(), algorithm.pop()) if len(bus) == len(algorithm) == 1 and bus != algorithm else None


PlacedRate = tuple[int, int, float]
"""The start, the end and the value in B/s of a rate in a text."""


def _rates_in(passage: str, metrics: Sequence[re.Match[str]]) -> list[PlacedRate]:
    """The rates in a passage; if fewer than two have a unit, numbers without a unit next to a metric count too."""
    found = list(_RATES.finditer(passage))
    named = [each for each in found if each["scale"]]
    scale = _SCALE[named[0]["scale"].lower()] if named else 1e9
    if len(named) < 2:
        named = [each for each in found if each["scale"] or _is_near(each, metrics, passage)]
    return [
        (*each.span(), number_in_text(each[1]) * (_SCALE[each["scale"].lower()] if each["scale"] else scale))
        for each in named
        if number_in_text(each[1])
    ]


def _is_near(rate: re.Match[str], metrics: Sequence[re.Match[str]], passage: str) -> bool:
    gaps = (
        passage[each.end() : rate.start()] if each.end() <= rate.start() else passage[rate.end() : each.start()]
        for each in metrics
    )
    return any(len(each) <= MOST_BETWEEN and not any(map(str.isdigit, each)) for each in gaps)


MOST_BETWEEN = 14
"""Largest distance, in characters, between a metric and its number without a unit."""


def _nearest(rates: Sequence[PlacedRate], metric: re.Match[str]) -> float:
    return min(rates, key=lambda rate: max(metric.start() - rate[1], rate[0] - metric.end()))[2]


def _gap(rates: Sequence[PlacedRate], metric: re.Match[str]) -> int:
    return min(max(metric.start() - end, start - metric.end()) for start, end, _ in rates)


def stated_factor(passage: str) -> float:
    """The factor by which a passage multiplies the algorithm bandwidth to get the bus bandwidth; 0 if it states none.

    >>> stated_factor("algbw = busbw x 1.875"), stated_factor("to go from busbw to algbw divide by 2"), stated_factor("busbw 360")
    (0.5333333333333333, 2.0, 0.0)
    """
    match = _FACTORS.search(passage)
    if match is None or _DENIED.search(passage) is not None:
        return 0.0
    target = (match["result"] or match["target"]).lower()
    source = (match["operand"] or match["source"]).lower()
    factor = float((match["factor"] or match["by"]).replace(",", "."))
    divides = (match["sign"] or match["verb"]).lower()[:1] in ("/", "÷", "d", "o")
    if target == source or not factor:
        return 0.0
    times = 1 / factor if divides else factor
    return times if target == "bus" else 1 / times


def _bandwidth_entries(spec: Spec) -> Iterator[tuple[Path, MeasuredSpec | AcceptanceSpec]]:
    for index, seen in enumerate(spec.measured or ()):
        yield ("measured", index), seen
    for index, asked in enumerate(spec.acceptance or ()):
        yield ("acceptance", index), asked
