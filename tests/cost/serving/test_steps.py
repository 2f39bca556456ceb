"""The numbers of a serving step, worked out by hand for Llama 3.1 8B and DeepSeek-V3 on H100."""

from __future__ import annotations

from math import log, sqrt

import pytest

from clusterspec.cost.serving.constants import UNEVEN, Part, StepTime
from clusterspec.cost.serving.engine import Decoding, Engine
from clusterspec.cost.serving.parts.step import prompt_attention_parts
from clusterspec.cost.serving.step_times import decode_step, prompt_step
from clusterspec.quantity import precision_width
from tests.cluster.resolving import clean

WEIGHTS = 8.030e9 - 2 * 128256 * 4096
"""Weights of Llama 3.1 8B without its two tables."""
CHUNK = 8192


def engine(
    model: str = "llama-3.1-8b",
    layout: str = "tp: 1",
    serving: str = "",
    nodes: int = 1,
    precision: str = "",
    platform: str = "dgx-h100",
    framework: str = "vllm",
) -> Engine:
    kept = f"precision: {precision}, parameter_precision: {precision}, " if precision else ""
    work = f"model: {model}, {kept}serving: {{input_tokens: 1000, output_tokens: 200{serving}}}"
    design = clean(
        f"cluster: {{platform: {platform}, nodes: {nodes}}}\n"
        f"workload: {{kind: serve, {work}}}\n"
        f"layout: {{framework: {framework}, {layout}}}\n"
    )
    assert design.cluster and design.workload and design.layout
    found = Engine.of(design.cluster, design.workload, design.layout, design.layout.dp)
    assert found is not None
    return found


def test_narrower_weights_never_slow_a_single_request() -> None:
    """Reading them takes the time, whichever kernels convert them: 70 GB of a rank in bf16, 18 GB in int4."""
    times = []
    for kept in ("bf16", "int8", "int4"):
        work = f"model: llama-3.1-70b, precision: bf16, parameter_precision: {kept}"
        design = clean(
            "cluster: {platform: dgx-h100, nodes: 1}\n"
            f"workload: {{kind: serve, {work}, serving: {{input_tokens: 100, output_tokens: 100}}}}\n"
            "layout: {framework: vllm, tp: 2}\n"
        )
        assert design.cluster and design.workload and design.layout
        found = Engine.of(design.cluster, design.workload, design.layout, design.layout.dp)
        assert found is not None
        times.append(decode_step(found, 1.0, 1000.0).total)
    assert times[0] > times[1] > times[2]


def numbers(step: StepTime, name: str) -> dict[str, float]:
    [part] = [part for part in step.parts if part.name == name]
    return part.numbers


@pytest.mark.parametrize(("model", "blocks"), [("llama-3.1-70b", False), ("deepseek-v3", True)])
def test_dense_gemms_of_eight_bits_compute_at_the_rate_of_the_scales_of_their_weights(model: str, blocks: bool) -> None:
    """TensorRT-LLM on H200, where both were measured, and vLLM, whose one table holds for both."""
    for framework in ("trt-llm", "vllm"):
        one = engine(model, "tp: 8", precision="fp8", platform="dgx-h200", framework=framework)
        rated = {
            each: one.rates.padded_gemm_rate("fp8", 4096.0, one.peak, framework, blocks=each) for each in (True, False)
        }
        assert (rated[True] < 0.9 * rated[False]) is (framework == "trt-llm")
        assert numbers(prompt_step(one, 4096.0, 4096.0, 1.0), "dense")["rate"] == pytest.approx(rated[blocks])


