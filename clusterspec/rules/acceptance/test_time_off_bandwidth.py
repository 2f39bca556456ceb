"""The time that the text gives for a run of an acceptance test does not follow from its size and bandwidth.

## What it finds

A sentence of the description or the comments with the `busbw` or `algbw` of a test and a time of the order of one run,
where the time differs by more than 5 % from the size divided by the algorithm bandwidth. It is an error where the time
is the size divided by the bus bandwidth, else a warning.

## Why it matters

Bus bandwidth counts the traffic on the links: an all-reduce over n ranks sends 2 (n − 1) / n bytes for each byte of the
message. A time computed from it is half of what the hardware can reach, so every run fails.

## What to do

Divide the size by the algorithm bandwidth, or leave out the time: the bandwidth is the criterion.

## When to ignore it

Ignore it where the time belongs to something else, such as a warm-up.

## Fires

```yaml description
clusterspec: 1
description: A run at 360 GB/s ends after 48 ms; a longer one has failed.
cluster: {platform: dgx-h100, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 8, size: 16 GiB, busbw: 360 GB/s}
```

## Silent

```yaml
clusterspec: 1
description: A run at 360 GB/s ends after 94 ms; a longer one has failed.
cluster: {platform: dgx-h100, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 8, size: 16 GiB, busbw: 360 GB/s}
```

## Sources

- Algorithm and bus bandwidth: https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md






"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.quantity import bus_factor
from clusterspec.rules.knowledge.benchmarks import bus_bandwidth, ranks_of
from clusterspec.rules.readers.loads import times_in
from clusterspec.rules.readers.written_numbers import NUMBER, number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import AcceptanceSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
ROUNDED = 0.05
"""Relative difference up to which a written time equals the computed one, with rounding."""
SAME_FIGURE = 0.005
LONGEST = 4.0
"""A written time within this factor of the time of one run is the time of one run, and not of the whole test."""
_RATE = pattern(rf"{NUMBER} ?(G|T)(?:B|[Bb]ytes?)(?:/s|ps)")
_SCALE = {"G": 1e9, "T": 1e12}


def check(acceptance: tuple[AcceptanceSpec, ...], own_remarks: str, rated: Cluster) -> Iterator[Problem]:
    if "B/s" not in own_remarks and "Bps" not in own_remarks and "yte" not in own_remarks:
        return
    texts = [each for each in sentences_of(own_remarks) if _RATE.search(each) is not None]
    for test in acceptance if texts else ():
        bandwidth, ranks, name = bus_bandwidth(test, rated), ranks_of(test, rated), test.collective
        if test.size is None or not bandwidth or name is None or ranks is None or ranks < 2:
            continue
        of_links = test.size.value / bandwidth
        seconds = of_links * bus_factor(name, ranks)
        stated = {rate.per_direction for rate in (test.busbw, test.algbw) if rate is not None}
        for written in (time for text in texts for time in _times_with_rates(text, stated)):
            if 1 / LONGEST < written / seconds < LONGEST and abs(written / seconds - 1) > ROUNDED:
                as_links = abs(written / of_links - 1) <= ROUNDED
                message = (
                    f"the text gives a run {display(written, 's')}, but {test.size.written} at "
                    f"{display(bandwidth, 'B/s')} of bus bandwidth over {ranks:,} ranks take {display(seconds, 's')}"
                )
                message += (
                    ": the time in the text follows if the figure is read as algorithm bandwidth" if as_links else ""
                )
                help_ = f"write {display(seconds, 's')}, or leave out the time"
                yield RULE.problem("description", message, help_, severity="error" if as_links else "warning")
                return


def _times_with_rates(sentence: str, rates: set[float]) -> list[float]:
    """The times in seconds that a sentence gives; empty unless the sentence names rates, all of them among the given
    rates in B/s.
    """
    found = [number_in_text(digits) * _SCALE[unit] for digits, unit in _RATE.findall(sentence)]
    if not found or any(all(abs(one / rate - 1) > SAME_FIGURE for rate in rates) for one in found):
        return []
    return [each.value for each in times_in(sentence)]
