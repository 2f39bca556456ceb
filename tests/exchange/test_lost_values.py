"""Values that launches, configurations and objects state in places where a reader may lose them without a word."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.exchange import documents
from clusterspec.exchange.import_result import FormatError, ImportResult
from clusterspec.finding import Problem
from clusterspec.source import Position, Span
from tests.effort import each
from tests.exchange.imports import read

VERL = (
    "python3 -m verl.trainer.main_ppo trainer.nnodes=2 trainer.n_gpus_per_node=8 actor_rollout_ref.actor.strategy=fsdp "
)
VERL += "actor_rollout_ref.actor.fsdp_config.fsdp_size="
TRAINER = (
    "train.py --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 2 --gradient_accumulation_steps 4"
)
MEGATRON = "pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --tensor-model-parallel-size 2"
NEMO = "trainer: {devices: 8, num_nodes: 1, precision: %s}\nmodel:\n  tensor_model_parallel_size: 2\n"
FACTORY = "model_name_or_path: Qwen/Qwen2.5-7B\nstage: sft\ncutoff_len: 1024\nfinetuning_type: full\n"
TITAN = '[model]\nname = "llama3"\nflavor = "8B"\n[training]\nlocal_batch_size = 3\n'
TITAN += "[parallelism]\ntensor_parallel_degree = 4\n"


def given(reading: ImportResult) -> dict[str, Any]:
    return {".".join(map(str, value.path)): value.value for value in reading.given}


def listed(reading: ImportResult) -> str:
    return "\n".join(f"{part.what}: {part.why}" for part in reading.unknown)


@each(
    "text, values",
    [
        (f"{VERL}2", {"layout.sharding": "hsdp", "layout.shard_group": 2}),
        (f"{VERL}-1", {"layout.sharding": "fsdp", "layout.shard_group": None}),
        (f"{VERL}16", {"layout.sharding": "fsdp", "layout.shard_group": None}),
        (f"{VERL}1", {"layout.sharding": "none", "layout.shard_group": None}),
        (NEMO % 32, {"workload.precision": "fp32"}),
        (NEMO % "bf16-mixed", {"workload.precision": "bf16"}),
        (f"{FACTORY}flash_attn: fa2", {"workload.attention": "flash-2"}),
        (f"{FACTORY}flash_attn: disabled", {"workload.attention": "plain"}),
        (f"{FACTORY}flash_attn: auto", {"workload.attention": None}),
        (f"{FACTORY}enable_liger_kernel: true", {"layout.loss": "chunked", "layout.fused_kernels": True}),
        ("python finetune.py --tensor-parallel-size=4 --pipeline-model-parallel-size 2 --devices 8", {"layout.tp": 4}),
        (f"CUDA_VISIBLE_DEVICES=3 python {TRAINER}", {"workload.global_batch": 8}),
        (f"CUDA_VISIBLE_DEVICES=0,1 python {TRAINER}", {"workload.global_batch": None}),
        (
            "model: nvidia/Qwen3-32B-NVFP4\nargs:\n  - --quantization\n  - modelopt\n  - --max-num-seqs\n  - '4'\n",
            {"workload.parameter_precision": "nvfp4"},
        ),
        (
            "model: nvidia/Qwen3-32B-FP8\nserve_args: [--quantization, modelopt, --max-num-seqs, '4']\n",
            {"workload.parameter_precision": "fp8", "workload.serving.max_sequences": 4},
        ),
        ("vllm serve a/b --quantization petit_nvfp4", {"workload.parameter_precision": "nvfp4"}),
        ("vllm serve a/b --quantization modelopt_mixed", {"workload.parameter_precision": None}),
        ("vllm serve a/b --kv-cache-dtype nvfp4", {"workload.kv_precision": "nvfp4"}),
        ("vllm serve a/b --kv-cache-dtype turboquant_k8v4", {"workload.kv_precision": None}),
    ],
)
def test_a_value_reaches_the_spec(text: str, values: dict[str, Any]) -> None:
    found = given(read(text))
    assert {key: found.get(key) for key in values} == values


@each(
    "text, part",
    [
        (f"{VERL}5", "fsdp_size: 5"),
        (
            f"python {TRAINER} --mm_tunable_parts mm_mlp_adapter",
            "mm_tunable_parts: mm_mlp_adapter: trains only these parts",
        ),
        (f"{FACTORY}flash_attn: xformers", "flash_attn: xformers"),
        (
            f"export CUDA_VISIBLE_DEVICES=0,1\nCUDA_VISIBLE_DEVICES=0 python {TRAINER}",
            "CUDA_VISIBLE_DEVICES: commands of",
        ),
        (
            "worker: {actor: {fsdp: {enable_full_shard: false, fsdp_size: 4}}}\n"
            "data: {rollout_batch_size: 8, max_prompt_length: 64, max_response_length: 64}\n"
            "algorithm: {adv_estimator: grpo}\ntrainer: {nnodes: 1, n_gpus_per_node: 8}",
            "fsdp_size: 4",
        ),
    ],
)
def test_a_value_without_a_key_is_listed(text: str, part: str) -> None:
    assert part in listed(read(text))


@each("steps, nodes", [("", 4), ("-N 2 ", 2), ("--nodes=3 ", 3), ("-N ${#HALF[@]} ", None), ("-N $SLURM_NNODES ", 4)])
def test_the_step_of_a_job_may_have_fewer_nodes(steps: str, nodes: int | None) -> None:
    job = f"#!/bin/bash\n#SBATCH -N 4\n#SBATCH --ntasks-per-node=8\nsrun {steps}bash -c '\n  python {TRAINER}\n'\n"
    reading = read(job)
    assert given(reading).get("layout.nodes") == nodes
    assert (nodes is None) is ("layout.nodes: ${#HALF" in listed(reading))


def test_a_variable_that_only_an_untaken_branch_sets_is_empty() -> None:
    script = (
        "TP=1\nif [ $TP -gt 1 ]; then\n  sp='--sequence-parallel'\nelif [ $TP = none ]; then\n  sp=''\nfi\n"
        f"torchrun {MEGATRON} --use-distributed-optimizer $sp --bf16\n"
    )
    found = given(read(script))
    assert (found["layout.sharding"], found.get("layout.sequence_parallel")) == ("zero1", None)


def test_placeholders_in_a_row_are_words() -> None:
    reading = read(f"python {TRAINER} --hosts <first_node> <second_node> --bf16 true --dataset <data of yours>\n")
    assert given(reading)["workload.precision"] == "bf16"


def test_a_program_of_inference_of_maxtext_is_refused() -> None:
    with pytest.raises(FormatError, match="for inference: only its training is read"):
        read(
            "python3 ../inference_microbenchmark.py ../configs/base.yml model_name=llama2-70b ici_tensor_parallelism=-1"
        )


OBJECTS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: config}
data:
  job.toml: |
    %s
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: job}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - command: [bash, -c, "torchrun --nnodes=2 -m torchtitan.train --job.config_file /config/job.toml"]
            resources: {limits: {nvidia.com/gpu: 8}}
"""


