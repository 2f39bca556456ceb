"""How far predictions lie from published measurements; the tables are the project's own copy of public logs."""

from __future__ import annotations

import csv
from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import median

import pytest

from clusterspec.cluster.groups import contiguous_placement
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives import CollectiveCost
from clusterspec.cost.collectives.predict import collective_cost
from tests.accuracy.test_goals import OF_CLOUDS
from tests.cost.collectives.machines import cluster
from tests.effort import telling
from tools.accuracy.collective_folds import repository

TABLES = Path(__file__).parents[2] / "accuracy"
MEBI, LARGE = 2**20, 2**28


def read(name: str) -> list[dict[str, str]]:
    with (TABLES / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def machine(series: dict[str, str]) -> Cluster:
    """The machine that a series ran on, from its columns."""
    lines = [f"accelerator: {series['accelerator']}", f"accelerators_per_node: {series['accelerators_per_node']}"]
    lines.append(f"nodes: {series['nodes']}")
    if series["domain"]:
        lines.append(f"scale_up: {{domain: {series['domain']}}}")
    if series["topology"]:
        lines.append(f"scale_up: {{topology: {series['topology']}}}")
    if series["technology"]:
        keys = f"technology: {series['technology']}, nics_per_node: {series['nics_per_node']}"
        plugin = f", collective_plugin: {series['collective_plugin']}" if series["collective_plugin"] else ""
        lines.append(f"scale_out: {{{keys}, nic_bandwidth: {series['nic_gbps']} Gb/s{plugin}}}")
    return cluster("\n".join(lines))


@cache
def predictions() -> dict[str, list[tuple[CollectiveCost, float]]]:
    """Predicted costs with the measured seconds, by size: small, medium, large."""
    measured = defaultdict(list)
    for row in read("collectives.csv"):
        if repository(row["source"]) in OF_CLOUDS:  # they scatter by site; tests.accuracy has limits for them
            continue
        measured[row["series"]].append((int(row["size"]), float(row["seconds"])))
    found: dict[str, list[tuple[CollectiveCost, float]]] = defaultdict(list)
    for series in read("collective_series.csv"):
        spec = machine(series)
        group = contiguous_placement(spec, int(series["ranks"]))
        for size, seconds in measured[series["series"]]:
            algorithm, processes = series["algorithm"] or None, series["processes"] or None
            cost = collective_cost(spec, series["collective"], group, size, algorithm, processes=processes)
            found["small" if size < MEBI else "medium" if size < LARGE else "large"].append((cost, seconds))
    return found


@telling(1)
@pytest.mark.parametrize(
    ("sizes", "half", "nine_tenths"),
    [
        ("large", 0.03, 0.125),
        ("medium", 0.12, 0.35),
        ("small", 0.2, 0.45),
    ],
)
def test_predictions_hold(sizes: str, half: float, nine_tenths: float) -> None:
    errors = sorted(abs(cost.seconds / seconds - 1) for cost, seconds in predictions()[sizes])
    assert len(errors) > 60
    assert median(errors) <= half
    assert errors[int(0.9 * len(errors))] <= nine_tenths


def test_four_in_five_measurements_lie_in_their_band_and_the_band_is_narrow() -> None:
    for size, widest in {"large": 0.12, "medium": 0.3, "small": 0.5}.items():
        pairs = predictions()[size]
        inside = [cost.low <= seconds <= cost.high for cost, seconds in pairs]
        assert sum(inside) / len(inside) >= 0.8
        assert median((cost.high - cost.low) / (2 * cost.seconds) for cost, _ in pairs) <= widest


def test_predictions_for_large_messages_are_unbiased() -> None:
    large = [cost.seconds / seconds - 1 for cost, seconds in predictions()["large"]]
    assert abs(median(large)) <= 0.03
