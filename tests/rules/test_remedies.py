"""Fixes and remedies: what is offered, and where nothing is."""

from __future__ import annotations

import re

import pytest

from clusterspec.finding import Problem
from clusterspec.source import dotted_path
from clusterspec.studies import study_text
from clusterspec.studies.fleet_parts import FleetPart, problem_in_fleet
from tests.settings import SETTINGS

from .conftest import Check
from .test_applied_advice import HEAD, SELLS
from .test_applied_advice import of as advised
from .test_verdicts import of
from .verdicts import POD

TRAINIUM = """\
cluster: {{platform: {}, nodes: 3, scale_out: {{collective_plugin: neuron, placement: cluster-placement-group}}}}
layout: {{framework: neuronx-distributed, tp: {}}}
"""


@pytest.mark.parametrize(
    ("platform", "legal", "illegal"),
    [
        ("aws-trn1-32xlarge", (1, 2, 8, 16, 32, 64, 96), (3, 4, 9, 12, 17, 24, 33, 48)),
        ("aws-trn2-48xlarge", (1, 2, 4, 8, 16, 32, 64), (3, 9, 12, 24, 48, 65, 96)),
    ],
)
def test_neuron_runs_some_degrees(
    platform: str, legal: tuple[int, ...], illegal: tuple[int, ...], check: Check
) -> None:
    rule = "neuron-core-group-unsupported"
    found = {tp: of(rule, TRAINIUM.format(platform, tp), check) for tp in (*legal, *illegal)}
    assert [tp for tp, findings in found.items() if findings] == list(illegal)
    assert all(str(one.severity) == "error" for findings in found.values() for one in findings)


def test_weights_that_are_assumed_wider_than_their_products_are_to_be_stated(check: Check) -> None:
    text = """\
cluster: {{platform: dgx-h100, nodes: 1}}
workload: {{kind: serve, model: llama-3.1-405b, {}, serving: {{input_tokens: 900, output_tokens: 100, concurrency: 8}}}}
layout: {{framework: sglang, tp: 8}}
"""
    for keys, said in (
        ("precision: fp8", "write `parameter_precision: fp8` if the weights are kept in fp8 (bf16 is assumed)"),
        ("precision: fp8, parameter_precision: bf16", "store weights in fewer bytes"),
        ("precision: bf16", "store weights in fewer bytes"),
    ):
        (found,) = of("states-exceed-memory", text.format(keys), check)
        assert found.help.startswith(said), keys


@pytest.mark.parametrize(
    ("rule", "key", "written", "text"),
    [
        ("impossible-utilization", "utilization", "85", "0.85"),
        ("impossible-utilization", "utilization", "100", "1"),
        ("impossible-utilization", "utilization", "0", None),
    ],
)
def test_a_percentage_is_made_a_fraction(rule: str, key: str, written: str, text: str | None, check: Check) -> None:
    spec = f"{POD}procurement: {{currency: USD, as_of: 2026-11-01, {key}: {written}}}\n"
    (found,) = of(rule, spec, check)
    assert [edit.text for edit in found.edits] == ([text] if text else [])


@pytest.mark.parametrize(("written", "text"), [("40", "0.4"), ("100", "1"), ("0", None)])
def test_an_mfu_in_percent_is_made_a_fraction(written: str, text: str | None, check: Check) -> None:
    spec = (
        f"{POD}workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, expected_mfu: {written}}}\n"
    )
    (found,) = of("impossible-mfu", spec, check)
    assert [edit.text for edit in found.edits] == ([text] if text else [])


def test_no_remedy_ends_above_95_percent_of_memory(check: Check) -> None:
    """Each layout that a memory finding offers is estimated, and leaves a twentieth of the memory free."""
    for batch, pp in ((4, 1), (2, 1), (8, 2)):
        spec = (
            f"{POD}workload: {{model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}}\n"
            f"layout: {{tp: 8, pp: {pp}, micro_batch: {batch}, sharding: zero1}}\n"
        )
        found = [one for one in check(f"clusterspec: 1\n{spec}") if one.rule.endswith("exceed-memory")]
        assert found and all("these fit" in one.help for one in found)
        for offer in found[0].help.removeprefix("these fit: ").split("; or "):
            gigabytes = float(offer.partition("(")[2].partition(" GB")[0])
            assert gigabytes <= 0.95 * 85.6, offer


def test_advice_where_nothing_fits_names_no_setting_that_the_layout_has(check: Check) -> None:
    """A 70B model on four cards of 48 GB: the states alone are 43.7 GB, and full recomputation is already on.

    Seven layouts run on four ranks: (tp, pp) of (1, 2), (1, 4), (2, 1), (2, 2) and (4, 1), and cp 2 and 4.
    """
    spec = """\
cluster: {accelerator: l40s, nodes: 1, accelerators_per_node: 4}
workload: {model: llama-3.1-70b, sequence_length: 16384, global_batch: 32, trainable: {method: lora, rank: 16}}
layout: {framework: fsdp, dp: 4, recompute: full}
"""
    (found,) = of("activations-exceed-memory", spec, check)
    assert "recompute" not in found.help
    assert "add nodes" in found.help
    assert found.help.startswith("none of 7 changed layouts tried here leaves 5 % of the memory free")