def test_dense_gemms_of_four_bits_compute_at_the_rates_of_their_weights() -> None:
    """Four GEMMs in each of 32 layers of width 4,096: queries with keys and values, output, gate with up, and down."""
    sizes = [4096 * 6144, 4096 * 4096, 4096 * 28672, 4096 * 14336]
    for layout, ranks in (("tp: 1", 1), ("tp: 4", 4)):
        for framework in ("trt-llm", "vllm"):
            one = engine(layout=layout, precision="fp4", platform="dgx-b200", framework=framework)
            median = one.rates.padded_gemm_rate("fp4", 4096.0, one.peak, framework)
            lasting = sum(size / ranks / one.rates.weights_share("fp4", size / ranks, framework) for size in sizes)
            found = numbers(prompt_step(one, 4096.0, 4096.0, 1.0), "dense")["rate"]
            assert found == pytest.approx(median * sum(sizes) / ranks / lasting, rel=1e-3)
            assert (found > median) == (ranks == 1)


def test_gemms_of_a_model_have_all_its_weights_outside_experts_and_routers() -> None:
    for model in ("llama-3.1-8b", "deepseek-v3", "gpt-oss-120b", "qwen3-next-80b-a3b", "deepseek-v4-flash"):
        for ranks in (1, 8):
            one = engine(model, layout=f"tp: {ranks}", nodes=2)
            weights = sum(each.weights * each.number for each in one.products)
            routers = one.whole.moe_layers * one.model.hidden * one.model.experts
            held = one.share.dense + one.share.replicated
            assert held - routers <= weights * 1.003, model
            assert weights <= held, model


def test_all_reduces_run_inside_the_gemms_before_them_as_far_as_these_have_several_waves() -> None:
    """Of the shorter of both, one wave of tiles of 128 by 256 on 148 units is not covered."""
    plain, fused, half = (
        engine("llama-3.1-70b", layout=f"tp: 4{overlap}", precision="fp4", platform="dgx-b200", framework="trt-llm")
        for overlap in ("", ", overlap: {tp: full}", ", overlap: {tp: 0.5}")
    )
    tokens = 4096.0
    before, after, between = (
        numbers(prompt_step(one, tokens, tokens, 1.0), "all_reduce") for one in (plain, fused, half)
    )
    waves = tokens / 128 * 8192 / 256 / 148
    dense = numbers(prompt_step(plain, tokens, tokens, 1.0), "dense")
    each = [
        dense["flops"] / dense["rate"] * width * 8192 / 4 / (dense["flops"] / 2 / tokens) for width in (8192, 28672)
    ]
    covered = sum(min(after["each"], seconds) for seconds in each) / 2 * (1 - 1 / waves)
    assert after["covered"] == pytest.approx(covered, rel=1e-3)
    assert between["covered"] == pytest.approx(covered / 2, rel=1e-3)
    assert before == {name: value for name, value in after.items() if name != "covered"}
    assert "covered" not in numbers(decode_step(fused, 32.0, 1000.0), "all_reduce")  # a single wave
    for rows in (1.0, 64.0, 1000.0, 8192.0):
        assert prompt_step(fused, rows, rows, 1.0).total <= prompt_step(plain, rows, rows, 1.0).total


@pytest.mark.parametrize(
    ("tokens", "steps"), [(1, 1), (1000, 1), (CHUNK, 1), (CHUNK + 1, 2), (2 * CHUNK, 2), (2 * CHUNK + 1, 3)]
)
def test_a_prompt_runs_in_equal_chunks(tokens: int, steps: int) -> None:
    one = prompt_step(engine(), float(tokens), float(tokens), 1.0)
    here = tokens / steps
    assert one.steps == steps
    assert numbers(one, "dense")["flops"] == pytest.approx(2 * WEIGHTS * here, rel=1e-3)
    assert numbers(one, "head")["flops"] == pytest.approx(2 * 128256 * 4096 / steps, rel=1e-3)  # one token a prompt
    # 32 layers of 32 heads, 128 for keys and 128 for values; every token sees half of the prompt in the mean
    assert numbers(one, "attention")["flops"] == pytest.approx(2 * here * 32 * (tokens / 2) * 32 * 256)
    assert one.device == pytest.approx(steps * sum(each.seconds for each in one.parts if each.name != "launch"))
    assert one.total == pytest.approx(steps * sum(each.seconds for each in one.parts))


