"""Rules of serving plans at their limits, with numbers worked out by hand."""

from __future__ import annotations

import pytest

from clusterspec.rules.knowledge.served import Served
from clusterspec.source import dotted_path
from clusterspec.studies import study_text
from tests.settings import SETTINGS

from .conftest import Check
from .test_verdicts import of

LARGE = "llama-3.1-70b"
SMALL = "llama-3.1-8b"


def served(model: str, load: str, layout: str, nodes: int = 1, platform: str = "dgx-h100") -> str:
    return (
        f"cluster: {{platform: {platform}, nodes: {nodes}}}\n"
        f"workload: {{kind: serve, model: {model}, serving: {{{load}}}}}\nlayout: {{{layout}}}\n"
    )


def severities(rule: str, design: str, check: Check) -> list[str]:
    return [str(found.severity) for found in of(rule, design, check)]


def test_a_plan_that_is_varied_twice_keeps_both_changes() -> None:
    text = served(SMALL, "input_tokens: 2000, output_tokens: 200, concurrency: 16", "tp: 8")
    plan = study_text(f"clusterspec: 1\n{text}", SETTINGS).facts().served
    assert isinstance(plan, Served)
    narrow = plan.with_layout(tp=2)
    alone = narrow.single_request_plan() if narrow else None
    assert alone is not None and (alone.layout.tp, alone.load.concurrency) == (2, 1)


LONG = (
    "input_tokens: 8000, output_tokens: 500, concurrency: 32, chunk_tokens: {}, targets: {{itl: {} ms, percentile: {}}}"
)


@pytest.mark.parametrize(
    ("chunk", "target", "percentile", "severity"),
    [
        # 8,000 tokens × 2 × 69.5 G products are 1.11 PFLOP, 140 ms at the 7.9 PFLOP/s of eight H100: more in practice
        (8192, 100, 99, ["error"]),
        (8192, 100, 90, []),  # 32 requests of 500 tokens start a prompt in 6 of 100 steps, which 90 of 100 do not see
        (8192, 100, 50, []),
        (8192, 1000, 99, []),
        # 512 tokens take a sixteenth, 9 ms at the peak
        (512, 100, 99, []),
    ],
)
def test_a_chunk_that_takes_longer_than_the_target_is_seen_by_the_percentile(
    chunk: int, target: int, percentile: int, severity: list[str], check: Check
) -> None:
    design = served(LARGE, LONG.format(chunk, target, percentile), "tp: 8")
    assert severities("chunks-exceed-token-target", design, check) == severity


def test_the_remedy_of_a_long_step_is_a_chunk_that_meets_the_target(check: Check) -> None:
    (found,) = of("chunks-exceed-token-target", served(LARGE, LONG.format(8192, 60, 99), "tp: 8"), check)
    chunk = int(found.help.split("chunk_tokens: ")[1].split("`")[0])
    assert of("chunks-exceed-token-target", served(LARGE, LONG.format(chunk, 60, 99), "tp: 8"), check) == []


SHORT = "input_tokens: 1000, output_tokens: 500, concurrency: {}, max_sequences: {}"


@pytest.mark.parametrize(
    ("requests", "slots", "layout", "fires"),
    [
        (256, 64, "tp: 8", True),
        (64, 64, "tp: 8", False),
        (65, 64, "tp: 8", True),
        (128, 64, "tp: 4", False),  # two engines of 64 slots
        # 141 GB of weights leave 2 × 77 − 141 = 13 GB less buffers: no slot more than some 20 requests of 410 MB
        (256, 64, "tp: 2, dp: 1", False),
    ],
)
def test_slots_count_over_all_engines_and_only_where_the_cache_holds_more(
    requests: int, slots: int, layout: str, fires: bool, check: Check
) -> None:
    found = of("slots-below-requests", served(LARGE, SHORT.format(requests, slots), layout), check)
    assert bool(found) == fires


DRAFTED = (
    "input_tokens: 300, output_tokens: 500, concurrency: {}, speculative: {{tokens: 5, acceptance: {}, method: ngram}}"
)


