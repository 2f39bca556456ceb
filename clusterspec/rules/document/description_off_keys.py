"""The description names another number of nodes or accelerators, or another price, than the keys.

## What it finds

A `description` that counts nodes (`24 nodes`, `16 HGX H100 nodes`, `eight DGX B200`) or accelerators (`192 MI300X`,
`256 GPUs`), in digits or as the first word of a sentence, or names a degree of the layout (`tp 8`), where the number
neither is stated by a key nor follows from the keys. The rule accepts the nodes with or without spares, the nodes of
the job, of a rack, of a pod and of a domain, and the accelerators of each of these, of prefill, of decode and of the
roles. With `recovery: shrink` it also accepts any smaller number of nodes. Sentences about another machine (one that is
replaced, compared with, or bought later), parts of a larger one (`128 of the 256 nodes`), nodes that a load needs
(`11,600 requests/s: 580 nodes`), blocks of a fabric (`pods of 96`) and parts that add up to the nodes (`62 and 31
more`) are not read.

A number of steps is compared with tokens / (batch × sequence length): a number that the text calls the whole run has to
agree to 5 %, and no other number may be larger by half. A price of one accelerator or node, or its rent for an hour
(`2.20 USD per chip-hour`), has to agree with `prices` to 3 %.

## Why it matters

One of the two is wrong, and every figure of the report follows the keys.

## What to do

Correct the text or the key.

## When to ignore it

Ignore it where the text describes another machine, such as a larger one that contains this cluster.

## Fires

```yaml description
clusterspec: 1
description: 24 nodes with 192 MI300X for pre-training.
cluster: {platform: mi300x-ubb8, nodes: 20}
```

```yaml description
clusterspec: 1
description: Llama 3.1 8B on four DGX H100, tp 8.
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, tp: 2}
```

```yaml description
clusterspec: 1
description: Offer of the cloud, 2.20 USD per chip-hour.
cluster: {platform: aws-trn2-48xlarge, nodes: 64}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node_hour: 2.20}}
```

```yaml description
clusterspec: 1
description: Llama 3.1 8B. The learning rate falls over 120,000 steps, which is the whole run.
cluster: {platform: hgx-h100, nodes: 32}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024, tokens: 2T}
layout: {framework: megatron-core, tp: 2}
```

## Silent

```yaml
clusterspec: 1
description: 24 nodes with 192 MI300X, and four spares.
cluster: {platform: mi300x-ubb8, nodes: 24, spare_nodes: 4}
```

```yaml
clusterspec: 1
description: Offer of the cloud, 2.20 USD per chip-hour.
cluster: {platform: aws-trn2-48xlarge, nodes: 64}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node_hour: 35.20}}
```

```yaml
clusterspec: 1
description: Llama 3.1 8B. The learning rate falls over 238,000 steps, the whole run, after a warm-up of 2,000 steps.
cluster: {platform: hgx-h100, nodes: 32}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024, tokens: 2T}
layout: {framework: megatron-core, tp: 2}
```

```yaml
clusterspec: 1
description: 16 nodes without spares. After a failure the job goes on with 15 nodes.
cluster: {platform: gaudi3-hls, nodes: 16}
operations: {recovery: shrink}
```

## Sources

- The keys that state these counts: docs/spec.md
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import islice

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.described_prices import wrong_prices
from clusterspec.rules.knowledge.key_values import engine_ranks, node_counts, role_nodes
from clusterspec.rules.knowledge.machine_sizes import is_size_of_something_else
from clusterspec.rules.knowledge.stated_keys import Statement, wrong_statements
from clusterspec.rules.knowledge.text_clauses import planned_text
from clusterspec.rules.knowledge.text_units import NUMBER_WORDS, SPELLED_TENS, word_set
from clusterspec.rules.knowledge.written_numbers import (
    has_word,
    sentences_of,
    written_numbers,
)
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern
from clusterspec.units import display
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error", "likely")
NUMERALS = {word.capitalize(): number for word, number in NUMBER_WORDS.items() if number > 1} | {
    **{ten.capitalize(): number for ten, number in SPELLED_TENS.items()},
    **{
        f"{ten.capitalize()}-{one}": number + NUMBER_WORDS[one]
        for ten, number in SPELLED_TENS.items()
        for one in islice(NUMBER_WORDS, 9)
        if number >= 20
    },
}
"""Words of numbers count at the start of a sentence: inside one they often speak of a part, or of another machine."""
_COUNT = pattern(r"\b(?<![\w.,/×:-])(?:\d{1,3}(?:,\d{3})+|\d+|[A-Z][a-z]+(?:-[a-z]+)?)(?= )")
"""A number, or a capitalized word that may be one of `NUMERALS`, followed by a space."""
_PART = r"(?:[A-Z]{1,3}\d{2,3}[A-Za-z]?|MI\d{3}[AX]|GB\d{3}|GH200|TPU(?: ?v\d\w?)?|Trainium ?\d?|Gaudi ?\d|RTX(?: PRO)? \d{4})"
_SYSTEM = r"(?:HGX|DGX|quad|[Pp]\d\w*|A3 Mega|A3 High)"
_NODES = pattern(
    rf"(?: (?:{_SYSTEM}|{_PART}|[a-z]+-type)){{0,2}} (?:nodes|servers|instances)\b(?! each)| (?:HGX|DGX)[ -]{_PART}\b"
)
"""Pattern of the words that follow a number of nodes."""
_ACCELERATORS = pattern(
    rf" (?:(?:{_PART} )?(?:accelerators|GPUs|chips)\b|(?!C(?:13|14|15|19|20|21)\b){_PART}s?(?! (?:nodes|servers|instances|racks|boards|trays|systems|machines|NVL))\b(?!-))(?! (?:a|each|per|in each)\b)"
)
"""Pattern of the words that follow a number of accelerators."""
_NODE_NOUNS, _ACCELERATOR_NOUNS = word_set("nodes servers instances quad"), word_set("accelerators chips")
"""Lowercase words with which `_NODES` and `_ACCELERATORS` begin."""
_LEAST_MODEL = 1000
"""Smallest number that is part of a product name after the first word of a sentence; a smaller one may be a count."""
_LEADING = word_set(
    "about all altogether approximately around build buy buying exactly for from in initially install later now of on "
    "only order over plan planned rent roughly some the these those total training up use using we with"
)
"""Words that may come before a count at the start of a sentence."""
_OF_UNITS = pattern(r"(?i)\b(?:units?|pods?|racks?|islands?|halls?|blocks?|rows?|groups?) (?:of|with)\b|\beach\b")
"""Pattern of words in a text that splits the nodes into equal parts."""
_RANGE_SIGNS = frozenset({"to", "-", "–"})
_AND_MORE = ("and more", "or more", "and above", "and up")
"""Words after a count that mark it as a lower limit."""
_LATER = (
    "last year",
    "last month",
    "a year ago",
    "of the next",
    "in the next",
    "of the coming",
    "of a later",
    "of the second",
    "next year",
    "of next year",
)
"""Words after a count of parts of another time."""
_BLOCKS = frozenset({"pod", "pods", "island", "islands", "cell", "cells", "zone", "zones", "blocks", "buildings"})
"""Words for a block of a fabric; the machine need not be a multiple of its size."""
_OF_A_STORE = frozenset({"drive", "drives", "disk", "disks", "ssds", "hdds", "osds", "jbod", "erasure", "parity"})
"""Words of sentences about the servers of a storage system."""
_DEGREE = pattern(r"\b(?P<axis>tp|pp|cp|ep)[ =](?P<count>\d+)\b")
_OF_DEGREE = ("tp ", "tp=", "pp ", "pp=", "cp ", "cp=", "ep ", "ep=")
"""Words that start a degree; the pattern is compiled only for texts with one of them."""
_LOADS = ("requests", "queries", "calls", "tokens", "users", "sessions")
_OF_LOAD = pattern(
    r"\d ?[kM]? (?:requests|queries|calls|tokens|users|sessions)(?:/s| (?:a|per) second| at once)?"
    r"[^.;:=\d]{0,12}(?::|=|\b(?:needs?|requires?|takes?|that is|would be)\b)[^.;\d]{0,12}$"
)
"""Pattern of the text before a number of nodes that a load needs; such a number is not the size of the machine."""
_SLICE = pattern(r"\b(v[2-4]|v5p)-(\d{1,5})\b")
"""The name of a TPU slice whose number counts cores; each chip has two cores."""
_STEPS = pattern(r"(?<![\w.,/×:-])(?P<count>\d{1,3}(?:,\d{3})+|\d+)(?P<thousands>k)? (?:training |optimizer )?steps\b")
_INTERVALS = ("every ", "each ", "per ")
_OF_A_PART = pattern(
    r"(?i)\b(?:first|second|last|phase|stage|anneal\w*|decay\w*|warm\w*|each|per|every|remaining|other)\b"
)
_WHOLE_RUN = pattern(
    r"\b(?:whole|full|entire) (?:run|training)\b|\bin (?:all|total)\b|\btotal of\b|\bso the run (?:has|takes|needs|is)\b"
)
_OF_TOKENS = pattern(r"\btokens (?:that )?(?:makes?|gives?|come to|amount to)\b")
"""Pattern of words that compute steps from the tokens of the run."""
SAME_STEPS = 0.05
"""Relative difference up to which two numbers of steps are equal, one of them rounded."""
MOST_STEPS = 1.5
"""Ratio up to which a text may state more steps than the final batch gives; early steps may use smaller batches."""


def check(
    own_description: str,
    spec: Spec,
    cluster: Cluster,
    layout: Layout | None,
    workload: Workload | None,
) -> Iterator[Problem]:
    if spec.pools or spec.jobs:
        return
    yield from _price_problem(own_description, spec, cluster)
    written, ranks_of_engines = (
        {number for number in written_numbers(spec) if isinstance(number, int)},
        engine_ranks(workload),
    )
    nodes = (
        node_counts(cluster, layout) | role_nodes(spec) | {cluster.nodes_of_ranks(ranks) for ranks in ranks_of_engines}
    )
    counted = {number * cluster.accelerators_per_node for number in nodes} | {cluster.scale_up.domain}
    counted |= {number * cluster.ranks_per_accelerator for number in counted} | ranks_of_engines
    words_of_nodes = _wrong_nodes(own_description, spec, cluster, nodes, nodes | written)
    if words_of_nodes:
        yield _problem(words_of_nodes, plural(cluster.nodes, "node"))
        return
    words_of_accelerators = _wrong_accelerators(own_description, cluster, counted | nodes | written)
    if words_of_accelerators:
        yield _problem(words_of_accelerators, plural(cluster.accelerators, "accelerator"))
        return
    own = {"cluster.nodes": [*nodes, *written], "cluster.accelerators": [*counted, *nodes, *written]}
    for each in wrong_statements(own_description, own):
        if not _is_of_parts(each, own_description, spec, cluster, nodes):
            of_nodes = each.key.key == "cluster.nodes"
            yield _problem(
                each.words, plural(cluster.nodes, "node") if of_nodes else plural(cluster.accelerators, "accelerator")
            )
            return
    yield from _slice_problem(own_description, cluster)
    if workload is not None:
        yield from _step_problem(own_description, workload)
    if layout is not None and any(sign in own_description for sign in _OF_DEGREE):
        yield from _degree_problem(own_description, layout, written)


def _wrong_nodes(text: str, spec: Spec, cluster: Cluster, nodes: Collection[int], right: Collection[int]) -> str:
    """The first words in a text with another number of nodes than those of this machine; empty if there are none.
    ``right`` also has the other numbers of the spec.
    """
    for words, count in _counts_with_words(_NODES, text):
        if count < 2 or count in right or _is_after_failure(count, spec, cluster):
            continue
        if _is_of_a_store(words, text) or _is_of_partitions(words, text):
            continue
        if cluster.all_nodes % count == 0 and _OF_UNITS.search(text):
            continue
        if _is_sum(spec.description or "", nodes):
            return ""  # parts of the whole: 62 nodes of the first phase and 31 of the second
        if _is_of_this_machine(words, text, cluster):
            return words
    return ""


def _wrong_accelerators(text: str, cluster: Cluster, right: Collection[int]) -> str:
    """The first words in a text with another number of accelerators than those of this machine; empty if there are none."""
    for words, count in _counts_with_words(_ACCELERATORS, text):
        if count <= cluster.accelerators_per_node or count in right:
            continue
        if count > cluster.accelerators and f"at most {words}" in text:
            continue  # an upper limit that this machine keeps: a pod has at most 9,216 chips
        if _is_of_this_machine(words, text, cluster):
            return words
    return ""


def _is_of_this_machine(words: str, text: str, cluster: Cluster) -> bool:
    """Whether a count is neither one of a hypothesis (three nodes would be too many for a rack) nor of another machine."""
    return words in planned_text(text) and not is_size_of_something_else(text, words, cluster)


def _degree_problem(text: str, layout: Layout, written: Collection[int]) -> Iterator[Problem]:
    """The problem of the first degree in the text that differs from the layout. An axis is skipped if the text also
    names its right degree: the other degrees are then examples for comparison.
    """
    found = list(_DEGREE.finditer(text))
    for match in found:
        stated = getattr(layout, match["axis"])
        named = {int(each["count"]) for each in found if each["axis"] == match["axis"]}
        if named.isdisjoint({stated, *written}):
            yield _problem(match[0], f"{match['axis']} {stated}")
            return


def _is_of_parts(stated: Statement, text: str, spec: Spec, cluster: Cluster, nodes: Collection[int]) -> bool:
    """Whether a number of nodes is one of equal parts, of parts that add up, or of a job after a failure."""
    equal = stated.key.key == "cluster.nodes" and cluster.all_nodes % stated.value == 0
    return (
        bool(equal and _OF_UNITS.search(text))
        or _is_after_failure(int(stated.value), spec, cluster)
        or _is_sum(text, nodes)
    )


def _is_sum(description: str, nodes: Collection[int]) -> bool:
    """Whether the numbers of nodes in a text add up to those of the machine."""
    return sum(each for _, each in _counts_with_words(_NODES, description)) in nodes


def _slice_problem(description: str, cluster: Cluster) -> Iterator[Problem]:
    """The problem of a TPU slice named by its number of chips, although its type counts cores."""
    match = _SLICE.search(description) if cluster.accelerator.id.startswith("tpu-") else None
    if match is None or cluster.accelerator.id != f"tpu-{match[1]}" or int(match[2]) != cluster.accelerators:
        return
    message = f"the description says `{match[0]}`, whose number counts cores, two for each accelerator: it has {int(match[2]) // 2:,}, and the keys say {cluster.accelerators:,}"
    yield RULE.problem("description", message, f"reserve `{match[1]}-{2 * cluster.accelerators}`, or correct the keys")


def _price_problem(description: str, spec: Spec, cluster: Cluster) -> Iterator[Problem]:
    prices = (spec.procurement.prices if spec.procurement is not None else None) or {}
    if not prices.keys().isdisjoint(("node", "node_hour")):
        for message in wrong_prices(description, prices, cluster.accelerators_per_node):
            yield RULE.problem("description", message, "correct the text or the key")
            return


def _counts_with_words(counted: re.Pattern[str], description: str) -> Iterator[tuple[str, int]]:
    """The counts in a text with their words; numbers that end a product name, as in Gaudi 3 servers, are omitted."""
    end = 0
    for number in _COUNT.finditer(description):
        count, before = _stated_count(number[0]), description[: number.start()].split()
        names = bool(before) and description[number.start() - 1] == " " and _is_of_a_name(before, count or 0)
        if number.start() < end or count is None or (before and before[-1] in {"x", "×", "*"}):
            continue  # a number of the part's name, as in 8 RTX 4090 servers; or a factor, as in 16 × 31 GPUs
        if _is_of_another_size(before) or _is_year(before, number[0]):
            continue
        next_word = description[number.end() + 1 :].partition(" ")[0]
        nouns = _NODE_NOUNS if counted is _NODES else _ACCELERATOR_NOUNS
        if next_word.isalpha() and next_word.islower() and next_word not in nouns:
            continue  # NOTE: compiling a pattern that cannot match takes longer than most rules
        if (what := counted.match(description, number.end())) is not None:
            end = what.end()
            ranged = len(before) > 1 and before[-1] in _RANGE_SIGNS and before[-2][-1].isdigit()
            behind = description[end : end + 16].lstrip()
            near = max(0, number.start() - 48)
            loaded = any(each in description[near : number.start()] for each in _LOADS)
            of_load = loaded and _OF_LOAD.search(description, near, number.start()) is not None
            if ranged or of_load or behind.startswith((*_AND_MORE, *_LATER)):
                continue  # the sizes of orders that a price is for: 50 to 99 nodes, 100 nodes and more
            if not names:
                yield number[0] + what[0], count


def _is_of_a_name(before: list[str], count: int) -> bool:
    """Whether the words before a number make it the end of a product name, such as `RTX PRO 6000` or `Cisco 9300`.

    >>> _is_of_a_name(["the", "RTX"], 5090), _is_of_a_name(["Gaudi"], 3), _is_of_a_name(["Cisco"], 9300)
    (True, False, True)
    >>> _is_of_a_name(["It", "has"], 40), _is_of_a_name(["end.", "Buy"], 40), _is_of_a_name(["a", "Gaudi"], 3)
    (False, False, True)
    """
    word, first = before[-1], len(before) == 1 or before[-2][-1] == "."
    capitals = word.isalpha() and word.isupper() and len(word) > 1
    return capitals or (word.istitle() and (not first or (word.lower() not in _LEADING and count >= _LEAST_MODEL)))


def _is_of_a_store(words: str, description: str) -> bool:
    """Whether the sentence that contains these words is about drives.

    >>> _is_of_a_store("Twelve servers", "60 nodes. Twelve servers with 24 drives are 2.2 PB. The drives are new.")
    True
    >>> _is_of_a_store("60 nodes", "60 nodes. Twelve servers with 24 drives are 2.2 PB.")
    False
    """
    sentence = next((each for each in sentences_of(description) if words in each), "")
    return has_word(sentence.lower(), _OF_A_STORE)


def _is_of_partitions(words: str, description: str) -> bool:
    """Whether the instances in these words are partitions of accelerators (MIG).

    >>> _is_of_partitions("42 instances", "MIG: six accelerators in 7 x 1g.10gb, 42 instances of 10 GB.")
    True
    """
    return words.endswith("instances") and "MIG" in description


_ROOM = frozenset(
    ("suffices", "suffice", "sufficient", "enough", "room", "space", "good", "capacity", "addresses", "sized")
)
"""Words before `for` and a number that something would suffice for."""


def _is_of_another_size(before: list[str]) -> bool:
    """Whether the words before a count refer it to a larger machine or to a block of its fabric: 128 of the 256 nodes,
    up to 256 nodes, pods of 3,072 accelerators.

    >>> [_is_of_another_size(text.split()) for text in ("128 of the", "keeps three of our", "in pods of", "a cluster of")]
    [True, True, True, False]
    """
    if before[-1:] == ["for"] and before[-2:-1] and before[-2].strip("(,").lower() in _ROOM:
        return True
    if before[-2:] == ["up", "to"] or (before[-1:] == ["of"] and before[-2:-1] and before[-2].lower() in _BLOCKS):
        return True
    if before[-1:] in (["the"], ["its"], ["our"], ["all"]):
        before = before[:-1]
    return (
        before[-1:] == ["of"] and bool(before[-2:-1]) and _stated_count(before[-2].strip("(,").capitalize()) is not None
    )


_BEFORE_A_YEAR = frozenset(("the", "our", "of", "from", "since", "in", "a"))


def _is_year(before: list[str], digits: str) -> bool:
    """Whether four digits before the name of a part are a year.

    >>> _is_year(["Refresh", "of", "the"], "2021"), _is_year(["of", "the"], "2,021"), _is_year(["has"], "2016")
    (True, False, False)
    """
    return digits.isdecimal() and 2010 <= int(digits) <= 2035 and before[-1:] != [] and before[-1] in _BEFORE_A_YEAR


def _step_problem(description: str, workload: Workload) -> Iterator[Problem]:
    """The problem of a number of steps that exceeds the run, or that the text wrongly calls the whole run."""
    per_step = workload.tokens_of_step if workload.kind == "train" else 0
    if not workload.tokens or not per_step or "steps" not in description:
        return
    steps = workload.tokens / per_step
    for sentence in re.split(r"(?<=[.;]) ", description):
        own = [
            match for match in _STEPS.finditer(sentence) if not sentence[: match.start()].lower().endswith(_INTERVALS)
        ]
        counts = {match[0]: _step_count(match) for match in own}
        words = max(counts, key=counts.__getitem__, default="")
        ratio = counts.get(words, 0) / steps
        computed = _OF_TOKENS.search(sentence) is not None and _OF_A_PART.search(sentence) is None
        whole = computed or _WHOLE_RUN.search(sentence) is not None
        if ratio > MOST_STEPS or (words and whole and abs(ratio - 1) > SAME_STEPS):
            tokens = f"{display(workload.tokens, '1')} tokens at {per_step:,.0f} a step"
            yield _problem(words, f"{steps:,.0f} steps, {tokens}")
            return


def _step_count(match: re.Match[str]) -> int:
    """The number of steps in a match of `_STEPS`."""
    return int(match["count"].replace(",", "")) * (1000 if match["thousands"] else 1)


def _is_after_failure(count: int, spec: Spec, cluster: Cluster) -> bool:
    """Whether a job that shrinks after a failure may run on this number of nodes."""
    return spec.operations is not None and spec.operations.shrinks and count < cluster.nodes


def _problem(words: str, keys: str) -> Problem:
    message = f"the description says `{words}`, and the keys say {keys}"
    return RULE.problem("description", message, "correct the text or the key")


def _stated_count(text: str) -> int | None:
    """The number that digits or a numeral state; None for other words."""
    digits = text.replace(",", "")
    return int(digits) if digits.isdecimal() else NUMERALS.get(text)
