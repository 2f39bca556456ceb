"""The estimate on a terminal begins with what is wrong, fits one screen, and explains every name that it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clusterspec import analysis, studies
from clusterspec.cost.serving.latency import serving_range
from clusterspec.cost.term import Term
from clusterspec.report import TextStyle, assumption_rows, estimate_text
from clusterspec.report import explanations as estimate_explain
from clusterspec.results.verdict import LEAST
from clusterspec.studies import Study, study_text
from clusterspec.units import display
from tests.effort import sampled, telling, thorough
from tests.settings import SETTINGS

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.yaml"))
SPEC = """\
clusterspec: 1
name: pod
cluster: {platform: dgx-h100, nodes: 127}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512, tokens: 15T}
layout:
  nodes: 64
  tp: 8
  pp: 2
"""
FULL_CACHE = """\
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 1}
workload:
  {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 4000, output_tokens: 500, concurrency: 100000}}
layout: {framework: vllm, tp: 8}
"""
TOO_LARGE = SPEC.replace("pp: 2", "pp: 1").replace("nodes: 64", "nodes: 4")


def study(text: str) -> Study:
    return study_text(text, SETTINGS)


def shown(one: Study) -> str:
    return estimate_text.estimate_as_text(analysis.estimate(one), influences=analysis.influences(one))


@thorough
@pytest.mark.parametrize("path", sampled(EXAMPLES, 5), ids=lambda path: path.stem)
def test_an_estimate_is_one_screen(path: Path) -> None:
    one = studies.study_text(path.read_text("utf-8"), SETTINGS, path.name, path.parent)
    assert len(shown(one).splitlines()) <= 60


def test_a_term_has_a_range_where_both_its_ends_are_known() -> None:
    report = analysis.estimate(study(SPEC))
    for low, high, told in (
        (0.5, 2.0, "  range    500 ms to 2 s"),
        (0.0, 2.0, "  range    0 s to 2 s"),
        (None, None, ""),
    ):
        lines = estimate_explain.term_text(Term("step_time", 1.0, "s", "1", low=low, high=high), report).splitlines()
        assert lines == ["step_time = 1 s", "  formula  1", *([told] if told else [])]


@thorough
def test_an_estimate_begins_with_errors() -> None:
    first, second, *_ = shown(study(TOO_LARGE)).splitlines()
    assert first == "The design has errors"
    assert "error" in second or "does not fit" in second


@thorough
def test_the_figures_of_a_plan_that_does_not_fit_say_so() -> None:
    lines = shown(study(TOO_LARGE)).splitlines()
    for name in ("step time", "tokens per second", "MFU", "time to train"):
        (line,) = (line for line in lines if line.startswith(f"  {name} "))
        assert line.endswith("if it fitted"), line
    assert "if it fitted" not in shown(study(SPEC))


@thorough
def test_what_is_used_is_printed_with_every_throughput_and_time() -> None:
    lines = shown(study(SPEC)).splitlines()
    assert any("uses 512 of 1,016 accelerators" in line for line in lines)
    for name in ("step time", "time to train"):
        (line,) = (line for line in lines if line.startswith(f"  {name} "))
        assert "512 of 1,016" in line
    assert "per accelerator used" in next(line for line in lines if "tokens per second" in line)


RACKS = SPEC.replace(
    "nodes: 127}",
    "nodes: 127, power: {nodes_per_rack: 4}, networks: {storage: {bandwidth: 200 GB/s, capacity: 4 PB}}}",
)
PRICED = f"{RACKS}operations: {{carbon: {{intensity: 0.3}}}}\nprocurement: {{electricity: 0.12, currency: USD}}\n"
PRICED_CACHE = f"{FULL_CACHE}procurement: {{electricity: 0.12, currency: USD}}\n"
COOLED = PRICED.replace("dgx-h100, nodes: 127", "gb200-nvl72, nodes: 128").replace("nodes_per_rack: 4", "feeds: N+1")


TIERS = """\
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 1, host_memory: 2 TB}
workload:
  kind: serve
  model: llama-3.3-70b
  parameter_precision: fp8
  serving:
    input_tokens: 6000
    output_tokens: 350
    request_rate: 2
    session: {turns: 8, think_time: 45 s, growth: 800, shared_prefix: 1500}
    cache_tiers: [{medium: host, capacity: 300 GB, read: 50 GB/s, write: 50 GB/s, scope: engine}]
    targets: {ttft: {p95: 2 s}, tpot: {p95: 50 ms}}
