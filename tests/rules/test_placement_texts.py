"""Sentences on where the traffic of a layout goes, each with a sound one."""

# ruff: noqa: E501 (a case is one line of a table)

from __future__ import annotations

import pytest

from clusterspec.rules.placement.text_keeps_group_inside import claims_of
from tests.effort import each

from .conftest import Check

HGX = "cluster: {platform: dgx-h100, nodes: 16}"
RACKS = "cluster: {platform: gb200-nvl72, nodes: 36}"
# the axes of megatron-core: tp innermost, then cp, dp and pp; 128 accelerators, domains of 8
DENSE = "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}"
LAYOUTS = {
    "tp 8": f"{HGX}\n{DENSE}\nlayout: {{framework: megatron-core, tp: 8, pp: 4}}",
    "tp 16": f"{HGX}\n{DENSE}\nlayout: {{framework: megatron-core, tp: 16, pp: 4}}",
    "cp 4": f"{HGX}\n{DENSE}\nlayout: {{framework: megatron-core, tp: 8, cp: 4}}",
    "cp 2": f"{HGX}\n{DENSE}\nlayout: {{framework: megatron-core, tp: 4, cp: 2}}",
    "racks": f"{RACKS}\nworkload: {{model: llama-3.1-70b, sequence_length: 8192, global_batch: 288}}\nlayout: {{framework: megatron-core, tp: 8, pp: 2}}",
    "ep 16": "cluster: {platform: dgx-h200, nodes: 2}\nworkload: {kind: serve, model: deepseek-v3.1, serving: {input_tokens: 4000, output_tokens: 600, concurrency: 256}}\nlayout: {framework: sglang, attention_dp: 16, ep: 16}",
    "ep 8": "cluster: {platform: dgx-h200, nodes: 2}\nworkload: {kind: serve, model: deepseek-v3.1, serving: {input_tokens: 4000, output_tokens: 600, concurrency: 256}}\nlayout: {framework: sglang, attention_dp: 8, ep: 8}",
    "fsdp": f"{HGX}\nworkload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}}\nlayout: {{framework: torchtitan, sharding: fsdp}}",
    "hsdp": f"{HGX}\nworkload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}}\nlayout: {{framework: torchtitan, sharding: hsdp, shard_group: 8}}",
}
TEXTS = [
    ("tp 16", "Tensor parallelism stays inside the node.", "the tp group of 16 ranks spans 2 nodes"),
    ("tp 16", "The tp traffic never leaves the NVLink domain.", "the tp group of 16 ranks spans 2 scale-up domains"),
    ("tp 16", "TP groups are kept on NVLink, the slow fabric carries the rest.", "spans 2 scale-up domains"),
    ("tp 16", "Die Tensorparallelität bleibt innerhalb eines Knotens.", "spans 2 nodes"),
    ("tp 8", "Tensor parallelism stays inside the node.", ""),
    ("tp 8", "All pipeline stages run on the same node, side by side.", "the pp group of 4 ranks spans 4 nodes"),
    ("tp 8", "Gradients never touch InfiniBand.", "the dp group of 4 ranks spans 4 scale-up domains"),
    ("tp 8", "Gradients cross InfiniBand once a step.", ""),
    ("tp 8", "With cp 2 the pipeline would stay inside the node.", ""),
    ("tp 8", "Only tensor parallelism stays inside the node.", ""),
    ("cp 4", "Context parallelism is confined to the node.", "the cp group of 4 ranks spans 4 nodes"),
    ("cp 4", "The cp groups never use the network.", "the cp group of 4 ranks spans 4 scale-up domains"),
    ("cp 2", "Context parallelism is confined to the node.", ""),
    ("racks", "TP stays on NVLink.", ""),
    ("racks", "TP stays inside the node.", "the tp group of 8 ranks spans 2 nodes"),
    ("ep 16", "All experts lie in one NVLink domain.", "the ep group of 16 ranks spans 2 scale-up domains"),
    ("ep 16", "The dispatch never crosses InfiniBand, so the fabric needs no tuning.", "spans 2 scale-up domains"),
    ("ep 16", "The exchange of experts takes place inside the server.", "the ep group of 16 ranks spans 2 nodes"),
    ("ep 16", "Half of the dispatch stays on NVLink.", ""),
    ("ep 8", "The dispatch never crosses InfiniBand.", ""),
    ("fsdp", "The parameter gathers stay inside the node.", "the sharding group of 128 ranks spans 16 nodes"),
    ("hsdp", "The parameter gathers stay inside the node.", ""),
    ("hsdp", "Gradients stay on NVLink.", "the dp group of 128 ranks spans 16 scale-up domains"),
]  # fmt: skip


@each("layout, text, words", TEXTS)
def test_a_group_is_where_the_text_keeps_it(layout: str, text: str, words: str, check: Check) -> None:
    found = [
        each_.message
        for each_ in check(f"clusterspec: 1\ndescription: {text}\n{LAYOUTS[layout]}\n")
        if each_.rule == "text-keeps-group-inside"
    ]
    assert len(found) == bool(words) and all(words in message for message in found)


@pytest.mark.parametrize(
    "sentence",
    ["Experts and gradients stay inside the node", "It stays inside the node", "Experts, as planned, and all of it stays inside the node"],
)  # fmt: skip
def test_a_claim_names_one_kind_of_group(sentence: str) -> None:
    assert list(claims_of(sentence)) == []
