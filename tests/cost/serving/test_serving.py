"""The times of serving plans: numbers worked by hand, and laws."""

from __future__ import annotations

import json
from math import log

import pytest

from clusterspec.cluster.model import Design
from clusterspec.cost.estimate import estimate
from clusterspec.cost.headline import headline_terms
from clusterspec.cost.serving.explain import first_token_time_term, token_time_term
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.loads import PlaceWait
from clusterspec.cost.serving.plan_engines import bare_pools
from clusterspec.cost.serving.rates import remaining_rate_share
from clusterspec.records import replace
from clusterspec.results.estimate_json import estimate_fields
from tests.cluster.resolving import clean
from tests.cost.expressions import evaluate

PLAN = """
cluster: {{platform: dgx-h100, nodes: {nodes}}}
workload:
  kind: serve
  model: {model}
  precision: {precision}
  parameter_precision: {precision}
  serving: {{input_tokens: {input}, output_tokens: {output}, {load}}}
layout: {{framework: vllm, tp: {tp}{layout}}}
"""


def design(**changes: object) -> Design:
    base = {
        "nodes": 1,
        "model": "llama-3.1-8b",
        "precision": "bf16",
        "input": 1024,
        "output": 256,
        "load": "concurrency: 1",
        "tp": 1,
        "layout": "",
    }
    return clean(PLAN.format(**(base | changes)))


def times(**changes: object) -> ServingTimes:
    found = estimate(design(**changes)).serving
    assert found is not None
    return found


def part(found: ServingTimes, name: str) -> float:
    return next(each.seconds for each in found.decode.parts if each.name == name)


def test_one_sequence_reads_every_weight_once_a_token() -> None:
    # Llama 3.1 8B: 6.98e9 weights in layers, 128,256 × 4,096 in the head, 2 bytes each; H100: 3.35 TB/s × 0.86
    found = times()
    layers = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096) + 4096
    assert part(found, "dense") == pytest.approx(2 * layers / (3.35e12 * 0.86), rel=1e-3)
    assert part(found, "head") == pytest.approx(2 * 128_256 * 4096 / (3.35e12 * 0.86), rel=1e-3)


def test_a_request_spends_8_ms_outside_the_engine_and_2_us_for_each_token_of_its_prompt() -> None:
    long, short = times(input=16_384), times(input=1024)
    assert (long.overhead, short.overhead) == pytest.approx((8e-3 + 16_384 * 2e-6, 8e-3 + 1024 * 2e-6))
    assert short.ttft == pytest.approx(short.prompt_time + short.overhead)


def test_the_cache_is_read_at_the_mean_context() -> None:
    # 32 layers × 2 × 8 heads × 128 × 2 bytes = 131,072 a token; 4 sequences of 16,384 + 128 tokens on each replica are
    # 270.5 MB in a layer: between 134 MB at 0.63 of the memory bandwidth and 537 MB at 0.78
    found = times(input=16_384, load="concurrency: 32, load: static")
    assert found.kv_bytes_per_token == 131_072
    share = 0.63 * (0.78 / 0.63) ** (log(270.5 / 134.2) / log(4))
    assert part(found, "cache") == pytest.approx(131_072 * 4 * (16_384 + 128) / (3.35e12 * share), rel=1e-3)


def test_the_prompts_of_a_static_batch_run_together() -> None:
    """Eight or sixteen prompts on each replica, twice as long; of prompts that are half cached, half as long."""
    found = {
        (count, hit): times(input=4096, load=f"concurrency: {count}, load: static, prefix_hit: {hit}").prompt_time
        for count, hit in ((64, 0.0), (128, 0.0), (128, 0.5))
    }
    assert found[128, 0.0] == pytest.approx(2 * found[64, 0.0], rel=0.05)
    assert found[128, 0.5] == pytest.approx(found[128, 0.0] / 2, rel=0.15)


def test_a_small_call_of_attention_takes_its_floor() -> None:
    # one sequence of 1,152 tokens is 4.7 MB in a layer, of which the shares between 2 and 32 MB are 0.042 and 0.40
    found = times()
    share = 0.042 * (4.72e6 / 2.097e6) ** (log(0.4 / 0.042) / log(16))
    assert part(found, "cache") == pytest.approx(131_072 * 1152 / (3.35e12 * share), rel=0.01)


