"""Serving designs as launches of ``trtllm-serve``, each with the YAML file of options that it reads.

Options and keys: nvidia.github.io/TensorRT-LLM/1.3.0rc11/examples/deepseek_r1_reasoning_parser.html (``--tp_size``,
``--ep_size``, ``--pp_size``, ``--max_batch_size``, ``--max_num_tokens``, ``--config``; ``enable_attention_dp``,
``kv_cache_config``, ``cuda_graph_config``), nvidia.github.io/TensorRT-LLM/1.4.0rc1, qwen3.5-gb300-agentic-decode.yaml
(``speculative_config``, ``cache_transceiver_config``, ``max_seq_len``; earlier releases overwrite ``max_draft_len`` by
``num_nextn_predict_layers``, which later ones call deprecated, so both are written), and NVIDIA/TensorRT-LLM,
tensorrt_llm/commands/serve.py at 4c05a748 (``serve``) and tensorrt_llm/llmapi/llm_args.py at fcd3f316
(``_ParallelConfig``: tp × pp ranks); engines on several nodes: docs/source/commands/trtllm-serve/trtllm-serve.rst,
"Multi-node Serving with Slurm", on nodes from ``--relative`` of the job on (slurm.schedmd.com/srun.html). All were read
on 2026-11-22; serve.py at 00209af1, where ``--config`` is another name of ``--extra_llm_api_options``, and a later
llm_args.py (``KvCacheConfig``, ``CacheTransceiverConfig``, ``MTPDecodingConfig``, ``cuda_graph_config``,
``disable_overlap_scheduler``, of classes that refuse other keys) on 2026-11-26. Every option and key was compared again
that day with serve.py at 00209af1 and llm_args.py in longcheng-nv/TensorRT-LLM, a fork, at 9584b66a (before 1.4), flag
by flag: ``python -m tools.export_targets`` does so from a clone, and tests/exchange/targets.csv records them.
The limits that the classes set on values (before 1.3 and of late 2026), and the precisions of a cache that
``_torch/pyexecutor/model_loader.py`` takes, held in every file of options of those designs on 2026-11-29.
``TRTLLM_GEMM_ALLREDUCE_FUSION_ENABLED`` is read by tensorrt_llm/_torch/modules/linear.py (weights in NVFP4,
architectures from sm_100 on).

With ``enable_attention_dp`` every one of the tp ranks is an attention replica (docs.nvidia.com/dynamo/v1.3.0, DP Rank
Routing: attention_dp_size = tensor_parallel_size), so a layout with both has no such launch.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.exchange.documents import key_lines
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
    omitted_weights,
    repository_of,
    script,
    served_workload,
    visible_accelerators,
)
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, NotExportable
from clusterspec.exchange.import_result import Value

RELEASES = ("1.3.0rc11",)
"""Releases whose pages have the options that are written."""
_CACHE_PRECISIONS = {"fp8", "nvfp4"}
_BLACKWELL = {"sm_100", "sm_103"}


def write(source: ExportInput) -> ExportedFile:
    """A file of options for each kind of engine, and the commands of all replicas.

    Raises `NotExportable` for training, unchecked releases, and layouts that TensorRT-LLM does not have.
    """
    work, _ = served_workload(source, "trt-llm")
    release = checked_release(source, "trt-llm", RELEASES)
    omitted: list[str] = []
    model, kinds = repository_of(source, omitted), engine_kinds(source)
    lines, started = [heading(source, f"TensorRT-LLM {release}")], []
    for kind in kinds:
        name = f"{kind.role or 'engine'}.yaml"
        options = _options(kind, work, omitted)
        lines += [
            f"cat > {name} <<'EOF'",
            *(line for key, value in options.items() for line in key_lines(key, value, 0)),
        ]
        lines += ["EOF"]
        words = [*_degrees(kind.layout), *_limits(kind.layout, work, omitted)]
        for launch in launches(kind, source.cluster.ranks_per_node):
            if launch.node:
                continue  # one command starts the ranks of all nodes
            fused = _fused_all_reduces(source, kind.layout, work)
            start = f"{visible_accelerators(source, launch)}{fused}{_launcher(launch)}trtllm-serve {model}"
            port = f"--host 0.0.0.0 --port {8000 + launch.first}"
            started.append((launch, command(start, *words, f"--config {name}", port)))
    omitted += omitted_device_limits(source, started)
    omitted += omitted_router(source, kinds, "trtllm-serve disaggregated")
    for layout in (kind.layout for kind in kinds):
        if layout.tp > 1 and layout.overlap.inside_gemms and not _fused_all_reduces(source, layout, work):
            omitted.append("all-reduces inside GEMMs: they need weights in NVFP4 and Blackwell")
    return ExportedFile(script(lines, started), tuple(dict.fromkeys(omitted)))


def _fused_all_reduces(source: ExportInput, layout: Layout, work: Workload) -> str:
    """The environment of an engine whose GEMMs include the all-reduces that follow them; empty if none do."""
    fits = work.parameter_precision in {"fp4", "nvfp4"} and source.cluster.accelerator.architecture in _BLACKWELL
    return "TRTLLM_GEMM_ALLREDUCE_FUSION_ENABLED=1 " if fits and layout.tp > 1 and layout.overlap.inside_gemms else ""


def _launcher(launch: Launch) -> str:
    """The launch command of an engine on several nodes of the job, with all ranks in one MPI world."""
    if launch.nodes == 1:
        return ""
    nodes = f"-N {launch.nodes}" + (f" --relative={launch.number - 1}" if launch.number > 1 else "")
    return f"srun --mpi=pmix {nodes} --ntasks-per-node={launch.ranks} trtllm-llmapi-launch "


def _degrees(layout: Layout) -> Iterator[str]:
    """The options of the degrees of an engine. Raises `NotExportable` if attention replicas have several ranks."""
    if layout.tp > 1 and layout.attention_dp > 1:
        why = "every rank is an attention replica with enable_attention_dp"
        raise NotExportable(f"TensorRT-LLM has no tp {layout.tp} within attention replicas: {why}")
    ranks = layout.tp * layout.attention_dp
    yield f"--tp_size {ranks}"
    if layout.pp > 1:
        yield f"--pp_size {layout.pp}"
    if layout.ep > 1:
        yield f"--ep_size {layout.ep}"


def _limits(layout: Layout, work: Workload, omitted: list[str]) -> Iterator[str]:
    """The options of lengths and batches of an engine without attention replicas."""
    serving = work.serving
    if serving is None:
        return
    if serving.longest_request:  # else the context of the model
        yield f"--max_seq_len {serving.longest_request}"
    why = "with attention replicas, its documentation does not say whether it counts a replica or the engine"
    for name, value in (("max_batch_size", serving.max_sequences), ("max_num_tokens", serving.chunk_tokens)):
        if value and layout.attention_dp > 1:
            omitted.append(f"--{name} {value}: {why}")
        elif value:
            yield f"--{name} {value}"
    if serving.receive_interval > 1:
        why = "TensorRT-LLM takes requests every step"
        omitted.append(f"the receive interval of {serving.receive_interval} steps: {why}")
    if not serving.of_free:
        share = f"{serving.memory_fraction:g} of the memory of an accelerator"
        omitted.append(f"{share}: free_gpu_memory_fraction is a share of the memory that the weights leave")


def _cache(work: Workload) -> Iterator[tuple[str, Value]]:
    """The keys of ``kv_cache_config`` (llmapi/llm_args.py, KvCacheConfig): the share of the memory that the weights
    leave, and the precision: fp8, nvfp4 or a type of PyTorch.
    """
    if work.serving is not None and work.serving.of_free:
        yield "free_gpu_memory_fraction", work.serving.memory_fraction
    if work.kv_precision in _CACHE_PRECISIONS:
        yield "dtype", work.kv_precision


def _options(kind: EngineKind, work: Workload, omitted: list[str]) -> dict[str, Value]:
    """The keys of the options file of an engine."""
    layout, serving = kind.layout, work.serving
    options: dict[str, Value] = {"enable_attention_dp": layout.attention_dp > 1}
    if serving is not None and serving.chunk_tokens:
        options["enable_chunked_prefill"] = True
    if serving is not None and serving.hold_steps > 1 and layout.attention_dp > 1 and kind.role != "prefill":
        options["attention_dp_config"] = {
            "enable_balance": True,
            "timeout_iters": serving.hold_steps,
            "batching_wait_iters": 0,
        }
    if cache := dict(_cache(work)):
        options["kv_cache_config"] = cache
    if serving is not None and not serving.captured_graphs:
        options["cuda_graph_config"] = None
    if serving is not None:
        omitted += omitted_cache(serving, "kv_cache_config.host_cache_size")
    omitted += omitted_cache_precision(work, "kv_cache_config.dtype", _CACHE_PRECISIONS)
    tokens = serving.draft_tokens if serving is not None else 0
    if tokens and drafts_with_model(work):
        drafts = {"num_nextn_predict_layers": tokens, "max_draft_len": tokens}
        options["speculative_config"] = {"decoding_type": "MTP", **drafts}
    elif serving is not None and tokens:
        ngram = serving.draft_method == "ngram"
        needs = "NGram, which was not checked with its overlap scheduler" if ngram else "a draft model"
        omitted.append(omitted_drafts(serving, "speculative_config", needs))
    if kind.role:
        options["cache_transceiver_config"] = {"backend": "NIXL"}
    if kind.role == "prefill":  # examples/disaggregated/README.md: engines of prompts run without it
        options["disable_overlap_scheduler"] = True
    if layout.redundant_experts:
        omitted.append(f"{layout.redundant_experts} redundant experts: see moe_config.load_balancer")
    if layout.ep > 1 and layout.dispatcher.kind not in {"all-to-all", "all-gather"}:
        omitted.append(f"the dispatcher {layout.dispatcher.kind}: TensorRT-LLM chooses its own")
    if work.parameter_precision != "fp16" and not is_published_precision(work):
        omitted.append(omitted_weights(work))
    return options
