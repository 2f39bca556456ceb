"""Serving plans: requests, the ranks of an engine, and where experts lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import clusterspec
from clusterspec import document as documents
from clusterspec.cluster import resolve
from clusterspec.cluster.model import Layout, Workload
from clusterspec.cluster.requests import Engines, Lengths, Serving
from clusterspec.logs.traces import TraceLengths, TraceSummary
from clusterspec.records import replace
from clusterspec.source import Source
from clusterspec.spec import read
from tests.cluster.resolving import HEAD, assumed, catalog, clean, resolve_text

REQUESTS = "input_tokens: 8192, output_tokens: 1024"


def plan(serving: str, layout: str = "{tp: 8}", *, model: str = "llama-3.1-70b", nodes: int = 2) -> Any:
    return clean(
        f"cluster: {{platform: dgx-h100, nodes: {nodes}}}\n"
        f"workload: {{kind: serve, model: {model}, serving: {{{serving}}}}}\nlayout: {layout}"
    )


def serving_of(serving: str) -> Serving:
    workload: Workload = plan(serving).workload
    assert workload.serving is not None
    return workload.serving


def test_a_request_is_as_long_as_its_input_and_output() -> None:
    workload = plan(f"{REQUESTS}, concurrency: 64").workload
    assert (workload.sequence_length, workload.global_batch) == (9216, 64)


@pytest.mark.parametrize(
    ("written", "load"),
    [
        ("concurrency: 64", "closed"),
        ("request_rate: 3", "open"),
        ("requests: 100", "offline"),
        ("concurrency: 64, load: static", "static"),
    ],
)
def test_the_load_follows_from_what_is_written(written: str, load: str) -> None:
    assert serving_of(f"{REQUESTS}, {written}").load == load
    assert ("workload.serving.load" in assumed(plan(f"{REQUESTS}, {written}"))) == ("load" not in written)


def test_written_values_are_kept() -> None:
    found = serving_of(
        f"{REQUESTS}, concurrency: 4, requests: 40, prefix_hit: 0.25, max_sequences: 128, chunk_tokens: 2048,"
        " memory_fraction: 0.85, captured_graphs: false, speculative: {tokens: 3, acceptance: 0.6},"
        " targets: {ttft: 2 s, tpot: 30 ms, percentile: 99}"
    )
    assert (found.concurrency, found.requests, found.max_sequences, found.chunk_tokens) == (4, 40, 128, 2048)
    assert (found.prefix_hit, found.memory_fraction, found.captured_graphs) == (0.25, 0.85, False)
    assert (found.draft_tokens, found.draft_acceptance) == (3, 0.6)
    assert found.targets == (("ttft", 99.0, 2.0, "ttft"), ("tpot", 99.0, 0.03, "tpot"))


TRACE = TraceSummary(5000, 12.5, 1.75, TraceLengths(900, 4000, 9000), TraceLengths(250, 1000, 2000))
"""5,000 requests at 12.5 a second in bursts."""


def traced(serving: str, summary: TraceSummary = TRACE) -> tuple[Serving, dict[str, Any]]:
    """The requests of a plan that names a trace, and what is assumed of them, without the section's name."""
    text = (
        "cluster: {platform: dgx-h100, nodes: 2}\n"
        f"workload: {{kind: serve, model: llama-3.1-70b, serving: {{{serving}}}}}\nlayout: {{tp: 8}}"
    )
    document, problems = documents.load_source(Source("test.yaml", HEAD + text), Path.cwd())
    assert document is not None and not problems
    design, problems = resolve(read(document)[0], catalog(), {"day.csv": summary})
    assert design.workload is not None and design.workload.serving is not None and not problems
    said = assumed(design)
    return design.workload.serving, {
        key.removeprefix("workload.serving."): value for key, value in said.items() if key.startswith("workload.serv")
    }


def test_a_trace_gives_the_rate_the_bursts_and_the_lengths_that_the_spec_leaves_open() -> None:
    found, said = traced("arrivals: {trace: day.csv}")
    assert (found.load, found.request_rate, found.arrival_cv) == ("open", 12.5, 1.75)
    assert (found.input_tokens, found.output_tokens) == (900, 250)
    assert {key: said[key] for key in ("input_tokens", "output_tokens", "request_rate", "arrivals.cv")} == {
        "input_tokens": 900, "output_tokens": 250, "request_rate": 12.5, "arrivals.cv": 1.75,
    }  # fmt: skip