def test_launches_are_counted_by_layer_step_and_sequence() -> None:
    # queries with keys and values, output, two of the network: four GEMMs a layer, 3.7 us each; between them two norms,
    # positions and the activation, 2 us each
    assert part(times(), "launch") == pytest.approx(32 * 4 * (3.7e-6 + 2e-6) + 0.5e-3 + 3e-6)


def test_without_captured_graphs_the_host_launches_while_the_device_computes() -> None:
    """128 launches of 160 us take 20.5 ms; the device has 8 GB of weights for at least 4.8 ms of them."""
    captured, found = (times(load=f"concurrency: 1, captured_graphs: {word}") for word in ("true", "false"))
    assert part(found, "launch") == part(captured, "launch")
    kernels = captured.decode.total - 0.5e-3 - 3e-6
    assert part(found, "host_launch") == pytest.approx(32 * 4 * 0.16e-3 - kernels)
    assert found.decode.total == pytest.approx(32 * 4 * 0.16e-3 + 0.5e-3 + 3e-6)


def test_a_prompt_that_is_found_in_the_cache_is_not_computed() -> None:
    whole, half = times(input=8192), times(input=8192, load="concurrency: 1, prefix_hit: 0.5")
    assert half.prefill.device < 0.6 * whole.prefill.device


def test_accepted_drafts_divide_the_time_of_a_token() -> None:
    # four tokens of one sequence are checked in a step, of which 2.5 are kept; few tokens read as much as one
    plain, drafted = times(), times(load="concurrency: 1, speculative: {tokens: 3, acceptance: 0.5, method: ngram}")
    assert drafted.tpot == pytest.approx(drafted.decode.total / 2.5, rel=0.01)
    assert plain.decode.total < drafted.decode.total < 1.05 * plain.decode.total


def test_requests_in_flight_follow_from_littles_law() -> None:
    found = times(tp=8, load="request_rate: 4")
    assert found.output_tokens_per_second == pytest.approx(4 * 256, rel=0.05)


def test_a_token_takes_a_step_and_a_share_of_the_prompts_of_others() -> None:
    alone, four = times(load="concurrency: 8"), times(load="concurrency: 32")  # tp 1 on 8 accelerators
    assert 0.9 < alone.sequences <= 1
    assert alone.tpot == pytest.approx(alone.decode.total, rel=1e-3)
    # what the prompt adds to a step that decodes together with it, and the prompts of the three others during the 255
    # gaps
    added = four.prefill.device - four.decode.device
    assert four.tpot == pytest.approx(four.decode.total + four.decoding_sequences / 255 * added, rel=1e-3)
    assert four.decoding_sequences == pytest.approx(3, rel=0.05)


def test_the_cache_holds_what_the_weights_leave() -> None:
    # 80 GB as the device reports it × 0.90 - 16.06 GB, the logits of 1,024 sequences and their context, over 131,072
    # bytes a token, on each of 8 replicas
    found = times()
    memory = design().cluster
    assert memory is not None and memory.accelerator.memory is not None
    free = memory.accelerator.memory.value * 0.90 - 2 * 8.03e9 - (36 * 1024 * 128_256 + 0.7e9)
    assert found.kv_capacity_tokens == pytest.approx(8 * free / 131_072, rel=2e-3)
    assert found.kv_capacity_sequences == pytest.approx(found.kv_capacity_tokens / (1024 + 128))


@pytest.mark.parametrize(("replicas", "chunk", "others"), [(8, 2048, 7 * 2048), (8, 8192, 32_768 - 8192), (1, 8192, 0)])
def test_the_cache_leaves_room_for_the_tokens_of_other_replicas(replicas: int, chunk: int, others: int) -> None:
    """Each has copies for 8 experts of 2,048 + 2,048 elements in 16 bits; vLLM takes 32,768 tokens at a time."""
    layout = f", attention_dp: {replicas}, ep: {replicas}" if replicas > 1 else ""
    load = f"concurrency: 64, chunk_tokens: {chunk}, memory_fraction: 0.9"
    pools = bare_pools(design(model="qwen3-30b-a3b", load=load, layout=layout))
    assert pools is not None
    engine = pools.decode
    memory = engine.cluster.accelerator.memory
    assert memory is not None
    free = memory.value * 0.9 - engine.weight_bytes - (36 * 1024 * 151_936 + 0.7e9) - others * 8 * (2048 + 2048) * 2
    assert pools.tokens == pytest.approx(free / engine.sequence_bytes(1024 + 128) * (1024 + 128))


