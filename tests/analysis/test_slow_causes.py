"""Causes of slow runs by what people observe, and the check that decides between the first two."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.cause_meanings import MEANINGS
from clusterspec.analysis.diagnosis.deciding_checks import CHECKS, PARTS, Part, deciding_check
from clusterspec.analysis.diagnosis.slow_causes import OF_SCOPES, cause_scores, observation_weights
from clusterspec.analysis.diagnosis.suspected_causes import next_step
from clusterspec.logs.reports.slow_symptoms import OBSERVED, symptom_statements
from clusterspec.results.diagnosis import Cause, ComparedCollective
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import read

NODE = "{platform: dgx-h100, nodes: 1}"
NODES = "{platform: dgx-h100, nodes: 2}"
PCIE = "{accelerator: a10g, accelerators_per_node: 2, nodes: 1, scale_up: {topology: pcie, domain: 2}}"


def _read(text: str, machine: str = NODE, ranks: int = 8) -> ComparedCollective:
    found = read(machine, text, ranks)
    assert found is not None
    return found


def test_every_observation_has_weights_of_known_causes_with_a_next_step() -> None:
    assert set(observation_weights()) == {name for name, _ in OBSERVED} | {"low-power"}
    assert set(OF_SCOPES.values()) <= set(observation_weights())
    for causes in observation_weights().values():
        assert all(name in MEANINGS and next_step(name) for name in causes)
        assert max(causes.values()) > 0 and all(abs(weight) <= 4 for weight in causes.values())


def test_observations_add_up() -> None:
    assert cause_scores(["varies", "slow-reads"])["data-loading"] == 1 + 2.5
    assert "data-loading" not in list(cause_scores(["slow-writes"]))


def test_causes_by_observation_are_possible_and_ordered() -> None:
    text = "Our job is slow. It gets slower after some hours, and host memory shows 245G of 252G."
    found = _read(text)
    assert names(found)[0] == "host-memory-full" and not found.is_decided
    assert all("nothing in the input decides" in each.evidence for each in found.causes)


def test_a_cause_that_the_machine_cannot_have_is_not_named() -> None:
    text = "With two GPUs our training is slower than with one."
    assert "no-direct-links" in names(_read(text))
    assert "no-direct-links" not in names(_read(text, PCIE, 2))


def test_a_line_that_states_a_cause_precedes_observations() -> None:
    text = "Our job is slow on two nodes.\npid 7's current affinity list: 0"
    assert names(_read(text, NODES, 16)) == ["core-binding"]


def test_the_check_decides_between_parts_of_the_machine() -> None:
    found = _read("Our training is slow: the GPUs are idle half of the time, at 40 %.")
    first = [name for name in names(found) if name in PARTS]
    assert PARTS[first[0]] != PARTS[first[1]] and found.deciding.startswith("time steps with one batch")
    assert _read("Our training crashed with 2 GPUs.\nCUDA error: out of memory").deciding == ""


def test_every_pair_of_parts_has_a_check() -> None:
    assert set(PARTS) <= set(MEANINGS) and set(PARTS.values()) == set(Part)
    parts = set(Part) - {Part.RELEASES}
    for one in parts:
        assert all(frozenset({one, other}) in CHECKS for other in parts - {one})


@pytest.mark.parametrize(("second", "text"), [("release-fault", "run the release before"), ("core-binding", "")])
def test_a_release_is_decided_by_another_one(second: str, text: str) -> None:
    found = [Cause(name, "", "", 0.1) for name in ("host-bound", second)]
    assert deciding_check(found).startswith(text) and bool(deciding_check(found)) is bool(text)


def test_what_is_seen_precedes_what_the_words_are_about() -> None:
    topic = "Training is slow. We have 8 data loader workers with num_workers=8"
    assert names(_read(f"{topic}."))[0] == "data-loading"
    assert names(_read(f"{topic}, and only 2 of the 8 cores are busy."))[0] == "core-binding"


@pytest.mark.parametrize(
    ("sentence", "seen"),
    [
        ("Our training pauses every 500 steps.", True),
        ("Our training is slow, and every 10 seconds it stalls.", True),
        ("Our service is slow. Each user sends 200 requests every 10 seconds.", False),  # the load, not a pause
        ("The throughput of our run has periodic dips.", True),
    ],
)
def test_intervals_are_of_pauses_and_not_of_the_load(sentence: str, seen: bool) -> None:
    assert ("symptom periodic" in [name for name, _, _ in symptom_statements(sentence)]) is seen


def test_unlike_copies_are_of_the_host_even_where_a_text_tells_of_no_case() -> None:
    text = "D2H copies reach 110 GB/s on some ranks but 320 GB/s on others, the slow ones set the step time."
    assert names(_read(text))[0] == "core-binding"


def test_lines_of_the_kernel_and_of_pytorch_name_what_they_do() -> None:
    assert names(_read("     4.1%  python  [kernel]  [k] migrate_misplaced_folio"))[0] == "numa-balancing"
    assert names(_read("| cudaMalloc retries: 12         |        cuda OOMs: 0            |"))[0] == "memory-full"
    assert read(NODE, "| cudaMalloc retries: 0          |        cuda OOMs: 0            |", 8) is None
    assert names(_read("W0903 [0/8] torch._dynamo hit config.recompile_limit (8)"))[0] == "kernel-compilation"


@pytest.mark.parametrize(
    ("sentence", "seen"),
    [
        ("Our step is slow: 30 ms of it are cudaStreamSynchronize.", "host-waits"),
        ("Our server is slow: images are decoded in one process.", "one-thread"),
        ("TTFT of our service is high while the tokenizer is busy.", "prepares-on-host"),
        ("Our offline script reaches 3,000 tokens/s, the API server only 1,100: why is it slow?", "server-slower"),
        ("Our loading is slow from the bucket.", "object-store"),
        ("Our training is slow: the store answers 503 at times.", "refused-requests"),
        ("Our job is slow in a guest with passthrough.", "virtual-machine"),
        ("Our training is slow, and only 3 of the 64 cores are busy.", "few-cores-busy"),
        ("Our engine is slow with another CPU and the same GPU. The same GPU is fast with a different CPU.", ""),
        ("Our step is slow with memory of the GPUs almost full.", "frequent-allocation"),
        ("Our evaluation is slow: every batch has another length.", "unlike-shapes"),
        ("Our loading of weights is slow, with many page faults.", "page-faults"),
    ],
)
def test_hosts_and_work_are_observed(sentence: str, seen: str) -> None:
    found = [name.partition(" ")[2] for name, _, _ in symptom_statements(sentence)]
    assert (seen or "other-processor") in found


@pytest.mark.parametrize(
    ("sentence", "read"),
    [
        ("GPU utilization is below 40 % on an A100.", True),  # a figure of a case
        ("Low GPU utilization may be due to data.", False),  # of no case
    ],
)
def test_a_figure_tells_of_a_case(sentence: str, read: bool) -> None:
    assert bool(list(symptom_statements(sentence))) is read


def test_data_that_are_in_time_are_no_cause() -> None:
    text = "Our training has troughs of GPU utilization at 0 % every 100 optimizer steps."
    assert "data-loading" in names(_read(text))
    assert names(_read(f"{text} The reader queue is always full and data wait is negligible."))[0] == "periodic-pauses"


@pytest.mark.parametrize(
    ("sentence", "seen"),
    [
        ("Our step takes 5 s with async checkpoints, without one 0.5 s: slow.", "at-checkpoints"),
        ("Our scaling is bad, and the batch size is fixed.", "fixed-batch"),
        ("Our bandwidth is low: two of the four NICs have no traffic.", "nics-unused"),
        ("Our FSDP job is slow, sharded over all 64 devices.", "sharded-everywhere"),
        ("Our job is slow at first.", "first-slower"),
        ("Our training is slow: one machine is faster than two.", "between-nodes"),
    ],
)
def test_work_and_network_are_observed(sentence: str, seen: str) -> None:
    assert seen in [name.partition(" ")[2] for name, _, _ in symptom_statements(sentence)]


def test_the_same_batch_on_each_accelerator_is_no_little_work() -> None:
    found = [name for name, _, _ in symptom_statements("Our run is slow with the same batch per GPU.")]
    assert "symptom fixed-batch" not in found


def test_statistics_of_a_job_show_idle_accelerators() -> None:
    bar = "  GPU utilization  [||||||||||                                     {}%]"
    assert names(_read(bar.format(21)))[0] == "data-loading"
    assert read(NODE, bar.format(88), 8) is None
