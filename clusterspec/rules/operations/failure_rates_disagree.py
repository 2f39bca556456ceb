"""The time between failures of a node contradicts the one of the job.

## What it finds

`node_mtbf` over the nodes of the job against `mean_time_between_failures`: a warning where they differ by a third, and
an error by a factor of three. The same limits apply to an `afr` and an `mtbf` of the same kind of part. Failures that
the description counts (`8 stops in 72,000 node-hours`) give the time of one node: a stated one, or that of the job times its
nodes, that differs by a quarter is an error. So are failures of all accelerators, NICs or transceivers in a year that a text
states, and that are not their number times `afr`.

## Why it matters

Both describe the same failures. Checkpoint interval, spares and goodput follow from one of them, and are wrong if the
other is right.

## What to do

Keep the figure that was measured, and remove the other.

## When to ignore it

Ignore it where most failures of the job have causes outside the nodes, such as software; name them in the reason of the
waiver.

## Fires

```yaml operations.mean_time_between_failures
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 128, spare_nodes: 4}
operations: {node_mtbf: 365 days, mean_time_between_failures: 30 days}
```

```yaml operations.failures.accelerator.afr
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16, spare_nodes: 1}
operations: {failures: {accelerator: {afr: 0.05, mtbf: 1000 h}}}
```

```yaml description
clusterspec: 1
description: The 128 GPUs fail 1.2 times a year.
cluster: {platform: dgx-h100, nodes: 16}
operations: {failures: {accelerator: {afr: 0.09}}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 128, spare_nodes: 4}
operations: {node_mtbf: 365 days, mean_time_between_failures: 2.9 days}
```

## Sources

- Failures of independent nodes add up: https://arxiv.org/abs/2410.21680
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.quantity import HOUR, YEAR
from clusterspec.records import fields
from clusterspec.rules.knowledge.failures import PART_WORDS, stated_part_failures
from clusterspec.rules.knowledge.purchases import plural_of_kind
from clusterspec.rules.knowledge.text_quantities import SHARE, sentence_quantities
from clusterspec.rules.knowledge.written_numbers import amount_in_text, number_in_text, unambiguous_setting
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import FailureRateSpec, FailuresSpec, OperationsSpec, Spec
from clusterspec.standard import pattern
from clusterspec.units import display, plain, plural

RULE = Rule.of(__name__, "error")
LEAST, FAR = 4 / 3, 3.0


_COUNTED = pattern(
    r"(?i)(?<![\w.,])(\d{1,4}) (?:stops?|failures?|interruptions?|crashes|faults|incidents|restarts|node failures|hardware failures)\b[^.;\d]{0,40}?\b(?:in|over|within|during|across)\b "
    r"(?<![\w.,])(\d{1,3}(?:[,.' ]\d{3})+|\d{3,8}) node[- ]hours\b"
)
"""Failures of nodes that a text counts over node-hours."""
_YEAR_WORDS = ("year", "Jahr", " an", "año")
_CUES = ("node hours", "node-hours")
_YEARLY = pattern(
    r"(?i)(?<![\w.,])(\d{1,5}(?:\.\d{1,2})?) (?:times|failures|failed [a-z]{3,12}|modules|gpus|transceivers|optics|nics|mal|ausfälle|fois|pannes|veces|fallos)(?: fail)? (?:a|per|each|every|in a|pro|im|par|por|al) (?:year|jahr|an|año)\b"
)
_FAILS = pattern(r"(?i)\b(?:fail\w*|break\w*|die|ausfall\w*|ausfäll\w*|pannes?|fall\w*)\b")
_ONE = pattern(r"(?i)\b(?:each|every one|per (?:node|module|gpu|part)|one of them|a node|rate of)\b|\bje(?:de[rs]?)?\b")
CLEAR = 1.6
"""Factor from which on a number of failures a year is not a rounded one."""
SAME_RATE = 1.25
"""Ratio up to which a rounded time between failures is the counted one."""


def check(
    operations: OperationsSpec, cluster: Cluster | None, spec: Spec, job_nodes: int | None, own_remarks: str | None
) -> Iterator[Problem]:
    if operations.failures is None and operations.node_mtbf is None and operations.mean_time_between_failures is None:
        return
    yield from _part_rate_problems(operations)
    yield from _counted_problem(operations, job_nodes, own_remarks or "")
    if (
        cluster is not None
        and operations.failures is not None
        and own_remarks
        and any(each in own_remarks for each in _YEAR_WORDS)
    ):
        yield from _yearly_problem(operations, cluster, spec, own_remarks)
    whole, node = operations.mean_time_between_failures, operations.node_mtbf
    if whole is None or node is None or not job_nodes or not whole.value or not node.value:
        return
    expected = node.value / job_nodes
    ratio = whole.value / expected
    if 1 / LEAST <= ratio <= LEAST:
        return
    than = f"{plain(ratio if ratio > 1 else 1 / ratio, 2)} times as {'long' if ratio > 1 else 'short'}"
    message = f"{plural(job_nodes, 'node')} that each fail every {node.written} fail every {display(expected, 's')} together; {whole.written} is {than}"
    severity = "error" if not 1 / FAR < ratio < FAR else "warning"
    yield RULE.problem(
        "operations.mean_time_between_failures",
        message,
        "keep the figure that was measured",
        severity=severity,
        related=[("operations.node_mtbf", "the time of one node")],
    )


def _counted_problem(operations: OperationsSpec, job_nodes: int | None, remarks: str) -> Iterator[Problem]:
    """The time between failures of a node, or of the job, that is not the one of the failures that the text counts."""
    counted = unambiguous_setting(_COUNTED, remarks, _CUES)
    if counted is None or not int(counted[1]):
        return
    node = amount_in_text(counted[2]) / int(counted[1]) * HOUR
    for key, stated, nodes in (
        ("node_mtbf", operations.node_mtbf, 1),
        ("mean_time_between_failures", operations.mean_time_between_failures, job_nodes or 0),
    ):
        ratio = stated.value * nodes / node if stated is not None else 0.0
        if stated is not None and ratio and not 1 / SAME_RATE <= ratio <= SAME_RATE:
            of_job = "" if nodes == 1 else f", {display(node / nodes, 's')} for {plural(nodes, 'node')}"
            message = f"`{counted[0]}` are {display(node, 's')} between failures of a node{of_job}, and `{key}` is {stated.written}"
            yield RULE.problem(
                f"operations.{key}",
                message,
                "state the time of one node as `node_mtbf`, that of the job as `mean_time_between_failures`",
                confidence="likely",
            )


def _yearly_problem(operations: OperationsSpec, cluster: Cluster, spec: Spec, remarks: str) -> Iterator[Problem]:
    """The problem with the failures a year of all parts of a kind that a text states with another product of their number
    and rate.
    """
    assert operations.failures is not None
    rates = list(stated_part_failures(operations.failures, cluster, spec.cluster))
    for sentence, quantities in sentence_quantities(remarks) if rates else ():
        found = _YEARLY.search(sentence)
        if found is None or _FAILS.search(sentence) is None or _ONE.search(sentence) is not None:
            continue
        shares = [each.value for each in quantities if each.unit == SHARE]
        kinds = [
            each
            for each in rates
            if PART_WORDS[each[0]].search(sentence) or any(isclose(each[2], share) for share in shares)
        ]
        if len(kinds) != 1:
            continue
        kind, number, yearly = kinds[0]
        stated = number_in_text(found[1])
        if stated and not 1 / CLEAR <= number * yearly / stated <= CLEAR:
            message = f"`{found[0]}`: {number:,} {plural_of_kind(kind)} with {yearly:g} failures a year each fail {plain(number * yearly, 3)} times a year"
            yield RULE.problem("description", message, "multiply their number by the rate of one", confidence="likely")
            return


def _part_rate_problems(operations: OperationsSpec) -> Iterator[Problem]:
    """The problem with a part's failures per year that disagree with its stated time between failures."""
    if operations.failures is None:
        return
    for each in fields(FailuresSpec):
        part: FailureRateSpec | None = getattr(operations.failures, each.name)
        if part is None or part.afr is None or part.mtbf is None or not part.mtbf.value or not part.afr:
            continue
        ratio = YEAR / part.mtbf.value / part.afr
        if not 1 / LEAST <= ratio <= LEAST:
            message = f"a part that fails every {part.mtbf.written} fails {plain(YEAR / part.mtbf.value, 2)} times in a year, and `afr` says {part.afr:g}"
            severity = "error" if not 1 / FAR < ratio < FAR else "warning"
            yield RULE.problem(
                ("operations", "failures", each.name, "afr"), message, "keep one of the two", severity=severity
            )
