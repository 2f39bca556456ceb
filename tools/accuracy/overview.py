"""The first page of docs/accuracy.md: what was measured, how far off predictions are, and what to expect of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from tools.accuracy import serving_cases
from tools.accuracy.cases import Case
from tools.accuracy.figures import Regret, Score, score, share
from tools.accuracy.split import is_held_out, training_source
from tools.fit import result

HEAD = """# Accuracy

How far a prediction can be trusted. This release predicts every published figure in `tests/accuracy` from the machine,
the layout and the software that its source states. `make accuracy` writes this page from the comparison. The error of a
prediction is |predicted ÷ published − 1|.

## How far off predictions are

The table has sources to which no constant is fitted: the hash of a source's name decides that before its rows are read.
The first row has every later source as it was first predicted, before anything was changed for it. *Half* and *nine in
ten* are the errors that so many figures do not exceed. *Inside* is the share of published figures within the predicted
range, which is meant to contain four in five.
"""
COLUMNS = ("prediction", "figures", "sources", "accelerators", "half within", "nine in ten within", "inside")
UNSEEN = """
## What to expect for a machine

Errors of training steps by fits that left out more and more. For a machine without published runs expect the last row;
the printed ranges are wider there. Measurements of your own machine ([`measured`](spec.md#measured)) replace what is
assumed about it.
"""
FITS = {
    "the run": "folds",
    "all runs of its source": "sources",
    "all runs of its accelerator with this framework and precision": "kinds",
    "all runs and figures of its family of chips": "families",
}
"""What a fit left out, with the name of its errors among the results of `tools.fit`."""
FITS_HEAD = """| left out | dense: half within | nine in ten within | experts: half within | nine in ten within |
|---|---:|---:|---:|---:|"""
WORST = """
## Where predictions are far off

The groups of held-out figures with the largest median errors, of those with {least} figures and more.
[Notes](accuracy-notes.md) and the remarks [by source](#what-is-known-of-each-later-source) name the causes that are
known.
"""
LEAST, SHOWN = 5, 3
"""Fewest figures of a group that is shown, and how many groups of each prediction are."""
READING = """
## How to read the tables

- A row is a group of published figures; the largest median error comes first, under the totals.
- *Bias* is the median of predicted ÷ published − 1: positive for times that are predicted too long and for rates that
  are predicted too high.
- *Inside range* is the share of published figures within the predicted range, *± range* the median of half that range
  over the prediction.
- *Held out* are sources that the hash of their name keeps from every fit, *fitted side* are all others.
- *Regret* is the share by which the layout predicted to be fastest ran slower than the fastest published one.
"""


@dataclass(frozen=True)
class Evidence:
    """Published figures of one kind with their predictions."""

    name: str
    cases: Sequence[Case]
    source: Callable[[Case], str]
    accelerator: Callable[[Case], str]

    @property
    def line(self) -> str:
        """The row of the first table."""
        found = score(self.name, self.cases)
        counts = (len({of(case) for case in self.cases}) for of in (self.source, self.accelerator))
        cells = (self.name, f"{found.cases:,}", *map(str, counts), *map(share, (found.median, found.p90, found.inside)))
        return f"| {' | '.join(cells)} |"


def steps(name: str, cases: Sequence[Case]) -> Evidence:
    """Published training runs."""
    return Evidence(name, cases, lambda case: training_source(case.id), lambda case: case.group)


def is_of_held_out_source(case: Case) -> bool:
    """Whether no constant may be fitted to the source of a training run."""
    return is_held_out(training_source(case.id))


def serving() -> Iterator[Evidence]:
    """Published figures of serving plans of held-out sources, by quantity."""
    rows = {row["id"]: row for row in serving_cases.rows("new_serving")}
    found = [case for case in serving_cases.cases("new_serving") if is_held_out(rows[case.id]["source"])]
    names = {"ttft": "time to first token", "tpot": "time per output token", "throughput": "serving throughput"}
    for quantity, name in names.items():
        cases = [case for case in found if case.group.startswith(quantity)]
        yield Evidence(name, cases, lambda case: rows[case.id]["source"], lambda case: rows[case.id]["accelerator"])


def overview(evidence: Sequence[Evidence], facts: Sequence[str], groups: Sequence[Score]) -> Iterator[str]:
    """The parts of the first page; ``facts`` are sentences on what is right or wrong rather than far off."""
    yield HEAD
    yield f"| {' | '.join(COLUMNS)} |\n|---|" + "---:|" * (len(COLUMNS) - 1)
    yield from (one.line for one in evidence)
    yield ""
    yield from (f"- {fact}" for fact in facts)
    yield UNSEEN
    yield FITS_HEAD
    yield from _unseen_rows(result.read())
    yield WORST.format(least=LEAST)
    yield "| prediction | group | figures | median error | 90th percentile | bias |\n|---|---|---:|---:|---:|---:|"
    yield from map(_group_row, groups)
    yield READING


def _unseen_rows(results: dict[str, Any]) -> Iterator[str]:
    for seen, key in FITS.items():
        errors = (
            f"{100 * results[key][kind][name]:.1f} %"
            for kind in ("dense", "with experts")
            for name in ("median", "p90")
        )
        yield f"| {seen} | {' | '.join(errors)} |"


def worst_groups(name: str, cases: Sequence[Case], group: Callable[[Case], str]) -> list[Score]:
    """The groups of cases with the largest median errors, named with their prediction."""
    names = {group(case) for case in cases}
    found = [score(f"{name} | {each}", [case for case in cases if group(case) == each]) for each in sorted(names)]
    return sorted((one for one in found if one.cases >= LEAST), key=lambda one: -one.median)[:SHOWN]


def _group_row(score: Score) -> str:
    bias = share(score.bias, sign=True)
    return f"| {score.name} | {score.cases} | {share(score.median)} | {share(score.p90)} | {bias} |"


def facts(
    fits: Sequence[Case],
    fabrics: Sequence[Case],
    regrets: Sequence[Regret],
    transfers: tuple[int, int],
    pairs: tuple[int, int],
) -> list[str]:
    """What is right or wrong rather than far off, as sentences with counts."""
    right = sum(case.predicted == case.published for case in fits)
    exact = sum(abs(case.error) < 1e-9 for case in fabrics)
    regret = share(mean(one.regret for one in regrets))
    return [
        f"Whether a job fits in memory: right for {right} of {len(fits)} published runs.",
        f"Which of several published layouts is fastest: the layout chosen ran {regret} slower than the fastest "
        f"(mean of {len(regrets)} sets).",
        f"Switches and links of published fabrics: {exact} of {len(fabrics)} counts are exact.",
        f"Reinforcement learning, held-out sources: the faster of two placements is right for {pairs[0]} of {pairs[1]} "
        f"pairs; {transfers[0]} of {transfers[1]} weight transfers are within a factor of 1.5.",
    ]
