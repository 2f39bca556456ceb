"""Laws of interruptions: which figure counts, and what it costs a run, in hand-worked seconds."""

from __future__ import annotations

from math import sqrt

import pytest

from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Cluster
from clusterspec.cost.failures import (
    Interruptions,
    interruptions,
    part_failure_rates,
    part_rate,
    published_rate,
    published_time_between_failures,
    stated_rate,
    stated_time_between_failures,
    time_between_failures,
)
from clusterspec.quantity import YEAR, Quantity
from clusterspec.source import Assumed, Written
from clusterspec.spec.model import FailureRateSpec, FailuresSpec, OperationsSpec
from tests.cluster.resolving import clean

WORK = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512}\nlayout: {tp: 1}\n"
DAY = 86_400
CATALOG = Catalog.open()
ALONE = 54 * DAY * 16_384 / 419
"""Seconds of one accelerator between interruptions in the Llama 3 run."""


def found(
    operations: str = "", networks: str = "", *, spares: int = 0, parameters: float | None = None, step: float = 5.0
) -> Interruptions:
    """The interruptions of a job on 64 DGX H100, 512 accelerators."""
    text = f"cluster: {{platform: dgx-h100, nodes: 64, spare_nodes: {spares}{networks}}}\n{WORK}"
    design = clean(text + (f"operations: {{{operations}}}\n" if operations else ""))
    assert design.cluster is not None and design.layout is not None and design.spec.cluster is not None
    of_spec = design.spec
    assert of_spec.cluster is not None
    return interruptions(
        design.cluster,
        design.layout,
        of_spec.operations,
        of_spec.cluster.networks,
        parameters,
        step=step,
        catalog=CATALOG,
    )


def test_a_run_without_figures_has_those_of_published_fleets() -> None:
    """54 days × 16,384 / 419 are 50,700 hours of one accelerator, 99 hours of 512."""
    run = found()
    assert pytest.approx(50_700 * 3600, rel=1e-3) == ALONE
    assert run.between.value == pytest.approx(ALONE / 512)
    assert run.between.value / 3600 == pytest.approx(98.98, rel=1e-3)
    assert (run.checkpoint.value, run.restart.value) == (60, 600)
    assert run.interval.value == pytest.approx(sqrt(2 * ALONE / 512 * 60))
    for figure in (run.between, run.checkpoint, run.restart):
        assert isinstance(figure.origin, Assumed)


def test_the_range_is_that_of_two_research_clusters() -> None:
    """6.50 and 2.34 failures in 1,000 node-days of 8 accelerators: 64 nodes fail every 2.40 and every 6.68 days."""
    run = found()
    for share, days in ((run.low, 1000 / 6.50 / 64), (run.high, 1000 / 2.34 / 64)):
        between, interval = days * DAY, run.interval.value
        assert share == pytest.approx(1 - 60 / interval - interval / (2 * between) - 600 / between, rel=1e-5)
    assert run.low < run.share < run.high


@pytest.mark.parametrize(
    ("operations", "seconds", "key"),
    [
        ("mean_time_between_failures: 10 h", 36_000, "mean_time_between_failures"),
        ("node_mtbf: 6400 h", 360_000, "node_mtbf"),  # 64 nodes
        ("node_mtbf: 6400 h, mean_time_between_failures: 10 h", 36_000, "mean_time_between_failures"),
    ],
)
def test_a_stated_rate_of_the_job_precedes_that_of_a_node_and_leaves_no_range(
    operations: str, seconds: float, key: str
) -> None:
    run = found(operations)
    assert run.between.value == pytest.approx(seconds)
    assert run.between.origin == Written(f"operations.{key}")
    assert run.low == run.share == run.high


def test_a_rate_per_node_needs_the_number_of_nodes() -> None:
    operations = clean(
        f"cluster: {{platform: dgx-h100, nodes: 2}}\noperations: {{node_mtbf: 100 h}}\n{WORK}"
    ).spec.operations
    assert operations is not None
    for nodes, seconds in ((None, None), (0, None), (1, 360_000.0), (2, 180_000.0)):
        between = stated_time_between_failures(operations, nodes)
        assert (between.value if between else None) == seconds
    assert stated_time_between_failures(OperationsSpec(), 2) is None


