"""One cluster lies in two availability zones.

## What it finds

Two zones for the nodes in the description or a comment (`us-east-1b`, `europe-west4-a`, `use1-az4`, `across two
zones`), where `scale_out.placement` states a placement group or the fabric is EFA. Zones of storage systems, bastion
hosts and fallbacks do not count.

## Why it matters

A cluster placement group lies in one zone, and RDMA does not leave it. Between zones, traffic takes the routed network
of the region, with a latency of about a millisecond.

## What to do

Plan all nodes of a job in one zone, or two jobs.

## When to ignore it

Ignore it where the text names a zone for something else, such as a copy of the data.

## Fires

```yaml cluster.scale_out.placement
clusterspec: 1
description: Eight instances in us-east-1b and eight in us-east-1d.
cluster: {platform: aws-p5-48xlarge, nodes: 16, scale_out: {placement: cluster-placement-group}}
```

## Silent

```yaml
clusterspec: 1
description: Sixteen instances in us-east-1b.
cluster: {platform: aws-p5-48xlarge, nodes: 16, scale_out: {placement: cluster-placement-group}}
```

## Sources

- One zone for each placement group: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
- EFA within a zone: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.readers.clauses import clauses_of, planned_text
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_ZONE = pattern(
    r"\b(?:us|eu|ap|ca|sa|me|af|il|mx)-[a-z]+-\d[a-f]\b|\b[a-z]+-[a-z]+\d-[a-f]\b|\b(?:us|eu|ap|ca|sa|me|af)[a-z]{1,2}\d-az\d\b"
)
_ACROSS = pattern(
    r"(?i)\b(?:across|spans?|covers?|over|between|among|into|auf|über|sur|entre|en) (?P<zones>(?:two|three|four|several|multiple|both|[2-6]|zwei|drei|mehrere|deux|trois|plusieurs|dos|tres|varias)(?: different)? (?:availability )?(?:zones|azs|zonen|verfügbarkeitszonen|zonas))\b"
)
_MACHINES = pattern(
    r"(?i)\b(?:nodes?|instances?|machines?|fleet|cluster|capacity|gpus?|ranks?|knoten|instanzen|instancias|nœuds|nodos)\b"
)
_OTHER_PARTS = pattern(
    r"(?i)\b(?:fall-?backs?|back-?ups?|reserves?|bastion|jump|buckets?|cop(?:y|ies|ied)|replicas?|replicated|stor(?:e|age)|s3|login|disaster|prices?|quota|instead|either|or|latency|serving|inference|engines?|api|database|load balancer|control plane|ersatz|secours|respaldo|not|no|none|never|empty|sold out|reject\w*)\b"
)
"""Pattern of words in a clause about a zone without nodes of the job, or about one of several options."""


def check(own_remarks: str, written_cluster: ClusterSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    if not own_remarks:
        return
    section = written_cluster.scale_out
    placed = section.placement if section is not None else None
    if placed is None and scale_out.technology.family != "efa":
        return
    zones = _zones_of_nodes(" ".join(own_remarks.split()))
    if len(zones) > 1:
        message = f"the text places nodes in {' and '.join(zones[:2])}, but `placement` is {placed or 'not stated'}: a group lies in one zone, and RDMA does not leave it"
        yield RULE.problem("cluster.scale_out.placement", message, "plan all nodes of a job in one zone")


def _clauses_of_nodes(sentence: str) -> Iterator[str]:
    """The clauses of a sentence that are about nodes of the job; clauses about other parts, and their continuations,
    are omitted.
    """
    others = False
    for start, end in clauses_of(sentence):
        clause = sentence[start:end]
        others = _OTHER_PARTS.search(clause) is not None or (others and _MACHINES.search(clause) is None)
        if not others:
            yield clause


def _zones_of_nodes(text: str) -> list[str]:
    """The zones in which a text places nodes.

    >>> _zones_of_nodes("The nodes are in us-east-1a and us-east-1b, and the bastion in us-east-1c.")
    ['us-east-1a', 'us-east-1b']
    >>> _zones_of_nodes("The cluster is split across two zones.")
    ['two zones', 'more than one']
    """
    planned = planned_text(text, past=False)
    own = ". ".join(each for sentence in sentences_of(planned) for each in _clauses_of_nodes(sentence))
    zones, across = sorted({*_ZONE.findall(own)}), _ACROSS.search(own)
    if len(zones) < 2 and across is not None and _MACHINES.search(own) is not None:
        return [across["zones"], "more than one"]
    return zones
