"""An acceptance test demands more than this machine is predicted to reach.

## What it finds

A `busbw` (or `algbw`) above the fast end of the range predicted for the tested collective, ranks and size, and below
the line-rate ceiling. `acceptance-above-ceiling` reports figures above the ceiling, `acceptance-size-below-plateau` the
bandwidth of large messages at a small size.

## Why it matters

A collective never reaches the full line rate: protocol, latency and switch contention take 5 to 20 %. A supplier with a
sound machine fails, and the clause is waived.

## What to do

Demand 80 to 90 % of the predicted bandwidth, as stated in the help.

## When to ignore it

Ignore it where the figure was measured on the same hardware; better, add the measurement under `measured`.

## Fires

```yaml acceptance[0].busbw
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 448 GB/s, algorithm: ring}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 340 GB/s, algorithm: ring}
```

## Sources

- What is reached of the line rate: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L1457
- What bus bandwidth is compared with: https://github.com/NVIDIA/nccl-tests/blob/a0b82b2260cf5152b9f8c061bbf7eaf0ba096432/doc/PERFORMANCE.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.benchmarks import (
    PLATEAU,
    best_possible,
    bus_bandwidth,
    demands_plateau_at_small_size,
    metric_key,
    predicted_collective,
    recommended_threshold,
    test_name,
)
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import AcceptanceSpec
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely", yields_to=("acceptance-above-ceiling",))


def check(acceptance: tuple[AcceptanceSpec, ...], rated: Cluster) -> Iterator[Problem]:
    for number, test in enumerate(acceptance):
        size = test.size.value if test.size else PLATEAU
        asked, here = bus_bandwidth(test, rated), predicted_collective(test, rated, size)
        if asked is None or here is None or asked <= best_possible(here) or demands_plateau_at_small_size(test, rated):
            continue
        yield RULE.problem(
            ("acceptance", number, metric_key(test)),
            f"{test_name(test, rated)}: {display(asked, 'B/s')} of bus bandwidth exceeds the predicted {display(here.busbw, 'B/s')} (at most "
            f"{display(best_possible(here), 'B/s')} within its range): a sound machine fails",
            f"demand {recommended_threshold(here, test)}",
        )
