from __future__ import annotations

from itertools import pairwise
from math import inf

import pytest

from clusterspec.analysis.levers.boundaries import solve
from clusterspec.analysis.levers.conditions import ConditionFault, parse
from clusterspec.analysis.levers.effects import changes_of, neighboring_lever_values, next_steps, sensitivity
from clusterspec.analysis.levers.keys import LEVERS, WORDS, lever_of
from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import design_with_keys
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.targets import missed_targets
from clusterspec.report.solve_text import solve_as_text
from clusterspec.rules.knowledge.ranges import RANGES
from clusterspec.studies import variation
from tests.analysis.jobs import DENSE, study_of
from tests.analysis.test_fleets import HOURS
from tests.analysis.test_fleets import study as fleet_study
from tests.effort import ALL_CASES, sampled, telling, thorough
from tests.spec_keys import unknown_keys

JOB = """
cluster: {platform: dgx-h100, nodes: 16, scale_out: {technology: infiniband-ndr, topology: fat-tree}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: 1T}
layout: {framework: megatron-core, tp: 2, pp: 1, micro_batch: 1, sharding: fsdp}
"""
RAILS = """
cluster:
  platform: mi300x-ubb8
  nodes: 64
  spare_nodes: 2
  scale_out: {technology: roce-v2, nic_bandwidth: 400 Gb/s, topology: rail-optimized, oversubscription: 2:1}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 1024}
layout: {framework: megatron-core, tp: 8, pp: 1, micro_batch: 1}
"""

CONDITIONS = [
    ("mfu>=0.40", "mfu", False, 0.40),
    ("mfu >= 40%", "mfu", False, 0.40),
    ("exposed<=5%", "exposed", True, 0.05),
    ("time_to_train<=30d", "time_to_train", True, 30 * 86_400.0),
    ("step_time<=500 ms", "step_time", True, 0.5),
    ("memory<=60 GB", "memory", True, 60e9),
    ("fits", "fits", False, 1.0),
]


@pytest.mark.parametrize(("text", "metric", "at_most", "limit"), CONDITIONS)
def test_a_condition_is_a_metric_and_a_limit(text: str, metric: str, at_most: bool, limit: float) -> None:
    found = parse(text)
    assert (found.metric, found.at_most) == (metric, at_most)
    assert found.limit == pytest.approx(limit)


@pytest.mark.parametrize(
    "text", ["", "mfu", "mfu=0.4", "speed>=3", "mfu>=fast", "mfu>=nan", "step_time<=5 GB", "fits>=1"]
)
def test_what_is_no_condition_is_one_clear_line(text: str) -> None:
    with pytest.raises(ConditionFault) as caught:
        parse(text)
    assert "\n" not in str(caught.value)


def test_the_least_nic_rate_meets_the_condition_and_a_little_less_does_not() -> None:
    one = study_of(JOB)
    assert one.plan.mfu is not None
    found = solve(one, "nic_bandwidth", f"mfu>={one.plan.mfu * 0.97}")
    assert found.value is not None and found.present == 50e9 and found.value < 50e9
    tried = {value: holds for value, _, holds in found.probes}
    assert tried[found.value]
    assert not any(holds for value, holds in tried.items() if value < found.value)
    assert found.catalog_step is not None and found.catalog_step >= found.value
    assert found.catalog_step * 8 / 1e9 in {25, 50, 100, 200, 400, 800, 1600}


def test_the_most_oversubscription_is_never_below_one_to_one() -> None:
    one = study_of(JOB)
    strict = solve(one, "oversubscription", "slowdown<=1%")
    loose = solve(one, "oversubscription", "slowdown<=10%")
    assert strict.value is not None and loose.value is not None
    assert 1.0 <= strict.value < loose.value
    assert loose.catalog_step is not None and loose.catalog_step <= loose.value


@thorough
def test_a_condition_that_nothing_meets_says_how_near_it_came() -> None:
    found = solve(study_of(JOB), "nic_bandwidth", "mfu>=0.99")
    assert found.value is None and found.why.startswith("not reachable: the best value is ")
    priced = JOB + "procurement: {currency: USD, as_of: 2026-11-01, budget: 5000000, prices: {node: 300000}}\n"
    found = solve(study_of(priced), "nodes", "slowdown<=-40%")
    assert found.value is None and "no value that `check` passes meets it: nodes" in found.why
    assert found.why.endswith("with the error over-budget")


