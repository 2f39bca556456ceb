"""The tables of levers: every lever has a row of the values that are sold or usual, in the units of data sheets."""

from __future__ import annotations

import pytest

from clusterspec.analysis.levers.effects import neighboring_lever_values
from clusterspec.analysis.levers.keys import LEVERS, WORDS, Lever
from clusterspec.quantity import Quantity
from tests.analysis.jobs import study_of

SCALES = {
    "nic_bandwidth": ("Gb/s", "25 50 100 200 400 800 1600"),
    "oversubscription": (":1", "1 1.5 2 3 4 7 8 16"),
    "scale_up.bandwidth": ("GB/s", "32 64 150 200 300 450 900 1800"),  # PCIe 4 and 5, then NVLink and xGMI
    "scale_up.domain": ("", "1 2 4 8 16 32 64 72 144 576"),
    "storage.bandwidth": ("GB/s", "5 10 20 40 80 160 320 640 1280 2560"),
    "storage.read": ("GB/s", "5 10 20 40 80 160 320 640 1280 2560"),
    "storage.per_client": ("GB/s", "0.5 1 2 5 10 20 40 80"),
    "storage.metadata_rate": ("", "100 1000 10000 100000 1000000 10000000"),
}
"""Steps that are no powers of two, with their unit."""
POWERS = {
    "nodes": (1, 16_384),
    "storage.slots": (1, 16_384),
    "global_batch": (16, 65_536),
    "sequence_length": (1024, 1_048_576),
    "concurrency": (1, 4096),
    "request_rate": (0.125, 1024),
    "input_tokens": (128, 131_072),
}
"""Levers that double from the first to the last value."""
SLOWER = {"oversubscription", "sequence_length", "concurrency", "request_rate", "input_tokens"}
"""Levers of which more makes a step longer; of all others more makes none longer."""
COUNTS = {"scale_up.domain", "nodes", "storage.slots", "global_batch", "sequence_length"}
WORDED = {
    "recompute": ("none", "selective", "full"),
    "sharding": ("none", "zero1", "zero2", "fsdp", "hsdp"),
    "precision": ("bf16", "fp8", "fp4"),
    "overlap.tp": ("none", "partial", "full"),
    "overlap.dp": (False, True),
    "micro_batch": (1, 2, 4, 8, 16),
}
BYTES = {"Gb/s": 1e9 / 8, "GB/s": 1e9, ":1": 1.0, "": 1.0}
FULL = """
cluster:
  platform: dgx-h100
  nodes: 16
  scale_out: {technology: roce-v2, nic_bandwidth: 400 Gb/s, oversubscription: 2:1}
  networks: {storage: {bandwidth: 40 GB/s, read: 80 GB/s, per_client: 5 GB/s, slots: 64, metadata_rate: 10000}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, tp: 2}
"""
SERVED = """
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 2000, output_tokens: 500, LOAD}}
layout: {framework: vllm, tp: 1}
"""


def test_every_lever_has_a_row_and_its_words() -> None:
    assert {*SCALES} | {*POWERS} == {*LEVERS} and not {*SCALES} & {*POWERS}
    assert {name: values for name, (_, values, _) in WORDS.items()} == WORDED
    assert {name for name, lever in LEVERS.items() if lever.better == -1} == SLOWER
    assert {lever.better for lever in LEVERS.values()} == {1, -1}
    assert {name for name, lever in LEVERS.items() if lever.whole} == COUNTS


@pytest.mark.parametrize("name", SCALES)
def test_steps_are_the_rates_and_ratios_that_are_sold(name: str) -> None:
    unit, values = SCALES[name]
    assert LEVERS[name].steps == pytest.approx([float(each) * BYTES[unit] for each in values.split()])


@pytest.mark.parametrize("name", POWERS)
def test_steps_of_counts_double_from_the_first_to_the_last(name: str) -> None:
    first, last = POWERS[name]
    wanted = [first]
    while wanted[-1] < last:
        wanted.append(2 * wanted[-1])
    assert LEVERS[name].steps == tuple(map(float, wanted))


