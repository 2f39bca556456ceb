"""Engines that variables start: containers of SageMaker, LMI of DJL Serving, and Text Generation Inference."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, NothingStarted, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

CODE = """\
    import sagemaker
    env = {{
        "HF_MODEL_ID": "Qwen/Qwen3-32B",
        {options}
    }}
    model.deploy(instance_type="{machine}")
    """
MANIFEST = """\
    apiVersion: apps/v1
    kind: Deployment
    metadata: {{name: a}}
    spec:
      replicas: 1
      selector: {{}}
      template:
        spec:
          containers:
          - name: a
            image: {image}
            {words}
            env:
            - name: {name}
              value: "{value}"
            resources: {{limits: {{nvidia.com/gpu: 4}}}}
    """
VLLM = '"SM_VLLM_TENSOR_PARALLEL_SIZE": "4", "SM_VLLM_MAX_NUM_SEQS": "64",'
LMI = '"OPTION_ROLLING_BATCH": "vllm", "OPTION_MAX_ROLLING_BATCH_SIZE": "64",'
TGI_IMAGE = "ghcr.io/huggingface/text-generation-inference:3.3"


@pytest.mark.parametrize(
    ("options", "machine", "stated", "listed"),
    [
        (VLLM, "ml.p5.48xlarge", {"layout.tp": 4, "cluster.platform": "aws-p5-48xlarge"}, ""),
        (VLLM, "ml.m5.large", {"cluster.platform": None, "workload.serving.max_sequences": 64}, ""),
        ('"SM_VLLM_TENSOR_PARALLEL_SIZE": json.dumps(8),', "", {"layout.tp": 8, "layout.framework": "vllm"}, ""),
        ('"SM_VLLM_TENSOR_PARALLEL_SIZE": str(gpus),', "", {"layout.tp": None}, "tensor_parallel_size: ${str(gpus)}"),
        ('"SM_VLLM_ENFORCE_EAGER": "true",', "", {"workload.serving.captured_graphs": False}, ""),
        ('"SM_VLLM_ENFORCE_EAGER": "false",', "", {"workload.serving.captured_graphs": None}, ""),
        ('"SM_SGLANG_TP_SIZE": "2",', "", {"layout.tp": 2, "layout.framework": "sglang"}, ""),
        (LMI + '"OPTION_TENSOR_PARALLEL_DEGREE": "2",', "", {"layout.tp": 2, "layout.framework": "vllm"}, ""),
        (LMI + '"TENSOR_PARALLEL_DEGREE": "max",', "", {"layout.tp": None}, "all accelerators of the machine"),
        ('"OPTION_ROLLING_BATCH": "trtllm",', "", {"layout.framework": "trt-llm"}, ""),
        ('"OPTION_TENSOR_PARALLEL_DEGREE": "4",', "", {"layout.tp": 4, "layout.framework": None}, "rolling_batch"),
        (VLLM, "ml.p5.48xlarge ml.g5.xlarge", {"cluster.platform": None}, "several types"),
    ],
)
def test_variables_of_a_container_state_the_options_of_its_engine(
    options: str, machine: str, stated: dict[str, object], listed: str
) -> None:
    reading = read(CODE.format(options=options, machine=machine), name="deploy.py")
    keys = given(reading)
    expected = {"workload.kind": "serve", "workload.model": "qwen3-32b", **stated}
    assert {name: keys.get(name) for name in expected} == expected
    assert listed in unknown(reading)


def test_properties_state_the_options_of_their_engine() -> None:
    text = """\
        engine=Python
        option.model_id=Qwen/Qwen3-8B
        option.rolling_batch=vllm
        option.tensor_parallel_degree=8
        option.max_rolling_batch_prefill_tokens=8192
        option.max_model_len=4096
        option.gpu_memory_utilization=0.95
        option.quantize=fp8
        # option.tensor_parallel_degree=4
        """
    reading = read(text, name="serving.properties")
    assert given(reading) == {
        "workload.kind": "serve",
        "workload.model": "qwen3-8b",
        "layout.framework": "vllm",
        "layout.tp": 8,
        "workload.serving.chunk_tokens": 8192,
        "workload.serving.memory_fraction": 0.95,
        "workload.parameter_precision": "fp8",
    }
    assert counts(reading) == {"max_model_len": 4096}


def test_servers_with_different_options_are_kept_apart() -> None:
    text = '{"SM_VLLM_TENSOR_PARALLEL_SIZE": "4"}\n{"SM_VLLM_TENSOR_PARALLEL_SIZE": "8"}\n'
    with pytest.raises(SeveralParts, match="2 servers with different options, from lines 1, 2"):
        read(text)
    assert given(read(text, "hosted-server", part=2))["layout.tp"] == 8
    assert given(read(text.replace("8", "4")))["layout.tp"] == 4


def test_variables_of_a_script_have_the_values_that_it_assigns() -> None:
    text = "TP=4\nOPEN=$1\ncat > serving.properties <<EOF\noption.rolling_batch=vllm\noption.{}\nEOF\n"
    assert given(read(text.format("tensor_parallel_degree=$TP")))["layout.tp"] == 4
    assert "not an integer" in unknown(read(text.format("tensor_parallel_degree=$OPEN")))


def test_a_name_without_an_option_is_no_server() -> None:
    with pytest.raises(FormatError, match="gives no option of an engine"):
        read("HF_MODEL_ID=Qwen/Qwen3-8B\n", "hosted-server")


@pytest.mark.parametrize(
    ("text", "stated", "listed"),
    [
        ("text-generation-launcher --model-id Qwen/Qwen3-8B --num-shard 4", {"layout.tp": 4}, "no framework"),
        (f"docker run --gpus all -p 80:80 {TGI_IMAGE} --model-id Qwen/Qwen3-8B --num-shard 2", {"layout.tp": 2}, ""),
        (f"docker run -e NUM_SHARD=2 {TGI_IMAGE} --model-id Qwen/Qwen3-8B", {"layout.tp": 2}, ""),
        (f"docker run {TGI_IMAGE} --model-id Qwen/Qwen3-8B --sharded false", {"layout.tp": 1}, ""),
        (f"docker run {TGI_IMAGE} --model-id Qwen/Qwen3-8B", {"layout.tp": None}, "takes the devices that it sees"),
        (f"docker run {TGI_IMAGE} --model-id Qwen/Qwen3-8B --num-shard $N", {"layout.tp": None}, "not an integer"),
        (
            "text-generation-launcher --model-id Qwen/Qwen3-8B --quantize awq --kv-cache-dtype fp8_e5m2",
            {"workload.parameter_precision": "int4", "workload.kv_precision": "fp8"},
            "",
        ),
        (
            "text-generation-launcher --model-id Qwen/Qwen3-8B --dtype bfloat16 --cuda-memory-fraction 0.8",
            {"workload.parameter_precision": "bf16", "workload.serving.memory_fraction": 0.8},
            "",
        ),
        ('environment = {\n HF_MODEL_ID = "Qwen/Qwen3-8B"\n SM_NUM_GPUS = "4"\n}', {"layout.tp": 4}, ""),
    ],
)
def test_launches_of_text_generation_inference_state_their_shards(
    text: str, stated: dict[str, object], listed: str
) -> None:
    reading = read(text)
    keys = given(reading)
    expected = {"workload.kind": "serve", "workload.model": "qwen3-8b", "layout.framework": None, **stated}
    assert {name: keys.get(name) for name in expected} == expected
    assert listed in unknown(reading)


@pytest.mark.parametrize(
    ("image", "words", "name", "value", "stated"),
    [
        (TGI_IMAGE, 'args: ["--model-id", "Qwen/Qwen3-8B"]', "NUM_SHARD", "4", {"layout.tp": 4}),
        (TGI_IMAGE, "args: [--model-id=Qwen/Qwen3-8B, --num-shard=2]", "DTYPE", "bfloat16", {"layout.tp": 2}),
        ("djl-serving:0.36-lmi", "args: [serve]", "OPTION_TENSOR_PARALLEL_DEGREE", "4", {"layout.tp": 4}),
        ("vllm:0.20-sagemaker", "args: []", "SM_VLLM_TENSOR_PARALLEL_SIZE", "4", {"layout.framework": "vllm"}),
    ],
)
def test_servers_in_pods_come_with_the_accelerators_of_their_pods(
    image: str, words: str, name: str, value: str, stated: dict[str, object]
) -> None:
    keys = given(read(MANIFEST.format(image=image, words=words, name=name, value=value), name="a.yaml"))
    expected = {"workload.kind": "serve", "layout.nodes": 1, "cluster.accelerators_per_node": 4, **stated}
    assert {name: keys.get(name) for name in expected} == expected


def test_a_service_of_compose_that_starts_such_a_server_is_a_launch() -> None:
    text = f"""\
        services:
          a:
            image: {TGI_IMAGE}
            command: --model-id Qwen/Qwen3-8B --num-shard 2
            deploy: {{resources: {{reservations: {{devices: [{{driver: nvidia, count: 2, capabilities: [gpu]}}]}}}}}}
        """
    keys = given(read(text, name="compose.yaml"))
    assert (keys["layout.tp"], keys["cluster.accelerators_per_node"]) == (2, 2)


def test_an_image_without_options_starts_no_server() -> None:
    with pytest.raises(NothingStarted, match="no option"):
        read(f"docker pull {TGI_IMAGE}\n", "tgi")
