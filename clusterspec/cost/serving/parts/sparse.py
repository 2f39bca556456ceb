"""The parts of a serving step of latent attention to the tokens that an index selects (DeepSeek-V3.2, GLM-5).

Kernels multiply absorbed queries with the cache itself, of whole tiles of heads. The index scores every token before a
query, on every tensor-parallel rank alike.

Source: vLLM, vllm/v1/attention/backends/mla/flashmla_sparse.py and vllm/model_executor/models/deepseek_v2.py (Indexer);
measured modules of vLLM 0.24.0 and SGLang 0.5.14 (ai-dynamo/aiconfigurator, commit 095f58a5, sparse_attention).
"""

from __future__ import annotations

from clusterspec.cost.formulas.memory import share_of_heads
from clusterspec.cost.formulas.serving import compute_time, index_time, latent_time, stream_time
from clusterspec.cost.mixers import INDEX, sequence_cache
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.constants import Part, table_origins
from clusterspec.cost.serving.rates import DECODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.serving.engine import Engine

CORE, KEYS, SCORES = "latent_attention", "index_keys", "index_scores"
"""Parts: attention to selected tokens, scores of sequences that decode, scores of prompts."""


def indexed_layers(engine: Engine) -> float:
    """The layers of latent attention that have an index; 0 for other attention. All other layers attend to the tokens
    that the index of a layer before them selects (GLM-5.2).
    """
    model = engine.model
    if model.sparse is None or not model.latent or model.compressed:
        return 0.0
    return float(min(model.sparse.layers, engine.whole.full_layers))


def selects_keys(engine: Engine) -> bool:
    """Whether layers attend to selected or compressed keys without latent vectors (`selected_parts`)."""
    model = engine.model
    return bool(model.compressed) or (model.sparse is not None and not model.latent)


def selected_tokens(engine: Engine, context: float) -> float:
    """The tokens of a context whose latent vectors a kernel reads and multiplies.

    A kernel that converts a narrow cache computes as many in shorter contexts, too, and masks the rest.
    """
    sparse = engine.model.sparse
    assert sparse is not None
    return float(sparse.tokens) if _converts_cache(engine) else min(float(sparse.tokens), context)


def _converts_cache(engine: Engine) -> bool:
    """Whether attention over a cache in its precision converts the latent vectors that it reads to 16 bits."""
    return f"attention.sparse.{engine.workload.kv_precision}" in engine.rates.single


def core_bytes(engine: Engine, context: float) -> float:
    """Bytes of cache that attention reads for one sequence on one rank, over all layers, without keys of the index."""
    read = selected_tokens(engine, context)
    kept = sequence_cache(engine.model, (engine.whole,), read, engine.layout.tp)
    return kept._replace(index_keys=0.0).stored_bytes(engine.workload.kv_precision).total


def key_bytes(engine: Engine, context: float) -> float:
    """Bytes of the index keys of one sequence, which every rank reads in full."""
    return sequence_cache(engine.model, (engine.whole,), context, engine.layout.tp).index_keys * INDEX


def reading_parts(engine: Engine, fullest: float, context: float, tokens: float) -> tuple[Part, ...]:
    """Attention and scores for ``tokens`` of each of ``fullest`` sequences on the rank with the most of them."""
    rates, calls = engine.rates, float(max(1, engine.whole.full_layers + engine.whole.linear_layers))
    layers = indexed_layers(engine)
    read = fullest * core_bytes(engine, context) / calls
    every = engine.whole.full_layers * selected_tokens(engine, context)
    rate, measured = rates.sparse_rate(engine.workload.kv_precision)
    numbers = {
        "calls": calls,
        "floor": rates.attention_floor(DECODE),
        "bytes_read": read,
        "bandwidth": rates.cache_read_rate(read, DECODE),
        "flops": fullest * tokens * every * _flops_of_entry(engine) / calls,
        "rate": rate,
    }
    origins = table_origins(rates.table, floor=f"{DECODE}.floor", bandwidth=DECODE, rate=measured)
    keys = fullest * key_bytes(engine, context) / layers
    scoring, source = rates.index_rate
    index = {
        "calls": layers,
        "floor": rates.attention_floor(DECODE),
        "bytes_read": keys,
        "bandwidth": rates.cache_read_rate(keys, DECODE),
        "flops": fullest * tokens * context * _flops_of_score(engine),
        "rate": scoring,
    }
    sources = table_origins(rates.table, floor=f"{DECODE}.floor", bandwidth=DECODE, rate=source)
    return Part(CORE, latent_time, numbers, origins), Part(KEYS, latent_time, index, sources)


