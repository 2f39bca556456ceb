"""Options of DeepSpeed, Accelerate and TensorRT-LLM are read, or listed with what they change; holders of launches."""

from __future__ import annotations

import json

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import given, read, unknown

DEEPSPEED = '{{"train_micro_batch_size_per_gpu": 2, "zero_optimization": {{"stage": 2}}, {}}}\n'
ACCELERATE = "distributed_type: {0}\nmixed_precision: bf16\nnum_machines: 2\nnum_processes: 16\n{1}"
TRTLLM = "tensor_parallel_size: 8\ncuda_graph_config: {{}}\nkv_cache_config:\n  free_gpu_memory_fraction: 0.8\n{}\n"


@pytest.mark.parametrize(
    ("part", "path", "value"),
    [
        ('"pipeline": {"stages": 4}', "layout.pp", 4),
        ('"expert_parallel": {"enabled": true, "autoep_size": 8}', "layout.ep", 8),
        ('"expert_parallel": {"enabled": false, "autoep_size": 8}', "layout.ep", None),
        ('"tensor_parallel": {"autotp_size": 4}', "layout.tp", 4),
        ('"bfloat16": {"enabled": true}', "workload.precision", "bf16"),
        ('"torch_autocast": {"enabled": true, "dtype": "bfloat16"}', "workload.precision", "bf16"),
        ('"torch_autocast": {"enabled": false, "dtype": "bfloat16"}', "workload.precision", None),
        (
            '"bf16": {"enabled": true, "bf16_master_weights_and_grads": true}',
            "layout.optimizer_states.master",
            "bf16",
        ),
        (
            '"bf16": {"enabled": true, "bf16_master_weights_and_grads": true, "bf16_optimizer_states": true}',
            "layout.optimizer_states.moments",
            "bf16",
        ),
        ('"bf16": {"enabled": true}', "layout.optimizer_states.master", None),
    ],
)
def test_a_configuration_of_deepspeed_states_degrees_and_number_types(part: str, path: str, value: object) -> None:
    assert given(read(DEEPSPEED.format(part))).get(path) == value


@pytest.mark.parametrize(
    ("part", "option", "why"),
    [
        ('"zero_quantized_weights": true', "zero_quantized_weights", "bytes or the algorithm"),
        ('"data_types": {"grad_accum_dtype": "bf16"}', "data_types.grad_accum_dtype: bf16", "precision"),
        ('"zero_hpz_partition_size": 8', "zero_hpz_partition_size: 8", "what ranks share"),
        (
            '"activation_checkpointing": {"partition_activations": true}',
            "activation_checkpointing.partition_activations",
            "layout.recompute",
        ),
        ('"curriculum_learning": {"enabled": true}', "curriculum_learning.enabled", "may not hold"),
        ('"hybrid_engine": {"enabled": true}', "hybrid_engine.enabled", "no key for it"),
    ],
)
def test_options_of_deepspeed_without_a_key_are_listed_with_what_they_change(part: str, option: str, why: str) -> None:
    found = [each for each in read(DEEPSPEED.format(part)).unknown if each.what == option]
    assert len(found) == 1, unknown(read(DEEPSPEED.format(part)))
    assert why in found[0].why


def test_sequence_parallelism_of_accelerate_exchanges_heads_for_tokens() -> None:
    degrees = "parallelism_config:\n  parallelism_config_{0}_size: 4\n  parallelism_config_dp_shard_size: 4\n"
    layout = given(read(ACCELERATE.format("DEEPSPEED", degrees.format("sp"))))
    assert (layout["layout.cp"], layout["layout.cp_method"], layout["layout.dp"]) == (4, "all-to-all", 4)
    ring = degrees.format("cp") + "  parallelism_config_cp_comm_strategy: alltoall\n"
    layout = given(read(ACCELERATE.format("FSDP", ring)))
    assert (layout["layout.cp"], layout["layout.cp_method"]) == (4, "ring")
    line = "accelerate launch --use_fsdp --num_processes 16 --num_machines 2 --use_parallelism_config"
    layout = given(read(f"{line} --parallelism_config_tp_size 2 --parallelism_config_dp_shard_size 8 sft.py\n"))
    assert (layout["layout.tp"], layout["layout.dp"]) == (2, 8)


def test_degrees_and_recomputation_of_megatron_by_accelerate_are_read() -> None:
    section = (
        "megatron_lm_config:\n  megatron_lm_tp_degree: 2\n  megatron_lm_expert_model_parallel_size: 4\n"
        "  megatron_lm_context_parallel_size: 2\n  megatron_lm_expert_tensor_parallel_size: 1\n"
        "  megatron_lm_recompute_granularity: full\n  megatron_lm_use_custom_fsdp: true\n"
    )
    reading = read(ACCELERATE.format("MEGATRON_LM", section))
    layout = given(reading)
    names = ("tp", "ep", "cp", "expert_tp", "recompute")
    assert [layout[f"layout.{name}"] for name in names] == [2, 4, 2, 1, "full"]
    assert any("custom_fsdp" in each.what and "what ranks share" in each.why for each in reading.unknown)


