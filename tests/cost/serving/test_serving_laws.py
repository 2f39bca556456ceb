"""Laws of serving plans: more hardware is never slower, and requests wait for what is busy."""

from __future__ import annotations

from math import exp

import pytest

from clusterspec.cost.estimate import estimate
from clusterspec.cost.formulas.queues import highest_load
from clusterspec.cost.serving.bounds import least_prompt_time, least_token_time
from clusterspec.cost.serving.constants import rank_links
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.percentiles import QUANTITIES, latency_at, latency_factors, latency_range
from clusterspec.cost.serving.runs import FiniteRun
from tests.cluster.resolving import clean
from tests.effort import telling

MACHINE = "{{like: h100-sxm-80gb, memory_bandwidth: {bandwidth} GB/s, memory: {memory} GB}}"
PLAN = """
cluster: {{accelerator: {machine}, accelerators_per_node: 8, nodes: {nodes}{scale_up}}}
workload:
  kind: serve
  model: {model}
  precision: fp8
  parameter_precision: fp8
  serving: {{input_tokens: {input}, output_tokens: {output}, {load}}}
layout: {{framework: {framework}, tp: {tp}}}
"""
SPLIT = "disaggregated: {{prefill: {{replicas: {prefill}, tp: 4}}, decode: {{replicas: {decode}, tp: 4}}}}"

BASE: dict[str, object] = {"nodes": 1, "model": "llama-3.1-70b", "input": 2048, "output": 256, "tp": 8}
BASE |= {"framework": "vllm", "load": "concurrency: 64", "scale_up": ""}


def times(**changes: object) -> ServingTimes:
    whole = BASE | {"bandwidth": 3350, "memory": 80} | changes
    machine = MACHINE.format(bandwidth=whole.pop("bandwidth"), memory=whole.pop("memory"))
    found = estimate(clean(PLAN.format(machine=machine, **whole))).serving
    assert found is not None
    return found


@telling(1)
@pytest.mark.parametrize("model", ["llama-3.1-8b", "llama-3.1-70b", "gpt-oss-120b", "qwen3-235b-a22b"])
def test_more_memory_bandwidth_is_never_slower(model: str) -> None:
    found = [times(model=model, bandwidth=rate) for rate in (2000, 3350, 4800, 8000)]
    assert [one.tpot for one in found] == sorted((one.tpot for one in found), reverse=True)
    assert [one.output_tokens_per_second for one in found] == sorted(one.output_tokens_per_second for one in found)


def test_faster_links_are_never_slower() -> None:
    slow, fast = (times(scale_up=f", scale_up: {{bandwidth: {rate} GB/s duplex}}") for rate in (300, 900))
    assert fast.tpot < slow.tpot and fast.ttft < slow.ttft


def test_more_replicas_serve_more_tokens() -> None:
    few, many = times(nodes=1, load="concurrency: 512"), times(nodes=2, load="concurrency: 512")
    assert many.output_tokens_per_second > few.output_tokens_per_second
    assert many.tpot < few.tpot


@telling(1)
@pytest.mark.parametrize("model", ["llama-3.1-70b", "gpt-oss-120b"])
def test_more_load_never_shortens_the_time_per_output_token(model: str) -> None:
    """Prompts wait before and during short answers: the first steps of a request hold more of them than others do.

    Where all steps hold prompts, those with more sequences have room for less of a prompt, and are as much shorter.
    """
    load = "request_rate: {}, load: open, chunk_tokens: 2048"
    found = [times(model=model, input=16000, output=32, load=load.format(rate)) for rate in (1e-4, 0.2, 0.6, 1, 1.4, 9)]
    for each in ([one.tpot for one in found], [one.tpot_mean for one in found]):
        assert each == pytest.approx(sorted(each), rel=2e-3)
    assert found[0].tpot_mean == pytest.approx(found[0].decode.total, rel=1e-3), "a light load has no prompts left"
    assert found[2].tpot_mean > 1.1 * found[2].state.tpot
    long = times(model=model, input=16000, output=64000, load=load.format(0.01))
    assert long.tpot_mean == pytest.approx(long.state.tpot, rel=1e-3), "long answers meet the prompts of all steps"


