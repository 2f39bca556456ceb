"""Advice applied word for word: the finding goes away, and what is written contradicts no other key."""

from __future__ import annotations

import re

import pytest
import yaml

from clusterspec.analysis.rewrite import text_with_changes
from clusterspec.document.model import apply_edits
from clusterspec.finding import Finding
from clusterspec.source import Path as KeyPath
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

from .conftest import Check

WORK = "workload: {model: llama-3-8b, sequence_length: 8192, global_batch: 128}\n"
HEAD = "clusterspec: 1\n"


def of(rule: str, text: str, check: Check) -> Finding:
    (found,) = [one for one in check(text, rule) if one.rule == rule]
    return found


def with_layout(text: str, advice: str) -> str:
    """The text with the keys of the first layout that advice proposes, and without those that it removes."""
    match = re.search(r"`([a-z_]+: [^`]+)`(?: without ((?:`\w+`(?: and )?)+))?", advice)
    assert match is not None, advice
    changes: dict[KeyPath, object] = {
        ("layout", key): value for key, value in yaml.safe_load(f"{{{match[1]}}}").items()
    }
    removed: dict[KeyPath, object] = {("layout", key): None for key in re.findall(r"`(\w+)`", match[2] or "")}
    return text_with_changes(study_text(text, SETTINGS), changes | removed)


@pytest.mark.parametrize(
    ("rule", "layout", "advice"),
    [
        # 64 ranks: tp 2 x pp 2 leave 16 replicas, tp 2 x pp 1 leave 32
        ("tp-crosses-scale-up-domain", "{tp: 16, pp: 2, dp: 2}", "`tp: 2, dp: 16`"),
        (
            "degrees-beyond-need",
            "{tp: 16, pp: 2, dp: 2, stage_layers: [16, 16]}",
            "`tp: 2, pp: 1, dp: 32` without `stage_layers`",
        ),
        ("tp-crosses-scale-up-domain", "{tp: 16, pp: 2}", "`tp: 2`"),
    ],
)
def test_changed_degrees_come_with_the_stated_keys_that_they_change(
    rule: str, layout: str, advice: str, check: Check
) -> None:
    text = f"{HEAD}cluster: {{platform: dgx-h100, nodes: 8}}\n{WORK}layout: {layout}\n"
    found = of(rule, text, check)
    assert found.help.removesuffix("; the ranks become replicas").endswith(advice)
    broken = {one.rule for one in check(with_layout(text, found.help))}
    assert not broken & {rule, "world-size-mismatch", "stage-layers-mismatch", "key-without-effect"}


def test_a_degree_that_must_change_says_that_a_stated_dp_follows(check: Check) -> None:
    """tp 3 does not divide 32 heads; tp 2 does, and leaves other replicas than the stated 8."""
    cluster = "cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 3}\n"
    work = WORK.replace("128", "96")
    stated = of("heads-indivisible-by-tp", f"{HEAD}{cluster}{work}layout: {{tp: 3, dp: 8}}\n", check)
    free = of("heads-indivisible-by-tp", f"{HEAD}{cluster}{work}layout: {{tp: 3}}\n", check)
    assert stated.help == f"{free.help}, without `dp`, which is derived"


@pytest.mark.parametrize(
    ("layout", "offered"), [("{tp: 4, nodes_per_domain: 18}", True), ("{tp: 4}", True), ("{tp: 8, pp: 9}", False)]
)
def test_nodes_are_left_free_only_where_the_layout_runs_on_the_others(layout: str, offered: bool, check: Check) -> None:
    """72 ranks of an NVL72 rack, 64 of 16 nodes: tp 4 divides both, tp 8 x pp 9 = 72 only the first."""
    work = "workload: {model: {base: llama-3-8b, layers: 36}, sequence_length: 8192, global_batch: 288}\n"
    text = f"{HEAD}cluster: {{platform: gb200-nvl72, nodes: 18}}\n{work}layout: {layout}\n"
    found = of("no-spare-trays", text, check)
    assert ("`nodes_per_domain: 16`" in found.help) is offered
    assert found.help.endswith("add `spare_nodes`")
    if offered:
        rules = {one.rule for one in check(with_layout(text, found.help))}
        assert not rules & {"no-spare-trays", "world-size-mismatch", "global-batch-indivisible"}