@thorough
def test_a_quote_for_the_present_machine_rejects_no_other_one() -> None:
    """Twice the nodes need a second quote; an error elsewhere still rejects them."""
    quoted = JOB + (
        "procurement:\n  {currency: USD, as_of: 2026-11-01, prices: {node: 300000}, quoted_total: 4800000, quote: "
        "[{part: DGX H100, quantity: 16, unit_price: 300000, price: 4800000}]}\n"
    )
    with_quote, without = (solve(study_of(text), "nodes", "slowdown<=-40%") for text in (quoted, JOB))
    assert with_quote.value == without.value == 32
    assert all("quote-off-bill" not in rules for rules in with_quote.errors.values())


@thorough
def test_fewest_nodes_are_those_below_which_the_run_is_late() -> None:
    one = study_of(JOB)
    assert one.plan.time_to_train is not None
    found = solve(one, "nodes", f"time_to_train<={one.plan.time_to_train * 1.01} s")
    assert found.value == 16


@thorough
@pytest.mark.parametrize("metric", sampled(["mfu>=", "exposed<="], 4))
def test_the_most_nodes_are_sought_that_keep_the_efficiency(metric: str) -> None:
    """More nodes divide the same batch, so that a limit on the efficiency holds up to a number."""
    one = study_of(JOB)
    figure = parse(f"{metric}0.5").value(one.plan)
    assert figure is not None
    limit = figure * (0.999 if metric == "mfu>=" else 1.001)
    found = solve(one, "nodes", f"{metric}{limit}")
    assert found.value is not None and found.value >= 16
    assert all(holds == (nodes <= found.value) for nodes, known, holds in found.probes if known is not None)


@thorough
def test_a_longer_sequence_fits_no_better() -> None:
    found = solve(study_of(JOB), "sequence_length", "fits")
    assert found.value is not None
    by_length = sorted(found.probes)
    kept = [holds for _, _, holds in by_length]
    assert kept == sorted(kept, reverse=True)


@telling(1)
@pytest.mark.parametrize("name", ["nic_bandwidth", "oversubscription", "scale_up.bandwidth"])
def test_a_monotone_lever_never_hurts_in_its_better_direction(name: str) -> None:
    from clusterspec.cost.estimate import estimate

    lever = LEVERS[name]
    one = study_of(JOB)
    times = [estimate(design_with_keys(one.design, lever.changes(step))).step_time for step in lever.steps]
    seconds = [term.value for term in times if term is not None]
    assert len(seconds) == len(lever.steps)
    assert seconds == sorted(seconds, reverse=lever.better > 0)
    assert seconds[0] != seconds[-1]


@thorough
def test_sensitivity_ranks_the_levers_by_the_time_for_a_token() -> None:
    report = sensitivity(study_of(JOB))
    effects = [abs(row.effect or 0.0) for row in report.levers]
    assert effects == sorted(effects, reverse=True) and effects[0] > 0.05
    by_step = {(row.key, row.after): row for row in report.levers}
    slower = by_step["nic_bandwidth", 25e9]
    assert slower.effect is not None and slower.effect > 0
    assert slower.step_time is not None and report.step_time is not None
    assert slower.effect == pytest.approx(slower.step_time / report.step_time - 1)
    doubled = by_step["global_batch", 512.0]
    assert doubled.step_time is not None and doubled.effect is not None
    assert doubled.effect == pytest.approx(doubled.step_time / 2 / report.step_time - 1)


@thorough
def test_every_other_recomputation_and_sharding_is_tried() -> None:
    """The best of them need not be next to that of the design: `none` is two steps from `full`."""
    one = study_of(JOB.replace("sharding: fsdp", "recompute: full, sharding: zero1"))
    rows = {(row.key, row.after) for row in sensitivity(one).levers}
    assert {after for key, after in rows if key == "recompute"} == {"none", "selective"}
    assert {after for key, after in rows if key == "sharding"} == {"none", "zero2", "fsdp", "hsdp"}
    assert {after for key, after in rows if key == "precision"} == {"fp8"}, "fp4 is two steps from bf16"


