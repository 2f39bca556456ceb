"""The quoted fiber has a lower grade than its modules need for the run.

## What it finds

A module whose line states its reach over OM4 or OM5 (`50 m OM4`), or that is of a kind with a standard reach over OM4 (VR4 and
VR8: 50 m, SR4 and SR8: 100 m), fiber of OM3 in another line, and a run, or a cable, that is longer than 0.7 of that reach.

## Why it matters

OM3 has less than half the modal bandwidth of OM4: 400GBASE-SR4.2 reaches 70 m over OM3 and 100 m over OM4. A longer link
has bit errors, or does not come up.

## What to do

Order OM4, or modules that state the run over OM3.

## When to ignore it

Ignore it where the modules of this level are others than the line's.

## Fires

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 8, scale_out: {distance: {node_leaf: 40 m}}}
procurement:
  currency: USD
  quote:
    - {part: "800G 2xVR4 OSFP transceiver, 50 m OM4", quantity: 32, unit_price: 1600}
    - {part: "OM3 MPO-12/APC fiber cable 40 m", quantity: 64, unit_price: 140}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 8, scale_out: {distance: {node_leaf: 40 m}}}
procurement:
  currency: USD
  quote:
    - {part: "800G 2xVR4 OSFP transceiver, 50 m OM4", quantity: 32, unit_price: 1600}
    - {part: "OM4 MPO-12/APC fiber cable 40 m", quantity: 64, unit_price: 140}
```

## Sources

- Reach by grade: https://www.tiafotc.org/ieee-802-3-ethernet-standards-update/multimode-standards-update/400gbase-sr4-2/
- Reach of VR4 and SR4 over OM4: https://instacoolbio.com/a-guide-to-400g-optical-transceivers-vr4-vs-sr4-vs-sr8-vs-dr4-vs-fr4-lr4-vs-lr8-vs-er4-vs-zr4
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.quotes import lines_with_texts
from clusterspec.rules.readers.quotes.links import lengths_in, levels_named
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec, ScaleOutSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
OM3_SHARE = 0.7
"""Ratio of the reach over OM3 to the reach over OM4: 70 m of 100 m with 400GBASE-SR4.2; less with faster lanes."""
STANDARD = {"vr": 50.0, "sr": 100.0}
"""Reach over OM4 in meters, by the kind of module."""
_OM3 = pattern(r"\bom3\b")
_BETTER = pattern(r"\bom[45]\b")
_STATED = pattern(
    r"(?<![\w.,])(\d{1,3}) ?m(?:eters?|etres?)?\b[^;()\d]{0,12}?\bom[45]\b|\bom[45]\b[^;()\d]{0,12}?(\d{1,3}) ?m\b"
)
_KIND = pattern(r"(?<![a-wyz])(vr|sr)[48](?![\d.])")


def check(procurement: ProcurementSpec, cluster: Cluster, written_scale_out: ScaleOutSpec | None) -> Iterator[Problem]:
    if not procurement.quote:
        return
    lines = lines_with_texts(procurement.quote, cluster)
    modules = [(line, reach) for line, text in lines if line.kind == "transceiver" and (reach := _reach_over_om4(text))]
    if not modules:
        return
    module, reach = min(modules, key=lambda pair: pair[1])
    runs = {
        level: run.value for level, run in ((written_scale_out.distance if written_scale_out else None) or {}).items()
    }
    for line, text in lines:
        if line.kind != "cable" or _OM3.search(text) is None or _BETTER.search(text) is not None:
            continue
        named = {run for level, run in runs.items() if level in levels_named(text)} or {*runs.values()}
        run = min(named) if named else max(lengths_in(text), default=0.0)
        if run > OM3_SHARE * reach:
            message = f"`{name_of_part(line.line.part)}` is of OM3 for a run of {run:g} m, but `{name_of_part(module.line.part)}` reaches {reach:g} m over OM4, about {OM3_SHARE * reach:.0f} m or less over OM3"
            at = quote_path(line.index, "part")
            yield RULE.problem(at, message, "order fiber of OM4, or ask for the reach of the modules over OM3")
            return


def _reach_over_om4(text: str) -> float | None:
    """Reach of a module over OM4 in meters: as its line states, else by its kind; None if unknown.

    >>> [_reach_over_om4(each) for each in ("800g 2xvr4 transceiver", "400g-sr4, 60 m om4", "400g dr4")]
    [50.0, 60.0, None]
    """
    if (stated := _STATED.search(text)) is not None:
        return float(stated[1] or stated[2])
    kind = _KIND.search(text)
    return STANDARD[kind[1]] if kind is not None else None