SELLS = "procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}"


@pytest.mark.parametrize(
    ("cluster", "bought", "advice"),
    [
        # 5 and 10 % of 32 nodes, rounded up
        ("{platform: dgx-h100, nodes: 32}", "", "add 2 to 4 spare nodes on the same spine"),
        (
            "{platform: dgx-h100, nodes: 32, scale_out: {leaf_switches: 8}}",
            ", budget: 12000000",
            "add 2 to 4 spare nodes on the same spine, and adapt counts of the fabric and the budget to them",
        ),
        ("{platform: gb200-nvl72, nodes: 36}", "", "add 18 spare nodes (it is sold in units of 18 nodes)"),
    ],
)
def test_spares_come_in_units_of_sale_and_with_the_counts_that_grow(
    cluster: str, bought: str, advice: str, check: Check
) -> None:
    found = of("procurement-without-spares", f"{HEAD}cluster: {cluster}\n{SELLS}{bought}}}\n", check)
    assert found.help == advice


def test_a_policy_is_named_only_where_the_cloud_has_one_for_so_many_nodes(check: Check) -> None:
    """An availability set of Azure takes 200 nodes."""
    spec = "{HEAD}cluster: {{platform: azure-nd-h100-v5, nodes: {nodes}}}\n{WORK}layout: {{tp: 8}}\n"
    few, many = (
        of("no-placement-policy", spec.format(HEAD=HEAD, WORK=WORK, nodes=nodes), check).help for nodes in (16, 256)
    )
    assert few == "write `placement: availability-set`"
    assert many == "write `placement: proximity-placement-group`"


@pytest.mark.parametrize("key", ["busbw", "algbw"])
def test_a_demanded_bandwidth_is_of_the_kind_that_the_test_states(key: str, check: Check) -> None:
    """Over 32 ranks the bus bandwidth of an all-reduce is 2 x 31 / 32 times the algorithm bandwidth."""
    test = f"{{collective: all-reduce, nodes: 4, size: 16 GiB, {key}: 700 GB/s}}"
    text = f"{HEAD}cluster: {{platform: dgx-h100, nodes: 4}}\nacceptance: [{test}]\n"
    found = of("acceptance-above-ceiling", text, check)
    low, high = re.findall(r"([\d.]+ GB/s)", found.help)[:2]
    for limit in (low, high):
        after = {one.rule for one in check(text.replace("700 GB/s", limit))}
        assert not after & {"acceptance-above-ceiling", "acceptance-above-expected", "lenient-acceptance"}


def test_a_capacity_that_is_advised_suffices(check: Check) -> None:
    """100 checkpoints of 988 GB fill 80 % of 123.5 TB."""
    storage = "networks: {storage: {capacity: 50 TB, bandwidth: 500 GB/s}}"
    text = (
        f"{HEAD}cluster: {{platform: dgx-h100, nodes: 16, {storage}}}\n"
        "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}\n"
        "operations: {checkpoint: {interval: 30 min, keep: 100}}\n"
    )
    found = of("storage-holds-few-checkpoints", text, check)
    (capacity,) = re.findall(r"plan ([\d.]+ TB)", found.help)
    assert capacity == "124 TB"
    eased = check(text.replace("capacity: 50 TB", f"capacity: {capacity}"))
    assert not [one for one in eased if one.rule == "storage-holds-few-checkpoints"]


def test_a_length_that_is_advised_divides_by_all_that_divide_it(check: Check) -> None:
    """cp 6 in two chunks takes multiples of 12, tp 8 on top of it multiples of 48."""
    text = (
        f"{HEAD}cluster: {{platform: dgx-h100, nodes: 6}}\n"
        "workload: {model: llama-3.1-70b, sequence_length: 131000, global_batch: 8}\nlayout: {tp: 8, cp: 6}\n"
    )
    found = of("sequence-indivisible-by-cp", text, check)
    assert found.help.startswith("pad to 130,992 or 131,040 tokens")
    for length in (130992, 131040):
        after = {one.rule for one in check(text.replace("131000", str(length)))}
        assert not after & {"sequence-indivisible-by-cp", "sequence-indivisible-by-tp"}


