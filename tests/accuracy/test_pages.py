"""Tables of errors and the overview of docs/accuracy.md, on figures worked out by hand."""

from __future__ import annotations

from tools.accuracy.cases import Case
from tools.accuracy.figures import Regret, Score
from tools.accuracy.overview import Evidence, facts, is_of_held_out_source, worst_groups
from tools.accuracy.rl_cases import RlCase
from tools.accuracy.tables import fit_table, regret_table, score_table, worst_cases_table

FAST = Case("a-1", "H100", 10.0, 8.0, 7.0, 11.0)
"""Predicted 20 % too fast, inside its range of 4 s."""
SLOW = Case("b-1", "A100", 10.0, 15.0, 13.0, 17.0)
"""Predicted 50 % too slow, outside its range."""


def test_a_table_has_totals_first_and_then_the_largest_median_error() -> None:
    scores = [
        Score(name, 2, error, error, error, error, 0.5, 0.25) for name, error in (("x", 0.1), ("y", 0.3), ("all", 0.2))
    ]
    rows = score_table([*scores, Score("**tpot**", 1, 0.05, 0.05, 0.05, -0.05, None, None)], "chip").splitlines()
    assert rows[0] == "| chip | figures | median error | mean error | 90th percentile | bias | inside range | ± range |"
    assert [row.split(" | ")[0] for row in rows[2:]] == ["| **all**", "| **tpot**", "| y", "| x"]
    assert rows[3] == "| **tpot** | 1 | 5.0 % | 5.0 % | 5.0 % | -5.0 % | – | – |"


def test_the_worst_case_is_the_one_with_the_largest_error_of_either_sign() -> None:
    rows = worst_cases_table([FAST, SLOW]).splitlines()
    assert rows[2].startswith("| b-1 | , A100 | 10 s | 15 s | +50.0 % |")
    assert rows[3].startswith("| a-1 | , H100 | 10 s | 8 s | -20.0 % |")


def test_the_mean_regret_heads_the_sets() -> None:
    rows = regret_table([Regret("small", 3, 0.01), Regret("large", 4, 0.05)]).splitlines()
    assert rows[2:] == ["| **mean of 2 sets** |  | **3.0 %** |", "| large | 4 | 5.0 % |", "| small | 3 | 1.0 % |"]


def test_a_prediction_of_fit_is_right_if_it_equals_what_happened() -> None:
    ran = [Case("a", "ran", 1.0, 1.0), Case("b", "ran", 1.0, 2.0)]
    assert fit_table(ran).splitlines()[2] == "| ran | 2 | 1 (50.0 %) |"


def test_a_line_of_evidence_counts_figures_sources_and_machines() -> None:
    evidence = Evidence("step", [FAST, SLOW, SLOW], lambda case: case.id, lambda case: case.group)
    assert evidence.line == "| step | 3 | 2 | 2 | 50.0 % | 50.0 % | 33.3 % |"


def test_groups_of_few_figures_are_no_worst_group() -> None:
    found = worst_groups("step", [FAST] * 5 + [SLOW] * 4, lambda case: case.group)
    assert [one.name for one in found] == ["step | H100"]


def test_the_side_of_a_run_is_that_of_its_source() -> None:
    assert is_of_held_out_source(Case("modalities-001", "", 1.0, 1.0))
    assert not is_of_held_out_source(Case("gpurecipes-001", "", 1.0, 1.0))


def test_facts_state_counts_and_the_mean_regret() -> None:
    fits = [Case("a", "ran", 1.0, 1.0), Case("b", "ran", 1.0, 2.0)]
    fabrics = [Case("leaves", "", 8.0, 8.0), Case("spines", "", 8.0, 4.0)]
    found = facts(fits, fabrics, [Regret("x", 3, 0.02), Regret("y", 3, 0.04)], (3, 7), (5, 6))
    assert "right for 1 of 2 published runs" in found[0]
    assert "3.0 % slower" in found[1]
    assert "1 of 2 counts" in found[2]
    assert "5 of 6 pairs" in found[3]
    assert "3 of 7 weight transfers" in found[3]


def test_a_row_without_a_prediction_has_no_error() -> None:
    row = {"step_time": "", "length_stated": "yes", "sync_time": "2.0", "source": "verl"}
    assert RlCase(row, None).shown_error is None