def test_two_ranks_add_two_all_reduces_a_layer() -> None:
    # one token is 8 KB, below the smallest that was measured: 4.4 us for 16 KB
    assert part(times(tp=2), "all_reduce") == pytest.approx(64 * 4.4e-6)


def test_throughput_follows_from_littles_law() -> None:
    found = times(load="concurrency: 64")
    latency = found.ttft + 255 * found.tpot
    assert found.request_latency == pytest.approx(latency)
    assert found.output_tokens_per_second == pytest.approx(64 * 256 / latency)
    assert found.per_accelerator == pytest.approx(found.output_tokens_per_second / 8)


@pytest.mark.parametrize("model", ["llama-3.1-8b", "mixtral-8x7b", "deepseek-v3"])
def test_more_requests_in_flight_give_more_tokens_and_no_faster_ones(model: str) -> None:
    rows = [times(model=model, nodes=4, tp=8, load=f"concurrency: {many}") for many in (1, 16, 64, 256)]
    speeds = [found.tpot for found in rows]
    assert speeds == sorted(speeds)
    rates = [found.output_tokens_per_second for found in rows[:3]]
    assert rates == sorted(rates)


@pytest.mark.parametrize("tp", [1, 2, 4, 8])
def test_no_token_is_faster_than_the_memory(tp: int) -> None:
    found = times(tp=tp)
    assert found.tpot > 2 * 7.5e9 / tp / 3.35e12


def test_longer_contexts_and_prompts_are_never_faster() -> None:
    short, long = times(input=512, load="concurrency: 32"), times(input=8192, load="concurrency: 32")
    assert short.tpot < long.tpot and short.ttft < long.ttft


def test_narrower_weights_are_read_faster() -> None:
    wide, narrow = part(times(), "dense"), part(times(precision="fp8"), "dense")
    assert narrow == pytest.approx(wide / 2 * 0.86 / 0.80)  # products in 8 bits read at 0.80 of the memory bandwidth


def test_weights_converted_on_load_are_slow_where_products_of_a_warp_do_not_reach_the_peak() -> None:
    """0.3 of the rate on Hopper, whose warps reach 0.629 of the peak; 0.3 / 0.629 = 0.477 where they reach all."""
    shares = {"sm_80": 0.477, "sm_89": 0.477, "sm_90": 0.3, "sm_100": 0.3, "sm_120": 0.477, "sm_121": 0.477}
    for architecture, share in shares.items():
        assert remaining_rate_share("int4", "bf16", architecture) == pytest.approx(share, abs=1e-3), architecture
    assert remaining_rate_share("bf16", "bf16", "sm_90") == remaining_rate_share("fp8", "fp8", "sm_90") == 1


def test_requests_beyond_the_cache_wait() -> None:
    inside = times(input=32_768, load="concurrency: 16")
    beyond = times(input=32_768, load="concurrency: 400")
    assert beyond.kv_capacity_sequences < 400
    assert inside.ttft * 5 < beyond.ttft


def test_a_tighter_target_allows_fewer_requests() -> None:
    def most(target: str) -> float:
        found = times(tp=8, load=f"concurrency: 8, targets: {{tpot: {target}}}").max_concurrency
        assert found is not None
        return found

    assert most("1 ms") == 0
    assert 0 < most("8 ms") < most("15 ms") <= most("1 s")


def test_prompts_of_engines_of_their_own_do_not_slow_decoding() -> None:
    load = "concurrency: 64, disaggregated: {prefill: {replicas: 1, tp: 4}, decode: {replicas: 1, tp: 4}}"
    apart, together = times(load=load, tp=4), times(load="concurrency: 64", tp=4)
    assert apart.prefill_share == 0 < together.prefill_share
    assert apart.tpot == pytest.approx(apart.decode.total)


def test_tokens_choose_the_experts_that_are_read() -> None:
    # one token reads 2 of the 8 experts of Mixtral; 512 read all, by fused kernels of 128 rows at 0.8 of the rate
    one, many = (part(times(model="mixtral-8x7b", tp=8, load=f"concurrency: {n}"), "experts") for n in (1, 512))
    experts = 32 * 8 * 3 * 4096 * 14336 / 8
    assert one == pytest.approx(2 * experts * 2 / 8 / (3.35e12 * 0.86), rel=1e-3)
    assert 3 * one < many <= 4.1 * one / 0.8


