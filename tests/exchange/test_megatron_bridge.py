"""Every override of a launch of Megatron Bridge, worked out by hand from the layout, and what it cannot say."""

from __future__ import annotations

import re
import shlex

import pytest

from clusterspec.exchange.exporters.registry import ExportedFile, NotExportable, exporter_of
from tests.exchange.imports import given, read, unknown
from tests.exchange.test_exporters import pod

WORK = "workload: {{model: {}, sequence_length: 4096, global_batch: 512{}}}\n"


def written(model: str, layout: str, work: str = "", nodes: int = 8) -> ExportedFile:
    rest = f"{WORK.format(model, work)}layout: {{framework: megatron-bridge, {layout}}}\n"
    return exporter_of("megatron-bridge").write(pod(nodes, rest=rest))


def overrides(file: ExportedFile) -> dict[str, str]:
    words = shlex.split(str(file.content).replace("\\\n", " "), comments=True)
    after = words[words.index("--mode") + 2 :]
    pairs = [word.partition("=") for word in after]
    assert all(equals for _, equals, _ in pairs) and len({name for name, _, _ in pairs}) == len(pairs)
    return {name: value for name, _, value in pairs}


DENSE = "tp: 8, pp: 2, cp: 2, virtual_stages: 4, sharding: zero1, overlap: {tp: full}"


def test_a_dense_model_is_stated_in_full() -> None:
    file = written("llama-3.1-70b", DENSE, ", precision: bf16, tokens: 2097152000")
    found = overrides(file)
    sizes = {"num_layers": "80", "hidden_size": "8192", "num_attention_heads": "64", "num_query_groups": "8"}
    sizes |= {"ffn_hidden_size": "28672", "kv_channels": "128", "seq_length": "4096"}
    degrees = {"tensor_model_parallel_size": "8", "pipeline_model_parallel_size": "2", "context_parallel_size": "2"}
    degrees |= {"virtual_pipeline_model_parallel_size": "4", "sequence_parallel": "true", "tp_comm_overlap": "true"}
    block = {"normalization": "RMSNorm", "position_embedding_type": "rope", "rope_scaling": "true"}
    block |= {"gated_linear_unit": "true", "activation_func": "silu", "add_bias_linear": "false"}
    for name, value in (sizes | degrees | block | {"share_embeddings_and_output_weights": "false"}).items():
        assert (name, found[f"model.{name}"]) == (name, value)
    assert found["dataset.seq_length"] == found["model.seq_length"]  # training/config.py refuses two lengths
    assert found["tokenizer.vocab_size"] == "128256"
    assert "model.vocab_size" not in found  # setup.py pads a vocabulary for tensor parallelism if the model has none
    assert found["train.train_iters"] == "1000" and found["mixed_precision"] == "bf16_mixed"
    assert (found["model.overlap_p2p_comm"], found["model.batch_p2p_comm"]) == ("true", "false")
    assert "torchrun --nnodes 8 --nproc_per_node 8 " in str(file.content)
    assert "model.max_position_embeddings" not in found  # no field of the model


@pytest.mark.parametrize(
    ("layout", "optimizer", "divided", "name"),
    [
        ("tp: 8, sharding: none", "adamw", "false", "adam"),
        ("tp: 8, sharding: zero1", "adamw", "true", "adam"),
        ("tp: 8, sharding: zero1", "muon", "false", "dist_muon"),
        ("tp: 8, sharding: none", "muon", "false", "muon"),
    ],
)
def test_both_parts_say_whether_the_optimizer_is_divided(layout: str, optimizer: str, divided: str, name: str) -> None:
    """The optimizer of the recipe is divided, which would turn on the other part."""
    found = overrides(written("llama-3.1-8b", layout, f", optimizer: {optimizer}"))
    assert found["ddp.use_distributed_optimizer"] == found["optimizer.use_distributed_optimizer"] == divided
    assert found["optimizer.optimizer"] == name


def test_sharding_of_parameters_is_that_of_megatron_fsdp() -> None:
    found = overrides(written("llama-3.1-8b", "tp: 1, sharding: hsdp, shard_group: 8"))
    assert found["dist.use_megatron_fsdp"] == found["ddp.use_megatron_fsdp"] == "true"
    assert found["ddp.data_parallel_sharding_strategy"] == "optim_grads_params"
    assert found["ddp.num_distributed_optimizer_instances"] == "8"
    assert found["checkpoint.ckpt_format"] == "fsdp_dtensor"  # training/config.py refuses another with it


