"""Models and executions of Calculon (JSON).

Fields: calculon-ai/calculon caa4b11f, calculon/llm/llm.py: ``Llm.Application`` (sizes of a model whose feed-forward
network has two matrices) and ``Llm.Execution`` (degrees, batches and optimizations; ``rs_ag`` is sequence parallelism,
and ``attn_only`` recomputes scores, softmax and dropout of attention, as the selective recomputation of Megatron does).
"""

from __future__ import annotations

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.workloads.keys import Keys, set_choice, set_counts, set_switch
from clusterspec.exchange.workloads.unused_keys import list_unused

CALCULON = "calculon"
_MODEL = {
    "workload.model.layers": ("num_blocks",),
    "workload.model.hidden": ("hidden",),
    "workload.model.heads": ("attn_heads",),
    "workload.model.head_dim": ("attn_size",),
    "workload.model.ffn_hidden": ("feedforward",),
    "workload.sequence_length": ("seq_size",),
}
_LAYOUT = {
    "layout.tp": ("tensor_par",),
    "layout.pp": ("pipeline_par",),
    "layout.dp": ("data_par",),
    "layout.micro_batch": ("microbatch_size",),
    "workload.global_batch": ("batch_size",),
}
_TYPES = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float8": "fp8"}
_OFFLOADS = ("weight_offload", "activations_offload", "optimizer_offload")


def matches_calculon(file: InputFile) -> bool:
    text = file.text
    if text.lstrip()[:1] != "{":
        return False
    model = all(f'"{name}"' in text for name in ("num_blocks", "attn_size", "feedforward", "seq_size"))
    return model or all(f'"{name}"' in text for name in ("tensor_par", "microbatch_size", "activation_recompute"))


def read_calculon(file: InputFile) -> ImportResult:
    """The sizes of a model or the layout of an execution. Raises `FormatError` if it is neither at its root."""
    value, builder, keys = file.json, ImportBuilder(CALCULON, file.name), Keys()
    for name, each in value.items() if isinstance(value, dict) else ():
        if not isinstance(each, dict | list):
            keys.put(str(name), each, file.line_of_key(str(name)))
    if "num_blocks" in keys.values:
        set_counts(keys, _MODEL, builder)
        builder.set("workload.model.gated_ffn", False, keys.line("feedforward"))
    elif "tensor_par" in keys.values:
        _set_execution(keys, builder)
    else:
        raise FormatError("has neither the sizes of a model nor an execution at its root")
    list_unused(keys, builder)
    return builder.reading()


def _set_execution(keys: Keys, builder: ImportBuilder) -> None:
    """Set the layout of an execution, and list the settings of simulated networks and memory."""
    set_counts(keys, _LAYOUT, builder)
    builder.count("ranks", keys.integer("num_procs"), keys.line("num_procs"))
    if keys.get("training") is True:
        builder.set("workload.kind", "train", keys.line("training"))
    else:
        builder.unknown(f"training: {keys.get('training')}", "a pass without training", keys.line("training"))
    set_choice(keys, "workload.precision", ("datatype",), _TYPES, builder)
    recomputed = {"full": "full", "attn_only": "selective", "none": "none"}
    set_choice(keys, "layout.recompute", ("activation_recompute",), recomputed, builder)
    set_switch(keys, "layout.sharding", ("optimizer_sharding",), builder, ("none", "zero1"))
    set_switch(keys, "layout.overlap.dp", ("data_par_overlap",), builder)
    if sent := keys.get("tensor_par_comm_type"):
        builder.set("layout.sequence_parallel", sent == "rs_ag", keys.line("tensor_par_comm_type"))
    if (stages := keys.integer("pipeline_interleaving")) and stages > 1:
        builder.set("layout.virtual_stages", stages, keys.line("pipeline_interleaving"))
    if keys.get("attention_type") == "multiquery":
        builder.set("workload.model.kv_heads", 1, keys.line("attention_type"))
    for name in _OFFLOADS:
        if keys.get(name) is True:
            builder.unknown(name, "moves to a second memory: state layout.offload", keys.line(name))
