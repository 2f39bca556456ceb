"""Machines that pools and labels of Kubernetes name, and pods of predictors without a known engine."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import given, read

POOL = """apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: one}}
spec:
  {}
  template:
    spec:
      requirements:
        - {{key: kubernetes.io/arch, operator: In, values: [amd64]}}
        - {{key: node.kubernetes.io/instance-type, operator: {}, values: {}}}
"""
JOB = """apiVersion: batch/v1
kind: Job
spec:
  parallelism: 2
  template:
    spec:
      nodeSelector: {{{}}}
      containers:
        - image: one
          resources: {{limits: {{nvidia.com/gpu: {}}}}}
"""
P5 = "node.kubernetes.io/instance-type: p5.48xlarge"


@pytest.mark.parametrize(
    ("fields", "operator", "types", "expected"),
    [
        ("replicas: 3", "In", "[p5.48xlarge]", ("aws-p5-48xlarge", 3)),
        ("weight: 2", "In", "[p5.48xlarge]", ("aws-p5-48xlarge", None)),
        ("weight: 2", "In", "[Standard_ND96isr_H100_v5]", ("azure-nd-h100-v5", None)),
    ],
)
def test_a_pool_states_the_one_type_of_its_machines_and_a_fixed_number(
    fields: str, operator: str, types: str, expected: tuple[str, int | None]
) -> None:
    found = given(read(POOL.format(fields, operator, types), name="pool.yaml"))
    assert (found["cluster.platform"], found.get("cluster.nodes")) == expected


@pytest.mark.parametrize(
    ("operator", "types"), [("In", "[p5.48xlarge, p4d.24xlarge]"), ("NotIn", "[p5.48xlarge]"), ("In", "[m5.large]")]
)
def test_a_pool_of_several_or_unknown_machines_is_refused(operator: str, types: str) -> None:
    with pytest.raises(FormatError, match="holds NodePool"):
        read(POOL.format("weight: 2", operator, types), name="pool.yaml")


@pytest.mark.parametrize(
    ("labels", "accelerators", "platform"),
    [(P5, 8, "aws-p5-48xlarge"), (P5, 4, None), ("cloud.google.com/gke-accelerator: nvidia-h100-80gb", 8, None)],
)
def test_pods_that_take_all_accelerators_of_a_labelled_machine_state_it(
    labels: str, accelerators: int, platform: str | None
) -> None:
    found = given(read(JOB.format(labels, accelerators), name="job.yaml"))
    assert (found.get("cluster.platform"), found["cluster.accelerator"]) == (platform, "h100-sxm-80gb")


@pytest.mark.parametrize(
    ("directive", "expected"),
    [("gpu:8", 8), ("dcu:4", 4), ("nvme:1,gpu:h100:2", 2), ('"gpu:2"', 2), ("craynetwork:1,npu:16", 16)],
)
def test_a_job_states_the_accelerators_of_a_list_of_generic_resources(directive: str, expected: int) -> None:
    job = f"#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres={directive}\nsrun own\n"
    assert given(read(job))["cluster.accelerators_per_node"] == expected


def test_generic_resources_without_accelerators_are_refused() -> None:
    with pytest.raises(FormatError, match="without a count of accelerators"):
        read("#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres=craynetwork:1,nvme:2\nsrun own\n")


def test_the_batches_of_a_configuration_are_not_those_of_a_program_that_evaluates() -> None:
    script = (
        'cat <<E > ds.json\n{{"train_batch_size": 64, "zero_optimization": {{"stage": 1}}}}\nE\n'
        "deepspeed --num_gpus 2 {} --tensor-model-parallel-size 2 --num-layers 4 --hidden-size 64 "
        "--num-attention-heads 4 --deepspeed --deepspeed_config ds.json\n"
    )
    trained, evaluated = (given(read(script.format(name))) for name in ("pretrain_gpt.py", "tasks/evaluate.py"))
    assert (trained["workload.global_batch"], trained["layout.sharding"]) == (64, "zero1")
    assert not {"workload.global_batch", "layout.sharding"} & evaluated.keys()
    assert evaluated["layout.tp"] == 2
