"""Recomputation means the same for time and for memory: what costs a kernel saves its bytes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from clusterspec.catalog.frameworks import framework_of
from clusterspec.cost.estimate import estimate
from clusterspec.cost.memory import Job
from clusterspec.cost.memory.fullest import memory_use
from clusterspec.cost.memory.recomputation import MODULES, kept_tensors
from clusterspec.cost.plan import Plan
from clusterspec.document.conforms import node_at
from clusterspec.spec import schema
from clusterspec.studies import study_text
from tests.catalog.shipped import CATALOG
from tests.cost.memory.designs import design, experts, model
from tests.effort import diagonal, telling, thorough
from tests.settings import SETTINGS

STACKS = [name for name in CATALOG.ids("stack") if framework_of(name.rpartition("-")[0], CATALOG).trains]
LATENT = {"base": "deepseek-v3", "layers": 8, "moe_layers": 4}


def plan(layout: dict[str, Any], model: Any = "llama-3.1-8b", **work: Any) -> Plan:
    spec = {
        "clusterspec": 1,
        "name": "test",
        "cluster": {"platform": "dgx-h100", "nodes": 16},
        "workload": {"model": model, "sequence_length": 4096, "global_batch": 1024, **work},
        "layout": layout,
    }
    return estimate(study_text(json.dumps(spec), SETTINGS).design)


def stored(found: Plan) -> float:
    """Bytes of activations that layers keep, without what one layer needs at work."""
    assert found.memory is not None
    passing = {"working_space", "logits_and_loss"}
    return sum(part.value for part in found.memory.activations.parts if part.name not in passing)


def seconds(found: Plan) -> float:
    assert found.step_time is not None
    return found.step_time.value


@thorough
@pytest.mark.parametrize(("stack", "attention"), diagonal(len(STACKS), STACKS, ["flash", "plain"]))
def test_selective_recomputation_costs_time_and_saves_memory(stack: str, attention: str) -> None:
    framework, _, year = stack.rpartition("-")
    layout = {"framework": framework, "software_year": int(year)}
    none, selective, full = (
        plan({**layout, "recompute": word}, attention=attention) for word in ("none", "selective", "full")
    )
    if none.step_time is not None:
        assert seconds(none) < seconds(selective) < seconds(full)
    assert stored(full) < stored(none)
    assert stored(selective) < stored(none)


def test_the_format_and_memory_know_the_same_modules() -> None:
    assert tuple(node_at(schema(), ("layout", "recompute", 0))["enum"]) == MODULES


@telling(2)
@pytest.mark.parametrize("module", MODULES)
def test_a_module_costs_time_and_saves_memory(module: str) -> None:
    layout = {"framework": "megatron-core", "ep": 8}
    none, some = (plan({**layout, "recompute": chosen}, LATENT) for chosen in ("none", [module]))
    assert seconds(some) > seconds(none)
    assert stored(some) < stored(none)


def test_modules_add_up() -> None:
    layout = {"framework": "megatron-core", "ep": 8}

    def saved(modules: Any) -> float:
        return stored(plan({**layout, "recompute": "none"}, LATENT)) - stored(
            plan({**layout, "recompute": modules}, LATENT)
        )

    apart = saved(["norm"]) + saved(["latent"]) + saved(["mlp"])
    assert saved(["norm", "latent", "mlp"]) == pytest.approx(apart)


def test_light_recomputation_is_its_modules() -> None:
    """What selective means in Megatron Core 2026: norms, activation functions, expansions of latents."""
    layout = {"framework": "megatron-core", "software_year": 2026, "ep": 8}
    words, modules = (
        plan({**layout, "recompute": chosen}, LATENT) for chosen in ("selective", ["norm", "activation", "latent"])
    )
    assert stored(words) == stored(modules)
    assert seconds(words) == pytest.approx(seconds(modules))


def test_norms_keep_their_input_and_drop_their_output() -> None:
    """Two norms of 8 layers: 2 × 8 × tokens × hidden × 2 bytes less."""
    layout = {"framework": "megatron-core", "tp": 1}
    none, some = (plan({**layout, "recompute": chosen}) for chosen in ("none", ["norm"]))
    assert stored(none) - stored(some) == 2 * 32 * 4096 * 4096 * 2


def parts(framework: str, year: int, **cut: Any) -> dict[str, float]:
    """Activations of eight layers (hidden 1024, 16 and 8 heads of 64, feed-forward 4096) at 2,048 tokens."""
    found, _ = memory_use(design(model(), framework=framework, software_year=year, **cut))
    assert found is not None
    return {part.name: part.value for part in found.activations.parts}


TOKENS, LAYERS = 2048, 8


def test_projections_are_queries_keys_and_values() -> None:
    """MaxText saves the layer's input, 1,024 numbers, and (16 + 2 × 8) × 64 of its projections."""
    found = parts("maxtext", 2025, recompute="selective")
    assert found["layer_inputs"] == LAYERS * 2 * TOKENS * 1024
    assert found["projections"] == LAYERS * 2 * TOKENS * 32 * 64


def test_every_second_product_is_kept() -> None:
    """torchtitan keeps input and output of a layer, queries, values and the output of attention, and one of the
    products of the feed-forward network: (2 × 16 + 8) × 64 and 4,096 numbers.
    """
    found = parts("torchtitan", 2025, recompute="selective")
    assert found["layer_inputs"] == found["layer_outputs"] == LAYERS * 2 * TOKENS * 1024
    assert found["attention"] == LAYERS * 2 * TOKENS * 40 * 64
    assert found["feed_forward"] == LAYERS * 2 * TOKENS * 4096