def test_more_memory_holds_more_requests_and_never_makes_them_wait_longer() -> None:
    small, large = times(memory=40, load="concurrency: 1500"), times(memory=141, load="concurrency: 1500")
    assert small.kv_capacity_sequences < large.kv_capacity_sequences
    assert small.wait > large.wait


@pytest.mark.parametrize(("output", "rate"), [(1, 0.5), (2, 2), (16, 2), (256, 0.1), (256, 2)])
def test_what_arrives_at_engines_that_keep_up_also_leaves(output: int, rate: float) -> None:
    """Little's law: as many requests are in flight as arrive while one runs, with answers of a single token too."""
    found = times(output=output, load=f"request_rate: {rate}")
    assert found.output_tokens_per_second == pytest.approx(rate * output)
    assert found.offered == pytest.approx(rate * found.request_latency)


@pytest.mark.parametrize("rate", [2, 9.5, 11])
def test_as_many_sequences_decode_as_arrive_during_an_output_however_near_to_capacity(rate: float) -> None:
    """Little's law for the gaps of a request on one engine, which is full at 12 requests a second."""
    state = times(load=f"request_rate: {rate}").state
    assert state.sequences == pytest.approx(rate * 255 * state.tpot, rel=1e-6)


@pytest.mark.parametrize(("rate", "above"), [(0.1, True), (0.5, False), (2.0, True), (9.5, True)])
def test_the_median_of_equal_prompts_of_an_open_load_is_that_of_the_tail(rate: float, above: bool) -> None:
    """The tail of waits is long to one side, so that the mean lies above the median, also where most prompts find an
    idle engine. Where few do, they alone wait for nothing, and lower the mean.
    """
    found = times(load=f"request_rate: {rate}, load: open")
    tail = found.state.tail
    assert tail is not None and (found.ttft < found.ttft_mean) is above
    assert found.ttft_mean - found.ttft == pytest.approx(tail.of_all - tail.wait_at(0.5), rel=1e-9)


def test_a_burst_at_the_start_raises_the_mean_alone() -> None:
    # 64 prompts at once, of 10 rounds: the mean place in the queue is 31.5, and every tenth request stands in it
    steady, burst = times(), times(load="concurrency: 64, requests: 640")
    assert burst.ttft == pytest.approx(steady.ttft, rel=0.05)
    assert steady.ttft <= steady.ttft_mean < 0.95 * burst.ttft_mean


