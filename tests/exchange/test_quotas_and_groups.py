"""Instance groups of HyperPod, cliques of Grove, quotas of Kueue and values of Terraform variables."""

from __future__ import annotations

import json

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

GROUPS = [
    {"InstanceGroupName": "head", "InstanceType": "ml.m5.xlarge", "InstanceCount": 1},
    {"InstanceGroupName": "work", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 6},
]
CLIQUES = """\
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: s}
spec:
  replicas: 2
  template:
    podCliqueScalingGroups:
    - {name: g, cliqueNames: [leader, worker], replicas: 3}
    cliques:
    - name: router
      spec: {replicas: 5, podSpec: {containers: [{name: a}]}}
    - name: leader
      spec: {replicas: 1, podSpec: {containers: [{name: a, resources: {limits: {nvidia.com/gpu: 8}}}]}}
    - name: worker
      spec: {replicas: 4, podSpec: {containers: [{name: a, resources: {limits: {nvidia.com/gpu: 8}}}]}}
"""
QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: h100}
spec:
  nodeLabels:
    cloud.google.com/gke-accelerator: nvidia-h100-80gb
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: team}
spec:
  resourceGroups:
  - coveredResources: [cpu, nvidia.com/gpu]
    flavors:
    - name: h100
      resources:
      - {name: cpu, nominalQuota: 40}
      - {name: nvidia.com/gpu, nominalQuota: 24}
"""


def test_the_group_with_accelerators_is_the_cluster() -> None:
    for value in (GROUPS, {"ClusterName": "c", "InstanceGroups": GROUPS}):
        reading = read(json.dumps(value, indent=1))
        assert reading.kind == "hyperpod"
        assert given(reading) == {"cluster.platform": "aws-p5-48xlarge", "cluster.nodes": 6}
        assert "head: m5.xlarge: an instance type without an entry" in unknown(reading)


def test_several_groups_with_accelerators_are_kept_apart() -> None:
    more = {"InstanceGroupName": "more", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 2}
    with pytest.raises(SeveralParts, match=r"work of p5\.48xlarge, more of p5\.48xlarge"):
        read(json.dumps([*GROUPS, more]))
    assert given(read(json.dumps([*GROUPS, more]), part=2))["cluster.nodes"] == 2


def test_a_group_without_instances_states_no_nodes() -> None:
    reading = read(json.dumps([GROUPS[1] | {"InstanceCount": 0}]))
    assert given(reading) == {"cluster.platform": "aws-p5-48xlarge"}
    assert unknown(reading) == "cluster.nodes: InstanceCount is 0: no count of instances"


def test_groups_that_parameters_give_are_refused() -> None:
    text = "AWSTemplateFormatVersion: '2010-09-09'\nInstanceGroups:\n- InstanceGroupName: a\n  InstanceType: !Ref T\n"
    with pytest.raises(FormatError, match="a template of CloudFormation"):
        read(text, "hyperpod")
    with pytest.raises(FormatError, match="states no type of machine"):
        read(text)
    with pytest.raises(FormatError, match="no instance group is of a type with accelerators"):
        read(json.dumps(GROUPS[:1]))


def test_a_replica_of_cliques_has_the_pods_of_its_scaling_groups() -> None:
    reading = read(CLIQUES)
    assert given(reading) == {"cluster.accelerators_per_node": 8, "layout.nodes": 15}  # 3 × (1 + 4)
    assert counts(reading)["replicas"] == 2


def test_cliques_that_grow_by_load_and_sets_without_replicas_leave_counts_open() -> None:
    grows = read(CLIQUES.replace("replicas: 3}", "replicas: 3, scaleConfig: {maxReplicas: 9}}"))
    assert given(grows) == {"cluster.accelerators_per_node": 8}
    absent = read(CLIQUES.replace("spec:\n  replicas: 2\n", "spec:\n", 1))
    assert "replicas" not in counts(absent)
    assert "replicas: its replicas are not a number" in unknown(absent)


def test_quotas_are_counted_and_are_no_machine() -> None:
    reading = read(QUEUE)
    assert given(reading) == {"cluster.accelerator": "h100-sxm-80gb"}
    assert counts(reading)["nvidia.com/gpu of h100 (team)"] == 24
    assert "neither nodes nor a whole machine" in unknown(reading)
    with pytest.raises(FormatError, match="supported Kubernetes kinds"):
        read(QUEUE.replace("nvidia.com/gpu", "memory"))


def test_values_of_variables_name_machines_with_their_count() -> None:
    plain = read('machine_type = "a2-highgpu-2g"\ninstance_count = 3\n', name="x.tfvars")
    assert given(plain) == {"cluster.platform": "gcp-a2-highgpu-2g", "cluster.nodes": 3}
    assert "the configuration decides" in unknown(plain)
    text = 'cpu_machine_type = "n2-standard-8"\ncpu_node_count = 9\ngpu_machine_type = "a3-highgpu-8g"\n'
    prefixed = read(f"{text}gpu_node_count = 2\n", name="x.tfvars")
    assert given(prefixed) == {"cluster.platform": "gcp-a3-highgpu-8g", "cluster.nodes": 2}
    assert "cluster.nodes" not in given(read(text, name="x.tfvars"))


def test_an_entry_without_a_type_among_others_is_refused() -> None:
    text = 'groups = [\n  { target_size = 4 },\n  { target_size = 1, machine_type = "a2-highgpu-1g" },\n]\n'
    with pytest.raises(FormatError, match="line 2: groups: an entry without a type of machine"):
        read(text, name="x.tfvars")


@pytest.mark.parametrize("text", ['a = 1 }\nmodule "b" {\n x = 1', 'machine_type = "a2-highgpu-1g"\n}\n'])
def test_values_beyond_a_closing_brace_are_refused(text: str) -> None:
    with pytest.raises(FormatError, match="a brace that closes no block"):
        read(text, name="x.tfvars")
