"""A text counts node-hours as GPU-hours, or GPU-hours as node-hours.

## What it finds

- A product such as `64 nodes x 504 h = 32,256 GPU-hours` on nodes with several accelerators, or `256 GPUs x 504 h =
  129,024 node-hours`: the figure has the other unit.
- Accelerator-hours of the run in a text that are the nodes, instead of the accelerators, times its run time or term.
- A grant or allocation in accelerator-hours or node-hours that the run exceeds, either by a product in the text or in
  the least time that the tokens take.

## Why it matters

Allocations and prices are in one of the two units. On nodes of four accelerators a run that is planned as 27 % of an
allocation takes 108 % of it.

## What to do

Multiply by the accelerators of a node, or write node-hours.

## When to ignore it

Ignore it where the site counts a node as one accelerator.

## Fires

```yaml description
clusterspec: 1
description: The run takes 16 nodes x 100 h = 1,600 GPU-hours of the grant.
cluster: {platform: dgx-h100, nodes: 16}
```

```yaml description
clusterspec: 1
description: The allocation is 10,000 GPU-hours at most. The run takes 128 GPUs x 100 h = 12,800 GPU-hours.
cluster: {platform: dgx-h100, nodes: 16}
```

## Silent

```yaml
clusterspec: 1
description: The run takes 16 nodes x 100 h = 1,600 node-hours, or 12,800 GPU-hours, of the 15,000 GPU-hours granted.
cluster: {platform: dgx-h100, nodes: 16}
```

## Sources

- Allocations in node-hours and in GPU-hours: https://docs.alcf.anl.gov/account-project-management/allocation-management/overview/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.quantity import DAY, HOUR
from clusterspec.rules.readers.clauses import clause_at
from clusterspec.rules.readers.quantities import (
    ACCELERATOR,
    ACCELERATOR_HOUR,
    BARE,
    HOURS,
    NODE,
    NODE_HOUR,
    SECOND,
    TextQuantity,
    sentence_quantities,
)
from clusterspec.rules.readers.results.expressions import TextProduct, text_products
from clusterspec.rules.readers.windows import Window, is_certain, is_real, windows
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_CUES = ("hour", "stunde", "heures", "horas", "gpuh", "gpu-h", "gpu h", "node-h", "node h")
NAMES = {ACCELERATOR_HOUR: "accelerator-hours", NODE_HOUR: "node-hours"}
_GRANT = pattern(
    r"(?i)\b(?:grants?|granted|may use|can use|entitled|at our disposal|gives?|gave|caps?|allocat\w+|award\w*|quota|plafonn\w*|contingent|kontingent|zuteilung|bewillig\w+|budget|capped|limited to|at most|"
    r"allocation|dotation|attribu\w+|asignaci[oó]n|concedid\w+|otorgad\w+)\b"
)
_REST = pattern(
    r"(?i)\b(?:remain\w*|rest|left|unused|spare|over|already|used|consumed|second|next|per|each|further|additional|more|bleib\w+|reste\w*|quedan?)\b"
)
"""Pattern of words for hours that are only a part of an allocation, or one of several."""
_NO_MORE = pattern(r"(?i)\b(?:not one|no|nicht eine) (?:\w+ )?more\b|\bat most\b")
_PRICE = pattern(
    r"(?i)(?:/|\bper |\ban? |\beach )(?:(?:GPU|chip|accelerator|card)[ -]?h|(?P<node>(?:node|instance|server|VM)[ -]?h))"
)
_FITS = pattern(
    r"(?i)\b(?:fits?|within|covers?|enough|suffic\w+|reicht|passen|leaves?|out of|suffit|cabe\w*|together)\b"
)
_LIMIT_BEFORE = pattern(
    r"(?i)\b(?:allocation|grant|quota|award|budget|contingent|kontingent|dotation|asignaci[oó]n|available|granted)(?: of| has| is|:|,)?(?: the| our| at most)? $"
)
_RUNS_OF = pattern(
    r"(?i) (?:[a-z-]{1,14} ){0,2}(?:ablations?|runs?|experiments?|seeds?|trials?|models|jobs|versuche|läufe|expériences|experimentos)(?: of| at| with| à| von| de| x)?(?: about)? "
)
_OF_RUN = pattern(
    r"(?i)\b(?:runs?|job|training|pre-?training|project|plan|request\w*|reserv\w+|book\w*|takes?|needs?|uses?|costs?|total|lauf|projekt|"
    r"entra[iî]nement|projet|entrenamiento|proyecto)\b"
)


def check(own_remarks: str, spec: Spec, cluster: Cluster, timed: Plan | None) -> Iterator[Problem]:
    if not own_remarks or spec.pools or spec.jobs:
        return
    folded = own_remarks.casefold()
    if not any(cue in folded for cue in _CUES):
        return
    each = cluster.accelerators_per_node
    for product in text_products(own_remarks):
        unit = product.result.unit
        if unit in HOURS and each > 1 and (right := _right_hours(product, cluster)) is not None:
            other = NODE_HOUR if unit == ACCELERATOR_HOUR else ACCELERATOR_HOUR
            message = f"`{product.words}` are {NAMES[other]}: with {each} accelerators in a node they are {right:,.0f} {NAMES[unit]}"
            yield RULE.problem("description", message, f"write {NAMES[other]}, or {right:,.0f} {NAMES[unit]}")
            return
    yield from _price_problem(own_remarks, cluster)
    yield from _parts_problem(own_remarks)
    found = _hours_of_other_count(own_remarks, spec, cluster) if each > 1 else None
    if found is not None:
        yield _count_problem(*found, cluster)
        return
    yield from _grant_problem(own_remarks, cluster, timed)


def _count_problem(quantity: TextQuantity, hours: float, cluster: Cluster) -> Problem:
    if quantity.unit == NODE_HOUR:
        message = f"`{quantity.words}` are {cluster.accelerators:,} accelerators times {hours:,.4g} h, which are accelerator-hours: the {cluster.nodes:,} nodes take {cluster.nodes * hours:,.0f}"
        return RULE.problem("description", message, "multiply by the nodes, or write accelerator-hours")
    message = f"`{quantity.words}` are {cluster.nodes:,} nodes times {hours:,.4g} h, which are node-hours: the {cluster.accelerators:,} accelerators take {cluster.accelerators * hours:,.0f}"
    return RULE.problem("description", message, "multiply by the accelerators of a node, or write node-hours")


def _right_hours(product: TextProduct, cluster: Cluster) -> float | None:
    """The right hours in the unit that a text names, if its product gives the hours of the other unit; else None."""
    each, factors = cluster.accelerators_per_node, product.factors
    if sum(factor.unit == SECOND for factor in factors) != 1 or any(product.divided):
        return None
    hours = product.value / HOUR
    others = [factor for factor in factors if factor.unit != SECOND]
    counts_nodes = any(
        factor.unit == NODE or (factor.unit == BARE and factor.value == cluster.nodes) for factor in others
    )
    counts_parts = any(
        factor.unit == ACCELERATOR or (factor.unit == BARE and factor.value in (each, cluster.accelerators))
        for factor in others
    )
    if any(factor.unit not in (NODE, ACCELERATOR, BARE) for factor in others) or not product.result.agrees(hours, 0.01):
        return None
    if product.result.unit == ACCELERATOR_HOUR:
        return hours * each if counts_nodes and not counts_parts else None
    return hours / each if counts_parts and not (counts_nodes and len(others) > 1) and not counts_nodes else None


def _price_problem(text: str, cluster: Cluster) -> Iterator[Problem]:
    """The problem of a product that multiplies node-hours by the price of an accelerator-hour, or the reverse."""
    for product in text_products(text):
        match = _PRICE.search(product.words)
        units = {each.unit for each in product.factors}
        if match is None or cluster.accelerators_per_node == 1 or SECOND not in units or NODE_HOUR in units:
            continue
        counts = {each.value for each in product.factors if each.unit == BARE}
        of_parts = ACCELERATOR in units or not counts.isdisjoint((cluster.accelerators, cluster.accelerators_per_node))
        of_nodes = not of_parts and (NODE in units or cluster.nodes in counts)
        priced_part = match["node"] is None
        if product.result.agrees(product.value / HOUR, 0.02) and (
            of_nodes if priced_part else of_parts and NODE not in units
        ):
            factor = cluster.accelerators_per_node
            message = f"`{product.words}` multiplies {'node' if of_nodes else 'accelerator'}-hours by the price of {'an accelerator' if of_nodes else 'a node'}: a node has {factor}"
            yield RULE.problem("description", message, "multiply the hours of the priced part")
            return


def _parts_problem(text: str) -> Iterator[Problem]:
    """The problem of several runs that together take more hours than the allocation that they are said to fit into."""
    for sentence, quantities in sentence_quantities(text):
        if _FITS.search(sentence) is None or _GRANT.search(sentence) is None:
            continue
        for unit in HOURS:
            hours = [each for each in quantities if each.unit == unit]
            limits = [each for each in hours if _LIMIT_BEFORE.search(sentence[: each.start]) is not None]
            if len(limits) != 1 or len(hours) < 3:
                continue
            total = sum(each.value * _run_count(sentence, quantities, each) for each in hours if each is not limits[0])
            if total > 1.01 * limits[0].value:
                message = (
                    f"the runs take {total:,.0f} {NAMES[unit]} together, but the allocation has `{limits[0].words}`"
                )
                yield RULE.problem("description", message, "plan fewer runs, or ask for more hours")
                return


def _run_count(sentence: str, quantities: tuple[TextQuantity, ...], hours: TextQuantity) -> float:
    """The number of runs that take some hours each, as in `20 ablations of 3,000 GPU-hours`; 1 if not stated."""
    before = [each for each in quantities if each.end <= hours.start and each.unit == BARE]
    joint = sentence[before[-1].end : hours.start] if before else ""
    return before[-1].value if before and _RUNS_OF.fullmatch(joint) is not None else 1.0


def _hours_of_other_count(text: str, spec: Spec, cluster: Cluster) -> tuple[TextQuantity, float] | None:
    """Hours of a run that are counted in the wrong unit, and the time that shows it; else None.

    Accelerator-hours are wrong if they are the number of nodes times a time in the text or keys, and node-hours if they
    are the number of accelerators times such a time.
    """
    operations, procurement = spec.operations, spec.procurement
    target = operations.targets.run_time if operations is not None and operations.targets is not None else None
    keys = {each.value / HOUR for each in (target, procurement.term if procurement is not None else None) if each}
    of_text = {hours for _, quantities in sentence_quantities(text) for hours in _hours_of_times(quantities, DAY / 2)}
    for window in windows(text):
        near = _hours_of_times(window.quantities, HOUR)
        for quantity in window.quantities if _is_of_cluster(window, cluster) else ():
            if quantity.unit not in HOURS or not _are_hours_of_plan(window.text, quantity):
                continue
            times = near | (of_text | keys if _OF_RUN.search(window.text) is not None else set())
            right, other = cluster.accelerators, cluster.nodes
            right, other = (right, other) if quantity.unit == ACCELERATOR_HOUR else (other, right)
            fits = [hours for hours in times if quantity.agrees(hours * other, 0.005)]
            if fits and not any(quantity.agrees(hours * right, 0.03) for hours in times):
                return quantity, fits[0]
    return None


def _hours_of_times(quantities: Iterable[TextQuantity], least: float) -> set[float]:
    """The times of some figures in hours."""
    return {each.value / HOUR for each in quantities if each.unit == SECOND and each.value >= least}


def _is_of_cluster(window: Window, cluster: Cluster) -> bool:
    """Whether a text counts only nodes and accelerators of this machine; else its hours may be another job's."""
    own = {cluster.nodes, cluster.all_nodes, cluster.spare_nodes, cluster.accelerators, cluster.accelerators_per_node}
    return {each.value for each in window.quantities if each.unit in (NODE, ACCELERATOR)} <= own


