"""The parts of a decode or prefill step of one serving engine."""

from __future__ import annotations

from math import inf

from clusterspec.cost.formulas.experts import requests_on_fullest
from clusterspec.cost.formulas.memory import share_of_heads
from clusterspec.cost.formulas.serving import (
    all_reduce_time,
    cache_time,
    compute_time,
    exposed_all_reduce_time,
    exposed_exchange_time,
    exposed_launch_time,
    latent_time,
    launch_time,
    roofline_time,
    stream_time,
)
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.constants import HOST_LAUNCH, LAUNCH, RECURRENT_STATE, Part, RankLinks, table_origins
from clusterspec.cost.serving.parts import launches
from clusterspec.cost.serving.parts import sparse as sparse_parts
from clusterspec.cost.serving.parts.activations import activation_bytes
from clusterspec.cost.serving.parts.dense import dense_part, depth_parts, head_part
from clusterspec.cost.serving.parts.experts import exchange_parts, expert_parts, uses_throughput_kernels
from clusterspec.cost.serving.rates import DECODE, SMALL
from clusterspec.standard import sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.serving.engine import Engine

CACHE = "cache"
"""The part of a step that reads the cache."""
BY_PASS = ("bytes_read", "flops", "calls", "layers", "depth")
"""Numbers of a part that count the operations of one pass."""


def step_parts(
    engine: Engine, tokens: float, sequences: float, attention: tuple[Part, ...], busy: float, *, rows: float
) -> tuple[Part, ...]:
    """All parts of a step: ``tokens`` on each of ``busy`` attention ranks, in ``rows`` of dense products and
    collectives, and ``sequences`` that produce a token.
    """
    if engine.layout.overlap.ep and engine.whole.moe_layers and engine.exchange_links is not None:
        return alternating_step_parts(engine, tokens, sequences, attention, busy)
    experts = expert_parts(engine, tokens, busy) if engine.whole.moe_layers else ()
    dense = dense_part(engine, rows)
    work = (
        dense,
        *depth_parts(engine, dense),
        head_part(engine, sequences),
        *experts,
        *attention,
        _activation_part(engine, rows, busy),
        *_all_reduce_parts(engine, rows),
        *exchange_parts(engine, rows, busy),
    )
    return (*work, *_launch_parts(engine, sequences, work))


def alternating_step_parts(
    engine: Engine, tokens: float, sequences: float, attention: tuple[Part, ...], busy: float
) -> tuple[Part, ...]:
    """The parts of a step that runs as two alternating micro-batches: one exchanges tokens while the other computes.

    Each reads all weights, and has its own kernels and collectives; only the excess of the exchange is exposed. The
    kernels of the exchange of many tokens occupy compute units.
    """
    half = tokens / 2
    units = _free_units_share(engine, half)
    dense = dense_part(engine, half)
    products = (dense, head_part(engine, sequences / 2), *expert_parts(engine, half, busy))
    work = (
        *(_doubled_part(_part_on_units(part, units)) for part in products),
        *map(_doubled_part, depth_parts(engine, dense)),
        *attention,
        _activation_part(engine, tokens, busy),
        *map(_doubled_part, _all_reduce_parts(engine, half)),
    )
    computing = sum_of(part.seconds for part in work)
    exposed = tuple(
        Part(part.name, exposed_exchange_time, part.numbers | {"computing": computing}, part.origins)
        for part in map(_doubled_part, exchange_parts(engine, half, busy))
    )
    return (*work, *exposed, *_launch_parts(engine, sequences, (*work, *exposed), passes=2.0))


def _free_units_share(engine: Engine, tokens: float) -> float:
    """The share of the compute units that an overlapping exchange of ``tokens`` per replica leaves to GEMMs.

    Source: SGLang gives GEMMs the other units for whole steps with prompts (python/sglang/srt/batch_overlap,
    operations_strategy.py: deep_gemm_num_sms), and none away where kernels of low latency leave the transfer to the NIC
    (DeepEP, README: "without any SM occupation").
    """
    units = engine.cluster.accelerator.compute_units
    if units is None or not uses_throughput_kernels(engine, tokens):
        return 1.0
    return max(0.0, 1.0 - constants.EXCHANGE_UNITS * engine.cluster.ranks_per_accelerator / units)


def _part_on_units(part: Part, share: float) -> Part:
    """A GEMM on a share of the compute units."""
    return part.with_numbers(rate=part.numbers["rate"] * share)


def _doubled_part(part: Part) -> Part:
    """A part that runs once for each of two micro-batches."""
    return part.with_numbers(**{name: 2 * value for name, value in part.numbers.items() if name in BY_PASS})