@pytest.mark.parametrize(
    ("requests", "acceptance", "severity"),
    [
        # 384 sequences a rank are compute-bound from some 300 tokens a step on: six tokens each take six times as long
        (3072, 0.0, ["error"]),
        (3072, 0.2, ["error"]),
        (3072, 0.9, []),
        (8, 0.2, []),  # one sequence a rank reads the same weights with six tokens as with one
    ],
)
def test_drafted_tokens_are_free_only_below_a_full_batch(
    requests: int, acceptance: float, severity: list[str], check: Check
) -> None:
    design = served(SMALL, DRAFTED.format(requests, acceptance), "tp: 1")
    assert severities("speculation-at-full-batch", design, check) == severity


FEW = "input_tokens: 1000, output_tokens: 500, concurrency: {}, targets: {{ttft: 2 s, tpot: 50 ms}}"


@pytest.mark.parametrize(
    ("requests", "targets", "severity"),
    [(64, True, ["note"]), (2048, True, ["note"]), (3072, True, []), (64, False, []), (16_384, True, [])],
)
def test_engines_are_too_many_only_for_a_target_that_fewer_meet(
    requests: int, targets: bool, severity: list[str], check: Check
) -> None:
    load = FEW.format(requests) if targets else FEW.format(requests).split(", targets")[0]
    assert severities("engines-beyond-requests", served(SMALL, load, "tp: 1", 4), check) == severity


PLAIN = "input_tokens: 2000, output_tokens: 500, concurrency: 64"
QUANTIZED = "deepseek-v3, precision: fp8, parameter_precision: fp8"


@pytest.mark.parametrize(
    ("layout", "key"),
    [
        ("tp: 8, ep: 16", "layout.ep"),
        ("tp: 8, ep: 8, expert_tp: 2", "layout.ep"),
        ("tp: 8, ep: 8", ""),
        ("tp: 1, attention_dp: 16, ep: 16", ""),
        ("tp: 8, attention_dp: 2, ep: 16", ""),
    ],
)
def test_experts_lie_on_the_ranks_of_their_engine(layout: str, key: str, check: Check) -> None:
    found = of("experts-wider-than-replica", served(QUANTIZED, PLAIN, layout, 2, "dgx-h200"), check)
    assert [".".join(map(str, one.path)) for one in found] == ([key] if key else [])


def test_engines_of_prefill_and_decode_are_judged_apart(check: Check) -> None:
    load = f"{PLAIN}, disaggregated: {{prefill: {{tp: 8, ep: 8}}, decode: {{tp: 4, ep: 8}}}}"
    design = served(QUANTIZED, load, "framework: vllm", 2, "dgx-h200")
    (found,) = of("experts-wider-than-replica", design, check)
    assert ".".join(map(str, found.path)) == "workload.serving.disaggregated.decode.ep"


APART = (
    "cluster: {{accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 3, scale_out: {{technology: roce-v2, "
    "nics_per_node: {nics}, nic_bandwidth: {rate} Gb/s, flow_control: {{pfc: true, ecn: true}}}}}}\n"
    "workload: {{kind: serve, model: llama-3.1-70b, serving: {{input_tokens: 8000, output_tokens: 200, "
    "concurrency: {requests}, disaggregated: {{prefill: {{replicas: 1, tp: 8}}, decode: {{replicas: 2, tp: 8}}}}}}}}\n"
)


@pytest.mark.parametrize(
    ("nics", "rate", "requests", "fires"),
    [
        # 8,000 tokens × 328 kB are 2.6 GB; eight ranks share 3.1 GB/s: more than 0.8 s, and the prompt takes 0.3 s
        (1, 25, 128, True),
        (1, 25, 1, False),  # a single request waits for its own cache only
        (8, 400, 128, False),  # 400 GB/s: 7 ms
    ],
)
def test_links_limit_prompts_where_a_cache_takes_longer_than_its_prompt(
    nics: int, rate: int, requests: int, fires: bool, check: Check
) -> None:
    design = APART.format(nics=nics, rate=rate, requests=requests)
    found = of("handoff-slower-than-prefill", design, check)
    assert bool(found) == fires
    assert not (found and of("cache-handoff-exposed", design, check))


HIT = "input_tokens: 8000, output_tokens: 500, concurrency: 4, prefix_hit: {}, targets: {{ttft: {} ms}}"


