"""Whatever a spec says, no rule crashes, and none takes long."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies

from clusterspec.finding import Finding
from clusterspec.rules.index import RULES
from clusterspec.studies import study_text
from tests.effort import examples, sampled, steps
from tests.rules.twins.pods import PODS, spec
from tests.settings import SETTINGS

from .conftest import Check

NUMBERS = [0, 1, 2, 3, 5, 7, 12, 64, 1000, 65_537, 10**9, 10**18, -1]
RATES = ["0 Gb/s", "1 b/s", "100 GB/s duplex", "400 Gb/s", "-3 GB/s", "1e30 TB/s", "900 GB/s unidirectional"]
RATIOS = ["0:1", "1:0", "1:1", "3:1", "1:2", "1000000:1", ["2:1", "4:1"]]
WORDS: dict[str, list[Any]] = {
    "cluster.nodes": NUMBERS,
    "cluster.spare_nodes": NUMBERS,
    "cluster.accelerators": NUMBERS,
    "cluster.accelerators_per_node": NUMBERS,
    "cluster.ranks_per_accelerator": NUMBERS,
    "cluster.pcie": [3, 4, 6, {"host": 5, "nic": 4}],
    "cluster.accelerator": ["l40s", "mi300x", "tpu-v5p", "trainium2", {"like": "h100-sxm-80gb", "memory": "1 B"}],
    "cluster.platform": ["gb200-nvl72", "aws-p5-48xlarge", "mi300x-ubb8", "aws-trn2-48xlarge", "tpu-v5p", None],
    "cluster.scale_up.domain": NUMBERS,
    "cluster.scale_up.shape": [[], [0], [4, 4], [4, 4, 4], [1000000, 1000000], [2, 2, 2, 2, 2, 2]],
    "cluster.scale_up.topology": ["switched", "full-mesh", "torus", "ring", "bridge", "pcie", "partial-mesh"],
    "cluster.scale_up.bandwidth": RATES,
    "cluster.scale_up.peer_bandwidth": RATES,
    "cluster.scale_out.technology": ["roce-v2", "efa-v2", "ethernet", "gcp-dcn", "slingshot-11", "infiniband-xdr"],
    "cluster.scale_out.nics_per_node": NUMBERS,
    "cluster.scale_out.nic_bandwidth": RATES,
    "cluster.scale_out.topology": ["fat-tree", "rail-optimized", "rail-only", "dragonfly", "single-switch", "torus"],
    "cluster.scale_out.oversubscription": RATIOS,
    "cluster.scale_out.tiers": [1, 2, 3],
    "cluster.scale_out.planes": NUMBERS,
    "cluster.scale_out.rails": NUMBERS,
    "cluster.scale_out.pod_nodes": NUMBERS,
    "cluster.scale_out.switch_ports": NUMBERS,
    "cluster.scale_out.leaf_switches": NUMBERS,
    "cluster.scale_out.spine_switches": NUMBERS,
    "cluster.scale_out.links": [{"node_leaf": 0, "leaf_spine": 10**18}, {}],
    "cluster.scale_out.levels": [
        [],
        [{}],
        [{"nodes": 0, "oversubscription": "0:1"}],
        [{"nodes": 4, "switch_ports": 64}],
    ],
    "cluster.scale_out.bisection": RATES,
    "cluster.networks": [
        {},
        {"storage": {"bandwidth": "0 GB/s", "capacity": "0 B"}},
        {"frontend": {"shares": "scale_out"}},
    ],
    "cluster.power": [{}, {"node": "0 W", "rack_limit": "0 W", "nodes_per_rack": 3}, {"node": "1 W"}],
    "workload.kind": ["train", "serve"],
    "workload.model": ["mixtral-8x7b", "deepseek-v3", {"base": "llama-3.1-8b", "layers": 1, "heads": 1}, {"layers": 1}],
    "workload.sequence_length": NUMBERS,
    "workload.global_batch": NUMBERS,
    "workload.tokens": ["0", "15T", "1"],
    "workload.expected_mfu": [0, 1, 40, -1, "40 %"],
    "workload.peak_flops": ["0 TFLOP/s dense", "1979 TFLOP/s dense", "312 TFLOP/s dense"],
    "workload.data_loading": ["hidden", "0 s", "1 h"],
    "layout": [None, {}],
    "layout.framework": ["megatron-core", "torchtitan", "deepspeed", "maxtext", "custom"],
    "layout.tp": NUMBERS,
    "layout.cp": NUMBERS,
    "layout.ep": NUMBERS,
    "layout.pp": NUMBERS,
    "layout.dp": NUMBERS,
    "layout.expert_tp": NUMBERS,
    "layout.nodes": NUMBERS,
    "layout.nodes_per_domain": NUMBERS,
    "layout.shard_group": NUMBERS,
    "layout.virtual_stages": NUMBERS,
    "layout.micro_batch": NUMBERS,
    "layout.stage_layers": [[], [0, 0], [40, 40], [1]],
    "layout.sharding": ["none", "zero1", "zero2", "fsdp", "hsdp"],
    "layout.schedule": ["1f1b", "interleaved", "gpipe", "zero-bubble", "dualpipe"],
    "layout.order": [
        ["tp", "tp"],
        ["pp", "dp", "tp", "cp", "ep"],
        ["dp_replicate", "dp_shard", "tp", "cp", "ep", "pp"],
    ],
    "layout.overlap": [{"dp": False, "tp": True, "ep": True, "pp": False, "cp": False}],
    "operations": [{}, {"checkpoint_interval": "0 s", "checkpoint_time": "0 s", "mean_time_between_failures": "0 s"}],
    "operations.node_mtbf": ["0 s", "1 h"],
    "operations.repair_time": ["0 s", "1000 years"],
    "procurement": [{}, {"prices": {}, "quote": [{}], "quoted_total": 0}, {"prices": {"node": [1, 2]}, "pue": 0}],
    "acceptance": [[], [{}], [{"collective": "all-reduce", "nodes": 10**18, "size": "0 B", "busbw": "0 GB/s"}]],
    "measured": [[], [{}], [{"collective": "all-to-all", "ranks": 10**18, "size": "8 GiB", "algbw": "1 GB/s"}]],
}
MOST = 8_000_000
"""Calls that judging one spec may take."""
CHANGES = strategies.lists(
    strategies.sampled_from([(key, value) for key, values in sorted(WORDS.items()) for value in values]),
    min_size=1,
    max_size=6,
)


def hostile(pod: str, changes: list[tuple[str, Any]]) -> str:
    """A pod with changes; a change inside something that another one made no mapping is left out."""
    kept: dict[str, Any] = {}
    for path, value in changes:
        blocked = any(path.startswith(f"{other}.") and not isinstance(found, dict) for other, found in kept.items())
        if not blocked:
            kept = {other: found for other, found in kept.items() if not other.startswith(f"{path}.")} | {path: value}
    return spec(pod, kept)


@settings(max_examples=examples(37), deadline=None)
@given(pod=strategies.sampled_from(sorted(PODS)), changes=CHANGES)
def test_no_spec_makes_a_rule_crash(pod: str, changes: list[tuple[str, Any]]) -> None:
    text = hostile(pod, changes)
    found: list[Finding] = []
    steps(lambda: found.extend(study_text(text, SETTINGS).findings), most=MOST)
    findings = found
    assert {finding.rule for finding in findings} <= set(RULES)
    assert all(finding.message for finding in findings)


@pytest.mark.parametrize(
    ("pod", "changes"),
    [
        ("h100", {"cluster.nodes": 10**18}),
        ("fabric", {"cluster.nodes": 10**18}),
        ("h100", {"layout.tp": 10**18}),
        ("h100", {"layout.shard_group": 10**18, "layout.sharding": "hsdp", "layout.pp": 1}),
        ("h100", {"cluster.nodes": 1, "layout.pp": 1}),
        ("h100", {"layout": None}),
        ("h100", {"workload": None}),
        ("ops", {"operations.mean_time_between_failures": "1 s", "operations.repair_time": "100 years"}),
    ],
)
def test_a_spec_of_absurd_size_is_judged_all_the_same(pod: str, changes: dict[str, Any], check: Check) -> None:
    steps(lambda: check(spec(pod, changes)), most=MOST)


@pytest.mark.parametrize(
    "setting", sampled(["--tp 8 ", "R535 ", "NCCL_IB_TC=26 ", "1,200 kVA ", "a wall time of 4 h "], 8)
)
def test_a_setting_that_a_comment_repeats_is_read_a_bounded_number_of_times(setting: str, check: Check) -> None:
    first, few, many = (spec("h100", {}) + f"\n# {setting * times}\n" for times in (5_000, 4_000, 16_000))
    check(first)  # loads the rules
    assert steps(lambda: check(many)) < 1.2 * steps(lambda: check(few))
