"""Launches of several engines, in templates and with older flags; precision and expert layers of configurations."""

from __future__ import annotations

import json

import pytest

from clusterspec.exchange.documents import result_with_known_keys
from clusterspec.exchange.exporters.registry import exporter_of
from clusterspec.exchange.import_result import FileLine, FormatError, ImportedValue, ImportResult, SeveralParts
from tests.effort import thorough
from tests.exchange.imports import counts, given, read, unknown
from tests.exchange.test_exporters import pod

PAGE = """\
```bash
vllm serve Qwen/Qwen3-14B
```
```bash
python3 -m sglang.launch_server --model-path Qwen/Qwen3-14B --tp 2
```
```bash
vllm serve Qwen/Qwen3-32B
```
```bash
vllm serve ...
```
"""


def test_launches_of_all_engines_are_the_choices() -> None:
    with pytest.raises(SeveralParts, match="3 launches with different options, on lines 2, 5, 8:"):
        read(PAGE)
    keys = [given(read(PAGE, "serving", part=part)) for part in (1, 2, 3)]
    assert [each["layout.framework"] for each in keys] == ["vllm", "sglang", "vllm"]
    assert [each["workload.model"] for each in keys] == ["qwen3-14b", "qwen3-14b", "qwen3-32b"]


def test_a_launch_in_a_template_is_not_complete() -> None:
    text = (
        "vllm serve /models/x --max-num-seqs 8 {{ if .Values.tp }}--tensor-parallel-size {{ .Values.tp }}{{- end }}\n"
    )
    reading = read(text)
    assert "layout.tp" not in given(reading)
    assert "{{ if .Values.tp }}: template expressions may give or omit options" in unknown(reading)
    for before in ("", "\n", "# two lines\n\n"):
        (open_,) = (each for each in read(before + text).unknown if "template expressions" in each.why)
        assert open_.at.line == 1 + before.count("\n")


def test_arguments_that_a_script_passes_on_leave_defaults_open() -> None:
    launch = "python3 -m sglang.launch_server --model-path Qwen/Qwen3-14B --trust-remote-code"
    passed = read(f'{launch} "$@"\n')
    assert given(read(launch))["layout.tp"] == 1 and "layout.tp" not in given(passed)
    assert "passes on arguments" in unknown(passed)


@pytest.mark.parametrize(
    ("rest", "stated"),
    [
        ("$EXTRA_ARGS", False),
        ("${serve_flags} --port 3", False),
        ("$(cat options.txt)", False),
        ("--log-level info `cat options.txt`", False),
        ("--port $(free_port)", True),
        ("--chat-template `pwd`/x.jinja", True),
        ("--port $PORT", True),
        ("${EXTRA_ARGS:-}", True),  # nothing, by the script's own default
    ],
)
def test_options_that_the_script_does_not_decide_leave_defaults_open(rest: str, stated: bool) -> None:
    reading = read(f"python3 -m sglang.launch_server --model-path Qwen/Qwen3-14B {rest}\n", "serving")
    assert ("layout.tp" in given(reading)) is stated
    assert ("passes on arguments" in unknown(reading)) is not stated


def test_a_quoted_script_that_a_command_cuts_leaves_defaults_open() -> None:
    """What ``printf %q`` prints is not known, and its quotes end those of the inner script."""
    inner = "docker exec server bash -c 'trtllm-serve ${ARGS} --host 0.0.0.0'"
    launch = 'ARGS=OPTIONS\nsrun --nodes=1 bash -c "\n  ' + inner + '\n"\n'
    assert given(read(launch.replace("OPTIONS", '"Qwen/Qwen3-14B --tp_size 4"'), "serving"))["layout.tp"] == 4
    reading = read(launch.replace("OPTIONS", "$(printf '%q ' \"${GIVEN[@]}\")"), "serving")
    assert "layout.tp" not in given(reading) and "passes on arguments" in unknown(reading)