@each(
    "text",
    [
        OBJECTS % TITAN.replace("\n", "\n    "),
        f"cat > job.toml <<EOF\n{TITAN}EOF\ntorchrun --nnodes=2 -m torchtitan.train --job.config_file ./job.toml\n",
    ],
)
def test_a_configuration_with_its_launch_is_read(text: str) -> None:
    reading = read(text)
    found = given(reading)
    assert (found["workload.model"], found["layout.tp"], found["layout.micro_batch"]) == ("llama-3.1-8b", 4, 3)
    assert "a separate file" not in listed(reading)


def test_a_file_of_another_name_is_not_the_one_of_the_launch() -> None:
    text = f"cat > other.toml <<EOF\n{TITAN}EOF\ntorchrun --nnodes=2 -m torchtitan.train --job.config_file ./job.toml\n"
    assert "./job.toml: a separate file" in listed(read(text))


def test_accelerators_of_a_placeholder_are_named() -> None:
    text = (
        "apiVersion: ray.io/v1\nkind: RayCluster\nspec:\n  headGroupSpec: {template: {spec: {containers: []}}}\n"
        "  workerGroupSpecs:\n  - replicas: 2\n    template: {spec: {containers: [\n"
        "      {resources: {limits: {\n"
        "        nvidia.com/gpu: YOUR_NUMBER\n      }}}]}}\n"
    )
    with pytest.raises(FormatError, match=r"line 9: asks for nvidia\.com/gpu: YOUR_NUMBER, which is no count"):
        read(text)


PREFILL = "vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2 --max-num-batched-tokens 8192 --kv-cache-dtype fp8"
DECODE = "vllm serve Qwen/Qwen3-32B --tensor-parallel-size 4 --max-num-seqs 64 --kv-cache-dtype fp8"