def test_sections_of_another_type_of_distribution_are_listed_as_not_used() -> None:
    section = "deepspeed_config:\n  zero_stage: 2\n  offload_optimizer_device: cpu\n"
    reading = read(ACCELERATE.format("MULTI_GPU", section))
    assert given(reading)["layout.sharding"] == "none"
    assert "layout.offload.optimizer" not in given(reading)
    assert any(each.what == "deepspeed_config" and "not used" in each.why for each in reading.unknown)
    assert not any("not used" in each.why for each in read(ACCELERATE.format("DEEPSPEED", section)).unknown)


@pytest.mark.parametrize(("backend", "fused"), [("INDUCTOR", True), ("'NO'", None), ("CUDAGRAPHS", None)])
def test_a_compiler_of_accelerate_fuses_operations(backend: str, fused: bool | None) -> None:
    reading = read(ACCELERATE.format("FSDP", f"dynamo_config:\n  dynamo_backend: {backend}\n"))
    assert given(reading).get("layout.fused_kernels") == fused
    assert ("what it fuses" in str(unknown(reading))) == (backend == "CUDAGRAPHS")


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("  max_tokens: 40000", "in place of a share"),
        ("moe_config:\n  load_balancer: moe.yaml", "moves or copies experts"),
        ("moe_cluster_parallel_size: 2", "layout has no key"),
        ("batch_wait_timeout_iters: 50", "form a step"),
        ("allreduce_strategy: MNNVL", "algorithm of a collective"),
    ],
)
def test_options_of_tensorrt_llm_without_a_key_are_listed(lines: str, why: str) -> None:
    assert any(why in each.why for each in read(TRTLLM.format(lines)).unknown)
    assert not any(why in each.why for each in read(TRTLLM.format("")).unknown)


def test_context_parallelism_of_trtllm_serve_is_read() -> None:
    assert given(read("trtllm-serve Qwen/Qwen3-8B --tp_size 2 --cp_size 4\n"))["layout.cp"] == 4


MANIFEST = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: server}
spec:
  replicas: 2
  template:
    spec:
      containers:
        - name: engine
          image: vllm/vllm-openai:v0.11.0
          command: [python3, -m, vllm.entrypoints.openai.api_server]
          args: [--model, Qwen/Qwen3-8B, --tensor-parallel-size, "2"]
          resources: {limits: {nvidia.com/gpu: "2"}}
"""


def test_an_object_that_a_script_applies_is_read_as_the_object_itself() -> None:
    script = f"#!/bin/bash\nRG=a\nkubectl get nodes\nkubectl apply -f - <<EOF\n{MANIFEST}EOF\ncurl localhost\n"
    alone, within = read(MANIFEST), read(script)
    assert given(within) == given(alone)
    assert given(within)["layout.tp"] == 2
    assert [each.at.line - 4 for each in within.given] == [each.at.line for each in alone.given]


def test_the_process_of_an_inspected_container_is_read() -> None:
    words = ["-m", "sglang.launch_server", "--model-path", "Qwen/Qwen3-8B", "--tp", "4"]
    state = {"Id": "e1f6", "Created": "2026-06-07", "Path": "python3", "Args": words, "Config": {"Cmd": words}}
    reading = read(json.dumps([state], indent=4))
    assert (given(reading)["layout.tp"], given(reading)["workload.model"]) == (4, "qwen3-8b")


def test_tests_of_recipes_are_no_recipe() -> None:
    text = "def {}(self):\n    config = model(tensor_model_parallel_size=2, pipeline_model_parallel_size={})\n"
    recipe = read(text.format("pretrain_config", 4), "megatron")
    assert given(recipe)["layout.pp"] == 4
    method = "class TestModel:\n" + "".join(f"    {line}\n" for line in text.format("test_pp", 8).splitlines())
    with pytest.raises(FormatError, match="holds tests of recipes"):
        read(method, "megatron")


def test_packs_with_images_have_the_length_of_a_sequence() -> None:
    recipe = (
        "recipe: FinetuneRecipeForVLM\nmodel:\n  _target_: nemo_automodel.NeMoAutoModelForImageTextToText."
        "from_pretrained\n  pretrained_model_name_or_path: Qwen/Qwen3-VL-30B-A3B-Instruct\nstep_scheduler:\n"
        "  global_batch_size: 16\n  local_batch_size: 1\ndistributed:\n  strategy: fsdp2\n  ep_size: 8\n{}"
    )
    packed = read(recipe.format("packed_sequence:\n  pretokenize: true\n  pack_size: 8192\n"))
    assert given(packed)["workload.sequence_length"] == 8192
    assert "workload.sequence_length" not in given(read(recipe.format("")))


@pytest.mark.parametrize(
    ("lines", "model"),
    [
        ("model:\n  name: Qwen/Qwen3-8B", "qwen3-8b"),
        ("model_id: Qwen/Qwen3-8B", "qwen3-8b"),
        ("model:\n  name: transformer", None),
        ("reward:\n  model:\n    name: Qwen/Qwen3-8B", None),
        ("model:\n  name: Qwen/Qwen3-8B\nmodel_path: Qwen/Qwen3-4B", None),
    ],
)
def test_settings_name_a_model_by_a_repository(lines: str, model: str | None) -> None:
    text = f"training:\n  per_device_train_batch_size: 2\n  bf16: true\n{lines}\n"
    assert given(read(text, name="train.yaml")).get("workload.model") == model


@pytest.mark.parametrize(
    ("mount", "model"),
    [
        ("-v $(pwd)/models/Qwen3-8B:/workspace/model:ro", "qwen3-8b"),
        ("--volume=/data/Qwen3-8B:/workspace", None),
        ("--mount type=bind,source=/data/Qwen3-8B,target=/workspace/model", "qwen3-8b"),
        ("-v $MODEL:/workspace/model", None),
    ],
)
def test_a_mounted_folder_names_the_model(mount: str, model: str | None) -> None:
    for image in ("vllm/vllm-openai:v0.11.0 --model", "engine:1 vllm serve"):
        launch = f"docker run --gpus all {mount} {image} /workspace/model --tensor-parallel-size 2\n"
        assert given(read(launch)).get("workload.model") == model, launch
        assert given(read(launch))["layout.tp"] == 2


def test_recipes_of_omni_models_are_refused() -> None:
    recipe = "meta: {title: a}\nmodel:\n  model_id: a/b\n  min_vllm_version: 0.12.0\n%s"
    with pytest.raises(FormatError, match="vLLM-Omni"):
        read(recipe % "omni:\n  tasks:\n    - id: t2v\n", name="a.yaml")


@pytest.mark.parametrize(
    ("recipe", "more", "why"),
    [
        ("KnowledgeDistillationRecipeForVLM", "", "a teacher computes targets"),
        ("nemo_automodel.recipes.speculative.eagle.TrainEagle3Recipe", "", "trains a draft model"),
        ("TrainBiEncoderRecipe", "", "an encoder or a classifier"),
        ("TrainFinetuneRecipeForNextTokenPrediction", "teacher_model:\n  name: a\n", "a teacher computes targets"),
    ],
)
def test_recipes_of_other_work_are_refused(recipe: str, more: str, why: str) -> None:
    model = "model:\n  _target_: nemo_automodel.NeMoAutoModelForCausalLM\n"
    text = "recipe: {}\n" + model + "step_scheduler:\n  global_batch_size: 16\n{}"
    with pytest.raises(FormatError, match=why):
        read(text.format(recipe, more), "nemo-automodel")
    plain = read(text.format("TrainFinetuneRecipeForNextTokenPrediction", ""), "nemo-automodel")
    assert given(plain)["workload.global_batch"] == 16
    masked = read(text.format("DiffusionLMSFTRecipe", ""), "nemo-automodel")
    assert "attention is not causal" in unknown(masked)


BRIDGE = """\
from megatron.bridge import AutoBridge
from megatron.bridge.recipes.common import _pretrain_common

