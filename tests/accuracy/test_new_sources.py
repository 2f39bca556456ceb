"""Remarks on sources agree with the rows that were entered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.effort import ALL_CASES
from tools.accuracy import new_sources
from tools.accuracy.cases import FILES, Case, first_predictions, published_runs, study_of
from tools.accuracy.split import is_held_out, training_source


def test_each_source_has_a_day_of_entry_and_no_other_has() -> None:
    entered = dict.fromkeys(training_source(case.id) for case in first_predictions())
    assert list(new_sources.remarks()["source"]) == list(entered), "add the source to new_sources.toml"


def test_sources_stand_in_the_order_of_their_entry() -> None:
    days = [one["entered"] for one in new_sources.remarks()["source"].values()]
    assert days == sorted(days)


def test_a_side_counts_the_runs_of_its_sources_alone() -> None:
    held, fitted = (next(name for name in ("nemo", "primus") if is_held_out(name) is side) for side in (True, False))
    cases = [Case(f"{held}-1", "x", 1.0, 1.5), Case(f"{held}-2", "x", 1.0, 1.5), Case(f"{fitted}-1", "x", 1.0, 0.9)]
    found = {one.name: (one.cases, round(one.mean, 9)) for one in new_sources.scores(cases)}
    assert found == {
        f"{held}, held out": (2, 0.5),
        f"{fitted}, fitted side": (1, 0.1),
        "held out": (2, 0.5),
        "fitted side": (1, 0.1),
    }
    page = new_sources.scores_section(cases, cases)
    assert f"| {held} | held out | " in page and " | 2 | 50.0 % | " in page


def words_of_keys(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The path of each key of a spec, with its word, or with the kind of a value that is no word."""
    if not isinstance(value, dict):
        yield path, value if isinstance(value, str) else type(value).__name__
        return
    for key, part in value.items():
        yield from words_of_keys(part, f"{path}.{key}")


def runs_with_new_words(name: str) -> Iterator[str]:
    """The runs of a file that state a key or a word that no run above them states; all in `make test-all`."""
    seen: set[tuple[str, str]] = set()
    for run in published_runs(name):
        new = set(words_of_keys(run["spec"] | {"name": ""})) - seen
        if new or ALL_CASES:
            yield run["id"]
        seen |= new


@pytest.mark.parametrize("name", FILES)
def test_every_published_run_is_written_in_keys_that_exist(name: str) -> None:
    """A key or choice that the format does not have would leave a default in its place."""
    found = [(run, one.message) for run in runs_with_new_words(name) for one in study_of(run).problems]
    assert found == []
