"""Launches of the Hugging Face Trainer, of torchtitan and under Slurm; services of NIM; workers by their resources."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import counts, given, read, unknown

SFT = "torchrun --nnodes 4 --nproc_per_node 8 train.py --model_name_or_path Qwen/Qwen3-8B "
TRAINER = SFT + "--per_device_train_batch_size 2 --gradient_accumulation_steps 8 --bf16 True "
SHARDED = (
    ("", None),
    ("--deepspeed ds_z3.json", None),
    ("--zero_stage 2 --deepspeed", "zero2"),
    ("--deepspeed zero3_offload", "fsdp"),
    ('--fsdp "full_shard auto_wrap"', "fsdp"),
    ("--fsdp shard_grad_op", "zero2"),
    ("--fsdp settings.json", None),
)


@pytest.mark.parametrize(("option", "sharding"), SHARDED)
def test_the_sharding_of_a_trainer_is_that_of_its_options(option: str, sharding: str | None) -> None:
    reading = read(TRAINER + option)
    keys = given(reading)
    assert keys.get("layout.sharding") == sharding
    assert ("a separate file" in unknown(reading)) is option.endswith(".json")
    assert (keys["layout.micro_batch"], keys["layout.nodes"], keys["workload.precision"]) == (2, 4, "bf16")
    assert (keys["workload.model"], counts(reading)["ranks_per_node"]) == ("qwen3-8b", 8)
    assert keys["workload.global_batch"] == 2 * 8 * 32


@pytest.mark.parametrize(
    ("options", "sync"),
    [
        ("--gradient_accumulation_steps 8 --fsdp full_shard", "step"),
        ("--gradient_accumulation_steps 1 --fsdp full_shard", None),
        ("--gradient_accumulation_steps 8 --deepspeed zero2", None),
        ("--gradient_accumulation_steps 8 --fsdp no_shard", None),
        (
            "--gradient_accumulation_steps 8 --fsdp full_shard --accelerator_config "
            """'{"gradient_accumulation_kwargs": {"sync_each_batch": true}}'""",
            "micro-batch",
        ),
    ],
)
def test_a_trainer_with_fsdp_reduces_gradients_after_the_last_accumulated_batch(options: str, sync: str | None) -> None:
    assert given(read(f"{SFT}--per_device_train_batch_size 2 {options}")).get("layout.gradient_sync") == sync


def test_a_trainer_told_so_reduces_gradients_after_every_batch() -> None:
    options = "per_device_train_batch_size: 2\ngradient_accumulation_steps: 8\nfsdp: full_shard\n"
    each = "accelerator_config: {gradient_accumulation_kwargs: {sync_each_batch: true}}\n"
    assert given(read(options)).get("layout.gradient_sync") == "step"
    assert given(read(options + each)).get("layout.gradient_sync") == "micro-batch"


def test_sequences_are_as_long_as_the_limit_only_where_they_are_filled() -> None:
    for option, length in (
        ("--max_seq_length 4096", None),
        ("--max_seq_length 4096 --packing True", 4096),
        ("--max_seq_length 4096 --packing False", None),
        ("--block_size 1024", 1024),
    ):
        assert given(read(TRAINER + option)).get("workload.sequence_length") == length, option


def test_adapters_are_trained_where_an_option_or_the_program_turns_them_on() -> None:
    method, rank, modules = (f"workload.trainable.{name}" for name in ("method", "rank", "modules"))
    reading = read(TRAINER + "--use_peft True --lora_r 32")
    keys = given(reading)
    assert (keys[method], keys[rank], keys.get(modules)) == ("lora", 32, None)
    assert "the modules of the adapters" in unknown(reading)
    assert "no option turns them on" in unknown(read(TRAINER + "--lora_r 32"))
    for name, read_too in (("lora_alpha", True), ("lora_dropout", True), ("lora_other", False)):
        text = unknown(read(TRAINER + f"--use_peft True --lora_r 32 --{name} 16"))
        assert (name not in text) is read_too, name
    swift = "swift sft --model Qwen/Qwen3-8B --per_device_train_batch_size 1 --torch_dtype bfloat16 "
    keys = given(read(swift))
    assert (keys[method], keys[rank], keys[modules]) == ("lora", 8, ["attention", "ffn"])
    assert keys["workload.precision"] == "bf16"
    assert method not in given(read(swift + "--tuner_type full"))
    assert given(read(swift + "--quant_bits 4"))[method] == "qlora"


def test_a_loss_that_takes_references_or_rewards_is_refused() -> None:
    batch = "--per_device_train_batch_size 1"
    for text in (
        f"trl dpo --model Qwen/Qwen3-8B {batch}",
        f"python scripts/dpo.py {batch}",
        f"swift rlhf --rlhf_type kto {batch}",
        "model_name_or_path: a/b\nper_device_train_batch_size: 4\nref_model_name_or_path: c/d\n",
    ):
        with pytest.raises(FormatError, match="supervised and GRPO only"):
            read(text)


GROUPS = """\
model_name_or_path: Qwen/Qwen2.5-1.5B-Instruct
bf16: true
use_vllm: {use}
vllm_gpu_memory_utilization: 0.7
vllm_mode: {mode}
beta: {beta}
per_device_train_batch_size: 4
gradient_accumulation_steps: 8
num_generations: 12
max_completion_length: 1024
"""


@pytest.mark.parametrize(
    ("use", "mode", "beta", "expected", "open_"),
    [
        ("true", "colocate", "0.04", {"placement": "colocated", "rollout.memory_fraction": 0.7}, "counts samples"),
        (
            "true",
            "server",
            "0.04",
            {"placement": "split", "rollout.framework": "vllm", "algorithm": "grpo"},
            "output_t",
        ),
        ("true", "null", "0.0", {"placement": None, "algorithm": None}, "no reference model takes part"),
        ("false", "null", "null", {"rollout.framework": None, "algorithm": None}, "from 0.19 on"),
    ],
)
def test_grpo_of_trl_states_its_samples(
    use: str, mode: str, beta: str, expected: dict[str, object], open_: str
) -> None:
    reading = read(GROUPS.format(use=use, mode=mode, beta=beta))
    keys = given(reading)
    assert (keys["workload.kind"], keys["workload.rl.samples_per_prompt"]) == ("rl", 12)
    assert (keys["workload.model"], keys["layout.micro_batch"]) == ("qwen2.5-1.5b", 4)
    assert {name: keys.get(f"workload.rl.{name}") for name in expected} == expected
    assert open_ in unknown(reading) and "workload.global_batch" not in unknown(reading)
    assert ("vllm_mode is not stated" in unknown(reading)) == (use == "true" and mode == "null")
    assert ("the trainer generates itself" in unknown(reading)) == (use == "false")


def test_grpo_is_known_by_its_program_too() -> None:
    for start in ("trl grpo --model a/b", "swift rlhf --rlhf_type grpo --model a/b", "python src/x/grpo.py"):
        assert given(read(f"{start} --per_device_train_batch_size 1"))["workload.kind"] == "rl"


ACCELERATE = "accelerate launch --num_processes 16 --num_machines 2 {} train.py --per_step 2 --num_machines 4"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--use_fsdp", {"framework": "fsdp", "sharding": "fsdp"}),
        ("--use_fsdp --fsdp_sharding_strategy HYBRID_SHARD", {"framework": "fsdp", "sharding": "hsdp"}),
        ("--use_fsdp --fsdp_reshard_after_forward false", {"framework": "fsdp", "sharding": "zero2"}),
        (
            "--use_deepspeed --zero_stage 2 --offload_optimizer_device cpu",
            {"framework": "deepspeed", "sharding": "zero2", "offload.optimizer": 1},
        ),
        ("--multi_gpu", {"framework": None, "sharding": "none", "dp": 16}),
        ("--config_file x.yaml", {"framework": None, "sharding": None, "dp": None}),
    ],
)
def test_a_line_of_accelerate_states_its_distribution(options: str, expected: dict[str, object]) -> None:
    reading = read(ACCELERATE.format(options))
    keys = given(reading)
    assert {name: keys.get(f"layout.{name}") for name in expected} == expected
    assert (keys["layout.nodes"], counts(reading)["ranks_per_node"]) == (2, 8)  # not those of the program
    assert "the program that is launched" in unknown(reading)
    trained = given(read(ACCELERATE.format(options) + " --per_device_train_batch_size 2"))
    shared = {name: value for name, value in expected.items() if name != "dp" and options != "--multi_gpu"}
    assert {name: trained.get(f"layout.{name}") for name in shared} == shared


def test_a_line_of_accelerate_without_machines_is_refused() -> None:
    for options in ("", "--config_file x.yaml"):
        with pytest.raises(FormatError, match="no import format"):
            read(f"accelerate launch {options} eval.py --model a/b")


SLURM = """\
#!/bin/bash
#SBATCH --nodes=16
#SBATCH -n 64
#SBATCH --gres=gpu:h100:4
torchrun --nnodes $SLURM_NNODES --nproc_per_node $SLURM_GPUS_ON_NODE -m torchtitan.train --job.config_file x.toml \\
  --parallelism.tensor_parallel_degree=4 --parallelism.pipeline_parallel_degree=2 --training.local_batch_size=8 \\
  --activation_checkpoint.mode=full