@pytest.mark.parametrize(
    ("operations", "store", "parameters", "seconds"),
    [
        ("", "", 1e9, 60),
        ("", "100 GB/s unidirectional", None, 60),
        ("", "100 GB/s unidirectional", 70e9, 9.8),  # 14 bytes a weight: 980 GB
        ("checkpoint_time: 2 min", "100 GB/s unidirectional", 70e9, 120),
        ("checkpoint_time: 2 min", "", None, 120),
        ("checkpoint_time: 0 s", "", None, 0),
        ("checkpoint_time: 0 s", "100 GB/s unidirectional", 70e9, 0),
    ],
)
def test_a_checkpoint_takes_the_stated_time_else_that_of_the_store(
    operations: str, store: str, parameters: float | None, seconds: float
) -> None:
    networks = f", networks: {{storage: {{bandwidth: {store}}}}}" if store else ""
    run = found(operations, networks, parameters=parameters)
    assert run.checkpoint.value == pytest.approx(seconds)
    assert isinstance(run.checkpoint.origin, Written) == ("checkpoint_time" in operations)


@pytest.mark.parametrize(
    ("operations", "spares", "seconds", "key"),
    [
        ("repair_time: 2 h", 0, 7200, "repair_time"),  # the job waits for the repair
        ("repair_time: 2 h", 1, 600, ""),
        ("repair_time: 601 s", 0, 601, "repair_time"),
        ("repair_time: 600 s", 0, 600, ""),
        ("repair_time: 5 min", 0, 600, ""),
        ("repair_time: 2 h, restart_time: 5 min", 0, 300, "restart_time"),
        ("restart_time: 5 min", 1, 300, "restart_time"),
        ("repair_time: 2 h, restart_time: 0 s", 0, 0, "restart_time"),
        ("detection_time: 2 min", 1, 600 + 120, ""),
        ("detection_time: 2 min, restart_time: 5 min", 1, 300 + 120, ""),
        ("detection_time: 2 min, repair_time: 2 h", 0, 7200 + 120, ""),
        ("recovery: shrink, repair_time: 64 h", 0, 600 + 3600, ""),  # a 64th of the machine is away for 64 hours
        ("recovery: shrink, repair_time: 64 h", 1, 600, ""),
    ],
)
def test_a_restart_waits_for_the_repair_only_without_a_spare_node(
    operations: str, spares: int, seconds: float, key: str
) -> None:
    run = found(operations, spares=spares)
    assert run.restart.value == seconds
    assert isinstance(run.restart.origin, Written) == bool(key)
    assert not key or run.restart.origin == Written(f"operations.{key}")


def test_nodes_without_ranks_take_over_like_spares() -> None:
    """Two trays of each rack of 18 run no ranks: the job does not wait two hours for a repair."""
    racks = "cluster: {platform: gb200-nvl72, nodes: 36}\n"
    for nodes, seconds in ((16, 120.0), (18, 7200.0)):
        work = WORK.replace("tp: 1", f"tp: 1, nodes_per_domain: {nodes}")
        design = clean(f"{racks}{work}operations: {{repair_time: 2 h, recovery: hot-spare}}\n")
        assert design.cluster is not None and design.layout is not None
        run = interruptions(
            design.cluster, design.layout, design.spec.operations, None, None, step=5.0, catalog=CATALOG
        )
        assert run.restart.value == seconds, nodes


def test_an_assumed_restart_reads_the_checkpoint_and_a_stated_one_includes_it() -> None:
    """512 ranks read 2 bytes of each of 1e9 weights, and 12 once: 1.036 TB at 1 GB/s."""
    store = ", networks: {storage: {bandwidth: 1 GB/s unidirectional}}"
    for operations, spares, seconds in (("", 1, 600 + 1036), ("recovery: hot-spare", 1, 120 + 1036), ("", 0, 1636)):
        assert found(operations, store, spares=spares, parameters=1e9).restart.value == pytest.approx(seconds)
    assert found("restart_time: 5 min", store, spares=1, parameters=1e9).restart.value == 300


def test_a_stated_interval_precedes_the_best_one() -> None:
    """Every hour, failures every 20 hours: 1 - 36/3600 - 3600/144000 - 720/72000 = 0.955."""
    operations = (
        "mean_time_between_failures: 20 h, checkpoint_interval: 1 h, checkpoint_time: 36 s, restart_time: 12 min"
    )
    run = found(operations)
    assert (run.interval.value, run.interval.origin) == (3600, Written("operations.checkpoint_interval"))
    assert run.share == pytest.approx(0.955)
    assert dict(run.figures) == {
        "interval": run.interval,
        "between": run.between,
        "checkpoint": run.checkpoint,
        "restart": run.restart,
    }


@pytest.mark.parametrize(("checkpoint", "interval"), [("0 s", 5.0), ("1 us", 5.0), ("2 s", 1200.0)])
def test_training_saves_at_most_once_per_step(checkpoint: str, interval: float) -> None:
    """Failures every 100 hours, steps of 5 s: sqrt(2 * 360000 * 2) = 1200 s, and sqrt(2 * 360000 * 1e-6) = 0.85 s."""
    run = found(f"mean_time_between_failures: 100 h, checkpoint_time: {checkpoint}, restart_time: 0 s")
    assert run.interval.value == pytest.approx(interval)
    assert run.share == pytest.approx(1 - run.checkpoint.value / interval - interval / 720_000)