@each(
    "text",
    [
        f'{PREFILL} --kv-transfer-config \'{{"kv_role":"kv_producer"}}\' &\n'
        f'{DECODE} --kv-transfer-config \'{{"kv_role":"kv_consumer"}}\'\n',
        "python -m sglang.launch_server --model-path Qwen/Qwen3-32B --disaggregation-mode decode --tp 4 "
        "--max-running-requests 64 --kv-cache-dtype fp8_e4m3 &\n"
        "python -m sglang.launch_server --model-path Qwen/Qwen3-32B --disaggregation-mode prefill --tp 2 "
        "--chunked-prefill-size 8192 --kv-cache-dtype fp8_e4m3\n",
    ],
)
def test_servers_of_two_roles_are_one_plan(text: str) -> None:
    reading, base = read(text), "workload.serving.disaggregated"
    found = given(reading)
    assert (found[f"{base}.prefill.tp"], found[f"{base}.decode.tp"]) == (2, 4)
    assert (found["workload.serving.chunk_tokens"], found["workload.serving.max_sequences"]) == (8192, 64)
    assert (found["workload.model"], found["workload.kv_precision"]) == ("qwen3-32b", "fp8")
    assert "layout.tp" not in found and "prefill: replicas: the text does not state" in listed(reading)


def test_servers_without_roles_stay_a_choice() -> None:
    both = f'{PREFILL} --kv-transfer-config \'{{"kv_role":"kv_both"}}\' &\n{DECODE}\n'
    with pytest.raises(FormatError, match="2 launches with different options"):
        read(both)
    assert given(read(both, part=2))["layout.tp"] == 4


POD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: engine}
spec:
  replicas: 3
  template:
    spec:
      containers:
      - command: [vllm, serve, Qwen/Qwen3-32B, --tensor-parallel-size, "%d"]
        resources: {limits: {nvidia.com/gpu: "%d"}}
"""


@each("asked, listed_as", [(2, True), (8, False)])
def test_accelerators_of_a_pod_may_be_fewer_than_those_of_a_node(asked: int, listed_as: bool) -> None:
    reading = read(POD % (asked, asked))
    assert given(reading)["cluster.accelerators_per_node"] == asked
    assert (f"cluster.accelerators_per_node: {asked}: of a pod: a node may have more" in listed(reading)) is listed_as


NEVA = """\
trainer: {devices: 8, num_nodes: 2, precision: bf16}
model:
  mm_cfg: {vision_encoder: {hidden_size: 1024, num_attention_heads: 16}}
  tensor_model_parallel_size: 4
  peft: {peft_scheme: %s, lora_tuning: {adapter_dim: 128, target_modules: [%s]}}
  num_layers: 32
  hidden_size: 4096
  num_attention_heads: 32
