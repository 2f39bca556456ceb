"""What one failure costs a job of a machine, worked out by hand.

The job takes steps of 10 s on 16 nodes of eight accelerators. A restart takes 20 min, a checkpoint of 1 min is saved
every hour, and a part is replaced after 12 h: a failure that stops the job takes 20 min and half an interval, 5/6 h.
"""

from __future__ import annotations

from math import expm1

import pytest

from clusterspec.cost.part_classes import PartClass
from clusterspec.results.faults import NONE, SLOWS, SOFTWARE, STOPS, FaultRow
from clusterspec.rules.knowledge.failing_engines import INSIDE, LOADED, Loss, engine_loss
from clusterspec.rules.knowledge.failing_parts import FailingMachine
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

STOP = 5 / 6
YEAR = 365.25 * 24


def machine(operations: str = "", spares: int = 0, step: float | None = 10.0) -> FailingMachine:
    text = f"""clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  spare_nodes: {spares}
  scale_out: {{topology: fat-tree, switch_ports: 64, planes: 2}}
  power: {{node: 10 kW}}
workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 512}}
layout: {{tp: 8, sharding: fsdp}}
operations: {{repair_time: 12 h, checkpoint_interval: 60 min, checkpoint_time: 1 min, restart_time: 20 min{operations}}}
"""
    return FailingMachine(study_text(text, SETTINGS).design, step, 8e9)


def part(lost: float = 1.0, nodes: int = 1, tier: str = "nic", *, restarts: bool = False) -> PartClass:
    return PartClass("part", 1, 1, "part", lost, tier, nodes, nodes, "why", restarts=restarts)


@each(
    ("failures", "hours", "between", "restart"),
    [
        (1.0, 1.0, 10.0, 1 / 3),
        (0.0, 0.0, 1e12, 0.0),
        (2.0, 2.0, 5.0, 1 / 3),  # twice as many failures
        (1.0, 2.0, 10.0, 2 * STOP - 1 / 2),  # as many failures, each of twice the hours
        (4.0, 40.0, 2.5, 10 * STOP - 1 / 2),
    ],
)
def test_the_goodput_of_a_year_follows_from_its_failures_and_their_hours(
    failures: float, hours: float, between: float, restart: float
) -> None:
    """Failures after 10 h of running, and 59 min of steps in each hour of it."""
    found = machine(", mean_time_between_failures: 10 h", spares=16).goodput_of_year(failures, hours)
    assert found == pytest.approx(59 / 60 / (between + restart) / expm1(1 / between), rel=1e-6)


def test_parts_that_take_from_one_tier_take_together() -> None:
    nic, leaf, tray = part(0.25), part(0.5), part(0.1, tier="scale-up")
    assert FailingMachine.cuts(nic, tray, leaf) == (("nic", 0.75), ("scale-up", 0.1))
    assert FailingMachine.cuts(part(1.0), part(0.0)) == ()


@each(
    ("step", "lost", "effect"),
    [
        (10.0, 0.5, NONE),
        (10.0 * (1 + 1e-10), 0.5, NONE),
        (10.0 * (1 + 1e-8), 0.5, SLOWS),
        (None, 0.5, SLOWS),
        (None, 0.0, NONE),
    ],
)
def test_a_step_that_is_longer_by_more_than_rounding_is_slowed(step: float | None, lost: float, effect: str) -> None:
    assert machine().bandwidth_loss_effect(step, lost) == effect


@each(
    ("away", "spares", "operations", "hours"),
    [
        (1, 0, "", 12 + STOP),  # without a spare: 12 h until the repair, the restart, and 30 min of work
        (1, 1, "", STOP),
        (2, 2, "", STOP),
        (2, 1, "", 12 + STOP),  # two nodes for one spare
        (2, 1, ", detection_time: 6 min", 12 + STOP + 0.1),
        (1, 1, ", detection_time: 6 min", STOP + 0.1),
        # a job without spares that shrinks runs without the replicas of the nodes: 1 and 4 of 16
        (1, 0, ", recovery: shrink", STOP + 12 / 16),
        (4, 0, ", recovery: shrink", STOP + 12 / 4),
        (4, 4, ", recovery: shrink", STOP),
        (16, 0, ", recovery: shrink", 12 + STOP),  # all nodes: nothing is left to run on
    ],
)
def test_a_stop_takes_the_restart_and_the_work_since_the_checkpoint(
    away: int, spares: int, operations: str, hours: float
) -> None:
    found = machine(operations, spares).hours_lost(away, away, stops=True, step=10.0, repair=12 * 3600)
    assert found == pytest.approx(hours)