def written_number(lever: Lever, value: float) -> float:
    """The SI number that a spec states after a lever moved to a value."""
    made = lever.written(value)
    one = made[0] if isinstance(made, tuple) else made
    if not isinstance(one, Quantity):
        return float(str(one))
    number, _, unit = one.written.removesuffix(" unidirectional").removesuffix(":1").partition(" ")
    assert one.value == value
    return float(number) * BYTES[unit]


@pytest.mark.parametrize("name", LEVERS)
def test_a_written_step_reads_as_its_value(name: str) -> None:
    lever = LEVERS[name]
    counted = name in COUNTS | {"concurrency", "input_tokens"}
    for value in (*lever.steps, *(() if counted else (1.23456 * step for step in lever.steps))):
        assert written_number(lever, value) == pytest.approx(value, rel=5.1e-6)  # six digits
    if counted:
        assert lever.written(7.9) == 7


PRESENT = {
    "nic_bandwidth": 50e9,
    "oversubscription": 2.0,
    "scale_up.bandwidth": 450e9,
    "scale_up.domain": 8.0,
    "nodes": 16.0,
    "storage.bandwidth": 40e9,
    "storage.read": 80e9,
    "storage.per_client": 5e9,
    "storage.slots": 64.0,
    "storage.metadata_rate": 1e4,
    "global_batch": 256.0,
    "sequence_length": 8192.0,
    "concurrency": None,
    "request_rate": None,
    "input_tokens": None,
}


def test_every_lever_reads_its_figure_from_a_design() -> None:
    design = study_of(FULL).design
    assert {name: lever.value(design) for name, lever in LEVERS.items()} == PRESENT
    for load, value in (("concurrency: 48", 48.0), ("request_rate: 2.5", 2.5)):
        served = study_of(SERVED.replace("LOAD", load)).design
        name = load.partition(":")[0]
        other = "request_rate" if name == "concurrency" else "concurrency"
        assert (LEVERS[name].value(served), LEVERS[other].value(served)) == (value, None)
        assert LEVERS["input_tokens"].value(served) == 2000.0
        assert LEVERS["storage.read"].value(served) is None


def test_a_read_rate_that_is_not_stated_is_the_rate_of_the_storage() -> None:
    design = study_of(FULL.replace(" read: 80 GB/s,", "")).design
    assert LEVERS["storage.read"].value(design) == 40e9


def test_values_around_a_design_hold_its_own_once_and_no_more_than_asked() -> None:
    found = neighboring_lever_values(study_of(FULL), 1)
    assert found == {
        "nic_bandwidth": (25e9, 50e9, 100e9),
        "oversubscription": (1.5, 2.0, 3.0),
        "scale_up.bandwidth": (300e9, 450e9, 900e9),
        "scale_up.domain": (4.0, 8.0, 256.0),  # half a board, a board, and boards behind NVLink switches
        "nodes": (8.0, 16.0, 32.0),
        "storage.bandwidth": (20e9, 40e9, 80e9),
        "global_batch": (128.0, 256.0, 512.0),
        "sequence_length": (4096.0, 8192.0, 16384.0),
    }


@pytest.mark.parametrize(
    ("platform", "around"),
    [
        ("dgx-h100", (300e9, 450e9, 900e9)),
        ("aws-trn2-48xlarge", (192e9, 512e9, 640e9)),
        ("gaudi3-hls", (262.5e9, 525e9)),
    ],
)
def test_links_take_the_bandwidths_of_their_family(platform: str, around: tuple[float, ...]) -> None:
    study = study_of(f"cluster: {{platform: {platform}, nodes: 2}}\n")
    assert neighboring_lever_values(study, 1)["scale_up.bandwidth"] == pytest.approx(around)
