"""Training designs as a configuration of torchtitan: a Python function that returns a ``Trainer.Config``.

Commit b5bcd76c (after 0.2.2, which read TOML): ``torchtitan/config/configs.py`` (``TrainingConfig``: tokens of a
micro-batch and of a step; ``ParallelismConfig``), ``torchtitan/distributed/pipeline_parallel.py`` (lines 204 to 264
and 360 to 470: stages of each rank, names of modules), ``torchtitan/config/manager.py`` (``--module`` takes a path of a
module, ``--config`` a function of it), ``torchtitan/components/quantization/utils.py`` (line 60: dispatchers that pad
for quantized experts) and ``torchtitan/models/*/config_registry.py`` (the functions of `BASES`).

Release 0.3.0 (PyPI, 2026-09-03; read 2026-11-25), for a spec that names it, counts sequences instead of tokens:
``torchtitan/config/configs.py``, lines 37 to 52 and 226, and ``torchtitan/trainer.py``, lines 124 to 139 and 414 to 439
(a pipeline splits ``local_batch_size`` into micro-batches). A dataclass accepts an unknown attribute silently, so the
configuration asserts which of the two releases runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Layout, Workload
from clusterspec.exchange.exporters.registry import (
    ExportedFile,
    ExportInput,
    NotExportable,
    document_omissions,
    replicate_and_shard_degrees,
    shards_by_context,
    steps_of_run,
    training_design,
    training_omissions,
    unchanged_model,
)
from clusterspec.units import plural

BASES = {
    "llama-3.1-8b": ("llama3", "llama3_8b", "8B"),
    "llama-3.1-70b": ("llama3", "llama3_70b", "70B"),
    "llama-3.1-405b": ("llama3", "llama3_405b", "405B"),
    "qwen3-0.6b": ("qwen3", "qwen3_0_6b", "0.6B"),
    "qwen3-1.7b": ("qwen3", "qwen3_1_7b", "1.7B"),
    "qwen3-14b": ("qwen3", "qwen3_14b", "14B"),
    "qwen3-32b": ("qwen3", "qwen3_32b", "32B"),
    "qwen3-30b-a3b": ("qwen3", "qwen3_30b_a3b", "30B-A3B"),
    "deepseek-v3": ("deepseek_v3", "deepseek_v3_671b", "671B"),
    "gpt-oss-20b": ("gpt_oss", "gpt_oss_20b", "20b"),
    "gpt-oss-120b": ("gpt_oss", "gpt_oss_120b", "120b"),
    "kimi-k2.5": ("kimi_k2_7", "kimi_k2_5", "Kimi-K2.5"),
}
"""Module, function and flavor of the models that have a configuration."""
_SCHEDULES = {
    "1f1b": "1F1B",
    "gpipe": "GPipe",
    "interleaved": "Interleaved1F1B",
    "zero-bubble": "InterleavedZeroBubble",
    "dualpipe": "DualPipeV",
}
_STAGES = {"1f1b": (1, 1), "gpipe": (1, 1), "interleaved": (2, 99), "zero-bubble": (2, 99), "dualpipe": (2, 2)}
"""Minimum and maximum number of stages per rank for each schedule."""
_PACKED = {"gpt_oss_20b", "gpt_oss_120b"}
"""Configurations whose attention is for packed sequences, with which context parallelism does not work (0.3.0:
torchtitan/distributed/full_dtensor.py, line 49; b5bcd76c: torchtitan/models/common/decoder.py, line 176).
"""
_WITH_IMAGES = {"kimi_k2_5"}
"""Configurations without context parallelism, since an image encoder needs the whole sequence
(torchtitan/models/kimi_k2_7/parallelize.py, line 55; 0.3.0: line 63).
"""
_QUANTIZED = {"llama3_405b"}
"""Configurations whose base model has linear layers in FP8 (models/llama3/config_registry.py, line 310)."""
_DISPATCHERS = {"deepep": "deepep", "hybrid": "hybridep"}
_NAME = "clusterspec_design"

EXTENDED_BY = "AWS"
"""The vendor whose accelerators torchtitan supports only with the vendor's own extension (TorchTitan Neuron)."""


