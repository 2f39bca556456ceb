"""A link between pools cannot exist as stated.

## What it finds

A `pool_links[].bandwidth` above the line rate of all fabric NICs of one of its two pools: a note, and a warning from
four times on. A `bandwidth` of exactly twice the rate of the `extra_endpoints` of a pool, which counts both directions:
an error. A `latency` above 0.3 s, which is more than half around the earth takes: a warning. A `latency` below the time
of light in fiber over the one distance in kilometers that the description of a single link names: an error.

## Why it matters

Estimates count with the stated figures. A pool cannot fill a link that is faster than its NICs; such a rate is mostly
bytes stated for bits, or the rate of the fabric inside a pool.

## What to do

State the rate of the link in bits per second and its latency with the right unit; `fabric: shared` only where both pools
are on one fabric.

## When to ignore it

Ignore it where the link also serves other machines.

## Fires

```yaml pool_links[0].bandwidth
clusterspec: 1
pools:
  train: {platform: dgx-h100, nodes: 4}
  serve: {platform: dgx-h100, nodes: 2}
pool_links: [{between: [train, serve], bandwidth: 400 Tb/s}]
jobs:
  tune:
    pool: train
    workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
    layout: {framework: megatron-core, tp: 2, micro_batch: 1}
```

```yaml pool_links[0].latency
clusterspec: 1
pools:
  train: {platform: dgx-h100, nodes: 4}
  serve: {platform: dgx-h100, nodes: 2}
pool_links: [{between: [train, serve], bandwidth: 800 Gb/s, latency: 2 s}]
jobs:
  tune:
    pool: train
    workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
    layout: {framework: megatron-core, tp: 2, micro_batch: 1}
```

```yaml pool_links[0].latency
clusterspec: 1
description: The two halls are 1.6 km of fiber apart.
pools:
  train: {platform: dgx-h100, nodes: 4}
  serve: {platform: dgx-h100, nodes: 2}
pool_links: [{between: [train, serve], bandwidth: 400 Gb/s, latency: 2 us}]
jobs:
  a: {pool: train}
  b: {pool: serve}
```

```yaml pool_links[0].bandwidth
clusterspec: 1
description: Between the two halls the carrier sells one wavelength of 100 Gb/s.
pools:
  train: {platform: dgx-h100, nodes: 4}
  serve: {platform: dgx-h100, nodes: 2}
pool_links: [{between: [train, serve], bandwidth: 400 Gb/s, latency: 2 ms}]
jobs:
  a: {pool: train}
  b: {pool: serve}
```

## Silent

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-h100, nodes: 4}
  serve: {platform: dgx-h100, nodes: 2}
pool_links: [{between: [train, serve], bandwidth: 800 Gb/s}]
jobs:
  tune:
    pool: train
    workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
    layout: {framework: megatron-core, tp: 2, micro_batch: 1}
```

## Sources

- Pools, links and engines on separate pools: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from clusterspec.cluster.fleet import Fleet, Pool
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.rules.readers.written_numbers import NUMBER, number_in_text
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PoolLinkSpec
from clusterspec.standard import pattern
from clusterspec.units import display, display_bits

RULE = Rule.of(__name__, "note")
FARTHEST = 0.3
"""Largest plausible latency in seconds: a message to the other side of the earth, with its queues."""
SAME = 0.001
"""Relative difference of equal rates."""
MUCH = 4.0
"""Smallest multiple of the smaller pool's send rate at which the figure is probably in a wrong unit or of another link."""


SECONDS_A_KILOMETER = 4.9e-6
"""Propagation delay of one kilometer of single-mode fiber, in seconds, whose group index is 1.468 at 1310 nm."""
_DISTANCE = pattern(rf"{NUMBER} ?(?:km|kilomet(?:er|re)s?)\b(?!/)")