def test_a_limit_of_tokens_in_a_step_makes_smaller_chunks() -> None:
    assert prompt_step(engine(serving=", chunk_tokens: 512"), 1024.0, 1024.0, 1.0).steps == 2


def test_sequences_that_decode_with_a_prompt_add_their_tokens_to_each_step() -> None:
    # a chunk has room for 64 tokens less, so that two chunks take three steps
    one = prompt_step(engine(), 2.0 * CHUNK, 2.0 * CHUNK, 1.0, Decoding(64.0, 1100.0, 1.0))
    assert one.steps == 3
    assert numbers(one, "dense")["flops"] == pytest.approx(2 * WEIGHTS * (CHUNK * 2 / 3 + 64), rel=1e-3)
    assert numbers(one, "head")["flops"] == pytest.approx(2 * 128256 * 4096 * (1 / 3 + 64), rel=1e-3)
    assert numbers(one, "cache")["calls"] == 32


def test_tokens_found_in_the_cache_are_seen_and_not_computed() -> None:
    """The last 250 of 1,000 tokens see 875 in the mean."""
    one = prompt_step(engine(), 250.0, 1000.0, 1.0)
    assert numbers(one, "attention")["flops"] == pytest.approx(2 * 250 * 32 * 875 * 32 * 256)


@pytest.mark.parametrize(("sequences", "drafted"), [(1, 1), (64, 1), (64, 4)])
def test_a_decode_step_reads_the_cache_once_and_multiplies_every_drafted_token(sequences: int, drafted: int) -> None:
    one = decode_step(engine(), float(sequences), 1100.0, float(drafted))
    assert one.steps == 1
    assert numbers(one, "dense")["flops"] == pytest.approx(2 * WEIGHTS * sequences * drafted, rel=1e-3)
    assert numbers(one, "dense")["bytes_read"] == pytest.approx(2 * WEIGHTS, rel=1e-3)
    # 2 × 8 heads × 128 × 2 bytes of each of 32 layers: 4,096 bytes a token and layer
    assert numbers(one, "cache")["bytes_read"] == pytest.approx(4096 * 1100 * sequences)
    # two launches of attention and two of the network in each of 32 layers
    assert numbers(one, "launch")["launches"] == 4 * 32
    assert numbers(one, "launch")["sequences"] == sequences * drafted


def test_launches_cost_the_host_where_graphs_are_not_captured() -> None:
    plain, eager = (engine(serving=f", captured_graphs: {word}") for word in ("true", "false"))
    captured = numbers(decode_step(plain, 1.0, 10.0), "launch")["each"]
    launched = numbers(decode_step(eager, 1.0, 10.0), "host_launch")
    assert captured == plain.rates.gemm_floor("bf16")
    assert launched["each"] == eager.habits.eager > eager.habits.compiled > captured
    assert launched["launches"] == 4 * 32
    full = [decode_step(each, 512.0, 8000.0).total for each in (plain, eager)]  # 0.5 TB of cache
    assert full[0] == full[1] > 128 * 160e-6, "the device takes longer than the host"
    # graphs of up to 512 tokens hold all but the attention of 32 layers; of four launches of a layer in longer steps
    for each, tokens, seconds in (
        (plain, 512.0, 32 * 88e-6),
        (plain, 513.0, 128 * 88e-6),
        (eager, 512.0, 128 * 160e-6),
    ):
        assert each.launch_floor(tokens) == pytest.approx(seconds), "code is compiled where graphs are captured"
    assert prompt_step(plain, 512.0, 512.0, 1.0).floor == plain.host_floor(512.0, 1.0)


def test_one_thread_of_the_host_launches_schedules_and_samples() -> None:
    """In addition to launches, 0.7 ms of a step and 3 us of each sequence that produces a token."""
    found = engine()
    assert found.host_floor(600.0, 100.0) == pytest.approx(found.launch_floor(600.0) + 0.7e-3 + 100 * 3e-6)
    step = prompt_step(found, 500.0, 1000.0, 1.0, Decoding(99.5, 1000.0, 1.0))
    assert step.floor == pytest.approx(found.host_floor(599.5, 100.0)), "half of a prompt, and 99.5 sequences"


