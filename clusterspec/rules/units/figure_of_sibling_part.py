"""A spec changes a figure of an accelerator to the figure of another variant of the same part.

## What it finds

With `accelerator: {like: …}`, a memory, memory bandwidth or peak that is the only changed figure, differs from the
entry by more than 5 %, and equals the figure of another entry of the same name, such as the SXM module for a PCIe card
(for memory size, of the same family); or several changed figures that all belong to one other entry, such as the next
generation. The finding is an error; with three or more such figures it is a note, since such a part is described on
purpose. A part with several other changes is a separate part and is not reported, and neither is one of the same name
whose memory differs in both size and bandwidth: the A100 PCIe was sold with 40 GB as well. It is also an error if the
only change is a memory size at least half as large again that no variant has, which is usually the memory of a node or
includes host memory; a memory bandwidth at least half as large again, which is usually that of a cache; a power of
two and a half times the entry's; or any of the three at a quarter of the entry's or below. Among several changes, a
memory, memory bandwidth or power of five times the entry's and more, or of a fifth, is an error.

## Why it matters

The variants of a part share its name and little else. An H100 SXM has 3.35 TB/s, the PCIe card 2.0 TB/s: decoding is
bound by memory bandwidth, so the card gives 40 % fewer tokens per second than the SXM data sheet suggests.

## What to do

Remove the figure, so that the catalog supplies it, or name the other variant if the order names it.

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

```yaml cluster.accelerator.memory
clusterspec: 1
cluster:
  accelerator: {like: mi300x, memory: 256 GB, memory_bandwidth: 6 TB/s}
  accelerators_per_node: 8
  nodes: 2
```

```yaml cluster.accelerator.memory
clusterspec: 1
cluster:
  accelerator: {like: h100-sxm-80gb, memory: 141 GB}
  accelerators_per_node: 8
  nodes: 2
```

```yaml cluster.accelerator.memory
clusterspec: 1
cluster:
  accelerator: {like: mi300x, memory: 1536 GB}
  accelerators_per_node: 8
  nodes: 2
```

```yaml cluster.accelerator.memory_bandwidth
clusterspec: 1
cluster:
  accelerator: {like: h100-sxm-80gb, memory_bandwidth: 419 GB/s}
  accelerators_per_node: 8
  nodes: 2
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

from collections.abc import Iterator, Sequence
from itertools import takewhile
from math import inf

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviation, Deviations
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.units.display import AGREES, agrees_within

RULE = Rule.of(__name__, "error", "likely")
DESCRIBED = 3
"""Lowest number of figures of one sibling with which the text describes that sibling on purpose: the author did not
find its entry.
"""
TOO_LARGE = {"memory": 1.5, "memory_bandwidth": 1.5, "power": 2.5}
"""Ratios to the catalog's figures from which no other memory stack or limit of the same part explains a figure."""
FAR = 5.0
"""Ratio to the entry's figure, or its inverse, that no variant of a part reaches."""
TOO_SMALL = 0.25
"""Ratio to the catalog's figure at or below which no part of the same name explains a figure."""
ELSEWHERE = {
    "memory": "; the key of host memory is `host_memory`",
    "memory_bandwidth": "; a cache is faster than the memory",
}
MEMORY = {"memory", "memory_bandwidth"}
GIGABYTE_OF_SHEETS = 1024**3 / 1e9
"""Bytes of a GiB divided by those of a GB; data sheets print the GiB of memory as GB."""


