"""What was measured replaces what the catalog expects, and nothing more than that."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterspec.catalog import Catalog
from clusterspec.cluster import resolve
from clusterspec.cluster.model import Cluster, Design
from clusterspec.cost.collectives.predict import collective_table
from clusterspec.cost.measured import MeasuredSize, Measurement, calibrated_design, expected_cost
from clusterspec.source import Measured
from clusterspec.spec.model import ClusterSpec, Spec
from tests.effort import thorough

GIB = float(1 << 30)
CATALOG = Catalog.open()


def design(platform: str = "dgx-h100", nodes: int = 8) -> Design:
    return resolve(Spec("x", cluster=ClusterSpec(platform=platform, nodes=nodes)), CATALOG)[0]


def machine(platform: str = "dgx-h100", nodes: int = 8) -> Cluster:
    cluster = design(platform, nodes).cluster
    assert cluster is not None
    return cluster


def seen(collective: str, ranks: int, busbw: float, size: float = 8 * GIB, nodes: int | None = None) -> Measurement:
    return Measurement(0, ("measured", 0, "busbw"), collective, ranks, nodes, (MeasuredSize(size, busbw),))


def after(platform: str, *measurements: Measurement) -> Cluster:
    cluster = calibrated_design(design(platform), measurements).cluster
    assert cluster is not None
    return cluster


def predicted(cluster: Cluster, collective: str, ranks: int, size: float = 8 * GIB) -> float:
    return collective_table(cluster, collective, ranks, [size])[0].busbw


CASES = [
    ("dgx-h100", "all-reduce", 8),
    ("dgx-h100", "all-reduce", 16),
    ("dgx-h100", "all-gather", 32),
    ("dgx-h100", "all-to-all", 16),
    ("dgx-a100", "all-reduce", 8),
    ("mi300x-ubb8", "all-reduce", 8),
    ("mi300x-ubb8", "all-to-all", 8),
    ("gb200-nvl72", "all-reduce", 32),
    ("aws-p5-48xlarge", "reduce-scatter", 32),
    ("tpu-v5p", "all-gather", 16),
]


@thorough
@pytest.mark.parametrize(("platform", "collective", "ranks"), CASES)
@settings(max_examples=8, deadline=None)
@given(share=st.floats(0.15, 1.0))
def test_the_predicted_bus_bandwidth_is_the_measured_one(
    platform: str, collective: str, ranks: int, share: float
) -> None:
    usual = predicted(machine(platform), collective, ranks)
    cluster = after(platform, seen(collective, ranks, share * usual))
    assert predicted(cluster, collective, ranks) == pytest.approx(share * usual, rel=0.01)


@pytest.mark.parametrize(("platform", "collective", "ranks"), CASES)
def test_a_machine_that_does_as_expected_is_predicted_as_before(platform: str, collective: str, ranks: int) -> None:
    usual = predicted(machine(platform), collective, ranks)
    cluster = after(platform, seen(collective, ranks, usual))
    assert predicted(cluster, collective, ranks) == pytest.approx(usual, rel=0.002)
    assert cluster.measured


def test_a_measurement_counts_up_to_the_ceiling() -> None:
    assert predicted(after("dgx-a100", seen("all-reduce", 8, 250e9)), "all-reduce", 8) == pytest.approx(250e9, rel=0.01)
    beyond = seen("all-reduce", 8, 310e9)
    assert after("dgx-a100", beyond) == machine("dgx-a100")


@pytest.mark.parametrize(
    "useless",
    [
        seen("all-reduce", 16, 30e9, size=GIB / 64),
        seen("all-reduce", 160, 30e9),
        seen("all-reduce", 2, 30e9, nodes=2),
        replace(seen("all-reduce", 16, 30e9), collective=None),
        replace(seen("all-reduce", 16, 30e9), ranks=None),
        replace(seen("all-reduce", 16, 30e9), rows=()),
        seen("all-reduce", 16, 0.0),
    ],
)
def test_latency_bound_measurements_change_nothing(useless: Measurement) -> None:
    assert after("dgx-h100", useless) == machine()


def test_a_slow_network_slows_every_collective_that_crosses_it_and_none_inside() -> None:
    plain, cluster = machine(), after("dgx-h100", seen("all-reduce", 16, 90e9))
    for collective in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast"):
        assert predicted(cluster, collective, 16) < 0.6 * predicted(plain, collective, 16)
        assert predicted(cluster, collective, 8) == predicted(plain, collective, 8)


def test_a_measurement_of_the_same_collective_has_precedence() -> None:
    cluster = after("dgx-h100", seen("all-reduce", 16, 90e9), seen("all-to-all", 16, 40e9))
    assert predicted(cluster, "all-to-all", 16) == pytest.approx(40e9, rel=0.01)
    assert predicted(cluster, "all-reduce", 16) == pytest.approx(90e9, rel=0.01)


def test_a_share_says_that_it_was_measured_and_narrows_the_band() -> None:
    plain, cluster = machine(), after("dgx-h100", seen("all-reduce", 16, 180e9))
    assert [type(each.share.origin) for each in cluster.measured] == [Measured]
    assert "180 GB/s of all-reduce on 16 ranks" in str(cluster.measured[0].share.origin)
    before, now = (collective_table(each, "all-reduce", 16, [8 * GIB])[0] for each in (plain, cluster))
    assert now.high / now.low < before.high / before.low


def test_an_algorithm_that_does_not_apply_is_taken_for_the_fastest() -> None:
    forced = replace(seen("all-reduce", 16, 180e9), algorithm="direct")
    assert after("dgx-h100", forced) == after("dgx-h100", seen("all-reduce", 16, 180e9))


def test_the_expected_bandwidth_does_not_depend_on_measurements() -> None:
    measurement = seen("all-reduce", 16, 90e9)
    first, second = (expected_cost(each, measurement, 8 * GIB) for each in (machine(), after("dgx-h100", measurement)))
    assert first is not None and second is not None and first.busbw == second.busbw