SGLANG = "sglang, software: sglang 0.5.12"


@pytest.mark.parametrize(
    ("framework", "layout", "tokens", "launches"),
    [
        (SGLANG, "tp: 1", 8192.0, 32),  # attention of 32 layers; graphs of every step
        (SGLANG, "tp: 2", 8192.0, 32 * 3),  # two all-reduces in addition
        ("sglang, software: sglang 0.5.9", "tp: 2", 512.0, 128),  # four launches a layer: no graphs before 0.5.10
        (SGLANG, "tp: 2, pp: 2", 512.0, 128),
        ("vllm", "tp: 2", 512.0, 32),
    ],
)
def test_captured_graphs_of_prompts_leave_few_launches_to_the_host(
    framework: str, layout: str, tokens: float, launches: int
) -> None:
    found = engine(layout=layout, framework=framework)
    assert found.launch_floor(tokens) == pytest.approx(launches * found.habits.compiled)
    assert (found.habits.compiled == found.habits.eager) == framework.startswith("sglang")


def test_graphs_of_prompts_hold_other_attention_on_blackwell() -> None:
    found = engine(layout="tp: 2", framework=SGLANG, platform="dgx-b200")
    assert found.launch_floor(512.0) == pytest.approx(32 * 3 * found.habits.eager)


@pytest.mark.parametrize(
    ("serving", "platform", "tokens", "launches"),
    [
        ("", "dgx-h200", 2048.0, 61 * 3),
        ("", "dgx-h200", 2049.0, None),  # graphs of latent attention end there
        (", speculative: {tokens: 3, acceptance: 0.7}", "dgx-h200", 512.0, None),
        ("", "mi300x-ubb8", 512.0, None),
        ("", "dgx-b200", 512.0, None),  # nor do the kernels of latent attention on Blackwell have them
    ],
)
def test_graphs_of_prompts_have_the_limits_of_their_software(
    serving: str, platform: str, tokens: float, launches: int | None
) -> None:
    """DeepSeek-V3, of which every layer has five launches of attention; three are dense, 58 have eight of experts."""
    found = engine("deepseek-v3", "tp: 8", serving, platform=platform, framework=SGLANG)
    every = 61 * 5 + 3 * 2 + 58 * 8
    assert found.launch_floor(tokens) == pytest.approx((launches or every) * found.habits.eager)


@pytest.mark.parametrize("accelerator", ["trainium1", "tpu-v6e"])
def test_a_prompt_waits_for_no_launches_where_its_step_is_one_compiled_graph(accelerator: str) -> None:
    design = clean(
        f"cluster: {{accelerator: {accelerator}, accelerators_per_node: 8, nodes: 1}}\n"
        "workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 100, output_tokens: 200}}\n"
        "layout: {framework: custom, tp: 8}\n"
    )
    assert design.cluster and design.workload and design.layout
    found = Engine.of(design.cluster, design.workload, design.layout, design.layout.dp)
    assert found is not None
    assert found.habits.eager > 0
    assert found.launch_floor(100.0) == prompt_step(found, 100.0, 100.0, 1.0).floor == 0.0


EXPERTS = "tp: 1, attention_dp: 16, ep: 16"


@pytest.mark.parametrize(
    ("nodes", "tokens", "copies"),
    [(2, 256, 8), (1, 4096, 8 * (1 - (7 / 8) ** 8)), (2, 4096, 2 * (1 - (1 / 2) ** 8)), (4, 4096, 4 * (1 - 0.75**8))],
)
def test_an_exchange_of_many_tokens_sends_one_copy_to_each_domain(nodes: int, tokens: int, copies: float) -> None:
    """Eight experts of a token are on 5.25 of 8 ranks in the mean, on 1.99 of 2 nodes, and on 3.6 of 4."""
    layout = f"tp: 1, attention_dp: {8 * nodes}, ep: {8 * nodes}"
    found = numbers(decode_step(engine("deepseek-v3", layout, nodes=nodes), float(tokens), 1000.0), "expert_exchange")
    assert found["copies"] == pytest.approx(copies)
    assert (found["layers"], found["hidden"], found["bytes_each"]) == (58, 7168, 3)
    fullest = found["tokens"] / tokens
    if nodes > 1 and copies < 8:  # no domain receives more than all tokens
        assert fullest == pytest.approx(nodes / copies)
    else:  # some ranks hold experts that more tokens choose
        assert fullest > 1.1


