"""``catalog compare``: parts of several vendors in one convention, held against figures worked by hand."""

from __future__ import annotations

import json

import pytest

from clusterspec.catalog import UnknownEntry
from clusterspec.catalog.lookup import AmbiguousName, compare_all
from clusterspec.catalog.views import CONVENTION, SharedFact, side_by_side_text
from clusterspec.cli import run
from tests.catalog.shipped import CATALOG

THREE = ("h100-sxm-80gb", "mi300x", "b200-sxm-180gb")


@pytest.fixture(scope="module")
def facts() -> dict[str, SharedFact]:
    return {fact.name: fact for fact in compare_all(CATALOG, THREE).facts}


def test_bandwidths_are_per_direction(facts: dict[str, SharedFact]) -> None:
    """900 GB/s, 896 GB/s and 1.8 TB/s of their sheets count both directions."""
    assert facts["scale_up.bandwidth"].values == (450e9, 448e9, 900e9)
    assert facts["scale_up.bandwidth"].texts == ("450 GB/s", "448 GB/s", "900 GB/s")
    assert facts["scale_up.bandwidth"].ratios == (1, 448 / 450, 2)


def test_peaks_are_dense(facts: dict[str, SharedFact]) -> None:
    """1,979, 2,614.9 and 4.5 PFLOP/s of their sheets count sparsity."""
    assert facts["peak.bf16"].values == pytest.approx((989.4e12, 1307.4e12, 2250e12))
    assert not [name for name in facts if name.startswith("sparse")]


def test_a_comparison_leaves_out_facts_that_an_entry_lacks(facts: dict[str, SharedFact]) -> None:
    assert facts["peak.fp4"].values == (None, None, 9e15)
    assert facts["peak.fp4"].ratios == (None, None, None)
    assert facts["peak.fp4"].texts == ("", "", "9 PFLOP/s")


def test_text_facts_are_compared_as_text(facts: dict[str, SharedFact]) -> None:
    assert facts["scale_up.topology"].texts == ("switched", "full-mesh", "switched")
    assert facts["scale_up.topology"].values == (None, None, None)


def test_the_text_is_a_table_under_its_convention() -> None:
    lines = side_by_side_text(compare_all(CATALOG, THREE), 0).splitlines()
    assert lines[0] == CONVENTION
    assert lines[2].split() == [f"accelerator/{name}" for name in THREE]
    row = next(line for line in lines if line.startswith("scale_up.bandwidth"))
    assert row.split("  ")[-1].strip() == "900 GB/s (× 2)"
    assert "448 GB/s (× 0.996)" in row


def test_a_table_wider_than_the_terminal_has_a_line_for_each_entry() -> None:
    found = compare_all(CATALOG, THREE)
    wide, narrow = side_by_side_text(found, 200), side_by_side_text(found, 80).splitlines()
    assert wide == side_by_side_text(found, 0) and max(map(len, wide.splitlines())) > 80
    assert max(map(len, narrow)) <= 80
    at = narrow.index("scale_up.bandwidth")
    assert [line.split()[0] for line in narrow[at + 1 : at + 4]] == [f"accelerator/{name}" for name in THREE]
    assert narrow[at + 2].endswith("448 GB/s (× 0.996)")


def test_an_id_of_two_kinds_takes_the_kind_of_the_other_ids() -> None:
    """``gb200`` may be the accelerator alone; ``cloudmatrix`` names stand for what they all are."""
    both = [name for name in CATALOG.ids("platform") if name in CATALOG.ids("accelerator")]
    for name in both:
        with pytest.raises(AmbiguousName):
            compare_all(CATALOG, [name, name])
        one = compare_all(CATALOG, [name, "h100-sxm-80gb"]).entries
        assert [entry.kind for entry in one] == ["accelerator", "accelerator"]


def test_an_unknown_name_is_a_usage_error() -> None:
    with pytest.raises(UnknownEntry, match="h100"):
        compare_all(CATALOG, ["h100-sxm-81gb", "mi300x"])


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalog", "compare", *THREE, "--format", "json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["entries"] == [f"accelerator/{name}" for name in THREE]
    by_name = {fact["name"]: fact for fact in body["facts"]}
    assert by_name["scale_up.bandwidth"] == {
        "name": "scale_up.bandwidth",
        "unit": "B/s",
        "values": [450e9, 448e9, 900e9],
        "texts": ["450 GB/s", "448 GB/s", "900 GB/s"],
        "ratios": [1.0, 448 / 450, 2.0],
    }


def test_one_entry_alone_cannot_be_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalog", "compare", "mi300x"]) == 2
    assert "two entries or more" in capsys.readouterr().err
