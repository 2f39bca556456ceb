"""Options that a launch has in any case, with values that its script does not decide: no default takes their place."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.effort import each
from tests.exchange.imports import given, read, unknown

TUNING = """\
#!/bin/bash
for size in 16 32 64; do
  export RANK_OF_ADAPTERS="$size"
  accelerate launch src/train_bash.py --stage sft --finetuning_type lora {rank} --per_device_train_batch_size 4 \\
    --model_name_or_path mistralai/Mistral-7B-v0.1
done
"""
MEGATRON = (
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32"
    " --seq-length 4096 --micro-batch-size 1 --global-batch-size 256 --group-query-attention --swiglu"
)


@each("rank", ['--lora_rank "$RANK_OF_ADAPTERS"', '--lora_rank="$RANK_OF_ADAPTERS"', "--lora_rank=$size"])
def test_a_rank_that_a_loop_sets_is_not_the_default(rank: str) -> None:
    reading = read(TUNING.format(rank=rank), name="ranks.sh")
    assert "workload.trainable.rank" not in given(reading)
    assert "--lora_rank" in unknown(reading)
    assert given(reading)["workload.trainable.method"] == "lora"


def test_a_rank_that_is_absent_is_the_default() -> None:
    assert given(read(TUNING.format(rank=""), name="ranks.sh"))["workload.trainable.rank"] == 8


@each(
    "option, path",
    [
        ("--num-query-groups", "workload.model.kv_heads"),
        ("--ffn-hidden-size", "workload.model.ffn_hidden"),
        ("--tensor-model-parallel-size", "layout.tp"),
    ],
)
def test_sizes_that_a_branch_sets_are_not_the_default(option: str, path: str) -> None:
    script = f'if [ "$SITE" = a ]; then SIZE=8; else SIZE=16; fi\n{MEGATRON} {option} $SIZE\n'
    reading = read(script, name="sizes.sh")
    assert path not in given(reading)
    assert option in unknown(reading)


def test_an_option_that_a_branch_may_replace_is_undecided() -> None:
    """2 alone, or 8 on the larger machine; the same value in both cases is decided."""
    script = f'if [ "$SITE" = large ]; then MORE="--tensor-model-parallel-size {{}}"; fi\n{MEGATRON}'
    script += " --tensor-model-parallel-size 2 $MORE\n"
    assert "layout.tp" not in given(read(script.format(8), name="large.sh"))
    assert given(read(script.format(2), name="large.sh"))["layout.tp"] == 2


def test_a_later_option_replaces_that_of_a_branch() -> None:
    script = f'if [ "$SITE" = large ]; then MORE="--tensor-model-parallel-size 8"; fi\n{MEGATRON}'
    assert given(read(f"{script} $MORE --tensor-model-parallel-size 2\n", name="large.sh"))["layout.tp"] == 2


TRAINER = (
    "torchrun --nnodes 1 --nproc_per_node 8 train.py --model_name_or_path meta-llama/Llama-3.1-8B"
    " --per_device_train_batch_size 2 --gradient_accumulation_steps 4 --bf16 {} --fp16 {} --sequence_parallel_size {}\n"
)


def test_a_switch_that_is_a_variable_leaves_the_precision_open() -> None:
    assert given(read(TRAINER.format("True", "True", 1)))["workload.precision"] == "bf16"
    reading = read(TRAINER.format("$HALF", "True", 1))
    assert "workload.precision" not in given(reading)
    assert "bf16: $HALF" in unknown(reading)


def test_ranks_that_share_sequences_in_unknown_number_give_no_batch() -> None:
    """8 ranks × 2 samples × 4 passes are 64 samples, or 32 if two ranks share each."""
    assert given(read(TRAINER.format("True", "False", 2)))["workload.global_batch"] == 32
    assert "workload.global_batch" not in given(read(TRAINER.format("True", "False", "$SHARED")))


def test_micro_batches_that_a_variable_may_fill_to_tokens_are_open() -> None:
    launch = (
        "python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4"
        " actor_rollout_ref.actor.use_dynamic_bsz={} trainer.nnodes=1 trainer.n_gpus_per_node=8\n"
    )
    assert given(read(launch.format("False")))["layout.micro_batch"] == 4
    assert "layout.micro_batch" not in given(read(launch.format("$PACKED")))


def test_a_fork_whose_module_a_branch_names_is_refused_with_a_reason() -> None:
    script = 'if [ "$SITE" = a ]; then MODULE=own.train_sft; else MODULE=own.train_rm_of_ours; fi\n'
    options = "--pretrain a/b --zero_stage 2 --max_len 2048 --train_batch_size 64 --micro_train_batch_size 2"
    with pytest.raises(FormatError, match="has no launch of openrlhf"):
        read(f"{script}deepspeed --module $MODULE {options} --packing_samples\n", "openrlhf", name="fork.sh")


@each("option, path", [("--swiglu", "gated_ffn"), ("--untie-embeddings-and-output-weights", "tied_embeddings")])
def test_switches_of_megatron_that_are_variables_leave_the_model_open(option: str, path: str) -> None:
    def stated(text: str) -> object:
        sizes = "num-layers: 32\n  --hidden-size: 4096\n  --num-attention-heads: 32\n  --seq-length: 4096"
        file = f"MODEL_ARGS:\n  --{sizes}\n  --micro-batch-size: 1\n  --tensor-model-parallel-size: 2\n{text}"
        return given(read(file, "megatron", name="model_config.yaml")).get(f"workload.model.{path}")

    assert stated("") is (path == "tied_embeddings")
    assert stated(f"  {option}: true\n") is (path == "gated_ffn")
    assert stated(f"  {option}: ${{SWITCH}}\n") is None


def test_attention_replicas_that_a_variable_decides_leave_the_degree_open() -> None:
    def degree(stated: str) -> object:
        options = f"tensor_parallel_size: 8\nenable_attention_dp: {stated}\nkv_cache_config: {{dtype: fp8}}\n"
        return given(read(options, "trtllm-config", name="options.yaml")).get("layout.tp")

    assert (degree("true"), degree("false"), degree("${REPLICATED}")) == (1, 8, None)


def test_modules_of_adapters_that_a_variable_decides_are_open() -> None:
    def modules(switch: str) -> object:
        text = f"checkpoint_dir: c/meta-llama/Llama-3.1-8B\nlora_r: 8\nlora_query: true\nlora_mlp: {switch}\n"
        train = "train:\n  global_batch_size: 8\n  micro_batch_size: 1\n"
        return given(read(text + train, "litgpt", name="lora.yaml")).get("workload.trainable.modules")

    assert modules("true") == ["attention", "ffn"]
    assert modules("${MLP}") is None
