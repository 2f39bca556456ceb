"""A key has no effect, since the design has nothing that it applies to.

## What it finds

Keys that contradict the rest of the design: settings of experts (`redundant_experts`, `expert_load`, `dispatcher`,
`expert_parameter_precision`, `capacity_factor`) for a model without experts, and a `dispatcher` where no rank exchanges
tokens (ep 1); a `schedule` of overlapping or interleaved stages with pp 1; a `recipe` of 8 or 4 bits, or `bf16_layers`,
with GEMMs in 16 bits or more; `attention_dp` or `quantization` in training (except qlora); keys of training in a
serving plan; `kv_precision`, or experts in 8 or 4 bits, in training; a `shard_group` without hsdp; adapters on modules
that the model does not have (an error where it has none of them); a `gradient_sync` after each micro-batch without
sharded gradients, or in a pipeline of a framework that reduces once per step in any case; `recompute_layers` that cover
every layer of a stage or, with virtual stages, of a virtual stage; a critic or a reference model for a
reinforcement-learning algorithm that has none; a low precision whose `bf16_layers` are all layers; the rank or the modules of
adapters with `method: full`; weights in 8 bits under qlora, which stores the frozen ones in 4; the width of shared experts in a model without them, and
`kv_heads` with latent attention; a window or an index over more tokens than the longest sequence, ranks of the gates of Kimi
delta attention in another recurrence, and more `routing.max_nodes` than experts per token; an acceptance without drafted
tokens, or drafted tokens with an acceptance of 0; `hold_steps` without replicas of attention; degrees in `layout` and
in `disaggregated`; separate nodes for the reference model of adapters. All are warnings; loss scaling with GEMMs in
bf16, a `cp_method` with cp 1, settings of later tokens where a request generates one, the `growth` of a conversation of one
turn, and settings of roles and of the weight transfer for another placement or method are notes.

## Why it matters

Nothing uses the key, so either the key or the rest of the design is wrong. A plan with an expert dispatcher may have
been meant for another model; an 8-bit recipe with bf16 GEMMs leaves half of the peak unused.

## What to do

Remove the key, or correct the part that it belongs to.

## When to ignore it

Ignore it in a spec that others extend.

## Fires

```yaml layout.dispatcher
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, dispatcher: deepep}
```

```yaml workload.recipe
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: bf16, recipe: delayed}
layout: {framework: megatron-core}
```

```yaml layout.gradient_sync
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}
layout: {framework: torchtitan, tp: 1, pp: 2, sharding: fsdp, gradient_sync: micro-batch}
```

```yaml layout.recompute_layers
clusterspec: 1
cluster: {platform: dgx-a100, nodes: 32}
workload: {model: qwen2.5-72b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 8, pp: 8, virtual_stages: 2, micro_batch: 1, recompute: full, recompute_layers: 5}
```

```yaml workload.trainable.rank
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, trainable: {method: full, rank: 16}}
layout: {framework: megatron-core}
```

```yaml workload.bf16_layers
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: fp8, bf16_layers: {first: 16, last: 16}}
layout: {framework: megatron-core}
```

```yaml layout.tp
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 6}
workload:
  kind: serve
  model: deepseek-v3
  serving:
    input_tokens: 4000
    output_tokens: 800
    concurrency: 256
    disaggregated:
      prefill: {replicas: 2, tp: 1, attention_dp: 8, ep: 8}
      decode: {replicas: 2, tp: 1, attention_dp: 16, ep: 16}
layout: {framework: sglang, tp: 8}
```

```yaml workload.rl.reference.nodes
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 5}
workload:
  kind: rl
  model: qwen2.5-7b
  trainable: {method: lora, rank: 32}
  rl: {prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: 2000, reference: {nodes: 1}, rollout: {nodes: 2}}
layout: {framework: megatron-core, nodes: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256, precision: fp8, recipe: delayed}
layout: {framework: megatron-core, ep: 8, dispatcher: deepep}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}
layout: {framework: megatron-core, tp: 1, pp: 2, sharding: fsdp, gradient_sync: micro-batch}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-a100, nodes: 32}
workload: {model: qwen2.5-72b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 8, pp: 8, virtual_stages: 2, micro_batch: 1, recompute: full, recompute_layers: 4}
```

## Sources

- The keys of a spec: docs/spec.md
- DAPO without a reference model: https://arxiv.org/abs/2503.14476
- Loss scaling and formats: https://arxiv.org/abs/1905.12322
- Reference log-probabilities with adapters disabled: https://github.com/huggingface/trl/blob/main/trl/trainer/grpo_trainer.py
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.catalog.stacks import SHARDS_GRADIENTS
from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.quantity import PRECISIONS
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec, ModelSpec, WorkloadSpec
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "warning")
NARROW = frozenset({"fp8", "fp4"})


def check(
    written_workload: WorkloadSpec,
    workload: Workload,
    model: Model,
    written_layout: LayoutSpec | None,
    layout: Layout | None,
) -> Iterator[Problem]:
    written = written_workload
    stated = written.recipe or written.loss_scaling or written.quantization or written.expert_parameter_precision
    keys = written_layout or LayoutSpec()
    of_layout = keys.dispatcher or keys.attention_dp or keys.shard_group or keys.capacity_factor
    of_layout = (
        of_layout
        or keys.cp_method
        or keys.gradient_sync
        or keys.schedule
        or keys.recompute_layers
        or keys.fused_experts
    )
    if not (
        stated
        or of_layout
        or written.serving
        or written.implied_kind == "serve"
        or written.rl
        or written.trainable
        or written.bf16_layers
        or written.kv_precision
        or isinstance(written.model, ModelSpec)
    ):
        return
    yield from _precision_problems(written, workload)
    if not model.experts:
        yield from _expert_problems(written, keys)
    yield from _adapter_problems(written, model)
    if written.serving is not None or written.rl is not None or isinstance(written.model, ModelSpec):
        yield from _setting_problems(written, keys, model)
    if layout is not None:
        yield from _degree_problems(layout, keys, model)
    sharding = layout.sharding if layout is not None else keys.sharding
    yield from (
        _training_problems(written, keys)
        if workload.kind == "serve"
        else _serving_problems(written, workload, keys, sharding)
    )


def _setting_problems(written: WorkloadSpec, keys: LayoutSpec, model: Model) -> Iterator[Problem]:
    """Problems of settings of the model, of serving and of reinforcement learning."""
    from clusterspec.rules.knowledge.unused_settings import unused_settings  # training states none of them

    for setting in unused_settings(written, keys, model):
        yield RULE.problem(setting.at, setting.message, setting.help, severity=setting.severity)


def _reduces_once(layout: Layout) -> bool:
    """Whether the framework reduces the gradients of this pipeline once per step, although their states are sharded."""
    sharded = layout.pp > 1 and layout.sharding in SHARDS_GRADIENTS
    return sharded and layout.stack is not None and layout.stack.memory_of(layout.sharding).kept_in_pipelines


def _degree_problems(layout: Layout, keys: LayoutSpec, model: Model) -> Iterator[Problem]:
    """Problems of settings for expert exchange, gradient reduction or stages that have no effect in this layout."""
    if keys.gradient_sync == "micro-batch" and _reduces_once(layout):
        message = "in pipelines, this framework keeps whole gradients, and ranks reduce them once per step"
        yield RULE.problem("layout.gradient_sync", message, "remove the key, or write `gradient_sync: step`")
    if model.experts and keys.dispatcher is not None and layout.ep == 1 and not layout.separate_engines:
        message = (
            f"`dispatcher: {keys.dispatcher}` has no effect: with ep 1 every rank holds all experts and sends no tokens"
        )
        yield RULE.problem("layout.dispatcher", message, "remove the key, or state `ep`")
    if keys.schedule not in {None, "1f1b", "gpipe"} and layout.pp == 1:
        message = f"`schedule: {keys.schedule}` has no effect: the layout has one stage"
        yield RULE.problem("layout.schedule", message, "remove the key, or state `pp`")
    if keys.cp_method is not None and layout.cp == 1:
        message = f"`cp_method: {keys.cp_method}` has no effect: with cp 1 a rank has whole sequences"
        yield RULE.problem("layout.cp_method", message, "remove the key, or state `cp`", severity="note")
    yield from _whole_recomputation_problem(layout)


def _whole_recomputation_problem(layout: Layout) -> Iterator[Problem]:
    """The problem of a number of recomputed layers that covers every layer of a stage (of a virtual stage, where there
    are any).
    """
    number, parts = layout.recompute_layers, layout.pp * layout.virtual_stages
    if number is None or layout.recompute != "full" or layout.recomputed_share < 1:
        return
    layers = -(-sum(layout.stage_layers) // parts)
    stage = "virtual stage" if layout.virtual_stages > 1 else "stage"
    message = f"`recompute_layers: {number}` counts for each {stage}, which has {plural(layers, 'layer')}: all layers are recomputed"
    remedy = f"state fewer than {layers}, or remove the key to compute all again"
    yield RULE.problem("layout.recompute_layers", message, remedy)


def _precision_problems(written: WorkloadSpec, workload: Workload) -> Iterator[Problem]:
    if written.recipe is not None and workload.precision not in NARROW:
        message = f"the {written.recipe} recipe scales values to 8 or 4 bits, but the GEMMs are in {workload.precision}"
        yield RULE.problem("workload.recipe", message, "write `precision: fp8` or `fp4`, or remove the recipe")
    if written.bf16_layers is not None and workload.precision not in NARROW:
        message = f"the GEMMs of all layers are in {workload.precision}, those of the first and last layers included"
        yield RULE.problem("workload.bf16_layers", message, "write `precision: fp8` or `fp4`, or remove the key")
    elif written.bf16_layers is not None:
        first, last = written.bf16_layers.first or 0, written.bf16_layers.last or 0
        if first + last >= workload.model.layers:
            message = f"the first {first} and the last {last} layers are in 16 bits, and the model has {workload.model.layers}: no GEMM of a layer is in {workload.precision}"
            yield RULE.problem("workload.bf16_layers", message, "state fewer layers, or `precision: bf16`")
    if written.loss_scaling in {"dynamic", "static"} and workload.precision == "bf16":
        message = "bf16 has the exponent range of fp32, so its gradients need no loss scaling"
        yield RULE.problem("workload.loss_scaling", message, "remove the key", severity="note")


def _kernel_problems(workload: Workload, layout: LayoutSpec) -> Iterator[Problem]:
    """Problems of settings for recomputation or kernels that have no effect in this training plan."""
    if layout.recompute_layers is not None and layout.recompute != "full":
        message = (
            "`recompute_layers` counts the layers that `recompute: full` covers, but the layout does not state that"
        )
        yield RULE.problem("layout.recompute_layers", message, "write `recompute: full`, or remove the key")
    if layout.fused_experts and workload.model.experts and workload.precision not in NARROW:
        message = f"`fused_experts` applies to GEMMs in 8 or 4 bits, but the GEMMs are in {workload.precision}"
        yield RULE.problem("layout.fused_experts", message, "write `precision: fp8` or `fp4`, or remove the key")


def _serving_problems(
    written: WorkloadSpec, workload: Workload, layout: LayoutSpec, sharding: str | None
) -> Iterator[Problem]:
    """Problems of keys in a training plan that apply only to serving or to other algorithms."""
    yield from _kernel_problems(workload, layout)
    if written.kv_precision is not None and written.rl is None:
        message = "`kv_precision` applies to serving: training keeps no cache of keys and values"
        yield RULE.problem("workload.kv_precision", message, "remove the key, or write `kind: serve`")
    if (layout.attention_dp or 1) > 1:
        message = "data-parallel attention applies to serving engines; replicas of a trainer follow from the ranks"
        yield RULE.problem("layout.attention_dp", message, "remove the key")
    if layout.shard_group is not None and sharding not in {None, "hsdp"}:
        message = f"a shard group applies to hsdp, but the layout has `sharding: {sharding}`"
        yield RULE.problem("layout.shard_group", message, "write `sharding: hsdp`, or remove the key")
    if layout.gradient_sync == "micro-batch" and layout.sharding in {"none", "zero1"}:
        message = f"`sharding: {layout.sharding}` keeps whole gradients, and ranks reduce them once per step"
        remedy = "remove the key, or shard the gradients: `sharding: zero2` or `fsdp`"
        yield RULE.problem("layout.gradient_sync", message, remedy)
    narrow = written.expert_parameter_precision
    if narrow is not None and workload.trainable is None and written.rl is None and PRECISIONS[narrow].bits < 16:
        message = f"experts in {narrow} apply to serving, but this workload trains them"
        yield RULE.problem("workload.expert_parameter_precision", message, "remove the key, or write `kind: serve`")
    if written.quantization is not None and workload.trainable is None:
        message = f"{written.quantization} quantizes weights that are served, but this workload trains all of them"
        yield RULE.problem("workload.quantization", message, "remove the key, or write `kind: serve`")


def _expert_problems(written: WorkloadSpec, layout: LayoutSpec) -> Iterator[Problem]:
    """Problems of settings for experts in a model without experts."""
    serving = written.serving
    sized = written.model if isinstance(written.model, ModelSpec) else None
    for key, stated in (
        ("workload.expert_parameter_precision", written.expert_parameter_precision),
        ("workload.serving.redundant_experts", serving.redundant_experts if serving else None),
        ("workload.serving.expert_load", serving.expert_load if serving else None),
        ("layout.dispatcher", layout.dispatcher),
        ("layout.capacity_factor", layout.capacity_factor),
        ("layout.fused_experts", layout.fused_experts),
        ("workload.model.experts_per_token", sized.experts_per_token if sized else None),
        ("workload.model.expert_ffn_hidden", sized.expert_ffn_hidden if sized else None),
    ):
        if stated:
            message = f"`{key.rpartition('.')[2]}` has no effect: the model has no experts"
            yield RULE.problem(key, message, "remove the key, or describe the experts of the model")


def _adapter_problems(written: WorkloadSpec, model: Model) -> Iterator[Problem]:
    """Problems of adapters on modules that the model lacks: routed experts, or dense feed-forward networks where every
    layer has only experts.

    It is an error if the model has none of the listed modules, because then no parameter is trained.
    """
    if written.trainable is not None and written.trainable.method == "full":
        stated = [key for key in ("rank", "modules") if getattr(written.trainable, key) is not None]
        for key in stated[:1]:
            message = f"`{key}` describes adapters, but with `method: full` training changes all weights"
            help_ = "write `method: lora`, or remove the key"
            yield RULE.problem(("workload", "trainable", key), message, help_)
    narrow = written.parameter_precision in {"fp8", "mxfp8", "int8"}
    if narrow and written.trainable is not None and written.trainable.method == "qlora":
        message = f"weights in {written.parameter_precision}, but qlora stores the frozen weights of layers in 4 bits"
        yield RULE.problem("workload.parameter_precision", message, "remove the key, or write `method: lora`")
    modules = (written.trainable.modules if written.trainable else None) or ()
    dense = bool(model.layers > model.moe_layers or model.shared_width)
    present = {"experts": bool(model.experts), "ffn": dense}
    nothing = bool(modules) and not any(present.get(module, True) for module in modules)
    for index, module in enumerate(modules):
        if not present.get(module, True):
            has = "has no experts" if module == "experts" else "has experts in every layer, and no dense network"
            message = f"adapters on `{module}`, but the model {has}{': nothing is trained' if nothing else ''}"
            remedy = "name modules that the model has" if nothing else "remove the module from the list"
            severity = "error" if nothing else ""
            at = ("workload", "trainable", "modules", index)
            yield RULE.problem(at, message, remedy, severity=severity)


def _training_problems(written: WorkloadSpec, layout: LayoutSpec) -> Iterator[Problem]:
    """Problems of keys in a serving plan that apply only to training."""
    for key, stated in (
        ("workload.optimizer", written.optimizer),
        ("workload.trainable", written.trainable),
        ("workload.gradient_precision", written.gradient_precision),
        ("workload.residual_precision", written.residual_precision),
        ("workload.bf16_layers", written.bf16_layers),
        ("workload.global_batch", written.global_batch),
        ("workload.tokens", written.tokens),
        ("workload.dataset_tokens", written.dataset_tokens),
        ("workload.dataset_files", written.dataset_files),
        ("workload.dataset_token_bytes", written.dataset_token_bytes),
        ("workload.loss_scaling", written.loss_scaling),
        ("workload.data_loading", written.data_loading),
        ("workload.document_tokens", written.document_tokens),
        ("layout.sharding", layout.sharding),
        ("layout.shard_group", layout.shard_group),
        ("layout.schedule", layout.schedule),
        ("layout.recompute", layout.recompute),
        ("layout.recompute_layers", layout.recompute_layers),
        ("layout.virtual_stages", (layout.virtual_stages or 1) > 1 or None),
        ("layout.micro_batch", (layout.micro_batch or 1) > 1 or None),
        ("layout.offload", layout.offload),
        ("layout.optimizer_states", layout.optimizer_states),
        ("layout.gradient_compression", layout.gradient_compression),
        ("layout.gradient_sync", layout.gradient_sync),
        ("layout.fused_kernels", layout.fused_kernels),
        ("layout.fused_optimizer", layout.fused_optimizer),
        ("layout.fused_experts", layout.fused_experts),
        ("layout.captured_graphs", layout.captured_graphs),
        ("layout.loss", layout.loss),
    ):
        if stated is not None and stated != "none":
            message = f"`{key.rpartition('.')[2]}` applies to training, but this workload serves"
            yield RULE.problem(key, message, "remove the key, or write `kind: train`")
