"""The planned repair time is shorter than the response time of the support.

## What it finds

A stated `operations.repair_time`, or the time after which a failed node is back according to the description, that is
shorter than the stated `procurement.support.response`. The rule is silent with parts on site: `operations.stock`, or a
text that mentions spare parts on site or machines in a depot. A text that excludes them (`no parts are kept on site`)
does not count. It is a warning, not an error: the job runs, and parts may be on site although nothing says so.

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

```yaml procurement.support.response
clusterspec: 1
description: The availability counts on a failed node being back within 6 h. No parts are kept on site.
cluster: {platform: dgx-h100, nodes: 32}
procurement: {currency: USD, as_of: 2026-11-01, term: 4 years, support: {term: 4 years, response: 5 days}}
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
from clusterspec.rules.readers.units import NUMBER_WORDS
from clusterspec.rules.readers.written_numbers import count_in_text, time_in_text
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec, ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "warning")
_ON_SITE = pattern(
    r"\b(?:spares?|parts|machines?|nodes?|boxes|units?) (?:\w+ ){0,3}?(?:on[- ]?site|in stock|on the shelf|in (?:the|our) (?:store|depot)|at (?:the|our) (?:site|depot))\b|"
    r"\bon[- ]site (?:spares?|parts|stock)\b|\bdepots?\b|\bspares? (?:vor ort|sur (?:le )?site|en (?:el )?sitio|in sede|op locatie|in lager)\b"
)
"""Pattern of words for parts or whole machines on site that replace a failed one at once."""
_NONE = pattern(
    r"\b(?:no|none|not|never|neither|nor|without|kein\w*|nicht|ohne|aucune?s?|pas|sans|ning[uú]n\w*|sin|nessun\w*|senza|geen|zonder|inga|utan|ingen|uden|bez)\b"
)
"""Pattern of words for the absence of parts."""
_CLAUSE_END = pattern(r"[.,;:()#]")
BROKEN = ("ailed", "roken", "aulty", "efect", "efekt", "ead ", "usgefallen", " down", "usfall", "ausfällt", "panne")
"""Parts of the words for a broken node; a text about one has at least one of them."""
_FAILED = r"\b(?:failed|broken|faulty|defective|dead|defekte[nrs]?|ausgefallene[nrs]?) (?:node|server|machine|system|knoten)s?\b[^.;\d]{0,30}?"
_TIME = rf"(?<![\w.,])(\d{{1,3}}|{'|'.join(NUMBER_WORDS)}) ?(h|hours?|days?)\b"
_REPAIRED = pattern(
    rf"{_FAILED}\b(?:back|repaired|replaced|restored|up|again|in service|repair time|wieder)\b[^.;\d]{{0,24}}?{_TIME}"
    rf"|\b(?:machine|node|server|system|region|site|rechner|knoten|nœud|serveur)\b[^.;\d]{{0,30}}\b(?:down|fails|ausfällt|en panne)\b[^.;\d]{{0,40}}?\b(?:back|repaired|restored|running again|wieder|rétablie?)\b[^.;\d]{{0,16}}?{_TIME}"
    rf"|{_FAILED}\b(?:within|after|in|nach|innerhalb von) {_TIME}[^.;\d]{{0,16}}?\b(?:back|again|repaired|replaced|up|wieder)\b"
)
"""Pattern of the time after which a failed node works again."""


def check(procurement: ProcurementSpec, operations: OperationsSpec | None, texts: PurchaseTexts) -> Iterator[Problem]:
    support = procurement.support
    if support is None or support.response is None or (operations is not None and operations.stock is not None):
        return
    stated = operations.repair_time if operations is not None else None
    seconds = stated.value if stated is not None else _repair_in_text(texts)
    if not 0 < seconds < support.response.value or _has_parts_on_site(texts.description):
        return
    planned = stated.written if stated is not None else display(seconds, "s")
    yield RULE.problem(
        "procurement.support.response",
        f"the support replaces a part within {support.response.written}, but a failed node is planned to be back after {planned}",
        "buy faster support, keep parts on site, or plan the longer repair and more spares",
        related=[("operations.repair_time", "the planned repair")] if stated is not None else (),
        confidence="" if stated is not None else "likely",
    )


def _repair_in_text(texts: PurchaseTexts) -> float:
    """Seconds after which a failed node works again, by the description; 0 unless it states exactly one time."""
    if not any(cue in texts.remarks for cue in BROKEN):
        return 0.0
    matches = [[each for each in match if each] for match in _REPAIRED.findall(texts.description)]
    found = {time_in_text(str(count_in_text(number)), unit) for number, unit in matches}
    return found.pop() if len(found) == 1 else 0.0


def _has_parts_on_site(text: str) -> bool:
    """Whether a clause of a text says that parts are on site.

    >>> _has_parts_on_site("spare parts on site, no spare node"), _has_parts_on_site("no parts are kept on site: see below")
    (True, False)
    """
    clauses = [each for each in _CLAUSE_END.split(text) if _ON_SITE.search(each) is not None]
    return any(_NONE.search(each) is None for each in clauses)
