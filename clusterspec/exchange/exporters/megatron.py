"""Training designs as a launch of Megatron-LM's ``pretrain_gpt.py``.

Flags, their values and the conditions on them: Megatron-LM 0.20, commit d98e8a64,
``megatron/training/arguments.py`` (lines 973 to 1479 check combinations, 2370 to 2462 describe the model, 3089 to 3232
the layout, 3545 to 3562 latent attention) and the fields of ``megatron/core/transformer/transformer_config.py``, each
of which is a flag (line 2373 of the former; 188 and 191 dropout, 212 ``--disable-bias-linear``, 587 ``--fp8-format``,
673 ``--fp4-format``, 1030 ``--cp-comm-type``, 891 ``--moe-token-dispatcher-type``, 898
``--moe-flex-dispatcher-backend``, 1950 ``--recompute-modules``). Dropout is 0.1 where no flag says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Block, Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.exchange.exporters.megatron_limits import (
    OPTIMIZERS,
    PIPELINE_FIRST,
    PRECISIONS,
    RECIPES,
    STRATEGIES,
    recomputed_modules,
    require_accepted,
    require_known_parts,
    scaling_recipe,
    shard_groups,
)
from clusterspec.exchange.exporters.registry import (
    ExportedFile,
    ExportInput,
    NotExportable,
    document_omissions,
    steps_of_run,
    training_design,
    training_omissions,
)
from clusterspec.spec.model import LayoutSpec
from clusterspec.units import plural

_CP_METHODS = {"ring": "p2p", "all-gather": "all_gather", "all-to-all": "a2a"}
_DISPATCHERS = {"deepep": "deepep", "hybrid": "hybridep"}
_USUAL_ORDER = ("tp", "cp", "ep", "dp", "pp")
_NOT_STATED = "tokenizer, data, learning rate{} and checkpoints: see --tokenizer-type, --data-path, --lr"


_VENDORS = ("NVIDIA", "AMD")
"""Vendors whose accelerators run the programs of the repository, which use ``torch.cuda`` devices."""


def write(source: ExportInput) -> ExportedFile:
    """The launch, one group of arguments per line. Raises `NotExportable` if no flags describe the model."""
    groups, omitted = launch_groups(source)
    lines = [f"  {group}" for group in groups if group]
    return ExportedFile("\n".join([*launch_head(source, "pretrain_gpt.py"), " \\\n".join(lines), ""]), tuple(omitted))


def launch_groups(source: ExportInput) -> tuple[list[str], list[str]]:
    """The groups of arguments of a launch, and what they omit. Raises `NotExportable` if none describe the model."""
    layout, work = training_design(source, "megatron-core")
    if (vendor := source.cluster.accelerator.vendor) not in {*_VENDORS, None}:
        raise NotExportable(
            f"the options are those of NVIDIA/Megatron-LM; for accelerators of {vendor} there are forks"
        )
    require_known_parts(work)
    require_accepted(layout, work)
    named = _NOT_STATED.format("" if work.tokens else ", iterations")
    omitted = [
        named,
        *training_omissions(work),
        *document_omissions(work),
        *_omitted_layout(layout, work),
        *_omitted_model(work.model),
    ]
    groups = [
        *_layout_arguments(layout, work.model),
        *_model_arguments(layout, work, omitted),
        *_work_arguments(layout, work),
        *_stated_arguments(source, omitted),
    ]
    return groups, omitted


def launch_head(source: ExportInput, program: str) -> list[str]:
    """The lines of a launch up to the name of its program, which the arguments follow."""
    layout = source.layout
    ends = ' --rdzv-backend c10d --rdzv-endpoint "$MASTER_ADDR:29500"' if layout.nodes > 1 else ""
    head = [f"# {source.name}: {plural(layout.ranks, 'rank')} on {plural(layout.nodes, 'node')}"]
    blackwell = source.cluster.accelerator.architecture.startswith(("sm_10", "sm_12"))
    if (layout.tp > 1 or layout.cp > 1) and layout.sharding not in STRATEGIES and not blackwell:
        head.append("export CUDA_DEVICE_MAX_CONNECTIONS=1  # required with tp or cp before Blackwell")
    per_node = layout.ranks // max(1, layout.nodes)
    head.append(f"torchrun --nnodes {layout.nodes} --nproc_per_node {per_node}{ends} {program} \\")
    return head


def _layout_arguments(layout: Layout, model: Model) -> Iterator[str]:
    yield f"--tensor-model-parallel-size {layout.tp}"
    yield f"--pipeline-model-parallel-size {layout.pp}"
    yield f"--context-parallel-size {layout.cp}"
    yield f"--expert-model-parallel-size {layout.ep}"
    if layout.ep > 1 or layout.expert_tp != layout.tp:
        yield f"--expert-tensor-parallel-size {layout.expert_tp}"
    if layout.sequence_parallel:
        yield "--sequence-parallel"
    if len(set(layout.stage_layers)) > 1:
        yield f"--pipeline-model-parallel-layout '{stage_text(layout.stage_layers, model.predicted)}'"
    elif layout.virtual_stages > 1:
        yield f"--num-virtual-stages-per-pipeline-rank {layout.virtual_stages}"
    if layout.sharding == "zero1" or (layout.sharding == "none" and layout.offload_optimizer):
        yield "--use-distributed-optimizer"
    elif layout.sharding != "none":
        yield "--use-megatron-fsdp --use-distributed-optimizer --ckpt-format fsdp_dtensor"
        yield f"--data-parallel-sharding-strategy {STRATEGIES[layout.sharding]}"
        if layout.sharding == "hsdp":
            yield f"--num-distributed-optimizer-instances {shard_groups(layout)}"
    if layout.cp > 1:
        yield f"--cp-comm-type {_CP_METHODS[layout.cp_method]}"
    if layout.order == PIPELINE_FIRST and layout.pp > 1:
        yield "--use-tp-pp-dp-mapping"
    yield from _recompute_arguments(layout, model)
    if layout.offload_optimizer:
        yield f"--optimizer-cpu-offload --optimizer-offload-fraction {layout.offload_optimizer:g}"
        yield "--use-precision-aware-optimizer"
    if layout.overlap.dp and layout.dp > 1:
        yield "--overlap-grad-reduce --overlap-param-gather" if layout.sharding != "none" else "--overlap-grad-reduce"
    if layout.overlap.inside_gemms and layout.tp > 1 and layout.sequence_parallel:  # arguments.py, line 1442
        yield "--tp-comm-overlap"


def stage_text(layers: tuple[int, ...], predicted: int = 0) -> str:
    """Stages in the notation of ``--pipeline-model-parallel-layout``: embedding E, layers t, loss L, and before it
    layers m of multi-token prediction (megatron/core/transformer/pipeline_parallel_layer_layout.py, line 110).

    >>> stage_text((3, 4, 3)), stage_text((3, 2), 1)
    ('Ettt|tttt|tttL', 'Ettt|ttmL')
    """
    return f"E{'|'.join('t' * count for count in layers)}{'m' * predicted}L"


def _recompute_arguments(layout: Layout, model: Model) -> Iterator[str]:
    if layout.recompute == "full":
        some = layout.recompute_layers if layout.recomputed_share < 1 else None
        method = "uniform --recompute-num-layers 1" if some is None else f"block --recompute-num-layers {some}"
        yield f"--recompute-granularity full --recompute-method {method}"
    elif layout.recompute == "selective":
        yield "--recompute-granularity selective"
    elif modules := recomputed_modules(layout, model):
        yield f"--recompute-granularity selective --recompute-modules {' '.join(modules)}"


def _model_arguments(layout: Layout, work: Workload, omitted: list[str]) -> Iterator[str]:
    model = work.model
    yield f"--num-layers {model.layers} --hidden-size {model.hidden} --num-attention-heads {model.heads}"
    yield f"--ffn-hidden-size {model.ffn_hidden} --kv-channels {model.head_dim}"
    if model.kv_heads != model.heads and not model.latent:
        yield f"--group-query-attention --num-query-groups {model.kv_heads}"
    length = max(model.max_sequence_length or 0, work.sequence_length)
    yield f"--vocab-size {model.vocab} --max-position-embeddings {length}"
    yield "--attention-dropout 0 --hidden-dropout 0"
    if model.gated_ffn:
        yield "--swiglu"
    if not model.tied_embeddings:
        yield "--untie-embeddings-and-output-weights"
    if model.block is None:
        yield from _unstated_block_arguments(layout, model, omitted)
    else:
        yield from _block_arguments(model.block, model.latent)
    if model.latent:
        query = f" --q-lora-rank {model.latent_q}" if model.latent_q else ""
        yield f"--multi-latent-attention{query} --kv-lora-rank {model.latent_kv}"
        yield f"--qk-head-dim {model.head_dim} --qk-pos-emb-head-dim {model.latent_rope}"
        yield f"--v-head-dim {model.value_width} --qk-layernorm"
    if model.window is not None:
        yield f"--window-size {model.window.tokens - 1},0"
        if 0 < model.window.layers < model.layers:
            yield f"--window-attn-skip-freq {_window_pattern(model.layers, model.layers - model.window.layers)}"
    if model.predicted:
        yield f"--mtp-num-layers {model.predicted}"
    if model.experts:
        yield from _expert_arguments(model)


def _unstated_block_arguments(layout: Layout, model: Model, omitted: list[str]) -> Iterator[str]:
    """Arguments for properties of a block that Megatron-LM needs and a spec does not state; properties without
    arguments are added to ``omitted``.

    Experts that tensor parallelism divides have no biases (transformer_config.py, line 2612), and multi-token
    prediction needs rotary positions (arguments.py, line 883).
    """
    cut = bool(model.experts) and layout.expert_tp > 1
    if cut:
        yield "--disable-bias-linear"
    if model.predicted:
        yield "--position-embedding-type rope"
    positions = "rotary" if model.predicted else "learned"
    omitted.append(
        "normalization, position embedding, biases, the activation and sinks of attention, which the spec does not "
        f"state: without further flags Megatron-LM has LayerNorm, {positions} positions, "
        f"{'no biases with experts that tensor parallelism divides' if cut else 'a bias in every linear layer'} "
        f"and {'SwiGLU' if model.gated_ffn else 'GELU'}"
    )


def _window_pattern(layers: int, full: int) -> str:
    """The value that selects layers without a window: n for every n-th layer, or a list whose zeros mark them at equal
    distances.

    Megatron-LM d98e8a64, megatron/core/transformer/utils.py, line 539: layers n, 2n … attend to all tokens.

    >>> _window_pattern(62, 10), _window_pattern(5, 3)
    ('6', "'[1,0,1,0,0]'")
    """
    every = next((n for n in range(2, layers + 1) if layers // n == full), None)
    marks = (str(int(layer * full // layers == (layer - 1) * full // layers)) for layer in range(1, layers + 1))
    return str(every) if every else f"'[{','.join(marks)}]'"


def _block_arguments(block: Block, latent: bool) -> Iterator[str]:
    """Normalization, position embedding and biases."""
    epsilon = f" --norm-epsilon {block.norm_epsilon:g}" if block.norm_epsilon is not None else ""
    yield f"--normalization { {'rms': 'RMSNorm', 'layer': 'LayerNorm'}[block.norm] }{epsilon}"
    if block.positions == "rope":
        share = f" --rotary-percent {block.rope_fraction:g}" if block.rope_fraction else ""
        yield f"--position-embedding-type rope --rotary-base {block.rope_base}{share}"
    elif block.positions == "learned":
        yield "--position-embedding-type learned_absolute"
    if block.rope_scaling == "llama3":
        yield f"--use-rope-scaling --rope-scaling-factor {block.rope_scaling_factor:g}"
    elif latent and block.rope_scaling == "yarn":
        yield f"--rope-type yarn --rotary-scaling-factor {block.rope_scaling_factor:g}"
        if block.rope_mscale is not None and block.rope_mscale_all_dim is not None:
            yield f"--mscale {block.rope_mscale:g} --mscale-all-dim {block.rope_mscale_all_dim:g}"
    elif latent:
        yield "--rope-type rope"
    if block.bias in {"none", "qkv"}:
        yield "--disable-bias-linear" + (" --add-qkv-bias" if block.bias == "qkv" else "")
    if block.qk_norm and not latent:
        yield "--qk-layernorm"


def _expert_arguments(model: Model) -> Iterator[str]:
    yield f"--num-experts {model.experts} --moe-router-topk {model.experts_per_token}"
    yield f"--moe-ffn-hidden-size {model.expert_ffn_hidden} --moe-grouped-gemm"
    if model.expert_latent:
        yield f"--moe-latent-size {model.expert_latent}"
    if model.shared_experts:
        yield f"--moe-shared-expert-intermediate-size {model.shared_width}"
    if dense := model.layers - model.moe_layers:
        every = model.layers // max(1, model.moe_layers)
        dense_first = model.moe_layers * every != model.layers
        yield f"--moe-layer-freq '([0]*{dense}+[1]*{model.moe_layers})'" if dense_first else f"--moe-layer-freq {every}"
    block = model.block
    if block is not None and block.router == "sigmoid":
        yield "--moe-router-score-function sigmoid"
    elif model.experts_per_token == 1:  # transformer_config.py, line 2660: the softmax of one score has no gradient
        yield "--moe-router-pre-softmax"
    if block is not None and block.router_groups:
        yield f"--moe-router-num-groups {block.router_groups} --moe-router-group-topk {block.router_top_groups}"
    if block is not None and block.router_scale is not None:
        yield f"--moe-router-topk-scaling-factor {block.router_scale:g}"
    if block is not None and block.expert_bias:
        yield "--moe-router-enable-expert-bias"


def _work_arguments(layout: Layout, work: Workload) -> Iterator[str]:
    if work.model.experts:
        exchanged = layout.ep * layout.expert_tp > 1  # token_dispatcher.py, line 1836
        backend = _DISPATCHERS.get(layout.dispatcher.kind) if exchanged else None
        kind = f"flex --moe-flex-dispatcher-backend {backend}" if backend else "alltoall"
        yield f"--moe-token-dispatcher-type {kind}"
    yield f"--seq-length {work.sequence_length} --micro-batch-size {layout.micro_batch}"
    yield f"--global-batch-size {work.global_batch}"
    yield PRECISIONS[work.precision]
    if recipe := scaling_recipe(layout, work):
        yield f"--fp8-recipe {recipe}"
    if any(work.model.wide_layers):
        first, last = work.model.wide_layers
        yield f"--first-last-layers-bf16 --num-layers-at-start-in-bf16 {first} --num-layers-at-end-in-bf16 {last}"
    yield f"--optimizer {OPTIMIZERS[work.optimizer]}" + (" --sgd-momentum 0" if work.optimizer == "sgd" else "")


def _stated_arguments(source: ExportInput, omitted: list[str]) -> Iterator[str]:
    """Options for keys of a spec that Megatron-LM otherwise decides itself; keys that cannot be applied are added to
    ``omitted``.

    Megatron-LM d98e8a64: megatron/training/arguments.py, lines 1209 (gradients) and 1290 (samples),
    megatron/core/transformer/transformer_config.py, lines 1075 (graphs), 1836 (capacity) and 3002 (overlap of experts),
    megatron/core/model_parallel_config.py, line 320 (loss). The kernels of Transformer Engine that keep scores in
    memory run without context parallelism, those of flash attention without latent attention.
    """
    layout, work, spec = source.layout, source.workload, source.design.spec
    stated, asked = spec.layout, spec.workload
    if work.tokens and (steps := steps_of_run(work, omitted)):
        yield f"--train-iters {steps}"
    if asked is not None and asked.attention:
        plain = work.attention == "plain"
        if (layout.cp > 1 and plain) or (work.model.latent and not plain):
            omitted.append(f"attention {asked.attention}: see --attention-backend")
        else:
            yield f"--attention-backend {'unfused' if plain else 'flash'}"
    if asked is not None and asked.gradient_precision in _GRADIENTS:
        yield _GRADIENTS[asked.gradient_precision]
    elif asked is not None and asked.gradient_precision:
        omitted.append(f"gradients in {asked.gradient_precision}")
    if asked is not None and asked.residual_precision == "fp32":
        yield "--fp32-residual-connection"
    if stated is not None:
        yield from _state_arguments(layout, work, stated, omitted)
        yield from _overlap_arguments(layout, stated, omitted)
        yield from _kernel_arguments(stated, omitted)
        yield from _stated_expert_arguments(layout, work, stated, omitted)


_GRADIENTS = {"bf16": "--grad-reduce-in-bf16", "fp32": "--accumulate-allreduce-grads-in-fp32"}


_MASTERS = ("fp32", "fp16")
_MOMENTS = ("fp32", "bf16", "fp16", "fp8")


def _state_arguments(layout: Layout, work: Workload, stated: LayoutSpec, omitted: list[str]) -> Iterator[str]:
    """Precisions of optimizer states other than fp32: those of the Adam of Transformer Engine that the distributed
    optimizer divides.

    Megatron-LM d98e8a64: training/arguments.py, lines 3667 to 3684, core/optimizer/optimizer_config.py, line 434, and
    core/optimizer/__init__.py, lines 504 (states of another Adam in the memory of the host) and 1057.
    """
    written = stated.optimizer_states
    master, moments = (written and written.master) or "fp32", (written and written.moments) or "fp32"
    if (master, moments) == ("fp32", "fp32"):
        return
    divided = layout.sharding == "zero1" and not layout.offload_optimizer
    if OPTIMIZERS[work.optimizer] != "adam" or not divided or master not in _MASTERS or moments not in _MOMENTS:
        why = "see the conditions of --use-precision-aware-optimizer"
        omitted.append(f"optimizer_states: master {master}, moments {moments}: {why}")
        return
    yield "--use-precision-aware-optimizer" + (f" --main-params-dtype {master}" if master != "fp32" else "")
    if moments != "fp32":
        yield f"--exp-avg-dtype {moments} --exp-avg-sq-dtype {moments}"


def _overlap_arguments(layout: Layout, stated: LayoutSpec, omitted: list[str]) -> Iterator[str]:
    """Whether messages between stages overlap with computation, as by default with virtual stages and never without
    (training/arguments.py, lines 1000 to 1012).
    """
    asked = stated.overlap.pp if stated.overlap is not None and layout.pp > 1 else None
    if asked and layout.virtual_stages == 1:
        omitted.append("overlap.pp: Megatron-LM overlaps messages between stages only with virtual stages")
    elif asked is False and layout.virtual_stages > 1 and layout.pp > 2:
        yield "--no-overlap-p2p-communication"
    elif asked is False and layout.virtual_stages > 1:
        omitted.append("overlap.pp false: Megatron-LM refuses it with virtual stages of two ranks")


def _stated_expert_arguments(layout: Layout, work: Workload, stated: LayoutSpec, omitted: list[str]) -> Iterator[str]:
    if work.model.experts and stated.capacity_factor:
        yield f"--moe-expert-capacity-factor {stated.capacity_factor:g}"
    if stated.overlap is not None and stated.overlap.ep and layout.ep > 1:
        if _overlaps_experts(layout, work):
            yield "--overlap-moe-expert-parallel-comm"
        else:
            omitted.append("overlap.ep: see the conditions of --overlap-moe-expert-parallel-comm")


def _overlaps_experts(layout: Layout, work: Workload) -> bool:
    """Whether the exchange with experts can overlap with computation (transformer_config.py, lines 3002 to 3047)."""
    narrow = work.precision not in {"fp32", "tf32"}
    interleaved = layout.pp == 1 or layout.virtual_stages > 1
    again = layout.recompute == "full" or (isinstance(layout.recompute, tuple) and "expert" in layout.recompute)
    return narrow and interleaved and not again and work.model.predicted in {0, 1}


def _kernel_arguments(stated: LayoutSpec, omitted: list[str]) -> Iterator[str]:
    if stated.captured_graphs:
        omitted.append("captured_graphs: see --cuda-graph-impl and --cuda-graph-modules")
    elif stated.captured_graphs is False:
        yield "--cuda-graph-impl none"
    if stated.loss == "fused":
        yield "--cross-entropy-loss-fusion"
    elif stated.loss in {"chunked", "compiled"}:
        omitted.append(f"loss {stated.loss}: Megatron-LM fuses it or computes it at once")


def _omitted_layout(layout: Layout, work: Workload) -> Iterator[str]:
    if layout.schedule in {"zero-bubble", "dualpipe", "gpipe"}:
        yield f"the schedule {layout.schedule}: Megatron-LM runs 1F1B"
    if layout.overlap.inside_gemms and layout.tp > 1 and not layout.sequence_parallel:
        yield "overlap of tensor parallelism: Megatron-LM overlaps it only with sequence parallelism"
    if layout.offload_activations:
        yield "offloading of activations: --cpu-offloading-num-layers counts layers"
    if layout.order not in {_USUAL_ORDER, PIPELINE_FIRST} and layout.ranks > max(layout.tp, layout.pp, layout.dp):
        yield f"the order of ranks {list(layout.order)}"
    if layout.dispatcher.precision != "bf16" and work.model.experts:
        yield f"tokens sent to experts in {layout.dispatcher.precision}"
    if work.precision == "tf32":
        yield "TF32: PyTorch sets it (torch.backends.cuda.matmul.allow_tf32)"
    if work.precision == "fp8" and work.recipe not in RECIPES:
        chosen = scaling_recipe(layout, work) or "delayed, by default"
        yield f"how values are scaled for FP8, which the spec does not state: see --fp8-recipe ({chosen})"
    if isinstance(layout.recompute, tuple) and len(recomputed_modules(layout, work.model)) < len(layout.recompute):
        yield f"recomputation of parts that --recompute-modules has not for this model: {', '.join(layout.recompute)}"


def _omitted_block(model: Model, block: Block) -> Iterator[str]:
    if block.norm_place != "before":
        yield "norms after attention and feed-forward network: Megatron-LM normalizes before them"
    if model.norm_across_heads:
        yield "one norm of queries and keys over all heads: --qk-layernorm normalizes each head"
    if block.sinks:
        yield "learned sinks of attention: see --softmax-type"
    if model.limited_activation:
        yield "the limit of the activation: see --activation-func-clamp-value and --glu-linear-offset"


def _omitted_model(model: Model) -> Iterator[str]:
    if model.experts and model.moe_layers and model.layers % model.moe_layers == 0 and model.layers != model.moe_layers:
        yield f"which layers have experts: written as every {model.layers // model.moe_layers}th from the first"
    if model.block is not None and model.block.positions == "alibi":
        yield "ALiBi: Megatron-LM has no such position embedding"
    if model.block is not None and model.block.rope_scaling == "yarn" and not model.latent:
        yield "YaRN scaling of rotary frequencies"
    if model.block is not None:
        yield from _omitted_block(model, model.block)
    if model.attention_gate != "none":
        yield f"the {model.attention_gate} gate of attention: see --attention-output-gate"
    if not model.gated_ffn:
        yield "the activation of the feed-forward network: without further flags it is GELU"
    if model.window is not None and 0 < model.window.layers < model.layers:
        yield "which layers have a window: written at equal distances"
