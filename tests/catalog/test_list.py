"""``catalog list``: its filters, and that nothing is cut where a program reads."""

from __future__ import annotations

import json

import pytest

from clusterspec.catalog import Catalog
from clusterspec.catalog.export import CatalogRow, catalog_rows, filtered_rows
from clusterspec.cli import run
from tests.effort import thorough

ALL = catalog_rows(Catalog.open())


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, object]]:
    assert run(["catalog", "list", *words, "--format", "json"]) == 0
    entries: list[dict[str, object]] = json.loads(capsys.readouterr().out)["entries"]
    return entries


def test_a_vendor_is_found_whatever_its_case(capsys: pytest.CaptureFixture[str]) -> None:
    found = listed(capsys, "--vendor", "amd")
    assert {row["vendor"] for row in found} == {"AMD"}
    assert {"mi300x", "mi355x", "pollara-400"} <= {row["id"] for row in found}


def test_a_kind_is_given_as_a_word_or_an_option_and_as_one_or_many(capsys: pytest.CaptureFixture[str]) -> None:
    ways = [["nic"], ["nics"], ["--kind", "nic"], ["--kind", "nics"], ["nic", "--kind", "nics"]]
    first, *others = [listed(capsys, *words) for words in ways]
    assert {row["kind"] for row in first} == {"nic"}
    assert all(other == first for other in others)


def test_several_kinds_are_combined(capsys: pytest.CaptureFixture[str]) -> None:
    assert {row["kind"] for row in listed(capsys, "--kind", "nic", "--kind", "switch")} == {"nic", "switch"}


def test_since_leaves_out_what_is_older_and_what_has_no_year(capsys: pytest.CaptureFixture[str]) -> None:
    found = {str(row["id"]) for row in listed(capsys, "accelerators", "--since", "2024")}
    assert {"b200-sxm-180gb", "mi325x"} <= found
    assert not {"h100-sxm-80gb", "mi300x"} & found
    row = CatalogRow("nic", "x", "X", "Acme", "shipping", "2026-11-20", None, "")
    assert filtered_rows([row], since=2000) == ()
    assert filtered_rows([row]) == (row,)


def test_several_filters_are_combined(capsys: pytest.CaptureFixture[str]) -> None:
    found = listed(capsys, "--kind", "accelerator", "--vendor", "google", "--since", "2025")
    assert found
    assert all(row["vendor"] == "Google" and int(str(row["year"])) >= 2025 for row in found)


def test_an_unknown_kind_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalog", "list", "--kind", "cable"]) == 2
    assert "unknown kind 'cable' (choose from accelerator, " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("vendor", "advice"),
    [
        ("nvidea", "did you mean NVIDIA?"),
        ("amdd", "did you mean AMD?"),
        ("qqqqqqq", "`clusterspec catalog list` shows"),
    ],
)
def test_an_unknown_vendor_is_refused_with_the_nearest(
    capsys: pytest.CaptureFixture[str], vendor: str, advice: str
) -> None:
    assert run(["catalog", "list", "nics", "--vendor", vendor]) == 2
    assert f"no vendor's name contains '{vendor}'; {advice}" in capsys.readouterr().err


def test_a_known_vendor_without_such_entries_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert listed(capsys, "nics", "--vendor", "huawei") == []


def test_columns_that_are_stated_are_obeyed_in_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert run(["catalog", "list"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60


@thorough
def test_piped_output_is_not_truncated(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert run(["catalog", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "…" not in "".join(lines)
    for row in ALL:
        assert any(line.startswith(row.id) and line.endswith(row.headline) for line in lines), row
