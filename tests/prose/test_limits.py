"""Every check of running text starts and stops at its limit: a figure or a distance, worked out without the code.

A row holds a text with a gap, the last values that are reported, and the first ones that are not.
"""

from __future__ import annotations

from clusterspec.catalog import Catalog
from clusterspec.finding import Problem
from clusterspec.prose import text_problems
from clusterspec.source import Source
from tests.effort import each

CATALOG = Catalog.open()


def told(text: str) -> list[Problem]:
    return text_problems(Source("notes.md", text), CATALOG)


TOTALS = "arithmetic-does-not-close"
FAR = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r"]


def apart(*counts: int) -> list[str]:
    return [" ".join(FAR[:count]) for count in counts]


FIGURES = [  # 5 % of 1.6 Tb/s are 80 Gb/s
    (TOTALS, "8 ports of 200 Gb/s, for a total of {} Tb/s", ["1.51", "1.69", "3.2", "0.8"], ["1.53", "1.67"]),
    (TOTALS, "8 ports of 200 Gb/s one way, for a total of {} Tb/s", ["1.51", "1.69"], ["3.2", "0.8", "3.1", "0.83"]),
    # each port of eight has seven peers
    (TOTALS, "8 ports of 200 Gb/s, for a total of {} Tb/s", ["1.2"], ["1.4"]),
    ("thousandfold-mistake", "8 ports of 200 Gb/s for an aggregate of {}", ["1.6 Gb/s"], ["3.2 Tb/s", "1.2 Tb/s"]),
    ("bits-and-bytes-swapped", "4 × 200 Gb/s NICs give {} GB/s", ["800", "777", "823"], ["776", "825", "100"]),
    (TOTALS, "4 × 200 Gb/s NICs give {} Gb/s", ["200", "198.1", "201.9"], ["197", "203", "800", "761", "839"]),
    # 140 GB / (50 GB/s) = 2.8 s; 5 % of a factor of 8 or 1,000
    ("bits-and-bytes-swapped", "140 GB at 50 GB/s takes {} s", ["21.3", "23.5", "0.334", "0.367"], ["21.2", "23.6"]),
    ("thousandfold-mistake", "140 GB at 50 GB/s takes {} s", ["2661", "2939"], ["2659", "2941", "2.8", "5.6"]),
    # 376 / 450 = 83.56 %, four points of tolerance
    (
        "percentage-off-count",
        "376 GB/s of 450 GB/s is {} %",
        ["79.5", "87.6"],
        ["79.6", "87.5", "50 % less", "20 % more"],
    ),
    (TOTALS, "64 * 7 = {}", ["442", "454"], ["448", "444", "452"]),
    (TOTALS, "64 * 7 ≈ {}", ["411", "487"], ["415", "483"]),
    (TOTALS, "20 * 7000 = {}", ["138000"], ["139000", "141000"]),  # above 100,000 a rounded figure may stand
    (TOTALS, "8 x 400 Gb/s = {} Tb/s", ["3.1", "6.4", "1.6"], ["3.2", "3.23"]),
    (TOTALS, "8 x 400 Gb/s = {}", ["400 Gb/s", "3.1 Tb/s"], ["6.4 Tb/s bidirectional", "1.6 Tb/s per direction"]),
    (TOTALS, "30 / 40 = {} %", ["85", "70"], ["75"]),
    ("decimal-binary-mixup", "80 GiB ({} GB)", ["80", "80.3", "84", "92.1"], ["85.9", "79", "87", "89", "100"]),
    ("bits-and-bytes-swapped", "100 GB/s ({} Gb/s)", ["100", "102.9", "97.1"], ["800", "104", "96.9"]),
    # three passes of ZeRO-3 against the two of an all-reduce
    (TOTALS, "ZeRO-3 sends {}x the traffic of DDP.", ["1.8", "2", "6"], ["1.7", "1.5", "6.1"]),
    # 1 GB over 450 GB/s takes 2.22 ms; the sum of both directions is reported from 1.05 to 2.1 times the rate
    (
        "duplex-counted-as-one-way",
        "An all-reduce of 1 GB over NVLink 4 takes {} ms.",
        ["1.06", "2.11"],
        ["1.05", "2.12"],
    ),
    (
        "injection-called-bisection",
        "A DGX H100 has a bisection bandwidth of {} TB/s.",
        ["6.92", "7.48"],
        ["6.91", "7.49", "3.6", "1.8"],
    ),
    (
        "injection-called-bisection",
        "With NVLink 4 the bisection bandwidth is {} GB/s per GPU.",
        ["428", "472", "856", "944"],
        ["427", "473", "854", "946"],
    ),
    (
        "injection-called-bisection",
        "With 64 nodes at 400 GB/s, the bisection bandwidth is {} TB/s.",
        ["25.1", "26.1"],
        ["25", "26.2", "12.8"],
    ),
    (
        "injection-called-bisection",
        "bisection bandwidth: 64 nodes × 3.2 Tb/s{}",
        [" = 204.8 Tb/s"],
        [" / 2 = 102.4 Tb/s"],
    ),
    (
        "injection-called-bisection",
        "{} NICs of NDR. Bisection 128 x 50 GB/s = 6.4 TB/s each way.",
        ["128", "192"],
        ["256"],
    ),
    ("links-miscounted", "each TPU v5p connects to {} other chips", ["3", "5"], ["6"]),
    ("links-miscounted", "each MI300X is linked to {} other GPUs", ["6", "8"], ["7"]),
    # 8 accelerators with 18 links each: 18, 144, or 72 with two ends a link
    (
        "links-miscounted",
        "NVLinks for a total of {} links in a DGX H100: 12 links",
        ["100", "145"],
        ["18", "72", "144"],
    ),
    ("accelerators-miscounted", "1,000 nodes of 8 GPUs, {} GPUs in total", ["8,009", "7,991"], ["8,008", "7,993"]),
    ("accelerators-miscounted", "10 DGX H100 nodes, {} GPUs in total", ["88"], ["80", "8"]),
    ("lanes-counted-as-nics", "4 x NDR lanes give {} Gb/s", ["1600", "1569", "1631"], ["1567", "1633", "400"]),
    ("contradicts-platform", "a DGX H100 has {} NICs", ["6", "7"], ["8", "10"]),
    ("contradicts-platform", "a DGX H100 has {} GPUs", ["four", "7", "9"], ["8", "4 GPUs per socket and two"]),
    ("contradicts-platform", "a GB200 NVL72 has {} GPUs", ["36", "8"], ["72", "4"]),
    (
        "mixed-direction-comparison",
        "NVLink 4 is {}× faster than NDR",
        ["20.1", "15.9", "5", "4"],
        ["20.2", "15.8", "9", "5.1", "3.9"],
    ),
    ("mixed-direction-comparison", "HBM of the H100 SXM is {}× faster than NVLink 4", ["3.7"], ["7.4", "14.9"]),
    # the other tier stands in the sentence before: 450 GB/s over 50 GB/s are 9
    (
        "mixed-direction-comparison",
        "InfiniBand NDR joins the nodes. The H100 has NVLink 4, which is {}x faster.",
        ["18", "4.5"],
        ["9", "30"],
    ),
    (
        "mixed-direction-comparison",
        "- NVLink 4: {} GB/s\n- NDR: 50 GB/s",
        ["900", "846.1", "953.9"],
        ["450", "845.9", "954.1"],
    ),
    (
        "mixed-direction-comparison",
        "- NVLink 4: 900 GB/s\n- NDR: {} GB/s",
        ["50", "47.1", "52.9"],
        ["100", "46.9", "53.1"],
    ),
    ("duplex-counted-as-one-way", "NVLink 4 at {} GB/s unidirectional", ["900", "865", "935.9"], ["863", "937", "450"]),
    ("one-way-counted-as-duplex", "NVLink 4 at {} GB/s bidirectional", ["450", "433", "467.9"], ["431", "469", "900"]),
    (
        "label-contradicts-rate",
        "NVLink 4 gives {} TB/s bidirectional",
        ["1.8", "1.73", "1.87"],
        ["0.9", "1.72", "1.88"],
    ),
    # a lane of PCIe 5 carries 3.94 GB/s: 32 GT/s, of which 128 of 130 bits are data; transfers count one direction
    ("label-contradicts-rate", "PCIe 5 runs at {} GT/s", ["16", "8"], ["32", "31.5"]),
    ("label-contradicts-rate", "PCIe 4 runs at {} GT/s", ["32", "8"], ["16"]),
    ("label-contradicts-rate", "PCIe 5 x16 gives {} GB/s in one direction", ["32", "30.3"], ["63", "64"]),
    ("nic-rate-off-technology", "An NDR port carries {} Gb/s", ["800"], ["400", "200", "100"]),
    ("duplex-counted-as-one-way", "An NDR NIC carries {} GB/s", ["100"], ["50", "25"]),
    ("bits-and-bytes-swapped", "An NDR port carries {} GB/s", ["400", "385", "415"], ["50", "383", "417"]),
    ("bandwidth-of-another-scope", "NVLink 4 gives {} GB/s per GPU", ["50", "25"], ["450", "900", "100"]),
    ("bandwidth-of-another-scope", "Gaudi 3 has {} GB/s of scale-up bandwidth unidirectional", ["600"], ["525"]),
    ("label-contradicts-rate", "An H200 has {} GB of HBM3e", ["80", "94", "95"], ["141", "131", "152", "110"]),
    ("label-contradicts-rate", "An H200 has {} TB/s of memory bandwidth", ["3.35", "3.38"], ["4.8", "4.45", "3.5"]),
    ("thousandfold-mistake", "24 x 64 GB = {}", ["1.536 GB"], ["1,536 GB", "1.536 TB"]),
    ("thousandfold-mistake", "25 x 64 = {}", [], ["1.600", "1,600", "1600"]),
    ("thousandfold-mistake", "An H100 has {} of HBM3", ["80 TB", "80 MB"], ["80 GB"]),
    # dense BF16 of an H100 SXM: 989.4 TFLOP/s; 1.2 times the sparse peak is 2,374.6
    ("peak-off-catalog", "An H100 SXM gives {} TFLOPS of BF16", ["2375", "6000"], ["2374", "1500"]),
    ("peak-off-catalog", "An H100 SXM gives {} TFLOPS of sparse BF16", ["4800"], ["4700", "1979"]),
    ("peak-off-catalog", "Eight H100 SXM give {} TFLOPS of BF16", ["19000"], ["18900", "7900"]),
    ("peak-off-catalog", "{} of TPU v6e: 235 PFLOP/s dense in BF16", ["12 hosts of 8 chips"], ["32 hosts of 8 chips"]),
    ("sparse-peak-as-dense", "An H100 SXM gives {} TFLOPS of BF16", ["1979", "1901", "2057"], ["1899", "2059"]),
    ("peak-of-other-precision", "An H100 SXM gives {} TFLOPS of FP8", ["989", "980", "999"], ["979", "1000", "1979"]),
    ("thousandfold-mistake", "An H100 SXM gives {} GFLOPS of BF16", ["989", "980", "999"], ["979", "1000"]),
    ("thousandfold-mistake", "An H100 SXM draws {}", ["700 kW"], ["700 W", "7 W", "900 W", "70 kW"]),
    # a rate of a link next to that of a collective is how bus bandwidth is given, up to five times apart
    ("measurement-without-metric", "NCCL all-reduce reaches {} GB/s of 450 GB/s.", ["80", "450"], ["90", "370"]),
]
DISTANCES = [
    ("bits-and-bytes-swapped", "4 × 200 Gb/s {} give 800 GB/s", apart(0, 7), apart(8)),
    (TOTALS, "8 NICs a b c {} each at 50 GB/s, give 400 Gb/s", apart(0, 2), apart(12)),
    ("percentage-off-count", "376 GB/s of 450 GB/s {} 50 %", apart(0, 7), apart(8)),
    ("percentage-off-count", "376 GB/s of {} 450 GB/s is 50 %", apart(0, 4), apart(5)),
    (TOTALS, "ZeRO-3 sends 2x {} traffic of DDP.", apart(0, 5), apart(6)),
    ("contradicts-platform", "a DGX H100 has four {} GPUs", apart(0, 3), apart(4)),
    ("links-miscounted", "each TPU v5p links {} 3 other chips", apart(0, 3), apart(4)),
    ("links-miscounted", "12 links for a total {} 100 in a DGX H100", apart(0, 1), apart(2)),
    ("mixed-direction-comparison", "NVLink 4 to NDR {} 18× {} faster", apart(0, 9), apart(10)),
    ("lanes-counted-as-nics", "4 x {} NDR lanes give 1600 Gb/s", apart(0), apart(1)),
    (
        "injection-called-bisection",
        "bisection bandwidth {} 64 nodes × 3.2 Tb/s = 204.8 Tb/s",
        ["", ": of a"],
        [": of a the"],
    ),
    (
        "injection-called-bisection",
        "With NVLink 4 the bisection bandwidth {} 900 GB/s per GPU",
        ["", "is of the a at"],
        ["is of the a at about"],
    ),
    (
        "injection-called-bisection",
        "With 64 nodes at 400 GB/s, 25.6 TB/s {} bisection bandwidth",
        ["", "of the a full"],
        ["of the a full total"],
    ),
    ("injection-called-bisection", "With 64 nodes at 400 GB/s, 25.6 TB/s of bisection {}", ["bandwidth"], ["rate"]),
    (
        "measurement-without-metric",
        "NCCL all-reduce reaches 370 GB/s. {} The busbw is good.",
        ["Ab. Bb. Cb. Db. Fb. Gb."],
        ["Ab. Bb. Cb. Db. Fb.", ""],
    ),
    (
        "measurement-without-metric",
        "The busbw is good. {} NCCL all-reduce reaches 370 GB/s.",
        ["Ab. Bb. Cb. Db. Fb. Gb."],
        ["Ab. Bb. Cb. Db. Fb.", ""],
    ),
    (
        "measurement-without-metric",
        "NCCL all-reduce {} 370 GB/s.",
        ["reaches", "of the", "of the a"],
        ["of the a b", "over", "at"],
    ),
    ("bits-and-bytes-swapped", "The NIC runs at 50 GB/s.{}nic_gbps=50", [" ", "\n"], ["\n\n", "\n\n\n"]),
    ("mixed-direction-comparison", "- NVLink 4: 900 GB/s\n{}- NDR: 50 GB/s", [""], ["\n"]),
]