def test_more_tokens_are_never_exchanged_sooner() -> None:
    wide = engine("deepseek-v3", EXPERTS, nodes=2)
    seconds = [
        next(part.seconds for part in prompt_step(wide, tokens, tokens, busy).parts if part.name == "expert_exchange")
        for busy in (1.0, 4.0, 16.0)
        for tokens in (1.0, 100.0, 256.0, 257.0, 600.0, 1100.0, 8192.0)
    ]
    assert all(seconds[place : place + 7] == sorted(seconds[place : place + 7]) for place in (0, 7, 14))
    assert all(few <= many for few, many in zip(seconds[:7], seconds[14:], strict=True))


def test_a_rank_that_alone_has_tokens_sends_them_all_and_receives_few() -> None:
    """Alone it sends 2,000; where all 16 ranks have as many, the fuller node receives more than the mean, 1.99 copies
    of 2, as each node receives all tokens at most."""
    wide = engine("deepseek-v3", EXPERTS, nodes=2)
    alone, together = (numbers(prompt_step(wide, 2000.0, 2000.0, busy), "expert_exchange") for busy in (1.0, 16.0))
    assert alone["tokens"] == 2000 and 2000 < together["tokens"] <= 2000 * 2 / together["copies"]


@pytest.mark.parametrize(("tokens", "of_rank"), [(4096.0, 1024.0), (8.0, 2.0), (2.0, 1.0), (1.0, 1.0)])
def test_the_ranks_of_a_replica_send_a_part_of_its_tokens_each(tokens: float, of_rank: float) -> None:
    """Four replicas of four ranks send what 16 ranks with a quarter of the tokens send, but no rank part of a token."""
    sliced, alone = (
        engine("deepseek-v3", EXPERTS.replace("tp: 1, attention_dp: 16", each), nodes=2)
        for each in ("tp: 4, attention_dp: 4", "tp: 1, attention_dp: 16")
    )
    senders = 4.0 * tokens / of_rank
    found = numbers(prompt_step(sliced, tokens, tokens, 4.0), "expert_exchange")
    assert found == pytest.approx(numbers(prompt_step(alone, of_rank, of_rank, senders), "expert_exchange"))


@pytest.mark.parametrize(
    ("prompts", "tokens", "length", "overlap", "published"),
    [
        (True, 16384, 4096, True, 62_713),
        (True, 8192, 4096, False, 59_337 / 1.31),
        (False, 256, 2000, False, 22_310 / 1.255),
    ],
)
def test_wide_engines_are_as_fast_as_published(
    prompts: bool, tokens: int, length: int, overlap: bool, published: float
) -> None:
    """Tokens a second of a node with DeepSeek-V3 and balanced experts: prompts on 4 nodes, decoding on 9.

    62,713 is DeepSeek's profile (github.com/deepseek-ai/profile-data) as SGLang's blog on large-scale EP of 5 May 2025
    evaluates it. Its own figures are divided by the gain that it measured of two micro-batches in turns: 27 to 35 %
    and 25.5 %.
    """
    nodes = 4 if prompts else 9
    layout = f"tp: 1, attention_dp: {8 * nodes}, ep: {8 * nodes}, overlap: {{ep: {str(overlap).lower()}}}"
    more = ", redundant_experts: 32, chunk_tokens: 32768"
    wide = engine("deepseek-v3", layout, more, nodes=nodes, precision="fp8")
    step = prompt_step(wide, tokens, length, 8.0 * nodes) if prompts else decode_step(wide, tokens, length)
    assert 8 * tokens / step.total == pytest.approx(published, rel=0.15)


