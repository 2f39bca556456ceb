"""Power distribution units supply a voltage that the power supplies of the servers do not take.

## What it finds

`power.pdus`, or power distribution in a line of the quote, whose outlets have less than 180 V or more than 264 V, for a node
that is a server with supplies of its own; or whose phases have less than 340 V, for rack-scale systems with power shelves.
With three phases an outlet has the voltage between two phases up to 240 V, such as 208 V, and that between a phase and
neutral above, such as 230 V of 400 V. The rule is silent for other systems, whose supplies are not known.

## Why it matters

The supplies of GPU servers take 200 to 240 V. A unit of 480 V has 277 V between a phase and neutral: the supplies switch
off or are destroyed. At 120 V supplies of 3 kW do not start, or give less than half.

## What to do

Use units of 400 or 415 V with neutral, or of 208 V.

## When to ignore it

Ignore it where the servers are bought with supplies for 277 V.

## Fires

```yaml cluster.power.pdus.voltage
clusterspec: 1
cluster:
  platform: dgx-b200
  nodes: 16
  power: {node: 14.3 kW, nodes_per_rack: 2, pdus: {count: 2, voltage: 480 V, current: 60 A, phases: 3}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-b200
  nodes: 16
  power: {node: 14.3 kW, nodes_per_rack: 2, pdus: {count: 2, voltage: 415 V, current: 60 A, phases: 3}}
```

## Sources

- Supplies of 200 to 240 V: https://docs.nvidia.com/dgx/dgxb200-user-guide/introduction-to-dgxb200.html
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.source import Path
from clusterspec.spec.model import PowerSpec, ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
SUPPLY_VOLTS = (180.0, 264.0)
"""Range of voltages that supplies for 200 to 240 V accept, with the 10 % tolerance of their standards."""
LEAST_OF_SHELVES = 340.0
"""Phase-to-phase voltage below which the power shelves of rack-scale systems (346 to 480 V) do not start."""
ONE_PHASE = frozenset({110.0, 115.0, 120.0, 220.0, 230.0, 240.0})
"""Phase-to-neutral voltages. A text that names only such voltages does not state the number of phases."""
_VOLTS = pattern(r"(?<![\w.,/-])(\d{3})(?:/(\d{3}))? ?v(?:ac|olts?)?\b")
_DISTRIBUTION = pattern(
    r"\bpdus?\b|\bpower distribution\b|\bbus ?(?:bar|way|duct)s?\b|\btap[- ]?offs?\b|バスダクト|タップオフ|母线"
)
BETWEEN_PHASES = 240.0
"""Three-phase voltage up to which outlets are connected between two phases; above it, between a phase and neutral."""


def check(power: PowerSpec | None, procurement: ProcurementSpec | None, cluster: Cluster) -> Iterator[Problem]:
    pdus = power.pdus if power is not None else None
    if pdus is not None and pdus.voltage is not None and pdus.phases is not None:
        yield from _voltage_problem("cluster.power.pdus.voltage", pdus.voltage.value, pdus.phases, cluster)
    for index, line in enumerate((procurement.quote or ()) if procurement is not None else ()):
        text = (line.part or "").lower()
        found = _VOLTS.findall(text) if _DISTRIBUTION.search(text) is not None else ()
        volts = {float(each) for both in found for each in both if each}  # 480/277 V, and 277/480 V
        if volts and max(volts) not in ONE_PHASE:
            yield from _voltage_problem(quote_path(index, "part"), max(volts), 3, cluster)


def _voltage_problem(at: str | Path, volts: float, phases: int, cluster: Cluster) -> Iterator[Problem]:
    """The problem of a supply voltage, between two phases if there are three, that does not suit the nodes or racks."""
    form = cluster.platform.form if cluster.platform is not None else ""
    outlets = volts / sqrt(3) if phases == 3 and volts > BETWEEN_PHASES else volts
    least, most = SUPPLY_VOLTS
    if form in {"node", "baseboard"} and not least <= outlets <= most:
        stated = f"{volts:g} V with three phases gives outlets {outlets:.0f} V"
        stated = stated if phases == 3 else f"outlets have {outlets:.0f} V"
        help_ = "use units of 400 or 415 V with three phases and neutral, or of 208 V"
        yield RULE.problem(at, f"{stated}, but the supplies of servers take 200 to 240 V", help_)
    elif form == "rack" and volts < LEAST_OF_SHELVES:
        message = f"the power shelves of a rack take 346 to 480 V between phases, not {volts:g} V"
        yield RULE.problem(at, message, "plan feeds of 400, 415 or 480 V with three phases")