"""


def test_directives_of_slurm_set_its_variables_and_options_of_torchtitan_its_layout() -> None:
    reading = read(SLURM)
    keys = given(reading)
    assert {key: keys[f"layout.{key}"] for key in ("framework", "nodes", "tp", "pp", "recompute")} == {
        "framework": "torchtitan",
        "nodes": 16,
        "tp": 4,
        "pp": 2,
        "recompute": "full",
    }
    assert "layout.micro_batch" not in keys  # stages take parts of the local batch
    assert counts(reading)["ranks_per_node"] == 4
    assert given(read(SLURM.replace("degree=2", "degree=1")))["layout.micro_batch"] == 8
    assert "layout.nodes" not in given(read(SLURM.replace("nodes=16", "nodes=8-16")))


NIM = """\
apiVersion: apps.nvidia.com/v1alpha1
kind: NIMCache
metadata: {name: cache}
spec:
  source:
    ngc:
      modelPuller: nvcr.io/nim/meta/llama-3.1-70b-instruct:1.8
      model: {engine: tensorrt_llm, tensorParallelism: "4", precision: fp8}
---
apiVersion: apps.nvidia.com/v1alpha1
kind: NIMService
metadata: {name: service}
spec:
  storage: {nimCache: {name: cache}}
  replicas: 3
  resources: {limits: {nvidia.com/gpu: 4}}
