"""Laws of interruptions: which figure counts, and what it costs a run, in hand-worked seconds."""

from __future__ import annotations

import random
from math import exp, sqrt

import pytest

from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Cluster
from clusterspec.cost.class_rates import MachineFailures
from clusterspec.cost.failures import (
    part_rate,
    published_failures,
    published_rate,
    published_time_between_failures,
    stated_rate,
    stated_time_between_failures,
)
from clusterspec.cost.formulas.failures import availability, goodput
from clusterspec.cost.interruptions import Interruptions, job_interruptions
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
    return job_interruptions(design, parameters, step=step)


def kept(interval: float, between: float, checkpoint: float, restart: float) -> float:
    """The share of the time on steps that are kept: an interval passes with the probability p = exp(-τ / M); it takes
    1 / p - 1 failed attempts in the mean, M of running for each, and a restart each.
    """
    failed = 1 / exp(-interval / between) - 1
    return (interval - checkpoint) / (failed * (between + restart))


EACH = 365.25 / 54 / 16_384
"""Failures in a year and accelerator of a cause with one interruption in the Llama 3 run."""
OF_JOB = 512 * (268 + 7 + 46 + 63) * EACH + 512 * (0.0001 + 2 * 0.0034)
"""Failures of a year of 512 accelerators that take one node or none: links of NICs in addition to the causes of that
run.
"""
SOFTWARE = 512 * 63 * EACH
LEAF = 0.0061
"""Failures of a year of one leaf of four nodes: 64 nodes have 16 leaves, and a 17th, of four spares, stops no job."""


def test_a_run_without_figures_has_those_of_published_fleets() -> None:
    """54 days × 16,384 / 419 are 50,700 hours of one accelerator, 99 hours of 512; the links and leaves of the job fail
    half as often as the network of that run, whose fabric had three levels: 103.4 hours.
    """
    run = found(spares=4)
    between = YEAR / (OF_JOB + 16 * LEAF)
    assert pytest.approx(50_700 * 3600, rel=1e-3) == ALONE
    assert run.between.value == pytest.approx(between)
    assert run.between.value / 3600 == pytest.approx(103.4, rel=1e-3)
    assert (run.checkpoint.value, run.restart.value) == (60, 600)
    assert run.interval.value == pytest.approx(sqrt(2 * between * 60))
    for figure in (run.between, run.checkpoint, run.restart):
        assert isinstance(figure.origin, Assumed)


def test_the_range_is_that_of_two_research_clusters() -> None:
    """6.50 and 2.34 failures in 1,000 node-days of 8 accelerators: 64 nodes fail every 2.40 and every 6.68 days, of
    which 35 of 419 failures are of the network; the links and leaves of the job have ranges of their own.
    """
    run = found(spares=4)
    for share, days, link, leaf in (
        (run.low, 1000 / 6.50 / 64, 0.001 + 2 * 0.01, 0.082),
        (run.high, 1000 / 2.34 / 64, 0.00003 + 2 * 0.0017, 0.003),
    ):
        between = YEAR / (365.25 / days * 384 / 419 + 512 * link + 16 * leaf)
        interval = run.interval.value
        assert share == pytest.approx(kept(interval, between, 60, 600), rel=1e-5)
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
        ("repair_time: 2 h", 4, 600, ""),
        ("restart_time: 5 min", 4, 300, "restart_time"),
        ("repair_time: 2 h, restart_time: 5 min", 4, 300, "restart_time"),
        ("detection_time: 2 min", 4, 600 + 120, ""),
        ("detection_time: 2 min, restart_time: 5 min", 4, 300 + 120, ""),
        ("recovery: shrink, repair_time: 64 h", 4, 600, ""),
    ],
)
def test_a_restart_is_that_on_a_spare_node_where_there_are_enough(
    operations: str, spares: int, seconds: float, key: str
) -> None:
    """Four spares replace a node, and the four nodes below a leaf."""
    run = found(operations, spares=spares)
    assert run.restart.value == pytest.approx(seconds)
    assert isinstance(run.restart.origin, Written) == bool(key)
    assert not key or run.restart.origin == Written(f"operations.{key}")


@pytest.mark.parametrize(
    ("operations", "repair", "restart"),
    [
        ("", 86_400, 600),  # nobody states a repair: a day
        ("repair_time: 2 h", 7200, 600),
        ("repair_time: 5 min", 300, 600),
        ("repair_time: 2 h, restart_time: 5 min", 7200, 300),
        ("detection_time: 2 min, repair_time: 2 h", 7200, 600 + 120),
    ],
)
def test_without_a_spare_node_every_failed_part_is_waited_for_and_software_restarts(
    operations: str, repair: float, restart: float
) -> None:
    """The mean over the failures of a year, of which software has 13.3 of 84.8. After a repair the job restarts."""
    run, whole = found(operations), OF_JOB + 16 * LEAF
    assert run.restart.value == pytest.approx(restart + (whole - SOFTWARE) * repair / whole)
    assert run.waits == pytest.approx(1 - SOFTWARE / whole)
    assert run.share == pytest.approx(kept(run.interval.value, YEAR / whole, 60, run.restart.value))
    keys = {each.origin.key for each in run.assumed if isinstance(each.origin, Assumed)}
    assert ("operations.repair_time" in keys) == ("repair_time" not in operations)
    assert ("operations.restart_time" in keys) == ("restart_time" not in operations)


