"""The text of a quote's line contradicts the part that it names, or itself.

## What it finds

A line of `procurement.quote` that names a part of the catalog and states of it

- less memory for an accelerator than it has, or more: `8x H200 80 GB`, `8x H100 141 GB`, `DGX H100 320 GB`;
- another accelerator than its board has: `HGX B200, 8x B300`;
- memory modules with another size together than the memory of the node;
- InfiniBand for a switch of Ethernet, or the reverse;
- fewer ports for a switch than it has cages;
- another direction of the air than its order code stands for: `MQM9700-NS2F, C2P`;
- cords, or outlets of the racks, with C13 connectors alone for supplies above 3 kW, whose inlets take C19;
- power shelves whose sum is below the power of their rack.

## Why it matters

The line has two readings, and the supplier may deliver either. Where the figure is the wrong one, the purchase is
compared with a part that nobody sells; where the name is, the wrong part arrives.

## What to do

Ask the supplier which of the two is right, and correct the line.

## When to ignore it

Ignore it where the figure belongs to another part in the same line.

## Fires

```yaml procurement.quote[0].part
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 16}
procurement:
  currency: USD
  quote:
    - {part: "DGX H200, 8x H200 80 GB, 2 TB", quantity: 16, unit_price: 350000, price: 5600000}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 16}
procurement:
  currency: USD
  quote:
    - {part: DGX H200, quantity: 16, unit_price: 350000, price: 5600000}
    - {part: "SN5600 InfiniBand switch, leaf", quantity: 4, unit_price: 52000, price: 208000}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 16}
procurement:
  currency: USD
  quote:
    - {part: DGX H200, quantity: 16, unit_price: 350000, price: 5600000}
    - {part: "MQM9700-NS2F leaf switch, C2P airflow", quantity: 4, unit_price: 38000, price: 152000}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 16}
procurement:
  currency: USD
  quote:
    - {part: "DGX H200, 8x H200 141 GB (1,128 GB), 2 TB, C19/C20 cords", quantity: 16, unit_price: 350000, price: 5600000}
    - {part: "MQM9700-NS2F InfiniBand leaf switch, 64 ports, P2C airflow", quantity: 4, unit_price: 38000, price: 152000}
```

## Sources

- Supplies and cords of a node: https://docs.nvidia.com/dgx/dgxh100-user-guide/introduction-to-dgxh100.html
- C13 is rated at 10 A and C19 at 16 A: https://webstore.iec.ch/en/publication/68861
- Order codes and airflow: https://docs.nvidia.com/networking/display/QM97X0PUB/Ordering+Information
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.amounts import is_credit
from clusterspec.procurement.offered import Offered, offered_lines
from clusterspec.procurement.part_names import plain_part
from clusterspec.rules.readers.quotes.parts import (
    airflow_off_code,
    memory_off_accelerator,
    module_and_stated_bytes,
    other_accelerator_of_node,
    ports_off_switch,
    short_shelves,
    supply_with_c13,
    technology_off_switch,
)
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import PowerSpec, ProcurementSpec
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")


def check(
    procurement: ProcurementSpec, cluster: Cluster, power: PowerSpec | None, catalog: Catalog
) -> Iterator[Problem]:
    if not procurement.quote:
        return
    for line in offered_lines(procurement.quote, cluster):
        if is_credit(line.line):
            continue
        text = plain_part(line.line)
        for states, part in _contradictions(line, text, cluster, power, catalog):
            at = quote_path(line.index, "part")
            message = f"`{name_of_part(line.line.part)}` states {states}, but {part}"
            yield RULE.problem(at, message, "ask the supplier which of the two is right, and correct the line")


def _contradictions(
    line: Offered, text: str, cluster: Cluster, power: PowerSpec | None, catalog: Catalog
) -> Iterator[tuple[str, str]]:
    """Contradictions between a line and its part: what the line states, and what the part really has."""
    if (memory := memory_off_accelerator(text, catalog)) is not None:
        yield f"{memory.stated:g} GB", f"{memory.name} has {memory.has}"
    if line.kind == "node":
        yield from _contradictions_of_node(text, cluster, catalog)
    if (switch := technology_off_switch(text, catalog)) is not None:
        yield switch.states, f"{switch.name} is a switch of {switch.technology}"
    elif (ports := ports_off_switch(text, catalog)) is not None:
        yield f"{ports.stated} ports", f"{ports.name} has {ports.ports}"
    if (code := airflow_off_code(text)) is not None:
        yield code.states, f"{code.code} is {code.direction}"
    watts = supply_with_c13(line, text, cluster, power)
    if watts is not None:
        yield "C13 connectors", f"supplies of {display(watts, 'W')} have C19"


def _contradictions_of_node(text: str, cluster: Cluster, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """Contradictions within the line of a node, and power shelves that are too small for their rack."""
    if (accelerators := other_accelerator_of_node(text, catalog)) is not None:
        board, counted = accelerators
        yield counted.upper(), f"the system is one with {board.upper()}"
    if (memory := module_and_stated_bytes(text)) is not None:
        modules, stated = memory
        yield f"{display(stated, 'B')} of memory", f"its modules have {display(modules, 'B')} together"
    if (shelves := short_shelves(text, cluster)) is not None:
        yield f"power shelves of {display(shelves.watts, 'W')}", f"the rack draws {display(shelves.rack, 'W')}"
