"""Values of Helm charts that serve models: what they state, and what their templates may add."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

ARGUMENTS = """
    modelName: Qwen/Qwen3-32B
    replicaCount: 3
    image:
      repository: registry.local/team/vllm-openai
    affinity:
      - key: nvidia.com/gpu.product
        operator: In
        values:
          # one of these
          # - NVIDIA-H100-80GB-HBM3
          - NVIDIA-L40S
    resources:
      limits: {nvidia.com/gpu: "4"}
    extraArgs: ["--tensor-parallel-size", "4", "--gpu-memory-utilization", "0.8"]
"""


def test_arguments_next_to_a_model_are_options_of_its_engine() -> None:
    reading = read(ARGUMENTS)
    assert reading.kind == "serving"
    assert given(reading) == {
        "cluster.accelerators_per_node": 4,
        "cluster.accelerator": "l40s",
        "workload.kind": "serve",
        "workload.model": "qwen3-32b",
        "workload.serving.memory_fraction": 0.8,
        "layout.framework": "vllm",
        "layout.tp": 4,
    }
    assert counts(reading)["replicas"] == 3
    assert "defaults are not assumed" in unknown(reading)


KEYS = """
    resources: {requests: {nvidia.com/gpu: 8}}
    vllm:
      model: meta-llama/Llama-3.1-70B-Instruct
      tensorParallelSize: 8
      maxModelLen: 8192
      enforceEager: false