POOLS = "concurrency: 32, disaggregated: {prefill: {tp: 8}, decode: {attention_dp: 8, ep: 8}}"


@pytest.mark.parametrize("model", ["llama-3.1-8b", "mixtral-8x7b", "deepseek-v3"])
@pytest.mark.parametrize("load", ["concurrency: 32", "concurrency: 32, load: static", POOLS])
def test_every_printed_formula_gives_its_value_and_parts_add_up(model: str, load: str) -> None:
    found = times(model=model, nodes=2, tp=8, load=load, input=12_000)
    for root in (token_time_term(found), first_token_time_term(found)):
        for term in root.walk():
            names = {name: figure.value for name, figure in term.inputs} | {
                each.name: each.value for each in term.parts
            }
            assert evaluate(term.formula, names) == pytest.approx(term.value, rel=1e-9), term.name


def test_the_first_token_comes_after_other_prompts_a_free_place_and_weights_that_load() -> None:
    """A place that 0.75 of the requests lack, for 2 s on average, takes the median one 2 · ln(0.75 / 0.5) s."""
    found = replace(
        times(load="concurrency: 32"), wait=0.5, burst=(0.125, 9.0), place=PlaceWait(0.75, 2.0), loading=0.25
    )
    waited = dict(first_token_time_term(found).inputs)["wait"].value
    assert waited == pytest.approx(0.5 + 0.125 + 2 * log(1.5) + 0.25)


def test_the_document_has_the_fields_of_the_contract() -> None:
    found = json.loads(json.dumps(estimate_fields(estimate(design(load="concurrency: 32")), None), default=str))[
        "serving"
    ]
    times_and_rates = ("ttft", "tpot", "ttft_mean", "tpot_mean", "output_tokens_per_second")
    for name in times_and_rates:
        low, high = found["range"][name]
        assert low < found[name] < high
    assert found["output_tokens_per_second_per_accelerator"] == pytest.approx(found["output_tokens_per_second"] / 8)
    assert {"request_latency", "kv_bytes_per_token", "kv_capacity_tokens", "max_concurrency", "prefill_share"} <= set(
        found
    )


def test_every_headline_of_a_serving_plan_is_explained() -> None:
    found = {
        term.name: term for term in headline_terms(estimate(design(load="concurrency: 32, targets: {tpot: 20 ms}")))
    }
    printed = (
        "time to first token",
        "time per output token",
        "request latency",
        "output tokens per second",
        "cache holds",
    )
    for name in printed:
        term = found[name]
        names = {key: figure.value for key, figure in term.inputs} | {each.name: each.value for each in term.parts}
        assert evaluate(term.formula, names) == pytest.approx(term.value, rel=1e-9)
    assert "highest concurrency" in found


def test_training_has_no_serving_times() -> None:
    training = clean(
        "cluster: {platform: dgx-h100, nodes: 1}\n"
        "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 8}\nlayout: {tp: 8}\n"
    )
    assert estimate_fields(estimate(training), None)["serving"] is None


EXPERTS = {"nodes": 8, "model": "deepseek-v3", "precision": "fp8", "load": "concurrency: 2048", "tp": 1}


def in_turns(overlap: str) -> ServingTimes:
    return times(**EXPERTS, layout=f", attention_dp: 64, ep: 64, overlap: {{ep: {overlap}}}")


def test_two_micro_batches_in_turn_hide_the_exchange_of_experts_and_read_weights_twice() -> None:
    plain, turned = in_turns("false"), in_turns("true")
    names = {part.name for part in plain.decode.parts}
    assert names == {part.name for part in turned.decode.parts}
    dense = next(part for part in turned.decode.parts if part.name == "dense").numbers
    assert dense["bytes_read"] == 2 * next(p for p in plain.decode.parts if p.name == "dense").numbers["bytes_read"]
    computing = sum(p.seconds for p in turned.decode.parts if p.name not in {"expert_exchange", "launch"})
    exchange = next(p for p in turned.decode.parts if p.name == "expert_exchange").numbers
    sent = exchange["tokens"] * exchange["copies"] * exchange["hidden"] * exchange["bytes_each"] / exchange["bandwidth"]
    wire = exchange["layers"] * (exchange["latency"] + sent)
    assert part(turned, "expert_exchange") == pytest.approx(max(0.0, wire - computing))
    assert part(turned, "expert_exchange") < part(plain, "expert_exchange")