def cache_reading_parts(
    engine: Engine, sequences: float, context: float, tokens: float = 1.0, *, most: float = inf
) -> tuple[Part, ...]:
    """Attention over the cache for ``tokens`` of each sequence, on the rank with the most sequences.

    ``sequences`` is the mean over all ranks, ``most`` the maximum of one rank.
    """
    fullest = _sequences_on_fullest(engine, sequences, most)
    if sparse_parts.indexed_layers(engine):
        return sparse_parts.reading_parts(engine, fullest, context, tokens)
    if sparse_parts.selects_keys(engine):
        from clusterspec.cost.serving.parts import selected as selected_parts  # few models

        return selected_parts.reading_parts(engine, fullest, context, tokens)
    if engine.model.linear is None:
        return (_softmax_reading_part(engine, fullest, context, tokens, engine.sequence_bytes(context)),)
    from clusterspec.cost.serving.parts import recurrent as recurrent_parts  # few models

    kept = recurrent_parts.kept_bytes(engine, context)
    attention = _softmax_reading_part(engine, fullest, context, tokens, kept)
    return (attention, recurrent_parts.update_part(engine, fullest))


def _softmax_reading_part(engine: Engine, fullest: float, context: float, tokens: float, kept: float) -> Part:
    """Attention of ``fullest`` sequences over their keys and values, ``kept`` bytes of each."""
    model, whole, rates = engine.model, engine.whole, engine.rates
    calls = float(max(1, whole.full_layers + whole.window_layers))
    read = fullest * kept / calls
    table = DECODE if model.latent else rates.decode_table(engine.software, engine.workload.kv_precision)
    numbers = {
        "calls": calls,
        "floor": rates.attention_floor(table),
        "bytes_read": read,
        "bandwidth": rates.cache_read_rate(read, table),
    }
    origins = table_origins(engine.rates.table, floor=f"{table}.floor", bandwidth=table)
    if not model.latent:
        return Part(CACHE, cache_time, numbers, origins)
    elements = 2 * model.latent_kv + model.latent_rope
    rows = max(tokens * share_of_heads(model.heads, engine.layout.tp), rates.latent_rows)
    flops = 2 * fullest * context * rows * elements * whole.full_layers / calls
    rate, measured = rates.latent_rate(engine.workload.kv_precision)
    numbers |= {"flops": flops, "rate": rate}
    origins |= table_origins(engine.rates.table, rate=measured)
    return Part("latent_attention", latent_time, numbers, origins)


def _sequences_on_fullest(engine: Engine, sequences: float, most: float) -> float:
    """Sequences on the fullest rank; ``sequences`` is the mean of all ranks."""
    return min(most, requests_on_fullest(sequences, unevenly_loaded_ranks(engine)))


def absorbed_parts(engine: Engine, sequences: float, tokens: float = 1.0, *, most: float = inf) -> tuple[Part, ...]:
    """Activations of the absorbed matrices of latent attention, in 16 bits: for each head, a query enters with the
    width of the head and leaves with the width of the cache; an output does the reverse.

    With many heads they take longer than the weights. Source: on H100 the matrices for queries of 128 heads take 26.4
    us for 256 tokens and 72.6 us for 1,024, 3.3 TB/s (ai-dynamo/aiconfigurator, commit 095f58a5, mla_bmm, vLLM 0.24.0).
    Sequences as in `cache_reading_parts`; other kinds of attention have no such part.
    """
    if not engine.model.latent:
        return ()
    decoded = tokens * _sequences_on_fullest(engine, sequences, most)
    return (Part("absorbed_matrices", stream_time, sparse_parts.absorbed_traffic(engine, decoded), {}),)


def repeated_reads(engine: Engine, part: Part, times: float, together: float = 1.0) -> Part:
    """Attention over a cache that is read several times; recurrent state is not.

    ``together`` of the ``times`` reads are blocks that one kernel runs at once. They read at the rate of a cache that
    is larger by this factor, and do not each wait for the memory as reads of a small cache do.
    """
    if part.name == RECURRENT_STATE or times == 1:
        return part
    read = part.numbers["bytes_read"]
    numbers = {"bytes_read": read * times}
    if part.name == CACHE and together > 1:
        table = engine.rates.decode_table(engine.software, engine.workload.kv_precision)
        numbers["bandwidth"] = engine.rates.cache_read_rate(read * together, table)
    return part.with_numbers(**numbers)


def unevenly_loaded_ranks(engine: Engine) -> int:
    """Attention ranks whose requests end at different times; 1 if a batch fills all ranks evenly."""
    serving = engine.workload.serving
    return engine.layout.attention_dp if serving is not None and serving.load in {"closed", "open"} else 1