def test_a_mixture_of_experts_states_its_lists_and_the_degree_inside_experts() -> None:
    layout = "tp: 2, ep: 8, expert_tp: 1, dispatcher: deepep, recompute: [norm, expert]"
    found = overrides(written("qwen3-30b-a3b", layout))
    assert found["model.num_moe_experts"] == "128" and found["model.moe_router_topk"] == "8"
    assert found["model.expert_tensor_parallel_size"] == "1"
    other = overrides(written("qwen3-30b-a3b", "tp: 2, ep: 8"))
    assert other["model.expert_tensor_parallel_size"] == "2"  # unset, Megatron Bridge would take 1
    assert (found["model.moe_token_dispatcher_type"], found["model.moe_flex_dispatcher_backend"]) == ("flex", "deepep")
    assert found["model.recompute_modules"] == "[layernorm,moe]"
    scout = overrides(written("llama-4-maverick", "tp: 2, ep: 8"))
    assert re.fullmatch(r"\d+|\[(?:[01],)*[01]\]", scout["model.moe_layer_freq"])


@pytest.mark.parametrize(
    ("work", "mixed", "named"),
    [
        ("precision: bf16", "bf16_mixed", ()),
        ("precision: fp16", "fp16_mixed", ()),
        ("precision: fp32", "null", ()),
        ("precision: fp8, recipe: delayed", "bf16_with_fp8_delayed_scaling_mixed", ("gathered in the narrow format",)),
        (
            "precision: fp8, recipe: current",
            "bf16_with_fp8_current_scaling_mixed",
            ("the first 1 and the last 1 layers stay in 16 bits", "gathered in the narrow format"),
        ),
        ("precision: fp8, recipe: blockwise", "bf16_with_fp8_subchannel_scaling_mixed", ()),
        (
            "precision: bf16, gradient_precision: bf16",
            "bf16_mixed",
            ("gradients in bf16: bf16_mixed reduces them in fp32",),
        ),
        ("precision: bf16, gradient_precision: fp32", "bf16_mixed", ()),
        (
            "precision: fp16, gradient_precision: fp32",
            "fp16_mixed",
            ("gradients in fp32: fp16_mixed reduces them in fp16",),
        ),
        ("precision: bf16, attention: flash", "bf16_mixed", ("attention flash: an override does not set",)),
    ],
)
def test_precisions_are_recipes_of_mixed_precision(work: str, mixed: str, named: tuple[str, ...]) -> None:
    file = written("llama-3.1-8b", "tp: 8", f", {work}")
    found, omitted = overrides(file), "\n".join(file.omitted[1:])
    assert found["mixed_precision"] == mixed
    assert found.get("optimizer.bf16") == ("false" if mixed == "null" else None)  # on in the recipe
    assert all(each in omitted for each in named)
    assert not named or "--" not in omitted
    if not named:
        told = ("gathered", "16 bits", "gradients", "attention")
        assert not any(each in omitted for each in told)


def test_what_overrides_cannot_say_is_refused_or_named() -> None:
    with pytest.raises(NotExportable, match="no latent attention"):
        written("deepseek-v3", "tp: 8, ep: 8")
    with pytest.raises(NotExportable, match="order of ranks with Megatron-FSDP"):
        written("llama-3.1-8b", "tp: 2, pp: 2, sharding: fsdp, order: [tp, cp, ep, pp, dp]")
    file = written("gpt3-175b", "tp: 8, pp: 8")
    assert overrides(file)["model.gated_linear_unit"] == "false"
    assert file.omitted[0].startswith("tokenizer, data, learning rate, iterations, validation")
    states = "tp: 8, sharding: zero1, optimizer_states: {moments: fp8}"
    file = written("llama-3.1-8b", states)
    assert "optimizer.exp_avg_dtype" not in overrides(file)
    assert "moments fp8, for which overrides have no name" in "\n".join(file.omitted)
    found = overrides(written("llama-3.1-8b", states.replace("fp8", "bf16")))
    assert found["optimizer.exp_avg_dtype"] == found["optimizer.exp_avg_sq_dtype"] == "bf16"


@pytest.mark.parametrize("sharding", ["none", "zero1", "zero2", "fsdp"])
def test_the_sharding_is_read_back(sharding: str) -> None:
    reading = read(str(written("llama-3.1-8b", f"tp: 1, sharding: {sharding}").content), name="own.sh")
    assert given(reading)["layout.sharding"] == sharding


def test_a_launch_is_read_back_without_a_model_of_its_recipe() -> None:
    reading = read(str(written("qwen3-30b-a3b", "tp: 2, ep: 8, recompute: [norm, expert]").content), name="own.sh")
    found = given(reading)
    assert "vanilla" not in unknown(reading)
    assert found["layout.recompute"] == ["norm", "expert"] and found["layout.ep"] == 8
    assert found["workload.model.layers"] == 48 and found["workload.model.gated_ffn"] is True
