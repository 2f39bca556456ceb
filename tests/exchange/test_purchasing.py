"""Terraform plans and quotes: what is rented, what is offered, and files that are neither."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from clusterspec import analysis
from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.purchasing.numbers import written_number
from clusterspec.report.cost_text import price_sheet_csv
from clusterspec.studies import study_text
from tests.effort import examples
from tests.exchange.imports import counts, given, read, unknown
from tests.settings import SETTINGS


def plan(*resources: tuple[str, dict[str, object]]) -> str:
    listed = [{"address": f"{kind}.x{n}", "type": kind, "values": values} for n, (kind, values) in enumerate(resources)]
    child = {"root_module": {"child_modules": [{"resources": listed}]}}
    return json.dumps({"format_version": "1.2", "planned_values": child}, indent=1)


def test_a_price_sheet_that_a_supplier_fills_in_is_read_back() -> None:
    spec = "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 16, scale_out: {topology: rail-optimized}}\n"
    report = analysis.bill(study_text(spec, SETTINGS))
    sheet = price_sheet_csv(report)
    empty = read(sheet, "quote")
    assert [each.value["quantity"] for each in empty.given if isinstance(each.value, dict)] == [
        item.quantity for item in report.items
    ]
    heads, *rows = csv.reader(sheet.splitlines())
    assert all(row[3:] == [""] * 6 for row in rows)
    out = io.StringIO()
    filled = [[*row[:3], f"{100 + number}.50", "", "EUR", "12", "3", ""] for number, row in enumerate(rows)]
    csv.writer(out).writerows([heads, *filled])
    lines = [each.value for each in read(out.getvalue(), "quote").given if isinstance(each.value, dict)]
    assert [line["unit_price"] for line in lines] == [100.5 + number for number in range(len(rows))]
    assert given(read(out.getvalue(), "quote"))["procurement.currency"] == "EUR"


def test_what_stands_around_the_table_of_a_quote_is_read() -> None:
    text = "Vendor,N\nOffer date,14.10.2026\nCurrency,EUR\n\nPart,Qty,Unit price,Sum\nnode,2,5,10\n,,Total,10\n"
    found = {key: value for key, value in given(read(text, "quote")).items() if key != "procurement.quote"}
    assert found == {
        "procurement.as_of": "2026-10-14",
        "procurement.currency": "EUR",
        "procurement.quoted_total": 10,
    }


def test_instances_of_one_type_are_the_nodes() -> None:
    machine: dict[str, object] = {"instance_type": "p5.48xlarge", "network_interface": [{}] * 32}
    text = plan(
        *[("aws_instance", machine)] * 4,
        ("aws_instance", {"instance_type": "m7i.large"}),
        ("aws_placement_group", {"strategy": "cluster"}),
    )
    reading = read(text)
    assert given(reading) == {
        "cluster.platform": "aws-p5-48xlarge",
        "cluster.nodes": 4,
        "cluster.scale_out.placement": "cluster-placement-group",
    }
    assert counts(reading)["network_interfaces"] == 32
    assert "1 × m7i.large" in unknown(reading)


@pytest.mark.parametrize(
    ("kind", "values", "platform", "nodes"),
    [
        (
            "aws_eks_node_group",
            {"instance_types": ["p5en.48xlarge"], "scaling_config": [{"desired_size": 8}]},
            "aws-p5en-48xlarge",
            8,
        ),
        (
            "google_container_node_pool",
            {"node_count": 16, "node_config": [{"machine_type": "a3-megagpu-8g"}]},
            "gcp-a3-megagpu-8g",
            16,
        ),
        (
            "azurerm_linux_virtual_machine_scale_set",
            {"sku": "Standard_ND96isr_H100_v5", "instances": 6},
            "azure-nd-h100-v5",
            6,
        ),
        ("oci_core_instance", {"shape": "BM.GPU.H100.8"}, "oci-bm-gpu-h100-8", 1),
    ],
)
def test_every_cloud_counts_in_its_own_words(kind: str, values: dict[str, object], platform: str, nodes: int) -> None:
    keys = given(read(plan((kind, values))))
    assert (keys["cluster.platform"], keys["cluster.nodes"]) == (platform, nodes)


@pytest.mark.parametrize(
    ("groups", "placement", "open_key"),
    [
        ([("aws_placement_group", {"strategy": "cluster"})], "cluster-placement-group", ""),
        ([("aws_placement_group", {"strategy": "spread"})], None, "placement group of strategy spread"),
        ([("google_compute_resource_policy", {"group_placement_policy": [{}]})], "compact-placement-policy", ""),
        ([("google_compute_resource_policy", {"snapshot_schedule_policy": [{}]})], None, ""),
        ([("oci_core_cluster_network", {})], "cluster-network", ""),
        ([("azurerm_availability_set", {})], "availability-set", ""),
        # the first of several
        (
            [("azurerm_proximity_placement_group", {}), ("azurerm_availability_set", {})],
            "proximity-placement-group",
            "",
        ),
        ([("azurerm_availability_set", {}), ("azurerm_proximity_placement_group", {})], "availability-set", ""),
    ],
)
def test_the_first_placement_of_a_plan_is_that_of_its_nodes(
    groups: list[tuple[str, dict[str, object]]], placement: str | None, open_key: str
) -> None:
    reading = read(plan(("aws_instance", {"instance_type": "p5.48xlarge"}), *groups))
    found = [each.value for each in reading.given if each.path[-1] == "placement"]
    assert found == ([placement] if placement else [])
    assert open_key in unknown(reading)


@pytest.mark.parametrize(
    ("values", "nodes"),
    [
        ({"desired_size": 0}, None),
        ({"desired_size": 1}, 1),
        ({"desired_size": -1}, 1),  # no count: one machine
        ({"desired_size": True}, 1),
        ({"desired_size": 1_000_001}, 1),
        ({"node_count": 3, "initial_node_count": 2}, 3),
        ({"scaling_config": {"desired_size": 5}}, 5),
        ({"target_size": 7, "scaling_config": [{"desired_size": 5}]}, 7),
    ],
)
def test_a_count_of_machines_is_a_whole_number_up_to_a_million(values: dict[str, object], nodes: int | None) -> None:
    reading = read(plan(("aws_instance", {"instance_type": "p5.48xlarge", **values})))
    assert given(reading).get("cluster.nodes") == nodes


def test_two_instance_types_with_accelerators_are_a_question() -> None:
    reading = read(
        plan(("aws_instance", {"instance_type": "p5.48xlarge"}), ("aws_instance", {"instance_type": "p4d.24xlarge"}))
    )
    assert not given(reading)
    assert "several instance types with accelerators" in unknown(reading)


QUOTES = [
    'Item,Qty,Unit price,Total\nDGX H100,64,"$310,000.00","$19,840,000.00"\n'
    'Leaf switch,16,"36,000","576,000"\nTotal,,,"$20,416,000"\n',
    "Position;Menge;Unit price;Price\nDGX H100;64;310.000,00 EUR;19.840.000,00 EUR\n"
    "Leaf switch;16;36.000,00;576.000,00\n",
    "Offer 17 of ACME\n\npart\tquantity\tunit_price\tprice\n"
    "DGX H100\t64\t310000\t19840000\nLeaf switch\t16\t36000\t576000\n",
]


@pytest.mark.parametrize("text", QUOTES)
def test_quotes_are_read_in_the_forms_of_suppliers(text: str) -> None:
    reading = read(text, "quote")
    lines = [each.value for each in reading.given if each.appended]
    assert lines[0] == {"part": "DGX H100", "quantity": 64, "unit_price": 310000, "price": 19840000}
    assert lines[1] == {"part": "Leaf switch", "quantity": 16, "unit_price": 36000, "price": 576000}
    assert given(reading).get("procurement.quoted_total") == (20416000 if "Total," in text else None)
    assert read(text, "auto").kind == "quote"


PRICES = [  # headings and cells of one line, and the prices read: (unit price, line price)
    ("qty;part;unit price;total", "64;Cable;12.375;792.00", (12.375, 792)),
    ("qty;part;unit price;total", "64;Cable;12,375;792,00", (12.375, 792)),
    ("qty;part;unit price;total", "8;Clip;0.125;1", (0.125, 1)),
    ("qty;part;unit price;total", "2;Node;310.000,50;620.001", (310000.5, 620001)),
    ("qty;part;unit price;total", "2;Node;USD 310 000.00;$620,000", (310000, 620000)),
    ("qty;part;unit price;total", "2;Node;CHF 310'000.–;620'000.–", (310000, 620000)),
    ("qty;part;unit price;total", "-1;Credit;1.000,-;(1.000,-)", (1000, -1000)),
    ("qty;unit;part;unit price", "64;EA;Cable;900", (900, None)),
    ("qty;unit;part;unit", "64;12;Cable;EA", (12, None)),
    ("pos;qty;description;list price;net price;amount", "1;2;Node;400.5;310.5;621", (310.5, 621)),
    ("item;description;qty;price (EUR);total (EUR)", "10;Node;2;310,50;621,00", (310.5, 621)),
    ("part;qty;price", "Node;2;621", (None, 621)),
    ("qty;part;unit price;total", "9;Cable;9 per 100;310 k", (None, None)),
    ("qty;part;unit price;total", "2;Node;USD 310 EUR;310", (None, 310)),
]


@pytest.mark.parametrize(("heads", "cells", "prices"), PRICES)
def test_a_price_read_is_the_price_written_in_the_forms_of_suppliers(
    heads: str, cells: str, prices: tuple[float | None, float | None]
) -> None:
    [line] = [each.value for each in read(f"{heads}\n{cells}\n", "quote").given if each.appended]
    assert isinstance(line, dict)
    assert (line.get("unit_price"), line.get("price")) == prices
    assert line["part"] in {"Node", "Cable", "Clip", "Credit"}


def test_an_ambiguous_price_is_refused_with_both_readings() -> None:
    reading = read("qty;part;unit price\n64;Cable;12.375\n", "quote")
    assert "12.375 is 12.375 or 12,375" in unknown(reading)
    assert [each.value for each in reading.given if each.appended] == [{"part": "Cable", "quantity": 64}]
    mixed = read("qty;part;unit price\n64;Cable;12.375\n2;Clip;0,5\n3;Node;0.5\n", "quote")
    assert "12.375 is 12.375 or 12,375: other numbers use either mark" in unknown(mixed)
    lines = [each.value for each in mixed.given if each.appended]
    assert [line.get("unit_price") for line in lines if isinstance(line, dict)] == [None, 0.5, 0.5]


def test_amounts_of_two_currencies_are_not_put_into_one_quote() -> None:
    reading = read("qty;part;unit price\n2;Node;310.50 USD\n9;Cable;12.50 EUR\n", "quote")
    assert "prices in EUR and USD" in unknown(reading)
    assert not given(reading)
    lines = [each.value for each in reading.given]
    assert [set(line) for line in lines if isinstance(line, dict)] == [{"part", "quantity"}] * 2


def written(value: int, decimals: int, mark: str, group: str) -> str:
    """``value`` / 10^decimals in a convention."""
    whole = f"{value // 10**decimals:,}".replace(",", group)
    return whole + (f"{mark}{value % 10**decimals:0{decimals}}" if decimals else "")


@settings(max_examples=examples(15), deadline=None)
@drawn(
    st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 4)), min_size=1, max_size=5),
    st.sampled_from([(".", ","), (",", "."), (".", ""), (",", ""), (".", " "), (",", " "), (".", "'")]),
    st.sampled_from(["csv", "xlsx", "numbers"]),
)
def test_a_price_read_is_the_price_written(prices: list[tuple[int, int]], marks: tuple[str, str], kind: str) -> None:
    """In both decimal conventions, as CSV and as a workbook: each price is exact, or refused where nothing in the file
    tells the decimal mark."""
    texts = [written(value, decimals, *marks) for value, decimals in prices]
    values = [value / 10**decimals for value, decimals in prices]
    cells: list[object] = list(values if kind == "numbers" else texts)
    rows: list[list[object]] = [["part", "qty", "unit price"], *([f"P{n}", n + 1, c] for n, c in enumerate(cells))]
    data = "\n".join(";".join(map(str, row)) for row in rows).encode() if kind == "csv" else workbook(rows)
    got = [each.value for each in read(data, "quote").given if each.appended]
    assert len(got) == len(values)
    refused = [line for line in got if isinstance(line, dict) and "unit_price" not in line]
    for line, value in zip(got, values, strict=True):
        assert isinstance(line, dict) and line.get("unit_price", value) == value
    tells = any(decimals in (1, 2, 4) or value < 10**decimals for value, decimals in prices if decimals)
    assert not refused or not (tells or kind == "numbers")


def workbook(rows: list[list[object]]) -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book, out = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(out)
    return out.getvalue()


def test_what_is_no_number_is_listed() -> None:
    reading = read("part,quantity,unit_price\nnode,64,on request\ncable,many,9\n", "quote")
    assert "price of node" in unknown(reading)
    assert "no numeric quantity" in unknown(reading)
    assert [each.value for each in reading.given if each.appended] == [{"part": "node", "quantity": 64}]


def test_a_part_that_looks_like_a_formula_stays_text() -> None:
    from clusterspec.exchange.merge import new_spec

    text = new_spec(read("part,quantity,price\n=cmd|'/C calc'!A0,1,5\n", "quote"))
    assert "part: \"=cmd|'/C calc'!A0\"" in text


def archive(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            made.writestr(name.replace("__", "/").replace("_xml", ".xml"), data)
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (archive(xl__workbook_xml=b"0" * (40 << 20)), "unpacks to more than 32 MiB"),
        (archive(word__document_xml=b"<a/>"), "not an XLSX workbook"),
        (archive(xl__workbook_xml=b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"), "an entity is declared"),
        (archive(xl__workbook_xml=b"<a/>"), "not a readable workbook"),
        (b"PK\x03\x04" + b"\0" * 50, "not a readable ZIP archive"),
    ],
)
def test_archives_that_are_no_quotes_are_refused(data: bytes, why: str) -> None:
    if "workbook that" in why:
        pytest.importorskip("openpyxl")
    with pytest.raises(FormatError, match=why):
        read(data)


def test_a_truncated_workbook_is_refused() -> None:
    data = workbook([["part", "quantity", "price"], ["node", 2, 10]])
    assert counts(read(data))["quote_lines"] == 1
    with pytest.raises(FormatError):
        read(data[: len(data) // 2])


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        ("999999999999999", 999999999999999, 999999999999999),  # 15 digits, which a float keeps
        ("1000000000000000", None, None),
        ("99999999999999.9", 99999999999999.9, None),
        ("999999999999999.9", None, None),
        ("1,234", 1234, 1.234),
        ("1.234,5", None, 1234.5),
        ("0,5", None, 0.5),
        ("12,34,567", None, None),
        ("(36.5)", -36.5, None),
        ("36.5-", -36.5, None),
        ("+8", 8, 8),
        ("1.250,-", None, 1250),
        ("1 250 000", 1250000, 1250000),
        ("8.", None, None),
        ("$ 64 pcs", 64, 64),
        ("64 racks", None, None),
        ("", None, None),
    ],
)
def test_a_number_is_read_with_each_decimal_mark_that_it_may_have(
    text: str, point: float | None, comma: float | None
) -> None:
    found = written_number(text)
    assert (found.by_mark.get("."), found.by_mark.get(",")) == (point, comma)
    assert found.ambiguous == (point is not None and comma is not None and point != comma)
    assert found.implied_mark == {(True, False): ".", (False, True): ","}.get((point is not None, comma is not None))


@pytest.mark.parametrize(("text", "loose"), [("1234.5", True), ("123.5", False), ("1,234", False), ("$12345", True)])
def test_four_digits_in_a_row_group_no_thousands(text: str, loose: bool) -> None:
    assert written_number(text).groups_nothing is loose
