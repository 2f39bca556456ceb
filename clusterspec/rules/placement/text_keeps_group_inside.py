"""The text keeps a group of ranks inside a node or domain, but the layout spreads it over several.

## What it finds

A sentence that keeps the traffic or the ranks of one kind of parallelism inside a node or a scale-up domain (`tensor
parallelism stays on NVLink`, `the dispatch of experts never crosses InfiniBand`), although the keys spread some of its
groups over several. Sentences about conditions, parts and later plans are not compared.

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

import re
from collections.abc import Iterator

from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster, Layout
from clusterspec.finding import Problem
from clusterspec.records import NamedTuple
from clusterspec.rules.parts import Placements
from clusterspec.rules.readers.clauses import clause_bounds
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.units import word_set
from clusterspec.rules.readers.written_numbers import has_word, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error", "likely")
_SIZE = r"(?:[- ]?(?:groups?|traffic|ranks|communication|=?\d+))?"
_AXES = {
    "tp": rf"tensor[- ](?:parallel\w*|model[- ]parallel\w*)|tensorparallel\w*|parallélisme (?:tensoriel|de tenseurs?)|paralelismo (?:tensorial|de tensores)|tp{_SIZE}",
    "ep": rf"expert[- ]parallel\w*|expertenparallel\w*|parallélisme d['’]experts|ep{_SIZE}|(?:all )?expert(?:s|en)?(?: traffic|[- ]exchange| all-to-alls?)?|dispatch(?:es)?(?: and combine)?|combine|exchange of (?:the )?(?:experts|tokens)|token[- ](?:exchange|austausch|routing)|all-?to-?alls?",
    "cp": rf"context[- ]parallel\w*|kontextparallel\w*|cp{_SIZE}|ring attention",
    "pp": rf"pipeline(?:[- ](?:stages?|parallel\w*|sends?|traffic))?|stages|pp{_SIZE}",
    "shard": r"fully sharded data[- ]parallel\w*|fsdp (?:gathers?|all-gathers?|traffic|groups?)|gathers of (?:parameters|weights)|(?:parameter|weight) (?:all-)?gathers|shard(?:ing)? groups?",
    "dp": r"gradients?|gradient (?:reductions?|all-reduces?|exchange)|gradienten?|data[- ]parallel\w*|dp[- ](?:groups?|traffic)",
}
"""For each axis, the pattern of the words for its groups."""
_SUBJECT = pattern(r"(?i)\b(?:" + "|".join(f"(?P<{axis}>{words})" for axis, words in _AXES.items()) + r")\b")
_DEGREE = pattern(
    r"(?i)\b(?P<axis>tp|ep|cp|pp)[ =-]{0,3}(?P<degree>\d{1,4})\b|\b(?P<first>tensor|expert|context|pipeline)[- ]parallel\w* (?:size |degree )?(?:of |= ?)?(?P<size>\d{1,4})\b"
)
_NODE = r"(?P<node>nodes?|servers?|machines?|box(?:es)?|hosts?|chassis|knotens?|rechners?|servers|nœuds?|noeuds?|serveurs?|nodos?|servidor(?:es)?)"
_DOMAIN = r"(?P<domain>(?:nvlink|nvswitch|scale-up|xgmi|infinity fabric|ici|neuronlink)(?:[- ](?:domain|island|fabric|mesh|domäne|domaine|island)s?)?)"
_ARTICLES = r"(?:(?:the|same|one|a|single|an|each|its|their|that|einem|einer|eines|ein|dem|der|des|demselben|desselben|jedem|jedes|le|du|un|d['’]un|même|seul|chaque|leur|el|la|una?|del?|cada) ?){0,4}"
_INSIDE = pattern(
    r"(?i)\b(?:(?:stays?|remains?|is kept|are kept|kept|keeps?|lies?|lives?|runs?|sits?|confined|contained|fits?|takes? place|happens?|goes?|bound|restricted|limited|local|bleib\w*|liegt|liegen|läuft|laufen|rest\w{0,3}|tien\w*|queda\w?|permanece\w?)"
    r"(?: [^\W\d_]+){0,3}? (?:inside|within|into|in|on|to|over|innerhalb|auf|im|dans|sur|dentro de|en)|(?P<bare>inside|within|innerhalb|à l['’]intérieur)|shares?|teilen sich|partagent|dentro)"
    rf" (?:of |von |d['’]|de )?{_ARTICLES}(?:{_NODE}|{_DOMAIN})\b"
    rf"|\b(?:nvlink|nvswitch|xgmi|node|scale-up|knoten|server)[- ](?:only|local|intern\w*|lokal)\b|\bintra-?(?:node|server|nœud|noeud|knoten|nodo|domain)\b|\bknotenintern\w*|\b(?:only|exclusively|solely|purely|entirely|ausschließlich|nur|uniquement|solo) (?:over|on|via|through|über|auf|par|sur|por) (?:the )?(?:nvlink|nvswitch|xgmi)\b"
    r"|\b(?:over|on|via|through|über|par|sur|por) (?:the )?(?:nvlink|nvswitch|xgmi) (?:only|alone|exclusively|uniquement)\b"
)
"""Pattern of the claim that something is within one node or domain."""
_OF_NODE = pattern(
    r"(?i)\b(?:node|server|knoten|nœud|noeud|nodo|intra-?(?:node|server|nœud|noeud|knoten|nodo)|knotenintern\w*)\b"
)
_FABRICS = r"infiniband|ib|fabric|networks?|netz\w*|ethernet|roce|efa|scale-out|nics?|wire|ndr|slingshot|réseau|red"
_DOMAINS = r"nvlink|nvswitch|domain|scale-up|island|xgmi|ici"
_LEAVES = r"spans?|straddles?|extends?|spread|leaves?|leaving|cross(?:es|ing)?|touch(?:es|ing)?|uses?|using|reach(?:es|ing)?|needs?|see|sees|hits?|loads?|go(?:es)?|goes|going|travels?|enters?|quitt\w*|sort\w*|sale\w?|passe\w*|travers\w*|emprunt\w*|touch\w*|cruza\w?|verl[aä]ss\w*|geht|gehen|berühr\w*|belast\w*|überquer\w*|nutz\w*|braucht"
_LEFT = pattern(r"(?i)\b(?:leav\w+|quitt\w*|sort\w*|sale\w?|verl[aä]ss\w*)\b")
_WHAT = rf"(?:(?P<fabric>{_FABRICS})|(?P<domain>{_DOMAINS})|{_NODE})"
_NEVER = pattern(
    rf"(?i)\b(?:never|not|no longer|nie|niemals|nicht|jamais|nunca|ne|n['’]|without|ohne|sans)(?: have to| need to| has to)? ?(?:{_LEAVES})(?: (?:pas|jamais|over|on|to|onto|across|beyond|several|multiple|through|out of|the|a|its|their|any|our|den|das|die|dem|über|auf|par|de|du|le|la|les|el|del|leur))*(?: | l['’]){_WHAT}\b"
    rf"|\b(?P<fabric_first>{_FABRICS})\w{{0,8}}(?: (?:nie|niemals|nicht|gar nicht))+ (?:{_LEAVES})\b|\b(?P<node_first>knoten|server|rechner)s?(?: (?:nie|niemals|nicht|gar nicht))+ (?:{_LEAVES})\b"
    rf"|\b(?:no|none of (?:the|their|its|this)|nothing of (?:the|it)|keine?r?|aucune?|ningún) (?:[\w-]+ ){{1,4}}?(?:{_LEAVES}|is on|runs?)(?: (?:over|on|to|onto|through|out of|the|a|its|their|any|our|den|das|die|über|auf|sur|par|le|la))* (?:(?P<fabric_of_none>{_FABRICS})|(?P<node_of_none>nodes?|servers?|knoten|nœuds?))\b"
)
"""Pattern of the claim that something never leaves a node or uses no fabric."""
_NEGATIONS = word_set("never not no nie niemals nicht jamais nunca ne n without ohne sans none nothing")
_NEGATION_STARTS = ("kein", "aucun", "ningún")
"""Words, and beginnings of words. Each such claim has one of them."""
_NOT_THIS_PLAN = pattern(
    r"(?i)\b(?:would|could|should|if|unless|until|mostly|mainly|partly|half|some of|most of|part of|share of|except|where possible|up to|option|alternative|instead|other|others|reference|prefill|decode|draft|smaller|larger|not all|(?!all\b)\w+ of the (?:\d+ )?(?:ranks|gpus|members)|\w+ of its (?:ranks|gpus|members)|"
    r"wäre|würde|falls|wenn|sonst|meist|größtenteils|si|sauf|surtout|excepto|per cent|percent)\b|%"
)
"""Pattern of words for conditions, parts, comparisons and pools; sentences with them do not describe the groups of the
whole plan.
"""
_DENIED = pattern(
    r"(?i)\b(?:not|cannot|can['’]t|never|no longer|no|nicht|kein\w*|nie|pas|jamais|ne|nunca|than|too (?:large|big|wide))\b"
)
_PRODUCT = pattern(r"(?i)\b(?:gb[23]00|gh200|[abh][1-3]00|nvl\d{2,3}|mi[23]\d{2}x?|tpu|trn\d)")
"""Pattern of a machine named by its accelerators."""


_NOUNS_OF_PARTS = ("dp", "shard")
"""Axes that a text may have both inside a node and between nodes, as in `data parallelism inside each node`."""


class Claim(NamedTuple):
    """A group that a sentence keeps inside a node or scale-up domain: its axis, where it stays, and the words."""

    axis: str
    in_node: bool
    words: str


def check(own_remarks: str, spec: Spec, cluster: Cluster, layout: Layout, placements: Placements) -> Iterator[Problem]:
    if not own_remarks or spec.pools or spec.jobs or layout.separate_engines:
        return
    for sentence in sentences_of(" ".join(own_remarks[:MOST_CHARACTERS].split())):
        if _is_of_other_machine(sentence, cluster):
            continue
        for claim in claims_of(sentence):
            placement = placements.of(claim.axis) if getattr(layout, claim.axis, 2) > 1 else None
            if placement is None or not _leaves_domain(placement, in_node=claim.in_node):
                continue
            if claim.axis in _AXES_WITH_DEGREES and not _has_degree(sentence, claim.axis, getattr(layout, claim.axis)):
                continue
            border = plural(placement.nodes, "node") if claim.in_node else plural(placement.domains, "scale-up domain")
            name = claim.axis.replace("shard", "sharding")
            message = f"`{claim.words}`: the {name} group of {plural(placement.ranks, 'rank')} spans {border}"
            yield RULE.problem("description", message, "change the degree, or correct the text")
            return


_AXES_WITH_DEGREES = {"tp": "tensor", "ep": "expert", "cp": "context", "pp": "pipeline"}


def _has_degree(sentence: str, axis: str, degree: int) -> bool:
    """Whether a sentence states this degree of an axis or no degree; with another degree it is about another plan."""
    stated = {
        int(each["degree"] or each["size"])
        for each in _DEGREE.finditer(sentence)
        if (each["axis"] or "").lower() == axis or (each["first"] or "").lower() == _AXES_WITH_DEGREES[axis]
    }
    return not stated or degree in stated


def _is_of_other_machine(sentence: str, cluster: Cluster) -> bool:
    """Whether a sentence names a machine with other accelerators than the plan."""
    own = f"{cluster.accelerator.id} {cluster.accelerator.name} {cluster.platform.id if cluster.platform is not None else ''}".lower()
    return any(each[0].lower() not in own for each in _PRODUCT.finditer(sentence))


def claims_of(sentence: str) -> Iterator[Claim]:
    """The groups that a text keeps inside a node or a scale-up domain.

    >>> [each[:2] for each in claims_of("All experts lie in one NVLink domain, so the dispatch never crosses InfiniBand.")]
    [('ep', False), ('ep', False)]
    >>> [each[:2] for each in claims_of("With tp 4 the all-reduces would stay inside a node.")]
    []
    >>> [each[:2] for each in claims_of("TP=16 is intra-node, and no expert traffic goes over InfiniBand.")]
    [('tp', True), ('ep', False)]
    """
    if _SUBJECT.search(sentence) is None:
        return  # NOTE: a claim needs the name of a group, and the patterns of claims take 5 ms to compile
    for match in _INSIDE.finditer(sentence):
        start, end = clause_bounds(sentence, *match.span())
        denied = _DENIED.search(sentence, start, match.start()) or _DENIED.search(sentence, match.end(), end)
        axis = _axis_of(sentence, match, start) if not denied else None
        if axis is not None and (match["bare"] is None or axis[0] not in _NOUNS_OF_PARTS):
            in_node = match["node"] is not None or (match["domain"] is None and _OF_NODE.search(match[0]) is not None)
            yield Claim(axis[0], in_node, sentence[axis[1] : match.end()])
    for match in _NEVER.finditer(sentence) if has_word(sentence, _NEGATIONS, _NEGATION_STARTS) else ():
        start, _ = clause_bounds(sentence, *match.span())
        if _LEFT.search(match[0]) is not None and any(
            match[name] for name in ("fabric", "fabric_first", "fabric_of_none")
        ):
            continue  # what leaves no rail still uses it
        if (axis := _axis_of(sentence, match, start)) is not None:
            in_node = any(match[name] is not None for name in ("node", "node_first", "node_of_none"))
            yield Claim(axis[0], in_node, sentence[min(axis[1], match.start()) : match.end()])


NEAR = 80
"""Largest distance, in characters, between the name of a group and the end of its claim."""
_CONTINUES = pattern(
    r"(?i)^ ?(?:(?:and|so|so that|which|that|they|it|these|this|its|their|thus|hence|the|sie|die|der|und|sodass|also|qui|elles?|ils?|donc|et|que|all[- ]reduces?|traffic|collectives?|ranks|is|are|does|do|will|can|has|have|verkehr|trafic|[^\W\d_]{1,16}ly)(?: {1,2}|$)){0,12}$"
)
"""Pattern of the words of a clause that continues with the subject of the previous clause."""


def _axis_of(sentence: str, claim: re.Match[str], start: int) -> tuple[str, int] | None:
    """The axis that the clause of a claim names, or the previous clause if the claim continues it, and the position of
    its name. None if several axes are named or the words are about another plan.
    """
    _, end = clause_bounds(sentence, *claim.span())
    words = sentence[start : claim.start()] + " " + sentence[claim.end() : end]
    if _NOT_THIS_PLAN.search(words) is not None:
        return None
    found = list(_SUBJECT.finditer(sentence, max(start, claim.start() - NEAR), claim.end()))
    if not found and _CONTINUES.match(sentence[start : claim.start()]) is not None:
        found = list(_SUBJECT.finditer(sentence, max(0, start - NEAR), start))
        found = found if _NOT_THIS_PLAN.search(sentence, max(0, start - NEAR), start) is None else []
    axes = {each.lastgroup for each in found}
    return (str(found[0].lastgroup), found[0].start()) if len(axes) == 1 else None


def _leaves_domain(placement: Placement, *, in_node: bool) -> bool:
    return placement.nodes > 1 if in_node else placement.straddling > 0
