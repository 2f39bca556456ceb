"""Work on a few nodes at a time takes longer than the window that a text gives for all of them.

## What it finds

A sentence, or two in a row, that states how many nodes are worked on at a time (`two servers at a time`, `in groups of
4`), the time of each group and a window for all, where the groups one after another need more than the window. The
number of nodes is `cluster.nodes`, or the number that the text gives for all nodes. Pairs of nodes are counted as the
text gives them (`496 pairs, 16 pairs at a time, 15 minutes a pair`).

## Why it matters

Firmware, drivers and kernels go to all nodes of a machine. A window that ends in the middle leaves two versions in one
job, or nodes that are still drained when users return.

## What to do

Work on more nodes at a time, ask for a longer window, or plan several.

## When to ignore it

Ignore it where only some of the nodes are worked on in this window.

## Fires

```yaml description
clusterspec: 1
description: Firmware day, four nodes at a time, two hours for each group. All nodes are done in the 12-hour window of a Sunday.
cluster: {platform: dgx-h100, nodes: 32}
```

## Silent

```yaml
clusterspec: 1
description: Firmware day, four nodes at a time, two hours for each group. All nodes are done in the 18-hour window of a weekend.
cluster: {platform: dgx-h100, nodes: 32}
```

## Sources

- Rolling upgrades with a number of nodes at a time: https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import ceil

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.readers.units import NUMBER_WORDS
from clusterspec.rules.readers.written_numbers import (
    count_in_text,
    is_of_another_machine,
    sentences_of,
    sentences_with_neighbors,
    time_in_text,
)
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import display
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error", "likely")
_CUES = ("at a time", "at once", "in parallel", "at the same time", "groups of", "batches of", "waves of", "in pairs")
"""Words for work on a few nodes at a time; a text about such work has at least one of them."""
_COUNT = rf"(\d{{1,4}}|{'|'.join(NUMBER_WORDS)})"
_NODES = r"(?:nodes?|servers?|hosts?|machines|systems?)"
_AT_ONCE = pattern(
    rf"\b{_COUNT} (?:{_NODES}|(?P<pairs>pairs)) (?:are [a-z]{{3,14}} )?(?:at a time|at once|in parallel|at the same time)\b"
    rf"|\b(?:groups|batches|waves) of {_COUNT}\b(?! ?%)|\b(?P<two>in pairs)\b"
)
_UNIT = r"(h|hrs?|hours?|min|minutes?)"
_EACH = pattern(
    rf"\b{_COUNT}[- ]?{_UNIT}(?: are needed)? (?:for |per |a )(?:each |every )?(?:pair|group|batch|wave|round|node|server|host|machine|system|of them)\b"
    rf"|\b(?:each|every)(?: (?:pair|group|batch|wave|round|node|server|host|machine|system))?(?: of [a-z]{{2,9}})? (?:takes|needs|lasts|requires)(?: about)? {_COUNT}[- ]?{_UNIT}\b"
    rf"|\b{_COUNT}[- ]?{_UNIT} each\b"
)
_WINDOW = pattern(
    rf"\b{_COUNT}[- ]?{_UNIT}(?: long)?[- ](?:maintenance )?window\b|\bwindow (?:of|is|has|lasts) {_COUNT}[- ]?{_UNIT}\b"
    rf"|\b{_COUNT}[- ]?{_UNIT}\)? (?:are|is) (?:set aside|reserved|planned|allowed|scheduled)\b"
    rf"|\b(?:all|done|complete\w*|finish\w*|ready|whole)\b[^.;]{{0,40}}? (?:within|in) {_COUNT}[- ]?{_UNIT}\b"
)
_ALL = pattern(rf"\ball (\d{{1,5}}) (?:{_NODES}|are|of them)\b|\b(\d{{2,5}}) {_NODES}\b(?!,? (?:at a time|at once|in))")
_PAIRS = pattern(
    r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d{1,7}) (?:\w{2,12} )?pairs\b(?! (?:at a time|at once|in parallel|at the same time))"
)
_ROUNDED = 1.02
"""Ratio to the window up to which the total time of all groups fits."""


def check(remarks: str, cluster: Cluster) -> Iterator[Problem]:
    folded = remarks.lower()
    if not any(cue in folded for cue in _CUES):
        return
    for text in sentences_with_neighbors(sentences_of(" ".join(folded.split()))):
        groups, times, windows = ([*setting.finditer(text)] if text else [] for setting in (_AT_ONCE, _EACH, _WINDOW))
        if not len(groups) == len(times) == len(windows) == 1 or is_of_another_machine(text):
            continue
        number, size = _work_in_groups(text, groups[0], cluster)
        each, window = (_seconds_of_count([one for one in match.groups() if one]) for match in (times[0], windows[0]))
        rounds = ceil(number / size) if 0 < size <= number else 0
        if rounds * each > window * _ROUNDED:
            unit = "pair" if groups[0]["pairs"] else "node"
            message = (
                f"{plural(number, unit)} in groups of {size} are {plural(rounds, 'group')} of {display(each, 's')}: "
                f"{display(rounds * each, 's')}, but the window has {display(window, 's')}"
            )
            yield RULE.problem("description", message, "work on more nodes at a time, or ask for a longer window")
            return


def _work_in_groups(text: str, group: re.Match[str], cluster: Cluster) -> tuple[int, int]:
    """The number of nodes (or of pairs of nodes) to be worked on, 0 if unclear, and the number at a time."""
    size = 2 if group["two"] else count_in_text(group[1] or group[3])
    if group["pairs"]:
        counts = {int(each.replace(",", "")) for each in _PAIRS.findall(text)}
        return (counts.pop() if len(counts) == 1 else 0), size
    counts = {int(one or other) for one, other in _ALL.findall(text)}
    nodes = counts.pop() if len(counts) == 1 else cluster.nodes
    return (nodes if nodes <= cluster.all_nodes else 0), size


def _seconds_of_count(parts: list[str]) -> float:
    """Seconds of a count and its unit."""
    return time_in_text(str(count_in_text(parts[0])), parts[1])
