"""An entry from a data sheet has the figures that the sheet states in full; what it leaves out stays open."""

from __future__ import annotations

from datetime import date

import pytest

from clusterspec.catalog.company import Origin, entry_problems
from clusterspec.document import parse
from clusterspec.exchange.data_sheets.entry import EmptySheet, sheet_entry
from clusterspec.exchange.data_sheets.kinds import SHEET_KINDS, sheet_readings
from clusterspec.exchange.data_sheets.rows import sheet_rows
from clusterspec.source import Source

ADDRESS = "https://example.com/sheet"
SWITCH = """\
ACME S64 data center switch
The S64 has 64 ports of 800GbE in an OSFP112 form factor and a 2U design.
It splits into 128 ports of 400GbE.
Switching capacity: 102.4 Tbps
Latency: sub-700ns
Max. power draw: 2,848 W      Typical power consumption: 1.5 kW
"""
ACCELERATORS = """\
| Specification | A1 PCIe | A1 SXM |
|---|---|---|
| GPU memory | 40 GB HBM3 | 80 GB HBM3 |
| GPU memory bandwidth | 1.5 TB/s | 3.35 TB/s |
| FP8 Tensor Core | 1,000 TFLOPS* | 2,000 TFLOPS* |
| Max thermal design power (TDP) | 300 W | up to 700 W |
* Shown with sparsity.
"""


def facts_of(kind: str, text: str, name: str = "part") -> dict[str, object]:
    """The values of the facts that a sheet states once and in full."""
    said: dict[str, list[object]] = {}
    for each in sheet_readings(sheet_rows(text, name), kind):
        said.setdefault(each.fact, []).append(each.value if not each.lacks else None)
    return {fact: values[0] for fact, values in said.items() if len(values) == 1 and values[0] is not None}


def bare(value: object) -> object:
    """A value without its scope, basis and print."""
    return value["is"] if isinstance(value, dict) else value


def test_a_switch_has_the_ports_at_its_highest_rate_and_a_capacity_one_way() -> None:
    # 64 ports of 800 Gb/s are 51.2 Tb/s one way, half of the 102.4 that are printed.
    facts = {fact: bare(value) for fact, value in facts_of("switch", SWITCH, "S64").items()}
    assert facts == {
        "ports": 64,
        "port_bandwidth": "800 Gb/s per direction",
        "connector": "OSFP",
        "capacity": "51.2 Tb/s per direction",
        "latency": "700 ns",
        "power.max": "2848 W",
        "power.typical": "1.5 kW",
        "rack_units": 2,
    }


def test_a_capacity_that_the_ports_do_not_explain_is_left_open() -> None:
    assert "capacity" not in facts_of("switch", SWITCH.replace("102.4", "60"), "S64")


def test_a_table_of_several_parts_gives_the_column_of_the_named_one() -> None:
    facts = {fact: bare(value) for fact, value in facts_of("accelerator", ACCELERATORS, "A1 SXM").items()}
    assert facts == {
        "memory": "80 GiB",
        "memory_type": "HBM3",
        "memory_bandwidth": "3350 GB/s",
        "sparse_peak.fp8": "2000 TFLOP/s sparse",
        "power.max": "700 W",
    }


def test_columns_that_differ_are_left_open_without_a_name() -> None:
    assert facts_of("accelerator", ACCELERATORS, "B7") == {"memory_type": "HBM3"}


@pytest.mark.parametrize(
    ("rows", "facts"),
    [
        ("FP16: 500 TFLOPS dense", {"peak.fp16": "500 TFLOP/s dense"}),
        ("FP16 with sparsity: 1 PFLOPS", {"sparse_peak.fp16": "1000 TFLOP/s sparse"}),
        ("FP16: 500 TFLOPS\nFP16 with sparsity: 1000 TFLOPS", {"peak.fp16": 500, "sparse_peak.fp16": 1000}),
        ("FP16: 500 TFLOPS", {}),
        ("FP32: 60 TFLOPS", {"peak.fp32": "60 TFLOP/s dense"}),
        ("All figures are with sparsity.\nBFLOAT16 Tensor Core: 1 petaFLOPS", {"sparse_peak.bf16": 1000}),
        ("FP64: 30 TFLOPS", {}),
        ("FP64 / FP32: 60 TFLOPS", {}),  # of one of the two
        ("FP16: 500 TFLOPS\nFP16: 900 TFLOPS", {}),
        ("Half precision: 500 TFLOPS dense", {"peak.fp16": 500}),
    ],
)
def test_a_peak_is_a_figure_only_where_the_sheet_decides_between_dense_and_sparse(
    rows: str, facts: dict[str, object]
) -> None:
    found = facts_of("accelerator", rows)
    assert found.keys() == facts.keys()
    for fact, value in facts.items():
        assert found[fact] == value or str(found[fact]).startswith(f"{value} TFLOP/s")


