"""What a design uses, in the words of the support matrix: each key of a spec adds its use, and no other key does."""

from __future__ import annotations

import pytest

from clusterspec.cluster.demands import (
    demands_of,
    design_uses,
    fixed_uses,
    layout_numbers,
    recomputation_uses,
    sharding_use,
)
from tests.cluster.resolving import clean
from tests.effort import each

TRAIN = "model: llama-2-7b, sequence_length: 4096, global_batch: 16"
SERVE = "kind: serve, model: llama-2-7b, serving: {input_tokens: 1000, output_tokens: 100, concurrency: 8"


def uses(workload: str = TRAIN, layout: str = "tp: 2", cluster: str = "platform: dgx-h100, nodes: 1") -> frozenset[str]:
    """The uses that search does not vary."""
    design = clean(f"cluster: {{{cluster}}}\nworkload: {{{workload}}}\nlayout: {{{layout}}}")
    assert design.cluster is not None and design.layout is not None
    return fixed_uses(design.cluster, design.workload, design.layout)


NAMES = {"model-llama", "model-llama-2", "model-llama-2-7b"}
TRAINED = NAMES | {"sm_90", "train", "precision-bf16", "weights-bf16", "optimizer-adam", "gradients-fp32"}
PLAIN = TRAINED | {"master-fp32", "moments-fp32"}
SERVED = NAMES | {"sm_90", "serve", "precision-bf16", "weights-bf16", "cache-bf16"}


def test_a_plain_design_uses_what_its_defaults_are() -> None:
    assert uses() == PLAIN
    assert uses(SERVE + "}") == SERVED


Row = tuple[str, set[str], set[str]]
LAYOUTS: tuple[Row, ...] = (
    ("cp_method: ring", {"ring"}, set()),
    ("cp: 2", set(), set()),  # a method that the spec leaves open is no use
    ("dispatcher: all-to-all", set(), set()),
    ("dispatcher: deepep", {"deepep"}, set()),
    ("dispatcher: hybrid", {"hybrid-dispatcher"}, set()),
    ("offload: {optimizer: 0.5}", {"optimizer-offload"}, set()),
    ("offload: {activations: 0.5}", {"activation-offload"}, set()),
    ("overlap: {tp: full}", {"tp-overlap"}, set()),
    ("overlap: {tp: partial}", set(), set()),
    ("overlap: {ep: true}", {"expert-overlap"}, set()),
    (
        "optimizer_states: {master: none, moments: bf16}",
        {"master-none", "moments-bf16"},
        {"master-fp32", "moments-fp32"},
    ),
)


@each(("key", "added", "dropped"), LAYOUTS)
def test_a_setting_of_the_layout_is_a_use_where_it_is_stated(key: str, added: set[str], dropped: set[str]) -> None:
    assert uses(layout=f"tp: 2, {key}") == PLAIN - dropped | added


WORKLOADS: tuple[Row, ...] = (
    ("precision: fp16", {"precision-fp16"}, {"precision-bf16"}),
    ("parameter_precision: fp32", {"weights-fp32"}, {"weights-bf16"}),
    ("optimizer: muon", {"optimizer-muon"}, {"optimizer-adam"}),
    ("gradient_precision: bf16", {"gradients-bf16"}, {"gradients-fp32"}),
    ("attention: plain", {"plain-attention"}, set()),
    ("attention: flash", set(), set()),
    (
        "precision: fp8, gradient_precision: fp32, recipe: blockwise",
        {"precision-fp8", "recipe-blockwise"},
        {"precision-bf16"},
    ),
)


@each(("key", "added", "dropped"), WORKLOADS)
def test_a_setting_of_the_workload_is_a_use(key: str, added: set[str], dropped: set[str]) -> None:
    assert uses(f"{TRAIN}, {key}") == PLAIN - dropped | added


REQUESTS: tuple[tuple[str, set[str]], ...] = (
    ("", set()),
    (", speculative: {tokens: 3, acceptance: 0.5}", {"speculation"}),
    (", speculative: {tokens: 3, acceptance: 0.5, method: eagle}", {"speculation", "speculation-eagle"}),
    (", prefix_hit: 0.5", {"prefix-cache"}),
    (", disaggregated: {prefill: {tp: 2}, decode: {tp: 2}}", {"disaggregation"}),
    (", disaggregated: {prefill: {tp: 2}, decode: {tp: 4}}", {"disaggregation"}),
    (", disaggregated: {prefill: {tp: 4}, decode: {tp: 2}}", {"disaggregation", "narrower-decode"}),
)


@each(("key", "added"), REQUESTS)
def test_a_setting_of_the_requests_is_a_use(key: str, added: set[str]) -> None:
    assert uses(SERVE + key + "}") == SERVED | added


def test_a_cache_and_the_weights_of_experts_have_a_use_where_they_exist() -> None:
    assert uses(f"kv_precision: fp8, {SERVE}}}") == SERVED - {"cache-bf16"} | {"cache-fp8"}
    experts = uses(TRAIN.replace("llama-2-7b", "mixtral-8x7b") + ", expert_parameter_precision: fp8")
    assert {"experts", "expert-weights-fp8", "weights-bf16"} <= experts


