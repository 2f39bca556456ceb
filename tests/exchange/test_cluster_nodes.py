"""Nodes of Kubernetes, and objects that name the type of a machine."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

H100 = "NVIDIA-H100-80GB-HBM3"


def node(name: str, gpus: int, provider: str = "", **labels: str) -> dict[str, Any]:
    stated = {key.replace("__", ".").replace("_", "-"): value for key, value in labels.items()}
    capacity = {"cpu": "64", **({"nvidia.com/gpu": str(gpus)} if gpus else {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {f"nvidia.com/{key}": value for key, value in stated.items()}},
        "spec": {"providerID": provider},
        "status": {"capacity": capacity, "allocatable": capacity},
    }


def listed(*nodes: dict[str, Any]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(nodes)}, indent=1)


def of_instance(made: dict[str, Any], instance: str) -> dict[str, Any]:
    made["metadata"]["labels"]["node.kubernetes.io/instance-type"] = instance
    return made


def test_nodes_of_one_kind_are_the_machine() -> None:
    reading = read(listed(*(node(f"n{n}", 8, gpu__product=H100) for n in range(3)), node("cpu", 0)))
    assert given(reading) == {
        "cluster.nodes": 3,
        "cluster.accelerators_per_node": 8,
        "cluster.accelerator": "h100-sxm-80gb",
    }
    assert counts(reading) == {"nodes_without_accelerators": 1}
    assert (
        given(read("apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {capacity: {nvidia.com/gpu: 4}}\n"))[
            "cluster.accelerators_per_node"
        ]
        == 4
    )


def test_an_instance_type_of_a_cloud_names_the_platform() -> None:
    machine = of_instance(node("a", 8, "aws:///us-east-1a/i-0", gpu__product=H100), "p5.48xlarge")
    assert given(read(listed(machine, machine))) == {"cluster.nodes": 2, "cluster.platform": "aws-p5-48xlarge"}
    half = read(listed(of_instance(node("a", 4, "aws:///us-east-1a/i-0"), "p5.48xlarge")))
    assert given(half) == {"cluster.nodes": 1, "cluster.accelerators_per_node": 4}
    assert "as many accelerators" in unknown(half)
    assert "accelerator: not stated" in unknown(half)


def test_shared_and_divided_accelerators_are_counted_once_or_listed() -> None:
    shared = read(listed(node("a", 16, gpu__product=f"{H100}-SHARED", gpu__replicas="4")))
    assert given(shared)["cluster.accelerators_per_node"] == 4
    counted = read(listed(node("a", 16, gpu__product=H100, gpu__replicas="4", gpu__count="8")))
    assert given(counted)["cluster.accelerators_per_node"] == 8
    assert "cluster.accelerator" not in given(read(listed(node("a", 7, gpu__product=f"{H100}-MIG-1g.10gb"))))


def test_kinds_of_nodes_are_choices() -> None:
    text = listed(node("a", 8, gpu__product=H100), node("b", 4, gpu__product="NVIDIA-L40S"))
    with pytest.raises(SeveralParts, match="1 node of 8 × NVIDIA-H100-80GB-HBM3; 1 node of 4 × NVIDIA-L40S"):
        read(text)
    assert given(read(text, part=2))["cluster.accelerator"] == "l40s"
    with pytest.raises(FormatError, match="nodes without accelerators"):
        read(listed(node("a", 0)))


def test_a_workspace_of_kaito_names_its_machine_and_model() -> None:
    text = (
        "apiVersion: kaito.sh/v1beta1\nkind: Workspace\nmetadata: {name: w}\nresource:\n"
        "  instanceType: Standard_ND96isr_H100_v5\n  count: 2\ninference:\n  preset:\n    name: phi-4\n"
    )
    found = given(read(text))
    assert (found["cluster.platform"], found["cluster.nodes"]) == ("azure-nd-h100-v5", 2)
    assert (found["workload.kind"], found["workload.model"]) == ("serve", "phi-4")
    other = read(text.replace("  count: 2\n", "").replace("Standard_ND96isr_H100_v5", "Standard_X"))
    assert "cluster.platform" not in given(other)
    assert "how many nodes it needs" in unknown(other)
    tuned = text.replace("inference:", "tuning:")
    assert "workload.kind" not in given(read(tuned))


def test_a_set_of_kaito_counts_its_replicas() -> None:
    text = (
        "apiVersion: kaito.sh/v1alpha1\nkind: InferenceSet\nmetadata: {name: s}\nspec:\n  replicas: 3\n  template:\n"
        "    resource: {instanceType: Standard_NC24ads_A100_v4}\n    inference: {preset: {name: phi-4-mini-instruct}}\n"
    )
    reading = read(text)
    found = given(reading)
    assert (found["cluster.platform"], found["workload.model"]) == ("azure-nc24ads-a100-v4", "phi-4-mini")
    assert counts(reading)["replicas"] == 3


def test_a_workspace_of_kaito_has_the_settings_of_its_config_map() -> None:
    settings = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata:\n  inference_config.yaml: |\n"
        "    vllm:\n      gpu-memory-utilization: 0.92\n      tensor-parallel-size: 2\n"
        "      max-model-len: 16384\n---\n"
    )
    workspace = (
        "apiVersion: kaito.sh/v1beta1\nkind: Workspace\nmetadata: {name: w}\n"
        "resource: {instanceType: Standard_NC48ads_A100_v4, count: 1}\n"
        "inference: {preset: {name: phi-4}, config: settings}\n"
    )
    reading = read(settings + workspace)
    found = given(reading)
    assert (found["layout.framework"], found["layout.tp"], found["workload.model"]) == ("vllm", 2, "phi-4")
    assert (found["workload.serving.memory_fraction"], counts(reading)["max_model_len"]) == (0.92, 16384)
    assert next(each.at.line for each in reading.given if each.path == ("layout", "tp")) == 8
    assert "settings settings" in unknown(read(workspace))


def test_an_endpoint_of_hyperpod_names_its_machine_and_engine() -> None:
    text = (
        "apiVersion: inference.sagemaker.aws.amazon.com/v1\nkind: InferenceEndpointConfig\nmetadata: {name: e}\nspec:\n"
        "  modelName: m\n  instanceType: ml.p5.48xlarge\n  replicas: 2\n  worker:\n"
        "    image: lmcache/vllm-openai:v0.3.7\n"
        "    resources: {limits: {nvidia.com/gpu: 8}}\n    args: [/opt/ml/model, --max-model-len, '4096', "
        "--tensor-parallel-size, '8']\n"
    )
    reading = read(text)
    assert given(reading)["cluster.platform"] == "aws-p5-48xlarge"
    assert (given(reading)["layout.tp"], counts(reading)["replicas"]) == (8, 2)
    own = read(text.replace("/opt/ml/model, --max-model-len, '4096', ", "/start.sh, run, "))
    assert (own.kind, given(own)["cluster.platform"]) == ("kubernetes", "aws-p5-48xlarge")
    assert "workload.kind" not in given(own)  # a script of the image, which may start anything
    other = text.partition("    args")[0].replace("vllm-openai", "tgi")
    assert given(read(other)) == {"cluster.platform": "aws-p5-48xlarge"}
