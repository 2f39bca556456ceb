"""Kilovolt-amperes stand as kilowatts.

## What it finds

A `power.budget` with the number that the description or a comment states in kilovolt-amperes (kVA).

## Why it matters

Apparent power in kVA is the real power in kW divided by the power factor. Generators, transformers and rotary supplies
are rated at a power factor of 0.8, many static supplies at 0.9 to 1: of 1,200 kVA, 960 to 1,200 kW are real.

## What to do

State the real power of the supply in kW, as its data sheet rates it.

## When to ignore it

Ignore it where the supply is rated at a power factor of 1, so that both are equal.

## Fires

```yaml cluster.power.budget
clusterspec: 1
description: The hall has a supply of 1,200 kVA.
cluster: {platform: dgx-h100, nodes: 100, power: {budget: 1200 kW}}
```

## Silent

```yaml
clusterspec: 1
description: The hall has a supply of 1,200 kVA at a power factor of 0.9.
cluster: {platform: dgx-h100, nodes: 90, power: {budget: 1080 kW}}
```

## Sources

- Power factors of supplies and generators: https://www.datacenterdynamics.com/opinions/when-is-a-kw-not-a-kw/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.written_numbers import number_in_text
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
_KILOVOLT_AMPERES = pattern(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?) ?(k|M)VA\b")


def check(own_remarks: str, power: PowerSpec) -> Iterator[Problem]:
    budget = power.budget
    if budget is None or not own_remarks:
        return
    for number, prefix in _KILOVOLT_AMPERES.findall(own_remarks):
        if abs(number_in_text(number) * (1e3 if prefix == "k" else 1e6) / budget.value - 1) < 0.001:
            message = f"the text states {number} {prefix}VA, and `power.budget` is {budget.written}: apparent power is at least the real power that a supply gives"
            help_ = "write the kilowatts of the data sheet: 0.8 to 1 times as many"
            yield RULE.problem("cluster.power.budget", message, help_)
            return