FABRICS: tuple[tuple[str, str, set[str]], ...] = (
    ("platform: dgx-h100, nodes: 2", "", set()),
    ("accelerator: h100-sxm-80gb, nodes: 2, scale_out: {technology: ethernet}", "", {"tcp-fabric"}),
    ("platform: aws-p5-48xlarge, nodes: 2", "", {"efa-fabric"}),
    ("platform: aws-p5-48xlarge, nodes: 2", ", nodes: 1", set()),  # a job of one node crosses no fabric
    ("platform: aws-p5-48xlarge, nodes: 1", "", set()),
)


@each(("cluster", "layout", "added"), FABRICS)
def test_a_fabric_is_a_use_of_jobs_on_several_nodes(cluster: str, layout: str, added: set[str]) -> None:
    assert uses(layout=f"tp: 2{layout}", cluster=cluster) == PLAIN | added


ASKED = "acceptance: [{{collective: all-reduce, nodes: 2, size: 1 GiB, busbw: 300 GB/s, algorithm: {}}}]\n"


@pytest.mark.parametrize(
    ("cluster", "tests", "reduces"),
    [
        ("", "", False),
        (", scale_up: {in_network_reduction: false}", "", False),
        (", scale_up: {in_network_reduction: true}", "", True),
        ("", ASKED.format("ring"), False),
        ("", ASKED.format("nvls"), True),
    ],
)
def test_reduction_in_switches_is_a_use_where_the_spec_asks_for_it(cluster: str, tests: str, reduces: bool) -> None:
    machine = f"cluster: {{platform: dgx-h100, nodes: 2{cluster}}}\n{tests}"
    for layout in ("", f"workload: {{{TRAIN}}}\nlayout: {{tp: 2}}\n"):
        assert ("switch-reduction" in design_uses(clean(machine + layout))) == reduces


@pytest.mark.parametrize(("recompute", "used"), [("", []), ("none", []), ("selective", ["recomputation"])])
def test_an_undecided_recomputation_or_sharding_is_no_use(recompute: str, used: list[str]) -> None:
    assert list(recomputation_uses(recompute)) == used
    assert list(recomputation_uses("full")) == ["recomputation", "full-recomputation"]
    assert [sharding_use(each) for each in ("", "none", "zero1")] == ["", "unsharded", "zero1"]


def test_the_demands_of_a_design_are_those_of_its_kind() -> None:
    """Training has a batch and a sequence; engines serve; fp8 weights count where engines load them."""
    head = "cluster: {platform: dgx-h100, nodes: 2}\nworkload: "
    demands = demands_of(clean(f"{head}{{{TRAIN}}}\nlayout: {{tp: 2}}"))
    assert (demands.ranks, demands.batch, demands.sequence) == (16, 16, 4096)
    assert (demands.serves, demands.fp8_weights) == (False, False)
    demands = demands_of(clean(f"{head}{{parameter_precision: fp8, precision: fp8, {SERVE}}}}}\nlayout: {{tp: 2}}"))
    assert (demands.ranks, demands.batch, demands.sequence) == (16, None, None)
    assert (demands.serves, demands.fp8_weights) == (True, True)
    experts = SERVE.replace("llama-2-7b", "mixtral-8x7b")
    for key, kept in (("expert_parameter_precision: fp8", True), ("parameter_precision: fp8", True)):
        assert demands_of(clean(f"{head}{{{key}, {experts}}}}}\nlayout: {{tp: 2}}")).fp8_weights == kept
    apart = "disaggregated: {prefill: {tp: 4}, decode: {replicas: 2, tp: 2, attention_dp: 3}}"
    demands = demands_of(clean(f"{head}{{{SERVE}, {apart}}}}}\nlayout: {{}}"))
    assert demands.ranks == 12  # those of decode
    idle = demands_of(clean("cluster: {platform: dgx-h100, nodes: 2}\nlayout: {tp: 2, nodes: 1}"))
    assert (idle.ranks, idle.model, idle.batch, idle.serves) == (8, None, None, False)


def test_the_numbers_of_a_layout_are_those_of_its_keys() -> None:
    found = layout_numbers(
        clean(
            f"cluster: {{platform: dgx-h100, nodes: 8}}\nworkload: {{{TRAIN}}}\n"
            "layout: {tp: 2, cp: 2, pp: 4, virtual_stages: 2, schedule: interleaved, sharding: none, recompute: full}"
        )
    )
    assert (found.tp, found.cp, found.ep, found.expert_tp, found.pp, found.virtual_stages) == (2, 2, 1, 2, 4, 2)
    assert (found.micro_batch, found.interleaved, found.sequence_parallel) == (1, True, True)
    assert (found.own_stages, found.ring, found.attention_dp, found.redundant_experts) == (False, True, 1, 0)
    assert (found.sharding, found.schedule, found.recompute) == ("none", "interleaved", "full")
    found = layout_numbers(
        clean(
            f"cluster: {{platform: dgx-h100, nodes: 2}}\nworkload: {{{TRAIN}}}\n"
            "layout: {cp: 2, cp_method: all-to-all, pp: 2, stage_layers: [15, 17], micro_batch: 2}"
        )
    )
    assert (found.own_stages, found.ring, found.interleaved, found.micro_batch) == (True, False, False, 2)