"""


def test_sizes_of_a_deeper_part_are_not_those_of_the_model() -> None:
    found = given(read(NEVA % ("lora", "attention_qkv")))
    assert (found["workload.model.hidden"], found["workload.model.heads"]) == (4096, 32)


@each(
    "scheme, modules, method, rank, names",
    [
        ("lora", "attention_qkv, mlp_fc1", "lora", 128, ["attention", "ffn"]),
        ("lora", "all", "lora", 128, ["attention", "ffn"]),
        ("lora", "embedding", "lora", 128, None),
        ("ptuning", "", None, None, None),
        ("none", "", None, None, None),
    ],
)
def test_adapters_of_nemo_are_read(
    scheme: str, modules: str, method: str | None, rank: int | None, names: list[str] | None
) -> None:
    reading, base = read(NEVA % (scheme, modules)), "workload.trainable"
    found = given(reading)
    assert [found.get(f"{base}.{name}") for name in ("method", "rank", "modules")] == [method, rank, names]
    assert ("peft_scheme: ptuning" in listed(reading)) is (scheme == "ptuning")


SWIFT = "model: Qwen/Qwen2.5-7B\nper_device_train_batch_size: 1\ntorch_dtype: bfloat16\n"
ACCELERATE = "distributed_type: DEEPSPEED\nnum_machines: 1\nnum_processes: 8\ndeepspeed_config: {zero_stage: 3}\n"
STAGES = "tensor_model_parallel_size: 1\npipeline_model_parallel_size: 1\nmicro_batch_size: 4\n"


@each(
    "text, values, part",
    [
        (f"{SWIFT}tuner_type: lora", {"workload.trainable.rank": 8, "workload.precision": "bf16"}, ""),
        (f"{SWIFT}attn_impl: flash_attention_2", {"workload.attention": "flash-2"}, ""),
        (f"{SWIFT}attn_impl: eager", {"workload.attention": "plain"}, ""),
        (f"{SWIFT}attn_impl: sdpa", {"workload.attention": None}, ""),
        (f"{SWIFT}use_flash_attention_2: true", {"workload.attention": "flash-2"}, ""),
        (f"{ACCELERATE}mixed_precision: 'no'", {"workload.precision": None}, "mixed_precision: no: GEMMs keep"),
        (f"{STAGES}precision: 16", {"workload.precision": "fp16"}, ""),
        (
            "Name=gpu File=/dev/nvidia[0-3] Cores=0-31\nName=gpu File=/dev/nvidia[4-7] Cores=32-63\n",
            {"cluster.accelerators_per_node": 8, "cluster.nodes": None},
            "cluster.nodes: the lines apply to each node",
        ),
        ("AutoDetect=nvml\nName=gpu Type=a100 Count=4\n", {"cluster.accelerators_per_node": 4}, "accelerator a100"),
        (
            "MODEL_ARGS:\n  --tensor-model-parallel-size: 2\n  --recompute-granularity: selective\n"
            "  --recompute-modules: '[layernorm moe_act]'\n",
            {"layout.recompute": ["norm", "activation"]},
            "",
        ),
    ],
)
def test_a_value_of_a_configuration_is_read_or_listed(text: str, values: dict[str, Any], part: str) -> None:
    reading = read(text)
    found = given(reading)
    assert {key: found.get(key) for key in values} == values
    assert part in listed(reading)


def test_a_key_without_a_value_turns_nothing_on() -> None:
    text = "model:\n  num_layers: 8\n  hidden_size: 64\n  tensor_model_parallel_size: 1\n  decoder_seq_length: null\n"
    reading = read(f"{text}  hybrid_override_pattern: null\n")
    assert given(reading)["workload.model.layers"] == 8 and "stack" not in listed(reading)


def test_a_template_of_a_topology_is_named() -> None:
    with pytest.raises(FormatError, match="line 2: a template: import the rendered file"):
        read("SwitchName=a Nodes=n[1-2]\n{% for s in spines %}\nSwitchName={{ s }} Switches=a\n{% endfor %}\n")


def test_an_image_named_after_vllm_starts_its_server_on_slices() -> None:
    text = POD % (2, 2)
    text = text.replace(
        "command: [vllm, serve, Qwen/Qwen3-32B,", "image: site/vllm-own:1\n        args: [--model, a/b,"
    )
    reading = read(text.replace("nvidia.com/gpu", "nvidia.com/mig-3g.40gb"))
    assert given(reading)["layout.tp"] == 2 and "nvidia.com/mig-3g.40gb: parts of accelerators" in listed(reading)


def test_a_script_with_words_of_python_is_no_recipe() -> None:
    text = "#!/usr/bin/env bash\nread A < <(python3 - <<'PY'\nimport json\nprint(json.dumps(1))\nPY\n)\n"
    text += "torchrun train.py engine.tensor_model_parallel_size=4 engine.context_parallel_size=2\n"
    assert given(read(text))["layout.tp"] == 4


DENSE = "model:\n  num_layers: 8\n  hidden_size: 64\n  tensor_model_parallel_size: 1\n"
DENSE += "  moe_router_topk: 2\n  moe_layer_freq: 1\n"


@each("experts, values", [("null", (None, None, None)), ("16", (16, 2, 8))])
def test_values_of_experts_hold_where_there_are_some(experts: str, values: tuple[int | None, ...]) -> None:
    reading, base = read(f"{DENSE}  num_moe_experts: {experts}\n"), "workload.model"
    found = given(reading)
    assert tuple(found.get(f"{base}.{name}") for name in ("experts", "experts_per_token", "moe_layers")) == values
    assert ("moe_router_topk: 2: read, but it sets no value" in listed(reading)) is (experts == "null")


def test_defaults_of_the_environment_are_taken_and_named() -> None:
    text = "model:\n  tensor_model_parallel_size: ${oc.decode:${oc.env:TP,4}}\n  micro_batch_size: ${oc.env:MBS,2}\n"
    reading = read(f"{text}  fp8: ${{oc.env:FP8,False}}\n  bf16: true\n  seq_length: ${{oc.env:LENGTH}}\n")
    found = given(reading)
    assert (found["layout.tp"], found["layout.micro_batch"], found.get("workload.precision")) == (4, 2, None)
    assert "2 values: defaults of variables, which the environment may replace: model.tensor" in listed(reading)
    assert "seq_length: ${oc.env:LENGTH}" in listed(reading)


def test_accelerators_that_the_values_of_a_chart_ask_for_are_named() -> None:
    text = "image: {repository: vllm/vllm-openai, command: [vllm, serve, /data/]}\nresources:\n  limits:\n    %s: 2\n"
    assert "nvidia.com/gpu: 2: asked for by a container" in listed(read(text % "nvidia.com/gpu"))
    assert "asked for" not in listed(read(text % "cpu"))


def test_both_switches_off_are_single_precision() -> None:
    config = '{"zero_optimization": {"stage": 0}, "fp16": {"enabled": %s}, "bf16": {"enabled": false}}'
    assert given(read(config % "false"))["workload.precision"] == "fp32"
    assert given(read(config % "true"))["workload.precision"] == "fp16"


def test_defaults_of_variables_of_terraform_are_machines() -> None:
    text = (
        'variable "gpu_node_instance_types" {\n  default = ["p5.48xlarge"]\n}\n'
        'variable "gpu_node_desired_size" {\n  default = 4\n}\nvariable "tags" {\n  default = { a = "b" }\n}\n'
    )
    reading = read(text)
    assert given(reading)["cluster.platform"] == "aws-p5-48xlarge" and "defaults of variables" in listed(reading)
    with pytest.raises(FormatError, match="states no type of machine"):
        read('variable "instance_type" {\n  type = string\n}\n')


def test_objects_that_are_no_yaml_are_named() -> None:
    text = "apiVersion: v1\nkind: Pod\nspec: { containers: [ { name: a\n# python3 -m dynamo.vllm --model a/b\n"
    with pytest.raises(FormatError, match="not YAML"):
        read(text)


POD_JOB = """apiVersion: kubeflow.org/v1
kind: PyTorchJob
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 4
      template:
        spec:
          containers:
            - resources: {limits: {nvidia.com/gpu: %s}}
              command: [torchrun, --nproc_per_node=8, /fsdp/train.py, --hidden_width=8192]
              # --num_layers=80
