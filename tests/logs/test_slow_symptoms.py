"""What people observe of slow runs, in sentences that no thread has."""

from __future__ import annotations

import re

import pytest

from clusterspec.logs.reports.slow_symptoms import OBSERVED, REPORTED, symptom_statements
from tests.test_patterns import LINEAR, growth


def _observed(text: str) -> set[str]:
    return {name.partition(" ")[2] for name, _, _ in symptom_statements(text)}


@pytest.mark.parametrize(
    ("text", "symptom"),
    [
        ("Our epochs get longer and longer, the tenth takes twice as long.", "later-slower"),
        ("We see a slow start: the first 20 steps take 40 s each, later ones 2 s.", "first-slower"),
        ("Our job is slow, since rank 5 is slower than all others.", "one-part"),
        ("Our training is slow and the GPU utilization is at 30 %.", "idle-accelerators"),
        ("Our training is slow although all GPUs show 100 %.", "busy-accelerators"),
        ("Our training is slow, the CPU is at 100 % all the time.", "busy-host"),
        ("Our training becomes slow when the page cache is full.", "full-host-memory"),
        ("On two nodes our job is slower than on one node.", "between-nodes"),
        ("We train with two GPUs, which is slower than one: two GPUs are slower.", "within-node"),
        ("Our throughput is low and fluctuates from run to run.", "varies"),
        ("Our step time has spikes every 50 steps.", "periodic"),
        ("Our throughput is half since we upgraded the image.", "since-change"),
        ("Our busbw is low: large messages drop to 2 GB/s.", "large-sizes"),
        ("In the container our training is slower than outside of it.", "in-container"),
        ("Our busbw is low, while ib_write_bw reaches line rate.", "links-fine"),
        ("Our training is slow, although nccl-tests are fine.", "collectives-fine"),
        ("We train two models at the same time, each on its own GPU, and both are slow.", "side-by-side"),
        ("Our job is slow, since saving a checkpoint takes 20 minutes.", "slow-writes"),
        ("Our training is slow, the images are on an HDD.", "slow-reads"),
    ],
)
def test_an_observation_is_found_in_a_report_of_a_slow_run(text: str, symptom: str) -> None:
    assert symptom in _observed(text)


@pytest.mark.parametrize(
    "text",
    [
        "Our training crashed on two nodes.",  # not slow
        "Slow steps between nodes are of the network.",  # nobody's run
        "INFO 11-01 23:16:33 engine.py:56] Avg throughput is low: 3 tokens/s",
    ],
)
def test_other_texts_have_no_observations(text: str) -> None:
    assert _observed(text) == set()


def test_all_but_one_of_eight_devices_are_no_pair_of_devices() -> None:
    assert _observed("Our training is slow: one of 8 GPUs is slower.") == {"one-part"}


def test_figures_of_power_and_memory_are_observations() -> None:
    text = "Our training is slow at 160 W of 350 W, host memory 214G of 252G used."
    assert {"low-power", "full-host-memory"} <= _observed(text)
    assert _observed("Our training is slow at 340 W of 350 W, host memory 21G of 252G used.") == set()


@pytest.mark.parametrize("words", [REPORTED, *(words for _, words in OBSERVED)])
def test_words_of_observations_take_linear_time(words: str) -> None:
    assert growth(words, re.IGNORECASE, "search")[0] <= LINEAR
