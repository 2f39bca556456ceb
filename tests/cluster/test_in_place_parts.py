"""An accelerator described in place: its name, its memory, and what a spec without a catalog entry is told."""

from __future__ import annotations

import pytest

from tests.analysis.jobs import study_of

SPEC = """
cluster: {{accelerator: {part}, accelerators_per_node: 8, nodes: 4}}
workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}}
layout: {{tp: 2}}
"""


def test_a_changed_part_is_shown_with_its_changes() -> None:
    one = study_of(SPEC.format(part="{like: h100-sxm-80gb, memory: 96 GB, peak: {bf16: 900 TFLOP/s dense}}"))
    assert one.design.cluster is not None
    part = one.design.cluster.accelerator
    assert part.name == "H100 SXM5 80 GB with memory 96 GB, bf16 peak 900 TFLOP/s dense"
    assert one.plan.capacity_text == "96 GB"


def test_a_part_without_an_entry_is_told_of_like_and_of_an_entry_of_its_own() -> None:
    found = study_of(SPEC.format(part="{memory: 96 GB, peak: {bf16: 900 TFLOP/s dense}}")).checked.findings
    missing = next(one for one in found if one.rule == "missing-key")
    assert missing.path == ("cluster", "accelerator", "like")
    assert "`like: h100-sxm-80gb`" in missing.help and "`clusterspec catalog new accelerator`" in missing.help


def test_an_unknown_part_is_told_of_catalogs() -> None:
    found = study_of(SPEC.format(part="h300-sxm")).checked.findings
    assert "`--catalog DIR`" in next(one for one in found if one.rule == "unknown-catalog-id").help


@pytest.mark.parametrize(
    ("part", "text"),
    [("h100-sxm-80gb", "85.5 GB (sold as 80 GB)"), ("b200-sxm-180gb", "192 GB (sold as 180 GB)"), ("mi300x", "206 GB")],
)
def test_a_capacity_names_the_figure_under_which_the_part_is_sold(part: str, text: str) -> None:
    """H100: 81,559 MiB = 85.52 GB. B200: 183,359 MiB = 192.27 GB."""
    assert study_of(SPEC.format(part=part)).plan.capacity_text.startswith(text)


def test_an_engine_may_use_a_share_of_the_device() -> None:
    """90 % of 85.52 GB are 76.97 GB."""
    one = study_of(SERVED)
    assert one.plan.capacity_text == "77 GB (90 % of 85.5 GB, sold as 80 GB)"


SERVED = """
cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8}}
layout: {framework: vllm, tp: 8}
"""
RACK = """
cluster: {platform: gb200-nvl72, nodes: 72}
workload: {model: deepseek-v3, sequence_length: 4096, global_batch: 2304, precision: fp8}
layout: {tp: 1, pp: 1, ep: 32, recompute: full}
"""


def test_groups_that_do_not_divide_a_rack_are_told_how_many_nodes_to_use() -> None:
    """Groups of 32 in a domain of 72: two whole groups are 64 accelerators, 16 nodes of four."""
    found = study_of(RACK).checked.findings
    crossing = next(one for one in found if one.rule == "ep-crosses-scale-up-domain")
    assert "32 does not divide the 72 ranks" in crossing.help and "`nodes_per_domain: 16`" in crossing.help
