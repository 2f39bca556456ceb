"""Figures that a text states of parts and models are compared with the catalog.

In ``part_figures.txt`` `-` begins a flawed sentence, with what is said of it after a bar, and `+` one whose figures are
right, bounds, measured, of several parts together, or of another thing.
"""

from __future__ import annotations

from pathlib import Path

from clusterspec.quantity import Quantity
from clusterspec.rules.catalog.part_figure_off_catalog import check
from clusterspec.spec.model import ClusterSpec, Spec
from tests.effort import each
from tests.settings import SETTINGS

LINES = Path(__file__).with_name("part_figures.txt").read_text("utf-8").splitlines()
SPEC = Spec("a.yaml")


def messages(text: str, spec: Spec = SPEC) -> list[str]:
    return [each.message for each in check(text, SETTINGS.catalog, spec, None, None)]


@each("line", LINES)
def test_a_figure_that_no_entry_of_the_name_has_is_found_and_no_other(line: str) -> None:
    text, bar, said = line[2:].partition(" | ")
    assert messages(text) == ([f"the text says {said}"] if bar else [])
    assert bool(bar) is (line[0] == "-")


def test_a_message_names_the_figure_the_part_and_what_the_catalog_has() -> None:
    (said,) = messages("The context window of Llama 3.1 70B is 32k tokens.")
    assert "`context window of Llama 3.1 70B is 32k tokens` of Llama 3.1 70B" in said
    assert "131,072 (context of llama-3.1-70b)" in said


def test_a_figure_of_the_keys_is_right() -> None:
    text = "An H100 SXM comes with 96 GB of HBM3."
    assert len(messages(text)) == 1
    assert messages(text, Spec("a.yaml", cluster=ClusterSpec(host_memory=Quantity(96e9, "B", "96 GB")))) == []
