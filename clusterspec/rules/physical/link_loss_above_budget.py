"""The connectors of a fiber link lose more light than its modules allow.

## What it finds

A line, a milestone or a sentence that counts the panels or mated connectors of a link and the loss of each in dB, whose
product is above the loss that the modules of the fabric allow between them: 1.8 dB on multimode fiber at 100 Gb/s a lane, 3
dB for DR and 4 dB for FR modules. The loss of the fiber comes on top and is not counted. It is an error.

## Why it matters

Links within their reach flap, or do not come up, if the light passes too many panels: reach alone does not show it.

## What to do

Run trunks through fewer panels, choose connectors of low loss (0.35 dB), or modules with a larger budget.

## When to ignore it

Ignore it where the stated loss covers the whole link, or was measured.

## Fires

```yaml procurement.quote[0].part
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 32
  scale_out: {technology: infiniband-ndr, optics: {node_leaf: [mma4z00-ns400, mma4z00-ns]}}
procurement:
  currency: EUR
  quote: [{part: "Structured link OM4 MPO-12/APC 30 m through four MPO panels, 0.6 dB per panel", quantity: 256, unit_price: 120}]
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 32
  scale_out: {technology: infiniband-ndr, optics: {node_leaf: [mma4z00-ns400, mma4z00-ns]}}
procurement:
  currency: EUR
  quote: [{part: "Structured link OM4 MPO-12/APC 30 m through four MPO panels, 0.35 dB per panel", quantity: 256, unit_price: 120}]
```

## Sources

- Loss of a channel on multimode fiber, 1.7 to 2.0 dB by fiber: https://www.tiafotc.org/ieee-802-3-ethernet-standards-update/multimode-standards-update/400gbase-sr4-2/
- 3 dB for DR4 and 4 dB for FR4: IEEE Std 802.3-2022, clauses 124 and 151, https://standards.ieee.org/ieee/802.3/10422/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Optics
from clusterspec.cluster.fabric import level_optics
from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.units import NUMBER_WORDS
from clusterspec.rules.readers.written_numbers import NUMBER, count_in_text, number_in_text
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import plain

RULE = Rule.of(__name__, "error", "likely")
BUDGETS = {"multimode": 1.8, "dr": 3.0, "fr": 4.0}
"""Largest loss in dB of a link between modules, by the kind of the modules."""
_COUNTED = pattern(
    rf"(?<![\w.,])(\d{{1,2}}|{'|'.join(NUMBER_WORDS)}) (?:[x×] )?(?:[a-z-]{{2,12}} ){{0,2}}?(?:panels?|connectors?|mated pairs?|connections|couplers?|adapters?|cassettes?)\b"
    rf"[^.;]{{0,30}}?{NUMBER} ?db (?:per|each|a|/) ?\w|(?<![\w.,])(\d{{1,2}}) ?[x×] ?{NUMBER} ?db\b"
)
"""Pattern of the number of connectors of a link and the loss of each in dB."""
_SINGLE_MODE = (("dr", pattern(r"(?:^|[^a-z])(?:2x)?x?dr\d\b")), ("fr", pattern(r"(?:^|[^a-z])(?:2x)?fr\d\b")))


def check(scale_out: ScaleOut, texts: PurchaseTexts) -> Iterator[Problem]:
    if not scale_out.optics:
        return
    modules = [end for one in level_optics(scale_out) for end in one.ends if end.type == "module"]
    budgets = {budget for each in modules if (budget := _budget_of(each))}
    if not budgets:
        return
    for at, text in texts.placed:
        found = _COUNTED.search(text)
        if found is None:
            continue
        count, loss = (found[1], found[2]) if found[1] else (found[3], found[4])
        lost = count_in_text(count) * number_in_text(loss)
        if lost > max(budgets):
            message = f"{count} connectors of {loss} dB lose {plain(lost, 3)} dB, but the modules of the fabric allow {max(budgets):g} dB"
            yield RULE.problem(at, message, "use fewer panels, connectors of lower loss, or other modules")
            return


def _budget_of(module: Optics) -> float:
    """Largest loss in dB of a link between modules of this kind; 0 for unlisted kinds."""
    if module.media == "multimode":
        return BUDGETS["multimode"]
    name = f"{module.id} {module.name}".lower()
    return next((BUDGETS[kind] for kind, words in _SINGLE_MODE if words.search(name) is not None), 0.0)
