"""A sentence contradicts the documentation of a product.

## What it finds

A sentence of the description or a comment with a claim that one of the [documented facts](../documented-facts.md)
refutes, such as engine files of TensorRT that are built on one accelerator and loaded on another. A claim is a set of
words in one sentence. The rule is silent for negated sentences, and for sentences with words that change their meaning.

## Why it matters

A plan that rests on such a claim fails when it is carried out: after the purchase, or in the first incident.

## What to do

Read the source, and change the plan.

## When to ignore it

Ignore it where the sentence means something else, or where a newer release can do it after all.

## Fires

```yaml description
clusterspec: 1
description: The engines are built with trtllm-build on an H100, and the same files are loaded on all machines.
cluster: {platform: aws-p6-b200-48xlarge, nodes: 2}
workload: {kind: serve, model: llama-3.3-70b, serving: {concurrency: 32, input_tokens: 2000, output_tokens: 500}}
layout: {framework: trt-llm, tp: 4}
```

## Silent

```yaml
clusterspec: 1
description: The engines are built with trtllm-build on each kind of machine, and cached there.
cluster: {platform: aws-p6-b200-48xlarge, nodes: 2}
workload: {kind: serve, model: llama-3.3-70b, serving: {concurrency: 32, input_tokens: 2000, output_tokens: 500}}
layout: {framework: trt-llm, tp: 4}
```

## Sources

- Engine files run on the architecture that they were built on: https://docs.nvidia.com/deeplearning/tensorrt/latest/inference-library/engine-compatibility.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.catalog.documented_facts import (
    DocumentedFact,
    documented_facts,
    fact_reduced_to_text,
    pattern_of_words,
)
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.readers.clauses import items_of
from clusterspec.rules.readers.written_numbers import sentences_of, sentences_with_neighbors
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_NEGATED = pattern(
    r"\b(?:no|not|never|none|neither|nor|without|cannot|can't|don't|doesn't|isn't|aren't|won't|instead of|rather than|unlike|unsupported|refus\w*|forb\w*|avoid\w*"
    r"|impossible|excluded|disabled|kein\w*|nicht|nie|ohne|statt|pas|jamais|sans|aucun\w*|sin|nunca|ningun\w*|ningún)\b"
)
_LACKING = pattern(r"\b(?:without|ohne|sans|sin|no|none|kein\w*)\b")
"""Words that negate only what follows them."""
_BEFORE, _AFTER = 40, 20
"""Numbers of characters before and after the words of a claim in which a negation applies to the claim."""


def check(
    statements: str, cluster: Cluster | None, workload: Workload | None, layout: Layout | None
) -> Iterator[Problem]:
    if not statements:
        return
    items = items_of(statements.lower())
    folded = " ".join(items)
    sentences = [each for item in items for each in sentences_with_neighbors(sentences_of(item, ".#")) if each]
    properties = _properties(cluster, workload, layout)
    for each_fact in documented_facts():
        fact = fact_reduced_to_text(each_fact, folded)
        if fact is None or not _holds_for(fact, properties):
            continue
        if not all(pattern_of_words(group).search(folded) for group in fact.elsewhere):
            continue
        if any(_claims(fact, sentence) for sentence in sentences):
            yield RULE.problem(
                "description",
                f"the text relies on what the documentation refutes: {fact.fact}",
                f"see {fact.source}",
                severity=fact.severity,
            )


def _claims(fact: DocumentedFact, sentence: str) -> bool:
    """Whether a sentence makes the claim."""
    found = [pattern_of_words(group).search(sentence) for group in fact.groups]
    spans = [match.span() for match in found if match is not None]
    if len(spans) < len(found) or (fact.unless and pattern_of_words(fact.unless).search(sentence) is not None):
        return False
    if fact.negated == "either":
        return True
    own = _own_negations(fact)
    rest = sentence if fact.negated or own is None else own.sub(lambda match: " " * len(match[0]), sentence)
    return _is_negated(rest, min(spans)[0], max(end for _, end in spans)) == (fact.negated == "yes")


def _own_negations(fact: DocumentedFact) -> re.Pattern[str] | None:
    """Pattern of the words of a claim that contain a negation, such as `without draining`: they are part of the claim
    and do not deny it.
    """
    words = [word for group in fact.groups for word in group.split("|") if _NEGATED.search(word)]
    return pattern_of_words("|".join(words)) if words else None


def _is_negated(sentence: str, start: int, end: int) -> bool:
    """Whether a negation is among the words of a claim, or next to them in the same part of the sentence."""
    before = sentence[max(0, start - _BEFORE) : start]
    part = before[max(before.rfind(mark) for mark in ":;") + 1 :]
    after = _LACKING.sub("", sentence[end : end + _AFTER])
    return _NEGATED.search(f"{part}{sentence[start:end]}{after}") is not None


def _properties(cluster: Cluster | None, workload: Workload | None, layout: Layout | None) -> dict[str, str]:
    """The properties of the design that the conditions of a fact compare, in lower case; properties that the design
    lacks are omitted.
    """
    found: dict[str, str] = {}
    if cluster is not None:
        platform = cluster.platform.id if cluster.platform is not None else ""
        found |= {"platform": platform, "accelerator": cluster.accelerator.id, "vendor": cluster.accelerator.vendor}
        if cluster.scale_out is not None and cluster.scale_out.technology is not None:
            found["fabric"] = cluster.scale_out.technology.id
    if workload is not None:
        found["kind"] = workload.kind
    if layout is not None:
        found["framework"] = layout.framework
    return {key: value.lower() for key, value in found.items()}


def _holds_for(fact: DocumentedFact, properties: dict[str, str]) -> bool:
    """Whether the design meets the conditions of a fact: each property must begin with one of the listed values."""
    return all(properties.get(key, "").startswith(tuple(values)) for key, values in fact.conditions)
