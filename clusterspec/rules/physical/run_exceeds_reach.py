"""A cable run is longer than its cable or optics reach.

## What it finds

The longest run of a level above the reach of the optics that the spec names for it, or, where it names only a
`cable_type`, above the longest reach of any such cable in the catalog at the rate of the links. Runs are stated in
`distance`, or, between nodes and leaves, in meters in the description or a comment; else they follow from
`nodes_per_rack` and `floor`: the racks that share a leaf, side by side, and 1.5 m from port to tray at both ends. In a
rail fabric one leaf serves a NIC of every node, so its cables leave the rack.

## Why it matters

The link does not come up, or drops under load. At 100 Gb/s per lane, passive copper reaches 2 to 3 m and multimode
fiber 50 m; the DR4 module for 100 m is not the part for 500 m.

## What to do

Use a cable or module of longer reach, or put the switches nearer: in the middle of the row instead of its end.

## When to ignore it

Ignore it where the racks stand nearer than the run that the message derives, and state `distance`.

## Fires

```yaml cluster.scale_out.optics.leaf_spine
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out:
    technology: infiniband-ndr
    topology: rail-optimized
    switch: quantum-2-qm9700
    optics: {leaf_spine: mma4z00-ns}
    distance: {leaf_spine: 60 m}
```

```yaml cluster.scale_out.cable_type.node_leaf
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 32
  scale_out: {technology: infiniband-ndr, topology: rail-optimized, switch: quantum-2-qm9700, cable_type: {node_leaf: dac}}
  power: {nodes_per_rack: 4}
```

```yaml cluster.scale_out.optics.node_leaf
clusterspec: 1
description: The leaf switches stand 70 m from the nodes.
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out:
    technology: infiniband-ndr
    topology: rail-optimized
    switch: quantum-2-qm9700
    optics: {node_leaf: mma4z00-ns}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out:
    technology: infiniband-ndr
    topology: rail-optimized
    switch: quantum-2-qm9700
    optics: {leaf_spine: mms4x00-ns}
    distance: {leaf_spine: 60 m}
```

## Sources

- Reach of copper: https://docs.nvidia.com/networking/display/400g100gpam4ovpub/copper-dac-and-lacc-cables-overview
- Reach of modules: `clusterspec catalog list --kind optics`
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Optics
from clusterspec.cluster.cable_runs import RISE, Run
from clusterspec.cluster.clos import FIBER
from clusterspec.cluster.fabric import level_optics
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount, known_runs, link_rate
from clusterspec.rules.readers.amounts import LENGTH, amounts_in, is_of_plan
from clusterspec.rules.readers.clauses import clause_at
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error")
SAME = 0.01
"""Relative tolerance for equal rates."""
TITLES = {"node_leaf": "node to leaf", "leaf_spine": "leaf to spine", "spine_core": "spine to core"}
OF_TEXT = "as the text says"
_OF_RUN = pattern(
    r"(?i)\b(?:leaf|leaves|leafs|tors?|switch(?:es)?|trays?|runs?|cabling|cables?|câbles?|kabel\w*|node[- ]leaf)\b"
)
_OTHER_LENGTH = pattern(
    r"(?i)\b(?:spines?|cores?|reach\w*|optics?|transceivers?|modules?|aisles?|transformers?|chillers?|generators?|halls? (?:is|are)|rows? (?:is|are)|reichweite|portée|alcance|within the|wide|high)\b"
)
"""Pattern of words that give a length to something else than a cable between nodes and leaves."""


def check(
    counts: FabricCount,
    written_cluster: ClusterSpec,
    cluster: Cluster,
    scale_out: ScaleOut,
    catalog: Catalog,
    own_remarks: str | None,
) -> Iterator[Problem]:
    section = written_cluster.scale_out
    if section is None or not (section.optics or section.cable_type):
        return
    runs = known_runs(counts, written_cluster, cluster)
    if not section.distance and (meters := _cable_length_in(own_remarks or "")) is not None:
        runs["node_leaf"] = Run(meters, OF_TEXT, stated=False)
    for one in level_optics(scale_out):
        if one.level in runs:
            end = min(one.ends, key=lambda part: part.reach.value if part.reach else float("inf"))
            yield from _long_run_problem(f"optics.{one.level}", one.level, runs[one.level], end.name, _reach_of(end))
    for level, kind in (section.cable_type or {}).items():
        if kind != FIBER and level in runs and level not in (section.optics or {}):
            longest = max(_cable_reaches(catalog, kind, scale_out), default=None)
            article = "an" if kind.startswith("a") else "a"
            part, counted = f"{article} {kind.upper()} at this rate", section.transceivers is not None
            yield from _long_run_problem(f"cable_type.{level}", level, runs[level], part, longest, counted=counted)


def _cable_length_in(text: str) -> float | None:
    """The length in meters in a sentence about switches or cabling; None unless a sentence states exactly one.

    >>> _cable_length_in("Node to leaf 64 m, leaf to spine 90 m"), _cable_length_in("The switches are 35 m away, within the 50 m of the optics")
    (64.0, 35.0)
    """
    for sentence in sentences_of(" ".join(text.split())):
        if _OF_RUN.search(sentence) is None:
            continue
        lengths = [each for each in amounts_in(sentence) if each.kind == LENGTH and is_of_plan(sentence, each)]
        own = {
            each.value for each in lengths if _OTHER_LENGTH.search(clause_at(sentence, each.start, each.end)) is None
        }
        if len(own) == 1:
            return own.pop()
    return None


def _long_run_problem(
    key: str, level: str, run: Run, part: str, reach: float | None, *, counted: bool = False
) -> Iterator[Problem]:
    """The problem of a run that is longer than the reach of its part; ``counted`` if the spec counts the modules of all
    links.
    """
    if reach is None or run.meters <= reach:
        return
    derived = f" ({run.how}, with {2 * RISE:g} m up and down)"
    known = "" if run.stated else f", {OF_TEXT}" if run.how == OF_TEXT else derived
    message = f"the longest run {TITLES[level]} is {display(run.meters, 'm')}{known}, but {part} reaches {display(reach, 'm')}"
    farther = "use optics (and count them in `transceivers`)" if counted else "use optics"
    yield RULE.problem(
        f"cluster.scale_out.{key}",
        message,
        f"{farther} or a cable of longer reach, or place the switches within {display(reach, 'm')}",
        confidence="certain" if run.stated else "likely",
        related=[(f"cluster.scale_out.distance.{level}", "the run")] if run.stated else (),
    )


def _reach_of(part: Optics) -> float | None:
    return part.reach.value if part.reach else None


def _cable_reaches(catalog: Catalog, kind: str, fabric: ScaleOut) -> Iterator[float]:
    """The reach of each cable of a type that supports the protocol and the link rate of the fabric."""
    rate, family = link_rate(fabric), fabric.technology.family
    for id_ in catalog.ids("optics"):
        part = catalog.get("optics", id_) if id_.startswith(f"{kind}-") else None
        if not isinstance(part, Optics) or part.bandwidth is None or part.reach is None:
            continue
        if family in (part.families or (family,)) and any(
            abs(whole / rate - 1) < SAME for whole in (part.bandwidth.value, part.bandwidth.value / part.ports)
        ):
            yield part.reach.value
