"""What a target refuses by its own checks is not exported; the nearest design that it accepts is.

Sources, read 2026-11-28: NVIDIA/Megatron-LM d98e8a64 (0.20), whose parser and configuration accept every megatron text
here; NVIDIA/TransformerEngine d0067d0d (2.20.0.dev0); deepspeedai/DeepSpeed edaa7221 (0.19.8); pytorch/torchtitan
b5bcd76c; AI-Hypercomputer/maxtext e591f30c.
"""

from __future__ import annotations

import json

import pytest

from clusterspec.exchange.exporters.megatron import stage_text
from clusterspec.exchange.exporters.registry import ExportedFile, NotExportable, exporter_of
from tests.effort import each
from tests.exchange.imports import given, read
from tests.exchange.test_exporters import pod

DENSE, MIXED, LATENT = "llama-3.1-8b", "qwen3-30b-a3b", "deepseek-v3"


def written(kind: str, model: str, work: str, layout: str) -> ExportedFile:
    facts = f"model: {model}, sequence_length: 4096, global_batch: 512, {work}"
    return exporter_of(kind).write(pod(8, rest=f"workload: {{{facts}}}\nlayout: {{{layout}}}\n"))


@each(
    "kind, model, refused, accepted, reason",
    [
        # megatron/core/optimizer/__init__.py, lines 1054 and 776
        (
            "megatron",
            DENSE,
            ("precision: bf16", "tp: 2, sharding: none, offload: {optimizer: 0.5}"),
            ("precision: bf16", "tp: 2, sharding: zero1, offload: {optimizer: 0.5}"),
            "without the distributed optimizer",
        ),
        (
            "megatron",
            DENSE,
            ("precision: fp16, optimizer: muon", "tp: 2"),
            ("precision: bf16, optimizer: muon", "tp: 2"),
            "muon in fp16",
        ),
        # megatron/core/optimizer/optimizer_config.py, line 434; megatron/training/arguments.py, line 1150
        (
            "megatron",
            DENSE,
            ("precision: bf16, optimizer: sgd", "tp: 2, offload: {optimizer: 1}"),
            ("precision: bf16, optimizer: adamw", "tp: 2, offload: {optimizer: 1}"),
            "states of Adam",
        ),
        (
            "megatron",
            DENSE,
            ("precision: bf16, optimizer: lion", "tp: 2, sharding: fsdp"),
            ("precision: bf16, optimizer: lion", "tp: 2, sharding: zero1"),
            "Megatron-FSDP",
        ),
        # megatron/training/arguments.py, line 883
        (
            "megatron",
            "gpt3-6.7b",
            ("precision: bf16, predicted_layers: 1", "tp: 2"),
            ("precision: bf16", "tp: 2"),
            "rotary positions",
        ),
        # megatron/core/transformer/moe/moe_layer.py, line 636
        (
            "megatron",
            MIXED,
            ("precision: bf16", "tp: 2, ep: 8, sequence_parallel: false"),
            ("precision: bf16", "tp: 1, ep: 8, sequence_parallel: false"),
            "sequence parallelism",
        ),
        # megatron/core/parallel_state.py, lines 880 (64 ranks: dp 64 / 4, of experts 64 / 16) and 1447
        (
            "megatron",
            MIXED,
            ("precision: bf16", "tp: 2, pp: 2, ep: 8, expert_tp: 1, order: [tp, cp, ep, pp, dp]"),
            ("precision: bf16", "tp: 2, pp: 2, ep: 2, expert_tp: 1, order: [tp, cp, ep, pp, dp]"),
            "order of ranks",
        ),
        (
            "megatron",
            MIXED,
            ("precision: bf16", "tp: 1, ep: 32, sharding: hsdp, shard_group: 16"),
            ("precision: bf16", "tp: 1, ep: 16, sharding: hsdp, shard_group: 16"),
            "4 shard groups for 2 data-parallel ranks of experts",
        ),
        # TransformerEngine, context_parallel.py, line 5057
        (
            "megatron",
            "gpt-oss-120b",
            ("precision: bf16", "ep: 4, cp: 2, cp_method: ring"),
            ("precision: bf16", "ep: 4, cp: 2, cp_method: all-to-all"),
            "windows",
        ),
        # megatron/core/transformer/transformer_config.py, lines 1997 and 1526
        (
            "megatron",
            DENSE,
            ("precision: fp8, recipe: delayed", "tp: 2, recompute: [norm]"),
            ("precision: fp8, recipe: delayed", "tp: 2, recompute: [mlp]"),
            "delayed scaling",
        ),
        (
            "megatron",
            DENSE,
            ("precision: fp8, recipe: delayed, bf16_layers: {first: 1, last: 1}", "tp: 2"),
            ("precision: fp8, recipe: current, bf16_layers: {first: 1, last: 1}", "tp: 2"),
            "layers in 16 bits",
        ),
        # torchtitan/distributed/parallel_dims.py, line 183: the ranks of experts are those of shards, cp and tp
        (
            "torchtitan",
            MIXED,
            ("precision: bf16", "software: torchtitan, tp: 1, ep: 8, sharding: none"),
            ("precision: bf16", "software: torchtitan, tp: 1, ep: 8, sharding: fsdp"),
            "divides shard",
        ),
        # src/maxtext/configs/types.py, lines 4250 and 3566
        (
            "maxtext",
            MIXED,
            ("precision: bf16, optimizer: muon", "software: maxtext, tp: 8"),
            ("precision: bf16, optimizer: adamw", "software: maxtext, tp: 8"),
            "no qwen3_moe decoder with muon",
        ),
        (
            "maxtext",
            "{base: deepseek-v3, layers: 64}",
            ("precision: bf16", "software: maxtext, tp: 8, pp: 4"),
            ("precision: bf16", "software: maxtext, tp: 8"),
            "outside of its pipeline",
        ),
    ],
)
def test_a_refused_combination_is_not_written(
    kind: str, model: str, refused: tuple[str, str], accepted: tuple[str, str], reason: str
) -> None:
    with pytest.raises(NotExportable, match=reason):
        written(kind, model, *refused)
    assert written(kind, model, *accepted).content


