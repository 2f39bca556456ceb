"""Company folders: entries added, entries overridden, and faults that say where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterspec.catalog import BrokenEntry, Catalog, UnknownEntry
from clusterspec.catalog.export import catalog_rows, show_text
from clusterspec.catalog.lookup import entry_named
from clusterspec.catalog.open_data import fact_records
from clusterspec.source import Assumed, Cited
from tests.effort import thorough

COMPANY = Path(__file__).parent / "company"
WHOLE = (COMPANY / "accelerators" / "acme-x1.yaml").read_text()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "accelerators").mkdir()
    return tmp_path


def fault(folder: Path, text: str, name: str = "acme-x1") -> list[tuple[str, int, int]]:
    (folder / "accelerators" / f"{name}.yaml").write_text(text)
    with pytest.raises(BrokenEntry) as caught:
        Catalog.open([folder]).accelerator(name)
    found = caught.value.findings
    assert all(finding.span.file.endswith(f"accelerators/{name}.yaml") for finding in found)
    return [(finding.rule, finding.span.start.line, finding.span.start.column) for finding in found]


def test_a_company_folder_adds_entries() -> None:
    entry = Catalog.open([COMPANY]).accelerator("acme-x1")
    assert entry.scale_up_bandwidth is not None
    assert entry.scale_up_bandwidth.value == 450e9
    assert entry.memory is not None
    assert entry.memory.origin == Cited(
        "accelerator/acme-x1", "memory", "Acme X1 data sheet", "https://acme.example/x1.pdf", "2026-11-01"
    )


def test_a_company_describes_the_graphs_of_its_own_part(folder: Path) -> None:
    assert not Catalog.open([COMPANY]).accelerator("acme-x1").whole_graphs
    stated = "  whole_graphs: {is: true, assumed: its engine}\n  smallest_graph: {is: 64, assumed: its engine}\n"
    (folder / "accelerators" / "acme-x1.yaml").write_text(WHOLE.replace("facts:\n", f"facts:\n{stated}", 1))
    entry = Catalog.open([folder]).accelerator("acme-x1")
    assert (entry.whole_graphs, entry.smallest_graph) == (True, 64)


def test_an_assumed_figure_says_so() -> None:
    raw_entry = Catalog.open([COMPANY]).raw_entry("accelerator", "acme-x1")
    origin = raw_entry.facts["scale_out.nics_per_accelerator"].origin
    assert origin == Assumed("accelerator/acme-x1 scale_out.nics_per_accelerator", "two share one in the sample")


def test_a_company_folder_overrides_entries() -> None:
    assert Catalog.open().platform("dgx-h100").nics_per_node == 8
    assert Catalog.open([COMPANY]).platform("dgx-h100").nics_per_node == 4


def test_the_last_company_folder_has_precedence(folder: Path) -> None:
    (folder / "accelerators" / "acme-x1.yaml").write_text(WHOLE.replace("96 GiB", "48 GiB"))
    over = Catalog.open([COMPANY, folder]).accelerator("acme-x1").memory
    under = Catalog.open([folder, COMPANY]).accelerator("acme-x1").memory
    assert over is not None
    assert under is not None
    assert under.value == 2 * over.value


def test_the_catalog_version_names_company_folders() -> None:
    assert Catalog.open([COMPANY]).version == Catalog.open().version + "+"


def test_company_entries_are_listed() -> None:
    listed = {(row.kind, row.id): row for row in catalog_rows(Catalog.open([COMPANY]))}
    assert listed["accelerator", "acme-x1"].headline == "96 GB · 4 TB/s · 1000 TFLOP/s dense bf16 · 900 GB/s duplex"
    assert "4 × 400 Gb/s" in listed["platform", "dgx-h100"].headline


def test_a_missing_folder_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError, match="nowhere"):
        Catalog.open([tmp_path / "nowhere"])


FAULTS = {  # what is written instead of what, the rule, and the text at which the finding stands
    "an unknown key": ("year: 2026", "yeer: 2026", "unknown-key", "yeer"),
    "no direction": ("900 GB/s duplex", "900 GB/s", "missing-direction", "900 GB/s"),
    "no scope": ("duplex, scope: device,", "duplex,", "missing-key", "bandwidth: {is: 900"),
    "an ambiguous unit": ("96 GiB", "96 gb", "ambiguous-unit", "96 gb"),
    "neither dense nor sparse": ("1000 TFLOP/s dense", "1000 TFLOP/s", "missing-sparsity", "1000 TFLOP/s"),
    "nobody answers": ("source: sheet\n", "", "catalog-figure-unsourced", "2026"),
    "a source not listed": ("source: recalled", "source: hearsay", "catalog-figure-unsourced", "{is: 0.75"),
    "an assumption with a source": ("assumed: two", "source: sheet, assumed: two", "", "{is: 0.5"),
    "another kind": ("kind: accelerator", "kind: nic", "unknown-key", "memory"),
    "another id": ("id: acme-x1", "id: acme-x2", "catalog-entry-misplaced", "acme-x2"),
    "a word for a number": ("links: 18", "links: many", "wrong-type", "many"),
    "no such state": ("is: announced", "is: rumoured", "unknown-choice", "rumoured"),
    "a key written twice": ("year: 2026", "year: 2026\n  year: 2027", "duplicate-key", "year: 2027"),
    "not YAML": ("facts:", "facts: [", "unreadable-yaml", ""),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_a_finding_at_its_place(folder: Path, what: str) -> None:
    old, new, rule, at = FAULTS[what]
    text = WHOLE.replace(old, new, 1)
    places = {each[0]: each for each in reversed(fault(folder, text))}
    _, line, column = places[rule] if rule else next(iter(places.values()))
    assert text.split("\n")[line - 1][column - 1 :].startswith(at)


def test_one_fault_does_not_hide_another(folder: Path) -> None:
    found = fault(folder, WHOLE.replace("96 GiB", "96 gb").replace("900 GB/s duplex", "900 GB/s"))
    assert [rule for rule, _, _ in found] == ["ambiguous-unit", "missing-direction"]


def test_bytes_that_are_not_text_are_a_finding(folder: Path) -> None:
    (folder / "accelerators" / "noise.yaml").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(BrokenEntry):
        Catalog.open([folder]).accelerator("noise")


def test_a_broken_entry_does_not_affect_other_entries(folder: Path) -> None:
    """Only the entry asked for is opened: ids are file names."""
    for name in ("broken", "a100-sxm-80gb"):
        (folder / "accelerators" / f"{name}.yaml").write_bytes(b"\xff")
    catalog = Catalog.open([folder])
    assert "broken" in catalog.ids("accelerator")
    assert catalog.accelerator("h100-sxm-80gb").links == 18
    with pytest.raises(BrokenEntry):
        catalog.accelerator("a100-sxm-80gb")


@pytest.mark.parametrize("name", ["../../../etc/passwd", "", "/", "h100-sxm-80gb.yaml", "x" * 10**6, "\x00"])
def test_a_name_from_a_spec_never_leaves_the_catalog(name: str) -> None:
    with pytest.raises(UnknownEntry):
        Catalog.open().accelerator(name)


WITNESS = 'sources:\n  second: {title: Acme brief, url: "https://acme.example/brief", read: 2026-11-02}'


@thorough
def test_a_second_source_is_kept_in_addition_to_the_first(folder: Path) -> None:
    text = WHOLE.replace("sources:", WITNESS).replace("links: 18", "links: {is: 18, also: [second]}")
    (folder / "accelerators" / "acme-x1.yaml").write_text(text)
    catalog = Catalog.open([folder])
    assert [one.title for one in catalog.raw_entry("accelerator", "acme-x1").facts["scale_up.links"].also] == [
        "Acme brief"
    ]
    assert "also in Acme brief" in show_text(entry_named(catalog, "acme-x1"), 100)
    rows = {row["fact"]: row for row in fact_records(catalog, ["accelerator"]) if row["id"] == "acme-x1"}
    assert (rows["scale_up.links"]["also"], rows["memory"]["also"]) == ("Acme brief", "")


def test_a_second_source_that_is_not_listed_is_an_error(folder: Path) -> None:
    text = WHOLE.replace("links: 18", "links: {is: 18, also: [brief]}")
    line = text.splitlines().index("    links: {is: 18, also: [brief]}") + 1
    assert fault(folder, text) == [("catalog-figure-unsourced", line, len("    links: {is: 18, also: [") + 1)]