"""


def test_keys_of_an_engine_are_its_options_and_resources_around_it_are_those_of_its_pod() -> None:
    reading = read(KEYS)
    assert given(reading)["layout.tp"] == 8
    assert given(reading)["cluster.accelerators_per_node"] == 8
    assert counts(reading)["max_model_len"] == 8192
    assert not any("graphs" in key for key in given(reading))


def test_several_models_are_choices_and_one_that_is_off_is_none() -> None:
    args = "[--tp-size, '%s', --mem-fraction-static, '.7']"
    one = f"  - name: %s\n    enabled: %s\n    model: {{id: Qwen/Qwen3-8B}}\n    args: {args}\n"
    off = read("models:\n" + one % ("a", "true", 2) + one % ("b", "false", 4))
    assert (given(off)["layout.framework"], given(off)["layout.tp"]) == ("sglang", 2)
    with pytest.raises(SeveralParts, match="2 launches"):
        read("models:\n" + one % ("a", "true", 2) + one % ("b", "true", 4))


def test_a_chart_of_several_nodes_states_degrees_and_the_accelerators_of_a_node() -> None:
    text = "gpu: NVIDIA-H100-80GB-HBM3\ngpuPerNode: 8\ntensorrtLLM:\n  parallelism: {tensor: 8, pipeline: 2}\n"
    assert given(read(text)) == {
        "workload.kind": "serve",
        "layout.framework": "trt-llm",
        "layout.tp": 8,
        "layout.pp": 2,
        "cluster.accelerators_per_node": 8,
        "cluster.accelerator": "h100-sxm-80gb",
    }


def test_options_without_an_engine_or_a_model_are_refused() -> None:
    with pytest.raises(FormatError):
        read("modelName: a/b\nextraArgs: [--max-model-len, '8']\n")
    with pytest.raises(FormatError):
        read(ARGUMENTS.replace("modelName: Qwen/Qwen3-32B", "modelName: ''"))


@pytest.mark.parametrize(
    ("written", "length"),
    [
        ("8192", 8192),
        ("32k", 32_000),
        ("32K", 32_768),
        ("1.5k", 1_500),
        ("2m", 2_000_000),
        ("2M", 2_097_152),
    ],
)
def test_the_longest_sequence_of_vllm_may_have_a_unit(written: str, length: int) -> None:
    assert counts(read(f"vllm serve a/b --max-model-len {written}\n"))["max_model_len"] == length


def test_a_longest_sequence_that_a_variable_gives_is_listed() -> None:
    reading = read("vllm serve a/b --max-model-len ${LENGTH}\n")
    assert "max_model_len" not in counts(reading)
    assert "max_model_len: ${LENGTH}: not an integer" in unknown(reading)
    assert "max_model_len" not in unknown(read("vllm serve a/b --max-model-len auto\n"))


def test_arguments_of_a_chart_may_name_the_model() -> None:
    reading = read(
        """
        images: {vllm: {repository: vllm/vllm-openai}}
        vllm:
          args:
            - --model
            - Qwen/Qwen3-8B
            - --gpu-memory-utilization
            - '0.95'
          replicas: 3
          resources: {limits: {nvidia.com/gpu: 2}}
        """,
        name="values.yaml",
    )
    found = given(reading)
    assert (found["layout.framework"], found["workload.model"]) == ("vllm", "qwen3-8b")
    assert (found["workload.serving.memory_fraction"], found["cluster.accelerators_per_node"]) == (0.95, 2)


RUNTIME = "apiVersion: production-stack.vllm.ai/v1alpha1\nkind: VLLMRuntime\nmetadata: {name: r}\nspec:\n"
SIZES = "tensorParallelSize: 4, gpuMemoryUtilization: '0.85', extraArgs: [--max-num-seqs, '64']"


@pytest.mark.parametrize(
    "spec",
    [
        f"  model: {{modelURL: Qwen/Qwen3-8B}}\n  vllmConfig: {{{SIZES}}}\n"
        "  deploymentConfig: {replicas: 2, resources: {gpu: '4'}}\n",
        "  model: {modelURL: Qwen/Qwen3-8B}\n  tensorParallelSize: 4\n  gpuMemoryUtilization: '0.85'\n"
        "  extraArgs: [--max-num-seqs, '64']\n  replicas: 2\n  resources: {gpu: '4'}\n",
    ],
    ids=["nested", "earlier"],
)
def test_a_runtime_of_the_production_stack_declares_an_engine(spec: str) -> None:
    reading = read(RUNTIME + spec, name="runtime.yaml")
    found = given(reading)
    assert (found["workload.model"], found["layout.tp"], counts(reading)["replicas"]) == ("qwen3-8b", 4, 2)
    assert (found["workload.serving.memory_fraction"], found["workload.serving.max_sequences"]) == (0.85, 64)
    assert found["cluster.accelerators_per_node"] == 4


def test_a_chart_may_name_the_model_by_its_repository_and_the_engine_by_the_key_of_its_options() -> None:
    values = """
    model:
      repoId: Qwen/Qwen3-32B
      revision: ""
    vllm:
      tensorParallelSize: 2
      gpuMemoryUtilization: 0.85
      maxModelLen: ""
    resources:
      limits: {nvidia.com/gpu: "2"}
    """
    found = given(read(values))
    assert (found["workload.model"], found["layout.framework"], found["layout.tp"]) == ("qwen3-32b", "vllm", 2)
    assert (found["workload.serving.memory_fraction"], found["cluster.accelerators_per_node"]) == (0.85, 2)


IMAGE = "image: {repository: registry.local/team/vllm, pullPolicy: Always}\n"


@pytest.mark.parametrize(
    "values",
    [
        "model: Qwen/Qwen3-8B\ngpuMemoryUtilization: ''\n",
        "model: {name: Qwen/Qwen3-8B, alias: a}\n",
        "config: {model: Qwen/Qwen3-8B, max_model_len: '4096'}\n",
        "storage: {type: uri, uri: 'hf://Qwen/Qwen3-8B'}\n",
        'args: ["--model", "Qwen/Qwen3-8B", "--host", "0.0.0.0"]\n',
    ],
)
def test_a_model_and_an_image_of_an_engine_are_a_server_without_its_degrees(values: str) -> None:
    reading = read(IMAGE + values, name="values.yaml")
    found = given(reading)
    assert (found["workload.model"], found["layout.framework"]) == ("qwen3-8b", "vllm")
    assert "layout.tp" not in found and "defaults are not assumed" in unknown(reading)


@pytest.mark.parametrize("repository", ["ollama/ollama", "lmcache/vllm-router", "a/b", "vllm/benchmarks"])
def test_a_model_and_another_image_are_refused(repository: str) -> None:
    with pytest.raises(FormatError):
        read(f"image: {{repository: {repository}, pullPolicy: Always}}\nmodel: Qwen/Qwen3-8B\n", name="values.yaml")


@pytest.mark.parametrize(
    "devices",
    [
        "gpu: {enabled: true, count: 2}",
        "gpuCount: '2'",
        "gpu: 2",
        "accelerator: {resourceName: nvidia.com/gpu, count: 2}",
        "resources: {gpu: 2}",
    ],
)
def test_accelerators_that_a_chart_counts_are_those_of_a_pod(devices: str) -> None:
    found = given(read(f"{IMAGE}model: Qwen/Qwen3-8B\n{devices}\n", name="values.yaml"))
    assert found["cluster.accelerators_per_node"] == 2


def test_accelerators_that_are_off_are_none() -> None:
    found = given(read(f"{IMAGE}model: Qwen/Qwen3-8B\ngpu: {{enabled: false, count: 2}}\n", name="values.yaml"))
    assert "cluster.accelerators_per_node" not in found


def test_options_in_a_file_that_the_chart_writes_are_those_of_the_launch_that_names_it() -> None:
    """The image starts `vllm serve --config …`; the model next to the image is another name of it."""
    values = """
    model: {name: Qwen/Qwen3-8B}
    image:
      repository: a/vllm-openai
      pullPolicy: Always
      command: [/bin/bash, -c]
      args: ["vllm serve --config /etc/vllm/config.yaml"]
    vllm:
      config:
        model: Qwen/Qwen3-8B-AWQ
        tensor_parallel_size: 2
        gpu_memory_utilization: 0.95
    """
    found = given(read(values, name="values.yaml"))
    assert (found["layout.tp"], found["workload.serving.memory_fraction"]) == (2, 0.95)
    assert found["workload.parameter_precision"] == "int4"


def test_keys_of_sglang_and_degrees_of_a_mapping_are_options() -> None:
    values = "engine: sglang\nmodel: {path: Qwen/Qwen3-8B}\nsglang: {tpSize: 2, memFractionStatic: 0.85}\n"
    found = given(read(values, name="values.yaml"))
    assert (found["layout.framework"], found["layout.tp"]) == ("sglang", 2)
    assert found["workload.serving.memory_fraction"] == 0.85
    degrees = f"{IMAGE}model: Qwen/Qwen3-8B\nparallelism: {{tensor: 4, pipeline: 2}}\n"
    found = given(read(degrees, name="values.yaml"))
    assert (found["layout.tp"], found["layout.pp"]) == (4, 2)


PAIRS = """\
app:
  containers:
    main:
      image: {repository: a/vllm-rocm, pullPolicy: Always}
      command: [/bin/bash, -c, python patch.py && exec vllm serve --config /vllm/config.yaml]
