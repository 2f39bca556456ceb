"""A disruption budget that allows no eviction stops the drain of nodes that the text plans.

## What it finds

A PodDisruptionBudget in the description or a comment that lets no pod be evicted (`minAvailable` of 100 % or of all replicas,
`maxUnavailable` of 0, or in words that all replicas stay available), and a drain, an upgrade or an autoscaler that takes nodes away. A text that adds replicas before the drain,
removes the budget or deletes the pods is silent.

## Why it matters

A drain evicts pods through an interface that refuses evictions beyond the budget; the drain then repeats the request
without end. Eviction does not start a replacement first, so a budget of all replicas never allows one: the upgrade
stops at the first node.

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
from itertools import islice

from clusterspec.finding import Problem
from clusterspec.rules.readers.clauses import planned_text
from clusterspec.rules.readers.units import NUMBERS
from clusterspec.rules.readers.written_numbers import MOST_MATCHES, belongs_to_something_else
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_WORDS = "|".join(sorted(NUMBERS, key=len, reverse=True))
_COUNT = rf"(\d{{1,4}}|{_WORDS})"
_TO = r"[\"'`]?(?: ?[:=] ?| (?:of |is |set to |at |equals |ist |von |est |de |à |es |en )?)[\"'`]?"
_LEAST = pattern(
    rf"(?i)\bmin(?:imum)?[- ]?Available{_TO}(?:(?P<all>100 ?(?:%|percent))|(?P<count>\d{{1,4}}\b(?! ?%)|(?:{_WORDS})\b))|\bmin(?:imum)? (?P<percent>100 ?(?:%|percent)) available\b"
)
_MOST = pattern(rf"(?i)\bmax[- ]?Unavailable{_TO}(?:0(?: ?%)?(?![\w.,%]*\d)|zero\b|null\b)")
_NONE = pattern(
    r"(?i)\bno (?:pod|replica|engine)s? (?:of [^.;]{1,40} )?(?:may|can|must) (?:ever )?be (?:disrupted|evicted|down|unavailable|missing|interrupted)"
    r"|\b(?:demands?|requires?|wants|keeps|insists) (?:that )?(?:all|every) [^.;,]{0,24}(?:replicas?|pods?|engines?) (?:(?:to )?(?:stay|be|are|remain)s? )?(?:up|available|running)"
    r"|\bmin(?:imum)?[- ]?Available (?:equals|is|=|at|set to) (?:the )?(?:number of replicas|replica count|replicas)\b|\bkein\w* pod darf\b"
)
"""Pattern of words for a disruption budget that allows no eviction, without a number."""
_OF_ALL = pattern(r"(?<![\w.,])(\d{1,4}) (?:of|out of|von|sur|de) (\d{1,4})(?![\w.,]*\d)")
_REPLICAS = pattern(
    rf"(?i)\b(?:replicas ?[:=] ?(\d{{1,4}})\b|{_COUNT} (?:\w{{3,12}} )?(?:replicas?|pods?|engines?|repliken|replikate|répliques?|réplicas?)|(single|sole|einzige\w?|seule?) (?:replica|pod|engine|replik|replikat|réplique))\b"
)
_DRAINS = pattern(
    r"(?i)\b(?:drain\w*|upgrad\w*|patch\w*|rolling|node (?:images?|pools?|updates?)|maintenance|autoscaler|karpenter|consolidat\w*|entleer\w*|geleert|leer\w*|aktualisier\w*|wartung|mise à (?:jour|niveau)|vide les nœuds|actualiza\w*|mantenimiento|vaciado)\b"
)
_AVOIDED = pattern(
    r"(?i)(?:\b|(?=--))(?:surge\w* (?:replica|pod)s?|(?:additional|extra|further|seventh|one more|spare) (?:replica|pod)s?|scal(?:es?|ed|ing) (?:up|out) (?:to \w+ )?(?:before|first)|before (?:each|every|the|a) (?:drain|upgrade|eviction)s?[^.;]{0,24}\bscal\w+|(?<!no )(?<!without )(?<!not )(?<!nor )--(?:disable-eviction|force)\b|(?:delet|remov|suspend|lift|relax)\w* (?:the |this |its )?(?:budget|pdb|poddisruptionbudget)|by hand|manually|never drained|not drained|no (?:drains?|upgrades?)|blocks? (?:the |any |every |all )?(?:drain|eviction|upgrade)s?|zusätzliche\w* (?:replik\w*|pods?)|von hand|réplique supplémentaire|réplica adicional)\b"
)
_CUES = (
    "disruption",
    "disrupted",
    "evicted",
    "pdb",
    "budget",
    "minavailable",
    "maxunavailable",
    "min-available",
    "max-unavailable",
    "min available",
    "max unavailable",
)


def check(own_remarks: str) -> Iterator[Problem]:
    folded = own_remarks.lower()
    if not any(cue in folded for cue in _CUES):
        return
    text = planned_text(" ".join(own_remarks.replace("#", " ").split()), past=False)
    if _DRAINS.search(text) is None or _AVOIDED.search(text) is not None:
        return
    setting = _setting_without_evictions(text)
    if setting:
        message = f"`{setting}` allows no eviction: a drain asks again without end, and stops at the first node with such a pod"
        yield RULE.problem("description", message, "allow one replica to be unavailable, or add one before each drain")


def _setting_without_evictions(text: str) -> str:
    """The budget setting that allows no eviction; empty if there is none.

    >>> _setting_without_evictions("six replicas, minAvailable: 6"), _setting_without_evictions("six replicas, minAvailable: 5")
    ('minAvailable: 6', '')
    >>> _setting_without_evictions("maxUnavailable 0"), _setting_without_evictions("maxUnavailable: 0.5")
    ('maxUnavailable 0', '')
    """
    replicas = {_count(each[1] or each[2] or "1") for each in islice(_REPLICAS.finditer(text), MOST_MATCHES)}
    for none in filter(None, (_MOST.search(text), _NONE.search(text))):
        if not belongs_to_something_else(text, none.start()):
            return none[0]
    for match in islice(_LEAST.finditer(text), MOST_MATCHES):
        least = _count(match["count"]) if match["count"] else 0
        whole = _OF_ALL.search(text, match.start(), match.end() + 12)
        enough = not match["count"] or (least >= max(replicas) if len(replicas) == 1 else False)
        if whole is not None:
            enough = int(whole[1]) >= int(whole[2])
        if enough and not belongs_to_something_else(text, match.start()):
            return match[0]
    return ""


def _count(written: str) -> int:
    return NUMBERS.get(written.lower()) or int(written)