def test_written_requests_have_precedence_over_those_of_their_trace() -> None:
    """A stated process, variation, rate or length stays; a trace whose requests all arrive at once has no rate."""
    cases: list[tuple[str, tuple[float | None, float, int, int]]] = [
        ("input_tokens: 700, arrivals: {trace: day.csv}", (12.5, 1.75, 700, 250)),
        ("output_tokens: 70, arrivals: {trace: day.csv}", (12.5, 1.75, 900, 70)),
        ("request_rate: 3, arrivals: {trace: day.csv}", (3.0, 1.0, 900, 250)),
        ("arrivals: {trace: day.csv, process: poisson}", (12.5, 1.0, 900, 250)),
        ("arrivals: {trace: day.csv, cv: 2.5}", (12.5, 2.5, 900, 250)),
    ]
    for written, wanted in cases:
        found, _ = traced(written)
        assert (found.request_rate, found.arrival_cv, found.input_tokens, found.output_tokens) == wanted, written
    found, said = traced("arrivals: {trace: day.csv}", TRACE._replace(variation=None))
    assert (found.request_rate, found.arrival_cv) == (12.5, 1.0) and "arrivals.cv" not in said


SPARSE = [
    ("minimax-m3", None),
    ("deepseek-v4-flash", None),
    ("glm-5.2", "the selection of a layer before"),
    ("deepseek-v3.2", None),
    ("deepseek-v3", None),
]


@pytest.mark.parametrize(("model", "listed"), SPARSE)
def test_what_the_times_make_of_a_sparse_index_is_listed(model: str, listed: str | None) -> None:
    assert assumed(plan(REQUESTS, model=model)).get("workload.model.sparse_attention") == listed


def test_missing_values_are_assumptions() -> None:
    found, keys = serving_of(REQUESTS), assumed(plan(REQUESTS))
    assert (found.memory_fraction, found.chunk_tokens, found.captured_graphs) == (0.9, 8192, True)
    for key in ("memory_fraction", "chunk_tokens", "captured_graphs"):
        assert keys[f"workload.serving.{key}"] == getattr(found, key)
    assert (found.prefix_hit, found.draft_tokens, found.percentile, found.max_sequences) == (0, 0, 50, None)


@pytest.mark.parametrize("lacking", ["input_tokens", "output_tokens"])
def test_requests_without_a_length_are_reported(lacking: str) -> None:
    given = {"input_tokens": "input_tokens: 10", "output_tokens": "output_tokens: 10"}
    rest = [text for name, text in given.items() if name != lacking]
    _, problems = resolve_text(
        "cluster: {platform: dgx-h100, nodes: 1}\n"
        f"workload: {{kind: serve, model: llama-3.1-8b, serving: {{{rest[0]}}}}}"
    )
    assert [(one.rule, one.path) for one in problems] == [("missing-key", ("workload", "serving", lacking))]


def layout_of(layout: str, model: str = "deepseek-v3", nodes: int = 2) -> Layout:
    found: Layout = plan(f"{REQUESTS}, concurrency: 64", layout, model=model, nodes=nodes).layout
    return found


def test_an_engine_has_tp_times_attention_dp_times_pp_ranks() -> None:
    """16 ranks in engines of 2 × 4 × 1 are two replicas."""
    found = layout_of("{framework: vllm, tp: 2, attention_dp: 4, ep: 8}")
    assert (found.dp, found.attention_dp, found.ranks, found.data_ranks) == (2, 4, 16, 8)
    assert layout_of("{framework: vllm, tp: 2, attention_dp: 2, pp: 2, ep: 4}").dp == 2


@pytest.mark.parametrize(
    ("layout", "expert_tp"),
    [
        ("{tp: 8}", 8),
        ("{tp: 8, ep: 8}", 1),
        ("{tp: 8, ep: 2}", 4),
        ("{tp: 2, attention_dp: 4, ep: 2}", 4),
        ("{tp: 1, attention_dp: 16, ep: 16}", 1),
        ("{tp: 8, ep: 4, expert_tp: 1}", 1),
    ],
)
def test_experts_lie_over_all_ranks_of_an_engine(layout: str, expert_tp: int) -> None:
    assert layout_of(layout).expert_tp == expert_tp