layout: {framework: vllm, tp: 4, dp: 2}
"""


@thorough
@pytest.mark.parametrize("spec", sampled([SPEC, PRICED, COOLED, PRICED_CACHE, TIERS], 12))
def test_every_printed_name_can_be_explained(spec: str) -> None:
    one = study(spec)
    report = analysis.estimate(one)
    lines = shown(one).splitlines()
    first = next(at for at, line in enumerate(lines) if re.match("  (step time|time to first token)  ", line))
    rows = [line for line in lines[first:] if re.match(r"  [A-Za-z]", line)]
    printed = {re.split(r"\s{2,}", line.strip())[0] for line in rows} - {"part", "axis", "assumed"}
    printed = {name for name in printed if not re.match(r"\d|.*warning|.*error", name)}
    expected: dict[str, set[str]] = {
        SPEC: {"step time", "MFU", "tokens per second", "tp", "memory.fragmentation"},
        PRICED: {"checkpoint", "rack", "swing", "energy"},
        COOLED: {"data", "rack", "heat", "energy"},
        PRICED_CACHE: {"time to first token", "cache holds", "energy"},
        TIERS: {"hits, accelerator", "hits, host", "highest concurrency"},
    }
    assert expected[spec] <= printed
    missing = {name for name in printed if estimate_explain.explanation_text(report, name) is None}
    assert missing == set()


GRPO = (EXAMPLES[0].parent / "qwen3-30b-grpo.yaml").read_text("utf-8")


@thorough
@pytest.mark.parametrize("spec", [SPEC, FULL_CACHE, GRPO], ids=["training", "serving", "reinforcement"])
def test_an_explained_figure_has_the_range_of_the_estimate(spec: str) -> None:
    report = analysis.estimate(study(spec))
    plan = report.plan
    shown_ranges: dict[str, tuple[float, ...] | None] = {"memory": plan.memory_range, "step": plan.step_time_range}
    if plan.serving is not None:
        names = {"ttft": "time to first token", "tpot": "time per output token"}
        names |= {"output_tokens_per_second": "output tokens per second"}
        shown_ranges |= {term: tuple(serving_range(plan.serving, name)) for name, term in names.items()}
    if plan.rl is not None:
        shown_ranges["rl_step"] = plan.rl.band
    terms = {term.name: term for term in estimate_explain.explainable_terms(report)}
    for name, ends in shown_ranges.items():
        if ends is not None:
            assert (terms[name].low, terms[name].high) == ends, name


def test_the_range_of_explained_memory_is_wider_than_that_of_its_parts() -> None:
    """The distances of its parts, 16 % of the activations and what the allocator keeps are independent."""
    report = analysis.estimate(study(SPEC))
    use, told = report.plan.memory, estimate_explain.explanation_text(report, "memory") or ""
    assert use is not None and use.total.low is not None and report.plan.stored is not None
    below = use.total.value - use.total.low
    low = use.total.value - (below**2 + (0.16 * use.activations.value) ** 2) ** 0.5
    assert report.plan.stored.error == pytest.approx(0.16 * use.activations.value)
    assert f"range    {display(low, 'B')} to " in told
    assert "with memory.kept and memory.error in addition to the ranges of its parts" in told
    served = estimate_explain.explanation_text(analysis.estimate(study(FULL_CACHE)), "memory") or ""
    assert "addition to the ranges" not in served, "an engine allocates once"


def test_parts_of_one_name_are_all_explained_with_what_they_are_part_of() -> None:
    """The dense products of a prompt and those of a decode step; each is found behind the name of its whole."""
    report = analysis.estimate(study(FULL_CACHE.replace("concurrency: 100000", "concurrency: 8")))
    both = estimate_explain.explanation_text(report, "dense") or ""
    assert both.count("dense = ") == 2
    assert "part of  step of prefill of ttft" in both and "part of  step of tpot" in both
    assert "`--explain 'ttft dense'`, `--explain 'tpot dense'`" in both
    alone = {
        whole: estimate_explain.explanation_text(report, f"{whole} dense") for whole in ("prefill", "ttft", "tpot")
    }
    for whole, text in alone.items():
        assert text is not None and text.count("dense = ") == 1 and text in both, whole
    assert alone["prefill"] == alone["ttft"] != alone["tpot"]
    assert estimate_explain.explanation_text(report, "memory dense") is None
    figure = estimate_explain.explanation_text(report, "tpot") or ""
    assert figure.startswith("tpot = ") and "part of" not in figure and "alone" not in figure
    every = {each.term.name: each.path for each in estimate_explain.placed_terms(report) if each.path}
    for name, path in every.items():
        assert estimate_explain.explanation_text(report, f"{path[-1]} {name}") is not None, (path, name)


@telling(1)
@pytest.mark.parametrize("spec", [SPEC, PRICED, PRICED_CACHE])
def test_the_parts_of_a_term_have_shares_where_they_add_up_to_it(spec: str) -> None:
    """A price of 0.14 EUR is no 295 % of a cost of 0.05 EUR, and the power of one node no share of that of 64."""
    report = analysis.estimate(study(spec))
    told = {term: estimate_explain.term_text(term, report) for term in estimate_explain.explainable_terms(report)}
    for term, text in told.items():
        shares = [float(found) for found in re.findall(r"  <? ?([0-9.]+) %(?:  |$)", text, re.MULTILINE)]
        assert all(share <= 100 for share in shares), text
        if term.parts and not term.is_sum:
            assert "share" not in text and "█" not in text, text
    assert any("share" in text for text in told.values())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tokens per second", "global_batch * sequence_length / (step * accelerators_used)"),
        ("MFU", "model_flops / peak"),
        ("time to train", "tokens / (global_batch * sequence_length) * step"),
    ],
)
def test_a_headline_number_follows_from_its_formula_and_inputs(name: str, value: str) -> None:
    report = analysis.estimate(study(SPEC))
    term = next(term for term in estimate_explain.explainable_terms(report) if term.name == name)
    inputs = {key: figure.value for key, figure in term.inputs}
    assert term.formula == value
    assert eval(term.formula, {"__builtins__": {}}, inputs) == pytest.approx(term.value, rel=1e-12)


def test_what_was_written_is_shown_with_its_line_and_what_is_cited_with_its_source() -> None:
    spec = SPEC.replace(
        "cluster: {platform: dgx-h100, nodes: 127}",
        "cluster:\n  platform: dgx-h100\n  nodes: 127\n  scale_up: {bandwidth: 900 GB/s duplex}  # as ordered",
    )
    report = analysis.estimate(study(spec))
    pages = [
        estimate_explain.term_text(term, report, TextStyle(width=400))
        for term in estimate_explain.explainable_terms(report)
    ]
    text = "\n".join(pages)
    assert "spec.yaml:6: scale_up: {bandwidth: 900 GB/s duplex}  # as ordered" in text
    assert "(catalog)" not in text
    assert "config.json of meta-llama" in text


@telling(1)
@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("workload.attention", "workload: {attention: plain, "),
        ("workload.parameter_precision", "workload: {parameter_precision: fp32, "),
    ],
)
def test_the_printed_effect_of_a_word_is_that_of_writing_it(key: str, line: str) -> None:
    one, other = study(SPEC), study(SPEC.replace("workload: {", line))
    found = {each.assumption[0]: each for each in analysis.influences(one)}[key]
    assert one.plan.memory is not None and other.plan.memory is not None
    assert one.plan.step_time is not None and other.plan.step_time is not None
    assert found.memory == pytest.approx(other.plan.memory.total.value / one.plan.memory.total.value - 1)
    assert found.step_time == pytest.approx(other.plan.step_time.value / one.plan.step_time.value - 1)


@thorough
def test_only_assumptions_that_move_something_are_shown_and_the_largest_first() -> None:
    one = study(SPEC)
    sizes = [each.size for each in analysis.influences(one)]
    assert sizes == sorted(sizes, reverse=True)
    assert min(sizes) > LEAST
    stated = study(SPEC.replace("workload: {", "workload: {attention: flash, "))
    assert "workload.attention" not in {each.assumption[0] for each in analysis.influences(stated)}


def test_assumptions_and_constants_together_list_every_assumption() -> None:
    report = analysis.estimate(study(SPEC))
    both = assumption_rows.assumptions_text(report) + assumption_rows.constants_text(report)
    assert all(key in both for key, _, _ in report.plan.assumptions)


@thorough
def test_an_engine_that_fills_its_memory_with_cache_fits() -> None:
    text = shown(study(FULL_CACHE))
    assert "fits: 100 % of" in text
    assert "may not fit" not in text


@thorough
def test_an_engine_that_fills_its_memory_with_cache_fits_although_its_layout_cannot_run() -> None:
    """The blocks of the fp8 checkpoint are cut by tp 8; the cache gives way to what weights and buffers need more."""
    spec = FULL_CACHE.replace("llama-3.1-70b", "qwen3-235b-a22b, precision: fp8, parameter_precision: fp8")
    one = study(spec.replace("framework: vllm", "framework: sglang"))
    assert one.plan.refused and one.plan.serving is None
    text = shown(one)
    assert "fits: 100 % of" in text
    assert "may not fit" not in text


@telling(1)
@pytest.mark.parametrize(
    ("load", "said"),
    [
        ("concurrency: 64", "(cache: 64 requests in flight on one attention replica;"),
        ("concurrency: 64, max_sequences: 16", "(cache: 16 requests in flight on one attention replica;"),
        ("concurrency: 1", "(cache: one request at its full length on one attention replica;"),
        ("request_rate: 1", "(cache: all memory up to memory_fraction 0.9, which the engine reserves in advance)"),
    ],
)
def test_the_estimate_says_what_the_cache_counts(load: str, said: str) -> None:
    assert said in shown(study(FULL_CACHE.replace("concurrency: 100000", load)))


@thorough
def test_the_estimate_of_a_training_plan_names_no_cache() -> None:
    assert "(cache:" not in shown(study(SPEC))


def test_a_spec_without_figures_names_no_command_to_explain_them() -> None:
    assert "--explain" not in shown(study("clusterspec: 1\n"))


LATENCY = """\
clusterspec: 1
cluster: {{platform: dgx-b200, nodes: 2}}
workload:
  kind: serve
  model: gemma-3-27b
  serving: {{input_tokens: 32000, output_tokens: 64, request_rate: {rate}}}
