"""Serving designs as launches of SGLang, one for each node of each replica.

Options: sglang/srt/server_args.py of 0.5.9 to 0.5.18, and sglang/srt/arg_groups/fields of 0.5.20 to 0.5.23 on PyPI.
Attention replicas divide ``--tp-size`` ranks, ``--max-running-requests`` and ``--chunked-prefill-size`` among them
(0.5.9: server_args.py, line 2117, and model_executor/model_runner.py, line 597; 0.5.18: server_args.py, line 6686;
0.5.21: arg_groups/parallel_hook.py, line 266, and model_executor/pool_configurator.py, line 844; 0.5.23: lines 331 and
956). 0.5.22 and 0.5.23 have an option of its own for them and turn the former two into it (parallel_hook.py, line 39).
Refused: stages with drafts but in prefill engines (0.5.9: server_args.py, line 5136; 0.5.23: validation_hook.py, line
131), and chunks of a replica that are no multiple of a page (5180; 244). DeepEP takes all ranks for experts (2182;
overrides.py, line 1619).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cluster.requests import Serving
from clusterspec.exchange.exporters.engines import (
    EngineKind,
    Launch,
    checked_release,
    command,
    drafts_with_model,
    engine_kinds,
    heading,
    is_published_precision,
    launches,
    omitted_cache,
    omitted_cache_precision,
    omitted_device_limits,
    omitted_drafts,
    omitted_router,
    omitted_share,
    omitted_weights,
    quantizes_at_load,
    repository_of,
    require_all_ranks,
    script,
    served_workload,
    visible_accelerators,
)
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, NotExportable

_BEFORE_PHASES = ("0.5.9", "0.5.10.post1", "0.5.12.post1")
"""Releases with one option for captured graphs; later ones have one for each phase."""
_ATTENTION = ("0.5.22", "0.5.23")
"""Releases with an option for attention replicas; the first two will be removed after 2026."""
RELEASES = (*_BEFORE_PHASES, "0.5.15.post1", "0.5.18", "0.5.20", "0.5.21", *_ATTENTION)
"""Releases on PyPI whose sources have all options that are written."""
_PORT = 13345
_BOOTSTRAP = 8998
"""The first port on which a prefill engine accepts connections of decode engines: the default of SGLang."""


def write(source: ExportInput) -> ExportedFile:
    """The commands of all nodes, replica by replica. Raises `NotExportable` for training and unchecked releases."""
    work, _ = served_workload(source, "sglang")
    if source.cluster.accelerator.vendor == "Google":
        raise NotExportable("SGLang runs on TPUs as SGLang-JAX, a server of its own whose options were not checked")
    release = checked_release(source, "sglang", RELEASES)
    omitted: list[str] = []
    model, kinds = repository_of(source, omitted), engine_kinds(source)
    started = []
    omitted += omitted_degrees(kinds)
    for kind in kinds:
        limits = precision_options(work, kind.layout.attention_dp, omitted)
        words = [f"python3 -m sglang.launch_server --model-path {model}", *engine_options(kind, work, release)]
        words += [*batch_options(kind.layout, work, release, omitted), *limits]
        for launch in launches(kind, source.cluster.ranks_per_node):
            start = f"{visible_accelerators(source, launch)}{words[0]}"
            started.append((launch, command(start, *words[1:], *_launch_options(kind, launch))))
    omitted += omitted_device_limits(source, started)
    omitted += omitted_router(source, kinds, "sglang_router")
    return ExportedFile(script([heading(source, f"SGLang {release}")], started), tuple(dict.fromkeys(omitted)))


def engine_options(kind: EngineKind, work: Workload, release: str = "0.5.21") -> Iterator[str]:
    """The options of the degrees of an engine, its experts, and its role."""
    layout = kind.layout
    if layout.pp > 1 and work.serving is not None and work.serving.draft_tokens and _drafts(work, layout):
        raise NotExportable("SGLang drafts no tokens with pipeline stages")
    yield f"--tp-size {layout.tp * layout.attention_dp}"
    if layout.pp > 1:
        yield f"--pp-size {layout.pp}"
    if layout.attention_dp > 1:
        apart = "--attn-dp-size {0}" if release in _ATTENTION else "--dp-size {0} --enable-dp-attention"
        yield apart.format(layout.attention_dp)
    if layout.ep > 1:
        yield f"--ep-size {layout.ep}"
        if layout.dispatcher.kind == "deepep":
            require_all_ranks(layout, "SGLang with DeepEP")
            yield "--moe-a2a-backend deepep"
        if layout.redundant_experts:
            yield f"--enable-eplb --ep-num-redundant-experts {layout.redundant_experts}"
        if layout.overlap.ep and _may_overlap(layout):
            yield "--enable-two-batch-overlap"
    if kind.role:
        yield f"--disaggregation-mode {kind.role}"
    if work.serving is not None and work.serving.transfer.block_tokens:
        yield f"--page-size {work.serving.transfer.block_tokens}"


def _drafts(work: Workload, layout: Layout) -> bool:
    """Whether options for drafted tokens are written: for drafts by layers of the model, and for matches in the prompt
    with one attention replica.
    """
    matched = work.serving is not None and work.serving.draft_method == "ngram"
    return drafts_with_model(work) or (matched and layout.attention_dp == 1)


def _may_overlap(layout: Layout) -> bool:
    """Whether two batches may overlap: only with DeepEP or attention replicas (0.5.21: validation_hook.py, line
    521).
    """
    return layout.dispatcher.kind == "deepep" or layout.attention_dp > 1


def omitted_degrees(kinds: Iterable[EngineKind]) -> Iterator[str]:
    """Settings of engine layouts for which there are no options."""
    for layout in (kind.layout for kind in kinds):
        if layout.ep > 1 and layout.overlap.ep and not _may_overlap(layout):
            yield "the overlap of expert traffic: --enable-two-batch-overlap needs DeepEP or attention replicas"
        if layout.ep > 1 and layout.dispatcher.kind == "hybrid":
            yield "the dispatcher hybrid: see --moe-a2a-backend"
        if layout.tp > 1 and layout.overlap.inside_gemms:
            yield "all-reduces inside GEMMs: no option of SGLang says so"


def batch_options(layout: Layout, work: Workload, release: str, omitted: list[str]) -> Iterator[str]:
    """The options of lengths, batches and memory; the values are totals over all attention replicas."""
    serving = work.serving
    if serving is None:
        return
    if serving.longest_request:  # else the context of the model, of which the cache is the limit
        yield f"--context-length {serving.longest_request}"
    if serving.max_sequences:
        yield f"--max-running-requests {serving.max_sequences * layout.attention_dp}"
    if serving.chunk_tokens:
        yield f"--chunked-prefill-size {_chunk_tokens(serving, layout.attention_dp, omitted)}"
    if not serving.of_free:
        yield f"--mem-fraction-static {serving.memory_fraction:g}"
    if not serving.captured_graphs:
        yield "--disable-cuda-graph" if release in _BEFORE_PHASES else "--disable-decode-cuda-graph"
    if serving.receive_interval > 1:
        yield f"--scheduler-recv-interval {serving.receive_interval}"
    if serving.hold_steps > 1 and layout.attention_dp > 1:
        yield f"--enable-prefill-delayer --prefill-delayer-max-delay-passes {serving.hold_steps}"


def _chunk_tokens(serving: Serving, replicas: int, omitted: list[str]) -> int:
    """The tokens of a chunk over all attention replicas. If the design states pages, the chunk of each replica is a
    multiple of a page.
    """
    chunk = max(serving.chunk_tokens or 0, (serving.chunk_of_replica(replicas) or 0) * replicas)
    page = (serving.transfer.block_tokens or 1) * replicas
    whole = max(page, chunk // page * page) if page > replicas else chunk
    if whole != chunk:
        omitted.append(f"chunks of {chunk:,} tokens: SGLang needs whole pages, {whole:,}")
    return whole


def precision_options(work: Workload, replicas: int, omitted: list[str]) -> Iterator[str]:
    """The options of precisions and speculation for ``replicas`` attention replicas; properties of the cache without
    options are added to ``omitted``.

    Matches in the prompt are a chain if the breadth of their tree is 1. Drafts are counted with the token before them,
    and attention replicas refuse them (0.5.23: arg_groups/speculative_hook.py, lines 1285 to 1370; 0.5.9:
    server_args.py, lines 2461 to 2500).
    """
    if work.kv_precision == "fp8":
        yield "--kv-cache-dtype fp8_e4m3"
    omitted += omitted_cache_precision(work, "--kv-cache-dtype")
    if quantizes_at_load(work, omitted):
        yield "--quantization fp8"
    elif work.parameter_precision == "fp16":
        yield "--dtype half"
    elif not is_published_precision(work):
        omitted.append(omitted_weights(work))
    serving = work.serving
    if serving is None:
        return
    if serving.of_free:
        omitted.append(omitted_share(serving, "--mem-fraction-static"))
    omitted += omitted_cache(serving, "--enable-hierarchical-cache")
    tokens = serving.draft_tokens
    if tokens and drafts_with_model(work):
        yield f"--speculative-algorithm EAGLE --speculative-num-steps {tokens}"
        yield f"--speculative-eagle-topk 1 --speculative-num-draft-tokens {tokens + 1}"
    elif tokens and serving.draft_method == "ngram" and replicas == 1:
        yield f"--speculative-algorithm NGRAM --speculative-num-draft-tokens {tokens + 1}"
        yield "--speculative-ngram-max-bfs-breadth 1"
    elif tokens:
        needs = "one replica of attention" if serving.draft_method == "ngram" else "a draft model"
        omitted.append(omitted_drafts(serving, "--speculative-algorithm", needs))


def _launch_options(kind: EngineKind, launch: Launch) -> Iterator[str]:
    """The options of one node of a replica."""
    if launch.nodes > 1:
        yield f"--nnodes {launch.nodes} --node-rank {launch.node} --dist-init-addr $HEAD_ADDRESS:{_PORT}"
    yield f"--host 0.0.0.0 --port {30000 + 10 * launch.first}"
    if kind.role == "prefill" and launch.first:
        yield f"--disaggregation-bootstrap-port {_BOOTSTRAP + launch.first}"