def test_rollout_that_takes_turns_with_the_trainer_is_not_told_to_run_ahead_alone(check: Check) -> None:
    lengths = "input_tokens: 512, output_tokens: {mean: 2500, p99: 9000, max: 16384}"
    rl = f"rl: {{prompts_per_step: 64, samples_per_prompt: 16, {lengths}"
    text = (
        f"{HEAD}cluster: {{platform: dgx-h100, nodes: 8}}\n"
        f"workload: {{kind: rl, model: llama-3-8b, sequence_length: 17408, {rl}, placement: PLACEMENT}}}}\n"
        "layout: {tp: 2, nodes: NODES}\n"
    )
    split = of(
        "rollout-tail-idles-accelerators",
        text.replace("PLACEMENT", "split, rollout: {nodes: 4}").replace("NODES", "4"),
        check,
    )
    turns = of("rollout-tail-idles-accelerators", text.replace("PLACEMENT", "colocated").replace("NODES", "8"), check)
    assert split.help == "let rollout run ahead (`max_staleness: 1`), or cut answers earlier"
    assert turns.help.startswith("give rollout nodes of its own (`placement: split` with `rollout.nodes`)")


@pytest.mark.parametrize(("comment", "fixed"), [("", True), ("  # from slow to fast", False)])
def test_the_fix_of_a_list_below_its_key_is_a_value_on_the_line_of_the_key(
    comment: str, fixed: bool, check: Check
) -> None:
    text = (
        f"{HEAD}cluster: {{platform: dgx-h100, nodes: 4}}\n{WORK}layout:\n  tp: 2\n  sharding: hsdp\n  shard_group: 4\n"
        f"  order:{comment}\n  - tp\n  - dp_replicate\n  - dp_shard\n"
    )
    found = of("hsdp-mesh-inverted", text, check)
    assert bool(found.edits) is fixed
    after = {one.rule for one in check(apply_edits(text, found.edits))}
    assert ("hsdp-mesh-inverted" in after, "unreadable-yaml" in after) == (not fixed, False)


def test_a_price_with_a_point_between_thousands_is_one_finding(check: Check) -> None:
    """385.000 is read as 385; the support of 610,000 a year is then no share of the parts."""
    prices = "prices: {node: 385.000, support_per_year: 610000}"
    text = (
        f"{HEAD}cluster: {{platform: dgx-b200, nodes: 16}}\n"
        f"procurement: {{currency: EUR, as_of: 2026-11-01, term: 4 years, {prices}}}\n"
    )
    found = of("price-outside-market", text, check)
    assert found.help.startswith("write `385000`")
    assert "part-price-outside-market" not in {one.rule for one in check(text)}
    right = {one.rule for one in check(text.replace("385.000", "385000"))}
    assert not right & {"price-outside-market", "part-price-outside-market"}