def test_peaks_of_a_whole_rack_are_no_figures_of_an_accelerator() -> None:
    with pytest.raises(EmptySheet, match="the page may count a system of several"):
        sheet_entry("accelerator", "a1", origin("A1"), "FP8 with sparsity: 720 PFLOPS\nFP16 with sparsity: 36 PFLOPS\n")


def test_a_page_of_a_family_gives_the_lines_of_the_named_part() -> None:
    page = "".join(f"S{n}00\n{n} ports of 100GbE\n" for n in (1, 2, 3, 4, 5))
    assert facts_of("switch", page, "S300")["ports"] == 3


@pytest.mark.parametrize(
    ("kind", "text", "fact", "value"),
    [
        ("nic", "PCIe Gen5 x16\n2x 200GbE QSFP112", "ports", 2),
        ("switch", "64 ports of 3200GbE", "ports", 64),  # no port is faster
        ("switch", "64 ports of 3.2TbE", "port_bandwidth", "3200 Gb/s per direction"),
        ("switch", "64 ports of 3201GbE", "ports", None),
        ("switch", "32 ports of 400GbE\n64 ports of 400GbE\n128 ports of 200GbE", "ports", 64),
        ("switch", "0 ports of 800GbE\n2 ports of 40GbE", "port_bandwidth", "40 Gb/s per direction"),
        ("optics", "3.2Tb/s transceiver, 2x1600Gb/s", "bandwidth", "3200 Gb/s per direction"),
        ("optics", "3.3Tb/s transceiver of 1600Gb/s ends", "bandwidth", "1600 Gb/s per direction"),
        ("nic", "PCI Express Gen3: 16 lanes\nTypical Power\nPassive cables\n12.95W", "power.typical", "12.95 W"),
        ("nic", "Maximum power available through the port: 1.5W", "power.max", None),
        ("optics", "800Gb/s transceiver\n2x400Gb/s single mode DR8 500m\n17 W max", "reach", "500 m"),
        ("cdu", "Cooling capacity: 2.3 MW\nPower consumption: 47.8 kW", "capacity", "2300 kW"),
        ("cdu", "Cooling capacity: 2,000 kW @ 5 °C ATD", "approach", 5),
        ("storage-system", "Read throughput: 1.2 TB/s", "read", "1200 GB/s"),
        ("platform", "GPU: 8x A1\nMaximum power consumption: 14.3 kW\nForm factor: 10U", "rack_units", 10),
    ],
)
def test_each_kind_reads_the_figures_of_its_sheets(kind: str, text: str, fact: str, value: object) -> None:
    assert bare(facts_of(kind, text).get(fact)) == value


def test_the_title_of_a_module_decides_where_its_sheet_lists_others() -> None:
    """The first five lines are those of the title; two figures in it decide nothing."""
    rest = "\n".join(f"Remark {letter}" for letter in "abcdefgh") + "\n400Gb/s single mode FR4 2km"
    for title, reach in (
        ("800Gb/s transceiver, single mode DR8 500m", "500 m"),
        ("800Gb/s transceiver, single mode DR8 500m, FR8 2km", None),
        ("800Gb/s transceiver, single mode", "2 km"),
    ):
        assert bare(facts_of("optics", f"{title}\n{rest}").get("reach")) == reach, title


def test_a_page_of_html_reads_as_its_table() -> None:
    page = "<html><script>Ports: 9 x 800GbE</script><table><tr><td>Latency</td><td>600&nbsp;ns</td></tr></table>"
    assert facts_of("switch", page) == {"latency": "600 ns"}


@pytest.mark.parametrize(("kind", "text", "name"), [("switch", SWITCH, "S64"), ("accelerator", ACCELERATORS, "A1 SXM")])
def test_the_entry_is_valid_and_names_where_and_when_it_was_read(kind: str, text: str, name: str) -> None:
    written = sheet_entry(kind, "acme-1", origin(name), text).text
    document, _ = parse(Source("acme-1.yaml", written))
    assert document is not None
    assert entry_problems(document, kind, "acme-1") == []
    assert document.value["sources"]["data-sheet"]["url"] == ADDRESS
    assert str(document.value["sources"]["data-sheet"]["read"]) == "2026-11-27"