config:
  - {key: gpu-memory-utilization, value: 0.8}
  - key: model
    value: Qwen/Qwen3-8B-AWQ
  - key: tensor-parallel-size
    value: 2
  - {key: max-num-seqs, value: 4}
"""


def test_options_that_a_chart_lists_as_pairs_are_those_of_the_launch_by_a_file() -> None:
    reading = read(PAIRS, name="values.yaml")
    found = given(reading)
    assert (found["workload.model"], found["layout.tp"], found["layout.framework"]) == ("qwen3-8b", 2, "vllm")
    assert (found["workload.serving.max_sequences"], found["workload.serving.memory_fraction"]) == (4, 0.8)
    assert next(each.at.line for each in reading.given if each.path[-1] == "tp") == 11


def test_pairs_without_a_model_are_no_engine() -> None:
    reading = read(PAIRS.replace("key: model\n", "key: served-model-name\n"), name="values.yaml")
    assert "layout.tp" not in given(reading)
    assert "the command line names no model" in unknown(reading)


REFERENCES = """
    image: {repository: registry.local/vllm/vllm-openai, pullPolicy: Always}
    shared: {name: Qwen/Qwen3-32B, gpus: 4, copies: "{{ .Values.shared.name }}"}
    server:
      model: '{{ .Values.shared.copies }}'
      tensor-parallel-size: '{{ .Values.shared.gpus | quote }}'
      pipeline-parallel-size: "{{ mul .Values.shared.gpus 2 }}"
      max-num-seqs: "{{ .Values.absent.number }}"
"""


def test_values_that_refer_to_others_of_the_file_are_those() -> None:
    """What a function computes, or another file states, stays open."""
    reading = read(REFERENCES, name="values.yaml")
    found = given(reading)
    assert (found["workload.model"], found["layout.tp"]) == ("qwen3-32b", 4)
    assert not {"layout.pp", "workload.serving.max_sequences"} & found.keys()
    assert ".Values.absent.number" in unknown(reading)


def test_a_reference_that_refers_to_itself_ends() -> None:
    text = REFERENCES.replace("name: Qwen/Qwen3-32B", 'name: "{{ .Values.shared.copies }}"')
    with pytest.raises(FormatError, match="no command that starts"):
        read(text, name="values.yaml")


VARIABLES = """
    image: {repository: vllm/vllm-openai, pullPolicy: Always}
    %s:
      - {name: MODEL_ID, value: Qwen/Qwen3-32B}
      - {name: TP, value: "4"}
    engine:
      args: ["--model", "$(MODEL_ID)", "--tensor-parallel-size=$(TP)", "--max-num-seqs", "$(SEQS)"]
"""


@pytest.mark.parametrize("key", ["env", "extraEnv", "envVars"])
def test_arguments_take_the_variables_that_the_chart_sets(key: str) -> None:
    reading = read(VARIABLES % key, name="values.yaml")
    assert (given(reading)["workload.model"], given(reading)["layout.tp"]) == ("qwen3-32b", 4)
    assert "workload.serving.max_sequences" not in given(reading) and "$(SEQS)" in unknown(reading)
