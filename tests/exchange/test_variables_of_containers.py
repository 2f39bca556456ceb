"""Laws of environment variables that name options of an engine, in containers and services."""

from __future__ import annotations

import pytest

from .imports import given, read, unknown

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - name: b
    image: registry.local/own/worker
    env:
%s
    resources: {limits: {nvidia.com/gpu: 4}}
"""


@pytest.mark.parametrize(
    "variables",
    [
        '    - {name: MODEL_NAME, value: Qwen/Qwen3-32B}\n    - {name: TENSOR_PARALLEL_SIZE, value: "4"}',
        '    - name: MODEL_NAME\n      value: Qwen/Qwen3-32B\n    - name: TENSOR_PARALLEL_SIZE\n      value: "4"',
    ],
)
def test_variables_that_an_unknown_program_may_read_are_listed(variables: str) -> None:
    """Which options an image takes from its environment the file does not say."""
    reading = read(POD % variables, name="pod.yaml")
    assert given(reading)["cluster.accelerators_per_node"] == 4
    assert not {"workload.model", "layout.tp"} & given(reading).keys()
    assert "MODEL_NAME: Qwen/Qwen3-32B" in unknown(reading) and "TENSOR_PARALLEL_SIZE 4" in unknown(reading)


COMPOSE = """\
services:
  engine:
    image: vllm/vllm-openai
    runtime: nvidia
    environment: {MODEL: Qwen/Qwen3-32B, TP: 4}
    command: %s
"""


@pytest.mark.parametrize(
    "command",
    [
        '["sh", "-c", "vllm serve $${MODEL} --tensor-parallel-size $${TP}"]',
        'sh -c "exec vllm serve $$MODEL --tensor-parallel-size $$TP"',
    ],
)
def test_a_doubled_dollar_of_a_service_is_a_variable_of_its_shell(command: str) -> None:
    found = given(read(COMPOSE % command, name="compose.yaml"))
    assert (found["workload.model"], found["layout.tp"]) == ("qwen3-32b", 4)


def test_a_single_dollar_is_a_variable_of_the_host() -> None:
    """Compose fills it in before the container starts, from its own environment."""
    found = given(read(COMPOSE % '["vllm", "serve", "${MODEL}", "-tp", "2"]', name="compose.yaml"))
    assert "workload.model" not in found and found["layout.tp"] == 2
