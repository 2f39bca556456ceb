"""The stated cooling does not fit the racks.

## What it finds

`power.cooling: air` for a platform that is sold with liquid cooling only (an error); for an accelerator that is sold
with liquid cooling, with a `power.liquid_share`, or for racks that draw more than 60 kW or have a
`rack_limit` above 120 kW (warnings). `power.cooling: liquid` or `immersion` for a platform that is sold with air cooling only, or liquid with
a `liquid_share` below 40 % of the platform's, else of the share that estimates assume, 0.85 (warnings). A `liquid_share`
above 0.98 of a platform that the catalog does not list as cooled by liquid alone (a warning; a note without a platform).

## Why it matters

Cold plates need a coolant loop that an air-cooled hall does not have. Air removes some 20 to 60 kW from a rack; above
that, nodes throttle. A node with only fans heats the air of a hall that was planned for coolant, and its maker does not
warrant it in a tank. Cold plates leave 2 to
30 % of the heat to the air: a hall without air handling for 10 to 20 kW of each rack overheats.

## What to do

Plan liquid cooling and coolant distribution, or put fewer nodes into a rack. State `cooling: air` for nodes with fans.

## When to ignore it

Ignore it for racks with rear-door heat exchangers that are rated for the load.

## Options

`thresholds = {cooling-insufficient = 60.0}` in the configuration sets the power of a rack above which the rule reports. The
number is in kW. The default is 60.0.

## Fires

```yaml cluster.power.cooling
clusterspec: 1
cluster:
  platform: gb200-nvl72
  nodes: 18
  power: {nodes_per_rack: 18, cooling: air}
```

```yaml cluster.power.liquid_share
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  power: {nodes_per_rack: 4, cooling: air, liquid_share: 0.8}
```

```yaml cluster.power.cooling
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  power: {nodes_per_rack: 4, cooling: liquid}
```

```yaml cluster.power.liquid_share
clusterspec: 1
cluster:
  platform: gb300-nvl72
  nodes: 18
  power: {cooling: liquid, liquid_share: 0.085}
```

```yaml cluster.power.liquid_share
clusterspec: 1
cluster:
  platform: gb200-nvl72
  nodes: 72
  power: {cooling: liquid, liquid_share: 1.0}
```

```yaml cluster.power.cooling
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8, power: {cooling: immersion}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  power: {nodes_per_rack: 4, cooling: air}
```

```yaml
clusterspec: 1
cluster:
  platform: hpe-cray-ex254n
  nodes: 64
  power: {cooling: liquid, liquid_share: 1.0}
```

## Sources

- Four DGX B300 in a rack, about 56 kW: https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300-xdr/latest/dgx-superpod-architecture.html
- No air-cooled option: https://www.leviathansystems.co/blog/liquid-cooling-requirements-blackwell
- MI355X by liquid, MI350X by air: https://www.servethehome.com/amd-mi350-and-cdna-4-architecture-launched-with-rocm-7/
- Air for the parts of GB200 NVL72 without cold plates: https://github.com/mlcommons/inference_results_v6.1/blob/main/closed/Crusoe/systems/GB200-NVL72_GB200-186GB_aarch64x16_Dynamo.json
- Up to 98 % of the heat to liquid: https://www.supermicro.com/en/solutions/liquid-cooling
- What air carries: https://manishklach.github.io/writings/blackwell-gb300-nvl72-cooling-stack.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.heat import liquid_shares
from clusterspec.cost.nameplates import rack_power
from clusterspec.finding import Problem
from clusterspec.records import replace
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import PowerSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "heuristic")
AT = "cluster.power.cooling"
AIR_AT_ALL = 120e3
"""Power of a rack in watts above which no product cools it with air only; rear doors remove up to about 80 kW."""
FEW = 0.4
"""Fraction of the usual liquid share below which the accelerators cannot have cold plates."""
WHOLE = 0.98
"""Largest liquid share of products with cold plates; only nodes without fans exceed it."""
MOST = 60.0
"""Largest power in kW of an air-cooled rack. The densest one in a reference architecture, four DGX B300, draws 58; rows
with containment and rear doors differ, so the threshold is a choice.
"""


def check(deviations: Deviations, power: PowerSpec, cluster: Cluster, thresholds: Thresholds) -> Iterator[Problem]:
    sold, part = _sold_cooling(cluster)
    if power.cooling == "liquid" and sold == ("air",) and cluster.platform is not None:
        message = f"{part} is sold with air cooling only, but the data hall cools with liquid"
        yield RULE.problem(AT, message, "state `cooling: air`, or choose a platform that is sold with liquid cooling")
    if power.cooling == "immersion" and sold == ("air",) and cluster.platform is not None:
        message = f"{part} is sold with air cooling only, but the data hall cools by immersion"
        yield RULE.problem(AT, message, "state `cooling: air`, or choose a platform that is sold for it")
    if power.cooling == "liquid" and power.liquid_share:
        yield from _share_problems(power, power.liquid_share, cluster)
    if power.cooling != "air":
        return
    if power.liquid_share:
        message = f"liquid takes {percent(power.liquid_share)} of the power, but air cools the data hall"
        help_ = "state `cooling: liquid`, or leave the share out"
        yield RULE.problem("cluster.power.liquid_share", message, help_)
    if sold and "air" not in sold:
        message = f"{part} is sold with {and_list(sold)} cooling only, but the data hall cools with air"
        help_ = "plan liquid cooling, or another platform"
        if cluster.platform is not None and cluster.platform.cooling:
            yield RULE.problem(AT, message, help_, severity="error", confidence="certain")
        else:  # builders cool some of these parts by air all the same
            yield RULE.problem(AT, message, help_)
        return
    if power.rack_limit is not None and power.rack_limit.value > AIR_AT_ALL:
        message = f"a rack may draw {power.rack_limit.written}, but air cannot remove that from a rack"
        help_ = "give the limit of one rack, or state `cooling: liquid`"
        yield RULE.problem("cluster.power.rack_limit", message, help_)
    rack, limit = rack_power(cluster, power), 1000 * thresholds.of(RULE.name, MOST)
    if rack is not None and rack > limit and not deviations.has_any_of("power"):
        message = f"a rack of {display(rack, 'W')} is above the {display(limit, 'W')} that air usually cools"
        yield RULE.problem(AT, message, "use fewer nodes in a rack, or liquid cooling")


def _share_problems(power: PowerSpec, share: float, cluster: Cluster) -> Iterator[Problem]:
    """Problems of a liquid share that is too small for liquid cooling, or larger than cold plates can remove."""
    low, usual, _ = liquid_shares(cluster, replace(power, liquid_share=None))
    at = "cluster.power.liquid_share"
    if share < FEW * usual.value:
        message = f"liquid takes {percent(share, 2)} of the heat of a node; parts with liquid cooling give it {percent(usual.value, 2)}"
        yield RULE.problem(at, message, "write a share: 85 % is 0.85")
    elif share > WHOLE >= usual.value:
        left = f"{percent(1 - usual.value)} to the air" if low == usual else f"5 to {percent(1 - low.value)} to the air"
        message = f"liquid takes {percent(share)} of the heat of a node; cold plates leave {left}"
        help_ = "state the share of the data sheet, and plan air for the rest; 1 is right for nodes without fans"
        yield RULE.problem(at, message, help_, severity="warning" if cluster.platform else "note")


def _sold_cooling(cluster: Cluster) -> tuple[tuple[str, ...], str]:
    """The cooling methods with which the platform, else the accelerator, is sold, and its id; empty if unknown."""
    for entry in (cluster.platform, cluster.accelerator):
        if entry is not None and entry.cooling:
            return entry.cooling, entry.id
    return (), ""
