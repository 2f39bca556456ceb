"""Values of the chart of Ray clusters, and objects of Kubernetes in Markdown pages."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import counts, given, read, unknown

VALUES = """\
image: {repository: rayproject/ray}
head:
  rayStartParams: {dashboard-host: 0.0.0.0}
  resources: {limits: {cpu: 8, nvidia.com/gpu: 0}}
worker:
  disabled: true
  replicas: 7
  resources: {limits: {nvidia.com/gpu: 4}}
additionalWorkerGroups:
  big:
    disabled: false
    replicas: 3
    numOfHosts: 2
    nodeSelector: {cloud.google.com/gke-accelerator: nvidia-b200}
    resources: {limits: {nvidia.com/gpu: 8}}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
spec:
  replicas: 1
  template:
    spec:
      containers:
      - image: vllm/vllm-openai:latest
        command: [python3, -m, vllm.entrypoints.openai.api_server]
        args: ["--model", "Qwen/Qwen3-8B", "--max-num-seqs", "64"]
        resources: {limits: {nvidia.com/gpu: 2}}
"""
PAGE = f"# Serving\n\n```bash\nkubectl apply -f a.yaml\n```\n\n```yaml\n{DEPLOYMENT}```\n"


def test_groups_of_the_chart_that_are_disabled_are_no_nodes() -> None:
    reading = read(VALUES)
    assert reading.kind == "ray-chart"
    assert given(reading) == {
        "cluster.accelerators_per_node": 8,
        "cluster.accelerator": "b200-sxm-180gb",
        "layout.nodes": 6,
    }
    assert counts(reading)["accelerators"] == 48


def test_workers_that_follow_the_load_have_no_number() -> None:
    for text in (
        VALUES.replace("  rayStart", "  enableInTreeAutoscaling: true\n  rayStart"),
        VALUES.replace("    replicas: 3\n", ""),
        VALUES.replace("replicas: 3", 'replicas: "three"'),
    ):
        assert "layout.nodes" not in given(read(text))
        assert "layout.nodes: the number of workers follows the load, or is not stated" in unknown(read(text))


def test_several_groups_with_accelerators_are_no_single_machine() -> None:
    with pytest.raises(FormatError, match="several groups of workers"):
        read(VALUES.replace("disabled: true", "disabled: false"))
    with pytest.raises(FormatError, match="disabled is neither true nor false"):
        read(VALUES.replace("disabled: true", "disabled: [maybe]"))
    with pytest.raises(FormatError, match="ask for no accelerators"):
        read(VALUES.replace("disabled: false", "disabled: true"))


def test_a_page_with_one_object_that_serves_is_read_on_its_lines() -> None:
    reading = read(PAGE)
    assert given(reading) == {
        "cluster.accelerators_per_node": 2,
        "workload.kind": "serve",
        "workload.model": "qwen3-8b",
        "workload.serving.max_sequences": 64,
        "layout.framework": "vllm",
        "layout.nodes": 1,
    }
    line = next(each.at.line for each in reading.given if each.path == ("workload", "model"))
    assert "Qwen/Qwen3-8B" in PAGE.split("\n")[line - 1]


def test_the_objects_of_a_page_that_serve_are_the_choices() -> None:
    with pytest.raises(FormatError, match=r"holds 2 objects, on lines 8, 22: choose one with --part N"):
        read(f"{PAGE}\n```yaml\n{DEPLOYMENT.replace('Qwen3-8B', 'Qwen3-14B')}```\n")


def test_recomputation_has_the_line_of_the_key_that_turns_it_on() -> None:
    text = (
        "base_model: Qwen/Qwen3-8B\nsequence_len: 2048\nmicro_batch_size: 1\ndatasets: []\n"
        "gradient_checkpointing: false\nfsdp_version: 2\nfsdp_config:\n  activation_checkpointing: true\n"
    )
    assert [each.at.line for each in read(text).given if each.path == ("layout", "recompute")] == [8]
