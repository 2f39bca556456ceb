"""Sources of training runs entered since the split of sources was declared: first and present errors, what is known."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from tools.accuracy.cases import DATA, Case
from tools.accuracy.figures import Score, score, share
from tools.accuracy.split import SIDES, side_of, training_source

TABLE = """Training runs of sources that were entered since the split of sources was declared
(`tests/accuracy/new_runs.jsonl`). A hash of the source's name puts it on one side before its rows are read, and
constants are fitted to the fitted side only. *First* are the errors of the predictions made when the rows were entered,
before anything was changed for them: they are what a user may expect of a source that nobody has looked at. Of long
tables, every sixth to sixteenth row is entered.
"""
KNOWN = "## Errors of sources never fitted to\n\nWhat is known of the errors of each source, in the order of entry:\n"
NOT_ADOPTED = "\nTried and not adopted, with errors in the mean before and after:\n"
NOT_ENTERED = "\nRead and not entered:\n"


def section(now: Sequence[Case], first: Sequence[Case]) -> str:
    """The table of all sources and the remarks on them, as Markdown."""
    notes = remarks()
    known = [f"- **{name}**: {' '.join(one['known'])}" for name, one in notes["source"].items() if "known" in one]
    lists = {
        KNOWN: known,
        NOT_ADOPTED: [f"- {text}" for text in notes["not_adopted"]],
        NOT_ENTERED: [f"- {text}" for text in notes["not_entered"]],
    }
    return "\n".join([TABLE, _table(now, first), *(line for head, rows in lists.items() for line in (head, *rows)), ""])


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
    heads = ("source", "side", "entered", "runs", "first median", "mean", "p90", "now median", "mean", "p90")
    rows = [f"| {' | '.join((*heads, 'bias', 'inside'))} |", "|---" * (len(heads) + 2) + "|"]
    for then, here in zip(scores(first), scores(now), strict=True):
        errors = map(share, (then.median, then.mean, then.p90, here.median, here.mean, here.p90))
        cells = (*_labels(here.name), str(here.cases), *errors, share(here.bias, sign=True), share(here.inside))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _labels(name: str) -> Iterator[str]:
    """Source, side and day of entry of a row; a row of a whole side has no source and no day."""
    source, _, side = name.rpartition(", ")
    yield source or "**all**"
    yield side
    yield remarks()["source"][source]["entered"].isoformat() if source else ""