@pytest.mark.parametrize(
    ("nodes", "batch", "fix", "advice"),
    [
        (12, 96, "3", "write `dp: 3`, or drop the key: dp is derived; or run the job on 8 nodes (`layout.nodes: 8`)"),
        (12, 128, None, "run the job on 8 nodes (`layout.nodes: 8`)"),  # 128 sequences are not divisible by 3 replicas
        (4, 96, "1", "write `dp: 1`, or drop the key: dp is derived; or use 8 nodes"),
    ],
)
def test_a_wrong_number_of_replicas_leads_to_a_layout_that_runs(
    nodes: int, batch: int, fix: str | None, advice: str, check: Check
) -> None:
    spec = f"""\
cluster: {{platform: dgx-h100, nodes: {nodes}}}
workload: {{model: llama-3.1-70b, sequence_length: 4096, global_batch: {batch}}}
layout: {{tp: 8, pp: 4, dp: 2}}
"""
    (found,) = of("world-size-mismatch", spec, check)
    assert found.help == advice
    assert [edit.text for edit in found.edits] == ([fix] if fix else [])


@pytest.mark.parametrize(
    ("cluster", "advice"),
    [
        ("platform: gb200-nvl72, nodes: 18", "use a batch of 504 or 576, or `layout.nodes_per_domain: 16`, with dp 64"),
        ("platform: dgx-h100, nodes: 9", "use a batch of 504 or 576, or `layout.nodes: 8`, with dp 64"),
        ("platform: dgx-h100, nodes: 12", "use a batch of 480 or 576"),  # 8 of 12 nodes leave a third idle
    ],
)
def test_a_power_of_two_of_the_nodes_is_offered_where_it_divides_the_batch(
    cluster: str, advice: str, check: Check
) -> None:
    work = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512}\nlayout: {sharding: fsdp}\n"
    (found,) = of("global-batch-indivisible", f"cluster: {{{cluster}}}\n{work}", check)
    assert found.help == advice


def test_a_technology_that_is_phased_out_has_a_successor_with_a_name(check: Check) -> None:
    for technology, successor in (("infiniband-edr", "infiniband-ndr"), ("infiniband-fdr", "infiniband-ndr")):
        text = f"cluster: {{platform: hgx-h200, nodes: 4, scale_out: {{technology: {technology}}}}}\n"
        (found,) = of("phased-out-technology", text, check)
        assert (str(found.severity), found.help) == ("warning", f"use {successor} for new machines")
    sold = "cluster: {platform: hgx-h200, nodes: 4, scale_out: {technology: infiniband-ndr}}\n"
    assert of("phased-out-technology", sold, check) == []


@pytest.mark.parametrize(
    ("nodes", "spares", "key", "advice"),
    [
        # racks of 18: 36 are two racks, and 38 are a part of three (54 = 36 + 18)
        (36, 2, "cluster.spare_nodes", "use 18 spare nodes, or none"),
        # 32 + 2 = 34 are a part of 36: 34 nodes and the spares fill them, 16 fill one rack
        (32, 1, "cluster.nodes", "use 35 nodes in addition to the 1 spare, or 17"),
        (20, 0, "cluster.nodes", "use 36 nodes, or 18"),
    ],
)
def test_a_part_of_a_rack_is_filled_by_the_number_that_the_advice_names(
    nodes: int, spares: int, key: str, advice: str, check: Check
) -> None:
    text = f"{HEAD}cluster: {{platform: gb200-nvl72, nodes: {nodes}, spare_nodes: {spares}}}\n"
    found = advised("partial-unit-of-sale", text, check)
    assert (dotted_path(found.path), found.help) == (key, advice)
    number = int(re.findall(r"\d+", advice)[0])
    name = key.removeprefix("cluster.")
    mended = text.replace(f" {name}: {spares if 'spare' in name else nodes}", f" {name}: {number}")
    assert mended != text and not [
        one for one in check(mended, "partial-unit-of-sale") if one.rule == "partial-unit-of-sale"
    ]


@pytest.mark.parametrize(
    ("cluster", "budget", "most"),
    [
        # 8 x 10.2 kW and one switch of 1.72 kW: (60 - 1.72) / 10.2 = 5.7
        ("platform: dgx-h100, nodes: 8", 60, 5),
        # racks of 18 trays draw 18 x 5.4 kW and 22.8 kW in addition, 120 kW: 300 kW carry two and their switches
        ("platform: gb200-nvl72, nodes: 54", 300, 36),
    ],
)
def test_a_power_budget_carries_the_nodes_that_the_advice_names(
    cluster: str, budget: int, most: int, check: Check
) -> None:
    text = f"{HEAD}cluster: {{{cluster}, power: {{budget: {budget} kW}}}}\n"
    found = advised("power-over-budget", text, check)
    assert found.help == f"use at most {most} nodes, spares included, or cap their power"
    fewer = re.sub(r"nodes: \d+", f"nodes: {most}", text)
    assert not [one for one in check(fewer, "power-over-budget") if one.rule == "power-over-budget"]


