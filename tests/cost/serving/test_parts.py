"""The numbers of each part of a step, and rates of kernels, worked out by hand from the shapes of models on H100."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf, log

import pytest

from clusterspec.cost.formulas.queues import steps_wait
from clusterspec.cost.formulas.serving import stream_time
from clusterspec.cost.serving.constants import RECURRENT_STATE, Part, StepTime
from clusterspec.cost.serving.engine import Decoding, Engine
from clusterspec.cost.serving.parts.experts import fullest_load_factor
from clusterspec.cost.serving.parts.step import CACHE, repeated_reads
from clusterspec.cost.serving.pools import most_sequences_with_prompts
from clusterspec.cost.serving.rates import KernelRates, dense_rate_share, remaining_rate_share
from clusterspec.cost.serving.step_times import decode_step, prompt_step
from clusterspec.cost.serving.waits.prompts import StepsWithPrompts
from clusterspec.records import replace
from tests.cluster.resolving import clean
from tests.cost.serving.test_steps import EXPERTS, engine, numbers
from tests.cost.serving.test_targets import plan

HBM, PEAK = 3350e9, 989.4e12
BEYOND = 1 / (1 / (0.51 * PEAK) - 3.7e-6 / (2 * 256 * 2**25))
"""FLOP/s of 256 rows at 51 % of the peak: 34.05 us for a matrix of 2^25 weights, 3.7 of which are the floor."""


@cache
def made(name: str) -> Engine:
    """Llama 3.1 70B on one node, as `llama` or in `stages`, `mixtral` 8x7B and `minimax` M2, and DeepSeek-V3 over two
    nodes, `wide`.
    """
    if name == "wide":
        return engine("deepseek-v3", EXPERTS, ", expert_load: {max_over_mean: 1.5}", nodes=2, precision="fp8")
    return engine(MODELS.get(name, "llama-3.1-70b"), LAYOUTS.get(name, "tp: 8"))


LAYOUTS = {"stages": "tp: 4, pp: 2"}
MODELS = {"mixtral": "mixtral-8x7b", "minimax": "minimax-m2"}
LAYER = 2 * 8192 * 8192 + 2 * 8192 * 1024 + 3 * 8192 * 28672
"""Weights of a layer of Llama 3.1 70B: queries and output, keys and values of 8 heads, and the network."""
DENSE, NORMS, HEAD = 80 * LAYER / 8, 161 * 8192, 128256 * 8192 / 8
EXPERT = 3 * 7168 * 2048
"""Weights of an expert of DeepSeek-V3, in 58 of 61 layers; a rank of 16 holds 16 of 256."""

MOVED = 2 * 4 * 8192 * 2 + 2 * 128 * (8 + 2) * 2 + 3 * 28672 / 8 * 2
"""Bytes between GEMMs of a token in a layer of Llama 3.1 70B: two norms with their residuals, positions of eight query
heads and a key and value, and the activation of an eighth of the network.
"""
MOVED_WIDE = 61 * (2 * 7 * 7168 + 2 * 2 * 128 * 128) + 5 * (3 * 18432 + 58 * 2048)
"""The same of DeepSeek-V3 in 8 bits, in all layers: norms and activations are written in one byte."""

Numbers = dict[str, float]
STEPS: list[tuple[Callable[[], StepTime], dict[str, Numbers]]] = [
    (
        # 64 rows compute at the rate of 256 beyond the floor, and read weights at 0.98 of the rate of few; a call
        # reads 32 MB of cache at 29 % of the rate, and 1 MB is summed two thirds of the way, in logarithms, from 256 KB
        # (11 us) to 2 MB (19 us)
        lambda: decode_step(made("llama"), 64.0, 1000.0),
        {
            "dense": {"bytes_read": 2 * (DENSE + NORMS), "flops": 2 * 64 * (DENSE + NORMS), "rate": BEYOND,
                      "bandwidth": 0.98 * 0.86 * HBM},
            "head": {"bytes_read": 2 * HEAD, "flops": 2 * 64 * HEAD, "rate": BEYOND, "bandwidth": 0.98 * 0.86 * HBM},
            "cache": {"calls": 80, "floor": 10e-6, "bytes_read": 64 * 1000 * 2 * 128 * 2},
            "activations": {"bytes_read": 80 * 64 * MOVED, "bandwidth": 0.8 * HBM},
            "all_reduce": {"calls": 160, "each": 11e-6 ** (1 / 3) * 19e-6 ** (2 / 3)},
            "launch": {"launches": 4 * 80, "each": 3.7e-6, "host": 0.5e-3, "sequences": 64, "sequence": 3e-6,
                       "fused": 0, "small": 2 * 80, "small_kernel": 2e-6},
        },
    ),
    (
        # the last 3,000 of 4,000 tokens see 2,500 in the mean; three in four end
        lambda: prompt_step(made("llama"), 3000.0, 4000.0, 1.0),
        {
            "dense": {"bytes_read": 2 * (DENSE + NORMS), "flops": 2 * 3000 * (DENSE + NORMS)},
            "head": {"flops": 2 * 0.75 * HEAD, "rate": BEYOND * 0.75 / 64},
            "attention": {"flops": 2 * 3000 * 80 * 2500 * 8 * (128 + 128)},
            "activations": {"bytes_read": 80 * 3000 * MOVED},
            "launch": {"sequences": 0.75},
        },
    ),
    (
        # both stages together, on four ranks each
        lambda: decode_step(made("stages"), 64.0, 1000.0),
        {
            "dense": {"bytes_read": 2 * (2 * DENSE + NORMS)},
            "cache": {"bytes_read": 64 * 1000 * 2 * 2 * 128 * 2},
            "launch": {"launches": 4 * 80},
        },
    ),
    (
        # 4,096 copies reach all 256 experts; 15 of 16 parts over 8 NICs of 50 GB/s
        lambda: decode_step(made("wide"), 32.0, 1000.0),
        {
            "experts": {"bytes_read": 58 * 16 * EXPERT, "flops": 2 * 58 * EXPERT * 32 * 8 * 1.5,
                        "bandwidth": 0.80 * HBM},
            # 32 tokens with 128 heads, of 128 and of 512 elements, before and after both absorbed matrices
            "absorbed_matrices": {"bytes_read": 61 * 32 * 128 * 2 * (128 + 512) * 2, "bandwidth": 0.8 * HBM},
            "latent_attention": {"calls": 61, "bytes_read": 32 * 1000 * (512 + 64) * 2,
                                 "flops": 2 * 32 * 1000 * 128 * (2 * 512 + 64)},
            "activations": {"bytes_read": 32 * MOVED_WIDE + 4 * 58 * 32 * 8 * 7168 * 2},
            "expert_exchange": {"layers": 58, "latency": 45e-6, "tokens": 32 * 1.5, "copies": 8, "hidden": 7168,
                                "bytes_each": 3, "bandwidth": 0.93 * 50e9 * 15 / 8},
            "launch": {"launches": 5 * 61 + 2 * 3 + (6 - 4 + 2) * 58, "fused": 58, "routed_layer": 31e-6, "small": 0},
        },
    ),
    (
        # one sequence on one of 16 ranks
        lambda: decode_step(made("wide"), 1 / 16, 1000.0),
        {
            "experts": {"flops": 2 * 58 * EXPERT * 8 / 16 * 1.5},
            "activations": {"bytes_read": MOVED_WIDE + 4 * 58 * 8 / 16 * 7168 * 2},
            "expert_exchange": {"tokens": 1, "copies": 8},
            "latent_attention": {"bytes_read": 1000 * (512 + 64) * 2},
        },
    ),
    (
        # a copy for each domain that a token reaches, and no more than all tokens
        lambda: prompt_step(made("wide"), 4096.0, 4096.0, 16.0),
        {
            "expert_exchange": {"copies": 2 * (1 - 0.5**8), "tokens": 4096 / (1 - 0.5**8)},
            "attention": {"flops": 2 * 4096 * 61 * 2048 * 128 * (2 * 128 + 64)},
            "activations": {"bytes_read": 4096 * (MOVED_WIDE + 4 * 58 * 8 * 7168 * 2)},
        },
    ),
    (
        # the squares of the queries and of the keys of 64 tokens, 4 bytes each, in 62 layers: the smallest all-reduce
        lambda: decode_step(made("minimax"), 64.0, 1000.0),
        {
            "norm_all_reduce": {"calls": 62, "each": 5.6e-6},
            "launch": {"launches": (2 + 6 - 4 + 2) * 62, "fused": 62},
        },
    ),
    (
        # 32,768 tokens have 256 KiB of squares
        lambda: decode_step(made("minimax"), 32768.0, 10.0),
        {"norm_all_reduce": {"calls": 62, "each": 11e-6}},
    ),
    (
        # four copies; each rank has an eighth of all experts
        lambda: decode_step(made("mixtral"), 2.0, 1000.0),
        {
            "experts": {"flops": 2 * 32 * 3 * 4096 * 14336 * 4 / 8},
            "activations": {"bytes_read": 32 * 2 * (2 * 8 * 4096 + 2 * 2 * 128 * (4 + 2)) + 4 * 4 * 32 * 4096 * 2},
            "launch": {"launches": (2 + 6 - 4) * 32, "fused": 32},
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(STEPS)))
def test_the_parts_of_a_step_count_weights_tokens_and_copies(at: int) -> None:
    step, wanted = STEPS[at]
    for name, figures in wanted.items():
        found = numbers(step(), name)
        assert {key: found[key] for key in figures} == pytest.approx(figures), name


def test_heads_that_read_a_key_separately_read_at_once_in_steps_with_prompts() -> None:
    """Qwen3 8B has four query heads for each of eight keys, and the second-level cache serves 1.3 reads at a time: 40
    sequences of 1,000 tokens are read as fast as 40 x 4 / 1.3, which is faster than as many of a smaller cache."""
    one = engine("qwen3-8b", platform="dgx-a100")
    beside = Decoding(40.0, 1000.0, 1.0)
    read = 40 * 1000 * 2 * 8 * 128 * 2
    alone, mixed = decode_step(one, 40.0, 1000.0), prompt_step(one, 500.0, 500.0, 1.0, beside)
    assert numbers(alone, "cache")["bytes_read"] == pytest.approx(read)
    assert numbers(alone, "cache")["bandwidth"] == pytest.approx(one.rates.cache_read_rate(read))
    assert numbers(mixed, "cache")["bytes_read"] == pytest.approx(read * 4 / 1.3)
    assert numbers(mixed, "cache")["bandwidth"] == pytest.approx(one.rates.cache_read_rate(read * 4 / 1.3))
    assert one.rates.cache_read_rate(read) < one.rates.cache_read_rate(read * 4 / 1.3)


def test_norms_over_all_heads_sum_squares_only_where_ranks_share_the_heads() -> None:
    """One rank has all heads; a model that normalizes each head by itself sums nothing over ranks."""
    alone, four = (engine("minimax-m2", f"tp: {ranks}") for ranks in (1, 4))
    names = [{part.name for part in decode_step(each, 1.0, 100.0).parts} for each in (alone, four, made("mixtral"))]
    assert ["norm_all_reduce" in each for each in names] == [False, True, False]
    assert four.launches - alone.launches == 2 * 62
    assert four.host_launches - alone.host_launches == (2 + 1) * 62, "and their all-reduce"


def test_engines_take_their_stages_and_replicas() -> None:
    """Two stages of four ranks; 70.6e9 weights over eight ranks in 16 bits, norms on each."""
    llama, stages, wide = map(made, ("llama", "stages", "wide"))
    assert [(each.ranks, each.accelerators) for each in (llama, stages, wide)] == [(8, 8), (4, 8), (16, 16)]
    assert [each.times(3).attention_ranks for each in (llama, stages, wide)] == [3, 3, 48]
    table = 128256 * 8192 / 8
    assert llama.weight_bytes == pytest.approx(2 * (DENSE + NORMS + HEAD + table))
    assert (llama.sequence_bytes(1000.0), wide.sequence_bytes(1000.0)) == (80 * 1000 * 512, 61 * 1000 * 576 * 2)


EXPERTS_IN = [  # platform, model, precision, of weights, of experts; those of the GEMMs of experts, FLOP/s
    ("dgx-h100", "deepseek-v3", "fp8", "fp8", "fp8", "fp8", 1978.9e12),
    ("dgx-h100", "deepseek-v3", "bf16", "bf16", "fp8", "fp8", 1978.9e12),
    ("dgx-h100", "gpt-oss-120b", "bf16", "bf16", "mxfp4", "bf16", 989.4e12),  # no peak of 4 bits
    ("dgx-b200", "gpt-oss-120b", "bf16", "bf16", "mxfp4", "fp8", 4500e12),  # 4 bits times 16 run at the rate of 8
    ("dgx-b200", "gpt-oss-120b", "fp8", "bf16", "mxfp4", "fp4", 9000e12),
    ("dgx-b200", "deepseek-v3", "fp8", "fp4", "fp4", "fp8", 4500e12),  # as all other weights
    ("dgx-b200", "deepseek-v3", "fp8", "fp8", "int4", "fp8", 4500e12),
]


@pytest.mark.parametrize(("platform", "model", "precision", "weights", "experts", "name", "peak"), EXPERTS_IN)
def test_gemms_of_experts_run_in_the_precision_of_their_weights_where_it_has_a_peak(
    platform: str, model: str, precision: str, weights: str, experts: str, name: str, peak: float
) -> None:
    kept = f"precision: {precision}, parameter_precision: {weights}, expert_parameter_precision: {experts}"
    design = clean(
        f"cluster: {{platform: {platform}, nodes: 2}}\n"
        f"workload: {{kind: serve, model: {model}, {kept}, serving: {{input_tokens: 1000, output_tokens: 200}}}}\n"
        "layout: {framework: vllm, tp: 8}\n"
    )
    assert design.cluster and design.workload and design.layout
    found = Engine.of(design.cluster, design.workload, design.layout, 1)
    assert found is not None and (found.expert_precision, found.expert_peak) == (name, peak)


def test_a_stated_ratio_of_ranks_is_smaller_between_groups_of_them() -> None:
    """Ranks vary independently: of 1.5 over 16 ranks, half of the excess times sqrt(2 / 16) is left of two groups."""
    wide = made("wide")
    assert fullest_load_factor(wide, 4096.0) == fullest_load_factor(wide, 0.0) == 1.5
    assert fullest_load_factor(wide, 4096.0, 2) == pytest.approx(1 + 0.5 * (2 / 16) ** 0.5)
    assert fullest_load_factor(wide, 4096.0, 16) == 1.5


@pytest.mark.parametrize(("load", "most"), [
    ("concurrency: 1", 8192 / (1 + 2000 / 100)),  # a step has a token of each sequence and its share of the next prompt
    ("concurrency: 1, prefix_hit: 0.5", 8192 / (1 + 1000 / 100)),
    ("concurrency: 1, chunk_tokens: 10", 1.0),
    ("concurrency: 1, speculative: {tokens: 3, acceptance: 0.5}", 8192 / (4 + 2.5 * 2000 / 100)),
    ("load: offline", inf),
])  # fmt: skip
def test_the_budget_of_a_step_limits_the_sequences_in_steps_with_prompts(load: str, most: float) -> None:
    serving = plan(load)[1]
    assert (
        most_sequences_with_prompts(replace(serving, chunk_tokens=serving.chunk_tokens or 8192, output_tokens=101))
        == most
    )


CURVE = ((log(64), log(256)), (log(0.25), log(0.5)))
"""A quarter of the peak at 64 rows, a half at 256."""
SIZES = ((log(1e6), log(16e6)), (log(0.2), log(0.8)))
MADE = KernelRates(
    table="made",
    peaks={"bf16": 100e12, "fp8": 200e12},
    bandwidth=1e12,
    curves={"gemm.bf16": CURVE, "attention.prefill": ((log(1024), log(4096)), (log(0.2), log(0.4))),
            "attention.decode": SIZES, "attention.decode.trt_llm.fp8": SIZES,
            "gemm.trt_llm.bf16": ((log(256),), (log(0.4),)),
            "gemm.fp4.by_weights": ((log(2**20), log(2**24)), (log(0.25), log(1.0)))},
    single={"gemm.bf16.stream": 0.9, "gemm.bf16.floor": 5e-6, "attention.decode.memory": 2e12,
            "attention.decode.floor": 8e-6, "attention.prefill.heads_64": 0.6,
            "attention.latent.rows": 64.0, "attention.latent.fp8": 0.6,
            "all_reduce.links": 400e9},
    all_reduces=((2, ((log(1e3), log(1e6)), (log(5e-6), log(20e-6)))),
                 (8, ((log(1e3), log(1e6)), (log(10e-6), log(40e-6))))),
    scale=0.5,
    reading=0.5,
    clock=0.8,
    tile=64.0,
)  # fmt: skip

RATES: list[tuple[Callable[[], float | None], float]] = [
    (lambda: MADE.gemm_rate("bf16", 128.0, 100e12), 100e12 * 2**-1.5 * 0.5 * 0.8),  # half way in logarithms
    (
        lambda: replace(MADE, alike=4.0).gemm_rate("bf16", 64.0, 100e12),
        100e12 * 0.5 * 0.5 * 0.8,
    ),  # four times the balance
    (lambda: replace(MADE, single={"gemm.bf16.sustained": 0.3}).gemm_rate("bf16", 256.0, 100e12), 20e12),  # elsewhere
    (lambda: replace(MADE, scale=1.0, single={"gemm.bf16.sustained": 0.3}).gemm_rate("bf16", 256.0, 100e12), 24e12),
    (lambda: MADE.gemm_rate("fp8", 256.0, 200e12), 200e12 * 0.5 * 0.5 * 0.8),  # no table of 8 bits: that of 16
    # 64 rows by 2^25 weights are 4.295 GFLOP, 429.5 us at a quarter of half of the peak under the power cap, 5 of floor
    (lambda: MADE.padded_gemm_rate("bf16", 16.0, 100e12), 2**32 / (2**32 / 10e12 - 5e-6) * 16 / 64),
    (lambda: MADE.padded_gemm_rate("bf16", 256.0, 100e12), 2**34 / (2**34 / 20e12 - 5e-6)),
    (lambda: MADE.padded_gemm_rate("bf16", 0.0, 100e12), 2**32 / (2**32 / 10e12 - 5e-6)),
    (lambda: MADE.dense_gemm_rate("bf16", 1.0, 100e12), 2**32 / (2**32 / 10e12 - 5e-6)),  # that of the first point
    (lambda: MADE.gemm_rate("bf16", 256.0, 100e12, "trt-llm"), 100e12 * 0.4 * 0.5 * 0.8),  # kernels of its own
    (lambda: MADE.gemm_rate("bf16", 256.0, 100e12, "vllm"), 100e12 * 0.5 * 0.5 * 0.8),
    (lambda: MADE.weights_share("fp4", 2.0**23), 0.5),  # 4 MiB: half way in logarithms
    (lambda: MADE.weights_share("fp4", 2.0**30), 1.0),
    (lambda: MADE.weights_share("bf16", 2.0**23), 1.0),  # not measured
    (lambda: MADE.weight_read_rate("bf16"), 1e12 * 0.9 * 0.5),  # memory has its own clock
    (lambda: MADE.gemm_floor("bf16"), 5e-6),
    (lambda: MADE.cache_read_rate(2e6), 1e12 * 0.4 * 0.5),  # 2 MB at 1 TB/s take as long as 4 MB at 2 TB/s
    (MADE.attention_floor, 8e-6),
    (lambda: MADE.attention_rate(4096.0), 100e12 * 0.4 * 0.5 * 0.8),
    (lambda: MADE.attention_rate(4096.0, 64.0), 100e12 * 0.4 * 0.5 * 0.8 * 0.6),
    (lambda: MADE.head_width_share(256.0), 1.0),
    (lambda: MADE.head_width_share(512.0), 1.0),  # not measured
    (lambda: replace(MADE, single={"attention.prefill.heads_512": 0.5}).attention_rate(4096.0, 512.0), 8e12),
    (
        lambda: MADE.head_width_share(96.0),
        0.75 / (0.75 + (1 / 0.6 - 1) * 0.25),
    ),  # exponentials take two fifths of 64's time
    (lambda: MADE.latent_rows, 64.0),
    (lambda: MADE.latent_rate("fp8")[0], 200e12 * 0.6 * 0.8),
    (lambda: MADE.latent_rate("bf16")[0], 100e12 * 0.4 * 0.5 * 0.8),  # not measured: that of long prompts
    (lambda: MADE.all_reduce_seconds(2, 1e3, 400e9), 5e-6),
    (lambda: MADE.all_reduce_seconds(3, 1e3 / 4, 100e9), 10e-6),  # a quarter of the line, a quarter of the bytes
    (lambda: remaining_rate_share("int4", "bf16", "sm_90"), 0.3),
    (lambda: remaining_rate_share("int4", "bf16", "sm_80"), 0.3 / 0.629),
    (lambda: remaining_rate_share("int8", "bf16", None), 0.3),
    (lambda: remaining_rate_share("bf16", "bf16", "sm_90"), 1.0),
    (lambda: remaining_rate_share("fp8", "fp8", "sm_90"), 1.0),
    (lambda: dense_rate_share("int4", "sm_90", 128.0, 200.0), 0.68),
    (lambda: dense_rate_share("int8", "sm_90", 2**9.5, 200.0), (0.76 * 0.89) ** 0.5),  # half way in logarithms
    (lambda: dense_rate_share("int4", "sm_90", 8192.0, 200.0), 1.0),
    (lambda: dense_rate_share("nvfp4", "sm_90", 8192.0, 200.0), 0.95 * 0.629),
    (lambda: dense_rate_share("int4", "sm_80", 8192.0, 200.0), 0.95),
    (lambda: dense_rate_share("int4", "sm_100", 8192.0, 200.0), 0.3),
    (lambda: dense_rate_share("int8", "gfx942", 64.0, 200.0), 0.3),
    (lambda: dense_rate_share("int8", "gfx942", 1200.0, 200.0), 0.75),  # 400 tokens' worth of time to convert
]


@pytest.mark.parametrize("at", range(len(RATES)))
def test_rates_are_shares_of_the_peak_or_of_the_memory(at: int) -> None:
    found, wanted = RATES[at]
    assert found() == pytest.approx(wanted)


def test_tables_are_those_of_the_software_and_all_reduces_have_a_largest_size() -> None:
    assert MADE.decode_table("trt-llm", "fp8") == "attention.decode.trt_llm.fp8"
    assert MADE.decode_table("trt-llm", "bf16") == MADE.decode_table("vllm", "fp8") == "attention.decode"
    assert MADE.all_reduce_seconds(9, 1e3, 400e9) is MADE.all_reduce_seconds(2, 1.01e6, 400e9) is None
    assert MADE.all_reduce_seconds(2, 0.99e6, 400e9) is not None


def test_a_prompt_waits_for_the_rest_of_a_step_and_for_chunks_before_its_own() -> None:
    """A quarter of the steps takes 100 ms, the others 20. At 40 % of the places two more chunks of a prompt before it
    add 0.4 × 2 × 0.1 / 2 s, in nine of ten steps."""
    steps = StepsWithPrompts(plain=0.02, longer=0.1, mixed=0.25, chunks=3.0, together=2.0, used=0.4, other_prompts=0.01)
    assert steps.mean == pytest.approx(0.75 * 0.02 + 0.25 * 0.1)
    running = 0.03 + 0.4 * 2 * 0.1 / 2
    wanted = 0.9 * (running + 0.01) + steps_wait(0.4, 2.0, running * 0.9)
    assert steps.full_wait(0.4, 0.03, 0.9) == pytest.approx(wanted)


def trainium(accelerator: str = "trainium1") -> Engine:
    """Code Llama's heads on 16 accelerators of two ranks: 40 heads over 32 ranks, two on each."""
    shape = "{layers: 40, hidden: 5120, heads: 40, kv_heads: 40, ffn_hidden: 13824, vocab: 32000, gated_ffn: true}"
    design = clean(
        f"cluster: {{accelerator: {accelerator}, accelerators_per_node: 16, nodes: 1}}\n"
        f"workload: {{kind: serve, model: {shape}, serving: {{input_tokens: 4096, output_tokens: 200}}}}\n"
        "layout: {framework: custom, tp: 32}\n"
    )
    assert design.cluster and design.workload and design.layout
    found = Engine.of(design.cluster, design.workload, design.layout, design.layout.dp)
    assert found is not None
    return found