@each(
    ("step", "hours"),
    [
        (10.0, 0.0),
        (10.5, 12 / 21),  # 12 h at 20/21 of the speed
        (20.0, STOP),  # 6 h of slowness are more than a restart on a spare node
        (9.0, 0.0),
    ],
)
def test_a_slowed_job_loses_its_slowness_or_restarts_elsewhere(step: float, hours: float) -> None:
    built = machine(spares=1)
    assert built.hours_lost(1, 1, stops=False, step=step, repair=12 * 3600) == pytest.approx(hours)
    assert built.hours_of_failure(part(0.5), step, 12 * 3600) == pytest.approx((0.0, hours))


def test_a_job_that_restarts_degraded_loses_both() -> None:
    """5/6 h of a stop, and 12 h at 20/21 of the speed."""
    found = machine().hours_of_failure(part(0.5, restarts=True), 10.5, 12 * 3600)
    assert found == pytest.approx((STOP, 12 / 21))
    assert machine(spares=1).hours_of_failure(part(1.0), 10.0, 12 * 3600) == pytest.approx((STOP, 0.0))


def test_without_a_step_no_hours_are_known() -> None:
    idle = machine(step=None)
    assert idle.kept is None
    assert idle.hours_lost(1, 1, stops=True, step=None, repair=1.0) is None
    assert idle.hours_of_failure(part(1.0), None, 1.0) is None
    assert idle.degraded_step(part(0.5)) is None
    assert {row.effect for row in idle.rows(None)} == {STOPS, SLOWS}
    assert {row.hours for row in idle.rows(None)} == {None}


@each(
    ("tier", "lost", "path", "factor"),
    [
        ("nic", 0.25, ("scale_out", "nic_bandwidth", "value"), 0.75),
        ("scale-up", 0.1, ("scale_up", "bandwidth", "value"), 0.9),
        ("scale-up", 0.1, ("scale_up", "peer_bandwidth", "value"), 0.9),
        ("power", 0.2, ("accelerator_cap", "value"), 0.8),
    ],
)
def test_a_degraded_design_has_the_share_that_is_left(
    tier: str, lost: float, path: tuple[str, ...], factor: float
) -> None:
    """An H100 draws at most 700 W; its own figure counts where the cluster states no limit."""
    built = machine()

    def figure(cluster: object) -> float:
        for name in path:
            cluster = getattr(cluster, name)
        assert isinstance(cluster, float)
        return cluster

    before = 700.0 if tier == "power" else figure(built.cluster)
    assert figure(built.degraded_design(tier, lost).cluster) == pytest.approx(factor * before)


def test_a_lost_uplink_tapers_its_level_alone() -> None:
    """Above a leaf the ratio grows by 1 / (1 - lost), above a pod that of the next level."""
    levels = ", levels: [{name: leaf, nodes: 4}, {name: pod, nodes: 8, oversubscription: 2}, {name: core}]"
    text = f"""clusterspec: 1
cluster: {{platform: dgx-h100, nodes: 16, scale_out: {{topology: fat-tree, switch_ports: 64{levels}}}}}
"""
    built = FailingMachine(study_text(text, SETTINGS).design, None, None)
    before = [level.oversubscription for level in built.levels]
    for tier, place in (("leaf", 0), ("pod", 1)):
        cluster = built.degraded_design(tier, 0.2).cluster
        assert cluster is not None and cluster.scale_out is not None
        after = [level.oversubscription for level in cluster.scale_out.levels]
        assert after == [ratio / 0.8 if at == place else ratio for at, ratio in enumerate(before)]


def row(name: str, failures: float | None, count: int | None = 1) -> FaultRow:
    return FaultRow(
        part=name, count=count, failures=failures, likely=None, effect=STOPS, lost=1.0, step_time=None, hours=None,
        cost=None, why="",
    )  # fmt: skip