@pytest.mark.parametrize(
    ("shares", "advice"),
    [
        ("{order: 0.5, delivery: 0.4, acceptance: 0.2}", "correct the shares so that they sum to 1"),
        ("{order: 30, delivery: 50, acceptance: 20}", "write shares: 0.3 for 30 %"),
    ],
)
def test_shares_that_are_no_percentages_are_not_told_to_be_shares(shares: str, advice: str, check: Check) -> None:
    text = f"{HEAD}cluster: {{platform: dgx-h100, nodes: 4}}\n{SELLS}, payment: {shares}}}\n"
    assert advised("payment-before-acceptance", text, check).help == advice


@pytest.mark.parametrize(
    ("minibatches", "rule", "message", "help_"),
    [  # of 3 minibatches 4 would divide the samples, but not over dp 16; 800 / 5 = 160 = 16 x 10
        (3, "keys-disagree", "800 samples are not a multiple of 3 minibatches", "write `minibatches: 2` or 5"),
        (
            4,
            "global-batch-indivisible",
            "a minibatch has 800 / 4 = 200 samples, not a multiple of dp 16",
            "write `minibatches: 2`",
        ),
    ],
)
def test_a_number_of_minibatches_has_one_error_with_the_number_to_write(
    minibatches: int, rule: str, message: str, help_: str, check: Check
) -> None:
    """800 / 2 = 400 = 16 x 25 divides over two nodes of 8."""
    text = (
        f"{HEAD}cluster: {{platform: dgx-h100, nodes: 2}}\n"
        "workload: {kind: rl, model: qwen2.5-7b, rl: {prompts_per_step: 100, samples_per_prompt: 8, input_tokens: 500, "
        f"output_tokens: 2000, minibatches: {minibatches}, placement: colocated, rollout: {{tp: 1}}}}}}\n"
        "layout: {framework: fsdp, sharding: fsdp}\n"
    )
    found = advised(rule, text, check)
    assert (found.message, found.help) == (message, help_)
    assert [one.rule for one in check(text) if str(one.severity) == "error"] == [rule]
    assert study_text(text, SETTINGS).plan.refused == {rule}


def test_an_even_split_is_noted_only_where_it_is_not_slower(check: Check) -> None:
    """The head of 94 small layers of experts equals 2.8 of them by weights, but the layers wait for kernel launches: 13
    of them on a stage take longer than 12 and the head.
    """
    text = (
        f"{HEAD}cluster: {{platform: gb200-nvl72, nodes: 144}}\n"
        "workload: {model: qwen3-235b-a22b, sequence_length: 8192, global_batch: 1008, precision: fp8}\n"
        "layout: {framework: megatron-core, tp: 8, pp: 8, ep: 8, expert_tp: 1, micro_batch: 2, "
        "stage_layers: [11, 12, 12, 12, 12, 12, 12, 11]}\n"
    )
    even = text.replace("[11, 12, 12, 12, 12, 12, 12, 11]", "[13, 12, 12, 12, 12, 12, 12, 9]")
    now, then = (study_text(each, SETTINGS).plan.step_seconds for each in (text, even))
    assert now is not None and then is not None and then > now
    assert "uneven-pipeline-stages" not in {one.rule for one in check(text)}


def test_attention_parallelism_is_not_advised_at_a_load_where_it_gains_nothing(check: Check) -> None:
    """Prompts of 30,000 tokens in 5 s: eight ranks compute one within the target, one rank does not."""
    text = (
        f"{HEAD}cluster: {{platform: mi325x-ubb8, nodes: 6}}\n"
        "workload: {kind: serve, model: deepseek-v3, precision: fp8, parameter_precision: fp8, "
        "serving: {input_tokens: 30000, output_tokens: 800, concurrency: 400, targets: {ttft: 5 s, percentile: 90}}}\n"
        "layout: {framework: sglang, tp: 8}\n"
    )
    found = advised("tp-over-latent-attention", text, check)
    assert found.help == "keep tp at this load, and use `attention_dp` where many more requests are in flight"


def test_sentences_about_a_fleet_name_the_keys_of_its_file() -> None:
    """A job has its own workload and layout, and the machine of its pool; jobs of a pool share its sentences."""
    text = (
        f"{HEAD}pools:\n  train: {{platform: dgx-h100, nodes: 3}}\njobs:\n  tune:\n    pool: train\n"
        "    workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}\n    layout: {tp: 8}\n"
    )
    written, part = study_text(text, SETTINGS).document, FleetPart("train", "tune")
    assert written is not None
    said = "`layout.nodes: 2` or `workload.tokens` and `cluster.networks`"
    for place, words in (
        (("layout", "tp"), "`jobs.tune.layout.nodes: 2` or `jobs.tune.workload.tokens` and `pools.train.networks`"),
        (("cluster", "nodes"), "`layout.nodes: 2` or `workload.tokens` and `pools.train.networks`"),
        (("description",), said),
    ):
        found = problem_in_fleet(written, part, Problem("world-size-mismatch", place, said, said))
        assert (found.message, found.help) == (words, words), place