def _are_hours_of_plan(text: str, quantity: TextQuantity) -> bool:
    """Whether hours belong to the plan, and are no remainder, part or price."""
    clause = clause_at(text, quantity.start, quantity.end)
    return is_certain(text, quantity) and _REST.search(clause) is None


def _grant_problem(text: str, cluster: Cluster, timed: Plan | None) -> Iterator[Problem]:
    """The problem of an allocation that the planned hours, or the shortest predicted time of the run, exceed."""
    planned = [*_planned_hours(text, cluster), *_lowest_hours(cluster, timed)]
    results = {product.result.words for product in text_products(text)} | {words for _, _, words in planned}
    limits = [each for each in _allocation_hours(text) if each.words not in results]
    if len({(each.value, each.unit) for each in limits}) != 1:
        return
    limit = limits[0]
    for hours, unit, words in planned:
        size = {NODE_HOUR: cluster.accelerators_per_node, ACCELERATOR_HOUR: 1}
        factor = size[unit] / size[limit.unit]
        if hours * factor > limit.value * 1.01:
            what = (
                f"`{words}`"
                if words
                else f"a run of {hours * factor:,.0f} {NAMES[limit.unit]}, the least time in which its tokens can be trained,"
            )
            message = f"{what} exceeds the `{limit.words}` of the allocation"
            yield RULE.problem("description", message, "train fewer tokens, or ask for more hours")
            return


