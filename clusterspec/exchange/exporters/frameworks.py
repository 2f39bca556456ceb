"""Layouts as arguments and configurations of Megatron-LM, torchtitan, DeepSpeed, MaxText and vLLM."""

from __future__ import annotations

import json
from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, NotExportable

_TORCHTITAN = {
    "llama-3.1-8b": ("llama3", "8B"),
    "llama-3.1-70b": ("llama3", "70B"),
    "llama-3.1-405b": ("llama3", "405B"),
    "llama-3-8b": ("llama3", "8B"),
    "llama-3-70b": ("llama3", "70B"),
    "deepseek-v3": ("deepseek_v3", "671B"),
    "llama-4-scout": ("llama4", "17bx16e"),
    "llama-4-maverick": ("llama4", "17bx128e"),
}
_SCHEDULES = {
    "1f1b": "1F1B",
    "gpipe": "GPipe",
    "interleaved": "Interleaved1F1B",
    "zero-bubble": "InterleavedZeroBubble",
    "dualpipe": "DualPipeV",
}


def _training_layout(source: ExportInput) -> tuple[Layout, Workload]:
    if source.workload.kind != "train":
        raise NotExportable("the workload is serving; this format is for training")
    return source.layout, source.workload


def megatron(source: ExportInput) -> ExportedFile:
    """Arguments of Megatron-LM's ``pretrain_gpt.py``, one per line."""
    layout, work = _training_layout(source)
    omitted = list(_unsupported_by_megatron(layout, work.model))
    lines = [f"  {line}" for line in (*_megatron_layout(layout), *_megatron_model(work), *_megatron_work(layout, work))]
    head = [
        f"# {source.name}: {layout.ranks} ranks on {layout.nodes} nodes",
        f"torchrun --nnodes {layout.nodes} --nproc_per_node {source.cluster.ranks_per_node} pretrain_gpt.py \\",
    ]
    return ExportedFile("\n".join([*head, " \\\n".join(lines), ""]), tuple(omitted))


def _megatron_layout(layout: Layout) -> Iterator[str]:
    yield f"--tensor-model-parallel-size {layout.tp}"
    yield f"--pipeline-model-parallel-size {layout.pp}"
    yield f"--context-parallel-size {layout.cp}"
    yield f"--expert-model-parallel-size {layout.ep}"
    if layout.ep > 1 or layout.expert_tp != layout.tp:
        yield f"--expert-tensor-parallel-size {layout.expert_tp}"
    if layout.sequence_parallel:
        yield "--sequence-parallel"
    if layout.virtual_stages > 1:
        yield f"--num-virtual-stages-per-pipeline-rank {layout.virtual_stages}"
    if layout.sharding == "zero1":
        yield "--use-distributed-optimizer"
    elif layout.sharding != "none":
        strategy = {"zero2": "optim_grads", "fsdp": "optim_grads_params", "hsdp": "optim_grads_params"}[layout.sharding]
        yield f"--use-megatron-fsdp --use-distributed-optimizer --data-parallel-sharding-strategy {strategy}"
        if layout.sharding == "hsdp":
            yield f"--num-distributed-optimizer-instances {max(1, layout.dp * layout.cp // layout.shard_group)}"
    if layout.cp > 1:
        yield f"--cp-comm-type { {'ring': 'p2p', 'all-gather': 'allgather', 'all-to-all': 'a2a'}[layout.cp_method] }"
    yield from _recompute_arguments(layout)
    if layout.overlap.dp and layout.dp > 1:
        yield "--overlap-grad-reduce --overlap-param-gather" if layout.sharding != "none" else "--overlap-grad-reduce"
    if layout.overlap.tp and layout.tp > 1:
        yield "--tp-comm-overlap"


def _recompute_arguments(layout: Layout) -> Iterator[str]:
    if layout.recompute == "full":
        yield "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1"
    elif layout.recompute != "none":
        yield "--recompute-granularity selective"