@pytest.mark.parametrize(
    ("options", "sharding"),
    [
        ("--fp16 --zero-stage 0", "none"),
        ("--bf16 --zero-stage 0", "zero1"),
        ("--bf16 --zero-stage 2", "zero2"),
        ("--bf16 --zero-stage 0 --no-pipeline-parallel", None),
    ],
)
def test_deepspeed_keeps_parts_of_the_optimizer_in_bf16_at_stage_0(options: str, sharding: str | None) -> None:
    """Its pipeline engine wraps the optimizer of bf16, which divides the states among the data-parallel ranks."""
    reading = read(f"deepspeed pretrain_gpt.py {MEGATRON.partition('pretrain_gpt.py ')[2]} --deepspeed {options}\n")
    assert given(reading).get("layout.sharding") == sharding
    assert ("bf16 at stage 0" in unknown(reading)) is (sharding is None)


MEGATRON = (
    "DATA=<path of the data>\nLOAD=<path of a checkpoint>\ntorchrun pretrain_gpt.py --tensor-model-parallel-size 2 "
    "--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --data-path <path of the data>_text "
)


def test_placeholders_hide_no_command_and_older_flags_of_recomputation_hold() -> None:
    for flags, recompute in (
        ("", None),
        ("--checkpoint-activations", "full"),
        ("--activations-checkpoint-method uniform", "full"),
        ("--recompute-activations", "selective"),
        ("--recompute-activations --recompute-granularity full", "full"),
    ):
        keys = given(read(MEGATRON + flags))
        assert (keys["layout.tp"], keys.get("layout.recompute")) == (2, recompute), flags


def test_the_quantization_of_maxtext_decides_the_precision() -> None:
    words = "python3 -m maxtext.train base.yml model_name=llama3-8b per_device_batch_size=4 dtype=bfloat16 "
    for quantization, precision, recipe in (
        ("", "bf16", None),
        ("quantization=te_nvfp4_no_rht", "fp4", "nvfp4"),
        ("quantization=te_fp8_currentscaling", "fp8", "current"),
        ("quantization=intmp", None, None),
    ):
        keys = given(read(words + quantization, "maxtext"))
        assert (keys.get("workload.precision"), keys.get("workload.recipe")) == (precision, recipe), quantization


def test_experts_in_some_layers_are_not_counted_in_all() -> None:
    config = {"num_hidden_layers": 12, "hidden_size": 768, "num_attention_heads": 12, "vocab_size": 1000}
    config |= {"intermediate_size": 2048, "num_experts": 16, "topk": 2}
    for key, layers in (("moe_layer_interval", 3), ("expert_layer_period", 3)):
        keys = given(read(json.dumps(config | {key: 4}), "huggingface"))
        assert (keys["workload.model.moe_layers"], keys["workload.model.experts_per_token"]) == (layers, 2)
    assert "workload.model.moe_layers" not in given(read(json.dumps(config | {"moe_every": 1}), "huggingface"))
    with pytest.raises(FormatError, match="moe_block_stride: 2: which layers have experts is not known"):
        read(json.dumps(config | {"moe_block_stride": 2}), "huggingface")


def test_matrices_of_two_vendors_in_one_page_are_not_read_as_one() -> None:
    nvidia = "GPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0-47\nGPU1\tNV18\t X \t0-47\n"
    rows = ("===== Link Type between two GPUs =====", "       GPU0   GPU1", "GPU0   0      XGMI", "GPU1   XGMI   0\n")
    rocm = "\n".join(rows)
    with pytest.raises(SeveralParts, match=r"output of rocm-smi-topo \(from line 5\), nvidia-smi-topo"):
        read(nvidia + "\n" + rocm)