@each(
    ("failures", "repairs"),
    [
        # means in repair of 8, 1 and 0.05: Poisson variables of these are at most 13, 3 and 0 for 95 % of the time
        (8 * 2 * 365.25, 13),
        (2 * 365.25, 3),
        (0.05 * 2 * 365.25, 0),
    ],
)
def test_parts_in_repair_are_those_of_a_poisson_variable(failures: float, repairs: int) -> None:
    rows = [row("part", failures), row("uncounted", failures, None), row("unknown", None)]
    assert machine().repairs(rows) == {"part": repairs}


def test_the_stock_covers_the_failures_of_the_lead_time() -> None:
    """36.525 days are a tenth of a year: 80 failures a year are 8 in that time, 10 are one."""
    built = machine(", stock: {lead_time: 36.525 days}")
    rows = [row("NIC", 80.0), row("node", 10.0), row(SOFTWARE, 80.0), row("rack", 80.0), row("unknown", None)]
    found = built.stock(rows, 1.0)
    assert found is not None
    assert (found.parts, found.percentile) == ({"NIC": 13, "node": 3}, 0.95)
    assert found.lead_time == pytest.approx(36.525 * 86400)
    more = built.stock(rows, 8.0)
    assert more is not None and more.parts["node"] == 13
    median = machine(", stock: {lead_time: 36.525 days, percentile: 0.5}").stock(rows, 1.0)
    assert median is not None and median.parts == {"NIC": 8, "node": 1}
    assert machine().stock(rows, 1.0) is None


def test_a_row_has_the_failures_of_a_year_their_hours_and_the_price_of_these() -> None:
    """16 nodes fail twice a year each: 32 failures of 5/6 h, of which the share counts in which the job runs; 300 an
    hour.
    """
    built = machine(", failures: {node: {afr: 2}}", spares=1)
    node = {found.part: found for found in built.rows(300.0)}["node"]
    assert (node.count, node.effect, node.lost, node.step_time) == (16, STOPS, 1.0, None)
    share, _ = built.shares_lost
    assert 0.95 < share < 1 and node.hours == pytest.approx(80 / 3 * share)
    assert (node.failures, node.each, node.cost) == pytest.approx((32.0, STOP, 8000.0 * share))
    assert {found.cost for found in built.rows(None)} == {None}


def test_without_hours_a_note_says_what_they_would_take() -> None:
    plain = " ".join(machine(step=None).notes())
    assert "Hours lost need a training job" in plain and "requests" not in plain
    served = FailingMachine(study_text(serving("tp: 2, dp: 16"), SETTINGS).design, None, None)
    text = " ".join(served.notes())
    assert "The requests that a failure loses are not computed." in text and "training job" not in text
    known = " ".join(machine().notes())
    assert "Hours lost" not in known and "requests" not in known


NO_SPARE = "No standby node can replace a failed one: the job waits 12 h for the repair."
LONG, SPARES, SAVE, FAST = "A failure takes", "Spare nodes shorten that", "Save more often", "Restart faster"
UNUSED = "nodes that do not run the job"


@each(
    ("operations", "spares", "told", "silent"),
    [
        ("", 0, [NO_SPARE], [LONG, UNUSED]),
        ("", 2, ["failures of 2 of 18 nodes that do not run the job"], [NO_SPARE]),
        ("", 1, ["failures of 1 of 17 nodes that does not run the job"], [NO_SPARE]),
        (", recovery: shrink", 0, [], [NO_SPARE]),
        # 20 min of restart and 30 min of steps are more than a fifth of 4 h
        (", mean_time_between_failures: 4 h", 16, [f"{LONG} 50 min of the job on average, after 4 h", SAVE], [SPARES]),
        (", mean_time_between_failures: 4.2 h", 16, [], [LONG]),
        (", detection_time: 20 min, mean_time_between_failures: 4 h", 16, [LONG, FAST], [SPARES, SAVE]),
        (", mean_time_between_failures: 30 h", 0, [LONG, SPARES], [SAVE, FAST]),  # 12 h of repair each 30 h
        (", mean_time_between_failures: 30 h", 16, [], [LONG]),
        (
            ", mean_time_between_failures: 55 min",
            16,
            ["Checkpoints are 1 h apart and failures 55 min", SAVE],
            [LONG],
        ),
    ],
)
def test_notes_say_what_the_rows_omit(operations: str, spares: int, told: list[str], silent: list[str]) -> None:
    notes = " ".join(machine(operations, spares).notes())
    assert [text for text in told if text not in notes] == []
    assert [text for text in silent if text in notes] == []


