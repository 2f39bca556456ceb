"""Accelerators under export control go to a country for which they need a license.

## What it finds

A purchase whose description names China, Hong Kong, Macau, Russia, Belarus, Iran, Syria, Cuba or North Korea as the place of
the machine, with accelerators of a maker in the United States whose total processing performance is 4,800 or more (dense
TFLOP/s in bf16 × 16). A text that names a license or an approval of the export is silent.

## Why it matters

ECCN 3A090.a covers such parts, and servers with them. Without a license nobody may export or reexport them there, also from
a third country, and applications for reexports and for parts as fast as Blackwell are presumed to be denied. Money that is
paid in advance is bound for months.

## What to do

Ask for the license before the order, and make the payment depend on it; or choose a place or a part that needs none.

## When to ignore it

Ignore it where the license is there; say so in the description.

## Fires

```yaml cluster.platform
clusterspec: 1
description: "16 DGX B300, final destination is the data center of our subsidiary in Shenzhen."
cluster: {platform: dgx-b300, nodes: 16}
procurement: {currency: EUR, delivery: {weeks: 18}}
```

## Silent

```yaml
clusterspec: 1
description: "16 DGX B300, final destination is the data center of our subsidiary in Singapore."
cluster: {platform: dgx-b300, nodes: 16}
procurement: {currency: EUR, delivery: {weeks: 18}}
```

## Sources

- Licenses for China and Macau, and the limit of 21,000: https://www.morganlewis.com/pubs/2026/01/bis-revises-export-review-policy-for-advanced-ai-chips-destined-for-china-and-macau
- Reexports: https://sanctionsnews.bakermckenzie.com/bis-revises-license-review-policy-for-advanced-computing-commodities-ai-semiconductors-to-china-and-macau-when-exported-from-the-united-states
- Country groups: https://www.afslaw.com/perspectives/national-security-counsel/bis-relaxes-export-license-review-h200-chips-china-and-macau
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.finding import Problem
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
LEAST_PERFORMANCE = 4800.0
"""Smallest total processing performance (dense TFLOP/s times the bits of an operand) at which ECCN 3A090.a applies."""
MAKERS = frozenset({"NVIDIA", "AMD", "Intel", "Google", "Amazon", "AWS", "Cerebras", "Groq"})
_PLACE = pattern(
    r"\b(?:china|chine|shenzhen|beijing|shanghai|hangzhou|guangzhou|hong kong|macau|macao|russia|russie|rusia|russland|moscow|belarus|iran|syria|cuba|north korea)\b"
)
_DESTINATION = pattern(
    r"\b(?:destin\w*|deliver\w*|ship\w*|sent|data ?cent(?:er|re)s?|datacenter|site|located|installed|hall|subsidiary|export\w*|re-?export\w*|centro de datos|"
    r"rechenzentrum|standort|filial\w*|entrega|livraison|centre de données|tochter\w*)\b"
)
_ALLOWED = pattern(
    r"\b(?:licen[cs]e[sd]? (?:is |was |has been |are )?(?:granted|issued|approved|there|in hand)|(?:granted|issued|approved) licen[cs]e|authori[sz]ation (?:is |was )?(?:granted|issued)|bis licen[cs]e (?:no|number|d\d))\b"
)


def check(procurement: ProcurementSpec, accelerator: Accelerator, texts: PurchaseTexts) -> Iterator[Problem]:
    if not procurement.quote and procurement.delivery is None:
        return
    peak = accelerator.peaks.get("bf16")
    performance = peak.value / 1e12 * 16 if peak is not None else 0.0
    if accelerator.vendor not in MAKERS or performance < LEAST_PERFORMANCE or _ALLOWED.search(texts.description):
        return
    for _, text in texts.placed:
        place = _PLACE.search(text)
        if place is not None and _DESTINATION.search(text) is not None:
            message = f"{accelerator.name} has a total processing performance of {performance:,.0f}, and its export to {place[0].title()} needs a license from {LEAST_PERFORMANCE:,.0f} on"
            yield RULE.problem("cluster.platform", message, "make the order and the payments depend on the license")
            return
