"""Other forms of the fit, judged on sources that they did not see: tighter and wider priors, fewer constants, and one
factor for all runs of a framework, chip, year or precision.

``python -m tools.fit.forms`` prints the errors of each. `docs/accuracy-notes.md` says what was found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator
from dataclasses import replace
from math import exp, log1p
from statistics import mean

import numpy as np

from tools.fit.constants import Constant, constants
from tools.fit.held_out import Errors, sources
from tools.fit.result import NOTICED, Summary
from tools.fit.runs import Run, runs
from tools.fit.search import Fit, counts, fitted

KEPT = 1e-3
"""Spread of a constant that stays at its prior."""
SCALES = (0.25, 0.5, 2.0, 4.0)
LEAST = (2, 3, 6)
WEIGHT = 4.0
"""The number of sources that the expectation of no common factor weighs as much as."""
Spread = Callable[[Constant], float]


def with_spreads(fit: Fit, spread: Spread) -> Fit:
    """The fit with other spreads of its priors; its values and errors stay those of the first, from which fits without
    a source start."""
    renamed = {one: replace(one, spread=spread(one)) for one in fit.free}
    values = {renamed.get(one, one): value for one, value in fit.values.items()}
    return replace(fit, values=values, free=tuple(renamed[one] for one in fit.free))


def noticing_sources(fit: Fit, constant: Constant) -> int:
    """The number of sources whose runs notice a constant and may be fitted to."""
    column = np.abs(fit.slopes[:, fit.free.index(constant)])
    return len({run.source for run, slope in zip(fit.runs, column, strict=True) if slope > NOTICED and counts(run)})


def without_shared_factors(errors: Errors, key: Callable[[Run], Hashable]) -> Errors:
    """The errors after each run is divided by the factor of its group: the geometric mean of the factors of the other
    sources of the group, drawn towards 1 as by `WEIGHT` sources.
    """
    groups: defaultdict[Hashable, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run, error in errors:
        if counts(run):
            groups[key(run)][run.source].append(log1p(error))

    def factor(run: Run) -> float:
        others = [mean(logs) for source, logs in groups[key(run)].items() if source != run.source]
        return exp(sum(others) / (len(others) + WEIGHT))

    return [(run, (1 + error) / factor(run) - 1) for run, error in errors]


def _software(run: Run) -> str:
    assert run.design.layout and run.design.layout.stack
    return run.design.layout.stack.id


def _precision(run: Run) -> str:
    assert run.design.workload is not None
    return run.design.workload.precision


KEYS: dict[str, Callable[[Run], Hashable]] = {
    "all runs": lambda run: "",
    "each framework": lambda run: _software(run).rpartition("-")[0],
    "each year": lambda run: _software(run).rpartition("-")[2],
    "each framework and year": _software,
    "each chip": lambda run: run.family,
    "each precision": _precision,
    "models with experts and others": lambda run: run.experts,
}


def scaled(factor: float) -> Spread:
    """The spread of a constant times a factor."""
    return lambda one: factor * one.spread


def kept(some: Collection[Constant]) -> Spread:
    """The spread of a constant, but none for some, which stay at their priors."""
    return lambda one: KEPT if one in some else one.spread


def forms(fit: Fit) -> Iterator[tuple[str, Errors]]:
    """The errors of all runs, each source left out, by each form."""
    plain = sources(fit)
    yield "as fitted", plain
    yield "priors alone", sources(with_spreads(fit, kept(fit.free)))
    for scale in SCALES:
        yield f"spreads of priors × {scale:g}", sources(with_spreads(fit, scaled(scale)))
    for least in LEAST:
        few = [one for one in fit.free if noticing_sources(fit, one) < least]
        name = f"constants of {least} sources and more, {len(fit.free) - len(few)} of {len(fit.free)}"
        yield name, sources(with_spreads(fit, kept(few)))
    for name, key in KEYS.items():
        yield f"one factor for {name}", without_shared_factors(plain, key)


if __name__ == "__main__":
    for name, found in forms(fitted(constants(), runs())):
        print(f"{name:45} {Summary.of(found)}", flush=True)