@each(
    "model, work, layout, has, has_not",
    [
        # training/arguments.py, line 883: layers of prediction with rotary positions alone
        ("mimo-7b", "precision: bf16, predicted_layers: 1", "tp: 2", "--position-embedding-type rope", ""),
        ("mimo-7b", "precision: bf16", "tp: 2", "--num-layers 36", "--position-embedding-type"),
        # optimizer/__init__.py, line 1054: one data-parallel rank shards nothing either way
        (DENSE, "precision: bf16", "tp: 8, pp: 8, sharding: none, offload: {optimizer: 1}", "--use-distributed-op", ""),
        # transformer_config.py, lines 1997 and 1526: delayed scaling is the default, and refuses both
        (DENSE, "precision: fp8", "tp: 2, recompute: [norm]", "--fp8-recipe tensorwise", ""),
        (DENSE, "precision: fp8, bf16_layers: {first: 1, last: 1}", "tp: 2", "--fp8-recipe tensorwise", ""),
        (DENSE, "precision: fp8", "tp: 2", "--fp8-format hybrid", "--fp8-recipe"),
        (LATENT, "precision: fp8, recipe: blockwise", "tp: 2, recompute: [norm]", "--fp8-recipe blockwise", ""),
        # lines 1965 and 1970: a dense model has no experts to compute again, and Llama no latent attention
        (DENSE, "precision: bf16", "tp: 2, recompute: [activation, mlp]", "--recompute-modules mlp \\", "moe_act"),
        (DENSE, "precision: bf16", "tp: 2, recompute: [activation]", "--num-layers", "--recompute-granularity"),
        (LATENT, "precision: bf16", "tp: 2, recompute: [activation, latent]", "moe_act mla_up_proj", ""),
        (MIXED, "precision: bf16", "tp: 2, recompute: [activation, latent]", "--recompute-modules moe_act \\", "mla"),
        # line 2660: one expert for each token
        ("llama-4-scout", "precision: bf16", "tp: 2", "--moe-router-pre-softmax", ""),
        (MIXED, "precision: bf16", "tp: 2", "--moe-router-topk 8", "--moe-router-pre-softmax"),
        # line 2612: no biases with experts that tensor parallelism divides
        ("olmoe-1b-7b", "precision: bf16", "tp: 2, ep: 1", "--disable-bias-linear", ""),
        ("olmoe-1b-7b", "precision: bf16", "tp: 2, ep: 8, expert_tp: 1", "--num-experts", "--disable-bias-linear"),
        # moe/token_dispatcher.py, line 1836: more than one rank of experts
        (MIXED, "precision: bf16", "tp: 1, ep: 1, dispatcher: deepep", "dispatcher-type alltoall", "flex"),
        (MIXED, "precision: bf16", "tp: 1, ep: 8, dispatcher: deepep", "flex-dispatcher-backend deepep", ""),
        # training/arguments.py, line 2626: a momentum of 0.9 by default
        (DENSE, "precision: bf16, optimizer: sgd", "tp: 2", "--optimizer sgd --sgd-momentum 0", ""),
        (DENSE, "precision: bf16, optimizer: momentum", "tp: 2", "--optimizer sgd", "--sgd-momentum"),
    ],
)
def test_megatron_is_given_what_it_accepts(model: str, work: str, layout: str, has: str, has_not: str) -> None:
    text = str(written("megatron", model, work, layout).content)
    assert has in text
    assert not has_not or has_not not in text


