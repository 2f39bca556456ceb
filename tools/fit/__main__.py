"""The command line of the fit."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import exp
from statistics import mean, median

from tools.fit import spread
from tools.fit.constants import constants
from tools.fit.runs import Run, Values, runs
from tools.fit.search import fitted, sensitive
from tools.fit.write import write

FOLDS = 5
FEWER_SWEEPS = 5
"""Of fits that are thrown away after they were checked."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.fit", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the constants into the catalog")
    parser.add_argument("--spread", action="store_true", help="find the bands of the stacks by leaving runs out; slow")
    chosen, everything = parser.parse_args(), runs()
    if chosen.spread:
        folds, sources = left_out(everything, partial(fold, everything)), left_out(everything, lambda run: run.source)
        said("each fifth left out", folds)
        said("each source left out", sources)
        spread.write(spread.spreads(folds, sources))
    values = fitted(constants(), [run for run in everything if run.fitted])
    said("fitted", errors(values, (run for run in everything if run.fitted)))
    said("checked", errors(values, (run for run in everything if not run.fitted)))
    for stack in sorted({name for run in everything for kind, name in run.owners if kind == "stack"}):
        said(stack, errors(values, (run for run in everything if ("stack", stack) in run.owners and not run.fitted)))
    if chosen.write:
        counts = {constant: sensitive(constant, values, everything) for constant in values}
        for file in write(values, counts):
            print(f"wrote {file}")


Errors = list[tuple[Run, float]]


def fold(everything: Sequence[Run], run: Run) -> int:
    """Which fifth a run belongs to: every fifth run in order of source and name."""
    return [each.id for each in everything].index(run.id) % FOLDS


def errors(values: Values, some: Iterable[Run]) -> Errors:
    return [(run, exp(run.error(values)) - 1) for run in some]


def left_out(everything: Sequence[Run], part: Callable[[Run], object]) -> Errors:
    """Every run predicted by a fit that did not see its part."""
    found: Errors = []
    for each in dict.fromkeys(map(part, everything)):
        values = fitted(constants(), [run for run in everything if part(run) != each], FEWER_SWEEPS)
        found += errors(values, (run for run in everything if part(run) == each))
    return found


def said(name: str, found: Errors) -> None:
    """One line: how many runs, and their errors; those with experts also by themselves."""
    if not found:
        return
    sizes = sorted(abs(error) for _, error in found)
    experts = [abs(error) for run, error in found if run.experts]
    print(
        f"{name:26} {len(found):4} runs  median {100 * median(sizes):5.1f} %  mean {100 * mean(sizes):5.1f} %"
        f"  p90 {100 * sizes[int(0.9 * len(sizes))]:5.1f} %  bias {100 * median(error for _, error in found):+5.1f} %"
        + (f"  with experts {len(experts)}: {100 * median(experts):.1f} %" if experts else ""),
        flush=True,
    )


if __name__ == "__main__":
    main()
