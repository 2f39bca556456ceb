"""The description names another number of nodes or accelerators, or another price, than the keys.

## What it finds

A `description` that counts nodes (`24 nodes`, `16 HGX H100 nodes`, `eight DGX B200`) or accelerators (`192 MI300X`,
`256 GPUs`), in digits or as the first word of a sentence, where the number neither is stated by a key nor follows from
the keys. A limit (`at most 192 GPUs`) is compared with the size of the machine. The rule accepts the nodes with or
without spares, the nodes of the job, of a rack, of a pod and of a domain, and the accelerators of each of these, of
prefill, of decode and of the roles. With `recovery: shrink` it also accepts any smaller number of nodes. Sentences about
another machine (one that is replaced, compared with, or bought later), parts of a larger one (`128 of the 256 nodes`),
nodes that a load needs (`11,600 requests/s: 580 nodes`), blocks of a fabric (`pods of 96`) and parts that add up to the
nodes (`62 and 31 more`) are not read. No other size is read where the text also states the right one.

A number of steps is compared with tokens / (batch × sequence length): a number that the text calls the whole run has to
agree to 5 %, and no other number may be larger by half. A price of one accelerator or node, or its rent for an hour
(`2.20 USD per chip-hour`, `32 servers at 302,000 EUR each`), has to agree with `prices` to 3 %, and may be
no lower where the text caps it (`at most 2.40 EUR for a GPU hour`). Prices in another
currency than that of `prices` are not read.

In a text with more than 15 figures the finding is a note, unless a known mistake explains the difference: a power of ten,
a factor of two, bits for bytes, or one digit, or it is a rent by the hour.

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
description: Llama 3.1 8B on 40 H100.
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
from collections.abc import Collection, Iterable, Iterator, Sequence

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.readers.doubt import confidence_in
from clusterspec.rules.readers.key_values import engine_ranks, node_counts, role_nodes
from clusterspec.rules.readers.statements.described_prices import prices_above_caps, wrong_prices, wrong_prices_of_nodes
from clusterspec.rules.readers.statements.machine_counts import (
    MachineCount,
    accelerator_counts_in,
    is_of_a_store,
    is_of_machine,
    is_of_partitions,
    node_counts_in,
)
from clusterspec.rules.readers.statements.stated_keys import Statement, wrong_statements
from clusterspec.rules.readers.written_numbers import written_numbers
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern
from clusterspec.units import display
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error", "likely")
_OF_UNITS = pattern(r"(?i)\b(?:units?|pods?|racks?|islands?|halls?|blocks?|rows?|groups?) (?:of|with)\b|\beach\b")
"""Pattern of words in a text that splits the nodes into equal parts."""
_SLICE = pattern(r"\b(v[2-4]|v5p)-(\d{1,5})\b")
"""The name of a TPU slice whose number counts cores; each chip has two cores."""
_STEP_NOUNS = ("steps", "chritt", "pas", "étapes", "pasos", "passi", "passos", "stappen")
_STEPS = pattern(
    r"(?<![\w.,/×:-])(?<!\d )(?P<count>\d{1,3}(?:[,. \u00a0\u202f']\d{3})+|\d+)(?P<thousands>k)? "
    r"(?:training |optimizer |Trainings)?(?:steps|[Ss]chritte?n?|pas|étapes|pasos|passi|passos|stappen)\b"
)
_INTERVALS = ("every ", "each ", "per ", "alle ", "je ", "tous les ", "toutes les ", "cada ", "ogni ", "elke ")
_OF_A_PART = pattern(
    r"(?i)\b(?:first|second|last|phase|stage|anneal\w*|decay\w*|warm\w*|each|per|every|remaining|other)\b"
)
_WHOLE_RUN = pattern(
    r"\b(?:whole|full|entire) (?:run|training)\b|\bin (?:all|total)\b|\btotal of\b|\bso the run (?:has|takes|needs|is)\b"
)
_OF_TOKENS = pattern(r"\btokens (?:that )?(?:makes?|gives?|come to|amount to)\b")
"""Pattern of words that compute steps from the tokens of the run."""
RENT = "`prices.node_hour`"
"""A rent by the hour, whose unit means nothing else in a design."""
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
    own: dict[str, Sequence[float]] = {}
    if not _states_one_of(node_counts_in(own_description), (cluster.nodes, cluster.all_nodes)):
        own["cluster.nodes"] = [*nodes, *written]
        if words := _wrong_nodes(own_description, spec, cluster, nodes, nodes | written):
            yield _problem(words, plural(cluster.nodes, "node"))
            return
    if not _states_one_of(accelerator_counts_in(own_description), (cluster.accelerators,)):
        own["cluster.accelerators"] = [*counted, *nodes, *written]
        if words := _wrong_accelerators(own_description, cluster, counted | nodes | written):
            yield _problem(words, plural(cluster.accelerators, "accelerator"))
            return
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


def _states_one_of(counts: Iterable[MachineCount], sizes: Collection[int]) -> bool:
    """Whether a text states a correct size of the machine, so that another size belongs to something else."""
    return any(each.value in sizes and not each.is_limit for each in counts)


def _wrong_nodes(text: str, spec: Spec, cluster: Cluster, nodes: Collection[int], right: Collection[int]) -> str:
    """The first words in a text with another number of nodes than this machine's; empty if there are none.
    ``right`` also has the other numbers of the spec.
    """
    for each in node_counts_in(text):
        count, words = each.value, each.words
        if count < 2 or count in right or each.is_met(cluster.nodes) or _is_after_failure(count, spec, cluster):
            continue
        if is_of_a_store(words, text) or is_of_partitions(words, text):
            continue
        if cluster.all_nodes % count == 0 and _OF_UNITS.search(text):
            continue
        if _is_sum(spec.description or "", nodes):
            return ""  # parts of the whole: 62 nodes of the first phase and 31 of the second
        if is_of_machine(each, text, cluster):
            return words
    return ""


def _wrong_accelerators(text: str, cluster: Cluster, right: Collection[int]) -> str:
    """The first words in a text with another number of accelerators than this machine's; empty if there are none."""
    for each in accelerator_counts_in(text):
        if each.value <= cluster.accelerators_per_node or each.value in right or each.is_met(cluster.accelerators):
            continue
        if is_of_machine(each, text, cluster):
            return each.words
    return ""


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
    return sum(each.value for each in node_counts_in(description)) in nodes


