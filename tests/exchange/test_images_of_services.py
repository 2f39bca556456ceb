"""Containers of NIM, and options of engines in variables of images that no reader knows."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

LLAMA = "nvcr.io/nim/meta/llama-3.1-70b-instruct:1.8.0"
POD = f"""apiVersion: apps/v1
kind: Deployment
metadata: {{name: one}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: one}}}}
  template:
    spec:
      containers:
        - image: {LLAMA}
          env:
            - {{name: NIM_TENSOR_PARALLEL_SIZE, value: "4"}}
            - {{name: NIM_MAX_MODEL_LEN, value: "32768"}}
          resources: {{limits: {{nvidia.com/gpu: 4}}}}
"""
SERVICE = """services:
  one:
    image: {}
    environment:
      {}
    deploy: {{resources: {{reservations: {{devices: [{{driver: nvidia, count: 2, capabilities: [gpu]}}]}}}}}}
"""


def test_a_container_of_nim_states_the_model_of_its_image_and_the_degrees_of_its_variables() -> None:
    found = read(POD, name="pod.yaml")
    assert given(found) == {
        "workload.kind": "serve",
        "workload.model": "llama-3.1-70b",
        "layout.tp": 4,
        "cluster.accelerators_per_node": 4,
        "layout.nodes": 1,
    }
    assert (counts(found)["max_model_len"], counts(found)["replicas"]) == (32768, 2)
    assert "layout.framework" in unknown(found)


@pytest.mark.parametrize(
    "variables",
    ["NIM_TENSOR_PARALLEL_SIZE: 2", "- NIM_TENSOR_PARALLEL_SIZE=2", "NIM_TENSOR_PARALLEL_SIZE: ${TP:-2}"],
)
def test_each_form_of_the_variables_of_a_service_states_the_degree(variables: str) -> None:
    found = given(read(SERVICE.format(LLAMA, variables), name="docker-compose.yml"))
    assert (found["layout.tp"], found["cluster.accelerators_per_node"]) == (2, 2)


@pytest.mark.parametrize("option", ["-e NIM_TENSOR_PARALLEL_SIZE=2", "--env=NIM_TENSOR_PARALLEL_SIZE=2"])
def test_a_command_that_runs_a_container_of_nim_states_the_degree(option: str) -> None:
    found = given(read(f"#!/bin/bash\ndocker run --gpus all {option} -p 8000:8000 {LLAMA}\n"))
    assert (found["workload.model"], found["layout.tp"]) == ("llama-3.1-70b", 2)


def test_a_variable_without_a_value_states_no_degree() -> None:
    assert "layout.tp" not in given(read(f"docker run --gpus all -e NIM_TENSOR_PARALLEL_SIZE {LLAMA}\n"))
    assert "layout.tp" not in given(read(SERVICE.format(LLAMA, "NIM_TENSOR_PARALLEL_SIZE: ${TP}"), name="compose.yml"))


def test_services_of_nim_other_than_language_models_are_left_to_other_readers() -> None:
    found = read(SERVICE.format("nvcr.io/nim/nvidia/nv-embedqa-e5-v5:1.0", "A: 1"), name="docker-compose.yml")
    assert (found.kind, given(found)) == ("compose", {"cluster.accelerators_per_node": 2})
    with pytest.raises(FormatError):
        read("docker run --gpus all nvcr.io/nim/nvidia/nv-embedqa-e5-v5:1.0\n")


def test_containers_of_different_models_are_chosen_by_part() -> None:
    script = f"docker run --gpus all {LLAMA}\ndocker run --gpus all nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8\n"
    with pytest.raises(SeveralParts, match="2 containers"):
        read(script)
    assert given(read(script, part=2))["workload.model"] == "llama-3.1-8b"


@pytest.mark.parametrize(
    ("image", "variables", "listed"),
    [
        ("own/tgi", "NUM_SHARD: 4", "NUM_SHARD 4"),
        ("own/engine", "TENSOR_PARALLEL_SIZE: 4", "TENSOR_PARALLEL_SIZE 4"),
        ("own/engine", "MAX_NUM_SEQS: 64", "MAX_NUM_SEQS 64"),
        ("own/engine", "MODEL: Qwen/Qwen3-32B", "MODEL: Qwen/Qwen3-32B"),
    ],
)
def test_a_service_lists_options_in_variables_that_it_does_not_read(image: str, variables: str, listed: str) -> None:
    found = read(SERVICE.format(image, variables), name="docker-compose.yml")
    assert given(found) == {"cluster.accelerators_per_node": 2}
    assert listed in unknown(found)


OPERATED = """apiVersion: apps.nvidia.com/v1alpha1
kind: NIMService
metadata: {{name: one}}
spec:
  image: {{repository: nvcr.io/nim/meta/llama-3.1-70b-instruct, tag: 1.8.0}}
  storage: {{nimCache: {{name: none, profile: {profile}}}}}
  env:
    - {{name: NIM_MAX_MODEL_LEN, value: "32768"}}
    - {{name: NIM_USE_SGLANG, value: "{sglang}"}}
    - {{name: OTHER, value: "7"}}
  replicas: 3
  multiNode: {{parallelism: {{tensor: 8, pipeline: 2}}}}
  resources: {{limits: {{nvidia.com/gpu: 8}}}}
"""


@pytest.mark.parametrize(
    ("profile", "sglang", "framework"),
    [("vllm", 0, "vllm"), ("tensorrt_llm", 0, "trt-llm"), ("abc", 1, "sglang"), ("abc", 0, None)],
)
def test_a_service_of_the_operator_states_its_engine_degrees_and_replicas(
    profile: str, sglang: int, framework: str | None
) -> None:
    found = read(OPERATED.format(profile=profile, sglang=sglang), name="service.yaml")
    told = given(found)
    assert (told["workload.model"], told["layout.tp"], told["layout.pp"]) == ("llama-3.1-70b", 8, 2)
    assert told.get("layout.framework") == framework and ("layout.framework" in unknown(found)) is (framework is None)
    listed = counts(found)
    assert (listed["replicas"], listed["accelerators"], listed["max_model_len"]) == (3, 8, 32768)