def test_the_recipe_of_low_precision_returns_from_every_format_that_has_it() -> None:
    work = "workload: {{model: llama-3.1-70b, sequence_length: 4096, global_batch: 512, precision: {0}, recipe: {1}}}\n"
    work += "layout: {{tp: 8, micro_batch: 8}}\n"
    words = {
        "megatron": ("delayed", "current", "blockwise", "mxfp8"),
        "maxtext": ("delayed", "current", "mxfp8"),
        "torchtitan": ("mxfp8",),
    }
    for kind, recipes in words.items():
        for precision, recipe in (*(("fp8", each) for each in recipes), ("fp4", "nvfp4")):
            written = exporter_of(kind).write(pod(rest=work.format(precision, recipe)))
            keys = given(read(str(written.content)))
            assert keys["workload.precision"] == precision, (kind, recipe)
            assert keys.get("workload.recipe", "nvfp4") == recipe, (kind, recipe)
            assert not any("recipe" in each for each in written.omitted)
    for kind in ("maxtext", "torchtitan"):
        blockwise = exporter_of(kind).write(pod(rest=work.format("fp8", "blockwise")))
        assert any("the recipe blockwise" in each for each in blockwise.omitted)


def test_a_value_that_the_spec_does_not_allow_is_listed_and_not_stated() -> None:
    at = FileLine("x", 3)
    values = ((("workload", "precision"), "mxfp8"), (("workload", "recipe"), "mxfp8"), (("workload", "colour"), "red"))
    reading = result_with_known_keys(ImportResult("x", tuple(ImportedValue(path, text, at) for path, text in values)))
    assert given(reading) == {"workload.recipe": "mxfp8"}
    assert unknown(reading).split("\n") == [
        "workload.precision: mxfp8: this key of the spec has no such value",
        "workload.colour: red: this version of the spec has no such key",
    ]


@thorough
def test_attention_replicas_of_sglang_have_either_spelling() -> None:
    line = "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp-size 16 "
    for spelling in ("--dp-size 8 --enable-dp-attention", "--attn-dp-size 8", "--attention-data-parallel-size=8"):
        keys = given(read(line + spelling))
        assert (keys["layout.tp"], keys["layout.attention_dp"], keys.get("layout.dp")) == (2, 8, None), spelling
    keys = given(read(line + "--attn-dp-size 1"))
    assert keys["layout.tp"] == 16
    load = "input_tokens: 1000, output_tokens: 1000, concurrency: 64, captured_graphs: false"
    work = f"{{kind: serve, model: deepseek-v3, serving: {{{load}}}}}"
    for release, option in (("0.5.23", "--attn-dp-size 8"), ("0.5.21", "--dp-size 8 --enable-dp-attention")):
        layout = f"layout: {{software: sglang {release}, tp: 1, attention_dp: 8, ep: 8}}\n"
        written = str(exporter_of("sglang").write(pod(rest=f"workload: {work}\n{layout}")).content)
        assert option in written
        keys = given(read(written, "serving"))
        assert (keys["layout.attention_dp"], keys["workload.serving.captured_graphs"]) == (8, False)


SERVICE = """\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {name: moe}
spec:
  model: {uri: "hf://deepseek-ai/DeepSeek-V3", name: moe}
  replicas: 2
  parallelism: {data: 16, dataLocal: 8, expert: true, tensor: 1}
  template:
    containers:
      - name: main
        env:
          - name: VLLM_ADDITIONAL_ARGS
            value: "--gpu-memory-utilization 0.95 --max-num-seqs 64"
"""
RAY = """\
apiVersion: ray.io/v1
kind: RayService
spec:
  serveConfigV2: |
    applications:
    - name: app
      import_path: ray.serve.llm:build_openai_app
      args:
        llm_configs:
        - model_loading_config: {model_id: m, model_source: Qwen/Qwen2.5-7B-Instruct}
          engine_kwargs: {tensor_parallel_size: 2, gpu_memory_utilization: 0.8}
          deployment_config: {num_replicas: 4}
"""
STACK = """\
servingEngineSpec:
  modelSpec:
  - name: a
    modelURL: Qwen/Qwen2.5-7B-Instruct
    replicaCount: 3
    vllmConfig:
      tensorParallelSize: 4
      gpuMemoryUtilization: 0.8
      extraArgs: ["--max-num-seqs", "32"]
"""
MODEL_SERVICE = """\
modelArtifacts: {uri: "hf://Qwen/Qwen2.5-7B-Instruct", name: q}
decode:
  replicas: 2
  parallelism: {tensor: 4}
  containers:
  - {name: vllm, image: "ghcr.io/llm-d/llm-d-cuda:v0.5", modelCommand: vllmServe, args: ["--max-num-seqs", "32"]}
prefill: {replicas: 0}
"""
KUBEAI = """\
apiVersion: kubeai.org/v1
kind: Model
spec:
  url: hf://Qwen/Qwen2.5-7B-Instruct
  engine: VLLM
  replicas: 5
  args: [--tensor-parallel-size=8, --gpu-memory-utilization=0.90, --max-num-seqs=32]
"""