def test_next_steps_leave_out_the_present_one() -> None:
    assert next_steps(LEVERS["nic_bandwidth"].steps, 50e9) == (25e9, 100e9)
    assert next_steps(LEVERS["oversubscription"].steps, 1.0) == (None, 1.5)


SERVED = """
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 64}}
layout: {framework: vllm, tp: 8}
"""


def served(concurrency: int) -> ServingTimes:
    times = study_of(SERVED.replace("64", str(concurrency))).plan.serving
    assert times is not None
    return times


@thorough
def test_the_most_requests_in_flight_are_found_that_keep_a_latency() -> None:
    report = solve(study_of(SERVED), "concurrency", "tpot<=30ms")
    assert report.value is not None and report.value == int(report.value)
    assert served(int(report.value)).tpot <= 0.030 < served(int(report.value * 1.01) + 1).tpot


@thorough
def test_the_fewest_requests_in_flight_are_found_that_reach_a_throughput() -> None:
    report = solve(study_of(SERVED), "concurrency", "output_tokens_per_second>=2000")
    assert report.value is not None
    assert served(int(report.value) - 2).output_tokens_per_second < 2000
    assert served(int(report.value) + 1).output_tokens_per_second >= 2000


@thorough
def test_levers_of_training_do_not_move_a_serving_plan() -> None:
    report = sensitivity(study_of(SERVED))
    assert {"concurrency", "input_tokens"} <= {row.key for row in report.levers}
    assert not {"global_batch", "recompute", "sharding", "micro_batch"} & {row.key for row in report.levers}
    more = next(row for row in report.levers if row.key == "concurrency" and row.after == 128)
    assert more.step_time == pytest.approx(served(128).tpot)
    assert more.effect is not None and more.effect > 0


@thorough
def test_the_answer_is_no_worse_than_a_present_value_that_meets_the_condition() -> None:
    """66 nodes fill more than a leaf once its ports are as fast as 800 Gb/s, so a faster NIC is slower here."""
    one = study_of(RAILS)
    assert one.plan.mfu is not None
    found = solve(one, "nic_bandwidth", f"mfu>={one.plan.mfu * 0.995}")
    assert found.present == 50e9
    assert found.value is not None and found.value <= found.present


TARGETS = SERVED.replace("concurrency: 64", "concurrency: 64, targets: {tpot: 30 ms, ttft: 400 ms, percentile: 90}")


@thorough
def test_targets_are_met_up_to_a_load() -> None:
    report = solve(study_of(TARGETS), "concurrency", "targets")
    assert report.value is not None and not report.free

    def meets(concurrency: int) -> bool:
        one = study_of(TARGETS.replace("concurrency: 64", f"concurrency: {concurrency}"))
        assert one.plan.serving is not None and one.design.workload is not None
        assert one.design.workload.serving is not None
        return not missed_targets(one.plan.serving, one.design.workload.serving)

    assert meets(int(report.value)) and not meets(int(report.value * 1.02) + 1)


@thorough
def test_the_best_plan_of_serving_meets_a_condition_at_no_less_load() -> None:
    one = study_of(SERVED)
    fixed, best = (solve(one, "concurrency", "tpot<=30ms", best_layout=each) for each in (False, True))
    assert fixed.value is not None and best.value is not None and best.estimate is not None
    assert best.value >= fixed.value * (1 - 1e-3)
    assert best.searched and (best.layout or best.disaggregated)
    assert best.estimate["serving"]["tpot"] <= 0.030


def test_every_key_that_is_named_is_a_key_of_the_spec() -> None:
    assert unknown_keys("analysis") == []


def test_every_step_of_a_lever_is_a_usual_value_of_its_key() -> None:
    for lever in LEVERS.values():
        usual = RANGES.get(".".join(map(str, lever.path)))
        assert usual is None or usual.low <= lever.steps[0] < lever.steps[-1] <= usual.high, lever.name


def test_the_steps_of_a_count_are_powers_of_two_and_those_of_all_levers_ascend() -> None:
    for lever in LEVERS.values():
        assert list(lever.steps) == sorted({*lever.steps}), lever.name
    counted = {name: LEVERS[name].steps for name in ("nodes", "global_batch", "sequence_length", "concurrency")}
    for name, steps in [*counted.items(), ("micro_batch", WORDS["micro_batch"][1])]:
        assert all(after == 2 * before for before, after in pairwise(map(float, map(str, steps)))), name