POD = (
    "cluster: {platform: dgx-a100, nodes: 136, spare_nodes: 4, "
    "scale_out: {topology: rail-optimized, switch: quantum-qm8700, FABRIC}}"
)
RAIL = (
    "cluster: {platform: hgx-h100, nodes: 34, "
    "scale_out: {technology: roce-v2, topology: rail-only, nics_per_node: 8, nic: connectx-7, FABRIC}}"
)
ODD = (
    "cluster: {platform: gaudi3-hls, nodes: 64, scale_out: {technology: gaudi3-scale-out, nics_per_node: 24, "
    "nic_bandwidth: 200 Gb/s, topology: fat-tree, switch: arista-7060x6-64pe, FABRIC}}"
)
LONG = "workload: {model: qwen2.5-32b, sequence_length: 32768, global_batch: 64}"
GRPO = (
    "workload: {kind: rl, model: qwen2.5-7b, global_batch: 128, rl: {algorithm: grpo, PROMPTS, minibatches: 4, "
    "input_tokens: 512, output_tokens: 1500, placement: colocated, rollout: {tp: 1}}}"
)
TPU = (
    "cluster: {platform: tpu-v5p, accelerators: 64, scale_up: {topology: torus, shape: [4, 4, 4]}}\n"
    "layout: {framework: maxtext, sharding: fsdp, micro_batch: 2, recompute: full}"
)
SITES = (
    "cluster: {platform: dgx-h200, nodes: 32, "
    "scale_out: {technology: roce-v2, nic: connectx-7, topology: fat-tree, pod_nodes: 16, oversubscription: 128:1}}"
)
CARDS = (
    "cluster: {accelerator: h100-pcie-80gb, accelerators_per_node: 8, nodes: 8, pcie: 4, "
    "scale_out: {technology: infiniband-ndr, nics_per_node: 8, nic: connectx-7, nic_bandwidth: LINE}}"
)
TRAINS = "operations: {burn_in: 72 h, checkpoint: {interval: 30 min, SAVING}}"
APPLIED = (
    # 140 nodes × 8 NICs; 56 leaves in 7 pods × 10 spines; 1,120 / 40 cores
    (
        "endpoints-exceed-fabric",
        POD.replace("FABRIC", "tiers: 2, leaf_switches: 56, spine_switches: 28"),
        "`tiers: 3` with 56 leaf switches, 70 spine switches and 28 core switches",
        (
            "tiers: 2, leaf_switches: 56, spine_switches: 28",
            "tiers: 3, leaf_switches: 56, spine_switches: 70, core_switches: 28",
        ),
    ),
    # 34 NICs on a rail of 32 ports: 3 leaves of 16 ports down, 2 spines for each of 8 rails
    (
        "endpoints-exceed-fabric",
        RAIL.replace("FABRIC", "switch_ports: 32, leaf_switches: 8, spine_switches: 0"),
        "`tiers: 2` with 24 leaf switches and 16 spine switches",
        (
            "switch_ports: 32, leaf_switches: 8, spine_switches: 0",
            "tiers: 2, switch_ports: 32, leaf_switches: 24, spine_switches: 16",
        ),
    ),
    # 12 leaves × 128 uplinks over 256 ports are 6 spines, over which 128 do not spread evenly
    (
        "too-few-switches",
        ODD.replace("FABRIC", "leaf_switches: 12, spine_switches: 2"),
        "order 8, at least 6",
        ("spine_switches: 2", "spine_switches: 8"),
    ),
    # tp 4 leaves 10 of 40 heads and 2 of 8 key-value heads
    (
        "ulysses-exceeds-heads",
        f"cluster: {{platform: dgx-h100, nodes: 8}}\n{LONG}\nlayout: {{tp: 4, cp: 16, cp_method: "
        f"all-to-all, recompute: full}}",
        "or use `cp` 2",
        ("cp: 16", "cp: 2"),
    ),
    # 512 prompts of one sample are 64 of eight: a minibatch has 128 samples as before
    (
        "group-of-one-sample",
        "cluster: {platform: dgx-h100, nodes: 4}\nlayout: {tp: 2, recompute: full}\n"
        + GRPO.replace("PROMPTS", "prompts_per_step: 512, samples_per_prompt: 1"),
        "(`prompts_per_step: 64, samples_per_prompt: 8` keep the batch)",
        ("prompts_per_step: 512, samples_per_prompt: 1", "prompts_per_step: 64, samples_per_prompt: 8"),
    ),
    (
        "mfu-beyond-published",
        f"{TPU}\nworkload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: fp8}}",
        "(`expected_mfu: 0.341`)",
        ("precision: fp8", "precision: fp8, expected_mfu: 0.341"),
    ),
    # one pod of 16 nodes × 8 accelerators
    (
        "hot-axis-over-oversubscription",
        f"{SITES}\nworkload: {{model: llama-3.1-70b, sequence_length: 4096, global_batch: 2048}}\n"
        f"layout: {{framework: torchtitan, sharding: fsdp, recompute: full}}",
        "`sharding: hsdp, shard_group: 128`",
        ("sharding: fsdp", "sharding: hsdp, shard_group: 128"),
    ),
    # 16 lanes of 16 GT/s carry 252 Gb/s
    (
        "nic-exceeds-pcie-slot",
        CARDS.replace("LINE", "400 Gb/s"),
        "state the NIC at a rate that its slot carries, `200 Gb/s`",
        ("nic_bandwidth: 400 Gb/s", "nic_bandwidth: 200 Gb/s"),
    ),
    (
        "checkpoint-outlasts-interval",
        "cluster: {platform: dgx-h100, nodes: 64}\n"
        + TRAINS.replace("SAVING", "pause: 4 min, write_time: 4 min, mode: synchronous"),
        "`mode: asynchronous` with the shorter `pause`",
        ("pause: 4 min, write_time: 4 min, mode: synchronous", "pause: 20 s, write_time: 4 min, mode: asynchronous"),
    ),
)


