"""Launches of the examples of NeuronX Distributed, whose ranks are NeuronCores.

Names: aws-neuron/neuronx-distributed fbac349b, examples/training/llama/tp_zero1_llama_hf_pretrain,
tp_pp_llama_hf_pretrain (run_llama_nxd.py) and lightning. ``batch_size`` is the micro batch of a replica; with
``num_microbatches`` it is all of its samples, which that number divides, as ``train_batch_size`` is.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import (
    ImportBuilder,
    ImportResult,
    InputFile,
    NothingStarted,
    without_comments,
)
from clusterspec.exchange.workloads.jobs.slurm_jobs import set_job_nodes
from clusterspec.exchange.workloads.keys import Keys, read_arguments, set_counts
from clusterspec.exchange.workloads.unused_keys import list_unused

NEURONX = "neuronx"
_LAUNCH = re.compile(r"\b(?:run_\w{1,40}_(?:nxd|ptl|nxd_ptl)|tp_(?:zero1|dp|pp)_\w{1,60})\.py\b")
_COUNTS = {
    "layout.nodes": ("nnodes",),
    "layout.tp": ("tensor_parallel_size",),
    "layout.pp": ("pipeline_parallel_size",),
    "layout.virtual_stages": ("virtual_pipeline_size",),
    "layout.ep": ("expert_parallel_size",),
    "workload.sequence_length": ("seq_len",),
}
_FLAGS = (
    (("use_zero_1", "use_zero1_optimizer"), "layout.sharding", "zero1"),
    (("sequence_parallel_enabled", "use_sequence_parallel"), "layout.sequence_parallel", True),
    (("selective_checkpoint_enabled", "use_selective_checkpoint"), "layout.recompute", "selective"),
)
_CONFIGURATIONS = ("model_path", "training_config", "config")


def matches_neuronx(file: InputFile) -> bool:
    return bool(_LAUNCH.search(without_comments(file.text)) and "tensor_parallel_size" in file.text)


def read_neuronx(file: InputFile) -> ImportResult:
    """The degrees and batch of a launch. Raises `FormatError` if it has none, `SeveralParts` for several."""
    builder, keys = ImportBuilder(NEURONX, file.name), read_arguments(file, _LAUNCH)
    if keys.find("tensor_parallel_size", "seq_len") is None:
        raise NothingStarted("has no launch of NeuronX Distributed with its degrees (--tensor_parallel_size)")
    line = keys.line("tensor_parallel_size", "seq_len")
    builder.set("workload.kind", "train", line)
    builder.unknown("layout.framework", "NeuronX Distributed, which the catalog does not have", line)
    set_counts(keys, _COUNTS, builder)
    set_job_nodes(file, keys, builder)
    builder.count("ranks_per_node", keys.integer("nproc_per_node"), keys.line("nproc_per_node"))
    _set_batch(keys, builder)
    for names, path, value in _FLAGS:
        if keys.is_on(*names):
            builder.set(path, value, keys.line(*names))
    for name in _CONFIGURATIONS:
        if other := keys.get(name):
            why = "the sizes of the model are in a separate file: import it as well"
            builder.unknown(f"{name}: {str(other)[-60:]}", why, keys.line(name))
    list_unused(keys, builder)
    return builder.reading()


def _set_batch(keys: Keys, builder: ImportBuilder) -> None:
    """Set the micro batch of pipeline stages, and list the keys that depend on the replicas."""
    name = next((name for name in ("train_batch_size", "batch_size") if name in keys.values), "batch_size")
    whole, parts, line = keys.integer(name), keys.integer("num_microbatches"), keys.line(name)
    if name == "batch_size" and keys.find("num_microbatches") is None:
        builder.set("layout.micro_batch", whole, line)
    elif whole and parts and whole % parts == 0:
        builder.set("layout.micro_batch", whole // parts, line)
        builder.count("micro_batches", parts, keys.line("num_microbatches"))
    if steps := keys.integer("grad_accum_usteps"):
        builder.count("gradient_accumulation_steps", steps, keys.line("grad_accum_usteps"))
    if keys.find("train_batch_size", "grad_accum_usteps"):
        why = "samples of a replica and step; the file does not state the replicas"
        builder.unknown("workload.global_batch", why, keys.line("train_batch_size", "grad_accum_usteps"))