def test_the_exchange_of_prompts_takes_compute_units_from_gemms() -> None:
    """20 of 132, where two micro-batches alternate; decoding with kernels of low latency keeps all."""
    apart, turns = (engine("deepseek-v3", f"{EXPERTS}, overlap: {{ep: {word}}}", nodes=2) for word in ("false", "true"))
    for tokens, share in ((4096.0, 112 / 132), (128.0, 1.0)):
        rates = [
            numbers(prompt_step(one, each, tokens, 16.0), "dense")["rate"]
            for one, each in ((turns, 2 * tokens), (apart, tokens))
        ]
        assert rates[0] == pytest.approx(rates[1] * share)


@pytest.mark.parametrize("copies", ["", ", redundant_experts: 16"])
def test_the_fullest_rank_has_more_tokens_unless_copies_of_experts_balance_them(copies: str) -> None:
    """16 ranks hold 16 experts each, of which each receives 16 of 4,096 copies in the mean."""
    one = decode_step(engine("deepseek-v3", EXPERTS, copies, nodes=2), 32.0, 1000.0)
    uneven = 1.0 if copies else 1 + sqrt(2 * log(16)) * sqrt(UNEVEN.value**2 + 1 / 16) / sqrt(16)
    assert numbers(one, "expert_exchange")["tokens"] == pytest.approx(32 * uneven)
    # 58 layers, 8 experts of 3 × 7,168 × 2,048 weights for each of 32 × 16 tokens over 16 ranks
    flops = 2 * 58 * 8 * 3 * 7168 * 2048 * 32
    assert numbers(one, "experts")["flops"] == pytest.approx(flops * uneven)


def test_two_micro_batches_in_turns_launch_twice_and_expose_the_excess_of_the_exchange() -> None:
    apart = decode_step(engine("deepseek-v3", EXPERTS, nodes=2), 64.0, 1000.0)
    turns = decode_step(engine("deepseek-v3", f"{EXPERTS}, overlap: {{ep: true}}", nodes=2), 64.0, 1000.0)
    for name, doubled in (("dense", "bytes_read"), ("expert_exchange", "layers"), ("launch", "launches")):
        assert numbers(turns, name)[doubled] == pytest.approx(2 * numbers(apart, name)[doubled]), name
    assert numbers(turns, "dense")["flops"] == pytest.approx(numbers(apart, "dense")["flops"])
    # half of the tokens in each turn are a little less even
    sent = numbers(turns, "expert_exchange")["tokens"] / (numbers(apart, "expert_exchange")["tokens"] / 2)
    assert sent == pytest.approx(1.0, rel=0.05)
    work = ("dense", "depth", "head", "experts", "latent_attention", "absorbed_matrices", "activations")
    seconds = sum(part.seconds for part in turns.parts if part.name in work)
    assert numbers(turns, "expert_exchange")["computing"] == pytest.approx(seconds)


def test_the_device_is_busy_with_all_but_the_launches() -> None:
    parts = (
        Part("dense", lambda x: x, {"x": 2.0}, {}),
        Part("launch", lambda x: x, {"x": 0.5}, {}),
        Part("cache", lambda x: x, {"x": 1.0}, {}),
    )
    one = StepTime.of(parts, 4.0)
    assert (one.steps, one.total, one.device) == (4, 14, 12)


@pytest.mark.parametrize(("ranks", "read"), [("tp: 8", 8 / 256), ("tp: 1, attention_dp: 8, ep: 8", None)])
def test_the_rank_that_reads_the_most_experts_is_waited_for(ranks: str, read: float | None) -> None:
    """A token selects 8 of 256 experts: an eighth of each on 8 ranks, or one on each and three on the fullest."""
    one = decode_step(engine("deepseek-v3", ranks, precision="bf16"), 1.0 if read else 1 / 8, 1000.0)
    weights = numbers(one, "experts")["bytes_read"] / (58 * 256 * 3 * 7168 * 2048 * 2 / 8)
    fullest = (1 + sqrt(2 * log(8)) * sqrt(1 - 1 / 32)) / 32
    assert weights == pytest.approx(read or fullest, rel=1e-6)


