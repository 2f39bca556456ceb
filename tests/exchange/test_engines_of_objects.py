"""Engines that objects of Kubernetes hold: their roles, how many an object starts, and the model that is mounted."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import ImportResult
from tests.exchange.imports import given, read, unknown

STORM = """\
kind: StormService
spec:
{sets}  template:
    spec:
      roles:
{roles}"""
ROLE = """\
        - name: {name}
          replicas: {replicas}
          template:
            spec:
              containers:
                - name: {name}
                  command: ["sh", "-c"]
                  args:
                    - |
                      vllm serve --model Qwen/Qwen3-32B --tensor-parallel-size={tp}{transfer}
"""


def engines(reading: ImportResult) -> list[object]:
    """Number and degree of the engines of both roles."""
    found, base = given(reading), "workload.serving.disaggregated"
    return [found.get(f"{base}.{role}.{key}") for role in ("prefill", "decode") for key in ("replicas", "tp")]


@pytest.mark.parametrize("transfer", ["", ' --kv-transfer-config \'{"kv_role": "kv_both"}\''])
@pytest.mark.parametrize(("sets", "of_each"), [("", 1), ("  replicas: 1\n", 1), ("  replicas: 3\n", 3)])
def test_a_storm_service_has_the_engines_of_all_sets_of_its_roles(sets: str, of_each: int, transfer: str) -> None:
    """Also where no option tells the role of an engine, which the name of the role does."""
    roles = ROLE.format(name="prefill", replicas=2, tp=4, transfer="") + ROLE.format(
        name="decode", replicas=5, tp=8, transfer=transfer
    )
    reading = read(STORM.format(sets=sets, roles=roles), name="pd.yaml")
    assert engines(reading) == [2 * of_each, 4, 5 * of_each, 8]
    assert given(reading)["workload.model"] == "qwen3-32b"


PODS = """\
kind: {kind}
spec:
  replicas: {pods}
  template:
    spec:
      containers:
      - name: engine
        command: [bash, -c]
        args:
        - |
          python3 -m sglang.launch_server --model-path Qwen/Qwen3-32B --disaggregation-mode {role} --tp {tp}{nodes}
"""


def separate(pods: int, tp: int, nodes: str) -> ImportResult:
    first = PODS.format(kind="Deployment", pods=10, role="prefill", tp=4, nodes="")
    other = PODS.format(kind="StatefulSet", pods=pods, role="decode", tp=tp, nodes=nodes)
    return read(f"{first}---\n{other}", name="pods.yaml")


@pytest.mark.parametrize(
    ("pods", "nodes", "expected"),
    [(8, "", 8), (8, " --nnodes 1", 8), (8, " --nnodes 8 --node-rank $RANK", 1), (8, " --nnodes 4", 2)],
)
def test_pods_that_are_ranks_of_one_engine_are_no_copies_of_it(pods: int, nodes: str, expected: int) -> None:
    assert engines(separate(pods, 32, nodes)) == [10, 4, expected, 32]


@pytest.mark.parametrize("nodes", ["3", "$SIZE"])
def test_pods_that_fill_no_whole_number_of_engines_are_not_counted(nodes: str) -> None:
    reading = separate(8, 32, f" --nnodes {nodes}")
    assert engines(reading) == [10, 4, None, 32]
    assert f"decode: replicas: 8 pods, and --nnodes {nodes}: no whole number of engines" in unknown(reading)


SERVICE = """\
kind: LLMInferenceService
spec:
  model: {{uri: {uri}, name: small}}
  template:
    containers:
    - name: main
      args:
      - |
        python3 -m vllm.entrypoints.openai.api_server --model={path} --tensor-parallel-size=4
"""


@pytest.mark.parametrize(
    ("uri", "path", "model"),
    [
        ("hf://Qwen/Qwen2.5-3B-Instruct", "/mnt/models", "qwen2.5-3b"),
        ("hf://Qwen/Qwen2.5-3B-Instruct", "Qwen/Qwen3-32B", "qwen3-32b"),
        ("pvc://models/one", "/mnt/models", None),
    ],
)
def test_the_mounted_model_of_a_launch_is_that_of_its_object(uri: str, path: str, model: str | None) -> None:
    """Arguments that hold a command are the launch, and the object is no second one."""
    found = given(read(SERVICE.format(uri=uri, path=path), name="service.yaml"))
    assert (found.get("workload.model"), found["layout.tp"]) == (model, 4)


def test_two_objects_leave_the_mounted_model_open() -> None:
    text = SERVICE.format(uri="hf://Qwen/Qwen2.5-3B-Instruct", path="/mnt/models")
    other = "---\nkind: LLMInferenceService\nspec:\n  model: {uri: hf://Qwen/Qwen3-32B}\n"
    reading = read(text + other, name="service.yaml", part=1)
    assert "workload.model" not in given(reading)
