"""A disruption budget that allows no eviction stops the drain of nodes that the text plans.

## What it finds

A PodDisruptionBudget in the description or a comment that lets no pod be evicted (`minAvailable` of 100 % or of all replicas,
`maxUnavailable` of 0), and a drain, an upgrade or an autoscaler that takes nodes away. A text that adds replicas before the drain,
removes the budget or deletes the pods is silent.

## Why it matters

A drain evicts pods through an interface that refuses what the budget does not allow, and asks again without end. Eviction does
not start a replacement first, so a budget of all replicas never allows one: the upgrade stops at the first node.

## What to do

Allow one replica to be unavailable, and plan the load of the others for it; or add a replica before each drain.

## When to ignore it

Ignore it where somebody removes the pods by hand.

## Fires

```yaml description
clusterspec: 1
description: Six replicas with a PodDisruptionBudget of minAvailable 100%; upgrades drain one node after another at night.
cluster: {platform: dgx-b200, nodes: 3}
```

## Silent

```yaml
clusterspec: 1
description: Six replicas with a PodDisruptionBudget of minAvailable 5; upgrades drain one node after another at night.
cluster: {platform: dgx-b200, nodes: 3}
```

## Sources

- Budgets that allow no eviction: https://kubernetes.io/docs/tasks/run-application/configure-pdb/#specifying-a-poddisruptionbudget
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.text_units import NUMBERS
from clusterspec.rules.knowledge.written_numbers import belongs_to_something_else
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_COUNT = rf"(\d{{1,4}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
_LEAST = pattern(
    r"(?i)\bmin[- ]?Available[\"'`]?(?: ?[:=] ?| (?:of |is |set to |at |ist |von |est |de |à |es |en )?)[\"'`]?(?:(100) ?%|(\d{1,4})\b(?! ?%))"
)
_MOST = pattern(
    r"(?i)\bmax[- ]?Unavailable[\"'`]?(?: ?[:=] ?| (?:of |is |set to |at |ist |von |est |de |à |es |en )?)[\"'`]?0(?: ?%)?(?![\w.,%]*\d)"
)
_REPLICAS = pattern(rf"(?i)\b{_COUNT} (?:\w{{3,12}} )?(?:replicas?|pods?|repliken|replikate|répliques?|réplicas?)\b")
_DRAINS = pattern(
    r"(?i)\b(?:drain\w*|upgrad\w*|rolling|node (?:images?|pools?|updates?)|maintenance|autoscaler|karpenter|consolidat\w*|entleer\w*|aktualisier\w*|wartung|mise à (?:jour|niveau)|vide les nœuds|actualiza\w*|mantenimiento|vaciado)\b"
)
_AVOIDED = pattern(
    r"(?i)(?:\b|(?=--))(?:surge\w* (?:replica|pod)s?|(?:additional|extra|further|seventh|one more|spare) (?:replica|pod)s?|scal(?:es?|ed|ing) (?:up|out) (?:to \w+ )?(?:before|first)|(?<!no )(?<!without )(?<!not )(?<!nor )--(?:disable-eviction|force)\b|(?:delet|remov|suspend|lift|relax)\w* (?:the |this |its )?(?:budget|pdb|poddisruptionbudget)|by hand|manually|never drained|not drained|no (?:drains?|upgrades?)|blocks? (?:the |any |every |all )?(?:drain|eviction|upgrade)s?|zusätzliche\w* (?:replik\w*|pods?)|von hand|réplique supplémentaire|réplica adicional)\b"
)
_CUES = ("minavailable", "maxunavailable", "min-available", "max-unavailable", "min available", "max unavailable")


def check(own_remarks: str) -> Iterator[Problem]:
    folded = own_remarks.lower()
    if not any(cue in folded for cue in _CUES):
        return
    text = " ".join(own_remarks.replace("#", " ").split())
    if _DRAINS.search(text) is None or _AVOIDED.search(text) is not None:
        return
    setting = _setting_without_evictions(text)
    if setting:
        message = f"`{setting}` allows no eviction: a drain asks again without end, and stops at the first node with such a pod"
        yield RULE.problem("description", message, "allow one replica to be unavailable, or add one before each drain")


def _setting_without_evictions(text: str) -> str:
    """The setting of a budget that allows no eviction; empty without one.

    >>> _setting_without_evictions("six replicas, minAvailable: 6"), _setting_without_evictions("six replicas, minAvailable: 5")
    ('minAvailable: 6', '')
    >>> _setting_without_evictions("maxUnavailable 0"), _setting_without_evictions("maxUnavailable: 0.5")
    ('maxUnavailable 0', '')
    """
    replicas = {NUMBERS.get(each.lower()) or int(each) for each in _REPLICAS.findall(text)}
    most = _MOST.search(text)
    if most is not None and not belongs_to_something_else(text, most.start()):
        return most[0]
    for match in _LEAST.finditer(text):
        enough = match[1] is not None or (len(replicas) == 1 and int(match[2]) >= max(replicas))
        if enough and not belongs_to_something_else(text, match.start()):
            return match[0]
    return ""
