"""Pieces of files, read by hand: items of lists, digits, dates, conditions of scripts and tori."""

from __future__ import annotations

import pytest

from clusterspec.exchange.batch_requests import _lsf_nodes
from clusterspec.exchange.documents import _decimal_text
from clusterspec.exchange.fabrics.graph import _bracket_numbers, _expanded_item, _host_list_items
from clusterspec.exchange.fabrics.port_lists import _speed_by_lane_rate
from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.machines.links import _torus_neighbors, _torus_shapes
from clusterspec.exchange.other_shells import _docker_variables
from clusterspec.exchange.purchasing.numbers import _digits_and_sign, _number_with_mark, _ungrouped_digits
from clusterspec.exchange.purchasing.quotes import _iso_day
from clusterspec.exchange.shell_conditions import comparison_result, conjunction
from clusterspec.exchange.workloads.engines.engine_logs import _value_of
from tests.effort import each


def test_host_lists_expand_every_bracket_in_order() -> None:
    assert list(_host_list_items("a[1-2,5], b ,c")) == ["a[1-2,5]", "b", "c"]
    assert list(_host_list_items("a,")) == ["a"]
    assert list(_expanded_item("r[1-2]n[08-10]", 3)) == ["r1n08", "r1n09", "r1n10", "r2n08", "r2n09", "r2n10"]
    assert _bracket_numbers("7,09-10", 3) == ["7", "09", "10"]
    assert _bracket_numbers("5-5", 3) == ["5"]
    for text, message in (("5-4", "runs backward"), ("x", "not a range of numbers")):
        with pytest.raises(FormatError, match=message):
            _bracket_numbers(text, 3)


@each(
    ("found", "wanted"),
    [
        (_digits_and_sign("(1,200.50)"), ("1,200.50", True)),
        (_digits_and_sign("1.200-"), ("1.200", True)),
        (_digits_and_sign("+12"), ("12", False)),
        (_digits_and_sign(""), ("", False)),
        (_number_with_mark("1,200.50", "."), 1200.5),
        (_number_with_mark("1,200.00", "."), 1200),
        (_number_with_mark("1.200,5", ","), 1200.5),
        (_number_with_mark("1,20.5", "."), None),
        (_number_with_mark("12.", "."), None),
        (_number_with_mark("1.2.3", "."), None),
        (_ungrouped_digits("0120", ","), "0120"),
        (_ungrouped_digits("1,200,300", ","), "1200300"),
        (_ungrouped_digits("1 200 300", ","), "1200300"),
        (_ungrouped_digits("1’200", ","), "1200"),
        (_ungrouped_digits("0,200", ","), None),
        (_ungrouped_digits("1,2000", ","), None),
        (_ungrouped_digits("1234,000", ","), None),
        (_iso_day("2026-10-14"), "2026-10-14"),
        (_iso_day("14.10.2026"), "2026-10-14"),
        (_iso_day("4.1.2026"), "2026-01-04"),
        (_iso_day("31.11.2026"), None),
        (_iso_day("10/14/2026"), None),
        (_decimal_text(1e20), "1.0e+20"),
        (_decimal_text(1.5e20), "1.5e+20"),
        (_decimal_text(0.25), "0.25"),
        (_decimal_text(3.0), "3"),
        (_value_of("True"), True),
        (_value_of("'fp8'"), "fp8"),
        (_value_of("12"), 12),
        (_value_of("0.9"), 0.9),
        (_speed_by_lane_rate("25.78125", None), "EDR"),
        (_speed_by_lane_rate("10.3125", "10"), "FDR10"),
        (_speed_by_lane_rate("33.0", None), "33.0"),
        (_docker_variables("ENV", "A=1 B='x y'"), "export A=1; export B='x y'"),
        (_docker_variables("ENV", "A x y"), "export A='x y'"),
        (_docker_variables("ARG", "A=1"), "A=${A:-1}"),
    ],
)
def test_a_piece_of_text_has_one_meaning(found: object, wanted: object) -> None:
    assert (type(found), found) == (type(wanted), wanted)


YES, NO = True, False


@each(
    ("sign", "one", "other", "wanted"),
    [
        ("&&", YES, YES, YES),
        ("&&", YES, NO, NO),
        ("&&", None, NO, NO),
        ("&&", YES, None, None),
        ("||", NO, NO, NO),
        ("||", NO, YES, YES),
        ("||", None, YES, YES),
        ("||", NO, None, None),
    ],
)
def test_two_tests_decide_together_what_one_of_them_may_decide(
    sign: str, one: bool | None, other: bool | None, wanted: bool | None
) -> None:
    assert conjunction(sign, one, other) is wanted


def test_words_and_integers_are_compared() -> None:
    signs = ("=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-ef")
    wanted = {("8", "8"): [1, 1, 0, 1, 0, 0, 1, 0, 1, None], ("8", "16"): [0, 0, 1, 0, 1, 1, 1, 0, 0, None]}
    for (one, other), results in wanted.items():
        assert [comparison_result(sign, one, other) for sign in signs] == results
    assert comparison_result("-lt", "a", "8") is None


def test_neighbors_on_a_torus_are_one_step_away_on_one_axis() -> None:
    assert list(_torus_shapes(8)) == [(8,), (2, 4), (4, 2), (2, 2, 2)]
    assert _torus_neighbors((2, 3)) == {
        0: {3, 1, 2}, 1: {4, 0, 2}, 2: {5, 0, 1}, 3: {0, 4, 5}, 4: {1, 3, 5}, 5: {2, 3, 4}
    }  # fmt: skip
    assert _torus_neighbors((1,)) == {0: frozenset()}


@each(
    ("text", "wanted"),
    [
        ("#BSUB -nnodes 4\n", (4, 1)),
        ("#!/bin/sh\n#BSUB -n 33\n#BSUB -R span[ptile=8]\n", (5, 3)),
        ("#BSUB -n 32\n#BSUB -R span[ptile=8]\n", (4, 2)),
        ("#BSUB -n 32\n#BSUB -R span[hosts=1]\n", (1, 2)),
        ("#BSUB -n 1\n", (1, 1)),
        ("#BSUB -n 2\n", None),
    ],
)
def test_hosts_of_lsf_follow_from_tasks_and_their_number_on_each(text: str, wanted: tuple[int, int] | None) -> None:
    found = _lsf_nodes(text)
    assert (found if found is None else tuple(found)) == wanted
