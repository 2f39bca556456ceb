"""What a service, a queue or a deployment asks for: the accelerators of a node, and what the file leaves open."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

PER_NODE = "cluster.accelerators_per_node"
SERVED = "image: vllm/vllm-openai:v0.11.0\n    command: --model a/b --tensor-parallel-size 2"
COMPOSE = """\
services:
  cache: {{image: redis}}
  one:
    {starts}
    {asks}
  two: {{image: proxy}}
"""
QUEUE = """\
Scheduling:
  Scheduler: slurm
  SlurmQueues:
  - Name: q
    Networking: {{PlacementGroup: {{Enabled: {placed}}}}}
    ComputeResources:
    - Name: head
      InstanceType: c5.large
    - Name: c
      {machine}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
spec:
  replicas: {copies}
  template:
    spec:
      containers:
      - name: a
        args: [{args}]
        resources: {{limits: {{nvidia.com/gpu: 4}}}}
"""


def devices(asked: str, capabilities: str = "[gpu]") -> str:
    return f"deploy: {{resources: {{reservations: {{devices: [{{{asked}, capabilities: {capabilities}}}]}}}}}}"


@pytest.mark.parametrize(
    ("asks", "number"),
    [
        (devices("driver: nvidia, count: 4"), 4),
        (devices("device_ids: ['0', '3']"), 2),
        (devices("device_ids: ['0,1,2']"), 3),
        ("gpus: [{count: 2}]", 2),
        ("runtime: nvidia\n    environment: ['NVIDIA_VISIBLE_DEVICES=4,5']", 2),
    ],
)
def test_a_service_has_the_accelerators_that_it_reserves(asks: str, number: int) -> None:
    for starts in (SERVED, "image: own"):
        reading = read(COMPOSE.format(starts=starts, asks=asks))
        assert given(reading)[PER_NODE] == number, starts
        assert given(reading).get("layout.tp") == (2 if starts == SERVED else None)


@pytest.mark.parametrize(
    ("asks", "why"),
    [
        (devices("count: all"), "all accelerators of the host"),
        (
            devices("count: all") + "\n    environment: {CUDA_VISIBLE_DEVICES: '1,2'}",
            "all of the host are reserved, and CUDA_VISIBLE_DEVICES has 2 of them",
        ),
        (devices("driver: nvidia"), "all accelerators of the host"),
        ("gpus: all", "all accelerators of the host"),
        (devices("count: $N"), "not a number: $N"),
        (devices("device_ids: ['$A']"), "not a number"),
        (devices("count: 4") + "\n    environment: {CUDA_VISIBLE_DEVICES: '0'}", "4 are reserved"),
    ],
)
def test_a_number_that_a_service_leaves_open_is_listed(asks: str, why: str) -> None:
    reading = read(COMPOSE.format(starts=SERVED, asks=asks))
    assert PER_NODE not in given(reading)
    assert f"{PER_NODE}: {why}" in unknown(reading)


def test_services_that_reserve_accelerators_are_kept_apart() -> None:
    two = COMPOSE.format(starts="image: own", asks="gpus: [{count: 2}]") + "  three: {image: x, gpus: [{count: 4}]}\n"
    with pytest.raises(SeveralParts, match=r"one 2, three 4"):
        read(two)
    assert given(read(two, "compose", part=2)) == {PER_NODE: 4}
    with pytest.raises(FormatError, match="no service that reserves accelerators"):
        read(COMPOSE.format(starts="image: own", asks=devices("count: 1", "[tpm]")), "compose")


def test_a_queue_that_keeps_its_nodes_states_their_number() -> None:
    kept = "Instances: [{InstanceType: p5.48xlarge}]\n      MinCount: 4\n      MaxCount: 4\n      Efa: {Enabled: true}"
    reading = read(QUEUE.format(placed="true", machine=kept))
    assert given(reading) == {
        "cluster.platform": "aws-p5-48xlarge",
        "cluster.nodes": 4,
        "cluster.scale_out.placement": "cluster-placement-group",
    }
    assert counts(reading) == {"efa": "enabled"}
    assert "1 compute resource: of instance types without an entry" in unknown(reading)


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ("MinCount: 1\n      MaxCount: 8", "1 to 8 nodes: "),
        ("MinCount: 2", "2 to 10 nodes, the default: "),
        ("MaxCount: 4", "0 to 4 nodes: "),
    ],
)
def test_a_queue_that_grows_states_no_number(limits: str, why: str) -> None:
    reading = read(QUEUE.format(placed="false", machine=f"InstanceType: p4d.24xlarge\n      {limits}"))
    assert given(reading) == {"cluster.platform": "aws-p4d-24xlarge"}
    assert f"cluster.nodes: {why}" in unknown(reading)


def test_a_queue_without_accelerators_is_refused() -> None:
    with pytest.raises(FormatError, match=r"catalog: c5.large, \$TYPE"):
        read(QUEUE.format(placed="false", machine="InstanceType: $TYPE"))


def test_pods_of_a_deployment_are_copies_unless_they_join() -> None:
    alone = read(DEPLOYMENT.format(copies=3, args="serve"))
    assert given(alone) == {PER_NODE: 4, "layout.nodes": 1}
    assert counts(alone)["replicas"] == 3
    joined = read(DEPLOYMENT.format(copies=3, args="torchrun, --nnodes, 3"))
    assert given(joined) == {PER_NODE: 4}
    assert "its pods may join in one launch" in unknown(joined)


@pytest.mark.parametrize(
    ("copies", "args", "nodes"),
    [
        (16, "sleep, infinity", None),
        (2, "bash, -c, 'service ssh start; tail -f /dev/null'", None),
        (1, "sleep, infinity", 1),
        (3, "bash, -c, 'serve --port 80 & sleep infinity'", 1),
        (3, "bash, -c, 'sleep 30; serve'", 1),
    ],
)
def test_pods_that_wait_for_a_launch_are_no_nodes_of_one(copies: int, args: str, nodes: int | None) -> None:
    reading = read(DEPLOYMENT.format(copies=copies, args=args))
    assert given(reading).get("layout.nodes") == nodes
    assert given(reading)[PER_NODE] == 4
    assert ("its pods wait: the commands started in them" in unknown(reading)) == (nodes is None)