"""


def test_a_service_of_nim_has_the_engine_of_its_cache_and_the_degrees_of_its_nodes() -> None:
    reading = read(NIM)
    keys = given(reading)
    assert (keys["layout.framework"], keys["layout.tp"]) == ("trt-llm", 4)
    assert (keys["workload.model"], keys["workload.parameter_precision"]) == ("llama-3.1-70b", "fp8")
    assert counts(reading) == {"replicas": 3, "accelerators": 4}
    apart = read(NIM.replace("nimCache: {name: cache}", "nimCache: {name: other}"))
    assert "layout.framework" not in given(apart)
    assert "NIM chooses a profile" in unknown(apart)
    wide = given(read(NIM + "  multiNode: {parallelism: {tensor: 8, pipeline: 2}}\n"))
    assert (wide["layout.tp"], wide["layout.pp"]) == (8, 2)
    with pytest.raises(FormatError, match="2 services"):
        read(NIM + "---\n" + NIM)


def test_key_value_heads_and_adapters_keep_their_other_names() -> None:
    launch = "deepspeed pretrain_gpt.py --tensor-model-parallel-size 2 --num-layers 32 --hidden-size 4096 "
    assert given(read(launch + "--num-attention-heads 32 --num-key-value-heads 8"))["workload.model.kv_heads"] == 8
    for name in ("lora_rank", "lora.rank"):
        text = (
            f"python -m verl.trainer.main_ppo actor_rollout_ref.model.{name}={{}} actor_rollout_ref.actor.ppo_epochs=1"
        )
        assert given(read(text.format(16)))["workload.trainable.rank"] == 16
        assert "workload.trainable.rank" not in given(read(text.format(0)))


def test_keys_of_easyr1_are_those_of_its_own_trainer() -> None:
    launch = "python3 -m verl.trainer.main config=base.yaml worker.actor.ulysses_size=8 "
    launch += "data.rollout_batch_size=512 worker.actor.global_batch_size={} worker.rollout.n=16 worker.actor.fsdp.{} "
    reading = read(launch.format(32, "enable_full_shard=false"), "auto")
    keys = given(reading)
    assert (keys["workload.rl.prompts_per_step"], keys["workload.rl.minibatches"]) == (512, 16)
    assert (keys["layout.framework"], keys["layout.sharding"], keys["layout.cp"]) == ("fsdp", "zero2", 8)
    assert "config=base.yaml: another file, not read" in unknown(reading)
    groups = read(launch.format(100, "fsdp_size=8") + "algorithm.adv_estimator=grpo algorithm.disable_kl=true")
    assert not {"layout.sharding", "workload.rl.minibatches", "workload.rl.algorithm"} & set(given(groups))
    assert "global_batch_size: 100" in unknown(groups) and "as in dapo" in unknown(groups)
    size = "fsdp_size=8 worker.actor.micro_batch_size_per_device_for_update=4"
    for filled, batch in (
        (" worker.actor.dynamic_batching=false", 4),
        (" worker.actor.dynamic_batching=true", None),
        ("", None),
    ):
        batched = read(launch.format(32, size) + filled)
        assert given(batched).get("layout.micro_batch") == batch
        assert ("unless dynamic_batching is off" in unknown(batched)) == (batch is None)


def test_workers_without_accelerators_are_no_nodes() -> None:
    job = "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec: {pytorchReplicaSpecs: {Worker: {replicas: 2, template: "
    for asked, nodes in (("cpu: 4", None), ("nvidia.com/gpu: 8, cpu: 4", 2), ("", 2)):
        text = f"{job}{{spec: {{containers: [{{resources: {{requests: {{{asked}}}}}}}]}}}}}}}}}}\n"
        assert given(read(text)).get("layout.nodes") == nodes, asked


def test_a_hole_in_a_log_loses_its_line_and_other_nul_bytes_are_no_text() -> None:
    step = " iteration {}/ 100 | elapsed time per iteration (ms): 500.0 | global batch size: 64 |\n"
    steps = ["x" * 120 + "\n", *(step.format(n) for n in range(1, 9))]
    whole = "".join(steps)
    holed = "".join([*steps[:4], "\0" * 200, *steps[5:]])
    assert (counts(read(whole))["steps"], counts(read(holed))["steps"]) == (8, 7)
    with pytest.raises(FormatError, match="a NUL byte"):
        read(whole.replace("500", "5\x000"))


def test_experts_of_megatron_deepspeed_are_in_every_second_layer_and_one_is_none() -> None:
    launch = (
        "deepspeed pretrain_gpt.py --tensor-model-parallel-size 1 --num-layers 24 --hidden-size 1024 "
        "--num-attention-heads 16 --moe-expert-parallel-size 8 --num-experts "
    )
    model = "workload.model."
    keys = given(read(launch + "64"))
    assert [keys[model + name] for name in ("experts", "moe_layers", "experts_per_token")] == [64, 12, 1]
    keys = given(read(launch + "64 --topk 2 --expert-interval 1"))
    assert [keys[model + name] for name in ("moe_layers", "experts_per_token")] == [24, 2]
    assert model + "experts" not in given(read(launch + "1"))
    several = read(launch + "64 64 128")
    assert model + "experts" not in given(several)
    assert "layers have different numbers of experts" in unknown(several)


def test_a_model_without_attention_heads_is_not_read_as_one_with_them() -> None:
    with pytest.raises(FormatError, match="linear attention"):
        read('{"model_type": "gla", "hidden_size": 4096, "num_hidden_layers": 32, "num_heads": 32}', "huggingface")
    other = read('{"model_type": "x", "hidden_size": 4096, "num_hidden_layers": 32, "attn_streams": 32}', "huggingface")
    assert "no attention heads under a known name" in unknown(other)


def test_ranks_that_srun_starts_are_on_the_nodes_of_its_job() -> None:
    job = "#SBATCH -N 4\n#SBATCH --ntasks-per-node=8\nsrun bash -c '{} x.py --per_device_train_batch_size=2'\n"
    reading = read(job.format("python"))
    assert (given(reading)["layout.nodes"], counts(reading)["ranks_per_node"]) == (4, 8)
    assert "layout.nodes" not in given(read(job.format("torchrun")))


def test_a_batch_that_another_option_splits_is_no_micro_batch() -> None:
    reading = read("torchrun x.py --per_device_train_batch_size 32 --micro_train_batch_size 16 --bf16\n")
    assert "layout.micro_batch" not in given(reading) and "micro_train_batch_size states another" in unknown(reading)


def test_a_script_called_sft_is_not_ms_swift_and_what_stops_an_engine_starts_none() -> None:
    options = "--per_device_train_batch_size 1 --bf16 True\n"
    assert "workload.trainable.method" not in given(read(f"torchrun train/sft.py {options}"))
    assert given(read(f"swift sft --model a/b {options}"))["workload.trainable.method"] == "lora"
    with pytest.raises(FormatError, match="no command that starts"):
        read('run.sh &\npkill -9 -f "vllm serve" -x\n', "serving")


def test_a_batch_that_an_undecided_branch_sets_is_listed() -> None:
    text = "if test $GIVEN; then\n  SIZE=4\nfi\ntorchrun x.py --per_device_train_batch_size=$SIZE --bf16\n"
    reading = read(text)
    assert "layout.micro_batch" not in given(reading) and "depends on the test on line 1" in unknown(reading)


def test_a_precision_that_a_variable_decides_is_listed() -> None:
    text = "trainer:\n  precision: bf16\nmodel:\n  tensor_model_parallel_size: 8\n  fp8: {}\n"
    reading = read(text.format("${oc.decode:${oc.env:FP8,False}}"))
    assert "workload.precision" not in given(reading) and "the precision depends on it" in unknown(reading)
    assert given(read(text.format("False")))["workload.precision"] == "bf16"


BRIDGE = """\
worker=$(cat <<- EOM
  python scripts/performance/run_script.py -mr qwen3_235b_a22b -c fp8_mx -ng 1024 -gn 4 -tp 1 \\
    --pipeline_model_parallel_size 4 -vp 12 -cp 1 -ep 32 -et None -mb 2 -gb 32768 -sl 4096 \\
    --moe_flex_dispatcher_backend hybridep --node \\$RANK
EOM
)
torchrun --nproc-per-node=4 --no-python bash -c "$worker"
"""


def test_a_performance_script_of_megatron_bridge_states_its_options_and_its_recipe_the_rest() -> None:
    reading = read(BRIDGE)
    found = given(reading)
    sizes = [found[f"layout.{key}"] for key in ("tp", "pp", "virtual_stages", "cp", "ep", "micro_batch")]
    assert sizes == [1, 4, 12, 1, 32, 2] and "layout.expert_tp" not in found
    assert (found["workload.model"], found["workload.precision"], found["workload.recipe"]) == (
        "qwen3-235b-a22b",
        "fp8",
        "mxfp8",
    )
    assert (found["layout.dispatcher"], counts(reading)["ranks"]) == ("hybrid", 1024)
    older = read(
        "python scripts/performance/run_script.py --model_name llama31 --model_size 405b --compute_dtype bf16\n"
    )
    assert (given(older)["workload.model"], given(older)["workload.precision"]) == ("llama-3.1-405b", "bf16")
    assert "the recipe of the model states them" in unknown(older) and "layout.tp" not in given(older)


def test_a_recipe_of_megatron_bridge_has_options_and_keys_of_its_configuration_behind_them() -> None:
    text = """\
    case "$1" in
        20b) RECIPE={} ;;
        120b) RECIPE=gpt_oss_120b_sft_config ;;
    esac
    CMD="uv run python scripts/training/run_recipe.py --recipe $RECIPE -sl 8192 \\
        train.global_batch_size=32 train.micro_batch_size=4 model.tensor_model_parallel_size=2"
    srun --mpi=pmix bash -c "$CMD"
    """
    reading = read(text.format("gpt_oss_20b_sft_config"))
    found = given(reading)
    assert [found[key] for key in ("layout.tp", "layout.micro_batch", "workload.global_batch")] == [2, 4, 32]
    assert "workload.model" not in found and "depends on the test on line 1" in unknown(reading)
    one = "python scripts/training/run_recipe.py --recipe {} -tp 2 model.tensor_model_parallel_size=4\n"
    found = given(read(one.format("gpt_oss_20b_peft_config")))
    assert (found["workload.model"], found["layout.tp"]) == ("gpt-oss-20b", 4)
    assert "its adapters: state workload.trainable" in unknown(read(one.format("gpt_oss_20b_peft_config")))
    assert "its adapters" not in unknown(read(one.format("gpt_oss_20b_pretrain_config")))


def test_a_launch_of_torchtitan_with_a_configuration_states_its_ranks_and_slurm_takes_blanks_around_signs() -> None:
    reading = read(
        "#SBATCH --nodes=16\nsrun torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 a.py --job.config_file x.toml\n"
    )
    assert (given(reading)["layout.nodes"], counts(reading)["ranks_per_node"]) == (16, 8)
    step = read("srun -n 4 -N 4 \\\n  torchrun --nproc_per_node 8 ./train.py --job.config_file x.toml\n")
    assert (given(step)["layout.nodes"], counts(step)["ranks_per_node"]) == (4, 8)
    nodes = read("NodeName  = gpu[001-013] Gres=gpu:volta:2 CPUs=48\n")
    assert (given(nodes)["cluster.nodes"], given(nodes)["cluster.accelerators_per_node"]) == (13, 2)


@pytest.mark.parametrize(
    ("switch", "length"),
    [
        ("", None),
        ("sample_packing: false", None),
        ("sample_packing: true", 4096),
        ("sample_packing: false\npad_to_sequence_len: true", 4096),
        ("sample_packing: true\npad_to_sequence_len: true", 4096),
    ],
)
def test_the_sequences_of_axolotl_have_their_limit_where_they_are_filled_to_it(switch: str, length: int | None) -> None:
    reading = read(f"base_model: Qwen/Qwen3-8B\nsequence_len: 4096\nmicro_batch_size: 2\n{switch}\n")
    assert given(reading).get("workload.sequence_length") == length
    assert ("sequences are cut at 4096 tokens" in unknown(reading)) is (length is None)
    assert not any(name in unknown(reading) for name in ("sample_packing", "pad_to_sequence_len"))


def test_options_of_one_of_two_starts_are_listed() -> None:
    script = """\
        if [ $NODES -gt 1 ]; then
          start="srun torchrun --nnodes=$NODES --nproc_per_node=8"
        else
          start="torchrun --nnodes=1 --nproc_per_node=8"
        fi
        $start train.py --per_device_train_batch_size 2 --bf16 True
        """
    reading = read(script)
    assert given(reading)["layout.micro_batch"] == 2
    assert "layout.nodes" not in given(reading)
    assert "--nnodes=1: depends on the test on line 1" in unknown(reading)


TUNE = "tune run --nnodes 2 --nproc_per_node 8 {} --config {} batch_size=4 tokenizer.max_seq_len=4096 {}"


@pytest.mark.parametrize(
    ("recipe", "config", "override", "expected"),
    [
        (
            "full_finetune_distributed",
            "llama3_1/8B_full",
            "dataset.packed=True",
            {"workload.model": "llama-3.1-8b", "layout.sharding": "fsdp", "workload.sequence_length": 4096},
        ),
        (
            "lora_finetune_distributed",
            "mine.yaml",
            "fsdp_reshard_after_forward=False tensor_parallel_dim=2",
            {"workload.model": None, "layout.sharding": "zero2", "layout.tp": 2, "workload.sequence_length": None},
        ),
    ],
)
def test_a_launch_of_torchtune_states_its_recipe(
    recipe: str, config: str, override: str, expected: dict[str, object]
) -> None:
    reading = read(TUNE.format(recipe, config, override))
    keys = given(reading)
    assert {name: keys.get(name) for name in expected} == expected
    assert (keys["layout.nodes"], keys["layout.micro_batch"], counts(reading)["ranks_per_node"]) == (2, 4, 8)
    assert config in unknown(reading)


def test_a_recipe_of_one_device_has_one_node_and_shards_nothing() -> None:
    keys = given(read("tune run full_finetune_single_device --config qwen2_5/3B_full_single_device batch_size=1"))
    assert (keys["layout.nodes"], keys["layout.sharding"], keys["workload.model"]) == (1, "none", "qwen2.5-3b")


@pytest.mark.parametrize(
    "text",
    [
        "tune run lora_dpo_distributed --config llama3_1/8B_lora_dpo",
        "model:\n  _component_: torchtune.models.llama3.llama3_8b\n",
        "optimizer:\n  _component_: torch.optim.AdamW\nloss:\n  _component_: torchtune.rlhf.loss.DPOLoss\n",
        "optimizer:\n  _component_: torch.optim.AdamW\nteacher_model:\n  _component_: torchtune.models.phi3.mini\n",
    ],
)
def test_runs_of_torchtune_that_train_on_more_than_texts_are_refused(text: str) -> None:
    with pytest.raises(FormatError, match=r"texts alone|no optimizer"):
        read(text)


def test_a_launch_of_litgpt_states_its_batch_and_adapters() -> None:
    start = "litgpt finetune_lora checkpoints/meta-llama/Meta-Llama-3-8B --train.global_batch_size 16 "
    reading = read(start + "--train.micro_batch_size 2 --lora_r 16 --quantize bnb.nf4 --train.max_seq_length 512")
    keys = given(reading)
    assert (keys["workload.model"], keys["workload.global_batch"], keys["layout.micro_batch"]) == ("llama-3-8b", 16, 2)
    assert (keys["workload.trainable.method"], keys["workload.trainable.rank"]) == ("qlora", 16)
    assert "workload.sequence_length" not in keys and "samples are cut at 512" in unknown(reading)


NEURON = "torchrun --nnodes 4 --nproc_per_node 32 {} --tensor_parallel_size 8 --seq_len 4096 {}"


@pytest.mark.parametrize(
    ("program", "options", "micro", "sharding"),
    [
        ("tp_zero1_llama_hf_pretrain.py", "--batch_size 2 --grad_accum_usteps 16 --use_zero_1", 2, "zero1"),
        ("run_llama_nxd.py", "--train_batch_size 64 --num_microbatches 32 --use_zero1_optimizer 1", 2, "zero1"),
        ("run_mixtral_pretrain_ptl.py", "--batch_size 64 --num_microbatches 64 --use_zero1_optimizer 0", 1, None),
    ],
)
def test_a_launch_of_neuronx_states_degrees_and_the_batch_of_a_pass(
    program: str, options: str, micro: int, sharding: str | None
) -> None:
    reading = read(NEURON.format(program, options))
    keys = given(reading)
    assert (keys["layout.tp"], keys["layout.nodes"], keys["workload.sequence_length"]) == (8, 4, 4096)
    assert (keys["layout.micro_batch"], keys.get("layout.sharding")) == (micro, sharding)
    assert "NeuronX Distributed" in unknown(reading) and counts(reading)["ranks_per_node"] == 32


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("#SBATCH --nodes=4\n#SBATCH --gres=gpu:h100:8", {"layout.nodes": 4, "cluster.accelerators_per_node": 8}),
        ("#SBATCH -N 2\n#SBATCH --gpus-per-node=a100:4", {"layout.nodes": 2, "cluster.accelerators_per_node": 4}),
        ("#SBATCH -N 2\n#SBATCH -G 8", {"layout.nodes": 2, "cluster.accelerators_per_node": 4}),
        ("#SBATCH --gpus=8", {"layout.nodes": None, "cluster.accelerators_per_node": None}),
        ("#SBATCH --gres=gpu:2,nvme:1", {"layout.nodes": None, "cluster.accelerators_per_node": 2}),
    ],
)
def test_a_slurm_job_states_what_it_asks_for(lines: str, expected: dict[str, object]) -> None:
    reading = read(f"#!/bin/bash\n{lines}\nsrun python a.py\n")
    keys = given(reading)
    assert {name: keys.get(name) for name in expected} == expected
    assert "the commands of the script" in unknown(reading)


def test_a_slurm_job_without_accelerators_is_refused() -> None:
    for lines in ("#SBATCH --nodes=4", "#SBATCH -N 4\n#SBATCH --gres=craynetwork:1"):
        with pytest.raises(FormatError, match="without a count of accelerators"):
            read(f"#!/bin/bash\n{lines}\nsrun python a.py\n")


WRITTEN = """\
ZERO=2
MBS=4
cat <<EOT > ds.json
{
  "train_micro_batch_size_per_gpu": $MBS,
  "train_batch_size": ${GBS},
  "zero_optimization": {"stage": $ZERO, "offload_optimizer": {"device": "cpu"}},
  "bf16": {"enabled": true}
}
EOT
"""
STARTED = "deepspeed train.py --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 4 --deepspeed ds.json\n"


def test_a_configuration_of_deepspeed_that_a_script_writes_is_part_of_its_launch() -> None:
    reading = read(WRITTEN + STARTED)
    keys = given(reading)
    assert (keys["layout.sharding"], keys["layout.offload.optimizer"], keys["workload.precision"]) == (
        "zero2",
        1,
        "bf16",
    )
    assert (keys["workload.model"], keys["layout.micro_batch"]) == ("qwen3-8b", 4)
    assert "ds.json" not in unknown(reading) and "train_batch_size: $GBS" in unknown(reading)
    two = read(WRITTEN + WRITTEN.replace("ZERO=2", "ZERO=3") + STARTED)
    assert "layout.sharding" not in given(two) and "ds.json" in unknown(two)


def test_a_configuration_of_deepspeed_is_read_without_the_launch_as_well() -> None:
    reading = read(WRITTEN + "singularity exec x.sif python fit.py --gpus 2\n")
    keys = given(reading)
    assert (reading.kind, keys["layout.sharding"], keys["layout.micro_batch"]) == ("deepspeed", "zero2", 4)
    assert "the commands" in unknown(reading)
    with pytest.raises(FormatError, match="2 configurations"):
        read(WRITTEN + WRITTEN)
    with pytest.raises(FormatError, match="writes no configuration"):
        read("grep '\"zero_optimization\"' <<EOT\nx\nEOT\n")


def test_encoders_of_images_and_training_of_their_projector_are_listed() -> None:
    tower = "--vision_tower openai/clip-vit-large-patch14-336 "
    text = unknown(read(TRAINER + tower + "--tune_mm_mlp_adapter True"))
    assert "images pass an encoder" in text and "trains only the projector" in text
    assert "trains the projector alone" not in unknown(read(TRAINER + tower + "--tune_mm_mlp_adapter False"))


SUPERVISED = (
    "torchrun --nnodes=2 --nproc_per_node=8 -m verl.trainer.{} data.train_batch_size=256 data.max_length=2048 "
    "data.micro_batch_size_per_gpu=4 {} model.lora_rank={} ulysses_sequence_parallel_size=2"
)


@pytest.mark.parametrize(
    ("program", "options", "rank", "expected"),
    [
        ("fsdp_sft_trainer", "model.partial_pretrain=Qwen/Qwen3-8B", 0, {"micro_batch": 4, "sharding": "fsdp"}),
        ("fsdp_sft_trainer", "model.strategy=fsdp2", 8, {"micro_batch": 4, "framework": "fsdp"}),
        ("sft_trainer", "engine=fsdp model.path=Qwen/Qwen3-8B", 0, {"micro_batch": None, "sharding": "fsdp"}),
        ("sft_trainer", "engine=fsdp data.use_dynamic_bsz=False", 0, {"micro_batch": 4, "cp": 2}),
        ("sft_trainer", "engine=megatron engine.tensor_model_parallel_size=4", 0, {"tp": 4, "sharding": None}),
    ],
)
def test_supervised_training_with_verl_states_its_batch(
    program: str, options: str, rank: int, expected: dict[str, object]
) -> None:
    reading = read(SUPERVISED.format(program, options, rank))
    keys = given(reading)
    assert (reading.kind, keys["workload.kind"], keys["workload.global_batch"]) == ("verl", "train", 256)
    assert {name: keys.get(f"layout.{name}") for name in expected} == expected
    assert (keys["layout.nodes"], counts(reading)["ranks_per_node"]) == (2, 8)
    assert keys.get("workload.trainable.rank") == (rank or None)
    assert "workload.sequence_length" not in keys and "sequences are cut at 2048" in unknown(reading)


def test_a_configuration_of_supervised_training_with_verl_is_read() -> None:
    found = given(
        read("""\
        data:
          train_batch_size: 128
          micro_batch_size_per_gpu: 2
          max_length: 1024
        model:
          partial_pretrain: Qwen/Qwen3-4B
          fsdp_config:
            cpu_offload: False
          enable_gradient_checkpointing: True
          lora_rank: 0
        """)
    )
    assert (found["workload.model"], found["workload.global_batch"], found["layout.micro_batch"]) == (
        "qwen3-4b",
        128,
        2,
    )
    assert (found["layout.framework"], found["layout.recompute"]) == ("fsdp", "full")
    assert "workload.trainable.method" not in found


def test_the_accelerators_of_a_whole_job_are_a_variable_of_its_launch() -> None:
    job = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus=16\n"
    launch = "accelerate launch --num_machines 2 --num_processes $SLURM_GPUS train.py\n"
    assert counts(read(job + launch)) == {"ranks": 16, "ranks_per_node": 8}


def test_the_last_value_of_a_key_that_a_file_gives_twice_holds() -> None:
    text = "distributed_type: FSDP\nnum_machines: 1\nnum_processes: 8\nmixed_precision: bf16\nnum_machines: 2\n"
    reading = read(text)
    assert (given(reading)["layout.nodes"], counts(reading)["ranks_per_node"]) == (2, 4)
    assert [each.at.line for each in reading.given if each.path == ("layout", "nodes")] == [5]


def test_a_base_model_alone_is_no_configuration_of_axolotl() -> None:
    with pytest.raises(FormatError, match="no import format"):
        read("_target_: fusion.CLIPVisionModelPool\nbase_model: openai/clip-vit-base-patch32\nmodels: {}\n")


def test_training_of_a_prefix_is_listed() -> None:
    assert "trains only a prefix" in unknown(read(TRAINER + "--pre_seq_len 128 --quantization_bit 4"))


@pytest.mark.parametrize(
    ("text", "sizes", "why"),
    [
        ("is_mamba_config: true\n    num_hidden_layers: 2", None, "not a dense decoder"),
        ("is_llama_config: true\n    num_hidden_layers: 2\n    num_attention_heads: 8", 8, ""),
    ],
)
def test_nanotron_states_the_sizes_of_dense_decoders_alone(text: str, sizes: int | None, why: str) -> None:
    batch = "tokens:\n  micro_batch_size: 2\n  batch_accumulation_per_replica: 4\n"
    reading = read(f"model:\n  model_config:\n    {text}\nparallelism:\n  dp: 2\n  tp: 2\n  pp: 1\n{batch}")
    assert given(reading)["workload.global_batch"] == 16
    assert given(reading).get("workload.model.kv_heads") == sizes and why in unknown(reading)


@pytest.mark.parametrize(
    ("loader", "length"), [("name: text", 1024), ("name: finetuning", None), ("dataset: {packing_ratio: 4}", 1024)]
)
def test_sequences_of_llm_foundry_are_filled_in_pretraining_or_by_packing(loader: str, length: int | None) -> None:
    text = "model:\n  name: hf_causal_lm\n"
    reading = read(f"{text}max_seq_len: 1024\ntrain_loader:\n  {loader}\nglobal_train_batch_size: 8\n")
    assert given(reading).get("workload.sequence_length") == length
    assert ("sequences are cut at 1024" in unknown(reading)) is (length is None)


MPT = {"name": "mpt_causal_lm", "d_model": 512, "n_layers": 2, "n_heads": 8}
ATTENTION = {"grouped": "grouped_query_attention", "single": "multiquery_attention", "full": "multihead_attention"}


@pytest.mark.parametrize(
    ("more", "sizes"),
    [
        ({}, (2, 8, None, True)),
        ({"expansion_ratio": 4, "tie_word_embeddings": True}, (2, 8, 2048, True)),
        ({"expansion_ratio": 3, "tie_word_embeddings": False}, (2, 8, 1536, False)),
        ({"attn_config": {"attn_type": ATTENTION["grouped"], "kv_n_heads": 4}}, (2, 4, None, True)),
        ({"attn_config": {"attn_type": ATTENTION["single"], "kv_n_heads": 4}}, (2, 1, None, True)),
        ({"attn_config": {"attn_type": ATTENTION["full"]}}, (2, 8, None, True)),
        ({"ffn_config": {"ffn_type": "mptmlp"}}, (2, 8, None, True)),
        ({"ffn_config": {"ffn_type": "mptglu"}}, None),
        ({"block_overrides": {"order": [{"name": "default"}]}}, None),
        ({"attn_config": {"sliding_window_size": 1024}}, None),
        ({"name": "own_causal_lm"}, None),
    ],
)
def test_llm_foundry_states_the_sizes_of_mpt_with_its_own_networks_alone(
    more: dict[str, Any], sizes: tuple[int, int, int | None, bool] | None
) -> None:
    text = f"model: {json.dumps({**MPT, **more})}\nglobal_train_batch_size: 8\n"
    reading = read(text, "llm-foundry")
    keys, base = given(reading), "workload.model."
    names = ("layers", "kv_heads", "ffn_hidden", "tied_embeddings")
    found = tuple(keys.get(base + name) for name in names)
    assert found == (sizes or (None, None, None, None))
    assert ("not a dense decoder with the networks of MPT" in unknown(reading)) is (sizes is None)
    assert keys.get("workload.model.gated_ffn") is (None if sizes is None else False)


def test_the_weight_of_a_divergence_is_of_no_supervised_training() -> None:
    with pytest.raises(FormatError, match="beta"):
        read(TRAINER + "--beta=0.5")


@pytest.mark.parametrize(
    ("program", "options", "method", "modules"),
    [
        (
            "finetune_lora.py",
            "--lora_r 8 --target_modules q_proj,up_proj --load_in_bits 4",
            "qlora",
            ["attention", "ffn"],
        ),
        ("run_sft_with_peft.py", "--lora_rank 8 --target_modules q_proj,v_proj", "lora", ["attention"]),
        ("finetune.py", "--lora_r 8 --target_modules q_proj", None, None),
        ("explorative.py", "--lora_r 8", None, None),
        ("finetune_lora.py", "--lora_r 8 --use_adalora True", None, None),
    ],
)
def test_a_program_named_after_adapters_trains_them(
    program: str, options: str, method: str | None, modules: list[str] | None
) -> None:
    reading = read(f"torchrun {program} --model_name_or_path a/b --per_device_train_batch_size 1 {options}")
    keys = given(reading)
    assert (keys.get("workload.trainable.method"), keys.get("workload.trainable.modules")) == (method, modules)
    assert method or "adapter" in unknown(reading)


def test_shortened_options_of_torchrun_have_their_whole_names() -> None:
    options = "train.py --per_device_train_batch_size 2"
    reading = read(f"torchrun --nnode=2 --nproc 8 {options}")
    assert (given(reading)["layout.nodes"], counts(reading)["ranks_per_node"]) == (2, 8)
    assert "layout.nodes" not in given(read(f"deepspeed --nnode=2 {options}"))


@pytest.mark.parametrize("role", ["actor", "critic"])
def test_a_launch_of_actor_and_critic_is_no_supervised_training(role: str) -> None:
    launch = f"deepspeed main.py --{role}_model_name_or_path a/b --per_device_train_batch_size 4 --deepspeed"
    with pytest.raises(FormatError, match=f"rewards or pairs .{role}_model_name_or_path"):
        read(launch)


def test_megatron_of_ms_swift_takes_ranks_and_adapters_from_its_launch() -> None:
    options = "--tensor_model_parallel_size 4 --micro_batch_size 1 --tuner_type lora --lora_rank 8 "
    reading = read(
        f"NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-8B {options}--target_modules linear_qkv linear_fc1"
    )
    found = given(reading)
    assert (found["layout.nodes"], counts(reading)["ranks_per_node"], found["layout.tp"]) == (1, 8, 4)
    assert (found["workload.trainable.rank"], found["workload.trainable.modules"]) == (8, ["attention", "ffn"])
    exported = read(f"export NPROC_PER_NODE=4\nmegatron sft --model Qwen/Qwen3-8B {options}")
    assert counts(exported)["ranks_per_node"] == 4
    several = read(f"NNODES=2 NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-8B {options}")
    assert given(several)["layout.nodes"] == 2


@pytest.mark.parametrize(
    ("variable", "precision"),
    [("XLA_USE_BF16=1", "bf16"), ("XLA_DOWNCAST_BF16=1", "bf16"), ("XLA_USE_BF16=0", "fp32"), ("OTHER=1", "fp32")],
)
def test_floats_that_torch_xla_casts_are_bf16(variable: str, precision: str) -> None:
    launch = (
        "sudo sysctl -w net.ipv4.ports=41000\ntorchrun run.py model.tensor_model_parallel_size=8 trainer.precision=32"
    )
    reading = read(f"export {variable}\n{launch}\n")
    assert (given(reading)["layout.tp"], given(reading)["workload.precision"]) == (8, precision)