def _megatron_model(work: Workload) -> Iterator[str]:
    model = work.model
    yield f"--num-layers {model.layers} --hidden-size {model.hidden} --num-attention-heads {model.heads}"
    yield f"--ffn-hidden-size {model.ffn_hidden} --kv-channels {model.head_dim}"
    if model.kv_heads != model.heads:
        yield f"--group-query-attention --num-query-groups {model.kv_heads}"
    yield f"--vocab-size {model.vocab} --max-position-embeddings {model.max_sequence_length or work.sequence_length}"
    if model.gated_ffn:
        yield "--swiglu"
    if not model.tied_embeddings:
        yield "--untie-embeddings-and-output-weights"
    if model.latent:
        query = f" --q-lora-rank {model.latent_q}" if model.latent_q else ""
        rope = f"--kv-lora-rank {model.latent_kv} --qk-pos-emb-head-dim {model.latent_rope}"
        yield f"--multi-latent-attention{query} {rope}"
    if model.experts:
        yield f"--num-experts {model.experts} --moe-router-topk {model.experts_per_token}"
        yield f"--moe-ffn-hidden-size {model.expert_ffn_hidden} --moe-token-dispatcher-type alltoall"
        if model.shared_experts:
            width = model.shared_experts * (model.shared_expert_ffn_hidden or model.expert_ffn_hidden)
            yield f"--moe-shared-expert-intermediate-size {width}"
        dense = model.layers - model.moe_layers
        if dense:
            yield f"--moe-layer-freq '([0]*{dense}+[1]*{model.moe_layers})'"


def _megatron_work(layout: Layout, work: Workload) -> Iterator[str]:
    yield f"--seq-length {work.sequence_length} --micro-batch-size {layout.micro_batch}"
    yield f"--global-batch-size {work.global_batch}"
    yield {"fp8": "--bf16 --fp8-format hybrid", "fp16": "--fp16"}.get(work.precision, "--bf16")
    yield f"--optimizer { {'adamw': 'adam', 'momentum': 'sgd'}.get(work.optimizer, work.optimizer) }"


def _unsupported_by_megatron(layout: Layout, model: Model) -> Iterator[str]:
    if len(set(layout.stage_layers)) > 1:
        yield f"stages of different length {list(layout.stage_layers)}: see --pipeline-model-parallel-layout"
    if isinstance(layout.recompute, tuple):
        yield f"the modules computed again ({', '.join(layout.recompute)}): see --recompute-modules"
    if layout.schedule in {"zero-bubble", "dualpipe", "gpipe"}:
        yield f"the schedule {layout.schedule}: Megatron-LM runs 1F1B"
    if layout.offload_activations or layout.offload_optimizer:
        yield "offloading: see --optimizer-cpu-offload and --cpu-offloading-num-layers"


def torchtitan(source: ExportInput) -> ExportedFile:
    """A job configuration of torchtitan."""
    layout, work = _training_layout(source)
    if work.model.id not in _TORCHTITAN:
        raise NotExportable(f"torchtitan has no flavor that is {work.model.id or 'the model of the spec'}")
    name, flavor = _TORCHTITAN[work.model.id]
    replicate, shard = _replicate_and_shard_degrees(layout)
    local = layout.micro_batch * (layout.micro_batches or 1) if layout.pp > 1 else layout.micro_batch
    mode = layout.recompute if isinstance(layout.recompute, str) else "selective"
    lines = [
        f"# {source.name}: {layout.ranks} ranks on {layout.nodes} nodes",
        "[model]",
        f'name = "{name}"',
        f'flavor = "{flavor}"',
        *(['converters = ["float8"]'] if work.precision == "fp8" else []),
        "",
        "[optimizer]",
        f'name = "{ {"adam": "Adam"}.get(work.optimizer, "AdamW") }"',
        "",
        "[training]",
        f"local_batch_size = {local}",
        f"global_batch_size = {work.global_batch}",
        f"seq_len = {work.sequence_length}",
        "",
        "[parallelism]",
        f"data_parallel_replicate_degree = {replicate}",
        f"data_parallel_shard_degree = {shard}",
        f"tensor_parallel_degree = {layout.tp}",
        f"context_parallel_degree = {layout.cp}",
        f"pipeline_parallel_degree = {layout.pp}",
        f"expert_parallel_degree = {layout.ep}",
    ]
    if layout.pp > 1:
        lines += [
            f'pipeline_parallel_schedule = "{_SCHEDULES[layout.schedule]}"',
            f"pipeline_parallel_microbatch_size = {layout.micro_batch}",
        ]
    lines += ["", "[activation_checkpoint]", f'mode = "{mode}"', ""]
    omitted = tuple(_unsupported_by_torchtitan(layout))
    return ExportedFile("\n".join(lines), omitted)