def write(source: ExportInput) -> ExportedFile:
    """A module with one configuration. Raises `NotExportable` if torchtitan does not have the model or the pipeline."""
    layout, work = training_design(source, "torchtitan")
    if source.cluster.accelerator.vendor == EXTENDED_BY:
        raise NotExportable(
            "torchtitan does not run on Trainium without AWS's extension, which this writer does not support"
        )
    name = unchanged_model(source)
    if name not in BASES:
        raise NotExportable(f"torchtitan has no configuration of {name or 'the model of the spec'}")
    if work.optimizer not in {"adam", "adamw"} or work.precision not in {"bf16", "fp8", "fp4", "fp32"}:
        raise NotExportable(f"this writer does not know how torchtitan sets {work.optimizer} in {work.precision}")
    converters = _converter_constructors(work)
    if layout.dispatcher.kind == "deepep" and any("GroupedExperts" in each for each in converters):
        raise NotExportable("torchtitan quantizes experts with its own or the hybrid dispatcher, not with deepep")
    module, base, flavor = BASES[name]
    if layout.cp > 1 and base in _WITH_IMAGES:
        raise NotExportable(f"torchtitan has no context parallelism for {name}")
    model = _model_spec(layout, work, flavor, packed=base in _PACKED)
    if not model and base in _QUANTIZED:
        model = [f'config.model_spec = model_registry("{flavor}")']
    registry = (base, "model_registry") if model else (base,)
    per_node = layout.ranks // max(1, layout.nodes)
    notes: list[str] = []
    steps = steps_of_run(work, notes)
    run = [f"config.training.steps = {steps}"] if steps else []
    lines = [
        f'r"""{source.name}: {plural(layout.ranks, "rank")} on {plural(layout.nodes, "node")}.',
        "",
        f"Save as {_NAME}.py where Python finds it, and start with",
        f"torchrun --nnodes {layout.nodes} --nproc_per_node {per_node} … \\",
        f"  -m torchtitan.train --module {_NAME} --config design",
        '"""',
        "",
        *_import_lines(module, registry, converters, layout),
        "",
        "",
        "def design() -> Trainer.Config:",
        f"    config = {base}()",
        *(f"    {line}" for line in (*model, *_training_lines(layout, work), *run, *_parallelism_lines(layout, work))),
        "    return config",
        "",
    ]
    named = "data, tokenizer, learning rate and compilation" if steps else _NOT_STATED
    omitted = (
        f"{named}: those of {base}",
        *notes,
        *_omission_texts(layout, work),
    )
    return ExportedFile("\n".join(lines), omitted)


_NOT_STATED = "data, tokenizer, learning rate, steps and compilation"


def _import_lines(module: str, registry: Sequence[str], converters: Sequence[str], layout: Layout) -> list[str]:
    """The sorted imports of a configuration; ``registry`` lists the names imported from ``module``."""
    base, *models = registry
    lines = [
        f"from torchtitan.models.{module}.config_registry import {base}",
        "from torchtitan.trainer import Trainer",
        "from torchtitan.config import ParallelismConfig",
        *(f"from torchtitan.models.{module} import {name}" for name in models),
        *(f"from torchtitan.distributed.activation_checkpoint import {name}" for name in _recompute_class(layout)),
    ]
    if converters:
        names = ", ".join(sorted(each.partition(".")[0] for each in converters))
        lines.append(f"from torchtitan.components.quantization import {names}")
    return sorted(lines)


def _converter_constructors(work: Workload) -> list[str]:
    """Constructors of converters that quantize linear layers and experts
    (torchtitan/components/quantization/__init__.py).
    """
    if work.precision == "fp4":
        return ["NVFP4LinearConverter.Config()"]
    if work.precision != "fp8":
        return []
    experts = bool(work.model.experts)
    if work.recipe == "mxfp8":
        return ["MXFP8LinearConverter.Config()", *["MXFP8GroupedExpertsConverter.Config()"] * experts]
    wide = '"lm_head", "router.gate"' if experts else '"lm_head"'
    linear = f"Float8LinearConverter.Config(filter_fqns=[{wide}])"
    return [linear, *["Float8GroupedExpertsConverter.Config()"] * experts]


