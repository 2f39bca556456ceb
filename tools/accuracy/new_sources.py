"""Sources of training runs entered since the split of sources was declared: first and present errors, what is known."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from tools.accuracy.cases import DATA, Case
from tools.accuracy.figures import Score, score, share
from tools.accuracy.split import SIDES, side_of, training_source

TABLE = """Training runs of sources that were entered after the split of sources was declared
(`tests/accuracy/new_runs.jsonl`). The hash of a source's name puts it on one side before its rows are read, and
constants are fitted to the fitted side only. *First* is the error of the prediction made when the rows were entered,
before anything was changed for them: expect this error for a run that nobody has looked at. *Now* is the error of
this release. Of long tables, every sixth to sixteenth row is entered.
"""
KNOWN = """
## What is known of each later source

Causes of the errors of training steps, in the order in which the sources were entered.
"""
NOT_ADOPTED = "\n### Tried and not adopted\n\nErrors are means, before and after the change.\n"
NOT_ENTERED = "\n### Read and not entered\n"


def scores_section(now: Sequence[Case], first: Sequence[Case]) -> str:
    """The table of all sources, as Markdown."""
    return "\n".join((TABLE, _table(now, first)))


def remarks_section() -> str:
    """What is known of the errors of each source, what was not adopted and what was not entered, as Markdown."""
    notes = remarks()
    known = [f"- **{name}**: {' '.join(one['known'])}" for name, one in notes["source"].items() if "known" in one]
    lists = {
        KNOWN: known,
        NOT_ADOPTED: [f"- {text}" for text in notes["not_adopted"]],
        NOT_ENTERED: [f"- {text}" for text in notes["not_entered"]],
    }
    return "\n".join([*(line for head, rows in lists.items() for line in (head, *rows)), ""])


@cache
def remarks() -> Mapping[str, Any]:
    """``tests/accuracy/new_sources.toml``: by source its day of entry and remarks; what was not adopted or entered."""
    return tomllib.loads((DATA / "new_sources.toml").read_text("utf-8"))


def scores(cases: Sequence[Case]) -> list[Score]:
    """Errors of each source, named with its side, and of each side."""
    sources: dict[str, list[Case]] = {}
    for case in cases:
        sources.setdefault(training_source(case.id), []).append(case)
    named = {f"{source}, {side_of(source)}": found for source, found in sources.items()}
    whole = {side: [case for name, found in named.items() if name.endswith(side) for case in found] for side in SIDES}
    return [score(name, found) for name, found in (named | whole).items()]


def _table(now: Sequence[Case], first: Sequence[Case]) -> str:
    first_heads = ("source", "side", "entered", "runs", "first: median error", "mean", "90th percentile")
    heads = (*first_heads, "now: median error", "mean", "90th percentile", "bias", "inside range")
    rows = [f"| {' | '.join(heads)} |", "|---" * 3 + "|---:" * (len(heads) - 3) + "|"]
    pairs = zip(scores(first), scores(now), strict=True)
    for then, here in sorted(pairs, key=lambda pair: (pair[1].name not in SIDES, -pair[0].median)):
        errors = map(share, (then.median, then.mean, then.p90, here.median, here.mean, here.p90))
        cells = (*_labels(here.name), str(here.cases), *errors, share(here.bias, sign=True), share(here.inside))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _labels(name: str) -> Iterator[str]:
    """Source, side and day of entry of a row; a row of a whole side has no source and no day."""
    source, _, side = name.rpartition(", ")
    yield source or f"**{side}**"
    yield side
    yield remarks()["source"][source]["entered"].isoformat() if source else ""
