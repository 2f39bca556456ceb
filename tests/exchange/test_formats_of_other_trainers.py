"""Launches of SkyRL, configurations of Oumi, recipes of vLLM, and files of formats that have no reader."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import counts, given, read, unknown

SKYRL = """\
    GPUS=8
    uv run --extra fsdp -m skyrl.train.entrypoints.main_base \\
      trainer.policy.model.path=Qwen/Qwen3-8B trainer.strategy={strategy} {more} \\
      trainer.placement.colocate_all={together} trainer.placement.policy_num_nodes=2 \\
      trainer.placement.policy_num_gpus_per_node=$GPUS \\
      generator.inference_engine.num_engines=4 generator.inference_engine.tensor_parallel_size=2 \\
      generator.inference_engine.backend=vllm trainer.algorithm.advantage_estimator=grpo \\
      trainer.train_batch_size=512 trainer.policy_mini_batch_size=128 trainer.micro_train_batch_size_per_gpu=4 \\
      generator.n_samples_per_prompt=16
    """
KWARGS = "trainer.policy.megatron_config.transformer_config_kwargs"


@pytest.mark.parametrize(
    ("strategy", "more", "together", "stated", "listed"),
    [
        ("fsdp2", "", "true", {"layout.sharding": "fsdp", "workload.rl.algorithm": "grpo"}, ""),
        ("fsdp", "trainer.policy.fsdp_config.fsdp_size=8", "false", {"layout.shard_group": 8}, ""),
        ("fsdp", "trainer.policy.fsdp_config.fsdp_size=16", "false", {"layout.sharding": "fsdp"}, ""),
        ("megatron", "trainer.policy.megatron_config.tensor_model_parallel_size=4", "true", {"layout.tp": 4}, ""),
        ("fsdp", "trainer.algorithm.use_kl_loss=false", "true", {"workload.rl.algorithm": None}, "as in dapo"),
        ("fsdp", "trainer.fully_async.enabled=true", "false", {}, "workload.rl.max_staleness"),
        ("fsdp", "trainer.policy.fsdp_config.cpu_offload=true", "true", {}, "layout.offload"),
        ("fsdp", "trainer.policy.model.lora.rank=32", "true", {"workload.trainable.rank": 32}, ""),
        ("megatron", f"{KWARGS}.recompute_granularity=full", "true", {"layout.recompute": "full"}, ""),
        ("megatron", f"{KWARGS}.recompute_granularity=selective", "true", {"layout.recompute": "selective"}, ""),
        ("megatron", f"{KWARGS}.recompute_granularity=block", "true", {"layout.recompute": None}, "granularity: block"),
        ("fsdp", "trainer.gradient_checkpointing=true", "true", {"layout.recompute": "full"}, ""),
        ("fsdp", "trainer.gradient_checkpointing=false", "true", {"layout.recompute": "none"}, ""),
        ("fsdp", "trainer.max_tokens_per_microbatch=8192", "true", {}, "filled up to a number of tokens"),
        ("none", "", "true", {"layout.framework": None}, "no value of layout.framework"),
    ],
)
def test_launches_of_skyrl_state_samples_and_layout(
    strategy: str, more: str, together: str, stated: dict[str, object], listed: str
) -> None:
    reading = read(SKYRL.format(strategy=strategy, more=more, together=together))
    keys = given(reading)
    expected: dict[str, object] = {
        "workload.kind": "rl",
        "workload.model": "qwen3-8b",
        "layout.nodes": 2,
        "layout.micro_batch": 4,
        "workload.rl.prompts_per_step": 512,
        "workload.rl.samples_per_prompt": 16,
        "workload.rl.minibatches": 4,
        "workload.rl.rollout.tp": 2,
        "workload.rl.placement": "colocated" if together == "true" else "split",
        **stated,
    }
    assert {name: keys.get(name) for name in expected} == expected
    assert counts(reading) == {"ranks_per_node": 8, "engines": 4}
    assert listed in unknown(reading)


@pytest.mark.parametrize(("filled", "length"), [("true", 2048), ("false", None)])
def test_supervised_launches_of_skyrl_have_sequences_of_one_length_if_these_are_filled(
    filled: str, length: int | None
) -> None:
    text = f"""\
        python -m skyrl.train.main_sft strategy=fsdp model.path=Qwen/Qwen2.5-0.5B-Instruct max_length=2048 \\
          batch_size=4 micro_train_batch_size_per_gpu=2 placement.num_nodes=1 placement.num_gpus_per_node=1 \\
          dummy_run_full_ctx={filled}
        """
    keys = given(read(text))
    assert (keys["workload.kind"], keys["workload.global_batch"], keys["layout.micro_batch"]) == ("train", 4, 2)
    assert (keys.get("workload.sequence_length"), keys["layout.sharding"]) == (length, "fsdp")


def test_launches_of_skyrl_without_an_estimator_have_the_default() -> None:
    text = SKYRL.replace("trainer.algorithm.advantage_estimator=grpo", "{more}").replace("{more} \\\n", "\\\n", 1)
    plain = read(text.format(strategy="fsdp", more="", together="true"))
    alone = read(text.format(strategy="fsdp", more="trainer.algorithm.use_kl_loss=False", together="true"))
    assert "workload.rl.algorithm: not stated: grpo, the default" in unknown(plain)
    assert "use_kl_loss: false: without a loss" in unknown(alone)


OUMI = """\
    model:
      model_name: meta-llama/Llama-3.1-8B
      model_max_length: 8192
      torch_dtype_str: bfloat16
    data: {{train: {{pack: {packed}}}}}
    training:
      trainer_type: {trainer}
      per_device_train_batch_size: 2
      gradient_accumulation_steps: 8
      optimizer: adamw_torch_fused
      enable_gradient_checkpointing: True
      use_peft: {adapters}
    peft: {{lora_r: 64, lora_target_modules: [q_proj, k_proj]}}
    {more}
    """


@pytest.mark.parametrize(
    ("packed", "adapters", "more", "stated", "listed"),
    [
        (True, False, "", {"workload.sequence_length": 8192}, "adapters of rank 64: no option turns them on"),
        (False, True, "", {"workload.trainable.rank": 64, "workload.trainable.modules": ["attention"]}, "are cut at"),
        (True, False, "fsdp: {enable_fsdp: True, sharding_strategy: HYBRID_SHARD}", {"layout.sharding": "hsdp"}, ""),
        (True, False, "fsdp: {enable_fsdp: False, sharding_strategy: FULL_SHARD}", {"layout.sharding": None}, ""),
        (True, False, "deepspeed: {enable_deepspeed: True, zero_stage: ZERO_2}", {"layout.sharding": "zero2"}, ""),
        (True, False, "deepspeed: {enable_deepspeed: False, zero_stage: ZERO_2}", {"layout.sharding": None}, ""),
        (True, False, "fsdp: {enable_fsdp: True, mixed_precision: fp16}", {"workload.precision": "fp16"}, ""),
    ],
)
def test_configurations_of_oumi_state_the_run(
    packed: bool, adapters: bool, more: str, stated: dict[str, object], listed: str
) -> None:
    reading = read(OUMI.format(packed=packed, adapters=adapters, trainer="TRL_SFT", more=more))
    keys = given(reading)
    expected = {
        "workload.model": "llama-3.1-8b",
        "workload.precision": "bf16",
        "workload.optimizer": "adamw",
        "layout.micro_batch": 2,
        "layout.recompute": "full",
        **stated,
    }
    assert {name: keys.get(name) for name in expected} == expected
    assert listed in unknown(reading)


@pytest.mark.parametrize(
    ("name", "fused"),
    [("adamw_torch", False), ("adamw_torch_fused", None), ("adafactor", None), ("AdamW_Torch", False)],
)
def test_an_optimizer_of_pytorch_runs_operation_by_operation_unless_its_name_says_fused(
    name: str, fused: bool | None
) -> None:
    text = OUMI.format(packed=True, adapters=False, trainer="TRL_SFT", more="").replace("adamw_torch_fused", name)
    assert given(read(text)).get("layout.fused_optimizer") is fused


def test_engines_of_oumi_take_all_accelerators_unless_it_says_otherwise() -> None:
    text = """\
        model:
          model_name: meta-llama/Llama-3.1-8B
          model_kwargs: {{gpu_memory_utilization: 0.8{}}}
        engine: VLLM
        """
    open_degree, stated = read(text.format("")), read(text.format(", tensor_parallel_size: 4"))
    assert given(open_degree).get("layout.tp") is None
    assert "layout.tp: not stated" in unknown(open_degree)
    assert given(stated)["layout.tp"] == 4
    assert given(stated)["workload.serving.memory_fraction"] == 0.8


def test_recipes_of_vllm_state_the_model_and_list_what_their_reader_chooses() -> None:
    text = """\
        model:
          model_id: Qwen/Qwen3-8B
          context_length: 40960
          base_args: [--max-num-seqs, "64"]
        variants: {default: {precision: bf16}}
        compatible_strategies: [single_node_tp]
        guide: |
          vllm serve Qwen/Qwen3-8B --tensor-parallel-size 8
        """
    reading = read(text)
    assert given(reading)["workload.model"] == "qwen3-8b"
    assert given(reading)["workload.serving.max_sequences"] == 64
    assert "layout.tp" not in given(reading)
    assert "compatible_strategies" in unknown(reading)
    assert "tensor-parallel-size 8 (line 8)" in unknown(reading)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (OUMI.format(packed=True, adapters=False, trainer="TRL_DPO", more=""), "trains with TRL_DPO of Oumi"),
        ("model:\n  model_name: a/b\nengine: LLAMACPP\n", "the engine LLAMACPP of Oumi"),
        ("framework: maxdiffusion\nmodel_name: x\nici_data_parallelism: 1\n", "a configuration of MaxDiffusion"),
        ("python3 main.py \\\n  recipes=a/b cluster=k8s\n", "a launch of SageMaker HyperPod recipes"),
        ("torchrun --nproc_per_node 8 -m RL2.trainer.ppo actor.sp_size=2\n", "a launch of RL2"),
        ("deepspeed --module oat.experiment.offline --zero-stage 3\n", "a launch of oat"),
        ("cluster_name: a\navailable_node_types:\n  head:\n    node_config: {InstanceType: p3.2xlarge}\n", "ray up"),
        (
            "torchrun \\\n --nproc_per_node 8 -m pytest\n",
            "it starts pytest (line 2), it states nproc_per_node 8 (line 2)",
        ),
        (
            "#!/bin/bash\nbash tools/run.sh --num_nodes 2\n",
            "it starts run.sh (line 2): import that script, it states num_nodes 2 (line 2)",
        ),
        ("training_cfg:\n  entry_script: a.py\n", "a job of the HyperPod CLI"),
        ("scale_config:\n  1: {trainer: {num_nodes: 1}}\n", "a part of a recipe of SageMaker HyperPod"),
        ("base_config: inference/a.yml\nmodel: x\n", "a configuration of MaxText for inference"),
        ("nothing of a cluster\n", "matches no import format (`clusterspec import --list` lists them)"),
    ],
)
def test_formats_without_a_reader_are_refused_by_name(text: str, why: str) -> None:
    with pytest.raises(FormatError) as refusal:
        read(text)
    assert why in str(refusal.value)


OWN = """\
  run: {model_type: llm_finetuning_aws}
  model_config: {model_name_or_path: openai/gpt-oss-20b, peft_config: %s}
  training_args:
    trainer_type: %s
    train_batch_size: 64
    micro_train_batch_size: 2
    max_len: 4096
    packing_samples: %s
    gradient_checkpointing: true
    strategy: {fsdp_config: {sharding_strategy: HYBRID_SHARD}}"""


def _recipe(kind: str, inner: str, types: str = "ml.p5.48xlarge") -> str:
    head = f"instance_types: [{types}]\nrun:\n  model_type: {kind}\ntrainer:\n  devices: 8\n  num_nodes: 2\n"
    return f"{head}training_config:\n{inner}\nversion: 1\n"


@pytest.mark.parametrize(("packed", "length"), [("true", 4096), ("false", None)])
def test_recipes_of_hyperpod_have_the_run_of_their_own_trainer(packed: str, length: int | None) -> None:
    keys = given(read(_recipe("llm_finetuning_aws", OWN % ("{r: 16, target_modules: all-linear}", "sft", packed))))
    assert keys["cluster.platform"] == "aws-p5-48xlarge"
    assert (keys["layout.nodes"], keys["layout.micro_batch"], keys["workload.global_batch"]) == (2, 2, 64)
    assert (keys["layout.sharding"], keys["workload.trainable.rank"]) == ("hsdp", 16)
    assert keys.get("workload.sequence_length") == length


def test_recipes_of_hyperpod_have_the_run_of_verl_on_its_lines() -> None:
    inner = """\
  actor_rollout_ref:
    model: {path: Qwen/Qwen3-8B}
    actor: {strategy: fsdp2, ppo_micro_batch_size_per_gpu: 2}
    rollout: {n: 8, tensor_model_parallel_size: 4}
  trainer:
    nnodes: 2"""
    reading = read(_recipe("verl", inner, "ml.p5.48xlarge, ml.p4d.24xlarge"))
    keys = given(reading)
    assert (keys["workload.model"], keys["layout.micro_batch"], keys["workload.rl.rollout.tp"]) == ("qwen3-8b", 2, 4)
    assert next(each.at.line for each in reading.given if each.path[-1] == "micro_batch") == 10
    assert "cluster.platform: one of ml.p5.48xlarge, ml.p4d.24xlarge" in unknown(reading)


@pytest.mark.parametrize(
    ("kind", "inner", "why"),
    [
        ("amazon.nova-pro-v1:0:300k", "  max_length: 8192", "trains amazon.nova-pro-v1:0:300k: only verl"),
        ("llm_finetuning_aws", OWN % ("null", "dpo", "true"), "trains with dpo: supervised training only"),
    ],
)
def test_other_recipes_of_hyperpod_are_refused_by_name(kind: str, inner: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        read(_recipe(kind, inner))


def test_recipes_of_torchtune_that_train_adapters_say_so() -> None:
    text = "tune run --nproc_per_node 2 {} --config a/b.yaml batch_size=2\n"
    assert "a recipe that trains adapters" in unknown(read(text.format("lora_finetune_distributed")))
    assert "a recipe that trains adapters" not in unknown(read(text.format("full_finetune_distributed")))


def test_weights_of_a_quantized_checkpoint_are_listed_with_adapters() -> None:
    text = "swift sft --model Qwen/Qwen2.5-7B-Instruct{} --per_device_train_batch_size 1\n"
    assert "Qwen2.5-7B-Instruct-AWQ: int4: frozen weights" in unknown(read(text.format("-AWQ")))
    assert "frozen weights" not in unknown(read(text.format("")))
    text = "model_name_or_path: a/Meta-Llama-3-8B-Instruct-GPTQ\nstage: sft\nfinetuning_type: lora\nlora_rank: 8\n"
    assert "Meta-Llama-3-8B-Instruct-GPTQ: int4: frozen weights" in unknown(read(text))


def test_engines_of_verl_on_separate_nodes_are_split() -> None:
    text = "python -m a.main actor_rollout_ref.model.path=Qwen/Qwen3-8B actor_rollout_ref.hybrid_engine={}\n"
    stated = [given(read(text.format(word))).get("workload.rl.placement") for word in ("True", "False", "$A")]
    assert stated == ["colocated", "split", None]


@pytest.mark.parametrize(("ranks", "counted"), [("8", 8), ("$GPUS", 4), ("${OTHER}", None), ("$SLURM_GPUS", None)])
def test_jobs_of_a_launcher_state_nodes_and_ranks_without_a_request(ranks: str, counted: int | None) -> None:
    text = f"#!/bin/bash\n#SBATCH --nodes=2\nGPUS=4\nsrun torchrun --nproc_per_node={ranks} own.py\n"
    reading = read(text)
    assert given(reading) == {"layout.nodes": 2}
    assert counts(reading).get("ranks_per_node") == counted
    assert "torchrun: starts what no reader knows" in unknown(reading)


def test_jobs_count_their_ranks() -> None:
    text = "#!/bin/bash\n#SBATCH -n 384\n#SBATCH --gpus-per-node=8\nsrun ./own\n"
    assert counts(read(text)) == {"ranks": 384}
    text = (
        "#!/bin/bash\n#SBATCH -N 2\n#SBATCH -n 2\n#SBATCH --gres=gpu:4\nsrun x run torchrun --nproc_per_node=4 a.py\n"
    )
    assert counts(read(text)) == {"ranks_per_node": 4}


@pytest.mark.parametrize(
    ("directive", "named"),
    [
        ("--constraint=h100", "accelerator h100: a name of the site"),
        ("-p a800", "accelerator a800: a name of the site"),
        ("-p long", None),
        ("--constraint=h100\n#SBATCH --gres=gpu:a100:2", "accelerator a100: a name of the site"),
    ],
)
def test_features_and_partitions_of_jobs_may_name_the_accelerator(directive: str, named: str | None) -> None:
    text = unknown(read(f"#!/bin/bash\n#SBATCH -N 1\n#SBATCH {directive}\n#SBATCH --gpus-per-node=2\nsrun ./own\n"))
    assert (named or "the commands of the script") in text and text.count("accelerator ") == (named is not None)


def test_a_configuration_that_a_launch_of_verl_names_may_decide_its_trainer() -> None:
    text = "python -m verl.trainer.main_ppo --config-name={} actor_rollout_ref.model.path=Qwen/Qwen3-8B data.a=1\n"
    megatron, other = read(text.format("'ppo_megatron_trainer'")), read(text.format("own"))
    assert given(megatron)["layout.framework"] == "megatron-core"
    assert "layout.framework" not in given(other)
    assert "--config-name own: another file, not read" in unknown(other)


@pytest.mark.parametrize("option", ["num_ppo_epochs 4", "sft_model_path a/b", "reward_model_path a/b"])
def test_options_of_trainers_with_rewards_are_not_supervised(option: str) -> None:
    with pytest.raises(FormatError, match="trains with a reference, rewards or pairs"):
        read(f"python own.py --per_device_train_batch_size 1 --model_name_or_path a/b --{option}\n")


def test_the_arguments_of_a_declared_engine_are_no_second_launch() -> None:
    text = """\
        apiVersion: serving.kserve.io/v1alpha1
        kind: LLMInferenceService
        spec:
          model: {uri: hf://Qwen/Qwen3-8B}
          template:
            containers:
            - image: vllm/vllm-openai:v0.18.0
              args: [--tensor-parallel-size, "8", --max-num-seqs, "128"]
              resources: {limits: {nvidia.com/gpu: 8}}
        """
    keys = given(read(text))
    assert (keys["workload.model"], keys["layout.tp"]) == ("qwen3-8b", 8)
    assert keys["workload.serving.max_sequences"] == 128


def test_a_model_whose_name_is_an_empty_variable_is_said_to_be_one() -> None:
    text = "MODEL=${MODEL:-}\npython -m a.main actor_rollout_ref.model.path=$MODEL actor_rollout_ref.rollout.n=8\n"
    assert "model: its name is empty" in unknown(read(text))


def test_models_of_maxtext_that_differ_in_sharding_alone_are_one() -> None:
    text = "model_name: deepseek3-671b{}\nper_device_batch_size: 8\nici_fsdp_parallelism: 64\n"
    assert [given(read(text.format(end)))["workload.model"] for end in ("", "-2dfsdp")] == ["deepseek-v3"] * 2


@pytest.mark.parametrize(
    ("launch", "stated", "why"),
    [
        ("infer --infer_backend vllm --vllm_tensor_parallel_size 4", {"layout.framework": "vllm", "layout.tp": 4}, ""),
        ("deploy --infer_backend sglang --sglang_tp_size 2", {"layout.framework": "sglang", "layout.tp": 2}, ""),
        ("rollout --vllm_max_num_seqs 64", {"layout.framework": "vllm", "workload.serving.max_sequences": 64}, ""),
        ("infer --stream true", {}, "the backend pt of ms-swift"),
        ("deploy --infer_backend lmdeploy", {}, "the backend lmdeploy of ms-swift"),
    ],
)
def test_engines_of_swift_have_the_options_of_their_backend(launch: str, stated: dict[str, object], why: str) -> None:
    text = f"CUDA_VISIBLE_DEVICES=0,1 swift {launch} --model Qwen/Qwen3-8B --max_new_tokens 512\n"
    if why:
        with pytest.raises(FormatError, match=why):
            read(text)
        return
    keys = given(read(text))
    assert {name: keys.get(name) for name in stated} == stated
    assert (keys["workload.kind"], keys["workload.model"]) == ("serve", "qwen3-8b")


def test_degrees_of_megatron_in_a_file_of_llama_factory_are_not_of_paddle() -> None:
    degrees = "per_device_train_batch_size: 1\ntensor_model_parallel_size: 2\npipeline_model_parallel_size: 4\n"
    own = read("model_name_or_path: Qwen/Qwen3-8B\nstage: sft\nfinetuning_type: full\ncutoff_len: 4096\n" + degrees)
    assert (own.kind, given(own)["layout.framework"], given(own)["layout.pp"]) == ("llama-factory", "megatron-core", 4)
    other = read("model_name_or_path: Qwen/Qwen3-8B\nstage: SFT\nfine_tuning: full\n" + degrees)
    assert (other.kind, given(other)["layout.tp"]) == ("paddlenlp", 2)


def test_values_of_a_chart_that_serves_with_maxtext_are_no_training() -> None:
    values = "maxtext_config:\n  model_name: llama3.1-8b\n  ici_tensor_parallelism: 4\n  max_target_length: 1536\n"
    with pytest.raises(FormatError, match="line 5: starts MaxText for inference"):
        read(f"{values}jetstream:\n  service: one\n")
    assert given(read(values))["layout.tp"] == 4


def test_a_fork_of_slime_with_engines_of_vllm_names_them() -> None:
    launch = (
        "python3 train.py --actor-num-gpus-per-node 2 --tensor-model-parallel-size 2 --rollout-batch-size 32"
        " --n-samples-per-prompt 4 --global-batch-size 128 --hf-checkpoint Qwen/Qwen3-4B"
        " --rollout-num-gpus-per-engine 1 --vllm-gpu-memory-utilization 0.7"
    )
    found = given(read(launch))
    assert found["workload.rl.rollout.framework"] == "vllm"
    assert found["workload.rl.rollout.memory_fraction"] == 0.7
    assert found["workload.rl.rollout.tp"] == 1
    split = given(read(launch + " --vllm-data-parallel-size 2"))
    assert "workload.rl.rollout.tp" not in split