layout: {{framework: trt-llm, tp: 2}}
"""


@telling(1)
@pytest.mark.parametrize(("rate", "told"), [(8, True), (0.01, False)])
def test_a_request_latency_of_means_is_told_apart_from_the_medians_above_it(rate: float, told: bool) -> None:
    """Few requests meet a prompt of 32,000 tokens within 64 tokens, so that their mean is far above their median."""
    one = study(LATENCY.format(rate=rate))
    times = one.plan.serving
    assert times is not None
    medians = times.ttft + 63 * times.tpot
    assert (abs(times.request_latency - medians) > 0.05 * times.request_latency) == told
    first = display(times.request_latency - 63 * times.tpot_mean, "s")
    said = f"mean: {first} + 63 × {display(times.tpot_mean, 's')}"
    assert (said in " ".join(shown(one).split())) == told


def test_the_memory_says_which_share_an_engine_may_use() -> None:
    # 141 GiB, 151.4 GB, are sold as 141 GB; 0.9 of them are 136.3 GB, of which the context of the driver takes some
    stated = FULL_CACHE.replace("concurrency: 100000", "concurrency: 100000, memory_fraction: 0.9")
    shown = estimate_text.estimate_as_text(analysis.estimate(study(stated)))
    told = r"on the device, sold as 141 GB; the engine may use 90 % of it, which leaves (\d+) GB to the framework\)"
    found = re.search(told.replace(" ", r"\s+"), shown)
    assert found is not None and 130 < int(found[1]) < 136.3
    trained = estimate_text.estimate_as_text(analysis.estimate(study(SPEC)))
    assert "sold as 80 GB; a framework can use" in trained and "the engine may use" not in trained
