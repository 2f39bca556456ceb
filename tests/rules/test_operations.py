"""How a machine is run, fed and connected: flaws and their near misses."""

from __future__ import annotations

import pytest

from clusterspec.rules.knowledge.failures import poisson_percentile
from tests.effort import each

from .conftest import Check
from .reports import Reported, one, reported

H100 = "cluster: {platform: dgx-h100, nodes: 16}"
NETWORKS = """
cluster:
  platform: dgx-h100
  nodes: 16
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
    storage: {bandwidth: 40 GB/s, capacity: 2 PB}
    out_of_band: {nic_bandwidth: 1 Gb/s}
"""
WORK = "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}\nlayout: {tp: 8, pp: 4}\n"


def operated(keys: str, nodes: int = 16, spares: int = 0) -> str:
    burn_in = "" if "burn_in" in keys else ", burn_in: 72 h"
    return f"cluster: {{platform: dgx-h100, nodes: {nodes}, spare_nodes: {spares}}}\noperations: {{{keys}{burn_in}}}\n"


def powered(keys: str) -> str:
    return f"cluster: {{platform: dgx-h100, nodes: 16, power: {{{keys}}}}}\n"


STORED = f"{NETWORKS}{WORK}operations: {{checkpoint: {{interval: 30 min, pause: 10 s"
INTERVAL, SPARES = "operations.checkpoint_interval", "cluster.spare_nodes"
OPERATIONS: list[tuple[str, Reported]] = [
    # √(2 × 30 h × 60 s) is an hour
    (
        operated("checkpoint_interval: 3 h, checkpoint_time: 60 s, mean_time_between_failures: 30 h"),
        one("checkpoint-interval-off-optimum", INTERVAL, "note"),
    ),
    (
        # 60 s / 29 min + 14.5 min / 30 h are 4.25 %, the hour loses 3.33 %: less than one percent more
        operated("checkpoint_interval: 29 min, checkpoint_time: 60 s, mean_time_between_failures: 30 h"),
        one("checkpoint-interval-off-optimum", INTERVAL, "note"),
    ),
    (operated("checkpoint_interval: 119 min, checkpoint_time: 60 s, mean_time_between_failures: 30 h"), []),
    (operated("checkpoint_interval: 31 min, checkpoint_time: 60 s, mean_time_between_failures: 30 h"), []),
    (
        operated("checkpoint_interval: 3 h, checkpoint_time: 60 s, node_mtbf: 480 h"),
        one("checkpoint-interval-off-optimum", INTERVAL, "note"),
    ),
    (operated("checkpoint_interval: 1 h, checkpoint_time: 60 s, node_mtbf: 480 h"), []),
    (operated("checkpoint_interval: 3 h, mean_time_between_failures: 30 h"), []),
    (
        operated("checkpoint_interval: 5 min, checkpoint_time: 6 min"),
        one("checkpoint-outlasts-interval", "operations.checkpoint_time", "error"),
    ),
    (
        operated("checkpoint_interval: 5 min, checkpoint_time: 300 s"),
        one("checkpoint-outlasts-interval", "operations.checkpoint_time", "error"),
    ),
    # a tenth of the time is worth a warning, a quarter is an error
    (
        operated("checkpoint_interval: 5 min, checkpoint_time: 75 s"),
        one("checkpoint-outlasts-interval", "operations.checkpoint_time", "error"),
    ),
    (
        operated("checkpoint_interval: 5 min, checkpoint_time: 74 s"),
        one("checkpoint-outlasts-interval", "operations.checkpoint_time"),
    ),
    (operated("checkpoint_interval: 5 min, checkpoint_time: 30 s"), []),
    (
        operated("checkpoint: {interval: 5 min, pause: 31 s}"),
        one("checkpoint-outlasts-interval", "operations.checkpoint.pause"),
    ),
    (
        operated("checkpoint: {interval: 5 min, write_time: 31 s, mode: synchronous}"),
        one("checkpoint-outlasts-interval", "operations.checkpoint.write_time"),
    ),
    (operated("checkpoint: {interval: 5 min, pause: 5 s, write_time: 299 s, mode: asynchronous}"), []),
    (
        operated("checkpoint: {interval: 5 min, pause: 5 s, write_time: 300 s, mode: asynchronous}"),
        one("checkpoint-outlasts-interval", "operations.checkpoint.write_time", "error"),
    ),
    # half of 60 h is repeated after each failure, one in 30 h: all of the time
    (
        operated("checkpoint_interval: 60 h, checkpoint_time: 60 s, mean_time_between_failures: 30 h"),
        one("checkpoint-interval-off-optimum", INTERVAL, "error"),
    ),
    # 0.8 nodes are away on average
    (operated("mean_time_between_failures: 30 h, repair_time: 24 h", 64, 1), one("too-few-spares", SPARES, "note")),
    # 2.4 nodes are away on average, 5 one time in twenty
    (operated("mean_time_between_failures: 10 h, repair_time: 24 h", 64, 4), one("too-few-spares", SPARES)),
    (operated("mean_time_between_failures: 10 h, repair_time: 24 h", 64, 5), []),
    (operated("mean_time_between_failures: 10 h", 64), []),
    # 2.34 failures in 1,000 node-days are one in 5.008 h of 2,048 nodes; four times as rare is no published fleet
    (
        operated("mean_time_between_failures: 20.1 h", 2048),
        one("optimistic-failure-rate", "operations.mean_time_between_failures"),
    ),
    (
        operated("mean_time_between_failures: 19.9 h", 2048),
        one("optimistic-failure-rate", "operations.mean_time_between_failures", "note"),
    ),
    (operated("mean_time_between_failures: 4.9 h", 2048), []),
    (operated("burn_in: 24 h"), one("short-burn-in", "operations.burn_in", "note")),
    (operated("burn_in: 23 h"), one("short-burn-in", "operations.burn_in")),
    (operated("burn_in: 48 h"), []),
    (f"{H100}\noperations: {{repair_time: 24 h}}\n", one("short-burn-in", "operations.burn_in", "note")),
    # power
    (
        powered("node: 10.2 kW, nodes_per_rack: 4, rack_limit: 40 kW"),
        one("rack-over-power-limit", "cluster.power.nodes_per_rack", "error"),
    ),
    (powered("node: 10.2 kW, nodes_per_rack: 4, rack_limit: 40.8 kW"), []),
    (
        powered("node: 10.2 kW, nodes_per_rack: 4, rack_limit: 42 kW, rack_overhead: 2 kW"),
        one("rack-over-power-limit", "cluster.power.nodes_per_rack", "error"),
    ),
    (
        powered("nodes_per_rack: 4, rack_limit: 40 kW"),
        one("rack-over-power-limit", "cluster.power.nodes_per_rack", "error"),
    ),
    (powered("node: 5 kW"), one("node-power-below-accelerators", "cluster.power.node", "error")),
    (powered("node: 8 kW"), one("node-power-off-catalog", "cluster.power.node")),
    (powered("node: 9.5 kW"), []),
    # 70.6 billion parameters of 14 bytes at 40 GB/s are 25 s
    (
        f"{NETWORKS}{WORK}operations: {{checkpoint_interval: 30 min, checkpoint_time: 10 s, burn_in: 72 h}}\n",
        one("checkpoint-faster-than-storage", "operations.checkpoint_time", "error"),
    ),
    (f"{NETWORKS}{WORK}operations: {{checkpoint_interval: 30 min, checkpoint_time: 26 s, burn_in: 72 h}}\n", []),
    (
        f"{STORED}, mode: synchronous}}, burn_in: 72 h}}\n",
        one("checkpoint-faster-than-storage", "operations.checkpoint.pause", "error"),
    ),
    (
        f"{STORED}, mode: asynchronous}}, burn_in: 72 h}}\n",
        [],
    ),
]