@pytest.mark.parametrize(("layout", "copies"), [("{tp: 16, ep: 16}", 0), ("{tp: 8, ep: 8}", 0), ("{tp: 8, ep: 3}", 2)])
def test_the_fewest_copies_make_experts_divisible(layout: str, copies: int) -> None:
    """256 experts over 3 ranks take 258."""
    assert layout_of(layout).redundant_experts == copies


def test_written_copies_of_experts_have_precedence() -> None:
    found = plan(f"{REQUESTS}, redundant_experts: 32", "{tp: 16, ep: 16}", model="deepseek-v3").layout
    assert found.redundant_experts == 32


def test_a_dense_model_has_no_copies() -> None:
    assert layout_of("{tp: 8, ep: 3}", model="llama-3.1-70b").redundant_experts == 0


def test_separate_engines_are_a_layout_by_themselves() -> None:
    design = clean(
        "cluster: {platform: dgx-h100, nodes: 4}\n"
        f"workload: {{kind: serve, model: deepseek-v3, serving: {{{REQUESTS}, disaggregated: {{"
        "prefill: {replicas: 2, tp: 4, ep: 4}, decode: {tp: 1, attention_dp: 24, ep: 24}}}}"
    )
    assert design.workload and design.workload.serving and design.layout
    serving, layout = design.workload.serving, design.layout
    assert serving.prefill == Engines(replicas=2, tp=4, attention_dp=1, ep=4, expert_tp=1, pp=1)
    assert serving.decode == Engines(1, 1, 24, 24, 1, 1, redundant_experts=8)  # 264 experts over 24 ranks
    assert (serving.prefill.ranks, serving.decode.ranks) == (4, 24)
    assert (layout.attention_dp, layout.ep, layout.dp, layout.redundant_experts) == (24, 24, 1, 8)


def test_training_has_no_replicas_of_attention() -> None:
    design = clean(
        "cluster: {platform: dgx-h100, nodes: 1}\n"
        "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 8}\nlayout: {tp: 2, attention_dp: 4}"
    )
    assert design.layout is not None
    assert (design.layout.attention_dp, design.layout.dp) == (1, 4)


def test_a_serving_plan_lists_nothing_of_training() -> None:
    keys = assumed(plan(f"{REQUESTS}, concurrency: 8"))
    for key in ("optimizer", "gradient_precision"):
        assert f"workload.{key}" not in keys
    for key in ("micro_batch", "recompute", "sharding", "optimizer_states.master"):
        assert f"layout.{key}" not in keys
    assert keys["workload.kv_precision"] == "bf16"


def findings(workload: str, layout: str, nodes: int = 2) -> set[str]:
    text = (
        f"clusterspec: 1\nname: test\ncluster: {{platform: dgx-h200, nodes: {nodes}}}\n"
        f"workload: {{kind: serve, model: deepseek-v3, precision: fp8, parameter_precision: fp8, {workload}}}\n{layout}"
    )
    return {finding.rule for finding in clusterspec.load(text).findings if finding.severity == "error"}


@pytest.mark.parametrize(
    ("layout", "rules"),
    [
        ("layout: {framework: sglang, attention_dp: 16, ep: 16}", set()),
        ("layout: {framework: sglang, tp: 2, attention_dp: 4, ep: 8}", set()),
        ("layout: {framework: sglang, tp: 2, attention_dp: 3, ep: 6}", {"world-size-mismatch"}),
        ("layout: {framework: sglang, tp: 4, attention_dp: 2, ep: 8, dp: 4}", {"world-size-mismatch"}),
        ("layout: {framework: sglang, tp: 4, attention_dp: 2, ep: 8, dp: 2}", set()),
        ("layout: {framework: sglang, tp: 2, attention_dp: 6, ep: 12, dp: 1}", set()),
    ],
)
def test_replicas_of_attention_count_in_the_world(layout: str, rules: set[str]) -> None:
    assert findings(f"serving: {{{REQUESTS}, concurrency: 8}}", layout) == rules


@pytest.mark.parametrize(("nodes", "rules"), [(3, set()), (4, set()), (2, {"world-size-mismatch"})])
def test_separate_engines_need_no_more_ranks_than_there_are(nodes: int, rules: set[str]) -> None:
    """8 ranks prefill and 16 decode: 24 of three nodes."""
    engines = "disaggregated: {prefill: {tp: 8}, decode: {attention_dp: 16, ep: 16}}"
    assert findings(f"serving: {{{REQUESTS}, concurrency: 8, {engines}}}", "", nodes) == rules