def test_scores_pass_through_memory_where_no_fused_kernel_keeps_them_on_the_chip() -> None:
    """40 layers, two heads of a rank, 4,096 × 2,048 keys seen, 320 B each, at 0.8 of half of 820 GB/s: 0.65 s."""
    (part,) = (each for each in prompt_step(trainium(), 4096.0, 4096.0, 1.0).parts if each.name == "attention")
    assert part.numbers["bytes_read"] == pytest.approx(40 * 2 * 4096 * 2048 * 320)
    assert part.numbers["bandwidth"] == pytest.approx(0.8 * 410e9)
    assert part.seconds == pytest.approx(40 * 2 * 4096 * 2048 * 320 / (0.8 * 410e9))
    cached = prompt_step(trainium(), 1024.0, 4096.0, 1.0)  # the last quarter sees 3,584 tokens in the mean
    assert numbers(cached, "attention")["bytes_read"] == pytest.approx(40 * 2 * 1024 * 3584 * 320)
    assert "bytes_read" not in numbers(prompt_step(trainium("trainium2"), 4096.0, 4096.0, 1.0), "attention")


def test_a_prompt_beyond_the_limit_of_scores_in_memory_takes_no_less_than_one_at_it() -> None:
    steps = [prompt_step(trainium(), length, length, 1.0) for length in (4096.0, 8192.0, 8200.0, 16384.0, 131072.0)]
    times = [each.total for each in steps]
    assert times == sorted(times)
    read = [each.steps * numbers(each, "attention")["bytes_read"] for each in steps[1:]]
    assert read == pytest.approx([40 * 2 * 8192 * 4096 * 320] * 4)


@pytest.mark.parametrize(("name", "times", "read"), [(CACHE, 1, 100), (CACHE, 2, 200), (RECURRENT_STATE, 2, 100)])
def test_a_cache_is_read_as_often_as_blocks_ask_and_a_state_once(name: str, times: float, read: float) -> None:
    part = Part(name, stream_time, {"bytes_read": 100.0, "bandwidth": 10.0}, {})
    assert repeated_reads(made("llama"), part, times).numbers == {"bytes_read": read, "bandwidth": 10.0}
    together = repeated_reads(made("llama"), part, times, 2.0)
    assert (together.numbers["bandwidth"] != 10.0) is (name == CACHE and times > 1)