def pools(prefill: int, decode: int, load: str, **changes: object) -> ServingTimes:
    text = f"{load}, {SPLIT.format(prefill=prefill, decode=decode)}"
    return times(nodes=(prefill + decode + 1) // 2, load=text, tp=4, **changes)


def test_a_pool_for_prompts_that_is_too_small_keeps_the_engines_that_decode_idle() -> None:
    short, enough = (pools(count, 3, "concurrency: 24", input=8192, output=256) for count in (1, 5))
    assert short.prompt_load == pytest.approx(1.0, rel=0.05)
    assert enough.prompt_load < 0.9
    assert short.wait > 10 * enough.wait
    assert short.tpot <= enough.tpot
    assert short.output_tokens_per_second < enough.output_tokens_per_second


def test_stages_of_prefill_compute_successive_prompts_at_once() -> None:
    split = (
        "disaggregated: {{prefill: {{replicas: 1, tp: 2, pp: {}}}, decode: {{replicas: 1, tp: 8}}}}, concurrency: 24"
    )
    whole, staged = (times(nodes=2, load=split.format(pp), tp=8, input=8192, output=256) for pp in (1, 4))
    assert whole.prompt_service == pytest.approx(whole.prompt_time, rel=1e-9)
    assert staged.prompt_service < 0.3 * whole.prompt_service
    assert staged.prompt_service < staged.prompt_time


@pytest.mark.parametrize("load", ["load: offline", "request_rate: 400, load: open", "concurrency: 3000"])
def test_a_plan_answers_no_more_prompts_than_its_prefill_engines_compute(load: str) -> None:
    few, more = (pools(number, 2, load, output=16) for number in (1, 2))
    for number, found in ((1, few), (2, more)):
        assert found.prompt_load <= 1.01
        assert found.output_tokens_per_second / 16 * found.prompt_time <= 1.2 * number
    assert 1.8 * few.output_tokens_per_second < more.output_tokens_per_second < 2.2 * few.output_tokens_per_second


def test_the_cache_of_a_prompt_travels_between_pools() -> None:
    together = times()
    apart = pools(1, 1, "concurrency: 16")
    assert together.handoff == 0
    # 8 of 8 keys over tp 4: 2 of them, 2 × 128 × 2 bytes each, 80 layers, 2,048 tokens: 168 MB at 0.8 × 450 GB/s, and
    # 60 ms to hand the request over
    assert apart.handoff == pytest.approx(60e-3 + 2 * 2 * 128 * 2 * 80 * 2048 / (0.8 * 450e9), rel=1e-3)


@pytest.mark.parametrize("load", ["load: offline", "concurrency: 64"])
@pytest.mark.parametrize("framework", ["vllm", "trt-llm"])
def test_with_one_place_a_prompt_and_its_answer_follow_each_other(load: str, framework: str) -> None:
    found = times(memory=85, tp=1, input=16384, output=64, framework=framework, load=f"{load}, max_sequences: 1")
    assert found.tpot == pytest.approx(found.decode.total, rel=1e-3)
    each = found.prompt_time + 63 * found.decode.total
    assert found.output_tokens_per_second == pytest.approx(8 * 64 / each, rel=0.05)


def test_software_divides_the_memory_by_its_own_rule() -> None:
    # TensorRT-LLM gives the cache 0.9 of what weights and buffers leave and holds whole requests, vLLM 0.9 of all
    # memory, weights included: 80 GB - 8.9 GB of weights - 2.5 GB, over 40,960 bytes a token and rank, or half of them
    # with the 8-bit cache of TensorRT-LLM; vLLM keeps 36 bytes free for each logit of 1,024 sequences instead
    load = "load: offline"
    theirs, ours = times(framework="trt-llm", load=load), times(framework="vllm", load=load)
    weights = 80e9 * 0.9 - (36 * 1024 * 128_256 + 0.7e9) - ours.kv_capacity_tokens * 40_960
    free = 80e9 - weights - 2.5e9
    assert ours.kv_capacity_sequences * (2048 + 128) == pytest.approx(ours.kv_capacity_tokens)
    assert theirs.kv_capacity_sequences == pytest.approx(0.9 * free / 20_480 / (2048 + 256), rel=1e-6)
    assert theirs.kv_capacity_tokens == pytest.approx(0.9 * free / 20_480, rel=1e-6)


def test_software_that_reserves_the_cache_of_windows_in_full_holds_fewer_requests() -> None:
    # gpt-oss-20b: 12 layers with a window of 128 tokens and 12 without, of a request of 8,192 + 1,024 tokens
    plan = {
        "model": "gpt-oss-20b",
        "input": 8192,
        "output": 1024,
        "tp": 1,
        "load": "load: offline, memory_fraction: 0.9",
    }
    held = {name: times(framework=name, **plan).kv_capacity_sequences for name in ("vllm", "sglang", "trt-llm")}
    space = held["vllm"] * 2048 * 12 * (8192 + 512 + 128)  # bytes of eight engines: 8 heads of 64, keys and values
    sampling = 36 * 1024 * 201_088 + 0.7e9
    assert space == pytest.approx(8 * (0.9 * 80e9 - sampling - 22.1e9), rel=0.02)
    space += 8 * (sampling - 2.5e9)
    assert held["sglang"] * 2048 * 12 * 1.8 * 8704 == pytest.approx(space)
    assert held["trt-llm"] * 1024 * 24 * 9216 == pytest.approx(space), "8 bits an element, whole requests"


def test_a_share_of_memory_that_no_one_wrote_rises_where_the_requests_need_it() -> None:
    # llama 3.1 70B in 8 bits on 80 GB: at tp 1 nothing is left at 0.9
    few = times(tp=1, load="concurrency: 8, max_sequences: 256, memory_fraction: 0.9")
    raised = times(tp=1, load="concurrency: 80, max_sequences: 256")
    assert few.kv_capacity_sequences == 8  # one on each of eight replicas, whatever the memory
    assert raised.kv_capacity_sequences > few.kv_capacity_sequences


def test_the_new_tokens_of_a_prompt_attend_to_those_found_in_the_cache() -> None:
    def attention(found: ServingTimes) -> float:
        return next(part.seconds for part in found.prefill.parts if part.name == "attention")

    # all of 8,192 tokens see 4,096 in the mean; the last half of them sees 6,144
    whole, half = (times(input=8192, load=f"concurrency: 1, prefix_hit: {hit}") for hit in (0, 0.5))
    assert attention(half) == pytest.approx(attention(whole) * 0.5 * 6144 / 4096)


def test_a_prompt_wholly_found_in_the_cache_is_answered_sooner_than_one_found_in_part() -> None:
    pools = SPLIT.format(prefill=1, decode=1)
    part, whole = (
        times(model="gpt-oss-120b", tp=4, load=f"concurrency: 8, prefix_hit: {hit}, {pools}") for hit in (0.5, 1)
    )
    assert 0 < whole.ttft < part.ttft


@pytest.mark.parametrize(
    "text", ["concurrency: 1", f"concurrency: 1, requests: 10, {SPLIT.format(prefill=1, decode=1)}"]
)
def test_the_only_request_waits_for_no_other(text: str) -> None:
    found = times(load=text, tp=4)
    assert found.wait < 0.01 * found.ttft  # what the bisection of the load leaves


@pytest.mark.parametrize("output", [1, 256])
def test_requests_that_come_to_an_idle_engine_wait_for_none_and_those_in_bursts_for_more(output: int) -> None:
    alone, calm, bursts = (
        times(output=output, load=load)
        for load in ("request_rate: 0.01", "request_rate: 3", "request_rate: 3, arrivals: {process: gamma, cv: 2}")
    )
    assert alone.wait < 0.01 * alone.ttft
    assert alone.wait < calm.wait < bursts.wait


def test_a_busy_pool_for_prompts_has_a_queue_that_grows_as_the_root_of_the_requests() -> None:
    # at balanced load the queue of n requests is √(n / π): 3.6 of 40 requests and 7.1 of 160
    assert [round(0.5 / (1 - highest_load(n)) - 0.5, 1) for n in (40, 160)] == [3.6, 7.1]
    few, many = (pools(1, 6, f"concurrency: {n}", input=4096, output=1024) for n in (32, 48))
    assert 0.5 < few.prompt_load < many.prompt_load < 0.9
    assert few.wait < many.wait


@telling(1)
@pytest.mark.parametrize("model", ["llama-3.1-8b", "qwen3-235b-a22b", "deepseek-v3"])
@pytest.mark.parametrize("load", ["concurrency: 1", "concurrency: 256", "load: offline", "request_rate: 2"])
@pytest.mark.parametrize("layout", ["tp: 8", "tp: 1, attention_dp: 8, ep: 8"])
def test_no_token_beats_the_memory_and_no_prompt_the_arithmetic(model: str, load: str, layout: str) -> None:
    plan = PLAN.format(
        machine="b200-sxm-180gb",
        nodes=1,
        scale_up="",
        model=model,
        input=2048,
        output=256,
        load=load,
        framework="vllm",
        tp=1,
    )
    design = clean(plan.replace("tp: 1}", f"{layout}}}"))
    cluster, work, ranks = design.cluster, design.workload, design.layout
    assert cluster and work and ranks and work.serving
    found = estimate(design).serving
    assert found is not None
    least, prompt = (
        least_token_time(cluster, work, ranks, work.serving),
        least_prompt_time(cluster, work, ranks, work.serving),
    )
    assert least is not None and found.tpot > least
    assert prompt is not None and found.ttft > prompt


@pytest.mark.parametrize("model", ["llama-3.1-70b", "gpt-oss-120b"])
def test_more_arithmetic_or_memory_of_the_same_machine_is_never_slower(model: str) -> None:
    def with_peak(peak: int) -> ServingTimes:
        machine = f"{{like: h100-sxm-80gb, peak: {{fp8: {peak} TFLOP/s dense, bf16: {peak // 2} TFLOP/s dense}}}}"
        text = PLAN.format(
            machine=machine,
            nodes=1,
            scale_up="",
            model=model,
            input=2048,
            output=256,
            load="concurrency: 64",
            framework="vllm",
            tp=8,
        )
        found = estimate(clean(text)).serving
        assert found is not None
        return found

    slow, fast = with_peak(1000), with_peak(4000)
    assert fast.ttft < slow.ttft and fast.tpot <= slow.tpot


@telling(1)
@pytest.mark.parametrize(("name", "limit"), [("ttft", 0.2), ("ttft", 0.25), ("tpot", 0.02)])
def test_at_most_as_many_requests_meet_a_target_as_wait_for_their_prompt_in_time(name: str, limit: float) -> None:
    most = times(load=f"concurrency: 8, targets: {{{name}: {limit} s}}").max_concurrency
    assert most is not None and most > 1
    fewer, more = (times(load=f"concurrency: {round(most * share)}") for share in (0.8, 1.25))
    assert getattr(fewer, name) < limit < getattr(more, name)


def test_no_more_requests_run_offline_than_there_are() -> None:
    everything, few, many = (
        times(load=f"load: offline{more}") for more in ("", ", requests: 100", ", requests: 100000")
    )
    assert few.offered == few.sequences == 100 < everything.offered == many.offered
    assert few.output_tokens_per_second < many.output_tokens_per_second


def test_prompts_that_share_a_step_read_its_weights_once() -> None:
    # 1,024 requests of 128 tokens: about four end in each step, and faster memory never costs tokens
    found = [
        times(model="mixtral-8x7b", input=128, output=128, tp=4, load="concurrency: 1024", bandwidth=rate)
        for rate in (3350, 4200)
    ]
    assert found[1].output_tokens_per_second >= found[0].output_tokens_per_second
    assert found[1].tpot <= found[0].tpot


def test_accepted_drafts_end_requests_sooner_and_bring_their_prompts_as_much_sooner() -> None:
    drafts = ", speculative: {tokens: 3, acceptance: 0.5}"
    found = times(input=8192, load=f"concurrency: 64{drafts}")
    # 2.5 tokens a step: the step is divided by them, the prompt of each 256 tokens is not
    expected = found.decode.total / 2.5 + found.sequences / 256 * found.carried_prefill
    assert found.tpot == pytest.approx(expected, rel=0.01)  # its own prompt is one of 64


DRAFTS = ", speculative: {{tokens: {tokens}, acceptance: {acceptance}}}"


@telling(1)
@pytest.mark.parametrize("model", ["llama-3.1-8b", "llama-3.1-70b", "mixtral-8x7b", "qwen3-235b-a22b"])
@pytest.mark.parametrize("prompt", [128, 2048, 16384])
def test_drafts_that_are_never_accepted_are_never_faster(model: str, prompt: int) -> None:
    plain, drafted = (
        times(model=model, input=prompt, load=f"concurrency: 32{more}")
        for more in ("", DRAFTS.format(tokens=3, acceptance=0))
    )
    assert drafted.tpot >= plain.tpot * (1 - 1e-9)
    assert drafted.output_tokens_per_second <= plain.output_tokens_per_second * (1 + 1e-9)


@pytest.mark.parametrize("tokens", [1, 3, 7])
def test_a_prompt_adds_about_as_much_to_steps_with_drafts_as_to_steps_without(tokens: int) -> None:
    plain = times(input=8192, load="concurrency: 64")
    drafted = times(input=8192, load=f"concurrency: 64{DRAFTS.format(tokens=tokens, acceptance=0.6)}")
    assert drafted.carried_prefill == pytest.approx(plain.carried_prefill, rel=0.1)


def test_a_prompt_delays_each_stage_of_a_pipeline_by_its_own_layers_alone() -> None:
    # two stages of four ranks: half of the sequences in each batch, and a prompt takes both stages in turn
    found = times(input=8192, framework="vllm, pp: 2", tp=4)
    assert found.stages == (2, 2)
    decode, carried = found.decode.total, found.decoding_sequences * found.carried_prefill / 255
    assert found.tpot == pytest.approx(decode + carried / 2)


@pytest.mark.parametrize("stages", [2, 4])
def test_stages_serve_as_many_times_the_prompts_of_one_engine(stages: int) -> None:
    # 16 prompts in chunks of 4,096 tokens: each stage works on another chunk. Published: 3.2 to 3.3 times the prompts
    # with four stages of eight H20 (lmsys.org/blog/2026-01-15-chunked-pipeline)
    load = "load: offline, requests: 16, chunk_tokens: 4096"
    one = times(input=65536, output=1, tp=8, memory=141, load=load)
    many = times(input=65536, output=1, tp=8, framework=f"vllm, pp: {stages}", nodes=stages, memory=141, load=load)
    assert 0.75 * stages < many.output_tokens_per_second / one.output_tokens_per_second <= stages * 1.05
    assert many.prompt_time < one.prompt_time


def test_half_of_the_requests_of_a_single_burst_wait_for_the_other_half() -> None:
    # 64 prompts at once and no others: the median stands in the middle of the queue, as the mean does, within a prompt
    steady, burst = times(), times(load="concurrency: 64, requests: 64")
    assert isinstance(burst.run, FiniteRun)
    assert burst.ttft == pytest.approx(burst.ttft_mean, abs=burst.run.service)
    assert burst.run.last == pytest.approx(2 * (burst.ttft - steady.ttft), rel=0.05)
    assert burst.run.last == pytest.approx(63 * burst.run.service)
    assert burst.ttft > 20 * burst.prompt_time


def test_prompts_that_do_not_fit_with_all_sequences_cost_no_throughput() -> None:
    # 256 sequences leave 1,792 tokens of a step, fewer than the 1.9 prompts of 958 that begin in one that has any
    load = "concurrency: {}, max_sequences: 256, chunk_tokens: 2048"
    rates = [times(input=958, output=181, load=load.format(n)).output_tokens_per_second for n in (220, 250, 262)]
    assert rates == sorted(rates)


def test_attention_replicas_wait_for_the_one_that_runs_a_prompt() -> None:
    # the same eight ranks and requests, kept in step by a batch (static) or ending one by one (closed)
    layout = "sglang, attention_dp: 8, ep: 8"
    found = times(model="qwen3-235b-a22b", framework=layout, tp=1, input=4096, memory=141)
    alone = found.prefill.device - found.prefill.steps * found.decode.device
    assert found.carried_prefill > 2 * alone > 0


def test_chunks_of_several_attention_replicas_share_a_step() -> None:
    # eight ranks whose prompts take three chunks each, with decoding: a step is longer once where any of them has one
    layout, load = "vllm, attention_dp: 8, ep: 8", "concurrency: 64, chunk_tokens: 8192"
    found = times(model="qwen3-235b-a22b", framework=layout, tp=1, input=16384, memory=141, load=load)
    prompts = found.sequences / (found.output_tokens - 1)
    chunk = found.prefill.device / 3 - found.decode.device
    assert found.prefill.steps == 3
    assert found.carried_prefill == pytest.approx(chunk * (1 - exp(-prompts * 3 * 8)) / prompts, rel=0.03)


def test_fewer_requests_than_attention_replicas_leave_the_others_idle() -> None:
    def found(requests: int) -> ServingTimes:
        layout = "sglang, attention_dp: 8, ep: 8"
        return times(model="deepseek-v3", framework=layout, tp=1, memory=141, load=f"concurrency: {requests}")

    alone, eight = found(1), found(8)
    reading = [next(part for part in one.decode.parts if part.name == "latent_attention") for one in (alone, eight)]
    assert reading[1].numbers["bytes_read"] > 2 * reading[0].numbers["bytes_read"]
    assert alone.decode.total < eight.decode.total


@pytest.mark.parametrize(
    ("machine", "ranks", "own"),
    [
        ("l4", 2, True),
        ("l4", 4, False),
        ("a100-pcie-80gb", 2, True),
        ("a100-pcie-80gb", 4, False),
        ("h100-sxm-80gb", 8, True),
    ],
)
def test_more_than_two_ranks_over_pcie_use_the_collective_library(machine: str, ranks: int, own: bool) -> None:
    # the kernels of engines were measured over NVLink, and are not used where ranks meet in the host
    cluster = clean(PLAN.format(machine=machine, **PCIE, tp=ranks)).cluster
    assert cluster is not None
    links = rank_links(cluster, ranks)
    assert links is not None and links.direct == own


@pytest.mark.parametrize("machine", ["l4", "a10g", "l40s", "rtx-4090"])
def test_an_all_reduce_over_more_ranks_of_a_host_is_never_faster(machine: str) -> None:
    def each(ranks: int) -> float:
        found = estimate(clean(PLAN.format(machine=machine, **PCIE, tp=ranks))).serving
        assert found is not None
        return next(part.numbers["each"] for part in found.decode.parts if part.name == "all_reduce")

    assert each(2) < each(4) < each(8)


PCIE = {"nodes": 1, "scale_up": "", "model": "llama-3.1-8b", "input": 500, "output": 100, "load": "concurrency: 16"}
PCIE |= {"framework": "vllm"}


def test_a_request_of_a_loop_waits_for_the_prompts_of_the_others_of_its_engine_at_most() -> None:
    # Two engines, 16 requests: 7 prompts and a running step may be before one, which ends with its own prompt.
    found = times(input=20000, output=1, tp=4, load="concurrency: 16, chunk_tokens: 2048")
    assert found.request_latency <= 9 * found.prompt_time


def test_requests_of_a_single_burst_wait_for_half_of_it_however_few_fit() -> None:
    # 500 at once, of which 16 run at once: the run takes 500 turns, and the middle one starts in the middle of it
    found = times(load="concurrency: 500, requests: 500, max_sequences: 16")
    assert found.lasting is not None
    assert 0.45 < found.ttft / found.lasting < 0.55
    assert found.output_tokens_per_second == pytest.approx(500 * 256 / found.lasting)
    loop = times(load="concurrency: 500, max_sequences: 16")
    assert loop.output_tokens_per_second == pytest.approx(found.output_tokens_per_second, rel=0.1)
    assert loop.offered == pytest.approx(loop.output_tokens_per_second / 256 * loop.request_latency)


@pytest.mark.parametrize(
    "load", ["concurrency: 64", "concurrency: 2000", "request_rate: 2", "load: offline, requests: 400"]
)
def test_a_range_encloses_its_latency_which_grows_with_the_percentile(load: str) -> None:
    """A whole request is its first token and the others: its range is not wider than the wider of theirs."""
    design = clean(PLAN.format(**BASE | {"load": load, "machine": MACHINE.format(bandwidth=3350, memory=80)}))
    found = estimate(design).serving
    assert found is not None and design.workload is not None and design.workload.serving is not None
    serving = design.workload.serving
    for quantity in QUANTITIES:
        before = 0.0
        for percentile in (50.0, 90.0, 95.0, 99.0):
            value = latency_at(found, serving, quantity, percentile)
            low, high = latency_range(found, serving, quantity, percentile)
            assert 0 < low < value < high and value >= before, (quantity, percentile)
            before = value
            parts = [latency_factors(found, each, percentile) for each in ("ttft", "tpot")]
            assert low / value >= min(least for least, _ in parts) - 1e-9, (quantity, percentile)
            assert high / value <= max(most for _, most in parts) + 1e-9, (quantity, percentile)
