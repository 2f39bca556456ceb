"""The text lets more nodes fail than the training job can replace.

## What it finds

A sentence of the description or the comments that lets a number of nodes fail, in the machine or in one scale-up
domain, while the job continues at its size, although fewer nodes are spare. Spare are `spare_nodes` and the nodes that
the layout leaves idle; in a domain, the nodes beyond `nodes_per_domain`.

## Why it matters

After one failure more than there are spares, the job stops until a repair. Staff, contracts and deadlines are planned by that
number.

## What to do

Correct the number, add spare nodes, or say that the job goes on with fewer replicas.

## When to ignore it

Ignore it where failed nodes are replaced from another pool that the spec does not describe.

## Fires

```yaml description
clusterspec: 1
description: Any three of the nodes may fail, and the job goes on after a restart.
cluster: {platform: dgx-h100, nodes: 32, spare_nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024}
```

```yaml description
clusterspec: 1
description: Each rack has warm trays, so three trays of one rack can be lost and the run continues with all its ranks.
cluster: {platform: gb300-nvl72, nodes: 72}
workload: {model: llama-3.1-70b, sequence_length: 4096, global_batch: 1024}
layout: {framework: megatron-core, nodes_per_domain: 16, tp: 8, dp: 32}
```

## Silent

```yaml
clusterspec: 1
description: Any two of the nodes may fail, and the job goes on after a restart. After three it goes on with fewer replicas.
cluster: {platform: dgx-h100, nodes: 32, spare_nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024}
```

## Sources

- Arithmetic: nodes of the machine or of a domain less those of the job.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.readers.units import NUMBERS
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import plural

RULE = Rule.of(__name__, "error", "likely")
_WORDS = "|".join(sorted((word for word, number in NUMBERS.items() if number > 1), key=len, reverse=True))
_LOST = pattern(
    rf"(?<![\w.,-])(?P<count>\d{{1,3}}|{_WORDS})(?: of (?:the|its|our|these))?(?: [\w-]{{2,16}})?? "
    r"(?P<unit>nodes|trays|hosts|servers|machines|instances|knoten|server|nœuds|serveurs|nodos|servidores)\b(?P<between>[^.;]{0,60}?)\b"
    r"(?:fail|be lost|be down|go down|drop out|die|break|be out|be missing|be removed|be pulled|ausfallen|wegfallen|tomber en panne|être perdus|fallar)\b"
)
_ALLOWED = pattern(
    r"\b(?:may|can|could|any|tolerat\w*|surviv\w*|allowed|dürfen|können|peuvent|pueden|at once|at the same time|gleichzeitig)\b"
)
_GOES_ON = pattern(
    r"\b(?:go(?:es)? on|continu\w+|keeps? (?:on|running|going|training)|resum\w+|carr(?:y|ies) on|runs? on|still (?:runs?|trains?)|restart\w*|without (?:a |any )?(?:stop\w*|interruption|repair|waiting)|"
    r"läuft weiter|weiterläuft|weiter|continue|sigue|full size|all (?:its )?ranks)\b"
)
_SMALLER = pattern(
    r"\b(?:fewer|smaller|shrink\w*|shrunk|elastic\w*|reduced|less|slower|half|cannot|can not|can't|not|no longer|never|stops?|waits?|until|unless|would|was|were|replica is dropped|weniger|kleiner|nicht)\b"
)
_OF_DOMAIN = pattern(
    r"\b(?:(?:of|in|per|from|within) (?:one|a|an|any|each|every|the same|a single) (?:rack|domain|nvl72|cabinet)|je rack|pro rack|eines racks|par baie|por rack)\b"
)


def check(own_remarks: str, cluster: Cluster, layout: Layout | None, training: Workload) -> Iterator[Problem]:
    if not own_remarks or training.rl is not None:
        return
    for sentence in sentences_of(own_remarks.lower()):
        match = _LOST.search(sentence)
        if match is None or _ALLOWED.search(sentence) is None or _GOES_ON.search(sentence) is None:
            continue
        if _SMALLER.search(sentence) is not None:
            continue
        count = NUMBERS.get(match["count"]) or int(match["count"])
        of_domain = _OF_DOMAIN.search(sentence) is not None
        spare = _spare_of_domain(cluster, layout) if of_domain else _spare_nodes(cluster, layout)
        if spare is not None and count > spare:
            whole = "a domain" if of_domain else "the machine"
            message = (
                f"the text lets {count} nodes fail, but {whole} has {plural(spare, 'node')} more than the job needs"
            )
            yield RULE.problem("description", message, "correct the number, or add spares")
            return


def _spare_nodes(cluster: Cluster, layout: Layout | None) -> int:
    """Number of nodes of the machine that the job does not use."""
    return cluster.all_nodes - (layout.nodes if layout is not None else cluster.nodes)


def _spare_of_domain(cluster: Cluster, layout: Layout | None) -> int | None:
    """Number of nodes in a scale-up domain that the job does not use; None if the domain is not several nodes."""
    nodes = cluster.scale_up.domain // cluster.accelerators_per_node
    if nodes < 2 or layout is None:
        return None
    return nodes - (layout.nodes_per_domain or nodes)
