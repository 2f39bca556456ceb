"""Launches of containers: what an object, a Compose file or a task starts, with its variables and its nodes."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import given, read, unknown

POD = """\
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      nodeSelector: {{{label}}}
      containers:
      - name: server
        image: {image}
        env: [{{name: RANKS, value: "4"}}]
        {starts}
"""
BY_OPTIONS = 'args: ["--model", "Qwen/Qwen3-32B-AWQ", "--tensor-parallel-size", "$(RANKS)"]'
COMPOSE = """\
x-server: &server
  image: {image}
services:
  one:
    <<: *server
    {starts}
"""


@pytest.mark.parametrize(
    ("image", "starts"),
    [
        ("vllm/vllm-openai:v0.11.0", BY_OPTIONS),
        ("registry.example/vllm-openai@sha256:00", 'args: ["Qwen/Qwen3-32B-AWQ", "--tensor-parallel-size=4"]'),
        ("other", 'command: ["bash", "-c", "vllm serve Qwen/Qwen3-32B-AWQ --tensor-parallel-size $RANKS"]'),
        ("other", 'command: ["bash", "-c"]\n        args: ["exec vllm serve Qwen/Qwen3-32B-AWQ -tp $RANKS"]'),
    ],
)
def test_a_container_starts_its_image_with_the_variables_of_its_object(image: str, starts: str) -> None:
    text = POD.format(image=image, starts=starts, label="x: y")
    found = given(read(text.replace("-tp ", "--tensor-parallel-size ")))
    assert found["layout.tp"] == 4
    assert (found["workload.model"], found["workload.parameter_precision"]) == ("qwen3-32b", "int4")


@pytest.mark.parametrize(
    ("image", "starts"),
    [
        ("vllm/vllm-openai", "command: --model Qwen/Qwen3-32B --tensor-parallel-size 2"),
        ("vllm/vllm-openai", "command: ${MODEL} --tensor-parallel-size 2"),
        ("site/vllm-openai-keys:1", 'command: ["--model", "x/y", "--tensor-parallel-size", "2"]'),
        ("${IMAGE:-vllm/vllm-openai-own:1}", "command: --host 0.0.0.0 --model x/y --tensor-parallel-size=2"),
        ("lmsysorg/sglang", 'entrypoint: ["sglang"]\n    command: [serve, --tp, "${RANKS:-2}"]'),
        ("lmsysorg/sglang", "entrypoint: python3 -m sglang.launch_server\n    command: --tp 2 --model-path x/y"),
        ("other", "server_cmd: vllm serve x/y --tensor-parallel-size 2"),
    ],
)
def test_a_service_starts_its_entry_point_with_its_command(image: str, starts: str) -> None:
    assert given(read(COMPOSE.format(image=image, starts=starts)))["layout.tp"] == 2


@pytest.mark.parametrize(
    ("label", "accelerator"),
    [
        ("cloud.google.com/gke-accelerator: nvidia-tesla-a100", "a100-sxm-40gb"),
        ("nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3", "h100-sxm-80gb"),
        ("node.kubernetes.io/instance-type: p5.48xlarge", "h100-sxm-80gb"),
        ("node.kubernetes.io/instance-type: m5.large", None),
        ("nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", None),
        ("cloud.google.com/gke-accelerator: nvidia-l4, nvidia.com/gpu.product: NVIDIA-H200", None),
    ],
)
def test_a_label_of_nodes_names_the_accelerator_unless_it_is_divided_or_another_differs(
    label: str, accelerator: str | None
) -> None:
    reading = read(POD.format(image="vllm/vllm-openai", starts=BY_OPTIONS, label=label))
    assert given(reading).get("cluster.accelerator") == accelerator
    assert ("nodes of" in unknown(reading)) is (accelerator is None)


def test_a_task_gives_its_launch_variables_and_nodes() -> None:
    task = """\
        resources:
          accelerators: H100:8
        num_nodes: 2
        envs: {MODEL: Qwen/Qwen3-32B-FP8}
        run: |
          vllm serve $MODEL --tensor-parallel-size 8
        """
    found = given(read(task))
    assert (found["workload.model"], found["workload.parameter_precision"]) == ("qwen3-32b", "fp8")
    assert (found["layout.nodes"], found["cluster.accelerators_per_node"]) == (2, 8)


def test_an_entry_point_given_to_a_container_is_the_program() -> None:
    script = "A=(serve x/y --tensor-parallel-size 2)\ndocker run --gpus all --entrypoint vllm $IMAGE ${A[@]}\n"
    assert given(read(script, "serving"))["layout.tp"] == 2


@pytest.mark.parametrize("entry", ["--entrypoint trtllm-serve", "--entrypoint=/usr/bin/trtllm-serve"])
@pytest.mark.parametrize("given", ["Qwen/Qwen3-8B", "serve Qwen/Qwen3-8B"])
def test_the_engine_may_be_the_entry_point_of_an_image(entry: str, given: str) -> None:
    """The image is not the model, and options of the container are not options of the engine."""
    script = f"docker run -d --gpus all -v /a:/b {entry} nvcr.io/nvidia/tritonserver:25.06 {given} --tp_size 2\n"
    found = read(script)
    assert found.value(("workload", "model")) == "qwen3-8b"
    assert found.value(("layout", "tp")) == 2
    assert not unknown(found)


@pytest.mark.parametrize("sudo", ["sudo", "sudo -E", "sudo -u root HF_HOME=/models"])
def test_a_container_that_another_user_starts_passes_its_arguments_to_its_image(sudo: str) -> None:
    options = "--model /model --tensor-parallel-size 4 --gpu-memory-utilization 0.8"
    found = read(f"{sudo} docker run -d --name server --gpus all site/vllm-own:v1 {options}\n")
    assert given(found)["layout.tp"] == 4
    assert given(found)["workload.serving.memory_fraction"] == 0.8


def test_options_after_a_line_end_without_backslash_are_named_and_not_taken() -> None:
    reading = read("vllm serve x/y\n--tensor-parallel-size 8\n")
    assert given(reading).get("layout.tp") != 8
    assert "without a backslash" in unknown(reading)


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        ("Qwen/Qwen3-32B", None),
        ("RedHatAI/Qwen3-32B-FP8-dynamic", "fp8"),
        ("nvidia/Qwen3-32B-NVFP4", "nvfp4"),
        ("nvidia/Qwen3-32B-FP4", "nvfp4"),
        ("x/Qwen3-32B-GPTQ-Int8", "int8"),
        ("x/Qwen3-32B-w8a8", "int8"),
    ],
)
def test_the_name_of_a_quantized_checkpoint_states_the_precision_of_its_weights(
    name: str, precision: str | None
) -> None:
    found = given(read(f"vllm serve {name} --tensor-parallel-size 2\n"))
    assert (found["workload.model"], found.get("workload.parameter_precision")) == ("qwen3-32b", precision)


def test_supervised_training_of_openrlhf_is_read_from_the_text_that_starts_it() -> None:
    script = """\
        read -r -d '' COMMANDS <<EOF
        openrlhf.cli.train_sft --pretrain meta-llama/Meta-Llama-3-8B --train_batch_size 256 --max_len 2048 \\
          --micro_train_batch_size 2 --zero_stage 2 --param_dtype bf16 --gradient_checkpointing
        EOF
        deepspeed --module $COMMANDS
        """
    found = given(read(script))
    assert {
        "workload.global_batch": 256,
        "layout.sharding": "zero2",
        "workload.precision": "bf16",
    }.items() <= found.items()
    assert "workload.sequence_length" not in found


def test_a_load_of_a_benchmark_is_no_second_launch() -> None:
    server = "python -m vllm.entrypoints.openai.api_server --model openai/gpt-oss-20b --max-model-len 8192\n"
    load = "python -m vllm.entrypoints.benchmarks.benchmark_serving --model openai/gpt-oss-20b --num-prompts 1000\n"
    assert given(read(server + load))["workload.model"] == "gpt-oss-20b"


def test_a_chart_that_is_not_rendered_is_refused_as_a_template() -> None:
    text = "{{ if .Values.single.enabled }}\napiVersion: apps/v1\nkind: Deployment\n{{- end }}\n"
    with pytest.raises(FormatError, match=r"line 1: .*a template: import the rendered files"):
        read(text, "kubernetes")


def test_a_script_that_asks_for_neuron_devices_is_no_listing_of_them() -> None:
    with pytest.raises(FormatError, match="matches no import format"):
        read("export NEURON_RT_EXEC_TIMEOUT=600\nNUM_DEVICES=$(neuron-ls -j | jq length)\ntorchrun train.py\n")


def test_an_image_of_another_program_starts_no_server_with_options() -> None:
    text = COMPOSE.format(image="site/vllm-openai-router:1", starts="command: --port 8000 --upstream http://x")
    with pytest.raises(FormatError, match="no command that starts"):
        read(text)


def test_options_of_an_engine_that_variables_give_are_named() -> None:
    line = "vllm serve x/y --tensor-parallel-size $T --gpu-memory-utilization $G --enable-expert-parallel {}"
    reading = read(line.format("--all2all-backend $B"))
    assert given(reading) == {"workload.kind": "serve", "layout.framework": "vllm"}
    for name in ("tensor_parallel_size: $T", "gpu_memory_utilization: $G", "layout.ep", "all2all_backend: $B"):
        assert name in unknown(reading)
    certain = read(line.replace("$T", "4").replace("$G", "0.9").format("--all2all-backend deepep_low_latency"))
    assert given(certain)["layout.ep"] == 4
    assert "layout.ep" not in unknown(certain)


@pytest.mark.parametrize(
    ("kind", "limits", "scaled"),
    [
        ("HorizontalPodAutoscaler", "minReplicas: 2, maxReplicas: 10", "a"),
        ("ScaledObject", "minReplicaCount: 2, maxReplicaCount: 10", "a"),
        ("HorizontalPodAutoscaler", "minReplicas: 2, maxReplicas: 10", "b"),
    ],
)
def test_limits_between_which_replicas_change_are_listed(kind: str, limits: str, scaled: str) -> None:
    pod = "{containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}"
    text = f"""\
        apiVersion: apps/v1
        kind: Deployment
        metadata: {{name: a}}
        spec: {{replicas: 3, template: {{spec: {pod}}}}}
        ---
        apiVersion: autoscaling/v2
        kind: {kind}
        metadata: {{name: h}}
        spec: {{scaleTargetRef: {{kind: Deployment, name: {scaled}}}, {limits}}}
    """
    assert (f"{kind}: 2 to 10 replicas" in unknown(read(text))) is (scaled == "a")


@pytest.mark.parametrize(
    ("options", "stated"),
    [
        ("--served-model-name a --quantization gptq", ("qwen2.5-3b", "int8")),
        ("--host 0.0.0.0", ("qwen2.5-3b", "int8")),
        ("--unknown 1", None),
    ],
)
def test_a_path_before_options_of_the_server_is_its_model(options: str, stated: tuple[str, str] | None) -> None:
    """GPTQ has weights of several widths, which the name of the checkpoint states."""
    starts = f"command: >\n      /models/Qwen2.5-3B-Instruct-GPTQ-Int8\n      {options}"
    text = COMPOSE.format(image="vllm/vllm-openai:latest", starts=starts)
    if stated is None:
        with pytest.raises(FormatError):
            read(text)
        return
    found = given(read(text))
    assert (found["workload.model"], found.get("workload.parameter_precision")) == stated


@pytest.mark.parametrize("key", ["engine", "backend", "framework"])
def test_options_of_a_program_for_several_engines_are_of_none(key: str) -> None:
    options = "model: Qwen/Qwen3-8B\ntensor_parallel_size: 2\nmax_model_len: 1024\n"
    assert given(read(options))["layout.framework"] == "vllm"
    with pytest.raises(FormatError):
        read(f"{key}: sglang\n{options}")


@pytest.mark.parametrize(
    "step",
    [
        "docker pull",
        "sudo podman pull",
        "apptainer pull --force x.sif",
        "enroot import -o x.sqsh",
        "docker buildx build -t",
        "docker image inspect",
        "docker logs -f",
        "skopeo copy",
    ],
)
def test_what_fetches_or_builds_the_image_of_an_engine_is_no_launch(step: str) -> None:
    launch = "vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2\n"
    image = f"IMAGE=docker://vllm/vllm-openai:v0.18.0\n{step} $IMAGE\n"
    assert given(read(image + launch))["layout.tp"] == 2


def test_a_container_that_is_run_or_entered_is_a_launch() -> None:
    started = "docker run -d vllm/vllm-openai:v0.18.0 --model Qwen/Qwen3-8B --tensor-parallel-size 4\n"
    assert given(read(started))["layout.tp"] == 4
    assert given(read("docker exec -it one vllm serve Qwen/Qwen3-8B --tensor-parallel-size 8\n"))["layout.tp"] == 8


def test_a_predictor_that_names_vllm_without_options_states_the_accelerators_of_its_pod() -> None:
    predictor = (
        "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nspec:\n  predictor:\n    model:\n"
        "      runtime: {}\n      storageUri: s3://models/one/\n      resources:\n        limits:\n"
        '          nvidia.com/gpu: "4"\n'
    )
    found = given(read(predictor.format("vllm")))
    assert (found["layout.framework"], found["cluster.accelerators_per_node"]) == ("vllm", 4)
    other = given(read(predictor.format("triton")))
    assert (other["cluster.accelerators_per_node"], "layout.framework" in other) == (4, False)
    workers = predictor.format("vllm") + "    workerSpec: {pipelineParallelSize: 2, tensorParallelSize: 4}\n"
    assert given(read(workers))["layout.pp"] == 2


def test_a_command_in_arguments_of_a_task_is_a_launch() -> None:
    task = (
        "tasks:\n  - name: one\n    command: ['/bin/sh', '-c']\n    arguments: ['accelerate launch\n"
        "      --num_machines 1 --num_processes 4\n      finetune.py --per_device_train_batch_size 8\n"
        "      --gradient_accumulation_steps 2 &&\n      python merge.py --batch 1\n    ']\n"
    )
    found = given(read(task, name="task.yaml"))
    assert (found["layout.micro_batch"], found["layout.nodes"], found["workload.global_batch"]) == (8, 1, 8 * 4 * 2)