def check(fleet: Fleet) -> Iterator[Problem]:
    links = fleet.spec.pool_links or ()
    distances = {number_in_text(each) for each in _DISTANCE.findall(fleet.spec.description or "")} if links else set()
    for number, written in enumerate(links):
        if len(links) == 1 and written.bandwidth is not None:
            yield from _leased_rate_problem(fleet.spec.description or "", written.bandwidth)
        if written.latency is not None and len(distances) == len(links) == 1:
            yield from _light_delay_problem(number, written.latency, max(distances))
        yield from _rate_problems(fleet, number, written)
        yield from _direction_problem(fleet, number, written)
        if written.latency is not None and written.latency.value > FARTHEST:
            message = (
                f"a message takes {written.latency.written} from one pool to the other, longer than over any cable"
            )
            help_ = "check the unit of the time"
            yield RULE.problem(("pool_links", number, "latency"), message, help_, severity="warning")


SAME_LINE = 1.05
"""Ratio of two rates up to which they are of one line."""


def _leased_rate_problem(description: str, bandwidth: Quantity) -> Iterator[Problem]:
    """The problem of a link that is faster or slower than the only line between the sites in the description."""
    if not description:
        return
    from clusterspec.rules.readers.plans.limits import rate_of_line
    from clusterspec.rules.readers.plans.nightly_windows import copies_over_links  # few fleets have two sites

    at = ("pool_links", 0, "bandwidth")
    for copy in copies_over_links(description):
        if copy.rate > SAME_LINE * bandwidth.value:
            message = f"according to the text, {copy.words} need {display_bits(copy.rate)}, but the link has {bandwidth.written}"
            yield RULE.problem(at, message, "rent a faster link, or move less", severity="error", confidence="likely")
            return
    line = rate_of_line(description)
    if line is not None and not 1 / SAME_LINE <= line.value / bandwidth.value <= SAME_LINE:
        message = (
            f"according to the text, the line between the sites has {line.words}, but the link has {bandwidth.written}"
        )
        yield RULE.problem(at, message, "correct one of the two", severity="error", confidence="likely")


def _light_delay_problem(number: int, latency: Quantity, kilometers: float) -> Iterator[Problem]:
    """The problem of a latency below the travel time of light over the distance in the description."""
    least = kilometers * SECONDS_A_KILOMETER
    if latency.value < least:
        message = f"a message takes {latency.written} from one pool to the other, but light takes {display(least, 's')} over the fiber of the description"
        help_ = "correct the time, or its unit"
        yield RULE.problem(("pool_links", number, "latency"), message, help_, severity="error")


def _rate_problems(fleet: Fleet, number: int, written: PoolLinkSpec) -> Iterator[Problem]:
    """A link that is faster than all NICs of a pool together."""
    if written.bandwidth is not None:
        rates = [(rate, name) for name in written.between or () if (rate := _line_rate(fleet.pools.get(name)))]
        if rates and written.bandwidth.per_direction > min(rates)[0]:
            rate, name = min(rates)
            message = f"the link carries {written.bandwidth.written}, but all NICs of pool `{name}` together {display(rate, 'B/s')}"
            severity = "warning" if written.bandwidth.per_direction >= MUCH * rate else ""
            yield RULE.problem(("pool_links", number, "bandwidth"), message, "check bits and bytes", severity=severity)


def _direction_problem(fleet: Fleet, number: int, written: PoolLinkSpec) -> Iterator[Problem]:
    """The problem of a link at twice the rate of the ports that a pool keeps for it (`scale_out.extra_endpoints`)."""
    for name in written.between or ():
        pool = fleet.pools.get(name)
        fabric = pool.cluster.scale_out if pool is not None and pool.cluster is not None else None
        if fabric is None or not fabric.extra_endpoints or written.bandwidth is None:
            continue
        ports = fabric.extra_endpoints * fabric.nic_bandwidth.value
        if isclose(written.bandwidth.per_direction, 2 * ports, rel_tol=SAME):
            message = f"the {fabric.extra_endpoints} extra endpoints of pool `{name}` carry {display_bits(ports)} in each direction, but {written.bandwidth.written} counts both"
            at = ("pool_links", number, "bandwidth")
            yield RULE.problem(at, message, f"write `{display_bits(ports)}`", severity="error", confidence="likely")
            return


def _line_rate(pool: Pool | None) -> float | None:
    """The rate of all fabric NICs of a pool in B/s per direction; None if unknown."""
    fabric = pool.cluster.scale_out if pool is not None and pool.cluster is not None else None
    return fabric.node_bandwidth * pool.nodes if fabric is not None and pool is not None and pool.nodes else None