def prompt_attention_parts(
    engine: Engine, tokens: float, length: float, fresh: float, *, longest: float = 0.0
) -> tuple[Part, ...]:
    """Attention within prompts of ``length`` for ``tokens`` tokens; the last ``fresh`` tokens of each are new and
    attend to all before. Layers with a window compute whole tiles, at the rate of prompts as long as two windows, whose
    tokens attend to as many tokens on average. ``longest`` is the length of the whole prompts, if greater.
    """
    if engine.model.linear is not None:
        from clusterspec.cost.serving.parts import recurrent as recurrent_parts  # few models

        softmax = _softmax_prompt_parts(engine, tokens, length, fresh, longest)
        return (*softmax, *recurrent_parts.prompt_parts(engine, tokens, fresh))
    return _softmax_prompt_parts(engine, tokens, length, fresh, longest)


def _softmax_prompt_parts(
    engine: Engine, tokens: float, length: float, fresh: float, longest: float
) -> tuple[Part, ...]:
    """Attention within prompts in the layers with softmax attention; arguments as for `prompt_attention_parts`."""
    selected = sparse_parts.selects_keys(engine)
    if not selected and not sparse_parts.absorbs_prompts(engine, max(length, longest)):
        return _dense_prompt_parts(engine, engine.whole.full_layers, tokens, length, fresh)
    windows = _dense_prompt_parts(engine, 0, tokens, length, fresh) if engine.whole.window_layers else ()
    if not selected:
        return (*windows, *sparse_parts.prompt_parts(engine, tokens, length, fresh))
    from clusterspec.cost.serving.parts import selected as selected_parts  # few models

    return (*windows, *selected_parts.prompt_parts(engine, tokens, length, fresh))


def _dense_prompt_parts(engine: Engine, layers: float, tokens: float, length: float, fresh: float) -> tuple[Part, ...]:
    """Attention of prompts in ``layers`` with full attention and in those with a window."""
    model, whole, rates = engine.model, engine.whole, engine.rates
    widths = 2 * model.head_dim + model.latent_rope if model.latent else model.head_dim + model.value_width
    before, rate = length - fresh / 2, rates.attention_rate(length, widths / 2)
    window = float(model.window.tokens) if model.window else 0.0
    seen, computed = min(before, window), min(before, window + constants.ATTENTION_TILE)
    heads = 2 * tokens * share_of_heads(model.heads, engine.layout.tp)
    each, windowed = heads * widths, whole.window_layers * _windowed_widths(engine, widths) * heads
    flops = each * layers * before + windowed * seen
    if windowed and flops:
        windows = rates.attention_rate(min(length, 2 * window), _windowed_widths(engine, widths) / 2)
        rate = flops / (each * layers * before / rate + windowed * computed / windows)
    numbers = {"flops": flops, "rate": rate}
    origins = table_origins(rates.table, rate="attention.prefill")
    scores = _scores_in_memory(engine, tokens, before, fresh)
    if not scores:
        return (Part("attention", compute_time, numbers, origins),)
    numbers |= {
        "bytes_read": scores * constants.SCORE_BYTES.value,
        "bandwidth": rates.bandwidth * constants.STREAMING.value,
    }
    return (Part("attention", roofline_time, numbers, origins),)


def _windowed_widths(engine: Engine, widths: float) -> float:
    """Elements of a key and a value in layers with a window, where they differ from ``widths`` of the others."""
    window = engine.model.window
    if window is None or not window.head_dim:
        return widths
    return float(window.head_dim + (window.value_head_dim or window.head_dim))


UNFUSED = "attention.unfused"
"""The figure of an accelerator: tokens of the longest prompt whose attention scores pass through memory."""


def _scores_in_memory(engine: Engine, tokens: float, before: float, fresh: float) -> float:
    """Attention scores of ``tokens`` that pass through memory, where no fused kernel keeps them on the chip.

    Each of the ``fresh`` tokens of a prompt sees ``before`` others on average. Longer prompts than the limit use a
    fused kernel; they take no less than a prompt at the limit.
    """
    longest = engine.cluster.accelerator.achievable.get(UNFUSED)
    if longest is None:
        return 0.0
    limit = longest.value
    heads = share_of_heads(engine.model.heads, engine.layout.tp)
    seen = min(fresh * before, limit * limit / 2) / fresh if fresh else before * (before <= limit)
    return tokens * seen * heads * (engine.whole.full_layers + engine.whole.window_layers)


def _activation_part(engine: Engine, tokens: float, busy: float) -> Part:
    """Reading and writing activations between GEMMs: norms, residuals, positions, conversion, sorting by expert."""
    numbers = {
        "bytes_read": activation_bytes(engine, tokens, busy),
        "bandwidth": engine.rates.bandwidth * constants.STREAMING.value,
    }
    return Part("activations", stream_time, numbers, {})