def absorbs_prompts(engine: Engine, length: float) -> bool:
    """Whether prompts of ``length`` tokens are multiplied with the cache itself, as sequences that decode.

    Some software runs prompts that are no longer than the selection as dense attention instead.
    """
    sparse = engine.model.sparse
    if sparse is None or not indexed_layers(engine):
        return False
    return length > sparse.tokens or not engine.dense_short_prompts


def prompt_parts(engine: Engine, tokens: float, length: float, fresh: float) -> tuple[Part, ...]:
    """Attention of ``tokens`` tokens of absorbed prompts of ``length``, and the scores of their index; the last
    ``fresh`` tokens of each are new.
    """
    layers, rates, before = indexed_layers(engine), engine.rates, length - fresh / 2
    heads = share_of_heads(engine.model.heads, engine.layout.tp)
    converted = _converts_cache(engine) and heads < constants.FEW_HEADS  # by the kernel of decoding
    rate, measured = rates.sparse_rate(engine.workload.kv_precision if converted else "")
    seen = selected_tokens(engine, length) if converted else mean_selected(engine, length, fresh)
    core = {"flops": tokens * engine.whole.full_layers * seen * _flops_of_entry(engine), "rate": rate}
    scoring, source = rates.index_rate
    scores = tokens * layers * before
    index = {
        "flops": scores * _flops_of_score(engine),
        "rate": scoring,
        "bytes_read": scores * constants.INDEX_SCORE_BYTES,
        "bandwidth": rates.bandwidth * constants.STREAMING.value,
    }
    return (
        Part(CORE, compute_time, core, table_origins(rates.table, rate=measured)),
        Part(SCORES, index_time, index, table_origins(rates.table, rate=source)),
        Part("absorbed_matrices", stream_time, absorbed_traffic(engine, tokens), {}),
    )


def mean_selected(engine: Engine, length: float, fresh: float) -> float:
    """The mean number of selected tokens that each of the last ``fresh`` tokens of a prompt attends to."""
    sparse = engine.model.sparse
    assert sparse is not None
    most, first = float(sparse.tokens), length - fresh
    if length <= most or not fresh:
        return min(most, length - fresh / 2)
    below = max(0.0, most - first)  # tokens that see fewer than the selection
    return (below * (first + below / 2) + (fresh - below) * most) / fresh


def absorbed_traffic(engine: Engine, tokens: float) -> dict[str, float]:
    """The numbers of `stream_time` for the activations of the absorbed matrices of ``tokens`` tokens in 16 bits, heads
    filled up to a tile where an index selects tokens.
    """
    model, heads = engine.model, share_of_heads(engine.model.heads, engine.layout.tp)
    filled = max(heads, _padded_query_rows(engine)) if indexed_layers(engine) else heads
    return {
        "bytes_read": tokens * engine.whole.full_layers * filled * 2 * (model.latent_kv + model.head_dim) * 2.0,
        "bandwidth": engine.rates.bandwidth * constants.STREAMING.value,
    }


def _padded_query_rows(engine: Engine) -> float:
    """Rows of a kernel's tile, to which it pads the heads of one query."""
    return engine.rates.single.get("attention.sparse.rows", engine.rates.latent_rows)


def _flops_of_entry(engine: Engine) -> float:
    """FLOPs of one query with one latent vector, on one rank."""
    model = engine.model
    rows = max(share_of_heads(model.heads, engine.layout.tp), _padded_query_rows(engine))
    return 2.0 * rows * (2 * model.latent_kv + model.latent_rope)


def _flops_of_score(engine: Engine) -> float:
    """FLOPs of one query with one key of the index."""
    sparse = engine.model.sparse
    assert sparse is not None
    return 2.0 * sparse.index_heads * sparse.index_dim
