"""Laws of the global batch of a training that a job of the training operator starts."""

from __future__ import annotations

import pytest

from .imports import given, read, unknown

JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: a}}
spec:
  nprocPerNode: "8"
  pytorchReplicaSpecs:
    Master: {{replicas: 1, template: &pod {{spec: {{containers: [{{name: pytorch, image: b,
      command: {command},
      resources: {{limits: {{nvidia.com/gpu: 8}}}}}}]}}}}}}
    Worker: {{replicas: 3, template: *pod}}
"""
TRAIN = '"train.py", "--per_device_train_batch_size", "2", "--gradient_accumulation_steps", "4", "--bf16", "True"'


def test_the_operator_gives_torchrun_the_ranks_of_all_pods() -> None:
    """4 pods × 8 ranks × 2 sequences × 4 accumulated: 256."""
    reading = read(JOB.format(command=f'["torchrun", {TRAIN}]'), name="job.yaml")
    assert given(reading)["workload.global_batch"] == 256
    assert "workload.global_batch" not in unknown(reading)


@pytest.mark.parametrize(
    "command",
    [
        f'["torchrun", "--nproc_per_node", "$(RANKS)", {TRAIN}]',
        f'["python", {TRAIN}]',
        f'["torchrun", {TRAIN}, "--sequence_parallel_size", "4"]',
    ],
)
def test_other_starts_and_shared_sequences_leave_the_batch_open(command: str) -> None:
    reading = read(JOB.format(command=command), name="job.yaml")
    assert "workload.global_batch" not in given(reading) and "workload.global_batch" in unknown(reading)


def test_a_job_whose_workers_may_change_states_no_batch() -> None:
    text = JOB.format(command=f'["torchrun", {TRAIN}]').replace(
        "  pytorchReplicaSpecs", "  elasticPolicy: {minReplicas: 2, maxReplicas: 4}\n  pytorchReplicaSpecs"
    )
    assert "workload.global_batch" not in given(read(text, name="job.yaml"))
