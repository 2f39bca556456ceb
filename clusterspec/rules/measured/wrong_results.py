"""A log reports wrong results.

## What it finds

Values under `#wrong` in a measured log: results of a collective that differ from the expected ones.

## Why it matters

A link, a NIC, a switch or an accelerator corrupts data, and nothing else detects it. Wrong gradients do not stop a run:
they degrade the model, and it takes days until the loss shows it.

## What to do

Repeat the test on halves of the nodes until one remains, remove that node, and replace the faulty part. Do not train on
the machine before.

## When to ignore it

Do not ignore it.

## Fires

```yaml measured[0].log
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
measured:
  - {log: wrong-values.txt}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
measured:
  - {log: all-reduce-16-ranks.txt}
```

## Sources

- What is checked, and what the column counts: https://github.com/NVIDIA/nccl-tests/blob/a0b82b2260cf5152b9f8c061bbf7eaf0ba096432/README.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.measured import Measurement
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")


def check(measurements: tuple[Measurement, ...]) -> Iterator[Problem]:
    for measurement in measurements:
        if measurement.wrong:
            message = f"{plural(measurement.wrong, 'value')} in the results {'is' if measurement.wrong == 1 else 'are'} wrong: a part of the machine corrupts data"
            yield RULE.problem(
                measurement.at,
                message,
                "repeat the test on halves of the nodes to find the faulty one, and replace it before training",
            )
