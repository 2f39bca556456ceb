"""The declared split: constants fitted to one side of the sources alone, and what each is worth on the other.

A hash of the source's name decides the side (``tools.accuracy.split``). A constant that makes the runs of its own side
more exact and those of the other side less so describes its source, not the physics. ``one_sided_constants`` names it,
a test refuses it, and it belongs to ``constants.toml`` with a spread of 0, which keeps what was known beforehand.

A gain compares two fits, the second of which keeps the constant at its prior. For a constant that enough runs of both
sides notice, and which may therefore be refused, that fit is made by the model (``refitted``) instead of from errors
linear in the logarithms (``Fit.without``). They are linear near a fit only: the linear gains of `loss`, with a prior of
a quarter of its value, were 0.0049 and, held out, -0.0033, where a refit from the priors has 0.0011 and -0.0012.

``python -m tools.fit.split`` writes ``tests/accuracy/fit_split.json``.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from tools.accuracy.cases import FILES, published_runs
from tools.accuracy.split import fitted_runs, is_held_out
from tools.fit.constants import Constant, constants, table, unfitted_runs
from tools.fit.held_out import Errors, errors
from tools.fit.result import NOTICED, Summary
from tools.fit.runs import Run, runs
from tools.fit.search import Fit, fitted, refitted

FILE = Path(__file__).resolve().parents[2] / "tests" / "accuracy" / "fit_split.json"
SIDES = {"fitted": False, "held out": True}
JUDGED = 5
"""Runs of each side that must notice a constant before it is judged."""
TOLERATED = 0.002
"""Fraction of mean error by which a constant may worsen the other side: less than runs of one source differ by."""


def write() -> None:
    """Fits to one side, and writes the errors of both and the gain of each constant on both."""
    split = tuple(replace(run, fitted=not is_held_out(run.source)) for run in runs())
    fit = fitted(constants(), split)
    both = errors(fit.values, split)
    found = {
        "of": digest(),
        "sides": {name: _summaries([pair for pair in both if _side(pair[0]) == name]) for name in SIDES},
        "sources": {name: sorted({run.source for run in split if _side(run) == name}) for name in SIDES},
        "constants": [_constant(fit, constant) for constant in fit.free],
    }
    FILE.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def read() -> dict[str, Any]:
    """The results of the last fit to one side."""
    found: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return found


def digest() -> str:
    """A hash of what the results rest on in addition to the model: the published runs, without what was first predicted
    for them, and the constants."""
    used = fitted_runs()
    rows = [row for name in FILES for row in published_runs(name) if row["id"] in used]
    published = [{key: value for key, value in row.items() if key != "first"} for row in rows]
    known = {**table(), "left_out": sorted(unfitted_runs())}
    return sha256(json.dumps([published, known]).encode()).hexdigest()[:16]


def one_sided_constants(constants: list[dict[str, Any]]) -> list[str]:
    """Constants with a gain on the side they were fitted to, and a loss on the other."""
    return [
        f"{one['group']} {one['fact']}"
        for one in constants
        if min(one["fitted"]["runs"], one["held out"]["runs"]) >= JUDGED
        and one["fitted"]["gain"] > 0
        and one["held out"]["gain"] < -TOLERATED
    ]


def _side(run: Run) -> str:
    return "held out" if is_held_out(run.source) else "fitted"


def _summaries(errors: Errors) -> dict[str, dict[str, float]]:
    kinds = {"all": errors, "with experts": [pair for pair in errors if pair[0].experts]}
    return {name: asdict(Summary.of(pairs)) for name, pairs in kinds.items() if pairs}


def _constant(fit: Fit, constant: Constant) -> dict[str, Any]:
    column = np.abs(fit.slopes[:, fit.free.index(constant)])
    noticed = [run for run, slope in zip(fit.runs, column, strict=True) if slope > NOTICED]
    sides = {name: [run for run in noticed if _side(run) == name and run.id not in unfitted_runs()] for name in SIDES}
    judged = min(map(len, sides.values())) >= JUDGED
    with_prior = refitted(fit, constant) if judged else fit.values_without(frozenset(), fixed=constant)
    return {
        "group": constant.group,
        "fact": constant.fact,
        "value": round(fit.values[constant], 9),
        "prior": constant.prior,
        **{name: {"runs": len(some), "gain": _gain(fit, with_prior, some)} for name, some in sides.items()},
    }


def _gain(fit: Fit, with_prior: dict[Constant, float], some: list[Run]) -> float:
    """Decrease of the mean error of some runs compared to keeping the constant at its prior."""
    if not some:
        return 0.0
    without, having = (mean(abs(error) for _, error in errors(values, some)) for values in (with_prior, fit.values))
    return round(without - having, 5)


if __name__ == "__main__":
    write()
    print(f"wrote {FILE}")