def test_objects_that_declare_an_engine_state_its_options() -> None:
    moe = given(read(SERVICE))
    assert moe["workload.model"] == "deepseek-v3"
    assert (moe["layout.tp"], moe["layout.ep"], moe["layout.attention_dp"]) == (1, 16, 16)
    assert (moe["workload.serving.memory_fraction"], moe["workload.serving.max_sequences"]) == (0.95, 64)
    cases = ((RAY, 2, 0.8, 4), (STACK, 4, 0.8, 3), (MODEL_SERVICE, 4, None, 2), (KUBEAI, 8, 0.9, 5))
    for text, degree, share, copies in cases:
        reading = read(text)
        keys = given(reading)
        assert (keys["layout.framework"], keys["workload.model"]) == ("vllm", "qwen2.5-7b"), text
        assert (keys["layout.tp"], keys.get("workload.serving.memory_fraction")) == (degree, share), text
        assert counts(reading)["replicas"] == copies, text
        assert ("max_sequences" in str(keys)) is ("max-num-seqs" in text), text
    places = {each.path[-1]: each.at.line for each in read(RAY).given}
    assert (places["model"], places["tp"]) == (10, 11)


def test_pools_that_differ_are_choices_and_other_images_no_engine() -> None:
    apart = SERVICE + "  prefill: {replicas: 1, parallelism: {tensor: 4}}\n"
    roles = "workload.serving.disaggregated"
    assert given(read(apart))[f"{roles}.prefill.tp"] == 4
    assert given(read(apart))[f"{roles}.decode.replicas"] == 2
    simulator = MODEL_SERVICE.replace("llm-d-cuda", "llm-d-inference-sim").replace("vllmServe", "imageDefault")
    for text in (
        simulator,
        SERVICE.replace("LLMInferenceService", "InferenceService"),
        RAY.replace("llm_configs", "x"),
    ):
        with pytest.raises(FormatError):
            read(text)


def test_values_of_other_types_in_declared_engines_are_left_out() -> None:
    head = "apiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceService\nspec:\n  parallelism: {tensor: 2}\n"
    for line in ("baseRefs: 5", "model: a", "template: {containers: [{env: 7}]}", "template: {containers: {a: 1}}"):
        assert given(read(f"{head}  {line}\n"))["layout.tp"] == 2, line
    for text in ("applications: 5\nllm_configs: 3\n", "applications: [{args: {llm_configs: 3}}, 4]\n"):
        with pytest.raises(FormatError, match="no command"):
            read(text, "serving")


def test_commands_in_lists_and_options_of_a_script_with_a_default() -> None:
    listed = """\
        apiVersion: apps/v1
        kind: Deployment
        spec: {template: {spec: {containers: [
          {name: a, command: ["vllm", "serve"], args: ["Qwen/Qwen3-14B", "--tensor-parallel-size", "4"]}]}}}
        """
    assert given(read(listed))["layout.tp"] == 4
    script = """\
        #!/bin/bash
        MODEL=Qwen/Qwen3-14B
        while getopts "m:" opt; do
          case $opt in
            m) MODEL="$OPTARG" ;;
          esac
        done
        vllm serve $MODEL --tensor-parallel-size 2
        """
    assert given(read(script))["workload.model"] == "qwen3-14b"


