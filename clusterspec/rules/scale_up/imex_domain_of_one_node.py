"""The service that exports memory over NVLink between nodes is off, or each node is a separate domain.

## What it finds

A text by which `nvidia-imex` does not run, or each tray lists only its own address, in a machine whose NVLink domain spans
nodes and whose layout has groups over several of them.

## Why it matters

A process maps the memory of another node over NVLink only inside one IMEX domain. Without it NCCL takes the NICs between
trays of the same rack, at a small share of the bandwidth of NVLink.

## What to do

List the addresses of all nodes of the NVLink domain in `nodes_config.cfg` of each of them, and start the service before jobs.

## When to ignore it

Ignore it where the scheduler sets up the domain for each job; say so in the text.

## Fires

```yaml description
clusterspec: 1
description: nvidia-imex runs on every tray; its nodes_config.cfg holds the address of the tray itself and nothing else.
cluster: {platform: gb200-nvl72, nodes: 18}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, tp: 8}
```

## Silent

```yaml
clusterspec: 1
description: nvidia-imex runs on every tray; its nodes_config.cfg holds the addresses of all 18 trays.
cluster: {platform: gb200-nvl72, nodes: 18}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, tp: 8}
```

## Sources

- All nodes of the domain: https://docs.nvidia.com/multi-node-nvlink-systems/imex-guide/deployment.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.parts import Placements
from clusterspec.rules.readers.clauses import clauses_of, planned_text
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_SERVICE = pattern(r"(?i)\bimex\b|\bnodes_config\.cfg\b")
_ALONE = pattern(
    r"(?i)\b(?:its|their) own (?:ip )?(?:address(?:es)?|ip)\b|\baddress of the (?:tray|node|host|server) itself\b|\bitself and nothing else\b|"
    r"\b(?:only|just|nur|nothing but) (?:its own|the own|one|itself|sich selbst|seine eigene|the (?:local|tray's|node's) (?:own )?address|localhost|127\.0\.0\.1)\b|\b(?:a|one) domain (?:of its own|per (?:tray|node))\b|"
    r"\b(?:each|every) (?:\w+ )?(?:tray|node)s? (?:is|has|forms) (?:a|its own|an own)\b|\b(?:own|separate|eigene|propre) (?:imex[- ])?(?:domain|domäne|domaine)\b|\bonly (?:its|their) own\b|\bonly (?:that|this) (?:tray|node)\b|\b(?:a single|only one|just one) (?:ip )?(?:address|entry|line)\b"
)
_OFF = pattern(
    r"(?i)(?<!not )(?<!never )(?<!be )\b(?:disabled?|masked?|(?:switched |turned |is |are |stays? |remains? )off|stopped|inactive|dead|uninstalled|removed|abgeschaltet|ausgeschaltet|deaktiviert|gestoppt|désactivé\w*|arrêté\w*|desactivad\w*"
    r"|(?:not|never|nicht|pas) (?:\w+ )?(?:running|run|start(?:ed)?|install(?:ed)?|enabled?|used?|deployed|configured|gestartet|installiert|läuft|démarré|lancé))\b|\bimex\W{1,3}off\b|\b(?:no|without|ohne|sans|kein) (?:nvidia-)?imex\b"
)
_ELSEWHERE = pattern(
    r"(?i)\b(?:login|head|management|service|storage|cpu|build|test|old)[- ](?:nodes?|hosts?|servers?)\b|\b(?:prolog|for each job|per job|by the scheduler)\b|"
    r"(?<!as )\b(?:on|in|at) (?:the |our |its |their )?(?:old|former|previous|earlier|existing|other)\b|\b[dh]gx[- ][abh]\d00\b"
)
"""Pattern of words in a clause about other nodes, or about a service that the scheduler starts."""
_PLACE = pattern(r"(?i)(?<!as )(\b(?:on|in|at) (?:the|our|its|their|an?) [\w -]{3,40}),(?= )")
"""Pattern of a place that is named before the clause about it."""


def check(own_remarks: str, cluster: Cluster, placements: Placements) -> Iterator[Problem]:
    if not own_remarks or cluster.scale_up.domain <= cluster.accelerators_per_node:
        return
    if cluster.accelerator.vendor != "NVIDIA" or not any(
        _crosses_nodes(placements, axis) for axis in ("tp", "ep", "cp", "pp", "dp")
    ):
        return
    for sentence in sentences_of(" ".join(own_remarks.split())):
        if _SERVICE.search(sentence) is None:
            continue
        planned = _PLACE.sub(r"\1", planned_text(sentence))
        clauses = [planned[start:end] for start, end in clauses_of(planned)]
        own = ", ".join(each for each in clauses if _ELSEWHERE.search(each) is None)
        off, alone = _OFF.search(own), _ALONE.search(own)
        if off is not None or alone is not None:
            what = "does not run" if off is not None else "knows only one node"
            message = f"according to the text, the IMEX service {what}: the {cluster.scale_up.domain} accelerators of a domain reach those of other nodes over their NICs"
            yield RULE.problem(
                "description",
                message,
                "list all nodes of the domain in `nodes_config.cfg` of each, and start the service",
            )
            return


def _crosses_nodes(placements: Placements, axis: str) -> bool:
    """Whether the groups of an axis span nodes of one domain."""
    placement = placements.of(axis)
    return placement is not None and placement.nodes > placement.domains