def _model_spec(layout: Layout, work: Workload, flavor: str, *, packed: bool) -> list[str]:
    """The model, if it differs from that of the base by quantization, dispatcher or attention. ``packed`` means that
    the base is for packed sequences.
    """
    arguments = [f'"{flavor}"']
    if packed and layout.cp > 1:
        arguments.append('attn_backend="flex"')
    if (backend := _DISPATCHERS.get(layout.dispatcher.kind)) and work.model.experts:
        arguments.append(f'moe_comm_backend="{backend}"')
    if converters := _converter_constructors(work):
        arguments.append(f"converters=[{', '.join(converters)}]")
    return [f"config.model_spec = model_registry({', '.join(arguments)})"] if len(arguments) > 1 else []


def _is_release(layout: Layout) -> bool:
    """Whether the spec names release 0.3, not a later commit."""
    return (layout.capabilities.release or "").startswith("torchtitan 0.3")


def _batch_lines(layout: Layout, work: Workload) -> Iterator[str]:
    """The batch of a step and of a micro-batch, after a line that fails on other releases."""
    length = work.sequence_length
    if _is_release(layout):
        yield 'assert hasattr(config.training, "local_batch_size"), "written for torchtitan 0.3.0"'
        split = (layout.micro_batches or 1) if layout.pp > 1 else 1
        yield f"config.training.seq_len = {length}"
        yield f"config.training.local_batch_size = {layout.micro_batch} * {split}"
        yield f"config.training.global_batch_size = {work.global_batch}"
        return
    yield 'assert hasattr(config.training, "max_context_length"), "written for torchtitan after 0.3.0 (b5bcd76c)"'
    yield f"config.training.max_context_length = {length}"
    yield f"config.training.num_tokens_per_microbatch_per_dp_rank = {layout.micro_batch} * {length}"
    yield f"config.training.num_tokens_per_train_step = {work.global_batch} * {length}"


def _training_lines(layout: Layout, work: Workload) -> Iterator[str]:
    yield from _batch_lines(layout, work)
    yield f'config.training.mixed_precision_param = "{"float32" if work.precision == "fp32" else "bfloat16"}"'
    if layout.pp > 1 or layout.ep > 1:  # refused with CUDA graphs (trainer.py, lines 169 to 199)
        yield "config.training.disable_cuda_graphs = True"
    if layout.offload_optimizer == 1:
        yield "config.training.enable_cpu_offload = True"
    if name := "".join(_recompute_class(layout)):
        yield f"config.activation_checkpoint = {name}.Config()"
    else:
        yield "config.activation_checkpoint = None"


def _recompute_class(layout: Layout) -> list[str]:
    """The activation checkpointing policy; empty without recomputation."""
    if layout.recompute == "none":
        return []
    return ["FullAC" if layout.recompute == "full" else "SelectiveAC"]


def _parallelism_lines(layout: Layout, work: Workload) -> Iterator[str]:
    replicate, shard = replicate_and_shard_degrees(layout)
    if (sparse := shard * layout.cp * layout.tp) % layout.ep:  # distributed/parallel_dims.py, line 183
        raise NotExportable(f"torchtitan needs an ep that divides shard × cp × tp, {sparse}, not {layout.ep}")
    yield "config.parallelism = ParallelismConfig("
    yield f"    data_parallel_replicate_degree={replicate},"
    yield f"    data_parallel_shard_degree={shard},"
    yield f"    tensor_parallel_degree={layout.tp},"
    yield f"    enable_sequence_parallel={layout.sequence_parallel or layout.tp == 1},"
    yield f"    context_parallel_degree={layout.cp},"
    yield f"    pipeline_parallel_degree={layout.pp},"
    yield f"    expert_parallel_degree={layout.ep},"
    if layout.pp > 1:
        yield from (f"    {line}" for line in _pipeline_lines(layout, work))
    yield ")"


