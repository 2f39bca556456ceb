"""The text keeps a group of ranks inside a node or a scale-up domain that the layout spreads over several.

## What it finds

A sentence that says of the traffic or the ranks of a parallelism that they stay inside one node or one scale-up domain
(`tensor parallelism stays on NVLink`, `the dispatch of experts never crosses InfiniBand`), where some groups of that
parallelism span several by the keys. Sentences on conditions, parts and plans are not compared.

## Why it matters

The fabric, its tuning and the times of the plan rest on where the traffic goes: outside the scale-up domain a collective
has a tenth of the bandwidth.

## What to do

Change the degree, so that the group fits, or correct the sentence and plan for traffic of the fabric.

## When to ignore it

Ignore it where the ranks are placed in another order than the layout says.

## Fires

```yaml description
clusterspec: 1
description: One engine of 16 ranks. All experts lie in one NVLink domain, so that the dispatch never crosses InfiniBand.
cluster: {platform: dgx-h200, nodes: 2}
workload: {kind: serve, model: deepseek-v3.1, serving: {input_tokens: 4000, output_tokens: 600, concurrency: 256}}
layout: {framework: sglang, attention_dp: 16, ep: 16}
```

```yaml description
clusterspec: 1
description: The tensor-parallel all-reduces stay inside the node.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-405b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, tp: 16, pp: 8}
```

## Silent

```yaml
clusterspec: 1
description: One engine for each node, so that the dispatch of experts never crosses InfiniBand.
cluster: {platform: dgx-h200, nodes: 2}
workload: {kind: serve, model: deepseek-v3.1, serving: {input_tokens: 4000, output_tokens: 600, concurrency: 256}}
layout: {framework: sglang, attention_dp: 8, ep: 8}
```

```yaml
clusterspec: 1
description: The tensor-parallel all-reduces stay inside the NVLink domain; gradients and stages cross the fabric.
cluster: {platform: gb200-nvl72, nodes: 36}
workload: {model: llama-3.1-405b, sequence_length: 8192, global_batch: 288}
layout: {framework: megatron-core, tp: 8, pp: 2}
```

## Sources

- Groups by the order of the axes of a layout: https://arxiv.org/abs/2104.04473
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster, Layout
from clusterspec.finding import Problem
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.text_units import word_set
from clusterspec.rules.knowledge.written_numbers import sentences_of
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error", "likely")
_AXES = {
    "tp": r"tensor[- ](?:parallel\w*|model[- ]parallel\w*)|tensorparallel\w*|tp(?:[- ]?(?:groups?|traffic|ranks|=?\d+))?",
    "ep": r"expert[- ]parallel\w*|expertenparallel\w*|ep(?:[- ]?(?:groups?|traffic|ranks|=?\d+))?|(?:all )?experts|dispatch(?:es)?(?: and combine)?|combine|expert exchange|exchange of (?:the )?experts",
    "cp": r"context[- ]parallel\w*|cp(?:[- ]?(?:groups?|traffic|ranks|=?\d+))?|ring attention",
    "pp": r"pipeline(?:[- ](?:stages?|parallel\w*|sends?|traffic))?|stages|pp(?:[- ]?(?:groups?|traffic|=?\d+))?",
    "shard": r"fsdp (?:gathers?|all-gathers?|traffic|groups?)|gathers of (?:parameters|weights)|(?:parameter|weight) (?:all-)?gathers|shard(?:ing)? groups?",
    "dp": r"gradients?|gradient (?:reductions?|all-reduces?|exchange)|data[- ]parallel\w*|dp[- ](?:groups?|traffic)",
}
"""The words of a sentence for the groups of each axis."""
_SUBJECT = pattern(r"(?i)\b(?:" + "|".join(f"(?P<{axis}>{words})" for axis, words in _AXES.items()) + r")\b")
_NODE = r"(?P<node>nodes?|servers?|machines?|box(?:es)?|hosts?|chassis|knotens?|rechners?|nœud|serveur|nodo|servidor)"
_DOMAIN = r"(?P<domain>(?:nvlink|nvswitch|scale-up|xgmi|infinity fabric|ici|neuronlink)(?:[- ](?:domain|island|fabric|mesh)s?)?)"
_INSIDE = pattern(
    r"(?i)\b(?:stays?|remains?|is kept|are kept|kept|keeps?|lies?|lives?|runs?|sits?|confined|contained|fits?|takes? place|happens?|bleib\w*|liegt|liegen|läuft|laufen|rest\w{0,3}|queda\w?|permanece\w?)"
    rf" (?:entirely |wholly |always |all |completely |alle |ganz )?(?:inside|within|in|on|to|over|innerhalb|auf|im|dans|dentro de|en) (?:of )?(?:the same |one |a single |a |the |each |its |their |single |einem |einer |eines |dem |der |demselben |le |un |même |el |la |una? )*(?:{_NODE}|{_DOMAIN})\b"
)
"""The claim that something is in one node or domain."""
_NEVER = pattern(
    r"(?i)\b(?:never|not|no longer|nie|niemals|nicht|jamais|nunca|ne) (?:leaves?|cross(?:es)?|touch(?:es)?|uses?|reach(?:es)?|need|needs|goes? over|verl[aä]ss\w*|verlassen|quitt\w*|sale\w?)"
    r" (?:the |a |its |their |den |das |die |le |la |el )*(?P<what>[^\W\d_-]+(?:-[^\W\d_]+)?)"
)
"""The claim that something leaves no node, or uses no fabric."""
_FABRICS = word_set(
    "infiniband ib fabric network ethernet roce efa scale-out nic nics spine leaf wire ndr rails rail slingshot"
)
_DOMAINS = word_set("nvlink nvswitch domain scale-up island rack xgmi ici")
_NODES = word_set(
    "node nodes server servers machine machines box host chassis knoten rechner nœud serveur nodo servidor"
)
_NOT_THIS_PLAN = pattern(
    r"(?i)\b(?:would|could|should|if|unless|until|only|mostly|mainly|partly|half|some of|most of|part of|share of|except|but|first|then|either|"
    r"where possible|up to|option|alternative|instead|other|reference|prefill|decode|draft|smaller|larger|wäre|würde|falls|wenn|sonst|nur|meist|si|sauf|excepto|per cent|percent|%|two|both)\b|%"
)
"""Words of conditions, parts, comparisons and pools, whose groups are not those of the plan as a whole."""


class Claim(NamedTuple):
    """A group that a sentence keeps inside: its axis, as a node or as a scale-up domain, in the words of the text."""

    axis: str
    in_node: bool
    words: str


def check(own_remarks: str, spec: Spec, cluster: Cluster, layout: Layout, placements: Placements) -> Iterator[Problem]:
    if not own_remarks or spec.pools or spec.jobs or layout.separate_engines:
        return
    for sentence in sentences_of(own_remarks):
        for claim in claims_of(sentence):
            placement = placements.of(claim.axis) if getattr(layout, claim.axis, 2) > 1 else None
            if placement is None or not _leaves(placement, in_node=claim.in_node):
                continue
            border = plural(placement.nodes, "node") if claim.in_node else plural(placement.domains, "scale-up domain")
            name = claim.axis.replace("shard", "sharding")
            message = f"`{claim.words}`: the {name} group of {plural(placement.ranks, 'rank')} spans {border}"
            yield RULE.problem("description", message, "change the degree, or correct the text")
            return


def claims_of(sentence: str) -> Iterator[Claim]:
    """The groups that a sentence keeps inside a node or a scale-up domain.

    >>> [each[:2] for each in claims_of("All experts lie in one NVLink domain, so the dispatch never crosses InfiniBand.")]
    [('ep', False), ('ep', False)]
    >>> [each[:2] for each in claims_of("With tp 4 the all-reduces would stay inside a node.")]
    []
    """
    if _NOT_THIS_PLAN.search(sentence) is not None:
        return
    for match in _INSIDE.finditer(sentence):
        if (axis := _axis_before(sentence, match.start())) is not None:
            yield Claim(axis[0], match["node"] is not None, sentence[axis[1] : match.end()])
    for match in _NEVER.finditer(sentence):
        what = match["what"].lower()
        if what in _FABRICS | _DOMAINS | _NODES and (axis := _axis_before(sentence, match.start())) is not None:
            yield Claim(axis[0], what in _NODES, sentence[axis[1] : match.end()])


NEAR = 60
"""Characters between the name of a group and the verb of its claim."""


def _axis_before(sentence: str, end: int) -> tuple[str, int] | None:
    """The axis that the words before a place name, and where they start; none where they name several or none."""
    start = max(0, end - NEAR, *(sentence.rfind(mark, 0, end) + 1 for mark in ",;:("))
    found = list(_SUBJECT.finditer(sentence, start, end))
    axes = {each.lastgroup for each in found}
    return (str(found[0].lastgroup), found[0].start()) if len(axes) == 1 else None


def _leaves(placement: Placement, *, in_node: bool) -> bool:
    return placement.nodes > 1 if in_node else placement.straddling > 0
