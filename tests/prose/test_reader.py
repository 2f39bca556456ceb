"""What is read of a text, where a finding points, and what its author takes back."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from clusterspec.catalog import Catalog
from clusterspec.finding import Problem
from clusterspec.prose import text_problems
from clusterspec.prose.factors import BINARY, rule_of_ratio
from clusterspec.source import Source
from clusterspec.units.display import BITS, PREFIX
from tests.effort import each

CATALOG = Catalog.open()
SLIP = "NVLink 4 at 900 GB/s unidirectional"


def told(text: str, today: date | None = None) -> list[Problem]:
    return text_problems(Source("notes.md", text), CATALOG, today)


def places(text: str) -> list[tuple[int, int, int]]:
    spans = [problem.span for problem in told(text)]
    return [(span.start.line, span.start.column, span.end.column) for span in spans if span]


RATIOS = [  # of a written figure to the right one, and the rule that reports it
    *((ratio, BITS) for ratio in (8.0, 1 / 8, 8.2)),
    *((ratio, PREFIX) for ratio in (1000.0, 1 / 1000)),
    *((1.024**power, BINARY) for power in (1, 2, 3, 4, 6, 8)),  # one to four prefixes, once or in the wrong direction
    *((1.024**-power, BINARY) for power in (1, 2, 3, 4, 6, 8)),
    *((ratio, "") for ratio in (1.0, 1.024**5, 1.024**7, 1.024**9, 1.01, 8.3, 100.0, 2.0)),
]


@each(("ratio", "rule"), RATIOS)
def test_a_ratio_of_figures_names_the_mistake(ratio: float, rule: str) -> None:
    assert rule_of_ratio(ratio) == rule


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (SLIP, (1, 13, 21)),
        (f"# Notes\n\n- one\n- {SLIP}", (4, 15, 23)),
        ("The link ([NVLink 4](https://example.org/a_(b))) gives **900 GB/s** unidirectional.", (1, 58, 66)),
        ("| link | one way |\n|---|---|\n| NVLink 4 | 900 GB/s |", (3, 14, 22)),
        ("Μ ≈ ½: NVLink 4, 900 GB/s per direction", (1, 18, 26)),
        (
            "In the node, NVLink 4 joins the eight accelerators of a node, and it runs at\n900 GB/s in each direction.",
            (2, 1, 9),
        ),
        ("In short, 8 x 400 Gb/s = 400 Gb/s.", (1, 11, 34)),
    ],
)
def test_a_finding_points_at_the_figure(text: str, place: tuple[int, int, int]) -> None:
    assert places(text) == [place]


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{SLIP}\n```",
        f"~~~text\n{SLIP}\n```\n{SLIP}\n~~~",
        f"---\ntitle: {SLIP}\n---\n",
        f"<!-- {SLIP} -->",
        f"<!--\n{SLIP}\n-->",
        f'Nobody should write "{SLIP}" any more.',
        "NVLink 4 is not written as `900 GB/s unidirectional`.",
        "See https://example.org/nvlink-4/900GB/s/unidirectional for more.",
        "NVLink 4 is not 900 GB/s unidirectional.",
        "NVLink 4 stays below 900 GB/s in one direction.",
        "Measured over NVLink 4: 300–380 GB/s unidirectional.",
    ],
)
def test_quoted_text_is_not_checked(text: str) -> None:
    assert places(text) == []


def test_one_wrong_figure_is_one_finding_with_every_reading() -> None:
    (problem,) = told("PCIe 5 x16 moves 64 GB/s bidirectional.")
    assert problem.rule == "one-way-counted-as-duplex"
    assert "a single direction" in problem.message and "pcie-4" in problem.message
    assert "126 GB/s duplex" in problem.help


@pytest.mark.parametrize(
    "text",
    [
        f"{SLIP} <!-- clusterspec: ignore[duplex-counted-as-one-way]: quoted -->",
        f"<!-- clusterspec: ignore[thousandfold-mistake, duplex-counted-as-one-way]: quoted -->\n{SLIP}",
        f"<!-- clusterspec: ignore-file[duplex-counted-as-one-way]: all quoted -->\n\n# Notes\n\n{SLIP}",
        f"<!-- clusterspec: ignore[duplex-counted-as-one-way] until 2027-01-31: quoted -->\n{SLIP}",
    ],
)
def test_a_waiver_with_a_reason_hides_its_finding(text: str) -> None:
    assert told(text, date(2026, 11, 20)) == []


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (f"{SLIP} <!-- clusterspec: ignore[thousandfold-mistake]: quoted -->", ["duplex-counted-as-one-way"]),
        (f"<!-- clusterspec: ignore[duplex-counted-as-one-way]: quoted -->\n\n{SLIP}", ["duplex-counted-as-one-way"]),
        (f"text <!-- clusterspec: ignore[duplex-counted-as-one-way]: no -->\n{SLIP}", ["duplex-counted-as-one-way"]),
        (
            f"{SLIP} <!-- clusterspec: ignore[duplex-counted-as-one-way] -->",
            ["duplex-counted-as-one-way", "waiver-without-reason"],
        ),
        (
            f"{SLIP} <!-- clusterspec: ignore[duplex-counted-as-one-way] until 2026-01-31: quoted -->",
            ["duplex-counted-as-one-way", "expired-waiver"],
        ),
    ],
)
def test_a_waiver_that_does_not_hold_waives_nothing(text: str, rules: list[str]) -> None:
    assert [problem.rule for problem in told(text, date(2026, 11, 20))] == rules


ENTRY = """
kind: interconnect
id: nvlink-9
name: NVLink 9
vendor: us
status: {is: shipping, as_of: 2026-11-20}
sources: {own: {title: our own measurements, url: "https://example.org", read: 2026-11-20}}
source: own
facts:
  scope: scale-up
  family: nvlink
  generation: "9"
  year: 2030
  bandwidth: {is: 4000 GB/s duplex, scope: device, basis: line-code}
  rdma: false
  lossless: credits
  in_network_reduction: true
  plugins: [built-in]
"""


def test_a_company_entry_is_known_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "interconnects").mkdir()
    (tmp_path / "interconnects" / "nvlink-9.yaml").write_text(ENTRY)
    source = Source("notes.md", "NVLink 9 carries 4,000 GB/s unidirectional, and NVLink 9 carries 4,000 GB/s duplex.")
    assert [problem.rule for problem in text_problems(source, Catalog.open([tmp_path]))] == [
        "duplex-counted-as-one-way"
    ]
    assert text_problems(source, CATALOG) == []