def test_engines_may_leave_ranks_idle() -> None:
    """Two engines of two ranks on a node of eight: four accelerators make the tokens, and their number is a note."""
    text = (
        "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\n"
        f"workload: {{kind: serve, model: llama-3.1-8b, serving: {{{REQUESTS}, concurrency: 8}}}}\n"
        "layout: {tp: 2, dp: 2}"
    )
    one = clusterspec.load(text)
    (idle,) = (finding for finding in one.findings if finding.rule == "world-size-mismatch")
    assert idle.severity == "note" and "4 of 8 ranks are idle" in idle.message and "`dp: 4`" in str(idle.help)
    assert one.plan.serving is not None and one.plan.serving.accelerators == 4


def test_copies_make_experts_divisible_for_the_rules_too() -> None:
    layout = "layout: {framework: sglang, tp: 12, ep: 12}"
    few = f"serving: {{{REQUESTS}, concurrency: 8, redundant_experts: 1}}"
    enough = f"serving: {{{REQUESTS}, concurrency: 8, redundant_experts: 8}}"
    assert "experts-indivisible-by-ep" in findings(few, layout, 3)
    assert "experts-indivisible-by-ep" not in findings(enough, layout, 3)


CONTRADICTIONS = {  # keys with or in place of 8,192 tokens of input and 1,024 of output, and the key with a problem
    "session: {turns: 4, think_time: 10 s}": "session.growth",
    # four turns that add 3,000 tokens each: the first prompt has 8,192 − 1.5 × 3,000 = 3,692
    "session: {turns: 4, think_time: 10 s, growth: 3000, shared_prefix: 3693}": "session",
    "prefix_hit: 0.5, session: {turns: 4, think_time: 10 s, growth: 30}": "session",
    "cache_tiers: [{medium: host, capacity: 1 TB, read: 50 GB/s}]": "session",
    "prefix_hit: 0.5, cache_tiers: [{medium: host, capacity: 1 TB}]": "cache_tiers.0.read",
    "input_tokens: {mean: 100, p99: 99}": "input_tokens",
    "input_tokens: {mean: 100, p99: 1401}": "input_tokens",
    "input_tokens: {mean: 100, p99: 300, max: 299}": "input_tokens",
    "concurrency: 8, arrivals: {process: gamma, cv: 2}": "arrivals",
    "request_rate: 8, arrivals: {process: poisson, cv: 2}": "arrivals.cv",
    "request_rate: 8, concurrency: 8": "request_rate",
    "expert_load: {alpha: 1}": "expert_load",
}


def test_sections_that_contradict_are_reported_at_their_key() -> None:
    for keys, key in CONTRADICTIONS.items():
        prompt = "" if "input_tokens" in keys else "input_tokens: 8192, "
        serving = f"{prompt}output_tokens: 1024, {keys}"
        _, problems = resolve_text(
            "cluster: {platform: dgx-h100, nodes: 2}\n"
            f"workload: {{kind: serve, model: llama-3.1-70b, serving: {{{serving}}}}}\nlayout: {{tp: 8}}\n"
        )
        assert ".".join(map(str, problems[0].path[2:])) == key, (serving, problems)


def test_sessions_and_tiers_are_taken_as_written() -> None:
    """Four turns that add 3,000 tokens each: the mean prompt of 8,192 tokens is the first one and 1.5 × 3,000."""
    found = serving_of(
        f"{REQUESTS}, session: {{turns: 4, think_time: 1 min, growth: 3000, shared_prefix: 3692}}, cache_tiers: ["
        "{medium: host, capacity: 1 TB, read: 50 GB/s}, "
        "{medium: nvme, capacity: 30 TB, read: 12 GB/s, write: 6 GB/s, scope: plan}]"
    )
    assert found.session is not None
    assert tuple(found.session) == (4, 60.0, 3000, 3692, 3692.0)
    assert [(tier.medium, tier.capacity, tier.read, tier.write, tier.scope) for tier in found.tiers] == [
        ("host", 1e12, 50e9, 50e9, "node"),
        ("nvme", 30e12, 12e9, 6e9, "plan"),
    ]