def test_prediction_layers_stand_before_the_loss_of_a_pipeline() -> None:
    """pipeline_parallel_layer_layout.py, line 110: as many m as ``--mtp-num-layers``, after all t."""
    assert stage_text((2, 1), 1) == "Ett|tmL"
    text = written("megatron", LATENT, "precision: bf16, predicted_layers: 1", "tp: 2, pp: 2")
    assert f"'E{'t' * 31}|{'t' * 30}mL'" in str(text.content)
    assert f"|{'t' * 30}L'" in str(written("megatron", LATENT, "precision: bf16", "tp: 2, pp: 2").content)


@pytest.mark.parametrize("optimizer", ["adam", "sgd", "momentum", "lion", "muon"])
def test_an_optimizer_of_megatron_comes_back(optimizer: str) -> None:
    text = str(written("megatron", DENSE, f"precision: bf16, optimizer: {optimizer}", "tp: 2").content)
    assert given(read(text))["workload.optimizer"] == optimizer


@each(
    "optimizer, sharding, allowed",
    [
        ("sgd", "zero1", True),
        ("momentum", "zero2", True),
        ("adafactor", "fsdp", True),
        ("sgd", "none", False),
        ("adamw", "zero1", False),
        ("lion", "zero2", False),
        ("muon", "zero1", False),
    ],
)
def test_deepspeed_is_told_of_optimizers_that_it_has_not_tested(optimizer: str, sharding: str, allowed: bool) -> None:
    """deepspeed/runtime/engine.py, line 1987, and the list of runtime/zero/utils.py, line 45."""
    text = str(written("deepspeed", DENSE, f"precision: bf16, optimizer: {optimizer}", f"sharding: {sharding}").content)
    found = json.loads(text)
    assert found.get("zero_allow_untested_optimizer", False) is allowed
    assert (found["optimizer"].get("params") == {"momentum": 0.9}) is (optimizer == "momentum")
    assert given(read(text.encode(), "deepspeed"))["workload.optimizer"] == optimizer


def launched(kind: str, model: str, serving: str, layout: str) -> ExportedFile:
    load = f"input_tokens: 1000, output_tokens: 1000, concurrency: 64{serving}"
    work = f"{{kind: serve, model: {model}, serving: {{{load}}}}}"
    return exporter_of(kind).write(pod(2, rest=f"workload: {work}\nlayout: {{software: {kind}, {layout}}}\n"))


