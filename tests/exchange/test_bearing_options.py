"""Options that change a run are read, or listed with what they change, and not among the keys without effect."""

from __future__ import annotations

import pytest

from tests.exchange.imports import given, read, unknown

VLLM = "vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2 --max-num-seqs 64 {}\n"
SGLANG = "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp-size 2 {}\n"
MEGATRON = "torchrun pretrain_gpt.py --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 {}\n"
SIZES = "--num-layers 4 --hidden-size 64 --num-attention-heads 4 {}"
MAXTEXT = "python3 -m MaxText.train base.yml model_name=llama3-8b per_device_batch_size=2 ici_fsdp_parallelism=8 {}\n"
TRAINER = "torchrun sft.py --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 2 {}\n"
FACTORY = "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\ndo_train: true\nper_device_train_batch_size: 2\n{}\n"
VERL = "python3 -m verl.trainer.main_ppo data.train_batch_size=64 actor_rollout_ref.rollout.{}\n"
AXOLOTL = "base_model: Qwen/Qwen3-8B\nsequence_len: 64\nmicro_batch_size: 2\nbf16: auto\n{}\n"


@pytest.mark.parametrize(
    ("text", "what", "why"),
    [
        (VLLM.format("--decode-context-parallel-size 2"), "decode_context_parallel_size: 2", "layout has no key"),
        (VLLM.format("--kv-cache-memory-bytes 8000"), "kv_cache_memory_bytes: 8000", "in place of a share"),
        (VLLM.format("--enable-lora --max-loras 4"), "2 options", "enable_lora, max_loras: 4: adapters"),
        (SGLANG.format("--dcp-size 2"), "dcp_size: 2", "layout has no key"),
        (SGLANG.format("--enable-hierarchical-cache"), "enable_hierarchical_cache", "cache_tiers"),
        (SGLANG.format("--max-total-tokens 4096"), "max_total_tokens: 4096", "in place of a share"),
        (MEGATRON.format("--gtp-weight-remat-size 2"), "gtp_weight_remat_size: 2", "layout has no key"),
        (MEGATRON.format("--fp8-param-gather"), "fp8_param_gather", "precision of weights"),
        (MAXTEXT.format("enable_rampup_batch_size=true"), "enable_rampup_batch_size: true", "may not hold"),
        (MAXTEXT.format("mu_dtype=bfloat16"), "mu_dtype: bfloat16", "optimizer_states"),
        (TRAINER.format("--auto_find_batch_size true"), "auto_find_batch_size: true", "may not hold"),
        (FACTORY.format("pure_bf16: true"), "pure_bf16", "optimizer_states"),
        (AXOLOTL.format("lisa_n_layers: 4"), "lisa_n_layers: 4", "trains a part"),
        (AXOLOTL.format("overrides_of_model_config: {rope_theta: 3}"), "overrides_of_model_config.rope_theta: 3", ""),
    ],
)
def test_what_changes_a_run_is_listed_with_its_effect(text: str, what: str, why: str) -> None:
    found = [each for each in read(text).unknown if each.what == what]
    assert len(found) == 1, unknown(read(text))
    assert found[0].why.startswith("not imported: ")
    assert why in found[0].why


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (VLLM.format("--max-loras 0"), "max_loras"),
        (MEGATRON.format("--gtp-weight-remat-size 1"), "gtp_weight_remat_size"),
        (MAXTEXT.format("enable_rampup_batch_size=false"), "enable_rampup_batch_size"),
    ],
)
def test_what_is_off_is_listed_among_the_keys_without_effect(text: str, name: str) -> None:
    assert [each.what for each in read(text).unknown if name in each.why] == ["1 key"]


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        (VLLM.format("--spec-method ngram --spec-tokens 3"), "workload.serving.speculative.tokens", 3),
        (VLLM.format("--spec-method ngram --spec-tokens 3"), "workload.serving.speculative.method", "ngram"),
        (
            VLLM.format('--compilation-config \'{"cudagraph_mode": "NONE"}\''),
            "workload.serving.captured_graphs",
            False,
        ),
        (TRAINER.format("--activation_checkpointing true"), "layout.recompute", "full"),
        (FACTORY.format("pure_bf16: true"), "workload.precision", "bf16"),
        (AXOLOTL.format("flash_attention: true"), "workload.attention", "flash-2"),
        (AXOLOTL.format("attn_implementation: eager"), "workload.attention", "plain"),
        (AXOLOTL.format("fp8: true"), "workload.precision", "fp8"),
        (AXOLOTL.format("torch_compile: true"), "layout.fused_kernels", True),
        (AXOLOTL.format("liger_rope: true\nliger_fused_linear_cross_entropy: true"), "layout.loss", "chunked"),
        (AXOLOTL.format("liger_rope: true\nliger_cross_entropy: true"), "layout.fused_kernels", True),
        (AXOLOTL.format("liger_cross_entropy: true"), "layout.loss", "fused"),
        (MAXTEXT.format("num_vocab_tiling=4"), "layout.loss", "chunked"),
        (MAXTEXT.format("attention=flash"), "workload.attention", "flash"),
        (MAXTEXT.format("grad_dtype=bfloat16"), "workload.gradient_precision", "bf16"),
        (MEGATRON.format("--no-overlap-p2p-communication"), "layout.overlap.pp", False),
        (VERL.format("enforce_eager=True"), "workload.rl.rollout.captured_graphs", False),
        (VERL.format("quantization=fp8"), "workload.rl.rollout.parameter_precision", "fp8"),
        (VERL.format("pipeline_model_parallel_size=2"), "workload.rl.rollout.pp", 2),
        (VERL.format("expert_parallel_size=8"), "workload.rl.rollout.ep", 8),
    ],
)
def test_what_a_spec_has_a_key_for_is_read(text: str, path: str, value: object) -> None:
    assert given(read(text))[path] == value


def test_captured_graphs_are_left_open_by_another_mode() -> None:
    stated = given(read(VLLM.format('--compilation-config \'{"cudagraph_mode": "FULL"}\'')))
    assert "workload.serving.captured_graphs" not in stated


def test_a_draft_without_a_number_of_tokens_is_listed() -> None:
    reading = read(VLLM.format('--speculative-config \'{"model": "a"}\''))
    assert "states no number of drafted tokens" in unknown(reading)


def test_latent_attention_without_its_rank_counts_no_parameters() -> None:
    reading = read(MEGATRON.format(SIZES.format("--multi-latent-attention")))
    assert "kv_lora_rank: not stated: the default of the release" in unknown(reading)
    assert not [each for each in reading.counts if each.name.startswith("parameters")]


def test_axes_that_take_the_other_devices_are_listed_with_those_stated() -> None:
    assert "other axes leave (ici_fsdp_parallelism 8)" in unknown(read(MAXTEXT.format("")))