def test_a_lever_of_words_has_the_value_that_the_design_has_and_words_that_the_reader_takes() -> None:
    text = DENSE.replace("tp: 2", "tp: 2, micro_batch: 2, recompute: full, overlap: {tp: partial, dp: true}")
    one = study_of(text.replace("global_batch: 32", "global_batch: 32, precision: fp8"))
    present = {name: value(one.design) for name, (_, _, value) in WORDS.items()}
    assert present["micro_batch"] == 2 and present["precision"] == "fp8" and present["overlap.dp"] is True
    for name, (path, values, value) in WORDS.items():
        for each in values:
            assert value(variation.varied_study(one, {path: each}).design) == each, name
        assert value(Design(one.spec)) is None


def test_a_spec_without_a_layout_is_told_so_or_gets_the_best_one() -> None:
    text = DENSE[: DENSE.index("layout:")]
    missing = solve(study_of(text), "nodes", "step_time<=5s")
    assert missing.value is None and missing.why.startswith("the spec has no `layout`")
    found = solve(study_of(text), "nodes", "step_time<=5s", best_layout=True)
    assert found.value is not None and found.layout


@thorough
def test_a_rate_at_which_the_queue_grows_meets_no_targets() -> None:
    text = SERVED.replace("concurrency: 64", "request_rate: 4000, targets: {ttft: 1000 s}")
    report = solve(study_of(text), "request_rate", "targets")
    assert report.value is not None and report.value < 4000


@pytest.mark.parametrize(
    ("key", "value", "path", "written"),
    [
        ("nic_bandwidth", 12.5e9, "cluster.scale_out.nic_bandwidth", "100 Gb/s"),
        ("scale_up.bandwidth", 9e11, "cluster.scale_up.bandwidth", "900 GB/s unidirectional"),
        ("storage.bandwidth", 5e9, "cluster.networks.storage.bandwidth", "5 GB/s unidirectional"),
        ("storage.slots", 32.0, "cluster.networks.storage.slots", "32"),
        ("storage.metadata_rate", 1e3, "cluster.networks.storage.metadata_rate", "1000.0"),
        ("oversubscription", 1.5, "cluster.scale_out.oversubscription", "1.5:1"),
        ("nodes", 32.0, "cluster.nodes", "32"),
        ("concurrency", 0.5, "workload.serving.concurrency", "1"),
        ("request_rate", 1 / 3, "workload.serving.request_rate", "0.333333"),
        ("input_tokens", 0.5, "workload.serving.input_tokens", "1"),
        ("micro_batch", 4, "layout.micro_batch", "4"),
    ],
)
def test_a_lever_is_written_as_a_spec_states_it(key: str, value: float, path: str, written: str) -> None:
    made = changes_of(study_of(RAILS).design, key, value)[tuple(path.split("."))]
    one = made[0] if isinstance(made, tuple) else made
    assert str(getattr(one, "written", one)) == written


@pytest.mark.parametrize(
    ("key", "value"), [("speed", 1.0), ("nodes", True), ("nodes", 0.0), ("nodes", inf), ("nodes", "4")]
)
def test_a_value_that_no_lever_has_is_refused(key: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"cannot vary|does not take"):
        changes_of(study_of(RAILS).design, key, value)


def test_more_nodes_than_a_job_uses_grow_the_cluster_only_beyond_it() -> None:
    design = study_of(JOB.replace("{framework", "{nodes: 8, framework").replace("256, tokens", "128, tokens")).design
    lever = lever_of("nodes", design)
    assert lever.value(design) == 8
    own, cluster = ("layout", "nodes"), ("cluster", "nodes")
    for nodes in (4.0, 16.0, 32.0):
        changes = lever.changes(nodes)
        assert changes[own] == nodes and changes[("layout", "dp")] is None
        assert changes.get(cluster) == (32 if nodes == 32 else None)
        assert (("cluster", "accelerators") in changes) is (nodes == 32)
        assert ("cluster", "spare_nodes") not in changes
    whole = lever_of("nodes", study_of(JOB).design)
    assert whole.changes(32)[cluster] == 32 and whole.changes(32)[own] is None