@each(("rule", "spec", "advice", "edit"), APPLIED)
def test_keys_that_advice_names_remove_its_finding_and_add_no_error(
    rule: str, spec: str, advice: str, edit: tuple[str, str], check: Check
) -> None:
    text = f"{HEAD}{spec}\n"
    before = check(text)
    assert advice in " ".join(one.help for one in before if one.rule == rule), rule
    assert text.count(edit[0]) == 1, rule
    after = check(text.replace(*edit))
    known = {one.rule for one in before} - {rule}
    assert not {one.rule for one in after if one.severity in {"error", "warning"}} - known, rule


def test_weights_are_never_told_to_take_a_slower_path(check: Check) -> None:
    """16 engines over one link of 10 Gb/s: `rdma` sends each its copy, `nccl` one copy."""
    lengths = "input_tokens: 512, output_tokens: {mean: 600, p99: 1500, max: 2048}"
    rl = (
        f"{{algorithm: dapo, prompts_per_step: 256, samples_per_prompt: 16, {lengths}, placement: split, "
        f"rollout: {{pool: b, nodes: 16, tp: 8}}, weight_sync: {{method: nccl}}}}"
    )
    text = (
        f"{HEAD}pools: {{a: {{platform: dgx-h200, nodes: 16}}, b: {{platform: dgx-h200, nodes: 16}}}}\n"
        "pool_links: [{between: [a, b], bandwidth: 10 Gb/s}]\n"
        f"jobs: {{rl: {{pool: a, nodes: 16, workload: {{kind: rl, model: qwen3-32b, rl: {rl}}}, "
        f"layout: {{tp: 4, recompute: full}}}}}}\n"
    )
    found = of("weight-sync-exposed", text, check)
    assert "rdma" not in found.help
    assert found.help.endswith("or a faster link between the pools")
    narrow = text.replace("{method: nccl}", "{method: nccl, precision: fp8}").replace(
        "tp: 8}", "tp: 8, parameter_precision: fp8}"
    )
    (seconds,) = re.findall(r"`rollout.parameter_precision: fp8` \(([\d.]+ \w+)\)", found.help)
    assert f"take {seconds}" in of("weight-sync-exposed", narrow, check).message


@pytest.mark.parametrize(
    ("kept", "link", "offered"), [("bf16", "4 Gb/s", False), ("bf16", "35 Gb/s", True), ("fp8", "4 Gb/s", False)]
)
def test_a_smaller_cache_is_offered_only_where_it_is_enough(kept: str, link: str, offered: bool, check: Check) -> None:
    load = (
        "serving: {input_tokens: 10000, output_tokens: 300, request_rate: 2, disaggregated: {prefill: "
        "{replicas: 4, tp: 4}, decode: {pool: b, replicas: 2, tp: 8}}}"
    )
    text = (
        f"{HEAD}pools: {{a: {{platform: dgx-h100, nodes: 2}}, b: {{platform: dgx-h200, nodes: 2}}}}\n"
        f"pool_links: [{{between: [a, b], bandwidth: {link}}}]\n"
        f"jobs: {{chat: {{pool: a, nodes: 2, workload: {{kind: serve, model: llama-3.1-70b, "
        f"kv_precision: {kept}, {load}}}, layout: {{framework: vllm}}}}}}\n"
    )
    found = of("jobs-exceed-pool-link", text, check)
    assert ("kv_precision: fp8" in found.help) is offered


