"""Serving designs as ``vllm serve`` commands, one for each node of each replica.

Options: vLLM, docs/serving/data_parallel_deployment.md (ranks of data parallelism on several nodes),
docs/serving/parallelism_scaling.md, commit 096bd6a4 (one engine on several nodes, without Ray),
vllm/config/speculative.py, commit 002e77c1 (``method`` is required without a draft model),
vllm/model_executor/layers/quantization (``fp8`` quantizes weights as they are loaded; the method of a quantized
checkpoint is read from its configuration), vllm/config/kv_transfer.py, vllm/envs.py and
vllm/distributed/kv_transfer/kv_connector/factory.py (``NixlConnector`` with ``kv_both``, and its side channel) and
vllm/config/parallel.py, EPLBConfig (redundant experts) and All2AllBackend, of the releases in `RELEASES`. Microbatches
(``--enable-dbo``) start with kernels of DeepEP only (0.33.0: vllm/config/vllm.py, line 2180). Experts lie on all
ranks of tensor and data parallelism (0.33.0: vllm/config/parallel.py, line 571). Without an option, attention replicas
gather the tokens of all (0.33.0: vllm/config/parallel.py, line 220, ``allgather_reducescatter``).
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
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput

RELEASES = ("0.18.0", "0.22.1", "0.25.1", "0.28.0", "0.31.0", "0.33.0")
"""Releases on PyPI whose sources have all options that are written."""
_HEAD = "$HEAD_ADDRESS"
_PORT = 13345
_SIDE_CHANNEL = 5600
"""The first port for the exchange of cache addresses between engines: the default of vLLM."""
_BY_PLUGIN = ("AWS", "Google", "Huawei")
"""Vendors for whose accelerators vLLM needs a plugin. Gaudi needs one as well; vllm/platforms of 0.33.0 has none of
them.
"""
_DEEPEP = {"": "deepep_high_throughput", "prefill": "deepep_high_throughput", "decode": "deepep_low_latency"}
"""The DeepEP kernels by the role of an engine: for many tokens, or for few tokens with captured graphs."""
_TRANSFER = '\'{"kv_connector": "NixlConnector", "kv_role": "kv_both"}\''


def write(source: ExportInput) -> ExportedFile:
    """The commands of all nodes, replica by replica. Raises `NotExportable` for training and unchecked releases."""
    work, _ = served_workload(source, "vllm")
    release = checked_release(source, "vllm", RELEASES)
    started, kinds = [], engine_kinds(source)
    omitted: list[str] = list(omitted_degrees(kinds))
    model, limits = repository_of(source, omitted), list(limit_options(work, omitted))
    for kind in kinds:
        options = [*engine_options(kind, work), *limits]
        for launch in launches(kind, source.cluster.ranks_per_node):
            environment = visible_accelerators(source, launch) + (_side_channel(launch) if kind.role else "")
            start = f"{environment}vllm serve {model}"
            started.append((launch, command(start, *options, *_launch_options(kind.layout, launch))))
    accelerator = source.cluster.accelerator
    if accelerator.vendor in _BY_PLUGIN or "Gaudi" in accelerator.name:
        of = "Gaudi" if "Gaudi" in accelerator.name else accelerator.vendor
        omitted.append(f"the plugin of vLLM for {of}, with the release that it needs and options of its own")
    omitted += [*_omitted_by_kernels(kinds, work), *_omitted_by_connector(kinds)]
    omitted += omitted_device_limits(source, started)
    omitted += omitted_router(source, kinds)
    return ExportedFile(script([heading(source, f"vLLM {release}")], started), tuple(dict.fromkeys(omitted)))


def _side_channel(launch: Launch) -> str:
    """The environment of an engine that sends or receives caches: its address, and a port that is unique on the
    node.
    """
    port = _SIDE_CHANNEL + launch.first
    return f"VLLM_NIXL_SIDE_CHANNEL_HOST=$NODE_ADDRESS VLLM_NIXL_SIDE_CHANNEL_PORT={port} "


def engine_options(kind: EngineKind, work: Workload) -> Iterator[str]:
    """The options of the degrees of an engine, its experts, and the transfer of caches."""
    layout, serving = kind.layout, work.serving
    yield f"--tensor-parallel-size {layout.tp}"
    if layout.pp > 1:
        yield f"--pipeline-parallel-size {layout.pp}"
    if layout.attention_dp > 1:
        yield f"--data-parallel-size {layout.attention_dp}"
    if layout.ep > 1:
        require_all_ranks(layout, "vLLM")
        yield "--enable-expert-parallel"
        if layout.redundant_experts:
            yield f"--enable-eplb --eplb-config '{{\"num_redundant_experts\": {layout.redundant_experts}}}'"
        if layout.dispatcher.kind == "deepep" and layout.attention_dp > 1:
            yield f"--all2all-backend {_DEEPEP[kind.role]}"
            if layout.overlap.ep:
                yield "--enable-dbo"
    if kind.role:
        yield f"--kv-transfer-config {_TRANSFER}"
    if serving is not None and serving.transfer.block_tokens:
        yield f"--block-size {serving.transfer.block_tokens}"


def omitted_degrees(kinds: Iterable[EngineKind]) -> Iterator[str]:
    """Settings of engine layouts for which there are no options."""
    for layout in (kind.layout for kind in kinds):
        within = layout.attention_dp > 1 and layout.dispatcher.kind == "deepep"
        if layout.ep > 1 and layout.overlap.ep and not within:
            yield "the overlap of expert traffic: --enable-dbo needs attention replicas and kernels of DeepEP"
        if layout.ep > 1 and layout.dispatcher.kind != "all-to-all" and not within:
            yield f"the dispatcher {layout.dispatcher.kind}: see --all2all-backend"
        elif layout.ep > 1 and layout.attention_dp > 1 and not within:
            yield "the dispatcher all-to-all: by default vLLM gathers the tokens of all replicas; see --all2all-backend"
        if layout.tp > 1 and layout.overlap.inside_gemms:
            yield "all-reduces inside GEMMs: see pass_config of --compilation-config"


def _omitted_by_kernels(kinds: Iterable[EngineKind], work: Workload) -> Iterator[str]:
    """A note that vLLM captures no graphs with the DeepEP kernels for many tokens (0.33.0: config/compilation.py,
    1243).
    """
    captured = work.serving is not None and work.serving.captured_graphs
    for kind in kinds:
        layout = kind.layout
        deepep = layout.ep > 1 and layout.attention_dp > 1 and layout.dispatcher.kind == "deepep"
        if captured and deepep and kind.role == "":
            yield f"captured graphs: vLLM has none with --all2all-backend {_DEEPEP['']}"


def _omitted_by_connector(kinds: Iterable[EngineKind]) -> Iterator[str]:
    """A note that engines of several stages may need another connector (0.33.0:
    docs/features/nixl_connector_compatibility.md, Pipeline parallelism).
    """
    if any(kind.role and kind.layout.pp > 1 for kind in kinds):
        yield (
            "caches of engines with pipeline stages: NixlConnector refuses stages of hybrid caches; "
            "NixlPushConnector sends from prefill stages to decode engines of one stage"
        )


def _launch_options(layout: Layout, launch: Launch) -> Iterator[str]:
    """The options of one node of a replica."""
    if launch.nodes == 1:
        yield f"--port {8000 + launch.first}"
        return
    if layout.attention_dp > 1:
        yield f"--data-parallel-size-local {launch.local}"
        yield f"--data-parallel-address {_HEAD} --data-parallel-rpc-port {_PORT}"
        if launch.node:
            yield f"--data-parallel-start-rank {launch.node * launch.local}"
    else:
        yield f"--nnodes {launch.nodes} --node-rank {launch.node} --master-addr {_HEAD}"
    if launch.node:
        yield "--headless"


def limit_options(work: Workload, omitted: list[str]) -> Iterator[str]:
    """The options of lengths, batches, memory, precisions and speculation."""
    serving = work.serving
    if serving is not None:
        # "auto" is the context of the model, or as much of it as the cache holds: without it vLLM refuses to start
        # where the cache is smaller (0.14: pull request 29431; 0.33.0: v1/core/kv_cache_planning.py, 1545)
        yield f"--max-model-len {serving.longest_request or 'auto'}"
        if serving.max_sequences:
            yield f"--max-num-seqs {serving.max_sequences}"
        if serving.chunk_tokens:
            yield f"--max-num-batched-tokens {_step_tokens(serving, omitted)}"
        yield from _memory_options(serving, omitted)
        if not serving.captured_graphs:
            yield "--enforce-eager"
        if serving.receive_interval > 1:
            omitted.append(f"the receive interval of {serving.receive_interval} steps: vLLM takes requests every step")
        if serving.hold_steps > 1:
            omitted.append(f"{serving.hold_steps} steps of holding prompts: vLLM starts each at once")
        if serving.draft_tokens:
            yield from _speculation(work, serving, omitted)
    if work.kv_precision == "fp8":
        yield "--kv-cache-dtype fp8"
    omitted += omitted_cache_precision(work, "--kv-cache-dtype")
    if quantizes_at_load(work, omitted):
        yield "--quantization fp8"
    elif work.parameter_precision in {"fp16", "fp32"}:
        yield f"--dtype { {'fp16': 'float16', 'fp32': 'float32'}[work.parameter_precision] }"
    elif not is_published_precision(work):
        omitted.append(omitted_weights(work))


def _memory_options(serving: Serving, omitted: list[str]) -> Iterator[str]:
    """The option for the share of memory used for weights and cache."""
    if serving.of_free:
        omitted.append(omitted_share(serving, "--gpu-memory-utilization"))
    else:
        yield f"--gpu-memory-utilization {serving.memory_fraction:g}"
    omitted += omitted_cache(serving, "--kv-offloading-size and --kv-transfer-config")


def _step_tokens(serving: Serving, omitted: list[str]) -> int:
    """The tokens of a step: at least the number of sequences, since vLLM refuses less (0.33.0: config/scheduler.py,
    331).
    """
    chunk, sequences = serving.chunk_tokens or 0, serving.max_sequences or 0
    if chunk < sequences:
        omitted.append(
            f"chunks of {chunk:,} tokens: vLLM needs at least a token in each step for each of {sequences:,} sequences"
        )
    return max(chunk, sequences)


def _speculation(work: Workload, serving: Serving, omitted: list[str]) -> Iterator[str]:
    """The option for drafted tokens; prompt matching has a default length (0.33.0: speculative.py, 1303)."""
    method = "mtp" if drafts_with_model(work) else serving.draft_method
    if method == "ngram" or drafts_with_model(work):
        drafts = f'{{"method": "{method}", "num_speculative_tokens": {serving.draft_tokens}}}'
        yield f"--speculative-config '{drafts}'"
    else:
        omitted.append(omitted_drafts(serving, "--speculative-config", "a method or a draft model"))