AROUND = {
    "nic_bandwidth": (12.5e9, 25e9, 50e9, 100e9, 200e9),
    "oversubscription": (1.0, 1.5, 2.0, 3.0, 4.0),
    "nodes": (16.0, 32.0, 64.0, 128.0, 256.0),
    "global_batch": (256.0, 512.0, 1024.0, 2048.0, 4096.0),
    "sequence_length": (2048.0, 4096.0, 8192.0, 16384.0, 32768.0),
}


def test_values_around_a_design_are_the_next_that_are_sold() -> None:
    found = neighboring_lever_values(study_of(RAILS), 2)
    assert {name: found[name] for name in AROUND} == AROUND
    assert not {"concurrency", "storage.bandwidth"} & {*found}, "what the design does not have"
    racks = "cluster: {platform: gb200-nvl72, nodes: 36}\n" + JOB[JOB.index("workload") :]
    assert neighboring_lever_values(study_of(racks), 1)["nodes"] == (18, 36, 72), "nodes of whole domains"


@thorough
def test_each_lever_moves_one_step_each_way() -> None:
    one = study_of(JOB.replace("micro_batch: 1", "micro_batch: 2, recompute: selective"))
    moves: dict[str, set[object]] = {}
    for row in sensitivity(one).levers:
        moves.setdefault(row.key, set()).add(row.after)
        assert row.before not in moves[row.key]
    words = {"recompute": {"none", "full"}, "micro_batch": {1, 4}, "overlap.tp": {"none", "full"}, "precision": {"fp8"}}
    numbers = {"nodes": {8, 32}, "nic_bandwidth": {25e9, 100e9}, "oversubscription": {1.5}, "global_batch": {128, 512}}
    wanted = words | {"overlap.dp": {False}} | numbers
    assert {name: moves[name] for name in wanted} == wanted


def test_a_condition_on_a_fleet_counts_the_other_pools_and_the_pauses_of_a_job() -> None:
    """Sixteen nodes of the other pool leave six and a half of 22.5; a job with half of the term takes twice as long."""
    whole = fleet_study()
    assert whole.fleet is not None
    pool, job = whole.fleet.pools["serve"], whole.fleet.jobs["b"]
    bought = solve(pool, "nodes", f"fleet_cost<={22.5 * 100 * HOURS}", whole=whole)
    assert (bought.value, bought.present) == (6, 4)
    assert {nodes: cost for nodes, cost, _ in bought.probes}[8] == 24 * 100 * HOURS
    assert job.plan.time_to_train is not None
    for spare, nodes in ((1.01, 4), (0.99, 8)):
        found = solve(job, "nodes", f"elapsed<={2 * job.plan.time_to_train * spare} s", whole=whole)
        assert found.value == nodes
    alone = fleet_study("clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 4}\n")
    for one, fleet in ((pool, None), (alone, whole), (alone, None)):
        with pytest.raises(ConditionFault, match="counts all pools of a fleet"):
            solve(one, "nodes", "fleet_cost<=1", whole=fleet)


@telling(1)
@pytest.mark.parametrize(
    ("text", "key", "condition"),
    [
        (DENSE, "nodes", "targets"),
        (DENSE, "nodes", "tpot<=30ms"),
        (DENSE, "nodes", "time_to_train<=30d"),  # of no stated number of tokens
        (SERVED, "input_tokens", "mfu>=40%"),
    ],
)
def test_a_metric_that_the_plan_lacks_is_named(text: str, key: str, condition: str) -> None:
    found = solve(study_of(text), key, condition)
    metric = parse(condition).metric
    assert (found.value, found.why) == (None, f"the plan of the spec has no `{metric}`")


STORED = JOB.replace("topology: fat-tree}}", "topology: fat-tree}, networks: {storage: {STORE}}}")
BEHIND = ": `cluster.networks.storage.per_client` limits the "