def test_one_spare_replaces_a_node_and_not_the_four_nodes_below_a_leaf() -> None:
    run, whole = found("repair_time: 2 h", spares=1), OF_JOB + 16 * LEAF
    assert run.restart.value == pytest.approx(600 + 16 * LEAF * 7200 / whole)
    assert run.waits == pytest.approx(16 * LEAF / whole)


def test_a_restart_time_stated_alone_without_a_spare_counts_for_a_failed_node() -> None:
    """Whoever states it has seen the job run again; what takes four nodes waits a day all the same."""
    run, whole = found("restart_time: 5 min"), OF_JOB + 16 * LEAF
    assert run.restart.value == pytest.approx(300 + 16 * LEAF * 86_400 / whole)


def test_a_job_that_shrinks_loses_the_share_of_the_nodes_that_are_away() -> None:
    """A 64th of the machine is away for 64 h, an hour of the job; below a leaf a 16th, 4 h."""
    run, whole = found("recovery: shrink, repair_time: 64 h"), OF_JOB + 16 * LEAF
    lost = (whole - SOFTWARE - 16 * LEAF) * 3600 + 16 * LEAF * 4 * 3600
    assert run.restart.value == pytest.approx(600 + lost / whole)


def test_nodes_without_ranks_take_over_like_spares() -> None:
    """Two trays of each of two racks of 18 run no ranks: a failed node does not wait two hours for a repair. What one
    of 18 switch trays or five leaves takes, a rack or eight nodes, waits all the same.
    """
    for used in (16, 18):
        work = WORK.replace("tp: 1", f"tp: 1, nodes_per_domain: {used}")
        operations = "operations: {repair_time: 2 h, recovery: hot-spare}\n"
        run = job_interruptions(
            clean(f"cluster: {{platform: gb200-nvl72, nodes: 36, spare_nodes: 0}}\n{work}{operations}"), None, step=5.0
        )
        accelerators, nodes = 8 * used, 2 * used
        software, switches = accelerators * 63 * EACH, 23 * LEAF
        of_node = accelerators * ((268 + 7) * EACH + 0.0001 + 2 * 0.0034) + nodes * 8 * 46 * EACH
        waits, restart = (switches, 120) if used == 16 else (switches + of_node, 600)
        whole = software + switches + of_node
        assert run.restart.value == pytest.approx(restart + 7200 * waits / whole), used


def test_an_assumed_restart_reads_the_checkpoint_and_a_stated_one_includes_it() -> None:
    """512 ranks read 2 bytes of each of 1e9 weights, and 12 once: 1.036 TB at 1 GB/s. The store itself fails once a
    year, for 5 h.
    """
    store = ", networks: {storage: {bandwidth: 1 GB/s unidirectional}}"
    whole = OF_JOB + 16 * LEAF + 1
    for operations, seconds in (("", 600 + 1036), ("recovery: hot-spare", 120 + 1036), ("restart_time: 5 min", 300)):
        run = found(operations, store, spares=4, parameters=1e9)
        assert run.restart.value == pytest.approx(seconds + 5 * 3600 / whole)


def test_a_stated_interval_precedes_the_best_one() -> None:
    """Every hour, failures every 20 hours of running, 12 min of restart: of 3,564 s of steps in an interval, each takes
    exp(1/20) - 1 = 0.051271 failures, of 72,720 s: 0.95589.
    """
    operations = (
        "mean_time_between_failures: 20 h, checkpoint_interval: 1 h, checkpoint_time: 36 s, restart_time: 12 min"
    )
    run = found(operations, spares=4)
    assert (run.interval.value, run.interval.origin) == (3600, Written("operations.checkpoint_interval"))
    assert run.share == pytest.approx(3564 / (0.0512711 * 72_720), rel=1e-5)
    assert dict(run.figures) == {
        "interval": run.interval,
        "between": run.between,
        "checkpoint": run.checkpoint,
        "restart": run.restart,
    }


@pytest.mark.parametrize(("checkpoint", "interval"), [("0 s", 5.0), ("1 us", 5.0), ("2 s", 1200.0)])
def test_training_saves_at_most_once_per_step(checkpoint: str, interval: float) -> None:
    """Failures every 100 hours, steps of 5 s: sqrt(2 * 360000 * 2) = 1200 s, and sqrt(2 * 360000 * 1e-6) = 0.85 s."""
    run = found(f"mean_time_between_failures: 100 h, checkpoint_time: {checkpoint}, restart_time: 0 s", spares=4)
    assert run.interval.value == pytest.approx(interval)
    assert run.share == pytest.approx(kept(interval, 360_000, run.checkpoint.value, 0), rel=1e-9)


