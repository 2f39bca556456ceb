"""The service that exports memory over NVLink between nodes is off, or each node is a domain of its own.

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
from clusterspec.rules.knowledge.written_numbers import sentences_of
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_SERVICE = pattern(r"(?i)\bimex\b|\bnodes_config\.cfg\b")
_ALONE = pattern(
    r"(?i)\b(?:its|their) own (?:ip )?address(?:es)?\b|\baddress of the (?:tray|node|host|server) itself\b|\bitself and nothing else\b|"
    r"\b(?:only|just) (?:its own|the own|one|itself|the (?:local|tray's|node's) (?:own )?address|localhost|127\.0\.0\.1)\b|\b(?:a|one) domain (?:of its own|per (?:tray|node))\b|"
    r"\beach (?:tray|node) (?:is|has|forms) (?:a|its own|an own)\b"
)
_OFF = pattern(
    r"(?i)\b(?:imex)\b[^.;]{0,40}?\b(?:is|was|are|stays?|remains?)? ?(?:disabled|masked|off|stopped|not (?:running|started|installed|enabled|used)|uninstalled)\b|\b(?:no|without) (?:nvidia-)?imex\b"
)


def check(own_remarks: str, cluster: Cluster, placements: Placements) -> Iterator[Problem]:
    if not own_remarks or cluster.scale_up.domain <= cluster.accelerators_per_node:
        return
    if cluster.accelerator.vendor != "NVIDIA" or not any(
        _crosses_nodes(placements, axis) for axis in ("tp", "ep", "cp", "pp", "dp")
    ):
        return
    for sentence in sentences_of(own_remarks):
        if _SERVICE.search(sentence) is None:
            continue
        off, alone = _OFF.search(sentence), _ALONE.search(sentence)
        if off is not None or alone is not None:
            what = "does not run" if off is not None else "knows one node alone"
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
