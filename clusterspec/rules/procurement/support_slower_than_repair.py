"""The planned repair time is shorter than the response time of the support.

## What it finds

`operations.repair_time` below `procurement.support.response`, both as stated, without parts on site: neither
`operations.stock` nor a text that names spare parts on site, or machines of a depot.

## Why it matters

A node waits for the part that failed. With support that answers after five days, a plan that counts on repair within one
keeps too few spares: nodes that wait for parts add up until the job has too few.

## What to do

Buy support with a shorter response, keep parts on site, or plan the longer repair and more spare nodes.

## When to ignore it

Ignore it where parts are in stock on site.

## Fires

```yaml procurement.support.response
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32, spare_nodes: 2}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
operations: {repair_time: 24 h}
procurement: {currency: USD, as_of: 2026-11-01, term: 4 years, support: {term: 4 years, response: 120 h}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32, spare_nodes: 2}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
operations: {repair_time: 48 h}
procurement: {currency: USD, as_of: 2026-11-01, term: 4 years, support: {term: 4 years, response: 24 h}}
```

## Sources

- Both keys: the format of this program (docs/spec.md)
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec, ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning")
_ON_SITE = pattern(
    r"\b(?:spares?|parts|machines?|nodes?|boxes|units?) (?:\w+ ){0,3}?(?:on[- ]?site|in stock|on the shelf|in (?:the|our) (?:store|depot)|at (?:the|our) (?:site|depot))\b|"
    r"\bon[- ]site (?:spares?|parts|stock)\b|\bdepots?\b"
)
"""Words of parts, or whole machines, that replace a failed one at once."""


def check(procurement: ProcurementSpec, operations: OperationsSpec, texts: PurchaseTexts) -> Iterator[Problem]:
    support, repair = procurement.support, operations.repair_time
    if support is None or support.response is None or repair is None or repair.value >= support.response.value:
        return
    if operations.stock is not None or _ON_SITE.search(texts.description) is not None:
        return
    yield RULE.problem(
        "procurement.support.response",
        f"the support replaces a part within {support.response.written}, and a failed node is planned to be back after {repair.written}",
        "buy faster support, keep parts on site, or plan the longer repair and more spares",
        related=[("operations.repair_time", "the planned repair")],
    )
