"""Networks of ASTRA-sim and inputs of Calculon: what they state, and what they leave open."""

from __future__ import annotations

import json

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import counts, given, read, unknown

NETWORK = "topology: [ Switch, Ring ]\nnpus_count: [ 8, 4 ]\nbandwidth: [ 450, 50.0 ] # GB/s\nlatency: [ 500, 700 ]\n"
EXECUTION = {
    "num_procs": 64,
    "tensor_par": 8,
    "pipeline_par": 4,
    "data_par": 2,
    "batch_size": 96,
    "microbatch_size": 2,
    "datatype": "bfloat16",
    "activation_recompute": "attn_only",
    "pipeline_interleaving": 3,
    "optimizer_sharding": True,
    "tensor_par_comm_type": "rs_ag",
    "weight_offload": True,
    "training": True,
}


def test_a_network_counts_the_accelerators_of_all_dimensions() -> None:
    reading = read(NETWORK)
    assert reading.kind == "astra-sim"
    assert given(reading) == {"cluster.accelerators": 32}
    assert counts(reading)["dimension_1"] == "Switch of 8, 450 GB/s (2^30 bytes), 500 ns"
    assert counts(reading)["dimension_2"] == "Ring of 4, 50 GB/s (2^30 bytes), 700 ns"
    assert "which dimensions are inside a node" in unknown(reading)


def test_a_dimension_may_have_one_accelerator() -> None:
    reading = read(NETWORK.replace("[ 8, 4 ]", "[ 8, 1 ]"))
    assert given(reading) == {"cluster.accelerators": 8} and "Ring of 1," in str(counts(reading)["dimension_2"])


def test_an_older_network_counts_links() -> None:
    old = {
        "topologies-per-dim": ["Ring"],
        "units-count": [16],
        "links-count": [2],
        "link-latency": [500],
        "link-bandwidth": [25.5],
    }
    reading = read(json.dumps(old))
    assert given(reading) == {"cluster.accelerators": 16}
    assert counts(reading)["dimension_1"] == "Ring of 16, 2 links of 25.5 GB/s, 500 ns"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ("npus_count: [ 8 ]", "2 topologies and 1 counts"),
        ("npus_count: [ 8, four ]", "Ring of four"),
        ("npus_count: [ 8, 0 ]", "Ring of 0"),
        ("npus_count: [ 1000000, 1000000 ]", "more than a network has"),
    ],
)
def test_dimensions_that_do_not_fit_each_other_are_refused(changed: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        read(NETWORK.replace("npus_count: [ 8, 4 ]", changed))


def test_an_execution_is_a_layout() -> None:
    reading = read(json.dumps(EXECUTION, indent=1))
    stated = given(reading)
    assert reading.kind == "calculon"
    assert (stated["layout.tp"], stated["layout.pp"], stated["layout.dp"]) == (8, 4, 2)
    assert (stated["layout.micro_batch"], stated["workload.global_batch"]) == (2, 96)
    assert (stated["layout.virtual_stages"], stated["layout.sharding"]) == (3, "zero1")
    assert (stated["layout.recompute"], stated["layout.sequence_parallel"]) == ("selective", True)
    assert stated["workload.precision"] == "bf16"
    assert "weight_offload: moves to a second memory" in unknown(reading)


def test_an_execution_without_training_states_no_kind() -> None:
    reading = read(json.dumps(EXECUTION | {"training": False}))
    assert "workload.kind" not in given(reading)
    assert "a pass without training" in unknown(reading)


def test_the_sizes_of_a_model_are_read() -> None:
    model = {"hidden": 12288, "feedforward": 49152, "seq_size": 2048, "attn_heads": 96, "attn_size": 128}
    stated = given(read(json.dumps(model | {"num_blocks": 96}, indent=1)))
    assert (stated["workload.model.layers"], stated["workload.model.hidden"]) == (96, 12288)
    assert (stated["workload.model.heads"], stated["workload.model.head_dim"]) == (96, 128)
    assert (stated["workload.model.ffn_hidden"], stated["workload.model.gated_ffn"]) == (49152, False)
    assert stated["workload.sequence_length"] == 2048


@pytest.mark.parametrize(
    ("options", "key", "value"),
    [
        ({"data_par_overlap": True}, "layout.overlap.dp", True),
        ({"data_par_overlap": False}, "layout.overlap.dp", False),
        ({}, "layout.overlap.dp", None),
        ({"optimizer_sharding": False}, "layout.sharding", "none"),
        ({"tensor_par_comm_type": "ar"}, "layout.sequence_parallel", False),
        ({"pipeline_interleaving": 1}, "layout.virtual_stages", None),
        ({"pipeline_interleaving": 2}, "layout.virtual_stages", 2),
        ({"activation_recompute": "full"}, "layout.recompute", "full"),
        ({"activation_recompute": "none"}, "layout.recompute", "none"),
        ({"attention_type": "multiquery"}, "workload.model.kv_heads", 1),
        ({"attention_type": "multihead"}, "workload.model.kv_heads", None),
        ({"training": False}, "workload.kind", None),
        ({"training": True}, "workload.kind", "train"),
    ],
)
def test_each_option_of_an_execution_is_one_key(options: dict[str, object], key: str, value: object) -> None:
    assert given(read(json.dumps(EXECUTION | options, indent=1))).get(key) == value
