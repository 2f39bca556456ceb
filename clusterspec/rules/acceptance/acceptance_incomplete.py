"""An acceptance test is incomplete, so it cannot be enforced.

## What it finds

An entry without `collective`, without `nodes` (or `ranks`), without `size`, or with neither `busbw` nor `algbw`: a
warning. An `algorithm` that the library does not have for the collective, such as a tree for an all-gather, is an error.

## Why it matters

Without size and ranks any machine can pass, and the result is disputed afterwards: the same four nodes reach 198 GB/s
at 128 MiB and 382 GB/s at 16 GiB.

## What to do

State all four.

## When to ignore it

Ignore it while the tender is a draft.

## Fires

```yaml acceptance[0]
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
acceptance:
  - {collective: all-reduce, busbw: 340 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
acceptance:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 340 GB/s}
```

## Sources

- What to ask of a provider: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/insights/how-to-choose-cloud-provider.md
- Figures without their size: https://github.com/NVIDIA/nccl-tests/issues/389
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import AcceptanceSpec, Spec

RULE = Rule.of(__name__, "warning")
OF_ALL_REDUCE = frozenset({"tree", "nvls-tree"})
"""Algorithms that NCCL and RCCL implement only for all-reduce: forcing one for another collective is an error
(src/graph/tuning.cc).
"""


def check(spec: Spec, acceptance: tuple[AcceptanceSpec, ...]) -> Iterator[Problem]:
    for number, test in enumerate(acceptance):
        lacking = list(_missing_conditions(test))
        if lacking and not spec.unreadable(("acceptance", number)):
            message = f"the test lacks {and_list(lacking)}: any machine can pass it"
            yield RULE.problem(("acceptance", number), message, "add " + ", ".join(lacking))
        if test.algorithm in OF_ALL_REDUCE and test.collective is not None and test.collective != "all-reduce":
            message = f"the libraries implement `{test.algorithm}` only for all-reduce, not for {test.collective}"
            help_ = "write `algorithm: ring`, or leave the key out"
            yield RULE.problem(("acceptance", number, "algorithm"), message, help_, severity="error")


def _missing_conditions(test: AcceptanceSpec) -> Iterator[str]:
    if test.collective is None:
        yield "`collective`"
    if test.nodes is None and test.ranks is None:
        yield "`nodes` or `ranks`"
    if test.size is None:
        yield "`size`"
    if test.busbw is None and test.algbw is None:
        yield "`busbw`"
