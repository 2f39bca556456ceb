"""Pods by hand: whether their containers ask for processors alone, and the nodes that several groups of them are."""

from __future__ import annotations

from typing import Any

from clusterspec.exchange.fabrics.pods import (
    NO_COUNT,
    Pods,
    count_product,
    pod_count,
    record_pods,
    requested_accelerators,
    requests_only_processors,
)
from clusterspec.exchange.import_result import ImportBuilder
from tests.effort import each
from tests.exchange.imports import counts, given, read, unknown


def template(*resources: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": f"c{n}", "resources": one} for n, one in enumerate(resources)]}}


@each(
    ("resources", "processors"),
    [
        ([{"limits": {"cpu": 4}}], True),
        ([{"limits": {"cpu": 4, "memory": "1Gi", "ephemeral-storage": "1Gi"}}], True),  # all three of them
        ([{"requests": {"memory": "1Gi"}}], True),
        ([{"requests": {"memory": "1Gi"}, "limits": {"nvidia.com/gpu": 8}}], False),
        ([{"limits": {"cpu": 4}}, {"limits": {"amd.com/gpu": 1}}], False),
        ([{"limits": {"cpu": 4}}, {}], True),
        ([{"limits": {"cpu": 4}, "claims": [{"name": "gpus"}]}], False),
        ([{}], False),
        ([], False),
    ],
)
def test_containers_ask_for_processors_alone_where_they_state_nothing_else(
    resources: list[dict[str, Any]], processors: bool
) -> None:
    assert requests_only_processors(template(*resources)) is processors


@each(
    ("value", "count"),
    [(None, 1), (0, 0), (3, 3), (-1, None), (True, None), ("3", None), ("${N}", None), (2.0, None)],
)
def test_a_number_of_pods_is_a_whole_one_and_one_where_it_is_absent(value: object, count: int | None) -> None:
    assert pod_count(value) == count


def test_a_product_of_counts_is_none_where_one_is_none() -> None:
    assert [count_product(), count_product(3), count_product(3, None, 4), count_product(3, 0)] == [1, 3, 12, 0]
    assert pod_count(count_product(3, "${N}")) is None


@each(
    ("resources", "accelerators"),
    [
        ({"limits": {"nvidia.com/gpu": 8}}, 8),
        ({"requests": {"amd.com/gpu": "4"}}, 4),
        ({"requests": {"nvidia.com/gpu": 2}, "limits": {"nvidia.com/gpu": 8}}, 8),  # which must be equal
        ({"limits": {"nvidia.com/gpu": "${GPUS}"}}, None),
        ({"limits": {"cpu": 8}}, None),
        ({}, None),
    ],
)
def test_a_container_asks_for_accelerators_by_the_name_of_a_vendor(
    resources: dict[str, Any], accelerators: int | None
) -> None:
    assert requested_accelerators({"resources": resources}) == accelerators


@each(
    ("groups", "nodes", "stated", "counted", "why"),
    [
        ([(4, 8)], 4, {"cluster.accelerators_per_node": 8, "layout.nodes": 4}, (4, 32), ""),
        ([(1, 8), (3, 8)], 4, {"cluster.accelerators_per_node": 8, "layout.nodes": 4}, (4, 32), ""),
        ([(1, 8), (3, 4)], 4, {"layout.nodes": 4}, (4, 20), "pods ask for different numbers: a 8, b 4"),
        # a launcher asks for none, and a group of no pods counts for nothing
        ([(1, 0), (2, 8)], 2, {"cluster.accelerators_per_node": 8, "layout.nodes": 2}, (2, 16), ""),
        ([(0, 4), (2, 8)], 2, {"cluster.accelerators_per_node": 8, "layout.nodes": 2}, (2, 16), ""),
        ([(None, 8)], None, {"cluster.accelerators_per_node": 8}, (None, None), NO_COUNT),
        ([(2, 0)], None, {}, (None, None), "no container asks for accelerators"),
        ([], None, {}, (None, None), "no container asks for accelerators"),
    ],
)
def test_groups_of_pods_are_the_nodes_of_those_that_ask_for_accelerators(
    groups: list[tuple[int | None, int]],
    nodes: int | None,
    stated: dict[str, object],
    counted: tuple[int | None, int | None],
    why: str,
) -> None:
    builder = ImportBuilder("test", "pods.yaml")
    found = record_pods([Pods(*group, 7, "abc"[at]) for at, group in enumerate(groups)], builder, 1)
    reading = builder.reading()
    assert (
        found == nodes and given(reading) == stated and why in unknown(reading) and bool(why) is bool(unknown(reading))
    )
    assert (counts(reading).get("nodes"), counts(reading).get("accelerators")) == counted


def test_a_number_of_accelerators_that_is_left_open_is_told_so() -> None:
    builder = ImportBuilder("test", "pods.yaml")
    assert record_pods([Pods(2, 0, 7, "a", is_open=True)], builder, 1) is None
    assert "is a variable" in unknown(builder.reading())


def test_pods_that_are_bound_to_one_node_are_not_its_nodes() -> None:
    builder = ImportBuilder("kubernetes", "a.yaml")
    bound = [Pods(1, 1, 3, "worker", host="n1"), Pods(1, 1, 9, "master", host="n1")]
    assert record_pods(bound, builder, 1) is None
    reading = builder.reading()
    assert "its 2 pods are bound to the node n1: a pod is not a node" in unknown(reading)
    assert (counts(reading)["accelerators"], "layout.nodes" in given(reading)) == (2, False)
    apart = ImportBuilder("kubernetes", "a.yaml")
    assert record_pods([bound[0], bound[1]._replace(host="n2")], apart, 1) == 2
    assert given(apart.reading())["layout.nodes"] == 2


VOLCANO = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  minAvailable: 3
  tasks:
  - name: master
    replicas: 1
    template: {spec: {containers: [{name: a, resources: {limits: {nvidia.com/gpu: 8}}}]}}
  - name: worker
    replicas: REPLICAS
    template: {spec: {containers: [{name: a, resources: {limits: {nvidia.com/gpu: 8}}}]}}
  - name: log
    replicas: 1
    template: {spec: {containers: [{name: a, resources: {limits: {cpu: 1}}}]}}
"""


def test_tasks_of_a_job_of_volcano_are_its_nodes() -> None:
    reading = read(VOLCANO.replace("REPLICAS", "3"), name="job.yaml")
    assert given(reading) == {"cluster.accelerators_per_node": 8, "layout.nodes": 1 + 3}
    assert counts(reading)["accelerators"] == 32
    open_one = read(VOLCANO.replace("    replicas: REPLICAS\n", ""), name="job.yaml")  # the field has no default
    assert "layout.nodes" not in given(open_one)
    assert NO_COUNT in unknown(open_one)


DEPLOYMENT = """\
    apiVersion: apps/v1
    kind: {kind}
    metadata: {{name: server}}
    spec:
      {before}
      template:
        spec:
          containers:
          - name: engine
            {image}
            resources: {{limits: {{nvidia.com/gpu: 2}}}}
    """
SELECTOR, IMAGE = "selector: {matchLabels: {app: server}}", "image: engine:1"


@each(
    ("before", "image", "replicas"),
    [
        (SELECTOR, IMAGE, 1),
        (SELECTOR, "tty: true", 1),
        ("paused: false", IMAGE, 1),
        ("paused: false", "tty: true", None),
        ("replicas: 3", "tty: true", 3),
        ("replicas: 1", "tty: true", 1),
    ],
)
def test_a_patch_of_a_deployment_leaves_its_replicas_to_what_it_changes(
    before: str, image: str, replicas: int | None
) -> None:
    for kind in ("Deployment", "StatefulSet"):
        reading = read(DEPLOYMENT.format(kind=kind, before=before, image=image), "kubernetes")
        assert given(reading) == {"cluster.accelerators_per_node": 2, "layout.nodes": 1}
        assert counts(reading).get("replicas") == replicas
        assert ("replicas: a patch" in unknown(reading)) is (replicas is None)
