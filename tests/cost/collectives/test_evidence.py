"""Which links have published measurements, and what is said of those that have none."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.cost.collectives.evidence import MEASURED_DOMAINS, MEASURED_FABRICS, unmeasured_part
from tests.cost.plans import design, spec

TABLE = Path(__file__).resolve().parents[2] / "accuracy" / "collective_series.csv"


def test_measured_links_are_those_of_the_published_collectives() -> None:
    rows = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()))
    between = {(row["technology"], int(row["nic_gbps"])) for row in rows if int(row["nodes"] or 1) > 1}
    assert between == MEASURED_FABRICS
    catalog = Catalog.open()
    inside = set()
    for row in rows:
        entry = catalog.find("accelerator", row["accelerator"])
        assert isinstance(entry, Accelerator)
        inside.add(entry.interconnects[0])
    assert inside == MEASURED_DOMAINS


@pytest.mark.parametrize(
    ("cluster", "tier", "words"),
    [
        ({"platform": "dgx-h100"}, "scale-out", ""),
        ({"platform": "dgx-h100"}, "scale-up", ""),
        ({"platform": "dgx-b300"}, "scale-out", "collectives over NICs of 800 Gb/s on InfiniBand XDR"),
        ({"platform": "dgx-h100", "scale_out": {"nic_bandwidth": "200 Gb/s"}}, "scale-out", "200 Gb/s on InfiniBand"),
        ({"platform": "gaudi3-hls"}, "scale-up", "collectives over "),
    ],
)
def test_links_without_a_published_measurement_are_named(cluster: dict[str, Any], tier: str, words: str) -> None:
    made = design(spec(cluster))
    assert made.cluster is not None
    found = unmeasured_part(made.cluster, tier)
    assert words in found and bool(found) is bool(words)