@each(
    ("cluster", "operations", "told"),
    [
        ("platform: dgx-h100, nodes: 4", "burn_in: 72 h", "assume that another node replaces a failed one"),
        ("platform: dgx-h100, nodes: 4, spare_nodes: 0", "burn_in: 72 h", "No standby node can replace a failed one"),
        ("platform: dgx-h100, nodes: 4", "restart_time: 9 min", "the stated `operations.restart_time` counts"),
        (
            "platform: dgx-h100, nodes: 4, spare_nodes: 0",
            "restart_time: 9 min, repair_time: 6 h",
            "No standby node can replace a failed one: the job waits 6 h for the repair",
        ),
        ("platform: aws-p5-48xlarge, nodes: 4", "burn_in: 72 h", "assume that the provider replaces a failed node"),
        ("platform: dgx-h100, nodes: 4, spare_nodes: 1", "burn_in: 72 h", ""),
    ],
)
def test_a_note_says_who_replaces_a_node_without_a_spare_one(cluster: str, operations: str, told: str) -> None:
    work = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512}\nlayout: {tp: 8}\n"
    text = f"clusterspec: 1\ncluster: {{{cluster}}}\n{work}operations: {{{operations}}}\n"
    notes = " ".join(FailingMachine(study_text(text, SETTINGS).design, 10.0, 8e9).notes())
    known = ("No standby node", "restart_time` counts", "that the provider replaces", "that another node replaces")
    assert [words for words in known if words in notes] == [words for words in known if words in told]
    assert told in notes


@each(
    ("cluster", "layout", "counts", "told"),
    [
        # six of eight accelerators of one node carry engines; the other node stands by
        (
            "nodes: 2",
            "tp: 2, dp: 3",
            (6, 1, 6),
            [
                "failures of 1 of 2 nodes and 2 of 8 other accelerators that run no engine",
                "again on 1 node without an engine",
            ],
        ),
        ("nodes: 4, spare_nodes: 0", "tp: 1, dp: 1", (1, 1, 1), ["3 of 4 nodes and 7 of 8 other", "again on 3 nodes"]),
        ("nodes: 2, spare_nodes: 0", "tp: 8, dp: 2", (16, 2, 16), ["one: its engines are out of service for 24 h."]),
        ("nodes: 2", "tp: 8, dp: 2", (16, 2, 16), ["The spec leaves open whether there are spare nodes."]),
        (
            "nodes: 1, spare_nodes: 0",
            "tp: 1, dp: 7",
            (7, 1, 7),
            ["failures of 1 of 8 accelerators that runs no engine.", "start again on 1 accelerator without an engine"],
        ),
        ("nodes: 2, spare_nodes: 1", "tp: 8, dp: 2", (16, 2, 16), ["failures of 1 of 3 nodes that runs no engine"]),
    ],
)
def test_only_what_carries_engines_is_counted_and_idle_nodes_stand_by(
    cluster: str, layout: str, counts: tuple[int, int, int], told: list[str]
) -> None:
    """Accelerators, nodes, and the accelerators for which software is counted, 0.02601 failures a year each."""
    text = serving(layout).replace("nodes: 4, scale_out", f"{cluster}, scale_out").replace("nodes: 4, tp", "tp")
    built = FailingMachine(study_text(text, SETTINGS).design, None, None)
    rows = {row.part: row for row in built.rows(None)}
    assert (rows["accelerator"].count, rows["node"].count) == counts[:2]
    software = rows["software"].failures
    assert software is not None and software == pytest.approx(counts[2] * 63 * 365.25 / 54 / 16_384)
    assert rows["accelerator"].failures == pytest.approx(counts[0] * 268 * 365.25 / 54 / 16_384)
    notes = " ".join(built.notes())
    assert [words for words in told if words not in notes] == []


