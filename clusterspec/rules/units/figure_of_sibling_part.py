"""A figure that a spec changes in an accelerator's entry is that of another form of the same part.

## What it finds

With `accelerator: {like: …}`, a memory, memory bandwidth or peak that alone differs from the entry by more than 5 %, and
equals the figure of another entry of the same family, such as the SXM module of a PCIe card. A part of which several
figures differ is one of its own.

## Why it matters

The forms of a part share its name and little else. An H100 SXM has 3.35 TB/s, the PCIe card 2.0 TB/s: decoding is bound
by memory, so the card gives 40 % fewer tokens per second than the data sheet of its sibling promises.

## What to do

Remove the figure, so that the catalog supplies it, or name the sibling if that is what is bought.

## When to ignore it

Ignore it for a custom part that really has the figure.

## Fires

```yaml cluster.accelerator.memory_bandwidth
clusterspec: 1
cluster:
  accelerator: {like: h100-pcie-80gb, memory_bandwidth: 3.35 TB/s}
  accelerators_per_node: 4
  nodes: 2
  scale_up: {interconnect: pcie-5, topology: pcie, domain: 1}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: {like: h100-pcie-80gb, memory_bandwidth: 2.0 TB/s}
  accelerators_per_node: 4
  nodes: 2
  scale_up: {interconnect: pcie-5, topology: pcie, domain: 1}
```

## Sources

- Figures of each form: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/compute/accelerator/README.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviation, Deviations
from clusterspec.rules.rule import Rule
from clusterspec.units.readings import AGREES, agrees_within

RULE = Rule.of(__name__, "error", "likely")


def check(deviations: Deviations, catalog: Catalog) -> Iterator[Problem]:
    changed = deviations.of("accelerator")
    if len(changed) != 1:
        return  # a part of its own differs in more than one figure
    for deviation in changed:
        if deviation.known and not deviation.causes:
            sibling = _sibling_with(deviation, deviation.known.whose, catalog)
            if sibling is not None:
                yield RULE.problem(
                    deviation.stated.at,
                    f"{deviation.comparison}: it is the figure of {sibling.name}",
                    f"remove the key (the catalog supplies the figure), or write `{sibling.id}` if that is bought",
                )


def _sibling_with(deviation: Deviation, of: str, catalog: Catalog) -> Accelerator | None:
    """Another accelerator of the family (the same first word of its id) that has the figure."""
    key = deviation.stated.at.removeprefix("cluster.accelerator.")
    family = [
        each for each in catalog.ids("accelerator") if each != of and each.split("-")[0] == of.split("-", maxsplit=1)[0]
    ]
    for each in family:
        entry = catalog.find("accelerator", each)
        if not isinstance(entry, Accelerator):
            continue
        figure = entry.peaks.get(key.removeprefix("peak.")) if key.startswith("peak.") else getattr(entry, key, None)
        if figure is not None and agrees_within(deviation.stated.quantity.value, figure.value, AGREES):
            return entry
    return None
