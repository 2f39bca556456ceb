"""``catalog audit``: what it finds in entries whose faults are known by hand, and none in those shipped."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from clusterspec.catalog import Catalog
from clusterspec.catalog.audit import Audit, audit, audit_text, due_date
from clusterspec.cli import run
from tests.catalog.shipped import CATALOG
from tests.effort import thorough

TODAY = date(2026, 12, 1)
WHOLE = (Path(__file__).parent / "company" / "accelerators" / "acme-x1.yaml").read_text()


def audited(folder: Path, text: str, today: date = TODAY) -> Audit:
    """The audit of the shipped catalog with one accelerator over it; the parts that name the accelerator."""
    (folder / "accelerators").mkdir(exist_ok=True)
    (folder / "accelerators" / "acme-x1.yaml").write_text(text)
    found = audit(Catalog.open([folder]), today)
    faults = tuple(fault for fault in found.faults if fault.startswith("accelerator/acme-x1"))
    aged = tuple(one for one in found.aged if one[0].startswith("Acme"))
    return Audit(faults, aged, tuple(one for one in found.overdue if one[0] == "accelerator/acme-x1"))


def test_the_catalog_passes_its_audit() -> None:
    assert audit(CATALOG, TODAY).faults == ()


def test_a_valid_company_entry_passes_the_audit(tmp_path: Path) -> None:
    assert audited(tmp_path, WHOLE) == Audit((), (), ())


FAULTS = {
    "links that do not make the whole": (
        ("links: 18\n", "links: 18\n    link_bandwidth: {is: 40 GB/s duplex, scope: link, basis: line-code}\n"),
        "accelerator/acme-x1: the sum of links is 3.6e+11, but the entry gives 4.5e+11",  # 18 x 20 GB/s one way
    ),
    "a figure that is not the interconnect's": (
        ("900 GB/s duplex", "800 GB/s duplex"),
        "accelerator/acme-x1: the sum of interconnect is 4.5e+11, but the entry gives 4e+11",
    ),
    "another basis than its siblings": (
        ("basis: line-code, note", "basis: signalling, note"),
        "accelerator/acme-x1: scale_up.bandwidth counts (device, signalling), "
        "and its siblings of interconnect nvlink-4 (device, line-code)",
    ),
    "another scope than its siblings": (
        ("4 TB/s, scope: device", "4 TB/s, scope: node"),
        "accelerator/acme-x1: memory_bandwidth counts (node, signalling), "
        "and its siblings of memory_bandwidth (device, signalling)",
    ),
    "an address without a host": (
        ("https://acme.example/x1.pdf", "https:///x1.pdf"),
        "accelerator/acme-x1: the address of sheet is malformed: https:///x1.pdf",
    ),
    "a source read in days to come": (
        ('x1.pdf", read: 2026-11-01', 'x1.pdf", read: 2026-12-02'),
        f"accelerator/acme-x1: sheet has the day '2026-12-02', which is not a date up to {TODAY}",
    ),
    "a status of days to come": (
        ("as_of: 2026-11-01", "as_of: 2027-11-01"),
        f"accelerator/acme-x1: status has the day '2027-11-01', which is not a date up to {TODAY}",
    ),
    "an excuse for a sum that closes": (
        ("notes:", "exceptions:\n  links: the vendor rounds\nnotes:"),
        "accelerator/acme-x1: the sum of links is consistent, so its exception is not needed",
    ),
}


def test_each_fault_is_named(tmp_path: Path) -> None:
    (tmp_path / "accelerators").mkdir()
    expected = set()
    for number, (change, said) in enumerate(FAULTS.values(), 1):
        assert change[0] in WHOLE
        (tmp_path / "accelerators" / f"acme-x{number}.yaml").write_text(
            WHOLE.replace(*change).replace("acme-x1", f"acme-x{number}")
        )
        expected.add(said.replace("acme-x1", f"acme-x{number}"))
    found = audit(Catalog.open([tmp_path]), TODAY).faults
    assert expected <= set(found)
    assert {fault.partition(":")[0] for fault in found} == {fault.partition(":")[0] for fault in expected}


def test_what_was_read_more_than_a_year_ago_is_listed_with_the_number_of_its_figures(tmp_path: Path) -> None:
    assert audited(tmp_path, WHOLE, date(2027, 11, 1)).aged == ()
    assert audited(tmp_path, WHOLE, date(2027, 11, 2)).aged == (("Acme X1 data sheet, read 2026-11-01", 9),)


@thorough
def test_an_announcement_whose_day_has_passed_is_listed(tmp_path: Path) -> None:
    soon = WHOLE.replace("samples only", "expected in the third quarter of 2026")
    assert audited(tmp_path, soon, date(2026, 9, 30)).overdue == ()
    assert audited(tmp_path, soon, date(2026, 10, 1)).overdue == (("accelerator/acme-x1", "2026-09-30"),)
    assert audited(tmp_path, soon.replace("is: announced", "is: shipping")).overdue == ()


DUE = {
    "expected in the third quarter of 2027": date(2027, 9, 30),
    "early access now, sold in the fourth quarter": date(2026, 12, 31),  # of the year of the entry
    "second half of 2027, after its software": date(2027, 12, 31),
    "first half of 2027": date(2027, 6, 30),
    "expected in 2028": date(2028, 12, 31),
    "samples only": date(2026, 12, 31),
}


@pytest.mark.parametrize(("note", "day"), DUE.items())
def test_the_due_date_follows_from_the_text_of_a_status(note: str, day: date) -> None:
    assert due_date(note, 2026) == day


def test_a_status_without_a_year_is_never_due() -> None:
    assert due_date("samples only", None) is None
    assert due_date("the third quarter", None) is None


def test_the_text_has_a_heading_and_a_count_for_each_part() -> None:
    found = Audit(("nic/x: wrong",), (("A sheet, read 2020-01-01", 3),), (("nic/y", "2026-09-30"),), (("A guide", 2),))
    assert audit_text(found) == (
        "faults (1)\n  nic/x: wrong\n"
        "\nannounced, and due before today (1)\n  nic/y: 2026-09-30\n"
        "\nsources read more than a year ago (1)\n  A sheet, read 2020-01-01: 3 figures\n"
        "\ndocuments read in copies without an address (1)\n  A guide: 2 figures\n"
    )


def test_the_command_ends_with_1_where_there_are_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "accelerators").mkdir()
    (tmp_path / "accelerators" / "acme-x1.yaml").write_text(WHOLE.replace("900 GB/s duplex", "800 GB/s duplex"))
    assert run(["catalog", "audit", "--catalog", str(tmp_path), "--format", "json"]) == 1
    assert "acme-x1" in json.loads(capsys.readouterr().out)["faults"][0]


@thorough
def test_the_command_ends_with_0_where_there_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalog", "audit"]) == 0
    assert capsys.readouterr().out.startswith("faults (0)\n")