def _replicate_and_shard_degrees(layout: Layout) -> tuple[int, int]:
    """The replicate and shard degrees of the data-parallel ranks."""
    if layout.sharding == "none":
        return layout.dp, 1
    if layout.sharding == "hsdp":
        return max(1, layout.dp // layout.shard_group), min(layout.dp, layout.shard_group)
    return 1, layout.dp


def _unsupported_by_torchtitan(layout: Layout) -> Iterator[str]:
    if layout.sharding in {"zero1", "zero2"}:
        yield f"{layout.sharding}: torchtitan shards parameters as well (FSDP)"
    if layout.order[:1] != ("tp",):
        yield f"the order of ranks {list(layout.order)}"
    if isinstance(layout.recompute, tuple):
        yield f"the modules computed again ({', '.join(layout.recompute)})"


def deepspeed(source: ExportInput) -> ExportedFile:
    """A DeepSpeed configuration; tensor and pipeline degrees are set in the training program."""
    layout, work = _training_layout(source)
    stage = {"none": 0, "zero1": 1, "zero2": 2, "fsdp": 3, "hsdp": 3}[layout.sharding]
    zero: dict[str, object] = {"stage": stage, "overlap_comm": layout.overlap.dp}
    if layout.sharding == "hsdp":
        zero["mics_shard_size"] = layout.shard_group
    if layout.offload_optimizer:
        zero["offload_optimizer"] = {"device": "cpu", "ratio": layout.offload_optimizer}
    precision = {"fp16": {"fp16": {"enabled": True}}}.get(work.precision, {"bf16": {"enabled": True}})
    config: dict[str, object] = {
        "train_batch_size": work.global_batch,
        "train_micro_batch_size_per_gpu": layout.micro_batch,
        "zero_optimization": zero,
        "optimizer": {"type": {"adamw": "AdamW", "lion": "Lion", "muon": "Muon"}.get(work.optimizer, "Adam")},
        **precision,
    }
    if layout.micro_batches:
        config["gradient_accumulation_steps"] = layout.micro_batches
    degrees = {"tp": layout.tp, "pp": layout.pp, "cp": layout.cp, "ep": layout.ep}
    omitted = [f"{name} {degree}: set where the model is built" for name, degree in degrees.items() if degree > 1]
    if layout.recompute != "none":
        omitted.append("activation recomputation: set where the model is built")
    return ExportedFile(json.dumps(config, indent=2) + "\n", tuple(omitted))


def maxtext(source: ExportInput) -> ExportedFile:
    """A MaxText configuration: the model, and the mesh over the interconnect (ici) and the network (dcn)."""
    layout, work = _training_layout(source)
    model = work.model
    replicate, shard = _replicate_and_shard_degrees(layout)
    lines = [
        f"# {source.name}: {layout.ranks} ranks on {layout.nodes} nodes",
        f"base_emb_dim: {model.hidden}",
        f"base_num_query_heads: {model.heads}",
        f"base_num_kv_heads: {model.kv_heads}",
        f"head_dim: {model.head_dim}",
        f"base_mlp_dim: {model.ffn_hidden}",
        f"base_num_decoder_layers: {model.layers}",
        f"vocab_size: {model.vocab}",
        f"logits_via_embedding: {str(model.tied_embeddings).lower()}",
        f"mlp_activations: {'[silu, linear]' if model.gated_ffn else '[gelu]'}",
    ]
    if model.experts:
        lines += [
            f"num_experts: {model.experts}",
            f"num_experts_per_tok: {model.experts_per_token}",
            f"base_moe_mlp_dim: {model.expert_ffn_hidden}",
        ]
        if model.layers != model.moe_layers:
            lines.append(f"first_num_dense_layers: {model.layers - model.moe_layers}")
    policy = layout.recompute if layout.recompute in {"none", "full"} else "minimal"
    lines += [
        f"per_device_batch_size: {layout.micro_batch}",
        f"max_target_length: {work.sequence_length}",
        f"ici_tensor_parallelism: {layout.tp}",
        f"ici_context_parallelism: {layout.cp}",
        f"ici_expert_parallelism: {layout.ep}",
        f"dcn_pipeline_parallelism: {layout.pp}",
        f"ici_fsdp_parallelism: {shard}",
        f"dcn_data_parallelism: {replicate}",
        f"remat_policy: {policy}",
        *(["quantization: fp8"] if work.precision == "fp8" else []),
        f"dtype: {'float16' if work.precision == 'fp16' else 'bfloat16'}",
        "opt_type: adamw",
        "",
    ]
    omitted = ["expert sharding counts within ici_expert_parallelism × fsdp"] if layout.ep > 1 else []
    if model.latent:
        omitted.append("latent attention: see q_lora_rank, kv_lora_rank and qk_rope_head_dim")
    return ExportedFile("\n".join(lines), tuple(omitted))


# Serving layouts as a vLLM command line

_PRECISIONS = {
    "fp8": "fp8",
    "mxfp4": "mxfp4",
    "nvfp4": "modelopt_fp4",
    "int8": "w8a8_int8",
    "int4": "awq",
    "mxfp8": "mxfp8",
}


def vllm(source: ExportInput) -> ExportedFile:
    """The ``vllm serve`` command of one replica, with its degrees and limits."""
    work, layout = source.workload, source.layout
    if work.kind != "serve":
        raise NotExportable("the workload is training; this format is for serving")
    words = [f"vllm serve {work.model.id or 'MODEL'}", f"--tensor-parallel-size {layout.tp}"]
    if layout.pp > 1:
        words.append(f"--pipeline-parallel-size {layout.pp}")
    if layout.attention_dp > 1:
        words.append(f"--data-parallel-size {layout.attention_dp}")
    if layout.ep > 1:
        words.append("--enable-expert-parallel")
    serving = work.serving
    if serving is not None:
        words.append(f"--max-model-len {serving.input_tokens + serving.output_tokens}")
        words += [f"--max-num-seqs {serving.max_sequences}"] if serving.max_sequences else []
        words += [f"--max-num-batched-tokens {serving.chunk_tokens}"] if serving.chunk_tokens else []
        words.append(f"--gpu-memory-utilization {serving.memory_fraction:g}")
        words += [] if serving.captured_graphs else ["--enforce-eager"]
        if serving.draft_tokens:
            words.append(f"--speculative-config '{{\"num_speculative_tokens\": {serving.draft_tokens}}}'")
    if work.kv_precision == "fp8":
        words.append("--kv-cache-dtype fp8")
    if method := _PRECISIONS.get(work.parameter_precision):
        words.append(f"--quantization {method}")
    omitted = [f"{layout.dp} replicas: run this command once per replica, behind a router"] if layout.dp > 1 else []
    if serving is not None and serving.prefill is not None:
        omitted.append("separate engines for prefill and decode: launch each separately")
    head = f"# {source.name}: {layout.ranks} ranks on {layout.nodes} nodes\n"
    return ExportedFile(head + " \\\n  ".join(words) + "\n", tuple(omitted))