def test_a_stopped_job_is_not_stopped_again() -> None:
    """Failures after 12.9 h of running that take 24.5 h: it runs 12.9 of 37.4 h. An hour of which 40 s save passes with
    the probability exp(-1 / 12.9): 0.9539 of the time that it runs. Failures counted as if it always ran leave nothing.
    """
    up = availability(12.9, 24.5)
    assert up == pytest.approx(0.34492, rel=1e-4)
    assert goodput(1.0, 12.9, 40 / 3600, 24.5) == pytest.approx(up * 0.95105, rel=1e-4)
    assert 1 - 1 / 25.8 - 24.5 / 12.9 < 0


@pytest.mark.parametrize(
    ("interval", "between", "checkpoint", "restart"),
    [(1.0, 12.9, 0.02, 24.5), (1.0, 100.0, 0.02, 0.2), (3.0, 1.0, 0.1, 0.5), (0.25, 1.0, 0.05, 5.0)],
)
def test_the_goodput_is_that_of_a_simulated_run(
    interval: float, between: float, checkpoint: float, restart: float
) -> None:
    """Exponential times to the next failure, each followed by a restart: an interval counts where it ends before it."""
    draw, time, steps, failures = random.Random(3), 0.0, 0.0, 40_000
    for _ in range(failures):
        runs = draw.expovariate(1 / between)
        time += runs + restart
        steps += runs // interval * (interval - checkpoint)
    assert goodput(interval, between, checkpoint, restart) == pytest.approx(steps / time, rel=0.02)


def test_the_parts_of_the_lost_time_and_the_goodput_are_all_of_the_time() -> None:
    """Failures after 9 min, and 10 min until training runs again: it stands still for 10 of 19 min. Checkpoints
    pause it for 60 s of each interval.
    """
    run = found("mean_time_between_failures: 9 min, checkpoint_interval: 5 min, checkpoint_time: 60 s", spares=64)
    assert run.stopped_share == pytest.approx(10 / 19)
    assert run.saving_share == pytest.approx(9 / 19 / 5)
    assert run.share == pytest.approx(kept(300, 540, 60, 600))
    assert (
        run.repeated_share > 0
        and run.share + run.stopped_share + run.saving_share + run.repeated_share == pytest.approx(1)
    )


def test_checkpoints_that_last_as_long_as_their_interval_keep_nothing() -> None:
    run = found("mean_time_between_failures: 9 h, checkpoint_interval: 5 min, checkpoint_time: 5 min", spares=64)
    assert (run.share, run.repeated_share) == (0, 0) and run.saving_share == 1 - run.stopped_share


def cluster_of(nodes: int, platform: str = "dgx-h100") -> Cluster:
    cluster = clean(f"cluster: {{platform: {platform}, nodes: {nodes}}}\n{WORK}").cluster
    assert cluster is not None
    return cluster


CAUSES = {"accelerator": 268, "nic": 7, "node": 46, "network": 35, "software": 63}
"""The 419 interruptions in 54 days of the Llama 3 run by cause (arXiv:2407.21783, table 5)."""


def test_the_rates_of_the_catalog_give_the_interruptions_of_the_run_that_they_are_from() -> None:
    """2,048 nodes of eight accelerators with a NIC each: 419 failures in 54 days, each cause as counted."""
    yearly = {rate.part: rate.yearly for rate in published_failures(cluster_of(2048), 2048, CATALOG)}
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


@pytest.mark.parametrize(("part", "count"), [("node", 8), ("accelerator", 64), ("software", 64), ("nic", 64)])
def test_a_stated_rate_replaces_that_of_the_catalog(part: str, count: int) -> None:
    """Eight nodes with one failure in two years each fail 4 times a year; the other causes at the catalog's rate."""
    text = f"cluster: {{platform: dgx-h100, nodes: 8}}\n{WORK}"
    own = published_rate(part, CATALOG)
    assert own is not None
    before, ends = MachineFailures.from_design(clean(text)).time_between
    stated = clean(f"{text}operations: {{failures: {{{part}: {{afr: 0.5}}}}}}\n")
    after, others = MachineFailures.from_design(stated).time_between
    for old, new, rate in zip(
        (before.value, *ends), (after.value, *others), (own.yearly, own.high, own.low), strict=True
    ):
        assert YEAR / new == pytest.approx(YEAR / old + count * (0.5 - rate))
    assert isinstance(after.origin, Assumed) and f"operations.failures of {part};" in after.origin.why


def test_a_job_of_parts_that_never_fail_runs_on() -> None:
    never = ", ".join(f"{part}: {{afr: 0}}" for part in ("accelerator", "node", "software"))
    run = job_interruptions(
        clean(f"cluster: {{platform: dgx-h100, nodes: 1}}\n{WORK}operations: {{failures: {{{never}}}}}\n"),
        None,
        step=5.0,
    )
    assert run.share == pytest.approx(1, abs=1e-3) and run.waits == 0


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
    inside = {rate.part for rate in published_failures(cluster_of(18, "gb200-nvl72"), 18, CATALOG)}
    assert inside == {"accelerator", "node", "software"}
    mean, least, most = published_time_between_failures(cluster_of(2048), 2048, CATALOG)
    assert least < mean < most and mean == pytest.approx(ALONE / 16_384)
