"""Lengths of traces and samples of reinforcement learning: what each key gives, and what is assumed without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clusterspec import document as documents
from clusterspec.cluster import resolve
from clusterspec.cluster.requests import Lengths, Serving
from clusterspec.cluster.resolution import ResolutionLog
from clusterspec.cluster.samples import Rl
from clusterspec.cluster.serving import _drawable_percentile, resolved_lengths
from clusterspec.finding import Problem
from clusterspec.logs.traces import TraceLengths, TraceSummary
from clusterspec.source import Source
from clusterspec.spec import read
from clusterspec.spec.model import LengthsSpec, Spec
from tests.cluster.resolving import HEAD, assumed, catalog, resolve_text
from tests.effort import each

TRACE = TraceSummary(5000, 12.5, 1.75, TraceLengths(900, 4000, 9000), TraceLengths(250, 1000, 2000))
BARE = TRACE._replace(answers=None)


def requests(lengths: str, traces: dict[str, TraceSummary]) -> tuple[Serving | None, list[Problem], dict[str, Any]]:
    """The requests of a plan, its problems and what is assumed of lengths."""
    text = (
        "cluster: {platform: dgx-h100, nodes: 1}\n"
        f"workload: {{kind: serve, model: llama-3.1-8b, serving: {{{lengths}, concurrency: 8}}}}\nlayout: {{tp: 8}}"
    )
    document, found = documents.load_source(Source("test.yaml", HEAD + text), Path.cwd())
    assert document is not None and not found
    design, problems = resolve(read(document)[0], catalog(), traces)
    said = {key: value for key, value in assumed(design).items() if key.endswith("_tokens.mean")}
    return design.workload.serving if design.workload is not None else None, problems, said


def test_a_trace_gives_the_lengths_of_the_key_that_names_it() -> None:
    """Prompts have the column of prompts, answers that of answers."""
    found, problems, said = requests("input_tokens: {trace: a.csv}, output_tokens: {trace: a.csv}", {"a.csv": TRACE})
    assert found is not None and problems == []
    assert (found.input_tokens, found.output_tokens) == (900, 250)
    assert (found.input_lengths, found.output_lengths) == (Lengths(900, 4000, 9000), Lengths(250, 1000, 2000))
    assert list(said.values()) == [900, 250]


FAULTS: tuple[tuple[str, dict[str, TraceSummary], list[tuple[str, str]]], ...] = (
    ("input_tokens: {trace: b.csv}, output_tokens: 9", {"a.csv": TRACE}, [("missing-key", "b.csv cannot be read")]),
    (
        "input_tokens: 9, output_tokens: {trace: a.csv}",
        {"a.csv": BARE},
        [("missing-key", "a.csv has no column output_tokens")],
    ),
    (
        "input_tokens: {trace: a.csv, mean: 7}, output_tokens: 9",
        {"a.csv": TRACE},
        [("keys-disagree", "states lengths and the trace a.csv")],
    ),
    (
        "input_tokens: {trace: a.csv, max: 7}, output_tokens: 9",
        {"a.csv": TRACE},
        [("keys-disagree", "states lengths and the trace a.csv")],
    ),
)


@each(("lengths", "traces", "told"), FAULTS)
def test_a_trace_without_lengths_is_reported_once(
    lengths: str, traces: dict[str, TraceSummary], told: list[tuple[str, str]]
) -> None:
    found, problems, _ = requests(lengths, traces)
    assert [one.rule for one in problems] == [rule for rule, _ in told]
    assert all(words in one.message for one, (_, words) in zip(problems, told, strict=True)), problems
    assert (found is None) == (told[0][0] == "missing-key")


@pytest.mark.parametrize(
    ("mean", "p99", "most", "drawn"),
    [(100, 500, 900, 500), (100, 50, 900, 100), (100, 500, 400, 400), (100, 2000, 9000, 1400), (100, 2000, 1300, 1300)],
)
def test_a_percentile_is_drawn_between_the_mean_and_what_a_log_normal_can_have(
    mean: int, p99: int, most: int, drawn: int
) -> None:
    assert _drawable_percentile(TraceLengths(mean, p99, most)) == drawn


LENGTHS = (  # mean, 99th percentile, maximum; the lengths, and whether they contradict
    ((100, None, None), Lengths(100, 100, None), False),
    ((100, 100, 100), Lengths(100, 100, 100), False),
    ((100, 1400, None), Lengths(100, 1400, None), False),
    ((100, 1401, None), Lengths(100, 100, None), True),
    ((100, 99, None), Lengths(100, 100, None), True),
    ((100, 300, 300), Lengths(100, 300, 300), False),
    ((100, 300, 299), Lengths(100, 100, None), True),
    ((100, None, 99), Lengths(100, 100, None), True),
)


@each(("keys", "lengths", "contradict"), LENGTHS)
def test_lengths_ascend_and_vary_no_more_than_a_log_normal_can(
    keys: tuple[int, int | None, int | None], lengths: Lengths, contradict: bool
) -> None:
    log = ResolutionLog(Spec("x"))
    mean, p99, most = keys
    found = resolved_lengths(LengthsSpec(mean=mean, p99=p99, max=most), ("workload", "serving", "input_tokens"), log)
    assert found == lengths and bool(log.problems) == contradict
    assert resolved_lengths(7, ("input_tokens",), log) == Lengths(7, 7, None)
    assert resolved_lengths(None, ("input_tokens",), log) is None
    assert resolved_lengths(LengthsSpec(p99=9), ("input_tokens",), log) is None


def samples(keys: str) -> tuple[Rl, dict[str, Any]]:
    """The samples of a step, and what is assumed of them, without the section's name."""
    design, problems = resolve_text(
        "cluster: {platform: dgx-h100, nodes: 4}\nworkload: {kind: rl, model: llama-3.1-8b, rl: {prompts_per_step: 64, "
        f"input_tokens: 512, output_tokens: 1000{keys}}}}}\nlayout: {{tp: 2}}"
    )
    assert design.workload is not None and design.workload.rl is not None, problems
    said = {key.removeprefix("workload.rl."): value for key, value in assumed(design).items() if ".rl." in key}
    return design.workload.rl, said


