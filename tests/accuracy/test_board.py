"""The board cannot drift: page, lines, hashes and rows of peers agree, and fitted constants hold on unseen sources."""

from __future__ import annotations

from pathlib import Path

from tools.accuracy import board, board_page, split
from tools.fit import result
from tools.fit import split as fit_split
from tools.peers import rows
from tools.peers.__main__ import peers, recorded_prediction

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_is_what_the_recorded_lines_say() -> None:
    assert (DOCS / "board.md").read_text("utf-8") == board_page.page(), "run `make board`"


def test_this_release_is_locked_to_its_lines() -> None:
    assert board.releases()[-1] == board.summary(), "run `make board`"


def test_predictions_of_peers_are_of_the_rows_as_they_are_published() -> None:
    for name, peer in peers().items():
        record = recorded_prediction(name)
        assert record["of"] == (peer.get("package") or peer["commit"]), name
        assert record["rows"] == rows.digest(peer["kind"], record["answers"]), f"run `python -m tools.peers {name}`"
        assert any("figures" in one for one in record["answers"].values()), name


def test_lines_of_the_board_show_what_peers_predicted() -> None:
    line = next(one for one in board.read() if one.area == "training step" and "calculon" in one.peers)
    recorded = recorded_prediction("calculon")["answers"][line.id]["figures"]["step_time"]
    assert abs(line.peers["calculon"] / recorded - 1) < 1e-4


def test_no_constant_gains_on_the_side_that_it_was_fitted_to_alone() -> None:
    found = fit_split.read()
    assert found["of"] == fit_split.digest(), "run `python -m tools.fit.split`"
    assert fit_split.one_sided_constants(found["constants"]) == []
    fitted = {(one["group"], one["fact"]) for one in result.read()["constants"]}
    assert fitted <= {(one["group"], one["fact"]) for one in found["constants"]}, "run `python -m tools.fit.split`"
    sources = {split.training_source(name) for name in split.fitted_runs()}
    for side, held in fit_split.SIDES.items():
        assert found["sources"][side] == sorted(name for name in sources if split.is_held_out(name) is held)


def test_a_constant_that_helps_its_own_side_and_harms_the_other_is_an_offender() -> None:
    helps, harms = {"runs": 9, "gain": 0.02}, {"runs": 9, "gain": -0.01}
    constant = {"group": "chip", "fact": "share", "fitted": helps, "held out": harms}
    assert fit_split.one_sided_constants([constant]) == ["chip share"]
    assert fit_split.one_sided_constants([constant | {"held out": {"runs": 2, "gain": -0.01}}]) == []
    assert fit_split.one_sided_constants([constant | {"held out": helps}]) == []


def test_the_error_on_sources_never_fitted_to_is_near_that_of_fitted_ones() -> None:
    sides = fit_split.read()["sides"]
    assert sides["held out"]["all"]["median"] <= 0.08
    assert sides["held out"]["all"]["mean"] <= 0.11
    assert sides["held out"]["all"]["p90"] <= 0.25
