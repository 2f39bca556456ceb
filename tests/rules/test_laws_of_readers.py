"""What readers of texts take from a sentence, and which parts of a design a rule is given."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.catalog import Catalog
from clusterspec.catalog.models import Model
from clusterspec.rules.knowledge import named_choices
from clusterspec.rules.networks.data_exceeds_store import _kept_checkpoints_in
from clusterspec.studies import study_text
from tests.settings import SETTINGS


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("The last 100 checkpoints are kept", 100),
        ("The last 2 checkpoints are kept", 2),
        ("The last 1 checkpoint is kept", 1),
        ("Checkpoints older than two days are deleted", 96),  # of half an hour each
        ("The last 10 checkpoints and 3 checkpoints of each week are kept", None),
        ("All of the text is kept for two days", None),
    ],
)
def test_checkpoints_are_kept_by_their_only_count_or_time(sentence: str, kept: int | None) -> None:
    found = _kept_checkpoints_in(sentence, 1800.0)
    assert (found[0] if found else None) == kept


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (("llama-3.1-70b",), True),
        (("llama-3.1-8b",), False),
        (("llama-3-8b",), False),  # of the same layers and widths
        (("llama-3.1-70b", "llama-3-8b"), False),  # a name of several sizes, of which one is the own
        (("llama-3.1-70b", "llama-3.1-405b"), True),
    ],
)
def test_a_name_that_may_be_of_the_own_shape_is_no_other_model(
    ids: tuple[str, ...], told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = Catalog.open()
    own = catalog.get("model", "llama-3.1-8b")
    assert isinstance(own, Model)
    monkeypatch.setattr(named_choices, "_models_in", lambda *_: iter([("Llama", ids, True)]))
    assert named_choices.wrong_model("It trains Llama.", own, catalog) == ("Llama" if told else "")


@pytest.mark.parametrize(
    ("sections", "placed"),
    [
        ("cluster: {platform: dgx-h100, nodes: 4}\nworkload: WORK\nlayout: {tp: 2}\n", True),
        ("cluster: {platform: dgx-h100, nodes: 4}\nworkload: WORK\n", False),
        ("cluster: {platform: dgx-h100, nodes: 4}\n", False),
        ("workload: WORK\n", False),
    ],
)
def test_groups_are_placed_where_a_design_has_a_machine_and_a_layout(sections: str, placed: bool) -> None:
    work = "{model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}"
    facts: Any = study_text(f"clusterspec: 1\n{sections.replace('WORK', work)}", SETTINGS).facts()
    assert (facts.placements is not None) is placed
    assert (facts.design.cluster is not None and facts.design.layout is not None) is placed