def test_latent_attention_is_bound_by_the_memory_or_by_arithmetic() -> None:
    """Its 128 heads read the same 576 elements of a token: 242 operations a byte of a 16-bit cache."""
    for layout, bound in (("tp: 8", "bytes_read"), ("tp: 1, attention_dp: 8, ep: 8", "flops")):
        [part] = [
            one for one in decode_step(engine("deepseek-v3", layout), 256.0, 8000.0).parts if "latent" in one.name
        ]
        flops, read = (
            part.numbers[name] / part.numbers[over] for name, over in (("flops", "rate"), ("bytes_read", "bandwidth"))
        )
        assert part.seconds == pytest.approx(part.numbers["calls"] * max(flops, read))
        assert (flops > read) == (bound == "flops")


@pytest.mark.parametrize("drafted", [1.0, 2.0, 4.0])
@pytest.mark.parametrize("sequences", [1.0, 64.0, 512.0])
def test_adding_work_never_shortens_a_step(sequences: float, drafted: float) -> None:
    one = engine()
    mixed = [
        prompt_step(one, prompt, prompt, 1.0, Decoding(sequences, 1100.0, drafted)).device
        for prompt in (1.0, 256.0, 2048.0)
    ]
    assert decode_step(one, sequences, 1100.0, drafted).device <= mixed[0]
    assert mixed == sorted(mixed)
    assert mixed[1] <= prompt_step(one, 256.0, 256.0, 1.0, Decoding(sequences, 1100.0, drafted + 1)).device


def test_two_alternating_micro_batches_read_all_weights_twice_for_the_same_work() -> None:
    layout = "tp: 1, ep: 32, attention_dp: 32"
    plain, alternating = (
        engine("deepseek-v3", f"{layout}, overlap: {{ep: {value}}}", nodes=4) for value in ("false", "true")
    )
    one, two = (decode_step(each, 128.0, 2000.0) for each in (plain, alternating))
    for name in ("dense", "head"):
        assert numbers(two, name)["flops"] == pytest.approx(numbers(one, name)["flops"])
    assert numbers(two, "dense")["bytes_read"] == pytest.approx(2 * numbers(one, "dense")["bytes_read"], rel=0.1)


@pytest.mark.parametrize("length, fresh", [(64.0, 64.0), (100.0, 100.0), (4096.0, 4096.0), (4096.0, 512.0)])
def test_layers_with_a_window_see_no_more_than_it_of_a_prompt(length: float, fresh: float) -> None:
    """gpt-oss-120b has 18 layers that see everything before a token and 18 that see 128 tokens, with 64 heads of 64."""
    before = length - fresh / 2
    seen = 18 * before + 18 * min(before, 128)
    served = engine("gpt-oss-120b", "tp: 2")
    (part,) = prompt_attention_parts(served, 1000.0, length, fresh)
    each = 2 * 1000 * 32 * (64 + 64)
    assert part.numbers["flops"] == pytest.approx(each * seen)
    full, tiles = (served.rates.attention_rate(rows, 64.0) for rows in (length, min(length, 256.0)))
    assert part.seconds == pytest.approx(each * 18 * (before / full + min(before, 128 + 128) / tiles))


@pytest.mark.parametrize("platform, limited", [("dgx-h100", False), ("dgx-h200", True)])
def test_experts_are_read_no_faster_than_compute_units_convert_them(platform: str, limited: bool) -> None:
    """132 units convert 46e9 weights of 4 bits a second each, which the memory of H200 outpaces."""
    served = engine("gpt-oss-120b", "tp: 2", platform=platform)
    memory = served.rates.weight_read_rate("bf16")
    converted = 132 * 46e9 * precision_width(served.workload.expert_parameter_precision)
    assert numbers(decode_step(served, 16.0, 1000.0), "experts")["bandwidth"] == pytest.approx(min(memory, converted))
    assert (converted < memory) == limited