def test_samples_are_on_policy_and_single_unless_the_spec_states_otherwise() -> None:
    found, said = samples("")
    assert (found.prompts, found.samples_per_prompt, found.turns, found.environment_time) == (64, 1, 1, 0.0)
    assert (found.minibatches, found.epochs, found.max_staleness, found.batches_in_flight) == (1, 1, 0, 0.0)
    assert (found.algorithm, found.placement, found.recorded) == ("grpo", "colocated", False)
    assert {key: said[key] for key in ("samples_per_prompt", "minibatches", "max_staleness", "algorithm")} == {
        **{"samples_per_prompt": 1, "minibatches": 1, "max_staleness": 0, "algorithm": "grpo"},
    }
    stated = ", samples_per_prompt: 8, turns: 3, environment_time: 2 s, minibatches: 4, epochs: 2, max_staleness: 2"
    found, said = samples(stated + ", algorithm: dapo, log_probabilities: rollout, rollout: {nodes: 2}")
    assert (found.samples, found.turns, found.environment_time) == (512, 3, 2.0)
    assert (found.minibatches, found.epochs, found.max_staleness, found.batches_in_flight) == (4, 2, 2, 2.0)
    assert (found.algorithm, found.placement, found.recorded) == ("dapo", "split", True)
    assert not {"samples_per_prompt", "minibatches", "max_staleness", "algorithm"} & said.keys()
    found, _ = samples(stated + ", batches_in_flight: 1.5, rollout: {nodes: 2}")
    assert found.batches_in_flight == 1.5
    sync = found.sync
    assert (sync.method, sync.ranks, sync.gather, sync.load, sync.requests) == (
        *("nccl", "all", "packed", "packed", "stopped"),
    )
    found, _ = samples(", weight_sync: {method: rdma, ranks: one, gather: single, load: single, requests: kept}")
    sync = found.sync
    assert (sync.method, sync.ranks, sync.gather, sync.load, sync.requests) == (
        "rdma",
        "one",
        "single",
        "single",
        "kept",
    )
