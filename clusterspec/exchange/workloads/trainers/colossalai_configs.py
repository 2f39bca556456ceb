"""Configurations of Colossal-AI's earlier engine: a file of Python that assigns ``parallel``, ``zero`` or ``fp16``.

Names and meanings: hpcaitech/ColossalAI 4f9953be, colossalai/legacy/context/parallel_context.py line 428 (``pipeline``
and ``tensor`` have degree 1 where they are absent, the mode ``1d`` is that of Megatron-LM, ``sequence`` divides
sequences in a ring of ranks that hold all parameters), legacy/initialize.py line 290 (``zero`` divides the parameters
as well), and examples/tutorial/hybrid_parallel/config.py: ``BATCH_SIZE`` is of one data-parallel rank, which a pipeline
divides into ``NUM_MICRO_BATCHES``.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.workloads.config_code import read_assignments
from clusterspec.exchange.workloads.keys import OPEN_COUNT, Keys, positive_integer_of
from clusterspec.exchange.workloads.trainers.deepspeed import list_offloaded_parameters
from clusterspec.exchange.workloads.unused_keys import list_unused

CONFIG = re.compile(
    r"^parallel[ \t]*=[ \t]*(?:dict\(|\{)\s*(?:#.*\n\s*)?[\"']?(?:pipeline|tensor|data)\b"
    r"|^zero[ \t]*=[ \t]*(?:dict\(|\{)\s*[\"']?(?:model_config|optimizer_config)\b",
    re.MULTILINE,
)
OTHER = re.compile(r"^parallel[ \t]*=[ \t]*(?:dict\(|\{)(?:[^)}]|\)(?=,)){0,400}?\bzero1\b", re.MULTILINE)
"""A configuration of InternEvo, whose keys have other meanings."""
_TENSOR = "parallel.tensor"
_ROOTS = ("parallel.", "zero.")
_STAGES = ("parallel.pipeline", "parallel.pipeline.size")
_LENGTHS = ("SEQ_LEN", "SEQ_LENGTH", "SEQUENCE_LENGTH")
_SIZES = ("DEPTH", "NUM_LAYERS", "HIDDEN_SIZE", "NUM_HEADS", "NUM_ATTENTION_HEADS", "VOCAB_SIZE", "MLP_RATIO")
_UNRELATED = re.compile(
    r"(?:(?:TRAIN|WARMUP|DECAY|EVAL)_\w+|NUM_EPOCHS|LR|LEARNING_RATE|MIN_LR|WEIGHT_DECAY|SEED|seed|DROP_RATE|LOG_\w+"
    r"|LOCAL_RANK|clip_grad_norm|TENSOR_SHAPE|\w+_PATH|PIPELINE|TENSOR_PARALLEL(?:_SIZE|_MODE)?|MODE)$|(?:optimizer|loss|loss_fn|fp16|logging|zero)\."
)


def is_configuration(file: InputFile) -> bool:
    """Whether a file of Python configures the earlier engine of Colossal-AI."""
    return bool(CONFIG.search(file.uncommented))


def read_configuration(file: InputFile, builder: ImportBuilder) -> ImportResult:
    """The degrees, batch and sharding of a configuration. Raises `FormatError` if it is no Python, or of InternEvo."""
    if OTHER.search(file.text):
        raise FormatError("a configuration of InternEvo (InternLM), whose keys have no reader")
    config, keys = read_assignments(file), Keys()
    keys.values = {name: held for name, held in config.values.items() if held[0] is not None}
    classes = config.classes
    lines = [line for held in (keys.values, classes) for name, (_, line) in held.items() if name.startswith(_ROOTS)]
    first = min(lines, default=0)
    builder.set("workload.kind", "train", first)
    stages = keys.integer(*_STAGES) if keys.find(*_STAGES) or config.is_open(*_STAGES) else 1
    builder.set("layout.pp", stages, keys.line(*_STAGES) or first)
    if stages is None:
        builder.unknown("parallel.pipeline", OPEN_COUNT, keys.line(*_STAGES))
    if config.is_open(_TENSOR, f"{_TENSOR}.size"):
        builder.unknown(_TENSOR, OPEN_COUNT, keys.line(f"{_TENSOR}.mode"))
    else:
        _set_tensor(keys, builder)
    _set_batch(keys, stages, builder)
    if any(name.startswith("zero.") for name in (*keys.values, *classes)):
        _set_sharding(keys, classes, builder)
    elif mode := next((held for name, held in classes.items() if name == "fp16.mode"), None):
        builder.set("workload.precision", "fp16", mode[1])
    if keys.is_on("model.checkpoint", "CHECKPOINT"):
        builder.set("layout.recompute", "full", keys.line("model.checkpoint", "CHECKPOINT"))
    _list_model(keys, classes, builder)
    keys.used |= {name for name in keys.values if _UNRELATED.match(name)}
    list_unused(keys, builder)
    return builder.reading()


def _set_tensor(keys: Keys, builder: ImportBuilder) -> None:
    """Set the degree of tensor parallelism, or of the ring that divides sequences."""
    size, mode = keys.integer(f"{_TENSOR}.size", _TENSOR), str(keys.get(f"{_TENSOR}.mode") or "").lower()
    line = keys.line(f"{_TENSOR}.size", _TENSOR, f"{_TENSOR}.mode")
    if size is None or size == 1 or mode == "1d":
        builder.set("layout.tp", size if keys.find(f"{_TENSOR}.size", _TENSOR) else 1, line)
    elif mode == "sequence":
        builder.set("layout.tp", 1, line)
        builder.set("layout.cp", size, line)
        builder.set("layout.cp_method", "ring", line)
    else:
        why = "divides matrices in several dimensions, which layout.tp does not describe"
        builder.unknown(f"tensor parallelism {excerpt(mode)} of {size} ranks", why, line)
    keys.used |= {f"{_TENSOR}.depth", "parallel.data"} & keys.values.keys()


def _set_batch(keys: Keys, stages: int | None, builder: ImportBuilder) -> None:
    """Set the micro-batch, several of which make up the batch of a rank in a pipeline, and the length of sequences."""
    size, parts = keys.integer("BATCH_SIZE"), positive_integer_of(keys.values.get("NUM_MICRO_BATCHES", (None,))[0])
    keys.used |= {"NUM_MICRO_BATCHES"} & keys.values.keys()
    line = keys.line("BATCH_SIZE")
    if stages == 1 and size:
        builder.set("layout.micro_batch", size, line)
    elif size and parts and size % parts == 0:
        builder.set("layout.micro_batch", size // parts, line)
    if size:
        builder.count("sequences_per_replica_and_pass", size, line)
    builder.set("workload.global_batch", keys.integer("GLOBAL_BATCH_SIZE"), keys.line("GLOBAL_BATCH_SIZE"))
    if steps := keys.integer("gradient_accumulation"):
        builder.count("gradient_accumulation_steps", steps, keys.line("gradient_accumulation"))
    if image := keys.find("IMG_SIZE", "PATCH_SIZE"):
        builder.unknown(image, "trains on images: state workload.sequence_length in patches", keys.line(image))
        keys.used |= {name for name in keys.values if name in {*_LENGTHS, "IMG_SIZE", "PATCH_SIZE", "NUM_CLASSES"}}
    else:
        builder.set("workload.sequence_length", keys.integer(*_LENGTHS), keys.line(*_LENGTHS))


def _set_sharding(keys: Keys, classes: dict[str, tuple[str, int]], builder: ImportBuilder) -> None:
    held = [line for name, (_, line) in classes.items() if name.startswith("zero.")]
    placed = next((name for name in keys.values if name.endswith("tensor_placement_policy")), "")
    line = keys.line(placed) or min(held, default=0)
    builder.set("layout.sharding", "fsdp", line)
    policy = str(keys.get(placed) or "") if placed else ""
    if policy == "cpu":
        builder.set("layout.offload.optimizer", 1, line)
        list_offloaded_parameters(builder, line)
    elif policy == "auto":
        why = "moves parameters to the memory of the host as it runs: state layout.offload"
        builder.unknown("tensor_placement_policy: auto", why, line)


def _list_model(keys: Keys, classes: dict[str, tuple[str, int]], builder: ImportBuilder) -> None:
    """List the model's class, or the sizes that its program takes."""
    if named := classes.get("model.type"):
        builder.unknown(f"model {named[0][-60:]}", "a class of Python: state workload.model", named[1])
    elif sizes := [name for name in _SIZES if name in keys.values]:
        why = "sizes for the model of its program: state workload.model"
        builder.unknown(", ".join(sizes), why, keys.line(sizes[0]))
    keys.used |= {name for name in keys.values if name in _SIZES or name.startswith("model.")}
