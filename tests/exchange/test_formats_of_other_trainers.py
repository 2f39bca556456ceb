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
        (
            "torchrun \\\n --nproc_per_node 8 my_own.py\n",
            "it starts my_own.py (line 2), it states nproc_per_node 8 (line 2)",
        ),
        ("nothing of a cluster\n", "matches no import format (`clusterspec import --list` lists them)"),
    ],
)
def test_formats_without_a_reader_are_refused_by_name(text: str, why: str) -> None:
    with pytest.raises(FormatError) as refusal:
        read(text)
    assert why in str(refusal.value)
