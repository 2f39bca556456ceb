"""The law of the defaults: writing down what an estimate assumes changes no number of it."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterspec import analysis
from clusterspec.catalog import Catalog
from clusterspec.document.conforms import node_at
from clusterspec.quantity import Bandwidth, Figure
from clusterspec.spec import schema
from clusterspec.studies import study_text
from tests.effort import examples, sampled, thorough
from tests.settings import SETTINGS
from tests.spec_keys import unknown_keys

Spec = dict[str, Any]
LLAMA = {"model": "llama-3.1-8b", "sequence_length": 8192, "global_batch": 256}
DEEPSEEK = {"model": "deepseek-v3", "sequence_length": 4096, "global_batch": 2048}
MIXTRAL = {"model": "mixtral-8x7b", "sequence_length": 4096, "global_batch": 512}
REQUESTS = {"input_tokens": 2048, "output_tokens": 512, "concurrency": 64}


def spec(cluster: Spec, workload: Spec, layout: Spec) -> Spec:
    return {"clusterspec": 1, "name": "defaults", "cluster": cluster, "workload": workload, "layout": layout}


H100, TPU, TRAINIUM = (
    {"platform": "dgx-h100", "nodes": 8},
    {"accelerator": "tpu-v5p", "nodes": 16},
    {
        "accelerator": "trainium2",
        "nodes": 4,
    },
)
CASES = {
    "dense": spec(H100, LLAMA, {"framework": "megatron-core", "tp": 4, "pp": 2}),
    "dense 2021": spec(H100, LLAMA, {"framework": "megatron-core", "software_year": 2021, "tp": 4, "pp": 2}),
    "interleaved": spec(H100, LLAMA, {"framework": "megatron-core", "tp": 2, "pp": 4, "virtual_stages": 2}),
    "context": spec(H100, LLAMA, {"framework": "megatron-core", "tp": 2, "cp": 4}),
    "fp8": spec(H100, {**LLAMA, "precision": "fp8"}, {"framework": "megatron-core", "tp": 2}),
    "experts": spec(H100, {**DEEPSEEK, "precision": "fp8"}, {"framework": "megatron-core", "ep": 16, "pp": 4}),
    "experts by tp": spec(H100, MIXTRAL, {"framework": "torchtitan", "tp": 8}),
    "experts custom": spec(H100, MIXTRAL, {"tp": 2, "ep": 4}),
    "experts deepspeed": spec(H100, {**MIXTRAL, "precision": "fp16"}, {"framework": "deepspeed", "ep": 8}),
    "megatron-deepspeed": spec(H100, LLAMA, {"framework": "megatron-deepspeed", "tp": 4, "pp": 4}),
    "internevo": spec(H100, LLAMA, {"framework": "internevo", "software_year": 2023, "tp": 2}),
    "fsdp": spec(H100, LLAMA, {"framework": "fsdp", "recompute": "full"}),
    "hsdp": spec(H100, LLAMA, {"framework": "torchtitan", "sharding": "hsdp", "tp": 2}),
    "zero2": spec(H100, LLAMA, {"framework": "deepspeed", "sharding": "zero2"}),
    "release": spec(H100, LLAMA, {"software": "megatron-core 0.15.2", "tp": 4}),
    "tpu": spec(TPU, LLAMA, {"framework": "maxtext", "recompute": "selective"}),
    "trainium": spec(TRAINIUM, LLAMA, {"framework": "neuronx-distributed", "tp": 8}),
    "serving": spec(
        {"platform": "dgx-h200", "nodes": 2},
        {"kind": "serve", "model": "deepseek-v3", "precision": "fp8", "serving": REQUESTS},
        {"framework": "sglang", "attention_dp": 16, "ep": 16},
    ),
    "serving dense": spec(
        {"platform": "dgx-h100", "nodes": 1},
        {"model": "llama-3.1-70b", "serving": {"input_tokens": 1024, "output_tokens": 256, "request_rate": 4}},
        {"framework": "vllm", "tp": 4},
    ),
    "serving a batch": spec(
        {"platform": "dgx-h100", "nodes": 1},
        {"kind": "serve", "model": "llama-3.1-70b", "sequence_length": 4096},
        {"tp": 8},
    ),
    "disaggregated": spec(
        {"platform": "dgx-h200", "nodes": 3},
        {
            "kind": "serve",
            "model": "deepseek-v3",
            "precision": "fp8",
            "serving": {**REQUESTS, "disaggregated": {"prefill": {"tp": 8}, "decode": {"attention_dp": 16, "ep": 16}}},
        },
        {"framework": "sglang"},
    ),
    "bare": spec({"accelerator": "h100-sxm-80gb", "nodes": 4}, LLAMA, {}),
}


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a document, with where it stands."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        yield path, float(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from numbers(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from numbers(item, f"{path}[{index}]")


def estimated(described: Spec) -> tuple[dict[str, float], list[tuple[str, Any]]]:
    """Every number of the estimate, assumptions and terms of findings aside, and the assumptions."""
    one = study_text(json.dumps(described), SETTINGS)
    report = analysis.estimate(one)
    said = json.loads(json.dumps(report.to_json(), default=str))
    kept: tuple[str, ...] = (
        "cluster",
        "layout",
        "parameters",
        "active_parameters",
        "step_time",
        "mfu",
        "hfu",
        "fits",
        "range",
        "memory",
    )
    kept += ("communication", "time_to_train", "tokens_per_second_per_accelerator", "serving")
    found = dict(numbers({key: said.get(key) for key in kept}))
    return found, [(key, value) for key, value, _ in one.plan.design.assumptions]


def written(value: Any) -> Any:
    """An assumed value as a person writes it."""
    if isinstance(value, Bandwidth):
        return f"{value.value!r} B/s unidirectional"
    if isinstance(value, Figure):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def writable(key: str) -> bool:
    return bool(node_at(schema(), tuple(key.split("."))))


def with_value(described: Spec, key: str, value: Any) -> Spec:
    changed: Spec = copy.deepcopy(described)
    *above, last = key.split(".")
    place = changed
    for name in above:
        if isinstance(place.get(name), str):  # `model: id` stays as it is
            place[name] = {"base": place[name]}
        place = place.setdefault(name, {})
    place[last] = written(value)
    return changed


def assert_same(first: dict[str, float], second: dict[str, float], key: str) -> None:
    assert first.keys() == second.keys(), key
    moved = {
        name: (number, second[name])
        for name, number in first.items()
        if not math.isclose(number, second[name], rel_tol=1e-9, abs_tol=1e-12)
    }
    assert not moved, f"writing {key} moves {moved}"


def assert_defaults_are_the_defaults(described: Spec) -> None:
    whole, assumptions = estimated(described)
    assert len(whole) > 25
    everything = described
    for key, value in assumptions:
        if writable(key):
            found, _ = estimated(with_value(described, key, value))
            assert_same(whole, found, f"{key}: {written(value)}")
            everything = with_value(everything, key, value)
    found, left = estimated(everything)
    assert_same(whole, found, "all of them")
    assert [key for key, _ in left if writable(key)] == []


@pytest.mark.parametrize("name", sampled(CASES, 4))
def test_writing_an_assumption_changes_nothing(name: str) -> None:
    assert_defaults_are_the_defaults(CASES[name])


FRAMEWORKS = Catalog.open().ids("framework")
LAYOUTS = st.fixed_dictionaries(
    {},
    optional={
        "framework": st.sampled_from(FRAMEWORKS),
        "software_year": st.integers(2019, 2027),
        "tp": st.sampled_from([1, 2, 4, 8]),
        "cp": st.sampled_from([1, 2]),
        "ep": st.sampled_from([1, 2, 8]),
        "pp": st.sampled_from([1, 2, 4]),
        "virtual_stages": st.sampled_from([1, 2]),
        "sharding": st.sampled_from(["none", "zero1", "zero2", "fsdp", "hsdp"]),
        "recompute": st.sampled_from(["none", "selective", "full", ["norm", "activation"]]),
        "overlap": st.sampled_from([{}, {"tp": 0.3}, {"tp": "full", "dp": False}, {"cp": False, "ep": True}]),
        "sequence_parallel": st.booleans(),
        "micro_batch": st.sampled_from([1, 2]),
    },
)
WORKLOADS = st.builds(
    lambda base, more: {**base, **more},
    st.sampled_from([LLAMA, MIXTRAL, DEEPSEEK, {"kind": "serve", "model": "mixtral-8x7b", "serving": REQUESTS}]),
    st.fixed_dictionaries(
        {},
        optional={
            "precision": st.sampled_from(["bf16", "fp16", "fp8", "fp32"]),
            "optimizer": st.sampled_from(["adam", "muon", "sgd"]),
            "attention": st.sampled_from(["flash", "plain"]),
        },
    ),
)
CLUSTERS = st.sampled_from(
    [H100, TPU, TRAINIUM, {"platform": "gb200-nvl72", "nodes": 36}, {"accelerator": "mi300x", "nodes": 2}]
)


@thorough
@settings(max_examples=examples(2), deadline=None)
@given(CLUSTERS, WORKLOADS, LAYOUTS)
def test_writing_an_assumption_changes_nothing_in_random_specs(cluster: Spec, workload: Spec, layout: Spec) -> None:
    assert_defaults_are_the_defaults(spec(cluster, workload, layout))


def test_every_key_that_the_resolution_names_is_one_of_the_schema() -> None:
    assert {each.rpartition(": ")[2] for each in unknown_keys("cluster")} == {"cluster.kernels"}  # names an assumption