def test_the_edges_of_lengths_loads_and_targets_are_allowed() -> None:
    found = serving_of(
        "input_tokens: {mean: 100, p99: 1400, max: 1400}, output_tokens: 1024, request_rate: 8, "
        "arrivals: {process: gamma, cv: 2}, targets: {ttft: {p50: 2 s, p90: 3 s}, tpot: 40 ms}, "
        "disaggregated: {prefill: {replicas: 2, tp: 4, pp: 2}, decode: {tp: 8}, "
        "transfer: {send: layer, block_tokens: 64, bandwidth: 25 GB/s}}"
    )
    assert (found.load, found.arrival_cv, found.input_lengths) == ("open", 2, Lengths(100, 1400, 1400))
    assert [(one.quantity, one.percentile, one.seconds) for one in found.targets] == [
        ("ttft", 50.0, 2.0),
        ("ttft", 90.0, 3.0),
        ("tpot", 50.0, 0.04),
    ]
    assert found.prefill is not None and found.decode is not None
    assert (found.prefill.replicas, found.prefill.tp, found.prefill.pp, found.decode.replicas) == (2, 4, 2, 1)
    assert tuple(found.transfer) == ("layer", 64, 25e9, "decode")


LOADS = [  # what is written for a layer of 8 experts, and the load, or the key with a problem
    ("{alpha: 1.2}", (1.2, None, (), False)),
    ("{max_over_mean: 3, placement: balanced}", (0.0, 3, (), True)),
    ("{counts: [8, 1, 1, 1, 1, 1, 1, 2]}", (0.0, None, (8.0, 1, 1, 1, 1, 1, 1, 2.0), False)),
    ("{counts: [8, 1, 1]}", "expert_load.counts"),
    ("{counts: [0, 0, 0, 0, 0, 0, 0, 0]}", "expert_load.counts"),
    ("{alpha: 1.2, max_over_mean: 3}", "expert_load"),
    ("{placement: balanced}", "expert_load.alpha"),
]


def test_the_load_of_experts_is_one_of_its_forms() -> None:
    for written, wanted in LOADS:
        design, problems = resolve_text(
            "cluster: {platform: dgx-h100, nodes: 2}\nworkload: {kind: serve, model: mixtral-8x7b, "
            f"serving: {{{REQUESTS}, expert_load: {written}}}}}\nlayout: {{tp: 8}}\n"
        )
        assert design.workload is not None and design.workload.serving is not None
        load = design.workload.serving.expert_load
        if isinstance(wanted, str):
            assert load is None and [".".join(map(str, one.path[2:])) for one in problems] == [wanted], written
        else:
            assert load is not None and (load.alpha, load.ratio, load.counts, load.balanced) == wanted, written


@pytest.mark.parametrize(
    ("p99", "deviation", "median", "variation"),
    [(2824, 0.5, 0.8825, 0.2840), (1000, 0.0, 1.0, 0.0), (6211, 1.0, 0.6065, 1.7183)],
)
def test_lengths_with_a_heavier_tail_have_a_lower_median(
    p99: int, deviation: float, median: float, variation: float
) -> None:
    """Log-normal with mean 1,000: the 99th percentile is exp(2.3263 s - s s / 2) means, the median exp(-s s / 2)."""
    lengths = Lengths(1000, p99, None)
    found = (lengths.log_deviation, lengths.median_over_mean, lengths.variation)
    assert found == pytest.approx((deviation, median, variation), abs=2e-4)


def test_the_longest_request_is_the_sum_of_the_longest_prompt_and_answer() -> None:
    load = serving_of(f"{REQUESTS}, concurrency: 8")
    long, short, open_ = Lengths(8192, 20_000, 30_000), Lengths(1024, 2000, 4000), Lengths(1024, 2000, None)
    assert replace(load, input_lengths=long, output_lengths=short).longest_request == 34_000
    assert replace(load, input_lengths=long, output_lengths=open_).longest_request is None
    assert replace(load, input_lengths=open_, output_lengths=short).longest_request is None
    assert replace(load, input_lengths=None, output_lengths=short).longest_request is None
    assert replace(load, input_lengths=None).typical_prompt == 1.0
    assert replace(load, input_lengths=Lengths(1000, 2824, None)).typical_prompt == pytest.approx(0.8825, abs=1e-4)
