"""Fixes and remedies: what is offered, and where nothing is."""

from __future__ import annotations

import pytest

from .conftest import Check
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
    assert found.help.startswith("of 7 changed layouts tried here none leaves 5 % of the memory free")


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
