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
from tests.settings import SETTINGS

from .conftest import Check

WORK = "workload: {model: llama-3-8b, sequence_length: 8192, global_batch: 128}\n"
HEAD = "clusterspec: 1\n"


def of(rule: str, text: str, check: Check) -> Finding:
    (found,) = [one for one in check(text) if one.rule == rule]
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
    assert stated.help == f"{free.help}, without `dp`, which follows"


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