@telling(2)
@pytest.mark.parametrize(
    ("store", "lever", "condition", "told"),
    [
        # 16 nodes of 0.5 GB/s
        (
            "per_client: 0.5 GB/s",
            "bandwidth",
            "stall<=0.01%",
            f"16 clients of 500 MB/s reach 8 GB/s{BEHIND}checkpoints",
        ),
        ("per_client: 0.5 GB/s", "bandwidth", "restore<=1s", f"reach 8 GB/s{BEHIND}reads after a failure"),
        ("read: 5 GB/s, per_client: 0.5 GB/s", "read", "restore<=1s", f"reach 8 GB/s{BEHIND}reads after a failure"),
        (
            "slots: 8, per_client: 0.5 GB/s",
            "bandwidth",
            "stall<=0.01%",
            "8 clients of 500 MB/s reach 4 GB/s: `slots` and",
        ),
        # the rate of reads sets those after a failure, and that of writes the checkpoints
        ("read: 5 GB/s, per_client: 0.5 GB/s", "bandwidth", "restore<=1s", ""),
        ("read: 5 GB/s, per_client: 0.5 GB/s", "read", "stall<=0.01%", ""),
        # a client reaches all of it
        ("read: 5 GB/s", "bandwidth", "restore<=1s", ""),
        ("per_client: 0.5 GB/s", "slots", "restore<=1s", ""),
    ],
)
def test_clients_are_named_where_they_limit_what_the_lever_moves(
    store: str, lever: str, condition: str, told: str
) -> None:
    text = STORED.replace("STORE", f"bandwidth: 5 GB/s, {store}").replace("tokens: 1T}", "tokens: 1T}\nOPS")
    found = solve(
        study_of(text.replace("OPS", "operations: {checkpoint_interval: 1 h}")), f"storage.{lever}", condition
    )
    assert found.value is None and (told in found.why if told else "clients" not in found.why), found.why


def store_and_checkpoints(store: str, saving: str) -> str:
    return f"{STORED.replace('STORE', f'bandwidth: 40 GB/s{store}')}operations: {{{saving}}}\n"


UNMOVED = [  # the storage system, checkpoints, the key, the condition, and why no value of the key meets it
    # 60 s of every 30 min are 3.33 % at any bandwidth; 14 bytes of 8.03e9 parameters take 2.81 s at 40 GB/s
    ("", "checkpoint_interval: 30 min, checkpoint_time: 60 s", "bandwidth", "stall<=1%",
     "no value of `storage.bandwidth` changes the 3.33 %: it is set by `operations.checkpoint_time` of 60 s; "
     "without it, a checkpoint takes 2.81 s at the stated bandwidth"),
    (", per_client: 5 GB/s", "checkpoint: {interval: 30 min, pause: 60 s, mode: asynchronous}", "per_client",
     "stall<=1%",
     "no value of `storage.per_client` changes the 3.33 %: it is set by `operations.checkpoint.pause` of 60 s"),
    (", read: 80 GB/s", "checkpoint_interval: 30 min", "bandwidth", "restore<=1 ms",
     "it is set by `cluster.networks.storage.read` of 80 GB/s"),
    # a failure also reads a checkpoint, which the bandwidth moves
    ("", "checkpoint_interval: 30 min, checkpoint_time: 60 s", "bandwidth", "goodput>=99.9%",
     "; no value of `storage.bandwidth` changes `operations.checkpoint_time` of 60 s"),
]  # fmt: skip


@telling(2)
@pytest.mark.parametrize(("store", "saving", "key", "condition", "why"), UNMOVED)
def test_a_key_that_cannot_move_a_measure_names_the_one_that_sets_it(
    store: str, saving: str, key: str, condition: str, why: str
) -> None:
    found = solve(study_of(store_and_checkpoints(store, saving)), f"storage.{key}", condition)
    assert found.value is None and why in found.why, found.why


POD = """cluster: {accelerator: tpu-v5p, nodes: 16, accelerators_per_node: 4, networks: {storage: {bandwidth: 40 GB/s}}}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 256}
layout: {framework: maxtext, sharding: fsdp}
"""
STILL = "no value of `nic_bandwidth` changes the "


@pytest.mark.parametrize(
    ("text", "key", "condition", "unmoved"),
    [
        (POD, "nic_bandwidth", "mfu>=0.01", True),  # all collectives run on the torus
        (
            POD.replace("tpu-v5p", "h100-sxm-80gb").replace("maxtext", "megatron-core"),
            "nic_bandwidth",
            "mfu>=0.01",
            False,
        ),
    ],
)
def test_a_key_that_meets_a_condition_at_every_value_says_whether_it_moves_the_measure(
    text: str, key: str, condition: str, unmoved: bool
) -> None:
    found = solve(study_of(text), key, condition)
    assert found.value is not None and found.free
    assert found.why.startswith(STILL) is unmoved and bool(found.why) is unmoved
    assert ("No value of `nic_bandwidth` changes" in " ".join(solve_as_text(found).split())) is unmoved


