"""Every reading of a quantity, as ``clusterspec convert`` shows it."""

from __future__ import annotations

import json

import pytest

from clusterspec.units import UnitFault
from clusterspec.units.readings import readings


def said(text: str, assuming: str = "", label: str | None = None) -> list[str]:
    rows = readings(text).rows
    return [r.text for r in rows if r.assuming == assuming and label in (None, r.label)]


def test_a_duplex_bandwidth_is_shown_both_ways_in_bytes_and_bits() -> None:
    found = readings("900 GB/s duplex")
    assert not found.ambiguous
    assert said("900 GB/s duplex", label="per direction") == ["450 GB/s", "3600 Gb/s", "3.6 Tb/s", "419.095 GiB/s"]
    assert said("900 GB/s duplex", label="duplex")[:2] == ["900 GB/s", "7200 Gb/s"]
    assert {row.value for row in found.rows} == {450e9}


def test_a_bandwidth_without_direction_has_both_readings_side_by_side() -> None:
    found = readings("900 GB/s")
    assert found.ambiguous
    assert said("900 GB/s", "it counts one direction", "per direction")[0] == "900 GB/s"
    assert said("900 GB/s", "it sums both directions", "per direction")[0] == "450 GB/s"


@pytest.mark.parametrize(
    "text", ["900 GB/s unidirectional", "600 GB/s duplex", "400 Gb/s", "1 MB/s", "560 GB/s", "400GbE"]
)
def test_both_directions_are_shown_in_the_same_units(text: str) -> None:
    """A unit is a column: of 900 GB/s, 0.9 TB/s stand above 1.8 TB/s, not 7.2 Tb/s."""
    for assuming in {row.assuming for row in readings(text).rows}:
        one, both = (said(text, assuming, label) for label in ("per direction", "duplex"))
        assert [each.split()[1] for each in one] == [each.split()[1] for each in both]
        for half, whole in zip(one, both, strict=True):
            assert float(whole.split()[0]) == pytest.approx(2 * float(half.split()[0]), rel=1e-5)
    duplex = said("900 GB/s unidirectional", label="duplex")
    assert duplex == ["1800 GB/s", "14400 Gb/s", "1.8 TB/s", "14.4 Tb/s", "1676.38 GiB/s", "1.63709 TiB/s"]


def test_a_rate_of_ethernet_is_a_line_rate() -> None:
    """400GbE is 400 Gb/s, 50 GB/s, each way; 400 Gb/s without that name may sum both ways."""
    assert {row.value for row in readings("400GbE").rows} == {50e9} and not readings("400GbE").ambiguous
    assert {row.value for row in readings("1.6TbE").rows} == {200e9}
    assert {row.value for row in readings("400GbE duplex").rows} == {25e9}
    assert {row.value for row in readings("400 Gb/s").rows} == {50e9, 25e9}


def test_an_ambiguous_unit_has_both_readings() -> None:
    assert said("80 gb", "gb is bits")[0] == "10 GB"
    assert said("80 gb", "gb is bytes")[0] == "80 GB"
    assumed = {row.assuming for row in readings("400 gb/s").rows}
    assert len(assumed) == 4  # bits or bytes, one direction or both
    assert "gb/s is bits and it counts one direction" in assumed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("999 m", ["999 m"]),
        ("1000 m", ["1 km", "1000 m"]),
        ("999 W", ["999 W", "0.999 kW"]),
        ("1000 W", ["1 kW", "1000 W"]),
        ("0.1 s", ["100 ms", "0.1 s"]),
    ],
)
def test_a_quantity_is_shown_in_the_units_that_fit_it_from_their_first_value_on(text: str, shown: list[str]) -> None:
    assert said(text) == shown


def test_a_size_is_decimal_binary_and_bits() -> None:
    assert said("80 GiB") == ["85.8993 GB", "80 GiB", "687.195 Gb", "85,899,345,920 B"]


def test_a_peak_is_dense_and_sparse() -> None:
    assert said("1979 TFLOP/s sparse", label="dense") == ["989.5 TFLOP/s"]
    assert said("989.5 TFLOP/s dense", label="with 2:4 sparsity") == ["1979 TFLOP/s", "1.979 PFLOP/s"]
    assert readings("989 TFLOP/s").ambiguous


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2 us", ["2000 ns", "2 µs"]),
        ("150 ms", ["150 ms", "0.15 s"]),
        ("36 h", ["2160 min", "36 h", "1.5 days"]),
        ("10.2 kW", ["10.2 kW", "10200 W"]),
        ("15T", ["15,000,000,000,000", "15T"]),
        ("1,296", ["1,296"]),
        ("1:2", ["0.5"]),
        ("0.25", ["0.25"]),
    ],
)
def test_other_quantities_are_shown_in_their_usual_units(text: str, shown: list[str]) -> None:
    assert [text for text in said(text) if text in shown] == shown


def test_a_transfer_rate_says_what_its_lanes_carry() -> None:
    assert "64 GB/s" in said("32 GT/s", label="16 lanes, per direction, before line code")


def test_seventy_b_is_a_model_or_a_size() -> None:
    assert said("70B", "B is billion")[0] == "70,000,000,000"
    assert said("70B", "B is bytes")[0] == "70 B"


@pytest.mark.parametrize("text", ["", "GB", "400 G", "3 foo", "1,5 GB", "900 GB/s sideways", "80 GB duplex", "40 %"])
def test_what_is_no_quantity_is_a_fault(text: str) -> None:
    with pytest.raises(UnitFault):
        readings(text)


def test_readings_are_json() -> None:
    document = json.loads(json.dumps(readings("900 GB/s").to_json()))
    assert list(document) == ["written", "meaning", "ambiguous", "readings"]
    assert document["readings"][0] == {
        "assuming": "it counts one direction",
        "label": "per direction",
        "text": "900 GB/s",
        "value": 900e9,
        "unit": "B/s",
    }