def _pipeline_lines(layout: Layout, work: Workload) -> Iterator[str]:
    """Schedule, micro-batches and stages. Raises `NotExportable` if the schedule does not support the number of
    stages.
    """
    least, most = _STAGES[layout.schedule]
    if not least <= layout.virtual_stages <= most:
        stages = f"{layout.virtual_stages} stages on each rank"
        raise NotExportable(f"{_SCHEDULES[layout.schedule]} of torchtitan does not run with {stages}")
    if layout.micro_batches is None:
        raise NotExportable("the global batch is not a multiple of micro-batch × dp")
    rounds = max(1, layout.micro_batches // layout.pp)
    if layout.virtual_stages > 1 and layout.schedule != "dualpipe" and layout.micro_batches % rounds:
        # pytorch/pytorch 00722e64, torch/distributed/pipelining/schedules.py, ScheduleInterleaved1F1B and -ZeroBubble
        needs = f"a multiple of its {rounds} rounds of {layout.pp} micro-batches or more, not {layout.micro_batches}"
        raise NotExportable(f"{_SCHEDULES[layout.schedule]} of PyTorch needs {needs}")
    yield f'pipeline_parallel_schedule="{_SCHEDULES[layout.schedule]}",'
    if _is_release(layout):
        yield f"pipeline_parallel_microbatch_size={layout.micro_batch},"
    else:
        yield f"num_pp_microbatches={layout.micro_batches},"
    if len(set(layout.stage_layers)) == 1:
        yield f"pipeline_parallel_layers_per_stage={layout.stage_layers[0]},"
        yield "pipeline_parallel_first_stage_less_layers=0,"
        yield "pipeline_parallel_last_stage_less_layers=0,"
        return
    yield "module_fqns_per_model_part=["
    yield from (f"    {names}," for names in _stage_modules(layout.stage_layers))
    yield "],"


def _stage_modules(stage_layers: tuple[int, ...]) -> Iterator[list[str]]:
    first = 0
    for stage, layers in enumerate(stage_layers):
        names = [f"layers.{number}" for number in range(first, first + layers)]
        first += layers
        yield ["tok_embeddings"] * (stage == 0) + names + ["norm", "lm_head"] * (stage == len(stage_layers) - 1)


def _omission_texts(layout: Layout, work: Workload) -> Iterator[str]:
    yield from training_omissions(work)
    yield from document_omissions(work)
    if work.precision == "fp4" or work.recipe == "mxfp8":
        yield "the precision of the output layer: quantized as well unless fqns names the layers"
    if work.precision == "fp4" and work.model.experts:
        yield "experts in fp4: NVFP4LinearConverter leaves them in bf16"
    if layout.sharding in {"zero1", "zero2"}:
        yield f"{layout.sharding}: torchtitan shards parameters as well (FSDP)"
    yield from shards_by_context(layout)
    if layout.order[:1] != ("tp",):
        yield f"the order of ranks {list(layout.order)}"
    if isinstance(layout.recompute, tuple):
        yield f"the modules computed again ({', '.join(layout.recompute)})"
    if layout.expert_tp > 1 and layout.ep > 1:
        yield f"expert_tp {layout.expert_tp}: torchtitan takes the ranks of experts from tp and dp"
    if layout.offload_optimizer == 1:
        yield "only optimizer states in host memory: `enable_cpu_offload` also moves parameters and gradients there"
    if 0 < layout.offload_optimizer < 1 or layout.offload_activations:
        yield "offloading of a share: torchtitan offloads parameters, gradients and states together, or nothing"
    if layout.cp > 1 and layout.cp_method != "ring":
        yield f"the method of context parallelism ({layout.cp_method})"
    if work.precision == "fp8" and work.recipe not in {None, "mxfp8"}:
        yield f"the recipe {work.recipe}: torchtitan scales rows (float8.py, recipe_name)"
    if work.model.experts and layout.dispatcher.precision != "bf16":
        yield f"tokens sent to experts in {layout.dispatcher.precision}"