MODEL = "Qwen/Qwen3-8B"


def qwen3_8b_pretrain_config() -> ConfigContainer:
    cfg = {}()
    cfg.model = AutoBridge.from_hf_pretrained(MODEL, revision="1").to_megatron_provider()
    cfg.model.tensor_model_parallel_size = 2
    cfg.model.pipeline_model_parallel_size = 4
    cfg.mixed_precision = bf16_mixed()
    return cfg
"""


def test_recipes_name_their_model_their_precision_and_the_function_that_they_change() -> None:
    reading = read(BRIDGE.format("_pretrain_common"), "megatron")
    found = given(reading)
    assert (found["workload.model"], found["workload.precision"]) == ("qwen3-8b", "bf16")
    assert (found["layout.tp"], found["layout.pp"]) == (2, 4)
    assert "layout.micro_batch" not in found
    listed = [each for each in reading.unknown if each.what == "_pretrain_common()"]
    assert len(listed) == 1 and "leaves out (batches, precision, adapters)" in listed[0].why
    plain = read(BRIDGE.format("ConfigContainer"), "megatron")
    assert "leaves out (batches, precision, adapters)" not in unknown(plain)


def test_a_build_of_an_engine_is_refused_with_what_to_import() -> None:
    build = "#!/bin/bash\ntrtllm-build --checkpoint_dir ckpt --output_dir engine --max_batch_size 64\n"
    with pytest.raises(FormatError, match=r"import the config\.json that it writes"):
        read(build)
    assert given(read(build + "trtllm-serve Qwen/Qwen3-8B --tp_size 2\n"))["layout.tp"] == 2


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("#!/bin/bash\n#SBATCH -N 2\n#SBATCH --gres=gpu:mi300x:8\nsrun a\n", "in the catalog: mi300x"),
        ("#!/bin/bash\n#SBATCH -N 2\n#SBATCH --gres=gpu:v100:4\nsrun a\n", "v100-sxm-16gb, v100-sxm-32gb"),
        ("#!/bin/bash\n#SBATCH -N 2\n#SBATCH --gres=gpu:big:4\nsrun a\n", "the memory of the product"),
    ],
)
def test_names_of_sites_are_listed_with_the_accelerators_that_they_may_mean(text: str, meant: str) -> None:
    assert unknown(read(text)).partition("\n")[0].endswith(meant)
