"""The parts of a serving step of attention that selects keys or compressed entries without latent vectors (MiniMax-M3,
DeepSeek-V4).

Layers with an index attend to the tokens, or to the compressed entries, that it ranks highest; heavy layers of
compressed attention to all of their few entries. Each compressed layer also attends to the latest tokens, and its
entries are one vector for keys and values of all heads, which every tensor-parallel rank reads in full.

Source: DeepSeek-V4 (arXiv 2606.19348, section 2); vLLM, vllm/model_executor/models/deepseek_v4.py and minimax_m3.py;
measured modules of vLLM 0.24.0, SGLang 0.5.14 and 0.5.16 (ai-dynamo/aiconfigurator, commit 095f58a5, sparse_attention
and msa).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clusterspec.catalog.models import CompressedAttention
from clusterspec.cost.formulas.attention import compressed_entries
from clusterspec.cost.formulas.memory import share_of_heads
from clusterspec.cost.formulas.serving import cache_time, compute_time, index_time, latent_time
from clusterspec.cost.mixers import INDEX, sequence_cache
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.constants import Part, table_origins
from clusterspec.cost.serving.parts.sparse import CORE, KEYS, SCORES, mean_selected
from clusterspec.cost.serving.rates import DECODE, LONG
from clusterspec.quantity import precision_width
from clusterspec.records import NamedTuple

if TYPE_CHECKING:
    from clusterspec.cost.serving.engine import Engine

KEY = 2.0
"""Bytes of an element of an index key in addition to keys and values of tokens: 16 bits. One more token of a sequence
takes 43 ps on B200, 256 B at 6 TB/s, with a cache in 8 and in 16 bits alike (MiniMax-M3, SGLang 0.5.16, the same
commit, msa).
"""

BLOCK = 128.0
"""Tokens that share one score if an index selects blocks of keys: only their highest score is written (vLLM,
vllm/model_executor/models/minimax_m3.py).
"""


class Layers(NamedTuple):
    """Layers of one rank: ``indexed`` with an index, and ``full`` in all, those with an index included."""

    indexed: float
    full: float


def held_layers(engine: Engine) -> Layers:
    """The layers with softmax attention that windows do not limit."""
    model, full = engine.model, float(engine.whole.full_layers)
    if model.compressed:
        return Layers(float(min(model.compressed.light_layers, full)), full)
    return Layers(float(min(model.sparse.layers, full)) if model.sparse else 0.0, full)


def reading_parts(engine: Engine, fullest: float, context: float, tokens: float) -> tuple[Part, ...]:
    """Attention and scores for ``tokens`` of each of ``fullest`` sequences on the rank with the most of them."""
    calls = float(max(1, engine.whole.full_layers + engine.whole.window_layers + engine.whole.linear_layers))
    core = _compressed_part if engine.model.compressed else _selected_part
    return core(engine, fullest, context, tokens, calls), _keys_part(engine, fullest, context, tokens)


def _selected_part(engine: Engine, fullest: float, context: float, tokens: float, calls: float) -> Part:
    """Reading the selected keys and values of layers with an index, and all keys and values of the other layers."""
    read = fullest * (engine.sequence_bytes(context) - _unread_bytes(engine, context)) / calls
    rates = engine.rates
    table = rates.decode_table(engine.software, engine.workload.kv_precision)
    numbers = {
        "calls": calls,
        "floor": rates.attention_floor(table),
        "bytes_read": read,
        "bandwidth": rates.cache_read_rate(read, table),
    }
    return Part("cache", cache_time, numbers, table_origins(rates.table, floor=f"{table}.floor", bandwidth=table))


def _unread_bytes(engine: Engine, context: float) -> float:
    """Bytes of one sequence's cache that attention does not read: keys of the index, and entries that it did not
    select.
    """
    model, sparse = engine.model, engine.model.sparse
    assert sparse is not None
    heads = share_of_heads(model.kv_heads, engine.layout.tp)
    each = heads * (model.head_dim + model.value_width) * precision_width(engine.workload.kv_precision)
    keys = sequence_cache(model, (engine.whole,), context, engine.layout.tp).index_keys * INDEX
    return keys + held_layers(engine).indexed * each * max(0.0, context - sparse.tokens)


def _compressed_part(engine: Engine, fullest: float, context: float, tokens: float, calls: float) -> Part:
    """Reading and multiplying entries, in whole tiles of heads; entries of a narrow cache are converted to 16 bits."""
    rates, precision = engine.rates, engine.workload.kv_precision
    entries = _entries_of_layers(engine, context, 0.0)
    if engine.model.window:
        entries += engine.whole.window_layers * min(context, float(engine.model.window.tokens))
    read = fullest * entries * engine.model.head_dim * precision_width(precision) / calls
    rate, measured = rates.sparse_rate(precision)
    numbers = {
        "calls": calls,
        "floor": rates.attention_floor(DECODE),
        "bytes_read": read,
        "bandwidth": rates.cache_read_rate(read, DECODE),
        "flops": fullest * tokens * entries * _flops_of_entry(engine) / calls,
        "rate": rate,
    }
    origins = table_origins(rates.table, floor=f"{DECODE}.floor", bandwidth=DECODE, rate=measured)
    return Part(CORE, latent_time, numbers, origins)


def _keys_part(engine: Engine, fullest: float, context: float, tokens: float) -> Part:
    """Scores of the index: reading its keys, or multiplying them."""
    layers, rates = held_layers(engine).indexed, engine.rates
    scored = _scored_keys(engine, context)
    rate, source = _score_rate(engine)
    sparse = engine.model.sparse
    width = sparse.index_dim * (INDEX if engine.model.compressed else KEY) if sparse else 0.0
    read = fullest * scored * width
    numbers = {
        "calls": layers,
        "floor": rates.attention_floor(DECODE),
        "bytes_read": read,
        "bandwidth": rates.cache_read_rate(read, DECODE) if read else rates.bandwidth,
        "flops": fullest * tokens * scored * _flops_of_score(engine),
        "rate": rate,
    }
    return Part(KEYS, latent_time, numbers, table_origins(rates.table, floor=f"{DECODE}.floor", rate=source))


def prompt_parts(engine: Engine, tokens: float, length: float, fresh: float) -> tuple[Part, ...]:
    """Attention of ``tokens`` tokens of prompts of ``length``, and the scores of their index; the last ``fresh`` tokens
    of each are new.
    """
    layers, rates, before = held_layers(engine), engine.rates, length - fresh / 2
    if engine.model.compressed:
        flops = tokens * _entries_of_layers(engine, length, fresh) * _flops_of_entry(engine)
        rate, measured = rates.sparse_rate("")
    else:
        seen = layers.indexed * mean_selected(engine, length, fresh) + (layers.full - layers.indexed) * before
        widths = engine.model.head_dim + engine.model.value_width
        flops = 2 * tokens * share_of_heads(engine.model.heads, engine.layout.tp) * widths * seen
        rate, measured = rates.attention_rate(length, widths / 2), "attention.prefill"
    core = Part(CORE, compute_time, {"flops": flops, "rate": rate}, table_origins(rates.table, rate=measured))
    scores = tokens * layers.indexed * _scored_keys(engine, before)
    scoring, source = _score_rate(engine)
    numbers = {
        "flops": scores * _flops_of_score(engine),
        "rate": scoring,
        "bytes_read": scores * constants.INDEX_SCORE_BYTES / (1.0 if engine.model.compressed else BLOCK),
        "bandwidth": rates.bandwidth * constants.STREAMING.value,
    }
    return core, Part(SCORES, index_time, numbers, table_origins(rates.table, rate=source))


def _entries_of_layers(engine: Engine, length: float, fresh: float) -> float:
    """Mean number of entries and latest tokens that each of the last ``fresh`` tokens of a sequence of ``length``
    attends to, summed over compressed layers; without ``fresh`` tokens, the number for the next token.
    """
    part = engine.model.compressed
    assert part is not None
    layers, near = held_layers(engine), min(float(part.window), length)
    light = near + _selected_entries(engine, part, length, fresh)
    heavy = near + compressed_entries(length - fresh / 2, part.heavy_ratio)
    return layers.indexed * light + (layers.full - layers.indexed) * heavy


def _selected_entries(engine: Engine, part: CompressedAttention, length: float, fresh: float) -> float:
    """Compressed entries that a query of a lightly compressed layer attends to: the number that the index selects, or
    all entries if there are fewer.
    """
    held, new = (compressed_entries(each, part.light_ratio) for each in (length, fresh))
    return mean_selected(engine, held, new) if engine.model.sparse is not None else held - new / 2


def _scored_keys(engine: Engine, context: float) -> float:
    """The keys of the index that a token is scored with: of each token, or of each compressed entry of light layers."""
    part = engine.model.compressed
    return compressed_entries(context, part.light_ratio) if part else context


def _flops_of_entry(engine: Engine) -> float:
    """FLOPs of one query with one entry, a vector of keys and values of all heads, on one rank."""
    rows = max(
        share_of_heads(engine.model.heads, engine.layout.tp), engine.rates.single.get("attention.sparse.rows", 1)
    )
    return 2.0 * rows * 2 * engine.model.head_dim


def _flops_of_score(engine: Engine) -> float:
    """FLOPs of one query with one key of the index."""
    sparse = engine.model.sparse
    return 2.0 * sparse.index_heads * sparse.index_dim if sparse else 0.0


def _score_rate(engine: Engine) -> tuple[float, str]:
    """FLOP/s of the scores: in 8 bits of compressed entries, in 16 bits of tokens."""
    if engine.model.compressed:
        return engine.rates.index_rate
    return engine.rates.attention_rate(LONG), "attention.prefill"