def test_a_command_that_stops_an_engine_behind_sudo_is_no_launch() -> None:
    start = "as() { sudo -S -p '' \"$@\"; }\nas -u llm bash -c 'vllm serve org/m --tensor-parallel-size 4'\n"
    assert given(read(f'{start}as pkill -f "vllm serve org/m"\n', "serving"))["layout.tp"] == 4
    with pytest.raises(SeveralParts):
        read(f"{start}as -u llm vllm serve org/m --tensor-parallel-size 2\n", "serving")


@pytest.mark.parametrize("before", ["pkill -9 -f", "sudo -u llm sudo pgrep -f", "ssh node1 pkill -f", "grep -c"])
def test_a_pattern_with_options_that_finds_an_engine_starts_none(before: str) -> None:
    found = f"{before} 'vllm serve org/m --tensor-parallel-size 8'\n"
    with pytest.raises(FormatError, match="has no command that starts"):
        read(found, "serving")
    launched = read(f"{found}vllm serve org/m --tensor-parallel-size 2\n", "serving")
    assert given(launched)["layout.tp"] == 2


DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {{name: a}}
spec:
  template:
    spec:
      containers:
        - name: vllm
          command: ["vllm", "serve", "org/m", "--tensor-parallel-size", "{}"]
"""


def test_the_objects_of_a_page_that_start_an_engine_are_the_choices() -> None:
    other = "apiVersion: v1\nkind: Service\nmetadata: {name: vllm-server}\n"
    page = "# Engines with vllm serve\n" + "".join(
        f"```yaml\n{each}```\n" for each in (other, DEPLOYMENT.format(2), other, DEPLOYMENT.format(4))
    )
    with pytest.raises(SeveralParts, match=r"holds 2 objects, on lines 8, 24: "):
        read(page, "serving")
    assert [given(read(page, "serving", part=part))["layout.tp"] for part in (1, 2)] == [2, 4]
    with pytest.raises(FormatError, match="more than 50 Kubernetes objects"):
        read(page * 20, "serving")
    with pytest.raises(FormatError, match="has 2 objects, and --part 3 is none of them"):
        read(page, "serving", part=3)


def test_a_server_of_trl_is_read_alone_and_as_the_engines_of_the_training_that_uses_it() -> None:
    server = "trl vllm-serve --model Qwen/Qwen3-8B --tensor-parallel-size 2 --dtype bfloat16\n"
    alone = read(server)
    assert alone.kind == "serving"
    assert given(alone)["layout.tp"] == 2
    training = (
        "accelerate launch --num_processes 2 grpo.py --model_name_or_path Qwen/Qwen3-8B --use_vllm True "
        "--per_device_train_batch_size 4 --num_generations 8 --bf16\n"
    )
    both = read(f"{server.strip()} &\n{training}")
    assert both.kind == "trainer"
    assert "layout.tp" not in given(both)
    assert given(both)["workload.rl.rollout.tp"] == 2


@pytest.mark.parametrize(
    ("launch", "refused"),
    [
        ("sglang serve --model-path a/b --num-gpus 1 --dit-cpu-offload", "models of images and videos"),
        ("sglang serve --model-path a/b --cpu-offload-gb 4", ""),
        ("vllm serve {model} --port 8000", "is a template"),
        ("vllm serve {model} --tensor-parallel-size 2", ""),
        ("vllm serve ${model} --port 8000", ""),
    ],
)
def test_a_server_of_images_and_a_template_without_numbers_are_no_launch_of_a_decoder(
    launch: str, refused: str
) -> None:
    if refused:
        with pytest.raises(FormatError, match=refused):
            read(f"{launch}\n")
    else:
        assert given(read(f"{launch}\n"))["workload.kind"] == "serve"