@pytest.mark.parametrize(("text", "wanted"), OPERATIONS)
def test_operations_are_judged(text: str, wanted: Reported, check: Check) -> None:
    assert reported(check, "operations", text) == wanted


RUN = "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}\nlayout: {tp: 8, pp: 4}\n"
GOODPUT: list[tuple[str, Reported]] = [
    # 3 h between failures: 60 s of 30 min is 3.3 %, half of 30 min is 8.3 %, 10 min of restart are 5.6 %
    (
        operated("checkpoint_interval: 30 min, checkpoint_time: 60 s, mean_time_between_failures: 3 h", 16, 1) + RUN,
        one("low-goodput", INTERVAL),
    ),
    # 10 h: 3.3 %, 2.5 % and 1.7 % sum to 7.5 %
    (operated("checkpoint_interval: 30 min, checkpoint_time: 60 s, mean_time_between_failures: 10 h", 16, 1) + RUN, []),
    (
        operated(
            "checkpoint_interval: 30 min, checkpoint_time: 60 s, mean_time_between_failures: 10 h, "
            "targets: {goodput: 0.93}",
            16,
            1,
        )
        + RUN,
        one("low-goodput", "operations.targets.goodput", "error"),
    ),
    # 25 s of a checkpoint at 40 GB/s every 2 min is a fifth, and told once, at the storage system
    (
        NETWORKS.replace("nodes: 16", "nodes: 16\n  spare_nodes: 1")
        + RUN
        + "operations: {checkpoint_interval: 2 min, mean_time_between_failures: 30 h, burn_in: 72 h}\n",
        [
            *one("checkpoint-outlasts-interval", "cluster.networks.storage.bandwidth"),
            *one("checkpoint-interval-off-optimum", INTERVAL),
        ],
    ),
    # the time of one node, written as that of the job
    (
        operated("checkpoint_interval: 3 h, checkpoint_time: 60 s, mean_time_between_failures: 30000 h", 64, 5) + RUN,
        one("optimistic-failure-rate", "operations.mean_time_between_failures", "error"),
    ),
    # a failure every 10 h that stops the job for 5 h is half of the time
    (
        operated("repair_time: 5 h, checkpoint_time: 60 s, restart_time: 5 h, mean_time_between_failures: 10 h", 16, 3)
        + RUN,
        one("low-goodput", "operations.restart_time", "error"),
    ),
]