def _all_reduce_parts(engine: Engine, tokens: float) -> tuple[Part, ...]:
    """Two all-reduces of the hidden states in every layer."""
    model, links = engine.model, engine.tensor_links
    if links is None:
        return ()
    each = _all_reduce_seconds(engine, links, tokens * model.hidden * 2.0)
    numbers, origins = {"calls": 2.0 * model.layers, "each": each}, table_origins(engine.rates.table, each="all_reduce")
    norms = _norm_parts(engine, links, tokens)
    covered = _covered_seconds(engine, tokens, each)
    if not covered:
        return (Part("all_reduce", all_reduce_time, numbers, origins), *norms)
    return (Part("all_reduce", exposed_all_reduce_time, numbers | {"covered": covered}, origins), *norms)


def _all_reduce_seconds(engine: Engine, links: RankLinks, size: float) -> float:
    """Seconds of an all-reduce of ``size`` bytes over the tensor-parallel ranks."""
    each = links.library_all_reduce_seconds(size)
    if not links.direct:
        return each
    apart = launches.separates_norms(engine.layout, engine.model, engine.cluster.accelerator)
    software = engine.software if apart else ""
    return min(each, engine.rates.all_reduce_seconds(engine.layout.tp, size, links.inside, software) or each)


NORM_SUMS = 2 * 4.0
"""Bytes of a token that a norm over all heads sums over the ranks: the squares of queries and of keys, in 32 bits
(SGLang, pull requests 14416 and 16483: a tensor of tokens by two).
"""


def _norm_parts(engine: Engine, links: RankLinks, tokens: float) -> tuple[Part, ...]:
    """One small all-reduce in every layer whose queries and keys are normalized over the heads of all ranks."""
    layers = launches.layers_with_summed_norms(engine.model, engine.whole, engine.layout.tp)
    if not layers:
        return ()
    numbers = {"calls": float(layers), "each": _all_reduce_seconds(engine, links, tokens * NORM_SUMS)}
    origins = table_origins(engine.rates.table, each="all_reduce")
    return (Part("norm_all_reduce", all_reduce_time, numbers, origins),)


def _covered_seconds(engine: Engine, tokens: float, each: float) -> float:
    """The mean seconds of an all-reduce of ``each`` seconds that overlap with the GEMM before it, as far as the layout
    overlaps them.

    Tiles are reduced while the next ones are multiplied, so the shorter of the two overlaps except for one wave of
    tiles. A GEMM of few rows has a single wave, which covers nothing.
    """
    share, units = engine.layout.overlap.inside_gemms, engine.cluster.accelerator.compute_units
    if not share or units is None:
        return 0.0
    rows, columns = constants.REDUCED_TILE
    tiles = max(1.0, tokens / rows) * engine.model.hidden / columns
    share *= 1 - 1 / max(1.0, tiles * engine.cluster.ranks_per_accelerator / units)
    dense = dense_part(engine, tokens).seconds / (engine.share.dense + engine.share.replicated)
    reduced = (product for product in engine.products if product.reduced)
    covered = sum_of(product.number * min(each, product.weights * dense) for product in reduced)
    return share * covered / (2.0 * engine.model.layers)


def _launch_parts(engine: Engine, sequences: float, work: tuple[Part, ...], passes: float = 1.0) -> tuple[Part, ...]:
    """The launches of a step, and without captured graphs what the host takes longer to launch its kernels than the
    device to run them: launches are asynchronous, and overlap with the kernels launched before.
    """
    serving, own = engine.workload.serving, _launch_part(engine, sequences, passes)
    if serving is None or serving.captured_graphs:
        return (own,)
    kernels = own.with_numbers(host=0.0, sequences=0.0).seconds
    numbers = {
        "launches": passes * engine.host_launches,
        "each": engine.habits.eager,
        "device": sum_of(part.seconds for part in work) + kernels,
    }
    return (own, Part(HOST_LAUNCH, exposed_launch_time, numbers, {"each": "serving.eager of the software"}))


def _launch_part(engine: Engine, sequences: float, passes: float) -> Part:
    habits = engine.habits
    apart = not engine.cluster.accelerator.whole_graphs
    fused = passes * engine.whole.moe_layers if apart else 0.0
    small = launches.small_kernels(engine.layout, engine.model, engine.whole, engine.cluster.accelerator)
    origins = table_origins(engine.rates.table, each="gemm.bf16.floor")
    if SMALL in engine.rates.single:
        origins = origins | table_origins(engine.rates.table, small_kernel=SMALL)
    numbers = {
        "launches": passes * engine.launches - launches.FUSED * fused,
        "each": engine.rates.gemm_floor("bf16"),
        "host": habits.ahead if engine.runs_ahead else habits.host,
        "sequences": sequences,
        "sequence": habits.sequence,
        "fused": fused,
        "routed_layer": launches.FUSED_EXPERTS.value,
        "small": passes * small if apart else 0.0,
        "small_kernel": engine.rates.single.get(SMALL, launches.SMALL_KERNEL.value),
    }
    return Part(LAUNCH, launch_time, numbers, origins)
