"""The fit keeps to its own rules: families, caps, runs kept apart, and a story for every constant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.catalog.frameworks import OWN
from clusterspec.catalog.stacks import Stack
from clusterspec.source import Assumed
from tests.effort import thorough
from tools.accuracy.cases import FILES, published_runs
from tools.accuracy.split import BEFORE, fitted_runs, training_source
from tools.fit.constants import accelerators_of_same_chip, constants, table, unfitted_runs
from tools.fit.forms import kept, with_spreads, without_shared_factors
from tools.fit.runs import runs_of
from tools.fit.search import fitted, loss, pull, refitted
from tools.fit.write import STORY

CATALOG = Catalog.open()


def test_every_constant_belongs_to_entries_that_have_it_and_say_how_it_came() -> None:
    for constant in constants():
        for kind, name in constant.owners:
            entry = CATALOG.get(kind, name)
            assert isinstance(entry, Accelerator | Stack)
            if constant.fact not in entry.achievable:
                assert constant.fact.startswith("sustained."), (name, constant.fact)
                continue
            origin = entry.achievable[constant.fact].origin
            assert isinstance(origin, Assumed)
            assert not constant.spread or STORY.search(origin.why), (name, constant.fact)
            assert entry.achievable[constant.fact].value <= constant.cap


def serves(name: str) -> bool:
    stack = CATALOG.get("stack", name)
    return isinstance(stack, Stack) and stack.serving is not None


def test_every_stack_of_the_catalog_is_fitted_or_a_guess_that_says_so() -> None:
    # between the figures of the others; nanotron has those of the first; llm.c is counted from its source
    stands_in = {f"{OWN}-2021", "nanotron-2024", "llm-c-2024", "llmq-2025"}
    assert {name for name in CATALOG.ids("stack") if not serves(name)} == set(table()["stacks"]) | stands_in
    assert set(accelerators_of_same_chip()) <= set(CATALOG.ids("accelerator"))


def test_a_fourth_of_the_runs_of_older_sources_is_kept_to_check() -> None:
    sides = {name: fitted for name, fitted in fitted_runs().items() if training_source(name) in BEFORE}
    checked, trained = ([name for name, fitted in sides.items() if fitted is side] for side in (False, True))
    assert 0.15 * len(sides) < len(checked) < 0.27 * len(sides)
    assert set(map(training_source, checked)) <= set(map(training_source, trained))


def test_what_is_left_out_is_a_published_run_and_has_a_reason() -> None:
    published = {run["id"] for name in FILES for run in published_runs(name)}
    assert set(unfitted_runs()) <= published
    assert all(unfitted_runs().values())
    assert len(unfitted_runs()) < 0.05 * len(published)


def test_the_search_comes_nearer_and_stays_near_what_was_known() -> None:
    some = [replace(run, fitted=True) for run in runs_of("kor")]
    free = [constant for constant in constants() if constant.group == "megatron-core-2021"]
    before = {constant: constant.prior for constant in free}
    after, seen = fitted(free, some), np.ones(len(some))
    assert loss(after.values, after.errors, seen) < loss(before, np.array([run.error(before) for run in some]), seen)
    for constant in free:
        if constant.spread:
            assert pull(constant, after.values[constant]) < 0.02


def test_a_fit_without_a_run_does_not_depend_on_it() -> None:
    """A fit whose run takes ten times as long differs, unless it is left out."""
    some = [replace(run, fitted=True) for run in runs_of("kor")]
    odd = [replace(some[0], seconds=10 * some[0].seconds), *some[1:]]
    free = [constant for constant in constants() if constant.group == "megatron-core-2021"]
    dropped = {some[0].id}
    first, second = (fitted(free, each).values_without(dropped) for each in (some, odd))
    for constant in free:
        assert first[constant] == pytest.approx(second[constant], rel=0.05)


def test_constants_that_are_kept_stay_at_their_priors() -> None:
    some = [replace(run, fitted=True) for run in runs_of("kor")]
    fit = fitted([constant for constant in constants() if constant.group == "megatron-core-2021"], some)
    held = with_spreads(fit, kept(fit.free)).values_without(frozenset())
    assert any(abs(fit.values[constant] / constant.prior - 1) > 0.01 for constant in fit.free)
    for constant in fit.free:
        own = next(value for one, value in held.items() if one.fact == constant.fact)
        assert own == pytest.approx(constant.prior, rel=1e-3)


def test_the_factor_of_a_group_is_that_of_its_other_sources() -> None:
    """Two others, 1.5 times too slow, and four that expect none: 1.5 to the power of 2 / 6; alone, a source keeps its
    error.
    """
    run = next(iter(runs_of("kor")))
    three = [(replace(run, source=name, fitted=True), 0.5) for name in ("one", "two", "three")]
    together = without_shared_factors(three, lambda _: "")
    assert [error for _, error in together] == pytest.approx([1.5 ** (2 / 3) - 1] * 3)
    apart = without_shared_factors(three, lambda each: each.source)
    assert [error for _, error in apart] == pytest.approx([0.5] * 3)


@thorough
def test_a_fit_with_one_constant_far_from_its_optimum_is_found_by_the_model() -> None:
    some = [replace(run, fitted=True) for run in runs_of("vtrains")][::4]
    owners = frozenset().union(*(run.owners for run in some))
    all_of_them = [constant for constant in constants() if owners & set(constant.owners)]
    held = next(constant for constant in all_of_them if constant.fact == "products" and constant.spread)
    others, far = [constant for constant in all_of_them if constant != held], replace(held, prior=held.prior / 2)
    fit, anew = fitted([far, *others], some), fitted([replace(far, spread=0), *others], some)
    found = {"again": refitted(fit, far), "linear": fit.values_without(frozenset(), fixed=far), "anew": anew.values}
    errors = {name: np.array([run.error(values) for run in some]) for name, values in found.items()}
    losses = {name: loss(values, errors[name], np.ones(len(some))) for name, values in found.items()}
    assert found["again"][far] == found["linear"][far] == far.prior
    assert losses["again"] < 0.998 * losses["linear"]
    assert losses["again"] == pytest.approx(losses["anew"], rel=0.001)