@thorough
def test_a_checkpoint_that_no_key_states_moves_with_the_bandwidth() -> None:
    """112 GB within 1 % of 30 min, 18 s, are 6.25 GB/s; no other key sets that time."""
    one = study_of(store_and_checkpoints("", "checkpoint_interval: 30 min"))
    found = solve(one, "storage.bandwidth", "stall<=1%")
    assert found.value == pytest.approx(6.25e9, rel=0.02)
    assert "is set by" not in solve(one, "storage.bandwidth", "stall<=0.0001%").why


PART = """
cluster:
  accelerator: mi300x
  accelerators_per_node: 8
  nodes: 12
  scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, topology: fat-tree}
  power: {node_idle: 2 kW, node: 11 kW}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256, tokens: 200B}
layout: {framework: megatron-core, tp: 8, nodes: 8, offload: {optimizer: 1}}
"""


def power_of(nodes: int, used: int) -> float:
    """Watts of a machine of so many nodes, and a job on some of them."""
    text = PART.replace("nodes: 12", f"nodes: {nodes}").replace("nodes: 8,", f"nodes: {used},")
    found = parse("power<=1 W", None).value(study_of(text).plan)
    assert found is not None
    return found


@thorough
def test_nodes_of_a_job_on_a_part_of_its_cluster_are_those_of_the_job() -> None:
    """Up to twelve of the twelve of the machine; beyond, the machine has as many as the job."""
    found = solve(study_of(PART), "nodes", "power<=1 MW")
    values = {value: metric for value, metric, _ in found.probes if metric is not None}
    assert min(values) <= 8 and max(values) > 12
    for used, watts in values.items():
        assert watts == pytest.approx(power_of(max(12, int(used)), int(used)), rel=1e-6), used
    text = solve_as_text(found)
    assert " of the job (the design has 8 of 12 nodes for it)" in " ".join(text.split())
    assert "above that, the cluster grows with the job" in " ".join(text.split())
    assert found.to_json()["path"] == "layout.nodes"


def test_nodes_of_the_cluster_are_varied_alone_where_a_job_uses_a_part_of_them() -> None:
    found = solve(study_of(PART), "cluster.nodes", "power<=1 MW")
    values = {value: metric for value, metric, _ in found.probes if metric is not None}
    assert len(values) > 3 and max(values) > 12
    for nodes, watts in values.items():
        assert watts == pytest.approx(power_of(int(nodes), 8), rel=1e-6), nodes
    assert "of the cluster, whatever the job uses (the design has 12 nodes)" in " ".join(solve_as_text(found).split())
    assert found.to_json()["path"] == "cluster.nodes"
    if ALL_CASES:
        whole = study_of(PART.replace("nodes: 8, ", ""))
        same = [solve(whole, key, "power<=1 MW") for key in ("nodes", "cluster.nodes")]
        assert same[0].probes == same[1].probes and same[0].to_json()["path"] is None


@thorough
@pytest.mark.parametrize(
    ("load", "key", "other", "words"),
    [
        (
            "request_rate: 4",
            "concurrency",
            "open",
            "a constant number of requests in flight, which replaces its request rate.",
        ),
        (
            "concurrency: 64",
            "request_rate",
            "closed",
            "a rate at which requests arrive, which replaces its concurrency.",
        ),
        ("load: offline", "concurrency", "offline", "which replaces its offline load."),
        ("concurrency: 64", "concurrency", "", ""),
        ("request_rate: 4", "request_rate", "", ""),
        ("concurrency: 64", "input_tokens", "", ""),
    ],
)
def test_values_of_another_kind_of_load_are_said_to_be_that(load: str, key: str, other: str, words: str) -> None:
    text = SERVED.replace("concurrency: 64", f"{load}, targets: {{tpot: 100 ms}}")
    found = solve(study_of(text), key, "targets")
    assert (found.other_load, found.to_json()["other_load"]) == (other, other or None)
    shown = " ".join(solve_as_text(found).split())
    assert ("The values are " in shown) is bool(words) and words in shown