def test_goodput_is_zero_if_failures_come_faster_than_restarts() -> None:
    assert found("mean_time_between_failures: 9 min").share == 0


def cluster_of(nodes: int, platform: str = "dgx-h100") -> Cluster:
    cluster = clean(f"cluster: {{platform: {platform}, nodes: {nodes}}}\n{WORK}").cluster
    assert cluster is not None
    return cluster


CAUSES = {"accelerator": 268, "nic": 7, "node": 46, "network": 35, "software": 63}
"""The 419 interruptions in 54 days of the Llama 3 run by cause (arXiv:2407.21783, table 5)."""


def test_the_rates_of_the_catalog_give_the_interruptions_of_the_run_that_they_are_from() -> None:
    """2,048 nodes of eight accelerators with a NIC each: 419 failures in 54 days, each cause as counted."""
    yearly = {rate.part: rate.yearly for rate in part_failure_rates(None, cluster_of(2048), 2048, CATALOG)}
    assert yearly == pytest.approx({cause: number * 365.25 / 54 for cause, number in CAUSES.items()})


def test_links_and_switches_of_another_fleet_give_the_network_failures_of_that_run() -> None:
    """Llama 3's fabric: 1,024 leaves of 16, a link to leaf and to spine each, and a seventh as many to cores.

    Rates of Alibaba's links and leaves against 35 interruptions in 54 days: the two fleets agree within a third.
    """
    optic, cable, switch = (published_rate(part, CATALOG) for part in ("optic", "cable", "switch"))
    assert optic is not None and cable is not None and switch is not None
    links, switches = 16_384 * (2 + 1 / 7), 1024 + 512
    counted = links * (2 * optic.yearly + cable.yearly) + switches * switch.yearly
    assert counted == pytest.approx(35 * 365.25 / 54, rel=1 / 3)


def test_a_stated_rate_replaces_that_of_the_catalog() -> None:
    """Eight nodes with one failure in two years each fail 4 times a year; the other causes at the catalog's rate."""
    cluster = cluster_of(8)
    published, (low, high) = published_time_between_failures(cluster, 8, CATALOG)
    assert low < published.value < high
    for stated in ("node", "accelerator", "software", "nic"):
        written = OperationsSpec(failures=FailuresSpec(**{stated: FailureRateSpec(afr=0.5)}))
        count = 8 if stated == "node" else 64
        own = published_rate(stated, CATALOG)
        assert own is not None
        found, ends = time_between_failures(written, cluster, 8, CATALOG)
        middle, most, least = (
            YEAR / each + count * (0.5 - replaced)
            for each, replaced in ((published.value, own.yearly), (low, own.high), (high, own.low))
        )
        assert (found.value, *ends) == pytest.approx((YEAR / middle, YEAR / most, YEAR / least))
    assert time_between_failures(OperationsSpec(), cluster, 8, CATALOG) == (published, (low, high))


def test_a_rate_is_read_by_time_or_by_year_with_its_range() -> None:
    by_year = stated_rate("optic", FailureRateSpec(afr=2.0, range=(3.0, 1.0)))
    assert by_year is not None and (by_year.yearly, by_year.low, by_year.high) == (2.0, 1.0, 3.0)
    by_time = stated_rate("optic", FailureRateSpec(mtbf=Quantity(YEAR / 4, "s", "3 months")))
    assert by_time is not None and (by_time.yearly, by_time.low, by_time.high) == (4.0, 4.0, 4.0)
    assert stated_rate("optic", FailureRateSpec()) is None and stated_rate("optic", None) is None
    both = FailuresSpec(switch=FailureRateSpec(afr=0.5), leaf=FailureRateSpec(afr=0.25))
    yearly = {level: part_rate(level, both, CATALOG) for level in ("leaf", "spine")}
    assert {level: rate.yearly for level, rate in yearly.items() if rate} == {"leaf": 0.25, "spine": 0.5}
    assert part_rate("domain", None, CATALOG) is None
    store = part_rate("store", FailuresSpec(store=FailureRateSpec(afr=1.0)), CATALOG)
    assert store is not None and store.repair is not None and store.repair.value == 5 * 3600


def test_a_job_inside_one_domain_does_not_fail_with_the_network() -> None:
    inside = {rate.part for rate in part_failure_rates(None, cluster_of(18, "gb200-nvl72"), 18, CATALOG)}
    assert inside == {"accelerator", "node", "software"}
