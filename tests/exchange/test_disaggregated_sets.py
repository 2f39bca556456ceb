"""DisaggregatedSet of LWS: engines of both roles in all slices, and the pods of which they consist."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import ImportResult
from tests.exchange.imports import counts, given, read, unknown

HEAD = "apiVersion: disaggregatedset.x-k8s.io/v1\nkind: DisaggregatedSet\nmetadata: {name: pd}\nspec:\n"


def role(name: str, replicas: str, tp: int, pods: int = 1, transfer: str = "kv_both") -> str:
    """A role whose engines have ``tp`` ranks on ``pods`` pods."""
    indent = " " * 14
    given_transfer = f'\'{{"kv_role": "{transfer}"}}\''
    container = [
        "containers:",
        "- name: modelserver",
        "  image: vllm/vllm-openai:v0.31.0",
        "  command: [vllm, serve]",
        f"  args: [openai/gpt-oss-120b, --tensor-parallel-size={tp}, --kv-transfer-config, {given_transfer}]",
        f"  resources: {{limits: {{nvidia.com/gpu: {tp // pods}}}}}",
    ]
    return (
        f"    - name: {name}\n      spec:\n{replicas}        leaderWorkerTemplate:\n          size: {pods}\n"
        "          workerTemplate:\n"
        f"            metadata: {{labels: {{llm-d.ai/role: {name}}}}}\n            spec:\n"
        + "".join(f"{indent}{line}\n" for line in container)
    )


def plan(*roles: str, slices: str = "  slices: 2\n") -> ImportResult:
    return read(f"{HEAD}{slices}  roles:\n{''.join(roles)}", name="set.yaml")


def engines(reading: ImportResult, of: str) -> tuple[object, object]:
    found = given(reading)
    return tuple(found.get(f"workload.serving.disaggregated.{of}.{key}") for key in ("replicas", "tp"))  # type: ignore[return-value]


@pytest.mark.parametrize("transfers", [("kv_both", "kv_both"), ("kv_producer", "kv_consumer")])
def test_engines_of_a_role_are_those_of_all_slices(transfers: tuple[str, str]) -> None:
    reading = plan(
        role("prefill", "        replicas: 3\n", 1, transfer=transfers[0]), role("decode", "", 4, transfer=transfers[1])
    )
    assert engines(reading, "prefill") == (6, 1)
    assert engines(reading, "decode") == (2, 4)
    # 6 pods of 1 and 2 pods of 4 accelerators, which may share nodes
    assert (counts(reading)["accelerators"], counts(reading)["slices"]) == (14, 2)
    assert not {"layout.nodes", "cluster.accelerators_per_node"} & given(reading).keys()
    assert "pods ask for different numbers: prefill 1, decode 4" in unknown(reading)


def test_engines_on_several_pods_fill_a_node_with_each() -> None:
    reading = plan(role("prefill", "        replicas: 3\n", 16, pods=2), role("decode", "", 32, pods=4), slices="")
    # 3 engines of 2 pods and 1 of 4, with 8 accelerators each
    assert (given(reading)["layout.nodes"], given(reading)["cluster.accelerators_per_node"]) == (10, 8)
    assert counts(reading)["accelerators"] == 80
    assert engines(reading, "decode") == (1, 32)


def test_replicas_that_another_object_scales_are_not_stated() -> None:
    scaled = role("prefill", "", 1).replace("      spec:\n", "      scaling: {mode: External}\n      spec:\n", 1)
    reading = plan(scaled, role("decode", "", 1))
    assert engines(reading, "prefill") == (None, 1)
    assert "layout.nodes: its replicas are not a number" in unknown(reading)
