"""Launches of MaxText on slices of TPUs: their machine, the batch of a step, and what is computed again."""

from __future__ import annotations

import pytest

from tests.exchange.imports import counts, given, read, unknown

LAUNCH = (
    "xpk workload create --cluster=$CLUSTER {options} \\\n"
    '  --command="python3 -m MaxText.train MaxText/configs/base.yml model_name=llama3.1-70b '
    'per_device_batch_size={batch} max_target_length=8192 {more}"\n'
)


def launch(options: str, batch: str = "4", more: str = "") -> str:
    return LAUNCH.format(options=options, batch=batch, more=more)


@pytest.mark.parametrize(
    ("options", "machine", "batch"),
    [  # tpu7x shows two devices a chip; the number of v5p counts TensorCores, of which a chip has two
        ("--device-type=tpu7x-4x4x8 --num-slices=1", ("tpu-v7x", 128, [4, 4, 8]), 4 * 256),
        ("--tpu-type v6e-256 --num-slices 2", ("tpu-v6e", 512, None), 4 * 512),
        ("--tpu-type=v5p-512", ("tpu-v5p", 256, None), 4 * 256),
        ("--device-type=h100-mega-80gb-8", (None, None, None), None),
        ("--device-type=v6e-256 --num-slices=2 --num-slices=4", (None, None, None), None),
    ],
)
def test_a_slice_is_the_machine_and_counts_the_batch(
    options: str, machine: tuple[object, object, object], batch: int | None
) -> None:
    reading = read(launch(options))
    found = given(reading)
    keys = ("platform", "accelerators", "scale_up.shape")
    assert tuple(found.get(f"cluster.{key}") for key in keys) == machine
    assert found.get("workload.global_batch") == batch
    assert ("the machine" in unknown(reading)) == (machine[0] is None)


@pytest.mark.parametrize(
    ("options", "more", "layout"),
    [  # an axis that takes what others leave: fsdp within a slice of 256, data over slices
        ("--tpu-type=v6e-256 --num-slices=4", "", {"sharding": "hsdp", "shard_group": 256, "dp": 1024}),
        ("--tpu-type=v6e-256 --num-slices=4", "dcn_fsdp_parallelism=4", {"sharding": "fsdp", "dp": 1024}),
        ("--tpu-type=v6e-256", "ici_tensor_parallelism=8 ici_fsdp_parallelism=-1", {"tp": 8, "dp": 32}),
        ("--tpu-type=v6e-256", "ici_tensor_parallelism=-1 ici_fsdp_parallelism=-1", {"tp": None, "dp": None}),
        ("--tpu-type=v6e-256", "ici_tensor_parallelism=7", {"dp": None}),
    ],
)
def test_an_axis_takes_the_devices_of_the_machine_that_others_leave(
    options: str, more: str, layout: dict[str, object]
) -> None:
    found = given(read(launch(options, more=more)))
    assert {key: found.get(f"layout.{key}") for key in layout} == layout


def test_a_fraction_of_a_sequence_on_each_device_is_no_batch_unless_it_is_whole() -> None:
    options = "--device-type=v6e-256"
    assert given(read(launch(options, "0.5")))["workload.global_batch"] == 128
    assert "workload.global_batch" not in given(read(launch(options, "0.001")))
    steps = "gradient_accumulation_steps=3"
    assert given(read(launch(options, "0.5", steps)))["workload.global_batch"] == 384
    assert "gradient_accumulation_steps" not in counts(read(launch(options, "0.5", steps)))
    assert counts(read(launch("", "2", steps)))["gradient_accumulation_steps"] == 3


@pytest.mark.parametrize(
    ("more", "recompute"),
    [
        ("remat_policy=custom decoder_layer_input=device", "full"),
        ("remat_policy=custom decoder_layer_input=offload", "full"),
        ("remat_policy=custom decoder_layer_input=device mlpwo=remat", "full"),
        ("remat_policy=custom query_proj=device", None),
        ("remat_policy=custom mlpwo=offload", None),
        ("remat_policy=minimal", "selective"),
    ],
)
def test_a_custom_policy_computes_again_what_no_key_keeps(more: str, recompute: str | None) -> None:
    reading = read(launch("--device-type=v6e-256", more=more))
    assert given(reading).get("layout.recompute") == recompute
    assert ("remat_policy" in unknown(reading)) == (recompute is None)
    assert ("decoder_layer_input: offload" in unknown(reading)) == ("input=offload" in more)


def test_a_topology_of_gke_is_the_shape_of_the_slice() -> None:
    text = """\
apiVersion: batch/v1
kind: Job
spec:
  parallelism: 16
  template:
    spec:
      nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu7x, cloud.google.com/gke-tpu-topology: 4x4x4}
      containers: [{name: jax, resources: {limits: {google.com/tpu: 4}}}]
"""
    found = given(read(text))
    assert (found["cluster.accelerator"], found["cluster.scale_up.shape"]) == ("tpu-v7x", [4, 4, 4])


def test_a_launch_of_the_base_model_states_its_batch_and_heads() -> None:
    """Earlier releases have one number of heads, those of queries and of keys."""
    text = "python3 MaxText/train.py MaxText/configs/base.yml per_device_batch_size=2 remat_policy=full {}\n"
    plain = given(read(text.format("max_target_length=2048 global_parameter_scale=64")))
    assert (plain["layout.micro_batch"], plain["layout.recompute"]) == (2, "full")
    assert (plain["layout.framework"], plain["workload.sequence_length"]) == ("maxtext", 2048)
    sizes = given(read(text.format("base_emb_dim=8192 base_num_heads=32 base_num_decoder_layers=40")))
    assert (sizes["workload.model.heads"], sizes["workload.model.kv_heads"]) == (32, 32)


@pytest.mark.parametrize(
    ("more", "layers", "moe_layers"),
    [
        ("decoder_block=llama2", 13, None),
        ("decoder_block=gemma2", 26, None),  # a block of Gemma 2 is a layer with a window and one without
        ("decoder_block=llama4 num_experts=16 interleave_moe_layer_step=2", 13, 6),  # of 13, each second
        ("decoder_block=deepseek num_experts=64 first_num_dense_layers=3", 13, 10),
    ],
)
def test_layers_are_those_of_the_blocks(more: str, layers: int, moe_layers: int | None) -> None:
    sizes = "base_emb_dim=8192 base_num_query_heads=32 base_num_decoder_layers=13"
    found = given(read(f"python3 -m MaxText.train MaxText/configs/base.yml per_device_batch_size=2 {sizes} {more}\n"))
    assert (found["workload.model.layers"], found.get("workload.model.moe_layers")) == (layers, moe_layers)