def test_what_a_sheet_states_in_several_ways_is_listed_with_its_lines() -> None:
    written = sheet_entry("switch", "s", origin("S64"), SWITCH + "Latency: 900 ns\n").text
    assert "#  latency: `700ns` on line 5, `900 ns` on line 7; the text states several figures\n" in written
    assert "\n  latency:" not in written


@pytest.mark.parametrize("kind", SHEET_KINDS)
@pytest.mark.parametrize("text", ["", "no figures here", "|" * 5000, "1 x " * 5000, "power " * 9000, "<td>" * 9000])
def test_a_text_without_figures_is_refused(kind: str, text: str) -> None:
    with pytest.raises(EmptySheet):
        sheet_entry(kind, "x", origin("x"), text)


def origin(name: str) -> Origin:
    return Origin(name, "ACME", ADDRESS, date(2026, 11, 27))


_BOTH = "the text does not say whether it counts one direction or both"


@pytest.mark.parametrize(
    ("text", "fact", "value", "lacks"),
    [
        ("NVLink bandwidth: 1.8 TB/s bidirectional", "bandwidth", "1800 GB/s duplex", ""),
        ("Interconnect bandwidth 1.8 TB/s bidirectional", "bandwidth", "1800 GB/s duplex", ""),
        ("| Interconnect | NVLink: 900GB/s PCIe Gen5: 128GB/s |", "bandwidth", "900 GB/s", _BOTH),
        ("NVLink bandwidth: 1.8 TB/s", "bandwidth", "1800 GB/s", _BOTH),
        ("Scale-up bandwidth: 900 GB/s per direction", "bandwidth", "900 GB/s per direction", ""),
        ("GPU-to-GPU bandwidth (unidirectional): 450 GB/s", "bandwidth", "450 GB/s per direction", ""),
        ("Infinity Fabric links of 153.6 GB/s each, bidirectional", "link_bandwidth", "153.6 GB/s duplex", ""),
        ("NVLink 5 bandwidth: 1.8 TB/s", "bandwidth", "1800 GB/s", _BOTH),
        (
            "NVLink bandwidth of the rack: 130 TB/s bidirectional",
            "bandwidth",
            "130000 GB/s duplex",
            "a system of several",
        ),
        ("NVLink-C2C bandwidth: 900 GB/s bidirectional", "", "", ""),
        ("Host interconnect: PCIe Gen5, 128 GB/s", "", "", ""),
        ("Network interconnect: 50 GB/s", "", "", ""),
        ("Memory bandwidth: 8 TB/s", "", "", ""),
    ],
)
def test_the_links_of_an_accelerator_are_read_with_their_direction(
    text: str, fact: str, value: str, lacks: str
) -> None:
    found = [each for each in sheet_readings(sheet_rows(text, "A1"), "accelerator") if each.fact.startswith("scale_up")]
    assert [each.fact for each in found] == [f"scale_up.{fact}"] * bool(fact)
    for each in found:
        assert bare(each.value) == value
        assert (lacks in each.lacks) if lacks else not each.lacks


def test_lines_with_figures_that_nothing_reads_are_listed() -> None:
    """Of four lines with a figure, the memory and the link are read; a line without a unit of a figure is no figure."""
    text = "A1 data sheet\nMemory: 192 GB\nNVLink bandwidth: 1.8 TB/s\n"
    text += "L3 cache bandwidth: 17 TB/s\nPower up to 900 W\nSlots: 8\n"
    entry = sheet_entry("accelerator", "a1", origin("A1"), text)
    assert entry.left_open == (
        f"scale_up.bandwidth: `NVLink bandwidth: 1.8 TB/s` on line 3; {_BOTH}",
        "not read: line 4: `L3 cache bandwidth: 17 TB/s`",
        "not read: line 5: `Power up to 900 W`",
    )
    assert all(f"#  {line}\n" in entry.text for line in entry.left_open)
    many = text + "".join(f"Block {n}: {n} GB/s\n" for n in range(10, 24))
    opened = sheet_entry("accelerator", "a1", origin("A1"), many).left_open
    assert len(opened) == 14 and opened[-1] == "not read: and 4 more lines", "16 of them, 12 listed"