def serving(layout: str, own: str = "") -> str:
    return f"""clusterspec: 1
cluster: {{platform: dgx-h100, nodes: 4, scale_out: {{topology: fat-tree, switch_ports: 64}}}}
workload: {{kind: serve, model: llama-3.1-8b, serving: {{input_tokens: 1000, output_tokens: 9, request_rate: 1{own}}}}}
layout: {{framework: vllm, nodes: 4, {layout}}}
"""


@each(
    ("layout", "name", "nodes", "whole", "loss"),
    [
        # 16 engines of two accelerators, four on a node
        ("tp: 2, dp: 16", "accelerator", 1, True, Loss(1 / 16, "1 of 16 engines stops, the others serve")),
        ("tp: 2, dp: 16", "software", 1, True, Loss(1 / 16, "1 of 16 engines stops, the others serve")),
        ("tp: 2, dp: 16", "node", 1, True, Loss(4 / 16, "4 of 16 engines stop, the others serve")),
        ("tp: 2, dp: 16", "rack", 3, True, Loss(12 / 16, "12 of 16 engines stop, the others serve")),
        ("tp: 2, dp: 16", "rack", 4, True, Loss(1.0, "16 of 16 engines stop")),
        ("tp: 2, dp: 16", "NIC", 1, True, Loss(0.0, INSIDE)),
        ("tp: 2, dp: 16", "core switch", 4, False, Loss(0.0, INSIDE)),
        ("tp: 2, dp: 16", "storage system", 4, True, Loss(0.0, LOADED)),
        # two engines of 16 accelerators on two nodes each: their traffic crosses the fabric
        ("tp: 8, pp: 2, dp: 2", "NIC", 1, True, Loss(1 / 2, "1 of 2 engines stops, the others serve")),
        ("tp: 8, pp: 2, dp: 2", "NIC", 1, False, None),
        ("tp: 8, pp: 2, dp: 2", "spine switch", 4, True, None),
        ("tp: 8, pp: 2, dp: 2", "node", 1, True, Loss(1 / 2, "1 of 2 engines stops, the others serve")),
        ("tp: 8, pp: 4, dp: 1", "accelerator", 1, True, Loss(1.0, "the only engine stops")),
    ],
)
def test_a_failure_stops_the_engines_that_it_touches(
    layout: str, name: str, nodes: int, whole: bool, loss: Loss | None
) -> None:
    design = study_text(serving(layout), SETTINGS).design
    assert engine_loss(design, name, nodes, whole=whole) == loss


def test_the_worse_kind_of_engines_counts() -> None:
    """Two prefill engines of 8 and 16 decode engines of one: an accelerator takes half of the prefill engines."""
    own = ", disaggregated: {prefill: {replicas: 2, tp: 8}, decode: {replicas: 16, tp: 1}}"
    text = serving("", own).replace("nodes: 4, }", "nodes: 4}")
    design = study_text(text, SETTINGS).design
    assert engine_loss(design, "accelerator", 1) == Loss(1 / 2, "1 of 2 engines for prefill stops, the others serve")
    assert engine_loss(design, "node", 1) == Loss(1 / 2, "8 of 16 engines for decode stop, the others serve")


def test_a_training_job_has_no_engines() -> None:
    assert engine_loss(machine().design, "node", 1) is None


@each(
    ("afr", "accelerators", "others"),
    [
        (1.0, 128.0, 365.25 - 128.0),  # a stop a day is 365.25 a year, of which the 128 accelerators take 128
        (2.0, 256.0, 365.25 - 256.0),
        (4.0, 512.0, 0.0),  # the stated rates alone are above the whole: nothing is left to share
    ],
)
def test_classes_without_a_stated_rate_share_what_is_left_of_all_failures(
    afr: float, accelerators: float, others: float
) -> None:
    built = machine(f", mean_time_between_failures: 24 h, failures: {{accelerator: {{afr: {afr}}}}}")
    stops = {part.name for part in built.classes if part.interrupts_job}
    rates = {name: rate for name, rate in built.failures().items() if name in stops}
    assert rates.pop("accelerator").yearly == pytest.approx(accelerators)
    assert sum(rate.yearly for rate in rates.values()) == pytest.approx(others, abs=1e-9)