def test_fewer_ranks_of_an_engine_come_with_the_degrees_of_their_experts(check: Check) -> None:
    """4 key-value heads: of tp 8 × ep 8 half the ranks are left, which hold twice the experts each."""
    load = "serving: {input_tokens: 4000, output_tokens: 900, concurrency: 48}"
    text = (
        f"{HEAD}cluster: {{platform: hgx-h200, nodes: 1}}\n"
        f"workload: {{kind: serve, model: qwen3-235b-a22b, parameter_precision: fp8, {load}}}\n"
        "layout: {framework: sglang, tp: 8, ep: 8, expert_tp: 1}\n"
    )
    found = of("tp-beyond-kv-heads", text, check)
    assert found.help.startswith("use `tp: 4, ep: 4, expert_tp: 1`")
    assert not {one.rule for one in check(with_layout(text, found.help)) if one.severity != "note"}


@pytest.mark.parametrize(("nodes", "offered"), [(32, False), (4, True)])
def test_gradients_in_bf16_are_proposed_only_where_their_sum_keeps_its_terms(
    nodes: int, offered: bool, check: Check
) -> None:
    """256 replicas sum as many equal terms, at which a sum in bf16 no longer grows."""
    nic = "scale_out: {nics_per_node: 1, nic_bandwidth: 100 Gb/s, technology: roce-v2}"
    text = (
        f"{HEAD}cluster: {{accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: {nodes}, {nic}}}\n"
        f"workload: {{model: llama-3.2-1b, sequence_length: 4096, global_batch: {8 * nodes}, "
        f"gradient_precision: fp32}}\n"
        "layout: {framework: megatron-core, sharding: zero1}\n"
    )
    helps = [
        one.help for one in check(text) if one.rule in {"dp-reduction-exposed", "full-precision-gradient-reduction"}
    ]
    assert len(helps) == 2
    assert [("gradient_precision: bf16" in help_) for help_ in helps] == [offered, offered]


@pytest.mark.parametrize(
    ("nodes", "advice"), [(250, "add 3 spare nodes"), (256, "keep 3 spare nodes among the 256 nodes")]
)
def test_spares_are_added_only_where_the_tiers_have_ports_for_them(nodes: int, advice: str, check: Check) -> None:
    """Two tiers of 64 ports connect 2,048 NICs of 256 nodes; 253 nodes leave ports for three more."""
    fabric = "scale_out: {topology: rail-optimized, tiers: 2, switch: quantum-2-qm9700}"
    text = (
        f"{HEAD}cluster: {{platform: dgx-h200, nodes: {nodes}, {fabric}}}\n"
        "workload: {model: llama-3.1-405b, sequence_length: 8192, global_batch: 512, tokens: 2T}\n"
        "layout: {tp: 8, pp: 2}\noperations: {repair_time: 48 h, burn_in: 72 h, mean_time_between_failures: 46.9 h}\n"
    )
    assert of("too-few-spares", text, check).help.startswith(advice)


@pytest.mark.parametrize(
    ("tp", "pp", "advice"),
    [
        # 384 ranks / pp 4 = 96 of a stage: 2 × 32 does not divide them, 1 × 32 does, as 2 × 4, 2 × 8 and 2 × 16 do
        (2, 4, "`ep` 4, 8 or 16, or `expert_tp` 1"),
        # 384 / 8 = 48: neither 2 × 32 nor 1 × 32 divides them
        (2, 8, "`ep` 2, 4 or 8"),
    ],
)
def test_experts_that_are_not_sharded_fit_ranks_of_a_stage_that_sharded_ones_do_not(
    tp: int, pp: int, advice: str, check: Check
) -> None:
    text = (
        f"{HEAD}cluster: {{platform: hgx-b300, nodes: 48}}\n"
        "workload: {model: qwen3-235b-a22b, sequence_length: 8192, global_batch: 1152}\n"
        f"layout: {{framework: megatron-core, tp: {tp}, pp: {pp}, ep: 32}}\n"
    )
    found = of("ep-not-dividing-ranks", text, check)
    assert found.help == f"use the nearest valid values: {advice}"
    stated = text.replace("ep: 32}", "ep: 32, expert_tp: 1}")
    assert ("expert_tp" in advice) != any(one.rule == found.rule for one in check(stated))
