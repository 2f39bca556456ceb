"""Serving designs as ``vllm serve`` commands, one for each node of each replica.

Options: vLLM, docs/serving/data_parallel_deployment.md (ranks of data parallelism on several nodes),
docs/serving/parallelism_scaling.md, commit 096bd6a4 (one engine on several nodes, without Ray),
vllm/config/speculative.py, commit 002e77c1 (``method`` is required without a draft model) and
vllm/model_executor/layers/quantization (``fp8`` quantizes weights as they are loaded; the method of a quantized
checkpoint is read from its configuration).
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.exchange.exporters.registry import (
    ExportedFile,
    ExportInput,
    NotExportable,
    require_vendor,
    unchanged_model,
)
from clusterspec.units import plural

MOST_COMMANDS = 2_000
_HEAD = "$HEAD_ADDRESS"
_PORT = 13345
_PREDICTING = (
    "deepseek-v3",
    "deepseek-r1",
    "deepseek-v4",
    "glm-4.5",
    "glm-4.6",
    "glm-4.7",
    "glm-5",
    "mimo-v2",
    "qwen3.5",
)
"""Models, by the start of their ids, whose checkpoints have layers of multi-token prediction."""


def write(source: ExportInput) -> ExportedFile:
    """The commands of all nodes, replica by replica. Raises `NotExportable` for training and mixed engines."""
    work, layout = source.workload, source.layout
    if work.kind != "serve":
        raise NotExportable("the workload is training; this format is for serving")
    require_vendor(source, "vllm")
    if work.serving is not None and work.serving.prefill is not None:
        raise NotExportable("separate engines for prefill and decode: export a spec of each")
    omitted: list[str] = []
    words = [f"vllm serve {_repository(source, omitted)}", *_engine_options(layout), *_limits(work, omitted)]
    lines = [f"# {source.name}: {layout.ranks} ranks on {layout.nodes} nodes"]
    for comment, options in _launches(layout):
        lines += [comment, " \\\n  ".join([*words, *options])]
    if layout.dp > 1:
        omitted.append(f"the router before {plural(layout.dp, 'replica')}")
    return ExportedFile("\n".join([*lines, ""]), tuple(omitted))


def _repository(source: ExportInput, omitted: list[str]) -> str:
    model = source.workload.model
    if model.repository and unchanged_model(source):
        return model.repository
    omitted.append(f"the repository of {model.id or 'the model'}: put it, or a path, in place of MODEL")
    return "MODEL"


def _engine_options(layout: Layout) -> Iterator[str]:
    yield f"--tensor-parallel-size {layout.tp}"
    if layout.pp > 1:
        yield f"--pipeline-parallel-size {layout.pp}"
    if layout.attention_dp > 1:
        yield f"--data-parallel-size {layout.attention_dp}"
    if layout.ep > 1:
        yield "--enable-expert-parallel"


def _launches(layout: Layout) -> Iterator[tuple[str, list[str]]]:
    """A comment and the further options of every command: on each node of each replica.

    Raises `NotExportable` if ranks do not fill nodes evenly, or there are more than `MOST_COMMANDS`.
    """
    per_node = layout.ranks // max(1, layout.nodes)
    of_replica = layout.ranks // max(1, layout.dp)
    if of_replica <= per_node:
        if layout.dp > MOST_COMMANDS:
            raise NotExportable(f"more than {MOST_COMMANDS:,} replicas")
        on_node = per_node // of_replica
        for replica in range(layout.dp):
            slot = replica % on_node
            first = f", accelerators {slot * of_replica} to {(slot + 1) * of_replica - 1}" if on_node > 1 else ""
            yield f"# replica {replica + 1}: node {replica // on_node + 1}{first}", [f"--port {8000 + slot}"]
        return
    nodes, engine = of_replica // per_node, layout.tp * layout.pp
    if of_replica % per_node or (layout.attention_dp > 1 and per_node % engine):
        raise NotExportable(f"replicas of {of_replica} ranks do not fill nodes of {per_node} with whole engines")
    if nodes * layout.dp > MOST_COMMANDS:
        raise NotExportable(f"more than {MOST_COMMANDS:,} commands")
    for replica in range(layout.dp):
        for node in range(nodes):
            comment = f"# replica {replica + 1}: node {replica * nodes + node + 1}"
            yield comment, list(_node_options(layout, nodes, node, per_node // engine))


def _node_options(layout: Layout, nodes: int, node: int, local: int) -> Iterator[str]:
    """The options of one node of a replica; ``local`` ranks of data parallelism are on it."""
    if layout.attention_dp > 1:
        yield f"--data-parallel-size-local {local}"
        yield f"--data-parallel-address {_HEAD} --data-parallel-rpc-port {_PORT}"
        if node:
            yield f"--data-parallel-start-rank {node * local}"
    else:
        yield f"--nnodes {nodes} --node-rank {node} --master-addr {_HEAD}"
    if node:
        yield "--headless"


def _limits(work: Workload, omitted: list[str]) -> Iterator[str]:
    serving = work.serving
    if serving is not None:
        yield f"--max-model-len {serving.input_tokens + serving.output_tokens}"
        if serving.max_sequences:
            yield f"--max-num-seqs {serving.max_sequences}"
        if serving.chunk_tokens:
            yield f"--max-num-batched-tokens {serving.chunk_tokens}"
        yield f"--gpu-memory-utilization {serving.memory_fraction:g}"
        if not serving.captured_graphs:
            yield "--enforce-eager"
        if serving.draft_tokens:
            yield from _speculation(work, serving.draft_tokens, omitted)
    if work.kv_precision == "fp8":
        yield "--kv-cache-dtype fp8"
    if work.parameter_precision == "fp8" and not work.model.fp8_block:
        yield "--quantization fp8"
    elif work.parameter_precision in {"fp16", "fp32"}:
        yield f"--dtype { {'fp16': 'float16', 'fp32': 'float32'}[work.parameter_precision] }"
    elif work.parameter_precision not in {"bf16", "fp8"}:
        omitted.append(
            f"weights in {work.parameter_precision}: name a checkpoint that keeps them so; vLLM reads how from it"
        )


def _speculation(work: Workload, tokens: int, omitted: list[str]) -> Iterator[str]:
    if work.model.prediction is not None or work.model.id.startswith(_PREDICTING):
        yield f'--speculative-config \'{{"method": "mtp", "num_speculative_tokens": {tokens}}}\''
    else:
        omitted.append(f"drafts of {tokens} tokens: --speculative-config needs a method or a draft model")