def expert_parts(year: int, shared: int, **cut: Any) -> dict[str, float]:
    """As `parts`, of a model with two of 16 experts for each token in seven of its eight layers."""
    found, _ = memory_use(
        design(experts(shared_experts=shared), framework="torchtitan", software_year=year, recompute="selective", **cut)
    )
    assert found is not None
    return {part.name: part.value for part in found.activations.parts if part.value}


@pytest.mark.parametrize(("year", "shared", "saved"), [(2025, 1, 2), (2025, 0, 0), (2026, 0, 2), (2024, 1, 0)])
def test_exchanged_rows_of_experts_are_kept_where_the_software_saves_them(year: int, shared: int, saved: int) -> None:
    """Two copies of each token, dispatched and combined: 2 × 2 × 2,048 × 1,024 numbers of 16 bits in seven layers."""
    found = expert_parts(year, shared, dp=4, ep=4)
    assert found.get("exchanged_rows", 0.0) == saved * 2 * TOKENS * 1024 * 2 * 7
    assert "exchanged_rows" not in expert_parts(year, shared, dp=4)


def test_scattered_sums_of_attention_are_kept_by_tensor_parallel_ranks() -> None:
    """A quarter of the tokens on each of four ranks: 2,048 × 1,024 / 4 numbers of 16 bits a layer, in eight layers."""
    found = parts("torchtitan", 2025, recompute="selective", tp=4, sequence_parallel=True)
    assert found["scattered_sums"] == LAYERS * 2 * TOKENS * 1024 / 4
    assert not parts("torchtitan", 2025, recompute="selective").get("scattered_sums")


def test_every_second_layer_is_kept_whole() -> None:
    whole, half = (parts("fsdp", 2026, recompute=word) for word in ("none", "selective"))
    for name in ("normalizations", "attention", "feed_forward"):
        assert half[name] == whole[name] / 2
    assert half["layer_inputs"] == LAYERS / 2 * 2 * TOKENS * 1024


def test_the_attention_core_leaves_its_softmax() -> None:
    """Selective recomputation of Megatron until 2025: the log-sum-exp of 16 heads in fp32, or five bytes a score."""
    for attention, name, size in (("flash", "softmax", 4), ("plain", "scores", 5 * 2048)):
        whole, some = (
            memory_use(design(model(), {"attention": attention}, software_year=2023, recompute=word))[0]
            for word in ("none", "selective")
        )
        assert whole is not None and some is not None
        gone = {part.name: part.value for part in whole.activations.parts if part.name == name}
        assert gone == {name: LAYERS * size * TOKENS * 16}
        assert name not in {part.name for part in some.activations.parts}


def test_scores_are_as_wide_as_other_activations() -> None:
    """Korthikanti et al.: 2 + 1 + 2 bytes of softmax, mask and dropout in 16 bits; 4 + 1 + 4 in fp32, also for tf32."""
    for precision, each in (("bf16", 5), ("fp16", 5), ("fp8", 5), ("fp32", 9), ("tf32", 9)):
        work = {"attention": "plain", "precision": precision}
        found = memory_use(design(model(), work, software_year=2023, recompute="none"))[0]
        assert found is not None
        assert {part.value for part in found.activations.parts if part.name == "scores"} == {
            LAYERS * each * 2048 * TOKENS * 16
        }


def test_offloaded_layers_keep_two_layers_on_the_device() -> None:
    """On TPUs MaxText's recipes keep in host memory what they save; two layers are in transit."""
    job = replace(job_of("maxtext", 2025, recompute="selective"), vendor="Google")
    there = {tensor.name: tensor.value for tensor in kept_tensors(job)}
    assert there["layer inputs"] == 2 / LAYERS * 2 * TOKENS * 1024


def job_of(framework: str, year: int, **cut: Any) -> Job:
    whole = design(model(), framework=framework, software_year=year, **cut)
    assert whole.workload and whole.layout
    return Job.of(whole, whole.workload, whole.layout)


TPU = """\
clusterspec: 1
cluster: {platform: tpu-v5p, nodes: 64, host_memory: 200 GB}
workload: {model: llama-2-70b, sequence_length: 4096, global_batch: 1024}
layout: {framework: maxtext, sharding: fsdp, recompute: selective, micro_batch: 4}
"""


def test_what_selective_recomputation_keeps_on_the_host_is_counted_there() -> None:
    """16,384 tokens × 2 B × (8,192 of the input + 80 heads × 128 of queries, keys and values) in 78 of 80 layers."""
    one = study_text(TPU, SETTINGS)
    assert one.plan.stored is not None
    assert one.plan.stored.saved_on_host == pytest.approx(16_384 * 2 * (8_192 + 10_240) * 78)
    assert "memory.selective" in {key for key, _, _ in one.plan.assumptions}
    found = {each.rule: each for each in one.findings}["offload-exceeds-host-memory"]
    assert found.path == ("layout", "recompute") and "94 %" in found.message and found.severity == "warning"
    for other in (TPU.replace("selective", "full"), TPU.replace("200 GB", "512 GB")):
        assert "offload-exceeds-host-memory" not in {each.rule for each in study_text(other, SETTINGS).findings}
    full = study_text(TPU.replace("selective", "full"), SETTINGS).plan
    assert full.stored is not None and full.stored.saved_on_host == 0
    assert "memory.selective" not in {key for key, _, _ in full.assumptions}