def check(deviations: Deviations, catalog: Catalog) -> Iterator[Problem]:
    stated = [each for each in deviations.of_kinds("accelerator") if not _is_as_printed(each)]
    changed = [each for each in stated if each.known and not each.causes]
    if len(changed) != len(stated) or not changed:
        return  # a separate part differs in other figures
    sibling = _matching_sibling(changed, catalog)
    if sibling is not None:
        others = (
            f"; {and_list([_deviation_key(each) for each in changed[1:]])} of the spec {'fits' if len(changed) == 2 else 'fit'} that part, too"
            if len(changed) > 1
            else ""
        )
        yield RULE.problem(
            changed[0].stated.at,
            f"{changed[0].comparison}: it is the figure of {sibling.name}{others}",
            f"remove {'the keys' if others else 'the key'} (the catalog supplies the figure), or write `accelerator: {sibling.id}` if that is bought",
            severity="note" if len(changed) >= DESCRIBED else "",
        )
    elif len(changed) == 1 and _is_of_one_die(changed[0], catalog):
        yield RULE.problem(
            changed[0].stated.at,
            f"{changed[0].comparison}: it is the figure of one of its devices, and both together are the accelerator",
            f"state the {_deviation_key(changed[0])} of both together, or remove the key: the catalog supplies it",
        )
    elif len(changed) > 1 and (far := next((each for each in changed if _differs_by_far(each)), None)) is not None:
        help_ = f"check the number and its unit: no part with other figures has such a {_deviation_key(far).replace('_', ' ')}"
        yield RULE.problem(far.stated.at, far.comparison, help_)
    elif len(changed) == 1 and not TOO_SMALL < changed[0].ratio < TOO_LARGE.get(_deviation_key(changed[0]), inf):
        key, message = (
            _deviation_key(changed[0]),
            f"{changed[0].comparison}, but no other accelerator of that name has it",
        )
        help_ = f"state the {key} of one accelerator; that of a node is derived{ELSEWHERE.get(key, '')}"
        yield RULE.problem(changed[0].stated.at, message, help_ if changed[0].ratio > 1 else "check the unit")


def _differs_by_far(deviation: Deviation) -> bool:
    """Whether a figure differs by at least a factor of five, more than any variant of a part does."""
    return _deviation_key(deviation) in TOO_LARGE and not 1 / FAR < deviation.ratio < FAR


def _is_as_printed(deviation: Deviation) -> bool:
    """Whether a memory size equals the catalog's, with GiB printed as GB as in data sheets."""
    return _deviation_key(deviation) == "memory" and agrees_within(deviation.ratio * GIGABYTE_OF_SHEETS, 1.0, AGREES)


def _is_of_one_die(deviation: Deviation, catalog: Catalog) -> bool:
    """Whether a figure describes one die of an accelerator whose dies are separate devices."""
    entry = catalog.find("accelerator", deviation.known.whose if deviation.known else "")
    dies = entry.ranks_per_accelerator if isinstance(entry, Accelerator) else 1
    printed = GIGABYTE_OF_SHEETS if _deviation_key(deviation) == "memory" else 1.0
    return dies > 1 and any(agrees_within(deviation.ratio * dies * each, 1.0, AGREES) for each in (1.0, printed))


def _matching_sibling(changed: Sequence[Deviation], catalog: Catalog) -> Accelerator | None:
    """Another accelerator that has all the figures; None without one.

    It is of the same family (the same letters at the start of its id) or, for a single figure that is not a memory
    size, has the same first word. One with the same form factor (SXM, PCIe) comes first.
    """
    keys = {_deviation_key(deviation) for deviation in changed}
    of = changed[0].known.whose if changed[0].known else ""
    form = {*of.split("-")}
    for each in sorted(catalog.ids("accelerator"), key=lambda id_: (-len(form & {*id_.split("-")}), id_)):
        same = _word(each) == _word(of)
        related = (len(changed) > 1 or keys == {"memory"}) and _letter_part(each) == _letter_part(of)
        if each == of or not (same or related):
            continue
        if same and keys == MEMORY:
            continue  # another size of memory of the same part
        entry = catalog.find("accelerator", each)
        if isinstance(entry, Accelerator) and all(_has_stated_figure(entry, deviation) for deviation in changed):
            return entry
    return None


def _has_stated_figure(entry: Accelerator, deviation: Deviation) -> bool:
    """Whether an accelerator has the stated figure."""
    key = _deviation_key(deviation)
    figure = entry.peaks.get(key.removeprefix("peak.")) if key.startswith("peak.") else getattr(entry, key, None)
    if figure is None:
        return False
    printed = GIGABYTE_OF_SHEETS if key == "memory" else 1.0
    return any(agrees_within(deviation.stated.quantity.value * each, figure.value, AGREES) for each in (1.0, printed))


def _deviation_key(deviation: Deviation) -> str:
    return deviation.stated.at.removeprefix("cluster.accelerator.")


def _word(name: str) -> str:
    return name.split("-", maxsplit=1)[0]


def _letter_part(name: str) -> str:
    return "".join(takewhile(str.isalpha, name))
