"""Graphs of NVIDIA Dynamo: one kind of engines, or prefill and decode, with the options of each."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import given, read, unknown

HEAD = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: g}\nspec:\n  services:\n"
WORKER = """\
    {name}:
      componentType: worker
      replicas: {replicas}
      {nodes}
      resources: {{limits: {{gpu: "{gpus}"}}}}
      extraPodSpec:
        mainContainer:
          command: [python3, -m, dynamo.{engine}]
          args: [{words}]
"""
ROUTER = (
    "    Frontend: {componentType: frontend, replicas: 1, extraPodSpec: {mainContainer: {args: [dynamo.frontend]}}}\n"
)
SPLIT = "workload.serving.disaggregated"


def graph(*workers: str) -> str:
    return HEAD + ROUTER + "".join(workers)


def worker(
    words: str, *, name: str = "w", engine: str = "vllm", replicas: str = "3", gpus: str = "4", nodes: str = ""
) -> str:
    return WORKER.format(name=name, engine=engine, replicas=replicas, nodes=nodes, gpus=gpus, words=words)


def test_one_kind_of_engines_is_a_plan_of_as_many_replicas() -> None:
    words = "--model, meta-llama/Llama-3.1-70B-Instruct, --tensor-parallel-size, '8', --max-num-seqs, '64'"
    stated = given(read(graph(worker(words, nodes="multinode: {nodeCount: 2}"))))
    assert stated["layout.tp"] == 8
    assert stated["layout.dp"] == 3
    assert stated["layout.nodes"] == 6  # 3 replicas × 2 nodes
    assert stated["cluster.accelerators_per_node"] == 4
    assert stated["workload.model"] == "llama-3.1-70b"
    assert stated["workload.serving.max_sequences"] == 64


def test_prefill_and_decode_have_degrees_and_replicas_of_their_own() -> None:
    mode = "--disaggregation-mode"
    reading = read(
        graph(
            worker(f"--model-path, a/b, --tp-size, '4', {mode}, prefill", name="p", engine="sglang", replicas="2"),
            worker(f"--model-path, a/b, --tp-size, '8', {mode}, decode", name="d", engine="sglang", gpus="8"),
        )
    )
    stated = given(reading)
    assert (stated[f"{SPLIT}.prefill.replicas"], stated[f"{SPLIT}.prefill.tp"]) == (2, 4)
    assert (stated[f"{SPLIT}.decode.replicas"], stated[f"{SPLIT}.decode.tp"]) == (3, 8)
    assert stated["layout.nodes"] == 5
    assert "pods ask for different numbers" in unknown(reading)
    assert "layout.tp" not in stated


def test_an_engine_in_addition_to_one_for_prefill_decodes() -> None:
    stated = given(
        read(
            graph(
                worker("--model, a/b, --is-prefill-worker", name="p", replicas="1"),
                worker("--model, a/b, --tensor-parallel-size, '2'", name="d", replicas="4"),
            )
        )
    )
    assert stated[f"{SPLIT}.prefill.replicas"] == 1
    assert (stated[f"{SPLIT}.decode.replicas"], stated[f"{SPLIT}.decode.tp"]) == (4, 2)


def test_the_file_of_options_in_a_config_map_goes_over_the_command() -> None:
    words = "--model-path, a/b, --tensor-parallel-size, '2', --extra-engine-args, /config/agg.yaml"
    text = graph(worker(words, engine="trtllm"))
    options = "tensor_parallel_size: 8\n    moe_expert_parallel_size: 4\n    enable_attention_dp: false"
    held = f"---\nkind: ConfigMap\ndata:\n  agg.yaml: |\n    {options}\n"
    stated = given(read(text + held))
    assert (stated["layout.tp"], stated["layout.ep"]) == (8, 4)
    apart = read(text)
    assert "layout.tp" not in given(apart)
    assert "a file that this text does not hold" in unknown(apart)


def test_components_of_the_second_version_are_read_alike() -> None:
    text = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: g}
spec:
  components:
  - {name: Frontend, type: frontend, replicas: 1}
  - name: w
    type: worker
    replicas: 2
    podTemplate:
      spec:
        containers:
        - name: main
          command: [python3, -m, dynamo.vllm]
          args: [--model, a/b, --tensor-parallel-size, "2"]
          resources: {limits: {nvidia.com/gpu: "2"}}
"""
    stated = given(read(text))
    assert (stated["layout.tp"], stated["layout.dp"], stated["layout.nodes"]) == (2, 2, 2)


def test_replicas_that_are_no_count_leave_the_nodes_open() -> None:
    reading = read(graph(worker("--model, a/b", replicas="'{{ .Values.replicas }}'")))
    assert "layout.nodes" not in given(reading)
    assert "the replicas of an engine are not a number" in unknown(reading)


def test_workers_that_are_no_part_of_the_plan_are_listed_with_the_reason() -> None:
    mode = "--disaggregation-mode"
    reading = read(
        graph(
            worker("--model, a/b", name="idle", replicas="0"),
            worker(f"--model-path, a/b, {mode}, encode", name="vision", engine="sglang"),
            worker("--model-path, a/b", name="own", engine="sglang"),
        )
    )
    told = unknown(reading).split("\n")
    assert "idle: no replicas" in told
    assert "vision: its role encode is not part of a serving plan" in told
    assert not any(line.startswith("own:") for line in told)
    assert given(reading)["layout.framework"] == "sglang"


def test_engines_of_several_frameworks_are_no_plan() -> None:
    mode = "--disaggregation-mode"
    prefill = worker(f"--model-path, a/b, {mode}, prefill", name="p", engine="sglang")
    with pytest.raises(FormatError, match="several frameworks"):
        read(graph(prefill, worker("--model, a/b, --is-decode-worker", name="d")))


def test_roles_of_which_no_plan_follows_are_refused() -> None:
    with pytest.raises(FormatError, match="neither engines of one kind"):
        read(graph(worker("--model, a/b", name="a"), worker("--model, c/d", name="b")))
    with pytest.raises(FormatError, match="no engine"):
        read(graph())
    two = graph(worker("--model, a/b"))
    with pytest.raises(SeveralParts, match="2 graphs"):
        read(f"{two}---\n{two}")


def test_a_launch_of_dynamo_outside_a_graph_is_one_of_its_engine() -> None:
    stated = given(read("python3 -m dynamo.sglang --model-path a/b --tp-size 4 --ep-size 4\n"))
    assert (stated["layout.framework"], stated["layout.tp"], stated["layout.ep"]) == ("sglang", 4, 4)
    with pytest.raises(FormatError, match="no command"):
        read("python3 -m dynamo.sglang --help\n", "serving")