def _slice_problem(description: str, cluster: Cluster) -> Iterator[Problem]:
    """The problem of a TPU slice named by its number of chips, although its type counts cores."""
    match = _SLICE.search(description) if cluster.accelerator.id.startswith("tpu-") else None
    if match is None or cluster.accelerator.id != f"tpu-{match[1]}" or int(match[2]) != cluster.accelerators:
        return
    message = f"the description says `{match[0]}`, whose number counts cores, two for each accelerator: it has {int(match[2]) // 2:,}, but the keys say {cluster.accelerators:,}"
    yield RULE.problem("description", message, f"reserve `{match[1]}-{2 * cluster.accelerators}`, or correct the keys")


def _price_problem(description: str, spec: Spec, cluster: Cluster) -> Iterator[Problem]:
    bought = spec.procurement
    prices = (bought.prices if bought is not None else None) or {}
    if bought is None or prices.keys().isdisjoint(("node", "node_hour")):
        return
    currency = bought.currency or ""
    wrong = [*wrong_prices(description, prices, cluster.accelerators_per_node, currency)]
    if not wrong and "node" in prices:
        wrong = [*wrong_prices_of_nodes(description, prices["node"], currency)]
    wrong = wrong or [*prices_above_caps(description, prices, cluster.accelerators_per_node, currency)]
    for each in wrong[:1]:
        confidence = "certain" if each.is_of_accelerator or RENT in each.message else ""
        yield RULE.problem("description", each.message, "correct the text or the key", confidence=confidence)


def _step_problem(description: str, workload: Workload) -> Iterator[Problem]:
    """The problem of a number of steps that exceeds the run, or that the text wrongly calls the whole run."""
    per_step = workload.tokens_of_step if workload.kind == "train" else 0
    if not workload.tokens or not per_step or not any(each in description for each in _STEP_NOUNS):
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
    return int("".join(filter(str.isdigit, match["count"]))) * (1000 if match["thousands"] else 1)


def _is_after_failure(count: int, spec: Spec, cluster: Cluster) -> bool:
    """Whether a job that shrinks after a failure may run on this number of nodes."""
    return spec.operations is not None and spec.operations.shrinks and count < cluster.nodes


def _problem(words: str, keys: str) -> Problem:
    message = f"the description says `{words}`, but the keys say {keys}"
    return RULE.problem("description", message, "correct the text or the key", confidence=confidence_in(words, keys))