"""


def test_options_of_unknown_program_in_pods() -> None:
    assert "2 options: of commands that no reader knows (train.py): not read: nproc_per_node, hidden_width" in listed(
        read(POD_JOB % 8)
    )
    reading = read(POD_JOB % "$GPUS")
    assert given(reading) == {"layout.nodes": 4}
    assert "cluster.accelerators_per_node: a container asks for a number that is a variable" in listed(reading)


def test_options_before_those_that_a_comment_cuts_off() -> None:
    reading = read(f"llamafactory-cli train --model_name_or_path Qwen/Qwen3-8B \\\n  # --a b \\\n  {TRAINER[9:]}")
    assert "the options above line 3: of a command that ends before these" in listed(reading)


def test_computed_width_of_ffn() -> None:
    reading = read(f"torchrun {MEGATRON} --swiglu --hidden-dim-multiplier 1.3 --multiple-of 4096")
    assert "workload.model.ffn_hidden" not in given(reading)
    assert "workload.model.ffn_hidden: computed from hidden_dim_multiplier" in listed(reading)


def test_packed_length_of_swift() -> None:
    swift = "megatron sft --model Qwen/Qwen3-8B --tensor_model_parallel_size 2 --micro_batch_size 1 --max_length 8192"
    assert given(read(f"{swift} --packing true"))["workload.sequence_length"] == 8192
    assert "workload.sequence_length" not in given(read(swift))


def test_a_problem_of_a_document_is_at_its_line_or_at_none() -> None:
    point = Position(4, 1)
    for span, told in ((Span("a.yaml", point, point), "line 11: not YAML: a tab"), (None, "not YAML: a tab")):
        assert str(documents._yaml_fault(Problem("invalid-yaml", (), "not YAML: a tab", span=span), 7)) == told
    with pytest.raises(FormatError, match=r"^line 9: not YAML: "):
        documents.yaml_of_text("a.yaml", "a: 1\n\tb: 2\n", 7)