@pytest.mark.parametrize(
    ("hit", "target", "fires"),
    [
        # 8,000 tokens are 1.1 PFLOP, 140 ms at the peak; 5 % of them 7 ms
        (0.95, 120, True),
        (0.95, 5000, False),
        (0.0, 120, False),
        (0.95, 1, False),  # missed with hits, too: ttft-target-unreachable
    ],
)
def test_a_target_that_rests_on_hits_is_named(hit: float, target: int, fires: bool, check: Check) -> None:
    design = served(LARGE, HIT.format(hit, target), "tp: 8")
    assert bool(of("target-rests-on-prefix-hits", design, check)) == fires


LATENT = "input_tokens: 4096, output_tokens: 2048, concurrency: {}, memory_fraction: 0.9"


@pytest.mark.parametrize(("requests", "severity"), [(16, "note"), (224, "warning"), (512, "error")])
def test_copies_of_the_cache_matter_where_requests_find_no_room(requests: int, severity: str, check: Check) -> None:
    """With 84 GB of weights a rank holds some 0.6 M tokens of 70 kB: a hundred requests, each on all ranks."""
    design = served(QUANTIZED, LATENT.format(requests), "framework: sglang, tp: 8, ep: 8", 1, "dgx-h200")
    assert severities("tp-over-latent-attention", design, check) == [severity]


def test_a_request_beyond_the_context_is_reported_at_its_prompt(check: Check) -> None:
    """A context of 131,072 tokens holds 131,000 of a prompt with an answer of 72 tokens, not of 73."""
    rule, load = "sequence-exceeds-model-context", "input_tokens: {}, output_tokens: {}, concurrency: 1"
    assert severities(rule, served(SMALL, load.format(131_000, 72), "tp: 1"), check) == []
    for prompt in ("131000", "{mean: 16000, p99: 100000, max: 131000}"):
        (found,) = of(rule, served(SMALL, load.format(prompt, 73), "tp: 1"), check)
        assert (dotted_path(found.path), str(found.severity)) == ("workload.serving.input_tokens", "error"), prompt


def test_the_last_turn_of_a_conversation_has_to_fit_the_context(check: Check) -> None:
    """Turns of 60,000 tokens on average grow by 1,000 to 80,500; of 70,125, by 4,200 to 131,025."""
    rule = "sequence-exceeds-model-context"
    load = "input_tokens: {}, output_tokens: 47, request_rate: 1, session: {{turns: {}, think_time: 30 s, growth: {}}}"
    assert severities(rule, served(SMALL, load.format(60_000, 42, 1000), "tp: 1"), check) == []
    assert severities(rule, served(SMALL, load.format(70_125, 30, 4200), "tp: 1"), check) == []  # 131,025 and 47
    assert severities(rule, served(SMALL, load.format(70_126, 30, 4200), "tp: 1"), check) == ["error"]


@pytest.mark.parametrize(
    ("targets", "percentile", "milliseconds"), [("p96: 50 ms, p99: 60 ms", 96, 50), ("p96: 60 ms, p99: 50 ms", 99, 50)]
)
def test_of_several_missed_targets_the_shortest_is_told(
    targets: str, percentile: int, milliseconds: int, check: Check
) -> None:
    load = LONG.format(8192, 60, 99).replace("itl: 60 ms, percentile: 99", f"itl: {{{targets}}}")
    (found,) = of("chunks-exceed-token-target", served(LARGE, load, "tp: 8"), check)
    assert (
        f"percentile {percentile} of the gaps between tokens is above the target of {milliseconds} ms" in found.message
    )


@pytest.mark.parametrize(("model", "narrower"), [("qwen3-next-80b-a3b", False), (LARGE, True)])
def test_a_narrower_cache_is_proposed_where_it_holds_more_requests(model: str, narrower: bool, check: Check) -> None:
    """Recurrent states in a pool of their own limit the requests, whatever the bytes of keys and values."""
    design = served(model, "input_tokens: 1000, output_tokens: 300, concurrency: 4000", "framework: sglang, tp: 4")
    (found,) = of("concurrency-beyond-cache", design, check)
    assert ("kv_precision: fp8" in str(found.help)) is narrower