@pytest.mark.parametrize(("text", "wanted"), GOODPUT)
def test_the_goodput_that_cost_prints_is_judged(text: str, wanted: Reported, check: Check) -> None:
    assert reported(check, "operations", text) == wanted


STORE = "cluster.networks.storage.bandwidth"
KEEP, KEPT = "operations.checkpoint.keep", "operations: {{checkpoint: {{keep: {}}}, burn_in: 72 h}}\n"
CASES: list[tuple[str, Reported]] = [
    (NETWORKS, []),
    (
        NETWORKS.replace("    out_of_band: {nic_bandwidth: 1 Gb/s}\n", ""),
        one("undeclared-network", "cluster.networks.out_of_band", "note"),
    ),
    (f"{H100}\nprocurement: {{currency: USD}}\n", one("undeclared-network", "cluster.networks", "note")),
    (H100, []),
    (
        NETWORKS.replace("nodes: 16", "nodes: 2").replace("200 Gb/s", "50 Gb/s"),
        one("frontend-slower-than-storage", STORE, "note"),
    ),
    (
        NETWORKS.replace("nodes: 16", "nodes: 2").replace("200 Gb/s", "25 Gb/s"),
        one("frontend-slower-than-storage", STORE),
    ),
    (
        # 2 nodes with 2 × 10 Gb/s read 5 GB/s, an eighth of the 40 GB/s
        NETWORKS.replace("nodes: 16", "nodes: 2").replace("200 Gb/s", "10 Gb/s"),
        one("frontend-slower-than-storage", STORE, "error"),
    ),
    (
        NETWORKS.replace("2 PB", "10 TB") + WORK,
        one("storage-holds-few-checkpoints", "cluster.networks.storage.capacity", "note"),
    ),
    (NETWORKS.replace("2 PB", "13 TB") + WORK, []),
    # 12 checkpoints of 988 GB are 11.9 TB, 13 are 12.8 TB; 80 % of 16 TB are 12.8 TB
    (NETWORKS.replace("2 PB", "16 TB") + WORK + KEPT.format(12), []),
    (NETWORKS.replace("2 PB", "16 TB") + WORK + KEPT.format(13), one("storage-holds-few-checkpoints", KEEP)),
    (NETWORKS.replace("2 PB", "16 TB") + WORK + KEPT.format(17), one("storage-holds-few-checkpoints", KEEP, "error")),
]


@pytest.mark.parametrize(("text", "wanted"), CASES)
def test_networks_are_judged(text: str, wanted: Reported, check: Check) -> None:
    assert reported(check, "networks", text) == wanted


def test_a_percentile_of_failures_is_that_of_a_poisson_distribution() -> None:
    # the last two by the normal limit: 1,000 + 1.645 × √1,000 and 10,000 + 1.645 × 100
    for mean, share, number in (
        (0.01, 0.95, 0),
        (1.0, 0.95, 3),
        (8.0, 0.95, 13),
        (1000.0, 0.95, 1052),
        (1e4, 0.95, 10164),
    ):
        assert poisson_percentile(mean, share) == number
    assert abs(poisson_percentile(500.0, 0.99) - poisson_percentile(500.1, 0.99)) <= 1


RUN = """
cluster: {{platform: dgx-h100, nodes: 16, spare_nodes: 2}}
workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: {tokens}}}
layout: {{framework: megatron-core, tp: 1, recompute: full}}
measured: [{{step_time: 4 s}}]
operations: {{checkpoint_interval: 1 h, checkpoint_time: 36 s, mean_time_between_failures: 100 h, restart_time: 30 min,
  burn_in: 72 h, targets: {{run_time: {target}}}}}
"""