def _allocation_hours(text: str) -> list[TextQuantity]:
    """The hours of the allocations in a text. In a sentence about an allocation with several hours, those in the clause
    that names it count.
    """
    found = []
    for sentence, quantities in sentence_quantities(text):
        hours = [each for each in quantities if each.unit in HOURS and is_real(sentence, each)]
        if _GRANT.search(sentence) is None:
            continue
        clauses = {each: clause_at(sentence, each.start, each.end) for each in hours}
        cued = [each for each in hours if _GRANT.search(clauses[each]) is not None] or hours
        found += [each for each in cued if _REST.search(_NO_MORE.sub(" ", clauses[each])) is None]
    return found


def _planned_hours(text: str, cluster: Cluster) -> Iterator[tuple[float, str, str]]:
    """Hours that a text computes for the run, with their unit and words: results of products, and figures equal to the
    machine's size times a stated time.
    """
    for product in text_products(text):
        if product.result.unit in HOURS and any(factor.unit == SECOND for factor in product.factors):
            yield product.result.value, product.result.unit, product.words
    for window in windows(text):
        times = _hours_of_times(window.quantities, HOUR) if _is_of_cluster(window, cluster) else set()
        for quantity in window.quantities:
            count = {ACCELERATOR_HOUR: cluster.accelerators, NODE_HOUR: cluster.nodes}.get(quantity.unit)
            if (
                count
                and _are_hours_of_plan(window.text, quantity)
                and any(quantity.agrees(count * each, 0.01) for each in times)
            ):
                yield quantity.value, quantity.unit, quantity.words


def _lowest_hours(cluster: Cluster, timed: Plan | None) -> Iterator[tuple[float, str, str]]:
    """Accelerator-hours at the low end of the predicted training time."""
    if timed is not None and timed.time_to_train and timed.step is not None and timed.step_time_range is not None:
        least = timed.time_to_train * min(timed.step_time_range) / timed.step.seconds
        yield least / HOUR * cluster.nodes * cluster.accelerators_per_node, ACCELERATOR_HOUR, ""