@each(("rule", "text", "reported", "silent"), [*FIGURES, *DISTANCES])
def test_a_check_starts_and_stops_at_its_limit(rule: str, text: str, reported: list[str], silent: list[str]) -> None:
    rules = {value: {problem.rule for problem in told(text.replace("{}", value))} for value in (*reported, *silent)}
    assert [value for value in reported if rule not in rules[value]] == []
    assert [value for value in silent if rule in rules[value]] == []


ROWS = [("a", 4, 25, 100), ("b", 4, 50, 200), ("c", 4, 100, 400)]


def table(*rows: tuple[object, ...], head: str = "Link | Lanes | Lane, Gb/s | Port, Gb/s") -> str:
    return "\n".join(
        [f"| {head} |", "|---" * len(head.split("|")) + "|", *("| " + " | ".join(map(str, row)) + " |" for row in rows)]
    )


BY_LINKS = "Links | A, GB/s | B, GB/s | C, GB/s"
TWO_RATES = BY_LINKS.rpartition(" | ")[0]
WIDE = [(1, 25, 50, 100), (2, 50, 100, 200), (4, 100, 200, 800), (8, 200, 400, 800)]
"""Rows in which 800 stands for 400."""
TOTAL = "Node | Ports | Total"


@each(
    ("text", "advice"),
    [
        (table(*ROWS, ("d", 4, 200, 400)), ["`800 Gb/s`"]),
        (table(*ROWS, ("d", 4, 200, 800)), []),
        (table(*ROWS, ("d", 4, 200, 850)), ["`800 Gb/s`"]),  # 3 % and half of the last digits, 5 of 200 and 42 of 850
        (table(*ROWS, ("d", 4, 200, 815)), []),
        (table(*ROWS[1:], ("d", 4, 200, 400)), []),  # two rows are no relation
        (table(*ROWS, ("d", 4, 200, 400), ("e", 4, 10, 80)), []),  # three of five are less than two thirds
        (table(*ROWS, ("d", 4, 10, 40), ("e", 4, 10, 80), ("f", 4, 20, 160)), ["`40 Gb/s`", "`80 Gb/s`"]),
        (table(("a", 4, 25, 100), ("b", 4, 25, 100), ("c", 4, 25, 100), ("d", 4, 200, 400)), []),  # one figure only
        (table(*WIDE, head=BY_LINKS), ["`400 GB/s`"]),
        (table(*(row[:3] for row in WIDE), (16, 400, 900), head=TWO_RATES), ["`800 GB/s`"]),  # 7 of 8 fit
        (table(*(row[:3] for row in WIDE), head=TWO_RATES), []),  # 6 of 6 fit
        (table(*((2 * links, *rates) for links, *rates in WIDE), head=BY_LINKS), ["`400 GB/s`"]),
        (table(("a", "8x400 Gb/s", "3.2 Tb/s"), ("b", "8x100 Gb/s", "3.2 Tb/s"), head=TOTAL), ["`800 Gb/s`"]),
        (table(("a", "8x100 Gb/s", "1.6 Tb/s"), ("b", "8x100 Gb/s", "0.4 Tb/s"), head=TOTAL), []),
        (table(("a", "8x100 Gb/s", "0.83 Tb/s"), ("b", "8x100 Gb/s", "0.82 Tb/s"), head=TOTAL), ["`800 Gb/s`"]),
        (table(("a", "8x100 Gb/s", "3.2 Tb/s"), head="Node | Ports | Sum"), []),
        (table(("NVLink 4", 900), ("NDR", 50), head="Link | GB/s"), ["450 GB/s here"]),
        (table(("NVLink 4", 450), ("NDR", 50), head="Link | GB/s"), []),
        (table(("H200", "80 GB"), head="GPU | Memory"), ["`141 GB`"]),
        (table(("H200", "80 GB"), head="GPU | Needed memory of it"), []),
        (table(("NDR", "800 Gb/s"), head="Port | Rate"), ["`400 Gb/s unidirectional`"]),
        (table(("NDR", "2x400 Gb/s"), head="Port | Rate"), []),
    ],
)
def test_a_row_that_breaks_the_relation_of_the_others_is_reported(text: str, advice: list[str]) -> None:
    assert [problem.help.removeprefix("write ").split(",")[0] for problem in told(text)] == advice


def test_bits_of_a_size_are_shown_as_bits() -> None:
    (problem,) = told("16 GB is 16 Gb")
    assert (problem.message, problem.help) == ("16 GB is 128 Gb, not 16 Gb", "write `128 Gb`")
    (problem,) = told("16 Gb is 16 GB")
    assert (problem.message, problem.help) == ("16 Gb is 2 GB, not 16 GB", "write `2 GB`")


def test_the_generation_of_a_transfer_rate_is_that_of_one_direction() -> None:
    (problem,) = told("PCIe 5 runs at 16 GT/s")
    assert problem.message.endswith("it looks like the figure of pcie-4")
