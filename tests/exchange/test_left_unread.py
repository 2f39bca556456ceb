"""Settings of a layout that no reader reports are listed with their lines."""

from __future__ import annotations

import pytest

from clusterspec.exchange.left_unread import settings_of
from tests.exchange.imports import read, unknown

LAUNCH = """\
    {}
    torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 \\
      --tensor-model-parallel-size 4 --micro-batch-size 2 --seq-length 4096 --bf16
    {}
    """


@pytest.mark.parametrize(
    ("before", "after", "listed"),
    [
        ("", "python eval.py --tensor-parallel-size 2", "1 setting: on lines of which nothing was read: "),
        ("", "python eval.py --tensor-parallel-size 4", ""),  # the same as the launch states
        ("", "# python eval.py --tensor-parallel-size 2", ""),
        ("NNODES=16", "", "NNODES 16 (line 1)"),
        ("NNODES=0", "", ""),
        ("MICRO_BATCH_SIZE=2", "", ""),
        ("export TP=4", "", ""),
        ("export TP=2", "", "TP 2 (line 1)"),
        ("scenario: {prefill_seq_len: 1024, max_concurrent_requests: 32}", "", "max_concurrent_requests 32 (line 1)"),
        ("MICRO_BATCH_SIZE=3", "", "MICRO_BATCH_SIZE 3 (line 1)"),
    ],
)
def test_settings_outside_the_launch_are_listed(before: str, after: str, listed: str) -> None:
    text = unknown(read(LAUNCH.format(before, after)))
    assert listed in text
    assert ("nothing was read" in text) == bool(listed)


def test_settings_have_numbers_and_stand_outside_remarks() -> None:
    text = 'tp_size: 8  # num_nodes: 3\n"gpus_per_node": 4,\n// num_nodes 9\nnum_gpus=$N\nnnodes 1.5\nsl.ep-size=2'
    assert [tuple(each) for each in settings_of(text)] == [
        ("tp_size", 8, 1),
        ("gpus_per_node", 4, 2),
        ("sl.ep-size", 2, 6),
    ]


def test_variables_of_a_container_are_settings_and_may_name_the_model() -> None:
    text = """\
        apiVersion: v1
        kind: Pod
        metadata: {name: a}
        spec:
          containers:
          - image: own
            command: [python, train.py]
            env:
            - name: MODEL_ID
              value: "Qwen/Qwen3-8B"
            - name: BATCH_SIZE
              value: "4"
            - {name: LR, value: "0.1"}
            resources: {limits: {nvidia.com/gpu: 8, nvidia.com/hostdev: 8, rebellions.ai/ATOM: 2}}
        """
    listed = unknown(read(text))
    assert "BATCH_SIZE 4 (line 11), rebellions.ai/ATOM 2 (line 14)" in listed
    assert "MODEL_ID: Qwen/Qwen3-8B: no model was read" in listed


def test_replicas_of_servers_are_settings() -> None:
    part = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {0}}}
spec:
  replicas: {1}
  template:
    spec:
      containers:
      - command: [vllm, serve, Qwen/Qwen3-8B, --tensor-parallel-size, "2"]
"""
    listed = unknown(read(part.format("prefill", 8) + "---\n" + part.format("decode", 4)))
    assert "replicas 8 (line 5), replicas 4 (line 15)" in listed


def test_a_model_that_is_read_or_named_is_no_further_one() -> None:
    launch = LAUNCH.format("MODEL_NAME=llama3.1-8b", "")
    assert "no model was read" not in unknown(read(launch))
    serves = "vllm serve --model some/other-7b --tensor-parallel-size 2\n# model: Qwen/Qwen3-8B\n"
    assert "no model was read" not in unknown(read(serves))