@pytest.mark.parametrize(
    ("tokens", "target", "severity"),
    [
        # 100,000 steps of 512 × 8,192 tokens take 4 s each, 111.1 h; 1 % saves, 0.5 % repeats, 0.5 % restarts: 113.4 h
        ("419.4304B", "114 h", ""),
        ("419.4304B", "113 h", "note"),  # within the spread of measured steps
        ("419.4304B", "100 h", "error"),  # the step was measured: no forecast can save the target
        ("838.8608B", "227.5 h", ""),
        ("838.8608B", "226 h", "note"),
    ],
)
def test_a_run_is_compared_with_its_target_with_its_interruptions(
    check: Check, tokens: str, target: str, severity: str
) -> None:
    found = reported(check, "operations", RUN.format(tokens=tokens, target=target))
    wanted = one("run-longer-than-target", "operations.targets.run_time", severity) if severity else []
    assert [each for each in found if each[0] == "run-longer-than-target"] == wanted


DELIVERED = """
cluster: {{platform: dgx-h100, nodes: 16, spare_nodes: 2, networks: {{storage: {store}}}}}
workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 360B, dataset_tokens: 180B, {held}}}
layout: {{framework: megatron-core, tp: 1, recompute: full}}
measured: [{{step_time: 0.1 s}}]
operations: {{targets: {{run_time: {target}}}}}
"""


@pytest.mark.parametrize(
    ("store", "held", "target", "said"),
    [
        # 180 million files read twice (360B of 180B tokens) at 1,000/s: 360,000 s = 100 h
        ("{bandwidth: 100 GB/s, metadata_rate: 1000}", "dataset_files: 180M", "99 h", "`metadata_rate` in 4.17 days"),
        ("{bandwidth: 100 GB/s, metadata_rate: 1000}", "dataset_files: 180M", "101 h", ""),
        # 360B tokens of 1,000 B at 1 GB/s: 360,000 s
        ("{bandwidth: 1 GB/s}", "dataset_token_bytes: 1000", "99 h", "360 TB of the run in 4.17 days"),
        ("{bandwidth: 1 GB/s}", "dataset_token_bytes: 1000", "101 h", ""),
        ("{bandwidth: 1 GB/s, read: 2 GB/s}", "dataset_token_bytes: 1000", "99 h", ""),
        ("{bandwidth: 1 kB/s}", "document_tokens: 4000", "99 h", ""),  # the bytes of a token are assumed
    ],
)
def test_data_that_storage_delivers_too_late_misses_the_target_of_the_run(
    check: Check, store: str, held: str, target: str, said: str
) -> None:
    findings = check(DELIVERED.format(store=store, held=held, target=target))
    found = [each for each in findings if each.rule == "run-longer-than-target" and "storage system" in each.message]
    assert [str(each.severity) for each in found] == ["error"] * bool(said)
    assert all(said in each.message for each in found)


def test_a_target_that_is_met_hides_no_lost_time(check: Check) -> None:
    lossy = (
        "cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}\n"
        "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}\nlayout: {tp: 8, pp: 4}\n"
        "operations: {checkpoint_interval: 45 min, checkpoint_time: 120 s, mean_time_between_failures: 3 h,"
        " burn_in: 72 h, failures: {nic: {afr: 0.001}}, targets: {goodput: 0.2}}\n"
    )
    found = [each for each in reported(check, "operations", lossy) if each[0] == "low-goodput"]
    assert found == one("low-goodput", "operations.checkpoint_interval")


@pytest.mark.parametrize(
    ("saving", "offered"),
    [
        ("checkpoint_time: 1 s", True),
        ("checkpoint: {interval: 30 min, pause: 1 s}", True),
        ("checkpoint: {interval: 30 min, pause: 1 s, mode: synchronous}", False),
        ("checkpoint: {interval: 30 min, pause: 1 s, write_time: 2 s}", False),
    ],
)
def test_asynchronous_saving_is_offered_where_nothing_says_whether_training_waits(
    saving: str, offered: bool, check: Check
) -> None:
    findings = check(f"clusterspec: 1\n{NETWORKS}{WORK}operations: {{{saving}}}\n")
    (found,) = (each for each in findings if each.rule == "checkpoint-faster-than-storage")
    assert ("mode: asynchronous" in found.help) is offered


@each(
    ("key", "off"),
    [
        # 72,000 / 8 = 9,000 h for one node, and 2,250 h for four
        ("node_mtbf: 9000 h", False),
        ("node_mtbf: 2250 h", True),
        ("mean_time_between_failures: 2250 h", False),
        ("mean_time_between_failures: 9000 h", True),
    ],
)
def test_failures_that_a_text_counts_are_those_of_a_node(key: str, off: bool, check: Check) -> None:
    log = "description: The log has 8 stops of a node in 72,000 node-hours."
    job = f"cluster: {{platform: dgx-a100, nodes: 4}}\n{WORK.replace('tp: 8, pp: 4', 'tp: 2')}"
    found = check(f"clusterspec: 1\n{log}\n{job}operations: {{{key}}}\n")
    found = [one for one in found if one.rule == "failure-rates-disagree"]
    assert bool(found) == off, found
