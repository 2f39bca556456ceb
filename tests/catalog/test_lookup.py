"""What ``catalog list``, ``search``, ``show`` and ``diff`` show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clusterspec.catalog import Catalog
from clusterspec.catalog.export import catalog_row, catalog_rows, compare_text, list_text, show_text
from clusterspec.catalog.lookup import compare, entry_named
from clusterspec.catalog.search import matching_rows
from tests.catalog.shipped import CARDS, CATALOG, NAMES
from tests.effort import sampled
from tests.golden import assert_golden

HERE = Path(__file__).parent
COMPANY = Catalog.open([HERE / "company"])


def test_an_entry_in_full_reads_as_the_golden_text() -> None:
    assert_golden(HERE / "golden_show.txt", show_text(entry_named(COMPANY, "acme-x1"), 100))


def test_two_entries_side_by_side_read_as_the_golden_text() -> None:
    assert_golden(HERE / "golden_diff.txt", compare_text(compare(COMPANY, "acme-x1", "rtx-4090"), 100))


def test_the_list_agrees_with_the_entries() -> None:
    listed = catalog_rows(CATALOG)
    assert [(each.kind, each.id) for each in listed] == NAMES
    assert list(listed) == [catalog_row(raw_entry) for raw_entry in CARDS]


def test_the_list_can_be_limited_to_kinds() -> None:
    assert {each.kind for each in catalog_rows(CATALOG, ["nic", "switch"])} == {"nic", "switch"}


@pytest.mark.parametrize("text", ["H100", "mi300x platform", "dgx", "efa-v2", "announced"])
def test_a_search_finds_entries_that_contain_every_word(text: str) -> None:
    found = matching_rows(catalog_rows(CATALOG), text)
    expected = [each for each in catalog_rows(CATALOG) if all(word in each.words for word in text.lower().split())]
    assert list(found) == expected
    assert found


def test_a_search_without_results_says_so() -> None:
    assert matching_rows(catalog_rows(CATALOG), "giraffe") == ()
    assert list_text(matching_rows(catalog_rows(CATALOG), "giraffe"), 100) == "no catalog entry matches\n"


def test_every_entry_can_be_shown_as_text_and_as_json() -> None:
    for kind, name in sampled(NAMES, len(NAMES) // 2):
        whole = entry_named(CATALOG, f"{kind}/{name}")
        assert f"{kind}/{name}" in show_text(whole, 100)
        assert json.loads(json.dumps(whole.to_json(), allow_nan=False))["id"] == name


def test_a_bandwidth_is_shown_in_every_reading() -> None:
    lines = {line.name: line for line in entry_named(CATALOG, "h100-sxm-80gb").facts}
    bandwidth = lines["scale_up.bandwidth"]
    assert (bandwidth.value, bandwidth.unit) == (450e9, "B/s")
    assert bandwidth.readings == {
        "one way": "450 GB/s = 3.6 Tb/s",
        "both ways": "900 GB/s = 7.2 Tb/s",
        "per link": "25 GB/s one way, 50 GB/s both ways",
    }


def test_json_is_per_direction_and_dense() -> None:
    facts = {line["name"]: line for line in entry_named(COMPANY, "acme-x1").to_json()["facts"]}  # type: ignore[attr-defined]
    assert (facts["scale_up.bandwidth"]["value"], facts["scale_up.bandwidth"]["unit"]) == (450e9, "B/s")
    assert facts["peak.bf16"]["value"] == 1e15
    assert facts["peak.bf16"]["not"] == [
        {"is": "2000 TFLOP/s sparse", "source": "Acme X1 data sheet", "why": "counts structured sparsity"}
    ]
    assert facts["memory"]["value"] == 96 * 2**30
    assert facts["scale_out.nics_per_accelerator"]["assumed"] == "two share one in the sample"
    assert facts["scale_out.nics_per_accelerator"]["source"] is None


def test_ratios_compare_figures_and_not_names() -> None:
    pairs = {pair.name: pair for pair in compare(CATALOG, "a100-sxm-80gb", "h100-sxm-80gb").pairs}
    assert pairs["scale_up.bandwidth"].ratio == 1.5
    assert pairs["year"].ratio is None
    assert pairs["scale_up.interconnects"].ratio is None


def test_the_other_id_decides_the_kind_of_an_ambiguous_id() -> None:
    both = compare(CATALOG, "tpu-v5p", "h100-sxm-80gb")
    assert (both.left.kind, both.right.kind) == ("accelerator", "accelerator")