MATCHED = ", speculative: {tokens: 2, acceptance: 0.7, method: ngram}"


@each(
    "kind, serving, refused, accepted, reason",
    [
        # vLLM 0.33.0, vllm/config/parallel.py, line 571: experts on all ranks of tensor and data parallelism
        ("vllm", "", "tp: 8, ep: 4", "tp: 8, ep: 8", "lays experts on all 8 ranks"),
        ("vllm", "", "tp: 2, attention_dp: 4, ep: 4", "tp: 2, attention_dp: 4, ep: 8", "lays experts on all 8 ranks"),
        # SGLang 0.5.23, sglang/srt/arg_groups/overrides.py, line 1619: with DeepEP alone
        ("sglang", "", "tp: 8, ep: 4, dispatcher: deepep", "tp: 8, ep: 4", "SGLang with DeepEP"),
        # SGLang 0.5.9, server_args.py, line 5136; 0.5.23, arg_groups/validation_hook.py, line 131
        ("sglang", MATCHED, "tp: 4, pp: 2", "tp: 4", "no tokens with pipeline stages"),
        ("sglang", MATCHED, "tp: 4, pp: 2", "tp: 2, pp: 2, attention_dp: 2", "no tokens with pipeline stages"),
    ],
)
def test_an_engine_is_not_launched_as_another(
    kind: str, serving: str, refused: str, accepted: str, reason: str
) -> None:
    with pytest.raises(NotExportable, match=reason):
        launched(kind, MIXED, serving, refused)
    assert launched(kind, MIXED, serving, accepted).content


def test_chunks_of_sglang_are_whole_pages() -> None:
    """0.5.9: server_args.py, line 5180; 0.5.23: arg_groups/validation_hook.py, line 244: of each replica."""
    roles = "{replicas: 1, tp: 8, ep: 8}"
    apart = f", disaggregated: {{prefill: {roles}, decode: {roles}, transfer: {{block_tokens: 64}}}}"
    for tokens, whole in ((1000, 960), (1024, 1024), (40, 64)):
        written_file = launched("sglang", LATENT, f", chunk_tokens: {tokens}{apart}", "nodes: 2")
        assert f"--chunked-prefill-size {whole} " in str(written_file.content)
        assert any("whole pages" in each for each in written_file.omitted) is (tokens != whole)
    assert "--chunked-prefill-size 1000 " in str(launched("sglang", MIXED, ", chunk_tokens: 1000", "tp: 8").content)


MAXTEXT = "software: maxtext, tp: 8"


@each(
    "model, has, has_not",
    [
        # configs/models/qwen3-30b-a3b.yml: a rotary base of 10,000,000, that of a later release
        (
            MIXED,
            "decoder_block: qwen3_moe|use_qk_norm: true|rope_max_timescale: 1000000|base_mlp_dim: 768",
            "model_name",
        ),
        ("qwen3-32b", "model_name: qwen3-32b", "use_qk_norm"),
        ("mixtral-8x22b", "vocab_size: 32000", "model_name"),
        ("qwen2.5-32b", "attention_bias: true", "use_qk_norm"),
        ("llama-3.2-1b", "logits_via_embedding: true|normalize_embedding_logits: false", "attention_bias"),
        ("gpt3-175b", "trainable_position_size: 4096|opt_type: adamw|vocab_size: 50304", "rope_max_timescale"),
        (
            "{base: deepseek-v3, layers: 64}",
            "routed_score_func: sigmoid|routed_scaling_factor: 2.5|first_num_dense_layers: 3|base_mlp_dim: 18432",
            "use_qk_norm",
        ),
    ],
)
def test_maxtext_trains_the_model_of_the_design(model: str, has: str, has_not: str) -> None:
    """Parts that are off or other by default (configs/base.yml), and names that mean another release."""
    text = str(written("maxtext", model, "precision: bf16", MAXTEXT).content)
    for line in has.split("|"):
        assert f"{line}\n" in text, line
    assert has_not not in text
